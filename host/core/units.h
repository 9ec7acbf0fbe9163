/* Atomic units. */
#ifndef LEY_CORE_UNITS_H
#define LEY_CORE_UNITS_H

#include "leyden.h"

/* The Bohr radius, A; CODATA 2018. */
extern const double units_bohr_A;

/* A hartree per elementary charge in the units of this name, e / (4 pi eps0 a0): 27.2114 V. `kT/e`
 * is at this temperature; maps of others may be in `mV`. 0: the name is of no potential. */
double units_per_hartree(const char *units, double temperature_K);

#endif
