/* Orbitals and densities on every device of this machine, against double precision from the
 * formulas: each function of each shell alone, sets of orbitals, densities and their derivatives,
 * on grids along the axes and oblique ones, and at points; slabs of any size; faults of kernels. */
#include "support.h"

#include "core/units.h"
#include "law/wavefunction.h"
#include "methods/wavefunction/c60.h"
#include "methods/wavefunction/list_build.h"
#include "methods/wavefunction/tables.h"
#include "methods/wavefunction/task.h"
#include "some_wavefunction.h"
#include "source/wavefunction.h"
#include "verify/verification.h"

static ley_engine *engine; /* of the device under test */

/* ---- Jobs ------------------------------------------------------------------------------------ */

static const ley_grid straight = {.origin_A = {-2.3, -1.7, -1.5},
                                  .step_A = LEY_STEPS(0.13, 0.14, 0.7),
                                  .n = {53, 43, 7}},
                      oblique = {.origin_A = {-2, -2, -1},
                                 .step_A = {{0.3, 0, 0.02}, {0.1, 0.25, 0}, {-0.05, 0.1, 0.6}},
                                 .n = {19, 23, 5}};

static wavefunction_job make_job(ley_wavefunction_request request, const ley_grid *grid)
{
    enum { POINTS = 777 };
    wavefunction_job j = {.request = request, .values = ley_wavefunction_values(&request)};
    unsigned seed = 4;
    assert_true(j.values <= WAVEFUNCTION_JOB_VALUES);
    for (size_t v = 0; v < j.values && grid != NULL; v++)
        j.maps[v] = support_make_map(grid);
    if (grid == NULL) {
        j.points = calloc(3 * POINTS, sizeof(double));
        j.found = calloc(j.values * POINTS, sizeof(double));
        for (int k = 0; k < 3 * POINTS; k++)
            j.points[k] = 5 * support_uniform(&seed) - 1.5;
        j.request.points = POINTS;
        j.request.point_A = j.points;
        j.request.values = j.found;
    }
    return j;
}

static void run(wavefunction_job *j, const ley_wavefunction *w, const ley_run_options *run_options, bool is_exact)
{
    ley_wavefunction_options options;
    ley_wavefunction_options_default(&options);
    options.is_exact = is_exact;
    j->request.maps = j->points == NULL ? j->maps : NULL;
    j->status = ley_job_create_wavefunction(engine, w, &j->request, &options, run_options, &j->job, &j->error);
    if (j->status == LEY_OK)
        j->status = ley_job_run(j->job, &j->error);
}

static void end(wavefunction_job *j)
{
    free(j->points);
    wavefunction_job_end(j);
}

/* Every `step`-th point of each value, relative to the value's largest magnitude. */
static void assert_values(const wavefunction_job *j, const ley_wavefunction *w, const double *weights, int64_t step,
                          double most)
{
    for (size_t v = 0; v < j->values; v++) {
        const bool is_reduced = j->request.reduced_gradient && v + 1 == j->values,
                   is_laplacian = j->request.laplacian && v + 1 + j->request.reduced_gradient == j->values;
        const wavefunction_quantity q = {.wavefunction = w,
                                         .weights = weights,
                                         .orbital = weights == NULL ? j->request.orbitals[v] : 0,
                                         .derivative = weights == NULL ? 0
                                                       : is_reduced    ? WAVEFUNCTION_REDUCED
                                                       : is_laplacian  ? 4
                                                                       : (int)v};
        double worst = 0, largest = 0;
        for (int64_t i = (int64_t)v % step; i < wavefunction_job_points(j); i += step) {
            double place[3];
            const double found = wavefunction_job_found(j, v, i, place), right = wavefunction_value(&q, place).value;
            worst = isfinite(found) ? fmax(worst, fabs(found - right)) : INFINITY;
            largest = fmax(largest, fabs(right));
        }
        if (!(worst <= most * largest + 1e-30))
            fail_msg("value %zu: off by %g of %g", v, worst, largest);
    }
}

static void assert_right(const wavefunction_job *j, const ley_wavefunction *w, const double *weights, int64_t step,
                         double most)
{
    assert_ok_at(j->status, &j->error, "an orbital's job", __FILE__, __LINE__);
    assert_values(j, w, weights, step, most);
    assert_true(ley_job_report(j->job)->accuracy.passed);
    assert_string_equal(ley_job_report(j->job)->method, "wavefunction");
}

static ley_run_options usual(void)
{
    return support_default_run_options();
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* A wavefunction like another, whose orbitals are the functions one by one. */
static ley_wavefunction *functions_of(const ley_wavefunction *from)
{
    ley_wavefunction_arrays a = ley_wavefunction_get(from);
    ley_wavefunction *w = NULL;
    ley_error error = {0};
    a.orbitals = ley_wavefunction_functions(from);
    double *ones = calloc((size_t)(a.orbitals * a.orbitals), sizeof *ones),
           *occupations = calloc((size_t)a.orbitals, sizeof *occupations);
    for (int64_t i = 0; i < a.orbitals; i++)
        ones[i * a.orbitals + i] = 1;
    a.orbital_coefficients = ones;
    a.occupations = occupations;
    a.energies = NULL;
    a.spins = NULL;
    assert_ok(ley_wavefunction_create(&a, &w, &error));
    free(ones);
    free(occupations);
    return w;
}

/* Of every shell, both kinds: each function alone, all of a kernel's in one job. */
static void test_functions(void **state)
{
    for (int l = 0; l <= LEY_MOST_MOMENTUM; l++)
        for (int target = 0; target < 3; target++) {
            ley_wavefunction *some = NULL;
            ley_error error = {0};
            assert_ok(some_wavefunction(2, l, 1, (unsigned)l + 1, &some, &error));
            ley_wavefunction *w = functions_of(some);
            const int64_t n = ley_wavefunction_functions(w),
                          last = basis_shell_functions(l, false) + basis_shell_functions(l, true);
            int64_t list[WAVEFUNCTION_JOB_VALUES];
            size_t count = 0;
            for (int64_t i = 0; i < n && count < WAVEFUNCTION_JOB_VALUES;
                 i++) /* those of the highest l, of both nuclei */
                for (int64_t s = 0; s < w->arrays.shells; s++)
                    if (w->shells[s].l == l && i >= w->shells[s].first_function &&
                        i < w->shells[s].first_function + basis_shell_functions(l, w->shells[s].is_pure))
                        list[count++] = i;
            assert_true((int64_t)count <= 2 * last);
            wavefunction_job j =
                make_job((ley_wavefunction_request){.orbitals = list, .orbital_count = count}, target == 0   ? &straight
                                                                                               : target == 1 ? &oblique
                                                                                                             : NULL);
            const ley_run_options options = usual();
            run(&j, w, &options, l % 2 == 0);
            assert_right(&j, w, NULL, support_is_quick() ? 1 + wavefunction_job_points(&j) / 700 : 3, 2e-6);
            end(&j);
            ley_wavefunction_destroy(w);
            ley_wavefunction_destroy(some);
        }
}

static void check_densities(const ley_wavefunction *w, bool is_spin, const ley_grid *grid, const char *variant)
{
    const int64_t n = w->arrays.orbitals;
    double *weights = calloc((size_t)n, sizeof *weights);
    ley_error error = {0};
    for (int64_t i = 0; i < n; i++)
        assert_ok(wavefunction_weight(w, i, is_spin, &weights[i], &error));
    for (int derivatives = 0; derivatives < 4; derivatives++) {
        wavefunction_job j = make_job((ley_wavefunction_request){.kind = is_spin ? LEY_SPIN_DENSITY : LEY_DENSITY,
                                                                 .gradient = derivatives & 1,
                                                                 .laplacian = derivatives & 2,
                                                                 .reduced_gradient = (derivatives + is_spin) % 2},
                                      grid);
        ley_run_options options = usual();
        options.variant = variant;
        run(&j, w, &options, false);
        if (variant != NULL && strcmp(variant, "matrix") == 0 && (j.request.laplacian || j.request.reduced_gradient))
            assert_error_at(j.status, LEY_ERROR_NO_DEVICE, &j.error, "variant matrix is for densities and gradients",
                            false, __FILE__, __LINE__);
        else
            assert_right(&j, w, weights, support_is_quick() ? 97 : 13, 5e-6);
        end(&j);
    }
    free(weights);
}

static void test_densities(void **state)
{
    ley_wavefunction *w = NULL;
    ley_error error = {0};
    assert_ok(some_wavefunction(4, 3, 9, 5, &w, &error));
    for (int is_spin = 0; is_spin <= 1; is_spin++) {
        check_densities(w, is_spin, &straight, NULL);
        check_densities(w, is_spin, &straight, "separable4");
        check_densities(w, is_spin, &straight, "matrix");
        check_densities(w, is_spin, &oblique, NULL);
        check_densities(w, is_spin, NULL, NULL);
    }
    ley_wavefunction_destroy(w);
}

/* Of some orbitals, in any order, with their own occupations or with others, of both signs. */
static void test_chosen_densities(void **state)
{
    enum { ORBITALS = 9 };
    static const int64_t list[] = {5, 0, 3, 8, 5};
    static const double given[] = {1, -1, 0.37, 1.9, 0.2};
    ley_wavefunction *w = NULL;
    ley_error error = {0};
    assert_ok(some_wavefunction(3, 2, ORBITALS, 8, &w, &error));
    for (int target = 0; target < 3; target++)
        for (int is_given = 0; is_given <= 1; is_given++) {
            double weights[ORBITALS] = {0};
            for (int k = 0; k < 5; k++)
                weights[list[k]] += is_given ? given[k] : w->arrays.occupations[list[k]];
            wavefunction_job j = make_job((ley_wavefunction_request){.kind = LEY_DENSITY,
                                                                     .orbitals = list,
                                                                     .orbital_count = 5,
                                                                     .occupations = is_given ? given : NULL,
                                                                     .gradient = true},
                                          target == 0   ? &straight
                                          : target == 1 ? &oblique
                                                        : NULL);
            const ley_run_options options = usual();
            run(&j, w, &options, false);
            assert_right(&j, w, weights, support_is_quick() ? 97 : 13, 5e-6);
            end(&j);
        }
    ley_wavefunction_destroy(w);
}

/* One wavefunction's density less that of another, of the same nuclei, of others, and of some of
 * both: each is judged by itself. */
static void test_differences(void **state)
{
    enum { ORBITALS = 6, DERIVATIVES = 2 };
    ley_wavefunction *all[3] = {NULL}, *moved = NULL;
    ley_error error = {0};
    assert_ok(some_wavefunction(3, 2, ORBITALS, 8, &all[0], &error));
    assert_ok(some_wavefunction(2, 1, ORBITALS, 9, &all[1], &error));
    ley_wavefunction_arrays a = ley_wavefunction_get(all[0]);
    double places[9], occupations[ORBITALS] = {1.5, 2, 0, 0.25};
    memcpy(places, a.positions_bohr, sizeof places);
    places[4] += 0.7;
    a.positions_bohr = places;
    a.occupations = occupations;
    assert_ok(ley_wavefunction_create(&a, &moved, &error));
    all[2] = moved;
    static const int64_t nuclei[] = {3, 5, 4};
    for (int i = 0; i < 3; i++) {
        ley_wavefunction *difference = NULL;
        assert_ok(ley_wavefunction_difference(all[0], all[i], &difference, &error));
        assert_int_equal(ley_wavefunction_get(difference).nuclei, nuclei[i]);
        for (int spin = -1; spin <= 1; spin++)
            assert_true(fabs(ley_wavefunction_electrons(difference, spin) - ley_wavefunction_electrons(all[0], spin) +
                             ley_wavefunction_electrons(all[i], spin)) < 1e-12);
        wavefunction_job j = make_job((ley_wavefunction_request){.kind = LEY_DENSITY, .gradient = i == 1}, &straight);
        const ley_run_options options = usual();
        run(&j, difference, &options, false);
        assert_ok_at(j.status, &j.error, "a difference", __FILE__, __LINE__);
        for (size_t v = 0; v < j.values; v++) {
            double worst = 0, largest = 0;
            for (int64_t k = (int64_t)v; k < wavefunction_job_points(&j); k += 61) {
                double place[3], right = 0;
                const double found = wavefunction_job_found(&j, v, k, place);
                for (int side = 0; side <= 1; side++) {
                    const wavefunction_quantity q = {.wavefunction = all[side == 0 ? 0 : i],
                                                     .weights = all[side == 0 ? 0 : i]->arrays.occupations,
                                                     .derivative = (int)v};
                    const double value = wavefunction_value(&q, place).value;
                    right += side == 0 ? value : -value;
                    largest = fmax(largest, fabs(value));
                }
                worst = isfinite(found) ? fmax(worst, fabs(found - right)) : INFINITY;
            }
            if (!(worst <= 5e-6 * largest))
                fail_msg("difference %d, value %zu: off by %g of %g", i, v, worst, largest);
        }
        end(&j);
        ley_wavefunction_destroy(difference);
    }
    for (int i = 0; i < 3; i++)
        ley_wavefunction_destroy(all[i]);
}

/* Every variant; in slabs of any size the same bytes. */
static void test_variants_and_slabs(void **state)
{
    static const int64_t list[] = {0, 2, 1};
    ley_wavefunction *w = NULL;
    ley_error error = {0};
    assert_ok(some_wavefunction(60, 2, 4, 9, &w, &error));
    for (int i = -1; i < support_variants("wavefunction", LEY_TARGET_GRID); i++) {
        ley_run_options options = usual();
        options.variant = i < 0 ? NULL : ley_variant_name("wavefunction", LEY_TARGET_GRID, (size_t)i);
        if (!support_tries_variant(engine, options.variant))
            continue;
        wavefunction_job whole = make_job((ley_wavefunction_request){.orbitals = list, .orbital_count = 3}, &straight);
        run(&whole, w, &options, false);
        if (whole.status == LEY_ERROR_NO_DEVICE) {
            end(&whole);
            continue;
        }
        assert_right(&whole, w, NULL, 61, 2e-6);
        for (options.slab_planes = 1; options.slab_planes < 4; options.slab_planes += 2) {
            wavefunction_job slabs =
                make_job((ley_wavefunction_request){.orbitals = list, .orbital_count = 3}, &straight);
            run(&slabs, w, &options, false);
            assert_ok_at(slabs.status, &slabs.error, "slabs", __FILE__, __LINE__);
            assert_true(ley_job_report(slabs.job)->slab_count >= 2);
            for (size_t v = 0; v < 3; v++)
                assert_memory_equal(ley_map_read_values(slabs.maps[v]), ley_map_read_values(whole.maps[v]),
                                    (size_t)wavefunction_job_points(&whole) * sizeof(float));
            end(&slabs);
        }
        end(&whole);
    }
    ley_wavefunction_destroy(w);
}

/* A density by its matrix: blocks of planes are those of the grid, whatever slabs begin with. */
static void test_matrix_in_slabs(void **state)
{
    const ley_wavefunction_request density = {.kind = LEY_DENSITY, .gradient = true};
    ley_wavefunction *w = NULL;
    ley_error error = {0};
    ley_run_options options = usual();
    options.variant = "matrix";
    assert_ok(some_wavefunction(60, 2, 4, 9, &w, &error));
    wavefunction_job whole = make_job(density, &straight);
    run(&whole, w, &options, false);
    assert_ok_at(whole.status, &whole.error, "a whole grid", __FILE__, __LINE__);
    for (options.slab_planes = 1; options.slab_planes < 4; options.slab_planes += 2) {
        wavefunction_job slabs = make_job(density, &straight);
        run(&slabs, w, &options, false);
        assert_ok_at(slabs.status, &slabs.error, "slabs", __FILE__, __LINE__);
        assert_true(ley_job_report(slabs.job)->slab_count >= 2);
        for (size_t v = 0; v < slabs.values; v++)
            assert_memory_equal(ley_map_read_values(slabs.maps[v]), ley_map_read_values(whole.maps[v]),
                                (size_t)wavefunction_job_points(&whole) * sizeof(float));
        end(&slabs);
    }
    end(&whole);
    ley_wavefunction_destroy(w);
}

/* Every variant that takes points anywhere, in every sum that it has: orbitals, a density with its
 * derivatives, more orbitals than are computed at once. */
static void test_variants_of_lists(void **state)
{
    static const int64_t list[] = {0, 2, 1, 3, 5};
    const char *variant;
    ley_wavefunction *w = NULL;
    ley_error error = {0};
    assert_ok(some_wavefunction(5, 4, 8, 3, &w, &error));
    double *weights = calloc(8, sizeof *weights);
    for (int64_t i = 0; i < 8; i++)
        assert_ok(wavefunction_weight(w, i, false, &weights[i], &error));
    for (size_t i = 0; (variant = list_variant(i)) != NULL; i++)
        for (int sum = LEY_SUM_FLOAT; sum <= LEY_SUM_DOUBLE; sum++)
            for (int what = 0; what < 3; what++) {
                ley_run_options options = usual();
                options.variant = variant;
                options.sum = (ley_sum)sum;
                const ley_wavefunction_request orbitals = {.orbitals = list, .orbital_count = what == 0 ? 5 : 1},
                                               density = {.kind = LEY_DENSITY, .gradient = true, .laplacian = true};
                if (support_is_quick() && what > 0 && sum != LEY_SUM_FLOAT)
                    continue;
                wavefunction_job j = make_job(what == 2 ? density : orbitals, what == 1 ? &oblique : NULL);
                run(&j, w, &options, false);
                if (j.status == LEY_ERROR_NO_DEVICE &&
                    (strstr(j.error.message, "with vectors") != NULL || strstr(j.error.message, "no double") != NULL ||
                     strstr(j.error.message, "many has no derivatives") != NULL)) {
                    end(&j);
                    continue;
                }
                assert_right(&j, w, what == 2 ? weights : NULL, 5,
                             sum != LEY_SUM_DOUBLE ? 5e-6
                             : what == 1           ? 1e-6
                                                   : 1e-11);
                assert_string_equal(ley_job_report(j.job)->devices[0].variant, variant);
                end(&j);
            }
    free(weights);
    ley_wavefunction_destroy(w);
}

/* Far from 0 distances have all their digits. */
static void test_far_from_origin(void **state)
{
    static const int64_t list[] = {1};
    static const double shift[] = {2e4, -1.5e4, 1.8e4};
    ley_wavefunction *some = NULL, *w = NULL;
    ley_error error = {0};
    assert_ok(some_wavefunction(3, 3, 3, 5, &some, &error));
    ley_wavefunction_arrays a = ley_wavefunction_get(some);
    double *positions = calloc(3 * (size_t)a.nuclei, sizeof *positions);
    for (int64_t k = 0; k < 3 * a.nuclei; k++)
        positions[k] = a.positions_bohr[k] + shift[k % 3];
    a.positions_bohr = positions;
    assert_ok(ley_wavefunction_create(&a, &w, &error));
    for (size_t i = 0; list_variant(i) != NULL; i++) {
        ley_run_options options = usual();
        options.variant = list_variant(i);
        options.sum = LEY_SUM_DOUBLE;
        wavefunction_job j = make_job((ley_wavefunction_request){.orbitals = list, .orbital_count = 1}, NULL);
        for (int64_t k = 0; k < 3 * j.request.points; k++)
            j.points[k] += shift[k % 3] * units_bohr_A;
        run(&j, w, &options, false);
        if (j.status != LEY_ERROR_NO_DEVICE)
            assert_right(&j, w, NULL, 5, 1e-12);
        end(&j);
    }
    free(positions);
    ley_wavefunction_destroy(some);
    ley_wavefunction_destroy(w);
}

/* On a grid along the axes the other kernels compute the same. Code that is compiled for a basis is
 * not compiled again for another molecule in it. */
static void test_compiled_once(void **state)
{
    static const int64_t list[] = {0};
    ley_error error = {0};
    ley_run_options options = usual();
    options.variant = "compiled";
    support_fresh_cache();
    for (int i = 0; i < 3; i++) {
        ley_wavefunction *w = NULL;
        assert_ok(i < 2 ? c60_create(&w, &error) : c60_small(&w, &error));
        const ley_grid grid = {.origin_A = {-4, -4, -4}, .step_A = LEY_STEPS(0.7, 0.7, 1.5), .n = {11, 12, 5}};
        wavefunction_job j = make_job((ley_wavefunction_request){.orbitals = list, .orbital_count = 1}, &grid);
        run(&j, w, &options, i == 1);
        assert_right(&j, w, NULL, 7, 2e-6);
        assert_int_equal(ley_job_report(j.job)->devices[0].from_cache, i == 1);
        end(&j);
        ley_wavefunction_destroy(w);
    }
}

/* Bases that do not fit: constant memory, and code. Tiled takes them. */
static void test_large_bases(void **state)
{
    static const int64_t list[] = {0};
    static const double one[] = {1};
    static const struct {
        const char *variant, *says;
        bool is_density;
    } cases[] = {{"constant", "constant memory has"},
                 {"compiled", "more Gaussians than compilers take"},
                 {"tiled", NULL},
                 {"matrix", "functions take more local memory", .is_density = true}};
    const ley_grid grid = {.origin_A = {0, 0, 5}, .step_A = LEY_STEPS(4, 4, 3), .n = {5, 5, 2}};
    ley_wavefunction *w = NULL;
    ley_error error = {0};
    assert_ok(some_wavefunction(1100, 2, 1, 2, &w, &error));
    assert_true(ley_wavefunction_functions(w) > 10000);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ley_run_options options = usual();
        options.variant = cases[i].variant;
        wavefunction_job j =
            make_job((ley_wavefunction_request){.kind = cases[i].is_density ? LEY_DENSITY : LEY_ORBITALS,
                                                .orbitals = list,
                                                .orbital_count = 1,
                                                .occupations = cases[i].is_density ? one : NULL},
                     &grid);
        run(&j, w, &options, false);
        if (cases[i].says == NULL || (i == 0 && j.status == LEY_OK)) /* some have more than 64 KB of it */
            assert_right(&j, w, NULL, 1, 2e-6);
        else if (j.status != LEY_ERROR_NO_DEVICE || strstr(j.error.message, cases[i].says) == NULL)
            fail_msg("%s: %s: %s", cases[i].variant, ley_status_name(j.status), j.error.message);
        end(&j);
    }
    ley_wavefunction_destroy(w);
}

/* New coefficients, again and again: of orbitals and of a density, on a grid along the axes, an
 * oblique one, and at points. */
static void test_frames(void **state)
{
    enum { FRAMES = 4, ORBITALS = 6 };
    static const int64_t list[] = {1, 4};
    ley_error error = {0};
    for (int what = 0; what < 5; what++) {
        ley_wavefunction *w = NULL, *now = NULL;
        ley_wavefunction_plan *plan = NULL;
        ley_run_options options = usual();
        options.variant = what == 4 ? "matrix" : NULL;
        options.verify_points = what % 2 == 0 ? 0 : options.verify_points; /* then nothing is made anew */
        assert_ok(some_wavefunction(7, 2, ORBITALS, 31, &w, &error));
        ley_wavefunction_arrays a = ley_wavefunction_get(w);
        const size_t count = (size_t)(ORBITALS * ley_wavefunction_functions(w));
        double *coefficients = calloc(count, sizeof *coefficients), weights[ORBITALS];
        wavefunction_job j = make_job(what < 3 ? (ley_wavefunction_request){.orbitals = list, .orbital_count = 2}
                                               : (ley_wavefunction_request){.kind = LEY_DENSITY},
                                      what == 1   ? &oblique
                                      : what == 2 ? NULL
                                                  : &straight);
        j.request.maps = j.points == NULL ? j.maps : NULL;
        assert_ok(ley_wavefunction_plan_create(engine, w, &j.request, NULL, &options, &plan, &error));
        assert_null(ley_wavefunction_plan_report(plan));
        for (int frame = 0; frame < FRAMES; frame++) {
            for (size_t k = 0; k < count; k++)
                coefficients[k] = a.orbital_coefficients[k] * (1 + frame) + 0.1 * sin((double)k * frame);
            if (frame > 0)
                assert_ok(ley_wavefunction_plan_update(plan, coefficients, NULL, &error));
            else
                memcpy(coefficients, a.orbital_coefficients, count * sizeof *coefficients);
            assert_ok(ley_wavefunction_plan_run(plan, &error));
            const ley_report *report = ley_wavefunction_plan_report(plan);
            assert_true((report->accuracy.points > 0) == (what % 2 == 1) &&
                        report->devices[0].points == report->points);
            ley_wavefunction_arrays other = a;
            other.orbital_coefficients = coefficients;
            assert_ok(ley_wavefunction_create(&other, &now, &error));
            for (int64_t i = 0; i < ORBITALS; i++)
                assert_ok(wavefunction_weight(now, i, false, &weights[i], &error));
            assert_values(&j, now, what >= 3 ? weights : NULL, 41, 5e-6);
            ley_wavefunction_destroy(now);
        }
        coefficients[3] = NAN;
        assert_error(ley_wavefunction_plan_update(plan, coefficients, NULL, &error), LEY_ERROR_INPUT,
                     "the orbitals' coefficient 4 is nan");
        ley_error_clear(&error);
        ley_wavefunction_plan_destroy(plan);
        end(&j);
        free(coefficients);
        ley_wavefunction_destroy(w);
    }
}

/* Other orbitals have electrons: all is made anew. */
static void test_other_occupations(void **state)
{
    enum { ORBITALS = 4 };
    ley_wavefunction *w = NULL, *now = NULL;
    ley_wavefunction_plan *plan = NULL;
    ley_error error = {0};
    const ley_run_options options = usual();
    assert_ok(some_wavefunction(3, 1, ORBITALS, 8, &w, &error));
    ley_wavefunction_arrays a = ley_wavefunction_get(w);
    wavefunction_job j = make_job((ley_wavefunction_request){.kind = LEY_DENSITY}, &straight);
    j.request.maps = j.maps;
    assert_ok(ley_wavefunction_plan_create(engine, w, &j.request, NULL, &options, &plan, &error));
    for (int i = 0; i < 3; i++) {
        const double occupations[ORBITALS] = {2, i, i == 1 ? 0.5 : 0, 1}, *weights = occupations;
        a.occupations = occupations;
        assert_ok(ley_wavefunction_plan_update(plan, NULL, occupations, &error));
        assert_ok(ley_wavefunction_plan_run(plan, &error));
        assert_ok(ley_wavefunction_create(&a, &now, &error));
        assert_values(&j, now, weights, 41, 5e-6);
        ley_wavefunction_destroy(now);
    }
    const double wrong[ORBITALS] = {2, 3, 0, 0};
    assert_error(ley_wavefunction_plan_update(plan, NULL, wrong, &error), LEY_ERROR_INPUT, "occupation 2 is 3");
    ley_error_clear(&error);
    ley_wavefunction_plan_destroy(plan);
    end(&j);
    ley_wavefunction_destroy(w);
}

/* What is left out changes no value by more than 1e-6 of the largest. */
static void test_screening(void **state)
{
    static const int64_t list[] = {3};
    ley_wavefunction *w = NULL;
    ley_error error = {0};
    const ley_run_options options = usual();
    assert_ok(c60_create(&w, &error));
    const ley_grid grid = {.origin_A = {-6, -6, -6}, .step_A = LEY_STEPS(0.2, 0.25, 1.5), .n = {61, 49, 9}};
    wavefunction_job some = make_job((ley_wavefunction_request){.orbitals = list, .orbital_count = 1}, &grid),
                     all = make_job((ley_wavefunction_request){.orbitals = list, .orbital_count = 1}, &grid);
    run(&some, w, &options, false);
    run(&all, w, &options, true);
    assert_ok_at(some.status, &some.error, "with screening", __FILE__, __LINE__);
    assert_ok_at(all.status, &all.error, "without", __FILE__, __LINE__);
    double largest = 0, worst = 0;
    for (int64_t i = 0; i < wavefunction_job_points(&all); i++) {
        const double a = (double)ley_map_read_values(all.maps[0])[i], b = (double)ley_map_read_values(some.maps[0])[i];
        largest = fmax(largest, fabs(a));
        worst = fmax(worst, fabs(a - b));
    }
    assert_true(worst <= 1.2e-6 * largest);
    end(&some);
    end(&all);
    ley_wavefunction_destroy(w);
}

/* Where a steep function is below the threshold its derivatives are not. */
static void test_screened_slopes(void **state)
{
    static const double exponents[] = {0.1, 500}, weights[] = {2};
    static const char *const variants[] = {NULL, "separable4", "matrix"};
    ley_wavefunction *w = NULL;
    ley_error error = {0};
    assert_ok(gaussians_of(1, 0, 2, exponents, (const int32_t[]){0, 0}, &w, &error));
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++)
        for (int axis = 0; axis < 3; axis++)
            for (int laplacian = 0; laplacian <= (v < 2); laplacian++) {
                ley_grid grid = {.origin_A = {0}, .step_A = LEY_STEPS(1e-6, 1e-6, 1e-6), .n = {2, 2, 2}};
                grid.origin_A[axis] = 0.177 * units_bohr_A;
                grid.step_A[axis][axis] = 0.001 * units_bohr_A;
                grid.n[axis] = 24;
                ley_run_options options = usual();
                options.variant = variants[v];
                wavefunction_job j = make_job(
                    (ley_wavefunction_request){.kind = LEY_DENSITY, .gradient = true, .laplacian = laplacian}, &grid);
                run(&j, w, &options, false);
                assert_ok_at(j.status, &j.error, "slopes", __FILE__, __LINE__);
                for (size_t value = 0; value < j.values; value++) {
                    const wavefunction_quantity q = {.wavefunction = w, .weights = weights, .derivative = (int)value};
                    for (int64_t i = 0; i < wavefunction_job_points(&j); i++) {
                        double place[3];
                        const double found = wavefunction_job_found(&j, value, i, place),
                                     right = wavefunction_value(&q, place).value;
                        if (value == 0 || value == 1 + (size_t)axis || value == 4)
                            assert_true(fabs(found - right) <= 1e-2 * fabs(right));
                    }
                }
                end(&j);
            }
    ley_wavefunction_destroy(w);
}

/* As many terms as work-groups list in whole segments, and as functions have room: all of them
 * reach, or some. */
static void check_segments(double width)
{
    static const int64_t list[] = {0};
    static const double exponents[] = {0.3}, weights[] = {2};
    static const char *const variants[] = {NULL, "separable", "separable4", "matrix"};
    const ley_grid grid = {.origin_A = {0, 0, 0}, .step_A = LEY_STEPS(0.2, 0.2, 0.5), .n = {13, 11, 3}};
    ley_wavefunction *w = NULL;
    ley_error error = {0};
    assert_ok(gaussians_of(1024, width, 1, exponents, (const int32_t[]){0}, &w, &error));
    for (int i = 0; i < 4; i++) {
        ley_run_options options = usual();
        options.variant = variants[i];
        wavefunction_job j = make_job(i == 3 ? (ley_wavefunction_request){.kind = LEY_DENSITY, .gradient = true}
                                             : (ley_wavefunction_request){.orbitals = list, .orbital_count = 1},
                                      &grid);
        run(&j, w, &options, false);
        if (j.status != LEY_ERROR_NO_DEVICE)
            assert_right(&j, w, i == 3 ? weights : NULL, 7, 5e-6);
        end(&j);
    }
    ley_wavefunction_destroy(w);
}

static void test_whole_segments(void **state)
{
    check_segments(5);
    check_segments(22);
}

/* Shells of one exponent around one nucleus, in any order of their angular momenta. */
static void test_shared_exponents(void **state)
{
    static const int64_t list[] = {0};
    static const double exponents[] = {0.7, 0.7, 0.7};
    ley_wavefunction *w = NULL;
    ley_error error = {0};
    assert_ok(gaussians_of(3, 2, 3, exponents, (const int32_t[]){1, 2, 0}, &w, &error));
    for (int target = 0; target < 2; target++) {
        const ley_run_options options = usual();
        wavefunction_job j = make_job((ley_wavefunction_request){.orbitals = list, .orbital_count = 1},
                                      target == 0 ? &straight : &oblique);
        run(&j, w, &options, false);
        assert_right(&j, w, NULL, 7, 5e-6);
        end(&j);
    }
    ley_wavefunction_destroy(w);
}

enum { INTEGRATED = 6 };

/* A wavefunction like another, whose orbitals are orthonormal by the overlaps of its functions. */
static ley_wavefunction *orthonormal_of(const ley_wavefunction *from)
{
    const int64_t n = ley_wavefunction_functions(from);
    ley_wavefunction_arrays a = ley_wavefunction_get(from);
    ley_wavefunction *w = NULL;
    ley_error error = {0};
    double *overlaps = calloc((size_t)(n * n), sizeof *overlaps), *c = calloc((size_t)(a.orbitals * n), sizeof *c);
    memcpy(c, a.orbital_coefficients, (size_t)(a.orbitals * n) * sizeof *c);
    assert_ok(ley_wavefunction_overlaps(from, overlaps, &error));
    for (int64_t i = 0; i < a.orbitals; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = 0;
            for (int64_t k = 0; k < n; k++)
                for (int64_t m = 0; m < n; m++)
                    sum += c[i * n + k] * overlaps[k * n + m] * c[j * n + m];
            for (int64_t k = 0; k < n; k++)
                c[i * n + k] = j < i ? c[i * n + k] - sum * c[j * n + k] : c[i * n + k] / sqrt(sum);
        }
    a.orbital_coefficients = c;
    assert_ok(ley_wavefunction_create(&a, &w, &error));
    assert_ok(ley_wavefunction_check_norms(w, 1e-10, &error));
    free(overlaps);
    free(c);
    return w;
}

/* Sums over a fine grid: orbitals are orthonormal. */
static void check_overlaps(const ley_wavefunction *w, const ley_grid *grid, double volume)
{
    static const int64_t list[INTEGRATED] = {0, 1, 2, 3, 4, 5};
    wavefunction_job j = make_job((ley_wavefunction_request){.orbitals = list, .orbital_count = INTEGRATED}, grid);
    const ley_run_options options = usual();
    run(&j, w, &options, false);
    assert_ok_at(j.status, &j.error, "orbitals", __FILE__, __LINE__);
    for (int i = 0; i < INTEGRATED; i++)
        for (int k = 0; k <= i; k++) {
            const float *a = ley_map_read_values(j.maps[i]), *b = ley_map_read_values(j.maps[k]);
            double sum = 0;
            for (int64_t at = 0; at < wavefunction_job_points(&j); at++)
                sum += volume * (double)a[at] * (double)b[at];
            if (!(fabs(sum - (i == k)) < 1e-3))
                fail_msg("the overlap of orbitals %d and %d is %g", i, k, sum);
        }
    end(&j);
}

/* Orbitals are orthonormal, and the electrons are all there. */
static void test_integrals(void **state)
{
    const double h = 0.3 * units_bohr_A;
    const ley_grid grid = {.origin_A = {-4.5, -4.5, -4.5}, .step_A = LEY_STEPS(h, h, h), .n = {75, 75, 75}};
    ley_wavefunction *some = NULL;
    ley_error error = {0};
    double sum = 0;
    assert_ok(some_wavefunction(2, 2, INTEGRATED, 21, &some, &error));
    ley_wavefunction *w = orthonormal_of(some);
    const double electrons = ley_wavefunction_electrons(w, 0);
    check_overlaps(w, &grid, 0.027);
    wavefunction_job j = make_job((ley_wavefunction_request){.kind = LEY_DENSITY}, &grid);
    const ley_run_options options = usual();
    run(&j, w, &options, false);
    assert_ok_at(j.status, &j.error, "a density", __FILE__, __LINE__);
    for (int64_t i = 0; i < wavefunction_job_points(&j); i++)
        sum += (double)ley_map_read_values(j.maps[0])[i] * 0.027;
    if (!(fabs(sum / electrons - 1) < 1e-3))
        fail_msg("%g electrons, over the grid %g", electrons, sum);
    assert_string_equal(ley_map_units(j.maps[0]), "bohr^-3");
    end(&j);
    ley_wavefunction_destroy(w);
    ley_wavefunction_destroy(some);
}

/* Far more functions than a work-group lists at a time. */
static void test_many_functions(void **state)
{
    static const int64_t list[] = {0};
    const ley_grid grid = {.origin_A = {0, 0, 5}, .step_A = LEY_STEPS(0.6, 0.6, 2), .n = {41, 37, 2}};
    ley_wavefunction *w = NULL;
    ley_error error = {0};
    const ley_run_options options = usual();
    assert_ok(some_wavefunction(1100, 2, 1, 2, &w, &error));
    assert_true(ley_wavefunction_functions(w) > 10000);
    wavefunction_job j = make_job((ley_wavefunction_request){.orbitals = list, .orbital_count = 1}, &grid);
    run(&j, w, &options, false);
    assert_right(&j, w, NULL, 101, 2e-6);
    end(&j);
    ley_wavefunction_destroy(w);
}

/* ---- What goes wrong ------------------------------------------------------------------------- */

static void test_refusals(void **state)
{
    static const int64_t list[] = {0, 99};
    const double nan = NAN;
    ley_wavefunction *w = NULL;
    ley_error error = {0};
    ley_job *job = NULL;
    ley_run_options options = usual();
    assert_ok(some_wavefunction(2, 1, 3, 1, &w, &error));
    ley_map *map = support_make_map(&straight), *maps[] = {map, map};
    ley_wavefunction_request r = {.orbitals = list, .orbital_count = 2, .maps = maps};
#define REFUSES(says) \
    assert_error(ley_job_create_wavefunction(engine, w, &r, NULL, &options, &job, &error), LEY_ERROR_USAGE, says)
    REFUSES("orbital 100 of 3");
    r.orbital_count = 0;
    REFUSES("no orbitals");
    r.orbital_count = 1;
    r.gradient = true;
    REFUSES("derivatives are computed of densities");
    r = (ley_wavefunction_request){.kind = LEY_DENSITY, .laplacian = true, .maps = maps};
    REFUSES("a map is there twice");
    r = (ley_wavefunction_request){.kind = LEY_DENSITY, .orbitals = list, .maps = maps};
    REFUSES("no orbitals");
    r.orbital_count = 2;
    REFUSES("orbital 100 of 3");
    r = (ley_wavefunction_request){.kind = LEY_DENSITY, .occupations = &nan, .maps = maps};
    REFUSES("occupations are those of a density's orbitals");
    r.orbitals = list;
    r.orbital_count = 1;
    assert_error(ley_job_create_wavefunction(engine, w, &r, NULL, &options, &job, &error), LEY_ERROR_INPUT,
                 "an occupation of nan");
    r.kind = LEY_SPIN_DENSITY;
    REFUSES("occupations are those of a density's orbitals");
    r = (ley_wavefunction_request){.kind = (ley_wavefunction_kind)7, .maps = maps};
    REFUSES("nothing of a wavefunction has the number 7");
    r = (ley_wavefunction_request){.kind = LEY_DENSITY};
    REFUSES("neither maps nor points");
    r = (ley_wavefunction_request){.kind = LEY_DENSITY, .maps = maps};
    options.sum = LEY_SUM_COMPENSATED;
    options.variant = "separable";
    assert_ok(ley_job_create_wavefunction(engine, w, &r, NULL, &options, &job, &error));
    assert_error(ley_job_run(job, &error), LEY_ERROR_USAGE, "variant separable is for float sums on grids along x");
    ley_job_destroy(job);
    ley_error_clear(&error);
    ley_map_destroy(map);
    ley_wavefunction_destroy(w);
}

/* What a job would take, without computing anything. */
static void test_forecasts(void **state)
{
    ley_wavefunction *w = NULL;
    ley_error error = {0};
    assert_ok(some_wavefunction(20, 2, 8, 1, &w, &error));
    for (int i = 0; i < 2; i++) {
        const ley_run_options options = usual();
        const ley_forecast *f = NULL;
        ley_map *map = support_make_map(i == 0 ? &straight : &oblique);
        const ley_wavefunction_request r = {.kind = LEY_DENSITY, .maps = &map};
        ley_job *job = NULL;
        assert_ok(ley_job_create_wavefunction(engine, w, &r, NULL, &options, &job, &error));
        assert_ok(ley_job_forecast(job, &f, &error));
        assert_int_equal(f->device_count, 1);
        assert_int_equal(f->devices[0].status, LEY_OK);
        assert_true(f->devices[0].slab > 0 && f->devices[0].slab <= ley_map_grid(map)->n[2]);
        assert_true(f->devices[0].need_count == 2 && f->devices[0].bytes > 1000);
        assert_true(f->total_s > 0 && f->devices_s > 0);
        assert_true(list_has_variant(f->devices[0].variant) == (i == 1));
        assert_true(isnan(ley_map_read_values(map)[0]));
        ley_job_destroy(job);
        ley_map_destroy(map);
    }
    ley_wavefunction_destroy(w);
}

static void test_cancel(void **state)
{
    static const int64_t list[] = {0};
    ley_wavefunction *w = NULL;
    ley_error error = {0};
    assert_ok(some_wavefunction(20, 2, 3, 1, &w, &error));
    for (int i = 0; i < 4; i++) {
        support_watch seen = {.cancel_at_call = i == 1 ? -1 : i == 2 ? 1 : 0, .cancel_at_end = i == 3};
        ley_run_options options = usual();
        ley_map *map = support_make_map(&straight);
        const ley_wavefunction_request r = {.orbitals = list, .orbital_count = 1, .maps = &map};
        int64_t points = 0;
        options.slab_planes = 1;
        options.progress = support_note_progress;
        options.progress_context = &seen;
        assert_ok(ley_job_create_wavefunction(engine, w, &r, NULL, &options, &seen.job, &error));
        assert_int_equal(ley_status_exit_code(support_run_watched(&seen, &points)), i == 0 ? 0 : 130);
        ley_map_destroy(map);
    }
    ley_wavefunction_destroy(w);
}

/* Planted in kernels: a lost factor, a wrong edge of tiles, an exchanged order of powers, a wrong
 * derivative. The kernel's self-test finds each, or the verification. */
static void test_faults(void **state)
{
    static const struct {
        const char *kernel, *from, *to;
        bool is_listed, by_verification;
        const char *variant;
        enum { ANY, GROUPS, VECTORS } of; /* kernels that have it */
        bool has_gradient;
    } faults[] = {
        {"separable", "before + values[(v", "before + 1.001f * values[(v", .of = GROUPS},
        {"separable", "gm_x_most + (size_t)tile_x * size.x", "gm_x_most + (size_t)(tile_x ^ 1) * size.x", .of = GROUPS},
        {"separable", "x_own_mosts + (size_t)tile * size.x", "x_own_mosts", .of = VECTORS},
        {"separable", "y_tables + (size_t)(row + j) * size.z + first_row",
         "y_tables + (size_t)(row + j) * size.z + max(first_row - 1, 0)", .of = VECTORS},
        {"separable", "sum += gm_coefficients[(*c)++] * gm_z[k];",
         "sum += gm_coefficients[(*c)++] * gm_z[k > 0 ? left - k : k];", false, false},
        {"separable", "sums, psi, 2 * weight", "sums, psi, weight", .of = VECTORS},
        {"separable", "add(&b[2], factor[1], y[0]);", "add(&b[2], factor[0], y[0]);", .variant = "separable4",
         .has_gradient = true},
        {"separable", "TABLES_X * FOURS_X,", "FOURS_X,", .variant = "separable4", .has_gradient = true},
        {"separable", "o < end; o++", "o < begin + 1; o++", false, false},
        {"gaussians", "q[o] = q[o] * y + t[o];", "q[o] = q[o] * z + t[o];", true, false},
        {"gaussians", "PLANE(0) + C(2) * y", "PLANE(0) + 0.999f * C(2) * y", true, false},
        {"gaussians", "+ C(8) * y", "+ C(7) * y", true, false},
        {"gaussians", "const real psi = at.sum[o];", "const real psi = pitch > 1000 ? 0.9f * at.sum[o] : at.sum[o];",
         true, true},
        {"gaussians", "+ (coefficients) * LEY_ORBITALS + 1, l,", "+ (coefficients) * LEY_ORBITALS, l,", true, false,
         "compiled"},
        {"gaussians", "k < part.y; k +=", "k < part.y - 1; k +=", true, false, "tiled"},
        {"gaussians", "value * c[o]);", "value * c[o ^ 1]);", true, false, "many"},
        {"gaussians", "value * c[o]);", "(j == 2 ? 0.99f : 1.0f) * value * c[o]);", true, false, "many"},
        {"density_matrix", "sm_list[slot + k] = first + k;", "sm_list[slot + k] = first + k / 2;", .variant = "matrix",
         .has_gradient = true},
        {"density_matrix", "2 * v.slope * v.y", "2 * v.slope * v.z", .variant = "matrix", .has_gradient = true},
        {"density_matrix", "first < count; first += STEP", "first < count - STEP; first += STEP", .variant = "matrix",
         .has_gradient = true},
    };
    static const int64_t list[] = {0, 1};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i += support_is_quick() ? 3 : 1) {
        ley_wavefunction *w = NULL;
        ley_error error = {0};
        ley_run_options options = usual();
        options.variant = faults[i].variant;
        if (faults[i].of == (support_has_vectors(engine) ? GROUPS : VECTORS))
            continue;
        assert_ok(some_wavefunction(2, 2, 3, 6, &w, &error));
        support_fresh_cache();
        support_plant_fault(faults[i].kernel, faults[i].from, faults[i].to);
        const ley_wavefunction_request orbitals = {.orbitals = list, .orbital_count = 2},
                                       gradient = {.kind = LEY_DENSITY, .gradient = true};
        wavefunction_job j =
            make_job(faults[i].has_gradient ? gradient : orbitals, faults[i].is_listed ? &oblique : &straight);
        run(&j, w, &options, false);
        const bool is_found = j.status == LEY_ERROR_WRONG_RESULT &&
                              (strstr(j.error.message, "self-test") == NULL) == faults[i].by_verification;
        if (!is_found)
            fail_msg("fault %zu: %s", i, j.error.message);
        end(&j);
        unsetenv("LEYDEN_KERNEL_DIR");
        ley_wavefunction_destroy(w);
    }
    support_fresh_cache();
}

/* What the host hands to kernels is wrong: two m of a pure shell are exchanged, or a shell has lost
 * its norm. Kernels have their copies by the time the judge's are changed, who tells them apart. */
typedef struct exchanging {
    ley_wavefunction *w;
    int64_t shell;
    bool is_norm, is_done;
} exchanging;

static void exchange(void *context, const ley_progress *progress)
{
    exchanging *e = context;
    double *c = (double *)(uintptr_t)e->w->arrays.orbital_coefficients + e->w->shells[e->shell].first_function;
    if (progress->points_done == 0 || e->is_done)
        return;
    for (int f = 0; f < 5 && e->is_norm; f++)
        c[f] *= 0.99;
    const double first = c[1];
    if (!e->is_norm) {
        c[1] = c[2];
        c[2] = first;
    }
    e->is_done = true;
}

static void test_wrong_functions(void **state)
{
    static const int64_t list[] = {0};
    for (int is_norm = 0; is_norm <= 1; is_norm++) {
        exchanging e = {.is_norm = is_norm};
        ley_error error = {0};
        ley_run_options options = usual();
        assert_ok(some_wavefunction(2, 2, 1, 6, &e.w, &error));
        while (e.w->shells[e.shell].l != 2 || !e.w->shells[e.shell].is_pure)
            e.shell++;
        options.progress = exchange;
        options.progress_context = &e;
        options.slab_planes = 1;
        wavefunction_job j = make_job((ley_wavefunction_request){.orbitals = list, .orbital_count = 1}, &straight);
        run(&j, e.w, &options, false);
        assert_true(e.is_done);
        if (j.status != LEY_ERROR_WRONG_RESULT || strstr(j.error.message, "verification failed") == NULL)
            fail_msg("fault %d: %s", is_norm, j.error.message);
        end(&j);
        ley_wavefunction_destroy(e.w);
    }
}

static int run_on(const char *selector, const ley_device_info *info)
{
    return RUN_ON_DEVICE("orbitals", &engine, test_functions, test_densities, test_chosen_densities, test_differences,
                         test_variants_and_slabs, test_matrix_in_slabs, test_variants_of_lists, test_far_from_origin,
                         test_compiled_once, test_large_bases, test_frames, test_other_occupations, test_screening,
                         test_screened_slopes, test_whole_segments, test_shared_exponents, test_integrals,
                         test_many_functions, test_refusals, test_forecasts, test_cancel, test_faults,
                         test_wrong_functions);
}

int main(void)
{
    verification_time_replace(1e9);
    return support_on_each_device(run_on);
}
