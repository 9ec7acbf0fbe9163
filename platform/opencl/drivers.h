/* Which drivers OpenCL's loader is going to load, found as it finds them, and how it is kept from
 * loading some of them. */
#ifndef LEY_OPENCL_DRIVERS_H
#define LEY_OPENCL_DRIVERS_H

#include <stdbool.h>
#include <stddef.h>

enum { CL_DRIVER_PATH = 1024 };

typedef struct cl_driver {
    char library[CL_DRIVER_PATH];  /* as the loader is told of it: a path, or a name for dlopen() */
    char named_by[CL_DRIVER_PATH]; /* the file or the variable that tells it */
} cl_driver;

/* Those of /etc/OpenCL/vendors, or what OPENCL_VENDOR_PATH, OCL_ICD_VENDORS and OCL_ICD_FILENAMES
 * say in its place; each library once. From malloc; NULL and a count of 0: there are none. */
cl_driver *cl_drivers_find(size_t *count);

/* What the loader sees in place of all drivers. */
typedef struct cl_drivers_shown {
    char folder[64];
    size_t count;    /* of files there */
    char *values[2]; /* of the environment before, by CL_LOADER_VARIABLES */
} cl_drivers_shown;

/* Makes the loader, which has not been called yet, see these libraries alone, in this order, until
 * cl_drivers_show_all(). The environment is another one meanwhile. false: that cannot be done, and
 * nothing has happened. */
bool cl_drivers_show(const char *const *libraries, size_t count, cl_drivers_shown *shown);
void cl_drivers_show_all(cl_drivers_shown *shown);

#endif
