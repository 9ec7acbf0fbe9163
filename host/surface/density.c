/* A Gaussian of three coordinates is a product of three: an atom takes a few exponentials, and one
 * multiplication for each point in its reach, which is sooner done than a device is opened. */
#include "surface/density.h"

#include "cancel.h"
#include "error.h"
#include "parallel.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

double density_reach(double sharpness)
{
    return sqrt(1 - log(DENSITY_LEAST) / sharpness);
}

/* Points of an axis in reach of an atom, and the atom's factor at each, but for the first `skipped`
 * of them that are not wanted. */
typedef struct stretch {
    int64_t first, count;
    float *factor;
    double *apart2_A2; /* squares of the distances along the axis */
} stretch;

typedef struct work {
    float *values;
    const ley_grid *grid;
    const ley_atoms *atoms;
    double sharpness, reach;
    size_t room; /* most points of a stretch */
    const volatile bool *cancel;
    atomic_bool is_out_of_memory;
} work;

/* Points of axis m of [low, high) that are in reach. */
static void find_stretch(const work *w, size_t atom, int m, int64_t low, int64_t high, stretch *s)
{
    const double radius_A = ley_atoms_radii_A(w->atoms)[atom], spacing_A = w->grid->step_A[m][m];
    const double place_A = ley_atoms_positions_A(w->atoms)[3 * atom + (size_t)m] - w->grid->origin_A[m];
    const double reach_A = w->reach * radius_A;
    const double first = fmax(ceil((place_A - reach_A) / spacing_A), (double)low);
    const double last = fmin(floor((place_A + reach_A) / spacing_A), (double)(high - 1));
    s->first = (int64_t)first;
    s->count = last >= first ? (int64_t)(last - first) + 1 : 0;
    if (s->count > (int64_t)w->room)
        s->count = (int64_t)w->room;
    const double fall = w->sharpness / (radius_A * radius_A);
    for (int64_t i = 0; i < s->count; i++) {
        const double apart_A = (double)(s->first + i) * spacing_A - place_A;
        s->apart2_A2[i] = apart_A * apart_A;
        s->factor[i] = (float)exp((m == 0 ? w->sharpness : 0) - fall * s->apart2_A2[i]);
    }
}

/* Adds an atom to planes first to last - 1. */
static void add_atom(const work *w, size_t atom, size_t first, size_t last, stretch s[3])
{
    const ley_grid *grid = w->grid;
    find_stretch(w, atom, 2, (int64_t)first, (int64_t)last, &s[2]);
    if (s[2].count == 0)
        return;
    find_stretch(w, atom, 0, 0, grid->n[0], &s[0]);
    find_stretch(w, atom, 1, 0, grid->n[1], &s[1]);
    const double radius_A = ley_atoms_radii_A(w->atoms)[atom], reach2_A2 = pow(w->reach * radius_A, 2);
    for (int64_t k = 0; k < s[2].count; k++)
        for (int64_t j = 0; j < s[1].count; j++) {
            const double left_A2 = reach2_A2 - s[2].apart2_A2[k] - s[1].apart2_A2[j];
            int64_t low = 0, high = s[0].count;
            while (low < high && s[0].apart2_A2[low] > left_A2)
                low++;
            while (high > low && s[0].apart2_A2[high - 1] > left_A2)
                high--;
            float *to = w->values + ((s[2].first + k) * grid->n[1] + s[1].first + j) * grid->n[0] + s[0].first;
            const float of_row = s[2].factor[k] * s[1].factor[j], *factor = s[0].factor;
            for (int64_t i = low; i < high; i++)
                to[i] += of_row * factor[i];
        }
}

static void fill_planes(void *context, size_t first, size_t last)
{
    work *w = context;
    const size_t plane = (size_t)(w->grid->n[0] * w->grid->n[1]);
    for (size_t k = first; k < last && !cancel_flag_is_set(w->cancel); k++)
        memset(w->values + k * plane, 0, plane * sizeof *w->values);
    stretch s[3];
    char *room = malloc(3 * w->room * (sizeof(double) + sizeof(float)));
    if (room == NULL) {
        atomic_store(&w->is_out_of_memory, true);
        return;
    }
    for (size_t m = 0; m < 3; m++) {
        s[m].apart2_A2 = (double *)(void *)room + m * w->room;
        s[m].factor = (float *)(void *)(room + 3 * w->room * sizeof(double)) + m * w->room;
    }
    const double *radius_A = ley_atoms_radii_A(w->atoms);
    for (size_t i = 0; i < ley_atoms_count(w->atoms) && !cancel_flag_is_set(w->cancel); i++)
        if (radius_A[i] > 0)
            add_atom(w, i, first, last, s);
    free(room);
}

ley_status density_fill(ley_map *map, const ley_atoms *atoms, double sharpness, const volatile bool *cancel,
                        ley_error *error)
{
    const ley_grid *grid = ley_map_grid(map);
    work w = {.values = ley_map_values(map),
              .grid = grid,
              .atoms = atoms,
              .sharpness = sharpness,
              .reach = density_reach(sharpness),
              .cancel = cancel};
    for (int m = 0; m < 3; m++)
        w.room = (size_t)grid->n[m] > w.room ? (size_t)grid->n[m] : w.room;
    parallel_ranges((size_t)grid->n[2], fill_planes, &w);
    if (w.is_out_of_memory)
        return ley_fail_memory(error, 12 * 3 * w.room, "the density of the atoms");
    return cancel_flag_is_set(cancel) ? ley_fail(error, LEY_CANCELLED, "cancelled") : LEY_OK;
}

/* Of atoms that matter within reach of a place. */
typedef struct near {
    size_t count;
    double (*atom)[4]; /* place, A; 1 / radius^2 */
    double sharpness;
} near;

/* Those whose terms within `most_A` of the place are a digit of the sum; false: no memory. */
static bool find_near(const ley_atoms *atoms, double sharpness, const double place_A[3], double most_A, near *n)
{
    const double *position_A = ley_atoms_positions_A(atoms), *radius_A = ley_atoms_radii_A(atoms);
    const double reach = sqrt(1 + 40 / sharpness); /* in radii */
    size_t room = 0;
    *n = (near){.sharpness = sharpness};
    for (size_t i = 0; i < ley_atoms_count(atoms); i++) {
        double r2_A2 = 0;
        for (size_t x = 0; x < 3; x++)
            r2_A2 += pow(place_A[x] - position_A[3 * i + x], 2);
        if (!(radius_A[i] > 0 && r2_A2 < pow(reach * radius_A[i] + most_A, 2)))
            continue;
        if (n->count == room) {
            double(*more)[4] = realloc(n->atom, (room = 2 * room + 64) * sizeof *more);
            if (more == NULL)
                return false;
            n->atom = more;
        }
        memcpy(n->atom[n->count], position_A + 3 * i, 3 * sizeof(double));
        n->atom[n->count++][3] = 1 / (radius_A[i] * radius_A[i]);
    }
    return true;
}

static bool is_inside(const near *n, const double place_A[3], const double direction[3], double far_A)
{
    double rho = 0;
    for (size_t i = 0; i < n->count; i++) {
        double r2_A2 = 0;
        for (int x = 0; x < 3; x++)
            r2_A2 += pow(place_A[x] + far_A * direction[x] - n->atom[i][x], 2);
        rho += exp(n->sharpness * (1 - r2_A2 * n->atom[i][3]));
    }
    return rho >= 1;
}

/* How far the surface is in this direction; INFINITY: not within `most_A`. */
static double distance_along(const near *n, const double place_A[3], const double direction[3], double most_A)
{
    enum { STEPS = 32, HALVINGS = 24 };
    const bool is_in = is_inside(n, place_A, direction, 0);
    int step = 1;
    while (step <= STEPS && is_inside(n, place_A, direction, most_A * step / STEPS) == is_in)
        step++;
    if (step > STEPS)
        return INFINITY;
    double low_A = most_A * (step - 1) / STEPS, high_A = most_A * step / STEPS;
    for (int i = 0; i < HALVINGS; i++) {
        const double middle_A = 0.5 * (low_A + high_A);
        *(is_inside(n, place_A, direction, middle_A) == is_in ? &low_A : &high_A) = middle_A;
    }
    return high_A;
}

double density_distance_A(const ley_atoms *atoms, double sharpness, const double place_A[3], double most_A)
{
    near n;
    double nearest_A = INFINITY;
    const bool has_memory = find_near(atoms, sharpness, place_A, most_A, &n);
    for (int way = 0; way < 6 && has_memory; way++) {
        double direction[3] = {0, 0, 0};
        direction[way / 2] = way % 2 == 0 ? 1 : -1;
        nearest_A = fmin(nearest_A, distance_along(&n, place_A, direction, fmin(most_A, nearest_A)));
    }
    free(n.atom);
    return has_memory ? nearest_A : NAN;
}
