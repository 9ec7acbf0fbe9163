/* How fast a device's own memory is: by a kernel that copies. */
#ifndef LEY_BANDWIDTH_H
#define LEY_BANDWIDTH_H

#include "costs.h"
#include "dev_kernel.h"

/* Copies what is far larger than caches. */
extern const kernel_kind copies_kind;

/* A byte that is read from the device's memory, or written to it. */
enum { COST_DEVICE_BYTE };
extern const costs_kind bandwidth_costs;

/* Of a device that need not be open: known, or what is usual for its class. *is_known, if not NULL:
 * whether it has been measured. */
double bandwidth_byte_s(const dev_info *info, bool *is_known);

/* Bytes per second, read and written together, measured anew; 0: it cannot be measured, as on
 * devices that interpret their kernels. */
double bandwidth_measure(dev *device);

#endif
