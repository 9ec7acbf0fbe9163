/* What a Multiple Debye-Hueckel problem asks of the kernels: how far exponents reach, how lengths are scaled. */
#include "mdh_kernel.h"
#include "solvent.h"
#include "spec.h"

#include <math.h>

/* Powers of two that stay within a float beside charges, the Coulomb constant and sums. */
static const double most_folded_radius = 60, most_folded_distance = 100;

static void widen(double low_A[3], double high_A[3], const double point_A[3])
{
    for (int axis = 0; axis < 3; axis++) {
        low_A[axis] = fmin(low_A[axis], point_A[axis]);
        high_A[axis] = fmax(high_A[axis], point_A[axis]);
    }
}

/* No atom is farther from a point than this. */
static double farthest_A(const ley_atoms *atoms, const ley_boundary *boundary)
{
    double low_A[3], high_A[3], point_A[3];
    ley_atoms_bounds_A(atoms, low_A, high_A);
    const ley_lattice *l = ley_boundary_lattice(boundary);
    if (l != NULL) {
        widen(low_A, high_A, l->origin_A);
        for (int axis = 0; axis < 3; axis++)
            point_A[axis] = l->origin_A[axis] + (double)(l->n[axis] - 1) * l->spacing_A[axis];
        widen(low_A, high_A, point_A);
    }
    for (int64_t i = 0; l == NULL && i < ley_boundary_points(boundary); i++) {
        ley_boundary_point_A(boundary, i, point_A);
        widen(low_A, high_A, point_A);
    }
    return sqrt(pow(high_A[0] - low_A[0], 2) + pow(high_A[1] - low_A[1], 2) + pow(high_A[2] - low_A[2], 2));
}

static void choose_screening(mdh_problem *p)
{
    const double log2_e = 1.44269504088896340736;
    const double *radius_A = ley_atoms_radii_A(p->atoms);
    double largest_A = 0;
    p->unit_per_A = 1;
    p->promise = 1e-5;
    if (p->kappa_per_A < SOLVENT_LEAST_SCREENING_PER_A) {
        p->screening = LEY_SCREENING_NONE;
        return;
    }
    for (size_t i = 0; i < ley_atoms_count(p->atoms); i++)
        largest_A = fmax(largest_A, radius_A[i]);
    p->unit_per_A = p->kappa_per_A * log2_e;
    const bool folds = largest_A * p->unit_per_A <= most_folded_radius &&
                       farthest_A(p->atoms, p->boundary) * p->unit_per_A <= most_folded_distance;
    p->screening = folds ? LEY_SCREENING_FOLDED : LEY_SCREENING_WIDE;
    if (!folds) /* an exponent is rounded by its own size, and the largest values may have large ones */
        p->promise += 3e-7 * largest_A * p->unit_per_A;
}

void mdh_problem_init(mdh_problem *problem, const ley_atoms *atoms, const ley_boundary *boundary, double coulomb_constant,
                      double kappa_per_A)
{
    *problem = (mdh_problem){.atoms = atoms, .boundary = boundary, .coulomb_constant = coulomb_constant, .kappa_per_A = kappa_per_A};
    const ley_lattice *lattice = ley_boundary_lattice(boundary);
    if (lattice != NULL) {
        problem->frame = *lattice;
        problem->patch_count = PATCH_COUNT;
        patches_of(lattice, problem->patches);
        problem->rows = patches_rows(lattice);
    } else {
        problem->frame = (ley_lattice){.spacing_A = {1, 1, 1}, .n = {1, 1, 1}};
        ley_boundary_point_A(boundary, 0, problem->frame.origin_A);
        problem->rows = ley_boundary_points(boundary);
    }
    choose_screening(problem);
}

double mdh_problem_promise(const mdh_problem *problem, ley_math math, ley_sum sum)
{
    return sum == LEY_SUM_DOUBLE ? 1e-12 : math == LEY_MATH_NATIVE ? 1e-3 : problem->promise;
}

int64_t mdh_problem_points(const mdh_problem *problem, int64_t first, int64_t count)
{
    if (problem->patch_count == 0)
        return count;
    int64_t points = 0, begin = 0;
    for (int i = 0; i < problem->patch_count; i++) {
        const patch *p = &problem->patches[i];
        const int64_t from = first > begin ? first : begin, end = begin + p->n_b, to = first + count < end ? first + count : end;
        points += to > from ? (to - from) * p->n_a : 0;
        begin = end;
    }
    return points;
}
