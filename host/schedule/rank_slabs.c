#include "schedule/rank_slabs.h"

#include "error.h"
#include "ranks.h"

#include <stdlib.h>
#include <string.h>

slab *rank_slabs_open(const slab_queue *queue, size_t *count)
{
    const slab rest = {queue->next, queue->end - queue->next};
    const size_t returned = queue->returned_count;
    slab *all = malloc((returned + 1) * sizeof *all);
    *count = returned + (rest.count > 0);
    for (size_t i = 0; all != NULL && i < returned; i++)
        all[i] = queue->returned[returned - 1 - i];
    if (all != NULL && rest.count > 0)
        all[returned] = rest;
    return all;
}

/* What a rank has left of its slabs, and whether it can do more. */
typedef struct leavings {
    int64_t slabs;
    bool is_able;
} leavings;

ley_status rank_slabs_share(const slab *own, size_t own_count, bool is_able, slab **list, size_t *count,
                            bool *is_any_able, ley_error *error)
{
    const size_t ranks = (size_t)ranks_count();
    const leavings of_own = {(int64_t)own_count, is_able};
    leavings *all = calloc(ranks, sizeof *all);
    size_t most = 0;
    if (all == NULL)
        return ley_fail_memory(error, ranks * sizeof *all, "the ranks");
    ranks_share(&of_own, sizeof of_own, all);
    *count = 0;
    *is_any_able = false;
    for (size_t r = 0; r < ranks; r++) {
        most = (size_t)all[r].slabs > most ? (size_t)all[r].slabs : most;
        *is_any_able = *is_any_able || all[r].is_able;
        *count += (size_t)all[r].slabs;
    }
    slab *padded = calloc(most + 1, sizeof *padded), *together = calloc(ranks * most + 1, sizeof *together);
    *list = calloc(*count + 1, sizeof **list);
    const bool has_memory = padded != NULL && *list != NULL && together != NULL;
    if (has_memory && most > 0) {
        if (own_count > 0)
            memcpy(padded, own, own_count * sizeof *padded);
        ranks_share(padded, most * sizeof *padded, together);
        for (size_t r = 0, n = 0; r < ranks; n += (size_t)all[r++].slabs)
            memcpy(*list + n, together + r * most, (size_t)all[r].slabs * sizeof **list);
    } else if (!has_memory) {
        free(*list);
        *list = NULL;
    }
    free(padded);
    free(together);
    free(all);
    return has_memory ? LEY_OK : ley_fail_memory(error, *count * sizeof **list, "the ranks' slabs");
}

bool rank_slabs_is_of_devices(ley_status status)
{
    return status == LEY_ERROR_NO_DEVICE || status == LEY_ERROR_DEVICE || status == LEY_ERROR_WRONG_RESULT;
}
