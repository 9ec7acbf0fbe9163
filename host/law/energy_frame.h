/* What the law of energies computes. */
#ifndef LEY_LAW_ENERGY_FRAME_H
#define LEY_LAW_ENERGY_FRAME_H

#include "leyden.h"

/* One frame. `options` are complete and checked (energy_options.h). */
typedef struct energy_frame {
    const ley_particles_arrays *particles;
    const ley_energy_options *options;
    const float *position_A; /* [particles][3] */
    const double *cell_A;    /* [3][3]; NULL: not periodic */
} energy_frame;

#endif
