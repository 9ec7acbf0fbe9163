/* leyden: potential and field at a few points, frame after frame of a trajectory. leyden.h, which
 * has the conventions, includes this. */
#ifndef LEYDEN_H
#include "leyden.h"
#elif !defined(LEYDEN_SERIES_H)
#define LEYDEN_SERIES_H

#include "leyden_request.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The potential of N charges at P points, and the field there, in each of many frames:
 *
 *     phi_p = C sum over all j and images R of q_j / max(|r_p - r_j - R|, r_min),
 *             less the terms of the atoms that point p excludes, each at its nearest image,
 *
 * and E_p = -grad phi_p, to which atoms nearer than r_min add nothing. In a cell the sum is that
 * of Ewald with conducting surroundings and zero mean, so that a net charge has its uniform
 * background:
 *
 *     phi(r) / C = sum_{j, |d| < rc} q_j erfc(beta d) / d - pi Q / (beta^2 V)
 *                  + 4 pi / V sum_{0 < k < kc} exp(-k^2 / (4 beta^2)) / k^2 Re(S(k)* exp(i k r)),
 *
 * S(k) = sum_j q_j exp(i k r_j), beta = s / rc, kc = 2 beta s, the cutoff rc, which may be longer
 * than the cell, where both sums together take least time. All in double precision on the host's
 * threads. The first frames are summed with a larger s as well; s grows until these agree within
 * the tolerance. (P. P. Ewald, Ann. Phys. 369, 253 (1921).)
 *
 * A series is used by one thread at a time. */
typedef struct ley_series ley_series;

/* How it is summed. */
typedef enum ley_series_method {
    LEY_SERIES_AUTO,   /* the fastest one */
    LEY_SERIES_DIRECT, /* pair by pair, in open space */
    LEY_SERIES_EWALD,  /* as above, in cells */
    LEY_SERIES_MESH    /* a job of points for each frame (ley_job_create_chosen()), for very many points */
} ley_series_method;

typedef struct ley_series_options {
    size_t size; /* sizeof(ley_series_options): ley_series_options_default() sets it */
    ley_units units;
    double dielectric;    /* relative permittivity: [1e-3, 1e6] */
    double temperature_K; /* [1e-3, 1e6]; matters for kT/e only */
    double r_min_A;       /* shorter distances are clamped to this: [1e-6, 1e3] */
    double tolerance; /* of potentials and of fields, relative to their root mean square, or to 1 % of that of q / d, or
                         q / d^2, with d^3 = V / N, where that is more: [1e-6, 1e-1] */
    ley_series_method method;
    ley_engine *engine; /* of meshes, which must outlive the series; NULL: only LEY_SERIES_MESH has meshes, by the
                           host alone */
} ley_series_options;

/* kT/e at 298.15 K in vacuum, r_min 0.05 A, tolerance 1e-5, the fastest method, no engine. */
LEY_API void ley_series_options_default(ley_series_options *options);

/* For n atoms of these charges, which are copied, and so many points. Atoms without charge take no
 * time: those that are no part of the source have the charge 0. Errors: LEY_ERROR_USAGE for options
 * out of their ranges; LEY_ERROR_INPUT without atoms or points, for a charge that is not finite or
 * beyond 1e6 e, and where all are 0; LEY_ERROR_MEMORY. */
LEY_API ley_status ley_series_create(size_t n, const double *charge_e, size_t points, const ley_series_options *options,
                                     ley_series **series, ley_error *error);

/* Which atoms each point excludes: atom[first[p]] to before atom[first[p + 1]], as
 * ley_points_exclude() takes them. Errors: LEY_ERROR_INPUT for atoms that there are not, and lists
 * that do not follow each other; LEY_ERROR_MEMORY. */
LEY_API ley_status ley_series_exclude(ley_series *series, const int64_t *first, const int64_t *atom, ley_error *error);

/* Frames in memory. `cancel` stops the sums when it becomes true (LEY_CANCELLED), or NULL. */
typedef struct ley_series_frames {
    size_t count;
    const float *position_A; /* [count][n][3] */
    const double *cell_A;    /* [count][3][3]: vectors a, b, c; NULL: open space */
    const double *point_A;   /* [count][points][3], anywhere */
    double *potential;       /* [count][points], in the options' units */
    double *field;           /* [count][points][3], units per A; or NULL */
    const volatile bool *cancel;
    const int64_t *number; /* [count]: what errors call the frames; NULL: 0, 1, ... */
} ley_series_frames;

/* Fills the values of these frames. Errors: LEY_ERROR_INPUT for a position, a point or a cell that
 * is not finite, and a cell without volume, with the number of the frame; values of the other
 * frames may have been written. LEY_ERROR_USAGE where cells come and go between calls;
 * LEY_ERROR_WRONG_RESULT where the tolerance is not reached; LEY_ERROR_MEMORY, LEY_CANCELLED; of
 * meshes those of jobs. */
LEY_API ley_status ley_series_run(ley_series *series, const ley_series_frames *frames, ley_error *error);

/* How it has been summed since the first frame; zeros before. */
typedef struct ley_series_report {
    const char *method;                  /* "direct", "ewald" or "mesh"; "" before the first frame */
    double cutoff_A, beta_per_A;         /* rc and beta, or 0 */
    int64_t waves;                       /* of the last frame, one of each pair of opposite ones */
    double potential_error, field_error; /* of the first frames, relative to their root mean square, against sums
                                            with a larger s; of meshes the largest error that a job has measured */
    int64_t frames;                      /* all so far */
    int64_t close_frame; /* the first of all frames in which a point is within r_min of a charge that it does not
                            exclude; negative: there was none, or meshes were taken */
    size_t close_point;  /* and which */
} ley_series_report;

LEY_API ley_series_report ley_series_report_of(const ley_series *series);

LEY_API void ley_series_destroy(ley_series *series);

#ifdef __cplusplus
}
#endif
#endif
