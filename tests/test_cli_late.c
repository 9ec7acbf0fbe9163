/* Devices that are late beside one that is not: how long the whole command takes, from its start to
 * its end, when OpenCL does not return from one of its calls for a minute (faulty_opencl/). */
#include "cli_support.h"

#include "clock.h"

#include <signal.h>
#include <unistd.h>

/* How long the call takes, and the command at most: it is done in less than a second where nothing
 * else runs, kernels compiled. */
enum { LATE_S = 60, MOST_S = 25 };

/* A map by two devices of PoCL; `faults` strike the one in `place`, or nobody (NULL). */
static double map_s(const char *faults, int place, const char *options)
{
    char slow[200];
    snprintf(slow, sizeof slow, "%s,fault=delay,delay_ms=%d,device=%d", faults != NULL ? faults : "", LATE_S * 1000,
             place);
    const double start_s = ley_clock_s();
    cli("%sLEYDEN_CACHE_DIR=%s map ion.pqr -o out/a.dx --dims 30,30,30 --spacing 0.5 %s -v",
        faults != NULL ? cli_faulty(slow) : "", cli_path("late"), options);
    const double took_s = ley_clock_s() - start_s;
    cli_expect(0, "written: ", NULL);
    if (faults != NULL && strstr(options, "--device all") != NULL)
        cli_expect(0, "was not used: the job was done while it was still ", NULL);
    return took_s;
}

static void expect_quick_end(const char *faults, int place, const char *options)
{
    unlink(cli_path("struck"));
    const double took_s = map_s(faults, place, options);
    if (access(cli_path("struck"), F_OK) != 0)
        fail_msg("%s of device %d, %s: not called", faults, place, options);
    if (!(took_s < MOST_S))
        fail_msg("%s of device %d, %s: the command took %.1f s", faults, place, options, took_s);
}

static void remove_file(const char *path)
{
    unlink(path);
}

static void empty_cache(void)
{
    cli_each_file("late/leyden", remove_file);
}

/* Opening takes that long; or the first compilation where nothing is cached, a calibration's. */
static void test_late_to_open_and_to_calibrate(void **state)
{
    static const char *const options[] = {"--device all", ""};
    for (int i = 0; i < 4; i++) {
        empty_cache();
        expect_quick_end("call=clCreateContext,at=1", i / 2, options[i % 2]);
        empty_cache();
        expect_quick_end("call=clBuildProgram,at=1", i / 2, options[i % 2]);
    }
}

/* The compilation of the job's own kernel: devices have been measured, others of their kernels
 * compiled. */
static void test_late_to_build(void **state)
{
    empty_cache();
    map_s(NULL, 0, "--device all --variant vector4");
    expect_quick_end("call=clBuildProgram,at=1", 0, "--device all --variant vector8");
    expect_quick_end("call=clBuildProgram,at=1", 1, "--device all --variant vector8 --sum compensated");
}

/* A library prepares a transform in one call: the command does not wait for it. */
static void test_an_interrupted_preparation(void **state)
{
    char faults[120];
    snprintf(faults, sizeof faults, "call=clBuildProgram,at=2,fault=delay,delay_ms=%d", LATE_S * 1000);
    unlink(cli_path("struck"));
    empty_cache();
    const pid_t child = cli_start("%sLEYDEN_CACHE_DIR=%s bench --kernel fft --fft vkfft --dims 16,12,10 --device all",
                                  cli_faulty(faults), cli_path("late"));
    for (int i = 0; i < 600 && access(cli_path("struck"), F_OK) != 0; i++)
        usleep(100000);
    const double start_s = ley_clock_s();
    kill(child, SIGINT);
    cli_wait(child);
    const double took_s = ley_clock_s() - start_s;
    cli_expect(130, "", "cancelled");
    if (!(took_s < MOST_S))
        fail_msg("the command ended %.1f s after it was interrupted", took_s);
}

/* A stamp that cannot be had once, or seems to be of another time, as where others use the cores:
 * the device is asked again. */
static void test_stamps(void **state)
{
    for (int at = 1; at <= 4; at++) {
        char faults[80];
        snprintf(faults, sizeof faults, "call=clGetEventProfilingInfo,at=%d,fault=fail,device=0", at);
        unlink(cli_path("struck"));
        const cli_result *r = cli_run(0, "\"timestamps\": true", NULL, "%sdevices --json", cli_faulty(faults));
        assert_int_equal(access(cli_path("struck"), F_OK), 0);
        assert_null(strstr(r->out, "\"timestamps\": false"));
    }
}

int main(void)
{
    support_pocl_alone("pthread pthread");
    return RUN_GROUP(SUPPORT_GROUP(.each = cli_empty, .begin = cli_prepare), test_late_to_open_and_to_calibrate,
                     test_late_to_build, test_an_interrupted_preparation, test_stamps);
}
