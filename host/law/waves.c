#include "law/waves.h"

#include "error.h"
#include "law/structure.h"
#include "law/wide.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Waves of a row that are summed at a time. */
enum { LANES = 4 };

static const double most_waves = 1e8;

/* Waves (i, k, l) of one k and one l, i from first to first + count - 1. */
typedef struct wave_row {
    int64_t first, count, k, l;
    size_t at; /* of the first one among all */
} wave_row;

struct waves {
    const waves_options *o; /* while they are made */
    cell cell;
    int least_axis;
    size_t rows, count;
    int64_t most[3];
    wave_row *row;
    int64_t *number;          /* [most[2] + 1][2 most[1] + 1] of the row of k and l; -1: there is none */
    double *real, *imaginary; /* [count]; weighted */
};

static double wave_length2(const waves *w, int64_t i, int64_t k, int64_t l)
{
    const double(*d)[3] = w->cell.dual_per_A;
    double sum = 0;
    for (int axis = 0; axis < 3; axis++) {
        const double component = (double)i * d[0][axis] + (double)k * d[1][axis] + (double)l * d[2][axis];
        sum += component * component;
    }
    return 4 * M_PI * M_PI * sum;
}

static bool is_left_out(const waves *w, int64_t i, int64_t k, int64_t l)
{
    return (w->least_axis == 0 && i == 0) || (w->least_axis == 1 && k == 0) || (w->least_axis == 2 && l == 0);
}

static int64_t *number_of(const waves *w, int64_t k, int64_t l)
{
    return &w->number[l * (2 * w->most[1] + 1) + w->most[1] + k];
}

/* ---- Structure factors ----------------------------------------------------------------------- */

static int64_t most_first(const void *context, int64_t k, int64_t l)
{
    const waves *w = context;
    const int64_t number = *number_of(w, k, l);
    if (number < 0)
        return -1;
    const wave_row *row = &w->row[number];
    const int64_t last = row->first + row->count - 1;
    return last > -row->first ? last : -row->first;
}

static void take(void *context, const int64_t wave[3], double real, double imaginary)
{
    waves *w = context;
    const wave_row *row = &w->row[*number_of(w, wave[1], wave[2])];
    const int64_t at = wave[0] - row->first;
    if (at < 0 || at >= row->count || is_left_out(w, wave[0], wave[1], wave[2]))
        return;
    const double k2 = wave_length2(w, wave[0], wave[1], wave[2]),
                 weight = w->o->weight(w->o->context, k2) / w->cell.measure;
    w->real[row->at + (size_t)at] = weight * real;
    w->imaginary[row->at + (size_t)at] = weight * imaginary;
}

static ley_status sum_charges(waves *w, ley_error *error)
{
    structure_options options = {.charges = w->o->charges,
                                 .cell = w->cell,
                                 .most_first = most_first,
                                 .take = take,
                                 .context = w,
                                 .cancelled = w->o->cancelled};
    memcpy(options.most, w->most, sizeof options.most);
    return structure_sum(&options, error);
}

/* ---- Which waves ----------------------------------------------------------------------------- */

/* The numbers i of a row whose waves are no longer than that: an interval. */
static void find_range(const waves *w, double longest_per_A, wave_row *row)
{
    const double(*d)[3] = w->cell.dual_per_A;
    double across[3];
    for (int axis = 0; axis < 3; axis++)
        across[axis] = (double)row->k * d[1][axis] + (double)row->l * d[2][axis];
    const double a = cell_dot(d[0], d[0]), half = cell_dot(d[0], across),
                 beyond = cell_dot(across, across) - pow(longest_per_A / (2 * M_PI), 2),
                 root2 = half * half - a * beyond, least = row->k == 0 && row->l == 0 ? 1 : -(double)w->most[0];
    const double first = fmax(ceil((-half - sqrt(fmax(root2, 0))) / a), least),
                 last = fmin(floor((-half + sqrt(fmax(root2, 0))) / a), (double)w->most[0]);
    row->first = (int64_t)first;
    row->count = root2 >= 0 && first <= last ? (int64_t)(last - first) + 1 : 0;
}

/* One of each pair of opposite waves, in rows, each of which has room for whole lanes. Without
 * places to put them they are counted. */
static void list_rows(waves *w, double longest_per_A)
{
    size_t rows = 0, at = 0;
    for (int64_t l = 0; l <= w->most[2]; l++)
        for (int64_t k = l > 0 ? -w->most[1] : 0; k <= w->most[1]; k++) {
            wave_row row = {.k = k, .l = l, .at = at};
            find_range(w, longest_per_A, &row);
            if (row.count == 0 || (w->least_axis == 1 && k == 0) || (w->least_axis == 2 && l == 0))
                continue;
            if (w->row != NULL) {
                w->row[rows] = row;
                *number_of(w, k, l) = (int64_t)rows;
            }
            rows++;
            at += ((size_t)row.count + LANES - 1) / LANES * LANES;
        }
    w->rows = rows;
    w->count = at;
}

void waves_most(const cell *c, double longest_per_A, int64_t most[3])
{
    for (int i = 0; i < 3; i++)
        most[i] = (int64_t)fmin(longest_per_A * cell_length(c->vector_A[i]) / (2 * M_PI), 1e6);
}

static ley_status make(waves *w, ley_error *error)
{
    double boxes = 1;
    waves_most(&w->cell, w->o->longest_per_A, w->most);
    for (int i = 0; i < 3; i++)
        boxes *= 2 * (double)w->most[i] + 1;
    if (!(boxes < most_waves))
        return ley_fail(error, LEY_ERROR_INPUT, "lattice sum: a cell so oblique that %.2g waves were to be summed",
                        boxes);
    const size_t numbers = (size_t)((w->most[2] + 1) * (2 * w->most[1] + 1));
    list_rows(w, w->o->longest_per_A);
    w->row = malloc((w->rows + 1) * sizeof *w->row);
    w->number = malloc(numbers * sizeof *w->number);
    w->real = calloc(w->count + 1, sizeof *w->real);
    w->imaginary = calloc(w->count + 1, sizeof *w->imaginary);
    if (w->row == NULL || w->number == NULL || w->real == NULL || w->imaginary == NULL)
        return ley_fail_memory(error, 2 * w->count * sizeof *w->real, "waves of an Ewald sum");
    memset(w->number, 0xff, numbers * sizeof *w->number);
    list_rows(w, w->o->longest_per_A);
    return w->rows > 0 ? sum_charges(w, error) : LEY_OK;
}

ley_status waves_create(const waves_options *options, waves **made, ley_error *error)
{
    waves *w = calloc(1, sizeof *w);
    if (w == NULL)
        return ley_fail_memory(error, sizeof *w, "waves of an Ewald sum");
    w->o = options;
    w->cell = options->cell;
    w->least_axis = options->least_axis;
    const ley_status status = make(w, error);
    w->o = NULL;
    if (status == LEY_OK)
        *made = w;
    else
        waves_destroy(w);
    return status;
}

void waves_destroy(waves *w)
{
    if (w == NULL)
        return;
    free(w->row);
    free(w->number);
    free(w->real);
    free(w->imaginary);
    free(w);
}

/* ---- At a point ------------------------------------------------------------------------------ */

/* exp(i m x) of each axis, real and imaginary; m = 0 is in the middle, and the first axis has zeros
 * behind, as rows end with lanes that hold no wave. */
typedef struct point_phases {
    double *axis[3][2];
} point_phases;

static double *find_point(const waves *w, const double x_A[3], point_phases *p)
{
    const size_t size = 2 * (size_t)(2 * (w->most[0] + w->most[1] + w->most[2]) + 3 + 3 * LANES);
    double component[3], *room = calloc(size, sizeof *room), *next = room;
    if (room == NULL)
        return NULL;
    cell_components(&w->cell, x_A, component);
    for (int i = 0; i < 3; i++) {
        const int64_t most = w->most[i];
        const double angle = 2 * M_PI * (component[i] - floor(component[i] + 0.5)), c = cos(angle), d = sin(angle);
        double *real = p->axis[i][0] = next + most, *imaginary = p->axis[i][1] = real + 2 * most + 1 + LANES;
        next += 2 * (2 * most + 1 + LANES);
        real[0] = 1;
        imaginary[0] = 0;
        for (int64_t m = 1; m <= most; m++) {
            real[m] = real[-m] = real[m - 1] * c - imaginary[m - 1] * d;
            imaginary[m] = real[m - 1] * d + imaginary[m - 1] * c;
            imaginary[-m] = -imaginary[m];
        }
    }
    return room;
}

/* exp(i (k y + l z)) of a row. */
static WIDE_INLINE void phase_of_row(const point_phases *p, const wave_row *r, double of[2])
{
    const double y[2] = {p->axis[1][0][r->k], p->axis[1][1][r->k]}, z[2] = {p->axis[2][0][r->l], p->axis[2][1][r->l]};
    of[0] = y[0] * z[0] - y[1] * z[1];
    of[1] = y[0] * z[1] + y[1] * z[0];
}

typedef double lanes __attribute__((vector_size(LANES * sizeof(double)), aligned(8)));

static WIDE_INLINE double sum_of(const lanes *a)
{
    return ((*a)[0] + (*a)[1]) + ((*a)[2] + (*a)[3]);
}

/* Of all waves w of conj(S) exp(i k x), real and imaginary; and times i, k, l: sums[1] to [3],
 * where they are asked for. */
static WIDE_INLINE void add_rows(const waves *w, const point_phases *p, bool moments, double sums[4][2])
{
    for (size_t r = 0; r < w->rows; r++) {
        const wave_row *row = &w->row[r];
        const double *c = p->axis[0][0] + row->first, *d = p->axis[0][1] + row->first, *real = w->real + row->at,
                     *imaginary = w->imaginary + row->at;
        const double first = (double)row->first, number[3] = {1, (double)row->k, (double)row->l};
        lanes along[4] = {{0}}, i = {first, first + 1, first + 2, first + 3};
        double across[2];
        for (int64_t at = 0; at < row->count; at += LANES, i += LANES) {
            const lanes a = *(const lanes *)(real + at), b = *(const lanes *)(imaginary + at),
                        x = *(const lanes *)(c + at), y = *(const lanes *)(d + at), u = a * x + b * y,
                        v = a * y - b * x;
            along[0] += u;
            along[1] += v;
            if (moments) {
                along[2] += i * u;
                along[3] += i * v;
            }
        }
        phase_of_row(p, row, across);
        for (int part = 0; part < 2; part++) {
            const double u = sum_of(&along[2 * part]), v = sum_of(&along[2 * part + 1]),
                         of[2] = {across[0] * u - across[1] * v, across[0] * v + across[1] * u};
            for (int k = 0; k < 2; k++)
                if (part > 0)
                    sums[1][k] += of[k];
                else
                    for (int m = 0; m < 3; m++)
                        sums[m > 0 ? m + 1 : 0][k] += number[m] * of[k];
        }
    }
}

static WIDE_INLINE void add_values(const waves *w, const point_phases *p, double sums[4][2])
{
    add_rows(w, p, false, sums);
}

static WIDE_INLINE void add_moments(const waves *w, const point_phases *p, double sums[4][2])
{
    add_rows(w, p, true, sums);
}

WIDE_VERSIONS(add_values, (const waves *w, const point_phases *p, double sums[4][2]), (w, p, sums))
WIDE_VERSIONS(add_moments, (const waves *w, const point_phases *p, double sums[4][2]), (w, p, sums))

double waves_at(const waves *w, const double point_A[3])
{
    point_phases p;
    double sums[4][2] = {{0}}, *room = find_point(w, point_A, &p);
    if (room == NULL)
        return NAN;
    add_values_wide(w, &p, sums);
    free(room);
    return sums[0][0];
}

void waves_add_field(const waves *w, const double point_A[3], double field[3])
{
    point_phases p;
    double sums[4][2] = {{0}}, *room = find_point(w, point_A, &p);
    if (room == NULL)
        field[0] = NAN;
    else
        add_moments_wide(w, &p, sums);
    for (int axis = 0; axis < 3; axis++)
        for (int i = 0; i < 3; i++)
            field[axis] += 2 * M_PI * sums[1 + i][1] * w->cell.dual_per_A[i][axis];
    free(room);
}
