/* What a work-item of reference.cl sums, for OpenCL C and CUDA C; a dialect header and terms.h
 * come first. */
#ifndef LEY_REFERENCE_SUM_H
#define LEY_REFERENCE_SUM_H

/* The judge's sum at a point; see reference_value of host/law/reference.h. */
typedef struct {
    double value, absolute, lower, higher;
} reference_sum;

/* limits: {r_min, cutoff, kappa or steepness, place of terms.h}; of long-range sums {r_min, share
 * of meshes, kappa, place in A}. */
LEY_FN ley_term term_of(atom a, double R, double eps, double r, atom limits)
{
    const double safe = r < limits.x ? limits.x : r;
#if LEY_TERM == LEY_TERM_DCS
    return ley_dcs_term(a.w, r, limits.x);
#elif LEY_TERM == LEY_TERM_LONG_RANGE
    ley_long_range_shares shares;
    shares.mesh = limits.y;
    shares.place_A = limits.w;
    return ley_long_range_term(a.w, r, limits.x, limits.z, shares);
#elif LEY_TERM == LEY_TERM_MDH
    return ley_mdh_term(a.w, r, R, limits.z);
#else
    return ley_pair_term(LEY_TERM, safe, limits.y, a.w, R, eps, limits.z);
#endif
}

#if LEY_TERM >= LEY_TERM_DCS
LEY_FN void add_atom(reference_sum *sum, atom a, double R, double eps, atom point, LEY_GLOBAL const atom *gm_cell,
                     atom limits)
{
    const double x = point.x - a.x, y = point.y - a.y, z = point.z - a.z;
    const ley_term term = term_of(a, R, eps, sqrt(x * x + y * y + z * z), limits);
    sum->value += term.value;
    sum->absolute += term.absolute;
}
#else
LEY_FN void add_change(reference_sum *sum, double change)
{
    if (change < 0)
        sum->lower += change;
    else
        sum->higher += change;
}

LEY_FN void add_pair(reference_sum *sum, atom a, double R, double eps, double r, atom limits)
{
    const bool counts = r < limits.y;
    bool may_not = false; /* not const: clang takes it for a mistake where it is known beforehand */
    if (!LEY_VANISHES(LEY_TERM))
        may_not = ley_may_not_count(r, limits.y, limits.w);
    if (LEY_VANISHES(LEY_TERM) && ley_is_next_to_cutoff(r, limits.y, limits.w)) {
        add_change(sum, a.w * ley_vanishing_change(LEY_TERM, r, limits.y, limits.x, limits.w));
        add_change(sum, a.w * ley_vanishing_change(LEY_TERM, r, limits.y, limits.x, -limits.w));
    }
    if (!counts && !may_not)
        return;
    const ley_term term = term_of(a, R, eps, r, limits);
    sum->absolute += term.absolute;
    if (counts)
        sum->value += term.value;
    if (may_not)
        add_change(sum, counts ? -term.value : term.value);
}

/* The atom and its images in reach. gm_cell, for each axis i: {vector i, -}, {dual vector i, how
 * many times the vector reaches; negative: not periodic along it}. */
LEY_FN void add_atom(reference_sum *sum, atom a, double R, double eps, atom point, LEY_GLOBAL const atom *gm_cell,
                     atom limits)
{
    const double dx = point.x - a.x, dy = point.y - a.y, dz = point.z - a.z;
    double low[3], high[3];
    for (int i = 0; i < 3; i++) {
        const atom dual = gm_cell[2 * i + 1];
        const double at = dual.x * dx + dual.y * dy + dual.z * dz, width = fabs(dual.w) + 1e-9 * fabs(at);
        low[i] = dual.w > 0 ? ceil(at - width) : 0;
        /* Not -1, which compilers make of one bit: Oclgrind 21.10 takes that for 1. */
        high[i] = dual.w > 0 ? floor(at + width) : fabs(at) > width ? -1.0 : 0.0;
        if (low[i] > high[i])
            return;
    }
    const atom u = gm_cell[0], v = gm_cell[2], w = gm_cell[4];
    for (double i = low[0]; i <= high[0]; i++)
        for (double k = low[1]; k <= high[1]; k++)
            for (double l = low[2]; l <= high[2]; l++) {
                const double x = dx - (i * u.x + k * v.x + l * w.x), y = dy - (i * u.y + k * v.y + l * w.y),
                             z = dz - (i * u.z + k * v.z + l * w.z);
                add_pair(sum, a, R, eps, sqrt(x * x + y * y + z * z), limits);
            }
}
#endif

/* Every step-th of n atoms, from `first` on. gm_more: {R, eps} of each; read only where terms
 * have them. */
LEY_FN reference_sum sum_atoms(LEY_GLOBAL const atom *gm_atoms, LEY_GLOBAL const double *gm_more, int first, int n,
                               int step, atom point, LEY_GLOBAL const atom *gm_cell, atom limits)
{
    reference_sum sum = {0, 0, 0, 0};
    for (int j = first; j < n; j += step) {
#if LEY_TERM_HAS_MORE(LEY_TERM)
        const double R = gm_more[2 * j], eps = gm_more[2 * j + 1];
#else
        const double R = 0, eps = 0;
#endif
        add_atom(&sum, gm_atoms[j], R, eps, point, gm_cell, limits);
    }
    return sum;
}

#endif
