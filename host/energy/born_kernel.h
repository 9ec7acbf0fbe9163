/* The kernels of generalised Born, cl/born_pairs.cl and born_particles.cl. */
#ifndef LEY_ENERGY_BORN_KERNEL_H
#define LEY_ENERGY_BORN_KERNEL_H

#include "energy/born_spec.h"

extern const kernel_kind born_pairs_kind, born_particles_kind;

/* What of the options kernels are compiled for. */
typedef struct born_wish {
    int cutoff; /* LEY_BORN_CUT_NOT, ... */
    bool neck, salt, periodic, forces;
    bool columns;  /* energies are also wanted with each group */
    size_t padded; /* particles */
} born_wish;

typedef struct born_kernels {
    dev_kernel pairs[BORN_PASSES], particles[BORN_PASSES];
} born_kernels;

/* Those of a device, as its arithmetic is measured; without forces none of the chain. A zeroed one
 * may be destroyed, too. */
ley_status born_kernels_create(dev *device, const born_wish *wish, born_kernels *made, ley_error *error);
void born_kernels_destroy(born_kernels *k);

/* Whether a device computes each pair once, of so many particles; `with_columns`: of a pass whose
 * sums are also wanted with each group. And how many parts sums then have; 0: never. */
bool born_is_half(const dev_info *info, size_t padded, bool with_columns);
size_t born_half_parts(size_t padded);

/* Seconds that so many pairs of a pass are predicted to take. */
double born_predict(const dev_kernel *pairs, double count);

#endif
