/* Copies values, `times` of each work-item, for the bandwidth of the device's memory. gm_in and
 * gm_out: [times][global size]. */
#include "dialect.h"

LEY_KERNEL copies(LEY_PARAMETERS(LEY_COPIES_ARGUMENTS))
{
    const size_t item = LEY_GLOBAL_ID(0), items = LEY_GLOBAL_SIZE(0);
    for (int t = 0; t < times; t++)
        gm_out[(size_t)t * items + item] = gm_in[(size_t)t * items + item];
}
