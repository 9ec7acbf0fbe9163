/* Direct Coulomb summation as a method. */
#ifndef LEY_DCS_METHOD_H
#define LEY_DCS_METHOD_H

#include "bench/bench.h"
#include "schedule/method.h"

extern const method method_dcs;
extern const bench_subject bench_dcs; /* bench.c */

/* A task of the method, which its end() ends. Options have been checked; atoms and map must outlive
 * it. Errors: LEY_ERROR_MEMORY. */
ley_status dcs_task_create(const ley_atoms *atoms, ley_map *map, const ley_direct *direct, void **task,
                           ley_error *error);

#endif
