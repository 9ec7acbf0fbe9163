/* Energies between groups of particles, frame after frame:
 *
 *     matrix[g][h] = sum over i of group g of parts[h][i]
 *
 * gm_parts   [frames and terms][columns][padded]: what particles have with those of each group
 * gm_column  [columns + 1] where each group begins
 * gm_matrix  [frames and terms][columns][columns] {sum, what is lost in it}: large sums have more
 *            digits than a float
 *
 * Global size: columns (g), columns (h), frames and terms. */
#include "dialect.h"

LEY_KERNEL group_sums(LEY_PARAMETERS(LEY_GROUP_SUMS_ARGUMENTS))
{
    const size_t g = LEY_GLOBAL_ID(0), h = LEY_GROUP_ID(1), which = LEY_GROUP_ID(2);
    if (g >= (size_t)columns)
        return;
    LEY_GLOBAL const float *gm_part = gm_parts + (which * columns + h) * padded;
    float sum = 0, lost = 0;
    for (int i = gm_column[g]; i < gm_column[g + 1]; i++) {
        const float y = gm_part[i] - lost, t = sum + y;
        lost = (t - sum) - y;
        sum = t;
    }
    float2 made;
    made.x = sum;
    made.y = -lost;
    gm_matrix[(which * columns + g) * columns + h] = made;
}
