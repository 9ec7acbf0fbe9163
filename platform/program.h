/* Kernels ready for use: from the build cache, or compiled and put to the test. */
#ifndef LEY_PROGRAM_H
#define LEY_PROGRAM_H

#include "device.h"

/* A known-answer test of a freshly built program: LEY_OK, LEY_ERROR_WRONG_RESULT, or what went
 * wrong on the way. */
typedef ley_status program_test(dev *device, dev_program *program, void *context, ley_error *error);

/* The program of `kernel` specialised by `options`, with `prelude` (or NULL) before its first line.
 * A cached one has passed `test` when it was built; a new one is built from source, tested, and
 * only then cached. `from_cache` (may be NULL) says which. */
ley_status program_get(dev *device, const char *kernel, const char *options, const char *prelude, program_test *test,
                       void *context, dev_program **program, bool *from_cache, ley_error *error);

#endif
