/* Frames of energies, as the queue of frames computes them. */
#ifndef LEY_ENERGY_WORKER_H
#define LEY_ENERGY_WORKER_H

#include "energy/state.h"

/* A run is of kind 1 where its frames are periodic, else 0. */
extern const frame_work energy_work;

#endif
