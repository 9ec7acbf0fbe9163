#include "core/options.h"
#include "error.h"
#include "memory.h"
#include "parallel.h"
#include "series/frame.h"
#include "series/mesh_frames.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const double most_charge_e = 1e6, most_position_A = 1e8;

/* s = beta rc to begin with, a step of it, and the largest one, of which erfc is 2e-12; and how
 * much more the sums have that others are held against. */
static const double first_s = 2.5, step_s = 0.25, most_s = 5, more_s = 1;
/* Frames that are summed twice. */
enum { TRIED = 4 };
/* What errors are relative to is no less than this share of what one charge brings at the distance
 * at which charges are. */
static const double least_share = 0.01;

struct ley_series {
    ley_series_options o;
    double constant;
    size_t n, charges, points;
    size_t *atom;              /* [charges]: of all, those that have one */
    double *charge_e;          /* [n] */
    int64_t *first, *excluded; /* [points + 1]; NULL: none is */
    bool is_decided, is_open;
    ley_series_method method;
    frame_sum sum;
    ley_series_report report;
    double mesh_tolerance;
};

void ley_series_options_default(ley_series_options *options)
{
    ley_direct direct;
    ley_direct_default(&direct);
    *options = (ley_series_options){.size = sizeof *options,
                                    .units = direct.units,
                                    .dielectric = direct.dielectric,
                                    .temperature_K = direct.temperature_K,
                                    .r_min_A = direct.r_min_A,
                                    .tolerance = 1e-5};
}

/* ---- Making it ------------------------------------------------------------------------------- */

static ley_status take_charges(ley_series *s, const double *charge_e, ley_error *error)
{
    for (size_t j = 0; j < s->n; j++) {
        if (!(fabs(charge_e[j]) <= most_charge_e))
            return ley_fail(error, LEY_ERROR_INPUT, "atom %zu: charge %g e, must be %g e at most", j + 1, charge_e[j],
                            most_charge_e);
        s->charge_e[j] = charge_e[j];
        if (charge_e[j] != 0)
            s->atom[s->charges++] = j;
    }
    return s->charges > 0 ? LEY_OK
                          : ley_fail(error, LEY_ERROR_INPUT,
                                     "every charge is 0, so that the potential is 0 everywhere: the source has to have "
                                     "charges");
}

static ley_status check_options(const ley_series_options *o, ley_error *error)
{
    const ley_status status = options_check_medium(o, error);
    if (status != LEY_OK)
        return status;
    if ((unsigned)o->method > LEY_SERIES_MESH)
        return ley_fail(error, LEY_ERROR_USAGE, "method %d, must be one of ley_series_method", (int)o->method);
    return options_check_tolerance(o->tolerance, error);
}

static ley_status make(ley_series *s, const double *charge_e, ley_error *error)
{
    if (s->n == 0 || s->n > INT32_MAX || s->points == 0 || s->points > INT32_MAX)
        return ley_fail(error, LEY_ERROR_INPUT, "%zu atoms and %zu points: each must be 1 to 2^31 - 1", s->n,
                        s->points);
    s->atom = malloc(s->n * sizeof *s->atom);
    s->charge_e = malloc(s->n * sizeof *s->charge_e);
    if (s->atom == NULL || s->charge_e == NULL)
        return ley_fail_memory(error, s->n * (sizeof *s->atom + sizeof *s->charge_e), "charges of a series");
    s->constant = ley_coulomb_constant(s->o.units, s->o.dielectric, s->o.temperature_K);
    s->sum.r_min_A = s->o.r_min_A;
    s->mesh_tolerance = s->o.tolerance;
    return take_charges(s, charge_e, error);
}

ley_status ley_series_create(size_t n, const double *charge_e, size_t points, const ley_series_options *options,
                             ley_series **series, ley_error *error)
{
    ley_series *s = calloc(1, sizeof *s);
    if (s == NULL)
        return ley_fail_memory(error, sizeof *s, "a series");
    s->n = n;
    s->points = points;
    s->report.method = "";
    s->report.close_frame = -1;
    ley_status status = OPTIONS_TAKE(ley_series_options, engine, &s->o, options, error);
    if (status == LEY_OK)
        status = check_options(&s->o, error);
    if (status == LEY_OK)
        status = make(s, charge_e, error);
    if (status == LEY_OK)
        *series = s;
    else
        ley_series_destroy(s);
    return status;
}

void ley_series_destroy(ley_series *s)
{
    if (s == NULL)
        return;
    free(s->atom);
    free(s->charge_e);
    free(s->first);
    free(s->excluded);
    free(s);
}

ley_status ley_series_exclude(ley_series *s, const int64_t *first, const int64_t *atom, ley_error *error)
{
    bool follow = first[0] == 0;
    for (size_t p = 0; p < s->points; p++)
        follow = follow && first[p + 1] >= first[p];
    if (!follow)
        return ley_fail(error, LEY_ERROR_INPUT, "lists of excluded atoms begin with 0 and follow each other");
    const size_t count = (size_t)first[s->points];
    for (size_t i = 0; i < count; i++)
        if (atom[i] < 0 || (size_t)atom[i] >= s->n)
            return ley_fail(error, LEY_ERROR_INPUT, "an excluded atom has the number %lld, and there are %zu atoms",
                            (long long)atom[i], s->n);
    int64_t *own_first = malloc((s->points + 1) * sizeof *own_first), *own = malloc((count + 1) * sizeof *own);
    if (own_first == NULL || own == NULL) {
        free(own_first);
        free(own);
        return ley_fail_memory(error, (s->points + count) * sizeof *own, "excluded atoms");
    }
    memcpy(own_first, first, (s->points + 1) * sizeof *own_first);
    if (count > 0)
        memcpy(own, atom, count * sizeof *own);
    free(s->first);
    free(s->excluded);
    s->first = own_first;
    s->excluded = own;
    return LEY_OK;
}

ley_series_report ley_series_report_of(const ley_series *s)
{
    return s->report;
}

/* ---- One frame ------------------------------------------------------------------------------- */

/* Frames that are summed side by side, and what came of it. */
typedef struct running {
    ley_series *s;
    const frame_sum *sum;
    const ley_series_frames *frames;
    point_sum *at; /* [count][points], of unit charges */
    size_t every;  /* of the frames each so many is summed */
    pthread_mutex_t mutex;
    ley_status status;
    ley_error error;
    size_t failed; /* the first frame that has */
    int64_t waves;
} running;

static void note_failure(running *r, size_t frame, ley_status status, const ley_error *error)
{
    pthread_mutex_lock(&r->mutex);
    if (r->status == LEY_OK || frame < r->failed) {
        r->status = status;
        r->error = *error;
        r->failed = frame;
    }
    pthread_mutex_unlock(&r->mutex);
}

static long long number_of(const running *r, size_t frame)
{
    return (long long)(r->frames->number != NULL ? r->frames->number[frame] : (int64_t)frame);
}

static ley_status cell_of(const running *r, size_t frame, cell *c, ley_error *error)
{
    const bool is_open = r->sum->is_open, periodic[3] = {!is_open, !is_open, !is_open};
    double vector_A[3][3] = {{0}};
    ley_error why = {0};
    if (!is_open)
        memcpy(vector_A, r->frames->cell_A + 9 * frame, sizeof vector_A);
    const ley_status status = cell_make(periodic, (const double(*)[3])vector_A, c, &why);
    return status == LEY_OK ? status : ley_fail(error, status, "frame %lld: %s", number_of(r, frame), why.message);
}

/* The charges' places. */
static ley_status take_places(const running *r, size_t frame, double *position_A, ley_error *error)
{
    const ley_series *s = r->s;
    const float *from = r->frames->position_A + 3 * s->n * frame;
    const double *point_A = r->frames->point_A + 3 * s->points * frame;
    for (size_t i = 0; i < s->charges; i++)
        for (size_t axis = 0; axis < 3; axis++) {
            const double x = (double)from[3 * s->atom[i] + axis];
            if (!(fabs(x) <= most_position_A))
                return ley_fail(error, LEY_ERROR_INPUT, "frame %lld: atom %zu is at %g A, must be within %g A",
                                number_of(r, frame), s->atom[i] + 1, x, most_position_A);
            position_A[3 * i + axis] = x;
        }
    for (size_t i = 0; i < 3 * s->points; i++)
        if (!(fabs(point_A[i]) <= most_position_A))
            return ley_fail(error, LEY_ERROR_INPUT, "frame %lld: point %zu is at %g A, must be within %g A",
                            number_of(r, frame), i / 3, point_A[i], most_position_A);
    return LEY_OK;
}

static void leave_out(const running *r, size_t frame, const cell *c, size_t point, point_sum *at)
{
    const ley_series *s = r->s;
    const double *point_A = r->frames->point_A + 3 * (s->points * frame + point);
    for (int64_t i = s->first[point]; i < s->first[point + 1]; i++) {
        const size_t j = (size_t)s->excluded[i];
        double way_A[3];
        if (s->charge_e[j] == 0) /* nobody has looked at its place */
            continue;
        for (size_t axis = 0; axis < 3; axis++)
            way_A[axis] = point_A[axis] - (double)r->frames->position_A[3 * (s->n * frame + j) + axis];
        cell_bring_near(c, way_A);
        frame_leave_out(r->sum, way_A, s->charge_e[j], at);
    }
}

/* Points of a frame, several at a time. */
typedef struct at_points {
    const running *r;
    const series_frame *f;
    const cell *c;
    size_t frame;
    pthread_mutex_t mutex;
    ley_status status;
    ley_error error;
} at_points;

static void sum_points(void *context, size_t first, size_t last)
{
    at_points *at = context;
    const ley_series *s = at->r->s;
    for (size_t block = first; block < last; block++) {
        const size_t p = block * FRAME_POINTS, count = s->points - p < FRAME_POINTS ? s->points - p : FRAME_POINTS,
                     to = s->points * at->frame + p;
        ley_error error = {0};
        const ley_status status = frame_at(at->f, count, at->r->frames->point_A + 3 * to, at->r->at + to, &error);
        for (size_t i = 0; s->first != NULL && i < count; i++)
            leave_out(at->r, at->frame, at->c, p + i, &at->r->at[to + i]);
        if (status == LEY_OK)
            continue;
        pthread_mutex_lock(&at->mutex);
        at->status = status;
        at->error = error;
        pthread_mutex_unlock(&at->mutex);
    }
}

static ley_status sum_frame(running *r, size_t frame, double *position_A, double *charge_e, ley_error *error)
{
    series_frame *f = NULL;
    cell c;
    ley_status status = take_places(r, frame, position_A, error);
    if (status == LEY_OK)
        status = cell_of(r, frame, &c, error);
    if (status == LEY_OK)
        status = frame_create(r->sum, &c, r->s->charges, position_A, charge_e, &f, error);
    if (status != LEY_OK)
        return status;
    at_points at = {.r = r, .f = f, .c = &c, .frame = frame, .mutex = PTHREAD_MUTEX_INITIALIZER};
    parallel_ranges((r->s->points + FRAME_POINTS - 1) / FRAME_POINTS, sum_points, &at);
    if (at.status != LEY_OK && error != NULL)
        *error = at.error;
    pthread_mutex_lock(&r->mutex);
    r->waves = frame_waves(f);
    pthread_mutex_unlock(&r->mutex);
    frame_destroy(f);
    return at.status;
}

static void sum_frames(void *context, size_t first, size_t last)
{
    running *r = context;
    const ley_series *s = r->s;
    double *position_A = malloc(3 * s->charges * sizeof *position_A), *charge_e = malloc(s->charges * sizeof *charge_e);
    ley_error error = {0};
    if (position_A == NULL || charge_e == NULL) {
        const ley_status status =
            ley_fail_memory(&error, 4 * s->charges * sizeof *position_A, "the frames of a series");
        note_failure(r, first, status, &error);
        last = first;
    }
    for (size_t i = 0; i < s->charges && first < last; i++)
        charge_e[i] = s->charge_e[s->atom[i]];
    for (size_t i = first; i < last; i++) {
        ley_status status = LEY_CANCELLED;
        if (r->frames->cancel == NULL || !*r->frames->cancel)
            status = sum_frame(r, i * r->every, position_A, charge_e, &error);
        else
            ley_fail(&error, status, "cancelled");
        if (status == LEY_OK)
            continue;
        note_failure(r, i * r->every, status, &error);
        break;
    }
    free(position_A);
    free(charge_e);
}

static ley_status sum_all(running *r, ley_error *error)
{
    parallel_ranges((r->frames->count + r->every - 1) / r->every, sum_frames, r);
    if (r->status != LEY_OK && error != NULL)
        *error = r->error;
    return r->status;
}

/* ---- How it is summed ------------------------------------------------------------------------ */

static frame_sum sum_with(const ley_series *s, const cell *c, double beta_rc, double *time_ns)
{
    return (frame_sum){
        .s = beta_rc,
        .r_min_A = s->o.r_min_A,
        .smooth = smooth_make(beta_rc, frame_best_cutoff(c, beta_rc, (double)s->charges, (double)s->points, time_ns))};
}

/* The root mean square of one charge, at a distance that leaves each its share of the cell: of the
 * potential, and of the field. */
static double size_of(const ley_series *s, const cell *c, bool of_field)
{
    double squares = 0;
    for (size_t i = 0; i < s->charges; i++)
        squares += pow(s->charge_e[s->atom[i]], 2);
    const double distance_A = cbrt(c->measure / (double)s->charges);
    return sqrt(squares / (double)s->charges) / (of_field ? distance_A * distance_A : distance_A);
}

/* The root mean square of a - b over the frames that were summed, relative to that of b. */
static double difference(const running *a, const running *b, double least_size, bool of_field)
{
    double off = 0, all = 0;
    size_t count = 0;
    for (size_t f = 0; f < a->frames->count; f += a->every, count += a->s->points)
        for (size_t i = f * a->s->points; i < (f + 1) * a->s->points; i++)
            for (int axis = 0; axis < (of_field ? 3 : 1); axis++) {
                const double x = of_field ? a->at[i].field[axis] : a->at[i].value,
                             y = of_field ? b->at[i].field[axis] : b->at[i].value;
                off += (x - y) * (x - y);
                all += y * y;
            }
    return sqrt(off / fmax(all, least_size * least_size * (double)count));
}

static running running_of(ley_series *s, const ley_series_frames *frames, const frame_sum *sum, size_t every,
                          point_sum *room)
{
    return (running){
        .s = s, .sum = sum, .frames = frames, .at = room, .every = every, .mutex = PTHREAD_MUTEX_INITIALIZER};
}

/* The least s at which some of the frames are as they are with a larger one. */
static ley_status find_s(ley_series *s, const ley_series_frames *frames, const cell *c, point_sum *room,
                         ley_error *error)
{
    const double aim = s->o.tolerance / 2;
    const size_t numbers = frames->count * s->points, every = (frames->count + TRIED - 1) / TRIED;
    double time_ns;
    for (double beta_rc = first_s; beta_rc <= most_s; beta_rc += step_s) {
        if (erfc(beta_rc) > aim)
            continue;
        frame_sum sums[2] = {sum_with(s, c, beta_rc, &time_ns), sum_with(s, c, beta_rc + more_s, &time_ns)};
        running r[2];
        for (int i = 0; i < 2; i++) {
            r[i] = running_of(s, frames, &sums[i], every, room + (size_t)i * numbers);
            const ley_status status = sum_all(&r[i], error);
            if (status != LEY_OK)
                return status;
        }
        s->report.potential_error = difference(&r[0], &r[1], least_share * size_of(s, c, false), false);
        s->report.field_error = difference(&r[0], &r[1], least_share * size_of(s, c, true), true);
        s->sum = sums[0];
        if (s->report.potential_error <= aim && s->report.field_error <= aim)
            return LEY_OK;
    }
    return fmax(s->report.potential_error, s->report.field_error) <= s->o.tolerance
               ? LEY_OK
               : ley_fail(error, LEY_ERROR_WRONG_RESULT,
                          "the first frames are off by %.2g of the potentials' root mean square and by %.2g of the "
                          "fields', and the tolerance is %g: a larger one can be reached",
                          s->report.potential_error, s->report.field_error, s->o.tolerance);
}

static ley_status choose_method(ley_series *s, const ley_series_frames *frames, cell *c, ley_error *error)
{
    const frame_sum open = {.is_open = s->is_open};
    const running r = {.s = s, .frames = frames, .sum = &open};
    const double pair_ns = 1;
    double time_ns = (double)s->charges * (double)s->points * pair_ns;
    const ley_status status = cell_of(&r, 0, c, error);
    if (status != LEY_OK)
        return status;
    if (!s->is_open)
        frame_best_cutoff(c, 3.5, (double)s->charges, (double)s->points, &time_ns);
    s->method = s->o.method != LEY_SERIES_AUTO ? s->o.method : s->is_open ? LEY_SERIES_DIRECT : LEY_SERIES_EWALD;
    if (s->method == (s->is_open ? LEY_SERIES_EWALD : LEY_SERIES_DIRECT))
        return ley_fail(error, LEY_ERROR_USAGE, "method %s is for %s", s->is_open ? "ewald" : "direct",
                        s->is_open ? "frames that have cells" : "open space, without cells");
    const bool may_mesh = s->o.tolerance >= 10 * LEY_LEAST_TOLERANCE; /* their fields are off by several tolerances */
    if (s->o.method == LEY_SERIES_AUTO && s->o.engine != NULL && may_mesh &&
        mesh_frame_seconds(&s->o, s->n, s->charge_e, s->points, frames) < 1e-9 * time_ns / parallel_cores())
        s->method = LEY_SERIES_MESH;
    return LEY_OK;
}

static ley_status decide(ley_series *s, const ley_series_frames *frames, point_sum *room, ley_error *error)
{
    cell c;
    s->is_open = frames->cell_A == NULL;
    ley_status status = choose_method(s, frames, &c, error);
    s->sum.is_open = s->is_open;
    s->sum.r_min_A = s->o.r_min_A;
    s->mesh_tolerance = s->o.tolerance;
    if (status == LEY_OK && s->method == LEY_SERIES_EWALD)
        status = find_s(s, frames, &c, room, error);
    if (status != LEY_OK)
        return status;
    s->is_decided = true;
    s->report.method = s->method == LEY_SERIES_MESH ? "mesh" : s->is_open ? "direct" : "ewald";
    if (s->method == LEY_SERIES_EWALD) {
        s->report.cutoff_A = s->sum.smooth.cutoff_A;
        s->report.beta_per_A = s->sum.smooth.beta_per_A;
    }
    return LEY_OK;
}

/* ---- Running --------------------------------------------------------------------------------- */

static void put_values(ley_series *s, const ley_series_frames *frames, const point_sum *at)
{
    for (size_t i = 0; i < frames->count * s->points; i++) {
        frames->potential[i] = s->constant * at[i].value;
        for (size_t axis = 0; axis < 3 && frames->field != NULL; axis++)
            frames->field[3 * i + axis] = s->constant * at[i].field[axis];
        if (at[i].close > 0 && s->report.close_frame < 0) {
            s->report.close_frame = s->report.frames + (int64_t)(i / s->points);
            s->report.close_point = i % s->points;
        }
    }
}

static ley_status run_frames(ley_series *s, const ley_series_frames *frames, point_sum *room, ley_error *error)
{
    ley_status status = LEY_OK;
    if (!s->is_decided)
        status = decide(s, frames, room, error);
    else if (s->is_open != (frames->cell_A == NULL))
        return ley_fail(error, LEY_ERROR_USAGE, "former frames have %s: a series has one kind of frames",
                        s->is_open ? "no cell" : "cells");
    if (status == LEY_OK && s->method == LEY_SERIES_MESH)
        return mesh_frames_run(&(mesh_frames){&s->o, s->n, s->points, s->charge_e, s->first, s->excluded, frames,
                                              &s->report, &s->mesh_tolerance},
                               error);
    running r = running_of(s, frames, &s->sum, 1, room);
    if (status == LEY_OK)
        status = sum_all(&r, error);
    if (status != LEY_OK)
        return status;
    s->report.waves = r.waves;
    put_values(s, frames, room);
    return LEY_OK;
}

ley_status ley_series_run(ley_series *s, const ley_series_frames *frames, ley_error *error)
{
    const size_t numbers = frames->count * s->points;
    if (frames->count == 0)
        return LEY_OK;
    const double per_thread = (double)s->charges * 16 * sizeof(double);
    ley_status status = memory_check_one("the frames of a series",
                                         2 * (double)numbers * sizeof(point_sum) + per_thread * parallel_cores(),
                                         "fewer frames at a time", error);
    if (status != LEY_OK)
        return status;
    point_sum *room = malloc(2 * numbers * sizeof *room);
    if (room == NULL)
        return ley_fail_memory(error, 2 * numbers * sizeof *room, "the frames of a series");
    status = run_frames(s, frames, room, error);
    free(room);
    if (status == LEY_OK)
        s->report.frames += (int64_t)frames->count;
    return status;
}
