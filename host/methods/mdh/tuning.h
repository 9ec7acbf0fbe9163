/* Which variant, sizes and arithmetic mdh.cl gets on a device. */
#ifndef LEY_TUNING_MDH_H
#define LEY_TUNING_MDH_H

#include "engine/tuning.h"

/* The specification of mdh.cl, one field a key of LEY_MDH_KEYS. */
typedef struct mdh_spec {
#define MDH_FIELD(key, field) int field;
    LEY_MDH_KEYS(MDH_FIELD)
#undef MDH_FIELD
} mdh_spec;

typedef struct mdh_wish {
    const char *variant;    /* NULL: by device class */
    int math;               /* TUNING_STANDARD, ... */
    int sum;                /* LEY_SPEC_SUM_... */
    int screening;          /* LEY_SCREENING_... */
    int points;             /* LEY_POINTS_... */
    bool field;             /* of a list without screening: beside the potential */
    int64_t n_a, n_b;       /* extents of a typical face: the shape that pads it least is taken */
    tuning_planned planned; /* zeros: nothing */
} mdh_wish;

typedef struct mdh_choice {
    const char *variant;
    mdh_spec spec;
} mdh_choice;

/* Names of the variants, i from 0; NULL behind the last. */
const char *tuning_mdh_variant(size_t i);

/* The name of the variant that this device gets by default, for any kind of sum. */
const char *tuning_mdh_default(const dev_info *info, int sum);

/* The facts that the choice looks at. */
uint64_t tuning_mdh_needs(const dev_info *info, const mdh_wish *wish);

/* Chooses. Errors: LEY_ERROR_USAGE for an unknown variant, LEY_ERROR_NO_DEVICE when the device
 * cannot run it. */
ley_status tuning_mdh(const dev_info *info, const calibration *c, const mdh_wish *wish, mdh_choice *choice,
                      ley_error *error);

/* Local memory that a work-group takes where it stages atoms. */
uint64_t tuning_mdh_local_bytes(const mdh_spec *spec);

/* The specifications that matter for a device: see kernel_kind. Few: the default variant in
 * every sum and screening, its shapes, standard maths, and no share for the multipliers. More:
 * every recipe, too. All: every variant, and every recipe in every kind of screening that has
 * it. */
void tuning_mdh_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context);

#endif
