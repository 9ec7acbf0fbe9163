#include "cufft_api.h"

#include "../environment.h"
#include "../library.h"

#include <pthread.h>

static const char *const names[] = {
    "libcufft.so.12",
    "libcufft.so.11",
    "libcufft.so.10",
    "libcufft.so.9.2",
    "libcufft.so",
    "/usr/local/cuda/lib64/libcufft.so",
    "/usr/lib/cuda/lib64/libcufft.so",
    "/opt/cuda/lib64/libcufft.so",
};
static cuda_cufft api;
static library state = {.complaint = "cuFFT is too old: ", .called = "libcufft", .variable = "LEYDEN_CUFFT"};

static void open_once(void)
{
    void *handle = library_open_or_say(&state, environment_cufft(), names, sizeof names / sizeof *names);
    if (handle == NULL)
        return;
#define CUFFT_FIND(field, symbol, arguments) library_find(&state, handle, #symbol, true, &api.field, sizeof api.field);
    CUDA_CUFFT_TABLE(CUFFT_FIND)
#undef CUFFT_FIND
}

const cuda_cufft *cuda_cufft_open(char *reason, size_t size)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_once);
    return library_give(&state, &api, reason, size);
}
