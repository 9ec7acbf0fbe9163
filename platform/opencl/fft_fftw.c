/* Fourier transforms by FFTW on all cores of the host, for processors as devices: a function of the
 * host among the commands of the device's queue, which works on the device's own memory
 * (fftw_mesh.h). Plans are estimated and not measured, so that digits are the same each time. */
#include "../fftw_mesh.h"
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct fftw_transform {
    dev_fft_plan base;
    fftw_mesh *mesh;
    size_t rows, planes; /* of the mesh; planes that have values */
    bool in_place;
    size_t pitch; /* floats from row to row of the mesh */
} fftw_transform;

static bool describe(const dev_info *info, char version[64], char unusable[DEV_TEXT])
{
    cl_device_exec_capabilities can = 0;
    if (info->device_class != DEV_CPU) {
        snprintf(unusable, DEV_TEXT, "it is for processors as devices");
        return false;
    }
    if (clGetDeviceInfo(info->handle, CL_DEVICE_EXECUTION_CAPABILITIES, sizeof can, &can, NULL) != CL_SUCCESS ||
        (can & CL_EXEC_NATIVE_KERNEL) == 0) {
        snprintf(unusable, DEV_TEXT, "the driver does not call functions of the host");
        return false;
    }
    const fftw_api *api = fftw_open(unusable, DEV_TEXT);
    if (api == NULL)
        return false;
    snprintf(version, 64, "%.60s", strncmp(api->version, "fftw-", 5) == 0 ? api->version + 5 : api->version);
    return true;
}

/* What a function of the host is handed: pointers to the device's memory take the places of its
 * buffers. In place there is one, since PoCL hands out a buffer that is named twice once. */
typedef struct native_call {
    const fftw_transform *t;
    bool forward;
    float *mesh;
    fftw_complex *spectrum;
} native_call;

static void CL_CALLBACK transform(void *arguments)
{
    const native_call *call = arguments;
    const fftw_transform *t = call->t;
    fftw_complex *spectrum = t->in_place ? (fftw_complex *)call->mesh : call->spectrum;
    const fftw_planes planes = {call->mesh, t->pitch, t->rows, t->planes, spectrum, NULL};
    if (call->forward)
        fftw_mesh_planes(t->mesh, true, &planes);
    fftw_mesh_columns(t->mesh, call->forward, spectrum, t->rows);
    if (!call->forward)
        fftw_mesh_planes(t->mesh, false, &planes);
}

static ley_status run(cl_dev *d, dev_fft_plan *plan, bool forward, cl_mem from, cl_mem to, cl_mem scratch,
                      ley_error *error)
{
    const fftw_transform *t = (fftw_transform *)plan;
    native_call call = {.t = t, .forward = forward};
    const cl_mem buffers[] = {forward ? from : to, forward ? to : from};
    const void *places[] = {&call.mesh, &call.spectrum};
    (void)scratch;
    CL_TRY(error, clEnqueueNativeKernel(d->queues[LANE_LAUNCH], transform, &call, sizeof call, t->in_place ? 1 : 2,
                                        buffers, places, 0, NULL, NULL));
    return LEY_OK;
}

static void end(dev_fft_plan *plan)
{
    fftw_transform *t = (fftw_transform *)plan;
    fftw_mesh_destroy(t->mesh);
    free(t);
}

static ley_status make(cl_dev *d, const dev_fft_shape *shape, const void *kept, size_t kept_size, dev_fft_plan **plan,
                       ley_error *error)
{
    fftw_transform *t = calloc(1, sizeof *t);
    (void)d, (void)kept, (void)kept_size;
    if (t == NULL)
        return ley_fail_memory(error, sizeof *t, "a transform");
    *t = (fftw_transform){.base.is_compiled = true,
                          .rows = shape->n[1],
                          .planes = shape->filled[2],
                          .in_place = shape->in_place,
                          .pitch = shape->in_place ? 2 * (shape->n[0] / 2 + 1) : shape->n[0]};
    const ley_status status = fftw_mesh_create(shape->n, shape->filled, &t->mesh, error);
    if (status == LEY_OK)
        *plan = &t->base;
    else
        free(t);
    return status;
}

const cl_fft_library cl_fft_fftw = {.name = "fftw",
                                    .leaves_out = true,
                                    .needs_no_area = true,
                                    .describe = describe,
                                    .plan = make,
                                    .run = run,
                                    .end = end};
