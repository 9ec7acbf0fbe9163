#include "flatten.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FILES = 256, MAX_DEPTH = 64, MAX_NAME = 1024, MAX_PATH = 8192, MAX_BYTES = 16 << 20 };

/* A file, whatever its name. */
typedef struct identity {
    dev_t device;
    ino_t number;
} identity;

typedef struct flattening {
    const char *const *directories;
    FILE *out;
    identity done[MAX_FILES];
    unsigned done_count, depth, size;
    char *fault;
} flattening;

static bool fail(flattening *f, const char *file, const char *why)
{
    snprintf(f->fault, f->size, "%s: %s", file, why);
    return false;
}

static bool seen(const flattening *f, const struct stat *status)
{
    for (unsigned i = 0; i < f->done_count; i++)
        if (f->done[i].device == status->st_dev && f->done[i].number == status->st_ino)
            return true;
    return false;
}

/* A pipe that nobody writes, or a device that never ends, does not hold us up. Returns a
 * descriptor, or -1 and errno. */
static int open_in(const char *const *directories, const char *file)
{
    char path[MAX_PATH];
    int in = -1;
    errno = ENOENT;
    for (; *directories != NULL && in < 0; directories++) {
        if (snprintf(path, sizeof path, "%s/%s", *directories, file) >= (int)sizeof path)
            errno = ENAMETOOLONG;
        else
            in = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    }
    return in;
}

/* `#include "NAME"`, and nothing else. */
static bool is_include(const char *line, char included[MAX_NAME])
{
    int end = 0;
    return sscanf(line, " # include \"%1023[^\"]\"%n", included, &end) == 1 && end > 0;
}

static bool append(flattening *f, const char *file);
static bool append_all(flattening *f, const char *pattern);

static bool append_lines(flattening *f, FILE *in)
{
    char *line = NULL, included[MAX_NAME];
    size_t room = 0;
    bool ok = true;
    for (unsigned number = 1; ok && getline(&line, &room, in) >= 0; number++) {
        if (!is_include(line, included)) {
            fputs(line, f->out);
            continue;
        }
        ok = strchr(included, '*') != NULL ? append_all(f, included) : append(f, included);
        fprintf(f->out, "#line %u\n", number + 1); /* compilers then speak of this file's own lines again */
    }
    free(line);
    return ok;
}

static bool append_open(flattening *f, const char *file, int in)
{
    struct stat status;
    if (fstat(in, &status) != 0)
        return fail(f, file, strerror(errno));
    if (seen(f, &status))
        return true;
    if (!S_ISREG(status.st_mode))
        return fail(f, file, S_ISDIR(status.st_mode) ? strerror(EISDIR) : "no regular file");
    if (status.st_size > MAX_BYTES)
        return fail(f, file, "longer than 16 MiB: this is no kernel");
    if (f->done_count == MAX_FILES || f->depth == MAX_DEPTH)
        return fail(f, file, "more than 256 files included, or 64 one in the other");
    f->done[f->done_count++] = (identity){status.st_dev, status.st_ino};
    FILE *stream = fdopen(dup(in), "r");
    if (stream == NULL)
        return fail(f, file, strerror(errno));
    f->depth++;
    bool ok = append_lines(f, stream);
    f->depth--;
    if (ok && ferror(stream))
        ok = fail(f, file, strerror(errno));
    fclose(stream);
    return ok;
}

static bool append(flattening *f, const char *file)
{
    const int in = open_in(f->directories, file);
    const char *ending = strrchr(file, '.');
    if (in < 0 && errno == ENOENT && ending != NULL && strcmp(ending, ".cu") == 0) {
        char source[MAX_NAME];
        snprintf(source, sizeof source, "%.*s.cl", (int)(ending - file), file);
        return append(f, "dialect.cuh") && append(f, source);
    }
    if (in < 0)
        return fail(f, file, strerror(errno));
    const bool ok = append_open(f, file, in);
    close(in);
    return ok;
}

/* In every locale the same order. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* What matches in a folder of a directory, "laws/" and "*.h". Returns how many there were, or
 * -1. */
static int append_matches(flattening *f, const char *directory, const char *folder, const char *pattern)
{
    char name[MAX_PATH];
    struct dirent **entries;
    if (snprintf(name, sizeof name, "%s/%s", directory, folder) >= (int)sizeof name)
        return 0;
    const int count = scandir(name, &entries, NULL, by_name);
    int matches = 0;
    for (int i = 0; i < count; i++) {
        if (matches >= 0 && fnmatch(pattern, entries[i]->d_name, FNM_PERIOD) == 0) {
            snprintf(name, sizeof name, "%s%s", folder, entries[i]->d_name);
            matches = append(f, name) ? matches + 1 : -1;
        }
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return matches;
}

static bool append_all(flattening *f, const char *included)
{
    const char *slash = strrchr(included, '/'), *pattern = slash != NULL ? slash + 1 : included;
    char folder[MAX_NAME];
    int matches = 0;
    snprintf(folder, sizeof folder, "%.*s", (int)(pattern - included), included);
    for (const char *const *directory = f->directories; matches == 0 && *directory != NULL; directory++)
        matches = append_matches(f, *directory, folder, pattern);
    return matches != 0 ? matches > 0 : fail(f, included, strerror(ENOENT));
}

char *flatten_file(const char *const *directories, const char *file, char *fault, unsigned size)
{
    char *text = NULL;
    size_t length = 0;
    flattening f = {.directories = directories, .fault = fault, .size = size};
    f.out = open_memstream(&text, &length);
    if (f.out == NULL) {
        fail(&f, file, strerror(errno));
        return NULL;
    }
    bool ok = append(&f, file);
    if (fclose(f.out) != 0 && ok)
        ok = fail(&f, file, strerror(errno));
    if (ok)
        return text;
    free(text);
    return NULL;
}
