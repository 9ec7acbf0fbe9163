/* The kernels to compile without a card, with the options that planning chooses for a kind of
 * device:
 *     offline_specs kernels                            names the binary's kernels
 *     offline_specs cuda CAPABILITY | gpu | cpu [few | all]  prints lines "KERNEL NAME OPTIONS..."; few: what such a
 * device runs by default; all: every combination of mdh's, too offline_specs source KERNEL SUFFIX               prints
 * a kernel's flattened text Exit code 1 when the binary has a kernel that printers[] below does not know. */
#include "calibrate.h"
#include "cuda/architectures.h"
#include "embedded.h"
#include "methods/cutoff/tuning.h"
#include "methods/dcs/tuning.h"
#include "methods/mdh/tuning.h"
#include "quirks.h"
#include "run/reference_kernel.h"
#include "source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPTIONS = 512, MAX_SEEN = 512, LARGE = 4096, LARGEST_SHAPE = 512 };
typedef enum depth { FEW, MORE, ALL } depth; /* what main() is asked for; MORE when nothing is said */

static const char *const sums[] = {"float", "compensated", "double"};
static const char *const roots[LEY_ROOT_COUNT] = {"standard", "reciprocal", "native", "newton", "ptx", "avx512"};
static const char *const exps[LEY_EXP_COUNT] = {"standard", "native", "polynomial", "ptx"};
static const char *const screenings[] = {"none", "folded", "wide"};
static const char *const places[] = {"faces", "list"};

static const char *const pairs[] = {
    "coulomb",       "shifted",    "taylor2",    "taylor3", "taylor4", "yukawa", "distance-dielectric",
    "lennard-jones", "buckingham", "expression", "inside",  "tested"};

static int fastest_root(const dev_info *info)
{
    return info->quirks & DEV_QUIRK_PTX      ? LEY_ROOT_PTX
           : info->quirks & DEV_QUIRK_AVX512 ? LEY_ROOT_AVX512
                                             : LEY_ROOT_NATIVE;
}

static int fastest_exp(const dev_info *info)
{
    return info->quirks & DEV_QUIRK_PTX    ? LEY_EXP_PTX
           : info->device_class == DEV_CPU ? LEY_EXP_POLYNOMIAL
                                           : LEY_EXP_NATIVE;
}

/* Made up: every recipe is good enough, and one of each kind is fastest. `fast_fma`: the
 * multipliers are fast enough to take a share of the roots, or of the exponentials. */
static calibration made_up(int best_root, int best_exp, bool fast_fma)
{
    calibration c = {.fma_per_s = fast_fma ? 1e13 : 1e12};
    for (int root = 0; root < LEY_ROOT_COUNT; root++) {
        c.root_error[root] = 3e-7;
        c.roots_per_s[root] = root == best_root ? 1e12 : 1e11;
    }
    for (int exp = 0; exp < LEY_EXP_COUNT; exp++) {
        c.exp_error[exp] = 3e-7;
        c.exps_per_s[exp] = exp == best_exp ? 1e12 : 1e11;
    }
    return c;
}

static calibration usual(const dev_info *info, bool fast_fma)
{
    return made_up(fastest_root(info), fastest_exp(info), fast_fma);
}

/* Whether these options come for the first time: several wishes lead to one kernel. */
static bool is_new(const char *options)
{
    static char seen[MAX_SEEN][MAX_OPTIONS];
    static size_t count;
    for (size_t i = 0; i < count; i++)
        if (strcmp(seen[i], options) == 0)
            return false;
    if (count == MAX_SEEN) {
        fprintf(stderr, "offline_specs: more than %d specifications\n", MAX_SEEN);
        exit(1);
    }
    snprintf(seen[count++], MAX_OPTIONS, "%s", options);
    return true;
}

/* ---- A function a kernel --------------------------------------------------------------------- */

/* What one wish leads to, unless the device refuses it. A tile shape other than that of large
 * lattices is told in the name. */
static void print_dcs_choice(const dev_info *info, const calibration *c, const dcs_wish *wish)
{
    dcs_choice choice;
    char options[MAX_OPTIONS], share[32] = "", shape[64] = "";
    if (tuning_dcs(info, c, wish, &choice, NULL) != LEY_OK)
        return;
    const dcs_spec *s = &choice.spec;
    tuning_dcs_options(s, options, sizeof options);
    if (!is_new(options))
        return;
    if (s->newton_roots > 0)
        snprintf(share, sizeof share, "+newton%d", s->newton_roots);
    if (wish->n_x != LARGE || wish->n_y != LARGE)
        snprintf(shape, sizeof shape, "-%dx%d-%dx%d", s->wg_x, s->wg_y, s->ux, s->uy);
    printf("dcs %s-%s-%s%s%s %s\n", choice.variant, sums[s->sum], roots[s->root], share, shape, options);
}

/* Every tile shape that some lattice makes planning choose. */
static void print_dcs_shapes(const dev_info *info, const calibration *c, dcs_wish wish)
{
    for (wish.n_y = 8; wish.n_y <= LARGEST_SHAPE; wish.n_y += 8)
        for (wish.n_x = 8; wish.n_x <= LARGEST_SHAPE; wish.n_x += 8)
            print_dcs_choice(info, c, &wish);
}

/* By default: each sum in all shapes, standard maths, every root, with and without a share for the
 * multipliers. Else every variant with every sum beside. */
static void print_dcs(const dev_info *info, depth deep)
{
    const calibration fast_fma = usual(info, true), slow_fma = usual(info, false);
    const char *variant;
    for (int sum = LEY_SPEC_SUM_FLOAT; sum <= LEY_SPEC_SUM_DOUBLE; sum++) {
        dcs_wish wish = {.math = TUNING_AUTO, .sum = sum, .n_x = LARGE, .n_y = LARGE};
        print_dcs_choice(info, &fast_fma, &wish);
        print_dcs_choice(info, &slow_fma, &wish);
        for (size_t i = 0; deep > FEW && (variant = tuning_dcs_variant(i)) != NULL; i++) {
            wish.variant = variant;
            print_dcs_choice(info, &fast_fma, &wish);
        }
        wish.variant = NULL;
        print_dcs_shapes(info, &fast_fma, wish);
        wish.n_x = wish.n_y = LARGE;
        wish.math = TUNING_STANDARD;
        print_dcs_choice(info, &fast_fma, &wish);
    }
    for (int root = 0; root < LEY_ROOT_COUNT; root++) {
        const calibration c = made_up(root, fastest_exp(info), true);
        const dcs_wish wish = {.math = TUNING_AUTO, .n_x = LARGE, .n_y = LARGE};
        if (calibrate_root_possible(info, root, calibrate_width(info)))
            print_dcs_choice(info, &c, &wish);
    }
}

/* What one wish leads to, unless the device refuses it. */
static void print_mdh_choice(const dev_info *info, const calibration *c, const mdh_wish *wish)
{
    mdh_choice choice;
    char options[MAX_OPTIONS], exp[32] = "", share[32] = "", shape[64] = "";
    if (tuning_mdh(info, c, wish, &choice, NULL) != LEY_OK)
        return;
    const mdh_spec *s = &choice.spec;
    tuning_mdh_options(s, options, sizeof options);
    if (!is_new(options))
        return;
    if (s->screening != LEY_SCREENING_NONE)
        snprintf(exp, sizeof exp, "-%s", exps[s->exp]);
    if (s->polynomial_exps > 0)
        snprintf(share, sizeof share, "+polynomial%d", s->polynomial_exps);
    if (wish->n_a != LARGE || wish->n_b != LARGE)
        snprintf(shape, sizeof shape, "-%dx%d", s->ux, s->uy);
    printf("mdh mdh-%s-%s-%s-%s-%s%s%s%s %s\n", choice.variant, places[s->points], screenings[s->screening],
           sums[s->sum], roots[s->root], exp, share, shape, options);
}

/* Every sum and screening, for faces and for a list. */
static void print_mdh_variant(const dev_info *info, const calibration *c, const char *variant)
{
    mdh_wish wish = {.variant = variant, .math = TUNING_AUTO, .n_a = LARGE, .n_b = LARGE};
    for (wish.sum = LEY_SPEC_SUM_FLOAT; wish.sum <= LEY_SPEC_SUM_DOUBLE; wish.sum++)
        for (wish.screening = LEY_SCREENING_NONE; wish.screening <= LEY_SCREENING_WIDE; wish.screening++)
            for (wish.points = LEY_POINTS_FACES; wish.points <= LEY_POINTS_LIST; wish.points++)
                print_mdh_choice(info, c, &wish);
}

/* Every recipe, with the fastest of the other kind beside it. */
static void print_mdh_recipes(const dev_info *info, mdh_wish wish)
{
    const int width = calibrate_width(info);
    for (int root = 0; root < LEY_ROOT_COUNT; root++) {
        const calibration c = made_up(root, fastest_exp(info), true);
        if (calibrate_root_possible(info, root, width))
            print_mdh_choice(info, &c, &wish);
    }
    for (int exp = 0; exp < LEY_EXP_COUNT; exp++) {
        const calibration c = made_up(fastest_root(info), exp, true);
        if (calibrate_exp_possible(info, exp, width))
            print_mdh_choice(info, &c, &wish);
    }
}

/* By default: the default variant, its shapes, standard maths, and no share for the multipliers.
 * Else with every recipe. All: every variant too, and every recipe in every kind of screening that
 * has it. */
static void print_mdh(const dev_info *info, depth deep)
{
    const calibration fast_fma = usual(info, true), slow_fma = usual(info, false);
    const char *variant;
    mdh_wish wish = {.math = TUNING_AUTO, .screening = LEY_SCREENING_FOLDED, .n_a = LARGE, .n_b = LARGE};
    print_mdh_variant(info, &fast_fma, NULL);
    print_mdh_choice(info, &slow_fma, &wish);
    for (size_t i = 0; deep == ALL && (variant = tuning_mdh_variant(i)) != NULL; i++)
        print_mdh_variant(info, &fast_fma, variant);
    for (wish.points = LEY_POINTS_FACES; deep == ALL && wish.points <= LEY_POINTS_LIST; wish.points++)
        for (wish.screening = LEY_SCREENING_FOLDED; wish.screening <= LEY_SCREENING_WIDE; wish.screening++)
            print_mdh_recipes(info, wish);
    wish.points = LEY_POINTS_FACES;
    wish.screening = LEY_SCREENING_FOLDED;
    if (deep > FEW)
        print_mdh_recipes(info, wish);
    for (wish.n_b = 1; wish.n_b <= LARGEST_SHAPE; wish.n_b++)
        for (wish.n_a = 1; wish.n_a <= LARGEST_SHAPE; wish.n_a++)
            print_mdh_choice(info, &fast_fma, &wish);
    wish.n_a = wish.n_b = LARGE;
    wish.math = TUNING_STANDARD;
    print_mdh_choice(info, &fast_fma, &wish);
}

/* What one wish leads to, unless the device refuses it. */
static void print_cutoff_choice(const dev_info *info, const calibration *c, const cutoff_wish *wish)
{
    cutoff_choice choice;
    char options[MAX_OPTIONS];
    if (tuning_cutoff(info, c, wish, &choice, NULL) != LEY_OK)
        return;
    const cutoff_spec *s = &choice.spec;
    tuning_cutoff_options(s, options, sizeof options);
    if (is_new(options))
        printf("cutoff cutoff-%s-%s-%s-%s-%s %s\n", choice.variant, pairs[s->pair],
               s->store == LEY_STORE_ROWS ? "rows" : "regions", sums[s->total], roots[s->root], options);
}

/* By default: the default variant in every sum and both orders, with standard maths too. Else with
 * every pair function but an expression, whose source is the user's; and every variant. All: every
 * variant in every sum, and every root. */
static void print_cutoff(const dev_info *info, depth deep)
{
    const calibration fast = usual(info, true);
    const char *variant = NULL;
    cutoff_wish wish = {.math = TUNING_STANDARD, .pair = LEY_PAIR_SPEC_TAYLOR2, .store = LEY_STORE_ROWS, .depth = 8};
    print_cutoff_choice(info, &fast, &wish);
    wish.math = TUNING_AUTO;
    for (wish.store = LEY_STORE_REGIONS; wish.store <= LEY_STORE_ROWS; wish.store++)
        for (wish.sum = LEY_SPEC_SUM_FLOAT; wish.sum <= LEY_SPEC_SUM_DOUBLE; wish.sum++)
            print_cutoff_choice(info, &fast, &wish);
    wish.store = LEY_STORE_ROWS;
    for (size_t i = 0; deep > FEW && (i == 0 || variant != NULL); i++) {
        for (wish.pair = 0; wish.pair <= LEY_PAIR_SPEC_TESTED; wish.pair++)
            for (wish.sum = LEY_SPEC_SUM_FLOAT; wish.sum <= (deep == ALL ? LEY_SPEC_SUM_DOUBLE : LEY_SPEC_SUM_FLOAT);
                 wish.sum++)
                if (wish.pair == LEY_PAIR_SPEC_TAYLOR2 ||
                    (wish.pair != LEY_PAIR_SPEC_EXPRESSION && i == 0 && wish.sum == LEY_SPEC_SUM_FLOAT))
                    print_cutoff_choice(info, &fast, &wish);
        wish.variant = variant = tuning_cutoff_variant(i); /* first the default */
    }
    wish = (cutoff_wish){.math = TUNING_AUTO, .pair = LEY_PAIR_SPEC_TAYLOR2, .store = LEY_STORE_ROWS, .depth = 8};
    for (int root = 0; deep == ALL && root < LEY_ROOT_COUNT; root++) {
        const calibration c = made_up(root, fastest_exp(info), true);
        if (calibrate_root_possible(info, root, calibrate_width(info)))
            print_cutoff_choice(info, &c, &wish);
    }
}

/* Beside mdh: in every sum. */
static void print_sum_parts(const dev_info *info, depth deep)
{
    (void)deep;
    for (int sum = LEY_SPEC_SUM_FLOAT; sum <= LEY_SPEC_SUM_DOUBLE; sum++) {
        const mdh_spec spec = {.sum = sum};
        char options[MAX_OPTIONS];
        tuning_mdh_sum_options(&spec, options, sizeof options);
        if (sum != LEY_SPEC_SUM_DOUBLE || info->has_double)
            printf("sum_parts sum_parts-%s %s\n", sums[sum], options);
    }
}

/* As calibration builds them: every root the device can be asked for. */
static void print_roots(const dev_info *info, depth deep)
{
    const int width = calibrate_width(info);
    (void)deep;
    for (int root = 0; root < LEY_ROOT_COUNT; root++)
        if (calibrate_root_possible(info, root, width))
            printf("roots roots-%s -DLEY_SUM=0 -DLEY_WIDTH=%d -DLEY_ROOT=%d\n", roots[root], width, root);
}

/* And every exponential. */
static void print_exps(const dev_info *info, depth deep)
{
    const int width = calibrate_width(info);
    (void)deep;
    for (int exp = 0; exp < LEY_EXP_COUNT; exp++)
        if (calibrate_exp_possible(info, exp, width))
            printf("exps exps-%s -DLEY_SUM=0 -DLEY_WIDTH=%d -DLEY_ROOT=0 -DLEY_EXP=%d\n", exps[exp], width, exp);
}

static void print_multiply_adds(const dev_info *info, depth deep)
{
    (void)deep;
    printf("multiply_adds multiply_adds -DLEY_SUM=0 -DLEY_WIDTH=%d -DLEY_ROOT=0\n", calibrate_width(info));
}

/* As binning builds them: its arithmetic is the host's, double. */
static void print_link_atoms(const dev_info *info, depth deep)
{
    (void)deep;
    if (info->has_double)
        printf("link_atoms link_atoms -DLEY_SUM=%d -DLEY_WIDTH=1 -DLEY_ROOT=0\n", LEY_SPEC_SUM_DOUBLE);
}

static void print_fill_bins(const dev_info *info, depth deep)
{
    (void)info, (void)deep;
    printf("fill_bins fill_bins -DLEY_SUM=%d -DLEY_WIDTH=1 -DLEY_ROOT=0\n", LEY_SPEC_SUM_FLOAT);
}

/* The judge: every sum. */
static void print_reference(const dev_info *info, depth deep)
{
    char options[MAX_OPTIONS];
    (void)deep;
    for (int term = LEY_PAIR_SPEC_COULOMB; info->has_double && term < LEY_PAIR_SPEC_EXPRESSION; term++) {
        reference_kernel_options(info, term, options, sizeof options);
        printf("reference reference-%s %s\n", pairs[term], options);
    }
    for (int term = LEY_TERM_DCS; info->has_double && term <= LEY_TERM_MDH; term++) {
        reference_kernel_options(info, term, options, sizeof options);
        printf("reference reference-%s %s\n", term == LEY_TERM_DCS ? "dcs" : "mdh", options);
    }
}

static void print_local_reads(const dev_info *info, depth deep)
{
    (void)deep;
    printf("local_reads local_reads -DLEY_SUM=0 -DLEY_WIDTH=%d -DLEY_ROOT=0\n", calibrate_width(info));
}

/* A new kernel needs a row here, and a function that prints its specifications; offline.sh learns
 * of it from the binary. */
static const struct {
    const char *kernel;
    void (*print)(const dev_info *info, depth deep);
} printers[] = {
    {"dcs", print_dcs},
    {"roots", print_roots},
    {"multiply_adds", print_multiply_adds},
    {"local_reads", print_local_reads},
    {"mdh", print_mdh},
    {"sum_parts", print_sum_parts},
    {"exps", print_exps},
    {"cutoff", print_cutoff},
    {"link_atoms", print_link_atoms},
    {"fill_bins", print_fill_bins},
    {"reference", print_reference},
};

/* ---- The commands ---------------------------------------------------------------------------- */

/* The binary's kernels, by their files in cl/; false behind the last. */
static bool next_kernel(size_t *at, char name[64])
{
    while (embedded_kernels[*at].file != NULL) {
        const char *file = embedded_kernels[(*at)++].file, *dot = strrchr(file, '.');
        if (dot != NULL && strcmp(dot, ".cl") == 0) {
            snprintf(name, 64, "%.*s", (int)(dot - file), file);
            return true;
        }
    }
    return false;
}

static int print_names(void)
{
    char name[64];
    for (size_t at = 0; next_kernel(&at, name);)
        printf("%s\n", name);
    return 0;
}

static int print_kernels(const dev_info *info, depth deep)
{
    char name[64];
    for (size_t at = 0; next_kernel(&at, name);) {
        size_t i = 0;
        while (i < sizeof printers / sizeof printers[0] && strcmp(printers[i].kernel, name) != 0)
            i++;
        if (i == sizeof printers / sizeof printers[0]) {
            fprintf(stderr, "tests/offline_specs.c has no row for kernel %s in printers[]\n", name);
            return 1;
        }
        printers[i].print(info, deep);
    }
    return 0;
}

static int print_cuda(int capability, depth deep)
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
static int print_opencl(bool is_cpu, depth deep)
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
    const depth deep = strcmp(last, "few") == 0 ? FEW : strcmp(last, "all") == 0 ? ALL : MORE;
    const int count = argc - (deep != MORE);
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
