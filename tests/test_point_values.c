/* Direct Coulomb summation at lists of points, on every device of this machine: right at every
 * point wherever the points and the atoms are and whatever r_min is, the same as in a map where a
 * map has the point, and by whatever pieces and order it was computed. */
#include "support.h"

#include "law/dcs.h"
#include "law/reference.h"

static ley_engine *engine; /* of the device under test */

/* ---- Problems -------------------------------------------------------------------------------- */

static double constant_of(const support_options *options)
{
    return ley_coulomb_constant(options->units, options->dielectric, options->temperature_K);
}

/* The largest error, relative to the sum of the absolute terms there. */
static double worst_error(const ley_atoms *atoms, const support_points_job *o, const support_options *options)
{
    double worst = 0;
    for (int64_t i = 0; i < ley_points_count(o->points); i++) {
        const reference_value right =
            reference_dcs(atoms, ley_points_positions_A(o->points) + 3 * i, constant_of(options), options->r_min_A);
        const double off = fabs(ley_points_read_values(o->points)[i] - right.value) / right.absolute;
        worst = !isfinite(off) ? INFINITY : fmax(worst, off);
    }
    return worst;
}

/* By every variant, and by the default one's other sums; at level quick by the default one's sums
 * and one for GPUs. */
static void check(const char *what, const ley_atoms *atoms, size_t n, const double *point_A, double r_min_A)
{
    const size_t variants = (size_t)support_variants("dcs", LEY_TARGET_POINTS);
    assert_true(variants > 0);
    for (size_t i = 0; i < variants + 3; i++) {
        support_options options = support_default_options();
        options.r_min_A = r_min_A;
        options.variant = i < variants ? ley_variant_name("dcs", LEY_TARGET_POINTS, i) : NULL;
        options.sum = i < variants ? LEY_SUM_FLOAT : (ley_sum)(i - variants);
        options.units = LEY_UNITS_VOLT;
        options.dielectric = 4;
        if (support_is_quick() && options.variant != NULL && strcmp(options.variant, "tiled8") != 0)
            continue;
        support_points_job o = support_points_run(engine, atoms, n, point_A, &options, false);
        if (o.status != LEY_ERROR_NO_DEVICE) {
            assert_ok_at(o.status, &o.error, what, __FILE__, __LINE__);
            const double most = options.sum == LEY_SUM_DOUBLE ? 1e-12 : 5e-6, off = worst_error(atoms, &o, &options);
            if (!(off <= most))
                fail_msg("%s, r_min %g, %s, sum %d: off by %g, not %g", what, r_min_A,
                         options.variant != NULL ? options.variant : "default", options.sum, off, most);
            assert_string_equal(ley_points_units(o.points), "V");
            assert_string_equal(ley_job_report(o.job)->method, "dcs");
            assert_true(ley_job_report(o.job)->points == (int64_t)n);
            const ley_accuracy *a = &ley_job_report(o.job)->accuracy;
            assert_true(a->passed && a->tolerance == most && a->max_error <= off * (1 + 1e-9));
        }
        support_points_end(&o);
    }
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* In a molecule, at all distances from atoms and on them; with an r_min that is shorter than what
 * floats resolve, as it is by default, and one that atoms farther away than a group of points is
 * large are within. */
static void test_points_in_a_molecule(void **state)
{
    static const double r_min_A[] = {1e-4, 0.05, 6, 300};
    const size_t n = support_is_quick() ? 400 : 2000;
    ley_atoms *atoms = support_atoms(500, -10, 15, 3);
    double *point_A = support_points_near(atoms, n, 20, 1e-3, 20, 6);
    for (size_t i = 0; i < sizeof r_min_A / sizeof *r_min_A; i++)
        check("points in a molecule", atoms, n, point_A, r_min_A[i]);
    for (size_t axis = 0; axis < 3; axis++)
        point_A[axis] = axis == 1 ? -1e8 : 1e8;
    check("and one far away", atoms, n, point_A, 0.05);
    free(point_A);
    ley_atoms_destroy(atoms);
}

/* One atom, so that no other one's term hides an error, far from the world's origin. */
static void test_one_atom(void **state)
{
    ley_atoms *atoms = support_atoms(1, 30000, 30001, 8);
    double *point_A = support_points_near(atoms, 1000, 20, 1e-3, 300, 9);
    const double charge_e = -0.7;
    ley_atoms *one = support_make_atoms(1, ley_atoms_positions_A(atoms), &charge_e, NULL);
    check("one atom", one, 1000, point_A, 0.05);
    check("one atom", one, 1000, point_A, 1e-3);
    ley_atoms_destroy(one);
    free(point_A);
    ley_atoms_destroy(atoms);
}

/* In pieces of any size the same bytes, as long as groups of points stay whole; sum auto takes
 * doubles where charges cancel. */
static void test_pieces_and_sums(void **state)
{
    ley_error error = {0};
    ley_atoms *atoms = support_atoms(60, 0, 8, 7), *dipole = NULL;
    double *point_A = support_points_near(atoms, 3000, 20, 0.06, 9, 6);
    support_options options = support_default_options();
    support_points_job whole = support_points_run(engine, atoms, 3000, point_A, &options, false);
    assert_ok_at(whole.status, &whole.error, "whole", __FILE__, __LINE__);
    options.slab_planes = 1024;
    support_points_job pieces = support_points_run(engine, atoms, 3000, point_A, &options, false);
    assert_ok_at(pieces.status, &pieces.error, "pieces", __FILE__, __LINE__);
    assert_true(ley_job_report(pieces.job)->slab_count >= 3);
    assert_true(worst_error(atoms, &pieces, &options) <= 5e-6);
    support_points_end(&pieces);
    support_points_end(&whole);

    const double position_A[] = {100, 3.2, -4, 100.0001, 3.2, -4}, charge_e[] = {1, -1};
    assert_ok(ley_atoms_create(2, position_A, charge_e, NULL, &dipole, &error));
    options = support_default_options();
    options.sum = LEY_SUM_AUTO;
    support_points_job o = support_points_run(engine, dipole, 3000, point_A, &options, false);
    assert_ok_at(o.status, &o.error, "auto", __FILE__, __LINE__);
    const ley_report *r = ley_job_report(o.job);
    if (ley_engine_device(engine, 0)->has_double) {
        assert_int_equal(r->sum, LEY_SUM_DOUBLE);
        assert_true(r->float_relative_rms > 1e-5 && r->accuracy.relative_rms < 1e-6);
        assert_true(worst_error(dipole, &o, &options) <= 1e-12);
    }
    support_points_end(&o);
    ley_atoms_destroy(dipole);
    free(point_A);
    ley_atoms_destroy(atoms);
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void test_wrong_arguments(void **state)
{
    ley_error error = {0};
    ley_points *points = NULL;
    ley_job *job = NULL;
    const double bad_A[] = {0, 0, 0, 1, NAN, 2}, far_A[] = {0, -1.1e8, 0}, good_A[] = {1, 2, 3};
    assert_error_is(ley_points_create(0, good_A, &points, &error), LEY_ERROR_INPUT, "no points");
    assert_error(ley_points_create(2, bad_A, &points, &error), LEY_ERROR_INPUT, "point 2: y");
    assert_error(ley_points_create(1, far_A, &points, &error), LEY_ERROR_INPUT, "not within 1e8 A");
    assert_null(points);
    assert_ok(ley_points_create(1, good_A, &points, &error));
    assert_true(isnan(ley_points_read_values(points)[0]) && ley_points_units(points)[0] == '\0');
    assert_memory_equal(ley_points_positions_A(points), good_A, sizeof good_A);
    char path[300];
    snprintf(path, sizeof path, "%s/nothing.csv", support_directory());
    assert_error(ley_points_write_csv(points, path, NULL, NULL, &error), LEY_ERROR_INPUT,
                 "phi is not a number at point 1");

    ley_atoms *atoms = support_atoms(4, 0, 8, 7);
    ley_run_options run = support_default_run_options();
    ley_direct direct = support_default_direct();
    direct.r_min_A = 0;
    assert_int_equal(ley_job_create_direct(engine, atoms, (ley_target){.points = points}, &direct, &run, &job, &error),
                     LEY_ERROR_USAGE);
    ley_direct_default(&direct);
    direct.size = 3;
    assert_int_equal(ley_job_create_direct(engine, atoms, (ley_target){.points = points}, &direct, &run, &job, &error),
                     LEY_ERROR_USAGE);
    ley_direct_default(&direct);
    run.variant = "unroll8"; /* of maps alone */
    assert_int_equal(ley_job_create_direct(engine, atoms, (ley_target){.points = points}, &direct, &run, &job, &error),
                     LEY_ERROR_USAGE);
    run.variant = NULL;
    const ley_decision of_maps[] = {{NULL, "method", "dcs"}, {NULL, "target", "grid"}};
    run.decision_count = 2;
    run.decisions = of_maps;
    assert_int_equal(ley_job_create_direct(engine, atoms, (ley_target){.points = points}, &direct, &run, &job, &error),
                     LEY_ERROR_USAGE);
    assert_int_equal(error.cause, LEY_CAUSE_PLAN);
    assert_null(job);
    ley_points_destroy(points);
    ley_points_destroy(NULL);
    ley_atoms_destroy(atoms);
}

/* None, several, a grid without a map, and what the sum is not made at. */
static void test_wrong_targets(void **state)
{
    const double point_A[3] = {1, 2, 3};
    const ley_grid grid = {.step_A = LEY_STEPS(1, 1, 1), .n = {3, 3, 3}};
    ley_error error = {0};
    ley_points *points = NULL;
    ley_boundary *boundary = NULL;
    ley_job *job = NULL;
    ley_map *map = support_make_map(&grid);
    ley_atoms *atoms = support_atoms(4, 0, 8, 7);
    ley_run_options run = support_default_run_options();
    const ley_direct direct = support_default_direct();
    ley_long_range chosen;
    ley_choice choice;
    ley_long_range_default(&chosen);
    assert_ok(ley_points_create(1, point_A, &points, &error));
    assert_ok(ley_boundary_create(&grid, &boundary, &error));
    const struct {
        ley_target target;
        const char *says;
    } wrong[] = {{{NULL}, "the target is empty"},
                 {{.map = map, .points = points}, "more than one of map, points, boundary and grid"},
                 {{.grid = &grid}, "a grid without a map"},
                 {{.boundary = boundary}, "method dcs does not make values at a target 'boundary'"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_error(ley_job_create_direct(engine, atoms, wrong[i].target, &direct, &run, &job, &error),
                     LEY_ERROR_USAGE, wrong[i].says);
    /* A choice needs no map. */
    assert_ok(ley_long_range_choose(engine, atoms, wrong[2].target, 1e-2, 0, &run, &chosen, &choice, &error));
    assert_error(ley_long_range_choose(engine, atoms, wrong[0].target, 1e-2, 0, &run, &chosen, &choice, &error),
                 LEY_ERROR_USAGE, wrong[0].says);
    assert_null(job);
    ley_points_destroy(points);
    ley_boundary_destroy(boundary);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
    ley_error_clear(&error);
}

static int run_on(const char *selector, const ley_device_info *info)
{
    return RUN_ON_DEVICE("potentials at points", &engine, test_points_in_a_molecule, test_one_atom,
                         test_pieces_and_sums, test_wrong_arguments, test_wrong_targets);
}

int main(void)
{
    return support_on_each_device(run_on);
}
