#include "energy/pairs_14.h"

#include "energy/trial.h"
#include "error.h"

#include <stdlib.h>

/* As LEY_PAIRS_14_KEYS. */
typedef struct pairs_14_spec {
    LEY_PAIRS_14_KEYS(KERNEL_KEY_FIELD)
} pairs_14_spec;

typedef struct pairs_14 {
    dev_kernel kernel;
    buffer_of_int first, partner;
    buffer_of_float4 numbers;
} pairs_14;

static pairs_14_spec spec_of(bool is_periodic, bool has_forces)
{
    return (pairs_14_spec){.sum = LEY_SPEC_SUM_FLOAT,
                           .width = 1,
                           .root = LEY_ROOT_STANDARD,
                           .periodic = is_periodic,
                           .forces = has_forces};
}

/* ---- Lists ----------------------------------------------------------------------------------- */

/* Each pair for both of its particles, by place. */
typedef struct lists {
    int32_t *first, *partner;
    float (*numbers)[4];
} lists;

static void fill(const energy_problem *p, lists *l)
{
    const ley_particles_arrays *a = &p->arrays;
    const bool has_lj = p->options.lennard_jones != LEY_LENNARD_JONES_NONE,
               has_coulomb = p->options.coulomb != LEY_COULOMB_NONE;
    for (int64_t k = 0; k < 2 * a->pairs_14; k++)
        l->first[p->place[a->pair_14[k / 2][k % 2]] + 2]++;
    for (size_t i = 2; i < p->padded + 2; i++)
        l->first[i] += l->first[i - 1];
    for (int64_t k = 0; k < 2 * a->pairs_14; k++) {
        const int32_t at = l->first[p->place[a->pair_14[k / 2][k % 2]] + 1]++;
        l->partner[at] = p->place[a->pair_14[k / 2][1 - k % 2]];
        l->numbers[at][0] = has_lj ? (float)a->pair_14_a[k / 2] : 0;
        l->numbers[at][1] = has_lj ? (float)a->pair_14_b[k / 2] : 0;
        l->numbers[at][2] = has_coulomb ? (float)(p->coulomb * a->pair_14_charges[k / 2]) : 0;
    }
}

static ley_status upload(pairs_14 *own, energy_part *part, ley_error *error)
{
    const energy_problem *p = part->problem;
    const size_t count = 2 * (size_t)p->arrays.pairs_14 + 1;
    lists l = {calloc(p->padded + 2, sizeof *l.first), calloc(count, sizeof *l.partner),
               calloc(count, sizeof *l.numbers)};
    ley_status status = LEY_OK;
    if (l.first == NULL || l.partner == NULL || l.numbers == NULL)
        status = ley_fail_memory(error, count * 20, "pairs 1-4");
    if (status == LEY_OK) {
        fill(p, &l);
        status = arena_upload(&part->arena, l.first, (p->padded + 1) * sizeof *l.first, &own->first.buffer, error);
    }
    if (status == LEY_OK)
        status = arena_upload(&part->arena, l.partner, count * sizeof *l.partner, &own->partner.buffer, error);
    if (status == LEY_OK)
        status = arena_upload(&part->arena, l.numbers, count * sizeof *l.numbers, &own->numbers.buffer, error);
    free(l.first);
    free(l.partner);
    free(l.numbers);
    return status;
}

/* ---- The module ------------------------------------------------------------------------------ */

static bool are_wanted(const energy_problem *p, bool is_periodic)
{
    (void)is_periodic;
    return p->arrays.pairs_14 > 0 &&
           (p->options.lennard_jones != LEY_LENNARD_JONES_NONE || p->options.coulomb != LEY_COULOMB_NONE);
}

static ley_status create(energy_part *part, command_sequence *w, void **own, ley_error *error)
{
    const pairs_14_spec spec = spec_of(part->is_periodic, part->problem->options.forces);
    pairs_14 *p = *own = calloc(1, sizeof *p);
    (void)w;
    if (p == NULL)
        return ley_fail_memory(error, sizeof *p, "pairs 1-4");
    const ley_status status = kernel_create(part->arena.device, &pairs_14_kind, &spec, NULL, NULL, &p->kernel, error);
    return status == LEY_OK ? upload(p, part, error) : status;
}

static void launch_kernel(const pairs_14 *own, const dev_kernel *kernel, energy_part *part, energy_batch *b)
{
    static const double pair_s = 2e-9;
    const energy_problem *p = part->problem;
    const size_t items = kernel->group_size[0];
    sequence_launch(&b->sequence, kernel, (const size_t[3]){(p->padded + items - 1) / items, (size_t)b->frames, 1},
                    KERNEL_ARGUMENTS(pairs_14, .gm_position = b->position,
                                     .gm_cell = part->is_periodic ? b->cell : b->position, .gm_first = own->first,
                                     .gm_partner = own->partner, .gm_numbers = own->numbers,
                                     .padded = (int32_t)p->padded, .gm_energy = b->energy,
                                     .gm_force = b->force.buffer != NULL ? b->force : b->position),
                    pair_s * (double)p->arrays.pairs_14 * b->frames);
}

static void launch(energy_part *part, void *own, energy_batch *b)
{
    const pairs_14 *p = own;
    launch_kernel(p, &p->kernel, part, b);
}

static void destroy(energy_part *part, void *own)
{
    pairs_14 *p = own;
    (void)part;
    if (p != NULL)
        kernel_destroy(&p->kernel);
    free(p);
}

const energy_module energy_pairs_14 = {
    .name = "pairs 1-4", .wanted = are_wanted, .create = create, .launch = launch, .destroy = destroy};

/* ---- The kind -------------------------------------------------------------------------------- */

/* Particles that have no other pairs. */
static ley_status test(const dev_kernel *built, void *context, ley_error *error)
{
    static const ley_energy_term terms[] = {LEY_ENERGY_LENNARD_JONES_14, LEY_ENERGY_COULOMB_14};
    const pairs_14_spec *s = (const pairs_14_spec *)built->spec;
    ley_energy_options o;
    energy_trial t;
    pairs_14 own = {.kernel = {.program = NULL}};
    (void)context;
    ley_energy_options_default(&o);
    o.forces = s->forces != 0;
    ley_status status = energy_trial_begin(&t, built->device, &o, s->periodic != 0, error);
    if (status == LEY_OK)
        status = upload(&own, &t.part, error);
    if (status == LEY_OK) {
        launch_kernel(&own, built, &t.part, energy_trial_batch(&t));
        status = energy_trial_judge(&t, terms, 2, error);
    }
    energy_trial_end(&t);
    return status;
}

static void group_of(const dev_info *info, const void *spec, size_t size[3])
{
    (void)spec;
    size[0] = info->device_class == DEV_CPU ? 16 : 64;
    size[0] = info->max_work_group > 0 && info->max_work_group < size[0] ? info->max_work_group : size[0];
    size[1] = size[2] = 1;
}

static void all(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    static const char *const names[] = {"pairs_14-open", "pairs_14-open-forces", "pairs_14-periodic",
                                        "pairs_14-periodic-forces"};
    (void)info;
    for (int i = 0; i < (depth == KERNEL_FEW ? 1 : 4); i++) {
        const pairs_14_spec spec = spec_of(i >= 2, i % 2 == 1);
        visit(context, names[i], &spec);
    }
}

KERNEL_DESCRIBE_ARGUMENTS(pairs_14, LEY_PAIRS_14_ARGUMENTS)
const kernel_kind pairs_14_kind = {KERNEL_DESCRIPTION(pairs_14, LEY_PAIRS_14_KEYS, pairs_14), .group = group_of,
                                   .specs = all, .test = test};
