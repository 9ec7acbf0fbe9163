/* The way of an APBS input file from the disk to its lattices. */
#include "apbs/grid.h"
#include "apbs/molecules.h"
#include "apbs/sections.h"
#include "error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
