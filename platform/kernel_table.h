/* Every kernel once: the arguments it takes and the keys it is specialised by. A test compares both
 * trees, cl/ and kernels_cuda/, with these rows, and the back ends check builds and launches by
 * them: CUDA would take a wrong list of arguments without a word. */
#ifndef LEY_KERNEL_TABLE_H
#define LEY_KERNEL_TABLE_H

#include "device.h"

typedef enum kernel_argument_kind { KERNEL_BUFFER, KERNEL_INT, KERNEL_VALUE } kernel_argument_kind;

typedef struct kernel_argument {
    const char *name;
    kernel_argument_kind kind;
    const char *type; /* as the kernel has it, of a buffer's elements or of the value; the specification decides how
                         large it is */
} kernel_argument;

typedef struct kernel_row {
    const char *name;        /* of the kernel and of its file in each tree */
    const char *const *keys; /* what every build must be given, -DKEY=...; ends with NULL */
    size_t argument_count;
    const kernel_argument *arguments;
} kernel_row;

/* All of them, ending with a NULL name. */
extern const kernel_row kernel_table[];

/* The kernel's row; NULL: it has none. */
const kernel_row *kernel_table_find(const char *name);

/* The options "-DKEY=value -DKEY=value ...": a value, in the row's order, for each of the kernel's
 * keys. What does not fit is cut off. */
void kernel_table_options(const char *name, const int *values, char *options, size_t size);

/* For a back end that builds: finds the row, and sees that the options have all of its keys. */
ley_status kernel_table_check_build(const dev_source *source, const kernel_row **row, ley_error *error);

/* For a back end that launches: as many arguments as the row has, buffers and values where it has
 * them. */
ley_status kernel_table_check_launch(const kernel_row *row, const dev_launch *launch, ley_error *error);

#endif
