/* How strong the smoothed potential of some charges is, beside that of matter with as much charge,
 * for which meshes are chosen: charges that cancel, as in crystals and multipoles, need finer
 * ones. */
#ifndef LEY_AVERAGE_SIGNAL_H
#define LEY_AVERAGE_SIGNAL_H

#include "average/state.h"

/* The ratio of root mean squares of a frame, [SIGNAL_LEAST, 1]: of all waves where the cell has
 * few, else of a sample that is as they count. Ranks do it together. */
#define SIGNAL_LEAST 1e-3
ley_status average_signal(const average_problem *p, const ley_average_ranks *ranks, const double cell_A[9],
                          const float *position_A, double *signal, ley_error *error);

#endif
