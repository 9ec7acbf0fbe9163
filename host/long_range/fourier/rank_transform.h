/* The transforms of a mesh by all ranks, each on its own cores by FFTW (fftw_mesh.h): each has some
 * of the mesh's planes, and between the passes some rows of all planes, whose waves it multiplies
 * by the influence function. Values are those of one rank's transforms by FFTW. */
#ifndef LEY_LONG_RANGE_FOURIER_RANK_TRANSFORM_H
#define LEY_LONG_RANGE_FOURIER_RANK_TRANSFORM_H

#include "fftw_mesh.h"
#include "numerics/hierarchy.h"
#include "ranks.h"

#include <stdatomic.h>

/* Planes go to rows, and rows to planes: both are begun by each rank, in this order. */
enum { RANK_TURNS = 2 };

typedef struct rank_transform {
    const hierarchy *meshes;
    int64_t n[3];         /* nodes of the transform */
    int64_t *plane;       /* [ranks + 1] the first plane of each rank, as far as planes have nodes; */
    int64_t *row;         /* and the first row */
    size_t half;          /* complex values of a row */
    fftw_complex *planes; /* [own planes][n y][half] */
    fftw_complex *rows;   /* [all planes][own rows][half] */
    int begun;
    ranks_exchange *turn[RANK_TURNS];
} rank_transform;

/* Bytes of it on a rank; and those that come to it in both turns. */
double rank_transform_bytes(const hierarchy *h, const int64_t n[3], int ranks);
double rank_transform_moved(const hierarchy *h, const int64_t n[3], int ranks);

/* `layer`: [ranks + 1] each rank's first layer of planes. On failure it may be ended. */
ley_status rank_transform_create(rank_transform *t, const hierarchy *h, const int64_t n[3], const int64_t *layer,
                                 ley_error *error);

/* Charges of own planes, [n z][n y][n x] of the mesh, become potentials. `await` waits for a turn;
 * false: no longer, and LEY_CANCELLED is what comes of it. After any error the turns that are left
 * are rank_transform_give_up()'s. Other errors: those of kept_spectrum_get() and
 * fftw_mesh_create(). */
ley_status rank_transform_run(rank_transform *t, float *own, bool (*await)(void *context, ranks_exchange *turn),
                              void *context, const atomic_bool *cancelled, ley_error *error);

/* The turns that are left, with values that are no numbers; false: `await` did not wait for one, and
 * what there is stays for ever. And the end, when all turns are done. */
bool rank_transform_give_up(rank_transform *t, bool (*await)(void *context, ranks_exchange *turn), void *context);
void rank_transform_clear(rank_transform *t);

#endif
