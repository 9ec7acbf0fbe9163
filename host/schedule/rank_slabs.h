/* Lists of slabs that ranks have left. */
#ifndef LEY_SCHEDULE_RANK_SLABS_H
#define LEY_SCHEDULE_RANK_SLABS_H

#include "schedule/slab_queue.h"

#include "leyden_status.h"

/* Of a queue of which nothing is taken yet, in their order; from malloc. NULL: out of memory. */
slab *rank_slabs_open(const slab_queue *queue, size_t *count);

/* Collective. The lists of all ranks, in their order, in one, from malloc; whether any rank is able
 * to do more. Errors: LEY_ERROR_MEMORY. */
ley_status rank_slabs_share(const slab *own, size_t own_count, bool is_able, slab **list, size_t *count,
                            bool *is_any_able, ley_error *error);

/* Failures of devices are one rank's own. */
bool rank_slabs_is_of_devices(ley_status status);

#endif
