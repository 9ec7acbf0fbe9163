/* What the known-answer self-tests of kernels share. */
#ifndef LEY_SELF_TEST_H
#define LEY_SELF_TEST_H

#include <stdint.h>

/* In [0, 1): a linear congruential generator (Numerical Recipes). The numbers matter less than that they are always the same. */
static inline double self_test_fraction(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) / 16777216.0;
}

#endif
