/* Long waves of a lattice's charges, against the sums that they are: in open space and in cells,
 * with each spline, of any number of waves; and what they are for. */
#include "support.h"

#include "methods/msm/beside.h"
#include "numerics/influence.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ATOMS = 9000 }; /* of which two threads have some each */

typedef struct charges {
    double position_A[ATOMS][3], charge_e[ATOMS], square_e2;
} charges;

/* Neutral, within a box and, where it is periodic, far outside as well. */
static charges *make_charges(double edge_A, bool is_periodic)
{
    charges *c = calloc(1, sizeof *c);
    unsigned seed = 11;
    assert_non_null(c);
    for (int i = 0; i < ATOMS; i++) {
        for (int axis = 0; axis < 3; axis++)
            c->position_A[i][axis] =
                edge_A * (rand_r(&seed) / (RAND_MAX + 1.0)) + (is_periodic ? 7 * edge_A * (i % 3 - 1) : 0);
        c->charge_e[i] = i % 2 == 0 ? rand_r(&seed) / (RAND_MAX + 1.0) : -c->charge_e[i - 1];
        c->square_e2 += c->charge_e[i] * c->charge_e[i];
    }
    return c;
}

static hierarchy make_lattice(window_kind of, const char *periodic, const double cell_A[3][3], double long_per_A)
{
    hierarchy_options o = {.splitting = SPLITTING_PSWF,
                           .window = of,
                           .solver = HIERARCHY_FFT,
                           .cutoff_A = 8,
                           .spacing_A = 1.3,
                           .long_waves_per_A = long_per_A};
    const double low[3] = {-1, -2, 0}, high[3] = {44, 43, 42};
    ley_error error = {0};
    hierarchy h = {.levels = 0};
    for (int axis = 0; axis < 3; axis++) {
        o.periodic[axis] = strchr(periodic, 'x' + axis) != NULL;
        for (int i = 0; i < 3; i++)
            o.cell_A[axis][i] = cell_A[axis][i];
    }
    assert_ok(cell_make(o.periodic, (const double(*)[3])o.cell_A, &h.cell, &error));
    assert_ok(hierarchy_make(&o, low, high, &h, &error));
    assert_true(long_waves_are_wanted(&h));
    return h;
}

/* The sum itself. */
static void sum_wave(const hierarchy *h, const charges *c, const int64_t n[3], const int64_t wave[3], double sum[2])
{
    double factor = 1;
    sum[0] = sum[1] = 0;
    for (int axis = 0; axis < 3; axis++)
        factor *= window_transform(h->window, 2 * M_PI * (double)wave[axis] / (double)n[axis]);
    for (int i = 0; i < ATOMS; i++) {
        double index[3], angle = 0;
        hierarchy_index(h, c->position_A[i], index);
        for (int axis = 0; axis < 3; axis++)
            angle += 2 * M_PI * (double)wave[axis] / (double)n[axis] * (index[axis] - (double)h->level[0].first[axis]);
        sum[0] += factor * c->charge_e[i] * cos(angle);
        sum[1] -= factor * c->charge_e[i] * sin(angle);
    }
}

/* Some of all waves, and those of each corner. */
static void check_waves(const hierarchy *h, const charges *c, const char *what)
{
    int64_t n[3];
    long_charges coarse;
    long_waves made;
    ley_error error = {0};
    influence_extent(h, n);
    assert_ok(long_charges_make(h, ATOMS, c->position_A[0], c->charge_e, NULL, &coarse, &error));
    assert_ok(long_waves_make(h, n, &coarse, NULL, &made, &error));
    assert_true(long_waves_bytes(h, n) == (double)long_waves_count(&made) * sizeof *made.values);
    const int64_t count_x = made.most[0] + 1, count_y = 2 * made.most[1] + 1, count = long_waves_count(&made);
    double worst = 0, longest = 0;
    for (int64_t i = 0; i < count; i += i < 4 || i + 5 > count ? 1 : count / 90 + 1) {
        int64_t wave[3] = {i % count_x, i / count_x % count_y, i / count_x / count_y};
        double right[2], reach = 0;
        for (int axis = 1; axis < 3; axis++)
            wave[axis] -= wave[axis] > made.most[axis] ? 2 * made.most[axis] + 1 : 0;
        for (int axis = 0; axis < 3; axis++)
            reach = fmax(reach, fabs((double)wave[axis]) / fmax((double)made.most[axis], 1));
        sum_wave(h, c, n, wave, right);
        const double off = hypot((double)made.values[i][0] - right[0], (double)made.values[i][1] - right[1]) /
                           (sqrt(c->square_e2) + 0.1 * hypot(right[0], right[1]));
        worst = fmax(worst, off);
        longest = fmax(longest, reach <= 0.5 ? off : 0);
    }
    if (getenv("TEST_VERBOSE") != NULL)
        print_message("%s: %lld waves, off by %.2g, the longer half %.2g\n", what, (long long)count, worst, longest);
    if (!(worst < 5e-7 && longest < 1e-7))
        fail_msg("%s: off by %g, the longer half by %g", what, worst, longest);
    long_waves_clear(&made);
    long_charges_clear(&coarse);
}

static void test_sums(void **state)
{
    (void)state;
    static const double box_A[3][3] = {{42, 0, 0}, {0, 42, 0}, {0, 0, 42}},
                        oblique_A[3][3] = {{40, 0, 0}, {9, 41, 0}, {-7, 5, 39}};
    static const struct {
        const char *what, *periodic;
        const double (*cell_A)[3];
        window_kind window;
        double long_per_A;
    } cases[] = {{"open", "", box_A, WINDOW_BSPLINE8, 0.3},
                 {"open, few waves", "", box_A, WINDOW_BSPLINE4, 0.05},
                 {"open, many waves", "", box_A, WINDOW_BSPLINE6, 0.7},
                 {"a cell", "xyz", box_A, WINDOW_BSPLINE8, 0.3},
                 {"a layer", "xy", box_A, WINDOW_BSPLINE8, 0.4},
                 {"a wire", "z", box_A, WINDOW_BSPLINE6, 0.4},
                 {"oblique", "xyz", oblique_A, WINDOW_BSPLINE8, 0.4}};
    charges *inside = make_charges(41, false), *outside = make_charges(41, true);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const hierarchy h = make_lattice(cases[i].window, cases[i].periodic, cases[i].cell_A, cases[i].long_per_A);
        check_waves(&h, h.cell.dimensions == 3 ? outside : inside, cases[i].what);
    }
    free(inside);
    free(outside);
}

/* Only of one level, with splines. */
static void test_who_wants_them(void **state)
{
    (void)state;
    static const double box_A[3][3] = {{42, 0, 0}, {0, 42, 0}, {0, 0, 42}};
    hierarchy h = make_lattice(WINDOW_BSPLINE8, "", box_A, 0.3);
    h.window = window_get(WINDOW_NODAL7);
    assert_false(long_waves_are_wanted(&h));
    h = make_lattice(WINDOW_BSPLINE8, "", box_A, 0.3);
    h.long_waves_per_A = 0;
    assert_false(long_waves_are_wanted(&h));
    assert_true(long_waves_bytes(&h, (const int64_t[3]){64, 64, 64}) == 0);
    h.long_waves_per_A = 0.3;
    h.solver = HIERARCHY_MIXED;
    assert_false(long_waves_are_wanted(&h));
}

static void test_cancelled(void **state)
{
    (void)state;
    static const double box_A[3][3] = {{42, 0, 0}, {0, 42, 0}, {0, 0, 42}};
    const hierarchy h = make_lattice(WINDOW_BSPLINE8, "", box_A, 0.3);
    charges *c = make_charges(41, false);
    const atomic_bool at_once = true;
    long_charges coarse;
    ley_error error = {0};
    assert_int_equal(long_charges_make(&h, ATOMS, c->position_A[0], c->charge_e, &at_once, &coarse, &error),
                     LEY_CANCELLED);
    assert_null(coarse.values_e);
    ley_error_clear(&error);
    long_waves made;
    const int64_t n[3] = {80, 80, 80};
    assert_ok(long_charges_make(&h, ATOMS, c->position_A[0], c->charge_e, NULL, &coarse, &error));
    assert_int_equal(long_waves_make(&h, n, &coarse, &at_once, &made, &error), LEY_CANCELLED);
    assert_null(made.values);
    ley_error_clear(&error);
    long_charges_clear(&coarse);
    free(c);
}

/* ---- Beside a job ---------------------------------------------------------------------------- */

typedef struct taker {
    const long_waves_source *from;
    int64_t n[3];
    const long_waves *taken;
    ley_status status;
    ley_error error;
} taker;

static void *take(void *context)
{
    taker *t = context;
    t->status = t->from->take(t->from->context, t->n, &t->taken, &t->error);
    return NULL;
}

/* Two threads have the same ones, made once; who has transforms of other nodes has others; and they
 * are right. A job that is cancelled has none. */
static void test_shared_by_devices(void **state)
{
    (void)state;
    static const double box_A[3][3] = {{42, 0, 0}, {0, 42, 0}, {0, 0, 42}};
    const hierarchy h = make_lattice(WINDOW_BSPLINE8, "", box_A, 0.3);
    charges *c = make_charges(41, false);
    ley_error error = {0};
    ley_atoms *atoms;
    int64_t n[3];
    beside b;
    influence_extent(&h, n);
    assert_ok(ley_atoms_create(ATOMS, c->position_A[0], c->charge_e, NULL, &atoms, &error));
    beside_begin(&b, &h, atoms, NULL, false, n);
    const long_waves_source from = beside_long_waves(&b);
    taker takers[3];
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        takers[i] = (taker){.from = &from, .n = {n[0], n[1], n[2] + (i == 2 ? 8 : 0)}};
        assert_int_equal(pthread_create(&threads[i], NULL, take, &takers[i]), 0);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(takers[i].status, LEY_OK);
    }
    assert_ptr_equal(takers[0].taken, takers[1].taken);
    assert_ptr_not_equal(takers[0].taken, takers[2].taken);
    for (int i = 0; i < 3; i += 2) {
        const long_waves *w = takers[i].taken;
        const int64_t wave[3] = {1, 2, -1}, count_y = 2 * w->most[1] + 1,
                      at = (2 * w->most[2] * count_y + 2) * (w->most[0] + 1) + 1;
        double right[2];
        sum_wave(&h, c, takers[i].n, wave, right);
        assert_true(hypot((double)w->values[at][0] - right[0], (double)w->values[at][1] - right[1]) <
                    4e-6 * sqrt(c->square_e2));
    }
    beside_end(&b, false);
    const atomic_bool at_once = true;
    beside_begin(&b, &h, atoms, &at_once, false, n);
    take(&takers[0]);
    assert_int_equal(takers[0].status, LEY_CANCELLED);
    assert_null(takers[0].taken);
    ley_error_clear(&takers[0].error);
    beside_end(&b, false);
    ley_atoms_destroy(atoms);
    free(c);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_sums), cmocka_unit_test(test_who_wants_them),
                                              cmocka_unit_test(test_cancelled),
                                              cmocka_unit_test(test_shared_by_devices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
