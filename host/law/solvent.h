/* What surrounds the molecule: which numbers make sense. */
#ifndef LEY_LAW_SOLVENT_H
#define LEY_LAW_SOLVENT_H

#include "leyden.h"

extern const ley_parameter_table solvent_parameters;

/* LEY_ERROR_USAGE when a number is out of the range that leyden.h gives, or the ionic strength
 * overflows. Ions need not be neutral together: the caller knows whether that is meant. */
ley_status solvent_check(const ley_solvent *solvent, ley_error *error);

/* Below this screening (1/A) APBS, and therefore everything here, leaves it out. */
#define SOLVENT_LEAST_SCREENING_PER_A 1e-9

#endif
