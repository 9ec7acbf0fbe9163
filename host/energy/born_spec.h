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

/* Work-groups for so many particles and frames, whose sums have so many parts. */
static inline void born_groups(const dev_kernel *pairs, size_t padded, size_t parts, size_t frames, size_t groups[3])
{
    const born_pairs_spec *s = (const born_pairs_spec *)pairs->spec;
    groups[0] = padded / (size_t)(s->half ? s->tile : s->wg * s->ux * s->width);
    groups[1] = s->half ? parts / 2 + 1 : parts;
    groups[2] = frames;
}

#endif
