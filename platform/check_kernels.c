#include "check_kernels.h"

#include "calibrate.h"

#include <stdio.h>

enum { USUAL_GROUP = 64, USUAL_WORDS = 1024 };

size_t check_kernels_group(const dev_info *info)
{
    return USUAL_GROUP < info->max_work_group ? USUAL_GROUP : info->max_work_group;
}

static void usual_group(const dev_info *info, const void *spec, size_t size[3])
{
    (void)spec;
    size[0] = check_kernels_group(info);
    size[1] = size[2] = 1;
}

static void single_item(const dev_info *info, const void *spec, size_t size[3])
{
    (void)info, (void)spec;
    size[0] = size[1] = size[2] = 1;
}

static void group_of_words(const dev_info *info, const void *spec, size_t size[3])
{
    const local_words_spec *s = spec;
    (void)info;
    size[0] = (size_t)s->wg;
    size[1] = size[2] = 1;
}

static size_t bytes_of_words(const dev_info *info, const void *spec)
{
    const local_words_spec *s = spec;
    (void)info;
    return (size_t)s->words * sizeof(int32_t);
}

static void group_of_items(const dev_info *info, const void *spec, size_t size[3])
{
    const work_items_spec *s = spec;
    (void)info;
    size[0] = (size_t)s->lx;
    size[1] = (size_t)s->ly;
    size[2] = (size_t)s->lz;
}

/* Floats, doubles, and where there are vectors, floats in these. */
static void function_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    kernel_dialect spec = {.sum = LEY_SPEC_SUM_FLOAT, .width = 1, .root = LEY_ROOT_STANDARD};
    (void)depth;
    visit(context, "functions-float", &spec);
    if (calibrate_width(info) > 1) {
        spec.width = calibrate_width(info);
        visit(context, "functions-vectors", &spec);
        spec.width = 1;
    }
    spec.sum = LEY_SPEC_SUM_DOUBLE;
    if (info->has_double)
        visit(context, "functions-double", &spec);
}

static void struct_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    (void)depth;
    for (int sum = LEY_SPEC_SUM_FLOAT; sum <= LEY_SPEC_SUM_DOUBLE; sum += LEY_SPEC_SUM_DOUBLE - LEY_SPEC_SUM_FLOAT) {
        const structs_spec spec = {.sum = sum, .width = 1, .root = LEY_ROOT_STANDARD, .echo = 1};
        if (sum == LEY_SPEC_SUM_FLOAT || info->has_double)
            visit(context, sum == LEY_SPEC_SUM_FLOAT ? "structs-float" : "structs-double", &spec);
    }
}

static void word_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    const local_words_spec spec = {.sum = LEY_SPEC_SUM_FLOAT,
                                   .width = 1,
                                   .root = LEY_ROOT_STANDARD,
                                   .wg = (int)check_kernels_group(info),
                                   .words = USUAL_WORDS};
    (void)depth;
    visit(context, "local_words", &spec);
}

static void constant_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    const constant_words_spec spec = {
        .sum = LEY_SPEC_SUM_FLOAT, .width = 1, .root = LEY_ROOT_STANDARD, .table = LEY_ATOMS_CONSTANT};
    (void)info, (void)depth;
    visit(context, "constant_words", &spec);
}

static void item_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    const work_items_spec spec = {
        .sum = LEY_SPEC_SUM_FLOAT, .width = 1, .root = LEY_ROOT_STANDARD, .lx = 3, .ly = 5, .lz = 1};
    (void)info, (void)depth;
    visit(context, "work_items", &spec);
}

KERNEL_DESCRIBE_ARGUMENTS(functions, LEY_FUNCTIONS_ARGUMENTS)
const kernel_kind functions_kind = {KERNEL_DESCRIPTION(functions, LEY_DIALECT_KEYS, functions), .group = usual_group,
                                    .specs = function_specs};

KERNEL_DESCRIBE_ARGUMENTS(structs, LEY_STRUCTS_ARGUMENTS)
const kernel_kind structs_kind = {KERNEL_DESCRIPTION(structs, LEY_STRUCTS_KEYS, structs), .group = single_item,
                                  .specs = struct_specs};

KERNEL_DESCRIBE_ARGUMENTS(local_words, LEY_LOCAL_WORDS_ARGUMENTS)
const kernel_kind local_words_kind = {KERNEL_DESCRIPTION(local_words, LEY_LOCAL_WORDS_KEYS, local_words),
                                      .group = group_of_words, .local_bytes = bytes_of_words, .specs = word_specs};

KERNEL_DESCRIBE_ARGUMENTS(constant_words, LEY_CONSTANT_WORDS_ARGUMENTS)
const kernel_kind constant_words_kind = {KERNEL_DESCRIPTION(constant_words, LEY_CONSTANT_WORDS_KEYS, constant_words),
                                         .group = usual_group, .specs = constant_specs};

KERNEL_DESCRIBE_ARGUMENTS(work_items, LEY_WORK_ITEMS_ARGUMENTS)
const kernel_kind work_items_kind = {KERNEL_DESCRIPTION(work_items, LEY_WORK_ITEMS_KEYS, work_items),
                                     .group = group_of_items, .specs = item_specs};
