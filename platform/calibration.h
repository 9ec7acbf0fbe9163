/* The results of measuring a device, facts that are asked for one by one: see calibrate.h. */
#ifndef LEY_CALIBRATION_H
#define LEY_CALIBRATION_H

#include "spec.h"

#include <stdint.h>

/* Sets of facts: error and rate of a recipe, for 1/sqrt and for 2^x, and the rate of
 * multiply-adds. */
#define CALIBRATE_ROOT(root) ((uint64_t)1 << (root))
#define CALIBRATE_EXP(exp) ((uint64_t)1 << (LEY_ROOT_COUNT + (exp)))
#define CALIBRATE_MULTIPLY_ADDS CALIBRATE_EXP(LEY_EXP_COUNT)
#define CALIBRATE_ROOTS (CALIBRATE_ROOT(LEY_ROOT_COUNT) - 1)
#define CALIBRATE_EXPS (CALIBRATE_MULTIPLY_ADDS - CALIBRATE_EXP(0))
#define CALIBRATE_ALL (CALIBRATE_ROOTS | CALIBRATE_EXPS | CALIBRATE_MULTIPLY_ADDS)

typedef struct calibration {
    uint64_t known; /* facts that have been measured; of the others, errors are infinite and rates 0 */
    double root_error[LEY_ROOT_COUNT];  /* largest relative error over [1e-5, 1e9]; infinite: not to be had */
    double roots_per_s[LEY_ROOT_COUNT]; /* 0: not to be had */
    double exp_error[LEY_EXP_COUNT];    /* largest relative error of 2^-x over [0, 120] */
    double exps_per_s[LEY_EXP_COUNT];
    double fma_per_s;
} calibration;

#endif
