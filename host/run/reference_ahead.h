/* What a job's reference needs before its first point, reference_begin(), which knows nothing of
 * results: made by a thread beside devices that leave the host's cores idle. */
#ifndef LEY_REFERENCE_AHEAD_H
#define LEY_REFERENCE_AHEAD_H

#include "judge/reference.h"
#include "run/job.h"

typedef struct reference_ahead reference_ahead;

/* For about so many points of a prepared job. NULL: it is soon made, a device needs the host's
 * cores, or there is no thread. */
reference_ahead *reference_ahead_begin(ley_job *job, size_t points);

/* reference_begin() of the job's terms, or what the thread has made of them, once: it is waited
 * for. `ahead` may be NULL. */
ley_status reference_ahead_take(reference_ahead *ahead, reference_terms *terms, size_t points,
                                const atomic_bool *cancelled, ley_error *error);

/* Ends it, and what nobody took. NULL is nothing. */
void reference_ahead_end(reference_ahead *ahead);

#endif
