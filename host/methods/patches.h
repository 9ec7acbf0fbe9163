/* Pairs within the cutoff by patches of the cell, in two passes (cl/patch_pairs.cl): as the papers'
 * first kernels for cards summed them, for benchmarks. */
#ifndef LEY_METHODS_PATCHES_H
#define LEY_METHODS_PATCHES_H

#include "energy/pair_numbers.h"
#include "energy/part.h"

extern const kernel_kind patch_pairs_kind;

typedef struct patches {
    int32_t along[3];         /* patches along each of the cell's vectors */
    dev_kernel pairs, gather; /* the first pass and the second */
    pair_numbers numbers;
    buffer_of_float4 sorted; /* [frames][particles], */
    buffer_of_int4 which;    /* and what they are */
    buffer_of_int first, slot, own, bits;
    buffer_of_int2 done;
    buffer_of_float floats;
    int32_t (*excluded)[2]; /* [particles]: where a particle's bits begin, and the most difference */
} patches;

/* Bytes of a frame. */
size_t patches_frame_bytes(const energy_problem *problem);

/* For batches of these frames, of a part that has its memory: it ends buffers. On failure
 * patches_end() ends what else there is. */
ley_status patches_begin(patches *p, energy_part *part, int frames, const double *cell_A, ley_error *error);
void patches_end(patches *p);

/* Sorts the particles of a batch, which has begun, into patches, and launches both passes. */
ley_status patches_launch(const patches *p, energy_part *part, energy_batch *batch, ley_error *error);

#endif
