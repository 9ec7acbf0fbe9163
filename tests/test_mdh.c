/* Multiple Debye-Hueckel boundaries on every device of this machine against double precision: every
 * kernel variant, sum, maths, kind of screening and of points; what is special about faces; what
 * must be refused, found wrong or cancelled. */
#include "pairwise.h"
#include "support.h"

#include "law/mdh.h"
#include "law/reference.h"
#include "spec.h"
#include "verify/verification.h"

static ley_engine *engine; /* of the device under test */
static bool fast;          /* it is: worth giving it many pairs */

static const ley_ion some_salt[] = {{1, 0.15, 2}, {-1, 0.15, 2}}, much_salt[] = {{1, 10, 2}, {-1, 10, 2}};

/* By LEY_SCREENING_...: what makes a job take that kind of kernel. */
static const struct {
    const char *name, *option;
    ley_solvent solvent;
    double largest_radius_A;
} kinds[] = {
    {"no screening", "-DLEY_SCREENING=0", {78.54, 2, 298.15, 0, NULL}, 3},
    {"folded screening", "-DLEY_SCREENING=1", {78.54, 2, 298.15, 2, some_salt}, 3},
    {"wide screening", "-DLEY_SCREENING=2", {78.54, 2, 298.15, 2, much_salt}, 45}, /* 2^67 */
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };
static const ley_solvent *const salty = &kinds[LEY_SCREENING_FOLDED].solvent;

static const ley_grid uneven = {.origin_A = {-3.25, 1, -7}, .step_A = LEY_STEPS(0.5, 0.625, 0.75), .n = {13, 10, 9}};

/* ---- Problems -------------------------------------------------------------------------------- */

static ley_boundary *list_of(int64_t n, const double *point_A)
{
    ley_error error = {0};
    ley_boundary *boundary = NULL;
    assert_ok(ley_boundary_create_points(n, point_A, &boundary, &error));
    return boundary;
}

/* Points anywhere in the grid and around it, in no order; their number fills no work-group. */
static ley_boundary *list_around(const ley_grid *l, unsigned seed)
{
    enum { POINTS = 333 };
    double point_A[3 * POINTS];
    for (int i = 0; i < POINTS; i++)
        for (int axis = 0; axis < 3; axis++)
            point_A[3 * i + axis] =
                l->origin_A[axis] + (1.5 * support_uniform(&seed) - 0.25) * (double)l->n[axis] * l->step_A[axis][axis];
    return list_of(POINTS, point_A);
}

static ley_boundary *around(bool list, unsigned seed)
{
    return list ? list_around(&uneven, seed) : support_make_boundary(&uneven);
}

static support_options options_of(const char *variant, ley_math math, ley_sum sum)
{
    support_options options = support_default_options();
    options.variant = variant;
    options.math = math;
    options.sum = sum;
    return options;
}

static const support_options *plain(void)
{
    static support_options options;
    options = options_of(NULL, LEY_MATH_AUTO, LEY_SUM_FLOAT);
    return &options;
}

/* ---- Results --------------------------------------------------------------------------------- */

/* A job that was run, with the boundary that it filled. */
typedef struct outcome {
    ley_boundary *boundary;
    ley_job *job;
    ley_status status;
    ley_error error;
} outcome;

/* The boundary becomes the outcome's. */
static outcome attempt(ley_engine *on, const ley_atoms *atoms, ley_boundary *boundary, const ley_solvent *solvent,
                       const support_options *options)
{
    outcome o = {.boundary = boundary};
    ley_error error = {0};
    assert_ok(support_job_create_boundary(on, atoms, boundary, solvent, options, &o.job, &error));
    o.status = ley_job_run(o.job, &o.error);
    return o;
}

static outcome run(const ley_atoms *atoms, ley_boundary *boundary, const ley_solvent *solvent,
                   const support_options *options)
{
    outcome o = attempt(engine, atoms, boundary, solvent, options);
    assert_ok_at(o.status, &o.error, "ley_job_run", __FILE__, __LINE__);
    return o;
}

static void end(outcome *o)
{
    ley_job_destroy(o->job);
    ley_boundary_destroy(o->boundary);
    ley_error_clear(&o->error);
}

static double reference_at(const ley_boundary *boundary, int64_t i, const ley_atoms *atoms, const ley_solvent *solvent)
{
    double point_A[3];
    ley_boundary_point_A(boundary, i, point_A);
    return reference_mdh(atoms, point_A, solvent).value;
}

/* Relative RMS difference from the reference at all points; infinite when a value is not finite. */
static double difference(const ley_boundary *boundary, const ley_atoms *atoms, const ley_solvent *solvent)
{
    double error = 0, square = 0;
    for (int64_t i = 0; i < ley_boundary_points(boundary); i++) {
        const double value = ley_boundary_read_values(boundary)[i], right = reference_at(boundary, i, atoms, solvent);
        if (!isfinite(value))
            return INFINITY;
        error += (value - right) * (value - right);
        square += right * right;
    }
    return sqrt(error / square);
}

/* The promise to users: an exponent is rounded by its own size, so that large radii cost digits. */
static double promise(const support_options *options, int kind)
{
    const double kappa = kind == LEY_SCREENING_WIDE ? ley_screening_per_A(&kinds[kind].solvent) : 0;
    const double exponent = 1.4427 * kappa * kinds[kind].largest_radius_A;
    return options->sum == LEY_SUM_DOUBLE ? 1e-12 : options->math == LEY_MATH_NATIVE ? 1e-3 : 1e-5 + 3e-7 * exponent;
}

/* Values at the same node are the same, whatever face they are on. */
static void assert_edges_agree(const ley_boundary *boundary)
{
    const ley_grid *l = ley_boundary_grid(boundary);
    const double *value = ley_boundary_read_values(boundary);
    const int64_t *n = l->n;
    double *seen = calloc((size_t)ley_grid_points(l), sizeof *seen);
    bool *known = calloc((size_t)ley_grid_points(l), sizeof *known);
    int64_t distinct = 0;
    for (int face = 0; face < LEY_FACE_COUNT; face++) {
        const int axis = face / 2, a = axis == 0 ? 1 : 0, b = axis == 2 ? 1 : 2;
        for (int64_t i = 0; i < n[a] * n[b]; i++) {
            int64_t node[3];
            node[axis] = face % 2 == 0 ? 0 : n[axis] - 1;
            node[a] = i % n[a];
            node[b] = i / n[a];
            const int64_t at = (node[2] * n[1] + node[1]) * n[0] + node[0];
            const double here = value[ley_boundary_face(boundary, face) + i];
            if (known[at] && here != seen[at])
                fail_msg("node (%d, %d, %d): %.9g on face %d, %.9g elsewhere", (int)node[0], (int)node[1], (int)node[2],
                         here, face, seen[at]);
            distinct += !known[at];
            known[at] = true;
            seen[at] = here;
        }
    }
    free(seen);
    free(known);
    assert_int_equal(distinct, ley_grid_points(l) - (n[0] - 2) * (n[1] - 2) * (n[2] - 2));
}

/* ---- Kernels --------------------------------------------------------------------------------- */

/* LEY_ERROR_NO_DEVICE is the right answer of a device that cannot do it; anything else has to be
 * right. */
static bool cannot(const outcome *o, const support_options *options)
{
    const ley_device_info *info = ley_engine_device(engine, 0);
    if (o->status != LEY_ERROR_NO_DEVICE)
        return false;
    const bool no_double = options->sum == LEY_SUM_DOUBLE && !info->has_double;
    const bool has_vectors = info->device_class == LEY_CLASS_CPU && strcmp(info->platform, "rusticl") != 0;
    const bool not_cpu = options->variant != NULL && strncmp(options->variant, "vector", 6) == 0 && !has_vectors;
    assert_non_null(strstr(o->error.message, info->name));
    return no_double || not_cpu;
}

static void check_report(const outcome *o, int kind, const support_options *options)
{
    const ley_device_report *d = &ley_job_report(o->job)->devices[0];
    const bool list = ley_boundary_grid(o->boundary) == NULL;
    assert_non_null(strstr(d->specification, kinds[kind].option));
    assert_non_null(strstr(d->specification, list ? "-DLEY_POINTS=1" : "-DLEY_POINTS=0"));
    assert_non_null(d->root);
    assert_true((d->exp != NULL) == (kind != LEY_SCREENING_NONE));
    if (options->variant != NULL)
        assert_string_equal(d->variant, options->variant);
}

static void check(int kind, bool list, const support_options *options)
{
    static const char *const maths[] = {"standard", "native", "auto"}, *const sums[] = {"float", "compensated",
                                                                                        "double"};
    const ley_solvent *solvent = &kinds[kind].solvent;
    ley_atoms *atoms = support_scattered(200, &uneven, 4, kinds[kind].largest_radius_A, 1);
    outcome o = attempt(engine, atoms, around(list, 2), solvent, options);
    if (!cannot(&o, options)) {
        assert_ok_at(o.status, &o.error, "ley_job_run", __FILE__, __LINE__);
        const double off = difference(o.boundary, atoms, solvent);
        if (!(off <= promise(options, kind)))
            fail_msg("%s, %s maths, %s sum, %s, %s: off by %g", options->variant != NULL ? options->variant : "default",
                     maths[options->math], sums[options->sum], kinds[kind].name, list ? "list" : "faces", off);
        check_report(&o, kind, options);
    }
    end(&o);
    ley_atoms_destroy(atoms);
}

static bool is_tried(const int *at)
{
    return support_tries_variant(engine, ley_variant_name("mdh", LEY_TARGET_GRID, (size_t)at[0]));
}

/* Each variant and the default one, kinds of screening, places of points, sums and maths. */
static void test_every_kernel(void **state)
{
    static const struct {
        ley_math math;
        ley_sum sum;
    } arithmetics[] = {{LEY_MATH_AUTO, LEY_SUM_FLOAT},
                       {LEY_MATH_AUTO, LEY_SUM_COMPENSATED},
                       {LEY_MATH_AUTO, LEY_SUM_DOUBLE},
                       {LEY_MATH_STANDARD, LEY_SUM_FLOAT},
                       {LEY_MATH_NATIVE, LEY_SUM_FLOAT}};
    pairwise p = PAIRWISE(support_variants("mdh", LEY_TARGET_GRID) + 1, KINDS, 2, 5);
    for (p.can_be = is_tried; pairwise_next(&p);) {
        const char *variant = ley_variant_name("mdh", LEY_TARGET_GRID, (size_t)p.at[0]); /* NULL: the default */
        const support_options options = options_of(variant, arithmetics[p.at[3]].math, arithmetics[p.at[3]].sum);
        check(p.at[1], p.at[2], &options);
    }
}

/* ---- Faces ----------------------------------------------------------------------------------- */

/* The smallest ones, long ones, those of multigrid; spacings that differ; atoms inside and
 * outside. */
static void test_odd_faces(void **state)
{
    static const ley_grid meshes[] = {
        {{0, 0, 0}, LEY_STEPS(1, 1, 1), {2, 2, 2}},
        {{0.1, 0.2, 0.3}, LEY_STEPS(0.5, 0.6, 0.7), {2, 3, 4}},
        {{-5, -5, 2}, LEY_STEPS(1.5, 0.25, 2), {5, 129, 3}},
        {{100, -200, 300}, LEY_STEPS(0.4, 0.5, 0.6), {33, 33, 33}},
    };
    for (size_t i = 0; i < sizeof meshes / sizeof meshes[0]; i++) {
        const int64_t *n = meshes[i].n;
        ley_atoms *atoms = support_scattered(40, &meshes[i], 3, 2, 6);
        outcome o = run(atoms, support_make_boundary(&meshes[i]), salty, plain());
        const double off = difference(o.boundary, atoms, salty);
        if (!(off <= 1e-5))
            fail_msg("%d x %d x %d: off by %g", (int)n[0], (int)n[1], (int)n[2], off);
        assert_edges_agree(o.boundary);
        const ley_report *r = ley_job_report(o.job);
        assert_int_equal(r->points, ley_grid_points(&meshes[i]) - (n[0] - 2) * (n[1] - 2) * (n[2] - 2));
        assert_int_equal(r->devices[0].points, r->points);
        assert_true(r->evaluations == 40.0 * (double)r->points);
        end(&o);
        ley_atoms_destroy(atoms);
    }
}

/* ---- Charges --------------------------------------------------------------------------------- */

/* Every single value is right, not only their mean square. */
static void assert_each_within(const ley_boundary *boundary, const ley_atoms *atoms, const ley_solvent *solvent,
                               double tolerance)
{
    for (int64_t i = 0; i < ley_boundary_points(boundary); i++) {
        const double value = ley_boundary_read_values(boundary)[i], right = reference_at(boundary, i, atoms, solvent);
        if (!(fabs(value - right) <= tolerance * fabs(right)))
            fail_msg("value %d: %.9g, not %.9g", (int)i, value, right);
    }
}

static void test_one_atom(void **state)
{
    const double at_A[3] = {0.3, 3.1, -4.2}, charge_e = -1.5, radius_A = 2;
    ley_atoms *atoms = support_make_atoms(1, at_A, &charge_e, &radius_A);
    for (int kind = LEY_SCREENING_NONE; kind <= LEY_SCREENING_FOLDED; kind++) {
        outcome o = run(atoms, support_make_boundary(&uneven), &kinds[kind].solvent, plain());
        assert_each_within(o.boundary, atoms, &kinds[kind].solvent, 1e-5);
        end(&o);
    }
    const double point_A[3] = {0.3, 3.1, -2.2}; /* by hand: 560.4561 -1.5/2 / 78.54 */
    outcome o = run(atoms, list_of(1, point_A), &kinds[LEY_SCREENING_NONE].solvent, plain());
    assert_true(fabs(ley_boundary_read_values(o.boundary)[0] / -5.3519489 - 1) < 1e-5);
    assert_int_equal(ley_job_report(o.job)->points, 1);
    end(&o);
    ley_atoms_destroy(atoms);
}

static void test_no_net_charge(void **state)
{
    ley_atoms *random = support_scattered(300, &uneven, 4, 3, 9);
    const size_t n = ley_atoms_count(random);
    double *charge_e = calloc(n, sizeof *charge_e);
    for (size_t i = 0; i < n; i++)
        charge_e[i] = ley_atoms_charges_e(random)[i] - ley_atoms_total_charge_e(random) / (double)n;
    ley_atoms *neutral = support_make_atoms(n, ley_atoms_positions_A(random), charge_e, ley_atoms_radii_A(random));
    outcome o = run(neutral, support_make_boundary(&uneven), salty, plain());
    assert_true(difference(o.boundary, neutral, salty) <= 1e-5);
    end(&o);
    memset(charge_e, 0, n * sizeof *charge_e);
    ley_atoms *nothing = support_make_atoms(n, ley_atoms_positions_A(random), charge_e, ley_atoms_radii_A(random));
    for (int list = 0; list <= 1; list++) {
        support_options options = *plain();
        options.verify_points = 50;
        o = run(nothing, around(list, 4), salty, &options);
        for (int64_t i = 0; i < ley_boundary_points(o.boundary); i++)
            assert_true(ley_boundary_read_values(o.boundary)[i] == 0);
        end(&o);
    }
    ley_atoms_destroy(nothing);
    ley_atoms_destroy(neutral);
    ley_atoms_destroy(random);
    free(charge_e);
}

/* Positive charges, so that no value is small by chance; the last one `distance_A` from node (12,
 * 4, 3), which is on a face, or from an edge's node (12, 9, 3). */
static ley_atoms *close_to_a_node(double distance_A, double charge_e, bool edge)
{
    const double h_A[3] = {uneven.step_A[0][0], uneven.step_A[1][1], uneven.step_A[2][2]};
    const double position_A[] = {-1,
                                 3,
                                 -4,
                                 1.5,
                                 4.2,
                                 -3.2,
                                 uneven.origin_A[0] + 12 * h_A[0] - 0.6 * distance_A,
                                 uneven.origin_A[1] + (edge ? 9 : 4) * h_A[1] + 0.8 * distance_A,
                                 uneven.origin_A[2] + 3 * h_A[2]};
    const double charges_e[] = {1, 0.5, charge_e}, radii_A[] = {1, 2, 1.5};
    return support_make_atoms(3, position_A, charges_e, radii_A);
}

static void test_close_atoms(void **state)
{
    for (int edge = 0; edge <= 1; edge++) {
        ley_atoms *atoms = close_to_a_node(0.01, 1, edge);
        outcome o = run(atoms, support_make_boundary(&uneven), salty, plain());
        assert_each_within(o.boundary, atoms, salty, 1e-5);
        assert_edges_agree(o.boundary);
        int exact = 0;
        for (int64_t i = 0; i < ley_boundary_points(o.boundary); i++) {
            const double right = reference_at(o.boundary, i, atoms, salty);
            if (right > 100) { /* at 0.01 A: 7 kT/e / 0.01 */
                assert_true(fabs(ley_boundary_read_values(o.boundary)[i] - right) <= 2e-6 * right);
                exact++;
            }
        }
        assert_int_equal(exact, edge ? 2 : 1);
        double point_A[6] = {0, 0, 0};
        ley_boundary_point_A(o.boundary, 0, point_A);
        memcpy(point_A + 3, ley_atoms_positions_A(atoms) + 6, 3 * sizeof(double));
        point_A[5] += 0.01;
        end(&o);
        o = run(atoms, list_of(2, point_A), salty, plain());
        assert_each_within(o.boundary, atoms, salty, 1e-5);
        const double right = reference_at(o.boundary, 1, atoms, salty);
        assert_true(fabs(ley_boundary_read_values(o.boundary)[1] - right) <= 1e-12 * right);
        end(&o);
        ley_atoms_destroy(atoms);
    }
}

static void expect_refused(const ley_atoms *atoms, ley_boundary *boundary, const char *atom, const char *place)
{
    ley_error error = {0};
    ley_job *job = NULL;
    assert_int_equal(support_job_create_boundary(engine, atoms, boundary, &kinds[0].solvent, plain(), &job, &error),
                     LEY_ERROR_INPUT);
    assert_null(job);
    assert_non_null(strstr(error.message, atom));
    assert_non_null(strstr(error.message, place));
    ley_boundary_destroy(boundary);
}

static void test_atoms_on_nodes(void **state)
{
    static const double close_A[] = {0, 0.9e-6};
    for (size_t i = 0; i < 2; i++) {
        ley_atoms *atoms = close_to_a_node(close_A[i], -1, false);
        double point_A[6] = {0};
        memcpy(point_A + 3, ley_atoms_positions_A(atoms) + 6, 3 * sizeof(double));
        expect_refused(atoms, support_make_boundary(&uneven), "atom 3,", "node (12, 4, 3)");
        expect_refused(atoms, list_of(2, point_A), "atom 3,", "point 2");
        ley_atoms_destroy(atoms);
    }
    ley_atoms *atoms = close_to_a_node(0, 0, true); /* without a charge: nobody minds */
    for (int kind = 0; kind < KINDS; kind++) {
        outcome o = run(atoms, support_make_boundary(&uneven), &kinds[kind].solvent, plain());
        assert_true(difference(o.boundary, atoms, &kinds[kind].solvent) <= 1e-5);
        end(&o);
    }
    ley_atoms_destroy(atoms);
}

/* ---- Ranges ---------------------------------------------------------------------------------- */

static void test_far_atoms(void **state)
{
    const double far_A[] = {1e5, 3, -4, 7, -1e5, 2, 1e5, 1e5, 1e5, 0, 0, -1e5};
    const double near_far_A[] = {1e5, 3, -4, 7, -1e5, 2, 1e5, 1e5, 1e5, 1, 3, -5};
    const double charge_e[] = {1, 2, 1, 0.5}, radius_A[] = {1, 2, 3, 2};
    ley_atoms *far = support_make_atoms(4, far_A, charge_e, radius_A),
              *mixed = support_make_atoms(4, near_far_A, charge_e, radius_A);
    for (int list = 0; list <= 1; list++)
        for (int kind = 0; kind < KINDS; kind++) {
            const ley_solvent *solvent = &kinds[kind].solvent;
            support_options options = *plain();
            options.verify_points = 100;
            outcome o = run(mixed, around(list, 7), solvent, &options);
            assert_true(difference(o.boundary, mixed, solvent) <= 1e-5);
            end(&o);
            o = run(far, around(list, 7), solvent, &options);
            if (kind == LEY_SCREENING_NONE)
                assert_true(difference(o.boundary, far, solvent) <= 1e-5);
            for (int64_t i = 0; i < ley_boundary_points(o.boundary) && kind != LEY_SCREENING_NONE; i++)
                assert_true(fabs(ley_boundary_read_values(o.boundary)[i]) < 1e-25); /* false of not-a-numbers, too */
            end(&o);
        }
    ley_atoms_destroy(far);
    ley_atoms_destroy(mixed);
}

/* A charge deep within its atom's radius: beyond a float, at last beyond a double. What a float has
 * is right. */
static void test_huge_radii(void **state)
{
    static const double radii_A[] = {60, 75, 85, 90, 100, 130, 400, 650, 800, 5000, 1e8};
    const double at_A[3] = {-0.1, 3.9, -4.1}, charge_e = 1;
    const ley_solvent *solvent = &kinds[LEY_SCREENING_WIDE].solvent;
    for (size_t i = 0; i < sizeof radii_A / sizeof radii_A[0]; i++)
        for (int sum = LEY_SUM_FLOAT; sum <= LEY_SUM_DOUBLE; sum++) {
            if (sum == LEY_SUM_DOUBLE && !ley_engine_device(engine, 0)->has_double)
                continue;
            ley_atoms *atoms = support_make_atoms(1, at_A, &charge_e, &radii_A[i]);
            const support_options options = options_of(NULL, LEY_MATH_AUTO, (ley_sum)sum);
            outcome o = attempt(engine, atoms, support_make_boundary(&uneven), solvent, &options);
            double largest = 0;
            for (int64_t k = 0; k < ley_boundary_points(o.boundary); k++)
                largest = fmax(largest, reference_at(o.boundary, k, atoms, solvent));
            if (largest > (sum == LEY_SUM_DOUBLE ? 1e308 : 3.4e38)) {
                if (o.status != LEY_ERROR_INPUT)
                    fail_msg("radius %g A: %g kT/e are accepted", radii_A[i], largest);
                assert_non_null(
                    strstr(o.error.message, sum == LEY_SUM_DOUBLE ? "1e308 kT/e" : "a double sum is needed"));
                assert_non_null(strstr(o.error.message, "node ("));
            } else {
                if (o.status != LEY_OK)
                    fail_msg("radius %g A, %g kT/e: %s", radii_A[i], largest, o.error.message);
                assert_each_within(o.boundary, atoms, solvent,
                                   sum == LEY_SUM_DOUBLE ? 1e-12 : 1e-5 + 5e-7 * radii_A[i]);
            }
            end(&o);
            ley_atoms_destroy(atoms);
        }
}

static void test_many_atoms(void **state)
{
    if (!fast)
        skip();
    const ley_grid small = {.origin_A = {-50, -50, -50}, .step_A = LEY_STEPS(12.5, 12.5, 12.5), .n = {9, 9, 9}};
    ley_atoms *atoms = support_scattered(support_is_quick() ? 100000 : 1000000, &small, 0, 2, 11);
    const double start_s = support_cpu_s();
    outcome o = run(atoms, support_make_boundary(&small), salty, plain());
    const double seconds = support_cpu_s() - start_s;
    if (!(seconds < 60)) /* a few */
        fail_msg("took %.1f s", seconds);
    const double off = difference(o.boundary, atoms, salty);
    if (!(off <= 1e-5))
        fail_msg("off by %g", off);
    end(&o);
    ley_atoms_destroy(atoms);
}

/* ---- Wrong results --------------------------------------------------------------------------- */

/* Where charges nearly cancel, float sums lose what is left of them, though each is right by its
 * terms: the relative RMS shows it, and a double sum cures it. */
static void test_verification_of_a_dipole(void **state)
{
    const double position_A[] = {0.2, 3.2, -4, 0.2001, 3.2, -4}, charge_e[] = {1, -1};
    const ley_solvent *solvent = &kinds[LEY_SCREENING_NONE].solvent;
    ley_atoms *atoms = support_make_atoms(2, position_A, charge_e, NULL);
    support_options options = *plain();
    options.verify_points = 1 << 20; /* all of them */
    outcome o = attempt(engine, atoms, support_make_boundary(&uneven), solvent, &options);
    assert_ok_at(o.status, &o.error, "ley_job_run", __FILE__, __LINE__);
    const ley_accuracy *a = &ley_job_report(o.job)->accuracy;
    assert_true(a->passed && a->max_error <= a->tolerance && a->relative_rms > 1e-5);
    end(&o);
    if (ley_engine_device(engine, 0)->has_double) {
        /* The difference of two doubles: 1e-16 of each charge's potential is 2e-12 of the
         * dipole's. */
        options.sum = LEY_SUM_DOUBLE;
        options.verify_points = 0;
        o = attempt(engine, atoms, support_make_boundary(&uneven), solvent, &options);
        assert_ok_at(o.status, &o.error, "ley_job_run", __FILE__, __LINE__);
        assert_true(difference(o.boundary, atoms, solvent) < 1e-10);
        end(&o);
    }
    ley_atoms_destroy(atoms);
}

/* Nothing is nothing, however many times larger than a double's next to nothing. */
static void test_verification_of_nothing(void **state)
{
    const double position_A[] = {200, 3, -4}, charge_e = 1, radius_A = 1;
    ley_atoms *atoms = support_make_atoms(1, position_A, &charge_e, &radius_A);
    support_options options = *plain();
    options.verify_points = 100;
    outcome o = run(atoms, support_make_boundary(&uneven), &kinds[LEY_SCREENING_WIDE].solvent, &options);
    assert_true(ley_job_report(o.job)->accuracy.passed);
    end(&o);
    ley_atoms_destroy(atoms);
}

static void test_verification(void **state)
{
    ley_atoms *atoms = support_scattered(200, &uneven, 4, 3, 1);
    support_options options = *plain();
    for (int list = 0; list <= 1; list++) {
        options.verify_points = list ? 10 : 1 << 20;
        outcome o = run(atoms, around(list, 2), salty, &options);
        const ley_accuracy *a = &ley_job_report(o.job)->accuracy;
        assert_true(a->passed && a->tolerance > 5e-6 && a->tolerance < 1e-5);
        assert_int_equal(a->points, list ? 10 : ley_job_report(o.job)->points); /* each node of an edge once */
        if (!list)
            assert_true(fabs(a->relative_rms / difference(o.boundary, atoms, salty) - 1) < 0.5);
        end(&o);
    }
    ley_atoms_destroy(atoms);
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static void expect_usage(const ley_solvent *solvent, const support_options *options, const char *message)
{
    ley_error error = {0};
    ley_job *job = NULL;
    ley_atoms *atoms = support_scattered(5, &uneven, 1, 1, 1);
    ley_boundary *boundary = support_make_boundary(&uneven);
    assert_int_equal(support_job_create_boundary(engine, atoms, boundary, solvent, options, &job, &error),
                     LEY_ERROR_USAGE);
    assert_null(job);
    assert_non_null(strstr(error.message, message));
    ley_boundary_destroy(boundary);
    ley_atoms_destroy(atoms);
}

static void test_jobs_that_cannot_be(void **state)
{
    ley_error error = {0};
    ley_solvent solvent = kinds[LEY_SCREENING_FOLDED].solvent;
    support_options options = *plain();
    solvent.dielectric = 0.5;
    expect_usage(&solvent, &options, "dielectric 0.5");
    solvent = kinds[LEY_SCREENING_FOLDED].solvent;
    solvent.temperature_K = -3;
    expect_usage(&solvent, &options, "temperature -3");
    const ley_ion negative[] = {{1, 0.1, 2}, {-1, -0.1, 2}};
    solvent = (ley_solvent){78.54, 2, 298.15, 2, negative};
    expect_usage(&solvent, &options, "ion 2");
    options.variant = "unroll4"; /* another method's */
    expect_usage(&kinds[0].solvent, &options, "unroll4");
    options = *plain();
    options.slab_planes = -1;
    expect_usage(&kinds[0].solvent, &options, "slab planes -1");

    options = *plain();
    ley_atoms *atoms = support_scattered(5, &uneven, 1, 1, 1);
    options.r_min_A = 1; /* does not matter, nor do other options of maps */
    options.dielectric = 7;
    options.units = LEY_UNITS_VOLT;
    outcome o = run(atoms, support_make_boundary(&uneven), salty, &options);
    assert_true(difference(o.boundary, atoms, salty) <= 1e-5);
    assert_int_equal(ley_job_run(o.job, &error), LEY_ERROR_USAGE); /* a job runs once */
    end(&o);
    ley_atoms_destroy(atoms);
}

/* ---- All devices at once --------------------------------------------------------------------- */

/* Nodes far from the world's origin have rounded coordinates: right sums of doubles are not refused
 * for it. */
static void test_doubles_far_away(void **state)
{
    const ley_grid far = {{-520321.4008834, 752729.3566787, -862398.7027900}, LEY_STEPS(14.9, 10.7, 13.1), {3, 5, 3}};
    const ley_solvent solvent = {.dielectric = 1, .solute_dielectric = 1, .temperature_K = 298.15};
    double position_A[20][3], charge_e[20];
    for (int i = 0; i < 20; i++) {
        position_A[i][0] = far.origin_A[0] - 0.01;
        position_A[i][1] = far.origin_A[1] + 2.1 * i + 0.03;
        position_A[i][2] = far.origin_A[2] + 1.3 * i + 0.02;
        charge_e[i] = 1;
    }
    support_options options = support_default_options();
    options.sum = LEY_SUM_DOUBLE;
    ley_atoms *atoms = support_make_atoms(20, &position_A[0][0], charge_e, NULL);
    ley_boundary *boundary = support_make_boundary(&far);
    outcome o = attempt(engine, atoms, boundary, &solvent, &options);
    if (!cannot(&o, &options)) {
        assert_ok_at(o.status, &o.error, "a right boundary", __FILE__, __LINE__);
        const ley_accuracy *a = &ley_job_report(o.job)->accuracy;
        assert_true(a->max_error > 1e-12 && a->max_error <= a->tolerance && a->tolerance < 1e-6);
    }
    end(&o);
    ley_atoms_destroy(atoms);
}

static int run_on(const char *selector, const ley_device_info *info)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_doubles_far_away),
        cmocka_unit_test(test_every_kernel),
        cmocka_unit_test(test_odd_faces),
        cmocka_unit_test(test_one_atom),
        cmocka_unit_test(test_no_net_charge),
        cmocka_unit_test(test_close_atoms),
        cmocka_unit_test(test_atoms_on_nodes),
        cmocka_unit_test(test_far_atoms),
        cmocka_unit_test(test_huge_radii),
        cmocka_unit_test(test_many_atoms),
        cmocka_unit_test(test_verification_of_a_dipole),
        cmocka_unit_test(test_verification_of_nothing),
        cmocka_unit_test(test_verification),
        cmocka_unit_test(test_jobs_that_cannot_be),
    };
    char group[512];
    snprintf(group, sizeof group, "mdh on %s (%s)", info->name, selector);
    if (!support_open(selector, info->name, &engine))
        return 1;
    fast = strcmp(info->platform, "rusticl") != 0 || info->device_class == LEY_CLASS_GPU;
    const int failures = cmocka_run_group_tests_name(group, tests, NULL, NULL);
    ley_engine_destroy(engine);
    return failures;
}

int main(void)
{
    verification_time_replace(1e9); /* tests count on as many points as they ask for */
    return support_on_each_device(run_on);
}
