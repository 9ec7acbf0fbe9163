/* The device-free parts of the host: sizes, grids, padding, packing, the reference, the
 * comparator, the pair formulas. */
#include "support.h"

#include "core/sizes.h"
#include "error.h"
#include "law/accuracy.h"
#include "law/dcs.h"
#include "law/reference.h"
#include "layout/padding.h"
#include "methods/dcs/pack.h"
#include "methods/dcs/yardstick.h"
#include "source/atoms.h"

/* The pair formulas of the kernels, compiled as C. */
typedef float real;
#define LEY_FN static inline
#define LEY_MAX(a, b) fmaxf(a, b)
#define LEY_MIN(a, b) fminf(a, b)
static int32_t bits_of(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static float float_of(int32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
#define LEY_AS_BITS bits_of
#define LEY_AS_REAL float_of
#define LEY_ADD_EXPONENT(bits, n) ((int32_t)((uint32_t)(bits) + ((uint32_t)(n) << 23)))
#include "pair.h"

static void test_pair_formulas(void **state)
{
    double worst = 0, mean = 0;
    const int n = 200000;
    for (int i = 0; i < n; i++) {
        const float x = (float)pow(10, -12 + 24.0 * i / n);
        const double relative = (double)(LEY_NEWTON_SCALE * ley_unscaled_newton_root(x)) * sqrt((double)x) - 1;
        worst = fmax(worst, fabs(relative));
        mean += relative / n;
    }
    assert_true(worst < 6e-7);
    assert_true(fabs(mean) < 1e-7); /* no bias that a sum would pile up */
    assert_true(ley_clamped_r2(0, 0.25f) == 0.25f && ley_clamped_r2(4, 0.25f) == 4);
}

static double off_by(float value, double exponent)
{
    return fabs((double)value / exp2(exponent) - 1);
}

/* 2^x without a library: as good as a pair needs it, from end to end of its range, and never out of
 * a float's. */
static void test_exponentials(void **state)
{
    enum { N = 2000000 };
    const double bound = 2.4e-7; /* the polynomial's 0.75e-7, and roundings */
    double worst = 0, worst_minus = 0, mean = 0;
    for (int i = 0; i <= N; i++) {
        const float x = 125.0f * (float)i / N, y = -125 + 2 * x;
        worst_minus = fmax(worst_minus, fmax(off_by(ley_exp2_minus(x, 1), -(double)x),
                                             off_by(ley_exp2_minus(0.25f, 4 * x), -(double)x)));
        worst = fmax(worst, off_by(ley_polynomial_exp2(y), (double)y));
        mean += ((double)ley_polynomial_exp2(y) / exp2((double)y) - 1) / N;
    }
    assert_true(worst <= bound && worst_minus <= bound);
    assert_true(fabs(mean) < 6e-8); /* its constant term is rounded up by 5e-8 */
    for (int whole = 0; whole <= 125;
         whole++) /* and one float to either side, where the whole part turns into the next one */
        for (int side = -1; side <= 1; side++) {
            const float x = side == 0 ? (float)whole : nextafterf((float)whole, side < 0 ? 0 : 1000), half = x + 0.5f;
            if (x <= 125)
                assert_true(off_by(ley_exp2_minus(x, 1), -(double)x) <= bound &&
                            off_by(ley_polynomial_exp2(x), (double)x) <= bound &&
                            off_by(ley_polynomial_exp2(-x), -(double)x) <= bound);
            if (half <= 125)
                assert_true(off_by(ley_exp2_minus(half, 1), -(double)half) <= bound);
        }
    const float beyond[] = {126, 127.5f, 1000, 1e30f, INFINITY};
    for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++)
        assert_true(off_by(ley_polynomial_exp2(beyond[i]), 125) <= bound);
}

/* Where floats end, exponentials vanish: none is larger than it should be, and beyond 2^-127 there
 * is nothing. Charges that are 2^n times smaller leave room for n more. */
static void test_exponentials_vanish(void **state)
{
    for (float x = 124; x < 140; x += 0.01f) {
        const double value = (double)ley_polynomial_exp2(-x);
        assert_true(value >= 0 && value <= exp2(-(double)fminf(x, 149)) * (1 + 2.4e-7));
        assert_true(x >= 126 || off_by((float)value, -(double)x) <= 2.4e-7);
        assert_true(x < 127 || value <= exp2(-149));
        assert_true(off_by(ley_exp2_shifted(LEY_EXP2_SHIFT + 20, x, 1), 20 - (double)x) <= 2.4e-7);
    }
    assert_true((double)ley_polynomial_exp2(-INFINITY) <= exp2(-149) &&
                (double)ley_polynomial_exp2(-1e30f) <= exp2(-149));
}

static void test_sizes(void **state)
{
    int64_t product = 7;
    assert_true(ley_multiply(3000000000, 3000000000, &product) && product == 9000000000000000000);
    product = 7;
    assert_false(ley_multiply((int64_t)1 << 32, (int64_t)1 << 31, &product));
    assert_false(ley_multiply(-1, 1, &product));
    assert_int_equal(product, 7);
    assert_int_equal(ley_round_up(0, 32), 0);
    assert_int_equal(ley_round_up(33, 32), 64);
    assert_int_equal(ley_round_up(((int64_t)1 << 40) + 1, 512), ((int64_t)1 << 40) + 512);
}

static void test_sizes_in_words(void **state)
{
    static const struct {
        double bytes;
        const char *words;
    } rows[] = {{0, "0 bytes"}, {816, "816 bytes"}, {1024, "1.0 KiB"}, {4e9, "3.7 GiB"}, {0x1p37, "128 GiB"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(ley_size(rows[i].bytes).s, rows[i].words);
    ley_error error = {0};
    assert_int_equal(ley_fail_memory(&error, (size_t)3 << 30, "the map"), LEY_ERROR_MEMORY);
    assert_string_equal(error.message, "out of memory: 3.0 GiB for the map");
}

/* The header's numbers, its text and the library say the same. */
static void test_version(void **state)
{
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", LEY_VERSION_MAJOR, LEY_VERSION_MINOR, LEY_VERSION_PATCH);
    assert_string_equal(text, LEY_VERSION);
    assert_string_equal(ley_version(), LEY_VERSION);
    assert_int_equal(ley_version_number(), LEY_VERSION_NUMBER);
    assert_int_equal(LEY_VERSION_AS_NUMBER(1, 2, 3), 10203);
    assert_true(LEY_VERSION_AS_NUMBER(1, 0, 0) > LEY_VERSION_AS_NUMBER(0, 99, 99));
}

static void assert_grid_refused(int64_t n_x, int64_t n_y, int64_t n_z, double h_A, double origin_A)
{
    const ley_grid l = {{origin_A, 0, 0}, LEY_STEPS(h_A, h_A, h_A), {n_x, n_y, n_z}};
    ley_error error = {0};
    assert_int_equal(ley_grid_check(&l, &error), LEY_ERROR_INPUT);
    assert_true(error.message[0] != '\0');
}

static void test_meshes(void **state)
{
    assert_grid_refused(0, 1, 1, 1, 0);
    assert_grid_refused(1, -5, 1, 1, 0);
    assert_grid_refused(1, 1, (int64_t)LEY_MAX_EXTENT + 1, 1e-3, 0);
    assert_grid_refused(LEY_MAX_EXTENT, LEY_MAX_EXTENT, LEY_MAX_EXTENT, 1e-3, 0);
    assert_grid_refused(1, 1, 1, 0, 0);
    assert_grid_refused(1, 1, 1, NAN, 0);
    assert_grid_refused(1, 1, 1, INFINITY, 0);
    assert_grid_refused(1, 1, 1, 1, NAN);
    assert_grid_refused(1, 1, 1, 1, 1e300);
    /* 2^33 points: more than 32 bits count, without their memory. */
    const ley_grid large = {{0, 0, 0}, LEY_STEPS(0.5, 0.5, 0.5), {2048, 2048, 2048}};
    assert_int_equal(ley_grid_check(&large, NULL), LEY_OK);
    assert_true(ley_grid_points(&large) == (int64_t)1 << 33);
}

static void assert_steps_refused(const double step_A[3][3], const char *message)
{
    ley_grid l = {.n = {2, 3, 4}};
    memcpy(l.step_A, step_A, sizeof l.step_A);
    ley_error error = {0};
    assert_error_is(ley_grid_check(&l, &error), LEY_ERROR_INPUT, message);
}

static void test_degenerate_steps(void **state)
{
    static const char flat[] = "grid: its three steps lie in a plane, or two of them on a line";
    assert_steps_refused((const double[3][3]){{1, 0, 0}, {2, 0, 0}, {0, 0, 1}}, flat);
    assert_steps_refused((const double[3][3]){{1, 0, 0}, {0, 1, 0}, {2, 3, 0}}, flat);
    assert_steps_refused((const double[3][3]){{1, 2, 3}, {4, 5, 6}, {5, 7, 9}}, flat);
    assert_steps_refused((const double[3][3]){{1e-6, 0, 0}, {0, 1e8, 0}, {0, 1e8, 1e-3}}, flat);
    assert_steps_refused((const double[3][3]){{1, 0, 0}, {0, 1, 0}, {0, 1, 9e-7}}, flat);
    assert_steps_refused((const double[3][3]){{1, 0, 0}, {0, 0, 0}, {0, 0, 1}},
                         "grid: spacing 0 A along y, must be 1e-6 to 1e8");
    assert_steps_refused((const double[3][3]){{1, 0, 0}, {0, 1, 0}, {3e8, 4e8, 0}},
                         "grid: spacing 5e+08 A along z, must be 1e-6 to 1e8");
    assert_steps_refused((const double[3][3]){{1, 0, NAN}, {0, 1, 0}, {0, 0, 1}},
                         "grid: spacing nan A along x, must be 1e-6 to 1e8");
    assert_steps_refused((const double[3][3]){{1, 0, 0}, {0, 1, -INFINITY}, {0, 0, 1}},
                         "grid: spacing inf A along y, must be 1e-6 to 1e8");
    const ley_grid thin = {.step_A = {{1, 0, 0}, {0, 1, 0}, {0, 1, 2e-6}}, .n = {2, 2, 2}},
                   long_one = {.step_A = {{600, 0, 0}, {0, 300, 400}, {0, -1, 1}}, .n = {1, 3000000, 1}};
    assert_int_equal(ley_grid_check(&thin, NULL), LEY_OK);
    ley_error error = {0};
    assert_error_is(ley_grid_check(&long_one, &error), LEY_ERROR_INPUT, "grid: longer than 1e9 A along y");
}

static void assert_not_orthogonal(const double step_A[3][3], const char *complaint)
{
    char message[320];
    ley_grid l = {.n = {2, 3, 4}};
    memcpy(l.step_A, step_A, sizeof l.step_A);
    ley_error error = {0};
    assert_int_equal(ley_grid_check(&l, NULL), LEY_OK);
    assert_false(ley_grid_is_orthogonal(&l));
    assert_int_equal(ley_grid_check_orthogonal(&l, "a.dx", &error), LEY_ERROR_INPUT);
    snprintf(message, sizeof message,
             "a.dx: the grid's axes must be along x, y and z, in this order: the step from point to point along %s",
             complaint);
    assert_string_equal(error.message, message);
}

/* Of either handedness, in any order: all are grids, but boundaries take one kind only. */
static void test_meshes_that_are_not_orthogonal(void **state)
{
    assert_not_orthogonal((const double[3][3]){{1, 0, 0}, {0.25, 1, 0}, {0, 0, 1}},
                          "axis 2 is (0.25, 1, 0) A, not along +y");
    assert_not_orthogonal((const double[3][3]){{1, 0, 5e-324}, {0, 1, 0}, {0, 0, 1}},
                          "axis 1 is (1, 0, 4.94066e-324) A, not along +x");
    assert_not_orthogonal((const double[3][3]){{1, 0, 0}, {0, 1, 0}, {0, 0, -1}},
                          "axis 3 is (0, 0, -1) A, not along +z");
    assert_not_orthogonal((const double[3][3]){{0, 1, 0}, {1, 0, 0}, {0, 0, 1}}, "axis 1 is (0, 1, 0) A, not along +x");
    assert_not_orthogonal((const double[3][3]){{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}, "axis 1 is (0, 0, 1) A, not along +x");
    const double origin_A[3] = {-1, 2, 1e3 / 3}, spacing_A[3] = {0.1, 2.0 / 3, 3};
    const int64_t n[3] = {4, 5, 6};
    const ley_grid l = ley_grid_orthogonal(origin_A, spacing_A, n),
                   same = {{-1, 2, 1e3 / 3}, LEY_STEPS(0.1, 2.0 / 3, 3), {4, 5, 6}},
                   signed_zeros = {.step_A = {{1, -0.0, 0}, {-0.0, 1, 0}, {0, -0.0, 1}}, .n = {1, 1, 1}};
    assert_memory_equal(&l, &same, sizeof l);
    assert_true(ley_grid_is_orthogonal(&l) && ley_grid_is_orthogonal(&signed_zeros));
    assert_int_equal(ley_grid_check_orthogonal(&l, "l", NULL), LEY_OK);
}

static void test_points_of_meshes(void **state)
{
    const ley_grid skewed = {{-1, 2, 30}, {{0.5, 0, 0}, {-0.25, 1, 0}, {0.125, 0.0625, -2}}, {9, 9, 9}};
    double point_A[3], spacing_A[3];
    ley_grid_point_A(&skewed, (const int64_t[3]){0, 0, 0}, point_A);
    assert_true(point_A[0] == -1 && point_A[1] == 2 && point_A[2] == 30);
    ley_grid_point_A(&skewed, (const int64_t[3]){3, 2, 8}, point_A);
    assert_true(point_A[0] == -1 + 1.5 - 0.5 + 1 && point_A[1] == 2 + 2 + 0.5 && point_A[2] == 30 - 16);
    /* Spacings are read back as they were put in, to the last digit. */
    uint32_t state_of = 7;
    for (int i = 0; i < 1000; i++) {
        double wanted_A[3];
        for (int axis = 0; axis < 3; axis++) {
            state_of = state_of * 1664525u + 1013904223u;
            wanted_A[axis] = exp((double)state_of / 4294967296.0 * 32 - 13.8);
        }
        const ley_grid l = ley_grid_orthogonal((const double[3]){0, 0, 0}, wanted_A, (const int64_t[3]){1, 1, 1});
        ley_grid_spacing_A(&l, spacing_A);
        assert_memory_equal(spacing_A, wanted_A, sizeof wanted_A);
    }
    const ley_grid oblique = {.step_A = {{3, 4, 0}, {0, 5, 12}, {8, 0, -15}}, .n = {1, 1, 1}};
    ley_grid_spacing_A(&oblique, spacing_A);
    assert_true(spacing_A[0] == 5 && spacing_A[1] == 13 && spacing_A[2] == 17);
}

static void test_grid_around_atoms(void **state)
{
    ley_error error = {0};
    const double position_A[] = {-1, 0, 5, 3, 0, 5.3}, charge_e[] = {1, -1};
    ley_grid l;
    ley_atoms *atoms = support_make_atoms(2, position_A, charge_e, NULL);
    assert_ok(ley_grid_around(atoms, 0.5, 10, &l, &error));
    assert_int_equal(l.n[0], 49); /* 4 + 20 A: 48 intervals */
    assert_int_equal(l.n[1], 41);
    assert_int_equal(l.n[2], 42); /* 20.3 A from -5 on: 41 intervals */
    assert_true(l.origin_A[0] == -11 && l.origin_A[1] == -10 && l.origin_A[2] == -5);
    assert_ok(ley_grid_around(atoms, 0.1, 10, &l, &error));
    assert_int_equal(l.n[1], 201); /* 20 / 0.1 is 200, whatever its last bit says */
    assert_int_equal(l.n[0], 241);
    assert_int_equal(l.n[2], 204);
    assert_int_equal(ley_grid_around(atoms, 0, 10, &l, NULL), LEY_ERROR_INPUT);
    assert_int_equal(ley_grid_around(atoms, 1e-6, 1e8, &l, NULL), LEY_ERROR_INPUT);
    assert_int_equal(ley_grid_around(atoms, 1, -1, &l, NULL), LEY_ERROR_INPUT);
    ley_atoms_destroy(atoms);
}

/* Origins are whole numbers of spacings, and the padding holds on every side with less than a
 * spacing to spare. */
static void test_meshes_on_multiples_of_the_spacing(void **state)
{
    static const double spacings_A[] = {0.1, 0.3, 0.5, 0.7, 1, 1.0 / 3}, places_A[] = {0, -17.3, 1.2e4, -1e6};
    for (size_t s = 0; s < sizeof spacings_A / sizeof *spacings_A; s++)
        for (size_t i = 0; i < sizeof places_A / sizeof *places_A; i++) {
            ley_error error = {0};
            const double h_A = spacings_A[s], x_A = places_A[i], charge_e[] = {1, -1}, padding_A = 2.1;
            const double position_A[] = {x_A, x_A + 0.123456789, x_A - 5, x_A + 11.7, x_A + 4, x_A + 0.01};
            ley_grid l;
            double low_A[3], high_A[3];
            ley_atoms *atoms = support_make_atoms(2, position_A, charge_e, NULL);
            assert_ok(ley_grid_around(atoms, h_A, padding_A, &l, &error));
            ley_atoms_bounds_A(atoms, low_A, high_A);
            for (int axis = 0; axis < 3; axis++) {
                const double first = round(l.origin_A[axis] / h_A), rounding_A = 1e-15 * (fabs(x_A) + 20) * 4;
                const double below_A = low_A[axis] - l.origin_A[axis];
                const double above_A = l.origin_A[axis] + (double)(l.n[axis] - 1) * h_A - high_A[axis];
                assert_true(l.origin_A[axis] == first * h_A);
                assert_true(below_A >= padding_A - rounding_A && below_A < padding_A + h_A);
                assert_true(above_A >= padding_A - rounding_A && above_A < padding_A + h_A);
            }
            ley_atoms_destroy(atoms);
        }
}

static void test_atoms(void **state)
{
    const double good[] = {0, 0, 0}, far[] = {0, 1e9, 0}, none[] = {0, 0, NAN}, one = 1, minus = -1;
    ley_atoms *atoms = NULL;
    ley_error error = {0};
    assert_int_equal(ley_atoms_create(0, good, &one, NULL, &atoms, NULL), LEY_ERROR_INPUT);
    assert_int_equal(ley_atoms_create(1, far, &one, NULL, &atoms, NULL), LEY_ERROR_INPUT);
    assert_int_equal(ley_atoms_create(1, none, &one, NULL, &atoms, NULL), LEY_ERROR_INPUT);
    assert_int_equal(ley_atoms_create(1, good, &none[2], NULL, &atoms, NULL), LEY_ERROR_INPUT);
    assert_error(ley_atoms_create(1, good, &one, &minus, &atoms, &error), LEY_ERROR_INPUT, "atom 1");
    assert_null(atoms);
    ley_error_clear(&error);
}

/* Padding comes off, in each way of storing, and the bytes are counted in 64 bits. */
static void test_padding(void **state)
{
    padded_slab slab = {.n_x = 3, .n_y = 2, .padded_x = 4, .padded_y = 5, .planes = 2};
    enum { PADDED = 4 * 5 * 2 };
    float single[2 * PADDED], map[12];
    double twice[PADDED];
    for (int i = 0; i < PADDED; i++) {
        single[i] = (float)i;
        single[PADDED + i] = 0.25f;
        twice[i] = i;
    }
    const void *const stores[] = {[PADDED_FLOAT] = single, [PADDED_COMPENSATED] = single, [PADDED_DOUBLE] = twice};
    for (int store = PADDED_FLOAT; store <= PADDED_DOUBLE; store++) {
        slab.store = (padded_store)store;
        memset(map, 0xff, sizeof map);
        assert_true(padding_crop(&slab, stores[store], map));
        for (int z = 0, i = 0; z < 2; z++)
            for (int y = 0; y < 2; y++)
                for (int x = 0; x < 3; x++)
                    assert_true(map[i++] == (float)((z * 5 + y) * 4 + x) - (store == PADDED_COMPENSATED ? 0.25f : 0));
    }
    /* What is not finite is seen where the grid has a point, and nowhere else. */
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    slab.store = PADDED_FLOAT;
    for (int at = 0; at < PADDED; at++) {
        const bool is_point = at % 4 < 3 && at / 4 % 5 < 2;
        const float before = single[at];
        single[at] = bad[at % 3];
        assert_int_equal(padding_crop(&slab, single, map), !is_point);
        single[at] = before;
    }
    int64_t bytes;
    slab = (padded_slab){.padded_x = 1 << 20, .padded_y = 1 << 20, .planes = 1 << 10, .store = PADDED_DOUBLE};
    assert_true(padding_bytes(&slab, &bytes) && bytes == (int64_t)1 << 53);
    slab.padded_x = slab.padded_y = (int64_t)1 << 30;
    assert_false(padding_bytes(&slab, &bytes));
}

/* What threads stream past the caches: every point, in rows that begin and end anywhere in a line
 * of the caches, nothing beside the map, and what is not finite wherever in a row it is. */
static void test_much_padding(void **state)
{
    static const int64_t sizes[][3] = {{7, 501, 300}, {33, 320, 101}, {1023, 9, 117}, {40000, 1, 27}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const int64_t *n = sizes[i];
        const padded_slab slab = {.n_x = n[0],
                                  .n_y = n[1],
                                  .padded_x = n[0] + 3,
                                  .padded_y = n[1] + 2,
                                  .planes = n[2],
                                  .store = PADDED_FLOAT};
        const size_t points = (size_t)(n[0] * n[1] * n[2]), padded = (size_t)((n[0] + 3) * (n[1] + 2) * n[2]);
        float *from = malloc(padded * sizeof *from), *around = malloc((points + 3) * sizeof *around);
        assert_true(from != NULL && around != NULL && points > 1 << 20);
        for (size_t k = 0; k < padded; k++)
            from[k] = (float)k;
        for (size_t shift = 1; shift < 3; shift++) {
            memset(around, 0, (points + 3) * sizeof *around);
            around[shift - 1] = around[shift + points] = -1;
            assert_true(padding_crop(&slab, from, around + shift));
            assert_true(around[shift - 1] == -1 && around[shift + points] == -1);
            for (size_t k = 0, x = 0, y = 0, z = 0; k < points; k++) {
                if (around[shift + k] != from[(z * (size_t)(n[1] + 2) + y) * (size_t)(n[0] + 3) + x])
                    fail_msg("point %zu of row %zu of plane %zu", x, y, z);
                x = x + 1 < (size_t)n[0] ? x + 1 : 0;
                y = x > 0 ? y : y + 1 < (size_t)n[1] ? y + 1 : 0;
                z = x > 0 || y > 0 ? z : z + 1;
            }
        }
        for (size_t k = 0; k < 40; k++) { /* in a row in the middle, and the padding behind it */
            const size_t x = k * 31 % (size_t)(n[0] + 3), row = padded / (size_t)(n[0] + 3) / 2 / (size_t)(n[1] + 2);
            float *at = &from[row * (size_t)((n[1] + 2) * (n[0] + 3)) + x];
            const float before = *at;
            *at = k % 2 == 0 ? NAN : -INFINITY;
            assert_int_equal(padding_crop(&slab, from, around + 1), x >= (size_t)n[0]);
            *at = before;
        }
        free(around);
        free(from);
    }
}

/* Every packing says the same position; the placed one to a float's digits of the offset, wherever
 * the atom is. */
static void test_packing(void **state)
{
    const double position_A[] = {1.23, -4.56, 7.89, 4000.123, 3.3, -2000.7, 9.9e7, 0, 0}, charge_e[] = {0.5, -0.25, 1};
    const ley_grid l = {{-10, 20, 1000}, LEY_STEPS(0.5, 0.3, 1e-6), {4, 4, 4}};
    ley_atoms *atoms = support_make_atoms(3, position_A, charge_e, NULL);
    struct {
        float offset[4];
        int32_t cell[4];
    } placed[3];
    float single[3][4];
    double twice[3][4];
    dcs_pack(DCS_PACK_PLACED, atoms, &l, 2, placed);
    dcs_pack(DCS_PACK_FLOAT, atoms, &l, 2, single);
    dcs_pack(DCS_PACK_DOUBLE, atoms, &l, 2, twice);
    for (int i = 0; i < 3; i++) {
        for (int axis = 0; axis < 3; axis++) {
            const double exact = position_A[3 * i + axis] - l.origin_A[axis];
            const double from_cell = placed[i].cell[axis] * l.step_A[axis][axis] + (double)placed[i].offset[axis];
            assert_true(twice[i][axis] == exact);
            assert_true(single[i][axis] == (float)exact);
            if (fabs(exact) < 1e9 * l.step_A[axis][axis]) {
                assert_true(fabs(from_cell - exact) < 1e-7 * l.step_A[axis][axis] + 1e-12);
                assert_true(fabs((double)placed[i].offset[axis]) <= 0.5 * l.step_A[axis][axis] * (1 + 1e-6));
            } else /* outside all cells: still there, with fewer digits */
                assert_true(fabs(from_cell - exact) < 1e-6 * fabs(exact));
        }
        assert_true(placed[i].offset[3] == (float)(2 * charge_e[i]) && twice[i][3] == 2 * charge_e[i]);
    }
    ley_atoms_destroy(atoms);
}

/* What a map says of its values is cut between characters. */
static void test_units_of_a_map(void **state)
{
    static const char *const words[][2] = {
        {"kT/e", "kT/e"},
        {"", ""},
        {"1234567890123456789012345678901", "1234567890123456789012345678901"},
        {"12345678901234567890123456789012", "1234567890123456789012345678901"},
        {"12345678901234567890123456789 \u00c5ngstr\u00f6m", "12345678901234567890123456789 "},
        {"1234567890123456789012345678\u20ac\u20ac", "1234567890123456789012345678\u20ac"},
        {"123456789012345678901234567890\u20ac", "123456789012345678901234567890"},
    };
    const ley_grid grid = {.step_A = LEY_STEPS(1, 1, 1), .n = {1, 1, 1}};
    ley_map *map = support_make_map(&grid);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        ley_map_set_units(map, words[i][0]);
        assert_string_equal(ley_map_units(map), words[i][1]);
        ley_map_set_units(map, ley_map_units(map));
        assert_string_equal(ley_map_units(map), words[i][1]);
    }
    ley_map_destroy(map);
}

static void test_reference(void **state)
{
    const double position_A[] = {0, 0, 0, 3, 4, 0}, charge_e[] = {1, -2}, point_A[] = {3, 0, 0}, on_A[] = {0, 0, 0.01};
    ley_atoms *atoms = support_make_atoms(2, position_A, charge_e, NULL);
    assert_true(fabs(reference_dcs(atoms, point_A, 6, 0.05).value - 6 * (1.0 / 3 - 2.0 / 4)) < 1e-12);
    assert_true(fabs(reference_dcs(atoms, on_A, 1, 0.05).value - (1 / 0.05 - 2 / sqrt(25.0001))) < 1e-12);
    assert_true(fabs(reference_dcs(atoms, point_A, -6, 0.05).absolute - 6 * (1.0 / 3 + 2.0 / 4)) < 1e-12);
    ley_atoms_destroy(atoms);
    assert_true(fabs(ley_coulomb_constant(LEY_UNITS_KCAL_MOL_E, 1, 1) - 332.06371) < 1e-4);
    assert_true(fabs(ley_coulomb_constant(LEY_UNITS_KJ_MOL_E, 1, 1) - 1389.354576) <
                1e-6); /* CODATA 2018, kJ A / mol */
    assert_true(
        fabs(ley_coulomb_constant(LEY_UNITS_KJ_MOL_E, 4, 300) / ley_coulomb_constant(LEY_UNITS_KCAL_MOL_E, 4, 300) -
             4.184) < 1e-14);
    assert_string_equal(ley_units_name(LEY_UNITS_KJ_MOL_E), "kJ/mol/e");
    assert_true(fabs(ley_coulomb_constant(LEY_UNITS_VOLT, 2, 1) - 14.399645 / 2) < 1e-6);
    /* Bjerrum length of vacuum at 298.15 K: 560.46 A. */
    assert_true(fabs(ley_coulomb_constant(LEY_UNITS_KT_E, 1, 298.15) - 560.459) < 2e-3);
}

/* The comparator must see a fault of 1 %, one wrong point, one wrong point among louder ones, a
 * not-a-number; and must not see rounding. Errors count against the absolute terms, here three
 * times the value. */
static void test_comparator(void **state)
{
    enum { N = 1000 };
    float values[N];
    reference_value right[N] = {{0}};
    size_t worst = N;
    for (int i = 0; i < N; i++) {
        right[i].value = sin(i) * (i % 7 + 1);
        right[i].absolute = 3 * fabs(right[i].value);
        values[i] = (float)right[i].value;
    }
    ley_accuracy a = accuracy_compare_float(N, values, right, 1e-5, NULL);
    assert_true(a.passed && a.relative_rms < 1e-7 && a.max_error < 6e-8 / 3 && a.points == N && a.compared == N - 1);
    for (int i = 0; i < N; i++)
        values[i] = (float)(1.01 * right[i].value);
    a = accuracy_compare_float(N, values, right, 1e-5, NULL);
    assert_true(!a.passed && fabs(a.relative_rms - 0.01) < 1e-4 && fabs(a.max_error - 0.01 / 3) < 1e-4);
    for (int i = 0; i < N; i++)
        values[i] = (float)right[i].value;
    values[77] += 0.1f;
    a = accuracy_compare_float(N, values, right, 1e-5, &worst);
    assert_true(!a.passed && fabs(a.max_error * right[77].absolute - 0.1) < 1e-6 && worst == 77);
    assert_true(fabs(a.absolute_rms * sqrt(N) - 0.1) < 1e-6);
    values[77] = NAN;
    assert_false(accuracy_compare_float(N, values, right, 1e-5, NULL).passed);
    values[77] = INFINITY;
    assert_false(accuracy_compare_float(N, values, right, 1e-5, NULL).passed);
    assert_false(accuracy_compare_float(0, values, right, 1e-5, NULL).passed);
    /* There is no share of 0, nor of what rounding leaves of it. */
    for (int i = 0; i < N; i++) {
        right[i].value = i % 2 == 0 ? 0 : 1e-16;
        right[i].absolute = 1;
        values[i] = 1e-7f;
    }
    a = accuracy_compare_float(N, values, right, 1e-5, NULL);
    assert_true(a.passed && isinf(a.relative_rms) && fabs(a.absolute_rms / 1e-7 - 1) < 1e-6);
    /* Two thirds of the points are wrong, and a million times quieter than the others. */
    for (int i = 0; i < N; i++) {
        right[i].value = right[i].absolute = i % 3 == 0 ? 1e6 : 1;
        values[i] = i % 3 == 0 ? 1e6f : 0;
    }
    a = accuracy_compare_float(N, values, right, 1e-5, &worst);
    assert_true(!a.passed && a.max_error == 1 && a.relative_rms < 2e-6 && worst % 3 != 0);
    memset(values, 0, sizeof values);
    assert_false(accuracy_compare_float(N, values, right, 1e-5, NULL).passed);
    /* Terms that cancel to 4e-6 of them: within the limit a 0 would be right, were it not exactly
     * 0. */
    for (int i = 0; i < N; i++) {
        right[i].value = 4;
        right[i].absolute = 1e6;
        values[i] = i == 300 ? 0 : 4.000001f;
    }
    a = accuracy_compare_float(N, values, right, 1e-5, &worst);
    assert_true(!a.passed && a.max_error == 1 && worst == 300);
    values[300] = 1e-3f;
    assert_true(accuracy_compare_float(N, values, right, 1e-5, NULL).passed);
    memset(values, 0, sizeof values);
    memset(right, 0, sizeof right);
    a = accuracy_compare_float(N, values, right, 1e-5, NULL);
    assert_true(a.passed && a.compared == 0 && a.points == N);
    values[3] = 1;
    assert_false(accuracy_compare_float(N, values, right, 1e-5, NULL).passed);
    /* Charges of 1e-38: there is nothing that floats could show, and that is said. Values that are
     * no nothing are wrong. */
    right[5] = (reference_value){.value = 1e-38, .absolute = 1e-38};
    values[3] = 0;
    a = accuracy_compare_float(N, values, right, 1e-5, NULL);
    assert_true(a.passed && a.compared == 0);
    values[5] = 1e-29f;
    assert_false(accuracy_compare_float(N, values, right, 1e-5, NULL).passed);
}

/* A sample of a right map passes; of a map with one wrong percent, not. All points when asked for
 * more than there are. */
static void test_sampling(void **state)
{
    ley_error error = {0};
    const ley_grid l = {{0, 0, 0}, LEY_STEPS(0.5, 0.6, 0.7), {9, 8, 7}};
    ley_atoms *atoms = support_atoms(30, 0, 5, 9);
    ley_map *map = support_reference_map(atoms, &l, 0.05);
    const double constant = ley_coulomb_constant(LEY_UNITS_KT_E, 1, 298.15);
    ley_accuracy a;
    assert_ok(accuracy_sample(atoms, map, constant, 0.05, 100, 5, 1e-6, NULL, &a, &error));
    assert_true(a.passed && a.points == 100);
    assert_ok(accuracy_sample(atoms, map, constant, 0.05, 100000, 5, 1e-6, NULL, &a, &error));
    assert_true(a.passed && a.points == 9 * 8 * 7);
    for (int i = 0; i < 9 * 8 * 7; i++)
        ley_map_values(map)[i] *= 1.01f;
    assert_ok(accuracy_sample(atoms, map, constant, 0.05, 100, 5, 1e-6, NULL, &a, &error));
    assert_false(a.passed);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
}

/* Atoms that move, given in doubles or in floats: where they are, their bounds and the first one
 * that is nowhere are those of each atom by itself; among them atoms without a charge. */
static void test_moves(void **state)
{
    enum { MOST = 9001 };
    static const size_t counts[] = {1, 7, 8, 9, 4095, 4096, 4103, MOST};
    static double start_A[3 * MOST], at_A[3 * MOST], charge_e[MOST];
    static float float_A[3 * MOST];
    const double from_A[3] = {0.3, -7.1, 1e-3};
    unsigned seed = 5;
    (void)state;
    for (int trial = 0; trial < 32; trial++) {
        ley_error error = {0};
        const size_t n = counts[trial / 4], bare = trial % 2 == 0 ? n : n / 2, nowhere = (size_t)rand_r(&seed) % n;
        double right[4][3], found[4][3];
        for (size_t i = 0; i < n; i++)
            charge_e[i] = i == bare ? 0 : 1;
        for (size_t i = 0; i < 3 * n; i++) {
            float_A[i] = (float)(rand_r(&seed) % 100000) * 1e-3F - 50;
            at_A[i] = trial % 4 < 2 ? (double)float_A[i] - from_A[i % 3] : (double)float_A[i] * 1.0000001;
        }
        for (int k = 0; k < 12; k++)
            right[k / 3][k % 3] = k / 3 % 2 == 0 ? INFINITY : -INFINITY;
        for (size_t i = 0; i < 3 * n; i++)
            for (int k = 0; k < (charge_e[i / 3] != 0 ? 4 : 2); k += 2) {
                right[k][i % 3] = fmin(right[k][i % 3], at_A[i]);
                right[k + 1][i % 3] = fmax(right[k + 1][i % 3], at_A[i]);
            }
        ley_atoms *atoms = support_make_atoms(n, start_A, charge_e, NULL);
        for (int again = 0; again < 2; again++) {
            assert_ok(trial % 4 < 2 ? ley_atoms_move_floats(atoms, float_A, from_A, &error)
                                    : ley_atoms_move(atoms, at_A, NULL, &error));
            assert_memory_equal(ley_atoms_positions_A(atoms), at_A, 3 * n * sizeof *at_A);
            assert_memory_equal(ley_atoms_charges_e(atoms), charge_e, n * sizeof *charge_e);
            ley_atoms_bounds_A(atoms, found[0], found[1]);
            ley_atoms_charged_bounds_A(atoms, found[2], found[3]);
            assert_memory_equal(found, right, sizeof right);
        }
        float_A[3 * nowhere + 1] = trial % 3 == 0 ? NAN : 2e8F;
        char where[32];
        snprintf(where, sizeof where, "atom %zu: y", nowhere + 1);
        assert_error(ley_atoms_move_floats(atoms, float_A, from_A, &error), LEY_ERROR_INPUT, where);
        assert_memory_equal(ley_atoms_positions_A(atoms), at_A, 3 * n * sizeof *at_A);
        ley_atoms_destroy(atoms);
    }
}

/* The benchmark's peer computes what it is said to compute. */
static void test_yardstick(void **state)
{
    enum { N = 600, X = 32, Y = 16, Z = 2 };
    ley_error error = {0};
    ley_atoms *atoms = support_atoms(N, 3, 20, 11);
    const ley_grid l = {{0, 0, 0}, LEY_STEPS(0.5, 0.5, 0.5), {X, Y, Z}};
    float packed[N][4], phi[X * Y * Z];
    ley_accuracy a;
    dcs_pack(DCS_PACK_FLOAT, atoms, &l, 1, packed);
    assert_true(yardstick_measure((const float(*)[4])packed, N, X, Y, Z, 0.5f, bench_repeats_begin(2, 1), phi)
                    .evaluations_per_s > 0);
    ley_map *map = support_make_map(&l);
    memcpy(ley_map_values(map), phi, sizeof phi);
    assert_ok(accuracy_sample(atoms, map, 1, 1e-3, X * Y * Z, 1, 1e-2, NULL, &a, &error));
    assert_true(a.passed);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.name = "host"), test_pair_formulas, test_exponentials, test_exponentials_vanish,
                     test_sizes, test_sizes_in_words, test_version, test_meshes, test_degenerate_steps,
                     test_meshes_that_are_not_orthogonal, test_points_of_meshes, test_grid_around_atoms,
                     test_meshes_on_multiples_of_the_spacing, test_atoms, test_padding, test_much_padding,
                     test_units_of_a_map, test_packing, test_reference, test_comparator, test_sampling, test_moves,
                     test_yardstick);
}
