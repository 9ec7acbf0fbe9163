/* Atoms into lists, one a bin: the CUDA twin of cl/link_atoms.cl, which explains it. Products and sums by name are rounded one by one. */
#include "dialect.cuh"

LEY_FN int along(scalar d, scalar bins_per_A, scalar zero, int bins)
{
    return min((int)__dadd_rn(__dmul_rn(d, bins_per_A), zero), bins - 1);
}

LEY_FN float from_corner(scalar d, int bin, scalar zero, scalar side)
{
    return (float)__dadd_rn(d, -__dmul_rn((scalar)bin - zero, side));
}

extern "C" __global__ void link_atoms(const double *__restrict__ gm_position, const double *__restrict__ gm_charge, int n_atoms, atom origin,
                                      atom low, atom high, atom side, atom bins_per_A, atom zero, int4 n,
                                      int *__restrict__ gm_count, int *__restrict__ gm_head, int *__restrict__ gm_next,
                                      float4 *__restrict__ gm_records)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)n_atoms)
        return;
    const scalar x = gm_position[3 * i] - origin.x, y = gm_position[3 * i + 1] - origin.y, z = gm_position[3 * i + 2] - origin.z;
    const float charge = (float)(origin.w * gm_charge[i]);
    if (!(x >= low.x && x <= high.x && y >= low.y && y <= high.y && z >= low.z && z <= high.z)) {
        atomicAdd(&gm_count[n.w], 1);
        return;
    }
    if (charge == 0) {
        atomicAdd(&gm_count[n.w + 1], 1);
        return;
    }
    const int at_x = along(x, bins_per_A.x, zero.x, n.x), at_y = along(y, bins_per_A.y, zero.y, n.y), at_z = along(z, bins_per_A.z, zero.z, n.z);
    const int bin = (at_z * n.y + at_y) * n.x + at_x;
    gm_records[i] = make_float4(from_corner(x, at_x, zero.x, side.x), from_corner(y, at_y, zero.y, side.y), from_corner(z, at_z, zero.z, side.z),
                                charge);
    atomicAdd(&gm_count[bin], 1);
    gm_next[i] = atomicExch(&gm_head[bin], (int)i + 1);
}
