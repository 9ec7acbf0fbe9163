/* What one work-item of mdh.cl does alone, on CPU devices. */
#ifndef LEY_MDH_VECTORS_H
#define LEY_MDH_VECTORS_H

#if LIST
/* Coordinates are computed a tile at a time, in vectors of atoms; then each atom is added to
 * vectors of points. */
LEY_FN void sum_atoms(points *p, const frame *f, __global const placed *gm_atoms, int n_atoms)
{
    scalar x[LEY_TILE], y[LEY_TILE], z[LEY_TILE], w[LEY_TILE];
    int near[LEY_TILE];
    for (int base = 0; base < n_atoms; base += LEY_TILE) {
        const int count = min(LEY_TILE, n_atoms - base);
        int n_near = 0;
        for (int j = 0; j < count; j++) {
            const atom a = relative(f, gm_atoms[base + j]);
            x[j] = a.x;
            y[j] = a.y;
            z[j] = a.z;
            w[j] = a.w * (LEY_ROOT_SCALE * LEY_ROOT_SCALE);
        }
        for (int j = 0; j < count; j++)
            if (is_near(f, (atom)(x[j], y[j], z[j], 0))) {
                near[n_near++] = base + j;
                x[j] = y[j] = z[j] = w[j] = 0;
            }
        for (int j = 0; j < count; j++)
            add(p, (atom)(x[j], y[j], z[j], w[j]),
                LEY_SCREENING == LEY_SCREENING_WIDE && w[j] != 0 ? gm_atoms[base + j].cell.w : 0);
        for (int n = 0; n < n_near; n++)
            add_near(p, f, gm_atoms[near[n]]);
    }
}
#else
/* It lays a tile of atoms out as what its rows need of each, once for all its columns; the inner
 * loop then broadcasts one number per row. Sums of a tile are added to the running sums as a
 * whole, which also keeps float sums short. */
LEY_FN void sum_atoms(points *p, const frame *f, __global const placed *gm_atoms, int n_atoms)
{
    scalar x[LEY_TILE], weight[LEY_TILE], dyz2[LEY_TILE * LEY_UY];
    int near[LEY_TILE];
    for (int base = 0; base < n_atoms; base += LEY_TILE) {
        const int count = min(LEY_TILE, n_atoms - base);
        int n_near = 0;
        for (int j = 0; j < count; j++) {
            bool is_near;
            const atom a = staged(f, gm_atoms[base + j], &is_near);
            near[n_near] = base + j;
            n_near += is_near;
            x[j] = a.x;
            weight[j] = a.w;
            FOR_ROWS(v) {
                const scalar dy = p->y[v] - a.y;
                dyz2[j * LEY_UY + v] = dy * dy + a.z;
            }
        }
        for (int u = 0; u < LEY_UX; u++) {
            real sum[LEY_UY], carry[CARRIES ? LEY_UY : 1];
            FOR_ROWS(v) sum[v] = carry[v * CARRIES] = 0;
            for (int j = 0; j < count; j++) {
                const real dx = p->x[u] - x[j], dx2 = dx * dx;
                const int radius = LEY_SCREENING == LEY_SCREENING_WIDE ? gm_atoms[base + j].cell.w : 0;
                FOR_ROWS(v) ADD(sum[v], carry[v * CARRIES], weight[j] * pair(dx2 + dyz2[j * LEY_UY + v], radius, v));
            }
            FOR_ROWS(v) {
                const int k = v * LEY_UX + u;
                if (CARRIES)
                    ADD(p->sum[k], p->carry[k * CARRIES], -carry[v * CARRIES]);
                ADD(p->sum[k], p->carry[k * CARRIES], sum[v]);
            }
        }
        for (int n = 0; n < n_near; n++)
            add_near(p, f, gm_atoms[near[n]]);
    }
}
#endif

#endif
