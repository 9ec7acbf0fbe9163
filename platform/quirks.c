/* The ONE table of what is known of single vendors, devices and drivers. No vendor's name stands
 * anywhere else. */
#include "quirks.h"

#include "spec.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

typedef struct quirk {
    const char *platform, *vendor, *name; /* parts of the device's texts, case ignored; NULL: any */
    int vector_width;                     /* at least so many floats in a native vector */
    double driver_from, driver_before;    /* leading number of the driver's version; 0: open */
    bool knows_no_width;                  /* says 1 of processors other than x86, whatever vectors they have */
    unsigned quirks;                      /* what to do */
    const char *unusable;                 /* refuse the device, for this reason */
    const char *what;                     /* in a few words, for `leyden devices` */
    const char *link;
} quirk;

static const quirk table[] = {
    {.platform = "CUDA", /* both paths to these cards: the platforms "NVIDIA CUDA" and "CUDA" */
     .quirks = DEV_QUIRK_PTX,
     .what = "native_rsqrt keeps denormals, inline PTX does not",
     .link = "https://docs.nvidia.com/cuda/parallel-thread-execution/#floating-point-instructions-rsqrt"},
    {.platform = "Portable Computing Language",
     .vector_width = 16, /* one that is not x86 has none of these instructions, and is none the worse for it */
     .quirks = DEV_QUIRK_AVX512,
     .what = "vector rsqrt divides, vrsqrt14ps does not",
     .link = "https://www.intel.com/content/www/us/en/docs/intrinsics-guide/index.html#text=vrsqrt14ps"},
    {.platform = "Portable Computing Language",
     .knows_no_width = true,
     .what = "says nothing of vectors, which these processors have",
     .link = "https://github.com/pocl/pocl/blob/release_3_1/lib/CL/devices/common.h"},
    {.platform = "Portable Computing Language", /* a lock around all of LLVM; linkers follow at the first launch */
     .quirks = DEV_QUIRK_ONE_COMPILER,
     .what = "compiles one kernel at a time",
     .link = "https://github.com/pocl/pocl/blob/release_3_1/lib/CL/pocl_llvm_build.cc"},
    {.platform = "Intel(R) OpenCL",
     .vector_width = 4, /* its processors; its cards say that they have vectors of 1 */
     .quirks = DEV_QUIRK_ROUGH_ROOT,
     .what = "native_rsqrt is one instruction, rsqrt divides",
     .link = "https://www.intel.com/content/www/us/en/docs/intrinsics-guide/index.html#text=vrsqrt14ps"},
    {.platform = "Oclgrind",
     .quirks = DEV_QUIRK_INTERPRETER | DEV_QUIRK_NO_BINARY,
     .what = "interprets kernels, nothing is timed on it",
     .link = "https://github.com/jrprice/Oclgrind"},
};

static bool part_of(const char *text, const char *part)
{
    return part == NULL || strcasestr(text, part) != NULL;
}

/* Floats in the vectors that every processor of this architecture has, x86 apart, where drivers
 * know it. */
static int width_of_host(void)
{
#if defined __ARM_NEON || defined __VSX__ || defined __VX__
    return 4;
#else
    return 1;
#endif
}

static bool matches(const quirk *q, const dev_info *info, int host_width)
{
    double driver = 0;
    if (q->knows_no_width && (info->device_class != DEV_CPU || info->vector_width >= host_width))
        return false;
    if ((q->driver_from > 0 || q->driver_before > 0) && sscanf(info->driver, "%lf", &driver) != 1)
        return false;
    return part_of(info->platform, q->platform) && part_of(info->vendor, q->vendor) && part_of(info->name, q->name) &&
           info->vector_width >= q->vector_width && (q->driver_from == 0 || driver >= q->driver_from) &&
           (q->driver_before == 0 || driver < q->driver_before);
}

void quirks_apply(dev_info *info)
{
    quirks_apply_on_host(info, width_of_host());
}

void quirks_apply_on_host(dev_info *info, int host_width)
{
    size_t used = 0;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (!matches(&table[i], info, host_width))
            continue;
        if (table[i].knows_no_width)
            info->vector_width = host_width;
        info->quirks |= table[i].quirks;
        if (table[i].unusable != NULL)
            snprintf(info->unusable, sizeof info->unusable, "%s (%s)", table[i].unusable, table[i].link);
        if (used < sizeof info->quirks_text)
            used += (size_t)snprintf(info->quirks_text + used, sizeof info->quirks_text - used, "%s%s",
                                     used != 0 ? "; " : "", table[i].what);
    }
}

const char *quirks_of_empty(const char *platform)
{
    static const struct {
        const char *platform, *what;
    } empty[] = {
        {"rusticl", "it shows none but those of the drivers that RUSTICL_ENABLE names, as radeonsi, iris, nouveau or "
                    "llvmpipe (https://docs.mesa3d.org/rusticl.html)"},
    };
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++)
        if (part_of(platform, empty[i].platform))
            return empty[i].what;
    return NULL;
}

const char *const quirks_driver_variables[] = {
    "POCL_DEVICES",          "POCL_AFFINITY",        "RUSTICL_ENABLE",
    "LIBGL_ALWAYS_SOFTWARE", "CUDA_VISIBLE_DEVICES", "CL_CONFIG_CPU_TARGET_ARCH",
    "LD_LIBRARY_PATH",       "LD_PRELOAD",           NULL};

/* PoCL compiles a kernel for its first launch, specialised for the size of the work-group, and once
 * more in general when it is asked for the program's binary: as long again, for code that is no
 * faster (https://github.com/pocl/pocl/blob/release_3_1/lib/CL/pocl_binary.c). */
const quirk_variable quirks_driver_settings[] = {{"POCL_WORK_GROUP_SPECIALIZATION", "0"}, {NULL, NULL}};

static bool has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)) != NULL; at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

/* By the extension of OpenCL C 1.2 where there is that one: the standard's is of OpenCL C 3.0, for
 * which kernels would be compiled. */
int quirks_sub_groups(const char *extensions, const char *version)
{
    if (!has_word(extensions, "cl_intel_required_subgroup_size"))
        return LEY_SUB_GROUPS_NONE;
    if (has_word(extensions, "cl_intel_subgroups"))
        return LEY_SUB_GROUPS_CL12;
    return has_word(extensions, "cl_khr_subgroup_shuffle") && strncmp(version, "OpenCL 3", 8) == 0
               ? LEY_SUB_GROUPS_KHR
               : LEY_SUB_GROUPS_NONE;
}

/* Both paths to these cards. */
const char *quirks_energy_library(const dev_info *info)
{
    return info->device_class == DEV_GPU && (info->quirks & DEV_QUIRK_PTX) != 0 ? "libnvidia-ml.so.1" : NULL;
}

/* ---- Fourier transforms ---------------------------------------------------------------------- */

typedef struct fft_quirk {
    const char *platform, *library; /* a part of the device's text, NULL: any; the library's name */
    size_t n[3];
    const char *what;
} fft_quirk;

/* What known answers have found, so that nobody prepares it again for nothing. Of what others
 * report of vkfft, wrong inverse transforms of which rows are left out are avoided by its way to be
 * told of them (fft_vkfft.c); and wrong ones of 96 x 96 x 96 were of spectra that no real mesh
 * has, which fft.h rules out. */
static const fft_quirk fft_table[] = {
    {.platform = "Intel(R)",
     .library = "clfft",
     .n = {128, 128, 128},
     .what = "ends with CL_INVALID_PROGRAM, or leaves garbage"},
};

const char *quirks_of_fft(const dev_info *info, const dev_fft_library *library, const size_t n[3])
{
    for (size_t i = 0; i < sizeof fft_table / sizeof *fft_table; i++) {
        const fft_quirk *q = &fft_table[i];
        if (part_of(info->platform, q->platform) && strcmp(q->library, library->name) == 0 &&
            memcmp(q->n, n, sizeof q->n) == 0)
            return q->what;
    }
    return NULL;
}

/* ---- Checks ---------------------------------------------------------------------------------- */

typedef struct check_quirk {
    const char *platform, *name; /* parts of the device's texts; NULL: any */
    const char *architecture;    /* a part of the host's, as uname says it; NULL: any */
    const char *check;           /* GROUP/NAME */
    const char *variant;         /* NULL: any */
    const char *what;
} check_quirk;

static const char small_beside_large[] =
    "of numbers below 1e-2 that share a vector with one beyond 1e7 it is 0.01 or so "
    "(https://github.com/pocl/pocl, lib/kernel/sleef)";

static const check_quirk checks_table[] = {
    {.platform = "Portable Computing Language",
     .check = "functions/sin",
     .variant = "vectors",
     .what = small_beside_large},
    {.platform = "Portable Computing Language",
     .check = "functions/cos",
     .variant = "vectors",
     .what = small_beside_large},
    {.platform = "rusticl",
     .name = "llvmpipe",
     .check = "launches/stamps",
     .what = "events have no time stamps: the host's clock is used "
             "(https://gitlab.freedesktop.org/mesa/mesa, src/gallium/frontends/rusticl)"},
    {.platform = "rusticl",
     .name = "llvmpipe",
     .check = "functions/erfc",
     .what = "erfc of floats is off by 16 ulp at 4 and by 60 at 8, where 16 are allowed "
             "(https://github.com/llvm/llvm-project, libclc/generic/lib/math/erfc.cl)"},
    {.platform = "rusticl",
     .name = "llvmpipe",
     .architecture = "ppc64",
     .check = "specials/no-numbers",
     .what = "fmax is the instruction vmaxfp, which keeps what is no number "
             "(https://gitlab.freedesktop.org/mesa/mesa, src/gallium/auxiliary/gallivm/lp_bld_arit.c)"},
    {.platform = "Intel(R) OpenCL",
     .check = "transforms/even",
     .variant = "clfft",
     .what = "clfft writes a kernel that is not OpenCL C, a pointer to float4 made of one to float2, which this "
             "compiler refuses: other libraries are used (https://github.com/clMathLibraries/clFFT)"},
};

const char *quirks_of_check(const dev_info *info, const char *group, const char *name, const char *variant)
{
    struct utsname system;
    return quirks_of_check_on_host(info, uname(&system) == 0 ? system.machine : "", group, name, variant);
}

const char *quirks_of_check_on_host(const dev_info *info, const char *architecture, const char *group, const char *name,
                                    const char *variant)
{
    char check[64];
    snprintf(check, sizeof check, "%s/%s", group, name);
    for (size_t i = 0; i < sizeof checks_table / sizeof *checks_table; i++) {
        const check_quirk *q = &checks_table[i];
        if (part_of(info->platform, q->platform) && part_of(info->name, q->name) &&
            part_of(architecture, q->architecture) && strcmp(q->check, check) == 0 &&
            (q->variant == NULL || strcmp(q->variant, variant) == 0))
            return q->what;
    }
    return NULL;
}
