/* What of a long-range sum is done by Fourier transforms, on devices whose memory has no room for
 * the whole mesh: then finer levels are done by lattice cutoff, and the first coarser one that
 * there is room for by its transform. */
#ifndef LEY_LONG_RANGE_MODEL_MEMORY_LIMITS_H
#define LEY_LONG_RANGE_MODEL_MEMORY_LIMITS_H

#include "device.h"
#include "engine/decisions.h"
#include "engine/engine.h"
#include "numerics/hierarchy.h"

/* Bytes that a hierarchy's meshes take of a device, and the largest of their buffers. Libraries
 * of transforms may take a work area as large as the mesh, which is counted. */
double memory_limits_bytes(const hierarchy *h, double *largest);

/* Of a device's memory, what meshes may take: the rest is for atoms and slabs. */
#define FIT_SHARE 0.5

/* Whether a device of so much memory, of which a buffer may take `most_bytes`, has room for that;
 * 0: the device does not say. */
bool memory_limits_has_room(double bytes, double largest, double memory_bytes, double most_bytes);

/* Whether this device has room for the meshes, and transforms of them. */
bool memory_limits_device(const dev_info *info, const hierarchy *h);

/* Where it may come to transforms and nobody has said of how many levels: with LEY_SOLVER_AUTO and
 * a B-spline, or LEY_SOLVER_MIXED and no levels. `given`, a plan or NULL, decides; else the solver
 * stays where any device has room for the whole mesh, becomes LEY_SOLVER_MIXED with a nodal
 * window of the next higher degree where none has, and has as few levels as there is room for. What
 * was not there is room for is put into `why`, of `size`: empty, nothing has been changed. Options
 * that do not make meshes at all are left as they are. */
void memory_limits_solver(const ley_engine *engine, const ley_atoms *atoms, const ley_grid *points,
                          const job_plan *given, ley_long_range *range, char *why, size_t size);

#endif
