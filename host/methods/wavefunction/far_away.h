/* A molecule from far away: its multipoles, of the nuclei and the electrons together, about the
 * centre of the nuclei. */
#ifndef LEY_WAVEFUNCTION_FAR_AWAY_H
#define LEY_WAVEFUNCTION_FAR_AWAY_H

#include "source/wavefunction.h"

enum { FAR_POWERS = 9 /* up to x^8 */ };

typedef double far_moments[FAR_POWERS][FAR_POWERS][FAR_POWERS];

/* Integrals of the charge times x^i y^j z^k about a centre, i + j + k < FAR_POWERS; how far from
 * there its parts have their own centres; and from where on they are multipoles, in bohr. */
typedef struct far_away {
    double centre[3], extent, beyond;
    far_moments moments;
    double reach; /* from where on the moments alone are right: by 1e-9 hartree/e */
} far_away;

static inline double factorial_of(int n)
{
    double made = 1;
    for (int i = 2; i <= n; i++)
        made *= i;
    return made;
}

/* About the centre of the nuclei, without moments. */
far_away far_away_begin(const ley_wavefunction *wavefunction);

/* Adds the nuclei; then `reach` is known. */
void far_away_finish(const ley_wavefunction *wavefunction, far_away *made);

/* The potential and the field at a point, hartree/e and hartree/(e bohr); false: it is nearer. */
bool far_away_values(const far_away *from, const double point_bohr[3], double values[4]);

#endif
