/* Slots of bins from lists of atoms, in the order of the atoms' index: the CUDA twin of cl/fill_bins.cl, which explains it. */
#include "dialect.cuh"

#define SORTED 8
#define NONE 0x7fffffff

extern "C" __global__ void fill_bins(const int *__restrict__ gm_count, const int *__restrict__ gm_head, const int *__restrict__ gm_next,
                                     const atom *__restrict__ gm_records, const int *__restrict__ gm_extra, int bins, int depth, atom far,
                                     atom *__restrict__ gm_slots)
{
    const size_t bin = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (bin >= (size_t)bins)
        return;
    const int count = gm_count[bin], head = gm_head[bin], room = max((count + depth - 1) / depth, 1) * depth;
    atom *gm_own = gm_slots + bin * depth, *gm_more = gm_own;
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
