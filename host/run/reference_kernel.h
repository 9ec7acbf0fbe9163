/* The judge on a device: cl/reference.cl, which has the formulas of host/reference.c in double
 * precision and no more. */
#ifndef LEY_REFERENCE_KERNEL_H
#define LEY_REFERENCE_KERNEL_H

#include "device.h"
#include "judge/reference.h"

#include <stdatomic.h>

typedef struct reference_kernel {
    dev *device;
    const reference_terms *terms;
    int group; /* work-items that share a point */
    dev_program *program;
    dev_buffer *atoms, *more, *cell;
} reference_kernel;

/* Gets the program, from the cache or built and tested against the host, and puts the atoms on the
 * device. LEY_ERROR_NO_DEVICE where the device has no double precision or no room; or for a
 * function of the user's, whose errors only the host's interpreter knows. On failure there is
 * nothing to destroy. */
ley_status reference_kernel_create(dev *device, const reference_terms *terms, reference_kernel *kernel,
                                   ley_error *error);

/* How it is built for a device, and this term: its options, and the work-items that share a point. */
int reference_kernel_options(const dev_info *info, int term, char *options, size_t size);

/* Sums at n points, {x, y, z} in A. LEY_CANCELLED soon after *cancelled (may be NULL) turns true. */
ley_status reference_kernel_run(const reference_kernel *kernel, size_t n, const double (*point_A)[3],
                                const atomic_bool *cancelled, reference_value *sums, ley_error *error);

void reference_kernel_destroy(reference_kernel *kernel);

#endif
