/* The kernels that a device is going to be asked for, found by whoever asks for them: while a
 * thread notes them down, its kernel_create() makes none. */
#ifndef LEY_KERNEL_WISHES_H
#define LEY_KERNEL_WISHES_H

#include "kernel_kind.h"

enum { KERNEL_MOST_WISHES = 16 };

typedef struct kernel_wish {
    const kernel_kind *kind;
    int spec[KERNEL_MOST_KEYS];
    const char *prelude; /* as kernel_create() has it */
} kernel_wish;

typedef struct kernel_wishes {
    size_t count; /* those that are one too many are built when they are asked for */
    kernel_wish list[KERNEL_MOST_WISHES];
} kernel_wishes;

/* From now on this thread's kernel_create() notes its kernels down, and has programs of those alone
 * that measure; fft_create() prepares nothing, and costs of devices are not measured. NULL: no
 * more. */
void kernels_note(kernel_wishes *wishes);

/* Where this thread notes them; NULL: it does not. */
kernel_wishes *kernels_noted(void);

#endif
