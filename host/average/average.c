/* A thread of the average's own runs the devices' loops on the engine, beside the caller who adds
 * frames; the host takes chunks that no device is left for. */
#include "average/assistant.h"
#include "average/bare.h"
#include "average/checkpoint.h"
#include "average/device_part.h"
#include "average/host_part.h"
#include "average/intake.h"
#include "average/problem.h"
#include "average/profile.h"
#include "average/results.h"
#include "average/share.h"
#include "average/signal.h"
#include "average/state.h"
#include "average/sums.h"
#include "average/verify.h"
#include "clock.h"
#include "error.h"
#include "log.h"
#include "parallel.h"

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

static void do_rest(ley_average *a)
{
    ley_error error = {.status = LEY_OK};
    pthread_mutex_lock(&a->mutex);
    for (chunk *c = chunk_take(&a->waiting); c != NULL; c = chunk_take(&a->waiting)) {
        pthread_mutex_unlock(&a->mutex);
        const ley_status status = host_part_do(a, c, &error);
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
    assistant_end(a);
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

static bool has_cards_alone(const ley_engine *engine)
{
    bool has = true;
    for (size_t i = 0; i < engine->worker_count; i++)
        has = has && engine->workers[i].info->device_class == DEV_GPU;
    return has;
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
    if (status == LEY_OK) {
        a->problem.by_cards = has_cards_alone(a->engine);
        *average = a;
    } else {
        ley_average_destroy(a);
    }
    return status;
}

void ley_average_destroy(ley_average *a)
{
    if (a == NULL)
        return;
    engine_stay_alert(a->engine, false, &a->is_alert);
    pthread_mutex_lock(&a->mutex);
    a->quits = true;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->mutex);
    if (a->has_manager)
        pthread_join(a->manager, NULL);
    for (size_t i = 0; a->parts != NULL && i < a->engine->candidate_count; i++) {
        if (a->parts[i] != NULL) {
            chunk_join(&a->spare, &a->parts[i]->held);
            chunk_join(&a->spare, &a->parts[i]->coming);
            chunk_join(&a->spare, &a->parts[i]->handed);
        }
        device_part_destroy(a->parts[i]);
    }
    free(a->parts);
    chunk_join(&a->spare, &a->waiting);
    for (chunk *c = chunk_take(&a->spare); c != NULL; c = chunk_take(&a->spare))
        chunk_destroy(c);
    chunk_destroy(a->filling);
    bare_destroy(a);
    sums_destroy(a);
    free(a->profile.value);
    for (int i = 0; i < a->sample.count; i++)
        free(a->sample.position_A[i]);
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
    bare_cancel(average);
}

/* ---- Frames ---------------------------------------------------------------------------------- */

static ley_status judge(ley_average *a, const double *cell_A, const float *position_A, ley_error *error)
{
    frame_place place;
    place_make(cell_A, a->problem.mesh.n, a->problem.origin, &place);
    return verify_mesh(a, &place, position_A, error);
}

/* The mesh, by the first frame; a finer one where that frame misses the tolerance, as of charges as
 * regular as a crystal's. */
static ley_status fix(ley_average *a, const double *cell_A, const float *position_A, ley_error *error)
{
    static const double finer = 10;
    average_problem *p = &a->problem;
    const bool is_smooth = p->options.smooth_A > 0,
               is_judged = is_smooth && !p->options.pmepot && p->options.verify_every > 0;
    double signal = 1;
    ley_status status = is_smooth ? average_signal(p, &a->ranks, cell_A, position_A, &signal, error) : LEY_OK;
    if (status != LEY_OK)
        return status;
    for (int more = 2; more >= 0; more--, signal = p->signal / finer) {
        ley_error_clear(error);
        status = problem_fix(p, cell_A, signal, error);
        if (status == LEY_OK && is_judged)
            status = judge(a, cell_A, position_A, error);
        if (status != LEY_ERROR_WRONG_RESULT)
            break;
        p->is_fixed = false;
    }
    return status;
}

/* By the first frame. */
static ley_status start(ley_average *a, const double *cell_A, const float *position_A, ley_error *error)
{
    if (a->has_manager || a->bare != NULL)
        return LEY_OK;
    ley_status status = intake_check_cells(a, 1, cell_A, error);
    if (status == LEY_OK && !a->problem.is_fixed)
        status = intake_check(a, 1, position_A, error);
    if (status == LEY_OK && !a->problem.is_fixed)
        status = fix(a, cell_A, position_A, error);
    if (status != LEY_OK)
        return status;
    a->start_s = ley_clock_s();
    if (a->problem.options.smooth_A == 0)
        return LEY_OK;
    const bool has_assistant = assistant_start(a) == 0;
    a->has_manager = has_assistant && parallel_start(&a->manager, manage, a) == 0;
    if (has_assistant && !a->has_manager)
        assistant_end(a);
    return a->has_manager ? LEY_OK : ley_fail(error, LEY_ERROR_MEMORY, "no thread for the average");
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
        } else if ((a->chunks < most || a->kept_frames < (int64_t)most * a->problem.chunk_frames) &&
                   (c = chunk_create(a->problem.atoms, a->problem.chunk_frames)) != NULL) {
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
    if (status == LEY_OK) {
        c->frames = 0;
        c->may_move = c->fills++ > 0;
    }
    *taken = c;
    return status;
}

static void deal(ley_average *a, chunk *c)
{
    pthread_mutex_lock(&a->mutex);
    a->pending += c->frames;
    a->kept_frames += c->frames > c->had ? c->frames - c->had : 0;
    c->had = c->frames > c->had ? c->frames : c->had;
    chunk_append(&a->waiting, c);
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->mutex);
}

/* Chunks are short, as ranks deal them, but for cards, and where spreading a frame takes less than
 * ending a chunk or than dealing one. */
static int frames_at_once(const average_problem *p)
{
    static const double least_atoms = 4e5;
    const double wanted = ceil(fmax(least_atoms, (double)sums_nodes(p)) / (double)p->atoms);
    return p->by_cards || wanted > p->chunk_frames ? p->chunk_frames : (int)wanted;
}

/* Chunks begin at multiples of their length from the block's first frame on. */
static int room_of(const average_problem *p, int64_t frame)
{
    const int64_t block = sums_block(p, frame), first = block * p->options.block_frames, end = sums_block_end(p, frame),
                  length = frames_at_once(p), chunk_end = frame - (frame - first) % length + length;
    return (int)((end < chunk_end ? end : chunk_end) - frame);
}

/* Some frames are kept, to be done both ways where cells turn out to change: as far as there is
 * memory. */
static void keep_sample(ley_average *a, const float *position_A, const double *cell_A)
{
    static const double most_bytes = 128 << 20;
    cell_sample *s = &a->sample;
    const size_t bytes = 3 * a->problem.atoms * sizeof *position_A;
    const int64_t number = a->added + a->left_out;
    int place = 0;
    while ((int64_t)1 << place <= number && place < SAMPLE_MOST)
        place++;
    if (a->problem.by_frame || a->problem.options.pmepot || (number & (number - 1)) != 0 || place == SAMPLE_MOST ||
        (s->count > 1 && (double)bytes * (s->count + 1) > most_bytes) ||
        (s->position_A[s->count] = malloc(bytes)) == NULL)
        return;
    memcpy(s->position_A[s->count], position_A, bytes);
    memcpy(s->cell_A[s->count], cell_A, sizeof s->cell_A[s->count]);
    s->place[s->count++] = place;
    s->all = s->count;
}

/* A chunk to fill. */
static ley_status begin_filling(ley_average *a, ley_error *error)
{
    const ley_status status = a->filling == NULL ? take_spare(a, &a->filling, error) : LEY_OK;
    if (status != LEY_OK || a->filling->frames > 0)
        return status;
    a->filling->first = a->added + a->left_out;
    a->filling->most = room_of(&a->problem, a->filling->first);
    a->filling->is_partial = false;
    a->structured = 0;
    return LEY_OK;
}

static ley_status end_filling(ley_average *a, ley_error *error)
{
    if (a->filling->frames < a->filling->most)
        return LEY_OK;
    const ley_status status = intake_structures(a, error);
    if (status == LEY_OK) {
        deal(a, a->filling);
        a->filling = NULL;
    }
    return status;
}

/* What is known of frames that have been added. */
static void count_frames(ley_average *a, size_t frames, const float *position_A, const double *cell_A)
{
    for (size_t f = 0; f < frames; f++) {
        for (int i = 0; i < 9; i++) {
            sums_add_exactly(&a->cell_sum_A[i], &a->cell_rest_A[i], cell_A[9 * f + (size_t)i]);
            a->cells_change = a->cells_change || cell_A[9 * f + (size_t)i] != a->problem.first_cell_A[i];
        }
        sums_widen_cell(a, cell_A + 9 * f);
        keep_sample(a, position_A + 3 * f * a->problem.atoms, cell_A + 9 * f);
        a->added++;
    }
}

/* As many of these as the chunk has room for, or one where there is no Gaussian; *taken: how many
 * that is. Those that fit into it whole are looked at while they are copied. */
static ley_status add_some(ley_average *a, size_t frames, const float *position_A, const double *cell_A,
                           bool is_checked, size_t *taken, ley_error *error)
{
    ley_status status = LEY_OK;
    *taken = 1;
    if (a->problem.options.smooth_A == 0) {
        status = bare_add(a, position_A, cell_A, error);
    } else if ((status = begin_filling(a, error)) == LEY_OK) {
        const size_t room = (size_t)(a->filling->most - a->filling->frames);
        *taken = frames < room ? frames : room;
        if (!is_checked && *taken < frames)
            status = intake_check(a, frames, position_A, error);
        if (status == LEY_OK)
            status = intake_append(a, a->filling, *taken, position_A, cell_A, is_checked || *taken < frames, error);
    }
    if (status != LEY_OK)
        return status;
    count_frames(a, *taken, position_A, cell_A);
    return a->filling != NULL ? end_filling(a, error) : LEY_OK;
}

/* Threads look out for frames that follow at once. Whoever has to read them first needs the cores
 * for that. */
static void stay_alert(ley_average *a)
{
    static const double soon_s = 5e-4;
    engine_stay_alert(a->engine, a->left_s == 0 || ley_clock_s() - a->left_s < soon_s, &a->is_alert);
}

ley_status ley_average_add(ley_average *a, size_t frames, const float *position_A, const double *cell_A,
                           ley_error *error)
{
    if (frames == 0)
        return LEY_OK;
    if (atomic_exchange(&a->is_cancelled, false))
        return ley_fail(error, LEY_CANCELLED, "cancelled");
    const bool is_bare = a->problem.options.smooth_A == 0;
    ley_status status = start(a, cell_A, position_A, error);
    stay_alert(a);
    if (status == LEY_OK)
        status = intake_check_cells(a, frames, cell_A, error);
    if (status == LEY_OK && is_bare)
        status = intake_check(a, frames, position_A, error);
    for (size_t f = 0, taken = 0; f < frames && status == LEY_OK; f += taken)
        status = atomic_load(&a->is_cancelled)
                     ? ley_fail(error, LEY_CANCELLED, "cancelled: frames 1 to %lld count", (long long)a->added)
                     : add_some(a, frames - f, position_A + 3 * f * a->problem.atoms, cell_A + 9 * f, is_bare || f > 0,
                                &taken, error);
    atomic_store(&a->is_cancelled, false);
    a->left_s = ley_clock_s();
    return status;
}

/* ---- Frames of several averages -------------------------------------------------------------- */

ley_status ley_average_begin(ley_average *a, const ley_average_ranks *ranks, const float *position_A,
                             const double *cell_A, ley_error *error)
{
    a->ranks = *ranks;
    return start(a, cell_A, position_A, error);
}

/* Until devices have taken all that was added; where they are the core that the caller is on, until
 * they have done it: nothing is gained by what waits for them then. */
static ley_status await_taken(ley_average *a, ley_error *error)
{
    const bool shares_core = !a->problem.by_cards && parallel_cores() == 1;
    ley_status status = LEY_OK;
    pthread_mutex_lock(&a->mutex);
    while ((a->waiting.count > 0 || (shares_core && a->idle < a->at_work)) && a->failure.status == LEY_OK &&
           !atomic_load(&a->is_cancelled))
        pthread_cond_wait(&a->changed, &a->mutex);
    if (a->failure.status != LEY_OK) {
        status = a->failure.status;
        ley_error_copy(error, &a->failure);
    }
    pthread_mutex_unlock(&a->mutex);
    return status;
}

/* The chunk ends here. */
ley_status ley_average_go_to(ley_average *a, int64_t frame, ley_error *error)
{
    ley_status status = LEY_OK;
    if (a->problem.options.smooth_A == 0)
        return ley_fail(error, LEY_ERROR_USAGE, "frames of point charges are not shared: smooth_A is 0");
    if (frame < a->added + a->left_out)
        return ley_fail(error, LEY_ERROR_USAGE, "frame %lld comes before those that have been added",
                        (long long)frame + 1);
    if (a->filling != NULL && a->filling->frames > 0) {
        a->filling->most = a->filling->frames;
        status = end_filling(a, error);
    }
    if (status != LEY_OK)
        return status;
    a->left_out = frame - a->added;
    return await_taken(a, error);
}

int64_t ley_average_piece_end(const ley_average *a, int64_t frame)
{
    return frame + room_of(&a->problem, frame);
}

/* ---- Results --------------------------------------------------------------------------------- */

/* The frames of a chunk that is not full are done as well, and will be again when it is. */
static ley_status deal_partial(ley_average *a, ley_error *error)
{
    chunk *copy = NULL;
    if (a->filling == NULL || (a->extra_first == a->filling->first && a->extra.frames == a->filling->frames))
        return LEY_OK;
    ley_status status =
        start(a, a->filling->cell_A[0], a->filling->position_A, error); /* frames of a checkpoint have none yet */
    if (status == LEY_OK)
        status = intake_structures(a, error);
    if (status == LEY_OK)
        status = take_spare(a, &copy, error);
    if (status != LEY_OK)
        return status;
    copy->first = a->filling->first;
    copy->is_partial = true;
    status =
        intake_append(a, copy, (size_t)a->filling->frames, a->filling->position_A, a->filling->cell_A[0], true, error);
    memcpy(copy->structure, a->filling->structure, (size_t)copy->frames * sizeof *copy->structure);
    deal(a, copy);
    return status;
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

ley_status ley_average_map(ley_average *a, ley_average_quantity quantity, ley_map **map, ley_error *error)
{
    const ley_status status = await_all(a, error);
    return status == LEY_OK ? results_map(a, quantity, map, error) : status;
}

ley_status ley_average_profile(ley_average *a, int axis, ley_profile_boundary boundary, ley_profile *profile,
                               ley_error *error)
{
    if (axis < 0 || axis > 2)
        return ley_fail(error, LEY_ERROR_USAGE, "axis %d of a profile, must be 0, 1 or 2", axis);
    if ((unsigned)boundary >= LEY_PROFILE_COUNT)
        return ley_fail(error, LEY_ERROR_USAGE, "there is no boundary of number %d", (int)boundary);
    if (a->problem.options.smooth_A == 0)
        return ley_fail(error, LEY_ERROR_USAGE, "a profile is of smoothed charges: smooth_A is 0");
    if (a->added == 0)
        return ley_fail(error, LEY_ERROR_USAGE, "no frame has been added");
    const ley_status status = await_all(a, error);
    return status == LEY_OK ? profile_make(a, axis, boundary, profile, error) : status;
}

ley_status ley_average_finish(ley_average *a, ley_average_totals *totals, ley_error *error)
{
    const average_problem *p = &a->problem;
    double cell_A[9];
    ley_status status = await_all(a, error);
    engine_stay_alert(a->engine, false, &a->is_alert);
    if (totals == NULL)
        return status;
    *totals = (ley_average_totals){.frames = a->added, .cell_difference = NAN};
    if (a->added == 0)
        return status;
    results_cell(a, cell_A);
    memcpy(totals->cell_A, cell_A, sizeof cell_A);
    for (int axis = 0; axis < 3; axis++) {
        totals->n[axis] = p->n[axis];
        totals->mesh[axis] = p->mesh.n[axis];
    }
    totals->blocks = a->blocks.count;
    totals->order = p->mesh.window->points;
    totals->expected_error = p->options.smooth_A > 0 ? problem_mesh_error(p, p->by_frame ? a->widest_cell_A : cell_A)
                                                     : p->mesh.expected_error;
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
    if (status == LEY_OK)
        status = results_compare_cells(a, &totals->cell_difference, error);
    if (p->options.smooth_A == 0)
        return status == LEY_OK ? bare_finish(a, totals, error) : status;
    return status == LEY_OK && p->options.verify_every > 0 ? results_check_mean(a, &totals->mean_error, error) : status;
}

ley_status ley_average_share(ley_average *a, ley_error *error)
{
    if (a->ranks.count == 0 || (a->filling != NULL && a->filling->frames > 0))
        return ley_fail(error, LEY_ERROR_USAGE, "ranks have begun together, and gone to the end, before they share");
    double difference;
    ley_status status = await_all(a, error);
    if (status == LEY_OK && a->ranks.count > 1)
        status = share_all(a, error);
    return status == LEY_OK ? results_compare_cells(a, &difference, error) : status;
}

/* ---- Checkpoints ----------------------------------------------------------------------------- */

ley_status ley_average_save(ley_average *a, const char *path, ley_error *error)
{
    const ley_status status = await_all(a, error);
    return status == LEY_OK ? checkpoint_save(a, path, error) : status;
}

ley_status ley_average_load(ley_average *a, const char *path, ley_error *error)
{
    return checkpoint_load(a, path, error);
}
