#include "internal.h"

#include <string.h>

/* For drivers that have no cuGetErrorName (before CUDA 6): the codes that a computation can
 * meet. */
static const char *known_name(CUresult code)
{
    switch (code) {
    case 1:
        return "CUDA_ERROR_INVALID_VALUE";
    case 2:
        return "CUDA_ERROR_OUT_OF_MEMORY";
    case 3:
        return "CUDA_ERROR_NOT_INITIALIZED";
    case 4:
        return "CUDA_ERROR_DEINITIALIZED";
    case 100:
        return "CUDA_ERROR_NO_DEVICE";
    case 101:
        return "CUDA_ERROR_INVALID_DEVICE";
    case 200:
        return "CUDA_ERROR_INVALID_IMAGE";
    case 201:
        return "CUDA_ERROR_INVALID_CONTEXT";
    case 209:
        return "CUDA_ERROR_NO_BINARY_FOR_GPU";
    case 218:
        return "CUDA_ERROR_INVALID_PTX";
    case 400:
        return "CUDA_ERROR_INVALID_HANDLE";
    case 500:
        return "CUDA_ERROR_NOT_FOUND";
    case 700:
        return "CUDA_ERROR_ILLEGAL_ADDRESS";
    case 701:
        return "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES";
    case 702:
        return "CUDA_ERROR_LAUNCH_TIMEOUT";
    case 719:
        return "CUDA_ERROR_LAUNCH_FAILED";
    case 999:
        return "CUDA_ERROR_UNKNOWN";
    default:
        return "unknown CUDA error";
    }
}

/* The driver function behind a field of the table of entry points; NULL: there is no such field. */
static const char *symbol_of(const char *field, size_t length)
{
    static const char *const names[][2] = {
#define NAMES(field, symbol, needed, arguments) {#field, #symbol},
        CUDA_DRIVER_TABLE(NAMES)
#undef NAMES
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i][0]) == length && memcmp(names[i][0], field, length) == 0)
            return names[i][1];
    return NULL;
}

ley_status cuda_fail(const cuda_driver *api, ley_error *error, CUresult code, const char *call, const char *file,
                     int line)
{
    const char *base = strrchr(file, '/'), *name = NULL;
    if (api->error_name == NULL || api->error_name(code, &name) != CUDA_SUCCESS || name == NULL)
        name = known_name(code);
    /* "d->api->launch(p->function, ...)" says nothing to a user: cuLaunchKernel does. */
    const char *arguments = call + strcspn(call, "("), *field = arguments;
    while (field > call && field[-1] != '>')
        field--;
    const char *symbol = symbol_of(field, (size_t)(arguments - field));
    return ley_fail(error, LEY_ERROR_DEVICE, "%s%s: %s (%d) at %s:%d", symbol != NULL ? symbol : "",
                    symbol != NULL ? arguments : call, name, code, base != NULL ? base + 1 : file, line);
}
