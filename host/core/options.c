#include "core/options.h"

#include "error.h"

#include <string.h>

ley_status options_take(void *to, size_t least, size_t known, const void *from, const char *name, ley_error *error)
{
    size_t size;
    memcpy(&size, from, sizeof size);
    if (size < least || size > known)
        return ley_fail(error, LEY_ERROR_USAGE,
                        "%s is %zu bytes long, which no version up to %s has: %s_default() sets its size", name, size,
                        LEY_VERSION, name);
    memcpy(to, from, size);
    memcpy(to, &known, sizeof known);
    return LEY_OK;
}

ley_status options_check_medium(ley_units units, double dielectric, double temperature_K, double r_min_A,
                                ley_error *error)
{
    if ((unsigned)units >= LEY_UNITS_COUNT)
        return ley_fail(error, LEY_ERROR_USAGE, "unknown units %d", (int)units);
    /* With these bounds no potential of any atoms overflows a float. */
    if (!(dielectric >= 1e-3 && dielectric <= 1e6))
        return ley_fail(error, LEY_ERROR_USAGE, "dielectric %g, must be 1e-3 to 1e6", dielectric);
    if (!(temperature_K >= 1e-3 && temperature_K <= 1e6))
        return ley_fail(error, LEY_ERROR_USAGE, "temperature %g K, must be 1e-3 to 1e6", temperature_K);
    if (!(r_min_A >= 1e-6 && r_min_A <= 1e3))
        return ley_fail(error, LEY_ERROR_USAGE, "r_min %g A, must be 1e-6 to 1e3", r_min_A);
    return LEY_OK;
}

ley_status options_check_tolerance(double tolerance, ley_error *error)
{
    return tolerance >= LEY_LEAST_TOLERANCE && tolerance <= LEY_MOST_TOLERANCE
               ? LEY_OK
               : ley_fail(error, LEY_ERROR_USAGE, "tolerance %g, must be %g to %g", tolerance, LEY_LEAST_TOLERANCE,
                          LEY_MOST_TOLERANCE);
}
