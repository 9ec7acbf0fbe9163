/* The CUDA back end on a driver that fails on demand: fake_cuda/. A driver is opened once a
 * process, hence each scenario is a process of its own, this program started again with the
 * scenario's name. A symbol that an old driver lacks is hidden by a copy of the library in which
 * its name is spelled otherwise. */
#include "support.h"

#include "device_list.h"
#include "engine/driver_thread.h"

#include "bandwidth.h"
#include "cuda/cufft_api.h"
#include "cuda/driver_api.h"
#include "cuda/internal.h"
#include "fft.h"
#include "interface_check.h"
#include "watch.h"

#include <dirent.h>
#include <dlfcn.h>
#include <malloc.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_SYMBOL = 64 };

/* Inside a scenario there is no cmocka to report to. */
#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            exit(1); \
        } \
    } while (0)
#define CHECK_HAS(text, part) check_has(text, part, __LINE__)

static void check_has(const char *text, const char *part, int line)
{
    if (text != NULL && strstr(text, part) != NULL)
        return;
    fprintf(stderr, "%s:%d: \"%s\" is not in \"%s\"\n", __FILE__, line, part, text != NULL ? text : "(null)");
    exit(1);
}

/* ---- What scenarios share: they run in the child --------------------------------------------- */

static const ley_grid grid = {.origin_A = {0, 0, 0}, .step_A = LEY_STEPS(0.5, 0.5, 0.5), .n = {20, 10, 24}};

/* Calls one of the fake libraries' own functions, int (void). 0 when the library is not loaded. */
static int ask(const char *library, const char *function)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
    void *address = handle != NULL ? dlsym(handle, function) : NULL;
    int (*call)(void);
    if (address == NULL)
        return 0;
    memcpy(&call, &address, sizeof address);
    const int answer = call();
    dlclose(handle);
    return answer;
}

static int ask_cuda(const char *function)
{
    return ask("libcuda.so.1", function);
}

static void reset_faults(const char *settings)
{
    setenv("FAKE_CUDA", settings, 1);
    ask_cuda("fake_cuda_reset");
}

/* A build cache of its own for each job: a cached kernel is not built again. */
static void fresh_cache(void)
{
    static int count;
    char path[256];
    snprintf(path, sizeof path, "%s/%d", getenv("TEST_CUDA_CACHES"), count++);
    setenv("LEYDEN_CACHE_DIR", path, 1);
}

static support_job run_job(const char *selector, size_t atoms, void (*change)(support_options *, const void *),
                           const void *how)
{
    support_options options = support_default_options();
    options.slab_planes = 2;
    options.verify_points = 50;
    if (change != NULL)
        change(&options, how);
    return support_job_run(support_atoms(atoms, 0, 8, 7), &grid, selector, &options);
}

static void check_map(const support_job *o)
{
    assert_ok_at(o->status, &o->error, "job", __FILE__, __LINE__);
    ley_map *reference = support_reference_map(o->atoms, &grid, 0.05);
    CHECK(support_difference(o->map, reference) < 1e-5);
    ley_map_destroy(reference);
}

/* Ends the job of a card that is lost: what it was given is kept. */
static void clean_after_loss(support_job *o)
{
    support_job_end(o);
    CHECK(ask(getenv("LEYDEN_NVRTC"), "fake_nvrtc_live") == 0);
}

/* Ends the job; nothing is then left in the driver, once a device that was late for the job has
 * come to its end. */
static void clean(support_job *o)
{
    support_job_end(o);
    for (int i = 0; i < 6000 && driver_thread_adrift() > 0; i++)
        usleep(5000);
    CHECK(driver_thread_adrift() == 0);
    CHECK(ask_cuda("fake_cuda_live") == 0);
    CHECK(ask(getenv("LEYDEN_NVRTC"), "fake_nvrtc_live") == 0);
}

static void clean_to_the_last(support_job *o)
{
    clean(o);
    CHECK(ask_cuda("fake_cuda_orphans") == 0);
}

static void with_sum(support_options *options, const void *sum)
{
    options->sum = *(const ley_sum *)sum;
}

static void with_variant(support_options *options, const void *name)
{
    options->variant = name;
}

static void simple_in_double(support_options *options, const void *name)
{
    options->variant = name;
    options->sum = LEY_SUM_DOUBLE;
}

/* ---- Scenarios ------------------------------------------------------------------------------- */

/* Both cards have a part, if need be at the second or third try: a slow machine may have done with
 * one before the other is ready. */
static support_job shared_job(void)
{
    for (int delay_us = 20000;; delay_us *= 5) {
        char settings[64];
        snprintf(settings, sizeof settings, "delay_us=%d", delay_us);
        reset_faults(settings);
        fresh_cache();
        support_job o = run_job("cuda", 40, NULL, NULL);
        check_map(&o);
        const ley_report *r = ley_job_report(o.job);
        if (delay_us >= 500000 || (r->devices[0].slabs > 0 && r->devices[1].slabs > 0))
            return o;
        clean_to_the_last(&o);
    }
}

static void two_cards(void)
{
    support_job o = shared_job();
    reset_faults("");
    const ley_report *r = ley_job_report(o.job);
    CHECK(r->device_count == 2 && !r->devices[0].from_cache);
    CHECK_HAS(r->devices[1].device->name, "Fake card B");
    CHECK(strcmp(r->devices[1].device->path, "cuda") == 0 && r->devices[1].device->has_timestamps);
    CHECK(r->devices[0].slabs > 0 && r->devices[1].slabs > 0);
    CHECK(r->devices[0].points + r->devices[1].points == r->points);
    for (size_t i = 0; i < r->slab_count; i++)
        CHECK(r->slabs[i].kernel_end_s >= r->slabs[i].kernel_start_s &&
              r->slabs[i].transfer_end_s >= r->slabs[i].transfer_start_s);
    clean_to_the_last(&o);
    o = run_job("cuda", 40, NULL, NULL);
    check_map(&o);
    r = ley_job_report(o.job);
    for (size_t i = 0; i < r->device_count; i++) /* one that is late has no part */
        CHECK(r->devices[i].from_cache || r->devices[i].slabs == 0);
    clean_to_the_last(&o);
    o = run_job(NULL, 40, NULL, NULL); /* the fastest: measured before anything is opened for good */
    check_map(&o);
    clean_to_the_last(&o);
}

static void all_variants_and_sums(void)
{
    const char *name;
    for (size_t i = 0; (name = ley_variant_name("dcs", LEY_TARGET_GRID, i)) != NULL; i++) {
        if (strncmp(name, "vector", 6) == 0)
            continue;
        support_job o = run_job("cuda:0", 40, with_variant, name);
        check_map(&o);
        clean_to_the_last(&o);
        o = run_job("cuda:0", 40, simple_in_double, name);
        check_map(&o);
        clean_to_the_last(&o);
    }
    for (ley_sum sum = LEY_SUM_FLOAT; sum <= LEY_SUM_DOUBLE; sum++) {
        support_job o = run_job("cuda", 40, with_sum, &sum);
        check_map(&o);
        clean_to_the_last(&o);
    }
}

/* More atoms than the symbol holds: as floats 4000, as doubles 2000. */
static void more_atoms_than_constant_memory(void)
{
    support_job o = run_job("cuda:0", 4090, with_variant, "simple");
    check_map(&o);
    clean_to_the_last(&o);
    o = run_job("cuda:0", 2300, simple_in_double, "simple");
    check_map(&o);
    clean_to_the_last(&o);
}

static void works(void)
{
    support_job o = run_job("cuda", 40, NULL, NULL);
    check_map(&o);
    CHECK(ley_job_report(o.job)->device_count == 2);
    clean_to_the_last(&o);
}

/* There is no device, and the note of TEST_CUDA_SAYS is why. */
static void no_device(void)
{
    ley_device_list *list = NULL;
    ley_error error = {0};
    bool said = false;
    assert_ok(ley_device_list_create(&list, &error));
    CHECK(ley_device_list_count(list) == 0);
    for (size_t i = 0; i < ley_device_list_note_count(list); i++)
        said = said || strstr(ley_device_list_note(list, i), getenv("TEST_CUDA_SAYS")) != NULL;
    ley_device_list_destroy(list);
    support_job o = run_job(NULL, 40, NULL, NULL);
    CHECK(o.status == LEY_ERROR_NO_DEVICE);
    CHECK_HAS(o.error.message, getenv("TEST_CUDA_SAYS"));
    CHECK(said);
    clean_to_the_last(&o);
}

/* The cards are there and cannot be used: TEST_CUDA_SAYS is why. */
static void unusable(void)
{
    ley_device_list *list = NULL;
    ley_error error = {0};
    assert_ok(ley_device_list_create(&list, &error));
    CHECK(ley_device_list_count(list) == 2);
    CHECK_HAS(ley_device_list_get(list, 0)->unusable, getenv("TEST_CUDA_SAYS"));
    ley_device_list_destroy(list);
    support_job o = run_job("cuda", 40, NULL, NULL);
    CHECK(o.status == LEY_ERROR_NO_DEVICE);
    CHECK_HAS(o.error.message, getenv("TEST_CUDA_SAYS"));
    clean_to_the_last(&o);
}

/* The job fails, with this in its message. */
static void fails(void)
{
    support_job o = run_job("cuda", 40, NULL, NULL);
    CHECK(o.status != LEY_OK);
    CHECK_HAS(o.error.message, getenv("TEST_CUDA_SAYS"));
    clean_to_the_last(&o);
}

static void compilation_fails(void)
{
    support_job o = run_job("cuda", 40, NULL, NULL);
    CHECK(o.status == LEY_ERROR_DEVICE);
    CHECK_HAS(o.error.message, "nvrtcCompileProgram of dcs.cu (--gpu-architecture=sm_90 -DLEY_WG_X=");
    CHECK_HAS(o.error.message, ": error 6 at program.c:");
    CHECK_HAS(o.error.message, ": line 1: the fake compiler");
    CHECK_HAS(o.error.log, "line 1: the fake compiler\nline 2: ");
    CHECK_HAS(o.error.log, "line 400: the fake compiler\n");
    CHECK_HAS(ley_job_report(o.job)->devices[1].failure_log, "line 400: the fake compiler\n");
    clean_to_the_last(&o);
}

/* The message names the driver's function, by itself or without the version that only the library
 * has in its name. */
static void check_call(const char *message, const char *symbol)
{
    const size_t length = strlen(symbol), version = length > 3 && strcmp(symbol + length - 3, "_v2") == 0 ? 3 : 0;
    char name[MAX_SYMBOL];
    snprintf(name, sizeof name, "%.*s", (int)(length - version), symbol);
    CHECK_HAS(message, name);
    CHECK_HAS(message, "CUDA_ERROR_LAUNCH_FAILED (719) at ");
    CHECK(strstr(message, "api->") == NULL);
}

/* Every entry point fails, once, at ever later calls: the one card leaves the job and gives back
 * all it had. */
static void every_call_fails_once(void)
{
    static const char *const symbols[] = {
#define SYMBOL(field, symbol, needed, arguments) #symbol,
        CUDA_DRIVER_TABLE(SYMBOL)
#undef SYMBOL
    };
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i += !support_is_quick()    ? 1
                                                                    : support_is_sanitized ? 9
                                                                                           : 3) {
        int fired = 1;
        for (int at = 1; fired > 0 && at < 2000; at += support_is_quick() ? 2 * at : (at + 1) / 2) {
            char settings[128];
            fresh_cache();
            snprintf(settings, sizeof settings, "devices=1,fail=%s,at=%d,code=719", symbols[i], at);
            reset_faults(settings);
            support_job o = run_job("all", 40, NULL, NULL);
            fired = ask_cuda("fake_cuda_fired");
            if (o.status == LEY_OK)
                check_map(&o);
            else {
                CHECK(fired == 1);
                if (o.status == LEY_ERROR_DEVICE)
                    check_call(o.error.message, symbols[i]);
            }
            if (strcmp(symbols[i], "cuCtxSetCurrent") == 0)
                clean(&o); /* what cannot be reached goes with its context */
            else
                clean_to_the_last(&o);
        }
    }
}

/* The second card goes away in the middle, for good: the first one finishes. */
static void a_card_disappears(void)
{
    static const char *const last_calls[] = {"cuLaunchKernel", "cuMemcpyDtoHAsync_v2", "cuEventSynchronize",
                                             "cuMemAlloc_v2", "cuCtxSetCurrent"};
    int seen = 0;
    const bool is_quick = support_is_quick();
    for (size_t i = 0; i < sizeof last_calls / sizeof last_calls[0]; i += is_quick ? 2 : 1)
        for (int at = 1; at < 200; at += at) {
            char settings[160];
            fresh_cache();
            snprintf(settings, sizeof settings, "devices=2,delay_us=2000,fail=%s,at=%d,code=%d,device=1,lost=1",
                     last_calls[i], at, at % 3 == 1 ? 999 : 719);
            reset_faults(settings);
            support_job o = run_job("cuda", 40, NULL, NULL);
            check_map(&o);
            const ley_device_report *b = &ley_job_report(o.job)->devices[1];
            if (b->status != LEY_OK) {
                CHECK_HAS(b->failure, at % 3 == 1 ? "CUDA_ERROR_UNKNOWN (999)" : "CUDA_ERROR_LAUNCH_FAILED (719)");
                seen++;
            }
            clean_after_loss(&o);
        }
    CHECK(seen > (is_quick ? 10 : 20));
}

/* The only card goes away: the job says so. */
static void the_card_disappears(void)
{
    for (int at = 1; at < 60; at += support_is_quick() ? 7 : 1) {
        char settings[128];
        snprintf(settings, sizeof settings, "devices=1,fail=cuLaunchKernel,at=%d,code=999,lost=1", at);
        fresh_cache();
        reset_faults(settings);
        support_job o = run_job("cuda", 40, NULL, NULL);
        CHECK((o.status == LEY_ERROR_DEVICE) == (ask_cuda("fake_cuda_fired") > 0));
        if (o.status != LEY_OK)
            CHECK_HAS(o.error.message, "CUDA_ERROR_UNKNOWN (999)");
        clean_after_loss(&o);
    }
}

/* Calls fail while copies are under way: nothing is freed that the driver still uses. What malloc()
 * maps apart is gone once it is freed. */
static void nothing_is_freed_under_a_copy(void)
{
    static const char *const symbols[] = {"cuEventSynchronize",  "cuMemcpyDtoHAsync_v2", "cuMemcpyHtoDAsync_v2",
                                          "cuStreamSynchronize", "cuEventRecord",        "cuLaunchKernel"};
    mallopt(M_MMAP_THRESHOLD, 4096);
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++)
        for (int at = 1; at < 200; at += support_is_quick() ? 3 * at : (at + 3) / 2)
            for (int lost = 0; lost < 2; lost++) {
                char settings[128];
                snprintf(settings, sizeof settings, "devices=1,drag_ms=10,fail=%s,at=%d,code=719,lost=%d", symbols[i],
                         at, lost);
                fresh_cache();
                reset_faults(settings);
                support_job o = run_job("all", 40, NULL, NULL);
                CHECK(o.status == LEY_OK || o.status == LEY_ERROR_DEVICE);
                if (o.status == LEY_OK)
                    check_map(&o);
                clean_after_loss(&o);
                usleep(20000); /* what comes late shows */
            }
}

/* The second card does not return: the first one finishes. Where the machine has so much else to do
 * that the first one looks as if it did not return either, once more with more patience. */
static void run_beside_a_card_that_hangs(const char *symbol, int at, int trials)
{
    double patient_s = 1;
    for (int trial = 1;; trial++, patient_s *= 6) {
        char settings[128];
        static watch_patience patience;
        patience = (watch_patience){.open_s = patient_s,
                                    .build_s = patient_s,
                                    .close_s = patient_s,
                                    .first_s = patient_s,
                                    .work_s = patient_s,
                                    .over_s = 0.2 * patient_s};
        watch_patience_replace(&patience);
        snprintf(settings, sizeof settings, "devices=2,fail=%s,at=%d,code=719,device=1,hang=1", symbol, at);
        fresh_cache();
        reset_faults(settings);
        support_job o = run_job("cuda", 40, NULL, NULL);
        const ley_device_report *cards = ley_job_report(o.job)->devices;
        const bool is_slow =
            cards[0].failure != NULL && strstr(cards[0].failure, "the driver does not return (") != NULL;
        if (!is_slow || trial == trials) {
            check_map(&o);
            const char *failure = cards[1].failure;
            if (failure != NULL)
                CHECK(strstr(failure, "the driver does not return (") != NULL ||
                      strstr(failure, ": was not used: still in the driver") != NULL);
        }
        clean_after_loss(&o);
        watch_patience_replace(NULL);
        if (!is_slow || trial == trials)
            return;
    }
}

static void a_card_hangs(void)
{
    static const char *const symbols[] = {
        "cuDevicePrimaryCtxRetain", "cuModuleLoadDataEx", "cuMemAlloc_v2",
        "cuMemcpyHtoDAsync_v2",     "cuLaunchKernel",     "cuEventSynchronize",
        "cuStreamSynchronize",      "cuMemFree_v2",       "cuDevicePrimaryCtxRelease"};
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++)
        for (int at = 1; at < 30; at += support_is_quick() ? 28 : 9)
            run_beside_a_card_that_hangs(symbols[i], at, 3);
}

/* The device interface's operations on memory, with the first card. */
static ley_status check_interface(unsigned seed, ley_error *error)
{
    dev_list list;
    dev *device = NULL;
    ley_status status = dev_list_create(&list, error);
    if (status == LEY_OK)
        status = list.infos[0].backend->open(&list.infos[0], &device, error);
    if (status == LEY_OK) {
        status = interface_check(device, 100, seed, error);
        device->backend->close(device);
    }
    dev_list_clear(&list);
    return status;
}

static void check_nothing_is_left(void)
{
    CHECK(ask_cuda("fake_cuda_live") == 0);
    CHECK(ask_cuda("fake_cuda_orphans") == 0);
}

static void device_interface(void)
{
    ley_error error = {0};
    for (unsigned seed = 1; seed <= 20; seed++) {
        reset_faults(seed % 4 == 0 ? "devices=1,drag_ms=1" : "devices=1");
        assert_ok(check_interface(seed, &error));
        check_nothing_is_left();
    }
}

/* What a driver leaves undefined is refused. */
static void no_copy_onto_itself(void)
{
    dev_list list;
    dev *device = NULL;
    dev_buffer *buffer = NULL;
    ley_error error = {0};
    assert_ok(dev_list_create(&list, &error));
    const dev_backend *b = list.infos[0].backend;
    assert_ok(b->open(&list.infos[0], &device, &error));
    assert_ok(b->buffer_create(device, 64, DEV_READ_WRITE, &buffer, &error));
    CHECK(b->copy(device, buffer, 0, buffer, 28, 32, NULL, &error) == LEY_ERROR_DEVICE);
    CHECK_HAS(error.message, "a copy of 32 bytes onto itself");
    assert_ok(b->copy(device, buffer, 0, buffer, 32, 32, NULL, &error));
    b->buffer_destroy(device, buffer);
    b->close(device);
    dev_list_clear(&list);
    check_nothing_is_left();
}

/* Buffers get memory again that others of their size had; where the driver has no more, it first
 * gets back all that is kept; and closing the device frees it. */
static void memory_is_kept(void)
{
    enum { SIZE = 8 << 20 };
    dev_list list;
    dev *device = NULL;
    dev_buffer *buffers[2] = {NULL, NULL};
    ley_error error = {0};
    reset_faults("devices=1,fail=cuMemAlloc_v2,at=3,code=2");
    assert_ok(dev_list_create(&list, &error));
    const dev_backend *b = list.infos[0].backend;
    assert_ok(b->open(&list.infos[0], &device, &error));
    const int opened = ask_cuda("fake_cuda_live");
    for (int i = 0; i < 2; i++)
        assert_ok(b->buffer_create(device, SIZE, DEV_READ_WRITE, &buffers[i], &error));
    for (int i = 0; i < 2; i++)
        b->buffer_destroy(device, buffers[i]);
    CHECK(ask_cuda("fake_cuda_live") == opened + 2);
    for (int again = 0; again < 3; again++) {
        assert_ok(b->buffer_create(device, SIZE - 1000 * (size_t)again, DEV_READ_WRITE, &buffers[0], &error));
        assert_ok(b->buffer_create(device, SIZE, DEV_READ_ONLY, &buffers[1], &error));
        CHECK(ask_cuda("fake_cuda_live") == opened + 2);
        assert_ok(b->fill(device, buffers[0], SIZE - 4000, 1, 4, NULL, &error));
        b->buffer_destroy(device, buffers[0]);
        b->buffer_destroy(device, buffers[1]);
    }
    CHECK(ask_cuda("fake_cuda_fired") == 0);
    assert_ok(
        b->buffer_create(device, 4 * SIZE, DEV_READ_WRITE, &buffers[0], &error)); /* the third call, and a fourth */
    CHECK(ask_cuda("fake_cuda_fired") == 1 && ask_cuda("fake_cuda_live") == opened + 1);
    b->buffer_destroy(device, buffers[0]);
    b->close(device);
    dev_list_clear(&list);
    check_nothing_is_left();
}

/* Every entry point that they take fails, once, or the card is lost by it, or copies go on: the
 * right bytes, or an error. */
static void interface_calls_fail(void)
{
    static const char *const symbols[] = {"cuMemsetD32Async",     "cuMemcpyDtoDAsync_v2", "cuMemcpyHtoDAsync_v2",
                                          "cuMemcpyDtoHAsync_v2", "cuEventCreate",        "cuEventRecord",
                                          "cuEventSynchronize",   "cuStreamWaitEvent",    "cuStreamSynchronize",
                                          "cuMemAlloc_v2",        "cuMemHostAlloc"};
    static const char *const more[] = {"", ",drag_ms=5", ",drag_ms=5,lost=1"};
    mallopt(M_MMAP_THRESHOLD, 4096);
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++)
        for (int at = 1; at < (support_is_quick() ? 2 : 30); at = 2 * at + 1)
            for (size_t m = 0; m < sizeof more / sizeof more[0]; m++) {
                char settings[128];
                ley_error error = {0};
                snprintf(settings, sizeof settings, "devices=1,fail=%s,at=%d,code=719%s", symbols[i], at, more[m]);
                reset_faults(settings);
                const int before = ask_cuda("fake_cuda_live"); /* what lost cards keep */
                const ley_status status = check_interface((unsigned)at, &error);
                CHECK(status == LEY_ERROR_DEVICE || (status == LEY_OK && ask_cuda("fake_cuda_fired") == 0) ||
                      strcmp(symbols[i], "cuStreamSynchronize") == 0); /* which is tried again */
                CHECK(status != LEY_ERROR_WRONG_RESULT);
                if (status == LEY_ERROR_DEVICE)
                    check_call(error.message, symbols[i]);
                if (m < 2)
                    CHECK(ask_cuda("fake_cuda_live") == before && ask_cuda("fake_cuda_orphans") == 0);
                ley_error_clear(&error);
                usleep(10000); /* what comes late shows */
            }
}

/* The one file of dcs with this ending, from malloc. */
static char *dumped(const char *folder, const char *ending)
{
    char path[600];
    char *text = NULL;
    DIR *directory = opendir(folder);
    CHECK(directory != NULL);
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        const char *dot = strrchr(entry->d_name, '.');
        if (strncmp(entry->d_name, "dcs-cuda0-Fake_card_A", 21) != 0 || strcmp(dot, ending) != 0)
            continue;
        CHECK(text == NULL);
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        text = support_read_file(path, &(size_t){0});
    }
    closedir(directory);
    CHECK(text != NULL);
    return text;
}

/* LEYDEN_DUMP: what NVRTC was given, and what it said. */
static void dumps(void)
{
    char folder[512];
    snprintf(folder, sizeof folder, "%s/dump", getenv("TEST_CUDA_CACHES"));
    setenv("LEYDEN_DUMP", folder, 1);
    for (int cached = 0; cached < 2; cached++) { /* the compiler's log stays */
        support_job o = run_job("cuda:0", 40, NULL, NULL);
        check_map(&o);
        CHECK(ley_job_report(o.job)->devices[0].from_cache == (cached == 1));
        char *source = dumped(folder, ".cu"), *options = dumped(folder, ".options"), *log = dumped(folder, ".log");
        CHECK_HAS(source, "__global__");
        CHECK(strstr(source, "#include") == NULL);
        CHECK(strncmp(options, ley_job_report(o.job)->devices[0].specification,
                      strlen(ley_job_report(o.job)->devices[0].specification)) == 0);
        CHECK(strcmp(log, "a remark on dcs\n") == 0);
        free(source);
        free(options);
        free(log);
        clean_to_the_last(&o);
    }
}

/* Fourier transforms with the first card: TEST_CUDA_SAYS is why there are none. TEST_CUDA_FFT is
 * which: those of whole grids, of some planes alone, or all, planned with 64-bit numbers. */
static void transforms(void)
{
    const char *says = getenv("TEST_CUDA_SAYS"), *which = getenv("TEST_CUDA_FFT");
    const bool whole = which != NULL && strcmp(which, "whole") == 0,
               planes = which != NULL && strcmp(which, "planes") == 0, wide = which != NULL && !whole && !planes;
    dev_list list;
    dev *device = NULL;
    ley_error error = {0};
    assert_ok(dev_list_create(&list, &error));
    assert_ok(list.infos[0].backend->open(&list.infos[0], &device, &error));
    CHECK(bandwidth_measure(device) > 0);
    if (wide)
        cuda_fft_most_values = 0;
    /* each a second time from the cache; the last two of some planes alone */
    for (int i = planes ? 4 : 0; i < (whole ? 4 : 6); i++) {
        const fft_wish wish = {.n = {6, 5, 4}, .in_place = i % 2 == 1 || i > 3, .filled = {0, 0, i > 3 ? 2 : 0}};
        dev_fft fft;
        const ley_status status = fft_create(device, &wish, &fft, &error);
        CHECK((status == LEY_OK) == (says == NULL));
        if (says != NULL) {
            CHECK(status == LEY_ERROR_NO_DEVICE);
            CHECK_HAS(error.message, says);
        } else {
            CHECK(strcmp(fft.library, "cufft") == 0 && fft.scratch_bytes == 1000);
            CHECK(fft.from_cache == (i == 2 || i == 3 || i == 5) && fft.error < 1e-6);
        }
        fft_destroy(&fft);
        ley_error_clear(&error);
    }
    device->backend->close(device);
    dev_list_clear(&list);
    CHECK(says != NULL || (ask(getenv("LEYDEN_CUFFT"), "fake_cufft_wide") > 0) == wide);
    CHECK(ask(getenv("LEYDEN_CUFFT"), "fake_cufft_live") == 0);
    check_nothing_is_left();
}

/* clang-format off */
#define SCENARIOS(ROW) \
    ROW(two_cards) ROW(all_variants_and_sums) ROW(more_atoms_than_constant_memory) ROW(works) ROW(no_device) \
    ROW(unusable) ROW(fails) ROW(compilation_fails) ROW(every_call_fails_once) ROW(a_card_disappears) \
    ROW(the_card_disappears) ROW(nothing_is_freed_under_a_copy) ROW(a_card_hangs) ROW(device_interface) \
    ROW(no_copy_onto_itself) ROW(memory_is_kept) ROW(interface_calls_fail) ROW(dumps) ROW(transforms)
/* clang-format on */

/* As programs should end in which a driver has not returned. */
static int leave(void)
{
    fflush(NULL);
    if (ley_driver_is_stuck())
        _exit(0);
    return 0;
}

static int run_scenario(const char *name)
{
    fresh_cache();
#define RUN(scenario) \
    if (strcmp(name, #scenario) == 0) { \
        scenario(); \
        return leave(); \
    }
    SCENARIOS(RUN)
#undef RUN
    fprintf(stderr, "no scenario %s\n", name);
    return 1;
}

/* ---- The parent ------------------------------------------------------------------------------ */

/* What a scenario is told; NULL: nothing. */
typedef struct setup {
    const char *name;
    const char *cuda, *nvrtc; /* the fakes' settings */
    const char *hidden;       /* symbols that the libraries lack, each followed by a space */
    const char *nvrtc_path;   /* another NVRTC */
    const char *says;
    const char *cufft, *cufft_path; /* the fake's settings; another cuFFT */
    const char *transforms;         /* which */
} setup;

/* Where this program lies: its fakes are beside it. */
static void own_path(char path[512])
{
    const ssize_t length = readlink("/proc/self/exe", path, 511);
    assert_true(length > 0);
    path[length] = '\0';
}

/* Spells a symbol otherwise wherever it is a whole string. A lookup goes by the hash of the old
 * name and then compares names. */
static void hide(char *bytes, size_t size, const char *symbol, size_t length)
{
    for (char *at = bytes + 1; at + length < bytes + size; at++)
        if (at[-1] == '\0' && at[length] == '\0' && memcmp(at, symbol, length) == 0)
            at[0] = '_';
}

static void copy_library(const char *name, const char *directory, const char *hidden)
{
    char path[768];
    own_path(path);
    snprintf(strrchr(path, '/'), 256, "/fake_cuda/%s", name);
    size_t size;
    char *bytes = support_read_file(path, &size);
    for (const char *symbol = hidden; symbol != NULL && strchr(symbol, ' ') != NULL; symbol = strchr(symbol, ' ') + 1)
        hide(bytes, size, symbol, strcspn(symbol, " "));
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *to = fopen(path, "wb");
    assert_non_null(to);
    assert_int_equal(fwrite(bytes, 1, size, to), size);
    assert_int_equal(fclose(to), 0);
    free(bytes);
}

static void set_or_not(const char *name, const char *value)
{
    if (value != NULL)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

/* Runs a scenario in a process of its own; fails the test unless it ends well. */
static void in_process(const setup *s)
{
    static int count;
    char directory[256], self[512], nvrtc[300], cufft[300];
    int status = 0;
    snprintf(directory, sizeof directory, "%s/%d", support_directory(), count++);
    assert_int_equal(mkdir(directory, 0700), 0);
    copy_library("libcuda.so.1", directory, s->hidden);
    copy_library("libnvrtc.so", directory, s->hidden);
    copy_library("libcufft.so", directory, s->hidden);
    snprintf(nvrtc, sizeof nvrtc, "%s/libnvrtc.so", directory);
    snprintf(cufft, sizeof cufft, "%s/libcufft.so", directory);
    own_path(self);
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setenv("LD_LIBRARY_PATH", directory, 1);
        setenv("LEYDEN_NVRTC", s->nvrtc_path != NULL ? s->nvrtc_path : nvrtc, 1);
        setenv("LEYDEN_CUFFT", s->cufft_path != NULL ? s->cufft_path : cufft, 1);
        setenv("TEST_CUDA_CACHES", directory, 1);
        setenv("OCL_ICD_VENDORS", "/nonexistent/", 1);
        set_or_not("FAKE_CUDA", s->cuda);
        set_or_not("FAKE_NVRTC", s->nvrtc);
        set_or_not("FAKE_CUFFT", s->cufft);
        set_or_not("TEST_CUDA_SAYS", s->says);
        set_or_not("TEST_CUDA_FFT", s->transforms);
        execl(self, self, s->name, (char *)NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status != 0)
        print_error("scenario %s, hidden \"%s\", FAKE_CUDA \"%s\", FAKE_NVRTC \"%s\": wait status %#x\n", s->name,
                    s->hidden != NULL ? s->hidden : "", s->cuda != NULL ? s->cuda : "",
                    s->nvrtc != NULL ? s->nvrtc : "", status);
    assert_int_equal(status, 0);
}

#define ALONE(scenario) \
    static void test_##scenario(void **state) \
    { \
        (void)state; \
        in_process(&(setup){.name = #scenario}); \
    }
ALONE(two_cards)
ALONE(all_variants_and_sums)
ALONE(more_atoms_than_constant_memory)
ALONE(every_call_fails_once)
ALONE(a_card_disappears)
ALONE(the_card_disappears)
ALONE(nothing_is_freed_under_a_copy)
ALONE(a_card_hangs)
ALONE(device_interface)
ALONE(no_copy_onto_itself)
ALONE(memory_is_kept)
ALONE(interface_calls_fail)

typedef struct symbol_row {
    const char *name;
    bool needed;
} symbol_row;

#define SYMBOL_ROW(field, symbol, is_needed, arguments) {#symbol, is_needed},

static void test_old_drivers(void **state)
{
    static const symbol_row rows[] = {CUDA_DRIVER_TABLE(SYMBOL_ROW)};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char hidden[MAX_SYMBOL], says[128];
        snprintf(hidden, sizeof hidden, "%s ", rows[i].name);
        snprintf(says, sizeof says, "CUDA: the driver is too old: it has no %s", rows[i].name);
        in_process(&(setup){.name = rows[i].needed ? "no_device" : "works", .hidden = hidden, .says = says});
    }
    in_process(&(setup){.name = "works",
                        .hidden = "cuStreamWaitEvent cuCtxSetCurrent cuGetErrorName cuDeviceComputeCapability "});
    in_process(&(setup){.name = "device_interface", .hidden = "cuMemsetD32Async cuStreamWaitEvent "});
    in_process(&(setup){.name = "fails",
                        .hidden = "cuGetErrorName ",
                        .cuda = "fail=cuMemAlloc_v2,at=1,code=2,devices=1",
                        .says = "CUDA_ERROR_OUT_OF_MEMORY (2)"});
}

static void test_old_compilers(void **state)
{
    static const symbol_row rows[] = {CUDA_NVRTC_TABLE(SYMBOL_ROW)};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char hidden[MAX_SYMBOL], says[128];
        snprintf(hidden, sizeof hidden, "%s ", rows[i].name);
        snprintf(says, sizeof says, "it has no %s", rows[i].name);
        in_process(&(setup){.name = rows[i].needed ? "unusable" : "works", .hidden = hidden, .says = says});
    }
    in_process(&(setup){.name = "works", .nvrtc = "hide=1"});
    in_process(&(setup){.name = "works", .nvrtc = "count=1000"});    /* more than there is room for */
    in_process(&(setup){.name = "works", .cuda = "capability=120"}); /* a card that it does not know yet */
}

static void test_no_card(void **state)
{
    in_process(&(setup){.name = "no_device", .cuda = "devices=0", .says = "CUDA: no device"});
    in_process(&(setup){.name = "no_device", .cuda = "init=100", .says = "CUDA: "});
    in_process(&(setup){.name = "no_device", .cuda = "init=999", .says = "999"});
}

static void test_no_compiler(void **state)
{
    in_process(&(setup){.name = "unusable", .nvrtc_path = "/nonexistent", .says = "no NVRTC (/nonexistent)"});
    in_process(&(setup){.name = "compilation_fails", .nvrtc = "fail=1"});
    in_process(&(setup){.name = "fails",
                        .cuda = "capability=30",
                        .says = "Fake card A: NVRTC cannot compile for compute capability 3.0 any more"});
}

/* Which transforms a call is for; NULL: all. */
static const char *transforms_of(const char *symbol)
{
    return strcmp(symbol, "cufftMakePlan3d") == 0                                            ? "whole"
           : strcmp(symbol, "cufftMakePlanMany64") == 0                                      ? "wide"
           : strcmp(symbol, "cufftMakePlanMany") == 0 || strcmp(symbol, "cufftExecC2C") == 0 ? "planes"
                                                                                             : NULL;
}

static void test_transforms(void **state)
{
    static const char *const symbols[] = {
#define SYMBOL(field, symbol, arguments) #symbol,
        CUDA_CUFFT_TABLE(SYMBOL)
#undef SYMBOL
    };
    in_process(&(setup){.name = "transforms"});
    in_process(&(setup){.name = "transforms", .transforms = "wide"});
    in_process(&(setup){.name = "transforms",
                        .cufft_path = "/nonexistent",
                        .says = "/nonexistent is not installed (LEYDEN_CUFFT names"});
    in_process(&(setup){.name = "transforms", .cufft = "wrong=1", .says = "known answer"});
    in_process(
        &(setup){.name = "transforms", .cufft = "work=100000000", .says = "cuFFT wants a work area of 95.4 MiB"});
    in_process(&(setup){.name = "transforms",
                        .hidden = "cuDevicePrimaryCtxRetain ",
                        .says = "the driver is too old: it has no cuDevicePrimaryCtxRetain"});
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i += !support_is_quick()    ? 1
                                                                    : support_is_sanitized ? 12
                                                                                           : 6) {
        char hidden[MAX_SYMBOL], says[128], settings[128];
        snprintf(hidden, sizeof hidden, "%s ", symbols[i]);
        snprintf(says, sizeof says, "cuFFT is too old: it has no %s", symbols[i]);
        in_process(&(setup){.name = "transforms", .hidden = hidden, .says = says});
        if (strcmp(symbols[i], "cufftGetVersion") == 0 || strcmp(symbols[i], "cufftDestroy") == 0)
            continue; /* they never fail */
        snprintf(settings, sizeof settings, "fail=%s,code=5", symbols[i]);
        snprintf(says, sizeof says, "%s: CUFFT_INTERNAL_ERROR (5) at fft_cufft.c:", symbols[i]);
        in_process(
            &(setup){.name = "transforms", .cufft = settings, .says = says, .transforms = transforms_of(symbols[i])});
    }
}

static void test_dumps(void **state)
{
    in_process(&(setup){.name = "dumps", .nvrtc = "remark=1"});
}

static void test_out_of_memory(void **state)
{
    in_process(
        &(setup){.name = "fails", .cuda = "devices=1,fail=cuMemAlloc_v2,at=1,code=2", .says = "288 bytes: cuMemAlloc"});
    in_process(&(setup){.name = "fails",
                        .cuda = "devices=1,fail=cuMemHostAlloc,at=1,code=2",
                        .says = "CUDA_ERROR_OUT_OF_MEMORY (2) at cuda.c:"});
    in_process(&(setup){.name = "fails",
                        .cuda = "devices=1,fail=cuLaunchKernel,at=1,code=719",
                        .says = "CUDA_ERROR_LAUNCH_FAILED (719) at cuda.c:"});
    in_process(&(setup){.name = "fails",
                        .cuda = "devices=1,fail=cuLaunchKernel,at=1,code=719",
                        .says = "cuLaunchKernel(p->function, (unsigned)launch->groups[0], "});
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_cards),
        cmocka_unit_test(test_all_variants_and_sums),
        cmocka_unit_test(test_more_atoms_than_constant_memory),
        cmocka_unit_test(test_old_drivers),
        cmocka_unit_test(test_old_compilers),
        cmocka_unit_test(test_no_card),
        cmocka_unit_test(test_no_compiler),
        cmocka_unit_test(test_dumps),
        cmocka_unit_test(test_transforms),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_every_call_fails_once),
        cmocka_unit_test(test_a_card_disappears),
        cmocka_unit_test(test_the_card_disappears),
        cmocka_unit_test(test_nothing_is_freed_under_a_copy),
        cmocka_unit_test(test_a_card_hangs),
        cmocka_unit_test(test_device_interface),
        cmocka_unit_test(test_no_copy_onto_itself),
        cmocka_unit_test(test_memory_is_kept),
        cmocka_unit_test(test_interface_calls_fail),
    };
    return argc == 2 ? run_scenario(argv[1]) : cmocka_run_group_tests(tests, NULL, NULL);
}
