/* Kernels ready for use on a device: from the build cache, or compiled and put to the test; and
 * their launches, with arguments by name. */
#ifndef LEY_DEV_KERNEL_H
#define LEY_DEV_KERNEL_H

#include "kernel_wishes.h"

typedef struct dev_kernel {
    dev *device;
    const kernel_kind *kind;
    int spec[KERNEL_MOST_KEYS];
    bool is_double;
    size_t group_size[3];
    dev_program *program; /* NULL: there is none */
    bool from_cache;
    cache_key key;      /* empty: it is not kept for later */
    unsigned distrusts; /* of the device, when it was made */
} dev_kernel;

/* The kernel specialised by `spec`, with `prelude` (or NULL) before the first line of its source:
 * one that the device has kept, or one from the cache, which has passed its kind's test when it was
 * built, and once more with `context` where it is suspect since (kernels_distrust()); else a new
 * one is built from source, tested with `context`, and only then cached. On failure there is
 * none. */
ley_status kernel_create(dev *device, const kernel_kind *kind, const void *spec, const char *prelude, void *context,
                         dev_kernel *kernel, ley_error *error);

/* The same from source, whatever is in the cache, which stays as it is; `is_tested`: and put to its
 * kind's test. */
ley_status kernel_create_anew(dev *device, const kernel_kind *kind, const void *spec, bool is_tested, void *context,
                              dev_kernel *kernel, ley_error *error);

/* Seconds that building a kernel of this kind and putting it to its test took at least on such a
 * device, as was found in passing and kept (costs.h); where none was built yet, what is usual. */
double kernel_build_s(const dev_info *info, const kernel_kind *kind);

/* One of several kernels that are wanted at once, and what came of it. */
typedef struct kernel_order {
    const kernel_kind *kind; /* one that has no test: it is not cached either */
    const void *spec;
    dev_kernel kernel;
    ley_status status;
    ley_error error;
} kernel_order;

/* Whether the back end and the device's driver compile several kernels at once: then
 * kernels_create() is quicker than one after the other. */
bool kernels_are_built_at_once(const dev_info *info);

/* Builds all of them; each one's status says whether it is there. */
void kernels_create(dev *device, kernel_order *orders, size_t count);

/* Builds those wishes that are neither kept nor in the cache side by side, if there are several: in
 * threads, or in processes where the driver compiles one at a time. kernel_create() puts them to
 * their tests. What fails is built by it, too. */
void kernels_build_ahead(dev *device, const kernel_wishes *wishes);

/* What a device computed has proved wrong: its kernels that came from the cache become suspect
 * there, to be tested before they are used again and built anew only where they fail; those that it
 * keeps in memory are not used again. The device is idle. */
void kernels_distrust(dev *device);

/* The device keeps its program for the next kernel like it, if it has one that was tested. A zeroed
 * kernel may be destroyed, too. */
void kernel_destroy(dev_kernel *kernel);

/* Starts so many work-groups along x, y, z in the launch lane. `arguments` is a struct X_arguments:
 * see KERNEL_ARGUMENTS. One that is missing, or that is another kernel's, is an error which names
 * it. */
ley_status kernel_launch(const dev_kernel *kernel, const size_t groups[3], const void *arguments, dev_event **done,
                         ley_error *error);

#endif
