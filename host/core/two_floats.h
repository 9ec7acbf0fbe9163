/* A double as the sum of two floats, as kernels have places. */
#ifndef LEY_TWO_FLOATS_H
#define LEY_TWO_FLOATS_H

/* Through memory, as GCC 12 takes (double)(float)x for x where it vectorises a loop over axes, and
 * the second float for 0. */
static inline void two_floats(double x, float *high, float *low)
{
    const volatile float first = (float)x;
    *high = first;
    *low = (float)(x - (double)first);
}

#endif
