#include "driver_api.h"

#include "../environment.h"
#include "../library.h"

#include <pthread.h>
#include <stdio.h>

#define CUDA_FIND(field, symbol, needed, arguments) \
    library_find(state, handle, #symbol, needed, &api->field, sizeof api->field);

static cuda_driver driver;
static library driver_state = {.complaint = "the driver is too old: "};

static void open_driver_once(void)
{
    library *state = &driver_state;
    cuda_driver *api = &driver;
    void *handle = library_open("libcuda.so.1", NULL, 0);
    if (handle == NULL) {
        snprintf(state->reason, sizeof state->reason, "no CUDA driver (libcuda.so.1) on this machine");
        return;
    }
    CUDA_DRIVER_TABLE(CUDA_FIND)
    if (state->reason[0] != '\0')
        return;
    CUresult result = api->init(0);
    if (result == CUDA_ERROR_NO_DEVICE)
        snprintf(state->reason, sizeof state->reason, "no device");
    else if (result != CUDA_SUCCESS)
        snprintf(state->reason, sizeof state->reason, "cuInit(0): error %d", result);
}

static cuda_nvrtc nvrtc;
static library nvrtc_state = {.complaint = "NVRTC is too old: "};

static const char *const nvrtc_names[] = {
    "libnvrtc.so.13",
    "libnvrtc.so.12",
    "libnvrtc.so.11.2",
    "libnvrtc.so.11.1",
    "libnvrtc.so.11.0",
    "libnvrtc.so.10.2",
    "libnvrtc.so",
    "/usr/local/cuda/lib64/libnvrtc.so",
    "/usr/lib/cuda/lib64/libnvrtc.so",
    "/opt/cuda/lib64/libnvrtc.so",
};

static void open_nvrtc_once(void)
{
    library *state = &nvrtc_state;
    cuda_nvrtc *api = &nvrtc;
    const char *own = environment_nvrtc();
    void *handle = library_open(own, nvrtc_names, sizeof nvrtc_names / sizeof *nvrtc_names);
    if (handle == NULL) {
        snprintf(state->reason, sizeof state->reason, "no NVRTC (%s) to compile CUDA kernels with",
                 own != NULL ? own : "libnvrtc");
        return;
    }
    CUDA_NVRTC_TABLE(CUDA_FIND)
}

const cuda_driver *cuda_driver_open(char *reason, size_t size)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_driver_once);
    return library_give(&driver_state, &driver, reason, size);
}

const cuda_nvrtc *cuda_nvrtc_open(char *reason, size_t size)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_nvrtc_once);
    return library_give(&nvrtc_state, &nvrtc, reason, size);
}
