/* Files that are written as formatted text, and appear only when they are whole. */
#ifndef LEYDEN_TEXT_FILE_H
#define LEYDEN_TEXT_FILE_H

#include "leyden.h"

/* A file; or standard output, where the path is "-" and that may be. What goes wrong is kept until
 * the end. */
typedef struct text_file {
    ley_file *file; /* NULL: standard output */
    ley_status status;
    ley_error error;
} text_file;

void text_file_begin(text_file *to, const char *path, bool may_be_stdout);
void text_file_print(text_file *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The text with what means something to a language's readers made harmless: the characters of
 * `special`, each replaced by its words. */
typedef struct text_escape {
    char character;
    const char *words;
} text_escape;
void text_file_put(text_file *to, const char *text, const text_escape *escapes, size_t n);

/* Prints errors; exit code. */
int text_file_end(text_file *to);

#endif
