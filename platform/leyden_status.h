/* Status codes, error reports and the log of leyden: one of each, for every floor. Part of the
 * public interface (leyden.h includes it); it stands here because the lowest floor needs it. */
#ifndef LEYDEN_STATUS_H
#define LEYDEN_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define LEY_API __attribute__((visibility("default")))
#else
#define LEY_API
#endif

/* ROW(name, exit code of the command, meaning) */
#define LEY_STATUS_TABLE(ROW) \
    ROW(LEY_OK, 0, "done") \
    ROW(LEY_ERROR_USAGE, 1, "wrong usage") \
    ROW(LEY_ERROR_INPUT, 2, "bad input") \
    ROW(LEY_ERROR_FILE, 2, "a file that cannot be read or written") \
    ROW(LEY_ERROR_NO_DEVICE, 3, "no usable device") \
    ROW(LEY_ERROR_DEVICE, 4, "device or build failure") \
    ROW(LEY_ERROR_MEMORY, 4, "out of memory") \
    ROW(LEY_ERROR_WRONG_RESULT, 5, "wrong results") \
    ROW(LEY_CANCELLED, 130, "cancelled")

typedef enum ley_status {
#define LEY_STATUS_ROW(name, exit_code, meaning) name,
    LEY_STATUS_TABLE(LEY_STATUS_ROW)
#undef LEY_STATUS_ROW
        LEY_STATUS_COUNT
} ley_status;

/* What is behind a failure, where its status does not say it and a caller may know better advice
 * than the message has. */
typedef enum ley_cause {
    LEY_CAUSE_OTHER,
    LEY_CAUSE_UNKNOWN_NAME, /* LEY_ERROR_USAGE: an expression has a name in it that means nothing */
    LEY_CAUSE_PLAN          /* LEY_ERROR_USAGE: a plan, whose decisions are none, or contradict the options */
} ley_cause;

/* What went wrong. Start with {0}; every function that takes one accepts NULL. A function that
 * fails fills it; one that succeeds leaves it alone. The caller ends it with ley_error_clear(). */
typedef struct ley_error {
    ley_status status;
    char message[1024]; /* one line, without a newline */
    char *log;          /* full build log, or NULL; owned by this struct */
    ley_cause cause;
} ley_error;

/* Releases the log and makes the report empty again. */
LEY_API void ley_error_clear(ley_error *error);

/* "bad input", "no usable device", ... for any value. */
LEY_API const char *ley_status_text(ley_status status);

/* "LEY_ERROR_INPUT", ... for any value. */
LEY_API const char *ley_status_name(ley_status status);

/* Exit code of the command for a status: 0 done, 1 usage, 2 input or files, 3 no device, 4 device
 * or memory, 5 wrong results, 130 cancelled. */
LEY_API int ley_status_exit_code(ley_status status);

/* ---- Log ------------------------------------------------------------------------------------- */

/* How much a message matters. */
typedef enum ley_log_level {
    LEY_LOG_WARNING, /* something does not work as it should; results are right all the same */
    LEY_LOG_NOTE,    /* what was found, decided and done: devices, calibrations, builds, variants, plans */
    LEY_LOG_DETAIL   /* and why: what was measured and predicted, what the caches held */
} ley_log_level;

/* Takes a message: one line, without a newline, that is gone when the callback returns. It is
 * called from any thread of the library and of its callers, never from two at once, and should be
 * quick: others wait. It must not wait for a thread that is in the library. It may call the
 * library; what is logged meanwhile by the same thread is dropped. */
typedef void ley_log_callback(void *context, ley_log_level level, const char *message);

/* From now on, messages of the whole process that are as important as `least`, or more, go to this
 * callback. NULL ends that; at first there is none, and the library says nothing at all. No call of
 * a former callback is under way when this returns, unless it was called by it. */
LEY_API void ley_log_set(ley_log_callback *callback, void *context, ley_log_level least);

/* "warning", "note", "detail"; "?" for other values. */
LEY_API const char *ley_log_level_name(ley_log_level level);

#ifdef __cplusplus
}
#endif
#endif
