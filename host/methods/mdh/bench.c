/* The benchmark of Multiple Debye-Hueckel: the faces of a grid around a ball of atoms, or a list
 * of points. */
#include "bench/bench.h"
#include "error.h"
#include "law/accuracy.h"
#include "law/mdh.h"
#include "law/reference.h"
#include "memory.h"
#include "methods/mdh/build.h"
#include "methods/mdh/kernel.h"
#include "methods/mdh/method.h"
#include "methods/mdh/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double bench_s = 0.05;                                    /* aim: one run */
static const int64_t papers_atoms = 5877, papers_nodes = 151;          /* along an axis */
static const double fma_slots_a_pair = 4, unscreened_slots_a_pair = 2; /* beside the special functions */

typedef struct mdh_bench {
    ley_atoms *atoms;
    ley_boundary *boundary;
    ley_ion ions[2];
    ley_solvent solvent;
    mdh_problem problem;
} mdh_bench;

static bool screened(const ley_bench_options *o)
{
    return o->salt_M > 0;
}

static double special_per_s(const ley_bench_device *d)
{
    return d->exps_per_s > 0 ? 1 / (1 / d->roots_per_s + 1 / d->exps_per_s) : d->roots_per_s;
}

static mdh_wish wish_of(const ley_bench_options *o, const char *variant)
{
    return (mdh_wish){.variant = variant,
                      .math = o->math,
                      .sum = o->sum,
                      .screening = screened(o) ? LEY_SCREENING_FOLDED : LEY_SCREENING_NONE,
                      .points = o->points > 0 ? LEY_POINTS_LIST : LEY_POINTS_FACES,
                      .n_a = 64,
                      .n_b = 64};
}

/* The papers' molecule; a cube of 2^k or so nodes along an edge, as multigrid has them. */
static void choose(const worker *w, const calibration *facts, const ley_bench_options *o, ley_bench_device *d)
{
    const mdh_wish wish = wish_of(o, NULL);
    mdh_choice choice = {.variant = NULL};
    tuning_mdh(w->info, facts, &wish, &choice, NULL);
    d->root = calibrate_root_name(choice.spec.root);
    d->roots_per_s = facts->roots_per_s[choice.spec.root];
    d->exp = screened(o) ? calibrate_exp_name(choice.spec.exp) : NULL;
    d->exps_per_s = screened(o) ? facts->exps_per_s[choice.spec.exp] : 0;
    d->fma_per_s = facts->fma_per_s;
    const bool slow = (w->info->quirks & DEV_QUIRK_INTERPRETER) != 0;
    d->atoms = o->atoms > 0 ? o->atoms : slow ? 20 : papers_atoms;
    if (o->points > 0) {
        d->points = o->points;
        return;
    }
    const double edge = sqrt(special_per_s(d) * bench_s / (double)d->atoms / LEY_FACE_COUNT);
    const int64_t n = slow ? 5 : o->papers_size ? papers_nodes : 32 * (int64_t)fmin(fmax(round(edge / 32), 1), 32) + 1;
    for (int axis = 0; axis < 3; axis++)
        d->n[axis] = o->n[axis] > 0 ? o->n[axis] : n;
    d->points = patches_nodes(&(ley_grid){.n = {d->n[0], d->n[1], d->n[2]}});
}

static void end(void *problem)
{
    mdh_bench *p = problem;
    if (p == NULL)
        return;
    mdh_problem_end(&p->problem);
    ley_boundary_destroy(p->boundary);
    ley_atoms_destroy(p->atoms);
    free(p);
}

/* Atoms at a protein's density in a cube around the origin. */
static ley_status make_atoms(int64_t n, double edge_A, ley_atoms **atoms, ley_error *error)
{
    const ley_status fits =
        memory_check_one("benchmark atoms", (double)n * (5 + 5) * sizeof(double), "fewer atoms", error);
    if (fits != LEY_OK)
        return fits;
    double *numbers = calloc((size_t)n, 5 * sizeof(double));
    if (numbers == NULL)
        return ley_fail_memory(error, (size_t)n * 5 * sizeof(double), "benchmark atoms");
    uint64_t state = 1;
    for (int64_t i = 0; i < 5 * n; i++) {
        const double fraction = bench_random(&state);
        numbers[i] = i < 3 * n ? (fraction - 0.5) * edge_A : i < 4 * n ? 2 * fraction - 1 : 1 + fraction;
    }
    ley_status status = ley_atoms_create((size_t)n, numbers, numbers + 3 * n, numbers + 4 * n, atoms, error);
    free(numbers);
    return status;
}

/* Points of the shell between the atoms' cube and one of twice its size. */
static ley_status make_list(int64_t n, double edge_A, ley_boundary **boundary, ley_error *error)
{
    const ley_status fits = memory_check_one("benchmark points", (double)n * 7 * sizeof(double), "fewer points", error);
    if (fits != LEY_OK)
        return fits;
    double *point_A = calloc((size_t)n, 3 * sizeof(double));
    if (point_A == NULL)
        return ley_fail_memory(error, (size_t)n * 3 * sizeof(double), "benchmark points");
    uint64_t state = 2;
    for (int64_t i = 0; i < n; i++) {
        double *p = point_A + 3 * i;
        do
            for (int axis = 0; axis < 3; axis++)
                p[axis] = 2 * (bench_random(&state) - 0.5) * edge_A;
        while (fmax(fabs(p[0]), fmax(fabs(p[1]), fabs(p[2]))) < 0.5 * edge_A + 1);
    }
    ley_status status = ley_boundary_create_points(n, point_A, boundary, error);
    free(point_A);
    return status;
}

static ley_status make_parts(mdh_bench *p, const ley_bench_options *o, const ley_bench_device *d, ley_error *error)
{
    const double edge_A = cbrt((double)d->atoms / 0.1);
    ley_grid grid = {.n = {d->n[0], d->n[1], d->n[2]}};
    for (int axis = 0; axis < 3; axis++) { /* the faces lie 10 A outside the atoms */
        grid.step_A[axis][axis] = (edge_A + 20) / fmax((double)d->n[axis] - 1, 1);
        grid.origin_A[axis] = -0.5 * grid.step_A[axis][axis] * (double)(d->n[axis] - 1);
    }
    ley_status status = make_atoms(d->atoms, edge_A, &p->atoms, error);
    if (status == LEY_OK)
        status = o->points > 0 ? make_list(d->points, edge_A, &p->boundary, error)
                               : ley_boundary_create(&grid, &p->boundary, error);
    if (status != LEY_OK)
        return status;
    p->ions[0] = (ley_ion){1, o->salt_M, 2};
    p->ions[1] = (ley_ion){-1, o->salt_M, 2};
    p->solvent = (ley_solvent){.dielectric = 78.54,
                               .solute_dielectric = 2,
                               .temperature_K = 298.15,
                               .ion_count = screened(o) ? 2 : 0,
                               .ions = p->ions};
    return mdh_problem_init(&p->problem, p->atoms, p->boundary,
                            ley_solvent_coulomb_constant(&p->solvent) / p->solvent.dielectric,
                            ley_screening_per_A(&p->solvent), error);
}

static ley_status make(const ley_bench_options *o, const ley_bench_device *d, void **problem, ley_error *error)
{
    if (!(o->salt_M >= 0 && o->salt_M <= 1e3))
        return ley_fail(error, LEY_ERROR_USAGE, "a salt of %g mol/l", o->salt_M);
    mdh_bench *p = calloc(1, sizeof *p);
    if (p == NULL)
        return ley_fail_memory(error, sizeof *p, "the benchmark");
    ley_status status = make_parts(p, o, d, error);
    if (status != LEY_OK) {
        end(p);
        return status;
    }
    *problem = p;
    return LEY_OK;
}

typedef struct resident {
    mdh_kernel *kernel;
    mdh_run run;
    double *values;
} resident;

static ley_status run_once(void *context, double *seconds, ley_error *error)
{
    resident *r = context;
    ley_status status = mdh_run_begin(&r->run, r->kernel, 0, r->kernel->problem->rows, NULL, error);
    if (status == LEY_OK)
        status = mdh_run_finish(&r->run, r->values, NULL, error);
    *seconds = r->run.command_sequence.times.kernel.end_s - r->run.command_sequence.times.kernel.start_s;
    return status;
}

static ley_accuracy sample(const mdh_bench *p, const ley_bench_options *o)
{
    double computed[BENCH_SAMPLE_POINTS];
    reference_value references[BENCH_SAMPLE_POINTS];
    int64_t indices[BENCH_SAMPLE_POINTS];
    const size_t n = accuracy_choose((uint64_t)ley_boundary_points(p->boundary), BENCH_SAMPLE_POINTS, 1, indices);
    for (size_t i = 0; i < n; i++) {
        double point_A[3];
        ley_boundary_point_A(p->boundary, indices[i], point_A);
        computed[i] = ley_boundary_read_values(p->boundary)[indices[i]];
        references[i] = reference_mdh(p->atoms, point_A, &p->solvent);
    }
    const accuracy_limits limits = {.tolerance = mdh_problem_promise(&p->problem, o->math, o->sum),
                                    .nothing = ACCURACY_NOTHING};
    return accuracy_compare(n, computed, references, limits, NULL);
}

/* What no run writes shall show. */
static void poison(ley_boundary *boundary)
{
    for (int64_t i = 0; i < ley_boundary_points(boundary); i++)
        ley_boundary_values(boundary)[i] = NAN;
}

static ley_status measure(worker *w, const ley_bench_options *o, const char *variant, const void *problem,
                          const ley_bench_device *limits, bench_row *r)
{
    const mdh_bench *p = problem;
    ley_error *error = &r->failure;
    mdh_kernel kernel = {.device = w->device};
    mdh_wish wish = wish_of(o, variant);
    wish.screening = p->problem.screening;
    wish.n_a = p->problem.patches[0].n_a;
    wish.n_b = p->problem.patches[0].n_b;
    resident res = {.kernel = &kernel, .values = ley_boundary_values(p->boundary)};
    poison(p->boundary);
    ley_status status = mdh_kernel_create(w->device, &wish, &kernel, error);
    if (status == LEY_OK)
        status = mdh_kernel_load(&kernel, &p->problem, error);
    if (status == LEY_OK)
        status = bench_time(o, (double)limits->points * (double)limits->atoms, run_once, &res, r, error);
    if (status == LEY_OK) {
        if (p->problem.patch_count > 0)
            patches_share_edges(p->boundary);
        r->row.accuracy = sample(p, o);
        const double slots = p->problem.screening == LEY_SCREENING_NONE ? unscreened_slots_a_pair : fma_slots_a_pair;
        r->row.root = calibrate_root_name(kernel.choice.spec.root);
        r->row.exp = screened(o) ? calibrate_exp_name(kernel.choice.spec.exp) : NULL;
        r->row.has_other_roots = kernel.choice.spec.polynomial_exps > 0;
        r->row.root_share = r->row.evaluations_per_s / special_per_s(limits);
        r->row.fma_share = r->row.evaluations_per_s * slots / limits->fma_per_s;
        kernel_options(&mdh_kind, &kernel.choice.spec, r->specification, sizeof r->specification);
    }
    mdh_run_end(&res.run);
    mdh_kernel_destroy(&kernel);
    return status;
}

const bench_subject bench_mdh = {
    .kernel = &mdh_kind,
    .choose = choose,
    .make = make,
    .end = end,
    .measure = measure,
};
