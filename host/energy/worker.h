/* One device's thread: it takes batches of a run's frames until there are none. */
#ifndef LEY_ENERGY_WORKER_H
#define LEY_ENERGY_WORKER_H

#include "energy/state.h"

/* Of engine_task: the loop; whether all frames are done; whether a device that is still being
 * prepared need not be waited for; a worker was left behind. */
void energy_worker_run(worker *w, void *energy);
bool energy_worker_is_over(void *energy);
bool energy_worker_let_go(worker *w, void *energy);
void energy_worker_left(worker *w, void *energy);

/* Its device's memory ends; on its worker's thread. */
void energy_worker_end(worker *w, void *energy);

#endif
