#include "io/output.h"

#include "leyden.h"

#include "cancel.h"
#include "core/number.h"
#include "error.h"
#include "io/target.h"
#include "parallel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WAIT_MS = 20 };

static ley_status fail(const ley_output *output, int reason, ley_error *error)
{
    return ley_fail(error, LEY_ERROR_FILE, "%s: %s", output->path, strerror(reason));
}

static bool cancelled(const ley_output *output)
{
    return cancel_flag_is_set(output->cancel);
}

static ley_status fail_cancelled(const ley_output *output, ley_error *error)
{
    return ley_fail(error, LEY_CANCELLED, "%s: cancelled", output->path);
}

/* A file behind a descriptor of ours has a place where writing goes on, which we share with whoever
 * opened it: a shell whose next command would else write over what we wrote. -1 where there is no
 * such file: a pipe is opened anew, as it must not block. */
static int share_file(const char *path)
{
    const int given = ley_target_descriptor(path);
    const int mode = given >= 0 ? fcntl(given, F_GETFL) : -1;
    struct stat known;
    if (mode < 0 || (mode & O_ACCMODE) == O_RDONLY || fstat(given, &known) != 0 || !S_ISREG(known.st_mode))
        return -1;
    return fcntl(given, F_DUPFD_CLOEXEC, 0);
}

/* A pipe waits for its reader here, and a cancel must end that. */
static ley_status open_straight(ley_output *output, ley_error *error)
{
    output->fd = share_file(output->path);
    while (output->fd < 0 && (output->fd = open(output->path, O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC)) < 0) {
        struct stat known;
        const int reason = errno;
        if (reason != EINTR && (reason != ENXIO || stat(output->path, &known) != 0 || !S_ISFIFO(known.st_mode)))
            return fail(output, reason, error);
        if (cancelled(output))
            return fail_cancelled(output, error);
        usleep(WAIT_MS * 1000);
    }
    return LEY_OK;
}

static ley_status open_target(ley_output *output, ley_error *error)
{
    int reason = ley_target_find(output->path, &output->target);
    if (reason == 0 && output->target == NULL)
        return open_straight(output, error);
    if (reason == 0)
        reason = ley_temporary_create(&output->temporary, output->target, &output->fd);
    return reason == 0 ? LEY_OK : fail(output, reason, error);
}

/* Threads may write at places of their own. */
static ley_status lose(ley_output *output, int reason, ley_error *error)
{
    int none = 0;
    __atomic_compare_exchange_n(&output->lost, &none, reason, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return fail(output, reason, error);
}

static int lost(const ley_output *output)
{
    return __atomic_load_n(&output->lost, __ATOMIC_RELAXED);
}

ley_status ley_output_check(const ley_output *output, ley_error *error)
{
    return lost(output) != 0 ? fail(output, lost(output), error) : LEY_OK;
}

static ley_status write_bytes(ley_output *output, const unsigned char *data, size_t size, ley_error *error)
{
    while (size > 0) {
        if (cancelled(output))
            return fail_cancelled(output, error);
        if (lost(output) != 0)
            return fail(output, lost(output), error);
        ssize_t n = write(output->fd, data, size);
        if (n < 0 && errno == EAGAIN) /* a full pipe */
            poll(&(struct pollfd){.fd = output->fd, .events = POLLOUT}, 1, WAIT_MS);
        else if (n < 0 && errno != EINTR)
            return lose(output, errno, error);
        data += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return LEY_OK;
}

static ley_status write_packed(void *output, const void *bytes, size_t size, ley_error *error)
{
    return write_bytes(output, bytes, size, error);
}

bool ley_output_is_packed(const char *path)
{
    return ley_ends_with(path, ".gz");
}

ley_status ley_output_open(ley_output *output, const char *path, bool gzip, const volatile bool *cancel,
                           ley_error *error)
{
    *output = (ley_output){.path = path, .cancel = cancel, .fd = -1};
    ley_status status = open_target(output, error);
    if (status == LEY_OK && gzip)
        status = ley_packer_create(parallel_cores(), write_packed, output, &output->packer, error);
    if (status != LEY_OK)
        ley_output_abandon(output);
    return status;
}

/* Beside the file that is to be made: a link may lead to another file system. */
static char *kept_path(const ley_output *output, const char *kept)
{
    const size_t n = strlen(output->path);
    struct stat known;
    char *path = NULL;
    if (lstat(output->path, &known) != 0 || !S_ISLNK(known.st_mode) || strncmp(kept, output->path, n) != 0)
        return strdup(kept);
    return asprintf(&path, "%s%s", output->target, kept + n) >= 0 ? path : NULL;
}

ley_status ley_output_keep(ley_output *output, const char *path, const char *kept, ley_error *error)
{
    *output = (ley_output){.path = path, .fd = -1};
    int reason = ley_target_find(path, &output->target);
    char *beside = reason == 0 && output->target != NULL ? kept_path(output, kept) : NULL;
    if (reason == 0)
        reason = beside != NULL ? ley_temporary_keep(&output->temporary, beside, &output->fd) : EINVAL;
    const ley_status status = reason == 0
                                  ? LEY_OK
                                  : ley_fail(error, LEY_ERROR_FILE, "%s: %s", beside != NULL ? beside : kept,
                                             reason == EWOULDBLOCK ? "another process is at work on it"
                                             : reason == EINVAL    ? "it is no regular file: delete it to begin anew"
                                                                   : strerror(reason));
    free(beside);
    if (status != LEY_OK)
        ley_output_abandon(output);
    return status;
}

ley_status ley_output_write(ley_output *output, const void *data, size_t size, ley_error *error)
{
    const unsigned char *at = data;
    while (size > 0) {
        if (cancelled(output))
            return fail_cancelled(output, error);
        size_t part = size < (1 << 20) ? size : 1 << 20; /* so that a cancel is heard */
        ley_status status = output->packer != NULL ? ley_packer_add(output->packer, at, part, error)
                                                   : write_bytes(output, at, part, error);
        if (status != LEY_OK)
            return status;
        at += part;
        size -= part;
    }
    return LEY_OK;
}

ley_status ley_output_write_packed(ley_output *output, const ley_packed *packed, ley_error *error)
{
    return ley_packer_add_packed(output->packer, packed, error);
}

/* A disk that is too small says so now, where the file system can; else when it is full. */
ley_status ley_output_reserve(ley_output *output, int64_t size, ley_error *error)
{
    int reason = fallocate(output->fd, 0, 0, size) == 0 ? 0 : errno;
    if (reason == EOPNOTSUPP || reason == ENOSYS || reason == EINTR)
        reason = ftruncate(output->fd, size) == 0 ? 0 : errno;
    return reason == 0 ? LEY_OK : fail(output, reason, error);
}

ley_status ley_output_cut(ley_output *output, int64_t size, ley_error *error)
{
    return ftruncate(output->fd, size) == 0 ? LEY_OK : fail(output, errno, error);
}

int64_t ley_output_size(const ley_output *output)
{
    struct stat known;
    return fstat(output->fd, &known) == 0 ? (int64_t)known.st_size : 0;
}

ley_status ley_output_write_at(ley_output *output, const void *data, size_t size, int64_t offset, ley_error *error)
{
    const unsigned char *at = data;
    while (size > 0) {
        const ssize_t n = pwrite(output->fd, at, size, offset);
        if (n < 0 && errno != EINTR)
            return lose(output, errno, error);
        at += n > 0 ? n : 0;
        offset += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return LEY_OK;
}

ley_status ley_output_read_at(ley_output *output, void *data, size_t size, int64_t offset, ley_error *error)
{
    unsigned char *at = data;
    while (size > 0) {
        const ssize_t n = pread(output->fd, at, size, offset);
        if (n == 0 || (n < 0 && errno != EINTR))
            return lose(output, n == 0 ? EIO : errno, error);
        at += n > 0 ? n : 0;
        offset += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return LEY_OK;
}

/* Some file systems tell only on closing that they could not keep what they took. The lock that
 * says that we live must be held until the file has its name, so it is a copy of the descriptor
 * that is closed. */
static ley_status close_checked(ley_output *output, ley_error *error)
{
    const int copy = fcntl(output->fd, F_DUPFD_CLOEXEC, 0);
    if (copy < 0 || (close(copy) != 0 && errno != EINTR))
        return fail(output, errno, error);
    return LEY_OK;
}

ley_status ley_output_commit(ley_output *output, ley_error *error)
{
    ley_status status = output->packer != NULL ? ley_packer_end(output->packer, error) : LEY_OK;
    if (status == LEY_OK)
        status = ley_output_check(output, error);
    if (status == LEY_OK)
        status = close_checked(output, error);
    if (status == LEY_OK && cancelled(output))
        status = fail_cancelled(output, error);
    if (status == LEY_OK && output->temporary.path != NULL) {
        const int reason = ley_temporary_rename(&output->temporary, output->target);
        if (reason != 0)
            status = fail(output, reason, error);
    }
    ley_output_abandon(output);
    return status;
}

void ley_output_abandon(ley_output *output)
{
    ley_temporary_remove(&output->temporary);
    if (output->fd >= 0)
        close(output->fd);
    ley_packer_destroy(output->packer);
    free(output->target);
    *output = (ley_output){.fd = -1};
}

/* ---- For callers of the library -------------------------------------------------------------- */

enum { FILE_BUFFER = 1 << 16 };

/* What comes in small parts is written in large ones. */
struct ley_file {
    ley_output output;
    size_t waiting; /* bytes in the buffer */
    char buffer[FILE_BUFFER];
    char path[]; /* the caller's may be gone by the time it is needed */
};

ley_status ley_file_create(const char *path, const volatile bool *cancel, ley_file **file, ley_error *error)
{
    const size_t length = strlen(path) + 1;
    ley_file *made = malloc(sizeof *made + length);
    if (made == NULL)
        return ley_fail_memory(error, sizeof *made + length, "writing a file");
    made->waiting = 0;
    memcpy(made->path, path, length);
    ley_status status = ley_output_open(&made->output, made->path, false, cancel, error);
    if (status == LEY_OK)
        *file = made;
    else
        free(made);
    return status;
}

static ley_status write_waiting(ley_file *file, ley_error *error)
{
    const size_t size = file->waiting;
    file->waiting = 0;
    return ley_output_write(&file->output, file->buffer, size, error);
}

ley_status ley_file_write(ley_file *file, const void *bytes, size_t size, ley_error *error)
{
    ley_status status = cancelled(&file->output) ? fail_cancelled(&file->output, error) : LEY_OK;
    if (status == LEY_OK && size > FILE_BUFFER - file->waiting)
        status = write_waiting(file, error);
    if (status == LEY_OK && size >= FILE_BUFFER)
        return ley_output_write(&file->output, bytes, size, error);
    if (status != LEY_OK)
        return status;
    memcpy(file->buffer + file->waiting, bytes, size);
    file->waiting += size;
    return LEY_OK;
}

ley_status ley_file_commit(ley_file *file, ley_error *error)
{
    ley_status status = write_waiting(file, error);
    if (status == LEY_OK)
        status = ley_output_commit(&file->output, error);
    else
        ley_output_abandon(&file->output);
    free(file);
    return status;
}

void ley_file_destroy(ley_file *file)
{
    if (file == NULL)
        return;
    ley_output_abandon(&file->output);
    free(file);
}
