/* Which work-item is which, in groups of LEY_LX x LEY_LY x LEY_LZ: each writes its numbers along x,
 * y and z and that of its group, from place LEY_FAR_UNIT first of gm_out on, a group after the
 * other, and adds 1 to gm_count[0]. */
#include "dialect.h"

LEY_KERNEL work_items(LEY_PARAMETERS(LEY_WORK_ITEMS_ARGUMENTS))
{
    const int item = (int)((LEY_LOCAL_ID(2) * LEY_LY + LEY_LOCAL_ID(1)) * LEY_LX + LEY_LOCAL_ID(0)),
              group = (int)((LEY_GROUP_ID(2) * LEY_GROUPS(1) + LEY_GROUP_ID(1)) * LEY_GROUPS(0) + LEY_GROUP_ID(0));
    const size_t at = (size_t)first * LEY_FAR_UNIT + (size_t)group * (LEY_LX * LEY_LY * LEY_LZ) + item;
    gm_out[at] = LEY_INT4((int)LEY_GLOBAL_ID(0), (int)LEY_GLOBAL_ID(1), (int)LEY_GLOBAL_ID(2), group);
    LEY_ATOMIC_ADD(&gm_count[0], 1);
}
