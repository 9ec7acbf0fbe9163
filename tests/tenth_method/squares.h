/* The arguments of squares.cl: read by the kernel and by the host. */
#ifndef LEY_SQUARES_H
#define LEY_SQUARES_H

#define LEY_SQUARES_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, scalar, gm_values) \
    NEXT(INT, int, n) \
    NEXT(INT, int, is_squared) \
    NEXT(WRITE, scalar, gm_sums)

#endif
