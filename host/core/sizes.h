/* Checked 64-bit sizes: products that say when they overflow. */
#ifndef LEY_SIZES_H
#define LEY_SIZES_H

#include <stdbool.h>
#include <stdint.h>

/* *made = a b; false, and *made untouched, when it does not fit into 63 bits or a factor is
 * negative. */
static inline bool ley_multiply(int64_t a, int64_t b, int64_t *made)
{
    int64_t result;
    if (a < 0 || b < 0 || __builtin_mul_overflow(a, b, &result))
        return false;
    *made = result;
    return true;
}

/* The smallest multiple of `tile` (> 0) that is >= n (>= 0). */
static inline int64_t ley_round_up(int64_t n, int64_t tile)
{
    return (n + tile - 1) / tile * tile;
}

#endif
