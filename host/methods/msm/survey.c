#include "methods/msm/survey.h"

#include "core/atoms.h"
#include "error.h"
#include "judge/accuracy.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EDGE = 1 << (SURVEY_BLOCKS - 1), CUBES = EDGE * EDGE * EDGE, FEWEST = 40, MOST = 512 };

/* Pairs of atoms and points that are summed exactly, where these are enough points. */
static const double pairs = 4e6;

typedef struct pass {
    const ley_atoms *atoms;
    const cell *cell;
    size_t stretches;
    double low_A[3], high_A[3]; /* of the charges */
    double edge_A;              /* of the smallest cubes */
    double map_low_A[3], map_high_A[3];
    double (*charge_e)[CUBES]; /* of each stretch of atoms */
    double *square_e2, *inside, *count;
} pass;

static size_t cube_of(const pass *p, const double r_A[3])
{
    size_t cube = 0;
    for (int axis = 2; axis >= 0; axis--) {
        const double at = (r_A[axis] - p->low_A[axis]) / p->edge_A;
        cube = cube * EDGE + (size_t)fmin(fmax(at, 0), EDGE - 1);
    }
    return cube;
}

static void look_at(void *context, size_t first, size_t last)
{
    const pass *p = context;
    const size_t n = ley_atoms_count(p->atoms);
    const double *position_A = ley_atoms_positions_A(p->atoms), *charge_e = ley_atoms_charges_e(p->atoms);
    for (size_t k = first; k < last; k++) {
        double inside = 0, square_e2 = 0, count = 0;
        for (size_t i = k * n / p->stretches; i < (k + 1) * n / p->stretches; i++) {
            const double *r_A = position_A + 3 * i, q_e = charge_e[i];
            bool is_inside = true;
            if (q_e == 0)
                continue;
            for (int axis = 0; axis < 3; axis++)
                is_inside = is_inside && r_A[axis] >= p->map_low_A[axis] && r_A[axis] <= p->map_high_A[axis];
            p->charge_e[k][cube_of(p, r_A)] += q_e;
            square_e2 += q_e * q_e;
            inside += is_inside;
            count++;
        }
        p->square_e2[k] = square_e2;
        p->inside[k] = inside;
        p->count[k] = count;
    }
}

/* Sums of squares of the cubes, and of those that eight make each. */
static void add_blocks(double *cubes, double edge_A, survey *s)
{
    for (int k = 0, n = EDGE; k < SURVEY_BLOCKS; k++, n /= 2) {
        s->block_A[k] = edge_A * (1 << k);
        s->block_e2[k] = 0;
        for (int i = 0; i < n * n * n; i++)
            s->block_e2[k] += cubes[i] * cubes[i];
        for (int i = 0; i < n * n * n / 8; i++) {
            const int half = n / 2, x = i % half, y = i / half % half, z = i / half / half;
            double sum = 0;
            for (int corner = 0; corner < 8; corner++)
                sum += cubes[((2 * z + (corner >> 2)) * n + 2 * y + (corner >> 1 & 1)) * n + 2 * x + (corner & 1)];
            cubes[i] = sum; /* the eight are not before it, and were read */
        }
    }
}

static ley_status pass_atoms(pass *p, survey *s, ley_error *error)
{
    p->stretches = (size_t)parallel_cores();
    const size_t bytes = p->stretches * (sizeof *p->charge_e + 3 * sizeof(double));
    p->charge_e = calloc(1, bytes);
    if (p->charge_e == NULL)
        return ley_fail_memory(error, bytes, "looking at the atoms");
    p->square_e2 = (double *)(p->charge_e + p->stretches);
    p->inside = p->square_e2 + p->stretches;
    p->count = p->inside + p->stretches;
    parallel_ranges(p->stretches, look_at, p);
    for (size_t k = 0; k < p->stretches; k++) {
        s->square_e2 += p->square_e2[k];
        s->pairs_per_A3 += p->inside[k];
        s->atoms += p->count[k];
        for (size_t i = 0; i < CUBES && k > 0; i++)
            p->charge_e[0][i] += p->charge_e[k][i];
    }
    add_blocks(p->charge_e[0], p->edge_A, s);
    free(p->charge_e);
    return LEY_OK;
}

/* ---- The potential --------------------------------------------------------------------------- */

typedef struct sampling {
    const ley_atoms *atoms;
    const cell *cell;
    double kappa_per_A, r_min_A;
    double (*point_A)[3], *value_e_A;
} sampling;

/* To the nearest image, along the cell's vectors. */
static void bring_near(const cell *c, double d_A[3])
{
    double component[3];
    cell_components(c, d_A, component);
    for (int i = 0; i < 3; i++)
        for (int axis = 0; axis < 3 && c->periodic[i]; axis++)
            d_A[axis] -= round(component[i]) * c->vector_A[i][axis];
}

static void sum_points(void *context, size_t first, size_t last)
{
    const sampling *s = context;
    const size_t n = ley_atoms_count(s->atoms);
    const double *position_A = ley_atoms_positions_A(s->atoms), *charge_e = ley_atoms_charges_e(s->atoms);
    for (size_t k = first; k < last; k++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++) {
            double d_A[3];
            for (int axis = 0; axis < 3; axis++)
                d_A[axis] = position_A[3 * i + (size_t)axis] - s->point_A[k][axis];
            if (s->cell->dimensions > 0)
                bring_near(s->cell, d_A);
            const double r_A = fmax(sqrt(cell_dot(d_A, d_A)), s->r_min_A);
            sum += charge_e[i] / r_A * (s->kappa_per_A > 0 ? exp(-s->kappa_per_A * r_A) : 1);
        }
        s->value_e_A[k] = sum;
    }
}

static int compare_sizes(const void *a, const void *b)
{
    const double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
    return (x > y) - (x < y);
}

/* Points that happen to be next to an atom would decide alone: in place of the largest ones is what
 * there is of such points in the mean. Those where the potential is above x are within 1/x of a
 * charge, so that their part of space goes as x^-3, and they add 3 p c^2 to the mean square where p
 * of the points are above c. Over nearest images the mean is not that of all, which is zero where
 * it is anything. */
static double root_mean_square(size_t count, double *value_e_A, bool is_about_mean)
{
    const size_t kept = count - 1 - count / 50;
    double sum = 0, square = 0;
    qsort(value_e_A, count, sizeof *value_e_A, compare_sizes);
    for (size_t k = 0; k < kept; k++) {
        sum += value_e_A[k];
        square += value_e_A[k] * value_e_A[k];
    }
    square += 3 * (double)(count - kept) * value_e_A[kept - 1] * value_e_A[kept - 1];
    const double mean = is_about_mean ? sum / (double)kept : 0;
    return sqrt(fmax(square / (double)count - mean * mean, 0));
}

static void sample_potential(sampling *of, const ley_lattice *lattice, survey *s)
{
    double point_A[MOST][3], value_e_A[MOST] = {0};
    const double wanted = pairs / fmax((double)ley_atoms_count(of->atoms), 1);
    const size_t count = (size_t)fmin(fmax(wanted, FEWEST), MOST);
    uint64_t random = 1;
    for (size_t k = 0; k < count; k++) {
        int64_t at[3];
        for (int axis = 0; axis < 3; axis++)
            at[axis] = (int64_t)(accuracy_random(&random) % (uint64_t)lattice->n[axis]);
        ley_lattice_point_A(lattice, at, point_A[k]);
    }
    of->point_A = point_A;
    of->value_e_A = value_e_A;
    parallel_ranges(count, sum_points, of);
    s->potential_e_A = root_mean_square(count, value_e_A, of->cell->dimensions > 0 && of->kappa_per_A == 0);
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* The corners of the map, which is along x, y and z. */
static void find_bounds(const ley_lattice *lattice, pass *p, survey *s)
{
    double farthest2_A2 = 0, largest_A = 0;
    const int64_t first[3] = {0, 0, 0}, last[3] = {lattice->n[0] - 1, lattice->n[1] - 1, lattice->n[2] - 1};
    double corner_A[2][3];
    ley_lattice_point_A(lattice, first, corner_A[0]);
    ley_lattice_point_A(lattice, last, corner_A[1]);
    ley_atoms_charged_bounds_A(p->atoms, p->low_A, p->high_A);
    s->volume_A3 = s->charged_A3 = 1;
    for (int axis = 0; axis < 3; axis++) {
        const double half_A = 0.5 * fabs(lattice->step_A[axis][axis]);
        p->map_low_A[axis] = fmin(corner_A[0][axis], corner_A[1][axis]) - half_A;
        p->map_high_A[axis] = fmax(corner_A[0][axis], corner_A[1][axis]) + half_A;
        const double map_A = p->map_high_A[axis] - p->map_low_A[axis],
                     both_A = fmax(p->map_high_A[axis], p->high_A[axis]) - fmin(p->map_low_A[axis], p->low_A[axis]);
        s->volume_A3 *= map_A;
        s->extent_A[axis] = both_A;
        farthest2_A2 += both_A * both_A;
        largest_A = fmax(largest_A, p->high_A[axis] - p->low_A[axis]);
        s->charged_A3 *= p->high_A[axis] - p->low_A[axis];
    }
    s->charged_A3 = fmax(s->charged_A3, s->volume_A3);
    s->radius_A = 0.5 * sqrt(farthest2_A2);
    p->edge_A = fmax(largest_A, 1e-3) * 1.0001 / EDGE;
}

static void take_cell(const cell *c, survey *s)
{
    double measure_A3 = 1;
    for (int i = 0; i < 3; i++) {
        s->periodic[i] = c->periodic[i];
        if (c->periodic[i])
            s->extent_A[i] = cell_length(c->vector_A[i]);
        measure_A3 *= s->extent_A[i];
    }
    if (c->dimensions == 0)
        return;
    s->pairs_per_A3 = s->atoms * s->volume_A3 / measure_A3; /* wherever the map is, it sees images */
    s->charged_A3 = measure_A3;
}

ley_status survey_make(const ley_atoms *atoms, const ley_lattice *lattice, const ley_long_range *range, survey *made,
                       ley_error *error)
{
    survey s = {.points = (double)ley_lattice_points(lattice)};
    cell c;
    pass p = {.atoms = atoms, .cell = &c};
    ley_status status = cell_make(range->periodic, range->cell_A, &c, error);
    if (status != LEY_OK)
        return status;
    find_bounds(lattice, &p, &s);
    status = pass_atoms(&p, &s, error);
    if (status != LEY_OK)
        return status;
    take_cell(&c, &s);
    s.pairs_per_A3 *= s.points / s.volume_A3;
    sampling of = {.atoms = atoms, .cell = &c, .kappa_per_A = range->kappa_per_A, .r_min_A = range->r_min_A};
    sample_potential(&of, lattice, &s);
    *made = s;
    return LEY_OK;
}

double survey_square_e2(const survey *s, double edge_A)
{
    int k = 0;
    if (edge_A <= s->block_A[0])
        return s->square_e2;
    while (k < SURVEY_BLOCKS - 2 && edge_A > s->block_A[k + 1])
        k++;
    const double at = fmin(edge_A, s->block_A[SURVEY_BLOCKS - 1]), low = fmax(s->block_e2[k], 1e-300),
                 high = fmax(s->block_e2[k + 1], 1e-300);
    return low * pow(high / low, log(at / s->block_A[k]) / log(2.0));
}
