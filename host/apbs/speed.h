/* How long APBS itself takes on this machine: see platform/costs.h. */
#ifndef LEY_APBS_SPEED_H
#define LEY_APBS_SPEED_H

#include "costs.h"

/* By one core: the arithmetic of an atom and a node of `bcfl mdh`, without and with salt; sscanf()
 * of a number. */
enum { COST_PAIR_NO_SALT, COST_PAIR_SALT, COST_SCANNED_NUMBER };
extern const costs_kind apbs_costs;

/* How many times as long APBS takes for each of these: its functions around them. Measured with
 * version 3.4.1. */
extern const double apbs_times[];

#endif
