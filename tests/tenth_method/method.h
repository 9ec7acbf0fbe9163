/* The sum of squares of a map, as a method: the exercise of CONTRIBUTING.md. */
#ifndef LEY_SQUARES_METHOD_H
#define LEY_SQUARES_METHOD_H

#include "schedule/method.h"

extern const law law_squares;

/* What is to be said of a map. */
typedef struct squares_options {
    size_t size;
    bool has_mean; /* the root of the squares' mean, too */
} squares_options;

/* Prepares a job that computes *sum = sum_i v_i^2 over all points of the map: a sum for each plane
 * on all devices, and the sum of these on one of them. Map and sum must outlive the job. */
ley_status job_create_squares(ley_engine *engine, const ley_map *map, double *sum, const ley_run_options *options,
                              ley_job **job, ley_error *error);

#endif
