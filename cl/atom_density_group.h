/* A work-group's brick, for GPUs: LEY_DENSITY_BRICK^2 work-items have a column of nodes along z
 * each. Each of them stages an atom at a time: what its density is along x, times its weight, along
 * y and along z; of grids that are oblique its place, in floats that follow each other. */
#ifndef LEY_ATOM_DENSITY_GROUP_H
#define LEY_ATOM_DENSITY_GROUP_H

#define NODES BRICK
#define ROW (2 * BRICK) /* floats of an atom */
#define TABLES (LEY_WG * ROW) /* no less than what the sums take */
#define NODE(k) ((first_z + (k)) * nodes_xy + (first_y + item / BRICK) * nodes_x + first_x + item % BRICK)
#define STORE_NODES(to, value) *(to) = (value)

LEY_FN float density_along(float way, float product, float fall, float limit)
{
    const float square = fall * way * way;
    return square <= limit ? ley_exp2(-product * square) : 0.0f;
}

LEY_FN void stage_atom(float4 atom_at, float fall, int first_x, int first_y, int first_z,
                       LEY_REFERENCE(sixteen) numbers, int item, LEY_LOCAL float *sm_tables,
                       LEY_LOCAL float4 *sm_along_z)
{
    const float x = atom_at.x - first_x, y = atom_at.y - first_y, z = atom_at.z - first_z;
    LEY_LOCAL float *sm_own = sm_tables + item * ROW;
#if LEY_OBLIQUE
    sm_own[0] = x;
    sm_own[1] = y;
    sm_own[2] = z;
    sm_own[3] = atom_at.w;
    sm_own[4] = fall;
#else
    for (int k = 0; k < BRICK; k++) {
        sm_own[k] = atom_at.w * density_along(k - x, numbers.s0, fall, numbers.s6);
        sm_own[BRICK + k] = density_along(k - y, numbers.s1, fall, numbers.s7);
    }
    for (int k = 0; k < BRICK / 4; k++)
        sm_along_z[item * (BRICK / 4) + k] = LEY_FLOAT4(density_along(4 * k - z, numbers.s2, fall, numbers.s8),
                                                        density_along(4 * k + 1 - z, numbers.s2, fall, numbers.s8),
                                                        density_along(4 * k + 2 - z, numbers.s2, fall, numbers.s8),
                                                        density_along(4 * k + 3 - z, numbers.s2, fall, numbers.s8));
#endif
}

LEY_FN void add_atoms(int count, int item, LEY_REFERENCE(sixteen) numbers, LEY_LOCAL const float *sm_tables,
                      LEY_LOCAL const float4 *sm_along_z, real *rho)
{
    const int x = item % BRICK, y = item / BRICK;
    for (int a = 0; a < count; a++) {
        LEY_LOCAL const float *sm_own = sm_tables + a * ROW;
#if LEY_OBLIQUE
        const float dx = x - sm_own[0], dy = y - sm_own[1], weight = sm_own[3], fall = sm_own[4];
        const bool is_near = fall * dx * dx <= numbers.s6 && fall * dy * dy <= numbers.s7;
        const float xy = numbers.s0 * dx * dx + numbers.s1 * dy * dy + numbers.s3 * dx * dy,
                    by_z = numbers.s4 * dx + numbers.s5 * dy;
        UNROLL for (int k = 0; k < NODES; k++) {
            const float dz = k - sm_own[2];
            const float square_A2 = xy + dz * (by_z + numbers.s2 * dz);
            rho[k] += is_near && fall * dz * dz <= numbers.s8 ? weight * ley_exp2(-fall * square_A2) : 0.0f;
        }
#else
        const float xy = sm_own[x] * sm_own[BRICK + y];
        UNROLL for (int k = 0; k < BRICK / 4; k++) {
            const float4 along = sm_along_z[a * (BRICK / 4) + k];
            rho[4 * k] += xy * along.x;
            rho[4 * k + 1] += xy * along.y;
            rho[4 * k + 2] += xy * along.z;
            rho[4 * k + 3] += xy * along.w;
        }
#endif
    }
}

#endif
