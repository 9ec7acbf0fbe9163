/* One device's part in an average: it takes chunks of frames, and hands over their density now and
 * then. Frames since the last time are dealt again where it fails. */
#ifndef LEY_AVERAGE_DEVICE_PART_H
#define LEY_AVERAGE_DEVICE_PART_H

#include "average/frame_potential.h"
#include "average/spread_kernel.h"
#include "average/state.h"

enum { PART_SLOTS = 3 };

/* Room for a chunk on its way. */
typedef struct part_slot {
    command_sequence sequence;
    dev_staging *position_staging, *cell_staging;
    buffer_of_float positions;
    buffer_of_float4 cells;
} part_slot;

typedef struct device_part {
    ley_average *average; /* not to be touched by a device that was left behind */
    const dev_info *info;
    bool is_ready, has_failed, is_at_work, is_idle;
    int64_t frames; /* that it has handed over */
    ley_error failure;

    arena arena;
    flight flight;
    spreader spreader;
    frame_potential potential; /* where potentials are made frame by frame */
    part_slot slot[PART_SLOTS];
    int next;
    buffer_of_int2 sums; /* of what it holds */
    dev_staging *back;
    buffer_of_int2 single; /* of a frame that is verified */
    dev_staging *single_back;

    chunk_list held; /* whose frames are not handed over */
    int64_t block, held_frames;
} device_part;

/* Of engine_task: the loop; a worker was left behind. */
void device_part_run(worker *w, void *average);
void device_part_left(worker *w, void *average);

/* Its device's memory ends; on its worker's thread. */
void device_part_end(worker *w, void *average);

/* NULL: no memory. */
device_part *device_part_create(ley_average *a);
void device_part_destroy(device_part *p);

#endif
