/* Small jobs that the host does alone: their values by brute force, what is said of them, that no
 * driver is loaded and nothing is built, and when devices are asked all the same. */
#include "support.h"

#include "law/second.h"

#include <ftw.h>
#include <unistd.h>

#include "leyden_points.h"

enum { ATOMS = 40, POINTS = 30 };

static const double position_A[2][3] = {{1, 2, 3}, {4, 2.5, 1}}, charge_e[2] = {1, -0.5}, radius_A[2] = {1.5, 2};

/* Whether the process has a library mapped whose name has this in it. */
static bool is_mapped(const char *name)
{
    char line[4096];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps) != NULL)
        found = found || strstr(line, name) != NULL;
    fclose(maps);
    return found;
}

static void run(ley_job *job)
{
    ley_error error = {0};
    assert_ok(ley_job_run(job, &error));
    const ley_report *r = ley_job_report(job);
    assert_non_null(r->host);
    assert_non_null(r->host_check);
    assert_int_equal(r->device_count, 0);
    assert_int_equal(r->decision_count, 3);
    assert_string_equal(r->decisions[0].value, r->method);
    assert_string_equal(r->decisions[2].name, "computed_by");
    assert_int_equal(r->sum, LEY_SUM_DOUBLE);
    assert_true(r->accuracy.points > 0 && r->accuracy.passed && r->accuracy.compared > 0);
    /* That of two ways, not of one with itself: the last digits differ somewhere. */
    assert_true(r->accuracy.max_error < 1e-6);
}

static ley_atoms *two_atoms(void)
{
    return support_make_atoms(2, position_A[0], charge_e, radius_A);
}

static const ley_run_options *usual(void)
{
    static ley_run_options options;
    ley_run_options_default(&options);
    return &options;
}

static const ley_run_options *by_host(void)
{
    static ley_run_options options;
    ley_run_options_default(&options);
    options.by_host = true;
    return &options;
}

static double constant_of(ley_units units)
{
    return ley_coulomb_constant(units, 1, 298.15);
}

/* ---- Direct sums ----------------------------------------------------------------------------- */

static void test_direct_points(void **state)
{
    ley_error error = {0};
    ley_atoms *atoms = support_atoms(ATOMS, 0, 10, 5);
    double point_A[POINTS][3];
    for (int i = 0; i < POINTS; i++)
        for (int axis = 0; axis < 3; axis++)
            point_A[i][axis] = i == 0 ? ley_atoms_positions_A(atoms)[3 * 7 + axis] : 3 + 0.37 * i - 1.1 * axis;
    ley_points *points = support_make_points(POINTS, point_A[0]);
    assert_ok(ley_points_add_field(points, &error));
    assert_ok(ley_points_exclude_own(points, atoms, NULL, NULL, NULL, &error));
    ley_direct direct = support_default_direct();
    ley_job *job;
    assert_ok(ley_job_create_direct(NULL, atoms, (ley_target){.points = points}, &direct, usual(), &job, &error));
    run(job);
    assert_string_equal(ley_job_report(job)->host, "direct summation");
    assert_true(ley_job_report(job)->field_accuracy.points > POINTS / 2);
    assert_true(ley_job_report(job)->field_accuracy.passed);
    for (int i = 0; i < POINTS; i++) {
        double right = 0, field[3] = {0};
        for (int j = 0; j < ATOMS; j++) {
            const double *atom_A = ley_atoms_positions_A(atoms) + 3 * j;
            const double way_A[3] = {point_A[i][0] - atom_A[0], point_A[i][1] - atom_A[1], point_A[i][2] - atom_A[2]};
            const double r_A = sqrt(way_A[0] * way_A[0] + way_A[1] * way_A[1] + way_A[2] * way_A[2]);
            if (r_A <= LEY_OWN_A)
                continue;
            right += ley_atoms_charges_e(atoms)[j] / r_A;
            for (int axis = 0; axis < 3; axis++)
                field[axis] += ley_atoms_charges_e(atoms)[j] * way_A[axis] / (r_A * r_A * r_A);
        }
        const double constant = constant_of(LEY_UNITS_KT_E);
        assert_true(fabs(ley_points_values(points)[i] - constant * right) < 1e-9 * constant);
        for (int axis = 0; axis < 3; axis++)
            assert_true(fabs(ley_points_field(points)[3 * i + axis] - constant * field[axis]) < 1e-9 * constant);
    }
    assert_string_equal(ley_points_units(points), "kT/e");
    ley_job_destroy(job);
    ley_points_destroy(points);
    ley_atoms_destroy(atoms);
}

static void test_direct_map(void **state)
{
    ley_error error = {0};
    ley_atoms *atoms = two_atoms();
    const ley_grid grid = {.origin_A = {-2, 0.1, -1}, .step_A = LEY_STEPS(0.7, 0.9, 1.1), .n = {7, 5, 6}};
    ley_map *map = support_make_map(&grid);
    ley_direct direct = support_default_direct();
    direct.units = LEY_UNITS_VOLT;
    ley_run_options options = support_default_run_options();
    support_watch watch = {.done = 0};
    options.progress = support_note_progress;
    options.progress_context = &watch;
    ley_job *job;
    assert_ok(ley_job_create_direct(NULL, atoms, (ley_target){.map = map}, &direct, &options, &job, &error));
    const ley_forecast *forecast;
    assert_ok(ley_job_forecast(job, &forecast, &error));
    assert_string_equal(forecast->host, "direct summation");
    assert_int_equal(forecast->device_count, 0);
    assert_int_equal(forecast->host_step_count, 1);
    assert_true(forecast->total_s > 0 && forecast->total_s < 0.1 && forecast->host_bytes >= 7 * 5 * 6 * sizeof(float));
    assert_string_equal(forecast->decisions[2].name, "computed_by");
    ley_job_destroy(job);
    assert_ok(ley_job_create_direct(NULL, atoms, (ley_target){.map = map}, &direct, &options, &job, &error));
    run(job);
    assert_int_equal(watch.done, 7 * 5 * 6);
    for (int64_t i = 0; i < 7 * 5 * 6; i++) {
        double place_A[3], right = 0;
        ley_grid_point_A(&grid, (const int64_t[]){i % 7, i / 7 % 5, i / 35}, place_A);
        for (int j = 0; j < 2; j++)
            right += charge_e[j] / sqrt(pow(place_A[0] - position_A[j][0], 2) + pow(place_A[1] - position_A[j][1], 2) +
                                        pow(place_A[2] - position_A[j][2], 2));
        right *= constant_of(LEY_UNITS_VOLT);
        assert_true(fabs((double)ley_map_read_values(map)[i] - right) <= 1e-6 * fabs(right) + 1e-7);
    }
    assert_string_equal(ley_map_units(map), "V");
    ley_job_destroy(job);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
}

/* As many as are asked for, where that takes no time. */
static void test_how_many_are_verified(void **state)
{
    ley_error error = {0};
    ley_atoms *atoms = two_atoms();
    const ley_grid grid = {.origin_A = {-2, 0.1, -1}, .step_A = LEY_STEPS(0.7, 0.9, 1.1), .n = {30, 30, 30}};
    ley_map *map = support_make_map(&grid);
    ley_direct direct = support_default_direct();
    ley_run_options options = support_default_run_options();
    static const size_t wanted[] = {1, 777, 5000, 27000, 100000};
    for (int i = 0; i < 5; i++) {
        ley_job *job;
        options.verify_points = wanted[i];
        assert_ok(ley_job_create_direct(NULL, atoms, (ley_target){.map = map}, &direct, &options, &job, &error));
        run(job);
        assert_int_equal(ley_job_report(job)->accuracy.points, wanted[i] < 27000 ? wanted[i] : 27000);
        ley_job_destroy(job);
    }
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
}

static void test_boundary(void **state)
{
    ley_error error = {0};
    ley_atoms *atoms = two_atoms();
    const double point_A[2][3] = {{10, 1, 2}, {-6, 3, 9}};
    const ley_ion ions[2] = {{.concentration_M = 0.1, .charge_e = 1, .radius_A = 2},
                             {.concentration_M = 0.1, .charge_e = -1, .radius_A = 2}};
    const ley_solvent solvent = {
        .dielectric = 78.54, .solute_dielectric = 2, .temperature_K = 298.15, .ion_count = 2, .ions = ions};
    ley_boundary *boundary;
    ley_job *job;
    assert_ok(ley_boundary_create_points(2, point_A[0], &boundary, &error));
    assert_ok(
        ley_job_create_boundary(NULL, atoms, (ley_target){.boundary = boundary}, &solvent, usual(), &job, &error));
    run(job);
    const double kappa = ley_screening_per_A(&solvent);
    for (int i = 0; i < 2; i++) {
        double right = 0;
        for (int j = 0; j < 2; j++) {
            const double d_A =
                sqrt(pow(point_A[i][0] - position_A[j][0], 2) + pow(point_A[i][1] - position_A[j][1], 2) +
                     pow(point_A[i][2] - position_A[j][2], 2));
            right += charge_e[j] / d_A * exp(-kappa * (d_A - radius_A[j])) / (1 + kappa * radius_A[j]);
        }
        right *= ley_solvent_coulomb_constant(&solvent) / solvent.dielectric;
        assert_true(fabs(ley_boundary_read_values(boundary)[i] - right) < 1e-10 * fabs(right));
    }
    ley_job_destroy(job);
    ley_boundary_destroy(boundary);
    ley_atoms_destroy(atoms);
}

/* ---- Images ---------------------------------------------------------------------------------- */

static void test_cutoff(void **state)
{
    ley_error error = {0};
    ley_atoms *atoms = two_atoms();
    const double point_A[2][3] = {{1, 1, 1}, {1, 2, 3}}, cutoff_A = 6, edge_A = 5;
    const int64_t first[3] = {0, 0, 1}, excluded[1] = {0};
    ley_points *points = support_make_points(2, point_A[0]);
    assert_ok(ley_points_exclude(points, first, excluded, &error));
    ley_short_range range = support_default_short_range();
    range.pair = LEY_PAIR_SHIFTED;
    range.cutoff_A = cutoff_A;
    for (int axis = 0; axis < 3; axis++) {
        range.periodic[axis] = axis < 2;
        range.cell_A[axis][axis] = edge_A;
    }
    ley_job *job;
    assert_ok(ley_job_create_short_range(NULL, atoms, (ley_target){.points = points}, &range, usual(), &job, &error));
    run(job);
    for (int i = 0; i < 2; i++) {
        double right = 0;
        for (int j = 0; j < 2; j++)
            for (int a = -4; a <= 4; a++)
                for (int b = -4; b <= 4; b++) {
                    const double r_A = sqrt(pow(point_A[i][0] - position_A[j][0] - a * edge_A, 2) +
                                            pow(point_A[i][1] - position_A[j][1] - b * edge_A, 2) +
                                            pow(point_A[i][2] - position_A[j][2], 2)),
                                 share = r_A / cutoff_A;
                    if (r_A < cutoff_A && !(i == 1 && j == 0 && a == 0 && b == 0))
                        right += charge_e[j] / r_A * pow(1 - share * share, 2);
                }
        right *= constant_of(LEY_UNITS_KT_E);
        assert_true(fabs(ley_points_values(points)[i] - right) < 1e-9 * fabs(right));
    }
    ley_job_destroy(job);
    ley_points_destroy(points);
    ley_atoms_destroy(atoms);
}

/* At an ion of a crystal, but for its own potential: Madelung's constant over the distance. */
static void test_crystal(void **state)
{
    const support_crystal *salt = &support_crystals[0];
    const double edge_A = 5.64;
    double at_A[8][3], q_e[8], none_A[8] = {0};
    for (int i = 0; i < salt->ions; i++) {
        q_e[i] = i < salt->ions / 2 ? 1 : -1;
        for (int axis = 0; axis < 3; axis++)
            at_A[i][axis] = edge_A * salt->quarter[i][axis] / SUPPORT_QUARTERS;
    }
    ley_error error = {0};
    ley_atoms *atoms = support_make_atoms((size_t)salt->ions, at_A[0], q_e, none_A);
    ley_long_range range = support_default_long_range();
    for (int axis = 0; axis < 3; axis++) {
        range.periodic[axis] = true;
        range.cell_A[axis][axis] = edge_A;
    }
    ley_points *points = support_make_points(salt->ions, at_A[0]);
    assert_ok(ley_points_add_field(points, &error));
    assert_ok(ley_points_exclude_own(points, atoms, NULL, range.periodic, (const double(*)[3])range.cell_A, &error));
    ley_job *job;
    assert_ok(ley_job_create_long_range(NULL, atoms, (ley_target){.points = points}, &range, usual(), &job, &error));
    run(job);
    assert_string_equal(ley_job_report(job)->host, "Ewald's summation");
    const double right = -constant_of(LEY_UNITS_KT_E) * salt->constant / (edge_A * salt->nearest / salt->edge);
    for (int i = 0; i < salt->ions; i++) {
        assert_true(fabs(ley_points_values(points)[i] - q_e[i] * right) < 1e-8 * fabs(right));
        for (int axis = 0; axis < 3; axis++)
            assert_true(fabs(ley_points_field(points)[3 * i + axis]) < 1e-7 * fabs(right));
    }
    ley_job_destroy(job);
    ley_points_destroy(points);
    ley_atoms_destroy(atoms);
}

/* Far above a layer whose charges are screened, the potential is a ten-millionth of what they would
 * make unscreened: doubles have few digits of it, and the report says what the tolerance is a share
 * of. Near the layer that is the values. */
static void test_floor(void **state)
{
    enum { PLACES = 3 };
    static const double ion_A[3] = {5.478, 9.421, 1.894}, charge = 0.386, radius = 1.5, edge_A[3] = {6.838, 22.84, 20};
    for (int far = 0; far < 2; far++) {
        double point_A[PLACES][3];
        for (int i = 0; i < PLACES; i++)
            for (int axis = 0; axis < 3; axis++)
                point_A[i][axis] = axis < 2 ? 4.185 + i : far ? 60 + i : 5 + i;
        ley_error error = {0};
        ley_atoms *atoms = support_make_atoms(1, ion_A, &charge, &radius);
        ley_points *points = support_make_points(PLACES, point_A[0]);
        ley_long_range range = support_default_long_range();
        range.kappa_per_A = 0.439;
        for (int axis = 0; axis < 3; axis++) {
            range.periodic[axis] = axis < 2;
            range.cell_A[axis][axis] = edge_A[axis];
        }
        ley_run_options options = *usual();
        options.tolerance = 1e-6;
        ley_job *job;
        assert_ok(
            ley_job_create_long_range(NULL, atoms, (ley_target){.points = points}, &range, &options, &job, &error));
        run(job);
        const ley_report *r = ley_job_report(job);
        assert_true(r->tolerance_share <= 1);
        assert_true((r->accuracy.relative_rms > options.tolerance) == (far > 0));
        assert_true((r->tolerance_floor > 0) == (far > 0));
        ley_job_destroy(job);
        ley_points_destroy(points);
        ley_atoms_destroy(atoms);
    }
}

/* A single ion's field next to itself, by its images and the background alone, whose potential is
 * 2 pi / (3 V) r^2 by symmetry: (4 pi / 3 V) r, towards the ion. */
/* Screened sums in open space need no meshes, however far apart points are, and whatever r_min
 * is. */
static void test_without_meshes(void **state)
{
    ley_error error = {0};
    static const double point_A[4][3] = {{1, 2, 3.5}, {50000, 1, 2}, {-90000, -25000, 21000}, {5, 0, 0}},
                        r_mins_A[] = {0.05, 11.9, 12, 30, 900};
    ley_atoms *atoms = two_atoms();
    ley_points *points = support_make_points(4, point_A[0]);
    for (int k = 0; k < 5; k++) {
        ley_long_range range = support_default_long_range();
        range.kappa_per_A = 0.01;
        range.r_min_A = r_mins_A[k];
        ley_job *job;
        assert_ok(
            ley_job_create_long_range(NULL, atoms, (ley_target){.points = points}, &range, usual(), &job, &error));
        run(job);
        for (int i = 0; i < 4; i++) {
            double right = 0, absolute = 0;
            for (int j = 0; j < 2; j++) {
                const double x = point_A[i][0] - position_A[j][0], y = point_A[i][1] - position_A[j][1],
                             z = point_A[i][2] - position_A[j][2], r_A = fmax(sqrt(x * x + y * y + z * z), r_mins_A[k]),
                             term = constant_of(range.units) * charge_e[j] * exp(-0.01 * r_A) / r_A;
                right += term;
                absolute += fabs(term);
            }
            assert_true(fabs(ley_points_values(points)[i] - right) <= 1e-12 * absolute + 1e-290);
        }
        ley_job_destroy(job);
    }
    ley_points_destroy(points);
    ley_atoms_destroy(atoms);
}

static void test_own_cell(void **state)
{
    enum { PLACES = 5 };
    static const double away_A[PLACES] = {0, 0.0005, 0.002, 0.004, 0.008}, edge_A = 20;
    static const double zero[3] = {0}, one = 1, radius = 1.5;
    for (int excluded = 0; excluded < 2; excluded++) {
        double point_A[PLACES][3] = {{0}};
        for (int i = 0; i < PLACES; i++)
            point_A[i][0] = away_A[i];
        ley_error error = {0};
        ley_atoms *atoms = support_make_atoms(1, zero, &one, &radius);
        ley_long_range range = support_default_long_range();
        for (int axis = 0; axis < 3; axis++) {
            range.periodic[axis] = true;
            range.cell_A[axis][axis] = edge_A;
        }
        ley_points *points = support_make_points(PLACES, point_A[0]);
        assert_ok(ley_points_add_field(points, &error));
        if (excluded)
            assert_ok(
                ley_points_exclude_own(points, atoms, NULL, range.periodic, (const double(*)[3])range.cell_A, &error));
        ley_job *job;
        assert_ok(
            ley_job_create_long_range(NULL, atoms, (ley_target){.points = points}, &range, usual(), &job, &error));
        run(job);
        const double per_A = -constant_of(LEY_UNITS_KT_E) * 4 * M_PI / (3 * pow(edge_A, 3));
        for (int i = 0; i < PLACES; i++)
            for (int axis = 0; axis < 3; axis++) {
                const double right = axis == 0 ? per_A * away_A[i] : 0;
                assert_true(fabs(ley_points_field(points)[3 * i + axis] - right) <= 1e-5 * fabs(right) + 1e-12);
            }
        ley_job_destroy(job);
        ley_points_destroy(points);
        ley_atoms_destroy(atoms);
    }
}

/* What the nearest images of both atoms make at a point, field and potential; within r_min that is
 * the same everywhere. */
static void nearest_of_two(const double point_A[3], double r_min_A, double sum[4])
{
    memset(sum, 0, 4 * sizeof *sum);
    for (int j = 0; j < 2; j++) {
        double way_A[3], r2 = 0;
        for (int axis = 0; axis < 3; axis++) {
            way_A[axis] = point_A[axis] - position_A[j][axis];
            r2 += way_A[axis] * way_A[axis];
        }
        const double term = constant_of(LEY_UNITS_KT_E) * charge_e[j] / fmax(sqrt(r2), r_min_A);
        sum[3] += term;
        for (int axis = 0; axis < 3 && sqrt(r2) > r_min_A; axis++)
            sum[axis] += term * way_A[axis] / r2;
    }
}

/* Field and potential at two points, which exclude both atoms or none. */
static void sum_at_two(const double point_A[2][3], bool excludes, const ley_long_range *range, double found[2][4])
{
    static const int64_t first[3] = {0, 2, 4}, excluded[4] = {0, 1, 0, 1};
    ley_error error = {0};
    ley_atoms *atoms = two_atoms();
    ley_job *job;
    ley_points *points = support_make_points(2, point_A[0]);
    assert_ok(ley_points_add_field(points, &error));
    if (excludes)
        assert_ok(ley_points_exclude(points, first, excluded, &error));
    assert_ok(ley_job_create_long_range(NULL, atoms, (ley_target){.points = points}, range, usual(), &job, &error));
    assert_ok(ley_job_run(job, &error));
    assert_non_null(ley_job_report(job)->host);
    for (int i = 0; i < 2; i++) {
        memcpy(found[i], ley_points_field(points) + 3 * i, 3 * sizeof *found[i]);
        found[i][3] = ley_points_values(points)[i];
    }
    ley_job_destroy(job);
    ley_points_destroy(points);
    ley_atoms_destroy(atoms);
}

/* Points that exclude every atom there is, and neither way to them calls the other wrong: potential
 * and field are 0 in open space. In a cell they are those of further images and the background:
 * what all images make, without the nearest ones. */
static void test_none_left(void **state)
{
    static const double point_A[2][3] = {{1, 2, 3.001}, {2, 2, 2}};
    for (int periodic = 0; periodic < 2; periodic++) {
        double left[2][4], all[2][4], nearest[4];
        ley_long_range range = support_default_long_range();
        for (int axis = 0; axis < 3; axis++) {
            range.periodic[axis] = periodic;
            range.cell_A[axis][axis] = 30;
        }
        sum_at_two(point_A, true, &range, left);
        sum_at_two(point_A, false, &range, all);
        for (int i = 0; i < 2; i++) {
            nearest_of_two(point_A[i], range.r_min_A, nearest);
            for (int k = 0; k < 4; k++) {
                assert_true((left[i][k] == 0) == !periodic);
                assert_true(fabs(left[i][k] - (all[i][k] - nearest[k])) < 1e-6);
            }
        }
    }
}

/* Next to nothing is left of screened charges when the nearest images are excluded: no way to it
 * calls the other wrong by what rounding leaves of the excluded terms. */
static void test_hardly_any_left(void **state)
{
    static const double point_A[2][3] = {{1, 2, 3}, {2, 2, 2}}, edge_A = 12;
    static const int64_t first[3] = {0, 2, 4}, excluded[4] = {0, 1, 0, 1};
    for (double kappa_per_A = 0.5; kappa_per_A < 100; kappa_per_A *= 2)
        for (int axes = 0; axes <= 3; axes++)
            for (int pairs = 0; pairs < 2; pairs++) {
                ley_error error = {0};
                ley_atoms *atoms = two_atoms();
                ley_job *job;
                ley_points *points = support_make_points(2, point_A[0]);
                ley_long_range range = support_default_long_range();
                ley_short_range short_range = support_default_short_range();
                assert_ok(ley_points_add_field(points, &error));
                assert_ok(ley_points_exclude(points, first, excluded, &error));
                short_range.pair = LEY_PAIR_YUKAWA;
                short_range.cutoff_A = 14;
                range.kappa_per_A = short_range.kappa_per_A = kappa_per_A;
                for (int axis = 0; axis < 3; axis++) {
                    range.periodic[axis] = short_range.periodic[axis] = axis < axes;
                    range.cell_A[axis][axis] = short_range.cell_A[axis][axis] = edge_A;
                }
                const ley_target target = {.points = points};
                assert_ok(pairs ? ley_job_create_short_range(NULL, atoms, target, &short_range, by_host(), &job, &error)
                                : ley_job_create_long_range(NULL, atoms, target, &range, by_host(), &job, &error));
                assert_ok(ley_job_run(job, &error));
                assert_true(ley_job_report(job)->accuracy.points == 2);
                ley_job_destroy(job);
                ley_points_destroy(points);
                ley_atoms_destroy(atoms);
            }
}

/* An atom without a charge is far above a layer, or beside a wire, of screened charges: it changes
 * nothing and disturbs no verification. */
static void test_a_far_atom(void **state)
{
    for (int axes = 1; axes <= 2; axes++)
        for (double z_A = 30; z_A < 1e6; z_A *= 20)
            for (double kappa_per_A = 0.1; kappa_per_A < 20; kappa_per_A *= 7) {
                const double three_A[3][3] = {{1, 2, 3}, {4, 2.5, 1}, {2, 2, z_A}}, three_e[3] = {1, -0.5, 0},
                             three_radii_A[3] = {1.5, 2, 1}, point_A[2][3] = {{9, 5, 7}, {-3, 8, -2}};
                double found[2][2][4];
                for (int with = 0; with < 2; with++) {
                    ley_error error = {0};
                    ley_atoms *atoms = support_make_atoms((size_t)(2 + with), three_A[0], three_e, three_radii_A);
                    ley_job *job;
                    ley_points *points = support_make_points(2, point_A[0]);
                    assert_ok(ley_points_add_field(points, &error));
                    ley_long_range range = support_default_long_range();
                    range.kappa_per_A = kappa_per_A;
                    for (int axis = 0; axis < 3; axis++) {
                        range.periodic[axis] = axis < axes;
                        range.cell_A[axis][axis] = 12;
                    }
                    assert_ok(ley_job_create_long_range(NULL, atoms, (ley_target){.points = points}, &range, by_host(),
                                                        &job, &error));
                    run(job);
                    assert_int_equal(ley_job_report(job)->field_accuracy.points, 2);
                    for (int i = 0; i < 2; i++) {
                        memcpy(found[with][i], ley_points_field(points) + 3 * i, 3 * sizeof(double));
                        found[with][i][3] = ley_points_values(points)[i];
                    }
                    ley_job_destroy(job);
                    ley_points_destroy(points);
                    ley_atoms_destroy(atoms);
                }
                for (int i = 0; i < 2; i++)
                    for (int k = 0; k < 4; k++)
                        assert_true(fabs(found[1][i][k] - found[0][i][k]) <= 1e-7 * fabs(found[0][i][k]) + 1e-9);
            }
}

/* Fields by differences of potentials: where images have a large mean, and where r_min is wider
 * than the cell. */
static void test_hard_differences(void **state)
{
    static const double kappa_per_A[2] = {1e-5, 0}, r_min_A[2] = {0.05, 3}, edge_A[2] = {6, 2};
    for (int k = 0; k < 2; k++) {
        double point_A[POINTS][3];
        for (int i = 0; i < POINTS; i++)
            for (int axis = 0; axis < 3; axis++)
                point_A[i][axis] = 0.37 * i - 0.71 * axis + 0.013 * i * axis;
        ley_error error = {0};
        ley_atoms *atoms = two_atoms();
        ley_points *points = support_make_points(POINTS, point_A[0]);
        assert_ok(ley_points_add_field(points, &error));
        ley_long_range range = support_default_long_range();
        range.kappa_per_A = kappa_per_A[k];
        range.r_min_A = r_min_A[k];
        for (int axis = 0; axis < 3; axis++) {
            range.periodic[axis] = true;
            range.cell_A[axis][axis] = edge_A[k];
        }
        ley_job *job;
        assert_ok(
            ley_job_create_long_range(NULL, atoms, (ley_target){.points = points}, &range, usual(), &job, &error));
        run(job);
        assert_true(ley_job_report(job)->field_accuracy.points > 0);
        ley_job_destroy(job);
        ley_points_destroy(points);
        ley_atoms_destroy(atoms);
    }
}

/* ---- Values and fields that are wrong -------------------------------------------------------- */

/* Calls from the library's verification go through these (the linker's --wrap): by such a share the
 * second sum says something else. */
static double value_off, field_off;

#define WRAPPED(type, name, ...) \
    type right_##name(__VA_ARGS__) __asm__("__real_" #name); \
    type wrapped_##name(__VA_ARGS__) __asm__("__wrap_" #name); \
    type wrapped_##name(__VA_ARGS__)

WRAPPED(long double, second_value, const second_sum *s, const reference_terms *at, const double point_A[3])
{
    return right_second_value(s, at, point_A) * (1 + value_off);
}

WRAPPED(bool, second_field, const second_sum *s, const reference_terms *at, const double point_A[3], double field[3],
        double *rounding)
{
    const bool is_there = right_second_field(s, at, point_A, field, rounding);
    field[1] *= 1 + field_off;
    return is_there;
}

/* And what the host computes fields by is off. */
static double own_off;

WRAPPED(void, reference_field, const reference_terms *t, const double point_A[3], reference_value field[3])
{
    right_reference_field(t, point_A, field);
    field[1].value *= 1 + own_off;
}

/* A wrong field of the host's own is noticed, of each sum, in maps and at points. */
static void test_a_field_that_is_wrong(void **state)
{
    static const double point_A[2][3] = {{9, 5, 7}, {-3, 8, -2}};
    for (int which = 0; which < 12; which++)
        for (int is_off = 0; is_off < 2; is_off++) {
            const int sum = which % 3, axes = sum == 0 ? 0 : which / 6 * 2;
            ley_error error = {0};
            ley_atoms *atoms = two_atoms();
            const ley_grid grid = {.origin_A = {-2, 0.1, -1}, .step_A = LEY_STEPS(0.7, 0.9, 1.1), .n = {7, 5, 6}};
            ley_points *points = support_make_points(2, point_A[0]);
            ley_map *map = support_make_map(&grid), *field[3];
            for (int axis = 0; axis < 3; axis++)
                field[axis] = support_make_map(&grid);
            assert_ok(ley_points_add_field(points, &error));
            assert_ok(ley_map_set_field(map, field, &error));
            const ley_target target = which / 3 % 2 == 0 ? (ley_target){.points = points} : (ley_target){.map = map};
            ley_job *job;
            const ley_direct direct = support_default_direct();
            ley_long_range range = support_default_long_range();
            ley_short_range short_range = support_default_short_range();
            short_range.pair = LEY_PAIR_COULOMB;
            range.kappa_per_A = axes > 0 ? 0.1 : 0;
            for (int axis = 0; axis < 3; axis++) {
                range.periodic[axis] = short_range.periodic[axis] = axis < axes;
                range.cell_A[axis][axis] = short_range.cell_A[axis][axis] = 20;
            }
            if (sum == 0)
                assert_ok(ley_job_create_direct(NULL, atoms, target, &direct, by_host(), &job, &error));
            else if (sum == 1)
                assert_ok(ley_job_create_short_range(NULL, atoms, target, &short_range, by_host(), &job, &error));
            else
                assert_ok(ley_job_create_long_range(NULL, atoms, target, &range, by_host(), &job, &error));
            own_off = is_off ? 1e-3 : 0;
            const ley_status status = ley_job_run(job, &error);
            own_off = 0;
            assert_int_equal(status, is_off ? LEY_ERROR_WRONG_RESULT : LEY_OK);
            assert_true(!is_off || strstr(error.message, "the host: verification failed: the field is off by") != NULL);
            ley_error_clear(&error);
            ley_job_destroy(job);
            ley_points_destroy(points);
            ley_map_destroy(map);
            for (int axis = 0; axis < 3; axis++)
                ley_map_destroy(field[axis]);
            ley_atoms_destroy(atoms);
        }
}

/* In jobs of devices the host sums at points that are next to atoms or exclude some: these are held
 * against the second sum, too, and not against the function that made them. */
static void test_points_of_the_host_in_jobs_of_devices(void **state)
{
    static const struct {
        double value_off, field_off, own_off;
    } cases[] = {{0, 0, 0}, {1e-5, 0, 0}, {0, 1e-4, 0}, {0, 0, 1e-3}};
    static const double at_A[2][2][3] = {{{9, 5, 7}, {1, 2.01, 3}}, {{9, 5, 7}, {-3, 8, -2}}};
    static const int64_t first[3] = {0, 0, 1}, excluded[1] = {1};
    ley_error error = {0};
    ley_engine *engine;
    if (!support_open("pocl", "the first driver", &engine))
        skip();
    ley_atoms *atoms = two_atoms();
    for (size_t excludes = 0; excludes < 2; excludes++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            ley_direct direct = support_default_direct();
            direct.r_min_A = 1e-3;
            ley_points *points = support_make_points(2, at_A[excludes][0]);
            ley_job *job;
            assert_ok(ley_points_add_field(points, &error));
            if (excludes)
                assert_ok(ley_points_exclude(points, first, excluded, &error));
            assert_ok(
                ley_job_create_direct(engine, atoms, (ley_target){.points = points}, &direct, usual(), &job, &error));
            value_off = cases[i].value_off;
            field_off = cases[i].field_off;
            own_off = cases[i].own_off;
            const ley_status status = ley_job_run(job, &error);
            value_off = field_off = own_off = 0;
            assert_null(ley_job_report(job)->host);
            assert_int_equal(status, i == 0 ? LEY_OK : LEY_ERROR_WRONG_RESULT);
            assert_true(i == 0 || strstr(error.message, "the host: verification failed: ") != NULL);
            ley_error_clear(&error);
            ley_job_destroy(job);
            ley_points_destroy(points);
        }
    ley_engine_destroy(engine);
    ley_atoms_destroy(atoms);
}

/* An error of ten times what is let through ends the job, in the potential and in the field; of a
 * tenth of it none is found. */
static void test_a_second_sum_that_differs(void **state)
{
    static const struct {
        double value_off, field_off;
        const char *message;
    } cases[] = {{1e-7, 1e-6, NULL},
                 {1e-5, 0, "verification failed: at ("},
                 {0, 1e-4, "verification failed: the field is off by"}};
    ley_error error = {0};
    ley_atoms *atoms = two_atoms();
    static const double point_A[2][3] = {{9, 5, 7}, {-3, 8, -2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ley_job *job;
        ley_direct direct = support_default_direct();
        ley_points *points = support_make_points(2, point_A[0]);
        assert_ok(ley_points_add_field(points, &error));
        assert_ok(ley_job_create_direct(NULL, atoms, (ley_target){.points = points}, &direct, usual(), &job, &error));
        value_off = cases[i].value_off;
        field_off = cases[i].field_off;
        const ley_status status = ley_job_run(job, &error);
        value_off = field_off = 0;
        assert_int_equal(status, cases[i].message == NULL ? LEY_OK : LEY_ERROR_WRONG_RESULT);
        assert_true(cases[i].message == NULL || strstr(error.message, cases[i].message) != NULL);
        assert_int_equal(ley_job_report(job)->field_accuracy.points, 2);
        ley_error_clear(&error);
        ley_job_destroy(job);
        ley_points_destroy(points);
    }
    ley_atoms_destroy(atoms);
}

/* ---- Who does it ----------------------------------------------------------------------------- */

/* Of so many atoms in a map of 48 x 48 x 48; the outcome of asking the host. */
static ley_status ask(size_t n, const ley_run_options *options)
{
    ley_error error = {0};
    ley_atoms *atoms = support_atoms(n, 0, 20, 3);
    const ley_grid grid = {.step_A = LEY_STEPS(1, 1, 1), .n = {48, 48, 48}};
    ley_job *job = NULL;
    ley_direct direct = support_default_direct();
    ley_map *map = support_make_map(&grid);
    const ley_status status =
        ley_job_create_direct(NULL, atoms, (ley_target){.map = map}, &direct, options, &job, &error);
    if (status == LEY_ERROR_NO_DEVICE)
        assert_non_null(strstr(error.message, "no engine was given, and the host would not be faster than a device"));
    ley_error_clear(&error);
    ley_job_destroy(job);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
    return status;
}

/* A sum that takes longer than a device takes to open, and not as long as its kernels to build. */
static size_t atoms_of_a_second(void)
{
    return (size_t)(1.0 * (double)sysconf(_SC_NPROCESSORS_ONLN) / 1e-9 / (48 * 48 * 48));
}

/* Of ten atoms in a wire, whose images count the farther the weaker they are screened. */
static ley_status ask_wire(double kappa_per_A, const ley_run_options *options)
{
    ley_error error = {0};
    ley_atoms *atoms = support_atoms(10, 0, 20, 3);
    const ley_grid grid = {.step_A = LEY_STEPS(1, 1, 1), .n = {4, 4, 4}};
    ley_job *job = NULL;
    ley_long_range range = support_default_long_range();
    range.periodic[0] = true;
    for (int axis = 0; axis < 3; axis++)
        range.cell_A[axis][axis] = 20;
    range.kappa_per_A = kappa_per_A;
    ley_map *map = support_make_map(&grid);
    const ley_status status =
        ley_job_create_long_range(NULL, atoms, (ley_target){.map = map}, &range, options, &job, &error);
    ley_error_clear(&error);
    ley_job_destroy(job);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
    return status;
}

static void test_wires(void **state)
{
    assert_int_equal(ask_wire(0.1, usual()), LEY_OK);
    assert_int_equal(ask_wire(1e-5, usual()), LEY_ERROR_NO_DEVICE);
}

static void test_who(void **state)
{
    ley_run_options options = support_default_run_options();
    assert_int_equal(ask(10, &options), LEY_OK);
    assert_int_equal(ask(atoms_of_a_second(), &options), LEY_OK); /* nothing is built yet */
    assert_int_equal(ask(20 * atoms_of_a_second(), &options), LEY_ERROR_NO_DEVICE);
    options.variant = "simple";
    assert_int_equal(ask(10, &options), LEY_ERROR_NO_DEVICE);
    options.variant = NULL;
    options.math = LEY_MATH_NATIVE;
    assert_int_equal(ask(10, &options), LEY_ERROR_NO_DEVICE);
    options.math = LEY_MATH_AUTO;
    options.sum = LEY_SUM_COMPENSATED;
    assert_int_equal(ask(10, &options), LEY_ERROR_NO_DEVICE);
    options.sum = LEY_SUM_DOUBLE;
    assert_int_equal(ask(10, &options), LEY_OK);
    options.slab_planes = 3;
    assert_int_equal(ask(10, &options), LEY_ERROR_NO_DEVICE);
    setenv("LEYDEN_KERNEL_DIR", "cl", 1); /* somebody who tries kernels */
    assert_int_equal(ask(10, usual()), LEY_ERROR_NO_DEVICE);
    unsetenv("LEYDEN_KERNEL_DIR");
    ley_run_options late = {.size = 1};
    assert_int_equal(ask(10, &late), LEY_ERROR_USAGE);
}

/* Who asks for the host, by the option or by a plan of its, has it whatever takes how long, or is
 * told what is for devices. */
static void test_asked(void **state)
{
    static const ley_decision by_host[] = {{NULL, "method", "dcs"}, {NULL, "computed_by", "host"}},
                              by_devices[] = {{NULL, "method", "dcs"}, {"opencl: X", "slab", "3"}},
                              by_both[] = {{NULL, "method", "dcs"},
                                           {NULL, "computed_by", "host"},
                                           {"cuda: X", "slab", "3"}},
                              by_nobody[] = {{NULL, "method", "dcs"}, {NULL, "computed_by", "device"}};
    const size_t n = 20 * atoms_of_a_second();
    ley_run_options options = *usual();
    options.decisions = by_host;
    options.decision_count = 2;
    assert_int_equal(ask(n, &options), LEY_OK);
    options.decisions = by_nobody;
    assert_int_equal(ask(10, &options), LEY_ERROR_USAGE);
    options.decisions = by_both;
    options.decision_count = 3;
    assert_int_equal(ask(10, &options), LEY_ERROR_USAGE);
    options = *usual();
    options.by_host = true;
    assert_int_equal(ask(n, &options), LEY_OK);
    options.decisions = by_devices;
    options.decision_count = 2;
    assert_int_equal(ask(10, &options), LEY_ERROR_USAGE);
    options.decision_count = 0;
    options.sum = LEY_SUM_DOUBLE;
    assert_int_equal(ask(10, &options), LEY_OK);
    options.sum = LEY_SUM_COMPENSATED;
    assert_int_equal(ask(10, &options), LEY_ERROR_USAGE);
    options.sum = LEY_SUM_FLOAT;
    options.variant = "simple";
    assert_int_equal(ask(10, &options), LEY_ERROR_USAGE);
    options.variant = NULL;
    options.slab_planes = 3;
    assert_int_equal(ask(10, &options), LEY_ERROR_USAGE);
    options.slab_planes = 0;
    options.math = LEY_MATH_NATIVE;
    assert_int_equal(ask(10, &options), LEY_ERROR_USAGE);
    options.math = LEY_MATH_AUTO;
    assert_int_equal(ask_wire(0.1, &options), LEY_OK);
    assert_int_equal(ask_wire(1e-5, &options), LEY_ERROR_USAGE);
}

static int files;

static int count_file(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    files += type == FTW_F;
    return 0;
}

static void test_nothing_was_loaded(void **state)
{
    assert_false(is_mapped("libpocl"));
    assert_false(is_mapped("libLLVM"));
    assert_false(is_mapped("libcuda"));
    assert_false(is_mapped("RusticlOpenCL"));
    files = 0;
    nftw(getenv("LEYDEN_CACHE_DIR"), count_file, 8, FTW_PHYS);
    assert_int_equal(files, 0); /* nothing was built or measured */
}

/* Once a device has built the kernels, longer jobs are its. */
static void test_after_a_build(void **state)
{
    ley_error error = {0};
    ley_engine *engine;
    if (!support_open("pocl", "the first driver", &engine))
        skip();
    ley_atoms *atoms = two_atoms();
    const ley_grid grid = {.step_A = LEY_STEPS(1, 1, 1), .n = {9, 9, 9}};
    ley_job *job;
    ley_direct direct = support_default_direct();
    ley_map *map = support_make_map(&grid);
    assert_ok(ley_job_create_direct(engine, atoms, (ley_target){.map = map}, &direct, usual(), &job, &error));
    assert_ok(ley_job_run(job, &error));
    assert_null(ley_job_report(job)->host);
    ley_job_destroy(job);
    ley_engine_destroy(engine);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
    ley_run_options asked = *usual();
    asked.by_host = true;
    assert_int_equal(ask(10, usual()), LEY_OK);
    assert_int_equal(ask(atoms_of_a_second(), usual()), LEY_ERROR_NO_DEVICE);
    assert_int_equal(ask(atoms_of_a_second(), &asked), LEY_OK);
}

int main(void)
{
    support_fresh_cache();
    unsetenv("LEYDEN_KERNEL_DIR");
    unsetenv("LEYDEN_DUMP");
    return RUN_GROUP(SUPPORT_GROUP(.name = "host jobs"), test_direct_points, test_direct_map,
                     test_how_many_are_verified, test_boundary, test_cutoff, test_crystal,
                     test_a_second_sum_that_differs, test_wires, test_floor, test_without_meshes, test_own_cell,
                     test_none_left, test_hard_differences, test_who, test_asked, test_nothing_was_loaded,
                     test_after_a_build, test_a_field_that_is_wrong, test_points_of_the_host_in_jobs_of_devices,
                     test_hardly_any_left, test_a_far_atom);
}
