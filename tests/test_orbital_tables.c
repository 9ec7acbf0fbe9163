/* What kernels of orbitals read, and their judge: how far Gaussians reach, the bounds of tables
 * along the axes, and what the reference for densities lets pass. */
#include "support.h"

#include "law/wavefunction.h"
#include "methods/wavefunction/tables.h"
#include "methods/wavefunction/task.h"
#include "some_wavefunction.h"

/* A term of a Gaussian at a distance from its centre, as plain formulas have it: x^l e^(-a x^2), or
 * a derivative of it along x. */
static double term_of(double a, int l, int derivative, double x)
{
    const double e = exp(-a * x * x), below = l > 0 ? l * pow(x, l - 1) : 0;
    return derivative == 0   ? pow(x, l) * e
           : derivative == 1 ? (below - 2 * a * pow(x, l + 1)) * e
                             : ((l > 1 ? l * (l - 1) * pow(x, l - 2) : 0) - 2 * a * (2 * l + 1) * pow(x, l) +
                                4 * a * a * pow(x, l + 2)) *
                                   e;
}

/* Beyond its reach nothing of a Gaussian is above the threshold: no term, and none of the
 * derivatives asked for. */
static void test_reach(void **state)
{
    ley_error error = {0};
    for (int l = 0; l <= LEY_MOST_MOMENTUM; l++)
        for (int derivatives = 0; derivatives <= 2; derivatives++) {
            ley_wavefunction *w = NULL;
            expansion e;
            assert_ok(some_wavefunction(3, l, 1, (unsigned)l + 3, &w, &error));
            assert_ok(expansion_create(w, &e, &error));
            float *c = calloc((size_t)e.coefficients, sizeof *c);
            for (int32_t k = 0; k < e.count; k++) {
                const expansion_gaussian *g = &e.gaussians[k];
                const double threshold = pow(10, -2 - 3 * (k % 4));
                c[g->first_coefficient + expansion_place(g->l, g->l)] = 0.7f; /* of x^l */
                const double reach = sqrt(expansion_reach2(&e, g, c, &threshold, 1, derivatives));
                for (double x = reach * 1.0001; x < 3 * reach; x *= 1.03)
                    for (int d = 0; d <= derivatives; d++)
                        if (!(fabs(0.7 * term_of(g->exponent, g->l, d, x)) <= threshold))
                            fail_msg("l = %d, derivative %d: %g of %g at %g, reach %g", g->l, d,
                                     0.7 * term_of(g->exponent, g->l, d, x), threshold, x, reach);
                c[g->first_coefficient + expansion_place(g->l, g->l)] = 0;
            }
            free(c);
            expansion_destroy(&e);
            ley_wavefunction_destroy(w);
        }
}

/* Of tables: no value is beyond what its tile is said to have at most, and planes that a Gaussian
 * reaches are among those that it is said to. */
static void test_bounds(void **state)
{
    enum { TILE_X = 8, TILE_Y = 4, MOST_GAUSSIANS = 200 };
    ley_wavefunction *w = NULL;
    ley_error error = {0};
    expansion e;
    tables t;
    double reach2[MOST_GAUSSIANS];
    assert_ok(some_wavefunction(5, 3, 1, 8, &w, &error));
    assert_ok(expansion_create(w, &e, &error));
    assert_true(e.count <= MOST_GAUSSIANS);
    for (int32_t k = 0; k < e.count; k++)
        reach2[k] = 0.3 + 0.4 * (k % 20);
    const tables_shape s = {.n = {30, 18, 21},
                            .origin = {-4, -3, -5},
                            .step = {0.7, 0.9, 0.6},
                            .tile_x = TILE_X,
                            .tile_y = TILE_Y,
                            .padded_x = 32,
                            .padded_y = 20,
                            .reach2 = reach2,
                            .derivatives = 2};
    assert_ok(tables_create(&e, &s, &t, &error));
    for (size_t d = 0; d <= 2; d++)
        for (size_t row = 0; row < (size_t)t.rows; row++) {
            for (size_t i = 0; i < 32; i++)
                assert_true(fabsf(t.x[d * t.x_count + row * 32 + i]) <=
                            t.x_most[d * t.x_most_count + i / TILE_X * (size_t)t.rows + row]);
            for (size_t i = 0; i < 20; i++)
                assert_true(fabsf(t.y[d * t.y_count + row * 20 + i]) <=
                            t.y_most[d * t.y_most_count + i / TILE_Y * (size_t)t.rows + row]);
        }
    for (int32_t k = 0; k < e.count; k++)
        for (int plane = 0; plane < s.n[2]; plane++) {
            const int32_t planes = t.terms[4 * e.gaussians[k].first_row + 3];
            const bool is_said = plane >= (planes & 0xffff) && plane <= planes >> 16;
            assert_true(is_said || pow(s.origin[2] + plane * s.step[2] - e.gaussians[k].centre[2], 2) > reach2[k]);
        }
    tables_destroy(&t);
    expansion_destroy(&e);
    ley_wavefunction_destroy(w);
}

/* A slab of a density that is off by so little that a core's density would hide it: what is left
 * out of a core's orbital changes nothing where that orbital is small. */
static void test_sharp_judge(void **state)
{
    static const ley_grid straight = {
        .origin_A = {-2.3, -1.7, -1.5}, .step_A = LEY_STEPS(0.13, 0.14, 0.7), .n = {53, 43, 7}};
    ley_wavefunction *w = NULL;
    ley_error error = {0};
    wavefunction_task *t = NULL;
    ley_map *map = support_make_map(&straight);
    const ley_wavefunction_request r = {.kind = LEY_DENSITY, .maps = &map};
    (void)state;
    assert_ok(some_core(8, (const double[3]){0}, (const double[]){2000, 0.4}, (const double[]){2, 2}, &w, &error));
    assert_ok(wavefunction_task_create(w, &r, NULL, &t, &error));
    assert_ok(wavefunction_task_prepare(t, LEY_SPEC_SUM_FLOAT, NULL, &error));
    const reference_value right = wavefunction_value(&t->quantities[0], (const double[]){1.5, 0, 0});
    assert_true(right.value > 0.01 && wavefunction_task_promise(t) * right.absolute < 1e-4 * right.value);
    assert_true(t->left_out < 1e-4 * right.value);
    wavefunction_task_release(t);
    wavefunction_task_end(t);
    ley_map_destroy(map);
    ley_wavefunction_destroy(w);
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.name = "tables"), test_reach, test_bounds, test_sharp_judge);
}
