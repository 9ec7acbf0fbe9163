#include "law/density_map.h"

#include "error.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Atoms and a grid ------------------------------------------------------------------------ */

static void invert(const ley_grid *grid, double inverse[3][3])
{
    const double(*s)[3] = grid->step_A;
    double volume = 0;
    for (int m = 0; m < 3; m++) {
        const double *u = s[(m + 1) % 3], *v = s[(m + 2) % 3];
        for (int d = 0; d < 3; d++)
            inverse[m][d] = u[(d + 1) % 3] * v[(d + 2) % 3] - u[(d + 2) % 3] * v[(d + 1) % 3];
    }
    for (int d = 0; d < 3; d++)
        volume += s[0][d] * inverse[0][d];
    for (int k = 0; k < 9; k++)
        inverse[k / 3][k % 3] /= volume;
}

ley_status density_check_spacing(const ley_grid *grid, double resolution_A, ley_error *error)
{
    double spacing_A[3];
    ley_grid_spacing_A(grid, spacing_A);
    const double largest_A = fmax(spacing_A[0], fmax(spacing_A[1], spacing_A[2]));
    return resolution_A >= largest_A
               ? LEY_OK
               : ley_fail(error, LEY_ERROR_INPUT,
                          "a resolution of %g A is finer than the grid, whose nodes are %g A apart: atoms would fall "
                          "between them; it must be %g A or more",
                          resolution_A, largest_A, largest_A);
}

static ley_status take_atoms(density_model *m, const double *weight, const double *radius_A,
                             const ley_density_options *o, ley_error *error)
{
    const bool is_molmap = o->convention == LEY_DENSITY_MOLMAP;
    const double molmap_A = o->resolution_A / (M_PI * M_SQRT2), two_pi = 2 * M_PI;
    bool has_some = false;
    m->cut = is_molmap ? 5 : o->resolution_A < 9 ? 4 : 2;
    for (size_t i = 0; i < m->count; i++) {
        if (!isfinite(weight[i]) || fabs(weight[i]) > 1e6)
            return ley_fail(error, LEY_ERROR_INPUT, "atom %zu has the weight %g, must be within 1e6", i + 1, weight[i]);
        if (!is_molmap && weight[i] != 0 && !(radius_A != NULL && radius_A[i] > 0 && radius_A[i] < 100))
            return ley_fail(error, LEY_ERROR_INPUT,
                            "atom %zu has no radius, from which voltool makes its width, and its name tells no "
                            "element that has one: the convention molmap needs none",
                            i + 1);
        m->sigma_A[i] = is_molmap ? molmap_A : 0.2 * o->resolution_A * (weight[i] != 0 ? radius_A[i] : 1);
        m->weight[i] = weight[i] * (is_molmap ? pow(two_pi * molmap_A * molmap_A, -1.5) : 1);
        has_some = has_some || weight[i] != 0;
    }
    return has_some ? LEY_OK : ley_fail(error, LEY_ERROR_INPUT, "the weight of every atom is 0: there is no density");
}

ley_status density_model_make(density_model *m, const ley_grid *grid, size_t count, const double *weight,
                              const double *radius_A, const ley_density_options *options, ley_error *error)
{
    *m = (density_model){.grid = *grid, .count = count};
    ley_status status = ley_grid_check(grid, error);
    if (status == LEY_OK)
        status = density_check_spacing(grid, options->resolution_A, error);
    if (status != LEY_OK)
        return status;
    invert(grid, m->inverse);
    m->weight = malloc(count * sizeof *m->weight);
    m->sigma_A = malloc(count * sizeof *m->sigma_A);
    if (m->weight == NULL || m->sigma_A == NULL)
        return ley_fail_memory(error, 2 * count * sizeof *m->weight, "the atoms of a density");
    return take_atoms(m, weight, radius_A, options, error);
}

void density_model_end(density_model *m)
{
    free(m->weight);
    free(m->sigma_A);
    m->weight = m->sigma_A = NULL;
}

double density_reach_nodes(const density_model *m, double sigma_A, int axis)
{
    const double *row = m->inverse[axis];
    return m->cut * sigma_A * sqrt(row[0] * row[0] + row[1] * row[1] + row[2] * row[2]);
}

void density_place(const density_model *m, const float position_A[3], double at[3])
{
    double way_A[3];
    for (int d = 0; d < 3; d++)
        way_A[d] = (double)position_A[d] - m->grid.origin_A[d];
    for (int axis = 0; axis < 3; axis++)
        at[axis] = m->inverse[axis][0] * way_A[0] + m->inverse[axis][1] * way_A[1] + m->inverse[axis][2] * way_A[2];
}

/* ---- The law --------------------------------------------------------------------------------- */

typedef struct box_law {
    const density_model *m;
    const float *position_A;
    const int64_t *first, *count;
    double *values, *doubt;
    bool *is_near; /* [atoms]; NULL: nobody knows */
} box_law;

/* An atom's nodes of [low, high) along an axis; false: there are none. */
static bool find_range(double at, double reach, int64_t low, int64_t high, int64_t range[2])
{
    if (!(at + reach >= (double)low && at - reach <= (double)(high - 1)))
        return false;
    range[0] = (int64_t)fmax(ceil(at - reach), (double)low);
    range[1] = (int64_t)fmin(floor(at + reach), (double)(high - 1)) + 1;
    return range[0] < range[1];
}

static void add_atom(const box_law *b, size_t atom, const double at[3], const double reach[3], int64_t range[3][2])
{
    static const double nearly = 1e-4; /* of a node */
    const density_model *m = b->m;
    const float *position_A = b->position_A + 3 * atom;
    const double fall = 0.5 / (m->sigma_A[atom] * m->sigma_A[atom]);
    for (int64_t k = range[2][0]; k < range[2][1]; k++)
        for (int64_t j = range[1][0]; j < range[1][1]; j++)
            for (int64_t i = range[0][0]; i < range[0][1]; i++) {
                const int64_t index[3] = {i, j, k};
                double point_A[3], square_A2 = 0, end = 1;
                ley_grid_point_A(&m->grid, index, point_A);
                for (int d = 0; d < 3; d++) {
                    square_A2 += pow(point_A[d] - (double)position_A[d], 2);
                    end = fmin(end, reach[d] - fabs((double)index[d] - at[d]));
                }
                const double value = m->weight[atom] * exp(-fall * square_A2);
                const int64_t to = ((k - b->first[2]) * b->count[1] + j - b->first[1]) * b->count[0] + i - b->first[0];
                if (end >= 0)
                    b->values[to] += value;
                if (b->doubt != NULL && fabs(end) < nearly)
                    b->doubt[to] += fabs(value);
            }
}

/* Whether an atom may reach the box; then its nodes in some of the box's planes as well. */
static bool find_ranges(const box_law *b, size_t atom, int64_t low, int64_t high, double at[3], double reach[3],
                        int64_t range[3][2])
{
    const double widened = b->doubt != NULL ? 1e-4 : 0;
    bool is_near = b->m->weight[atom] != 0;
    density_place(b->m, b->position_A + 3 * atom, at);
    for (int d = 2; d >= 0 && is_near; d--) {
        reach[d] = density_reach_nodes(b->m, b->m->sigma_A[atom], d);
        is_near = find_range(at[d], reach[d] + widened, d == 2 ? low : b->first[d],
                             d == 2 ? high : b->first[d] + b->count[d], range[d]);
    }
    return is_near;
}

static void mark_atoms(void *context, size_t first, size_t last)
{
    const box_law *b = context;
    for (size_t i = first; i < last; i++) {
        double at[3], reach[3];
        int64_t range[3][2];
        b->is_near[i] = find_ranges(b, i, b->first[2], b->first[2] + b->count[2], at, reach, range);
    }
}

static void sum_planes(void *context, size_t first, size_t last)
{
    const box_law *b = context;
    const int64_t low = b->first[2] + (int64_t)first, high = b->first[2] + (int64_t)last;
    for (size_t i = 0; i < b->m->count; i++) {
        double at[3], reach[3];
        int64_t range[3][2];
        if ((b->is_near == NULL || b->is_near[i]) && find_ranges(b, i, low, high, at, reach, range))
            add_atom(b, i, at, reach, range);
    }
}

void density_law_box(const density_model *m, const float *position_A, const int64_t first[3], const int64_t count[3],
                     double *values, double *doubt)
{
    box_law b = {m, position_A, first, count, values, doubt, malloc(m->count * sizeof *b.is_near)};
    const size_t bytes = (size_t)(count[0] * count[1] * count[2]) * sizeof *values;
    memset(values, 0, bytes);
    if (doubt != NULL)
        memset(doubt, 0, bytes);
    if (b.is_near != NULL)
        parallel_ranges(m->count, mark_atoms, &b);
    parallel_ranges((size_t)count[2], sum_planes, &b);
    free(b.is_near);
}

double density_correlation(const density_sums *s)
{
    static const double lost = 1e-6; /* of the mean square, by floats */
    const double a = s->aa - s->a * s->a / s->n, b = s->bb - s->b * s->b / s->n, ab = s->ab - s->a * s->b / s->n;
    return s->n >= 2 && a > lost * s->aa && b > lost * s->bb ? ab / sqrt(a * b) : NAN;
}
