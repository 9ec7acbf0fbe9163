/* leyden: targets: where values are wanted, and what becomes of them. leyden.h, which has the
 * conventions, includes this. */
#ifndef LEYDEN_H
#include "leyden.h"
#elif !defined(LEYDEN_TARGET_H)
#define LEYDEN_TARGET_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ley_statistics ley_statistics;

/* Where values are wanted, which jobs put there: one of the first four is given, and all others of
 * them are NULL. What it points to must outlive the job. */
typedef struct ley_target {
    ley_map *map;           /* at the points of its grid, and the field where it has one (ley_map_set_field()) */
    ley_points *points;     /* at the points of a list, and the field where they have one (ley_points_add_field()) */
    ley_boundary *boundary; /* at the points of a grid's faces */
    const ley_grid *grid;   /* nowhere: what is chosen or estimated is for a map of this grid, before there is one */
    ley_statistics *statistics; /* or NULL: each run that succeeds is added to these, which are of the same target */
} ley_target;

typedef enum ley_target_kind {
    LEY_TARGET_GRID,
    LEY_TARGET_POINTS,
    LEY_TARGET_BOUNDARY,
    LEY_TARGET_COUNT
} ley_target_kind;

LEY_API const char *ley_target_name(ley_target_kind kind); /* "grid", "points", "boundary" */

/* ---- Statistics ------------------------------------------------------------------------------ */

/* What the values of a target have been over several runs, those of a plan, say:
 *
 *     ley_target target = {.map = map};
 *     status = ley_statistics_create(&target, LEY_KEEP_VARIANCE, &target.statistics, &error);
 *     status = ley_plan_create(NULL, atoms, target, &request, NULL, &plan, &error);
 *     (update and run)
 *     const double *mean = ley_statistics_mean(target.statistics, 0);
 *
 * With v_i(t) the value at point i in run t of T:
 *
 *     mean       m_i = 1/T sum over t of v_i(t)
 *     variance   1/(T - 1) sum over t of (v_i(t) - m_i)^2
 *     minimum    the smallest v_i(t), the point i and the run t where it is
 *     planes     of each plane of a map's grid, 1/(T P) sum over t and its P points of v_i(t)
 *
 * All are kept in double precision, on the host's cores, and in an order that does not depend on
 * their number. Component 0 is the value; 1, 2 and 3 are the field along x, y and z, where the
 * target has one. A run that a plan's verification has found wrong later is among them. */
enum {
    LEY_KEEP_MEAN = 1,
    LEY_KEEP_VARIANCE = 2, /* and the mean */
    LEY_KEEP_MINIMUM = 4,  /* of component 0 */
    LEY_KEEP_PLANES = 8    /* of maps only */
};

/* `kept`: a sum of the above. Of the target, a map in memory or in a file, points or a boundary,
 * the components count that it has now; its own `statistics` do not matter. Errors:
 * LEY_ERROR_USAGE for a target without values, nothing to keep, or planes of a list;
 * LEY_ERROR_MEMORY. */
LEY_API ley_status ley_statistics_create(const ley_target *target, unsigned kept, ley_statistics **statistics,
                                         ley_error *error);
LEY_API void ley_statistics_destroy(ley_statistics *statistics);

/* Adds the values that the target has now; jobs and plans do so for what they have filled. Errors:
 * LEY_ERROR_USAGE where the target's field has come or gone; LEY_ERROR_FILE where values in a file
 * cannot be read, and LEY_ERROR_MEMORY: the statistics are of no use then until they are reset. */
LEY_API ley_status ley_statistics_add(ley_statistics *statistics, ley_error *error);

/* As if nothing had been added. */
LEY_API void ley_statistics_reset(ley_statistics *statistics);

/* T: how many runs were added. */
LEY_API int64_t ley_statistics_runs(const ley_statistics *statistics);

/* [points], in the target's order; the variance of fewer than two runs, and the mean of none, are
 * not-a-numbers. NULL: not kept, or the component is not there. */
LEY_API const double *ley_statistics_mean(const ley_statistics *statistics, int component);
LEY_API const double *ley_statistics_variance(const ley_statistics *statistics, int component);

/* [n[axis]]: the mean of each plane of points across the grid's axis 0, 1 or 2. NULL: as above. */
LEY_API const double *ley_statistics_planes(const ley_statistics *statistics, int component, int axis);

/* The smallest value so far; the first of several. Points are counted from 0, runs from 1; each of
 * the three may be NULL. False: it is not kept, or there was no run. */
LEY_API bool ley_statistics_minimum(const ley_statistics *statistics, double *value, int64_t *point, int64_t *run);

#ifdef __cplusplus
}
#endif
#endif
