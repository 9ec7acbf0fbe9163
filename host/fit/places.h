/* The grid in bricks and cells, and frames of atoms on their way into cells on a device
 * (fit_cells.cl, list_first.cl, fit_place.cl): in the same order each time, on any device. */
#ifndef LEY_FIT_PLACES_H
#define LEY_FIT_PLACES_H

#include "energy/lists.h"
#include "engine/command_sequence.h"
#include "fit/specs.h"

extern const kernel_kind fit_cells_kind, fit_place_kind;

/* The grid in whole bricks. */
typedef struct fit_bricks {
    int32_t bricks[3], nodes[3]; /* along x, y, z */
    int32_t cells[3];
    size_t brick_count, node_count, cell_count;
} fit_bricks;

/* Bricks that are so many nodes wide along x. Errors: LEY_ERROR_INPUT, of a grid that is too
 * large. */
ley_status fit_bricks_make(const fit_problem *p, int width, fit_bricks *made, ley_error *error);

/* Atoms of a batch's frames on a device, and what sorts them. Batches take turns with it. */
typedef struct fit_places {
    const fit_problem *problem;
    const fit_bricks *bricks;
    int group, parts; /* atoms of a work-group and 1; or 1, and parts of a frame */
    int frames;       /* that there is room for */
    bool is_cleared;
    dev_kernel find, sum, place;
    buffer_of_float weight, fall;    /* of atoms */
    buffer_of_float position, falls; /* of frames */
    buffer_of_float4 atoms;
    buffer_of_int cell, count, rank, begin, sums, order;
    buffer_of_int2 next;
} fit_places;

/* Bins of a frame: parts of cells, and an end. */
static inline size_t fit_bins(const fit_places *s)
{
    return s->bricks->cell_count * (size_t)s->parts + 1;
}

/* Of a frame's counts, and heads of lists behind all frames' counts. */
static inline size_t fit_count_words(const fit_places *s)
{
    return fit_bins(s) + (s->group > 1 ? s->bricks->cell_count : 0);
}

/* Bytes of a frame. */
size_t fit_places_bytes(const fit_places *s, const dev_info *info);

/* Buffers for so many frames, in the arena, whose owner clears it, where problem, bricks, group and
 * parts are there. Then kernels; a zeroed one may be destroyed. */
ley_status fit_places_make(fit_places *s, arena *memory, int frames, ley_error *error);
ley_status fit_places_build(fit_places *s, dev *device, ley_error *error);
void fit_places_destroy(fit_places *s);

/* Copies frames to where they are sent from, and sends them, piece after piece. Errors:
 * LEY_ERROR_INPUT, with a frame, from 0, in *bad, and the atom. */
ley_status fit_places_send(fit_places *s, command_sequence *w, int frames, const float *position_A,
                           const dev_staging *staging, int *bad, ley_error *error);

/* Sorts them, or launches one of the kernels. */
void fit_places_launch(const fit_places *s, command_sequence *w, int frames);
void fit_launch_cells(const fit_places *s, command_sequence *w, const dev_kernel *kernel, int frames);
void fit_launch_place(const fit_places *s, command_sequence *w, const dev_kernel *kernel, int frames);

/* log2(e) / (2 s^2). */
float fit_fall(double sigma_A);

#endif
