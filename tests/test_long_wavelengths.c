/* Long waves of a grid's charges that the host puts there, against the sums that they are; who
 * wants them; and how devices that wait for them have them. */
#include "support.h"

#include "long_range/host_threads.h"
#include "numerics/influence.h"
#include "some_charges.h"

static void put_charges(const hierarchy *h, const some_charges *c, long_charges *made)
{
    ley_error error = {0};
    assert_ok(long_charges_make(h, LONG_ATOMS, c->position_A[0], c->charge_e, NULL, made, &error));
}

static void test_sums(void **state)
{
    some_charges_check(put_charges);
}

/* Only of one level, with splines. */
static void test_who_wants_them(void **state)
{
    static const double box_A[3][3] = {{42, 0, 0}, {0, 42, 0}, {0, 0, 42}};
    hierarchy h = some_grid(WINDOW_BSPLINE8, "", box_A, 0.3);
    h.window = window_get(WINDOW_NODAL7);
    assert_false(long_wavelengths_are_wanted(&h));
    h = some_grid(WINDOW_BSPLINE8, "", box_A, 0.3);
    h.long_waves_per_A = 0;
    assert_false(long_wavelengths_are_wanted(&h));
    assert_true(long_wavelengths_bytes(&h, (const int64_t[3]){64, 64, 64}) == 0);
    h.long_waves_per_A = 0.3;
    h.solver = HIERARCHY_MIXED;
    assert_false(long_wavelengths_are_wanted(&h));
}

static void test_cancelled(void **state)
{
    static const double box_A[3][3] = {{42, 0, 0}, {0, 42, 0}, {0, 0, 42}};
    const hierarchy h = some_grid(WINDOW_BSPLINE8, "", box_A, 0.3);
    some_charges *c = some_charges_make(41, false);
    const atomic_bool at_once = true;
    long_charges coarse;
    ley_error error = {0};
    assert_int_equal(long_charges_make(&h, LONG_ATOMS, c->position_A[0], c->charge_e, &at_once, &coarse, &error),
                     LEY_CANCELLED);
    assert_null(coarse.values_e);
    ley_error_clear(&error);
    long_wavelengths made;
    const int64_t n[3] = {80, 80, 80};
    assert_ok(long_charges_make(&h, LONG_ATOMS, c->position_A[0], c->charge_e, NULL, &coarse, &error));
    assert_int_equal(long_wavelengths_make(&h, n, &coarse, &at_once, &made, &error), LEY_CANCELLED);
    assert_null(made.values);
    ley_error_clear(&error);
    long_charges_clear(&coarse);
    free(c);
}

/* ---- Beside a job ---------------------------------------------------------------------------- */

typedef struct taker {
    const long_wavelengths_source *from;
    int64_t n[3];
    const long_wavelengths *taken;
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
    static const double box_A[3][3] = {{42, 0, 0}, {0, 42, 0}, {0, 0, 42}};
    const hierarchy h = some_grid(WINDOW_BSPLINE8, "", box_A, 0.3);
    some_charges *c = some_charges_make(41, false);
    int64_t n[3];
    host_threads b;
    influence_extent(&h, n);
    ley_atoms *atoms = support_make_atoms(LONG_ATOMS, c->position_A[0], c->charge_e, NULL);
    host_threads_begin(&b, &h, atoms, NULL, false, NULL, true, n);
    const long_wavelengths_source from = host_threads_long_wavelengths(&b);
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
        const long_wavelengths *w = takers[i].taken;
        const int64_t wave[3] = {1, 2, -1}, count_y = 2 * w->most[1] + 1,
                      at = (2 * w->most[2] * count_y + 2) * (w->most[0] + 1) + 1;
        double right[2];
        some_wave(&h, c, takers[i].n, wave, right);
        assert_true(hypot((double)w->values[at][0] - right[0], (double)w->values[at][1] - right[1]) <
                    4e-6 * sqrt(c->square_e2));
    }
    host_threads_end(&b, false);
    const atomic_bool at_once = true;
    host_threads_begin(&b, &h, atoms, &at_once, false, NULL, true, n);
    take(&takers[0]);
    assert_int_equal(takers[0].status, LEY_CANCELLED);
    assert_null(takers[0].taken);
    ley_error_clear(&takers[0].error);
    host_threads_end(&b, false);
    ley_atoms_destroy(atoms);
    free(c);
}

int main(void)
{
    return RUN_TESTS(test_sums, test_who_wants_them, test_cancelled, test_shared_by_devices);
}
