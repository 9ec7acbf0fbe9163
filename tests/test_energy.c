/* Counters of energy: folders as Linux has them, a library for a card, and what is not believed. */
#include "support.h"

#include "energy.h"

#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[512];

static void put(const char *zone, const char *file, const char *text)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, zone);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/%s/%s", folder, zone, file);
    char next[1040];
    snprintf(next, sizeof next, "%s.next", path);
    FILE *to = fopen(next, "w"); /* whole at any time: it is read meanwhile */
    assert_non_null(to);
    fputs(text, to);
    fclose(to);
    assert_int_equal(rename(next, path), 0);
}

static void put_zone(const char *zone, const char *name, const char *energy_uj)
{
    put(zone, "name", name);
    put(zone, "max_energy_range_uj", "1000000000\n");
    put(zone, "energy_uj", energy_uj);
}

/* Two packages, a part of the first one, and what is no package. */
static int prepare_zones(void **state)
{
    put_zone("rapl:0", "package-0\n", "5000000\n");
    put_zone("rapl:0:0", "core\n", "4000000\n");
    put_zone("rapl:1", "package-1\n", "7000000\n");
    put_zone("rapl:2", "psys\n", "900000000\n");
    return 0;
}

/* Adds 1 J to a package every 5 ms. */
static atomic_bool is_over;

static void *count(void *context)
{
    for (long joules = 5; !is_over; joules = (joules + 1) % 900) {
        char text[32];
        snprintf(text, sizeof text, "%ld000000\n", joules);
        put("rapl:0", "energy_uj", text);
        usleep(5000);
    }
    return NULL;
}

static energy_counter *open_counting(void)
{
    pthread_t thread;
    is_over = false;
    assert_int_equal(pthread_create(&thread, NULL, count, NULL), 0);
    energy_counter *c = energy_open_powercap(folder, 0.5);
    is_over = true;
    pthread_join(thread, NULL);
    return c;
}

static void test_packages(void **state)
{
    double before_J, after_J;
    energy_counter *c = open_counting();
    assert_non_null(c);
    assert_non_null(strstr(energy_name(c), "2 packages of "));
    assert_true(energy_least_s(c) > 0);
    put("rapl:0", "energy_uj", "999000000\n");
    assert_true(energy_read(c, &before_J));
    put("rapl:0", "energy_uj", "3000000\n"); /* begun again after 1,000 J */
    put("rapl:1", "energy_uj", "9000000\n");
    put("rapl:0:0", "energy_uj", "500000000\n"); /* in the package's sum already */
    assert_true(energy_read(c, &after_J));
    assert_true(fabs(after_J - before_J - 6) < 1e-9);
    unlink(strcat(strcpy((char[1024]){0}, folder), "/rapl:1/energy_uj"));
    assert_false(energy_read(c, &after_J));
    energy_close(c);
}

static void test_not_believed(void **state)
{
    assert_null(energy_open_powercap(folder, 0.02)); /* stands still */
    assert_null(energy_open_powercap("/nonexistent", 0.02));
    assert_true(energy_is_plausible(30, 1) && energy_is_plausible(700, 1));
    assert_false(energy_is_plausible(0, 1) || energy_is_plausible(-5, 1) || energy_is_plausible(1e6, 1));
    assert_false(energy_is_plausible(30, 0) || energy_is_plausible(NAN, 1));
}

static void test_card(void **state)
{
    double before_J, after_J;
    dev_info info = {.device_class = DEV_GPU, .quirks = DEV_QUIRK_PTX, .card = "pci 0000:3b:00"};
    char library[1024] = "";
    const ssize_t length = readlink("/proc/self/exe", library, sizeof library - 64);
    assert_true(length > 0);
    strcpy(strrchr(library, '/'), "/fake_cuda/libnvml.so");
    setenv("LEYDEN_NVML", library, 1);
    energy_counter *c = energy_open(&info);
    assert_non_null(c);
    assert_string_equal(energy_name(c), "NVML");
    assert_true(energy_read(c, &before_J));
    usleep(50000);
    assert_true(energy_read(c, &after_J) && after_J - before_J >= 0.3 * 49);
    energy_state state_now;
    energy_state_now(&info, &state_now);
    assert_true(state_now.power_limit_W == 700 && state_now.clock_MHz == 1980 && state_now.memory_clock_MHz == 0);
    setenv("FAKE_NVML_FAILS", "1", 1);
    energy_state_now(&info, &state_now);
    assert_true(state_now.power_limit_W == 0 && state_now.clock_MHz == 1980);
    assert_false(energy_read(c, &after_J));
    assert_null(energy_open(&info));
    unsetenv("FAKE_NVML_FAILS");
    energy_close(c);
    snprintf(info.card, sizeof info.card, "pci 0000:5e:00"); /* another one */
    assert_null(energy_open(&info));
    energy_state_now(&info, &state_now);
    assert_true(state_now.power_limit_W == 0 && state_now.clock_MHz == 0);
    info.card[0] = '\0'; /* nobody says which one it is */
    assert_null(energy_open(&info));
    info.quirks = 0;
    assert_null(energy_open(&info));
}

/* As lscpu has it, where it says anything. */
static void test_processors(void **state)
{
    const dev_info info = {.device_class = DEV_CPU};
    energy_state state_now;
    energy_state_now(&info, &state_now);
    assert_true(state_now.power_limit_W == 0 && state_now.memory_clock_MHz == 0);
    assert_true(state_now.clock_MHz == 0 || (state_now.clock_MHz > 100 && state_now.clock_MHz < 10000));
    FILE *file = fopen("/proc/cpuinfo", "r");
    char text[1 << 14];
    text[file != NULL ? fread(text, 1, sizeof text - 1, file) : 0] = '\0';
    if (file != NULL)
        fclose(file);
    assert_int_equal(state_now.clock_MHz > 0, strstr(text, "cpu MHz") != NULL);
}

static int prepare(void **state)
{
    snprintf(folder, sizeof folder, "%s/powercap", support_directory());
    return mkdir(folder, 0700);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_packages, prepare_zones),
        cmocka_unit_test_setup(test_not_believed, prepare_zones),
        cmocka_unit_test(test_card),
        cmocka_unit_test(test_processors),
    };
    return cmocka_run_group_tests_name("counters of energy", tests, prepare, NULL);
}
