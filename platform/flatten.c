#include "flatten.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILES = 32, MAX_NAME = 128, MAX_LINE = 4096 };

typedef struct flattening {
    const char *const *directories;
    FILE *out;
    char done[MAX_FILES][MAX_NAME];
    unsigned done_count;
} flattening;

static int seen(flattening *f, const char *file)
{
    for (unsigned i = 0; i < f->done_count; i++)
        if (strcmp(f->done[i], file) == 0)
            return 1;
    if (f->done_count < MAX_FILES)
        snprintf(f->done[f->done_count++], MAX_NAME, "%s", file);
    return 0;
}

static FILE *open_in(const char *const *directories, const char *file)
{
    char path[8192];
    FILE *in = NULL;
    for (; *directories != NULL && in == NULL; directories++) {
        snprintf(path, sizeof path, "%s/%s", *directories, file);
        in = fopen(path, "r");
    }
    return in;
}

static int append(flattening *f, const char *file, char *missing, unsigned size)
{
    char line[MAX_LINE], included[MAX_NAME];
    if (seen(f, file))
        return 1;
    FILE *in = open_in(f->directories, file);
    if (in == NULL) {
        snprintf(missing, size, "%s", file);
        return 0;
    }
    int ok = 1;
    for (unsigned number = 1; ok && fgets(line, sizeof line, in) != NULL; number++) {
        if (sscanf(line, " # include \"%127[^\"]\"", included) != 1) {
            fputs(line, f->out);
            continue;
        }
        ok = append(f, included, missing, size);
        fprintf(f->out, "#line %u\n", number + 1); /* compilers then speak of this file's own lines again */
    }
    fclose(in);
    return ok;
}

char *flatten_file(const char *const *directories, const char *file, char *missing, unsigned size)
{
    char *text = NULL;
    size_t length = 0;
    flattening *f = calloc(1, sizeof *f);
    FILE *out = f != NULL ? open_memstream(&text, &length) : NULL;
    int ok = 0;
    if (out != NULL) {
        f->directories = directories;
        f->out = out;
        ok = append(f, file, missing, size);
        ok = fclose(out) == 0 && ok;
    }
    free(f);
    if (!ok) {
        free(text);
        return NULL;
    }
    return text;
}
