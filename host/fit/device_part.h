/* One device's part, with its kernels. */
#ifndef LEY_FIT_DEVICE_PART_H
#define LEY_FIT_DEVICE_PART_H

#include "fit/part.h"

/* Memory for so many frames at a time at most, and kernels; on the device's thread. On failure
 * fit_part_end() ends what there is. */
ley_status fit_part_begin(fit_part *part, const fit_problem *problem, dev *device, int64_t frames, ley_error *error);

/* Sends frames, launches what the problem needs, and reads the results back. Errors: those of
 * fit_batch_begin(). */
ley_status fit_part_start(fit_part *part, fit_batch *batch, int64_t first, int frames, const float *position_A,
                          const double *threshold, int *bad, ley_error *error);

#endif
