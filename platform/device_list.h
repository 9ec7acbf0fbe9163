/* The list of devices: what all back ends find, each card with its number. */
#ifndef LEY_DEVICE_LIST_H
#define LEY_DEVICE_LIST_H

#include "device.h"

/* All devices of all back ends, behind interfaces that are watched (watch.h). */
ley_status dev_list_create(dev_list *list, ley_error *error);

/* The same for people who look at the list: drivers that were left out when they were tried are
 * tried again, if this process has loaded none yet. */
ley_status dev_list_create_afresh(dev_list *list, ley_error *error);

/* Why a driver is left out, "FILE: why": the first one in this process; NULL: none is. */
const char *dev_driver_complaint(void);

/* For tests: these back ends (NULL-terminated) in place of the table. NULL restores it. */
void dev_backends_replace(const dev_backend *const *backends);

#endif
