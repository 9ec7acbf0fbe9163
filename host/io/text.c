#include "io/text.h"

#include "error.h"
#include "leyden.h"
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_BYTES = 256 * 1024 };

_Static_assert(BUFFER_BYTES > LEY_TEXT_LINE_MAX + 2, "a line and its end fit into the buffer");

struct ley_text {
    const char *path;
    ley_stream *stream; /* NULL: a piece */
    bool owns_stream;
    char *raw; /* what was read last, as it is in the file; NULL: nobody wants it back */
    size_t raw_size;
    int fd;            /* of a piece */
    int64_t read_to;   /* of the text: the byte behind what is in the buffer */
    int64_t least;     /* bytes of plain text that the file had when it was opened, or earlier; 0: unknown */
    int64_t line;      /* of what was read last, from 1; 0: nothing was */
    size_t begin, end; /* what is still unread of the buffer */
    bool drained;      /* the file has no more than what is in the buffer */
    bool begins_line;  /* what is unread is in the line behind the one that `line` counts */
    bool at_start;     /* nothing has been read: a byte order mark may come */
    bool holds_back;   /* a CR at buffer[end]: what follows it decides whether it ends a line alone */
    char buffer[BUFFER_BYTES + 1];
};

ley_status ley_text_open_stream(ley_stream *stream, ley_text **text, ley_error *error)
{
    ley_text *t = malloc(sizeof *t);
    if (t == NULL)
        return ley_fail_memory(error, sizeof *t, "reading a file");
    const int64_t size = ley_stream_size(stream);
    t->path = ley_stream_path(stream);
    t->stream = stream;
    t->owns_stream = false;
    t->raw = NULL;
    t->raw_size = 0;
    t->fd = -1;
    t->read_to = ley_stream_position(stream);
    t->least = size > 0 ? size : 0;
    t->line = 0;
    t->begin = t->end = 0;
    t->drained = t->holds_back = false;
    t->begins_line = t->at_start = true;
    *text = t;
    return LEY_OK;
}

ley_status ley_text_open(const char *path, ley_text **text, ley_error *error)
{
    ley_stream *stream;
    ley_status status = ley_stream_open(path, &stream, error);
    if (status != LEY_OK)
        return status;
    status = ley_text_open_stream(stream, text, error);
    if (status == LEY_OK)
        (*text)->owns_stream = true;
    else
        ley_stream_close(stream);
    return status;
}

const char *ley_text_path(const ley_text *text)
{
    return text->path;
}

bool ley_text_is_packed(const ley_text *text)
{
    return text->stream != NULL && ley_stream_is_packed(text->stream);
}

int64_t ley_text_plain_size(const char *path)
{
    unsigned char start[2] = {0, 0};
    struct stat known;
    if (stat(path, &known) != 0 || !S_ISREG(known.st_mode)) /* a pipe's writer would take us for its reader */
        return -1;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    const bool is_plain = pread(fd, start, 2, 0) == 2 && !(start[0] == 0x1f && start[1] == 0x8b);
    close(fd);
    return is_plain ? (int64_t)known.st_size : -1;
}

ley_status ley_text_open_piece(const char *path, int64_t first, ley_text **text, ley_error *error)
{
    ley_text *t = calloc(1, sizeof *t);
    if (t == NULL)
        return ley_fail_memory(error, sizeof *t, "reading a file");
    t->path = path;
    t->read_to = first > 0 ? first - 1 : 0;
    t->at_start = first == 0;
    t->fd = open(path, O_RDONLY | O_CLOEXEC);
    ley_status status = t->fd >= 0 ? LEY_OK : ley_fail(error, LEY_ERROR_FILE, "%s: %s", path, strerror(errno));
    if (status == LEY_OK && first > 0) {
        const char *rest;
        size_t length;
        status = ley_text_line(t, &rest, &length, error);
    }
    t->line = 0;
    if (status == LEY_OK)
        *text = t;
    else
        ley_text_close(t);
    return status;
}

void ley_text_expect(ley_text *text, int64_t bytes)
{
    text->least = bytes > text->least ? bytes : text->least;
}

int64_t ley_text_position(const ley_text *text)
{
    return text->read_to - (int64_t)(text->end - text->begin + text->holds_back);
}

void ley_text_close(ley_text *text)
{
    if (text == NULL)
        return;
    if (text->owns_stream)
        ley_stream_close(text->stream);
    if (text->fd >= 0)
        close(text->fd);
    free(text->raw);
    free(text);
}

ley_status ley_text_keep_bytes(ley_text *text, ley_error *error)
{
    text->raw = malloc(BUFFER_BYTES);
    return text->raw != NULL ? LEY_OK : ley_fail_memory(error, BUFFER_BYTES, "reading a file");
}

bool ley_text_may_hold(const ley_text *text, double bytes)
{
    return text->stream == NULL || ley_stream_may_hold(text->stream, bytes);
}

size_t ley_text_room(size_t items)
{
    enum { FEW = 1024, MANY = 1 << 20 };
    return items < FEW ? FEW : items < MANY ? 2 * items : items + items / 4;
}

int64_t ley_text_line_number(const ley_text *text)
{
    return text->line;
}

ley_status ley_text_unread(ley_text *text, ley_error *error)
{
    const size_t unread = text->end - text->begin + text->holds_back;
    const size_t held = unread > text->raw_size ? unread - text->raw_size : 0; /* of what was read before it */
    ley_status status =
        ley_stream_unread(text->stream, text->raw + text->raw_size - (unread - held), unread - held, error);
    if (status == LEY_OK && held > 0)
        status = ley_stream_unread(text->stream, "\r", held, error);
    text->begin = text->end;
    text->holds_back = false;
    return status;
}

ley_status ley_text_fail(const ley_text *text, ley_error *error, const char *format, ...)
{
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return ley_fail(error, LEY_ERROR_INPUT, "%s:%lld: %s", text->path, (long long)text->line, message);
}

ley_status ley_text_check_growth(const ley_text *text, const char *what, double from_bytes, double to_bytes,
                                 const char *advice, ley_error *error)
{
    const double mib = 1 << 20;
    ley_status status = memory_check_growth(what, from_bytes, to_bytes, advice, error);
    if (status == LEY_OK)
        return LEY_OK;
    const double packed = text->stream != NULL ? (double)ley_stream_packed_position(text->stream) : -1;
    if (packed >= 0)
        ley_error_prefix(error, "%s:%lld: %.3g MiB of the gzip file unpack to %.3g MiB so far", text->path,
                         (long long)text->line, packed / mib, (double)ley_stream_position(text->stream) / mib);
    else
        ley_error_prefix(error, "%s:%lld", text->path, (long long)text->line);
    return status;
}

/* ---- Line ends and byte order marks ---------------------------------------------------------- */

/* How the text is encoded, by its first bytes: UTF-8's byte order mark is passed over, UTF-16 and
 * UTF-32, which iconv knows by this name, are refused. NULL: neither. */
static const char *wide_encoding(const char *text, size_t n)
{
    static const struct {
        const char *bytes, *name;
        size_t n;
    } marks[] = {{"\xff\xfe\0\0", "UTF-32", 4},
                 {"\0\0\xfe\xff", "UTF-32", 4},
                 {"\xff\xfe", "UTF-16", 2},
                 {"\xfe\xff", "UTF-16", 2}};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (n >= marks[i].n && memcmp(text, marks[i].bytes, marks[i].n) == 0)
            return marks[i].name;
    /* Without a mark every other byte of plain letters is 0. */
    bool little = n >= 8, big = n >= 8;
    for (size_t i = 0; i < 8 && (little || big); i++) {
        little = little && (text[i] == '\0') == (i % 2 == 1) && (unsigned char)text[i] < 0x80;
        big = big && (text[i] == '\0') == (i % 2 == 0) && (unsigned char)text[i] < 0x80;
    }
    return little ? "UTF-16LE" : big ? "UTF-16BE" : NULL;
}

/* Bytes of a byte order mark to pass over. */
static ley_status pass_mark(const char *path, bool is_packed, const char *text, size_t n, size_t *passed,
                            ley_error *error)
{
    static const char mark[] = "\xef\xbb\xbf";
    const char *wide = wide_encoding(text, n);
    *passed = n >= sizeof mark - 1 && memcmp(text, mark, sizeof mark - 1) == 0 ? sizeof mark - 1 : 0;
    if (wide == NULL)
        return LEY_OK;
    if (is_packed)
        return ley_fail(error, LEY_ERROR_INPUT,
                        "%s:1: this text is %s: a file that can be read comes of gzip -dc '%s' | iconv -f %s -t UTF-8 "
                        "> NEW",
                        path, wide, ley_name_to_type(path), wide);
    return ley_fail(error, LEY_ERROR_INPUT,
                    "%s:1: this text is %s: a file that can be read comes of iconv -f %s -t UTF-8 '%s' > NEW", path,
                    wide, wide, ley_name_to_type(path));
}

/* A CR that no LF follows ends a line, too: makes an LF of it. Of a CR that is the last byte only
 * what follows can tell; then the result is true. */
static bool unify_line_ends(char *text, size_t n)
{
    char *const end = text + n;
    for (char *at = text; (at = memchr(at, '\r', (size_t)(end - at))) != NULL; at++) {
        if (at + 1 == end)
            return true;
        if (at[1] != '\n')
            *at = '\n';
    }
    return false;
}

ley_status ley_text_clean(const char *path, char *text, size_t *size, ley_error *error)
{
    size_t passed;
    const ley_status status = pass_mark(path, false, text, *size, &passed, error);
    if (status != LEY_OK)
        return status;
    *size -= passed;
    memmove(text, text + passed, *size);
    if (unify_line_ends(text, *size))
        text[*size - 1] = '\n';
    return LEY_OK;
}

/* ---- Filling the buffer ---------------------------------------------------------------------- */

/* So many bytes have come behind the end of what was there. */
static ley_status take_in(ley_text *text, size_t got, ley_error *error)
{
    const size_t from = text->end;
    size_t passed = 0;
    text->end += text->holds_back + got;
    text->read_to += (int64_t)got;
    if (text->at_start) {
        const bool is_packed = ley_text_is_packed(text);
        const ley_status status = pass_mark(text->path, is_packed, text->buffer, got, &passed, error);
        if (status != LEY_OK)
            return status;
        text->begin = passed;
        text->at_start = false;
    }
    text->holds_back = unify_line_ends(text->buffer + from, text->end - from);
    text->end -= text->holds_back;
    return LEY_OK;
}

/* What there is to say where no more bytes come. `line`: where a fault lies. */
static ley_status judge_end(ley_text *text, bool has_failed, int reason, int64_t line, ley_error *error)
{
    if (has_failed && text->stream == NULL)
        return ley_fail(error, LEY_ERROR_FILE, "%s: %s", text->path, strerror(reason));
    if (!has_failed && text->read_to >= text->least)
        return LEY_OK;
    text->line = line;
    if (!has_failed)
        return ley_text_fail(text, error, "cut short while it was read");
    char place[PATH_MAX + 32];
    snprintf(place, sizeof place, "%s:%lld", text->path, (long long)line);
    return ley_stream_fail(text->stream, place, error);
}

/* Moves what is unread to the front and reads on behind it. `line`: where a fault lies. */
static ley_status fill(ley_text *text, int64_t line, ley_error *error)
{
    const size_t kept = text->end - text->begin + text->holds_back;
    memmove(text->buffer, text->buffer + text->begin, kept);
    text->end -= text->begin;
    text->begin = 0;
    char *const behind = text->buffer + kept;
    const size_t room = BUFFER_BYTES - kept;
    int64_t got;
    do
        got = text->stream != NULL ? ley_stream_read(text->stream, behind, room)
                                   : pread(text->fd, behind, room, (off_t)text->read_to);
    while (got < 0 && text->stream == NULL && errno == EINTR);
    if (got > 0 && text->raw != NULL)
        memcpy(text->raw, behind, text->raw_size = (size_t)got);
    if (got > 0)
        return take_in(text, (size_t)got, error);
    const int reason = errno;
    text->drained = true;
    if (text->holds_back)
        text->buffer[text->end++] = '\n';
    text->holds_back = false;
    return judge_end(text, got < 0, reason, line, error);
}

/* ---- Whole files ----------------------------------------------------------------------------- */

static ley_status read_whole(ley_text *text, size_t most_bytes, char **bytes, size_t *size, ley_error *error)
{
    size_t room = 0;
    do {
        const ley_status status = fill(text, 1, error);
        if (status != LEY_OK)
            return status;
        const size_t n = text->end - text->begin;
        if (*size + n > most_bytes)
            return ley_fail(error, LEY_ERROR_INPUT, "%s:1: longer than %zu bytes, which is more than such a file has",
                            text->path, most_bytes);
        if (*size + n + 1 > room) {
            room = 2 * (*size + n) + 1;
            char *larger = realloc(*bytes, room);
            if (larger == NULL)
                return ley_fail_memory(error, room, "reading a file");
            *bytes = larger;
        }
        memcpy(*bytes + *size, text->buffer + text->begin, n);
        *size += n;
        (*bytes)[*size] = '\0';
        text->begin = text->end;
    } while (!text->drained);
    return LEY_OK;
}

ley_status ley_file_read_text(const char *path, size_t most_bytes, char **text, size_t *size, ley_error *error)
{
    ley_text *reader;
    char *bytes = NULL;
    *size = 0;
    ley_status status = ley_text_open(path, &reader, error);
    if (status != LEY_OK)
        return status;
    status = read_whole(reader, most_bytes, &bytes, size, error);
    ley_text_close(reader);
    if (status == LEY_OK)
        *text = bytes;
    else
        free(bytes);
    return status;
}

/* ---- Lines and words ------------------------------------------------------------------------- */

ley_status ley_text_line(ley_text *text, const char **line, size_t *length, ley_error *error)
{
    char *stop = NULL;
    size_t seen = 0; /* bytes of this line that hold no line end */
    while (stop == NULL) {
        stop = memchr(text->buffer + text->begin + seen, '\n', text->end - text->begin - seen);
        seen = text->end - text->begin;
        if (stop != NULL || text->drained || seen > LEY_TEXT_LINE_MAX + 1)
            break;
        ley_status status = fill(text, text->line + 1, error);
        if (status != LEY_OK)
            return status;
    }
    if (stop == NULL && seen == 0) {
        *line = NULL;
        *length = 0;
        return LEY_OK;
    }
    text->line++;
    text->begins_line = stop != NULL;
    char *start = text->buffer + text->begin;
    size_t n = stop != NULL ? (size_t)(stop - start) : seen;
    text->begin += stop != NULL ? n + 1 : n;
    if (n > 0 && start[n - 1] == '\r')
        n--;
    if (n > LEY_TEXT_LINE_MAX)
        return ley_text_fail(text, error, "line longer than %d bytes", LEY_TEXT_LINE_MAX);
    if (memchr(start, '\0', n) != NULL)
        return ley_text_fail(text, error, "a NUL byte: this is not a text file");
    start[n] = '\0';
    *line = start;
    *length = n;
    return LEY_OK;
}

ley_status ley_text_word(ley_text *text, const char **word, size_t *length, ley_error *error)
{
    text->line += text->begins_line;
    text->begins_line = false;
    size_t seen = 0; /* bytes of the word so far */
    for (;;) {
        const char *at = text->buffer + text->begin, *end = text->buffer + text->end;
        for (; seen == 0 && at < end && ley_is_space(*at); at++)
            text->line += *at == '\n';
        text->begin = (size_t)(at - text->buffer);
        const char *stop = at + seen;
        while (stop < end && !ley_is_space(*stop) && *stop != '\0')
            stop++;
        if (at < end && *at == '#')
            stop = at + 1;
        seen = (size_t)(stop - at);
        if (seen > LEY_TEXT_WORD_MAX)
            return ley_text_fail(text, error, "word longer than %d bytes", LEY_TEXT_WORD_MAX);
        if (stop < end && *stop == '\0')
            return ley_text_fail(text, error, "a NUL byte: this is not a text file");
        if (stop < end || text->drained || (seen > 0 && *at == '#')) {
            *word = seen > 0 ? at : NULL;
            *length = seen;
            text->begin += seen;
            return LEY_OK;
        }
        ley_status status = fill(text, text->line, error);
        if (status != LEY_OK)
            return status;
    }
}

ley_status ley_text_rest(ley_text *text, char *rest, size_t size, ley_error *error)
{
    size_t kept = 0;
    for (;;) {
        const char *at = text->buffer + text->begin;
        size_t n = text->end - text->begin;
        const char *stop = memchr(at, '\n', n);
        if (stop != NULL)
            n = (size_t)(stop - at);
        if (memchr(at, '\0', n) != NULL)
            return ley_text_fail(text, error, "a NUL byte: this is not a text file");
        for (size_t i = 0; i < n && kept + 1 < size; i++)
            rest[kept++] = at[i];
        text->begin += n;
        if (stop != NULL || text->drained)
            break;
        ley_status status = fill(text, text->line, error);
        if (status != LEY_OK)
            return status;
    }
    if (size > 0)
        rest[kept] = '\0';
    return LEY_OK;
}
