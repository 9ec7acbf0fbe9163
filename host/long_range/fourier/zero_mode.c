#include "long_range/fourier/zero_mode.h"

#include "error.h"
#include "law/fourier.h"
#include "numerics/influence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool zero_mode_is_needed(const hierarchy *h)
{
    return h->cell.dimensions > 0 && (h->cell.dimensions < 3 || h->kappa_per_A > 0);
}

/* ---- Charges --------------------------------------------------------------------------------- */

/* Along open axes, at which node an atom begins, and its weights; along periodic ones all weights,
 * which sum to 1, are those of the one node that there is. */
static void weigh(const hierarchy *h, const int64_t m[3], const int64_t bin[3], int32_t corner, const float at[4],
                  int64_t first[3], double weight[3][WINDOW_MOST_POINTS])
{
    for (int axis = 0; axis < 3; axis++) {
        first[axis] = m[axis] > 1 ? bin[axis] * SPREAD_EDGE + (corner >> 5 * axis & 31) : 0;
        weight[axis][0] = 1;
        if (m[axis] > 1)
            window_weights(h->window, (double)at[axis] + 0.5, weight[axis]);
    }
}

static void add_atom(const hierarchy *h, const int64_t m[3], const int64_t bin[3], int32_t corner, const float at[4],
                     fourier_number *charge)
{
    double weight[3][WINDOW_MOST_POINTS];
    int64_t first[3], points[3];
    weigh(h, m, bin, corner, at, first, weight);
    for (int axis = 0; axis < 3; axis++)
        points[axis] = m[axis] > 1 ? h->window->points : 1;
    for (int64_t l = 0; l < points[2]; l++)
        for (int64_t j = 0; j < points[1]; j++)
            for (int64_t i = 0; i < points[0]; i++)
                charge[((first[2] + l) * m[1] + first[1] + j) * m[0] + first[0] + i].real +=
                    weight[0][i] * weight[1][j] * weight[2][l] * (double)at[3];
}

/* What rounding has added to the sum is taken off where charges are. */
static void correct(int64_t count, double right_e, fourier_number *charge)
{
    double total = 0, magnitude = 0;
    for (int64_t i = 0; i < count; i++) {
        total += charge[i].real;
        magnitude += fabs(charge[i].real);
    }
    for (int64_t i = 0; i < count && magnitude > 0; i++)
        charge[i].real -= (total - right_e) / magnitude * fabs(charge[i].real);
    if (magnitude == 0) /* a single node, whose charges cancel as floats */
        charge[0].real = right_e;
}

static void put_atoms(const hierarchy *h, const int64_t m[3], const spread *s, fourier_number *charge)
{
    for (int64_t b = 0; b < s->bins[0] * s->bins[1] * s->bins[2]; b++) {
        const int64_t bin[3] = {b % s->bins[0], b / s->bins[0] % s->bins[1], b / s->bins[0] / s->bins[1]};
        for (int32_t i = s->first[b]; i < s->first[b + 1]; i++)
            add_atom(h, m, bin, s->corner[i], s->at[i], charge);
    }
    correct(m[0] * m[1] * m[2], s->total_e, charge);
}

/* Nodes of a level along open axes; 1 along periodic ones. */
static void count_open(const hierarchy *h, int level, int64_t n[3])
{
    for (int axis = 0; axis < 3; axis++)
        n[axis] = h->cell.periodic[axis] ? 1 : h->level[level].n[axis];
}

/* The shares that a coarse node has of the fine ones along one axis: numbers i[] counted from each
 * level's first node. */
static double share_of(const hierarchy *h, int fine, int axis, int64_t coarse_i, int64_t fine_i)
{
    const int64_t apart = fine_i + h->level[fine].first[axis] - 2 * (coarse_i + h->level[fine + 1].first[axis]);
    return h->cell.periodic[axis]                                    ? 1
           : apart > -h->window->points && apart < h->window->points ? window_two_scale(h->window, (int)apart)
                                                                     : 0;
}

/* Restriction from n nodes to m, along one axis at a time. */
static void restrict_along(const hierarchy *h, int fine, int axis, const int64_t n[3], const int64_t m[3],
                           const fourier_number *from, fourier_number *to)
{
    const int64_t reach = h->window->points;
    for (int64_t i = 0; i < m[0] * m[1] * m[2]; i++) {
        int64_t at[3] = {i % m[0], i / m[0] % m[1], i / m[0] / m[1]};
        const int64_t coarse = at[axis],
                      middle = 2 * (coarse + h->level[fine + 1].first[axis]) - h->level[fine].first[axis],
                      low = middle > reach ? middle - reach : 0,
                      high = middle + reach < n[axis] ? middle + reach : n[axis] - 1;
        double sum = 0;
        for (at[axis] = low; at[axis] <= high; at[axis]++)
            sum += share_of(h, fine, axis, coarse, at[axis]) * from[(at[2] * n[1] + at[1]) * n[0] + at[0]].real;
        to[i] = (fourier_number){.real = sum};
    }
}

/* The charges of a level become those of the next coarser one, in place; `other` has room for as
 * many. */
static void coarsen(const hierarchy *h, int fine, fourier_number *charge, fourier_number *other)
{
    int64_t n[3], m[3];
    count_open(h, fine, n);
    for (int axis = 0; axis < 3; axis++) {
        if (h->cell.periodic[axis])
            continue;
        memcpy(m, n, sizeof m);
        m[axis] = h->level[fine + 1].n[axis];
        restrict_along(h, fine, axis, n, m, charge, other);
        memcpy(charge, other, (size_t)(m[0] * m[1] * m[2]) * sizeof *charge);
        memcpy(n, m, sizeof n);
    }
}

/* Of the top level's n nodes in m, which are as many or more. */
static void pad(const int64_t n[3], const int64_t m[3], const fourier_number *from, fourier_number *to)
{
    for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++) {
        const int64_t at[3] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
        to[(at[2] * m[1] + at[1]) * m[0] + at[0]] = from[i];
    }
}

/* Those of the top level; of one level as they are. */
static ley_status put_charges(const hierarchy *h, const int64_t m[3], const spread *s, fourier_number *charge,
                              ley_error *error)
{
    int64_t n[3];
    if (h->levels == 1) {
        put_atoms(h, m, s, charge);
        return LEY_OK;
    }
    count_open(h, 0, n);
    for (int axis = 0; axis < 3; axis++) /* small levels are coarsened to more nodes than they have */
        n[axis] = n[axis] > 1 ? n[axis] + 4 * h->window->points : n[axis];
    const size_t count = (size_t)(n[0] * n[1] * n[2]);
    fourier_number *fine = calloc(2 * count, sizeof *fine);
    if (fine == NULL)
        return ley_fail_memory(error, 2 * count * sizeof *fine, "the mean wave");
    count_open(h, 0, n);
    put_atoms(h, n, s, fine);
    for (int k = 0; k < h->levels - 1; k++)
        coarsen(h, k, fine, fine + count);
    count_open(h, h->levels - 1, n);
    pad(n, m, fine, charge);
    free(fine);
    return LEY_OK;
}

/* ---- The kernel ------------------------------------------------------------------------------ */

/* Real, and the same on both sides of node 0. */
static void put_kernel(const hierarchy *h, const int64_t n[3], const int64_t m[3], fourier_number *kernel)
{
    for (int64_t i = 0; i < m[0] * m[1] * m[2]; i++) {
        const int64_t at[3] = {i % m[0], i / m[0] % m[1], i / m[0] / m[1]};
        kernel[i].real = influence_kernel(h, n, at);
    }
}

/* ---- Both ------------------------------------------------------------------------------------ */

static void multiply(const hierarchy *h, const int64_t n[3], const int64_t m[3], const fourier_number *charge,
                     const fourier_number *kernel, zero_mode *made)
{
    const double nodes = (double)n[0] * (double)n[1] * (double)n[2];
    const int64_t *w = made->waves;
    for (int64_t i = 0; i < w[0] * w[1] * w[2]; i++) {
        const int64_t at[3] = {i % w[0], i / w[0] % w[1], i / w[0] / w[1]},
                      from = (at[2] * m[1] + at[1]) * m[0] + at[0];
        double factor = 1 / nodes;
        for (int axis = 0; axis < 3; axis++)
            factor *= m[axis] > 1 ? influence_factor(h->window, at[axis], n[axis]) : 1;
        made->values[i][0] = (float)(factor * kernel[from].real * charge[from].real);
        made->values[i][1] = (float)(factor * kernel[from].real * charge[from].imaginary);
    }
}

static ley_status make_in(const hierarchy *h, const int64_t n[3], const int64_t m[3], const spread *atoms,
                          fourier_number *charge, fourier_number *kernel, zero_mode *made, ley_error *error)
{
    const bool along[3] = {m[0] > 1, m[1] > 1, m[2] > 1};
    hierarchy top;
    hierarchy_top(h, &top);
    ley_status status = put_charges(h, m, atoms, charge, error);
    put_kernel(&top, n, m, kernel);
    if (status == LEY_OK)
        status = fourier_transform(charge, m, along, false, error);
    if (status == LEY_OK)
        status = fourier_transform(kernel, m, along, false, error);
    if (status == LEY_OK)
        multiply(&top, n, m, charge, kernel, made);
    return status;
}

ley_status zero_mode_make(const hierarchy *h, const int64_t n[3], const spread *atoms, zero_mode *made,
                          ley_error *error)
{
    int64_t m[3];
    for (int axis = 0; axis < 3; axis++) {
        m[axis] = h->cell.periodic[axis] ? 1 : n[axis];
        made->waves[axis] = axis == 0 ? m[0] / 2 + 1 : m[axis];
    }
    const size_t count = (size_t)(m[0] * m[1] * m[2]);
    fourier_number *charge = calloc(count, sizeof *charge), *kernel = calloc(count, sizeof *kernel);
    made->values = calloc(count, sizeof *made->values);
    const ley_status status = charge == NULL || kernel == NULL || made->values == NULL
                                  ? ley_fail_memory(error, 2 * count * sizeof *charge, "the mean wave")
                                  : make_in(h, n, m, atoms, charge, kernel, made, error);
    free(charge);
    free(kernel);
    if (status != LEY_OK)
        zero_mode_clear(made);
    return status;
}

void zero_mode_clear(zero_mode *m)
{
    free(m->values);
    m->values = NULL;
}
