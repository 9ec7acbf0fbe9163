/* Faults of tests/fake_icd, and which checks each of them makes fail. A check without a fault here
 * is one that nobody has seen fail: test_check_faults refuses it. */
#ifndef LEY_CHECK_FAULTS_H
#define LEY_CHECK_FAULTS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct check_fault {
    const char *icd;       /* FAKE_ICD */
    const char *from, *to; /* of rewritten sources, or NULL */
    const char *fails;     /* checks that fail, a blank between them; "*": any one of them */
    const char *may;       /* beside these, checks that happen to fail as well, with any that a word with '*' begins;
                              or NULL */
    bool is_quick;         /* tried at level quick, too */
} check_fault;

#define REWRITE(kernel) "fault=rewrite,kernel=" kernel
#define FUNCTION_BY(function, to, row, quick) \
    { \
        REWRITE("functions"), "case LEY_FUNCTION_" function ": f = ", "case LEY_FUNCTION_" function ": f = " to, \
            "functions/" row, "specials/*", quick \
    }

static const check_fault check_faults[] = {
    /* Drivers. */
    {"fault=context", NULL, NULL, "driver/opening", NULL, true},
    {"fault=stale-build", NULL, NULL, "builds/options builds/binaries",
     "launches/groups functions/* kernels/* specials/*", false},
    {"fault=stale-binary", NULL, NULL, "builds/binaries", NULL, true},
    {"fault=no-log", NULL, NULL, "builds/logs", NULL, true},
    {"fault=arguments,kernel=structs", NULL, NULL, "layout/arguments", NULL, true},
    {"fault=odd-offsets", NULL, NULL, "memory/offsets", NULL, true},
    {"fault=large", NULL, NULL, "memory/allocations memory/far", NULL, false},
    {"fault=wide-copies", NULL, NULL, "launches/order memory/wide", NULL, true},
    {"fault=far-copies", NULL, NULL, "memory/wide", NULL, false},
    {"fault=wide-fills", NULL, NULL, "memory/wide", NULL, false},
    {"fault=shifted-stamps", NULL, NULL, "launches/stamps", NULL, true},
    {"fault=no-stamps", NULL, NULL, "launches/stamps", NULL, false},
    {"fault=dropped-waits,kernel=multiply_adds", NULL, NULL, "launches/queues", "kernels/multiply_adds", false},
    {"fault=native", NULL, NULL,
     "transforms/small transforms/odd transforms/prime transforms/even transforms/large transforms/padded", NULL,
     false},
    {"fault=memory,at=40", NULL, NULL, "*", "*", false},
    {"fault=garbage,kernel=copies", NULL, NULL, "launches/order kernels/copies",
     "functions/* kernels/* specials/* launches/* layout/* memory/* transforms/*", false},
    {"fault=garbage,kernel=influence,at=3", NULL, NULL, "kernels/influence", NULL, true},
    {"fault=last-group,kernel=copies", NULL, NULL, "kernels/copies launches/order", NULL, false},
    {"fault=last-group,kernel=dcs", NULL, NULL, "kernels/dcs", NULL, true},
    {"fault=barriers,kernel=local_words", NULL, NULL, "memory/local", NULL, true},
    {"fault=barriers", NULL, NULL, "memory/local", "kernels/* transforms/*", false},

    /* Compilers. */
    {REWRITE("structs"), "(int)sizeof(placed)", "(int)sizeof(placed) + 16", "layout/structs", NULL, true},
    {REWRITE("structs"), "= OFFSET_OF(s, field)", "= OFFSET_OF(s, field) + (at == 20 ? 4 : 0)", "layout/structs", NULL,
     false},
    {REWRITE("structs"), "values[20] = many.sf", "values[20] = many.se", "layout/arguments", NULL, false},
    {REWRITE("structs"), "LEY_COUNT_BITS((unsigned)(i))", "LEY_COUNT_BITS((unsigned)(i) & 0x7fffffff)",
     "functions/integers", NULL, true},
    {REWRITE("structs"), "(gm_row[0].y) ^ 1", "(gm_row[0].y) & ~1", "functions/integers", NULL, false},
    {REWRITE("structs"), "(float)(one +", "(float)(one + 0 *", "functions/integers", NULL, false},
    {REWRITE("structs"), "(int)floor(x)", "(int)(x)", "functions/integers", NULL, false},
    {REWRITE("local_words"), "sm_words[i] = high;", "sm_words[i] = i == LEY_WORDS / 2 - 1 ? low : high;",
     "memory/local", NULL, false},
    {REWRITE("constant_words"), "[n_words - 1 - i]", "[n_words - 1 - (i > 16000 ? 16000 : i)]", "memory/constant", NULL,
     true},
    {REWRITE("work_items"), "(size_t)first * LEY_FAR_UNIT", "((size_t)(first * LEY_FAR_UNIT * 16) & 0xffffff) / 16",
     "memory/far", NULL, true},
    {REWRITE("work_items"), "LEY_GROUPS(0) + LEY_GROUP_ID(0)", "LEY_GROUPS(0) + (LEY_GROUP_ID(0) & 0xffff)",
     "launches/groups", NULL, true},
    {REWRITE("work_items"), "(int)LEY_GLOBAL_ID(2), group", "(int)LEY_GLOBAL_ID(2) / 2 * 2, group", "launches/groups",
     NULL, false},
    {REWRITE("functions"), "gm_out[i] = f;", "gm_out[i] = fabs(f) < 1.17549435e-38f ? 0 * f : f;", "specials/denormals",
     NULL, false},
    {REWRITE("functions"), "gm_out[i] = f;", "gm_out[i] = isinf(f) ? (real)3e38f : f;", "specials/infinities", NULL,
     false},
    {REWRITE("functions"), "gm_out[i] = f;", "gm_out[i] = isnan(f) ? (real)0 : f;", "specials/no-numbers", NULL, true},
    {REWRITE("functions"), "f = LEY_MAX(x, y)", "f = x > y ? x : y", "specials/no-numbers", NULL, false},
    {REWRITE("functions"), "f = LEY_MIN(x, y)", "f = x < y ? x : y", "specials/no-numbers", NULL, false},
    {REWRITE("functions"), "f = LEY_MIN(x, y)", "f = LEY_MIN(x, (real)3 + 0 * y)", "specials/infinities", "specials/*",
     false},
    FUNCTION_BY("RSQRT", "(real)1.000001f * ", "rsqrt", true),
    FUNCTION_BY("SQRT", "(real)1.000001f * ", "sqrt", false),
    FUNCTION_BY("EXP", "(real)1.000001f * ", "exp", false),
    FUNCTION_BY("EXP2", "(real)1.000001f * ", "exp2", false),
    FUNCTION_BY("LOG", "(real)1.000001f * ", "log", false),
    FUNCTION_BY("DIVIDE", "(real)1.000001f * ", "division", false),
    FUNCTION_BY("FMA", "(real)1.000001f * ", "fma", false),
    FUNCTION_BY("ERF", "(real)1.00001f * ", "erf", false),
    FUNCTION_BY("ERFC", "(real)1.00001f * ", "erfc", false),
    FUNCTION_BY("SIN", "(real)1.000001f * ", "sin", false),
    FUNCTION_BY("COS", "(real)1.000001f * ", "cos", false),
    FUNCTION_BY("TANH", "(real)1.000001f * ", "tanh", false),
    FUNCTION_BY("POW", "(real)1.00001f * ", "pow", false),
    FUNCTION_BY("NATIVE_RSQRT", "1.01f * ", "native_rsqrt", false),
    FUNCTION_BY("NATIVE_SQRT", "1.01f * ", "native_sqrt", false),
    FUNCTION_BY("NATIVE_EXP", "1.01f * ", "native_exp", false),
    FUNCTION_BY("NATIVE_EXP2", "1.01f * ", "native_exp2", false),
    FUNCTION_BY("NATIVE_DIVIDE", "1.01f * ", "native_divide", false),
    FUNCTION_BY("NATIVE_RECIP", "1.01f * ", "native_recip", false),

    /* Kernels. */
    {"fault=lanes", NULL, NULL, "kernels/dcs", "kernels/*", false},
    {REWRITE("roots"), "= LEY_ROOT_SCALE * ley_unscaled_root(x[k]);",
     "= 1.001f * LEY_ROOT_SCALE * ley_unscaled_root(x[k]);", "kernels/roots", NULL, false},
    {REWRITE("exps"), "x[k] = ley_exp2(-x[k]);", "x[k] = 1.001f * ley_exp2(-x[k]);", "kernels/exps", NULL, false},
    {REWRITE("multiply_adds"), "= x[k];", "= x[k] + (k == 15 ? 0.001f : 0);", "kernels/multiply_adds launches/queues",
     NULL, false},
    {REWRITE("local_reads"), "sum[k].z + sum[k].w", "sum[k].z + sum[k].z * (k == 7 ? 1.001f : 1)",
     "kernels/local_reads", NULL, false},
    {REWRITE("copies"), "t < times; t++", "t < times - (times > 1); t++", "kernels/copies", NULL, false},
    {REWRITE("reference"), "gm_sums[group] = sum;", "gm_sums[group] = sum * (group == 2 ? 1.0001 : 1);",
     "kernels/reference", NULL, false},
    {REWRITE("influence"), "f.y *= g;", "f.y *= g * (y > 8 ? 1.001f : 1);", "kernels/influence", NULL, false},
    {REWRITE("sum_parts"), "gm_sums[i] = sum;", "gm_sums[i] = i >= 64 ? 2 * sum : sum;", "kernels/sum_parts",
     "kernels/mdh", false},
    {REWRITE("link_atoms"), "(size_t)n_atoms)", "(size_t)n_atoms - 1)", "kernels/link_atoms", NULL, false},
    {REWRITE("fill_bins"), "if (bin >= (size_t)bins)",
     "if (bin + 1 == (size_t)bins)\n return;\n if (bin >= (size_t)bins)", "kernels/fill_bins", "kernels/link_atoms",
     false},
    {REWRITE("spread_count"), "(size_t)n_atoms)", "(size_t)n_atoms - 1)", "kernels/spread_count",
     "kernels/spread_list kernels/spread_place kernels/long_*", false},
    {REWRITE("spread_list"), "= (int)i;", "= (int)i - (i == 77);", "kernels/spread_list",
     "kernels/spread_place kernels/long_*", false},
    {REWRITE("long_place"), "(h.y + 0.5)", "(h.y + 0.5) * (i == 77 ? 1.001 : 1)", "kernels/long_place",
     "kernels/long_spread kernels/long_gather", false},
    {REWRITE("long_spread"), "+ item] = sum[z];", "+ item] = sum[z] * (z == 3 ? 1.001 : 1);", "kernels/long_spread",
     "kernels/long_gather", false},
    {REWRITE("long_gather"), "gm_values[i] = sum;", "gm_values[i] = sum * 1.001;", "kernels/long_gather", NULL, false},
    {REWRITE("spread_place"), "= h.corner;", "= h.corner + (i == 77);", "kernels/spread_place", NULL, false},
    {REWRITE("interpolation"), "(int)LEY_GROUP_ID(0) * LEY_BLOCK_X,",
     "(int)LEY_GROUP_ID(0) * LEY_BLOCK_X + (LEY_GROUP_ID(0) > 0 ? 1 : 0),", "kernels/interpolation", NULL, false},
};
enum { CHECK_FAULTS = sizeof check_faults / sizeof *check_faults };

/* Kernels of which planted_faults.h has a fault that shows in what quick checks run: the first one
 * in its tables with these words. */
typedef struct kernel_fault {
    const char *kernel, *what, *may;
} kernel_fault;

static const kernel_fault kernel_faults[] = {
    {"dcs", "all by 1e-4", NULL},
    {"mdh", "all by 1e-4", NULL},
    {"cutoff", "all by 1e-4", NULL},
    {"lattice", "all by 1e-4", NULL},
    {"point_pairs", "all by 1e-3", NULL},
    {"interpolation_gather", "a weight by 1e-3", NULL},
    {"interpolation_list", "a weight by 1e-3", NULL},
    {"anterpolate", "a weight by 1e-3", NULL},
    {"restriction", "a weight by 1e-3", NULL},
    {"prolongation", "a weight by 1e-3", NULL},
};
enum { KERNEL_FAULTS = sizeof kernel_faults / sizeof *kernel_faults };

#endif
