/* The stage of Multiple Debye-Hueckel values, for `mdh` and for methods that sum at the points of a
 * list what is a special case of them: potentials without screening, of distances that are at least
 * r_min. */
#ifndef LEY_MDH_STAGES_H
#define LEY_MDH_STAGES_H

#include "methods/mdh/problem.h"
#include "schedule/method.h"

/* What the task of such a method begins with. */
typedef struct mdh_sums {
    const ley_atoms *atoms;
    ley_boundary *boundary;   /* whose values are computed, */
    double *field;            /* and of a list without screening the field, [n][3]; or NULL */
    const ley_points *points; /* whose list that is, where they may exclude atoms; or NULL */
    const job_view *job;
    bool is_prepared;
    mdh_problem problem;
} mdh_sums;

enum { MDH_STAGE_COUNT = 1 };
extern const stage mdh_stages[MDH_STAGE_COUNT];
extern const plan_row mdh_plan_rows[];

/* The first and the last of what a method does with its task; r_min_A is 0 where distances are what
 * they are. */
ley_status mdh_sums_prepare(mdh_sums *sums, const job_view *job, double coulomb_constant, double kappa_per_A,
                            double r_min_A, ley_error *error);
void mdh_sums_release(mdh_sums *sums);

/* Where a list's points are so near to an atom that positions of a kernel have too few digits, or
 * exclude atoms, the values, and the field, are recomputed on the host, in double precision.
 * Errors: LEY_CANCELLED, LEY_ERROR_MEMORY. */
ley_status mdh_sums_recompute_near(const mdh_sums *sums, ley_error *error);

/* Of a list's points: what it takes of the host's memory. */
void mdh_sums_host_needs(const void *sums, struct job_needs *needs);

/* For the method's row; `sums` is a task's. */
int64_t mdh_sums_points(const void *sums, slab s);
void mdh_sums_terms(const void *sums, reference_terms *terms);
accuracy_limits mdh_sums_limits(const void *sums);
int64_t mdh_sums_point(const void *sums, slab s, int64_t i);
double mdh_sums_value(const void *sums, int64_t number, double place_A[3]);
bool mdh_sums_field(const void *sums, int64_t number, double field[3]);
const int64_t *mdh_sums_excluded(const void *sums, int64_t number, size_t *count);

#endif
