#include "schedule/host_sum.h"

#include "build_cache.h"
#include "engine/selector.h"
#include "environment.h"
#include "error.h"
#include "law/pairs.h"
#include "parallel.h"
#include "schedule/host_direct.h"
#include "target/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Whether it is sooner -------------------------------------------------------------------- */

/* Of one core: a pair of a direct sum, many points at once, with an exponential, one point after
 * the other as the reference does it; of a field; within a cutoff or looked at for it. */
static const double pair_s = 1e-9, screened_s = 3e-9, single_s = 25e-9, field_s = 25e-9, image_s = 20e-9;

/* What a device takes to be found and opened where all is in the cache. */
static const double opening_s = 0.15;

/* What the second sum, charge by charge, takes long for: cells that are long or full, and wires
 * whose images count far away, as screening is weak. */
static const double longest_edge = 10, most_charges = 2000, most_reaches = 1000, end_of_screening = 36;

int64_t host_sum_points(const host_sum *sum)
{
    return sum->count > 0 ? sum->count : sum->map != NULL ? ley_grid_points(ley_map_grid(sum->map)) : sum->list->n;
}

/* Images of an atom that are looked at for a cutoff. */
double host_sum_images(const reference_terms *t)
{
    double axes[6][4], images = 1;
    if (!reference_cell(t, axes))
        return INFINITY;
    for (int i = 0; i < 3; i++)
        images *= 1 + 2 * fmax(axes[2 * i + 1][3], 0);
    return images;
}

static bool is_even(const cell *c)
{
    double shortest_A = INFINITY, longest_A = 0;
    for (int i = 0; i < 3; i++)
        if (c->periodic[i]) {
            shortest_A = fmin(shortest_A, cell_length(c->vector_A[i]));
            longest_A = fmax(longest_A, cell_length(c->vector_A[i]));
        }
    return longest_A <= longest_edge * shortest_A && c->measure >= pow(shortest_A, c->dimensions) / longest_edge;
}

static bool is_soon_twice(const reference_terms *t)
{
    const cell *c = t->cell;
    double period_A = 0;
    for (int i = 0; i < 3; i++)
        if (c->periodic[i])
            period_A = cell_length(c->vector_A[i]);
    const bool is_by_images = c->dimensions == 1 && t->kappa_per_A > 0;
    return is_even(c) && (double)ley_atoms_whole_count(t->atoms) <= most_charges &&
           !(is_by_images && end_of_screening > most_reaches * t->kappa_per_A * period_A);
}

static double direct_pair_s(const reference_terms *t)
{
    if (!host_direct_can(t))
        return single_s;
    return t->kappa_per_A > 0 ? screened_s : pair_s;
}

/* Of all cores. */
bool host_sum_has_field(const host_sum *sum)
{
    return sum->map != NULL ? map_components(sum->map) > 1 : sum->points != NULL && sum->points->field != NULL;
}

double host_sum_seconds(const host_sum *sum)
{
    const reference_terms *t = &sum->terms;
    if (sum->count > 0)
        return (double)sum->count * sum->value_s / (double)parallel_cores();
    const bool has_field = host_sum_has_field(sum);
    const double points = (double)host_sum_points(sum), pairs = (double)ley_atoms_whole_count(t->atoms) * points,
                 cores = (double)parallel_cores();
    if (t->cell != NULL && t->cell->dimensions > 0)
        return is_soon_twice(t) ? reference_images_seconds(t, (size_t)points) / cores : INFINITY;
    if (t->range != NULL)
        return pairs * host_sum_images(t) * image_s * (has_field ? 2 : 1) / cores;
    return pairs * (direct_pair_s(t) + (has_field ? field_s : 0)) / cores;
}

/* Seconds that jobs of this method took on the host beyond what devices would have taken once their
 * kernels are built; infinite once devices have built them. Jobs that are ever done again by the
 * host cost no more than twice what the builds do. */
static cache_key key_of(const method *m)
{
    return cache_key_of_host("", "host jobs", m->name, ley_target_name(m->target));
}

static double owed_s(const method *m)
{
    const cache_key key = key_of(m);
    size_t size = 0;
    double *found = cache_get(&key, &size), owed = 0;
    if (found != NULL && size == sizeof *found)
        owed = *found;
    free(found);
    return owed >= 0 ? owed : 0;
}

static void owe(const method *m, double seconds)
{
    const cache_key key = key_of(m);
    cache_put(&key, &seconds, sizeof seconds);
}

void host_sum_note_built(const method *m)
{
    if (m->by_host != NULL && isfinite(owed_s(m)))
        owe(m, INFINITY);
}

/* What the options ask for that only devices have; NULL: nothing. */
static const char *asked_of_devices(const ley_run_options *o)
{
    return o->variant != NULL              ? "a kernel's variant"
           : o->math != LEY_MATH_AUTO      ? "a recipe of roots (math)"
           : o->slab_planes > 0            ? "a limit of slabs"
           : o->sum == LEY_SUM_COMPENSATED ? "a compensated sum"
                                           : NULL;
}

static bool is_for_devices(const ley_run_options *o)
{
    return asked_of_devices(o) != NULL || o->decision_count > 0 || environment_kernel_dir() != NULL ||
           environment_dump_dir() != NULL;
}

bool host_sum_is_sooner(const method *m, const void *task, const ley_run_options *o)
{
    host_sum sum = {.map = NULL};
    if (m->by_host == NULL || is_for_devices(o) || !m->by_host(task, &sum))
        return false;
    const double seconds = host_sum_seconds(&sum), built_s = opening_s, first_s = opening_s + sum.builds_s;
    if (selector_found_none())
        return isfinite(seconds);
    return seconds <= built_s || (seconds <= first_s && seconds <= first_s - owed_s(m));
}

bool host_sum_is_asked(const ley_run_options *o, const job_plan *given)
{
    return o->by_host || plan_word(given, NULL, "computed_by") != NULL;
}

static ley_status check_plan(const job_plan *given, ley_error *error)
{
    for (size_t i = 0; given != NULL && i < given->count; i++)
        if (strcmp(given->list[i].name, "method") != 0 && strcmp(given->list[i].name, "target") != 0 &&
            strcmp(given->list[i].name, "computed_by") != 0)
            return plan_fail(error, "'%s' is for devices, and the host is to do the job alone", given->list[i].name);
    return LEY_OK;
}

ley_status host_sum_check(const method *m, const void *task, const ley_run_options *o, const job_plan *given,
                          ley_error *error)
{
    host_sum sum = {.map = NULL};
    const char *asked = asked_of_devices(o);
    if (asked != NULL)
        return ley_fail(error, LEY_ERROR_USAGE, "the host is to do the job alone, and %s is for devices", asked);
    if (check_plan(given, error) != LEY_OK)
        return LEY_ERROR_USAGE;
    if (m->by_host == NULL)
        return ley_fail(
            error, LEY_ERROR_USAGE,
            "the host is to do the job alone, and method %s is for devices: \"cpu\" is the processor as a device, "
            "where an OpenCL driver for it is installed",
            m->name);
    if (!m->by_host(task, &sum))
        return ley_fail(error, LEY_ERROR_USAGE,
                        "the host is to do the job alone, and method %s does it on devices only where a user's "
                        "function of pairs, places of steps or sizes of bins are given",
                        m->name);
    if (!isfinite(host_sum_seconds(&sum)))
        return ley_fail(error, LEY_ERROR_USAGE,
                        "the host is to do the job alone, and cannot verify it in a reasonable time: there are more "
                        "than %g atoms in the cell, or its edges differ by more than a factor of %g, or screening "
                        "along one axis is weak",
                        most_charges, longest_edge);
    return LEY_OK;
}

void host_sum_note_taken(const method *m, double seconds)
{
    const double owed = owed_s(m);
    if (seconds > opening_s && isfinite(owed))
        owe(m, owed + seconds - opening_s);
}
