/* Sums of rows:
 *
 *     gm_sums[row] = sum_i gm_values[row n + i]^p,   i < n,   p = 2 where is_squared, else 1
 *
 * Global size {work-groups of 64, one for each row}. The order of the sum does not depend on the
 * device: the same values give the same bytes. */
#include "dialect.h"
#include "squares.h"

LEY_KERNEL_OF(64, 1, 1) squares(LEY_PARAMETERS(LEY_SQUARES_ARGUMENTS))
{
    LEY_LOCAL_VARIABLE scalar sm_sums[64];
    const int item = LEY_LOCAL_ID(0);
    const size_t row = LEY_GROUP_ID(0);
    scalar sum = 0;
    for (int i = item; i < n; i += 64) {
        const scalar value = gm_values[row * n + i];
        sum += is_squared ? value * value : value;
    }
    sm_sums[item] = sum;
    LEY_BARRIER();
    if (item == 0) {
        scalar all = 0;
        for (int i = 0; i < 64; i++)
            all += sm_sums[i];
        gm_sums[row] = all;
    }
}
