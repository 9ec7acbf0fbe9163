#include "known_drivers.h"

#include "../build_cache.h"
#include "../environment.h"
#include "../log.h"
#include "../quirks.h"
#include "../watch.h"
#include "cl_check.h"
#include "drivers.h"
#include "trial.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static const int64_t forgotten_after_s = 3600;
static const char processors[] = "/sys/devices/system/cpu";

/* An entry of the cache: all of it zero but what is said. */
typedef struct record {
    trial_result result;
    int64_t bytes, changed_s, changed_ns; /* of the library's file */
    int64_t tried_s;
} record;

static struct {
    pthread_mutex_t lock;
    bool is_done, any; /* any driver is left */
    dev_list remarks;
} loaded = {.lock = PTHREAD_MUTEX_INITIALIZER};
static log_first complaint = LOG_FIRST;

const char *cl_driver_complaint(void)
{
    return log_first_text(&complaint);
}

/* ---- What is known --------------------------------------------------------------------------- */

/* What of the machine and of the process a driver's life may depend on. */
static void describe_circumstances(char *text, size_t size)
{
    struct utsname machine = {.nodename = ""};
    static const int limits[] = {RLIMIT_AS, RLIMIT_DATA, RLIMIT_NPROC, RLIMIT_NOFILE, RLIMIT_STACK};
    struct rlimit limit[5] = {{0, 0}};
    uname(&machine);
    size_t used = (size_t)snprintf(text, size, "%s %s, %s", machine.nodename, machine.release,
                                   access(processors, R_OK) == 0 ? "sys" : "no sys");
    for (int i = 0; i < 5; i++) {
        getrlimit(limits[i], &limit[i]);
        used += (size_t)snprintf(text + used, size - used, ", %llu", (unsigned long long)limit[i].rlim_cur);
    }
    for (const char *const *name = quirks_driver_variables; *name != NULL && used < size; name++) {
        const char *value = environment_of(*name);
        used += (size_t)snprintf(text + used, size - used, "\n%s=%s", *name, value != NULL ? value : "");
    }
}

static cache_key key_of(const cl_driver *driver)
{
    char circumstances[8192];
    describe_circumstances(circumstances, sizeof circumstances);
    return cache_key_of_host(circumstances, "driver", driver->library, driver->named_by);
}

/* Whether the library's file is there, and the one that was tried. */
static bool find_file(record *r)
{
    struct stat status;
    if (r->result.file[0] == '\0' || stat(r->result.file, &status) != 0)
        return false;
    r->bytes = status.st_size;
    r->changed_s = status.st_mtim.tv_sec;
    r->changed_ns = status.st_mtim.tv_nsec;
    return true;
}

static bool is_known(const cl_driver *driver, bool afresh, trial_result *result)
{
    size_t size = 0;
    const cache_key key = key_of(driver);
    record *kept = cache_get(&key, &size);
    bool is = kept != NULL && size == sizeof *kept;
    if (is) {
        record now = *kept;
        const int64_t age_s = time(NULL) - kept->tried_s;
        is = find_file(&now) && memcmp(&now, kept, sizeof now) == 0 &&
             (kept->result.end == TRIAL_LIVES || (!afresh && age_s >= 0 && age_s < forgotten_after_s));
        *result = kept->result;
    }
    free(kept);
    return is;
}

/* Signals that somebody else sends. */
static bool is_from_outside(const trial_result *r)
{
    return r->end == TRIAL_KILLED && (r->number == SIGINT || r->number == SIGTERM || r->number == SIGHUP ||
                                      r->number == SIGQUIT || r->number == SIGKILL);
}

static void keep(const cl_driver *driver, const trial_result *result)
{
    record r;
    memset(&r, 0, sizeof r); /* what is between fields, too */
    r.result = *result;
    r.tried_s = time(NULL);
    const cache_key key = key_of(driver);
    if (result->end != TRIAL_UNKNOWN && !is_from_outside(result) && find_file(&r))
        cache_put(&key, &r, sizeof r);
}

/* This process has it already, and lives. */
static bool is_loaded(const char *library)
{
    void *handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
    if (handle != NULL)
        dlclose(handle);
    return handle != NULL;
}

/* ---- What is said ---------------------------------------------------------------------------- */

static void say_end(const trial_result *r, char *text, size_t size)
{
    const char *signal_name = r->end == TRIAL_KILLED ? sigabbrev_np(r->number) : NULL;
    if (r->end == TRIAL_HUNG)
        snprintf(text, size, "does not return from %s", r->call);
    else if (r->end == TRIAL_KILLED)
        snprintf(text, size, "ends the process by signal %d (SIG%s) in %s", r->number,
                 signal_name != NULL ? signal_name : "?", r->call);
    else if (strcmp(r->call, "dlopen") == 0)
        snprintf(text, size, "cannot be loaded");
    else
        snprintf(text, size, "ends the process in %s", r->call);
}

/* What may help. */
static void advise(char *text, size_t size)
{
    struct rlimit space;
    if (access(processors, R_OK) != 0)
        snprintf(text, size, "/sys is not mounted, where drivers look for processors: mount -t sysfs sysfs /sys");
    else if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
        snprintf(text, size, "ulimit -v leaves it %s", ley_size((double)space.rlim_cur).s);
    else
        snprintf(text, size, "update or remove its package");
}

static void remark(const cl_driver *driver, const trial_result *result)
{
    char end[128], advice[128], words[TRIAL_TEXT + 16] = "";
    say_end(result, end, sizeof end);
    advise(advice, sizeof advice);
    if (result->words[0] != '\0')
        snprintf(words, sizeof words, ", saying \"%s\"", result->words);
    dev_list_note(&loaded.remarks, "%.120s: left out: the driver %s%s", driver->named_by, end, words);
    dev_list_note(&loaded.remarks, "%.120s: %s; 'leyden devices' tries it again", driver->named_by, advice);
    log_complain(&complaint, "an OpenCL driver is left out", driver->named_by, end);
}

/* ---- Loading --------------------------------------------------------------------------------- */

/* Those that are not known are tried all at once. */
static void try_new(const cl_driver *drivers, size_t count, bool afresh, trial_result *results)
{
    const char **libraries = calloc(count, sizeof *libraries);
    size_t *places = calloc(count, sizeof *places), new = 0;
    trial_result *answers = calloc(count, sizeof *answers);
    for (size_t i = 0; i < count && libraries != NULL && places != NULL; i++)
        if (!is_loaded(drivers[i].library) && !is_known(&drivers[i], afresh, &results[i])) {
            libraries[new] = drivers[i].library;
            places[new ++] = i;
        }
    if (answers != NULL && new > 0)
        trial_run(libraries, new, watch_trial_s(), answers);
    for (size_t i = 0; i < new &&answers != NULL; i++) {
        results[places[i]] = answers[i];
        keep(&drivers[places[i]], &answers[i]);
        log_say(LEY_LOG_DETAIL, "OpenCL driver %s: tried in a process of its own", drivers[places[i]].library);
    }
    free(libraries);
    free(places);
    free(answers);
}

/* The loader reads its list of drivers at its first call. */
static void load(const char *const *libraries, size_t count)
{
    cl_uint platforms;
    cl_drivers_shown shown;
    loaded.any = count > 0 && cl_drivers_show(libraries, count, &shown);
    if (!loaded.any)
        return;
    clGetPlatformIDs(0, NULL, &platforms);
    cl_drivers_show_all(&shown);
}

static void load_living(bool afresh)
{
    size_t count, living = 0;
    cl_driver *drivers = cl_drivers_find(&count);
    trial_result *results = calloc(count + 1, sizeof *results);
    const char **libraries = calloc(count + 1, sizeof *libraries);
    loaded.any = true;
    for (const quirk_variable *v = quirks_driver_settings; v->name != NULL; v++)
        environment_set_unless_there(v->name, v->value);
    if (results != NULL && libraries != NULL) {
        try_new(drivers, count, afresh, results);
        for (size_t i = 0; i < count; i++)
            if (results[i].end == TRIAL_LIVES || results[i].end == TRIAL_UNKNOWN)
                libraries[living++] = drivers[i].library;
            else
                remark(&drivers[i], &results[i]);
        if (living < count)
            load(libraries, living);
    }
    free(libraries);
    free(results);
    free(drivers);
}

bool cl_drivers_load(bool afresh, dev_list *list)
{
    pthread_mutex_lock(&loaded.lock);
    if (!loaded.is_done)
        load_living(afresh);
    loaded.is_done = true;
    for (size_t i = 0; i < loaded.remarks.note_count; i++)
        dev_list_note(list, "%s", loaded.remarks.notes[i]);
    pthread_mutex_unlock(&loaded.lock);
    return loaded.any;
}
