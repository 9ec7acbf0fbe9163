/* Planning without a card: launches of every kernel variant within the limits of every
 * architecture; and two trees of kernels, cl/ and kernels_cuda/, with one truth, the kernel table:
 * the same kernels, arguments and specification keys. What compares says what is wrong in a text,
 * empty when nothing is, so that a test can hand it what is. */
#include "support.h"

#include "cuda/architectures.h"
#include "cuda/internal.h"
#include "embedded.h"
#include "error.h"
#include "kernel_table.h"
#include "layout/patches.h"
#include "methods/dcs/tuning.h"
#include "methods/mdh/tuning.h"
#include "source.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_KEYS = 64, MAX_KEY = 48, MAX_ARGUMENTS = 16, LARGEST = 4096, DOUBLE_SINCE = 13, COPIES_AHEAD_SINCE = 80 };

typedef struct fault {
    char text[512];
} fault;

static void none(const fault *found)
{
    if (found->text[0] != '\0')
        fail_msg("%s", found->text);
}

/* Nothing but what is expected. */
static void only(const fault *found, const char *expected)
{
    if (strcmp(found->text, expected) != 0)
        fail_msg("found \"%s\", not \"%s\"", found->text, expected);
}

/* Keeps the first one. */
static void blame(fault *found, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void blame(fault *found, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (found->text[0] == '\0')
        vsnprintf(found->text, sizeof found->text, format, arguments);
    va_end(arguments);
}

/* ---- Launches -------------------------------------------------------------------------------- */

static calibration made_up(void)
{
    calibration c = {.fma_per_s = 1e13};
    for (int root = 0; root < LEY_ROOT_COUNT; root++) {
        c.root_error[root] = 3e-7;
        c.roots_per_s[root] = 1e11;
    }
    for (int exp = 0; exp < LEY_EXP_COUNT; exp++) {
        c.exp_error[exp] = 3e-7;
        c.exps_per_s[exp] = 1e11;
    }
    return c;
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
        if (strstr(error.message, reason) == NULL || strstr(error.message, a->name) == NULL)
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
        if (strstr(error.message, reason) == NULL || strstr(error.message, a->name) == NULL)
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

static void test_every_architecture(void **state)
{
    (void)state;
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
    (void)state;
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
    (void)state;
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
    (void)state;
    dev_info info;
    cuda_architecture_describe(&cuda_architectures[0], &info);
    assert_int_equal(info.constant_bytes, CUDA_CONSTANT_SYMBOL_BYTES);
}

/* Before GT200: no double precision. */
static void test_no_double(void **state)
{
    (void)state;
    cuda_architecture g80 = cuda_architectures[0];
    dev_info info;
    g80.name = "G80";
    g80.capability = 10;
    g80.registers = 8192;
    cuda_architecture_describe(&g80, &info);
    check_architecture(&g80, &info);
}

/* ---- Two trees ------------------------------------------------------------------------------- */

typedef struct argument {
    char type[MAX_KEY]; /* of the value, or of the buffer's elements */
    char name[MAX_KEY];
    bool is_buffer;
} argument;

typedef struct keys {
    char names[MAX_KEYS][MAX_KEY];
    size_t count;
} keys;

/* Comments and line ends become blanks. */
static void blank_comments(char *text)
{
    for (char *at = strstr(text, "/*"); at != NULL; at = strstr(at, "/*")) {
        const char *end = strstr(at, "*/");
        const size_t length = end != NULL ? (size_t)(end - at) + 2 : strlen(at);
        memset(at, ' ', length);
    }
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Cuts off what is no word at the end of the text, and returns where its last word begins. */
static char *last_word(char *text)
{
    char *end = text + strlen(text);
    while (end > text && !is_word(end[-1]))
        *--end = '\0';
    while (end > text && is_word(end[-1]))
        end--;
    return end;
}

/* The declaration "const real *restrict gm_in" as a buffer of type "real" and name "gm_in". */
static argument parse_argument(char *declaration)
{
    argument a = {.is_buffer = false};
    char *name = last_word(declaration);
    snprintf(a.name, sizeof a.name, "%s", name);
    *name = '\0';
    char *star = strchr(declaration, '*'), *type = declaration + strspn(declaration, " \n");
    if (star != NULL) {
        *star = '\0';
        a.is_buffer = true;
        type = last_word(declaration); /* address spaces and const before it are each tree's own */
    } else
        last_word(type); /* all words, "unsigned int" */
    snprintf(a.type, sizeof a.type, "%s", type);
    return a;
}

/* The arguments of the kernel in this text; 0: it has no such kernel. */
static size_t parse_signature(const char *text, const char *qualifier, const char *kernel,
                              argument arguments[MAX_ARGUMENTS])
{
    char pattern[MAX_KEY + 2], list[1024];
    snprintf(pattern, sizeof pattern, "%s(", kernel);
    const char *entry = strstr(text, qualifier), *open = entry;
    while (open != NULL && ((open = strstr(open, pattern)) != NULL) && is_word(open[-1]))
        open++;
    const char *close = open != NULL ? strchr(open, ')') : NULL, *body = open != NULL ? strchr(open, '{') : NULL;
    if (close == NULL || body == NULL || close > body || strstr(entry + 1, qualifier) != NULL)
        return 0; /* none, or not one */
    snprintf(list, sizeof list, "%.*s", (int)(close - open - (long)strlen(pattern)), open + strlen(pattern));
    size_t count = 0;
    char *rest = NULL;
    for (char *piece = strtok_r(list, ",", &rest); piece != NULL && count < MAX_ARGUMENTS;
         piece = strtok_r(NULL, ",", &rest))
        arguments[count++] = parse_argument(piece);
    return count;
}

static char *load_text(const char *kernel, const char *suffix)
{
    char *text = NULL;
    ley_error error = {0};
    assert_ok(source_load(kernel, suffix, &text, &error));
    blank_comments(text);
    return text;
}

static bool has_key(const keys *k, const char *name)
{
    for (size_t i = 0; i < k->count; i++)
        if (strcmp(k->names[i], name) == 0)
            return true;
    return false;
}

static bool defined_in(const char *text, const char *name)
{
    for (const char *at = strstr(text, "#define "); at != NULL; at = strstr(at + 1, "#define ")) {
        const char *word = at + strlen("#define ");
        while (*word == ' ')
            word++;
        if (strncmp(word, name, strlen(name)) == 0 && !is_word(word[strlen(name)]))
            return true;
    }
    return false;
}

static void blank_key_tables(char *text)
{
    for (char *at = strstr(text, "KEY(LEY_"); at != NULL; at = strstr(at, "KEY(LEY_"))
        memset(at, ' ', strlen("KEY(LEY_"));
}

/* What follows "#ifdef LEY_PAIR" is for kernels that have that key, and what a build may define or
 * not is for those that do. */
static void blank_what_is_not_for(const kernel_row *row, char *text)
{
    static const char *const optional[] = {"LEY_PAIR", "LEY_USER_PAIR"};
    for (size_t i = 0; i < sizeof optional / sizeof optional[0]; i++) {
        char pattern[MAX_KEY + 8];
        bool is_key = false;
        for (const char *const *key = row->keys; *key != NULL; key++)
            is_key = is_key || strcmp(*key, optional[i]) == 0;
        snprintf(pattern, sizeof pattern, "#ifdef %s\n", optional[i]);
        for (char *at = text; !is_key && (at = strstr(at, pattern)) != NULL;) {
            char *end = at + 1;
            for (int deep = 1; deep > 0; end++) {
                end = strchr(end, '#');
                assert_non_null(end);
                deep += strncmp(end, "#if", 3) == 0 ? 1 : strncmp(end, "#endif", 6) == 0 ? -1 : 0;
            }
            memset(at, ' ', (size_t)(end - at));
        }
    }
}

/* What a text reads but does not define: words in capitals that begin with LEY_. */
static void collect_keys(const char *text, keys *k)
{
    for (const char *at = strstr(text, "LEY_"); at != NULL; at = strstr(at, "LEY_")) {
        char name[MAX_KEY];
        const char *start = at;
        while (is_word(*at))
            at++;
        if (start > text && is_word(start[-1]))
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(at - start), start);
        if (defined_in(text, name) || has_key(k, name))
            continue;
        assert_true(k->count < MAX_KEYS);
        snprintf(k->names[k->count++], MAX_KEY, "%s", name);
    }
}

static void compare_signature(const kernel_row *row, const char *suffix, const char *text, fault *found)
{
    argument arguments[MAX_ARGUMENTS];
    const size_t count =
        parse_signature(text, strcmp(suffix, "cl") == 0 ? "__kernel" : "__global__", row->name, arguments);
    if (count != row->argument_count)
        blame(found, "%s.%s: %zu arguments, %zu in the table", row->name, suffix, count, row->argument_count);
    for (size_t i = 0; i < count && i < row->argument_count; i++) {
        const argument *a = &arguments[i];
        const kernel_argument *b = &row->arguments[i];
        const bool is_buffer = b->kind == KERNEL_BUFFER;
        if (strcmp(a->name, b->name) != 0 || strcmp(a->type, b->type) != 0 || a->is_buffer != is_buffer)
            blame(found, "%s.%s: argument %zu is %s %s%s, %s %s%s in the table", row->name, suffix, i, a->type,
                  a->is_buffer ? "*" : "", a->name, b->type, is_buffer ? "*" : "", b->name);
    }
}

static void compare_keys(const kernel_row *row, const char *suffix, char *text, fault *found)
{
    keys read = {.count = 0}, wanted = {.count = 0};
    blank_key_tables(text);
    blank_what_is_not_for(row, text);
    collect_keys(text, &read);
    for (const char *const *key = row->keys; *key != NULL; key++) {
        assert_true(wanted.count < MAX_KEYS);
        snprintf(wanted.names[wanted.count++], MAX_KEY, "%s", *key);
        const bool is_foreign =
            strcmp(suffix, "cu") == 0 && strcmp(*key, "LEY_PTX") == 0; /* what OpenCL is asked, CUDA has */
        if (!has_key(&read, *key) && !is_foreign)
            blame(found, "%s.%s: %s of the table is not read", row->name, suffix, *key);
    }
    for (size_t i = 0; i < read.count; i++)
        if (!has_key(&wanted, read.names[i]))
            blame(found, "%s.%s: reads %s, not in the table", row->name, suffix, read.names[i]);
}

/* One tree's source, with `from` (NULL: nothing) replaced, against the row. */
static void compare_source(const kernel_row *row, const char *suffix, const char *from, const char *to, fault *found)
{
    char *text = load_text(row->name, suffix), *changed = NULL;
    const char *at = from != NULL ? strstr(text, from) : NULL;
    if (from != NULL && at == NULL)
        fail_msg("%s.%s has no \"%s\" to change", row->name, suffix, from);
    if (at != NULL) {
        changed = calloc(strlen(text) + strlen(to) + 1, 1);
        assert_non_null(changed);
        sprintf(changed, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    }
    compare_signature(row, suffix, at != NULL ? changed : text, found);
    compare_keys(row, suffix, at != NULL ? changed : text, found);
    free(changed);
    free(text);
}

static bool is_among(const embedded_kernel *files, const char *kernel, const char *suffix)
{
    char file[128];
    snprintf(file, sizeof file, "%s.%s", kernel, suffix);
    for (; files->file != NULL; files++)
        if (strcmp(files->file, file) == 0)
            return true;
    return false;
}

/* Each row has its file in both trees, each file its row. */
static void compare_files(const embedded_kernel *files, fault *found)
{
    for (const kernel_row *row = kernel_table; row->name != NULL; row++) {
        if (!is_among(files, row->name, "cl"))
            blame(found, "%s.cl is missing", row->name);
        if (!is_among(files, row->name, "cu"))
            blame(found, "%s.cu is missing", row->name);
    }
    for (; files->file != NULL; files++) {
        char kernel[64];
        snprintf(kernel, sizeof kernel, "%.*s", (int)strcspn(files->file, "."), files->file);
        if (kernel_table_find(kernel) == NULL)
            blame(found, "%s is not in the table", files->file);
    }
}

static void test_two_trees(void **state)
{
    (void)state;
    size_t count = 0;
    fault found = {""};
    compare_files(embedded_kernels, &found);
    none(&found);
    for (const kernel_row *row = kernel_table; row->name != NULL; row++, count++) {
        assert_true(row->argument_count > 0 && row->argument_count < MAX_ARGUMENTS);
        assert_ptr_equal(kernel_table_find(row->name), row);
        compare_source(row, "cl", NULL, NULL, &found);
        compare_source(row, "cu", NULL, NULL, &found);
    }
    none(&found);
    assert_true(count >= 3);
}

/* The trees drift apart: each way is found. */
static void test_drift(void **state)
{
    (void)state;
    static const struct {
        const char *suffix, *from, *to, *expected;
    } drifts[] = {
        {"cl", "int times", "int times, int more", "roots.cl: 4 arguments, 3 in the table"},
        {"cu", "int times", "int times, int more", "roots.cu: 4 arguments, 3 in the table"},
        {"cu", "int times, ", "", "roots.cu: 2 arguments, 3 in the table"},
        {"cl", "void roots(", "void squares(", "roots.cl: 0 arguments, 3 in the table"},
        {"cu", "void roots(", "void squares(", "roots.cu: 0 arguments, 3 in the table"},
        {"cl", "int times", "float times", "roots.cl: argument 1 is float times, int times in the table"},
        {"cu", "int times", "unsigned int times", "roots.cu: argument 1 is unsigned int times, int times in the table"},
        {"cl", "real *restrict gm_out", "int *restrict gm_out",
         "roots.cl: argument 2 is int *gm_out, real *gm_out in the table"},
        {"cu", "real *__restrict__ gm_out", "real gm_out",
         "roots.cu: argument 2 is real gm_out, real *gm_out in the table"},
        {"cl", "gm_out)", "gm_end)", "roots.cl: argument 2 is real *gm_end, real *gm_out in the table"},
        {"cl", "CHAINS 8", "CHAINS LEY_CHAINS", "roots.cl: reads LEY_CHAINS, not in the table"},
        {"cu", "CHAINS 8", "CHAINS LEY_UX", "roots.cu: reads LEY_UX, not in the table"},
        {"cl", "CHAINS 8", "CHAINS LEY_PAIR", "roots.cl: reads LEY_PAIR, not in the table"},
        {"cu", "LEY_WIDTH != 1", "0", "roots.cu: LEY_WIDTH of the table is not read"},
    };
    const kernel_row *roots = kernel_table_find("roots");
    assert_non_null(roots);
    for (size_t i = 0; i < sizeof drifts / sizeof drifts[0]; i++) {
        fault found = {""};
        compare_source(roots, drifts[i].suffix, drifts[i].from, drifts[i].to, &found);
        only(&found, drifts[i].expected);
    }
}

/* A file without its twin, a file without a row. */
static void test_files(void **state)
{
    (void)state;
    enum { MOST_FILES = 64 };
    static const struct {
        const char *absent, *additional, *expected;
    } changes[] = {
        {"", NULL, ""},
        {"roots.cl", NULL, "roots.cl is missing"},
        {"roots.cu", NULL, "roots.cu is missing"},
        {"", "squares.cl", "squares.cl is not in the table"},
        {"", "squares.cu", "squares.cu is not in the table"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        embedded_kernel files[MOST_FILES + 1] = {{0, 0}};
        size_t count = 0;
        fault found = {""};
        for (const embedded_kernel *k = embedded_kernels; k->file != NULL; k++)
            if (strcmp(k->file, changes[i].absent) != 0) {
                assert_true(count + 1 < MOST_FILES);
                files[count++] = *k;
            }
        files[count].file = changes[i].additional;
        compare_files(files, &found);
        only(&found, changes[i].expected);
    }
}

/* ---- Builds and launches by the table -------------------------------------------------------- */

/* "-DLEY_X=1 " for each key of the row but one. */
static void write_options(const kernel_row *row, const char *left_out, char *options, size_t size)
{
    size_t used = 0;
    options[0] = '\0';
    for (const char *const *key = row->keys; *key != NULL; key++)
        if (*key != left_out)
            used += (size_t)snprintf(options + used, size - used, "-D%s=1 ", *key);
    assert_true(used < size);
}

static void test_builds_are_checked(void **state)
{
    (void)state;
    char options[1024] = "", expected[256];
    ley_error error = {0};
    const kernel_row *found = NULL;
    dev_source source = {"squares", "", options};
    assert_int_equal(kernel_table_check_build(&source, &found, &error), LEY_ERROR_DEVICE);
    assert_string_equal(error.message, "kernel squares is not in the kernel table");
    for (const kernel_row *row = kernel_table; row->name != NULL; row++) {
        source.kernel = row->name;
        ley_error_clear(&error);
        write_options(row, NULL, options, sizeof options);
        assert_ok(kernel_table_check_build(&source, &found, &error));
        assert_ptr_equal(found, row);
        for (const char *const *key = row->keys; *key != NULL; key++) {
            write_options(row, *key, options, sizeof options);
            assert_int_equal(kernel_table_check_build(&source, &found, &error), LEY_ERROR_DEVICE);
            snprintf(expected, sizeof expected, "kernel %s is built without %s", row->name, *key);
            assert_string_equal(error.message, expected);
        }
    }
    ley_error_clear(&error);
}

static dev_argument right_argument(const kernel_argument *a)
{
    static char somewhere;
    static const float four[4];
    return a->kind == KERNEL_BUFFER ? dev_argument_buffer((dev_buffer *)(void *)&somewhere)
           : a->kind == KERNEL_INT  ? dev_argument_int(1)
                                    : dev_argument_bytes(four, sizeof four);
}

/* What a launch in place of a right argument must not pass: a value for a buffer, a buffer for a
 * value, a value of no size that it has. */
static void refuse_each_argument(const kernel_row *row, const dev_launch *launch, dev_argument *arguments)
{
    static const kernel_argument buffer = {"", KERNEL_BUFFER, ""}, number = {"", KERNEL_INT, "int"};
    char expected[64];
    for (size_t i = 0; i < row->argument_count; i++) {
        const dev_argument right = arguments[i];
        const bool is_buffer = row->arguments[i].kind == KERNEL_BUFFER;
        ley_error error = {0};
        arguments[i] = right_argument(is_buffer ? &number : &buffer);
        assert_int_equal(kernel_table_check_launch(row, launch, &error), LEY_ERROR_DEVICE);
        snprintf(expected, sizeof expected, "kernel %s: argument %zu, %s, is ", row->name, i, row->arguments[i].name);
        assert_memory_equal(error.message, expected, strlen(expected));
        arguments[i] = right;
        arguments[i].size = row->arguments[i].kind == KERNEL_INT ? 8 : 0;
        assert_int_equal(kernel_table_check_launch(row, launch, &error), is_buffer ? LEY_OK : LEY_ERROR_DEVICE);
        arguments[i] = right;
        ley_error_clear(&error);
    }
}

static void test_launches_are_checked(void **state)
{
    (void)state;
    for (const kernel_row *row = kernel_table; row->name != NULL; row++) {
        dev_argument arguments[MAX_ARGUMENTS];
        ley_error error = {0};
        dev_launch launch = {.argument_count = row->argument_count, .arguments = arguments};
        for (size_t i = 0; i <= row->argument_count; i++)
            arguments[i] = right_argument(&row->arguments[i < row->argument_count ? i : 0]);
        assert_ok(kernel_table_check_launch(row, &launch, &error));
        refuse_each_argument(row, &launch, arguments);
        launch.argument_count = row->argument_count + 1;
        assert_int_equal(kernel_table_check_launch(row, &launch, &error), LEY_ERROR_DEVICE);
        launch.argument_count = row->argument_count - 1;
        assert_int_equal(kernel_table_check_launch(row, &launch, &error), LEY_ERROR_DEVICE);
        assert_non_null(strstr(error.message, " arguments and was given "));
        ley_error_clear(&error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_architecture),
        cmocka_unit_test(test_excess),
        cmocka_unit_test(test_mdh_excess),
        cmocka_unit_test(test_constant_bytes),
        cmocka_unit_test(test_no_double),
        cmocka_unit_test(test_two_trees),
        cmocka_unit_test(test_drift),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_builds_are_checked),
        cmocka_unit_test(test_launches_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
