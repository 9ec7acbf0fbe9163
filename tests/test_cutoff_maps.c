/* What short-range maps must be, whoever computes them: cells of any kind, the order of atoms, the
 * host's part of the overflow. */
#include "support.h"

#include "methods/cutoff/kernel.h"
#include "methods/cutoff/overflow.h"

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

/* Bins full or not, summed anywhere: the order of the atoms does not matter, and the same job gives
 * the same bytes. */
static void test_order(void **state)
{
    const size_t bytes = (size_t)ley_grid_points(&uneven) * sizeof(float);
    ley_atoms *atoms = support_crowd(3000, &uneven, 6, 7), *other = shuffled(atoms, 8);
    for (int i = 0; i < 8; i++) {
        support_options options = support_short_range(i & 1 ? LEY_PAIR_LENNARD_JONES : LEY_PAIR_TAYLOR2, 6);
        options.short_range.bin_fill = i & 2 ? 4 : 0.75;
        options.short_range.overflow = i & 4 ? LEY_PLACE_HOST : LEY_PLACE_DEVICE;
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

/* ---- The host's part ------------------------------------------------------------------------- */

/* All atoms as overflow, added to planes [first, last) in pieces. */
static void add_all(const ley_atoms *atoms, const support_options *o, ley_map *map, int64_t first, int64_t last,
                    int64_t piece)
{
    ley_error error = {0};
    cutoff_problem p;
    const ley_grid *l = ley_map_grid(map);
    const size_t n = ley_atoms_count(atoms);
    const double constant = ley_coulomb_constant(o->units, o->dielectric, o->temperature_K);
    assert_ok(cutoff_problem_init(&p, atoms, l, &o->short_range, constant, o->dielectric, o->r_min_A, &error));
    const overflow_terms t = cutoff_problem_terms(&p);
    overflow_atom *all = calloc(n, sizeof *all);
    assert_non_null(all);
    for (size_t i = 0; i < n; i++) {
        for (size_t axis = 0; axis < 3; axis++)
            all[i].place[axis] = (ley_atoms_positions_A(atoms)[3 * i + axis] - l->origin_A[axis]) * p.unit_per_A;
        cutoff_problem_numbers(&p, i, all[i].numbers);
    }
    for (int64_t plane = first; plane < last; plane += piece) {
        const int64_t end = plane + piece < last ? plane + piece : last;
        overflow_add(&t, all, n, plane, end, ley_map_values(map) + plane * l->n[0] * l->n[1], NULL);
    }
    free(all);
    cutoff_problem_clear(&p);
}

static ley_map *zeros(const ley_grid *grid)
{
    ley_map *map = support_make_map(grid);
    memset(ley_map_values(map), 0, (size_t)ley_grid_points(grid) * sizeof(float));
    return map;
}

/* Every pair function; rows shorter than a vector, one longer, whole ones; atoms inside and
 * outside. */
static void test_overflow_on_the_host(void **state)
{
    static const ley_grid meshes[] = {
        {{-3.25, 1, -7}, LEY_STEPS(0.5, 0.625, 0.75), {19, 13, 11}}, {{0, 0, 0}, LEY_STEPS(0.3, 0.7, 1.1), {1, 1, 1}},
        {{0, 0, 0}, LEY_STEPS(0.3, 0.7, 1.1), {15, 4, 9}},           {{0, 0, 0}, LEY_STEPS(0.5, 0.5, 0.5), {16, 5, 3}},
        {{9, -9, 99}, LEY_STEPS(0.5, 0.5, 0.5), {17, 3, 8}},         {{0, 0, 0}, LEY_STEPS(0.4, 0.4, 0.4), {47, 2, 2}},
        {{1e5, 1e5, -1e5}, LEY_STEPS(0.5, 0.5, 0.5), {64, 6, 7}},
    };
    for (size_t i = 0; i < sizeof meshes / sizeof meshes[0]; i++) {
        const ley_grid *l = &meshes[i];
        ley_atoms *atoms = support_crowd(150, l, 8, 9); /* some of them out of reach */
        for (int pair = 0; ley_pair_get((ley_pair)pair) != NULL; pair++) {
            if (pair == LEY_PAIR_EXPRESSION) /* host threads do not know it */
                continue;
            const support_options options = support_short_range((ley_pair)pair, 5);
            ley_map *map = zeros(l), *pieces = zeros(l);
            char name[64];
            add_all(atoms, &options, map, 0, l->n[2], l->n[2]);
            snprintf(name, sizeof name, "%d x %d x %d", (int)l->n[0], (int)l->n[1], (int)l->n[2]);
            assert_right(map, atoms, &options, name);
            add_all(atoms, &options, pieces, 0, l->n[2], 2);
            assert_memory_equal(ley_map_values(pieces), ley_map_values(map),
                                (size_t)ley_grid_points(l) * sizeof(float));
            ley_map_destroy(map);
            ley_map_destroy(pieces);
        }
        ley_atoms_destroy(atoms);
    }
}

/* Planes that are not asked for stay as they are, and what is there is added to. */
static void test_planes_of_the_overflow(void **state)
{
    const support_options options = support_short_range(LEY_PAIR_COULOMB, 5);
    const int64_t plane = uneven.n[0] * uneven.n[1], n = plane * uneven.n[2];
    ley_atoms *atoms = support_crowd(150, &uneven, 6, 10);
    ley_map *whole = zeros(&uneven), *some = zeros(&uneven);
    add_all(atoms, &options, whole, 0, uneven.n[2], uneven.n[2]);
    add_all(atoms, &options, some, 3, 7, 4);
    for (int64_t i = 0; i < n; i++)
        assert_true(ley_map_values(some)[i] == (i >= 3 * plane && i < 7 * plane ? ley_map_values(whole)[i] : 0));
    add_all(atoms, &options, whole, 0, uneven.n[2], uneven.n[2]);
    double off = 0, largest = 0;
    for (int64_t i = 3 * plane; i < 7 * plane; i++) {
        off = fmax(off, fabs((double)ley_map_values(whole)[i] - 2 * (double)ley_map_values(some)[i]));
        largest = fmax(largest, fabs((double)ley_map_values(some)[i]));
    }
    assert_true(off < 1e-5 * largest && largest > 0);
    ley_map_destroy(whole);
    ley_map_destroy(some);
    ley_atoms_destroy(atoms);
}

/* Host threads stop, too: what they are at would take them seconds. */
static void test_cancel_the_overflow(void **state)
{
    ley_error error = {0};
    const ley_grid large = {.step_A = LEY_STEPS(0.4, 0.4, 0.4), .n = {72, 72, 72}};
    support_options options = support_short_range(LEY_PAIR_TAYLOR2, 12);
    options.short_range.bin_depth = 1;
    options.short_range.bin_fill = 1000;
    options.short_range.overflow = LEY_PLACE_HOST;
    ley_atoms *atoms = support_atoms(400000, -2, 30, 3);
    ley_job *job = NULL;
    ley_map *map = support_make_map(&large);
    assert_ok(support_job_create(engine, atoms, map, &options, &job, &error));
    const pthread_t thread = support_cancel_later(job, 150000);
    assert_int_equal(ley_job_run(job, &error), LEY_CANCELLED);
    pthread_join(thread, NULL);
    const double seconds = support_cpu_since_cancelled_s();
    if (!(seconds < 2))
        fail_msg("%.1f s after it was cancelled it is still running", seconds);
    ley_job_destroy(job);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
    ley_error_clear(&error);
}

/* ---- Devices that fail ----------------------------------------------------------------------- */

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
        cmocka_unit_test(test_cancel_the_overflow),
    };
    const struct CMUnitTest others[] = {
        cmocka_unit_test(test_overflow_on_the_host),
        cmocka_unit_test(test_planes_of_the_overflow),
    };
    int failures = cmocka_run_group_tests_name("short-range maps", maps, start, stop);
    failures += cmocka_run_group_tests_name("host threads", others, NULL, NULL);
    return failures;
}
