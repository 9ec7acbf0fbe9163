/* Every check, a row each. The first one is that the device opens. */
#include "check/internal.h"
#include "check/transforms.h"

/* clang-format off */
#define FUNCTION(word, function, text) \
    {{"functions", word, text}, 0, check_function, &(const int){LEY_FUNCTION_##function}}
#define KERNEL(kernel, needs, text) {{"kernels", kernel, text}, needs, check_kernel, NULL}
#define MEASURING(kernel, text) {{"kernels", kernel, text}, 0, check_measuring_kernel, NULL}
#define TRANSFORM(word, text, ...) \
    {{"transforms", word, text}, 0, check_transforms, &(const transform_sizes){__VA_ARGS__}}
/* clang-format on */

const check_row check_table[] = {
    {{"driver", "opening", "the device opens"}, 0, NULL, NULL},
    {{"builds", "options", "options of builds count, each time anew"}, 0, check_options, NULL},
    {{"builds", "logs", "the log of a broken kernel names what is wrong"}, 0, check_logs, NULL},
    {{"builds", "binaries", "of a program's binary comes the same program"},
     CHECK_NEEDS_BINARIES,
     check_binaries,
     NULL},
    {{"layout", "structs", "types are as large, and fields lie where they do, as on the host"}, 0, check_structs, NULL},
    {{"layout", "arguments", "arguments of every kind arrive"}, 0, check_arguments, NULL},
    {{"memory", "local", "local memory up to its limit, and barriers"}, 0, check_local_memory, NULL},
    {{"memory", "constant", "constant memory up to its limit"}, 0, check_constant_memory, NULL},
    {{"memory", "offsets", "writes, copies, fills and reads at any place"}, 0, check_offsets, NULL},
    {{"memory", "allocations", "buffers up to the largest one"}, 0, check_allocations, NULL},
    {{"memory", "far", "kernels write beyond 2^31 and 2^32 bytes"}, 0, check_far_places, NULL},
    {{"launches", "groups", "work-items of groups of any size know their numbers"}, 0, check_groups, NULL},
    {{"launches", "order", "what is begun in order happens in order"}, 0, check_order, NULL},
    {{"launches", "stamps", "time stamps are in order, and those of the host's clock"}, 0, check_stamps, NULL},
    {{"launches", "queues", "what one queue reads waits for what the other one computes"}, 0, check_two_queues, NULL},
    FUNCTION("rsqrt", RSQRT, "1/sqrt(x): 2 ulp"),
    FUNCTION("sqrt", SQRT, "sqrt(x): 3 ulp, of doubles correctly rounded"),
    FUNCTION("exp", EXP, "e^x: 3 ulp"),
    FUNCTION("exp2", EXP2, "2^x: 3 ulp"),
    FUNCTION("log", LOG, "ln x: 3 ulp"),
    FUNCTION("division", DIVIDE, "x/y: 2.5 ulp, of doubles correctly rounded"),
    FUNCTION("fma", FMA, "x y + z: correctly rounded"),
    FUNCTION("native_rsqrt", NATIVE_RSQRT, "the device's own 1/sqrt(x): 1e-3"),
    FUNCTION("native_sqrt", NATIVE_SQRT, "the device's own sqrt(x): 1e-3"),
    FUNCTION("native_exp", NATIVE_EXP, "the device's own e^x: 1e-3"),
    FUNCTION("native_exp2", NATIVE_EXP2, "the device's own 2^x: 1e-3"),
    FUNCTION("native_divide", NATIVE_DIVIDE, "the device's own x/y: 1e-3"),
    FUNCTION("native_recip", NATIVE_RECIP, "the device's own 1/x: 1e-3"),
    {{"specials", "denormals", "denormals are kept where the driver says so"}, 0, check_denormals, NULL},
    {{"specials", "infinities", "infinities come and go as they should"}, 0, check_infinities, NULL},
    {{"specials", "no-numbers", "what is no number stays so"}, 0, check_no_numbers, NULL},
    TRANSFORM("small", "8 x 6 x 4 values", .n = {8, 6, 4}),
    TRANSFORM("odd", "odd sizes", .n = {15, 9, 21}),
    TRANSFORM("prime", "prime sizes", .n = {11, 13, 7}),
    TRANSFORM("even", "even sizes, in place", .n = {48, 40, 36}, .in_place = true, .quick_all = true),
    TRANSFORM("large", "128 x 128 x 128 values", .n = {128, 128, 128}, .in_place = true),
    TRANSFORM("padded", "an eighth of the values is not zero", .n = {64, 64, 64}, .filled = {32, 32, 32},
              .in_place = true),
    MEASURING("roots", "recipes for 1/sqrt(x)"),
    MEASURING("exps", "recipes for 2^x"),
    MEASURING("multiply_adds", "multiply-adds"),
    MEASURING("local_reads", "reads from local memory"),
    MEASURING("copies", "copies"),
    KERNEL("reference", CHECK_NEEDS_DOUBLE, "the judge in double precision"),
    KERNEL("dcs", 0, "direct Coulomb summation"),
    KERNEL("mdh", 0, "Multiple Debye-Hueckel, and potentials and fields at points"),
    KERNEL("sum_parts", 0, "sums of the parts of these"),
    KERNEL("cutoff", 0, "short-range sums on a map"),
    KERNEL("point_pairs", 0, "short-range sums at points"),
    KERNEL("link_atoms", CHECK_NEEDS_DOUBLE, "atoms into bins: lists"),
    KERNEL("fill_bins", CHECK_NEEDS_DOUBLE, "atoms into bins: slots"),
    KERNEL("lattice", 0, "the lattice cutoff"),
    KERNEL("spread_count", CHECK_NEEDS_DOUBLE, "atoms into a lattice's bins: how many"),
    KERNEL("spread_list", CHECK_NEEDS_DOUBLE, "atoms into a lattice's bins: which"),
    KERNEL("spread_place", CHECK_NEEDS_DOUBLE, "atoms into a lattice's bins: where"),
    KERNEL("long_place", CHECK_NEEDS_DOUBLE, "atoms for long waves into bins"),
    KERNEL("long_spread", CHECK_NEEDS_DOUBLE, "charges for long waves: of each bin"),
    KERNEL("long_gather", CHECK_NEEDS_DOUBLE, "charges for long waves: of each node"),
    KERNEL("anterpolate", 0, "charges from atoms to nodes"),
    KERNEL("restriction", 0, "charges to a coarser lattice"),
    KERNEL("prolongation", 0, "potentials to a finer lattice"),
    KERNEL("interpolation", 0, "potentials from nodes to a map"),
    KERNEL("interpolation_gather", 0, "potentials from nodes to points in any directions"),
    KERNEL("interpolation_list", 0, "potentials from nodes to points of a list"),
    KERNEL("influence", 0, "the influence function"),
};
const size_t check_table_count = sizeof check_table / sizeof *check_table;
