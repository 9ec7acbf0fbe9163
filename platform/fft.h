/* Real three-dimensional Fourier transforms there and back, in floats, on a device's buffers: one
 * interface to all libraries, of which no type crosses it. A plan that is handed out has passed a
 * known-answer test of its very size on its device, now or, the same library and driver, before:
 * cache -> plan -> known answer -> cache. */
#ifndef LEY_FFT_H
#define LEY_FFT_H

#include "fft_plan.h"

/* Whether factors come from a library's tables. */
typedef enum fft_tables { FFT_TABLES_ANY, FFT_TABLES_NO, FFT_TABLES_YES } fft_tables;

/* What is wanted. What is 0 or NULL is left to fft_create(). */
typedef struct fft_wish {
    size_t n[3];
    size_t filled[3]; /* along each axis, only so many of the grid's first values are not zero on the way there, and
                         wanted on the way back: anything may stand beyond them then. 0: all n. Of meshes that are
                         padded to twice their nodes FFTW and VkFFT leave out 42 % of all rows so, cuFFT a third */
    bool in_place;
    const char *library; /* by its name; NULL: what is predicted fastest */
    fft_tables tables;
    double most_error; /* of the known answer, relative RMS; 0: FFT_USUAL_ERROR. What has been or is measured to be
                          worse is not taken */
    double transforms; /* how many there are going to be, one way each; 0: 2. The fewer there are, the more preparation
                          counts */
    bool is_steady;    /* the same library each time: what has been measured does not count, so that values keep their
                          last digits from one plan to the next */
    bool is_fresh;     /* nothing is taken from the cache; what is made goes there */
} fft_wish;

#define FFT_USUAL_ERROR 1e-5

/* Who asks for less is given tables, where a library has them, unless it is known to do without:
 * factors that are computed on the fly cost digits on some devices. */
#define FFT_FAST_ERROR 2e-6

/* What is predicted without touching the device. */
typedef struct fft_prediction {
    char library[16];
    bool tables, is_measured; /* this very size has been measured; else costs are those of similar sizes, or usual */
    double prepare_s, transform_s;
    size_t scratch_bytes; /* the mesh's, unless it is known that there is none */
} fft_prediction;

/* The i-th library of a device's back end, usable or not; false: there are no more. */
bool fft_library(const dev_info *info, size_t i, dev_fft_library *library);

/* Whether there is one that can be used; else, where `why` is not NULL, why there is none. */
bool fft_is_there(const dev_info *info, char *why, size_t size);

/* The most values, padding included, that any of those which can be used transforms: 0 where there
 * is none. */
uint64_t fft_most_values(const dev_info *info);

/* Whether a size has no prime factor but 2, 3, 5 and 7; and the next one, no smaller, that is even,
 * too, which libraries do well. */
bool fft_is_smooth(size_t n);
size_t fft_good_size(size_t least);

/* The same of three axes, without those that some library is known to do wrongly on this device. */
void fft_good_sizes(const dev_info *info, const size_t least[3], size_t n[3]);

/* The bytes that must move at least, one way: each axis reads and writes those rows once that are
 * not zero, or wanted; `filled` as fft_wish has it, NULL: all. */
double fft_least_bytes(const size_t n[3], const size_t *filled);

/* What fft_create() would try first; false: there is none. */
bool fft_predict(const dev_info *info, const fft_wish *wish, fft_prediction *prediction);

/* A plan as wished. Libraries are tried in the order of what they are predicted to take,
 * preparation included, until one passes. LEY_ERROR_NO_DEVICE, with each one's reason: none does.
 * Takes buffers of the transform's size while it tests. On failure there is no plan. */
ley_status fft_create(dev *device, const fft_wish *wish, dev_fft *fft, ley_error *error);

/* A zeroed one may be destroyed, too. Nothing of it may be under way. */
void fft_destroy(dev_fft *fft);

/* What jobs found a plan to take, one way and the other: where that is much less than what its test
 * found, which waits for more than the transform, it is known from now on. */
void fft_learn(const dev_fft *fft, double forward_s, double back_s);

/* For tests: what is known of a library for sizes like this one, in seconds: to prepare a plan
 * where nothing is kept of it, and for a byte of fft_least_bytes(). NULL: nothing. */
enum { COST_FFT_PREPARE, COST_FFT_BYTE };
void fft_plant_costs(const dev_info *info, const char *library, bool tables, const size_t n[3], const double *seconds);

#endif
