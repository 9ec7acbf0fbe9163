#include "output.h"

#include "error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

enum { PACKED_BYTES = 256 * 1024 };

static ley_status fail(const ley_output *output, int reason, ley_error *error)
{
    return ley_fail(error, LEY_ERROR_FILE, "%s: %s", output->path, strerror(reason));
}

static bool cancelled(const ley_output *output)
{
    return output->cancel != NULL && __atomic_load_n(output->cancel, __ATOMIC_RELAXED); /* another thread sets it */
}

static ley_status fail_cancelled(const ley_output *output, ley_error *error)
{
    return ley_fail(error, LEY_CANCELLED, "%s: cancelled", output->path);
}

/* An open descriptor's name: to replace the file behind it would not be what the caller means. */
static bool names_descriptor(const char *path)
{
    static const char *const prefixes[] = {"/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(path, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* Opens a hidden file in the folder of the target, with the permissions that the umask leaves. */
static ley_status open_temporary(ley_output *output, ley_error *error)
{
    const char *slash = strrchr(output->target, '/');
    size_t folder = slash != NULL ? (size_t)(slash - output->target) + 1 : 0, size = folder + 64;
    output->temporary = malloc(size);
    if (output->temporary == NULL)
        return ley_fail_memory(error, size, "a file name");
    int reason = EEXIST;
    for (int attempt = 0; attempt < 100 && reason == EEXIST; attempt++) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        uint64_t salt = (uint64_t)now.tv_nsec * UINT64_C(0x9e3779b97f4a7c15) ^ (uintptr_t)output;
        snprintf(output->temporary, size, "%.*s.leyden-%lx-%016llx", (int)folder, output->target, (long)getpid(),
                 (unsigned long long)salt);
        output->fd = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (output->fd >= 0)
            return LEY_OK;
        reason = errno;
    }
    return fail(output, reason, error);
}

/* A pipe waits for its reader here, and a signal that cancels must end that. */
static ley_status open_straight(ley_output *output, ley_error *error)
{
    do
        output->fd = open(output->path, O_WRONLY | O_APPEND | O_CLOEXEC);
    while (output->fd < 0 && errno == EINTR && !cancelled(output));
    if (output->fd >= 0)
        return LEY_OK;
    return errno == EINTR ? fail_cancelled(output, error) : fail(output, errno, error);
}

static ley_status open_target(ley_output *output, ley_error *error)
{
    struct stat status;
    bool exists = stat(output->path, &status) == 0;
    if (!exists && errno != ENOENT)
        return fail(output, errno, error);
    if (exists && S_ISDIR(status.st_mode))
        return fail(output, EISDIR, error);
    if (names_descriptor(output->path) || (exists && !S_ISREG(status.st_mode)))
        return open_straight(output, error);
    /* The folder's permissions alone would let a file be replaced that is marked as read-only. */
    if (exists && faccessat(AT_FDCWD, output->path, W_OK, AT_EACCESS) != 0)
        return fail(output, errno, error);
    /* A symbolic link stays one: the file it points to is replaced. */
    output->target = exists ? realpath(output->path, NULL) : strdup(output->path);
    if (output->target == NULL)
        return fail(output, errno, error);
    return open_temporary(output, error);
}

static ley_status open_packer(ley_output *output, ley_error *error)
{
    output->packer = calloc(1, sizeof *output->packer);
    output->packed = malloc(PACKED_BYTES);
    if (output->packer == NULL || output->packed == NULL ||
        deflateInit2(output->packer, 1, Z_DEFLATED, MAX_WBITS + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(output->packer);
        output->packer = NULL;
        return ley_fail_memory(error, PACKED_BYTES, "packing a file");
    }
    return LEY_OK;
}

ley_status ley_output_open(ley_output *output, const char *path, bool gzip, const volatile bool *cancel,
                           ley_error *error)
{
    *output = (ley_output){.path = path, .cancel = cancel, .fd = -1};
    ley_status status = open_target(output, error);
    if (status == LEY_OK && gzip)
        status = open_packer(output, error);
    if (status != LEY_OK)
        ley_output_abandon(output);
    return status;
}

static ley_status write_bytes(ley_output *output, const unsigned char *data, size_t size, ley_error *error)
{
    while (size > 0) {
        if (cancelled(output))
            return fail_cancelled(output, error);
        ssize_t n = write(output->fd, data, size);
        if (n < 0 && errno != EINTR)
            return fail(output, errno, error);
        data += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return LEY_OK;
}

/* At most 4 GiB - 1 at once: zlib counts in unsigned int. */
static ley_status pack(ley_output *output, const void *data, unsigned size, int flush, ley_error *error)
{
    z_stream *packer = output->packer;
    packer->next_in = (z_const Bytef *)data;
    packer->avail_in = size;
    do {
        packer->next_out = output->packed;
        packer->avail_out = PACKED_BYTES;
        deflate(packer, flush);
        ley_status status = write_bytes(output, output->packed, PACKED_BYTES - packer->avail_out, error);
        if (status != LEY_OK)
            return status;
    } while (packer->avail_out == 0);
    return LEY_OK;
}

ley_status ley_output_write(ley_output *output, const void *data, size_t size, ley_error *error)
{
    const unsigned char *at = data;
    while (size > 0) {
        if (cancelled(output))
            return fail_cancelled(output, error);
        size_t part = size < (1 << 20) ? size : 1 << 20; /* so that a cancel is heard */
        ley_status status = output->packer != NULL ? pack(output, at, (unsigned)part, Z_NO_FLUSH, error)
                                                   : write_bytes(output, at, part, error);
        if (status != LEY_OK)
            return status;
        at += part;
        size -= part;
    }
    return LEY_OK;
}

ley_status ley_output_commit(ley_output *output, ley_error *error)
{
    ley_status status = output->packer != NULL ? pack(output, NULL, 0, Z_FINISH, error) : LEY_OK;
    if (status == LEY_OK) {
        int fd = output->fd;
        output->fd = -1;
        if (close(fd) != 0 && errno != EINTR)
            status = fail(output, errno, error);
    }
    if (status == LEY_OK && cancelled(output))
        status = fail_cancelled(output, error);
    if (status == LEY_OK && output->temporary != NULL) {
        if (rename(output->temporary, output->target) != 0) {
            status = fail(output, errno, error);
        } else {
            free(output->temporary);
            output->temporary = NULL;
        }
    }
    ley_output_abandon(output);
    return status;
}

void ley_output_abandon(ley_output *output)
{
    if (output->fd >= 0)
        close(output->fd);
    if (output->temporary != NULL)
        unlink(output->temporary);
    if (output->packer != NULL)
        deflateEnd(output->packer);
    free(output->packer);
    free(output->packed);
    free(output->target);
    free(output->temporary);
    *output = (ley_output){.fd = -1};
}
