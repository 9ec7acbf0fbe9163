/* Where an atom or a point is, as host and devices share it; a dialect header comes first. */
#ifndef LEY_PLACED_H
#define LEY_PLACED_H

/* A mesh cell and an offset within it: subtracting cells is exact. Of doubles it has 64 bytes
 * on every device: OpenCL C has vectors of four doubles at multiples of 32 bytes, compilers for Arm
 * at multiples of 16, and would leave the last 16 bytes out if they had no name. */
typedef struct {
    atom offset;
    int4 cell;
#if LEY_SUM == LEY_SPEC_SUM_DOUBLE
    int4 unused;
#endif
} placed;

#endif
