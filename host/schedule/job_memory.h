/* What a job is going to take of the host's memory, from its input alone: what every method takes
 * of it, and the refusal. */
#ifndef LEY_SCHEDULE_JOB_MEMORY_H
#define LEY_SCHEDULE_JOB_MEMORY_H

#include "leyden.h"
#include "memory.h"

enum { JOB_MOST_NEEDS = 12 };

typedef struct job_needs {
    size_t count, held; /* the first `held` of them are taken already */
    memory_need list[JOB_MOST_NEEDS];
} job_needs;

/* A map of this grid, and those of its field, but for ones that are in files, and slabs of it, of
 * so many planes at least. `map` NULL: there is none yet, and it is going to be in memory. */
void job_needs_map(job_needs *needs, const ley_grid *grid, const ley_map *map, int least_planes);

/* What else the method takes. */
void job_needs_add(job_needs *needs, const char *what, double bytes, const char *advice);

/* The points of a list, what is computed there, and their places in space while these are put in
 * order: the former are there before the job is. To be said before anything else. */
void job_needs_points(job_needs *needs, int64_t points, bool field);

/* LEY_ERROR_MEMORY where there is no room for what is not taken already; and the bytes of what
 * is. */
ley_status job_needs_check(const job_needs *needs, ley_error *error);
double job_needs_held(const job_needs *needs);

/* Of all, taken or not. */
double job_needs_bytes(const job_needs *needs);

#endif
