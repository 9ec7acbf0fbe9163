#include "long_range/mesh/device_lists.h"

#include "error.h"

#include <string.h>

void lists_put_frame(const lists_frame *f, double origin[4], double *const along[3], double whole[4], int32_t nodes[4],
                     int32_t bins[4])
{
    memcpy(origin, f->origin, sizeof f->origin);
    memcpy(whole, f->whole, sizeof f->whole);
    memcpy(nodes, f->nodes, sizeof f->nodes);
    memcpy(bins, f->bins, sizeof f->bins);
    for (int axis = 0; axis < 3; axis++)
        memcpy(along[axis], f->along[axis], sizeof f->along[axis]);
}

bool device_lists_can_launch(const device_lists *l)
{
    const dev_info *info = l->arena->device->info;
    const size_t most = info->max_groups[0];
    return info->max_work_group >= LISTS_GROUP && (most == 0 || (l->atoms->n + LISTS_GROUP - 1) / LISTS_GROUP <= most);
}

static bool make(const device_lists *l, size_t bytes, dev_buffer **buffer)
{
    return arena_buffer(l->arena, bytes, DEV_READ_WRITE, buffer, NULL) == LEY_OK;
}

bool device_lists_make(device_lists *l)
{
    const size_t n = l->atoms->n;
    return make(l, 4 * (l->bins + 2), &l->count.buffer) && make(l, 4 * n, &l->bin.buffer) &&
           make(l, 4 * n, &l->place.buffer) && make(l, 4 * n, &l->list.buffer) &&
           arena_staging(l->arena, 4 * (l->bins + 2), &l->counts, NULL) == LEY_OK;
}

void device_lists_clear(device_lists *l)
{
    sequence_end(&l->command_sequence);
    arena_free_buffer(l->arena, &l->count.buffer);
    arena_free_buffer(l->arena, &l->bin.buffer);
    arena_free_buffer(l->arena, &l->place.buffer);
    arena_free_buffer(l->arena, &l->list.buffer);
    arena_free_staging(l->arena, &l->counts);
}

void device_lists_for_each(device_lists *l, const dev_kernel *kernel, const void *arguments)
{
    const size_t groups[3] = {(l->atoms->n + LISTS_GROUP - 1) / LISTS_GROUP, 1, 1};
    sequence_launch(&l->command_sequence, kernel, groups, arguments, 0);
}

ley_status device_lists_count(device_lists *l, const dev_kernel *count, ley_error *error)
{
    spread_count_arguments a = {.kind = &spread_count_kind,
                                .gm_position = l->atoms->position,
                                .gm_charge = l->atoms->charge,
                                .n_atoms = (int32_t)l->atoms->n,
                                .gm_count = l->count,
                                .gm_bin = l->bin,
                                .gm_place = l->place};
    LISTS_PUT_FRAME(&a, &l->frame);
    sequence_begin(&l->command_sequence, &l->flight, NULL);
    sequence_fill(&l->command_sequence, l->count.buffer, 0, 0, 4 * (l->bins + 2));
    device_lists_for_each(l, count, &a);
    sequence_read(&l->command_sequence, l->count.buffer, 0, l->counts, 4 * (l->bins + 2));
    return sequence_finish(&l->command_sequence, error);
}

ley_status device_lists_add_up(const device_lists *l, int32_t *first, size_t *listed, double *looks, ley_error *error)
{
    const int32_t *count = l->counts->bytes;
    int64_t at = 0;
    bool is_right = count[l->bins] == 0 && count[l->bins + 1] >= 0;
    *looks = 0;
    for (size_t bin = 0; bin < l->bins; bin++) {
        first[bin] = (int32_t)at;
        is_right = is_right && count[bin] >= 0;
        at = is_right ? at + count[bin] : at;
        *looks += (double)count[bin] * (double)count[bin];
    }
    first[l->bins] = (int32_t)at;
    *listed = (size_t)at;
    return is_right && at + count[l->bins + 1] == (int64_t)l->atoms->n
               ? LEY_OK
               : ley_fail(error, LEY_ERROR_WRONG_RESULT,
                          "of %zu atoms %lld are in a mesh's bins, %d outside, %d without charge", l->atoms->n,
                          (long long)at, (int)count[l->bins], (int)count[l->bins + 1]);
}

void device_lists_launch(device_lists *l, const dev_kernel *list, buffer_of_int first)
{
    device_lists_for_each(l, list,
                          KERNEL_ARGUMENTS(spread_list, .n_atoms = (int32_t)l->atoms->n, .gm_bin = l->bin,
                                           .gm_place = l->place, .gm_first = first, .gm_list = l->list));
}
