/* A method of computing something, as jobs and schedules see it: a task is prepared once, its
 * stages run on devices and on the host, and what they made is measured. Data goes one way: input
 * -> prepare -> stages -> finish -> result. A method knows neither the job nor its report, neither
 * the engine nor other devices than the one at hand: what it decides stands in its task. */
#ifndef LEY_SCHEDULE_METHOD_H
#define LEY_SCHEDULE_METHOD_H

#include "engine/decisions.h"
#include "kernel_kind.h"
#include "law/accuracy.h"
#include "leyden.h"
#include "schedule/notes.h"
#include "schedule/stage.h"

struct job_needs; /* schedule/job_memory.h */
struct host_sum;  /* schedule/host_sum.h */

/* Charges in open space, in a medium of one permittivity, and where their potential is wanted. */
typedef struct coulomb_problem {
    const ley_atoms *atoms;
    ley_target target;
    ley_direct medium;
} coulomb_problem;

typedef struct method {
    const char *name;

    /* Where it makes values; and the same at the points of a list, NULL: not of that name. */
    ley_target_kind target;
    const struct method *at_points;

    /* The parameters of its struct of options; NULL: another method's, or none. */
    const ley_parameter_table *parameters;

    /* The kernel whose variants are the method's; NULL: it has no variants. */
    const kernel_kind *kernel;

    /* The facts of devices (calibration.h) that planning looks at; NULL: none. */
    uint64_t (*needs)(const void *task, const ley_run_options *options);

    /* Plans, and readies what all devices share, in the task. The view outlives it. And its end.
     * `is_kept`: a driver that does not return may still read what was on its way to a device: that
     * is not to be freed. Once the view is cancelled, preparing ends within half a second. */
    ley_status (*prepare)(void *task, const job_view *view, ley_error *error);
    void (*release)(void *task, bool is_kept);

    /* Between two runs of a prepared task: its sources have other positions or charges now, as many
     * as before. It keeps what does not depend on them, and so do the stages (stage.renew).
     * LEY_ERROR_USAGE: what was prepared does not suit them, and the task is to be prepared anew.
     * NULL: it always is. */
    ley_status (*renew)(void *task, ley_error *error);

    /* Of atoms by parts (source/atoms_part.h) all that it does can be for planes of any rank. */
    bool parts_move;

    /* This rank cannot do its planes: what other ranks wait for they get no more, for this reason.
     * NULL: they wait for nothing. */
    void (*refuse)(void *task, const char *why);

    /* No device can do it, and why: whether the task is from now on to be done otherwise, from
     * prepare() on, and by devices that could not. NULL: it never is. */
    bool (*otherwise)(void *task, const char *why);

    /* A plan whose values are expected to be off by no more than the options' aim of the tolerance,
     * in place of the task's, which missed it: a task of *m, and the sum of the options that goes
     * with it. The task stays what it is. NULL: nothing of it is planned for a tolerance. Errors:
     * LEY_ERROR_USAGE, there is no other plan that is as strict. */
    ley_status (*stricter)(const void *task, ley_engine *engine, const ley_run_options *options,
                           const struct method **m, void **made, ley_sum *sum, ley_error *error);

    /* It sums charges' potentials term by term: a task of this problem, and of which method, itself
     * or at_points. NULL: it is no such method. Errors: LEY_ERROR_USAGE where values are wanted
     * that it does not make. */
    ley_status (*take_direct)(const coulomb_problem *p, const struct method **m, void **made, ley_error *error);

    /* For forecasts: what it is going to take of the host's memory; how it is going to be done; and
     * seconds of the host in which no device can begin. Each may be NULL: nothing. */
    void (*host_needs)(const void *task, struct job_needs *needs);
    void (*outline)(const void *task, notes *n);
    double (*host_s)(const void *task);

    /* Ends the task itself. */
    void (*end)(void *task);

    /* In order: one that needs a product stands behind the one that makes it. `result`: the index
     * of the stage whose slabs make up the result. */
    const stage *stages;
    size_t stage_count, result;

    /* Points of the result in some of its slabs, before and after prepare. */
    int64_t (*points)(const void *task, slab s);

    /* Pairs that are computed in all, after prepare; NULL: atoms times points. */
    double (*evaluations)(const void *task);

    /* What is left to do on the host when all stages are done; NULL: nothing. */
    ley_status (*finish)(void *task, ley_error *error);

    /* What it has to say of how it was done; NULL: nothing. */
    void (*note)(const void *task, notes *n);

    /* What it decides beside what all methods do, and the decisions of this job as a whole; those
     * of devices stand in their kernel_notes. NULL: nothing. */
    const plan_row *plan_rows;
    bool has_exp;         /* a device's recipe of exponentials is one of them */
    int64_t piece_planes; /* what ley_run_options.slab_planes counts, in a piece of its slabs; 0: one */
    const char *pieces;   /* what its slabs are counted in, for forecasts; NULL: planes */
    void (*decisions)(const void *task, job_plan *made);

    /* For verification, between prepare and release: what the job sums, by what errors are judged,
     * which of its values is the i-th point of a slab, and where that is and what it is. All NULL:
     * its results are no sums over atoms. */
    void (*terms)(const void *task, reference_terms *terms);
    const char *error_scale; /* what errors are relative to; NULL: the absolute terms */
    accuracy_limits (*limits)(const void *task);
    int64_t (*point)(const void *task, slab s, int64_t i);
    double (*value)(const void *task, int64_t number, double place_A[3]);

    /* The map whose values these are, by their numbers, which are in the order of the slabs'
     * points. NULL: values are no map. */
    const ley_map *(*map)(const void *task);

    /* Where these are several maps, of each of which a slab has the same planes: these, *count of
     * them. NULL, or none: they are map(), and its field, or a list. */
    ley_map *const *(*maps)(const void *task, size_t *count);

    /* Where these are in a list of the method's own: it, by their numbers. NULL: they are
     * elsewhere. */
    double *(*list)(const void *task);

    /* Some values are beyond the limits: looks whether limits and terms are wider than was said,
     * which takes too long to be asked every time. True: they are, and both are to be asked for
     * anew. NULL: never. */
    bool (*look_closer)(void *task);

    /* The field where value() has the potential: judged by the derivatives of what terms() says,
     * within three times the tolerance; or within 1 where errors are relative to what the terms
     * allow. False: nobody asks for it. NULL: there is none. */
    bool (*field)(const void *task, int64_t number, double field[3]);
    bool field_is_allowed;

    /* Atoms whose nearest image value() and field() do not have, ascending; of none *count is 0.
     * NULL: they have all. */
    const int64_t *(*excluded)(const void *task, int64_t number, size_t *count);

    /* What its steps make of the sum at some places if each of them is right, in double precision:
     * where that is beyond the limits, too, no device is to blame. NULL: what terms() says.
     * Errors: LEY_ERROR_MEMORY, and LEY_ERROR_USAGE where that took too long, which no places ask;
     * of atoms of which ranks have parts all must be there (ley_atoms_all()). */
    ley_status (*by_steps)(const void *task, size_t n, const double (*place_A)[3], double *value, ley_error *error);

    /* What terms() says and is another one for each value. NULL: nothing. */
    void (*terms_at)(const void *task, int64_t number, reference_terms *terms);

    /* Some values were wrong: whatever it keeps for later jobs may have been the reason, and is
     * given up. NULL: it keeps nothing. */
    void (*distrust)(const void *task);

    /* Whether a double sum has more digits where charges nearly cancel: not where its terms are
     * floats all the same. */
    bool double_has_more_digits;

    /* What the host is to do where that is sooner, without prepare(). False: this task needs
     * devices. NULL: each does. */
    bool (*by_host)(const void *task, struct host_sum *sum);

    /* What it is expected to take for a sum that is asked for, and the job (plan/request.h); NULL:
     * nobody leaves to the library whether it is this method. */
    const struct request_row *request;

    /* What the benchmark measures of it (bench/bench.h); NULL: nothing. */
    const struct bench_subject *bench;
} method;

/* The row of the method for this target. */
const method *method_for_target(const method *m, const ley_target *target);

/* The method that sums it term by term, and its task. Errors: LEY_ERROR_USAGE, there is none. */
ley_status method_take_direct(const coulomb_problem *p, const method **m, void **made, ley_error *error);

/* All of them, NULL behind the last: methods/registry.h. */
extern const method *const method_registry[];

/* What a task sums at one of its values. */
reference_terms method_terms_at(const method *m, const void *task, const reference_terms *terms, int64_t number);

#endif
