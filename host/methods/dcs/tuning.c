#include "methods/dcs/tuning.h"

#include "engine/specifications.h"
#include "error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SIMPLE_TILE = 1 };

/* Largest relative error of 1/sqrt that direct summation tolerates: an order of magnitude below its
 * promise of 1e-5. */
static const double dcs_root_need = CALIBRATE_FINEST;

/* A special-function unit this many times slower than the multipliers is the bottleneck of a pair
 * (3 instructions of theirs against one of its); then they take NEWTON_SHARE of its roots. Measured
 * best on a device where it is 8 times. */
static const double slow_root_ratio = 6;
enum { NEWTON_SHARE = 3, NEWTON_OF = 16 };

/* A tile shape. `speed` is relative, measured at equal padding: the shape is chosen that finishes
 * the padded grid first. */
typedef struct shape {
    int wg_x, wg_y, ux, uy;
    double speed;
} shape;

enum { MAX_SHAPES = 6 };

typedef struct variant {
    const char *name;
    int where, atoms, width, tile;
    bool spare_newton; /* may give a share of its roots to the multipliers */
    shape shapes[MAX_SHAPES];
} variant;

/* simple, unroll4 and unroll8 are the kernels of Stone et al. 2007 and its tutorials: atoms in
 * constant memory, points strided by the work-group's width. The others stage their atoms. */
static const variant variants[] = {
    {"simple", ANYWHERE, LEY_ATOMS_CONSTANT, 1, SIMPLE_TILE, false, {{64, 1, 1, 1, 1}}},
    {"unroll4", ANYWHERE, LEY_ATOMS_CONSTANT, 1, SIMPLE_TILE, false, {{16, 8, 4, 1, 1}}},
    {"unroll8", ANYWHERE, LEY_ATOMS_CONSTANT, 1, SIMPLE_TILE, false, {{16, 8, 8, 1, 1}}},
    {"local", ANYWHERE, LEY_ATOMS_LOCAL, 1, 256, false, {{16, 8, 1, 1, 1}}},
    {"local8", ANYWHERE, LEY_ATOMS_LOCAL, 1, 256, false, {{16, 8, 8, 1, 1}}},
    {"tiled8",
     ANYWHERE,
     LEY_ATOMS_LOCAL,
     1,
     512,
     false,
     {{16, 8, 4, 2, 1}, {32, 8, 4, 2, 1}, {8, 8, 4, 2, 1}, {4, 16, 4, 2, 1}, {8, 16, 4, 2, 1}}},
    {"tiled16",
     ANYWHERE,
     LEY_ATOMS_LOCAL,
     1,
     512,
     true,
     {{16, 8, 4, 4, 1}, {32, 8, 4, 4, 1}, {8, 8, 4, 4, 1}, {4, 16, 4, 4, 1}, {16, 4, 4, 4, 1}}},
    {"vector4",
     ON_CPU,
     LEY_ATOMS_ROWS,
     4,
     256,
     false,
     {{1, 1, 8, 16, 1}, {1, 1, 4, 16, 0.98}, {1, 1, 2, 16, 0.95}, {1, 1, 8, 8, 0.95}, {1, 1, 2, 8, 0.9}}},
    {"vector8",
     ON_CPU,
     LEY_ATOMS_ROWS,
     8,
     256,
     false,
     {{1, 1, 8, 16, 1},
      {1, 1, 4, 16, 0.98},
      {1, 1, 2, 16, 0.92},
      {1, 1, 8, 8, 0.95},
      {1, 1, 2, 8, 0.88},
      {1, 1, 1, 8, 0.8}}},
    {"vector16",
     ON_CPU,
     LEY_ATOMS_ROWS,
     16,
     256,
     false,
     {{1, 1, 8, 16, 1},
      {1, 1, 4, 16, 0.97},
      {1, 1, 2, 16, 0.92},
      {1, 1, 8, 8, 0.95},
      {1, 1, 2, 8, 0.88},
      {1, 1, 1, 8, 0.8}}},
};
enum { VARIANT_COUNT = sizeof variants / sizeof variants[0] };

const char *tuning_dcs_variant(size_t i)
{
    return i < VARIANT_COUNT ? variants[i].name : NULL;
}

const char *tuning_dcs_default(const dev_info *info, int sum)
{
    if (info->device_class == DEV_CPU)
        switch (calibrate_width(info)) {
        case 16:
            return "vector16";
        case 8:
            return "vector8";
        case 4:
            return "vector4";
        }
    /* 16 float sums and 16 compensations, or 16 double sums, leave too few registers for enough
     * work-groups. */
    return sum == LEY_SPEC_SUM_FLOAT ? "tiled16" : "tiled8";
}

bool tuning_dcs_streams(const char *name)
{
    for (size_t i = 0; name != NULL && i < VARIANT_COUNT; i++)
        if (strcmp(variants[i].name, name) == 0)
            return variants[i].atoms == LEY_ATOMS_CONSTANT || variants[i].atoms == LEY_ATOMS_GLOBAL;
    return false;
}

int tuning_dcs_tile_x(const dcs_spec *spec)
{
    return spec->wg_x * spec->ux * spec->width;
}

int tuning_dcs_tile_y(const dcs_spec *spec)
{
    return spec->wg_y * spec->uy;
}

static bool fits_group(const dev_info *info, const shape *s)
{
    return s->wg_x != 0 && (size_t)s->wg_x * (size_t)s->wg_y <= info->max_work_group &&
           (size_t)s->wg_x <= info->max_work_items[0] && (size_t)s->wg_y <= info->max_work_items[1];
}

/* The shape that finishes the padded plane first; NULL when the device's work-groups are too small
 * for all of them. */
static const shape *best_shape(const dev_info *info, const variant *v, const dcs_wish *wish)
{
    const shape *best = NULL;
    double best_cost = INFINITY;
    for (const shape *s = v->shapes; s < v->shapes + MAX_SHAPES; s++) {
        if (!fits_group(info, s))
            continue;
        double cost =
            tuning_padded(wish->n_x, s->wg_x * s->ux * v->width) * tuning_padded(wish->n_y, s->wg_y * s->uy) / s->speed;
        if (cost < best_cost) {
            best_cost = cost;
            best = s;
        }
    }
    return best;
}

/* The field keeps the multipliers busy by itself. */
static bool may_share_roots(const variant *v, const dcs_wish *wish)
{
    return v->spare_newton && !wish->field && wish->sum == LEY_SPEC_SUM_FLOAT && wish->math != TUNING_STANDARD;
}

static int newton_roots(const calibration *c, const variant *v, const dcs_wish *wish, int root, int points)
{
    bool wanted =
        may_share_roots(v, wish) && root != LEY_ROOT_NEWTON && c->root_error[LEY_ROOT_NEWTON] <= dcs_root_need;
    return wanted && c->fma_per_s >= slow_root_ratio * c->roots_per_s[root] ? NEWTON_SHARE * points / NEWTON_OF : 0;
}

/* A point with a field has four sums: work-items take fewer points along y then, so that sums stay
 * in registers. Those that are alone have there the sums of one column at a time. */
static void leave_registers(const variant *v, dcs_spec *spec)
{
    enum { MOST_SUMS = 32, MOST_SUMS_ALONE = 16 };
    const int each = LEY_COMPONENTS(spec->field) * (spec->sum == LEY_SPEC_SUM_FLOAT ? 1 : 2),
              most = v->where == ON_CPU ? MOST_SUMS_ALONE : MOST_SUMS, columns = v->where == ON_CPU ? 1 : spec->ux;
    while (spec->field && spec->uy > 1 && each * columns * spec->uy > most)
        spec->uy /= 2;
}

static const variant *find_variant(const dev_info *info, const dcs_wish *wish)
{
    const char *name = wish->variant != NULL ? wish->variant : tuning_dcs_default(info, wish->sum);
    for (size_t i = 0; i < VARIANT_COUNT; i++)
        if (strcmp(variants[i].name, name) == 0)
            return &variants[i];
    return NULL;
}

/* Who has a share for the multipliers must know how fast these are. */
uint64_t tuning_dcs_needs(const dev_info *info, const dcs_wish *wish)
{
    const variant *v = find_variant(info, wish);
    if (wish->math == TUNING_STANDARD || wish->sum == LEY_SPEC_SUM_DOUBLE)
        return CALIBRATE_ROOT(LEY_ROOT_STANDARD);
    const bool may_share = v != NULL && may_share_roots(v, wish);
    return CALIBRATE_ROOTS | (may_share ? CALIBRATE_MULTIPLY_ADDS : 0);
}

/* Of the tile, of the marks of near atoms, and, on devices that copy ahead (dcs.cu), of the next
 * tile. */
uint64_t tuning_dcs_local_bytes(const dev_info *info, const dcs_spec *spec)
{
    enum { STORED_ATOM_BYTES = 32, COPIES_AHEAD_FROM = 80 };
    const uint64_t tile = (uint64_t)spec->tile, atom_bytes = spec->sum == LEY_SPEC_SUM_DOUBLE ? 32 : 16;
    return tile * atom_bytes + tile / 8 + (info->capability >= COPIES_AHEAD_FROM ? tile * STORED_ATOM_BYTES : 0);
}

static ley_status check_memory(const dev_info *info, const variant *v, const dcs_spec *spec, ley_error *error)
{
    const uint64_t atom_bytes = spec->sum == LEY_SPEC_SUM_DOUBLE ? 32 : 16;
    if (v->atoms == LEY_ATOMS_LOCAL && tuning_dcs_local_bytes(info, spec) > info->local_bytes)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "variant %s needs more local memory than %llu bytes", v->name,
                        (unsigned long long)info->local_bytes);
    if (v->atoms == LEY_ATOMS_CONSTANT && info->constant_bytes < 64 * atom_bytes)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "variant %s needs constant memory", v->name);
    return LEY_OK;
}

int tuning_dcs_root(const dev_info *info, const calibration *c, int width, int math)
{
    if (math == TUNING_STANDARD) /* nothing measured in it: the same everywhere, every time */
        return LEY_ROOT_STANDARD;
    return tuning_root(info, c, width, tuning_need(math, dcs_root_need));
}

static ley_status take_planned(const dev_info *info, const variant *v, const dcs_wish *wish, dcs_spec *spec,
                               ley_error *error)
{
    const bool is_fixed = wish->sum == LEY_SPEC_SUM_DOUBLE || wish->math == TUNING_STANDARD,
               may_share = may_share_roots(v, wish);
    ley_status status = tuning_take_planned(info, &wish->planned, v->width, is_fixed, &spec->root, NULL, error);
    return status == LEY_OK
               ? tuning_take_share(&wish->planned, may_share ? spec->ux * spec->uy : 0, &spec->newton_roots, error)
               : status;
}

ley_status tuning_dcs(const dev_info *info, const calibration *c, const dcs_wish *wish, dcs_choice *choice,
                      ley_error *error)
{
    const variant *v = find_variant(info, wish);
    if (v == NULL)
        return tuning_unknown(wish->variant, error);
    const ley_status status = tuning_check(info, v->name, v->where, wish->sum, error);
    if (status != LEY_OK)
        return status;
    const shape *s = best_shape(info, v, wish);
    if (s == NULL)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "work-groups of %zu are too small for variant %s",
                        info->max_work_group, v->name);
    dcs_spec spec = {.wg_x = s->wg_x,
                     .wg_y = s->wg_y,
                     .width = v->width,
                     .ux = s->ux,
                     .uy = s->uy,
                     .atoms = v->atoms,
                     .tile = v->tile,
                     .sum = wish->sum,
                     .field = wish->field,
                     .oblique = wish->oblique};
    leave_registers(v, &spec);
    if (v->atoms == LEY_ATOMS_LOCAL && (info->quirks & DEV_QUIRK_INTERPRETER))
        spec.tile = 32; /* an interpreter's self-test shall be short */
    while (v->atoms == LEY_ATOMS_LOCAL && spec.tile > 32 && tuning_dcs_local_bytes(info, &spec) > info->local_bytes)
        spec.tile /= 2;
    if (wish->sum != LEY_SPEC_SUM_DOUBLE) {
        spec.root = tuning_dcs_root(info, c, v->width, wish->math);
        spec.newton_roots = newton_roots(c, v, wish, spec.root, s->ux * s->uy);
    }
    const ley_status planned = take_planned(info, v, wish, &spec, error);
    if (planned != LEY_OK)
        return planned;
    *choice = (dcs_choice){.variant = v->name, .spec = spec};
    return check_memory(info, v, &spec, error);
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

/* What one wish leads to, unless the device refuses it. A tile shape other than that of large
 * grids is told in the name. */
static void list_choice(const listing *l, const calibration *c, const dcs_wish *wish)
{
    dcs_choice choice;
    char name[KERNEL_NAME], share[32] = "", tile_shape[64] = "";
    const char *skewed = wish->oblique ? "-oblique" : "";
    if (tuning_dcs(l->info, c, wish, &choice, NULL) != LEY_OK)
        return;
    const dcs_spec *s = &choice.spec;
    if (s->newton_roots > 0)
        snprintf(share, sizeof share, "+newton%d", s->newton_roots);
    if (wish->n_x != SPECIFICATIONS_LARGE || wish->n_y != SPECIFICATIONS_LARGE)
        snprintf(tile_shape, sizeof tile_shape, "-%dx%d-%dx%d", s->wg_x, s->wg_y, s->ux, s->uy);
    snprintf(name, sizeof name, "%s-%s-%s%s%s%s", choice.variant, specifications_sum(s->sum),
             calibrate_root_word(s->root), share, tile_shape, s->field ? "-field" : skewed);
    l->visit(l->context, name, s);
}

/* Every tile shape that some grid makes planning choose. */
static void list_shapes(const listing *l, const calibration *c, dcs_wish wish)
{
    enum { LARGEST_SHAPE = 512 };
    for (wish.n_y = 8; wish.n_y <= LARGEST_SHAPE; wish.n_y += 8)
        for (wish.n_x = 8; wish.n_x <= LARGEST_SHAPE; wish.n_x += 8)
            list_choice(l, c, &wish);
}

void tuning_dcs_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    const listing l = {info, visit, context};
    const calibration fast_fma = usual(info, true), slow_fma = usual(info, false);
    const char *name;
    for (int sum = LEY_SPEC_SUM_FLOAT; sum <= LEY_SPEC_SUM_DOUBLE; sum++) {
        dcs_wish wish = {.math = TUNING_AUTO, .sum = sum, .n_x = SPECIFICATIONS_LARGE, .n_y = SPECIFICATIONS_LARGE};
        list_choice(&l, &fast_fma, &wish);
        list_choice(&l, &slow_fma, &wish);
        wish.oblique = true;
        list_choice(&l, &fast_fma, &wish);
        wish.oblique = false;
        for (size_t i = 0; depth > KERNEL_FEW && (name = tuning_dcs_variant(i)) != NULL; i++) {
            wish.variant = name;
            list_choice(&l, &fast_fma, &wish);
        }
        wish.variant = NULL;
        list_shapes(&l, &fast_fma, wish);
        wish.n_x = wish.n_y = SPECIFICATIONS_LARGE;
        wish.field = true;
        list_choice(&l, &fast_fma, &wish);
        wish.field = false;
        wish.math = TUNING_STANDARD;
        list_choice(&l, &fast_fma, &wish);
    }
    for (int root = 0; root < LEY_ROOT_COUNT; root++) {
        const calibration c = specifications_facts(root, calibrate_likely_exp(info), true);
        const dcs_wish wish = {.math = TUNING_AUTO, .n_x = SPECIFICATIONS_LARGE, .n_y = SPECIFICATIONS_LARGE};
        if (calibrate_root_possible(info, root, calibrate_width(info)))
            list_choice(&l, &c, &wish);
    }
}
