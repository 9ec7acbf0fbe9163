/* What the atoms of each bin of a coarse mesh bring to its nodes, in double precision:
 *
 *     gm_parts[bin][z][y][x] = sum of q w(x) w(y) w(z) over the bin's atoms,
 *
 * w the weights of host/numerics/kaiser.h, of the LEY_LONG_ACROSS nodes along each axis that a
 * bin's atoms reach.
 *
 * gm_atoms    {x, y, z, charge}: the place in the bin, in nodes from the bin's first one, which is
 *             the first node of an atom between it and the next one
 * gm_first    [bins + 1] where each bin's atoms begin
 * gm_window   [LEY_LONG_COEFFICIENTS][LEY_LONG_POINTS] by powers of an atom's place between two
 *             nodes, less 1/2
 * first_bin   of this launch
 * gm_parts    [bins][LEY_LONG_ACROSS][LEY_LONG_ACROSS][LEY_LONG_ACROSS]
 *
 * A work-group has a bin, and each of its work-items a column of nodes along z, whose sums are in
 * registers: so nobody adds to what others add to, and the order is that of the atoms. Their
 * weights at the bin's nodes are staged, zeros among them. Groups: bins. */
#include "dialect.h"

#define BATCH 32
#define COLUMNS (LEY_LONG_ACROSS * LEY_LONG_ACROSS)
#define STAGED (BATCH * LEY_LONG_ACROSS) /* weights along an axis */

/* The weights of one atom along one axis, each times `factor`. */
LEY_FN void stage(LEY_LOCAL const scalar *sm_window, LEY_LOCAL scalar *sm_weights, scalar place, scalar factor)
{
    const int node = LEY_CLAMP((int)place, 0, LEY_LONG_EDGE - 1);
    const scalar u = place - node - 0.5;
    scalar weight[LEY_LONG_POINTS];
    UNROLL for (int i = 0; i < LEY_LONG_POINTS; i++)
        weight[i] = sm_window[(LEY_LONG_COEFFICIENTS - 1) * LEY_LONG_POINTS + i];
    ROLLED for (int k = LEY_LONG_COEFFICIENTS - 2; k >= 0; k--) /* all nodes side by side */
        UNROLL for (int i = 0; i < LEY_LONG_POINTS; i++)
            weight[i] = weight[i] * u + sm_window[k * LEY_LONG_POINTS + i];
    UNROLL for (int i = 0; i < LEY_LONG_ACROSS; i++)
        if (i < node || i >= node + LEY_LONG_POINTS)
            sm_weights[i] = 0;
    UNROLL for (int i = 0; i < LEY_LONG_POINTS; i++)
        sm_weights[node + i] = weight[i] * factor;
}

LEY_KERNEL long_spread(LEY_PARAMETERS(LEY_LONG_SPREAD_ARGUMENTS))
{
    LEY_LOCAL_VARIABLE scalar sm_window[LEY_LONG_COEFFICIENTS * LEY_LONG_POINTS];
    LEY_LOCAL_VARIABLE scalar sm_weights[3 * STAGED];
    const int item = LEY_LOCAL_ID(0), items = LEY_LOCAL_SIZE(0), x = item % LEY_LONG_ACROSS,
              y = item / LEY_LONG_ACROSS, bin = first_bin + (int)LEY_GROUP_ID(0);
    const int first = gm_first[bin], end = gm_first[bin + 1];
    scalar sum[LEY_LONG_ACROSS];
    UNROLL for (int z = 0; z < LEY_LONG_ACROSS; z++)
        sum[z] = 0;
    for (int i = item; i < LEY_LONG_COEFFICIENTS * LEY_LONG_POINTS; i += items)
        sm_window[i] = gm_window[i];
    for (int base = first; base < end; base += BATCH) {
        const int count = min(BATCH, end - base);
        LEY_BARRIER();
        for (int i = item; i < 3 * BATCH; i += items) {
            const int axis = i / BATCH, k = i % BATCH;
            if (k < count) {
                const atom a = gm_atoms[base + k];
                stage(sm_window, sm_weights + axis * STAGED + k * LEY_LONG_ACROSS,
                      axis == 0   ? a.x
                      : axis == 1 ? a.y
                                  : a.z,
                      axis == 2 ? a.w : 1);
            }
        }
        LEY_BARRIER();
        for (int k = 0; k < count && item < COLUMNS; k++) {
            LEY_LOCAL const scalar *along = sm_weights + k * LEY_LONG_ACROSS;
            const scalar across = along[x] * along[STAGED + y];
            UNROLL for (int z = 0; z < LEY_LONG_ACROSS; z++)
                sum[z] += across * along[2 * STAGED + z];
        }
    }
    UNROLL for (int z = 0; z < LEY_LONG_ACROSS; z++)
        if (item < COLUMNS)
            gm_parts[((size_t)bin * LEY_LONG_ACROSS + z) * COLUMNS + item] = sum[z];
}
