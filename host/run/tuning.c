#include "run/tuning.h"

#include "error.h"
#include "leyden.h"

#include <float.h>
#include <math.h>

static const double speed_need = CALIBRATE_FINEST;

/* What users ask for is what kernels are told. */
_Static_assert((int)LEY_MATH_STANDARD == TUNING_STANDARD && (int)LEY_MATH_NATIVE == TUNING_NATIVE &&
                   (int)LEY_MATH_AUTO == TUNING_AUTO && (int)LEY_MATH_COUNT == TUNING_AUTO + 1,
               "ley_math is TUNING_...");
_Static_assert((int)LEY_SUM_FLOAT == LEY_SPEC_SUM_FLOAT && (int)LEY_SUM_COMPENSATED == LEY_SPEC_SUM_COMPENSATED &&
                   (int)LEY_SUM_DOUBLE == LEY_SPEC_SUM_DOUBLE && (int)LEY_SUM_AUTO == LEY_SPEC_SUM_DOUBLE + 1,
               "ley_sum, but for LEY_SUM_AUTO, is LEY_SPEC_SUM_...");

double tuning_need(int math, double need)
{
    return math == TUNING_NATIVE ? DBL_MAX : need;
}

int tuning_root(const dev_info *info, const calibration *c, int width, double need)
{
    calibration possible = *c;
    if ((info->quirks & DEV_QUIRK_FRAIL_ASM) != 0)
        possible.root_error[LEY_ROOT_AVX512] = INFINITY;
    return calibrate_fastest_root(info, &possible, width, need);
}

uint64_t tuning_speed_needs(const dev_info *info)
{
    return CALIBRATE_ROOTS | (info->device_class == DEV_CPU ? 0 : CALIBRATE_MULTIPLY_ADDS);
}

double tuning_speed(const dev_info *info, const calibration *c)
{
    return c->roots_per_s[tuning_root(info, c, calibrate_width(info), speed_need)];
}

ley_status tuning_unknown(const char *variant, ley_error *error)
{
    return ley_fail(error, LEY_ERROR_USAGE, "no kernel variant is named %s", variant);
}

ley_status tuning_check(const dev_info *info, const char *variant, int where, int sum, ley_error *error)
{
    const bool is_checker = (info->quirks & DEV_QUIRK_INTERPRETER) != 0;
    const bool has_vectors = info->device_class == DEV_CPU && info->vector_width >= 4;
    if (sum == LEY_SPEC_SUM_DOUBLE && !info->has_double)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "the device has no double precision");
    if (!is_checker && !(where & (has_vectors ? ON_CPU : ON_GPU)))
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "variant %s is for CPU devices with vectors", variant);
    return LEY_OK;
}

double tuning_padded(int64_t n, int tile)
{
    return (double)((n + tile - 1) / tile) * tile;
}
