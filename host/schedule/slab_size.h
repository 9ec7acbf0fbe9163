/* How large slabs are: one rule for all methods. As large as a tenth of a second's work, so that
 * progress shows, devices share evenly and cancelling is prompt; as the device's memory and its
 * launches have room for; and as few pieces as the caller wants. */
#ifndef LEY_SCHEDULE_SLAB_SIZE_H
#define LEY_SCHEDULE_SLAB_SIZE_H

#include "memory/arena.h"

typedef struct slab_needs {
    int64_t pieces;         /* of the whole stage */
    double piece_s;         /* predicted time of a piece */
    int64_t piece_bytes;    /* of a slab's buffer on the device; 0: its size does not matter */
    double fixed_bytes;     /* that are not in the arena yet, beside slabs */
    double staging_bytes;   /* what a slab's buffer shall be at most; one piece may be larger */
    double most_per_launch; /* pieces; 0: any number */
    int64_t least_slabs;    /* of the whole stage, so that most of the way back lies beside kernels; 0: one */
    int64_t most_pieces;    /* that the caller wants; 0: any number */
    int64_t planned;        /* what a plan says; 0: nothing */
    const char *piece;      /* "one plane of the grid needs", for the refusal */
} slab_needs;

/* Pieces per slab, and tells the watch how long one is expected to take. LEY_ERROR_NO_DEVICE, with
 * the figures, when the device has no room for a piece, or for what is planned. */
ley_status slab_size(const arena *r, const slab_needs *needs, int64_t *count, ley_error *error);

#endif
