/* What gaussians.cl does with a vector of points: whether one of them is within a reach, how it is
 * stored, and how its coordinates are read. */
#ifndef LEY_GAUSSIANS_VECTORS_H
#define LEY_GAUSSIANS_VECTORS_H

#define IS_NEAR(r2, reach2) any((r2) < (reach2))
#define WITHIN(value, r2, reach2) select((real)0, value, (r2) < (reach2)) /* whatever its neighbours are */
#if LEY_SUM == LEY_SPEC_SUM_DOUBLE
#define COORDINATE(at) LEY_PASTE(convert_double, LEY_WIDTH)(LEY_LOAD(at))
#else
#define COORDINATE(at) LEY_LOAD(at)
#endif
#define STORE(value, at) LEY_PASTE(vstore, LEY_WIDTH)(value, 0, at)

#endif
