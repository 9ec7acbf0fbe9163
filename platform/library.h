/* Libraries that are opened while the program runs, once a process, and stay open: drivers,
 * compilers, Fourier transforms. */
#ifndef LEY_LIBRARY_H
#define LEY_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct library {
    const char *complaint; /* what comes before "it has no SYMBOL": "NVRTC is too old: " */
    const char *called;    /* "libclFFT.so.2", and the variable that names another file; for library_open_or_say() */
    const char *variable;
    char reason[256]; /* why it cannot be used; empty: it can */
} library;

/* The one in `own`, or, where that is NULL, the first of `names` that there is. NULL: none. */
void *library_open(const char *own, const char *const *names, size_t count);

/* The same; where there is none, that is the reason. */
void *library_open_or_say(library *l, const char *own, const char *const *names, size_t count);

/* Puts the symbol's address into a field of a table, NULL where there is none; where it is needed
 * then, that is the reason. */
void library_find(library *l, void *handle, const char *symbol, bool needed, void *field, size_t size);

/* The table of symbols, or NULL and why not. */
const void *library_give(const library *l, const void *table, char *reason, size_t size);

#endif
