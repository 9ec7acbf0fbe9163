/* Positions and weights as mdh.cl reads them. */
#ifndef LEY_MDH_PACK_H
#define LEY_MDH_PACK_H

#include "methods/mdh/problem.h"
#include "methods/mdh/tuning.h"

/* Bytes of a `placed`: of its float or of its double form. */
size_t mdh_placed_bytes(const mdh_spec *spec);

/* Packs the atoms that have a charge, as many as there are; their weights are C q / (1 + kappa R),
 * times what of exp(kappa R) the kernel does not compute, times the unit of length. Returns how
 * many. */
int mdh_pack_atoms(const mdh_spec *spec, const mdh_problem *problem, void *packed);

/* Points of a list that a work-group takes. */
int64_t mdh_group_points(const mdh_spec *spec);

/* How many `placed` points [first, first + count) of a list take: one each, and one per
 * work-group. */
int64_t mdh_packed_points(const mdh_spec *spec, int64_t count);

/* Packs points [first, first + count) of a list, in the problem's order; behind them each
 * work-group's frame: the cell that its main loop has positions relative to, and how far from there
 * atoms are near along each axis: a little farther than the points. */
void mdh_pack_points(const mdh_spec *spec, const mdh_problem *problem, int64_t first, int64_t count, void *packed);

/* The frame's spacing in the kernels' unit, and what is lost where the kernel rounds it to floats,
 * {x, y, z, ...} each. step[3] is the distance from a face within which atoms are near; of a list
 * the square of the shortest distance that counts as it is. */
void mdh_step(const mdh_spec *spec, const mdh_problem *problem, double step[4], double step_low[4]);

#endif
