#include "core/options.h"

#include "core/parameters.h"
#include "error.h"

#include <string.h>

ley_status options_take(void *to, size_t least, size_t known, const void *from, const char *name, ley_error *error)
{
    size_t size;
    if (from == NULL)
        return ley_fail(error, LEY_ERROR_USAGE, "no %s is given: %s_default() makes the usual one", name, name);
    memcpy(&size, from, sizeof size);
    if (size < least || size > known)
        return ley_fail(error, LEY_ERROR_USAGE,
                        "%s is %zu bytes long, which no version up to %s has: %s_default() sets its size", name, size,
                        LEY_VERSION, name);
    memcpy(to, from, size);
    memcpy(to, &known, sizeof known);
    return LEY_OK;
}

ley_status options_check_medium(const void *options, ley_error *error)
{
    return parameters_check(&direct_parameters, options, error);
}

ley_status options_check_tolerance(double tolerance, ley_error *error)
{
    return tolerance >= LEY_LEAST_TOLERANCE && tolerance <= LEY_MOST_TOLERANCE
               ? LEY_OK
               : ley_fail(error, LEY_ERROR_USAGE, "tolerance %g, must be %g to %g", tolerance, LEY_LEAST_TOLERANCE,
                          LEY_MOST_TOLERANCE);
}
