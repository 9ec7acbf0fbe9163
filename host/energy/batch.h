/* Memory of a device's part in energies, and the ways of batches there and back. */
#ifndef LEY_ENERGY_BATCH_H
#define LEY_ENERGY_BATCH_H

#include "energy/part.h"

/* All but what modules have. `frames`: of the run; frame_bytes: what modules need for each frame of
 * a batch. energy_memory_end() ends it also on failure. */
ley_status energy_memory_make(energy_part *part, const energy_problem *problem, dev *device, bool is_periodic,
                              int64_t frames, size_t frame_bytes, ley_error *error);
void energy_memory_end(energy_part *part);

/* Begins the batch's sequence, which sends frames, from number `first` of the run on. The arrays
 * are theirs, cell_A is NULL where nothing is periodic, and may be reused when it returns. */
void energy_batch_begin(energy_part *part, energy_batch *batch, int64_t first, int frames, const float *position_A,
                        const double *cell_A);

/* Frames as kernels have them: to[frames][padded] {x, y, z, charge}, and cell[frames][24] where
 * they are periodic. */
void energy_batch_place(const energy_problem *problem, int frames, const float *position_A, const double *cell_A,
                        float (*to)[4], float *cell);

/* Makes all results not-a-numbers, and forces 0; and reads them back. */
void energy_batch_poison(energy_part *part, energy_batch *batch);
void energy_batch_read(energy_part *part, energy_batch *batch);

#endif
