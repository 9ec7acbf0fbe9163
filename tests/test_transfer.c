/* Transfers between atoms, meshes and maps on every device of this machine: each kernel's
 * self-test, every window; and each step against the double reference's. */
#include "support.h"

#include "clock.h"
#include "engine/engine.h"
#include "law/long_range.h"
#include "long_range/mesh/transfer_build.h"
#include "long_range/multilevel/v_cycle.h"
#include "pairwise.h"

static ley_engine *engine; /* of the device under test */
static dev *device;        /* the same one, for calls below the public ones; its worker thread sleeps meanwhile */

/* ---- Tables, without a device ---------------------------------------------------------------- */

/* A window that reaches over more than a whole bin. */
static hierarchy small_hierarchy(bool periodic)
{
    static const double low_A[3] = {-3, 0, 1}, high_A[3] = {33, 27, 45};
    hierarchy_options o = {.window = WINDOW_NODAL9, .cutoff_A = 8, .spacing_A = 2, .levels = 1};
    hierarchy h;
    ley_error error = {0};
    for (int axis = 0; axis < 3; axis++) {
        o.periodic[axis] = periodic;
        o.cell_A[axis][axis] = high_A[axis] - low_A[axis];
    }
    assert_ok(hierarchy_make(&o, low_A, high_A, &h, &error));
    return h;
}

/* How often an atom's first node along an axis is among the sources of a tile, at its place
 * there. */
static int count_sources(const hierarchy *h, const spread *s, int axis, int64_t tile, int64_t bin, int64_t image)
{
    size_t at = (size_t)tile;
    int found = 0;
    for (int before = 0; before < axis; before++)
        at += (size_t)s->bins[before];
    for (int32_t i = 0; i < s->tiles[at][1]; i++) {
        const int32_t *source = s->sources[s->tiles[at][0] + i];
        found += source[0] == bin && source[1] == (bin - tile) * SPREAD_EDGE + image * h->level[0].n[axis];
    }
    return found;
}

/* Each tile has each bin that reaches it once, whichever image of it, and no other. */
static void check_sources(const hierarchy *h, const spread *s)
{
    for (int axis = 0; axis < 3; axis++)
        for (int64_t tile = 0; tile < s->bins[axis]; tile++)
            for (int64_t bin = 0; bin < s->bins[axis]; bin++)
                for (int64_t image = -2; image <= 2; image++) {
                    const int64_t n = h->level[0].n[axis], first = bin * SPREAD_EDGE + image * n,
                                  last = (bin * SPREAD_EDGE + SPREAD_EDGE < n ? bin * SPREAD_EDGE + SPREAD_EDGE : n) -
                                         1 + image * n + h->window->points - 1,
                                  end = tile * SPREAD_EDGE + SPREAD_EDGE < n ? tile * SPREAD_EDGE + SPREAD_EDGE : n;
                    const bool reaches = first < end && last >= tile * SPREAD_EDGE,
                               is_own = image == 0 || h->cell.periodic[axis];
                    assert_int_equal(count_sources(h, s, axis, tile, bin, image), reaches && is_own);
                }
}

/* Atoms with a charge are there once, in the bin and at the place of their first node; within a bin
 * in their order. */
static void check_bins(const hierarchy *h, const spread *s, size_t n, double (*position_A)[3], const double *charge_e)
{
    const size_t bins = (size_t)(s->bins[0] * s->bins[1] * s->bins[2]);
    int32_t *next = malloc(bins * sizeof *next);
    size_t charged = 0;
    memcpy(next, s->first, bins * sizeof *next);
    for (size_t i = 0; i < n; i++) {
        double index[3];
        int64_t node[3];
        if (charge_e[i] == 0)
            continue;
        charged++;
        hierarchy_index(h, position_A[i], index);
        for (int axis = 0; axis < 3; axis++) {
            const int64_t size = h->level[0].n[axis];
            node[axis] = (int64_t)floor(index[axis]) + 1 - h->window->points / 2 - h->level[0].first[axis];
            node[axis] = h->cell.periodic[axis] ? (node[axis] % size + size) % size : node[axis];
            assert_in_range(node[axis], 0, size - 1);
        }
        const int64_t bin =
            (node[2] / SPREAD_EDGE * s->bins[1] + node[1] / SPREAD_EDGE) * s->bins[0] + node[0] / SPREAD_EDGE;
        const int32_t at = next[bin]++;
        assert_int_equal(s->corner[at],
                         node[0] % SPREAD_EDGE + node[1] % SPREAD_EDGE * 32 + node[2] % SPREAD_EDGE * 1024);
        assert_true(s->at[at][3] == (float)charge_e[i]);
        for (int axis = 0; axis < 3; axis++)
            assert_float_equal(s->at[at][axis], index[axis] - floor(index[axis]) - 0.5, 1e-6);
    }
    assert_int_equal(s->atoms, charged);
    for (size_t bin = 0; bin < bins; bin++)
        assert_int_equal(next[bin], s->first[bin + 1]);
    free(next);
}

static void test_atoms_in_bins(void **state)
{
    enum { MANY = 20000 }; /* more than one core takes */
    double(*position_A)[3] = malloc(MANY * sizeof *position_A), *charge_e = malloc(MANY * sizeof *charge_e);
    unsigned seed = 3;
    for (int i = 0; i < MANY; i++) {
        for (int axis = 0; axis < 3; axis++)
            position_A[i][axis] = 1 + 26.0 * rand_r(&seed) / RAND_MAX;
        charge_e[i] = i % 5 == 0 ? 0 : 1.0 + i % 7;
    }
    for (int periodic = 0; periodic <= 1; periodic++) {
        const hierarchy h = small_hierarchy(periodic);
        const atomic_bool cancelled = true;
        spread s;
        ley_error error = {0};
        assert_ok(spread_make(&h, MANY, position_A[0], charge_e, NULL, &s, &error));
        check_sources(&h, &s);
        check_bins(&h, &s, MANY, position_A, charge_e);
        spread_clear(&s);
        assert_int_equal(spread_make(&h, MANY, position_A[0], charge_e, &cancelled, &s, &error), LEY_CANCELLED);
        assert_null(s.first);
        assert_int_equal(spread_make(&h, SIZE_MAX, position_A[0], charge_e, NULL, &s, &error), LEY_ERROR_INPUT);
        ley_error_clear(&error);
    }
    free(position_A);
    free(charge_e);
}

static void test_places(void **state)
{
    const coordinate_table rows = {.n = {5, 4, 3}, .periodic = {true, false, false}, .pitch = {6, 4}, .first = 100},
                           cubes = {.n = {5, 6, 7}, .in_cubes = true, .pitch = {2, 2}},
                           huge = {.n = {1 << 11, 1 << 10, 1 << 9}, .pitch = {1 << 11, 1 << 10}};
    coordinates all = {.count = 0};
    coordinates_of in_rows, in_cubes;
    ley_error error = {0};
    assert_ok(coordinates_add(&all, &rows, 7, 8, &in_rows, &error));
    assert_ok(coordinates_add(&all, &cubes, 1, 2, &in_cubes, &error));
    const int32_t *x = all.values + in_rows.at[0], *y = all.values + in_rows.at[1], *z = all.values + in_rows.at[2];
    for (int i = -7; i < 5 + 8; i++)
        assert_int_equal(x[i], (i + 10) % 5);
    assert_int_equal(y[3] + z[2], 3 * 6 + 2 * 24);
    assert_true(y[-1] + x[4] + z[2] < 0 && y[4] + x[0] + z[0] < 0 && y[-1] + z[-1] + y[4] < 0);
    assert_int_equal(in_rows.at[3], 100);
    const int32_t *u = all.values + in_cubes.at[0], *v = all.values + in_cubes.at[1], *w = all.values + in_cubes.at[2];
    assert_int_equal(u[4] + v[5] + w[6], ((1 * 2 + 1) * 2 + 1) * 64 + (2 * 4 + 1) * 4 + 0);
    assert_int_equal(coordinates_add(&all, &huge, 0, 0, &in_rows, &error), LEY_ERROR_NO_DEVICE);
    ley_error_clear(&error);
    free(all.values);
}

/* The number of a node, as kernels make it of three places: 64 bits by plane. */
static int64_t number_by_plane(const coordinates *all, const coordinates_of *where, int64_t x, int64_t y, int64_t z)
{
    const int64_t row = all->values[where->at[1] + y], column = all->values[where->at[0] + x];
    return row < 0 || column < 0 ? -1 : column + row + all->values[where->at[2] + z] * (int64_t)where->at[3];
}

/* A grid of 7e9 nodes with its padding, of which the first eighth or so is there, or all. */
static void test_places_by_plane(void **state)
{
    coordinate_table rows = {.n = {960, 950, 1000}, .pitch = {1922, 1900}, .by_plane = true};
    coordinates all = {.count = 0};
    coordinates_of where;
    ley_error error = {0};
    assert_true(coordinates_can_number(&rows) && coordinates_are_many(&rows));
    assert_ok(coordinates_add(&all, &rows, 7, 8, &where, &error));
    assert_true(number_by_plane(&all, &where, 959, 949, 999) == 959 + 949 * 1922LL + 999 * 1922LL * 1900 &&
                number_by_plane(&all, &where, 959, 949, 999) > 3 * (1LL << 30));
    assert_true(number_by_plane(&all, &where, -1, 3, 999) < 0 && number_by_plane(&all, &where, 960, 949, 999) < 0 &&
                number_by_plane(&all, &where, 5, -7, 999) < 0 && number_by_plane(&all, &where, 5, 957, 999) < 0 &&
                number_by_plane(&all, &where, 5, 6, -1) < 0 && number_by_plane(&all, &where, 959, 949, 1000) < 0);
    /* what kernels add up as ints stays negative where one of two is nowhere */
    const int32_t *x = all.values + where.at[0], *y = all.values + where.at[1];
    assert_true(x[-1] + y[949] < 0 && x[959] + y[950] < 0 && x[-1] + y[-1] < 0);
    all.count = 0;
    rows = (coordinate_table){
        .n = {1920, 1900, 1900}, .periodic = {true, true, true}, .pitch = {1922, 1900}, .by_plane = true};
    assert_ok(coordinates_add(&all, &rows, 7, 8, &where, &error));
    assert_true(number_by_plane(&all, &where, -1, -1, -1) == 1919 + 1899 * 1922LL + 1899 * 1922LL * 1900 &&
                number_by_plane(&all, &where, -1, -1, -1) > 1LL << 32);
    assert_true(number_by_plane(&all, &where, 1920, 1901, 1902) == 1922 + 2 * 1922LL * 1900);
    free(all.values);
}

/* What neither way numbers, and what one number is enough for. */
static void test_places_that_are_too_many(void **state)
{
    const coordinate_table few = {.n = {512, 512, 509}, .pitch = {1026, 1024}},
                           edge = {.n = {1024, 1024, 512}, .pitch = {1024, 1024}},
                           more = {.n = {1024, 1024, 513}, .pitch = {1024, 1024}},
                           plane = {.n = {1 << 15, 1 << 14, 2}, .pitch = {1 << 15, 1 << 14}, .by_plane = true},
                           wide = {.n = {1 << 15, (1 << 14) + 1, 2},
                                   .pitch = {1 << 15, (1 << 14) + 1},
                                   .by_plane = true},
                           deep = {.n = {2, 2, (1LL << 29) + 1}, .pitch = {2, 2}, .by_plane = true},
                           behind = {.n = {512, 512, 512}, .pitch = {512, 512}, .first = 1, .by_plane = true},
                           cubes = {.n = {512, 512, 512}, .in_cubes = true, .pitch = {128, 128}, .by_plane = true};
    assert_true(coordinates_can_number(&few) && !coordinates_are_many(&few));
    assert_true(coordinates_can_number(&edge) && !coordinates_are_many(&edge));
    assert_true(!coordinates_can_number(&more) && coordinates_are_many(&more));
    assert_true(coordinates_can_number(&plane));
    assert_false(coordinates_can_number(&wide) || coordinates_can_number(&deep));
    assert_false(coordinates_can_number(&behind) || coordinates_can_number(&cubes));
}

/* ---- Self-tests ------------------------------------------------------------------------------ */

/* With the field and without, along axes that are perpendicular and not, in rows and at points; at
 * level quick windows of the fewest and of the most points. */
static void test_every_window(void **state)
{
    for (pairwise p = PAIRWISE(WINDOW_COUNT, 2, 3); pairwise_next(&p);) {
        if (support_is_quick() && p.at[0] != WINDOW_NODAL3 && p.at[0] != WINDOW_NODAL9)
            continue;
        ley_error error = {0};
        transfer_kernels kernels;
        const window *w = window_get((window_kind)p.at[0]);
        const transfer_wish wish = {.window = w,
                                    .along_axes = p.at[1],
                                    .along_rows = p.at[2] == 2,
                                    .field = p.at[2] > 0,
                                    .oblique = p.at[2] == 2,
                                    .nodes_per_point = {0.9, 1, 1.9},
                                    .has_levels = w->is_nodal};
        const double start_s = ley_clock_s();
        assert_ok_at(transfer_kernels_create(device, &wish, &kernels, &error), &error, w->name, __FILE__, __LINE__);
        assert_true(kernels.along_axes == wish.along_axes);
        if (getenv("TEST_VERBOSE") != NULL)
            print_message("%s %d %d: %.2f s\n", w->name, p.at[1], p.at[2], ley_clock_s() - start_s);
        transfer_kernels_destroy(&kernels);
    }
}

/* What GPUs get, on a CPU device. */
static void test_work_groups(void **state)
{
    for (int kind = 0; kind <= (support_is_quick() ? WINDOW_NODAL3 : WINDOW_NODAL9); kind++) {
        ley_error error = {0};
        transfer_kernels kernels;
        const transfer_wish wish = {.window = window_get((window_kind)kind),
                                    .along_axes = true,
                                    .field = kind % 2 == 0,
                                    .oblique = true,
                                    .nodes_per_point = {0.5, 0.7, 0.4},
                                    .width = 1};
        assert_ok(transfer_kernels_create(device, &wish, &kernels, &error));
        assert_true(kernels.anterpolate.group_size[0] > 1 && kernels.interpolation.group_size[0] > 1);
        transfer_kernels_destroy(&kernels);
    }
}

/* What CPU devices get whose vectors are shorter than this one's. */
static void test_short_vectors(void **state)
{
    static const window_kind kinds[] = {WINDOW_NODAL3, WINDOW_NODAL9, WINDOW_BSPLINE6};
    for (int i = 0; i < (support_is_quick() ? 2 : 6); i++) {
        ley_error error = {0};
        transfer_kernels kernels;
        const transfer_wish wish = {.window = window_get(kinds[i / 2]),
                                    .along_axes = true,
                                    .nodes_per_point = {0.5, 0.7, 0.4},
                                    .width = i % 2 == 0 ? 4 : 8};
        if (wish.width >= calibrate_width(device->info))
            continue;
        assert_ok(transfer_kernels_create(device, &wish, &kernels, &error));
        assert_int_equal(kernels.blocks.width, wish.width);
        assert_int_equal(kernels.interpolation.group_size[0], 1);
        transfer_kernels_destroy(&kernels);
    }
}

/* Spacings depend on tolerances and grids: kernels of processors do not. */
static void test_other_spacings_build_nothing(void **state)
{
    static const double apart[][3] = {{0.4, 0.6, 0.5}, {0.21, 0.25, 0.3}, {0.5, 0.7, 0.4}, {0.9, 0.75, 1}};
    transfer_kernels first = {.device = NULL};
    ley_error error = {0};
    if (calibrate_width(device->info) == 1)
        skip();
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++) {
        transfer_wish wish = {.window = window_get(WINDOW_NODAL3), .along_axes = true, .width = 8};
        transfer_kernels next;
        memcpy(wish.nodes_per_point, apart[i], sizeof apart[i]);
        assert_ok(transfer_kernels_create(device, &wish, &next, &error));
        if (i == 0) {
            first = next;
            continue;
        }
        assert_memory_equal(&next.blocks, &first.blocks, sizeof first.blocks);
        assert_true(next.interpolation.from_cache);
        transfer_kernels_destroy(&next);
    }
    transfer_kernels_destroy(&first);
}

/* Sums over atoms on a CPU device that has no doubles. */
static void test_without_doubles(void **state)
{
    const dev_info *right = device->info;
    dev_info without = *right;
    const transfer_wish wish = {
        .window = window_get(WINDOW_NODAL3), .along_axes = true, .nodes_per_point = {0.4, 0.6, 0.5}, .width = 8};
    transfer_kernels kernels;
    ley_error error = {0};
    if (calibrate_width(device->info) == 1)
        return;
    without.has_double = false;
    device->info = &without;
    assert_ok(transfer_kernels_create(device, &wish, &kernels, &error));
    device->info = right;
    transfer_kernels_destroy(&kernels);
}

/* ---- The whole cycle ------------------------------------------------------------------------- */

enum { ATOMS = 400 };

/* Atoms in an open box, three levels of meshes, and a map that covers a part of the box. */
typedef struct problem {
    double position_A[ATOMS][3], charge_e[ATOMS];
    hierarchy hierarchy;
    ley_grid points;
    size_t count;    /* of the map */
    v_cycle v_cycle; /* with atoms */
    transfer_map map;
    results phi;
} problem;

static void make_hierarchy(problem *p)
{
    static const double low_A[3] = {-5, -5, -5}, high_A[3] = {44, 37, 61};
    hierarchy_options o = {.splitting = SPLITTING_TAYLOR2, .window = WINDOW_NODAL3, .cutoff_A = 8, .spacing_A = 2};
    unsigned seed = 5;
    ley_error error = {0};
    for (int i = 0; i < ATOMS; i++) {
        for (int axis = 0; axis < 3; axis++)
            p->position_A[i][axis] = high_A[axis] * rand_r(&seed) / RAND_MAX;
        p->charge_e[i] = 2.0 * rand_r(&seed) / RAND_MAX - 1;
    }
    for (int axis = 0; axis < 3; axis++)
        o.cell_A[axis][axis] = 1;
    assert_ok(hierarchy_make(&o, low_A, high_A, &p->hierarchy, &error));
    assert_true(p->hierarchy.levels >= 3);
}

static problem *make_problem(void)
{
    problem *p = calloc(1, sizeof *p);
    spread atoms;
    ley_error error = {0};
    assert_non_null(p);
    make_hierarchy(p);
    const hierarchy *h = &p->hierarchy;
    const transfer_wish wish = {.window = h->window, .along_axes = true, .nodes_per_point = {0.375, 0.625, 0.25}};
    assert_ok(spread_make(h, ATOMS, p->position_A[0], p->charge_e, NULL, &atoms, &error));
    assert_ok(v_cycle_ready(&p->v_cycle, device, h, &wish, LEY_SPEC_SUM_FLOAT, NULL, false, &error));
    assert_ok(v_cycle_load(&p->v_cycle, &atoms, &error));
    spread_clear(&atoms);

    p->points = (ley_grid){.n = {25, 14, 11}, .origin_A = {3, 5, -2}, .step_A = LEY_STEPS(0.75, 1.25, 0.5)};
    p->count = (size_t)ley_grid_points(&p->points);
    const int64_t *n = p->points.n;
    const coordinate_table planes = {.n = {n[0], n[1], n[2]}, .pitch = {n[0], n[1]}};
    v_cycle *c = &p->v_cycle;
    assert_ok(transfer_map_create(&p->map, &c->meshes, &c->arrays[0], &p->points, &planes, 1, &c->arena, &error));
    assert_ok(arena_results(&c->arena, (int64_t)(p->count * sizeof(float)), &p->phi, &error));
    return p;
}

static void end_problem(problem *p)
{
    v_cycle_end(&p->v_cycle);
    free(p);
}

/* Computes the map; returns how many launches that took, all of them predicted. */
static size_t compute(problem *p, float *phi)
{
    ley_error error = {0};
    flight f = {.device = device};
    command_sequence w = {.flight = NULL};
    sequence_begin(&w, &f, NULL);
    sequence_poison(&w, &p->phi, p->count * sizeof(float));
    v_cycle_run(&p->v_cycle, &w);
    transfer_interpolate(&w, &p->v_cycle.meshes, &p->map, 0, p->points.n[2], false, 0, p->v_cycle.potentials,
                         (buffer_of_float){p->phi.buffer});
    sequence_read(&w, p->phi.buffer, 0, p->phi.staging, p->count * sizeof(float));
    assert_ok(sequence_finish(&w, &error));
    memcpy(phi, p->phi.staging->bytes, p->count * sizeof(float));
    assert_int_equal(w.times.unpredicted, 0);
    const size_t launches = w.ended;
    sequence_end(&w);
    return launches;
}

/* From atoms to a map through all levels, against the double reference at every point. */
static void test_a_cycle(void **state)
{
    problem *p = make_problem();
    ley_error error = {0};
    double worst = 0, most = 0, *right = malloc(p->count * sizeof *right);
    double(*point_A)[3] = malloc(p->count * sizeof *point_A);
    float *phi = malloc(p->count * sizeof *phi);
    const int64_t *n = p->points.n;
    for (int64_t i = 0; i < (int64_t)p->count; i++) {
        const int64_t at[3] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
        for (int axis = 0; axis < 3; axis++)
            point_A[i][axis] = p->points.origin_A[axis] + (double)at[axis] * p->points.step_A[axis][axis];
    }
    compute(p, phi);
    assert_ok(long_range_potential(&p->hierarchy, ATOMS, p->position_A[0], p->charge_e, 0.05, p->count, point_A[0],
                                   right, NULL, &error));
    for (size_t i = 0; i < p->count; i++) {
        worst = fmax(worst, fabs((double)phi[i] - right[i]));
        most = fmax(most, fabs(right[i]));
    }
    print_message("%d levels, %zu points: off by %.2g where values reach %.3g\n", p->hierarchy.levels, p->count, worst,
                  most);
    assert_true(most > 0.1 && worst < 3e-6 * most);
    free(point_A);
    free(right);
    free(phi);
    end_problem(p);
}

/* Steps that are predicted to last long are done in several launches, to the same bytes. */
static void test_pieces(void **state)
{
    problem *p = make_problem();
    const size_t bytes = p->count * sizeof(float);
    float *whole = malloc(bytes), *pieces = malloc(bytes);
    p->v_cycle.transfer.launch_s = 1e9;
    const size_t few = compute(p, whole);
    p->v_cycle.transfer.launch_s = 1e-9;
    const size_t many = compute(p, pieces);
    const size_t steps = 2 * (size_t)p->hierarchy.levels; /* of transfers; the meshes' sums have two more */
    assert_true(few >= steps + 2 && many >= few + 3 * steps);
    assert_memory_equal(whole, pieces, bytes);
    free(whole);
    free(pieces);
    end_problem(p);
}

/* ---- Charges --------------------------------------------------------------------------------- */

enum { IONS = 30000 };
static const double ion_edge_A = 67;

/* As many atoms and charges as water has, anywhere. */
static void make_ions(double (*position_A)[3], double *charge_e)
{
    unsigned seed = 11;
    for (int i = 0; i < IONS; i++) {
        for (int axis = 0; axis < 3; axis++)
            position_A[i][axis] = ion_edge_A * rand_r(&seed) / RAND_MAX;
        charge_e[i] = i % 3 == 0 ? -0.834 : 0.417;
    }
}

/* What the nodes' charges sum to. */
static double sum_charges(const hierarchy *h, const spread *s)
{
    const int64_t *n = h->level[0].n;
    const coordinate_table array = {.n = {n[0], n[1], n[2]}, .pitch = {n[0], n[1]}};
    const size_t count = (size_t)(n[0] * n[1] * n[2]), bytes = count * sizeof(float);
    const transfer_wish wish = {.window = h->window, .along_axes = true, .nodes_per_point = {1, 1, 1}};
    transfer_kernels kernels;
    transfer_meshes meshes;
    transfer_atoms atoms = {.count = 0};
    results charges;
    arena memory = {.device = device};
    flight f = {.device = device};
    command_sequence w = {.flight = NULL};
    ley_error error = {0};
    double sum = 0;
    assert_ok(transfer_kernels_create(device, &wish, &kernels, &error));
    assert_ok(transfer_meshes_create(&meshes, &kernels, h, &array, &memory, &error));
    assert_ok(transfer_atoms_create(&atoms, s, &memory, &error));
    assert_ok(arena_results(&memory, (int64_t)bytes, &charges, &error));
    sequence_begin(&w, &f, NULL);
    sequence_fill(&w, charges.buffer, 0, 0, bytes);
    transfer_anterpolate(&w, &meshes, &atoms, (buffer_of_float){charges.buffer});
    sequence_read(&w, charges.buffer, 0, charges.staging, bytes);
    assert_ok(sequence_finish(&w, &error));
    for (size_t i = 0; i < count; i++)
        sum += (double)((const float *)charges.staging->bytes)[i];
    sequence_end(&w);
    arena_clear(&memory);
    transfer_kernels_destroy(&kernels);
    return sum;
}

/* Neutral matter stays neutral: what a float sum loses of the smallest weights would be 1e-9 e of
 * an atom, and a potential of its own in a box of a million of them. */
static void test_neutral_matter(void **state)
{
    const double high_A[3] = {ion_edge_A, ion_edge_A, ion_edge_A};
    const hierarchy_options o = {.splitting = SPLITTING_PSWF,
                                 .window = WINDOW_BSPLINE8,
                                 .solver = HIERARCHY_FOURIER,
                                 .cutoff_A = 8,
                                 .spacing_A = 1};
    hierarchy h = {.levels = 0};
    spread s;
    ley_error error = {0};
    double(*position_A)[3] = malloc(IONS * sizeof *position_A), *charge_e = malloc(IONS * sizeof *charge_e);
    make_ions(position_A, charge_e);
    assert_ok(cell_make(o.periodic, o.cell_A, &h.cell, &error));
    assert_ok(hierarchy_make(&o, (const double[3]){0, 0, 0}, high_A, &h, &error));
    assert_ok(spread_make(&h, IONS, position_A[0], charge_e, NULL, &s, &error));
    const double sum_e = sum_charges(&h, &s);
    print_message("%d neutral atoms have %.2g e on the mesh\n", IONS, sum_e);
    assert_true(fabs(sum_e) < 3e-10 * IONS);
    spread_clear(&s);
    free(position_A);
    free(charge_e);
}

/* At level quick further devices get the cycle alone. */
static int run(const char *selector, const ley_device_info *info)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_cycle),
                                              cmocka_unit_test(test_pieces),
                                              cmocka_unit_test(test_neutral_matter),
                                              cmocka_unit_test(test_every_window),
                                              cmocka_unit_test(test_work_groups),
                                              cmocka_unit_test(test_short_vectors),
                                              cmocka_unit_test(test_other_spacings_build_nothing),
                                              cmocka_unit_test(test_without_doubles)};
    if (!support_open(selector, info->name, &engine))
        return 1;
    device = engine->workers[0].device;
    support_fresh_cache();
    const size_t all = sizeof tests / sizeof tests[0], count = support_is_quick() && info->index != 0 ? 1 : all;
    const int failures = _cmocka_run_group_tests(info->name, tests, count, NULL, NULL);
    ley_engine_destroy(engine);
    return failures;
}

/* The kernels of the smallest window alone, by their self-tests, for Oclgrind: `kernel` is vectors,
 * groups or points. */
static int run_small(const char *selector, const char *kernel)
{
    ley_error error = {0};
    transfer_kernels kernels;
    const transfer_wish wish = {.window = window_get(WINDOW_NODAL3),
                                .along_axes = strcmp(kernel, "points") != 0,
                                .nodes_per_point = {0.4, 0.6, 0.5},
                                .has_levels = true,
                                .width = strcmp(kernel, "groups") == 0 ? 1 : 8};
    if (!support_open(selector, selector, &engine))
        return 1;
    const ley_status status = transfer_kernels_create(engine->workers[0].device, &wish, &kernels, &error);
    if (status != LEY_OK)
        fprintf(stderr, "%s\n", error.message);
    else
        transfer_kernels_destroy(&kernels);
    ley_error_clear(&error);
    ley_engine_destroy(engine);
    return status != LEY_OK;
}

/* Without arguments on each device; else a device and which kernels. */
int main(int argc, char **argv)
{
    static const struct CMUnitTest tables[] = {cmocka_unit_test(test_atoms_in_bins), cmocka_unit_test(test_places),
                                               cmocka_unit_test(test_places_by_plane),
                                               cmocka_unit_test(test_places_that_are_too_many)};
    if (argc == 3)
        return run_small(argv[1], argv[2]);
    return cmocka_run_group_tests_name("tables", tables, NULL, NULL) + support_on_each_device(run);
}
