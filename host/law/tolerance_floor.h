/* What a tolerance is a share of: the root mean square of the values, or a floor where these are
 * nothing but what is left of terms that cancel. */
#ifndef LEY_LAW_TOLERANCE_FLOOR_H
#define LEY_LAW_TOLERANCE_FLOOR_H

#include "law/reference.h"

#include <stdbool.h>

/* A place, for how many points it stands, and the atoms that do not count there. */
typedef struct tolerance_place {
    double place_A[3], weight;
    const int64_t *excluded;
    size_t excluded_count;
} tolerance_place;

/* S and S0 (leyden.h), in the unit of the terms. */
typedef struct tolerance_terms {
    double rms, unscreened_rms;
} tolerance_terms;

/* Over these places. On all host cores: n times the atoms, and in thin cells times the images. */
tolerance_terms tolerance_terms_at(const reference_terms *terms, size_t n, const tolerance_place *places);

/* The same in two steps, of some of the atoms at a time: sums of squares, with screening and
 * without, each as often as its place's weight says; and what they come to. */
void tolerance_squares_at(const reference_terms *terms, size_t n, const tolerance_place *places, double sum[2]);
tolerance_terms tolerance_terms_of(const reference_terms *terms, const double sum[2], double weights);

/* How much of S a tolerance is a share of at least, as plans have it and as runs are judged while
 * there may be a nearer one; and the floor in the unit of the terms. */
double tolerance_floor_share(double tolerance);
double tolerance_floor(const tolerance_terms *terms, double tolerance);

/* The floor for what nothing has come nearer than. */
double tolerance_last_floor(const tolerance_terms *terms, double tolerance);

/* Fills in by how much the tolerance is used up: the error of the report's accuracy, as a share of
 * what the tolerance allows; above 1 it is missed. The terms at these places, which may be without
 * atoms, are asked where the values' own root mean square does not do, and what they are is left in
 * `made`. The first for each run, the last once for what nothing has come nearer than; the second
 * after the first, of terms that others have asked. */
void tolerance_judge(ley_report *r, double tolerance, const reference_terms *terms, size_t n,
                     const tolerance_place *places, tolerance_terms *made);
void tolerance_judge_by(ley_report *r, double tolerance, const tolerance_terms *made);
void tolerance_judge_last(ley_report *r, double tolerance, const tolerance_terms *made);

#endif
