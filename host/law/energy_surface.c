#include "law/energy_surface.h"

#include "error.h"
#include "law/neighbours.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One whose sphere overlaps another particle's: the way to that, and what it buries of it. */
typedef struct neighbour {
    int64_t which;
    double way_A[3];
    energy_curve buried;
} neighbour;

struct energy_surface {
    const energy_law *law;
    neighbours bins; /* of what has a sphere: their numbers are in place of charges */
    double most_A;   /* the largest sphere */
    neighbour *list;
    size_t used, room;
    int64_t *first, *count;               /* [particles]: of each one's neighbours in the list; count -1: not known */
    double *area, *absolute, (*slope)[3]; /* [particles]: of areas in A^2, of their sum in A */
    int64_t *place;                       /* [particles]: among the neighbours of one, from 1; 0: it is none */
    double (*change)[3];                  /* of its area, by each neighbour's place */
    double direction[ENERGY_SURFACE_POINTS][3];
};

void energy_surface_destroy(energy_surface *s)
{
    if (s == NULL)
        return;
    neighbours_clear(&s->bins);
    free(s->list);
    free(s->first);
    free(s->count);
    free(s->area);
    free(s->absolute);
    free(s->slope);
    free(s->place);
    free(s->change);
    free(s);
}

/* With the probe; 0: there is no sphere. */
static double radius_of(const energy_law *law, int64_t i)
{
    const double radius_A = law->of->surface_radii[i];
    return radius_A > 0 ? radius_A + law->options->probe_A : 0;
}

/* ---- Neighbours ------------------------------------------------------------------------------ */

/* What sphere b buries of sphere a, at a distance. */
static energy_curve buried(double a_A, double b_A, double r_A)
{
    const double squares = (a_A * a_A - b_A * b_A) / (2 * r_A);
    return (energy_curve){2 * M_PI * a_A * (a_A - r_A / 2 - squares), 2 * M_PI * a_A * (0.5 - squares / r_A) / r_A};
}

typedef struct search {
    energy_surface *s;
    int64_t i;
    bool is_short; /* of memory */
} search;

static void add_neighbour(search *f, int64_t j, const double way_A[3], double r2)
{
    energy_surface *s = f->s;
    if (s->used == s->room) {
        const size_t room = 2 * s->room + 1024;
        neighbour *grown = realloc(s->list, room * sizeof *grown);
        if (grown == NULL) {
            f->is_short = true;
            return;
        }
        s->list = grown;
        s->room = room;
    }
    s->list[s->used++] =
        (neighbour){j, {way_A[0], way_A[1], way_A[2]}, buried(radius_of(s->law, f->i), radius_of(s->law, j), sqrt(r2))};
}

static void add_stretch(void *context, size_t first, size_t last, const double from_A[3])
{
    search *f = context;
    const neighbours *bins = &f->s->bins;
    const double own_A = radius_of(f->s->law, f->i);
    for (size_t k = first; k < last && !f->is_short; k++) {
        const int64_t j = (int64_t)bins->charge_e[k];
        double way_A[3];
        for (int axis = 0; axis < 3; axis++)
            way_A[axis] = from_A[axis] - bins->place_A[axis][k];
        const double r2 = cell_dot(way_A, way_A), reach_A = own_A + radius_of(f->s->law, j);
        if (j != f->i && r2 < reach_A * reach_A)
            add_neighbour(f, j, way_A, r2);
    }
}

/* Whose spheres overlap that of i: the list's part from first[i] on. */
static ley_status find_neighbours(energy_surface *s, int64_t i, ley_error *error)
{
    search f = {.s = s, .i = i};
    double at_A[3];
    if (s->count[i] >= 0)
        return LEY_OK;
    for (int axis = 0; axis < 3; axis++)
        at_A[axis] = (double)s->law->frame->position_A[3 * i + axis];
    s->first[i] = (int64_t)s->used;
    if (radius_of(s->law, i) > 0)
        neighbours_near(&s->bins, at_A, radius_of(s->law, i) + s->most_A, add_stretch, &f);
    s->count[i] = (int64_t)s->used - s->first[i];
    return f.is_short ? ley_fail_memory(error, 2 * s->room * sizeof *s->list, "neighbours of surfaces") : LEY_OK;
}

static ley_status make_bins(energy_surface *s, ley_error *error)
{
    const energy_law *law = s->law;
    const size_t bytes = ((size_t)law->n + 1) * sizeof(double);
    double *position_A = malloc(3 * bytes), *number = malloc(bytes);
    size_t n = 0;
    ley_status status = position_A != NULL && number != NULL ? LEY_OK : ley_fail_memory(error, 4 * bytes, "spheres");
    for (int64_t i = 0; i < law->n && status == LEY_OK; i++) {
        if (!(radius_of(law, i) > 0))
            continue;
        for (int axis = 0; axis < 3; axis++)
            position_A[3 * n + (size_t)axis] = (double)law->frame->position_A[3 * i + axis];
        number[n++] = (double)i;
        s->most_A = fmax(s->most_A, radius_of(law, i));
    }
    if (status == LEY_OK && n > 0)
        status = neighbours_make(&law->cell, n, position_A, number, s->most_A, &s->bins, error);
    free(position_A);
    free(number);
    return status;
}

/* ---- LCPO ------------------------------------------------------------------------------------ */

static void add_change(double by, const double way_A[3], double change[3])
{
    for (int axis = 0; axis < 3; axis++)
        change[axis] += by * way_A[axis];
}

/* What other neighbours bury of one of them, the sum. */
static double buried_by_others(const energy_surface *s, const neighbour *near)
{
    const neighbour *other = s->list + s->first[near->which], *end = other + s->count[near->which];
    double sum = 0;
    for (; other < end; other++)
        sum += s->place[other->which] > 0 ? other->buried.value : 0;
    return sum;
}

/* Adds by how much that changes the area, times `by`. */
static void add_changes(energy_surface *s, const neighbour *near, double by)
{
    const neighbour *other = s->list + s->first[near->which], *end = other + s->count[near->which];
    double *own = s->change[s->place[near->which]];
    for (; other < end; other++) {
        const int64_t place = s->place[other->which];
        if (place == 0)
            continue;
        add_change(-by * other->buried.slope, other->way_A, own);
        add_change(by * other->buried.slope, other->way_A, s->change[place]);
    }
}

/* The area of i, and its slopes; all neighbours of neighbours are known. */
static void add_lcpo(energy_surface *s, int64_t i)
{
    const double *p = s->law->of->lcpo_factors[i], own_A = radius_of(s->law, i);
    const neighbour *first = s->list + s->first[i], *end = first + s->count[i];
    double sum[4] = {4 * M_PI * own_A * own_A, 0, 0, 0};
    if (p[0] == 0 && p[1] == 0 && p[2] == 0 && p[3] == 0)
        return;
    memset(s->change, 0, ((size_t)s->count[i] + 1) * sizeof *s->change);
    for (const neighbour *near = first; near < end; near++)
        s->place[near->which] = near - first + 1;
    for (const neighbour *near = first; near < end; near++) {
        const energy_curve f = near->buried;
        const double others = buried_by_others(s, near), by = f.slope * (p[1] + p[3] * others);
        sum[1] += f.value;
        sum[2] += others;
        sum[3] += f.value * others;
        if (!s->law->options->forces)
            continue;
        add_changes(s, near, p[2] + p[3] * f.value);
        add_change(-by, near->way_A, s->change[0]);
        add_change(by, near->way_A, s->change[near - first + 1]);
    }
    for (int k = 0; k < 4; k++) {
        s->area[i] += p[k] * sum[k];
        s->absolute[i] += fabs(p[k] * sum[k]);
    }
    add_change(1, s->change[0], s->slope[i]);
    for (const neighbour *near = first; near < end; near++) {
        add_change(1, s->change[near - first + 1], s->slope[near->which]);
        s->place[near->which] = 0;
    }
}

/* ---- Points ---------------------------------------------------------------------------------- */

void energy_surface_direction(int point, double direction[3])
{
    const double z = 1 - (2 * point + 1) / (double)ENERGY_SURFACE_POINTS, across = sqrt(1 - z * z);
    const double angle = point * M_PI * (3 - sqrt(5.0));
    direction[0] = across * cos(angle);
    direction[1] = across * sin(angle);
    direction[2] = z;
}

static bool is_within(const energy_surface *s, const neighbour *near, double own_A, const double direction[3])
{
    const double other_A = radius_of(s->law, near->which);
    double r2 = 0;
    for (int axis = 0; axis < 3; axis++) {
        const double way_A = near->way_A[axis] + own_A * direction[axis];
        r2 += way_A * way_A;
    }
    return r2 < other_A * other_A;
}

/* Points beside each other are mostly within the same neighbour: it is asked first. */
static void add_numerical(energy_surface *s, int64_t i)
{
    const double own_A = radius_of(s->law, i), share = 4 * M_PI * own_A * own_A / ENERGY_SURFACE_POINTS;
    const neighbour *first = s->list + s->first[i], *end = first + s->count[i], *last = first;
    for (int point = 0; point < ENERGY_SURFACE_POINTS && own_A > 0; point++) {
        const double *direction = s->direction[point];
        if (last < end && is_within(s, last, own_A, direction))
            continue;
        for (last = first; last < end && !is_within(s, last, own_A, direction);)
            last++;
        s->area[i] += last == end ? share : 0;
    }
    s->absolute[i] = s->area[i];
}

/* ---- All of it ------------------------------------------------------------------------------- */

static ley_status allocate(const energy_law *law, energy_surface **made, ley_error *error)
{
    const size_t n = (size_t)law->n;
    energy_surface *s = *made = calloc(1, sizeof *s);
    if (s != NULL) {
        s->law = law;
        s->first = calloc(n, sizeof *s->first);
        s->count = malloc(n * sizeof *s->count);
        s->area = calloc(n, sizeof *s->area);
        s->absolute = calloc(n, sizeof *s->absolute);
        s->slope = calloc(n, sizeof *s->slope);
        s->place = calloc(n, sizeof *s->place);
        s->change = malloc((n + 1) * sizeof *s->change);
    }
    if (s == NULL || s->first == NULL || s->count == NULL || s->area == NULL || s->absolute == NULL ||
        s->slope == NULL || s->place == NULL || s->change == NULL)
        return ley_fail_memory(error, n * sizeof *s->slope, "surfaces of particles");
    for (size_t i = 0; i < n; i++)
        s->count[i] = -1;
    for (int point = 0; point < ENERGY_SURFACE_POINTS && law->options->surface == LEY_SURFACE_NUMERICAL; point++)
        energy_surface_direction(point, s->direction[point]);
    return LEY_OK;
}

/* The areas of i and of its neighbours, which change with its place, but for what is done. */
static ley_status add_around(energy_surface *s, int64_t i, bool *is_done, ley_error *error)
{
    ley_status status = find_neighbours(s, i, error);
    const int64_t areas = s->law->options->surface == LEY_SURFACE_LCPO ? s->count[i] : 0;
    for (int64_t k = -1; k < areas && status == LEY_OK; k++) {
        const int64_t m = k < 0 ? i : s->list[s->first[i] + k].which;
        if (is_done[m])
            continue;
        is_done[m] = true;
        status = find_neighbours(s, m, error);
        for (int64_t l = 0; l < s->count[m] && status == LEY_OK && areas > 0; l++)
            status = find_neighbours(s, s->list[s->first[m] + l].which, error);
        if (status == LEY_OK)
            (s->law->options->surface == LEY_SURFACE_LCPO ? add_lcpo : add_numerical)(s, m);
    }
    return status;
}

ley_status energy_surface_create(const energy_law *law, int64_t count, const int64_t *particle, energy_surface **made,
                                 ley_error *error)
{
    energy_surface *s = NULL;
    bool *is_done = calloc((size_t)law->n, sizeof *is_done);
    ley_status status = allocate(law, &s, error);
    if (status == LEY_OK && is_done == NULL)
        status = ley_fail_memory(error, (size_t)law->n, "surfaces of particles");
    if (status == LEY_OK)
        status = make_bins(s, error);
    for (int64_t k = 0; k < count && status == LEY_OK; k++)
        status = add_around(s, particle[k], is_done, error);
    free(is_done);
    if (status == LEY_OK)
        *made = s;
    else
        energy_surface_destroy(s);
    return status;
}

void energy_add_surface(const energy_law *law, const energy_surface *s, int64_t i, energy_sums *sums)
{
    const ley_energy_options *o = law->options;
    energy_add_own(law, i, LEY_ENERGY_SURFACE, o->tension * s->area[i] + o->offset / (double)law->n, sums);
    sums->absolute[LEY_ENERGY_SURFACE] += fabs(o->tension) * (s->absolute[i] - fabs(s->area[i]));
    add_change(-o->tension, s->slope[i], sums->force);
}
