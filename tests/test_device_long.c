/* Charges that devices put into the grid of long waves: against the sums that their waves are,
 * and the host's, in maps as well; what they decline; and who does it where no plan says so.
 *
 * test_device_long DEVICE kernels: the self-tests of its kernels alone, as under Oclgrind. */
#include "support.h"

#include "engine/engine.h"
#include "error.h"
#include "long_range/fourier/device_long_wavelengths.h"
#include "parallel.h"
#include "some_charges.h"

static ley_engine *engine; /* of the device under test */
static dev *device;        /* the same one, for calls below the public ones */
static device_spread lists;
static device_long kernels;

/* By the device: NULL, or why it does not do it. */
static const char *put_on_device(const hierarchy *h, const some_charges *c, size_t atoms, const device_long *by,
                                 long_charges *made)
{
    arena memory = {.device = device};
    device_atoms there = {.n = atoms};
    const char *declined;
    ley_error error = {0};
    assert_ok(arena_upload(&memory, c->position_A, atoms * sizeof *c->position_A, &there.position.buffer, &error));
    assert_ok(arena_upload(&memory, c->charge_e, atoms * sizeof *c->charge_e, &there.charge.buffer, &error));
    const int64_t before = arena_left(&memory);
    assert_ok(device_long_run(by, &memory, h, &there, made, &declined, &error));
    assert_true(arena_left(&memory) == before);
    assert_true((declined == NULL) == (made->values_e != NULL));
    arena_clear(&memory);
    return declined;
}

static void put_charges(const hierarchy *h, const some_charges *c, long_charges *made)
{
    assert_null(put_on_device(h, c, LONG_ATOMS, &kernels, made));
}

static void test_sums(void **state)
{
    some_charges_check(put_charges);
}

static const double own_box_A[3][3] = {{42, 0, 0}, {0, 42, 0}, {0, 0, 42}};

/* The host's but for the order of sums, and the same bytes each time. */
static void test_same_as_host(void **state)
{
    const char *const periodic[] = {"", "yz", "xyz"};
    for (size_t i = 0; i < sizeof periodic / sizeof *periodic; i++) {
        const hierarchy h = some_grid(WINDOW_BSPLINE8, periodic[i], own_box_A, 0.5);
        some_charges *c = some_charges_make(41, i > 1);
        long_charges host, first, again;
        ley_error error = {0};
        c->charge_e[17] = 0; /* atoms that are left out */
        assert_ok(long_charges_make(&h, LONG_ATOMS, c->position_A[0], c->charge_e, NULL, &host, &error));
        assert_null(put_on_device(&h, c, LONG_ATOMS, &kernels, &first));
        assert_null(put_on_device(&h, c, LONG_ATOMS, &kernels, &again));
        const int64_t count = host.n[0] * host.n[1] * host.n[2];
        assert_memory_equal(first.n, host.n, sizeof host.n);
        assert_memory_equal(first.apart, host.apart, sizeof host.apart);
        assert_memory_equal(first.values_e, again.values_e, (size_t)count * sizeof *first.values_e);
        for (int64_t k = 0; k < count; k++)
            assert_true(fabs(first.values_e[k] - host.values_e[k]) < 1e-12);
        long_charges_clear(&host);
        long_charges_clear(&first);
        long_charges_clear(&again);
        free(c);
    }
}

/* Heaps, in which each atom would look at all others; memory that there is none of; kernels that do
 * not work. */
static void test_what_is_declined(void **state)
{
    const hierarchy h = some_grid(WINDOW_BSPLINE8, "", own_box_A, 0.3);
    const dev_info *info = device->info;
    dev_info other = *info;
    some_charges *c = some_charges_make(41, false);
    long_charges made;
    device_long broken = kernels;
    broken.works = false;
    assert_non_null(strstr(put_on_device(&h, c, LONG_ATOMS, &broken, &made), "do not build"));
    device->info = &other;
    other.global_bytes = LONG_ATOMS * 100; /* as much again for the atoms themselves */
    assert_non_null(strstr(put_on_device(&h, c, LONG_ATOMS, &kernels, &made), "memory"));
    other.global_bytes = info->global_bytes;
    other.has_double = false;
    assert_non_null(strstr(put_on_device(&h, c, LONG_ATOMS, &kernels, &made), "double precision"));
    device->info = info;
    free(c);
    enum { HEAP = 17000 };
    double(*position_A)[3] = calloc(HEAP, sizeof *position_A), *charge_e = calloc(HEAP, sizeof *charge_e);
    arena memory = {.device = device};
    device_atoms there = {.n = HEAP};
    const char *declined;
    ley_error error = {0};
    for (int i = 0; i < HEAP; i++) {
        position_A[i][0] = position_A[i][1] = position_A[i][2] = 20 + 1e-5 * i;
        charge_e[i] = 1;
    }
    assert_ok(arena_upload(&memory, position_A, HEAP * sizeof *position_A, &there.position.buffer, &error));
    assert_ok(arena_upload(&memory, charge_e, HEAP * sizeof *charge_e, &there.charge.buffer, &error));
    assert_ok(device_long_run(&kernels, &memory, &h, &there, &made, &declined, &error));
    assert_string_equal(declined, "bins hold too many atoms");
    assert_null(made.values_e);
    there.n = 0;
    assert_ok(device_long_run(&kernels, &memory, &h, &there, &made, &declined, &error));
    assert_non_null(declined);
    arena_clear(&memory);
    free(position_A);
    free(charge_e);
}

/* ---- Drivers that fail ----------------------------------------------------------------------- */

/* The device's own interface, at which one call fails, or does nothing and says that all is well.
 */
typedef enum call { CREATE, STAGE, WRITE, SEND, FILL, LAUNCH, READ, WAIT, CALLS } call;
static const char *const call_names[CALLS] = {"buffer_create", "staging_create", "write", "send",
                                              "fill",          "launch",         "read",  "wait"};
static const dev_backend *driver;
static call striking;
static int strikes_at, calls[CALLS];
static bool leaves_out;
static bool is_empty;       /* memory holds zeros in place of what jobs before have left there */
static dev_buffer *scratch; /* something to do in place of what is left out */

static bool strikes(call of)
{
    return ++calls[of] == strikes_at && of == striking;
}

static ley_status fails(ley_error *error)
{
    return ley_fail(error, LEY_ERROR_DEVICE, "planted");
}

static ley_status does_nothing(dev *d, dev_event **done, ley_error *error)
{
    return leaves_out ? driver->fill(d, scratch, 0, 0, 4, done, error) : fails(error);
}

static ley_status create_or_not(dev *d, size_t bytes, dev_access access, dev_buffer **buffer, ley_error *error)
{
    if (strikes(CREATE))
        return fails(error);
    dev_event *done = NULL;
    ley_status status = driver->buffer_create(d, bytes, access, buffer, error);
    if (status == LEY_OK && is_empty) {
        status = driver->fill(d, *buffer, 0, 0, bytes / 4 * 4, &done, error);
        if (status == LEY_OK)
            status = driver->wait(d, done, NULL, error);
    }
    return status;
}

static ley_status stage_or_not(dev *d, size_t bytes, dev_staging **staging, ley_error *error)
{
    if (strikes(STAGE))
        return fails(error);
    const ley_status status = driver->staging_create(d, bytes, staging, error);
    if (status == LEY_OK && is_empty)
        memset((*staging)->bytes, 0, bytes);
    return status;
}

static ley_status write_or_not(dev *d, dev_buffer *buffer, size_t offset, const void *bytes, size_t size,
                               ley_error *error)
{
    return strikes(WRITE) ? fails(error) : driver->write(d, buffer, offset, bytes, size, error);
}

static ley_status send_or_not(dev *d, dev_buffer *buffer, size_t offset, const dev_staging *staging, size_t from,
                              size_t size, dev_event **done, ley_error *error)
{
    return strikes(SEND) ? fails(error) : driver->send(d, buffer, offset, staging, from, size, done, error);
}

static ley_status fill_or_not(dev *d, dev_buffer *buffer, size_t offset, uint32_t pattern, size_t bytes,
                              dev_event **done, ley_error *error)
{
    return strikes(FILL) ? does_nothing(d, done, error) : driver->fill(d, buffer, offset, pattern, bytes, done, error);
}

static ley_status launch_or_not(dev *d, const dev_launch *launch, dev_event **done, ley_error *error)
{
    return strikes(LAUNCH) ? does_nothing(d, done, error) : driver->launch(d, launch, done, error);
}

static ley_status read_or_not(dev *d, dev_buffer *buffer, size_t offset, dev_staging *staging, size_t size,
                              dev_event *after, dev_event **done, ley_error *error)
{
    return strikes(READ) ? does_nothing(d, done, error)
                         : driver->read(d, buffer, offset, staging, size, after, done, error);
}

static ley_status wait_or_not(dev *d, dev_event *event, dev_times *times, ley_error *error)
{
    const ley_status status = driver->wait(d, event, times, error);
    return strikes(WAIT) && status == LEY_OK ? fails(error) : status;
}

/* What came of it, in one letter: (r)ight, (d)eclined, an (e)rror. */
static char try_with_fault(const hierarchy *h, const device_atoms *there, arena *memory, const long_charges *right)
{
    const int64_t before = arena_left(memory), count = right->n[0] * right->n[1] * right->n[2];
    const char *declined;
    long_charges made;
    ley_error error = {0};
    memset(calls, 0, sizeof calls);
    const ley_status status = device_long_run(&kernels, memory, h, there, &made, &declined, &error);
    assert_true(arena_left(memory) == before);
    assert_true((status == LEY_OK && declined == NULL) == (made.values_e != NULL));
    assert_true(status == LEY_OK || error.message[0] != '\0');
    double off = 0;
    for (int64_t k = 0; k < count && made.values_e != NULL; k++)
        off = fmax(off, isfinite(made.values_e[k]) ? fabs(made.values_e[k] - right->values_e[k]) : INFINITY);
    if (off > 1e-12)
        fail_msg("%s %d %s: off by %g, and nobody says so", call_names[striking], strikes_at,
                 leaves_out ? "is left out" : "fails", off);
    const char found = status != LEY_OK ? 'e' : declined != NULL ? 'd' : 'r';
    long_charges_clear(&made);
    ley_error_clear(&error);
    return found;
}

/* Each call in turn fails, or is left out, on a device whose memory and staging are empty, or still
 * have what jobs before have left there, charges of the same kind: what comes is an error, is
 * declined, or is right. Where there is no memory it is declined. */
static void test_driver_faults(void **state)
{
    static const bool may_be_left_out[CALLS] = {[FILL] = true, [LAUNCH] = true, [READ] = true};
    const hierarchy h = some_grid(WINDOW_BSPLINE8, "xyz", own_box_A, 1.5);
    some_charges *c = some_charges_make(41, true);
    arena memory = {.device = device};
    device_atoms there = {.n = LONG_ATOMS}, others = {.n = LONG_ATOMS};
    long_charges right, other;
    ley_error error = {0};
    assert_ok(long_charges_make(&h, LONG_ATOMS, c->position_A[0], c->charge_e, NULL, &right, &error));
    assert_ok(arena_upload(&memory, c->position_A, sizeof c->position_A, &there.position.buffer, &error));
    assert_ok(arena_upload(&memory, c->charge_e, sizeof c->charge_e, &there.charge.buffer, &error));
    for (int i = 0, k = LONG_ATOMS - 1; i < k; i++, k--)
        for (int axis = 0; axis < 3; axis++) {
            const double former_A = c->position_A[i][axis];
            c->position_A[i][axis] = c->position_A[k][axis];
            c->position_A[k][axis] = former_A;
        }
    assert_ok(arena_upload(&memory, c->position_A, sizeof c->position_A, &others.position.buffer, &error));
    assert_ok(arena_upload(&memory, c->charge_e, sizeof c->charge_e, &others.charge.buffer, &error));
    assert_ok(arena_buffer(&memory, 4, DEV_READ_WRITE, &scratch, &error));
    driver = device->backend;
    dev_backend own = *driver;
    own.buffer_create = create_or_not;
    own.staging_create = stage_or_not;
    own.write = write_or_not;
    own.send = send_or_not;
    own.fill = fill_or_not;
    own.launch = launch_or_not;
    own.read = read_or_not;
    own.wait = wait_or_not;
    strikes_at = 0;
    enum { FAILS, FAILS_EMPTY, OUT, OUT_EMPTY, WAYS };
    int most[CALLS], found[CALLS][WAYS]['r' + 1] = {0};
    device->backend = &own;
    assert_int_equal(try_with_fault(&h, &there, &memory, &right), 'r');
    memcpy(most, calls, sizeof most);
    for (int i = 0; i < CALLS * WAYS; i++) {
        const int of = i / WAYS, way = i % WAYS;
        if (way >= OUT && !may_be_left_out[of])
            continue;
        for (int at = 1; at <= most[of]; at++) {
            const char *declined;
            strikes_at = 0;
            assert_ok(device_long_run(&kernels, &memory, &h, &others, &other, &declined, &error));
            long_charges_clear(&other);
            striking = (call)of;
            strikes_at = at;
            leaves_out = way >= OUT;
            is_empty = way == FAILS_EMPTY || way == OUT_EMPTY;
            found[of][way][(int)try_with_fault(&h, &there, &memory, &right)]++;
            is_empty = false;
        }
    }
    device->backend = driver;
    for (int of = 0; of < CALLS; of++)
        print_message("%s: %d calls; of those that fail %d end with an error and %d are declined\n", call_names[of],
                      most[of], found[of][FAILS]['e'], found[of][FAILS]['d']);
    for (int way = FAILS; way <= FAILS_EMPTY; way++) {
        assert_int_equal(found[CREATE][way]['d'], most[CREATE]);
        assert_true(most[LAUNCH] >= 5 && found[LAUNCH][way]['e'] == most[LAUNCH]);
    }
    /* Memory that is not empty may by luck hold what is left out. */
    assert_int_equal(found[LAUNCH][OUT_EMPTY]['e'], most[LAUNCH]);
    assert_true(most[READ] == 2 && found[READ][OUT_EMPTY]['e'] == 2);
    arena_clear(&memory);
    long_charges_clear(&right);
    free(c);
}

static const ley_grid points = {.origin_A = {1, 2, 3}, .step_A = LEY_STEPS(1.7, 1.9, 2), .n = {19, 16, 13}};

/* A map with long waves by whom the plan says, atoms being binned by whom it says. */
static ley_map *map_of(const ley_atoms *atoms, const char *binning, const char *by, double long_per_A,
                       const char *done_by)
{
    ley_job *job;
    ley_error error = {0};
    const ley_decision decisions[] = {{.name = "method", .value = "msm"},
                                      {.name = "binning", .value = binning},
                                      {.name = "long_waves_by", .value = by}};
    ley_long_range r = support_default_long_range();
    r.cutoff_A = 8;
    r.spacing_A = 1.6;
    r.splitting = LEY_SPLITTING_PSWF;
    r.window = LEY_WINDOW_BSPLINE6;
    r.solver = LEY_SOLVER_FOURIER;
    r.long_waves_per_A = long_per_A;
    ley_run_options run = support_default_run_options();
    run.decision_count = 3;
    run.decisions = decisions;
    ley_map *map = support_make_map(&points);
    assert_ok(ley_job_create_long_range(engine, atoms, (ley_target){.map = map}, &r, &run, &job, &error));
    assert_ok(ley_job_run(job, &error));
    const ley_report *report = ley_job_report(job);
    assert_string_equal(ley_report_note(report, "binning")->text, binning);
    assert_string_equal(ley_report_note(report, "long_waves_by")->text, done_by);
    assert_non_null(ley_report_note(report, "long_waves_waited_s"));
    assert_true((ley_report_note(report, "long_waves_s") != NULL) == (strcmp(done_by, "device") == 0));
    assert_true(report->accuracy.passed);
    ley_job_destroy(job);
    return map;
}

/* Plans say who does it; the maps are the same but for the rounding of some waves, and the same
 * bytes wherever the device has its atoms from. */
static void test_maps(void **state)
{
    ley_atoms *atoms = support_atoms(2000, 0, 33, 5);
    ley_map *host = map_of(atoms, "host", "host", 0.4, "host"), *sent = map_of(atoms, "host", "device", 0.4, "device"),
            *there = map_of(atoms, "device", "device", 0.4, "device");
    const size_t count = (size_t)ley_grid_points(&points);
    const float *right = ley_map_read_values(host), *found = ley_map_read_values(sent);
    for (size_t i = 0; i < count; i++)
        assert_true(fabsf(found[i] - right[i]) < 2e-6f * (1 + fabsf(right[i])));
    assert_memory_equal(found, ley_map_read_values(there), count * sizeof *found);
    ley_map_destroy(host);
    ley_map_destroy(sent);
    ley_map_destroy(there);
    ley_atoms_destroy(atoms);
    atoms = support_atoms(17000, 0, 33, 5); /* all in one bin, so that the host has to do it: few waves, far apart */
    ley_map_destroy(map_of(atoms, "device", "device", 0.03, "host"));
    ley_atoms_destroy(atoms);
}

/* Who does it where no plan says so: cards that are predicted to have done it well before the host.
 * Nothing is asked of processors, of devices without doubles, and of those that interpret. */
static void test_plans(void **state)
{
    static const dev_backend backend = {.name = "none", .source_suffix = "cl", .common_options = ""};
    dev_info card = {.backend = &backend,
                     .device_class = DEV_GPU,
                     .has_double = true,
                     .name = "card",
                     .platform = "p",
                     .driver = "1"},
             slow = card, processor = card, single = card, interpreter = card;
    snprintf(slow.name, sizeof slow.name, "slow");
    processor.device_class = DEV_CPU;
    single.has_double = false;
    interpreter.quirks = DEV_QUIRK_INTERPRETER;
    const double fast_per_s = 1331.0 * 64 * 10 * parallel_cores() / LONG_WAVES_ATOM_S;
    device_view views[2] = {{.info = &card, .is_known = true, .facts.fma_per_s = fast_per_s}};
    const job_view one = {.device_count = 1, .devices = views}, both = {.device_count = 2, .devices = views},
                   none = {.device_count = 0};
    assert_int_equal(device_long_plan(&one, 10000000, true), LEY_PLACE_DEVICE);
    assert_int_equal(device_long_plan(&one, 10, true), LEY_PLACE_HOST); /* to begin takes longer */
    assert_int_equal(device_long_plan(&none, 10000000, true), LEY_PLACE_HOST);
    const dev_info *const others[] = {&processor, &single, &interpreter, &slow};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        views[1] = (device_view){.info = others[i], .is_known = true, .facts.fma_per_s = fast_per_s};
        views[1].facts.fma_per_s /= others[i] == &slow ? 20 : 1;
        assert_int_equal(device_long_plan(&both, 10000000, true), LEY_PLACE_HOST);
    }
    assert_true(device_long_atom_s(&single, NULL) == 0 && device_long_atom_s(&interpreter, NULL) == 0);
    assert_true(device_long_atom_s(&card, NULL) > 0);
}

static int run_all(const char *selector, const ley_device_info *info)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_sums), cmocka_unit_test(test_same_as_host),
                                              cmocka_unit_test(test_what_is_declined),
                                              cmocka_unit_test(test_driver_faults), cmocka_unit_test(test_maps)};
    if (!info->has_double) {
        print_message("%s: no double precision\n", info->name);
        return 0;
    }
    if (!support_open(selector, info->name, &engine))
        return 1;
    device = engine->workers[0].device;
    device_spread_create(device, &lists);
    device_long_create(device, &lists, &kernels);
    int failures = kernels.works ? 0 : 1;
    if (failures == 0)
        failures = _cmocka_run_group_tests(info->name, tests, sizeof tests / sizeof *tests, NULL, NULL);
    else
        print_error("%s: its kernels do not work\n", info->name);
    device_long_destroy(&kernels);
    device_spread_destroy(&lists);
    ley_engine_destroy(engine);
    return failures;
}

static int run_kernels(const char *selector)
{
    if (!support_open(selector, selector, &engine))
        return 1;
    device_spread_create(engine->workers[0].device, &lists);
    device_long_create(engine->workers[0].device, &lists, &kernels);
    const bool works = kernels.works;
    device_long_destroy(&kernels);
    device_spread_destroy(&lists);
    ley_engine_destroy(engine);
    return works ? 0 : 1;
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_plans)};
    if (argc == 3 && strcmp(argv[2], "kernels") == 0)
        return run_kernels(argv[1]);
    const int without = cmocka_run_group_tests(tests, NULL, NULL);
    return without + support_on_each_device(run_all);
}
