#include "law/structure.h"

#include "cancel.h"
#include "error.h"
#include "law/piecewise.h"
#include "law/wide.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Nodes of a window along an axis; pieces of it between two nodes; columns that are transformed at
 * a time, or half as many complex ones. */
enum { WIDTH = 12, FINE = 16, COLUMNS = 8, COLOURS = 8 };

/* Nodes for each wave and its opposite; the window's I_0(shape sqrt(1 - (2 x / WIDTH)^2)). */
static const double oversampling = 1.5, shape = 0.85 * M_PI * WIDTH;

/* Nanoseconds for a charge; for a node; for four multiplications of a transform. */
static const double charge_cost = 350, node_cost = 2, wave_cost = 0.5;

typedef struct structure {
    const structure_options *o;
    int64_t n[3], blocks[3];
    int64_t first[3], count[3]; /* nodes that charges reach, along open axes but the first one; else all */
    size_t stride;              /* of the mesh's rows: the first nodes come again at their ends */
    double window[FINE][PIECEWISE_TERMS][WIDTH]; /* by powers of a share of a piece */
    double *turn[3][2];                          /* [n]: cosines and sines of 2 pi m / n */
    double *factor[3];                           /* [most + 1]: over the window's transform */
    double *mesh;                                /* [n[2]][n[1]][stride] */
    double *half;                                /* [most[2] + 1][2][n[1]][n[0]]: transformed along the last axis */
    int colour;
    atomic_size_t taken;
    atomic_bool lacks_memory;
} structure;

static int64_t nodes_of(int64_t most)
{
    const int64_t n = (int64_t)ceil(2 * oversampling * (double)(most + 1));
    return n > WIDTH ? n : WIDTH;
}

double structure_time(const int64_t most[3], const double share[3], double charges)
{
    double n[3], m[3];
    for (int i = 0; i < 3; i++) {
        n[i] = (double)nodes_of(most[i]);
        n[i] = i > 0 ? fmin(n[i], n[i] * share[i] + WIDTH) : n[i];
        m[i] = (double)most[i] + 1;
    }
    return charges * charge_cost + n[0] * n[1] * n[2] * node_cost +
           wave_cost * (n[0] * n[1] * n[2] * m[2] / 2 + n[0] * n[1] * m[1] * m[2] + 2 * n[0] * m[0] * m[1] * m[2]);
}

/* ---- The window ------------------------------------------------------------------------------ */

static double bessel_i0(double x)
{
    double sum = 1, term = 1;
    for (int k = 1; term > 1e-18 * sum; k++) {
        term *= x * x / (4.0 * k * k);
        sum += term;
    }
    return sum;
}

static double window_at(const void *context, double x)
{
    (void)context;
    return bessel_i0(shape * sqrt(fmax(0, 1 - pow(2 * x / WIDTH, 2)))) / bessel_i0(shape);
}

/* Of m waves on n nodes. */
static double window_transform(int64_t m, int64_t n)
{
    const double root = sqrt(shape * shape - pow(M_PI * WIDTH * (double)m / (double)n, 2));
    return WIDTH * sinh(root) / root / bessel_i0(shape);
}

/* Node number i of a window is at t + WIDTH / 2 - 1 - i from the place, t from 0 to 1. */
static ley_status make_window(structure *s, ley_error *error)
{
    piecewise p;
    const ley_status status = piecewise_make(-WIDTH / 2, WIDTH / 2, WIDTH * FINE, window_at, NULL, &p, error);
    if (status != LEY_OK)
        return status;
    for (int piece = 0; piece < FINE; piece++)
        for (int term = 0; term < PIECEWISE_TERMS; term++)
            for (int i = 0; i < WIDTH; i++)
                s->window[piece][term][i] = p.coefficient[(WIDTH - 1 - i) * FINE + piece][term];
    piecewise_clear(&p);
    return LEY_OK;
}

static WIDE_INLINE void find_weights(const structure *s, double t, double weight[WIDTH])
{
    const double at = t * FINE;
    const int piece = at < FINE ? (int)at : FINE - 1;
    const double x = at - piece - 0.5, (*c)[WIDTH] = s->window[piece];
    for (int i = 0; i < WIDTH; i++)
        weight[i] = c[PIECEWISE_TERMS - 1][i];
    for (int term = PIECEWISE_TERMS - 2; term >= 0; term--)
        for (int i = 0; i < WIDTH; i++)
            weight[i] = weight[i] * x + c[term][i];
}

/* ---- To the mesh ----------------------------------------------------------------------------- */

typedef double four __attribute__((vector_size(32), aligned(8)));
typedef double eight __attribute__((vector_size(64), aligned(8)));

static WIDE_INLINE void spread_charge(structure *s, size_t j)
{
    const neighbours *charges = s->o->charges;
    const double(*dual)[3] = s->o->cell.dual_per_A;
    double weight[3][WIDTH];
    int64_t first[3];
    for (int i = 0; i < 3; i++) {
        const double at = (double)s->n[i] * (dual[i][0] * charges->place_A[0][j] + dual[i][1] * charges->place_A[1][j] +
                                             dual[i][2] * charges->place_A[2][j]),
                     below = floor(at);
        find_weights(s, at - below, weight[i]);
        first[i] = ((int64_t)below - WIDTH / 2 + 1) % s->n[i];
        first[i] += first[i] < 0 ? s->n[i] : 0;
    }
    const eight low = *(const eight *)weight[0];
    const four high = *(const four *)(weight[0] + 8);
    for (int l = 0; l < WIDTH; l++) {
        const int64_t z = first[2] + l < s->n[2] ? first[2] + l : first[2] + l - s->n[2];
        for (int k = 0; k < WIDTH; k++) {
            const int64_t y = first[1] + k < s->n[1] ? first[1] + k : first[1] + k - s->n[1];
            double *row = s->mesh + (size_t)(z * s->n[1] + y) * s->stride + first[0];
            const double q_e = charges->charge_e[j] * weight[2][l] * weight[1][k];
            *(eight *)row += q_e * low;
            *(four *)(row + 8) += q_e * high;
        }
    }
}

static WIDE_INLINE void spread_charges(structure *s, size_t first, size_t last)
{
    for (size_t j = first; j < last; j++)
        spread_charge(s, j);
}

WIDE_VERSIONS(spread_charges, (structure * s, size_t first, size_t last), (s, first, last))

/* Along an axis that is open nodes far from all charges are left out. */
static void find_span(structure *s, int axis)
{
    const neighbours *charges = s->o->charges;
    const double nodes = cell_length(charges->cell.vector_A[axis]) / cell_length(s->o->cell.vector_A[axis]) *
                         (double)s->n[axis],
                 first = floor(charges->low[axis] * nodes) - WIDTH / 2,
                 count = ceil(charges->width[axis] * nodes) + WIDTH + 2;
    s->first[axis] = 0;
    s->count[axis] = s->n[axis];
    if (axis == 0 || charges->cell.periodic[axis] || !(count < (double)s->n[axis]))
        return;
    s->first[axis] = (int64_t)(first - floor(first / (double)s->n[axis]) * (double)s->n[axis]) % s->n[axis];
    s->count[axis] = (int64_t)count;
}

static int64_t node_of(const structure *s, int axis, int64_t i)
{
    return (s->first[axis] + i) % s->n[axis];
}

/* Blocks of bins: along each axis the windows of every other block have no node in common. */
static void find_blocks(structure *s)
{
    const neighbours *charges = s->o->charges;
    for (int i = 0; i < 3; i++) {
        const double length_A = charges->width[i] * cell_length(charges->cell.vector_A[i]),
                     nodes = length_A / cell_length(s->o->cell.vector_A[i]) * (double)s->n[i],
                     most = nodes / (WIDTH + 1.0), bins = (double)charges->bins[i];
        s->blocks[i] = most >= 2 ? (int64_t)(bins / ceil(bins / most)) / 2 * 2 : 0;
        s->blocks[i] = s->blocks[i] > 0 ? s->blocks[i] : 1;
    }
}

static void spread_block(structure *s, const int64_t block[3])
{
    const neighbours *charges = s->o->charges;
    size_t low[3], high[3];
    for (int i = 0; i < 3; i++) {
        low[i] = parallel_first((size_t)charges->bins[i], (size_t)s->blocks[i], (size_t)block[i]);
        high[i] = parallel_first((size_t)charges->bins[i], (size_t)s->blocks[i], (size_t)block[i] + 1);
    }
    for (size_t l = low[2]; l < high[2]; l++)
        for (size_t k = low[1]; k < high[1]; k++) {
            const size_t row = (l * (size_t)charges->bins[1] + k) * (size_t)charges->bins[0];
            spread_charges_wide(s, charges->first[row + low[0]], charges->first[row + high[0]]);
        }
}

/* Those of a colour: every other one along each axis. */
static void spread_blocks(void *context, size_t first, size_t last)
{
    structure *s = context;
    size_t count[3];
    (void)first;
    (void)last;
    for (int i = 0; i < 3; i++)
        count[i] = (size_t)(s->blocks[i] + 1) / 2;
    for (size_t at;
         !cancel_is_asked(s->o->cancelled) && (at = atomic_fetch_add(&s->taken, 1)) < count[0] * count[1] * count[2];) {
        const size_t each[3] = {at % count[0], at / count[0] % count[1], at / count[0] / count[1]};
        int64_t block[3];
        for (int i = 0; i < 3; i++)
            block[i] = 2 * (int64_t)each[i] + (s->colour >> i & 1);
        spread_block(s, block);
    }
}

/* Each thread takes one item after the other: they are few, and not alike. */
static void take_all(structure *s, void (*body)(void *context, size_t first, size_t last))
{
    atomic_store(&s->taken, 0);
    parallel_ranges((size_t)parallel_cores(), body, s);
}

static void spread_all(structure *s)
{
    for (s->colour = 0; s->colour < COLOURS; s->colour++)
        if ((s->colour & 1) < s->blocks[0] && (s->colour >> 1 & 1) < s->blocks[1] && s->colour >> 2 < s->blocks[2])
            take_all(s, spread_blocks);
}

/* ---- Its transform --------------------------------------------------------------------------- */

/* Sums of columns times cosines, and sines, of waves m and m + 1: of the first half of the columns,
 * cosines, sines, and of the second one. */
static WIDE_INLINE void transform(const structure *s, int axis, const double *columns, int64_t m, four sum[8])
{
    const double *cosine = s->turn[axis][0], *sine = s->turn[axis][1];
    const int64_t n = s->n[axis];
    int64_t i = m * s->first[axis] % n, k = (m + 1) * s->first[axis] % n;
    four own[8] = {{0}};
    for (int64_t node = 0; node < s->count[axis]; node++, columns += COLUMNS) {
        const four a = *(const four *)columns, b = *(const four *)(columns + 4);
        own[0] += a * cosine[i];
        own[1] += a * sine[i];
        own[2] += b * cosine[i];
        own[3] += b * sine[i];
        own[4] += a * cosine[k];
        own[5] += a * sine[k];
        own[6] += b * cosine[k];
        own[7] += b * sine[k];
        i += m;
        i -= i < n ? 0 : n;
        k += m + 1;
        k -= k < n ? 0 : n;
    }
    memcpy(sum, own, sizeof own);
}

/* Along the last axis, of the nodes y of the second. */
static WIDE_INLINE void transform_last(structure *s, int64_t y, double *columns)
{
    const size_t wide = (size_t)s->n[0], plane = (size_t)s->n[1] * s->stride, half = (size_t)s->n[1] * wide;
    double *row = s->mesh + (size_t)y * s->stride;
    for (int64_t z = 0; z < s->count[2]; z++) {
        double *at = row + (size_t)node_of(s, 2, z) * plane;
        for (size_t i = 0; i < WIDTH; i++)
            at[i] += at[wide + i];
    }
    for (size_t x = 0; x < wide; x += COLUMNS) {
        const size_t count = wide - x < COLUMNS ? wide - x : COLUMNS;
        for (int64_t z = 0; z < s->count[2]; z++)
            memcpy(columns + z * COLUMNS, row + (size_t)node_of(s, 2, z) * plane + x, COLUMNS * sizeof *columns);
        for (int64_t m = 0; m <= s->o->most[2]; m += 2) {
            double sum[8][4];
            transform(s, 2, columns, m, (four *)sum);
            for (int64_t l = m; l <= m + 1 && l <= s->o->most[2]; l++)
                for (int part = 0; part < 2; part++) {
                    double *to = s->half + (size_t)(2 * l + part) * half + (size_t)y * wide + x;
                    for (size_t i = 0; i < count; i++)
                        to[i] = sum[4 * (l - m) + part + (i < 4 ? 0 : 2)][i % 4];
                }
        }
    }
}

WIDE_VERSIONS(transform_last, (structure * s, int64_t y, double *columns), (s, y, columns))

static void transform_rows(void *context, size_t first, size_t last)
{
    structure *s = context;
    double *columns = malloc((size_t)s->n[2] * COLUMNS * sizeof *columns);
    if (columns == NULL)
        atomic_store(&s->lacks_memory, true);
    for (size_t y = first; y < last && columns != NULL && !cancel_is_asked(s->o->cancelled); y++)
        transform_last_wide(s, node_of(s, 1, (int64_t)y), columns);
    free(columns);
}

/* Columns of complex numbers times exp(2 pi i m / n), or its opposite, from their parts' sums. */
static WIDE_INLINE void combine(const double sum[4][4], int lane, int side, double of[2])
{
    of[0] = sum[0][lane] - side * sum[3][lane];
    of[1] = sum[2][lane] + side * sum[1][lane];
}

/* Along the second axis: four numbers k of each node of the first axis lie together. */
static WIDE_INLINE void transform_second(structure *s, int64_t l, int64_t most, double *columns, double *across)
{
    const int64_t *n = s->n;
    const double *real = s->half + (size_t)(2 * l * n[1] * n[0]), *imaginary = real + n[1] * n[0];
    for (int64_t x = 0; x < n[0]; x += 4) {
        for (int64_t y = 0; y < s->count[1]; y++)
            for (int64_t lane = 0; lane < 4; lane++) {
                const int64_t at = node_of(s, 1, y) * n[0] + (x + lane < n[0] ? x + lane : x);
                columns[y * COLUMNS + lane] = real[at];
                columns[y * COLUMNS + 4 + lane] = imaginary[at];
            }
        for (int64_t m = 0; m <= most; m += 2) {
            double sum[8][4];
            transform(s, 1, columns, m, (four *)sum);
            for (int64_t k = m; k <= m + 1 && k <= most; k++)
                for (int side = -1; side <= 1; side += 2)
                    for (int lane = 0; lane < 4 && x + lane < n[0]; lane++) {
                        const int64_t at = most + side * k;
                        double of[2], *to = across + (at / 4 * n[0] + x + lane) * COLUMNS + at % 4;
                        combine((const double(*)[4])sum + 4 * (k - m), lane, side, of);
                        to[0] = of[0];
                        to[4] = of[1];
                    }
        }
    }
}

static void take_wave(const structure *s, int64_t i, int64_t k, int64_t l, const double of[2])
{
    const int64_t wave[3] = {i, k, l};
    const double factor = s->factor[0][i < 0 ? -i : i] * s->factor[1][k < 0 ? -k : k] * s->factor[2][l];
    s->o->take(s->o->context, wave, factor * of[0], factor * of[1]);
}

/* Along the first axis: all that have four numbers k in common. */
static WIDE_INLINE void transform_first(const structure *s, int64_t l, int64_t k, int64_t last, const double *columns)
{
    int64_t most[4], all = -1;
    for (int lane = 0; lane < 4; lane++) {
        most[lane] = k + lane <= last ? s->o->most_first(s->o->context, k + lane, l) : -1;
        all = most[lane] > all ? most[lane] : all;
    }
    for (int64_t m = 0; m <= all; m += 2) {
        double sum[8][4], of[2];
        transform(s, 0, columns, m, (four *)sum);
        for (int64_t i = m; i <= m + 1; i++)
            for (int lane = 0; lane < 4; lane++)
                for (int side = 1; side >= (i > 0 ? -1 : 1) && i <= most[lane]; side -= 2) {
                    combine((const double(*)[4])sum + 4 * (i - m), lane, side, of);
                    take_wave(s, side * i, k + lane, l, of);
                }
    }
}

static WIDE_INLINE void transform_plane(structure *s, int64_t l, double *columns, double *across)
{
    int64_t most = -1;
    for (int64_t k = 0; k <= s->o->most[1]; k++)
        if (s->o->most_first(s->o->context, k, l) >= 0 || s->o->most_first(s->o->context, -k, l) >= 0)
            most = k;
    transform_second(s, l, most, columns, across);
    for (int64_t at = 0; at <= 2 * most; at += 4)
        transform_first(s, l, at - most, most, across + at * s->n[0] * (COLUMNS / 4));
}

WIDE_VERSIONS(transform_plane, (structure * s, int64_t l, double *columns, double *across), (s, l, columns, across))

static void transform_planes(void *context, size_t first, size_t last)
{
    structure *s = context;
    const size_t wide = (size_t)(2 * s->o->most[1] + 4) / 4 * 4 * (size_t)s->n[0] * (COLUMNS / 4);
    double *columns = malloc(((size_t)s->n[1] * COLUMNS + wide) * sizeof *columns);
    (void)first;
    (void)last;
    if (columns == NULL)
        atomic_store(&s->lacks_memory, true);
    for (size_t l; columns != NULL && !cancel_is_asked(s->o->cancelled) &&
                   (l = atomic_fetch_add(&s->taken, 1)) <= (size_t)s->o->most[2];)
        transform_plane_wide(s, (int64_t)l, columns, columns + (size_t)s->n[1] * COLUMNS);
    free(columns);
}

/* ---- All of it ------------------------------------------------------------------------------- */

static void fill_axis(structure *s, int i, double *room)
{
    const int64_t n = s->n[i];
    s->turn[i][0] = room;
    s->turn[i][1] = room + n;
    s->factor[i] = room + 2 * n;
    for (int64_t m = 0; m < n; m++) {
        s->turn[i][0][m] = cos(2 * M_PI * (double)m / (double)n);
        s->turn[i][1][m] = sin(2 * M_PI * (double)m / (double)n);
    }
    for (int64_t m = 0; m <= s->o->most[i]; m++)
        s->factor[i][m] = 1 / window_transform(m, n);
}

static ley_status make_room(structure *s, ley_error *error)
{
    const structure_options *o = s->o;
    size_t tables[4] = {0};
    for (int i = 0; i < 3; i++) {
        s->n[i] = nodes_of(o->most[i]);
        tables[i + 1] = tables[i] + (size_t)(2 * s->n[i] + o->most[i] + 1);
    }
    s->stride = (size_t)s->n[0] + WIDTH;
    const size_t mesh = (size_t)(s->n[1] * s->n[2]) * s->stride,
                 half = (size_t)(2 * (o->most[2] + 1) * s->n[1] * s->n[0]);
    s->mesh = parallel_zeros(mesh * sizeof *s->mesh);
    s->half = malloc(half * sizeof *s->half);
    double *room = malloc(tables[3] * sizeof *room);
    s->turn[0][0] = room;
    if (s->mesh == NULL || s->half == NULL || room == NULL)
        return ley_fail_memory(error, (mesh + half) * sizeof *s->mesh, "waves of an Ewald sum");
    for (int i = 0; i < 3; i++)
        fill_axis(s, i, room + tables[i]);
    return make_window(s, error);
}

ley_status structure_sum(const structure_options *options, ley_error *error)
{
    structure *s = calloc(1, sizeof *s);
    if (s == NULL)
        return ley_fail_memory(error, sizeof *s, "waves of an Ewald sum");
    s->o = options;
    ley_status status = make_room(s, error);
    if (status == LEY_OK) {
        for (int axis = 0; axis < 3; axis++)
            find_span(s, axis);
        find_blocks(s);
        spread_all(s);
        parallel_ranges((size_t)s->count[1], transform_rows, s);
        take_all(s, transform_planes);
    }
    if (status == LEY_OK && atomic_load(&s->lacks_memory))
        status = ley_fail_memory(error, (size_t)s->n[1] * sizeof *s->mesh, "waves of an Ewald sum");
    if (status == LEY_OK && cancel_is_asked(options->cancelled))
        status = ley_fail(error, LEY_CANCELLED, "cancelled");
    free(s->mesh);
    free(s->half);
    free(s->turn[0][0]);
    free(s);
    return status;
}
