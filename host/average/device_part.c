#include "average/device_part.h"

#include "average/assistant.h"
#include "average/problem.h"
#include "average/sums.h"
#include "average/verify.h"
#include "error.h"
#include "log.h"
#include "parallel.h"
#include "watch.h"

#include <errno.h>
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
    ley_error_clear(&p->wrong);
    free(p);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static ley_status make_slot(device_part *p, part_slot *s, ley_error *error)
{
    const average_problem *o = &p->average->problem;
    const size_t positions = (size_t)o->chunk_frames * o->atoms * 3 * sizeof(float),
                 cells = (size_t)o->chunk_frames * PLACE_FLOATS * sizeof(float);
    const ley_status status = arena_buffer(&p->arena, positions, DEV_READ_ONLY, &s->positions.buffer, error);
    return status == LEY_OK ? arena_buffer(&p->arena, cells, DEV_READ_ONLY, &s->cells.buffer, error) : status;
}

static ley_status make_sums(device_part *p, ley_error *error)
{
    const average_problem *o = &p->average->problem;
    const size_t bytes = sums_nodes(o) * sizeof(int64_t);
    ley_status status = LEY_OK;
    for (int i = 0; i < 2 && status == LEY_OK; i++)
        status = arena_buffer(&p->arena, bytes, DEV_READ_WRITE, &p->sums[i].buffer, error);
    if (status == LEY_OK)
        status = arena_staging(&p->arena, bytes, &p->back, error);
    if (status == LEY_OK && o->options.verify_every > 0)
        status = arena_buffer(&p->arena, bytes, DEV_READ_WRITE, &p->single.buffer, error);
    if (status == LEY_OK && o->options.verify_every > 0)
        status = arena_staging(&p->arena, bytes, &p->single_back, error);
    return status;
}

static ley_status make_ready(device_part *p, dev *device, ley_error *error)
{
    const average_problem *o = &p->average->problem;
    p->arena = p->locked = (arena){.device = device};
    p->flight = (flight){.device = device};
    command_sequence *w = &p->slot[0].sequence;
    watch_expect(0);
    sequence_begin(w, &p->flight, NULL);
    ley_status status = spreader_create(&p->spreader, &p->arena, &o->mesh, o->atoms, o->quanta_float, w, error);
    if (status == LEY_OK)
        status = make_sums(p, error);
    for (int i = 0; i < PART_SLOTS && status == LEY_OK; i++)
        status = make_slot(p, &p->slot[i], error);
    if (status == LEY_OK && o->by_frame)
        status = frame_potential_create(&p->potential, &p->arena, o, w, error);
    if (status == LEY_OK)
        sequence_fill(w, p->sums[p->filling].buffer, 0, 0, sums_nodes(o) * sizeof(int64_t));
    const ley_status done = sequence_finish(w, status == LEY_OK ? error : NULL);
    return status == LEY_OK ? done : status;
}

static void end_memory(device_part *p)
{
    for (int i = 0; i < PART_SLOTS; i++)
        sequence_end(&p->slot[i].sequence);
    sequence_end(&p->handing);
    sequence_end(&p->checking);
    spreader_destroy(&p->spreader);
    frame_potential_destroy(&p->potential);
    arena_clear(&p->arena);
    p->is_ready = false;
}

void device_part_end(worker *w, void *average)
{
    device_part *p = part_of(w, average);
    if (p == NULL || p->arena.device == NULL)
        return;
    end_memory(p);
    arena_clear(&p->locked);
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

/* Chunks that are filled for the second time will be more often: a card takes them from page-locked
 * memory without a copy of its driver's. Where there is none they stay where they are. */
static void lock_positions(device_part *p, chunk *c)
{
    const size_t bytes = (size_t)p->average->problem.chunk_frames * p->average->problem.atoms * 3 * sizeof(float);
    dev_staging *locked = NULL;
    const bool is_wanted = c->may_move && !c->is_locked && p->arena.device->info->device_class != DEV_CPU;
    c->may_move = false;
    if (!is_wanted || arena_staging(&p->locked, bytes, &locked, NULL) != LEY_OK)
        return;
    copy_bytes(locked->bytes, c->position_A, bytes);
    chunk_move(c, locked->bytes);
}

/* Whether anything is on its way to the host. The caller holds the mutex. */
static bool is_coming(const device_part *p)
{
    return p->coming.count > 0 || (p->check.chunk != NULL && !p->check.has_come);
}

/* Sums, and a frame that is verified, that are on their way to the host become the assistant's,
 * once all that is in them has ended well: all chunks but the latest, if that set off behind
 * them. */
static ley_status receive(device_part *p, ley_error *error)
{
    ley_average *a = p->average;
    pthread_mutex_lock(&a->mutex);
    const bool comes = is_coming(p);
    pthread_mutex_unlock(&a->mutex);
    if (!comes)
        return LEY_OK;
    ley_status status = sequence_finish(&p->checking, error);
    if (status == LEY_OK)
        status = sequence_finish(&p->handing, error);
    for (int i = p->begun > 0 ? 1 : 0; i < PART_SLOTS && status == LEY_OK; i++)
        status = sequence_finish(&p->slot[(p->next + PART_SLOTS - 1 - i) % PART_SLOTS].sequence, error);
    pthread_mutex_lock(&a->mutex);
    if (status == LEY_OK && p->has_failed) /* others do these frames */
        status = ley_fail(error, LEY_ERROR_DEVICE, "the driver has returned too late");
    if (status == LEY_OK) {
        p->check.has_come = p->check.chunk != NULL;
        chunk_join(&p->handed, &p->coming);
        pthread_cond_broadcast(&a->changed);
    }
    pthread_mutex_unlock(&a->mutex);
    return status;
}

/* A frame is being verified, once the one before has been. */
static void set_check(device_part *p, const chunk *c, int frame)
{
    pthread_mutex_lock(&p->average->mutex);
    p->check = (frame_check){.chunk = c, .frame = frame};
    pthread_mutex_unlock(&p->average->mutex);
}

static ley_status await_check(device_part *p, ley_error *error)
{
    const ley_status status = receive(p, error);
    if (status == LEY_OK)
        assistant_await_check(p);
    return status;
}

/* The frames of a chunk that are to be verified are spread once more, each alone. */
static ley_status begin_checks(device_part *p, const chunk *c, const part_slot *s, ley_error *error)
{
    const size_t bytes = sums_nodes(&p->average->problem) * sizeof(int64_t);
    ley_status status = LEY_OK;
    for (int f = 0; f < c->frames && status == LEY_OK; f++) {
        if (!verify_wants(p->average, c->first + f, c->cell_A[f]))
            continue;
        status = await_check(p, error);
        if (status != LEY_OK)
            break;
        set_check(p, c, f);
        sequence_begin(&p->checking, &p->flight, NULL);
        sequence_fill(&p->checking, p->single.buffer, 0, 0, bytes);
        spreader_launch(&p->spreader, &p->checking, s->positions, s->cells, f, 1, p->single);
        sequence_read(&p->checking, p->single.buffer, 0, p->single_back, bytes);
        status = sequence_status(&p->checking, error);
        p->begun = 0;
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
        frame_potential_launch(&p->potential, &s->sequence, s->cells, f, p->sums[p->filling]);
        status = sequence_status(&s->sequence, error);
        if (status != LEY_OK || !verify_wants(p->average, c->first + f, c->cell_A[f]))
            continue;
        status = await_check(p, error);
        if (status == LEY_OK)
            sequence_read(&s->sequence, p->potential.phi.buffer, 0, p->potential.values_back,
                          sums_points(o) * sizeof(float));
        if (status == LEY_OK)
            status = sequence_finish(&s->sequence, error);
        if (status != LEY_OK)
            break;
        set_check(p, c, f);
        status = receive(p, error);
    }
    return status;
}

/* Of several ranks, one that takes frames while a processor is at its last ones has enough. */
static bool is_last(ley_average *a)
{
    pthread_mutex_lock(&a->mutex);
    const bool is = a->ranks.count > 1 && !a->problem.by_cards && a->waiting.count == 0;
    pthread_mutex_unlock(&a->mutex);
    return is;
}

/* The device gets a chunk's frames, and spreads them. */
static ley_status begin_chunk(device_part *p, chunk *c, ley_error *error)
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
    lock_positions(p, c);
    p->begun++;
    sequence_begin(&s->sequence, &p->flight, NULL);
    sequence_send(&s->sequence, s->positions.buffer, 0, &(dev_staging){c->position_A, positions}, 0, positions);
    sequence_write(&s->sequence, s->cells.buffer, 0, c->floats, cells);
    if (p->average->problem.by_frame)
        return do_frames(p, c, s, error);
    spreader_launch(&p->spreader, &s->sequence, s->positions, s->cells, 0, c->frames, p->sums[p->filling]);
    status = sequence_status(&s->sequence, error);
    if (status == LEY_OK)
        status = begin_checks(p, c, s, error);
    return status == LEY_OK && is_last(p->average) ? sequence_finish(&s->sequence, error) : status;
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

/* What the device holds sets off to the host behind all that was launched; what it takes next goes
 * into other sums, of zeros. Potentials have one sum each, which is waited for. */
static ley_status send_off(device_part *p, ley_error *error)
{
    ley_average *a = p->average;
    const size_t bytes = sums_nodes(&a->problem) * sizeof(int64_t);
    ley_status status = receive(p, error);
    if (status != LEY_OK)
        return status;
    assistant_await(p);
    command_sequence *w = &p->handing;
    sequence_begin(w, &p->flight, NULL);
    sequence_fill(w, p->sums[1 - p->filling].buffer, 0, 0, bytes);
    sequence_read(w, p->sums[p->filling].buffer, 0, p->back, bytes);
    if (a->problem.by_frame)
        frame_potential_read(&p->potential, w);
    p->filling = 1 - p->filling;
    p->begun = 0;
    pthread_mutex_lock(&a->mutex);
    chunk_join(&p->coming, &p->held);
    p->held_frames = 0;
    pthread_mutex_unlock(&a->mutex);
    status = sequence_status(w, error);
    return status == LEY_OK && a->problem.by_frame ? receive(p, error) : status;
}

/* Whether what the device holds must be handed over before it takes this chunk. */
static bool must_send(const device_part *p, const chunk *c)
{
    const ley_average *a = p->average;
    const size_t devices = a->engine->candidate_count;
    const int chunks = chunk_count(a->problem.atoms, devices) / (2 * (int)devices),
              most = (chunks > 1 ? chunks : 1) * a->problem.chunk_frames;
    return p->held.count > 0 &&
           (p->held.first->is_partial || c->is_partial || sums_block(&a->problem, c->first) != p->block ||
            p->held_frames + c->frames >
                (a->problem.by_frame ? (int)PROBLEM_FRAMES_OF_SUMS : (int)SPREAD_MOST_FRAMES) ||
            p->held_frames + c->frames > most);
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

typedef enum order { ORDER_TAKE, ORDER_SEND, ORDER_RECEIVE, ORDER_FAIL, ORDER_LEAVE } order;

/* Whether something comes to the host that has had the time of a chunk for it, or all there is. */
static bool must_receive(const device_part *p)
{
    return is_coming(p) && (p->average->waiting.first == NULL || p->begun > 0);
}

static order next_order(device_part *p, chunk **taken)
{
    ley_average *a = p->average;
    order next = ORDER_LEAVE;
    bool waits = true;
    pthread_mutex_lock(&a->mutex);
    while (waits && !a->quits) {
        if (p->wrong.status != LEY_OK || must_receive(p)) {
            next = p->wrong.status != LEY_OK ? ORDER_FAIL : ORDER_RECEIVE;
            break;
        }
        if (a->waiting.first != NULL) {
            next = must_send(p, a->waiting.first) ? ORDER_SEND : ORDER_TAKE;
            *taken = next == ORDER_TAKE ? chunk_take(&a->waiting) : NULL;
            if (*taken != NULL)
                hold(p, *taken);
            if (*taken != NULL)
                pthread_cond_broadcast(&a->changed);
            break;
        }
        if (p->held.count > 0 && (a->wants_all || a->is_starving)) {
            next = ORDER_SEND;
            break;
        }
        waits = wait_for_work(a, p);
    }
    pthread_mutex_unlock(&a->mutex);
    return next;
}

static void keep_positions(const chunk_list *list)
{
    for (chunk *c = list->first; c != NULL; c = c->next)
        c->is_kept = true;
}

/* What it has is dealt again; its driver may still read it, or not. The caller holds the mutex. */
static void give_back(ley_average *a, device_part *p, bool may_read)
{
    if (may_read) {
        keep_positions(&p->held);
        keep_positions(&p->coming);
    }
    chunk_join(&a->waiting, &p->held);
    chunk_join(&a->waiting, &p->coming);
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
    give_back(a, p, p->arena.device != NULL && p->arena.device->is_lost);
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
        status = next == ORDER_TAKE      ? begin_chunk(p, c, error)
                 : next == ORDER_SEND    ? send_off(p, error)
                 : next == ORDER_RECEIVE ? receive(p, error)
                                         : p->wrong.status;
        if (next == ORDER_FAIL)
            ley_error_copy(error, &p->wrong);
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
        assistant_await(p);
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
    give_back(a, p, true);
    if (!p->are_sums_in_hand)
        chunk_join(&a->waiting, &p->handed);
    if (again != NULL) {
        again->has_failed = true;
        again->info = p->info;
        ley_error_copy(&again->failure, &w->open_error);
        a->parts[w - w->engine->workers] = again;
    }
    pthread_mutex_unlock(&a->mutex);
    dev_keep(p);
}
