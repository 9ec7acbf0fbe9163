/* What a long-range job sums: which options make sense, and the meshes that follow from them. */
#ifndef LEY_LONG_RANGE_MODEL_PROBLEM_H
#define LEY_LONG_RANGE_MODEL_PROBLEM_H

#include "leyden.h"
#include "numerics/hierarchy.h"

extern const ley_parameter_table long_range_parameters;

/* Steps of the work of the stage that sums. */
enum { MSM_STEP_SHORT_RANGE, MSM_STEP_INTERPOLATION };

/* The meshes around the charges and the map's points; none, of which `levels` is 0, where
 * screening leaves nothing beyond the cutoff. Errors: LEY_ERROR_USAGE for options out of the range
 * that leyden_long_range.h gives and for what does not combine; LEY_ERROR_INPUT for meshes that
 * are too large, a cell that is none, and a net charge that has no potential. Units, dielectric,
 * temperature and r_min are taken as they are. */
ley_status msm_meshes(const ley_long_range *r, const ley_atoms *atoms, const ley_grid *points, hierarchy *made,
                      ley_error *error);

/* The names of leyden_long_range.h, by number; NULL behind the last. */
extern const char *const msm_splitting_words[], *const msm_window_words[];

/* With LEY_SOLVER_AUTO: the solver that its window asks for. */
ley_long_range msm_resolved(const ley_long_range *r);

/* What LEY_SOLVER_AUTO and LEY_SOLVER_MIXED stand for where no device has transforms; false: for
 * nothing else. */
bool msm_otherwise(const ley_long_range *r, ley_long_range *other);

/* A nodal window of the next higher degree than a B-spline's; a nodal one is itself. */
ley_window msm_nodal_window(ley_window w);

/* Whether kernels can number all of its nodes: msm_meshes() makes others for parts of atoms alone.
 */
bool msm_can_number(const hierarchy *h);

/* The map's points, moved by whole periods so that the first one is in the cell. */
ley_grid msm_points(const cell *c, const ley_grid *points);

/* Bytes of the host's memory that so many atoms take in bins of the finest mesh, or of such a share
 * of it. */
double msm_bytes(const hierarchy *h, size_t atoms, double share);

#endif
