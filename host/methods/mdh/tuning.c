#include "methods/mdh/tuning.h"

#include "engine/specifications.h"
#include "error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Largest relative errors of 1/sqrt and 2^x that a pair tolerates: an order of magnitude below the
 * promise of 1e-5. */
static const double mdh_need = CALIBRATE_FINEST;

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
    int list_ux; /* points per work-item of a list */
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

const char *tuning_mdh_default(const dev_info *info, int sum)
{
    (void)sum;
    const int width = calibrate_width(info);
    for (size_t i = 0; i < VARIANT_COUNT && width > 1; i++)
        if (variants[i].width == width)
            return variants[i].name;
    return variants[DEFAULT_ON_GPU].name;
}

static const variant *find_variant(const dev_info *info, const mdh_wish *wish)
{
    const char *name = wish->variant != NULL ? wish->variant : tuning_mdh_default(info, wish->sum);
    for (size_t i = 0; i < VARIANT_COUNT; i++)
        if (strcmp(variants[i].name, name) == 0)
            return &variants[i];
    return NULL;
}

/* The shape that finishes a padded face first. */
static shape best_shape(const variant *v, const mdh_wish *wish)
{
    if (wish->points == LEY_POINTS_LIST) /* sums of four components take more registers */
        return (shape){wish->field && v->list_ux > 1 ? v->list_ux / 2 : v->list_ux, 1, 1};
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
uint64_t tuning_mdh_local_bytes(const mdh_spec *spec)
{
    const uint64_t atom_bytes =
        (spec->sum == LEY_SPEC_SUM_DOUBLE ? 32U : 16U) + (spec->screening == LEY_SCREENING_WIDE ? 4U : 0U);
    return (uint64_t)spec->tile * atom_bytes + (uint64_t)spec->tile / 8;
}

/* Whether a share of the exponentials may go to the multipliers. */
static bool may_share(const variant *v, const mdh_wish *wish)
{
    return v->spare_exps && wish->screening == LEY_SCREENING_FOLDED && wish->sum == LEY_SPEC_SUM_FLOAT;
}

uint64_t tuning_mdh_needs(const dev_info *info, const mdh_wish *wish)
{
    const variant *v = find_variant(info, wish);
    const bool has_exps = wish->screening != LEY_SCREENING_NONE;
    if (wish->math == TUNING_STANDARD || wish->sum == LEY_SPEC_SUM_DOUBLE)
        return CALIBRATE_ROOT(LEY_ROOT_STANDARD) | (has_exps ? CALIBRATE_EXP(LEY_EXP_STANDARD) : 0);
    return CALIBRATE_ROOTS | (has_exps ? CALIBRATE_EXPS : 0) |
           (v != NULL && may_share(v, wish) ? CALIBRATE_MULTIPLY_ADDS : 0);
}

static void choose_arithmetic(const dev_info *info, const calibration *c, const variant *v, const mdh_wish *wish,
                              mdh_spec *spec)
{
    if (wish->sum == LEY_SPEC_SUM_DOUBLE ||
        wish->math == TUNING_STANDARD) /* nothing measured in it: the same everywhere */
        return;
    const double need = tuning_need(wish->math, mdh_need);
    spec->root = calibrate_fastest_root(info, c, v->width, need);
    if (wish->screening == LEY_SCREENING_NONE) /* no exponentials: nothing is known of them, or need be */
        return;
    spec->exp = calibrate_fastest_exp(info, c, v->width, need);
    const bool slow = c->fma_per_s >= slow_functions_ratio * c->exps_per_s[spec->exp];
    if (may_share(v, wish) && spec->exp != LEY_EXP_POLYNOMIAL && c->exp_error[LEY_EXP_POLYNOMIAL] <= mdh_need && slow)
        spec->polynomial_exps = POLYNOMIAL_SHARE * spec->ux * spec->uy / POLYNOMIAL_OF;
}

static ley_status take_planned(const dev_info *info, const variant *v, const mdh_wish *wish, mdh_spec *spec,
                               ley_error *error)
{
    const bool is_fixed = wish->sum == LEY_SPEC_SUM_DOUBLE || wish->math == TUNING_STANDARD,
               may_share = v->spare_exps && wish->screening == LEY_SCREENING_FOLDED &&
                           wish->sum == LEY_SPEC_SUM_FLOAT && !is_fixed;
    ley_status status = tuning_take_planned(info, &wish->planned, v->width, is_fixed, &spec->root, &spec->exp, error);
    return status == LEY_OK
               ? tuning_take_share(&wish->planned, may_share ? spec->ux * spec->uy : 0, &spec->polynomial_exps, error)
               : status;
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
                     .points = wish->points,
                     .field = wish->field};
    if ((size_t)spec.wg > info->max_work_group || (size_t)spec.wg > info->max_work_items[0])
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "work-groups of %zu are too small for variant %s",
                        info->max_work_group, v->name);
    if (v->atoms == LEY_ATOMS_LOCAL && (info->quirks & DEV_QUIRK_INTERPRETER) != 0)
        spec.tile = 32; /* an interpreter's self-test shall be short */
    while (v->atoms == LEY_ATOMS_LOCAL && spec.tile > 32 && tuning_mdh_local_bytes(&spec) > info->local_bytes)
        spec.tile /= 2;
    if (v->atoms == LEY_ATOMS_LOCAL && tuning_mdh_local_bytes(&spec) > info->local_bytes)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "variant %s needs more local memory than %llu bytes", v->name,
                        (unsigned long long)info->local_bytes);
    choose_arithmetic(info, c, v, wish, &spec);
    const ley_status planned = take_planned(info, v, wish, &spec, error);
    if (planned != LEY_OK)
        return planned;
    *choice = (mdh_choice){.variant = v->name, .spec = spec};
    return LEY_OK;
}

/* ---- All of them ----------------------------------------------------------------------------- */

/* Who is told of what, for which device. */
typedef struct listing {
    const dev_info *info;
    kernel_visit *visit;
    void *context;
} listing;

static calibration usual(const dev_info *info, bool fast_fma)
{
    return specifications_facts(calibrate_likely_root(info), calibrate_likely_exp(info), fast_fma);
}

/* What one wish leads to, unless the device refuses it. */
static void list_choice(const listing *l, const calibration *c, const mdh_wish *wish)
{
    static const char *const screenings[] = {"none", "folded", "wide"}, *const places[] = {"faces", "list"};
    mdh_choice choice;
    char name[KERNEL_NAME], exp[32] = "", share[24] = "", tile_shape[24] = "";
    if (tuning_mdh(l->info, c, wish, &choice, NULL) != LEY_OK)
        return;
    const mdh_spec *s = &choice.spec;
    if (s->screening != LEY_SCREENING_NONE)
        snprintf(exp, sizeof exp, "-%s", calibrate_exp_word(s->exp));
    if (s->polynomial_exps > 0)
        snprintf(share, sizeof share, "+polynomial%d", s->polynomial_exps);
    if (wish->n_a != SPECIFICATIONS_LARGE || wish->n_b != SPECIFICATIONS_LARGE)
        snprintf(tile_shape, sizeof tile_shape, "-%dx%d", s->ux, s->uy);
    snprintf(name, sizeof name, "mdh-%s-%s-%s-%s-%s%s%s%s%s", choice.variant, places[s->points],
             screenings[s->screening], specifications_sum(s->sum), calibrate_root_word(s->root), exp, share, tile_shape,
             s->field ? "-field" : "");
    l->visit(l->context, name, s);
}

/* Every sum and screening, for faces and for a list; of that the field, too. */
static void list_variant(const listing *l, const calibration *c, const char *name)
{
    mdh_wish wish = {.variant = name, .math = TUNING_AUTO, .n_a = SPECIFICATIONS_LARGE, .n_b = SPECIFICATIONS_LARGE};
    for (wish.sum = LEY_SPEC_SUM_FLOAT; wish.sum <= LEY_SPEC_SUM_DOUBLE; wish.sum++)
        for (wish.screening = LEY_SCREENING_NONE; wish.screening <= LEY_SCREENING_WIDE; wish.screening++)
            for (wish.points = LEY_POINTS_FACES; wish.points <= LEY_POINTS_LIST; wish.points++)
                list_choice(l, c, &wish);
    wish.screening = LEY_SCREENING_NONE;
    wish.points = LEY_POINTS_LIST;
    wish.field = true;
    for (wish.sum = LEY_SPEC_SUM_FLOAT; wish.sum <= LEY_SPEC_SUM_DOUBLE; wish.sum++)
        list_choice(l, c, &wish);
}

/* Every recipe, with the fastest of the other kind beside it. */
static void list_recipes(const listing *l, mdh_wish wish)
{
    const int width = calibrate_width(l->info);
    for (int root = 0; root < LEY_ROOT_COUNT; root++) {
        const calibration c = specifications_facts(root, calibrate_likely_exp(l->info), true);
        if (calibrate_root_possible(l->info, root, width))
            list_choice(l, &c, &wish);
    }
    for (int exp = 0; exp < LEY_EXP_COUNT; exp++) {
        const calibration c = specifications_facts(calibrate_likely_root(l->info), exp, true);
        if (calibrate_exp_possible(l->info, exp, width))
            list_choice(l, &c, &wish);
    }
}

/* Every shape that some face makes planning choose. */
static void list_shapes(const listing *l, const calibration *c, mdh_wish wish)
{
    enum { LARGEST_SHAPE = 512 };
    for (wish.n_b = 1; wish.n_b <= LARGEST_SHAPE; wish.n_b++)
        for (wish.n_a = 1; wish.n_a <= LARGEST_SHAPE; wish.n_a++)
            list_choice(l, c, &wish);
}

void tuning_mdh_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    const listing l = {info, visit, context};
    const calibration fast_fma = usual(info, true), slow_fma = usual(info, false);
    const mdh_wish first = {.math = TUNING_AUTO,
                            .screening = LEY_SCREENING_FOLDED,
                            .points = LEY_POINTS_FACES,
                            .n_a = SPECIFICATIONS_LARGE,
                            .n_b = SPECIFICATIONS_LARGE};
    mdh_wish wish = first;
    const char *name;
    list_variant(&l, &fast_fma, NULL);
    list_choice(&l, &slow_fma, &wish);
    for (size_t i = 0; depth == KERNEL_ALL && (name = tuning_mdh_variant(i)) != NULL; i++)
        list_variant(&l, &fast_fma, name);
    for (; depth == KERNEL_ALL && wish.points <= LEY_POINTS_LIST; wish.points++)
        for (wish.screening = LEY_SCREENING_FOLDED; wish.screening <= LEY_SCREENING_WIDE; wish.screening++)
            list_recipes(&l, wish);
    wish = first;
    if (depth > KERNEL_FEW)
        list_recipes(&l, wish);
    list_shapes(&l, &fast_fma, wish);
    wish.math = TUNING_STANDARD;
    list_choice(&l, &fast_fma, &wish);
}
