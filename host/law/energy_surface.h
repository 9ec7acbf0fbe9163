/* The law of surface energies. */
#ifndef LEY_LAW_ENERGY_SURFACE_H
#define LEY_LAW_ENERGY_SURFACE_H

#include "law/energy_parts.h"

/* The numerical surface counts how many of these points of each sphere are within no other: their
 * directions, along a spiral from pole to pole. */
enum { ENERGY_SURFACE_POINTS = 960 };
void energy_surface_direction(int point, double direction[3]);

/* Areas of some particles and, with the option `forces`, the slopes of the whole area by where
 * these are; `law` must outlive it. In time proportional to the particles that have a sphere.
 * Errors: LEY_ERROR_MEMORY. */
typedef struct energy_surface energy_surface;
ley_status energy_surface_create(const energy_law *law, int64_t count, const int64_t *particle, energy_surface **made,
                                 ley_error *error);
void energy_surface_destroy(energy_surface *surface); /* may be NULL */
void energy_add_surface(const energy_law *law, const energy_surface *surface, int64_t i, energy_sums *sums);

#endif
