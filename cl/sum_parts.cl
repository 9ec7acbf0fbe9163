/* The sums of all parts of what mdh computed:
 *
 *     gm_sums[i] = sum_p gm_parts[p][i],   i < part_values, p < n_parts
 *
 * with the compensated sum less what the parts' compensations hold. Global size: part_values,
 * rounded up to work-groups. */
#include "dialect.h"

LEY_KERNEL sum_parts(LEY_PARAMETERS(LEY_SUM_PARTS_ARGUMENTS))
{
    const size_t i = LEY_GLOBAL_ID(0);
    if (i >= (size_t)part_values)
        return;
    real sum = 0;
    for (int p = 0; p < n_parts; p++)
        sum += gm_parts[(size_t)p * part_values + i];
#if LEY_SUM == LEY_SPEC_SUM_COMPENSATED
    real lost = 0;
    for (int p = 0; p < n_parts; p++)
        lost += gm_parts[(size_t)(n_parts + p) * part_values + i];
    sum -= lost;
#endif
    gm_sums[i] = sum;
}
