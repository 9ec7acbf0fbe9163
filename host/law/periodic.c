#include "law/periodic.h"

#include "cancel.h"
#include "error.h"
#include "law/flat.h"
#include "law/neighbours.h"
#include "law/piecewise.h"
#include "law/structure.h"
#include "law/waves.h"
#include "law/wide.h"
#include "numerics/ewald.h"
#include "parallel.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* erfc(x) and exp(-x^2) are 1e-13 here. */
static const double gaussian_end = 5.5;
/* Layers and lines are flat to each other to exp(-this). */
static const double flat = 30;
/* Nanoseconds for a pair; for a pair looked at in vain; for a wave at a point. */
static const double pair_cost = 6, look_cost = 2, point_cost = 1;
/* Bins of charges, of the distance that images count at. */
static const double bin_share = 0.2;
/* Images of a charge of which squares are summed one by one. */
static const double most_squares = 4000;
/* Vectors of the lattice that kernels look at for each charge, at most. */
static const double most_vectors = 2e6;

enum { PIECES = 128, MOST_WAYS = 13, BLOCK = 64, LANES = 4 };

/* Bins whose charges are looked at as one from afar: at the middle of their squares, the root of
 * the sum of these. */
typedef struct bin_charges {
    size_t n, *bin;                /* [n]: none without charges; n = 0: each charge is looked at */
    double *place_A[3], *charge_e; /* [n], and BLOCK more */
} bin_charges;

struct periodic_sum {
    periodic_options o;
    cell cell;   /* with the shortest vectors that its lattice has */
    cell raised; /* that of waves: along open axes it has a gap on each side of the charges */
    double gap_A;
    double time_ns; /* that it takes, about */
    double total_e, squares_e2;
    neighbours charges;
    double beta_per_A; /* 0: no waves */
    double reach_A;    /* of images whose value counts */
    double near_A;     /* of images whose squares are summed one by one */
    double far_A;      /* from here on squares are those of nearest images */
    bool has_far;      /* charges may have no image within far_A */
    bin_charges far;
    int ways; /* to the images of a place that may be nearer than the one within the cell */
    double way_A[MOST_WAYS][3], way2_A2[MOST_WAYS];
    piecewise image, slope; /* r times an image's value; r^2 times less its derivative */
    waves *waves;
    flat_part *flat;
    double mean; /* of the wave without a direction */
};

/* ---- Images ---------------------------------------------------------------------------------- */

static double scaled_image(const void *context, double r_A)
{
    const periodic_sum *s = context;
    return r_A > 0 ? r_A * ewald_image(r_A, s->o.kappa_per_A, s->beta_per_A) : 1;
}

static double scaled_slope(const void *context, double r_A)
{
    const periodic_sum *s = context;
    return r_A > 0 ? r_A * r_A * ewald_image_slope(r_A, s->o.kappa_per_A, s->beta_per_A) : 1;
}

static double image_value(const periodic_sum *s, double r_A)
{
    const double kappa = s->o.kappa_per_A, beta = s->beta_per_A;
    if (r_A < s->o.r_min_A)
        return ewald_image(s->o.r_min_A, kappa, 0) - (beta > 0 ? ewald_smooth(r_A, kappa, beta) : 0);
    return beta > 0 ? piecewise_at(&s->image, r_A) / r_A : ewald_image(r_A, kappa, 0);
}

/* Less its derivative. */
static double image_slope(const periodic_sum *s, double r_A)
{
    const double kappa = s->o.kappa_per_A, beta = s->beta_per_A;
    if (r_A >= s->o.r_min_A)
        return beta > 0 ? piecewise_at(&s->slope, r_A) / (r_A * r_A) : ewald_image_slope(r_A, kappa, 0);
    const double safe_A = beta > 0 ? fmax(r_A, 1e-3 / beta) : r_A; /* below it slopes grow as r does */
    return beta > 0 ? (ewald_image_slope(safe_A, kappa, beta) - ewald_image_slope(safe_A, kappa, 0)) * r_A / safe_A : 0;
}

/* The square of what a unit charge is allowed. */
static double square_of(const periodic_sum *s, double r2)
{
    const double safe2 = fmax(r2, s->o.r_min_A * s->o.r_min_A), r_A = sqrt(safe2);
    return s->o.kappa_per_A > 0 || r_A < LEY_CONTACT
               ? pow(ley_long_range_allowed(r_A, s->o.kappa_per_A, s->o.shares), 2) / safe2
               : 1 / safe2;
}

/* What places are off by as floats, in A, and of r_min. */
static const double place_A = 1e-6, place_share = 1e-5;

void periodic_allow_step(double charge_e, const double way_A[3], double r_A, double r_min_A, double kappa_per_A,
                         periodic_gradient *sum)
{
    if (!(r_A > 0) || fabs(r_A - r_min_A) > place_share * r_min_A + place_A)
        return;
    const double slope = charge_e * ewald_image_slope(r_A, kappa_per_A, 0) / r_A;
    for (int axis = 0; axis < 3; axis++) {
        sum->lower[axis] -= fabs(slope * way_A[axis]);
        sum->higher[axis] += fabs(slope * way_A[axis]);
    }
}

/* Sums over the images near a point. */
typedef struct near_sum {
    const periodic_sum *s;
    double value;
    periodic_gradient of;
} near_sum;

/* Charges that are near a point: which, their ways and the inverses of these, and what screening
 * leaves. */
typedef struct near_charges {
    size_t n;
    int32_t which[BLOCK + LANES];
    double r2[BLOCK + LANES], r_A[BLOCK + LANES], inverse_per_A[BLOCK + LANES], screening[BLOCK + LANES];
} near_charges;

static WIDE_INLINE void find_within(const periodic_sum *s, size_t first, size_t count, const double from_A[3],
                                    near_charges *near)
{
    const double *px = s->charges.place_A[0] + first, *py = s->charges.place_A[1] + first,
                 *pz = s->charges.place_A[2] + first, kappa = s->o.kappa_per_A,
                 within2 = pow(fmax(s->reach_A, s->near_A), 2);
    double r2[BLOCK];
    for (int j = 0; j < BLOCK; j++) {
        const double x = from_A[0] - px[j], y = from_A[1] - py[j], z = from_A[2] - pz[j];
        r2[j] = x * x + y * y + z * z;
    }
    near->n = 0;
    for (size_t j = 0; j < count; j++) { /* without branches, which nobody could foretell */
        near->r2[near->n] = r2[j];
        near->which[near->n] = (int32_t)j;
        near->n += r2[j] < within2;
    }
    for (size_t i = 0; i < LANES; i++)
        near->r2[near->n + i] = 1;
    for (size_t k = 0; k < near->n; k += LANES)
        for (size_t i = k; i < k + LANES; i++) {
            near->r_A[i] = sqrt(near->r2[i]);
            near->inverse_per_A[i] = 1 / near->r_A[i];
        }
    for (size_t k = 0; k < near->n && kappa > 0; k += LANES)
        for (size_t i = k; i < k + LANES; i++)
            near->screening[i] = wide_exp(-kappa * near->r_A[i]);
}

/* A charge as close as r_min, or as the rounding of places shows at. */
static void add_close(near_sum *sum, size_t j, const double from_A[3], bool slopes)
{
    const periodic_sum *s = sum->s;
    const double q_e = s->charges.charge_e[j];
    double way_A[3];
    for (int axis = 0; axis < 3; axis++)
        way_A[axis] = from_A[axis] - s->charges.place_A[axis][j];
    const double r2 = cell_dot(way_A, way_A), r_A = sqrt(r2);
    const double slope = slopes && r_A < s->reach_A && r_A > 0 && q_e != 0 ? q_e * image_slope(s, r_A) / r_A : 0;
    if (!slopes && r_A < s->reach_A)
        sum->value += q_e * image_value(s, r_A);
    for (int axis = 0; axis < 3; axis++)
        sum->of.field[axis] += slope * way_A[axis];
    if (slopes)
        periodic_allow_step(q_e, way_A, r_A, s->o.r_min_A, s->o.kappa_per_A, &sum->of);
    if (r_A < s->near_A) {
        sum->of.squares += q_e * q_e * square_of(s, r2);
        sum->of.field_squares += q_e * q_e / pow(fmax(r_A, s->o.r_min_A), 4);
    }
}

/* Values, or less their slopes, times the distance, or its square. */
static WIDE_INLINE double scaled_at(const periodic_sum *s, const near_charges *near, size_t k, bool slopes)
{
    if (s->beta_per_A > 0)
        return piecewise_at(slopes ? &s->slope : &s->image, near->r_A[k]);
    return near->screening[k] * (slopes ? 1 + s->o.kappa_per_A * near->r_A[k] : 1);
}

static WIDE_INLINE void add_near(near_sum *sum, size_t first, size_t last, const double from_A[3], bool slopes)
{
    const periodic_sum *s = sum->s;
    const double near2 = s->near_A * s->near_A, reach2 = s->reach_A * s->reach_A, by_mesh = s->o.shares.mesh,
                 close2 = pow(fmax(LEY_CONTACT, s->o.r_min_A + 2 * (place_share * s->o.r_min_A + place_A)), 2);
    double sums[6] = {0};
    near_charges near;
    for (; first < last; first += BLOCK) {
        find_within(s, first, last - first < BLOCK ? last - first : BLOCK, from_A, &near);
        for (size_t k = 0; k < near.n; k++) {
            const size_t j = first + (size_t)near.which[k];
            if (near.r2[k] < close2) {
                add_close(sum, j, from_A, slopes);
                continue;
            }
            const double inverse = near.inverse_per_A[k], inverse2 = inverse * inverse, q_e = s->charges.charge_e[j],
                         share = s->o.kappa_per_A > 0 ? by_mesh + (1 - by_mesh) * near.screening[k] : 1,
                         term = (near.r2[k] < reach2 ? q_e : 0) * scaled_at(s, &near, k, slopes) * inverse,
                         square = (near.r2[k] < near2 ? q_e * q_e : 0) * inverse2;
            sums[0] += square * share * share;
            if (slopes) {
                sums[1] += square * inverse2;
                for (int axis = 0; axis < 3; axis++)
                    sums[3 + axis] += term * inverse2 * (from_A[axis] - s->charges.place_A[axis][j]);
            } else
                sums[2] += term;
        }
    }
    sum->of.squares += sums[0];
    sum->of.field_squares += sums[1];
    sum->value += sums[2];
    for (int axis = 0; axis < 3; axis++)
        sum->of.field[axis] += sums[3 + axis];
}

static WIDE_INLINE void add_values(near_sum *sum, size_t first, size_t last, const double from_A[3])
{
    add_near(sum, first, last, from_A, false);
}

static WIDE_INLINE void add_slopes(near_sum *sum, size_t first, size_t last, const double from_A[3])
{
    add_near(sum, first, last, from_A, true);
}

WIDE_VERSIONS(add_values, (near_sum * sum, size_t first, size_t last, const double from_A[3]),
              (sum, first, last, from_A))
WIDE_VERSIONS(add_slopes, (near_sum * sum, size_t first, size_t last, const double from_A[3]),
              (sum, first, last, from_A))

static void add_stretch(void *context, size_t first, size_t last, const double from_A[3])
{
    add_values_wide(context, first, last, from_A);
}

static void add_stretch_slopes(void *context, size_t first, size_t last, const double from_A[3])
{
    add_slopes_wide(context, first, last, from_A);
}

/* ---- Charges without an image nearby --------------------------------------------------------- */

/* The squared ways to the nearest images of `count` charges; -1 where there is none. */
static WIDE_INLINE void find_nearest(const periodic_sum *s, double *const from_A[3], size_t first, size_t count,
                                     const double point_A[3], double r2[BLOCK])
{
    static const double digits = 0x1.8p52; /* added to a number it leaves no digits for a fraction */
    const double *px = from_A[0] + first, *py = from_A[1] + first, *pz = from_A[2] + first;
    double dual[3][3], v[3][3], x[BLOCK], y[BLOCK], z[BLOCK];
    for (int i = 0; i < 3; i++)
        for (int axis = 0; axis < 3; axis++) {
            dual[i][axis] = s->cell.periodic[i] ? s->cell.dual_per_A[i][axis] : 0;
            v[i][axis] = s->cell.vector_A[i][axis];
        }
    for (int j = 0; j < BLOCK; j++) {
        const double a = point_A[0] - px[j], b = point_A[1] - py[j], c = point_A[2] - pz[j];
        const double t0 = (dual[0][0] * a + dual[0][1] * b + dual[0][2] * c + digits) - digits,
                     t1 = (dual[1][0] * a + dual[1][1] * b + dual[1][2] * c + digits) - digits,
                     t2 = (dual[2][0] * a + dual[2][1] * b + dual[2][2] * c + digits) - digits;
        x[j] = a - t0 * v[0][0] - t1 * v[1][0] - t2 * v[2][0];
        y[j] = b - t0 * v[0][1] - t1 * v[1][1] - t2 * v[2][1];
        z[j] = c - t0 * v[0][2] - t1 * v[1][2] - t2 * v[2][2];
        r2[j] = x[j] * x[j] + y[j] * y[j] + z[j] * z[j];
    }
    if (s->ways > 0)
        for (int j = 0; j < BLOCK; j++) {
            double change = 0;
            for (int w = 0; w < s->ways; w++) {
                const double along = x[j] * s->way_A[w][0] + y[j] * s->way_A[w][1] + z[j] * s->way_A[w][2],
                             nearer = s->way2_A2[w] - 2 * fabs(along);
                change = nearer < change ? nearer : change;
            }
            r2[j] += change;
        }
    for (size_t j = count; j < BLOCK; j++)
        r2[j] = -1;
}

/* Squares of those that are no nearer than the root of least2, and of their fields. */
static WIDE_INLINE void add_nearest(const periodic_sum *s, const double *q, double least2, const double r2[BLOCK],
                                    double all[2][BLOCK])
{
    const double kappa = s->o.kappa_per_A, by_mesh = s->o.shares.mesh;
    double share[BLOCK];
    for (int j = 0; j < BLOCK; j++)
        share[j] = 1;
    if (kappa > 0)
        for (int j = 0; j < BLOCK; j++) {
            const double allowed = by_mesh + (1 - by_mesh) * wide_exp(-kappa * sqrt(r2[j] > 0 ? r2[j] : 0));
            share[j] = allowed * allowed;
        }
    for (int j = 0; j < BLOCK; j++) {
        const double square = r2[j] >= least2 ? q[j] * q[j] / r2[j] : 0;
        all[0][j] += square * share[j];
        all[1][j] += r2[j] >= least2 ? square / r2[j] : 0;
    }
}

static WIDE_INLINE void add_charges(const periodic_sum *s, size_t first, size_t last, const double point_A[3],
                                    double all[2][BLOCK])
{
    double r2[BLOCK];
    for (; first < last; first += BLOCK) {
        find_nearest(s, s->charges.place_A, first, last - first, point_A, r2);
        add_nearest(s, s->charges.charge_e + first, s->far_A * s->far_A, r2, all);
    }
}

/* Those of bins that lie beyond far_A with all of their charges, and are small from there; of bins
 * that do with some, of each charge. */
static WIDE_INLINE void add_bins(const periodic_sum *s, const double point_A[3], double all[2][BLOCK])
{
    const double within_A = fmax(s->far_A - s->charges.radius_A, 0),
                 beyond_A = fmax(s->far_A + s->charges.radius_A, 4 * s->charges.radius_A);
    const size_t *first_of = s->charges.first;
    size_t low = 0, high = 0; /* charges of bins that follow each other */
    double r2[BLOCK];
    for (size_t first = 0; first < s->far.n; first += BLOCK) {
        find_nearest(s, s->far.place_A, first, s->far.n - first, point_A, r2);
        add_nearest(s, s->far.charge_e + first, beyond_A * beyond_A, r2, all);
        for (size_t j = 0; j < BLOCK && first + j < s->far.n; j++) {
            const size_t bin = s->far.bin[first + j];
            if (!(r2[j] < beyond_A * beyond_A && r2[j] >= within_A * within_A))
                continue;
            if (high != first_of[bin]) {
                add_charges(s, low, high, point_A, all);
                low = first_of[bin];
            }
            high = first_of[bin + 1];
        }
    }
    add_charges(s, low, high, point_A, all);
}

/* Squares of charges to their nearest image, of those where that is no nearer than far_A: sums[0],
 * and sums[1] of fields. */
static WIDE_INLINE void add_far(const periodic_sum *s, const double point_A[3], double sums[2])
{
    double all[2][BLOCK] = {{0}};
    if (s->far.n > 0)
        add_bins(s, point_A, all);
    else
        add_charges(s, 0, s->charges.n, point_A, all);
    for (int j = 0; j < BLOCK; j++) {
        sums[0] += all[0][j];
        sums[1] += all[1][j];
    }
}

WIDE_VERSIONS(add_far, (const periodic_sum *s, const double point_A[3], double sums[2]), (s, point_A, sums))

/* Of images from near_A to o.near_A, as many as they are on average: of a unit charge. */
static void add_rest(const periodic_sum *s, const double point_A[3], double sums[2])
{
    enum { STEPS = 64 };
    double low_A = s->near_A;
    if (!(s->near_A < s->o.near_A))
        return;
    for (int i = 0; i < 3 && s->cell.dimensions == 2; i++)
        if (!s->cell.periodic[i])
            low_A =
                fmax(low_A, fabs(cell_dot(s->cell.vector_A[i], point_A) - s->charges.low[i] - s->charges.width[i] / 2));
    const double step = log(s->o.near_A / low_A) / STEPS;
    for (int i = 0; i < STEPS && step > 0; i++) {
        const double r_A = low_A * exp(step * (i + 0.5)),
                     images = (s->cell.dimensions == 3 ? 4 * M_PI * pow(r_A, 3) : 2 * M_PI * r_A * r_A) /
                              s->cell.measure * step;
        sums[0] += s->squares_e2 * images * square_of(s, r_A * r_A);
        sums[1] += s->squares_e2 * images / pow(r_A, 4);
    }
}

static void add_squares(const periodic_sum *s, const double point_A[3], periodic_gradient *sum)
{
    double sums[2] = {0, 0};
    if (s->has_far)
        add_far_wide(s, point_A, sums);
    add_rest(s, point_A, sums);
    sum->squares += sums[0];
    sum->field_squares += sums[1];
}

/* ---- All of it ------------------------------------------------------------------------------- */

periodic_value periodic_sum_at(const periodic_sum *s, const double point_A[3])
{
    near_sum sum = {.s = s};
    neighbours_near(&s->charges, point_A, fmax(s->reach_A, s->near_A), add_stretch, &sum);
    add_squares(s, point_A, &sum.of);
    if (s->beta_per_A > 0 && s->flat != NULL && flat_is_all(s->flat, point_A))
        sum.value = flat_at(s->flat, point_A);
    else if (s->beta_per_A > 0)
        sum.value += s->mean + waves_at(s->waves, point_A) + (s->flat != NULL ? flat_at(s->flat, point_A) : 0);
    return (periodic_value){sum.value, sum.of.squares};
}

periodic_gradient periodic_sum_field(const periodic_sum *s, const double point_A[3])
{
    near_sum sum = {.s = s};
    double *field = sum.of.field;
    neighbours_near(&s->charges, point_A, fmax(s->reach_A, s->near_A), add_stretch_slopes, &sum);
    add_squares(s, point_A, &sum.of);
    if (s->beta_per_A == 0)
        return sum.of;
    if (s->flat != NULL && flat_is_all(s->flat, point_A))
        field[0] = field[1] = field[2] = 0;
    else
        waves_add_field(s->waves, point_A, field);
    if (s->flat != NULL)
        flat_add_field(s->flat, point_A, field);
    return sum.of;
}

/* ---- Its cell -------------------------------------------------------------------------------- */

static double half_of(const cell *c)
{
    double half_A = 0;
    for (int i = 0; i < 3; i++)
        half_A += c->periodic[i] ? cell_length(c->vector_A[i]) / 2 : 0;
    return half_A;
}

static bool can_be_listed(const cell *c, double reach_A)
{
    return pow(2 * (reach_A + half_of(c)), c->dimensions) / c->measure <= most_vectors;
}

bool periodic_can_be_summed(const cell *c, double kappa_per_A, double near_A)
{
    /* Along a line no wave helps; numerics/lattice_sum.c goes that far, and this less. */
    const double exponential_end = 38;
    return can_be_listed(c,
                         c->dimensions == 1 && kappa_per_A > 0 ? fmax(near_A, exponential_end / kappa_per_A) : near_A);
}

/* Makes vector i shorter by multiples of the others, if it can be. */
static bool shorten(const bool periodic[3], double v[3][3], int i)
{
    bool is_shorter = false;
    for (int k = 0; k < 3; k++) {
        const double turns = k != i && periodic[k] ? floor(cell_dot(v[i], v[k]) / cell_dot(v[k], v[k]) + 0.5) : 0;
        for (int axis = 0; axis < 3; axis++)
            v[i][axis] -= turns * v[k][axis];
        is_shorter = is_shorter || turns != 0;
    }
    for (int way = 0; way < 4 && periodic[0] && periodic[1] && periodic[2]; way++) {
        double other_A[3];
        for (int axis = 0; axis < 3; axis++)
            other_A[axis] =
                v[i][axis] + (way & 1 ? 1 : -1) * v[(i + 1) % 3][axis] + (way & 2 ? 1 : -1) * v[(i + 2) % 3][axis];
        if (cell_dot(other_A, other_A) < (1 - 1e-9) * cell_dot(v[i], v[i])) {
            memcpy(v[i], other_A, sizeof other_A);
            is_shorter = true;
        }
    }
    return is_shorter;
}

/* The same lattice by its shortest vectors (Gauss, Minkowski). */
static ley_status reduce(const cell *c, cell *reduced, ley_error *error)
{
    enum { MOST_TURNS = 200 };
    double v[3][3];
    memcpy(v, c->vector_A, sizeof v);
    for (int turn = 0, idle = 0; turn < MOST_TURNS && idle < 3; turn++) {
        int longest = -1;
        for (int i = 0; i < 3; i++) /* each in turn, the longest one first */
            if (c->periodic[i] && (longest < 0 || cell_length(v[i]) > cell_length(v[longest])))
                longest = i;
        const int i = idle == 0 ? longest : (longest + idle) % 3;
        idle = longest >= 0 && c->periodic[i] && shorten(c->periodic, v, i) ? 0 : idle + 1;
    }
    return cell_make(c->periodic, (const double(*)[3])v, reduced, error);
}

/* Ways to other images: what is within the reduced cell about 0 has its nearest one there or one
 * vector on along some of the axes. None where these are at right angles. */
static void find_ways(periodic_sum *s)
{
    const cell *c = &s->cell;
    bool is_square = true;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < i; k++)
            is_square = is_square && fabs(cell_dot(c->vector_A[i], c->vector_A[k])) <=
                                         1e-13 * cell_length(c->vector_A[i]) * cell_length(c->vector_A[k]);
    for (int code = 14; code < 27 && !is_square; code++) { /* one of each and its opposite */
        const int at[3] = {code / 9 - 1, code / 3 % 3 - 1, code % 3 - 1};
        double *way_A = s->way_A[s->ways];
        bool is_way = true;
        for (int axis = 0; axis < 3; axis++)
            way_A[axis] = 0;
        for (int i = 0; i < 3; i++) {
            is_way = is_way && (at[i] == 0 || c->periodic[i]);
            for (int axis = 0; axis < 3; axis++)
                way_A[axis] += at[i] * c->vector_A[i][axis];
        }
        if (is_way) {
            s->way2_A2[s->ways] = cell_dot(way_A, way_A);
            s->ways++;
        }
    }
}

/* How far squares go one by one. */
static void find_near(periodic_sum *s)
{
    const cell *c = &s->cell;
    const double most_A = c->dimensions == 3   ? cbrt(most_squares * c->measure / (4 * M_PI / 3))
                          : c->dimensions == 2 ? sqrt(most_squares * c->measure / M_PI)
                                               : INFINITY;
    s->near_A = fmin(s->o.near_A, fmax(most_A, 2 * half_of(c)));
}

/* Whether that leaves charges out. Images that count are squared on the way, as long as they are no
 * more than one of each charge. */
static void find_far(periodic_sum *s)
{
    double single_A = INFINITY;
    for (int i = 0; i < 3; i++)
        if (s->cell.periodic[i])
            single_A = fmin(single_A, 0.5 / cell_length(s->cell.dual_per_A[i]));
    s->far_A = s->o.near_A;
    if (s->reach_A > s->o.near_A && s->reach_A <= single_A)
        s->near_A = s->far_A = s->reach_A;
    s->has_far = s->cell.dimensions < 3 || half_of(&s->cell) > s->far_A;
}

static void sum_bins(void *context, size_t first, size_t last)
{
    periodic_sum *s = context;
    const neighbours *charges = &s->charges;
    for (size_t i = first; i < last; i++) {
        double squares_e2 = 0, sum[3] = {0};
        for (size_t j = charges->first[i]; j < charges->first[i + 1]; j++) {
            const double square_e2 = charges->charge_e[j] * charges->charge_e[j];
            squares_e2 += square_e2;
            for (int axis = 0; axis < 3; axis++)
                sum[axis] += square_e2 * charges->place_A[axis][j];
        }
        s->far.charge_e[i] = sqrt(squares_e2);
        for (int axis = 0; axis < 3 && squares_e2 > 0; axis++)
            s->far.place_A[axis][i] = sum[axis] / squares_e2;
    }
}

/* Many charges in each bin are one from afar. */
static ley_status gather_bins(periodic_sum *s, ley_error *error)
{
    enum { LEAST_CHARGES = 4 };
    const neighbours *charges = &s->charges;
    const size_t bins = (size_t)(charges->bins[0] * charges->bins[1] * charges->bins[2]), room = bins + BLOCK;
    if (!s->has_far || charges->n < LEAST_CHARGES * bins || charges->n < LEAST_CHARGES * BLOCK)
        return LEY_OK;
    s->far.bin = malloc(room * sizeof *s->far.bin);
    s->far.charge_e = calloc(4 * room, sizeof *s->far.charge_e);
    if (s->far.bin == NULL || s->far.charge_e == NULL)
        return ley_fail_memory(error, 5 * room * sizeof *s->far.charge_e, "a lattice sum");
    for (size_t axis = 0; axis < 3; axis++)
        s->far.place_A[axis] = s->far.charge_e + (axis + 1) * room;
    parallel_ranges(bins, sum_bins, s);
    for (size_t i = 0; i < bins; i++)
        if (s->far.charge_e[i] > 0) {
            const size_t at = s->far.n++;
            s->far.bin[at] = i;
            s->far.charge_e[at] = s->far.charge_e[i];
            for (int axis = 0; axis < 3; axis++)
                s->far.place_A[axis][at] = s->far.place_A[axis][i];
        }
    return LEY_OK;
}

/* ---- Making it ------------------------------------------------------------------------------- */

/* Images within a distance, of a charge seen from a point among them. */
static double images_within(const periodic_sum *s, double reach_A)
{
    double images = (s->cell.dimensions == 3   ? 4 * M_PI / 3 * pow(reach_A, 3)
                     : s->cell.dimensions == 2 ? M_PI * reach_A * reach_A
                                               : 2 * reach_A) /
                    s->cell.measure;
    for (int i = 0; i < 3; i++)
        if (!s->cell.periodic[i])
            images *= fmin(1, reach_A / fmax(s->charges.width[i], 1e-3));
    return images;
}

/* Nanoseconds for images within reach, and what is looked at beside them. */
static double image_time(const periodic_sum *s, double reach_A)
{
    const double pairs = (double)s->o.n * (double)s->o.points;
    double volume_A3 = s->cell.measure;
    for (int i = 0; i < 3; i++)
        volume_A3 *= s->cell.periodic[i] ? 1 : fmax(s->charges.width[i], 1e-3);
    const double bin_A = fmax(bin_share * reach_A, cbrt(4 * volume_A3 / fmax((double)s->o.n, 1)));
    return pairs * (images_within(s, reach_A) * pair_cost + images_within(s, reach_A + bin_A) * look_cost);
}

/* How far apart layers, or lines, are that are flat to each other: their longest waves are as long
 * as the area over its shortest vector, and as the vector. */
static double flat_gap(const cell *c)
{
    double shortest_A = INFINITY;
    for (int i = 0; i < 3; i++)
        if (c->periodic[i])
            shortest_A = fmin(shortest_A, cell_length(c->vector_A[i]));
    return flat / (2 * M_PI) * (c->dimensions == 2 ? c->measure / shortest_A : c->measure);
}

/* The cell whose waves are summed: open axes have the charges and a gap on each side. */
static ley_status raise_cell(periodic_sum *s, ley_error *error)
{
    static const bool all[3] = {true, true, true};
    double v[3][3];
    for (int i = 0; i < 3; i++)
        for (int axis = 0; axis < 3; axis++)
            v[i][axis] = s->cell.vector_A[i][axis] * (s->cell.periodic[i] ? 1 : s->charges.width[i] + 2 * s->gap_A);
    return cell_make(all, (const double(*)[3])v, &s->raised, error);
}

/* The reach of images that is done soonest, waves the rest. Images alone go as far as they count:
 * what a value may be off by is a share of its screened terms, and images that bring the terms
 * bring their values, too, however small these are. */
static void divide(periodic_sum *s)
{
    const cell *raised = &s->raised;
    const double gap_A = s->gap_A;
    const double longest = 2 * gaussian_end * gaussian_end, kappa = s->o.kappa_per_A, n = (double)s->o.n,
                 points = (double)s->o.points, start_A = cbrt(raised->measure / fmax(n, 1)) / 4;
    double share[3];
    int64_t most[3];
    for (int i = 0; i < 3; i++)
        share[i] = s->cell.periodic[i]
                       ? 1
                       : s->charges.width[i] * cell_length(s->cell.vector_A[i]) / cell_length(raised->vector_A[i]);
    s->time_ns = INFINITY;
    for (double reach_A = fmin(start_A, gap_A); reach_A <= gap_A; reach_A *= 1.1) {
        waves_most(raised, longest / reach_A, most);
        const double count = raised->measure * pow(longest / reach_A, 3) / (12 * M_PI * M_PI),
                     time = image_time(s, fmax(reach_A, s->near_A)) + structure_time(most, share, n) +
                            count * points * point_cost;
        if (time < s->time_ns) {
            s->time_ns = time;
            s->reach_A = reach_A;
        }
        if (count < 1)
            break;
    }
    s->beta_per_A = gaussian_end / s->reach_A;
    if (kappa > 0) {
        const double end_A = gaussian_end * gaussian_end / kappa, reach_A = fmax(end_A, s->o.near_A),
                     time = image_time(s, reach_A);
        if (end_A <= s->o.near_A || time < 2 * s->time_ns) {
            s->beta_per_A = 0;
            s->reach_A = reach_A;
            s->time_ns = time;
        }
    }
}

static double wave_weight(const void *context, double k2)
{
    const periodic_sum *s = context;
    return 2 * ewald_wave(k2, s->o.kappa_per_A, s->beta_per_A);
}

static ley_status make_waves(periodic_sum *s, ley_error *error)
{
    int line = -1;
    for (int i = 0; i < 3 && s->cell.dimensions == 1; i++)
        line = s->cell.periodic[i] ? i : line;
    const waves_options options = {.cell = s->raised,
                                   .longest_per_A = 2 * s->beta_per_A * gaussian_end,
                                   .least_axis = line,
                                   .weight = wave_weight,
                                   .context = s,
                                   .charges = &s->charges,
                                   .cancelled = s->o.cancelled};
    return waves_create(&options, &s->waves, error);
}

static ley_status make_flat(periodic_sum *s, ley_error *error)
{
    flat_options o = {.cell = s->cell,
                      .kappa_per_A = s->o.kappa_per_A,
                      .beta_per_A = s->beta_per_A,
                      .gap_A = s->gap_A,
                      .n = s->o.n,
                      .position_A = s->o.position_A,
                      .charge_e = s->o.charge_e};
    for (int i = 0; i < 3; i++) {
        o.low_A[i] = s->charges.low[i];
        o.high_A[i] = s->charges.low[i] + s->charges.width[i];
    }
    return flat_create(&o, &s->flat, error);
}

/* What is summed by waves. */
static ley_status make_smooth(periodic_sum *s, ley_error *error)
{
    ley_status status = LEY_OK;
    if (s->beta_per_A == 0)
        return LEY_OK;
    if (s->cell.dimensions == 3)
        s->mean = s->total_e * ewald_mean(s->o.kappa_per_A, s->beta_per_A) / s->cell.measure;
    else
        status = make_flat(s, error);
    if (status == LEY_OK)
        status = piecewise_make(0, s->reach_A, PIECES, scaled_image, s, &s->image, error);
    if (status == LEY_OK)
        status = piecewise_make(0, s->reach_A, PIECES, scaled_slope, s, &s->slope, error);
    return status == LEY_OK ? make_waves(s, error) : status;
}

/* How it is to be made. */
static ley_status plan(periodic_sum *s, ley_error *error)
{
    const double next_to_neutral = 1e-9,
                 neutral = 1e-14; /* what doubles leave of a sum that is 0 has a mean, too, with next to no screening */
    double magnitude_e = 0;
    for (size_t j = 0; j < s->o.n; j++) {
        s->total_e += s->o.charge_e[j];
        s->squares_e2 += s->o.charge_e[j] * s->o.charge_e[j];
        magnitude_e += fabs(s->o.charge_e[j]);
    }
    s->total_e = fabs(s->total_e) > neutral * magnitude_e ? s->total_e : 0;
    ley_status status = reduce(&s->o.cell, &s->cell, error);
    if (status == LEY_OK && s->cell.dimensions == 1 && s->o.kappa_per_A == 0 &&
        fabs(s->total_e) > next_to_neutral * magnitude_e)
        return ley_fail(error, LEY_ERROR_INPUT,
                        "a net charge of %g e that is repeated along one axis has no potential: it must be 0",
                        s->total_e);
    if (status != LEY_OK)
        return status;
    neighbours_extent(&s->cell, s->o.n, s->o.position_A, s->charges.low, s->charges.width);
    s->gap_A = s->cell.dimensions < 3 ? flat_gap(&s->cell) : INFINITY;
    s->raised = s->cell;
    status = s->cell.dimensions < 3 ? raise_cell(s, error) : LEY_OK;
    find_near(s);
    if (status == LEY_OK)
        divide(s);
    return status;
}

double periodic_sum_seconds(const periodic_options *options)
{
    const double setup_s = 2e-3;
    periodic_sum s = {.o = *options};
    return plan(&s, NULL) == LEY_OK ? setup_s + 1e-9 * s.time_ns : INFINITY;
}

static ley_status make(periodic_sum *s, ley_error *error)
{
    const periodic_options *o = &s->o;
    ley_status status = plan(s, error);
    if (status != LEY_OK)
        return status;
    find_ways(s);
    find_far(s);
    status = neighbours_make(&s->cell, o->n, o->position_A, o->charge_e, bin_share * s->reach_A, &s->charges, error);
    if (status == LEY_OK)
        status = gather_bins(s, error);
    if (status == LEY_OK)
        status = make_smooth(s, error);
    return status == LEY_OK && cancel_is_asked(o->cancelled) ? ley_fail(error, LEY_CANCELLED, "cancelled") : status;
}

ley_status periodic_sum_create(const periodic_options *options, periodic_sum **made, ley_error *error)
{
    periodic_sum *s = calloc(1, sizeof *s);
    if (s == NULL)
        return ley_fail_memory(error, sizeof *s, "a lattice sum");
    s->o = *options;
    const ley_status status = make(s, error);
    if (status == LEY_OK)
        *made = s;
    else
        periodic_sum_destroy(s);
    return status;
}

void periodic_sum_allow(periodic_sum *s, ley_long_range_shares shares)
{
    s->o.shares = shares;
}

void periodic_sum_destroy(periodic_sum *s)
{
    if (s == NULL)
        return;
    neighbours_clear(&s->charges);
    free(s->far.bin);
    free(s->far.charge_e);
    piecewise_clear(&s->image);
    piecewise_clear(&s->slope);
    waves_destroy(s->waves);
    flat_destroy(s->flat);
    free(s);
}
