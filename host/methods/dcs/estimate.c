#include "methods/dcs/estimate.h"

#include "error.h"
#include "schedule/job_memory.h"
#include "target/target.h"

#include <float.h>
#include <math.h>

/* What direct summation makes of a device's roots: on maps, whose points share differences, at
 * points; of that with the field; and a root's error that it takes. */
static const double share_on_maps = 0.95, share_at_points = 0.5, share_with_field = 0.5, root_error = 1e-4;

/* Of devices that have not been measured yet. */
static const double unknown_gpu_roots_per_s = 1e12, unknown_cpu_roots_per_s = 1e10;

static const double packed_atom_bytes = 32;

/* What floats leave of a direct sum, of each root of the atoms and of the squared terms: boxes of
 * water were off by a tenth of that, molecule by molecule, and by three times that, all oxygens
 * first. And how much longer doubles take, which come after them where they miss the tolerance: by
 * PoCL. */
static const double rounding = 3e-9, doubles_take = 8;

static uint64_t needs(const ley_run_options *options)
{
    return options->math == LEY_MATH_STANDARD ? CALIBRATE_ROOT(LEY_ROOT_STANDARD) : CALIBRATE_ROOTS;
}

static double roots_per_s(const device_view *device)
{
    double most = 0;
    for (int root = 0; root < LEY_ROOT_COUNT && device->is_known; root++)
        if (device->facts.root_error[root] < root_error)
            most = fmax(most, device->facts.roots_per_s[root]);
    if (most > 0)
        return most;
    return device->info->device_class == DEV_CPU ? unknown_cpu_roots_per_s : unknown_gpu_roots_per_s;
}

static double share_of(const sum_request *r)
{
    return (r->target.points == NULL ? share_on_maps : share_at_points) *
           (target_has_field(&r->target) ? share_with_field : 1);
}

void dcs_estimate(const sum_request *r, estimate *made)
{
    const charge_statistics *s = &r->statistics;
    const bool is_open = r->options.sum == LEY_SUM_AUTO;
    double rate = 0;
    for (size_t i = 0; i < r->worker_count; i++)
        rate += roots_per_s(&r->devices[i]);
    const double floats_s = s->atoms * s->points / (share_of(r) * rate),
                 squares = 4 * M_PI * s->radius_A * s->square_e2 / s->charged_A3,
                 off_e_A = rounding * sqrt(s->atoms * squares);
    const bool is_missed = off_e_A > r->asked.tolerance * s->potential_e_A,
               is_double = r->options.sum == LEY_SUM_DOUBLE || (is_open && is_missed);
    made->seconds = floats_s * (is_open && is_missed ? 1 + doubles_take : 1);
    made->relative_rms =
        s->potential_e_A > 0 ? off_e_A / s->potential_e_A * (is_double ? DBL_EPSILON / FLT_EPSILON : 1) : 0;
    made->sum = is_double ? LEY_SUM_DOUBLE : is_open ? LEY_SUM_FLOAT : r->options.sum;
}

static ley_status estimate_sum(sum_request *r, estimate *made, ley_error *error)
{
    job_needs needed = {.count = 0};
    const ley_status status = sum_request_look(r, error);
    if (status != LEY_OK)
        return status;
    *made = (estimate){.range = r->asked.potential};
    dcs_estimate(r, made);
    sum_request_needs(r, 1, &needed);
    job_needs_add(&needed, "packed atoms", (double)ley_atoms_whole_count(r->atoms) * packed_atom_bytes, "fewer atoms");
    made->bytes = job_needs_bytes(&needed);
    return LEY_OK;
}

static ley_status check(const sum_request *r, ley_error *error)
{
    return sum_is_plain(&r->asked.potential)
               ? LEY_OK
               : ley_fail(error, LEY_ERROR_USAGE, "method dcs has neither images nor screening");
}

static ley_status create(const sum_request *r, ley_engine *engine, const ley_long_range *range,
                         const ley_run_options *options, ley_job **job, ley_error *error)
{
    ley_direct direct;
    sum_medium(range, &direct);
    return ley_job_create_direct(engine, r->atoms, r->target, &direct, options, job, error);
}

static ley_status check_memory(const ley_atoms *atoms, const ley_grid *grid, const ley_long_range *range,
                               ley_error *error)
{
    (void)range;
    ley_direct direct;
    ley_direct_default(&direct);
    return ley_direct_check_memory(atoms, grid, &direct, error);
}

const request_row dcs_request = {
    .needs = needs, .check = check, .estimate = estimate_sum, .create = create, .check_memory = check_memory};
