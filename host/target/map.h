/* Values of a map by their number, x fastest; and maps whose values are not in memory. */
#ifndef LEY_TARGET_MAP_H
#define LEY_TARGET_MAP_H

#include "leyden.h"

#include <stddef.h>
#include <stdint.h>

/* The value of this number, and where it is, in A. Not-a-number, where the map's store cannot read
 * it. */
double map_value(const ley_map *map, int64_t number, double place_A[3]);

/* `count` values from this number on: where they are in memory, else in `buffer`, [count], as
 * not-a-numbers where the map's store cannot read them. */
const float *map_values_from(const ley_map *map, int64_t first, int64_t count, float *buffer);

/* Whether the stores of the map and of its field could read and write all that they were asked for
 * so far. Errors: the first one of a store. */
ley_status map_check_store(const ley_map *map, ley_error *error);

/* Errors: LEY_ERROR_INPUT when a value is not a number, or infinite, with its point;
 * LEY_ERROR_USAGE when the values are not in memory. `path` begins the message. */
ley_status map_check_values(const ley_map *map, const char *path, ley_error *error);

/* Other places of its points, as many as before. */
void map_set_grid(ley_map *map, const ley_grid *grid);

/* What ley_map_set_atoms() was given. */
const ley_atoms *map_atoms(const ley_map *map);

/* Of orbitals and densities: what the values are, "DENSITY", in place of a potential's title, cut
 * at 47 characters; the molecule, and its elements' numbers, which must be there until the map has
 * been written. map_what(): NULL where it is a potential or a field. map_elements(): NULL where
 * nobody knows them. */
void map_set_what(ley_map *map, const char *what, const ley_atoms *atoms, const int32_t *elements);
const char *map_what(const ley_map *map);
const int32_t *map_elements(const ley_map *map);

/* What a file says of its map: units, and what ley_map_molecule() and ley_map_dielectric() say. */
typedef struct map_origin {
    char units[32], molecule[160];
    double dielectric;
} map_origin;

void map_set_origin(ley_map *map, const map_origin *origin);

/* What ley_map_remark() says: a copy of the text; NULL: nothing. */
void map_set_remark(ley_map *map, const char *remark);

/* ---- Planes ---------------------------------------------------------------------------------- */

/* Where a map's values are instead of memory. Any threads call these at any time, of planes that no
 * two of them have. Errors: LEY_ERROR_FILE. */
typedef struct map_store {
    void *context;
    ley_status (*write)(void *context, int64_t first_plane, int64_t planes, const float *values, ley_error *error);
    ley_status (*read)(void *context, int64_t first_value, int64_t count, float *values, ley_error *error);
    ley_status (*check)(void *context, ley_error *error); /* why values could not be read or
    written so far */

    /* For several ranks, of which each writes planes: what another one keeps of these, so many
     * bytes of each plane, goes to `bytes` or comes from there; and what was written so far can be
     * read by another one. NULL: one rank writes all. */
    size_t plane_bytes;
    void (*move)(void *context, int64_t first_plane, int64_t planes, void *bytes, bool comes);
    ley_status (*flush)(void *context, ley_error *error);

    /* Of planes that are to outlive the process: whether one is there; that those of another pass,
     * a number that says how they are made, are not, and others will be of this one; and that some
     * are there no longer. NULL: there are no such planes. */
    bool (*is_there)(const void *context, int64_t plane);
    ley_status (*begin_pass)(void *context, uint64_t pass, ley_error *error);
    ley_status (*forget)(void *context, int64_t first_plane, int64_t planes, ley_error *error);
    void (*end)(void *context);
} map_store;

/* A map in such a store, which becomes the map's, also on failure. */
ley_status map_create_stored(const ley_grid *grid, const map_store *store, ley_map **map, ley_error *error);

/* Bytes that a store is best given at once: larger pieces only take more memory. */
enum { MAP_STORE_BYTES = 32 << 20 };

/* The store; NULL: the values are in memory, or nowhere. And another one with the same context. */
const map_store *map_get_store(const ley_map *map);
void map_set_store(ley_map *map, const map_store *store);

/* ---- A map and its field --------------------------------------------------------------------- */

/* What a job makes of each point: component 0, the value, and where the map has a field also 1 to
 * 3, along x, y and z. */
enum { MAP_MOST_COMPONENTS = 4 };

static inline int map_components(const ley_map *map)
{
    return ley_map_field(map, 0) != NULL ? MAP_MOST_COMPONENTS : 1;
}

/* The map of a component, which is this one or a field's. */
const ley_map *map_component(const ley_map *map, int component);

/* Which component of another map's field this one is, 1 to 3; 0: none. */
int map_component_number(const ley_map *map);

/* Whether all of them can be filled: none is an outline; and whether one is in a store. */
bool map_takes_values(const ley_map *map);
bool map_is_stored(const ley_map *map);

/* The field at the point of this number, as map_value() has it; false: there is none. */
bool map_field_at(const ley_map *map, int64_t number, double field[3]);

/* Names the units of the values, and with them those of the field. */
void map_name_units(ley_map *map, const char *units);

/* As map_planes_take() and map_planes_give(), of each component: planes[0] to
 * planes[map_components() - 1]. Where one cannot be taken none is. */
ley_status map_slabs_take(ley_map *map, int64_t first, int64_t count, float *planes[MAP_MOST_COMPONENTS],
                          ley_error *error);
ley_status map_slabs_give(ley_map *map, int64_t first, int64_t count, float *const planes[MAP_MOST_COMPONENTS],
                          bool is_done, ley_error *error);

/* Planes [first, first + count) of z for somebody who fills them: in the map itself, or a buffer of
 * their own. Each is given back, whether it was filled or not (`is_done` false). Errors:
 * LEY_ERROR_MEMORY; of giving back, those of the store. */
ley_status map_planes_take(ley_map *map, int64_t first, int64_t count, float **planes, ley_error *error);
ley_status map_planes_give(ley_map *map, int64_t first, int64_t count, float *planes, bool is_done, ley_error *error);

/* Of a map whose values are not in memory: what planes are like that are in its store already, which
 * are given back later than these. */
void map_planes_note(ley_map *map, int64_t first, int64_t count, const float *planes);

/* Of planes that another rank has filled, or is to know: bytes of their values, or of a store what
 * is to be known of them, go to `bytes` or come from there, and how many these are. NULL: they are
 * only counted. And, before, what is in the stores of this map, which may be NULL, and of its field
 * can be read by others. */
size_t map_planes_move(ley_map *map, int64_t first, int64_t count, void *bytes, bool comes);
ley_status map_planes_flush(const ley_map *map, ley_error *error);

/* Planes that outlive the process, of the map and its field: whether there are such; which are
 * there, in all of them; and the rest of what a store says of them. All ranks begin a pass. */
bool map_is_kept(const ley_map *map);
bool map_plane_is_there(const ley_map *map, int64_t plane);
ley_status map_begin_pass(ley_map *map, uint64_t pass, ley_error *error);
ley_status map_planes_forget(ley_map *map, int64_t first, int64_t count, ley_error *error);

/* Each of two maps in memory, of as many points, has the other one's values from then on. */
void map_swap_values(ley_map *map, ley_map *other);

/* ---- Squares --------------------------------------------------------------------------------- */

/* Blocks are whole rows of one plane, as many as have some thousand values, in their order. */
int64_t map_block_count(const ley_map *map);

/* The sum of the squares of each block's values: of a map in memory on all cores, of any other as
 * its planes were given back. False: planes are too small to be summed, not all of them are there,
 * or some are no numbers. */
bool map_block_squares(const ley_map *map, double *sums);

/* The first value of a block; of the one behind the last, how many values there are. */
int64_t map_block_first(const ley_map *map, int64_t block);

#endif
