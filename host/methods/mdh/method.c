/* Multiple Debye-Hueckel boundary values as a method: phi(r) = C sum_j q_j/d exp(-kappa (d - R_j))
 * / (1 + kappa R_j). Stone et al., GPU Gems (2010), section 3; the definition is that of APBS.
 *
 * Data: atoms go to each device once; a slab is some rows of the faces, whose nodes the device
 * makes up itself; values come back through page-locked staging. Bounds: two special functions a
 * pair, or four multiply-adds and what of these functions is done with multiply-adds; 4 bytes a
 * point over the link, which is nothing. */
#include "run/method.h"
#include "error.h"
#include "judge/accuracy.h"
#include "judge/reference.h"
#include "methods/mdh/kernel.h"
#include "parallel.h"
#include "watch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double slab_s = 0.1; /* aim: progress, balance and cancelling */
static const int64_t most_slab_points = 4 << 20;

/* Points of a list this near to an atom are recomputed in double precision: a kernel has positions
 * to 2e-8 A at best. */
static const double near_A = 0.05;

typedef struct mdh_state {
    ley_job *job;
    mdh_kernel kernel;
    int64_t slab_rows;
    mdh_run slots[METHOD_SLOTS];
} mdh_state;

static ley_status prepare(ley_job *job, ley_error *error)
{
    mdh_problem *problem = calloc(1, sizeof *problem);
    if (problem == NULL)
        return ley_fail_memory(error, sizeof *problem, "the job");
    job->method_data = problem;
    ley_status status = mdh_problem_init(problem, job->atoms, job->boundary,
                                         ley_solvent_coulomb_constant(&job->solvent) / job->solvent.dielectric,
                                         ley_screening_per_A(&job->solvent), error);
    problem->cancelled = &job->cancelled;
    return status;
}

static void release(ley_job *job)
{
    if (job->method_data != NULL)
        mdh_problem_end(job->method_data);
    free(job->method_data);
    job->method_data = NULL;
}

/* Before prepare() the job knows its boundary alone. */
static int64_t count_rows(const ley_job *job)
{
    const ley_lattice *lattice = ley_boundary_lattice(job->boundary);
    return lattice != NULL ? patches_rows(lattice) : ley_boundary_points(job->boundary);
}

static int64_t count_points(const ley_job *job, slab s)
{
    const mdh_problem *problem = job->method_data;
    if (problem != NULL)
        return mdh_problem_points(problem, s.first, s.count);
    const ley_lattice *lattice = ley_boundary_lattice(job->boundary); /* all of them, each node once */
    return lattice != NULL ? patches_nodes(lattice) : s.count;
}

/* Points that one launch takes: sum_parts has 64 of them in a work-group, mdh as many or more; each
 * patch may leave one group not full. */
static double launch_points(const dev_info *info)
{
    const double most_groups = info->max_groups[0] > 0 ? (double)info->max_groups[0] : (double)INT32_MAX;
    return fmin((double)most_slab_points, 64 * (most_groups - PATCH_COUNT));
}

/* Rows a slab: no more than the device computes in slab_s, and than a launch takes. */
static void size_slabs(mdh_state *s, const mdh_problem *problem)
{
    const ley_job *job = s->job;
    const double points = (double)mdh_problem_points(problem, 0, problem->rows);
    const double atoms = (double)ley_atoms_count(problem->atoms);
    double longest_row = 1;
    for (int i = 0; i < problem->patch_count; i++)
        longest_row = fmax(longest_row, (double)problem->patches[i].n_a);
    double wanted = ceil(mdh_kernel_expected_rate(&s->kernel) * slab_s / atoms * (double)problem->rows / points);
    wanted = fmin(wanted, floor(launch_points(s->kernel.device->info) / longest_row));
    if (job->options.slab_planes > 0)
        wanted = fmin(wanted, (double)job->options.slab_planes);
    watch_expect(fmax(wanted, 1) / (double)problem->rows * points * atoms / mdh_kernel_expected_rate(&s->kernel));
    s->slab_rows = wanted < (double)problem->rows ? (int64_t)fmax(wanted, 1) : problem->rows;
}

static ley_status begin(ley_job *job, worker *w, device_record *record, void **state, ley_error *error)
{
    mdh_state *s = calloc(1, sizeof *s);
    if (s == NULL)
        return ley_fail_memory(error, sizeof *s, "a device's state");
    *state = s;
    s->job = job;
    s->kernel.device = w->device;
    const mdh_problem *problem = job->method_data;
    const patch *typical = &problem->patches[0];
    const mdh_wish wish = {.variant = job->variant,
                           .math = job->options.math,
                           .sum = job->options.sum,
                           .screening = problem->screening,
                           .points = problem->patch_count > 0 ? LEY_POINTS_FACES : LEY_POINTS_LIST,
                           .n_a = typical->n_a,
                           .n_b = typical->n_b};
    ley_status status = mdh_kernel_create(w->device, &wish, &s->kernel, error);
    if (status != LEY_OK)
        return status;
    record->report.variant = s->kernel.choice.variant;
    record->report.root = calibrate_root_name(s->kernel.choice.spec.root);
    record->report.exp =
        problem->screening == LEY_SCREENING_NONE ? NULL : calibrate_exp_name(s->kernel.choice.spec.exp);
    record->report.from_cache = s->kernel.from_cache;
    snprintf(record->specification, sizeof record->specification, "%s", s->kernel.options);
    size_slabs(s, problem);
    return mdh_kernel_load(&s->kernel, problem, error);
}

static void end(void *state)
{
    mdh_state *s = state;
    if (s == NULL)
        return;
    for (int i = 0; i < METHOD_SLOTS; i++)
        mdh_run_end(&s->slots[i], s->kernel.device);
    mdh_kernel_destroy(&s->kernel);
    free(s);
}

static int64_t slab_count(const void *state)
{
    return ((const mdh_state *)state)->slab_rows;
}

static ley_status submit(void *state, int slot, slab piece, ley_error *error)
{
    mdh_state *s = state;
    return mdh_run_begin(&s->slots[slot], &s->kernel, piece.first, piece.count, error);
}

static ley_status collect(void *state, int slot, slab piece, slab_times *times, ley_error *error)
{
    (void)piece;
    mdh_state *s = state;
    mdh_run *run = &s->slots[slot];
    ley_status status = mdh_run_finish(run, &s->job->cancelled, ley_boundary_values(s->job->boundary), error);
    *times = method_slab_times(&run->launches);
    return status;
}

static void drop(void *state, int slot)
{
    mdh_state *s = state;
    launches_abandon(&s->slots[slot].launches);
}

/* Points to recompute in double precision. */
typedef struct recomputation {
    ley_job *job;
    size_t count, capacity;
    int64_t *indices;
    reference_value *values;
} recomputation;

static void recompute(void *context, size_t first, size_t last)
{
    const recomputation *r = context;
    for (size_t i = first; i < last && !job_cancelled(r->job); i++) {
        double point_A[3];
        ley_boundary_point_A(r->job->boundary, r->indices[i], point_A);
        r->values[i] = reference_mdh(r->job->atoms, point_A, &r->job->solvent);
    }
}

static ley_status run_recomputation(recomputation *r, ley_error *error)
{
    r->values = calloc(r->count + 1, sizeof *r->values);
    if (r->values == NULL)
        return ley_fail_memory(error, r->count * sizeof *r->values, "double-precision values");
    parallel_ranges(r->count, recompute, r);
    return job_cancelled(r->job) ? ley_fail(error, LEY_CANCELLED, "cancelled") : LEY_OK;
}

/* A point that several atoms are near to comes several times, mostly one after the other. */
static bool add_near(void *context, size_t atom, int64_t i)
{
    (void)atom;
    recomputation *r = context;
    if (r->count > 0 && r->indices[r->count - 1] == i)
        return true;
    if (r->count == r->capacity) {
        const size_t capacity = 2 * r->capacity + 16;
        int64_t *grown = realloc(r->indices, capacity * sizeof *grown);
        if (grown == NULL)
            return false;
        r->indices = grown;
        r->capacity = capacity;
    }
    r->indices[r->count++] = i;
    return true;
}

static ley_status finish(ley_job *job, ley_error *error)
{
    double *values = ley_boundary_values(job->boundary);
    const bool is_list = ley_boundary_lattice(job->boundary) == NULL;
    recomputation near = {.job = job};
    ley_status status =
        is_list ? boundary_find_near(job->boundary, job->atoms, near_A, add_near, &near, error) : LEY_OK;
    if (status == LEY_OK && near.count > 0)
        status = run_recomputation(&near, error);
    for (size_t i = 0; status == LEY_OK && i < near.count; i++)
        values[near.indices[i]] = near.values[i].value;
    free(near.indices);
    free(near.values);
    if (status == LEY_OK && !is_list)
        patches_share_edges(job->boundary);
    for (int64_t i = 0; status == LEY_OK && i < ley_boundary_points(job->boundary); i++)
        if (!isfinite(values[i])) {
            char place[BOUNDARY_PLACE];
            status = ley_fail(error, LEY_ERROR_INPUT,
                              "the potential on %s of the boundary, deep within an atom's radius, is beyond %s",
                              boundary_place(job->boundary, i, place),
                              job->options.sum == LEY_SUM_DOUBLE ? "1e308 kT/e" : "3e38 kT/e: a double sum is needed");
        }
    return status;
}

static void terms(const ley_job *job, reference_terms *t)
{
    const mdh_problem *problem = job->method_data;
    *t = (reference_terms){.term = LEY_TERM_MDH,
                           .constant = problem->coulomb_constant,
                           .atoms = job->atoms,
                           .kappa_per_A = problem->kappa_per_A};
}

static accuracy_limits limits(const ley_job *job)
{
    const ley_job_options *o = &job->options;
    return (accuracy_limits){mdh_problem_promise(job->method_data, o->math, o->sum),
                             o->sum == LEY_SUM_DOUBLE ? ACCURACY_NOTHING_DOUBLE : ACCURACY_NOTHING};
}

static int64_t point(const ley_job *job, slab s, int64_t i)
{
    return mdh_problem_value(job->method_data, s.first, s.count, i);
}

const method method_mdh = {
    .name = "mdh",
    .prepare = prepare,
    .release = release,
    .count = count_rows,
    .points = count_points,
    .begin = begin,
    .end = end,
    .slab_count = slab_count,
    .submit = submit,
    .collect = collect,
    .drop = drop,
    .finish = finish,
    .terms = terms,
    .limits = limits,
    .point = point,
    .double_has_more_digits = true,
    .variant_name = tuning_mdh_variant,
};
