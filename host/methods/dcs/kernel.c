#include "methods/dcs/kernel.h"

#include "cancel.h"
#include "core/sizes.h"
#include "error.h"
#include "law/accuracy.h"
#include "layout/grid_frame.h"
#include "memory.h"
#include "memory/upload.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Atoms per launch from constant memory: 64 KB hold 4,096, and some drivers keep a little for
 * themselves. */
enum { CONSTANT_BATCH = 4000, SMALLEST_BATCH = 512, LARGEST_BATCH = 1 << 30 };

/* Coordinates are doubles, those of points as well, which are rounded once they are far from the
 * world's origin: of the shortest distance that may be this much. */
static double double_rounding(const dcs_problem *problem)
{
    const ley_grid *grid = &problem->grid;
    double farthest_A = 0, low_A[3], high_A[3];
    grid_frame_bounds_A(grid, grid->n, low_A, high_A);
    for (int axis = 0; axis < 3; axis++)
        farthest_A =
            fmax(farthest_A, fmax(fabs(grid->origin_A[axis] + low_A[axis]), fabs(grid->origin_A[axis] + high_A[axis])));
    return DBL_EPSILON * farthest_A / problem->r_min_A;
}

/* A distance is a sum of steps, which are rounded: these are longer than it where they are oblique,
 * at most as many times; 1 of an orthogonal grid. */
static double steps_per_height(const ley_grid *grid)
{
    double most = 1;
    for (int axis = 0; axis < 3; axis++) {
        double steps_A = 0;
        for (int m = axis; m < 3; m++)
            steps_A += fabs(grid->step_A[m][axis]);
        most = fmax(most, steps_A / grid->step_A[axis][axis]);
    }
    return most;
}

double dcs_problem_promise(const dcs_problem *problem, const char *variant, ley_math math, ley_sum sum)
{
    const double float_rounding = 1.2e-7; /* of a point and an atom */
    const double rounding = double_rounding(problem);
    /* Most jobs have no rounding to speak of. */
    const double promise =
        fmin(accuracy_promise(math, sum) * steps_per_height(&problem->grid) + (rounding > 1e-7 ? rounding : 0), 1);
    if (sum == LEY_SUM_DOUBLE || !tuning_dcs_streams(variant))
        return promise;
    double side2_A2 = 0;
    for (int axis = 0; axis < 3; axis++) {
        double side_A = 0;
        for (int m = 0; m < 3; m++)
            side_A += (double)problem->grid.n[m] * fabs(problem->grid.step_A[m][axis]);
        side2_A2 += pow(side_A, 2);
    }
    return fmin(promise + float_rounding * sqrt(side2_A2) / problem->r_min_A, 1);
}

static padded_store store_of(const dcs_spec *spec)
{
    return spec->sum == LEY_SPEC_SUM_DOUBLE        ? PADDED_DOUBLE
           : spec->sum == LEY_SPEC_SUM_COMPENSATED ? PADDED_COMPENSATED
                                                   : PADDED_FLOAT;
}

padded_slab dcs_kernel_layout(const dcs_kernel *kernel, const ley_grid *grid)
{
    const dcs_spec *spec = &kernel->choice.spec;
    return (padded_slab){.n_x = grid->n[0],
                         .n_y = grid->n[1],
                         .padded_x = ley_round_up(grid->n[0], tuning_dcs_tile_x(spec)),
                         .padded_y = ley_round_up(grid->n[1], tuning_dcs_tile_y(spec)),
                         .planes = 1,
                         .store = store_of(spec),
                         .components = LEY_COMPONENTS(spec->field)};
}

double dcs_kernel_expected_rate(const dcs_kernel *kernel)
{
    /* Double precision is not calibrated; on some GPUs it is 64 times slower. Too low a guess only
     * makes more launches. */
    const double slower = kernel->choice.spec.sum == LEY_SPEC_SUM_DOUBLE ? 64 : 1;
    const dcs_spec *s = &kernel->choice.spec;
    const double field_share = s->field ? 0.4 : 1; /* of the rate without */
    return fmax(0.5 * field_share * kernel->facts.roots_per_s[s->root] / slower *
                    tuning_share_of_lanes(kernel->device->info, s->width, s->ux * s->uy),
                1e5);
}

/* Atoms per launch: as many as keep it near launch_s, so that a job can be cancelled and a display
 * stays alive. */
static size_t batch_size(const dcs_kernel *k, const dcs_problem *problem, int64_t planes, double launch_s)
{
    const padded_slab layout = dcs_kernel_layout(k, &problem->grid);
    const double points = (double)layout.padded_x * (double)layout.padded_y * (double)planes;
    const double atoms = dcs_kernel_expected_rate(k) * launch_s / points;
    const size_t n = ley_atoms_count(problem->atoms);
    return atoms < SMALLEST_BATCH ? SMALLEST_BATCH : atoms < (double)n ? (size_t)atoms : n;
}

/* Whether each batch needs a buffer of its own: a kernel sees constant memory as one, and no buffer
 * may be larger than the device's largest allocation. */
static bool own_buffers(const dcs_kernel *k, size_t n, size_t bytes)
{
    const uint64_t most = k->device->info->max_allocation_bytes;
    return k->choice.spec.atoms == LEY_ATOMS_CONSTANT || (most > 0 && (uint64_t)n * bytes > most);
}

/* Cuts atoms into launches, and makes room for them. */
static ley_status make_batches(dcs_kernel *k, size_t bytes, size_t n, size_t batch, ley_error *error)
{
    const bool own = own_buffers(k, n, bytes);
    dev_buffer *buffer = NULL;
    ley_status status = own ? LEY_OK : arena_buffer(&k->arena, n * bytes, DEV_READ_ONLY, &buffer, error);
    for (size_t first = 0; first < n && status == LEY_OK; first += batch) {
        const size_t size = n - first < batch ? n - first : batch;
        if (own)
            status = arena_buffer(&k->arena, size * bytes, DEV_READ_ONLY, &buffer, error);
        k->batches[k->batch_count++] = (dcs_batch){{buffer}, own ? 0 : (int)first, (int)size};
    }
    return status;
}

static ley_status upload_packed(const dcs_kernel *k, const char *packed, size_t bytes, size_t n, ley_error *error)
{
    const bool own = own_buffers(k, n, bytes);
    ley_status status = LEY_OK;
    for (size_t i = 0, first = 0, size; i < k->batch_count && first < n && status == LEY_OK; i++, first += size) {
        size = own ? (size_t)k->batches[i].count : n;
        status = upload_bytes(k->device, k->batches[i].atoms.buffer, 0, packed + first * bytes, size * bytes, error);
    }
    return status;
}

static size_t largest_batch(const dcs_kernel *k, size_t n, size_t bytes)
{
    const dev_info *info = k->device->info;
    if (!own_buffers(k, n, bytes))
        return LARGEST_BATCH;
    if (k->choice.spec.atoms != LEY_ATOMS_CONSTANT)
        return (size_t)(info->max_allocation_bytes / bytes);
    const size_t fits = (size_t)(info->constant_bytes / bytes);
    return fits < CONSTANT_BATCH ? fits : CONSTANT_BATCH;
}

static ley_status pack_atoms(dcs_packing packing, const dcs_problem *problem, void *packed, ley_error *error)
{
    enum { PART = 1 << 20 };
    const size_t n = ley_atoms_count(problem->atoms);
    for (size_t first = 0; first < n; first += PART) {
        if (cancel_is_asked(problem->cancelled))
            return ley_fail(error, LEY_CANCELLED, "cancelled");
        dcs_pack_some(packing, problem->atoms, first, n - first < PART ? n - first : PART, &problem->grid,
                      problem->coulomb_constant, packed);
    }
    return LEY_OK;
}

ley_status dcs_kernel_load_batches(dcs_kernel *k, const dcs_problem *problem, size_t batch, ley_error *error)
{
    const dcs_packing packing = dcs_packing_of(&k->choice.spec);
    const size_t bytes = dcs_packed_bytes(packing), n = ley_atoms_count(problem->atoms);
    k->arena.device = k->flight.device = k->device;
    k->problem = *problem;
    k->layout = dcs_kernel_layout(k, &problem->grid);
    const size_t most = largest_batch(k, n, bytes);
    const double copies = k->device->info->device_class == DEV_CPU ? 2 : 1;
    ley_status status = memory_check_one("packed atoms", copies * (double)n * (double)bytes, "fewer atoms", error);
    if (status != LEY_OK)
        return status;
    batch = batch < most ? batch : most;
    k->batches = calloc((n + batch - 1) / batch, sizeof *k->batches);
    if (k->batches == NULL)
        return ley_fail_memory(error, (n + batch - 1) / batch * sizeof *k->batches, "packed atoms");
    status = make_batches(k, bytes, n, batch, error);
    return status == LEY_OK ? dcs_kernel_reload(k, error) : status;
}

ley_status dcs_kernel_reload(dcs_kernel *k, ley_error *error)
{
    const dcs_packing packing = dcs_packing_of(&k->choice.spec);
    const size_t bytes = dcs_packed_bytes(packing), n = ley_atoms_count(k->problem.atoms);
    char *packed = malloc(n * bytes);
    if (packed == NULL)
        return ley_fail_memory(error, n * bytes, "packed atoms");
    ley_status status = pack_atoms(packing, &k->problem, packed, error);
    if (status == LEY_OK)
        status = upload_packed(k, packed, bytes, n, error);
    free(packed);
    return status;
}

ley_status dcs_kernel_load(dcs_kernel *k, const dcs_problem *problem, int64_t planes, double launch_s, ley_error *error)
{
    return dcs_kernel_load_batches(k, problem, batch_size(k, problem, planes, launch_s), error);
}

static void launch_batch(dcs_run *run, size_t i)
{
    const dcs_kernel *k = run->kernel;
    const dcs_spec *spec = &k->choice.spec;
    const dcs_batch *batch = &k->batches[i];
    const double r_min_A = k->problem.r_min_A;
    const double(*h_A)[3] = k->problem.grid.step_A;
    const size_t groups[3] = {(size_t)(k->layout.padded_x / tuning_dcs_tile_x(spec)),
                              (size_t)(k->layout.padded_y / tuning_dcs_tile_y(spec)), (size_t)run->planes};
    const double pairs =
        (double)k->layout.padded_x * (double)k->layout.padded_y * (double)run->planes * (double)batch->count;
    sequence_launch(&run->command_sequence, &k->kernel, groups,
                    KERNEL_ARGUMENTS(dcs, .gm_atoms = batch->atoms, .first_atom = batch->first, .n_atoms = batch->count,
                                     .first_plane = (int32_t)run->first,
                                     .step = {h_A[0][0], h_A[1][1], h_A[2][2], r_min_A * r_min_A},
                                     .shear = {h_A[1][0], h_A[2][0], h_A[2][1], 0}, .accumulate = i > 0,
                                     .gm_phi = {run->phi.buffer}),
                    pairs / dcs_kernel_expected_rate(k));
}

static padded_slab layout_of(const dcs_kernel *k, int64_t planes)
{
    padded_slab layout = k->layout;
    layout.planes = planes;
    return layout;
}

ley_status dcs_run_create(dcs_run *run, dcs_kernel *k, int64_t planes, ley_error *error)
{
    const padded_slab layout = layout_of(k, planes);
    int64_t bytes = 0;
    *run = (dcs_run){.kernel = k};
    if (!padding_bytes(&layout, &bytes))
        return ley_fail_memory(error, SIZE_MAX, "a slab");
    return arena_results(&k->arena, bytes, &run->phi, error);
}

void dcs_run_destroy(dcs_run *run)
{
    sequence_end(&run->command_sequence);
    if (run->kernel != NULL)
        arena_free_results(&run->kernel->arena, &run->phi);
}

ley_status dcs_run_begin(dcs_run *run, int64_t first, int64_t planes, const atomic_bool *cancelled, ley_error *error)
{
    const padded_slab layout = layout_of(run->kernel, planes);
    command_sequence *w = &run->command_sequence;
    int64_t bytes = 0;
    padding_bytes(&layout, &bytes);
    run->first = first;
    run->planes = planes;
    sequence_begin(w, &run->kernel->flight, cancelled);
    sequence_poison(w, &run->phi, (size_t)bytes);
    for (size_t i = 0; i < run->kernel->batch_count; i++)
        launch_batch(run, i);
    sequence_read(w, run->phi.buffer, 0, run->phi.staging, (size_t)bytes);
    return sequence_status(w, error);
}

ley_status dcs_run_finish(dcs_run *run, float *const *planes, ley_error *error)
{
    padded_slab layout = layout_of(run->kernel, run->planes);
    ley_status status = sequence_finish(&run->command_sequence, error);
    for (; layout.component < layout.components && status == LEY_OK; layout.component++)
        if (!padding_crop(&layout, run->phi.staging->bytes, planes[layout.component]))
            status = sequence_no_number(error);
    return status;
}

void dcs_kernel_destroy(dcs_kernel *k)
{
    arena_clear(&k->arena);
    kernel_destroy(&k->kernel);
    free(k->batches);
    *k = (dcs_kernel){.device = k->device};
}
