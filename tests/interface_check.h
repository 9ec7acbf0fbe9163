/* The device interface's operations on memory against the host's own. */
#ifndef LEY_INTERFACE_CHECK_H
#define LEY_INTERFACE_CHECK_H

#include "device.h"

/* Fills, copies, sends and writes ranges of some buffers, so many times, in an order that the seed
 * decides, of which some are waited for and others forgotten, and reads the buffers now and then.
 * LEY_ERROR_WRONG_RESULT: they do not hold what they should. Whatever comes, all that it made is
 * gone. */
ley_status interface_check(dev *device, int steps, unsigned seed, ley_error *error);

#endif
