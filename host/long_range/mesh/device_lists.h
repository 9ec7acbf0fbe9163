/* The numbers of atoms that are on a device, in a list for each bin of a mesh, there: what
 * device_spread.h and device_long_wavelengths.h begin with. */
#ifndef LEY_LONG_RANGE_MESH_DEVICE_LISTS_H
#define LEY_LONG_RANGE_MESH_DEVICE_LISTS_H

#include "arguments.h"
#include "dev_kernel.h"
#include "engine/command_sequence.h"
#include "memory/arena.h"
#include "methods/cutoff/stages.h"

KERNEL_ARGUMENTS_STRUCT(spread_count, LEY_SPREAD_COUNT_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(spread_list, LEY_SPREAD_LIST_ARGUMENTS);
extern const kernel_kind spread_count_kind, spread_list_kind;

enum { LISTS_GROUP = 128 };

/* Which bin an atom is in: as cl/spread.h has it. */
typedef struct lists_frame {
    double origin[4], along[3][4], whole[4];
    int32_t nodes[4], bins[4];
} lists_frame;

/* Puts it into the arguments of a kernel that looks for bins. */
#define LISTS_PUT_FRAME(a, f) \
    lists_put_frame(f, (a)->origin, (double *[3]){(a)->along_x, (a)->along_y, (a)->along_z}, (a)->whole, (a)->nodes, \
                    (a)->bins)
void lists_put_frame(const lists_frame *f, double origin[4], double *const along[3], double whole[4], int32_t nodes[4],
                     int32_t bins[4]);

/* Begins as {.arena, .atoms, .frame, .bins, .flight.device}; the arena and the atoms are the
 * caller's. */
typedef struct device_lists {
    arena *arena;
    const device_atoms *atoms;
    lists_frame frame;
    size_t bins;
    flight flight;
    command_sequence command_sequence;
    buffer_of_int count, bin, place, list;
    dev_staging *counts; /* [bins + 2]: spread_count's gm_count */
} device_lists;

/* Whether a launch has a work-item for each atom. */
bool device_lists_can_launch(const device_lists *l);

/* False: there is no room for its buffers. */
bool device_lists_make(device_lists *l);

/* How many atoms are in each bin, and a place in it for each of them. */
ley_status device_lists_count(device_lists *l, const dev_kernel *count, ley_error *error);

/* Where each bin's atoms begin, first[bins + 1], how many there are, and *looks: the sum of the
 * squares of the bins' numbers. LEY_ERROR_WRONG_RESULT: the counts are not those of the atoms. */
ley_status device_lists_add_up(const device_lists *l, int32_t *first, size_t *listed, double *looks, ley_error *error);

/* Within its sequence, once `first` is on the device: the lists; and a kernel with a work-item for
 * each atom. */
void device_lists_launch(device_lists *l, const dev_kernel *list, buffer_of_int first);
void device_lists_for_each(device_lists *l, const dev_kernel *kernel, const void *arguments);

/* Its buffers go. */
void device_lists_clear(device_lists *l);

#endif
