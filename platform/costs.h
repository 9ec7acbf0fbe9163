/* What things cost on this machine and its devices, in seconds per unit, for plans: how long a byte
 * takes to a device and back, an atom into its bin. Measured when a plan asks for the first time,
 * in a few milliseconds, and kept in the build cache as calibrations are. */
#ifndef LEY_COSTS_H
#define LEY_COSTS_H

#include "build_cache.h"

/* Seconds per unit: no fewer, no more, whatever is measured; and what is taken for it until it is
 * known. */
typedef struct cost_bounds {
    double least_s, usual_s, most_s;
} cost_bounds;

/* Costs that are measured together. */
enum { COSTS_MOST = 4 };
typedef struct costs_kind {
    const char *name; /* "memory": of its entry in the cache */
    size_t count;
    cost_bounds bounds[COSTS_MOST];

    /* Measures all of them once, in about a millisecond. `context`: the asker's. False: it cannot
     * be done. NULL: they are only found in passing. */
    bool (*measure)(void *context, double *seconds);
} costs_kind;

/* What is known of the host (`info` NULL) or of a device, without measuring; else the usual costs,
 * and false. */
bool costs_known(const costs_kind *kind, const dev_info *info, double *seconds);

/* The same, measured where it is not known: each one the least of several times, within its bounds.
 * It stays as it is while the process lasts. What cannot be measured is as usual, and asked again.
 * Nothing is measured on a device that interprets its kernels. */
void costs_get(const costs_kind *kind, const dev_info *info, void *context, double *seconds);

/* Costs that were found in passing, where work that had to be done was timed: they are known from
 * now on, within their bounds, in place of others. */
void costs_keep(const costs_kind *kind, const dev_info *info, const double *seconds);

/* Costs that were found while others used the machine, too, perhaps: the least of all that was
 * found counts, for a busy machine makes some longer, none shorter; but half-way, by powers, to
 * what is more than twice as long. What is less by no more than a tenth changes nothing, so that
 * the next plan is the same. */
void costs_learn(const costs_kind *kind, const dev_info *info, const double *seconds);

/* Of the host's memory, by one core: to touch a byte for the first time. */
enum { COST_TOUCH };
extern const costs_kind memory_costs;

/* Of a device, measured with the dev as context: a byte that is written to it, and that comes back
 * through staging; an operation that is begun and waited for. */
enum { COST_TO_DEVICE, COST_TO_HOST, COST_START };
extern const costs_kind bus_costs;

/* Where they stand in the cache: all seconds, in their order. */
cache_key costs_key(const costs_kind *kind, const dev_info *info);

/* For tests: in this process these are known; NULL: nothing is, until it is read or measured. */
void costs_plant(const costs_kind *kind, const dev_info *info, const double *seconds);

#endif
