/* Lists of a device's pairs within reach, of the frames of a batch: particles sorted in space into
 * clusters, and for each cluster what is near it. cl/list.h and the kernels say how they lie. */
#ifndef LEY_ENERGY_LISTS_H
#define LEY_ENERGY_LISTS_H

#include "energy/part.h"

typedef struct list_boxes_spec {
    LEY_LIST_BOXES_KEYS(KERNEL_KEY_FIELD)
} list_boxes_spec;
typedef list_boxes_spec list_place_spec, list_move_spec;
typedef struct list_tiles_spec {
    LEY_LIST_TILES_KEYS(KERNEL_KEY_FIELD)
} list_tiles_spec;
typedef struct list_first_spec {
    LEY_LIST_FIRST_KEYS(KERNEL_KEY_FIELD)
} list_first_spec;

extern const kernel_kind list_bins_kind, list_first_kind, list_place_kind, list_boxes_kind, list_blocks_kind,
    list_move_kind, list_tiles_kind;
KERNEL_ARGUMENTS_STRUCT(list_bins, LEY_LIST_BINS_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(list_first, LEY_LIST_FIRST_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(list_place, LEY_LIST_PLACE_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(list_boxes, LEY_LIST_BOXES_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(list_blocks, LEY_LIST_BLOCKS_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(list_move, LEY_LIST_MOVE_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(list_tiles, LEY_LIST_TILES_ARGUMENTS);

/* What a device's lists are by default: vectors of a processor hold a cluster, and have rows of all
 * pairs; so have work-groups, unless they pass numbers on without local memory. */
list_tiles_spec lists_spec_for(const dev_info *info);
list_boxes_spec lists_boxes_spec(const list_tiles_spec *spec); /* also of list_place and list_move */
list_first_spec lists_first_spec(const dev_info *info);

/* How frames are laid out: boxes are those of clusters, up to a multiple of LEY_LIST_BLOCK, then
 * those of blocks. */
typedef struct lists_shape {
    int32_t particles, padded, clusters, blocks, pitch, slots, bits, bins;
    double reach_A;
    int32_t room[2]; /* of a row: tiles and particles */
} lists_shape;

/* Boxes of a frame, and what is behind the last. */
int32_t lists_pitch(int32_t blocks);

/* `room` is a guess from usual densities. */
lists_shape lists_shape_of(const list_tiles_spec *spec, size_t particles, size_t padded, double reach_A);

/* Bytes of a frame's lists. */
size_t lists_frame_bytes(const list_tiles_spec *spec, const lists_shape *shape);

/* A frame's rows of cl/list.h: float [LEY_LIST_ROWS][4]. `cell_A`: [3][3], NULL: not periodic, and
 * particles are between low and high. */
void lists_frame_rows(const lists_shape *shape, const double *cell_A, const double low_A[3], const double high_A[3],
                      float (*row)[4]);

typedef struct pair_lists {
    list_tiles_spec spec;
    lists_shape shape;
    int frames;      /* that there is room for */
    bool is_cleared; /* its buffers; the owner says so when launches have ended well */
    dev_kernel bins, first, place, boxes, blocks, move, tiles;
    buffer_of_int type, excluded_first, excluded; /* of particles; the first is not its own */
    buffer_of_float4 rows;                        /* of frames */
    buffer_of_int count, head, next, bin, before, part;
    buffer_of_int slot, own, sorted_type, near, tile, mask, beyond;
    buffer_of_float4 sorted;
    buffer_of_float box;
    buffer_of_int2 row_counts;
} pair_lists;

/* Kernels and buffers, in the arena, whose owner clears it. A zeroed one may be destroyed. `first`
 * [padded + 1] and `excluded`: as energy_problem has them. */
ley_status pair_lists_create(pair_lists *made, arena *memory, const list_tiles_spec *spec, int frames,
                             const lists_shape *shape, const int32_t *first, const int32_t *excluded,
                             buffer_of_int type, ley_error *error);
void pair_lists_destroy(pair_lists *l);

/* Makes the lists of frames, whose rows are `row`, [frames][LEY_LIST_ROWS]: they are free when this
 * returns. */
void pair_lists_launch(pair_lists *l, command_sequence *w, buffer_of_float4 position, int frames,
                       float (*row)[LEY_LIST_ROWS][4]);

/* More room for what `beyond` says, of cl/list_tiles.cl, that there was none for. Nothing is under
 * way. */
ley_status pair_lists_grow(pair_lists *l, arena *memory, const int32_t beyond[2], ley_error *error);

/* The kernel of pair_lists_move(). */
ley_status pair_lists_make_move(pair_lists *l, dev *device, ley_error *error);

/* Takes the list's slots, of one frame, to where particles are in another frame, whose rows these
 * are: they are free when this returns. */
void pair_lists_move(const pair_lists *l, command_sequence *w, buffer_of_float4 position,
                     float (*row)[LEY_LIST_ROWS][4]);

/* Launches list_first, for kernels of `spec`. */
void lists_launch_first(command_sequence *w, const dev_kernel *kernel, int frames, int bins, buffer_of_int count,
                        buffer_of_int part, buffer_of_int first);

/* Work-groups of list_first for so many bins. */
int lists_first_parts(int work_group, int bins);

/* So many work-groups of a kernel, for items of each frame. */
void lists_launch(command_sequence *w, const dev_kernel *kernel, size_t items, int frames, const void *arguments);

#endif
