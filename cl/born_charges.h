/* A pair of charges of born_pairs.cl: its energy, and what follows from it for forces. */
#ifndef LEY_BORN_CHARGES_H
#define LEY_BORN_CHARGES_H

LEY_FN void add_charges(const own *o, int u, other a, real x, real y, real z, real d2, LEY_REFERENCE(sixteen) numbers,
                        real *sum)
{
    const real e = ley_exp2(d2 * o->second[u] * a.more.y), bb = o->first[u] * a.more.x, f2 = bb * e + d2,
               root = root_of(f2);
#if LEY_CUTOFF == LEY_BORN_CUT_NOT
    const real q_root = a.at.w * root;
#else
    const real q_root = d2 < (real)numbers.s4 ? a.at.w * root : (real)0;
#endif
#if LEY_SALT
    const real f = f2 * root, screened = numbers.sa * ley_exp2(numbers.s7 * f), v = numbers.s9 - screened;
    sum[0] += q_root * v;
#else
    sum[0] += q_root;
#endif
#if LEY_FORCES
#if LEY_SALT
    const real h = q_root * root * root * (v - screened * numbers.s8 * f);
#else
    const real h = q_root * root * root;
#endif
    const real he = h * e, along = h - 0.25f * he;
    sum[1] += he * (bb + 0.25f * d2);
    sum[2] += along * x;
    sum[3] += along * y;
    sum[4] += along * z;
#endif
}

#endif
