/* The short-range kernel for points of a list, on one device: chosen, built and tested, with its
 * bins in place. */
#ifndef LEY_POINT_PAIRS_H
#define LEY_POINT_PAIRS_H

#include "arguments.h"
#include "dev_kernel.h"
#include "engine/command_sequence.h"
#include "methods/cutoff/kernel.h"
#include "methods/cutoff/point_list.h"
#include "methods/cutoff/problem.h"

KERNEL_ARGUMENTS_STRUCT(point_pairs, LEY_POINT_PAIRS_ARGUMENTS);
extern const kernel_kind point_pairs_kind;

/* The specification of point_pairs.cl, one field a key of LEY_POINT_PAIRS_KEYS. */
typedef struct point_pairs_spec {
#define POINT_PAIRS_FIELD(key, field) int field;
    LEY_POINT_PAIRS_KEYS(POINT_PAIRS_FIELD)
#undef POINT_PAIRS_FIELD
} point_pairs_spec;

typedef struct point_pairs_choice {
    const char *variant;
    point_pairs_spec spec;
} point_pairs_choice;

/* ---- The kernel ------------------------------------------------------------------------------ */

typedef struct point_pairs_kernel {
    dev *device;
    calibration facts;
    point_pairs_choice choice;
    dev_kernel kernel;
    const point_list *list;
    cutoff_kernel bins; /* has the problem's bins, the arena and the flight, and no kernel */
} point_pairs_kernel;

/* Names of the variants, i from 0; NULL behind the last. */
const char *point_pairs_variant(size_t i);

/* The name of the variant that this device gets by default, for any kind of sum. */
const char *point_pairs_usual(const dev_info *info, int sum);

/* Chooses; `wish` has no use for its `store`. Errors: LEY_ERROR_USAGE for an unknown variant,
 * LEY_ERROR_NO_DEVICE when the device cannot run it. */
ley_status point_pairs_choose(const dev_info *info, const calibration *c, const cutoff_wish *wish,
                              point_pairs_choice *choice, ley_error *error);

/* Puts the problem's bins, which the host has made, on the device. */
ley_status point_pairs_load(point_pairs_kernel *kernel, const cutoff_problem *problem, const point_list *list,
                            ley_error *error);

/* Pairs within the cutoff per second that such a kernel will reach, roughly. */
double point_pairs_rate(const dev_info *info, const calibration *facts, const point_pairs_spec *spec);

void point_pairs_destroy(point_pairs_kernel *kernel);

/* ---- A run ----------------------------------------------------------------------------------- */

/* Points that a work-group takes. */
int64_t point_pairs_group(const point_pairs_spec *spec);

/* Bytes of a device that a place of a group takes on its way; and of the largest buffer. */
double point_pairs_point_bytes(const point_pairs_spec *spec, double *largest);

/* Some points' way through the kernel, and back. */
typedef struct point_pairs_run {
    point_pairs_kernel *kernel;
    int64_t first, count, groups; /* points; work-groups that they are in */
    int32_t *begins;              /* of each work-group, and the end: points from the first one on */
    buffer_of_int4 boxes;
    buffer_of_float offsets;
    buffer_of_int bins;
    results phi;
    int64_t capacity; /* work-groups that there are buffers for, which grow when need be */
    command_sequence command_sequence;
} point_pairs_run;

/* Starts on points [first, first + count) of the list, predicted to take so long, and the way back.
 * The run must stay where it is; its buffers are kept for the next time. A fresh run is zero.
 * LEY_CANCELLED soon after *cancelled (may be NULL) turns true. */
ley_status point_pairs_run_begin(point_pairs_run *run, point_pairs_kernel *kernel, int64_t first, int64_t count,
                                 double predicted_s, const atomic_bool *cancelled, ley_error *error);

/* Waits for all, and stores the values in the caller's order; and the field, [n][3], of a kernel
 * that has it. */
ley_status point_pairs_run_finish(point_pairs_run *run, double *values, double *field, ley_error *error);

/* Ends the run's work and its buffers. */
void point_pairs_run_end(point_pairs_run *run);

#endif
