/* A block of frames that several ranks have parts of is ended by one of them, so that ranks
 * transform different blocks at the same time; the same with frames that are done both ways. */
#include "average/share.h"

#include "average/problem.h"
#include "average/spread_kernel.h"
#include "average/sums.h"
#include "error.h"
#include "parallel.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 8 };

/* ---- Numbers --------------------------------------------------------------------------------- */

size_t share_atoms(const ley_average_ranks *ranks, size_t atoms, size_t *first)
{
    const size_t count = (size_t)(ranks->count > 1 ? ranks->count : 1), own = (size_t)ranks->own;
    *first = parallel_first(atoms, count, own);
    return parallel_first(atoms, count, own + 1) - *first;
}

ley_status share_words(const ley_average_ranks *ranks, int64_t *word, size_t count, int to, ley_error *error)
{
    return ranks->count < 2 || count == 0 || ranks->add_up(ranks->context, word, count, to) == 0
               ? LEY_OK
               : ley_fail(error, LEY_ERROR_DEVICE, "rank %d of %d cannot add up what ranks have", ranks->own,
                          ranks->count);
}

/* What each rank has, one behind the other, to be freed; NULL after a failure. */
static ley_status gather(const ley_average_ranks *ranks, const void *own, size_t words, void **gathered,
                         ley_error *error)
{
    const size_t count = (size_t)ranks->count * words;
    char *all = *gathered = calloc(count, WORD);
    if (all == NULL)
        return ley_fail_memory(error, count * WORD, "what ranks have");
    memcpy(all + (size_t)ranks->own * words * WORD, own, words * WORD);
    const ley_status status = share_words(ranks, *gathered, count, SHARE_ALL, error);
    if (status != LEY_OK) {
        free(all);
        *gathered = NULL;
    }
    return status;
}

ley_status share_doubles(const ley_average_ranks *ranks, double *value, size_t count, ley_error *error)
{
    if (ranks->count < 2)
        return LEY_OK;
    void *gathered;
    const ley_status status = gather(ranks, value, count, &gathered, error);
    const double *all = gathered;
    memset(value, 0, count * sizeof *value);
    for (int rank = 0; rank < ranks->count && status == LEY_OK; rank++)
        for (size_t i = 0; i < count; i++)
            value[i] += all[(size_t)rank * count + i];
    free(gathered);
    return status;
}

/* ---- Sums ------------------------------------------------------------------------------------ */

/* Halves of 2^48 and more have room for the carries of 65,536 ranks. */
enum { LOWER = 48 };

static void split(void *context, size_t first, size_t last)
{
    density *d = context;
    for (size_t i = first; i < last; i++) {
        d->high[i] = (int64_t)((uint64_t)d->high[i] << (64 - LOWER) | d->low[i] >> LOWER);
        d->low[i] &= ((uint64_t)1 << LOWER) - 1;
    }
}

static void unite(void *context, size_t first, size_t last)
{
    density *d = context;
    for (size_t i = first; i < last; i++) {
        const int64_t high = d->high[i] + (int64_t)(d->low[i] >> LOWER);
        d->low[i] = (d->low[i] & (((uint64_t)1 << LOWER) - 1)) | (uint64_t)high << LOWER;
        d->high[i] = high >> (64 - LOWER);
    }
}

static void extend(void *context, size_t first, size_t last)
{
    density *d = context;
    for (size_t i = first; i < last; i++)
        d->high[i] = (int64_t)d->low[i] < 0 ? -1 : 0;
}

/* `fits`: into 64 bits. */
static ley_status share_density(const ley_average_ranks *ranks, density *d, bool fits, int to, ley_error *error)
{
    if (!fits)
        parallel_ranges(d->nodes, split, d);
    ley_status status = share_words(ranks, (int64_t *)d->low, d->nodes, to, error);
    if (status == LEY_OK && !fits)
        status = share_words(ranks, d->high, d->nodes, to, error);
    parallel_ranges(d->nodes, fits ? extend : unite, d);
    return status;
}

static ley_status share_frames(const ley_average *a, frame_sums *s, int64_t frames, int to, ley_error *error)
{
    const bool fit = frames <= PROBLEM_FRAMES_OF_SUMS;
    ley_status status = sums_begin(&a->problem, s, error);
    if (status == LEY_OK)
        status = share_density(&a->ranks, &s->charge, frames <= SPREAD_MOST_FRAMES, to, error);
    if (status == LEY_OK)
        status = share_density(&a->ranks, &s->phi, fit, to, error);
    if (status == LEY_OK)
        status = share_density(&a->ranks, &s->square, fit, to, error);
    s->frames = frames;
    return status;
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* Of each block, from the first one on: frames of it that ranks have, and whether one has all of
 * it. */
typedef struct block_table {
    int64_t blocks, *frames, *is_full;
} block_table;

static ley_status count_frames(const ley_average *a, block_table *t, ley_error *error)
{
    const int64_t size = a->problem.options.block_frames;
    t->blocks = size > 0 ? (a->added + a->left_out) / size : 0;
    t->frames = calloc(2 * (size_t)t->blocks + 1, WORD);
    if (t->frames == NULL)
        return ley_fail_memory(error, 2 * (size_t)t->blocks * WORD, "blocks of frames");
    t->is_full = t->frames + t->blocks;
    for (const block_sums *b = a->open; b != NULL; b = b->next)
        if (b->number < t->blocks)
            t->frames[b->number] = b->sums.frames;
    for (int64_t i = 0; i < a->blocks.count; i++)
        t->is_full[a->blocks.number[i]] = 1;
    return share_words(&a->ranks, t->frames, 2 * (size_t)t->blocks, SHARE_ALL, error);
}

/* Blocks that are full by all ranks' frames go to one rank each; then each ends its own. */
static ley_status end_blocks(ley_average *a, block_table *t, ley_error *error)
{
    ley_status status = LEY_OK;
    int to = 0;
    for (int64_t i = 0; i < t->blocks && status == LEY_OK; i++) {
        block_sums *b = NULL;
        if (t->frames[i] < a->problem.options.block_frames)
            continue;
        t->is_full[i] = 1;
        status = sums_find_open(a, i, &b, error);
        if (status == LEY_OK)
            status = share_frames(a, &b->sums, t->frames[i], to, error);
        if (status == LEY_OK && to != a->ranks.own)
            sums_drop_block(a, b);
        to = (to + 1) % a->ranks.count;
    }
    for (block_sums *b = a->open, *next = NULL; b != NULL && status == LEY_OK; b = next) {
        next = b->next;
        status = sums_end_block(a, b, error);
    }
    return status;
}

/* Those that are full are in the order of their numbers. */
static ley_status share_planes(ley_average *a, const block_table *t, int64_t count, ley_error *error)
{
    all_blocks *all = &a->blocks;
    const size_t planes = sums_plane_count(&a->problem.mesh);
    double *every = calloc((size_t)count * planes, sizeof *every);
    if (every == NULL)
        return ley_fail_memory(error, (size_t)count * planes * sizeof *every, "blocks of frames");
    for (int64_t i = 0, k = 0, own = 0; i < t->blocks; i++) {
        if (own < all->count && all->number[own] == i)
            memcpy(every + (size_t)k * planes, all->planes + (size_t)own++ * planes, planes * sizeof *every);
        k += t->is_full[i];
    }
    const ley_status status = share_words(&a->ranks, (void *)every, (size_t)count * planes, SHARE_ALL, error);
    memcpy(all->planes, every, (size_t)count * planes * sizeof *every);
    for (int64_t i = 0, k = 0; i < t->blocks; i++)
        if (t->is_full[i])
            all->number[k++] = i;
    all->count = count;
    free(every);
    return status;
}

static ley_status share_blocks(ley_average *a, ley_error *error)
{
    all_blocks *all = &a->blocks;
    block_table t = {.blocks = 0};
    ley_status status = count_frames(a, &t, error);
    if (status == LEY_OK)
        status = end_blocks(a, &t, error);
    int64_t count = 0;
    for (int64_t i = 0; i < t.blocks; i++)
        count += t.is_full[i];
    if (status == LEY_OK && count > 0)
        status = sums_reserve_blocks(&a->problem, all, count, error);
    if (status == LEY_OK && count > 0)
        status = share_planes(a, &t, count, error);
    if (status == LEY_OK)
        status = share_density(&a->ranks, &all->phi, false, SHARE_ALL, error);
    if (status == LEY_OK)
        status = share_density(&a->ranks, &all->square, false, SHARE_ALL, error);
    free(t.frames);
    return status;
}

/* ---- Frames ---------------------------------------------------------------------------------- */

/* What is known of a rank's frames; words of 8 bytes. */
typedef struct facts {
    int64_t added, cells_change, checked_frames, checked_points;
    double cell_sum_A[9], cell_rest_A[9], widest_cell_A[9], structure[2], structure_square, checked_share;
} facts;

static void add_facts(ley_average *a, const facts *of)
{
    for (int i = 0; i < 9; i++) {
        sums_add_exactly(&a->cell_sum_A[i], &a->cell_rest_A[i], of->cell_sum_A[i]);
        a->cell_rest_A[i] += of->cell_rest_A[i];
    }
    sums_widen_cell(a, of->widest_cell_A);
    a->added += of->added;
    a->structure[0] += of->structure[0];
    a->structure[1] += of->structure[1];
    a->structure_square += of->structure_square;
    a->cells_change = a->cells_change || of->cells_change != 0;
    a->checked_frames += of->checked_frames;
    a->checked_points += of->checked_points;
    a->checked_share += of->checked_share;
}

static ley_status share_facts(ley_average *a, ley_error *error)
{
    const int64_t frames = a->added + a->left_out;
    facts own = {.added = a->added,
                 .cells_change = a->cells_change,
                 .checked_frames = a->checked_frames,
                 .checked_points = a->checked_points,
                 .structure = {a->structure[0], a->structure[1]},
                 .structure_square = a->structure_square,
                 .checked_share = a->checked_share};
    memcpy(own.cell_sum_A, a->cell_sum_A, sizeof own.cell_sum_A);
    memcpy(own.cell_rest_A, a->cell_rest_A, sizeof own.cell_rest_A);
    memcpy(own.widest_cell_A, a->widest_cell_A, sizeof own.widest_cell_A);
    void *all;
    const ley_status status = gather(&a->ranks, &own, sizeof own / WORD, &all, error);
    if (status != LEY_OK)
        return status;
    a->added = a->checked_frames = a->checked_points = 0;
    a->structure[0] = a->structure[1] = a->structure_square = a->checked_share = 0;
    memset(a->cell_sum_A, 0, sizeof a->cell_sum_A);
    memset(a->cell_rest_A, 0, sizeof a->cell_rest_A);
    for (int rank = 0; rank < a->ranks.count; rank++)
        add_facts(a, (const facts *)all + rank);
    a->left_out = frames - a->added;
    free(all);
    return LEY_OK;
}

/* Frames that are kept, in the order of their numbers, go from those who have them to one rank
 * after the other: rank k has every count-th of them from its own number on. */
static ley_status deal_samples(ley_average *a, ley_error *error)
{
    typedef struct kept {
        int64_t is_there;
        double cell_A[9];
    } kept;
    cell_sample *s = &a->sample, dealt = {.count = 0};
    kept table[SAMPLE_MOST] = {{0, {0}}};
    const size_t atoms = a->problem.atoms, words = (3 * atoms + 1) / 2;
    for (int i = 0; i < s->count; i++) {
        table[s->place[i]].is_there = 1;
        memcpy(table[s->place[i]].cell_A, s->cell_A[i], sizeof s->cell_A[i]);
    }
    ley_status status = share_words(&a->ranks, (void *)table, sizeof table / WORD, SHARE_ALL, error);
    for (int place = 0; place < SAMPLE_MOST && status == LEY_OK; place++) {
        if (table[place].is_there == 0)
            continue;
        const int to = dealt.all++ % a->ranks.count;
        int64_t *moved = calloc(words, WORD);
        if (moved == NULL)
            status = ley_fail_memory(error, words * WORD, "frames");
        for (int i = 0; i < s->count && status == LEY_OK; i++)
            if (s->place[i] == place)
                memcpy(moved, s->position_A[i], 3 * atoms * sizeof(float));
        if (status == LEY_OK)
            status = share_words(&a->ranks, moved, words, to, error);
        if (status != LEY_OK || to != a->ranks.own) {
            free(moved);
            continue;
        }
        memcpy(dealt.cell_A[dealt.count], table[place].cell_A, sizeof table[place].cell_A);
        dealt.position_A[dealt.count++] = (float *)(void *)moved;
    }
    for (int i = 0; i < s->count; i++)
        free(s->position_A[i]);
    *s = dealt;
    return status;
}

ley_status share_all(ley_average *a, ley_error *error)
{
    ley_status status = share_facts(a, error);
    pthread_mutex_lock(&a->sum_mutex);
    if (status == LEY_OK && a->added > 0)
        status = share_frames(a, &a->sums, a->added, SHARE_ALL, error);
    if (status == LEY_OK)
        status = share_blocks(a, error);
    pthread_mutex_unlock(&a->sum_mutex);
    return status == LEY_OK && a->cells_change ? deal_samples(a, error) : status;
}
