/* The transforms of a mesh by all ranks, each on its own cores by FFTW (fftw_mesh.h): each has some
 * of the mesh's planes, and between the passes some rows of all planes, whose waves it multiplies
 * by the influence function of these rows, which is made in the same way (spectrum.h). Values are
 * those of one rank's transforms by FFTW.
 *
 * Rows y and n - y, for which the influence function is the same, are on one rank: rows are in the
 * order 0, 1, n - 1, 2, n - 2 ... unless the mesh is oblique. */
#ifndef LEY_LONG_RANGE_FOURIER_RANK_TRANSFORM_H
#define LEY_LONG_RANGE_FOURIER_RANK_TRANSFORM_H

#include "fftw_mesh.h"
#include "numerics/hierarchy.h"
#include "ranks.h"

#include <stdatomic.h>

/* Arrays that are cut otherwise, each by all ranks, in this order: planes of the influence function
 * become rows, and so do planes of waves; and these rows planes. */
enum { TURN_INFLUENCE, TURN_THERE, TURN_BACK, RANK_TURNS };

typedef struct rank_transform {
    const hierarchy *meshes;
    int64_t n[3], stored[3];      /* nodes of the transform; waves of the influence function */
    int64_t *plane, *row;         /* [ranks + 1] the first plane of each rank, as far as planes have nodes, and row */
    int64_t *own_plane, *own_row; /* the same of the influence function */
    size_t *order;                /* [n y] where a row is; NULL: where it always is */
    size_t half;                  /* complex values of a row */
    fftw_complex *planes;         /* [own planes][n y][half] */
    fftw_complex *rows;           /* [all planes][own rows][half] */
    double *kernel_planes, *kernel_rows; /* of the influence function, [own planes][stored y][stored x], and */
    float *influence;                    /* [stored z][own rows][stored x] */
    int begun;
    ranks_exchange *turn[RANK_TURNS];
} rank_transform;

/* Bytes of it on a rank; and those that come to it in all turns. */
double rank_transform_bytes(const hierarchy *h, const int64_t n[3], int ranks);
double rank_transform_moved(const hierarchy *h, const int64_t n[3], int ranks);

/* `layer`: [ranks + 1] each rank's first layer of planes. On failure it may be ended. */
ley_status rank_transform_create(rank_transform *t, const hierarchy *h, const int64_t n[3], const int64_t *layer,
                                 ley_error *error);

/* Charges of own planes, [n z][n y][n x] of the mesh, become potentials. `await` waits for a turn;
 * false: no longer, and LEY_CANCELLED is what comes of it. After any error the turns that are left
 * are rank_transform_give_up()'s. Other errors: those of spectrum_planes() and fftw_mesh_create(). */
ley_status rank_transform_run(rank_transform *t, float *charges, bool (*await)(void *context, ranks_exchange *turn),
                              void *context, const atomic_bool *cancelled, ley_error *error);

/* The turns that are left, with values that are no numbers; false: `await` did not wait for one, and
 * what there is stays for ever. And the end, when all turns are done. */
bool rank_transform_give_up(rank_transform *t, bool (*await)(void *context, ranks_exchange *turn), void *context);
void rank_transform_clear(rank_transform *t);

#endif
