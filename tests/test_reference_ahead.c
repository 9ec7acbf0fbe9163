/* What a job's reference needs before its first point, made by a thread beside the devices: the
 * same sums to the last bit, made again for other terms, and ended when nobody takes it. */
#include "support.h"

#include <string.h>

#include "dev_kernel.h"
#include "run/reference_ahead.h"

enum { ATOMS = 60000, POINTS = 64 };

static reference_terms wanted;

static void terms_of(const void *task, reference_terms *terms)
{
    (void)task;
    *terms = wanted;
}

static const method summing = {.name = "summing", .terms = terms_of};

typedef struct setup {
    dev_info info;
    device_view device;
    cell cell;
    ley_job job;
} setup;

static void begin(setup *s, dev_class class)
{
    static const bool periodic[3] = {true, true, true};
    static const double edges_A[3][3] = {{30, 0, 0}, {0, 31, 0}, {2, 0, 32}};
    ley_error error = {0};
    memset(s, 0, sizeof *s);
    s->info.device_class = class;
    s->device.info = &s->info;
    assert_ok(cell_make(periodic, edges_A, &s->cell, &error));
    s->job.method = &summing;
    s->job.view = (job_view){.devices = &s->device, .device_count = 1};
    wanted = (reference_terms){.term = LEY_TERM_LONG_RANGE,
                               .constant = 1,
                               .atoms = support_atoms(ATOMS, 0, 30, 5),
                               .r_min_A = 0.05,
                               .cell = &s->cell,
                               .shares = {.lattice = 1},
                               .near_A = 20};
}

static void end(void)
{
    ley_atoms_destroy((ley_atoms *)(uintptr_t)wanted.atoms);
}

static void assert_same_sums(const reference_terms *a, const reference_terms *b)
{
    for (int i = 0; i < 20; i++) {
        const double point_A[3] = {1.3 * i, 0.7 * i, 20 - i};
        const reference_value one = reference_sum(a, point_A), other = reference_sum(b, point_A);
        assert_memory_equal(&one, &other, sizeof one);
    }
}

static void test_the_same_sums(void **state)
{
    (void)state;
    setup s;
    ley_error error = {0};
    begin(&s, DEV_GPU);
    for (int other = 0; other < 2; other++) {
        reference_ahead *ahead = reference_ahead_begin(&s.job, POINTS);
        assert_non_null(ahead);
        reference_terms plain = wanted, made;
        plain.kappa_per_A = other * 0.2;
        made = plain;
        assert_ok(reference_ahead_take(ahead, &made, POINTS, NULL, &error));
        assert_non_null(made.images);
        assert_ok(reference_begin(&plain, POINTS, NULL, &error));
        assert_same_sums(&made, &plain);
        reference_terms again = wanted; /* it is there once */
        assert_ok(reference_ahead_take(ahead, &again, POINTS, NULL, &error));
        assert_ptr_not_equal(again.images, made.images);
        reference_end(&again);
        reference_end(&made);
        reference_end(&plain);
        reference_ahead_end(ahead);
    }
    end();
}

static void test_when(void **state)
{
    (void)state;
    setup s;
    ley_error error = {0};
    begin(&s, DEV_CPU); /* which works on the host's cores */
    assert_null(reference_ahead_begin(&s.job, POINTS));
    s.info.device_class = DEV_GPU;
    reference_ahead *ahead = reference_ahead_begin(&s.job, POINTS);
    assert_non_null(ahead);
    reference_ahead_end(ahead); /* which nobody has taken */
    s.cell.dimensions = 0;      /* a sum that needs nothing */
    assert_null(reference_ahead_begin(&s.job, POINTS));
    reference_terms open = wanted;
    assert_ok(reference_ahead_take(NULL, &open, POINTS, NULL, &error));
    assert_null(open.images);
    reference_ahead_end(NULL);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_sums),
        cmocka_unit_test(test_when),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
