/* What it takes a rank to keep the finest levels to itself (multilevel/local_levels.h), before
 * anything is made: seconds, bytes, and how far atoms beyond its planes are needed. */
#ifndef LEY_LONG_RANGE_MODEL_LOCAL_FORECAST_H
#define LEY_LONG_RANGE_MODEL_LOCAL_FORECAST_H

#include "long_range/multilevel/local_levels.h"
#include "ranks.h"
#include "schedule/stage.h"

/* How many there are, and how fast their link is. */
typedef struct local_ranks {
    int ranks;
    ranks_speed link;
} local_ranks;

/* Of one rank. */
typedef struct local_forecast {
    int levels;           /* that are local */
    double device_s;      /* its device's: spreading, levels, and transforms that it does alone */
    double moved_bytes;   /* that come from other ranks */
    double exchange_s;    /* on the link */
    double device_bytes;  /* of meshes, */
    double largest_bytes; /* and of the largest buffer */
    double host_bytes;    /* of charges and potentials of the first level that all have */
} local_forecast;

local_forecast local_forecast_of(const local_levels *l, const local_ranks *r, size_t atoms, const device_view *d);

/* Whether the device has room for it, and kernels can number the meshes. */
bool local_forecast_fits(const local_levels *l, const local_forecast *f, const device_view *d);

/* The soonest of those that fit, for a rank in the middle of others that have as many planes;
 * `atoms`: of all ranks. False: none fits. */
bool local_forecast_choose(const hierarchy *h, const local_ranks *r, size_t atoms, const device_view *d,
                           local_forecast *made);

/* How far beyond a rank's planes, at either side, the atoms are that so many local levels need. And
 * the number of local levels with which a rank has the fewest nodes. */
double local_halo_A(const hierarchy *h, int levels);
int local_halo_levels(const hierarchy *h, int ranks);

#endif
