/* Planning without a card: launches of every kernel variant within the limits of every
 * architecture. What looks for faults says what is wrong in a text, empty when nothing is, so that
 * a test can hand it what is. */
#include "found_fault.h"

#include "cuda/architectures.h"
#include "cuda/internal.h"
#include "engine/specifications.h"
#include "error.h"
#include "layout/patches.h"
#include "methods/dcs/kernel.h"
#include "methods/mdh/kernel.h"
#include "methods/mdh/run.h"
#include "methods/registry.h"

enum { MAX_ARGUMENTS = 16, LARGEST = 4096, DOUBLE_SINCE = 13, COPIES_AHEAD_SINCE = 80 };

static void none(const fault *found)
{
    if (found->text[0] != '\0')
        fail_msg("%s", found->text);
}

/* ---- Launches -------------------------------------------------------------------------------- */

/* No recipe is faster than another one. */
static calibration made_up(void)
{
    return specifications_facts(-1, -1, true);
}

/* Before Fermi a kernel's arguments lie in shared memory too: 16 bytes and at most 256. */
static size_t argument_bytes(const cuda_architecture *a)
{
    return a->capability < 20 ? 272 : 0;
}

static size_t atom_bytes(const dcs_spec *spec)
{
    return spec->sum == LEY_SPEC_SUM_DOUBLE ? 32 : 16;
}

static void find_excess(const cuda_architecture *a, const char *variant, const dcs_spec *spec, int64_t n, fault *found)
{
    const int64_t tile_x = tuning_dcs_tile_x(spec), tile_y = tuning_dcs_tile_y(spec);
    const size_t threads = (size_t)spec->wg_x * (size_t)spec->wg_y;
    /* Beside the tile that is summed lies the next one, on its way, as it is stored: 32 bytes an
     * atom in every sum. */
    const size_t ahead = a->capability >= COPIES_AHEAD_SINCE ? (size_t)spec->tile * 32 : 0;
    const size_t staged =
        (size_t)spec->tile * atom_bytes(spec) + ((size_t)spec->tile + 31) / 32 * 4 + ahead + argument_bytes(a);
    const int64_t planes = (size_t)n < a->max_grid[2] ? n : (int64_t)a->max_grid[2]; /* what dcs.c asks of one launch */
    const size_t grid[3] = {(size_t)((n + tile_x - 1) / tile_x), (size_t)((n + tile_y - 1) / tile_y), (size_t)planes};
    if (threads < 1 || threads > a->max_threads || (size_t)spec->wg_x > a->max_block[0] ||
        (size_t)spec->wg_y > a->max_block[1])
        blame(found, "%s, %s: blocks of %d x %d threads", a->name, variant, spec->wg_x, spec->wg_y);
    if (planes < 1 || grid[0] > a->max_grid[0] || grid[1] > a->max_grid[1] || grid[2] > a->max_grid[2])
        blame(found, "%s, %s: a grid of %zu x %zu x %zu blocks", a->name, variant, grid[0], grid[1], grid[2]);
    if (spec->atoms == LEY_ATOMS_LOCAL && staged > a->shared_bytes)
        blame(found, "%s, %s: %zu bytes staged, %zu to be had", a->name, variant, staged, a->shared_bytes);
    if (spec->atoms == LEY_ATOMS_CONSTANT && 64 * atom_bytes(spec) > CUDA_CONSTANT_SYMBOL_BYTES)
        blame(found, "%s, %s: not even 64 atoms fit into constant memory", a->name, variant);
    /* The sums alone have to fit into a block's registers. */
    const size_t words = (size_t)(spec->ux * spec->uy) * (spec->sum == LEY_SPEC_SUM_FLOAT ? 1 : 2);
    if (words >= (size_t)a->thread_registers || words * threads > (size_t)a->registers)
        blame(found, "%s, %s: %zu threads of %zu words of sums", a->name, variant, threads, words);
}

/* Why it may be refused: a part of the message; NULL: it may not. */
static const char *refusal(const cuda_architecture *a, const char *variant, int sum)
{
    if (sum == LEY_SPEC_SUM_DOUBLE && a->capability < DOUBLE_SINCE)
        return "has no double precision";
    return strncmp(variant, "vector", 6) == 0 ? "is for CPU devices" : NULL;
}

static void check_plan(const cuda_architecture *a, const dev_info *info, const char *variant, int sum, int math,
                       int64_t n)
{
    const calibration c = made_up();
    const dcs_wish wish = {.variant = variant, .math = math, .sum = sum, .n_x = n, .n_y = n};
    dcs_choice choice;
    ley_error error = {0};
    ley_status status = tuning_dcs(info, &c, &wish, &choice, &error);
    const char *reason = variant != NULL ? refusal(a, variant, sum) : refusal(a, "", sum);
    if (reason == NULL) {
        assert_ok(status);
        fault found = {""};
        find_excess(a, choice.variant, &choice.spec, n, &found);
        none(&found);
        assert_true(choice.spec.sum == sum && choice.spec.width == 1);
        assert_true(variant == NULL || strcmp(choice.variant, variant) == 0);
        assert_true(choice.spec.newton_roots >= 0 && choice.spec.newton_roots <= choice.spec.ux * choice.spec.uy);
    } else {
        assert_int_equal(status, LEY_ERROR_NO_DEVICE);
        if (strstr(error.message, reason) == NULL) /* the schedule adds the device that it is of */
            fail_msg("%s, %s: refused with \"%s\"", a->name, variant != NULL ? variant : "default", error.message);
    }
    ley_error_clear(&error);
}

/* Of mdh: what host/methods/mdh.c and mdh_run.c ask of a launch. */
enum {
    MDH_SLAB_POINTS = 4 << 20,
    MDH_PARTS = 64,
    SUM_GROUP = 64,
    LEAST_GROUP = 64 /* points of the smallest work-group */
};

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* A slab's points: no more than fit into a grid, with a group for each patch that is not full. */
static int64_t mdh_most_points(const cuda_architecture *a)
{
    const int64_t fit = ((int64_t)a->max_grid[0] - PATCH_COUNT) * LEAST_GROUP;
    return fit < MDH_SLAB_POINTS ? fit : MDH_SLAB_POINTS;
}

/* A slab of n_b rows of n_a points of a face, with a little of every other patch; or a list of as
 * many points. */
static void find_mdh_excess(const cuda_architecture *a, const char *variant, const mdh_spec *spec, int64_t n_a,
                            int64_t n_b, fault *found)
{
    const bool is_list = spec->points == LEY_POINTS_LIST;
    const int64_t items = is_list ? ceil_div(n_a * n_b, spec->ux) : ceil_div(n_a, spec->ux) * ceil_div(n_b, spec->uy);
    const size_t threads = (size_t)spec->wg,
                 groups = (size_t)ceil_div(items, spec->wg) + (is_list ? 0 : PATCH_COUNT - 1);
    const size_t sum_groups = (size_t)ceil_div(n_a * n_b, SUM_GROUP),
                 radii = spec->screening == LEY_SCREENING_WIDE ? (size_t)spec->tile * 4 : 4;
    const size_t marks = ((size_t)spec->tile + 31) / 32 * 4; /* of near atoms */
    const size_t staged =
        (size_t)spec->tile * (spec->sum == LEY_SPEC_SUM_DOUBLE ? 32 : 16) + radii + marks + argument_bytes(a);
    if (threads < 1 || threads > a->max_threads || threads > a->max_block[0] || SUM_GROUP > a->max_block[0])
        blame(found, "%s, %s: blocks of %zu threads", a->name, variant, threads);
    if (groups > a->max_grid[0] || MDH_PARTS > a->max_grid[1])
        blame(found, "%s, %s: a grid of %zu x %d blocks", a->name, variant, groups, MDH_PARTS);
    if (sum_groups > a->max_grid[0])
        blame(found, "%s, %s: a grid of %zu blocks adds parts up", a->name, variant, sum_groups);
    if (spec->atoms == LEY_ATOMS_LOCAL && staged > a->shared_bytes)
        blame(found, "%s, %s: %zu bytes staged, %zu to be had", a->name, variant, staged, a->shared_bytes);
    /* As of dcs. The coordinates of a list's points in double do not fit beside them into 63
     * registers. */
    const size_t words = (size_t)(spec->ux * spec->uy) * (spec->sum == LEY_SPEC_SUM_FLOAT ? 1 : 2);
    if (words >= (size_t)a->thread_registers || words * threads > (size_t)a->registers)
        blame(found, "%s, %s: %zu threads of %zu words of sums", a->name, variant, threads, words);
}

/* What mdh must not do: shares where it has no exponentials to share, recipes that the device does
 * not take. */
static void check_mdh_spec(const dev_info *info, const mdh_spec *spec, const mdh_wish *wish)
{
    const bool may_share = spec->screening == LEY_SCREENING_FOLDED && spec->sum == LEY_SPEC_SUM_FLOAT;
    assert_true(spec->sum == wish->sum && spec->width == 1 && spec->screening == wish->screening &&
                spec->points == wish->points);
    assert_true(spec->points == LEY_POINTS_FACES || spec->uy == 1);
    assert_true(spec->polynomial_exps >= 0 && spec->polynomial_exps <= (may_share ? spec->ux * spec->uy : 0));
    assert_true(calibrate_root_possible(info, spec->root, 1) && calibrate_exp_possible(info, spec->exp, 1));
    if (wish->math == 0 || wish->sum == LEY_SPEC_SUM_DOUBLE)
        assert_true(spec->root == LEY_ROOT_STANDARD && spec->exp == LEY_EXP_STANDARD && spec->polynomial_exps == 0);
}

static void check_mdh_plan(const cuda_architecture *a, const dev_info *info, const mdh_wish *wish)
{
    static const struct {
        int64_t n_a, n_b;
    } slabs[] = {{1, 1},       {16, 16},     {33, 33},      {160, 160},          {257, 129},
                 {1, 1 << 22}, {2048, 2048}, {1 << 16, 64}, {(1 << 22) - 512, 1}};
    const calibration c = made_up();
    const char *name = wish->variant != NULL ? wish->variant : "", *reason = refusal(a, name, wish->sum);
    mdh_choice choice;
    ley_error error = {0};
    ley_status status = tuning_mdh(info, &c, wish, &choice, &error);
    if (reason != NULL) {
        assert_int_equal(status, LEY_ERROR_NO_DEVICE);
        if (strstr(error.message, reason) == NULL) /* the schedule adds the device that it is of */
            fail_msg("%s, %s: refused with \"%s\"", a->name, name, error.message);
        ley_error_clear(&error);
        return;
    }
    assert_ok(status);
    assert_true(wish->variant == NULL || strcmp(choice.variant, wish->variant) == 0);
    check_mdh_spec(info, &choice.spec, wish);
    for (size_t i = 0; i < sizeof slabs / sizeof slabs[0]; i++) {
        fault found = {""};
        const int64_t most = mdh_most_points(a) / slabs[i].n_a;
        find_mdh_excess(a, choice.variant, &choice.spec, slabs[i].n_a, slabs[i].n_b < most ? slabs[i].n_b : most,
                        &found);
        none(&found);
    }
}

static void check_mdh(const cuda_architecture *a, const dev_info *info)
{
    mdh_wish wish = {.n_a = 160, .n_b = 160};
    for (size_t i = 0; i == 0 || wish.variant != NULL; i++) {
        for (wish.sum = LEY_SPEC_SUM_FLOAT; wish.sum <= LEY_SPEC_SUM_DOUBLE; wish.sum++)
            for (wish.screening = LEY_SCREENING_NONE; wish.screening <= LEY_SCREENING_WIDE; wish.screening++)
                for (wish.points = LEY_POINTS_FACES; wish.points <= LEY_POINTS_LIST; wish.points++)
                    for (wish.math = 0; wish.math < 3; wish.math++)
                        check_mdh_plan(a, info, &wish);
        wish.variant = tuning_mdh_variant(i); /* first the default */
    }
}

static void check_architecture(const cuda_architecture *a, const dev_info *info)
{
    static const int64_t sides[] = {1, 16, 33, 500, 1000, LARGEST};
    const char *variant = NULL;
    for (size_t i = 0; i == 0 || variant != NULL; i++) {
        variant = i == 0 ? NULL : tuning_dcs_variant(i - 1); /* first the default */
        if (i > 0 && variant == NULL)
            break;
        for (int sum = LEY_SPEC_SUM_FLOAT; sum <= LEY_SPEC_SUM_DOUBLE; sum++)
            for (int math = 0; math < 3; math++)
                for (size_t n = 0; n < sizeof sides / sizeof sides[0]; n++)
                    check_plan(a, info, variant, sum, math, sides[n]);
    }
    check_mdh(a, info);
}

/* What any kernel asks of a work-group. */
static void find_group_excess(const cuda_architecture *a, const dev_info *info, const kernel_kind *kind,
                              const char *name, const void *spec, fault *found)
{
    size_t size[3] = {0, 0, 0};
    kind->group(info, spec, size);
    const size_t local = kind->local_bytes != NULL ? kind->local_bytes(info, spec) : 0;
    if (size[0] * size[1] * size[2] < 1 || size[0] * size[1] * size[2] > a->max_threads || size[0] > a->max_block[0] ||
        size[1] > a->max_block[1] || size[2] > a->max_block[2])
        blame(found, "%s, %s: blocks of %zu x %zu x %zu threads", a->name, name, size[0], size[1], size[2]);
    if (local > 0 && local + argument_bytes(a) > a->shared_bytes)
        blame(found, "%s, %s: %zu bytes of local memory, %zu to be had", a->name, name, local + argument_bytes(a),
              a->shared_bytes);
    if (kernel_is_double(kind, spec) && !info->has_double)
        blame(found, "%s, %s: double precision", a->name, name);
}

typedef struct listed {
    const cuda_architecture *a;
    const dev_info *info;
    const kernel_kind *kind;
    size_t count;
} listed;

/* Two of the kernels have more to be held against. */
static void check_listed(void *context, const char *name, const void *spec)
{
    listed *l = context;
    fault found = {""};
    char options[KERNEL_OPTIONS];
    l->count++;
    kernel_options(l->kind, spec, options, sizeof options);
    assert_true(name[0] != '\0' && strlen(name) + 1 < KERNEL_NAME && strlen(options) + 1 < sizeof options);
    find_group_excess(l->a, l->info, l->kind, name, spec, &found);
    if (l->kind == &dcs_kind)
        find_excess(l->a, name, spec, LARGEST, &found);
    if (l->kind == &mdh_kind)
        find_mdh_excess(l->a, name, spec, 160, 160, &found);
    none(&found);
}

/* Every specification that a kind lists for an architecture, with inline PTX or without. */
static void test_every_kind(void **state)
{
    for (const cuda_architecture *a = cuda_architectures; a->name != NULL; a++)
        for (size_t i = 0; kernel_registry[i] != NULL; i++) {
            dev_info info;
            if (support_is_sanitized && (i + (size_t)(a - cuda_architectures)) % 5 != 0)
                continue;
            cuda_architecture_describe(a, &info);
            for (int with_ptx = 0; with_ptx < 2; with_ptx++) {
                listed l = {a, &info, kernel_registry[i], 0};
                kernel_specs(l.kind, &info, with_ptx ? KERNEL_MORE : KERNEL_FEW, check_listed, &l);
                /* A matrix of densities takes more local memory than the oldest cards have. */
                const bool is_small = info.local_bytes <= 16384 && l.kind == &density_matrix_kind;
                if (l.count == 0 && info.has_double && !is_small)
                    fail_msg("%s: no specification for %s", kernel_registry[i]->name, a->name);
                info.quirks |= DEV_QUIRK_PTX;
            }
        }
}

static void large_group(const dev_info *info, const void *spec, size_t size[3])
{
    const kernel_dialect *s = spec;
    size[0] = 16;
    size[1] = (size_t)s->width;
    size[2] = 1;
}

static size_t much_local(const dev_info *info, const void *spec)
{
    const kernel_dialect *s = spec;
    return (size_t)s->root;
}

/* Each excess of a kernel is found. */
static void test_kind_excess(void **state)
{
    kernel_kind kind = sum_parts_kind;
    kind.group = large_group;
    kind.local_bytes = much_local;
    static const struct {
        kernel_dialect spec;
        bool has_double;
        const char *expected;
    } cases[] = {
        {{LEY_SPEC_SUM_DOUBLE, 32, 16112}, true, ""},
        {{LEY_SPEC_SUM_FLOAT, 33, 0}, true, "GT200, made up: blocks of 16 x 33 x 1 threads"},
        {{LEY_SPEC_SUM_FLOAT, 0, 0}, true, "GT200, made up: blocks of 16 x 0 x 1 threads"},
        {{LEY_SPEC_SUM_FLOAT, 32, 16113}, true, "GT200, made up: 16385 bytes of local memory, 16384 to be had"},
        {{LEY_SPEC_SUM_DOUBLE, 32, 0}, false, "GT200, made up: double precision"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fault found = {""};
        dev_info info;
        cuda_architecture_describe(&cuda_architectures[0], &info);
        info.has_double = cases[i].has_double;
        find_group_excess(&cuda_architectures[0], &info, &kind, "made up", &cases[i].spec, &found);
        only(&found, cases[i].expected);
    }
}

static void test_every_architecture(void **state)
{
    dev_info info;
    size_t count = 0;
    int before = 0;
    for (const cuda_architecture *a = cuda_architectures; a->name != NULL; a++, count++) {
        assert_true(a->capability > before);
        before = a->capability;
        cuda_architecture_describe(a, &info);
        assert_int_equal(info.has_double, a->capability >= DOUBLE_SINCE);
        check_architecture(a, &info);
        info.quirks |= DEV_QUIRK_PTX; /* as both paths to these cards have it */
        check_architecture(a, &info);
    }
    assert_true(count >= 13);
}

/* A plan over the limits is found. */
static void test_excess(void **state)
{
    static const dcs_spec modest = {
        .wg_x = 16, .wg_y = 4, .width = 1, .ux = 1, .uy = 1, .atoms = LEY_ATOMS_LOCAL, .tile = 256};
    static const struct {
        size_t architecture;
        int64_t n;
        int wg_y, ux, tile;
        const char *expected;
    } plans[] = {
        {0, 1000, 4, 1, 256, ""},
        {0, 1000, 64, 1, 256, "GT200, made up: blocks of 16 x 64 threads"},
        {1, 1000, 64, 1, 256, ""},
        {1, (int64_t)1 << 21, 4, 1, 256, "Fermi, made up: a grid of 131072 x 524288 x 65535 blocks"},
        {2, (int64_t)1 << 18, 4, 1, 256, "Kepler GK104, made up: a grid of 16384 x 65536 x 65535 blocks"},
        {0, 1000, 4, 1, 1024, "GT200, made up: 16784 bytes staged, 16384 to be had"},
        {1, 1000, 4, 1, 1024, ""},
        {1, 1000, 4, 64, 256, "Fermi, made up: 64 threads of 64 words of sums"},
        {3, 1000, 4, 64, 256, ""},
        {3, 1000, 64, 65, 256, "Kepler GK110, made up: 1024 threads of 65 words of sums"},
        {7, 1000, 4, 1, 1024, ""},
        {8, 1000, 4, 1, 1024, "Ampere, made up: 49280 bytes staged, 49152 to be had"},
        {8, 1000, 4, 1, 512, ""},
    };
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
        dcs_spec spec = modest;
        fault found = {""};
        spec.wg_y = plans[i].wg_y, spec.ux = plans[i].ux, spec.tile = plans[i].tile;
        find_excess(&cuda_architectures[plans[i].architecture], "made up", &spec, plans[i].n, &found);
        only(&found, plans[i].expected);
    }
}

static void test_mdh_excess(void **state)
{
    static const mdh_spec modest = {.width = 1, .uy = 1, .atoms = LEY_ATOMS_LOCAL, .sum = LEY_SPEC_SUM_FLOAT};
    static const struct {
        size_t architecture;
        int64_t points;
        int wg, ux, tile, sum, screening;
        const char *expected;
    } plans[] = {
        {0, 1000, 64, 1, 256, LEY_SPEC_SUM_FLOAT, LEY_SCREENING_WIDE, ""},
        {0, 1000, 1024, 1, 256, LEY_SPEC_SUM_FLOAT, LEY_SCREENING_NONE, "GT200, made up: blocks of 1024 threads"},
        {0, MDH_SLAB_POINTS, 64, 1, 256, LEY_SPEC_SUM_FLOAT, LEY_SCREENING_NONE,
         "GT200, made up: a grid of 65536 x 64 blocks"},
        {1, MDH_SLAB_POINTS, 64, 8, 256, LEY_SPEC_SUM_FLOAT, LEY_SCREENING_NONE,
         "Fermi, made up: a grid of 65536 blocks adds parts up"},
        {2, MDH_SLAB_POINTS, 64, 1, 256, LEY_SPEC_SUM_FLOAT, LEY_SCREENING_NONE, ""},
        {0, 1000, 64, 1, 512, LEY_SPEC_SUM_DOUBLE, LEY_SCREENING_NONE,
         "GT200, made up: 16724 bytes staged, 16384 to be had"},
        {0, 1000, 64, 1, 960, LEY_SPEC_SUM_FLOAT, LEY_SCREENING_NONE, ""},
        {0, 1000, 64, 1, 960, LEY_SPEC_SUM_FLOAT, LEY_SCREENING_WIDE,
         "GT200, made up: 19592 bytes staged, 16384 to be had"},
        {1, 1000, 64, 64, 256, LEY_SPEC_SUM_FLOAT, LEY_SCREENING_NONE,
         "Fermi, made up: 64 threads of 64 words of sums"},
        {1, 1000, 1024, 20, 256, LEY_SPEC_SUM_DOUBLE, LEY_SCREENING_NONE,
         "Fermi, made up: 1024 threads of 40 words of sums"},
    };
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
        mdh_spec spec = modest;
        fault found = {""};
        spec.wg = plans[i].wg, spec.ux = plans[i].ux, spec.tile = plans[i].tile, spec.sum = plans[i].sum;
        spec.screening = plans[i].screening, spec.points = LEY_POINTS_LIST;
        find_mdh_excess(&cuda_architectures[plans[i].architecture], "made up", &spec, plans[i].points, 1, &found);
        only(&found, plans[i].expected);
    }
}

/* A batch of atoms has to fit into the kernel's symbol, which is smaller than constant memory: as
 * probing has it, and dcs.cu. */
static void test_constant_bytes(void **state)
{
    dev_info info;
    cuda_architecture_describe(&cuda_architectures[0], &info);
    assert_int_equal(info.constant_bytes, CUDA_CONSTANT_SYMBOL_BYTES);
}

/* Before GT200: no double precision. */
static void test_no_double(void **state)
{
    cuda_architecture g80 = cuda_architectures[0];
    dev_info info;
    g80.name = "G80";
    g80.capability = 10;
    g80.registers = 8192;
    cuda_architecture_describe(&g80, &info);
    check_architecture(&g80, &info);
}

int main(void)
{
    return RUN_TESTS(test_every_architecture, test_every_kind, test_kind_excess, test_excess, test_mdh_excess,
                     test_constant_bytes, test_no_double);
}
