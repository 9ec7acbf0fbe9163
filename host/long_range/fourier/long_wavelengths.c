#include "long_range/fourier/long_wavelengths.h"

#include "cancel.h"
#include "error.h"
#include "for_this_cpu.h"
#include "memory.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Waves that there may be per node of the coarse mesh that atoms are put into:
 * kaiser_window_make() says what their aliases are. */
static const double most_per_node = 0.2;

enum { POINTS = KAISER_POINTS, LOOK_EACH = 16384, LEAST_PER_PART = 8192 };

/* Of meshes that threads have for themselves, together. */
static const double most_bytes = 512.0 * (1 << 20);

/* Numbers that are added up side by side; where they stand in rows, they begin anywhere. */
typedef double vector __attribute__((vector_size(POINTS * sizeof(double))));
typedef double row_vector __attribute__((vector_size(POINTS * sizeof(double)), aligned(sizeof(double)), may_alias));

bool long_wavelengths_are_wanted(const hierarchy *h)
{
    return h->long_waves_per_A > 0 && h->levels == 1 && h->solver == HIERARCHY_FOURIER && !h->window->is_nodal;
}

/* ---- Charges --------------------------------------------------------------------------------- */

typedef struct putting {
    const long_charges *made;
    size_t atoms, parts, count; /* count: nodes */
    const double *position_A, *charge_e;
    const atomic_bool *cancelled;
    double origin_A[3], per_A[3][3]; /* an atom is at per_A . (r - origin) + shift, in nodes, */
    double shift[3], period[3];      /* of a period; 0: open */
    vector of_power[KAISER_COEFFICIENTS];
    double *values_e; /* [parts][count] */
    atomic_bool is_over;
} putting;

static inline __attribute__((always_inline)) double place_along(const putting *p, int axis, const double r_A[3])
{
    const double *per_A = p->per_A[axis],
                 at = per_A[0] * r_A[0] + per_A[1] * r_A[1] + per_A[2] * r_A[2] + p->shift[axis];
    return p->period[axis] > 0 ? at - p->period[axis] * floor(at / p->period[axis]) : at;
}

/* The first of an atom's nodes along an axis, and where it is between the two in their middle, less
 * 1/2. */
static inline __attribute__((always_inline)) int64_t first_node(const putting *p, int axis, const double r_A[3],
                                                                double *between)
{
    const double place = place_along(p, axis, r_A);
    const int64_t last = p->made->n[axis] - POINTS, below = place > 0 ? (int64_t)place : 0,
                  first = below < last ? below : last;
    *between = place - (double)first - 0.5;
    return first;
}

/* The weights of all axes side by side: each alone would wait for itself at every step. */
static inline __attribute__((always_inline)) void weigh(const putting *p, const double between[3], vector weight[3])
{
    for (int axis = 0; axis < 3; axis++)
        weight[axis] = p->of_power[KAISER_COEFFICIENTS - 1];
#pragma GCC unroll 16
    for (int k = KAISER_COEFFICIENTS - 2; k >= 0; k--)
#pragma GCC unroll 3
        for (int axis = 0; axis < 3; axis++)
            weight[axis] = weight[axis] * between[axis] + p->of_power[k];
}

FOR_THIS_CPU static void add_atoms(const putting *p, size_t first, size_t last, double *values_e)
{
    const int64_t stride_y = p->made->n[0], stride_z = p->made->n[0] * p->made->n[1];
    for (size_t i = first; i < last; i++) {
        double r_A[3], between[3];
        int64_t at[3];
        vector weight[3];
        if (p->charge_e[i] == 0)
            continue;
        for (int axis = 0; axis < 3; axis++)
            r_A[axis] = p->position_A[3 * i + (size_t)axis] - p->origin_A[axis];
#pragma GCC unroll 3
        for (int axis = 0; axis < 3; axis++)
            at[axis] = first_node(p, axis, r_A, &between[axis]);
        weigh(p, between, weight);
        double *corner = values_e + at[2] * stride_z + at[1] * stride_y + at[0];
        weight[2] *= p->charge_e[i];
#pragma GCC unroll 8
        for (int z = 0; z < POINTS; z++) {
            const vector of_rows = weight[1] * weight[2][z];
#pragma GCC unroll 8
            for (int y = 0; y < POINTS; y++)
                *(row_vector *)(corner + z * stride_z + y * stride_y) += weight[0] * of_rows[y];
        }
    }
}

static void put_part(void *context, size_t part)
{
    putting *p = context;
    const size_t end = p->atoms * (part + 1) / p->parts;
    double *values_e = p->values_e + part * p->count;
    memset(values_e, 0, p->count * sizeof *values_e);
    for (size_t i = p->atoms * part / p->parts; i < end && !atomic_load(&p->is_over); i += LOOK_EACH) {
        add_atoms(p, i, i + LOOK_EACH < end ? i + LOOK_EACH : end, values_e);
        if (cancel_is_asked(p->cancelled))
            atomic_store(&p->is_over, true);
    }
}

static void add_parts(void *context, size_t first, size_t last)
{
    const putting *p = context;
    for (size_t part = 1; part < p->parts; part++)
        for (size_t i = first; i < last; i++)
            p->values_e[i] += p->values_e[part * p->count + i];
}

/* A period is divided evenly. The first of a place's nodes is POINTS / 2 - 1 before it. */
void long_charges_lay_out(const hierarchy *h, long_charges *made)
{
    *made = (long_charges){.values_e = NULL};
    for (int axis = 0; axis < 3; axis++) {
        const double n = (double)h->level[0].n[axis],
                     widest = 2 * M_PI * most_per_node * cell_length(h->inverse_per_A[axis]) / h->long_waves_per_A;
        made->apart[axis] = h->cell.periodic[axis] ? n / ceil(n / widest) : widest;
        made->n[axis] = (int64_t)(n / made->apart[axis]) + 1 + POINTS;
    }
}

void long_charges_window(kaiser_window *made)
{
    kaiser_window_make(most_per_node, made);
}

/* How many threads have such a mesh each, and the bytes of one. */
static size_t count_parts(const long_charges *c, size_t atoms, double *bytes)
{
    *bytes = (double)c->n[0] * (double)c->n[1] * (double)c->n[2] * sizeof *c->values_e;
    const double parts = fmin(fmin(parallel_cores(), most_bytes / *bytes), (double)atoms / LEAST_PER_PART);
    return (size_t)fmax(parts, 1);
}

double long_charges_bytes(const hierarchy *h, size_t atoms)
{
    long_charges c;
    double bytes;
    if (!long_wavelengths_are_wanted(h))
        return 0;
    long_charges_lay_out(h, &c);
    const size_t parts = count_parts(&c, atoms, &bytes);
    return (double)parts * bytes;
}

static void prepare(const hierarchy *h, putting *p)
{
    kaiser_window of;
    long_charges_window(&of);
    memcpy(p->of_power, of.c, sizeof of.c);
    for (int axis = 0; axis < 3; axis++) {
        const double apart = p->made->apart[axis];
        p->origin_A[axis] = h->origin_A[axis];
        for (int i = 0; i < 3; i++)
            p->per_A[axis][i] = h->inverse_per_A[axis][i] / apart;
        p->shift[axis] = h->cell.periodic[axis] ? 0 : -(double)h->level[0].first[axis] / apart;
        p->period[axis] = h->cell.periodic[axis] ? (double)h->level[0].n[axis] / apart : 0;
    }
}

ley_status long_charges_make(const hierarchy *h, size_t atoms, const double *position_A, const double *charge_e,
                             const atomic_bool *cancelled, long_charges *made, ley_error *error)
{
    putting p = {.made = made, .atoms = atoms, .position_A = position_A, .charge_e = charge_e, .cancelled = cancelled};
    double bytes;
    long_charges_lay_out(h, made);
    prepare(h, &p);
    p.parts = count_parts(made, atoms, &bytes);
    const ley_status status =
        memory_check_one("charges of long waves", (double)p.parts * bytes, "a looser tolerance", error);
    if (status != LEY_OK)
        return status;
    p.count = (size_t)(made->n[0] * made->n[1] * made->n[2]);
    p.values_e = malloc(p.parts * p.count * sizeof *p.values_e);
    if (p.values_e == NULL)
        return ley_fail_memory(error, p.parts * p.count * sizeof *p.values_e, "charges of long waves");
    parallel_each(p.parts, put_part, &p);
    parallel_ranges(p.count, add_parts, &p);
    made->values_e = p.values_e;
    if (!atomic_load(&p.is_over))
        return LEY_OK;
    long_charges_clear(made);
    return ley_fail(error, LEY_CANCELLED, "cancelled");
}

void long_charges_clear(long_charges *c)
{
    free(c->values_e);
    *c = (long_charges){.values_e = NULL};
}

/* ---- Waves ----------------------------------------------------------------------------------- */

void long_wavelengths_most(const hierarchy *h, const int64_t n[3], int64_t most[3])
{
    for (int axis = 0; axis < 3; axis++) {
        const double longest = h->long_waves_per_A * (double)n[axis] / (2 * M_PI * cell_length(h->inverse_per_A[axis]));
        most[axis] = (int64_t)fmax(fmin(floor(longest), (double)((n[axis] - 1) / 2)), 0);
    }
}

int64_t long_wavelengths_count(const long_wavelengths *w)
{
    return (2 * w->most[2] + 1) * (2 * w->most[1] + 1) * (w->most[0] + 1);
}

double long_wavelengths_bytes(const hierarchy *h, const int64_t n[3])
{
    long_wavelengths w = {.values = NULL};
    if (!long_wavelengths_are_wanted(h))
        return 0;
    long_wavelengths_most(h, n, w.most);
    return (double)long_wavelengths_count(&w) * sizeof *w.values;
}

typedef struct complex_vector {
    vector real, imaginary;
} complex_vector;

/* A transform along one axis after the other, of as many waves as are wanted; those along x are
 * side by side, in so many vectors. */
typedef struct transforming {
    const long_charges *charges;
    const long_wavelengths *made;
    const atomic_bool *cancelled;
    int64_t vectors;
    complex_vector *turns;  /* [n_x][vectors] exp(i theta s) of each node and wave; of axes y and z: */
    double (*turn[3])[2];   /* [waves from 0 on][nodes] its cosine and sine */
    complex_vector *rows;   /* [n_z][n_y][vectors] */
    complex_vector *planes; /* [n_z][waves y][vectors] */
    atomic_bool is_over;
} transforming;

static int64_t waves_along(const long_wavelengths *w, int axis)
{
    return axis == 0 ? w->most[0] + 1 : 2 * w->most[axis] + 1;
}

/* With the factor that makes the window's transform the mesh's. */
static void put_turns(transforming *t, const hierarchy *h, const int64_t n[3], int axis)
{
    const long_charges *c = t->charges;
    kaiser_window of;
    long_charges_window(&of);
    for (int64_t m = 0; m <= t->made->most[axis]; m++) {
        const double theta = 2 * M_PI * (double)m / (double)n[axis],
                     factor = window_transform(h->window, theta) / kaiser_window_transform(&of, theta * c->apart[axis]);
        for (int64_t k = 0; k < c->n[axis]; k++) {
            const double angle = theta * c->apart[axis] * (double)(k - (POINTS / 2 - 1)), cosine = factor * cos(angle),
                         sine = factor * sin(angle);
            if (axis == 0) {
                complex_vector *turn = &t->turns[k * t->vectors + m / POINTS];
                turn->real[m % POINTS] = cosine;
                turn->imaginary[m % POINTS] = sine;
            } else {
                t->turn[axis][m * c->n[axis] + k][0] = cosine;
                t->turn[axis][m * c->n[axis] + k][1] = sine;
            }
        }
    }
}

/* Of a plane's rows. So many are summed at once that sums need not wait for each other; the last
 * row stands in for those behind it. */
FOR_THIS_CPU static void transform_rows(const transforming *t, int64_t z)
{
    enum { AT_ONCE = 4 };
    const int64_t *n = t->charges->n;
    const double *values_e = t->charges->values_e + z * n[1] * n[0];
    for (int64_t v = 0; v < t->vectors; v++)
        for (int64_t y = 0; y < n[1]; y += AT_ONCE) {
            const double *row[AT_ONCE];
            complex_vector sum[AT_ONCE];
            memset(sum, 0, sizeof sum);
            for (int i = 0; i < AT_ONCE; i++)
                row[i] = values_e + (y + i < n[1] ? y + i : n[1] - 1) * n[0];
            for (int64_t x = 0; x < n[0]; x++) {
                const complex_vector turn = t->turns[x * t->vectors + v];
                for (int i = 0; i < AT_ONCE; i++) {
                    sum[i].real += turn.real * row[i][x];
                    sum[i].imaginary -= turn.imaginary * row[i][x];
                }
            }
            for (int i = 0; i < AT_ONCE && y + i < n[1]; i++)
                t->rows[(z * n[1] + y + i) * t->vectors + v] = sum[i];
        }
}

/* Waves m and -m of n values, `stride` from each other. */
static inline __attribute__((always_inline)) void sum_pair(const complex_vector *values, int64_t stride,
                                                           const double (*turn)[2], int64_t n, complex_vector *above,
                                                           complex_vector *below)
{
    complex_vector even, odd;
    memset(&even, 0, sizeof even);
    memset(&odd, 0, sizeof odd);
    for (int64_t i = 0; i < n; i++) {
        const complex_vector value = values[i * stride];
        even.real += value.real * turn[i][0];
        even.imaginary += value.imaginary * turn[i][0];
        odd.real += value.real * turn[i][1];
        odd.imaginary += value.imaginary * turn[i][1];
    }
    above->real = even.real + odd.imaginary;
    above->imaginary = even.imaginary - odd.real;
    below->real = even.real - odd.imaginary;
    below->imaginary = even.imaginary + odd.real;
}

/* Where wave -m stands. */
static int64_t below_of(const long_wavelengths *w, int axis, int64_t m)
{
    return m == 0 ? 0 : 2 * w->most[axis] + 1 - m;
}

/* A plane's rows, to waves along y. */
FOR_THIS_CPU static void transform_plane(const transforming *t, int64_t z)
{
    const int64_t n_y = t->charges->n[1];
    const complex_vector *rows = t->rows + z * n_y * t->vectors;
    complex_vector *plane = t->planes + z * waves_along(t->made, 1) * t->vectors, above, below;
    for (int64_t m = 0; m <= t->made->most[1]; m++)
        for (int64_t v = 0; v < t->vectors; v++) {
            sum_pair(rows + v, t->vectors, (const double(*)[2])t->turn[1] + m * n_y, n_y, &above, &below);
            plane[below_of(t->made, 1, m) * t->vectors + v] = below;
            plane[m * t->vectors + v] = above;
        }
}

static void transform_planes(void *context, size_t first, size_t last)
{
    transforming *t = context;
    for (size_t z = first; z < last && !atomic_load(&t->is_over); z++) {
        transform_rows(t, (int64_t)z);
        transform_plane(t, (int64_t)z);
        if (cancel_is_asked(t->cancelled))
            atomic_store(&t->is_over, true);
    }
}

static void store(const transforming *t, int64_t z, int64_t y, int64_t v, const complex_vector *of)
{
    const int64_t waves_x = waves_along(t->made, 0), first = v * POINTS;
    float(*to)[2] = t->made->values + (z * waves_along(t->made, 1) + y) * waves_x + first;
    for (int64_t i = 0; i < POINTS && first + i < waves_x; i++) {
        to[i][0] = (float)of->real[i];
        to[i][1] = (float)of->imaginary[i];
    }
}

/* Planes, to waves along z, of the waves [first, last) along y. */
FOR_THIS_CPU static void transform_columns_of(const transforming *t, int64_t first, int64_t last)
{
    const int64_t n_z = t->charges->n[2], stride = waves_along(t->made, 1) * t->vectors;
    complex_vector above, below;
    for (int64_t y = first; y < last; y++)
        for (int64_t m = 0; m <= t->made->most[2]; m++)
            for (int64_t v = 0; v < t->vectors; v++) {
                sum_pair(t->planes + y * t->vectors + v, stride, (const double(*)[2])t->turn[2] + m * n_z, n_z, &above,
                         &below);
                store(t, below_of(t->made, 2, m), y, v, &below);
                store(t, m, y, v, &above);
            }
}

static void transform_columns(void *context, size_t first, size_t last)
{
    transforming *t = context;
    for (size_t y = first; y < last && !atomic_load(&t->is_over); y++) {
        transform_columns_of(t, (int64_t)y, (int64_t)y + 1);
        if (cancel_is_asked(t->cancelled))
            atomic_store(&t->is_over, true);
    }
}

/* All that it takes is in one piece of memory. */
static void *give_room(transforming *t, size_t *bytes)
{
    const int64_t *n = t->charges->n, *most = t->made->most,
                  vectors[3] = {n[0] * t->vectors, n[2] * n[1] * t->vectors,
                                n[2] * waves_along(t->made, 1) * t->vectors},
                  turns[2] = {(most[1] + 1) * n[1], (most[2] + 1) * n[2]};
    *bytes = (size_t)(vectors[0] + vectors[1] + vectors[2]) * sizeof(complex_vector) +
             (size_t)(turns[0] + turns[1]) * sizeof(double[2]);
    *bytes += (sizeof(vector) - *bytes % sizeof(vector)) % sizeof(vector);
    void *all = aligned_alloc(sizeof(vector), *bytes);
    if (all == NULL)
        return NULL;
    t->turns = all;
    t->rows = t->turns + vectors[0];
    t->planes = t->rows + vectors[1];
    t->turn[1] = (double(*)[2])(void *)(t->planes + vectors[2]);
    t->turn[2] = t->turn[1] + turns[0];
    memset(t->turns, 0, (size_t)vectors[0] * sizeof *t->turns);
    return all;
}

ley_status long_wavelengths_make(const hierarchy *h, const int64_t n[3], const long_charges *charges,
                                 const atomic_bool *cancelled, long_wavelengths *made, ley_error *error)
{
    transforming t = {.charges = charges, .made = made, .cancelled = cancelled};
    size_t bytes;
    *made = (long_wavelengths){.values = NULL};
    long_wavelengths_most(h, n, made->most);
    t.vectors = made->most[0] / POINTS + 1;
    void *all = give_room(&t, &bytes);
    made->values = malloc((size_t)long_wavelengths_count(made) * sizeof *made->values);
    if (all == NULL || made->values == NULL) {
        free(all);
        long_wavelengths_clear(made);
        return ley_fail_memory(error, bytes, "long waves");
    }
    for (int axis = 0; axis < 3; axis++)
        put_turns(&t, h, n, axis);
    parallel_ranges((size_t)charges->n[2], transform_planes, &t);
    parallel_ranges((size_t)waves_along(made, 1), transform_columns, &t);
    free(all);
    if (!atomic_load(&t.is_over))
        return LEY_OK;
    long_wavelengths_clear(made);
    return ley_fail(error, LEY_CANCELLED, "cancelled");
}

void long_wavelengths_clear(long_wavelengths *w)
{
    free(w->values);
    w->values = NULL;
}
