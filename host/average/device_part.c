#include "average/device_part.h"

#include "average/problem.h"
#include "average/structure.h"
#include "average/sums.h"
#include "average/verify.h"
#include "error.h"
#include "log.h"
#include "parallel.h"
#include "watch.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static device_part *part_of(const worker *w, void *average)
{
    return ((ley_average *)average)->parts[w - w->engine->workers];
}

device_part *device_part_create(ley_average *a)
{
    device_part *p = calloc(1, sizeof *p);
    if (p != NULL)
        p->average = a;
    return p;
}

void device_part_destroy(device_part *p)
{
    if (p == NULL)
        return;
    ley_error_clear(&p->failure);
    free(p);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static ley_status make_slot(device_part *p, part_slot *s, ley_error *error)
{
    const average_problem *o = &p->average->problem;
    const size_t positions = (size_t)o->chunk_frames * o->atoms * 3 * sizeof(float),
                 cells = (size_t)o->chunk_frames * PLACE_FLOATS * sizeof(float);
    ley_status status = arena_staging(&p->arena, positions, &s->position_staging, error);
    if (status == LEY_OK)
        status = arena_staging(&p->arena, cells, &s->cell_staging, error);
    if (status == LEY_OK)
        status = arena_buffer(&p->arena, positions, DEV_READ_ONLY, &s->positions.buffer, error);
    return status == LEY_OK ? arena_buffer(&p->arena, cells, DEV_READ_ONLY, &s->cells.buffer, error) : status;
}

static ley_status make_ready(device_part *p, dev *device, ley_error *error)
{
    const average_problem *o = &p->average->problem;
    const size_t bytes = (size_t)average_mesh_nodes(&o->mesh) * sizeof(int64_t);
    p->arena = (arena){.device = device};
    p->flight = (flight){.device = device};
    command_sequence *w = &p->slot[0].sequence;
    watch_expect(0);
    sequence_begin(w, &p->flight, NULL);
    ley_status status = spreader_create(&p->spreader, &p->arena, &o->mesh, o->atoms, o->quanta_float, w, error);
    if (status == LEY_OK)
        status = arena_buffer(&p->arena, bytes, DEV_READ_WRITE, &p->sums.buffer, error);
    if (status == LEY_OK)
        status = arena_staging(&p->arena, bytes, &p->back, error);
    if (status == LEY_OK && o->options.verify_every > 0)
        status = arena_buffer(&p->arena, bytes, DEV_READ_WRITE, &p->single.buffer, error);
    if (status == LEY_OK && o->options.verify_every > 0)
        status = arena_staging(&p->arena, bytes, &p->single_back, error);
    for (int i = 0; i < PART_SLOTS && status == LEY_OK; i++)
        status = make_slot(p, &p->slot[i], error);
    if (status == LEY_OK && o->by_frame)
        status = frame_potential_create(&p->potential, &p->arena, o, w, error);
    if (status == LEY_OK)
        sequence_fill(w, p->sums.buffer, 0, 0, bytes);
    const ley_status done = sequence_finish(w, status == LEY_OK ? error : NULL);
    return status == LEY_OK ? done : status;
}

static void end_memory(device_part *p)
{
    for (int i = 0; i < PART_SLOTS; i++)
        sequence_end(&p->slot[i].sequence);
    spreader_destroy(&p->spreader);
    frame_potential_destroy(&p->potential);
    arena_clear(&p->arena);
    p->is_ready = false;
}

void device_part_end(worker *w, void *average)
{
    device_part *p = part_of(w, average);
    if (p != NULL && p->arena.device != NULL)
        end_memory(p);
}

/* ---- Frames ---------------------------------------------------------------------------------- */

typedef struct copying {
    char *to;
    const char *from;
    size_t size;
} copying;

enum { COPY_PIECE = 1 << 20 };

static void copy_pieces(void *context, size_t first, size_t last)
{
    const copying *c = context;
    const size_t from = first * COPY_PIECE, end = last * COPY_PIECE < c->size ? last * COPY_PIECE : c->size;
    memcpy(c->to + from, c->from + from, end - from);
}

static void copy_bytes(void *to, const void *from, size_t size)
{
    copying c = {to, from, size};
    parallel_ranges((size + COPY_PIECE - 1) / COPY_PIECE, copy_pieces, &c);
}

/* The frames of a chunk that are to be verified are spread once more, each alone. */
static ley_status verify_chunk(device_part *p, const chunk *c, part_slot *s, ley_error *error)
{
    const average_problem *o = &p->average->problem;
    const size_t bytes = sums_nodes(o) * sizeof(int64_t);
    ley_status status = LEY_OK;
    for (int f = 0; f < c->frames && status == LEY_OK; f++) {
        if (!verify_wants(p->average, c->first + f, c->cell_A[f]))
            continue;
        sequence_fill(&s->sequence, p->single.buffer, 0, 0, bytes);
        spreader_launch(&p->spreader, &s->sequence, s->positions, s->cells, f, 1, p->single);
        sequence_read(&s->sequence, p->single.buffer, 0, p->single_back, bytes);
        status = sequence_finish(&s->sequence, error);
        if (status == LEY_OK)
            status = verify_density(p->average, c->first + f, &c->place[f], c->position_A + (size_t)f * o->atoms * 3,
                                    p->single_back->bytes, error);
    }
    return status;
}

/* Frame by frame, by each one's own cell. */
static ley_status do_frames(device_part *p, const chunk *c, part_slot *s, ley_error *error)
{
    const average_problem *o = &p->average->problem;
    ley_status status = sequence_status(&s->sequence, error);
    for (int f = 0; f < c->frames && status == LEY_OK; f++) {
        spreader_launch(&p->spreader, &s->sequence, s->positions, s->cells, f, 1, p->potential.frame);
        frame_potential_launch(&p->potential, &s->sequence, s->cells, f, p->sums);
        status = sequence_status(&s->sequence, error);
        if (status != LEY_OK || !verify_wants(p->average, c->first + f, c->cell_A[f]))
            continue;
        const dev_staging *values = p->potential.values_back;
        sequence_read(&s->sequence, p->potential.phi.buffer, 0, p->potential.values_back,
                      sums_points(o) * sizeof(float));
        status = sequence_finish(&s->sequence, error);
        if (status == LEY_OK)
            status = verify_potential(p->average, c->first + f, &c->place[f], c->cell_A[f],
                                      c->position_A + (size_t)f * o->atoms * 3, values->bytes, error);
    }
    return status;
}

/* The device gets a chunk's frames, and spreads them. */
static ley_status begin_chunk(device_part *p, const chunk *c, ley_error *error)
{
    part_slot *s = &p->slot[p->next];
    const size_t positions = (size_t)c->frames * p->average->problem.atoms * 3 * sizeof(float),
                 cells = (size_t)c->frames * PLACE_FLOATS * sizeof(float);
    p->next = (p->next + 1) % PART_SLOTS;
    ley_status status = sequence_finish(&s->sequence, error);
    if (status != LEY_OK)
        return status;
    if (s->sequence.times.kernel_s > 0)
        watch_warm();
    copy_bytes(s->position_staging->bytes, c->position_A, positions);
    memcpy(s->cell_staging->bytes, c->floats, cells);
    sequence_begin(&s->sequence, &p->flight, NULL);
    sequence_send(&s->sequence, s->positions.buffer, 0, s->position_staging, 0, positions);
    sequence_send(&s->sequence, s->cells.buffer, 0, s->cell_staging, 0, cells);
    if (p->average->problem.by_frame)
        return do_frames(p, c, s, error);
    spreader_launch(&p->spreader, &s->sequence, s->positions, s->cells, 0, c->frames, p->sums);
    status = sequence_status(&s->sequence, error);
    return status == LEY_OK ? verify_chunk(p, c, s, error) : status;
}

static ley_status finish_slots(device_part *p, ley_error *error)
{
    ley_status status = LEY_OK;
    for (int i = 0; i < PART_SLOTS; i++) {
        const ley_status own = sequence_finish(&p->slot[i].sequence, status == LEY_OK ? error : NULL);
        status = status == LEY_OK ? own : status;
    }
    return status;
}

/* The frames that the device holds are forgotten: their sums are in, or never will be. */
static void forget_held(device_part *p, bool are_in)
{
    ley_average *a = p->average;
    pthread_mutex_lock(&a->mutex);
    for (chunk *c = chunk_take(&p->held); c != NULL; c = chunk_take(&p->held)) {
        a->pending -= c->frames;
        p->frames += are_in && !c->is_partial ? c->frames : 0;
        chunk_append(&a->spare, c);
    }
    p->held_frames = 0;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->mutex);
}

/* Whether sums are those of the frames that the device holds, each of them once: of charges, or of
 * potentials. */
static ley_status check_structure(const device_part *p, const int64_t *phi, ley_error *error)
{
    const average_problem *o = &p->average->problem;
    double found[2], right[2] = {0}, square = 0, responses = 0, off = 0;
    for (const chunk *c = p->held.first; c != NULL; c = c->next)
        for (int f = 0; f < c->frames; f++) {
            const double response = phi != NULL ? structure_response(o, c->cell_A[f]) : 1;
            responses += response;
            for (int part = 0; part < 2; part++) {
                right[part] += response * c->structure[f][part];
                square += pow(response * c->structure[f][part], 2);
            }
        }
    if (phi != NULL)
        structure_of_potentials(o, phi, found);
    else
        structure_of_quanta(&o->mesh, p->back->bytes, o->exponent, found);
    return structure_is_right(o, found, right, square, responses, &off)
               ? LEY_OK
               : ley_fail(error, LEY_ERROR_WRONG_RESULT,
                          "frames %lld on: a structure factor of %lld frames together is off by %.2g of its root mean "
                          "square",
                          (long long)p->held.first->first + 1, (long long)p->held_frames, off);
}

static bool has_been_left(device_part *p)
{
    pthread_mutex_lock(&p->average->mutex);
    const bool has_failed = p->has_failed;
    pthread_mutex_unlock(&p->average->mutex);
    return has_failed;
}

/* Hands over what the device has. */
static ley_status flush(device_part *p, ley_error *error)
{
    ley_average *a = p->average;
    const size_t bytes = sums_nodes(&a->problem) * sizeof(int64_t);
    if (p->held.count == 0)
        return LEY_OK;
    const chunk *first = p->held.first;
    ley_status status = finish_slots(p, error);
    if (status != LEY_OK)
        return status;
    command_sequence *w = &p->slot[p->next].sequence;
    sequence_begin(w, &p->flight, NULL);
    sequence_read(w, p->sums.buffer, 0, p->back, bytes);
    sequence_fill(w, p->sums.buffer, 0, 0, bytes);
    if (a->problem.by_frame)
        frame_potential_read(&p->potential, w);
    status = sequence_finish(w, error);
    if (status == LEY_OK && has_been_left(p)) /* others do the frames that it held */
        status = ley_fail(error, LEY_ERROR_DEVICE, "the driver has returned too late");
    if (status == LEY_OK && a->problem.by_frame)
        status = frame_potential_check(&p->potential, error);
    if (status == LEY_OK && a->problem.options.verify_every > 0)
        status = check_structure(p, NULL, error);
    if (status == LEY_OK && a->problem.options.verify_every > 0 && a->problem.by_frame)
        status = check_structure(p, p->potential.phi_back->bytes, error);
    const part_sums part = {.first = first->first,
                            .frames = p->held_frames,
                            .is_partial = first->is_partial,
                            .charge = p->back->bytes,
                            .phi = a->problem.by_frame ? p->potential.phi_back->bytes : NULL,
                            .square = a->problem.options.deviation ? p->potential.square_back->bytes : NULL};
    if (status == LEY_OK)
        status = sums_add(a, &part, error);
    if (status == LEY_OK)
        forget_held(p, true);
    return status;
}

/* Whether what the device holds must be handed over before it takes this chunk. */
static bool must_flush(const device_part *p, const chunk *c)
{
    const ley_average *a = p->average;
    const int most = a->chunks / (2 * (int)a->engine->candidate_count);
    return p->held.count > 0 &&
           (p->held.first->is_partial || c->is_partial || sums_block(&a->problem, c->first) != p->block ||
            p->held_frames + c->frames >
                (a->problem.by_frame ? (int)PROBLEM_FRAMES_OF_SUMS : (int)SPREAD_MOST_FRAMES) ||
            p->held.count >= (most < 1 ? 1 : most));
}

/* The caller holds the mutex: a chunk is never nowhere, whatever the driver does. */
static void hold(device_part *p, chunk *c)
{
    chunk_append(&p->held, c);
    p->held_frames += c->frames;
    p->block = sums_block(&p->average->problem, c->first);
}

/* ---- The loop -------------------------------------------------------------------------------- */

static const long idle_ns = 50000000;

/* Waits for something to do; the caller holds the mutex. False: nothing has come for a while, and
 * no other device is at anything. */
static bool wait_for_work(ley_average *a, device_part *p)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += idle_ns;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    p->is_idle = true;
    a->idle++;
    pthread_cond_broadcast(&a->changed);
    const int code = pthread_cond_timedwait(&a->changed, &a->mutex, &until);
    const bool all_idle = a->idle == a->at_work;
    p->is_idle = false;
    a->idle--;
    return code != ETIMEDOUT || !all_idle;
}

typedef enum order { ORDER_TAKE, ORDER_FLUSH, ORDER_LEAVE } order;

static order next_order(device_part *p, chunk **taken)
{
    ley_average *a = p->average;
    order next = ORDER_LEAVE;
    bool waits = true;
    pthread_mutex_lock(&a->mutex);
    while (waits && !a->quits) {
        if (a->waiting.first != NULL) {
            next = must_flush(p, a->waiting.first) ? ORDER_FLUSH : ORDER_TAKE;
            *taken = next == ORDER_TAKE ? chunk_take(&a->waiting) : NULL;
            if (*taken != NULL)
                hold(p, *taken);
            break;
        }
        if (p->held.count > 0 && (a->wants_all || a->is_starving)) {
            next = ORDER_FLUSH;
            break;
        }
        waits = wait_for_work(a, p);
    }
    pthread_mutex_unlock(&a->mutex);
    return next;
}

/* What it held is dealt again. The caller holds the mutex. */
static void give_back(ley_average *a, device_part *p)
{
    chunk_join(&a->waiting, &p->held);
    p->held_frames = 0;
    p->has_failed = true;
    if (p->is_at_work)
        a->at_work--;
    if (p->is_at_work && p->is_idle)
        a->idle--;
    p->is_at_work = p->is_idle = false;
    pthread_cond_broadcast(&a->changed);
}

static void fail(device_part *p, const ley_error *why)
{
    ley_average *a = p->average;
    log_say(LEY_LOG_WARNING, "%s leaves the average: %s", p->info->name, why->message);
    pthread_mutex_lock(&a->mutex);
    ley_error_copy(&p->failure, why);
    give_back(a, p);
    pthread_mutex_unlock(&a->mutex);
}

static ley_status work(device_part *p, ley_error *error)
{
    ley_status status = LEY_OK;
    while (status == LEY_OK) {
        chunk *c = NULL;
        const order next = next_order(p, &c);
        if (next == ORDER_LEAVE)
            break;
        status = next == ORDER_TAKE ? begin_chunk(p, c, error) : flush(p, error);
    }
    return status;
}

static void join(ley_average *a, device_part *p, bool joins)
{
    pthread_mutex_lock(&a->mutex);
    if (p->is_at_work != joins)
        a->at_work += joins ? 1 : -1;
    p->is_at_work = joins;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->mutex);
}

void device_part_run(worker *w, void *average)
{
    ley_average *a = average;
    device_part *p = part_of(w, average);
    ley_error error = {.status = LEY_OK};
    pthread_mutex_lock(&a->mutex);
    const bool quits = a->quits;
    pthread_mutex_unlock(&a->mutex);
    if (w->device == NULL || p->has_failed || quits)
        return;
    p->info = w->info;
    join(a, p, true);
    ley_status status = p->is_ready ? LEY_OK : make_ready(p, w->device, &error);
    p->is_ready = p->is_ready || status == LEY_OK;
    if (status == LEY_OK)
        status = work(p, &error);
    if (status == LEY_ERROR_WRONG_RESULT && finish_slots(p, NULL) == LEY_OK)
        kernels_distrust(w->device);
    if (status != LEY_OK) {
        end_memory(p);
        fail(p, &error);
    }
    ley_error_clear(&error);
    join(a, p, false);
}

void device_part_left(worker *w, void *average)
{
    ley_average *a = average;
    device_part *p = part_of(w, average);
    device_part *again = device_part_create(a); /* the driver may use the other one for ever */
    pthread_mutex_lock(&a->mutex);
    give_back(a, p);
    if (again != NULL) {
        again->has_failed = true;
        again->info = p->info;
        ley_error_copy(&again->failure, &w->open_error);
        a->parts[w - w->engine->workers] = again;
    }
    pthread_mutex_unlock(&a->mutex);
    dev_keep(p);
}
