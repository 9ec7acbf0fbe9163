/* Kernels that examine a device and its driver: what `leyden check` runs beside the kernels of
 * methods. */
#ifndef LEY_CHECK_KERNELS_H
#define LEY_CHECK_KERNELS_H

#include "arguments.h"
#include "kernel_kind.h"

KERNEL_ARGUMENTS_STRUCT(functions, LEY_FUNCTIONS_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(structs, LEY_STRUCTS_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(local_words, LEY_LOCAL_WORDS_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(constant_words, LEY_CONSTANT_WORDS_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(work_items, LEY_WORK_ITEMS_ARGUMENTS);
extern const kernel_kind functions_kind, structs_kind, local_words_kind, constant_words_kind, work_items_kind;

typedef struct structs_spec {
    LEY_STRUCTS_KEYS(KERNEL_KEY_FIELD)
} structs_spec;

/* Room for what `structs` writes into either buffer. */
enum { STRUCTS_WORDS = 128 };

typedef struct local_words_spec {
    LEY_LOCAL_WORDS_KEYS(KERNEL_KEY_FIELD)
} local_words_spec;

typedef struct constant_words_spec {
    LEY_CONSTANT_WORDS_KEYS(KERNEL_KEY_FIELD)
} constant_words_spec;

typedef struct work_items_spec {
    LEY_WORK_ITEMS_KEYS(KERNEL_KEY_FIELD)
} work_items_spec;

/* Work-items of a group of functions and constant_words. */
size_t check_kernels_group(const dev_info *info);

#endif
