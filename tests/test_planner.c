/* Planning without a card: launches of every kernel variant within the limits of every architecture; and two trees of kernels, cl/ and
 * kernels_cuda/, with one truth: the same kernels, arguments and specification keys. */
#include "support.h"

#include "cuda/architectures.h"
#include "cuda/internal.h"
#include "embedded.h"
#include "error.h"
#include "source.h"
#include "tuning.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_KEYS = 64, MAX_KEY = 48, MAX_ARGUMENTS = 16, LARGEST = 4096, DOUBLE_SINCE = 13 };

/* ---- Launches ---------------------------------------------------------------------------------------------------------- */

static calibration made_up(void)
{
    calibration c = {.fma_per_s = 1e13};
    for (int root = 0; root < LEY_ROOT_COUNT; root++) {
        c.root_error[root] = 3e-7;
        c.roots_per_s[root] = 1e11;
    }
    return c;
}

static size_t atom_bytes(const dcs_spec *spec)
{
    return spec->sum == LEY_SPEC_SUM_DOUBLE ? 32 : 16;
}

static void check_launch(const cuda_architecture *a, const char *variant, const dcs_spec *spec, int64_t n)
{
    const int64_t tile_x = tuning_dcs_tile_x(spec), tile_y = tuning_dcs_tile_y(spec);
    const size_t threads = (size_t)spec->wg_x * (size_t)spec->wg_y;
    /* Before Fermi a kernel's arguments lie in shared memory too: 16 bytes and at most 256. */
    const size_t arguments = a->capability < 20 ? 272 : 0;
    const size_t staged = (size_t)spec->tile * atom_bytes(spec) + ((size_t)spec->tile + 31) / 32 * 4 + arguments;
    const int64_t planes = (size_t)n < a->max_grid[2] ? n : (int64_t)a->max_grid[2]; /* what dcs.c asks of one launch */
    const bool fits = threads >= 1 && threads <= a->max_threads && (size_t)spec->wg_x <= a->max_block[0] &&
                      (size_t)spec->wg_y <= a->max_block[1] && (size_t)((n + tile_x - 1) / tile_x) <= a->max_grid[0] &&
                      (size_t)((n + tile_y - 1) / tile_y) <= a->max_grid[1] && (size_t)planes <= a->max_grid[2] && planes >= 1;
    if (!fits)
        fail_msg("%s, %s: blocks of %d x %d for tiles of %d x %d, %lld points a side", a->name, variant, spec->wg_x, spec->wg_y,
                 (int)tile_x, (int)tile_y, (long long)n);
    if (spec->atoms == LEY_ATOMS_LOCAL && staged > a->shared_bytes)
        fail_msg("%s, %s: %zu bytes staged, %zu to be had", a->name, variant, staged, a->shared_bytes);
    if (spec->atoms == LEY_ATOMS_CONSTANT && 64 * atom_bytes(spec) > CUDA_CONSTANT_SYMBOL_BYTES)
        fail_msg("%s, %s: not even 64 atoms fit into constant memory", a->name, variant);
    /* The sums alone have to fit into a block's registers. */
    const size_t words = (size_t)(spec->ux * spec->uy) * (spec->sum == LEY_SPEC_SUM_FLOAT ? 1 : 2);
    if (words >= (size_t)a->thread_registers || words * threads > (size_t)a->registers)
        fail_msg("%s, %s: %zu threads of %zu words of sums", a->name, variant, threads, words);
}

/* Why it may be refused: a part of the message; NULL: it may not. */
static const char *refusal(const cuda_architecture *a, const char *variant, int sum)
{
    if (sum == LEY_SPEC_SUM_DOUBLE && a->capability < DOUBLE_SINCE)
        return "has no double precision";
    return strncmp(variant, "vector", 6) == 0 ? "is for CPU devices" : NULL;
}

static void check_plan(const cuda_architecture *a, const dev_info *info, const char *variant, int sum, int math, int64_t n)
{
    const calibration c = made_up();
    const tuning_wish wish = {.variant = variant, .math = math, .sum = sum, .n_x = n, .n_y = n};
    tuning_choice choice;
    ley_error error = {0};
    ley_status status = tuning_dcs(info, &c, &wish, &choice, &error);
    const char *reason = variant != NULL ? refusal(a, variant, sum) : refusal(a, "", sum);
    if (reason == NULL) {
        assert_ok(status);
        check_launch(a, choice.variant, &choice.spec, n);
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

/* A batch of atoms has to fit into the kernel's symbol, which is smaller than constant memory: as probing has it, and dcs.cu. */
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

/* ---- Two trees --------------------------------------------------------------------------------------------------------- */

typedef struct argument {
    char type[16]; /* "int", "atom", "buffer" */
    char name[MAX_KEY];
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

/* The declaration "const real *restrict gm_in" as type and name. */
static argument parse_argument(char *declaration)
{
    argument a = {.type = "?"};
    char *end = declaration + strlen(declaration);
    while (end > declaration && !is_word(end[-1]))
        *--end = '\0';
    char *name = end;
    while (name > declaration && is_word(name[-1]))
        name--;
    snprintf(a.name, sizeof a.name, "%s", name);
    *name = '\0';
    if (strchr(declaration, '*') != NULL)
        snprintf(a.type, sizeof a.type, "buffer");
    else if (sscanf(declaration, " %15s", a.type) != 1)
        snprintf(a.type, sizeof a.type, "?");
    return a;
}

/* The arguments of the kernel in this text; 0: it has no such kernel. */
static size_t parse_signature(const char *text, const char *qualifier, const char *kernel, argument arguments[MAX_ARGUMENTS])
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
    for (char *piece = strtok_r(list, ",", &rest); piece != NULL && count < MAX_ARGUMENTS; piece = strtok_r(NULL, ",", &rest))
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

static void check_signatures(const char *kernel, const char *cl, const char *cu)
{
    argument a[MAX_ARGUMENTS], b[MAX_ARGUMENTS];
    const size_t count_a = parse_signature(cl, "__kernel", kernel, a), count_b = parse_signature(cu, "__global__", kernel, b);
    if (count_a == 0 || count_a != count_b)
        fail_msg("%s: %zu arguments in cl/, %zu in kernels_cuda/", kernel, count_a, count_b);
    for (size_t i = 0; i < count_a; i++) {
        if (strcmp(a[i].name, b[i].name) != 0 || strcmp(a[i].type, b[i].type) != 0)
            fail_msg("%s: argument %zu is %s %s in cl/, %s %s in kernels_cuda/", kernel, i, a[i].type, a[i].name, b[i].type,
                     b[i].name);
        if (strcmp(a[i].type, "int") != 0 && strcmp(a[i].type, "atom") != 0 && strcmp(a[i].type, "buffer") != 0)
            fail_msg("%s: argument %s has type %s", kernel, a[i].name, a[i].type);
    }
}

static void check_within(const char *kernel, const keys *some, const keys *all, const char *where)
{
    for (size_t i = 0; i < some->count; i++)
        if (!has_key(all, some->names[i]))
            fail_msg("%s reads %s, which %s does not", kernel, some->names[i], where);
}

static void check_kernel(const char *kernel)
{
    static const keys dcs_keys = {
#define KEY_NAME(key, field) {#key},
        .names = {LEY_DCS_KEYS(KEY_NAME)},
#undef KEY_NAME
#define KEY_COUNT(key, field) +1
        .count = 0 LEY_DCS_KEYS(KEY_COUNT)
#undef KEY_COUNT
    };
    char *cl = load_text(kernel, "cl"), *cu = load_text(kernel, "cu");
    keys in_cl = {.count = 0}, in_cu = {.count = 0};
    check_signatures(kernel, cl, cu);
    blank_key_tables(cl);
    blank_key_tables(cu);
    collect_keys(cl, &in_cl);
    collect_keys(cu, &in_cu);
    check_within(kernel, &in_cl, &in_cu, "its twin in kernels_cuda/");
    check_within(kernel, &in_cu, &in_cl, "its twin in cl/");
    check_within(kernel, &in_cl, &dcs_keys, "LEY_DCS_KEYS");
    if (strcmp(kernel, "dcs") == 0)
        check_within(kernel, &dcs_keys, &in_cl, "its source");
    free(cl);
    free(cu);
}

static bool is_embedded(const char *kernel, const char *suffix)
{
    char file[128];
    snprintf(file, sizeof file, "%s.%s", kernel, suffix);
    for (const embedded_kernel *k = embedded_kernels; k->file != NULL; k++)
        if (strcmp(k->file, file) == 0)
            return true;
    return false;
}

static void test_two_trees(void **state)
{
    (void)state;
    size_t count = 0;
    for (const embedded_kernel *k = embedded_kernels; k->file != NULL; k++, count++) {
        char kernel[64];
        const char *dot = strrchr(k->file, '.');
        assert_non_null(dot);
        snprintf(kernel, sizeof kernel, "%.*s", (int)(dot - k->file), k->file);
        if (!is_embedded(kernel, strcmp(dot, ".cl") == 0 ? "cu" : "cl"))
            fail_msg("%s has no twin", k->file);
        if (strcmp(dot, ".cl") == 0)
            check_kernel(kernel);
    }
    assert_true(count >= 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_architecture),
        cmocka_unit_test(test_constant_bytes),
        cmocka_unit_test(test_no_double),
        cmocka_unit_test(test_two_trees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
