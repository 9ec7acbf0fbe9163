/* Sums of counts: for each bin of a frame, the particles of all bins before it. Work-groups have
 * parts of the bins; where a frame has several, a first launch sums each part.
 *
 * bins       of a frame
 * each       bins of a work-item
 * parts      of a frame
 * is_second  0: each part is summed; 1: what is before each bin
 * gm_count   [frames][bins] particles of each bin
 * gm_part    [frames][parts] those of each part
 * gm_first   [frames][bins]
 *
 * LEY_WG work-items are a work-group. Work-groups: parts, and frames. */
#if !defined(LEY_WG)
#error "the specification is incomplete: see LEY_LIST_FIRST_KEYS in spec.h"
#endif
#include "dialect.h"

LEY_KERNEL_OF(LEY_WG, 1, 1) list_first(LEY_PARAMETERS(LEY_LIST_FIRST_ARGUMENTS))
{
    LEY_LOCAL_VARIABLE int sm_sum[LEY_WG];
    LEY_LOCAL_VARIABLE int sm_part[LEY_WG];
    const int item = LEY_LOCAL_ID(0), part = (int)LEY_GROUP_ID(0), begin = min((part * LEY_WG + item) * each, bins),
              end = min(begin + each, bins);
    const size_t frame = (size_t)LEY_GROUP_ID(1) * bins, frame_parts = (size_t)LEY_GROUP_ID(1) * parts;
    int sum = 0, before = 0;
    for (int i = begin; i < end; i++)
        sum += gm_count[frame + i];
    for (int i = item; i < part && is_second != 0; i += LEY_WG)
        before += gm_part[frame_parts + i];
    sm_sum[item] = sum;
    sm_part[item] = before;
    LEY_BARRIER();
    if (is_second == 0) {
        for (int i = 1; i < LEY_WG && item == 0; i++)
            sum += sm_sum[i];
        if (item == 0)
            gm_part[frame_parts + part] = sum;
        return;
    }
    before = 0;
    for (int i = 0; i < LEY_WG; i++)
        before += sm_part[i] + (i < item ? sm_sum[i] : 0);
    for (int i = begin; i < end; i++) {
        gm_first[frame + i] = before;
        before += gm_count[frame + i];
    }
}
