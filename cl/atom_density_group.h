/* A work-group's brick, for GPUs. Each of LEY_DENSITY_BRICK^2 work-items looks at an atom at a
 * time, and stages it if it reaches the brick, one after the other in local memory: what its
 * density is along x, times its weight, along y and along z; of grids that are oblique its place.
 * Then each half of them has all nodes, two columns along z a work-item, and adds every other atom,
 * as what is read of an atom costs more than what is done with it; at the end each work-item has
 * one of its columns, with what the other half has of it. */
#ifndef LEY_ATOM_DENSITY_GROUP_H
#define LEY_ATOM_DENSITY_GROUP_H

#define PITCH (LEY_WG + 1) /* of a number of all atoms, and of all work-items */
#define TABLES (2 * BRICK * PITCH) /* no less than what the sums take */
#define COLUMN_X(item) ((item) % BRICK)
#define COLUMN_Y(item) ((item) / BRICK % (BRICK / 2) * 2)
#define HALF(item) ((item) / (LEY_WG / 2))
#define NODE(k) \
    ((first_z + (k)) * nodes_xy + (first_y + COLUMN_Y(item) + HALF(item)) * nodes_x + first_x + COLUMN_X(item))

LEY_FN float density_along(float way, float product, float fall, float limit)
{
    const float square = fall * way * way;
    return square <= limit ? ley_exp2(-product * square) : 0.0f;
}

LEY_FN bool reaches(float at, float fall, float limit)
{
    const float way = LEY_MAX(LEY_MAX(-at, at - (BRICK - 1)), 0.0f);
    return fall * way * way <= limit;
}

LEY_FN bool reaches_brick(float4 at, float fall, int first_x, int first_y, int first_z, LEY_REFERENCE(sixteen) numbers)
{
    return reaches(at.x - first_x, fall, numbers.s6) && reaches(at.y - first_y, fall, numbers.s7) &&
           reaches(at.z - first_z, fall, numbers.s8);
}

/* How many flags, a byte each, are set before that of the work-item; *all: of all. Four of them are
 * added at once. */
LEY_FN int flags_before(int item, LEY_LOCAL const int *sm_flags, int *all)
{
    unsigned sum = 0, before = (unsigned)(sm_flags[item / 4] & ((1 << item % 4 * 8) - 1));
    UNROLL for (int k = 0; k < LEY_WG / 4; k++) {
        const unsigned four = (unsigned)sm_flags[k];
        sum += four;
        before += k < item / 4 ? four : 0;
    }
    *all = (int)((sum * 0x01010101u) >> 24);
    return (int)((before * 0x01010101u) >> 24);
}

/* As number `to`. */
LEY_FN void stage_atom(float4 atom_at, float fall, int first_x, int first_y, int first_z,
                       LEY_REFERENCE(sixteen) numbers, int to, LEY_LOCAL float *sm_tables,
                       LEY_LOCAL float4 *sm_along_z)
{
    const float x = atom_at.x - first_x, y = atom_at.y - first_y, z = atom_at.z - first_z;
    LEY_LOCAL float *sm_own = sm_tables + to;
#if LEY_OBLIQUE
    sm_own[0] = x;
    sm_own[PITCH] = y;
    sm_own[2 * PITCH] = z;
    sm_own[3 * PITCH] = atom_at.w;
    sm_own[4 * PITCH] = fall;
#else
    for (int k = 0; k < BRICK; k++) {
        sm_own[k * PITCH] = atom_at.w * density_along(k - x, numbers.s0, fall, numbers.s6);
        sm_own[(BRICK + k) * PITCH] = density_along(k - y, numbers.s1, fall, numbers.s7);
    }
    for (int k = 0; k < BRICK / 4; k++)
        sm_along_z[k * LEY_WG + to] = LEY_FLOAT4(density_along(4 * k - z, numbers.s2, fall, numbers.s8),
                                                   density_along(4 * k + 1 - z, numbers.s2, fall, numbers.s8),
                                                   density_along(4 * k + 2 - z, numbers.s2, fall, numbers.s8),
                                                   density_along(4 * k + 3 - z, numbers.s2, fall, numbers.s8));
#endif
}

LEY_FN void add_atoms(int count, int item, LEY_REFERENCE(sixteen) numbers, LEY_LOCAL const float *sm_tables,
                      LEY_LOCAL const float4 *sm_along_z, real *rho)
{
    const int x = COLUMN_X(item), y = COLUMN_Y(item);
    for (int a = HALF(item); a < count; a += 2) {
        LEY_LOCAL const float *sm_own = sm_tables + a;
#if LEY_OBLIQUE
        const float weight = sm_own[3 * PITCH], fall = sm_own[4 * PITCH];
        UNROLL for (int column = 0; column < 2; column++) {
            const float dx = x - sm_own[0], dy = y + column - sm_own[PITCH];
            const bool is_near = fall * dx * dx <= numbers.s6 && fall * dy * dy <= numbers.s7;
            const float xy = numbers.s0 * dx * dx + numbers.s1 * dy * dy + numbers.s3 * dx * dy,
                        by_z = numbers.s4 * dx + numbers.s5 * dy;
            UNROLL for (int k = 0; k < BRICK; k++) {
                const float dz = k - sm_own[2 * PITCH];
                const float square_A2 = xy + dz * (by_z + numbers.s2 * dz);
                rho[column * BRICK + k] +=
                    is_near && fall * dz * dz <= numbers.s8 ? weight * ley_exp2(-fall * square_A2) : 0.0f;
            }
        }
#else
        const float along_x = sm_own[x * PITCH], xy = along_x * sm_own[(BRICK + y) * PITCH],
                    next = along_x * sm_own[(BRICK + y + 1) * PITCH];
        UNROLL for (int k = 0; k < BRICK / 4; k++) {
            const float4 along = sm_along_z[k * LEY_WG + a];
            rho[4 * k] += xy * along.x;
            rho[4 * k + 1] += xy * along.y;
            rho[4 * k + 2] += xy * along.z;
            rho[4 * k + 3] += xy * along.w;
            rho[BRICK + 4 * k] += next * along.x;
            rho[BRICK + 4 * k + 1] += next * along.y;
            rho[BRICK + 4 * k + 2] += next * along.z;
            rho[BRICK + 4 * k + 3] += next * along.w;
        }
#endif
    }
}

/* Then rho[k] are those of the work-item's own column. */
LEY_FN void exchange_columns(int item, LEY_LOCAL float *sm_tables, real *rho)
{
    const bool has_second = HALF(item) > 0;
    LEY_BARRIER();
    for (int k = 0; k < BRICK; k++)
        sm_tables[k * PITCH + item] = has_second ? rho[k] : rho[BRICK + k];
    LEY_BARRIER();
    for (int k = 0; k < BRICK; k++)
        rho[k] = (has_second ? rho[BRICK + k] : rho[k]) + sm_tables[k * PITCH + (item + LEY_WG / 2) % LEY_WG];
}

#endif
