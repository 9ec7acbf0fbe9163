#include "target/map.h"
#include "error.h"
#include "leyden.h"
#include "memory.h"
#include "parallel.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Buffers of planes on their way to a store, as many as threads have at a time. */
enum { SPARE_BUFFERS = 8 };

/* So many points of a new map are filled by all cores at once: threads take less time to start. */
static const size_t worth_threads = 1 << 20;

struct ley_map {
    ley_grid grid;
    map_origin origin;
    char *remark;            /* or NULL */
    const ley_atoms *atoms;  /* or NULL */
    const int32_t *elements; /* the atoms', or NULL */
    char what[48];           /* empty: a potential, or a field */
    ley_map *field[3];       /* somebody else's; NULL: none */
    int component;           /* of a field: 1 to 3, along x, y and z; 0: it is of none */
    float *values;           /* NULL: in the store, or nowhere */
    map_store store;
    pthread_mutex_t mutex; /* of stored maps, for: */
    struct {
        float *values;
        size_t count;
    } spare[SPARE_BUFFERS];
    _Atomic(double *) sums; /* of squares, of blocks of rows, of stored maps; or NULL: nobody has given planes back, or
                               these are small */
};

static void fill_unknown(void *context, size_t first, size_t last)
{
    float *values = context;
    for (size_t i = first; i < last; i++)
        values[i] = NAN;
}

void map_set_grid(ley_map *map, const ley_grid *grid)
{
    map->grid = *grid;
}

static ley_status make_one(const ley_grid *grid, ley_map **map, ley_error *error)
{
    const size_t points = (size_t)ley_grid_points(grid);
    ley_map *m = calloc(1, sizeof *m);
    float *values = m != NULL ? memory_in_large_pages((int64_t)(points * sizeof(float))) : NULL;
    if (values == NULL) {
        free(m);
        return ley_fail_memory(error, points * sizeof(float), "the map");
    }
    if (points < worth_threads)
        fill_unknown(values, 0, points);
    else
        parallel_ranges(points, fill_unknown, values);
    m->grid = *grid;
    m->values = values;
    *map = m;
    return LEY_OK;
}

ley_status ley_maps_create(const ley_grid *grid, size_t count, ley_map **maps, ley_error *error)
{
    ley_status status = ley_grid_check(grid, error);
    if (status != LEY_OK)
        return status;
    char what[96];
    const int length =
        count == 1 ? snprintf(what, sizeof what, "a map") : snprintf(what, sizeof what, "%zu maps", count);
    snprintf(what + length, sizeof what - (size_t)length, " of %lld x %lld x %lld points", (long long)grid->n[0],
             (long long)grid->n[1], (long long)grid->n[2]);
    size_t made = 0;
    status = memory_check_one(what, (double)count * (double)ley_grid_points(grid) * sizeof(float),
                              "a coarser spacing, or a smaller box", error);
    for (; made < count && status == LEY_OK; made += status == LEY_OK)
        status = make_one(grid, &maps[made], error);
    while (status != LEY_OK && made > 0) {
        ley_map_destroy(maps[--made]);
        maps[made] = NULL;
    }
    return status;
}

ley_status ley_map_create(const ley_grid *grid, ley_map **map, ley_error *error)
{
    return ley_maps_create(grid, 1, map, error);
}

ley_status ley_map_outline(const ley_grid *grid, ley_map **map, ley_error *error)
{
    const ley_status status = ley_grid_check(grid, error);
    ley_map *m = status == LEY_OK ? calloc(1, sizeof *m) : NULL;
    if (m == NULL)
        return status != LEY_OK ? status : ley_fail_memory(error, sizeof *m, "the map");
    m->grid = *grid;
    *map = m;
    return LEY_OK;
}

ley_status map_create_stored(const ley_grid *grid, const map_store *store, ley_map **map, ley_error *error)
{
    ley_map *m = NULL;
    const ley_status status = ley_map_outline(grid, &m, error);
    if (status != LEY_OK) {
        store->end(store->context);
        return status;
    }
    m->store = *store;
    pthread_mutex_init(&m->mutex, NULL);
    *map = m;
    return LEY_OK;
}

const map_store *map_get_store(const ley_map *map)
{
    return map->store.write != NULL ? &map->store : NULL;
}

void map_set_store(ley_map *map, const map_store *store)
{
    map->store = *store;
}

static void end_store(ley_map *map)
{
    for (int i = 0; i < SPARE_BUFFERS; i++)
        free(map->spare[i].values);
    pthread_mutex_destroy(&map->mutex);
    map->store.end(map->store.context);
}

void ley_map_destroy(ley_map *map)
{
    if (map == NULL)
        return;
    if (map_get_store(map) != NULL)
        end_store(map);
    free(atomic_load(&map->sums));
    free(map->remark);
    free(map->values);
    free(map);
}

const char *ley_map_molecule(const ley_map *map)
{
    return map->origin.molecule;
}

double ley_map_dielectric(const ley_map *map)
{
    return map->origin.dielectric;
}

void map_set_origin(ley_map *map, const map_origin *origin)
{
    map->origin = *origin;
    ley_map_set_units(map, origin->units);
}

const char *ley_map_remark(const ley_map *map)
{
    return map->remark;
}

void map_set_remark(ley_map *map, const char *remark)
{
    free(map->remark);
    map->remark = remark != NULL ? strdup(remark) : NULL;
}

const ley_grid *ley_map_grid(const ley_map *map)
{
    return &map->grid;
}

float *ley_map_values(ley_map *map)
{
    return map->values;
}

const char *ley_map_units(const ley_map *map)
{
    return map->origin.units;
}

void ley_map_set_units(ley_map *map, const char *units)
{
    size_t length = strnlen(units, sizeof map->origin.units - 1);
    while (length > 0 && ((unsigned char)units[length] & 0xc0) == 0x80) /* what follows is the rest of a character */
        length--;
    memmove(map->origin.units, units, length); /* they may be its own */
    map->origin.units[length] = '\0';
}

void ley_map_set_atoms(ley_map *map, const ley_atoms *atoms)
{
    map->atoms = atoms;
    map->elements = NULL;
}

void map_set_what(ley_map *map, const char *what, const ley_atoms *atoms, const int32_t *elements)
{
    snprintf(map->what, sizeof map->what, "%s", what);
    map->atoms = atoms;
    map->elements = elements;
}

const char *map_what(const ley_map *map)
{
    return map->what[0] != '\0' ? map->what : NULL;
}

const int32_t *map_elements(const ley_map *map)
{
    return map->elements;
}

const ley_atoms *map_atoms(const ley_map *map)
{
    return map->atoms;
}

void map_swap_values(ley_map *map, ley_map *other)
{
    float *values = map->values;
    map->values = other->values;
    other->values = values;
}

const float *ley_map_read_values(const ley_map *map)
{
    return map->values;
}

double map_value(const ley_map *map, int64_t number, double place_A[3])
{
    const ley_grid *l = ley_map_grid(map);
    const int64_t rest = number / l->n[0], at[3] = {number % l->n[0], rest % l->n[1], rest / l->n[1]};
    ley_grid_point_A(l, at, place_A);
    if (map->values != NULL)
        return (double)map->values[number];
    float value = NAN;
    return map->store.read(map->store.context, number, 1, &value, NULL) == LEY_OK ? (double)value : NAN;
}

const float *map_values_from(const ley_map *map, int64_t first, int64_t count, float *buffer)
{
    if (map->values != NULL)
        return map->values + first;
    if (map->store.read(map->store.context, first, count, buffer, NULL) != LEY_OK)
        for (int64_t i = 0; i < count; i++)
            buffer[i] = NAN;
    return buffer;
}

ley_status map_check_store(const ley_map *map, ley_error *error)
{
    ley_status status = LEY_OK;
    for (int c = 0; c < map_components(map) && status == LEY_OK; c++) {
        const map_store *store = map_get_store(map_component(map, c));
        status = store != NULL && store->check != NULL ? store->check(store->context, error) : LEY_OK;
    }
    return status;
}

ley_status map_check_values(const ley_map *map, const char *path, ley_error *error)
{
    const int64_t *n = ley_map_grid(map)->n, points = ley_grid_points(ley_map_grid(map));
    const float *values = ley_map_read_values(map);
    if (values == NULL)
        return ley_fail(error, LEY_ERROR_USAGE, "%s: the map's values are not in memory", path);
    for (int64_t i = 0; i < points; i++)
        if (!isfinite(values[i]))
            return ley_fail(error, LEY_ERROR_INPUT, "%s: the map is %s at point (%lld, %lld, %lld)", path,
                            isnan(values[i]) ? "not a number" : "infinite", (long long)(i % n[0]),
                            (long long)(i / n[0] % n[1]), (long long)(i / n[0] / n[1]));
    return LEY_OK;
}

/* ---- Planes ---------------------------------------------------------------------------------- */

/* A spare buffer, if one is large enough. */
static float *take_spare(ley_map *map, size_t count)
{
    float *values = NULL;
    pthread_mutex_lock(&map->mutex);
    for (int i = 0; i < SPARE_BUFFERS && values == NULL; i++)
        if (map->spare[i].count >= count) {
            values = map->spare[i].values;
            map->spare[i].values = NULL;
            map->spare[i].count = 0;
        }
    pthread_mutex_unlock(&map->mutex);
    return values;
}

static void keep_spare(ley_map *map, float *values, size_t count)
{
    pthread_mutex_lock(&map->mutex);
    for (int i = 0; i < SPARE_BUFFERS && values != NULL; i++)
        if (map->spare[i].values == NULL) {
            map->spare[i].values = values;
            map->spare[i].count = count;
            values = NULL;
        }
    pthread_mutex_unlock(&map->mutex);
    free(values);
}

ley_status map_planes_take(ley_map *map, int64_t first, int64_t count, float **planes, ley_error *error)
{
    const int64_t plane = map->grid.n[0] * map->grid.n[1];
    const size_t values = (size_t)(plane * count);
    if (map->values != NULL) {
        *planes = map->values + plane * first;
        return LEY_OK;
    }
    float *made = take_spare(map, values);
    if (made == NULL) {
        const ley_status status = memory_check_one("planes on their way to a file", (double)values * sizeof(float),
                                                   "fewer points along x and y, or smaller slabs", error);
        made = status == LEY_OK ? malloc(values * sizeof(float)) : NULL;
        if (made == NULL)
            return status != LEY_OK ? status : ley_fail_memory(error, values * sizeof(float), "planes of the map");
    }
    *planes = made;
    return LEY_OK;
}

/* Values of a block at least, and of a plane whose values are summed at all. */
enum { BLOCK_VALUES = 4096, LEAST_PLANE = 64 };

static int64_t rows_of_block(const ley_map *map)
{
    const int64_t *n = map->grid.n, rows = (BLOCK_VALUES + n[0] - 1) / n[0];
    return rows < n[1] ? rows : n[1];
}

static int64_t blocks_of_plane(const ley_map *map)
{
    const int64_t rows = rows_of_block(map);
    return (map->grid.n[1] + rows - 1) / rows;
}

int64_t map_block_first(const ley_map *map, int64_t block)
{
    const int64_t *n = map->grid.n, blocks = blocks_of_plane(map);
    return (block / blocks * n[1] + block % blocks * rows_of_block(map)) * n[0];
}

/* In an order that is the same on all machines, which vectors can follow. */
static double square_sum(const float *values, int64_t count)
{
    enum { LANES = 16 };
    double lane[LANES] = {0}, sum = 0;
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (int k = 0; k < LANES; k++)
            lane[k] += (double)values[i + k] * (double)values[i + k];
    for (; i < count; i++)
        sum += (double)values[i] * (double)values[i];
    for (int k = 0; k < LANES; k++)
        sum += lane[k];
    return sum;
}

/* The map's sums, made when the first planes come; those that nobody has made are no numbers. NULL:
 * no memory. */
static double *make_sums(ley_map *map)
{
    const size_t count = (size_t)(blocks_of_plane(map) * map->grid.n[2]);
    double *sums = atomic_load(&map->sums), *made = sums == NULL ? malloc(count * sizeof *made) : NULL;
    if (made == NULL)
        return sums;
    for (size_t i = 0; i < count; i++)
        made[i] = NAN;
    if (atomic_compare_exchange_strong(&map->sums, &sums, made))
        return made;
    free(made);
    return sums;
}

void map_planes_note(ley_map *map, int64_t first, int64_t count, const float *planes)
{
    const int64_t plane = map->grid.n[0] * map->grid.n[1], blocks = blocks_of_plane(map), start = first * plane;
    double *sums = plane >= LEAST_PLANE ? make_sums(map) : NULL;
    for (int64_t b = first * blocks; sums != NULL && b < (first + count) * blocks; b++) {
        const int64_t from = map_block_first(map, b);
        sums[b] = square_sum(planes + (from - start), map_block_first(map, b + 1) - from);
    }
}

int64_t map_block_count(const ley_map *map)
{
    return blocks_of_plane(map) * map->grid.n[2];
}

typedef struct blocks {
    const ley_map *map;
    double *sums;
} blocks;

static void sum_blocks(void *context, size_t first, size_t last)
{
    const blocks *of = context;
    for (size_t b = first; b < last; b++) {
        const int64_t from = map_block_first(of->map, (int64_t)b);
        of->sums[b] = square_sum(of->map->values + from, map_block_first(of->map, (int64_t)b + 1) - from);
    }
}

bool map_block_squares(const ley_map *map, double *sums)
{
    const size_t count = (size_t)map_block_count(map);
    const double *kept = atomic_load(&map->sums);
    double all = 0;
    if (map->grid.n[0] * map->grid.n[1] < LEAST_PLANE || (map->values == NULL && kept == NULL))
        return false;
    if (map->values != NULL)
        parallel_ranges(count, sum_blocks, &(blocks){map, sums});
    else
        memcpy(sums, kept, count * sizeof *sums);
    for (size_t b = 0; b < count; b++)
        all += sums[b];
    return isfinite(all);
}

ley_status map_planes_give(ley_map *map, int64_t first, int64_t count, float *planes, bool is_done, ley_error *error)
{
    if (map->values != NULL)
        return LEY_OK;
    if (is_done)
        map_planes_note(map, first, count, planes);
    const ley_status status = is_done ? map->store.write(map->store.context, first, count, planes, error) : LEY_OK;
    keep_spare(map, planes, (size_t)(map->grid.n[0] * map->grid.n[1] * count));
    return status;
}

/* Of planes that are in a store: the store's own bytes, and sums of squares. */
static size_t move_stored(ley_map *map, int64_t first, int64_t count, unsigned char *bytes, bool comes)
{
    const int64_t *n = map->grid.n;
    const size_t own = (size_t)count * map->store.plane_bytes,
                 squares = n[0] * n[1] >= LEAST_PLANE ? (size_t)(count * blocks_of_plane(map)) * sizeof(double) : 0;
    double *sums = squares > 0 && bytes != NULL ? make_sums(map) : NULL;
    if (bytes != NULL)
        map->store.move(map->store.context, first, count, bytes, comes);
    if (sums != NULL && comes)
        memcpy(sums + first * blocks_of_plane(map), bytes + own, squares);
    else if (sums != NULL)
        memcpy(bytes + own, sums + first * blocks_of_plane(map), squares);
    return own + squares;
}

size_t map_planes_move(ley_map *map, int64_t first, int64_t count, void *bytes, bool comes)
{
    const size_t plane = (size_t)(map->grid.n[0] * map->grid.n[1]), size = plane * (size_t)count * sizeof(float);
    if (map->values == NULL)
        return move_stored(map, first, count, bytes, comes);
    float *values = map->values + plane * (size_t)first;
    if (bytes != NULL)
        memcpy(comes ? (void *)values : bytes, comes ? bytes : (void *)values, size);
    return size;
}

ley_status map_planes_flush(const ley_map *map, ley_error *error)
{
    ley_status status = LEY_OK;
    for (int c = 0; map != NULL && c < map_components(map) && status == LEY_OK; c++) {
        const map_store *store = map_get_store(map_component(map, c));
        status = store != NULL && store->flush != NULL ? store->flush(store->context, error) : LEY_OK;
    }
    return status;
}

/* ---- Planes that outlive the process --------------------------------------------------------- */

bool map_is_kept(const ley_map *map)
{
    bool is = true;
    for (int c = 0; c < map_components(map); c++) {
        const map_store *store = map_get_store(map_component(map, c));
        is = is && store != NULL && store->is_there != NULL;
    }
    return is;
}

bool map_plane_is_there(const ley_map *map, int64_t plane)
{
    bool is = true;
    for (int c = 0; c < map_components(map) && is; c++) {
        const map_store *store = map_get_store(map_component(map, c));
        is = store->is_there(store->context, plane);
    }
    return is;
}

ley_status map_begin_pass(ley_map *map, uint64_t pass, ley_error *error)
{
    ley_status status = LEY_OK;
    for (int c = 0; c < map_components(map) && status == LEY_OK; c++) {
        const map_store *store = map_get_store(map_component(map, c));
        status = store->begin_pass(store->context, pass, error);
    }
    return status;
}

ley_status map_planes_forget(ley_map *map, int64_t first, int64_t count, ley_error *error)
{
    ley_status status = LEY_OK;
    for (int c = 0; c < map_components(map) && status == LEY_OK; c++) {
        const map_store *store = map_get_store(map_component(map, c));
        status = store->forget(store->context, first, count, error);
    }
    return status;
}

/* ---- A map and its field --------------------------------------------------------------------- */

static bool is_same_grid(const ley_grid *a, const ley_grid *b)
{
    return memcmp(a->n, b->n, sizeof a->n) == 0 && memcmp(a->origin_A, b->origin_A, sizeof a->origin_A) == 0 &&
           memcmp(a->step_A, b->step_A, sizeof a->step_A) == 0;
}

ley_status ley_map_set_field(ley_map *map, ley_map *const field[3], ley_error *error)
{
    for (int axis = 0; axis < 3; axis++) {
        if (!is_same_grid(&field[axis]->grid, &map->grid))
            return ley_fail(error, LEY_ERROR_USAGE, "the field's map along %c has another grid than the potential's",
                            'x' + axis);
        if (field[axis] == map || field[axis] == field[(axis + 1) % 3])
            return ley_fail(error, LEY_ERROR_USAGE, "the field's map along %c is used for another component, too",
                            'x' + axis);
    }
    memcpy(map->field, field, sizeof map->field);
    for (int axis = 0; axis < 3; axis++)
        field[axis]->component = axis + 1;
    return LEY_OK;
}

ley_map *ley_map_field(const ley_map *map, int axis)
{
    return map->field[axis];
}

static ley_map *component_of(ley_map *map, int component)
{
    return component == 0 ? map : map->field[component - 1];
}

const ley_map *map_component(const ley_map *map, int component)
{
    return component == 0 ? map : map->field[component - 1];
}

bool map_takes_values(const ley_map *map)
{
    bool takes = true;
    for (int c = 0; c < map_components(map); c++) {
        const ley_map *of = map_component(map, c);
        takes = takes && (of->values != NULL || map_get_store(of) != NULL);
    }
    return takes;
}

bool map_is_stored(const ley_map *map)
{
    bool is_stored = false;
    for (int c = 0; c < map_components(map); c++)
        is_stored = is_stored || map_get_store(map_component(map, c)) != NULL;
    return is_stored;
}

bool map_field_at(const ley_map *map, int64_t number, double field[3])
{
    double place_A[3];
    for (int axis = 0; axis < 3 && map->field[axis] != NULL; axis++)
        field[axis] = map_value(map->field[axis], number, place_A);
    return map->field[0] != NULL;
}

int map_component_number(const ley_map *map)
{
    return map->component;
}

void map_name_units(ley_map *map, const char *units)
{
    char of_field[sizeof map->origin.units + 2];
    snprintf(of_field, sizeof of_field, "%s/A", units);
    for (int c = 0; c < map_components(map); c++)
        ley_map_set_units(component_of(map, c), c == 0 ? units : of_field);
}

ley_status map_slabs_take(ley_map *map, int64_t first, int64_t count, float *planes[MAP_MOST_COMPONENTS],
                          ley_error *error)
{
    for (int c = 0; c < map_components(map); c++) {
        const ley_status status = map_planes_take(component_of(map, c), first, count, &planes[c], error);
        for (int taken = 0; taken < c && status != LEY_OK; taken++)
            map_planes_give(component_of(map, taken), first, count, planes[taken], false, NULL);
        if (status != LEY_OK)
            return status;
    }
    return LEY_OK;
}

ley_status map_slabs_give(ley_map *map, int64_t first, int64_t count, float *const planes[MAP_MOST_COMPONENTS],
                          bool is_done, ley_error *error)
{
    ley_status status = LEY_OK;
    for (int c = 0; c < map_components(map); c++) {
        const ley_status given = map_planes_give(component_of(map, c), first, count, planes[c],
                                                 is_done && status == LEY_OK, status == LEY_OK ? error : NULL);
        status = status == LEY_OK ? given : status;
    }
    return status;
}
