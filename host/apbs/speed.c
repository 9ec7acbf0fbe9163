#include "apbs/speed.h"

#include "clock.h"

#include <math.h>
#include <stdio.h>

enum { ATOMS = 1000, NODES = 20, NUMBERS = 1000 };

const double apbs_times[] = {[COST_PAIR_NO_SALT] = 1.12, [COST_PAIR_SALT] = 1.48, [COST_SCANNED_NUMBER] = 5};

/* As APBS writes it down: a division, and with salt an exponential and another one. */
static double add_pairs(const double (*atom)[5], double x_A, double kappa_per_A)
{
    double sum = 0;
    for (int i = 0; i < ATOMS; i++) {
        const double dx_A = atom[i][0] - x_A, dy_A = atom[i][1], dz_A = atom[i][2];
        const double d_A = sqrt(dx_A * dx_A + dy_A * dy_A + dz_A * dz_A);
        double value = atom[i][3] / d_A;
        if (kappa_per_A > 0)
            value *= exp(-kappa_per_A * (d_A - atom[i][4])) / (1 + kappa_per_A * atom[i][4]);
        sum += value;
    }
    return sum;
}

static double time_pairs(const double (*atom)[5], double kappa_per_A)
{
    volatile double sum = 0;
    const double start_s = ley_clock_s();
    for (int node = 0; node < NODES; node++)
        sum += add_pairs(atom, 30 + 0.1 * node, kappa_per_A);
    return (ley_clock_s() - start_s) / (NODES * ATOMS);
}

static double time_numbers(void)
{
    double number = 0;
    const double start_s = ley_clock_s();
    for (int i = 0; i < NUMBERS; i++)
        if (sscanf("0", "%lf", &number) != 1)
            return 0;
    return (ley_clock_s() - start_s) / NUMBERS;
}

static bool measure_apbs(void *context, double *seconds)
{
    double atom[ATOMS][5];
    (void)context;
    for (int i = 0; i < ATOMS; i++) {
        const double place[5] = {0.01 * i, 20 + i % 7, 3, 0.1, 1.5};
        for (int k = 0; k < 5; k++)
            atom[i][k] = place[k];
    }
    const double(*const read)[5] = (const double(*)[5])atom;
    seconds[COST_PAIR_NO_SALT] = time_pairs(read, 0);
    seconds[COST_PAIR_SALT] = time_pairs(read, 0.1);
    seconds[COST_SCANNED_NUMBER] = time_numbers();
    return true;
}

const costs_kind apbs_costs = {.name = "apbs",
                               .count = 3,
                               .bounds = {[COST_PAIR_NO_SALT] = {2e-10, 3.1e-9, 6e-8},
                                          [COST_PAIR_SALT] = {4e-10, 6.2e-9, 1.2e-7},
                                          [COST_SCANNED_NUMBER] = {2e-9, 3.6e-8, 7e-7}},
                               .measure = measure_apbs};
