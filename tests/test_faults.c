/* Every call of OpenCL with every fault (faulty_opencl/): each time a right map by the other
 * device, or an error that says what went wrong; never a crash, never a wrong map, never a wait
 * without end. Each case is a process of its own, this program started again with the faults before
 * it. */
#include "support.h"

#include "door_check.h"
#include "watch.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- In the child ---------------------------------------------------------------------------- */

/* Slabs of 2 planes are more than malloc() keeps for itself: what is freed is gone. */
static const ley_lattice lattice = {.origin_A = {0, 0, 0}, .step_A = LEY_STEPS(0.1, 0.1, 0.5), .n = {96, 96, 12}};

static const watch_patience short_patience = {
    .open_s = 2, .build_s = 20, .close_s = 2, .first_s = 2, .work_s = 2, .over_s = 0.5, .turn_s = 1};

enum { RIGHT = 0, BROKEN = 1 };

static int judge(const support_job *o)
{
    if (o->status != LEY_OK) {
        const int code = ley_status_exit_code(o->status);
        printf("%s: %s\n", ley_status_name(o->status), o->error.message);
        return (code == 3 || code == 4 || code == 5) && o->error.message[0] != '\0' ? code : BROKEN;
    }
    ley_map *reference = support_reference_map(o->atoms, &lattice, 0.05);
    const double difference = support_difference(o->map, reference);
    ley_map_destroy(reference);
    if (difference > 1e-5)
        printf("a wrong map, by %.3g, for a right one\n", difference);
    return difference > 1e-5 ? BROKEN : RIGHT;
}

/* A whole job. */
static int child(const char *selector)
{
    support_job o = {.atoms = support_atoms(40, 0, 8, 7)};
    mallopt(M_MMAP_THRESHOLD, 32 << 10);
    mallopt(M_TRIM_THRESHOLD, 0);
    watch_patience_replace(&short_patience);
    support_options_default(&o.options);
    o.options.slab_planes = 2;
    o.options.verify_points = 200;
    o.status = ley_map_create(&lattice, &o.map, &o.error);
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

/* A thread that is inside the door, and the one that watches it. */
typedef struct inside {
    watch watch;
    ley_status status;
    ley_error error;
    atomic_bool is_done;
} inside;

static void *use_door(void *context)
{
    inside *i = context;
    dev_list list;
    dev *device = NULL;
    watch_this_thread(&i->watch);
    i->status = dev_list_create(&list, &i->error);
    if (i->status == LEY_OK)
        i->status = list.infos[0].backend->open(&list.infos[0], &device, &i->error);
    if (i->status == LEY_OK) {
        i->status = door_check(device, 60, 1, &i->error);
        device->backend->close(device);
        dev_list_clear(&list);
    }
    atomic_store(&i->is_done, true);
    return NULL;
}

/* The door's operations on memory: their end, or that the driver does not return from them. */
static int door_child(void)
{
    static const watch_patience patience = {.open_s = 2, .build_s = 2, .close_s = 2, .first_s = 1, .work_s = 1};
    static inside i;
    pthread_t thread;
    ley_error why = {0};
    watch_patience_replace(&patience);
    watch_init(&i.watch);
    if (pthread_create(&thread, NULL, use_door, &i) != 0)
        return BROKEN;
    while (!atomic_load(&i.is_done) && !watch_give_up(&i.watch, false, &why))
        usleep(10000);
    const bool is_left = !atomic_load(&i.is_done);
    printf("%s\n", is_left ? why.message : i.error.message);
    usleep(150000); /* what a driver does late shows before the end */
    fflush(stdout);
    if (is_left)
        _exit(why.message[0] != '\0' ? ley_status_exit_code(LEY_ERROR_DEVICE) : BROKEN);
    pthread_join(thread, NULL);
    return i.status == LEY_OK ? RIGHT : i.error.message[0] != '\0' ? ley_status_exit_code(i.status) : BROKEN;
}

/* ---- In the parent --------------------------------------------------------------------------- */

enum { LONGEST_S = 180 };

typedef struct outcome {
    int code; /* of the child; -1: ended by a signal; -2: had to be ended */
    bool struck;
    char says[2048];
} outcome;

static bool keep_cache = true; /* where kernels are that have passed their tests; else a child begins with none */

static void begin_child(const char *faults, const char *selector, const char *directory)
{
    char self[512], preload[1200], says[600], said[600];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    const char *before = getenv("LD_PRELOAD");
    char path[512];
    snprintf(path, sizeof path, "%.*s/faulty_opencl/faulty_opencl.so", (int)(strrchr(self, '/') - self), self);
    snprintf(preload, sizeof preload, "%s%s%s", before != NULL ? before : "", before != NULL ? ":" : "", path);
    snprintf(says, sizeof says, "%s/struck", directory);
    snprintf(said, sizeof said, "%s/output", directory);
    setenv("LD_PRELOAD", preload, 1);
    setenv("FAULTY_OPENCL", faults, 1);
    setenv("FAULTY_OPENCL_SAYS", says, 1);
    if (!keep_cache)
        setenv("LEYDEN_CACHE_DIR", directory, 1);
    setenv("POCL_DEVICES", "pthread pthread", 1);
    setenv("OCL_ICD_VENDORS", "pocl.icd", 1);
    if (freopen(said, "w", stdout) == NULL || dup2(fileno(stdout), fileno(stderr)) < 0)
        _exit(BROKEN);
    execl(self, self, "child", selector, (char *)NULL);
    _exit(BROKEN);
}

static outcome run_child(const char *faults, const char *selector)
{
    static int count;
    outcome o = {.code = -2};
    char directory[256], path[300];
    int status = 0;
    snprintf(directory, sizeof directory, "%s/%d", support_directory(), count++);
    assert_int_equal(mkdir(directory, 0700), 0);
    fflush(NULL);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        begin_child(faults, selector, directory);
    for (int tick = 0; waitpid(pid, &status, WNOHANG) == 0; tick++) {
        if (tick == LONGEST_S * 100)
            kill(pid, SIGKILL);
        usleep(10000);
        if (tick > LONGEST_S * 100 + 500)
            break;
    }
    if (WIFEXITED(status))
        o.code = WEXITSTATUS(status);
    else if (WIFSIGNALED(status))
        o.code = WTERMSIG(status) == SIGKILL ? -2 : -1;
    snprintf(path, sizeof path, "%s/struck", directory);
    o.struck = access(path, F_OK) == 0;
    snprintf(path, sizeof path, "%s/output", directory);
    char *text = support_read_file(path, NULL);
    snprintf(o.says, sizeof o.says, "%s", text);
    free(text);
    return o;
}

/* PoCL 3.1 enters a kernel twice into its table of loaded kernels when two of its devices launch it
 * for the first time in the same moment, and ends the process once both have let go of it: nothing
 * that leyden did, so the case is tried again. */
static bool is_the_drivers_own_end(const outcome *o)
{
    return o->code == -1 && strstr(o->says, "Assertion `found->ref_count > 0' failed") != NULL;
}

static int wrong, cases, unstruck;

/* One case, in which the healthy device is there, or not. */
static void try_case(const char *call, const char *fault, int at, const char *more, bool alone)
{
    char faults[256];
    snprintf(faults, sizeof faults, "call=%s,at=%d,fault=%s,device=0%s", call, at, fault, more);
    outcome o = run_child(faults, alone ? "0" : "all");
    for (int again = 0; again < 3 && is_the_drivers_own_end(&o); again++)
        o = run_child(faults, alone ? "0" : "all");
    const bool is_shared =
        strncmp(call, "clGetPlatform", 13) == 0 || strncmp(call, "clGetDeviceI", 12) == 0; /* by all devices */
    const bool is_right = alone || is_shared ? o.code == 0 || (o.code >= 3 && o.code <= 5) : o.code == 0;
    cases++;
    unstruck += !o.struck;
    if (getenv("TEST_FAULTS_TABLE") != NULL)
        printf("%-28s %-8s %3d %-6s %s %2d  %.150s\n", call, fault, at, alone ? "alone" : "both",
               o.struck ? "struck" : "-", o.code, o.says[0] != '\0' ? strtok((char *)(uintptr_t)o.says, "\n") : "");
    if (is_right)
        return;
    wrong++;
    print_error("%s, %s: %s: %d\n%s\n", faults, alone ? "alone" : "both devices",
                o.code == -1   ? "a signal"
                : o.code == -2 ? "without end"
                               : "exit code",
                o.code, o.says);
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
    print_message("%d cases, of which the fault did not come to pass in %d\n", cases, unstruck);
    assert_int_equal(wrong, 0);
    assert_true(unstruck <= cases / 2);
}

/* Every call with every fault that a call can have, with both devices, and alone, where the fault
 * stays: in turn early and late. */
static void test_every_call_with_every_fault(void **state)
{
    static const char *const faults[] = {"fail", "early", "skip", "hang", "delay"};
    static const int ats[] = {1, 2, 3, 5};
    (void)state;
    int turn = 0;
    wrong = cases = unstruck = 0;
    for (size_t c = 0; c < CALLS; c++)
        for (size_t f = 0; calls[c].frequency != GPU && f < 5; f++, turn++) {
            if (support_is_quick() && turn % 6 != 0)
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
    (void)state;
    wrong = cases = unstruck = 0;
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
    (void)state;
    wrong = cases = unstruck = 0;
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
    (void)state;
    wrong = cases = unstruck = 0;
    for (size_t c = 0; c < sizeof endless / sizeof endless[0]; c++) {
        try_case(endless[c], "never", 2, "", true); /* with another device it may not get so far */
        if (!support_is_quick())
            try_case(endless[c], "never", strcmp(endless[c], "clEnqueueFillBuffer") == 0 ? 1 : 2, "", false);
    }
    expect_none_wrong();
}

/* The commands of the door, some of which no job has: right bytes or an error in time; where one is
 * left out, wrong bytes show. */
static void test_the_door(void **state)
{
    static const char *const commands[] = {
        "clEnqueueFillBuffer", "clEnqueueCopyBuffer", "clEnqueueWriteBuffer", "clEnqueueReadBuffer", "clFlush",
        "clWaitForEvents"};
    static const char *const faults[] = {"fail", "early", "hang", "never", "delay", "skip"};
    (void)state;
    for (size_t c = 0; c < sizeof commands / sizeof commands[0]; c++)
        for (size_t f = 0; f < sizeof faults / sizeof faults[0]; f++) {
            if (support_is_quick() && (c + f) % 3 != 0)
                continue;
            char text[128];
            const int at = 1 + (int)(c + f) % 6;
            snprintf(text, sizeof text, "call=%s,at=%d,fault=%s,device=0,drag_ms=30", commands[c], at, faults[f]);
            const outcome o = run_child(text, "door");
            const bool is_late = strcmp(faults[f], "delay") == 0, skips = strcmp(faults[f], "skip") == 0,
                       is_command = strncmp(commands[c], "clEnqueue", 9) == 0;
            if (!o.struck || (is_late                ? o.code != 0
                              : !is_command || skips ? o.code != 0 && (o.code < 3 || o.code > 5)
                                                     : o.code != 4))
                fail_msg("%s: %s, exit code %d: %s", text, o.struck ? "struck" : "did not strike", o.code, o.says);
        }
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "child") == 0)
        return strcmp(argv[2], "door") == 0 ? door_child() : child(argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_call_with_every_fault),
        cmocka_unit_test(test_no_wrong_data),
        cmocka_unit_test(test_nothing_is_freed_under_a_copy),
        cmocka_unit_test(test_what_never_ends),
        cmocka_unit_test(test_the_door),
    };
    return cmocka_run_group_tests_name("faults", tests, NULL, NULL);
}
