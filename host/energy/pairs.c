#include "energy/pairs.h"

#include "calibrate.h"
#include "energy/marks.h"
#include "energy/pair_numbers.h"
#include "energy/trial.h"
#include "error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As LEY_PAIR_ENERGIES_KEYS. */
typedef struct pair_spec {
    LEY_PAIR_ENERGIES_KEYS(KERNEL_KEY_FIELD)
} pair_spec;

typedef struct pairs {
    dev_kernel kernel;
    energy_marks marks;
    buffer_of_float table;
    buffer_of_int first, tile, mask;
    pair_numbers numbers;
    double pair_s; /* that the device takes for a pair, to predict launches by */
} pairs;

/* ---- Specifications -------------------------------------------------------------------------- */

enum { GROUP = 64, OWN = 2, MOST_LOCAL_TYPES = 48 };

static bool has_vectors(const dev_info *info)
{
    return info->device_class == DEV_CPU && info->vector_width >= 4;
}

/* For groups, or vectors; `types`: how many there are. */
static pair_spec spec_for(const dev_info *info, bool is_group, int types)
{
    static const int local[] = {8, 16, 24, 32, MOST_LOCAL_TYPES};
    const int width = is_group ? 1 : calibrate_width(info);
    pair_spec s = {.sum = LEY_SPEC_SUM_FLOAT, .width = width, .root = LEY_ROOT_STANDARD, .wg = 1, .ux = 1};
    if (width > 1)
        return s;
    s.ux = OWN;
    for (s.wg = GROUP; info->max_work_group > 0 && s.wg > (int)info->max_work_group;)
        s.wg /= 2;
    for (size_t i = 0; i < sizeof local / sizeof *local && s.local_types == 0; i++)
        if (types <= local[i])
            s.local_types = local[i];
    return s;
}

static void set_options(pair_spec *s, const ley_energy_options *o, bool is_periodic)
{
    s->lennard_jones = (int)o->lennard_jones;
    s->coulomb = (int)o->coulomb;
    s->cut = o->cutoff_A > 0;
    s->periodic = is_periodic;
    s->forces = o->forces;
    s->columns = o->groups > 0;
}

static int block_of(const pair_spec *s)
{
    return s->width > 1 ? s->width : s->wg * s->ux;
}

/* ---- On a device ----------------------------------------------------------------------------- */

/* Of vectors: a and b of each type with the particle at each place. */
static ley_status upload_rows(pairs *p, energy_part *part, ley_error *error)
{
    const energy_problem *o = part->problem;
    const size_t bytes = o->types * 2 * o->padded * sizeof(float);
    float *row = malloc(bytes);
    if (row == NULL)
        return ley_fail_memory(error, bytes, "Lennard-Jones parameters");
    for (size_t t = 0; t < o->types; t++)
        for (size_t i = 0; i < o->padded; i++)
            for (size_t k = 0; k < 2; k++)
                row[(2 * t + k) * o->padded + i] = o->table[t * o->types + (size_t)o->type[i]][k];
    const ley_status status = arena_upload(&part->arena, row, bytes, &p->table.buffer, error);
    free(row);
    return status;
}

static ley_status upload(pairs *p, energy_part *part, const pair_spec *s, ley_error *error)
{
    pair_numbers_make(&part->problem->options, 0, &p->numbers);
    p->table = part->table;
    ley_status status = s->width > 1 ? upload_rows(p, part, error) : LEY_OK;
    if (status == LEY_OK)
        status =
            energy_marks_make(&p->marks, part->problem, block_of(s), s->width > 1 ? 1 : LEY_ENERGY_SUB_TILE, error);
    if (status != LEY_OK)
        return status;
    const energy_marks *m = &p->marks;
    status = arena_upload(&part->arena, m->first, (m->blocks + 1) * sizeof *m->first, &p->first.buffer, error);
    if (status == LEY_OK)
        status = arena_upload(&part->arena, m->tile, (m->count + 1) * sizeof *m->tile, &p->tile.buffer, error);
    return status == LEY_OK ? arena_upload(&part->arena, m->mask, (m->count * m->words + 1) * sizeof *m->mask,
                                           &p->mask.buffer, error)
                            : status;
}

static void launch_kernel(const pairs *p, const dev_kernel *kernel, energy_part *part, energy_batch *b)
{
    const energy_problem *o = part->problem;
    const bool has_parts = b->parts.buffer != NULL, has_force = b->force.buffer != NULL;
    const double count = (double)o->padded * (double)o->count * b->frames;
    pair_energies_arguments a = {.kind = &pair_energies_kind,
                                 .gm_position = b->position,
                                 .gm_cell = part->is_periodic ? b->cell : b->position,
                                 .gm_type = part->type,
                                 .gm_table = p->table,
                                 .gm_first = p->first,
                                 .gm_tile = p->tile,
                                 .gm_mask = p->mask,
                                 .gm_column = has_parts ? part->column_first : part->type,
                                 .n = (int32_t)o->count,
                                 .padded = (int32_t)o->padded,
                                 .types = (int32_t)o->types,
                                 .columns = o->options.groups,
                                 .scale = o->coulomb,
                                 .gm_energy = b->energy,
                                 .gm_parts = has_parts ? b->parts : b->energy,
                                 .gm_force = has_force ? b->force : b->position};
    memcpy(a.numbers, p->numbers.n, sizeof a.numbers);
    memcpy(a.series, p->numbers.series, sizeof a.series);
    sequence_launch(
        &b->sequence, kernel,
        (const size_t[3]){o->padded / (size_t)block_of((const pair_spec *)kernel->spec), (size_t)b->frames, 1}, &a,
        count * p->pair_s);
}

/* About what a pair takes: of processors 8 of their cores' cycles for a vector of them. */
static double predict_pair(const dev_info *info)
{
    const double units = info->compute_units > 0 ? info->compute_units : 1;
    return has_vectors(info) ? 4e-10 / units : info->device_class == DEV_CPU ? 5e-9 / units : 2e-10 / units;
}

/* ---- The module ------------------------------------------------------------------------------ */

static bool are_wanted(const energy_problem *p, bool is_periodic)
{
    return (p->options.lennard_jones != LEY_LENNARD_JONES_NONE || p->options.coulomb != LEY_COULOMB_NONE) &&
           !energy_are_listed(p, is_periodic);
}

static ley_status create(energy_part *part, command_sequence *w, void **own, ley_error *error)
{
    static const double need = CALIBRATE_FINEST;
    dev *device = part->arena.device;
    pair_spec s = spec_for(device->info, !has_vectors(device->info), (int)part->problem->types);
    calibration facts;
    pairs *p = *own = calloc(1, sizeof *p);
    (void)w;
    if (p == NULL)
        return ley_fail_memory(error, sizeof *p, "pairs");
    set_options(&s, &part->problem->options, part->is_periodic);
    p->pair_s = predict_pair(device->info);
    ley_status status = calibrate_get(device, CALIBRATE_ROOTS, &facts, error);
    if (status == LEY_OK) {
        s.root = calibrate_fastest_root(device->info, &facts, s.width, need);
        status = kernel_create(device, &pair_energies_kind, &s, NULL, NULL, &p->kernel, error);
    }
    return status == LEY_OK ? upload(p, part, &s, error) : status;
}

static void launch(energy_part *part, void *own, energy_batch *b)
{
    const pairs *p = own;
    launch_kernel(p, &p->kernel, part, b);
}

static void destroy(energy_part *part, void *own)
{
    pairs *p = own;
    (void)part;
    if (p == NULL)
        return;
    kernel_destroy(&p->kernel);
    energy_marks_destroy(&p->marks);
    free(p);
}

const energy_module energy_pairs = {
    .name = "pairs", .wanted = are_wanted, .create = create, .launch = launch, .destroy = destroy};

/* ---- Sums of groups -------------------------------------------------------------------------- */

static const kernel_dialect plain = {.sum = LEY_SPEC_SUM_FLOAT, .width = 1, .root = LEY_ROOT_STANDARD};

static bool matrix_is_wanted(const energy_problem *p, bool is_periodic)
{
    (void)is_periodic;
    return p->column_first != NULL;
}

static void launch_matrix_kernel(const dev_kernel *kernel, energy_part *part, energy_batch *b)
{
    const size_t columns = (size_t)part->problem->options.groups, items = kernel->group_size[0];
    const double byte_s = 1e-11;
    sequence_launch(&b->sequence, kernel,
                    (const size_t[3]){(columns + items - 1) / items, columns, (size_t)b->frames * LEY_COLUMN_COUNT},
                    KERNEL_ARGUMENTS(group_sums, .gm_parts = b->parts, .gm_column = part->column_first,
                                     .columns = (int32_t)columns, .padded = (int32_t)part->problem->padded,
                                     .gm_matrix = b->matrix),
                    byte_s * 4 * (double)(columns * part->problem->padded) * LEY_COLUMN_COUNT * b->frames);
}

static ley_status matrix_create(energy_part *part, command_sequence *w, void **own, ley_error *error)
{
    dev_kernel *kernel = *own = calloc(1, sizeof *kernel);
    (void)w;
    return kernel != NULL ? kernel_create(part->arena.device, &group_sums_kind, &plain, NULL, NULL, kernel, error)
                          : ley_fail_memory(error, sizeof *kernel, "a kernel");
}

static void matrix_launch(energy_part *part, void *own, energy_batch *b)
{
    launch_matrix_kernel(own, part, b);
}

static void matrix_destroy(energy_part *part, void *own)
{
    (void)part;
    if (own != NULL)
        kernel_destroy(own);
    free(own);
}

const energy_module energy_matrix = {.name = "matrix",
                                     .wanted = matrix_is_wanted,
                                     .create = matrix_create,
                                     .launch = matrix_launch,
                                     .destroy = matrix_destroy};

/* ---- Known answers --------------------------------------------------------------------------- */

static void trial_options(const pair_spec *s, ley_energy_options *o)
{
    energy_trial_options(o, s->lennard_jones, s->coulomb, s->forces != 0);
    if (!s->cut)
        o->cutoff_A = o->switch_A = 0;
    o->groups = s->columns ? ENERGY_TRIAL_GROUPS : 0;
}

static ley_status test_pairs(const dev_kernel *built, void *context, ley_error *error)
{
    const pair_spec *s = (const pair_spec *)built->spec;
    static const ley_energy_term terms[] = {LEY_ENERGY_LENNARD_JONES, LEY_ENERGY_COULOMB};
    ley_energy_options o;
    energy_trial t;
    pairs p = {.pair_s = 0};
    (void)context;
    trial_options(s, &o);
    ley_status status = energy_trial_begin(&t, built->device, &o, s->periodic != 0, error);
    if (status == LEY_OK)
        status = upload(&p, &t.part, s, error);
    if (status == LEY_OK) {
        launch_kernel(&p, built, &t.part, energy_trial_batch(&t));
        status = energy_trial_judge(&t, terms, 2, error);
    }
    energy_marks_destroy(&p.marks);
    energy_trial_end(&t);
    return status;
}

/* ---- The kinds ------------------------------------------------------------------------------- */

static void group_of_pairs(const dev_info *info, const void *spec, size_t size[3])
{
    (void)info;
    size[0] = (size_t)((const pair_spec *)spec)->wg;
    size[1] = size[2] = 1;
}

static size_t bytes_of_pairs(const dev_info *info, const void *spec)
{
    const pair_spec *s = spec;
    (void)info;
    return s->width > 1 ? 0 : (size_t)(s->wg * s->ux) * 20 + 8 * (size_t)(s->local_types * s->local_types + 1);
}

/* Kinds of energies without a cutoff; and with one, or in a cell, with forces, with columns. */
static void all_pairs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    static const struct {
        const char *name;
        int lennard_jones, coulomb, cut, periodic, forces, columns;
    } all[] = {
        {"pair_energies-plain", LEY_LENNARD_JONES_IS_PLAIN, LEY_COULOMB_IS_PLAIN, 0, 0, 0, 0},
        {"pair_energies-forces", LEY_LENNARD_JONES_IS_PLAIN, LEY_COULOMB_IS_PLAIN, 0, 0, 1, 0},
        {"pair_energies-columns", LEY_LENNARD_JONES_IS_PLAIN, LEY_COULOMB_IS_PLAIN, 0, 0, 0, 1},
        {"pair_energies-shifted", LEY_LENNARD_JONES_IS_SHIFTED, LEY_COULOMB_IS_SHIFTED, 1, 0, 1, 0},
        {"pair_energies-field", LEY_LENNARD_JONES_IS_SWITCHED, LEY_COULOMB_IS_REACTION_FIELD, 1, 1, 1, 0},
        {"pair_energies-charmm", LEY_LENNARD_JONES_IS_SWITCHED_CHARMM, LEY_COULOMB_IS_SHIFTED_CHARMM, 1, 0, 1, 0},
        {"pair_energies-vfswitch", LEY_LENNARD_JONES_IS_FORCE_SWITCHED_CHARMM, LEY_COULOMB_IS_NONE, 1, 0, 1, 0},
        {"pair_energies-images", LEY_LENNARD_JONES_IS_PLAIN, LEY_COULOMB_IS_PLAIN, 0, 1, 1, 0},
        {"pair_energies-gromacs", LEY_LENNARD_JONES_IS_FORCE_SWITCHED_GROMACS, LEY_COULOMB_IS_PLAIN, 1, 1, 1, 1}};
    static const kernel_depth least[] = {KERNEL_FEW, KERNEL_MORE, KERNEL_MORE, KERNEL_MORE, KERNEL_MORE,
                                         KERNEL_ALL, KERNEL_ALL,  KERNEL_MORE, KERNEL_MORE};
    char name[KERNEL_NAME];
    for (size_t i = 0; i < 2 * sizeof all / sizeof *all; i++) {
        const size_t k = i / 2;
        const bool is_group = i % 2 == 1; /* of processors, which have vectors otherwise */
        const bool is_needed = k == 0 || k == 2 || k == 8 ? depth > KERNEL_FEW : depth == KERNEL_ALL;
        if (depth < least[k] || (is_group && (!has_vectors(info) || !is_needed)))
            continue;
        pair_spec s = spec_for(info, is_group || !has_vectors(info), k % 3 == 2 ? 1000 : 20);
        s.root = s.width > 1 ? calibrate_likely_root(info) : LEY_ROOT_STANDARD;
        s.lennard_jones = all[k].lennard_jones;
        s.coulomb = all[k].coulomb;
        s.cut = all[k].cut;
        s.periodic = all[k].periodic;
        s.forces = all[k].forces;
        s.columns = all[k].columns;
        snprintf(name, sizeof name, "%s%s", all[k].name, is_group ? "-group" : "");
        visit(context, name, &s);
    }
}

static void group_of_sums(const dev_info *info, const void *spec, size_t size[3])
{
    (void)spec;
    size[0] = has_vectors(info) ? 16 : 64;
    size[1] = size[2] = 1;
}

KERNEL_DESCRIBE_ARGUMENTS(pair_energies, LEY_PAIR_ENERGIES_ARGUMENTS)
const kernel_kind pair_energies_kind = {KERNEL_DESCRIPTION(pair_energies, LEY_PAIR_ENERGIES_KEYS, pair_energies),
                                        .group = group_of_pairs, .local_bytes = bytes_of_pairs, .specs = all_pairs,
                                        .test = test_pairs};

/* Whole numbers, whose sums are exact. */
static ley_status test_sums(const dev_kernel *built, void *context, ley_error *error)
{
    ley_energy_options o;
    energy_trial t;
    (void)context;
    ley_energy_options_default(&o);
    o.groups = ENERGY_TRIAL_GROUPS;
    ley_status status = energy_trial_begin(&t, built->device, &o, false, error);
    if (status == LEY_OK)
        status = energy_trial_parts(&t, error);
    if (status == LEY_OK) {
        launch_matrix_kernel(built, &t.part, energy_trial_batch(&t));
        status = energy_trial_judge_sums(&t, error);
    }
    energy_trial_end(&t);
    return status;
}

KERNEL_DESCRIBE_ARGUMENTS(group_sums, LEY_GROUP_SUMS_ARGUMENTS)
const kernel_kind group_sums_kind = {KERNEL_DESCRIPTION(group_sums, LEY_GROUP_SUMS_KEYS, group_sums),
                                     .group = group_of_sums, .test = test_sums};
