/* What a job is going to take, of memory and of time, found without computing anything: the devices
 * are readied as for a run, and then asked. */
#ifndef LEY_PLAN_FORECAST_H
#define LEY_PLAN_FORECAST_H

#include "leyden.h"
#include "memory/arena.h"

enum { FORECAST_MOST_NEEDS = 12, FORECAST_MOST_STEPS = 12 };

/* Of what each rank does before its slabs, that which ranks can share: what one takes alone, and
 * what each of them takes together with others, where that is sooner; and what they take that have
 * parts of the atoms only, if they can. */
typedef struct rank_outlook {
    double alone_s, together_s, exchange_s, moved_bytes, host_bytes; /* together_s 0: each does it alone */
    bool transforms;                                                 /* they are shared, too */
    bool can_part;
    int local_levels;
    double part_s, part_exchange_s, part_moved_bytes, part_device_bytes, part_host_bytes, halo_A;
} rank_outlook;

/* Of one device. Stages add what is theirs, in their order. */
typedef struct device_forecast {
    const arena *arena; /* an empty one: the budget */
    size_t need_count, step_count;
    ley_need needs[FORECAST_MOST_NEEDS];
    ley_step steps[FORECAST_MOST_STEPS];
    double bytes;                  /* of all needs */
    double before_s, slabs_s;      /* before the first slab; and all slabs, as if it were the only device */
    void *shared;                  /* of the former what ranks can share, from malloc; or NULL. And what it says: */
    void (*foresee)(const void *shared, const ley_link *link, rank_outlook *made);
    int64_t slab;                  /* pieces at most; 0: nobody knows */
    char details[160];             /* what else decides: sizes of transforms */
} device_forecast;

/* Adds buffers of so many bytes together, none of them larger than `largest`. LEY_ERROR_NO_DEVICE,
 * with figures, where the device has no room for one, or for all together; the figures are added
 * all the same. `what` lives for ever. */
ley_status forecast_need(device_forecast *f, const char *what, double bytes, double largest, ley_error *error);

/* Adds a step before the slabs; or of the slabs, whose steps beside it run at the same time where `is_beside`. */
void forecast_before(device_forecast *f, const char *what, double seconds);
void forecast_slabs(device_forecast *f, const char *what, double seconds, bool is_beside);

/* Slabs on their way back: so many bytes in so many slabs, beside kernels. */
void forecast_transfer(device_forecast *f, double bytes, double slabs);

/* All of these for slabs of f->slab pieces and so many bytes: their buffers, as many as are in
 * flight, the kernels of all pieces, and their way back. Errors: those of forecast_need(). */
ley_status forecast_in_slabs(device_forecast *f, double slab_bytes, double pieces, double kernels_s, ley_error *error);

/* When all is done, each device beginning with what it does before, and then sharing the slabs. */
double forecast_end_s(const device_forecast *devices, size_t count);

#endif
