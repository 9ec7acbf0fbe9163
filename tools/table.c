#include "table.h"
#include "console.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

text_table table_begin(const char *alignment)
{
    return (text_table){.columns = strlen(alignment), .alignment = alignment};
}

static void *grow(void *memory, size_t count, size_t size)
{
    void *larger = realloc(memory, count * size);
    if (larger == NULL)
        exit(fail(LEY_ERROR_MEMORY, "out of memory for a table"));
    return larger;
}

size_t table_row(text_table *table)
{
    if (table->rows == table->capacity) {
        table->capacity = 2 * table->capacity + 8;
        table->cells = grow(table->cells, table->capacity * table->columns, sizeof *table->cells);
        table->notes = grow(table->notes, table->capacity, sizeof *table->notes);
    }
    for (size_t column = 0; column < table->columns; column++)
        table->cells[table->rows * table->columns + column] = NULL;
    table->notes[table->rows] = NULL;
    return table->rows++;
}

static char *print_to_memory(const char *format, va_list values) __attribute__((format(printf, 1, 0), nonnull(1)));
static char *print_to_memory(const char *format, va_list values)
{
    va_list again;
    va_copy(again, values);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = allocate((size_t)length + 1, 1);
    vsnprintf(text, (size_t)length + 1, format, values);
    return text;
}

void table_set(text_table *table, size_t column, const char *format, ...)
{
    char **cell = &table->cells[(table->rows - 1) * table->columns + column];
    va_list values;
    va_start(values, format);
    free(*cell);
    *cell = print_to_memory(format, values);
    va_end(values);
}

void table_note(text_table *table, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    char *line = print_to_memory(format, values), **note = &table->notes[table->rows - 1];
    va_end(values);
    size_t used = *note != NULL ? strlen(*note) : 0;
    *note = grow(*note, used + strlen(line) + 4, 1);
    sprintf(*note + used, "  %s\n", line);
    free(line);
}

static const char *cell_text(const text_table *table, size_t row, size_t column)
{
    const char *text = table->cells[row * table->columns + column];
    return text != NULL ? text : "";
}

static void print_row(const text_table *table, size_t row, const int *widths)
{
    int owed = 0; /* blanks not printed yet: none may end a line */
    for (size_t column = 0; column < table->columns; column++) {
        const char *text = cell_text(table, row, column);
        int blanks = widths[column] - text_columns(text);
        int before = table->alignment[column] == 'r' ? blanks : 0;
        if (text[0] != '\0')
            printf("%*s%s", owed + before, "", text);
        owed = (text[0] != '\0' ? blanks - before : owed + widths[column]) + 2;
    }
    putchar('\n');
    if (table->notes[row] != NULL)
        fputs(table->notes[row], stdout);
}

void table_release(text_table *table)
{
    for (size_t row = 0; row < table->rows; row++) {
        for (size_t column = 0; column < table->columns; column++)
            free(table->cells[row * table->columns + column]);
        free(table->notes[row]);
    }
    free(table->cells);
    free(table->notes);
    *table = table_begin(table->alignment);
}

void table_print(text_table *table)
{
    int *widths = allocate(table->columns, sizeof *widths);
    for (size_t row = 0; row < table->rows; row++)
        for (size_t column = 0; column < table->columns; column++) {
            int width = text_columns(cell_text(table, row, column));
            widths[column] = width > widths[column] ? width : widths[column];
        }
    for (size_t row = 0; row < table->rows; row++)
        print_row(table, row, widths);
    free(widths);
    table_release(table);
}
