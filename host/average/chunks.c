#include "average/chunks.h"

#include "device.h"
#include "memory.h"

#include <stdlib.h>

/* Bytes of a chunk, of those that are kept for a device, and of all. */
static const double chunk_bytes = 64 << 20, device_bytes = 256 << 20, kept_bytes = 1 << 30;
enum { MOST_FRAMES = 16, MOST_CHUNKS = 64 };

int chunk_frames(size_t atoms)
{
    const double fit = chunk_bytes / (12 * (double)atoms);
    return fit < 1 ? 1 : fit > MOST_FRAMES ? MOST_FRAMES : (int)fit;
}

int chunk_count(size_t atoms, size_t devices)
{
    const double kept = device_bytes * (double)devices < kept_bytes ? device_bytes * (double)devices : kept_bytes,
                 fit = kept / (12 * (double)atoms * chunk_frames(atoms)), least = 4 * (double)devices + 2;
    return fit < least ? (int)least : fit > MOST_CHUNKS && least < MOST_CHUNKS ? MOST_CHUNKS : (int)fit;
}

chunk *chunk_create(size_t atoms, int most)
{
    chunk *c = calloc(1, sizeof *c);
    const size_t frames = (size_t)most, bytes = frames * atoms * 3 * sizeof(float);
    if (c == NULL)
        return NULL;
    c->most = most;
    c->position_A = memory_check_one("frames", (double)bytes, "fewer atoms", NULL) == LEY_OK
                        ? memory_in_large_pages((int64_t)bytes)
                        : NULL;
    c->floats = malloc(frames * PLACE_FLOATS * sizeof *c->floats);
    c->place = malloc(frames * sizeof *c->place);
    c->cell_A = malloc(frames * sizeof *c->cell_A);
    c->structure = calloc(frames, sizeof *c->structure);
    if (c->position_A != NULL && c->floats != NULL && c->place != NULL && c->cell_A != NULL && c->structure != NULL)
        return c;
    chunk_destroy(c);
    return NULL;
}

static void free_positions(chunk *c)
{
    if (c->is_kept && !c->is_locked)
        dev_keep(c->position_A);
    else if (!c->is_locked)
        free(c->position_A);
}

void chunk_move(chunk *c, float *locked)
{
    free_positions(c);
    c->position_A = locked;
    c->is_locked = true;
}

void chunk_destroy(chunk *c)
{
    if (c == NULL)
        return;
    free_positions(c);
    free(c->floats);
    free(c->place);
    free(c->cell_A);
    free(c->structure);
    free(c);
}

void chunk_append(chunk_list *list, chunk *c)
{
    c->next = NULL;
    if (list->last != NULL)
        list->last->next = c;
    else
        list->first = c;
    list->last = c;
    list->count++;
}

chunk *chunk_take(chunk_list *list)
{
    chunk *c = list->first;
    if (c == NULL)
        return NULL;
    list->first = c->next;
    if (list->first == NULL)
        list->last = NULL;
    list->count--;
    return c;
}

void chunk_join(chunk_list *list, chunk_list *other)
{
    if (other->last == NULL)
        return;
    other->last->next = list->first;
    list->first = other->first;
    if (list->last == NULL)
        list->last = other->last;
    list->count += other->count;
    *other = (chunk_list){.count = 0};
}
