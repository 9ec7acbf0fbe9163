/* A thread of the average's own that takes what devices have made: it verifies frames, checks sums
 * and adds them to those of all, so that no device waits for it. */
#ifndef LEY_AVERAGE_ASSISTANT_H
#define LEY_AVERAGE_ASSISTANT_H

#include "average/part.h"

/* Not zero: there is no thread. */
int assistant_start(ley_average *a);

/* Waits until it is done with what it is at. */
void assistant_end(ley_average *a);

/* Waits until it has nothing of a device's any more; or no frame to verify. */
void assistant_await(device_part *p);
void assistant_await_check(device_part *p);

#endif
