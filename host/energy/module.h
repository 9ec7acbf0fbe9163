/* What energies are made of on a device: a table of modules, which device_part.c runs in their
 * order. */
#ifndef LEY_ENERGY_MODULE_H
#define LEY_ENERGY_MODULE_H

#include "energy/part.h"

typedef struct energy_module {
    const char *name;

    /* Whether the options need it. */
    bool (*wanted)(const energy_problem *problem, bool is_periodic);

    /* Kernels and buffers, in the part's arena, which ends buffers; uploads may be in the sequence,
     * which has ended before any launch. *own: what it has, its own to free. The largest batch is
     * part->frames. Buffers of a module are shared by all batches: the device does one after the
     * other. On failure destroy() is called as well. */
    ley_status (*create)(energy_part *part, command_sequence *w, void **own, ley_error *error);

    /* Bytes of buffers that create() will make for each frame of a batch; NULL: few. */
    size_t (*frame_bytes)(const energy_problem *problem);

    /* Launches for all frames of a batch, into its sequence, which keeps errors. */
    void (*launch)(energy_part *part, void *own, energy_batch *batch);

    /* When the batch has ended well: whether something did not fit, for which there is room now:
     * then the batch is computed again, all modules of it. NULL: all always fits. */
    ley_status (*settle)(energy_part *part, void *own, energy_batch *batch, bool *again, ley_error *error);

    void (*destroy)(energy_part *part, void *own); /* `own` may be NULL */
} energy_module;

/* In the order in which they are computed; NULL behind the last. */
extern const energy_module *const energy_modules[];

#endif
