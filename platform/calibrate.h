/* What a device's arithmetic is worth, measured on it: the error and the rate of each recipe for reciprocal square roots and for
 * exponentials, and the rate of multiply-adds. Measured once a device and driver, and kept in the build cache. */
#ifndef LEY_CALIBRATE_H
#define LEY_CALIBRATE_H

#include "device.h"
#include "spec.h"

typedef struct calibration {
    double root_error[LEY_ROOT_COUNT];  /* largest relative error over [1e-5, 1e9]; infinite: not to be had */
    double roots_per_s[LEY_ROOT_COUNT]; /* 0: not to be had */
    double exp_error[LEY_EXP_COUNT];    /* largest relative error of 2^-x over [0, 120] */
    double exps_per_s[LEY_EXP_COUNT];
    double fma_per_s;
} calibration;

/* "rsqrt", "1/sqrt", "native_rsqrt", "Newton", "PTX rsqrt.approx.ftz", "vrsqrt14ps + Newton". */
const char *calibrate_root_name(int root);

/* Whether the device can be asked for this recipe in vectors of this width. */
bool calibrate_root_possible(const dev_info *info, int root, int width);

/* The same of exponentials: "exp2", "native_exp2", "polynomial", "PTX ex2.approx.ftz". */
const char *calibrate_exp_name(int exp);
bool calibrate_exp_possible(const dev_info *info, int exp, int width);
int calibrate_fastest_exp(const dev_info *info, const calibration *c, int width, double need);

/* The vector width that the device is measured at. */
int calibrate_width(const dev_info *info);

/* What is known without touching the device. */
bool calibrate_cached(const dev_info *info, calibration *result);

/* Measures, and keeps the result. A recipe that fails to build is not to be had; LEY_ERROR_DEVICE when not even the
 * standard's root runs. */
ley_status calibrate_measure(dev *device, calibration *result, ley_error *error);

/* Bytes a second that come from local memory, 16 at a time and all work-items of a group reading the same ones; 0: not to be had. Measured at
 * each call: only benchmarks ask. */
double calibrate_local_bytes(dev *device);

/* The cached result, else a measured one. */
ley_status calibrate_get(dev *device, calibration *result, ley_error *error);

/* The fastest recipe of this width whose error is at most `need`, or the most accurate when there is none. */
int calibrate_fastest_root(const dev_info *info, const calibration *c, int width, double need);

#endif
