/* Which drivers are safe to load. One that is new is tried in a process of its own (trial.h); what
 * came of it is kept in the build cache, by the library's path, size and date and by what of the
 * machine drivers are known to depend on. */
#ifndef LEY_OPENCL_KNOWN_DRIVERS_H
#define LEY_OPENCL_KNOWN_DRIVERS_H

#include "../device.h"

/* Loads the drivers that live, once a process, and adds remarks of those that do not. With `afresh`
 * those that did not live when they were tried before are tried again, if nothing is loaded yet;
 * else only those of which it is an hour ago. false: none is left to load. */
bool cl_drivers_load(bool afresh, dev_list *list);

/* Why a driver was left out, "FILE: why", the first in this process; NULL: none was. */
const char *cl_driver_complaint(void);

#endif
