#include "methods/cutoff/point_pairs_build.h"

#include "engine/specifications.h"
#include "methods/cutoff/point_pairs_self_test.h"

#include <stdio.h>

/* ---- The kind -------------------------------------------------------------------------------- */

static void group_of(const dev_info *info, const void *spec, size_t size[3])
{
    (void)info;
    size[0] = (size_t)((const point_pairs_spec *)spec)->wg;
    size[1] = size[2] = 1;
}

/* The self-test runs the kernel as a job does, before it is the kernel's own. */
static ley_status test_built(const dev_kernel *built, void *context, ley_error *error)
{
    const point_pairs_kernel *kernel = context;
    point_pairs_kernel trial = {.device = built->device,
                                .facts = kernel->facts,
                                .choice = kernel->choice,
                                .kernel = *built,
                                .bins = {.problem = kernel->bins.problem}};
    return point_pairs_self_test(&trial, error);
}

static void list_choice(const dev_info *info, const cutoff_wish *wish, int root, kernel_visit *visit, void *context)
{
    const calibration c = specifications_facts(root, calibrate_likely_exp(info), true);
    point_pairs_choice choice;
    char name[KERNEL_NAME];
    if (point_pairs_choose(info, &c, wish, &choice, NULL) != LEY_OK)
        return;
    snprintf(name, sizeof name, "point_pairs-%s-%d-%s-%s%s", choice.variant, choice.spec.pair,
             specifications_sum(choice.spec.total), calibrate_root_word(choice.spec.root),
             choice.spec.field ? "-field" : "");
    visit(context, name, &choice.spec);
}

/* Few: the default variant in every sum, with standard maths and with the field too. More: every
 * pair function but an expression, with the field or without, and every variant. All: every
 * root. */
static void visit_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    const cutoff_wish first = {.math = TUNING_AUTO, .pair = LEY_PAIR_TAYLOR2, .depth = 8};
    const int root = calibrate_likely_root(info);
    cutoff_wish wish = first;
    for (wish.sum = LEY_SPEC_SUM_FLOAT; wish.sum <= LEY_SPEC_SUM_DOUBLE; wish.sum++)
        list_choice(info, &wish, root, visit, context);
    wish = first;
    wish.math = TUNING_STANDARD;
    list_choice(info, &wish, root, visit, context);
    wish = first;
    wish.field = true;
    list_choice(info, &wish, root, visit, context);
    for (int i = 0; depth > KERNEL_FEW && i < 2 * LEY_PAIR_EXPRESSION; i++) {
        wish.pair = i / 2;
        wish.field = i % 2 == 1;
        if (wish.pair != first.pair || !wish.field)
            list_choice(info, &wish, root, visit, context);
    }
    wish = first;
    for (size_t i = 0; depth > KERNEL_FEW && point_pairs_variant(i) != NULL; i++) {
        wish.variant = point_pairs_variant(i);
        list_choice(info, &wish, root, visit, context);
    }
    for (int other = 0; depth == KERNEL_ALL && other < LEY_ROOT_COUNT; other++)
        if (calibrate_root_possible(info, other, calibrate_width(info)))
            list_choice(info, &first, other, visit, context);
}

KERNEL_DESCRIBE_ARGUMENTS(point_pairs, LEY_POINT_PAIRS_ARGUMENTS)
const kernel_kind point_pairs_kind = {
    KERNEL_DESCRIPTION(point_pairs, LEY_POINT_PAIRS_KEYS, point_pairs),
    .variant = point_pairs_variant,
    .usual = point_pairs_usual,
    .group = group_of,
    .test = test_built,
    .specs = visit_specs,
};

/* ---- On a device ----------------------------------------------------------------------------- */

ley_status point_pairs_create(dev *device, const cutoff_wish *wish, const cutoff_problem *problem,
                              point_pairs_kernel *kernel, ley_error *error)
{
    *kernel = (point_pairs_kernel){.device = device, .bins = {.device = device, .problem = problem}};
    ley_status status =
        calibrate_get(device, tuning_planned_needs(&wish->planned, tuning_cutoff_needs(wish)), &kernel->facts, error);
    if (status == LEY_OK)
        status = point_pairs_choose(device->info, &kernel->facts, wish, &kernel->choice, error);
    if (status == LEY_OK)
        status = kernel_create(device, &point_pairs_kind, &kernel->choice.spec, problem->prelude, kernel,
                               &kernel->kernel, error);
    return status;
}
