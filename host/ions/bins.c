#include "ions/bins.h"

#include "error.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>

/* Bins are half as wide as what is asked for; and there are no more than a few million. */
static const double edges_of_reach = 2, most_bins = 4e6;

/* Along an axis, within the bins. */
static int64_t index_of(const bins *b, int axis, double at_A)
{
    const double i = floor((at_A - b->low_A[axis]) / b->edge_A);
    return i < 0 ? 0 : i >= (double)b->count[axis] ? b->count[axis] - 1 : (int64_t)i;
}

/* ---- Making them ----------------------------------------------------------------------------- */

enum { PARTS = 64 };

typedef struct filing {
    bins *b;
    const double *const *from_A;
    uint32_t *bin; /* [n]: of each place */
    double low_A[PARTS][3], high_A[PARTS][3];
} filing;

static void find_bounds(void *context, size_t first, size_t last)
{
    filing *f = context;
    for (size_t part = first; part < last; part++)
        for (int axis = 0; axis < 3; axis++) {
            const size_t end = parallel_first(f->b->n, PARTS, part + 1);
            double low_A = INFINITY, high_A = -INFINITY;
            for (size_t i = parallel_first(f->b->n, PARTS, part); i < end; i++) {
                const double at_A = f->from_A[axis][i];
                low_A = at_A < low_A ? at_A : low_A;
                high_A = at_A > high_A ? at_A : high_A;
            }
            f->low_A[part][axis] = low_A;
            f->high_A[part][axis] = high_A;
        }
}

static size_t lay_out(filing *f, double reach_A)
{
    bins *b = f->b;
    double length_A[3], all = 1;
    size_t count = 1;
    parallel_ranges(PARTS, find_bounds, f);
    for (int axis = 0; axis < 3; axis++) {
        double low_A = INFINITY, high_A = -INFINITY;
        for (int part = 0; part < PARTS; part++) {
            low_A = fmin(low_A, f->low_A[part][axis]);
            high_A = fmax(high_A, f->high_A[part][axis]);
        }
        b->low_A[axis] = b->n > 0 ? low_A : 0;
        length_A[axis] = b->n > 0 ? high_A - low_A : 0;
        all *= edges_of_reach * length_A[axis] / reach_A + 1;
    }
    b->edge_A = reach_A / edges_of_reach * fmax(1, cbrt(all / most_bins));
    for (int axis = 0; axis < 3; axis++) {
        b->count[axis] = (int64_t)(length_A[axis] / b->edge_A) + 1;
        count *= (size_t)b->count[axis];
    }
    return count;
}

static void find_bins(void *context, size_t first, size_t last)
{
    const filing *f = context;
    const bins *b = f->b;
    for (size_t i = first; i < last; i++)
        f->bin[i] =
            (uint32_t)((index_of(b, 2, f->from_A[2][i]) * b->count[1] + index_of(b, 1, f->from_A[1][i])) * b->count[0] +
                       index_of(b, 0, f->from_A[0][i]));
}

/* Of the bins [first, last), each thread its own: places in a bin keep their order. The number two
 * behind a bin's is how many it has; then the one behind it is where its next place goes. */
static void count_places(void *context, size_t first, size_t last)
{
    const filing *f = context;
    for (size_t i = 0; i < f->b->n; i++)
        if (f->bin[i] >= first && f->bin[i] < last)
            f->b->first[f->bin[i] + (size_t)2]++;
}

static void put_places(void *context, size_t first, size_t last)
{
    const filing *f = context;
    for (size_t i = 0; i < f->b->n; i++)
        if (f->bin[i] >= first && f->bin[i] < last) {
            const int32_t at = f->b->first[f->bin[i] + (size_t)1]++;
            for (int axis = 0; axis < 3; axis++)
                f->b->at_A[axis][at] = f->from_A[axis][i];
        }
}

static bool make_room(filing *f, size_t count)
{
    bins *b = f->b;
    b->first = calloc(count + 2, sizeof *b->first);
    b->at_A[0] = malloc((3 * b->n + 1) * sizeof *b->at_A[0]);
    f->bin = malloc((b->n + 1) * sizeof *f->bin);
    if (b->first == NULL || b->at_A[0] == NULL || f->bin == NULL)
        return false;
    b->at_A[1] = b->at_A[0] + b->n;
    b->at_A[2] = b->at_A[1] + b->n;
    return true;
}

ley_status bins_create(size_t n, const double *const from_A[3], double reach_A, bins **made, ley_error *error)
{
    if (n >= INT32_MAX)
        return ley_fail(error, LEY_ERROR_INPUT, "%zu atoms and images, and at most 2147483646 can be left out", n);
    bins *b = calloc(1, sizeof *b);
    filing *f = calloc(1, sizeof *f);
    size_t count = 0;
    bool has_room = b != NULL && f != NULL;
    if (has_room) {
        b->n = n;
        f->b = b;
        f->from_A = from_A;
        count = lay_out(f, reach_A);
        has_room = make_room(f, count);
    }
    if (has_room) {
        parallel_ranges(n, find_bins, f);
        parallel_ranges(count, count_places, f);
        for (size_t i = 0; i < count; i++)
            b->first[i + 2] += b->first[i + 1];
        parallel_ranges(count, put_places, f);
        *made = b;
    } else {
        bins_destroy(b);
    }
    if (f != NULL)
        free(f->bin);
    free(f);
    return has_room ? LEY_OK : ley_fail_memory(error, (count + 3 * n) * sizeof(double), "atoms in bins");
}

void bins_destroy(bins *b)
{
    if (b == NULL)
        return;
    free(b->first);
    free(b->at_A[0]);
    free(b);
}

/* ---- Asking them ----------------------------------------------------------------------------- */

/* A box's bins in a row along x are one range of places. */
typedef struct rows {
    int64_t low[3], high[3];
} rows;

static rows rows_of(const bins *b, const double low_A[3], const double high_A[3])
{
    rows r;
    for (int axis = 0; axis < 3; axis++) {
        r.low[axis] = index_of(b, axis, low_A[axis]);
        r.high[axis] = index_of(b, axis, high_A[axis]);
    }
    return r;
}

static void range_of(const bins *b, const rows *r, int64_t y, int64_t z, size_t range[2])
{
    const int32_t *first = b->first + (z * b->count[1] + y) * b->count[0];
    range[0] = (size_t)first[r->low[0]];
    range[1] = (size_t)first[r->high[0] + 1];
}

bool bins_has_within(const bins *b, const double place_A[3], double reach_A)
{
    const double reach2 = reach_A * reach_A, *x = b->at_A[0], *y = b->at_A[1], *z = b->at_A[2];
    double low_A[3], high_A[3];
    for (int axis = 0; axis < 3; axis++) {
        low_A[axis] = place_A[axis] - 1.000001 * reach_A;
        high_A[axis] = place_A[axis] + 1.000001 * reach_A;
    }
    const rows r = rows_of(b, low_A, high_A);
    for (int64_t k = r.low[2]; k <= r.high[2]; k++)
        for (int64_t j = r.low[1]; j <= r.high[1]; j++) {
            size_t range[2];
            range_of(b, &r, j, k, range);
            for (size_t i = range[0]; i < range[1]; i++) {
                const double dx = place_A[0] - x[i], dy = place_A[1] - y[i], dz = place_A[2] - z[i];
                if (dx * dx + dy * dy + dz * dz <= reach2)
                    return true;
            }
        }
    return false;
}

static bool is_in(const bins *b, size_t i, const double low_A[3], const double high_A[3])
{
    bool is = true;
    for (int axis = 0; axis < 3; axis++)
        is = is && b->at_A[axis][i] >= low_A[axis] && b->at_A[axis][i] <= high_A[axis];
    return is;
}

size_t bins_in_box(const bins *b, const double low_A[3], const double high_A[3], size_t most, size_t *which)
{
    const rows r = rows_of(b, low_A, high_A);
    size_t count = 0;
    for (int64_t k = r.low[2]; k <= r.high[2]; k++)
        for (int64_t j = r.low[1]; j <= r.high[1]; j++) {
            size_t range[2];
            range_of(b, &r, j, k, range);
            for (size_t i = range[0]; i < range[1]; i++) {
                if (!is_in(b, i, low_A, high_A))
                    continue;
                if (count < most)
                    which[count] = i;
                count++;
            }
        }
    return count;
}
