/* Long-range potentials and fields at lists of points, on every device of this machine: every
 * splitting, window and solver, whatever is periodic, screened or not, right at every point against
 * exact sums, and where a map has the point the same as in the map; what is chosen for a tolerance
 * reaches it. */
#include "support.h"

#include "law/periodic.h"

static ley_engine *engine; /* of the device under test */

enum { ATOMS = 120, EDGE_A = 24 };

/* ---- Problems -------------------------------------------------------------------------------- */

/* Neutral. */
static ley_atoms *make_atoms(void)
{
    double position_A[ATOMS][3], charge_e[ATOMS], radius_A[ATOMS];
    unsigned seed = 3;
    for (int i = 0; i < ATOMS; i++) {
        for (int axis = 0; axis < 3; axis++)
            position_A[i][axis] = EDGE_A * (rand_r(&seed) / (RAND_MAX + 1.0)) - 5;
        charge_e[i] = i % 2 == 0 ? 0.7 : -0.7;
        radius_A[i] = 1.5;
    }
    return support_make_atoms(ATOMS, position_A[0], charge_e, radius_A);
}

/* A map's points, so that both can be had there; the periodic ones are cells away. */
static ley_grid make_mesh(bool far)
{
    const double origin_A[3] = {far ? -700 : -7, -8, -6}, spacing_A[3] = {2.9, 2.7, 3.1};
    const int64_t n[3] = {9, 11, 10};
    return ley_grid_orthogonal(origin_A, spacing_A, n);
}

static ley_points *make_points(const ley_grid *l)
{
    const int64_t n = ley_grid_points(l);
    double *point_A = calloc(3 * (size_t)n, sizeof(double));
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = n - 1 - i, index[3] = {at % l->n[0], at / l->n[0] % l->n[1], at / l->n[0] / l->n[1]};
        ley_grid_point_A(l, index, point_A + 3 * i);
    }
    ley_points *points = support_make_points(n, point_A);
    free(point_A);
    return points;
}

static ley_long_range make_range(int dimensions, bool oblique, double kappa_per_A)
{
    ley_long_range range = support_default_long_range();
    range.units = LEY_UNITS_KCAL_MOL_E;
    range.kappa_per_A = kappa_per_A;
    for (int axis = 0; axis < dimensions; axis++) {
        range.periodic[axis] = true;
        range.cell_A[axis][axis] = EDGE_A + axis;
    }
    if (oblique && dimensions > 1)
        range.cell_A[1][0] = 5;
    return range;
}

static void run(ley_job *job, const char *what)
{
    ley_error error = {0};
    assert_ok_at(ley_job_run(job, &error), &error, what, __FILE__, __LINE__);
}

/* Of independent charges a component is off by what is expected, of which it may be 32 times as
 * much: of some hundred the worst by four times that, and no less than a fraction of it. */
static void check_field(const ley_report *report, const char *what)
{
    const ley_accuracy *a = &report->field_accuracy;
    if (!a->passed || a->points != 50 || !(a->max_error < 0.5) || !(a->relative_rms < 2e-2))
        fail_msg("%s: the field is off by %g of what is allowed, at %zu points, relative RMS %g", what, a->max_error,
                 a->points, a->relative_rms);
}

/* At points and on a map; differences are what floats are off by, of the values' root mean square.
 *  */
static void check(const ley_atoms *atoms, const ley_long_range *range, const char *what, bool field)
{
    const bool far = range->periodic[0];
    const ley_grid l = make_mesh(far);
    ley_points *points = make_points(&l);
    ley_job *job = NULL, *of_map = NULL;
    ley_error error = {0};
    ley_run_options options = support_default_run_options();
    if (field)
        assert_ok(ley_points_add_field(points, &error));
    assert_ok_at(
        ley_job_create_long_range(engine, atoms, (ley_target){.points = points}, range, &options, &job, &error), &error,
        what, __FILE__, __LINE__);
    run(job, what);
    const ley_report *report = ley_job_report(job);
    if (field)
        check_field(report, what);
    assert_true(report->accuracy.passed && report->accuracy.points > 0);
    assert_true(report->accuracy.relative_rms < 5e-3);
    assert_string_equal(report->method, "msm");
    assert_string_equal(ley_points_units(points), "kcal/mol/e");
    ley_map *map = support_make_map(&l);
    assert_ok(ley_job_create_long_range(engine, atoms, (ley_target){.map = map}, range, &options, &of_map, &error));
    run(of_map, what);
    double square = 0;
    const int64_t n = ley_points_count(points);
    for (int64_t i = 0; i < n; i++)
        square += pow((double)ley_map_read_values(map)[i], 2);
    /* Meshes around a list and around a map may begin at other nodes, and be off otherwise. */
    const double size = sqrt(square / (double)n), most = 3e-6 + 20 * report->accuracy.relative_rms;
    for (int64_t i = 0; i < n; i++) {
        const double v = ley_points_read_values(points)[i], w = (double)ley_map_read_values(map)[n - 1 - i];
        if (!(fabs(v - w) <= most * size + 3e-5 * fabs(w)))
            fail_msg("%s: at a point %.9g, on the map %.9g, of %g", what, v, w, size);
    }
    ley_job_destroy(of_map);
    ley_job_destroy(job);
    ley_map_destroy(map);
    ley_points_destroy(points);
}

static void test_choices(void **state)
{
    ley_atoms *atoms = make_atoms();
    int number = 0;
    for (int window = 0; window < LEY_WINDOW_COUNT; window++)
        for (int splitting = 0; splitting < LEY_SPLITTING_COUNT; splitting++)
            for (int dimensions = 0; dimensions <= 3; dimensions++) {
                char what[100];
                const bool screened = number % 3 == 1 && splitting <= LEY_SPLITTING_TAYLOR8;
                ley_long_range range = make_range(dimensions, number % 2 == 0, screened ? 0.1 : 0);
                range.splitting = (ley_splitting)splitting;
                range.window = (ley_window)window;
                range.solver = window >= LEY_WINDOW_BSPLINE4 ? LEY_SOLVER_FOURIER
                               : number % 4 == 3             ? LEY_SOLVER_MIXED
                                                             : LEY_SOLVER_MULTILEVEL;
                snprintf(what, sizeof what, "splitting %d, window %d, along %d axes, %s", splitting, window, dimensions,
                         screened ? "screened" : "not screened");
                if (!support_is_quick() || number % 61 == 0)
                    check(atoms, &range, what, number % 2 == 1);
                number++;
            }
    ley_atoms_destroy(atoms);
}

/* Screening that leaves nothing to meshes; a large r_min, for which pairs are an expression. */
static void test_pairs_alone(void **state)
{
    ley_atoms *atoms = make_atoms();
    ley_long_range range = make_range(3, false, 2.5);
    check(atoms, &range, "strong screening", true);
    range = make_range(0, false, 0);
    range.r_min_A = 3;
    check(atoms, &range, "a large r_min", true);
    ley_atoms_destroy(atoms);
}

/* The judge's fields against differences of its potentials: whatever is periodic, screened or not,
 * among the charges and far from layers and wires. */
static void test_exact_fields(void **state)
{
    ley_atoms *atoms = make_atoms();
    for (int i = 0; i < 12; i++) {
        const int dimensions = i % 3 + 1;
        const ley_long_range range = make_range(dimensions, i % 2 == 0, i / 3 % 2 == 1 ? 0.15 : 0);
        periodic_options o = {.kappa_per_A = range.kappa_per_A,
                              .r_min_A = 0.05,
                              .near_A = 24,
                              .n = ATOMS,
                              .position_A = ley_atoms_positions_A(atoms),
                              .charge_e = ley_atoms_charges_e(atoms),
                              .points = 50};
        periodic_sum *sum = NULL;
        ley_error error = {0};
        const double point_A[3] = {3.1, -2.2, i >= 6 ? 4.4 : 90}, h_A = 1e-4;
        assert_ok(cell_make(range.periodic, range.cell_A, &o.cell, &error));
        assert_ok(periodic_sum_create(&o, &sum, &error));
        const periodic_gradient g = periodic_sum_field(sum, point_A);
        for (int axis = 0; axis < 3; axis++) {
            double at_A[2][3];
            for (int side = 0; side < 2; side++) {
                memcpy(at_A[side], point_A, sizeof point_A);
                at_A[side][axis] += side == 0 ? -h_A : h_A;
            }
            const double about =
                (periodic_sum_at(sum, at_A[0]).value - periodic_sum_at(sum, at_A[1]).value) / (2 * h_A);
            if (!(fabs(g.field[axis] - about) <= 1e-6 * sqrt(g.field_squares) + 1e-8))
                fail_msg("problem %d, along %d: %.12g, by differences %.12g", i, axis, g.field[axis], about);
        }
        assert_true(g.squares > 0 && g.field_squares > 0);
        periodic_sum_destroy(sum);
    }
    ley_atoms_destroy(atoms);
}

/* Points among the charges, all on one side of them, and a few next to one another. */
static void test_tolerance(void **state)
{
    ley_atoms *atoms = make_atoms();
    for (int i = 0; i < 6; i++) {
        const double tolerance = i % 2 == 0 ? 1e-3 : 2e-5;
        const double origin_A[3] = {i / 2 == 1 ? 25 : -3, -4, -2}, step_A = i / 2 == 2 ? 0.3 : 2.3,
                     spacing_A[3] = {step_A, step_A, step_A};
        const int64_t n[3] = {8, 8, 8};
        const ley_grid l = ley_grid_orthogonal(origin_A, spacing_A, n);
        ley_points *points = make_points(&l);
        ley_long_range range = make_range(0, false, 0);
        ley_choice choice;
        ley_job *job = NULL;
        ley_error error = {0};
        ley_run_options options = support_default_run_options();
        assert_ok(ley_long_range_choose(engine, atoms, (ley_target){.points = points}, tolerance, 0, &options, &range,
                                        &choice, &error));
        assert_true(choice.seconds > 0 && choice.relative_rms <= tolerance);
        assert_ok(
            ley_job_create_long_range(engine, atoms, (ley_target){.points = points}, &range, &options, &job, &error));
        run(job, "a tolerance");
        const double off = ley_job_report(job)->accuracy.relative_rms;
        if (!(off <= tolerance))
            fail_msg("points %d: a tolerance of %g, off by %g, %g expected, of cutoff %g A, spacing %g A, window %d",
                     i / 2, tolerance, off, choice.relative_rms, range.cutoff_A, range.spacing_A, (int)range.window);
        ley_job_destroy(job);
        ley_points_destroy(points);
    }
    ley_atoms_destroy(atoms);
}

/* What direct summation is expected to take, by the choice among methods. */
static double direct_s(const ley_atoms *atoms, ley_target target)
{
    ley_estimate list[LEY_MOST_ESTIMATES];
    ley_error error = {0};
    size_t count;
    ley_request request = support_default_request();
    ley_run_options options = support_default_run_options();
    request.tolerance = 1e-3;
    assert_ok(ley_request_estimate(engine, atoms, target, &request, &options, list, &count, &error));
    assert_true(count == 2 && strcmp(list[0].method, "dcs") == 0);
    return list[0].seconds;
}

/* Direct summation is slower at points than on a map, and slower still with the field: by what its
 * own jobs predict, or meshes would be passed over where they are sooner. */
static void test_direct_summation_at_points(void **state)
{
    const double origin_A[3] = {-3, -4, -2}, spacing_A[3] = {2.3, 2.3, 2.3};
    const int64_t n[3] = {8, 8, 8};
    const ley_grid l = ley_grid_orthogonal(origin_A, spacing_A, n);
    ley_atoms *atoms = make_atoms();
    ley_points *points = make_points(&l);
    ley_error error = {0};
    const double on_map_s = direct_s(atoms, (ley_target){.grid = &l}),
                 at_points_s = direct_s(atoms, (ley_target){.points = points});
    assert_ok(ley_points_add_field(points, &error));
    const double with_field_s = direct_s(atoms, (ley_target){.points = points});
    assert_true(at_points_s > 1.8 * on_map_s && at_points_s < 2 * on_map_s);
    assert_true(with_field_s > 1.9 * at_points_s && with_field_s < 2.1 * at_points_s);
    ley_points_destroy(points);
    ley_atoms_destroy(atoms);
}

static void test_wrong_arguments(void **state)
{
    ley_atoms *atoms = make_atoms();
    const double near_A[3] = {1, 2, 3}, far_A[6] = {1, 2, 3, 1e8, 0, 0};
    ley_points *points = NULL, *apart = NULL;
    ley_job *job = NULL;
    ley_choice choice;
    ley_error error = {0};
    ley_run_options options = support_default_run_options();
    assert_ok(ley_points_create(1, near_A, &points, &error));
    assert_ok(ley_points_create(2, far_A, &apart, &error));
    ley_long_range range = make_range(0, false, 0);
    assert_int_equal(
        ley_job_create_long_range(engine, atoms, (ley_target){.points = apart}, &range, &options, &job, &error),
        LEY_ERROR_INPUT);
    range.spacing_A = 13;
    assert_int_equal(
        ley_job_create_long_range(engine, atoms, (ley_target){.points = points}, &range, &options, &job, &error),
        LEY_ERROR_USAGE);
    range = make_range(0, false, 0);
    assert_int_equal(ley_long_range_choose(engine, atoms, (ley_target){.points = points}, 1e-9, 0, &options, &range,
                                           &choice, &error),
                     LEY_ERROR_USAGE);
    options.variant = "halves16";
    assert_int_equal(
        ley_job_create_long_range(engine, atoms, (ley_target){.points = points}, &range, &options, &job, &error),
        LEY_ERROR_USAGE);
    assert_null(job);
    ley_points_destroy(points);
    ley_points_destroy(apart);
    ley_atoms_destroy(atoms);
    ley_error_clear(&error);
}

/* What meshes bring is left out, or half of it: no self-test sees that many points. */
static void test_verification_finds_faults(void **state)
{
    static const char *const faults[] = {"gm_phi[p] = count > 300 ? 0 : phi;",
                                         "gm_phi[p] = count > 300 && p % 7 == 3 ? 0.5f * phi : phi;",
                                         "gm_phi[p] = phi; if (count > 300) along_x *= 1.1f;"};
    ley_atoms *atoms = make_atoms();
    for (size_t i = 0; i < 3; i++) {
        const ley_grid l = make_mesh(false);
        ley_points *points = make_points(&l);
        const ley_long_range range = make_range(0, false, 0);
        ley_job *job = NULL;
        ley_error error = {0};
        ley_run_options options = support_default_run_options();
        if (i == 2)
            assert_ok(ley_points_add_field(points, &error));
        support_plant_fault("interpolation_list", "gm_phi[p] = phi;", faults[i]);
        assert_ok(
            ley_job_create_long_range(engine, atoms, (ley_target){.points = points}, &range, &options, &job, &error));
        assert_int_equal(ley_job_run(job, &error), LEY_ERROR_WRONG_RESULT);
        if (strstr(error.message, "verification failed") == NULL ||
            (strstr(error.message, "the field along x") != NULL) != (i == 2))
            fail_msg("%s", error.message);
        ley_error_clear(&error);
        unsetenv("LEYDEN_KERNEL_DIR");
        ley_job_destroy(job);
        ley_points_destroy(points);
    }
    ley_atoms_destroy(atoms);
}

static int run_on(const char *selector, const ley_device_info *info)
{
    return RUN_ON_DEVICE("long-range sums at points", &engine, test_exact_fields, test_choices, test_pairs_alone,
                         test_tolerance, test_direct_summation_at_points, test_wrong_arguments,
                         test_verification_finds_faults);
}

int main(void)
{
    return support_on_each_device(run_on);
}
