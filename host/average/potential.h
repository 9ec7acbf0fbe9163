/* From the density of charges on the mesh to the potential at the map's points. */
#ifndef LEY_AVERAGE_POTENTIAL_H
#define LEY_AVERAGE_POTENTIAL_H

#include "average/state.h"

/* value[points of p->n] of a density in e on the mesh's nodes, of a cell: in the problem's
 * units. */
ley_status potential_of(const average_problem *p, const double cell_A[9], const double *density_e, double *value,
                        ley_error *error);

/* What a wave m of the mesh along an axis is multiplied by: 1 / the spline's transform there, or
 * PMEPot's factor. */
double potential_spline(const average_problem *p, int axis, int64_t m);

#endif
