/* What a device's arithmetic is worth, measured on it: the error and the rate of recipes for
 * reciprocal square roots and for exponentials, and the rate of multiply-adds. Of these facts
 * (calibration.h) callers name the ones that they need; each is measured once per device and
 * driver, and kept in the build cache. */
#ifndef LEY_CALIBRATE_H
#define LEY_CALIBRATE_H

#include "kernel_kind.h"

/* The kernels that measure. */
extern const kernel_kind roots_kind, exps_kind, multiply_adds_kind, local_reads_kind;

/* "rsqrt", "1/sqrt", "native_rsqrt", "Newton", "PTX rsqrt.approx.ftz", "vrsqrt14ps + Newton",
 * "native_rsqrt + Newton". */
const char *calibrate_root_name(int root);

/* The same in one word each, for files: "standard", "reciprocal", "native", "newton", "ptx",
 * "avx512", "refined". */
const char *calibrate_root_word(int root);

/* Whether the device can be asked for this recipe in vectors of this width. */
bool calibrate_root_possible(const dev_info *info, int root, int width);

/* The same of exponentials: "exp2", "native_exp2", "polynomial", "PTX ex2.approx.ftz". */
const char *calibrate_exp_name(int exp);
const char *calibrate_exp_word(int exp);
bool calibrate_exp_possible(const dev_info *info, int exp, int width);
int calibrate_fastest_exp(const dev_info *info, const calibration *c, int width, double need);

/* The vector width that the device is measured at. */
int calibrate_width(const dev_info *info);

/* What has proved the fastest on such devices: measured first. */
int calibrate_likely_root(const dev_info *info);
int calibrate_likely_exp(const dev_info *info);

/* The smallest error that anybody asks for: of recipes that are right to it only the fastest one's
 * rate is measured well. */
#define CALIBRATE_FINEST 1e-6

/* What the build cache knows, without touching the device: whether that is all of `facts` that the
 * device can be asked for. */
bool calibrate_cached(const dev_info *info, uint64_t facts, calibration *result);

/* What a job on this device will see, as far as it is known without touching the device, and
 * whether all of `facts` is; `device` is NULL when it is not open. */
bool calibrate_known(const dev *device, const dev_info *info, uint64_t facts, calibration *result);

/* Measures facts anew and in full, and keeps them, for this device as it is open and in the cache.
 * A recipe that fails to build is not to be had; LEY_ERROR_DEVICE when not even the standard's
 * runs. */
ley_status calibrate_measure(dev *device, uint64_t facts, calibration *result, ley_error *error);

/* Bytes per second that come from local memory, 16 at a time and all work-items of a group reading
 * the same ones; 0: not to be had. Measured at each call: only benchmarks ask. */
double calibrate_local_bytes(dev *device);

/* The device's thread does not come back: others need not wait for it to be measured. */
void calibrate_leave(const dev *device);

/* These facts of the device, and others that are known of it: those that nobody has asked for
 * before from the cache, else measured. From then on each stays as it is while the device is open,
 * so that the same job gives the same bytes whatever others measure meanwhile. Measuring takes
 * about a second at most, whatever else the machine has to do: recipes that there was no time for
 * are not known then, and measured when they are asked for another time. Where the driver compiles
 * one kernel at a time, or the device is a card of NVIDIA's, a job of few pairs (device->pairs) is
 * not worth the kernels that measure: it gets what is usual of such devices. Such jobs get the same
 * from then on, others do not. */
ley_status calibrate_get(dev *device, uint64_t facts, calibration *result, ley_error *error);

/* The fastest recipe of this width whose error is at most `need`, or the most accurate when there
 * is none. */
int calibrate_fastest_root(const dev_info *info, const calibration *c, int width, double need);

#endif
