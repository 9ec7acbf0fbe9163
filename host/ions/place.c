/* The placing of ions: from what is asked for to who does it. */
#include "core/options.h"
#include "error.h"
#include "ions/internal.h"
#include "plan/request.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ley_ions_destroy(ley_ions *ions)
{
    if (ions == NULL)
        return;
    free(ions->placed);
    free(ions->names);
    free(ions->is_removed);
    free(ions);
}

int64_t ley_ions_count(const ley_ions *ions)
{
    return ions->count;
}

const ley_placed_ion *ley_ions_get(const ley_ions *ions, int64_t i)
{
    return &ions->placed[i];
}

const ley_ions_report *ley_ions_how(const ley_ions *ions)
{
    return &ions->how;
}

/* ---- What is asked for ----------------------------------------------------------------------- */

static ley_status take_request(ions_task *t, const ley_request *request, ley_error *error)
{
    ley_status status = OPTIONS_TAKE(ley_request, grid, &t->request, request, error);
    if (status == LEY_OK)
        status = options_check_medium(&t->request.potential, error);
    if (status == LEY_OK && t->request.potential.kappa_per_A != 0)
        status = ley_fail(error, LEY_ERROR_USAGE, "ions are placed in the unscreened potential: kappa must be 0");
    if (status == LEY_OK)
        status =
            cell_make(t->request.potential.periodic, (const double(*)[3])t->request.potential.cell_A, &t->cell, error);
    if (status == LEY_OK && t->cell.dimensions != 0 && t->cell.dimensions != 3)
        status = ley_fail(error, LEY_ERROR_USAGE,
                          "ions are placed in open space, or where the cell is periodic along all three vectors: xyz");
    if (status == LEY_OK && t->cell.dimensions != 0 && t->o.distance_dielectric)
        status = ley_fail(error, LEY_ERROR_USAGE,
                          "distance_dielectric is for open space: sums of q/r^2 over images have no end");
    if (status != LEY_OK)
        return status;
    const ley_long_range *p = &t->request.potential;
    t->constant = ley_coulomb_constant(LEY_UNITS_KCAL_MOL_E, 1, p->temperature_K);
    t->unit = ley_coulomb_constant(p->units, p->dielectric, p->temperature_K) / t->constant;
    return LEY_OK;
}

/* All that is no water whose place may be taken. */
static ley_status take_solute(ions_task *t, ley_error *error)
{
    const ley_waters *w = t->o.waters;
    const size_t n = ley_atoms_count(t->atoms);
    size_t kept = 0;
    if (w != NULL && w->atoms != n)
        return ley_fail(error, LEY_ERROR_INPUT, "the waters are those of %zu atoms, and there are %zu", w->atoms, n);
    if (w == NULL) {
        t->solute = t->atoms;
        return LEY_OK;
    }
    double *numbers = malloc(4 * n * sizeof *numbers);
    if (numbers == NULL)
        return ley_fail_memory(error, 4 * n * sizeof *numbers, "the solute");
    for (size_t i = 0; i < n; i++)
        if (w->water[i] < 0) {
            memcpy(numbers + 3 * kept, ley_atoms_positions_A(t->atoms) + 3 * i, 3 * sizeof *numbers);
            numbers[3 * n + kept++] = ley_atoms_charges_e(t->atoms)[i];
        }
    const ley_status status =
        kept > 0 ? ley_atoms_create(kept, numbers, numbers + 3 * n, NULL, &t->own_solute, error) : LEY_OK;
    free(numbers);
    t->solute = t->own_solute;
    return status;
}

static ley_status make_ions(ions_task *t, ley_error *error)
{
    const size_t n = ley_atoms_count(t->atoms);
    ley_ions *ions = t->ions = calloc(1, sizeof *ions);
    if (ions == NULL)
        return ley_fail_memory(error, sizeof *ions, "the ions");
    ions->atoms = n;
    ions->species_count = t->o.species_count;
    ions->names = calloc(t->o.species_count, sizeof *ions->names);
    ions->is_removed = calloc(n, sizeof *ions->is_removed);
    if (ions->names == NULL || ions->is_removed == NULL)
        return ley_fail_memory(error, n, "the ions");
    for (size_t i = 0; i < t->o.species_count; i++)
        snprintf(ions->names[i], sizeof ions->names[i], "%s", t->o.species[i].name);
    t->charge_e = ions->how.solute_charge_e = ley_atoms_net_charge_e(t->atoms);
    return LEY_OK;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static void complete(ions_task *t)
{
    ley_ions *ions = t->ions;
    ley_ions_report *how = &ions->how;
    how->total_charge_e = fabs(t->charge_e) > 1e-9 ? t->charge_e : 0;
    how->potential_rms = t->potential_rms;
    snprintf(ions->method, sizeof ions->method, "%s", t->method != NULL ? t->method : "none");
    snprintf(ions->units, sizeof ions->units, "%s", ley_units_name(t->request.potential.units));
    how->method = ions->method;
    how->device = ions->device;
    how->units = ions->units;
}

ley_status ley_ions_place(ley_engine *engine, const ley_atoms *atoms, const ley_request *request,
                          const ley_ions_options *options, ley_ions **made, ley_error *error)
{
    ions_task t = {.engine = engine, .atoms = atoms};
    ley_status status = OPTIONS_TAKE(ley_ions_options, progress_context, &t.o, options, error);
    if (status == LEY_OK)
        status = ions_check(&t.o, error);
    if (status == LEY_OK)
        status = take_request(&t, request, error);
    if (status == LEY_OK)
        status = make_ions(&t, error);
    if (status == LEY_OK)
        status = take_solute(&t, error);
    if (status == LEY_OK)
        status = t.o.waters != NULL ? ions_place_waters(&t, error) : ions_place_nodes(&t, error);
    if (status == LEY_OK) {
        complete(&t);
        *made = t.ions;
        t.ions = NULL;
    }
    exact_destroy(t.exact);
    ley_atoms_destroy(t.own_solute);
    ley_engine_destroy(t.opened);
    ley_ions_destroy(t.ions);
    return status;
}
