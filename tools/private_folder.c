#include "private_folder.h"

#include "console.h"
#include "environment.h"
#include "interrupt.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "leyden-"
enum { DIGITS = 16, SCANNED_MOST = 20000 /* entries of a folder that are looked at */ };

/* "leyden-" and 16 hexadecimal digits. */
static bool is_our_name(const char *name)
{
    const size_t prefix = strlen(PREFIX);
    return strncmp(name, PREFIX, prefix) == 0 && strlen(name) == prefix + DIGITS &&
           strspn(name + prefix, "0123456789abcdef") == DIGITS;
}

/* Removes what the command writes to such a folder, and nothing else. */
static void empty(int folder)
{
    static const char *const names[] = {"boundary-", "leyden.in", ".leyden-"};
    const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = copy >= 0 ? fdopendir(copy) : NULL;
    if (directory == NULL)
        return;
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (strncmp(entry->d_name, names[i], strlen(names[i])) == 0)
                unlinkat(folder, entry->d_name, 0);
    closedir(directory);
}

/* Whoever can lock it knows that its owner is dead. */
static void remove_if_dead(int parent, const char *name)
{
    struct stat known;
    const int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        return;
    if (fstat(folder, &known) == 0 && known.st_uid == geteuid() && (known.st_mode & 077) == 0 &&
        flock(folder, LOCK_EX | LOCK_NB) == 0) {
        empty(folder);
        unlinkat(parent, name, AT_REMOVEDIR);
    }
    close(folder);
}

static void remove_leavings(const char *parent)
{
    const struct dirent *entry;
    DIR *directory = opendir(parent);
    if (directory == NULL)
        return;
    for (int i = 0; i < SCANNED_MOST && (entry = readdir(directory)) != NULL; i++)
        if (is_our_name(entry->d_name))
            remove_if_dead(dirfd(directory), entry->d_name);
    closedir(directory);
}

/* Opens and locks the new folder. False when somebody took it for a leaving in the moment
 * before. */
static bool hold(private_folder *folder)
{
    struct stat ours, there;
    folder->lock = open(folder->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder->lock >= 0 && (flock(folder->lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
        fstat(folder->lock, &ours) == 0 && lstat(folder->path, &there) == 0 && ours.st_ino == there.st_ino)
        return true;
    if (folder->lock >= 0)
        close(folder->lock);
    return false;
}

ley_status private_folder_create(private_folder *folder, const char *wanted, ley_error *error)
{
    const char *temporary = shell_temporary_folder();
    const char *parent = wanted != NULL ? wanted : temporary != NULL ? temporary : "/tmp";
    const size_t size = strlen(parent) + sizeof "/" PREFIX + DIGITS;
    int reason = EEXIST;
    remove_leavings(parent);
    folder->path = allocate(size, 1);
    for (int attempt = 0; attempt < 100 && reason == EEXIST; attempt++) {
        uint64_t random = 0;
        if (getrandom(&random, sizeof random, 0) != sizeof random)
            break;
        snprintf(folder->path, size, "%s/" PREFIX "%016llx", parent, (unsigned long long)random);
        reason = interrupt_make_folder(folder->path);
        if (reason == 0 && hold(folder))
            return LEY_OK;
        interrupt_keeps_all();
        if (reason == 0)
            reason = EEXIST;
    }
    snprintf(error->message, sizeof error->message, "a temporary folder in %s%s: %s", parent,
             wanted == NULL ? " (TMPDIR)" : "", strerror(reason));
    free(folder->path);
    folder->path = NULL;
    return error->status = LEY_ERROR_FILE;
}

void private_folder_remove(private_folder *folder)
{
    if (folder->path == NULL)
        return;
    empty(folder->lock);
    rmdir(folder->path);
    close(folder->lock);
    interrupt_keeps_all();
    free(folder->path);
    folder->path = NULL;
}
