/* Electric fields at lists of points, on every device of this machine: of direct sums and of every
 * pair function right against analytic derivatives in double precision, in open space and in
 * periodic cells, and the potentials beside them as without. */
#include "support.h"

#include "expression/expression.h"
#include "expression/slope.h"
#include "law/dcs.h"
#include "law/pairs.h"
#include "law/reference.h"
#include "short_job.h"

static ley_engine *engine; /* of the device under test */

/* ---- The judge ------------------------------------------------------------------------------- */

static expression *make_expression(const char *text)
{
    static const expression_constant constants[] = {{"cutoff", 12}, {"kappa", 0.1}};
    ley_error error = {0};
    expression *e = NULL;
    assert_ok(expression_create(text, strlen(text), constants, 2, &e, &error));
    return e;
}

/* Of formulas, as an expression and side by side, against differences of values. */
static void test_slopes_of_expressions(void **state)
{
    static const char *const texts[] = {"q/r",
                                        "q*exp(-r/8)/r",
                                        "q*erfc(0.3*r)/r+erf(r/5)*q",
                                        "r2^2*q-3*r^3",
                                        "q*max(r,3)*min(r2,20)",
                                        "abs(r-4)*q",
                                        "q*sqrt(r2+1)/log(r+2)",
                                        "sin(r)*cos(2*r)*q",
                                        "tanh(r/3)^2.5",
                                        "2^-r*q/r2",
                                        "r^(r/9)",
                                        "q",
                                        "7",
                                        "-(q-r)/(r2-q)",
                                        "q*(1/r-(1+(r2*0.01-1)*(2+(r2*0.01-1)*3)))"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        ley_error error = {0};
        expression *e = make_expression(texts[i]), *slope = NULL;
        assert_ok(expression_slope(e, &slope, &error));
        for (double r_A = 0.7; r_A < 11; r_A += 0.613) {
            const double h = 1e-5,
                         about =
                             (expression_evaluate(e, r_A + h, 0.8) - expression_evaluate(e, r_A - h, 0.8)) / (2 * h),
                         aside = expression_evaluate_slope(e, r_A, 0.8), own = expression_evaluate(slope, r_A, 0.8),
                         size = 1 + fabs(about) + fabs(expression_evaluate(e, r_A, 0.8));
            if (!(fabs(aside - about) < 1e-6 * size) || !(fabs(own - aside) < 1e-12 * size))
                fail_msg("%s at %g: %.15g, side by side %.15g, by differences %.15g", texts[i], r_A, own, aside, about);
        }
        assert_non_null(strstr(expression_source(slope), "ley_user_slope"));
        expression_destroy(slope);
        expression_destroy(e);
    }
}

/* More than a derivative may have. */
static void test_slope_too_long(void **state)
{
    char text[900] = "q";
    for (int i = 0; i < 90; i++)
        strcat(text, "*sin(r)");
    ley_error error = {0};
    expression *e = make_expression(text), *slope = NULL;
    assert_int_equal(expression_slope(e, &slope, &error), LEY_ERROR_USAGE);
    assert_null(slope);
    assert_non_null(strstr(error.message, "its derivative, which the field takes, has more than 512"));
    ley_error_clear(&error);
    expression_destroy(e);
}

static reference_terms terms_of(const ley_atoms *atoms, const ley_short_range *range, const expression *formula,
                                const expression *slope)
{
    return (reference_terms){.law = range != NULL ? &law_pairs : &law_dcs,
                             .constant = 1,
                             .atoms = atoms,
                             .r_min_A = 0.05,
                             .range = range,
                             .formula = formula,
                             .slope = slope};
}

/* The judge's field against differences of the judge's potential. */
static void test_judge(void **state)
{
    ley_atoms *atoms = support_crowd(100, &short_job_grid, 3, 4);
    const double point_A[3] = {2.3, 3.1, 1.7}, h_A = 1e-5;
    for (int pair = -1; pair <= LEY_PAIR_EXPRESSION; pair++) {
        ley_error error = {0};
        support_options o = support_short_range((ley_pair)(pair < 0 ? 0 : pair), short_job_cutoff_A);
        short_job_make_periodic(&o);
        expression *e = pair == LEY_PAIR_EXPRESSION ? make_expression("q*exp(-kappa*r)/r+q*(r-cutoff)^2") : NULL,
                   *slope = NULL;
        if (e != NULL)
            assert_ok(expression_slope(e, &slope, &error));
        const reference_terms t = terms_of(atoms, pair < 0 ? NULL : &o.short_range, e, slope);
        reference_value field[3];
        reference_field(&t, point_A, field);
        for (int axis = 0; axis < 3; axis++) {
            double low_A[3], high_A[3];
            memcpy(low_A, point_A, sizeof low_A);
            memcpy(high_A, point_A, sizeof high_A);
            low_A[axis] -= h_A;
            high_A[axis] += h_A;
            const double about = -(reference_sum(&t, high_A).value - reference_sum(&t, low_A).value) / (2 * h_A);
            if (!(fabs(field[axis].value - about) <= 1e-6 * field[axis].absolute) || field[axis].lower < -1e-6)
                fail_msg("function %d, along %c: %.12g, by differences %.12g", pair, 'x' + axis, field[axis].value,
                         about);
        }
        expression_destroy(slope);
        expression_destroy(e);
    }
    ley_atoms_destroy(atoms);
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

/* Some on atoms and next to them, some far away. */
static double *points_for(const ley_atoms *atoms, size_t n, unsigned seed)
{
    double *point_A = calloc(3 * n, sizeof(double)), low_A[3], high_A[3];
    assert_non_null(point_A);
    ley_atoms_bounds_A(atoms, low_A, high_A);
    for (size_t i = 0; i < n; i++)
        for (size_t axis = 0; axis < 3; axis++) {
            const double u = rand_r(&seed) / (RAND_MAX + 1.0), beyond_A = 7;
            const double *atom_A = ley_atoms_positions_A(atoms) + 3 * (i % ley_atoms_count(atoms));
            point_A[3 * i + axis] = i % 9 == 4 ? atom_A[axis]
                                    : i % 9 == 5
                                        ? atom_A[axis] + u - 0.5
                                        : low_A[axis] - beyond_A + u * (high_A[axis] - low_A[axis] + 2 * beyond_A);
            if (i % 50 == 49)
                point_A[3 * i + axis] += axis == i % 3 ? 300 : 0;
        }
    return point_A;
}

/* The largest error of a component, relative to the lengths of what atoms add. */
static double worst_error(const ley_atoms *atoms, const support_points_job *o, const support_options *options)
{
    const ley_short_range range = support_range(options);
    const bool is_direct = options->method == SUPPORT_DCS;
    reference_terms t = terms_of(atoms, is_direct ? NULL : &range, NULL, NULL);
    double worst = 0;
    if (is_direct || !ley_pair_get(range.pair)->is_energy)
        t.constant = ley_coulomb_constant(options->units, options->dielectric, options->temperature_K);
    t.r_min_A = options->r_min_A;
    for (int64_t i = 0; range.pair != LEY_PAIR_EXPRESSION && i < ley_points_count(o->points); i++) {
        reference_value right[3];
        reference_field(&t, ley_points_positions_A(o->points) + 3 * i, right);
        for (int axis = 0; axis < 3; axis++) {
            const double off = ley_points_read_field(o->points)[3 * i + axis] - right[axis].value,
                         beyond = off < right[axis].lower    ? right[axis].lower - off
                                  : off > right[axis].higher ? off - right[axis].higher
                                                             : 0;
            worst = isfinite(off) ? fmax(worst, beyond / fmax(right[axis].absolute, 1e-30)) : INFINITY;
        }
    }
    return worst;
}

static void check(const char *what, const ley_atoms *atoms, size_t n, const double *point_A,
                  const support_options *options)
{
    support_points_job o = support_points_run(engine, atoms, n, point_A, options, true);
    if (o.status == LEY_ERROR_NO_DEVICE) {
        support_points_end(&o);
        return;
    }
    assert_ok_at(o.status, &o.error, what, __FILE__, __LINE__);
    const ley_report *report = ley_job_report(o.job);
    const ley_accuracy *a = &report->field_accuracy;
    const double off = worst_error(atoms, &o, options);
    if (!(off <= a->tolerance) || !a->passed || a->tolerance > 3e-2 || a->points != report->seeded_accuracy.points)
        fail_msg("%s: field off by %g, by the job's judge %g at %zu points, not %g", what, off, a->max_error, a->points,
                 a->tolerance);
    support_points_job alone = support_points_run(engine, atoms, n, point_A, options, false);
    assert_ok_at(alone.status, &alone.error, what, __FILE__, __LINE__);
    assert_null(ley_points_field(alone.points));
    assert_int_equal(ley_job_report(alone.job)->field_accuracy.points, 0);
    for (size_t i = 0; i < n; i++) {
        const double v = ley_points_read_values(o.points)[i], w = ley_points_read_values(alone.points)[i];
        if (!(fabs(v - w) <= 1e-4 * fmax(fabs(w), 10)))
            fail_msg("%s: with the field a potential of %.9g becomes %.9g", what, w, v);
    }
    support_points_end(&alone);
    support_points_end(&o);
}

static void test_functions(void **state)
{
    const size_t n = 300;
    ley_atoms *atoms = support_crowd(400, &short_job_grid, 3, 4);
    double *point_A = points_for(atoms, n, 5);
    for (int pair = LEY_PAIR_COULOMB; pair <= LEY_PAIR_EXPRESSION; pair++)
        for (int space = 0; space < 2; space++) {
            support_options options = support_short_range((ley_pair)pair, short_job_cutoff_A);
            if (space == 1)
                short_job_make_periodic(&options);
            if (!support_is_quick() || pair % 2 == space)
                check(ley_pair_get((ley_pair)pair)->name, atoms, n, point_A, &options);
        }
    free(point_A);
    ley_atoms_destroy(atoms);
}

/* Every variant and every sum of both methods. */
static void test_variants_and_sums(void **state)
{
    const size_t n = 500;
    ley_atoms *atoms = support_crowd(400, &short_job_grid, 3, 4);
    double *point_A = points_for(atoms, n, 6);
    for (int is_direct = 0; is_direct < 2; is_direct++) {
        const char *method = is_direct ? "dcs" : "cutoff";
        const size_t variants = (size_t)support_variants(method, LEY_TARGET_POINTS);
        for (size_t i = 0; i < variants + 3; i++) {
            support_options options = support_short_range(LEY_PAIR_TAYLOR4, short_job_cutoff_A);
            options.method = is_direct ? SUPPORT_DCS : SUPPORT_CUTOFF;
            options.variant = i < variants ? ley_variant_name(method, LEY_TARGET_POINTS, i) : NULL;
            options.sum = i < variants ? LEY_SUM_FLOAT : (ley_sum)(i - variants);
            if (!support_is_quick() || i >= variants || support_tries_variant(engine, options.variant))
                check(options.variant != NULL ? options.variant : method, atoms, n, point_A, &options);
        }
    }
    free(point_A);
    ley_atoms_destroy(atoms);
}

/* A charge: E = C q r / r^3, away from it; nothing within r_min. And two that make a dipole, far
 * away, where their potential is what floats leave of it. */
static void test_analytic(void **state)
{
    const double position_A[] = {5, -3, 2, 5, -3, 2.5}, charge_e[] = {0.5, -0.5}, radius_A[] = {1, 1};
    const double point_A[] = {6, -1, 0, 5, -3, 2.02, 5, -3, 2, 25, -3, 2, 5, -3, -38};
    for (size_t atoms_n = 1; atoms_n <= 2; atoms_n++) {
        ley_atoms *atoms = support_make_atoms(atoms_n, position_A, charge_e, radius_A);
        support_options options = support_short_range(LEY_PAIR_COULOMB, 100);
        options.units = LEY_UNITS_KCAL_MOL_E;
        const double C = ley_coulomb_constant(options.units, options.dielectric, options.temperature_K);
        for (int is_direct = 0; is_direct < 2; is_direct++) {
            options.method = is_direct ? SUPPORT_DCS : SUPPORT_CUTOFF;
            support_points_job o = support_points_run(engine, atoms, 5, point_A, &options, true);
            assert_ok_at(o.status, &o.error, "one charge", __FILE__, __LINE__);
            for (size_t i = 0; i < 5; i++)
                for (size_t axis = 0; axis < 3; axis++) {
                    double right = 0, size = 0;
                    for (size_t j = 0; j < atoms_n; j++) {
                        const double *p = point_A + 3 * i, *a = position_A + 3 * j,
                                     r_A = sqrt(pow(p[0] - a[0], 2) + pow(p[1] - a[1], 2) + pow(p[2] - a[2], 2));
                        right += r_A < options.r_min_A ? 0 : C * charge_e[j] * (p[axis] - a[axis]) / pow(r_A, 3);
                        size += r_A < options.r_min_A ? 0 : fabs(C * charge_e[j]) / (r_A * r_A);
                    }
                    const double value = ley_points_read_field(o.points)[3 * i + axis];
                    if (!(fabs(value - right) <= 3e-6 * size))
                        fail_msg("%zu atoms, point %zu, along %zu: %.9g, not %.9g", atoms_n, i, axis, value, right);
                }
            assert_string_equal(ley_points_units(o.points), "kcal/mol/e");
            support_points_end(&o);
        }
        ley_atoms_destroy(atoms);
    }
}

/* What no self-test sees the verification finds: where bins are small, and far from the origin. */
static void test_verification_finds_faults(void **state)
{
    ley_atoms *atoms = support_atoms(200, 0, 9, 4);
    double *point_A = points_for(atoms, 500, 6);
    for (int is_direct = 0; is_direct < 2; is_direct++) {
        support_options options = support_short_range(LEY_PAIR_TAYLOR2, short_job_cutoff_A);
        options.method = is_direct ? SUPPORT_DCS : SUPPORT_CUTOFF;
        options.short_range.bin_depth = 64;
        options.short_range.bin_fill = 0.1;
        if (is_direct)
            support_plant_fault("mdh", "scale_field(&p, c * POINTS + u);",
                                "scale_field(&p, c * POINTS + u); if (n_atoms == 200) p.sum[c * POINTS + u] *= 1.01f;");
        else
            support_plant_fault("point_pairs", "c * LEY_UX + u) * side.w",
                                "c * LEY_UX + u) * side.w * (side.x < 4 ? 1.01f : 1)");
        support_points_job o = support_points_run(engine, atoms, 500, point_A, &options, true);
        assert_int_equal(o.status, LEY_ERROR_WRONG_RESULT);
        if (strstr(o.error.message, "the field along") == NULL)
            fail_msg("%s", o.error.message);
        assert_false(ley_job_report(o.job)->field_accuracy.passed);
        support_points_end(&o);
        unsetenv("LEYDEN_KERNEL_DIR");
    }
    free(point_A);
    ley_atoms_destroy(atoms);
}

static int run_on(const char *selector, const ley_device_info *info)
{
    return RUN_ON_DEVICE("fields at points", &engine, test_slopes_of_expressions, test_slope_too_long, test_judge,
                         test_functions, test_variants_and_sums, test_analytic, test_verification_finds_faults);
}

int main(void)
{
    return support_on_each_device(run_on);
}
