/* What is behind ley_particles. */
#ifndef LEY_SOURCE_PARTICLES_H
#define LEY_SOURCE_PARTICLES_H

#include "leyden.h"

struct ley_particles {
    ley_particles_arrays arrays; /* of its own */
    void *texts;                 /* where names are; NULL: none */
};

#endif
