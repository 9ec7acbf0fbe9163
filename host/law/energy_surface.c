#include "law/energy_surface.h"

#include "error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct energy_surface {
    double *area, *absolute, (*slope)[3]; /* [particles]: of areas in A^2, of their sum in A */
    bool *is_needed;                      /* [particles] */
    int64_t neighbours, *neighbour;       /* of the particle that is looked at: [particles] */
    double (*way_A)[3], (*change)[3];     /* from each to the particle, [particles]; of its area */
};

void energy_surface_destroy(energy_surface *s)
{
    if (s == NULL)
        return;
    free(s->area);
    free(s->absolute);
    free(s->slope);
    free(s->is_needed);
    free(s->neighbour);
    free(s->way_A);
    free(s->change);
    free(s);
}

/* With the probe; 0: there is no sphere. */
static double radius_of(const energy_law *law, int64_t i)
{
    const double radius_A = law->of->surface_radii[i];
    return radius_A > 0 ? radius_A + law->options->probe_A : 0;
}

/* Whose spheres overlap that of i. */
static void find_neighbours(const energy_law *law, int64_t i, energy_surface *s)
{
    const double own_A = radius_of(law, i);
    s->neighbours = 0;
    for (int64_t j = 0; j < law->n && own_A > 0; j++) {
        const double reach_A = own_A + radius_of(law, j);
        if (j == i || reach_A == own_A || !(energy_way(law, i, j, s->way_A[s->neighbours]) < reach_A * reach_A))
            continue;
        s->neighbour[s->neighbours++] = j;
    }
}

/* ---- LCPO ------------------------------------------------------------------------------------ */

/* What sphere b buries of sphere a, at a distance. */
static energy_curve buried(double a_A, double b_A, double r_A)
{
    if (!(r_A < a_A + b_A))
        return (energy_curve){0, 0};
    const double squares = (a_A * a_A - b_A * b_A) / (2 * r_A);
    return (energy_curve){2 * M_PI * a_A * (a_A - r_A / 2 - squares), 2 * M_PI * a_A * (0.5 - squares / r_A) / r_A};
}

static void add_change(double by, const double way_A[3], double change[3])
{
    for (int axis = 0; axis < 3; axis++)
        change[axis] += by * way_A[axis];
}

/* What the other neighbours bury of neighbour j, the sum; by how much that changes the area, if
 * `by` is not 0. */
static double buried_by_others(const energy_law *law, energy_surface *s, int64_t j, double by)
{
    double sum = 0;
    for (int64_t k = 0; k < s->neighbours; k++) {
        double way_A[3];
        if (k == j)
            continue;
        const double r_A = sqrt(energy_way(law, s->neighbour[j], s->neighbour[k], way_A));
        const energy_curve f = buried(radius_of(law, s->neighbour[j]), radius_of(law, s->neighbour[k]), r_A);
        sum += f.value;
        if (by != 0 && f.slope != 0) {
            add_change(-by * f.slope, way_A, s->change[j]);
            add_change(by * f.slope, way_A, s->change[k]);
        }
    }
    return sum;
}

/* The area of i, and its slopes. */
static void add_lcpo(const energy_law *law, int64_t i, energy_surface *s)
{
    const double *p = law->of->lcpo_factors[i], own_A = radius_of(law, i);
    double sum[4] = {4 * M_PI * own_A * own_A, 0, 0, 0}, own[3] = {0};
    memset(s->change, 0, (size_t)s->neighbours * sizeof *s->change);
    for (int64_t j = 0; j < s->neighbours; j++) {
        const double r_A = cell_length(s->way_A[j]);
        const energy_curve f = buried(own_A, radius_of(law, s->neighbour[j]), r_A);
        const double others = buried_by_others(law, s, j, p[2] + p[3] * f.value), by = f.slope * (p[1] + p[3] * others);
        sum[1] += f.value;
        sum[2] += others;
        sum[3] += f.value * others;
        add_change(-by, s->way_A[j], own);
        add_change(by, s->way_A[j], s->change[j]);
    }
    for (int k = 0; k < 4; k++) {
        s->area[i] += p[k] * sum[k];
        s->absolute[i] += fabs(p[k] * sum[k]);
    }
    add_change(1, own, s->slope[i]);
    for (int64_t j = 0; j < s->neighbours; j++)
        add_change(1, s->change[j], s->slope[s->neighbour[j]]);
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

static bool is_free(const energy_law *law, const energy_surface *s, double own_A, const double direction[3])
{
    for (int64_t j = 0; j < s->neighbours; j++) {
        const double other_A = radius_of(law, s->neighbour[j]);
        double r2 = 0;
        for (int axis = 0; axis < 3; axis++)
            r2 += pow(s->way_A[j][axis] + own_A * direction[axis], 2);
        if (r2 < other_A * other_A)
            return false;
    }
    return true;
}

static void add_numerical(const energy_law *law, int64_t i, energy_surface *s)
{
    const double own_A = radius_of(law, i), share = 4 * M_PI * own_A * own_A / ENERGY_SURFACE_POINTS;
    for (int point = 0; point < ENERGY_SURFACE_POINTS && own_A > 0; point++) {
        double direction[3];
        energy_surface_direction(point, direction);
        s->area[i] += is_free(law, s, own_A, direction) ? share : 0;
    }
    s->absolute[i] = s->area[i];
}

/* ---- All of it ------------------------------------------------------------------------------- */

static ley_status allocate(size_t n, energy_surface **made, ley_error *error)
{
    energy_surface *s = *made = calloc(1, sizeof *s);
    if (s != NULL) {
        s->area = calloc(n, sizeof *s->area);
        s->absolute = calloc(n, sizeof *s->absolute);
        s->slope = calloc(n, sizeof *s->slope);
        s->is_needed = calloc(n, sizeof *s->is_needed);
        s->neighbour = malloc(n * sizeof *s->neighbour);
        s->way_A = malloc(n * sizeof *s->way_A);
        s->change = malloc(n * sizeof *s->change);
    }
    return s != NULL && s->area != NULL && s->absolute != NULL && s->slope != NULL && s->is_needed != NULL &&
                   s->neighbour != NULL && s->way_A != NULL && s->change != NULL
               ? LEY_OK
               : ley_fail_memory(error, n * sizeof *s->slope, "surfaces of particles");
}

ley_status energy_surface_create(const energy_law *law, int64_t count, const int64_t *particle, energy_surface **made,
                                 ley_error *error)
{
    energy_surface *s = NULL;
    ley_status status = allocate((size_t)law->n, &s, error);
    for (int64_t k = 0; k < count && status == LEY_OK; k++) {
        find_neighbours(law, particle[k], s);
        s->is_needed[particle[k]] = true;
        for (int64_t j = 0; j < s->neighbours && law->options->surface == LEY_SURFACE_LCPO; j++)
            s->is_needed[s->neighbour[j]] = true;
    }
    for (int64_t i = 0; i < law->n && status == LEY_OK; i++) {
        if (!s->is_needed[i])
            continue;
        find_neighbours(law, i, s);
        (law->options->surface == LEY_SURFACE_LCPO ? add_lcpo : add_numerical)(law, i, s);
    }
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
