/* Points of a list, for mdh.cl: they lie anywhere, a group's close together. */
#ifndef LEY_MDH_LIST_H
#define LEY_MDH_LIST_H

LEY_FN bool is_near(const frame *f, LEY_REFERENCE(atom) a)
{
    return LEY_ABS(a.x) <= f->reach.x && LEY_ABS(a.y) <= f->reach.y && LEY_ABS(a.z) <= f->reach.z;
}

/* The lane-th of a work-item's u-th vector of points; the last point stands in for those that
 * are not there. */
LEY_FN LEY_REFERENCE(placed) point(const frame *f, int u, int lane)
{
    return f->gm_points[min(f->first + u * LEY_WG * LEY_WIDTH + lane, f->n_points - 1)];
}

/* An atom as add() wants it: a near one at the base, where no pair is beyond a float. */
LEY_FN atom staged(const frame *f, LEY_REFERENCE(placed) p, bool *near)
{
    atom a = relative(f, p);
    a.w *= LEY_ROOT_SCALE * LEY_ROOT_SCALE;
    *near = is_near(f, a);
    if (*near)
        a = LEY_ATOM(0, 0, 0, 0);
    return a;
}

#if LEY_FIELD
/* The field of an atom whose potential is this, but for LEY_ROOT_SCALE: see scale_field(). */
LEY_FN void add_field(points *p, int u, real potential, real r2, real dx, real dy, real dz)
{
    const real root = ley_unscaled_root(r2), slope = potential * root * root;
    ADD(p->sum[POINTS + u], p->carry[(POINTS + u) * CARRIES], slope * dx);
    ADD(p->sum[2 * POINTS + u], p->carry[(2 * POINTS + u) * CARRIES], slope * dy);
    ADD(p->sum[3 * POINTS + u], p->carry[(3 * POINTS + u) * CARRIES], slope * dz);
}

/* Lengths come times LEY_ROOT_SCALE, and roots by its square too large. */
LEY_FN void scale_field(points *p, int k)
{
    const scalar scale = LEY_ROOT_SCALE * LEY_ROOT_SCALE * (LEY_ROOT_SCALE * 1.0f);
    p->sum[k] *= scale;
    if (CARRIES)
        p->carry[k * CARRIES] *= scale;
}
#endif

/* Adds a staged atom to all points. */
LEY_FN void add(points *p, LEY_REFERENCE(atom) a, int radius)
{
    FOR_COLUMNS(u) {
        const real dx = p->x[u] - a.x, dy = p->y[u] - a.y, dz = p->z[u] - a.z;
        const real r2 = dx * dx + (dy * dy + (dz * dz + LEAST_R2)), each = pair(r2, radius, u);
        ADD(p->sum[u], p->carry[u * CARRIES], a.w * each); /* one multiply-add, where it may be */
#if LEY_FIELD
        add_field(p, u, a.w * each, r2, dx, dy, dz);
#endif
    }
}

/* As from_base(), of a vector of points from an atom. */
LEY_FN real from_atom(cells n, real offset, scalar step, scalar step_low)
{
    const real along = LEY_REAL_OF(n);
    return (along * step + (along * step_low + offset)) * LEY_ROOT_SCALE;
}

/* Distances below r_min count as r_min. */
LEY_FN real least_r2(const frame *f)
{
    return (real)(f->step.w * (LEY_ROOT_SCALE * LEY_ROOT_SCALE));
}

LEY_FN real no_less(const frame *f, real r2)
{
    return LEY_MAX(r2, least_r2(f));
}

/* Adds an atom near the points: coordinates from the atom, cells first. */
LEY_FN void add_near(points *p, const frame *f, LEY_REFERENCE(placed) near)
{
    const scalar weight = near.offset.w * (LEY_ROOT_SCALE * LEY_ROOT_SCALE);
#if KEEPS_PLACES
    FOR_COLUMNS(u) {
        const cells *cell = p->cell + 3 * u;
        const real *offset = p->offset + 3 * u;
        const real dx = from_atom(cell[0] - near.cell.x, offset[0] - near.offset.x, f->step.x, f->step_low.x);
        const real dy = from_atom(cell[1] - near.cell.y, offset[1] - near.offset.y, f->step.y, f->step_low.y);
        const real dz = from_atom(cell[2] - near.cell.z, offset[2] - near.offset.z, f->step.z, f->step_low.z);
        const real r2 = dx * dx + (dy * dy + (dz * dz + LEAST_R2)), counted = no_less(f, r2),
                   each = pair(counted, near.cell.w, u);
        ADD(p->sum[u], p->carry[u * CARRIES], weight * each);
#if LEY_FIELD
        add_field(p, u, r2 < least_r2(f) ? (real)0 : weight * each, counted, dx, dy, dz);
#endif
    }
#else
    /* One after the other: all at once would take the main loop's registers. */
    _Pragma("unroll 1") for (int u = 0; u < LEY_UX; u++) {
        LEY_REFERENCE(placed) at = point(f, u, 0);
        const real dx = from_atom(at.cell.x - near.cell.x, at.offset.x - near.offset.x, f->step.x, f->step_low.x);
        const real dy = from_atom(at.cell.y - near.cell.y, at.offset.y - near.offset.y, f->step.y, f->step_low.y);
        const real dz = from_atom(at.cell.z - near.cell.z, at.offset.z - near.offset.z, f->step.z, f->step_low.z);
        const real r2 = dx * dx + (dy * dy + (dz * dz + LEAST_R2)), counted = no_less(f, r2),
                   term = weight * pair(counted, near.cell.w, POINTS);
        FOR_COLUMNS(k) { /* no index that is computed: sums stay in registers */
            ADD(p->sum[k], p->carry[k * CARRIES], k == u ? term : 0);
#if LEY_FIELD
            add_field(p, k, k != u || r2 < least_r2(f) ? (real)0 : term, counted, dx, dy, dz);
#endif
        }
    }
#endif
}

#endif
