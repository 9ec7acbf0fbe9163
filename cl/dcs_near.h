/* Atoms near a point of the group's tile, for dcs.cl: which these are, and their sum. */
#ifndef LEY_DCS_NEAR_H
#define LEY_DCS_NEAR_H

/* Squared distance within which atoms are near. */
LEY_FN scalar near_A2(const points *p)
{
    const scalar rounded_A = PLACED ? NEAR_SHARE * LEY_MAX(REACH_X * p->step.x, REACH_Y * p->step.y) : 0;
    return LEY_MAX(rounded_A * rounded_A, p->step.w);
}

/* Of an atom, placed a from p->base, to the nearest point of the tile; without cells, to the
 * tile's plane. */
LEY_FN scalar nearest_A2(const points *p, stored_atom s, atom a)
{
    const scalar dz = p->z - a.z;
#if PLACED
    const int x = s.cell.x - p->base.x, y = s.cell.y - p->base.y;
    const scalar dx = (x - LEY_CLAMP(x, -(TILE_X / 2), (TILE_X - 1) / 2)) * p->step.x + s.offset.x;
    const scalar dy = (y - LEY_CLAMP(y, -(TILE_Y / 2), (TILE_Y - 1) / 2)) * p->step.y + s.offset.y;
    return dx * dx + (dy * dy + dz * dz);
#else
    return dz * dz;
#endif
}

/* Adds a near atom, each distance rounded by its own size: cells first. */
LEY_FN void add_near(points *p, stored_atom s)
{
    const atom a = relative(p, s);
    const scalar dz = p->z - a.z;
    FOR_ALL_ROWS(v) {
#if IN_CELLS
        const scalar dy = (p->y[v] - (s.cell.y - p->base.y)) * p->step.y - s.offset.y;
#elif PLACED
        const scalar dy = (FIRST_ROW + v * LEY_WG_Y - s.cell.y) * p->step.y - s.offset.y;
#else
        const scalar dy = p->y[v] - a.y;
#endif
        FOR_ALL_COLUMNS(u) {
#if IN_CELLS
            const real dx = (p->x[u] - (s.cell.x - p->base.x)) * p->step.x - s.offset.x;
#elif PLACED
            const real cells = (real)(FIRST_COLUMN + u * LEY_WG_X * LEY_WIDTH - s.cell.x) + LEY_LANES;
            const real dx = cells * p->step.x - s.offset.x;
#else
            const real dx = p->x[u] - a.x;
#endif
            const real r2_A2 = ley_clamped_r2(dx * dx + (dy * dy + dz * dz), (real)p->step.w);
            ADD(p->sum[v * LEY_UX + u], p->carry[(v * LEY_UX + u) * CARRIES], a.w * LEY_RSQRT(r2_A2));
#if LEY_FIELD
            const real inverse_r = LEY_RSQRT(r2_A2), potential = a.w * inverse_r;
            add_field(p->sum, p->carry, v * LEY_UX + u, POINTS,
                      dx * dx + (dy * dy + dz * dz) >= (real)p->step.w ? potential : (real)0, inverse_r, dx, dy, dz);
#endif
        }
    }
}

#endif
