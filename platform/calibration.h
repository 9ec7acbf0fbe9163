/* The results of measuring a device: see calibrate.h. */
#ifndef LEY_CALIBRATION_H
#define LEY_CALIBRATION_H

#include "spec.h"

typedef struct calibration {
    double root_error[LEY_ROOT_COUNT];  /* largest relative error over [1e-5, 1e9]; infinite: not to be had */
    double roots_per_s[LEY_ROOT_COUNT]; /* 0: not to be had */
    double exp_error[LEY_EXP_COUNT];    /* largest relative error of 2^-x over [0, 120] */
    double exps_per_s[LEY_EXP_COUNT];
    double fma_per_s;
} calibration;

#endif
