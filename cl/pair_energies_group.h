/* What a work-group of pair_energies.cl does, on GPUs: it brings a block of particles into local
 * memory, then each work-item goes through them for LEY_UX of its own. */
#ifndef LEY_PAIR_ENERGIES_GROUP_H
#define LEY_PAIR_ENERGIES_GROUP_H

#define BLOCK (LEY_WG * LEY_UX)
#define FOR_OWN(u) UNROLL for (int u = 0; u < LEY_UX; u++)

/* Where a type's numbers with others are: LEY_LOCAL_TYPES is no less than there are types. */
LEY_FN void stage_table(LEY_GLOBAL const float *gm_table, int types, LEY_LOCAL float2 *sm_table)
{
#if LEY_LOCAL_TYPES > 0
    for (int i = LEY_LOCAL_ID(0); i < types * types; i += LEY_WG) {
        sm_table[i].x = gm_table[2 * i];
        sm_table[i].y = gm_table[2 * i + 1];
    }
#endif
}

#if LEY_LOCAL_TYPES > 0
#define A_OF(pair) sm_table[pair].x
#define B_OF(pair) sm_table[pair].y
#else
#define A_OF(pair) gm_table[2 * (pair)]
#define B_OF(pair) gm_table[2 * (pair) + 1]
#endif

/* The staged particles from number j on. */
LEY_FN void add_others(few_sums *s, const particle *p, const int *type, LEY_REFERENCE(image_cell) cell,
                       LEY_GLOBAL const float *gm_table, int j, int to, LEY_REFERENCE(sixteen) numbers,
                       LEY_REFERENCE(sixteen) series, LEY_LOCAL const float4 *sm_position, LEY_LOCAL const int *sm_type,
                       LEY_LOCAL const float2 *sm_table)
{
    for (int k = j; k < to; k++) {
        const float4 other = sm_position[k];
        FOR_OWN(u) {
            real x, y, z;
            const int pair = sm_type[k] + type[u];
            const real r2 = way_from(p[u], other, cell, &x, &y, &z);
            add_pair(&s[u], r2, A_OF(pair), B_OF(pair), p[u].q * other.w, numbers, series, x, y, z);
        }
    }
}

/* The same, without those that have a mark. */
LEY_FN void add_marked(few_sums *s, const particle *p, const int *type, LEY_REFERENCE(image_cell) cell,
                       LEY_GLOBAL const float *gm_table, int base, int j, int to, const unsigned *marks,
                       LEY_REFERENCE(sixteen) numbers, LEY_REFERENCE(sixteen) series,
                       LEY_LOCAL const float4 *sm_position, LEY_LOCAL const int *sm_type,
                       LEY_LOCAL const float2 *sm_table)
{
    for (int k = j; k < to; k++) {
        const float4 other = sm_position[k];
        FOR_OWN(u) {
            real x, y, z;
            const int pair = sm_type[k] + type[u];
            const bool counts = (marks[u] >> (base + k) % LEY_ENERGY_SUB_TILE & 1) == 0;
            const real r2 = way_from(p[u], other, cell, &x, &y, &z);
            add_pair(&s[u], counts ? r2 : 1, counts ? A_OF(pair) : 0, counts ? B_OF(pair) : 0,
                     counts ? p[u].q * other.w : 0, numbers, series, x, y, z);
        }
    }
}

LEY_FN void sum_block(LEY_GLOBAL const float4 *gm_position, LEY_REFERENCE(image_cell) cell,
                      LEY_GLOBAL const int *gm_type, LEY_GLOBAL const float *gm_table, LEY_GLOBAL const int *gm_first,
                      LEY_GLOBAL const int *gm_tile, LEY_GLOBAL const int *gm_mask, LEY_GLOBAL const int *gm_column,
                      int n, int padded, int types, int columns, float scale, LEY_REFERENCE(sixteen) numbers,
                      LEY_REFERENCE(sixteen) series,
                      LEY_GLOBAL float *gm_energy, LEY_GLOBAL float *gm_parts, LEY_GLOBAL float4 *gm_force,
                      size_t block, LEY_LOCAL float4 *sm_position, LEY_LOCAL int *sm_type, LEY_LOCAL float2 *sm_table)
{
    const int item = LEY_LOCAL_ID(0), own = (int)block * BLOCK + item, last = gm_first[block + 1];
    particle p[LEY_UX];
    int type[LEY_UX];
    FOR_OWN(u) {
        const float4 at = gm_position[own + u * LEY_WG];
        begin(&p[u], at.x, at.y, at.z, at.w * scale);
        type[u] = gm_type[own + u * LEY_WG];
    }
    int next = gm_first[block];
#if LEY_COLUMNS
    int column = 0;
#endif
    for (int base = 0; base < n; base += BLOCK) {
        LEY_BARRIER();
        FOR_OWN(u) {
            sm_position[item + u * LEY_WG] = gm_position[base + item + u * LEY_WG];
            sm_type[item + u * LEY_WG] = gm_type[base + item + u * LEY_WG] * types;
        }
        LEY_BARRIER();
        const int end = min(n - base, BLOCK);
        int to;
        for (int j = 0; j < end; j = to) {
            const int sub = (base + j) / LEY_ENERGY_SUB_TILE;
            const bool is_marked = next < last && gm_tile[next] == sub;
            to = min(end, (sub + 1) * LEY_ENERGY_SUB_TILE - base);
#if LEY_COLUMNS
            if (column < columns)
                to = min(to, gm_column[column + 1] - base);
#endif
            few_sums s[LEY_UX];
            FOR_OWN(u) s[u] = no_sums();
            unsigned marks[LEY_UX];
            FOR_OWN(u) marks[u] = is_marked ? (unsigned)gm_mask[(size_t)next * BLOCK + item + u * LEY_WG] : 0;
            if (is_marked)
                add_marked(s, p, type, cell, gm_table, base, j, to, marks, numbers, series, sm_position, sm_type,
                           sm_table);
            else
                add_others(s, p, type, cell, gm_table, j, to, numbers, series, sm_position, sm_type, sm_table);
            if (is_marked && (base + to) % LEY_ENERGY_SUB_TILE == 0)
                next++;
            FOR_OWN(u) keep_all(&p[u], s[u]);
#if LEY_COLUMNS
            for (; column < columns && gm_column[column + 1] <= base + to; column++)
                FOR_OWN(u) {
                    LEY_GLOBAL float *gm_part = gm_parts + (size_t)column * padded + own + u * LEY_WG;
                    gm_part[(size_t)LEY_COLUMN_LENNARD_JONES * columns * padded] = p[u].column_lj.sum * 0.5f;
                    gm_part[(size_t)LEY_COLUMN_COULOMB * columns * padded] = p[u].column_coulomb.sum * 0.5f;
                    end_column(&p[u]);
                }
#endif
        }
    }
    FOR_OWN(u) {
        const size_t at = (size_t)own + u * LEY_WG;
        gm_energy[(size_t)LEY_TERM_LENNARD_JONES * padded + at] = p[u].lj.sum * 0.5f;
        gm_energy[(size_t)LEY_TERM_COULOMB * padded + at] = p[u].coulomb.sum * 0.5f;
#if LEY_FORCES
        gm_force[at].x += p[u].fx.sum;
        gm_force[at].y += p[u].fy.sum;
        gm_force[at].z += p[u].fz.sum;
#endif
    }
}

#endif
