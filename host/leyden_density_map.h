/* leyden: densities of atoms as maps, as electron microscopes see them, and how well the frames of
 * a trajectory fit a map. (The electron density of a wavefunction is leyden_wavefunction.h's.)
 * leyden.h, which has the conventions, includes this; docs/fitting.md has the formulas. */
#ifndef LEYDEN_H
#include "leyden.h"
#elif !defined(LEYDEN_DENSITY_MAP_H)
#define LEYDEN_DENSITY_MAP_H

#ifdef __cplusplus
extern "C" {
#endif

/* The density of atoms at a resolution d,
 *
 *     rho(r) = sum_i w_i A_i exp(-|r - r_i|^2 / (2 s_i^2)),
 *
 * each atom cut off where its distance along an axis of the grid, perpendicular to the planes of
 * the other two axes, is more than c s_i. */
typedef enum ley_density_convention {
    LEY_DENSITY_MOLMAP,  /* ChimeraX's molmap, EMAN's: s = d / (pi sqrt 2), A = (2 pi s^2)^(-3/2), c = 5 */
    LEY_DENSITY_VOLTOOL, /* VMD's voltool and mdff: s_i = 0.2 d times the atom's radius in A, A = 1; c is 4, from 9 A on
                            2 */
    LEY_DENSITY_CONVENTIONS
} ley_density_convention;

/* What w_i is. */
typedef enum ley_density_weights {
    LEY_DENSITY_NUMBER, /* the atomic number */
    LEY_DENSITY_MASS,   /* the standard atomic weight */
    LEY_DENSITY_CHARGE,
    LEY_DENSITY_OCCUPANCY, /* 1, unless the caller has others */
    LEY_DENSITY_WEIGHTS
} ley_density_weights;

/* Atomic numbers by the atoms' names, [n]; 0: the name says nothing. NULL: there are no names, as
 * of atoms that no PQR file has. */
LEY_API const int32_t *ley_atoms_elements(const ley_atoms *atoms);

/* w of each atom, [n]. Errors: LEY_ERROR_INPUT, with the first atom, where an element is needed and
 * not known. */
LEY_API ley_status ley_density_weights_of(const ley_atoms *atoms, ley_density_weights weights, double *weight,
                                          ley_error *error);

/* The same of one element; 0: there is no such element. */
LEY_API double ley_element_mass(int32_t number);

/* Van der Waals radius; 0: there is none of this element. */
LEY_API double ley_element_radius_A(int32_t number);

/* Radii that voltool makes widths of, [n]: the atoms' own, or those of their elements where these
 * are 0; 0 where neither is known. */
LEY_API void ley_density_radii_of(const ley_atoms *atoms, double *radius_A);

typedef struct ley_density_options {
    size_t size;         /* sizeof(ley_density_options): ley_density_options_default() sets it */
    double resolution_A; /* d: [0.1, 1000] */
    ley_density_convention convention;
    ley_density_weights weights; /* who makes the weights reads this; ley_fit_create() does not */
    double window_A;             /* how far from a window's atoms its nodes may be: (0, 100]; 0: half of d */
    int64_t verify_every; /* frames: one of so many is verified in parts in double precision, the first one always; 0:
                             none */
} ley_density_options;

/* Molmap, 5 A, atomic numbers; one of 256 frames is verified. */
LEY_API void ley_density_options_default(ley_density_options *options);

/* The grid of a structure's density where no other one is given: orthogonal, d / 3 (molmap) or 0.3
 * d (voltool) from node to node, 3 d beyond all atoms. Errors: those of ley_grid_check(). */
LEY_API ley_status ley_density_grid(const ley_atoms *atoms, const ley_density_options *options, ley_grid *grid,
                                    ley_error *error);

/* What frames are compared with, and what is wanted. */
typedef struct ley_fit_target {
    size_t size;          /* sizeof(ley_fit_target) */
    const ley_grid *grid; /* of densities that are compared with nothing; else NULL: */
    const ley_map *map;   /* in memory, copied. Not-a-numbers do not count */
    const ley_map *mask;  /* of the same grid: nodes above 0 are a set of their own; or NULL */
    bool has_threshold;   /* frames have thresholds */
    bool has_gradient;
    bool by_host;          /* and without an engine: no device is opened */
    int32_t windows;       /* how many, */
    const int32_t *window; /* [n]: of which one an atom is, from 0; -1: of none. Copied */
} ley_fit_target;

/* Scores of a frame, with a the density, b the map; sums over nodes that count. Where a or b is the
 * same at all of them a correlation is undefined, a not-a-number. */
typedef enum ley_fit_score {
    LEY_FIT_PEARSON,     /* correlation about the mean */
    LEY_FIT_OVERLAP,     /* sum a b / sqrt(sum a^2 sum b^2): ChimeraX's correlation */
    LEY_FIT_MASK,        /* pearson's over the nodes of the mask */
    LEY_FIT_THRESHOLDED, /* pearson's over the nodes where a is no less than the frame's threshold */
    LEY_FIT_MEAN,        /* of a */
    LEY_FIT_DEVIATION,   /* of a, the root mean square one */
    LEY_FIT_SCORES
} ley_fit_score;

/* Densities of frames of the same atoms, prepared: kernels, buffers, the map. */
typedef struct ley_fit ley_fit;

/* For n atoms of these weights, and radii in A (which molmap does not read: NULL). All is copied;
 * the engine must outlive this. NULL: the fastest device is opened as soon as the host would be
 * slower; where there is none the host computes. Errors: LEY_ERROR_USAGE for options out of range,
 * and a mask of another grid; LEY_ERROR_INPUT where the resolution is less than the spacing of the
 * grid, the map is the same at every node that counts, a weight is not within 1e6, all are 0, or
 * voltool lacks a radius; LEY_ERROR_MEMORY; those of ley_engine_create(). */
LEY_API ley_status ley_fit_create(ley_engine *engine, const ley_fit_target *target, size_t n, const double *weight,
                                  const double *radius_A, const ley_density_options *options, ley_fit **fit,
                                  ley_error *error);

/* Where results go; arrays that are NULL are not wanted. */
typedef struct ley_fit_results {
    size_t size;     /* sizeof(ley_fit_results) */
    double *score;   /* [frames][LEY_FIT_SCORES]; of a mask or a threshold that there is not: not-a-numbers */
    double *window;  /* [frames][windows]: pearson's over the nodes of each */
    float *gradient; /* [frames][n][3] of LEY_FIT_PEARSON by the atoms' places, 1/A; 0 where that is undefined */
    float *density;  /* [frames][nodes], the grid's first axis fastest */
} ley_fit_results;

/* Frames: float32 [frames][n][3], A; their thresholds, above 0, [frames], or NULL. The same frame
 * has the same bytes each time on the same device. Errors: LEY_ERROR_USAGE for results that the
 * target has not asked for; LEY_ERROR_INPUT for a position that is not a number, or beyond 1e6 A,
 * with the frame, counted from 1 over all that were run, and the atom; LEY_ERROR_WRONG_RESULT where
 * a frame, which is named, has failed its verification on every device; LEY_ERROR_MEMORY;
 * LEY_CANCELLED. */
LEY_API ley_status ley_fit_run(ley_fit *fit, int64_t frames, const float *position_A, const double *threshold,
                               const ley_fit_results *results, ley_error *error);

/* Asks a run to stop soon. Async-signal-safe. */
LEY_API void ley_fit_cancel(ley_fit *fit);

typedef struct ley_fit_totals {
    int64_t frames, checked_frames, checked_nodes;
    double error;      /* largest deviation from double precision of a sum that was checked, of its absolute terms */
    int64_t undefined; /* frames without a correlation, */
    int64_t first;     /* the first of them, from 1; 0: none */
    double seconds, device_seconds; /* of all runs */
    double sort_seconds;            /* of device_seconds, for sorting atoms into cells */
    int devices, failed;            /* that took frames; of them, those that failed */
    char device[128];               /* their names */
} ley_fit_totals;

LEY_API void ley_fit_get_totals(const ley_fit *fit, ley_fit_totals *totals);

/* The density of a structure as a map on this grid, in one call: as ley_fit_create() and
 * ley_fit_run() of one frame, by ley_density_radii_of(). `weight` NULL: a map of zeros, for the
 * caller to fill. `totals`, or NULL: what became of it. */
LEY_API ley_status ley_density_map_create(ley_engine *engine, const ley_atoms *atoms, const double *weight,
                                          const ley_density_options *options, const ley_grid *grid, bool by_host,
                                          ley_map **map, ley_fit_totals *totals, ley_error *error);
LEY_API void ley_fit_destroy(ley_fit *fit);

#ifdef __cplusplus
}
#endif
#endif
