/* What a short-range job sums: which options make sense, a copy of them to keep, and the numbers
 * that an atom brings to a pair. */
#ifndef LEY_SHORT_RANGE_H
#define LEY_SHORT_RANGE_H

#include "expression/expression.h"
#include "leyden.h"

extern const ley_parameter_table short_range_parameters;

enum { SHORT_RANGE_NUMBERS = 3 }; /* of an atom, at most */

/* Whether its values are energies of a probe beside atoms, not potentials of charges. */
bool short_range_is_energy(ley_pair pair);

/* LEY_ERROR_USAGE when something that the pair function takes is out of the range that leyden.h
 * gives; what it does not take may be anything, but an expression is of LEY_PAIR_EXPRESSION only.
 * Units, dielectric, temperature and r_min are taken as they are. Depths, an array as long as there
 * are atoms, are left to short_range_check_atoms(). */
ley_status short_range_check(const ley_short_range *s, ley_error *error);

/* Of checked options with these atoms, for Lennard-Jones and Buckingham: LEY_ERROR_USAGE when a
 * depth is negative or not finite, LEY_ERROR_INPUT when an atom's value at r_min is so large that
 * no float holds the sum of some. */
ley_status short_range_check_atoms(const ley_short_range *s, const ley_atoms *atoms, double r_min_A, ley_error *error);

/* Of checked options: LEY_ERROR_USAGE when an expression that charges do more to than scale it has
 * no value, or too few digits in floats, for a charge of these atoms. */
ley_status short_range_check_charges(const ley_short_range *s, const ley_atoms *atoms, ley_error *error);

/* The caller's pair function, of LEY_PAIR_EXPRESSION, with "cutoff" (A), "kappa" (1/A),
 * "dielectric" and the caller's numbers. Errors: those of expression_create(); LEY_ERROR_USAGE when
 * a number takes one of these three names. */
ley_status short_range_expression(const ley_short_range *s, double dielectric, expression **made, ley_error *error);

/* A copy of checked options that owns what the pair function takes: expression and numbers, or
 * depths, of which there are as many as atoms. Arrays that it does not take are left out. To be
 * freed, also when this failed. */
ley_status short_range_copy(const ley_short_range *s, size_t atoms, ley_short_range *copy, ley_error *error);
void short_range_free(ley_short_range *copy);

/* How many numbers an atom brings, and what they are for atom j:
 *     Lennard-Jones  {A, B}     f = A/r^12 - B/r^6:      A = eps R^12, B = 2 eps R^6
 *     Buckingham     {A, B, C}  f = A exp(-B r) - C/r^6: A = eps 6 exp(z)/(z-6), B = z/R,
 *                               C = eps z R^6/(z-6); all 0 where R is 0
 *     else           {q}        f is to be multiplied by q, but for an expression, which takes it
 * C of the job is not in them. They need not fit floats. What is behind the last is set to 0. */
int short_range_number_count(ley_pair pair);
void short_range_numbers(const ley_short_range *s, const ley_atoms *atoms, size_t j,
                         double numbers[SHORT_RANGE_NUMBERS]);

/* Units of the map: "kcal/mol" for Lennard-Jones and Buckingham, else ley_units_name(). */
const char *short_range_units(const ley_short_range *s, ley_units units);

/* What is promised of the error at each point, against the sum of the absolute terms there:
 * accuracy_promise() of float sums, for terms are floats whatever the sum; and what places cost,
 * which are rounded as floats of the longest edge of a bin or a region, largest_A, where a function
 * is steepest, at r_min. */
double short_range_promise(const ley_short_range *s, ley_math math, double r_min_A, double largest_A);

/* How far rounding moves places of this size. */
double short_range_place_A(double largest_A);

/* What the sum is multiplied by: 1 for Lennard-Jones and Buckingham, else C. */
double short_range_constant(const ley_short_range *s, double coulomb_constant);

#endif
