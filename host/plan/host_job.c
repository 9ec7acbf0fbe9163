#include "plan/host_job.h"

#include "clock.h"
#include "error.h"
#include "law/reference.h"
#include "law/tolerance_floor.h"
#include "log.h"
#include "parallel.h"
#include "schedule/host_direct.h"
#include "schedule/kept_planes.h"
#include "schedule/rank_share.h"
#include "target/map.h"
#include "verify/rank_verification.h"
#include "verify/second_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- The sum --------------------------------------------------------------------------------- */

enum { POINTS_AT_ONCE = 1 << 16, NUMBERS_AT_ONCE = 1 << 10 };

typedef struct host_run {
    ley_job *job;
    host_sum sum;
    reference_terms terms;              /* begun */
    bool is_direct;                     /* schedule/host_direct.h sums them */
    float *planes[MAP_MOST_COMPONENTS]; /* of a map: these, from point `first` on */
    int64_t first;                      /* number of the first point at hand */
    slab_queue queue;                   /* of planes, or of values */
    slab *taken;                        /* of it, by this rank */
    size_t taken_count, taken_capacity;
    int64_t done; /* points */
} host_run;

static void place_of(const host_sum *sum, int64_t i, double place_A[3])
{
    if (sum->map == NULL) {
        ley_boundary_point_A(sum->list, i, place_A);
        return;
    }
    const int64_t *n = ley_map_grid(sum->map)->n;
    ley_grid_point_A(ley_map_grid(sum->map), (const int64_t[]){i % n[0], i / n[0] % n[1], i / n[0] / n[1]}, place_A);
}

/* The terms at a point: without what it excludes. */
static reference_terms terms_at(const host_run *r, int64_t i)
{
    reference_terms terms = r->terms;
    if (r->sum.count > 0)
        r->job->method->terms_at(r->job->task, i, &terms);
    else
        terms.excluded = points_excluded(r->sum.points, i, &terms.excluded_count);
    return terms;
}

/* Values of maps are floats. */
static double kept_digits(const host_run *r, double value)
{
    return r->sum.map != NULL ? (double)(float)value : value;
}

static void set_value(const host_run *r, int64_t i, double value)
{
    if (r->sum.map != NULL)
        r->planes[0][i - r->first] = (float)value;
    else
        r->sum.list->value[i] = kept_digits(r, value);
}

static void set_field(const host_run *r, int64_t i, const reference_value components[3])
{
    for (int axis = 0; axis < 3; axis++)
        if (r->sum.map != NULL)
            r->planes[1 + axis][i - r->first] = (float)components[axis].value;
        else
            r->sum.points->field[3 * i + axis] = kept_digits(r, components[axis].value);
}

/* One point: what only the reference does, and the field. */
static void sum_point(const host_run *r, int64_t i, bool has_value)
{
    const reference_terms terms = terms_at(r, i);
    double place_A[3];
    reference_value components[3];
    if (has_value && !host_sum_has_field(&r->sum))
        return;
    place_of(&r->sum, i, place_A);
    if (!has_value)
        set_value(r, i, reference_sum(&terms, place_A).value);
    if (!host_sum_has_field(&r->sum))
        return;
    reference_field(&terms, place_A, components);
    set_field(r, i, components);
}

/* So many points from this one on, at once. */
static void sum_block(const host_run *r, int64_t i, size_t count)
{
    host_direct_points at;
    double value[HOST_DIRECT_POINTS];
    for (size_t k = 0; k < HOST_DIRECT_POINTS; k++) {
        double place_A[3];
        place_of(&r->sum, i + (int64_t)(k < count ? k : 0), place_A);
        at.x_A[k] = place_A[0];
        at.y_A[k] = place_A[1];
        at.z_A[k] = place_A[2];
    }
    host_direct_sum(&r->terms, &at, value);
    for (size_t k = 0; k < count; k++)
        set_value(r, i + (int64_t)k, value[k]);
}

static void sum_points(void *context, size_t first, size_t last)
{
    const host_run *r = context;
    for (size_t k = first; k < last && !job_cancelled(r->job); k += HOST_DIRECT_POINTS) {
        const int64_t start = r->first + (int64_t)k;
        const size_t left = last - k, count = left < HOST_DIRECT_POINTS ? left : HOST_DIRECT_POINTS;
        if (r->is_direct)
            sum_block(r, start, count);
        for (int64_t i = start; i < start + (int64_t)count && !job_cancelled(r->job); i++)
            sum_point(r, i, r->is_direct && terms_at(r, i).excluded_count == 0);
    }
}

static void tell(ley_job *job, int64_t done)
{
    const double elapsed_s = ley_clock_s() - job->start_s, all = (double)job->report.points,
                 share = (double)(done - job->report.kept_points) / all;
    const ley_progress progress = {.points_done = done,
                                   .points_total = job->report.points,
                                   .elapsed_s = elapsed_s,
                                   .evaluations_per_s = elapsed_s > 0 ? share * job->report.evaluations / elapsed_s : 0,
                                   .left_s = share > 0 ? elapsed_s * (1 - (double)done / all) / share : 0};
    job->points_done = done;
    if (job->options.progress != NULL)
        job->options.progress(job->options.progress_context, &progress);
}

/* The next pieces, at most so many of them; false: there are none. */
static bool take(host_run *r, int64_t most, slab *piece, ley_status *status, ley_error *error)
{
    if (*status == LEY_OK && r->taken_count == r->taken_capacity) {
        const size_t capacity = 2 * r->taken_capacity + 64;
        slab *grown = realloc(r->taken, capacity * sizeof *grown);
        if (grown == NULL) {
            *status = ley_fail_memory(error, capacity * sizeof *grown, "the job's pieces");
            return false;
        }
        r->taken = grown;
        r->taken_capacity = capacity;
    }
    if (*status != LEY_OK || !slab_queue_take(&r->queue, most, true, piece)) /* nothing of this rank is at work */
        return false;
    r->taken[r->taken_count++] = *piece;
    return true;
}

static void note_done(host_run *r, slab piece, int64_t points)
{
    slab_queue_done(&r->queue, piece);
    r->done += points;
    tell(r->job, r->done);
}

static ley_status sum_map(host_run *r, ley_error *error)
{
    const int64_t *n = ley_map_grid(r->sum.map)->n, plane = n[0] * n[1],
                  planes = plane < POINTS_AT_ONCE ? POINTS_AT_ONCE / plane : 1;
    ley_status status = LEY_OK;
    for (slab s; take(r, planes, &s, &status, error);) {
        status = map_slabs_take(r->sum.map, s.first, s.count, r->planes, error);
        if (status != LEY_OK)
            return status;
        r->first = s.first * plane;
        parallel_ranges((size_t)(s.count * plane), sum_points, r);
        if (job_cancelled(r->job))
            status = ley_fail(error, LEY_CANCELLED, "cancelled");
        const ley_status given =
            map_slabs_give(r->sum.map, s.first, s.count, r->planes, status == LEY_OK, status == LEY_OK ? error : NULL);
        status = status == LEY_OK ? given : status;
        note_done(r, s, s.count * plane);
    }
    return status;
}

/* Values that the method has numbers for, some with the same terms at once. */
static void sum_numbers(void *context, size_t first, size_t last)
{
    enum { AT_ONCE = 32 };
    const host_run *r = context;
    const method *m = r->job->method;
    double place_A[AT_ONCE][3];
    reference_value value[AT_ONCE];
    for (size_t k = first, n; k < last && !job_cancelled(r->job); k += n) {
        const int64_t number = r->first + (int64_t)k;
        const reference_terms terms = terms_at(r, number);
        for (n = 0; n < AT_ONCE && k + n < last && terms_at(r, number + (int64_t)n).quantity == terms.quantity; n++)
            m->value(r->job->task, number + (int64_t)n, place_A[n]);
        reference_sums(&terms, n, (const double(*)[3])place_A, value);
        for (size_t i = 0; i < n; i++)
            r->sum.set(r->job->task, number + (int64_t)i, value[i].value);
    }
}

/* In pieces between which it can be cancelled, and progress is told. */
static ley_status sum_all(host_run *r, void (*sum)(void *context, size_t first, size_t last), int64_t at_once,
                          ley_error *error)
{
    ley_status status = LEY_OK;
    for (slab s; take(r, at_once, &s, &status, error);) {
        r->first = s.first;
        parallel_ranges((size_t)s.count, sum, r);
        if (job_cancelled(r->job))
            return ley_fail(error, LEY_CANCELLED, "cancelled");
        note_done(r, s, s.count);
    }
    return status;
}

/* A value that the method has a number for. */
static double numbered_value(const void *context, int64_t number)
{
    const ley_job *job = ((const host_run *)context)->job;
    double place_A[3];
    return job->method->value(job->task, number, place_A);
}

static void set_numbered(const void *context, int64_t number, double value)
{
    const host_run *r = context;
    r->sum.set(r->job->task, number, value);
}

/* What all ranks have made comes to rank 0. */
static ley_status gather(const host_run *r, ley_error *error)
{
    rank_values values = {.map = r->sum.count > 0 ? NULL : r->sum.map};
    if (r->sum.count > 0) {
        values.get = numbered_value;
        values.set = set_numbered;
        values.context = r;
    } else if (r->sum.map == NULL) {
        values.value = r->sum.list->value;
        values.field = r->sum.points != NULL ? r->sum.points->field : NULL;
    }
    return rank_share_gather_pieces(r->job, &values, r->taken, r->taken_count, error);
}

static ley_status sum_pieces(host_run *r, ley_error *error)
{
    const bool is_map = r->sum.count == 0 && r->sum.map != NULL;
    slab_queue_init(&r->queue, is_map ? ley_map_grid(r->sum.map)->n[2] : host_sum_points(&r->sum));
    ley_status status = is_map ? kept_planes_open(r->job, &r->queue, 1, &r->job->report.kept_points, error) : LEY_OK;
    if (status == LEY_OK) {
        rank_share_pieces(r->job, &r->queue);
        r->done = rank_share_is_first(r->job) ? r->job->report.kept_points : 0;
        status = r->sum.count > 0 ? sum_all(r, sum_numbers, NUMBERS_AT_ONCE, error)
                 : is_map         ? sum_map(r, error)
                                  : sum_all(r, sum_points, POINTS_AT_ONCE, error);
    }
    if (status == LEY_OK)
        status = gather(r, error);
    slab_queue_destroy(&r->queue);
    free(r->taken);
    return status;
}

static ley_status compute(host_run *r, ley_error *error)
{
    const ley_status status = sum_pieces(r, error);
    if (status != LEY_OK || !rank_share_is_first(r->job))
        return status;
    if (r->sum.units != NULL && r->sum.map != NULL)
        map_name_units(r->sum.map, r->sum.units);
    if (r->sum.units != NULL && r->sum.points != NULL)
        ley_points_set_units(r->sum.points, r->sum.units);
    if (r->sum.count > 0)
        return r->job->method->finish(r->job->task, error);
    return r->sum.check != NULL ? r->sum.check(r->job->task, error) : LEY_OK;
}

/* ---- Its verification ------------------------------------------------------------------------ */

/* The second sum takes about so long for a charge at a point, with all its images or alone, so many
 * times that for a field; and in all no longer than this, or a share of the first sum. */
static const double charge_s = 40e-6, plain_charge_s = 15e-9, most_second_s = 0.1, most_share = 0.1;
enum { SUMS_OF_FIELD = 13 };

static size_t points_wanted(const host_run *r, const second_sum *second)
{
    const ley_run_options *o = &r->job->options;
    const size_t few = second->images != NULL || r->sum.count > 0 ? 4 : 16;
    const double images = r->terms.range != NULL ? host_sum_images(&r->terms) : 1,
                 each_s = r->sum.count > 0 ? 10 * r->sum.value_s
                                           : (second->images != NULL ? charge_s : plain_charge_s * images) *
                                                 (double)ley_atoms_count(r->terms.atoms) *
                                                 (host_sum_has_field(&r->sum) ? SUMS_OF_FIELD : 1),
                 can = fmax(most_second_s, most_share * r->job->report.compute_s) / each_s;
    const size_t wanted = (size_t)fmin((double)o->verify_points, fmax(can, (double)few));
    return (int64_t)wanted < host_sum_points(&r->sum) ? wanted : (size_t)host_sum_points(&r->sum);
}

static double value_at(const host_run *r, int64_t i)
{
    double place_A[3];
    return r->sum.count > 0     ? r->job->method->value(r->job->task, i, place_A)
           : r->sum.map != NULL ? map_value(r->sum.map, i, place_A)
                                : r->sum.list->value[i];
}

static bool field_at(const host_run *r, int64_t i, double field[3])
{
    return r->sum.map != NULL ? map_field_at(r->sum.map, i, field)
                              : r->sum.points != NULL && points_field_at(r->sum.points, i, field);
}

static void choose_points(const host_run *r, size_t n, const int64_t *number, second_point *points)
{
    for (size_t k = 0; k < n; k++) {
        second_point *p = &points[k];
        p->terms = terms_at(r, number[k]);
        if (r->sum.count > 0)
            r->job->method->value(r->job->task, number[k], p->place_A);
        else
            place_of(&r->sum, number[k], p->place_A);
        p->value = value_at(r, number[k]);
        p->has_field = field_at(r, number[k], p->field);
    }
}

static ley_status judge_tolerance(const host_run *r, size_t n, const second_point *points, ley_error *error)
{
    ley_job *job = r->job;
    tolerance_place *places = malloc((n + 1) * sizeof *places);
    if (places == NULL)
        return ley_fail_memory(error, n * sizeof *places, "the verification");
    for (size_t k = 0; k < n; k++) {
        places[k].weight = 1;
        places[k].excluded = points[k].terms.excluded;
        places[k].excluded_count = points[k].terms.excluded_count;
        memcpy(places[k].place_A, points[k].place_A, sizeof places[k].place_A);
    }
    tolerance_judge(&job->report, job->options.tolerance, &r->terms, n, places, &job->terms);
    free(places);
    return LEY_OK;
}

static ley_status verify_with(const host_run *r, const second_sum *second, ley_error *error)
{
    ley_report *report = &r->job->report;
    const size_t n = points_wanted(r, second);
    int64_t *number = malloc((n + 1) * sizeof *number);
    second_point *points = calloc(n + 1, sizeof *points);
    ley_accuracy of_fields = {.points = 0};
    ley_status status = number == NULL || points == NULL
                            ? ley_fail_memory(error, n * (sizeof *points + sizeof *number), "the verification")
                            : LEY_OK;
    if (status == LEY_OK) {
        accuracy_choose((uint64_t)host_sum_points(&r->sum), n, r->job->options.verify_seed, number);
        choose_points(r, n, number, points);
        status = second_check(second, n, points, r->sum.map != NULL ? ACCURACY_NOTHING : ACCURACY_NOTHING_DOUBLE,
                              r->job->cancelled, &report->accuracy, &of_fields, error);
        report->seeded_accuracy = report->accuracy;
        if (host_sum_has_field(&r->sum))
            report->field_accuracy = of_fields;
        report->field_error_scale = r->terms.law->sums_squares ? "the root of the squared terms" : "the absolute terms";
    }
    if (status == LEY_OK)
        status = judge_tolerance(r, n, points, error);
    free(number);
    free(points);
    return status;
}

static ley_status verify(const host_run *r, ley_error *error)
{
    second_sum second;
    ley_status status = second_begin(&r->terms, &second, error);
    if (status != LEY_OK)
        return status;
    r->job->report.host_check = second_says(&second);
    status = verify_with(r, &second, error);
    second_end(&second);
    return status;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static ley_status run(host_run *r, ley_error *error)
{
    ley_job *job = r->job;
    ley_report *report = &job->report;
    const double start_s = ley_clock_s();
    r->terms = r->sum.terms;
    ley_status status = reference_begin(&r->terms, (size_t)host_sum_points(&r->sum), job->cancelled, error);
    r->is_direct = host_direct_can(&r->terms);
    const double ready_s = ley_clock_s();
    report->prepare_s = ready_s - start_s;
    if (status != LEY_OK)
        return status;
    status = compute(r, error);
    const double computed_s = ley_clock_s();
    report->compute_s = computed_s - ready_s;
    if (report->compute_s > 0)
        report->evaluations_per_s = report->evaluations / report->compute_s;
    if (status == LEY_OK && job->options.verify_points > 0) {
        status = rank_share_is_first(job) ? verify(r, error) : LEY_OK;
        if (status == LEY_OK)
            rank_verification_tell(job);
        report->verify_s = ley_clock_s() - computed_s;
    }
    reference_end(&r->terms);
    return status;
}

void host_job_put_decisions(ley_job *job)
{
    job_plan *made = job->made = calloc(1, sizeof *made);
    if (made == NULL)
        return;
    plan_add(made, NULL, "method", job->method->name);
    plan_add(made, NULL, "target", ley_target_name(job->method->target));
    plan_add(made, NULL, "computed_by", "host");
    job->report.decision_count = made->count;
    job->report.decisions = made->list;
}

ley_status host_job_run(ley_job *job, ley_error *error)
{
    host_run r = {.job = job};
    if (!job->method->by_host(job->task, &r.sum)) /* it was asked before */
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "method %s needs a device", job->method->name);
    if (r.sum.map != NULL && !map_takes_values(r.sum.map))
        return ley_fail(error, LEY_ERROR_USAGE, "the map has no values: it is for forecasts");
    job->report.host = r.sum.how;
    job->report.sum = LEY_SUM_DOUBLE;
    host_job_put_decisions(job);
    log_say(LEY_LOG_NOTE, "the host does it, by %s in double precision: about %.2g s", r.sum.how,
            host_sum_seconds(&r.sum));
    const ley_status status = run(&r, error);
    if (status == LEY_OK)
        host_sum_note_taken(job->method, job->report.prepare_s + job->report.compute_s);
    return status;
}
