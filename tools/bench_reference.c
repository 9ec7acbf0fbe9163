#include "bench_reference.h"
#include "console.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double value_of(const json_t *reference, bench_screen_row row)
{
    return json_number_value(json_array_get(json_object_get(reference, "values"), row));
}

double bench_reference_times(const json_t *references, bench_screen_row row, double value)
{
    const double of = value_of(json_array_get(references, 0), row);
    return row == SCREEN_COMMAND ? of / value : value / of;
}

double bench_reference_score(const double times[SCREEN_ROWS])
{
    double sum = 0;
    for (int i = 0; i < SCREEN_ROWS; i++)
        sum += log(times[i]);
    return exp(sum / SCREEN_ROWS);
}

json_t *bench_reference_all(void)
{
    json_t *all = json_of_lines(bench_references), *reference;
    size_t i;
    JSON_EACH(all, i, reference)
    {
        double times[SCREEN_ROWS];
        for (int row = 0; row < SCREEN_ROWS; row++)
            times[row] = bench_reference_times(all, (bench_screen_row)row, value_of(reference, (bench_screen_row)row));
        json_put(reference, "score", json_number(bench_reference_score(times)));
    }
    return all;
}
