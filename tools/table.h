/* Text tables with columns as wide as their contents. */
#ifndef LEYDEN_TABLE_H
#define LEYDEN_TABLE_H

#include <stddef.h>

typedef struct text_table {
    size_t columns, rows, capacity;
    const char *alignment; /* a character a column: 'l' or 'r' */
    char **cells;          /* [rows][columns] */
    char **notes;          /* [rows]: text printed under the row, or NULL */
} text_table;

/* A table with a column for each character of `alignment`. */
text_table table_begin(const char *alignment);

/* Starts a row of empty cells and returns its number. */
size_t table_row(text_table *table);

void table_set(text_table *table, size_t column, const char *format, ...)
    __attribute__((format(printf, 3, 4))); /* last row */

/* Adds a line under the last row. */
void table_note(text_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

void table_release(text_table *table);

/* Prints the table, its first row as the heading, and releases it. */
void table_print(text_table *table);

#endif
