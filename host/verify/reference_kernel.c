#include "verify/reference_kernel.h"

#include "engine/command_sequence.h"
#include "engine/specifications.h"
#include "error.h"
#include "spec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Work-items that share a point, of a GPU; of a CPU one has it alone. */
enum { GPU_GROUP = 128 };

/* Pairs in a launch: at most some tenths of a second where double precision is slow. */
static const double gpu_launch_pairs = 2e8, cpu_launch_pairs = 5e7;

/* Work-groups in a launch: what any device takes. */
enum { MOST_POINTS = 32768 };

/* ---- The atoms on the device ----------------------------------------------------------------- */

static ley_status upload(reference_kernel *k, const void *bytes, size_t size, dev_buffer **buffer, ley_error *error)
{
    const dev_info *info = k->device->info;
    if (info->max_allocation_bytes > 0 && size > info->max_allocation_bytes)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "%s: verification needs %zu bytes, more than its largest buffer",
                        info->name, size);
    return arena_upload(&k->arena, bytes, size, buffer, error);
}

/* {x, y, z, q} of each atom; {R, eps} where terms have them. */
static ley_status upload_atoms(reference_kernel *k, ley_error *error)
{
    const reference_terms *t = k->terms;
    const size_t n = ley_atoms_count(t->atoms);
    const double *position_A = ley_atoms_positions_A(t->atoms), *charge_e = ley_atoms_charges_e(t->atoms);
    double(*atoms)[4] = malloc(n * sizeof *atoms), (*more)[2] = calloc(n, sizeof *more);
    bool has_more = false;
    ley_status status =
        atoms == NULL || more == NULL ? ley_fail_memory(error, n * sizeof *atoms, "the verification") : LEY_OK;
    for (size_t i = 0; i < n && status == LEY_OK; i++) {
        memcpy(atoms[i], position_A + 3 * i, 3 * sizeof(double));
        atoms[i][3] = charge_e[i];
        has_more = t->law->more != NULL && t->law->more(t, i, more[i]);
    }
    if (status == LEY_OK)
        status = upload(k, atoms, n * sizeof *atoms, &k->atoms.buffer, error);
    if (status == LEY_OK)
        status = upload(k, more, (has_more ? n : 1) * sizeof *more, &k->more.buffer, error);
    free(atoms);
    free(more);
    return status;
}

static ley_status load(reference_kernel *k, ley_error *error)
{
    double axes[6][4] = {{0}};
    k->arena.device = k->device;
    if (k->terms->law->axes != NULL && !k->terms->law->axes(k->terms, axes))
        return ley_fail(error, LEY_ERROR_INPUT, "the cell has no volume");
    ley_status status = upload(k, axes, sizeof axes, &k->cell.buffer, error);
    return status == LEY_OK ? upload_atoms(k, error) : status;
}

/* ---- A run ----------------------------------------------------------------------------------- */

typedef struct reference_run {
    const reference_kernel *kernel;
    buffer_of_atom points;
    results sums;
    arena arena; /* beside the atoms */
    flight flight;
    command_sequence command_sequence;
    size_t n;
    int64_t batch; /* atoms in a launch */
} reference_run;

static void launch_batch(reference_run *run, size_t i)
{
    const reference_kernel *k = run->kernel;
    const reference_terms *t = k->terms;
    const int64_t first = (int64_t)i * run->batch, left = (int64_t)ley_atoms_count(t->atoms) - first;
    const size_t groups[3] = {run->n, 1, 1};
    reference_arguments arguments = {.kind = &reference_kind,
                                     .gm_atoms = k->atoms,
                                     .gm_more = k->more,
                                     .first_atom = (int32_t)first,
                                     .n_atoms = (int32_t)(left < run->batch ? left : run->batch),
                                     .gm_points = run->points,
                                     .gm_cell = k->cell,
                                     .accumulate = i > 0,
                                     .gm_sums = {run->sums.buffer}};
    if (t->law->numbers != NULL)
        t->law->numbers(t, arguments.numbers);
    sequence_launch(&run->command_sequence, &k->kernel, groups, &arguments, 0);
}

static ley_status write_points(reference_run *run, const double (*point_A)[3], ley_error *error)
{
    double(*points)[4] = calloc(run->n, sizeof *points);
    if (points == NULL)
        return ley_fail_memory(error, run->n * sizeof *points, "the verification");
    for (size_t i = 0; i < run->n; i++)
        memcpy(points[i], point_A[i], sizeof point_A[i]);
    sequence_write(&run->command_sequence, run->points.buffer, 0, points, run->n * sizeof *points);
    free(points);
    return LEY_OK;
}

static ley_status sum_all(reference_run *run, const double (*point_A)[3], ley_error *error)
{
    const reference_kernel *k = run->kernel;
    const size_t bytes = run->n * 4 * sizeof(double);
    const int64_t atoms = (int64_t)ley_atoms_count(k->terms->atoms);
    const double pairs = k->device->info->device_class == DEV_CPU ? cpu_launch_pairs : gpu_launch_pairs;
    run->batch = (int64_t)fmin(fmax(pairs / (double)run->n, 1024), (double)atoms);
    ley_status status = arena_buffer(&run->arena, bytes, DEV_READ_ONLY, &run->points.buffer, error);
    if (status == LEY_OK)
        status = arena_results(&run->arena, (int64_t)bytes, &run->sums, error);
    if (status == LEY_OK)
        status = write_points(run, point_A, error);
    if (status != LEY_OK)
        return status;
    sequence_poison(&run->command_sequence, &run->sums, bytes);
    for (int64_t i = 0; i * run->batch < atoms; i++)
        launch_batch(run, (size_t)i);
    sequence_read(&run->command_sequence, run->sums.buffer, 0, run->sums.staging, bytes);
    return sequence_finish(&run->command_sequence, error);
}

static ley_status run_some(const reference_kernel *k, size_t n, const double (*point_A)[3],
                           const atomic_bool *cancelled, reference_value *sums, ley_error *error)
{
    const double constant = k->terms->constant;
    reference_run run = {.kernel = k, .arena = {.device = k->device}, .flight = {.device = k->device}, .n = n};
    sequence_begin(&run.command_sequence, &run.flight, cancelled);
    ley_status status = sum_all(&run, point_A, error);
    for (size_t i = 0; i < n && status == LEY_OK; i++) {
        const double *sum = (const double *)run.sums.staging->bytes + 4 * i;
        sums[i] = (reference_value){constant * sum[0], fabs(constant) * reference_scale(k->terms, sum[0], sum[1]),
                                    constant * sum[constant < 0 ? 3 : 2], constant * sum[constant < 0 ? 2 : 3]};
    }
    sequence_end(&run.command_sequence);
    arena_clear(&run.arena);
    return status;
}

ley_status reference_kernel_run(const reference_kernel *k, size_t n, const double (*point_A)[3],
                                const atomic_bool *cancelled, reference_value *sums, ley_error *error)
{
    ley_status status = LEY_OK;
    for (size_t first = 0; first < n && status == LEY_OK; first += MOST_POINTS)
        status = run_some(k, n - first < MOST_POINTS ? n - first : MOST_POINTS, point_A + first, cancelled,
                          sums + first, error);
    return status;
}

/* ---- Built and tested ------------------------------------------------------------------------ */

enum { TRIAL_ATOMS = 300, TRIAL_POINTS = 5 };

struct reference_trial {
    reference_terms terms;
    ley_atoms *atoms;
    ley_short_range range;
    double depth_kcal_mol[TRIAL_ATOMS];
    bool has_images, has_formula; /* of the user's own, that is */
};

ley_status reference_trial_create(const reference_terms *terms, reference_trial **trial, ley_error *error)
{
    const size_t count = ley_atoms_count(terms->atoms), n = count < TRIAL_ATOMS ? count : TRIAL_ATOMS;
    reference_trial *t = calloc(1, sizeof *t);
    if (t == NULL)
        return ley_fail_memory(error, sizeof *t, "the verification");
    t->terms = (reference_terms){.law = terms->law,
                                 .constant = terms->constant,
                                 .r_min_A = terms->r_min_A,
                                 .kappa_per_A = terms->kappa_per_A,
                                 .shares = terms->shares,
                                 .largest_A = terms->largest_A};
    t->has_images = terms->images != NULL;
    t->has_formula = terms->formula != NULL;
    if (terms->range != NULL) { /* a user's expression stays behind: no kernel judges it */
        t->range = *terms->range;
        t->range.expression = NULL;
        t->range.numbers = NULL;
        t->range.number_count = 0;
        t->terms.range = &t->range;
        if (t->range.depth_kcal_mol != NULL)
            t->range.depth_kcal_mol = memcpy(t->depth_kcal_mol, t->range.depth_kcal_mol, n * sizeof(double));
    }
    ley_status status = ley_atoms_create(n, ley_atoms_positions_A(terms->atoms), ley_atoms_charges_e(terms->atoms),
                                         ley_atoms_radii_A(terms->atoms), &t->atoms, error);
    t->terms.atoms = t->atoms;
    if (status != LEY_OK)
        reference_trial_destroy(t);
    else
        *trial = t;
    return status;
}

void reference_trial_destroy(reference_trial *t)
{
    if (t != NULL)
        ley_atoms_destroy(t->atoms);
    free(t);
}

/* The trial's atoms and points among them, on the device and on the host. */
static ley_status test_built(const dev_kernel *built, void *context, ley_error *error)
{
    const reference_trial *t = context;
    const size_t n = ley_atoms_count(t->atoms);
    double point_A[TRIAL_POINTS][3];
    reference_value sums[TRIAL_POINTS];
    reference_kernel trial = {.device = built->device, .terms = &t->terms, .kernel = *built};
    for (size_t i = 0; i < TRIAL_POINTS; i++)
        for (int axis = 0; axis < 3; axis++)
            point_A[i][axis] = ley_atoms_positions_A(t->atoms)[3 * (i * n / TRIAL_POINTS) + (size_t)axis] +
                               0.7 * (axis + 1) - 0.3 * (double)i;
    ley_status status = load(&trial, error);
    if (status == LEY_OK)
        status = reference_kernel_run(&trial, TRIAL_POINTS, (const double(*)[3])point_A, NULL, sums, error);
    for (size_t i = 0; i < TRIAL_POINTS && status == LEY_OK; i++) {
        const reference_value right = reference_sum(&t->terms, point_A[i]);
        if (!reference_agrees(&sums[i], &right))
            status = ley_fail(error, LEY_ERROR_WRONG_RESULT,
                              "%s: a double-precision sum of %zu atoms is %.17g, the host's is %.17g",
                              built->device->info->name, n, sums[i].value, right.value);
    }
    trial.kernel.program = NULL; /* the caller's */
    reference_kernel_destroy(&trial);
    return status;
}

/* As LEY_REFERENCE_KEYS. */
typedef struct reference_spec {
    LEY_REFERENCE_KEYS(KERNEL_KEY_FIELD)
} reference_spec;

static reference_spec spec_of(const dev_info *info, const law *l, int pair)
{
    const bool alone = info->device_class == DEV_CPU || info->max_work_group < GPU_GROUP;
    return (reference_spec){.sum = LEY_SPEC_SUM_DOUBLE,
                            .width = 1,
                            .root = LEY_ROOT_STANDARD,
                            .wg = alone ? 1 : GPU_GROUP,
                            .law = l->number,
                            .pair = l->has_pairs ? pair : 0};
}

static void group_of(const dev_info *info, const void *spec, size_t size[3])
{
    const reference_spec *s = spec;
    (void)info;
    size[0] = (size_t)s->wg;
    size[1] = size[2] = 1;
}

/* Four sums of each work-item. */
static size_t local_bytes_of(const dev_info *info, const void *spec)
{
    const reference_spec *s = spec;
    (void)info;
    return 4 * sizeof(double) * (size_t)s->wg;
}

/* Of all laws, and of one of pairs with all functions but a user's. */
static void all_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    (void)depth;
#define NAME_OF_ROW(of, number, NAME, text, ...) text,
    static const char *const pairs[] = {LEY_PAIR_FUNCTIONS(NAME_OF_ROW, 0)};
    for (const law *const *l = law_registry; info->has_double && *l != NULL; l++)
        for (int pair = 0; (*l)->number > 0 && pair < ((*l)->has_pairs ? (int)(sizeof pairs / sizeof *pairs) : 1);
             pair++) {
            const reference_spec spec = spec_of(info, *l, pair);
            char name[KERNEL_NAME];
            snprintf(name, sizeof name, "reference-%s", (*l)->has_pairs ? pairs[pair] : (*l)->name);
            visit(context, name, &spec);
        }
}

KERNEL_DESCRIBE_ARGUMENTS(reference, LEY_REFERENCE_ARGUMENTS)
const kernel_kind reference_kind = {
    KERNEL_DESCRIPTION(reference, LEY_REFERENCE_KEYS, reference),
    .group = group_of,
    .local_bytes = local_bytes_of,
    .test = test_built,
    .specs = all_specs,
};

ley_status reference_kernel_build(dev *device, reference_trial *trial, dev_kernel *built, ley_error *error)
{
    const dev_info *info = device->info;
    const reference_terms *t = &trial->terms;
    const reference_spec spec = spec_of(info, t->law, t->range != NULL ? (int)t->range->pair : 0);
    if (t->law->number == 0)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "%s: sums by the law \"%s\" are for the host to judge", info->name,
                        t->law->name);
    if (trial->has_formula)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "%s: functions of the user's own are for the host to judge",
                        info->name);
    if (trial->has_images)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "%s: sums over all images are for the host to judge", info->name);
    if (!info->has_double)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "%s: no double precision", info->name);
    return kernel_create(device, &reference_kind, &spec, NULL, trial, built, error);
}

ley_status reference_kernel_create(const dev_kernel *built, const reference_terms *terms, reference_kernel *k,
                                   ley_error *error)
{
    *k = (reference_kernel){.device = built->device, .terms = terms, .kernel = *built};
    ley_status status = load(k, error);
    if (status != LEY_OK)
        reference_kernel_destroy(k);
    return status;
}

void reference_kernel_destroy(reference_kernel *k)
{
    arena_clear(&k->arena);
    kernel_destroy(&k->kernel);
    *k = (reference_kernel){.device = k->device};
}
