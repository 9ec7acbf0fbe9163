#include "io/target.h"

#include "leyden.h"

#include "error.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_MOST = 40 }; /* as many as Linux follows */

bool ley_target_is_descriptor(const char *path)
{
    static const char *const prefixes[] = {"/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(path, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

int ley_target_descriptor(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const size_t length = strlen(folders[i]);
        char *end;
        if (strncmp(path, folders[i], length) != 0 || path[length] < '0' || path[length] > '9')
            continue;
        const long number = strtol(path + length, &end, 10);
        return *end == '\0' && number <= INT_MAX ? (int)number : -1;
    }
    return -1;
}

/* "folder/name" with the folder's real path; 0 or an errno. */
static int in_real_folder(const char *path, char **file)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    if (*name == '\0')
        return *path == '\0' ? ENOENT : EISDIR;
    char *folder = slash != NULL ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    char *real = folder != NULL ? realpath(folder, NULL) : NULL;
    int reason = real != NULL ? 0 : errno;
    if (reason == 0 && asprintf(file, "%s%s%s", real, strcmp(real, "/") == 0 ? "" : "/", name) < 0)
        reason = ENOMEM;
    free(folder);
    free(real);
    return reason;
}

/* Replaces the path of a symbolic link by that of what it points to. */
static int follow(char path[PATH_MAX])
{
    char to[PATH_MAX];
    const ssize_t length = readlink(path, to, sizeof to - 1);
    if (length < 0)
        return errno;
    to[length] = '\0';
    char *slash = strrchr(path, '/');
    const size_t folder = to[0] != '/' && slash != NULL ? (size_t)(slash - path) + 1 : 0;
    if (folder + (size_t)length >= PATH_MAX)
        return ENAMETOOLONG;
    memcpy(path + folder, to, (size_t)length + 1);
    return 0;
}

/* The real path of a file that is there, or of one that is still to be made; 0 or an errno. */
static int resolve(const char *path, char **file)
{
    char at[PATH_MAX];
    struct stat known;
    if (strlen(path) >= sizeof at)
        return ENAMETOOLONG;
    strcpy(at, path);
    for (int links = 0; links <= LINKS_MOST; links++) {
        *file = realpath(at, NULL);
        if (*file != NULL)
            return 0;
        if (errno != ENOENT)
            return errno;
        if (lstat(at, &known) != 0 || !S_ISLNK(known.st_mode))
            return in_real_folder(at, file);
        const int reason = follow(at);
        if (reason != 0)
            return reason;
    }
    return ELOOP;
}

int ley_target_find(const char *path, char **file)
{
    struct stat known;
    const bool exists = stat(path, &known) == 0;
    *file = NULL;
    if (!exists && errno != ENOENT)
        return errno;
    if (exists && S_ISDIR(known.st_mode))
        return EISDIR;
    if (ley_target_is_descriptor(path) || (exists && !S_ISREG(known.st_mode)))
        return 0;
    /* The folder's permissions alone would let a file be replaced that is marked as read-only. */
    if (exists && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0)
        return errno;
    return resolve(path, file);
}

/* ---- For callers of the library -------------------------------------------------------------- */

/* Nothing is created on trial: a signal at the wrong moment would leave it behind. */
ley_status ley_file_check(const char *path, ley_error *error)
{
    char *file;
    int reason = ley_target_find(path, &file);
    if (reason == 0 && file == NULL && access(path, W_OK) != 0)
        reason = errno;
    if (reason == 0 && file != NULL) {
        char *name = strrchr(file, '/');
        if (strlen(name + 1) > NAME_MAX)
            reason = ENAMETOOLONG;
        name[name == file] = '\0';
        if (reason == 0 && faccessat(AT_FDCWD, file, W_OK | X_OK, AT_EACCESS) != 0)
            reason = errno;
    }
    free(file);
    return reason == 0 ? LEY_OK : ley_fail(error, LEY_ERROR_FILE, "%s: %s", path, strerror(reason));
}

bool ley_file_is_same(const char *a, const char *b)
{
    struct stat known_a, known_b;
    const bool exists_a = stat(a, &known_a) == 0, exists_b = stat(b, &known_b) == 0;
    if (exists_a && exists_b)
        return known_a.st_dev == known_b.st_dev && known_a.st_ino == known_b.st_ino && !S_ISCHR(known_a.st_mode);
    char *file_a = NULL, *file_b = NULL;
    const bool same =
        !exists_a && !exists_b && resolve(a, &file_a) == 0 && resolve(b, &file_b) == 0 && strcmp(file_a, file_b) == 0;
    free(file_a);
    free(file_b);
    return same;
}
