/* CUDA behind the device interface: the driver API and NVRTC, both opened at run time. */
#ifndef LEY_CUDA_H
#define LEY_CUDA_H

#include "../device.h"

extern const dev_backend dev_cuda;

#endif
