/* Every method in plain double precision, written from its formula and nothing else: the judge of
 * the kernels. */
#ifndef LEY_LAW_REFERENCE_H
#define LEY_LAW_REFERENCE_H

#include "expression/expression.h"
#include "law/periodic.h"
#include "leyden.h"

#include <stdatomic.h>

/* A sum at a point: its value, and the sum of the absolute values of its terms, in the same unit,
 * which is what errors are judged against: where terms nearly cancel, a float sum has the digits
 * of its terms. Of a long-range sum that is the root of the sum of its squared terms, each with
 * what its limit is (ley_long_range_allowed() of cl/terms.h), and the value's magnitude: the
 * errors of meshes are random from charge to charge, and the sum of absolute terms, which grows
 * with the molecule while the potential does not, would hide a wrong mesh. Where rounding
 * decides whether a term counts, the value may be lower by as much as `lower` (<= 0) and higher by
 * as much as `higher` (>= 0). */
typedef struct reference_value {
    double value, absolute, lower, higher;
} reference_value;

/* Direct Coulomb summation at one point: phi(r) = C sum_j q_j / max(|r - r_j|, r_min), C as in
 * ley_coulomb_constant(). */
reference_value reference_dcs(const ley_atoms *atoms, const double point_A[3], double coulomb_constant, double r_min_A);

/* Multiple Debye-Hueckel at one point, in kT/e: phi(r) = C/eps_s sum_j q_j/d_j exp(-kappa (d_j -
 * R_j)) / (1 + kappa R_j), without the screening where kappa < 1e-9/A. Infinite on an atom with a
 * charge; an atom without one counts for nothing, wherever it is. */
reference_value reference_mdh(const ley_atoms *atoms, const double point_A[3], const ley_solvent *solvent);

/* Single Debye-Hueckel at one point, in kT/e: charge, dipole and quadrupole about the centre of the
 * atoms' bounding box, of a sphere of radius max |r_j - c| + R_j. Not finite at the centre. Source:
 * the Debye-Hueckel field of a sphere's multipoles, as APBS has it. */
double reference_sdh(const ley_atoms *atoms, const double point_A[3], const ley_solvent *solvent);

/* A short-range sum at one point: phi(r) = constant sum q_j f(max(d, r_min)) over all atoms and all
 * their images at distances d < a; `e` is the expression where there is one. Pairs within 1e-6 a of
 * the cutoff may count or not: that is between lower and higher; of functions that vanish there,
 * what a change of the distance by LEY_PLACE of it does (cl/terms.h). A Lennard-Jones or Buckingham
 * pair has two terms, its repulsion and its attraction; any other pair has one. Not a number when
 * the cell is degenerate. */
reference_value reference_short_range(const ley_atoms *atoms, const ley_short_range *s, const expression *e,
                                      const double point_A[3], double constant, double r_min_A);

/* What a job sums, whatever its method: term LEY_TERM_... of cl/spec.h, or a ley_pair with
 * `range`. */
typedef struct reference_terms {
    int term;
    double constant; /* in front of the sum */
    const ley_atoms *atoms;
    double r_min_A;
    double kappa_per_A;           /* of LEY_TERM_MDH and LEY_TERM_LONG_RANGE */
    const ley_short_range *range; /* of a pair function */
    const expression *formula;    /* of LEY_PAIR_EXPRESSION */
    const expression *slope;      /* its derivative; NULL: nobody asks for the field */
    double largest_A;             /* of a pair function: places are rounded by this size, if beyond the cutoff's */
    const cell *cell;             /* of LEY_TERM_LONG_RANGE: along which charges have images; NULL: none */
    ley_long_range_shares shares; /* of LEY_TERM_LONG_RANGE */
    double near_A;                /* with images: how far their squared terms count */
    double field_per_A;           /* and of the field: what a charge's may be off by, of q/r; */
    double field_share;           /* of q/r^2, and of the field itself */
    periodic_sum *images;         /* made by reference_begin() */
    const int64_t *excluded;      /* atoms whose nearest image does not count at the place at hand, ascending, */
    size_t excluded_count;        /* so many */
} reference_terms;

/* Before the first sum, and after the last one: makes what sums over all images take, for about so
 * many points. Errors: those of periodic_sum_create(), when there is nothing to end. */
ley_status reference_begin(reference_terms *terms, size_t points, const atomic_bool *cancelled, ley_error *error);
void reference_end(reference_terms *terms);

/* About how long a core takes for so many points of a sum over all images, in s. */
double reference_images_seconds(const reference_terms *terms, size_t points);

/* The sum at a point. */
reference_value reference_sum(const reference_terms *terms, const double point_A[3]);

/* What errors are judged against, of a sum of values and of what is summed beside them, without the
 * constant: of a long-range sum these are squares. */
double reference_scale(const reference_terms *terms, double value, double absolute);

/* `place` of cl/terms.h: LEY_PLACE, or more where places are rounded by more than the cutoff's
 * size. */
double reference_place(const reference_terms *terms);

/* Calls for each pair of a short-range sum, images included, that is within the cutoff or so close
 * to it that rounding may bring it there: the atom, the way from it to the point, and how long that
 * is. False: the cell has no volume. */
typedef void reference_pair(void *context, size_t atom, const double way_A[3], double r_A);
bool reference_pairs(const reference_terms *terms, const double point_A[3], reference_pair *visit, void *context);

/* What an atom does at a distance, of a pair function, without the constant. */
ley_term reference_pair_term(const reference_terms *terms, size_t atom, double r_A);

/* Of a long-range sum, in units of the constant: takes the nearest images of excluded atoms from a
 * value and a field, which may be NULL; what that changes the squares by. */
double reference_exclude(const reference_terms *terms, const double point_A[3], double *value, double field[3]);

/* The square that an excluded atom is allowed, whose nearest image is that far: meshes have
 * brought its smooth part all the same, which is off as that of others is. It counts as one that is
 * half a cutoff away. */
double reference_excluded_squares(const reference_terms *terms, size_t atom, double r_A);

/* Whether the nearest image of an atom does not count. */
bool reference_excludes(const reference_terms *terms, size_t atom);

/* eps of atom j beside the probe, kcal/mol. */
double reference_eps(const ley_short_range *s, size_t j);

/* What the pair function takes beside, k of LEY_PAIR_TERM_...: kappa, or else the steepness. */
double reference_parameter(const ley_short_range *s);

/* Whether two double-precision sums at one point are the same but for rounding. */
bool reference_agrees(const reference_value *a, const reference_value *b);

/* Where the images are that a short-range sum looks at, as reference.cl reads it: for each axis
 * {vector, 0} and {dual vector, how many vectors the reach is; negative: not periodic along it}.
 * False for a cell without volume. */
bool reference_cell(const reference_terms *terms, double axes[6][4]);

#endif
