/* Long-range maps by two devices: the same bytes as by one; and by one that dies on the way, lies
 * or never ends, beside one that is well, or alone (faulty_opencl/). Each time a right map, or an
 * error that says what went wrong; never a wrong map. */
#include "support.h"
#include "trials.h"

#include "dev_kernel.h"
#include "engine/engine.h"
#include "long_range/solver.h"
#include "parallel.h"

#include <unistd.h>

/* ---- In the child ---------------------------------------------------------------------------- */

enum { ATOMS = 800, SLAB_PLANES = 8 };

/* Several slabs for each device. */
static const ley_grid points = {
    .origin_A = {-1.2, 0.7, -3}, .step_A = LEY_STEPS(0.6, 0.6, 0.3), .n = {40, 36, 12 * SLAB_PLANES}};

static bool is_mixed; /* of transforms: the coarser one of two levels alone */
static bool has_long; /* of transforms: devices put charges into the mesh of long waves */

static ley_long_range options_of(bool by_transforms)
{
    ley_long_range r = support_default_long_range();
    r.cutoff_A = 9.6;
    r.spacing_A = by_transforms && !is_mixed ? 1.6 : 1.2;
    r.levels = by_transforms && !is_mixed ? 0 : 2;
    if (has_long) {
        r.window = LEY_WINDOW_BSPLINE8;
        r.long_waves_per_A = 0.6;
    }
    r.solver = is_mixed ? LEY_SOLVER_MIXED : by_transforms ? LEY_SOLVER_FOURIER : LEY_SOLVER_MULTILEVEL;
    return r;
}

/* A device whose values are wrong would lose what it has in the cache, which the next child would
 * compile again: the linker brings such calls here. */
void keep_kernels(dev *device) __asm__("__wrap_kernels_distrust");
void keep_kernels(dev *device)
{
}

/* The device that believes that its meshes take it long, and so has them from the other one,
 * which they take some seconds: not soon enough to be let go of; NULL: all know what they take. */
static const dev_info *slow;

double right_seconds(const solver *s, size_t atoms) __asm__("__real_solver_seconds");
double seconds(const solver *s, size_t atoms) __asm__("__wrap_solver_seconds");
double seconds(const solver *s, size_t atoms)
{
    const double right_s = right_seconds(s, atoms);
    return slow != NULL && solver_kernels(s)->device->info == slow ? 1000 * (right_s + 1) : right_s;
}

/* Direct sums over meshes have the same bytes whoever made them: without a fault they must be
 * right, and with one they must be the same, which a number tells. Transforms are with tables or
 * without, whichever a device measured to be faster: such maps are compared themselves. */
static int judge(const ley_map *map, const ley_atoms *atoms, bool by_transforms)
{
    const unsigned char *bytes = (const unsigned char *)ley_map_read_values(map);
    uint64_t sum = 0xcbf29ce484222325u;
    for (size_t i = 0; i < (size_t)ley_grid_points(&points) * sizeof(float); i++)
        sum = (sum ^ bytes[i]) * 0x100000001b3u;
    if (!by_transforms)
        printf("map %016llx\n", (unsigned long long)sum);
    if (!by_transforms && strstr(getenv("FAULTY_OPENCL"), "call=none") == NULL)
        return TRIAL_RIGHT;
    ley_map *reference = support_reference_map(atoms, &points, 0.05);
    const double difference = support_difference(map, reference);
    ley_map_destroy(reference);
    printf("off by %.2g\n", difference);
    return difference < 2e-4 ? TRIAL_RIGHT : TRIAL_BROKEN;
}

/* What is predicted changes from child to child, by what their jobs have cost. */
static const ley_decision decided[] = {{.name = "method", .value = "msm"},
                                       {.name = "binning", .value = "host"},
                                       {.name = "long_waves_by", .value = "device"}};

static ley_status compute(ley_engine *engine, const ley_atoms *atoms, ley_map *map, bool by_transforms,
                          ley_error *error)
{
    const ley_long_range r = options_of(by_transforms);
    ley_job *job = NULL;
    ley_run_options run = support_default_run_options();
    run.slab_planes = SLAB_PLANES;
    run.decisions = decided;
    run.decision_count = sizeof decided / sizeof *decided;
    ley_status status = ley_job_create_long_range(engine, atoms, (ley_target){.map = map}, &r, &run, &job, error);
    if (status == LEY_OK)
        status = ley_job_run(job, error);
    for (size_t i = 0; job != NULL && i < ley_job_report(job)->device_count; i++) {
        const ley_device_report *d = &ley_job_report(job)->devices[i];
        printf("device %zu: %lld points, %s\n", i, (long long)d->points, d->failure != NULL ? d->failure : "well");
    }
    for (size_t i = 0; job != NULL && i < ley_job_report(job)->stage_count; i++) {
        const ley_stage_report *s = &ley_job_report(job)->stages[i];
        if (s->from != s->device)
            printf("device %zu borrows from %zu\n", s->device, s->from);
    }
    ley_job_destroy(job);
    return status;
}

/* Whether the selector begins with this word, which is taken off. */
static bool take_word(const char **selector, const char *word)
{
    const bool has = strncmp(*selector, word, strlen(word)) == 0;
    *selector += has ? strlen(word) : 0;
    return has;
}

/* The selector begins with "fft " where it is to be by transforms, "fft long " where with long
 * waves, "fft mixed " where by both; before that with "borrow 0 " or "borrow 1 "
 * where that device is to have its meshes from the other one. */
static int child(const char *selector, double patience_factor)
{
    const int borrower = take_word(&selector, "borrow 0 ") ? 0 : take_word(&selector, "borrow 1 ") ? 1 : -1;
    const watch_patience patience = trial_patience(patience_factor);
    const bool by_transforms = take_word(&selector, "fft ");
    is_mixed = take_word(&selector, "mixed ");
    has_long = take_word(&selector, "long ");
    ley_atoms *atoms = support_atoms(ATOMS, 0, 21, 7);
    ley_engine *engine = NULL;
    ley_map *map = NULL;
    ley_error error = {0};
    watch_patience_replace(&patience);
    ley_status status = ley_map_create(&points, &map, &error);
    if (status == LEY_OK)
        status = ley_engine_create(selector, &engine, &error);
    if (status == LEY_OK && borrower >= 0)
        slow = engine->workers[borrower].info;
    if (status == LEY_OK)
        status = compute(engine, atoms, map, by_transforms, &error);
    int code = status == LEY_OK ? judge(map, atoms, by_transforms) : ley_status_exit_code(status);
    if (status != LEY_OK)
        printf("%s: %s\n", ley_status_name(status), error.message);
    if (status != LEY_OK && (code < 3 || code > 5 || error.message[0] == '\0'))
        code = TRIAL_BROKEN;
    ley_map_destroy(map);
    ley_engine_destroy(engine);
    ley_atoms_destroy(atoms);
    fflush(stdout);
    if (ley_driver_is_stuck())
        _exit(code);
    return code;
}

/* ---- In the parent --------------------------------------------------------------------------- */

static char right_bytes[24]; /* of the map by one device */

static bool is_by_transforms(const trial *t)
{
    return strstr(t->selector, "fft ") != NULL;
}

static const char *map_of(const trial_outcome *o)
{
    const char *at = strstr(o->says, "map ");
    return at != NULL ? at + 4 : "";
}

static bool has_right_bytes(const trial_outcome *o)
{
    if (right_bytes[0] == '\0')
        snprintf(right_bytes, sizeof right_bytes, "%.16s", map_of(o));
    return strncmp(map_of(o), right_bytes, 16) == 0;
}

/* On more cores than this a device may have done the whole map by itself before another one is
 * ready. */
enum { FEW_CORES = 4 };

static int borrowed; /* trials whose map is right, and in which a device has borrowed */

/* What is right has the same bytes, whoever made it; by transforms the child has compared it. */
static bool is_right(const trial *t, const trial_outcome *o)
{
    borrowed += strstr(o->says, " borrows from ") != NULL && o->code == TRIAL_RIGHT;
    const bool is_alone =
        strcmp(t->selector, "0") == 0 || strcmp(t->selector, "fft 0") == 0 || strcmp(t->selector, "fft long 0") == 0;
    return o->code == TRIAL_RIGHT ? is_by_transforms(t) || has_right_bytes(o)
                                  : is_alone && o->code >= 3 && o->code <= 5;
}

/* A processor that is not given its tables reads and writes anywhere in this process, which may be
 * the end of it: by a signal, which the address sanitizer takes and says so. */
static bool is_right_or_ended(const trial *t, const trial_outcome *o)
{
    return o->code == -1 || strstr(o->says, "AddressSanitizer: SEGV") != NULL || is_right(t, o);
}

static void try_case(const char *call, const char *fault, int at, const char *more, const char *selector)
{
    trial *t = trials_add(call, fault, at, more);
    t->selector = selector;
    t->is_right = is_right;
}

/* By one, and then kernels are in the caches; and by two, who share the slabs. */
static void test_two_are_as_one(void **state)
{
    static const char *const selectors[] = {"0", "fft 0", "all", "fft all", "fft mixed all", "fft long all", "1"};
    for (size_t i = 0; i < sizeof selectors / sizeof *selectors; i++) {
        try_case("none", "none", 1, "", selectors[i]);
        assert_int_equal(trials_run(), 1);
    }
    assert_true(right_bytes[0] != '\0');
}

/* By two, one of which has its meshes from the other one; the first one lies, dies or leaves
 * out. */
static void test_borrowed_meshes(void **state)
{
    static const char *const selectors[] = {"borrow 1 all", "borrow 0 all", "borrow 1 fft all",
                                            "borrow 0 fft mixed all"};
    borrowed = 0;
    for (int i = 0; i < 4; i++) {
        try_case("none", "none", 1, "", selectors[i]);
        assert_int_equal(trials_run(), 1);
    }
    const bool is_too_fast = borrowed == 0 && parallel_cores() > FEW_CORES;
    if (borrowed == 0 && !is_too_fast)
        fail_msg("no device has borrowed anything");
    for (int i = 0; i < (support_is_quick() ? 2 : 4); i++) { /* transforms are compiled for each trial */
        try_case("clEnqueueReadBuffer", "garbage", 1, ",ever=1", selectors[i]);
        try_case("clEnqueueReadBuffer", "fail", 1, "", selectors[i]);
        try_case("clEnqueueReadBuffer", "hang", 1, "", selectors[i]);
        for (int at = 2; at <= 18; at += support_is_quick() ? 9 : 2) {
            try_case("clEnqueueNDRangeKernel", "fail", at, ",ever=1", selectors[i]);
            try_case("clEnqueueNDRangeKernel", "skip", at, "", selectors[i]);
        }
    }
    trials_run();
    if (is_too_fast) {
        print_message("on %d cores one device is done before the other one could borrow\n", parallel_cores());
        skip();
    }
}

static void expect_none_wrong(void)
{
    const int tried = trials_count(), unstruck = trials_run();
    assert_true(unstruck <= tried / 2);
}

/* Its launches fail from some time on: binning, each step of the cycle, slabs. */
static void test_one_dies(void **state)
{
    for (int at = 1; at <= 19; at += support_is_quick() ? 6 : 1) {
        try_case("clEnqueueNDRangeKernel", "fail", at, ",ever=1", "all");
        if (!support_is_quick() || at == 13)
            try_case("clEnqueueNDRangeKernel", "fail", at, ",ever=1", "fft all");
        if (!support_is_quick() || at == 7)
            try_case("clEnqueueNDRangeKernel", "fail", at, ",ever=1", "fft mixed all");
        if (!support_is_quick() || at == 13)
            try_case("clEnqueueNDRangeKernel", "fail", at, ",ever=1", "fft long all");
    }
    for (int at = 2; at <= 20; at += support_is_quick() ? 9 : 3) {
        try_case("clWaitForEvents", "fail", at, ",ever=1", "all");
        try_case("clCreateBuffer", "fail", at, "", "all");
    }
    try_case("clEnqueueNDRangeKernel", "hang", 9, "", "all");
    try_case("clEnqueueReadBuffer", "never", 3, "", "all");
    expect_none_wrong();
}

/* It leaves a launch out, or a fill, and says that all is well. */
static void test_one_leaves_something_out(void **state)
{
    for (int at = 1; at <= 14; at += support_is_quick() ? 3 : 1) {
        try_case("clEnqueueNDRangeKernel", "skip", at, "", "all");
        if (at % 2 == 0)
            try_case("clEnqueueNDRangeKernel", "skip", at, "", "fft all");
    }
    for (int at = 1; at <= 3; at++) {
        try_case("clEnqueueFillBuffer", "skip", at, "", "0");
        try_case("clEnqueueFillBuffer", "skip", at, "", "fft 0");
    }
    expect_none_wrong();
}

/* It is not given something that the job has for it: tables, atoms, weights. */
static void test_one_is_not_written_to(void **state)
{
    for (int at = 1; at <= (support_is_quick() ? 16 : 24); at += support_is_quick() ? 3 : 1) {
        trial *t = trials_add("clEnqueueWriteBuffer", "skip", at, "");
        t->selector = at % 3 == 0 ? "fft all" : at % 3 == 1 ? "fft long all" : "all";
        t->is_right = is_right_or_ended;
    }
    expect_none_wrong();
}

/* What comes back is wrong. */
static void test_one_lies(void **state)
{
    static const char *const faults[] = {"zero", "scale", "slight", "nan", "garbage", "skip"};
    for (int f = 0; f < 6; f++)
        for (int at = 1; at <= 4; at++) {
            if (support_is_quick() && (f + at) % 4 != 0)
                continue;
            try_case("clEnqueueReadBuffer", faults[f], at, "", "all");
            try_case("clEnqueueReadBuffer", faults[f], at, ",ever=1", f % 2 == 0 ? "0" : "fft all");
        }
    for (int at = 1; at <= 2; at++) /* how many atoms bins of long waves have, and what these come to */
        try_case("clEnqueueReadBuffer", "garbage", at, "", "fft long all");
    expect_none_wrong();
}

/* Transforms that are functions of the host among a queue's commands: they fail, are left out, or
 * never end. */
static void test_functions_of_the_host(void **state)
{
    static const char *const faults[] = {"fail", "skip", "early", "never", "hang"};
    for (int f = 0; f < 5; f++)
        for (int at = 1; at <= 2; at++) {
            if (support_is_quick() && (f + at) % 3 != 0)
                continue;
            try_case("clEnqueueNativeKernel", faults[f], at, "", "fft all");
            try_case("clEnqueueNativeKernel", faults[f], at, ",ever=1", "fft 0");
        }
    expect_none_wrong();
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "child") == 0)
        return child(argv[2], atof(argv[3]));
    return RUN_GROUP(SUPPORT_GROUP(.name = "two devices"), test_two_are_as_one, test_borrowed_meshes, test_one_dies,
                     test_one_leaves_something_out, test_one_is_not_written_to, test_one_lies,
                     test_functions_of_the_host);
}
