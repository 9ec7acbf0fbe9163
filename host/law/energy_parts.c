#include "law/energy_parts.h"

#include "law/solvent.h"

#include <math.h>
#include <string.h>

static double salt_kappa(const ley_energy_options *o)
{
    const ley_ion ions[2] = {{.charge_e = 1, .concentration_M = o->salt_M},
                             {.charge_e = -1, .concentration_M = o->salt_M}};
    const ley_solvent solvent = {
        .dielectric = o->solvent_dielectric, .temperature_K = o->temperature_K, .ions = ions, .ion_count = 2};
    return o->salt_M > 0 ? ley_screening_per_A(&solvent) : 0;
}

ley_status energy_law_begin(const energy_frame *frame, energy_law *law, ley_error *error)
{
    const bool is_periodic = frame->cell_A != NULL, periodic[3] = {is_periodic, is_periodic, is_periodic};
    *law = (energy_law){.frame = frame,
                        .of = frame->particles,
                        .options = frame->options,
                        .n = frame->particles->particles,
                        .kappa = salt_kappa(frame->options)};
    double vector_A[3][3] = {{0}};
    if (is_periodic)
        memcpy(vector_A, frame->cell_A, sizeof vector_A);
    return cell_make(periodic, (const double(*)[3])vector_A, &law->cell, error);
}

double energy_way(const energy_law *law, int64_t i, int64_t j, double way_A[3])
{
    const float *from = law->frame->position_A + 3 * j, *to = law->frame->position_A + 3 * i;
    for (int axis = 0; axis < 3; axis++)
        way_A[axis] = (double)to[axis] - (double)from[axis];
    cell_bring_near(&law->cell, way_A);
    return cell_dot(way_A, way_A);
}

/* ---- Sums of a particle ---------------------------------------------------------------------- */

/* Where energies with a particle belong in a row; NULL: nowhere. */
static double *row_place(const energy_law *law, int64_t j, ley_energy_term term, const energy_sums *sums)
{
    const int32_t group = sums->row == NULL ? -1 : law->options->group[j];
    return group < 0 ? NULL : &sums->row[(int64_t)term * law->options->groups + group];
}

void energy_add_pair(const energy_law *law, int64_t j, ley_energy_term term, energy_curve pair, double absolute,
                     const double way_A[3], energy_sums *sums)
{
    double *place = row_place(law, j, term, sums);
    sums->energy[term] += 0.5 * pair.value;
    sums->absolute[term] += 0.5 * absolute;
    for (int axis = 0; axis < 3; axis++)
        sums->force[axis] += pair.slope * way_A[axis];
    if (place != NULL)
        *place += 0.5 * pair.value;
}

void energy_add_own(const energy_law *law, int64_t i, ley_energy_term term, double energy, energy_sums *sums)
{
    double *place = row_place(law, i, term, sums);
    sums->energy[term] += energy;
    sums->absolute[term] += fabs(energy);
    if (place != NULL)
        *place += energy;
}
