#include "energy.h"

#include "environment.h"
#include "library.h"
#include "log.h"
#include "machine.h"
#include "quirks.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double trial_s = 0.25, least_W = 0.1, most_W = 20000;
static const double powercap_least_s = 0.2, card_least_s = 1; /* cards count every tenth of a second */
enum { MOST_ZONES = 16, ZONE_PATH = 512 };

/* A package's zone. */
typedef struct zone {
    char path[ZONE_PATH];
    double last_J, range_J; /* of the counter, which begins again at `range_J` */
} zone;

struct energy_counter {
    char name[128];
    double least_s, sum_J;
    size_t zones;
    zone zone[MOST_ZONES];
    void *card; /* of NVML; NULL: zones are read */
};

bool energy_is_plausible(double joules, double seconds)
{
    return seconds > 0 && joules >= least_W * seconds && joules <= most_W * seconds;
}

/* ---- Powercap -------------------------------------------------------------------------------- */

static bool read_joules(const char *folder, const char *name, double *joules)
{
    char path[ZONE_PATH + 32];
    double micro_J = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    const bool is_read = file != NULL && fscanf(file, "%lf", &micro_J) == 1;
    if (file != NULL)
        fclose(file);
    *joules = 1e-6 * micro_J;
    return is_read;
}

static bool is_package(const char *folder)
{
    char path[ZONE_PATH + 32], name[64] = "";
    snprintf(path, sizeof path, "%s/name", folder);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    const bool is_read = fscanf(file, "%63s", name) == 1;
    fclose(file);
    return is_read && strncmp(name, "package", 7) == 0;
}

/* Zones "X:0"; those of parts of a package are "X:0:0", and part of its sum. */
static bool is_outermost(const char *name)
{
    const char *colon = strchr(name, ':');
    return colon != NULL && strchr(colon + 1, ':') == NULL;
}

static bool read_zones(energy_counter *c, double *joules)
{
    for (size_t i = 0; i < c->zones; i++) {
        zone *z = &c->zone[i];
        double now_J;
        if (!read_joules(z->path, "energy_uj", &now_J))
            return false;
        c->sum_J += now_J >= z->last_J ? now_J - z->last_J : now_J + z->range_J - z->last_J;
        z->last_J = now_J;
    }
    *joules = c->sum_J;
    return true;
}

static void find_zones(energy_counter *c, const char *folder)
{
    DIR *zones = opendir(folder);
    const struct dirent *entry;
    while (zones != NULL && (entry = readdir(zones)) != NULL && c->zones < MOST_ZONES) {
        zone *z = &c->zone[c->zones];
        snprintf(z->path, sizeof z->path, "%s/%.200s", folder, entry->d_name);
        c->zones += is_outermost(entry->d_name) && is_package(z->path) &&
                    read_joules(z->path, "max_energy_range_uj", &z->range_J) &&
                    read_joules(z->path, "energy_uj", &z->last_J);
    }
    if (zones != NULL)
        closedir(zones);
}

/* ---- NVML ------------------------------------------------------------------------------------ */

typedef struct nvml {
    int (*init)(void);
    int (*find)(const char *bus, void **card);
    int (*energy)(void *card, unsigned long long *milli_J);
    int (*limit)(void *card, unsigned *milli_W); /* old ones lack these: NULL */
    int (*clock)(void *card, int which, unsigned *MHz);
} nvml;

enum { NVML_CLOCK_OF_UNITS = 1, NVML_CLOCK_OF_MEMORY = 2 }; /* nvmlClockType_t */

static nvml api;
static library api_state = {.complaint = "NVML is too old: "};

static void open_nvml(const char *name)
{
    const char *const names[] = {name};
    void *handle = library_open(environment_nvml(), names, 1);
    if (handle == NULL) {
        snprintf(api_state.reason, sizeof api_state.reason, "no NVML (%s)", name);
        return;
    }
    library_find(&api_state, handle, "nvmlInit_v2", true, &api.init, sizeof api.init);
    library_find(&api_state, handle, "nvmlDeviceGetHandleByPciBusId_v2", true, &api.find, sizeof api.find);
    library_find(&api_state, handle, "nvmlDeviceGetTotalEnergyConsumption", true, &api.energy, sizeof api.energy);
    library_find(&api_state, handle, "nvmlDeviceGetEnforcedPowerLimit", false, &api.limit, sizeof api.limit);
    library_find(&api_state, handle, "nvmlDeviceGetClockInfo", false, &api.clock, sizeof api.clock);
    if (api_state.reason[0] == '\0' && api.init() != 0)
        snprintf(api_state.reason, sizeof api_state.reason, "NVML does not begin");
}

static const char *library_name;

static void open_nvml_once(void)
{
    open_nvml(library_name);
}

static bool find_card(const dev_info *info, void **card)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static const char before[] = "pci ";
    char bus[DEV_TEXT + 4];
    const char *name = quirks_energy_library(info);
    if (name == NULL || strncmp(info->card, before, sizeof before - 1) != 0)
        return false;
    library_name = name;
    pthread_once(&once, open_nvml_once);
    const nvml *found = library_give(&api_state, &api, NULL, 0);
    snprintf(bus, sizeof bus, "%s.0", info->card + sizeof before - 1);
    return found != NULL && found->find(bus, card) == 0;
}

static bool read_card(const energy_counter *c, double *joules)
{
    unsigned long long milli_J = 0;
    if (api.energy(c->card, &milli_J) != 0)
        return false;
    *joules = 1e-3 * (double)milli_J;
    return true;
}

static double clock_of(void *card, int which)
{
    unsigned MHz = 0;
    return api.clock != NULL && api.clock(card, which, &MHz) == 0 ? MHz : 0;
}

void energy_state_now(const dev_info *info, energy_state *state)
{
    void *card = NULL;
    unsigned milli_W = 0;
    *state = (energy_state){0, 0, 0};
    if (info->device_class == DEV_CPU) {
        state->clock_MHz = machine_clock_MHz();
    } else if (find_card(info, &card)) {
        state->clock_MHz = clock_of(card, NVML_CLOCK_OF_UNITS);
        state->memory_clock_MHz = clock_of(card, NVML_CLOCK_OF_MEMORY);
        if (api.limit != NULL && api.limit(card, &milli_W) == 0)
            state->power_limit_W = 1e-3 * milli_W;
    }
}

/* ---- The device interface -------------------------------------------------------------------- */

bool energy_read(energy_counter *c, double *joules)
{
    return c->card != NULL ? read_card(c, joules) : read_zones(c, joules);
}

const char *energy_name(const energy_counter *c)
{
    return c->name;
}

double energy_least_s(const energy_counter *c)
{
    return c->least_s;
}

void energy_close(energy_counter *c)
{
    free(c);
}

/* What does not count, or counts what cannot be, as in some virtual machines, is closed. */
static energy_counter *tried(energy_counter *c, double seconds)
{
    double before_J = 0, after_J = 0;
    const struct timespec pause = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    bool is_right = (c->card != NULL || c->zones > 0) && energy_read(c, &before_J);
    if (is_right) {
        nanosleep(&pause, NULL);
        is_right = energy_read(c, &after_J) && energy_is_plausible(after_J - before_J, seconds);
        if (!is_right)
            log_say(LEY_LOG_NOTE, "%s: %.3g J in %.2f s: not believed", c->name, after_J - before_J, seconds);
    }
    if (is_right)
        return c;
    energy_close(c);
    return NULL;
}

energy_counter *energy_open_powercap(const char *folder, double seconds)
{
    energy_counter *c = calloc(1, sizeof *c);
    if (c == NULL)
        return NULL;
    find_zones(c, folder);
    c->least_s = powercap_least_s;
    snprintf(c->name, sizeof c->name, "%zu package%s of %.80s", c->zones, c->zones == 1 ? "" : "s", folder);
    return tried(c, seconds);
}

energy_counter *energy_open(const dev_info *info)
{
    if (info->device_class == DEV_CPU)
        return energy_open_powercap("/sys/class/powercap", trial_s);
    energy_counter *c = calloc(1, sizeof *c);
    if (c != NULL && find_card(info, &c->card)) {
        c->least_s = card_least_s;
        snprintf(c->name, sizeof c->name, "NVML");
        return tried(c, trial_s);
    }
    free(c);
    return NULL;
}
