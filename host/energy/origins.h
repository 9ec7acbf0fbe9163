/* Which frames of a run share a list of pairs: up to 64 that follow each other, in which no
 * particle is further than half of the list's buffer from where it is in the first of them, their
 * origin. That depends on the run's frames alone, whichever device does which of them. */
#ifndef LEY_ENERGY_ORIGINS_H
#define LEY_ENERGY_ORIGINS_H

#include "energy/part.h"

#include <pthread.h>

/* What frames of a run have as origins. */
typedef struct energy_origins {
    pthread_mutex_t mutex;
    int64_t *first;  /* [frames]: the origin's number; -1: none, the frame has a list of its own. NULL: none was asked
                        for */
    int64_t decided; /* of so many frames */
    int64_t before;  /* frames of all runs before, whether they were done or not */
} energy_origins;

/* Finds the origin of a frame. Errors: LEY_ERROR_MEMORY. */
ley_status energy_origin_find(ley_energy *e, int64_t frame, energy_origin *found, ley_error *error);

/* Another run is to begin: that of before had so many frames. */
void energy_origins_forget(energy_origins *o, int64_t frames);

#endif
