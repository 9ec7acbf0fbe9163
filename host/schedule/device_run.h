/* What devices do in a job, as the scheduler's files share it: a device run is one device's part, a
 * pass all of them. */
#ifndef LEY_SCHEDULE_DEVICE_RUN_H
#define LEY_SCHEDULE_DEVICE_RUN_H

#include "schedule/job.h"

#include <pthread.h>
#include <stdatomic.h>

enum { MOST_STAGES = 16 };

/* How far a device is with its part in a job. */
typedef enum device_run_phase {
    DEVICE_RUN_NEW,
    DEVICE_RUN_READYING,
    DEVICE_RUN_AT_WORK,
    DEVICE_RUN_ENDED
} device_run_phase;

struct pass;

/* A device's part in a job: the states of the stages that it is ready for; and up to METHOD_SLOTS
 * slabs of the stage at hand in flight, oldest first. */
typedef struct device_run {
    struct pass *pass;
    ley_job *job;          /* not to be touched by a device that was let go */
    device_record *record; /* the job's */
    kernel_notes notes;    /* the device's own, until it joins the job, as is: */
    ley_error failure;
    size_t device_index;
    worker *worker;
    arena arena;    /* of all that the job has here; also of what another device had made */
    stage_run *run; /* the stage at hand; NULL: none */
    void *states[MOST_STAGES];
    bool has_begun[MOST_STAGES]; /* in this run */
    bool was_begun[MOST_STAGES]; /* in an earlier one of the same job: it is renewed in place of begun */
    bool is_kept;                /* for another run of the job */
    stage_products products;
    slab flying[METHOD_SLOTS];
    int first, count; /* ring buffer */
    device_run_phase phase;
    double began_s; /* with the stage at hand; 0: it has not */
    int64_t pieces; /* of it that it has begun */
    bool is_let_go; /* the job ends without it */

    /* Of a device at work, under the pass's mutex; predictions are 0 where nobody knows. */
    double own_s, slabs_s;    /* what it makes for itself, and all slabs by this device alone, are predicted to take */
    double own_begun_s;       /* when it began with the former; 0: it has not, or has done it */
    double progress_s;        /* when it last came to the end of something */
    bool is_predicted;        /* these two are known */
    bool has_own, is_waiting; /* the former is done; not begun, as it would come too late */
    bool has_made, is_asked;  /* by this device; another one would like to have it */
    size_t lent_bytes;        /* of it, where it can be lent; and what these take to the host, and from there: */
    double to_host_s, to_device_s;
    atomic_bool is_unwanted; /* what it makes for itself, as stage_place says */
} device_run;

/* All devices' runs. A device that is late keeps it beyond the job's end. */
typedef struct pass {
    const method *method;
    bool is_wanted[MOST_STAGES];
    void *wishes[MOST_STAGES]; /* of stages: what devices are readied by */
    double pairs;              /* of the job */
    bool is_kept;              /* the job's: what devices have made stays for another run */
    atomic_int holders;        /* the job, and devices that were given their run: the last one frees it */
    pthread_mutex_t mutex;     /* for phases, who was let go, and: */
    void *lent;                /* what a device has made for itself, on the host for others; NULL: nothing yet */
    size_t lent_bytes, lender;
    bool cannot_lend; /* the host has no memory for it */
    device_run device_runs[];
} pass;

/* The state of a stage on the device. */
void **device_run_state(device_run *s, const stage_run *run);

/* Of the stage at hand: begins, unless the device has; starts a slab, and waits for the oldest one;
 * all of it, as one slab. */
ley_status device_run_begin(device_run *s, ley_error *error);
ley_status device_run_submit(device_run *s, slab piece, ley_error *error);
ley_status device_run_collect(device_run *s, ley_error *error);
ley_status device_run_do_whole(device_run *s, ley_error *error);

/* Others may have what is in flight, which is waited for and dropped first; or is left alone. */
void device_run_give_all_back(device_run *s);
void device_run_give_flying_back(device_run *s);

/* Pieces that devices have left to do; and whether nothing is left, or wanted. */
int64_t device_run_left_for_devices(ley_job *job);
bool device_run_job_is_over(ley_job *job);

/* For tests: what makes room for the slabs' reports; NULL: realloc() again. */
void device_run_realloc_replace(void *(*replacement)(void *bytes, size_t size));

#endif
