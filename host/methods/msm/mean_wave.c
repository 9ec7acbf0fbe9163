#include "methods/msm/mean_wave.h"

#include "error.h"
#include "judge/fourier.h"
#include "numerics/influence.h"

#include <math.h>
#include <stdlib.h>

bool mean_wave_is_needed(const hierarchy *h)
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

static void put_charges(const hierarchy *h, const int64_t m[3], const spread *s, fourier_number *charge)
{
    for (int64_t b = 0; b < s->bins[0] * s->bins[1] * s->bins[2]; b++) {
        const int64_t bin[3] = {b % s->bins[0], b / s->bins[0] % s->bins[1], b / s->bins[0] / s->bins[1]};
        for (int32_t i = s->first[b]; i < s->first[b + 1]; i++)
            add_atom(h, m, bin, s->corner[i], s->at[i], charge);
    }
    correct(m[0] * m[1] * m[2], s->total_e, charge);
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
                     const fourier_number *kernel, mean_wave *made)
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
                          fourier_number *charge, fourier_number *kernel, mean_wave *made, ley_error *error)
{
    const bool along[3] = {m[0] > 1, m[1] > 1, m[2] > 1};
    put_charges(h, m, atoms, charge);
    put_kernel(h, n, m, kernel);
    ley_status status = fourier_transform(charge, m, along, false, error);
    if (status == LEY_OK)
        status = fourier_transform(kernel, m, along, false, error);
    if (status == LEY_OK)
        multiply(h, n, m, charge, kernel, made);
    return status;
}

ley_status mean_wave_make(const hierarchy *h, const int64_t n[3], const spread *atoms, mean_wave *made,
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
        mean_wave_clear(made);
    return status;
}

void mean_wave_clear(mean_wave *m)
{
    free(m->values);
    m->values = NULL;
}
