#include "cache_limit.h"

#include "log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { DIGITS = 64, SUFFIX = 7 /* ".XXXXXX" */ };

typedef struct entry {
    char name[DIGITS + 1];
    uint64_t bytes;
    struct timespec used;
} entry;

typedef struct listing {
    entry *entries;
    size_t n, room;
    uint64_t bytes;
} listing;

bool cache_hold(int file, const char *path)
{
    struct stat ours, there;
    if (flock(file, LOCK_EX | LOCK_NB) != 0)
        return errno != EWOULDBLOCK;
    return fstat(file, &ours) == 0 && lstat(path, &there) == 0 && ours.st_dev == there.st_dev &&
           ours.st_ino == there.st_ino;
}

void cache_touch(int file)
{
    futimens(file, NULL);
}

/* Length of the name of an entry (64), or of one under way (71); else 0. */
static size_t is_our_name(const char *name)
{
    const size_t length = strlen(name);
    if (strspn(name, "0123456789abcdef") < DIGITS)
        return 0;
    return length == DIGITS || (length == DIGITS + SUFFIX && name[DIGITS] == '.') ? length : 0;
}

static bool is_ours(int directory, const char *name, struct stat *status)
{
    return fstatat(directory, name, status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status->st_mode) &&
           status->st_uid == geteuid();
}

static void remove_if_dead(int directory, const char *name)
{
    const int file = openat(directory, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0)
        unlinkat(directory, name, 0);
    if (file >= 0)
        close(file);
}

/* False when there is no memory for it. */
static bool add(listing *list, const char *name, const struct stat *status, const struct timespec *now)
{
    if (list->n == list->room) {
        const size_t room = list->room > 0 ? 2 * list->room : 64;
        entry *larger = realloc(list->entries, room * sizeof *larger);
        if (larger == NULL)
            return false;
        list->entries = larger;
        list->room = room;
    }
    entry *e = &list->entries[list->n++];
    *e = (entry){.bytes = (uint64_t)status->st_size, .used = status->st_mtim};
    memcpy(e->name, name, DIGITS);
    /* A clock that went wrong once must not keep an entry for ever. */
    if (e->used.tv_sec > now->tv_sec + 60)
        e->used = (struct timespec){0};
    list->bytes += e->bytes;
    return true;
}

static int by_use(const void *a, const void *b)
{
    const struct timespec *x = &((const entry *)a)->used, *y = &((const entry *)b)->used;
    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

/* A file of such a name that was not made by us is left alone. */
static bool begins_as_ours(int directory, const char *name)
{
    char first[sizeof CACHE_FAMILY - 1];
    const int file = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const bool ours =
        file >= 0 && read(file, first, sizeof first) == sizeof first && memcmp(first, CACHE_FAMILY, sizeof first) == 0;
    if (file >= 0)
        close(file);
    return ours;
}

static void list_entries(DIR *directory, listing *list)
{
    struct timespec now;
    struct stat status;
    const struct dirent *found;
    clock_gettime(CLOCK_REALTIME, &now);
    while ((found = readdir(directory)) != NULL) {
        const size_t length = is_our_name(found->d_name);
        if (length == 0 || !is_ours(dirfd(directory), found->d_name, &status))
            continue;
        if (length > DIGITS)
            remove_if_dead(dirfd(directory), found->d_name);
        else if (!add(list, found->d_name, &status, &now))
            return;
    }
}

void cache_limit_apply(const char *path, const char *kept, uint64_t limit_bytes)
{
    listing list = {.n = 0};
    DIR *directory = opendir(path);
    if (directory == NULL)
        return;
    list_entries(directory, &list);
    if (list.bytes > limit_bytes)
        qsort(list.entries, list.n, sizeof *list.entries, by_use);
    for (size_t i = 0; i < list.n && list.bytes > limit_bytes; i++) {
        const entry *e = &list.entries[i];
        if (strcmp(e->name, kept) == 0)
            continue;
        if (begins_as_ours(dirfd(directory), e->name) && unlinkat(dirfd(directory), e->name, 0) == 0)
            log_say(LEY_LOG_DETAIL, "cache: %s/%s removed, %llu bytes not used for longest: it was above its limit",
                    path, e->name, (unsigned long long)e->bytes);
        list.bytes -= e->bytes; /* gone by whomever, or not ours to count */
    }
    closedir(directory);
    free(list.entries);
}
