#include "layout/space_order.h"

#include "error.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Cells of the curve along an axis: 2^BITS. Points of one cell are sorted by a curve of their
 * own. */
enum { BITS = 10, DIGIT_BITS = 10, DIGITS = 1 << DIGIT_BITS, FEW = 1 << 14 /* points: threads are not worth it */ };

typedef struct entry {
    uint32_t key;
    int32_t index;
} entry;

/* How far along Hilbert's curve a cell lies. J. Skilling, Programming the Hilbert curve, AIP Conf.
 * Proc. 707, 381 (2004). */
static uint32_t hilbert(uint32_t cell[3])
{
    for (uint32_t bit = 1u << (BITS - 1); bit > 1; bit >>= 1)
        for (int axis = 0; axis < 3; axis++)
            if ((cell[axis] & bit) != 0)
                cell[0] ^= bit - 1;
            else {
                const uint32_t exchanged = (cell[0] ^ cell[axis]) & (bit - 1);
                cell[0] ^= exchanged;
                cell[axis] ^= exchanged;
            }
    uint32_t flip = 0, key = 0;
    cell[1] ^= cell[0];
    cell[2] ^= cell[1];
    for (uint32_t bit = 1u << (BITS - 1); bit > 1; bit >>= 1)
        if ((cell[2] & bit) != 0)
            flip ^= bit - 1;
    for (int bit = BITS - 1; bit >= 0; bit--)
        for (int axis = 0; axis < 3; axis++)
            key = key << 1 | ((cell[axis] ^ flip) >> bit & 1);
    return key;
}

/* The low corner and the longest edge of the box around some points. */
static double measure(const double *point_A, const entry *entries, size_t n, double low_A[3])
{
    double high_A[3], edge_A = 0;
    for (int axis = 0; axis < 3; axis++) {
        low_A[axis] = high_A[axis] = point_A[3 * (size_t)entries[0].index + (size_t)axis];
        for (size_t i = 1; i < n; i++) {
            const double at_A = point_A[3 * (size_t)entries[i].index + (size_t)axis];
            low_A[axis] = at_A < low_A[axis] ? at_A : low_A[axis];
            high_A[axis] = at_A > high_A[axis] ? at_A : high_A[axis];
        }
        edge_A = fmax(edge_A, high_A[axis] - low_A[axis]);
    }
    return edge_A;
}

/* The box is divided into cubic cells. */
typedef struct curve {
    const double *point_A;
    entry *entries;
    double low_A[3], edge_A;
} curve;

static void make_keys(void *context, size_t first, size_t last)
{
    const curve *c = context;
    for (size_t i = first; i < last; i++) {
        uint32_t cell[3];
        for (size_t axis = 0; axis < 3; axis++) {
            const double along = (c->point_A[3 * (size_t)c->entries[i].index + axis] - c->low_A[axis]) / c->edge_A;
            cell[axis] = (uint32_t)fmin(along * (1 << BITS), (1 << BITS) - 1);
        }
        c->entries[i].key = hilbert(cell);
    }
}

/* By one digit of the keys, from one array into the other. */
static void sort_digit(const entry *from, entry *to, size_t n, int shift)
{
    size_t begin[DIGITS + 1] = {0};
    for (size_t i = 0; i < n; i++)
        begin[(from[i].key >> shift) % DIGITS + 1]++;
    for (int digit = 0; digit < DIGITS; digit++)
        begin[digit + 1] += begin[digit];
    for (size_t i = 0; i < n; i++)
        to[begin[(from[i].key >> shift) % DIGITS]++] = from[i];
}

static int compare_keys(const void *a, const void *b)
{
    const uint32_t x = ((const entry *)a)->key, y = ((const entry *)b)->key;
    return (x > y) - (x < y);
}

static void sort_keys(entry *entries, entry *spare, size_t n)
{
    if (n < DIGITS) {
        qsort(entries, n, sizeof *entries, compare_keys);
        return;
    }
    for (int shift = 0; shift < 3 * BITS; shift += DIGIT_BITS) {
        sort_digit(entries, spare, n, shift);
        memcpy(entries, spare, n * sizeof *entries);
    }
}

/* Points in one place are left as they are. Others fall into at least two cells, of a curve a
 * thousandth as long: no deep recursion. */
static void sort_points(const double *point_A, entry *entries, entry *spare, size_t n)
{
    curve c = {.point_A = point_A, .entries = entries};
    c.edge_A = n > 1 ? measure(point_A, entries, n, c.low_A) : 0;
    if (!(c.edge_A > 0))
        return;
    if (n < FEW)
        make_keys(&c, 0, n);
    else
        parallel_ranges(n, make_keys, &c);
    sort_keys(entries, spare, n);
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && entries[end].key == entries[first].key;)
            end++;
        sort_points(point_A, entries + first, spare, end - first);
    }
}

ley_status space_order(const double *point_A, size_t n, int32_t *order, ley_error *error)
{
    entry *entries = malloc(2 * n * sizeof *entries);
    if (entries == NULL)
        return ley_fail_memory(error, 2 * n * sizeof *entries, "sorting the points");
    for (size_t i = 0; i < n; i++)
        entries[i].index = (int32_t)i;
    sort_points(point_A, entries, entries + n, n);
    for (size_t i = 0; i < n; i++)
        order[i] = entries[i].index;
    free(entries);
    return LEY_OK;
}
