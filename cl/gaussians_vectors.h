/* What gaussians.cl does with a vector of points: whether one of them is within a reach, and how it
 * is stored. */
#ifndef LEY_GAUSSIANS_VECTORS_H
#define LEY_GAUSSIANS_VECTORS_H

#define IS_NEAR(r2, reach2) any((r2) < (reach2))
#define STORE(value, at) LEY_PASTE(vstore, LEY_WIDTH)(value, 0, at)

#endif
