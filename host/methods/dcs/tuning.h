/* Which variant, tile sizes and arithmetic dcs.cl gets on a device: defaults by device class, from
 * measured facts. */
#ifndef LEY_TUNING_DCS_H
#define LEY_TUNING_DCS_H

#include "engine/tuning.h"

/* The specification of dcs.cl, one field a key of LEY_DCS_KEYS. */
typedef struct dcs_spec {
#define DCS_FIELD(key, field) int field;
    LEY_DCS_KEYS(DCS_FIELD)
#undef DCS_FIELD
} dcs_spec;

/* What a user may ask. */
typedef struct dcs_wish {
    const char *variant;    /* NULL: by device class */
    int math;               /* TUNING_STANDARD, ... */
    int sum;                /* LEY_SPEC_SUM_... */
    bool field;             /* beside the potential */
    bool oblique;           /* the grid's steps are not perpendicular */
    int64_t n_x, n_y;       /* extents of the grid: the tile that pads it least is taken */
    tuning_planned planned; /* zeros: nothing */
} dcs_wish;

typedef struct dcs_choice {
    const char *variant;
    dcs_spec spec;
} dcs_choice;

/* Names of the DCS variants, i from 0; NULL behind the last. */
const char *tuning_dcs_variant(size_t i);

/* The name of the variant that this device gets by default for this kind of sum
 * (LEY_SPEC_SUM_...). */
const char *tuning_dcs_default(const dev_info *info, int sum);

/* Whether this variant reads each atom where it lies, as the papers' kernels do, with a position
 * that is rounded by how far it is from the grid's origin. NULL: the default, which does not. */
bool tuning_dcs_streams(const char *variant);

/* The recipe for 1/sqrt that direct summation takes on this device, for vectors of this width and
 * this wish for maths. */
int tuning_dcs_root(const dev_info *info, const calibration *c, int width, int math);

/* The facts that the choice looks at. */
uint64_t tuning_dcs_needs(const dev_info *info, const dcs_wish *wish);

/* Chooses. Errors: LEY_ERROR_USAGE for an unknown variant, LEY_ERROR_NO_DEVICE when the device
 * cannot run it. */
ley_status tuning_dcs(const dev_info *info, const calibration *c, const dcs_wish *wish, dcs_choice *choice,
                      ley_error *error);

/* Local memory that a work-group takes where it stages atoms. */
uint64_t tuning_dcs_local_bytes(const dev_info *info, const dcs_spec *spec);

/* Points that a work-group covers along x and y. */
int tuning_dcs_tile_x(const dcs_spec *spec);
int tuning_dcs_tile_y(const dcs_spec *spec);

/* The specifications that matter for a device: see kernel_kind. Few: each sum in all tile shapes
 * that some grid gets, standard maths, every root, with and without a share for the multipliers.
 * More: every variant with every sum, too. */
void tuning_dcs_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context);

#endif
