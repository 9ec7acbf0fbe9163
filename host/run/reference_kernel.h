/* The judge on a device: cl/reference.cl, which has the formulas of host/reference.c in double
 * precision and no more. */
#ifndef LEY_REFERENCE_KERNEL_H
#define LEY_REFERENCE_KERNEL_H

#include "arguments.h"
#include "dev_kernel.h"
#include "judge/reference.h"
#include "run/room.h"

#include <stdatomic.h>

KERNEL_ARGUMENTS_STRUCT(reference, LEY_REFERENCE_ARGUMENTS);
extern const kernel_kind reference_kind;

typedef struct reference_kernel {
    dev *device;
    const reference_terms *terms;
    dev_kernel kernel;
    buffer_of_atom atoms, cell;
    buffer_of_double more;
    room room;
} reference_kernel;

/* Gets the kernel, from the cache or built and tested against the host, and puts the atoms on the
 * device. LEY_ERROR_NO_DEVICE where the device has no double precision or no room; or for a
 * function of the user's, whose errors only the host's interpreter knows. On failure there is
 * nothing to destroy. */
ley_status reference_kernel_create(dev *device, const reference_terms *terms, reference_kernel *kernel,
                                   ley_error *error);

/* Sums at n points, {x, y, z} in A. LEY_CANCELLED soon after *cancelled (may be NULL) turns
 * true. */
ley_status reference_kernel_run(const reference_kernel *kernel, size_t n, const double (*point_A)[3],
                                const atomic_bool *cancelled, reference_value *sums, ley_error *error);

void reference_kernel_destroy(reference_kernel *kernel);

#endif
