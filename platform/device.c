#include "device.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

dev_info *dev_list_append(dev_list *list)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity != 0 ? 2 * list->capacity : 8;
        dev_info *infos = realloc(list->infos, capacity * sizeof *infos);
        if (infos == NULL)
            return NULL;
        list->infos = infos;
        list->capacity = capacity;
    }
    dev_info *info = &list->infos[list->count++];
    memset(info, 0, sizeof *info);
    return info;
}

void dev_list_note(dev_list *list, const char *format, ...)
{
    char(*notes)[DEV_TEXT] = realloc(list->notes, (list->note_count + 1) * sizeof *notes);
    if (notes == NULL)
        return;
    list->notes = notes;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(notes[list->note_count++], DEV_TEXT, format, arguments);
    va_end(arguments);
}

void dev_list_clear(dev_list *list)
{
    free(list->infos);
    free(list->notes);
    *list = (dev_list){0};
}

/* Where leak checkers find what is kept. */
typedef struct kept {
    struct kept *next;
    void *memory;
} kept;

void dev_keep(void *memory)
{
    static kept *all;
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    kept *k = malloc(sizeof *k);
    if (k == NULL || memory == NULL) {
        free(k);
        return;
    }
    pthread_mutex_lock(&mutex);
    *k = (kept){all, memory};
    all = k;
    pthread_mutex_unlock(&mutex);
}

dev_argument dev_argument_buffer(dev_buffer *buffer)
{
    return (dev_argument){.buffer = buffer, .size = sizeof buffer};
}

dev_argument dev_argument_int(int32_t value)
{
    return dev_argument_bytes(&value, sizeof value);
}

dev_argument dev_argument_bytes(const void *value, size_t size)
{
    dev_argument argument = {.size = size};
    memcpy(argument.value, value, size);
    return argument;
}
