/* Points of a list, as the short-range kernel takes them. */
#ifndef LEY_POINT_LIST_H
#define LEY_POINT_LIST_H

#include "methods/cutoff/problem.h"

/* Points as kernels take them: first those that atoms are in reach of, such that neighbours in the
 * list are neighbours in space; then the others, whose values are 0. */
typedef struct point_list {
    int64_t n, inside;
    int32_t *order;       /* their numbers in the caller's list */
    double (*place_A)[3]; /* of those inside, in order: in the cell, where space is periodic */
} point_list;

/* Puts points into the cell and in order; makes a grid that covers those inside, for bins. The
 * range is checked. Errors: LEY_ERROR_MEMORY, LEY_ERROR_INPUT for a degenerate cell; then there is
 * nothing to end. */
ley_status point_list_create(int64_t n, const double *point_A, const ley_atoms *atoms, const ley_short_range *range,
                             point_list *list, ley_grid *grid, ley_error *error);
void point_list_destroy(point_list *list);

/* Pairs within the cutoff, an estimate. */
double point_list_pairs(const point_list *list, const cutoff_problem *problem);

#endif
