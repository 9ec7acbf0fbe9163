#include "law/energy_ewald.h"
#include "law/periodic.h"

#include "error.h"

#include <math.h>
#include <stdlib.h>

/* Shorter distances count as this: a particle's own charge, of which it is then taken off. */
static const double least_A = 1e-4;

struct energy_ewald {
    periodic_sum *sum;
    double *position_A;
};

ley_status energy_ewald_create(const energy_law *law, int64_t points, energy_ewald **made, ley_error *error)
{
    const size_t n = (size_t)law->n, bytes = 3 * n * sizeof(double);
    energy_ewald *e = calloc(1, sizeof *e);
    if (e == NULL || (e->position_A = malloc(bytes)) == NULL) {
        energy_ewald_destroy(e);
        return ley_fail_memory(error, bytes, "Ewald's sum");
    }
    for (size_t i = 0; i < 3 * n; i++)
        e->position_A[i] = (double)law->frame->position_A[i];
    const periodic_options options = {.cell = law->cell,
                                      .r_min_A = least_A,
                                      .near_A = 1,
                                      .n = n,
                                      .position_A = e->position_A,
                                      .charge_e = law->of->charges,
                                      .points = (size_t)points};
    const ley_status status = periodic_sum_create(&options, &e->sum, error);
    if (status == LEY_OK)
        *made = e;
    else
        energy_ewald_destroy(e);
    return status;
}

void energy_ewald_destroy(energy_ewald *e)
{
    if (e == NULL)
        return;
    if (e->sum != NULL)
        periodic_sum_destroy(e->sum);
    free(e->position_A);
    free(e);
}

/* 1/r of what is excluded, as far as the sum has it. */
static energy_curve excluded(double r_A)
{
    return r_A < least_A ? (energy_curve){1 / least_A, 0} : (energy_curve){1 / r_A, 1 / (r_A * r_A * r_A)};
}

/* What sums of pairs and waves have to round: erfc(3 r/c)/r of the pairs, their own charge. */
static double magnitude(const energy_law *law, int64_t i)
{
    const double c_A = law->options->cutoff_A, splitting = 3 / c_A;
    double sum = 2 * splitting / sqrt(M_PI) * fabs(law->of->charges[i]), way_A[3];
    for (int64_t j = 0; j < law->n; j++) {
        const double r2 = energy_way(law, i, j, way_A), r_A = sqrt(r2);
        if (j != i && r_A > 0 && r_A < c_A)
            sum += fabs(law->of->charges[j]) * erfc(splitting * r_A) / r_A;
    }
    return sum;
}

void energy_add_ewald(const energy_law *law, const energy_ewald *e, const energy_partners *p, int64_t i,
                      energy_sums *sums)
{
    const double by = law->options->coulomb_constant / law->options->dielectric * law->of->charges[i];
    if (by == 0)
        return;
    const double *at_A = e->position_A + 3 * i;
    const periodic_gradient all = periodic_sum_field(e->sum, at_A);
    double potential = periodic_sum_at(e->sum, at_A).value - law->of->charges[i] / least_A, way_A[3];
    for (int axis = 0; axis < 3; axis++)
        sums->force[axis] += by * all.field[axis];
    for (int64_t k = p->first[i]; k < p->first[i + 1]; k++) {
        const int64_t j = p->partner[k].which;
        const energy_curve f = excluded(sqrt(energy_way(law, i, j, way_A)));
        potential -= law->of->charges[j] * f.value;
        for (int axis = 0; axis < 3; axis++)
            sums->force[axis] -= by * law->of->charges[j] * f.slope * way_A[axis];
    }
    sums->energy[LEY_ENERGY_COULOMB] += 0.5 * by * potential;
    sums->absolute[LEY_ENERGY_COULOMB] += 0.5 * fabs(by) * (magnitude(law, i) + fabs(potential));
}
