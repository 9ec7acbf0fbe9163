/* A boundary problem for the kernels. */
#ifndef LEY_MDH_PROBLEM_H
#define LEY_MDH_PROBLEM_H

#include "law/reference.h"
#include "layout/patches.h"
#include "leyden.h"
#include "target/boundary.h"

#include <stdatomic.h>

/* What is to be summed where: phi(r) = C sum_j q_j/d exp(-kappa (d - R_j)) / (1 + kappa R_j) at the
 * points of a boundary. */
typedef struct mdh_problem {
    const ley_atoms *atoms;
    const atomic_bool *cancelled; /* stops the packing of atoms when it becomes true; or NULL */
    const ley_boundary *boundary; /* its points; values go where the caller says */
    double coulomb_constant;      /* C, with the dielectric in it */
    double kappa_per_A;
    double r_min_A;             /* of a list without screening: shorter distances are clamped to this; 0: as they are */
    int screening;              /* LEY_SCREENING_... */
    double unit_per_A;          /* kernels' lengths are times this: kappa log2(e), or 1 */
    ley_grid frame;             /* of cells and offsets: the boundary's grid, or one of 1 A */
    patch patches[PATCH_COUNT]; /* of a grid */
    int patch_count;            /* 0: a list */
    int64_t rows;               /* of all patches; of a list its points: what slabs count */
    int32_t *order;             /* of a list: its points' indices, such that neighbours are neighbours in space */
    double promise;             /* of the error in float: see mdh_problem_promise() */
} mdh_problem;

/* Of a solvent with this C (the dielectric in it) and this kappa. On failure there is nothing to
 * end. */
ley_status mdh_problem_init(mdh_problem *problem, const ley_atoms *atoms, const ley_boundary *boundary,
                            double coulomb_constant, double kappa_per_A, ley_error *error);

/* A zeroed problem may be ended, too. */
void mdh_problem_end(mdh_problem *problem);

/* What is summed, for the judge. */
void mdh_problem_terms(const mdh_problem *problem, reference_terms *terms);

/* What is promised of the error at each point by this arithmetic, relative to the sum of the
 * absolute terms there. */
double mdh_problem_promise(const mdh_problem *problem, ley_math math, ley_sum sum);

/* Points in rows [first, first + count). */
int64_t mdh_problem_points(const mdh_problem *problem, int64_t first, int64_t count);

/* Where the i-th point of rows [first, first + count) stands among the boundary's values. */
int64_t mdh_problem_value(const mdh_problem *problem, int64_t first, int64_t count, int64_t i);

#endif
