/* The kernels of generalised Born, cl/born_pairs.cl and born_particles.cl. */
#ifndef LEY_ENERGY_BORN_KERNEL_H
#define LEY_ENERGY_BORN_KERNEL_H

#include "arguments.h"
#include "dev_kernel.h"

extern const kernel_kind born_pairs_kind, born_particles_kind;
KERNEL_ARGUMENTS_STRUCT(born_pairs, LEY_BORN_PAIRS_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(born_particles, LEY_BORN_PARTICLES_ARGUMENTS);

/* As LEY_BORN_PAIRS_KEYS and LEY_BORN_PARTICLES_KEYS. */
typedef struct born_pairs_spec {
    LEY_BORN_PAIRS_KEYS(KERNEL_KEY_FIELD)
} born_pairs_spec;
typedef struct born_particles_spec {
    LEY_BORN_PARTICLES_KEYS(KERNEL_KEY_FIELD)
} born_particles_spec;

/* What of the options kernels are compiled for. */
typedef struct born_wish {
    int cutoff; /* LEY_BORN_CUT_NOT, ... */
    bool neck, salt, periodic, forces;
} born_wish;

enum { BORN_PASSES = 3 }; /* LEY_BORN_INTEGRALS, ... */

typedef struct born_kernels {
    dev_kernel pairs[BORN_PASSES], particles[BORN_PASSES];
} born_kernels;

/* Those of a device, as its arithmetic is measured; without forces none of the chain. A zeroed one
 * may be destroyed, too. */
ley_status born_kernels_create(dev *device, const born_wish *wish, born_kernels *made, ley_error *error);
void born_kernels_destroy(born_kernels *k);

/* Particles that a work-group of pairs has; seconds that so many pairs of a pass are predicted to
 * take. */
size_t born_block(const dev_kernel *pairs);
double born_predict(const dev_kernel *pairs, double count);

#endif
