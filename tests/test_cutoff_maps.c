/* What short-range maps must be, whoever computes them: cells of any kind, the order of atoms, the
 * host's loop. */
#include "support.h"

#include "methods/cutoff/kernel.h"
#include "methods/cutoff/serial_pairs.h"

static ley_engine *engine; /* the default device */

static const ley_grid uneven = {.origin_A = {-3.25, 1, -7}, .step_A = LEY_STEPS(0.5, 0.625, 0.75), .n = {19, 13, 11}};

static void assert_right(const ley_map *map, const ley_atoms *atoms, const support_options *options, const char *what)
{
    const support_error e = support_short_range_error(map, atoms, options);
    if (!(e.rms <= 1e-5 && e.worst <= 3e-5))
        fail_msg("%s, pair function %d: off by %g, at a point by %g", what, (int)options->short_range.pair, e.rms,
                 e.worst);
}

/* Skewed cells, small and large, left-handed ones; along any choice of the vectors. */
static void test_cells(void **state)
{
    static const double cells_A[][3][3] = {
        {{13, 0, 0}, {2, 12, 0}, {-1, 3, 14}},  {{4, 1, 0}, {0, 5, 2}, {3, 0, 6}},
        {{0, 20, 0}, {20, 0, 0}, {0, 0, 20}},   {{9, 0, 0}, {8, 3, 0}, {1, 2, 11}},
        {{30, -10, 4}, {9, 40, 3}, {5, 6, 50}},
    };
    ley_atoms *atoms = support_crowd(150, &uneven, 5, 4);
    for (size_t i = 0; i < sizeof cells_A / sizeof cells_A[0]; i++)
        for (int axes = 1; axes < 8; axes++)
            for (int k = 0; k < 2; k++) {
                support_options options = support_short_range(k == 0 ? LEY_PAIR_TAYLOR2 : LEY_PAIR_COULOMB, 6);
                char name[32];
                memcpy(options.short_range.cell_A, cells_A[i], sizeof cells_A[i]);
                for (int axis = 0; axis < 3; axis++)
                    options.short_range.periodic[axis] = (axes >> axis & 1) != 0;
                snprintf(name, sizeof name, "cell %d, axes %d", (int)i, axes);
                ley_map *map = support_run(engine, atoms, &uneven, &options);
                assert_right(map, atoms, &options, name);
                ley_map_destroy(map);
            }
    ley_atoms_destroy(atoms);
}

/* ---- Order ----------------------------------------------------------------------------------- */

static ley_atoms *shuffled(const ley_atoms *atoms, unsigned seed)
{
    const size_t n = ley_atoms_count(atoms);
    double *position_A = calloc(5 * n, sizeof *position_A), *charge_e = position_A + 3 * n,
           *radius_A = position_A + 4 * n;
    size_t *order = calloc(n, sizeof *order);
    assert_non_null(position_A);
    assert_non_null(order);
    for (size_t i = 0; i < n; i++) {
        const size_t j = (size_t)rand_r(&seed) % (i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    for (size_t i = 0; i < n; i++) {
        memcpy(position_A + 3 * i, ley_atoms_positions_A(atoms) + 3 * order[i], 3 * sizeof *position_A);
        charge_e[i] = ley_atoms_charges_e(atoms)[order[i]];
        radius_A[i] = ley_atoms_radii_A(atoms)[order[i]];
    }
    ley_atoms *made = support_make_atoms(n, position_A, charge_e, radius_A);
    free(position_A);
    free(order);
    return made;
}

/* Bins full or not: the order of the atoms does not matter, and the same job gives the same
 * bytes. */
static void test_order(void **state)
{
    const size_t bytes = (size_t)ley_grid_points(&uneven) * sizeof(float);
    ley_atoms *atoms = support_crowd(3000, &uneven, 6, 7), *other = shuffled(atoms, 8);
    for (int i = 0; i < 4; i++) {
        support_options options = support_short_range(i & 1 ? LEY_PAIR_LENNARD_JONES : LEY_PAIR_TAYLOR2, 6);
        options.short_range.bin_fill = i & 2 ? 4 : 0.75;
        ley_map *once = support_run(engine, atoms, &uneven, &options),
                *twice = support_run(engine, atoms, &uneven, &options),
                *changed = support_run(engine, other, &uneven, &options);
        assert_memory_equal(ley_map_values(once), ley_map_values(twice), bytes);
        assert_true(support_difference(changed, once) < 3e-6);
        ley_map_destroy(once);
        ley_map_destroy(twice);
        ley_map_destroy(changed);
    }
    ley_atoms_destroy(atoms);
    ley_atoms_destroy(other);
}

/* ---- The benchmark's peer -------------------------------------------------------------------- */

/* Every pair function; rows shorter than a vector, one longer, whole ones; atoms inside and
 * outside. */
static void test_serial_pairs(void **state)
{
    ley_error error = {0};
    static const ley_grid grids[] = {
        {{-3.25, 1, -7}, LEY_STEPS(0.5, 0.625, 0.75), {19, 13, 11}}, {{0, 0, 0}, LEY_STEPS(0.3, 0.7, 1.1), {1, 1, 1}},
        {{0, 0, 0}, LEY_STEPS(0.3, 0.7, 1.1), {15, 4, 9}},           {{0, 0, 0}, LEY_STEPS(0.5, 0.5, 0.5), {16, 5, 3}},
        {{9, -9, 99}, LEY_STEPS(0.5, 0.5, 0.5), {17, 3, 8}},         {{0, 0, 0}, LEY_STEPS(0.4, 0.4, 0.4), {47, 2, 2}},
        {{1e5, 1e5, -1e5}, LEY_STEPS(0.5, 0.5, 0.5), {64, 6, 7}},
    };
    for (size_t i = 0; i < sizeof grids / sizeof grids[0]; i++) {
        const ley_grid *l = &grids[i];
        ley_atoms *atoms = support_crowd(150, l, 8, 9); /* some of them out of reach */
        for (int pair = 0; ley_pair_get((ley_pair)pair) != NULL; pair++) {
            if (pair == LEY_PAIR_EXPRESSION) /* for devices only */
                continue;
            const support_options o = support_short_range((ley_pair)pair, 5);
            const double constant = ley_coulomb_constant(o.units, o.dielectric, o.temperature_K);
            cutoff_problem p;
            double seconds = -1;
            ley_map *map = support_make_map(l);
            char name[64];
            assert_ok(cutoff_problem_init(&p, atoms, l, &o.short_range, constant, o.dielectric, o.r_min_A, &error));
            assert_ok(serial_pairs_map(&p, map, &seconds, &error));
            assert_true(seconds >= 0);
            snprintf(name, sizeof name, "%d x %d x %d", (int)l->n[0], (int)l->n[1], (int)l->n[2]);
            assert_right(map, atoms, &o, name);
            cutoff_problem_clear(&p);
            ley_map_destroy(map);
        }
        ley_atoms_destroy(atoms);
    }
}

static int start(void **state)
{
    ley_error error = {0};
    return ley_engine_create(NULL, &engine, &error) == LEY_OK ? 0 : -1;
}

static int stop(void **state)
{
    ley_engine_destroy(engine);
    return 0;
}

int main(void)
{
    const struct CMUnitTest maps[] = {
        cmocka_unit_test(test_cells),
        cmocka_unit_test(test_order),
    };
    const struct CMUnitTest others[] = {
        cmocka_unit_test(test_serial_pairs),
    };
    int failures = cmocka_run_group_tests_name("short-range maps", maps, start, stop);
    failures += cmocka_run_group_tests_name("host loop", others, NULL, NULL);
    return failures;
}
