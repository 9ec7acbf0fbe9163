#include "engine/tuning.h"

#include "error.h"
#include "leyden.h"

#include <float.h>
#include <math.h>
#include <string.h>

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

double tuning_pairs_need(int math, int sum)
{
    const double two_ulps = 2.5e-7;
    return tuning_need(math, sum == LEY_SPEC_SUM_COMPENSATED ? two_ulps : CALIBRATE_FINEST);
}

int tuning_root(const dev_info *info, const calibration *c, int width, double need)
{
    return calibrate_fastest_root(info, c, width, need);
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

double tuning_share_of_lanes(const dev_info *info, int width, int points)
{
    const int lanes = calibrate_width(info);
    if (width > 1 || lanes == 1 || points == 1)
        return width < lanes ? (double)width / lanes : 1;
    return 0.5 * (points < lanes ? points : lanes) / lanes;
}

double tuning_padded(int64_t n, int tile)
{
    return (double)((n + tile - 1) / tile) * tile;
}

/* ---- Plans ----------------------------------------------------------------------------------- */

tuning_planned tuning_planned_for(const job_plan *p, const dev_info *info, const char *share)
{
    tuning_planned planned = {.has_root = false};
    const char *root = plan_word(p, info, "root"), *exp = plan_word(p, info, "exp");
    for (int i = 0; root != NULL && i < LEY_ROOT_COUNT; i++)
        if (strcmp(calibrate_root_word(i), root) == 0) {
            planned.has_root = true;
            planned.root = i;
        }
    for (int i = 0; exp != NULL && i < LEY_EXP_COUNT; i++)
        if (strcmp(calibrate_exp_word(i), exp) == 0) {
            planned.has_exp = true;
            planned.exp = i;
        }
    const int64_t number = share != NULL ? plan_number(p, info, share) : -1;
    planned.has_share = number >= 0;
    planned.share = planned.has_share ? (int)number : 0;
    return planned;
}

uint64_t tuning_planned_needs(const tuning_planned *planned, uint64_t facts)
{
    if (planned->has_root && (facts & CALIBRATE_ROOTS) != 0)
        facts = (facts & ~CALIBRATE_ROOTS) | CALIBRATE_ROOT(planned->root);
    if (planned->has_exp && (facts & CALIBRATE_EXPS) != 0)
        facts = (facts & ~CALIBRATE_EXPS) | CALIBRATE_EXP(planned->exp);
    return facts;
}

const char *tuning_planned_variant(const job_plan *p, const dev_info *info, const char *variant)
{
    const char *word = plan_word(p, info, "variant");
    return word != NULL ? word : variant;
}

ley_status tuning_take_planned(const dev_info *info, const tuning_planned *planned, int width, bool is_fixed, int *root,
                               int *exp, ley_error *error)
{
    const bool has_exp = planned->has_exp && exp != NULL;
    if (planned->has_root &&
        (!calibrate_root_possible(info, planned->root, width) || (is_fixed && planned->root != LEY_ROOT_STANDARD)))
        return plan_fail(error, "root %s is not to be had here", calibrate_root_word(planned->root));
    if (has_exp &&
        (!calibrate_exp_possible(info, planned->exp, width) || (is_fixed && planned->exp != LEY_EXP_STANDARD)))
        return plan_fail(error, "exp %s is not to be had here", calibrate_exp_word(planned->exp));
    *root = planned->has_root ? planned->root : *root;
    if (has_exp)
        *exp = planned->exp;
    return LEY_OK;
}

ley_status tuning_take_share(const tuning_planned *planned, int most, int *share, ley_error *error)
{
    if (planned->has_share && planned->share > most)
        return plan_fail(error, "%d of a work-item's special functions are for the multipliers, at most %d can be",
                         planned->share, most);
    *share = planned->has_share ? planned->share : *share;
    return LEY_OK;
}
