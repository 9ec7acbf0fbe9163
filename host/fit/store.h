/* Results of frames: from what a device has made, with its verification; or by the host. */
#ifndef LEY_FIT_STORE_H
#define LEY_FIT_STORE_H

#include "fit/state.h"

/* Of a batch that has come back; frames that are due are verified. LEY_ERROR_WRONG_RESULT: a frame,
 * which is named, is wrong. */
ley_status fit_store_batch(ley_fit *fit, frame_device *device, const fit_part *part, const fit_batch *batch,
                           ley_error *error);

/* A frame of the run by the host, in double precision. */
ley_status fit_store_host(ley_fit *fit, int64_t frame, ley_error *error);

/* LEY_ERROR_INPUT of a frame, with its number. */
ley_status fit_check_frame(const ley_fit *fit, int64_t frame, ley_error *error);

#endif
