#include "ions/exact.h"

#include "error.h"
#include "for_this_cpu.h"
#include "law/periodic.h"
#include "memory.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 16, CHUNK = 16384, BATCH = 256 };

/* Where what fills the last lanes lies: its distance changes nothing. */
static const double nowhere_A = 1e9, far_A2 = 1e300, least_A2 = 1e-12;

/* Numbers of atoms by kinds, in whole vectors. */
typedef struct places {
    size_t n, padded;
    double *x, *y, *z, *q;
} places;

struct ions_exact {
    places charges, near; /* near: of a periodic cell, else none: the charges are those */
    cell cell;
    double from_A2;
    double origin_A[3];
    bool is_square;           /* of q / r^2 */
    periodic_sum *sum, *unit; /* of a periodic cell */
    double *position_A;       /* of the atoms, as periodic sums want them */
};

/* ---- Making it ------------------------------------------------------------------------------- */

static ley_status places_allocate(places *p, size_t n, ley_error *error)
{
    p->padded = (n + LANES - 1) / LANES * LANES;
    const double bytes = 4 * (double)(p->padded + 1) * sizeof(double);
    const ley_status status = memory_check_one("the charges by themselves", bytes, "fewer atoms", error);
    if (status != LEY_OK)
        return status;
    p->x = malloc((size_t)bytes);
    if (p->x == NULL)
        return ley_fail_memory(error, (size_t)bytes, "the charges by themselves");
    p->y = p->x + p->padded;
    p->z = p->y + p->padded;
    p->q = p->z + p->padded;
    return LEY_OK;
}

static void places_add(places *p, const double at_A[3])
{
    p->x[p->n] = at_A[0];
    p->y[p->n] = at_A[1];
    p->z[p->n] = at_A[2];
    p->q[p->n++] = 0;
}

static void places_fill_up(places *p)
{
    for (size_t i = p->n; i < p->padded; i++) {
        p->x[i] = p->y[i] = p->z[i] = nowhere_A;
        p->q[i] = 0;
    }
}

/* Atoms [first, last), all in parallel. */
typedef struct taking {
    const exact_options *o;
    places *to;
} taking;

static void place_of(const exact_options *o, size_t i, double at_A[3])
{
    for (int axis = 0; axis < 3; axis++)
        at_A[axis] = ley_atoms_positions_A(o->atoms)[3 * i + (size_t)axis] - o->origin_A[axis];
}

static void take_atoms(void *context, size_t first, size_t last)
{
    const taking *t = context;
    for (size_t i = first; i < last; i++) {
        double at_A[3];
        place_of(t->o, i, at_A);
        t->to->x[i] = at_A[0];
        t->to->y[i] = at_A[1];
        t->to->z[i] = at_A[2];
        t->to->q[i] = ley_atoms_charges_e(t->o->atoms)[i];
    }
}

/* Images that may be within from_A of a place: counted, or added. */
typedef struct images {
    const exact_options *o;
    places *to; /* NULL: counted */
    size_t count;
} images;

static void take_image(void *context, const double image_A[3])
{
    images *i = context;
    double at_A[3];
    for (int axis = 0; axis < 3; axis++) {
        at_A[axis] = image_A[axis] + 0.5 * (i->o->low_A[axis] + i->o->high_A[axis]);
        if (at_A[axis] < i->o->low_A[axis] - i->o->from_A || at_A[axis] > i->o->high_A[axis] + i->o->from_A)
            return;
    }
    i->count++;
    if (i->to != NULL)
        places_add(i->to, at_A);
}

static void each_image(images *i)
{
    const exact_options *o = i->o;
    double reach_A2 = 0;
    for (int axis = 0; axis < 3; axis++)
        reach_A2 += pow(0.5 * (o->high_A[axis] - o->low_A[axis]) + o->from_A, 2);
    for (size_t j = 0; o->atoms != NULL && j < ley_atoms_count(o->atoms); j++) {
        double at_A[3];
        place_of(o, j, at_A);
        for (int axis = 0; axis < 3; axis++)
            at_A[axis] -= 0.5 * (o->low_A[axis] + o->high_A[axis]);
        cell_images(o->cell, at_A, 1.000001 * sqrt(reach_A2), take_image, i);
    }
}

static ley_status make_periodic(const exact_options *o, ions_exact *e, ley_error *error)
{
    static const double origin_A[3] = {0, 0, 0}, unit_e = 1;
    images count = {.o = o}, add = {.o = o, .to = &e->near};
    each_image(&count);
    ley_status status = places_allocate(&e->near, count.count, error);
    if (status != LEY_OK)
        return status;
    each_image(&add);
    places_fill_up(&e->near);
    periodic_options sum = {.cell = *o->cell,
                            .r_min_A = 1e-6,
                            .near_A = LEY_TOLERANCE_NEAR_A,
                            .points = o->points,
                            .cancelled = o->cancelled};
    periodic_options unit = sum;
    unit.n = 1;
    unit.position_A = origin_A;
    unit.charge_e = &unit_e;
    status = periodic_sum_create(&unit, &e->unit, error);
    if (status != LEY_OK || o->atoms == NULL)
        return status;
    sum.n = ley_atoms_count(o->atoms);
    sum.position_A = ley_atoms_positions_A(o->atoms);
    sum.charge_e = ley_atoms_charges_e(o->atoms);
    return periodic_sum_create(&sum, &e->sum, error);
}

ley_status exact_create(const exact_options *o, ions_exact **made, ley_error *error)
{
    ions_exact *e = calloc(1, sizeof *e);
    if (e == NULL)
        return ley_fail_memory(error, sizeof *e, "the charges by themselves");
    const size_t n = o->atoms != NULL ? ley_atoms_count(o->atoms) : 0;
    e->cell = *o->cell;
    e->from_A2 = o->from_A * o->from_A;
    e->is_square = o->is_square;
    memcpy(e->origin_A, o->origin_A, sizeof e->origin_A);
    ley_status status = LEY_OK;
    if (e->cell.dimensions > 0)
        status = make_periodic(o, e, error);
    else if ((status = places_allocate(&e->charges, n, error)) == LEY_OK) {
        e->charges.n = n;
        parallel_ranges(n, take_atoms, &(taking){o, &e->charges});
        places_fill_up(&e->charges);
    }
    if (status == LEY_OK)
        *made = e;
    else
        exact_destroy(e);
    return status;
}

void exact_destroy(ions_exact *e)
{
    if (e == NULL)
        return;
    free(e->charges.x);
    free(e->near.x);
    periodic_sum_destroy(e->sum);
    periodic_sum_destroy(e->unit);
    free(e);
}

size_t exact_near(const ions_exact *e, const double **x_A, const double **y_A, const double **z_A)
{
    const places *p = e->cell.dimensions > 0 ? &e->near : &e->charges;
    *x_A = p->x;
    *y_A = p->y;
    *z_A = p->z;
    return p->n;
}

/* ---- Sums ------------------------------------------------------------------------------------ */

/* 1/sqrt(x) from that of a float by a step of Halley's, which triples its digits. */
static inline __attribute__((always_inline)) double reciprocal_root(double x)
{
    const double y = 1.0f / sqrtf((float)x), e = 1 - x * y * y;
    return y + y * e * (0.5 + 0.375 * e);
}

/* Charges [first, last), whole vectors of them; lane by lane, so that the order is the same on any
 * processor. */
static inline __attribute__((always_inline)) void add_terms(const places *p, bool is_square, size_t first, size_t last,
                                                            const double at[3], exact_value *to)
{
    double sum[LANES] = {0}, absolute[LANES] = {0}, nearest[LANES];
    const double *x = p->x, *y = p->y, *z = p->z, *q = p->q;
    for (int k = 0; k < LANES; k++)
        nearest[k] = far_A2;
    for (size_t j = first; j < last; j += LANES)
        for (int k = 0; k < LANES; k++) {
            const double dx = at[0] - x[j + (size_t)k], dy = at[1] - y[j + (size_t)k], dz = at[2] - z[j + (size_t)k];
            const double d2 = dx * dx + dy * dy + dz * dz, bounded = d2 < least_A2 ? least_A2 : d2,
                         term = is_square ? 1 / bounded : reciprocal_root(bounded);
            sum[k] += q[j + (size_t)k] * term;
            absolute[k] += fabs(q[j + (size_t)k]) * term;
            nearest[k] = d2 < nearest[k] ? d2 : nearest[k];
        }
    for (int k = 0; k < LANES; k++) {
        to->potential += sum[k];
        to->absolute += absolute[k];
        to->nearest_A2 = nearest[k] < to->nearest_A2 ? nearest[k] : to->nearest_A2;
    }
}

FOR_THIS_CPU static void add_charges(const places *p, bool is_square, size_t first, size_t last, const double at[3],
                                     exact_value *to)
{
    if (is_square)
        add_terms(p, true, first, last, at, to);
    else
        add_terms(p, false, first, last, at, to);
}

typedef struct batch {
    const ions_exact *e;
    const places *of;
    size_t points, chunks;
    const double (*place_A)[3];
    exact_value *parts; /* [chunks][points], so that a chunk stays in a cache for all points */
} batch;

static void add_parts(void *context, size_t first, size_t last)
{
    const batch *b = context;
    for (size_t i = first; i < last; i++) {
        const size_t begin = i / b->points * CHUNK, end = begin + CHUNK < b->of->padded ? begin + CHUNK : b->of->padded;
        b->parts[i] = (exact_value){.nearest_A2 = far_A2};
        add_charges(b->of, b->e->is_square, begin, end, b->place_A[i % b->points], &b->parts[i]);
    }
}

static void add_images(void *context, size_t first, size_t last)
{
    const batch *b = context;
    for (size_t i = first; i < last; i++) {
        double at_A[3];
        for (int axis = 0; axis < 3; axis++)
            at_A[axis] = b->place_A[i][axis] + b->e->origin_A[axis];
        const periodic_value value =
            b->e->sum != NULL ? periodic_sum_at(b->e->sum, at_A) : (periodic_value){.value = 0};
        b->parts[i].potential = value.value;
        b->parts[i].absolute = fabs(value.value) + 10 * sqrt(value.squares);
    }
}

static ley_status add_batch(const ions_exact *e, size_t n, const double (*place_A)[3], exact_value *values,
                            ley_error *error)
{
    const bool is_periodic = e->cell.dimensions > 0;
    batch b = {.e = e, .of = is_periodic ? &e->near : &e->charges, .points = n, .place_A = place_A};
    b.chunks = (b.of->padded + CHUNK - 1) / CHUNK;
    b.chunks = b.chunks > 0 ? b.chunks : 1;
    b.parts = malloc(n * b.chunks * sizeof *b.parts);
    if (b.parts == NULL)
        return ley_fail_memory(error, n * b.chunks * sizeof *b.parts, "sums in double precision");
    parallel_ranges(n * b.chunks, add_parts, &b);
    for (size_t i = 0; i < n; i++) {
        values[i] = (exact_value){.nearest_A2 = far_A2};
        for (size_t k = 0; k < b.chunks; k++) {
            const exact_value *part = &b.parts[k * n + i];
            values[i].potential += part->potential;
            values[i].absolute += part->absolute;
            values[i].nearest_A2 = fmin(values[i].nearest_A2, part->nearest_A2);
        }
    }
    if (is_periodic) {
        b.parts = memcpy(b.parts, values, n * sizeof *values);
        parallel_ranges(n, add_images, &b);
        memcpy(values, b.parts, n * sizeof *values);
    }
    free(b.parts);
    return LEY_OK;
}

ley_status exact_at(const ions_exact *e, size_t n, const double (*place_A)[3], exact_value *values, ley_error *error)
{
    ley_status status = LEY_OK;
    for (size_t i = 0; i < n && status == LEY_OK; i += BATCH)
        status = add_batch(e, n - i < BATCH ? n - i : BATCH, place_A + i, values + i, error);
    return status;
}

double exact_pair(const ions_exact *e, const double way_A[3])
{
    return e->unit != NULL ? periodic_sum_at(e->unit, way_A).value
           : e->is_square  ? 1 / cell_dot(way_A, way_A)
                           : 1 / cell_length(way_A);
}

double exact_distance_A2(const ions_exact *e, const double way_A[3])
{
    double image_A[3];
    if (e->cell.dimensions == 0)
        return cell_dot(way_A, way_A);
    const double nearest_A = cell_nearest(&e->cell, way_A, image_A);
    return nearest_A * nearest_A;
}
