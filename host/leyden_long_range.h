/* leyden: long-range sums, the potential of all charges in time linear in them. leyden.h, which has
 * the conventions, includes this. */
#ifndef LEYDEN_H
#include "leyden.h"
#elif !defined(LEYDEN_LONG_RANGE_H)
#define LEYDEN_LONG_RANGE_H

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
/* How 1/r is split into a short-range and a smooth part; docs/long-range.md has the functions. */
#define LEY_SPLITTING_TABLE(ROW) \
    ROW(LEY_SPLITTING_TAYLOR2, "taylor2") ROW(LEY_SPLITTING_TAYLOR3, "taylor3") ROW(LEY_SPLITTING_TAYLOR4, "taylor4") \
    ROW(LEY_SPLITTING_TAYLOR5, "taylor5") ROW(LEY_SPLITTING_TAYLOR6, "taylor6") ROW(LEY_SPLITTING_TAYLOR7, "taylor7") \
    ROW(LEY_SPLITTING_TAYLOR8, "taylor8") ROW(LEY_SPLITTING_PSWF, "pswf") ROW(LEY_SPLITTING_EWALD, "ewald") \
    ROW(LEY_SPLITTING_OPTIMAL, "optimal")

/* How charges are spread over the nodes of a mesh, and points take their values from them. */
#define LEY_WINDOW_TABLE(ROW) \
    ROW(LEY_WINDOW_NODAL3, "nodal3") ROW(LEY_WINDOW_NODAL5, "nodal5") ROW(LEY_WINDOW_NODAL7, "nodal7") \
    ROW(LEY_WINDOW_NODAL9, "nodal9") ROW(LEY_WINDOW_BSPLINE4, "bspline4") ROW(LEY_WINDOW_BSPLINE6, "bspline6") \
    ROW(LEY_WINDOW_BSPLINE8, "bspline8")

/* What finds the nodes' potentials: multilevel summation, one mesh and its transform, or both:
 * finer levels by lattice cutoff, and the first coarser one that a device has room for by its
 * transform, or, where no device has one that is right, multilevel summation. Auto: with a nodal
 * window multilevel summation; with a B-spline the transform; where no device has room for that,
 * both, and where none has one that is right, multilevel summation, each with the nodal window of
 * the next higher degree. */
#define LEY_SOLVER_TABLE(ROW) \
    ROW(LEY_SOLVER_MULTILEVEL, "multilevel") ROW(LEY_SOLVER_FOURIER, "fourier") ROW(LEY_SOLVER_AUTO, "auto") \
    ROW(LEY_SOLVER_MIXED, "mixed")

typedef enum ley_splitting { LEY_SPLITTING_TABLE(LEY_VALUE) LEY_SPLITTING_COUNT } ley_splitting;
typedef enum ley_window { LEY_WINDOW_TABLE(LEY_VALUE) LEY_WINDOW_COUNT } ley_window;
typedef enum ley_solver { LEY_SOLVER_TABLE(LEY_VALUE) LEY_SOLVER_COUNT } ley_solver;
/* clang-format on */

/* The potential of all charges, and of all of their images, in time linear in them:
 *
 *     phi_i = C sum_j q_j exp(-kappa d_ij) / d_ij, d_ij = max(r_ij, r_min),
 *
 * as a sum over the atoms within the cutoff a, of exp(-kappa r)/r - gamma(r/a)/a, and a smooth
 * rest, gamma(r/a)/a, which meshes carry: multilevel summation. What it is off by depends on a/h,
 * h the finest mesh's spacing, and on splitting and window. Source: Hardy, Stone, Schulten,
 * Parallel Computing 35, 164 (2009).
 *
 * Without screening (kappa 0), sums over images are those of charges that are surrounded by a
 * conductor, with zero mean, where they are periodic along three axes; a uniform background
 * neutralises a cell with a net charge. Along two axes a layer of charge q per area A has the
 * potential -2 pi |z| q / A, along one a line -2 ln(rho / 1 A) q / L, and a net charge is
 * refused. */
typedef struct ley_long_range {
    size_t size; /* sizeof(ley_long_range): ley_long_range_default() sets it */
    ley_units units;
    double dielectric;    /* relative permittivity: [1e-3, 1e6] */
    double temperature_K; /* [1e-3, 1e6]; matters for kT/e only */
    double r_min_A;       /* shorter distances are clamped to this: [1e-6, 1e3] */
    double cutoff_A;      /* a: above r_min, at most 1e4 */
    double spacing_A;     /* h: a/h is 1 to 16, with LEY_SOLVER_FOURIER up to 48 */
    ley_splitting splitting;
    ley_window window; /* with LEY_SOLVER_MULTILEVEL and LEY_SOLVER_MIXED a nodal one */
    ley_solver solver;
    int levels;       /* meshes, each of twice the spacing of the one before: 1 to 16; 0: as many as pay, or of mixed as
                         there is room for; of fourier 0 or 1 */
    const char *fft;  /* whose transforms: "fftw", "vkfft", "clfft", "cufft"; NULL: what is predicted fastest */
    bool periodic[3]; /* along these vectors of the cell atoms have images: all of them count */
    double cell_A[3][3]; /* vectors a, b, c; h is then at most spacing_A: periods are whole numbers of it */
    double kappa_per_A;  /* screening: [0, 100]; above 0 the splitting is one of Taylor's, and where next to nothing is
                            left beyond the cutoff there are no meshes */
    double long_waves_per_A; /* with B-splines and LEY_SOLVER_FOURIER: waves of up to so many radians per A have their
                                charges summed in double precision, [0, 10]; 0: none. What floats leave in a large box
                                is in the longest waves */
    double contact_error; /* what points nearer to a charge than r_min_A may be off by, as a share of 1/r_min, [0, 1]:
                             as long as it is less, pairs take r_min_A for the distance in all that they sum, which
                             is soonest; 0: 3e-5 */
    unsigned chosen; /* LEY_FIX_... of what ley_long_range_choose() has chosen: a run that misses its tolerance chooses
                        it again, more strictly; 0: nothing, the run is what it is */
} ley_long_range;

/* taylor4 and nodal7 with a = 12 A and h = 2 A, off by 2e-4 to 4e-4 of the potential in water;
 * solver multilevel, kT/e at 298.15 K in vacuum, r_min 0.05 A. */
LEY_API void ley_long_range_default(ley_long_range *range);

/* Sets cutoff, spacing, splitting, window, solver and levels to those of the papers: taylor2 and
 * nodal3 with a = 12 A and h = 2 A, direct, off by 2e-3 to 3e-3 of the potential. */
LEY_API void ley_long_range_papers(ley_long_range *range);

/* What is not to be chosen by ley_long_range_choose(), but as the options have it. LEY_FIX_METHOD:
 * a run that misses its tolerance stays one by meshes; else, where there are neither images nor
 * screening, direct summation takes their place when no meshes are strict enough. LEY_FIX_SUM is
 * said by the run's options: any sum but LEY_SUM_AUTO. LEY_FIX_MESHES, of a ley_request: levels or
 * whose transforms are asked for. */
enum {
    LEY_FIX_CUTOFF = 1,
    LEY_FIX_SPACING = 2,
    LEY_FIX_SPLITTING = 4,
    LEY_FIX_WINDOW = 8,
    LEY_FIX_SOLVER = 16,
    LEY_FIX_METHOD = 32,
    LEY_FIX_SUM = 64,
    LEY_FIX_MESHES = 128
};

/* What a choice is expected to come to. */
typedef struct ley_choice {
    double seconds;      /* kernels */
    double relative_rms; /* of the map, expected: of meshes at most half the tolerance, of floats three quarters, or
                            what comes nearest, which may be more than the tolerance */
    double building_s;   /* what should be saved: meshes have more kernels to build where the cache has none */
    ley_sum sum;         /* what the job's options should say of it: theirs, but for LEY_SUM_AUTO */
} ley_choice;

#define LEY_LEAST_TOLERANCE 1e-6
#define LEY_MOST_TOLERANCE 1e-1

/* Chooses cutoff_A, spacing_A, splitting, window, solver, long_waves_per_A and contact_error of
 * the options, which `chosen` then says, but for what is `fixed`, so that the relative root mean
 * square error of the map, against exact sums, is expected to be half the tolerance (the options'
 * `aim`), or as near to that as anything is expected to come, which choice.relative_rms says, in
 * the least time predicted for the engine's devices. The other fields are taken as they are;
 * levels becomes 0. What the map is off by follows from the squares of the charges, from how these
 * cancel, and from the potential at 512 points, which is summed by cubes where atoms are many and
 * far: it is an expectation. A job of these options measures itself and, where it misses the
 * `tolerance` of its run's options, is done again by stricter choices, up to LEY_MOST_TRIES times,
 * or by the host where its doubles are to be had soon; the nearest of all is what is left
 * (ley_report.missed_rms). Where the options of the run have
 * LEY_SUM_AUTO, `choice` has compensated sums where float ones would leave too much, and else
 * float ones. Errors: LEY_ERROR_USAGE for a tolerance out of [1e-6, 1e-1], and where what is fixed
 * makes no meshes. */
LEY_API ley_status ley_long_range_choose(ley_engine *engine, const ley_atoms *atoms, ley_target target,
                                         double tolerance, unsigned fixed, const ley_run_options *options,
                                         ley_long_range *range, ley_choice *choice, ley_error *error);

/* The charge of the uniform background that each cell has: less that of the atoms where these are
 * periodic along three axes without screening, but for rounding, 1e-6 of their absolute charges;
 * elsewhere 0. */
LEY_API double ley_long_range_background_e(const ley_atoms *atoms, const ley_long_range *range);

/* As ley_short_range_check_memory(). */
LEY_API ley_status ley_long_range_check_memory(const ley_atoms *atoms, const ley_grid *grid,
                                               const ley_long_range *range, ley_error *error);

/* Of a molecule by parts (ley_atoms_take_part()) the halo, as ley_short_range_halo_A() says; the
 * finest levels of the meshes are then those of a rank's planes. */
LEY_API double ley_long_range_halo_A(const ley_atoms *atoms, const ley_grid *grid, const ley_long_range *range);

/* Prepares a job that makes a map, or values at points, of the potential of all atoms by meshes,
 * method "msm". At points the meshes cover atoms and points, and variants are those of "cutoff"
 * there. Errors: also LEY_ERROR_USAGE for choices that do not combine, with the reason;
 * LEY_ERROR_INPUT where atoms and map are so far apart that meshes around them would be too large,
 * for a cell without volume, and for a net charge along one or two periodic axes without
 * screening. */
LEY_API ley_status ley_job_create_long_range(ley_engine *engine, const ley_atoms *atoms, ley_target target,
                                             const ley_long_range *range, const ley_run_options *options, ley_job **job,
                                             ley_error *error);

/* The options by which such a job was done in the end, where it was done again, too. False, and
 * nothing: it is no long-range job, or has come to direct summation. `fft` is the job's. */
LEY_API bool ley_job_long_range(const ley_job *job, ley_long_range *range);

#ifdef __cplusplus
}
#endif
#endif
