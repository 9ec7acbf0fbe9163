/* What each device makes for itself before it takes slabs (STAGE_EACH_DEVICE with predict()): when
 * it is worth beginning, and whether it is sooner to have it from a device that has made it. Where
 * the values of a device that has borrowed are wrong, it makes the product itself before it is
 * blamed; where a lender is blamed, what others have computed with its product is open again. */
#ifndef LEY_SCHEDULE_DEVICE_PRODUCT_H
#define LEY_SCHEDULE_DEVICE_PRODUCT_H

#include "schedule/device_run.h"

/* What it is predicted to take, and all slabs: once the device has joined, as the task may be
 * looked at then. */
void device_product_predict(device_run *s);

/* Whether what the device is at, or would begin, has become pointless: others end the job before;
 * or one that has made it lends it sooner. */
bool device_product_comes_too_late(device_run *s);

/* The stage at hand: makes it, or takes what another device has made; nothing where the job is over
 * before. A device that is let go, because others are faster, does it again where they leave the
 * job. */
ley_status device_product_do(device_run *s, ley_error *error);

/* Of a device that has made it, between slabs: brings it to the host where others have asked for
 * it. */
ley_status device_product_lend(device_run *s, ley_error *error);

#endif
