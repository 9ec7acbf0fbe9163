/* The caller's thread makes potentials; one beside it adds those of the frames before. A plan works
 * on the host and on the device in turn, each of which is idle half of the time: on cards a second
 * plan makes every other frame on a thread of its own. It has prepared the same, so that it does
 * not matter which of them has a frame. What is prepared anew, as for another cell, is so by the
 * first plan alone, and the second one follows it as soon as cells stay what they are. */
#include "average/bare.h"

#include "average/sums.h"
#include "error.h"
#include "log.h"
#include "memory.h"
#include "parallel.h"
#include "plan/plan.h"
#include "target/map.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Frames that the first plan must have done by what it keeps before a second one is made; so many
 * times more each time that this was in vain. */
enum { LEAST_KEPT = 8, MORE_KEPT = 2 };

typedef struct lane {
    ley_plan *plan;
    ley_map *map, *former; /* a run makes values in the first one, the second one has those of a frame before: */
    int64_t former_frame;
    bool is_pending; /* which are being added */
} lane;

/* What the second plan is at: nothing; a frame; it has done that, or failed. */
typedef enum turn { TURN_FREE, TURN_BEGUN, TURN_DONE, TURN_FAILED } turn;

struct bare_frames {
    lane lane[2];
    double cell_A[9]; /* of the first plan */
    pthread_t adder, other;
    bool has_adder, has_other;

    /* The second plan's frame: the caller's thread has dealt it, and its values are not in the sums. */
    bool is_dealt;
    turn turn; /* under the average's mutex */
    int64_t frame;
    float *position_A;
    int64_t kept, wanted;  /* frames that the first plan has done by what it keeps; that it must have done */
    int64_t in_turn;       /* frames that second plans have made */
    ley_plan_totals ended; /* of those plans */
};

static void end_lane(lane *l)
{
    ley_plan_destroy(l->plan);
    ley_map_destroy(l->map);
    ley_map_destroy(l->former);
    *l = (lane){.plan = NULL};
}

void bare_destroy(ley_average *a)
{
    bare_frames *b = a->bare;
    if (b == NULL)
        return;
    if (b->has_adder)
        pthread_join(b->adder, NULL); /* `quits` is set */
    if (b->has_other)
        pthread_join(b->other, NULL);
    end_lane(&b->lane[1]);
    end_lane(&b->lane[0]);
    free(b->position_A);
    free(b);
    a->bare = NULL;
}

bare_counts bare_count(const ley_average *a)
{
    const bare_frames *b = a->bare;
    return b != NULL ? (bare_counts){b->in_turn, plan_prepared(b->lane[0].plan)} : (bare_counts){0, 0};
}

void bare_cancel(ley_average *a)
{
    if (a->bare != NULL && a->bare->lane[0].plan != NULL)
        ley_plan_cancel(a->bare->lane[0].plan);
}

/* As seen from the map's first point, which is a fraction of each frame's own cell: a plan's map
 * stays where it is. */
static void find_first(const ley_average *a, const double cell_A[9], double first_A[3])
{
    first_A[0] = first_A[1] = first_A[2] = 0;
    for (int i = 0; i < 9; i++)
        first_A[i % 3] += a->problem.origin[i / 3] * cell_A[i];
}

static ley_status move(const ley_average *a, ley_plan *plan, const float *position_A, const double cell_A[9],
                       ley_error *error)
{
    double vector_A[3][3], first_A[3];
    find_first(a, cell_A, first_A);
    memcpy(vector_A, cell_A, sizeof vector_A);
    return plan_move(plan, position_A, first_A, (const double(*)[3])vector_A, error);
}

static void request_of(const average_problem *p, const double cell_A[9], ley_request *request)
{
    ley_request_default(request);
    request->tolerance = p->options.tolerance;
    request->potential.units = p->options.units;
    request->potential.dielectric = p->options.dielectric;
    request->potential.temperature_K = p->options.temperature_K;
    for (int axis = 0; axis < 3; axis++)
        request->potential.periodic[axis] = true;
    memcpy(request->potential.cell_A, cell_A, sizeof request->potential.cell_A);
}

static ley_grid grid_of(const average_problem *p, const double cell_A[9])
{
    ley_grid grid = {.n = {p->n[0], p->n[1], p->n[2]}};
    for (int axis = 0; axis < 3; axis++)
        for (int d = 0; d < 3; d++)
            grid.step_A[axis][d] = cell_A[3 * axis + d] / (double)p->n[axis];
    return grid;
}

static ley_status make_atoms(const ley_average *a, const float *position_A, const double cell_A[9], ley_atoms **atoms,
                             ley_error *error)
{
    const size_t n = a->problem.atoms;
    double *seen_A = malloc(3 * n * sizeof *seen_A), first_A[3];
    if (seen_A == NULL)
        return ley_fail_memory(error, 24 * n, "a frame");
    find_first(a, cell_A, first_A);
    for (size_t i = 0; i < 3 * n; i++)
        seen_A[i] = (double)position_A[i] - first_A[i % 3];
    const ley_status status = ley_atoms_create(n, seen_A, a->problem.charge_e, NULL, atoms, error);
    free(seen_A);
    return status;
}

static ley_status make_plan(ley_average *a, lane *l, const float *position_A, const double cell_A[9],
                            const ley_run_options *options, ley_error *error)
{
    const ley_grid grid = grid_of(&a->problem, cell_A);
    ley_request request;
    ley_atoms *atoms = NULL;
    request_of(&a->problem, cell_A, &request);
    ley_status status = ley_map_create(&grid, &l->map, error);
    if (status == LEY_OK)
        status = ley_map_create(&grid, &l->former, error);
    if (status == LEY_OK)
        status = make_atoms(a, position_A, cell_A, &atoms, error);
    if (status == LEY_OK)
        status = ley_plan_create(a->engine, atoms, (ley_target){.map = l->map}, &request, options, &l->plan, error);
    ley_atoms_destroy(atoms);
    return status;
}

/* ---- Sums ------------------------------------------------------------------------------------ */

static ley_status add_former(ley_average *a, const lane *l, ley_error *error)
{
    static const int64_t no_charge[1];
    const part_sums part = {
        .first = l->former_frame, .frames = 1, .charge = no_charge, .value = ley_map_read_values(l->former)};
    return sums_add(a, &part, error);
}

static void *add_frames(void *context)
{
    ley_average *a = context;
    ley_error error = {.status = LEY_OK};
    pthread_mutex_lock(&a->mutex);
    while (!a->quits) {
        if (a->pending == 0 || a->failure.status != LEY_OK) {
            pthread_cond_wait(&a->changed, &a->mutex);
            continue;
        }
        lane *l = &a->bare->lane[a->bare->lane[0].is_pending ? 0 : 1];
        pthread_mutex_unlock(&a->mutex);
        const ley_status status = add_former(a, l, &error);
        pthread_mutex_lock(&a->mutex);
        if (status != LEY_OK)
            ley_error_copy(&a->failure, &error);
        l->is_pending = false;
        a->pending--;
        pthread_cond_broadcast(&a->changed);
    }
    pthread_mutex_unlock(&a->mutex);
    ley_error_clear(&error);
    return NULL;
}

/* The lane's values are those of this frame; waits until those of its one before are added. */
static ley_status deal(ley_average *a, lane *l, int64_t frame, ley_error *error)
{
    pthread_mutex_lock(&a->mutex);
    while (l->is_pending && a->failure.status == LEY_OK)
        pthread_cond_wait(&a->changed, &a->mutex);
    const ley_status status = a->failure.status;
    if (status == LEY_OK) {
        map_swap_values(l->map, l->former);
        l->former_frame = frame;
        l->is_pending = true;
        a->pending++;
        pthread_cond_broadcast(&a->changed);
    } else {
        ley_error_copy(error, &a->failure);
    }
    pthread_mutex_unlock(&a->mutex);
    return status;
}

/* ---- The second plan's frame ----------------------------------------------------------------- */

static void *do_other(void *context)
{
    ley_average *a = context;
    bare_frames *b = a->bare;
    pthread_mutex_lock(&a->mutex);
    while (!a->quits) {
        if (b->turn != TURN_BEGUN) {
            pthread_cond_wait(&a->changed, &a->mutex);
            continue;
        }
        pthread_mutex_unlock(&a->mutex);
        const bool is_done = move(a, b->lane[1].plan, b->position_A, b->cell_A, NULL) == LEY_OK &&
                             plan_run_kept(b->lane[1].plan, b->frame + 1);
        pthread_mutex_lock(&a->mutex);
        b->turn = is_done ? TURN_DONE : TURN_FAILED;
        pthread_cond_broadcast(&a->changed);
    }
    pthread_mutex_unlock(&a->mutex);
    return NULL;
}

static void set_turn(ley_average *a, turn next)
{
    pthread_mutex_lock(&a->mutex);
    a->bare->turn = next;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->mutex);
}

/* What came of the frame that it has begun, if any. */
static turn await_other(ley_average *a)
{
    pthread_mutex_lock(&a->mutex);
    while (a->bare->turn == TURN_BEGUN)
        pthread_cond_wait(&a->changed, &a->mutex);
    const turn now = a->bare->turn;
    pthread_mutex_unlock(&a->mutex);
    return now;
}

/* Waits for its verification, and ends it. */
static ley_status end_second(ley_average *a, ley_error *error)
{
    bare_frames *b = a->bare;
    lane *l = &b->lane[1];
    ley_plan_totals own = {0};
    if (l->plan == NULL)
        return LEY_OK;
    pthread_mutex_lock(&a->mutex);
    while (l->is_pending && a->failure.status == LEY_OK)
        pthread_cond_wait(&a->changed, &a->mutex);
    pthread_mutex_unlock(&a->mutex);
    const ley_status status = ley_plan_finish(l->plan, &own, error);
    b->ended.checked_runs += own.checked_runs;
    b->ended.checked_points += own.checked_points;
    b->ended.relative_rms = fmax(b->ended.relative_rms, own.relative_rms);
    end_lane(l);
    b->kept = 0;
    return status;
}

/* ---- Frames ---------------------------------------------------------------------------------- */

static ley_status begin(ley_average *a, const float *position_A, const double cell_A[9], ley_error *error)
{
    ley_run_options options;
    bare_frames *b = calloc(1, sizeof *b);
    if (b == NULL)
        return ley_fail_memory(error, sizeof *b, "a plan");
    a->bare = b;
    b->wanted = LEAST_KEPT;
    ley_run_options_default(&options);
    ley_status status = make_plan(a, &b->lane[0], position_A, cell_A, &options, error);
    if (status == LEY_OK) {
        b->has_adder = parallel_start(&b->adder, add_frames, a) == 0;
        status = b->has_adder ? LEY_OK : ley_fail(error, LEY_ERROR_MEMORY, "no thread for the average");
    }
    if (status != LEY_OK)
        bare_destroy(a);
    return status;
}

/* A frame by the first plan, which may prepare it anew; then the second one has to follow. */
static ley_status do_alone(ley_average *a, int64_t frame, const float *position_A, const double cell_A[9],
                           ley_error *error)
{
    bare_frames *b = a->bare;
    lane *first = &b->lane[0];
    const int64_t prepared = plan_prepared(first->plan);
    ley_status status = move(a, first->plan, position_A, cell_A, error);
    if (status == LEY_OK)
        status = ley_plan_run(first->plan, error);
    memmove(b->cell_A, cell_A, sizeof b->cell_A); /* perhaps this very one */
    b->kept = status == LEY_OK && plan_prepared(first->plan) == prepared ? b->kept + 1 : 0;
    if (status == LEY_OK && b->kept == 0)
        status = end_second(a, error);
    if (status != LEY_OK) {
        ley_error_prefix(error, "frame %lld", (long long)frame + 1);
        return status;
    }
    return deal(a, first, frame, error);
}

/* Whether its values are those that the first plan would have, had it done all frames before. */
static ley_status judge(const bare_frames *b, const lane *l, int64_t frame, bool *is_good, ley_error *error)
{
    const ley_status status = plan_judge(l->plan, b->lane[0].plan, is_good, error);
    if (status != LEY_OK)
        ley_error_prefix(error, "frame %lld", (long long)frame + 1);
    return status;
}

/* The second plan's frame joins the sums; or the first plan does it once more. */
static ley_status settle(ley_average *a, ley_error *error)
{
    bare_frames *b = a->bare;
    ley_status status = LEY_OK;
    if (!b->is_dealt)
        return LEY_OK;
    bool is_good = await_other(a) == TURN_DONE;
    if (is_good)
        status = judge(b, &b->lane[1], b->frame, &is_good, error);
    if (status == LEY_OK && is_good) {
        status = deal(a, &b->lane[1], b->frame, error);
        b->in_turn++;
    } else if (status == LEY_OK) {
        plan_begin_anew(b->lane[0].plan, b->frame + 1);
        status = do_alone(a, b->frame, b->position_A, b->cell_A, error);
    }
    set_turn(a, status == LEY_OK ? TURN_FREE : TURN_FAILED); /* what fails, as where it is cancelled, comes again */
    b->is_dealt = status != LEY_OK;
    return status;
}

ley_status bare_settle(ley_average *a, ley_error *error)
{
    return a->bare != NULL ? settle(a, error) : LEY_OK;
}

/* Beside the second plan's frame. */
static ley_status do_beside(ley_average *a, int64_t frame, const float *position_A, const double cell_A[9],
                            ley_error *error)
{
    bare_frames *b = a->bare;
    lane *first = &b->lane[0];
    bool is_good = memcmp(cell_A, b->cell_A, sizeof b->cell_A) == 0 &&
                   move(a, first->plan, position_A, cell_A, NULL) == LEY_OK && plan_run_kept(first->plan, frame + 1);
    ley_status status = settle(a, error);
    is_good = is_good && b->lane[1].plan != NULL; /* else the first plan has prepared anew */
    if (status == LEY_OK && is_good)
        status = judge(b, first, frame, &is_good, error);
    if (status != LEY_OK)
        return status;
    if (is_good)
        return deal(a, first, frame, error);
    if (b->lane[1].plan != NULL)
        plan_begin_anew(first->plan, frame + 1);
    return do_alone(a, frame, position_A, cell_A, error);
}

/* ---- A second plan --------------------------------------------------------------------------- */

/* Room for another plan's maps, atoms and meshes; these are on devices as well, where half of the
 * memory must do for both plans. */
static ley_status check_room(const ley_average *a, const double cell_A[9], ley_error *error)
{
    static const double point_bytes = 64, points_per_A3 = 4;
    const average_problem *p = &a->problem;
    const ley_grid grid = grid_of(p, cell_A);
    const double *c = cell_A,
                 volume_A3 = fabs(c[0] * (c[4] * c[8] - c[5] * c[7]) + c[1] * (c[5] * c[6] - c[3] * c[8]) +
                                  c[2] * (c[3] * c[7] - c[4] * c[6])),
                 points = fmax((double)ley_grid_points(&grid), points_per_A3 * volume_A3),
                 bytes = point_bytes * (points + (double)p->atoms);
    for (size_t i = 0; i < a->engine->worker_count; i++)
        if (4 * bytes > (double)a->engine->workers[i].info->global_bytes)
            return ley_fail(error, LEY_ERROR_MEMORY, "%s has too little memory", a->engine->workers[i].info->name);
    return memory_check_one("a second plan", bytes, "fewer points", error);
}

static ley_status make_second(ley_average *a, const float *position_A, const double cell_A[9], ley_error *error)
{
    bare_frames *b = a->bare;
    const ley_report *report = ley_plan_report(b->lane[0].plan);
    const size_t bytes = 3 * a->problem.atoms * sizeof *b->position_A;
    ley_run_options options;
    ley_run_options_default(&options);
    options.sum = report->sum;
    options.decisions = report->decisions;
    options.decision_count = report->decision_count;
    options.verify_seed++; /* other points */
    ley_status status = check_room(a, cell_A, error);
    if (status == LEY_OK && b->position_A == NULL && (b->position_A = malloc(bytes)) == NULL)
        status = ley_fail_memory(error, bytes, "a frame");
    if (status == LEY_OK)
        status = make_plan(a, &b->lane[1], position_A, cell_A, &options, error);
    if (status == LEY_OK)
        status = ley_plan_run(b->lane[1].plan, error);
    if (status == LEY_OK && !b->has_other) {
        b->has_other = parallel_start(&b->other, do_other, a) == 0;
        status = b->has_other ? LEY_OK : ley_fail(error, LEY_ERROR_MEMORY, "no thread for it");
    }
    return status;
}

/* The first plan has done this frame by what it keeps: so does the second one, which is taken where
 * it makes the same bytes. */
static void begin_second(ley_average *a, int64_t frame, const float *position_A, const double cell_A[9])
{
    bare_frames *b = a->bare;
    ley_error why = {.status = LEY_OK};
    const size_t bytes = sums_points(&a->problem) * sizeof(float);
    ley_status status = make_second(a, position_A, cell_A, &why);
    if (status == LEY_OK &&
        (!plan_run_kept(b->lane[1].plan, frame + 1) ||
         memcmp(ley_map_read_values(b->lane[0].former), ley_map_read_values(b->lane[1].map), bytes) != 0))
        status = ley_fail(&why, LEY_ERROR_DEVICE, "its values are not the same");
    if (status != LEY_OK) {
        log_say(LEY_LOG_NOTE, "one plan makes all frames, a second one does not do: %s", why.message);
        end_lane(&b->lane[1]);
    }
    b->kept = 0;
    b->wanted *= MORE_KEPT;
    ley_error_clear(&why);
}

static bool is_second_wanted(const ley_average *a)
{
    const bare_frames *b = a->bare;
    return a->on_cards && b->lane[1].plan == NULL && b->kept >= b->wanted;
}

ley_status bare_add(ley_average *a, const float *position_A, const double cell_A[9], ley_error *error)
{
    ley_status status = a->bare != NULL ? LEY_OK : begin(a, position_A, cell_A, error);
    bare_frames *b = a->bare;
    if (status != LEY_OK)
        return status;
    if (b->is_dealt)
        return do_beside(a, a->added, position_A, cell_A, error);
    if (b->lane[1].plan != NULL && memcmp(cell_A, b->cell_A, sizeof b->cell_A) == 0) {
        memcpy(b->position_A, position_A, 3 * a->problem.atoms * sizeof *position_A);
        b->frame = a->added;
        b->is_dealt = true;
        set_turn(a, TURN_BEGUN);
        return LEY_OK;
    }
    status = do_alone(a, a->added, position_A, cell_A, error);
    if (status == LEY_OK && is_second_wanted(a))
        begin_second(a, a->added, position_A, cell_A);
    return status;
}

/* What was prepared anew is verified by itself, the others by samples. */
ley_status bare_finish(ley_average *a, ley_average_totals *totals, ley_error *error)
{
    bare_frames *b = a->bare;
    ley_plan_totals done, other = {0};
    if (b == NULL)
        return LEY_OK;
    ley_status status = ley_plan_finish(b->lane[0].plan, &done, error);
    if (status == LEY_OK && b->lane[1].plan != NULL)
        status = ley_plan_finish(b->lane[1].plan, &other, error);
    const ley_report *report = ley_plan_report(b->lane[0].plan);
    if (status != LEY_OK || report == NULL)
        return status;
    totals->checked_frames = done.checked_runs + done.prepared + other.checked_runs + b->ended.checked_runs;
    totals->checked_points =
        (int64_t)(done.checked_points + report->accuracy.points + other.checked_points + b->ended.checked_points);
    for (size_t i = 0; i < report->device_count; i++) {
        const size_t used = strlen(totals->device);
        totals->devices++;
        snprintf(totals->device + used, sizeof totals->device - used, "%s%s", used > 0 ? ", " : "",
                 report->devices[i].device->name);
    }
    totals->relative_rms =
        fmax(fmax(done.relative_rms, report->accuracy.relative_rms), fmax(other.relative_rms, b->ended.relative_rms));
    return LEY_OK;
}
