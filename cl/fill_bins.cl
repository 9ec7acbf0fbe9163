/* Slots of bins from lists of atoms, in the order of the atoms' index, whatever the lists'
 * order: what host/layout/binning.c makes, to the bit.
 *
 * gm_count    [bins] entries of each bin
 * gm_head     [bins] 1 + the first entry of the bin's list; 0: it has none
 * gm_next     [entries] 1 + the list's next entry; 0: there is none
 * gm_records  [entries] {x, y, z, q}, what goes into a slot: of atoms and images, in their order
 * gm_extra    [bins + 1] bin b goes on in bins gm_extra[b] to before gm_extra[b + 1]; read only
 *             where a bin has more atoms than slots
 * bins, depth  bins, and slots of each
 * far         what unused slots hold
 * gm_slots    [bins and those in which they go on][depth]
 *
 * A work-item has a bin. It goes through the list for the next SORTED atoms by index, which it
 * keeps sorted in registers, until it has all: once or twice for most bins. Global size: bins,
 * rounded up to work-groups. */
#include "dialect.h"

#define SORTED 8
#define NONE 0x7fffffff

LEY_KERNEL fill_bins(LEY_PARAMETERS(LEY_FILL_BINS_ARGUMENTS))
{
    const size_t bin = LEY_GLOBAL_ID(0);
    if (bin >= (size_t)bins)
        return;
    const int count = gm_count[bin], head = gm_head[bin];
    const int room = max((count + depth - 1) / depth, 1) * depth;
    LEY_GLOBAL atom *gm_own = gm_slots + bin * depth, *gm_more = gm_own;
    if (count > depth)
        gm_more = gm_slots + (size_t)gm_extra[bin] * depth;
    int last = -1;
    for (int first = 0; first < count; first += SORTED) {
        int lowest[SORTED];
        UNROLL for (int k = 0; k < SORTED; k++)
            lowest[k] = NONE;
        for (int next = head; next != 0; next = gm_next[next - 1]) {
            int index = next - 1 > last ? next - 1 : NONE;
            UNROLL for (int k = 0; k < SORTED; k++) {
                const int kept = min(lowest[k], index);
                index = max(lowest[k], index);
                lowest[k] = kept;
            }
        }
        UNROLL for (int k = 0; k < SORTED; k++) {
            const int rank = first + k;
            if (rank < count)
                *(rank < depth ? gm_own + rank : gm_more + (rank - depth)) = gm_records[lowest[k]];
        }
        last = lowest[SORTED - 1];
    }
    for (int rank = count; rank < room; rank++)
        *(rank < depth ? gm_own + rank : gm_more + (rank - depth)) = far;
}
