#include "bench/limits.h"

#include "machine.h"

#include <math.h>
#include <stdio.h>

/* Some devices run faster than the clock that their drivers name for a while, others slower. */
static const double most_of_peak = 1.5, least_of_peak = 0.15, most_spread = 1.0 / 3, most_others = 0.25;
enum { PIPES = 2 }; /* multiply-adds that a core begins in a clock at most: no processor has more */

/* Lanes of a multiprocessor that multiply and add floats, by compute capability times 10: the CUDA
 * programming guide, "Arithmetic Instructions". */
static int lanes_of(int capability)
{
    static const struct {
        int from, lanes;
    } table[] = {{10, 8}, {20, 32}, {21, 48}, {30, 192}, {50, 128}, {60, 64}, {61, 128}, {70, 64}, {86, 128}};
    int lanes = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (capability >= table[i].from)
            lanes = table[i].lanes;
    return lanes;
}

double bench_limits_peak(const dev_info *info, char *text, size_t size)
{
    const bool is_cpu = info->device_class == DEV_CPU;
    const int width = is_cpu ? info->vector_width : lanes_of(info->capability), pipes = is_cpu ? PIPES : 1;
    if (size > 0)
        text[0] = '\0';
    if (info->compute_units <= 0 || info->clock_MHz <= 0 || width <= 0)
        return 0;
    snprintf(text, size, "%d units x %d MHz x %d wide%s", info->compute_units, info->clock_MHz, width,
             is_cpu ? " x 2" : "");
    return (double)info->compute_units * info->clock_MHz * 1e6 * width * pipes;
}

void bench_limits_judge(const dev_info *info, bench_limits *l)
{
    const double fma_per_s = l->facts.fma_per_s;
    l->peak_fma_per_s = bench_limits_peak(info, l->peak_text, sizeof l->peak_text);
    const double share = l->peak_fma_per_s > 0 ? fma_per_s / l->peak_fma_per_s : 1;
    l->doubt[0] = '\0';
    const bool shares_processors = info->device_class == DEV_CPU && l->others > most_others * l->processors;
    if (share > most_of_peak || share < least_of_peak)
        snprintf(l->doubt, sizeof l->doubt, "limit not plausible: %.3g multiply-adds/s are %.0f %% of %s", fma_per_s,
                 100 * share, l->peak_text);
    else if (shares_processors)
        snprintf(l->doubt, sizeof l->doubt,
                 "limit not plausible: others kept %.1f of %d processors busy while it was measured", l->others,
                 l->processors);
    else if (l->spread > most_spread)
        snprintf(
            l->doubt, sizeof l->doubt,
            "limit not plausible: it was measured %d times, and the worst rate is %.0f %% below the best: something "
            "else uses the device",
            l->rounds, 100 * l->spread);
}

static void take_best(calibration *best, const calibration *c)
{
    for (int root = 0; root < LEY_ROOT_COUNT; root++)
        best->roots_per_s[root] = fmax(best->roots_per_s[root], c->roots_per_s[root]);
    for (int exp = 0; exp < LEY_EXP_COUNT; exp++)
        best->exps_per_s[exp] = fmax(best->exps_per_s[exp], c->exps_per_s[exp]);
    best->fma_per_s = fmax(best->fma_per_s, c->fma_per_s);
}

ley_status bench_limits_measure(dev *device, int rounds, bench_limits *l, ley_error *error)
{
    double least = INFINITY;
    machine_load before, after;
    machine_load_now(&before);
    ley_status status = LEY_OK;
    *l = (bench_limits){.spread = NAN};
    do {
        calibration facts;
        status = calibrate_measure(device, CALIBRATE_ALL, &facts, error);
        if (status != LEY_OK)
            return status;
        if (l->rounds++ == 0)
            l->facts = facts;
        take_best(&l->facts, &facts);
        least = fmin(least, facts.fma_per_s);
    } while (l->rounds < rounds);
    machine_load_now(&after);
    l->others = machine_load_of_others(&before, &after);
    l->processors = after.processors;
    if (l->rounds > 1 && l->facts.fma_per_s > 0)
        l->spread = (l->facts.fma_per_s - least) / l->facts.fma_per_s;
    bench_limits_judge(device->info, l);
    return LEY_OK;
}
