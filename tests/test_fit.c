/* Densities of atoms and their correlation with maps, on every device and on the host, against sums
 * that are written here from the formulas. */
#include "support.h"

#include "dev_kernel.h"
#include "engine/engine.h"
#include "fit/kernels.h"

#include <unistd.h>

enum { ATOMS = 90, FRAMES = 23, WINDOWS = 6 };

static ley_engine *engine;
static bool by_host;

/* ---- A problem ------------------------------------------------------------------------------- */

typedef struct problem {
    ley_grid grid;
    ley_density_options o;
    ley_fit_target target;
    double weight[ATOMS], radius_A[ATOMS], threshold[FRAMES];
    int32_t window[ATOMS];
    float position_A[FRAMES][ATOMS][3];
    ley_map *map, *mask;
} problem;

enum { PLAIN, OBLIQUE, TURNED, GRIDS };
static const ley_grid grids[GRIDS] = {
    {{-7, 2, -3}, LEY_STEPS(1.2, 1.1, 1.4), {27, 19, 18}},
    {{-7, 2, -3}, {{1.2, 0.1, 0}, {0.4, 1.2, 0}, {-0.3, 0.4, 1.3}}, {23, 21, 18}},
    {{9, 2, -3}, {{0, 0, 1.2}, {0, 1.1, 0}, {-1.4, 0, 0}}, {18, 19, 27}}, /* x is -z */
};

static void point_of(const ley_grid *g, int64_t node, double point_A[3])
{
    const int64_t at[3] = {node % g->n[0], node / g->n[0] % g->n[1], node / (g->n[0] * g->n[1])};
    ley_grid_point_A(g, at, point_A);
}

static problem *begin(int grid, ley_density_convention convention, double resolution_A, bool has_all)
{
    unsigned seed = 7;
    problem *p = calloc(1, sizeof *p);
    p->grid = grids[grid];
    ley_density_options_default(&p->o);
    p->o.convention = convention;
    p->o.resolution_A = resolution_A;
    p->o.verify_every = 1;
    for (int i = 0; i < ATOMS; i++) {
        p->weight[i] = i % 8 == 3 ? 0 : 1 + 7 * support_uniform(&seed);
        p->radius_A[i] = 1 + support_uniform(&seed);
        p->window[i] = i % 9 == 5 ? -1 : i / 12 % WINDOWS;
        for (int f = 0; f < FRAMES; f++) {
            double point_A[3];
            point_of(&p->grid, (int64_t)(support_uniform(&seed) * (double)ley_grid_points(&p->grid)), point_A);
            for (int d = 0; d < 3; d++)
                p->position_A[f][i][d] = (float)(point_A[d] + 3 * (support_uniform(&seed) - 0.5) + (i == 7 ? 400 : 0));
        }
    }
    p->map = support_make_map(&p->grid);
    p->mask = support_make_map(&p->grid);
    for (int64_t i = 0; i < ley_grid_points(&p->grid); i++) {
        ley_map_values(p->map)[i] = i % 13 == 2 ? NAN : (float)(3 + support_uniform(&seed));
        ley_map_values(p->mask)[i] = i % 7 < 3 ? 1 : 0;
    }
    for (int f = 0; f < FRAMES; f++)
        p->threshold[f] = 0.02 + 0.01 * f;
    p->target = (ley_fit_target){.size = sizeof p->target, .map = p->map, .by_host = by_host};
    if (has_all) {
        p->target.mask = p->mask;
        p->target.has_threshold = p->target.has_gradient = true;
        p->target.windows = WINDOWS;
        p->target.window = p->window;
    }
    return p;
}

static void end(problem *p)
{
    ley_map_destroy(p->map);
    ley_map_destroy(p->mask);
    free(p);
}

static ley_fit *make(const problem *p)
{
    ley_error error = {0};
    ley_fit *fit = NULL;
    assert_ok(ley_fit_create(by_host ? NULL : engine, &p->target, ATOMS, p->weight, p->radius_A, &p->o, &fit, &error));
    return fit;
}

/* ---- The formulas ---------------------------------------------------------------------------- */

/* The distance from a plane of the grid's axes other than m, in A. */
static double plane_distance_A(const ley_grid *g, int m, const double way_A[3])
{
    const double *u = g->step_A[(m + 1) % 3], *v = g->step_A[(m + 2) % 3];
    double normal[3], length = 0, along = 0;
    for (int d = 0; d < 3; d++) {
        normal[d] = u[(d + 1) % 3] * v[(d + 2) % 3] - u[(d + 2) % 3] * v[(d + 1) % 3];
        length += normal[d] * normal[d];
    }
    for (int d = 0; d < 3; d++)
        along += normal[d] * way_A[d];
    return fabs(along) / sqrt(length);
}

static double density_at(const problem *p, const double (*x_A)[3], const double point_A[3])
{
    double rho = 0;
    for (int i = 0; i < ATOMS; i++) {
        const double molmap = p->o.resolution_A / (M_PI * sqrt(2)), voltool = 0.2 * p->o.resolution_A * p->radius_A[i];
        const bool is_molmap = p->o.convention == LEY_DENSITY_MOLMAP;
        const double s = is_molmap ? molmap : voltool,
                     cut_A = s * (is_molmap               ? 5
                                  : p->o.resolution_A < 9 ? 4
                                                          : 2),
                     factor = is_molmap ? pow(2 * M_PI * s * s, -1.5) : 1;
        double way_A[3], square = 0;
        for (int d = 0; d < 3; d++) {
            way_A[d] = point_A[d] - x_A[i][d];
            square += way_A[d] * way_A[d];
        }
        bool is_in = true;
        for (int m = 0; m < 3; m++)
            is_in = is_in && plane_distance_A(&p->grid, m, way_A) <= cut_A;
        rho += is_in ? p->weight[i] * factor * exp(-square / (2 * s * s)) : 0;
    }
    return rho;
}

static void fill(const problem *p, const double (*x_A)[3], double *rho)
{
    for (int64_t i = 0; i < ley_grid_points(&p->grid); i++) {
        double point_A[3];
        point_of(&p->grid, i, point_A);
        rho[i] = density_at(p, x_A, point_A);
    }
}

static void places_of(const problem *p, int frame, double x_A[ATOMS][3])
{
    for (int i = 0; i < 3 * ATOMS; i++)
        x_A[i / 3][i % 3] = (double)p->position_A[frame][i / 3][i % 3];
}

/* Pearson's correlation over the nodes that count. */
static double correlate(const problem *p, const double *rho, const bool *counts)
{
    const float *value = ley_map_values(p->map);
    const int64_t nodes = ley_grid_points(&p->grid);
    double n = 0, a = 0, b = 0, ab = 0, aa = 0, bb = 0;
    for (int64_t i = 0; i < nodes; i++)
        if (!isnan(value[i]) && counts[i]) {
            n += 1;
            a += rho[i];
            b += (double)value[i];
        }
    for (int64_t i = 0; i < nodes; i++)
        if (!isnan(value[i]) && counts[i]) {
            ab += (rho[i] - a / n) * ((double)value[i] - b / n);
            aa += pow(rho[i] - a / n, 2);
            bb += pow((double)value[i] - b / n, 2);
        }
    return ab / sqrt(aa * bb);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void check_densities(int grid, ley_density_convention convention, double resolution_A)
{
    ley_error error = {0};
    problem *p = begin(grid, convention, resolution_A, false);
    const int64_t nodes = ley_grid_points(&p->grid);
    float *found = calloc((size_t)(3 * nodes), sizeof *found);
    double *rho = calloc((size_t)nodes, sizeof *rho), x_A[ATOMS][3];
    p->target.map = NULL;
    p->target.grid = &p->grid;
    ley_fit *fit = make(p);
    const ley_fit_results r = {.size = sizeof r, .density = found};
    assert_ok(ley_fit_run(fit, 3, p->position_A[0][0], NULL, &r, &error));
    for (int f = 0; f < 3; f++) {
        double most = 0;
        places_of(p, f, x_A);
        fill(p, (const double(*)[3])x_A, rho);
        for (int64_t i = 0; i < nodes; i++)
            most = fmax(most, rho[i]);
        assert_true(most > 0);
        for (int64_t i = 0; i < nodes; i++)
            if (!(fabs((double)found[f * nodes + i] - rho[i]) <= 1e-5 * most))
                fail_msg("frame %d, node %lld: %.9g, not %.9g", f, (long long)i, (double)found[f * nodes + i], rho[i]);
    }
    ley_fit_destroy(fit);
    free(found);
    free(rho);
    end(p);
}

static void densities_are_those_of_the_formula(void **state)
{
    (void)state;
    check_densities(PLAIN, LEY_DENSITY_MOLMAP, 5);
    check_densities(PLAIN, LEY_DENSITY_VOLTOOL, 6);
    check_densities(OBLIQUE, LEY_DENSITY_MOLMAP, 4);
    check_densities(OBLIQUE, LEY_DENSITY_VOLTOOL, 5);
    check_densities(TURNED, LEY_DENSITY_MOLMAP, 3);
}

/* Scores and windows of all frames. */
static void check_scores(int grid)
{
    ley_error error = {0};
    problem *p = begin(grid, LEY_DENSITY_MOLMAP, 5, true);
    const int64_t nodes = ley_grid_points(&p->grid);
    double *rho = calloc((size_t)nodes, sizeof *rho), x_A[ATOMS][3];
    bool *counts = calloc((size_t)nodes, sizeof *counts);
    double score[FRAMES][LEY_FIT_SCORES], window[FRAMES][WINDOWS];
    const float *value = ley_map_values(p->map);
    ley_fit *fit = make(p);
    const ley_fit_results r = {.size = sizeof r, .score = score[0], .window = window[0]};
    assert_ok(ley_fit_run(fit, FRAMES, p->position_A[0][0], p->threshold, &r, &error));
    for (int f = 0; f < FRAMES; f += 5) {
        double ab = 0, aa = 0, bb = 0, all = 0, n = 0;
        places_of(p, f, x_A);
        fill(p, (const double(*)[3])x_A, rho);
        for (int64_t i = 0; i < nodes; i++) {
            counts[i] = true;
            if (isnan(value[i]))
                continue;
            ab += rho[i] * (double)value[i];
            aa += rho[i] * rho[i];
            bb += (double)value[i] * (double)value[i];
            all += rho[i];
            n += 1;
        }
        assert_float_equal(score[f][LEY_FIT_PEARSON], correlate(p, rho, counts), 1e-5);
        assert_float_equal(score[f][LEY_FIT_OVERLAP], ab / sqrt(aa * bb), 1e-5);
        assert_float_equal(score[f][LEY_FIT_MEAN], all / n, 1e-5 * all / n);
        assert_float_equal(score[f][LEY_FIT_DEVIATION], sqrt(aa / n - pow(all / n, 2)), 1e-5 * sqrt(aa / n));
        for (int64_t i = 0; i < nodes; i++)
            counts[i] = ley_map_values(p->mask)[i] > 0;
        assert_float_equal(score[f][LEY_FIT_MASK], correlate(p, rho, counts), 1e-5);
        for (int64_t i = 0; i < nodes; i++)
            counts[i] = rho[i] >= p->threshold[f];
        assert_float_equal(score[f][LEY_FIT_THRESHOLDED], correlate(p, rho, counts), 2e-5);
        for (int w = 0; w < WINDOWS; w++) {
            for (int64_t i = 0; i < nodes; i++) {
                double point_A[3];
                point_of(&p->grid, i, point_A);
                counts[i] = false;
                for (int k = 0; k < ATOMS && !counts[i]; k++)
                    counts[i] = p->window[k] == w && pow(point_A[0] - x_A[k][0], 2) + pow(point_A[1] - x_A[k][1], 2) +
                                                             pow(point_A[2] - x_A[k][2], 2) <=
                                                         pow(p->o.resolution_A / 2, 2);
            }
            assert_float_equal(window[f][w], correlate(p, rho, counts), 5e-5);
        }
    }
    ley_fit_totals totals;
    ley_fit_get_totals(fit, &totals);
    assert_int_equal(totals.frames, FRAMES);
    assert_int_equal(totals.undefined, 0);
    assert_true(by_host || (totals.checked_frames == FRAMES && totals.failed == 0 && totals.error < 5e-5));
    ley_fit_destroy(fit);
    free(rho);
    free(counts);
    end(p);
}

static void scores_are_those_of_the_formula(void **state)
{
    (void)state;
    check_scores(PLAIN);
    check_scores(OBLIQUE);
}

/* By differences of the formula's correlation. */
static void gradients_are_those_of_differences(void **state)
{
    (void)state;
    static const double step_A = 1e-3;
    ley_error error = {0};
    for (int grid = PLAIN; grid <= OBLIQUE; grid++)
        for (int k = 0; k < LEY_DENSITY_CONVENTIONS; k++) {
            problem *p = begin(grid, (ley_density_convention)k, 5, true);
            const int64_t nodes = ley_grid_points(&p->grid);
            float gradient[2][ATOMS][3];
            double *rho = calloc((size_t)nodes, sizeof *rho), x_A[ATOMS][3], most = 0;
            bool *counts = calloc((size_t)nodes, sizeof *counts);
            for (int64_t i = 0; i < nodes; i++)
                counts[i] = true;
            ley_fit *fit = make(p);
            const ley_fit_results r = {.size = sizeof r, .gradient = gradient[0][0]};
            assert_ok(ley_fit_run(fit, 2, p->position_A[0][0], NULL, &r, &error));
            places_of(p, 1, x_A);
            for (int i = 0; i < 3 * ATOMS; i++)
                most = fmax(most, fabs((double)gradient[1][i / 3][i % 3]));
            assert_true(most > 1e-4);
            for (int i = 0; i < ATOMS; i += 7)
                for (int d = 0; d < 3; d++) {
                    double of[2];
                    for (int side = 0; side < 2; side++) {
                        x_A[i][d] += (side == 0 ? -1 : 2) * step_A;
                        fill(p, (const double(*)[3])x_A, rho);
                        of[side] = correlate(p, rho, counts);
                    }
                    x_A[i][d] -= step_A;
                    const double found = (double)gradient[1][i][d], right = (of[1] - of[0]) / (2 * step_A);
                    /* An atom that is cut off jumps where its reach ends: voltool's by 3e-4. */
                    if (!(fabs(found - right) <= (k == LEY_DENSITY_MOLMAP ? 2e-3 : 0.1) * most))
                        fail_msg("atom %d, %d: %.6g, not %.6g; the largest is %.3g", i, d, found, right, most);
                }
            ley_fit_destroy(fit);
            free(rho);
            free(counts);
            end(p);
        }
}

/* Whatever batches it is in. */
static void frames_have_the_same_bytes(void **state)
{
    (void)state;
    ley_error error = {0};
    problem *p = begin(OBLIQUE, LEY_DENSITY_VOLTOOL, 5, true);
    double score[2][FRAMES][LEY_FIT_SCORES], window[2][FRAMES][WINDOWS];
    float(*gradient)[FRAMES][ATOMS][3] = calloc(2, sizeof *gradient);
    ley_fit *fit = make(p);
    for (int run = 0; run < 2; run++)
        for (int f = 0; f < FRAMES; f += run == 0 ? FRAMES : 9) {
            const int64_t left = FRAMES - f, count = run == 0 || left < 9 ? left : 9;
            const ley_fit_results r = {
                .size = sizeof r, .score = score[run][f], .window = window[run][f], .gradient = gradient[run][f][0]};
            assert_ok(ley_fit_run(fit, count, p->position_A[f][0], p->threshold + f, &r, &error));
        }
    assert_memory_equal(score[0], score[1], sizeof score[0]);
    assert_memory_equal(window[0], window[1], sizeof window[0]);
    assert_memory_equal(gradient[0], gradient[1], sizeof gradient[0]);
    ley_fit_destroy(fit);
    free(gradient);
    end(p);
}

/* Moved and turned together with the map. */
static void a_frame_and_its_map_may_move_together(void **state)
{
    (void)state;
    static const double turn[3][3] = {{0.36, 0.48, -0.8}, {-0.8, 0.6, 0}, {0.48, 0.64, 0.6}},
                        shift_A[3] = {300, -41, 7};
    ley_error error = {0};
    double score[2][LEY_FIT_SCORES];
    for (int moved = 0; moved < 2; moved++) {
        problem *p = begin(PLAIN, LEY_DENSITY_MOLMAP, 5, false);
        ley_map *map = NULL;
        for (int m = 0; m < 4 && moved; m++) {
            double *v = m < 3 ? p->grid.step_A[m] : p->grid.origin_A, old[3];
            memcpy(old, v, sizeof old);
            for (int d = 0; d < 3; d++)
                v[d] = turn[d][0] * old[0] + turn[d][1] * old[1] + turn[d][2] * old[2] + (m < 3 ? 0 : shift_A[d]);
        }
        for (int i = 0; i < ATOMS && moved; i++) {
            float old[3];
            memcpy(old, p->position_A[0][i], sizeof old);
            for (int d = 0; d < 3; d++)
                p->position_A[0][i][d] = (float)(turn[d][0] * (double)old[0] + turn[d][1] * (double)old[1] +
                                                 turn[d][2] * (double)old[2] + shift_A[d]);
        }
        assert_ok(ley_map_create(&p->grid, &map, &error));
        memcpy(ley_map_values(map), ley_map_values(p->map), (size_t)ley_grid_points(&p->grid) * sizeof(float));
        p->target.map = map;
        ley_fit *fit = make(p);
        const ley_fit_results r = {.size = sizeof r, .score = score[moved]};
        assert_ok(ley_fit_run(fit, 1, p->position_A[0][0], NULL, &r, &error));
        ley_fit_destroy(fit);
        ley_map_destroy(map);
        end(p);
    }
    assert_float_equal(score[0][LEY_FIT_PEARSON], score[1][LEY_FIT_PEARSON], 1e-5);
    assert_float_equal(score[0][LEY_FIT_OVERLAP], score[1][LEY_FIT_OVERLAP], 1e-5);
}

/* All that atoms weigh is on the map; an atom is a Gaussian. */
static void mass_is_kept(void **state)
{
    (void)state;
    ley_error error = {0};
    const ley_grid grid = {{-20, -20, -20}, LEY_STEPS(1, 1, 1), {41, 41, 41}};
    const ley_fit_target target = {.size = sizeof target, .grid = &grid, .by_host = by_host};
    const float position_A[2][3] = {{0.3F, 0.1F, -0.4F}, {5, 4, -3}}, one_A[3] = {0, 0, 0};
    const double weight[2] = {6, 8};
    ley_density_options o;
    float *rho = calloc(41 * 41 * 41, sizeof *rho);
    double sum = 0;
    ley_density_options_default(&o);
    for (int atoms = 2; atoms >= 1; atoms--) {
        ley_fit *fit = NULL;
        const ley_fit_results r = {.size = sizeof r, .density = rho};
        assert_ok(ley_fit_create(by_host ? NULL : engine, &target, (size_t)atoms, weight, NULL, &o, &fit, &error));
        assert_ok(ley_fit_run(fit, 1, atoms == 2 ? position_A[0] : one_A, NULL, &r, &error));
        for (int i = 0; i < 41 * 41 * 41 && atoms == 2; i++)
            sum += (double)rho[i];
        ley_fit_destroy(fit);
    }
    assert_float_equal(sum, 14, 14 * 1e-5);
    const double s_A = 5 / (M_PI * sqrt(2)), top = 6 * pow(2 * M_PI * s_A * s_A, -1.5);
    const float *middle = rho + 20 * 41 * 41 + 20 * 41 + 20;
    assert_float_equal((double)middle[0], top, 1e-6 * top);
    assert_float_equal((double)middle[-2], top * exp(-2 / (s_A * s_A)), 1e-6 * top);
    assert_float_equal((double)middle[6], 0, 0); /* 5 s is 5.63 A */
    assert_true(middle[5] > 0);
    free(rho);
}

static void what_is_undefined_is_said(void **state)
{
    (void)state;
    ley_error error = {0};
    problem *p = begin(PLAIN, LEY_DENSITY_MOLMAP, 5, true);
    ley_fit *fit = make(p);
    ley_fit_totals totals;
    double score[3][LEY_FIT_SCORES], window[3][WINDOWS];
    float gradient[3][ATOMS][3];
    const ley_fit_results r = {.size = sizeof r, .score = score[0], .window = window[0], .gradient = gradient[0][0]};
    for (int i = 0; i < ATOMS; i++)
        p->position_A[1][i][0] += 1e5F;
    assert_ok(ley_fit_run(fit, 3, p->position_A[0][0], p->threshold, &r, &error));
    ley_fit_get_totals(fit, &totals);
    assert_true(isfinite(score[0][0]) && isnan(score[1][0]) && isnan(score[1][1]) && isfinite(score[2][0]));
    assert_true(score[1][LEY_FIT_MEAN] == 0 && isnan(window[1][2]) && gradient[1][3][1] == 0);
    assert_int_equal(totals.undefined, 1);
    assert_int_equal(totals.first, 2);
    p->position_A[2][5][1] = NAN;
    assert_error(ley_fit_run(fit, 3, p->position_A[0][0], NULL, &r, &error), LEY_ERROR_INPUT, "frame 6: atom 6");
    ley_fit_destroy(fit);
    end(p);
}

static void what_is_wrong_is_refused(void **state)
{
    (void)state;
    ley_error error = {0};
    ley_fit *fit = NULL;
    problem *p = begin(PLAIN, LEY_DENSITY_MOLMAP, 5, false);
#define MAKE() ley_fit_create(NULL, &p->target, ATOMS, p->weight, p->radius_A, &p->o, &fit, &error)
    p->o.resolution_A = 1.3;
    assert_error(MAKE(), LEY_ERROR_INPUT, "finer than the grid, whose nodes are 1.4 A apart");
    p->o.resolution_A = 0;
    assert_error(MAKE(), LEY_ERROR_USAGE, "resolution");
    p->o.resolution_A = 5;
    p->o.convention = LEY_DENSITY_VOLTOOL;
    p->radius_A[2] = 0;
    assert_error(MAKE(), LEY_ERROR_INPUT, "atom 3 has no radius");
    p->o.convention = LEY_DENSITY_MOLMAP;
    p->weight[4] = NAN;
    assert_error(MAKE(), LEY_ERROR_INPUT, "atom 5 has the weight");
    memset(p->weight, 0, sizeof p->weight);
    assert_error(MAKE(), LEY_ERROR_INPUT, "weight of every atom is 0");
    p->weight[0] = 1;
    for (int64_t i = 0; i < ley_grid_points(&p->grid); i++)
        ley_map_values(p->map)[i] = 0;
    assert_error(MAKE(), LEY_ERROR_INPUT, "the map is 0 at every node");
    for (int64_t i = 0; i < ley_grid_points(&p->grid); i++)
        ley_map_values(p->map)[i] = NAN;
    assert_error(MAKE(), LEY_ERROR_INPUT, "fewer than two");
    end(p);
    p = begin(PLAIN, LEY_DENSITY_MOLMAP, 5, false);
    problem *other = begin(OBLIQUE, LEY_DENSITY_MOLMAP, 5, false);
    p->target.mask = other->map;
    assert_error(MAKE(), LEY_ERROR_USAGE, "the mask has another grid");
    end(other);
    p->target.mask = NULL;
    p->target.by_host = true;
    assert_ok(MAKE());
    float gradient[ATOMS][3];
    const ley_fit_results r = {.size = sizeof r, .gradient = gradient[0]};
    assert_error(ley_fit_run(fit, 1, p->position_A[0][0], NULL, &r, &error), LEY_ERROR_USAGE, "gradients are wanted");
    ley_fit_destroy(fit);
    end(p);
}

/* Elements by names, and what atoms weigh. */
static void elements_are_known_by_names(void **state)
{
    (void)state;
    static const char lines[] =
        "ATOM 1 CA ALA 1 0 0 0 0.1 1.7\nATOM 2 1HB ALA 1 1 0 0 0.2 1\nATOM 3 OXT ALA 1 2 0 0 -1 1\n"
        "ATOM 4 CL CL 2 3 0 0 -1 1\nATOM 5 SG CYS 3 4 0 0 0 1\nATOM 6 ZN ZN 4 5 0 0 2 1\n"
        "ATOM 7 CA CA 5 6 0 0 2 0\nATOM 8 NA NA 6 7 0 0 1 0\n";
    static const int32_t right[] = {6, 1, 8, 17, 16, 30, 20, 11};
    ley_error error = {0};
    ley_atoms *atoms = NULL;
    double weight[8];
    char path[] = "/tmp/test_fit_XXXXXX.pqr";
    const int file = mkstemps(path, 4);
    assert_true(write(file, lines, sizeof lines - 1) == sizeof lines - 1);
    close(file);
    assert_ok(ley_atoms_read(path, &atoms, &error));
    unlink(path);
    assert_memory_equal(ley_atoms_elements(atoms), right, sizeof right);
    assert_ok(ley_density_weights_of(atoms, LEY_DENSITY_NUMBER, weight, &error));
    assert_true(weight[3] == 17);
    assert_ok(ley_density_weights_of(atoms, LEY_DENSITY_MASS, weight, &error));
    assert_float_equal(weight[0], 12.011, 1e-9);
    assert_ok(ley_density_weights_of(atoms, LEY_DENSITY_CHARGE, weight, &error));
    assert_float_equal(weight[5], 2, 1e-9);
    ley_atoms_destroy(atoms);
    atoms = support_make_atoms(1, (const double[3]){0, 0, 0}, (const double[1]){1}, NULL);
    assert_error(ley_density_weights_of(atoms, LEY_DENSITY_MASS, weight, &error), LEY_ERROR_INPUT, "no names");
    assert_ok(ley_density_weights_of(atoms, LEY_DENSITY_OCCUPANCY, weight, &error));
    ley_atoms_destroy(atoms);
}

/* ---- Faults ---------------------------------------------------------------------------------- */

typedef struct look {
    const kernel_kind *kind;
    const char *name;
    int seen, right;
} look;

static void build(void *context, const char *name, const void *spec)
{
    look *k = context;
    ley_error error = {0};
    dev_kernel kernel = {.program = NULL};
    if (strcmp(name, k->name) != 0)
        return;
    k->seen++;
    k->right += kernel_create_anew(engine->workers[0].device, k->kind, spec, true, NULL, &kernel, &error) !=
                LEY_ERROR_WRONG_RESULT;
    kernel_destroy(&kernel);
    ley_error_clear(&error);
}

static void self_tests_find_faults(void **state)
{
    (void)state;
    static const struct {
        const kernel_kind *kind;
        const char *name, *from, *to;
        bool of_vectors;
    } faults[] = {
        {&atom_density_kind, "atom_density-7", "of_cell + 1) * parts];", "of_cell + 1) * parts - 1];", true},
        {&atom_density_kind, "atom_density-group-7", "x1 + 1) * parts];", "x1) * parts];"},
        {&atom_density_kind, "atom_density-7", "sums[k++] += high * b;", "sums[k++] += high * a;"},
        {&atom_density_kind, "atom_density-7", "PICK(value == value, rho, 0.0f)", "rho"},
        {&atom_density_kind, "atom_density-varied-stored-0", "gm_falls + at + i", "gm_falls + i", true},
        {&atom_density_kind, "atom_density-varied-stored-0", "node >= (real)x && ", "", true},
        {&atom_density_kind, "atom_density-stored-0", "along_z[a * PITCH] *", "along_z[0] *", true},
        {&atom_density_kind, "atom_density-oblique-1", "floor(at + reach)) + 1", "floor(at + reach))", true},
        {&atom_density_kind, "atom_density-group-varied-stored-0", "gm_falls[at]", "gm_falls[at - frame * n_atoms]"},
        {&atom_density_kind, "atom_density-oblique-1", "numbers.s5 * dy * dz", "numbers.s4 * dy * dz", true},
        {&atom_density_kind, "atom_density-group-7", "i < LEY_WG; i++", "i < LEY_WG - 1; i++"},
        {&atom_density_kind, "atom_density-group-stored-0", "rho[4 * k + 3] += xy * along.w;", ""},
        {&atom_density_kind, "atom_density-group-oblique-1", "dz * (by_z + numbers.s2 * dz)", "dz * (numbers.s2 * dz)"},
        {&fit_cells_kind, "fit_cells", "gm_own[(size_t)cell * parts]++", "gm_own[cell]++", true},
        {&fit_cells_kind, "fit_cells-group", "before += k < item ? 1 : 0;", ""},
        {&fit_place_kind, "fit_place", "--gm_left[own]", "gm_left[own] - 1", true},
        {&fit_place_kind, "fit_place-group-varied", "other - 1 < i", "other - 1 > i"},
        {&fit_windows_kind, "fit_windows", "i < min(first + LEY_FIT_CHUNK, count)", "i < min(first + 1, count)"},
        {&fit_windows_kind, "fit_windows", "b != b || ", ""},
        {&fit_gradient_kind, "fit_gradient", "by += row_b * dy;", "by += row_b * dz;"},
        {&fit_gradient_kind, "fit_gradient", "x >= (real)first", "x >= (real)from", true},
        {&fit_gradient_kind, "fit_gradient-group-varied", "gm_falls[frame * n_atoms + own]", "gm_falls[own]"},
    };
    const bool has_vectors = engine->workers[0].info->device_class == DEV_CPU;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        char name[64]; /* groups are the only form of cards */
        const char *group = strstr(faults[i].name, "-group");
        if (faults[i].of_vectors && !has_vectors)
            continue;
        if (group != NULL && !has_vectors)
            snprintf(name, sizeof name, "%.*s%s", (int)(group - faults[i].name), faults[i].name,
                     group + strlen("-group"));
        else
            snprintf(name, sizeof name, "%s", faults[i].name);
        look k = {.kind = faults[i].kind, .name = name};
        support_plant_fault(k.kind->name, faults[i].from, faults[i].to);
        kernel_specs(k.kind, engine->workers[0].info, KERNEL_ALL, build, &k);
        if (k.seen == 0 || k.right > 0)
            fail_msg("%s: '%s' is planted: %d seen, %d not", name, faults[i].from, k.seen, k.right);
    }
    unsetenv("LEYDEN_KERNEL_DIR");
}

/* All specifications, groups as well. */
static void count_kernel(void *context, const char *name, const void *spec)
{
    const kernel_kind *kind = context;
    ley_error error = {0};
    dev_kernel kernel = {.program = NULL};
    if (kernel_create_anew(engine->workers[0].device, kind, spec, true, NULL, &kernel, &error) != LEY_OK)
        fail_msg("%s: %s", name, error.message);
    kernel_destroy(&kernel);
}

static void kernels_pass_their_tests(void **state)
{
    (void)state;
    const kernel_depth depth = support_is_quick() ? KERNEL_MORE : KERNEL_ALL;
    kernel_specs(&atom_density_kind, engine->workers[0].info, depth, count_kernel, (void *)&atom_density_kind);
    kernel_specs(&fit_cells_kind, engine->workers[0].info, depth, count_kernel, (void *)&fit_cells_kind);
    kernel_specs(&fit_place_kind, engine->workers[0].info, depth, count_kernel, (void *)&fit_place_kind);
    kernel_specs(&fit_windows_kind, engine->workers[0].info, depth, count_kernel, (void *)&fit_windows_kind);
    kernel_specs(&fit_gradient_kind, engine->workers[0].info, depth, count_kernel, (void *)&fit_gradient_kind);
}

static int on_device(const char *selector, const ley_device_info *info)
{
    return RUN_ON_DEVICE("fit", &engine, kernels_pass_their_tests, densities_are_those_of_the_formula,
                         scores_are_those_of_the_formula, gradients_are_those_of_differences,
                         frames_have_the_same_bytes, a_frame_and_its_map_may_move_together, mass_is_kept,
                         what_is_undefined_is_said, self_tests_find_faults);
}

int main(void)
{
    by_host = true;
    const int failed =
        RUN_TESTS(densities_are_those_of_the_formula, scores_are_those_of_the_formula,
                  gradients_are_those_of_differences, frames_have_the_same_bytes, a_frame_and_its_map_may_move_together,
                  mass_is_kept, what_is_undefined_is_said, what_is_wrong_is_refused, elements_are_known_by_names);
    by_host = false;
    return failed + support_on_each_device(on_device);
}
