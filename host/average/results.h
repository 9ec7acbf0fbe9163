/* What an average is asked for in the end: maps of its quantities, profiles, the check of its
 * mean. Sums have all frames by then. */
#ifndef LEY_AVERAGE_RESULTS_H
#define LEY_AVERAGE_RESULTS_H

#include "average/state.h"

/* The cell of the map. */
void results_cell(const ley_average *a, double cell_A[9]);

/* The mean charges at the mesh's nodes, in e. */
ley_status results_charges(ley_average *a, double *charge_e, ley_error *error);

ley_status results_map(ley_average *a, ley_average_quantity quantity, ley_map **map, ley_error *error);

/* The frames that are kept for it, done both ways: the relative root mean square of the difference
 * of their means; not a number where there is none. */
ley_status results_compare_cells(ley_average *a, double *difference, ley_error *error);

/* How far the structure factor of the mean is off, see ley_average_totals; LEY_ERROR_WRONG_RESULT:
 * too far. */
ley_status results_check_mean(ley_average *a, double *mean_error, ley_error *error);

#endif
