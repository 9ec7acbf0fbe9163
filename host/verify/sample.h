/* The points at which a job is verified, and in which order they are recomputed. */
#ifndef LEY_VERIFY_SAMPLE_H
#define LEY_VERIFY_SAMPLE_H

#include "law/accuracy.h"
#include "law/reference.h"
#include "schedule/job.h"
#include "verify/stratified_sample.h"

enum { SAMPLE_LEAST_HOST = 16 }; /* points of each device that the host recomputes at least */

typedef enum judge { JUDGE_NOBODY, JUDGE_HOST, JUDGE_DEVICE } judge;

typedef struct sampled_point {
    int64_t number; /* among the job's values */
    size_t device;  /* that computed it: its worker's index */
    double place_A[3], value;
    uint64_t rank; /* its place in the random order */
    double weight; /* for how many points it stands, as one of a stratum's, or as it was drawn */
    bool is_drawn_by_square;
    bool is_fixed; /* one of those that the seed alone decides */
    bool is_for_host;
    judge judge; /* who has recomputed it */
    reference_value right;
} sampled_point;

typedef struct sample {
    ley_job *job;
    reference_terms terms;
    accuracy_limits limits;
    size_t least; /* points in all */
    size_t count;
    sampled_point *points;               /* in random order, those that the host must recompute first */
    stratified_sample stratified_sample; /* for a tolerance: where the fixed ones come from */
    double squares;                      /* without one: of all values of the map; 0: they are not known */
    size_t host_count;                   /* of these */
    size_t now;                          /* where host threads begin */
    struct judges *judges;               /* the devices', while they are asked */
    double budget_s;
    double start_s;
    bool is_wider; /* the limits are wider than was said: all is to be judged again */
} sample;

/* Chooses `wanted` points of all `total` and puts them in the order in which they are to be
 * recomputed. Room for them and for one of each slab is there. LEY_ERROR_MEMORY, LEY_CANCELLED, and
 * what the map's store says. */
ley_status sample_choose(sample *s, size_t wanted, int64_t total, uint64_t *random, ley_error *error);

/* Where the t-th of all points stands, counted through the job's pieces of work in order, whichever
 * slabs these were computed in. */
sampled_point sample_point(const sample *s, int64_t t);

/* No device is to blame for values that the map's file has lost. */
ley_status sample_check_store(const ley_job *job, ley_error *error);

/* Puts what somebody has recomputed before the others, and of these first what the host must
 * recompute, then what somebody must. */
void sample_sort(sample *s);

/* Whether atoms do not count at some of its points: then devices are no judges, for theirs sum all
 * atoms. */
bool sample_excludes_atoms(const sample *s);

#endif
