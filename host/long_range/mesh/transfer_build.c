#include "long_range/mesh/transfer_build.h"

#include "bandwidth.h"
#include "core/sizes.h"
#include "error.h"
#include "long_range/mesh/gather_points_self_test.h"
#include "long_range/mesh/step_costs.h"
#include "long_range/mesh/transfer_self_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double longest_launch_s = 0.1;
enum { ITEMS_OF_LIST = 64, BETWEEN_X = 16, BETWEEN_Y = 2, BETWEEN_Z = 2 };

/* ---- Kinds ----------------------------------------------------------------------------------- */

static void group_of_tile(const dev_info *info, const void *spec, size_t size[3])
{
    const anterpolate_spec *s = spec;
    (void)info;
    size[0] = size[1] = s->width > 1 ? 1 : (size_t)s->edge;
    size[2] = 1;
}

static void group_of_nodes(const dev_info *info, const void *spec, size_t size[3])
{
    (void)info, (void)spec;
    size[0] = BETWEEN_X;
    size[1] = BETWEEN_Y;
    size[2] = BETWEEN_Z;
}

static void group_of_block(const dev_info *info, const void *spec, size_t size[3])
{
    const interpolation_spec *s = spec;
    (void)info;
    size[0] = s->width > 1 ? 1 : (size_t)(s->block_x * s->block_y);
    size[1] = size[2] = 1;
}

static void group_of_list(const dev_info *info, const void *spec, size_t size[3])
{
    (void)info, (void)spec;
    size[0] = ITEMS_OF_LIST;
    size[1] = size[2] = 1;
}

static void group_of_gather(const dev_info *info, const void *spec, size_t size[3])
{
    const gather_spec *s = spec;
    group_of_nodes(info, spec, size);
    if (s->row_nodes > 0) {
        size[0] = LEY_ROW_POINTS;
        size[1] = size[2] = 1;
    }
}

static size_t bytes_of_gather(const dev_info *info, const void *spec)
{
    const gather_spec *s = spec;
    const int sets = s->field ? 3 : 1;
    (void)info;
    return s->row_nodes > 0 ? sizeof(float) * (size_t)(sets * s->row_nodes + 6 * s->window) : 0;
}

static size_t bytes_of_tile(const dev_info *info, const void *spec)
{
    const anterpolate_spec *s = spec;
    const size_t edge = (size_t)s->edge;
    (void)info;
    return s->width > 1 ? 0 : (3 * edge * edge * edge + edge * edge) * sizeof(float);
}

static size_t bytes_of_block(const dev_info *info, const void *spec)
{
    const interpolation_spec *s = spec;
    const size_t weight_sets = s->field ? 2 : 1, plane_sets = s->field ? 3 : 1,
                 rows = weight_sets * (size_t)s->nodes_y * (size_t)s->block_x,
                 of_group = 2 * ((size_t)s->nodes_y * (size_t)s->nodes_x + rows),
                 shares = weight_sets * (size_t)s->nodes_x * (size_t)s->block_x,
                 nodes = LEY_INTERPOLATION_ROWS * (size_t)s->nodes_x,
                 planes = plane_sets * (size_t)s->window * (size_t)s->block_y * (size_t)s->block_x;
    (void)info;
    return sizeof(float) * (s->width > 1 ? shares + nodes + rows + planes : of_group);
}

static const int windows_of_all[] = {4, 6, 8, 10};
enum { WINDOWS = sizeof windows_of_all / sizeof windows_of_all[0] };

static int width_for(const dev_info *info, int wished)
{
    return wished > 0 ? wished : calibrate_width(info);
}

static anterpolate_spec tile_spec(const dev_info *info, int points, int width, bool by_plane)
{
    const bool alone = width_for(info, width) > 1;
    return (anterpolate_spec){.sum = LEY_SPEC_SUM_FLOAT,
                              .total = alone && info->has_double ? LEY_SPEC_SUM_DOUBLE : LEY_SPEC_SUM_COMPENSATED,
                              .width = alone ? SPREAD_EDGE : 1,
                              .root = LEY_ROOT_STANDARD,
                              .edge = SPREAD_EDGE,
                              .window = points,
                              .by_plane = by_plane};
}

static transfer_spec node_spec(int points)
{
    return (transfer_spec){.sum = LEY_SPEC_SUM_FLOAT, .width = 1, .root = LEY_ROOT_STANDARD, .window = points};
}

/* Of a map whose rows are along the mesh's first axis, so many nodes apart; 0: they are not. Where
 * nodes are so many more than points that their sums would take longer than each point's own, these
 * are gathered after all. */
static gather_spec gather_spec_of(const dev_info *info, int points, double nodes_per_point, bool field, bool by_plane)
{
    enum { ROW_NODES_STEP = 64, MOST_ROW_NODES = 320 };
    const int64_t nodes = ley_round_up(transfer_block_nodes(LEY_ROW_POINTS, nodes_per_point, points), ROW_NODES_STEP);
    const bool in_rows = nodes_per_point > 0 && nodes <= MOST_ROW_NODES && info->max_work_group >= LEY_ROW_POINTS &&
                         info->max_work_items[0] >= LEY_ROW_POINTS;
    return (gather_spec){.sum = LEY_SPEC_SUM_FLOAT,
                         .width = 1,
                         .root = LEY_ROOT_STANDARD,
                         .window = points,
                         .field = field,
                         .by_plane = by_plane,
                         .row_nodes = in_rows ? (int)nodes : 0};
}

static interpolation_list_spec list_spec(int points, bool field, bool by_plane)
{
    return (interpolation_list_spec){.sum = LEY_SPEC_SUM_FLOAT,
                                     .width = 1,
                                     .root = LEY_ROOT_STANDARD,
                                     .window = points,
                                     .field = field,
                                     .by_plane = by_plane};
}

/* What the room for a block's nodes is rounded up to, so that maps and meshes of many spacings
 * share a kernel. A work-item that is alone reads no more than there are, and takes steps that
 * hardly any tolerance or mesh leads out of; each item of a group has registers for its share of
 * all. */
enum { NODES_STEP = 4, NODES_STEP_ALONE = 32 };
_Static_assert(NODES_STEP % LEY_INTERPOLATION_ROWS == 0 && NODES_STEP_ALONE % LEY_INTERPOLATION_ROWS == 0,
               "there is room for whole rounds of rows");
static int room_of(int block, double nodes_per_point, int points, bool alone)
{
    return (int)ley_round_up(transfer_block_nodes(block, nodes_per_point, points),
                             alone ? NODES_STEP_ALONE : NODES_STEP);
}

/* Without a field it does not matter whether axes are oblique. */
typedef enum field_kind { NO_FIELD, FIELD, OBLIQUE_FIELD, FIELD_KINDS } field_kind;
static const char *const field_words[] = {"", "-field", "-oblique-field"};

static interpolation_spec spec_of_block(const int block[3], int points, int width, field_kind field,
                                        const double nodes_per_point[3])
{
    return (interpolation_spec){.sum = LEY_SPEC_SUM_FLOAT,
                                .width = width,
                                .root = LEY_ROOT_STANDARD,
                                .window = points,
                                .block_x = block[0],
                                .block_y = block[1],
                                .block_z = block[2],
                                .nodes_x = room_of(block[0], nodes_per_point[0], points, width > 1),
                                .nodes_y = room_of(block[1], nodes_per_point[1], points, width > 1),
                                .field = field != NO_FIELD,
                                .oblique = field == OBLIQUE_FIELD};
}

/* The largest block whose nodes local memory has room for; a window of 0: none. */
static interpolation_spec block_spec(const dev_info *info, int points, int wished, field_kind field,
                                     const double nodes_per_point[3])
{
    static const int of_vectors[][3] = {{16, 32, 32}, {16, 16, 32}, {16, 8, 32}, {16, 1, 8}},
                     of_groups[][3] = {{32, 8, 32}, {32, 4, 32}, {16, 4, 32}, {8, 4, 32}};
    enum { BLOCKS = sizeof of_vectors / sizeof of_vectors[0] };
    _Static_assert(BLOCKS == sizeof of_groups / sizeof of_groups[0], "as many");
    const size_t usual = 30 << 10, most = info->local_bytes < usual ? (size_t)info->local_bytes : usual;
    const int width = width_for(info, wished);
    const bool alone = width > 1;
    for (int i = 0; i < BLOCKS; i++) {
        const int *block = alone ? of_vectors[i] : of_groups[i];
        const interpolation_spec s = spec_of_block(block, points, width, field, nodes_per_point);
        if (bytes_of_block(info, &s) <= most && (alone || (size_t)(block[0] * block[1]) <= info->max_work_group))
            return s;
    }
    return (interpolation_spec){.window = 0};
}

static int windows_at(kernel_depth depth)
{
    return depth == KERNEL_FEW ? 1 : WINDOWS;
}

/* Each of them, and, where there are not to be few, the widest once more, by plane. */
static int specs_at(kernel_depth depth)
{
    return windows_at(depth) + (depth == KERNEL_FEW ? 0 : 1);
}

static int points_at(int i)
{
    return windows_of_all[i < WINDOWS ? i : WINDOWS - 1];
}

static bool is_by_plane(int i)
{
    return i >= WINDOWS;
}

static const char *plane_word(int by_plane)
{
    return by_plane != 0 ? "-by-plane" : "";
}

static void visit_tiles(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    for (int i = 0; i < specs_at(depth); i++) {
        const anterpolate_spec s = tile_spec(info, points_at(i), 0, is_by_plane(i));
        char name[KERNEL_NAME];
        snprintf(name, sizeof name, "anterpolate-%d%s", s.window, plane_word(s.by_plane));
        visit(context, name, &s);
    }
}

static void visit_nodes(const char *kernel, kernel_depth depth, kernel_visit *visit, void *context)
{
    for (int i = 0; i < windows_at(depth); i++) {
        const transfer_spec s = node_spec(windows_of_all[i]);
        char name[KERNEL_NAME];
        snprintf(name, sizeof name, "%s-%d", kernel, s.window);
        visit(context, name, &s);
    }
}

static void visit_restriction(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    (void)info;
    visit_nodes("restriction", depth, visit, context);
}

static void visit_prolongation(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    (void)info;
    visit_nodes("prolongation", depth, visit, context);
}

static void visit_gather(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    for (int i = 0; i < 4 * specs_at(depth); i++) { /* in rows or not, with the field or without */
        const gather_spec s =
            gather_spec_of(info, points_at(i / 4), i % 2 == 1 ? 0.5 : 0, i % 4 >= 2, is_by_plane(i / 4));
        char name[KERNEL_NAME];
        snprintf(name, sizeof name, "interpolation_gather-%d%s%s%s", s.window, s.field ? "-field" : "",
                 plane_word(s.by_plane), s.row_nodes > 0 ? "-rows" : "");
        visit(context, name, &s);
    }
}

static void visit_list(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    (void)info;
    for (int i = 0; i < 2 * specs_at(depth); i++) {
        const interpolation_list_spec s = list_spec(points_at(i / 2), i % 2 == 1, is_by_plane(i / 2));
        char name[KERNEL_NAME];
        snprintf(name, sizeof name, "interpolation_list-%d%s%s", s.window, s.field ? "-field" : "",
                 plane_word(s.by_plane));
        visit(context, name, &s);
    }
}

static void visit_blocks(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    static const double ratios[][3] = {{0.25, 0.25, 0.25}, {1, 1, 1}};
    for (int i = 0; i < FIELD_KINDS * specs_at(depth); i++)
        for (int k = 0; k < (depth == KERNEL_FEW ? 1 : 2); k++) {
            const int field = i % FIELD_KINDS, of = i / FIELD_KINDS;
            interpolation_spec s = block_spec(info, points_at(of), 0, (field_kind)field, ratios[k]);
            s.by_plane = is_by_plane(of);
            char name[KERNEL_NAME];
            snprintf(name, sizeof name, "interpolation-%d-nodes%d%s%s", s.window, s.nodes_x, field_words[field],
                     plane_word(s.by_plane));
            if (s.window != 0)
                visit(context, name, &s);
        }
}

KERNEL_DESCRIBE_ARGUMENTS(anterpolate, LEY_ANTERPOLATE_ARGUMENTS)
const kernel_kind anterpolate_kind = {KERNEL_DESCRIPTION(anterpolate, LEY_ANTERPOLATE_KEYS, anterpolate),
                                      .group = group_of_tile, .local_bytes = bytes_of_tile,
                                      .test = transfer_test_anterpolation, .specs = visit_tiles};

KERNEL_DESCRIBE_ARGUMENTS(between, LEY_BETWEEN_ARGUMENTS)
const kernel_kind restriction_kind = {KERNEL_DESCRIPTION(restriction, LEY_RESTRICTION_KEYS, between),
                                      .group = group_of_nodes, .test = transfer_test_restriction,
                                      .specs = visit_restriction};

const kernel_kind prolongation_kind = {KERNEL_DESCRIPTION(prolongation, LEY_PROLONGATION_KEYS, between),
                                       .group = group_of_nodes, .test = transfer_test_prolongation,
                                       .specs = visit_prolongation};

KERNEL_DESCRIBE_ARGUMENTS(interpolation, LEY_INTERPOLATION_ARGUMENTS)
const kernel_kind interpolation_kind = {KERNEL_DESCRIPTION(interpolation, LEY_INTERPOLATION_KEYS, interpolation),
                                        .group = group_of_block, .local_bytes = bytes_of_block,
                                        .test = transfer_test_interpolation, .specs = visit_blocks};

KERNEL_DESCRIBE_ARGUMENTS(interpolation_gather, LEY_INTERPOLATION_GATHER_ARGUMENTS)
const kernel_kind interpolation_gather_kind = {
    KERNEL_DESCRIPTION(interpolation_gather, LEY_INTERPOLATION_GATHER_KEYS, interpolation_gather),
    .group = group_of_gather, .local_bytes = bytes_of_gather, .test = transfer_test_interpolation,
    .specs = visit_gather};

KERNEL_DESCRIBE_ARGUMENTS(interpolation_list, LEY_INTERPOLATION_LIST_ARGUMENTS)
const kernel_kind interpolation_list_kind = {
    KERNEL_DESCRIPTION(interpolation_list, LEY_INTERPOLATION_LIST_KEYS, interpolation_list), .group = group_of_list,
    .test = gather_points_self_test, .specs = visit_list};

/* ---- In the short-range kernel --------------------------------------------------------------- */

/* What the bytes take counts once it has been measured: a guess is not to change the kernel. */
static double pass_s(const dev_info *info, const calibration *facts, const cutoff_epilogue *wish)
{
    const double bytes_per_point = 2 * sizeof(float);
    const interpolation_spec s = block_spec(info, wish->window, 0, NO_FIELD, wish->nodes_per_point);
    bool is_known;
    const double byte_s = bandwidth_byte_s(info, &is_known);
    if (s.window == 0)
        return 0;
    return (is_known ? bytes_per_point * byte_s : 0) +
           transfer_block_s(info, facts, &s, wish->nodes_per_point) / ((double)s.block_x * s.block_y * s.block_z);
}

cutoff_epilogue transfer_epilogue(const transfer_wish *wish)
{
    cutoff_epilogue made = {.window = wish->window->points, .by_plane = wish->by_plane, .pass_s = pass_s};
    memcpy(made.nodes_per_point, wish->nodes_per_point, sizeof made.nodes_per_point);
    for (int axis = 0; axis < 3; axis++) {
        const int nodes = transfer_block_nodes(CUTOFF_LAYER, wish->nodes_per_point[axis], wish->window->points);
        made.nodes = nodes > made.nodes ? nodes : made.nodes;
    }
    return made;
}

/* ---- What is built --------------------------------------------------------------------------- */

static const char interpolation_step[] = "interpolation";

typedef struct interpolation_name {
    char s[KERNEL_NAME];
} interpolation_name;

static interpolation_name name_of_interpolation(const interpolation_spec *s)
{
    interpolation_name name;
    snprintf(name.s, sizeof name.s, "%d-%dx%dx%d-%dx%d%s%s", s->window, s->block_x, s->block_y, s->block_z, s->nodes_x,
             s->nodes_y, field_words[s->field + s->oblique], plane_word(s->by_plane));
    return name;
}

double transfer_interpolation_building_s(const dev_info *info, int points, const double nodes_per_point[3])
{
    const interpolation_spec s = block_spec(info, points, 0, NO_FIELD, nodes_per_point);
    return s.window == 0 || step_was_done(info, interpolation_step, name_of_interpolation(&s).s)
               ? 0
               : kernel_build_s(info, &interpolation_kind);
}

/* ---- On a device ----------------------------------------------------------------------------- */

static ley_status make_interpolation(const transfer_wish *wish, transfer_kernels *k, ley_error *error)
{
    memcpy(k->nodes_per_point, wish->nodes_per_point, sizeof k->nodes_per_point);
    const interpolation_list_spec list = list_spec(wish->window->points, wish->field, wish->by_plane);
    const field_kind field = !wish->field ? NO_FIELD : wish->oblique ? OBLIQUE_FIELD : FIELD;
    k->field = wish->field;
    if (wish->of_list)
        return kernel_create(k->device, &interpolation_list_kind, &list, NULL, k, &k->interpolation, error);
    if (wish->along_axes)
        k->blocks = block_spec(k->device->info, wish->window->points, wish->width, field, wish->nodes_per_point);
    k->blocks.by_plane = wish->by_plane;
    k->along_axes = wish->along_axes && k->blocks.window != 0;
    if (k->along_axes) {
        const ley_status status =
            kernel_create(k->device, &interpolation_kind, &k->blocks, NULL, k, &k->interpolation, error);
        if (status == LEY_OK && !wish->by_plane)
            step_note_done(k->device->info, interpolation_step, name_of_interpolation(&k->blocks).s);
        return status;
    }
    const gather_spec spec =
        gather_spec_of(k->device->info, wish->window->points, wish->along_rows ? wish->nodes_per_point[0] : 0,
                       wish->field, wish->by_plane);
    k->row_nodes = spec.row_nodes;
    return kernel_create(k->device, &interpolation_gather_kind, &spec, NULL, k, &k->interpolation, error);
}

ley_status transfer_kernels_create(dev *device, const transfer_wish *wish, transfer_kernels *k, ley_error *error)
{
    *k = (transfer_kernels){
        .device = device, .launch_s = longest_launch_s, .window = wish->window, .by_plane = wish->by_plane};
    const anterpolate_spec tile = tile_spec(device->info, wish->window->points, wish->width, wish->by_plane);
    const transfer_spec node = node_spec(wish->window->points);
    ley_status status = calibrate_get(device, CALIBRATE_MULTIPLY_ADDS, &k->facts, error);
    transfer_look_up_costs(k);
    if (status == LEY_OK)
        status = kernel_create(device, &anterpolate_kind, &tile, NULL, k, &k->anterpolate, error);
    if (status == LEY_OK && wish->has_levels)
        status = kernel_create(device, &restriction_kind, &node, NULL, k, &k->restriction, error);
    if (status == LEY_OK && wish->has_levels)
        status = kernel_create(device, &prolongation_kind, &node, NULL, k, &k->prolongation, error);
    if (status == LEY_OK)
        status = make_interpolation(wish, k, error);
    if (status != LEY_OK)
        transfer_kernels_destroy(k);
    return status;
}
