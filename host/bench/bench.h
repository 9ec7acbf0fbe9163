/* What the benchmark measures: a method's kernels, in all variants, on a problem of its own. */
#ifndef LEY_BENCH_BENCH_H
#define LEY_BENCH_BENCH_H

#include "bench/limits.h"
#include "bench/statistics.h"
#include "calibrate.h"
#include "energy.h"
#include "engine/engine.h"

enum { BENCH_MOST_VARIANTS = 32, BENCH_SAMPLE_POINTS = 500, BENCH_MOST_SIZES = 16, BENCH_MOST_GAINS = 48 };

typedef struct bench_row {
    ley_bench_row row;
    char name[32], specification[512];
    double runs_s[BENCH_MOST_REPEATS];
    energy_counter *energy; /* the device's, or NULL */
    ley_error failure;
} bench_row;

typedef struct bench_size {
    ley_bench_size size;
    double runs_s[BENCH_MOST_REPEATS];
} bench_size;

typedef struct bench_device {
    ley_bench_device device;
    ley_bench_row public_rows[BENCH_MOST_VARIANTS];
    bench_row rows[BENCH_MOST_VARIANTS];
    ley_bench_size public_sizes[BENCH_MOST_SIZES];
    bench_size sizes[BENCH_MOST_SIZES];
    bench_limits limits;
    energy_counter *energy;
    ley_error failure;
} bench_device;

typedef struct bench_gain {
    ley_bench_gain gain;
    char name[32];
    double runs_s[BENCH_MOST_REPEATS];
    ley_error failure;
} bench_gain;

/* A method as the benchmark sees it. `problem` is what make() made of the device's sizes. */
typedef struct bench_subject {
    const char *name;                /* of what is no method; of a method's, NULL */
    bool makes_grid;                 /* it follows from the atoms, and is not the caller's */
    const kernel_kind *kernel;       /* whose variants are measured; NULL: none */
    bool needs_no_facts;             /* of the calibration */
    bool is_of_host;                 /* no device takes part: it is measured once, as of the first one */
    const ley_bench_figure *figures; /* what its rows have beside those that all have: {NULL} ends them; or NULL */

    /* Whether what is asked for can be measured at all, before any device is; NULL: it can. */
    ley_status (*check)(const ley_engine *engine, const ley_bench_options *options, ley_error *error);

    /* Without a kernel: the variants, NULL behind the last, where they are not just those of
     * named(); and which of them a job takes, once all are measured. */
    const char *(*variant)(const worker *w, const ley_bench_options *options, const void *problem, size_t i);
    const char *(*usual)(const worker *w, const ley_bench_options *options, const ley_bench_device *device);

    /* Why a variant is not measured on this device unless it is asked for; NULL: it is. NULL: all
     * are. */
    const char *(*on_request)(const dev_info *info, const char *variant);

    /* Without a kernel: the names that may be asked for as one variant only, NULL behind the last;
     * NULL: rows are no variants. */
    const char *(*named)(size_t i);

    /* Fills in the device's limits and the problem's sizes. `facts`: NULL where none are needed. */
    void (*choose)(const worker *w, const calibration *facts, const ley_bench_options *options,
                   ley_bench_device *device);

    ley_status (*make)(const ley_bench_options *options, const ley_bench_device *device, void **problem,
                       ley_error *error);
    void (*end)(void *problem);

    /* What the device itself says of the problem, into its report; NULL: nothing. */
    ley_status (*count)(worker *w, const ley_bench_options *options, const void *problem, ley_bench_device *device,
                        ley_error *error);

    /* Fills in a row: rate, spread, shares, accuracy, recipes, specification. */
    ley_status (*measure)(worker *w, const ley_bench_options *options, const char *variant, const void *problem,
                          const ley_bench_device *device, bench_row *row);

    /* A whole job by the default variant, once that has been measured; NULL: none. */
    ley_status (*whole)(worker *w, const ley_bench_options *options, const void *problem, ley_bench_device *device,
                        ley_error *error);

    /* One variant on problems of all sizes, of its own making, in place of all that; NULL: not to
     * be had. */
    ley_status (*scale)(worker *w, const ley_bench_options *options, ley_bench_device *device,
                        bench_size sizes[BENCH_MOST_SIZES], ley_error *error);

    /* A peer in plain C on the host's cores; NULL: none. */
    ley_status (*host_loop)(const ley_bench_options *options, const void *problem, ley_bench_device *device,
                            ley_error *error);

    /* All devices at once, when each of them has been measured by itself; how many gains that are.
     * NULL: none. */
    size_t (*together)(ley_engine *engine, const ley_bench_options *options, const bench_device *devices,
                       bench_gain gains[BENCH_MOST_GAINS]);
} bench_subject;

/* Of what is measured apart from a method; NULL behind the last: methods/benchmarks.c. */
extern const bench_subject *const bench_registry[];

/* The benchmark of this name; NULL: there is none. */
const bench_subject *bench_find(const char *name);

/* The i-th name that may be asked for as one variant only; NULL: there are no more. */
const char *bench_variant(const bench_subject *subject, size_t i);

/* Fourier transforms, bench_fft.c. */
extern const bench_subject bench_fft;

/* Files, bench_files.c. */
extern const bench_subject bench_files;

/* Whether the caller wants no more. */
bool bench_cancelled(const ley_bench_options *options);

/* Whether a box of water has that many atoms. */
ley_status bench_check_box(const ley_engine *engine, const ley_bench_options *options, ley_error *error);

/* An engine of this device alone, for what opens devices by itself. */
ley_status bench_open(const worker *w, ley_engine **engine, ley_error *error);

/* Joules of one of `runs` launches, between what a counter said and what it says now; not a number
 * where there is none, or that cannot be. */
double bench_joules(energy_counter *counter, double before_J, double seconds, size_t runs);

/* Bytes by so many seconds, as part of what the device's memory has been measured to do; 0: that is
 * unknown, or nothing was timed. */
double bench_memory_share(double bytes, double seconds, const ley_bench_device *limits);

/* Random numbers in [0, 1), the same in every run. */
double bench_random(uint64_t *state);

/* Runs once to warm up, then as often as bench_repeats says; `run` says how long it took. Fills in
 * a row of `pairs` pairs: its rate, median, spread, and the seconds of each run. */
ley_status bench_time(const ley_bench_options *options, double pairs,
                      ley_status (*run)(void *context, double *seconds, ley_error *error), void *context,
                      bench_row *row, ley_error *error);

/* The same of times that somebody else has taken: all of a row but its rate; and of one of ever
 * larger problems: how many, their spread, each of them. */
/* A figure of the subject's. */
void bench_put_figure(ley_bench_row *row, const char *name, double value);

/* Figures of several subjects. */
#define BENCH_MEMORY_SHARE \
    { \
        .name = "memory_share", .sentence = "of the measured bandwidth of the device's memory, at least", \
        .hangs_on_time = true \
    }
#define BENCH_LOCAL_SHARE \
    { \
        .name = "local_share", \
        .sentence = "of the measured bandwidth of local memory, at least; 0: nothing is staged there", \
        .hangs_on_time = true \
    }
#define BENCH_LAUNCHES \
    { \
        .name = "launches", .sentence = "of kernels; 0: of the host", .is_count = true \
    }
#define BENCH_MULTIPLY_ADDS \
    { \
        .name = "multiply_adds", \
        .sentence = "that it takes, a pair within the cutoff as six; a launch's padding is left out" \
    }

void bench_put_times(bench_row *row, const bench_repeats *repeats, const double *seconds);
void bench_put_size_times(bench_size *size, const double *seconds, size_t n);

#endif
