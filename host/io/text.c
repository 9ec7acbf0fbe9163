#include "io/text.h"

#include "error.h"
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
    int fd;            /* of a piece */
    int64_t read_to;   /* of the text: the byte behind what is in the buffer */
    int64_t least;     /* bytes of plain text that the file had when it was opened, or earlier; 0: unknown */
    int64_t line;      /* of what was read last, from 1; 0: nothing was */
    size_t begin, end; /* what is still unread of the buffer */
    bool drained;      /* the file has no more than what is in the buffer */
    bool begins_line;  /* what is unread is in the line behind the one that `line` counts */
    bool passes_mark;  /* of the first bytes, which are still unread */
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
    t->fd = -1;
    t->read_to = ley_stream_position(stream);
    t->least = size > 0 ? size : 0;
    t->line = 0;
    t->begin = t->end = 0;
    t->drained = t->passes_mark = false;
    t->begins_line = true;
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
    return text->read_to - (int64_t)(text->end - text->begin);
}

void ley_text_close(ley_text *text)
{
    if (text == NULL)
        return;
    if (text->owns_stream)
        ley_stream_close(text->stream);
    if (text->fd >= 0)
        close(text->fd);
    free(text);
}

void ley_text_pass_mark(ley_text *text)
{
    text->passes_mark = true;
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
    const ley_status status =
        ley_stream_unread(text->stream, text->buffer + text->begin, text->end - text->begin, error);
    text->begin = text->end;
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

static const char mark[] = "\xef\xbb\xbf";

/* Moves what is unread to the front and reads on behind it. `line`: where a fault lies. */
static ley_status fill(ley_text *text, int64_t line, ley_error *error)
{
    memmove(text->buffer, text->buffer + text->begin, text->end - text->begin);
    text->end -= text->begin;
    text->begin = 0;
    char *const behind = text->buffer + text->end;
    const size_t room = BUFFER_BYTES - text->end;
    int64_t got;
    do
        got = text->stream != NULL ? ley_stream_read(text->stream, behind, room)
                                   : pread(text->fd, behind, room, (off_t)text->read_to);
    while (got < 0 && text->stream == NULL && errno == EINTR);
    if (got > 0) {
        text->end += (size_t)got;
        text->read_to += got;
        if (text->passes_mark && text->end >= sizeof mark - 1 && memcmp(text->buffer, mark, sizeof mark - 1) == 0)
            text->begin = sizeof mark - 1;
        text->passes_mark = false;
        return LEY_OK;
    }
    const int reason = errno;
    text->drained = true;
    if (got < 0 && text->stream == NULL)
        return ley_fail(error, LEY_ERROR_FILE, "%s: %s", text->path, strerror(reason));
    if (got == 0 && text->read_to >= text->least)
        return LEY_OK;
    text->line = line;
    if (got == 0)
        return ley_text_fail(text, error, "cut short while it was read");
    char place[PATH_MAX + 32];
    snprintf(place, sizeof place, "%s:%lld", text->path, (long long)line);
    return ley_stream_fail(text->stream, place, error);
}

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
        return ley_text_fail(text, error, "a NUL byte: this is no text file");
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
            return ley_text_fail(text, error, "a NUL byte: this is no text file");
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
            return ley_text_fail(text, error, "a NUL byte: this is no text file");
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
