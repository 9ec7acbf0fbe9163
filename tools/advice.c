#include "advice.h"
#include "console.h"
#include "file.h"
#include "options.h"
#include "pieces.h"
#include "program.h"
#include "typed.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void advice_begin(int argc, char **argv)
{
    typed_begin(argc, argv);
    console_take_advice(advice_behind);
}

/* ---- Folders --------------------------------------------------------------------------------- */

/* The names of the files in a folder, without hidden ones, in order. */
typedef struct folder {
    char **name; /* NULL behind the last */
    size_t count;
} folder;

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static folder read_folder(const char *path)
{
    folder f = {.name = allocate(1, sizeof *f.name)};
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;) {
        if (entry->d_name[0] == '.' || entry->d_type == DT_DIR)
            continue;
        char **longer = realloc(f.name, (f.count + 2) * sizeof *longer);
        if (longer == NULL)
            break;
        f.name = longer;
        f.name[f.count++] = copy_of(entry->d_name);
        f.name[f.count] = NULL;
    }
    if (directory != NULL)
        closedir(directory);
    qsort(f.name, f.count, sizeof *f.name, compare_names);
    return f;
}

static void end_folder(folder *f)
{
    for (size_t i = 0; i < f->count; i++)
        free(f->name[i]);
    free(f->name);
}

static const char *name_at(const void *context, size_t i)
{
    return ((const folder *)context)->name[i];
}

/* ---- What to type ---------------------------------------------------------------------------- */

/* The path that may be meant, and the command with it, where the wrong one is a word of it. */
static void put_meant(typed_text *text, const char *path, const char *instead)
{
    typed_put(text, ": did you mean ");
    typed_put(text, instead);
    typed_put(text, typed_has(path) ? "? T" : "?");
    if (typed_has(path))
        typed_put_command(text, &(typed_swap){path, instead}, 1);
}

static void put_program(typed_text *text, const char *program, const char *path)
{
    char *quoted = quoted_word(path);
    typed_put(text, program);
    typed_put(text, quoted);
    free(quoted);
}

/* "FOLDER/", "" of the working directory; the path up to its last part. To be freed. */
static char *folder_of(const char *path)
{
    const size_t length = (size_t)(base_name(path) - path);
    char *in = allocate(length + 1, 1);
    memcpy(in, path, length);
    return in;
}

static char *joined(const char *in, const char *name)
{
    char *path = allocate(strlen(in) + strlen(name) + 2, 1);
    const size_t length = strlen(in);
    sprintf(path, "%s%s%s", in, length > 0 && in[length - 1] != '/' ? "/" : "", name);
    return path;
}

static typed_text about_missing(const char *path)
{
    struct stat known;
    typed_text text = {""};
    char *in = folder_of(path);
    if (in[0] != '\0' && stat(in, &known) != 0) {
        put_program(&text, ": there is no such folder; type: mkdir -p ", in);
    } else {
        folder there = read_folder(in[0] != '\0' ? in : ".");
        const char *near = nearest(base_name(path), name_at, &there);
        if (near != NULL && strcmp(near, base_name(path)) == 0)
            near = NULL; /* a link to nothing */
        char *instead = near != NULL ? joined(in, near) : NULL;
        if (instead != NULL)
            put_meant(&text, path, instead);
        else
            put_program(&text, "; to see which files there are, type: ls ", in[0] != '\0' ? in : ".");
        free(instead);
        end_folder(&there);
    }
    free(in);
    return text;
}

static typed_text about_folder(const char *path)
{
    typed_text text = {""};
    folder there = read_folder(path);
    const char *first = NULL;
    for (size_t i = 0; i < there.count; i++)
        if (first == NULL && is_atoms_name(there.name[i]))
            first = there.name[i];
    char *instead = first != NULL ? joined(path, first) : NULL;
    if (instead != NULL)
        put_meant(&text, path, instead);
    else
        put_program(&text, "; to see which files it holds, type: ls ", path);
    free(instead);
    end_folder(&there);
    return text;
}

void advice_behind(const char *message, char *text, size_t size)
{
    static const int reasons[] = {ENOENT, EISDIR};
    char copy[1024];
    snprintf(copy, sizeof copy, "%s", message);
    text[0] = '\0';
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        const char *why = strerror(reasons[i]);
        const size_t length = strlen(copy), tail = strlen(why) + 2;
        if (length <= tail || strcmp(copy + length - tail + 2, why) != 0 || copy[length - tail] != ':')
            continue;
        copy[length - tail] = '\0';
        const char *path = strstr(copy, ": "); /* "file.in:3: molecule.pqr: No such file or directory" */
        path = path != NULL ? path + 2 : copy;
        snprintf(text, size, "%s", (reasons[i] == ENOENT ? about_missing(path) : about_folder(path)).s);
        return;
    }
}
