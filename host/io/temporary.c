#include "io/temporary.h"

#include "core/hash.h"
#include "leyden.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    FILES_MOST = 64,      /* that ley_files_abandon() knows of at a time; further ones are left to the next writer */
    SCANNED_MOST = 20000, /* entries of a folder that are looked at: a fraction of a second even there */
    PREFIX_BYTES = 8 + 16 + 1 + 1,
    PATIENCE_MS = 500
};

/* ---- Files under way ------------------------------------------------------------------------- */

/* A signal handler reads this list: no pointers that somebody may free. */
static struct {
    atomic_bool taken, there;
    char path[PATH_MAX];
} under_way[FILES_MOST];

static atomic_int creating; /* threads between noting a name and having its file */
static atomic_bool ending;  /* the process is about to end: nothing is begun or put in its place any more */

static void halt(void)
{
    for (;;)
        pause();
}

/* Notes a file before it is made: there is no moment at which it could be forgotten. */
static int note(const char *path)
{
    for (int i = 0; i < FILES_MOST; i++)
        if (strlen(path) < PATH_MAX && !atomic_exchange(&under_way[i].taken, true)) {
            strcpy(under_way[i].path, path);
            under_way[i].there = true;
            return i;
        }
    return -1;
}

static void forget(ley_temporary *temporary)
{
    if (temporary->slot >= 0) {
        under_way[temporary->slot].there = false;
        under_way[temporary->slot].taken = false;
    }
    free(temporary->path);
    *temporary = (ley_temporary){.slot = -1};
}

void ley_files_abandon(void)
{
    ending = true;
    for (int ms = 0; ms < PATIENCE_MS && creating > 0; ms++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    for (int i = 0; i < FILES_MOST; i++)
        if (under_way[i].there)
            unlink(under_way[i].path);
}

/* ---- What dead writers left ------------------------------------------------------------------ */

/* Whoever can lock it knows that nobody writes it any more. Opened for writing, as some file
 * systems ask of a lock. */
static void remove_if_dead(int folder, const char *name)
{
    struct stat known;
    const int fd = openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &known) == 0 && S_ISREG(known.st_mode) && known.st_uid == geteuid() &&
        flock(fd, LOCK_EX | LOCK_NB) == 0)
        unlinkat(folder, name, 0);
    close(fd);
}

/* Of this target only: where locks are not seen by other machines, their writers of other files are
 * none of our business. */
static void remove_leavings(const char *path, size_t folder_length, const char *prefix)
{
    char *folder = strndup(path, folder_length);
    DIR *directory = folder != NULL ? opendir(folder) : NULL;
    free(folder);
    if (directory == NULL)
        return;
    const struct dirent *entry;
    for (int i = 0; i < SCANNED_MOST && (entry = readdir(directory)) != NULL; i++)
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0)
            remove_if_dead(dirfd(directory), entry->d_name);
    closedir(directory);
}

/* ---- A file ---------------------------------------------------------------------------------- */

/* Locks the new file for as long as it is open. False when somebody took it for a leaving in the
 * moment before: then its name is gone. Where there are no locks nobody can. */
static bool hold(int fd, const char *path)
{
    struct stat ours, there;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0)
        return errno != EWOULDBLOCK;
    return fstat(fd, &ours) == 0 && lstat(path, &there) == 0 && ours.st_dev == there.st_dev &&
           ours.st_ino == there.st_ino;
}

static int open_new(ley_temporary *temporary, int *fd)
{
    creating++;
    if (ending) {
        creating--;
        halt();
    }
    temporary->slot = note(temporary->path);
    *fd = open(temporary->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    const int reason = *fd >= 0 ? 0 : errno;
    creating--;
    return reason;
}

int ley_temporary_create(ley_temporary *temporary, const char *target, int *fd)
{
    const char *name = strrchr(target, '/') + 1;
    const size_t folder = (size_t)(name - target);
    char prefix[PREFIX_BYTES];
    snprintf(prefix, sizeof prefix, ".leyden-%016llx-", (unsigned long long)hash_add(HASH_BEGIN, name, strlen(name)));
    remove_leavings(target, folder, prefix);
    for (int attempt = 0; attempt < 100; attempt++) {
        uint64_t random;
        *temporary = (ley_temporary){.slot = -1};
        if (getrandom(&random, sizeof random, 0) != sizeof random)
            return errno;
        if (asprintf(&temporary->path, "%.*s%s%016llx", (int)folder, target, prefix, (unsigned long long)random) < 0) {
            temporary->path = NULL;
            return ENOMEM;
        }
        const int reason = open_new(temporary, fd);
        if (reason == 0 && hold(*fd, temporary->path))
            return 0;
        forget(temporary);
        if (reason == 0)
            close(*fd);
        else if (reason != EEXIST)
            return reason;
    }
    return EEXIST;
}

int ley_temporary_keep(ley_temporary *temporary, const char *path, int *fd)
{
    *temporary = (ley_temporary){.path = strdup(path), .slot = -1, .stays = true};
    int reason = temporary->path != NULL ? 0 : ENOMEM;
    *fd = reason == 0 ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
    struct stat ours, there;
    if (reason == 0 && *fd < 0)
        reason = errno;
    else if (reason == 0 && (fstat(*fd, &ours) != 0 || !S_ISREG(ours.st_mode)))
        reason = EINVAL;
    else if (reason == 0 && flock(*fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        reason = EWOULDBLOCK;
    else if (reason == 0 && (stat(path, &there) != 0 || there.st_dev != ours.st_dev || there.st_ino != ours.st_ino))
        reason = EWOULDBLOCK; /* whose file has just become a map */
    return reason;
}

int ley_temporary_note(ley_temporary *temporary, const char *path)
{
    *temporary = (ley_temporary){.path = strdup(path), .slot = -1};
    if (temporary->path == NULL)
        return ENOMEM;
    temporary->slot = note(path);
    return 0;
}

int ley_temporary_rename(ley_temporary *temporary, const char *target)
{
    if (ending)
        halt();
    if (rename(temporary->path, target) != 0)
        return errno;
    forget(temporary);
    return 0;
}

void ley_temporary_remove(ley_temporary *temporary)
{
    if (temporary->path == NULL)
        return;
    if (!temporary->stays)
        unlink(temporary->path);
    forget(temporary);
}
