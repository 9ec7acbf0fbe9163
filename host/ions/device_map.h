/* The map that a device searches: the grid is there from first to last, and only records of bricks
 * and listed nodes come back. */
#ifndef LEY_IONS_DEVICE_MAP_H
#define LEY_IONS_DEVICE_MAP_H

#include "arguments.h"
#include "dev_kernel.h"
#include "ions/bricks.h"

KERNEL_ARGUMENTS_STRUCT(ions_mask, LEY_IONS_MASK_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(ions_bricks, LEY_IONS_BRICKS_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(ions_nodes, LEY_IONS_NODES_ARGUMENTS);
extern const kernel_kind ions_mask_kind, ions_bricks_kind, ions_nodes_kind;

typedef struct ions_bricks_spec {
    LEY_IONS_BRICKS_KEYS(KERNEL_KEY_FIELD)
} ions_bricks_spec;

/* Whether a device gets kernels for vectors; and the specification that it gets. */
bool ions_has_vectors(const dev_info *info);
ions_bricks_spec ions_spec_for(const dev_info *info, bool is_periodic, bool is_square);

typedef struct device_map device_map;

/* Bricks and the table, of a periodic cell, else NULL, go to the device. On its thread, as all that
 * follows. Errors: LEY_ERROR_NO_DEVICE: there is no room; those of kernels. */
ley_status device_map_create(dev *device, const ions_grid *g, const float *bricks, const float *table,
                             device_map **made, ley_error *error);
void device_map_destroy(device_map *m);
ions_map *device_map_get(device_map *m);

/* For self-tests: a map that can do nothing but what this kernel does; and its values. */
ley_status device_map_try(const dev_kernel *kernel, const ions_grid *g, const float *bricks, const float *table,
                          device_map **made, ley_error *error);
ley_status device_map_read(device_map *m, float *bricks, ley_error *error);

#endif
