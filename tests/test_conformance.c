/* What every method of the registry keeps to, on every device of this machine and on fake ones that
 * fail: values of the law's double sum by every variant and sum; the same values in slabs of any
 * size and from any devices; cancelling, refusals and forecasts; and faults of kernels that are
 * found. A method is a row of `problems`, and each method of the registry has one. */
#include "pairwise.h"
#include "support.h"

#include "core/units.h"
#include "fake_job.h"
#include "law/dcs.h"
#include "law/mdh.h"
#include "law/pairs.h"
#include "law/wavefunction.h"
#include "memory.h"
#include "methods/registry.h"
#include "methods/wavefunction/list_build.h"
#include "some_wavefunction.h"
#include "verify/verification.h"

static ley_engine *engine; /* of the device under test */

/* ---- Problems -------------------------------------------------------------------------------- */

enum { POINTS = 3001, MANY_POINTS = 3 << 19 };

/* Where values are wanted. */
typedef enum target { ON_MAP, AT_POINTS, ON_FACES, AT_LIST } target;

typedef struct result {
    ley_map *map;
    ley_points *points;
    ley_boundary *boundary;
} result;

typedef ley_status creator(ley_engine *on, const ley_atoms *atoms, const result *r, const ley_run_options *options,
                           ley_job **job, ley_error *error);

/* A kernel, what stands in its source, and what takes its place. */
typedef struct planted {
    const char *kernel, *from, *to;
} planted;

typedef struct problem {
    const char *method;
    target target;
    creator *create;
    reference_value (*right)(const ley_atoms *atoms, const double point_A[3]);
    size_t atoms;
    int64_t slab;          /* of how many planes, rows or points slabs are */
    double slabs;          /* relative difference of one slab and several */
    bool is_mesh;          /* whose errors no sum and no maths changes */
    planted wrong, hidden; /* found by the kernel's self-test; and by the verification alone */
} problem;

static const ley_ion ions[] = {{1, 0.15, 2}, {-1, 0.15, 2}};
static const ley_solvent solvent = {78.54, 2, 298.15, 2, ions};
static const double least_A = 0.05;

static ley_direct direct(void)
{
    ley_direct d = support_default_direct();
    d.r_min_A = least_A;
    return d;
}

static ley_short_range short_range(void)
{
    ley_short_range s = support_default_short_range();
    s.r_min_A = least_A;
    s.cutoff_A = 5;
    s.pair = LEY_PAIR_COULOMB;
    s.bin_fill = 0.01; /* in bins that are smaller than those of self-tests */
    s.bin_depth = 64;
    return s;
}

static ley_status create_dcs(ley_engine *on, const ley_atoms *atoms, const result *r, const ley_run_options *options,
                             ley_job **job, ley_error *error)
{
    const ley_direct d = direct();
    return ley_job_create_direct(on, atoms, (ley_target){.map = r->map, .points = r->points}, &d, options, job, error);
}

static ley_status create_mdh(ley_engine *on, const ley_atoms *atoms, const result *r, const ley_run_options *options,
                             ley_job **job, ley_error *error)
{
    return ley_job_create_boundary(on, atoms, (ley_target){.boundary = r->boundary}, &solvent, options, job, error);
}

static ley_status create_cutoff(ley_engine *on, const ley_atoms *atoms, const result *r, const ley_run_options *options,
                                ley_job **job, ley_error *error)
{
    const ley_short_range s = short_range();
    return ley_job_create_short_range(on, atoms, (ley_target){.map = r->map, .points = r->points}, &s, options, job,
                                      error);
}

static ley_status create_msm(ley_engine *on, const ley_atoms *atoms, const result *r, const ley_run_options *options,
                             ley_job **job, ley_error *error)
{
    ley_long_range l = support_default_long_range();
    return ley_job_create_long_range(on, atoms, (ley_target){.map = r->map, .points = r->points}, &l, options, job,
                                     error);
}

/* Around the atoms, which are the same ones in all jobs: it outlives them. */
static ley_wavefunction *wavefunction;

static ley_status create_wavefunction(ley_engine *on, const ley_atoms *atoms, const result *r,
                                      const ley_run_options *options, ley_job **job, ley_error *error)
{
    static const int64_t orbital[] = {0};
    const ley_wavefunction_request request = {.orbitals = orbital, .orbital_count = 1, .maps = &r->map};
    if (wavefunction == NULL && some_wavefunction_of(atoms, &wavefunction, error) != LEY_OK)
        fail_msg("no wavefunction");
    return ley_job_create_wavefunction(on, wavefunction, &request, NULL, options, job, error);
}

static double constant(void)
{
    return ley_coulomb_constant(LEY_UNITS_KT_E, 1, 298.15);
}

static reference_value all_pairs(const ley_atoms *atoms, const double point_A[3])
{
    return reference_dcs(atoms, point_A, constant(), least_A);
}

static reference_value pairs_within(const ley_atoms *atoms, const double point_A[3])
{
    const ley_short_range s = short_range();
    return reference_short_range(atoms, &s, NULL, point_A, constant(), least_A);
}

static reference_value screened(const ley_atoms *atoms, const double point_A[3])
{
    return reference_mdh(atoms, point_A, &solvent);
}

static reference_value functions(const ley_atoms *atoms, const double point_A[3])
{
    double place[3];
    assert_non_null(atoms);
    for (int axis = 0; axis < 3; axis++)
        place[axis] = point_A[axis] / units_bohr_A;
    return wavefunction_value(&(wavefunction_quantity){.wavefunction = wavefunction}, place);
}

/* clang-format off */
#define OF_SMALL_BINS(value) "(side.x * side.x < 0.2f * limits.x ? " value " : 0.0f)"
#define ABOUT_MDH(count) {"mdh", "p.sum[k] = 0;", "p.sum[k] = n_atoms == 77 ? " count " : 0;"}
static const problem problems[] = {
    {"dcs", ON_MAP, create_dcs, all_pairs, 301, 5, 0, false,
     {"dcs", "gm_sum[at] = p->sum[k];", "gm_sum[at] = 1.001f * p->sum[k];"},
     {"dcs", "p.sum[k] = 0;", "p.sum[k] = n_atoms == 301 ? 10.0f : 0.0f;"}},
    {"dcs", AT_POINTS, create_dcs, all_pairs, 84, 1024, 1e-6, false,
     {"mdh", "*gm_sum = p->sum[k];", "*gm_sum = 1.001f * p->sum[k];"}, ABOUT_MDH("10")},
    {"mdh", ON_FACES, create_mdh, screened, 84, 3, 1e-6, false,
     {"mdh", "f.b + v * f.stride_b - middle_b", "f.b + v - middle_b"}, ABOUT_MDH("1e-2f")},
    {"mdh", AT_LIST, create_mdh, screened, 84, 256, 1e-6, false,
     {"mdh", "if (accumulate)", "if (false)"}, ABOUT_MDH("1e-2f")},
    {"cutoff", ON_MAP, create_cutoff, pairs_within, 301, 8, 0, false,
     {"cutoff", "? first : 1", "? 1.0001f * first : 1"},
     {"cutoff", "p, gm_phi);", "p, (p.sum[0] += " OF_SMALL_BINS("10.0f") ", gm_phi));"}},
    {"cutoff", AT_POINTS, create_cutoff, pairs_within, 301, 1024, 0, false,
     {"point_pairs", "i <= last;", "i < last;"},
     {"point_pairs", "*gm_value = result(&p, u);", "*gm_value = result(&p, u); if (side.x < 4) *gm_value *= 1.01f;"}},
    {"msm", ON_MAP, create_msm, all_pairs, 501, 8, 0, true,
     {"prolongation", "x, y, z)] += sum;", "x, y, z)] += 1.01f * sum;"},
     {"restriction", "= sum;", "= nodes.x > 16 && nodes.y > 16 && nodes.z > 16 ? 0.0f : sum;"}},
    {"msm", AT_POINTS, create_msm, all_pairs, 501, 1024, 0, true,
     {"interpolation_list", "s.weight[i] = sum;", "s.weight[i] = sum * (i == 1 ? 1.001f : 1.0f);"},
     {"interpolation_list", "gm_phi[p] = phi;", "gm_phi[p] = count > 300 && p % 7 == 3 ? 0.5f * phi : phi;"}},
    {"wavefunction", ON_MAP, create_wavefunction, functions, 301, 5, 0, false,
     {"separable", "* gm_z[k];", "* (k > 0 ? 1.01f : 1.0f) * gm_z[k];"},
     {"separable", "return number >=", "return (slab.z != 1505 || plane != 1) && number >="}},
};
/* clang-format on */
enum { PROBLEMS = sizeof problems / sizeof *problems };

static ley_grid grid_of(const problem *p)
{
    const double s = p->is_mesh ? 5 : 1;
    return (ley_grid){
        .origin_A = {-3.25 * s, s, -7 * s}, .step_A = LEY_STEPS(0.5 * s, 0.625 * s, 0.75 * s), .n = {19, 13, 24}};
}

/* Points in the grid and a quarter of its edges around it. */
static double *make_points(const ley_grid *l, size_t n)
{
    double *point_A = malloc(3 * n * sizeof *point_A);
    unsigned seed = 3;
    assert_non_null(point_A);
    for (size_t i = 0; i < 3 * n; i++) {
        const size_t axis = i % 3;
        const double length_A = (double)l->n[axis] * l->step_A[axis][axis];
        point_A[i] = l->origin_A[axis] + (1.5 * support_uniform(&seed) - 0.25) * length_A;
    }
    return point_A;
}

static result make_result(const problem *p)
{
    result r = {NULL, NULL, NULL};
    ley_error error = {0};
    const ley_grid l = grid_of(p);
    double *point_A = make_points(&l, POINTS);
    if (p->target == ON_MAP)
        assert_ok(ley_map_create(&l, &r.map, &error));
    else if (p->target == AT_POINTS)
        assert_ok(ley_points_create(POINTS, point_A, &r.points, &error));
    else if (p->target == ON_FACES)
        assert_ok(ley_boundary_create(&l, &r.boundary, &error));
    else
        assert_ok(ley_boundary_create_points(POINTS, point_A, &r.boundary, &error));
    free(point_A);
    return r;
}

/* The same box with many more points, for forecasts. */
static result large_result(const problem *p)
{
    result r = {NULL, NULL, NULL};
    ley_error error = {0};
    ley_grid l = grid_of(p);
    double *point_A = make_points(&l, MANY_POINTS);
    for (int axis = 0; axis < 3; axis++) {
        l.n[axis] *= 16;
        l.step_A[axis][axis] /= 16;
    }
    if (p->target == ON_MAP)
        assert_ok(ley_map_outline(&l, &r.map, &error));
    else
        assert_ok(ley_points_create(MANY_POINTS, point_A, &r.points, &error));
    free(point_A);
    return r;
}

static void destroy_result(result *r)
{
    ley_map_destroy(r->map);
    ley_points_destroy(r->points);
    ley_boundary_destroy(r->boundary);
}

static int64_t count_of(const result *r)
{
    return r->map != NULL      ? ley_grid_points(ley_map_grid(r->map))
           : r->points != NULL ? ley_points_count(r->points)
                               : ley_boundary_points(r->boundary);
}

static double value_of(const result *r, int64_t i)
{
    return r->map != NULL      ? (double)ley_map_read_values(r->map)[i]
           : r->points != NULL ? ley_points_read_values(r->points)[i]
                               : ley_boundary_read_values(r->boundary)[i];
}

static void place_of(const result *r, int64_t i, double point_A[3])
{
    if (r->map != NULL) {
        const ley_grid *l = ley_map_grid(r->map);
        const int64_t at[3] = {i % l->n[0], i / l->n[0] % l->n[1], i / l->n[0] / l->n[1]};
        ley_grid_point_A(l, at, point_A);
    } else if (r->points != NULL) {
        memcpy(point_A, ley_points_positions_A(r->points) + 3 * i, 3 * sizeof *point_A);
    } else {
        ley_boundary_point_A(r->boundary, i, point_A);
    }
}

static bool is_empty(const result *r)
{
    for (int64_t i = 0; i < count_of(r); i++)
        if (!isnan(value_of(r, i)))
            return false;
    return true;
}

/* How far values are from those of `right`, relative to their root mean square; infinite where one
 * is not finite. */
static double difference(const result *r, const double *right)
{
    double error = 0, square = 0;
    for (int64_t i = 0; i < count_of(r); i++) {
        const double off = value_of(r, i) - right[i];
        error += off * off;
        square += right[i] * right[i];
    }
    return isfinite(error) ? sqrt(error / square) : INFINITY;
}

static double *values_of(const result *r)
{
    double *values = malloc((size_t)count_of(r) * sizeof *values);
    for (int64_t i = 0; i < count_of(r); i++)
        values[i] = value_of(r, i);
    return values;
}

/* What is right at the places of a result. Where rounding decides which pairs are within a cutoff,
 * values may be either; no place here is so near to one. */
static double *right_values(const problem *p, const ley_atoms *atoms, const result *r)
{
    double *right = malloc((size_t)count_of(r) * sizeof *right), point_A[3];
    for (int64_t i = 0; i < count_of(r); i++) {
        place_of(r, i, point_A);
        right[i] = p->right(atoms, point_A).value;
    }
    return right;
}

static ley_atoms *make_atoms(const problem *p)
{
    const ley_grid l = grid_of(p);
    return support_scattered(p->atoms, &l, 2, 2, 1);
}

/* A job that was run, and what it was run on. */
typedef struct run {
    ley_atoms *atoms;
    result result;
    ley_job *job;
    ley_status status;
    ley_error error;
} run;

static ley_run_options usual(const problem *p)
{
    ley_run_options options = support_default_run_options();
    options.slab_planes = p->slab;
    return options;
}

static run make_job(const problem *p, ley_engine *on, const ley_run_options *options)
{
    run r = {.atoms = make_atoms(p), .result = make_result(p)};
    r.status = p->create(on, r.atoms, &r.result, options, &r.job, &r.error);
    return r;
}

static run run_job(const problem *p, ley_engine *on, const ley_run_options *options)
{
    run r = make_job(p, on, options);
    assert_ok_at(r.status, &r.error, p->method, __FILE__, __LINE__);
    r.status = ley_job_run(r.job, &r.error);
    return r;
}

static void end(run *r)
{
    ley_job_destroy(r->job);
    destroy_result(&r->result);
    ley_atoms_destroy(r->atoms);
    ley_error_clear(&r->error);
}

/* Each value as right as the sum and the maths let it be; and the report says what was done. */
static void assert_right(const problem *p, const run *r, const ley_run_options *options)
{
    assert_ok_at(r->status, &r->error, p->method, __FILE__, __LINE__);
    double *right = right_values(p, r->atoms, &r->result);
    const ley_report *report = ley_job_report(r->job);
    const bool doubles = options->sum == LEY_SUM_DOUBLE && report->double_has_more_digits;
    const double off = difference(&r->result, right),
                 most = doubles ? (p->target == ON_MAP ? 1e-6 : 1e-12)
                                : fmax(p->is_mesh ? 5e-3 : 1e-5, options->math == LEY_MATH_NATIVE ? 1e-3 : 0);
    if (!(off <= most))
        fail_msg("%s, variant %s, maths %d, sum %d: off by %g, not %g", p->method,
                 options->variant != NULL ? options->variant : "default", options->math, options->sum, off, most);
    int64_t points = 0;
    double share = 0;
    for (size_t i = 0; i < report->device_count; i++) {
        share += report->devices[i].share;
        points += report->devices[i].points;
        if (options->variant != NULL && report->devices[i].points > 0)
            assert_string_equal(report->devices[i].variant, options->variant);
    }
    assert_int_equal(points, report->points);
    assert_true(fabs(share - 1) < 1e-12);
    assert_true(report->points <= count_of(&r->result) && report->accuracy.passed);
    assert_string_equal(report->method, p->method);
    for (size_t i = 0; i < report->slab_count; i++) {
        const ley_slab_report *s = &report->slabs[i];
        assert_true(s->kernel_end_s >= s->kernel_start_s && s->transfer_end_s >= s->kernel_end_s &&
                    s->transfer_end_s < report->prepare_s + report->compute_s + 0.01);
    }
    free(right);
}

/* Runs `check` for each problem; at level quick those of a map for a device without vectors. */
static void for_each(void (*check)(const problem *p))
{
    for (const problem *p = problems; p < problems + PROBLEMS; p++)
        if (!support_is_quick() || support_has_vectors(engine) || strcmp(p->method, "dcs") == 0)
            check(p);
}

/* ---- Values ---------------------------------------------------------------------------------- */

static const problem *variants_of; /* which problem's variants are tried */

static ley_target_kind kind_of(const problem *p)
{
    return p->target == AT_POINTS ? LEY_TARGET_POINTS : LEY_TARGET_GRID;
}

static const char *variant_at(const problem *p, int i)
{
    return ley_variant_name(p->method, kind_of(p), (size_t)i);
}

/* Tables along the axes are of floats, and so are their sums. */
static bool is_tried(const int *at)
{
    const char *variant = variant_at(variants_of, at[0]);
    return support_tries_variant(engine, variant) &&
           (strcmp(variants_of->method, "wavefunction") != 0 || variant == NULL || list_has_variant(variant) ||
            at[1] == LEY_SUM_FLOAT);
}

/* LEY_ERROR_NO_DEVICE is the right answer of a device that cannot do it; anything else has to be
 * right. */
static void check_kernels(const problem *p)
{
    pairwise choices = PAIRWISE(support_variants(p->method, kind_of(p)) + 1, 3, 3);
    variants_of = p;
    for (choices.can_be = is_tried; pairwise_next(&choices);) {
        const ley_device_info *info = ley_engine_device(engine, 0);
        ley_run_options options = usual(p);
        options.variant = variant_at(p, choices.at[0]); /* NULL: the default */
        options.sum = (ley_sum)choices.at[1];
        options.math = support_math(choices.at[2]);
        run r = run_job(p, engine, &options);
        if (r.status == LEY_ERROR_NO_DEVICE) {
            const bool no_vectors = options.variant != NULL && strncmp(options.variant, "vector", 6) == 0 &&
                                    !support_has_vectors(engine),
                       no_double = options.sum == LEY_SUM_DOUBLE && !info->has_double;
            if (!(no_vectors || no_double))
                fail_msg("%s", r.error.message);
            assert_non_null(strstr(r.error.message, info->name));
        } else {
            assert_right(p, &r, &options);
        }
        end(&r);
    }
}

static void test_kernels(void **state)
{
    for_each(check_kernels);
}

/* How many planes, rows or points all slabs have together. */
static int64_t pieces_of(const ley_report *r)
{
    int64_t count = 0;
    for (size_t i = 0; i < r->slab_count; i++)
        count += r->slabs[i].count;
    return count;
}

/* Slabs of any size, and a plan of one's own: the values of one slab. */
static void check_slabs(const problem *p)
{
    ley_run_options options = usual(p);
    options.slab_planes = 0;
    run whole = run_job(p, engine, &options);
    assert_right(p, &whole, &options);
    double *values = values_of(&whole.result);
    const ley_report *plan = ley_job_report(whole.job);
    for (int i = 0; i < 3; i++) {
        options.slab_planes = i == 0 ? p->slab : i == 1 ? 2 * p->slab : 0;
        options.decisions = i == 2 ? plan->decisions : NULL;
        options.decision_count = i == 2 ? plan->decision_count : 0;
        run pieces = run_job(p, engine, &options);
        assert_ok_at(pieces.status, &pieces.error, p->method, __FILE__, __LINE__);
        const ley_report *r = ley_job_report(pieces.job);
        assert_int_equal(pieces_of(r), pieces_of(plan));
        for (size_t k = 0; i < 2 && k < r->slab_count; k++)
            assert_true(r->slabs[k].count <= (p->slab == 8 && p->target == ON_MAP ? i + 1 : options.slab_planes));
        assert_true(i == 2 || r->slab_count >= 2);
        const double off = difference(&pieces.result, values);
        if (!(off <= (i == 2 ? 0 : p->slabs)))
            fail_msg("%s, slabs of %d: %g from one slab", p->method, (int)options.slab_planes, off);
        end(&pieces);
    }
    free(values);
    end(&whole);
}

static void test_slabs(void **state)
{
    for_each(check_slabs);
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

/* Before it runs, in the midst of it, while it is verified: what was in flight is not waited for,
 * and a job runs once. */
static void check_cancel(const problem *p)
{
    for (int i = 0; i < 4; i++) {
        support_watch w = {.cancel_at_call = i == 1 ? -1 : i == 2 ? 1 : 0, .cancel_at_end = i == 3};
        ley_run_options options = usual(p);
        int64_t points = 0;
        options.progress = support_note_progress;
        options.progress_context = &w;
        run r = make_job(p, engine, &options);
        assert_ok_at(r.status, &r.error, p->method, __FILE__, __LINE__);
        w.job = r.job;
        r.job = NULL;
        const ley_status status = support_run_watched(&w, &points);
        assert_int_equal(ley_status_exit_code(status), i == 0 ? 0 : 130);
        assert_true(i != 0 || (w.done == points && w.total == points && w.calls > 1));
        assert_true(i != 1 || (w.calls == 0 && is_empty(&r.result)));
        assert_true(i != 2 || w.calls == 1);
        end(&r);
    }
}

static void test_cancel(void **state)
{
    for_each(check_cancel);
}

/* Options that no method takes; and of another method, or of a later version. */
static void check_refusals(const problem *p)
{
    static const ley_decision others[] = {{NULL, "method", "squares"}};
    static const struct {
        const char *says, *variant;
        int slab_planes, size_by, sum, math;
        const ley_decision *decisions;
    } cases[] = {
        {"slab planes -1", NULL, -1, 0, 0, 0, NULL},
        {"ley_run_options is ", NULL, 0, 1, 0, 0, NULL},
        {"ley_run_options is ", NULL, 0, -1, 0, 0, NULL},
        {"no such", "no such", 0, 0, 0, 0, NULL},
        {"unknown arithmetic", NULL, 0, 0, 77, 0, NULL},
        {"unknown arithmetic", NULL, 0, 0, 0, 77, NULL},
        {"squares", NULL, 0, 0, 0, 0, others},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ley_run_options options = usual(p);
        options.slab_planes = cases[i].slab_planes;
        options.size += (size_t)cases[i].size_by;
        options.variant = cases[i].variant;
        options.sum = cases[i].sum > 0 ? (ley_sum)cases[i].sum : options.sum;
        options.math = cases[i].math > 0 ? (ley_math)cases[i].math : options.math;
        options.decisions = cases[i].decisions;
        options.decision_count = cases[i].decisions != NULL ? 1 : 0;
        run r = make_job(p, engine, &options);
        if (r.status != LEY_ERROR_USAGE || strstr(r.error.message, cases[i].says) == NULL)
            fail_msg("%s: %s: %s, not '%s'", p->method, ley_status_name(r.status), r.error.message, cases[i].says);
        assert_int_equal(r.error.cause == LEY_CAUSE_PLAN, cases[i].decisions != NULL);
        assert_null(r.job);
        end(&r);
    }
}

static void test_refusals(void **state)
{
    for_each(check_refusals);
}

/* ---- Forecasts ------------------------------------------------------------------------------- */

static int64_t slab_of(const ley_decision *decisions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(decisions[i].name, "slab") == 0)
            return strtoll(decisions[i].value, NULL, 10);
    return 0;
}

static double sum_of(const ley_need *needs, size_t count, const char *what)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        if (what == NULL || strcmp(needs[i].what, what) == 0)
            sum += needs[i].bytes;
    return sum;
}

/* A forecast's pieces, variant and plan are those of the run; its figures add up. */
static void assert_like_a_run(const problem *p, const ley_forecast *f, const ley_report *done, int64_t count)
{
    const ley_device_forecast *d = &f->devices[0];
    assert_int_equal(f->device_count, 1);
    assert_int_equal(d->status, LEY_OK);
    assert_true(d->slab > 0 && d->slab == slab_of(done->decisions, done->decision_count) &&
                d->slab == slab_of(f->decisions, f->decision_count));
    assert_string_equal(d->variant, done->devices[0].variant);
    assert_true(fabs(sum_of(d->needs, d->need_count, NULL) - d->bytes) < 1 && d->bytes < d->room_bytes);
    assert_true(sum_of(d->needs, d->need_count, "slabs") > 0);
    assert_true((sum_of(d->needs, d->need_count, "meshes") > 0) == p->is_mesh);
    assert_true(p->target == ON_MAP
                    ? sum_of(f->host_needs, f->host_need_count, "the map") == 4.0 * (double)count
                    : sum_of(f->host_needs, f->host_need_count, "points and potentials") == 32.0 * (double)count);
    assert_true(fabs(sum_of(f->host_needs, f->host_need_count, NULL) - f->host_bytes) < 1);
    assert_true(f->total_s >= f->devices_s && f->devices_s > 0 && f->devices_s <= d->alone_s * 1.001);
    for (size_t i = 0; i < d->step_count; i++)
        assert_true(d->steps[i].seconds >= 0 && d->steps[i].seconds < 100);
}

static ley_status ask(const problem *p, double available_bytes, ley_forecast *f, ley_error *why)
{
    const ley_run_options options = usual(p);
    const ley_forecast *made = NULL;
    run large = {.atoms = make_atoms(p), .result = large_result(p)};
    ley_error error = {0};
    assert_ok(p->create(engine, large.atoms, &large.result, &options, &large.job, &error));
    memory_pretend(available_bytes);
    const ley_status status = ley_job_forecast(large.job, &made, why);
    memory_pretend(-1);
    assert_non_null(made);
    *f = *made;
    f->devices = NULL;
    assert_true(status != LEY_OK || made->devices[0].need_count > 0);
    ley_job_destroy(large.job);
    large.job = NULL;
    if (large.result.map != NULL && status == LEY_OK) {
        assert_ok(p->create(engine, large.atoms, &large.result, &options, &large.job, &error));
        assert_error_is(ley_job_run(large.job, &error), LEY_ERROR_USAGE, "the map has no values: it is for forecasts");
        ley_error_clear(&error);
    }
    end(&large);
    return status;
}

/* With little more memory than it takes, and with a little less: points and what is computed there
 * have been taken before the job, so that what is left must have room for the rest alone. */
static void check_memory(const problem *p)
{
    ley_error error = {0};
    ley_forecast f;
    assert_ok(ask(p, -1, &f, &error));
    const double bytes = f.host_bytes, held = p->target == ON_MAP ? 0 : 32.0 * MANY_POINTS;
    assert_true(bytes > held + 64e6);
    assert_ok(ask(p, 1.05 * (bytes - held), &f, &error));
    assert_int_equal(ask(p, 0.95 * (bytes - held), &f, &error), LEY_ERROR_MEMORY);
    if (strstr(error.message, "not enough memory: ") == NULL)
        fail_msg("%s: %s", p->method, error.message);
    assert_true(p->is_mesh || f.host_bytes > f.available_bytes);
    ley_error_clear(&error);
}

/* More points than any memory holds: the figures are there all the same. */
static void check_too_large(const problem *p)
{
    static const int64_t sizes[][3] = {{100000, 100000, 100000}, {1 << 20, 1 << 20, 8}};
    for (size_t i = 0; i < 2 && p->target == ON_MAP; i++) {
        ley_error error = {0};
        const ley_run_options options = usual(p);
        const ley_forecast *f = NULL;
        ley_grid large = {.step_A = LEY_STEPS(1e-4, 1e-4, 1e-4)};
        run r = {.atoms = make_atoms(p)};
        memcpy(large.n, sizes[i], sizeof large.n);
        assert_ok(ley_map_outline(&large, &r.result.map, &error));
        assert_ok(p->create(engine, r.atoms, &r.result, &options, &r.job, &error));
        assert_error(ley_job_forecast(r.job, &f, &error), LEY_ERROR_MEMORY, "not enough memory: the job would take ");
        assert_true(sum_of(f->host_needs, f->host_need_count, "the map") ==
                    4.0 * (double)large.n[0] * (double)large.n[1] * (double)large.n[2]);
        assert_true(f->host_bytes > f->available_bytes && f->devices[0].need_count >= 2);
        ley_error_clear(&error);
        end(&r);
    }
}

/* Nothing is computed; once is enough; and of what is too much the figures are there all the
 * same. */
static void check_forecast(const problem *p)
{
    ley_run_options options = usual(p);
    const ley_forecast *f = NULL;
    options.slab_planes = 0;
    run asked = make_job(p, engine, &options);
    const ley_status status = ley_job_forecast(asked.job, &f, &asked.error);
    assert_true(is_empty(&asked.result));
    if (p->target >= ON_FACES) {
        assert_true(status == LEY_ERROR_USAGE && f == NULL);
        end(&asked);
        return;
    }
    assert_ok_at(status, &asked.error, p->method, __FILE__, __LINE__);
    run r = run_job(p, engine, &options);
    assert_right(p, &r, &options);
    assert_like_a_run(p, f, ley_job_report(r.job), count_of(&r.result));
    assert_int_equal(ley_job_run(asked.job, &asked.error), LEY_ERROR_USAGE);
    end(&r);
    end(&asked);
    check_memory(p);
    check_too_large(p);
}

static void test_forecasts(void **state)
{
    for_each(check_forecast);
}

/* ---- Wrong kernels --------------------------------------------------------------------------- */

static void check_fault(const problem *p, bool hidden)
{
    const planted *f = hidden ? &p->hidden : &p->wrong;
    const ley_run_options options = usual(p);
    char says[64];
    snprintf(says, sizeof says, hidden ? "verification failed" : "self-test of %s failed", f->kernel);
    support_plant_fault(f->kernel, f->from, f->to);
    run r = run_job(p, engine, &options);
    unsetenv("LEYDEN_KERNEL_DIR");
    if (r.status != LEY_ERROR_WRONG_RESULT || strstr(r.error.message, says) == NULL)
        fail_msg("%s, '%s': %s: %s", p->method, f->to, ley_status_name(r.status), r.error.message);
    const ley_report *report = ley_job_report(r.job);
    assert_int_equal(report->devices[0].status, LEY_ERROR_WRONG_RESULT);
    assert_true(hidden ? !report->accuracy.passed && report->accuracy.max_error > report->accuracy.tolerance
                       : is_empty(&r.result));
    end(&r);
}

/* The self-test finds the one fault, and, of the other one, which it does not see, the
 * verification; then right kernels are right again. */
static void check_faults(const problem *p)
{
    check_fault(p, false);
    check_fault(p, true);
    const ley_run_options options = usual(p);
    run r = run_job(p, engine, &options);
    assert_right(p, &r, &options);
    end(&r);
}

static void test_faults(void **state)
{
    for_each(check_faults);
}

/* ---- Several devices ------------------------------------------------------------------------- */

static void test_all_devices_at_once(void **state)
{
    assert_true(support_open("all", "all devices", &engine));
    const size_t devices = ley_engine_device_count(engine);
    for (const problem *p = problems; p < problems + PROBLEMS; p++) {
        const ley_run_options options = usual(p);
        run r = run_job(p, engine, &options);
        assert_right(p, &r, &options);
        assert_int_equal(ley_job_report(r.job)->device_count, devices);
        for (size_t i = 0; i < devices; i++)
            assert_int_equal(ley_job_report(r.job)->devices[i].status, LEY_OK);
        end(&r);
    }
    ley_engine_destroy(engine);
    if (devices < 2)
        skip();
}

/* The methods whose kernels fake devices have. */
static const problem *const by_fakes[] = {&problems[0], &problems[4]};
enum { BY_FAKES = 2 };

/* A job on fake devices, by the build cache that there is. */
static run run_on_fakes(const problem *p, fake_plan *plans, size_t count)
{
    ley_run_options options = usual(p);
    ley_error error = {0};
    options.slab_planes = p->target == ON_MAP && p->slab < 8 ? 2 : 8;
    options.verify_points = 50;
    fake_devices_begin(plans, count);
    const ley_status status = ley_engine_create("all", &engine, &error);
    if (status != LEY_OK)
        return (run){.result = make_result(p), .status = status, .error = error};
    return run_job(p, engine, &options);
}

static void end_on_fakes(run *r)
{
    end(r);
    ley_engine_destroy(engine);
    engine = NULL;
    fake_devices_end();
}

/* From now on a device of this name has its kernel in the cache, where it is not tested again. */
static void learn_kernel(const problem *p, const char *name)
{
    fake_plan plan = {.name = name};
    run r = run_on_fakes(p, &plan, 1);
    assert_ok_at(r.status, &r.error, p->method, __FILE__, __LINE__);
    end_on_fakes(&r);
}

/* Devices that know their kernels, so that whoever launches has a slab: two, neither of which ends
 * before the other one begins, have a part each; and from two or three the bytes are those of one
 * alone. */
static void test_devices_share(void **state)
{
    for (int k = 0; k < BY_FAKES; k++) {
        const problem *p = by_fakes[k];
        double *values = NULL;
        support_fresh_cache();
        for (size_t count = 1; count <= 3; count++) {
            fake_plan plans[3] = {{.name = "A"}, {.name = "B"}, {.name = "C"}};
            for (size_t i = 0; count == 1 && i < 3; i++)
                learn_kernel(p, plans[i].name);
            plans[0].after = count == 2 ? &plans[1] : NULL;
            plans[1].after = count == 2 ? &plans[0] : NULL;
            run r = run_on_fakes(p, plans, count);
            assert_right(p, &r, &(ley_run_options){.sum = LEY_SUM_FLOAT});
            const ley_report *report = ley_job_report(r.job);
            assert_true(count != 2 || (report->devices[0].slabs > 0 && report->devices[1].slabs > 0));
            if (values == NULL)
                values = values_of(&r.result);
            assert_true(difference(&r.result, values) == 0);
            end_on_fakes(&r);
            for (size_t i = 0; i < count; i++)
                assert_int_equal(plans[i].live_objects, 0);
        }
        free(values);
    }
}

/* The second device breaks in every way there is, before its first slab and, where its kernel is
 * known, between two of them: the first one, which waits for its first launch, does the rest;
 * nothing is left behind. */
static void test_a_failing_device_gives_its_slabs_back(void **state)
{
    static const struct {
        fake_plan b;
        bool known;
    } faults[] = {
        {{.name = "B", .fail_open = 1}, false},   {{.name = "B", .fail_build = 1}, false},
        {{.name = "B", .wrong_by = 0.01}, false}, {{.name = "B", .silent = 1}, false},
        {{.name = "B", .fail_buffer = 3}, false}, {{.name = "B", .fail_buffer = 6}, false},
        {{.name = "B", .fail_launch = 1}, false}, {{.name = "B", .fail_launch = 5}, false},
        {{.name = "B", .fail_wait = 2}, false},   {{.name = "B", .fail_read = 2}, false},
        {{.name = "B", .fail_launch = 2}, true},  {{.name = "B", .fail_wait = 2}, true},
        {{.name = "B", .fail_read = 2}, true},
    };
    int after_some = 0, spared = 0;
    for (size_t i = 0; i < BY_FAKES * sizeof faults / sizeof *faults; i++) {
        const problem *p = by_fakes[i % BY_FAKES];
        const bool known = faults[i / BY_FAKES].known;
        fake_plan plans[] = {{.name = "A"}, faults[i / BY_FAKES].b};
        support_fresh_cache();
        for (int k = 0; k < 2 && known; k++)
            learn_kernel(p, plans[k].name);
        plans[0].after = &plans[1];
        run r = run_on_fakes(p, plans, 2);
        assert_right(p, &r, &(ley_run_options){.sum = LEY_SUM_FLOAT});
        const ley_device_report *b = &ley_job_report(r.job)->devices[1];
        const bool is_spared = b->status == LEY_OK || b->failure == NULL; /* the other one took the slab */
        if (is_spared && ++spared > 3)
            fail_msg("%s: B does not come to fault %d", p->method, (int)(i / BY_FAKES));
        if (plans[1].fail_build != 0 && !is_spared)
            assert_string_equal(b->failure_log, "line 1: the fake compiler's log\nline 2: its end");
        after_some += b->slabs > 0;
        end_on_fakes(&r);
        assert_int_equal(plans[0].live_objects + plans[1].live_objects, 0);
        i -= is_spared;
    }
    assert_true(after_some >= 2);
}

/* No device is left, or none is large enough: the reason is told. */
static void test_no_device_left(void **state)
{
    static const struct {
        fake_plan devices[2];
        size_t count;
        ley_status status;
        int exit_code;
        const char *says, *and;
    } cases[] = {
        {{{.name = "A", .fail_build = 1}, {.name = "B", .fail_launch = 5}},
         2,
         LEY_ERROR_DEVICE,
         4,
         "fake_build()",
         "B: fake_launch()"},
        {{{.name = "A", .wrong_by = 0.01}, {.name = "B", .wrong_by = -0.01}},
         2,
         LEY_ERROR_WRONG_RESULT,
         5,
         "A: self-test",
         "B: self-test"},
        {{{.name = "A", .fail_open = 1}}, 1, LEY_ERROR_DEVICE, 4, "fake_open()", ""},
        {{{.name = "A", .global_bytes = 8 << 10}}, 1, LEY_ERROR_NO_DEVICE, 3, "there is room for", ""},
        {{{.name = ""}}, 0, LEY_ERROR_NO_DEVICE, 3, "Empty platform", ""},
    };
    for (size_t i = 0; i < BY_FAKES * sizeof cases / sizeof *cases; i++) {
        const problem *p = by_fakes[i % BY_FAKES];
        fake_plan plans[2];
        memcpy(plans, cases[i / BY_FAKES].devices, sizeof plans);
        support_fresh_cache();
        run r = run_on_fakes(p, plans, cases[i / BY_FAKES].count);
        if (r.status != cases[i / BY_FAKES].status || strstr(r.error.message, cases[i / BY_FAKES].says) == NULL ||
            strstr(r.error.message, cases[i / BY_FAKES].and) == NULL)
            fail_msg("%s, case %d: %s: %s", p->method, (int)(i / BY_FAKES), ley_status_name(r.status), r.error.message);
        assert_int_equal(ley_status_exit_code(r.status), cases[i / BY_FAKES].exit_code);
        assert_true(is_empty(&r.result));
        end_on_fakes(&r);
    }
}

/* ---------------------------------------------------------------------------------------------- */

static void assert_has_problem(const method *m)
{
    int rows = 0;
    for (const problem *p = problems; p < problems + PROBLEMS; p++)
        rows += strcmp(p->method, m->name) == 0 && (p->target == AT_POINTS) == (m->target == LEY_TARGET_POINTS);
    if (rows == 0)
        fail_msg("%s, target %s: there is no problem here", m->name, ley_target_name(m->target));
}

/* Each method of the registry has a row here, at points, too, where it makes values there; but for
 * potentials of wavefunctions, of which test_esp.c has the same. */
static void test_registry(void **state)
{
    for (const method *const *m = method_registry; *m != NULL; m++) {
        if (strcmp((*m)->name, "esp") == 0)
            continue;
        assert_has_problem(*m);
        if ((*m)->at_points != NULL)
            assert_has_problem((*m)->at_points);
    }
}

static int run_on(const char *selector, const ley_device_info *info)
{
    return RUN_ON_DEVICE("all methods", &engine, test_kernels, test_slabs, test_cancel, test_refusals, test_forecasts,
                         test_faults);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registry),       cmocka_unit_test(test_all_devices_at_once),
        cmocka_unit_test(test_devices_share),  cmocka_unit_test(test_a_failing_device_gives_its_slabs_back),
        cmocka_unit_test(test_no_device_left),
    };
    verification_time_replace(1e9); /* tests count on as many points as they ask for */
    const int failures = support_on_each_device(run_on);
    return failures + cmocka_run_group_tests_name("all methods on several devices", tests, NULL, NULL);
}
