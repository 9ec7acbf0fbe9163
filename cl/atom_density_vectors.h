/* A work-item's brick, for processors: a vector of LEY_WIDTH nodes along x for each y and z. An
 * atom is staged as what its density is along x, times its weight, along y and along z; those that
 * reach a plane of rows are added to it, which stays in registers. On grids that are
 * oblique it is added to those rows alone that it reaches. */
#ifndef LEY_ATOM_DENSITY_VECTORS_H
#define LEY_ATOM_DENSITY_VECTORS_H

#define NODES (BRICK * BRICK)
#define SUMMED NODES
#define NODE(k) ((first_z + (k) / BRICK) * nodes_xy + (first_y + (k) % BRICK) * nodes_x + first_x)
#define STORE_NODES(to, value) LEY_PASTE(vstore, LEY_WIDTH)(value, 0, to)

LEY_FN real density_along(real way, float product, float fall, float limit)
{
    const real square = fall * way * way;
    return select((real)0, ley_exp2(-product * square), square <= (real)limit);
}

#define STAGED 32 /* atoms: bits of a plane's lane, which says which of them reach it */
#define planes LEY_PASTE(int, LEY_WIDTH)
#define FIRST_PLANE (LEY_WIDTH == ROW ? BRICK : 0) /* of its lanes */
#define ROW (2 * BRICK) /* floats of an atom along y and z */

/* Whether the atom reaches the brick; then it is staged as number `a`. */
LEY_FN int stage_atom(float4 atom_at, float fall, int first_x, int first_y, int first_z, sixteen numbers, int a,
                      real *along_x, float *along_yz, planes *reached)
{
    const float x = atom_at.x - first_x, y = atom_at.y - first_y, z = atom_at.z - first_z;
    const float reach_x = sqrt(numbers.s6 / fall), reach_y = sqrt(numbers.s7 / fall), reach_z = sqrt(numbers.s8 / fall);
    if (x < -reach_x || x > BRICK_X - 1 + reach_x || y < -reach_y || y > BRICK - 1 + reach_y || z < -reach_z ||
        z > BRICK - 1 + reach_z)
        return 0;
    along_x[a] = atom_at.w * density_along(LEY_LANES - x, numbers.s0, fall, numbers.s6);
#if LEY_WIDTH == ROW
    const real is_z = LEY_LANES - (real)(BRICK - 0.5f), way = LEY_LANES - select((real)y, (real)(BRICK + z), is_z > 0);
    const real square = fall * way * way, product = select((real)numbers.s1, (real)numbers.s2, is_z > 0);
    const real along_z =
        select((real)0, ley_exp2(-product * square), square <= select((real)numbers.s7, (real)numbers.s8, is_z > 0));
#else
    const real along_z = density_along(LEY_LANES - z, numbers.s2, fall, numbers.s8);
    LEY_PASTE(vstore, LEY_WIDTH)(density_along(LEY_LANES - y, numbers.s1, fall, numbers.s7), 0, along_yz + a * ROW);
#endif
    LEY_PASTE(vstore, LEY_WIDTH)(along_z, 0, along_yz + a * ROW + BRICK - FIRST_PLANE);
    *reached |= (along_z != 0) & (planes)(1 << a);
    return 1;
}

LEY_FN void add_staged(planes reached, const real *along_x, const float *along_yz, real *rho)
{
    int lanes[LEY_WIDTH];
    LEY_PASTE(vstore, LEY_WIDTH)(reached, 0, lanes);
    for (int k = 0; k < BRICK; k++) {
        real row[BRICK];
        UNROLL for (int j = 0; j < BRICK; j++)
            row[j] = rho[k * BRICK + j];
        for (uint left = (uint)lanes[FIRST_PLANE + k]; left != 0; left &= left - 1) {
            const int a = LEY_LOWEST_BIT(left);
            const real xz = along_yz[a * ROW + BRICK + k] * along_x[a];
            UNROLL for (int j = 0; j < BRICK; j++)
                row[j] += along_yz[a * ROW + j] * xz;
        }
        UNROLL for (int j = 0; j < BRICK; j++)
            rho[k * BRICK + j] = row[j];
    }
}

#if LEY_OBLIQUE
LEY_FN void add_atom(float4 atom_at, float fall, int first_x, int first_y, int first_z, sixteen numbers, real *rho)
{
    const float x = atom_at.x - first_x, y = atom_at.y - first_y, z = atom_at.z - first_z;
    const float reach_x = sqrt(numbers.s6 / fall), reach_y = sqrt(numbers.s7 / fall), reach_z = sqrt(numbers.s8 / fall);
    const int y0 = max((int)ceil(y - reach_y), 0), y1 = min((int)floor(y + reach_y), BRICK - 1),
              z0 = max((int)ceil(z - reach_z), 0), z1 = min((int)floor(z + reach_z), BRICK - 1);
    if (x < -reach_x || x > BRICK_X - 1 + reach_x || y0 > y1 || z0 > z1)
        return;
    const real dx = LEY_LANES - x;
    for (int k = z0; k <= z1; k++)
        for (int j = y0; j <= y1; j++) {
            const float dy = j - y, dz = k - z,
                        yz = numbers.s1 * dy * dy + numbers.s2 * dz * dz + numbers.s5 * dy * dz;
            const real square_A2 = yz + dx * (numbers.s0 * dx + (numbers.s3 * dy + numbers.s4 * dz));
            rho[k * BRICK + j] += select((real)0, atom_at.w * ley_exp2(-fall * square_A2),
                                         fall * dx * dx <= (real)numbers.s6);
        }
}
#endif

#endif
