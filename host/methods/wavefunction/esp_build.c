#include "methods/wavefunction/esp_build.h"

#include "engine/specifications.h"
#include "engine/tuning.h"
#include "methods/wavefunction/esp_self_test.h"

#include <stdio.h>

enum { GPU_GROUP = 128, MOST_USUAL = 4 /* of pairs of d functions */ };
static const double root_need = 2.5e-7;

static void choose(const dev_info *info, const calibration *c, int class_number, bool has_field, int math,
                   hermite_spec *spec)
{
    const int width = info->device_class == DEV_CPU ? calibrate_width(info) : 1;
    const bool is_standard = math == TUNING_STANDARD;
    *spec = (hermite_spec){
        .sum = LEY_SPEC_SUM_FLOAT,
        .width = width,
        .root = is_standard ? LEY_ROOT_STANDARD : tuning_root(info, c, width, tuning_need(math, root_need)),
        .wg = width > 1                                  ? 1
              : info->max_work_group < (size_t)GPU_GROUP ? (int)info->max_work_group
                                                         : GPU_GROUP,
        .exp =
            is_standard ? LEY_EXP_STANDARD : calibrate_fastest_exp(info, c, width, tuning_need(math, CALIBRATE_FINEST)),
        .momentum = hermite_momentum(class_number),
        .multipoles = class_number == HERMITE_MULTIPOLES,
        .field = has_field};
}

static void group_of(const dev_info *info, const void *spec, size_t size[3])
{
    (void)info;
    size[0] = (size_t)((const hermite_spec *)spec)->wg;
    size[1] = size[2] = 1;
}

static ley_status test_built(const dev_kernel *built, void *context, ley_error *error)
{
    const esp_class *of = context;
    esp_kernel trial = {.device = built->device};
    const int class_number = of->spec.multipoles ? (int)HERMITE_MULTIPOLES : of->spec.momentum;
    trial.classes[class_number] = (esp_class){.spec = of->spec, .kernel = *built};
    return esp_self_test(&trial, class_number, error);
}

static void list_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    const calibration c = specifications_facts(calibrate_likely_root(info), calibrate_likely_exp(info), true);
    for (int field = 0; field <= 1; field++)
        for (int l = 0; l < HERMITE_CLASSES; l++) {
            hermite_spec spec;
            char name[KERNEL_NAME];
            if (depth == KERNEL_FEW && l > MOST_USUAL && l != HERMITE_MULTIPOLES)
                continue;
            choose(info, &c, l, field != 0, TUNING_AUTO, &spec);
            snprintf(name, sizeof name, "%s%d%s-%s", field != 0 ? "field" : "potential", spec.momentum,
                     l == HERMITE_MULTIPOLES ? "far" : "", calibrate_exp_word(spec.exp));
            visit(context, name, &spec);
        }
}

KERNEL_DESCRIBE_ARGUMENTS(hermite, LEY_HERMITE_ARGUMENTS)
const kernel_kind hermite_kind = {
    KERNEL_DESCRIPTION(hermite, LEY_HERMITE_KEYS, hermite),
    .group = group_of,
    .test = test_built,
    .specs = list_specs,
};

ley_status esp_kernel_create(dev *device, const bool wanted[HERMITE_CLASSES], bool has_field, int math, esp_kernel *k,
                             ley_error *error)
{
    const uint64_t facts = math == TUNING_STANDARD ? CALIBRATE_ROOT(LEY_ROOT_STANDARD) | CALIBRATE_EXP(LEY_EXP_STANDARD)
                                                   : CALIBRATE_ROOTS | CALIBRATE_EXPS;
    *k = (esp_kernel){.device = device};
    ley_status status = calibrate_get(device, facts | CALIBRATE_MULTIPLY_ADDS, &k->facts, error);
    for (int l = 0; l < HERMITE_CLASSES && status == LEY_OK; l++)
        if (wanted[l]) {
            choose(device->info, &k->facts, l, has_field, math, &k->classes[l].spec);
            status = kernel_create(device, &hermite_kind, &k->classes[l].spec, NULL, &k->classes[l],
                                   &k->classes[l].kernel, error);
        }
    return status;
}
