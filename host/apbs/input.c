#include "apbs/input.h"

#include "error.h"
#include "io/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* ---- The file -------------------------------------------------------------------------------- */

static ley_status fail_file(const char *path, int reason, int fd, char *text, ley_error *error)
{
    if (fd >= 0)
        close(fd);
    free(text);
    return ley_fail(error, LEY_ERROR_FILE, "%s: %s", path, strerror(reason));
}

/* *text: from malloc, a NUL behind its *size bytes. */
static ley_status load(const char *path, char **text, size_t *size, ley_error *error)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0 || (S_ISDIR(status.st_mode) && (errno = EISDIR)))
        return fail_file(path, errno, fd, NULL, error);
    size_t room = LEY_APBS_BYTES_MAX + 1, n = 0;
    char *bytes = malloc(room + 1);
    if (bytes == NULL) {
        close(fd);
        return ley_fail_memory(error, room + 1, "an input file");
    }
    for (ssize_t got = 1; got != 0 && n < room;) {
        got = read(fd, bytes + n, room - n);
        if (got < 0 && errno != EINTR)
            return fail_file(path, errno, fd, bytes, error);
        n += got > 0 ? (size_t)got : 0;
    }
    close(fd);
    if (n == room) {
        free(bytes);
        return ley_fail(error, LEY_ERROR_INPUT, "%s:1: longer than %d bytes: this is no APBS input file", path,
                        LEY_APBS_BYTES_MAX);
    }
    bytes[n] = '\0';
    char *smaller = realloc(bytes, n + 1);
    *text = smaller != NULL ? smaller : bytes;
    *size = n;
    return LEY_OK;
}

ley_status ley_apbs_input_read(const char *path, ley_apbs_input **input, ley_error *error)
{
    char *text = NULL;
    size_t size = 0;
    ley_apbs_input *result = NULL;
    ley_status status = load(path, &text, &size, error);
    if (status == LEY_OK)
        status = ley_apbs_parse(path, text, size, &result, error);
    if (status != LEY_OK)
        return status;
    status = ley_apbs_read_molecules(result, error);
    if (status == LEY_OK)
        status = ley_apbs_place(result, error);
    if (status == LEY_OK)
        *input = result;
    else
        ley_apbs_input_destroy(result);
    return status;
}

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
        free((char *)input->file[i].path);
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
