/* Charges from far away: their multipoles, of an atom's nucleus and electrons together, or of a
 * whole molecule. Around a centre C
 *
 *     V(r) = sum over i + j + k <= FAR_ORDER of a_ijk d^ijk/dC 1/|r - C|
 *
 * where a_ijk is the integral of the charge times x^i y^j z^k / (i! j! k!) but for a part that no
 * potential depends on. */
#ifndef LEY_WAVEFUNCTION_FAR_AWAY_H
#define LEY_WAVEFUNCTION_FAR_AWAY_H

#include <stdbool.h>

enum { FAR_ORDER = 8, FAR_POWERS = FAR_ORDER + 1 };

typedef double far_moments[FAR_POWERS][FAR_POWERS][FAR_POWERS];

typedef struct far_away {
    double centre[3], beyond; /* bohr; from `beyond` on its parts are multipoles */
    double left_out; /* at R from the centre orders that are left out are no more than this / R^(FAR_ORDER + 2) */
    double reach;    /* from where on the moments alone are right */
    far_moments moments;
} far_away;

/* Adds what has the coefficients a_ijk = part[(i edge + j) edge + k], i + j + k <= order, around a
 * centre from which on it is right from `beyond` bohr on. */
void far_away_add(far_away *to, const double centre[3], const double *part, int edge, int order, double beyond);

/* Adds another one's moments. */
void far_away_join(far_away *to, const far_away *part);

/* From where on the potential is off by less than `most`, hartree/e, and the field by less than
 * that over a bohr: `reach`, 1 at least. */
void far_away_finish(far_away *made, double most);

/* The potential and the field at a point, hartree/e and hartree/(e bohr); false: it is nearer. */
bool far_away_values(const far_away *from, const double point_bohr[3], double values[4]);

/* The potential at (x, y, z) = (r - C)/reach, with q = x^2 + y^2 + z^2, is the sum over n of
 * (2n - 1)!!/2^n q^-(n + 1/2) times a polynomial of terms of degree n alone: their coefficients, n
 * first, then i and j of x^i y^j z^(n - i - j). */
enum { FAR_COEFFICIENTS = FAR_POWERS * (FAR_POWERS + 1) * (FAR_POWERS + 2) / 6 };
void far_away_coefficients(const far_away *from, float coefficients[FAR_COEFFICIENTS]);

#endif
