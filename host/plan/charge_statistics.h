/* What a plan for a tolerance has to know of atoms and map: how many pairs there are, how charges
 * cancel from block to block, how large the potential is. */
#ifndef LEY_PLAN_CHARGE_STATISTICS_H
#define LEY_PLAN_CHARGE_STATISTICS_H

#include "leyden.h"
#include "numerics/cell.h"

#include <stdatomic.h>

enum { SURVEY_BLOCKS = 6 };

typedef struct charge_statistics {
    double atoms, points;
    double pairs_per_A3;            /* pairs within a cutoff a: so many times the volume of its sphere */
    double extent_A[3];             /* of what charges and map fill, along the cell's vectors; of periods these */
    bool periodic[3];               /* along these */
    double step_A[3];               /* between points of the map; 0: they are those of a list */
    double volume_A3, charged_A3;   /* of the map; over which charges are spread, which is no less */
    double radius_A;                /* no charge is farther from a point of the map, roughly */
    double square_e2;               /* the sum of q^2 */
    double net_per_A3;              /* of cells that are periodic along three axes: their net charge's size */
    double rounded_e;               /* what all charges as floats sum to beyond what they sum to */
    double block_A[SURVEY_BLOCKS];  /* edges of cubes, ascending, and */
    double block_e2[SURVEY_BLOCKS]; /* the sums of the squares of their charges */
    double strong_e2;               /* of q^2 in the map, those of charges that are far larger than the others */
    double strong_near_A;           /* how near to them points of the map count */
    double potential_e_A;           /* root mean square at points of the map, e/A */
    double terms_e_A;               /* of the roots of the squared terms there, where atoms are few; else 0 */
    double excess[LEY_SPLITTING_COUNT][LEY_WINDOW_COUNT]; /* the error of meshes of this cell's shape, of that of
                                                             cubes; 0: not known, which counts as 1 */
} charge_statistics;

/* Looks at all atoms, on all cores; of ranks with parts of a molecule, in open space or in a cell
 * with images along all axes, each looks at its share, and all come to the same. The potential is
 * that of exp(-kappa d)/d, d = max(r, r_min), at 512 points, of the map or of the list over which
 * that grid is, that a fixed seed chooses: exact where atoms are few, else with atoms that are far
 * from a point as charges and dipoles of cubes, which is right to a hundredth of the root mean
 * square; of periodic charges over each one's nearest image, which is as large but not the same.
 * Points of a list may be where charges are, or not: so the volume over which charges are spread is
 * the one that has as many of them within some distance as points have in the mean. `points` is
 * NULL for a map. `field`: that is asked for, too, and the potential of a cell is without its mean.
 * Errors: those of cell_make(); LEY_ERROR_MEMORY. */
ley_status charge_statistics_make(const ley_atoms *atoms, const ley_points *points, const ley_grid *grid, bool field,
                                  const ley_long_range *range, charge_statistics *made, ley_error *error);

/* The sum of the squared charges of cubes of this edge, e^2: between blocks by powers; below the
 * smallest one no more than square_e2. */
double charge_statistics_square_e2(const charge_statistics *s, double edge_A);

#endif
