/* What one work-item of dcs.cl does alone, on CPU devices: it lays a tile of atoms out as dy^2 +
 * dz^2 of each of its rows, once for all its columns; the inner loop then broadcasts one number
 * per row. Sums of a tile are added to the running sums as a whole, which also keeps float sums
 * short. Near atoms are staged without charge, and listed. */
#ifndef LEY_DCS_VECTORS_H
#define LEY_DCS_VECTORS_H

/* dx and its square in a row, from what dx is in rows without a shift. */
#if LEY_OBLIQUE
#define IN_ROW(v, dx) ((dx) + p->shift[v])
#define SQUARE_IN_ROW(v, dx, dx2) (IN_ROW(v, dx) * IN_ROW(v, dx))
#else
#define IN_ROW(v, dx) (dx)
#define SQUARE_IN_ROW(v, dx, dx2) (dx2)
#endif

LEY_FN void sum_atoms(points *p, __global const stored_atom *gm_atoms, int first, int n_atoms)
{
    gm_atoms += first;
    scalar x[LEY_TILE], q[LEY_TILE], dyz2[LEY_TILE * LEY_UY];
#if LEY_FIELD
    scalar rows_dy[LEY_TILE * LEY_UY], tile_dz[LEY_TILE];
#endif
#if PLACED
    scalar cell_x[LEY_TILE], offset_x[LEY_TILE];
#endif
    int near[LEY_TILE];
    for (int base = 0; base < n_atoms; base += LEY_TILE) {
        const int count = min(LEY_TILE, n_atoms - base);
        int n_near = 0;
        for (int j = 0; j < count; j++) {
            const atom a = relative(p, gm_atoms[base + j]);
            const scalar dz = p->z - a.z;
            const int is_near = nearest_A2(p, gm_atoms[base + j], a) < near_A2(p);
#if PLACED
            cell_x[j] = gm_atoms[base + j].cell.x - p->base.x;
            offset_x[j] = gm_atoms[base + j].offset.x;
#if LEY_OBLIQUE
            offset_x[j] += (gm_atoms[base + j].cell.y - p->base.y) * p->shear.x +
                           (gm_atoms[base + j].cell.z - p->base.z) * p->shear.y;
#endif
#else
            x[j] = a.x;
#endif
            q[j] = is_near ? 0 : a.w * LEY_ROOT_SCALE;
            FOR_ROWS(v) {
                const scalar dy = p->y[v] - a.y;
                dyz2[j * LEY_UY + v] = is_near ? 1 : dy * dy + dz * dz;
#if LEY_FIELD
                rows_dy[j * LEY_UY + v] = dy;
#endif
            }
#if LEY_FIELD
            tile_dz[j] = dz;
#endif
            near[n_near] = base + j;
            n_near += is_near;
        }
        for (int u = 0; u < LEY_UX; u++) {
            real sum[SUMS / LEY_UX], carry[CARRIES ? SUMS / LEY_UX : 1];
            UNROLL for (int v = 0; v < SUMS / LEY_UX; v++) sum[v] = carry[v * CARRIES] = 0;
#if PLACED
            const scalar middle = u * LEY_WIDTH + LEY_WIDTH / 2 - TILE_X / 2;
            for (int j = 0; j < count; j++)
                x[j] = (cell_x[j] - middle) * p->step.x + offset_x[j];
#endif
            for (int j = 0; j < count; j++) {
                const real dx = p->x[PLACED ? 0 : u] - x[j], dx2 = dx * dx;
                FOR_ROWS(v) ADD(sum[v], carry[v * CARRIES],
                                q[j] * ley_unscaled_root(SQUARE_IN_ROW(v, dx, dx2) + dyz2[j * LEY_UY + v]));
#if LEY_FIELD
                FOR_ROWS(v) {
                    const real root = ley_unscaled_root(SQUARE_IN_ROW(v, dx, dx2) + dyz2[j * LEY_UY + v]),
                               potential = q[j] * root;
                    add_field(sum, carry, v, LEY_UY, potential, root * LEY_ROOT_SCALE, IN_ROW(v, dx),
                              rows_dy[j * LEY_UY + v], tile_dz[j]);
                }
#endif
            }
            UNROLL for (int v = 0; v < SUMS / LEY_UX; v++) { /* of each component its rows */
                const int k = v * LEY_UX + u;
                if (CARRIES)
                    ADD(p->sum[k], p->carry[k * CARRIES], -carry[v * CARRIES]);
                ADD(p->sum[k], p->carry[k * CARRIES], sum[v]);
            }
        }
        for (int n = 0; n < n_near; n++)
            add_near(p, gm_atoms[near[n]]);
    }
}

#endif
