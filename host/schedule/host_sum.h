/* What the host does of a method where it does a job alone, in double precision on its threads, and
 * whether that is sooner than opening a device and building kernels. */
#ifndef LEY_SCHEDULE_HOST_SUM_H
#define LEY_SCHEDULE_HOST_SUM_H

#include "schedule/method.h"
#include "target/points.h"

/* What a task comes to where the host does it: what is summed, and where it goes. */
typedef struct host_sum {
    reference_terms terms; /* without excluded atoms */
    ley_map *map;          /* is filled: this, */
    ley_boundary *list;    /* or this, */
    ley_points *points;    /* whose points these are, with a field and exclusions where there are some; or NULL */
    int64_t count;         /* or so many values, which the method has numbers for (value(), terms_at()), of this map, or
                              else of no list; and: */
    void (*set)(const void *task, int64_t number, double value);
    double value_s;    /* that each takes on one core, about */
    const char *units; /* of the values; NULL: they are said already */
    const char *how;   /* "direct summation" */
    double builds_s;   /* about how long a device takes to build its kernels the first time */
    bool is_free; /* nobody has said how devices are to do it, so that the host may where they are not exact enough */
    ley_status (*check)(const void *task, ley_error *error); /* the values, in the end; NULL: nothing */
} host_sum;

/* Whether the host is predicted to be sooner: by pairs and images over its rate, against opening a
 * device and what the build cache lacks. Options that ask for what only devices have, as variants
 * and recipes, are theirs. */
bool host_sum_is_sooner(const method *m, const void *task, const ley_run_options *options);

/* Whether the host is to do it, by the options or by this plan, which may be NULL; and whether it
 * can. LEY_ERROR_USAGE: what is asked for is for devices, or its verification would take too
 * long. */
bool host_sum_is_asked(const ley_run_options *options, const job_plan *given);
ley_status host_sum_check(const method *m, const void *task, const ley_run_options *options, const job_plan *given,
                          ley_error *error);

/* Whether it has the field as well. */
bool host_sum_has_field(const host_sum *sum);

/* About how long it takes on all cores, in s. */
double host_sum_seconds(const host_sum *sum);

int64_t host_sum_points(const host_sum *sum);

/* Images of an atom that a sum of pairs looks at. */
double host_sum_images(const reference_terms *terms);

/* The host has done such a job in so many seconds; or devices have, so that their kernels are in
 * the cache. */
void host_sum_note_taken(const method *m, double seconds);
void host_sum_note_built(const method *m);

#endif
