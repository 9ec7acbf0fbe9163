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

enum { LANES = LONG_RANGE_BLOCK, STRETCH = 32 };

/* Squares of distances that are rounded. */
static const double beyond = 1 + 1e-9;

typedef struct block {
    double x_A[LANES], y_A[LANES], z_A[LANES], value[LANES], squares[LANES];
} block;

/* Atoms [j, n), a stretch, where all points are beyond contact with each; false, and nothing
 * is added: one of them may be nearer. */
FOR_THIS_CPU static bool add_far_atoms(block *to, const double *position_A, const double *charge_e, double least_A,
                                       size_t j, size_t n)
{
    block b = *to;
    double nearest2[LANES], least2 = INFINITY;
    for (int i = 0; i < LANES; i++)
        nearest2[i] = INFINITY;
    for (; j < n; j++) {
        const double x_A = position_A[3 * j], y_A = position_A[3 * j + 1], z_A = position_A[3 * j + 2], q = charge_e[j];
        for (int i = 0; i < LANES; i++) {
            const double dx = b.x_A[i] - x_A, dy = b.y_A[i] - y_A, dz = b.z_A[i] - z_A;
            const double r2 = dx * dx + dy * dy + dz * dz, term = q / sqrt(r2);
            nearest2[i] = r2 < nearest2[i] ? r2 : nearest2[i];
            b.value[i] += term;
            b.squares[i] += term * term;
        }
    }
    for (int i = 0; i < LANES; i++)
        least2 = nearest2[i] < least2 ? nearest2[i] : least2;
    if (!(least2 > beyond * least_A * least_A))
        return false;
    *to = b;
    return true;
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
    for (size_t j = 0, end; j < n; j = end) {
        end = j + STRETCH < n ? j + STRETCH : n;
        const bool is_far =
            add_far_atoms(&b, ley_atoms_positions_A(t->atoms), ley_atoms_charges_e(t->atoms), least_A, j, end);
        for (size_t k = j; k < end && !is_far; k++)
            add_near_atom(&b, t, k);
    }
    for (size_t i = 0; i < count; i++)
        values[i] = (reference_value){.value = t->constant * b.value[i],
                                      .absolute = fabs(t->constant) * reference_scale(t, b.value[i], b.squares[i])};
}

FOR_THIS_CPU static bool add_far_lanes(const double *position_A, const double *charge_e, const double point_A[3],
                                       double least_A, long_range_lanes *restrict sum)
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
