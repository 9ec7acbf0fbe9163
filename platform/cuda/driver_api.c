#include "driver_api.h"

#include "../environment.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* A library that is opened once a process and stays open; why it could not be is kept. */
typedef struct opened {
    const char *library;
    bool usable;
    char reason[256];
} opened;

static void *find(void *library, const char *symbol, bool needed, opened *state)
{
    void *address = dlsym(library, symbol);
    if (address == NULL && needed && state->reason[0] == '\0')
        snprintf(state->reason, sizeof state->reason, "%s is too old: it has no %s", state->library, symbol);
    return address;
}

/* POSIX lets a data pointer from dlsym() be a function; C does not, hence the copy of its bytes. */
#define CUDA_FIND(field, symbol, needed, arguments) \
    address = find(library, #symbol, needed, state); \
    memcpy(&api->field, &address, sizeof address);

static cuda_driver driver;
static opened driver_state = {.library = "the driver"};

static void open_driver_once(void)
{
    opened *state = &driver_state;
    cuda_driver *api = &driver;
    void *address, *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
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
    state->usable = result == CUDA_SUCCESS;
}

static cuda_nvrtc nvrtc;
static opened nvrtc_state = {.library = "NVRTC"};

static void *open_any_nvrtc(void)
{
    static const char *const names[] = {
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
    const char *own = environment_nvrtc();
    if (own != NULL)
        return dlopen(own, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (library != NULL)
            return library;
    }
    return NULL;
}

static void open_nvrtc_once(void)
{
    opened *state = &nvrtc_state;
    cuda_nvrtc *api = &nvrtc;
    void *address, *library = open_any_nvrtc();
    if (library == NULL) {
        const char *own = environment_nvrtc();
        snprintf(state->reason, sizeof state->reason, "no NVRTC (%s) to compile CUDA kernels with",
                 own != NULL ? own : "libnvrtc");
        return;
    }
    CUDA_NVRTC_TABLE(CUDA_FIND)
    state->usable = state->reason[0] == '\0';
}

static const void *give(const opened *state, const void *api, char *reason, size_t size)
{
    if (!state->usable)
        snprintf(reason, size, "%s", state->reason);
    return state->usable ? api : NULL;
}

const cuda_driver *cuda_driver_open(char *reason, size_t size)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_driver_once);
    return give(&driver_state, &driver, reason, size);
}

const cuda_nvrtc *cuda_nvrtc_open(char *reason, size_t size)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_nvrtc_once);
    return give(&nvrtc_state, &nvrtc, reason, size);
}
