/* A sum over all charges that is asked for, and what a method that can make it says of it: what it
 * is expected to take, and the job. host/plan/chooser.c chooses among methods by that. */
#ifndef LEY_PLAN_REQUEST_H
#define LEY_PLAN_REQUEST_H

#include "engine/engine.h"
#include "plan/charge_statistics.h"
#include "schedule/job_memory.h"
#include "schedule/stage.h"

extern const ley_parameter_table request_parameters;

typedef struct sum_request {
    const ley_atoms *atoms;
    ley_target target;       /* a map, points, or a grid, for which nobody is going to ask for a job */
    ley_grid grid;           /* target_grid() */
    ley_request asked;       /* whole */
    ley_run_options options; /* whole; LEY_SUM_AUTO: the sum is left open, and floats come first */
    size_t worker_count;     /* devices in use */
    const worker *workers;
    bool is_kept;       /* the job is going to run again and again: kernels are built for all runs together */
    bool is_own_thread; /* the caller is on the thread of the one worker */
    uint64_t facts;     /* of devices that estimates look at (calibration.h) */

    /* Made by sum_request_look(), where they are not there yet. */
    device_view *devices; /* [worker_count] */
    bool has_statistics;
    charge_statistics statistics;
} sum_request;

/* What a method is expected to take. */
typedef struct estimate {
    double seconds;       /* kernels, on all devices in use */
    double building_s;    /* what counts of building kernels that the cache lacks */
    double relative_rms;  /* error, of the values' root mean square; of direct sums a bound */
    double bytes;         /* of the host's memory */
    ley_sum sum;          /* what the job's options should say of it */
    ley_long_range range; /* meshes, of a method that has some: those that were chosen */
} estimate;

/* What a plan says of meshes, of LEY_FIX_.... */
enum { PLANNED_MESHES = LEY_FIX_CUTOFF | LEY_FIX_SPACING | LEY_FIX_SPLITTING | LEY_FIX_WINDOW | LEY_FIX_SOLVER };

/* A method's part in requests. */
typedef struct request_row {
    bool has_meshes;                                   /* create() needs what estimate() has chosen */
    uint64_t (*needs)(const ley_run_options *options); /* facts of devices that estimate() looks at */

    /* Whether it makes the sum that is asked for; else LEY_ERROR_USAGE, and why. NULL: any. */
    ley_status (*check)(const sum_request *r, ley_error *error);

    /* Errors: where it cannot reach the tolerance, those of sum_request_look(). Where `made` is of
     * a method with meshes, create() makes its job by them. */
    ley_status (*estimate)(sum_request *r, estimate *made, ley_error *error);
    ley_status (*create)(const sum_request *r, ley_engine *engine, const ley_long_range *range,
                         const ley_run_options *options, ley_job **job, ley_error *error);
    ley_status (*check_memory)(const ley_atoms *atoms, const ley_grid *grid, const ley_long_range *range,
                               ley_error *error);

    /* How far beyond some planes of a grid the atoms are that its job needs for these, where ranks
     * have parts of them; infinite: all atoms. NULL: all. */
    double (*halo_A)(const ley_atoms *atoms, const ley_grid *grid, const ley_long_range *range);
} request_row;

/* What a job that is going to be made by these meshes, or without an engine by the host, needs of
 * atoms of which ranks have shares or parts comes to them. All ranks call it. Errors: those of
 * ley_atoms_take_part(). */
ley_status request_deal(const request_row *row, const ley_engine *engine, const ley_atoms *atoms, const ley_grid *grid,
                        const ley_long_range *range, ley_error *error);

/* Takes what devices are known to do from what has been measured, and looks at the charges. What
 * values are nothing beside the terms that cancel is in the statistics: potential_e_A is what the
 * tolerance is a share of. Errors: those of charge_statistics_make(). */
ley_status sum_request_look(sum_request *r, ley_error *error);

/* Memory of what a job fills: a map, slabs of which are so many planes at least, or a list. */
void sum_request_needs(const sum_request *r, int least_planes, job_needs *needs);

/* Whether a sum has neither images nor screening, so that direct summation makes it; and what that
 * is made with. */
bool sum_is_plain(const ley_long_range *sum);
void sum_medium(const ley_long_range *sum, ley_direct *direct);

/* Frees what that has made. */
void sum_request_end(sum_request *r);

#endif
