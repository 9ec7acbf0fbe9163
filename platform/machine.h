/* The machine that this process runs on: its names, and what else it does meanwhile. */
#ifndef LEY_MACHINE_H
#define LEY_MACHINE_H

#include <stddef.h>

/* The processor's name, as its maker has it; else its architecture. */
void machine_processor(char *name, size_t size);

/* The mean of what /proc/cpuinfo says of its processors now; 0: it says nothing. */
double machine_clock_MHz(void);

/* "Linux 6.1.0 x86_64, Debian GNU/Linux 12 (bookworm)". */
void machine_system(char *name, size_t size);

/* What the machine had done at one moment. */
typedef struct machine_load {
    double average; /* programs that ran or waited, in the last minute; negative: unknown */
    double clock_s;
    double busy_s, own_s; /* of all processors together, by anybody, and by this process; busy_s negative: unknown */
    int processors;       /* 0: unknown */
} machine_load;

/* From /proc; its files' texts (of loadavg and of stat, either may be NULL) are read by the other
 * one, with `ticks` of a processor's time in a second. */
void machine_load_now(machine_load *now);
void machine_load_read(const char *loadavg, const char *stat, double ticks, machine_load *load);

/* Processors that others kept busy between two moments, on average, with what a hypervisor gave to
 * others; negative: unknown. */
double machine_load_of_others(const machine_load *before, const machine_load *after);

#endif
