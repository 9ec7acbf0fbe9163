/* The kernels for ions: their work-groups, specifications and tests. */
#include "ions/device_map.h"
#include "ions/kernel_tests.h"

KERNEL_DESCRIBE_ARGUMENTS(ions_mask, LEY_IONS_MASK_ARGUMENTS)
KERNEL_DESCRIBE_ARGUMENTS(ions_bricks, LEY_IONS_BRICKS_ARGUMENTS)
KERNEL_DESCRIBE_ARGUMENTS(ions_nodes, LEY_IONS_NODES_ARGUMENTS)

static void bricks_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    static const char *const names[] = {"ions_bricks-open",           "ions_bricks-periodic",
                                        "ions_bricks-square",         "ions_bricks-group-open",
                                        "ions_bricks-group-periodic", "ions_bricks-group-square"};
    for (int i = 0; i < 6; i++) {
        ions_bricks_spec spec = ions_spec_for(info, i % 3 == 1, i % 3 == 2);
        if (i >= 3 && (spec.width == 1 || depth == KERNEL_FEW))
            return;
        spec.width = i < 3 ? spec.width : 1;
        spec.root = spec.width == 1 ? LEY_ROOT_STANDARD : spec.root;
        visit(context, names[i], &spec);
    }
}

/* Of a brick: a work-item for each column, or one that has vectors. */
static void brick_group(const dev_info *info, const void *spec, size_t size[3])
{
    (void)info;
    size[0] = ((const ions_bricks_spec *)spec)->width > 1 ? 1 : LEY_BRICK * LEY_BRICK;
    size[1] = size[2] = 1;
}

static size_t brick_local_bytes(const dev_info *info, const void *spec)
{
    (void)info;
    return ((const ions_bricks_spec *)spec)->width > 1 ? 0 : 11 * LEY_BRICK * LEY_BRICK * sizeof(float);
}

/* Of an atom, and of a list. */
static void small_group(const dev_info *info, const void *spec, size_t size[3])
{
    const size_t wanted = ions_has_vectors(info) ? 1 : 64;
    (void)spec;
    size[0] = info->max_work_group > 0 && wanted > info->max_work_group ? info->max_work_group : wanted;
    size[1] = size[2] = 1;
}

const kernel_kind ions_mask_kind = {KERNEL_DESCRIPTION(ions_mask, LEY_DIALECT_KEYS, ions_mask), .group = small_group,
                                    .test = ions_test_mask};
const kernel_kind ions_nodes_kind = {KERNEL_DESCRIPTION(ions_nodes, LEY_DIALECT_KEYS, ions_nodes), .group = small_group,
                                     .test = ions_test_nodes};
const kernel_kind ions_bricks_kind = {KERNEL_DESCRIPTION(ions_bricks, LEY_IONS_BRICKS_KEYS, ions_bricks),
                                      .group = brick_group, .local_bytes = brick_local_bytes, .specs = bricks_specs,
                                      .test = ions_test_bricks};
