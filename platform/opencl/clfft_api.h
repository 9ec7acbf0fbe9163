/* clFFT, opened at run time: it is there on few systems, a program that is linked with it would not
 * start on the others, and its C++ runtime would come into every process. Types and values are
 * those of its version 2. */
#ifndef LEY_CLFFT_API_H
#define LEY_CLFFT_API_H

#include "cl_check.h"

#include <stddef.h>

typedef size_t clfft_handle;

enum { CLFFT_3D = 3 };
enum { CLFFT_HERMITIAN_INTERLEAVED = 3, CLFFT_REAL = 5 };
enum { CLFFT_INPLACE = 1, CLFFT_OUTOFPLACE = 2 };
enum { CLFFT_SINGLE = 1 };
enum { CLFFT_FORWARD = -1, CLFFT_BACKWARD = 1 };

typedef struct clfft_setup {
    cl_uint major, minor, patch;
    cl_ulong debug_flags;
} clfft_setup;

/* ROW(field, symbol, arguments). Results are those of OpenCL, and from 4096 on the library's own;
 * what it calls a handle, a direction, a layout or a dimension is a number. */
#define CLFFT_TABLE(ROW) \
    ROW(version, clfftGetVersion, (cl_uint * major, cl_uint * minor, cl_uint * patch)) \
    ROW(setup, clfftSetup, (const clfft_setup *data)) \
    ROW(teardown, clfftTeardown, (void)) \
    ROW(create, clfftCreateDefaultPlan, \
        (clfft_handle * plan, cl_context context, int dimensions, const size_t *lengths)) \
    ROW(set_precision, clfftSetPlanPrecision, (clfft_handle plan, int precision)) \
    ROW(set_layout, clfftSetLayout, (clfft_handle plan, int in, int out)) \
    ROW(set_location, clfftSetResultLocation, (clfft_handle plan, int place)) \
    ROW(set_in_stride, clfftSetPlanInStride, (clfft_handle plan, int dimensions, const size_t *strides)) \
    ROW(set_out_stride, clfftSetPlanOutStride, (clfft_handle plan, int dimensions, const size_t *strides)) \
    ROW(set_distance, clfftSetPlanDistance, (clfft_handle plan, size_t in, size_t out)) \
    ROW(set_scale, clfftSetPlanScale, (clfft_handle plan, int direction, float scale)) \
    ROW(bake, clfftBakePlan, \
        (clfft_handle plan, cl_uint queue_count, cl_command_queue * queues, \
         void(CL_CALLBACK * notify)(clfft_handle plan, void *context), void *context)) \
    ROW(scratch_bytes, clfftGetTmpBufSize, (clfft_handle plan, size_t * bytes)) \
    ROW(run, clfftEnqueueTransform, \
        (clfft_handle plan, int direction, cl_uint queue_count, cl_command_queue *queues, cl_uint wait_count, \
         const cl_event *wait, cl_event *done, cl_mem *in, cl_mem *out, cl_mem scratch)) \
    ROW(destroy, clfftDestroyPlan, (clfft_handle * plan))

typedef struct clfft_api {
#define CLFFT_FIELD(field, symbol, arguments) cl_int(*field) arguments;
    CLFFT_TABLE(CLFFT_FIELD)
#undef CLFFT_FIELD
} clfft_api;

/* Opens it, once a process: LEYDEN_CLFFT, else libclFFT.so.2. NULL: `reason` says why it cannot be
 * used. */
const clfft_api *clfft_open(char *reason, size_t size);

#endif
