/* Plans, on every device of this machine: what is prepared once and run again for other positions,
 * charges and cells is what jobs of their own make of these; and what happens where it does not
 * suit any more, devices fail or lie. */
#include "fake_device.h"
#include "support.h"

enum { N = 600, EDGE = 24 };
static const double box_A = 18;
static ley_engine *engine; /* of the device under test */

/* ---- A system -------------------------------------------------------------------------------- */

typedef struct trial {
    double position_A[3 * N], charge_e[N], cell_A[3][3];
    bool is_periodic;
    const char *method;
    ley_request request;
    ley_map *map;
    ley_plan *plan;
} trial;

static double uniform(unsigned *seed)
{
    *seed = 1664525 * *seed + 1013904223;
    return (*seed >> 8) / 16777216.0;
}

/* Atoms `from_A` on in a box of this edge. */
static void scatter(double *position_A, double from_A, double edge_A, unsigned seed)
{
    for (int i = 0; i < 3 * N; i++)
        position_A[i] = from_A + edge_A * uniform(&seed);
}

static ley_grid grid_of(const double cell_A[3][3])
{
    ley_grid grid = {.n = {EDGE, EDGE, EDGE}};
    for (int axis = 0; axis < 3; axis++)
        grid.step_A[axis][axis] = cell_A[axis][axis] / EDGE;
    return grid;
}

static trial *trial_create(ley_engine *on, bool is_periodic, const char *method)
{
    ley_error error = {0};
    trial *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->is_periodic = is_periodic;
    for (int axis = 0; axis < 3; axis++)
        s->cell_A[axis][axis] = box_A;
    scatter(s->position_A, 0, box_A, 1);
    for (int i = 0; i < N; i++)
        s->charge_e[i] = i % 2 == 0 ? 0.7 : -0.7;
    ley_request_default(&s->request);
    s->request.method = method;
    for (int axis = 0; axis < 3 && is_periodic; axis++)
        s->request.potential.periodic[axis] = true;
    memcpy(s->request.potential.cell_A, s->cell_A, sizeof s->cell_A);
    const ley_grid grid = grid_of((const double(*)[3])s->cell_A);
    assert_ok(ley_map_create(&grid, &s->map, &error));
    ley_atoms *atoms = support_make_atoms(N, s->position_A, s->charge_e, NULL);
    assert_ok(ley_plan_create(on, atoms, (ley_target){.map = s->map}, &s->request, NULL, &s->plan, &error));
    ley_atoms_destroy(atoms);
    return s;
}

static void trial_destroy(trial *s)
{
    ley_plan_destroy(s->plan);
    ley_map_destroy(s->map);
    free(s);
}

static void run(trial *s)
{
    ley_error error = {0};
    assert_ok(ley_plan_update(s->plan, s->position_A, NULL, NULL, &error));
    assert_ok(ley_plan_run(s->plan, &error));
}

static int64_t prepared(trial *s)
{
    ley_error error = {0};
    ley_plan_totals totals;
    assert_ok(ley_plan_finish(s->plan, &totals, &error));
    assert_int_equal(totals.missed_runs, 0);
    return totals.prepared;
}

static float *copy_values(const trial *s)
{
    const size_t bytes = sizeof(float) * EDGE * EDGE * EDGE;
    float *copy = malloc(bytes);
    assert_non_null(copy);
    memcpy(copy, ley_map_values(s->map), bytes);
    return copy;
}

/* By a job of its own. */
static void assert_right(const trial *s)
{
    ley_error error = {0};
    ley_map *right = NULL;
    double error2 = 0, right2 = 0;
    ley_atoms *atoms = support_make_atoms(N, s->position_A, s->charge_e, NULL);
    ley_request request = s->request;
    memcpy(request.potential.cell_A, s->cell_A, sizeof s->cell_A);
    request.tolerance = 1e-5;
    assert_ok(ley_map_compute(engine, atoms, ley_map_grid(s->map), &request, &right, NULL, &error));
    const float *values = ley_map_values(s->map), *others = ley_map_values(right);
    for (int i = 0; i < EDGE * EDGE * EDGE; i++) {
        error2 += pow((double)values[i] - (double)others[i], 2);
        right2 += pow((double)others[i], 2);
    }
    if (!(sqrt(error2 / right2) < 1.3e-4))
        fail_msg("off by %g", sqrt(error2 / right2));
    ley_map_destroy(right);
    ley_atoms_destroy(atoms);
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static const struct {
    bool is_periodic;
    const char *method;
} kinds[] = {{false, "dcs"}, {false, "msm"}, {true, "msm"}};

/* Each run is what its positions make, and those of a former run make the same bytes again. */
static void test_positions(void **state)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        trial *s = trial_create(engine, kinds[k].is_periodic, kinds[k].method);
        run(s);
        float *first = copy_values(s);
        assert_right(s);
        scatter(s->position_A, 0.5, box_A - 1, 2);
        run(s);
        assert_true(memcmp(first, ley_map_values(s->map), sizeof(float) * EDGE * EDGE * EDGE) != 0);
        assert_right(s);
        scatter(s->position_A, 0, box_A, 1);
        run(s);
        assert_memory_equal(first, ley_map_values(s->map), sizeof(float) * EDGE * EDGE * EDGE);
        assert_int_equal(prepared(s), 1);
        assert_int_equal(ley_plan_report(s->plan)->points, EDGE * EDGE * EDGE);
        free(first);
        trial_destroy(s);
    }
}

static void test_charges(void **state)
{
    ley_error error = {0};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        trial *s = trial_create(engine, kinds[k].is_periodic, kinds[k].method);
        run(s);
        for (int i = 0; i < N; i++)
            s->charge_e[i] = i % 3 == 0 ? 0 : i % 3 == 1 ? 0.4 : -0.3; /* a net charge, and none of some */
        assert_ok(ley_plan_update(s->plan, NULL, s->charge_e, NULL, &error));
        assert_ok(ley_plan_run(s->plan, &error));
        assert_right(s);
        assert_int_equal(prepared(s), 1);
        trial_destroy(s);
    }
}

/* What is chosen for charges that strengthen each other, all of one sign or two charged halves of a
 * cell, is too coarse for the same charges in neutral pairs: a tolerance is a share of each run's
 * own values. Then nothing changes any more. */
static void test_values_that_shrink(void **state)
{
    ley_error error = {0};
    for (size_t k = 1; k < sizeof kinds / sizeof *kinds; k++) {
        trial *s = trial_create(engine, kinds[k].is_periodic, kinds[k].method);
        for (int i = 1; i < N; i += 2) {
            memcpy(s->position_A + 3 * i, s->position_A + 3 * (i - 1), 3 * sizeof *s->position_A);
            s->position_A[3 * i] += 0.5;
        }
        for (int i = 0; i < N; i++)
            s->charge_e[i] = kinds[k].is_periodic && s->position_A[3 * i + 2] > box_A / 2 ? -0.7 : 0.7;
        assert_ok(ley_plan_update(s->plan, NULL, s->charge_e, NULL, &error));
        run(s);
        for (int i = 0; i < N; i++)
            s->charge_e[i] = i % 2 == 0 ? 0.7 : -0.7;
        for (int again = 0; again < 3; again++) {
            assert_ok(ley_plan_update(s->plan, NULL, s->charge_e, NULL, &error));
            run(s);
            assert_right(s);
        }
        const int64_t times = prepared(s);
        assert_in_range(times, support_has_vectors(engine) ? 2 : 1, 2); /* elsewhere all may be fine enough */
        trial_destroy(s);
    }
}

/* Atoms beside some of the points that a plan compares its runs by, in the run that all is chosen
 * for: in later ones nearly all values are as strong as they were, and need nothing else. */
static void test_strong_values(void **state)
{
    enum { STRONG = 24, APART = 20 };
    const double points = EDGE * EDGE * EDGE, golden = (sqrt(5) - 1) / 2, step_A = box_A / EDGE;
    for (size_t k = 1; k < sizeof kinds / sizeof *kinds; k++) {
        trial *s = trial_create(engine, kinds[k].is_periodic, kinds[k].method);
        for (int i = 0; i < STRONG; i++) {
            const int number = (int)(fmod(i * APART * golden, 1) * points);
            s->position_A[3 * i] = step_A * (number % EDGE) + 0.06;
            s->position_A[3 * i + 1] = step_A * (number / EDGE % EDGE);
            s->position_A[3 * i + 2] = step_A * (number / EDGE / EDGE);
        }
        run(s);
        scatter(s->position_A, 0, box_A, 1);
        run(s);
        assert_right(s);
        assert_int_equal(prepared(s), 1);
        trial_destroy(s);
    }
}

/* Atoms of periodic cells may be anywhere; those of open space may leave the meshes that were made
 * for them. */
static void test_atoms_that_leave(void **state)
{
    trial *open = trial_create(engine, false, "msm"), *periodic = trial_create(engine, true, "msm");
    run(open);
    run(periodic);
    for (int i = 0; i < N; i++) {
        open->position_A[3 * i] += i == 7 ? 30 : 0;
        periodic->position_A[3 * i] += box_A * (i % 5 - 2);
    }
    run(open);
    run(periodic);
    assert_right(open);
    assert_right(periodic);
    assert_int_equal(prepared(open), 2);
    assert_int_equal(prepared(periodic), 1);
    run(open);
    assert_int_equal(prepared(open), 2);
    trial_destroy(open);
    trial_destroy(periodic);
}

/* The map goes on reaching over the cell. */
static void test_cells(void **state)
{
    ley_error error = {0};
    trial *s = trial_create(engine, true, "msm");
    run(s);
    for (int axis = 0; axis < 3; axis++)
        s->cell_A[axis][axis] = box_A + 0.5 * axis;
    assert_ok(ley_plan_update(s->plan, NULL, NULL, (const double(*)[3])s->cell_A, &error));
    assert_ok(ley_plan_run(s->plan, &error));
    for (int axis = 0; axis < 3; axis++)
        assert_true(fabs(ley_map_grid(s->map)->step_A[axis][axis] * EDGE - s->cell_A[axis][axis]) < 1e-12);
    assert_right(s);
    run(s);
    assert_right(s);
    assert_int_equal(prepared(s), 2);
    const double flat_A[3][3] = {{box_A, 0, 0}, {2 * box_A, 0, 0}, {0, 0, box_A}}, none_A[3][3] = {{NAN}};
    assert_int_equal(ley_plan_update(s->plan, NULL, NULL, flat_A, &error), LEY_ERROR_INPUT);
    assert_int_equal(ley_plan_update(s->plan, NULL, NULL, none_A, &error), LEY_ERROR_INPUT);
    run(s); /* as if nobody had asked */
    assert_right(s);
    trial_destroy(s);
    trial *open = trial_create(engine, false, "dcs");
    assert_error(ley_plan_update(open->plan, NULL, NULL, (const double(*)[3])open->cell_A, &error), LEY_ERROR_USAGE,
                 "a cell is given, and the plan is of open space");
    trial_destroy(open);
    ley_error_clear(&error);
}

static void test_points(void **state)
{
    ley_error error = {0};
    enum { POINTS = 50 };
    double place_A[3 * POINTS];
    unsigned seed = 9;
    ley_plan *plan = NULL;
    trial *s = trial_create(engine, false, "dcs");
    for (int i = 0; i < 3 * POINTS; i++)
        place_A[i] = box_A * uniform(&seed);
    ley_atoms *atoms = support_make_atoms(N, s->position_A, s->charge_e, NULL);
    ley_points *points = support_make_points(POINTS, place_A);
    assert_ok(ley_plan_create(engine, atoms, (ley_target){.points = points}, &s->request, NULL, &plan, &error));
    for (int k = 0; k < 3; k++) {
        scatter(s->position_A, 0, box_A, 5 + (unsigned)k);
        assert_ok(ley_plan_update(plan, s->position_A, NULL, NULL, &error));
        assert_ok(ley_plan_run(plan, &error));
        double right = 0;
        for (int i = 0; i < N; i++)
            right += s->charge_e[i] /
                     fmax(0.05, hypot(hypot(s->position_A[3 * i] - place_A[0], s->position_A[3 * i + 1] - place_A[1]),
                                      s->position_A[3 * i + 2] - place_A[2]));
        right *= ley_coulomb_constant(s->request.potential.units, 1, s->request.potential.temperature_K);
        assert_true(fabs(ley_points_values(points)[0] - right) < 1e-3 * fabs(right) + 1e-3);
    }
    ley_plan_destroy(plan);
    ley_points_destroy(points);
    ley_atoms_destroy(atoms);
    trial_destroy(s);
}

/* ---- Fields and statistics ------------------------------------------------------------------- */

typedef struct four_maps {
    ley_map *map, *field[3];
} four_maps;

static four_maps make_four(const ley_grid *grid)
{
    ley_error error = {0};
    four_maps m = {.map = support_make_map(grid)};
    for (int axis = 0; axis < 3; axis++)
        m.field[axis] = support_make_map(grid);
    assert_ok(ley_map_set_field(m.map, m.field, &error));
    return m;
}

static void end_four(four_maps *m)
{
    for (int axis = 0; axis < 3; axis++)
        ley_map_destroy(m->field[axis]);
    ley_map_destroy(m->map);
}

/* The field that the plan has made is what a job of its own makes. */
static void assert_field_right(const trial *s)
{
    ley_error error = {0};
    ley_job *job = NULL;
    double error2 = 0, right2 = 0;
    four_maps right = make_four(ley_map_grid(s->map));
    ley_atoms *atoms = support_make_atoms(N, s->position_A, s->charge_e, NULL);
    ley_request request = s->request;
    ley_run_options options;
    ley_run_options_default(&options);
    memcpy(request.potential.cell_A, s->cell_A, sizeof s->cell_A);
    request.tolerance = 1e-5;
    assert_ok(ley_job_create_chosen(engine, atoms, (ley_target){.map = right.map}, &request, &options, &job, &error));
    assert_ok(ley_job_run(job, &error));
    for (int axis = 0; axis < 3; axis++)
        for (int i = 0; i < EDGE * EDGE * EDGE; i++) {
            const double is = (double)ley_map_values(right.field[axis])[i];
            error2 += pow((double)ley_map_values(ley_map_field(s->map, axis))[i] - is, 2);
            right2 += is * is;
        }
    if (!(sqrt(error2 / right2) < 1e-3))
        fail_msg("the field is off by %g", sqrt(error2 / right2));
    ley_job_destroy(job);
    ley_atoms_destroy(atoms);
    end_four(&right);
}

/* A map with a field is filled run after run; and where the field is asked for between two runs,
 * the next one has it. */
static void test_fields(void **state)
{
    ley_error error = {0};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        trial *s = trial_create(engine, kinds[k].is_periodic, kinds[k].method);
        run(s);
        ley_map *field[3];
        for (int axis = 0; axis < 3; axis++)
            field[axis] = support_make_map(ley_map_grid(s->map));
        assert_ok(ley_map_set_field(s->map, field, &error));
        for (int frame = 0; frame < 3; frame++) {
            scatter(s->position_A, 0, box_A, 20 + (unsigned)frame);
            run(s);
            assert_right(s);
            assert_field_right(s);
        }
        assert_int_equal(prepared(s), 2);
        for (int axis = 0; axis < 3 && s->is_periodic; axis++)
            s->cell_A[axis][axis] = box_A + 1;
        if (s->is_periodic) { /* the field's maps go with the cell, too */
            assert_ok(ley_plan_update(s->plan, NULL, NULL, (const double(*)[3])s->cell_A, &error));
            run(s);
            assert_memory_equal(ley_map_grid(field[2]), ley_map_grid(s->map), sizeof(ley_grid));
            assert_field_right(s);
        }
        for (int frame = 0; frame < 100; frame++)
            assert_ok(ley_plan_run(s->plan, &error));
        ley_plan_totals totals;
        assert_ok(ley_plan_finish(s->plan, &totals, &error));
        assert_true(totals.checked_runs >= 2);
        trial_destroy(s);
        for (int axis = 0; axis < 3; axis++)
            ley_map_destroy(field[axis]);
    }
}

/* A field that is wrong from some run on, beside values that are right. */
static void test_a_device_that_lies_of_the_field(void **state)
{
    ley_error error = {0};
    fake_plan plan = {.name = "liar"};
    fake_devices_begin(&plan, 1);
    ley_engine *fakes = support_make_engine("all");
    trial *s = trial_create(fakes, false, "dcs");
    four_maps four = make_four(ley_map_grid(s->map));
    ley_atoms *atoms = support_make_atoms(N, s->position_A, s->charge_e, NULL);
    ley_plan *of_field = NULL;
    assert_ok(ley_plan_create(fakes, atoms, (ley_target){.map = four.map}, &s->request, NULL, &of_field, &error));
    ley_status status = ley_plan_run(of_field, &error);
    plan.lie = FAKE_SCALES;
    plan.lie_factor = 1.01;
    plan.lie_at = plan.reads + 1;
    plan.lie_quarter = 3; /* values, x, y, z */
    for (int k = 0; k < 150 && status == LEY_OK; k++)
        status = ley_plan_run(of_field, &error);
    if (status == LEY_OK)
        status = ley_plan_finish(of_field, NULL, &error);
    assert_int_equal(status, LEY_ERROR_WRONG_RESULT);
    if (strstr(error.message, "the field along y is") == NULL)
        fail_msg("%s", error.message);
    ley_plan_destroy(of_field);
    ley_atoms_destroy(atoms);
    end_four(&four);
    trial_destroy(s);
    ley_engine_destroy(fakes);
    fake_devices_end();
    ley_error_clear(&error);
}

/* The runs of a plan, those that were prepared anew and those that were not, are added to the
 * statistics of its target. */
static void test_statistics(void **state)
{
    ley_error error = {0};
    enum { RUNS = 5, POINTS = EDGE * EDGE * EDGE };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        trial *s = trial_create(engine, kinds[k].is_periodic, kinds[k].method);
        double *sum = calloc(POINTS, sizeof *sum);
        ley_target target = {.map = s->map};
        ley_plan *plan = NULL;
        assert_non_null(sum);
        assert_ok(ley_statistics_create(&target, LEY_KEEP_MEAN, &target.statistics, &error));
        ley_atoms *atoms = support_make_atoms(N, s->position_A, s->charge_e, NULL);
        assert_ok(ley_plan_create(engine, atoms, target, &s->request, NULL, &plan, &error));
        for (int frame = 0; frame < RUNS; frame++) {
            scatter(s->position_A, 0, box_A, 30 + (unsigned)frame);
            assert_ok(ley_plan_update(plan, s->position_A, NULL, NULL, &error));
            assert_ok(ley_plan_run(plan, &error));
            for (int i = 0; i < POINTS; i++)
                sum[i] += (double)ley_map_values(s->map)[i];
        }
        assert_int_equal(ley_statistics_runs(target.statistics), RUNS);
        for (int i = 0; i < POINTS; i++)
            assert_true(fabs(ley_statistics_mean(target.statistics, 0)[i] - sum[i] / RUNS) <=
                        1e-12 * (1 + fabs(sum[i])));
        ley_plan_destroy(plan);
        ley_statistics_destroy(target.statistics);
        ley_atoms_destroy(atoms);
        free(sum);
        trial_destroy(s);
    }
}

/* What is asked for while no run is under way stops none; and from no charges at all the plan comes
 * to what the charges of the next run need. */
static void test_cancels_and_empty_frames(void **state)
{
    ley_error error = {0};
    double none_e[N] = {0};
    trial *s = trial_create(engine, true, "msm");
    assert_ok(ley_plan_update(s->plan, NULL, none_e, NULL, &error));
    assert_ok(ley_plan_run(s->plan, &error));
    ley_plan_cancel(s->plan);
    assert_ok(ley_plan_run(s->plan, &error));
    assert_ok(ley_plan_update(s->plan, NULL, s->charge_e, NULL, &error));
    run(s);
    assert_right(s);
    assert_int_equal(prepared(s), 2);
    trial_destroy(s);
}

/* ---- Verification ---------------------------------------------------------------------------- */

/* 256 points of every 100 runs, by two of them; none where nobody wants any. */
static void test_checks(void **state)
{
    ley_error error = {0};
    ley_plan_totals totals;
    trial *s = trial_create(engine, false, "dcs");
    for (int k = 0; k < 101; k++) {
        s->position_A[3 * (k % N)] += 0.01;
        run(s);
    }
    assert_ok(ley_plan_finish(s->plan, &totals, &error));
    assert_int_equal(totals.runs, 101);
    assert_int_equal(totals.prepared, 1);
    assert_int_equal(totals.checked_runs, 2);
    assert_int_equal(totals.checked_points, 256);
    assert_true(totals.relative_rms > 0 && totals.relative_rms < 1e-5 && totals.max_error > 0);
    assert_int_equal(totals.missed, 0);
    trial_destroy(s);
}

/* ---- What goes wrong ------------------------------------------------------------------------- */

static void assert_same_as(const trial *s, const float *right)
{
    for (int i = 0; i < EDGE * EDGE * EDGE; i++)
        assert_true(fabs((double)ley_map_values(s->map)[i] - (double)right[i]) < 1e-3 * fabs((double)right[i]) + 1e-3);
}

/* A device that fails in a later run: another one, or the same anew, makes it after all. */
static void test_a_device_that_fails(void **state)
{
    ley_error error = {0};
    fake_plan plans[] = {{.name = "one", .speed = 4}, {.name = "other"}};
    fake_devices_begin(plans, 2);
    ley_engine *fakes = support_make_engine("all");
    trial *s = trial_create(fakes, false, "dcs");
    run(s);
    float *right = copy_values(s);
    plans[0].fail_launch = plans[0].launches + 2;
    for (int k = 0; k < 400 && plans[0].failed == 0; k++) { /* on a busy machine the other one may do whole runs */
        run(s);
        assert_same_as(s, right);
    }
    assert_true(plans[0].failed > 0);
    run(s);
    assert_same_as(s, right);
    plans[1].fail_read = plans[1].reads + 1; /* nobody is left */
    ley_status status = LEY_OK;
    for (int k = 0; k < 3 && status == LEY_OK; k++)
        status = ley_plan_run(s->plan, &error);
    assert_int_equal(status, LEY_ERROR_DEVICE);
    trial_destroy(s);
    ley_engine_destroy(fakes);
    free(right);
    fake_devices_end();
    for (int i = 0; i < 2; i++)
        assert_int_equal(plans[i].live_objects, 0);
    ley_error_clear(&error);
}

/* Values that are wrong from some run on are found by a later check, which names the run. */
static void test_a_device_that_lies(void **state)
{
    ley_error error = {0};
    ley_plan_totals totals;
    fake_plan plan = {.name = "liar"};
    fake_devices_begin(&plan, 1);
    ley_engine *fakes = support_make_engine("all");
    trial *s = trial_create(fakes, false, "dcs");
    ley_status status = LEY_OK;
    int k = 0;
    for (; k < 150 && status == LEY_OK; k++) {
        if (k == 5) {
            plan.lie = FAKE_SCALES;
            plan.lie_factor = 1.01;
            plan.lie_at = 1;
        }
        status = ley_plan_run(s->plan, &error);
    }
    if (status == LEY_OK)
        status = ley_plan_finish(s->plan, &totals, &error);
    assert_int_equal(status, LEY_ERROR_WRONG_RESULT);
    assert_non_null(strstr(error.message, "run "));
    assert_non_null(strstr(error.message, "verification failed"));
    ley_plan_finish(s->plan, &totals, NULL);
    assert_true(totals.missed_runs >= 1 && totals.missed >= 6 && totals.missed <= 106);
    trial_destroy(s);
    ley_engine_destroy(fakes);
    fake_devices_end();
    ley_error_clear(&error);
}

/* What is refused leaves the plan as it was. */
static void test_refusals(void **state)
{
    ley_error error = {0};
    trial *s = trial_create(engine, false, "dcs");
    run(s);
    float *first = copy_values(s);
    double *wrong = malloc(sizeof s->position_A);
    assert_non_null(wrong);
    memcpy(wrong, s->position_A, sizeof s->position_A);
    wrong[3 * 123 + 1] = NAN;
    assert_error(ley_plan_update(s->plan, wrong, NULL, NULL, &error), LEY_ERROR_INPUT, "atom 124: y");
    wrong[3 * 123 + 1] = 0;
    double charge_e[N] = {[5] = INFINITY};
    assert_error(ley_plan_update(s->plan, wrong, charge_e, NULL, &error), LEY_ERROR_INPUT, "atom 6: charge");
    assert_ok(ley_plan_run(s->plan, &error));
    assert_memory_equal(first, ley_map_values(s->map), sizeof(float) * EDGE * EDGE * EDGE);
    ley_plan *none = NULL;
    ley_atoms *atoms = support_make_atoms(N, s->position_A, s->charge_e, NULL);
    assert_int_equal(ley_plan_create(engine, atoms, (ley_target){.map = NULL}, &s->request, NULL, &none, &error),
                     LEY_ERROR_USAGE);
    ley_request request = s->request;
    request.method = "dcm";
    ley_map *plain = support_make_map(ley_map_grid(s->map));
    assert_int_equal(ley_plan_create(engine, atoms, (ley_target){.map = plain}, &request, NULL, &none, &error),
                     LEY_ERROR_USAGE);
    assert_null(none);
    ley_plan_destroy(NULL);
    ley_map_destroy(plain);
    ley_atoms_destroy(atoms);
    free(wrong);
    free(first);
    trial_destroy(s);
    ley_error_clear(&error);
}

static int run_on(const char *selector, const ley_device_info *info)
{
    return RUN_ON_DEVICE("plans", &engine, test_positions, test_charges, test_values_that_shrink, test_strong_values,
                         test_atoms_that_leave, test_cells, test_points, test_fields, test_statistics,
                         test_cancels_and_empty_frames, test_checks, test_refusals);
}

int main(void)
{
    return support_on_each_device(run_on) +
           RUN_TESTS(test_a_device_that_fails, test_a_device_that_lies, test_a_device_that_lies_of_the_field);
}
