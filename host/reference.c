#include "reference.h"

#include <math.h>

double reference_dcs(const ley_atoms *atoms, const double point_A[3], double coulomb_constant, double r_min_A)
{
    const size_t n = ley_atoms_count(atoms);
    const double *position_A = ley_atoms_positions_A(atoms), *charge_e = ley_atoms_charges_e(atoms);
    double sum = 0;
    for (size_t j = 0; j < n; j++) {
        const double dx = point_A[0] - position_A[3 * j], dy = point_A[1] - position_A[3 * j + 1],
                     dz = point_A[2] - position_A[3 * j + 2];
        const double r_A = sqrt(dx * dx + dy * dy + dz * dz);
        sum += charge_e[j] / (r_A < r_min_A ? r_min_A : r_A);
    }
    return coulomb_constant * sum;
}
