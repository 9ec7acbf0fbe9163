#include "energy/problem.h"

#include "error.h"
#include "law/energy_pairs.h"

#include <stdlib.h>
#include <string.h>

static void *zeros(size_t count, size_t size, bool *is_whole)
{
    void *made = calloc(count + 1, size);
    *is_whole = *is_whole && made != NULL;
    return made;
}

/* Particles by their group. */
static void sort_places(energy_problem *p)
{
    size_t at = 0;
    for (int32_t g = 0; p->column_first != NULL && g < p->options.groups; g++) {
        for (size_t i = 0; i < p->count; i++)
            if (p->options.group[i] == g)
                p->order[at++] = (int32_t)i;
        p->column_first[g + 1] = (int32_t)at;
    }
    for (; at < p->padded; at++)
        p->order[at] = at < p->count ? (int32_t)at : -1;
    for (size_t i = 0; i < p->count; i++)
        p->place[p->order[i]] = (int32_t)i;
}

static void set_particles(energy_problem *p)
{
    const ley_particles_arrays *a = &p->arrays;
    for (size_t i = 0; i < p->padded; i++) {
        const int32_t particle = p->order[i];
        p->charge[i] = particle < 0 ? 0 : (float)a->charges[particle];
        p->type[i] = particle < 0 ? (int32_t)a->types : a->type[particle];
    }
    for (int64_t s = 0; s < a->types; s++)
        for (int64_t t = 0; t < a->types; t++) {
            p->table[(size_t)s * p->types + (size_t)t][0] = (float)a->lennard_jones_a[s * a->types + t];
            p->table[(size_t)s * p->types + (size_t)t][1] = (float)a->lennard_jones_b[s * a->types + t];
        }
}

static int ascending(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Each pair for both of its particles; `first` counts them, then says where they begin. */
static void list_excluded(energy_problem *p)
{
    const ley_particles_arrays *a = &p->arrays;
    const int32_t(*const lists[2])[2] = {a->exclusion, a->pair_14};
    const int64_t lengths[2] = {a->exclusions, a->pairs_14};
    for (int l = 0; l < 2; l++)
        for (int64_t k = 0; k < 2 * lengths[l]; k++)
            p->first[p->place[lists[l][k / 2][k % 2]] + 1]++;
    for (size_t i = 0; i < p->padded; i++)
        p->first[i + 1] += p->first[i];
    for (int l = 0; l < 2; l++)
        for (int64_t k = 0; k < 2 * lengths[l]; k++)
            p->excluded[p->first[p->place[lists[l][k / 2][k % 2]]]++] = p->place[lists[l][k / 2][1 - k % 2]];
    memmove(p->first + 1, p->first, p->padded * sizeof *p->first);
    p->first[0] = 0;
    for (size_t i = 0; i < p->padded; i++)
        qsort(p->excluded + p->first[i], (size_t)(p->first[i + 1] - p->first[i]), sizeof *p->excluded, ascending);
}

static void set_tails(energy_problem *p)
{
    const energy_law law = {.of = &p->arrays, .options = &p->options, .n = (int64_t)p->count, .cell = {.measure = 1}};
    energy_tail(&law, p->tail);
}

/* Copies of groups, as they are and with one more. */
static bool copy_groups(energy_problem *p, const int32_t *group)
{
    int32_t *own = malloc(p->count * sizeof *own), *all = malloc(p->count * sizeof *all);
    bool has_rest = false;
    for (size_t i = 0; i < p->count && own != NULL && all != NULL; i++) {
        own[i] = group[i];
        has_rest = has_rest || group[i] < 0;
        all[i] = group[i] < 0 ? p->law_options.groups : group[i];
    }
    p->law_options.group = own;
    p->options.group = all;
    p->options.groups = p->law_options.groups + (has_rest ? 1 : 0);
    return own != NULL && all != NULL;
}

ley_status energy_problem_make(energy_problem *p, const ley_particles *particles, const ley_energy_options *options,
                               ley_error *error)
{
    bool is_whole = true;
    *p = (energy_problem){.options = *options, .law_options = *options, .arrays = ley_particles_get(particles)};
    p->options.group = p->law_options.group = NULL;
    const ley_status status = ley_particles_create(&p->arrays, &p->particles, error);
    if (status != LEY_OK)
        return status;
    p->arrays = ley_particles_get(p->particles);
    p->count = (size_t)p->arrays.particles;
    p->padded = (p->count + ENERGY_PAD - 1) / ENERGY_PAD * ENERGY_PAD;
    p->types = (size_t)p->arrays.types + 1;
    p->coulomb = options->coulomb_constant / options->dielectric;
    p->order = zeros(p->padded, sizeof *p->order, &is_whole);
    p->place = zeros(p->count, sizeof *p->place, &is_whole);
    p->charge = zeros(p->padded, sizeof *p->charge, &is_whole);
    p->type = zeros(p->padded, sizeof *p->type, &is_whole);
    p->table = zeros(p->types * p->types, sizeof *p->table, &is_whole);
    p->first = zeros(p->padded + 1, sizeof *p->first, &is_whole);
    p->excluded = zeros(2 * (size_t)(p->arrays.exclusions + p->arrays.pairs_14), sizeof *p->excluded, &is_whole);
    if (options->groups > 0) {
        is_whole = copy_groups(p, options->group) && is_whole;
        p->column_first = zeros((size_t)p->options.groups + 1, sizeof *p->column_first, &is_whole);
    }
    if (options->tail_correction)
        p->tail = zeros((size_t)p->arrays.types, sizeof *p->tail, &is_whole);
    if (!is_whole)
        return ley_fail_memory(error, 64 * p->count, "energies of particles");
    if (options->tail_correction)
        set_tails(p);
    sort_places(p);
    set_particles(p);
    list_excluded(p);
    return LEY_OK;
}

void energy_problem_destroy(energy_problem *p)
{
    free((void *)(uintptr_t)p->options.group);
    free((void *)(uintptr_t)p->law_options.group);
    free(p->column_first);
    free(p->tail);
    free(p->excluded);
    free(p->first);
    free(p->table);
    free(p->type);
    free(p->charge);
    free(p->place);
    free(p->order);
    ley_particles_destroy(p->particles);
    *p = (energy_problem){.particles = NULL};
}

bool energy_are_listed(const energy_problem *p, bool is_periodic)
{
    enum { FEW = 2048 }; /* all pairs of which are summed as fast */
    const ley_energy_options *o = &p->options;
    (void)is_periodic;
    return o->coulomb == LEY_COULOMB_EWALD ||
           ((o->lennard_jones != LEY_LENNARD_JONES_NONE || o->coulomb != LEY_COULOMB_NONE) && o->cutoff_A > 0 &&
            p->column_first == NULL && p->count > FEW);
}
