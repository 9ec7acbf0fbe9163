/* An APBS input file again, with boundaries from maps. */
#include "apbs/rewrite.h"
#include "error.h"
#include "io/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A text in place of `removed` bytes at `at`. */
typedef struct edit {
    size_t at, removed;
    char *text;
} edit;

enum { EDITS_MAX = 2 * LEY_APBS_ELECS_MAX + 1 };

typedef struct edits {
    size_t n;
    edit edit[EDITS_MAX];
} edits;

static bool uses_map(const char *const *maps, size_t i)
{
    return maps[i] != NULL;
}

/* ---- What can be handed over ----------------------------------------------------------------- */

static ley_status check_section(const ley_apbs_input *input, size_t i, ley_error *error)
{
    const ley_apbs_facts *facts = &input->facts[i];
    if (facts->map_line[LEY_APBS_MAP_POT] != 0)
        return ley_apbs_fail(input, facts->map_line[LEY_APBS_MAP_POT], error,
                             "this ELEC section uses a potential map of its own");
    if (input->elec[i].boundary == LEY_BOUNDARY_OTHER)
        return ley_apbs_fail(input, facts->line, error, "the boundary of this ELEC section cannot come from a map");
    return LEY_OK;
}

ley_status ley_apbs_input_check_maps(const ley_apbs_input *input, const bool *use, ley_error *error)
{
    bool any = false, reads_maps = false;
    for (size_t i = 0; i < input->elec_count; i++) {
        ley_status status = use[i] ? check_section(input, i, error) : LEY_OK;
        if (status != LEY_OK)
            return status;
        any = any || use[i];
    }
    for (int kind = 0; kind < LEY_APBS_MAP_KINDS; kind++)
        reads_maps = reads_maps || input->map_count[kind] > 0;
    /* With maps of its own the run has no forces to lose. */
    for (size_t i = 0; i < input->elec_count && any && !reads_maps; i++)
        if (input->facts[i].forces)
            return ley_apbs_fail(input, input->facts[i].forces_line, error,
                                 "calcforce: a potential map disables forces in all ELEC sections");
    return LEY_OK;
}

/* The path as an APBS word: in quotation marks when it has blanks. From malloc. */
static ley_status word_of(const char *path, char **word, ley_error *error)
{
    size_t length = strlen(path);
    bool blanks = false;
    if (length == 0 || length > LEY_APBS_PATH_MAX)
        return ley_fail(error, LEY_ERROR_USAGE, "a path of %zu bytes: APBS takes 1 to %d", length, LEY_APBS_PATH_MAX);
    for (const char *c = path; *c != '\0'; c++) {
        bool between = *c == ' ' && c > path && c[-1] != ' ' && c[1] != '\0';
        blanks = blanks || *c == ' ';
        if ((ley_apbs_is_white(*c) && !between) || ley_apbs_is_comment(*c) || *c == '"')
            return ley_fail(error, LEY_ERROR_USAGE, "%s: APBS cannot read a path with byte %zu", path,
                            (size_t)(c - path) + 1);
    }
    if (asprintf(word, blanks ? "\"%s\"" : "%s", path) < 0)
        return ley_fail_memory(error, length + 3, "a path");
    return LEY_OK;
}

/* ---- Places ---------------------------------------------------------------------------------- */

static size_t line_start(const ley_apbs_input *input, size_t at)
{
    while (at > 0 && input->text[at - 1] != '\n')
        at--;
    return at;
}

/* Whether only blanks stand in front of the word. */
static bool is_first(const ley_apbs_input *input, const ley_apbs_token *token)
{
    size_t start = line_start(input, token->start);
    return strspn(input->text + start, " \t") == token->start - start;
}

/* End of the line that `at` is on; of the one before when it is the last and has none. */
static const char *line_end(const ley_apbs_input *input, size_t at)
{
    const char *end = strchr(input->text + at, '\n');
    if (end == NULL && (at = line_start(input, at)) > 0)
        end = input->text + at - 1;
    return end != NULL && end > input->text && end[-1] == '\r' ? "\r\n" : "\n";
}

/* ---- Edits ----------------------------------------------------------------------------------- */

static ley_status add(edits *list, size_t at, size_t removed, char *text, ley_error *error)
{
    if (text == NULL)
        return ley_fail_memory(error, 64, "an input file");
    list->edit[list->n++] = (edit){.at = at, .removed = removed, .text = text};
    return LEY_OK;
}

/* `bcfl map`, and the line `usemap pot N` in front of it; on the same line when `bcfl` is not its
 * first word. */
static ley_status edit_section(const ley_apbs_input *input, size_t i, int number, edits *list, ley_error *error)
{
    const ley_apbs_token *keyword = &input->tokens.token[input->facts[i].bcfl], *value = keyword + 1;
    char *before = NULL, *instead = NULL;
    if (is_first(input, keyword)) {
        size_t start = line_start(input, keyword->start);
        if (asprintf(&before, "%.*susemap pot %d%s", (int)(keyword->start - start), input->text + start, number,
                     line_end(input, keyword->start)) < 0)
            before = NULL;
        ley_status status = add(list, start, 0, before, error);
        return status == LEY_OK ? add(list, value->start, value->length, strdup("map"), error) : status;
    }
    if (asprintf(&instead, "map usemap pot %d", number) < 0)
        instead = NULL;
    return add(list, value->start, value->length, instead, error);
}

/* Whether the line of this word begins with READ. */
static bool is_on_read(const ley_apbs_input *input, const ley_apbs_token *token)
{
    const ley_apbs_token *first = token;
    while (first > input->tokens.token && first[-1].line == token->line)
        first--;
    return ley_apbs_is(input, first, "READ");
}

/* `pot dx` and each path, in front of the END of READ. */
static ley_status edit_read(const ley_apbs_input *input, char *const *words, size_t n, edits *list, ley_error *error)
{
    const ley_apbs_token *end = &input->tokens.token[input->read_end], *previous = end - 1;
    bool lines = is_first(input, end);
    size_t start = lines ? line_start(input, end->start) : end->start;
    /* As deep as the statement in front. */
    size_t deep = line_start(input, previous->start), width = strspn(input->text + deep, " \t");
    bool like_previous = !is_on_read(input, previous) && width < LEY_APBS_PATH_MAX;
    char indent[LEY_APBS_PATH_MAX + 1];
    snprintf(indent, sizeof indent, "%.*s", like_previous ? (int)width : 4,
             like_previous ? input->text + deep : "    ");
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (stream == NULL)
        return ley_fail_memory(error, 64, "an input file");
    for (size_t i = 0; i < n; i++)
        fprintf(stream, "%spot dx %s%s", lines ? indent : "", words[i], lines ? line_end(input, end->start) : " ");
    if (fclose(stream) != 0) {
        free(text);
        return ley_fail_memory(error, size, "an input file");
    }
    return add(list, start, 0, text, error);
}

static int by_place(const void *a, const void *b)
{
    const edit *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

static ley_status apply(const ley_apbs_input *input, edits *list, char **text, size_t *size, ley_error *error)
{
    qsort(list->edit, list->n, sizeof *list->edit, by_place); /* no two at the same place */
    size_t total = input->size;
    for (size_t i = 0; i < list->n; i++)
        total += strlen(list->edit[i].text) - list->edit[i].removed;
    char *result = malloc(total + 1);
    if (result == NULL)
        return ley_fail_memory(error, total + 1, "an input file");
    size_t from = 0, to = 0;
    for (size_t i = 0; i < list->n; i++) {
        const edit *e = &list->edit[i];
        memcpy(result + to, input->text + from, e->at - from);
        to += e->at - from;
        memcpy(result + to, e->text, strlen(e->text));
        to += strlen(e->text);
        from = e->at + e->removed;
    }
    memcpy(result + to, input->text + from, input->size - from + 1);
    *text = result;
    *size = total;
    return LEY_OK;
}

/* ---- The file -------------------------------------------------------------------------------- */

/* APBS's buffer must hold the longer text, too. */
static ley_status check_text(const ley_apbs_input *input, const char *text, size_t size, ley_error *error)
{
    ley_apbs_tokens tokens;
    ley_status status = ley_apbs_tokenise(input->path, text, size, &tokens, error);
    if (status != LEY_OK)
        return status;
    if (tokens.lost < tokens.n && input->tokens.lost == input->tokens.n)
        status = ley_apbs_fail(
            input, tokens.token[tokens.lost].line, error,
            "with the maps' lines APBS's buffer of %d bytes would lose the word behind %zu bytes of white space "
            "and comments: shorten them",
            LEY_APBS_BUFFER_BYTES, tokens.lost_gap);
    ley_apbs_tokens_free(&tokens);
    return status;
}

ley_status ley_apbs_compose(const ley_apbs_input *input, const char *const *maps, char **text, size_t *size,
                            ley_error *error)
{
    bool use[LEY_APBS_ELECS_MAX];
    for (size_t i = 0; i < input->elec_count; i++)
        use[i] = uses_map(maps, i);
    ley_status status = ley_apbs_input_check_maps(input, use, error);
    char *words[LEY_APBS_ELECS_MAX];
    size_t n = 0, numbers[LEY_APBS_ELECS_MAX] = {0};
    edits list = {0};
    for (size_t i = 0; i < input->elec_count && status == LEY_OK; i++) {
        if (!use[i])
            continue;
        size_t number = 0; /* sections with the same map share it */
        for (size_t k = 0; k < i && number == 0; k++)
            number = use[k] && strcmp(maps[k], maps[i]) == 0 ? numbers[k] : 0;
        if (number == 0) {
            status = word_of(maps[i], &words[n], error);
            number = status == LEY_OK ? ++n : 0;
        }
        numbers[i] = number;
        if (status == LEY_OK)
            status = edit_section(input, i, input->map_count[LEY_APBS_MAP_POT] + (int)number, &list, error);
    }
    if (status == LEY_OK && n > 0)
        status = edit_read(input, words, n, &list, error);
    if (status == LEY_OK)
        status = apply(input, &list, text, size, error);
    for (size_t i = 0; i < n; i++)
        free(words[i]);
    for (size_t i = 0; i < list.n; i++)
        free(list.edit[i].text);
    return status;
}

ley_status ley_apbs_input_write(const ley_apbs_input *input, const char *const *maps, const char *path,
                                ley_error *error)
{
    char *text;
    size_t size;
    ley_output output;
    ley_status status = ley_apbs_compose(input, maps, &text, &size, error);
    if (status != LEY_OK)
        return status;
    status = check_text(input, text, size, error);
    if (status == LEY_OK)
        status = ley_output_open(&output, path, false, NULL, error);
    if (status == LEY_OK) {
        status = ley_output_write(&output, text, size, error);
        if (status == LEY_OK)
            status = ley_output_commit(&output, error);
        else
            ley_output_abandon(&output);
    }
    free(text);
    return status;
}
