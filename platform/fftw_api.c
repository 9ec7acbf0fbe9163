#include "fftw_api.h"

#include "environment.h"
#include "library.h"

#include <pthread.h>

static const char *const names[] = {"libfftw3f.so.3"};
static fftw_api api;
static library state = {.complaint = "", .called = "libfftw3f.so.3", .variable = "LEYDEN_FFTW"};

static void open_once(void)
{
    void *handle = library_open_or_say(&state, environment_fftw(), names, sizeof names / sizeof *names);
    if (handle == NULL)
        return;
#define FFTW_FIND(result, field, symbol, arguments) \
    library_find(&state, handle, #symbol, true, &api.field, sizeof api.field);
    FFTW_TABLE(FFTW_FIND)
#undef FFTW_FIND
    library_find(&state, handle, "fftwf_version", true, &api.version, sizeof api.version);
}

const fftw_api *fftw_open(char *reason, size_t size)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_once);
    return library_give(&state, &api, reason, size);
}
