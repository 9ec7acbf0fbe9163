#include "apbs/input.h"

#include "error.h"
#include "io/text.h"
#include "memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Means of the parser --------------------------------------------------------------------- */

ley_status ley_apbs_fail(const ley_apbs_input *input, int line, ley_error *error, const char *format, ...)
{
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return ley_fail(error, LEY_ERROR_INPUT, "%s:%d: %s", input->path, line, message);
}

void ley_apbs_warn(ley_apbs_input *input, const char *path, int line, const char *format, ...)
{
    char message[512], *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (input->warning_count < LEY_APBS_WARNINGS_MAX &&
        asprintf(&text, "%s:%d: %s", path != NULL ? path : input->path, line, message) >= 0)
        input->warning[input->warning_count++] = text;
}

bool ley_apbs_is(const ley_apbs_input *input, const ley_apbs_token *token, const char *keyword)
{
    return ley_word_is(input->text + token->start, token->length, keyword);
}

ley_status ley_apbs_take(const ley_apbs_input *input, size_t *at, const char *section, int line,
                         const ley_apbs_token **token, ley_error *error)
{
    const ley_apbs_tokens *tokens = &input->tokens;
    if (*at < tokens->n && *at >= tokens->lost)
        return ley_apbs_fail(
            input, tokens->token[*at].line, error,
            "APBS loses what follows: its buffer of %d bytes does not hold this word and the %zu bytes of white "
            "space and comments in front of it",
            LEY_APBS_BUFFER_BYTES, tokens->lost_gap);
    if (*at >= tokens->n)
        return ley_apbs_fail(input, tokens->last_line, error, "the file ends in the %s section of line %d: no END",
                             section, line);
    *token = &tokens->token[(*at)++];
    return LEY_OK;
}

ley_status ley_apbs_take_path(const ley_apbs_input *input, size_t *at, const char *section, int line, char **path,
                              ley_error *error)
{
    const ley_apbs_token *token;
    char joined[LEY_APBS_PATH_MAX + 3];
    size_t length = 0;
    bool quoted = false, whole = false;
    while (!whole) {
        ley_status status = ley_apbs_take(input, at, section, line, &token, error);
        if (status != LEY_OK)
            return status;
        const char *word = input->text + token->start;
        quoted = quoted || *word == '"';
        whole = !quoted || word[token->length - 1] == '"';
        if (length + token->length + 1 > LEY_APBS_PATH_MAX + (quoted ? 2 : 0))
            return ley_apbs_fail(input, token->line, error, "a path of more than %d bytes", LEY_APBS_PATH_MAX);
        if (length > 0)
            joined[length++] = ' '; /* whatever stood between the words */
        memcpy(joined + length, word, token->length);
        length += token->length;
    }
    size_t cut = quoted ? 1 : 0;
    if (length <= 2 * cut)
        return ley_apbs_fail(input, token->line, error, "quotation marks without a path between them");
    *path = strndup(joined + cut, length - 2 * cut);
    return *path != NULL ? LEY_OK : ley_fail_memory(error, length, "a path");
}

ley_status ley_apbs_note_file(ley_apbs_input *input, const char *path, const char *ending, bool is_written,
                              ley_error *error)
{
    char *whole;
    if (input->file_count == LEY_APBS_FILES_MAX)
        return LEY_OK;
    if (asprintf(&whole, "%s%s", path, ending) < 0)
        return ley_fail_memory(error, strlen(path), "a path");
    input->file[input->file_count++] = (ley_apbs_file){whole, is_written};
    return LEY_OK;
}

/* ---- Its end -------------------------------------------------------------------------------- */

void ley_apbs_input_destroy(ley_apbs_input *input)
{
    if (input == NULL)
        return;
    for (size_t i = 0; i < input->elec_count; i++) {
        free(input->name[i]);
        free(input->type[i]);
    }
    for (size_t i = 0; i < input->molecule_count; i++) {
        free(input->molecule[i].path);
        ley_atoms_destroy(input->molecule[i].atoms);
    }
    for (size_t i = 0; i < input->warning_count; i++)
        free(input->warning[i]);
    for (size_t i = 0; i < input->file_count; i++)
        memory_free(input->file[i].path);
    ley_apbs_tokens_free(&input->tokens);
    free(input->text);
    free(input->path);
    free(input);
}

/* ---- What is in it --------------------------------------------------------------------------- */

size_t ley_apbs_elec_count(const ley_apbs_input *input)
{
    return input->elec_count;
}

const ley_apbs_elec *ley_apbs_elec_get(const ley_apbs_input *input, size_t i)
{
    return &input->elec[i];
}

size_t ley_apbs_molecule_count(const ley_apbs_input *input)
{
    return input->molecule_count;
}

const ley_atoms *ley_apbs_molecule(const ley_apbs_input *input, size_t i)
{
    return input->molecule[i].atoms;
}

const char *ley_apbs_molecule_path(const ley_apbs_input *input, size_t i)
{
    return input->molecule[i].path;
}

size_t ley_apbs_file_count(const ley_apbs_input *input)
{
    return input->file_count;
}

const ley_apbs_file *ley_apbs_file_get(const ley_apbs_input *input, size_t i)
{
    return &input->file[i];
}

size_t ley_apbs_warning_count(const ley_apbs_input *input)
{
    return input->warning_count;
}

const char *ley_apbs_warning(const ley_apbs_input *input, size_t i)
{
    return input->warning[i];
}
