/* What the meshes of long-range sums are off by, as a table: for plans, which look at hundreds of
 * meshes before they make one. */
#ifndef LEY_ERROR_TABLE_H
#define LEY_ERROR_TABLE_H

#include "numerics/splitting.h"
#include "numerics/window.h"

enum { ERROR_TABLE_RATIOS = 15 };

/* The cutoffs, in spacings of the finest mesh, of the table's columns. */
extern const double error_table_ratios[ERROR_TABLE_RATIOS];

/* expected_error() of one level of these at a/h = ratio, between the table's columns by powers;
 * beyond its ends as at them. */
double error_table_at(splitting_kind split, window_kind of, double ratio);

/* The least ratio whose error is no more than that; 0: the table has none. */
double error_table_ratio(splitting_kind split, window_kind of, double error);

#endif
