/* Files that appear under their name only when they are whole. Every function prints its own errors and returns an
 * exit code, 0 when done. */
#ifndef LEYDEN_FILE_H
#define LEYDEN_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct file_writer {
    FILE *stream;
    const char *name; /* as the user wrote it */
    char *target;     /* behind symbolic links */
    char *temporary;  /* NULL when written in place: devices and pipes, which nothing may replace */
} file_writer;

int file_begin(file_writer *writer, const char *path);
int file_commit(file_writer *writer);   /* renames the temporary file to its name */
void file_abandon(file_writer *writer); /* leaves no trace */

/* Can a file be written there? Asked before a long computation, answered by trying. */
int file_check_output(const char *path);

bool file_is_same(const char *a, const char *b);      /* both exist and are one file */
uint64_t file_size(const char *path);                 /* 0 when there is none */
bool ends_with(const char *path, const char *suffix); /* case ignored; something must stand before the suffix */

#endif
