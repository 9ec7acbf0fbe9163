/* A part of a molecule: of several ranks each owns planes of a grid, and has only the atoms that
 * these planes need. To a job such atoms are its atoms; that they are a part is asked here.
 *
 * Of a part ley_atoms_count() and the arrays are of the atoms that this rank has, in the order of
 * the file, at least one; bounds and sums of charges, with all that follows from these, are the
 * whole molecule's, and so is the sample: what is planned by them is the same on all ranks. Before
 * planes are dealt a rank has its share of the file, which it keeps: no atom is in two of them. */
#ifndef LEY_SOURCE_ATOMS_PART_H
#define LEY_SOURCE_ATOMS_PART_H

#include "leyden.h"
#include "source/large_charges.h"

/* Planes are dealt in layers of so many, as short-range sums are computed; the grid's last layer
 * may be thinner. */
enum { ATOMS_PART_PLANES = 8 };

/* Of the whole molecule at most so many atoms are known everywhere: every so-manieth. */
enum { ATOMS_SAMPLE = 1 << 15 };

typedef struct atoms_part {
    size_t whole;          /* atoms of the molecule */
    int64_t first, end;    /* this rank's planes [first, end) of z, whole layers; none where they are equal */
    const int64_t *planes; /* [ranks + 1]: rank r owns planes planes[r] to planes[r + 1] - 1; NULL: not dealt yet */
    double halo_A;         /* atoms that are so far above or below these planes are here, and those with images there */
    double origin_A, step_A, period_A; /* along z: of plane 0, from plane to plane, and of images; 0: there are none */
    large_charges large;               /* the whole molecule's */
    size_t stride;                     /* of the sample: atoms 0, stride, 2 stride ... of the molecule */
    size_t sampled;
    const double *sample_A; /* [sampled][3]; all arrays stand behind this struct */
} atoms_part;

/* Every so-manieth atom of the molecule, the same of all atoms and of a part: `count` positions,
 * every `step`-th one from here on; each stands for `stride` atoms. */
typedef struct atoms_sample {
    const double *position_A;
    size_t count, step, stride;
} atoms_sample;

double atoms_part_plane_A(const atoms_part *part, int64_t plane);

/* Between which places atoms and images are that planes [first, end) need; no planes need none. */
void atoms_part_reach(const atoms_part *part, int64_t first, int64_t end, double reach_A[2]);

/* Where an atom and its images are along z between two places: *first_A, and then every period. How
 * many. */
int64_t atoms_part_images(const atoms_part *part, double z_A, const double within_A[2], double *first_A);

#endif
