/* leyden: averages over frames of a trajectory. leyden.h, which has the conventions, includes
 * this. */
#ifndef LEYDEN_H
#include "leyden.h"
#elif !defined(LEYDEN_AVERAGE_H)
#define LEYDEN_AVERAGE_H

#ifdef __cplusplus
extern "C" {
#endif

/* The potential of charges in periodic cells, averaged over frames t of T:
 *
 *     phi_t(s) = C 4 pi / V_t sum over k != 0 of exp(-sigma^2 k^2 / 2) / k^2 S_t(k) exp(i k r),
 *     S_t(k)   = sum over j of q_j exp(-i k r_jt)
 *     mean     m(s) = 1/T sum over t of phi_t(s)
 *
 * at fractions s of the cell's vectors, r = s_a a_t + s_b b_t + s_c c_t, with k over the reciprocal
 * vectors of the frame's cell of volume V_t: Gaussian charges of standard deviation sigma, tin-foil
 * boundary, zero mean (Essmann et al., J. Chem. Phys. 103, 8577 (1995), without its gather;
 * Aksimentiev and Schulten, Biophys. J. 88, 3745 (2005), whose Ewald factor is 1 / (sigma sqrt 2)).
 *
 * A mean is linear in the charges: a frame costs the spreading of its charges over a mesh, and one
 * transform ends the run. Sums are integers of fixed point: they do not depend on the order of
 * frames, on the devices that took them, or on interruptions.
 *
 *     status = ley_average_create(NULL, atoms, &options, &average, &error);
 *     while (status == LEY_OK && next_frame(position_A, cell_A))
 *         status = ley_average_add(average, 1, position_A, cell_A, &error);
 *     if (status == LEY_OK)
 *         status = ley_average_map(average, LEY_AVERAGE_MEAN, &map, &error);
 *     ley_average_destroy(average);
 */
typedef struct ley_average ley_average;

typedef enum ley_average_quantity {
    LEY_AVERAGE_MEAN,      /* of the potential */
    LEY_AVERAGE_DEVIATION, /* its standard deviation over frames, by T - 1 */
    LEY_AVERAGE_ERROR,     /* standard error of the mean: deviation of the means of B blocks / sqrt(B) */
    LEY_AVERAGE_COUNT
} ley_average_quantity;

typedef struct ley_average_options {
    size_t size;          /* sizeof(ley_average_options): ley_average_options_default() sets it */
    ley_units units;      /* of the potential; */
    double dielectric;    /* a medium of this relative permittivity, */
    double temperature_K; /* at this temperature, where units are kT/e */
    double smooth_A;      /* sigma; 0: point charges, each frame a run of a ley_plan to the tolerance */
    double tolerance;     /* relative root mean square error of a frame's potential: [1e-6, 1e-1] */
    int64_t n[3];         /* points along a, b, c; 0: as many as come next to the spacing in the first cell */
    double spacing_A;     /* where n is 0 */
    double origin[3];     /* the first point, in fractions of the vectors */
    bool deviation;       /* the standard deviation is kept: a transform for each frame */
    int64_t block_frames; /* frames of a block, for standard errors; 0: none. A last block that is not full counts for
                             the mean alone */
    bool exact_cells;     /* each frame's own cell is taken exactly: a transform for each frame. False: densities are
                             averaged in fractional coordinates, and the mean cell is taken; where cells change, a
                             sample of frames is done both ways (ley_average_totals.cell_difference). With the
                             deviation cells are always exact */
    bool pmepot;          /* VMD's PMEPot, to compare: splines of order 4 on the grid itself, squared factors of the
                             splines, the first frame's cell for all */
    int64_t verify_every; /* frames: one of so many is verified, at 16 points, in double precision; the first one is
                             always; 0: none, nor the mean */
} ley_average_options;

/* kT/e at 300 K in vacuum, sigma 2.83 A (PMEPot's 0.25 per A is 2.8284), tolerance 1e-4, 1 A from
 * point to point, the origin at 0; no deviation, no blocks; one of 256 frames is verified. */
LEY_API void ley_average_options_default(ley_average_options *options);

/* The charges of the atoms, whose positions do not matter, are those of all frames. Atoms and
 * options are copied; the engine must outlive the average, and its devices share the frames:
 * nothing else runs on it from the first frame to ley_average_finish(). NULL: the fastest device is
 * opened. Errors: LEY_ERROR_USAGE for options out of range; LEY_ERROR_INPUT where all charges are
 * zero; those of ley_engine_create(). */
LEY_API ley_status ley_average_create(ley_engine *engine, const ley_atoms *atoms, const ley_average_options *options,
                                      ley_average **average, ley_error *error);

/* Adds frames: float32 [frames][atoms][3] in A, and the cells' vectors a, b, c, float64
 * [frames][3][3] in A. The arrays are the caller's again when it returns; devices go on. Errors:
 * LEY_ERROR_INPUT for a position that is not a number, or beyond 1e6 A, or a cell that spans no
 * volume, with the frame (counted from 1 over all that were added) and the atom: none of these
 * frames is added then, and the average may go on; LEY_ERROR_WRONG_RESULT where the verification of
 * a frame, which is named, has failed on every device; LEY_ERROR_MEMORY; LEY_CANCELLED. */
LEY_API ley_status ley_average_add(ley_average *average, size_t frames, const float *position_A, const double *cell_A,
                                   ley_error *error);

/* Asks an addition to stop soon: what has been added counts. Async-signal-safe. */
LEY_API void ley_average_cancel(ley_average *average);

/* A new map of the frames so far, over the mean cell, which the caller destroys: frames may be
 * added afterwards. Errors: LEY_ERROR_USAGE for a quantity that is not kept, no frame, or fewer
 * than two frames or blocks of those that need two; LEY_ERROR_WRONG_RESULT. */
LEY_API ley_status ley_average_map(ley_average *average, ley_average_quantity quantity, ley_map **map,
                                   ley_error *error);

/* ---- Profiles -------------------------------------------------------------------------------- */

/* How the potential's two constants of integration are chosen. */
typedef enum ley_profile_boundary {
    LEY_PROFILE_TIN_FOIL,  /* periodic, with zero mean: the plane means of the map */
    LEY_PROFILE_SYMMETRIC, /* the mean of it and its mirror image about the cell's middle */
    LEY_PROFILE_ONE_SIDE,  /* field and potential are 0 at the first plane, as of `gmx potential` */
    LEY_PROFILE_COUNT
} ley_profile_boundary;

/* Means over planes across cell vector `axis` (0, 1, 2) of the frames' smoothed charges, and what
 * follows from them by integration along the planes' normal: `planes` of them, arrays of the
 * average, valid until the next call. Errors of blocks are not-a-numbers where there are fewer than
 * two. */
typedef struct ley_profile {
    size_t planes;
    const double *distance_A;                                   /* along the normal, from the first plane */
    const double *charge_e_A3;                                  /* charge density in e / A^3 */
    const double *field;                                        /* along the normal, in units / A */
    const double *potential;                                    /* in units */
    const double *charge_error, *field_error, *potential_error; /* standard errors by blocks */
} ley_profile;

LEY_API ley_status ley_average_profile(ley_average *average, int axis, ley_profile_boundary boundary,
                                       ley_profile *profile, ley_error *error);

/* ---- What was done --------------------------------------------------------------------------- */

typedef struct ley_average_totals {
    int64_t frames, blocks; /* that count; blocks that are full */
    double cell_A[3][3];    /* the mean cell */
    int64_t n[3], mesh[3];  /* points of the map, nodes of the mesh */
    int order;              /* of the splines */
    double expected_error;  /* relative root mean square, of a frame: in the widest cell where each is taken
                               exactly, else in the mean one */
    int64_t checked_frames, checked_points;
    double relative_rms;    /* error over all checked points, as a share of their frames' root mean squares */
    double mean_error;      /* of a structure factor of the mean, recomputed from every frame, as a share of its
                               root mean square over frames */
    double cell_difference; /* relative RMS between the two ways with cells, of a sample: the first frame, and
                               those whose number from 0 is a power of 2, 16 at most; not a number: cells
                               did not change, or they are exact */
    double seconds;         /* since the first frame was added */
    int devices, failed;    /* that took frames; of them, those that failed */
    char device[128];       /* their names */
} ley_average_totals;

/* Waits for all that is under way. Errors: as ley_average_add(). */
LEY_API ley_status ley_average_finish(ley_average *average, ley_average_totals *totals, ley_error *error);

/* ---- Checkpoints ----------------------------------------------------------------------------- */

/* Writes all sums to a file, whole or not at all; and goes on from one: with the same atoms and
 * options a run that was resumed makes the same bytes as one that was not; of point charges, the
 * same values within the tolerance. The mesh stays what it was, also on devices for which another
 * one would have been chosen. Errors: LEY_ERROR_FILE; LEY_ERROR_INPUT for a file that is damaged,
 * or of other charges or options, which are named. */
LEY_API ley_status ley_average_save(ley_average *average, const char *path, ley_error *error);
LEY_API ley_status ley_average_load(ley_average *average, const char *path, ley_error *error);

/* ---- Ranks ----------------------------------------------------------------------------------- */

/* Processes that share a trajectory's frames, each with an average of the same atoms and options.
 * add_up() adds up words of all of them, each for itself and modulo 2^64, in place, as MPI_Reduce()
 * does: for rank `to`, or for all where that is -1. All call it in the same order. What is not 0 is
 * a failure. */
typedef struct ley_average_ranks {
    int count, own;
    int (*add_up)(void *context, int64_t *words, size_t count, int to);
    void *context;
} ley_average_ranks;

/* All begin together, with the first frame of all, which counts where it is added alone. They take
 * frames in pieces, each of which ends at ley_average_piece_end() of a frame in it.
 * ley_average_go_to() says that the next frame that is added is this one, counted from 0 over those
 * of all ranks; those before it that were not added here are others'. It returns when devices are
 * at the last of what was added, which is the time to take the next piece. When all have gone to
 * the end they share what they have: the results of each have the same bytes then as those of one
 * average of all frames, and no frame can be added. Errors: LEY_ERROR_USAGE for a frame before
 * those that were added, for point charges; LEY_ERROR_DEVICE where add_up() fails; those of
 * ley_average_add(). A rank that fails leaves the others waiting: it is to end them. */
LEY_API ley_status ley_average_begin(ley_average *average, const ley_average_ranks *ranks, const float *position_A,
                                     const double *cell_A, ley_error *error);
LEY_API int64_t ley_average_piece_end(const ley_average *average, int64_t frame);
LEY_API ley_status ley_average_go_to(ley_average *average, int64_t frame, ley_error *error);
LEY_API ley_status ley_average_share(ley_average *average, ley_error *error);

LEY_API void ley_average_destroy(ley_average *average);

#ifdef __cplusplus
}
#endif
#endif
