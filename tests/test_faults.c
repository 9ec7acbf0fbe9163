/* Every call of OpenCL with every fault (faulty_opencl/): each time a right map by the other
 * device, or an error that says what went wrong; never a crash, never a wrong map, never a wait
 * without end. Each case is a process of its own, this program started again with the faults before
 * it; some of them at a time, since most of them wait for what hangs. */
#include "device_list.h"
#include "support.h"
#include "trials.h"

#include "clock.h"
#include "interface_check.h"
#include "watch.h"

#include <malloc.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- In the child ---------------------------------------------------------------------------- */

/* Slabs of 2 planes are more than malloc() keeps for itself: what is freed is gone. */
static const ley_grid grid = {.origin_A = {0, 0, 0}, .step_A = LEY_STEPS(0.1, 0.1, 0.5), .n = {96, 96, 12}};

static int judge(const support_job *o)
{
    if (o->status != LEY_OK) {
        const int code = ley_status_exit_code(o->status);
        printf("%s: %s\n", ley_status_name(o->status), o->error.message);
        return (code == 3 || code == 4 || code == 5) && o->error.message[0] != '\0' ? code : TRIAL_BROKEN;
    }
    ley_map *reference = support_reference_map(o->atoms, &grid, 0.05);
    const double difference = support_difference(o->map, reference);
    ley_map_destroy(reference);
    if (difference > 1e-5)
        printf("a wrong map, by %.3g, for a right one\n", difference);
    return difference > 1e-5 ? TRIAL_BROKEN : TRIAL_RIGHT;
}

/* A whole job. */
static int child(const char *selector, double patience_factor)
{
    static watch_patience patience;
    patience = trial_patience(patience_factor);
    support_job o = {.atoms = support_atoms(40, 0, 8, 7)};
    mallopt(M_MMAP_THRESHOLD, 32 << 10);
    mallopt(M_TRIM_THRESHOLD, 0);
    watch_patience_replace(&patience);
    o.options = support_default_options();
    o.options.slab_planes = 2;
    o.options.verify_points = 200;
    o.status = ley_map_create(&grid, &o.map, &o.error);
    if (o.status == LEY_OK)
        o.status = ley_engine_create(selector, &o.engine, &o.error);
    if (o.status == LEY_OK)
        o.status = support_job_create(o.engine, o.atoms, o.map, &o.options, &o.job, &o.error);
    if (o.status == LEY_OK)
        o.status = ley_job_run(o.job, &o.error);
    for (size_t i = 0; o.job != NULL && i < ley_job_report(o.job)->device_count; i++)
        if (ley_job_report(o.job)->devices[i].failure != NULL)
            printf("device %zu: %s\n", i, ley_job_report(o.job)->devices[i].failure);
    const int code = judge(&o);
    support_job_end(&o);
    if (strstr(getenv("FAULTY_OPENCL"), "drag_ms") != NULL)
        usleep(150000); /* what a driver does late shows before the end */
    fflush(stdout);
    if (ley_driver_is_stuck())
        _exit(code);
    return code;
}

/* A thread that is inside the device interface, and the one that watches it. */
typedef struct inside {
    watch watch;
    ley_status status;
    ley_error error;
    atomic_bool is_done;
} inside;

static void *use_interface(void *context)
{
    inside *i = context;
    dev_list list;
    dev *device = NULL;
    watch_this_thread(&i->watch);
    i->status = dev_list_create(&list, &i->error);
    const bool has_list = i->status == LEY_OK;
    if (i->status == LEY_OK)
        i->status = list.infos[0].backend->open(&list.infos[0], &device, &i->error);
    if (i->status == LEY_OK) {
        i->status = interface_check(device, 60, 1, &i->error);
        device->backend->close(device);
    }
    if (has_list)
        dev_list_clear(&list);
    atomic_store(&i->is_done, true);
    return NULL;
}

/* The device interface's operations on memory: their end, or that the driver does not return from
 * them. */
static int interface_child(void)
{
    static const watch_patience patience = {.open_s = 2, .build_s = 2, .close_s = 2, .first_s = 1, .work_s = 1};
    static inside i;
    pthread_t thread;
    ley_error why = {0};
    watch_patience_replace(&patience);
    watch_init(&i.watch);
    if (pthread_create(&thread, NULL, use_interface, &i) != 0)
        return TRIAL_BROKEN;
    while (!atomic_load(&i.is_done) && !watch_give_up(&i.watch, false, &why))
        usleep(10000);
    const bool is_left = !atomic_load(&i.is_done);
    printf("%s\n", is_left ? why.message : i.error.message);
    usleep(150000); /* what a driver does late shows before the end */
    fflush(stdout);
    if (is_left)
        _exit(why.message[0] != '\0' ? ley_status_exit_code(LEY_ERROR_DEVICE) : TRIAL_BROKEN);
    pthread_join(thread, NULL);
    return i.status == LEY_OK           ? TRIAL_RIGHT
           : i.error.message[0] != '\0' ? ley_status_exit_code(i.status)
                                        : TRIAL_BROKEN;
}

/* ---- In the parent --------------------------------------------------------------------------- */

/* Without a fault: and afterwards the kernels are in the caches, so that cases which run side by
 * side do not all compile them. */
static void test_without_a_fault(void **state)
{
    trial *t = trials_add("none", "none", 1, "");
    t->selector = "all";
    t->is_right = trial_is_right_job;
    assert_int_equal(trials_run(), 1);
}

static bool keep_cache = true; /* in the cases that follow */

/* One case, in which the healthy device is there, or not. */
static void try_case(const char *call, const char *fault, int at, const char *more, bool alone)
{
    trial *t = trials_add(call, fault, at, more);
    t->selector = alone ? "0" : "all";
    t->begins_cold = !keep_cache;
    t->is_right = trial_is_right_job;
}

/* When a job calls it: once; several times; only where nothing is cached yet, or something failed;
 * on GPUs only. */
typedef enum frequency { ONCE, OFTEN, COLD, GPU } frequency;

static const struct {
    const char *name;
    frequency frequency;
} calls[] = {
    {"clGetPlatformIDs", ONCE},
    {"clGetPlatformInfo", ONCE},
    {"clGetDeviceIDs", ONCE},
    {"clGetDeviceInfo", OFTEN},
    {"clCreateContext", ONCE},
    {"clCreateCommandQueue", ONCE},
    {"clCreateBuffer", OFTEN},
    {"clCreateProgramWithSource", COLD},
    {"clCreateProgramWithBinary", ONCE},
    {"clBuildProgram", COLD},
    {"clCreateKernel", COLD},
    {"clGetProgramInfo", COLD},
    {"clGetProgramBuildInfo", COLD},
    {"clSetKernelArg", OFTEN},
    {"clEnqueueFillBuffer", ONCE},
    {"clEnqueueWriteBuffer", OFTEN},
    {"clEnqueueNDRangeKernel", OFTEN},
    {"clEnqueueReadBuffer", OFTEN},
    {"clEnqueueMapBuffer", GPU},
    {"clEnqueueUnmapMemObject", GPU},
    {"clFlush", OFTEN},
    {"clFinish", ONCE},
    {"clWaitForEvents", OFTEN},
    {"clGetEventInfo", COLD},
    {"clGetEventProfilingInfo", OFTEN},
    {"clReleaseEvent", OFTEN},
    {"clReleaseMemObject", OFTEN},
    {"clReleaseKernel", ONCE},
    {"clReleaseProgram", ONCE},
    {"clReleaseCommandQueue", ONCE},
    {"clReleaseContext", ONCE},
};
enum { CALLS = sizeof calls / sizeof calls[0] };

static void expect_none_wrong(void)
{
    const int tried = trials_count(), unstruck = trials_run();
    assert_true(unstruck <= tried / 2);
}

/* Every call with every fault that a call can have, with both devices, and alone, where the fault
 * stays: in turn early and late. */
static void test_every_call_with_every_fault(void **state)
{
    static const char *const faults[] = {"fail", "early", "skip", "hang", "delay"};
    static const int ats[] = {1, 2, 3, 5};
    int turn = 0;
    for (size_t c = 0; c < CALLS; c++)
        for (size_t f = 0; calls[c].frequency != GPU && f < 5; f++, turn++) {
            if (support_is_quick() && turn % 11 != 0)
                continue;
            const int at = calls[c].frequency == OFTEN ? ats[turn % 4] : 1;
            keep_cache = calls[c].frequency != COLD;
            try_case(calls[c].name, faults[f], at, "", false);
            if (turn % 3 == 0)
                try_case(calls[c].name, faults[f], at, ",ever=1", true);
        }
    keep_cache = true;
    expect_none_wrong();
}

/* What is read is wrong, or was never computed: it does not get into a map. */
static void test_no_wrong_data(void **state)
{
    static const char *const faults[] = {"zero", "scale", "slight", "nan", "garbage", "skip"};
    for (size_t f = 0; f < 6; f++)
        for (int at = 1; at <= 3; at += support_is_quick() ? 2 : 1) {
            try_case("clEnqueueReadBuffer", faults[f], at, "", true);
            try_case("clEnqueueReadBuffer", faults[f], at, ",ever=1", true);
            if (at > 1)
                try_case("clEnqueueReadBuffer", faults[f], at, "", false);
        }
    for (int at = 1; at <= 3; at++)
        try_case("clEnqueueNDRangeKernel", "skip", at, ",ever=1", true);
    /* A self-test of a kernel that is not in the cache. */
    keep_cache = false;
    for (size_t f = 0; f < 6; f++)
        try_case("clEnqueueReadBuffer", faults[f], 8 + (int)f, ",ever=1", true);
    keep_cache = true;
    expect_none_wrong();
}

/* Drivers that fail without waiting, while their copies are still under way: nothing is freed that
 * they still use. */
static void test_nothing_is_freed_under_a_copy(void **state)
{
    static const char *const dragging[] = {"clWaitForEvents", "clFlush", "clEnqueueReadBuffer", "clEnqueueWriteBuffer",
                                           "clEnqueueNDRangeKernel"};
    for (size_t c = 0; c < sizeof dragging / sizeof dragging[0]; c++)
        for (int at = 1; at < 9; at += support_is_quick() ? at + 3 : at) {
            try_case(dragging[c], "early", at, ",drag_ms=60", true);
            try_case(dragging[c], "early", at, ",drag_ms=60,ever=1", true);
            if (at == 4)
                try_case(dragging[c], "early", at, ",drag_ms=60", false);
        }
    /* And the lane cannot even be finished. */
    try_case("clFinish", "early", 1, ",drag_ms=60,ever=1", true);
    try_case("clFinish", "fail", 1, ",drag_ms=60,ever=1", false);
    expect_none_wrong();
}

/* Commands that never end. */
static void test_what_never_ends(void **state)
{
    static const char *const endless[] = {"clEnqueueNDRangeKernel", "clEnqueueReadBuffer", "clEnqueueWriteBuffer",
                                          "clEnqueueFillBuffer"};
    for (size_t c = 0; c < sizeof endless / sizeof endless[0]; c++) {
        try_case(endless[c], "never", 2, "", true); /* with another device it may not get so far */
        if (!support_is_quick())
            try_case(endless[c], "never", strcmp(endless[c], "clEnqueueFillBuffer") == 0 ? 1 : 2, "", false);
    }
    expect_none_wrong();
}

static bool is_right_interface(const trial *t, const trial_outcome *o)
{
    const bool is_late = strcmp(t->fault, "delay") == 0, skips = strcmp(t->fault, "skip") == 0,
               is_command = strncmp(t->call, "clEnqueue", 9) == 0, is_refused = o->code >= 3 && o->code <= 5;
    return o->struck && (is_late ? o->code == 0 : !is_command || skips ? o->code == 0 || is_refused : o->code == 4);
}

/* The commands of the device interface, some of which no job has: right bytes or an error in time;
 * where one is left out, wrong bytes show. */
static void test_the_interface(void **state)
{
    static const char *const commands[] = {
        "clEnqueueFillBuffer", "clEnqueueCopyBuffer", "clEnqueueWriteBuffer", "clEnqueueReadBuffer", "clFlush",
        "clWaitForEvents"};
    static const char *const faults[] = {"fail", "early", "hang", "never", "delay", "skip"};
    for (size_t c = 0; c < sizeof commands / sizeof commands[0]; c++)
        for (size_t f = 0; f < sizeof faults / sizeof faults[0]; f++) {
            if (support_is_quick() && (c + f) % 3 != 0)
                continue;
            trial *t = trials_add(commands[c], faults[f], 1 + (int)(c + f) % 6, ",drag_ms=30");
            t->selector = "interface";
            t->is_right = is_right_interface;
        }
    trials_run();
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "child") == 0)
        return strcmp(argv[2], "interface") == 0 ? interface_child() : child(argv[2], atof(argv[3]));
    return RUN_GROUP(SUPPORT_GROUP(.name = "faults"), test_without_a_fault, test_every_call_with_every_fault,
                     test_no_wrong_data, test_nothing_is_freed_under_a_copy, test_what_never_ends, test_the_interface);
}
