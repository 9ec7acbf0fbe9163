#include "average/spread_kernel.h"

#include "average/host_spread.h"
#include "error.h"
#include "verify/self_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* As LEY_DENSITY_SPREAD_KEYS and LEY_DENSITY_MERGE_KEYS. */
typedef struct spread_spec {
    LEY_DENSITY_SPREAD_KEYS(KERNEL_KEY_FIELD)
} spread_spec;
typedef struct merge_spec {
    LEY_DENSITY_MERGE_KEYS(KERNEL_KEY_FIELD)
} merge_spec;

int spread_exponent(double absolute_charge_e, size_t atoms)
{
    const double most = (absolute_charge_e + 1e-30) * SPREAD_MOST_FRAMES;
    int exponent = 36;
    while (exponent > -20 && ldexp(most, exponent) + (double)atoms * SPREAD_MOST_FRAMES >= 0x1p62)
        exponent--;
    return exponent;
}

/* ---- On a device ----------------------------------------------------------------------------- */

static bool is_alone(const dev_info *info)
{
    return info->device_class == DEV_CPU;
}

static spread_spec spec_of(const dev_info *info, bool alone, int points)
{
    const int square = points * points, wished = points == 8 ? 4 : 8,
              most = info->max_work_group > 0 ? (int)info->max_work_group / square : wished;
    spread_spec s = {.sum = LEY_SPEC_SUM_FLOAT, .width = 1, .root = LEY_ROOT_STANDARD, .window = points};
    if (alone)
        s.width = points <= 4 ? 4 : 8;
    s.wg = alone ? 1 : square * (most < 1 ? 1 : most < wished ? most : wished);
    return s;
}

/* Whether work-items have meshes for themselves. */
static bool has_parts(const spread_spec *s)
{
    return s->width > 1;
}

/* Of cards some 1e11 atomic additions a second are usual. */
static double predict_atom(const dev_info *info, int points)
{
    const double card_node_s = 1e-11, core_row_s = 3e-9;
    return is_alone(info) ? points * points * core_row_s / (info->compute_units < 1 ? 1 : info->compute_units)
                          : points * points * points * card_node_s;
}

/* Floats of a part's mesh. */
static size_t part_floats(const average_mesh *m)
{
    const int points = m->window->points;
    return (size_t)LEY_DENSITY_PITCH(m->n[0]) * (size_t)(m->n[1] + points) * (size_t)(m->n[2] + points);
}

static ley_status upload_window(spreader *s, arena *memory, ley_error *error)
{
    float by_power[WINDOW_MOST_POINTS * LEY_LANES_OF_WINDOW] = {0};
    const int points = s->mesh.window->points;
    for (int i = 0; i < points; i++)
        for (int k = 0; k < points; k++)
            by_power[k * LEY_LANES_OF_WINDOW + i] = (float)s->mesh.window->c[i][k];
    return arena_upload(memory, by_power, sizeof by_power, &s->window.buffer, error);
}

/* A part for each of a processor's cores; cards have none. */
static int parts_of(const dev_info *info)
{
    return !is_alone(info) ? 0 : info->compute_units < 1 ? 1 : info->compute_units;
}

/* As many parts as there is room for, `most` of them. */
static ley_status make_parts(spreader *s, int most, arena *memory, command_sequence *w, ley_error *error)
{
    const double bytes = sizeof(float) * (double)part_floats(&s->mesh);
    s->parts = most;
    while (s->parts > 1 && bytes * s->parts > (double)arena_largest(memory))
        s->parts--;
    const size_t size = s->parts == 0 ? sizeof(float) : (size_t)s->parts * (size_t)bytes;
    ley_status status = arena_check_host(memory, "the meshes of frames", (double)size, "a larger tolerance", error);
    if (status == LEY_OK)
        status = arena_buffer(memory, size, DEV_READ_WRITE, &s->meshes.buffer, error);
    if (status == LEY_OK)
        sequence_fill(w, s->meshes.buffer, 0, 0, size);
    return status;
}

ley_status spreader_create(spreader *made, arena *memory, const average_mesh *mesh, size_t atoms, const float *charge,
                           command_sequence *w, ley_error *error)
{
    dev *device = memory->device;
    const spread_spec spec = spec_of(device->info, is_alone(device->info), mesh->window->points);
    const merge_spec merge = {.sum = spec.sum, .width = 1, .root = spec.root, .window = spec.window};
    *made = (spreader){.mesh = *mesh, .atoms = atoms, .atom_s = predict_atom(device->info, mesh->window->points)};
    ley_status status = kernel_create(device, &density_spread_kind, &spec, NULL, NULL, &made->spread, error);
    if (status == LEY_OK && is_alone(device->info))
        status = kernel_create(device, &density_merge_kind, &merge, NULL, NULL, &made->merge, error);
    if (status == LEY_OK)
        status = upload_window(made, memory, error);
    if (status == LEY_OK)
        status = arena_upload(memory, charge, atoms * sizeof *charge, &made->charges.buffer, error);
    return status == LEY_OK ? make_parts(made, parts_of(device->info), memory, w, error) : status;
}

void spreader_destroy(spreader *s)
{
    kernel_destroy(&s->spread);
    kernel_destroy(&s->merge);
}

/* The kernels given, of which the latter may be none. */
static void launch(const spreader *s, const dev_kernel *spread, const dev_kernel *merge, command_sequence *w,
                   const density_spread_arguments *arguments, int frames)
{
    const spread_spec *spec = (const spread_spec *)spread->spec;
    const size_t at_once = (size_t)(spec->wg / (spec->window * spec->window));
    const double predicted_s = s->atom_s * (double)s->atoms * frames;
    if (s->parts == 0) {
        sequence_launch(w, spread, (const size_t[3]){(s->atoms + at_once - 1) / at_once, (size_t)frames, 1}, arguments,
                        predicted_s);
        return;
    }
    const size_t rows = (size_t)(s->mesh.n[1] * s->mesh.n[2]);
    sequence_launch(w, spread, (const size_t[3]){(size_t)s->parts, 1, 1}, arguments, predicted_s);
    density_merge_arguments m = {
        .kind = &density_merge_kind, .gm_parts = s->meshes, .parts = s->parts, .gm_density = arguments->gm_density};
    memcpy(m.mesh, arguments->mesh, sizeof m.mesh);
    if (merge->program != NULL)
        sequence_launch(w, merge, (const size_t[3]){(rows + merge->group_size[0] - 1) / merge->group_size[0], 1, 1}, &m,
                        predicted_s / 16);
}

void spreader_launch(const spreader *s, command_sequence *w, buffer_of_float positions, buffer_of_float4 cells,
                     int first, int frames, buffer_of_int2 sums)
{
    density_spread_arguments a = {.kind = &density_spread_kind,
                                  .gm_positions = positions,
                                  .gm_charges = s->charges,
                                  .n_atoms = (int32_t)s->atoms,
                                  .gm_cells = cells,
                                  .gm_window = s->window,
                                  .first_frame = first,
                                  .gm_parts = s->meshes,
                                  .gm_density = sums,
                                  .mesh = {0, 0, 0, frames}};
    for (int axis = 0; axis < 3; axis++)
        a.mesh[axis] = (int32_t)s->mesh.n[axis];
    launch(s, &s->spread, &s->merge, w, &a, frames);
}

/* ---- Known answer ---------------------------------------------------------------------------- */

/* Frames of a skewed cell, atoms also many cells away; all but the first one are done. Two
 * work-items that share them have half of one each; the last group of atoms is not whole. */
enum { TRIAL_ATOMS = 701, TRIAL_FRAMES = 4, TRIAL_FIRST = 1, TRIAL_DONE = 3, TRIAL_PARTS = 2 };

typedef struct trial {
    arena arena;
    flight flight;
    command_sequence sequence;
    spreader s;
    float position_A[TRIAL_FRAMES][TRIAL_ATOMS][3], charge[TRIAL_ATOMS + 1], cells[TRIAL_FRAMES][PLACE_FLOATS];
    frame_place places[TRIAL_FRAMES];
    size_t nodes;
    int64_t *right;
    buffer_of_float positions;
    buffer_of_float4 cell_buffer;
    buffer_of_int2 sums;
    dev_staging *back, *meshes;
    size_t meshes_bytes;
} trial;

static const double trial_exponent = 30;

static void put_atoms(trial *t)
{
    uint32_t state = 1723;
    for (int f = 0; f < TRIAL_FRAMES; f++) {
        const double grown = 1 + 0.01 * f, cell_A[9] = {20 * grown, 0, 0, 3, 25 * grown, 0, -4, 2, 17 * grown};
        place_make(cell_A, t->s.mesh.n, (const double[3]){0.3, 0, -0.41}, &t->places[f]);
        place_floats(&t->places[f], t->cells[f]);
        for (int i = 0; i < TRIAL_ATOMS; i++)
            for (int d = 0; d < 3; d++)
                t->position_A[f][i][d] = (float)((60 * self_test_fraction(&state) - 25) * (i % 7 == 3 ? 100 : 1));
    }
    for (int i = 0; i < TRIAL_ATOMS + 1; i++) /* one that is not there */
        t->charge[i] = (float)(ldexp(1, (int)trial_exponent) * (self_test_fraction(&state) - 0.5));
}

static ley_status make_buffers(trial *t, bool alone, ley_error *error)
{
    arena *a = &t->arena;
    const size_t bytes = t->nodes * sizeof(int64_t);
    ley_status status = arena_upload(a, t->position_A, sizeof t->position_A, &t->positions.buffer, error);
    if (status == LEY_OK)
        status = arena_upload(a, t->cells, sizeof t->cells, &t->cell_buffer.buffer, error);
    if (status == LEY_OK)
        status = arena_upload(a, t->charge, sizeof t->charge, &t->s.charges.buffer, error);
    if (status == LEY_OK)
        status = upload_window(&t->s, a, error);
    if (status == LEY_OK)
        status = make_parts(&t->s, alone ? TRIAL_PARTS : 0, a, &t->sequence, error);
    if (status == LEY_OK)
        status = arena_buffer(a, bytes, DEV_READ_WRITE, &t->sums.buffer, error);
    if (status == LEY_OK)
        status = arena_staging(a, bytes, &t->back, error);
    t->meshes_bytes = (size_t)t->s.parts * part_floats(&t->s.mesh) * sizeof(float);
    return status == LEY_OK && t->s.parts > 0 ? arena_staging(a, t->meshes_bytes, &t->meshes, error) : status;
}

/* What work-items have for themselves, added up as density_merge.cl does it. */
static void merge_on_host(const trial *t, int64_t *sums)
{
    const average_mesh *m = &t->s.mesh;
    const int points = m->window->points;
    const int64_t pitch = LEY_DENSITY_PITCH(m->n[0]), rows = m->n[1] + points, planes = m->n[2] + points;
    const float *value = t->meshes->bytes;
    for (int part = 0; part < t->s.parts; part++)
        for (int64_t z = 0; z < planes; z++)
            for (int64_t y = 0; y < rows; y++)
                for (int64_t x = 0; x < m->n[0] + points; x++) {
                    const int64_t back = points / 2 - 1;
                    sums[((z - back + m->n[2]) % m->n[2] * m->n[1] + (y - back + m->n[1]) % m->n[1]) * m->n[0] +
                         (x - back + m->n[0]) % m->n[0]] +=
                        llrintf(value[((part * planes + z) * rows + y) * pitch + x]);
                }
}

/* A node's sum in floats loses a few digits of its largest terms. */
static ley_status judge(const trial *t, const int64_t *found, ley_error *error)
{
    const double allowed = 1e-6 * ldexp(1, (int)trial_exponent);
    for (size_t i = 0; i < t->nodes; i++)
        if (!(fabs((double)(found[i] - t->right[i])) <= allowed))
            return ley_fail(error, LEY_ERROR_WRONG_RESULT, "order %d, node %zu of %zu is %.9g, not %.9g",
                            t->s.mesh.window->points, i, t->nodes, ldexp((double)found[i], -(int)trial_exponent),
                            ldexp((double)t->right[i], -(int)trial_exponent));
    return LEY_OK;
}

static void spread_on_host(trial *t, int first, int frames)
{
    double charge[TRIAL_ATOMS];
    for (int i = 0; i < TRIAL_ATOMS; i++)
        charge[i] = (double)t->charge[i];
    for (int f = first; f < first + frames; f++)
        host_spread_frame(&t->s.mesh, &t->places[f], TRIAL_ATOMS, t->position_A[f][0], charge, t->right);
}

/* Adds frames to what is there already. */
static ley_status run_spread(trial *t, const dev_kernel *built, ley_error *error)
{
    density_spread_arguments a = {.kind = &density_spread_kind,
                                  .gm_positions = t->positions,
                                  .gm_charges = t->s.charges,
                                  .n_atoms = TRIAL_ATOMS,
                                  .gm_cells = t->cell_buffer,
                                  .gm_window = t->s.window,
                                  .first_frame = TRIAL_FIRST,
                                  .gm_parts = t->s.meshes,
                                  .gm_density = t->sums,
                                  .mesh = {0, 0, 0, TRIAL_DONE}};
    for (int axis = 0; axis < 3; axis++)
        a.mesh[axis] = (int32_t)t->s.mesh.n[axis];
    for (size_t i = 0; i < t->nodes; i++)
        t->right[i] = (int64_t)i * 100003 - ((int64_t)1 << 33);
    sequence_write(&t->sequence, t->sums.buffer, 0, t->right, t->nodes * sizeof *t->right);
    launch(&t->s, built, &(dev_kernel){.program = NULL}, &t->sequence, &a, TRIAL_DONE);
    sequence_read(&t->sequence, t->sums.buffer, 0, t->back, t->nodes * sizeof *t->right);
    if (t->s.parts > 0)
        sequence_read(&t->sequence, t->s.meshes.buffer, 0, t->meshes, t->meshes_bytes);
    const ley_status status = sequence_finish(&t->sequence, error);
    if (status != LEY_OK)
        return status;
    if (t->s.parts > 0)
        merge_on_host(t, t->back->bytes);
    spread_on_host(t, TRIAL_FIRST, TRIAL_DONE);
    return judge(t, t->back->bytes, error);
}

/* Random floats, so that each place counts, added up; and all of them must be 0 then. */
static ley_status run_merge(trial *t, const dev_kernel *built, ley_error *error)
{
    uint32_t state = 1931;
    const size_t values = t->meshes_bytes / sizeof(float);
    const average_mesh *m = &t->s.mesh;
    float *value = t->meshes->bytes;
    density_merge_arguments a = {
        .kind = &density_merge_kind, .gm_parts = t->s.meshes, .parts = t->s.parts, .gm_density = t->sums};
    for (int axis = 0; axis < 3; axis++)
        a.mesh[axis] = (int32_t)m->n[axis];
    for (size_t i = 0; i < values; i++)
        value[i] = i % (size_t)LEY_DENSITY_PITCH(m->n[0]) < (size_t)(m->n[0] + m->window->points)
                       ? (float)(1e8 * (self_test_fraction(&state) - 0.4))
                       : 0;
    for (size_t i = 0; i < t->nodes; i++)
        t->right[i] = (int64_t)i * 100003 - ((int64_t)1 << 33);
    sequence_write(&t->sequence, t->sums.buffer, 0, t->right, t->nodes * sizeof *t->right);
    sequence_write(&t->sequence, t->s.meshes.buffer, 0, value, t->meshes_bytes);
    merge_on_host(t, t->right);
    sequence_launch(
        &t->sequence, built,
        (const size_t[3]){((size_t)(m->n[1] * m->n[2]) + built->group_size[0] - 1) / built->group_size[0], 1, 1}, &a,
        0);
    sequence_read(&t->sequence, t->sums.buffer, 0, t->back, t->nodes * sizeof *t->right);
    sequence_read(&t->sequence, t->s.meshes.buffer, 0, t->meshes, t->meshes_bytes);
    ley_status status = sequence_finish(&t->sequence, error);
    for (size_t i = 0; i < values && status == LEY_OK; i++)
        if (value[i] != 0)
            status = ley_fail(error, LEY_ERROR_WRONG_RESULT, "place %zu is %g, not 0, afterwards", i, (double)value[i]);
    return status == LEY_OK ? judge(t, t->back->bytes, error) : status;
}

static ley_status test_with(const dev_kernel *built, int points, bool alone, bool is_merge, ley_error *error)
{
    trial *t = calloc(1, sizeof *t);
    if (t == NULL)
        return ley_fail_memory(error, sizeof *t, "the self-test");
    t->arena = (arena){.device = built->device};
    t->flight = (flight){.device = built->device};
    for (int kind = 0; kind < WINDOW_COUNT; kind++)
        if (!window_get((window_kind)kind)->is_nodal && window_get((window_kind)kind)->points == points)
            t->s.mesh = (average_mesh){.n = {70, 22, 18}, .window = window_get((window_kind)kind)};
    t->s.atoms = TRIAL_ATOMS;
    t->nodes = (size_t)average_mesh_nodes(&t->s.mesh);
    t->right = calloc(t->nodes, sizeof *t->right);
    put_atoms(t);
    sequence_begin(&t->sequence, &t->flight, NULL);
    ley_status status =
        t->right != NULL ? make_buffers(t, alone, error) : ley_fail_memory(error, 8 * t->nodes, "a self-test");
    if (status == LEY_OK && is_merge && t->s.parts == 0) { /* of a device that never needs it */
        t->s.parts = 3;
        arena_free_buffer(&t->arena, &t->s.meshes.buffer);
        const size_t bytes = 3 * part_floats(&t->s.mesh) * sizeof(float);
        status = arena_buffer(&t->arena, bytes, DEV_READ_WRITE, &t->s.meshes.buffer, error);
        if (status == LEY_OK)
            status = arena_staging(&t->arena, t->meshes_bytes = bytes, &t->meshes, error);
    }
    if (status == LEY_OK)
        status = is_merge ? run_merge(t, built, error) : run_spread(t, built, error);
    sequence_end(&t->sequence);
    arena_clear(&t->arena);
    free(t->right);
    free(t);
    return status;
}

static ley_status test_spread(const dev_kernel *built, void *context, ley_error *error)
{
    (void)context;
    const spread_spec *spec = (const spread_spec *)built->spec;
    return test_with(built, spec->window, has_parts(spec), false, error);
}

static ley_status test_merge(const dev_kernel *built, void *context, ley_error *error)
{
    (void)context;
    return test_with(built, ((const merge_spec *)built->spec)->window, is_alone(built->device->info), true, error);
}

/* ---- The kinds ------------------------------------------------------------------------------- */

static void group_of_spread(const dev_info *info, const void *spec, size_t size[3])
{
    const spread_spec *s = spec;
    (void)info;
    size[0] = (size_t)s->wg;
    size[1] = size[2] = 1;
}

static void group_of_merge(const dev_info *info, const void *spec, size_t size[3])
{
    (void)spec;
    size[0] = is_alone(info) ? 16 : 64;
    size[1] = size[2] = 1;
}

static size_t bytes_of_spread(const dev_info *info, const void *spec)
{
    const spread_spec *s = spec;
    (void)info;
    return has_parts(s) ? 0 : (size_t)(s->wg / (s->window * s->window)) * 3 * (size_t)(s->window + 1) * sizeof(float);
}

static void all_spreads(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    static const char *const names[] = {"density_spread-4",       "density_spread-6",       "density_spread-8",
                                        "density_spread-group-4", "density_spread-group-6", "density_spread-group-8"};
    for (int i = 0; i < (is_alone(info) && depth > KERNEL_FEW ? 6 : 3); i++) {
        const spread_spec spec = spec_of(info, is_alone(info) && i < 3, 4 + 2 * (i % 3));
        visit(context, names[i], &spec);
    }
}

static void all_merges(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    static const char *const names[] = {"density_merge-4", "density_merge-6", "density_merge-8"};
    (void)info, (void)depth;
    for (int i = 0; i < 3; i++) {
        const merge_spec spec = {.sum = LEY_SPEC_SUM_FLOAT, .width = 1, .root = LEY_ROOT_STANDARD, .window = 4 + 2 * i};
        visit(context, names[i], &spec);
    }
}

KERNEL_DESCRIBE_ARGUMENTS(density_spread, LEY_DENSITY_SPREAD_ARGUMENTS)
const kernel_kind density_spread_kind = {KERNEL_DESCRIPTION(density_spread, LEY_DENSITY_SPREAD_KEYS, density_spread),
                                         .group = group_of_spread, .local_bytes = bytes_of_spread, .specs = all_spreads,
                                         .test = test_spread};

KERNEL_DESCRIBE_ARGUMENTS(density_merge, LEY_DENSITY_MERGE_ARGUMENTS)
const kernel_kind density_merge_kind = {KERNEL_DESCRIPTION(density_merge, LEY_DENSITY_MERGE_KEYS, density_merge),
                                        .group = group_of_merge, .specs = all_merges, .test = test_merge};
