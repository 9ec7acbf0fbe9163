/* Sums of counts: for each bin of a frame, the particles of all bins before it.
 *
 * bins       of a frame
 * gm_count   [frames][bins] particles of each bin
 * gm_first   [frames][bins]
 *
 * LEY_WG work-items are a work-group, which has a frame. Global size: LEY_WG, and frames. */
#if !defined(LEY_WG)
#error "the specification is incomplete: see LEY_LIST_FIRST_KEYS in spec.h"
#endif
#include "dialect.h"

LEY_KERNEL_OF(LEY_WG, 1, 1) list_first(LEY_PARAMETERS(LEY_LIST_FIRST_ARGUMENTS))
{
    LEY_LOCAL_VARIABLE int sm_sum[LEY_WG];
    const int item = LEY_LOCAL_ID(0), each = (bins + LEY_WG - 1) / LEY_WG, begin = min(item * each, bins),
              end = min(begin + each, bins);
    const size_t frame = (size_t)LEY_GROUP_ID(1) * bins;
    int sum = 0, before = 0;
    for (int i = begin; i < end; i++)
        sum += gm_count[frame + i];
    sm_sum[item] = sum;
    LEY_BARRIER();
    for (int i = 0; i < item; i++)
        before += sm_sum[i];
    for (int i = begin; i < end; i++) {
        gm_first[frame + i] = before;
        before += gm_count[frame + i];
    }
}
