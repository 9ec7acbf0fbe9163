/* One device's part in energies: its memory, its modules, and its batches of frames. */
#ifndef LEY_ENERGY_DEVICE_PART_H
#define LEY_ENERGY_DEVICE_PART_H

#include "energy/part.h"

/* Memory, modules, kernels; on the device's thread, as all that follows. `frames`: of the run. On
 * failure energy_part_end() ends what there is. */
ley_status energy_part_begin(energy_part *part, const energy_problem *problem, dev *device, bool is_periodic,
                             int64_t frames, ley_error *error);
void energy_part_end(energy_part *part);

/* Starts a batch, its frames from number `first` of the run on. The arrays are theirs, cell_A is
 * NULL where nothing is periodic, and may be reused when it returns. */
ley_status energy_part_start(energy_part *part, energy_batch *batch, int64_t first, int frames, const float *position_A,
                             const double *cell_A, ley_error *error);

/* Waits for it: then its results are in its staging. LEY_ERROR_WRONG_RESULT: a result was left out
 * (none of them is a number). */
ley_status energy_part_finish(energy_part *part, energy_batch *batch, ley_error *error);

#endif
