#include "long_range/task.h"

#include "core/options.h"
#include "error.h"
#include "law/long_range.h"
#include "law/long_range_sum.h"
#include "log.h"
#include "long_range/fourier/device_long_wavelengths.h"
#include "long_range/fourier/kept_spectrum.h"
#include "long_range/fourier/long_wavelengths.h"
#include "long_range/mesh/coherence.h"
#include "long_range/model/memory_limits.h"
#include "long_range/model/problem.h"
#include "numerics/expected_error.h"
#include "numerics/influence.h"
#include "numerics/lattice_sum.h"
#include "numerics/spectrum.h"
#include "parallel.h"
#include "plan/request.h"
#include "schedule/host_sum.h"
#include "schedule/job_memory.h"
#include "source/atoms.h"
#include "target/map.h"
#include "target/points.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The problem ----------------------------------------------------------------------------- */

void msm_task_end(void *context)
{
    cutoff_task_clear(context);
    free(context);
}

ley_short_range msm_near_of(const ley_long_range *r, const hierarchy *h, pairs_formula *formula)
{
    return pairs_of(r, h->levels > 0 ? &h->level[0].split : NULL, formula);
}

static void put_extents(msm_task *task)
{
    const hierarchy *h = &task->meshes;
    size_t used = 0;
    for (int k = 0; k < h->levels && used < sizeof task->extents; k++)
        used += (size_t)snprintf(task->extents + used, sizeof task->extents - used, "%s%lld x %lld x %lld",
                                 k > 0 ? ", " : "", (long long)h->level[k].n[0], (long long)h->level[k].n[1],
                                 (long long)h->level[k].n[2]);
}

bool msm_has_field(const msm_task *task)
{
    return task->near.map != NULL ? map_components(task->near.map) > 1 : task->listed.points->field != NULL;
}

double msm_mean(const msm_task *task)
{
    return task->constant * ley_atoms_net_charge_e(task->near.atoms) * task->meshes.mean_per_A;
}

ley_status msm_check_mean(const hierarchy *h, const ley_atoms *atoms, ley_error *error)
{
    const double largest_e_A = 1e30, net_e = ley_atoms_net_charge_e(atoms),
                 mean_e_A = net_e * (h->levels > 0 ? lattice_sum_mean(&h->cell, h->kappa_per_A) : 0);
    return net_e == 0 || fabs(mean_e_A) <= largest_e_A
               ? LEY_OK
               : ley_fail(error, LEY_ERROR_INPUT,
                          "a net charge of %g e, repeated along %s axes, has a mean potential of %g e/A with kappa %g "
                          "/ A, more than floats hold: take a larger kappa%s",
                          net_e, h->cell.dimensions == 3 ? "three" : "two", mean_e_A, h->kappa_per_A,
                          h->cell.dimensions == 3 ? ", or 0, with which a uniform background neutralises it" : "");
}

/* In open space the host needs no meshes, however far apart atoms and points are. */
static ley_status make_meshes(msm_task *task, bool has_devices, const ley_atoms *atoms, const ley_grid *points,
                              const ley_long_range *r, ley_error *error)
{
    ley_error why = {0};
    const ley_status status = msm_meshes(r, atoms, points, &task->meshes, &why);
    cell c;
    if (status == LEY_ERROR_INPUT && !has_devices && cell_make(r->periodic, r->cell_A, &c, NULL) == LEY_OK &&
        c.dimensions == 0) {
        task->meshes = (hierarchy){.cell = c, .kappa_per_A = r->kappa_per_A};
        ley_error_clear(&why);
        return LEY_OK;
    }
    if (error != NULL)
        *error = why;
    else
        ley_error_clear(&why);
    return status;
}

static ley_status init_task(msm_task *task, bool has_devices, const ley_atoms *atoms, ley_map *map,
                            const ley_grid *points, const ley_long_range *r, ley_error *error)
{
    pairs_formula formula;
    ley_status status = make_meshes(task, has_devices, atoms, points, r, error);
    if (status == LEY_OK)
        status = msm_check_mean(&task->meshes, atoms, error);
    if (status != LEY_OK)
        return status;
    const ley_short_range near = msm_near_of(r, &task->meshes, &formula);
    task->points = *points;
    task->has_other = msm_otherwise(r, &task->other);
    task->options = msm_resolved(r);
    task->options.fft = task->other.fft = NULL;
    snprintf(task->library, sizeof task->library, "%s", r->fft != NULL ? r->fft : "");
    task->constant = ley_coulomb_constant(r->units, r->dielectric, r->temperature_K);
    put_extents(task);
    status = cutoff_task_init(&task->near, atoms, map, &near, error);
    if (status != LEY_OK)
        cutoff_task_clear(&task->near);
    return status;
}

ley_status msm_task_init(msm_task *task, ley_engine *engine, const ley_atoms *atoms, ley_map *map,
                         const ley_grid *points, const ley_long_range *range, const ley_run_options *options,
                         ley_error *error)
{
    ley_long_range fitted = task->asked = *range;
    task->asked.fft = NULL;
    job_plan *given = NULL;
    ley_run_options run = {.decision_count = 0};
    ley_status status = options_check_medium(range, error);
    if (status == LEY_OK && engine != NULL)
        status = OPTIONS_TAKE(ley_run_options, aim, &run, options, error);
    if (status == LEY_OK && run.decision_count > 0)
        status = plan_of_list(run.decisions, run.decision_count, &given, error);
    if (status == LEY_OK && isfinite(plan_real(given, "long_waves")))
        fitted.long_waves_per_A = plan_real(given, "long_waves");
    if (status == LEY_OK && isfinite(plan_real(given, "contact")))
        fitted.contact_error = plan_real(given, "contact");
    if (status == LEY_OK && engine != NULL && ley_grid_check(points, NULL) == LEY_OK)
        memory_limits_solver(engine, atoms, points, given, &fitted, task->why, sizeof task->why);
    plan_destroy(given);
    if (engine == NULL && fitted.cutoff_A > 0 && fitted.cutoff_A <= fitted.r_min_A) { /* the host has none */
        fitted.spacing_A *= 2 * fitted.r_min_A / fitted.cutoff_A;
        fitted.cutoff_A = 2 * fitted.r_min_A;
    }
    return status == LEY_OK ? init_task(task, engine != NULL, atoms, map, points, &fitted, error) : status;
}

/* Pairs stay as they are, and so must the splitting: that of meshes made anew would be of the
 * band that suits their window. */
bool msm_task_otherwise(void *context, const char *why)
{
    msm_task *task = context;
    const splitting split = task->meshes.level[0].split;
    if (!task->has_other || msm_meshes(&task->other, task->near.atoms, &task->points, &task->meshes, NULL) != LEY_OK)
        return false;
    for (int k = 0; k < task->meshes.levels && split.kappa_a == 0; k++)
        task->meshes.level[k].split = split;
    task->has_other = false;
    task->options = task->other;
    snprintf(task->why, sizeof task->why, "%s", why);
    put_extents(task);
    return true;
}

/* ---- Once a job ------------------------------------------------------------------------------ */

/* Of plans and reports, by ley_solver; a task's is never auto. */
const char *const msm_solver_words[] = {LEY_SOLVER_TABLE(LEY_NAME) NULL};

/* The solver that a plan says is taken: the other one where that had come to pass. */
static ley_status take_solver(msm_task *task, const job_plan *given, ley_error *error)
{
    const char *planned = plan_word(given, NULL, "solver");
    const bool is_direct = planned != NULL && strcmp(planned, msm_solver_words[LEY_SOLVER_MULTILEVEL]) == 0;
    const int64_t levels = plan_number(given, NULL, "levels");
    if (planned == NULL || task->meshes.levels == 0)
        return LEY_OK;
    if (is_direct && task->options.solver != LEY_SOLVER_MULTILEVEL && !msm_task_otherwise(task, "as the plan says"))
        return plan_fail(error, "solver is to be multilevel, and %s is asked for",
                         msm_solver_words[task->options.solver]);
    if (strcmp(planned, msm_solver_words[task->options.solver]) != 0)
        return plan_fail(error, "solver is to be %s, and what is asked for is %s", planned,
                         msm_solver_words[task->options.solver]);
    if (task->options.solver == LEY_SOLVER_MIXED && levels > 0 && levels != task->meshes.levels)
        return plan_fail(error, "levels are to be %lld, and what is asked for has %d", (long long)levels,
                         task->meshes.levels);
    task->has_other = false;
    return LEY_OK;
}

/* Splitting, cutoff and mesh are those that are asked for: ley_long_range_choose() has taken
 * them from the plan. */
static ley_status check_meshes(const msm_task *task, const job_plan *given, ley_error *error)
{
    const ley_long_range *r = &task->options;
    const char *split = plan_word(given, NULL, "splitting"), *own = msm_splitting_words[r->splitting];
    const double cutoff_A = plan_real(given, "cutoff"), spacing_A = plan_real(given, "spacing");
    if (split != NULL && strcmp(split, own) != 0)
        return plan_fail(error, "splitting is to be %s, and %s is asked for", split, own);
    if (isfinite(cutoff_A) && cutoff_A != r->cutoff_A)
        return plan_fail(error, "cutoff is to be %g A, and %g A is asked for", cutoff_A, r->cutoff_A);
    if (isfinite(spacing_A) && spacing_A != r->spacing_A)
        return plan_fail(error, "spacing is to be %g A, and %g A is asked for", spacing_A, r->spacing_A);
    return LEY_OK;
}

/* The window is that of the solver that is taken. */
static ley_status check_window(const msm_task *task, const job_plan *given, ley_error *error)
{
    const char *planned = plan_word(given, NULL, "window"), *own = msm_window_words[task->options.window];
    return planned == NULL || strcmp(planned, own) == 0
               ? LEY_OK
               : plan_fail(error, "window is to be %s, and %s is asked for", planned, own);
}

/* And the libraries are those that are asked for. */
static ley_status check_libraries(const msm_task *task, const job_plan *given, ley_error *error)
{
    for (size_t i = 0; given != NULL && task->library[0] != '\0' && i < given->count; i++)
        if (strcmp(given->list[i].name, "fft") == 0 &&
            strncmp(given->list[i].value, task->library, strlen(task->library)) != 0)
            return plan_fail(error, "fft of %s is to be %s, and %s is asked for", given->list[i].device,
                             given->list[i].value, task->library);
    return LEY_OK;
}

ley_status msm_task_begin(msm_task *task, const job_view *job, ley_error *error)
{
    const hierarchy *h = &task->meshes;
    if (task->near.map != NULL)
        task->near.offset = msm_mean(task);
    memset(task->step_s, 0, sizeof task->step_s);
    memset(task->near.step_s, 0, sizeof task->near.step_s);
    task->meshes_s = task->spread_s = task->long_s = task->long_wait_s = 0;
    task->coherence = 1;
    task->is_coherence_known = false;
    task->transforms[0] = task->passed_over[0] = '\0';
    ley_status status = check_meshes(task, job->plan, error);
    if (status == LEY_OK)
        status = take_solver(task, job->plan, error);
    if (status == LEY_OK)
        status = check_window(task, job->plan, error);
    if (status == LEY_OK)
        status = check_libraries(task, job->plan, error);
    if (status == LEY_OK && h->levels == 0)
        log_say(LEY_LOG_NOTE, "plan: no meshes: screening leaves nothing beyond the cutoff");
    if (status == LEY_OK && h->levels > 0)
        log_say(LEY_LOG_NOTE, "plan: %s, %s, meshes of %s nodes", splitting_name(h->level[0].split.kind),
                h->window->name, task->extents);
    const mesh_share_problem together = {h, task->near.atoms, &task->points, task->library};
    return status == LEY_OK ? mesh_share_plan(&task->share, &together, job, error) : status;
}

void msm_task_leave(msm_task *task, bool is_kept)
{
    mesh_share_end(&task->share);
    host_threads_end(&task->host_threads, is_kept);
}

void msm_task_place_long(msm_task *task, const job_view *job, bool are_there)
{
    const ley_place planned = plan_place(job->plan, "long_waves_by");
    task->long_place = !long_wavelengths_are_wanted(&task->meshes) ? LEY_PLACE_AUTO
                       : planned != LEY_PLACE_AUTO
                           ? planned
                           : device_long_plan(job, ley_atoms_count(task->near.atoms), are_there);
}

void msm_task_begin_host_threads(msm_task *task, const job_view *job, bool spreads)
{
    const hierarchy *h = &task->meshes;
    hierarchy top;
    const dev_info *with_transforms = NULL;
    int64_t extent[3];
    const mesh_share *share = &task->share;
    const bool transforms = h->solver != HIERARCHY_MULTILEVEL && !share->transforms;
    const host_threads_spread common = {h, share->own}, local = {.meshes = &share->levels.lower};
    for (size_t i = 0; i < job->device_count && transforms && with_transforms == NULL; i++)
        if (fft_is_there(job->devices[i].info, NULL, 0))
            with_transforms = job->devices[i].info;
    if (with_transforms != NULL) {
        hierarchy_top(h, &top);
        spectral_extent(with_transforms, &top, extent);
    }
    host_threads_begin(&task->host_threads, h, task->near.atoms, job->cancelled, spreads,
                       !share->is_wanted         ? NULL
                       : share->levels.count > 0 ? &local
                                                 : &common,
                       task->long_place == LEY_PLACE_HOST, with_transforms != NULL ? extent : NULL);
}

/* Whether all charges have all of their nodes, along the axes that are open. */
static bool meshes_hold(const hierarchy *h, const ley_atoms *atoms)
{
    double bounds_A[2][3];
    ley_atoms_charged_bounds_A(atoms, bounds_A[0], bounds_A[1]);
    if (!(bounds_A[0][0] <= bounds_A[1][0])) /* there is no charge */
        return true;
    for (int corner = 0; corner < 8; corner++) {
        const double at_A[3] = {bounds_A[corner & 1][0], bounds_A[corner >> 1 & 1][1], bounds_A[corner >> 2][2]};
        double index[3];
        hierarchy_index(h, at_A, index);
        for (int axis = 0; axis < 3; axis++) {
            float u;
            const int64_t first = h->cell.periodic[axis] ? 0 : spread_first_node(h, axis, index[axis], &u);
            if (first < 0 || (!h->cell.periodic[axis] && first + h->window->points > h->level[0].n[axis]))
                return false;
        }
    }
    return true;
}

ley_status msm_task_renew(msm_task *task, bool spreads, ley_error *error)
{
    const ley_atoms *atoms = task->near.atoms;
    const hierarchy *h = &task->meshes;
    ley_status status =
        hierarchy_check_charge(h, ley_atoms_total_charge_e(atoms), ley_atoms_charge_magnitude_e(atoms), error);
    if (status != LEY_OK || h->levels == 0)
        return status;
    if (!meshes_hold(h, atoms))
        return ley_fail(error, LEY_ERROR_USAGE, "charges have left the meshes");
    if (task->near.map != NULL)
        task->near.offset = msm_mean(task);
    memset(task->step_s, 0, sizeof task->step_s);
    task->meshes_s = task->spread_s = task->long_s = task->long_wait_s = 0;
    task->is_coherence_known = false;
    task->coherence = 1;
    host_threads_renew(&task->host_threads, spreads, task->long_place == LEY_PLACE_HOST);
    return LEY_OK;
}

/* A rank with a part of the atoms has bins for about as large a part of the mesh. */
void msm_add_needs(const hierarchy *h, const ley_atoms *of, job_needs *needs)
{
    hierarchy top;
    int64_t n[3];
    const size_t atoms = ley_atoms_count(of);
    const double share = (double)atoms / (double)ley_atoms_whole_count(of);
    if (h->levels == 0)
        return;
    job_needs_add(needs, "atoms in a mesh's bins", msm_bytes(h, atoms, share), "fewer atoms, or a wider mesh spacing");
    if (h->solver == HIERARCHY_MULTILEVEL)
        return;
    hierarchy_top(h, &top);
    influence_extent(&top, n);
    job_needs_add(needs, "the influence function", spectrum_bytes(&top, n), "a wider mesh spacing");
    if (long_wavelengths_are_wanted(h))
        job_needs_add(needs, "charges of long waves", long_charges_bytes(h, atoms), "a looser tolerance");
}

void msm_problem_needs(const ley_atoms *atoms, const ley_grid *grid, const ley_long_range *r, const hierarchy *h,
                       job_needs *needs)
{
    pairs_formula formula;
    const ley_short_range near = msm_near_of(r, h, &formula);
    cutoff_problem_needs(atoms, grid, &near, needs);
    msm_add_needs(h, atoms, needs);
}

void msm_task_expect(msm_task *task)
{
    if (task->meshes.levels == 0)
        return;
    task->expected = host_threads_expected_error(&task->host_threads);
    log_say(LEY_LOG_NOTE, "meshes are expected to be off by %.2g", task->expected);
    if (msm_has_field(task))
        task->field_expected_per_A = expected_field_error(&task->meshes);
}

/* Few jobs have charges that have nodes in common, and to find them takes long. Where there is no
 * memory for that, charges are taken for independent. */
bool msm_look_closer(void *context)
{
    msm_task *task = context;
    const ley_atoms *atoms = ley_atoms_all(task->near.atoms);
    if (task->meshes.levels == 0 || task->is_coherence_known || atoms == NULL)
        return false;
    task->is_coherence_known = true;
    if (coherence_find(&task->meshes, ley_atoms_count(atoms), ley_atoms_positions_A(atoms), ley_atoms_charges_e(atoms),
                       task->host_threads.cancelled, &task->coherence, NULL) != LEY_OK)
        task->coherence = 1;
    return task->coherence > 1;
}

/* ---- The result ------------------------------------------------------------------------------ */

static void note_solver(const msm_task *task, notes *n)
{
    const bool is_mixed = task->options.solver == LEY_SOLVER_MIXED;
    if (is_mixed || task->options.solver == LEY_SOLVER_FOURIER) {
        const double *step_s = task->step_s + (is_mixed ? CYCLE_FORWARD - SPECTRAL_FORWARD : 0);
        notes_text(n, "fft_library", task->transforms);
        if (task->passed_over[0] != '\0')
            notes_text(n, "fft_passed_over", task->passed_over);
        notes_number(n, "spectrum_s", task->spectrum_s);
        notes_number(n, "transforms_s", task->share.transform_s + step_s[SPECTRAL_FORWARD] + step_s[SPECTRAL_BACK]);
        notes_number(n, "product_s", step_s[SPECTRAL_PRODUCT]);
    }
    if (task->options.solver == LEY_SOLVER_FOURIER)
        return;
    const bool has_levels = task->meshes.levels > 1; /* else all there is is the top one */
    if (has_levels) {
        notes_number(n, "restriction_s", task->step_s[CYCLE_RESTRICTION]);
        notes_number(n, "lattice_cutoff_s", task->step_s[CYCLE_LATTICE_CUTOFF]);
    }
    if (!is_mixed)
        notes_number(n, "top_level_s", task->step_s[CYCLE_TOP_LEVEL]);
    if (has_levels)
        notes_number(n, "prolongation_s", task->step_s[CYCLE_PROLONGATION]);
}

static void outline_meshes(const msm_task *task, notes *n)
{
    const hierarchy *h = &task->meshes;
    notes_text(n, "splitting", splitting_name(h->level[0].split.kind));
    notes_text(n, "window", h->window->name);
    notes_text(n, "solver", msm_solver_words[task->options.solver]);
    if (task->why[0] != '\0')
        notes_text(n, "otherwise", task->why);
    notes_number(n, "mesh_spacing_A", task->options.spacing_A);
    if (long_wavelengths_are_wanted(h))
        notes_number(n, "long_waves_per_A", task->options.long_waves_per_A);
    if (task->long_place != LEY_PLACE_AUTO)
        notes_place(n, "long_waves_by", task->long_place);
    notes_count(n, "levels", h->levels);
    notes_text(n, "meshes", task->extents);
}

void msm_outline(const void *context, notes *n)
{
    const msm_task *task = context;
    if (task->meshes.levels > 0)
        outline_meshes(task, n);
    else
        notes_count(n, "levels", 0);
    cutoff_outline(task, n);
}

static void note_meshes(const msm_task *task, notes *n)
{
    outline_meshes(task, n);
    notes_number(n, "expected_error", task->expected);
    notes_number(n, "spread_s", task->spread_s);
    mesh_share_note(&task->share, n);
    notes_number(n, "anterpolation_s", task->share.made_s + task->step_s[CYCLE_ANTERPOLATION]);
    if (task->long_place == LEY_PLACE_DEVICE)
        notes_number(n, "long_waves_s", task->long_s);
    if (task->long_place != LEY_PLACE_AUTO)
        notes_number(n, "long_waves_waited_s", task->long_wait_s);
    note_solver(task, n);
    notes_number(n, "interpolation_s", task->near.step_s[MSM_STEP_INTERPOLATION]);
}

void msm_note_meshes(const void *context, notes *n)
{
    const msm_task *task = context;
    const double background_e = ley_long_range_background_e(task->near.atoms, &task->options);
    if (task->meshes.levels > 0)
        note_meshes(task, n);
    else
        notes_count(n, "levels", 0);
    if (background_e != 0)
        notes_number(n, "background_e", background_e);
    notes_number(n, "short_range_s", task->near.step_s[MSM_STEP_SHORT_RANGE]);
}

/* Below its r_min the sum over pairs takes them for r_min apart, and meshes do not know of it. */
static double contact_error(const msm_task *task)
{
    const splitting *s = &task->meshes.level[0].split;
    return task->meshes.levels == 0
               ? 0
               : pairs_contact_error(s, task->options.cutoff_A, task->options.r_min_A, task->near.range.r_min_A);
}

/* Of charges that are independent of each other, but for those with the same nodes. Without
 * meshes, what is left beyond the cutoff. */
static double mesh_error(const msm_task *task)
{
    if (task->meshes.levels == 0)
        return 3 * exp(-task->options.kappa_per_A * task->options.cutoff_A);
    return task->expected * task->coherence;
}

/* What meshes may be off by, and what is left out beyond the cutoff, of the tolerance. */
static double own_error(const msm_task *task)
{
    const double safety = 8;
    return safety * mesh_error(task) + contact_error(task);
}

/* How large a value may be that is left out: of all charges just beyond the cutoff, and of as many
 * images as there are within two of these. */
static double left_out(const msm_task *task)
{
    const cell *c = &task->meshes.cell;
    const double a_A = task->options.cutoff_A;
    const double images = c->dimensions > 0 ? fmax(1, pow(4 * a_A, c->dimensions) / c->measure) : 1;
    return task->meshes.levels > 0 ? 0
                                   : fabs(task->constant) * ley_atoms_charge_magnitude_e(task->near.atoms) * images *
                                         exp(-task->options.kappa_per_A * a_A) / a_A;
}

/* In layers and wires a coarse level has all charges of a cell in a few nodes, whose weights are
 * those of wave 0: what neutral charges cancel to is off by the rounding of all of them. Transforms
 * have that wave in double precision. */
static double coarse_rounding(const msm_task *task)
{
    const hierarchy *h = &task->meshes;
    double across_A = 0, weight_per_A = 0;
    if (h->levels == 0 || h->solver != HIERARCHY_MULTILEVEL || h->cell.dimensions % 3 == 0)
        return 0;
    for (int m = 0; m < 3; m++)
        if (!h->cell.periodic[m])
            across_A = fmax(across_A, (double)h->level[0].n[m] * cell_length(h->step_A[m]));
    const double mean_per_A = lattice_sum_mean(&h->cell, h->kappa_per_A);
    if (h->cell.dimensions == 1)
        weight_per_A = 2 * log(1 + across_A / h->cell.measure) / h->cell.measure;
    else
        weight_per_A = mean_per_A > 0 && h->mean_per_A == 0 ? mean_per_A : 2 * M_PI * across_A / h->cell.measure;
    return 0x1p-24 * fabs(task->constant) * ley_atoms_charge_magnitude_e(task->near.atoms) * weight_per_A;
}

/* Errors are as large as expected_error() says where charges are independent of each other: of some
 * thousand points the worst is off by four to five times that, with every window and splitting.
 * Molecules, crystals and charges of one sign are off by less (tests/test_msm.c), but for heaps of
 * charges of one sign between the same nodes; a wrong mesh by what it carries, a hundred times
 * more. */
accuracy_limits msm_limits(const void *context)
{
    const double transforms = 1e-6;
    const msm_task *task = context;
    const ley_pair steepest = task->options.kappa_per_A > 0 ? LEY_PAIR_YUKAWA : LEY_PAIR_COULOMB;
    const double rounding = cutoff_promise(&task->near, steepest, fmax(task->options.r_min_A, LEY_CONTACT));
    return (accuracy_limits){.tolerance = own_error(task) + rounding,
                             .nothing = ACCURACY_NOTHING,
                             .left_out = left_out(task),
                             .noise = coarse_rounding(task),
                             .share = task->options.solver != LEY_SOLVER_MULTILEVEL ? transforms : 0,
                             .rounding = rounding,
                             .is_smooth = task->meshes.levels > 0};
}

void msm_decide_meshes(const void *context, job_plan *made)
{
    const msm_task *task = context;
    const ley_long_range *r = &task->options;
    if (task->meshes.levels == 0)
        return;
    plan_add(made, NULL, "splitting", msm_splitting_words[r->splitting]);
    plan_add(made, NULL, "window", msm_window_words[r->window]);
    plan_add_real(made, NULL, "cutoff", r->cutoff_A);
    plan_add_real(made, NULL, "spacing", r->spacing_A);
    plan_add(made, NULL, "solver", msm_solver_words[r->solver]);
    if (long_wavelengths_are_wanted(&task->meshes))
        plan_add_real(made, NULL, "long_waves", r->long_waves_per_A);
    if (task->long_place != LEY_PLACE_AUTO)
        plan_add(made, NULL, "long_waves_by", plan_places[task->long_place - LEY_PLACE_HOST]);
    if (r->contact_error > 0)
        plan_add_real(made, NULL, "contact", r->contact_error);
    if (r->solver == LEY_SOLVER_MIXED)
        plan_add_number(made, NULL, "levels", task->meshes.levels);
    if (task->share.is_part)
        plan_add_number(made, NULL, "local_levels", task->share.levels.count);
}

/* What a charge's field may be off by, of q/r: meshes by as many times what is expected as values
 * may be where their own steps are asked; transforms by a share of all values, node by node. */
static double field_error_per_A(const msm_task *task)
{
    const double safety = 32, transforms = 1e-6, a_A = task->options.cutoff_A, kappa = task->options.kappa_per_A;
    if (task->meshes.levels == 0)
        return safety * exp(-kappa * a_A) * (kappa + 1 / a_A);
    return safety * (task->field_expected_per_A * task->coherence + transforms / task->options.spacing_A);
}

void msm_terms(const void *context, reference_terms *t)
{
    const msm_task *task = context;
    const accuracy_limits all = msm_limits(task);
    *t = (reference_terms){.law = &law_long_range,
                           .shares = {own_error(task) / all.tolerance, cutoff_place_A(&task->near) / all.tolerance},
                           .constant = task->constant,
                           .atoms = task->near.atoms,
                           .r_min_A = task->options.r_min_A,
                           .kappa_per_A = task->options.kappa_per_A,
                           .cell = &task->meshes.cell,
                           .near_A = 2 * task->options.cutoff_A,
                           .field_per_A = field_error_per_A(task),
                           .field_share = 3 * all.rounding};
}

/* The sum itself, of which meshes are no part. */
bool msm_by_host(const void *context, host_sum *sum)
{
    const msm_task *task = context;
    const bool is_list = task->near.map == NULL;
    const unsigned all = PLANNED_MESHES | LEY_FIX_SUM;
    *sum = (host_sum){.terms = {.law = &law_long_range,
                                .shares = {.mesh = 1},
                                .constant = task->constant,
                                .atoms = task->near.atoms,
                                .r_min_A = task->options.r_min_A,
                                .kappa_per_A = task->options.kappa_per_A,
                                .cell = &task->meshes.cell,
                                .near_A = task->options.cutoff_A,
                                .field_share = 1},
                      .map = task->near.map,
                      .list = is_list ? task->listed.points->list : NULL,
                      .points = is_list ? task->listed.points : NULL,
                      .units = ley_units_name(task->options.units),
                      .how = task->meshes.cell.dimensions > 0 ? "Ewald's summation" : "direct summation",
                      .builds_s = 15,
                      .is_free = (task->asked.chosen & all) == all && task->library[0] == '\0'};
    return true;
}

/* Sums of nodes that a core is given for what its steps make, and waves of a transform. */
static const double most_pairs = 5e9, most_waves = 4e6;

static bool has_few_waves(const hierarchy *h)
{
    hierarchy top;
    int64_t n[3];
    hierarchy_top(h, &top);
    influence_extent(&top, n);
    return (double)n[0] * (double)n[1] * (double)n[2] <= most_waves;
}

static bool is_small(const hierarchy *h)
{
    int64_t reach[3];
    double pairs = 0;
    if (h->solver != HIERARCHY_MULTILEVEL && !has_few_waves(h))
        return false;
    hierarchy_reach(h, reach);
    for (int k = 0; k < h->levels; k++) {
        const int64_t *of = h->level[k].n;
        const bool is_top = k == h->levels - 1;
        double each = 1;
        if (is_top && h->solver != HIERARCHY_MULTILEVEL)
            break;
        for (int axis = 0; axis < 3; axis++)
            each *= 2 * (double)(is_top ? of[axis] : reach[axis]) + 1;
        pairs += (double)hierarchy_nodes(&h->level[k]) * each;
    }
    return pairs <= most_pairs * parallel_cores();
}

ley_status msm_by_steps(const void *context, size_t n, const double (*place_A)[3], double *value, ley_error *error)
{
    const msm_task *task = context;
    const hierarchy *h = &task->meshes;
    const ley_atoms *atoms = ley_atoms_all(task->near.atoms);
    if (h->levels == 0 || !is_small(h))
        return ley_fail(error, LEY_ERROR_USAGE, "no meshes, or too large ones");
    if (n == 0)
        return LEY_OK;
    if (atoms == NULL)
        return ley_fail(error, LEY_ERROR_USAGE, "not all atoms are here");
    double *near = malloc(n * sizeof *near);
    if (near == NULL)
        return ley_fail_memory(error, n * sizeof *near, "the verification");
    const ley_status status =
        long_range_potential(h, ley_atoms_count(atoms), ley_atoms_positions_A(atoms), ley_atoms_charges_e(atoms),
                             task->options.r_min_A, n, place_A[0], value, near, error);
    for (size_t i = 0; i < n && status == LEY_OK; i++)
        value[i] = task->constant * (value[i] + near[i]);
    free(near);
    return status;
}

void msm_distrust(const void *context)
{
    (void)context;
    kept_spectrum_forget();
}
