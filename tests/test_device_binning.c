/* Atoms put into bins on every device of this machine: the same bins as the host's, bit for bit;
 * what a device declines; maps from either's bins. */
#include "support.h"

#include "methods/cutoff/device_binning.h"
#include "methods/cutoff/plan.h"
#include "methods/cutoff/step_costs.h"
#include "schedule/job.h"

static ley_engine *engine; /* of the device under test */
static dev *device;        /* the same one, for calls below the public ones; its worker thread sleeps meanwhile */
static bool fast;          /* worth giving it many atoms */

/* ---- Problems -------------------------------------------------------------------------------- */

static const ley_grid grid = {.n = {37, 26, 31}, .step_A = LEY_STEPS(0.5, 0.55, 0.45), .origin_A = {-7.3, 1000.1, 0}};

/* Atoms in and around the grid, one in seven without charge, and `clustered` of them within a
 * small ball. */
static ley_atoms *scatter(size_t n, size_t clustered, double beyond_A, unsigned seed)
{
    double *position_A = calloc(4 * n, sizeof(double)), *charge_e = position_A + 3 * n;
    assert_non_null(position_A);
    for (size_t i = 0; i < n; i++) {
        for (int axis = 0; axis < 3; axis++) {
            const double length_A = (double)(grid.n[axis] - 1) * grid.step_A[axis][axis];
            const double at_A = i < clustered ? 0.4 * length_A + 0.01 * support_uniform(&seed)
                                              : (length_A + 2 * beyond_A) * support_uniform(&seed) - beyond_A;
            position_A[3 * i + (size_t)axis] = grid.origin_A[axis] + at_A;
        }
        charge_e[i] = i % 7 == 2 ? 0 : 2 * support_uniform(&seed) - 1;
    }
    ley_atoms *atoms = support_make_atoms(n, position_A, charge_e, NULL);
    free(position_A);
    return atoms;
}

static ley_short_range range_of(ley_pair pair, int depth, double fill)
{
    support_options o = support_default_options();
    ley_short_range range = o.short_range;
    range.pair = pair;
    range.cutoff_A = 5;
    range.bin_depth = depth;
    range.bin_fill = fill;
    return range;
}

static int64_t kept[2]; /* planes whose bins are made; 0, 0: all */

static void problem_of(const ley_atoms *atoms, const ley_grid *l, const ley_short_range *range, cutoff_problem *p)
{
    ley_error error = {0};
    assert_ok(cutoff_problem_init(p, atoms, l, range, 332.0636, 1, 0.05, &error));
    binning_options o = p->plan.options;
    memcpy(o.planes, kept, sizeof kept);
    assert_ok(binning_prepare(p->atoms, &p->grid, &o, &p->plan, &error));
}

/* ---- The same bins --------------------------------------------------------------------------- */

static void assert_holds(dev_buffer *buffer, size_t offset, const void *right, size_t bytes)
{
    ley_error error = {0};
    dev_staging *staging = NULL;
    dev_event *done = NULL;
    const dev_backend *b = device->backend;
    if (bytes == 0)
        return;
    assert_ok(b->staging_create(device, bytes, &staging, &error));
    assert_ok(b->read(device, buffer, offset, staging, bytes, NULL, &done, &error));
    assert_ok(b->wait(device, done, NULL, &error));
    assert_memory_equal(staging->bytes, right, bytes);
    b->staging_destroy(device, staging);
}

/* The device's bins against the host's; how many atoms overflow. */
static int64_t assert_same_bins(const ley_atoms *atoms, const ley_grid *l, const ley_short_range *range)
{
    ley_error error = {0};
    cutoff_problem p;
    buffer_of_atom slots = {NULL};
    buffer_of_int extra = {NULL};
    device_bins counts;
    arena memory = {.device = device};
    problem_of(atoms, l, range, &p);
    device_binning kernels;
    device_binning_create(device, &kernels);
    assert_ok(device_binning_run(&memory, &kernels, &p, &slots, &extra, NULL, &counts, &error));
    device_binning_destroy(&kernels);
    if (counts.declined != NULL)
        fail_msg("declined: %s", counts.declined);
    assert_ok(cutoff_problem_bin(&p, &error));
    const binned_atoms *b = p.binned;
    const size_t bytes = (size_t)(b->bins * b->depth) * sizeof *b->slot;
    assert_int_equal(counts.bins, b->bins);
    assert_int_equal(counts.binned, b->binned);
    assert_int_equal(counts.overflow, b->overflow);
    assert_int_equal(counts.outside, b->outside);
    assert_int_equal(counts.neutral, b->neutral);
    assert_int_equal(counts.extra_bins, b->extra_bins);
    assert_true((extra.buffer != NULL) == (b->overflow > 0));
    assert_non_null(slots.buffer);
    assert_holds(slots.buffer, 0, b->slot, bytes);
    if (extra.buffer != NULL) {
        assert_holds(slots.buffer, bytes, b->extra_slot, (size_t)(b->extra_bins * b->depth) * sizeof *b->slot);
        for (int64_t bin = 0; bin <= b->bins; bin++)
            b->extra_first[bin] += (int32_t)b->bins;
        assert_holds(extra.buffer, 0, b->extra_first, ((size_t)b->bins + 1) * sizeof *b->extra_first);
    }
    arena_clear(&memory);
    const int64_t overflow = b->overflow;
    cutoff_problem_clear(&p);
    return overflow;
}

static void assert_declined(const ley_atoms *atoms, const ley_short_range *range, const char *why)
{
    ley_error error = {0};
    cutoff_problem p;
    buffer_of_atom slots = {NULL};
    buffer_of_int extra = {NULL};
    device_bins counts;
    arena memory = {.device = device};
    problem_of(atoms, &grid, range, &p);
    device_binning kernels;
    device_binning_create(device, &kernels);
    assert_ok(device_binning_run(&memory, &kernels, &p, &slots, &extra, NULL, &counts, &error));
    device_binning_destroy(&kernels);
    assert_non_null(counts.declined);
    assert_string_equal(counts.declined, why);
    assert_true(slots.buffer == NULL && extra.buffer == NULL && memory.holdings == NULL && memory.taken == 0);
    cutoff_problem_clear(&p);
}

static void test_random_boxes(void **state)
{
    static const int depths[] = {1, 3, 8, 8, 16, 33};
    static const double fills[] = {0.5, 0.75, 0.75, 4, 1, 2}; /* 4: most bins overflow */
    int64_t overflow = 0;
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        const ley_short_range range = range_of(LEY_PAIR_SHIFTED, depths[i], fills[i]);
        ley_atoms *atoms = scatter(fast ? 5000 + 77 * i : 600 + 7 * i, 0, 4 * (double)(i % 3), 11 + (unsigned)i);
        overflow += assert_same_bins(atoms, &grid, &range);
        ley_atoms_destroy(atoms);
    }
    assert_true(overflow > 0);
}

/* Atoms also some periods outside of the cell, in cells along one, two and three axes, skewed ones,
 * and one so small that an atom has many images in reach. */
static void test_images(void **state)
{
    static const struct {
        bool periodic[3];
        double cell_A[3][3];
        size_t atoms;
        double fill;
    } cases[] = {
        {{true, false, false}, {{18.5, 0, 0}}, 900, 0.75},
        {{true, true, false}, {{15, 0, 0}, {4, 13, 0}}, 700, 4},
        {{true, true, true}, {{14, 0, 0}, {0, 15, 0}, {0, 0, 13.2}}, 800, 0.75},
        {{true, true, true}, {{14, 0, 0}, {7, 12, 0}, {7, 4, 11}}, 800, 2},
        {{true, true, true}, {{-14, 0, 0}, {5, -12, 1}, {-6, 4, 11}}, 600, 0.75},
        {{true, true, true}, {{5, 0, 0}, {0.6, 5.4, 0}, {0, -0.8, 6.2}}, 9, 0.75},
    };
    int64_t overflow = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ley_short_range range = range_of(LEY_PAIR_SHIFTED, 8, cases[i].fill);
        memcpy(range.periodic, cases[i].periodic, sizeof range.periodic);
        memcpy(range.cell_A, cases[i].cell_A, sizeof range.cell_A);
        ley_atoms *atoms = scatter(cases[i].atoms, 0, 30, 51 + (unsigned)i);
        overflow += assert_same_bins(atoms, &grid, &range);
        ley_atoms_destroy(atoms);
    }
    assert_true(overflow > 0);
}

/* Bins for some planes alone, also at both ends of the grid. */
static void test_planes(void **state)
{
    const int64_t n = grid.n[2], parts[][2] = {{0, 8}, {8, n < 16 ? n : 16}, {(n - 1) / 8 * 8, n}};
    ley_short_range range = range_of(LEY_PAIR_SHIFTED, 8, 0.75);
    ley_atoms *atoms = scatter(900, 0, 8, 23);
    for (size_t i = 0; i < 2 * sizeof parts / sizeof *parts; i++) {
        memcpy(kept, parts[i / 2], sizeof kept);
        range.periodic[2] = i % 2 == 1;
        memcpy(range.cell_A[2], (double[]){1, 2, 14}, sizeof range.cell_A[2]);
        assert_same_bins(atoms, &grid, &range);
    }
    memset(kept, 0, sizeof kept);
    ley_atoms_destroy(atoms);
}

/* Those of the caller's functions that charges multiply. */
static void test_expressions(void **state)
{
    ley_short_range range = range_of(LEY_PAIR_EXPRESSION, 8, 0.75);
    range.expression = "q*(1/r-r2/cutoff^3)";
    ley_atoms *atoms = scatter(600, 0, 4, 17);
    assert_same_bins(atoms, &grid, &range);
    range.expression = "q^2/r";
    assert_declined(atoms, &range, "the pair function is not of charges");
    range.expression = "1/r";
    assert_declined(atoms, &range, "the pair function is not of charges");
    ley_atoms_destroy(atoms);
}

static void test_clusters(void **state)
{
    for (size_t clustered = 6; clustered <= 128; clustered = 2 * clustered + 1) {
        const ley_short_range range = range_of(LEY_PAIR_TAYLOR2, 8, 1);
        ley_atoms *atoms = scatter(700, clustered, 3, (unsigned)clustered);
        const int64_t overflow = assert_same_bins(atoms, &grid, &range);
        assert_true(overflow >= (int64_t)(clustered * 6 / 7) - 8);
        ley_atoms_destroy(atoms);
    }
}

static void test_few_atoms(void **state)
{
    const ley_short_range range = range_of(LEY_PAIR_COULOMB, 8, 0.75);
    const double near_A[] = {-7.3, 1000.1, 0}, far_A[] = {-7.3, 1000.1, 40}, one = 1, none = 0;
    const struct {
        const double *position_A, *charge_e;
    } cases[] = {{near_A, &one}, {far_A, &one}, {near_A, &none}, {far_A, &none}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ley_atoms *atoms = support_make_atoms(1, cases[i].position_A, cases[i].charge_e, NULL);
        assert_int_equal(assert_same_bins(atoms, &grid, &range), 0);
        ley_atoms_destroy(atoms);
    }
    ley_atoms *atoms = scatter(500, 0, 60, 5); /* most of them out of reach */
    assert_same_bins(atoms, &grid, &range);
    ley_atoms_destroy(atoms);
}

/* Where a product that is not rounded, or a comparison the other way round, puts an atom
 * elsewhere. */
static void test_walls(void **state)
{
    ley_error error = {0};
    enum { N = 1200 };
    const ley_grid l = {.n = {30, 30, 30}, .step_A = LEY_STEPS(0.5, 0.5, 0.5)};
    const ley_short_range range = range_of(LEY_PAIR_YUKAWA, 8, 0.75);
    double position_A[3 * N], charge_e[N];
    unsigned seed = 4;
    ley_atoms *atoms = scatter(N, 0, 4, 3);
    cutoff_problem p;
    problem_of(atoms, &l, &range, &p);
    for (int i = 0; i < N; i++) {
        charge_e[i] = 1 - 2 * (i % 2);
        for (int axis = 0; axis < 3; axis++) {
            const double walls[] = {-p.plan.reach_A, 14.5 + p.plan.reach_A,
                                    floor(20 * support_uniform(&seed) - 5) * p.plan.side_A[axis]};
            const double at_A = walls[i % 40 < 4 ? i % 2 : 2];
            position_A[3 * i + axis] = i % 3 == 0 ? at_A : nextafter(at_A, i % 3 == 1 ? 1e9 : -1e9);
        }
    }
    cutoff_problem_clear(&p);
    ley_atoms_destroy(atoms);
    assert_ok(ley_atoms_create(N, position_A, charge_e, NULL, &atoms, &error));
    assert_same_bins(atoms, &l, &range);
    ley_atoms_destroy(atoms);
}

/* ---- Declined -------------------------------------------------------------------------------- */

static void test_declined(void **state)
{
    ley_short_range range = range_of(LEY_PAIR_TAYLOR3, 8, 0.75);
    ley_atoms *atoms = scatter(900, 200, 3, 8);
    assert_declined(atoms, &range, "a bin holds more than 128 atoms");
    ley_atoms_destroy(atoms);
    atoms = scatter(300, 0, 3, 9);
    range = range_of(LEY_PAIR_LENNARD_JONES, 8, 0.75);
    assert_declined(atoms, &range, "the pair function is not of charges");
    range = range_of(LEY_PAIR_COULOMB, 8, 0.75);
    dev_info *info = (dev_info *)(uintptr_t)device->info;
    const dev_info whole = *info;
    info->has_double = false;
    assert_declined(atoms, &range, "it has no double precision");
    *info = whole;
    info->global_bytes = 40000; /* too little for the atoms */
    assert_declined(atoms, &range, "its memory is too small");
    *info = whole;
    info->max_allocation_bytes = 24 * 300; /* enough for the atoms, not for the bins */
    assert_declined(atoms, &range, "its memory is too small");
    *info = whole;
    info->max_groups[0] = 1;
    assert_declined(atoms, &range, "its launches are too small");
    *info = whole;
    ley_atoms_destroy(atoms);
}

/* A kernel with a fault does not pass its test, and the host bins. */
static void test_wrong_kernels(void **state)
{
    static const struct {
        const char *kernel, *from, *to;
    } faults[] = {
        {"link_atoms", "x >= low.x", "x > low.x + 1"},
        {"link_atoms", "charge == 0", "charge == 2"},
        {"link_atoms", "(at_z", "(at_x"},
        {"link_atoms", "- zero, side)", "- zero, side * (1 + 4e-16))"}, /* as if the product were not rounded */
        {"fill_bins", "SORTED - 1]", "SORTED - 2]"},
        {"fill_bins", "= far;", "= *gm_records;"},
        {"fill_bins", "rank < count)", "rank < count - 1)"},
        {"fill_bins", "no such statement", NULL},
    };
    const char *directory = support_directory();
    const ley_short_range range = range_of(LEY_PAIR_COULOMB, 8, 0.75);
    ley_atoms *atoms = scatter(300, 40, 3, 9);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        char command[2048], wrong[256];
        const char *to = faults[i].to != NULL ? faults[i].to : faults[i].from;
        snprintf(wrong, sizeof wrong, "%s/wrong", directory);
        snprintf(command, sizeof command,
                 "rm -rf '%s' && mkdir '%s' && cp -r cl kernels_cuda '%s' && sed -i 's/%s/%s/' '%s/cl/%s.cl'", wrong,
                 wrong, wrong, faults[i].from, to, wrong, faults[i].kernel);
        assert_int_equal(system(command), 0);
        strcat(wrong, "/cl");
        setenv("LEYDEN_KERNEL_DIR", wrong, 1);
        if (faults[i].to != NULL)
            assert_declined(atoms, &range, "its kernels do not build or are wrong there");
        else
            assert_same_bins(atoms, &grid, &range); /* the test sees faults, not the directory */
        unsetenv("LEYDEN_KERNEL_DIR");
    }
    ley_atoms_destroy(atoms);
}

/* ---- Maps ------------------------------------------------------------------------------------ */

typedef struct outcome {
    ley_map *map;
    support_notes report;
    double pairs;
    size_t late; /* devices that were not ready in time */
} outcome;

static outcome compute(ley_engine *on, const ley_atoms *atoms, const ley_short_range *range, ley_place binning)
{
    ley_error error = {0};
    outcome o;
    ley_job *job = NULL;
    support_options options = support_default_options();
    options.method = SUPPORT_CUTOFF;
    options.short_range = *range;
    options.short_range.binning = binning;
    options.verify_points = 50;
    assert_ok(ley_map_create(&grid, &o.map, &error));
    assert_ok(support_job_create(on, atoms, o.map, &options, &job, &error));
    assert_ok(ley_job_run(job, &error));
    o.report = support_notes_of(ley_job_report(job));
    o.pairs = ley_job_report(job)->evaluations;
    o.late = 0;
    for (size_t i = 0; i < ley_job_report(job)->device_count; i++)
        o.late += ley_job_report(job)->devices[i].late != NULL;
    ley_job_destroy(job);
    return o;
}

static void assert_same_maps(const ley_map *a, const ley_map *b)
{
    assert_memory_equal(ley_map_read_values(a), ley_map_read_values(b), (size_t)ley_grid_points(&grid) * sizeof(float));
}

static double count_pairs(const ley_atoms *atoms, double cutoff_A)
{
    double pairs = 0;
    for (size_t i = 0; i < ley_atoms_count(atoms); i++) {
        const double *position_A = ley_atoms_positions_A(atoms) + 3 * i;
        for (int64_t point = 0; ley_atoms_charges_e(atoms)[i] != 0 && point < ley_grid_points(&grid); point++) {
            const int64_t at[3] = {point % grid.n[0], point / grid.n[0] % grid.n[1], point / grid.n[0] / grid.n[1]};
            double r2_A2 = 0;
            for (int axis = 0; axis < 3; axis++)
                r2_A2 += pow(grid.origin_A[axis] + (double)at[axis] * grid.step_A[axis][axis] - position_A[axis], 2);
            pairs += r2_A2 < cutoff_A * cutoff_A;
        }
    }
    return pairs;
}

/* Both ways, on this engine; where the second one's bins are said to be made. */
static void assert_equal_maps(ley_engine *on, const ley_atoms *atoms, ley_short_range range, ley_place expected)
{
    outcome host = compute(on, atoms, &range, LEY_PLACE_HOST), other = compute(on, atoms, &range, LEY_PLACE_DEVICE);
    assert_int_equal(host.report.binning, LEY_PLACE_HOST);
    assert_int_equal(other.report.binning, expected);
    assert_same_maps(host.map, other.map);
    assert_int_equal(other.report.bins, host.report.bins);
    assert_int_equal(other.report.bin_depth, host.report.bin_depth);
    assert_int_equal(other.report.binned, host.report.binned);
    assert_int_equal(other.report.overflow, host.report.overflow);
    assert_int_equal(other.report.outside, host.report.outside);
    assert_int_equal(other.report.neutral, host.report.neutral);
    assert_memory_equal(other.report.bin_side_A, host.report.bin_side_A, sizeof host.report.bin_side_A);
    assert_true(other.report.binning_s > 0 && host.report.binning_s > 0);
    const bool is_counted = other.report.binning == LEY_PLACE_DEVICE && !range.periodic[0];
    const double pairs = is_counted ? count_pairs(atoms, range.cutoff_A) : host.pairs;
    if (fabs(other.pairs / pairs - 1) > (is_counted ? 0.1 : 0.5))
        fail_msg("%g pairs expected, there are %g; host %g", other.pairs, pairs, host.pairs);
    ley_map_destroy(host.map);
    ley_map_destroy(other.map);
}

static void test_maps(void **state)
{
    const size_t n = fast ? 4000 : 500;
    ley_atoms *atoms = scatter(n, 40, 5, 21), *crowd = scatter(n, 200, 5, 22);
    for (int pair = LEY_PAIR_COULOMB; pair <= LEY_PAIR_DISTANCE_DIELECTRIC; pair++)
        assert_equal_maps(engine, atoms, range_of((ley_pair)pair, 8, pair == LEY_PAIR_TAYLOR4 ? 4 : 0.75),
                          LEY_PLACE_DEVICE);
    assert_equal_maps(engine, crowd, range_of(LEY_PAIR_TAYLOR2, 8, 0.75), LEY_PLACE_HOST);
    assert_equal_maps(engine, atoms, range_of(LEY_PAIR_LENNARD_JONES, 8, 0.75), LEY_PLACE_HOST);
    ley_short_range periodic = range_of(LEY_PAIR_TAYLOR2, 8, 0.75);
    periodic.periodic[0] = true;
    periodic.cell_A[0][0] = 18.5;
    assert_equal_maps(engine, atoms, periodic, LEY_PLACE_DEVICE);
    ley_atoms_destroy(atoms);
    ley_atoms_destroy(crowd);
}

static void test_order_of_atoms(void **state)
{
    ley_error error = {0};
    enum { N = 500 };
    ley_atoms *atoms = scatter(N, 40, 4, 31), *turned = NULL;
    double position_A[3 * N], charge_e[N];
    for (int i = 0; i < N; i++) {
        const int from = (i * 123 + 7) % N; /* 123 and 500 have no common divisor */
        memcpy(position_A + 3 * i, ley_atoms_positions_A(atoms) + 3 * from, 3 * sizeof *position_A);
        charge_e[i] = ley_atoms_charges_e(atoms)[from];
    }
    assert_ok(ley_atoms_create(N, position_A, charge_e, NULL, &turned, &error));
    const ley_short_range range = range_of(LEY_PAIR_TAYLOR2, 8, 0.75);
    outcome a = compute(engine, atoms, &range, LEY_PLACE_DEVICE), b = compute(engine, turned, &range, LEY_PLACE_DEVICE),
            again = compute(engine, atoms, &range, LEY_PLACE_DEVICE);
    assert_true(support_difference(b.map, a.map) < 1e-5);
    assert_same_maps(a.map, again.map);
    ley_map_destroy(a.map);
    ley_map_destroy(b.map);
    ley_map_destroy(again.map);
    ley_atoms_destroy(atoms);
    ley_atoms_destroy(turned);
}

/* ---- All devices at once --------------------------------------------------------------------- */

static void test_all_devices_at_once(void **state)
{
    ley_engine *all = NULL;
    ley_error error = {0};
    assert_ok(ley_engine_create("all", &all, &error));
    const size_t devices = ley_engine_device_count(all);
    ley_atoms *atoms = scatter(2000, 40, 5, 41), *crowd = scatter(2000, 200, 5, 42);
    bool all_double = true;
    for (size_t i = 0; i < devices; i++)
        all_double = all_double && ley_engine_device(all, i)->has_double;
    const ley_short_range range = range_of(LEY_PAIR_TAYLOR2, 8, 0.75);
    for (int i = 0; i < 3; i++) {
        outcome a = compute(all, atoms, &range, LEY_PLACE_DEVICE), b = compute(all, crowd, &range, LEY_PLACE_DEVICE);
        if (a.late == 0) /* else it is a matter of those that were there */
            assert_int_equal(a.report.binning, all_double ? LEY_PLACE_DEVICE : LEY_PLACE_HOST);
        assert_int_equal(b.report.binning, LEY_PLACE_HOST);
        ley_map_destroy(a.map);
        ley_map_destroy(b.map);
    }
    ley_atoms_destroy(atoms);
    ley_atoms_destroy(crowd);
    ley_engine_destroy(all);
    if (devices < 2)
        skip();
}

/* Where bins go when nothing is asked for: by predicted cost, on cards beside the host only. */
static void test_plan(void **state)
{
    static const dev_backend nowhere = {.name = "nowhere", .common_options = ""};
    const dev_info card = {.backend = &nowhere, .device_class = DEV_GPU, .has_double = true};
    dev_info infos[2] = {card, card};
    const device_view devices[2] = {{.info = &infos[0]}, {.info = &infos[1]}};
    ley_run_options options = support_default_run_options();
    const job_view job = {.options = &options, .device_count = 2, .devices = devices};
    ley_atoms *few = scatter(1000, 0, 3, 1), *many = scatter(2000000, 0, 3, 1);
    const ley_short_range range = range_of(LEY_PAIR_TAYLOR2, 8, 0.75), radii = range_of(LEY_PAIR_BUCKINGHAM, 8, 0.75);
    cutoff_problem small, large, others;
    problem_of(few, &grid, &range, &small);
    problem_of(many, &grid, &range, &large);
    problem_of(many, &grid, &radii, &others);
    ley_short_range wanted = range;
    costs_plant(&memory_costs, NULL, &memory_costs.bounds[COST_TOUCH].usual_s);
    costs_plant(&binning_costs, NULL, &binning_costs.bounds[0].usual_s);
    assert_int_equal(cutoff_plan_binning(&job, &wanted, &small), LEY_PLACE_HOST);
    const ley_place usual = cutoff_plan_binning(&job, &wanted, &large); /* many cores are sooner */
    costs_plant(&binning_costs, NULL, &binning_costs.bounds[0].most_s);
    assert_int_equal(cutoff_plan_binning(&job, &wanted, &large), LEY_PLACE_DEVICE);
    costs_plant(&device_binning_costs, &card, (double[]){1e-3, 10});
    costs_plant(&binning_costs, NULL, &binning_costs.bounds[0].least_s);
    assert_int_equal(cutoff_plan_binning(&job, &wanted, &large), LEY_PLACE_HOST);
    costs_plant(&binning_costs, NULL, &binning_costs.bounds[0].most_s);
    costs_plant(&device_binning_costs, &card, (double[]){1e-5, 1.2e-5}); /* memory and launches cost next to nothing */
    assert_int_equal(cutoff_plan_binning(&job, &wanted, &small), LEY_PLACE_DEVICE);
    costs_plant(&device_binning_costs, &card, (double[]){1e-2, 1.02e-2}); /* what costs is that it begins */
    assert_int_equal(cutoff_plan_binning(&job, &wanted, &small), LEY_PLACE_HOST);
    assert_int_equal(cutoff_plan_binning(&job, &wanted, &large), LEY_PLACE_DEVICE);
    costs_plant(&binning_costs, NULL, NULL);
    costs_plant(&memory_costs, NULL, NULL);
    large.plan.slot_bytes = (int64_t)1 << 40;
    costs_plant(&device_binning_costs, &card, NULL);
    assert_int_equal(cutoff_plan_binning(&job, &wanted, &large), LEY_PLACE_DEVICE);
    assert_int_equal(cutoff_plan_binning(&job, &wanted, &others), LEY_PLACE_HOST);
    infos[1].has_double = false;
    assert_int_equal(cutoff_plan_binning(&job, &wanted, &large), LEY_PLACE_HOST);
    infos[1] = (dev_info){.backend = &nowhere, .device_class = DEV_CPU, .has_double = true};
    assert_int_equal(cutoff_plan_binning(&job, &wanted, &large), LEY_PLACE_HOST);
    wanted.binning = LEY_PLACE_DEVICE;
    assert_int_equal(cutoff_plan_binning(&job, &wanted, &small), LEY_PLACE_DEVICE);
    assert_int_equal(cutoff_plan_binning(&job, &wanted, &others), LEY_PLACE_HOST);
    assert_true(usual == LEY_PLACE_HOST || usual == LEY_PLACE_DEVICE);
    cutoff_problem_clear(&small);
    cutoff_problem_clear(&large);
    cutoff_problem_clear(&others);
    ley_atoms_destroy(few);
    ley_atoms_destroy(many);
}

static int run_on(const char *selector, const ley_device_info *info)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_boxes),   cmocka_unit_test(test_images),
        cmocka_unit_test(test_planes),         cmocka_unit_test(test_expressions),
        cmocka_unit_test(test_clusters),       cmocka_unit_test(test_few_atoms),
        cmocka_unit_test(test_walls),          cmocka_unit_test(test_declined),
        cmocka_unit_test(test_wrong_kernels),  cmocka_unit_test(test_maps),
        cmocka_unit_test(test_order_of_atoms),
    };
    char group[512];
    snprintf(group, sizeof group, "binning on %s (%s)", info->name, selector);
    if (!info->has_double) {
        print_message("%s has no double precision\n", info->name);
        return 0;
    }
    if (!support_open(selector, info->name, &engine))
        return 1;
    device = engine->workers[0].device;
    fast = strcmp(info->platform, "rusticl") != 0 || info->device_class == LEY_CLASS_GPU;
    const int failures = cmocka_run_group_tests_name(group, tests, NULL, NULL);
    ley_engine_destroy(engine);
    return failures;
}

int main(void)
{
    const struct CMUnitTest together[] = {cmocka_unit_test(test_all_devices_at_once), cmocka_unit_test(test_plan)};
    int failures = support_on_each_device(run_on);
    failures += cmocka_run_group_tests_name("binning on all devices", together, NULL, NULL);
    return failures;
}
