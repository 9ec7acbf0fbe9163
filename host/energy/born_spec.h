/* Arguments and specifications of generalised Born's kernels, cl/born_pairs.cl and
 * born_particles.cl. */
#ifndef LEY_ENERGY_BORN_SPEC_H
#define LEY_ENERGY_BORN_SPEC_H

#include "arguments.h"
#include "dev_kernel.h"

KERNEL_ARGUMENTS_STRUCT(born_pairs, LEY_BORN_PAIRS_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(born_particles, LEY_BORN_PARTICLES_ARGUMENTS);

/* As LEY_BORN_PAIRS_KEYS and LEY_BORN_PARTICLES_KEYS. */
typedef struct born_pairs_spec {
    LEY_BORN_PAIRS_KEYS(KERNEL_KEY_FIELD)
} born_pairs_spec;
typedef struct born_particles_spec {
    LEY_BORN_PARTICLES_KEYS(KERNEL_KEY_FIELD)
} born_particles_spec;

enum { BORN_PASSES = 3 }; /* LEY_BORN_INTEGRALS, ... */

/* Particles that a work-group of pairs has. */
static inline size_t born_block(const dev_kernel *pairs)
{
    const born_pairs_spec *s = (const born_pairs_spec *)pairs->spec;
    return (size_t)(s->wg * s->ux * s->width);
}

#endif
