#include "log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

enum { LONGEST = 2048, NOBODY = -1 };

static struct {
    pthread_mutex_t mutex; /* held while the callback runs */
    ley_log_callback *callback;
    void *context;
} receiver = {PTHREAD_MUTEX_INITIALIZER, NULL, NULL};

static atomic_int wanted = NOBODY;   /* the least important level that somebody wants */
static _Thread_local bool is_inside; /* this thread runs the callback, and holds the mutex */

const char *ley_log_level_name(ley_log_level level)
{
    static const char *const names[] = {
        [LEY_LOG_WARNING] = "warning", [LEY_LOG_NOTE] = "note", [LEY_LOG_DETAIL] = "detail"};
    return (unsigned)level < sizeof names / sizeof names[0] ? names[level] : "?";
}

void ley_log_set(ley_log_callback *callback, void *context, ley_log_level least)
{
    if (!is_inside)
        pthread_mutex_lock(&receiver.mutex);
    receiver.callback = callback;
    receiver.context = context;
    atomic_store(&wanted, callback != NULL ? (int)least : NOBODY);
    if (!is_inside)
        pthread_mutex_unlock(&receiver.mutex);
}

bool log_wants(ley_log_level level)
{
    return (int)level <= atomic_load_explicit(&wanted, memory_order_relaxed) && !is_inside;
}

/* One line, whatever names and messages of drivers hold. */
static void make_one_line(char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ' || *text == 127)
            *text = ' ';
}

void log_say(ley_log_level level, const char *format, ...)
{
    if (!log_wants(level))
        return;
    char message[LONGEST];
    va_list values;
    va_start(values, format);
    vsnprintf(message, sizeof message, format, values);
    va_end(values);
    make_one_line(message);
    pthread_mutex_lock(&receiver.mutex);
    is_inside = true;
    if (receiver.callback != NULL && (int)level <= atomic_load(&wanted))
        receiver.callback(receiver.context, level, message);
    is_inside = false;
    pthread_mutex_unlock(&receiver.mutex);
}

void log_complain(log_first *first, const char *about, const char *path, const char *why)
{
    pthread_mutex_lock(&first->lock);
    if (first->text[0] == '\0')
        snprintf(first->text, sizeof first->text, "%s: %s", path, why);
    pthread_mutex_unlock(&first->lock);
    log_say(LEY_LOG_WARNING, "%s: %s: %s", about, path, why);
}

const char *log_first_text(log_first *first)
{
    pthread_mutex_lock(&first->lock);
    const char *text = first->text[0] != '\0' ? first->text : NULL;
    pthread_mutex_unlock(&first->lock);
    return text;
}
