/* Which variant and sizes lattice.cl gets on a device. */
#ifndef LEY_LONG_RANGE_MULTILEVEL_LATTICE_TUNING_H
#define LEY_LONG_RANGE_MULTILEVEL_LATTICE_TUNING_H

#include "engine/tuning.h"
#include "long_range/multilevel/lattice_layout.h"

/* Nodes that neighbourhoods may reach far: programs are unrolled along z. */
enum { LATTICE_MOST_RADIUS = 31 };

/* The specification of lattice.cl, one field a key of LEY_LATTICE_KEYS. */
typedef struct lattice_spec {
    LEY_LATTICE_KEYS(KERNEL_KEY_FIELD)
} lattice_spec;

typedef struct lattice_wish {
    const char *variant; /* NULL: by device class */
    int sum;             /* LEY_SPEC_SUM_...: of the totals */
    int radius[3];
    bool mirrored; /* weights are */
} lattice_wish;

typedef struct lattice_choice {
    const char *variant;
    lattice_spec spec;
} lattice_choice;

/* Names of the variants, i from 0; NULL behind the last. */
const char *tuning_lattice_variant(size_t i);

/* The name of the variant that this device gets by default, for any kind of sum. */
const char *tuning_lattice_default(const dev_info *info, int sum);

/* Chooses. Errors: LEY_ERROR_USAGE for an unknown variant or a radius that is none,
 * LEY_ERROR_NO_DEVICE when the device cannot run it. */
ley_status tuning_lattice(const dev_info *info, const lattice_wish *wish, lattice_choice *choice, ley_error *error);

/* Local memory that a work-group takes; memory of its own that a work-item takes where it has no
 * group. */
uint64_t tuning_lattice_local_bytes(const lattice_spec *spec);
uint64_t tuning_lattice_private_bytes(const lattice_spec *spec);

/* Nodes of a work-group along each axis. */
void tuning_lattice_region(const lattice_spec *spec, int64_t region[3]);

/* Numbers of the table of weights. */
size_t tuning_lattice_weights(const lattice_spec *spec);

/* By how much planes at (dx, dy) are cut, of a weight's reach along z. */
int tuning_lattice_reach(const lattice_spec *spec, int reach);

/* The specifications that matter for a device: see kernel_kind. Few: the default variant in every
 * sum. More: every variant, weights that are not mirrored and too many for constant memory. All:
 * every variant in every sum. */
void tuning_lattice_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context);

#endif
