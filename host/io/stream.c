#include "io/stream.h"

#include "error.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static const double most_packed = 1040; /* bytes that deflate makes of one: 1032, and a little more */

enum { ZLIB_BYTES = 128 * 1024, MOST_AT_ONCE = 1 << 30 };

struct ley_stream {
    const char *path;
    gzFile file; /* NULL: it is read as it is, by: */
    int fd;
    int64_t bytes;       /* of the regular file; -1: it is none */
    int64_t position;    /* of the next byte to be read */
    unsigned char *kept; /* bytes that come first */
    size_t begin, end;   /* of them */
    int reason;          /* errno of what could not be read */
    bool allows_gaps;    /* ley_stream_allow_gaps() */
};

ley_status ley_stream_open(const char *path, ley_stream **stream, ley_error *error)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0 || (S_ISDIR(status.st_mode) && (errno = EISDIR))) {
        const int reason = errno;
        if (fd >= 0)
            close(fd);
        return ley_fail(error, LEY_ERROR_FILE, "%s: %s", path, strerror(reason));
    }
    ley_stream *s = calloc(1, sizeof *s);
    gzFile file = s != NULL ? gzdopen(fd, "rb") : NULL;
    if (file == NULL || gzbuffer(file, ZLIB_BYTES) != 0) {
        if (file != NULL)
            gzclose(file);
        else
            close(fd);
        free(s);
        return ley_fail_memory(error, sizeof *s + ZLIB_BYTES, "reading a file");
    }
    *s = (ley_stream){.path = path, .file = file, .fd = -1, .bytes = S_ISREG(status.st_mode) ? status.st_size : -1};
    *stream = s;
    return LEY_OK;
}

static void close_file(ley_stream *stream)
{
    if (stream->file != NULL)
        gzclose(stream->file);
    if (stream->fd >= 0)
        close(stream->fd);
    stream->file = NULL;
    stream->fd = -1;
}

void ley_stream_close(ley_stream *stream)
{
    if (stream == NULL)
        return;
    close_file(stream);
    free(stream->kept);
    free(stream);
}

void ley_stream_allow_gaps(ley_stream *stream)
{
    stream->allows_gaps = true;
}

bool ley_stream_allows_gaps(const ley_stream *stream)
{
    return stream->allows_gaps;
}

const char *ley_stream_path(const ley_stream *stream)
{
    return stream->path;
}

static ssize_t read_file(ley_stream *stream, void *to, size_t size)
{
    const size_t part = size < MOST_AT_ONCE ? size : MOST_AT_ONCE;
    ssize_t got;
    do
        got = stream->file != NULL ? gzread(stream->file, to, (unsigned)part) : read(stream->fd, to, part);
    while (got < 0 && stream->file == NULL && errno == EINTR);
    stream->reason = errno;
    return got;
}

int64_t ley_stream_read(ley_stream *stream, void *to, size_t size)
{
    const size_t kept = stream->end - stream->begin;
    int64_t got = 0;
    if (kept > 0) {
        got = (int64_t)(kept < size ? kept : size);
        memcpy(to, stream->kept + stream->begin, (size_t)got);
        stream->begin += (size_t)got;
    } else {
        got = (int64_t)read_file(stream, to, size);
        if (got == 0 && stream->file != NULL) { /* the end, or a gzip file that lacks its own */
            int code = Z_OK;
            gzerror(stream->file, &code);
            got = code == Z_OK || code == Z_STREAM_END ? 0 : -1;
        }
    }
    stream->position += got > 0 ? got : 0;
    return got;
}

ley_status ley_stream_fail(const ley_stream *stream, const char *place, ley_error *error)
{
    int code = Z_ERRNO;
    const char *words = stream->file != NULL ? gzerror(stream->file, &code) : "";
    if (code == Z_MEM_ERROR)
        return ley_fail_memory(error, ZLIB_BYTES, "unpacking a file");
    if (code == Z_BUF_ERROR)
        return ley_fail(error, LEY_ERROR_INPUT, "%s: the gzip file is cut short", place);
    if (code == Z_ERRNO)
        return ley_fail(error, LEY_ERROR_FILE, "%s: %s", stream->path, strerror(stream->reason));
    /* zlib puts its own name of the file in front, "<fd:3>: ". */
    const char *behind_name = strstr(words, ">: ");
    return ley_fail(error, LEY_ERROR_INPUT, "%s: the gzip file is damaged: %s", place,
                    behind_name != NULL ? behind_name + 3 : words);
}

ley_status ley_stream_unread(ley_stream *stream, const void *bytes, size_t size, ley_error *error)
{
    const size_t kept = stream->end - stream->begin;
    if (size > stream->begin) {
        unsigned char *larger = malloc(size + kept);
        if (larger == NULL)
            return ley_fail_memory(error, size + kept, "reading a file");
        if (kept > 0)
            memcpy(larger + size, stream->kept + stream->begin, kept);
        free(stream->kept);
        stream->kept = larger;
        stream->begin = size;
        stream->end = size + kept;
    }
    if (size > 0)
        memcpy(stream->kept + stream->begin - size, bytes, size);
    stream->begin -= size;
    stream->position -= (int64_t)size;
    return LEY_OK;
}

ley_status ley_stream_peek(ley_stream *stream, void *to, size_t size, size_t *got, ley_error *error)
{
    int64_t part = 1;
    for (*got = 0; *got < size && part > 0; *got += part > 0 ? (size_t)part : 0)
        part = ley_stream_read(stream, (unsigned char *)to + *got, size - *got);
    return ley_stream_unread(stream, to, *got, error);
}

int64_t ley_stream_position(const ley_stream *stream)
{
    return stream->position;
}

bool ley_stream_is_packed(const ley_stream *stream)
{
    return stream->file != NULL && gzdirect(stream->file) == 0;
}

int64_t ley_stream_size(const ley_stream *stream)
{
    return ley_stream_is_packed(stream) ? -1 : stream->bytes;
}

bool ley_stream_may_hold(const ley_stream *stream, double bytes)
{
    return stream->bytes < 0 || bytes <= (double)stream->bytes * (ley_stream_is_packed(stream) ? most_packed : 1);
}

int64_t ley_stream_packed_position(const ley_stream *stream)
{
    return ley_stream_is_packed(stream) ? (int64_t)gzoffset(stream->file) : -1;
}

ley_status ley_stream_expect_plain(ley_stream *stream, int64_t bytes, ley_error *error)
{
    if (stream->bytes != bytes || !ley_stream_is_packed(stream))
        return LEY_OK;
    const int fd = open(stream->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return ley_fail(error, LEY_ERROR_FILE, "%s: %s", stream->path, strerror(errno));
    close_file(stream);
    stream->fd = fd;
    stream->begin = stream->end;
    stream->position = 0;
    return LEY_OK;
}
