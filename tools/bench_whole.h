/* The row of the whole command in `leyden bench`: `leyden map`, from a file of atoms to a file of a
 * map. */
#ifndef LEYDEN_BENCH_WHOLE_H
#define LEYDEN_BENCH_WHOLE_H

#include "leyden.h"

enum { BENCH_WHOLE_MOST_RUNS = 5 };

typedef struct bench_whole {
    ley_status status;
    char failure[1024];
    int timed;
    double runs_s[BENCH_WHOLE_MOST_RUNS]; /* of the clock, in their order */
    double median_s, spread;
    double relative_rms; /* that the command itself has measured of its map */
} bench_whole;

/* Writes a box of water with so many atoms into the folder, and runs the command on this device:
 * once to warm up, then up to `repeats` times, until it has taken `most_s` and been timed once. */
void bench_whole_measure(const ley_device_info *device, const char *folder, int64_t atoms, double tolerance,
                         int repeats, double most_s, bench_whole *command);

#endif
