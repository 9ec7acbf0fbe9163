/* leyden: a map that is asked for, where what nobody says is chosen: where its points lie, by which
 * method it is computed. leyden.h, which has the conventions, includes this. */
#ifndef LEYDEN_H
#include "leyden.h"
#elif !defined(LEYDEN_REQUEST_H)
#define LEYDEN_REQUEST_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Where the points of a map lie ----------------------------------------------------------- */

/* What is said of a grid; the rest of it is chosen. */
enum {
    LEY_GIVEN_SPACING = 1,
    LEY_GIVEN_N = 2,
    LEY_GIVEN_LENGTH = 4,
    LEY_GIVEN_CENTRE = 8,
    LEY_GIVEN_ORIGIN = 16,
    LEY_GIVEN_PADDING = 32
};

typedef struct ley_grid_options {
    size_t size;         /* sizeof(ley_grid_options): ley_grid_options_default() sets it */
    unsigned given;      /* LEY_GIVEN_... of the fields that count, but for spacing and padding, which always do */
    double spacing_A[3]; /* distances of neighbouring points; without n one for all axes */
    int64_t n[3];        /* points along x, y and z, or along the vectors of the cell */
    double length_A[3];  /* from the first point to the last; with n, in place of spacing and padding */
    double centre_A[3];  /* with n; not given, or not-a-numbers: that of the atoms' bounding box */
    double origin_A[3];  /* the first point; with n, or where the grid is the cell */
    double padding_A;    /* least distance of the atoms from the faces; given with n: the grid reaches over the
                            atoms and just that */
} ley_grid_options;

/* Nothing given: 0.5 A from point to point, 10 A beyond the atoms. */
LEY_API void ley_grid_options_default(ley_grid_options *options);

/* Whether the grid is the cell itself in which atoms have images, with steps along its vectors
 * cell_A[m]: where these are periodic, all three, and span a volume, and neither length nor centre
 * nor padding is given, nor both n and spacing. `periodic` NULL: open space. */
LEY_API bool ley_grid_is_cell(const ley_grid_options *options, const bool periodic[3], const double cell_A[3][3]);

/* Errors: LEY_ERROR_USAGE for fields that contradict each other or lack n. */
LEY_API ley_status ley_grid_options_check(const ley_grid_options *options, const bool periodic[3],
                                          const double cell_A[3][3], ley_error *error);

/* The grid that the options say. Of a cell (ley_grid_is_cell()) its n points, or else as many
 * as come next to the spacing, are vector / n apart, from the origin, 0, on: the far faces are left
 * out. Of any other grid the axes are along x, y and z. Without n it is ley_grid_around() the
 * atoms. With n it has so many points, length / (n - 1) apart, where the length is given, or is
 * that of the atoms and the padding where this is given; else as the spacing says. Its middle is
 * the centre, of which without length and padding the next one is taken that makes the origin a
 * multiple of the spacing, unless centre or origin are given.
 * Errors: those of ley_grid_options_check() and ley_grid_check(). */
LEY_API ley_status ley_grid_choose(const ley_grid_options *options, const ley_atoms *atoms, const bool periodic[3],
                                   const double cell_A[3][3], ley_grid *grid, ley_error *error);

/* ---- By which method ------------------------------------------------------------------------- */

/* The potential of all charges in a medium of one permittivity,
 *
 *     phi_i = C sum_j q_j exp(-kappa d_ij) / d_ij,    d_ij = max(r_ij, r_min),
 *
 * over all images along the vectors of the cell along which atoms are periodic, in the units and
 * with the conventions of ley_long_range: to a tolerance, however that is reached soonest. */
typedef struct ley_request {
    size_t size;        /* sizeof(ley_request): ley_request_default() sets it */
    const char *method; /* "dcs": direct summation, of neither images nor screened charges; "msm": meshes; "auto":
                           whichever is predicted to reach the tolerance sooner on the engine's devices */
    double tolerance;   /* relative root mean square error that the values may have, [1e-6, 1e-1]. With "dcs" and "msm"
                           also 0: there is none, and meshes are what `potential` says. "dcs" is only measured by it */
    unsigned fixed;     /* LEY_FIX_... of the fields of `potential` that are not to be chosen. LEY_FIX_SUM: terms and
                           totals are what the run's options say (ley_run_options.sum); else they are floats,
                           compensated or doubles as the tolerance asks for. Where meshes are fixed the host alone does
                           not take the job */
    ley_long_range potential; /* units, medium, r_min, cell, screening; of meshes what is fixed */
    ley_grid_options grid;    /* where a map's points lie, where nobody has a grid (ley_map_compute()) */
} ley_request;

/* What "auto" may be off by where nobody says. */
#define LEY_USUAL_TOLERANCE 1e-4

/* Method auto, to LEY_USUAL_TOLERANCE, nothing fixed, ley_long_range_default() and
 * ley_grid_options_default(). */
LEY_API void ley_request_default(ley_request *request);

/* As ley_direct_check_memory(): of "auto" the map and what direct summation takes, as meshes are
 * not known yet. */
LEY_API ley_status ley_request_check_memory(const ley_request *request, const ley_atoms *atoms, const ley_grid *grid,
                                            ley_error *error);

/* Prepares a job that makes a map, or values at points, and the field there where they have one:
 * its report says by which method (ley_report.method), ley_job_long_range() by which meshes. A
 * tolerance goes to the run's options where these have none, and with it as many verified points as
 * it takes to hold the values to it, 256. "auto" takes direct summation where there are no more
 * than a million pairs of atoms and points, where the options name a variant, or no meshes are
 * expected to reach the tolerance sooner. A plan decides it, where the options have one.
 *
 * The engine may be NULL, as of all creators: LEY_ERROR_NO_DEVICE, a device is sooner than the host
 * alone, or meshes are fixed. Errors: LEY_ERROR_USAGE for a method of another name, a tolerance out
 * of its range, and what no method can make, with each one's reason; and those of
 * ley_job_create_direct() and ley_job_create_long_range(). */
LEY_API ley_status ley_job_create_chosen(ley_engine *engine, const ley_atoms *atoms, ley_target target,
                                         const ley_request *request, const ley_run_options *options, ley_job **job,
                                         ley_error *error);

/* What a method is expected to take for a request, by what devices are known to do. */
typedef struct ley_estimate {
    const char *method;  /* ley_method_name() */
    bool is_chosen;      /* it is what ley_job_create_chosen() takes */
    double seconds;      /* kernels, on all of the engine's devices */
    double building_s;   /* what counts of building kernels that the cache lacks */
    double relative_rms; /* error, relative to the root mean square of the values: of meshes what is expected, of
                            direct sums a bound of what rounding leaves */
    double bytes;        /* of the host's memory */
    ley_sum sum;         /* by which sums */
    ley_status status;   /* not LEY_OK: it has no part, and why; the figures are 0 */
    char reason[256];
} ley_estimate;

enum { LEY_MOST_ESTIMATES = 8 };

/* These of all methods that `request` may come to at this target. Errors: those of the creators;
 * then there are none. */
LEY_API ley_status ley_request_estimate(ley_engine *engine, const ley_atoms *atoms, ley_target target,
                                        const ley_request *request, const ley_run_options *options,
                                        ley_estimate estimates[LEY_MOST_ESTIMATES], size_t *count, ley_error *error);

/* All of it: makes the map of these atoms that is asked for, in request->potential.units, on this
 * grid, or where it is NULL on the one that the request says (ley_grid_choose()). The map is
 * the caller's: float[n[2]][n[1]][n[0]], by ley_map_values(). Without an engine the host does it
 * alone where that is sooner, and else the fastest device, which is opened for it. `accuracy`: how
 * far a sample of the values is from double precision; or NULL. Errors: those of all steps;
 * LEY_ERROR_WRONG_RESULT where the map misses the tolerance: a job leaves the nearest one. */
LEY_API ley_status ley_map_compute(ley_engine *engine, const ley_atoms *atoms, const ley_grid *grid,
                                   const ley_request *request, ley_map **map, ley_accuracy *accuracy, ley_error *error);

#ifdef __cplusplus
}
#endif
#endif
