/* Functions of numbers on a device: one launch of functions.cl. */
#ifndef LEY_CHECK_FUNCTIONS_H
#define LEY_CHECK_FUNCTIONS_H

#include "check/internal.h"

/* In which arithmetic. */
typedef struct function_type {
    int number;
    const char *variant;
    bool is_double;
    int width;
} function_type;

/* The types that a device has, floats first; returns how many. */
enum { FUNCTION_TYPES = 3 };
size_t function_types(const dev_info *info, function_type types[FUNCTION_TYPES]);

/* The kernel, from source, or of another check, whose it then stays: function_release() ends only
 * what is the caller's. */
ley_status function_create(check_run *run, const function_type *type, dev_kernel *kernel, ley_error *error);
void function_release(const check_run *run, dev_kernel *kernel);

/* out[i] = f(in[0][i], in[1][i], in[2][i]), f by LEY_FUNCTION_..., rounded to the type on the way
 * there. */
ley_status function_compute(const dev_kernel *kernel, const function_type *type, int which, size_t n,
                            const double *const in[3], double *out, ley_error *error);

#endif
