/* What several devices gain in a long-range job over the fastest of them. */
#ifndef LEY_LONG_RANGE_BENCH_GAIN_H
#define LEY_LONG_RANGE_BENCH_GAIN_H

#include "bench/bench.h"

/* Whole jobs with these meshes in a box of water: on the device that is the fastest in its rows
 * of the preset's whole, and on all devices of the engine, whose slabs the schedule shares out. The
 * box is as large as that device's was. What fails is said by the gain. */
void msm_measure_gain(ley_engine *engine, const ley_bench_options *options, const bench_device *devices,
                      const char *preset, const ley_long_range *range, bench_gain *gain);

#endif
