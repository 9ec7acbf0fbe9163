#include "core/deal.h"

#include <math.h>

/* As many pieces for each worker as take him no longer than `most`: whether these are all. */
static bool deal_within(double most, const double *weight, int64_t pieces, const double *speed, size_t workers,
                        int64_t *first)
{
    int64_t at = 0;
    for (size_t w = 0; w < workers; w++) {
        double taken = 0;
        first[w] = at;
        for (; at < pieces && speed[w] > 0 && taken + weight[at] <= most * speed[w]; at++)
            taken += weight[at];
    }
    first[workers] = at;
    return at == pieces;
}

void deal_in_rows(const double *weight, int64_t pieces, const double *speed, size_t workers, int64_t *first)
{
    enum { HALVINGS = 60 };
    double low = 0, high = 1;
    while (!deal_within(high, weight, pieces, speed, workers, first))
        high *= 2;
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = (low + high) / 2;
        *(deal_within(middle, weight, pieces, speed, workers, first) ? &high : &low) = middle;
    }
    deal_within(high, weight, pieces, speed, workers, first);
}

bool deal_compare_speeds(double *speed, size_t workers)
{
    const double alike = 1.25;
    double slowest = INFINITY, fastest = 0;
    bool are_known = true;
    for (size_t w = 0; w < workers; w++) {
        are_known = are_known && !isnan(speed[w]);
        fastest = fmax(fastest, isnan(speed[w]) ? 1 : speed[w]);
        slowest = speed[w] > 0 ? fmin(slowest, speed[w]) : slowest;
    }
    for (size_t w = 0; w < workers && (!are_known || fastest < alike * slowest); w++)
        speed[w] = speed[w] != 0;
    return fastest > 0;
}
