/* What hermite.cl does with a vector of points: whether something is so of one of them, or of all;
 * and how it is stored. */
#ifndef LEY_HERMITE_VECTORS_H
#define LEY_HERMITE_VECTORS_H

#define SOME(is) any(is)
#define EVERY(is) all(is)
#define STORE(value, at) LEY_PASTE(vstore, LEY_WIDTH)(value, 0, at)

#endif
