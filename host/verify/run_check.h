/* Runs of a plan are verified beside those that follow them: some values of a run are kept with the
 * atoms that they are of, and a thread of the host recomputes them in double precision. */
#ifndef LEY_VERIFY_RUN_CHECK_H
#define LEY_VERIFY_RUN_CHECK_H

#include "law/accuracy.h"
#include "schedule/job.h"

#include <pthread.h>

typedef struct run_point {
    int64_t number; /* among the job's values */
    double place_A[3], value, field[3];
    reference_value right, right_field[3];
} run_point;

/* Begins as zeros. From run_check_begin() to run_check_wait() it is the thread's. */
typedef struct run_check {
    pthread_t thread;
    bool is_running;
    int64_t run; /* whose values these are */
    ley_atoms *atoms;
    const method *method;
    const void *task;
    reference_terms terms;
    accuracy_limits limits;
    size_t count, field_count; /* of the first of them the field is judged as well */
    double target_rms;         /* of that run, or a not-a-number */
    run_point *points;
    ley_status status;
    ley_error error;
    ley_accuracy accuracy; /* of these points, each as any other */
    size_t worst;          /* of them */
    ley_accuracy field_accuracy;
    size_t worst_component; /* 3 i + axis of point i */
} run_check;

/* Takes so many values of the job's last run, at places drawn from `random`, and has them
 * recomputed. The job's task must stay prepared until it is waited for. Errors:
 * LEY_ERROR_MEMORY. */
ley_status run_check_begin(run_check *c, const ley_job *job, int64_t run, size_t points, uint64_t *random,
                           ley_error *error);

/* Waits for the figures. LEY_OK where nothing has begun, or accuracy says what came of it.
 * LEY_ERROR_MEMORY. */
ley_status run_check_wait(run_check *c, ley_error *error);

void run_check_end(run_check *c);

#endif
