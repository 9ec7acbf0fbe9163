/* The CUDA driver and NVRTC, opened at run time: nothing of CUDA is needed to build or to run
 * elsewhere. Types and values are those of the driver's binary interface, which NVIDIA keeps
 * stable; entry points that old drivers lack are NULL. */
#ifndef LEY_CUDA_DRIVER_API_H
#define LEY_CUDA_DRIVER_API_H

#include "../error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef int CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef uintptr_t CUdeviceptr;
typedef int nvrtcResult;
typedef struct _nvrtcProgram *nvrtcProgram;

enum { CUDA_SUCCESS = 0, CUDA_ERROR_OUT_OF_MEMORY = 2, CUDA_ERROR_NO_DEVICE = 100, CUDA_ERROR_NOT_FOUND = 500 };

/* CUdevice_attribute */
enum {
    CUDA_MAX_THREADS_PER_BLOCK = 1,
    CUDA_MAX_BLOCK_DIM_X = 2,
    CUDA_MAX_BLOCK_DIM_Y = 3,
    CUDA_MAX_BLOCK_DIM_Z = 4,
    CUDA_MAX_GRID_DIM_X = 5,
    CUDA_MAX_GRID_DIM_Y = 6,
    CUDA_MAX_GRID_DIM_Z = 7,
    CUDA_MAX_SHARED_PER_BLOCK = 8,
    CUDA_CLOCK_RATE_KHZ = 13,
    CUDA_MULTIPROCESSOR_COUNT = 16,
    CUDA_PCI_BUS_ID = 33,
    CUDA_PCI_DEVICE_ID = 34,
    CUDA_PCI_DOMAIN_ID = 50,
    CUDA_COMPUTE_MAJOR = 75,
    CUDA_COMPUTE_MINOR = 76
};

enum { CUDA_STREAM_NON_BLOCKING = 1, CUDA_HOST_PORTABLE = 1 };

/* ROW(field, symbol, needed, arguments): an entry point; needed ones make the driver unusable when
 * they are missing. */
#define CUDA_DRIVER_TABLE(ROW) \
    ROW(init, cuInit, true, (unsigned flags)) \
    ROW(driver_version, cuDriverGetVersion, true, (int *version)) \
    ROW(device_count, cuDeviceGetCount, true, (int *count)) \
    ROW(device_get, cuDeviceGet, true, (CUdevice * device, int ordinal)) \
    ROW(device_name, cuDeviceGetName, true, (char *name, int length, CUdevice device)) \
    ROW(device_memory, cuDeviceTotalMem_v2, true, (size_t * bytes, CUdevice device)) \
    ROW(device_attribute, cuDeviceGetAttribute, true, (int *value, int attribute, CUdevice device)) \
    ROW(device_capability, cuDeviceComputeCapability, false, (int *major, int *minor, CUdevice device)) \
    ROW(context_create, cuCtxCreate_v2, true, (CUcontext * context, unsigned flags, CUdevice device)) \
    ROW(context_destroy, cuCtxDestroy_v2, true, (CUcontext context)) \
    ROW(primary_retain, cuDevicePrimaryCtxRetain, false, (CUcontext * context, CUdevice device)) \
    ROW(primary_release, cuDevicePrimaryCtxRelease, false, (CUdevice device)) \
    ROW(context_set_current, cuCtxSetCurrent, false, (CUcontext context)) \
    ROW(memory_allocate, cuMemAlloc_v2, true, (CUdeviceptr * pointer, size_t bytes)) \
    ROW(memory_free, cuMemFree_v2, true, (CUdeviceptr pointer)) \
    ROW(host_allocate, cuMemHostAlloc, true, (void **pointer, size_t bytes, unsigned flags)) \
    ROW(host_free, cuMemFreeHost, true, (void *pointer)) \
    ROW(copy_to_device, cuMemcpyHtoDAsync_v2, true, (CUdeviceptr to, const void *from, size_t bytes, CUstream stream)) \
    ROW(copy_to_host, cuMemcpyDtoHAsync_v2, true, (void *to, CUdeviceptr from, size_t bytes, CUstream stream)) \
    ROW(fill, cuMemsetD32Async, false, (CUdeviceptr pointer, unsigned pattern, size_t count, CUstream stream)) \
    ROW(copy_on_device, cuMemcpyDtoDAsync_v2, true, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)) \
    ROW(module_load, cuModuleLoadDataEx, true, \
        (CUmodule * module, const void *image, unsigned count, int *options, void **values)) \
    ROW(module_unload, cuModuleUnload, true, (CUmodule module)) \
    ROW(module_function, cuModuleGetFunction, true, (CUfunction * function, CUmodule module, const char *name)) \
    ROW(module_global, cuModuleGetGlobal_v2, true, \
        (CUdeviceptr * pointer, size_t * bytes, CUmodule module, const char *name)) \
    ROW(stream_create, cuStreamCreate, true, (CUstream * stream, unsigned flags)) \
    ROW(stream_destroy, cuStreamDestroy_v2, true, (CUstream stream)) \
    ROW(stream_synchronize, cuStreamSynchronize, true, (CUstream stream)) \
    ROW(stream_wait_event, cuStreamWaitEvent, false, (CUstream stream, CUevent event, unsigned flags)) \
    ROW(event_create, cuEventCreate, true, (CUevent * event, unsigned flags)) \
    ROW(event_destroy, cuEventDestroy_v2, true, (CUevent event)) \
    ROW(event_record, cuEventRecord, true, (CUevent event, CUstream stream)) \
    ROW(event_synchronize, cuEventSynchronize, true, (CUevent event)) \
    ROW(event_elapsed, cuEventElapsedTime, true, (float *ms, CUevent start, CUevent end)) \
    ROW(launch, cuLaunchKernel, true, \
        (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, \
         unsigned block_z, unsigned shared_bytes, CUstream stream, void **arguments, void **extra)) \
    ROW(error_name, cuGetErrorName, false, (CUresult result, const char **name))

#define CUDA_NVRTC_TABLE(ROW) \
    ROW(version, nvrtcVersion, true, (int *major, int *minor)) \
    ROW(create, nvrtcCreateProgram, true, \
        (nvrtcProgram * program, const char *source, const char *name, int headers, const char *const *header_texts, \
         const char *const *header_names)) \
    ROW(destroy, nvrtcDestroyProgram, true, (nvrtcProgram * program)) \
    ROW(compile, nvrtcCompileProgram, true, (nvrtcProgram program, int count, const char *const *options)) \
    ROW(log_size, nvrtcGetProgramLogSize, true, (nvrtcProgram program, size_t * size)) \
    ROW(log, nvrtcGetProgramLog, true, (nvrtcProgram program, char *log)) \
    ROW(ptx_size, nvrtcGetPTXSize, true, (nvrtcProgram program, size_t * size)) \
    ROW(ptx, nvrtcGetPTX, true, (nvrtcProgram program, char *ptx)) \
    ROW(cubin_size, nvrtcGetCUBINSize, false, (nvrtcProgram program, size_t * size)) \
    ROW(cubin, nvrtcGetCUBIN, false, (nvrtcProgram program, char *cubin)) \
    ROW(arch_count, nvrtcGetNumSupportedArchs, false, (int *count)) \
    ROW(archs, nvrtcGetSupportedArchs, false, (int *archs))

typedef struct cuda_driver {
#define CUDA_FIELD(field, symbol, needed, arguments) CUresult(*field) arguments;
    CUDA_DRIVER_TABLE(CUDA_FIELD)
#undef CUDA_FIELD
} cuda_driver;

typedef struct cuda_nvrtc {
#define CUDA_FIELD(field, symbol, needed, arguments) nvrtcResult(*field) arguments;
    CUDA_NVRTC_TABLE(CUDA_FIELD)
#undef CUDA_FIELD
} cuda_nvrtc;

/* Opens libcuda.so.1 and initialises it, once a process. NULL: `reason` says why ("no CUDA driver",
 * a missing entry point, cuInit's error). */
const cuda_driver *cuda_driver_open(char *reason, size_t size);

/* Opens NVRTC, once a process: LEYDEN_NVRTC, else the newest that the loader or the toolkit's usual
 * place has. */
const cuda_nvrtc *cuda_nvrtc_open(char *reason, size_t size);

#endif
