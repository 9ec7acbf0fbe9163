/* What jobs do with the statistics of their target. */
#ifndef LEY_TARGET_STATISTICS_H
#define LEY_TARGET_STATISTICS_H

#include "leyden.h"

/* LEY_ERROR_USAGE where the target's statistics are of another one. */
ley_status statistics_check(const ley_target *target, ley_error *error);

#endif
