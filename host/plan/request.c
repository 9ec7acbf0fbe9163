#include "plan/request.h"

#include "calibrate.h"
#include "error.h"
#include "law/tolerance_floor.h"
#include "source/atoms.h"
#include "target/target.h"

#include <math.h>
#include <stdlib.h>

static ley_status look_at_devices(sum_request *r, ley_error *error)
{
    if (r->devices != NULL)
        return LEY_OK;
    r->devices = calloc(r->worker_count + 1, sizeof *r->devices);
    if (r->devices == NULL)
        return ley_fail_memory(error, r->worker_count * sizeof *r->devices, "a plan");
    for (size_t i = 0; i < r->worker_count; i++) {
        const worker *w = &r->workers[i];
        device_view *view = &r->devices[i];
        view->info = w->info;
        view->is_known =
            calibrate_known(r->is_own_thread ? w->device : worker_device(w), w->info, r->facts, &view->facts);
    }
    return LEY_OK;
}

ley_status sum_request_look(sum_request *r, ley_error *error)
{
    charge_statistics *s = &r->statistics;
    ley_status status = LEY_OK;
    if (!r->has_statistics)
        status = charge_statistics_make(r->atoms, r->target.points, &r->grid, target_has_field(&r->target),
                                        &r->asked.potential, s, error);
    if (status != LEY_OK)
        return status;
    if (!r->has_statistics) {
        s->potential_e_A = fmax(s->potential_e_A, tolerance_floor_share(r->asked.tolerance) * s->terms_e_A);
        if (s->radius_A > 0) /* of what screening leaves nothing of */
            s->potential_e_A = fmax(s->potential_e_A, LEY_TOLERANCE_DIGITS * sqrt(s->square_e2) / s->radius_A);
    }
    r->has_statistics = true;
    return look_at_devices(r, error);
}

void sum_request_needs(const sum_request *r, int least_planes, job_needs *needs)
{
    if (r->target.points != NULL)
        job_needs_points(needs, ley_points_count(r->target.points), target_has_field(&r->target));
    else
        job_needs_map(needs, &r->grid, r->target.map, least_planes);
}

bool sum_is_plain(const ley_long_range *sum)
{
    return sum->kappa_per_A == 0 && !sum->periodic[0] && !sum->periodic[1] && !sum->periodic[2];
}

void sum_medium(const ley_long_range *sum, ley_direct *direct)
{
    ley_direct_default(direct);
    direct->units = sum->units;
    direct->dielectric = sum->dielectric;
    direct->temperature_K = sum->temperature_K;
    direct->r_min_A = sum->r_min_A;
}

ley_status request_deal(const request_row *row, const ley_engine *engine, const ley_atoms *atoms, const ley_grid *grid,
                        const ley_long_range *range, ley_error *error)
{
    ley_atoms *own = (ley_atoms *)(uintptr_t)atoms; /* of a share they are to come */
    if (ley_atoms_part(atoms) == NULL)
        return LEY_OK;
    if (engine == NULL || row->halo_A == NULL)
        return ley_atoms_take_all(own, error);
    const double known = ley_engine_speed(engine), speed = known > 0 ? known : NAN;
    return ley_atoms_take_part(own, grid, range->periodic, (const double(*)[3])range->cell_A,
                               row->halo_A(atoms, grid, range), speed, error);
}

void sum_request_end(sum_request *r)
{
    free(r->devices);
    r->devices = NULL;
}
