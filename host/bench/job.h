/* A method's stages on one device, as in a job of which that device is all: what the benchmark
 * times from atoms in memory to the result in the host's memory. */
#ifndef LEY_BENCH_JOB_H
#define LEY_BENCH_JOB_H

#include "bench/bench.h"
#include "schedule/method.h"

enum { BENCH_MOST_STAGES = 8 };

typedef struct bench_job_times {
    double ready_s;                         /* kernels and transforms, built and tested: no part of: */
    double whole_s;                         /* from atoms to the result; of this: */
    double prepare_s;                       /* on the host, before any device */
    double begin_s[BENCH_MOST_STAGES];      /* of each stage: buffers, and what goes to the device */
    sequence_times work[BENCH_MOST_STAGES]; /* kernel_s, steps' seconds and launches, of all slabs */
} bench_job_times;

/* Runs it once. With `accuracy`, which may be NULL, a sample of `map` is judged. Errors: those of
 * the stages; LEY_CANCELLED. */
ley_status bench_job_run(worker *w, const ley_bench_options *options, const method *of, void *task, const ley_map *map,
                         bench_job_times *times, ley_accuracy *accuracy, ley_error *error);

#endif
