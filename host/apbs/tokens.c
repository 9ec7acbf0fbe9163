#include "apbs/tokens.h"

#include "error.h"

#include <stdlib.h>
#include <string.h>

bool ley_apbs_is_white(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '=' || c == ',' || c == ';';
}

bool ley_apbs_is_comment(char c)
{
    return c == '#' || c == '%';
}

static ley_status append(ley_apbs_tokens *tokens, const ley_apbs_token *token, ley_error *error)
{
    if (tokens->n == tokens->capacity) {
        size_t more = tokens->capacity < 256 ? 256 : 2 * tokens->capacity;
        ley_apbs_token *larger = realloc(tokens->token, more * sizeof *larger);
        if (larger == NULL)
            return ley_fail_memory(error, more * sizeof *larger, "the words of an input file");
        tokens->token = larger;
        tokens->capacity = more;
    }
    tokens->token[tokens->n++] = *token;
    return LEY_OK;
}

/* From `at` to the next word or the end; counts lines. */
static size_t skip(const char *text, size_t size, size_t at, int *line)
{
    while (at < size) {
        if (ley_apbs_is_comment(text[at])) {
            while (at < size && text[at] != '\n')
                at++;
        } else if (ley_apbs_is_white(text[at])) {
            *line += text[at++] == '\n';
        } else {
            break;
        }
    }
    return at;
}

static ley_status fail_nul(const char *path, const char *text, const char *nul, ley_error *error)
{
    int line = 1;
    for (const char *c = text; c < nul; c++)
        line += *c == '\n';
    return ley_fail(error, LEY_ERROR_INPUT, "%s:%d: a NUL byte: this is not a text file", path, line);
}

ley_status ley_apbs_tokenise(const char *path, const char *text, size_t size, ley_apbs_tokens *tokens, ley_error *error)
{
    *tokens = (ley_apbs_tokens){.lost = (size_t)-1};
    const char *nul = memchr(text, '\0', size);
    if (nul != NULL)
        return fail_nul(path, text, nul, error);
    size_t base = 0; /* of APBS's buffer in the file */
    int line = 1;
    for (size_t end = 0;;) {
        if (end - base > LEY_APBS_BUFFER_BYTES / 2)
            base = end;
        size_t start = skip(text, size, end, &line), gap = start - end;
        if (start == size)
            break;
        for (end = start; end < size && !ley_apbs_is_white(text[end]) && !ley_apbs_is_comment(text[end]);)
            end++;
        if (end - base >= LEY_APBS_BUFFER_BYTES && tokens->lost == (size_t)-1) {
            tokens->lost = tokens->n;
            tokens->lost_gap = gap;
        }
        ley_status status =
            append(tokens, &(ley_apbs_token){.start = start, .length = end - start, .line = line}, error);
        if (status != LEY_OK) {
            ley_apbs_tokens_free(tokens);
            return status;
        }
    }
    tokens->last_line = size > 0 && text[size - 1] == '\n' ? line - 1 : line;
    if (tokens->lost == (size_t)-1)
        tokens->lost = tokens->n;
    return LEY_OK;
}

void ley_apbs_tokens_free(ley_apbs_tokens *tokens)
{
    free(tokens->token);
    *tokens = (ley_apbs_tokens){0};
}
