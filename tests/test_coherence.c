/* How much more a grid's errors add up where charges have the same nodes: against sums over all
 * nodes, for heaps, of which it is known, and on any number of cores. */
#include "support.h"

#include "long_range/mesh/coherence.h"
#include "long_range/mesh/spread.h"

#include <sched.h>
#include <stdatomic.h>

static hierarchy meshes_of(double side_A, bool is_periodic)
{
    hierarchy_options o = {.splitting = SPLITTING_TAYLOR4,
                           .window = WINDOW_BSPLINE6,
                           .solver = HIERARCHY_FOURIER,
                           .cutoff_A = 4,
                           .spacing_A = 1};
    ley_error error = {0};
    hierarchy h;
    for (int axis = 0; axis < 3 && is_periodic; axis++) {
        o.periodic[axis] = true;
        o.cell_A[axis][axis] = side_A;
    }
    const double zero[3] = {0, 0, 0}, high[3] = {side_A, side_A, side_A};
    assert_ok(hierarchy_make(&o, zero, high, &h, &error));
    return h;
}

static double find(const hierarchy *h, const ley_atoms *atoms)
{
    ley_error error = {0};
    double coherence = NAN;
    assert_ok(coherence_find(h, ley_atoms_count(atoms), ley_atoms_positions_A(atoms), ley_atoms_charges_e(atoms), NULL,
                             &coherence, &error));
    return coherence;
}

/* One sum for each node of the grid. */
static double find_plainly(const hierarchy *h, const ley_atoms *atoms)
{
    double *sum_e = calloc((size_t)hierarchy_nodes(&h->level[0]), sizeof *sum_e), single_e2 = 0, together_e2 = 0;
    for (size_t i = 0; i < ley_atoms_count(atoms); i++) {
        const double q_e = ley_atoms_charges_e(atoms)[i];
        double index[3];
        int64_t at = 0;
        float u;
        hierarchy_index(h, ley_atoms_positions_A(atoms) + 3 * i, index);
        for (int axis = 2; axis >= 0; axis--)
            at = at * h->level[0].n[axis] + spread_first_node(h, axis, index[axis], &u);
        sum_e[at] += q_e;
        single_e2 += q_e * q_e;
    }
    for (int64_t i = 0; i < hierarchy_nodes(&h->level[0]); i++)
        together_e2 += sum_e[i] * sum_e[i];
    free(sum_e);
    return fmax(1, sqrt(together_e2 / single_e2));
}

/* Few charges and many, dense and sparse, of one part and of several, of one stretch of nodes and
 * of several. */
static void test_against_all_nodes(void **state)
{
    static const size_t counts[] = {1, 2, 500, 5000, 40000};
    static const double sides_A[] = {6, 25, 60};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (size_t s = 0; s < sizeof sides_A / sizeof *sides_A; s++)
            for (int is_periodic = 0; is_periodic < 2; is_periodic++) {
                const hierarchy h = meshes_of(sides_A[s], is_periodic != 0);
                ley_atoms *atoms = support_atoms(counts[c], 0, sides_A[s], (unsigned)(c + 7 * s));
                const double right = find_plainly(&h, atoms), found = find(&h, atoms);
                if (!(fabs(found - right) < 1e-6 * right))
                    fail_msg("%zu atoms, %g A: %.9g, and %.9g is right", counts[c], sides_A[s], found, right);
                ley_atoms_destroy(atoms);
            }
}

/* n equal charges between the same nodes: the root of n. Opposite ones: 1. */
static void test_heaps(void **state)
{
    enum { HEAP = 400 };
    const hierarchy h = meshes_of(30, false);
    static double position_A[3 * HEAP], charge_e[HEAP], radius_A[HEAP];
    for (int opposite = 0; opposite < 2; opposite++) {
        for (size_t i = 0; i < HEAP; i++) {
            for (int axis = 0; axis < 3; axis++)
                position_A[3 * i + (size_t)axis] = 15.3 + 1e-4 * (double)i / HEAP;
            charge_e[i] = opposite && i % 2 ? -0.5 : 0.5;
        }
        ley_atoms *atoms = support_make_atoms(HEAP, position_A, charge_e, radius_A);
        assert_float_equal(find(&h, atoms), opposite ? 1 : sqrt(HEAP), 1e-9);
        ley_atoms_destroy(atoms);
    }
}

static void test_any_number_of_cores(void **state)
{
    const hierarchy h = meshes_of(60, false);
    ley_atoms *atoms = support_atoms(30000, 0, 60, 5);
    const double on_all = find(&h, atoms);
    cpu_set_t all, one;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    const double on_one = find(&h, atoms);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    assert_memory_equal(&on_all, &on_one, sizeof on_all);
    ley_atoms_destroy(atoms);
}

static void test_cancelled(void **state)
{
    const hierarchy h = meshes_of(25, false);
    ley_atoms *atoms = support_atoms(5000, 0, 25, 5);
    atomic_bool cancelled = true;
    double coherence;
    ley_error error = {0};
    assert_int_equal(coherence_find(&h, 5000, ley_atoms_positions_A(atoms), ley_atoms_charges_e(atoms), &cancelled,
                                    &coherence, &error),
                     LEY_CANCELLED);
    ley_error_clear(&error);
    ley_atoms_destroy(atoms);
}

int main(void)
{
    return RUN_TESTS(test_against_all_nodes, test_heaps, test_any_number_of_cores, test_cancelled);
}
