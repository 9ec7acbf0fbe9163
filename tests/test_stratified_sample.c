/* Points at which a map is measured for a tolerance. */
#include "law/accuracy.h"
#include "support.h"
#include "target/map.h"
#include "verify/stratified_sample.h"

#include <unistd.h>

static double value_of_some(const void *context, int64_t i)
{
    return ((const double *)context)[i];
}

static stratified_sample_source asked_for(const double *value, size_t n)
{
    return (stratified_sample_source){.total = (int64_t)n, .value = value_of_some, .context = value};
}

/* A few large values, in which all of the error is, make most of a map's mean square: whether a
 * random sample has some of them is luck. By strata the error is what it is, whatever the seed. */
static void test_stratified_sample(void **state)
{
    enum { VALUES = 16000, LARGE = 8, CHOSEN = 256, SEEDS = 20 };
    double *value = malloc(VALUES * sizeof *value), error2 = 0, square = 0;
    assert_non_null(value);
    for (int i = 0; i < VALUES; i++) {
        value[i] = i % (VALUES / LARGE) == 3 ? -300 : 1 + i % 7;
        error2 += value[i] < 0 ? 1 : 1e-6;
        square += value[i] * value[i];
    }
    const double right = sqrt(error2 / square);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        ley_error error = {0};
        uint64_t random = seed;
        stratified_sample s;
        double sum2 = 0, points = 0;
        const stratified_sample_source source = asked_for(value, VALUES);
        assert_ok(stratified_sample_make(&source, CHOSEN, &random, &s, &error));
        assert_true(s.count == VALUES && s.chosen == CHOSEN && s.large == LARGE);
        for (size_t k = 0; k < s.chosen; k++) {
            sum2 += s.weight[k] * (value[s.points[k]] < 0 ? 1 : 1e-6);
            points += s.weight[k];
        }
        assert_true(fabs(points - VALUES) < 1e-6);
        assert_true(fabs(stratified_sample_relative_rms(&s, sum2, 0, 0) / right - 1) < 1e-3);
        assert_true(fabs(stratified_sample_absolute_rms(&s, sum2) - sqrt(error2 / VALUES)) <
                    1e-3 * sqrt(error2 / VALUES));
        stratified_sample_clear(&s);
    }
    free(value);
}

/* Large values that are too many to be chosen all have half of the chosen points for their squares,
 * few as they are; the others for their number. */
static void test_strata_by_squares(void **state)
{
    enum { VALUES = 50000, EACH = 50, CHOSEN = 200 };
    double *value = malloc(VALUES * sizeof *value);
    assert_non_null(value);
    for (int i = 0; i < VALUES; i++)
        value[i] = i % EACH == 7 ? 300 : 1;
    ley_error error = {0};
    uint64_t random = 3;
    stratified_sample s;
    const stratified_sample_source source = asked_for(value, VALUES);
    assert_ok(stratified_sample_make(&source, CHOSEN, &random, &s, &error));
    size_t large = 0;
    for (size_t k = 0; k < s.chosen; k++)
        large += value[s.points[k]] > 1;
    assert_int_equal(s.chosen, CHOSEN);
    assert_in_range(large, 9 * CHOSEN / 20, 11 * CHOSEN / 20);
    stratified_sample_clear(&s);
    free(value);
}

/* However many values are large, and chosen: what stands for them stands for all of them. */
static void test_strata_of_many(void **state)
{
    static const int values[] = {257, 300, 1000, 5000, 16384, 50000};
    static const size_t chosen[] = {1, 2, 7, 50, 256};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        for (size_t j = 0; j < sizeof chosen / sizeof *chosen; j++) {
            const size_t n = (size_t)values[i];
            double *value = malloc(n * sizeof *value), sum = 0, right = 0, points = 0;
            ley_error error = {0};
            uint64_t random = 5;
            stratified_sample s;
            assert_non_null(value);
            for (size_t k = 0; k < n; k++)
                value[k] = k % 80 == 1 ? 276 : 0.5;
            for (size_t k = 0; k < n; k++)
                right += value[k] * value[k];
            const stratified_sample_source source = asked_for(value, n);
            assert_ok(stratified_sample_make(&source, chosen[j], &random, &s, &error));
            assert_true(s.chosen == chosen[j] && s.count == (int64_t)n);
            for (size_t k = 0; k < s.chosen; k++) {
                assert_true(s.weight[k] >= 1 && isfinite(s.weight[k]));
                points += s.weight[k];
                sum += s.weight[k] * pow(value[s.points[k]], 2);
            }
            if (chosen[j] >= 2) /* of one, which may be the largest, that is all that is known */
                assert_true(fabs(points - (double)s.count) < 1e-6 * (double)s.count);
            if (chosen[j] == 256)
                assert_true(fabs(sqrt(sum / points / (right / (double)n)) - 1) < 0.2);
            stratified_sample_clear(&s);
            free(value);
        }
}

/* Each kind of values four times as frequent as all larger ones together, as beside a charge, so
 * that there are as many strata as there may be: of however few points that are chosen, each
 * stratum has some, and all together no more than these. */
static void test_strata_of_a_charge(void **state)
{
    enum { VALUES = 70000, MOST_CHOSEN = 60 };
    double *value = malloc(VALUES * sizeof *value);
    assert_non_null(value);
    for (size_t chosen = 1; chosen <= MOST_CHOSEN; chosen++) {
        double points = 0;
        ley_error error = {0};
        uint64_t random = chosen;
        stratified_sample s;
        size_t end = chosen < 4 ? 1 : chosen / 4, i = 0;
        for (double size = 1e6; i < VALUES; size /= 2, end *= 4)
            for (; i < end && i < VALUES; i++)
                value[i] = size;
        const stratified_sample_source source = asked_for(value, VALUES);
        assert_ok(stratified_sample_make(&source, chosen, &random, &s, &error));
        assert_int_equal(s.chosen, chosen);
        for (size_t k = 0; k < s.chosen; k++) {
            assert_true(s.points[k] >= 0 && s.points[k] < VALUES && s.weight[k] >= 1);
            points += s.weight[k];
        }
        if (chosen >= 2)
            assert_true(fabs(points - (double)s.count) < 1e-6 * (double)s.count);
        stratified_sample_clear(&s);
    }
    free(value);
}

/* A cube with ever more values as they are smaller, as beside charges, and one that has most of the
 * mean square and of the error. */
enum { CUBE_EDGE = 64, CUBE = CUBE_EDGE * CUBE_EDGE * CUBE_EDGE, LOUDEST = 171828 };

static float value_in_cube(int64_t i)
{
    const double value = cbrt(CUBE / (1.0 + (double)(7919 * i % CUBE)));
    return i == LOUDEST ? 1e4F : (float)(i % 2 ? -value : value);
}

/* Half of the error is a share of the values, half is the same everywhere. */
static double error2_in_cube(int64_t i)
{
    return pow(value_in_cube(i), 2) * 1e-12 + 1e-9 * (double)(i % 3);
}

static void fill_cube(ley_map *map)
{
    ley_error error = {0};
    float *values;
    assert_ok(map_planes_take(map, 0, CUBE_EDGE, &values, &error));
    for (int64_t i = 0; i < CUBE; i++)
        values[i] = value_in_cube(i);
    assert_ok(map_planes_give(map, 0, CUBE_EDGE, values, true, &error));
}

static void check_strata_of(const stratified_sample *s, double square, double error2)
{
    double sum2 = 0, points = 0, found2 = 0;
    bool has_loudest = false;
    for (size_t k = 0; k < s->chosen; k++) {
        sum2 += s->weight[k] * error2_in_cube(s->points[k]);
        found2 += s->weight[k] * pow(value_in_cube(s->points[k]), 2);
        points += s->weight[k];
        has_loudest = has_loudest || (s->points[k] == LOUDEST && k < s->large);
        for (size_t j = 0; j < k; j++)
            assert_true(s->points[j] != s->points[k]);
    }
    assert_true(has_loudest && s->count == CUBE && s->sampled == NULL && fabs(s->squares / square - 1) < 1e-9);
    assert_true(fabs(points / CUBE - 1) < 1e-9);
    assert_true(fabs(found2 / square - 1) < 0.02);
    assert_true(fabs(stratified_sample_relative_rms(s, sum2, 0, 0) / sqrt(error2 / square) - 1) < 0.1);
}

/* Each stratum stands for what it is, and the same points are chosen each time, whether a map is in
 * memory or in a file. */
static void test_strata_of_maps(void **state)
{
    enum { CHOSEN = 256, SEEDS = 3 };
    const ley_grid cube = {.step_A = LEY_STEPS(1, 1, 1), .n = {CUBE_EDGE, CUBE_EDGE, CUBE_EDGE}};
    double square = 0, error2 = 0;
    ley_error error = {0};
    ley_map *maps[2];
    char path[64];
    snprintf(path, sizeof path, "/tmp/leyden-strata-%d.raw", (int)getpid());
    assert_ok(ley_map_create(&cube, &maps[0], &error));
    assert_ok(ley_map_create_raw(&cube, path, &maps[1], &error));
    for (int64_t i = 0; i < CUBE; i++) {
        square += pow(value_in_cube(i), 2);
        error2 += error2_in_cube(i);
    }
    for (int k = 0; k < 2; k++)
        fill_cube(maps[k]);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        stratified_sample s[2];
        for (int k = 0; k < 2; k++) {
            const stratified_sample_source source = {.total = CUBE, .map = maps[k]};
            uint64_t random = seed;
            assert_ok(stratified_sample_make(&source, CHOSEN, &random, &s[k], &error));
            assert_int_equal(s[k].chosen, CHOSEN);
            check_strata_of(&s[k], square, error2);
        }
        assert_memory_equal(s[0].points, s[1].points, CHOSEN * sizeof *s[0].points);
        assert_true(s[0].squares == s[1].squares);
        stratified_sample_clear(&s[0]);
        stratified_sample_clear(&s[1]);
    }
    ley_map_destroy(maps[0]);
    ley_map_destroy(maps[1]);
}

/* What is off next to two strong charges that cancel each other, in a map that shows nothing of
 * them: ever less in a sphere of 3 steps, and 1e-3 elsewhere. */
static double error_beside_pair(const double place_A[3], const double pair_A[3])
{
    double r2_A2 = 0;
    for (int axis = 0; axis < 3; axis++)
        r2_A2 += pow(place_A[axis] - pair_A[axis], 2);
    return r2_A2 < 9 ? 10 / (r2_A2 + 0.1) : 1e-3;
}

/* Charges that are far larger than the others have strata of their own, also of an image in a
 * periodic cell; without them the same seeds are off by a factor of two and more. */
static void test_strata_of_strong_charges(void **state)
{
    enum { USUAL = 300, CHOSEN = 256, SEEDS = 12 };
    const ley_grid cube = {.step_A = LEY_STEPS(1, 1, 1), .n = {CUBE_EDGE, CUBE_EDGE, CUBE_EDGE}};
    static const bool periodic[3] = {false, true, true};
    static const double edges_A[3][3] = {{1, 0, 0}, {0, CUBE_EDGE, 0}, {0, 0, CUBE_EDGE}};
    const double pair_A[3] = {20.3, 62.8, 11.4};
    double position_A[3 * (USUAL + 2)], charge_e[USUAL + 2], error2 = 0, worst[2] = {0, 0};
    uint64_t places = 3;
    ley_error error = {0};
    cell periods;
    for (int j = 0; j < USUAL + 2; j++) {
        charge_e[j] = j < USUAL ? 0.5 : j == USUAL ? 1e4 : -1e4;
        for (int axis = 0; axis < 3; axis++)
            position_A[3 * j + axis] = j < USUAL ? (double)(accuracy_random(&places) % CUBE_EDGE)
                                                 : pair_A[axis] + (axis == 1 ? 3 * CUBE_EDGE : 0); /* an image */
    }
    assert_ok(cell_make(periodic, edges_A, &periods, &error));
    ley_atoms *atoms = support_make_atoms(USUAL + 2, position_A, charge_e, NULL);
    ley_map *map = support_make_map(&cube);
    double *off = malloc(CUBE * sizeof *off);
    assert_non_null(off);
    for (int64_t i = 0; i < CUBE; i++) {
        const double place_A[3] = {(double)(i % CUBE_EDGE), (double)(i / CUBE_EDGE % CUBE_EDGE),
                                   (double)(i / (CUBE_EDGE * CUBE_EDGE))};
        ley_map_values(map)[i] = (float)(1 + i % 7);
        off[i] = error_beside_pair(place_A, pair_A);
        error2 += off[i] * off[i];
    }
    strong_point *strong;
    stratified_sample_source source = {.total = CUBE, .map = map};
    size_t count;
    assert_ok(strong_charges_find(atoms, &cube, &periods, &strong, &count, &error));
    assert_in_range(count, 9 * 16 * 16, 17 * 17 * 17);
    for (int with = 0; with < 2; with++) {
        source.strong = with ? strong : NULL;
        source.strong_count = with ? count : 0;
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            uint64_t random = seed;
            double sum2 = 0, points = 0;
            stratified_sample s;
            assert_ok(stratified_sample_make(&source, CHOSEN, &random, &s, &error));
            assert_int_equal(s.chosen, CHOSEN);
            for (size_t k = 0; k < s.chosen; k++) {
                sum2 += s.weight[k] * pow(off[s.points[k]], 2);
                points += s.weight[k];
            }
            assert_true(fabs(points / CUBE - 1) < 1e-9);
            worst[with] = fmax(worst[with], fabs(log(stratified_sample_absolute_rms(&s, sum2) / sqrt(error2 / CUBE))));
            stratified_sample_clear(&s);
        }
    }
    assert_true(worst[0] > log(2) && worst[1] < log(1.25));
    free(strong);
    free(off);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
}

/* Charges of molecules are all alike: none of them stands out. */
static void test_no_strong_charges(void **state)
{
    const ley_grid cube = {.step_A = LEY_STEPS(1, 1, 1), .n = {8, 8, 8}};
    const double position_A[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 4, 4, 4, 5, 5, 5}, charge_e[] = {-0.8, 0.4, 0.4, 2, 0};
    const double nothing_e[5] = {0};
    ley_error error = {0};
    for (int k = 0; k < 2; k++) {
        strong_point *strong = NULL;
        size_t count = 1;
        ley_atoms *atoms = support_make_atoms(5, position_A, k ? nothing_e : charge_e, NULL);
        assert_ok(strong_charges_find(atoms, &cube, NULL, &strong, &count, &error));
        assert_true(count == 0 && strong == NULL);
        ley_atoms_destroy(atoms);
    }
}

static double value_of_very_many(const void *context, int64_t i)
{
    return i % 4 == 0 ? 2 : -1;
}

/* Of more values than can be looked at, a sample stands for all. */
static void test_strata_of_a_sample(void **state)
{
    const stratified_sample_source source = {.total = (int64_t)1 << 50, .value = value_of_very_many};
    ley_error error = {0};
    uint64_t random = 0;
    double points = 0, large = 0;
    stratified_sample s;
    assert_ok(stratified_sample_make(&source, 64, &random, &s, &error));
    assert_true(s.count == STRATA_POINTS && s.sampled != NULL && s.chosen == 64);
    assert_true(fabs(s.squares / s.count - 1.75) < 0.01);
    for (size_t k = 0; k < s.chosen; k++) {
        assert_true(s.points[k] >= 0 && s.points[k] < source.total);
        points += s.weight[k];
        large += s.points[k] % 4 == 0 ? s.weight[k] : 0;
    }
    assert_true(fabs(points / s.count - 1) < 1e-9 && fabs(large / s.count - 0.25) < 0.01);
    stratified_sample_clear(&s);
}

/* Nobody waits for a job that is cancelled. */
static void test_strata_cancelled(void **state)
{
    const double value[4] = {1, 2, 3, 4};
    const atomic_bool cancelled = true;
    stratified_sample_source source = asked_for(value, 4);
    ley_error error = {0};
    uint64_t random = 0;
    stratified_sample s;
    source.cancelled = &cancelled;
    assert_int_equal(stratified_sample_make(&source, 2, &random, &s, &error), LEY_CANCELLED);
    ley_error_clear(&error);
}

/* Of all points there are no strata, and of no values no share. */
static void test_strata_of_few(void **state)
{
    const double value[3] = {0, NAN, 0};
    ley_error error = {0};
    uint64_t random = 0;
    stratified_sample s;
    const stratified_sample_source source = asked_for(value, 3);
    assert_ok(stratified_sample_make(&source, 256, &random, &s, &error));
    assert_true(s.count == 3 && s.chosen == 3 && s.large == 3 && s.squares == 0);
    assert_true(s.weight[0] == 1 && s.weight[1] == 1 && s.weight[2] == 1);
    assert_true(stratified_sample_relative_rms(&s, 0, 0, 0) == 0 && isinf(stratified_sample_relative_rms(&s, 1, 0, 0)));
    stratified_sample_clear(&s);
}

int main(void)
{
    return RUN_TESTS(test_stratified_sample, test_strata_by_squares, test_strata_of_maps, test_strata_of_strong_charges,
                     test_no_strong_charges, test_strata_of_a_sample, test_strata_cancelled, test_strata_of_many,
                     test_strata_of_a_charge, test_strata_of_few);
}
