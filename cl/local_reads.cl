/* Reads from local memory, 16 bytes at a time and all work-items of a group the same ones, as
 * kernels read staged atoms: for the device's own limit. A work-item reads `times` rounds of
 * CHAINS; gm_out, [CHAINS][global size], gets the sums of what each of them read. gm_in: numbers
 * to read, at least 4 SLOTS. */
#include "dialect.h"

#define CHAINS 8
#define SLOTS 64

LEY_KERNEL local_reads(LEY_PARAMETERS(LEY_LOCAL_READS_ARGUMENTS))
{
    LEY_LOCAL_VARIABLE atom sm_slots[SLOTS];
    const size_t item = LEY_GLOBAL_ID(0), items = LEY_GLOBAL_SIZE(0);
    LEY_GLOBAL const scalar *numbers = (LEY_GLOBAL const scalar *)gm_in;
    for (int slot = (int)LEY_LOCAL_ID(0); slot < SLOTS; slot += (int)LEY_LOCAL_SIZE(0))
        sm_slots[slot] =
            LEY_ATOM(numbers[4 * slot], numbers[4 * slot + 1], numbers[4 * slot + 2], numbers[4 * slot + 3]);
    LEY_BARRIER();
    atom sum[CHAINS];
    for (int k = 0; k < CHAINS; k++)
        sum[k] = LEY_ATOM(0, 0, 0, 0);
    for (int t = 0, first = 0; t < times; t++, first = (first + CHAINS) % SLOTS) {
        UNROLL for (int k = 0; k < CHAINS; k++)
            LEY_ADD_ATOM(sum[k], sm_slots[first + k]);
    }
    for (int k = 0; k < CHAINS; k++)
        gm_out[k * items + item] = sum[k].x + sum[k].y + sum[k].z + sum[k].w;
}
