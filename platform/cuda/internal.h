/* What the files of the CUDA back end share. */
#ifndef LEY_CUDA_INTERNAL_H
#define LEY_CUDA_INTERNAL_H

#include "../buffer_pool.h"
#include "../device.h"
#include "driver_api.h"

/* Size of cm_first, a kernel's first buffer where it reads that from constant memory. */
enum { CUDA_CONSTANT_SYMBOL_BYTES = 64000 };

enum { LANE_LAUNCH, LANE_READ, LANE_COUNT };

enum { CUDA_SPARE_EVENTS = 64 };

typedef struct cuda_dev {
    dev base;
    const cuda_driver *api;
    CUcontext context;
    bool is_primary; /* the card's own context, which libraries on the CUDA runtime share */
    CUstream streams[LANE_COUNT];
    buffer_pool memory;                      /* that buffers to come may have */
    CUevent spare_events[CUDA_SPARE_EVENTS]; /* for operations to come: so many, */
    size_t spare_event_count;
    CUevent origin;  /* recorded when the device was opened: */
    double origin_s; /* its time by the host's clock */
} cuda_dev;

struct dev_program {
    const struct kernel_kind *kind;
    bool is_double; /* its scalars */
    CUmodule module;
    CUfunction function;
    CUdeviceptr constant; /* cm_first, for kernels that read their first buffer from constant memory; else 0 */
    size_t constant_bytes;
    void *image; /* cubin or PTX */
    size_t image_size;
    char *log; /* of the compiler; NULL: none, or a program from the cache */
};

/* Fills in "call: CUDA_ERROR_NAME (code) at file:line"; a call through the table,
 * "api->launch(...)", under its driver function's name. */
ley_status cuda_fail(const cuda_driver *api, ley_error *error, CUresult code, const char *call, const char *file,
                     int line);

/* Every driver call goes through here: returns from the calling function when it fails. */
#define CUDA_TRY(api, error, call) \
    do { \
        const CUresult cuda_code_ = (call); \
        if (cuda_code_ != CUDA_SUCCESS) \
            return cuda_fail(api, error, cuda_code_, #call, __FILE__, __LINE__); \
    } while (0)

ley_status cuda_probe(dev_list *list, ley_error *error);

/* program.c; the device's context is current */
ley_status cuda_build(cuda_dev *d, const dev_source *source, const void *binary, size_t binary_size,
                      dev_program **program, ley_error *error);
void cuda_program_free(cuda_dev *d, dev_program *program);

/* fft_cufft.c; the device's context is current. Grids of more values than this, with their
 * padding, are planned with 64-bit numbers: of more than an int counts, unless a test says less. */
extern size_t cuda_fft_most_values;
bool cuda_fft_library(const dev_info *info, size_t i, dev_fft_library *library);
ley_status cuda_fft_make(cuda_dev *d, const dev_fft_shape *shape, dev_fft_plan **plan, ley_error *error);
ley_status cuda_fft_begin(dev_fft_plan *plan, bool forward, CUdeviceptr from, CUdeviceptr to, CUdeviceptr scratch,
                          ley_error *error);
void cuda_fft_free(dev_fft_plan *plan);

#endif
