/* What a Multiple Debye-Hueckel problem asks of the kernels: how far exponents reach, how lengths
 * are scaled, in which order points come. */
#include "methods/mdh/problem.h"
#include "error.h"
#include "law/dcs.h"
#include "law/mdh.h"
#include "law/solvent.h"
#include "layout/space_order.h"
#include "spec.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Powers of two that stay within a float beside charges, the Coulomb constant and sums. */
static const double most_folded_radius = 60, most_folded_distance = 100;

/* An exponent of two is rounded by its own size, with its root: what that makes of a value, for
 * each power of two; beyond which power a value is nothing. */
static const double exponent_rounding = 4e-7, least_power = 130;

/* Cells of a list, a power of two: as small as leaves 1e8 A within 32 bits, for a float offset is
 * rounded by 3e-8 of the cell. */
static const double list_cell_A = 0.25;

static void widen(double low_A[3], double high_A[3], const double point_A[3])
{
    for (int axis = 0; axis < 3; axis++) {
        low_A[axis] = fmin(low_A[axis], point_A[axis]);
        high_A[axis] = fmax(high_A[axis], point_A[axis]);
    }
}

/* The box around a boundary's points. */
static void boundary_bounds_A(const ley_boundary *boundary, double low_A[3], double high_A[3])
{
    const ley_grid *l = ley_boundary_grid(boundary);
    ley_boundary_point_A(boundary, 0, low_A);
    ley_boundary_point_A(boundary, 0, high_A);
    for (int axis = 0; l != NULL && axis < 3; axis++)
        high_A[axis] = l->origin_A[axis] + (double)(l->n[axis] - 1) * l->step_A[axis][axis];
    for (int64_t i = 1; l == NULL && i < ley_boundary_points(boundary); i++) {
        double point_A[3];
        ley_boundary_point_A(boundary, i, point_A);
        widen(low_A, high_A, point_A);
    }
}

/* No atom is farther from a point than this. */
static double farthest_A(const ley_atoms *atoms, const ley_boundary *boundary)
{
    double low_A[3], high_A[3], atoms_low_A[3], atoms_high_A[3];
    boundary_bounds_A(boundary, low_A, high_A);
    ley_atoms_bounds_A(atoms, atoms_low_A, atoms_high_A);
    widen(low_A, high_A, atoms_low_A);
    widen(low_A, high_A, atoms_high_A);
    return sqrt(pow(high_A[0] - low_A[0], 2) + pow(high_A[1] - low_A[1], 2) + pow(high_A[2] - low_A[2], 2));
}

static void choose_screening(mdh_problem *p)
{
    const double log2_e = 1.44269504088896340736;
    const double *radius_A = ley_atoms_radii_A(p->atoms);
    double largest_A = 0;
    p->unit_per_A = 1;
    p->promise = 5e-6;
    if (p->kappa_per_A < SOLVENT_LEAST_SCREENING_PER_A) {
        p->screening = LEY_SCREENING_NONE;
        return;
    }
    for (size_t i = 0; i < ley_atoms_count(p->atoms); i++)
        largest_A = fmax(largest_A, radius_A[i]);
    p->unit_per_A = p->kappa_per_A * log2_e;
    const double radius = largest_A * p->unit_per_A, distance = farthest_A(p->atoms, p->boundary) * p->unit_per_A;
    p->screening =
        radius <= most_folded_radius && distance <= most_folded_distance ? LEY_SCREENING_FOLDED : LEY_SCREENING_WIDE;
    p->promise += exponent_rounding * fmin(distance, radius + least_power);
}

/* The frame of a list's cells, about the world's origin, so that offsets are exact, and the points'
 * order. */
static ley_status place_list(mdh_problem *problem, ley_error *error)
{
    const size_t n = (size_t)problem->rows;
    problem->frame = (ley_grid){.step_A = LEY_STEPS(list_cell_A, list_cell_A, list_cell_A), .n = {1, 1, 1}};
    problem->order = malloc(n * sizeof *problem->order);
    if (problem->order == NULL)
        return ley_fail_memory(error, n * sizeof *problem->order, "the points' order");
    ley_status status = space_order(problem->boundary->point_A, n, problem->order, error);
    if (status != LEY_OK)
        mdh_problem_end(problem);
    return status;
}

ley_status mdh_problem_init(mdh_problem *problem, const ley_atoms *atoms, const ley_boundary *boundary,
                            double coulomb_constant, double kappa_per_A, ley_error *error)
{
    *problem = (mdh_problem){
        .atoms = atoms, .boundary = boundary, .coulomb_constant = coulomb_constant, .kappa_per_A = kappa_per_A};
    const ley_grid *grid = ley_boundary_grid(boundary);
    if (grid != NULL) {
        problem->frame = *grid;
        problem->patch_count = PATCH_COUNT;
        patches_of(grid, problem->patches);
        problem->rows = patches_rows(grid);
    } else
        problem->rows = ley_boundary_points(boundary);
    choose_screening(problem);
    return grid != NULL ? LEY_OK : place_list(problem, error);
}

void mdh_problem_end(mdh_problem *problem)
{
    free(problem->order);
    problem->order = NULL;
}

void mdh_problem_terms(const mdh_problem *problem, reference_terms *terms)
{
    *terms = (reference_terms){.law = problem->r_min_A > 0 ? &law_dcs : &law_mdh,
                               .constant = problem->coulomb_constant,
                               .atoms = problem->atoms,
                               .r_min_A = problem->r_min_A,
                               .kappa_per_A = problem->kappa_per_A};
}

/* Nodes of faces have coordinates that are doubles, rounded once they are far from the world's
 * origin: of a distance, no shorter than atoms of any use are from a face, and of an exponent that
 * may be this much. */
static double node_rounding(const mdh_problem *problem)
{
    const double shortest_A = 1e-3;
    const ley_grid *l = ley_boundary_grid(problem->boundary);
    double farthest_A = 0;
    for (int axis = 0; l != NULL && axis < 3; axis++) {
        const double last_A = l->origin_A[axis] + (double)(l->n[axis] - 1) * l->step_A[axis][axis];
        farthest_A = fmax(farthest_A, fmax(fabs(l->origin_A[axis]), fabs(last_A)));
    }
    return DBL_EPSILON * farthest_A * (1 / shortest_A + problem->kappa_per_A);
}

double mdh_problem_promise(const mdh_problem *problem, ley_math math, ley_sum sum)
{
    return sum == LEY_SUM_DOUBLE ? 1e-12 + node_rounding(problem) : math == LEY_MATH_NATIVE ? 1e-3 : problem->promise;
}

int64_t mdh_problem_points(const mdh_problem *problem, int64_t first, int64_t count)
{
    if (problem->patch_count == 0)
        return count;
    int64_t points = 0, begin = 0;
    for (int i = 0; i < problem->patch_count; i++) {
        const patch *p = &problem->patches[i];
        const int64_t from = first > begin ? first : begin, end = begin + p->n_b,
                      to = first + count < end ? first + count : end;
        points += to > from ? (to - from) * p->n_a : 0;
        begin = end;
    }
    return points;
}

int64_t mdh_problem_value(const mdh_problem *problem, int64_t first, int64_t count, int64_t i)
{
    int64_t begin = 0;
    for (int k = 0; k < problem->patch_count; begin += problem->patches[k++].n_b) {
        const patch *p = &problem->patches[k];
        const int64_t from = first > begin ? first : begin, end = begin + p->n_b,
                      to = first + count < end ? first + count : end;
        const int64_t points = to > from ? (to - from) * p->n_a : 0;
        int a, b;
        boundary_face_axes(p->face, &a, &b);
        if (i < points)
            return problem->boundary->face[p->face] + (p->first_b + from - begin + i / p->n_a) * problem->frame.n[a] +
                   p->first_a + i % p->n_a;
        i -= points;
    }
    return problem->order[first + i]; /* of a list */
}
