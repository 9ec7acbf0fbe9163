/* What steps of long-range sums are predicted to take: of the first job on a device by what is
 * usual, of the next one by what the one before took, whatever was wrongly believed. */
#include "support.h"

#include "engine/engine.h"
#include "long_range/estimate/parameter_search.h"
#include "long_range/mesh/step_costs.h"
#include "source/atoms.h"

static ley_engine *engine;

static const dev_info *device(void)
{
    return engine->workers[0].info;
}

static void test_learning(void **state)
{
    static const char step[] = "a step of this test";
    support_fresh_cache();
    assert_true(step_cost(device(), step, "x", 7e-9) == 7e-9); /* nothing is known */
    step_cost_learn(device(), step, "x", 1e-9, 0.1, 0.2);
    assert_true(fabs(step_cost(device(), step, "x", 7e-9) / 2e-9 - 1) < 1e-12);
    assert_true(step_cost(device(), step, "y", 7e-9) == 7e-9);
    step_cost_learn(device(), step, "x", 2e-9, 0.2, 0.1); /* the least counts */
    assert_true(fabs(step_cost(device(), step, "x", 0) / 1e-9 - 1) < 1e-12);
    step_cost_learn(device(), step, "x", 1e-9, 0.1, 0.19);
    step_cost_learn(device(), step, "x", 1e-9, 0.1, 0.091); /* too little to change plans */
    assert_true(fabs(step_cost(device(), step, "x", 0) / 1e-9 - 1) < 1e-12);
    step_cost_learn(device(), step, "x", 1e-9, 0.1, 0.9); /* but half-way to what is much longer */
    assert_true(fabs(step_cost(device(), step, "x", 0) / 3e-9 - 1) < 1e-12);
    step_cost_learn(device(), step, "x", 3e-9, 0.1, 1e-4); /* too short to show anything */
    step_cost_learn(device(), step, "x", 3e-9, 0, 0.1);    /* and nobody had predicted these */
    step_cost_learn(device(), step, "x", 0, 0.1, 0.1);
    assert_true(fabs(step_cost(device(), step, "x", 0) / 3e-9 - 1) < 1e-12);
}

/* Predicted and taken seconds of the meshes in a job. */
static void run(ley_solver solver, double *predicted_s, double *took_s)
{
    const ley_grid points = {.step_A = LEY_STEPS(2, 2, 2), .n = {16, 16, 16}};
    ley_error error = {0};
    ley_job *job = NULL;
    ley_atoms *atoms = support_atoms(3000, 0, 40, 11);
    ley_long_range range = support_default_long_range();
    ley_run_options options = support_default_run_options();
    range.solver = solver;
    range.window = solver == LEY_SOLVER_FOURIER ? LEY_WINDOW_BSPLINE6 : range.window;
    range.fft = solver == LEY_SOLVER_FOURIER ? "vkfft" : NULL;
    ley_map *map = support_make_map(&points);
    assert_ok(ley_job_create_long_range(engine, atoms, (ley_target){.map = map}, &range, &options, &job, &error));
    assert_ok(ley_job_run(job, &error));
    const ley_note *phase = ley_report_note(ley_job_report(job), "phase_meshes");
    if (phase == NULL)
        fail_msg("nobody has predicted what the meshes take");
    *predicted_s = phase->number[0];
    *took_s = phase->number[1];
    ley_job_destroy(job);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
}

/* Of how many pair kernels a plan counts the building, and with how many seconds each. */
static int count_unbuilt(double *each_s)
{
    const double pairs_per_s[SEARCH_REACHES] = {1, 1, 1, 1, 1, 1, 1, 1};
    search_device d;
    int count = 0;
    search_look_at(device(), NULL, pairs_per_s, &d);
    for (int k = 0; k < PAIRS_KERNELS; k++)
        if (d.pairs_building_s[k] > 0) {
            count++;
            *each_s = d.pairs_building_s[k];
        }
    return count;
}

/* And plans know then which kernels are there, and what building others takes. */
static void test_the_first_job_has_predictions(void **state)
{
    double predicted_s, took_s, usual_s, measured_s;
    support_fresh_cache();
    assert_int_equal(count_unbuilt(&usual_s), PAIRS_KERNELS);
    run(LEY_SOLVER_MULTILEVEL, &predicted_s, &took_s);
    assert_true(predicted_s > 0 && took_s > 0);
    assert_int_equal(count_unbuilt(&measured_s), PAIRS_KERNELS - 1);
    assert_true(measured_s > 0 && measured_s != usual_s);
    run(LEY_SOLVER_FOURIER, &predicted_s, &took_s);
    assert_true(predicted_s > 0 && took_s > 0);
}

/* A thousand times too long, and too short, of a step that takes milliseconds. */
static void test_what_was_wrong_is_put_right(void **state)
{
    double predicted_s[2], took_s[2];
    for (int is_long = 0; is_long <= 1; is_long++) {
        support_fresh_cache();
        run(LEY_SOLVER_MULTILEVEL, &predicted_s[0], &took_s[0]);
        const double unit_s = step_cost(device(), "restriction", "nodal7", 0);
        if (unit_s == 0 && engine->workers[0].info->device_class == DEV_GPU) {
            print_message("a step of this is too short to be learnt from\n");
            return;
        }
        assert_true(unit_s > 0);
        const double wrong_s = is_long ? 1e3 * unit_s : 1e-3 * unit_s;
        costs_keep(&(costs_kind){.name = "msm restriction nodal7", .count = 1, .bounds = {{1e-18, 1e-9, 1e-3}}},
                   device(), &wrong_s);
        run(LEY_SOLVER_MULTILEVEL, &predicted_s[0], &took_s[0]);
        for (int i = 0; i < 4; i++)
            run(LEY_SOLVER_MULTILEVEL, &predicted_s[1], &took_s[1]);
        const double ratio = step_cost(device(), "restriction", "nodal7", 0) / unit_s;
        if (!(ratio > 0.05 && ratio < 20))
            fail_msg("restriction is still believed to take %g times as long as it does", ratio);
    }
}

/* Seconds of restriction of two charges that are so far apart. */
static double restriction_s(double x_A, double yz_A)
{
    const ley_grid points = {.step_A = LEY_STEPS(2, 2, 2), .n = {8, 8, 8}};
    const double position_A[] = {0, 0, 0, x_A, yz_A, yz_A}, charge_e[] = {1, -1};
    ley_error error = {0};
    ley_job *job = NULL;
    ley_long_range range = support_default_long_range();
    ley_run_options options = support_default_run_options();
    range.spacing_A = 4;
    ley_atoms *atoms = support_make_atoms(2, position_A, charge_e, NULL);
    ley_map *map = support_make_map(&points);
    assert_ok(ley_job_create_long_range(engine, atoms, (ley_target){.map = map}, &range, &options, &job, &error));
    assert_ok(ley_job_run(job, &error));
    const double seconds = ley_report_note(ley_job_report(job), "restriction_s")->number[0];
    ley_job_destroy(job);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
    return seconds;
}

/* Of meshes that are thin, half of the rows that a node looks at are not there: nobody adds up
 * zeros for them. As many nodes of a cube take longer. */
static void test_rows_that_are_not_there(void **state)
{
    double thin_s = INFINITY, cube_s = INFINITY;
    if (device()->device_class != DEV_CPU)
        skip(); /* work-items wait for each other there */
    /* Until nobody was in the way. */
    for (int i = 0; i < 40 && (i < 4 || !(thin_s < 0.75 * cube_s)); i++) {
        thin_s = fmin(thin_s, restriction_s(3800, 0));
        cube_s = fmin(cube_s, restriction_s(330, 330));
    }
    if (!(thin_s < 0.75 * cube_s))
        fail_msg("thin meshes take %g s, a cube %g s", thin_s, cube_s);
}

static int prepare(void **state)
{
    return support_open_alone("opencl", "a device with OpenCL", &engine) ? 0 : 1;
}

static int finish(void **state)
{
    ley_engine_destroy(engine);
    return 0;
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.begin = prepare, .end = finish), test_learning, test_the_first_job_has_predictions,
                     test_what_was_wrong_is_put_right, test_rows_that_are_not_there);
}
