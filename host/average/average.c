/* A thread of the average's own runs the devices' loops on the engine, beside the caller who adds
 * frames; the host takes chunks that no device is left for. */
#include "average/device_part.h"
#include "average/host_spread.h"
#include "average/intake.h"
#include "average/potential.h"
#include "average/problem.h"
#include "average/state.h"
#include "average/sums.h"
#include "average/verify.h"
#include "clock.h"
#include "error.h"
#include "log.h"
#include "parallel.h"
#include "target/map.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The manager ----------------------------------------------------------------------------- */

static bool has_held(const ley_average *a)
{
    for (size_t i = 0; i < a->engine->candidate_count; i++)
        if (a->parts[i]->held.count > 0)
            return true;
    return false;
}

static bool has_device(const ley_average *a)
{
    for (size_t i = 0; i < a->engine->worker_count; i++)
        if (worker_device(&a->engine->workers[i]) != NULL && !a->parts[i]->has_failed)
            return true;
    return false;
}

/* All sums are wrong from here on. */
static void fail(ley_average *a, const ley_error *why)
{
    pthread_mutex_lock(&a->mutex);
    if (a->failure.status == LEY_OK)
        ley_error_copy(&a->failure, why);
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->mutex);
}

/* The host spreads a frame; one that is verified is added to the others then. */
static ley_status do_frame(ley_average *a, const chunk *c, int f, int64_t *part, ley_error *error)
{
    const average_problem *p = &a->problem;
    const float *position_A = c->position_A + 3 * (size_t)f * p->atoms;
    const size_t nodes = (size_t)average_mesh_nodes(&p->mesh);
    if (!verify_wants(p, c->first + f)) {
        host_spread_frame(&p->mesh, &c->place[f], p->atoms, position_A, p->quanta, part);
        return LEY_OK;
    }
    int64_t *own = parallel_zeros(nodes * sizeof *own);
    if (own == NULL)
        return ley_fail_memory(error, nodes * sizeof *own, "a mesh");
    host_spread_frame(&p->mesh, &c->place[f], p->atoms, position_A, p->quanta, own);
    const ley_status status = verify_density(a, c->first + f, &c->place[f], position_A, own, error);
    for (size_t i = 0; i < nodes; i++)
        part[i] += own[i];
    free(own);
    return status;
}

/* The host takes a chunk. */
static ley_status do_chunk(ley_average *a, const chunk *c, ley_error *error)
{
    const average_problem *p = &a->problem;
    const size_t nodes = (size_t)average_mesh_nodes(&p->mesh);
    int64_t *part = parallel_zeros(nodes * sizeof *part);
    if (part == NULL)
        return ley_fail_memory(error, nodes * sizeof *part, "a mesh");
    ley_status status = LEY_OK;
    for (int f = 0; f < c->frames && status == LEY_OK; f++)
        status = do_frame(a, c, f, part, error);
    if (status == LEY_OK)
        status = c->is_partial ? sums_set_extra(a, c->first, c->frames, part, error)
                               : sums_add(a, sums_block(p, c->first), c->frames, part, error);
    free(part);
    return status;
}

static void do_rest(ley_average *a)
{
    ley_error error = {.status = LEY_OK};
    pthread_mutex_lock(&a->mutex);
    for (chunk *c = chunk_take(&a->waiting); c != NULL; c = chunk_take(&a->waiting)) {
        pthread_mutex_unlock(&a->mutex);
        const ley_status status = do_chunk(a, c, &error);
        if (status != LEY_OK)
            fail(a, &error);
        pthread_mutex_lock(&a->mutex);
        a->pending -= c->frames;
        chunk_append(&a->spare, c);
        pthread_cond_broadcast(&a->changed);
    }
    pthread_mutex_unlock(&a->mutex);
    ley_error_clear(&error);
}

static bool is_quitting(void *context)
{
    ley_average *a = context;
    pthread_mutex_lock(&a->mutex);
    const bool quits = a->quits;
    pthread_mutex_unlock(&a->mutex);
    return quits;
}

/* Waits until there is something for devices. */
static bool await_work(ley_average *a)
{
    pthread_mutex_lock(&a->mutex);
    while (!a->quits && a->waiting.count == 0 && !((a->wants_all || a->is_starving) && has_held(a)))
        pthread_cond_wait(&a->changed, &a->mutex);
    const bool goes_on = !a->quits;
    pthread_mutex_unlock(&a->mutex);
    return goes_on;
}

static void *manage(void *context)
{
    static const engine_task loop = {.run = device_part_run, .is_over = is_quitting, .left = device_part_left},
                             ending = {.run = device_part_end, .left = device_part_left};
    ley_average *a = context;
    while (await_work(a)) {
        engine_run(a->engine, 0, &loop, a);
        if (!has_device(a) && !engine_take_next(a->engine)) {
            log_say(LEY_LOG_WARNING, "no device is left for the average: the host goes on alone");
            do_rest(a);
        }
    }
    engine_run(a->engine, 0, &ending, a);
    return NULL;
}

/* ---- Making ---------------------------------------------------------------------------------- */

static ley_status make_parts(ley_average *a, ley_error *error)
{
    const size_t count = a->engine->candidate_count;
    a->parts = calloc(count + 1, sizeof *a->parts);
    for (size_t i = 0; a->parts != NULL && i < count; i++)
        if ((a->parts[i] = device_part_create(a)) == NULL)
            return ley_fail_memory(error, sizeof(device_part), "a device's part");
    return a->parts != NULL ? LEY_OK : ley_fail_memory(error, count * sizeof *a->parts, "the devices' parts");
}

ley_status ley_average_create(ley_engine *engine, const ley_atoms *atoms, const ley_average_options *options,
                              ley_average **average, ley_error *error)
{
    ley_average *a = calloc(1, sizeof *a);
    if (a == NULL)
        return ley_fail_memory(error, sizeof *a, "an average");
    pthread_mutex_init(&a->mutex, NULL);
    pthread_mutex_init(&a->sum_mutex, NULL);
    pthread_cond_init(&a->changed, NULL);
    a->engine = engine;
    ley_status status = problem_make(&a->problem, atoms, options, error);
    if (status == LEY_OK && engine == NULL) {
        status = ley_engine_create(NULL, &a->engine, error);
        a->owns_engine = status == LEY_OK;
    }
    if (status == LEY_OK)
        status = make_parts(a, error);
    if (status == LEY_OK)
        *average = a;
    else
        ley_average_destroy(a);
    return status;
}

void ley_average_destroy(ley_average *a)
{
    if (a == NULL)
        return;
    pthread_mutex_lock(&a->mutex);
    a->quits = true;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->mutex);
    if (a->has_manager)
        pthread_join(a->manager, NULL);
    for (size_t i = 0; a->parts != NULL && i < a->engine->candidate_count; i++) {
        if (a->parts[i] != NULL)
            chunk_join(&a->spare, &a->parts[i]->held);
        device_part_destroy(a->parts[i]);
    }
    free(a->parts);
    chunk_join(&a->spare, &a->waiting);
    for (chunk *c = chunk_take(&a->spare); c != NULL; c = chunk_take(&a->spare))
        chunk_destroy(c);
    chunk_destroy(a->filling);
    sums_destroy(a);
    if (a->owns_engine)
        ley_engine_destroy(a->engine);
    problem_destroy(&a->problem);
    ley_error_clear(&a->failure);
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->sum_mutex);
    pthread_mutex_destroy(&a->mutex);
    free(a);
}

void ley_average_cancel(ley_average *average)
{
    atomic_store(&average->is_cancelled, true);
}

/* ---- Frames ---------------------------------------------------------------------------------- */

static ley_status start(ley_average *a, const double *cell_A, ley_error *error)
{
    if (a->has_manager)
        return LEY_OK;
    ley_status status = intake_check_cell(a, 0, cell_A, error);
    if (status == LEY_OK && !a->problem.is_fixed)
        status = problem_fix(&a->problem, cell_A, error);
    if (status != LEY_OK)
        return status;
    a->start_s = ley_clock_s();
    if (parallel_start(&a->manager, manage, a) != 0)
        return ley_fail(error, LEY_ERROR_MEMORY, "no thread for the average");
    a->has_manager = true;
    return LEY_OK;
}

static ley_status take_spare(ley_average *a, chunk **taken, ley_error *error)
{
    const int most = chunk_count(a->problem.atoms, a->engine->candidate_count);
    ley_status status = LEY_OK;
    chunk *c = NULL;
    pthread_mutex_lock(&a->mutex);
    while (status == LEY_OK && (c = chunk_take(&a->spare)) == NULL) {
        if (a->failure.status != LEY_OK) {
            ley_error_copy(error, &a->failure);
            status = a->failure.status;
        } else if (atomic_load(&a->is_cancelled)) {
            status = ley_fail(error, LEY_CANCELLED, "cancelled");
        } else if (a->chunks < most && (c = chunk_create(a->problem.atoms, a->problem.chunk_frames)) != NULL) {
            a->chunks++;
            break;
        } else if (a->chunks == 0) {
            status = ley_fail_memory(error, 12 * a->problem.atoms, "a frame");
        } else {
            a->is_starving = true;
            pthread_cond_broadcast(&a->changed);
            pthread_cond_wait(&a->changed, &a->mutex);
        }
    }
    a->is_starving = false;
    pthread_mutex_unlock(&a->mutex);
    *taken = c;
    return status;
}

static void deal(ley_average *a, chunk *c)
{
    pthread_mutex_lock(&a->mutex);
    a->pending += c->frames;
    chunk_append(&a->waiting, c);
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->mutex);
}

/* Chunks begin at multiples of their length from the block's first frame on. */
static int room_of(const average_problem *p, int64_t frame)
{
    const int64_t block = sums_block(p, frame), first = block * p->options.block_frames, end = sums_block_end(p, frame),
                  chunk_end = frame - (frame - first) % p->chunk_frames + p->chunk_frames;
    return (int)((end < chunk_end ? end : chunk_end) - frame);
}

static ley_status add_frame(ley_average *a, const float *position_A, const double *cell_A, ley_error *error)
{
    const average_problem *p = &a->problem;
    if (a->filling == NULL) {
        const ley_status status = take_spare(a, &a->filling, error);
        if (status != LEY_OK)
            return status;
        a->filling->first = a->added;
        a->filling->frames = 0;
        a->filling->most = room_of(p, a->added);
        a->filling->is_partial = false;
    }
    intake_copy(a, a->filling, position_A, cell_A);
    for (int i = 0; i < 9; i++) {
        a->cell_sum_A[i] += cell_A[i];
        a->cells_change = a->cells_change || cell_A[i] != p->first_cell_A[i];
    }
    a->added++;
    if (a->filling->frames == a->filling->most) {
        deal(a, a->filling);
        a->filling = NULL;
    }
    return LEY_OK;
}

ley_status ley_average_add(ley_average *a, size_t frames, const float *position_A, const double *cell_A,
                           ley_error *error)
{
    if (frames == 0)
        return LEY_OK;
    if (atomic_exchange(&a->is_cancelled, false))
        return ley_fail(error, LEY_CANCELLED, "cancelled");
    ley_status status = start(a, cell_A, error);
    double(*structure)[2] = a->problem.options.verify_every > 0 ? malloc(frames * sizeof *structure) : NULL;
    if (status == LEY_OK)
        status = intake_check(a, frames, position_A, cell_A, structure, error);
    for (size_t f = 0; f < frames && status == LEY_OK; f++) {
        status = add_frame(a, position_A + 3 * f * a->problem.atoms, cell_A + 9 * f, error);
        for (int part = 0; part < 2 && status == LEY_OK && structure != NULL; part++) {
            a->structure[part] += structure[f][part];
            a->structure_square += structure[f][part] * structure[f][part];
        }
    }
    free(structure);
    atomic_store(&a->is_cancelled, false);
    return status;
}

/* The check of the mean may be off by so many tolerances: one wave is not a root mean square over
 * all. */
static const double most_mean_error = 10;

/* ---- Results --------------------------------------------------------------------------------- */

/* The frames of a chunk that is not full are done as well, and will be again when it is. */
static ley_status deal_partial(ley_average *a, ley_error *error)
{
    chunk *copy = NULL;
    if (a->filling == NULL || (a->extra_first == a->filling->first && a->extra_frames == a->filling->frames))
        return LEY_OK;
    ley_status status = take_spare(a, &copy, error);
    if (status != LEY_OK)
        return status;
    copy->first = a->filling->first;
    copy->frames = 0;
    copy->is_partial = true;
    for (int f = 0; f < a->filling->frames; f++)
        intake_copy(a, copy, a->filling->position_A + 3 * (size_t)f * a->problem.atoms, a->filling->cell_A[f]);
    deal(a, copy);
    return LEY_OK;
}

/* Waits until the sums have all frames. */
static ley_status await_all(ley_average *a, ley_error *error)
{
    ley_status status = deal_partial(a, error);
    if (status != LEY_OK)
        return status;
    pthread_mutex_lock(&a->mutex);
    a->wants_all = true;
    pthread_cond_broadcast(&a->changed);
    while (a->pending > 0 && a->failure.status == LEY_OK)
        pthread_cond_wait(&a->changed, &a->mutex);
    a->wants_all = false;
    if (a->failure.status != LEY_OK) {
        status = a->failure.status;
        ley_error_copy(error, &a->failure);
    }
    pthread_mutex_unlock(&a->mutex);
    return status;
}

static void mean_cell(const ley_average *a, double cell_A[9])
{
    for (int i = 0; i < 9; i++)
        cell_A[i] = a->problem.options.pmepot || !a->cells_change ? a->problem.first_cell_A[i]
                                                                  : a->cell_sum_A[i] / (double)a->added;
}

static ley_status make_map(const ley_average *a, const double *value, ley_map **map, ley_error *error)
{
    const average_problem *p = &a->problem;
    double cell_A[9];
    ley_grid grid = {.n = {p->n[0], p->n[1], p->n[2]}};
    mean_cell(a, cell_A);
    for (int axis = 0; axis < 3; axis++)
        for (int d = 0; d < 3; d++) {
            grid.step_A[axis][d] = cell_A[3 * axis + d] / (double)p->n[axis];
            grid.origin_A[d] += p->origin[axis] * cell_A[3 * axis + d];
        }
    const ley_status status = ley_map_create(&grid, map, error);
    if (status != LEY_OK)
        return status;
    float *values = ley_map_values(*map);
    for (int64_t i = 0; i < ley_grid_points(&grid); i++)
        values[i] = (float)value[i];
    ley_map_set_units(*map, ley_units_name(p->options.units));
    return LEY_OK;
}

/* The mean density of all frames, in e. */
static ley_status mean_density(ley_average *a, double *density_e, ley_error *error)
{
    int64_t frames = 0;
    const size_t nodes = (size_t)average_mesh_nodes(&a->problem.mesh);
    const ley_status status = sums_density(a, density_e, &frames, error);
    for (size_t i = 0; i < nodes && status == LEY_OK; i++)
        density_e[i] *= ldexp(1 / (double)frames, -a->problem.exponent);
    return status;
}

static ley_status map_mean(ley_average *a, double *density_e, double *value, ley_map **map, ley_error *error)
{
    double cell_A[9];
    mean_cell(a, cell_A);
    ley_status status = mean_density(a, density_e, error);
    if (status == LEY_OK)
        status = potential_of(&a->problem, cell_A, density_e, value, error);
    return status == LEY_OK ? make_map(a, value, map, error) : status;
}

ley_status ley_average_map(ley_average *a, ley_average_quantity quantity, ley_map **map, ley_error *error)
{
    const average_problem *p = &a->problem;
    if (a->added == 0)
        return ley_fail(error, LEY_ERROR_USAGE, "no frame has been added");
    if (quantity != LEY_AVERAGE_MEAN)
        return ley_fail(error, LEY_ERROR_USAGE, "this quantity is not kept");
    ley_status status = await_all(a, error);
    if (status != LEY_OK)
        return status;
    const size_t bytes = (size_t)average_mesh_nodes(&p->mesh) * sizeof(double),
                 value_bytes = (size_t)(p->n[0] * p->n[1] * p->n[2]) * sizeof(double);
    double *density_e = malloc(bytes), *value = malloc(value_bytes);
    status = density_e != NULL && value != NULL ? map_mean(a, density_e, value, map, error)
                                                : ley_fail_memory(error, bytes + value_bytes, "the mean");
    free(density_e);
    free(value);
    return status;
}

/* How far the structure factor of the mean mesh is off what it is of all frames, as a share of its
 * root mean square over frames. */
static double mean_error(const ley_average *a, const double *density_e)
{
    const average_mesh *m = &a->problem.mesh;
    const int64_t *n = m->n, wave[3] = {INTAKE_WAVE_X, INTAKE_WAVE_Y, INTAKE_WAVE_Z};
    double sum[2] = {0}, spline = 1;
    for (int axis = 0; axis < 3; axis++)
        spline *= window_transform(m->window, 2 * M_PI * (double)wave[axis] / (double)n[axis]);
    for (int64_t z = 0; z < n[2]; z++)
        for (int64_t y = 0; y < n[1]; y++) {
            double row[2] = {0};
            for (int64_t x = 0; x < n[0]; x++) {
                const double q = density_e[(z * n[1] + y) * n[0] + x],
                             phase = 2 * M_PI *
                                     ((double)(wave[0] * x) / (double)n[0] + (double)(wave[1] * y) / (double)n[1] +
                                      (double)(wave[2] * z) / (double)n[2]);
                row[0] += q * cos(phase);
                row[1] -= q * sin(phase);
            }
            sum[0] += row[0];
            sum[1] += row[1];
        }
    const double frames = (double)a->added, scale = sqrt(a->structure_square / frames);
    return hypot(sum[0] / spline - a->structure[0] / frames, sum[1] / spline - a->structure[1] / frames) /
           fmax(scale, 1e-6 * sqrt(a->problem.square_charge_e));
}

static ley_status check_mean(ley_average *a, double *error_found, ley_error *error)
{
    const size_t bytes = (size_t)average_mesh_nodes(&a->problem.mesh) * sizeof(double);
    double *density_e = malloc(bytes);
    if (density_e == NULL)
        return ley_fail_memory(error, bytes, "the mean");
    const ley_status status = mean_density(a, density_e, error);
    if (status == LEY_OK)
        *error_found = mean_error(a, density_e);
    free(density_e);
    return status == LEY_OK && !(*error_found <= most_mean_error * a->problem.options.tolerance)
               ? ley_fail(error, LEY_ERROR_WRONG_RESULT,
                          "a structure factor of the mean is off by %.2g of its root mean square: frames were lost or "
                          "summed wrongly",
                          *error_found)
               : status;
}

ley_status ley_average_finish(ley_average *a, ley_average_totals *totals, ley_error *error)
{
    const average_problem *p = &a->problem;
    double cell_A[9];
    const ley_status status = await_all(a, error);
    if (totals == NULL)
        return status;
    *totals = (ley_average_totals){.frames = a->added, .cell_difference = NAN};
    if (a->added == 0)
        return status;
    mean_cell(a, cell_A);
    memcpy(totals->cell_A, cell_A, sizeof cell_A);
    for (int axis = 0; axis < 3; axis++) {
        totals->n[axis] = p->n[axis];
        totals->mesh[axis] = p->mesh.n[axis];
    }
    totals->order = p->mesh.window->points;
    totals->expected_error = p->mesh.expected_error;
    totals->seconds = ley_clock_s() - a->start_s;
    totals->checked_frames = a->checked_frames;
    totals->checked_points = a->checked_points;
    totals->relative_rms = a->checked_frames > 0 ? sqrt(a->checked_share / (double)a->checked_frames) : 0;
    for (size_t i = 0; i < a->engine->candidate_count; i++) {
        const device_part *d = a->parts[i];
        const size_t used = strlen(totals->device);
        totals->failed += d->has_failed ? 1 : 0;
        if (d->info == NULL)
            continue;
        totals->devices++;
        snprintf(totals->device + used, sizeof totals->device - used, "%s%s", used > 0 ? ", " : "", d->info->name);
    }
    return status == LEY_OK && p->options.verify_every > 0 ? check_mean(a, &totals->mean_error, error) : status;
}

/* ---- Not yet --------------------------------------------------------------------------------- */

ley_status ley_average_profile(ley_average *a, int axis, ley_profile_boundary boundary, ley_profile *profile,
                               ley_error *error)
{
    (void)a, (void)axis, (void)boundary, (void)profile;
    return ley_fail(error, LEY_ERROR_USAGE, "not there yet");
}

ley_status ley_average_save(ley_average *a, const char *path, ley_error *error)
{
    (void)a, (void)path;
    return ley_fail(error, LEY_ERROR_USAGE, "not there yet");
}

ley_status ley_average_load(ley_average *a, const char *path, ley_error *error)
{
    (void)a, (void)path;
    return ley_fail(error, LEY_ERROR_USAGE, "not there yet");
}
