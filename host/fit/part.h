/* One device's part: its kernels and memory, and batches of frames. */
#ifndef LEY_FIT_PART_H
#define LEY_FIT_PART_H

#include "fit/places.h"
#include "schedule/frame_queue.h"

/* Frames on their way through a device. */
typedef struct fit_batch {
    int64_t first; /* of the run */
    int frames;    /* 0: none is on its way */
    command_sequence sequence;
    buffer_of_float4 places, boxes;
    buffer_of_float threshold, density;
    results parts, windows, gradient;
    dev_staging *position_out, *places_out, *boxes_out, *threshold_out, *density_back;
} fit_batch;

enum { FIT_STEP_SORT, FIT_STEP_DENSITY };

typedef struct fit_part {
    const fit_problem *problem;
    fit_bricks bricks;
    fit_places places;
    int sets;
    bool is_stored;
    arena arena;
    flight flight;
    const atomic_bool *cancelled; /* NULL: never */
    int frames;                   /* of a batch, at most */
    buffer_of_float map, mask;
    buffer_of_int window;
    dev_kernel density, windows, gradient;
    fit_batch batch[FRAME_BATCHES];
} fit_part;

/* Memory for batches of so many frames at most, in bricks as wide as a specification has them, and
 * as fit_places has them; without kernels. */
ley_status fit_memory_make(fit_part *part, const fit_problem *problem, dev *device, const atom_density_spec *spec,
                           int group, int parts, int64_t frames, ley_error *error);

/* Ends all of it, kernels as well. */
void fit_part_end(fit_part *part);

/* Begins the batch's sequence, which sends frames. The arrays are theirs, and may be reused when it
 * returns. Errors: those of fit_places_send(). */
ley_status fit_batch_begin(fit_part *part, fit_batch *batch, int frames, const float *position_A,
                           const double *threshold, int *bad, ley_error *error);

/* Launches by this kernel, all frames of the batch. */
void fit_launch_density(fit_part *part, fit_batch *batch, const dev_kernel *kernel);
void fit_launch_windows(fit_part *part, fit_batch *batch, const dev_kernel *kernel);
void fit_launch_gradient(fit_part *part, fit_batch *batch, const dev_kernel *kernel);

/* Reads what there is of results. */
void fit_batch_read(fit_part *part, fit_batch *batch);

#endif
