/* Grids whose nodes are numbered by plane, as those of more than 2^29 nodes are: forced upon
 * small ones, they make the same bytes as one number for each node. In open space, layers and
 * cells, with the map's axes or others, in the short-range kernel and beside it, at points of a
 * list with the field. The library asks coordinates_are_many() whether one number is too little:
 * here this program answers (the linker's --wrap). */
#include "support.h"

#include "long_range/mesh/coordinates.h"

bool right_answer(const coordinate_table *array) __asm__("__real_coordinates_are_many");
bool answer(const coordinate_table *array) __asm__("__wrap_coordinates_are_many");

static bool is_forced;

bool answer(const coordinate_table *array)
{
    return is_forced || right_answer(array);
}

/* ---- Problems -------------------------------------------------------------------------------- */

enum { ATOMS = 150 };
static ley_engine *engine;
static char device_name[300];

typedef struct choice {
    const char *name, *variant, *interpolation; /* NULL: the library's */
    ley_window window;
    bool periodic[3];
    double tilt_A; /* of the cell's third vector along x */
    bool is_left;  /* out at level quick: its kernels take long to build */
} choice;

static const choice choices[] = {
    {.name = "open", .window = LEY_WINDOW_BSPLINE4},
    {.name = "layer", .window = LEY_WINDOW_NODAL3, .periodic = {true, false, true}, .is_left = true},
    {.name = "cell", .window = LEY_WINDOW_BSPLINE4, .periodic = {true, true, true}},
    {.name = "oblique cell", .window = LEY_WINDOW_BSPLINE4, .periodic = {true, true, true}, .tilt_A = 2},
    {.name = "pass", .variant = "bins", .interpolation = "pass", .window = LEY_WINDOW_BSPLINE4, .is_left = true},
    {.name = "epilogue",
     .variant = "bins",
     .interpolation = "epilogue",
     .window = LEY_WINDOW_BSPLINE4,
     .is_left = true},
    {.name = "epilogue of a layer",
     .variant = "bins",
     .interpolation = "epilogue",
     .window = LEY_WINDOW_BSPLINE4,
     .periodic = {false, true, true},
     .is_left = true},
};

static ley_long_range range_of(const choice *c)
{
    ley_long_range r = support_default_long_range();
    r.cutoff_A = 3;
    r.spacing_A = 1;
    r.solver = LEY_SOLVER_FOURIER;
    r.splitting = LEY_SPLITTING_TAYLOR3;
    r.window = c->window;
    memcpy(r.periodic, c->periodic, sizeof r.periodic);
    for (int axis = 0; axis < 3; axis++)
        r.cell_A[axis][axis] = c->periodic[axis] ? 11 + axis : 0;
    r.cell_A[2][0] = c->tilt_A;
    return r;
}

static void run(ley_job *job, const choice *c)
{
    ley_error error = {0};
    assert_ok_at(ley_job_run(job, &error), &error, c->name, __FILE__, __LINE__);
    assert_true(ley_job_report(job)->accuracy.passed);
}

/* ---- Maps ------------------------------------------------------------------------------------ */

static ley_map *make_map(const choice *c, bool by_plane)
{
    const ley_grid grid = {.n = {21, 18, 19}, .step_A = LEY_STEPS(0.45, 0.5, 0.6), .origin_A = {0.2, -0.5, 0.4}};
    const ley_decision plan[] = {{.name = "method", .value = "msm"},
                                 {.name = "interpolation", .device = device_name, .value = c->interpolation}};
    const ley_long_range r = range_of(c);
    ley_error error = {0};
    ley_job *job = NULL;
    ley_atoms *atoms = support_atoms(ATOMS, 0.3, 9.6, 3);
    ley_run_options o = support_default_run_options();
    o.variant = c->variant;
    o.slab_planes = 8;
    o.decisions = plan;
    o.decision_count = c->interpolation != NULL ? 2 : 0;
    is_forced = by_plane;
    ley_map *map = support_make_map(&grid);
    assert_ok(ley_job_create_long_range(engine, atoms, (ley_target){.map = map}, &r, &o, &job, &error));
    run(job, c);
    if (c->interpolation != NULL && strcmp(c->interpolation, "epilogue") == 0)
        assert_true((strstr(ley_job_report(job)->devices[0].specification, "-DLEY_BY_PLANE=1") != NULL) == by_plane);
    is_forced = false;
    ley_job_destroy(job);
    ley_atoms_destroy(atoms);
    return map;
}

static void test_maps(void **state)
{
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        const choice *c = &choices[i];
        if (support_is_quick() && c->is_left)
            continue;
        ley_map *right = make_map(c, false), *made = make_map(c, true);
        const size_t bytes = (size_t)ley_grid_points(ley_map_grid(right)) * sizeof(float);
        if (memcmp(ley_map_read_values(right), ley_map_read_values(made), bytes) != 0)
            fail_msg("%s: other bytes by plane, off by %g", c->name, support_difference(made, right));
        ley_map_destroy(right);
        ley_map_destroy(made);
    }
}

/* ---- Points ---------------------------------------------------------------------------------- */

enum { POINTS = 70 };

static void find_at_points(const choice *c, bool by_plane, double value[4 * POINTS])
{
    double point_A[POINTS][3];
    unsigned seed = 7;
    const ley_long_range r = range_of(c);
    ley_error error = {0};
    ley_job *job = NULL;
    ley_atoms *atoms = support_atoms(ATOMS, 0.3, 9.6, 3);
    for (int i = 0; i < POINTS; i++)
        for (int axis = 0; axis < 3; axis++)
            point_A[i][axis] = 14 * (rand_r(&seed) / (RAND_MAX + 1.0)) - 2;
    ley_run_options o = support_default_run_options();
    is_forced = by_plane;
    ley_points *points = support_make_points(POINTS, point_A[0]);
    assert_ok(ley_points_add_field(points, &error));
    assert_ok(ley_job_create_long_range(engine, atoms, (ley_target){.points = points}, &r, &o, &job, &error));
    run(job, c);
    is_forced = false;
    memcpy(value, ley_points_read_values(points), POINTS * sizeof *value);
    memcpy(value + POINTS, ley_points_read_field(points), 3 * POINTS * sizeof *value);
    ley_job_destroy(job);
    ley_points_destroy(points);
    ley_atoms_destroy(atoms);
}

static void test_points(void **state)
{
    for (int i = 0; i < (support_is_quick() ? 1 : 4); i++) {
        double right[4 * POINTS], made[4 * POINTS];
        find_at_points(&choices[i], false, right);
        find_at_points(&choices[i], true, made);
        if (memcmp(right, made, sizeof right) != 0)
            fail_msg("%s: other bytes by plane at points", choices[i].name);
    }
}

/* ---- Devices --------------------------------------------------------------------------------- */

static int run_on(const char *selector, const ley_device_info *info)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_maps), cmocka_unit_test(test_points)};
    if (!support_open(selector, info->name, &engine))
        return 1;
    snprintf(device_name, sizeof device_name, "%s: %s", info->path, info->name);
    const int failures = cmocka_run_group_tests_name(info->name, tests, NULL, NULL);
    ley_engine_destroy(engine);
    return failures;
}

int main(void)
{
    return support_on_each_device(run_on);
}
