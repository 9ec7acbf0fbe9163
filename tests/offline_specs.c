/* The kernels to compile without a card: offline_specs cuda CAPABILITY | gpu | cpu prints a line for each, "KERNEL NAME OPTIONS...",
 * with the options that planning chooses for such a device; offline_specs source KERNEL SUFFIX prints a kernel's flattened text. */
#include "calibrate.h"
#include "cuda/architectures.h"
#include "source.h"
#include "tuning.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const sums[] = {"float", "compensated", "double"};
static const char *const roots[LEY_ROOT_COUNT] = {"standard", "reciprocal", "native", "newton", "ptx", "avx512"};

/* Made up: every recipe is good enough, one of them is fastest, and the multipliers are fast enough to take a share of the roots. */
static calibration made_up(int fastest)
{
    calibration c = {.fma_per_s = 1e13};
    for (int root = 0; root < LEY_ROOT_COUNT; root++) {
        c.root_error[root] = 3e-7;
        c.roots_per_s[root] = root == fastest ? 1e12 : 1e11;
    }
    return c;
}

static void print_dcs(const dev_info *info, const char *variant, int sum, int root)
{
    const calibration c = made_up(root);
    const tuning_wish wish = {.variant = variant, .math = 2, .sum = sum, .n_x = 4096, .n_y = 4096};
    tuning_choice choice;
    char options[512];
    if (tuning_dcs(info, &c, &wish, &choice, NULL) != LEY_OK)
        return;
    tuning_dcs_options(&choice.spec, options, sizeof options);
    printf("dcs %s-%s-%s %s\n", variant, sums[sum], roots[choice.spec.root], options);
}

/* Every variant with every sum and the device's fastest root; every root where the roots count most; the kernels that measure. */
static void print_kernels(const dev_info *info)
{
    const int width = calibrate_width(info);
    const int fastest = info->quirks & DEV_QUIRK_PTX      ? LEY_ROOT_PTX
                        : info->quirks & DEV_QUIRK_AVX512 ? LEY_ROOT_AVX512
                                                          : LEY_ROOT_NATIVE;
    const char *variant;
    for (size_t i = 0; (variant = tuning_dcs_variant(i)) != NULL; i++)
        for (int sum = LEY_SPEC_SUM_FLOAT; sum <= LEY_SPEC_SUM_DOUBLE; sum++)
            print_dcs(info, variant, sum, fastest);
    for (int root = 0; root < LEY_ROOT_COUNT; root++) {
        if (!calibrate_root_possible(info, root, width))
            continue;
        if (root != fastest)
            print_dcs(info, tuning_dcs_default(info, LEY_SPEC_SUM_FLOAT), LEY_SPEC_SUM_FLOAT, root);
        printf("roots roots-%s -DLEY_SUM=0 -DLEY_WIDTH=%d -DLEY_ROOT=%d\n", roots[root], width, root);
    }
    printf("multiply_adds multiply_adds -DLEY_SUM=0 -DLEY_WIDTH=%d -DLEY_ROOT=0\n", width);
}

static int print_cuda(int capability)
{
    const cuda_architecture *nearest = NULL;
    for (const cuda_architecture *a = cuda_architectures; a->name != NULL; a++)
        if (a->capability <= capability)
            nearest = a;
    if (nearest == NULL)
        return 2;
    dev_info info;
    cuda_architecture_describe(nearest, &info);
    info.quirks |= DEV_QUIRK_PTX;
    print_kernels(&info);
    return 0;
}

static int print_source(const char *kernel, const char *suffix)
{
    char *text = NULL;
    ley_error error = {0};
    if (source_load(kernel, suffix, &text, &error) != LEY_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    fputs(text, stdout);
    free(text);
    return 0;
}

int main(int argc, char **argv)
{
    dev_info info = {.device_class = DEV_GPU, .vector_width = 1, .max_work_group = 256, .max_work_items = {256, 256, 256},
                     .local_bytes = 32768, .constant_bytes = 65536, .has_double = true, .name = "offline"};
    if (argc == 3 && strcmp(argv[1], "cuda") == 0)
        return print_cuda(atoi(argv[2]));
    if (argc == 4 && strcmp(argv[1], "source") == 0)
        return print_source(argv[2], argv[3]);
    if (argc == 2 && (strcmp(argv[1], "gpu") == 0 || strcmp(argv[1], "cpu") == 0)) {
        if (argv[1][0] == 'c') {
            info.device_class = DEV_CPU;
            info.vector_width = 16;
            info.quirks = DEV_QUIRK_AVX512;
        }
        print_kernels(&info);
        return 0;
    }
    fprintf(stderr, "usage: offline_specs cuda CAPABILITY | gpu | cpu | source KERNEL SUFFIX\n");
    return 2;
}
