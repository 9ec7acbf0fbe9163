/* Questions to drivers before an engine has threads for their devices; each asked on a thread of
 * its own, which is left behind when the driver does not answer. */
#ifndef LEY_DISCOVERY_H
#define LEY_DISCOVERY_H

#include "device.h"

/* All devices. LEY_ERROR_DEVICE when a driver does not answer. */
ley_status discovery_list(dev_list *list, ley_error *error);

/* Roots a second with maths that a job may use by default; 0 when it cannot be measured. */
double discovery_speed(const dev_info *info);

/* Whether the device stamps its events, which shows only when it is open. */
bool discovery_timestamps(const dev_info *info);

#endif
