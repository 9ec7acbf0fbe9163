/* A basis with its orbitals' coefficients as gaussians.cl reads it: centres one behind the other,
 * in blocks of orbitals. */
#ifndef LEY_WAVEFUNCTION_STREAM_H
#define LEY_WAVEFUNCTION_STREAM_H

#include "methods/wavefunction/code.h"
#include "methods/wavefunction/expansion.h"

typedef struct stream_shape {
    int at_once;            /* orbitals of a block */
    bool is_double;         /* numbers; else floats */
    int tile;               /* vectors that fit into local memory; 0: all are in one part */
    const basis_code *code; /* in whose order centres come, without exponents; NULL: as they are */
} stream_shape;

typedef struct stream {
    int64_t vectors; /* of four numbers, of a block */
    int32_t blocks, tile_count;
    void *numbers;  /* [blocks][vectors][4] */
    int32_t *tiles; /* [tile_count][2]: first vector, vectors */
} stream;

/* Vectors of a block, in one part. */
int64_t stream_vectors(const expansion *e, const stream_shape *shape);

/* Which orbitals, and what of them counts. */
typedef struct stream_orbitals {
    const float *coefficients; /* [count][e->coefficients] */
    const double *exact;       /* the same, for doubles; NULL: there are none */
    const double *thresholds;  /* [count]: Gaussians below that are left out */
    int32_t count;
    int derivatives; /* that are asked for, 0 to 2 */
} stream_orbitals;

/* How far each Gaussian of the basis reaches, [e->count], squared, for `count` of the orbitals from
 * one on; or one of its centre that is steeper than it, if that is farther: the widest, which is
 * the last one, comes first in the stream. */
void stream_reach(const expansion *e, const stream_orbitals *orbitals, int32_t first, int32_t count, double *reach2);

/* Errors: LEY_ERROR_MEMORY; LEY_ERROR_NO_DEVICE where kernels cannot number it, or a Gaussian does
 * not fit into a tile. */
ley_status stream_create(const expansion *e, const stream_shape *shape, int32_t orbitals, stream *made,
                         ley_error *error);

/* Centres and points are relative to this place, in bohr: where all are far from 0, they would take
 * its digits from their distances. */
static inline const double *stream_origin(const expansion *e)
{
    return e->gaussians[0].centre;
}

/* Puts these orbitals into a stream that is made for as many. */
void stream_fill(const expansion *e, const stream_shape *shape, const stream_orbitals *orbitals, stream *s);
void stream_destroy(stream *s);

#endif
