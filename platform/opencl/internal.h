/* What the files of the OpenCL back end share. */
#ifndef LEY_OPENCL_INTERNAL_H
#define LEY_OPENCL_INTERNAL_H

#include "../device.h"
#include "cl_check.h"

#define CL_COMMON_OPTIONS "-cl-std=CL1.2"

enum { LANE_LAUNCH, LANE_READ, LANE_COUNT };

typedef struct cl_dev {
    dev base;
    cl_device_id id;
    cl_context context;
    cl_command_queue queues[LANE_COUNT];
    double clock_offset_s;         /* host clock minus device clock */
    double last_end_s[LANE_COUNT]; /* end of the last operation waited for, by the host's clock */
} cl_dev;

struct dev_event {
    cl_event event;
    cl_event before; /* of what is more than one command: ended when they begin; else NULL */
    int lane;
    double submitted_s;
};

struct dev_program {
    const struct kernel_kind *kind;
    bool is_double; /* its scalars */
    cl_program program;
    cl_kernel kernel;
};

ley_status cl_probe(dev_list *list, ley_error *error);

/* program.c */
ley_status cl_build(dev *device, const dev_source *source, const void *binary, size_t binary_size,
                    dev_program **program, ley_error *error);
ley_status cl_program_binary(dev *device, dev_program *program, void **binary, size_t *size, ley_error *error);
void cl_build_apart(dev *device, dev_build *builds, size_t count); /* apart.c */
char *cl_program_log(dev *device, dev_program *program);
void cl_program_destroy(dev *device, dev_program *program);

/* A library of Fourier transforms: fft_X.c each. The table of them is in fft.c. */
typedef struct cl_fft_library {
    const char *name;
    bool has_tables, leaves_out, needs_no_area; /* as dev_fft_library has them */
    uint64_t most_values;
    bool (*describe)(const dev_info *info, char version[64], char unusable[DEV_TEXT]); /* false: it cannot be used */
    ley_status (*plan)(cl_dev *d, const dev_fft_shape *shape, const void *kept, size_t kept_size, dev_fft_plan **plan,
                       ley_error *error);
    ley_status (*keep)(dev_fft_plan *plan, void **bytes, size_t *size, ley_error *error);
    ley_status (*run)(cl_dev *d, dev_fft_plan *plan, bool forward, cl_mem from, cl_mem to, cl_mem scratch,
                      ley_error *error); /* enqueues it in the launch lane */
    void (*end)(dev_fft_plan *plan);
} cl_fft_library;

extern const cl_fft_library cl_fft_fftw, cl_fft_vkfft, cl_fft_clfft;

/* fft.c */
bool cl_fft_library_at(const dev_info *info, size_t i, dev_fft_library *library);
ley_status cl_fft_plan(dev *device, size_t library, const dev_fft_shape *shape, const void *kept, size_t kept_size,
                       dev_fft_plan **plan, ley_error *error);
ley_status cl_fft_keep(dev *device, dev_fft_plan *plan, void **bytes, size_t *size, ley_error *error);
ley_status cl_fft_run(dev *device, dev_fft_plan *plan, bool forward, dev_buffer *from, dev_buffer *to,
                      dev_buffer *scratch, dev_event **done, ley_error *error);
void cl_fft_end(dev *device, dev_fft_plan *plan);

/* replay.c */
char *cl_replay(const struct recorder *r, const struct replay *what, bool is_data);

/* settle.c */
bool cl_settled(cl_dev *d);

#endif
