/* What found its bin full, summed by host threads beside the devices, into a map of its own. */
#ifndef LEY_CUTOFF_OVERFLOW_MAP_H
#define LEY_CUTOFF_OVERFLOW_MAP_H

#include "methods/cutoff/problem.h"

typedef struct overflow_map overflow_map;

/* Room for it, and the atoms. `cancelled` must outlive it. Errors: LEY_ERROR_MEMORY. */
ley_status overflow_map_create(const cutoff_problem *problem, const atomic_bool *cancelled, overflow_map **made,
                               ley_error *error);
void overflow_map_destroy(overflow_map *map);

/* Sums, on all cores; how long it took, and when it was done (ley_clock_s()). */
void overflow_map_sum(overflow_map *map, double *seconds, double *done_s);

/* Ends the summing soon, from another thread. */
void overflow_map_stop(overflow_map *map);

/* Sets the map to the sums of all atoms, binned or not, by the same loop on one core: the papers'
 * sequential one, the benchmark's peer. How long that took. Errors: LEY_ERROR_MEMORY. */
ley_status overflow_map_on_core(const cutoff_problem *problem, ley_map *map, double *seconds, ley_error *error);

/* Adds planes [first, end), as far as there are any, to these of a map, float[planes][n_y][n_x]. */
void overflow_map_add(const overflow_map *map, int64_t first, int64_t end, float *planes);

#endif
