#include "long_range/multilevel/lattice_tuning.h"

#include "engine/specifications.h"
#include "error.h"

#include <stdio.h>
#include <string.h>

/* What a work-item on a CPU may put on its thread's stack. */
enum { MOST_PRIVATE_BYTES = 3 << 20 };

typedef struct variant {
    const char *name;
    int where;
    int slide, width, l[3], u[3];
} variant;

/* The first two are the papers' kernels. */
static const variant variants[] = {
    {"basic", ANYWHERE, LEY_SLIDE_BASIC, 1, {4, 4, 4}, {1, 1, 1}},
    {"optimised", ANYWHERE, LEY_SLIDE_SHIFTED, 1, {4, 4, 4}, {1, 1, 1}},
    {"columns8", ANYWHERE, LEY_SLIDE_NOT, 1, {32, 1, 2}, {1, 1, 8}},
    {"columns16", ANYWHERE, LEY_SLIDE_NOT, 1, {32, 1, 2}, {1, 1, 16}},
    {"wide16", ANYWHERE, LEY_SLIDE_NOT, 1, {32, 1, 4}, {1, 1, 16}},
    {"vector4", ON_CPU, LEY_SLIDE_NOT, 4, {1, 1, 1}, {2, 8, 4}},
    {"vector8", ON_CPU, LEY_SLIDE_NOT, 8, {1, 1, 1}, {1, 8, 8}},
    {"vector16", ON_CPU, LEY_SLIDE_NOT, 16, {1, 1, 1}, {2, 8, 8}},
};
enum { VARIANT_COUNT = sizeof variants / sizeof variants[0] };

const char *tuning_lattice_variant(size_t i)
{
    return i < VARIANT_COUNT ? variants[i].name : NULL;
}

const char *tuning_lattice_default(const dev_info *info, int sum)
{
    (void)sum;
    const int width = calibrate_width(info);
    for (size_t i = 0; i < VARIANT_COUNT && width > 1; i++)
        if (variants[i].width == width)
            return variants[i].name;
    return info->device_class == DEV_CPU ? "columns8" : "columns16"; /* caches are quicker than padding */
}

static const variant *find_variant(const char *name)
{
    for (size_t i = 0; i < VARIANT_COUNT; i++)
        if (strcmp(variants[i].name, name) == 0)
            return &variants[i];
    return NULL;
}

void tuning_lattice_region(const lattice_spec *spec, int64_t region[3])
{
    region[0] = (int64_t)spec->lx * spec->ux * spec->width;
    region[1] = (int64_t)spec->ly * spec->uy;
    region[2] = (int64_t)spec->lz * spec->uz;
}

/* Nodes of a pair of rows of a region's neighbourhood. */
static uint64_t rows_nodes(const lattice_spec *s)
{
    int64_t region[3];
    tuning_lattice_region(s, region);
    const int depth = LEY_COLUMN_DEPTH(s->rz, s->uz, s->width);
    return (uint64_t)(region[2] + 2 * depth) * (uint64_t)(region[0] + 2 * LEY_ROUNDED_TO_4(s->rx));
}

uint64_t tuning_lattice_local_bytes(const lattice_spec *s)
{
    const uint64_t edge = 2 * LEY_CUBE, planes = (uint64_t)(s->lz * s->uz + 2 * s->rz);
    return s->width > 1                ? 0
           : s->slide != LEY_SLIDE_NOT ? sizeof(float) * edge * edge * edge + sizeof(int32_t)
                                       : sizeof(float) * rows_nodes(s) + sizeof(int32_t) * planes;
}

uint64_t tuning_lattice_private_bytes(const lattice_spec *s)
{
    return s->width == 1 ? 0 : sizeof(float) * rows_nodes(s) * (uint64_t)(s->uy + 2 * s->ry + 1);
}

size_t tuning_lattice_weights(const lattice_spec *s)
{
    const int r[3] = {s->rx, s->ry, s->rz};
    size_t cube = 1;
    for (int axis = 0; axis < 3; axis++)
        cube *= (size_t)(2 * LEY_CUBE * LEY_CUBES_BESIDE(r[axis]));
    return s->slide != LEY_SLIDE_NOT
               ? cube
               : (size_t)LEY_WEIGHTS_HEAD(s->ry, s->mirrored) +
                     (size_t)LEY_ALONG(s->ry, s->mirrored) * (size_t)LEY_ALONG(s->rx, s->mirrored) *
                         (size_t)LEY_COLUMN(s->rz, s->uz, s->width, s->mirrored);
}

int tuning_lattice_reach(const lattice_spec *s, int reach)
{
    const int middle = 3 * s->rz / 4, low = s->rz / 2;
    if (s->width > 1)
        return reach > s->uz / 2 ? reach : s->uz / 2;
    return reach > middle ? s->rz : reach > low ? middle : low;
}

static ley_status check_fit(const dev_info *info, const variant *v, const lattice_spec *s, ley_error *error)
{
    const size_t items = (size_t)(v->l[0] * v->l[1] * v->l[2]);
    bool fits = items <= info->max_work_group;
    for (int axis = 0; axis < 3; axis++)
        fits = fits && (size_t)v->l[axis] <= info->max_work_items[axis];
    if (!fits)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "work-groups of %zu are too small for variant %s",
                        info->max_work_group, v->name);
    if (tuning_lattice_local_bytes(s) > info->local_bytes)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "variant %s needs %llu bytes of local memory, there are %llu",
                        v->name, (unsigned long long)tuning_lattice_local_bytes(s),
                        (unsigned long long)info->local_bytes);
    if (tuning_lattice_private_bytes(s) > MOST_PRIVATE_BYTES)
        return ley_fail(error, LEY_ERROR_NO_DEVICE,
                        "variant %s needs %llu bytes for a work-item: the neighbourhood is too large", v->name,
                        (unsigned long long)tuning_lattice_private_bytes(s));
    return LEY_OK;
}

static lattice_spec spec_of(const dev_info *info, const variant *v, const lattice_wish *wish)
{
    lattice_spec spec = {.lx = v->l[0],
                         .ly = v->l[1],
                         .lz = v->l[2],
                         .width = v->width,
                         .ux = v->u[0],
                         .uy = v->u[1],
                         .uz = v->u[2],
                         .rx = wish->radius[0],
                         .ry = wish->radius[1],
                         .rz = wish->radius[2],
                         .mirrored = wish->mirrored,
                         .slide = v->slide,
                         .sum = LEY_SPEC_SUM_FLOAT,
                         .total = wish->sum,
                         .root = LEY_ROOT_STANDARD};
    const uint64_t bytes = tuning_lattice_weights(&spec) * sizeof(float);
    spec.table = bytes <= info->constant_bytes ? LEY_ATOMS_CONSTANT : LEY_ATOMS_GLOBAL;
    return spec;
}

/* What a device gets: by default, where that needs more than there is, what needs less. */
ley_status tuning_lattice(const dev_info *info, const lattice_wish *wish, lattice_choice *choice, ley_error *error)
{
    static const char *const smaller[] = {"columns8", "basic"};
    const variant *v = find_variant(wish->variant != NULL ? wish->variant : tuning_lattice_default(info, wish->sum));
    if (v == NULL)
        return tuning_unknown(wish->variant, error);
    for (int axis = 0; axis < 3; axis++)
        if (wish->radius[axis] < 0 || wish->radius[axis] > LATTICE_MOST_RADIUS)
            return ley_fail(error, LEY_ERROR_USAGE,
                            "a neighbourhood of %d nodes along an axis: 0 to %d are possible, take a coarser mesh",
                            wish->radius[axis], LATTICE_MOST_RADIUS);
    ley_status status = tuning_check(info, v->name, v->where, wish->sum, error);
    if (status != LEY_OK)
        return status;
    lattice_spec spec = spec_of(info, v, wish);
    for (size_t i = 0; wish->variant == NULL && i < sizeof smaller / sizeof *smaller; i++)
        if (check_fit(info, v, &spec, NULL) != LEY_OK) {
            v = find_variant(smaller[i]);
            spec = spec_of(info, v, wish);
        }
    *choice = (lattice_choice){.variant = v->name, .spec = spec};
    return check_fit(info, v, &spec, error);
}

/* ---- All of them ----------------------------------------------------------------------------- */

/* Who is told of what, for which device. */
typedef struct listing {
    const dev_info *info;
    kernel_visit *visit;
    void *context;
} listing;

/* What one wish leads to, unless the device refuses it. */
static void list_choice(const listing *l, const lattice_wish *wish)
{
    lattice_choice choice;
    char name[KERNEL_NAME];
    if (tuning_lattice(l->info, wish, &choice, NULL) != LEY_OK)
        return;
    const lattice_spec *s = &choice.spec;
    snprintf(name, sizeof name, "lattice-%s-%s%d-%s-%s", choice.variant, s->mirrored ? "" : "oblique", s->rx,
             s->table == LEY_ATOMS_CONSTANT ? "constant" : "global", specifications_sum(s->total));
    l->visit(l->context, name, s);
}

static void list_sums(const listing *l, lattice_wish wish, int last_sum)
{
    for (wish.sum = LEY_SPEC_SUM_FLOAT; wish.sum <= last_sum; wish.sum++)
        list_choice(l, &wish);
}

void tuning_lattice_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    const listing l = {info, visit, context};
    const lattice_wish usual = {.radius = {11, 11, 11}, .mirrored = true};
    lattice_wish wish = usual;
    list_sums(&l, usual, LEY_SPEC_SUM_DOUBLE);
    for (size_t i = 0; depth > KERNEL_FEW && (wish.variant = tuning_lattice_variant(i)) != NULL; i++)
        list_sums(&l, wish, depth == KERNEL_ALL ? LEY_SPEC_SUM_DOUBLE : LEY_SPEC_SUM_FLOAT);
    if (depth == KERNEL_FEW)
        return;
    list_choice(&l, &(lattice_wish){.radius = {11, 11, 11}});
    list_choice(&l, &(lattice_wish){.radius = {19, 19, 19}, .mirrored = true});
    list_choice(&l, &(lattice_wish){.radius = {24, 20, 24}, .mirrored = true});
    list_choice(&l, &(lattice_wish){.variant = "basic", .radius = {15, 12, 16}});
}
