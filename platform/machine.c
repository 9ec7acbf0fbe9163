#include "machine.h"

#include "clock.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

/* What follows `before` and a separator in the first line that begins so, without quotation marks;
 * false: there is none. */
static bool find_line(const char *path, const char *before, char separator, char *text, size_t size)
{
    char line[512];
    bool found = false;
    FILE *file = fopen(path, "re");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        char *value = strchr(line, separator);
        found = strncmp(line, before, strlen(before)) == 0 && value != NULL;
        if (!found)
            continue;
        value += 1 + strspn(value + 1, " \t\"");
        value[strcspn(value, "\"\n")] = '\0';
        snprintf(text, size, "%s", value);
    }
    if (file != NULL)
        fclose(file);
    return found;
}

/* Read once: systems take long to write that file where there are many processors. */
static pthread_once_t processor_once = PTHREAD_ONCE_INIT;
static char processor[256];

static void read_processor(void)
{
    struct utsname system;
    /* x86 and Arm; POWER and others */
    if (!find_line("/proc/cpuinfo", "model name", ':', processor, sizeof processor) &&
        !find_line("/proc/cpuinfo", "cpu\t", ':', processor, sizeof processor))
        snprintf(processor, sizeof processor, "%s", uname(&system) == 0 ? system.machine : "");
}

void machine_processor(char *name, size_t size)
{
    pthread_once(&processor_once, read_processor);
    snprintf(name, size, "%s", processor);
}

double machine_clock_MHz(void)
{
    char line[512];
    double sum_MHz = 0, MHz;
    int processors = 0;
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "cpu MHz : %lf", &MHz) == 1 && MHz > 0) {
            sum_MHz += MHz;
            processors++;
        }
    if (file != NULL)
        fclose(file);
    return processors > 0 ? sum_MHz / processors : 0;
}

void machine_system(char *name, size_t size)
{
    struct utsname system;
    char release[128] = "";
    const bool is_known = find_line("/etc/os-release", "PRETTY_NAME", '=', release, sizeof release);
    if (uname(&system) == 0)
        snprintf(name, size, "%s %s %s%s%s", system.sysname, system.release, system.machine, is_known ? ", " : "",
                 release);
    else
        snprintf(name, size, "%s", release);
}

/* ---- Load ------------------------------------------------------------------------------------ */

/* Of a line "cpu  user nice system idle iowait irq softirq steal": all but idle and iowait; guests
 * are in user and nice already. */
static void read_stat(const char *stat, double ticks, machine_load *load)
{
    unsigned long long t[8] = {0};
    if (sscanf(stat, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6],
               &t[7]) < 4)
        return;
    load->busy_s = (double)(t[0] + t[1] + t[2] + t[5] + t[6] + t[7]) / ticks;
    for (const char *line = strchr(stat, '\n'); line != NULL && strncmp(line + 1, "cpu", 3) == 0;
         line = strchr(line + 1, '\n'))
        load->processors++;
}

void machine_load_read(const char *loadavg, const char *stat, double ticks, machine_load *load)
{
    double average;
    *load = (machine_load){.average = -1, .busy_s = -1};
    if (loadavg != NULL && sscanf(loadavg, "%lf", &average) == 1 && average >= 0)
        load->average = average;
    if (stat != NULL && ticks > 0)
        read_stat(stat, ticks, load);
}

/* As much as fits: the processors stand at the beginning. */
static const char *read_file(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return NULL;
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
    return text;
}

static double seconds_of(const struct timeval *t)
{
    return (double)t->tv_sec + 1e-6 * (double)t->tv_usec;
}

/* Compilers of drivers may be children. */
static double own_s(void)
{
    static const int whose[] = {RUSAGE_SELF, RUSAGE_CHILDREN};
    struct rusage usage;
    double seconds = 0;
    for (size_t i = 0; i < sizeof whose / sizeof *whose; i++)
        if (getrusage(whose[i], &usage) == 0)
            seconds += seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime);
    return seconds;
}

void machine_load_now(machine_load *now)
{
    char loadavg[128], stat[1 << 16];
    machine_load_read(read_file("/proc/loadavg", loadavg, sizeof loadavg), read_file("/proc/stat", stat, sizeof stat),
                      (double)sysconf(_SC_CLK_TCK), now);
    now->clock_s = ley_clock_s();
    now->own_s = own_s();
}

double machine_load_of_others(const machine_load *before, const machine_load *after)
{
    const double clock_s = after->clock_s - before->clock_s;
    if (before->busy_s < 0 || after->busy_s < 0 || !(clock_s > 0))
        return -1;
    return fmax((after->busy_s - before->busy_s - (after->own_s - before->own_s)) / clock_s, 0);
}
