/* A long-range map in one launch per slab, whose kernel interpolates the mesh's potentials by
 * itself, beside the same map with a pass of its own for that: equal but for rounding, with windows
 * of every size, partial regions, several slabs, and periodic along some axes; and plans that say
 * which. With two arguments, a device and a variant, one kernel is built and put to its self-test:
 * for checkers of memory. */
#include "support.h"

#include "engine/engine.h"
#include "methods/cutoff/build.h"
#include "methods/cutoff/stages.h"

enum { ATOMS = 60, POINTS_X = 19, POINTS_Y = 11, POINTS_Z = 18 };

static ley_engine *engine;
static char device_name[300];
static const char *variant = "bins"; /* the one that compilers of CPU devices are soonest through with */

/* ---- Maps ------------------------------------------------------------------------------------ */

/* What makes a map. */
typedef struct choice {
    ley_splitting splitting;
    ley_window window;
    bool periodic[3];
    double tilt_A; /* of the cell's third vector along x */
    ley_sum sum;
    int slab_planes;
} choice;

static ley_long_range range_of(const choice *c)
{
    ley_long_range r = support_default_long_range();
    r.cutoff_A = 3;
    r.spacing_A = 1;
    r.splitting = c->splitting;
    r.window = c->window;
    memcpy(r.periodic, c->periodic, sizeof r.periodic);
    for (int axis = 0; axis < 3; axis++)
        r.cell_A[axis][axis] = c->periodic[axis] ? 9 + axis : 0;
    r.cell_A[2][0] = c->tilt_A;
    return r;
}

/* The decision `interpolation` of a report; NULL: there is none. */
static const char *decided(const ley_report *report)
{
    for (size_t i = 0; i < report->decision_count; i++)
        if (strcmp(report->decisions[i].name, "interpolation") == 0)
            return report->decisions[i].value;
    return NULL;
}

/* A job that has run. */
typedef struct trial {
    ley_atoms *atoms;
    ley_job *job;
} trial;

static void end(trial *t)
{
    ley_job_destroy(t->job);
    ley_atoms_destroy(t->atoms);
}

/* Runs a job by a plan. */
static ley_status run_by(const choice *c, const char *of, const ley_decision *plan, size_t count, ley_map *map,
                         trial *made, ley_error *error)
{
    ley_run_options o = support_default_run_options();
    o.variant = of;
    o.sum = c->sum;
    o.slab_planes = c->slab_planes;
    o.decisions = plan;
    o.decision_count = count;
    const ley_long_range r = range_of(c);
    *made = (trial){.atoms = support_atoms(ATOMS, 0.3, 8.6, 3)};
    const ley_status status =
        ley_job_create_long_range(engine, made->atoms, (ley_target){.map = map}, &r, &o, &made->job, error);
    return status == LEY_OK ? ley_job_run(made->job, error) : status;
}

/* `word` NULL: nothing is planned. */
static ley_status run(const choice *c, const char *of, const char *word, ley_map *map, trial *made, ley_error *error)
{
    const ley_decision plan[] = {{.name = "method", .value = "msm"},
                                 {.name = "interpolation", .device = device_name, .value = word}};
    const ley_status status = run_by(c, of, plan, word != NULL ? 2 : 0, map, made, error);
    if (status == LEY_OK && word != NULL)
        assert_string_equal(decided(ley_job_report(made->job)), word);
    return status;
}

/* Once more as it was decided then: the same bytes, whatever has been measured by now. */
static void expect_again(const choice *c, const trial *former, const ley_map *map)
{
    const ley_report *report = ley_job_report(former->job);
    const ley_grid *points = ley_map_grid(map);
    ley_error error = {0};
    trial t;
    ley_map *again = support_make_map(points);
    assert_ok(run_by(c, variant, report->decisions, report->decision_count, again, &t, &error));
    assert_string_equal(decided(ley_job_report(t.job)), decided(report));
    assert_memory_equal(ley_map_read_values(map), ley_map_read_values(again),
                        (size_t)ley_grid_points(points) * sizeof(float));
    end(&t);
    ley_map_destroy(again);
}

static const ley_grid grid = {
    .n = {POINTS_X, POINTS_Y, POINTS_Z}, .step_A = LEY_STEPS(0.45, 0.5, 0.4), .origin_A = {0.2, -0.5, 0.4}};

/* ---- Both ways ------------------------------------------------------------------------------- */

/* The largest potential of a map. */
static double largest(const ley_map *map)
{
    double most = 0;
    for (size_t i = 0; i < (size_t)ley_grid_points(&grid); i++)
        most = fmax(most, fabs((double)ley_map_read_values(map)[i]));
    return most;
}

/* Each point to rounding, of the values that are added up there. */
static void test_same(const choice *c)
{
    ley_error error = {0};
    ley_map *in_kernel = NULL, *as_pass = NULL;
    trial by_kernel, by_pass;
    assert_ok(ley_map_create(&grid, &in_kernel, &error));
    assert_ok(ley_map_create(&grid, &as_pass, &error));
    assert_ok(run(c, variant, "epilogue", in_kernel, &by_kernel, &error));
    assert_ok(run(c, variant, "pass", as_pass, &by_pass, &error));
    expect_again(c, &by_kernel, in_kernel);
    const size_t count = (size_t)ley_grid_points(&grid);
    const double limit = 2e-6 * largest(as_pass);
    size_t differ = 0;
    for (size_t i = 0; i < count; i++) {
        const double a = (double)ley_map_read_values(in_kernel)[i], b = (double)ley_map_read_values(as_pass)[i];
        if (!(fabs(a - b) <= limit + 5e-6 * fabs(b)))
            fail_msg("window %d: point %zu is %.9g in the kernel and %.9g as a pass", (int)c->window, i, a, b);
        differ += a != b;
    }
    assert_true(differ > 0); /* terms are added up in another order */
    end(&by_kernel);
    end(&by_pass);
    ley_map_destroy(in_kernel);
    ley_map_destroy(as_pass);
}

static void test_windows(void **state)
{
    static const ley_window windows[] = {LEY_WINDOW_NODAL3, LEY_WINDOW_NODAL5, LEY_WINDOW_NODAL7, LEY_WINDOW_NODAL9};
    const size_t count = support_is_quick() ? 1 : sizeof windows / sizeof *windows;
    for (size_t i = 0; i < count; i++) {
        const choice c = {.splitting = LEY_SPLITTING_TAYLOR2, .window = windows[i], .slab_planes = 8};
        test_same(&c);
    }
}

static void test_periodic(void **state)
{
    const choice along_two = {.splitting = LEY_SPLITTING_TAYLOR2,
                              .window = LEY_WINDOW_NODAL3,
                              .periodic = {true, false, true},
                              .slab_planes = 8},
                 along_all = {
                     .splitting = LEY_SPLITTING_TAYLOR2, .window = LEY_WINDOW_NODAL3, .periodic = {true, true, true}};
    test_same(&along_two);
    if (!support_is_quick())
        test_same(&along_all);
}

/* ---- Plans ----------------------------------------------------------------------------------- */

/* What the library decides stands in the plan; CPU devices go on with a pass. */
static void test_left_to_the_library(void **state)
{
    const choice c = {.splitting = LEY_SPLITTING_TAYLOR2, .window = LEY_WINDOW_NODAL3};
    ley_error error = {0};
    trial t;
    ley_map *map = support_make_map(&grid);
    assert_ok(run(&c, variant, NULL, map, &t, &error));
    if (ley_engine_device(engine, 0)->device_class == LEY_CLASS_CPU)
        assert_string_equal(decided(ley_job_report(t.job)), "pass");
    expect_again(&c, &t, map);
    end(&t);
    ley_map_destroy(map);
}

static void expect_refused(const choice *c, const char *of)
{
    ley_error error = {0};
    trial t;
    char what[40];
    snprintf(what, sizeof what, "variant %s", of);
    ley_map *map = support_make_map(&grid);
    assert_error(run(c, of, "epilogue", map, &t, &error), LEY_ERROR_USAGE, "plan: interpolation of");
    assert_non_null(strstr(error.message, what));
    ley_error_clear(&error);
    end(&t);
    ley_map_destroy(map);
}

/* No variant has an epilogue for meshes that are oblique to the map; vectors, which CPU devices
 * have, have none at all. */
static void test_refused(void **state)
{
    const choice along_axes = {.splitting = LEY_SPLITTING_TAYLOR2, .window = LEY_WINDOW_NODAL3},
                 oblique = {.splitting = LEY_SPLITTING_TAYLOR2,
                            .window = LEY_WINDOW_NODAL3,
                            .periodic = {true, true, true},
                            .tilt_A = 2};
    expect_refused(&oblique, variant);
    if (ley_engine_device(engine, 0)->device_class == LEY_CLASS_CPU)
        expect_refused(&along_axes, "vector8");
}

static int run_on(const char *selector, const ley_device_info *info)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_windows), cmocka_unit_test(test_periodic),
                                              cmocka_unit_test(test_left_to_the_library),
                                              cmocka_unit_test(test_refused)};
    if (!support_open(selector, info->name, &engine))
        return 1;
    snprintf(device_name, sizeof device_name, "%s: %s", info->path, info->name);
    const int failed = cmocka_run_group_tests_name(info->name, tests, NULL, NULL);
    ley_engine_destroy(engine);
    return failed;
}

/* ---- Under checkers -------------------------------------------------------------------------- */

/* 0 when the kernel passes its self-test. */
static int build(const char *selector, const char *of)
{
    ley_error error = {0};
    cutoff_kernel kernel;
    ley_short_range range = support_default_short_range();
    const cutoff_problem problem = {.range = &range};
    const cutoff_wish wish = {.variant = of,
                              .math = TUNING_STANDARD,
                              .pair = LEY_PAIR_TAYLOR2,
                              .store = LEY_STORE_ROWS,
                              .depth = 8,
                              .nodes = 11};
    if (!support_open(selector, selector, &engine))
        return 1;
    const ley_status status = cutoff_kernel_create(engine->workers[0].device, &wish, &problem, &kernel, &error);
    if (status != LEY_OK)
        fprintf(stderr, "%s\n", error.message);
    else
        cutoff_kernel_destroy(&kernel);
    ley_error_clear(&error);
    ley_engine_destroy(engine);
    return status != LEY_OK;
}

int main(int argc, char **argv)
{
    return argc == 3 ? build(argv[1], argv[2]) : support_on_each_device(run_on);
}
