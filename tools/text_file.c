#include "text_file.h"
#include "console.h"
#include "file.h"
#include "interrupt.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is begun after a signal says what came of it, and the same signal does not stop that. */
static ley_status begin(text_file *to, const char *path)
{
    return interrupt_came() ? ley_file_create(path, NULL, &to->file, &to->error)
                            : file_begin(path, &to->file, &to->error);
}

void text_file_begin(text_file *to, const char *path, bool may_be_stdout)
{
    *to = (text_file){.status = LEY_OK};
    if (!may_be_stdout || strcmp(path, "-") != 0)
        to->status = begin(to, path);
}

static void put(text_file *to, const char *text, size_t size)
{
    if (to->status != LEY_OK)
        return;
    if (to->file == NULL)
        fwrite(text, 1, size, stdout); /* errors show at the end, as of all that is printed */
    else
        to->status = ley_file_write(to->file, text, size, &to->error);
}

void text_file_print(text_file *to, const char *format, ...)
{
    char *text = NULL;
    va_list values;
    va_start(values, format);
    const int size = vasprintf(&text, format, values);
    va_end(values);
    if (size < 0)
        exit(fail(LEY_ERROR_MEMORY, "out of memory for a file"));
    put(to, text, (size_t)size);
    free(text);
}

void text_file_put(text_file *to, const char *text, const text_escape *escapes, size_t n)
{
    for (; *text != '\0'; text++) {
        const char *words = NULL;
        for (size_t i = 0; i < n && words == NULL; i++)
            words = escapes[i].character == *text ? escapes[i].words : NULL;
        put(to, words != NULL ? words : text, words != NULL ? strlen(words) : 1);
    }
}

int text_file_end(text_file *to)
{
    return to->file == NULL && to->status == LEY_OK ? 0 : file_end(to->file, to->status, &to->error);
}
