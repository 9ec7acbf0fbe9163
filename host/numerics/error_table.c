#include "numerics/error_table.h"

#include <math.h>

const double error_table_ratios[ERROR_TABLE_RATIOS] = {1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 12, 15};

/* tests/make_error_table.c makes the numbers. */
static const double table[SPLITTING_COUNT][WINDOW_COUNT][ERROR_TABLE_RATIOS] = {
#include "numerics/error_table_values.h"
};

double error_table_at(splitting_kind split, window_kind of, double ratio)
{
    const double *e = table[split][of], *at = error_table_ratios;
    const double x = fmin(fmax(ratio, at[0]), at[ERROR_TABLE_RATIOS - 1]);
    int i = 0;
    while (i < ERROR_TABLE_RATIOS - 2 && x > at[i + 1])
        i++;
    return e[i] * pow(e[i + 1] / e[i], log(x / at[i]) / log(at[i + 1] / at[i]));
}

/* Where a smaller error needs a larger ratio, which it does but for noise. */
double error_table_ratio(splitting_kind split, window_kind of, double error)
{
    const double *e = table[split][of], *at = error_table_ratios;
    if (e[0] <= error)
        return at[0];
    for (int i = 1; i < ERROR_TABLE_RATIOS; i++)
        if (e[i] <= error)
            return at[i - 1] * pow(at[i] / at[i - 1], log(error / e[i - 1]) / log(e[i] / e[i - 1]));
    return 0;
}
