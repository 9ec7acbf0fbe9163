/* cuFFT, opened at run time as the driver is: nothing of it is needed to build or to run elsewhere.
 * Types and values are those of its binary interface, versions 9 to 12. */
#ifndef LEY_CUDA_CUFFT_API_H
#define LEY_CUDA_CUFFT_API_H

#include "driver_api.h"

typedef int cufftResult;
typedef int cufftHandle;

enum { CUFFT_SUCCESS = 0 };
enum { CUFFT_C2C = 0x29, CUFFT_R2C = 0x2a, CUFFT_C2R = 0x2c };
enum { CUFFT_THERE = -1, CUFFT_BACK = 1 };

/* ROW(field, symbol, arguments). A runtime's stream is a driver's. */
#define CUDA_CUFFT_TABLE(ROW) \
    ROW(version, cufftGetVersion, (int *version)) \
    ROW(create, cufftCreate, (cufftHandle * plan)) \
    ROW(destroy, cufftDestroy, (cufftHandle plan)) \
    ROW(set_allocation, cufftSetAutoAllocation, (cufftHandle plan, int is_automatic)) \
    ROW(make, cufftMakePlan3d, (cufftHandle plan, int n_z, int n_y, int n_x, int type, size_t *work_bytes)) \
    ROW(make_many, cufftMakePlanMany, \
        (cufftHandle plan, int rank, int *n, int *in_embed, int in_stride, int in_distance, int *out_embed, \
         int out_stride, int out_distance, int type, int batch, size_t *work_bytes)) \
    ROW(make_many_64, cufftMakePlanMany64, \
        (cufftHandle plan, int rank, long long *n, long long *in_embed, long long in_stride, long long in_distance, \
         long long *out_embed, long long out_stride, long long out_distance, int type, long long batch, \
         size_t *work_bytes)) \
    ROW(set_area, cufftSetWorkArea, (cufftHandle plan, CUdeviceptr area)) \
    ROW(set_stream, cufftSetStream, (cufftHandle plan, CUstream stream)) \
    ROW(there, cufftExecR2C, (cufftHandle plan, CUdeviceptr grid, CUdeviceptr spectrum)) \
    ROW(along, cufftExecC2C, (cufftHandle plan, CUdeviceptr from, CUdeviceptr to, int direction)) \
    ROW(back, cufftExecC2R, (cufftHandle plan, CUdeviceptr spectrum, CUdeviceptr grid))

typedef struct cuda_cufft {
#define CUDA_FIELD(field, symbol, arguments) cufftResult(*field) arguments;
    CUDA_CUFFT_TABLE(CUDA_FIELD)
#undef CUDA_FIELD
} cuda_cufft;

/* Opens cuFFT, once a process: LEYDEN_CUFFT, else the newest that the loader or the toolkit's usual
 * place has. NULL: `reason` says why it cannot be used. */
const cuda_cufft *cuda_cufft_open(char *reason, size_t size);

#endif
