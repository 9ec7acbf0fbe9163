/* The charges of a coarse mesh's nodes, from what the atoms of each bin bring to those that they
 * reach (long_spread.cl): the bins' shares in their order.
 *
 * gm_parts   [bins][LEY_LONG_ACROSS][LEY_LONG_ACROSS][LEY_LONG_ACROSS]
 * nodes      along x, y, z; fourth, all of them
 * bins       along x, y, z
 * gm_values  [nodes z][nodes y][nodes x]
 *
 * Global size: all nodes, rounded up to work-groups. */
#include "dialect.h"

/* The first bin along an axis that reaches a node, and the last one. */
#define FIRST_BIN(node) (node < LEY_LONG_ACROSS ? 0 : (node - LEY_LONG_ACROSS) / LEY_LONG_EDGE + 1)
#define LAST_BIN(node, count) min(node / LEY_LONG_EDGE, count - 1)

LEY_KERNEL long_gather(LEY_PARAMETERS(LEY_LONG_GATHER_ARGUMENTS))
{
    const int i = (int)LEY_GLOBAL_ID(0);
    if (i >= nodes.w)
        return;
    const int x = i % nodes.x, y = i / nodes.x % nodes.y, z = i / nodes.x / nodes.y;
    scalar sum = 0;
    for (int bin_z = FIRST_BIN(z); bin_z <= LAST_BIN(z, bins.z); bin_z++)
        for (int bin_y = FIRST_BIN(y); bin_y <= LAST_BIN(y, bins.y); bin_y++)
            for (int bin_x = FIRST_BIN(x); bin_x <= LAST_BIN(x, bins.x); bin_x++) {
                const size_t bin = ((size_t)bin_z * bins.y + bin_y) * bins.x + bin_x;
                const int at = ((z - bin_z * LEY_LONG_EDGE) * LEY_LONG_ACROSS + y - bin_y * LEY_LONG_EDGE) *
                                   LEY_LONG_ACROSS +
                               x - bin_x * LEY_LONG_EDGE;
                sum += gm_parts[bin * (LEY_LONG_ACROSS * LEY_LONG_ACROSS * LEY_LONG_ACROSS) + at];
            }
    gm_values[i] = sum;
}
