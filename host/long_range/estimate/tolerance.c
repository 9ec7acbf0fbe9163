/* Long-range potentials for a tolerance: what is to be summed how, on the devices of an engine. */
#include "long_range/estimate/tolerance.h"
#include "calibrate.h"
#include "core/options.h"
#include "engine/engine.h"
#include "error.h"
#include "log.h"
#include "long_range/estimate/parameter_search.h"
#include "long_range/mesh_share.h"
#include "long_range/model/local_forecast.h"
#include "long_range/model/memory_limits.h"
#include "long_range/model/problem.h"
#include "long_range/task.h"
#include "methods/cutoff/point_stages.h"
#include "numerics/error_table.h"
#include "numerics/expected_error.h"
#include "target/target.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the tolerance: errors are random, and what is expected is half of what is allowed. */
static const double usual_aim = 0.5;

/* ---- Devices --------------------------------------------------------------------------------- */

static cutoff_wish wish_of(const ley_run_options *options)
{
    ley_short_range range;
    ley_short_range_default(&range);
    return (cutoff_wish){.variant = options->variant,
                         .math = options->math,
                         .sum = LEY_SPEC_SUM_FLOAT,
                         .pair = LEY_PAIR_TAYLOR4,
                         .store = LEY_STORE_ROWS,
                         .depth = range.bin_depth};
}

uint64_t msm_estimate_needs(const ley_run_options *options)
{
    const cutoff_wish wish = wish_of(options);
    return tuning_cutoff_needs(&wish) | CALIBRATE_MULTIPLY_ADDS;
}

static void look_at_device(const device_view *view, const ley_run_options *options, bool at_points, bool field,
                           search_device *d)
{
    double pairs_per_s[SEARCH_REACHES];
    cutoff_wish wish = wish_of(options);
    const calibration *facts = view->is_known ? &view->facts : NULL;
    wish.field = field;
    for (int i = 0; i < SEARCH_REACHES; i++) {
        for (int axis = 0; axis < 3; axis++)
            wish.reach[axis] = search_reaches[i];
        pairs_per_s[i] = at_points ? cutoff_points_expected_rate(view->info, facts)
                                   : tuning_cutoff_expected_rate(view->info, facts, &wish);
    }
    search_look_at(view->info, facts, pairs_per_s, d);
}

/* ---- The plan -------------------------------------------------------------------------------- */

/* Whether ranks that have parts of the atoms can make meshes that one could not. */
static bool can_parts(size_t count, const device_view *devices, const hierarchy *h, const ley_atoms *atoms,
                      const ley_grid *grid)
{
    const local_ranks r = {ranks_count(), ranks_link()};
    local_forecast f;
    bool can = h->levels == 0 || msm_can_number(h);
    for (size_t i = 0; i < count && !can && isfinite(mesh_share_halo_A(h, grid)); i++)
        can = local_forecast_choose(h, &r, ley_atoms_whole_count(atoms), &devices[i], &f);
    return can;
}

/* What makes no meshes, or none that a device has room for, is not looked for: where it leads to
 * is for the job's creator to say. */
static bool has_meshes(size_t count, const device_view *devices, const ley_long_range *r, const ley_atoms *atoms,
                       const ley_grid *grid)
{
    hierarchy h;
    if (msm_meshes(r, atoms, grid, &h, NULL) != LEY_OK || msm_check_mean(&h, atoms, NULL) != LEY_OK ||
        !can_parts(count, devices, &h, atoms, grid))
        return false;
    bool has_room = r->solver != LEY_SOLVER_FOURIER || h.levels == 0 || count == 0;
    for (size_t i = 0; i < count; i++)
        has_room = has_room || memory_limits_device(devices[i].info, &h);
    return has_room;
}

/* What choose() chooses from. */
typedef struct candidates {
    const sum_request *request;
    const charge_statistics *charge_statistics;
    const search_device *devices;
    double aim;
    unsigned fixed;
    ley_long_range asked, best;
    search_figures figures; /* seconds: infinite, there is none that can be had */
} candidates;

static bool can_be_had(const sum_request *r, const ley_long_range *range)
{
    return has_meshes(r->worker_count, r->devices, range, r->atoms, &r->grid);
}

/* The best one with so much fixed, if it can be had and is faster than those before. */
static void try_candidate(candidates *c, const ley_long_range *asked, unsigned fixed)
{
    search_figures own;
    ley_long_range r = *asked;
    if (search_make(c->charge_statistics, c->request->worker_count, c->devices, c->aim, fixed, c->request->options.sum,
                    &r, &own, NULL) == LEY_OK &&
        own.seconds < c->figures.seconds && can_be_had(c->request, &r)) {
        c->best = r;
        c->figures = own;
    }
}

/* Cutoff by cutoff, where it is open, and window by window. */
static void try_each(candidates *c, const ley_long_range *asked, unsigned fixed)
{
    static const double shortest_A = 2, longest_A = 48, longer = 1.2;
    ley_long_range r = *asked;
    for (double a_A = shortest_A; a_A <= longest_A; a_A *= longer) {
        r.cutoff_A = fixed & LEY_FIX_CUTOFF ? asked->cutoff_A : a_A;
        for (int w = 0; w < LEY_WINDOW_COUNT; w++) {
            r.window = (ley_window)w;
            if (!(fixed & LEY_FIX_WINDOW) || r.window == asked->window)
                try_candidate(c, &r, fixed | LEY_FIX_CUTOFF | LEY_FIX_WINDOW);
        }
        if (fixed & LEY_FIX_CUTOFF)
            return;
    }
}

/* With other solvers than the one that cannot be had, and where these cannot either, of any
 * solver what is not the fastest by its figures. */
static void try_others(candidates *c, ley_solver refused)
{
    static const ley_solver solvers[] = {LEY_SOLVER_FOURIER, LEY_SOLVER_MIXED, LEY_SOLVER_MULTILEVEL};
    const bool is_open = !(c->fixed & LEY_FIX_SOLVER) || c->asked.solver == LEY_SOLVER_AUTO;
    for (int is_closer = 0; is_closer < 2 && !(c->figures.seconds < INFINITY); is_closer++)
        for (size_t i = 0; i < sizeof solvers / sizeof *solvers; i++) {
            ley_long_range other = c->asked;
            other.solver = solvers[i];
            if (is_closer && (is_open || solvers[i] == refused))
                try_each(c, &other, c->fixed | LEY_FIX_SOLVER);
            else if (!is_closer && is_open && solvers[i] != refused)
                try_candidate(c, &other, c->fixed | LEY_FIX_SOLVER);
        }
}

/* Of a solver that was asked for: none can be had, though the problem has meshes that transforms
 * do. Anything else is refused by the job's creator, which says why. */
static ley_status refuse(const candidates *c, const ley_long_range *chosen, ley_error *error)
{
    ley_error why = {0};
    ley_long_range other = *chosen;
    other.solver = LEY_SOLVER_FOURIER;
    const ley_atoms *atoms = c->request->atoms;
    const ley_grid *grid = &c->request->grid;
    if (chosen->solver == LEY_SOLVER_FOURIER || !has_meshes(0, NULL, &other, atoms, grid))
        return LEY_OK;
    hierarchy h;
    if (msm_meshes(chosen, atoms, grid, &h, &why) == LEY_OK)
        return LEY_OK;
    const ley_status status = ley_fail(error, LEY_ERROR_USAGE,
                                       "no meshes of the %s solver that are expected to reach the tolerance can be "
                                       "had; of the fastest by their figures %s",
                                       msm_solver_words[chosen->solver], why.message);
    ley_error_clear(&why);
    return status;
}

/* Some that are fine by their figures cannot be had: periods that cannot be halved, meshes that
 * reach too far for kernels, transforms that are too large, a mean potential that floats cannot
 * carry. Then there may be others. */
static ley_status choose(const sum_request *r, charge_statistics *s, const search_device *devices, double aim,
                         unsigned fixed, ley_long_range *range, search_figures *figures, ley_error *error)
{
    candidates c = {.request = r,
                    .charge_statistics = s,
                    .devices = devices,
                    .aim = aim,
                    .fixed = fixed,
                    .asked = *range,
                    .figures = {.seconds = INFINITY}};
    const ley_status status =
        search_make(s, r->worker_count, devices, aim, fixed, r->options.sum, range, figures, error);
    if (status != LEY_OK || can_be_had(r, range))
        return status;
    try_others(&c, range->solver);
    if (!(c.figures.seconds < INFINITY))
        return refuse(&c, range, error);
    *range = c.best;
    *figures = c.figures;
    return LEY_OK;
}

/* By how much the meshes of these options are off more than those of cubes, which the table has:
 * in an oblique cell; or 0, where the table is right, or there are none. */
static double excess_of(const ley_long_range *r, const ley_atoms *atoms, const ley_grid *grid)
{
    hierarchy h;
    if (msm_meshes(r, atoms, grid, &h, NULL) != LEY_OK || h.levels == 0 || hierarchy_is_rectangular(&h))
        return 0;
    h.levels = 1;
    return expected_error(&h) /
           error_table_at((splitting_kind)r->splitting, (window_kind)r->window, r->cutoff_A / r->spacing_A);
}

/* The same with meshes of the cell's own shape: what is chosen is looked at, and chosen again
 * where it is off by more than was thought. */
static ley_status choose_shape(const sum_request *r, charge_statistics *s, const search_device *devices, double aim,
                               unsigned fixed, ley_long_range *range, search_figures *figures, ley_error *error)
{
    enum { MOST_TRIES = 24 };
    static const double near = 1.1;
    const ley_long_range asked = *range;
    for (int i = 0; i < MOST_TRIES; i++) {
        *range = asked;
        const ley_status status = choose(r, s, devices, aim, fixed, range, figures, error);
        if (status != LEY_OK)
            return status;
        double *known = &s->excess[range->splitting][range->window];
        const double excess = excess_of(range, r->atoms, &r->grid);
        if (excess <= near * (*known > 0 ? *known : 1))
            return LEY_OK;
        *known = excess;
    }
    return LEY_OK;
}

/* What is expected is no more than that: where nothing is expected to be as near as is aimed at,
 * what comes nearest is taken, and measured. */
static ley_status choose_nearest(const sum_request *r, charge_statistics *s, const search_device *devices, double aim,
                                 unsigned fixed, ley_long_range *range, search_figures *figures, ley_error *error)
{
    static const double wider = 1.4, widest = 1e9;
    const ley_long_range asked = *range;
    for (double by = 1; by < widest; by *= wider) {
        *range = asked;
        if (choose_shape(r, s, devices, by * aim, fixed, range, figures, NULL) == LEY_OK)
            return LEY_OK;
    }
    *range = asked;
    return choose_shape(r, s, devices, aim, fixed, range, figures, error);
}

/* What counts of building, where some of it is to be done: others who use these kernels save it.
 * Compilers that run on the host's processor for a processor take longest. */
static double building_s(const sum_request *r, const search_figures *figures)
{
    double longest_s = 0;
    for (size_t i = 0; i < r->worker_count && figures->building_s > 0; i++)
        longest_s = fmax(longest_s, r->devices[i].info->device_class == DEV_CPU ? 1 : 0.2);
    return longest_s;
}

/* ---- From a plan ----------------------------------------------------------------------------- */

static int find_word(const char *const *words, const char *word)
{
    int i = 0;
    while (words[i] != NULL && strcmp(words[i], word) != 0)
        i++;
    return words[i] != NULL ? i : -1;
}

/* What a plan decides of meshes. */
typedef struct mesh_choice {
    const char *splitting, *window, *solver; /* NULL: nothing */
    double cutoff_A, spacing_A;              /* not a number: nothing */
} mesh_choice;

static ley_status check_length(const char *what, double planned_A, bool is_fixed, double asked_A, ley_error *error)
{
    if (!is_fixed || !isfinite(planned_A) || planned_A == asked_A)
        return LEY_OK;
    return plan_fail(error, "%s is to be %g A, and %g A is asked for", what, planned_A, asked_A);
}

static ley_status check_word(const char *what, const char *planned, bool is_fixed, const char *asked, ley_error *error)
{
    if (!is_fixed || planned == NULL || strcmp(planned, asked) == 0)
        return LEY_OK;
    return plan_fail(error, "%s is to be %s, and %s is asked for", what, planned, asked);
}

/* What is asked for must be as the plan says; but where no device had transforms, a nodal window
 * may have come in place of a B-spline. */
static ley_status check_fixed(const mesh_choice *p, unsigned fixed, const ley_long_range *r, ley_error *error)
{
    const bool may_replace = p->solver != NULL && strcmp(p->solver, msm_solver_words[LEY_SOLVER_FOURIER]) != 0 &&
                             !((fixed & LEY_FIX_SOLVER) && r->solver == LEY_SOLVER_FOURIER),
               is_replaced = may_replace && p->window != NULL &&
                             strcmp(p->window, msm_window_words[msm_nodal_window(r->window)]) == 0;
    ley_status status =
        check_word("splitting", p->splitting, fixed & LEY_FIX_SPLITTING, msm_splitting_words[r->splitting], error);
    if (status == LEY_OK)
        status = check_word("window", p->window, (fixed & LEY_FIX_WINDOW) && !is_replaced, msm_window_words[r->window],
                            error);
    if (status == LEY_OK)
        status = check_word("solver", p->solver, (fixed & LEY_FIX_SOLVER) && r->solver != LEY_SOLVER_AUTO,
                            msm_solver_words[r->solver], error);
    if (status == LEY_OK)
        status = check_length("cutoff", p->cutoff_A, fixed & LEY_FIX_CUTOFF, r->cutoff_A, error);
    return status == LEY_OK ? check_length("spacing", p->spacing_A, fixed & LEY_FIX_SPACING, r->spacing_A, error)
                            : status;
}

/* Takes what the plan decides, LEY_FIX_..., which is returned. The job's creator checks it. */
static unsigned take(const mesh_choice *p, const job_plan *given, ley_long_range *r)
{
    const int s = p->splitting != NULL ? find_word(msm_splitting_words, p->splitting) : -1,
              w = p->window != NULL ? find_word(msm_window_words, p->window) : -1;
    r->splitting = s >= 0 ? (ley_splitting)s : r->splitting;
    r->window = w >= 0 ? (ley_window)w : r->window;
    if (p->solver != NULL)
        r->solver = strcmp(p->solver, msm_solver_words[LEY_SOLVER_FOURIER]) == 0 ? LEY_SOLVER_FOURIER
                    : strcmp(p->solver, msm_solver_words[LEY_SOLVER_MIXED]) == 0
                        ? LEY_SOLVER_MIXED
                        : LEY_SOLVER_MULTILEVEL; /* of mixed the job takes the plan's levels */
    r->cutoff_A = isfinite(p->cutoff_A) ? p->cutoff_A : r->cutoff_A;
    r->spacing_A = isfinite(p->spacing_A) ? p->spacing_A : r->spacing_A;
    r->long_waves_per_A = isfinite(plan_real(given, "long_waves")) ? plan_real(given, "long_waves") : 0;
    r->contact_error = isfinite(plan_real(given, "contact")) ? plan_real(given, "contact") : 0;
    return (s >= 0 ? LEY_FIX_SPLITTING : 0u) | (w >= 0 ? LEY_FIX_WINDOW : 0u) |
           (p->solver != NULL ? LEY_FIX_SOLVER : 0u) | (isfinite(p->cutoff_A) ? LEY_FIX_CUTOFF : 0u) |
           (isfinite(p->spacing_A) ? LEY_FIX_SPACING : 0u);
}

/* From the plan of the options, if there is one; *is_whole: it says all of it, and nothing is left
 * to choose. */
static ley_status take_plan(const ley_run_options *o, unsigned *fixed, ley_long_range *r, bool *is_whole,
                            ley_error *error)
{
    job_plan *given = NULL;
    *is_whole = false;
    if (o->decision_count == 0)
        return LEY_OK;
    ley_status status = plan_of_list(o->decisions, o->decision_count, &given, error);
    if (status != LEY_OK)
        return status;
    const mesh_choice p = {.splitting = plan_word(given, NULL, "splitting"),
                           .window = plan_word(given, NULL, "window"),
                           .solver = plan_word(given, NULL, "solver"),
                           .cutoff_A = plan_real(given, "cutoff"),
                           .spacing_A = plan_real(given, "spacing")};
    status = check_fixed(&p, *fixed, r, error);
    if (status == LEY_OK) {
        const unsigned of_plan = take(&p, given, r);
        *is_whole = of_plan == (unsigned)PLANNED_MESHES;
        *fixed |= of_plan;
    }
    plan_destroy(given);
    return status;
}

static ley_status check(double tolerance, const ley_grid *grid, ley_error *error)
{
    const ley_status status = options_check_tolerance(tolerance, error);
    return status == LEY_OK ? ley_grid_check(grid, error) : status;
}

static ley_status choose_for(sum_request *r, unsigned fixed, estimate *made, ley_error *error)
{
    const ley_run_options *o = &r->options;
    ley_long_range *range = &made->range;
    ley_status status = sum_request_look(r, error);
    if (status != LEY_OK)
        return status;
    charge_statistics s = r->statistics;
    search_device *devices = calloc(r->worker_count + 1, sizeof *devices);
    if (devices == NULL)
        return ley_fail_memory(error, sizeof *devices, "a plan");
    for (size_t i = 0; i < r->worker_count; i++) {
        look_at_device(&r->devices[i], o, r->target.points != NULL, target_has_field(&r->target), &devices[i]);
        if (r->is_kept)
            search_forget_building(&devices[i]);
    }
    search_figures figures;
    range->levels = 0;
    status = choose_nearest(r, &s, devices, (o->aim > 0 ? o->aim : usual_aim) * r->asked.tolerance, fixed, range,
                            &figures, error);
    free(devices);
    if (status != LEY_OK)
        return status;
    if (range->solver == LEY_SOLVER_FOURIER && !(fixed & LEY_FIX_SOLVER) && range->window >= LEY_WINDOW_BSPLINE4)
        range->solver = LEY_SOLVER_AUTO; /* where transforms turn out to be wrong, there are others */
    made->seconds = figures.seconds;
    made->relative_rms = hypot(figures.relative_rms, figures.rounding);
    made->sum = figures.sum;
    made->building_s = building_s(r, &figures);
    log_say(LEY_LOG_NOTE,
            "for a tolerance of %.2g: cutoff %g A, nodes %g A apart, expected to be off by %.2g of %.3g e/A, in %.3g "
            "s%s%s",
            r->asked.tolerance, range->cutoff_A, range->spacing_A, made->relative_rms, s.potential_e_A, figures.seconds,
            range->long_waves_per_A > 0 ? "; long waves in double precision" : "",
            o->sum == LEY_SUM_AUTO && figures.sum != LEY_SUM_FLOAT ? "; compensated sums" : "");
    return LEY_OK;
}

static ley_status choose_meshes(sum_request *r, estimate *made, ley_error *error)
{
    const ley_run_options *o = &r->options;
    unsigned fixed = r->asked.fixed;
    bool is_whole;
    ley_status status = check(r->asked.tolerance, &r->grid, error);
    if (status != LEY_OK)
        return status;
    *made = (estimate){.sum = o->sum == LEY_SUM_AUTO ? LEY_SUM_FLOAT : o->sum, .range = r->asked.potential};
    made->range.chosen = ~fixed & (PLANNED_MESHES | LEY_FIX_METHOD | (o->sum == LEY_SUM_AUTO ? LEY_FIX_SUM : 0u));
    fixed &= PLANNED_MESHES;
    status = take_plan(o, &fixed, &made->range, &is_whole, error);
    return status == LEY_OK && !is_whole ? choose_for(r, fixed, made, error) : status;
}

ley_status msm_estimate(sum_request *r, estimate *made, ley_error *error)
{
    hierarchy h;
    job_needs needs = {.count = 0};
    const ley_status status = choose_meshes(r, made, error);
    if (status != LEY_OK)
        return status;
    sum_request_needs(r, CUTOFF_LAYER, &needs);
    if (msm_meshes(&made->range, r->atoms, &r->grid, &h, NULL) == LEY_OK)
        msm_problem_needs(r->atoms, &r->grid, &made->range, &h, &needs);
    made->bytes = job_needs_bytes(&needs);
    return LEY_OK;
}

/* ---- What the library's users and its other parts ask ---------------------------------------- */

static ley_status choose_with(sum_request *r, const ley_run_options *options, ley_long_range *range, ley_choice *choice,
                              ley_error *error)
{
    ley_long_range *asked = &r->asked.potential;
    estimate made;
    ley_status status = OPTIONS_TAKE(ley_long_range, fft, asked, range, error);
    if (status == LEY_OK)
        status = OPTIONS_TAKE(ley_run_options, aim, &r->options, options, error);
    if (status == LEY_OK)
        status = options_check_medium(asked, error);
    r->facts = msm_estimate_needs(&r->options);
    if (status == LEY_OK)
        status = choose_meshes(r, &made, error);
    sum_request_end(r);
    if (status != LEY_OK)
        return status;
    *range = made.range;
    *choice = (ley_choice){
        .seconds = made.seconds, .relative_rms = made.relative_rms, .building_s = made.building_s, .sum = made.sum};
    return LEY_OK;
}

ley_status msm_choose_on(const worker *w, const ley_atoms *atoms, const ley_grid *grid, double tolerance,
                         unsigned fixed, const ley_run_options *options, ley_long_range *range, ley_choice *choice,
                         ley_error *error)
{
    sum_request r = {.atoms = atoms,
                     .target = {.grid = grid},
                     .grid = *grid,
                     .asked = {.tolerance = tolerance, .fixed = fixed},
                     .worker_count = 1,
                     .workers = w,
                     .is_own_thread = true};
    return choose_with(&r, options, range, choice, error);
}

ley_status msm_choose_where(ley_engine *engine, const coulomb_problem *where, double tolerance, unsigned fixed,
                            const ley_run_options *options, ley_long_range *range, ley_choice *choice, ley_error *error)
{
    sum_request r = {.atoms = where->atoms,
                     .target = where->target,
                     .grid = target_grid(&where->target),
                     .asked = {.tolerance = tolerance, .fixed = fixed},
                     .worker_count = engine->worker_count,
                     .workers = engine->workers};
    return choose_with(&r, options, range, choice, error);
}

ley_status ley_long_range_choose(ley_engine *engine, const ley_atoms *atoms, ley_target target, double tolerance,
                                 unsigned fixed, const ley_run_options *options, ley_long_range *range,
                                 ley_choice *choice, ley_error *error)
{
    const coulomb_problem where = {.atoms = atoms, .target = target};
    const ley_status status = target_check(&target, TARGET_MAP | TARGET_POINTS | TARGET_OUTLINE, "msm", error);
    return status == LEY_OK ? msm_choose_where(engine, &where, tolerance, fixed, options, range, choice, error)
                            : status;
}
