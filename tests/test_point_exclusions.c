/* Atoms that points of a list exclude, on every device of this machine: potentials and fields of
 * every method, in open space and in cells, are those of a sum in double precision that leaves the
 * nearest image of these atoms out, and are judged by it. And which atoms are at the points. */

#include "support.h"

#include "laws/pairs.h"
#include "numerics/lattice_sum.h"
#include "short_job.h"
#include "target/points.h"

static ley_engine *engine; /* of the device under test */

enum { ATOMS = 48, POINTS = ATOMS + 12, RESIDUE = 6 };
static const double edge_A = 14, r_min_A = 0.05;

/* ---- A problem ------------------------------------------------------------------------------- */

typedef struct problem {
    ley_atoms *atoms;
    double point_A[POINTS][3];
    int64_t first[POINTS + 1], excluded[POINTS * RESIDUE];
    bool periodic[3];
    double cell_A[3][3], kappa_per_A;
    cell cell;
} problem;

/* Points on the atoms, of which some are images and a hair away, and between them. Atoms exclude
 * themselves, or all of their residue; of the others every second one excludes an atom that is not
 * there. */
static problem *make_problem(const char *periodic, bool oblique, double kappa_per_A)
{
    problem *p = calloc(1, sizeof *p);
    double position_A[ATOMS][3], charge_e[ATOMS], radius_A[ATOMS];
    unsigned seed = 11;
    int64_t n = 0;
    ley_error error = {0};
    assert_non_null(p);
    p->kappa_per_A = kappa_per_A;
    for (int axis = 0; axis < 3; axis++) {
        p->periodic[axis] = strchr(periodic, 'x' + axis) != NULL;
        p->cell_A[axis][axis] = edge_A;
    }
    p->cell_A[1][0] = oblique ? 0.4 * edge_A : 0;
    assert_ok(cell_make(p->periodic, (const double(*)[3])p->cell_A, &p->cell, &error));
    for (int i = 0; i < ATOMS; i++) {
        for (int axis = 0; axis < 3; axis++)
            position_A[i][axis] = edge_A * (rand_r(&seed) / (RAND_MAX + 1.0));
        charge_e[i] = i % 2 == 0 ? 0.6 : -0.6;
        radius_A[i] = 1.5;
    }
    position_A[3][0] = position_A[3][1] = position_A[3][2] = 0; /* at a corner of the cell */
    assert_ok(ley_atoms_create(ATOMS, position_A[0], charge_e, radius_A, &p->atoms, &error));
    for (int i = 0; i < POINTS; i++) {
        p->first[i] = n;
        for (int axis = 0; axis < 3; axis++)
            p->point_A[i][axis] = i < ATOMS ? position_A[i][axis] : edge_A * (rand_r(&seed) / (RAND_MAX + 1.0));
        p->point_A[i][0] += i < ATOMS && i % 3 == 1 ? 0.004 : 0;
        for (int k = 0; k < 3; k++)
            for (int axis = 0; i % 5 == 2 && p->periodic[k] && axis < 3; axis++)
                p->point_A[i][axis] -= (2 - k) * p->cell_A[k][axis];
        if (i >= ATOMS && i % 2 == 0)
            p->excluded[n++] = i % ATOMS;
        if (i < ATOMS && i % 4 != 0)
            p->excluded[n++] = i;
        for (int k = 0; i < ATOMS && i % 4 == 0 && k < RESIDUE; k++) /* in any order */
            p->excluded[n++] = i / RESIDUE * RESIDUE + RESIDUE - 1 - k;
    }
    p->first[POINTS] = n;
    return p;
}

static void end_problem(problem *p)
{
    ley_atoms_destroy(p->atoms);
    free(p);
}

static bool excludes(const problem *p, int i, int64_t atom)
{
    for (int64_t k = p->first[i]; k < p->first[i + 1]; k++)
        if (p->excluded[k] == atom)
            return true;
    return false;
}

/* ---- Right values, by brute force ------------------------------------------------------------ */

/* What an atom does: with a pair function within the cutoff, or without any, screened. */
typedef struct law {
    const ley_short_range *range; /* NULL: Coulomb's, screened */
    double kappa_per_A;
} law;

static double value_of(const law *l, double q_e, double r_A)
{
    const double safe_A = fmax(r_A, l->range != NULL ? l->range->r_min_A : r_min_A);
    if (l->range == NULL)
        return q_e * exp(-l->kappa_per_A * safe_A) / safe_A;
    return r_A < l->range->cutoff_A
               ? ley_pair_term((int)l->range->pair, safe_A, l->range->cutoff_A, q_e, 1.5 + l->range->probe_radius_A,
                               sqrt(l->range->depth_for_all_kcal_mol * l->range->probe_depth_kcal_mol),
                               l->range->kappa_per_A)
                     .value
               : 0;
}

/* By differences. */
static void add_field(const law *l, double q_e, const double way_A[3], double factor, double field[3])
{
    const double r_A = cell_length(way_A), h_A = 1e-5,
                 slope = (value_of(l, q_e, r_A + h_A) - value_of(l, q_e, r_A - h_A)) / (2 * h_A);
    const double least_A = l->range != NULL ? l->range->r_min_A : r_min_A;
    for (int axis = 0; axis < 3 && r_A >= least_A; axis++)
        field[axis] -= factor * slope * way_A[axis] / r_A;
}

/* Images as far as these are counted one by one. */
enum { FAR = 3 };

static double nearest_of(const problem *p, const double x_A[3], double way_A[3])
{
    double least_A = INFINITY;
    for (int i = -FAR * p->periodic[0]; i <= FAR * p->periodic[0]; i++)
        for (int k = -FAR * p->periodic[1]; k <= FAR * p->periodic[1]; k++)
            for (int l = -FAR * p->periodic[2]; l <= FAR * p->periodic[2]; l++) {
                double image_A[3];
                for (int axis = 0; axis < 3; axis++)
                    image_A[axis] =
                        x_A[axis] - i * p->cell_A[0][axis] - k * p->cell_A[1][axis] - l * p->cell_A[2][axis];
                if (cell_length(image_A) < least_A) {
                    least_A = cell_length(image_A);
                    memcpy(way_A, image_A, sizeof image_A);
                }
            }
    return least_A;
}

typedef struct image_sum {
    const law *law;
    double q_e, value, absolute, skipped_A, *field;
} image_sum;

static void add_image(void *context, const double image_A[3])
{
    image_sum *s = context;
    const double r_A = cell_length(image_A);
    if (fabs(r_A - s->skipped_A) < 1e-9) { /* this one, once */
        s->skipped_A = -1;
        return;
    }
    s->value += value_of(s->law, s->q_e, r_A);
    s->absolute += fabs(value_of(s->law, s->q_e, r_A));
    add_field(s->law, s->q_e, image_A, 1, s->field);
}

/* Pairs one by one; `absolute`: of what counts. */
static double sum_of_pairs(const problem *p, const law *l, int i, double reach_A, double *absolute, double field[3])
{
    double value = 0;
    *absolute = 0;
    for (int j = 0; j < ATOMS; j++) {
        double x_A[3], way_A[3];
        for (int axis = 0; axis < 3; axis++)
            x_A[axis] = p->point_A[i][axis] - ley_atoms_positions_A(p->atoms)[3 * j + axis];
        const double nearest_A = nearest_of(p, x_A, way_A);
        image_sum s = {.law = l,
                       .q_e = ley_atoms_charges_e(p->atoms)[j],
                       .skipped_A = excludes(p, i, j) ? nearest_A : -1,
                       .field = field};
        cell_images(&p->cell, x_A, reach_A, add_image, &s);
        value += s.value;
        *absolute += s.absolute;
    }
    return value;
}

/* The exact sum over all images, less the terms of the excluded ones; the field by differences. */
static double sum_of_all(const problem *p, const lattice_sum *all, const law *l, int i, double field[3])
{
    double value = lattice_sum_at(all, p->point_A[i]), sharp[3] = {0};
    for (int j = 0; j < ATOMS; j++) {
        double x_A[3], way_A[3];
        for (int axis = 0; axis < 3; axis++)
            x_A[axis] = p->point_A[i][axis] - ley_atoms_positions_A(p->atoms)[3 * j + axis];
        const double r_A = nearest_of(p, x_A, way_A), q_e = ley_atoms_charges_e(p->atoms)[j];
        if (excludes(p, i, j)) {
            value -= value_of(l, q_e, r_A);
            add_field(l, q_e, way_A, -1, sharp);
        }
    }
    const double h_A = 1e-4;
    for (int axis = 0; axis < 3; axis++) {
        double low_A[3], high_A[3];
        memcpy(low_A, p->point_A[i], sizeof low_A);
        memcpy(high_A, p->point_A[i], sizeof high_A);
        low_A[axis] -= h_A;
        high_A[axis] += h_A;
        field[axis] = sharp[axis] - (lattice_sum_at(all, high_A) - lattice_sum_at(all, low_A)) / (2 * h_A);
    }
    return value;
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static ley_points *points_of(const problem *p)
{
    ley_error error = {0};
    ley_points *points = support_make_points(POINTS, p->point_A[0]);
    assert_ok(ley_points_add_field(points, &error));
    assert_ok(ley_points_exclude(points, p->first, p->excluded, &error));
    return points;
}

/* Judged by the same law: every point, values and field. */
static bool run(ley_job *job, const char *what)
{
    ley_error error = {0};
    const ley_status status = ley_job_run(job, &error);
    const ley_report *report = ley_job_report(job);
    if (status == LEY_ERROR_NO_DEVICE) {
        ley_error_clear(&error);
        return false;
    }
    assert_ok_at(status, &error, what, __FILE__, __LINE__);
    assert_int_equal(report->accuracy.points, POINTS);
    assert_true(report->accuracy.passed && report->field_accuracy.passed);
    return true;
}

static ley_run_options run_options(ley_sum sum)
{
    ley_run_options o = support_default_run_options();
    o.sum = sum;
    o.verify_least = POINTS;
    return o;
}

static void compare(const char *what, const ley_points *points, int i, double right, double allowed,
                    const double field[3], double field_allowed)
{
    const double v = ley_points_read_values(points)[i], *e = ley_points_read_field(points) + 3 * i;
    if (!(fabs(v - right) <= allowed))
        fail_msg("%s, point %d: %.12g, right is %.12g: off by %.3g, %.3g is allowed", what, i, v, right, v - right,
                 allowed);
    for (int axis = 0; axis < 3; axis++)
        if (!(fabs(e[axis] - field[axis]) <= field_allowed))
            fail_msg("%s, point %d: the field along %c is %.12g, right is %.12g", what, i, 'x' + axis, e[axis],
                     field[axis]);
}

static void test_direct(void **state)
{
    problem *p = make_problem("", false, 0);
    const law l = {.kappa_per_A = 0};
    ley_direct direct = support_default_direct();
    const double C = ley_coulomb_constant(direct.units, direct.dielectric, direct.temperature_K);
    for (int sum = LEY_SUM_FLOAT; sum <= LEY_SUM_COMPENSATED; sum++) {
        const ley_run_options options = run_options((ley_sum)sum);
        ley_points *points = points_of(p);
        ley_job *job = NULL;
        ley_error error = {0};
        assert_ok(
            ley_job_create_direct(engine, p->atoms, (ley_target){.points = points}, &direct, &options, &job, &error));
        const bool has_run = run(job, "direct");
        for (int i = 0; has_run && i < POINTS; i++) {
            double field[3] = {0}, absolute;
            const double right = sum_of_pairs(p, &l, i, 1e6, &absolute, field);
            const bool is_exact = p->first[i + 1] > p->first[i];
            for (int axis = 0; axis < 3; axis++)
                field[axis] *= C;
            compare("direct", points, i, C * right, C * absolute * (is_exact ? 1e-12 : 5e-6), field, 1e-3 * C);
        }
        ley_job_destroy(job);
        ley_points_destroy(points);
    }
    end_problem(p);
}

/* Every kind of pair function; Lennard-Jones' own term would be 1e18 of all others. */
static void test_pairs(void **state)
{
    static const ley_pair pairs[] = {LEY_PAIR_COULOMB, LEY_PAIR_TAYLOR3, LEY_PAIR_YUKAWA, LEY_PAIR_LENNARD_JONES};
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        problem *p = make_problem(k % 2 == 0 ? "xyz" : k == 1 ? "" : "xz", k == 0, 0);
        support_options o = support_short_range(pairs[k], 9);
        ley_short_range range = support_range(&o);
        ley_points *points = points_of(p);
        ley_job *job = NULL;
        ley_error error = {0};
        memcpy(range.periodic, p->periodic, sizeof range.periodic);
        memcpy(range.cell_A, p->cell_A, sizeof range.cell_A);
        range.depth_kcal_mol = NULL;
        range.depth_for_all_kcal_mol = 0.2;
        const law l = {.range = &range};
        const double C = ley_pair_get(range.pair)->is_energy
                             ? 1
                             : ley_coulomb_constant(range.units, range.dielectric, range.temperature_K);
        const ley_run_options options = run_options(LEY_SUM_FLOAT);
        assert_ok(ley_job_create_short_range(engine, p->atoms, (ley_target){.points = points}, &range, &options, &job,
                                             &error));
        const bool has_run = run(job, ley_pair_get(pairs[k])->name);
        for (int i = 0; has_run && i < POINTS; i++) {
            double field[3] = {0}, absolute;
            const double right = sum_of_pairs(p, &l, i, range.cutoff_A, &absolute, field);
            double largest = 0;
            for (int axis = 0; axis < 3; axis++)
                largest = fmax(largest, fabs(field[axis] *= C));
            compare(ley_pair_get(pairs[k])->name, points, i, C * right, 5e-6 * C * absolute, field,
                    1e-3 * (C * absolute + largest));
        }
        ley_job_destroy(job);
        ley_points_destroy(points);
        end_problem(p);
    }
}

static void check_meshes(const char *periodic, bool oblique, double kappa_per_A, ley_solver solver)
{
    problem *p = make_problem(periodic, oblique, kappa_per_A);
    const law l = {.kappa_per_A = kappa_per_A};
    ley_error error = {0};
    lattice_sum *all = NULL;
    ley_points *points = points_of(p);
    ley_job *job = NULL;
    ley_long_range range = support_default_long_range();
    range.solver = solver;
    if (solver == LEY_SOLVER_FOURIER)
        range.window = LEY_WINDOW_BSPLINE6;
    range.kappa_per_A = kappa_per_A;
    range.r_min_A = r_min_A;
    range.cutoff_A = 8;
    range.spacing_A = 1;
    memcpy(range.periodic, p->periodic, sizeof range.periodic);
    memcpy(range.cell_A, p->cell_A, sizeof range.cell_A);
    const lattice_sum_options of = {.cell = p->cell, .kappa_per_A = kappa_per_A, .r_min_A = r_min_A};
    assert_ok(
        lattice_sum_create(&of, ATOMS, ley_atoms_positions_A(p->atoms), ley_atoms_charges_e(p->atoms), &all, &error));
    const ley_run_options options = run_options(LEY_SUM_FLOAT);
    assert_ok(
        ley_job_create_long_range(engine, p->atoms, (ley_target){.points = points}, &range, &options, &job, &error));
    const double C = ley_coulomb_constant(range.units, range.dielectric, range.temperature_K);
    const bool has_run = run(job, periodic);
    for (int i = 0; has_run && i < POINTS; i++) {
        double field[3] = {0};
        const double right = sum_of_all(p, all, &l, i, field);
        for (int axis = 0; axis < 3; axis++)
            field[axis] *= C;
        compare(periodic, points, i, C * right, 2e-4 * C * 0.6, field, 2e-3 * C * 0.6 + 1e-4 * C * fabs(right));
    }
    lattice_sum_destroy(all);
    ley_job_destroy(job);
    ley_points_destroy(points);
    end_problem(p);
}

static void test_meshes(void **state)
{
    check_meshes("", false, 0, LEY_SOLVER_MULTILEVEL);
    check_meshes("", false, 0.2, LEY_SOLVER_MULTILEVEL);
    check_meshes("xyz", true, 0, LEY_SOLVER_FOURIER);
    check_meshes("xyz", false, 0.1, LEY_SOLVER_FOURIER);
    check_meshes("xy", false, 0, LEY_SOLVER_MULTILEVEL);
    check_meshes("z", false, 0, LEY_SOLVER_MULTILEVEL);
}

/* What rounding leaves of excluded terms is no value: a device whose meshes have nothing to say of
 * charges that are screened so strongly makes 0, and is right. */
static void test_nothing_left(void **state)
{
    static const double position_A[3][3] = {{1, 1, 1}, {6, 1, 1}, {7, 5, 2}}, charge_e[3] = {1, -1, 0},
                        radius_A[3] = {1.5, 1.5, 1.5}, at_A[3][3] = {{1, 1, 1.005}, {3.5, 1, 1}, {1, 1, 1.03}};
    static const int64_t first[4] = {0, 2, 4, 6}, excluded[6] = {0, 1, 0, 1, 0, 1};
    for (int axes = 0; axes <= 3; axes++)
        for (double kappa_per_A = 1; kappa_per_A < 200; kappa_per_A *= 10) {
            ley_error error = {0};
            ley_atoms *atoms = support_make_atoms(3, position_A[0], charge_e, radius_A);
            ley_points *points = support_make_points(3, at_A[0]);
            ley_job *job = NULL;
            ley_long_range range = support_default_long_range();
            assert_ok(ley_points_add_field(points, &error));
            assert_ok(ley_points_exclude(points, first, excluded, &error));
            range.kappa_per_A = kappa_per_A;
            range.cutoff_A = 5;
            range.spacing_A = 1;
            for (int axis = 0; axis < 3; axis++) {
                range.periodic[axis] = axis < axes;
                range.cell_A[axis][axis] = 12;
            }
            const ley_run_options options = run_options(LEY_SUM_FLOAT);
            assert_ok(ley_job_create_long_range(engine, atoms, (ley_target){.points = points}, &range, &options, &job,
                                                &error));
            assert_ok(ley_job_run(job, &error));
            ley_job_destroy(job);
            ley_points_destroy(points);
            ley_atoms_destroy(atoms);
        }
}

/* ---- What is at the points ------------------------------------------------------------------- */

static void test_own(void **state)
{
    problem *p = make_problem("xyz", true, 0);
    ley_error error = {0};
    int64_t count, point, atom, group[ATOMS], none[POINTS + 1] = {0};
    const double(*cell_A)[3] = (const double(*)[3])p->cell_A;
    ley_points *points = support_make_points(POINTS, p->point_A[0]);
    assert_ok(ley_points_on_charges(points, p->atoms, p->periodic, cell_A, &count, &point, &atom, &error));
    assert_int_equal(count, ATOMS);
    assert_int_equal(point, 0);
    assert_int_equal(atom, 0);
    assert_ok(ley_points_on_charges(points, p->atoms, NULL, NULL, &count, NULL, NULL, &error));
    assert_int_equal(count, ATOMS - (ATOMS + 2) / 5); /* images are none of open space */
    assert_ok(ley_points_exclude_own(points, p->atoms, NULL, p->periodic, cell_A, &error));
    for (int i = 0; i < POINTS; i++) {
        size_t n;
        const int64_t *list = points_excluded(points, i, &n);
        assert_int_equal(n, i < ATOMS);
        assert_true(n == 0 || list[0] == i);
    }
    assert_ok(ley_points_on_charges(points, p->atoms, p->periodic, cell_A, &count, &point, &atom, &error));
    assert_int_equal(count, 0);
    assert_int_equal(point, -1);
    for (int j = 0; j < ATOMS; j++)
        group[j] = 100 - j / RESIDUE;
    assert_ok(ley_points_exclude_own(points, p->atoms, group, p->periodic, cell_A, &error));
    for (int i = 0; i < ATOMS; i++) {
        size_t n;
        const int64_t *list = points_excluded(points, i, &n);
        assert_int_equal(n, RESIDUE);
        for (int k = 0; k < RESIDUE; k++)
            assert_int_equal(list[k], i / RESIDUE * RESIDUE + k);
    }
    assert_ok(ley_points_exclude(points, none, NULL, &error)); /* none again */
    assert_ok(ley_points_on_charges(points, p->atoms, p->periodic, cell_A, &count, &point, &atom, &error));
    assert_int_equal(count, ATOMS);
    ley_points_destroy(points);
    end_problem(p);
}

static void test_errors(void **state)
{
    problem *p = make_problem("", false, 0);
    ley_error error = {0};
    ley_job *job = NULL;
    ley_direct direct = support_default_direct();
    const int64_t backwards[3] = {0, 2, 1}, first[3] = {0, 1, 2}, negative[2] = {0, -1}, beyond[2] = {0, ATOMS};
    ley_points *points = support_make_points(2, p->point_A[0]);
    assert_error(ley_points_exclude(points, backwards, first, &error), LEY_ERROR_INPUT,
                 "point 1, counted from 0, is from 2 to before 1");
    ley_error_clear(&error);
    assert_error(ley_points_exclude(points, first, negative, &error), LEY_ERROR_INPUT,
                 "point 1 excludes atom -1, both counted from 0");
    ley_error_clear(&error);
    assert_ok(ley_points_exclude(points, first, beyond, &error));
    assert_int_equal(
        ley_job_create_direct(engine, p->atoms, (ley_target){.points = points}, &direct, NULL, &job, &error),
        LEY_ERROR_INPUT);
    assert_non_null(strstr(error.message, "point 1 excludes atom 48, both counted from 0, and there are 48 atoms"));
    ley_error_clear(&error);
    ley_points_destroy(points);
    end_problem(p);
}

static int run_on(const char *selector, const ley_device_info *info)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_own),    cmocka_unit_test(test_errors),
                                       cmocka_unit_test(test_direct), cmocka_unit_test(test_pairs),
                                       cmocka_unit_test(test_meshes), cmocka_unit_test(test_nothing_left)};
    if (!support_open(selector, info->name, &engine))
        return 0;
    const int failed = cmocka_run_group_tests_name(info->name, tests, NULL, NULL);
    ley_engine_destroy(engine);
    return failed;
}

int main(void)
{
    return support_on_each_device(run_on);
}
