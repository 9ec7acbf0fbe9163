/* Rows of a boundary, on their way through the kernels. */
#ifndef LEY_MDH_RUN_H
#define LEY_MDH_RUN_H

#include "methods/mdh/kernel.h"

/* A stretch of a face, as mdh.cl reads it. */
#define SEGMENT_FIELD(field) int32_t field;
typedef struct mdh_segment {
    LEY_SEGMENT_FIELDS(SEGMENT_FIELD)
    int32_t unused[2]; /* to whole int4 */
} mdh_segment;
#undef SEGMENT_FIELD

/* Some rows' way through the kernel. Work-groups share a row of atoms: each sums a part of them for
 * its points, so that there are enough of them for the device, and sum_parts adds the parts up. */
typedef struct mdh_run {
    mdh_kernel *kernel;
    int64_t first, count; /* rows */
    int segment_count;
    mdh_segment segments[PATCH_COUNT];
    size_t groups, parts, batches;
    int part_values, part_atoms, batch_atoms;
    buffer_of_int4 places;
    buffer_of_real part_sums;
    size_t place_bytes, part_bytes; /* of the buffers, which grow when need be */
    results sums;
    command_sequence command_sequence;
} mdh_run;

/* Starts on rows [first, first + count), and the way back. The run must stay where it is; its
 * buffers are kept for the next time. A fresh run is zero. LEY_CANCELLED soon after *cancelled (may
 * be NULL) turns true. */
ley_status mdh_run_begin(mdh_run *run, mdh_kernel *kernel, int64_t first, int64_t count, const atomic_bool *cancelled,
                         ley_error *error);

/* Waits for all, and stores the values at their places among the boundary's; and the field, [n][3],
 * of a kernel that has it. */
ley_status mdh_run_finish(mdh_run *run, double *values, double *field, ley_error *error);

/* Starts sum_parts: of so many parts of so many values. */
void mdh_launch_sums(command_sequence *w, const mdh_kernel *kernel, buffer_of_real part_sums, int parts,
                     int part_values, buffer_of_real sums);

/* Bytes that so many rows take of a device on their way, of a kernel that knows its problem and how
 * many atoms there are; and of the largest buffer. */
double mdh_run_bytes(mdh_kernel *kernel, int64_t rows, double *largest);

/* Ends the run's work and its buffers. */
void mdh_run_end(mdh_run *run);

#endif
