#include "law/dcs.h"

#include "law/reference.h"
#include "laws/dcs.h"

#include <math.h>

reference_value reference_dcs(const ley_atoms *atoms, const double point_A[3], double coulomb_constant, double r_min_A)
{
    const size_t n = ley_atoms_count(atoms);
    const double *position_A = ley_atoms_positions_A(atoms), *charge_e = ley_atoms_charges_e(atoms);
    reference_value sum = {0};
    for (size_t j = 0; j < n; j++) {
        const double dx = point_A[0] - position_A[3 * j], dy = point_A[1] - position_A[3 * j + 1],
                     dz = point_A[2] - position_A[3 * j + 2];
        reference_add(&sum, coulomb_constant, ley_dcs_term(charge_e[j], sqrt(dx * dx + dy * dy + dz * dz), r_min_A));
    }
    return sum;
}

/* But for atoms that do not count. */
static reference_value dcs_sum(const reference_terms *t, const double point_A[3])
{
    if (t->excluded_count == 0)
        return reference_dcs(t->atoms, point_A, t->constant, t->r_min_A);
    reference_value sum = {0};
    for (size_t j = 0; j < ley_atoms_count(t->atoms); j++) {
        const double *atom_A = ley_atoms_positions_A(t->atoms) + 3 * j, dx = point_A[0] - atom_A[0],
                     dy = point_A[1] - atom_A[1], dz = point_A[2] - atom_A[2];
        if (!reference_excludes(t, j))
            reference_add(
                &sum, t->constant,
                ley_dcs_term(ley_atoms_charges_e(t->atoms)[j], sqrt(dx * dx + dy * dy + dz * dz), t->r_min_A));
    }
    return sum;
}

static void dcs_field(const reference_terms *t, const double point_A[3], reference_value field[3])
{
    for (size_t j = 0; j < ley_atoms_count(t->atoms); j++) {
        const double *atom_A = ley_atoms_positions_A(t->atoms) + 3 * j;
        const double way_A[3] = {point_A[0] - atom_A[0], point_A[1] - atom_A[1], point_A[2] - atom_A[2]};
        const double r_A = sqrt(way_A[0] * way_A[0] + way_A[1] * way_A[1] + way_A[2] * way_A[2]);
        const bool counts = r_A >= t->r_min_A, is_edge = reference_is_at_r_min(t, r_A, 0);
        if (r_A > 0 && (counts || is_edge) && !(t->excluded_count > 0 && reference_excludes(t, j)))
            reference_add_way(t, field, way_A, r_A, ley_single_term(ley_atoms_charges_e(t->atoms)[j] / (r_A * r_A)),
                              counts, is_edge);
    }
}

static long double second(const reference_terms *t, size_t atom, long double r_A)
{
    return ley_atoms_charges_e(t->atoms)[atom] / fmaxl(r_A, t->r_min_A);
}

static void numbers(const reference_terms *t, double to[4])
{
    to[0] = t->r_min_A;
}

const law law_dcs = {.name = "dcs",
                     .number = LEY_LAW_DCS,
                     .value = dcs_sum,
                     .field = dcs_field,
                     .numbers = numbers,
                     .second = second,
                     .is_coulomb = true};
