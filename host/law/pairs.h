/* Pairs within a cutoff, of atoms and all their images. */
#ifndef LEY_LAW_PAIRS_H
#define LEY_LAW_PAIRS_H

#include "law/law.h"

extern const law law_pairs;

/* A short-range sum at one point: phi(r) = constant sum q_j f(max(d, r_min)) over all atoms and all
 * their images at distances d < a; `e` is the expression where there is one. Pairs within 1e-6 a of
 * the cutoff may count or not: that is between lower and higher; of functions that vanish there,
 * what a change of the distance by LEY_PLACE of it does (cl/laws/pairs.h). A Lennard-Jones or
 * Buckingham pair has two terms, its repulsion and its attraction; any other pair has one. Not a
 * number when the cell is degenerate. */
reference_value reference_short_range(const ley_atoms *atoms, const ley_short_range *s, const expression *e,
                                      const double point_A[3], double constant, double r_min_A);

/* What an atom does at a distance, of a pair function, without the constant. */
ley_term reference_pair_term(const reference_terms *terms, size_t atom, double r_A);

/* Less its derivative. */
ley_term reference_slope_term(const reference_terms *terms, size_t atom, double r_A);

/* eps of atom j beside the probe, kcal/mol. */
double reference_eps(const ley_short_range *s, size_t j);

/* What the pair function takes beside, k of LEY_PAIR_TERM_...: kappa, or else the steepness. */
double reference_parameter(const ley_short_range *s);

/* By which share of themselves distances are off, where the function vanishes at the cutoff: all
 * that lies between lower and higher is what that does. 0: the function does not. */
double reference_place(const reference_terms *terms);

/* Where the images are that a short-range sum looks at, as reference.cl reads it: for each axis
 * {vector, 0} and {dual vector, how many vectors the reach is; negative: not periodic along it}.
 * False for a cell without volume. */
bool reference_cell(const reference_terms *terms, double axes[6][4]);

#endif
