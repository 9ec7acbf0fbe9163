/* The first fault that a check has found, as a text: checks are tested by what they find. */
#ifndef LEY_FOUND_FAULT_H
#define LEY_FOUND_FAULT_H

#include "support.h"

typedef struct fault {
    char text[512];
} fault;

/* Nothing but what is expected. */
static void only(const fault *found, const char *expected)
{
    if (strcmp(found->text, expected) != 0)
        fail_msg("found \"%s\", not \"%s\"", found->text, expected);
}

/* Keeps the first one. */
__attribute__((format(printf, 2, 3))) static void blame(fault *found, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (found->text[0] == '\0')
        vsnprintf(found->text, sizeof found->text, format, arguments);
    va_end(arguments);
}

#endif
