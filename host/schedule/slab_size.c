#include "schedule/slab_size.h"

#include "error.h"
#include "schedule/method.h"
#include "watch.h"

#include <math.h>

static const double slab_s = 0.1;

/* Bytes that a slab's buffer may have. */
static double most_bytes(const arena *r, const slab_needs *n)
{
    const double most = fmin(fmax(n->staging_bytes, (double)n->piece_bytes), (double)arena_largest(r));
    return fmin(most, ((double)arena_left(r) - n->fixed_bytes) / METHOD_SLOTS);
}

/* Pieces that a slab may have, however long they take. */
static double room_for(const arena *r, const slab_needs *n)
{
    double most = n->piece_bytes > 0 ? floor(most_bytes(r, n) / (double)n->piece_bytes) : (double)n->pieces;
    if (n->most_per_launch > 0)
        most = fmin(most, fmax(floor(n->most_per_launch), 1));
    if (n->most_pieces > 0)
        most = fmin(most, (double)n->most_pieces);
    return fmax(most, 1);
}

ley_status slab_size(const arena *r, const slab_needs *n, int64_t *count, ley_error *error)
{
    double wanted = floor(slab_s / n->piece_s);
    if (n->piece_bytes > 0) {
        const double most = most_bytes(r, n);
        if ((double)n->piece_bytes > most)
            return ley_fail(error, LEY_ERROR_NO_DEVICE, "%s %s, there is room for %s", n->piece,
                            ley_size((double)n->piece_bytes).s, ley_size(fmax(most, 0)).s);
        wanted = fmin(wanted, floor(most / (double)n->piece_bytes));
    }
    if (n->least_slabs > 0)
        wanted = fmin(wanted, ceil((double)n->pieces / (double)n->least_slabs));
    if (n->most_per_launch > 0)
        wanted = fmin(wanted, floor(n->most_per_launch));
    if (n->most_pieces > 0)
        wanted = fmin(wanted, (double)n->most_pieces);
    wanted = fmin(fmax(wanted, 1), (double)n->pieces);
    if (n->planned > 0) {
        const double most = room_for(r, n);
        wanted = fmin((double)n->planned, (double)n->pieces);
        if (wanted > most)
            return ley_fail(error, LEY_ERROR_NO_DEVICE, "the plan's slabs are of %lld, there is room for %.0f",
                            (long long)wanted, most);
    }
    *count = (int64_t)wanted;
    watch_expect(wanted * n->piece_s);
    return LEY_OK;
}
