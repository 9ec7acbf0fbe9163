/* Frames of densities, as the queue of frames computes them. */
#ifndef LEY_FIT_WORKER_H
#define LEY_FIT_WORKER_H

#include "fit/state.h"

extern const frame_work fit_work;

#endif
