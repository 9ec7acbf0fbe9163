/* Faults in what is made for long waves: their charges, on the host or by the device, the waves
 * themselves, and their way to the device. Calls between the library's files go through this
 * program first (the linker's --wrap), which does some of them wrongly; kernels are right all the
 * while. Each fault must be the end of the job, with a reason: never a map. */
#include "support.h"

#include "engine/engine.h"
#include "long_range/fourier/device_long_wavelengths.h"
#include "long_range/fourier/influence_kernel.h"
#include "verify/verification.h"

/* ---- The faults ------------------------------------------------------------------------------ */

#define FAULTS(X) \
    X(NO_CHARGES, "all charges of long waves are 0") \
    X(CHARGES_SLIGHT, "all charges by 1e-3") \
    X(CHARGES_TWICE, "all charges are there twice") \
    X(CHARGES_A_NODE_FURTHER, "all charges are a node further") \
    X(CHARGES_LACK_PLANES, "planes in the middle have no charges") \
    X(CHARGES_OF_OTHER_AXES, "charges along x and z exchanged") \
    X(A_CHARGE_MORE, "a node has a charge that nobody has") \
    X(CHARGES_OF_NOBODY, "a node's charge is no number") \
    X(NO_WAVES, "all long waves are 0") \
    X(WAVES_SLIGHT, "all long waves by 1e-3") \
    X(WAVES_CONJUGATE, "long waves go the other way") \
    X(A_WAVE_TWICE, "a long wave is doubled") \
    X(WAVES_ONE_OFF, "long waves are one off along x") \
    X(ROWS_EXCHANGED, "rows of waves along y have each other's places") \
    X(PLANES_EXCHANGED, "planes of waves along z have each other's places") \
    X(A_ROW_LOST, "a row of long waves is 0") \
    X(NO_NUMBER, "a long wave is no number") \
    X(NOT_SENT, "the device gets no long waves")

#define FAULT_NAME(name, what) name,
typedef enum fault { NONE, FAULTS(FAULT_NAME) FAULT_COUNT } fault;
#define FAULT_ROW(name, what) what,
static const char *const what[] = {"nothing", FAULTS(FAULT_ROW)};

static fault in_force;

/* Every call of F from one file of the library to another comes to `wrapped_F` in its place;
 * `right_F` is F itself. */
#define WRAPPED(type, name, ...) \
    type right_##name(__VA_ARGS__) __asm__("__real_" #name); \
    type wrapped_##name(__VA_ARGS__) __asm__("__wrap_" #name); \
    type wrapped_##name(__VA_ARGS__)

/* A device whose values are wrong loses what it has in the cache: here kernels are right. */
WRAPPED(void, kernels_distrust, dev *device)
{
    (void)right_kernels_distrust;
}

/* What steps should have made is asked of the judge, who makes no mistakes here. */
WRAPPED(ley_status, long_range_potential, const hierarchy *h, size_t n, const double *position_A,
        const double *charge_e, double r_min_A, size_t count, const double *point_A, double *far, double *near,
        ley_error *error)
{
    const fault kept_fault = in_force;
    in_force = NONE;
    const ley_status status =
        right_long_range_potential(h, n, position_A, charge_e, r_min_A, count, point_A, far, near, error);
    in_force = kept_fault;
    return status;
}

static void exchange_axes(long_charges *c)
{
    const int64_t *n = c->n, edge = n[0] < n[2] ? n[0] : n[2];
    for (int64_t y = 0; y < n[1]; y++)
        for (int64_t z = 0; z < edge; z++)
            for (int64_t x = 0; x < z; x++) {
                double *one = &c->values_e[(z * n[1] + y) * n[0] + x], *other = &c->values_e[(x * n[1] + y) * n[0] + z];
                const double former = *one;
                *one = *other;
                *other = former;
            }
}

static void spoil_charges(long_charges *c)
{
    const int64_t plane = c->n[0] * c->n[1], count = plane * c->n[2], middle = count / 2 + plane / 2;
    const double factor = in_force == NO_CHARGES       ? 0
                          : in_force == CHARGES_SLIGHT ? 1.001
                          : in_force == CHARGES_TWICE  ? 2
                                                       : 1;
    for (int64_t i = 0; i < count; i++)
        c->values_e[i] *= factor;
    if (in_force == CHARGES_A_NODE_FURTHER)
        memmove(c->values_e + 1, c->values_e, (size_t)(count - 1) * sizeof *c->values_e);
    if (in_force == CHARGES_LACK_PLANES)
        memset(c->values_e + c->n[2] / 2 * plane, 0, (size_t)(2 * plane) * sizeof *c->values_e);
    if (in_force == CHARGES_OF_OTHER_AXES)
        exchange_axes(c);
    c->values_e[middle] += in_force == A_CHARGE_MORE ? 1 : in_force == CHARGES_OF_NOBODY ? (double)NAN : 0;
}

WRAPPED(ley_status, long_charges_make, const hierarchy *h, size_t atoms, const double *position_A,
        const double *charge_e, const atomic_bool *cancelled, long_charges *made, ley_error *error)
{
    const ley_status status = right_long_charges_make(h, atoms, position_A, charge_e, cancelled, made, error);
    if (status == LEY_OK)
        spoil_charges(made);
    return status;
}

WRAPPED(ley_status, device_long_run, const device_long *kernels, arena *memory, const hierarchy *h,
        const device_atoms *atoms, long_charges *made, const char **declined, ley_error *error)
{
    const ley_status status = right_device_long_run(kernels, memory, h, atoms, made, declined, error);
    if (status == LEY_OK && made->values_e != NULL)
        spoil_charges(made);
    return status;
}

static void exchange(float (*one)[2], float (*other)[2], int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        for (int part = 0; part < 2; part++) {
            const float former = one[i][part];
            one[i][part] = other[i][part];
            other[i][part] = former;
        }
}

static void spoil_waves(long_wavelengths *w)
{
    const int64_t row = w->most[0] + 1, plane = row * (2 * w->most[1] + 1), count = plane * (2 * w->most[2] + 1);
    const float factor = in_force == NO_WAVES ? 0 : in_force == WAVES_SLIGHT ? 1.001f : 1;
    for (int64_t i = 0; i < count; i++) {
        w->values[i][0] *= factor;
        w->values[i][1] *= in_force == WAVES_CONJUGATE ? -factor : factor;
    }
    float(*const second)[2] = w->values + 1;
    (*second)[0] *= in_force == A_WAVE_TWICE ? 2 : 1;
    (*second)[1] *= in_force == A_WAVE_TWICE ? 2 : 1;
    if (in_force == WAVES_ONE_OFF)
        memmove(w->values + 1, w->values, (size_t)(count - 1) * sizeof *w->values);
    if (in_force == ROWS_EXCHANGED) /* 1 and -1 */
        for (int64_t z = 0; z < count / plane; z++)
            exchange(w->values + z * plane + row, w->values + z * plane + 2 * w->most[1] * row, row);
    if (in_force == PLANES_EXCHANGED)
        exchange(w->values + plane, w->values + count - plane, plane);
    if (in_force == A_ROW_LOST)
        memset(w->values + row, 0, (size_t)row * sizeof *w->values);
    if (in_force == NO_NUMBER)
        (*second)[0] = NAN;
}

WRAPPED(ley_status, long_wavelengths_make, const hierarchy *h, const int64_t n[3], const long_charges *charges,
        const atomic_bool *cancelled, long_wavelengths *made, ley_error *error)
{
    const ley_status status = right_long_wavelengths_make(h, n, charges, cancelled, made, error);
    if (status == LEY_OK)
        spoil_waves(made);
    return status;
}

WRAPPED(void, influence_send_long, command_sequence *w, const influence_waves *waves, const long_wavelengths *longs)
{
    if (in_force != NOT_SENT)
        right_influence_send_long(w, waves, longs);
    else /* what some other job may have left there */
        sequence_fill(w, waves->long_wavelengths.buffer, 0, 0,
                      (size_t)long_wavelengths_count(longs) * sizeof *longs->values);
}

/* ---- Who sees them --------------------------------------------------------------------------- */

static ley_engine *engine;
static ley_atoms *atoms;

static const ley_grid points = {.origin_A = {1, 2, 3}, .step_A = LEY_STEPS(1.7, 1.9, 2), .n = {19, 16, 13}};

typedef struct whose {
    const char *name, *by;
    bool is_periodic;
    int first; /* at level quick every so-manieth fault is tried, from here on */
} whose;

enum { EACH = 6 };

static bool is_wanted(const whose *p, int f)
{
    const char *only = getenv("TEST_FAULT");
    return only != NULL ? strstr(what[f], only) != NULL : !support_is_quick() || f % EACH == p->first;
}

static ley_status run(const whose *p, ley_accuracy *accuracy, ley_error *error)
{
    const ley_decision decisions[] = {{.name = "method", .value = "msm"},
                                      {.name = "binning", .value = "host"},
                                      {.name = "long_waves_by", .value = p->by}};
    static const double oblique_A[3][3] = {{36, 0, 0}, {5, 35, 0}, {-4, 3, 37}};
    ley_map *map;
    ley_job *job;
    ley_long_range r = support_default_long_range();
    r.cutoff_A = 12.8;
    r.spacing_A = 1.6;
    r.splitting = LEY_SPLITTING_PSWF;
    r.window = LEY_WINDOW_BSPLINE6;
    r.solver = LEY_SOLVER_FOURIER;
    r.long_waves_per_A = 0.5;
    for (int axis = 0; axis < 3; axis++)
        r.periodic[axis] = p->is_periodic;
    memcpy(r.cell_A, oblique_A, sizeof r.cell_A);
    ley_run_options o = support_default_run_options();
    o.decisions = decisions;
    o.decision_count = sizeof decisions / sizeof *decisions;
    assert_ok_at(ley_map_create(&points, &map, error), error, "a map", __FILE__, __LINE__);
    assert_ok_at(ley_job_create_long_range(engine, atoms, (ley_target){.map = map}, &r, &o, &job, error), error,
                 p->name, __FILE__, __LINE__);
    const ley_status status = ley_job_run(job, error);
    *accuracy = ley_job_report(job)->accuracy;
    if (status == LEY_OK)
        assert_string_equal(ley_report_note(ley_job_report(job), "long_waves_by")->text, p->by);
    ley_job_destroy(job);
    ley_map_destroy(map);
    return status;
}

static void find_all(void **state)
{
    const whose *p = *state;
    ley_accuracy accuracy;
    ley_error error = {0};
    int missed = 0;
    if (strcmp(p->by, "device") == 0 && !ley_engine_device(engine, 0)->has_double)
        skip();
    in_force = NONE;
    assert_ok(run(p, &accuracy, &error));
    for (int f = NONE + 1; f < FAULT_COUNT; f++) {
        if (!is_wanted(p, f))
            continue;
        in_force = (fault)f;
        const ley_status status = run(p, &accuracy, &error);
        in_force = NONE;
        if (getenv("TEST_VERBOSE") != NULL)
            print_message("%s: %s: %s: %s\n", p->name, what[f], ley_status_name(status), error.message);
        if (status != LEY_ERROR_WRONG_RESULT || error.message[0] == '\0') {
            print_error("%s: %s: %s, off by %.2g, at most %.2g is right\n", p->name, what[f], ley_status_name(status),
                        accuracy.max_error, accuracy.tolerance);
            missed++;
        }
        ley_error_clear(&error);
    }
    assert_int_equal(missed, 0);
}

static int open_device(void **state)
{
    verification_time_replace(10);
    support_leave_out_second_driver();
    atoms = support_atoms(2000, 0, 33, 5);
    return support_open_default(&engine) ? 0 : 1;
}

static int close_device(void **state)
{
    ley_atoms_destroy(atoms);
    ley_engine_destroy(engine);
    return 0;
}

int main(void)
{
    static whose tried[] = {{"by the host", "host", false, 0},
                            {"by the device", "device", false, 2},
                            {"by the host in a cell", "host", true, 4},
                            {"by the device in a cell", "device", true, 5}};
    enum { PLACES = sizeof tried / sizeof *tried };
    struct CMUnitTest tests[PLACES];
    for (int i = 0; i < PLACES; i++)
        tests[i] = (struct CMUnitTest){tried[i].name, find_all, NULL, NULL, &tried[i]};
    return cmocka_run_group_tests_name("faults of long waves", tests, open_device, close_device);
}
