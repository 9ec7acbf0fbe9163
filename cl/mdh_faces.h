/* Nodes of a face, for mdh.cl: what they share is computed once per row and once per column. */
#ifndef LEY_MDH_FACES_H
#define LEY_MDH_FACES_H

/* An atom as add() wants it. */
LEY_FN atom staged(const frame *f, LEY_REFERENCE(placed) p, bool *is_near)
{
    atom a = relative(f, p);
    a.w *= LEY_ROOT_SCALE * LEY_ROOT_SCALE;
    *is_near = LEY_ABS(a.z) < f->step.w * LEY_ROOT_SCALE;
    if (*is_near)
        a.w = 0;
    a.z = a.z * a.z + LEAST_R2;
    return a;
}

/* Adds a staged atom to all points. */
LEY_FN void add(points *p, LEY_REFERENCE(atom) a, int radius)
{
    real dx2[LEY_UX];
    FOR_COLUMNS(u) {
        const real dx = p->x[u] - a.x;
        dx2[u] = dx * dx;
    }
    FOR_ROWS(v) {
        const scalar dy = p->y[v] - a.y, dyz2 = dy * dy + a.z;
        FOR_COLUMNS(u) {
            const int k = v * LEY_UX + u;
            ADD(p->sum[k], p->carry[k * CARRIES], a.w * pair(dx2[u] + dyz2, radius, k));
        }
    }
}

/* Adds an atom near the face: coordinates from the atom, cells first. */
LEY_FN void add_near(points *p, const frame *f, LEY_REFERENCE(placed) near)
{
    const scalar step_a = ALONG(f, f->step), low_a = ALONG(f, f->step_low);
    const scalar step_b = DOWN(f, f->step), low_b = DOWN(f, f->step_low);
    const scalar weight = near.offset.w * (LEY_ROOT_SCALE * LEY_ROOT_SCALE);
    const scalar dz = from_base(ACROSS(f, f->base) - ACROSS(f, near.cell), -ACROSS(f, near.offset), ACROSS(f, f->step),
                                ACROSS(f, f->step_low));
    FOR_ROWS(v) {
        const scalar dy = from_base(f->b + v * f->stride_b - DOWN(f, near.cell), -DOWN(f, near.offset), step_b, low_b);
        FOR_COLUMNS(u) {
            const int k = v * LEY_UX + u;
            const real cells = (real)(f->a + u * f->stride_a - ALONG(f, near.cell)) + LEY_LANES;
            const real dx = (cells * step_a + (cells * low_a - ALONG(f, near.offset))) * LEY_ROOT_SCALE;
            ADD(p->sum[k], p->carry[k * CARRIES],
                weight * pair(dx * dx + (dy * dy + (dz * dz + LEAST_R2)), near.cell.w, k));
        }
    }
}

#endif
