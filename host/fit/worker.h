/* One device's thread: it takes batches of a run's frames until there are none. */
#ifndef LEY_FIT_WORKER_H
#define LEY_FIT_WORKER_H

#include "fit/state.h"

/* An engine_task's functions: the loop; whether all frames are done; whether a device that is still
 * being prepared need not be waited for; a worker was left behind. */
void fit_worker_run(worker *w, void *fit);
bool fit_worker_is_over(void *fit);
bool fit_worker_let_go(worker *w, void *fit);
void fit_worker_left(worker *w, void *fit);

/* Its device's memory ends; on its worker's thread. */
void fit_worker_end(worker *w, void *fit);

#endif
