#include "methods/mdh/tuning.h"

#include "error.h"
#include "kernel_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Largest relative errors of 1/sqrt and 2^x that a pair tolerates: an order of magnitude below the
 * promise of 1e-5. */
static const double mdh_need = 1e-6;

/* Special functions this many times slower than multiply-adds are the bottleneck of a pair (two of
 * them against four); then the multipliers take POLYNOMIAL_SHARE of its exponentials. Measured best
 * on a device where they are 8 times slower. */
static const double slow_functions_ratio = 6;
enum { POLYNOMIAL_SHARE = 8, POLYNOMIAL_OF = 16 };

typedef struct shape {
    int ux, uy;
    double speed; /* relative, at equal padding */
} shape;

enum { MAX_SHAPES = 5 };

typedef struct variant {
    const char *name;
    int where, atoms, wg, width, tile;
    bool spare_exps; /* may give a share of its exponentials to the multipliers */
    shape shapes[MAX_SHAPES];
    int list_ux; /* points a work-item of a list */
} variant;

/* simple is the papers' kernel: a point a work-item, atoms staged. */
static const variant variants[] = {
    {"simple", ANYWHERE, LEY_ATOMS_LOCAL, 64, 1, 256, false, {{1, 1, 1}}, 1},
    {"tiled8", ANYWHERE, LEY_ATOMS_LOCAL, 64, 1, 256, true, {{4, 2, 1}}, 8},
    {"tiled16", ANYWHERE, LEY_ATOMS_LOCAL, 128, 1, 256, true, {{4, 4, 1}}, 8},
    {"vector4",
     ON_CPU,
     LEY_ATOMS_ROWS,
     1,
     4,
     256,
     false,
     {{8, 8, 1}, {4, 8, 0.99}, {2, 8, 0.96}, {1, 8, 0.9}, {1, 4, 0.8}},
     8},
    {"vector8",
     ON_CPU,
     LEY_ATOMS_ROWS,
     1,
     8,
     256,
     false,
     {{8, 8, 1}, {4, 8, 0.99}, {2, 8, 0.96}, {1, 8, 0.9}, {1, 4, 0.8}},
     8},
    {"vector16",
     ON_CPU,
     LEY_ATOMS_ROWS,
     1,
     16,
     256,
     false,
     {{8, 8, 1}, {4, 8, 0.99}, {2, 8, 0.96}, {1, 8, 0.9}, {1, 4, 0.8}},
     8},
};
enum { VARIANT_COUNT = sizeof variants / sizeof variants[0], DEFAULT_ON_GPU = 1 };

const char *tuning_mdh_variant(size_t i)
{
    return i < VARIANT_COUNT ? variants[i].name : NULL;
}

void tuning_mdh_options(const mdh_spec *spec, char *options, size_t size)
{
    kernel_table_options("mdh", (const int *)spec, options, size);
}

void tuning_mdh_sum_options(const mdh_spec *spec, char *options, size_t size)
{
    snprintf(options, size, "-DLEY_SUM=%d -DLEY_WIDTH=1 -DLEY_ROOT=%d", spec->sum, LEY_ROOT_STANDARD);
}

const char *tuning_mdh_default(const dev_info *info)
{
    const int width = calibrate_width(info);
    for (size_t i = 0; i < VARIANT_COUNT && width > 1; i++)
        if (variants[i].width == width)
            return variants[i].name;
    return variants[DEFAULT_ON_GPU].name;
}

static const variant *find_variant(const dev_info *info, const mdh_wish *wish)
{
    const char *name = wish->variant != NULL ? wish->variant : tuning_mdh_default(info);
    for (size_t i = 0; i < VARIANT_COUNT; i++)
        if (strcmp(variants[i].name, name) == 0)
            return &variants[i];
    return NULL;
}

/* The shape that finishes a padded face first. */
static shape best_shape(const variant *v, const mdh_wish *wish)
{
    if (wish->points == LEY_POINTS_LIST)
        return (shape){v->list_ux, 1, 1};
    const shape *best = &v->shapes[0];
    double best_cost = INFINITY;
    for (const shape *s = v->shapes; s < v->shapes + MAX_SHAPES && s->ux != 0; s++) {
        const double cost = tuning_padded(wish->n_a, s->ux * v->width) * tuning_padded(wish->n_b, s->uy) / s->speed;
        if (cost < best_cost) {
            best_cost = cost;
            best = s;
        }
    }
    return *best;
}

/* Of the tile, its radii, and the marks of near atoms. */
static uint64_t local_bytes(const mdh_spec *spec)
{
    const uint64_t atom_bytes =
        (spec->sum == LEY_SPEC_SUM_DOUBLE ? 32 : 16) + (spec->screening == LEY_SCREENING_WIDE ? 4 : 0);
    return (uint64_t)spec->tile * atom_bytes + (uint64_t)spec->tile / 8;
}

static void choose_arithmetic(const dev_info *info, const calibration *c, const variant *v, const mdh_wish *wish,
                              mdh_spec *spec)
{
    if (wish->sum == LEY_SPEC_SUM_DOUBLE ||
        wish->math == TUNING_STANDARD) /* nothing measured in it: the same everywhere */
        return;
    const double need = tuning_need(wish->math, mdh_need);
    calibration possible = *c;
    if (wish->points == LEY_POINTS_LIST && (info->quirks & DEV_QUIRK_FRAIL_ASM) != 0)
        possible.root_error[LEY_ROOT_AVX512] = INFINITY;
    spec->root = calibrate_fastest_root(info, &possible, v->width, need);
    spec->exp = calibrate_fastest_exp(info, c, v->width, need);
    const bool slow = c->fma_per_s >= slow_functions_ratio * c->exps_per_s[spec->exp];
    if (v->spare_exps && wish->screening == LEY_SCREENING_FOLDED && wish->sum == LEY_SPEC_SUM_FLOAT &&
        spec->exp != LEY_EXP_POLYNOMIAL && c->exp_error[LEY_EXP_POLYNOMIAL] <= mdh_need && slow)
        spec->polynomial_exps = POLYNOMIAL_SHARE * spec->ux * spec->uy / POLYNOMIAL_OF;
}

ley_status tuning_mdh(const dev_info *info, const calibration *c, const mdh_wish *wish, mdh_choice *choice,
                      ley_error *error)
{
    const variant *v = find_variant(info, wish);
    if (v == NULL)
        return tuning_unknown(wish->variant, error);
    const ley_status status = tuning_check(info, v->name, v->where, wish->sum, error);
    if (status != LEY_OK)
        return status;
    const shape s = best_shape(v, wish);
    mdh_spec spec = {.wg = v->wg,
                     .width = v->width,
                     .ux = s.ux,
                     .uy = s.uy,
                     .atoms = v->atoms,
                     .tile = v->tile,
                     .sum = wish->sum,
                     .screening = wish->screening,
                     .points = wish->points};
    if ((size_t)spec.wg > info->max_work_group || (size_t)spec.wg > info->max_work_items[0])
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "%s: work-groups of %zu are too small for variant %s", info->name,
                        info->max_work_group, v->name);
    if (v->atoms == LEY_ATOMS_LOCAL && (info->quirks & DEV_QUIRK_INTERPRETER) != 0)
        spec.tile = 32; /* an interpreter's self-test shall be short */
    while (v->atoms == LEY_ATOMS_LOCAL && spec.tile > 32 && local_bytes(&spec) > info->local_bytes)
        spec.tile /= 2;
    if (v->atoms == LEY_ATOMS_LOCAL && local_bytes(&spec) > info->local_bytes)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "%s: variant %s needs more local memory than %llu bytes",
                        info->name, v->name, (unsigned long long)info->local_bytes);
    choose_arithmetic(info, c, v, wish, &spec);
    *choice = (mdh_choice){.variant = v->name, .spec = spec};
    return LEY_OK;
}
