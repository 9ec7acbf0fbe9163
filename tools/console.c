#include "console.h"
#include "interrupt.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

short_text text_of(const char *format, ...)
{
    short_text result;
    va_list values;
    va_start(values, format);
    vsnprintf(result.s, sizeof result.s, format, values);
    va_end(values);
    return result;
}

short_text count_text(int64_t count)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%lld", (long long)count);
    short_text result;
    char *to = result.s;
    for (int i = 0; i < length; i++) {
        *to++ = digits[i];
        int left = length - 1 - i;
        if (left > 0 && left % 3 == 0 && digits[i] != '-')
            *to++ = ',';
    }
    *to = '\0';
    return result;
}

short_text counted_text(int64_t count, const char *noun)
{
    return text_of("%s %s%s", count_text(count).s, noun, count == 1 ? "" : "s");
}

short_text billions_text(double per_s)
{
    double billions = per_s / 1e9;
    if (!isfinite(billions) || billions > 1e15)
        return text_of("unknown");
    if (billions >= 99.95)
        return text_of("%s billion", count_text(llround(billions)).s);
    if (billions >= 9.995)
        return text_of("%.1f billion", billions);
    if (billions >= 0.9995)
        return text_of("%.2f billion", billions);
    return text_of("%.3g billion", billions);
}

short_text bytes_text(uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double amount = (double)bytes;
    size_t unit = 0;
    while (amount >= 1023.5 && unit + 1 < sizeof units / sizeof *units) {
        amount /= 1024;
        unit++;
    }
    return text_of(unit > 0 && amount < 99.95 ? "%.1f %s" : "%.0f %s", amount, units[unit]);
}

short_text seconds_text(double seconds)
{
    if (!isfinite(seconds))
        return text_of("unknown");
    return text_of(seconds < 99.995 ? "%.2f s" : "%.0f s", seconds);
}

short_text clock_text(double seconds)
{
    if (!(seconds >= 0 && seconds < 1e9))
        return text_of("-:--");
    long long s = llround(seconds);
    if (s < 3600)
        return text_of("%lld:%02lld", s / 60, s % 60);
    return text_of("%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
}

short_text grid_text(const int64_t n[3])
{
    return text_of("%lld x %lld x %lld", (long long)n[0], (long long)n[1], (long long)n[2]);
}

short_text triple_text(const double value[3])
{
    return text_of("(%.8g, %.8g, %.8g)", value[0] + 0.0, value[1] + 0.0, value[2] + 0.0);
}

int text_columns(const char *utf8)
{
    int columns = 0;
    for (; *utf8 != '\0'; utf8++)
        columns += ((unsigned char)*utf8 & 0xC0) != 0x80;
    return columns;
}

const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void say(const char *kind, const char *format, va_list values)
{
    fflush(stdout); /* results before the messages that came after them */
    fputs(kind, stderr);
    if (ley_ranks_count() > 1)
        fprintf(stderr, "rank %d: ", ley_ranks_own());
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
}

/* What is wrong on all ranks rank 0 says, which then ends the others. */
static void let_first_rank_speak(void)
{
    if (ley_ranks_own() > 0)
        nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
}

int fail(ley_status status, const char *format, ...)
{
    va_list values;
    let_first_rank_speak();
    va_start(values, format);
    say("leyden: ", format, values);
    va_end(values);
    return ley_status_exit_code(status);
}

static console_advice *advise;

void console_take_advice(console_advice *from)
{
    advise = from;
}

int fail_with(ley_error *error)
{
    const char *message = error->message[0] != '\0' ? error->message : ley_status_text(error->status);
    char advice[1024] = "";
    if (advise != NULL)
        advise(message, advice, sizeof advice);
    int code = fail(error->status, "%s%s", message, advice);
    if (error->log != NULL) {
        size_t length = strlen(error->log);
        fprintf(stderr, "%s%s", error->log, length > 0 && error->log[length - 1] == '\n' ? "" : "\n");
    }
    ley_error_clear(error);
    return code;
}

ley_status fail_into(ley_error *error, ley_status status, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(error->message, sizeof error->message, format, values);
    va_end(values);
    return error->status = status;
}

void warn(const char *format, ...)
{
    va_list values;
    if (ley_ranks_own() > 0) /* rank 0 says the same */
        return;
    va_start(values, format);
    say("leyden: warning: ", format, values);
    va_end(values);
}

int flush_results(int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    int why = errno;
    if (interrupt_exit_code() == 128 + SIGPIPE)
        return code != 0 ? code : interrupt_exit_code(); /* nobody listens */
    int lost = fail(LEY_ERROR_FILE, "standard output: %s", strerror(why));
    return code != 0 ? code : lost;
}

void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count > 0 ? count : 1, size);
    if (memory == NULL)
        exit(fail(LEY_ERROR_MEMORY, "out of memory: %s", bytes_text(count * size).s));
    return memory;
}
