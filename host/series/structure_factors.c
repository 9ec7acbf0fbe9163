#include "series/structure_factors.h"

#include "error.h"
#include "law/waves.h"
#include "law/wide.h"
#include "parallel.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Charges whose phases are kept at a time; charges of a part, at least, and parts, at most. */
enum { LANES = 4, GROUPS = 32, BLOCK = LANES * GROUPS, LEAST_PART = 8192, MOST_PARTS = 16 };

typedef double lanes __attribute__((vector_size(LANES * sizeof(double)), aligned(8)));

static const double most_waves = 1e7;

/* Waves (a, b, -c to c): those of both signs of the last number have their sums in common. */
typedef struct wave_row {
    int64_t a, b, c;
    size_t at; /* of (a, b, 0) */
} wave_row;

/* Sums of Re e_ab Re e_c, Im e_ab Im e_c, Re e_ab Im e_c and Im e_ab Re e_c, which are those of
 * (a, b, c) and (a, b, -c). */
typedef double pair_of_waves[4];

struct structure_factors {
    const neighbours *charges; /* while sums are made */
    cell cell;
    double beta_per_A, longest_per_A, mean;
    int64_t most[3], count;
    size_t rows, pairs, parts;
    wave_row *row;
    pair_of_waves *sum; /* [parts][pairs], and then, in the first part, weighted: Re S, Im S of c, of -c */
    atomic_bool lacks_memory;
};

/* ---- Which waves ----------------------------------------------------------------------------- */

static double length2_of(const structure_factors *w, int64_t a, int64_t b, int64_t c)
{
    const double(*d)[3] = w->cell.dual_per_A;
    double sum = 0;
    for (int axis = 0; axis < 3; axis++) {
        const double component = (double)a * d[0][axis] + (double)b * d[1][axis] + (double)c * d[2][axis];
        sum += component * component;
    }
    return 4 * M_PI * M_PI * sum;
}

/* The largest |c| of waves (a, b, c) that are not too long; -1: there is none. */
static int64_t most_last(const structure_factors *w, int64_t a, int64_t b)
{
    const double(*d)[3] = w->cell.dual_per_A;
    double across[3];
    for (int axis = 0; axis < 3; axis++)
        across[axis] = (double)a * d[0][axis] + (double)b * d[1][axis];
    const double last2 = cell_dot(d[2], d[2]), half = cell_dot(d[2], across),
                 beyond = cell_dot(across, across) - pow(w->longest_per_A / (2 * M_PI), 2),
                 root2 = half * half - last2 * beyond;
    return root2 < 0 ? -1 : (int64_t)floor((fabs(half) + sqrt(root2)) / last2);
}

/* Without room for rows they are counted. */
static void list_rows(structure_factors *w)
{
    w->rows = w->pairs = 0;
    for (int64_t a = 0; a <= w->most[0]; a++)
        for (int64_t b = a > 0 ? -w->most[1] : 0; b <= w->most[1]; b++) {
            const int64_t c = most_last(w, a, b);
            if (c < 0)
                continue;
            if (w->row != NULL)
                w->row[w->rows] = (wave_row){a, b, c < w->most[2] ? c : w->most[2], w->pairs};
            w->rows++;
            w->pairs += (size_t)(c < w->most[2] ? c : w->most[2]) + 1;
        }
}

/* ---- Phases ---------------------------------------------------------------------------------- */

/* cos and sin of 2 pi x, by the series of half the angle: 1e-15. */
static WIDE_INLINE void find_phase(const lanes *x, lanes *cosine, lanes *sine)
{
    static const double digits = 0x1.8p52; /* added to a number it leaves no digits for a fraction */
    const lanes half = (*x - ((*x + digits) - digits)) * M_PI, u = half * half;
    lanes c = {0}, s = {0};
    for (int n = 10; n >= 1; n--) {
        c = (c + 1) * u * (-1.0 / ((2 * n - 1) * (2 * n)));
        s = (s + 1) * u * (-1.0 / ((2 * n) * (2 * n + 1)));
    }
    c += 1;
    s = (s + 1) * half;
    *cosine = 1 - 2 * s * s;
    *sine = 2 * s * c;
}

/* Powers 0 to most of the phases of LANES places along an axis: power[2 m] and [2 m + 1] real and
 * imaginary, `step` apart. */
static WIDE_INLINE void find_powers(const double dual[3], const lanes *x, const lanes *y, const lanes *z, int64_t most,
                                    size_t step, lanes *power)
{
    const lanes component = dual[0] * *x + dual[1] * *y + dual[2] * *z;
    lanes c, s;
    find_phase(&component, &c, &s);
    power[0] = 1 + 0 * c;
    power[step] = 0 * c;
    for (int64_t m = 1; m <= most; m++) {
        const lanes *before = power;
        power += 2 * step;
        power[0] = before[0] * c - before[step] * s;
        power[step] = before[0] * s + before[step] * c;
    }
}

static size_t powers_of(const structure_factors *w)
{
    return 2 * (size_t)(w->most[0] + w->most[1] + w->most[2] + 3);
}

/* ---- Sums over charges ----------------------------------------------------------------------- */

/* Adds the sums of a row: ab[2][GROUPS] the products with charges, c the powers along the last
 * vector. */
static WIDE_INLINE void add_row(const wave_row *row, const lanes *ab, const lanes *c, pair_of_waves *sum)
{
    for (int64_t m = 0; m <= row->c; m++, c += 2 * GROUPS) {
        lanes own[4] = {{0}};
        for (int g = 0; g < GROUPS; g++) {
            own[0] += ab[g] * c[g];
            own[1] += ab[GROUPS + g] * c[GROUPS + g];
            own[2] += ab[g] * c[GROUPS + g];
            own[3] += ab[GROUPS + g] * c[g];
        }
        for (int k = 0; k < 4; k++)
            sum[m][k] += (own[k][0] + own[k][1]) + (own[k][2] + own[k][3]);
    }
}

static WIDE_INLINE void add_block(const structure_factors *w, size_t first, size_t last, lanes *power,
                                  pair_of_waves *sum)
{
    const neighbours *at = w->charges;
    lanes *a = power, *b = a + 2 * GROUPS * (w->most[0] + 1), *c = b + 2 * GROUPS * (w->most[1] + 1), ab[2 * GROUPS],
          charge[GROUPS];
    for (size_t g = 0; g < GROUPS; g++) {
        const size_t j = first + g * LANES < last ? first + g * LANES : first;
        const lanes *x = (const lanes *)(at->place_A[0] + j), *y = (const lanes *)(at->place_A[1] + j),
                    *z = (const lanes *)(at->place_A[2] + j);
        find_powers(w->cell.dual_per_A[0], x, y, z, w->most[0], GROUPS, a + g);
        find_powers(w->cell.dual_per_A[1], x, y, z, w->most[1], GROUPS, b + g);
        find_powers(w->cell.dual_per_A[2], x, y, z, w->most[2], GROUPS, c + g);
        for (size_t i = 0; i < LANES; i++)
            charge[g][i] = first + g * LANES + i < last ? at->charge_e[first + g * LANES + i] : 0;
    }
    for (size_t r = 0; r < w->rows; r++) {
        const wave_row *row = &w->row[r];
        const lanes *ea = a + 2 * GROUPS * row->a, *eb = b + 2 * GROUPS * (row->b < 0 ? -row->b : row->b);
        const double side = row->b < 0 ? -1 : 1;
        for (int g = 0; g < GROUPS; g++) {
            const lanes imaginary = side * eb[GROUPS + g];
            ab[g] = charge[g] * (ea[g] * eb[g] - ea[GROUPS + g] * imaginary);
            ab[GROUPS + g] = charge[g] * (ea[g] * imaginary + ea[GROUPS + g] * eb[g]);
        }
        add_row(row, ab, c, sum + row->at);
    }
}

static WIDE_INLINE void add_part(const structure_factors *w, size_t part, lanes *power)
{
    const size_t last = parallel_first(w->charges->n, w->parts, part + 1);
    for (size_t first = parallel_first(w->charges->n, w->parts, part); first < last; first += BLOCK)
        add_block(w, first, first + BLOCK < last ? first + BLOCK : last, power, w->sum + part * w->pairs);
}

WIDE_VERSIONS(add_part, (const structure_factors *w, size_t part, lanes *power), (w, part, power))

static void add_parts(void *context, size_t first, size_t last)
{
    structure_factors *w = context;
    lanes *power = malloc(powers_of(w) * GROUPS * sizeof *power);
    if (power == NULL)
        atomic_store(&w->lacks_memory, true);
    for (size_t part = first; part < last && power != NULL; part++)
        add_part_wide(w, part, power);
    free(power);
}

/* ---- Weights --------------------------------------------------------------------------------- */

/* A wave and its opposite count twice; what a row has beyond the longest wave counts, too. */
static double weight_of(const structure_factors *w, int64_t a, int64_t b, int64_t c)
{
    const double k2 = length2_of(w, a, b, c);
    return k2 > 0 ? 8 * M_PI / w->cell.measure * exp(-k2 / (4 * w->beta_per_A * w->beta_per_A)) / k2 : 0;
}

static void weigh(structure_factors *w)
{
    for (size_t r = 0; r < w->rows; r++)
        for (int64_t c = 0; c <= w->row[r].c; c++) {
            const wave_row *row = &w->row[r];
            double *sum = w->sum[row->at + (size_t)c];
            for (size_t part = 1; part < w->parts; part++)
                for (int k = 0; k < 4; k++)
                    sum[k] += w->sum[part * w->pairs + row->at + (size_t)c][k];
            const double up = weight_of(w, row->a, row->b, c),
                         down = c == 0 || (row->a == 0 && row->b == 0) ? 0 : weight_of(w, row->a, row->b, -c),
                         of[4] = {up * (sum[0] - sum[1]), up * (sum[2] + sum[3]), down * (sum[0] + sum[1]),
                                  down * (sum[3] - sum[2])};
            memcpy(sum, of, sizeof of);
            w->count += (up > 0) + (down > 0);
        }
}

static ley_status make(structure_factors *w, double s, ley_error *error)
{
    const neighbours *charges = w->charges;
    double total_e = 0, boxes = 1;
    for (size_t j = 0; j < charges->n; j++)
        total_e += charges->charge_e[j];
    w->mean = -M_PI * total_e / (w->beta_per_A * w->beta_per_A * w->cell.measure);
    w->longest_per_A = 2 * w->beta_per_A * s;
    waves_most(&w->cell, w->longest_per_A, w->most);
    for (int i = 0; i < 3; i++)
        boxes *= 2 * (double)w->most[i] + 1;
    if (!(boxes < most_waves))
        return ley_fail(error, LEY_ERROR_INPUT, "a cell so oblique that %.2g waves were to be summed", boxes);
    list_rows(w);
    w->parts = charges->n / LEAST_PART + 1;
    w->parts = w->parts < MOST_PARTS ? w->parts : MOST_PARTS;
    w->row = malloc((w->rows + 1) * sizeof *w->row);
    w->sum = calloc(w->parts * w->pairs + 1, sizeof *w->sum);
    if (w->row == NULL || w->sum == NULL)
        return ley_fail_memory(error, w->parts * w->pairs * sizeof *w->sum, "structure factors");
    list_rows(w);
    parallel_ranges(w->parts, add_parts, w);
    if (atomic_load(&w->lacks_memory))
        return ley_fail_memory(error, powers_of(w) * GROUPS * sizeof(lanes), "structure factors");
    weigh(w);
    return LEY_OK;
}

ley_status structure_factors_create(const neighbours *charges, double beta_per_A, double s, structure_factors **made,
                                    ley_error *error)
{
    structure_factors *w = calloc(1, sizeof *w);
    if (w == NULL)
        return ley_fail_memory(error, sizeof *w, "structure factors");
    w->charges = charges;
    w->cell = charges->cell;
    w->beta_per_A = beta_per_A;
    const ley_status status = make(w, s, error);
    w->charges = NULL;
    if (status == LEY_OK)
        *made = w;
    else
        structure_factors_destroy(w);
    return status;
}

void structure_factors_destroy(structure_factors *w)
{
    if (w == NULL)
        return;
    free(w->row);
    free(w->sum);
    free(w);
}

int64_t structure_factors_count(const structure_factors *w)
{
    return w->count;
}

/* ---- At points ------------------------------------------------------------------------------- */

/* LANES points at a time: the sum, and those of its waves times a, b and c, of which the field is
 * made. */
static WIDE_INLINE void sum_rows(const structure_factors *w, const double *place_A, lanes *power, lanes sum[4])
{
    const lanes *x = (const lanes *)place_A, *y = x + 1, *z = x + 2;
    lanes *a = power, *b = a + 2 * (w->most[0] + 1), *c = b + 2 * (w->most[1] + 1);
    find_powers(w->cell.dual_per_A[0], x, y, z, w->most[0], 1, a);
    find_powers(w->cell.dual_per_A[1], x, y, z, w->most[1], 1, b);
    find_powers(w->cell.dual_per_A[2], x, y, z, w->most[2], 1, c);
    for (size_t r = 0; r < w->rows; r++) {
        const wave_row *row = &w->row[r];
        const lanes *ea = a + 2 * row->a, *eb = b + 2 * (row->b < 0 ? -row->b : row->b);
        const lanes imaginary = row->b < 0 ? -eb[1] : eb[1], u = ea[0] * eb[0] - ea[1] * imaginary,
                    v = ea[0] * imaginary + ea[1] * eb[0];
        lanes across = 0 * u;
        for (int64_t m = 0; m <= row->c; m++) {
            const double *of = w->sum[row->at + (size_t)m];
            const lanes rr = u * c[2 * m], ii = v * c[2 * m + 1], ri = u * c[2 * m + 1], ir = v * c[2 * m];
            const lanes up = (ri + ir) * of[0] - (rr - ii) * of[1], down = (ir - ri) * of[2] - (rr + ii) * of[3];
            sum[0] += (rr - ii) * of[0] + (ri + ir) * of[1] + (rr + ii) * of[2] + (ir - ri) * of[3];
            across += up + down;
            sum[3] += (double)m * (up - down);
        }
        sum[1] += (double)row->a * across;
        sum[2] += (double)row->b * across;
    }
}

WIDE_VERSIONS(sum_rows, (const structure_factors *w, const double *place_A, lanes *power, lanes sum[4]),
              (w, place_A, power, sum))

ley_status structure_factors_add(const structure_factors *w, size_t points, const double *point_A, point_sum *at,
                                 ley_error *error)
{
    lanes *power = malloc(powers_of(w) * sizeof *power);
    if (power == NULL)
        return ley_fail_memory(error, powers_of(w) * sizeof *power, "waves at points");
    for (size_t first = 0; first < points; first += LANES) {
        double place_A[3 * LANES] = {0};
        lanes sum[4] = {{0}};
        const size_t count = points - first < LANES ? points - first : LANES;
        for (size_t i = 0; i < count; i++)
            for (size_t axis = 0; axis < 3; axis++)
                place_A[axis * LANES + i] = point_A[3 * (first + i) + axis];
        sum_rows_wide(w, place_A, power, sum);
        for (size_t i = 0; i < count; i++) {
            at[first + i].value += sum[0][i] + w->mean;
            for (int axis = 0; axis < 3; axis++)
                for (int k = 0; k < 3; k++)
                    at[first + i].field[axis] += 2 * M_PI * sum[1 + k][i] * w->cell.dual_per_A[k][axis];
        }
    }
    free(power);
    return LEY_OK;
}
