#include "ions/bins.h"

#include "error.h"
#include "parallel.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

struct bins {
    const double *at_A[3];
    double low_A[3], edge_A;
    int64_t n[3];
    size_t *first, *place; /* [bins + 1], the first of each; [places] in their order */
};

/* Along an axis, within the bins. */
static int64_t index_of(const bins *b, int axis, double at_A)
{
    const double i = floor((at_A - b->low_A[axis]) / b->edge_A);
    return i < 0 ? 0 : i >= (double)b->n[axis] ? b->n[axis] - 1 : (int64_t)i;
}

static size_t bin_of(const bins *b, size_t i)
{
    return (size_t)((index_of(b, 2, b->at_A[2][i]) * b->n[1] + index_of(b, 1, b->at_A[1][i])) * b->n[0] +
                    index_of(b, 0, b->at_A[0][i]));
}

/* No more bins than a few million. */
static size_t lay_out(bins *b, size_t n, double reach_A)
{
    const double most_bins = 4e6;
    double high_A[3], all = 1;
    for (int axis = 0; axis < 3; axis++) {
        b->low_A[axis] = n > 0 ? INFINITY : 0;
        high_A[axis] = n > 0 ? -INFINITY : 0;
        for (size_t i = 0; i < n; i++) {
            const double at_A = b->at_A[axis][i];
            b->low_A[axis] = at_A < b->low_A[axis] ? at_A : b->low_A[axis];
            high_A[axis] = at_A > high_A[axis] ? at_A : high_A[axis];
        }
        all *= (high_A[axis] - b->low_A[axis]) / reach_A + 1;
    }
    size_t count = 1;
    b->edge_A = reach_A * fmax(1, cbrt(all / most_bins));
    for (int axis = 0; axis < 3; axis++) {
        b->n[axis] = (int64_t)((high_A[axis] - b->low_A[axis]) / b->edge_A) + 1;
        count *= (size_t)b->n[axis];
    }
    return count;
}

typedef struct filing {
    const bins *b;
    uint32_t *bin; /* [places] */
} filing;

static void find_bins(void *context, size_t first, size_t last)
{
    const filing *f = context;
    for (size_t i = first; i < last; i++)
        f->bin[i] = (uint32_t)bin_of(f->b, i);
}

ley_status bins_create(size_t n, const double *const at_A[3], double reach_A, bins **made, ley_error *error)
{
    bins *b = calloc(1, sizeof *b);
    if (b == NULL)
        return ley_fail_memory(error, sizeof *b, "atoms in bins");
    for (int axis = 0; axis < 3; axis++)
        b->at_A[axis] = at_A[axis];
    const size_t count = lay_out(b, n, reach_A);
    b->first = calloc(count + 2, sizeof *b->first);
    b->place = calloc(n + 1, sizeof *b->place);
    filing f = {b, malloc((n + 1) * sizeof *f.bin)};
    if (b->first == NULL || b->place == NULL || f.bin == NULL) {
        bins_destroy(b);
        free(f.bin);
        return ley_fail_memory(error, (count + n) * sizeof *b->first, "atoms in bins");
    }
    parallel_ranges(n, find_bins, &f);
    for (size_t i = 0; i < n; i++)
        b->first[f.bin[i] + (size_t)2]++;
    for (size_t i = 0; i < count; i++)
        b->first[i + 2] += b->first[i + 1];
    for (size_t i = 0; i < n; i++)
        b->place[b->first[f.bin[i] + (size_t)1]++] = i;
    free(f.bin);
    *made = b;
    return LEY_OK;
}

void bins_destroy(bins *b)
{
    if (b == NULL)
        return;
    free(b->first);
    free(b->place);
    free(b);
}

/* Calls each() for what is in the bins that a box touches, until it returns true. */
typedef bool bins_each(void *context, size_t i);

static bool visit(const bins *b, const double low_A[3], const double high_A[3], bins_each *each, void *context)
{
    int64_t low[3], high[3];
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = index_of(b, axis, low_A[axis]);
        high[axis] = index_of(b, axis, high_A[axis]);
    }
    for (int64_t z = low[2]; z <= high[2]; z++)
        for (int64_t y = low[1]; y <= high[1]; y++) {
            const size_t row = (size_t)((z * b->n[1] + y) * b->n[0]);
            for (size_t i = b->first[row + (size_t)low[0]]; i < b->first[row + (size_t)high[0] + 1]; i++)
                if (each(context, b->place[i]))
                    return true;
        }
    return false;
}

typedef struct asking {
    const bins *b;
    const double *place_A;
    double reach2;
} asking;

static bool is_within(void *context, size_t i)
{
    const asking *a = context;
    const double dx = a->place_A[0] - a->b->at_A[0][i], dy = a->place_A[1] - a->b->at_A[1][i],
                 dz = a->place_A[2] - a->b->at_A[2][i];
    return dx * dx + dy * dy + dz * dz <= a->reach2;
}

bool bins_has_within(const bins *b, const double place_A[3], double reach_A)
{
    asking a = {b, place_A, reach_A * reach_A};
    double low_A[3], high_A[3];
    for (int axis = 0; axis < 3; axis++) {
        low_A[axis] = place_A[axis] - 1.000001 * reach_A;
        high_A[axis] = place_A[axis] + 1.000001 * reach_A;
    }
    return visit(b, low_A, high_A, is_within, &a);
}

typedef struct taking {
    const bins *b;
    const double *low_A, *high_A;
    size_t count, most, *which;
} taking;

static bool take(void *context, size_t i)
{
    taking *t = context;
    for (int axis = 0; axis < 3; axis++)
        if (t->b->at_A[axis][i] < t->low_A[axis] || t->b->at_A[axis][i] > t->high_A[axis])
            return false;
    if (t->count < t->most)
        t->which[t->count] = i;
    t->count++;
    return false;
}

size_t bins_in_box(const bins *b, const double low_A[3], const double high_A[3], size_t most, size_t *which)
{
    taking t = {b, low_A, high_A, 0, most, which};
    visit(b, low_A, high_A, take, &t);
    return t.count;
}
