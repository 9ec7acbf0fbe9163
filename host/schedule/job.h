/* A job in progress: what its devices share. */
#ifndef LEY_SCHEDULE_JOB_H
#define LEY_SCHEDULE_JOB_H

#include "engine/engine.h"
#include "law/tolerance_floor.h"
#include "leyden.h"
#include "schedule/method.h"
#include "schedule/notes.h"
#include "schedule/slab_queue.h"

#include <stdatomic.h>

/* What a report says, with room for the texts it points to. */
typedef struct device_record {
    ley_device_report report;
    kernel_notes kernel;
    double predicted_kernel_s; /* beside the report's kernel_s */
    size_t unpredicted;        /* launches that nobody predicted */
    double predicted_transfer_s;
    int64_t slab;   /* pieces at most */
    size_t lender;  /* 1 + the device that made for it what each makes for itself; 0: it did so itself */
    bool makes_own; /* that was wrong, or what it did with it: it takes no more of others' */
    char late[64];  /* what it was still at when the work was done; empty: it was not late */
    ley_error failure;
} device_record;

/* A stage in progress: its queue holds the slabs, or, of STAGE_ONE_DEVICE, the one piece that it
 * is. */
typedef struct stage_run {
    const stage *stage;
    bool is_wanted;
    slab_queue queue;
    size_t maker; /* the device that did a stage of one device */
    void *made;   /* its product on the host, for other devices; or NULL */
} stage_run;

extern const ley_parameter_table run_parameters;

struct ley_job {
    ley_engine *engine;
    const method *method;
    void *task;
    const ley_atoms *atoms; /* NULL: the task has none */
    ley_target target;
    ley_statistics *statistics; /* the target's, or NULL */
    ley_run_options options;
    job_view view;  /* what the method sees */
    bool has_left;  /* a device was left behind in its driver: what the driver may still read is to be kept for ever */
    bool has_begun; /* run, once */
    bool is_kept;   /* what is prepared, and what devices have made, stays for another run (plan/job_run.h) */
    struct pass *kept_pass; /* by devices that have done so; NULL: nothing is kept */
    job_plan *given;        /* NULL: none */

    stage_run *stages;
    atomic_bool own_cancelled, *cancelled; /* whether it is: its own, or that of its plan */
    double start_s;

    pthread_mutex_t mutex; /* for what follows */
    int64_t points_done;
    ley_report report;
    tolerance_terms terms; /* where the values' own root mean square does not do; else 0 */
    notes notes;
    job_plan *made;            /* the report's */
    bool is_shared;            /* ranks do it together (schedule/rank_share.h) */
    struct rank_record *ranks; /* on rank 0, of the others; or NULL */
    char rank_name[32];        /* job_record_name() */
    device_record *records;    /* one per worker, and one for each of the others, from job_rank_record() on */
    ley_device_report *device_reports;
    ley_slab_report *slabs;        /* of the stage that makes the result */
    bool is_by_host;               /* no device has a part in it */
    struct job_forecast *forecast; /* in place of a run; or NULL. And its end: */
    void (*end_forecast)(struct job_forecast *forecast);
    size_t slab_capacity;
    ley_stage_report *stage_reports; /* in the order in which they ended */
    size_t stage_capacity;
};

/* For a method's creator: a job that does this task. The task is the job's from now on, also when
 * this fails. Options are copied. Errors: LEY_ERROR_USAGE, LEY_ERROR_MEMORY. */
ley_status job_create(ley_engine *engine, const method *method, void *task, const ley_atoms *atoms,
                      const ley_target *target, const ley_run_options *options, ley_job **job, ley_error *error);

/* Goes on with another task, which may be another method's; nothing of it is done yet. The former
 * one is the caller's. */
void job_take(ley_job *job, const method *method, void *task);

/* Of how many pieces a stage is: one where it is not cut into slabs, none where each device does it
 * for itself. */
int64_t job_pieces(const ley_job *job, const stage *s);

/* Whether ranks have parts of the atoms, and each does the planes that are its own. */
bool job_is_by_parts(const ley_job *job);

/* Nothing of a stage is done yet. */
void job_begin_queue(ley_job *job, stage_run *run);

/* The queue of the stage that makes the result. */
slab_queue *job_result_queue(ley_job *job);

/* Adds to the report who did a stage, and when: by ley_clock_s(). What memory does not suffice for
 * is left out. */
void job_note_stage(ley_job *job, const ley_stage_report *done);

/* Gives back what a device has computed: its slabs are open again, and out of the report; so is
 * what it made for others, and all that was made of that. */
void job_reopen_slabs(ley_job *job, size_t device);

/* Its slabs alone, also while others are at work. */
void job_reopen_own_slabs(ley_job *job, size_t device);

/* The record of another rank, whose devices are one device to rank 0; how many records there are.
 * */
size_t job_rank_record(const ley_job *job, int rank);
size_t job_record_count(const ley_job *job);

/* What a record is of: a device's name, or "rank 3". */
const char *job_record_name(ley_job *job, size_t record);

static inline bool job_cancelled(ley_job *job)
{
    return atomic_load_explicit(job->cancelled, memory_order_relaxed);
}

#endif
