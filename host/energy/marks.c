#include "energy/marks.h"

#include "error.h"

#include <stdlib.h>

/* Tiles of one block, by their numbers; `at`: [tiles], where a tile is among these, -1: nowhere. */
typedef struct block_tiles {
    int32_t *at, *list;
    size_t count;
} block_tiles;

static void note(block_tiles *t, int32_t tile)
{
    if (t->at[tile] >= 0)
        return;
    t->at[tile] = 0;
    t->list[t->count++] = tile;
}

static int ascending(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static void find_tiles(const energy_problem *p, size_t begin, size_t end, int others, block_tiles *t)
{
    t->count = 0;
    for (size_t i = begin; i < end && i < p->count; i++) {
        note(t, (int32_t)i / others);
        for (int32_t k = p->first[i]; k < p->first[i + 1]; k++)
            note(t, p->excluded[k] / others);
    }
    qsort(t->list, t->count, sizeof *t->list, ascending);
    for (size_t k = 0; k < t->count; k++)
        t->at[t->list[k]] = (int32_t)k;
}

static void set_bit(energy_marks *m, const block_tiles *t, size_t from, size_t row, int32_t other, int others)
{
    const size_t tile = from + (size_t)t->at[other / others];
    if (others == 1)
        m->mask[tile] |= (int32_t)(1U << row);
    else
        m->mask[tile * m->words + row] = (int32_t)((uint32_t)m->mask[tile * m->words + row] | 1U << other % others);
}

/* The marks of a block, behind all before it. */
static void set_block(energy_marks *m, const energy_problem *p, size_t begin, size_t end, int others,
                      const block_tiles *t)
{
    const size_t from = m->count;
    for (size_t k = 0; k < t->count; k++)
        m->tile[m->count++] = t->list[k];
    for (size_t i = begin; i < end && i < p->count; i++) {
        set_bit(m, t, from, i - begin, (int32_t)i, others);
        for (int32_t k = p->first[i]; k < p->first[i + 1]; k++)
            set_bit(m, t, from, i - begin, p->excluded[k], others);
    }
}

ley_status energy_marks_make(energy_marks *m, const energy_problem *p, int block, int others, ley_error *error)
{
    const size_t rows = (size_t)block, tiles = p->padded / (size_t)others;
    block_tiles t = {malloc(tiles * sizeof *t.at), malloc(tiles * sizeof *t.list), 0};
    *m = (energy_marks){.blocks = p->padded / rows, .words = others == 1 ? 1 : rows};
    m->first = calloc(m->blocks + 1, sizeof *m->first);
    bool is_whole = t.at != NULL && t.list != NULL && m->first != NULL;
    for (int pass = 0; pass < 2 && is_whole; pass++) { /* counts, then sets */
        for (size_t b = 0; b < m->blocks; b++) {
            const size_t begin = b * rows, end = begin + rows;
            for (size_t k = 0; k < t.count; k++)
                t.at[t.list[k]] = -1;
            for (size_t k = 0; k < tiles && b == 0; k++)
                t.at[k] = -1;
            find_tiles(p, begin, end, others, &t);
            if (pass == 0)
                m->first[b + 1] = m->first[b] + (int32_t)t.count;
            else
                set_block(m, p, begin, end, others, &t);
        }
        if (pass == 0) {
            m->tile = calloc((size_t)m->first[m->blocks] + 1, sizeof *m->tile);
            m->mask = calloc((size_t)m->first[m->blocks] * m->words + 1, sizeof *m->mask);
            is_whole = m->tile != NULL && m->mask != NULL;
        }
    }
    free(t.at);
    free(t.list);
    return is_whole ? LEY_OK : ley_fail_memory(error, 64 * p->count, "marks of excluded pairs");
}

void energy_marks_destroy(energy_marks *m)
{
    free(m->first);
    free(m->tile);
    free(m->mask);
    *m = (energy_marks){.count = 0};
}
