/* What a device has of an average, as its loop and the assistant share it. */
#ifndef LEY_AVERAGE_PART_H
#define LEY_AVERAGE_PART_H

#include "average/frame_potential.h"
#include "average/spread_kernel.h"
#include "average/state.h"

enum { PART_SLOTS = 3 };

/* Room for a chunk on its way. */
typedef struct part_slot {
    command_sequence sequence;
    buffer_of_float positions;
    buffer_of_float4 cells;
} part_slot;

/* A frame that is verified: of a chunk, whose sums have not been handed over; NULL: none. */
typedef struct frame_check {
    const chunk *chunk;
    int frame;
    bool has_come; /* its density or potential is on the host: the assistant's until the chunk is NULL */
} frame_check;

typedef struct device_part {
    ley_average *average; /* not to be touched by a device that was left behind */
    const dev_info *info;
    bool is_ready, has_failed, is_at_work, is_idle;
    int64_t frames; /* that it has handed over */
    ley_error failure;

    arena arena, locked; /* the latter: of chunks, which others may have to do */
    flight flight;
    spreader spreader;
    frame_potential potential; /* where potentials are made frame by frame */
    part_slot slot[PART_SLOTS];
    int next;
    buffer_of_int2 sums[2]; /* sums[filling]: of what it holds; the other one: on its way to the host, or zeros */
    int filling;
    dev_staging *back;
    buffer_of_int2 single; /* of a frame that is verified */
    dev_staging *single_back;
    command_sequence handing, checking; /* these on their way */
    int begun;                          /* chunks since the latter of them set off */

    /* Whose frames are in sums; whose sums are on their way. */
    chunk_list held, coming;
    int64_t block, held_frames;

    /* For the assistant, see assistant.h: what is on the host. */
    frame_check check;
    chunk_list handed; /* their sums are in `back`, and the device is not needed for them any more */
    bool are_sums_in_hand;
    ley_error wrong; /* what it has found */
} device_part;

#endif
