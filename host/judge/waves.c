#include "judge/waves.h"

#include "cancel.h"
#include "error.h"
#include "judge/wide.h"
#include "parallel.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Charges whose phases are made at a time; waves of a row that are summed at a time. */
enum { BLOCK = 64, TILE = 8 };

/* Charges are summed in parts, so many at most, of so many each at least. */
enum { MOST_PARTS = 32, LEAST_PART = 512 };

static const double most_waves = 1e8;

/* Waves (i, k, l) of one k and one l, i from first to first + count - 1. */
typedef struct wave_row {
    int64_t first, count, k, l;
    size_t at;    /* of the first one among all */
    size_t tile;  /* and of the tiles, of |i| from 0 on */
    size_t tiles; /* for |i| */
} wave_row;

struct waves {
    cell cell; /* its longest vector is the first one */
    int least_axis;
    size_t rows, count, tiles;
    int64_t most[3];
    wave_row *row;
    double *real, *imaginary; /* [count]; weighted */
};

/* Sums of q exp(i (k y + l z)), each part of it times each one of exp(i m x), of a tile of m. */
typedef struct tile {
    double real_cos[TILE], real_sin[TILE], imaginary_cos[TILE], imaginary_sin[TILE];
} tile;

typedef struct factors {
    waves *w;
    const waves_options *o;
    size_t parts;
    tile *tile; /* [parts][tiles] */
    atomic_bool lacks_memory;
} factors;

/* ---- Structure factors ----------------------------------------------------------------------- */

/* The phases of a block: cosines and sines of m x, m from 0 on. Along the first axis those of a
 * charge lie in a row, along the others those of a wave. */
typedef struct phases {
    size_t stride; /* of the first axis: whole tiles */
    double *first[2], *other[2][2];
    double real[BLOCK], imaginary[BLOCK]; /* of a row, times charge */
    double step[3][2][BLOCK], charge_e[BLOCK];
} phases;

static size_t round_up(int64_t count)
{
    return ((size_t)count + TILE - 1) / TILE * TILE;
}

static void phases_clear(phases *p)
{
    if (p != NULL)
        free(p->first[0]);
    free(p);
}

static phases *phases_make(const waves *w)
{
    phases *p = malloc(sizeof *p);
    const size_t stride = round_up(w->most[0] + 1), size = 2 * BLOCK * (stride + (size_t)(w->most[1] + w->most[2] + 2));
    double *room = p != NULL ? calloc(size, sizeof *room) : NULL;
    if (room == NULL) {
        free(p);
        return NULL;
    }
    p->stride = stride;
    for (int part = 0; part < 2; part++, room += BLOCK * stride)
        p->first[part] = room;
    for (int axis = 0; axis < 2; axis++)
        for (int part = 0; part < 2; part++, room += BLOCK * (w->most[1 + axis] + 1))
            p->other[axis][part] = room;
    return p;
}

/* exp(i x) of each charge along each axis; what is beyond the last charge has none. */
static void find_steps(const waves *w, const waves_options *o, size_t first, size_t count, phases *p)
{
    for (size_t j = 0; j < BLOCK; j++) {
        double component[3] = {0};
        if (j < count)
            cell_components(&w->cell, o->position_A + 3 * (first + j), component);
        p->charge_e[j] = j < count ? o->charge_e[first + j] : 0;
        for (int axis = 0; axis < 3; axis++) {
            const double angle = 2 * M_PI * (component[axis] - floor(component[axis] + 0.5));
            p->step[axis][0][j] = cos(angle);
            p->step[axis][1][j] = sin(angle);
        }
    }
}

static WIDE_INLINE void turn(size_t n, const double *c, const double *d, const double *real, const double *imaginary,
                             double *next_real, double *next_imaginary)
{
    for (size_t j = 0; j < n; j++) {
        const double a = real[j], b = imaginary[j];
        next_real[j] = a * c[j] - b * d[j];
        next_imaginary[j] = a * d[j] + b * c[j];
    }
}

static WIDE_INLINE void find_phases(const waves *w, phases *p)
{
    for (int axis = 0; axis < 2; axis++) {
        double *real = p->other[axis][0], *imaginary = p->other[axis][1];
        for (size_t j = 0; j < BLOCK; j++) {
            real[j] = 1;
            imaginary[j] = 0;
        }
        for (int64_t m = 0; m < w->most[1 + axis]; m++, real += BLOCK, imaginary += BLOCK)
            turn(BLOCK, p->step[1 + axis][0], p->step[1 + axis][1], real, imaginary, real + BLOCK, imaginary + BLOCK);
    }
    double real[BLOCK], imaginary[BLOCK];
    for (size_t j = 0; j < BLOCK; j++) {
        real[j] = 1;
        imaginary[j] = 0;
    }
    for (size_t m = 0; m <= (size_t)w->most[0]; m++) {
        for (size_t j = 0; j < BLOCK; j++) {
            p->first[0][j * p->stride + m] = real[j];
            p->first[1][j * p->stride + m] = imaginary[j];
        }
        turn(BLOCK, p->step[0][0], p->step[0][1], real, imaginary, real, imaginary);
    }
}

/* The phase of a row, times each charge: exp(i (k y + l z)), l >= 0. */
static WIDE_INLINE void find_row(const wave_row *r, phases *p)
{
    const int64_t k = r->k < 0 ? -r->k : r->k;
    const double *restrict c = p->other[0][0] + k * BLOCK, *restrict d = p->other[0][1] + k * BLOCK,
                           *restrict e = p->other[1][0] + r->l * BLOCK, *restrict f = p->other[1][1] + r->l * BLOCK;
    const double sign = r->k < 0 ? -1 : 1;
    for (size_t j = 0; j < BLOCK; j++) {
        const double y = sign * d[j];
        p->real[j] = p->charge_e[j] * (c[j] * e[j] - y * f[j]);
        p->imaginary[j] = p->charge_e[j] * (c[j] * f[j] + y * e[j]);
    }
}

typedef double four __attribute__((vector_size(32), aligned(8)));

/* Adds a block's charges to a tile: all that takes time. Sums stay in registers. */
static WIDE_INLINE void add_tile(const phases *p, size_t first, tile *sums)
{
    const double *c = p->first[0] + first, *d = p->first[1] + first;
    four sum[8];
    memcpy(sum, sums, sizeof sum);
    for (size_t j = 0; j < BLOCK; j++, c += p->stride, d += p->stride) {
        const four c0 = *(const four *)c, c1 = *(const four *)(c + 4), d0 = *(const four *)d,
                   d1 = *(const four *)(d + 4);
        const double a = p->real[j], b = p->imaginary[j];
        sum[0] += a * c0;
        sum[1] += a * c1;
        sum[2] += a * d0;
        sum[3] += a * d1;
        sum[4] += b * c0;
        sum[5] += b * c1;
        sum[6] += b * d0;
        sum[7] += b * d1;
    }
    memcpy(sums, sum, sizeof sum);
}

static WIDE_INLINE void add_block(const waves *w, phases *p, tile *sums)
{
    find_phases(w, p);
    for (size_t r = 0; r < w->rows; r++) {
        const wave_row *row = &w->row[r];
        find_row(row, p);
        for (size_t t = 0; t < row->tiles; t++)
            add_tile(p, t * TILE, &sums[row->tile + t]);
    }
}

WIDE_VERSIONS(add_block, (const waves *w, phases *p, tile *sums), (w, p, sums))

static void sum_parts(void *context, size_t first, size_t last)
{
    factors *f = context;
    phases *p = phases_make(f->w);
    if (p == NULL)
        atomic_store(&f->lacks_memory, true);
    for (size_t part = first; part < last && p != NULL; part++) {
        const size_t end = parallel_first(f->o->n, f->parts, part + 1);
        for (size_t j = parallel_first(f->o->n, f->parts, part); j < end && !cancel_is_asked(f->o->cancelled);
             j += BLOCK) {
            find_steps(f->w, f->o, j, end - j < BLOCK ? end - j : BLOCK, p);
            add_block_wide(f->w, p, f->tile + part * f->w->tiles);
        }
    }
    phases_clear(p);
}

static double wave_length2(const waves *w, int64_t i, int64_t k, int64_t l)
{
    const double(*d)[3] = w->cell.dual_per_A;
    double sum = 0;
    for (int axis = 0; axis < 3; axis++)
        sum += pow(2 * M_PI * ((double)i * d[0][axis] + (double)k * d[1][axis] + (double)l * d[2][axis]), 2);
    return sum;
}

static bool is_left_out(const waves *w, int64_t i, int64_t k, int64_t l)
{
    return (w->least_axis == 0 && i == 0) || (w->least_axis == 1 && k == 0) || (w->least_axis == 2 && l == 0);
}

/* Of some rows, all parts together, times their weights. */
static void weigh_rows(void *context, size_t first, size_t last)
{
    factors *f = context;
    waves *w = f->w;
    for (size_t r = first; r < last; r++) {
        const wave_row *row = &w->row[r];
        tile *sums = f->tile + row->tile;
        for (size_t part = 1; part < f->parts; part++)
            for (size_t t = 0; t < row->tiles; t++) {
                const double *more = (const double *)&sums[part * w->tiles + t];
                for (size_t k = 0; k < sizeof(tile) / sizeof(double); k++)
                    ((double *)&sums[t])[k] += more[k];
            }
        for (int64_t m = 0; m < row->count; m++) {
            const int64_t i = row->first + m, size = i < 0 ? -i : i;
            const tile *t = &sums[size / TILE];
            const double sign = i < 0 ? -1 : 1, k2 = wave_length2(w, i, row->k, row->l),
                         weight =
                             is_left_out(w, i, row->k, row->l) ? 0 : f->o->weight(f->o->context, k2) / w->cell.measure;
            w->real[row->at + (size_t)m] = weight * (t->real_cos[size % TILE] - sign * t->imaginary_sin[size % TILE]);
            w->imaginary[row->at + (size_t)m] =
                weight * (t->imaginary_cos[size % TILE] + sign * t->real_sin[size % TILE]);
        }
    }
}

static ley_status sum_charges(waves *w, const waves_options *o, ley_error *error)
{
    factors f = {.w = w, .o = o, .parts = o->n / LEAST_PART + 1};
    f.parts = f.parts < MOST_PARTS ? f.parts : MOST_PARTS;
    f.tile = calloc(f.parts * w->tiles + 1, sizeof *f.tile);
    if (f.tile == NULL)
        return ley_fail_memory(error, f.parts * w->tiles * sizeof *f.tile, "waves of an Ewald sum");
    parallel_ranges(f.parts, sum_parts, &f);
    parallel_ranges(w->rows, weigh_rows, &f);
    free(f.tile);
    if (atomic_load(&f.lacks_memory))
        return ley_fail_memory(error, sizeof(phases), "waves of an Ewald sum");
    return cancel_is_asked(o->cancelled) ? ley_fail(error, LEY_CANCELLED, "cancelled") : LEY_OK;
}

/* ---- Which waves ----------------------------------------------------------------------------- */

/* In rows; without places to put them they are counted. */
static void list_rows(waves *w, double longest_per_A)
{
    size_t rows = 0, at = 0, tiles = 0;
    for (int64_t l = 0; l <= w->most[2]; l++)
        for (int64_t k = l > 0 ? -w->most[1] : 0; k <= w->most[1]; k++) {
            wave_row row = {.k = k, .l = l, .at = at, .tile = tiles};
            if ((w->least_axis == 1 && k == 0) || (w->least_axis == 2 && l == 0))
                continue;
            for (int64_t i = l > 0 || k > 0 ? -w->most[0] : 1; i <= w->most[0]; i++) {
                if (wave_length2(w, i, k, l) > longest_per_A * longest_per_A)
                    continue;
                row.first = row.count == 0 ? i : row.first;
                row.count++;
            }
            if (row.count == 0)
                continue;
            const int64_t last = row.first + row.count - 1, most = last > -row.first ? last : -row.first;
            row.tiles = round_up(most + 1) / TILE;
            if (w->row != NULL)
                w->row[rows] = row;
            rows++;
            at += (size_t)row.count;
            tiles += row.tiles;
        }
    w->rows = rows;
    w->count = at;
    w->tiles = tiles;
}

/* The cell with its longest vector in front. */
static ley_status order_cell(waves *w, const waves_options *o, ley_error *error)
{
    static const bool all[3] = {true, true, true};
    double vector_A[3][3];
    int longest = 0;
    for (int i = 1; i < 3; i++)
        if (cell_length(o->cell.vector_A[i]) > cell_length(o->cell.vector_A[longest]))
            longest = i;
    for (int i = 0; i < 3; i++)
        memcpy(vector_A[i], o->cell.vector_A[(longest + i) % 3], sizeof vector_A[i]);
    w->least_axis = o->least_axis < 0 ? -1 : (o->least_axis - longest + 3) % 3;
    return cell_make(all, (const double(*)[3])vector_A, &w->cell, error);
}

static ley_status make(waves *w, const waves_options *o, ley_error *error)
{
    double boxes = 1;
    const ley_status status = order_cell(w, o, error);
    if (status != LEY_OK)
        return status;
    for (int i = 0; i < 3; i++) {
        const double most = o->longest_per_A * cell_length(w->cell.vector_A[i]) / (2 * M_PI);
        w->most[i] = (int64_t)fmin(most, 1e6);
        boxes *= 2 * most + 1;
    }
    if (!(boxes < most_waves))
        return ley_fail(error, LEY_ERROR_INPUT, "lattice sum: a cell so oblique that %.2g waves were to be summed",
                        boxes);
    list_rows(w, o->longest_per_A);
    w->row = malloc((w->rows + 1) * sizeof *w->row);
    w->real = calloc(w->count + 1, sizeof *w->real);
    w->imaginary = calloc(w->count + 1, sizeof *w->imaginary);
    if (w->row == NULL || w->real == NULL || w->imaginary == NULL)
        return ley_fail_memory(error, 2 * w->count * sizeof *w->real, "waves of an Ewald sum");
    list_rows(w, o->longest_per_A);
    return w->rows > 0 ? sum_charges(w, o, error) : LEY_OK;
}

ley_status waves_create(const waves_options *options, waves **made, ley_error *error)
{
    waves *w = calloc(1, sizeof *w);
    if (w == NULL)
        return ley_fail_memory(error, sizeof *w, "waves of an Ewald sum");
    const ley_status status = make(w, options, error);
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
    free(w->real);
    free(w->imaginary);
    free(w);
}

/* ---- At a point ------------------------------------------------------------------------------ */

/* exp(i m x) of each axis, real and imaginary; m = 0 is in the middle. */
typedef struct point_phases {
    double *axis[3][2];
} point_phases;

static double *find_point(const waves *w, const double x_A[3], point_phases *p)
{
    double component[3], *room = malloc(2 * (size_t)(2 * (w->most[0] + w->most[1] + w->most[2]) + 3) * sizeof *room),
                         *next = room;
    if (room == NULL)
        return NULL;
    cell_components(&w->cell, x_A, component);
    for (int i = 0; i < 3; i++) {
        const int64_t most = w->most[i];
        const double angle = 2 * M_PI * (component[i] - floor(component[i] + 0.5)), c = cos(angle), d = sin(angle);
        double *real = p->axis[i][0] = next + most, *imaginary = p->axis[i][1] = next + 3 * most + 1;
        next += 2 * (2 * most + 1);
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
static void phase_of_row(const point_phases *p, const wave_row *r, double of[2])
{
    const double y[2] = {p->axis[1][0][r->k], p->axis[1][1][r->k]}, z[2] = {p->axis[2][0][r->l], p->axis[2][1][r->l]};
    of[0] = y[0] * z[0] - y[1] * z[1];
    of[1] = y[0] * z[1] + y[1] * z[0];
}

double waves_at(const waves *w, const double point_A[3])
{
    point_phases p;
    double sum = 0, *room = find_point(w, point_A, &p);
    if (room == NULL)
        return NAN;
    for (size_t r = 0; r < w->rows; r++) {
        const wave_row *row = &w->row[r];
        const double *c = p.axis[0][0] + row->first, *d = p.axis[0][1] + row->first, *real = w->real + row->at,
                     *imaginary = w->imaginary + row->at;
        double across[2], along[2] = {0};
        phase_of_row(&p, row, across);
        for (int64_t i = 0; i < row->count; i++) {
            along[0] += real[i] * c[i] + imaginary[i] * d[i];
            along[1] += imaginary[i] * c[i] - real[i] * d[i];
        }
        sum += across[0] * along[0] + across[1] * along[1];
    }
    free(room);
    return sum;
}

void waves_add_field(const waves *w, const double point_A[3], double field[3])
{
    const double(*dual)[3] = w->cell.dual_per_A;
    point_phases p;
    double *room = find_point(w, point_A, &p);
    if (room == NULL)
        field[0] = NAN;
    for (size_t r = 0; r < w->rows && room != NULL; r++) {
        const wave_row *row = &w->row[r];
        const double *c = p.axis[0][0] + row->first, *d = p.axis[0][1] + row->first, *real = w->real + row->at,
                     *imaginary = w->imaginary + row->at;
        double across[2], sum = 0, moment = 0;
        phase_of_row(&p, row, across);
        for (int64_t i = 0; i < row->count; i++) {
            const double turned =
                real[i] * (across[0] * d[i] + across[1] * c[i]) - imaginary[i] * (across[0] * c[i] - across[1] * d[i]);
            sum += turned;
            moment += turned * (double)(row->first + i);
        }
        for (int axis = 0; axis < 3; axis++)
            field[axis] +=
                2 * M_PI *
                (moment * dual[0][axis] + sum * ((double)row->k * dual[1][axis] + (double)row->l * dual[2][axis]));
    }
    free(room);
}
