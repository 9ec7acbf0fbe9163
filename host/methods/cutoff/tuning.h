/* Which variant, sizes and arithmetic cutoff.cl gets on a device. */
#ifndef LEY_TUNING_CUTOFF_H
#define LEY_TUNING_CUTOFF_H

#include "engine/tuning.h"

/* Points along the edges of a variant's regions; planes that slabs are cut at. */
enum { CUTOFF_LAYER = 8 };

/* The specification of cutoff.cl, one field a key of LEY_CUTOFF_KEYS. */
typedef struct cutoff_spec {
#define CUTOFF_FIELD(key, field) int field;
    LEY_CUTOFF_KEYS(CUTOFF_FIELD)
#undef CUTOFF_FIELD
} cutoff_spec;

typedef struct cutoff_wish {
    const char *variant;    /* NULL: by device class */
    int math;               /* TUNING_STANDARD, ... */
    int sum;                /* LEY_SPEC_SUM_...: of the totals */
    int pair;               /* ley_pair, or LEY_PAIR_SPEC_... */
    int store;              /* LEY_STORE_... */
    int depth;              /* of the bins */
    bool field;             /* beside the potential */
    int nodes;              /* of groups: LEY_NODES, where local memory has room for so many; 0: none */
    bool by_plane;          /* the same of LEY_BY_PLANE */
    bool oblique;           /* the grid's steps are not perpendicular to each other */
    double reach[3];        /* the cutoff, in steps of the grid; 0, 0, 0: the usual one */
    tuning_planned planned; /* zeros: nothing */
} cutoff_wish;

typedef struct cutoff_choice {
    const char *variant;
    cutoff_spec spec;
} cutoff_choice;

/* Names of the variants, i from 0; NULL behind the last. */
const char *tuning_cutoff_variant(size_t i);

/* The name of the variant that such a device gets by default at the usual reach, for any kind of
 * sum. */
const char *tuning_cutoff_default(const dev_info *info, int sum);

/* The facts that the choice looks at, and its rate. */
uint64_t tuning_cutoff_needs(const cutoff_wish *wish);

/* Chooses. Errors: LEY_ERROR_USAGE for an unknown variant, LEY_ERROR_NO_DEVICE when the device
 * cannot run it. */
ley_status tuning_cutoff(const dev_info *info, const calibration *c, const cutoff_wish *wish, cutoff_choice *choice,
                         ley_error *error);

/* Local memory that a work-group takes. */
uint64_t tuning_cutoff_local_bytes(const cutoff_spec *spec);

/* Points of a region along each axis. */
void tuning_cutoff_region(const cutoff_spec *spec, int64_t region[3]);

/* The cutoff that rates are compared at, in steps: 12 A at 0.5 A. */
enum { CUTOFF_USUAL_REACH = 24 };

/* The share of the distances that a kernel computes which are within the cutoff. It computes those
 * of an atom to all points of each block, of those that it sorts atoms by, which is in reach of the
 * atom: the volume of a ball over that of what is as near to a block. `reach`: the cutoff, in steps
 * along x, y and z; 0, 0, 0: the usual one. */
double tuning_cutoff_hits(const cutoff_spec *spec, const double reach[3]);

/* Pairs within the cutoff that a device will compute a second by this specification, roughly: from
 * its calibration, the share of distances that count, and what sorting the atoms takes, for work
 * grows by it where cutoffs are small. `reach` as above. */
double tuning_cutoff_rate(const dev_info *info, const cutoff_spec *spec, const calibration *c, const double reach[3]);

/* The same of what is chosen for a wish; `facts` NULL: the device has not been measured yet. */
double tuning_cutoff_expected_rate(const dev_info *info, const calibration *facts, const cutoff_wish *wish);

/* The specifications that matter for a device: see kernel_kind. Few: the default variant in
 * every sum and both orders, with standard maths too. More: every pair function but an expression,
 * whose source is the user's; and every variant. All: every variant in every sum, and every
 * root. */
void tuning_cutoff_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context);

#endif
