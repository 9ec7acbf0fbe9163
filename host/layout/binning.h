/* Atoms hashed into bins of fixed depth, for kernels that visit the neighbourhood of a region of
 * grid points. Device-free, shared by every back end.
 *
 * Bins are boxes along x, y and z, whatever the grid's steps are; one of them has its lowest corner
 * on the grid's origin. Bin (i, j, k) is number (k n_y + j) n_x + i. A region is region[0] x
 * region[1] x region[2] grid points; of an oblique grid it is looked at as the box around these.
 * Around the bin that a region's first point lies in ("home"), bins from
 * home - below to home + above hold all atoms within the cutoff of the region's points, and all of
 * these bins exist, for every region: a kernel needs no test of bounds. */
#ifndef LEY_BINNING_H
#define LEY_BINNING_H

#include "leyden.h"

#include <stdatomic.h>

/* Where unused slots lie along each axis, their charge being 0: beyond any cutoff, and near enough
 * for the fourth power of a distance to be a float. */
#define BINNING_FAR_A (-1e9f)
enum { BINNING_MOST_DEPTH = 128 };

typedef struct binning_options {
    double cutoff_A;
    int depth;             /* slots per bin, 1 to BINNING_MOST_DEPTH */
    double fill;           /* wished share of used slots, where the density is that of most atoms */
    double density_per_A3; /* 0: estimated from a sample, as the median atom sees it */
    double side_A[3];      /* 0, 0, 0: (fill depth / density)^(1/3), within bounds; else taken as it is */
    bool even_sides;       /* of a side that is computed: a whole number of 1/64 A, so that floats have it in full, and
                              what it is apart from points whose spacing is 1/2 or 1/4 A as well */
    int64_t region[3];
    int64_t planes[2];   /* of a grid along the axes: bins are only kept for planes [planes[0], planes[1]) of z, the
                            first of which begins a region; 0, 0: for all */
    int64_t spare_bins;  /* empty bins at either end of each axis, beyond those needed */
    double charge_scale; /* slots hold the charge times this */
    bool keep_neutral;   /* atoms without charge take slots too; else they are left out, for a kernel may stop at the
                            first q = 0 */
    bool with_index;     /* keep every slot's atom */
    bool periodic[3];    /* along these vectors of the cell; bins are filled with all images within reach */
    double cell_A[3][3]; /* vectors a, b, c; those that are not periodic are not read */
    const atomic_bool *cancelled; /* stops the filling when it becomes true; or NULL */
} binning_options;

/* Depth 8, fill 3/4, regions of 8 x 8 x 8, open. The cutoff is left 0: the caller's to set. */
void binning_options_default(binning_options *options);

/* Where bins lie, before there are any. */
typedef struct binning_plan {
    ley_grid grid;
    binning_options options;
    double side_A[3];
    double reach_A;        /* the cutoff and a hair: atoms that close to the grid's box, along each axis, are binned */
    double density_per_A3; /* what the side was computed from; 0: the side was given */
    double low_A[3], high_A[3];               /* the box around the grid, from its origin */
    double region_low_A[3], region_high_A[3]; /* around a region, from its first point */
    int64_t n[3], bins;
    int64_t below[3], above[3];
    int64_t origin_bin[3]; /* the bin with its lowest corner on the grid's origin, which is below 0 where only the bins
                              of later planes are kept: */
    int64_t layers, first_layer; /* of all bins along z, and the first one of these that is kept */
    int64_t slot_bytes;          /* of all slots */
    double entries;              /* atoms and images in reach, an estimate */
} binning_plan;

/* The side of the bins, and their number: at most four for each atom in reach and 4096 more, and no
 * more than about 18 along an axis of a neighbourhood, unless the side is given. Errors:
 * LEY_ERROR_USAGE for options out of range, LEY_ERROR_INPUT for a degenerate cell, more than 2^31 -
 * 1 bins, or a cell so small that images are more than can be counted. */
ley_status binning_prepare(const ley_atoms *atoms, const ley_grid *grid, const binning_options *options,
                           binning_plan *plan, ley_error *error);

/* What binning_fill() and binning_add_extra() are going to take. How many images there are, and how
 * many atoms overflow, is an estimate: the former the mean over all places of a cell, the latter
 * what must overflow though atoms be spread evenly. */
typedef struct binning_bytes {
    double entries; /* atoms and images */
    double sorting; /* while bins are filled */
    double bins, overflow, extra;
} binning_bytes;

/* Errors: none, for a plan that binning_prepare() made. */
binning_bytes binning_predict(const binning_plan *plan, const ley_atoms *atoms);

/* Which images d + sum_i n_i v_i of a position d, from the grid's origin, can be in reach: n_i lies
 * between low_i and high_i, less dual_i . d. */
typedef struct binning_images {
    bool any, periodic[3];
    double v_A[3][3], dual[3][3], low[3], high[3];
    double each; /* no more than an atom can have */
    double mean; /* what an atom has on average */
} binning_images;

/* Errors: none, for a plan that binning_prepare() made of as many atoms. */
ley_status binning_find_images(const binning_plan *plan, size_t atoms, binning_images *images, ley_error *error);

/* How far below and above the planes of some regions the atoms are at most that their bins hold. */
double binning_reach_of_planes(const binning_plan *plan);

/* The first point of a region, counted in regions, from the grid's origin. */
void binning_first_point_A(const binning_plan *plan, const int64_t region[3], double point_A[3]);

/* Atoms in bins. A slot is {x, y, z, q}: the position, A, from the bin's lowest corner, so that a
 * float keeps its digits wherever the bin is. Within a bin, and within the overflow of a bin, atoms
 * stand in the order of their index (images of one atom: of the cells' along c, then b, then a),
 * whatever the number of threads. A position may lie a rounding outside of its bin. */
typedef struct binned_atoms {
    int64_t bins;
    int depth;
    float (*slot)[4]; /* [bins][depth] */
    uint8_t *used;    /* [bins]: slots used, the first ones of the bin */
    int32_t *index;   /* [bins][depth], -1 where unused; NULL unless asked for */
    int64_t overflow; /* atoms that found their bin full, by bin: */
    float (*overflow_slot)[4];
    int32_t *overflow_bin, *overflow_index;
    int64_t binned;  /* atoms and images in bins and overflow */
    int64_t outside; /* atoms with neither themselves nor an image in reach */
    int64_t neutral; /* atoms left out, for they have no charge */
    /* The sparse layer, from binning_add_extra(): bin b has more bins, from extra_first[b] to
     * before extra_first[b + 1]. */
    int64_t extra_bins;
    int32_t *extra_first;   /* [bins + 1] */
    float (*extra_slot)[4]; /* [extra_bins][depth] */
    bool owns_slots;
} binned_atoms;

/* Bins the atoms, in time linear in atoms, images and bins, on all cores. `slots` has room for
 * plan->slot_bytes (staging memory of a device), or is NULL: memory of its own. Errors:
 * LEY_ERROR_MEMORY, before more is taken than there is; LEY_ERROR_INPUT for more than 2^31 - 1
 * images; LEY_CANCELLED. */
ley_status binning_fill(const binning_plan *plan, const ley_atoms *atoms, void *slots, binned_atoms **binned,
                        ley_error *error);
void binning_destroy(binned_atoms *binned);

/* Puts the overflow into bins of its own as well. Errors: LEY_ERROR_MEMORY, LEY_CANCELLED. */
ley_status binning_add_extra(binned_atoms *binned, const atomic_bool *cancelled, ley_error *error);

#endif
