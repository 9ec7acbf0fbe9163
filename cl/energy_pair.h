/* What a pair of particles has, by the kinds LEY_LJ and LEY_ELECTRIC: host/leyden_energy.h says what
 * they are. r is the distance, c the cutoff, s where switching begins. A dialect header comes
 * first.
 *
 * cut  s0 c^2 (of no cutoff: any); of Lennard-Jones energies, where the kind needs it:
 *      shifted: s1 c^-6, s2 c^-12; switched: s1 s, s2 1/(c - s); CHARMM's: s1 s^2, s2 c^2,
 *      s3 (c^2 - s^2)^-3; CHARMM's force-switched: s1 s^2, s2 (s c)^-6, s3 (s c)^-3,
 *      s4 c^6/(c^6 - s^6), s5 c^3/(c^3 - s^3), s6 c^-6, s7 c^-3; GROMACS's force-switched: s1 s, of
 *      r^-12: s2 A/3, s3 B/4, s4 C, of r^-6: s5, s6, s7, as GROMACS's manual has A, B and C;
 *      of Coulomb energies: shifted: s8 1/c; CHARMM's: s8 1/c^2; reaction field: s8 k, s9 h;
 *      Ewald's: s8 the splitting beta */
#ifndef LEY_ENERGY_PAIR_H
#define LEY_ENERGY_PAIR_H

typedef struct {
    real lj, coulomb;
    real slope; /* of both: -dE/dr / r */
} pair_terms;

#if LEY_LJ != LEY_LJ_NONE
LEY_FN void ley_lennard_jones(pair_terms *t, real r2, real inverse, real inverse2, real a, real b,
                              LEY_REFERENCE(sixteen) cut)
{
    const real inverse6 = inverse2 * inverse2 * inverse2;
    real energy = inverse6 * (a * inverse6 - b), slope = 6 * inverse2 * inverse6 * (2 * a * inverse6 - b);
#if LEY_LJ == LEY_LJ_SHIFTED
    energy -= a * cut.s2 - b * cut.s1;
#elif LEY_LJ == LEY_LJ_SWITCHED
    const real x = LEY_MIN(LEY_MAX((r2 * inverse - cut.s1) * cut.s2, (real)0), (real)1), x2 = x * x, back = 1 - x,
               s = 1 + x2 * x * (x * (15 - 6 * x) - 10);
    slope = slope * s + energy * 30 * x2 * back * back * cut.s2 * inverse;
    energy *= s;
#elif LEY_LJ == LEY_LJ_SWITCHED_CHARMM
    const real u = LEY_MAX(r2, (real)cut.s1), d = (cut.s2 - u) * cut.s3;
    const real s = d * (cut.s2 - u) * (cut.s2 + 2 * u - 3 * cut.s1);
    slope = slope * s - 12 * energy * d * (cut.s1 - u);
    energy *= s;
#elif LEY_LJ == LEY_LJ_FORCE_SWITCHED_CHARMM
    const real inverse3 = inverse * inverse2, d6 = inverse6 - cut.s6, d3 = inverse3 - cut.s7;
    const real far_a = a * cut.s4 * d6, far_b = b * cut.s5 * d3;
    slope = r2 < cut.s1 ? slope : inverse2 * (12 * far_a * inverse6 - 6 * far_b * inverse3);
    energy = r2 < cut.s1 ? energy - a * cut.s2 + b * cut.s3 : far_a * d6 - far_b * d3;
#elif LEY_LJ == LEY_LJ_FORCE_SWITCHED_GROMACS
    const real x = LEY_MAX(r2 * inverse - cut.s1, (real)0), x2 = x * x;
    energy -= a * (x2 * x * (cut.s2 + x * cut.s3) + cut.s4) - b * (x2 * x * (cut.s5 + x * cut.s6) + cut.s7);
    slope += inverse * x2 * (a * (3 * cut.s2 + 4 * x * cut.s3) - b * (3 * cut.s5 + 4 * x * cut.s6));
#endif
    t->lj = energy;
    t->slope += slope;
}
#endif

#if LEY_ELECTRIC != LEY_ELECTRIC_NONE
LEY_FN void ley_coulomb(pair_terms *t, real r2, real inverse, real inverse2, real qq, LEY_REFERENCE(sixteen) cut)
{
#if LEY_ELECTRIC == LEY_ELECTRIC_SHIFTED
    t->coulomb = qq * (inverse - cut.s8);
    t->slope += qq * inverse * inverse2;
#elif LEY_ELECTRIC == LEY_ELECTRIC_SHIFTED_CHARMM
    const real s = 1 - r2 * cut.s8, v = qq * inverse * s;
    t->coulomb = v * s;
    t->slope += v * (s * inverse2 + 4 * cut.s8);
#elif LEY_ELECTRIC == LEY_ELECTRIC_REACTION_FIELD
    t->coulomb = qq * (inverse + r2 * cut.s8 - cut.s9);
    t->slope += qq * (inverse * inverse2 - 2 * cut.s8);
#else
    t->coulomb = qq * inverse;
    t->slope += qq * inverse * inverse2;
#endif
}
#endif

/* Of a squared distance, the product of charges times Coulomb's constant, and the numbers of the
 * Lennard-Jones energy a/r^12 - b/r^6. */
LEY_FN pair_terms ley_pair_terms(real r2, real qq, real a, real b, LEY_REFERENCE(sixteen) cut)
{
    pair_terms t = {(real)0, (real)0, (real)0};
    const real inverse = ley_unscaled_root(r2) * LEY_ROOT_SCALE, inverse2 = inverse * inverse;
#if LEY_LJ != LEY_LJ_NONE
    ley_lennard_jones(&t, r2, inverse, inverse2, a, b, cut);
#endif
#if LEY_ELECTRIC != LEY_ELECTRIC_NONE
    ley_coulomb(&t, r2, inverse, inverse2, qq, cut);
#endif
#if LEY_CUT
    t.lj = r2 < cut.s0 ? t.lj : (real)0;
    t.coulomb = r2 < cut.s0 ? t.coulomb : (real)0;
    t.slope = r2 < cut.s0 ? t.slope : (real)0;
#endif
    return t;
}

#endif
