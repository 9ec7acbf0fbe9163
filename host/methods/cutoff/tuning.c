#include "methods/cutoff/tuning.h"

#include "engine/specifications.h"
#include "error.h"
#include "leyden.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct variant {
    const char *name;
    int where;
    int width, l[3], u[3];
    int tile, table;
    bool prune;
    int split;
} variant;

/* bins is the papers' kernel: a region's threads go through all bins of a table in constant memory.
 * Variants in halves and octants have one warp per region. Of two that are predicted to be as fast,
 * a device gets the first one. */
static const variant variants[] = {
    {"bins", ANYWHERE, 1, {8, 2, 8}, {1, 4, 1}, 128, LEY_ATOMS_CONSTANT, false, 0},
    {"regions8", ANYWHERE, 1, {4, 4, 4}, {2, 2, 2}, 256, LEY_ATOMS_GLOBAL, true, 0},
    {"regions16", ANYWHERE, 1, {4, 4, 2}, {2, 2, 4}, 160, LEY_ATOMS_GLOBAL, true, 0},
    {"halves16", ANYWHERE, 1, {4, 4, 2}, {2, 2, 4}, 160, LEY_ATOMS_GLOBAL, true, 1},
    {"octants16", ANYWHERE, 1, {4, 4, 2}, {2, 2, 4}, 160, LEY_ATOMS_GLOBAL, true, 2},
    {"vector4", ON_CPU, 4, {2, 2, 1}, {4, 4, 8}, 256, LEY_ATOMS_GLOBAL, true, 2},
    {"vector8", ON_CPU, 8, {2, 2, 2}, {4, 4, 4}, 256, LEY_ATOMS_GLOBAL, true, 2},
    {"vector16", ON_CPU, 16, {4, 2, 2}, {2, 4, 4}, 256, LEY_ATOMS_GLOBAL, true, 4},
};
enum { VARIANT_COUNT = sizeof variants / sizeof variants[0] };

const char *tuning_cutoff_variant(size_t i)
{
    return i < VARIANT_COUNT ? variants[i].name : NULL;
}

void tuning_cutoff_region(const cutoff_spec *spec, int64_t region[3])
{
    region[0] = spec->lx * spec->ux;
    region[1] = spec->ly * spec->uy;
    region[2] = spec->lz * spec->uz;
}

static const variant *find_variant(const char *name)
{
    for (size_t i = 0; i < VARIANT_COUNT; i++)
        if (strcmp(variants[i].name, name) == 0)
            return &variants[i];
    return NULL;
}

static int items(const cutoff_spec *spec)
{
    return spec->width == 1 ? spec->lx * spec->ly * spec->lz : 1;
}

/* What cutoff_epilogue.h has: three tables of shares, the planes' places, and values. */
static uint64_t epilogue_bytes(int nodes)
{
    const uint64_t n = (uint64_t)nodes, edge = CUTOFF_LAYER;
    return nodes > 0 ? 4 * (3 * edge * n + n + edge * n * (n | 1)) : 0;
}

/* Of a work-group: tile, sorted tile and its classes, bins found, marks, in whose place the
 * epilogue's come; totals. */
uint64_t tuning_cutoff_local_bytes(const cutoff_spec *spec)
{
    const uint64_t lost = spec->total == LEY_SPEC_SUM_COMPENSATED ? 4 : 0, /* of places */
        atom_bytes = (LEY_PAIR_MORE(spec->pair) > 0 ? 32 : 16) + lost, tile = (uint64_t)spec->tile;
    const uint64_t sums = (uint64_t)(LEY_COMPONENTS(spec->field) * spec->ux * spec->uy * spec->uz),
                   totals = sums * (spec->total == LEY_SPEC_SUM_FLOAT ? 0 : 8);
    const uint64_t pairs =
                       tile * (spec->prune ? 2 * atom_bytes + 4 : atom_bytes) + (uint64_t)items(spec) * (2 * 16 + 1),
                   grid = epilogue_bytes(spec->nodes);
    return spec->width > 1 ? 0 : (pairs > grid ? pairs : grid) + (uint64_t)items(spec) * totals + 96;
}

/* What a work-group may have: devices with so little keep a kernel's arguments there, too. */
static uint64_t local_room(const dev_info *info)
{
    enum { LITTLE = 16 << 10, ARGUMENTS = 272 };
    const bool is_little = info->local_bytes <= LITTLE && info->local_bytes > ARGUMENTS;
    return info->local_bytes - (is_little ? ARGUMENTS : 0);
}

/* ---- What it costs --------------------------------------------------------------------------- */

/* What sorting takes, in multiply-adds of a number: for each atom and class, where a warp votes, or
 * where each vote is a round through local memory; for each atom and list of vectors; for each
 * atom, column and lane, its distance across. Counted in the kernels' instructions. */
static const double vote_slots = 24, round_slots = 320, list_slots = 9, across_slots = 3;

/* Where nothing is left out, the part that is within reach of a region is this. */
static const double unpruned_share = 0.25;

static bool has_votes(const dev_info *info)
{
    return (info->quirks & DEV_QUIRK_PTX) != 0 || info->capability >= 20;
}

/* The part of all places that are as near to a box, so that they are looked at, which is within
 * the cutoff of one point of it: the volume of a sphere over that of what is around the box. */
static double cutoff_hits(const double box_A[3], double a_A)
{
    const double sphere_A3 = 4 * M_PI / 3 * pow(a_A, 3), corners_A3 = box_A[0] * box_A[1] * box_A[2],
                 faces_A3 = 2 * a_A * (box_A[0] * box_A[1] + box_A[1] * box_A[2] + box_A[2] * box_A[0]),
                 edges_A3 = M_PI * a_A * a_A * (box_A[0] + box_A[1] + box_A[2]);
    return sphere_A3 / (sphere_A3 + corners_A3 + faces_A3 + edges_A3);
}

/* The part of what is near to a block of points that is within the cutoff of one of them. */
static double hits_of_block(const int64_t points[3], const double reach[3])
{
    double box[3];
    for (int axis = 0; axis < 3; axis++)
        box[axis] = (double)(points[axis] - 1) / (reach[axis] > 0 ? reach[axis] : CUTOFF_USUAL_REACH);
    return cutoff_hits(box, 1);
}

double tuning_cutoff_hits(const cutoff_spec *spec, const double reach[3])
{
    int64_t block[3];
    tuning_cutoff_region(spec, block);
    if (spec->width > 1) {
        block[0] = spec->lx;
        block[1] = spec->ly;
        block[2] /= spec->split;
    } else {
        block[0] /= spec->split > 0 ? 2 : 1;
        block[1] /= spec->split > 1 ? 2 : 1;
        block[2] /= spec->split > 0 ? 2 : 1;
    }
    return hits_of_block(block, reach) * (spec->prune ? 1 : unpruned_share);
}

/* Multiply-adds per atom within reach of a region. */
static double sorting_slots(const dev_info *info, const cutoff_spec *spec)
{
    if (spec->width > 1)
        return spec->ux * spec->uy * (spec->split * list_slots + across_slots * spec->width);
    if (!spec->prune)
        return 0;
    return LEY_CLASSES(spec->split) *
           (has_votes(info) && spec->lx * spec->ly * spec->lz == 32 ? vote_slots : round_slots);
}

double tuning_cutoff_rate(const dev_info *info, const cutoff_spec *spec, const calibration *c, const double reach[3])
{
    int64_t region[3];
    tuning_cutoff_region(spec, region);
    const double fma_s = 1 / fmax(c->fma_per_s, 1), root_s = 1 / fmax(c->roots_per_s[spec->root], 1),
                 rest_s = (spec->field ? 16 : 7) * fma_s;
    /* GPUs have a unit for roots beside the others. */
    const double distance_s = spec->width > 1 ? root_s + rest_s : fmax(root_s, rest_s);
    /* Of an atom within reach of a region. */
    const double pairs = (double)(region[0] * region[1] * region[2]) * hits_of_block(region, reach);
    const double atom_s = pairs / tuning_cutoff_hits(spec, reach) * distance_s + sorting_slots(info, spec) * fma_s;
    return 0.7 * pairs / atom_s * tuning_share_of_lanes(info, spec->width, spec->ux * spec->uy * spec->uz);
}

/* ---- The choice ------------------------------------------------------------------------------ */

static ley_status check_fit(const dev_info *info, const variant *v, const cutoff_spec *spec, ley_error *error)
{
    const int size[3] = {spec->lx, spec->ly, spec->lz};
    bool fits = (size_t)items(spec) <= info->max_work_group;
    for (int axis = 0; axis < 3 && spec->width == 1; axis++)
        fits = fits && (size_t)size[axis] <= info->max_work_items[axis];
    if (!fits)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "work-groups of %zu are too small for variant %s",
                        info->max_work_group, v->name);
    if (tuning_cutoff_local_bytes(spec) > local_room(info))
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "variant %s needs %llu bytes of local memory, there are %llu",
                        v->name, (unsigned long long)tuning_cutoff_local_bytes(spec),
                        (unsigned long long)local_room(info));
    return LEY_OK;
}

uint64_t tuning_cutoff_needs(const cutoff_wish *wish)
{
    return CALIBRATE_MULTIPLY_ADDS |
           (wish->math == TUNING_STANDARD ? CALIBRATE_ROOT(LEY_ROOT_STANDARD) : CALIBRATE_ROOTS);
}

/* Of a variant that the device may have. */
static ley_status specify(const dev_info *info, const calibration *c, const cutoff_wish *wish, const variant *v,
                          cutoff_choice *choice, ley_error *error)
{
    cutoff_spec spec = {.lx = v->l[0],
                        .ly = v->l[1],
                        .lz = v->l[2],
                        .width = v->width,
                        .ux = v->u[0],
                        .uy = v->u[1],
                        .uz = v->u[2],
                        .depth = wish->depth,
                        .tile = v->tile,
                        .prune = v->prune,
                        .split = v->split,
                        .table = v->table,
                        .store = wish->store,
                        .sum = LEY_SPEC_SUM_FLOAT,
                        .total = wish->sum,
                        .pair = wish->pair,
                        .field = wish->field,
                        .oblique = wish->oblique,
                        .sub_groups = (info->quirks & DEV_QUIRK_PTX) != 0 ? LEY_SUB_GROUPS_PTX : LEY_SUB_GROUPS_NONE};
    while (spec.width == 1 && spec.tile > 2 * items(&spec) && tuning_cutoff_local_bytes(&spec) > local_room(info))
        spec.tile -= 32;
    if (spec.width == 1 && wish->nodes > 0 && !wish->field) {
        cutoff_spec with = spec;
        with.nodes = wish->nodes > CUTOFF_LAYER ? wish->nodes : CUTOFF_LAYER;
        with.by_plane = wish->by_plane;
        spec = tuning_cutoff_local_bytes(&with) <= local_room(info) ? with : spec;
    }
    if (wish->math != TUNING_STANDARD)
        spec.root = calibrate_fastest_root(info, c, v->width, tuning_pairs_need(wish->math, wish->sum));
    const ley_status planned =
        tuning_take_planned(info, &wish->planned, v->width, wish->math == TUNING_STANDARD, &spec.root, NULL, error);
    if (planned != LEY_OK)
        return planned;
    *choice = (cutoff_choice){.variant = v->name, .spec = spec};
    return check_fit(info, v, &spec, error);
}

/* Whether a device may get a variant that was not asked for: its vectors are as long as the
 * device's. octants16 is for those who ask, until it has been measured on a GPU. */
static bool suits(const dev_info *info, const variant *v)
{
    return v->width == calibrate_width(info) && v->prune && (v->width > 1 || v->split <= 1);
}

/* The one that is predicted to be the fastest. */
static const variant *fastest_variant(const dev_info *info, const calibration *c, const cutoff_wish *wish)
{
    const variant *best = NULL;
    double best_per_s = 0;
    for (const variant *v = variants; v < variants + VARIANT_COUNT; v++) {
        cutoff_choice choice;
        if (!suits(info, v) || specify(info, c, wish, v, &choice, NULL) != LEY_OK)
            continue;
        const double per_s = tuning_cutoff_rate(info, &choice.spec, c, wish->reach);
        if (best == NULL || per_s > best_per_s) {
            best = v;
            best_per_s = per_s;
        }
    }
    return best != NULL ? best : find_variant("regions8");
}

static calibration usual(const dev_info *info, bool fast_fma)
{
    return specifications_facts(calibrate_likely_root(info), calibrate_likely_exp(info), fast_fma);
}

const char *tuning_cutoff_default(const dev_info *info, int sum)
{
    const calibration c = usual(info, true);
    const cutoff_wish wish = {.math = TUNING_AUTO, .sum = sum, .pair = LEY_PAIR_TAYLOR2, .depth = 8};
    return fastest_variant(info, &c, &wish)->name;
}

ley_status tuning_cutoff(const dev_info *info, const calibration *c, const cutoff_wish *wish, cutoff_choice *choice,
                         ley_error *error)
{
    const variant *v = wish->variant != NULL ? find_variant(wish->variant) : fastest_variant(info, c, wish);
    if (v == NULL)
        return tuning_unknown(wish->variant, error);
    const ley_status status = tuning_check(info, v->name, v->where, wish->sum, error);
    return status == LEY_OK ? specify(info, c, wish, v, choice, error) : status;
}

/* Pairs within the cutoff per second of devices that have not been measured yet. */
static const double unknown_gpu_rate = 5e11, unknown_cpu_rate = 3e9;

double tuning_cutoff_expected_rate(const dev_info *info, const calibration *facts, const cutoff_wish *wish)
{
    cutoff_choice choice;
    if (facts != NULL && tuning_cutoff(info, facts, wish, &choice, NULL) == LEY_OK)
        return tuning_cutoff_rate(info, &choice.spec, facts, wish->reach);
    return info->device_class == DEV_CPU ? unknown_cpu_rate : unknown_gpu_rate;
}

/* ---- All of them ----------------------------------------------------------------------------- */

/* Who is told of what, for which device. */
typedef struct listing {
    const dev_info *info;
    kernel_visit *visit;
    void *context;
} listing;

#define PAIR_OF_ROW(of, number, NAME, text, ...) {number, text},
static const struct {
    int pair;
    const char *name;
} pairs[] = {LEY_PAIR_ROWS(PAIR_OF_ROW, 0){LEY_PAIR_SPEC_INSIDE, "inside"}, {LEY_PAIR_SPEC_TESTED, "tested"}};

static const char *pair_name(int pair)
{
    size_t i = 0;
    while (pairs[i].pair != pair)
        i++;
    return pairs[i].name;
}

/* What one wish leads to, unless the device refuses it. */
static void list_choice(const listing *l, const calibration *c, const cutoff_wish *wish)
{
    cutoff_choice choice;
    char name[KERNEL_NAME];
    if (tuning_cutoff(l->info, c, wish, &choice, NULL) != LEY_OK)
        return;
    const cutoff_spec *s = &choice.spec;
    const int used = snprintf(name, sizeof name, "cutoff-%s-%s-%s-%s-%s%s", choice.variant, pair_name(s->pair),
                              s->store == LEY_STORE_ROWS ? "rows" : "regions", specifications_sum(s->total),
                              calibrate_root_word(s->root), s->field ? "-field" : "");
    if (s->nodes > 0 || s->oblique)
        snprintf(name + used, sizeof name - (size_t)used, "%s-nodes%d%s", s->oblique ? "-oblique" : "", s->nodes,
                 s->by_plane ? "-by-plane" : "");
    l->visit(l->context, name, s);
}

/* The default variant and then each one: Taylor's function in float sums, or in all; by default
 * every other function.
 */
static void list_variants(const listing *l, const calibration *c, kernel_depth depth, cutoff_wish wish)
{
    const int last_sum = depth == KERNEL_ALL ? LEY_SPEC_SUM_DOUBLE : LEY_SPEC_SUM_FLOAT;
    for (size_t i = 0; i == 0 || wish.variant != NULL; i++) {
        for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++)
            for (wish.pair = pairs[k].pair, wish.sum = LEY_SPEC_SUM_FLOAT; wish.sum <= last_sum; wish.sum++)
                if (wish.pair == LEY_PAIR_TAYLOR2 ||
                    (wish.pair != LEY_PAIR_EXPRESSION && i == 0 && wish.sum == LEY_SPEC_SUM_FLOAT))
                    list_choice(l, c, &wish);
        wish.variant = tuning_cutoff_variant(i); /* first the default */
    }
}

/* Nodes that have a part in a region, of the usual grids and of others. */
static const int usual_nodes = 13;

/* Of each variant, and of each sum; windows of several sizes. */
static void list_epilogues(const listing *l, const calibration *c, cutoff_wish wish)
{
    static const int nodes[] = {9, 13, 16};
    for (size_t i = 0; (wish.variant = tuning_cutoff_variant(i)) != NULL; i++)
        for (size_t k = 0; k < sizeof nodes / sizeof *nodes; k++) {
            wish.nodes = nodes[k];
            wish.sum = k == 0 ? LEY_SPEC_SUM_COMPENSATED : LEY_SPEC_SUM_FLOAT;
            list_choice(l, c, &wish);
        }
}

void tuning_cutoff_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    const listing l = {info, visit, context};
    const calibration fast = usual(info, true);
    const cutoff_wish first = {.math = TUNING_AUTO, .pair = LEY_PAIR_TAYLOR2, .store = LEY_STORE_ROWS, .depth = 8};
    cutoff_wish wish = first;
    wish.math = TUNING_STANDARD;
    list_choice(&l, &fast, &wish);
    wish.math = TUNING_AUTO;
    for (wish.store = LEY_STORE_REGIONS; wish.store <= LEY_STORE_ROWS; wish.store++)
        for (wish.sum = LEY_SPEC_SUM_FLOAT; wish.sum <= LEY_SPEC_SUM_DOUBLE; wish.sum++)
            list_choice(&l, &fast, &wish);
    wish = first;
    wish.nodes = usual_nodes;
    list_choice(&l, &fast, &wish);
    for (wish.oblique = true, wish.sum = LEY_SPEC_SUM_FLOAT; wish.sum <= LEY_SPEC_SUM_COMPENSATED; wish.sum++)
        list_choice(&l, &fast, &wish);
    wish = first;
    wish.field = true;
    list_choice(&l, &fast, &wish);
    if (depth > KERNEL_FEW) {
        list_variants(&l, &fast, KERNEL_MORE, wish);
        wish = first;
        wish.nodes = usual_nodes;
        wish.by_plane = true;
        list_choice(&l, &fast, &wish);
        list_variants(&l, &fast, depth, first);
        list_epilogues(&l, &fast, first);
    }
    for (int root = 0; depth == KERNEL_ALL && root < LEY_ROOT_COUNT; root++) {
        const calibration c = specifications_facts(root, calibrate_likely_exp(info), true);
        if (calibrate_root_possible(info, root, calibrate_width(info)))
            list_choice(&l, &c, &first);
    }
}
