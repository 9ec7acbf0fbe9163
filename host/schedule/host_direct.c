#include "schedule/host_direct.h"

#include "for_this_cpu.h"
#include "law/wide.h"

#include "spec.h"

#include <math.h>

bool host_direct_can(const reference_terms *t)
{
    const bool is_open = t->cell == NULL || t->cell->dimensions == 0;
    return t->law->is_coulomb && is_open && t->excluded_count == 0;
}

/* 1/sqrt(x) from that of a float by a step of Halley's, which triples its digits. Squares of
 * distances are floats: r_min is 1e-6 A or more, places are within 1e9 A. */
static inline __attribute__((always_inline)) double reciprocal_root(double x)
{
    const double y = 1.0f / sqrtf((float)x), e = 1 - x * y * y;
    return y + y * e * (0.5 + 0.375 * e);
}

static inline __attribute__((always_inline)) void add_atoms(bool is_screened, const reference_terms *t,
                                                            const host_direct_points *at, double *sum)
{
    const double *position_A = ley_atoms_positions_A(t->atoms), *charge_e = ley_atoms_charges_e(t->atoms),
                 least_A2 = t->r_min_A * t->r_min_A;
    for (size_t j = 0; j < ley_atoms_count(t->atoms); j++) {
        const double x_A = position_A[3 * j], y_A = position_A[3 * j + 1], z_A = position_A[3 * j + 2],
                     q_e = charge_e[j];
        for (int i = 0; i < HOST_DIRECT_POINTS; i++) {
            const double dx = at->x_A[i] - x_A, dy = at->y_A[i] - y_A, dz = at->z_A[i] - z_A;
            const double all_A2 = dx * dx + dy * dy + dz * dz, r_A2 = all_A2 < least_A2 ? least_A2 : all_A2,
                         root = reciprocal_root(r_A2);
            sum[i] += is_screened ? q_e * root * wide_exp(-t->kappa_per_A * (r_A2 * root)) : q_e * root;
        }
    }
}

/* Which of the two is known when they are compiled. */
FOR_THIS_CPU static void add_plain(const reference_terms *t, const host_direct_points *at, double *sum)
{
    add_atoms(false, t, at, sum);
}

FOR_THIS_CPU static void add_screened(const reference_terms *t, const host_direct_points *at, double *sum)
{
    add_atoms(true, t, at, sum);
}

void host_direct_sum(const reference_terms *t, const host_direct_points *at, double value[HOST_DIRECT_POINTS])
{
    double sum[HOST_DIRECT_POINTS] = {0};
    if (t->law->is_screened && t->kappa_per_A > 0)
        add_screened(t, at, sum);
    else
        add_plain(t, at, sum);
    for (int i = 0; i < HOST_DIRECT_POINTS; i++)
        value[i] = t->constant * sum[i];
}
