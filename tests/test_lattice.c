/* The lattice cutoff against plain sums in double precision: every variant, open and periodic
 * axes, ellipsoids, radii beyond constant memory, parts of sub-cubes; one launch and several. */
#include "support.h"

#include "engine/engine.h"
#include "error.h"
#include "long_range/multilevel/lattice_build.h"
#include "verify/self_test.h"

static ley_engine *engine; /* of the device under test */
static dev *device;

/* ---- Hierarchies and weights ----------------------------------------------------------------- */

enum { MOST_LEVELS = 4 };

typedef struct hierarchy {
    const char *name;
    lattice_level levels[MOST_LEVELS];
    int count;
} hierarchy;

#define OPEN \
    { \
        false, false, false \
    }
#define PERIODIC \
    { \
        true, true, true \
    }

static const hierarchy hierarchies[] = {
    {"open, parts of sub-cubes", {{{41, 10, 19}, OPEN, 1}, {{21, 5, 10}, OPEN, 0.5}, {{9, 3, 6}, OPEN, 0.25}}, 3},
    {"open, whole sub-cubes", {{{8, 12, 16}, OPEN, 2}}, 1},
    {"periodic", {{{20, 8, 12}, PERIODIC, 1}, {{10, 4, 6}, PERIODIC, 0.5}, {{5, 2, 3}, PERIODIC, 0.25}}, 3},
    {"one node, again and again", {{{1, 1, 1}, PERIODIC, 1}, {{1, 1, 1}, OPEN, 1}}, 2},
    {"periodic along x", {{{18, 9, 7}, {true, false, false}, 1}, {{9, 5, 4}, {true, false, false}, 0.5}}, 2},
    {"periodic along y and z", {{{9, 6, 17}, {false, true, true}, 1}, {{5, 3, 9}, {false, true, true}, 0.5}}, 2},
};
enum { HIERARCHIES = sizeof hierarchies / sizeof *hierarchies };

/* Positive, some of them zero, none like the other; within an ellipsoid, or in all of the box. */
static lattice_weights make_weights(const int radius[3], bool mirrored, bool is_box, unsigned seed)
{
    lattice_weights w = {.radius = {radius[0], radius[1], radius[2]}, .mirrored = mirrored};
    const size_t count = lattice_weights_count(&w);
    double *values = malloc(count * sizeof *values);
    uint32_t state = seed;
    size_t i = 0;
    assert_non_null(values);
    const int low[3] = {mirrored ? 0 : -radius[0], mirrored ? 0 : -radius[1], mirrored ? 0 : -radius[2]};
    for (int dz = low[2]; dz <= radius[2]; dz++)
        for (int dy = low[1]; dy <= radius[1]; dy++)
            for (int dx = low[0]; dx <= radius[0]; dx++) {
                const double r2 =
                    pow(dx / (radius[0] + 0.6), 2) + pow(dy / (radius[1] + 0.6), 2) + pow(dz / (radius[2] + 0.6), 2);
                const double u = self_test_fraction(&state);
                values[i++] = (is_box || r2 < 1) && u > 0.05 ? (1.2 + is_box - fmin(r2, 1)) * (0.5 + u) : 0;
            }
    assert_int_equal(i, count);
    w.values = values;
    return w;
}

static void clear_weights(lattice_weights *w)
{
    free((double *)(uintptr_t)w->values);
    w->values = NULL;
}

static lattice_layout layout_of(const hierarchy *h)
{
    ley_error error = {0};
    lattice_layout layout;
    assert_ok(lattice_layout_make(h->levels, h->count, &layout, &error));
    return layout;
}

/* At random; behind the last nodes no numbers. */
static float *make_charges(const lattice_layout *layout, unsigned seed)
{
    const size_t nodes = (size_t)layout->first_node[layout->count];
    float *charges = malloc(nodes * sizeof *charges);
    uint32_t state = seed;
    assert_non_null(charges);
    for (size_t i = 0; i < nodes; i++)
        charges[i] = NAN;
    for (int level = 0; level < layout->count; level++) {
        const int64_t *n = layout->levels[level].n;
        for (int64_t z = 0; z < n[2]; z++)
            for (int64_t y = 0; y < n[1]; y++)
                for (int64_t x = 0; x < n[0]; x++)
                    charges[lattice_layout_node(layout, level, x, y, z)] = (float)(2 * self_test_fraction(&state) - 1);
    }
    return charges;
}

/* ---- Computing ------------------------------------------------------------------------------- */

typedef enum launches { ALL_AT_ONCE, LEVEL_BY_LEVEL, IN_PIECES } launches;

/* A kernel's potentials; where a launch leaves a node out it is no number. */
static float *compute(const lattice_kernel *kernel, const lattice_layout *layout, const lattice_weights *weights,
                      const float *charges, launches how)
{
    ley_error error = {0};
    const size_t bytes = (size_t)lattice_layout_bytes(layout);
    lattice_kernel own = *kernel;
    arena memory = {.device = device};
    flight under_way = {.device = device};
    command_sequence w = {.flight = NULL};
    lattice_tables tables;
    buffer_of_float table = {NULL}, on_device = {NULL};
    results made = {NULL};
    if (how == IN_PIECES)
        own.facts.fma_per_s = 1e5; /* so that all of it lasts for minutes, as it seems */
    assert_ok(lattice_tables_create(&tables, &own, layout, &memory, &error));
    assert_ok(lattice_weights_create(&own, weights, &memory, &table, &error));
    assert_ok(arena_buffer(&memory, bytes, DEV_READ_ONLY, &on_device.buffer, &error));
    assert_ok(arena_results(&memory, (int64_t)bytes, &made, &error));
    sequence_begin(&w, &under_way, NULL);
    sequence_poison(&w, &made, bytes);
    sequence_write(&w, on_device.buffer, 0, charges, bytes);
    for (int level = 0; how == LEVEL_BY_LEVEL && level < layout->count; level++)
        lattice_launch(&w, &tables, level, 1, table, on_device, (buffer_of_float){made.buffer});
    if (how != LEVEL_BY_LEVEL)
        lattice_launch(&w, &tables, 0, layout->count, table, on_device, (buffer_of_float){made.buffer});
    sequence_read(&w, made.buffer, 0, made.staging, bytes);
    assert_ok(sequence_finish(&w, &error));
    float *potentials = malloc(bytes);
    assert_non_null(potentials);
    memcpy(potentials, made.staging->bytes, bytes);
    sequence_end(&w);
    arena_clear(&memory);
    return potentials;
}

/* The largest error of any node, of its absolute terms. */
static double worst_error(const lattice_layout *layout, const lattice_weights *weights, const float *charges,
                          const float *potentials)
{
    reference_value *right = calloc((size_t)layout->first_node[layout->count], sizeof *right);
    double worst = 0;
    assert_non_null(right);
    lattice_reference(layout, weights, charges, right);
    for (int level = 0; level < layout->count; level++) {
        const int64_t *n = layout->levels[level].n;
        for (int64_t z = 0; z < n[2]; z++)
            for (int64_t y = 0; y < n[1]; y++)
                for (int64_t x = 0; x < n[0]; x++) {
                    const int64_t at = lattice_layout_node(layout, level, x, y, z);
                    const double off = fabs((double)potentials[at] - right[at].value);
                    const double error = off == 0 ? 0 : off / right[at].absolute;
                    worst = isfinite(error) ? fmax(worst, error) : INFINITY;
                }
    }
    free(right);
    return worst;
}

/* ---- The layout ------------------------------------------------------------------------------ */

static void test_layout(void **state)
{
    const lattice_layout layout = layout_of(&hierarchies[0]);
    assert_int_equal(layout.first_node[0], 0);
    assert_int_equal(layout.first_node[1], 11 * 3 * 5 * 64);
    assert_int_equal(layout.first_node[2], layout.first_node[1] + 6 * 2 * 3 * 64);
    assert_int_equal(lattice_layout_bytes(&layout), 4 * (layout.first_node[2] + 3 * 1 * 2 * 64));
    assert_int_equal(lattice_layout_node(&layout, 1, 5, 3, 6), layout.first_node[1] + 64 * (1 + 6 * 2) + 1 + 12 + 32);
    for (int level = 0; level < layout.count; level++) {
        const tiled_slab slab = lattice_layout_slab(&layout, level);
        const int64_t *n = layout.levels[level].n, own = layout.first_node[level + 1] - layout.first_node[level];
        int64_t points = 0;
        assert_true(tiled_points(&slab, &points));
        assert_int_equal(points, own);
        float *rows = malloc((size_t)(n[0] * n[1] * n[2]) * sizeof *rows), *cubes = malloc((size_t)own * sizeof *cubes);
        for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++)
            rows[i] = (float)i;
        transpose_to_regions(&slab, rows, -1, cubes);
        for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++)
            assert_true(cubes[lattice_layout_node(&layout, level, i % n[0], i / n[0] % n[1], i / n[0] / n[1]) -
                              layout.first_node[level]] == (float)i);
        free(rows);
        free(cubes);
    }
}

static void test_bad_layouts(void **state)
{
    ley_error error = {0};
    lattice_layout layout;
    lattice_level levels[LATTICE_MOST_LEVELS + 1];
    for (int i = 0; i <= LATTICE_MOST_LEVELS; i++)
        levels[i] = (lattice_level){.n = {4, 4, 4}, .scale = 1};
    assert_int_equal(lattice_layout_make(levels, 0, &layout, &error), LEY_ERROR_USAGE);
    assert_int_equal(lattice_layout_make(levels, LATTICE_MOST_LEVELS + 1, &layout, &error), LEY_ERROR_USAGE);
    assert_int_equal(lattice_layout_make(levels, LATTICE_MOST_LEVELS, &layout, &error), LEY_OK);
    levels[1].n[2] = 0;
    assert_error_is(lattice_layout_make(levels, 2, &layout, &error), LEY_ERROR_USAGE,
                    "level 1 of the meshes has 0 nodes along an axis");
    static const int64_t large[][3] = {
        {1000, 1000, 1000}, {INT64_MAX, 1, 1}, {INT64_MAX, INT64_MAX, 4}, {1, 1, 1 << 27}};
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        memcpy(levels[0].n, large[i], sizeof large[i]);
        assert_int_equal(lattice_layout_make(levels, 1, &layout, &error), LEY_ERROR_NO_DEVICE);
    }
    ley_error_clear(&error);
}

/* Two ways of summing in double precision, each written from the definition: charge by charge, and
 * node by node. */
static void test_references(void **state)
{
    static const int radius[3] = {4, 2, 3};
    for (int mirrored = 0; mirrored <= 1; mirrored++)
        for (int i = 0; i < HIERARCHIES; i++) {
            const lattice_layout layout = layout_of(&hierarchies[i]);
            lattice_weights weights = make_weights(radius, mirrored, true, 7);
            float *charges = make_charges(&layout, 8);
            reference_value *values = calloc((size_t)layout.first_node[layout.count], sizeof *values);
            lattice_reference(&layout, &weights, charges, values);
            for (int level = 0; level < layout.count; level++) {
                const int64_t *n = layout.levels[level].n;
                for (int64_t k = 0; k < n[0] * n[1] * n[2]; k += 7) {
                    const int64_t at[3] = {k % n[0], k / n[0] % n[1], k / n[0] / n[1]};
                    const reference_value one = lattice_reference_node(&layout, &weights, charges, level, at),
                                          all = values[lattice_layout_node(&layout, level, at[0], at[1], at[2])];
                    assert_true(one.absolute > 0);
                    assert_true(fabs(one.value - all.value) <= 1e-13 * one.absolute);
                    assert_true(fabs(one.absolute - all.absolute) <= 1e-13 * one.absolute);
                }
            }
            free(values);
            free(charges);
            clear_weights(&weights);
        }
}

/* Pairs of nodes with a weight, one by one. */
static void test_pairs(void **state)
{
    static const int radius[3] = {4, 2, 3};
    for (int i = 0; i < HIERARCHIES; i++) {
        const lattice_level *l = &hierarchies[i].levels[0];
        lattice_weights weights = make_weights(radius, true, false, 3);
        double pairs = 0;
        for (int64_t k = 0; k < l->n[0] * l->n[1] * l->n[2]; k++)
            for (int dz = -3; dz <= 3; dz++)
                for (int dy = -2; dy <= 2; dy++)
                    for (int dx = -4; dx <= 4; dx++) {
                        const int64_t at[3] = {k % l->n[0] + dx, k / l->n[0] % l->n[1] + dy,
                                               k / l->n[0] / l->n[1] + dz};
                        bool inside = lattice_weight(&weights, dx, dy, dz) != 0;
                        for (int axis = 0; axis < 3; axis++)
                            inside = inside && (l->periodic[axis] || (at[axis] >= 0 && at[axis] < l->n[axis]));
                        pairs += inside;
                    }
        assert_true(lattice_pairs(&weights, l) == pairs && pairs > 0);
        clear_weights(&weights);
    }
}

/* ---- Variants -------------------------------------------------------------------------------- */

typedef struct trial {
    const char *variant;
    int sum, radius[3];
    bool mirrored, is_box;
    support_level level; /* from which on it is tried */
} trial;

static const trial trials[] = {
    {NULL, LEY_SPEC_SUM_FLOAT, {5, 3, 7}, true, false, SUPPORT_QUICK},
    {NULL, LEY_SPEC_SUM_COMPENSATED, {4, 4, 2}, false, true, SUPPORT_QUICK},
    {NULL, LEY_SPEC_SUM_FLOAT, {19, 19, 19}, true, false, SUPPORT_QUICK}, /* a/h = 10 */
    {"basic", LEY_SPEC_SUM_FLOAT, {5, 3, 4}, true, false, SUPPORT_QUICK},
    {"optimised", LEY_SPEC_SUM_FLOAT, {4, 7, 3}, false, true, SUPPORT_QUICK},
    {"columns8", LEY_SPEC_SUM_FLOAT, {5, 3, 4}, true, false, SUPPORT_QUICK},
    {"columns16", LEY_SPEC_SUM_DOUBLE, {2, 6, 5}, true, true, SUPPORT_PAIRWISE},
    {"columns16", LEY_SPEC_SUM_FLOAT, {11, 11, 11}, true, false, SUPPORT_PAIRWISE},
    {"columns8", LEY_SPEC_SUM_COMPENSATED, {3, 2, 5}, false, false, SUPPORT_PAIRWISE},
    {"wide16", LEY_SPEC_SUM_FLOAT, {7, 4, 6}, true, false, SUPPORT_PAIRWISE},
    {"vector4", LEY_SPEC_SUM_FLOAT, {6, 5, 3}, true, false, SUPPORT_PAIRWISE},
    {"vector8", LEY_SPEC_SUM_DOUBLE, {3, 4, 9}, true, false, SUPPORT_PAIRWISE},
    {"vector16", LEY_SPEC_SUM_COMPENSATED, {11, 11, 11}, true, false, SUPPORT_PAIRWISE},
    {"vector16", LEY_SPEC_SUM_DOUBLE, {1, 0, 2}, false, true, SUPPORT_PAIRWISE},
    {"basic", LEY_SPEC_SUM_DOUBLE, {12, 9, 16}, true, false, SUPPORT_PAIRWISE}, /* weights in global memory */
    {"optimised", LEY_SPEC_SUM_COMPENSATED, {11, 11, 11}, true, false, SUPPORT_PAIRWISE},
    {NULL, LEY_SPEC_SUM_FLOAT, {0, 0, 0}, true, true, SUPPORT_PAIRWISE},
    {NULL, LEY_SPEC_SUM_FLOAT, {31, 2, 30}, true, false, SUPPORT_PAIRWISE},
    {NULL, LEY_SPEC_SUM_FLOAT, {23, 23, 23}, true, false, SUPPORT_FULL}, /* a/h = 12 */
};

static bool create(const trial *t, lattice_kernel *kernel)
{
    ley_error error = {0};
    const lattice_wish wish = {.variant = t->variant,
                               .sum = t->sum,
                               .radius = {t->radius[0], t->radius[1], t->radius[2]},
                               .mirrored = t->mirrored};
    const ley_status status = lattice_kernel_create(device, &wish, kernel, &error);
    if (status == LEY_ERROR_NO_DEVICE) {
        ley_error_clear(&error);
        return false;
    }
    assert_ok(status);
    return true;
}

/* All hierarchies with one kernel, whose digits are those of its terms, which are floats. */
static void test_variant(void **state)
{
    const trial *t = *state;
    lattice_kernel kernel;
    if (!create(t, &kernel))
        skip();
    lattice_weights weights = make_weights(t->radius, t->mirrored, t->is_box, 5);
    for (int i = 0; i < HIERARCHIES; i++) {
        const lattice_layout layout = layout_of(&hierarchies[i]);
        float *charges = make_charges(&layout, (unsigned)i);
        float *potentials = compute(&kernel, &layout, &weights, charges, ALL_AT_ONCE);
        const double worst = worst_error(&layout, &weights, charges, potentials);
        if (!(worst < 2e-6))
            fail_msg("%s, %s: an error of %.3g", kernel.choice.variant, hierarchies[i].name, worst);
        free(potentials);
        free(charges);
    }
    clear_weights(&weights);
    lattice_kernel_destroy(&kernel);
}

/* One launch for all levels, one for each, and many: the same bytes. */
static void test_launches(void **state)
{
    lattice_kernel kernel;
    assert_true(create(&trials[0], &kernel));
    lattice_weights weights = make_weights(trials[0].radius, true, false, 5);
    for (int i = 0; i < HIERARCHIES; i++) {
        const lattice_layout layout = layout_of(&hierarchies[i]);
        float *charges = make_charges(&layout, 1);
        float *at_once = compute(&kernel, &layout, &weights, charges, ALL_AT_ONCE);
        for (launches how = LEVEL_BY_LEVEL; how <= IN_PIECES; how++) {
            float *other = compute(&kernel, &layout, &weights, charges, how);
            for (int level = 0; level < layout.count; level++) {
                const int64_t *n = layout.levels[level].n;
                for (int64_t k = 0; k < n[0] * n[1] * n[2]; k++) {
                    const int64_t at = lattice_layout_node(&layout, level, k % n[0], k / n[0] % n[1], k / n[0] / n[1]);
                    assert_memory_equal(&other[at], &at_once[at], sizeof *other);
                }
            }
            free(other);
        }
        free(at_once);
        free(charges);
    }
    clear_weights(&weights);
    lattice_kernel_destroy(&kernel);
}

/* Work is predicted as it is counted: eight times the nodes, about eight times the seconds. */
static void test_predictions(void **state)
{
    ley_error error = {0};
    lattice_kernel kernel;
    arena memory = {.device = device};
    double seconds[2];
    assert_true(create(&trials[0], &kernel));
    for (int i = 0; i < 2; i++) {
        lattice_tables tables;
        lattice_layout layout;
        const int64_t n = (int64_t)128 << i;
        const lattice_level levels[] = {{.n = {n, n, n}, .scale = 1}, {.n = {n / 2, n / 2, n / 2}, .scale = 0.5}};
        assert_ok(lattice_layout_make(levels, 2, &layout, &error));
        assert_ok(lattice_tables_create(&tables, &kernel, &layout, &memory, &error));
        seconds[i] = lattice_seconds(&tables, 0, 2);
        assert_true(seconds[i] > 0 && seconds[i] > lattice_seconds(&tables, 0, 1));
        assert_true(fabs(lattice_seconds(&tables, 0, 1) + lattice_seconds(&tables, 1, 1) - seconds[i]) <
                    1e-9 * seconds[i]);
        assert_true(lattice_count(&tables).multiply_adds > 0);
    }
    assert_true(seconds[1] > 7 * seconds[0] && seconds[1] < 9 * seconds[0]);
    arena_clear(&memory);
    lattice_kernel_destroy(&kernel);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static void test_refusals(void **state)
{
    ley_error error = {0};
    lattice_choice choice;
    lattice_wish wish = {.variant = "nosuch", .radius = {3, 3, 3}, .mirrored = true};
    assert_int_equal(tuning_lattice(device->info, &wish, &choice, &error), LEY_ERROR_USAGE);
    wish.variant = NULL;
    wish.radius[1] = LATTICE_MOST_RADIUS + 1;
    assert_int_equal(tuning_lattice(device->info, &wish, &choice, &error), LEY_ERROR_USAGE);
    wish.radius[1] = -1;
    assert_int_equal(tuning_lattice(device->info, &wish, &choice, &error), LEY_ERROR_USAGE);
    lattice_kernel kernel;
    arena memory = {.device = device};
    buffer_of_float made = {NULL};
    assert_true(create(&trials[0], &kernel));
    static const int other[3] = {5, 3, 6};
    lattice_weights weights = make_weights(other, true, false, 1);
    assert_int_equal(lattice_weights_create(&kernel, &weights, &memory, &made, &error), LEY_ERROR_USAGE);
    clear_weights(&weights);
    weights = make_weights(trials[0].radius, false, false, 1);
    assert_int_equal(lattice_weights_create(&kernel, &weights, &memory, &made, &error), LEY_ERROR_USAGE);
    clear_weights(&weights);
    arena_clear(&memory);
    lattice_kernel_destroy(&kernel);
    ley_error_clear(&error);
}

/* A GPU with little local memory gets what fits; constant memory as long as weights do. */
static void test_choices(void **state)
{
    ley_error error = {0};
    dev_info info = {.device_class = DEV_GPU,
                     .max_work_group = 256,
                     .max_work_items = {256, 256, 256},
                     .local_bytes = 32768,
                     .constant_bytes = 64000,
                     .has_double = true};
    lattice_choice choice;
    lattice_wish wish = {.radius = {11, 11, 11}, .mirrored = true};
    assert_ok(tuning_lattice(&info, &wish, &choice, &error));
    assert_string_equal(choice.variant, "columns16");
    assert_int_equal(choice.spec.table, LEY_ATOMS_CONSTANT);
    info.local_bytes = 10000;
    assert_ok(tuning_lattice(&info, &wish, &choice, &error));
    assert_string_equal(choice.variant, "columns8");
    info.local_bytes = 4096;
    assert_ok(tuning_lattice(&info, &wish, &choice, &error));
    assert_string_equal(choice.variant, "basic");
    assert_int_equal(choice.spec.table, LEY_ATOMS_CONSTANT);
    wish.variant = "columns16";
    assert_int_equal(tuning_lattice(&info, &wish, &choice, &error), LEY_ERROR_NO_DEVICE);
    wish.variant = "basic";
    wish.radius[2] = 12;
    assert_ok(tuning_lattice(&info, &wish, &choice, &error));
    assert_int_equal(choice.spec.table, LEY_ATOMS_GLOBAL);
    info.max_work_group = 32;
    assert_int_equal(tuning_lattice(&info, &wish, &choice, &error), LEY_ERROR_NO_DEVICE);
    wish.variant = "vector16";
    assert_int_equal(tuning_lattice(&info, &wish, &choice, &error), LEY_ERROR_NO_DEVICE);
    ley_error_clear(&error);
}

/* Sums of very many nodes are rounded more often, and right all the same. */
static void test_large_neighbourhoods(void **state)
{
    ley_error error = {0};
    const lattice_wish wish = {.radius = {25, 28, 26}};
    lattice_kernel kernel;
    if (!support_has_vectors(engine)) /* it takes long there */
        skip();
    assert_ok(lattice_kernel_create(device, &wish, &kernel, &error));
    lattice_kernel_destroy(&kernel);
}

static int run(const char *selector, const ley_device_info *info)
{
    enum { MOST = 9 + sizeof trials / sizeof *trials };
    struct CMUnitTest tests[MOST] = {cmocka_unit_test(test_layout),
                                     cmocka_unit_test(test_bad_layouts),
                                     cmocka_unit_test(test_references),
                                     cmocka_unit_test(test_pairs),
                                     cmocka_unit_test(test_launches),
                                     cmocka_unit_test(test_predictions),
                                     cmocka_unit_test(test_refusals),
                                     cmocka_unit_test(test_choices),
                                     cmocka_unit_test(test_large_neighbourhoods)};
    size_t count = 9;
    char group[600];
    static int devices;
    const bool is_first = devices++ == 0;
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++)
        if (trials[i].level <= support_get_level() && (is_first || i == 0 || !support_is_quick()))
            tests[count++] = (struct CMUnitTest){trials[i].variant != NULL ? trials[i].variant : "the default",
                                                 test_variant, NULL, NULL, (void *)(uintptr_t)&trials[i]};
    if (!support_open(selector, info->name, &engine))
        return 1;
    device = engine->workers[0].device;
    snprintf(group, sizeof group, "lattice cutoff on %s", info->name);
    const int failures = _cmocka_run_group_tests(group, tests, count, NULL, NULL);
    ley_engine_destroy(engine);
    return failures;
}

/* One variant on small hierarchies, of either kind of weights, for a checker that interprets
 * kernels. */
static int run_small(const char *selector, const char *variant)
{
    static const int chosen[] = {3, HIERARCHIES - 1};
    int failures = 0;
    if (!support_open(selector, selector, &engine))
        return 1;
    device = engine->workers[0].device;
    for (int mirrored = 0; mirrored <= 1; mirrored++) {
        ley_error error = {0};
        const lattice_wish wish = {.variant = variant, .radius = {2, 1, 1}, .mirrored = mirrored};
        lattice_kernel kernel;
        const ley_status status = lattice_kernel_create(device, &wish, &kernel, &error);
        if (status != LEY_OK)
            fprintf(stderr, "%s\n", error.message);
        ley_error_clear(&error);
        lattice_weights weights = make_weights(wish.radius, mirrored, true, 5);
        for (size_t i = 0; status == LEY_OK && i < sizeof chosen / sizeof *chosen; i++) {
            const lattice_layout layout = layout_of(&hierarchies[chosen[i]]);
            float *charges = make_charges(&layout, 1);
            float *potentials = compute(&kernel, &layout, &weights, charges, ALL_AT_ONCE);
            failures += worst_error(&layout, &weights, charges, potentials) < 2e-6 ? 0 : 1;
            free(potentials);
            free(charges);
        }
        failures += status != LEY_OK;
        clear_weights(&weights);
        lattice_kernel_destroy(&kernel);
    }
    ley_engine_destroy(engine);
    return failures;
}

/* Without arguments on each device; else a device and one variant. */
int main(int argc, char **argv)
{
    return argc == 3 ? run_small(argv[1], argv[2]) : support_on_each_device(run);
}
