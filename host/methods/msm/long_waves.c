#include "methods/msm/long_waves.h"

#include "cancel.h"
#include "error.h"
#include "for_this_cpu.h"
#include "memory.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The points of the window that atoms are put into the coarse lattice by; and the waves that there
 * may be per node of that, x: aliases of the shortest are then (x / (1 - x))^8 = 1e-6 of it. */
enum { POINTS = 8, LOOK_EACH = 16384, LEAST_PER_PART = 8192 };
static const double most_per_node = 0.151;

/* Of lattices that threads have for themselves, together. */
static const double most_bytes = 512.0 * (1 << 20);

bool long_waves_are_wanted(const hierarchy *h)
{
    return h->long_waves_per_A > 0 && h->levels == 1 && h->solver == HIERARCHY_FFT && !h->window->is_nodal;
}

/* ---- Charges --------------------------------------------------------------------------------- */

typedef struct putting {
    const hierarchy *h;
    const long_charges *made;
    size_t atoms, parts, count; /* count: nodes */
    const double *position_A, *charge_e;
    const atomic_bool *cancelled;
    double of_power[POINTS][POINTS]; /* the window's coefficients: [power][node] */
    double *values_e;                /* [parts][count] */
    atomic_bool is_over;
} putting;

/* Where an atom is along an axis, in nodes from the lattice's first one. */
static double place_along(const hierarchy *h, int axis, double index)
{
    const hierarchy_level *level = &h->level[0];
    const double n = (double)level->n[axis];
    return h->cell.periodic[axis] ? index - n * floor(index / n) : index - (double)level->first[axis];
}

static inline __attribute__((always_inline)) void weigh(const putting *p, double t, double weight[POINTS])
{
    const double x = t - 0.5;
    memcpy(weight, p->of_power[POINTS - 1], sizeof p->of_power[0]);
    for (int k = POINTS - 2; k >= 0; k--)
        for (int i = 0; i < POINTS; i++)
            weight[i] = weight[i] * x + p->of_power[k][i];
}

FOR_THIS_CPU static void add_atoms(const putting *p, size_t first, size_t last, double *values_e)
{
    const int64_t *n = p->made->n;
    for (size_t i = first; i < last; i++) {
        double index[3], weight[3][POINTS];
        int64_t at[3];
        if (p->charge_e[i] == 0)
            continue;
        hierarchy_index(p->h, p->position_A + 3 * i, index);
        for (int axis = 0; axis < 3; axis++) {
            const double place = place_along(p->h, axis, index[axis]) / p->made->apart[axis];
            const int64_t below = (int64_t)fmin(fmax(place, 0), (double)(n[axis] - POINTS));
            at[axis] = below;
            weigh(p, place - (double)below, weight[axis]);
        }
        for (int z = 0; z < POINTS; z++)
            for (int y = 0; y < POINTS; y++) {
                double *row = values_e + ((at[2] + z) * n[1] + at[1] + y) * n[0] + at[0];
                const double of_row = p->charge_e[i] * weight[2][z] * weight[1][y];
                for (int x = 0; x < POINTS; x++)
                    row[x] += of_row * weight[0][x];
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
static void lay_out(const hierarchy *h, long_charges *made)
{
    for (int axis = 0; axis < 3; axis++) {
        const double n = (double)h->level[0].n[axis],
                     widest = 2 * M_PI * most_per_node * cell_length(h->inverse_per_A[axis]) / h->long_waves_per_A;
        made->apart[axis] = h->cell.periodic[axis] ? n / ceil(n / widest) : widest;
        made->n[axis] = (int64_t)(n / made->apart[axis]) + 1 + POINTS;
    }
}

/* How many threads have such a lattice each, and the bytes of one. */
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
    if (!long_waves_are_wanted(h))
        return 0;
    lay_out(h, &c);
    const size_t parts = count_parts(&c, atoms, &bytes);
    return (double)parts * bytes;
}

ley_status long_charges_make(const hierarchy *h, size_t atoms, const double *position_A, const double *charge_e,
                             const atomic_bool *cancelled, long_charges *made, ley_error *error)
{
    const window *of = window_get(WINDOW_BSPLINE8);
    putting p = {
        .h = h, .made = made, .atoms = atoms, .position_A = position_A, .charge_e = charge_e, .cancelled = cancelled};
    *made = (long_charges){.values_e = NULL};
    lay_out(h, made);
    for (int k = 0; k < POINTS; k++)
        for (int i = 0; i < POINTS; i++)
            p.of_power[k][i] = of->c[i][k];
    double bytes;
    p.parts = count_parts(made, atoms, &bytes);
    const ley_status status =
        memory_check_one("charges of long waves", (double)p.parts * bytes, "a looser --tol", error);
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

static void count_waves(const hierarchy *h, const int64_t n[3], int64_t most[3])
{
    for (int axis = 0; axis < 3; axis++) {
        const double longest = h->long_waves_per_A * (double)n[axis] / (2 * M_PI * cell_length(h->inverse_per_A[axis]));
        most[axis] = (int64_t)fmax(fmin(floor(longest), (double)((n[axis] - 1) / 2)), 0);
    }
}

int64_t long_waves_count(const long_waves *w)
{
    return (2 * w->most[2] + 1) * (2 * w->most[1] + 1) * (w->most[0] + 1);
}

double long_waves_bytes(const hierarchy *h, const int64_t n[3])
{
    long_waves w = {.values = NULL};
    if (!long_waves_are_wanted(h))
        return 0;
    count_waves(h, n, w.most);
    return (double)long_waves_count(&w) * sizeof *w.values;
}

typedef struct complex_number {
    double real, imaginary;
} complex_number;

/* A transform along one axis after the other, of as many waves as are wanted. */
typedef struct transforming {
    const long_charges *charges;
    const long_waves *made;
    complex_number *turn[3]; /* [waves][nodes]: factor exp(-i theta s) of each node */
    complex_number *planes;  /* [n_z][waves y][waves x] */
    complex_number *rows;    /* [n_z][n_y][waves x] */
} transforming;

static int64_t waves_along(const long_waves *w, int axis)
{
    return axis == 0 ? w->most[0] + 1 : 2 * w->most[axis] + 1;
}

/* The wave of a place in the list. */
static int64_t wave_at(const long_waves *w, int axis, int64_t i)
{
    return i <= w->most[axis] ? i : i - (2 * w->most[axis] + 1);
}

/* With the factor that makes this window's transform the lattice's. */
static void put_turns(const transforming *t, const hierarchy *h, const int64_t n[3], int axis)
{
    const long_charges *c = t->charges;
    const window *of = window_get(WINDOW_BSPLINE8);
    for (int64_t i = 0; i < waves_along(t->made, axis); i++) {
        const double theta = 2 * M_PI * (double)wave_at(t->made, axis, i) / (double)n[axis],
                     factor = window_transform(h->window, theta) / window_transform(of, theta * c->apart[axis]);
        for (int64_t k = 0; k < c->n[axis]; k++) {
            const double angle = theta * c->apart[axis] * (double)(k - (POINTS / 2 - 1));
            complex_number *turn = &t->turn[axis][i * c->n[axis] + k];
            turn->real = factor * cos(angle);
            turn->imaginary = -factor * sin(angle);
        }
    }
}

static inline void add_product(complex_number *to, complex_number a, complex_number b)
{
    to->real += a.real * b.real - a.imaginary * b.imaginary;
    to->imaginary += a.real * b.imaginary + a.imaginary * b.real;
}

/* Rows along x, and then along y, of the planes [first, last). */
static void transform_planes(void *context, size_t first, size_t last)
{
    const transforming *t = context;
    const int64_t *n = t->charges->n, waves_x = waves_along(t->made, 0), waves_y = waves_along(t->made, 1);
    for (int64_t z = (int64_t)first; z < (int64_t)last; z++) {
        complex_number *plane = t->planes + z * waves_y * waves_x, *rows = t->rows + z * n[1] * waves_x;
        for (int64_t y = 0; y < n[1]; y++)
            for (int64_t m = 0; m < waves_x; m++) {
                const double *value_e = t->charges->values_e + (z * n[1] + y) * n[0];
                const complex_number *turn = t->turn[0] + m * n[0];
                complex_number sum = {0, 0};
                for (int64_t x = 0; x < n[0]; x++) {
                    sum.real += value_e[x] * turn[x].real;
                    sum.imaginary += value_e[x] * turn[x].imaginary;
                }
                rows[y * waves_x + m] = sum;
            }
        memset(plane, 0, (size_t)(waves_y * waves_x) * sizeof *plane);
        for (int64_t k = 0; k < waves_y; k++)
            for (int64_t y = 0; y < n[1]; y++)
                for (int64_t m = 0; m < waves_x; m++)
                    add_product(&plane[k * waves_x + m], rows[y * waves_x + m], t->turn[1][k * n[1] + y]);
    }
}

/* Along z, of the waves [first, last) along x and y. */
static void transform_columns(void *context, size_t first, size_t last)
{
    const transforming *t = context;
    const int64_t n_z = t->charges->n[2], waves_z = waves_along(t->made, 2),
                  waves_xy = waves_along(t->made, 0) * waves_along(t->made, 1);
    for (int64_t k = 0; k < waves_z; k++)
        for (int64_t i = (int64_t)first; i < (int64_t)last; i++) {
            complex_number sum = {0, 0};
            for (int64_t z = 0; z < n_z; z++)
                add_product(&sum, t->planes[z * waves_xy + i], t->turn[2][k * n_z + z]);
            t->made->values[k * waves_xy + i][0] = (float)sum.real;
            t->made->values[k * waves_xy + i][1] = (float)sum.imaginary;
        }
}

ley_status long_waves_make(const hierarchy *h, const int64_t n[3], const long_charges *charges, long_waves *made,
                           ley_error *error)
{
    const int64_t *nodes = charges->n;
    transforming t = {.charges = charges, .made = made};
    *made = (long_waves){.values = NULL};
    count_waves(h, n, made->most);
    const int64_t waves_x = waves_along(made, 0), waves_y = waves_along(made, 1),
                  turns[3] = {waves_x * nodes[0], waves_y * nodes[1], waves_along(made, 2) * nodes[2]};
    const size_t count = (size_t)(turns[0] + turns[1] + turns[2] + nodes[2] * waves_x * (waves_y + nodes[1]));
    complex_number *all = malloc(count * sizeof *all);
    made->values = malloc((size_t)long_waves_count(made) * sizeof *made->values);
    if (all == NULL || made->values == NULL) {
        free(all);
        long_waves_clear(made);
        return ley_fail_memory(error, count * sizeof *all, "long waves");
    }
    t.turn[0] = all;
    t.turn[1] = t.turn[0] + turns[0];
    t.turn[2] = t.turn[1] + turns[1];
    t.planes = t.turn[2] + turns[2];
    t.rows = t.planes + nodes[2] * waves_y * waves_x;
    for (int axis = 0; axis < 3; axis++)
        put_turns(&t, h, n, axis);
    parallel_ranges((size_t)nodes[2], transform_planes, &t);
    parallel_ranges((size_t)(waves_x * waves_y), transform_columns, &t);
    free(all);
    return LEY_OK;
}

void long_waves_clear(long_waves *w)
{
    free(w->values);
    w->values = NULL;
}
