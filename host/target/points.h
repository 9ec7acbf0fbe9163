/* The object behind ley_points, and which atoms its points leave out. */
#ifndef LEY_TARGET_POINTS_H
#define LEY_TARGET_POINTS_H

#include "target/boundary.h"

struct ley_points {
    ley_boundary *list; /* the points and their values */
    double *field;      /* [n][3]; NULL: nobody asks for it */
    char units[32];
    int64_t *excluded_first; /* [n + 1]; NULL: every atom counts at every point */
    int64_t *excluded;       /* the atoms that point i leaves out: [first[i]] to before [first[i + 1]], ascending */
};

/* The field at point i; false: there is none. */
bool points_field_at(const ley_points *points, int64_t i, double field[3]);

/* A grid over the points, about as many as these: what plans look at in a map's place. */
ley_grid points_grid(const ley_points *points);

/* The atoms whose term, of the nearest image, point i leaves out; none: *count is 0. */
const int64_t *points_excluded(const ley_points *points, int64_t i, size_t *count);

/* LEY_ERROR_INPUT where a point leaves an atom out that is not there. */
ley_status points_check_excluded(const ley_points *points, const ley_atoms *atoms, ley_error *error);

/* ley_points_exclude(), of lists that are the points' from now on, also when this fails. */
ley_status points_take_excluded(ley_points *points, int64_t *first, int64_t *atom, ley_error *error);

#endif
