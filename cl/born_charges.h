/* A pair of charges of born_pairs.cl: its energy, and what follows from it for forces. */
#ifndef LEY_BORN_CHARGES_H
#define LEY_BORN_CHARGES_H

/* Of q and of a charge of 1: the energy, and with LEY_FORCES what it has of slopes, and of forces
 * along their way. */
typedef struct charges {
    real energy, slope, along;
} charges;

LEY_FN charges charges_of(const own *o, int u, other a, real d2, real q, LEY_REFERENCE(sixteen) numbers)
{
    const real e = ley_exp2(d2 * o->second[u] * a.more.y), bb = o->first[u] * a.more.x, f2 = bb * e + d2,
               root = root_of(f2);
    charges c;
#if LEY_CUTOFF == LEY_BORN_CUT_NOT
    const real q_root = q * root;
#else
    const real q_root = d2 < (real)numbers.s4 ? q * root : (real)0;
#endif
#if LEY_SALT
    const real f = f2 * root, screened = numbers.sa * ley_exp2(numbers.s7 * f), v = numbers.s9 - screened;
    c.energy = q_root * v;
#else
    c.energy = q_root;
#endif
#if LEY_FORCES
#if LEY_SALT
    const real h = q_root * root * root * (v - screened * numbers.s8 * f);
#else
    const real h = q_root * root * root;
#endif
    const real he = h * e;
    c.slope = he * (bb + 0.25f * d2);
    c.along = h - 0.25f * he;
#endif
    return c;
}

/* Adds q times these. */
LEY_FN void add_charges(charges c, real q, real x, real y, real z, real *sum)
{
    sum[0] += q * c.energy;
#if LEY_FORCES
    const real along = q * c.along;
    sum[1] += q * c.slope;
    sum[2] += along * x;
    sum[3] += along * y;
    sum[4] += along * z;
#endif
}

#endif
