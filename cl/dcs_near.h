/* Atoms near a point of the group's tile, for dcs.cl: which these are, and their sum. */
#ifndef LEY_DCS_NEAR_H
#define LEY_DCS_NEAR_H

/* How far rows are shifted from the middle one of a tile, at most. */
#if LEY_OBLIQUE
#define SHEAR_A(p) (REACH_Y * LEY_ABS((p)->shear.x))
#else
#define SHEAR_A(p) 0
#endif

/* Squared distance within which atoms are near. */
LEY_FN scalar near_A2(const points *p)
{
    const scalar reach_A = LEY_MAX(REACH_X * p->step.x + SHEAR_A(p), REACH_Y * p->step.y);
    const scalar rounded_A = PLACED ? NEAR_SHARE * reach_A : 0;
    return LEY_MAX(rounded_A * rounded_A, p->step.w);
}

/* Of an atom, placed a from p->base, to the nearest point of the tile, or of the box around an
 * oblique one; without cells, to the tile's plane. */
LEY_FN scalar nearest_A2(const points *p, stored_atom s, atom a)
{
    const scalar dz = p->z - a.z;
#if PLACED && LEY_OBLIQUE
    const scalar dx = LEY_MAX(LEY_ABS(a.x) - TILE_X / 2 * p->step.x - SHEAR_A(p), (scalar)0),
                 dy = LEY_MAX(LEY_ABS(a.y) - TILE_Y / 2 * p->step.y, (scalar)0);
    return dx * dx + (dy * dy + dz * dz);
#elif PLACED
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
#if PLACED && LEY_OBLIQUE
    const scalar planes = p->base.z - s.cell.z, offset_x = s.offset.x - planes * p->shear.y;
    s.offset.y -= planes * p->shear.z;
#endif
    FOR_ALL_ROWS(v) {
#if IN_CELLS
        const scalar rows = p->y[v] - (s.cell.y - p->base.y), dy = rows * p->step.y - s.offset.y;
#elif PLACED
        const scalar rows = FIRST_ROW + v * LEY_WG_Y - s.cell.y, dy = rows * p->step.y - s.offset.y;
#else
        const scalar dy = p->y[v] - a.y;
#endif
#if PLACED && LEY_OBLIQUE
        s.offset.x = offset_x - rows * p->shear.x;
#elif LEY_OBLIQUE
        s.x = a.x - p->shift[v];
#endif
        FOR_ALL_COLUMNS(u) {
#if IN_CELLS
            const real dx = (p->x[u] - (s.cell.x - p->base.x)) * p->step.x - s.offset.x;
#elif PLACED
            const real cells = (real)(FIRST_COLUMN + u * LEY_WG_X * LEY_WIDTH - s.cell.x) + LEY_LANES;
            const real dx = cells * p->step.x - s.offset.x;
#else
            const real dx = p->x[u] - s.x;
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
