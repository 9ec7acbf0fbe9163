/* The potential of each frame on a device, by its own cell: transforms of the density that
 * spread_kernel.h makes, cl/density_floats.cl, density_fold.cl and potential_sums.cl. */
#ifndef LEY_AVERAGE_FRAME_POTENTIAL_H
#define LEY_AVERAGE_FRAME_POTENTIAL_H

#include "arguments.h"
#include "average/state.h"
#include "engine/command_sequence.h"
#include "kernel_kind.h"

extern const kernel_kind density_floats_kind, density_fold_kind, potential_sums_kind;
KERNEL_ARGUMENTS_STRUCT(density_floats, LEY_DENSITY_FLOATS_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(density_fold, LEY_DENSITY_FOLD_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(potential_sums, LEY_POTENTIAL_SUMS_ARGUMENTS);

typedef struct frame_potential {
    const average_problem *problem;
    double byte_s; /* that the device takes to move a byte, to predict launches by */
    dev_kernel floats, fold, sums;
    dev_fft there, back;
    dev_buffer *scratch; /* of both transforms */
    buffer_of_float mesh, phi, splines;
    buffer_of_float2 spectrum, folded;
    buffer_of_int2 frame;           /* density of the frame at hand: zeros before and after */
    buffer_of_int2 phi_sum, square; /* [points] */
    buffer_of_int beyond;           /* 1: there was a value that does not fit */
    dev_staging *phi_back, *square_back, *beyond_back, *values_back; /* the last: floats of a frame */
} frame_potential;

/* Kernels, transforms and buffers. The arena's owner clears it; a zeroed one may be destroyed,
 * too. */
ley_status frame_potential_create(frame_potential *made, arena *memory, const average_problem *p, command_sequence *w,
                                  ley_error *error);
void frame_potential_destroy(frame_potential *f);

/* The density of a frame that has been spread to f->frame is added to `charge`, and its potential
 * to the sums: it stays in f->phi, in e / A. */
void frame_potential_launch(const frame_potential *f, command_sequence *w, buffer_of_float4 cells, int frame,
                            buffer_of_int2 charge);

/* Reads the sums, and leaves zeros; the sequence ends them. Then whether all values did fit. */
void frame_potential_read(const frame_potential *f, command_sequence *w);
ley_status frame_potential_check(const frame_potential *f, ley_error *error);

#endif
