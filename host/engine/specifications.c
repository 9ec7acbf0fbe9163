#include "engine/specifications.h"

#include "spec.h"

static const char *const sums[] = {"float", "compensated", "double"};

const char *specifications_sum(int sum)
{
    return sums[sum];
}

calibration specifications_facts(int best_root, int best_exp, bool fast_fma)
{
    calibration c = {.known = CALIBRATE_ALL, .fma_per_s = fast_fma ? 1e13 : 1e12};
    for (int root = 0; root < LEY_ROOT_COUNT; root++) {
        c.root_error[root] = 3e-7;
        c.roots_per_s[root] = root == best_root ? 1e12 : 1e11;
    }
    for (int exp = 0; exp < LEY_EXP_COUNT; exp++) {
        c.exp_error[exp] = 3e-7;
        c.exps_per_s[exp] = exp == best_exp ? 1e12 : 1e11;
    }
    return c;
}
