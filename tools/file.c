#include "file.h"
#include "console.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail_file(const char *path, int why)
{
    return fail(LEY_ERROR_FILE, "%s: %s", path, strerror(why));
}

static void release(file_writer *writer)
{
    free(writer->target);
    free(writer->temporary);
    memset(writer, 0, sizeof *writer);
}

/* The file behind symbolic links, or the path itself while there is no such file. */
static char *resolve(const char *path)
{
    char *target = realpath(path, NULL);
    if (target != NULL)
        return target;
    target = allocate(strlen(path) + 1, 1);
    return strcpy(target, path);
}

int file_begin(file_writer *writer, const char *path)
{
    struct stat known;
    bool exists = stat(path, &known) == 0;
    if (exists && S_ISDIR(known.st_mode))
        return fail_file(path, EISDIR);
    memset(writer, 0, sizeof *writer);
    writer->name = path;
    writer->target = resolve(path);
    int file;
    if (exists && !S_ISREG(known.st_mode)) {
        file = open(writer->target, O_WRONLY | O_CLOEXEC);
    } else {
        size_t length = strlen(writer->target) + 32;
        writer->temporary = allocate(length, 1);
        snprintf(writer->temporary, length, "%s.%ld.part", writer->target, (long)getpid());
        file = open(writer->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    if (file >= 0)
        writer->stream = fdopen(file, "wb");
    if (writer->stream == NULL) {
        int code = fail_file(path, errno);
        if (file >= 0)
            close(file);
        release(writer);
        return code;
    }
    return 0;
}

int file_commit(file_writer *writer)
{
    int why = 0;
    if (fflush(writer->stream) != 0 || ferror(writer->stream))
        why = errno != 0 ? errno : EIO;
    if (fclose(writer->stream) != 0 && why == 0)
        why = errno;
    if (why == 0 && writer->temporary != NULL && rename(writer->temporary, writer->target) != 0)
        why = errno;
    if (why != 0 && writer->temporary != NULL)
        unlink(writer->temporary);
    int code = why != 0 ? fail_file(writer->name, why) : 0;
    release(writer);
    return code;
}

void file_abandon(file_writer *writer)
{
    fclose(writer->stream);
    if (writer->temporary != NULL)
        unlink(writer->temporary);
    release(writer);
}

/* Nothing is created on trial: a signal at the wrong moment would leave it behind. */
int file_check_output(const char *path)
{
    struct stat known;
    if (stat(path, &known) == 0) {
        if (S_ISDIR(known.st_mode))
            return fail_file(path, EISDIR);
        if (!S_ISREG(known.st_mode))
            return access(path, W_OK) == 0 ? 0 : fail_file(path, errno);
    }
    char *target = resolve(path), *slash = strrchr(target, '/');
    if (slash != NULL)
        slash[slash == target] = '\0';
    int why = access(slash != NULL ? target : ".", W_OK | X_OK) == 0 ? 0 : errno;
    free(target);
    if (why == 0 && strlen(base_name(path)) + 32 > NAME_MAX)
        why = ENAMETOOLONG;
    return why == 0 ? 0 : fail_file(path, why);
}

bool file_is_same(const char *a, const char *b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

uint64_t file_size(const char *path)
{
    struct stat known;
    return stat(path, &known) == 0 ? (uint64_t)known.st_size : 0;
}

bool ends_with(const char *path, const char *suffix)
{
    size_t length = strlen(base_name(path)), tail = strlen(suffix);
    return length > tail && strcasecmp(base_name(path) + length - tail, suffix) == 0;
}
