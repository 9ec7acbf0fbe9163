/* FFTW in floats, opened at run time: it is there on few systems, and a program that is linked with
 * it would not start on the others. Types and values are those of its version 3. */
#ifndef LEY_FFTW_API_H
#define LEY_FFTW_API_H

#include <stddef.h>

typedef struct fftwf_plan_s *fftw_plan;
typedef float fftw_complex[2];

enum { FFTW_THERE = -1, FFTW_BACK = 1 };
enum { FFTW_ESTIMATE = 1u << 6 };

/* ROW(result, field, symbol, arguments) */
#define FFTW_TABLE(ROW) \
    ROW(fftw_plan, plan_complex, fftwf_plan_many_dft, \
        (int rank, const int *n, int count, fftw_complex *in, const int *in_embed, int in_stride, int in_distance, \
         fftw_complex *out, const int *out_embed, int out_stride, int out_distance, int sign, unsigned flags)) \
    ROW(fftw_plan, plan_there, fftwf_plan_many_dft_r2c, \
        (int rank, const int *n, int count, float *in, const int *in_embed, int in_stride, int in_distance, \
         fftw_complex *out, const int *out_embed, int out_stride, int out_distance, unsigned flags)) \
    ROW(fftw_plan, plan_back, fftwf_plan_many_dft_c2r, \
        (int rank, const int *n, int count, fftw_complex *in, const int *in_embed, int in_stride, int in_distance, \
         float *out, const int *out_embed, int out_stride, int out_distance, unsigned flags)) \
    ROW(void, run_complex, fftwf_execute_dft, (const fftw_plan plan, fftw_complex *in, fftw_complex *out)) \
    ROW(void, run_there, fftwf_execute_dft_r2c, (const fftw_plan plan, float *in, fftw_complex *out)) \
    ROW(void, run_back, fftwf_execute_dft_c2r, (const fftw_plan plan, fftw_complex *in, float *out)) \
    ROW(void, destroy, fftwf_destroy_plan, (fftw_plan plan))

typedef struct fftw_api {
#define FFTW_FIELD(result, field, symbol, arguments) result(*field) arguments;
    FFTW_TABLE(FFTW_FIELD)
#undef FFTW_FIELD
    const char *version; /* "fftw-3.3.10-sse2-avx" */
} fftw_api;

/* Opens it, once a process: LEYDEN_FFTW, else libfftw3f.so.3. NULL: `reason` says why it cannot be
 * used. */
const fftw_api *fftw_open(char *reason, size_t size);

#endif
