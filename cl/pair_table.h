/* The pair functions of the cutoff method, one row each: what an atom adds at a point that is
 * nearer than the cutoff a.
 *
 * This is the file to open when a function is to be added; docs/short-range.md walks through it.
 * A function NAME has
 *   - a row here, with a number of its own, and LEY_PAIR_NAME of that number in host/leyden.h;
 *   - LEY_PAIR_VALUE_NAME and LEY_PAIR_CONSTANTS_NAME in pair_formulas.h: the formula that kernels
 *     and the host's serial loop compute;
 *   - LEY_PAIR_SLOPE_NAME there: its derivative, for fields;
 *   - LEY_PAIR_TERM_NAME and LEY_PAIR_SLOPE_TERM_NAME in laws/pairs.h: the same two in plain double
 *     precision, by which all of them are judged. They are written apart from the kernels' on
 *     purpose: neither may be derived from the other.
 * All else is made from the rows: enumerations, checks, messages, the command's names and help,
 * switches and tests. A row that lacks one of its pieces does not compile. Preprocessor only, so
 * that C11, OpenCL C and CUDA C read the same lines.
 *
 * The columns of ROW(of, number, NAME, name, brings, traits, zero, near, scaling, steepness,
 * formula); `of` is whatever the list was given, for its reader's use:
 *   number     the function's: LEY_PAIR of kernels, ley_pair of the library. Numbers go up from 0
 *              without a gap, and no function ever gets another one.
 *   name       as the command's --pair takes it
 *   brings     what an atom brings to its pairs: LEY_BRINGS_... This decides the map's unit, too.
 *   traits     parameters that the function takes, and what else is special about it:
 *              LEY_TAKES_... | LEY_IS_..., or 0
 *   zero       the order of its zero at the cutoff, (a - r)^zero; 0: it does not vanish there, but
 *              jumps
 *   near       cancels: next to the cutoff the kernels' formula is a small difference of large
 *              numbers. Such a function has LEY_PAIR_FACTORED_NAME and LEY_PAIR_PLAIN_SLOPE_NAME in
 *              pair_formulas.h and OUTER_FROM_NAME in host/methods/cutoff/serial_pairs.c, too; and
 *              where `zero` is odd, its kernels' formula is negative everywhere behind the cutoff.
 *              keeps: every other one
 *   scaling    what becomes of a factor in 1/r: LEY_SCALES_...
 *   steepness  by how much of itself the function may change in an Angstrom, at r and beyond: of r,
 *              kappa and z (the steepness of an exponential), in doubles of the host
 *   formula    for people */
#ifndef LEY_PAIR_TABLE_H
#define LEY_PAIR_TABLE_H

/* What an atom brings: the numbers that ley_pair_value() has as first, second and third. */
#define LEY_BRINGS_CHARGE 0   /* {q}: the value is multiplied by it, and by C: a potential, in the job's units */
#define LEY_BRINGS_ARGUMENT 1 /* {q}: the function takes it; the value is multiplied by C alone */
#define LEY_BRINGS_POWERS 2   /* {A, B} of A/r^12 - B/r^6: an energy beside a probe, in kcal/mol, of radius and depth */
#define LEY_BRINGS_EXP6 3     /* {A, B, C} of A exp(-B r) - C/r^6: the same */
#define LEY_IS_ENERGY(brings) ((brings) >= LEY_BRINGS_POWERS)

/* Traits. */
#define LEY_TAKES_KAPPA 1     /* kappa_per_A */
#define LEY_TAKES_PROBE 2     /* probe_radius_A, probe_depth_kcal_mol and the atoms' depths */
#define LEY_TAKES_STEEPNESS 4 /* steepness */
#define LEY_TAKES_NUMBERS 8   /* named numbers of the caller's */
#define LEY_IS_SCREENED 16    /* by exp(-kappa r), and so next to nothing far away: kappa must be given */
#define LEY_IS_OF_MEDIUM 32   /* it says itself how the permittivity goes with the distance */

/* Where 1/r is multiplied by a factor, the value is multiplied by it, too: */
#define LEY_SCALES_ALL 2  /* if the function's constants are as well: it is linear in all of them */
#define LEY_SCALES_ROOT 1 /* with the constants as they are */
#define LEY_SCALES_NOT 0  /* no: it depends otherwise on 1/r, as by powers, and so on the errors of roots */

/* clang-format off */
#define LEY_PAIR_FUNCTIONS(ROW, of) \
    ROW(of, 0, COULOMB, "coulomb", LEY_BRINGS_CHARGE, 0, 0, keeps, LEY_SCALES_ALL, 1 / r, "1/r") \
    ROW(of, 1, SHIFTED, "shifted", LEY_BRINGS_CHARGE, 0, 2, keeps, LEY_SCALES_ROOT, 1 / r, "(1 - s)^2 / r") \
    ROW(of, 2, TAYLOR2, "taylor2", LEY_BRINGS_CHARGE, 0, 3, cancels, LEY_SCALES_ALL, 1 / r, \
        "1/r - (15/8 - 5/4 s + 3/8 s^2) / a") \
    ROW(of, 3, TAYLOR3, "taylor3", LEY_BRINGS_CHARGE, 0, 4, cancels, LEY_SCALES_ALL, 1 / r, \
        "1/r - (35/16 - 35/16 s + 21/16 s^2 - 5/16 s^3) / a") \
    ROW(of, 4, TAYLOR4, "taylor4", LEY_BRINGS_CHARGE, 0, 5, cancels, LEY_SCALES_ALL, 1 / r, \
        "1/r - (315/128 - 105/32 s + 189/64 s^2 - 45/32 s^3 + 35/128 s^4) / a") \
    ROW(of, 5, YUKAWA, "yukawa", LEY_BRINGS_CHARGE, LEY_TAKES_KAPPA | LEY_IS_SCREENED, 0, keeps, LEY_SCALES_NOT, \
        1 / r + kappa, "exp(-kappa r) / r") \
    ROW(of, 6, DISTANCE_DIELECTRIC, "distance-dielectric", LEY_BRINGS_CHARGE, LEY_IS_OF_MEDIUM, 0, keeps, \
        LEY_SCALES_NOT, 2 / r, "1/r^2") \
    ROW(of, 7, LENNARD_JONES, "lennard-jones", LEY_BRINGS_POWERS, LEY_TAKES_PROBE, 0, keeps, LEY_SCALES_NOT, \
        12 / r, "eps ((R/r)^12 - 2 (R/r)^6)") \
    ROW(of, 8, BUCKINGHAM, "buckingham", LEY_BRINGS_EXP6, LEY_TAKES_PROBE | LEY_TAKES_STEEPNESS, 0, keeps, \
        LEY_SCALES_NOT, z / r, "eps (6/(z-6) exp(z (1 - r/R)) - z/(z-6) (R/r)^6)")

/* The caller's own, which has no name and no formula here: it may be as steep as 1/r^4. */
#define LEY_PAIR_OWN(ROW, of) \
    ROW(of, 9, EXPRESSION, "expression", LEY_BRINGS_ARGUMENT, LEY_TAKES_KAPPA | LEY_TAKES_NUMBERS, 0, keeps, \
        LEY_SCALES_NOT, 4 / r + kappa, "an expression of r, r2 and q")
/* clang-format on */

#define LEY_PAIR_ROWS(ROW, of) LEY_PAIR_FUNCTIONS(ROW, of) LEY_PAIR_OWN(ROW, of)

/* Numbers of what a bench counts with, which are no functions: 1 for every atom, multiplied by
 * nothing. */
#define LEY_PAIR_SPEC_INSIDE 90 /* counts the atoms within the cutoff */
#define LEY_PAIR_SPEC_TESTED 91 /* also those beyond: counts the distances that a kernel computes */

/* ---- A row's properties by its number: for #if, and for C ------------------------------------ */

#define LEY_CANCELS_keeps 0
#define LEY_CANCELS_cancels 1

#define LEY_ROW_BRINGS(of, number, NAME, name, brings, traits, zero, near, scaling, steepness, formula) \
    (of) == (number) ? (brings) :
#define LEY_ROW_TRAITS(of, number, NAME, name, brings, traits, zero, near, scaling, steepness, formula) \
    (of) == (number) ? (traits) :
#define LEY_ROW_ZERO(of, number, NAME, name, brings, traits, zero, near, scaling, steepness, formula) \
    (of) == (number) ? (zero) :
#define LEY_ROW_CANCELS(of, number, NAME, name, brings, traits, zero, near, scaling, steepness, formula) \
    (of) == (number) ? LEY_CANCELS_##near :
#define LEY_ROW_SCALING(of, number, NAME, name, brings, traits, zero, near, scaling, steepness, formula) \
    (of) == (number) ? (scaling) :

/* Of numbers that are no function's: what suits counting. */
#define LEY_BRINGS_OF(pair) (LEY_PAIR_ROWS(LEY_ROW_BRINGS, pair) LEY_BRINGS_ARGUMENT)
#define LEY_TRAITS_OF(pair) (LEY_PAIR_ROWS(LEY_ROW_TRAITS, pair) 0)
#define LEY_ZERO_OF(pair) (LEY_PAIR_ROWS(LEY_ROW_ZERO, pair) 0)
#define LEY_CANCELS_OF(pair) (LEY_PAIR_ROWS(LEY_ROW_CANCELS, pair) 0)
#define LEY_SCALING_OF(pair) (LEY_PAIR_ROWS(LEY_ROW_SCALING, pair) LEY_SCALES_NOT)

/* Whether the kernels' formula is positive before the cutoff and negative behind it, so that no
 * distance need be tested. */
#define LEY_ENDS_OF(pair) (LEY_CANCELS_OF(pair) && LEY_ZERO_OF(pair) % 2 == 1)

/* Numbers of an atom beside its first one, {x, y, z, first}: in an array of their own. */
#define LEY_PAIR_MORE(pair) \
    (LEY_BRINGS_OF(pair) == LEY_BRINGS_POWERS ? 1 : LEY_BRINGS_OF(pair) == LEY_BRINGS_EXP6 ? 2 : 0)

#endif
