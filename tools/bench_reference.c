#include "bench_reference.h"

#include <math.h>

const bench_reference bench_references[] = {
    {.name = "two cores of an AMD EPYC",
     .says = "with AVX-512, PoCL 3.1, 2026-11-28",
     .value = {[SCREEN_DIRECT] = 46e9,
               [SCREEN_CUTOFF] = 7.5e9,
               [SCREEN_MAP] = 0.5e6,
               [SCREEN_BOUNDARY] = 9.4e9,
               [SCREEN_COMMAND] = 0.9}},
    {.name = "NVIDIA H100 80GB HBM3",
     .says =
         "OpenCL, driver 580.159.04, larger problems: 32,768 atoms at 512 x 512 x 49 points; 1,534,539 atoms at 494 "
         "x 494 x 494 points; boundaries of 1025 x 1025 x 1025 nodes",
     .value = {[SCREEN_DIRECT] = 4593e9,
               [SCREEN_CUTOFF] = 1903e9,
               [SCREEN_MAP] = 1534539 / 12.5e-3,
               [SCREEN_BOUNDARY] = 2206e9,
               [SCREEN_COMMAND] = 0.64},
     .is_of_other_problems = true},
};

const size_t bench_reference_count = sizeof bench_references / sizeof *bench_references;

double bench_reference_times(bench_screen_row row, double value)
{
    const double of = bench_references[0].value[row];
    return row == SCREEN_COMMAND ? of / value : value / of;
}

double bench_reference_score(const double times[SCREEN_ROWS])
{
    double sum = 0;
    for (int i = 0; i < SCREEN_ROWS; i++)
        sum += log(times[i]);
    return exp(sum / SCREEN_ROWS);
}

static double score_of(const bench_reference *r)
{
    double times[SCREEN_ROWS];
    for (int i = 0; i < SCREEN_ROWS; i++)
        times[i] = bench_reference_times((bench_screen_row)i, r->value[i]);
    return bench_reference_score(times);
}

json_t *bench_reference_json(void)
{
    json_t *all = json_array();
    for (size_t i = 0; i < bench_reference_count; i++) {
        const bench_reference *r = &bench_references[i];
        json_t *object = json_object();
        json_put(object, "name", json_text(r->name));
        json_put(object, "says", json_text(r->says));
        json_put(object, "values", json_numbers(r->value, SCREEN_ROWS));
        json_put(object, "score", json_number(score_of(r)));
        json_put(object, "other_problems", json_boolean(r->is_of_other_problems));
        json_add(all, object);
    }
    return all;
}
