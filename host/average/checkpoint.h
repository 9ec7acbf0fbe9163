/* Checkpoints: all sums of an average in a file, with the options and charges that they are of, and
 * a checksum. */
#ifndef LEY_AVERAGE_CHECKPOINT_H
#define LEY_AVERAGE_CHECKPOINT_H

#include "average/state.h"

/* Sums have all frames. */
ley_status checkpoint_save(ley_average *a, const char *path, ley_error *error);

/* Of an average without frames. Errors: as ley_average_load(); then it is as it was, but for
 * LEY_ERROR_MEMORY. */
ley_status checkpoint_load(ley_average *a, const char *path, ley_error *error);

#endif
