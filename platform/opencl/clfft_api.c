#include "clfft_api.h"

#include "../environment.h"
#include "../library.h"

#include <pthread.h>

static const char *const names[] = {"libclFFT.so.2"};
static clfft_api api;
static library state = {.complaint = "", .called = "libclFFT.so.2", .variable = "LEYDEN_CLFFT"};

static void open_once(void)
{
    void *handle = library_open_or_say(&state, environment_clfft(), names, sizeof names / sizeof *names);
    if (handle == NULL)
        return;
#define CLFFT_FIND(field, symbol, arguments) library_find(&state, handle, #symbol, true, &api.field, sizeof api.field);
    CLFFT_TABLE(CLFFT_FIND)
#undef CLFFT_FIND
}

const clfft_api *clfft_open(char *reason, size_t size)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_once);
    return library_give(&state, &api, reason, size);
}
