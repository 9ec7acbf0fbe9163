/* Long-range potentials of a box of water as benchmarks take them: the box, and what each step of a
 * job takes there on one device. */
#ifndef LEY_LONG_RANGE_BENCH_BOX_H
#define LEY_LONG_RANGE_BENCH_BOX_H

#include "bench/bench.h"
#include "long_range/bench/steps.h"

/* A box of water, and a map of it at 0.5 A, as in the papers. */
typedef struct msm_box {
    ley_atoms *atoms;
    ley_grid points;
    ley_map *map;
} msm_box;

/* Made of so many atoms, or a few less; box_clear() frees what there is of it. */
ley_status msm_box_make(int64_t atoms, msm_box *box, ley_error *error);
void msm_box_clear(msm_box *box);

/* How many atoms are measured where nobody says, and the device's limits. */
void msm_box_choose(const worker *w, const calibration *facts, const ley_bench_options *options,
                    ley_bench_device *device);

/* The meshes that are chosen for a tolerance on this device, in place of what is not `fixed` of
 * the options in *range (LEY_FIX_...), and the sum of pairs that goes with them: floats are what
 * nobody asks a benchmark for otherwise, and leave it open. Errors: those of msm_choose_on(). */
ley_status msm_box_meshes(const worker *w, const ley_bench_options *options, const msm_box *box, double tolerance,
                          unsigned fixed, ley_long_range *range, ley_sum *sum, ley_error *error);

/* The pairs within the cutoff. */
ley_status msm_box_pairs(const msm_box *box, const ley_long_range *range, double *pairs, ley_error *error);

/* "nodal3, taylor2, direct, cutoff 12 A, nodes 2 A apart". */
void msm_describe(const ley_long_range *range, hierarchy_solver solver, char *text, size_t size);

/* What was measured of one choice of meshes: medians, of the host's steps by the clock. */
typedef struct msm_measured {
    bool is_done; /* it has been tried; and what became of that: */
    ley_status status;
    ley_error failure;
    hierarchy_solver solver;
    ley_accuracy accuracy;
    double pairs;
    step_needs needs[MSM_STEP_COUNT];
    double seconds[MSM_STEP_COUNT]; /* medians */
    bench_repeats repeats;          /* how often it was timed */
    energy_counter *energy;         /* of the device, or NULL; and of a whole job: */
    double joules;
    double runs_s[MSM_STEP_COUNT][BENCH_MOST_REPEATS];
    size_t launches[MSM_STEP_COUNT];
} msm_measured;

/* Whether a job with this solver has this step. */
bool msm_has_step(hierarchy_solver solver, msm_step step);

/* Runs the job once to warm up, then as often as bench_repeats says. The first
 * map is judged. `pairs` of `measured` is what counts as such. */
ley_status msm_measure(worker *w, const ley_bench_options *options, const msm_box *box, const ley_long_range *range,
                       msm_measured *measured, ley_error *error);

/* What the device's limits would take for a step's arithmetic, in seconds: pairs take a root each
 * beside their multiply-adds, and where roots are slower, they are the limit. */
double msm_least_s(const msm_measured *m, msm_step step, const ley_bench_device *limits);

#endif
