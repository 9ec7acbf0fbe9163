/* Devices that are late beside one that is not: how long the whole command takes, from its start to
 * its end, when OpenCL does not return from one of its calls for a minute (faulty_opencl/). */
#include "cli_support.h"

#include "clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
    cli("%sLEYDEN_CACHE_DIR=%s map ion.pqr -o out/a.dx --dims 30,30,30 --spacing 0.5 %s",
        faults != NULL ? cli_faulty(slow) : "", cli_path("late"), options);
    const double took_s = ley_clock_s() - start_s;
    cli_expect(0, "written: ", NULL);
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
    (void)state;
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
    (void)state;
    empty_cache();
    map_s(NULL, 0, "--device all --variant vector4");
    expect_quick_end("call=clBuildProgram,at=1", 0, "--device all --variant vector8");
    expect_quick_end("call=clBuildProgram,at=1", 1, "--device all --variant vector8 --sum compensated");
}

int main(void)
{
    setenv("OCL_ICD_VENDORS", "pocl.icd", 1);
    setenv("POCL_DEVICES", "pthread pthread", 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(test_late_to_open_and_to_calibrate, cli_empty),
                                       cmocka_unit_test_setup(test_late_to_build, cli_empty)};
    return cmocka_run_group_tests(tests, cli_prepare, NULL);
}
