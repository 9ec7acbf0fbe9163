/* Long-range sums without screening in open space, at several points in one pass over the atoms.
 * Loops are over points, of which compilers make vectors; each point's terms are those of
 * ley_long_range_term(), added in the same order. The Makefile sees to it that no product and sum
 * are contracted, so that every processor computes the same bytes. */
#include "law/long_range_block.h"

#include "for_this_cpu.h"
#include "law/reference.h"
#include "laws/long_range.h"

#include <math.h>
#include <string.h>

enum { LANES = LONG_RANGE_BLOCK };

typedef struct block {
    double x_A[LANES], y_A[LANES], z_A[LANES], value[LANES], squares[LANES];
} block;

/* Atoms in front of n, as far as all points are beyond contact with them: where that ends. */
FOR_THIS_CPU static size_t add_far_atoms(block *b, const double *position_A, const double *charge_e, double least_A,
                                         size_t j, size_t n)
{
    for (; j < n; j++) {
        double r_A[LANES], nearest_A = INFINITY;
        for (int i = 0; i < LANES; i++) {
            const double dx = b->x_A[i] - position_A[3 * j], dy = b->y_A[i] - position_A[3 * j + 1],
                         dz = b->z_A[i] - position_A[3 * j + 2];
            r_A[i] = sqrt(dx * dx + dy * dy + dz * dz);
        }
        for (int i = 0; i < LANES; i++)
            nearest_A = r_A[i] < nearest_A ? r_A[i] : nearest_A;
        if (!(nearest_A >= least_A))
            return j;
        for (int i = 0; i < LANES; i++) {
            const double term = charge_e[j] / r_A[i];
            b->value[i] += term;
            b->squares[i] += term * term;
        }
    }
    return n;
}

static void add_near_atom(block *b, const reference_terms *t, size_t j)
{
    const double *atom_A = ley_atoms_positions_A(t->atoms) + 3 * j;
    for (int i = 0; i < LANES; i++) {
        const double dx = b->x_A[i] - atom_A[0], dy = b->y_A[i] - atom_A[1], dz = b->z_A[i] - atom_A[2];
        const ley_term term = ley_long_range_term(ley_atoms_charges_e(t->atoms)[j], sqrt(dx * dx + dy * dy + dz * dz),
                                                  t->r_min_A, t->kappa_per_A, t->shares);
        b->value[i] += term.value;
        b->squares[i] += term.absolute;
    }
}

void long_range_block(const reference_terms *t, size_t count, const double (*point_A)[3], reference_value *values)
{
    const double least_A = fmax(t->r_min_A, LEY_CONTACT);
    const size_t n = ley_atoms_count(t->atoms);
    block b = {.value = {0}};
    for (size_t i = 0; i < LANES; i++) {
        const double *at_A = point_A[i < count ? i : 0];
        b.x_A[i] = at_A[0];
        b.y_A[i] = at_A[1];
        b.z_A[i] = at_A[2];
    }
    for (size_t j = 0; j < n; j++) {
        j = add_far_atoms(&b, ley_atoms_positions_A(t->atoms), ley_atoms_charges_e(t->atoms), least_A, j, n);
        if (j < n)
            add_near_atom(&b, t, j);
    }
    for (size_t i = 0; i < count; i++)
        values[i] = (reference_value){.value = t->constant * b.value[i],
                                      .absolute = fabs(t->constant) * reference_scale(t, b.value[i], b.squares[i])};
}

FOR_THIS_CPU static bool add_far_lanes(const double *position_A, const double *charge_e, const double point_A[3],
                                       double least_A, long_range_lanes *sum)
{
    double x_A[LANES], y_A[LANES], z_A[LANES], r2[LANES], nearest2 = INFINITY;
    for (int i = 0; i < LANES; i++) {
        x_A[i] = point_A[0] - position_A[3 * i];
        y_A[i] = point_A[1] - position_A[3 * i + 1];
        z_A[i] = point_A[2] - position_A[3 * i + 2];
        r2[i] = x_A[i] * x_A[i] + y_A[i] * y_A[i] + z_A[i] * z_A[i];
    }
    for (int i = 0; i < LANES; i++)
        nearest2 = r2[i] < nearest2 ? r2[i] : nearest2;
    if (!(nearest2 >= least_A * least_A))
        return false;
    for (int i = 0; i < LANES; i++) {
        const double inverse_r2 = 1 / r2[i], charge2 = charge_e[i] * charge_e[i],
                     slope = charge_e[i] * inverse_r2 * sqrt(inverse_r2);
        sum->field[0][i] += slope * x_A[i];
        sum->field[1][i] += slope * y_A[i];
        sum->field[2][i] += slope * z_A[i];
        sum->squares[i] += charge2 * inverse_r2;
        sum->field_squares[i] += charge2 * inverse_r2 * inverse_r2;
    }
    return true;
}

bool long_range_add_lanes(const double *position_A, const double *charge_e, const double point_A[3], double least_A,
                          long_range_lanes *sum)
{
    return add_far_lanes(position_A, charge_e, point_A, least_A, sum);
}
