/* The kernel of Gaussians at points anywhere, chosen for a device, built and put to the test. */
#ifndef LEY_WAVEFUNCTION_LIST_BUILD_H
#define LEY_WAVEFUNCTION_LIST_BUILD_H

#include "engine/tuning.h"
#include "methods/wavefunction/list.h"

enum { LIST_MOST_AT_ONCE = 4 };

/* The variant for many orbitals, which takes a contracted expansion. */
#define LIST_OF_MANY "many"

/* What a device must know for a kernel, without the problem: it has copies of its own. */
typedef struct list_wish {
    const char *variant; /* NULL: by the class of device */
    int math, sum;       /* TUNING_..., LEY_SPEC_SUM_... */
    tuning_planned planned;
    bool has_derivatives, is_single;
    int64_t vectors[2];       /* of the basis: of one orbital, and of LIST_MOST_AT_ONCE */
    char *code;               /* for the variant that is compiled: basis_code; else NULL */
    bool is_short;            /* it is */
    ley_wavefunction *sample; /* what that is tested with */
} list_wish;

/* Adds what follows from a problem's basis and the variant. Errors: LEY_ERROR_MEMORY. */
ley_status list_wish_create(const expansion *e, const char *variant, list_wish *made, ley_error *error);
void list_wish_destroy(list_wish *wish);

/* Names of the variants, and whether it is one of them. */
const char *list_variant(size_t i);
bool list_has_variant(const char *name);

/* Chooses, calibrates, builds and tests. Errors also: LEY_ERROR_NO_DEVICE where the device or the
 * basis is not for this variant. */
ley_status list_kernel_create(dev *device, const list_wish *wish, list_kernel *kernel, ley_error *error);

#endif
