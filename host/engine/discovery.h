/* Questions to drivers before an engine has threads for their devices; each asked on a thread of
 * its own, which is left behind when the driver does not answer. */
#ifndef LEY_ENGINE_DISCOVERY_H
#define LEY_ENGINE_DISCOVERY_H

#include "device.h"
#include "engine/driver_thread.h"

/* A device that is open, and its thread, idle; both NULL: there is none. */
typedef struct discovered {
    dev *device;
    driver_thread *driver_thread;
} discovered;

/* All devices; `afresh`: drivers that are remembered to have died are tried again.
 * LEY_ERROR_DEVICE when a driver does not answer. */
ley_status discovery_list(dev_list *list, bool afresh, ley_error *error);

/* What discovery_speeds() says of a device: that it cannot be measured, or that it takes too
 * long. */
#define DISCOVERY_NONE 0.0
#define DISCOVERY_LATE (-1.0)

/* Roots per second with maths that a job may use by default, of the list's devices. Those that are
 * not known are measured at once; when the first is known, nobody waits much longer for the others,
 * which go on in the background, for the build cache. The fastest one, if it was measured, is open:
 * `fastest` is the caller's then. Others are closed in the background. */
void discovery_speeds(const dev_list *list, const size_t *devices, size_t count, double *speed, discovered *fastest);

/* Whether each device of the list stamps its events, which shows only when it is open: all are
 * opened at once. */
void discovery_timestamps(const dev_list *list, bool *has_timestamps);

#endif
