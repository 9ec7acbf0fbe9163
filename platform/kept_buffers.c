#include "kept_buffers.h"

#include <string.h>

static kept_buffer take(kept_buffers *kept, size_t i)
{
    const kept_buffer taken = kept->list[i];
    kept->count--;
    memmove(&kept->list[i], &kept->list[i + 1], (kept->count - i) * sizeof *kept->list);
    return taken;
}

/* `count`: there is none. */
static size_t find(const kept_buffers *kept, uint64_t name)
{
    size_t i = name != 0 ? 0 : kept->count;
    while (i < kept->count && kept->list[i].name != name)
        i++;
    return i;
}

bool kept_buffers_has(const kept_buffers *kept, uint64_t name)
{
    return find(kept, name) < kept->count;
}

uint64_t kept_buffers_bytes(const kept_buffers *kept)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < kept->count; i++)
        bytes += kept->list[i].bytes;
    return bytes;
}

kept_buffer kept_buffers_take(kept_buffers *kept, uint64_t name)
{
    const size_t i = find(kept, name);
    return i < kept->count ? take(kept, i) : (kept_buffer){.buffer = NULL};
}

kept_buffer kept_buffers_drop(kept_buffers *kept)
{
    return kept->count > 0 ? take(kept, 0) : (kept_buffer){.buffer = NULL};
}

bool kept_buffers_may(uint64_t device_bytes, const kept_buffer *one)
{
    return one->name != 0 && one->bytes <= device_bytes / KEPT_BUFFERS_PART;
}

bool kept_buffers_are_full(const kept_buffers *kept, uint64_t device_bytes, const kept_buffer *one)
{
    return kept->count == KEPT_BUFFERS_MOST ||
           (kept->count > 0 && kept_buffers_bytes(kept) + one->bytes > device_bytes / KEPT_BUFFERS_PART);
}

void kept_buffers_put(kept_buffers *kept, kept_buffer one)
{
    kept->list[kept->count++] = one;
}
