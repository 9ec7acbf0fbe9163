/* Statistics of targets: mean, variance, minimum and the means of planes, against plain sums over
 * numbers that are kept; of maps in memory and in files with and without a field, of points and of
 * boundaries; added by jobs; and what is refused. */
#include "support.h"

enum { RUNS = 7, MOST = 40000 };

/* ---- Values ---------------------------------------------------------------------------------- */

/* Any numbers, of which some are close to each other, so that variances are small beside means. */
static double number(int64_t i, int run, int component)
{
    const uint64_t mixed = ((uint64_t)i * 2654435761u + (uint64_t)run * 40503u + (uint64_t)component * 97u) % 100003u;
    return (double)(float)((double)(i % 11) * 100 - 200 + (double)mixed * 1e-5 + component);
}

typedef struct trial {
    ley_target target;
    ley_map *field[3];
    int components;
    int64_t n[3], points;
} trial;

static void fill(const trial *t, int run)
{
    for (int64_t i = 0; i < t->points; i++)
        for (int c = 0; c < t->components; c++) {
            const double value = number(i, run, c);
            if (t->target.map != NULL)
                ley_map_values(c == 0 ? t->target.map : t->field[c - 1])[i] = (float)value;
            else if (t->target.boundary != NULL)
                ley_boundary_values(t->target.boundary)[i] = value;
            else if (c == 0)
                ley_points_values(t->target.points)[i] = value;
            else
                ley_points_field(t->target.points)[3 * i + c - 1] = value;
        }
}

static ley_grid grid_of(const int64_t n[3])
{
    return (ley_grid){.n = {n[0], n[1], n[2]}, .step_A = LEY_STEPS(1, 1, 1)};
}

static void make_map(trial *t, bool has_field)
{
    ley_error error = {0};
    const ley_grid grid = grid_of(t->n);
    t->points = ley_grid_points(&grid);
    t->target.map = support_make_map(&grid);
    t->components = has_field ? 4 : 1;
    for (int axis = 0; axis < 3 && has_field; axis++)
        t->field[axis] = support_make_map(&grid);
    if (has_field)
        assert_ok(ley_map_set_field(t->target.map, t->field, &error));
}

static void make_points(trial *t, int64_t points, bool has_field)
{
    ley_error error = {0};
    double *at_A = calloc(3 * (size_t)points, sizeof *at_A);
    assert_non_null(at_A);
    t->points = points;
    t->components = has_field ? 4 : 1;
    t->target.points = support_make_points(points, at_A);
    if (has_field)
        assert_ok(ley_points_add_field(t->target.points, &error));
    free(at_A);
}

static void end_trial(trial *t)
{
    for (int axis = 0; axis < 3; axis++)
        ley_map_destroy(t->field[axis]);
    ley_map_destroy(t->target.map);
    ley_points_destroy(t->target.points);
    ley_boundary_destroy(t->target.boundary);
}

/* ---- The judge ------------------------------------------------------------------------------- */

static void assert_near(double value, double right, const char *what, int64_t i)
{
    if (!(fabs(value - right) <= 1e-11 * (1 + fabs(right))))
        fail_msg("%s %lld is %.17g, not %.17g", what, (long long)i, value, right);
}

/* In two passes over all runs. */
static void judge_points(const trial *t, const ley_statistics *s, int runs)
{
    for (int c = 0; c < t->components; c++)
        for (int64_t i = 0; i < t->points; i++) {
            long double mean = 0, square = 0;
            for (int run = 0; run < runs; run++)
                mean += number(i, run, c) / (long double)runs;
            for (int run = 0; run < runs; run++)
                square += (number(i, run, c) - mean) * (number(i, run, c) - mean);
            assert_near(ley_statistics_mean(s, c)[i], (double)mean, "mean", i);
            if (runs == 1)
                assert_true(isnan(ley_statistics_variance(s, c)[i]));
            else
                assert_near(ley_statistics_variance(s, c)[i], (double)square / (runs - 1), "variance", i);
        }
}

static void judge_planes(const trial *t, const ley_statistics *s, int runs)
{
    for (int c = 0; c < t->components; c++)
        for (int axis = 0; axis < 3; axis++)
            for (int64_t plane = 0; plane < t->n[axis]; plane++) {
                long double sum = 0;
                for (int64_t i = 0; i < t->points; i++) {
                    const int64_t at[3] = {i % t->n[0], i / t->n[0] % t->n[1], i / t->n[0] / t->n[1]};
                    for (int run = 0; run < runs && at[axis] == plane; run++)
                        sum += number(i, run, c);
                }
                assert_near(ley_statistics_planes(s, c, axis)[plane],
                            (double)sum * (double)t->n[axis] / (double)(t->points * runs), "plane", plane);
            }
}

static void judge_minimum(const trial *t, const ley_statistics *s, int runs)
{
    double least = INFINITY, value = 0;
    int64_t point = -1, run = -1, at_point = 0, at_run = 0;
    for (int k = 0; k < runs; k++)
        for (int64_t i = 0; i < t->points; i++)
            if (number(i, k, 0) < least) {
                least = number(i, k, 0);
                at_point = i;
                at_run = k + 1;
            }
    assert_true(ley_statistics_minimum(s, &value, &point, &run));
    assert_true(value == least);
    assert_int_equal(point, at_point);
    assert_int_equal(run, at_run);
}

static void judge(trial *t, unsigned kept)
{
    ley_error error = {0};
    ley_statistics *s = NULL;
    double value;
    int64_t point, run;
    assert_ok(ley_statistics_create(&t->target, kept, &s, &error));
    for (int round = 0; round < 2; round++) {
        assert_int_equal(ley_statistics_runs(s), 0);
        assert_false(ley_statistics_minimum(s, &value, &point, &run));
        for (int k = 0; k < RUNS; k++) {
            fill(t, k);
            assert_ok(ley_statistics_add(s, &error));
            assert_int_equal(ley_statistics_runs(s), k + 1);
            if (k != 0 && k != 1 && k != RUNS - 1)
                continue;
            if ((kept & LEY_KEEP_VARIANCE) != 0)
                judge_points(t, s, k + 1);
            if ((kept & LEY_KEEP_MINIMUM) != 0)
                judge_minimum(t, s, k + 1);
            if ((kept & LEY_KEEP_PLANES) != 0)
                judge_planes(t, s, k + 1);
        }
        ley_statistics_reset(s);
    }
    ley_statistics_destroy(s);
}

/* ---- Targets --------------------------------------------------------------------------------- */

static void test_maps(void **state)
{
    static const int64_t extents[][3] = {{1, 1, 1}, {17, 5, 3}, {1, 1, 300}, {300, 1, 1}, {1, 40, 1}, {33, 32, 8}};
    for (size_t i = 0; i < sizeof extents / sizeof *extents; i++)
        for (int has_field = 0; has_field < 2; has_field++) {
            trial t = {.n = {extents[i][0], extents[i][1], extents[i][2]}};
            make_map(&t, has_field != 0);
            judge(&t, LEY_KEEP_MEAN | LEY_KEEP_VARIANCE | LEY_KEEP_MINIMUM | LEY_KEEP_PLANES);
            judge(&t, LEY_KEEP_PLANES);
            judge(&t, LEY_KEEP_VARIANCE);
            judge(&t, LEY_KEEP_MINIMUM);
            end_trial(&t);
        }
}

static void test_lists(void **state)
{
    static const int64_t counts[] = {1, 4095, 4096, 4097, MOST};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (int has_field = 0; has_field < 2; has_field++) {
            trial t = {.components = 1};
            make_points(&t, counts[i], has_field != 0);
            judge(&t, LEY_KEEP_MEAN | LEY_KEEP_VARIANCE | LEY_KEEP_MINIMUM);
            end_trial(&t);
        }
}

static void test_boundaries(void **state)
{
    ley_error error = {0};
    const ley_grid grid = grid_of((const int64_t[3]){17, 9, 5});
    trial t = {.components = 1};
    assert_ok(ley_boundary_create(&grid, &t.target.boundary, &error));
    t.points = ley_boundary_points(t.target.boundary);
    judge(&t, LEY_KEEP_MEAN | LEY_KEEP_VARIANCE | LEY_KEEP_MINIMUM);
    end_trial(&t);
}

/* Values that are no numbers make none of what they are in, and are no minimum. */
static void test_not_a_number(void **state)
{
    ley_error error = {0};
    trial t = {.n = {4, 4, 4}};
    make_map(&t, false);
    fill(&t, 0);
    ley_map_values(t.target.map)[21] = NAN; /* (1, 1, 1) */
    assert_ok(ley_statistics_create(&t.target, LEY_KEEP_MEAN | LEY_KEEP_MINIMUM | LEY_KEEP_PLANES, &t.target.statistics,
                                    &error));
    assert_ok(ley_statistics_add(t.target.statistics, &error));
    double value;
    int64_t point, run;
    for (int i = 0; i < 64; i++)
        assert_true(isnan(ley_statistics_mean(t.target.statistics, 0)[i]) == (i == 21));
    for (int axis = 0; axis < 3; axis++)
        for (int i = 0; i < 4; i++)
            assert_true(isnan(ley_statistics_planes(t.target.statistics, 0, axis)[i]) == (i == 1));
    assert_true(ley_statistics_minimum(t.target.statistics, &value, &point, &run) && value == number(0, 0, 0));
    ley_statistics_destroy(t.target.statistics);
    end_trial(&t);
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static void run_job(ley_engine *engine, const ley_atoms *atoms, ley_target target, ley_status expected)
{
    ley_error error = {0};
    ley_job *job = NULL;
    ley_direct direct;
    ley_run_options options;
    ley_direct_default(&direct);
    ley_run_options_default(&options);
    assert_ok(ley_job_create_direct(engine, atoms, target, &direct, &options, &job, &error));
    if (expected == LEY_CANCELLED)
        ley_job_cancel(job);
    assert_int_equal(ley_job_run(job, &error), expected);
    ley_job_destroy(job);
    ley_error_clear(&error);
}

/* Jobs add what they have filled, also of maps in files, of which nothing is in memory; those that
 * are cancelled add nothing. */
static void test_jobs(void **state)
{
    ley_error error = {0};
    ley_engine *engine = support_make_engine("cpu");
    const ley_grid grid = grid_of((const int64_t[3]){24, 20, 16});
    const double at_A[] = {3.3, 4.1, 5.7, 12.2, 11.3, 7.9}, charge_e[] = {1, -0.5};
    ley_atoms *atoms = support_make_atoms(2, at_A, charge_e, NULL);
    char path[256];
    snprintf(path, sizeof path, "%s/statistics.raw", support_directory());
    ley_target in_memory = {.map = support_make_map(&grid)}, in_file = {.map = NULL};
    assert_ok(ley_map_create_raw(&grid, path, &in_file.map, &error));
    const unsigned all = LEY_KEEP_MEAN | LEY_KEEP_VARIANCE | LEY_KEEP_MINIMUM | LEY_KEEP_PLANES;
    assert_ok(ley_statistics_create(&in_memory, all, &in_memory.statistics, &error));
    assert_ok(ley_statistics_create(&in_file, all, &in_file.statistics, &error));
    for (int k = 0; k < 2; k++) {
        run_job(engine, atoms, in_memory, LEY_OK);
        run_job(engine, atoms, in_file, LEY_OK);
        run_job(engine, atoms, in_memory, LEY_CANCELLED);
        assert_int_equal(ley_statistics_runs(in_memory.statistics), k + 1);
        assert_int_equal(ley_statistics_runs(in_file.statistics), k + 1);
    }
    run_job(engine, atoms, in_memory, LEY_OK);
    run_job(engine, atoms, in_file, LEY_OK);
    const int64_t points = ley_grid_points(&grid);
    for (int64_t i = 0; i < points; i++) {
        const double value = (double)ley_map_values(in_memory.map)[i];
        assert_near(ley_statistics_mean(in_memory.statistics, 0)[i], value, "mean", i);
        assert_near(ley_statistics_mean(in_file.statistics, 0)[i], value, "mean in a file", i);
        assert_true(ley_statistics_variance(in_file.statistics, 0)[i] < 1e-20);
    }
    assert_memory_equal(ley_statistics_planes(in_memory.statistics, 0, 2),
                        ley_statistics_planes(in_file.statistics, 0, 2), 16 * sizeof(double));
    ley_statistics_destroy(in_memory.statistics);
    ley_statistics_destroy(in_file.statistics);
    ley_map_destroy(in_memory.map);
    ley_map_destroy(in_file.map);
    ley_atoms_destroy(atoms);
    ley_engine_destroy(engine);
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void test_refusals(void **state)
{
    ley_error error = {0};
    const ley_grid grid = grid_of((const int64_t[3]){4, 4, 4});
    trial t = {.n = {4, 4, 4}}, other = {.n = {4, 4, 4}}, list = {.components = 1};
    ley_statistics *s = NULL;
    ley_map *outline = NULL;
    make_map(&t, true);
    make_map(&other, false);
    make_points(&list, 5, false);
    assert_ok(ley_map_outline(&grid, &outline, &error));
    assert_error(ley_statistics_create(&(ley_target){.map = NULL}, LEY_KEEP_MEAN, &s, &error), LEY_ERROR_USAGE,
                 "the target is empty");
    assert_error(ley_statistics_create(&(ley_target){.grid = &grid}, LEY_KEEP_MEAN, &s, &error), LEY_ERROR_USAGE,
                 "a grid without a map");
    assert_error(ley_statistics_create(&(ley_target){.map = outline}, LEY_KEEP_MEAN, &s, &error), LEY_ERROR_USAGE,
                 "the map has no values");
    assert_error(ley_statistics_create(&t.target, 0, &s, &error), LEY_ERROR_USAGE, "nothing");
    assert_error(ley_statistics_create(&t.target, 1u << 7, &s, &error), LEY_ERROR_USAGE, "unknown");
    assert_error(ley_statistics_create(&list.target, LEY_KEEP_PLANES, &s, &error), LEY_ERROR_USAGE,
                 "a list of points has no planes");
    assert_null(s);
    assert_ok(ley_statistics_create(&t.target, LEY_KEEP_MINIMUM, &s, &error));
    assert_null(ley_statistics_mean(s, 0));
    assert_null(ley_statistics_variance(s, 0));
    assert_null(ley_statistics_planes(s, 0, 0));
    ley_statistics_destroy(s);
    assert_ok(ley_statistics_create(&t.target, LEY_KEEP_VARIANCE | LEY_KEEP_PLANES, &s, &error));
    assert_null(ley_statistics_mean(s, 4));
    assert_null(ley_statistics_mean(s, -1));
    assert_null(ley_statistics_planes(s, 0, 3));
    assert_non_null(ley_statistics_mean(s, 3));
    /* a field that is not the one that they began with */
    assert_ok(ley_map_set_field(other.target.map, t.field, &error));
    ley_statistics *plain = NULL;
    assert_ok(ley_statistics_create(&list.target, LEY_KEEP_MEAN, &plain, &error));
    assert_ok(ley_points_add_field(list.target.points, &error));
    assert_error(ley_statistics_add(plain, &error), LEY_ERROR_USAGE, "field was asked for");
    assert_int_equal(ley_statistics_runs(plain), 0);
    /* of another target */
    ley_job *job = NULL;
    ley_direct direct;
    ley_run_options options;
    ley_direct_default(&direct);
    ley_run_options_default(&options);
    const double at_A[] = {0.5, 0.5, 0.5}, charge_e[] = {1};
    ley_atoms *atoms = support_make_atoms(1, at_A, charge_e, NULL);
    ley_target mixed = {.map = other.target.map, .statistics = s};
    assert_error(ley_job_create_direct(NULL, atoms, mixed, &direct, &options, &job, &error), LEY_ERROR_USAGE,
                 "the statistics are of another target");
    assert_null(job);
    ley_statistics_destroy(plain);
    ley_statistics_destroy(s);
    ley_statistics_destroy(NULL);
    ley_atoms_destroy(atoms);
    ley_map_destroy(outline);
    end_trial(&t);
    end_trial(&other);
    end_trial(&list);
    ley_error_clear(&error);
}

int main(void)
{
    return RUN_TESTS(test_maps, test_lists, test_boundaries, test_not_a_number, test_jobs, test_refusals);
}
