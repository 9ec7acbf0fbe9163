/* The host's part: frames that no device is left for. */
#ifndef LEY_AVERAGE_HOST_PART_H
#define LEY_AVERAGE_HOST_PART_H

#include "average/state.h"

/* Does a chunk and adds it to the sums. */
ley_status host_part_do(ley_average *a, const chunk *c, ley_error *error);

#endif
