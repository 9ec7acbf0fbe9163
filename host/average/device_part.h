/* One device's part in an average: it takes chunks of frames, and hands over their density now and
 * then, while it goes on with the next ones. Frames whose sums have not come to the host are dealt
 * again where it fails. */
#ifndef LEY_AVERAGE_DEVICE_PART_H
#define LEY_AVERAGE_DEVICE_PART_H

#include "average/part.h"

/* Of engine_task: the loop; a worker was left behind. */
void device_part_run(worker *w, void *average);
void device_part_left(worker *w, void *average);

/* Its device's memory ends; on its worker's thread. */
void device_part_end(worker *w, void *average);

/* NULL: no memory. */
device_part *device_part_create(ley_average *a);
void device_part_destroy(device_part *p);

#endif
