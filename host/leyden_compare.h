/* leyden: what two maps differ by. leyden.h, which has the conventions, includes this. */
#ifndef LEYDEN_H
#include "leyden.h"
#elif !defined(LEYDEN_COMPARE_H)
#define LEYDEN_COMPARE_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ley_compare_options {
    size_t size;                 /* of this struct; ley_compare_options_default() sets it */
    bool interpolate;            /* B's values at A's points, between the eight of B around each, where grids differ;
                                    A's points outside B are left out */
    bool any_units;              /* units may differ */
    const char *name_a, *name_b; /* what messages call the maps: files' names, say */
    const ley_atoms *atoms; /* A's points that are nearer than beyond_A to one of these are left out, as values near
                               point charges say more of the grid than of the methods; NULL: none are */
    double beyond_A;        /* at least 0 */
} ley_compare_options;

/* Maps on one grid, in one unit, called "A" and "B". */
LEY_API void ley_compare_options_default(ley_compare_options *options);

/* Whether maps are on one grid and in one unit, as far as the options ask for it: grids are
 * one where no point of the one is farther than 1e-3 of a step from that of the other, as files
 * have few digits; a map whose unit is unknown has any. Errors: LEY_ERROR_INPUT, with what
 * differs. */
LEY_API ley_status ley_map_check_alike(const ley_map *a, const ley_map *b, const ley_compare_options *options,
                                       ley_error *error);

/* Differences are A - B, in the maps' unit, over all points that were compared. */
typedef struct ley_comparison {
    int64_t points;      /* that were compared */
    int64_t left_out;    /* points of A that are outside B */
    int64_t near_atoms;  /* points of A that are left out as atoms are near; they are not among those outside B */
    double rms_a, rms_b; /* of the maps themselves: sqrt(sum A^2 / points) */
    double rms;          /* sqrt(sum (A - B)^2 / points) */
    double relative_rms; /* rms / rms_a; 0 where both maps are 0 */
    double mean;         /* sum (A - B) / points */
    double correlation;  /* Pearson's, from -1 to 1; not a number where one of the maps is constant */
    double largest;      /* the difference that is largest in absolute value, the first such of A's points, ... */
    int64_t index[3];    /* ... which point of A it is at, */
    double point_A[3];   /* where that is, */
    double a, b;         /* and the values there */
} ley_comparison;

/* Compares two maps that are in memory, in double precision, with compensated sums. Errors:
 * LEY_ERROR_INPUT, those of ley_map_check_alike(), but that with `interpolate` grids may differ;
 * when no point of A is left to compare; when a value is not finite; when one of the maps is 0 at
 * all points that were compared, and the other one is not. LEY_ERROR_USAGE when a map is not in
 * memory, beyond_A is no length, or the options' size is none. */
LEY_API ley_status ley_map_compare(const ley_map *a, const ley_map *b, const ley_compare_options *options,
                                   ley_comparison *comparison, ley_error *error);

#ifdef __cplusplus
}
#endif
#endif
