#include "clfft_api.h"

#include "../environment.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static clfft_api api;
static char why_not[256];

/* POSIX lets a data pointer from dlsym() be a function; C does not, hence the copy of its bytes. */
static void find(void *library, const char *symbol, void *field, size_t size)
{
    void *address = dlsym(library, symbol);
    if (address == NULL && why_not[0] == '\0')
        snprintf(why_not, sizeof why_not, "it has no %s", symbol);
    memcpy(field, &address, size);
}

static void open_once(void)
{
    const char *own = environment_clfft(), *name = own != NULL ? own : "libclFFT.so.2";
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        snprintf(why_not, sizeof why_not, "%.200s is not installed", name);
        return;
    }
#define CLFFT_FIND(field, symbol, arguments) find(library, #symbol, &api.field, sizeof api.field);
    CLFFT_TABLE(CLFFT_FIND)
#undef CLFFT_FIND
}

const clfft_api *clfft_open(char *reason, size_t size)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_once);
    if (why_not[0] != '\0')
        snprintf(reason, size, "%s", why_not);
    return why_not[0] == '\0' ? &api : NULL;
}
