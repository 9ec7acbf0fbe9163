/* What a device has of energies: batches of frames, which modules (module.h) compute one after the
 * other in one command sequence. */
#ifndef LEY_ENERGY_PART_H
#define LEY_ENERGY_PART_H

#include "arguments.h"
#include "energy/problem.h"
#include "engine/command_sequence.h"
#include "schedule/frame_queue.h"

/* The frame whose list a batch of one frame takes (origins.h). */
typedef struct energy_origin {
    int64_t number;          /* no other origin has it; 0: none, frames have lists of their own */
    bool is_own;             /* it is the batch's frame itself */
    const float *position_A; /* the run's, as cell_A */
    const double *cell_A;    /* NULL: not periodic */
} energy_origin;

/* Frames on their way through a device. All arrays are by place (problem.h), of `frames` frames one
 * after the other, in A, e and kcal/mol. */
typedef struct energy_batch {
    int64_t first; /* of the run */
    int frames;    /* 0: none is on its way */
    int lists;     /* of pairs that were made for them */
    energy_origin origin;
    command_sequence sequence;
    buffer_of_float4 position; /* [frames][padded]: x, y, z from the frame's middle (in a cell: of the image within
                                  it), charge */
    buffer_of_float4 cell;     /* [frames][6]: the cell's vectors, and what takes a difference to fractions of them:
                                  fraction k is the scalar product with row 3 + k. Not periodic: not there */
    buffer_of_float energy;    /* [frames][LEY_ENERGY_TERMS][padded]: each particle's half of its pairs. One module
                                  writes a term's, which are no numbers before; others add to it later */
    buffer_of_float4 force;    /* [frames][padded]: modules add theirs; not wanted: not there */
    buffer_of_float parts;     /* [frames][LEY_COLUMN_COUNT][groups][padded]: of `energy` what is with the particles of
                                  each group; the same; no matrix: not there */
    buffer_of_float2 matrix;   /* [frames][LEY_COLUMN_COUNT][groups][groups]: sums of these, in two floats */
    buffer_of_float radius, slope;        /* [frames][padded]: effective Born radii, A, and dE/dB; no Born energies: not
                                             there */
    dev_staging *position_out, *cell_out; /* on their way to the device, */
    dev_staging *energy_back, *force_back, *matrix_back, *radius_back, *slope_back; /* and from it */
} energy_batch;

/* Steps of a batch's sequence, whose times are told apart: places and boxes of lists, their rows,
 * pairs of lists, the mesh of Ewald's sum; all else. */
enum {
    ENERGY_STEP_ANY,
    ENERGY_STEP_PLACES,
    ENERGY_STEP_LISTS,
    ENERGY_STEP_PAIRS,
    ENERGY_STEP_SPREAD,
    ENERGY_STEP_TRANSFORM,
    ENERGY_STEP_MESH_GATHER
};

enum { ENERGY_MODULES = 8 }; /* that there is room for */

typedef struct energy_part {
    const energy_problem *problem;
    bool is_periodic;
    arena arena;
    flight flight;
    const atomic_bool *cancelled; /* NULL: never */
    int frames;                   /* of a batch, at most */

    /* What modules share: by place. */
    buffer_of_int type;         /* [padded] */
    buffer_of_float table;      /* [types][types][2]: a and b */
    buffer_of_int column_first; /* [groups + 1]: as energy_problem has it */

    energy_batch batch[FRAME_BATCHES];
    void *own[ENERGY_MODULES]; /* what each module has; NULL: nothing */

    double quantum;         /* of sums of pairs that are integers, kcal/mol and kcal/mol/A; 0: they are floats */
    double splitting_per_A; /* of Ewald's sum, */
    int64_t mesh[3];        /* and its mesh: that of the latest batch */
} energy_part;

#endif
