/* What is computed again and again: a job that keeps what it has prepared, and that takes the place
 * of one that does not suit any more. */
#include "plan/plan.h"
#include "core/options.h"
#include "error.h"
#include "log.h"
#include "numerics/cell.h"
#include "plan/chosen_job.h"
#include "plan/job_run.h"
#include "source/atoms.h"
#include "target/map.h"
#include "target/target.h"
#include "verify/run_check.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Runs that are verified together, so that a check takes each sum over all images once for many
 * points; and points of every hundred runs, unless the options say otherwise. */
enum { RUNS_TOGETHER = 50, HUNDRED = 100, USUAL_POINTS = 256 };

/* A run is prepared anew where, by what the last one that was prepared has measured, it uses up
 * this share of the tolerance, for the error of a few charges may be twice what is predicted; and
 * by so much more than that one that it is no scatter. */
static const double most_share = 0.5, least_growth = 1.2;

/* How many times its limit a mesh's error may be before a device is to blame: somewhat more than
 * was expected is the method's own (verify/sample_judge.c). */
static const double most_excess = 4;

struct ley_plan {
    ley_engine *engine, *opened; /* `opened`: by the plan; or NULL */
    ley_atoms *atoms;
    ley_target target;
    ley_request request;
    char *method, *fft, *variant; /* copies that request and options point to */
    job_plan *given;
    ley_run_options options;
    ley_job *job;                      /* the latest one; NULL: there was none */
    atomic_bool is_running, cancelled; /* a run, by those who cancel it */
    bool has_field;                    /* which the latest job computes */
    bool is_stale;                     /* another cell: what is kept does not suit */
    size_t points_per_hundred;         /* 0: nothing is verified */
    uint64_t random;
    int64_t again, next_check; /* runs again so far, and which of them is verified next */
    run_check check;
    bool has_check; /* which has not been collected */
    ley_plan_totals totals;
    double shares2, charge2_e2; /* sum over checked points of (error / target's rms)^2; sum of q^2 */
    struct {                    /* the last run that was prepared: its share of the tolerance, and of what */
        double share, rms, rms_of_all, charge2_e2;
    } prepared;
    bool is_alert; /* threads of the host look out for the next run */
};

/* ---- Life ------------------------------------------------------------------------------------ */

static ley_status copy_text(const char *from, char **to, const char **at, ley_error *error)
{
    if (from == NULL)
        return LEY_OK;
    *at = *to = strdup(from);
    return *to != NULL ? LEY_OK : ley_fail_memory(error, strlen(from) + 1, "the plan");
}

static ley_status take_options(ley_plan *p, const ley_run_options *options, ley_error *error)
{
    ley_run_options usual;
    ley_run_options_default(&usual);
    ley_status status = OPTIONS_TAKE(ley_run_options, aim, &p->options, options != NULL ? options : &usual, error);
    if (status == LEY_OK)
        status = copy_text(p->options.variant, &p->variant, &p->options.variant, error);
    if (status == LEY_OK && p->options.decision_count > 0)
        status = plan_of_list(p->options.decisions, p->options.decision_count, &p->given, error);
    p->options.decisions = p->given != NULL ? p->given->list : NULL;
    p->options.decision_count = p->given != NULL ? p->given->count : 0;
    return status;
}

static ley_status take_request(ley_plan *p, const ley_request *request, ley_error *error)
{
    ley_long_range sum;
    ley_status status = OPTIONS_TAKE(ley_request, grid, &p->request, request, error);
    if (status == LEY_OK)
        status = OPTIONS_TAKE(ley_long_range, fft, &sum, &p->request.potential, error);
    if (status != LEY_OK)
        return status;
    p->request.potential = sum;
    status = copy_text(p->request.method, &p->method, &p->request.method, error);
    return status == LEY_OK ? copy_text(sum.fft, &p->fft, &p->request.potential.fft, error) : status;
}

static ley_status copy_atoms(const ley_atoms *atoms, ley_atoms **copy, ley_error *error)
{
    return ley_atoms_create(ley_atoms_count(atoms), ley_atoms_positions_A(atoms), ley_atoms_charges_e(atoms),
                            ley_atoms_radii_A(atoms), copy, error);
}

static double sum_of_squares(const ley_atoms *atoms)
{
    const double *charge_e = ley_atoms_charges_e(atoms);
    double sum = 0;
    for (size_t i = 0; i < ley_atoms_count(atoms); i++)
        sum += charge_e[i] * charge_e[i];
    return sum;
}

/* When the first ones of the next runs are verified. */
static void draw_next_check(ley_plan *p)
{
    const int64_t block = p->again / RUNS_TOGETHER;
    p->next_check = block * RUNS_TOGETHER + (int64_t)(accuracy_random(&p->random) % RUNS_TOGETHER);
}

static ley_status begin(ley_plan *p, const ley_atoms *atoms, const ley_request *request, const ley_run_options *options,
                        ley_error *error)
{
    ley_status status = take_options(p, options, error);
    if (status == LEY_OK)
        status = take_request(p, request, error);
    if (status == LEY_OK)
        status = copy_atoms(atoms, &p->atoms, error);
    if (status == LEY_OK && p->engine == NULL && !p->options.by_host)
        status = ley_engine_create(NULL, &p->opened, error);
    p->engine = p->engine != NULL ? p->engine : p->opened;
    p->points_per_hundred = p->options.verify_points == 0 ? 0
                            : p->options.verify_least > 0 ? p->options.verify_least
                                                          : USUAL_POINTS;
    p->random = p->options.verify_seed + 1;
    p->charge2_e2 = status == LEY_OK ? sum_of_squares(p->atoms) : 0;
    draw_next_check(p);
    return status;
}

/* The first job is created with it, so that what is wrong is said at once. */
static ley_status create_job(ley_plan *p, ley_error *error)
{
    p->has_field = target_has_field(&p->target);
    const ley_status status =
        chosen_job_create_kept(p->engine, p->atoms, p->target, &p->request, &p->options, &p->job, error);
    if (status != LEY_OK)
        return status;
    p->job->cancelled = &p->cancelled;
    p->job->statistics = NULL; /* the plan adds what its own runs have made */
    return LEY_OK;
}

ley_status ley_plan_create(ley_engine *engine, const ley_atoms *atoms, ley_target target, const ley_request *request,
                           const ley_run_options *options, ley_plan **plan, ley_error *error)
{
    ley_plan *p = calloc(1, sizeof *p);
    if (p == NULL)
        return ley_fail_memory(error, sizeof *p, "the plan");
    p->engine = engine;
    p->target = target;
    ley_status status = begin(p, atoms, request, options, error);
    if (status == LEY_OK)
        status = create_job(p, error);
    if (status == LEY_OK)
        *plan = p;
    else
        ley_plan_destroy(p);
    return status;
}

/* What the check reads of the job's task is needed until it has ended. */
static void end_job(ley_plan *p)
{
    if (p->job == NULL)
        return;
    run_check_wait(&p->check, NULL);
    job_leave(p->job);
    ley_job_destroy(p->job);
    p->job = NULL;
}

void ley_plan_destroy(ley_plan *p)
{
    if (p == NULL)
        return;
    engine_stay_alert(p->engine, false, &p->is_alert);
    end_job(p);
    run_check_end(&p->check);
    ley_engine_destroy(p->opened);
    ley_atoms_destroy(p->atoms);
    plan_destroy(p->given);
    free(p->method);
    free(p->fft);
    free(p->variant);
    free(p);
}

/* ---- Updates --------------------------------------------------------------------------------- */

/* Along vectors that the map reaches over from face to face it goes on doing so. */
static void take_cell(ley_plan *p, const double cell_A[3][3])
{
    ley_long_range *sum = &p->request.potential;
    ley_grid grid = p->target.map != NULL ? *ley_map_grid(p->target.map) : (ley_grid){.n = {0}};
    for (int m = 0; m < 3; m++) {
        double off_A = 0, length_A = 0;
        for (int k = 0; k < 3; k++) {
            off_A += fabs((double)grid.n[m] * grid.step_A[m][k] - sum->cell_A[m][k]);
            length_A += fabs(sum->cell_A[m][k]);
        }
        for (int k = 0; k < 3 && p->target.map != NULL && sum->periodic[m] && off_A <= 1e-6 * length_A; k++)
            grid.step_A[m][k] = cell_A[m][k] / (double)grid.n[m];
    }
    if (p->target.map != NULL)
        map_set_grid(p->target.map, &grid);
    for (int axis = 0; axis < 3 && p->target.map != NULL && map_components(p->target.map) > 1; axis++)
        map_set_grid(ley_map_field(p->target.map, axis), &grid);
    memcpy(sum->cell_A, cell_A, sizeof sum->cell_A);
    p->is_stale = true;
}

/* Open space has no cell, and a cell that is none leaves the plan as it was. NULL: none is
 * given. */
static ley_status check_cell(const ley_plan *p, const double cell_A[3][3], ley_error *error)
{
    const ley_long_range *sum = &p->request.potential;
    cell made;
    if (cell_A == NULL)
        return LEY_OK;
    if (!sum->periodic[0] && !sum->periodic[1] && !sum->periodic[2])
        return ley_fail(error, LEY_ERROR_USAGE, "a cell is given, and the plan is of open space");
    return cell_make(sum->periodic, cell_A, &made, error);
}

static bool is_another_cell(const ley_plan *p, const double cell_A[3][3])
{
    return cell_A != NULL && memcmp(cell_A, p->request.potential.cell_A, sizeof p->request.potential.cell_A) != 0;
}

ley_status ley_plan_update(ley_plan *p, const double *position_A, const double *charge_e, const double cell_A[3][3],
                           ley_error *error)
{
    ley_status status = check_cell(p, cell_A, error);
    if (status == LEY_OK && (position_A != NULL || charge_e != NULL))
        status = ley_atoms_move(p->atoms, position_A != NULL ? position_A : ley_atoms_positions_A(p->atoms), charge_e,
                                error);
    if (status == LEY_OK && charge_e != NULL) {
        p->is_stale = p->is_stale || p->charge2_e2 == 0; /* nothing was chosen for a tolerance then */
        p->charge2_e2 = sum_of_squares(p->atoms);
    }
    if (status == LEY_OK && is_another_cell(p, cell_A))
        take_cell(p, cell_A);
    return status;
}

ley_status plan_move(ley_plan *p, const float *position_A, const double from_A[3], const double cell_A[3][3],
                     ley_error *error)
{
    ley_status status = check_cell(p, cell_A, error);
    if (status == LEY_OK)
        status = ley_atoms_move_floats(p->atoms, position_A, from_A, error);
    if (status == LEY_OK && is_another_cell(p, cell_A))
        take_cell(p, cell_A);
    return status;
}

/* ---- Verification ---------------------------------------------------------------------------- */

/* Whether the values are right, or as wrong as the method's own steps may be. */
static bool has_passed(ley_plan *p, run_check *c)
{
    const method *m = c->method;
    const double allowed = m->by_steps != NULL ? most_excess : 1;
    if (c->accuracy.passed)
        return true;
    if (!isfinite(c->accuracy.max_error))
        return false;
    if (p->job != NULL && m->look_closer != NULL && m->look_closer(p->job->task))
        c->accuracy.tolerance = m->limits(p->job->task).tolerance;
    return c->accuracy.max_error <= allowed * c->accuracy.tolerance;
}

static bool field_has_passed(const run_check *c)
{
    const double allowed = c->method->by_steps != NULL ? most_excess : 1;
    const ley_accuracy *field = &c->field_accuracy;
    return c->field_count == 0 || field->passed || field->max_error <= allowed * field->tolerance;
}

static ley_status say_wrong(const run_check *c, bool is_field, ley_error *error)
{
    const size_t k = c->worst_component;
    const run_point *worst = &c->points[is_field ? k / 3 : c->worst];
    char what[32] = "value";
    if (is_field)
        snprintf(what, sizeof what, "field along %c", (int)('x' + k % 3));
    return ley_fail(error, LEY_ERROR_WRONG_RESULT,
                    "run %lld: verification failed: at (%.9g, %.9g, %.9g) A the %s is %.9g, double precision says %.9g",
                    (long long)c->run, worst->place_A[0], worst->place_A[1], worst->place_A[2], what,
                    is_field ? worst->field[k % 3] : worst->value,
                    is_field ? worst->right_field[k % 3].value : worst->right.value);
}

/* Each check counts by its own run's values: one of weak charges is not lost among others. */
static void add_up(ley_plan *p, const run_check *c)
{
    double error2 = 0, right2 = 0;
    p->totals.checked_runs++;
    p->totals.checked_points += c->count;
    p->totals.max_error = fmax(p->totals.max_error, c->accuracy.max_error);
    for (size_t i = 0; i < c->count; i++) {
        error2 += pow(accuracy_error(c->points[i].value, &c->points[i].right, &c->limits), 2);
        right2 += pow(c->points[i].right.value, 2);
    }
    const double rms2 = isfinite(c->target_rms) ? c->target_rms * c->target_rms : right2 / (double)c->count;
    p->shares2 += rms2 > 0 ? error2 / rms2 : 0;
    p->totals.relative_rms = sqrt(p->shares2 / (double)p->totals.checked_points);
}

static ley_status note_missed(ley_plan *p, int64_t run, ley_status status)
{
    p->totals.missed_runs++;
    p->totals.missed = p->totals.missed == 0 ? run : p->totals.missed;
    return status;
}

/* What came of the check that has begun; waits for it. */
static ley_status collect(ley_plan *p, ley_error *error)
{
    run_check *c = &p->check;
    const double tolerance = p->request.tolerance;
    if (!p->has_check)
        return LEY_OK;
    p->has_check = false;
    ley_status status = run_check_wait(c, error);
    if (status != LEY_OK)
        return status;
    add_up(p, c);
    const bool is_right = has_passed(p, c);
    if (!is_right || !field_has_passed(c)) {
        p->is_stale = true;
        return note_missed(p, c->run, say_wrong(c, is_right, error));
    }
    if (tolerance > 0 && p->totals.checked_points >= USUAL_POINTS && p->totals.relative_rms > tolerance &&
        !(p->job != NULL && p->job->report.tolerance_floor > 0)) {
        p->is_stale = true;
        return note_missed(p, c->run,
                           ley_fail(error, LEY_ERROR_WRONG_RESULT,
                                    "run %lld: the values of the runs so far are off by %.3g of their root mean "
                                    "square, and %g is allowed",
                                    (long long)c->run, p->totals.relative_rms, tolerance));
    }
    return LEY_OK;
}

/* The error goes with the root of the sum of q^2, and is allowed a share of the values: of charges
 * that weaken each other's more than those did for which all was chosen, it is a greater one. */
static bool is_weaker(const ley_plan *p, double growth)
{
    return growth > least_growth && p->prepared.share * growth > most_share;
}

/* By a sample at first, which a few points beside atoms may make as strong as they like: what it
 * says all values have to confirm; where they do not, it is compared by what they say from then
 * on. */
static bool is_too_coarse(ley_plan *p)
{
    if (!(p->prepared.share > 0))
        return false; /* no tolerance, or none that was measured: the values need not be looked at */
    const double charges = sqrt(p->charge2_e2 / p->prepared.charge2_e2), rms = target_rms(&p->target);
    if (!is_weaker(p, charges * p->prepared.rms / rms))
        return false;
    const double fall = p->prepared.rms_of_all / target_rms_of_all(&p->target);
    if (!isfinite(fall) || is_weaker(p, charges * fall))
        return true;
    if (rms > 0)
        p->prepared.rms = rms * fall;
    return false;
}

/* Of every few runs one, with its share of the points. */
static ley_status check_some(ley_plan *p, ley_error *error)
{
    const size_t points = (p->points_per_hundred * RUNS_TOGETHER + HUNDRED - 1) / HUNDRED;
    const bool is_due = p->points_per_hundred > 0 && p->job->method->terms != NULL && p->again == p->next_check;
    p->again++;
    if (p->again % RUNS_TOGETHER == 0)
        draw_next_check(p);
    if (!is_due)
        return LEY_OK;
    ley_status status = collect(p, error);
    if (status == LEY_OK)
        status = run_check_begin(&p->check, p->job, p->totals.runs, points, &p->random, error);
    p->has_check = status == LEY_OK;
    p->check.target_rms = target_rms(&p->target);
    return status;
}

ley_status ley_plan_finish(ley_plan *p, ley_plan_totals *totals, ley_error *error)
{
    const ley_status status = collect(p, error);
    if (totals != NULL)
        *totals = p->totals;
    return status;
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static ley_status run_anew(ley_plan *p, ley_error *error)
{
    const bool is_used = p->job != NULL && p->job->has_begun;
    ley_status status = LEY_OK;
    if (is_used)
        end_job(p);
    if (p->job == NULL)
        status = create_job(p, error);
    if (status != LEY_OK)
        return status;
    status = ley_job_run(p->job, error);
    p->totals.prepared++;
    p->is_stale = false;
    p->prepared.share = status == LEY_OK && p->job->report.tolerance_floor == 0 ? p->job->report.tolerance_share : 0;
    p->prepared.rms = target_rms(&p->target);
    p->prepared.rms_of_all = target_rms_of_all(&p->target);
    p->prepared.charge2_e2 = p->charge2_e2;
    if (status == LEY_OK && p->job->report.tolerance_share > 1)
        status = note_missed(p, p->totals.runs,
                             ley_fail(error, LEY_ERROR_WRONG_RESULT,
                                      "run %lld is off by %.3g of its root mean square, and %g is allowed",
                                      (long long)p->totals.runs, p->job->report.accuracy.relative_rms,
                                      p->request.tolerance));
    return status;
}

/* True: by what was kept, whatever came of it. */
static bool run_again(ley_plan *p, ley_status *status, ley_error *error)
{
    ley_error why = {0};
    if (p->job == NULL || p->is_stale || !job_is_kept(p->job))
        return false;
    engine_stay_alert(p->engine, true, &p->is_alert);
    *status = job_run_again(p->job, &why);
    const bool is_done = *status == LEY_OK || *status == LEY_CANCELLED;
    const bool is_coarse = *status == LEY_OK && is_too_coarse(p);
    if (!is_done || is_coarse)
        log_say(LEY_LOG_NOTE, "run %lld is prepared anew: %s", (long long)p->totals.runs,
                is_coarse ? "its values are weaker, and of such the tolerance is a share" : why.message);
    else if (*status != LEY_OK)
        ley_error_copy(error, &why);
    ley_error_clear(&why);
    return is_done && !is_coarse;
}

ley_status ley_plan_run(ley_plan *p, ley_error *error)
{
    ley_status status = LEY_OK;
    p->totals.runs++;
    if (target_has_field(&p->target) != p->has_field)
        p->is_stale = true;
    atomic_store(&p->cancelled, false);
    atomic_store(&p->is_running, true);
    if (!run_again(p, &status, error)) {
        status = collect(p, error);
        const ley_status made = run_anew(p, status == LEY_OK ? error : NULL);
        status = status == LEY_OK ? made : status;
    } else if (status == LEY_OK) {
        status = check_some(p, error);
    }
    atomic_store(&p->is_running, false);
    if (status == LEY_OK && p->target.statistics != NULL)
        status = ley_statistics_add(p->target.statistics, error);
    return status;
}

void ley_plan_cancel(ley_plan *p)
{
    if (atomic_load(&p->is_running))
        atomic_store(&p->cancelled, true);
}

const ley_report *ley_plan_report(const ley_plan *p)
{
    return p->job != NULL && p->job->has_begun ? &p->job->report : NULL;
}
