/* The judge on a device: the CUDA twin of cl/reference.cl, which explains it. */
#if !defined(LEY_WG) || !defined(LEY_TERM)
#error "the specification is incomplete: see LEY_REFERENCE_KEYS in spec.h"
#endif
#include "dialect.cuh"

#define LEY_TERM_FN LEY_FN
#define LEY_GLOBAL
#include "terms.h"
#include "reference_sum.h"

extern "C" __global__ __launch_bounds__(LEY_WG) void reference(const atom *__restrict__ gm_atoms, const double *__restrict__ gm_more,
                                                               int first_atom, int n_atoms, const atom *__restrict__ gm_points,
                                                               const atom *__restrict__ gm_cell, atom limits, int accumulate,
                                                               atom *__restrict__ gm_sums)
{
    __shared__ double sm_sums[4 * LEY_WG];
    const int item = threadIdx.x;
    const size_t group = blockIdx.x;
    const reference_sum own =
        sum_atoms(gm_atoms + first_atom, gm_more + 2 * (size_t)first_atom, item, n_atoms, LEY_WG, gm_points[group], gm_cell, limits);
    sm_sums[4 * item] = own.value;
    sm_sums[4 * item + 1] = own.absolute;
    sm_sums[4 * item + 2] = own.lower;
    sm_sums[4 * item + 3] = own.higher;
    __syncthreads();
    if (item == 0) {
        atom sum = {0, 0, 0, 0};
        if (accumulate)
            sum = gm_sums[group];
        for (int i = 0; i < LEY_WG; i++) {
            sum.x += sm_sums[4 * i];
            sum.y += sm_sums[4 * i + 1];
            sum.z += sm_sums[4 * i + 2];
            sum.w += sm_sums[4 * i + 3];
        }
        gm_sums[group] = sum;
    }
}
