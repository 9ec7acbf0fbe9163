#include "ions/bounds.h"

#include "for_this_cpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The box of each brick, along x, y and z, whatever the steps are. */
static void find_corners(brick_bounds *to)
{
    const ions_grid *g = to->g;
    for (int64_t b = 0; b < to->count; b++) {
        int64_t first[3], last[3];
        double low[3], high[3];
        ions_grid_corner(g, to->brick[b], first);
        for (int axis = 0; axis < 3; axis++)
            last[axis] = first[axis] + BRICK < g->n[axis] ? first[axis] + BRICK - 1 : g->n[axis] - 1;
        ions_grid_box(g, first, last, low, high);
        for (int axis = 0; axis < 3; axis++) {
            to->low[axis][b] = (float)low[axis] - 1e-3f;
            to->high[axis][b] = (float)high[axis] + 1e-3f;
        }
    }
}

bool bounds_create(const ions_grid *g, size_t count, const int32_t *bricks, brick_bounds *b)
{
    const size_t blocks = (count + BOUNDS_BLOCK - 1) / BOUNDS_BLOCK, n = blocks * BOUNDS_BLOCK;
    float *numbers = calloc(11 * n + blocks + 1, sizeof *numbers);
    float **const arrays[] = {&b->low[0], &b->low[1], &b->low[2],       &b->high[0],     &b->high[1], &b->high[2],
                              &b->least,  &b->most,   &b->least_change, &b->most_change, &b->bound,   &b->of_block};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays && numbers != NULL; i++)
        *arrays[i] = numbers + i * n;
    b->g = g;
    b->count = (int64_t)count;
    b->room = (int64_t)n;
    b->brick = calloc(count + 1, sizeof *b->brick);
    b->place = malloc((size_t)g->brick_count * sizeof *b->place);
    if (numbers == NULL || b->brick == NULL || b->place == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        b->least[i] = INFINITY;
        b->most[i] = -INFINITY;
    }
    for (int64_t i = 0; i < g->brick_count; i++)
        b->place[i] = -1;
    for (size_t i = 0; i < count; i++) {
        b->brick[i] = bricks[i];
        b->place[bricks[i]] = (int32_t)i;
    }
    find_corners(b);
    return true;
}

void bounds_free(brick_bounds *b)
{
    free(b->low[0]);
    free(b->brick);
    free(b->place);
}

void bounds_set(brick_bounds *b, int32_t brick, float least, float most)
{
    const int32_t i = b->place[brick];
    if (i < 0)
        return;
    b->least[i] = least;
    b->most[i] = most;
    b->least_change[i] = b->most_change[i] = 0;
}

static inline __attribute__((always_inline)) float larger(float a, float b)
{
    return a > b ? a : b;
}

enum { LANES = 16 };

/* Through copies, so that compilers see that nothing overlaps. */
static inline __attribute__((always_inline)) void add(const float change[LANES], float *to)
{
    float sum[LANES];
    memcpy(sum, to, sizeof sum);
    for (int k = 0; k < LANES; k++)
        sum[k] += change[k];
    memcpy(to, sum, sizeof sum);
}

/* The factors are for the rounding of floats, also of many of these changes together. */
FOR_THIS_CPU static void widen(const brick_bounds *bounds, double strength_A, const double place_A[3])
{
    const ions_grid *g = bounds->g;
    const float strength = (float)strength_A, below = 0.9999f, above = 1.0001f;
    const bool is_square = g->is_square;
    const float least_A = (float)(sqrt(g->between2) * g->h_A) * below;
    const float x = (float)place_A[0], y = (float)place_A[1], z = (float)place_A[2];
    const float *low_x = bounds->low[0], *low_y = bounds->low[1], *low_z = bounds->low[2], *high_x = bounds->high[0],
                *high_y = bounds->high[1], *high_z = bounds->high[2];
    float *lower = strength > 0 ? bounds->least_change : bounds->most_change,
          *higher = strength > 0 ? bounds->most_change : bounds->least_change;
    for (int64_t b = 0; b < bounds->room; b += LANES) {
        float least[LANES], most[LANES];
        for (int k = 0; k < LANES; k++) {
            const float lx = low_x[b + k] - x, hx = high_x[b + k] - x, ly = low_y[b + k] - y, hy = high_y[b + k] - y,
                        lz = low_z[b + k] - z, hz = high_z[b + k] - z;
            const float nx = larger(larger(lx, -hx), 0), ny = larger(larger(ly, -hy), 0),
                        nz = larger(larger(lz, -hz), 0);
            const float fx = larger(-lx, hx), fy = larger(-ly, hy), fz = larger(-lz, hz);
            const float near_A = larger(sqrtf(nx * nx + ny * ny + nz * nz) * below, least_A);
            const float far_A = larger(sqrtf(fx * fx + fy * fy + fz * fz) * above, near_A);
            least[k] = strength / (is_square ? far_A * far_A : far_A);
            most[k] = strength / (is_square ? near_A * near_A : near_A);
        }
        add(least, lower + b);
        add(most, higher + b);
    }
}

void bounds_widen(brick_bounds *b, double strength, const double place_A[3])
{
    widen(b, strength, place_A);
}

void bounds_forget(brick_bounds *b)
{
    for (int64_t i = 0; i < b->count; i++) {
        b->least_change[i] = -INFINITY;
        b->most_change[i] = INFINITY;
    }
}

/* A not-a-number, of a brick without nodes, is less than nothing. */
FOR_THIS_CPU static void find(const brick_bounds *b, bool is_positive)
{
    const float *value = is_positive ? b->least : b->most, *change = is_positive ? b->least_change : b->most_change;
    const float sign = is_positive ? 1 : -1;
    for (int64_t first = 0; first < b->room; first += BOUNDS_BLOCK) {
        float least[LANES], of_all = INFINITY;
        for (int k = 0; k < LANES; k++)
            least[k] = INFINITY;
        for (int64_t i = first; i < first + BOUNDS_BLOCK; i += LANES) {
            float bound[LANES];
            for (int k = 0; k < LANES; k++)
                bound[k] = sign * (value[i + k] + change[i + k]);
            for (int k = 0; k < LANES; k++)
                least[k] = bound[k] < least[k] ? bound[k] : least[k];
            memcpy(b->bound + i, bound, sizeof bound);
        }
        for (int k = 0; k < LANES; k++)
            of_all = least[k] < of_all ? least[k] : of_all;
        b->of_block[first / BOUNDS_BLOCK] = of_all;
    }
}

void bounds_find(brick_bounds *b, double charge_e)
{
    find(b, charge_e > 0);
}

/* Into a heap with the largest bound at its top, in place of which it comes if there is no room. */
static size_t put_into_heap(const float *bound, int32_t *heap, size_t count, size_t most, int32_t one)
{
    size_t at = count < most ? count++ : 0;
    if (at == 0 && count == most) { /* in place of the top: down */
        for (size_t child; (child = 2 * at + 1) < count; at = child) {
            child += child + 1 < count && bound[heap[child + 1]] > bound[heap[child]];
            if (!(bound[heap[child]] > bound[one]))
                break;
            heap[at] = heap[child];
        }
    } else { /* at the end: up */
        for (size_t parent; at > 0 && bound[heap[parent = (at - 1) / 2]] < bound[one]; at = parent)
            heap[at] = heap[parent];
    }
    heap[at] = one;
    return count;
}

size_t bounds_first(const brick_bounds *b, size_t most, int32_t *chosen)
{
    size_t count = 0;
    for (int64_t block = 0; block * BOUNDS_BLOCK < b->room; block++) {
        const int64_t first = block * BOUNDS_BLOCK, last = first + BOUNDS_BLOCK;
        if (count == most && !(b->of_block[block] < b->bound[chosen[0]]))
            continue;
        for (int64_t i = first; i < last; i++)
            if (b->bound[i] < (count == most ? b->bound[chosen[0]] : INFINITY))
                count = put_into_heap(b->bound, chosen, count, most, (int32_t)i);
    }
    for (size_t i = 0; i < count; i++)
        chosen[i] = b->brick[chosen[i]];
    return count;
}

size_t bounds_up_to(const brick_bounds *b, double limit, int32_t *chosen)
{
    size_t count = 0;
    for (int64_t block = 0; block * BOUNDS_BLOCK < b->room; block++) {
        const int64_t first = block * BOUNDS_BLOCK, last = first + BOUNDS_BLOCK;
        for (int64_t i = first; i < last && (double)b->of_block[block] <= limit; i++)
            if ((double)b->bound[i] <= limit && b->bound[i] < INFINITY)
                chosen[count++] = b->brick[i];
    }
    return count;
}

FOR_THIS_CPU static float least_above(const brick_bounds *b, float limit)
{
    float least[LANES], of_all = INFINITY;
    for (int k = 0; k < LANES; k++)
        least[k] = INFINITY;
    for (int64_t i = 0; i < b->room; i += LANES)
        for (int k = 0; k < LANES; k++)
            least[k] = b->bound[i + k] > limit && b->bound[i + k] < least[k] ? b->bound[i + k] : least[k];
    for (int k = 0; k < LANES; k++)
        of_all = least[k] < of_all ? least[k] : of_all;
    return of_all;
}

double bounds_above(const brick_bounds *b, double limit)
{
    const float rounded = (float)limit;
    return (double)least_above(b, (double)rounded > limit ? nextafterf(rounded, -INFINITY) : rounded);
}
