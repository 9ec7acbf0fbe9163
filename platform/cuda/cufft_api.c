#include "cufft_api.h"

#include "../environment.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static cuda_cufft api;
static char why_not[256];

static void *open_any(void)
{
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
    const char *own = environment_cufft();
    if (own != NULL)
        return dlopen(own, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (library != NULL)
            return library;
    }
    return NULL;
}

/* POSIX lets a data pointer from dlsym() be a function; C does not, hence the copy of its bytes. */
static void find(void *library, const char *symbol, void *field, size_t size)
{
    void *address = dlsym(library, symbol);
    if (address == NULL && why_not[0] == '\0')
        snprintf(why_not, sizeof why_not, "cuFFT is too old: it has no %s", symbol);
    memcpy(field, &address, size);
}

static void open_once(void)
{
    void *library = open_any();
    if (library == NULL) {
        const char *own = environment_cufft();
        snprintf(why_not, sizeof why_not, "%.200s is not installed", own != NULL ? own : "libcufft");
        return;
    }
#define CUFFT_FIND(field, symbol, arguments) find(library, #symbol, &api.field, sizeof api.field);
    CUDA_CUFFT_TABLE(CUFFT_FIND)
#undef CUFFT_FIND
}

const cuda_cufft *cuda_cufft_open(char *reason, size_t size)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_once);
    if (why_not[0] != '\0')
        snprintf(reason, size, "%s", why_not);
    return why_not[0] == '\0' ? &api : NULL;
}
