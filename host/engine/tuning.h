/* What the choices for all kernels share. Each method's own tuning.h chooses
 * which variant, tile sizes and arithmetic a device gets: by its class, its facts and its
 * calibration. */
#ifndef LEY_ENGINE_TUNING_H
#define LEY_ENGINE_TUNING_H

#include "calibrate.h"
#include "engine/decisions.h"
#include "kernel_kind.h"
#include "spec.h"

/* What a user may ask of the arithmetic; the values are those of ley_math in leyden.h. */
enum { TUNING_STANDARD = 0, TUNING_NATIVE = 1, TUNING_AUTO = 2 };

/* The devices that a variant is written for. */
enum { ON_GPU = 1, ON_CPU = 2, ANYWHERE = 3 };

/* The error of a recipe that this wish for maths puts up with, where `need` is what the method's
 * promise allows. */
double tuning_need(int math, double need);

/* The same of the pairs of a short-range sum, LEY_SPEC_SUM_...: an order of magnitude below the
 * promise of 1e-5; for compensated sums, which maps for 1e-6 are made of, two units of a float's
 * last digit. */
double tuning_pairs_need(int math, int sum);

/* The fastest recipe for roots whose error is at most `need`, without those that break a device's
 * compiler in loops. */
int tuning_root(const dev_info *info, const calibration *c, int width, double need);

/* What devices are compared by: roots per second that are right to 1e-6; and the facts that this
 * takes, with what most kernels of such a device need beside them. */
uint64_t tuning_speed_needs(const dev_info *info);
double tuning_speed(const dev_info *info, const calibration *c);

/* LEY_ERROR_USAGE. */
ley_status tuning_unknown(const char *variant, ley_error *error);

/* LEY_ERROR_NO_DEVICE where the device cannot run a variant for devices `where`, or this sum
 * (LEY_SPEC_SUM_...). A checker, which interprets its kernels, is shown every variant, whatever it
 * calls itself. */
ley_status tuning_check(const dev_info *info, const char *variant, int where, int sum, ley_error *error);

/* What a plan says of a device's arithmetic. The share is that of special functions which the
 * multipliers take; a method's plan has it under a name of its own. */
typedef struct tuning_planned {
    bool has_root, has_exp, has_share;
    int root, exp, share;
} tuning_planned;

tuning_planned tuning_planned_for(const job_plan *plan, const dev_info *info, const char *share);

/* Of these facts (calibration.h) the ones that are needed where recipes are planned. */
uint64_t tuning_planned_needs(const tuning_planned *planned, uint64_t facts);

/* The variant that the plan says, or `variant`. */
const char *tuning_planned_variant(const job_plan *plan, const dev_info *info, const char *variant);

/* Takes the planned recipes in place of the chosen ones, `exp` NULL where there is none.
 * LEY_ERROR_USAGE where the device cannot be asked for them; is_fixed: where only the standard's
 * can. */
ley_status tuning_take_planned(const dev_info *info, const tuning_planned *planned, int width, bool is_fixed, int *root,
                               int *exp, ley_error *error);

/* Takes the planned share in place of the chosen one. LEY_ERROR_USAGE where it is more than
 * `most`. */
ley_status tuning_take_share(const tuning_planned *planned, int most, int *share, ley_error *error);

/* What a kernel that computes `points` points per work-item, in vectors of `width` numbers, reaches
 * of the rate that its device is capable of, roughly. Less than 1 on CPUs: with narrow vectors a
 * share of the lanes; without any, where the compiler makes vectors of a work-item's points, half
 * of that. */
double tuning_share_of_lanes(const dev_info *info, int width, int points);

/* n points in whole tiles. */
double tuning_padded(int64_t n, int tile);

#endif
