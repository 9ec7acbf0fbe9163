#include "long_range/model/memory_limits.h"

#include "error.h"
#include "fft.h"
#include "long_range/model/problem.h"
#include "numerics/influence.h"
#include "source/atoms.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* Nodes of a transform, padding along open axes included. */
static void transform_extent(const hierarchy *h, size_t n[3])
{
    int64_t extent[3];
    influence_extent(h, extent);
    for (int axis = 0; axis < 3; axis++)
        n[axis] = (size_t)extent[axis];
}

static double transform_bytes(const hierarchy *h, double *largest)
{
    size_t n[3];
    transform_extent(h, n);
    const double mesh = (double)fft_mesh_bytes(n, true), halves = hierarchy_is_rectangular(h) ? 8 : 2,
                 waves = sizeof(float) * (double)n[0] * (double)n[1] * (double)n[2] / halves;
    *largest = fmax(mesh, waves);
    return 2 * mesh + waves;
}

/* Of the transform, padding included; 0: there is none. */
static double transform_values(const hierarchy *h)
{
    hierarchy last;
    size_t n[3];
    if (h->solver != HIERARCHY_FOURIER && h->solver != HIERARCHY_MIXED)
        return 0;
    hierarchy_top(h, &last);
    transform_extent(&last, n);
    return (double)fft_values(n);
}

double memory_limits_bytes(const hierarchy *h, double *largest)
{
    const int by_cutoff = h->solver == HIERARCHY_FOURIER ? 0 : h->solver == HIERARCHY_MIXED ? h->levels - 1 : h->levels;
    double levels = 0, of_top = 0, top = 0;
    for (int k = 0; k < by_cutoff; k++)
        levels += sizeof(float) * (double)hierarchy_nodes(&h->level[k]);
    if (by_cutoff < h->levels) {
        hierarchy last;
        hierarchy_top(h, &last);
        top = transform_bytes(&last, &of_top);
    }
    *largest = fmax(levels, of_top);
    return 2 * levels + top;
}

/* ---- Devices --------------------------------------------------------------------------------- */

bool memory_limits_has_room(double bytes, double largest, double memory_bytes, double most_bytes)
{
    return (memory_bytes == 0 || bytes <= FIT_SHARE * memory_bytes) && (most_bytes == 0 || largest <= most_bytes);
}

bool memory_limits_device(const dev_info *info, const hierarchy *h)
{
    double largest;
    const double bytes = memory_limits_bytes(h, &largest);
    const uint64_t most = fft_most_values(info);
    return (most == 0 || transform_values(h) <= (double)most) &&
           memory_limits_has_room(bytes, largest, (double)info->global_bytes, (double)info->max_allocation_bytes);
}

/* Whether any device in use does; none: whether some may. Of atoms that are a part finer levels may
 * be a part, too, and the top one counts. */
static bool any_has_room(const ley_engine *engine, const ley_atoms *atoms, const hierarchy *whole)
{
    hierarchy h = *whole;
    bool any = engine->worker_count == 0;
    if (ley_atoms_part(atoms) != NULL && whole->levels > 1)
        hierarchy_top(whole, &h);
    for (size_t i = 0; i < engine->worker_count; i++)
        any = any || memory_limits_device(engine->workers[i].info, &h);
    return any;
}

/* ---- The solver ------------------------------------------------------------------------------ */

/* With LEY_SOLVER_AUTO it has another window in the place of B-splines. */
static void take_mixed(ley_long_range *r, int levels)
{
    if (r->solver == LEY_SOLVER_AUTO)
        r->window = msm_nodal_window(r->window);
    r->solver = LEY_SOLVER_MIXED;
    r->levels = levels;
}

static bool take_plan(const job_plan *given, ley_long_range *r)
{
    const char *solver = plan_word(given, NULL, "solver");
    const int64_t levels = plan_number(given, NULL, "levels");
    if (solver != NULL && strcmp(solver, "mixed") == 0 && levels > 1)
        take_mixed(r, (int)levels);
    return solver != NULL;
}

/* Meshes of which level by level more is done by lattice cutoff; false: there is no more room
 * with more of them. */
static bool add_levels(const ley_engine *engine, const ley_atoms *atoms, const ley_grid *points, ley_long_range *r)
{
    ley_long_range trial = *r;
    hierarchy h;
    for (int levels = 2; levels <= HIERARCHY_MOST_LEVELS; levels++) {
        take_mixed(&trial, levels);
        if (msm_meshes(&trial, atoms, points, &h, NULL) == LEY_OK && h.levels == levels &&
            any_has_room(engine, atoms, &h)) {
            *r = trial;
            return true;
        }
    }
    return false;
}

/* What there is no room for; meshes that kernels cannot number are none. */
static void say_why(const hierarchy *h, bool has_meshes, char *why, size_t size)
{
    int64_t n[3];
    double largest;
    if (!has_meshes) {
        snprintf(why, size, "the whole mesh's transform would have more nodes than kernels can number");
        return;
    }
    influence_extent(h, n);
    snprintf(why, size, "no device has room for a transform of %lld x %lld x %lld nodes, %s", (long long)n[0],
             (long long)n[1], (long long)n[2], ley_size(memory_limits_bytes(h, &largest)).s);
}

void memory_limits_solver(const ley_engine *engine, const ley_atoms *atoms, const ley_grid *points,
                          const job_plan *given, ley_long_range *range, char *why, size_t size)
{
    const bool is_mixed = range->solver == LEY_SOLVER_MIXED && range->levels == 0,
               is_auto = range->solver == LEY_SOLVER_AUTO && msm_resolved(range).solver == LEY_SOLVER_FOURIER;
    ley_long_range whole = *range;
    hierarchy h = {.levels = 0};
    why[0] = '\0';
    if ((!is_mixed && !is_auto) || take_plan(given, range))
        return;
    whole.solver = LEY_SOLVER_FOURIER;
    whole.levels = 0;
    const bool has_meshes = msm_meshes(&whole, atoms, points, &h, NULL) == LEY_OK;
    if (is_auto && has_meshes && (h.levels == 0 || any_has_room(engine, atoms, &h)))
        return;
    if (add_levels(engine, atoms, points, range) && is_auto)
        say_why(&h, has_meshes, why, size);
}
