/* The judge on a device: cl/reference.cl, which has the formulas of the laws (law/law.h) in
 * double precision and no more. */
#ifndef LEY_VERIFY_REFERENCE_KERNEL_H
#define LEY_VERIFY_REFERENCE_KERNEL_H

#include "arguments.h"
#include "dev_kernel.h"
#include "law/reference.h"
#include "memory/arena.h"

#include <stdatomic.h>

KERNEL_ARGUMENTS_STRUCT(reference, LEY_REFERENCE_ARGUMENTS);
extern const kernel_kind reference_kind;

typedef struct reference_kernel {
    dev *device;
    const reference_terms *terms;
    dev_kernel kernel;
    buffer_of_atom atoms, cell;
    buffer_of_double more;
    arena arena;
} reference_kernel;

/* A few of the atoms and all else that the kernel is tested with: copies, so that a device which is
 * late may keep them. */
typedef struct reference_trial reference_trial;

ley_status reference_trial_create(const reference_terms *terms, reference_trial **trial, ley_error *error);
void reference_trial_destroy(reference_trial *trial); /* may be NULL */

/* Gets the kernel, from the cache or built and tested against the host; looks at nothing but the
 * trial. LEY_ERROR_NO_DEVICE where the device has no double precision; for a law that devices do
 * not judge; for a function of the user's, whose errors only the host's interpreter knows; and for
 * sums over all images, whose waves the host has. On failure there is none. */
ley_status reference_kernel_build(dev *device, reference_trial *trial, dev_kernel *built, ley_error *error);

/* Puts all atoms on the device. The kernel is the new object's, also on failure, when there is
 * nothing to destroy. LEY_ERROR_NO_DEVICE where there is no room. */
ley_status reference_kernel_create(const dev_kernel *built, const reference_terms *terms, reference_kernel *kernel,
                                   ley_error *error);

/* Sums at n points, {x, y, z} in A. LEY_CANCELLED soon after *cancelled (may be NULL) turns
 * true. */
ley_status reference_kernel_run(const reference_kernel *kernel, size_t n, const double (*point_A)[3],
                                const atomic_bool *cancelled, reference_value *sums, ley_error *error);

void reference_kernel_destroy(reference_kernel *kernel);

#endif
