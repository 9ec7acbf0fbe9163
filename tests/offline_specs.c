/* The kernels to compile without a card, with the specifications that their kinds list for a kind
 * of device:
 *     offline_specs kernels                            names all kernels
 *     offline_specs cuda CAPABILITY | gpu | cpu [few | all]  prints lines "KERNEL NAME OPTIONS..."
 *     offline_specs source KERNEL SUFFIX               prints a kernel's flattened text
 * What few and all are, the kinds say: KERNEL_FEW, KERNEL_ALL. */
#include "cuda/architectures.h"
#include "methods/registry.h"
#include "quirks.h"
#include "source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Specifications -------------------------------------------------------------------------- */

static void print_spec(void *context, const char *name, const void *spec)
{
    const kernel_kind *kind = context;
    char options[KERNEL_OPTIONS];
    kernel_options(kind, spec, options, sizeof options);
    printf("%s %s %s\n", kind->name, name, options);
}

/* ---- The commands ---------------------------------------------------------------------------- */

static int print_names(void)
{
    for (const kernel_kind *const *kind = kernel_registry; *kind != NULL; kind++)
        printf("%s\n", (*kind)->name);
    return 0;
}

static int print_kernels(const dev_info *info, kernel_depth deep)
{
    for (const kernel_kind *const *kind = kernel_registry; *kind != NULL; kind++)
        kernel_specs(*kind, info, deep, print_spec, (void *)(uintptr_t)*kind);
    return 0;
}

static int print_cuda(int capability, kernel_depth deep)
{
    const cuda_architecture *nearest = NULL;
    for (const cuda_architecture *a = cuda_architectures; a->name != NULL; a++)
        if (a->capability <= capability)
            nearest = a;
    if (nearest == NULL)
        return 2;
    dev_info info;
    cuda_architecture_describe(nearest, &info);
    return print_kernels(&info, deep);
}

/* A GPU, or a CPU with vectors of 16 floats, as its OpenCL platform would describe it. */
static int print_opencl(bool is_cpu, kernel_depth deep)
{
    dev_info info = {.device_class = is_cpu ? DEV_CPU : DEV_GPU,
                     .vector_width = is_cpu ? 16 : 1,
                     .max_work_group = 256,
                     .max_work_items = {256, 256, 256},
                     .local_bytes = 32768,
                     .constant_bytes = 65536,
                     .has_double = true,
                     .name = "offline"};
    snprintf(info.platform, sizeof info.platform, "%s", is_cpu ? "Portable Computing Language" : "offline");
    quirks_apply(&info);
    return print_kernels(&info, deep);
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
    const char *last = argc > 2 ? argv[argc - 1] : "";
    const kernel_depth deep = strcmp(last, "few") == 0   ? KERNEL_FEW
                              : strcmp(last, "all") == 0 ? KERNEL_ALL
                                                         : KERNEL_MORE;
    const int count = argc - (deep != KERNEL_MORE);
    const char *command = argc > 1 ? argv[1] : "";
    if (count == 2 && strcmp(command, "kernels") == 0)
        return print_names();
    if (count == 3 && strcmp(command, "cuda") == 0)
        return print_cuda(atoi(argv[2]), deep);
    if (count == 2 && (strcmp(command, "gpu") == 0 || strcmp(command, "cpu") == 0))
        return print_opencl(strcmp(command, "cpu") == 0, deep);
    if (argc == 4 && strcmp(command, "source") == 0)
        return print_source(argv[2], argv[3]);
    fprintf(stderr,
            "usage: offline_specs kernels | {cuda CAPABILITY | gpu | cpu} [few | all] | source KERNEL SUFFIX\n");
    return 2;
}
