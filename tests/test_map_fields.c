/* Electric fields on grids, on every device of this machine: of direct sums and of every pair
 * function right against a plain sum in double precision that is written here, in open space and in
 * periodic cells, in every variant and sum; the potentials beside them as without; four maps in
 * memory or in files. */
#include "support.h"

#include "short_job.h"

static ley_engine *engine; /* of the device under test */

/* ---- The judge ------------------------------------------------------------------------------- */

/* A pair function by its formula, of r below the cutoff a; q: charge; R, d: of the other energies
 * the sum of both radii and the depth of both. */
typedef struct pair_terms {
    int pair; /* -1: direct sums */
    double a, kappa, z;
} pair_terms;

static double function_of(const pair_terms *t, double r, double q, double R, double d)
{
    const double s = r * r / (t->a * t->a);
    switch (t->pair) {
    case LEY_PAIR_SHIFTED:
        return q * (1 - s) * (1 - s) / r;
    case LEY_PAIR_TAYLOR2:
        return q * (1 / r - (15.0 / 8 - 5.0 / 4 * s + 3.0 / 8 * s * s) / t->a);
    case LEY_PAIR_TAYLOR3:
        return q * (1 / r - (35.0 / 16 - 35.0 / 16 * s + 21.0 / 16 * s * s - 5.0 / 16 * s * s * s) / t->a);
    case LEY_PAIR_TAYLOR4:
        return q * (1 / r - (315.0 / 128 - 105.0 / 32 * s + 189.0 / 64 * s * s - 45.0 / 32 * s * s * s +
                             35.0 / 128 * s * s * s * s) /
                                t->a);
    case LEY_PAIR_YUKAWA:
        return q * exp(-t->kappa * r) / r;
    case LEY_PAIR_DISTANCE_DIELECTRIC:
        return q / (r * r);
    case LEY_PAIR_LENNARD_JONES:
        return d * (pow(R / r, 12) - 2 * pow(R / r, 6));
    case LEY_PAIR_BUCKINGHAM:
        return d * (6 / (t->z - 6) * exp(t->z * (1 - r / R)) - t->z / (t->z - 6) * pow(R / r, 6));
    case LEY_PAIR_EXPRESSION: /* support_short_range() has this one */
        return q * exp(-t->kappa * r * r) / r + 0.1 * q * pow(1 - r / t->a, 3);
    default:
        return q / r;
    }
}

/* What an energy has subtracted from a repulsion, which nearly cancels it at some distance. */
static double attraction_of(const pair_terms *t, double r, double R, double d)
{
    return t->pair == LEY_PAIR_LENNARD_JONES ? 2 * d * pow(R / r, 6)
           : t->pair == LEY_PAIR_BUCKINGHAM  ? d * t->z / (t->z - 6) * pow(R / r, 6)
                                             : 0;
}

/* -f'(r)/r, by differences of the function. */
static double slope_of(const pair_terms *t, double r, double q, double R, double d)
{
    const double h = 1e-4 * r;
    return -(8 * (function_of(t, r + h, q, R, d) - function_of(t, r - h, q, R, d)) -
             (function_of(t, r + 2 * h, q, R, d) - function_of(t, r - 2 * h, q, R, d))) /
           (12 * h) / r;
}

/* The field of all atoms and their nearest images, and the sum of the lengths of the terms of which
 * it is; false: rounding decides whether an atom counts. */
static bool sum_field(const ley_atoms *atoms, const support_options *o, const pair_terms *t, const double point_A[3],
                      double field[3], double *size)
{
    const ley_short_range *s = &o->short_range;
    const double *position_A = ley_atoms_positions_A(atoms);
    const int reach = s->periodic[0] && t->pair >= 0 ? 1 : 0;
    bool is_clear = true;
    memset(field, 0, 3 * sizeof *field);
    *size = 0;
    for (size_t j = 0; j < ley_atoms_count(atoms); j++)
        for (int image = 0; image < (reach > 0 ? 27 : 1); image++) {
            double way_A[3], r2 = 0;
            for (size_t axis = 0; axis < 3; axis++) {
                way_A[axis] = point_A[axis] - position_A[3 * j + axis];
                for (int k = 0; k < 3 && reach > 0; k++)
                    way_A[axis] -= s->cell_A[k][axis] * ((k == 0 ? image % 3 : k == 1 ? image / 3 % 3 : image / 9) - 1);
                r2 += way_A[axis] * way_A[axis];
            }
            const double r = sqrt(r2);
            is_clear = is_clear && fabs(r - o->r_min_A) > 1e-5 && (t->pair < 0 || fabs(r - t->a) > 1e-5);
            if (r < o->r_min_A || (t->pair >= 0 && r >= t->a))
                continue;
            const double R = ley_atoms_radii_A(atoms)[j] + s->probe_radius_A,
                         d = sqrt(s->depth_for_all_kcal_mol * s->probe_depth_kcal_mol),
                         slope = slope_of(t, r, ley_atoms_charges_e(atoms)[j], R, d),
                         pull = 6 * attraction_of(t, r, R, d) / r2;
            for (int axis = 0; axis < 3; axis++)
                field[axis] += slope * way_A[axis];
            *size += (fabs(slope + pull) + pull) * r;
        }
    return is_clear;
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

typedef struct outcome {
    ley_status status;
    ley_error error;
    ley_map *map, *field[3]; /* field: NULL without one */
    ley_job *job;
} outcome;

static outcome begin(const ley_grid *grid, bool field)
{
    outcome o = {.status = LEY_OK};
    ley_error error = {0};
    assert_ok(ley_map_create(grid, &o.map, &error));
    for (int axis = 0; axis < 3 && field; axis++)
        assert_ok(ley_map_create(grid, &o.field[axis], &error));
    if (field)
        assert_ok(ley_map_set_field(o.map, o.field, &error));
    return o;
}

static outcome run(const ley_atoms *atoms, const ley_grid *grid, const support_options *options, bool field)
{
    outcome o = begin(grid, field);
    ley_error error = {0};
    assert_ok(support_job_create(engine, atoms, o.map, options, &o.job, &error));
    o.status = ley_job_run(o.job, &o.error);
    return o;
}

static void end(outcome *o)
{
    ley_job_destroy(o->job);
    for (int axis = 0; axis < 3; axis++)
        ley_map_destroy(o->field[axis]);
    ley_map_destroy(o->map);
    ley_error_clear(&o->error);
}

/* The largest error of a component, relative to the lengths of what atoms add. Values of steep
 * functions next to an atom hide all others. */
static double worst_error(const ley_atoms *atoms, const outcome *o, const support_options *options)
{
    const ley_short_range *s = &options->short_range;
    const bool is_direct = options->method == SUPPORT_DCS, is_energy = !is_direct && ley_pair_get(s->pair)->is_energy;
    const pair_terms t = {is_direct ? -1 : (int)s->pair, s->cutoff_A, s->kappa_per_A, s->steepness};
    const double C = is_energy ? 1 : ley_coulomb_constant(options->units, options->dielectric, options->temperature_K);
    const ley_grid *l = ley_map_grid(o->map);
    double worst = 0;
    int64_t judged = 0;
    for (int64_t i = 0; i < ley_grid_points(l); i++) {
        const int64_t at[3] = {i % l->n[0], i / l->n[0] % l->n[1], i / l->n[0] / l->n[1]};
        double point_A[3], right[3], size;
        ley_grid_point_A(l, at, point_A);
        if (!sum_field(atoms, options, &t, point_A, right, &size))
            continue;
        judged++;
        for (int axis = 0; axis < 3; axis++) {
            const double value = (double)ley_map_read_values(o->field[axis])[i];
            worst = isfinite(value) ? fmax(worst, fabs(value - C * right[axis]) / fmax(C * size, 1e-20)) : INFINITY;
        }
    }
    assert_true(judged > ley_grid_points(l) / 2);
    return worst;
}

static void check(const char *what, const ley_atoms *atoms, const ley_grid *grid, const support_options *options)
{
    outcome o = run(atoms, grid, options, true);
    if (o.status == LEY_ERROR_NO_DEVICE) {
        end(&o);
        return;
    }
    assert_ok_at(o.status, &o.error, what, __FILE__, __LINE__);
    const ley_report *report = ley_job_report(o.job);
    const ley_accuracy *a = &report->field_accuracy;
    const double off = worst_error(atoms, &o, options);
    if (!(off <= a->tolerance) || !a->passed || a->tolerance > 3e-2 || a->points != report->seeded_accuracy.points ||
        a->points == 0)
        fail_msg("%s: field off by %g, by the job's judge %g at %zu points, not %g", what, off, a->max_error, a->points,
                 a->tolerance);
    outcome alone = run(atoms, grid, options, false);
    assert_ok_at(alone.status, &alone.error, what, __FILE__, __LINE__);
    assert_int_equal(ley_job_report(alone.job)->field_accuracy.points, 0);
    if (options->method == SUPPORT_CUTOFF && support_has_vectors(engine) && /* sums are in the same order */
        memcmp(ley_map_read_values(o.map), ley_map_read_values(alone.map),
               (size_t)ley_grid_points(grid) * sizeof(float)) != 0)
        fail_msg("%s: with the field the potential has other bytes", what);
    for (int64_t i = 0; i < ley_grid_points(grid); i++) {
        const double v = (double)ley_map_read_values(o.map)[i], w = (double)ley_map_read_values(alone.map)[i];
        if (!(fabs(v - w) <= 1e-4 * fmax(fabs(w), 10)))
            fail_msg("%s: with the field a potential of %.9g becomes %.9g", what, w, v);
    }
    end(&alone);
    end(&o);
}

static support_options direct_options(void)
{
    return support_default_options();
}

/* Skewed, and turned with two of the axes exchanged; every second one is along x, y and z. */
static const ley_grid grids[] = {
    {.origin_A = {-3.25, 1, -7}, .step_A = {{0.5, 0.1, -0.05}, {0.2, 0.6, 0.1}, {-0.3, 0.15, 0.75}}, .n = {19, 13, 11}},
    {.origin_A = {-3.25, 1, -7}, .step_A = {{0.3, 0.4, 0}, {0, 0, 0.625}, {-0.6, 0.45, 0}}, .n = {19, 13, 11}}};

static const ley_grid *grid_at(size_t i)
{
    return i % 2 == 0 ? &short_job_grid : &grids[i / 2 % 2];
}

/* Every variant and every sum of a method. */
static void test_variants_and_sums(void **state)
{
    static const char *const methods[] = {"dcs", "cutoff"};
    ley_atoms *atoms = support_crowd(400, &short_job_grid, 3, 4);
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        const size_t variants = (size_t)support_variants(methods[m], LEY_TARGET_GRID);
        for (size_t i = 0; i < variants + 3; i++) {
            support_options options =
                m == 0 ? direct_options() : support_short_range(LEY_PAIR_TAYLOR4, short_job_cutoff_A);
            options.variant = i < variants ? ley_variant_name(methods[m], LEY_TARGET_GRID, i) : NULL;
            options.sum = i < variants ? LEY_SUM_FLOAT : (ley_sum)(i - variants);
            if (!support_is_quick() || i >= variants || support_tries_variant(engine, options.variant))
                for (size_t g = 0; g < 2; g++)
                    check(options.variant != NULL ? options.variant : methods[m], atoms, grid_at(2 * i + g), &options);
        }
    }
    ley_atoms_destroy(atoms);
}

static void test_functions(void **state)
{
    ley_atoms *atoms = support_crowd(400, &short_job_grid, 3, 4);
    for (int pair = LEY_PAIR_COULOMB; pair <= LEY_PAIR_EXPRESSION; pair++)
        for (int space = 0; space < 2; space++) {
            support_options options = support_short_range((ley_pair)pair, short_job_cutoff_A);
            if (space == 1)
                short_job_make_periodic(&options);
            if (!support_is_quick() || pair % 2 == space)
                check(ley_pair_get((ley_pair)pair)->name, atoms, grid_at((size_t)pair / 2), &options);
        }
    ley_atoms_destroy(atoms);
}

/* Of slabs of every size the same bytes, in memory and in files, and the units. */
static void test_slabs_and_files(void **state)
{
    ley_atoms *atoms = support_crowd(300, &short_job_grid, 3, 4);
    const size_t bytes = (size_t)ley_grid_points(&short_job_grid) * sizeof(float);
    for (int m = 0; m < 2; m++) {
        support_options options = m == 0 ? direct_options() : support_short_range(LEY_PAIR_TAYLOR2, short_job_cutoff_A);
        options.math = LEY_MATH_STANDARD;
        options.slab_planes = 1;
        outcome one = run(atoms, &short_job_grid, &options, true);
        assert_ok_at(one.status, &one.error, "planes one by one", __FILE__, __LINE__);
        options.slab_planes = 0;
        ley_error error = {0};
        outcome o = {.status = LEY_OK};
        char path[4][256];
        ley_map *made[4];
        for (int c = 0; c < 4; c++) {
            snprintf(path[c], sizeof path[c], "%s/%d.raw", support_directory(), c);
            assert_ok(ley_map_create_file(&short_job_grid, path[c], &made[c], &error));
        }
        assert_ok(ley_map_set_field(made[0], made + 1, &error));
        assert_ok(support_job_create(engine, atoms, made[0], &options, &o.job, &error));
        assert_ok(ley_job_run(o.job, &error));
        assert_true(ley_job_report(o.job)->field_accuracy.passed && ley_job_report(o.job)->field_accuracy.points > 0);
        for (int c = 3; c >= 0; c--) {
            const ley_map *same = c == 0 ? one.map : one.field[c - 1];
            ley_map *read = NULL;
            assert_ok(ley_map_write(made[c], path[c], NULL, NULL, NULL, &error));
            assert_ok(ley_map_read(path[c], &read, &error));
            if (memcmp(ley_map_read_values(read), ley_map_read_values(same), bytes) != 0)
                fail_msg("component %d of method %d has other bytes in a file", c, m);
            assert_string_equal(ley_map_units(read), c == 0 ? "kT/e" : "kT/e/A");
            ley_map_destroy(read);
        }
        ley_job_destroy(o.job);
        for (int c = 0; c < 4; c++)
            ley_map_destroy(made[c]);
        end(&one);
    }
    ley_atoms_destroy(atoms);
}

/* Central differences of a finely spaced map. */
static void test_differences(void **state)
{
    const double h_A = 0.02;
    const ley_grid fine = {.origin_A = {-3, 2, 1}, .step_A = LEY_STEPS(h_A, h_A, h_A), .n = {17, 9, 11}};
    const ley_grid around = {.origin_A = {-8, -3, -4}, .step_A = LEY_STEPS(1, 1, 1), .n = {11, 11, 11}};
    ley_atoms *atoms = support_crowd(40, &around, 3, 7);
    for (int m = 0; m < 2; m++) {
        support_options options = m == 0 ? direct_options() : support_short_range(LEY_PAIR_TAYLOR3, 6);
        options.sum = LEY_SUM_COMPENSATED;
        outcome o = run(atoms, &fine, &options, true);
        assert_ok_at(o.status, &o.error, "a fine grid", __FILE__, __LINE__);
        const int64_t stride[3] = {1, fine.n[0], fine.n[0] * fine.n[1]};
        const float *phi = ley_map_read_values(o.map);
        for (int64_t i = 0; i < ley_grid_points(&fine); i++)
            for (int axis = 0; axis < 3; axis++) {
                const int64_t at = i / stride[axis] % fine.n[axis];
                if (at == 0 || at == fine.n[axis] - 1)
                    continue;
                const double before = (double)phi[i - stride[axis]], behind = (double)phi[i + stride[axis]],
                             curved = fabs(before + behind - 2 * (double)phi[i]),
                             value = (double)ley_map_read_values(o.field[axis])[i],
                             about = (before - behind) / (2 * h_A);
                if (!(fabs(value - about) <=
                      0.02 * fabs(about) + 2 * curved / h_A + 2e-6 * fabs((double)phi[i]) / h_A + 1))
                    fail_msg("method %d, point %lld along %c: %g, by differences %g", m, (long long)i, 'x' + axis,
                             value, about);
            }
        end(&o);
    }
    ley_atoms_destroy(atoms);
}

/* Of all charges, by meshes. */
typedef struct mesh_case {
    const char *what;
    bool periodic[3];
    double cell_A[3][3];
    double kappa_per_A;
    ley_solver solver;
    bool has_mean;
    double tolerance; /* 0: 1e-4 */
} mesh_case;

static outcome run_long(ley_engine *on, const ley_atoms *atoms, const ley_grid *grid, const mesh_case *c, bool field)
{
    outcome o = begin(grid, field);
    ley_error error = {0};
    ley_request request = support_default_request();
    ley_run_options options = support_default_run_options();
    request.method = "msm";
    memcpy(request.potential.periodic, c->periodic, sizeof c->periodic);
    memcpy(request.potential.cell_A, c->cell_A, sizeof c->cell_A);
    request.potential.kappa_per_A = c->kappa_per_A;
    request.potential.solver = c->solver;
    request.tolerance = c->tolerance > 0 ? c->tolerance : request.tolerance;
    request.fixed = on != NULL && c->solver != LEY_SOLVER_AUTO ? LEY_FIX_SOLVER : 0;
    if (on != NULL && c->has_mean) { /* nodes that are compared: by the tolerance alone, not by what was measured */
        request.potential.cutoff_A = 6;
        request.fixed |= LEY_FIX_CUTOFF;
    }
    options.by_host = on == NULL;
    assert_ok(ley_job_create_chosen(on, atoms, (ley_target){.map = o.map}, &request, &options, &o.job, &error));
    o.status = ley_job_run(o.job, &o.error);
    return o;
}

/* Against exact sums by the host, on grids of every shape, open and periodic, with every
 * solver; the potential as without the field. */
static void check_meshes(const ley_atoms *atoms, const ley_grid *grid, const mesh_case *c)
{
    outcome o = run_long(engine, atoms, grid, c, true), right, alone;
    if (o.status == LEY_ERROR_NO_DEVICE) {
        end(&o);
        return;
    }
    assert_ok_at(o.status, &o.error, c->what, __FILE__, __LINE__);
    const ley_report *r = ley_job_report(o.job);
    const double limit = c->tolerance > 0 ? 10 * c->tolerance : 1e-3;
    assert_true(r->host == NULL && strcmp(r->method, "msm") == 0);
    right = run_long(NULL, atoms, grid, c, true);
    assert_ok_at(right.status, &right.error, c->what, __FILE__, __LINE__);
    alone = run_long(engine, atoms, grid, c, false);
    assert_ok_at(alone.status, &alone.error, c->what, __FILE__, __LINE__);
    if (!(support_difference(o.map, alone.map) < 2e-4))
        fail_msg("%s: with the field potentials differ by %g", c->what, support_difference(o.map, alone.map));
    for (int axis = 0; axis < 3; axis++)
        if (!(support_difference(o.field[axis], right.field[axis]) < limit))
            fail_msg("%s: the field along %c is off by %g", c->what, 'x' + axis,
                     support_difference(o.field[axis], right.field[axis]));
    if (!r->field_accuracy.passed || r->field_accuracy.points == 0 || !(r->field_accuracy.relative_rms < limit))
        fail_msg("%s: by the job's judge %g", c->what, r->field_accuracy.relative_rms);
    ley_long_range with, without; /* plans go by the values less their mean, of which a field has nothing */
    assert_true(ley_job_long_range(o.job, &with) && ley_job_long_range(alone.job, &without));
    if (c->has_mean && !(with.spacing_A < without.spacing_A))
        fail_msg("%s: nodes are %g A apart, and %g A without the field", c->what, with.spacing_A, without.spacing_A);
    end(&alone);
    end(&right);
    end(&o);
}

static void test_meshes(void **state)
{
    static const mesh_case cases[] = {
        {"open space", {false, false, false}, LEY_STEPS(0, 0, 0), 0, LEY_SOLVER_AUTO},
        {"open space, levels", {false, false, false}, LEY_STEPS(0, 0, 0), 0, LEY_SOLVER_MULTILEVEL},
        {"a box", {true, true, true}, LEY_STEPS(21, 19, 23), 0, LEY_SOLVER_FOURIER},
        {"a skewed cell", {true, true, true}, {{20, 0, 0}, {4, 19, 0}, {-3, 2, 22}}, 0, LEY_SOLVER_AUTO},
        {"a box whose net charge has a large mean",
         {true, true, true},
         LEY_STEPS(21, 19, 23),
         0.0005,
         LEY_SOLVER_FOURIER,
         true},
        {"a skewed layer, screened", {true, true, false}, {{20, 0, 0}, {4, 19, 0}, {0, 0, 0}}, 0.1, LEY_SOLVER_AUTO}};
    const ley_grid grid = {.origin_A = {-4, 1, -2}, .step_A = LEY_STEPS(0.9, 1.1, 0.8), .n = {21, 19, 13}};
    ley_atoms *neutral = support_atoms(150, 0, 18, 4), *charged = NULL;
    double charge_e[150];
    ley_error error = {0};
    for (int i = 0; i < 150; i++)
        charge_e[i] = 0.5;
    assert_ok(ley_atoms_create(150, ley_atoms_positions_A(neutral), charge_e, NULL, &charged, &error));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t g = 0; g <= sizeof grids / sizeof *grids; g++)
            if (!support_is_quick() || g == i % 3)
                check_meshes(cases[i].has_mean ? charged : neutral, g == 0 ? &grid : &grids[g - 1], &cases[i]);
    ley_atoms_destroy(neutral);
    ley_atoms_destroy(charged);
}

/* On the grid that divides the cell, whatever its angles: along its axes, without a look at the
 * nodes of each point. */
static void test_own_grids(void **state)
{
    static const mesh_case cases[] = {
        {"60, 60, 60 degrees",
         {true, true, true},
         {{20, 0, 0}, {10, 17.32, 0}, {10, 5.774, 16.33}},
         0,
         LEY_SOLVER_FOURIER},
        {"60, 60, 60 degrees, to 1e-6",
         {true, true, true},
         {{20, 0, 0}, {10, 17.32, 0}, {10, 5.774, 16.33}},
         0,
         LEY_SOLVER_FOURIER,
         .tolerance = 1e-6},
        {"70, 80, 110 degrees, screened, to 1e-5",
         {true, true, true},
         {{22, 0, 0}, {-6.84, 18.794, 0}, {3.299, 8.104, 16.842}},
         0.1,
         LEY_SOLVER_AUTO,
         .tolerance = 1e-5},
        {"axes turned, left-handed", {true, true, true}, {{0, 3, 21}, {19, -4, 5}, {2, 20, -3}}, 0, LEY_SOLVER_FOURIER},
        {"a skewed layer, screened", {true, true, false}, {{20, 0, 0}, {8, 19, 0}, {0, 0, 19}}, 0.1, LEY_SOLVER_AUTO}};
    ley_atoms *atoms = support_atoms(150, 0, 18, 4);
    support_plant_fault("interpolation_gather", "gm_phi[at] = accumulate", "does not compile");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ley_grid grid = {.origin_A = {-4, 1, -2}, .n = {37, 30, 19}};
        for (int m = 0; m < 3; m++)
            for (int axis = 0; axis < 3; axis++)
                grid.step_A[m][axis] = cases[i].cell_A[m][axis] / (double)grid.n[m];
        if (!support_is_quick() || i % 2 == 0)
            check_meshes(atoms, &grid, &cases[i]);
    }
    unsetenv("LEYDEN_KERNEL_DIR");
    ley_atoms_destroy(atoms);
}

/* Seconds that the host is predicted to take. */
static double predicted_s(const ley_atoms *atoms, const ley_grid *grid, bool field)
{
    const support_options options = direct_options();
    const ley_direct direct = support_direct(&options);
    ley_run_options by_host = support_default_run_options();
    by_host.by_host = true;
    outcome o = begin(grid, field);
    ley_error error = {0};
    const ley_forecast *forecast;
    assert_ok(ley_job_create_direct(NULL, atoms, (ley_target){.map = o.map}, &direct, &by_host, &o.job, &error));
    assert_ok(ley_job_forecast(o.job, &forecast, &error));
    const double seconds = forecast->total_s;
    assert_true(forecast->host_bytes >= (field ? 4 : 1) * ley_grid_points(grid) * (int64_t)sizeof(float));
    end(&o);
    return seconds;
}

/* The host alone has the same, and knows that it takes longer. */
static void test_host(void **state)
{
    const ley_grid grid = {.origin_A = {-3, 2, 1}, .step_A = LEY_STEPS(1, 1.5, 1.25), .n = {9, 7, 8}};
    ley_atoms *atoms = support_crowd(60, &grid, 3, 7);
    const support_options options = direct_options();
    const ley_direct direct = support_direct(&options);
    ley_run_options by_host = support_default_run_options();
    by_host.by_host = true;
    outcome o = begin(&grid, true);
    ley_error error = {0};
    assert_ok(ley_job_create_direct(NULL, atoms, (ley_target){.map = o.map}, &direct, &by_host, &o.job, &error));
    assert_ok(ley_job_run(o.job, &error));
    assert_true(worst_error(atoms, &o, &options) < 2e-7);
    assert_string_equal(ley_map_units(o.field[2]), "kT/e/A");
    assert_true(predicted_s(atoms, &grid, true) > 4 * predicted_s(atoms, &grid, false));
    const ley_report *r = ley_job_report(o.job); /* maps have floats, and so their errors are those of floats */
    assert_true(r->field_accuracy.relative_rms > 1e-9 && r->field_accuracy.relative_rms < 1e-7);
    end(&o);
    ley_atoms_destroy(atoms);
}

/* What is no field of a map. */
static void test_refusals(void **state)
{
    const ley_grid grid = {.step_A = LEY_STEPS(1, 1, 1), .n = {3, 3, 3}},
                   other = {.step_A = LEY_STEPS(1, 1, 1), .n = {3, 3, 4}};
    outcome o = begin(&grid, true);
    ley_error error = {0};
    ley_map *fourth, *outline;
    assert_ok(ley_map_create(&other, &fourth, &error));
    assert_ok(ley_map_outline(&grid, &outline, &error));
    ley_map *const of_others[] = {o.field[0], fourth, o.field[2]},
                   *const twice[] = {o.field[0], o.field[1], o.field[1]},
                   *const itself[] = {o.field[0], o.map, o.field[2]},
                   *const nowhere[] = {o.field[0], outline, o.field[2]};
    assert_error(ley_map_set_field(o.map, of_others, &error), LEY_ERROR_USAGE, "along y has another grid");
    assert_int_equal(ley_map_set_field(o.map, twice, &error), LEY_ERROR_USAGE);
    assert_int_equal(ley_map_set_field(o.map, itself, &error), LEY_ERROR_USAGE);
    ley_error_clear(&error);
    assert_true(ley_map_field(o.map, 1) == o.field[1]);
    assert_ok(ley_map_set_field(o.map, nowhere, &error));
    ley_atoms *atoms = support_atoms(10, 0, 3, 1);
    support_options options = direct_options();
    assert_ok(support_job_create(engine, atoms, o.map, &options, &o.job, &error));
    assert_error(ley_job_run(o.job, &error), LEY_ERROR_USAGE, "no values");
    ley_error_clear(&error);
    ley_atoms_destroy(atoms);
    end(&o);
    ley_map_destroy(outline);
    ley_map_destroy(fourth);
}

/* What no self-test sees the verification finds. */
static void test_verification_finds_faults(void **state)
{
    ley_atoms *atoms = support_atoms(200, 0, 9, 4);
    for (int m = 0; m < 2; m++) {
        support_options options = m == 0 ? direct_options() : support_short_range(LEY_PAIR_TAYLOR2, short_job_cutoff_A);
        options.short_range.bin_depth = 64;
        options.short_range.bin_fill = 0.1;
        if (m == 0)
            support_plant_fault("dcs", "gm_sum[at] = p->sum[k];",
                                "gm_sum[at] = p->sum[k] * (c == 2 && component == 5632 / LEY_WIDTH ? 1.01f : 1.0f);");
        else
            support_plant_fault("cutoff", "result(p, c * POINTS + INDEX(u, v, w))",
                                "result(p, c * POINTS + INDEX(u, v, w)) * (p->limits.x > 20000 ? 1.01f : 1.0f)");
        outcome o = run(atoms, &short_job_grid, &options, true);
        assert_int_equal(o.status, LEY_ERROR_WRONG_RESULT);
        if (strstr(o.error.message, "the field along") == NULL)
            fail_msg("%s", o.error.message);
        assert_false(ley_job_report(o.job)->field_accuracy.passed);
        end(&o);
        unsetenv("LEYDEN_KERNEL_DIR");
    }
    ley_atoms_destroy(atoms);
}

static int run_on(const char *selector, const ley_device_info *info)
{
    return RUN_ON_DEVICE("fields on grids", &engine, test_variants_and_sums, test_functions, test_slabs_and_files,
                         test_differences, test_meshes, test_own_grids, test_host, test_refusals,
                         test_verification_finds_faults);
}

int main(void)
{
    return support_on_each_device(run_on);
}
