#include "ions/device_map.h"

#include "calibrate.h"
#include "engine/command_sequence.h"
#include "error.h"
#include "memory/arena.h"
#include "memory/upload.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Kernels --------------------------------------------------------------------------------- */

static const kernel_dialect plain = {.sum = LEY_SPEC_SUM_FLOAT, .width = 1, .root = LEY_ROOT_STANDARD};

bool ions_has_vectors(const dev_info *info)
{
    return info->device_class == DEV_CPU && info->vector_width >= 4;
}

/* Whole vectors of a row. */
ions_bricks_spec ions_spec_for(const dev_info *info, bool is_periodic, bool is_square)
{
    const int most = ions_has_vectors(info) ? calibrate_width(info) : 1, width = most > LEY_BRICK ? LEY_BRICK : most;
    return (ions_bricks_spec){.sum = LEY_SPEC_SUM_FLOAT,
                              .width = width,
                              .root = width > 1 ? LEY_ROOT_RECIPROCAL : LEY_ROOT_STANDARD,
                              .periodic = is_periodic,
                              .square = is_square};
}

/* ---- The map --------------------------------------------------------------------------------- */

enum { FEW_FOUND = 255 }; /* that come back at once */

struct device_map {
    ions_map map;
    dev *device;
    dev_kernel mask, bricks, nodes;
    bool is_lent; /* the kernels are the caller's */
    int parts;    /* of a brick, each with a record */
    arena arena;
    flight flight;
    command_sequence work;
    dev_buffer *phi, *table, *list; /* the latter: all effects, and behind them the bricks at hand */
    results records, found;
    char *message; /* for the list */
    size_t effect_room, effects_sent, found_room;
};

static const char *const needed = "the grid of ions";

ions_map *device_map_get(device_map *m)
{
    return &m->map;
}

void device_map_destroy(device_map *m)
{
    if (m == NULL)
        return;
    sequence_end(&m->work);
    arena_clear(&m->arena);
    free(m->message);
    if (!m->is_lent) {
        kernel_destroy(&m->nodes);
        kernel_destroy(&m->bricks);
        kernel_destroy(&m->mask);
    }
    free(m);
}

static void set_grid(const ions_grid *g, value_of_int4 grid, value_of_int4 bricks)
{
    for (int axis = 0; axis < 3; axis++) {
        grid[axis] = (int32_t)g->n[axis];
        bricks[axis] = (int32_t)g->bricks[axis];
    }
    grid[3] = bricks[3] = 0;
}

static void set_metric(const ions_grid *g, double radius, value_of_sixteen metric)
{
    memset(metric, 0, sizeof(value_of_sixteen));
    metric[0] = g->metric[1][1];
    metric[1] = g->metric[2][2];
    metric[2] = 2 * g->metric[0][1];
    metric[3] = 2 * g->metric[0][2];
    metric[4] = 2 * g->metric[1][2];
    metric[5] = radius * radius;
}

/* Groups that one launch may have; in self-tests so few that there are several launches. */
static size_t most_groups(const device_map *m)
{
    const size_t most = m->device->info->max_groups[0];
    if (m->is_lent)
        return 2;
    return most > 0 && most < (1 << 24) ? most : 1 << 24;
}

static ley_status begin(device_map *m, const float *bricks, const float *table, ley_error *error)
{
    const ions_grid *g = m->map.grid;
    const size_t n = (size_t)g->brick_count, bytes = n * BRICK_NODES * sizeof(float);
    const size_t table_bytes = (size_t)ley_grid_points(&g->grid) * sizeof(float);
    ley_status status = arena_check_host(&m->arena, needed, (double)bytes, "a larger spacing", error);
    if (status == LEY_OK)
        status = arena_buffer(&m->arena, bytes, DEV_READ_WRITE, &m->phi, error);
    if (status == LEY_OK)
        status = upload_bytes(m->device, m->phi, 0, bricks, bytes, error);
    if (status == LEY_OK)
        status = table != NULL ? arena_upload(&m->arena, table, table_bytes, &m->table, error)
                               : arena_buffer(&m->arena, sizeof(float), DEV_READ_ONLY, &m->table, error);
    if (m->bricks.kind != NULL) {
        ions_bricks_spec spec;
        memcpy(&spec, m->bricks.spec, sizeof spec);
        m->parts = LEY_BRICK_PARTS(spec.width);
    }
    const size_t records = n * (size_t)m->parts;
    return status == LEY_OK ? arena_results(&m->arena, (int64_t)(records * sizeof(ions_record)), &m->records, error)
                            : status;
}

static ley_status mask(ions_map *map, const ions_spheres *spheres, ley_error *error);
static ley_status update(ions_map *map, const ions_effect *effects, size_t n, const ions_work *work,
                         ions_record *records, ley_error *error);
static ley_status list(ions_map *map, size_t n, const int32_t *bricks, const ions_query *query, ions_found *found,
                       size_t *total, ley_error *error);

static device_map *new_map(dev *device, const ions_grid *g, const float *bricks, const float *table)
{
    device_map *m = calloc(1, sizeof *m);
    if (m == NULL)
        return NULL;
    m->device = m->arena.device = m->flight.device = device;
    m->parts = 1;
    m->map = (ions_map){.name = device->info->name,
                        .grid = g,
                        .before = bricks,
                        .table = table,
                        .mask = mask,
                        .update = update,
                        .list = list};
    return m;
}

ley_status device_map_create(dev *device, const ions_grid *g, const float *bricks, const float *table,
                             device_map **made, ley_error *error)
{
    device_map *m = new_map(device, g, bricks, table);
    if (m == NULL)
        return ley_fail_memory(error, sizeof *m, needed);
    const ions_bricks_spec spec = ions_spec_for(device->info, g->is_periodic, g->is_square);
    ley_status status = kernel_create(device, &ions_mask_kind, &plain, NULL, NULL, &m->mask, error);
    if (status == LEY_OK)
        status = kernel_create(device, &ions_bricks_kind, &spec, NULL, NULL, &m->bricks, error);
    if (status == LEY_OK)
        status = kernel_create(device, &ions_nodes_kind, &plain, NULL, NULL, &m->nodes, error);
    if (status == LEY_OK)
        status = begin(m, bricks, table, error);
    if (status == LEY_OK)
        *made = m;
    else
        device_map_destroy(m);
    return status;
}

ley_status device_map_try(const dev_kernel *kernel, const ions_grid *g, const float *bricks, const float *table,
                          device_map **made, ley_error *error)
{
    device_map *m = new_map(kernel->device, g, bricks, table);
    if (m == NULL)
        return ley_fail_memory(error, sizeof *m, needed);
    m->is_lent = true;
    *(kernel->kind == &ions_mask_kind ? &m->mask : kernel->kind == &ions_nodes_kind ? &m->nodes : &m->bricks) = *kernel;
    const ley_status status = begin(m, bricks, table, error);
    if (status == LEY_OK)
        *made = m;
    else
        device_map_destroy(m);
    return status;
}

ley_status device_map_read(device_map *m, float *bricks, ley_error *error)
{
    const size_t bytes = (size_t)m->map.grid->brick_count * BRICK_NODES * sizeof *bricks;
    dev_staging *staging;
    ley_status status = arena_staging(&m->arena, bytes, &staging, error);
    if (status != LEY_OK)
        return status;
    sequence_begin(&m->work, &m->flight, NULL);
    sequence_read(&m->work, m->phi, 0, staging, bytes);
    status = sequence_finish(&m->work, error);
    if (status == LEY_OK)
        memcpy(bricks, staging->bytes, bytes);
    return status;
}

/* ---- What it does ---------------------------------------------------------------------------- */

/* Which bins a row of a brick takes atoms from, as ions_mask.cl has it. */
static void set_box(const ions_grid *g, const ions_spheres *s, value_of_sixteen box)
{
    const bins *b = s->bins;
    for (int axis = 0; axis < 3; axis++) {
        const double row_A = (BRICK - 1) * g->grid.step_A[0][axis], rounding = 0.01 + 1e-6 * (double)b->count[axis];
        for (int i = 0; i < 3; i++)
            box[3 * axis + i] = g->grid.step_A[i][axis] / b->edge_A;
        box[9 + axis] = (fmin(0, row_A) - s->from_A - b->low_A[axis]) / b->edge_A - rounding;
        box[12 + axis] = (fmax(0, row_A) + s->from_A - b->low_A[axis]) / b->edge_A + rounding;
    }
    box[15] = 0;
}

static ley_status mask(ions_map *map, const ions_spheres *spheres, ley_error *error)
{
    const bins *b = spheres->bins;
    const size_t n = (size_t)map->grid->brick_count, count = (size_t)(b->count[0] * b->count[1] * b->count[2]);
    device_map *m = (device_map *)map;
    value_of_int4 grid;
    dev_buffer *atoms = NULL, *first = NULL;
    if (b->n == 0)
        return LEY_OK;
    ley_status status = arena_upload(&m->arena, spheres->in_nodes, b->n * sizeof *spheres->in_nodes, &atoms, error);
    if (status == LEY_OK)
        status = arena_upload(&m->arena, b->first, (count + 1) * sizeof *b->first, &first, error);
    sequence_begin(&m->work, &m->flight, NULL);
    for (size_t at = 0; at < n && status == LEY_OK; at += most_groups(m)) {
        const size_t groups = n - at < most_groups(m) ? n - at : most_groups(m);
        ions_mask_arguments a = {.kind = &ions_mask_kind,
                                 .gm_atoms = {atoms},
                                 .gm_first = {first},
                                 .first_brick = (int32_t)at,
                                 .bins = {(int32_t)b->count[0], (int32_t)b->count[1], (int32_t)b->count[2], 0},
                                 .gm_phi = {m->phi}};
        set_grid(map->grid, grid, a.bricks);
        set_box(map->grid, spheres, a.box);
        set_metric(map->grid, spheres->radius, a.metric);
        sequence_launch(&m->work, &m->mask, (const size_t[3]){groups, 1, 1}, &a, 0);
    }
    const ley_status finished = sequence_finish(&m->work, status == LEY_OK ? error : NULL);
    arena_free_buffer(&m->arena, &atoms);
    arena_free_buffer(&m->arena, &first);
    return status == LEY_OK ? finished : status;
}

/* All effects up to `count`, or those that are there already, are on the device then, and behind
 * them the bricks: what is new goes by one copy. *first: of the bricks, as kernels count them. */
static ley_status send_list(device_map *m, const ions_effect *effects, size_t count, size_t n, const ions_work *work,
                            int32_t *first, ley_error *error)
{
    const size_t all = (size_t)m->map.grid->brick_count * sizeof *work;
    if (m->list == NULL || count > m->effect_room) {
        const size_t room = 2 * count + 64, bytes = room * sizeof *effects + all;
        char *message = realloc(m->message, bytes);
        if (message == NULL)
            return ley_fail_memory(error, bytes, needed);
        m->message = message;
        arena_free_buffer(&m->arena, &m->list);
        m->effect_room = room;
        m->effects_sent = 0;
        const ley_status status = arena_buffer(&m->arena, bytes, DEV_READ_ONLY, &m->list, error);
        if (status != LEY_OK)
            return status;
    }
    const size_t from = m->effects_sent, behind = count > from ? count : from,
                 bytes = (behind - from) * sizeof *effects;
    if (bytes > 0)
        memcpy(m->message, effects + from, bytes);
    memcpy(m->message + bytes, work, n * sizeof *work);
    sequence_write(&m->work, m->list, from * sizeof *effects, m->message, bytes + n * sizeof *work);
    m->effects_sent = behind;
    *first = (int32_t)(behind * (sizeof *effects / sizeof *work));
    return LEY_OK;
}

/* Of a brick's parts, in the order of their nodes. */
static ions_record whole_record(const ions_record *parts, int count)
{
    ions_record r = parts[0];
    for (int i = 1; i < count; i++) {
        const ions_record *p = &parts[i];
        r.next_least = fminf(fminf(r.next_least, p->next_least), fmaxf(r.least, p->least));
        r.next_most = fmaxf(fmaxf(r.next_most, p->next_most), fminf(r.most, p->most));
        r.at_least = p->least < r.least ? p->at_least : r.at_least;
        r.at_most = p->most > r.most ? p->at_most : r.at_most;
        r.least = fminf(r.least, p->least);
        r.most = fmaxf(r.most, p->most);
        r.count += p->count;
    }
    return r;
}

/* Each update of this process has a tag of its own, whole as a float: records that come back
 * without it are of an earlier one. */
static int32_t next_tag(void)
{
    static atomic_uint updates;
    return (int32_t)(1 + atomic_fetch_add(&updates, 1) % ((1U << 24) - 1));
}

static ley_status update(ions_map *map, const ions_effect *effects, size_t n, const ions_work *work,
                         ions_record *records, ley_error *error)
{
    device_map *m = (device_map *)map;
    const size_t parts = (size_t)m->parts, bytes = n * parts * sizeof *records;
    const int32_t tag = next_tag();
    int32_t last = 0, first_work = 0;
    for (size_t i = 0; i < n; i++)
        last = work[i].last > last ? work[i].last : last;
    sequence_begin(&m->work, &m->flight, NULL);
    const ley_status status = send_list(m, effects, (size_t)last, n, work, &first_work, error);
    const size_t most = most_groups(m) / (m->is_lent ? 1 : parts);
    for (size_t first = 0; first < n; first += most) {
        const size_t count = n - first < most ? n - first : most;
        ions_bricks_arguments a = {.kind = &ions_bricks_kind,
                                   .gm_work = {m->list},
                                   .first_work = first_work + (int32_t)first,
                                   .tag = tag,
                                   .gm_effects = {m->list},
                                   .gm_table = {m->table},
                                   .gm_phi = {m->phi},
                                   .gm_records = {m->records.buffer}};
        set_grid(map->grid, a.grid, a.bricks);
        set_metric(map->grid, 0, a.metric);
        sequence_launch(&m->work, &m->bricks, (const size_t[3]){count * parts, 1, 1}, &a, 0);
    }
    sequence_read(&m->work, m->records.buffer, 0, m->records.staging, bytes);
    if (map->meanwhile != NULL)
        map->meanwhile(map->context);
    const ley_status finished = sequence_finish(&m->work, status == LEY_OK ? error : NULL);
    map->kernels_s += m->work.times.kernel_s;
    if (status != LEY_OK || finished != LEY_OK)
        return status != LEY_OK ? status : finished;
    for (size_t i = 0; i < n; i++) {
        ions_record of_parts[LEY_BRICK_PARTS(1)];
        memcpy(of_parts, (const char *)m->records.staging->bytes + i * parts * sizeof *records,
               parts * sizeof *records);
        for (int part = 0; part < m->parts; part++)
            if (of_parts[part].tag != (float)tag)
                return ley_fail(error, LEY_ERROR_WRONG_RESULT, "a brick has not been brought up to date");
        records[i] = whole_record(of_parts, m->parts);
    }
    return LEY_OK;
}

/* The i-th vector that came back. */
static ions_found found_at(const device_map *m, size_t i)
{
    ions_found found;
    memcpy(&found, (const char *)m->found.staging->bytes + i * sizeof found, sizeof found);
    return found;
}

static ley_status make_found(device_map *m, size_t most, ley_error *error)
{
    if (most <= m->found_room)
        return LEY_OK;
    arena_free_results(&m->arena, &m->found);
    m->found_room = 0;
    const ley_status status = arena_results(&m->arena, (int64_t)((most + 1) * sizeof(ions_found)), &m->found, error);
    m->found_room = status == LEY_OK ? most : 0;
    return status;
}

static ley_status list(ions_map *map, size_t n, const int32_t *bricks, const ions_query *q, ions_found *found,
                       size_t *total, ley_error *error)
{
    device_map *m = (device_map *)map;
    ley_status status = make_found(m, q->most > FEW_FOUND ? q->most : FEW_FOUND, error);
    int32_t first_work = 0;
    ions_work *work = status == LEY_OK ? calloc(n + 1, sizeof *work) : NULL;
    if (status == LEY_OK && work == NULL)
        status = ley_fail_memory(error, n * sizeof *work, needed);
    if (status != LEY_OK)
        return status;
    for (size_t i = 0; i < n; i++)
        work[i].brick = bricks[i];
    sequence_begin(&m->work, &m->flight, NULL);
    status = send_list(m, NULL, 0, n, work, &first_work, error);
    sequence_fill(&m->work, m->found.buffer, 0, 0, sizeof *found);
    const bool has_end = m->is_lent && q->most < FEW_FOUND; /* self-tests see what is written behind the room */
    if (has_end)
        sequence_fill(&m->work, m->found.buffer, (q->most + 1) * sizeof *found, DEV_NO_NUMBERS, sizeof *found);
    for (size_t first = 0; first < n; first += most_groups(m)) {
        const size_t count = n - first < most_groups(m) ? n - first : most_groups(m);
        ions_nodes_arguments a = {
            .kind = &ions_nodes_kind,
            .gm_work = {m->list},
            .first_work = first_work + (int32_t)first,
            .numbers = {(int32_t)q->first, (int32_t)(q->last < INT32_MAX ? q->last : INT32_MAX), (int32_t)q->most, 0},
            .factor = (double)q->sign,
            .limit = (double)q->limit,
            .gm_phi = {m->phi},
            .gm_found = {m->found.buffer}};
        set_grid(map->grid, a.grid, a.bricks);
        sequence_launch(&m->work, &m->nodes, (const size_t[3]){count, 1, 1}, &a, 0);
    }
    sequence_read(&m->work, m->found.buffer, 0, m->found.staging, (FEW_FOUND + 1) * sizeof *found);
    const ley_status finished = sequence_finish(&m->work, status == LEY_OK ? error : NULL);
    free(work);
    if (status != LEY_OK || finished != LEY_OK)
        return status != LEY_OK ? status : finished;
    if (has_end && found_at(m, q->most + 1).brick != -1)
        return ley_fail(error, LEY_ERROR_WRONG_RESULT, "a node is written behind the room for %zu", q->most);
    const int32_t count = found_at(m, 0).brick;
    if (count < 0)
        return sequence_no_number(error);
    *total = (size_t)count;
    const size_t kept = *total < q->most ? *total : q->most;
    if (kept > FEW_FOUND) {
        sequence_begin(&m->work, &m->flight, NULL);
        sequence_read(&m->work, m->found.buffer, 0, m->found.staging, (kept + 1) * sizeof *found);
        status = sequence_finish(&m->work, error);
    }
    for (size_t i = 0; i < kept && status == LEY_OK; i++) {
        found[i] = found_at(m, i + 1);
        if (found[i].brick < 0 || found[i].brick >= map->grid->brick_count || found[i].local < 0 ||
            found[i].local >= BRICK_NODES || isnan(found[i].value))
            status = sequence_no_number(error);
    }
    return status;
}
