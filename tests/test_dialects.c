/* One source of kernels, cl/, in two languages: the words of its dialects are the same ones, the
 * kernels keep to them, and each file of kernels_cuda/ is a kernel's source in CUDA C. Arguments
 * and specification keys are those of the kernels' kinds. What compares says what is wrong in a
 * text, empty when nothing is, so that a test can hand it sources in which something is. */
#include "found_fault.h"

#include "embedded.h"
#include "error.h"
#include "methods/registry.h"
#include "source.h"

#include <ctype.h>
#include <dirent.h>
#include <unistd.h>

enum { MAX_KEYS = 64, MAX_KEY = 48, MAX_FILES = 160 };

/* ---- Texts ----------------------------------------------------------------------------------- */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Comments become blanks. */
static void blank_comments(char *text)
{
    for (char *at = strstr(text, "/*"); at != NULL; at = strstr(at, "/*")) {
        const char *end = strstr(at, "*/");
        memset(at, ' ', end != NULL ? (size_t)(end - at) + 2 : strlen(at));
    }
}

/* A copy of `text`, freed, in which the first `from` (NULL: nothing) is `to`. */
static char *changed(char *text, const char *from, const char *to)
{
    if (from == NULL)
        return text;
    const char *at = strstr(text, from);
    if (at == NULL)
        fail_msg("there is no \"%s\" to change", from);
    char *result = calloc(strlen(text) + strlen(to) + 1, 1);
    assert_non_null(result);
    sprintf(result, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    free(text);
    return result;
}

/* A kernel's flattened source, as the binary carries it. */
static char *load_kernel(const char *kernel, const char *suffix)
{
    char *text = NULL;
    ley_error error = {0};
    assert_ok(source_load(kernel, suffix, &text, &error));
    blank_comments(text);
    return text;
}

static char *load_file(const char *path)
{
    char *text = support_read_file(path, NULL);
    assert_non_null(text);
    blank_comments(text);
    return text;
}

/* The next word from `at` on that begins with the prefix; NULL: there is none. */
static const char *next_word(const char *text, const char *at, const char *prefix, char word[MAX_KEY])
{
    while ((at = strstr(at, prefix)) != NULL) {
        const char *end = at;
        while (is_word(*end))
            end++;
        if (at == text || !is_word(at[-1])) {
            snprintf(word, MAX_KEY, "%.*s", (int)(end - at), at);
            return end;
        }
        at = end;
    }
    return NULL;
}

static bool is_word_at(const char *at, const char *word)
{
    return strncmp(at, word, strlen(word)) == 0 && !is_word(at[strlen(word)]);
}

static bool has_macro(const char *text, const char *name)
{
    for (const char *at = strstr(text, "#define "); at != NULL; at = strstr(at + 1, "#define "))
        if (is_word_at(at + strlen("#define "), name))
            return true;
    return false;
}

/* Whether a line "LEY_FN type name(" is there. */
static bool has_function(const char *text, const char *name)
{
    char call[MAX_KEY + 2];
    snprintf(call, sizeof call, " %s(", name);
    for (const char *at = strstr(text, "LEY_FN "); at != NULL; at = strstr(at + 1, "LEY_FN ")) {
        const char *open = strchr(at, '(');
        if (open != NULL && open - at >= (long)strlen(call) - 1 &&
            strncmp(open - strlen(call) + 1, call, strlen(call)) == 0)
            return true;
    }
    return false;
}

/* ---- The kernels' kinds ---------------------------------------------------------------------- */

typedef struct keys {
    char names[MAX_KEYS][MAX_KEY];
    size_t count;
} keys;

static bool has_key(const keys *k, const char *name)
{
    for (size_t i = 0; i < k->count; i++)
        if (strcmp(k->names[i], name) == 0)
            return true;
    return false;
}

static void add_key(keys *k, const char *name)
{
    assert_true(k->count < MAX_KEYS);
    snprintf(k->names[k->count++], MAX_KEY, "%s", name);
}

static void blank_key_tables(char *text)
{
    for (char *at = strstr(text, "KEY(LEY_"); at != NULL; at = strstr(at, "KEY(LEY_"))
        memset(at, ' ', strlen("KEY(LEY_"));
}

/* From `#ifdef X` or `#ifndef X`, which is here, to its end. */
static void blank_section(char *at)
{
    char *end = at + 1;
    for (int deep = 1; deep > 0; end++) {
        end = strchr(end, '#');
        assert_non_null(end);
        deep += strncmp(end, "#if", 3) == 0 ? 1 : strncmp(end, "#endif", 6) == 0 ? -1 : 0;
    }
    memset(at, ' ', (size_t)(end - at));
}

static void blank_sections(char *text, const char *condition, const char *name)
{
    char line[MAX_KEY + 16];
    snprintf(line, sizeof line, "%s %s\n", condition, name);
    for (char *at = text; (at = strstr(at, line)) != NULL;)
        blank_section(at);
}

/* What follows "#ifdef LEY_PAIR" is for kernels that have that key, and what a build may define or
 * not is for those that do. In CUDA C nobody reads OpenCL's dialect. */
static void blank_what_is_not_for(const kernel_kind *kind, const char *suffix, char *text)
{
    static const char *const optional[] = {"LEY_PAIR", "LEY_USER_PAIR",  "LEY_USER_SLOPE",
                                           "LEY_EXP",  "LEY_SUB_GROUPS", "LEY_TOTAL"};
    for (size_t i = 0; i < sizeof optional / sizeof optional[0]; i++) {
        bool is_key = false;
        for (const char *const *key = kind->keys; *key != NULL; key++)
            is_key = is_key || strcmp(*key, optional[i]) == 0;
        if (!is_key)
            blank_sections(text, "#ifdef", optional[i]);
    }
    if (strcmp(suffix, "cu") == 0)
        blank_sections(text, "#ifndef", "LEY_DIALECT_H");
}

/* What a text reads but does not define: words in capitals that begin with LEY_. */
static void collect_keys(const char *text, keys *k)
{
    char name[MAX_KEY];
    for (const char *at = text; (at = next_word(text, at, "LEY_", name)) != NULL;)
        if (name[strlen(name) - 1] != '_' && !has_macro(text, name) && !has_key(k, name)) /* "LEY_X_" is pasted */
            add_key(k, name);
}

/* The body of a kernel's list of arguments, from behind its head to `*end`; NULL: it has none. */
static const char *find_list(const char *text, const char *name, const char **end)
{
    char head[2 * MAX_KEY];
    snprintf(head, sizeof head, "#define %s(FIRST, NEXT)", name);
    const char *body = strstr(text, head);
    if (body == NULL)
        return NULL;
    body += strlen(head);
    for (*end = body; **end != '\0' && (**end != '\n' || (*end)[-1] == '\\'); ++*end)
        ;
    return body;
}

/* Argument `count` of the kind is what stands at `at`: "(kind, type, name)". */
static void compare_argument(const kernel_kind *kind, const char *suffix, const char *at, size_t count, fault *found)
{
    char what[MAX_KEY], type[MAX_KEY], name[MAX_KEY];
    if (sscanf(at, "(%47[A-Z], %47[a-z0-9_], %47[A-Za-z0-9_])", what, type, name) != 3) {
        blame(found, "%s.%s: argument %zu is no kind, type and name", kind->name, suffix, count);
        return;
    }
    const kernel_argument *own = count < kind->argument_count ? &kind->arguments[count] : NULL;
    const kernel_argument_kind wanted = strcmp(what, "INT") == 0     ? KERNEL_INT
                                        : strcmp(what, "VALUE") == 0 ? KERNEL_VALUE
                                                                     : KERNEL_BUFFER;
    if (own != NULL && (own->kind != wanted || strcmp(own->name, name) != 0 || strcmp(own->type, type) != 0))
        blame(found, "%s.%s: argument %zu is %s %s, not the %s %s of its kind", kind->name, suffix, count, type, name,
              own->type, own->name);
}

/* A list against the kind's arguments from number `count` on; another list may stand in it. The
 * count behind it. */
static size_t compare_list(const kernel_kind *kind, const char *suffix, const char *text, const char *list,
                           size_t count, fault *found)
{
    const char *end = NULL;
    char word[MAX_KEY];
    for (const char *at = find_list(text, list, &end); at != NULL && (at = strchr(at, '(')) != NULL && at < end; at++) {
        const char *first = at;
        while (is_word(first[-1]))
            first--;
        snprintf(word, sizeof word, "%.*s", (int)(at - first), first);
        if (strcmp(word, "FIRST") == 0 || strcmp(word, "NEXT") == 0)
            compare_argument(kind, suffix, at, count++, found);
        else
            count = compare_list(kind, suffix, text, word, count, found);
    }
    return count;
}

/* The kind's arguments are those of the kernel's list. */
static void compare_arguments(const kernel_kind *kind, const char *suffix, const char *text, const char *upper,
                              fault *found)
{
    char list[2 * MAX_KEY];
    snprintf(list, sizeof list, "LEY_%s_ARGUMENTS", upper);
    const size_t count = compare_list(kind, suffix, text, list, 0, found);
    if (count != kind->argument_count)
        blame(found, "%s.%s: %zu arguments, not the %zu of its kind", kind->name, suffix, count, kind->argument_count);
}

static void write_upper(const char *name, char upper[MAX_KEY])
{
    snprintf(upper, MAX_KEY, "%s", name);
    for (char *c = upper; *c != '\0'; c++)
        *c = (char)toupper((unsigned char)*c);
}

/* The kernel's parameters are its own in the list of arguments. */
static void compare_parameters(const kernel_kind *kind, const char *suffix, const char *text, fault *found)
{
    char entry[256], upper[MAX_KEY];
    write_upper(kind->name, upper);
    snprintf(entry, sizeof entry, "%s(LEY_PARAMETERS(LEY_%s_ARGUMENTS))\n{", kind->name, upper);
    const char *first = strstr(text, "(LEY_PARAMETERS(");
    if (strstr(text, entry) == NULL || first == NULL || strstr(first + 1, "(LEY_PARAMETERS(") != NULL)
        blame(found, "%s.%s: no kernel, or not one, with the parameters of %s", kind->name, suffix, kind->name);
    compare_arguments(kind, suffix, text, upper, found);
}

/* The keys of a list LEY_X_KEYS, behind what there is. */
static void collect_listed_keys(const char *text, const char *list, keys *k)
{
    char head[2 * MAX_KEY], name[MAX_KEY];
    snprintf(head, sizeof head, "#define LEY_%s_KEYS(KEY)", list);
    const char *body = strstr(text, head), *end = body;
    while (end != NULL && *end != '\0' && (*end != '\n' || end[-1] == '\\'))
        end++;
    for (const char *at = body != NULL ? body + strlen(head) : NULL; at != NULL && at < end; at++)
        if (sscanf(at, " KEY(%47[A-Z0-9_],", name) == 1 && at[0] == ' ') {
            add_key(k, name);
            at = strchr(at, ')');
        } else if (strncmp(at, "LEY_DIALECT_KEYS(KEY)", 21) == 0)
            collect_listed_keys(text, "DIALECT", k);
}

/* The kind's keys are those of its kernel's list, or, where it has none, the dialect's. */
static void compare_lists_of_keys(const kernel_kind *kind, const char *suffix, const char *text, fault *found)
{
    keys listed = {.count = 0};
    char upper[MAX_KEY];
    write_upper(kind->name, upper);
    collect_listed_keys(text, upper, &listed);
    if (listed.count == 0)
        collect_listed_keys(text, "DIALECT", &listed);
    bool is_same = listed.count == kernel_key_count(kind);
    for (size_t i = 0; is_same && i < listed.count; i++)
        is_same = strcmp(listed.names[i], kind->keys[i]) == 0;
    if (!is_same)
        blame(found, "%s.%s: its %zu keys are not the %zu of its kind", kind->name, suffix, listed.count,
              kernel_key_count(kind));
}

static void compare_keys(const kernel_kind *kind, const char *suffix, char *text, fault *found)
{
    keys read = {.count = 0}, wanted = {.count = 0};
    blank_key_tables(text);
    blank_what_is_not_for(kind, suffix, text);
    collect_keys(text, &read);
    for (const char *const *key = kind->keys; *key != NULL; key++) {
        add_key(&wanted, *key);
        const bool is_foreign = strcmp(suffix, "cu") == 0 && strcmp(*key, "LEY_SUB_GROUPS") == 0; /* unasked */
        if (!has_key(&read, *key) && !is_foreign)
            blame(found, "%s.%s: %s of its kind is not read", kind->name, suffix, *key);
    }
    for (size_t i = 0; i < read.count; i++)
        if (!has_key(&wanted, read.names[i]))
            blame(found, "%s.%s: reads %s, not a key of its kind", kind->name, suffix, read.names[i]);
}

/* A kernel in one language, with `from` (NULL: nothing) replaced, against its kind. */
static void compare_kernel(const kernel_kind *kind, const char *suffix, const char *from, const char *to, fault *found)
{
    char *text = changed(load_kernel(kind->name, suffix), from, to);
    compare_parameters(kind, suffix, text, found);
    compare_lists_of_keys(kind, suffix, text, found);
    compare_keys(kind, suffix, text, found);
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

static const kernel_kind *find_kind(const char *name)
{
    for (const kernel_kind *const *kind = kernel_registry; *kind != NULL; kind++)
        if (strcmp((*kind)->name, name) == 0)
            return *kind;
    return NULL;
}

/* Each kind has its file for both languages, each file its kind. */
static void compare_files(const embedded_kernel *files, fault *found)
{
    for (const kernel_kind *const *kind = kernel_registry; *kind != NULL; kind++) {
        if (!is_among(files, (*kind)->name, "cl"))
            blame(found, "%s.cl is missing", (*kind)->name);
        if (!is_among(files, (*kind)->name, "cu"))
            blame(found, "%s.cu is missing", (*kind)->name);
    }
    for (; files->file != NULL; files++) {
        char kernel[64];
        snprintf(kernel, sizeof kernel, "%.*s", (int)strcspn(files->file, "."), files->file);
        if (find_kind(kernel) == NULL)
            blame(found, "%s has no kind", files->file);
    }
}

static void test_table(void **state)
{
    size_t count = 0;
    fault found = {""};
    compare_files(embedded_kernels, &found);
    for (; kernel_registry[count] != NULL; count++) {
        const kernel_kind *kind = kernel_registry[count];
        assert_true(kind->argument_count > 0 && kind->argument_count <= KERNEL_MOST_ARGUMENTS);
        assert_ptr_equal(find_kind(kind->name), kind);
        compare_kernel(kind, "cl", NULL, NULL, &found);
        compare_kernel(kind, "cu", NULL, NULL, &found);
    }
    only(&found, "");
    assert_true(count >= 3);
}

/* A source that drifts away from its kind: each way is found. */
static void test_drift(void **state)
{
    static const struct {
        const char *suffix, *from, *to, *expected;
    } drifts[] = {
        {"cl", " roots(", " squares(", "roots.cl: no kernel, or not one, with the parameters of roots"},
        {"cu", " roots(", " squares(", "roots.cu: no kernel, or not one, with the parameters of roots"},
        {"cl", "(LEY_ROOTS_", "(LEY_RATE_", "roots.cl: no kernel, or not one, with the parameters of roots"},
        {"cl", "LEY_KERNEL roots", "LEY_KERNEL other(LEY_PARAMETERS(LEY_ROOTS_ARGUMENTS));\nLEY_KERNEL roots",
         "roots.cl: no kernel, or not one, with the parameters of roots"},
        {"cl", "INT, int, times", "INT, int, often",
         "roots.cl: argument 1 is int often, not the int times of its kind"},
        {"cu", "INT, int, times", "VALUE, int, times",
         "roots.cu: argument 1 is int times, not the int times of its kind"},
        {"cl", "WRITE, real, gm_out", "WRITE, int, gm_out",
         "roots.cl: argument 2 is int gm_out, not the real gm_out of its kind"},
        {"cu", "    NEXT(INT, int, times) \\\n    NEXT(WRITE, real, gm_out)", "    NEXT(WRITE, real, gm_out)",
         "roots.cu: argument 1 is real gm_out, not the int times of its kind"},
        {"cl", "NEXT(WRITE, real, gm_out)\n\n#define LEY_ROOTS",
         "NEXT(WRITE, real, gm_out) NEXT(INT, int, n)\n\n#define LEY_ROOTS",
         "roots.cl: 4 arguments, not the 3 of its kind"},
        {"cl", "LEY_ROOTS_ARGUMENTS(FIRST, NEXT) LEY_RATE", "LEY_ROOTS_ARGUMENTS(FIRST, NEXT) LEY_SUM_PARTS",
         "roots.cl: argument 0 is real gm_parts, not the real gm_in of its kind"},
        {"cl", "LEY_RATE_ARGUMENTS(FIRST, NEXT)\n#define LEY_EXPS",
         "LEY_RATE_ARGUMENTS(FIRST, NEXT) NEXT(INT, int, n)\n#define LEY_EXPS",
         "roots.cl: 4 arguments, not the 3 of its kind"},
        {"cu", "    FIRST(READ, real, gm_in)", "    FIRST(READ, gm_in)",
         "roots.cu: argument 0 is no kind, type and name"},
        {"cl", "KEY(LEY_WIDTH, width)", "", "roots.cl: its 2 keys are not the 3 of its kind"},
        {"cu", "KEY(LEY_WIDTH, width)", "KEY(LEY_TILE, tile)", "roots.cu: its 3 keys are not the 3 of its kind"},
        {"cl", "CHAINS 8", "CHAINS LEY_CHAINS", "roots.cl: reads LEY_CHAINS, not a key of its kind"},
        {"cu", "CHAINS 8", "CHAINS LEY_UX", "roots.cu: reads LEY_UX, not a key of its kind"},
        {"cl", "CHAINS 8", "CHAINS LEY_PAIR", "roots.cl: reads LEY_PAIR, not a key of its kind"},
        {"cu", "LEY_WIDTH != 1", "0", "roots.cu: LEY_WIDTH of its kind is not read"},
        {"cu", "#define LEY_GLOBAL_ID(", "#define LEY_NUMBER(", "roots.cu: reads LEY_GLOBAL_ID, not a key of its kind"},
        {"cl", "#define LEY_GLOBAL_ID(", "#define LEY_NUMBER(", "roots.cl: reads LEY_GLOBAL_ID, not a key of its kind"},
    };
    const kernel_kind *roots = find_kind("roots");
    assert_non_null(roots);
    for (size_t i = 0; i < sizeof drifts / sizeof drifts[0]; i++) {
        fault found = {""};
        compare_kernel(roots, drifts[i].suffix, drifts[i].from, drifts[i].to, &found);
        only(&found, drifts[i].expected);
    }
    kernel_kind exps = *find_kind("exps"); /* with another kernel's list */
    exps.keys = roots->keys;
    fault found = {""};
    compare_kernel(&exps, "cl", NULL, NULL, &found);
    only(&found, "exps.cl: its 4 keys are not the 3 of its kind");
}

/* A file for one language alone, a file without a kind. */
static void test_files(void **state)
{
    static const struct {
        const char *absent, *additional, *expected;
    } changes[] = {
        {"", NULL, ""},
        {"roots.cl", NULL, "roots.cl is missing"},
        {"roots.cu", NULL, "roots.cu is missing"},
        {"", "squares.cl", "squares.cl has no kind"},
        {"", "squares.cu", "squares.cu has no kind"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        embedded_kernel files[MAX_FILES + 1] = {{0, 0}};
        size_t count = 0;
        fault found = {""};
        for (const embedded_kernel *k = embedded_kernels; k->file != NULL; k++)
            if (strcmp(k->file, changes[i].absent) != 0) {
                assert_true(count + 1 < MAX_FILES);
                files[count++] = *k;
            }
        files[count].file = changes[i].additional;
        compare_files(files, &found);
        only(&found, changes[i].expected);
    }
}

/* ---- The dialects ---------------------------------------------------------------------------- */

/* Words that one language has and the other has not. A star stands for whatever follows. */
static const char *const foreign_words[] = {
    "__kernel",  "__global",   "__local",  "__constant", "__private",  "get_*",     "barrier",  "atomic_*",
    "as_*",      "convert_*",  "vload*",   "vstore*",    "native_*",   "popcount",  "clz",      "clamp",
    "restrict",  "uint",       "uchar",    "rsqrt",      "fmax",       "fmin",      "__asm",    "any",
    "threadIdx", "blockIdx",   "blockDim", "gridDim",    "make_*",     "__sync*",   "__ballot", "__popc",
    "__ffs",     "fmaxf",      "fminf",    "fabsf",      "rsqrtf",     "__float_*", "__int_*",  "__shared__",
    "asm",       "__global__", "atomicOr", "atomicAdd",  "atomicExch", "cm_first",  "__CUDA*",  "__restrict__",
};

/* Vectors in OpenCL C's own way. */
static const char *const foreign_texts[] = {"(atom)(",   "(int2)(",   "(int4)(",
                                            "(float2)(", "(float4)(", "#pragma OPENCL"};

static bool matches(const char *word, const char *pattern)
{
    const size_t length = strlen(pattern);
    return pattern[length - 1] == '*' ? strncmp(word, pattern, length - 1) == 0 : strcmp(word, pattern) == 0;
}

/* What both languages read has no words of one of them alone. */
static void check_language(const char *file, const char *text, fault *found)
{
    char word[MAX_KEY];
    for (const char *at = text; *at != '\0';) {
        const char *end = at;
        while (is_word(*end))
            end++;
        snprintf(word, sizeof word, "%.*s", (int)(end - at), at);
        for (size_t i = 0; end > at && i < sizeof foreign_words / sizeof foreign_words[0]; i++)
            if (matches(word, foreign_words[i]))
                blame(found, "%s: %s is a word of one language alone", file, word);
        at = end > at ? end : at + 1;
    }
    for (size_t i = 0; i < sizeof foreign_texts / sizeof foreign_texts[0]; i++)
        if (strstr(text, foreign_texts[i]) != NULL)
            blame(found, "%s: %s is for one language alone", file, foreign_texts[i]);
}

/* A word that this file has from a dialect, it has from both. */
static void check_words(const char *file, const char *text, const char *dialect, const char *cuda, fault *found)
{
    static const char *const prefixes[] = {"LEY_", "ley_"};
    char word[MAX_KEY];
    for (size_t i = 0; i < 2; i++)
        for (const char *at = text; (at = next_word(text, at, prefixes[i], word)) != NULL;) {
            const bool here = has_macro(dialect, word) || has_function(dialect, word);
            const bool there = has_macro(cuda, word) || has_function(cuda, word);
            if (here != there)
                blame(found, "%s: %s is only in the dialect of %s", file, word, here ? "OpenCL C" : "CUDA C");
        }
}

/* Which files both languages read. */
static bool is_shared(const char *file)
{
    return file[0] != '.' && strcmp(file, "dialect.h") != 0 && strstr(file, "_vectors.h") == NULL;
}

/* All of a folder and those in it, with `from` replaced in `in`. */
static void check_folder(const char *folder, char *const dialects[2], const char *in, const char *from, const char *to,
                         fault *found)
{
    char path[600];
    struct dirent **files = NULL;
    const int count = scandir(folder, &files, NULL, alphasort);
    assert_true(count >= 3);
    for (int i = 0; i < count; i++) {
        const char *file = files[i]->d_name;
        snprintf(path, sizeof path, "%s/%s", folder, file);
        if (files[i]->d_type == DT_DIR && file[0] != '.')
            check_folder(path, dialects, in, from, to, found);
        else if (is_shared(file)) {
            char *text = changed(load_file(path), strcmp(in, path) == 0 ? from : NULL, to);
            check_language(file, text, found);
            check_words(file, text, dialects[0], dialects[1], found);
            free(text);
        }
        free(files[i]);
    }
    free(files);
}

/* All of cl/, with `from` replaced in `in`, which may be a dialect. */
static void check_dialects(const char *in, const char *from, const char *to, fault *found)
{
    static const char *const paths[] = {"cl/dialect.h", "kernels_cuda/dialect.cuh"};
    char *dialects[2];
    for (size_t i = 0; i < 2; i++)
        dialects[i] = changed(load_file(paths[i]), strcmp(in, paths[i]) == 0 ? from : NULL, to);
    check_folder("cl", dialects, in, from, to, found);
    free(dialects[0]);
    free(dialects[1]);
}

static void test_dialects(void **state)
{
    static const struct {
        const char *in, *from, *to, *expected;
    } changes[] = {
        {"", NULL, NULL, ""},
        {"kernels_cuda/dialect.cuh", "#define LEY_LOCAL_VARIABLE", "#define LEY_OTHER",
         "anterpolate.cl: LEY_LOCAL_VARIABLE is only in the dialect of OpenCL C"},
        {"cl/dialect.h", "#define LEY_LOCAL_SIZE", "#define LEY_OTHER",
         "ions_mask.cl: LEY_LOCAL_SIZE is only in the dialect of CUDA C"},
        {"cl/roots.cl", "LEY_GLOBAL_ID(0)", "get_global_id(0)",
         "roots.cl: get_global_id is a word of one language alone"},
        {"cl/laws/pairs.h", "point.x - a.x", "threadIdx.x", "pairs.h: threadIdx is a word of one language alone"},
        {"cl/roots.cl", "LEY_GLOBAL_ID(0)", "threadIdx.x", "roots.cl: threadIdx is a word of one language alone"},
        {"cl/local_reads.cl", "LEY_ATOM(0, 0, 0, 0)", "(atom)(0, 0, 0, 0)",
         "local_reads.cl: (atom)( is for one language alone"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        fault found = {""};
        check_dialects(changes[i].in, changes[i].from, changes[i].to, &found);
        only(&found, changes[i].expected);
    }
}

/* ---- Files of kernels_cuda/ ------------------------------------------------------------------ */

/* X.cu, where there is one, is the dialect, then cl/X.cl. A function that it has of its own,
 * "#define OWN_f", is one that the source leaves to it, "#ifdef OWN_f" or "#ifndef OWN_f", and both
 * have it. */
static void check_cuda_file(const char *kernel, const char *text, const char *source, fault *found)
{
    char included[128], word[MAX_KEY], place[2][MAX_KEY + 16];
    snprintf(included, sizeof included, "#include \"%s.cl\"\n", kernel);
    const char *dialect = strstr(text, "#include \"dialect.cuh\"\n"), *cl = strstr(text, included);
    if (dialect == NULL || cl == NULL || dialect > cl)
        blame(found, "%s.cu does not include dialect.cuh and then %s.cl", kernel, kernel);
    for (const char *at = text; (at = next_word(text, at, "OWN_", word)) != NULL;) {
        const char *name = word + strlen("OWN_");
        snprintf(place[0], sizeof place[0], "#ifdef %s\n", word);
        snprintf(place[1], sizeof place[1], "#ifndef %s\n", word);
        if (strstr(source, place[0]) == NULL && strstr(source, place[1]) == NULL)
            blame(found, "%s.cu: %s is not asked for in the source", kernel, word);
        if (!has_function(source, name))
            blame(found, "%s.cu: the source has no function %s to replace", kernel, name);
        if (!has_function(text, name))
            blame(found, "%s.cu has no function %s of its own", kernel, name);
    }
}

static void check_cuda(const char *kernel, const char *from, const char *to, fault *found)
{
    char path[128];
    snprintf(path, sizeof path, "kernels_cuda/%s.cu", kernel);
    char *text = changed(load_file(path), from, to), *source = load_kernel(kernel, "cl");
    check_cuda_file(kernel, text, source, found);
    free(source);
    free(text);
}

static void test_cuda_files(void **state)
{
    int count = 0;
    for (const kernel_kind *const *kind = kernel_registry; *kind != NULL; kind++) {
        fault found = {""};
        char file[64];
        snprintf(file, sizeof file, "kernels_cuda/%s.cu", (*kind)->name);
        if (access(file, R_OK) != 0)
            continue;
        count++;
        check_cuda((*kind)->name, NULL, NULL, &found);
        only(&found, "");
    }
    assert_true(count > 0);
    static const struct {
        const char *kernel, *from, *to, *expected;
    } changes[] = {
        {"mdh", "#include \"mdh.cl\"", "", "mdh.cu does not include dialect.cuh and then mdh.cl"},
        {"mdh", "\"dialect.cuh\"", "\"spec.h\"", "mdh.cu does not include dialect.cuh and then mdh.cl"},
        {"mdh", "#include \"mdh.cl\"", "#define OWN_mdh\n#include \"mdh.cl\"",
         "mdh.cu: OWN_mdh is not asked for in the source"},
        {"dcs", "OWN_sum_atoms\n#endif", "OWN_store\n#endif", "dcs.cu: OWN_store is not asked for in the source"},
        {"dcs", "LEY_FN void sum_atoms", "LEY_FN void sum_all_atoms", "dcs.cu has no function sum_atoms of its own"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        fault found = {""};
        check_cuda(changes[i].kernel, changes[i].from, changes[i].to, &found);
        only(&found, changes[i].expected);
    }
}

int main(void)
{
    return RUN_TESTS(test_table, test_drift, test_files, test_dialects, test_cuda_files);
}
