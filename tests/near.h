/* Numbers that should be equal but for rounding. */
#ifndef LEY_TEST_NEAR_H
#define LEY_TEST_NEAR_H

#include "support.h"

#include <math.h>

/* Fails the test, with both numbers, when they are further apart or one is none. */
#define assert_near(a, b, tolerance) assert_near_at((a), (b), (tolerance), #a, __FILE__, __LINE__)

static inline void assert_near_at(double a, double b, double tolerance, const char *what, const char *file, int line)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%s:%d: %s is %.17g, not %.17g: %.3g apart", file, line, what, a, b, fabs(a - b));
}

#endif
