/* What the files of the OpenCL back end share. */
#ifndef LEY_OPENCL_INTERNAL_H
#define LEY_OPENCL_INTERNAL_H

#include "cl_check.h"
#include "opencl.h"

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
char *cl_program_log(dev *device, dev_program *program);
void cl_program_destroy(dev *device, dev_program *program);

#endif
