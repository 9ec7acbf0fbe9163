/* Maps that are asked for with little said: where their points lie, by which method they are made,
 * why some methods have no part; and that the library chooses the same for C and the command. */
#include "cli_support.h"
#include "support.h"

#include "engine/engine.h"
#include "methods/dcs/estimate.h"
#include "plan/chooser.h"

static ley_engine *engine;
static ley_atoms *atoms; /* 4000 in [0, 40]^3 */

static int prepare(void **state)
{
    ley_error error = {0};
    atoms = support_atoms(4000, 0, 40, 7);
    return cli_prepare(state) != 0 || ley_engine_create("cpu", &engine, &error) != LEY_OK;
}

static int finish(void **state)
{
    ley_atoms_destroy(atoms);
    ley_engine_destroy(engine);
    return 0;
}

/* ---- Where points lie ------------------------------------------------------------------------ */

static const bool all_axes[3] = {true, true, true}, two_axes[3] = {true, true, false};
static const double box_A[3][3] = {{12, 0, 0}, {0, 20, 0}, {0, 0, 9.2}},
                    oblique_A[3][3] = {{12, 0, 0}, {3, 20, 0}, {0, 0, 9}},
                    flat_A[3][3] = {{12, 0, 0}, {3, 20, 0}, {15, 20, 0}};

/* Two atoms that reach from (-1, 0, 2) to (3, 4, 2). */
static ley_atoms *make_two(void)
{
    static const double position_A[] = {-1, 4, 2, 3, 0, 2}, charge_e[] = {1, -1};
    return support_make_atoms(2, position_A, charge_e, NULL);
}

static void expect_grid(const ley_grid_options *o, const bool periodic[3], const double cell_A[3][3],
                        const double origin_A[3], const double spacing_A[3], const int64_t n[3])
{
    ley_error error = {0};
    ley_atoms *two = make_two();
    ley_grid l;
    assert_ok(ley_grid_choose(o, two, periodic, cell_A, &l, &error));
    for (int axis = 0; axis < 3; axis++) {
        assert_true(l.origin_A[axis] == origin_A[axis] && l.step_A[axis][axis] == spacing_A[axis]);
        assert_int_equal(l.n[axis], n[axis]);
    }
    ley_atoms_destroy(two);
}

static void test_meshes(void **state)
{
    ley_grid_options o;
    ley_grid_options_default(&o);
    expect_grid(&o, NULL, NULL, (const double[]){-11, -10, -8}, (const double[]){0.5, 0.5, 0.5},
                (const int64_t[]){49, 49, 41});
    /* Along two axes atoms have images, and the grid is laid around them all the same. */
    expect_grid(&o, two_axes, box_A, (const double[]){-11, -10, -8}, (const double[]){0.5, 0.5, 0.5},
                (const int64_t[]){49, 49, 41});
    expect_grid(&o, all_axes, box_A, (const double[]){0, 0, 0}, (const double[]){0.5, 0.5, 9.2 / 18},
                (const int64_t[]){24, 40, 18});
    ley_grid made;
    ley_error error = {0};
    ley_atoms *two = make_two();
    assert_ok(ley_grid_choose(&o, two, all_axes, oblique_A, &made, &error)); /* the cell, whatever its shape */
    for (int m = 0; m < 3; m++) {
        assert_int_equal(made.n[m], ((const int64_t[]){24, 40, 18})[m]);
        for (int axis = 0; axis < 3; axis++)
            assert_true(made.step_A[m][axis] == oblique_A[m][axis] / (double)made.n[m] && made.origin_A[axis] == 0);
    }
    ley_atoms_destroy(two);
    assert_false(ley_grid_is_cell(&o, all_axes, flat_A));
    o.given = LEY_GIVEN_N | LEY_GIVEN_ORIGIN;
    o.n[0] = o.n[1] = o.n[2] = 4;
    o.origin_A[1] = -7;
    expect_grid(&o, all_axes, box_A, (const double[]){0, -7, 0}, (const double[]){3, 5, 2.3},
                (const int64_t[]){4, 4, 4});
    expect_grid(&o, NULL, NULL, (const double[]){0, -7, 0}, (const double[]){0.5, 0.5, 0.5},
                (const int64_t[]){4, 4, 4});
    o.given = LEY_GIVEN_N | LEY_GIVEN_PADDING; /* over the atoms and just that */
    o.n[0] = o.n[1] = o.n[2] = 5;
    o.padding_A = 2;
    expect_grid(&o, all_axes, box_A, (const double[]){-3, -2, 0}, (const double[]){2, 2, 1},
                (const int64_t[]){5, 5, 5});
    o.given = LEY_GIVEN_N | LEY_GIVEN_LENGTH | LEY_GIVEN_CENTRE;
    o.length_A[0] = o.length_A[1] = o.length_A[2] = 8;
    o.centre_A[2] = 100;
    expect_grid(&o, NULL, NULL, (const double[]){-4, -4, 96}, (const double[]){2, 2, 2}, (const int64_t[]){5, 5, 5});
    o.centre_A[0] = NAN; /* that of the atoms */
    expect_grid(&o, NULL, NULL, (const double[]){-3, -2, -2}, (const double[]){2, 2, 2}, (const int64_t[]){5, 5, 5});
    o.given = LEY_GIVEN_N; /* the origin is a multiple of the spacing */
    expect_grid(&o, NULL, NULL, (const double[]){0, 1, 1}, (const double[]){0.5, 0.5, 0.5}, (const int64_t[]){5, 5, 5});
}

static void test_meshes_that_contradict(void **state)
{
    static const struct {
        unsigned given;
        const char *says;
    } cases[] = {{LEY_GIVEN_N | LEY_GIVEN_LENGTH | LEY_GIVEN_SPACING, "length and spacing exclude each other"},
                 {LEY_GIVEN_N | LEY_GIVEN_LENGTH | LEY_GIVEN_PADDING, "length and padding exclude each other"},
                 {LEY_GIVEN_N | LEY_GIVEN_CENTRE | LEY_GIVEN_ORIGIN, "centre and origin exclude each other"},
                 {LEY_GIVEN_N | LEY_GIVEN_SPACING | LEY_GIVEN_PADDING, "two of n, padding and spacing"},
                 {LEY_GIVEN_CENTRE, "need n"},
                 {LEY_GIVEN_ORIGIN, "need n"}};
    ley_error error = {0};
    ley_atoms *two = make_two();
    ley_grid_options o;
    ley_grid l;
    ley_grid_options_default(&o);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        o.given = cases[i].given;
        assert_error(ley_grid_choose(&o, two, two_axes, oblique_A, &l, &error), LEY_ERROR_USAGE, cases[i].says);
    }
    ley_atoms_destroy(two);
}

/* ---- Which method ---------------------------------------------------------------------------- */

static const method *method_called(const char *name)
{
    for (size_t i = 0; method_registry[i] != NULL; i++)
        if (strcmp(method_registry[i]->name, name) == 0)
            return method_registry[i];
    fail_msg("there is no method %s", name);
    return NULL;
}

static candidate candidate_of(const char *name, double seconds, double building_s, double relative_rms)
{
    return (candidate){.method = method_called(name),
                       .is_estimated = true,
                       .estimate = {.seconds = seconds, .building_s = building_s, .relative_rms = relative_rms}};
}

static void expect_chosen(const candidate *list, const char *name)
{
    const candidate *c = chooser_soonest(list, 2, 1e-4);
    assert_string_equal(c != NULL ? c->method->name : "none", name);
}

/* The one that is sooner, its building included, if it is expected to reach the tolerance. */
static void test_the_soonest(void **state)
{
    candidate list[2] = {candidate_of("dcs", 3, 0, 1e-6), candidate_of("msm", 2, 0, 5e-5)};
    expect_chosen(list, "msm");
    list[1].estimate.building_s = 1;
    expect_chosen(list, "dcs");
    list[1] = candidate_of("msm", 0, 0, 1.1e-4); /* however soon */
    expect_chosen(list, "dcs");
    list[0].estimate.relative_rms = 1e-3; /* which is a bound only */
    expect_chosen(list, "dcs");
    list[0].refusal.status = LEY_ERROR_USAGE;
    expect_chosen(list, "msm");
    list[0] = candidate_of("dcs", 0, 0, 0);
    list[0].is_estimated = false; /* nobody knows */
    list[1] = candidate_of("msm", 100, 0, 5e-5);
    expect_chosen(list, "msm");
    list[0].refusal.status = list[1].refusal.status = LEY_ERROR_USAGE;
    expect_chosen(list, "none");
}

/* A device that does so many roots and multiply-adds in a second. */
static device_view device_of(double roots_per_s, double fma_per_s)
{
    device_view view = {.info = engine->workers[0].info, .is_known = true};
    view.facts.known = CALIBRATE_ALL;
    for (int i = 0; i < LEY_ROOT_COUNT; i++) {
        view.facts.root_error[i] = 1e-7;
        view.facts.roots_per_s[i] = roots_per_s;
    }
    for (int i = 0; i < LEY_EXP_COUNT; i++) {
        view.facts.exp_error[i] = 1e-7;
        view.facts.exps_per_s[i] = roots_per_s;
    }
    view.facts.fma_per_s = fma_per_s;
    return view;
}

static ley_grid cube(double spacing_A, int64_t n)
{
    const double origin_A[3] = {0, 0, 0}, h_A[3] = {spacing_A, spacing_A, spacing_A};
    const int64_t counts[3] = {n, n, n};
    return ley_grid_orthogonal(origin_A, h_A, counts);
}

static const candidate *choose_on(device_view *devices, size_t count, double tolerance, candidate *list, sum_request *r)
{
    ley_error error = {0};
    const candidate *chosen;
    *r = (sum_request){.atoms = atoms, .grid = cube(0.5, 81), .worker_count = count, .devices = devices};
    ley_request_default(&r->asked);
    ley_run_options_default(&r->options);
    r->asked.tolerance = tolerance;
    r->options.sum = LEY_SUM_AUTO;
    const size_t candidates = chooser_candidates(r, method_registry, list);
    assert_int_equal(candidates, 2);
    assert_ok(chooser_choose(r, list, candidates, &chosen, &error));
    return chosen;
}

/* What is chosen follows the rates of devices. */
static void test_rates(void **state)
{
    candidate list[LEY_MOST_ESTIMATES];
    sum_request r;
    device_view slow = device_of(1e9, 2e10), fast = device_of(1e14, 2e10), two[2] = {device_of(1e9, 2e10), slow};
    assert_string_equal(choose_on(&slow, 1, 1e-4, list, &r)->method->name, "msm");
    const double direct_s = list[0].estimate.seconds, bytes = list[0].estimate.bytes;
    const double pairs = 4000.0 * 81 * 81 * 81, map_bytes = 4.0 * 81 * 81 * 81;
    assert_true(fabs(direct_s / (pairs / 0.95e9) - 1) < 1e-12);
    assert_true(list[1].estimate.seconds < direct_s && list[1].estimate.relative_rms <= 1e-4);
    assert_true(bytes > map_bytes && list[1].estimate.bytes > map_bytes);
    assert_string_equal(choose_on(&fast, 1, 1e-4, list, &r)->method->name, "dcs");
    assert_true(fabs(list[0].estimate.seconds / (1e-5 * direct_s) - 1) < 1e-12);
    choose_on(two, 2, 1e-4, list, &r); /* together */
    assert_true(fabs(list[0].estimate.seconds / (0.5 * direct_s) - 1) < 1e-12);
}

/* What a device is not known to do is taken to be usual; and doubles are counted where floats are
 * expected to miss the tolerance. */
static void test_what_direct_sums_are_expected_to_take(void **state)
{
    device_view device = device_of(1e9, 1e10);
    sum_request r = {.atoms = atoms, .grid = cube(0.5, 11), .worker_count = 1, .devices = &device};
    ley_error error = {0};
    estimate floats, doubles, fixed, unknown;
    ley_request_default(&r.asked);
    ley_run_options_default(&r.options);
    r.options.sum = LEY_SUM_AUTO;
    assert_ok(sum_request_look(&r, &error));
    dcs_estimate(&r, &floats);
    r.asked.tolerance = 0.5 * floats.relative_rms;
    dcs_estimate(&r, &doubles);
    assert_true(fabs(doubles.seconds / floats.seconds - 9) < 1e-12 &&
                doubles.relative_rms < 1e-6 * floats.relative_rms);
    assert_true(floats.sum == LEY_SUM_FLOAT && doubles.sum == LEY_SUM_DOUBLE);
    r.options.sum = LEY_SUM_FLOAT;
    dcs_estimate(&r, &fixed);
    assert_true(fixed.seconds == floats.seconds && fixed.relative_rms == floats.relative_rms);
    device.is_known = false;
    dcs_estimate(&r, &unknown);
    assert_true(fabs(unknown.seconds / floats.seconds - 0.1) < 1e-12); /* a processor does 1e10 */
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static void expect_refused(const ley_request *request, const ley_run_options *options, const char *says)
{
    ley_error error = {0};
    ley_estimate list[LEY_MOST_ESTIMATES];
    const ley_grid l = cube(0.5, 81);
    ley_job *job = NULL;
    size_t count;
    ley_map *map = support_make_map(&l);
    assert_int_equal(ley_job_create_chosen(engine, atoms, (ley_target){.map = map}, request, options, &job, &error),
                     LEY_ERROR_USAGE);
    if (strstr(error.message, says) == NULL)
        fail_msg("%s, and not %s", error.message, says);
    assert_null(job);
    assert_int_equal(
        ley_request_estimate(engine, atoms, (ley_target){.grid = &l}, request, options, list, &count, &error),
        LEY_ERROR_USAGE);
    assert_non_null(strstr(error.message, says));
    ley_map_destroy(map);
}

static ley_request periodic_request(void)
{
    ley_request request = support_default_request();
    for (int axis = 0; axis < 3; axis++) {
        request.potential.periodic[axis] = true;
        request.potential.cell_A[axis][axis] = 40;
    }
    return request;
}

static void test_what_is_refused(void **state)
{
    ley_run_options options = support_default_run_options();
    ley_request request = support_default_request();
    request.method = "mdh";
    expect_refused(&request, &options, "not 'mdh'");
    ley_request_default(&request);
    request.tolerance = 0;
    expect_refused(&request, &options, "tolerance 0, must be 1e-06 to 0.1");
    request.tolerance = 1e-4;
    request.potential.dielectric = -1;
    expect_refused(&request, &options, "dielectric -1");
    request = periodic_request();
    request.method = "dcs";
    expect_refused(&request, &options, "method dcs has neither images nor screening");
    const ley_decision planned = {.name = "method", .value = "dcs"};
    request.method = "auto";
    options.decision_count = 1;
    options.decisions = &planned;
    expect_refused(&request, &options, "plan: it is one of method dcs, and method auto takes those of msm");
    const ley_decision nameless = {.value = "dcs"};
    options.decisions = &nameless;
    expect_refused(&request, &options, "plan: decision 1 has no name or no value");
}

/* Each method that has no part says why. */
static void test_reasons(void **state)
{
    const ley_request request = periodic_request();
    ley_estimate list[LEY_MOST_ESTIMATES];
    ley_error error = {0};
    const ley_grid l = cube(0.5, 80);
    size_t count;
    ley_run_options options = support_default_run_options();
    assert_ok(ley_request_estimate(engine, atoms, (ley_target){.grid = &l}, &request, &options, list, &count, &error));
    assert_int_equal(count, 2);
    assert_true(list[0].status == LEY_ERROR_USAGE && !list[0].is_chosen && list[0].seconds == 0);
    assert_string_equal(list[0].reason, "method dcs has neither images nor screening");
    assert_true(list[1].status == LEY_OK && list[1].is_chosen && list[1].seconds > 0);
    assert_string_equal(list[1].method, "msm");
    ley_request coarse; /* meshes that none are */
    ley_request_default(&coarse);
    coarse.fixed = LEY_FIX_CUTOFF | LEY_FIX_SPACING;
    coarse.potential.spacing_A = 2 * coarse.potential.cutoff_A;
    assert_ok(ley_request_estimate(engine, atoms, (ley_target){.grid = &l}, &coarse, &options, list, &count, &error));
    assert_true(list[0].is_chosen && list[0].status == LEY_OK && list[0].seconds > 0);
    assert_true(list[1].status == LEY_ERROR_USAGE && strstr(list[1].reason, "with the choices that are given") != NULL);
}

/* ---- The same for all ------------------------------------------------------------------------ */

/* What the command makes of these words, on the default grid. */
static ley_map *by_command(const char *words)
{
    cli_run(0, NULL, NULL, "map m.pqr -o out/a.raw --dielectric 78.54 %s", words);
    return cli_read_map("out/a.raw");
}

static void expect_same(const char *words, ley_engine *by, double tolerance, double spacing_A)
{
    ley_error error = {0};
    ley_atoms *molecule = NULL;
    ley_map *right = by_command(words), *made = NULL;
    ley_accuracy accuracy;
    ley_request request = support_default_request();
    request.potential.dielectric = 78.54;
    request.tolerance = tolerance;
    request.grid.spacing_A[0] = request.grid.spacing_A[1] = request.grid.spacing_A[2] = spacing_A;
    assert_ok(ley_atoms_read(cli_path("m.pqr"), &molecule, &error));
    assert_ok(ley_map_compute(by, molecule, NULL, &request, &made, &accuracy, &error));
    assert_true(accuracy.relative_rms <= tolerance && accuracy.points >= 50);
    const ley_grid *l = ley_map_grid(made);
    assert_memory_equal(l, ley_map_grid(right), sizeof *l);
    assert_string_equal(ley_map_units(made), ley_map_units(right));
    double most = 0, largest = 0;
    for (int64_t i = 0; i < ley_grid_points(l); i++) {
        most = fmax(most, fabs(ley_map_read_values(made)[i] - ley_map_read_values(right)[i]));
        largest = fmax(largest, fabs(ley_map_read_values(right)[i]));
    }
    assert_true(most <= 1e-6 * largest); /* direct summation and meshes differ by more */
    ley_map_destroy(made);
    ley_map_destroy(right);
    ley_atoms_destroy(molecule);
}

static void test_one_call(void **state)
{
    cli_write_molecule("m.pqr", 300, 20, 7);
    expect_same("--spacing 4 --device host", NULL, 1e-4, 4); /* which the host does at once */
    expect_same("--spacing 2 --device cpu", engine, 1e-4, 2);
    expect_same("--spacing 1 --device cpu --tol 1e-3", engine, 1e-3, 1);
}

/* Without an engine the host has no meshes, and says so as creators do. */
static void test_meshes_are_for_devices(void **state)
{
    ley_error error = {0};
    ley_job *job = NULL;
    const ley_grid l = cube(10, 4);
    ley_request request = support_default_request();
    ley_run_options options = support_default_run_options();
    request.method = "msm";
    request.fixed = LEY_FIX_CUTOFF;
    ley_map *map = support_make_map(&l);
    assert_int_equal(ley_job_create_chosen(NULL, atoms, (ley_target){.map = map}, &request, &options, &job, &error),
                     LEY_ERROR_NO_DEVICE);
    options.by_host = true;
    assert_int_equal(ley_job_create_chosen(NULL, atoms, (ley_target){.map = map}, &request, &options, &job, &error),
                     LEY_ERROR_USAGE);
    request.fixed = 0;
    assert_ok(ley_job_create_chosen(NULL, atoms, (ley_target){.map = map}, &request, &options, &job, &error));
    ley_job_destroy(job);
    ley_map_destroy(map);
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.begin = prepare, .end = finish), test_meshes, test_meshes_that_contradict,
                     test_the_soonest, test_rates, test_what_direct_sums_are_expected_to_take, test_what_is_refused,
                     test_reasons, test_one_call, test_meshes_are_for_devices);
}
