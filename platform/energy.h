/* Counters of energy: how many joules a device has taken. Of processors they are those of the
 * powercap framework of Linux, of whole packages with all that runs on them; of cards their
 * driver's. A counter is used only when it has been seen to count at a rate that can be. */
#ifndef LEY_ENERGY_H
#define LEY_ENERGY_H

#include "device.h"

typedef struct energy_counter energy_counter;

/* The one of this device; NULL: there is none that can be read and believed. It takes a quarter of
 * a second to be tried. To be closed. */
energy_counter *energy_open(const dev_info *info);

/* The same of processors, with this folder in place of /sys/class/powercap, and so many seconds to
 * try it. */
energy_counter *energy_open_powercap(const char *folder, double trial_s);

/* "2 packages of /sys/class/powercap", "NVML". */
const char *energy_name(const energy_counter *counter);

/* An interval that can be measured well, in seconds: counters go on in steps. */
double energy_least_s(const energy_counter *counter);

/* Joules since some time; counters that begin again at 0 are followed, once between two reads.
 * False: it cannot be read. */
bool energy_read(energy_counter *counter, double *joules);

/* Whether a device can have taken so much in that time: not nothing, and no more than a fuse
 * allows. */
bool energy_is_plausible(double joules, double seconds);

void energy_close(energy_counter *counter);

/* What a device runs at, 0: unknown. Of processors the mean clock of all. */
typedef struct energy_state {
    double clock_MHz, memory_clock_MHz, power_limit_W;
} energy_state;
void energy_state_now(const dev_info *info, energy_state *state);

#endif
