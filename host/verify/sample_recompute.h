/* Who recomputes the points of a sample. */
#ifndef LEY_VERIFY_SAMPLE_RECOMPUTE_H
#define LEY_VERIFY_SAMPLE_RECOMPUTE_H

#include "verify/sample.h"

/* Recomputes what must be, and more as long as there is time: the host, then devices, then the host
 * again where devices were not able to. */
void sample_recompute(sample *s);

/* Of a job by parts: puts what all ranks sum together at n points into these. Errors:
 * LEY_ERROR_MEMORY. */
ley_status sample_sum_on_ranks(const sample *s, size_t n, sampled_point *points);

/* Nobody is blamed by a device's judge alone, whose first points only are the host's, too: the host
 * recomputes the worst point. If it says otherwise, that judge's sums are nobody's any more, and
 * the host's own, of enough points, take their place. */
bool sample_is_confirmed(sample *s, size_t device, size_t worst);

#endif
