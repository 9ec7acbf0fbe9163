/* The sizes of a row of the table. */
#ifndef LEY_CHECK_TRANSFORMS_H
#define LEY_CHECK_TRANSFORMS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct transform_sizes {
    size_t n[3], filled[3];
    bool in_place, quick_all; /* quick_all: also quick runs look at every library */
} transform_sizes;

#endif
