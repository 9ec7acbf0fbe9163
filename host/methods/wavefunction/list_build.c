#include "methods/wavefunction/list_build.h"

#include "engine/specifications.h"
#include "engine/tuning.h"
#include "methods/wavefunction/self_test.h"

#include <stdio.h>

enum { GPU_GROUP = 128, MOST_AT_ONCE = 4 };

static void choose(const dev_info *info, const calibration *c, bool has_derivatives, bool is_single, int math,
                   gaussians_spec *spec)
{
    const int width = info->device_class == DEV_CPU ? calibrate_width(info) : 1;
    *spec = (gaussians_spec){.sum = LEY_SPEC_SUM_FLOAT,
                             .width = width,
                             .root = LEY_ROOT_STANDARD,
                             .wg = width > 1                                  ? 1
                                   : info->max_work_group < (size_t)GPU_GROUP ? (int)info->max_work_group
                                                                              : GPU_GROUP,
                             .exp = math == TUNING_STANDARD
                                        ? LEY_EXP_STANDARD
                                        : calibrate_fastest_exp(info, c, width, tuning_need(math, CALIBRATE_FINEST)),
                             .orbitals = has_derivatives || is_single ? 1 : MOST_AT_ONCE,
                             .derivatives = has_derivatives};
}

static void group_of(const dev_info *info, const void *spec, size_t size[3])
{
    (void)info;
    size[0] = (size_t)((const gaussians_spec *)spec)->wg;
    size[1] = size[2] = 1;
}

static ley_status test_built(const dev_kernel *built, void *context, ley_error *error)
{
    const list_kernel *kernel = context;
    list_kernel trial = {.device = built->device, .facts = kernel->facts, .spec = kernel->spec, .kernel = *built};
    const ley_status status = list_self_test(&trial, error);
    trial.kernel.program = NULL; /* the caller's */
    list_kernel_destroy(&trial);
    return status;
}

static void list_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    static const struct {
        const char *name;
        bool has_derivatives, is_single;
    } rows[] = {{"orbital", false, true}, {"orbitals", false, false}, {"derivatives", true, true}};
    const calibration c = specifications_facts(calibrate_likely_root(info), calibrate_likely_exp(info), true);
    (void)depth;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gaussians_spec spec;
        char name[KERNEL_NAME];
        choose(info, &c, rows[i].has_derivatives, rows[i].is_single, TUNING_AUTO, &spec);
        snprintf(name, sizeof name, "%s-%s", rows[i].name, calibrate_exp_word(spec.exp));
        visit(context, name, &spec);
    }
}

KERNEL_DESCRIBE_ARGUMENTS(gaussians, LEY_GAUSSIANS_ARGUMENTS)
const kernel_kind gaussians_kind = {
    KERNEL_DESCRIPTION(gaussians, LEY_GAUSSIANS_KEYS, gaussians),
    .group = group_of,
    .test = test_built,
    .specs = list_specs,
};

ley_status list_kernel_create(dev *device, bool has_derivatives, bool is_single, int math, list_kernel *k,
                              ley_error *error)
{
    *k = (list_kernel){.device = device};
    ley_status status = calibrate_get(
        device, math == TUNING_STANDARD ? CALIBRATE_EXP(LEY_EXP_STANDARD) : CALIBRATE_EXPS, &k->facts, error);
    if (status == LEY_OK) {
        choose(device->info, &k->facts, has_derivatives, is_single, math, &k->spec);
        status = kernel_create(device, &gaussians_kind, &k->spec, NULL, k, &k->kernel, error);
    }
    return status;
}
