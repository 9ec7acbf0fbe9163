/* Rows of a boundary through the kernels: cut into segments and parts, launched, added up, brought
 * back. A boundary has too few points to fill a large card, so that work-groups share the atoms of
 * a tile of points: each sums a part of them, which also keeps float sums short. */
#include "methods/mdh/run.h"
#include "error.h"
#include "law/reference.h"
#include "methods/mdh/pack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Atoms that a work-group sums at most: keeps float sums short; and at least, for its start to be
 * worth it. */
enum { MOST_PART_ATOMS = 4096, LEAST_PART_ATOMS = 128 };
/* Groups per compute unit that even out how many each gets; sums per point at most. */
enum { GROUPS_A_UNIT = 24, CPU_GROUPS_A_UNIT = 8, MOST_PARTS = 64 };

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* The kernel's segments of rows [first, first + count), and how many work-groups they need. */
static void cut_segments(mdh_run *run)
{
    const mdh_spec *spec = &run->kernel->choice.spec;
    const mdh_problem *problem = run->kernel->problem;
    int64_t begin = 0, values = 0, groups = 0;
    run->segment_count = 0;
    for (int i = 0; i < problem->patch_count; i++) {
        const patch *p = &problem->patches[i];
        const int64_t from = run->first > begin ? run->first : begin, end = begin + p->n_b;
        const int64_t to = run->first + run->count < end ? run->first + run->count : end;
        if (to > from) {
            const int axis = p->face / 2;
            const int64_t vectors = ceil_div(p->n_a, spec->width), columns = ceil_div(vectors, spec->ux);
            run->segments[run->segment_count] = (mdh_segment){
                .axis = axis,
                .plane = (int32_t)(p->face % 2 == 0 ? 0 : problem->frame.n[axis] - 1),
                .first_a = (int32_t)p->first_a,
                .n_a = (int32_t)p->n_a,
                .first_b = (int32_t)(p->first_b + from - begin),
                .n_b = (int32_t)(to - from),
                .pitch = (int32_t)(vectors * spec->width),
                .first_value = (int32_t)values,
                .columns = (int32_t)columns,
                .first_group = (int32_t)groups,
            };
            run->segment_count++;
            values += (to - from) * vectors * spec->width;
            groups += ceil_div(columns * ceil_div(to - from, spec->uy), spec->wg);
        }
        begin = end;
    }
    run->part_values = (int)values;
    run->groups = (size_t)groups;
}

static void cut_list(mdh_run *run)
{
    const mdh_spec *spec = &run->kernel->choice.spec;
    run->part_values = (int)(LEY_COMPONENTS(spec->field) * ceil_div(run->count, spec->width) * spec->width);
    run->groups = (size_t)ceil_div(run->count, mdh_group_points(spec));
}

/* Into how many parts the atoms go, and how many of these a launch sums. */
static void cut_atoms(mdh_run *run)
{
    const mdh_kernel *k = run->kernel;
    const dev_info *info = k->device->info;
    const int n = k->n_atoms > 0 ? k->n_atoms : 1;
    const int most = k->most_part_atoms > 0 ? k->most_part_atoms : MOST_PART_ATOMS;
    const int64_t wanted =
        (int64_t)info->compute_units * (info->device_class == DEV_CPU ? CPU_GROUPS_A_UNIT : GROUPS_A_UNIT);
    int64_t parts = ceil_div(wanted, (int64_t)run->groups);
    const int64_t useful = k->most_part_atoms > 0 ? 3 : ceil_div(n, LEAST_PART_ATOMS);
    parts = parts < useful ? parts : useful;
    parts = parts < MOST_PARTS ? parts : MOST_PARTS;
    if (info->max_groups[1] > 0 && (uint64_t)parts > info->max_groups[1])
        parts = (int64_t)info->max_groups[1];
    const int64_t batches = ceil_div(n, parts * most);
    run->part_atoms = (int)ceil_div(n, batches * parts);
    run->parts = (size_t)ceil_div(ceil_div(n, batches), run->part_atoms);
    run->batch_atoms = run->part_atoms * (int)run->parts;
    run->batches = (size_t)ceil_div(n, run->batch_atoms);
}

static ley_status grow(arena *r, dev_buffer **buffer, size_t *has, size_t bytes, dev_access access, ley_error *error)
{
    if (*has >= bytes)
        return LEY_OK;
    arena_free_buffer(r, buffer);
    *has = 0;
    ley_status status = arena_buffer(r, bytes, access, buffer, error);
    if (status == LEY_OK)
        *has = bytes;
    return status;
}

static size_t value_bytes(const mdh_run *run)
{
    return run->kernel->choice.spec.sum == LEY_SPEC_SUM_DOUBLE ? sizeof(double) : sizeof(float);
}

static size_t list_bytes(const mdh_run *run)
{
    const mdh_spec *spec = &run->kernel->choice.spec;
    return (size_t)mdh_packed_points(spec, run->count) * mdh_placed_bytes(spec);
}

/* Of the buffers: sums, those of parts of the atoms, places. */
static void find_bytes(const mdh_run *run, size_t *sums, size_t *parts, size_t *places)
{
    *sums = (size_t)run->part_values * value_bytes(run);
    *parts = *sums * run->parts * (run->kernel->choice.spec.sum == LEY_SPEC_SUM_COMPENSATED ? 2 : 1);
    *places = run->segment_count > 0 ? sizeof run->segments : list_bytes(run);
}

static void cut(mdh_run *run)
{
    if (run->kernel->problem->patch_count > 0)
        cut_segments(run);
    else
        cut_list(run);
    cut_atoms(run);
}

double mdh_run_bytes(mdh_kernel *kernel, int64_t rows, double *largest)
{
    mdh_run run = {.kernel = kernel, .count = rows};
    size_t sums, parts, places;
    cut(&run);
    find_bytes(&run, &sums, &parts, &places);
    *largest = (double)(parts > places ? parts : places);
    return (double)sums + (double)parts + (double)places;
}

static ley_status make_buffers(mdh_run *run, ley_error *error)
{
    arena *r = &run->kernel->arena;
    size_t sums, parts, places;
    find_bytes(run, &sums, &parts, &places);
    ley_status status = grow(r, &run->places.buffer, &run->place_bytes, places, DEV_READ_ONLY, error);
    if (status == LEY_OK)
        status = grow(r, &run->part_sums.buffer, &run->part_bytes, parts, DEV_READ_WRITE, error);
    if (status != LEY_OK || (run->sums.staging != NULL && run->sums.staging->size >= sums))
        return status;
    arena_free_results(r, &run->sums);
    return arena_results(r, (int64_t)sums, &run->sums, error);
}

static ley_status write_places(mdh_run *run, ley_error *error)
{
    dev_buffer *places = run->places.buffer;
    if (run->segment_count > 0) {
        sequence_write(&run->command_sequence, places, 0, run->segments, sizeof run->segments);
        return LEY_OK;
    }
    const size_t bytes = list_bytes(run);
    void *packed = calloc(1, bytes);
    if (packed == NULL)
        return ley_fail_memory(error, bytes, "packed points");
    mdh_pack_points(&run->kernel->choice.spec, run->kernel->problem, run->first, run->count, packed);
    sequence_write(&run->command_sequence, places, 0, packed, bytes);
    free(packed);
    return LEY_OK;
}

void mdh_launch_sums(command_sequence *w, const mdh_kernel *k, buffer_of_real part_sums, int parts, int part_values,
                     buffer_of_real sums)
{
    const size_t groups[3] = {(size_t)ceil_div(part_values, MDH_SUM_GROUP), 1, 1};
    sequence_launch(w, &k->sums, groups,
                    KERNEL_ARGUMENTS(sum_parts, .gm_parts = part_sums, .n_parts = parts, .part_values = part_values,
                                     .gm_sums = sums),
                    (double)parts * (double)part_values / mdh_kernel_expected_rate(k)); /* less than as many pairs */
}

static void launch_batch(mdh_run *run, size_t i)
{
    const mdh_kernel *k = run->kernel;
    const int first = (int)i * run->batch_atoms, left = k->n_atoms - first;
    const size_t groups[3] = {run->groups, run->parts, 1};
    mdh_arguments a = {.kind = &mdh_kind,
                       .gm_atoms = k->atoms,
                       .first_atom = first,
                       .n_atoms = left < run->batch_atoms ? left : run->batch_atoms,
                       .part_atoms = run->part_atoms,
                       .gm_places = run->places,
                       .n_places = run->segment_count > 0 ? run->segment_count : (int32_t)run->count,
                       .accumulate = i > 0,
                       .gm_parts = run->part_sums,
                       .part_values = run->part_values};
    mdh_step(&k->choice.spec, k->problem, a.step, a.step_low);
    sequence_launch(&run->command_sequence, &k->kernel, groups, &a,
                    (double)a.n_atoms * (double)run->part_values / LEY_COMPONENTS(k->choice.spec.field) /
                        mdh_kernel_expected_rate(k));
}

ley_status mdh_run_begin(mdh_run *run, mdh_kernel *kernel, int64_t first, int64_t count, const atomic_bool *cancelled,
                         ley_error *error)
{
    command_sequence *w = &run->command_sequence;
    run->kernel = kernel;
    run->first = first;
    run->count = count;
    cut(run);
    sequence_begin(w, &kernel->flight, cancelled);
    ley_status status = make_buffers(run, error);
    if (status == LEY_OK)
        status = write_places(run, error);
    if (status != LEY_OK)
        return status;
    const size_t bytes = (size_t)run->part_values * value_bytes(run);
    sequence_fill(w, run->part_sums.buffer, 0, DEV_NO_NUMBERS,
                  run->part_bytes); /* what is left out shall show here, too */
    sequence_poison(w, &run->sums, bytes);
    for (size_t i = 0; i < run->batches; i++)
        launch_batch(run, i);
    mdh_launch_sums(w, kernel, run->part_sums, (int)run->parts, run->part_values, (buffer_of_real){run->sums.buffer});
    sequence_read(w, run->sums.buffer, 0, run->sums.staging, bytes);
    return sequence_status(w, error);
}

static double staged_value(const mdh_run *run, size_t at)
{
    const void *bytes = run->sums.staging->bytes;
    return run->kernel->choice.spec.sum == LEY_SPEC_SUM_DOUBLE ? ((const double *)bytes)[at]
                                                               : (double)((const float *)bytes)[at];
}

/* Whether a value may be infinite there: deep within an atom's radius screened potentials leave a
 * float's range, or a double's. */
static bool may_be_infinite(const mdh_run *run, int64_t value)
{
    const mdh_problem *problem = run->kernel->problem;
    reference_terms terms;
    double point_A[3];
    mdh_problem_terms(problem, &terms);
    ley_boundary_point_A(problem->boundary, value, point_A);
    return !(reference_sum(&terms, point_A).absolute <
             (run->kernel->choice.spec.sum == LEY_SPEC_SUM_DOUBLE ? 1e300 : 1e36));
}

/* Where a run's values go. */
typedef struct mdh_store {
    const mdh_run *run;
    double *values, *field;
    bool found_infinite, is_right;
} mdh_store;

static void store_value(mdh_store *s, size_t at, int64_t to)
{
    s->values[to] = staged_value(s->run, at);
    if (isfinite(s->values[to]) || s->found_infinite)
        return;
    s->found_infinite = true; /* one tells whether the device or the problem is to blame */
    s->is_right = may_be_infinite(s->run, to);
}

/* What is behind the potentials of a list: the field at its i-th point. */
static void store_field(mdh_store *s, size_t i, int64_t to)
{
    const size_t component = (size_t)s->run->part_values / LEY_COMPONENTS(true);
    for (size_t axis = 0; axis < 3; axis++) {
        double *at = s->field + 3 * to + axis;
        *at = staged_value(s->run, (axis + 1) * component + i);
        s->is_right = s->is_right && isfinite(*at);
    }
}

/* Segments end padded to whole vectors, and lie in faces that are larger than they. False: a value
 * is not finite and should be. */
static bool store(const mdh_run *run, double *values, double *field)
{
    const mdh_problem *problem = run->kernel->problem;
    mdh_store s = {run, values, field, false, true};
    for (int64_t i = 0; run->segment_count == 0 && i < run->count; i++) {
        store_value(&s, (size_t)i, problem->order[run->first + i]);
        if (run->kernel->choice.spec.field)
            store_field(&s, (size_t)i, problem->order[run->first + i]);
    }
    int which = -1;
    int64_t begin = 0;
    for (int i = 0; i < problem->patch_count; begin += problem->patches[i++].n_b) {
        const patch *p = &problem->patches[i];
        int a, b;
        if (run->first >= begin + p->n_b || run->first + run->count <= begin)
            continue;
        boundary_face_axes(p->face, &a, &b);
        const mdh_segment *g = &run->segments[++which];
        for (int64_t row = 0; row < g->n_b; row++)
            for (int64_t column = 0; column < g->n_a; column++)
                store_value(&s, (size_t)(g->first_value + row * g->pitch + column),
                            problem->boundary->face[p->face] + (g->first_b + row) * problem->frame.n[a] + g->first_a +
                                column);
    }
    return s.is_right;
}

ley_status mdh_run_finish(mdh_run *run, double *values, double *field, ley_error *error)
{
    ley_status status = sequence_finish(&run->command_sequence, error);
    if (status == LEY_OK && !store(run, values, field))
        status = sequence_no_number(error);
    return status;
}

void mdh_run_end(mdh_run *run)
{
    sequence_end(&run->command_sequence);
    if (run->kernel == NULL)
        return;
    arena_free_buffer(&run->kernel->arena, &run->places.buffer);
    arena_free_buffer(&run->kernel->arena, &run->part_sums.buffer);
    arena_free_results(&run->kernel->arena, &run->sums);
    *run = (mdh_run){.kernel = NULL};
}
