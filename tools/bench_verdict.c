#include "bench_verdict.h"

#include <math.h>
#include <stddef.h>

bool bench_is_wrong(const ley_bench_row *row)
{
    return row->status == LEY_ERROR_WRONG_RESULT ||
           (row->status == LEY_OK && row->accuracy.points > 0 && !row->accuracy.passed);
}

bool bench_is_absent(const ley_bench_row *row)
{
    return row->status == LEY_ERROR_NO_DEVICE;
}

bool bench_is_failed(const ley_bench_row *row)
{
    return row->status != LEY_OK && !bench_is_wrong(row) && !bench_is_absent(row);
}

const ley_bench_row *bench_nothing_measured(const ley_bench *bench)
{
    const ley_bench_row *first = NULL;
    for (size_t d = 0; d < ley_bench_device_count(bench); d++) {
        const ley_bench_device *device = ley_bench_get(bench, d);
        if (device->status != LEY_OK || device->size_count > 0)
            return NULL;
        for (size_t i = 0; i < device->row_count; i++) {
            if (!bench_is_absent(&device->rows[i]))
                return NULL;
            first = first != NULL ? first : &device->rows[i];
        }
    }
    return first;
}

ley_status bench_verdict(const ley_bench *bench)
{
    bool wrong = false, failed = false;
    for (size_t d = 0; d < ley_bench_device_count(bench); d++) {
        const ley_bench_device *device = ley_bench_get(bench, d);
        wrong = wrong || device->status == LEY_ERROR_WRONG_RESULT;
        failed = failed || device->status != LEY_OK;
        for (size_t i = 0; i < device->row_count; i++) {
            wrong = wrong || bench_is_wrong(&device->rows[i]);
            failed = failed || bench_is_failed(&device->rows[i]);
        }
        for (size_t i = 0; i < device->size_count; i++)
            wrong = wrong || !device->sizes[i].accuracy.passed;
    }
    for (size_t i = 0; i < ley_bench_gain_count(bench); i++) {
        const ley_bench_gain *g = ley_bench_gain_get(bench, i);
        wrong = wrong || g->status == LEY_ERROR_WRONG_RESULT;
        failed = failed || (g->status != LEY_OK && g->status != LEY_ERROR_NO_DEVICE);
    }
    return wrong                                   ? LEY_ERROR_WRONG_RESULT
           : failed                                ? LEY_ERROR_DEVICE
           : bench_nothing_measured(bench) != NULL ? LEY_ERROR_NO_DEVICE
                                                   : LEY_OK;
}

const char *bench_why_absent(const ley_bench_row *row)
{
    return row->failure != NULL ? row->failure : "the device cannot do it";
}

double bench_best_rate(const ley_bench_device *device)
{
    double best = 0;
    for (size_t i = 0; i < device->row_count; i++)
        if (device->rows[i].status == LEY_OK && !bench_is_wrong(&device->rows[i]))
            best = fmax(best, device->rows[i].evaluations_per_s);
    return best;
}
