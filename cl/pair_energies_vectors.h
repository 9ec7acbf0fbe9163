/* What a work-item of pair_energies.cl does alone, on CPU devices: it has LEY_WIDTH particles, side
 * by side, and goes through all others, one by one. Rows of gm_table have a and b of the other's
 * type for each of its own. */
#ifndef LEY_PAIR_ENERGIES_VECTORS_H
#define LEY_PAIR_ENERGIES_VECTORS_H

enum { FEW = 64 };

/* Lanes with a bit. */
LEY_FN real marked(real with, real without, int mask)
{
    float a[LEY_WIDTH], b[LEY_WIDTH];
    LEY_PASTE(vstore, LEY_WIDTH)(with, 0, a);
    LEY_PASTE(vstore, LEY_WIDTH)(without, 0, b);
    for (int lane = 0; lane < LEY_WIDTH; lane++)
        b[lane] = mask >> lane & 1 ? a[lane] : b[lane];
    return LEY_LOAD(b);
}

LEY_FN void add_others(few_sums *s, const particle *p, __global const float4 *gm_position, const image_cell *cell,
                       __global const int *gm_type, __global const float *gm_own, int padded, int from, int to,
                       const sixteen *numbers, const sixteen *series)
{
    for (int j = from; j < to; j++) {
        const float4 other = gm_position[j];
        __global const float *gm_row = gm_own + (size_t)gm_type[j] * 2 * padded;
        real x, y, z;
        const real r2 = way_from(*p, other, *cell, &x, &y, &z);
        add_pair(s, r2, LEY_LOAD(gm_row), LEY_LOAD(gm_row + padded), p->q * other.w, *numbers, *series, x, y, z);
    }
}

LEY_FN void add_marked(few_sums *s, const particle *p, __global const float4 *gm_position, const image_cell *cell,
                       __global const int *gm_type, __global const float *gm_own, int padded, int j, int mask,
                       const sixteen *numbers, const sixteen *series)
{
    const float4 other = gm_position[j];
    __global const float *gm_row = gm_own + (size_t)gm_type[j] * 2 * padded;
    real x, y, z;
    const real r2 = marked((real)1, way_from(*p, other, *cell, &x, &y, &z), mask), none = (real)0;
    add_pair(s, r2, marked(none, LEY_LOAD(gm_row), mask), marked(none, LEY_LOAD(gm_row + padded), mask),
             marked(none, p->q * other.w, mask), *numbers, *series, x, y, z);
}

LEY_FN void sum_block(__global const float4 *gm_position, image_cell cell, __global const int *gm_type,
                      __global const float *gm_table, __global const int *gm_first, __global const int *gm_tile,
                      __global const int *gm_mask, __global const int *gm_column, int n, int padded, int types,
                      int columns, float scale, sixteen numbers, sixteen series, __global float *gm_energy,
                      __global float *gm_parts, __global float4 *gm_force, size_t block)
{
    const size_t own = block * LEY_WIDTH;
    const int last = gm_first[block + 1];
    float at[4][LEY_WIDTH];
    for (int lane = 0; lane < LEY_WIDTH; lane++) {
        const float4 place = gm_position[own + lane];
        at[0][lane] = place.x;
        at[1][lane] = place.y;
        at[2][lane] = place.z;
        at[3][lane] = place.w;
    }
    particle p;
    begin(&p, LEY_LOAD(at[0]), LEY_LOAD(at[1]), LEY_LOAD(at[2]), LEY_LOAD(at[3]) * scale);
    int next = gm_first[block];
#if LEY_COLUMNS
    int column = 0;
#endif
    for (int j = 0, to; j < n; j = to) {
        few_sums s = no_sums();
        const bool is_marked = next < last && gm_tile[next] == j;
        to = is_marked ? j + 1 : min(n, j + FEW);
        if (!is_marked && next < last)
            to = min(to, gm_tile[next]);
#if LEY_COLUMNS
        if (column < columns)
            to = min(to, gm_column[column + 1]);
#endif
        if (is_marked)
            add_marked(&s, &p, gm_position, &cell, gm_type, gm_table + own, padded, j, gm_mask[next++], &numbers,
                       &series);
        else
            add_others(&s, &p, gm_position, &cell, gm_type, gm_table + own, padded, j, to, &numbers, &series);
        keep_all(&p, s);
#if LEY_COLUMNS
        for (; column < columns && gm_column[column + 1] <= to; column++) {
            __global float *gm_part = gm_parts + (size_t)column * padded + own;
            LEY_PASTE(vstore, LEY_WIDTH)
            (p.column_lj.sum * 0.5f, 0, gm_part + (size_t)LEY_COLUMN_LENNARD_JONES * columns * padded);
            LEY_PASTE(vstore, LEY_WIDTH)
            (p.column_coulomb.sum * 0.5f, 0, gm_part + (size_t)LEY_COLUMN_COULOMB * columns * padded);
            end_column(&p);
        }
#endif
    }
    LEY_PASTE(vstore, LEY_WIDTH)(p.lj.sum * 0.5f, 0, gm_energy + (size_t)LEY_TERM_LENNARD_JONES * padded + own);
    LEY_PASTE(vstore, LEY_WIDTH)(p.coulomb.sum * 0.5f, 0, gm_energy + (size_t)LEY_TERM_COULOMB * padded + own);
#if LEY_FORCES
    LEY_PASTE(vstore, LEY_WIDTH)(p.fx.sum, 0, at[0]);
    LEY_PASTE(vstore, LEY_WIDTH)(p.fy.sum, 0, at[1]);
    LEY_PASTE(vstore, LEY_WIDTH)(p.fz.sum, 0, at[2]);
    for (int lane = 0; lane < LEY_WIDTH; lane++)
        gm_force[own + lane] += (float4)(at[0][lane], at[1][lane], at[2][lane], 0);
#endif
}

#endif
