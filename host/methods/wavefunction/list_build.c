#include "methods/wavefunction/list_build.h"

#include "core/sizes.h"
#include "engine/specifications.h"
#include "error.h"
#include "methods/wavefunction/self_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GPU_GROUP = 128, TILE = 256, LEAST_TILE = 128, VECTOR = 4, MANY_AT_ONCE = 16 };

/* ---- Variants -------------------------------------------------------------------------------- */

typedef struct variant {
    const char *name;
    int where, atoms;
    bool is_compiled, has_vectors, is_contracted;
} variant;

/* The papers' three kernels, that of processors, and one for many orbitals. A basis passes by once
 * for each point: through CUDA's constant memory that takes 3.4 times as long as through the cache
 * of global memory (H100, C60), so that only the papers' own variant reads it from there. */
static const variant variants[] = {
    {"constant", ANYWHERE, LEY_ATOMS_CONSTANT, false, false, false},
    {"tiled", ANYWHERE, LEY_ATOMS_LOCAL, false, false, false},
    {"compiled", ANYWHERE, LEY_ATOMS_GLOBAL, true, true, false},
    {"vector", ON_CPU, LEY_ATOMS_GLOBAL, false, true, false},
    {LIST_OF_MANY, ANYWHERE, LEY_ATOMS_LOCAL, false, true, true},
};
enum { VARIANT_COUNT = sizeof variants / sizeof *variants, COMPILED = 2 };

const char *list_variant(size_t i)
{
    return i < VARIANT_COUNT ? variants[i].name : NULL;
}

static const variant *find_variant(const char *name)
{
    for (size_t i = 0; i < VARIANT_COUNT; i++)
        if (strcmp(variants[i].name, name) == 0)
            return &variants[i];
    return NULL;
}

bool list_has_variant(const char *name)
{
    return find_variant(name) != NULL;
}

static const char *usual(const dev_info *info, int sum)
{
    (void)sum;
    return info->device_class == DEV_CPU && calibrate_width(info) > 1 ? "vector" : "tiled";
}

/* ---- Wishes ---------------------------------------------------------------------------------- */

static ley_status take_code(const expansion *e, list_wish *made, ley_error *error)
{
    basis_code code;
    ley_status status = basis_code_create(e, &code, error);
    if (status != LEY_OK)
        return status;
    made->is_short = basis_code_is_short(&code);
    if (made->is_short)
        status = basis_code_sample(e, &code, LIST_TESTED_ORBITALS, &made->sample, error);
    made->code = code.text;
    code.text = NULL;
    basis_code_destroy(&code);
    return status;
}

ley_status list_wish_create(const expansion *e, const char *name, list_wish *made, ley_error *error)
{
    made->variant = name;
    for (int block = 0; block < 2; block++)
        made->vectors[block] = stream_vectors(e, &(stream_shape){.at_once = block == 0 ? 1 : LIST_MOST_AT_ONCE});
    return name != NULL && strcmp(name, variants[COMPILED].name) == 0 ? take_code(e, made, error) : LEY_OK;
}

void list_wish_destroy(list_wish *wish)
{
    free(wish->code);
    ley_wavefunction_destroy(wish->sample);
}

/* ---- Choices --------------------------------------------------------------------------------- */

static size_t vector_bytes(int sum)
{
    return VECTOR * (sum == LEY_SPEC_SUM_DOUBLE ? sizeof(double) : sizeof(float));
}

/* Orbitals of a block whose basis fits into constant memory; 0: not even one's does. */
static int fitting(const dev_info *info, const list_wish *wish, int most)
{
    const double room = (double)info->constant_bytes / (double)vector_bytes(wish->sum);
    if (most > 1 && (double)wish->vectors[1] <= room)
        return most;
    return (double)wish->vectors[0] <= room ? 1 : 0;
}

static ley_status fail_constant(const dev_info *info, const list_wish *wish, ley_error *error)
{
    return ley_fail(error, LEY_ERROR_NO_DEVICE,
                    "variant constant: an orbital in this basis takes %s, and constant memory has %s; tiled takes any "
                    "basis",
                    ley_size((double)wish->vectors[0] * (double)vector_bytes(wish->sum)).s,
                    ley_size((double)info->constant_bytes).s);
}

static size_t local_bytes(const gaussians_spec *s)
{
    return s->atoms == LEY_ATOMS_LOCAL ? (size_t)s->tile * vector_bytes(s->sum) : 0;
}

/* Where the basis is, and how many orbitals are computed at once. */
static ley_status choose_place(const dev_info *info, const list_wish *wish, const variant *v, gaussians_spec *spec,
                               ley_error *error)
{
    spec->orbitals = wish->has_derivatives || wish->is_single ? 1 : LIST_MOST_AT_ONCE;
    if (v->is_contracted) {
        spec->orbitals = MANY_AT_ONCE;
        spec->contracted = 1;
        spec->atoms = spec->width > 1 ? LEY_ATOMS_GLOBAL : LEY_ATOMS_LOCAL;
        spec->tile = spec->width > 1 ? 0 : spec->tile;
    }
    if (v->atoms == LEY_ATOMS_CONSTANT) {
        spec->orbitals = fitting(info, wish, spec->orbitals);
        if (spec->orbitals == 0)
            return fail_constant(info, wish, error);
    }
    while (spec->tile > LEAST_TILE && local_bytes(spec) > info->local_bytes)
        spec->tile /= 2;
    if (local_bytes(spec) > info->local_bytes)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "variant %s needs more local memory than %llu bytes", v->name,
                        (unsigned long long)info->local_bytes);
    if (v->is_compiled && wish->code != NULL && !wish->is_short)
        return ley_fail(error, LEY_ERROR_NO_DEVICE,
                        "variant compiled: the basis has more Gaussians than compilers take as code; tiled takes any");
    return LEY_OK;
}

static ley_status choose(const dev_info *info, const calibration *c, const list_wish *wish, const char **name,
                         gaussians_spec *spec, ley_error *error)
{
    const variant *v = find_variant(wish->variant != NULL ? wish->variant : usual(info, wish->sum));
    if (v == NULL)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "variant %s is for grids along x, y and z", wish->variant);
    const ley_status status = tuning_check(info, v->name, v->where, wish->sum, error);
    if (status != LEY_OK)
        return status;
    if (v->is_contracted && wish->has_derivatives)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "variant %s has no derivatives", v->name);
    const int width = v->has_vectors && info->device_class == DEV_CPU ? calibrate_width(info) : 1;
    const bool is_fixed = wish->math == TUNING_STANDARD || wish->sum == LEY_SPEC_SUM_DOUBLE;
    *name = v->name;
    *spec = (gaussians_spec){
        .sum = wish->sum,
        .width = width,
        .root = LEY_ROOT_STANDARD,
        .wg = width > 1                                  ? 1
              : info->max_work_group < (size_t)GPU_GROUP ? (int)info->max_work_group
                                                         : GPU_GROUP,
        .exp = is_fixed ? LEY_EXP_STANDARD
                        : calibrate_fastest_exp(info, c, width, tuning_need(wish->math, CALIBRATE_FINEST)),
        .derivatives = wish->has_derivatives,
        .atoms = v->atoms,
        .tile = v->atoms == LEY_ATOMS_LOCAL ? TILE : 0,
        .compiled = v->is_compiled};
    const ley_status planned =
        tuning_take_planned(info, &wish->planned, width, is_fixed, &spec->root, &spec->exp, error);
    return planned == LEY_OK ? choose_place(info, wish, v, spec, error) : planned;
}

/* ---- The kind -------------------------------------------------------------------------------- */

static void group_of(const dev_info *info, const void *spec, size_t size[3])
{
    (void)info;
    size[0] = (size_t)((const gaussians_spec *)spec)->wg;
    size[1] = size[2] = 1;
}

static size_t local_bytes_of(const dev_info *info, const void *spec)
{
    (void)info;
    return local_bytes(spec);
}

static ley_status test_built(const dev_kernel *built, void *context, ley_error *error)
{
    const list_kernel *kernel = context;
    list_kernel trial = {.device = built->device,
                         .facts = kernel->facts,
                         .spec = kernel->spec,
                         .kernel = *built,
                         .sample = kernel->sample};
    const ley_status status = list_self_test(&trial, error);
    trial.kernel.program = NULL; /* the caller's */
    list_kernel_destroy(&trial);
    return status;
}

/* One orbital, several, and derivatives; of other variants the first alone. */
static void list_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    static const struct {
        const char *name;
        bool has_derivatives, is_single;
    } rows[] = {{"orbital", false, true}, {"orbitals", false, false}, {"derivatives", true, true}};
    const calibration c = specifications_facts(calibrate_likely_root(info), calibrate_likely_exp(info), true);
    for (size_t v = 0; v < VARIANT_COUNT; v++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            for (int sum = LEY_SPEC_SUM_FLOAT; sum <= LEY_SPEC_SUM_DOUBLE; sum++) {
                const bool is_usual = strcmp(variants[v].name, usual(info, sum)) == 0;
                const list_wish wish = {.variant = variants[v].name,
                                        .math = TUNING_AUTO,
                                        .sum = sum,
                                        .has_derivatives = rows[i].has_derivatives,
                                        .is_single = rows[i].is_single};
                gaussians_spec spec;
                const char *name;
                char file[KERNEL_NAME];
                if ((variants[v].is_contracted && i != 1) ||
                    (depth == KERNEL_FEW && (!is_usual || sum != LEY_SPEC_SUM_FLOAT)) ||
                    (depth != KERNEL_ALL && i > 0 && !is_usual && !variants[v].is_contracted) ||
                    choose(info, &c, &wish, &name, &spec, NULL) != LEY_OK)
                    continue;
                snprintf(file, sizeof file, "%s-%s-%s-%s", name, rows[i].name, specifications_sum(sum),
                         calibrate_exp_word(spec.exp));
                visit(context, file, &spec);
            }
}

KERNEL_DESCRIBE_ARGUMENTS(gaussians, LEY_GAUSSIANS_ARGUMENTS)
const kernel_kind gaussians_kind = {
    KERNEL_DESCRIPTION(gaussians, LEY_GAUSSIANS_KEYS, gaussians),
    .variant = list_variant,
    .usual = usual,
    .group = group_of,
    .local_bytes = local_bytes_of,
    .test = test_built,
    .specs = list_specs,
};

ley_status list_kernel_create(dev *device, const list_wish *wish, list_kernel *k, ley_error *error)
{
    const bool is_fixed = wish->math == TUNING_STANDARD || wish->sum == LEY_SPEC_SUM_DOUBLE;
    *k = (list_kernel){.device = device, .sample = wish->sample};
    const uint64_t facts = is_fixed ? CALIBRATE_EXP(LEY_EXP_STANDARD) : CALIBRATE_EXPS;
    ley_status status = calibrate_get(device, tuning_planned_needs(&wish->planned, facts), &k->facts, error);
    if (status == LEY_OK)
        status = choose(device->info, &k->facts, wish, &k->variant, &k->spec, error);
    if (status == LEY_OK)
        status = kernel_create(device, &gaussians_kind, &k->spec, wish->code, k, &k->kernel, error);
    k->sample = NULL;
    return status;
}
