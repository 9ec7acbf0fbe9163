#include "methods/wavefunction/build.h"

#include "engine/specifications.h"
#include "engine/tuning.h"
#include "error.h"
#include "methods/wavefunction/density_matrix_build.h"
#include "methods/wavefunction/self_test.h"

#include <stdio.h>
#include <string.h>

/* ---- Variants -------------------------------------------------------------------------------- */

typedef struct variant {
    const char *name;
    int where, width, lx, ly, ux, uy, tile;
} variant;

/* Of devices with local memory, and of processors by the width of their vectors. */
static const variant variants[] = {
    {"separable", ANYWHERE, 1, 8, 8, 8, 8, 8},    {"separable16", ANYWHERE, 1, 8, 8, 8, 8, 16},
    {"separable4", ANYWHERE, 1, 16, 16, 4, 4, 8}, {"separable128", ANYWHERE, 1, 16, 8, 8, 8, 8},
    {"vector4", ON_CPU, 4, 1, 1, 2, 4, 16},       {"vector8", ON_CPU, 8, 1, 1, 3, 4, 8},
    {"vector16", ON_CPU, 16, 1, 1, 3, 8, 4},
};
enum { VARIANT_COUNT = sizeof variants / sizeof variants[0] };

const char *separable_variant(size_t i)
{
    return i < VARIANT_COUNT ? variants[i].name : i == VARIANT_COUNT ? DENSITY_BY_MATRIX : NULL;
}

static const char *usual(const dev_info *info, int sum)
{
    (void)sum;
    if (info->device_class == DEV_CPU)
        switch (calibrate_width(info)) {
        case 16:
            return "vector16";
        case 8:
            return "vector8";
        case 4:
            return "vector4";
        }
    /* on an H100, of C60: 0.13 ms an orbital where "separable" takes 0.18; it takes 46 KiB there */
    const bool has_room = info->local_bytes >= (size_t)48 << 10;
    return info->device_class == DEV_GPU && has_room && (info->quirks & DEV_QUIRK_PTX) != 0 ? "separable4"
                                                                                            : "separable";
}

/* Of the two sets of tiles, of tables along x and of what they are multiplied by, the list of terms
 * with its factors, and its counts. */
static size_t local_bytes(const separable_spec *s)
{
    enum { EACH = 4, NUMBER = 4 };
    const size_t items = (size_t)(s->lx * s->ly), room = items * EACH + (size_t)s->tile,
                 sets = (size_t)s->derivatives + 1, along_x = sets * (size_t)(s->lx * s->ux),
                 along_y = (sets + (sets > 1)) * (size_t)(s->ly * s->uy);
    return s->width > 1
               ? 0
               : NUMBER * (2 * (size_t)s->tile * (along_x + along_y) + room * (2 + (size_t)s->powers * sets) + items);
}

/* Derivatives take several sums for each point, and as many tables: small tiles of few work-items
 * have room for them, and groups beside them that wait for other things. */
static void make_small(separable_spec *s)
{
    s->lx = s->ly = 8;
    s->ux = s->uy = 4;
    s->tile = 8;
}

static ley_status choose(const dev_info *info, const char *name, int powers, int derivatives, separable_choice *choice,
                         ley_error *error)
{
    const variant *v = NULL;
    for (size_t i = 0; i < VARIANT_COUNT; i++)
        if (strcmp(variants[i].name, name != NULL ? name : usual(info, LEY_SPEC_SUM_FLOAT)) == 0)
            v = &variants[i];
    if (v == NULL)
        return tuning_unknown(name, error);
    const ley_status status = tuning_check(info, v->name, v->where, LEY_SPEC_SUM_FLOAT, error);
    if (status != LEY_OK)
        return status;
    *choice = (separable_choice){.variant = v->name,
                                 .spec = {.sum = LEY_SPEC_SUM_FLOAT,
                                          .width = v->width,
                                          .root = LEY_ROOT_STANDARD,
                                          .lx = v->lx,
                                          .ly = v->ly,
                                          .ux = v->ux,
                                          .uy = v->uy,
                                          .tile = v->tile,
                                          .powers = powers,
                                          .derivatives = v->width > 1 ? 0 : derivatives}};
    if (choice->spec.derivatives > 0)
        make_small(&choice->spec);
    if ((size_t)(choice->spec.lx * choice->spec.ly) > info->max_work_group)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "work-groups of %zu are too small for variant %s",
                        info->max_work_group, v->name);
    if (local_bytes(&choice->spec) > info->local_bytes && v->width == 1)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "variant %s needs more local memory than %llu bytes", v->name,
                        (unsigned long long)info->local_bytes);
    return LEY_OK;
}

/* ---- The kind -------------------------------------------------------------------------------- */

static void group_of(const dev_info *info, const void *spec, size_t size[3])
{
    const separable_spec *s = spec;
    (void)info;
    size[0] = (size_t)s->lx;
    size[1] = (size_t)s->ly;
    size[2] = 1;
}

static size_t local_bytes_of(const dev_info *info, const void *spec)
{
    (void)info;
    return local_bytes(spec);
}

static ley_status test_built(const dev_kernel *built, void *context, ley_error *error)
{
    const separable_kernel *kernel = context;
    separable_kernel trial = {
        .device = built->device, .facts = kernel->facts, .choice = kernel->choice, .kernel = *built};
    const ley_status status = separable_self_test(&trial, error);
    trial.kernel.program = NULL; /* the caller's */
    separable_kernel_destroy(&trial);
    return status;
}

/* The usual one for all bases, and for some with derivatives; others for some. */
static void list_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    enum { KINDS = 3 * (LEY_MOST_MOMENTUM + 1), SOME_POWERS = 3 };
    for (size_t i = 0; i < VARIANT_COUNT * KINDS; i++) {
        const char *named = variants[i / KINDS].name;
        const int powers = (int)(i % KINDS / 3) + 1, derivatives = (int)(i % 3);
        const bool is_usual = strcmp(named, usual(info, LEY_SPEC_SUM_FLOAT)) == 0;
        separable_choice choice;
        char name[KERNEL_NAME];
        if ((!is_usual && (depth == KERNEL_FEW || derivatives > 0)) ||
            ((!is_usual || derivatives > 0) && powers != SOME_POWERS) ||
            choose(info, named, powers, derivatives, &choice, NULL) != LEY_OK || choice.spec.derivatives != derivatives)
            continue;
        const int length = snprintf(name, sizeof name, "%s-%d", named, powers);
        if (derivatives > 0)
            snprintf(name + length, sizeof name - (size_t)length, "-%d", derivatives);
        visit(context, name, &choice.spec);
    }
}

KERNEL_DESCRIBE_ARGUMENTS(separable, LEY_SEPARABLE_ARGUMENTS)
const kernel_kind separable_kind = {
    KERNEL_DESCRIPTION(separable, LEY_SEPARABLE_KEYS, separable),
    .variant = separable_variant,
    .usual = usual,
    .group = group_of,
    .local_bytes = local_bytes_of,
    .test = test_built,
    .specs = list_specs,
};

const kernel_kind *separable_kernel_kind(const separable_kernel *k)
{
    return k->choice.is_by_matrix ? &density_matrix_kind : &separable_kind;
}

static const void *spec_of(const separable_kernel *k)
{
    return k->choice.is_by_matrix ? (const void *)&k->choice.matrix : &k->choice.spec;
}

void separable_kernel_describe(const separable_kernel *k, char *text, size_t size)
{
    kernel_options(separable_kernel_kind(k), spec_of(k), text, size);
}

ley_status separable_kernel_create(dev *device, const separable_wish *wish, separable_kernel *k, ley_error *error)
{
    const dev_info *info = device->info;
    const bool is_by_matrix =
        wish->variant != NULL ? strcmp(wish->variant, DENSITY_BY_MATRIX) == 0 : density_matrix_suits(info, wish);
    *k = (separable_kernel){.device = device};
    ley_status status =
        calibrate_get(device, CALIBRATE_MULTIPLY_ADDS | (is_by_matrix ? CALIBRATE_EXPS : 0), &k->facts, error);
    if (status == LEY_OK)
        status = is_by_matrix ? density_matrix_choose(info, &k->facts, wish, &k->choice, error)
                              : choose(info, wish->variant, wish->powers, wish->derivatives, &k->choice, error);
    if (status == LEY_OK)
        status = kernel_create(device, separable_kernel_kind(k), spec_of(k), NULL, k, &k->kernel, error);
    return status;
}
