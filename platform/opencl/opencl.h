/* OpenCL behind the device interface. */
#ifndef LEY_OPENCL_H
#define LEY_OPENCL_H

#include "../device.h"

extern const dev_backend dev_opencl;

#endif
