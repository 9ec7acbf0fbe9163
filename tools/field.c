#include "field.h"
#include "console.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Rasters --------------------------------------------------------------------------------- */

/* Which points make one cell, and how much of each. */
typedef struct tap_list {
    int64_t first;
    int count;
    float *weights;
} tap_list;

static int most_taps(int64_t points, int64_t cells)
{
    return (int)(points / cells) + 3;
}

static void choose_taps(tap_list *taps, int64_t points, int64_t cells, int64_t cell)
{
    double ratio = (double)(points - 1) / (double)cells;
    taps->count = 0;
    if (ratio <= 1) {
        double position = ((double)cell + 0.5) * ratio;
        taps->first = (int64_t)position;
        float second = (float)(position - (double)taps->first);
        taps->weights[taps->count++] = 1 - second;
        if (second > 0)
            taps->weights[taps->count++] = second;
        return;
    }
    /* Point i stands for the length from i to i + 1 on a scale that begins half a point before the
     * first. */
    double begin = (double)cell * ratio + 0.5, end = begin + ratio;
    taps->first = (int64_t)begin;
    for (int64_t i = taps->first; (double)i < end && i < points; i++) {
        double covered = fmin(end, (double)(i + 1)) - fmax(begin, (double)i);
        taps->weights[taps->count++] = (float)(covered / ratio);
    }
}

/* One cell's value on each of `lines` lines; points along a line are `stride` apart. */
static void weigh(const tap_list *taps, const float *values, int64_t stride, int64_t lines, int64_t line_stride,
                  float *result, int64_t result_stride)
{
    for (int64_t line = 0; line < lines; line++) {
        const float *in = values + line * line_stride + taps->first * stride;
        float sum = 0;
        for (int i = 0; i < taps->count; i++)
            sum += taps->weights[i] * in[i * stride];
        result[line * result_stride] = sum;
    }
}

plane_field field_rasterize(const plane_field *from, int64_t columns, int64_t rows)
{
    plane_field result = {columns, rows, allocate((size_t)(columns * rows), sizeof(float))};
    float *wide = allocate((size_t)(columns * from->rows), sizeof(float));
    int most_across = most_taps(from->columns, columns), most_up = most_taps(from->rows, rows);
    tap_list taps = {.weights = allocate((size_t)(most_across > most_up ? most_across : most_up), sizeof(float))};
    for (int64_t column = 0; column < columns; column++) {
        choose_taps(&taps, from->columns, columns, column);
        weigh(&taps, from->values, 1, from->rows, from->columns, wide + column, columns);
    }
    for (int64_t row = 0; row < rows; row++) {
        choose_taps(&taps, from->rows, rows, row);
        weigh(&taps, wide, columns, columns, 1, result.values + row * columns, 1);
    }
    free(taps.weights);
    free(wide);
    return result;
}

/* ---- Statistics ------------------------------------------------------------------------------ */

/* Bits of the absolute value: for finite floats they are in the same order as the values. */
static uint32_t magnitude_bits(float value)
{
    float magnitude = fabsf(value);
    uint32_t bits;
    memcpy(&bits, &magnitude, sizeof bits);
    return bits;
}

/* The bucket that holds number `rank` (from 1); takes what lies before it off the rank. */
static uint32_t find_bucket(const uint64_t counts[65536], uint64_t *rank)
{
    uint32_t bucket = 0;
    for (; counts[bucket] < *rank; bucket++)
        *rank -= counts[bucket];
    return bucket;
}

/* Selects by counting, upper halves of the bits first: planes have tens of millions of points, too
 * many to sort. */
double field_percentile(const plane_field *field, double share)
{
    uint64_t *counts = allocate(65536, sizeof *counts), finite = 0;
    int64_t n = field->columns * field->rows;
    for (int64_t i = 0; i < n; i++)
        if (isfinite(field->values[i])) {
            counts[magnitude_bits(field->values[i]) >> 16]++;
            finite++;
        }
    uint64_t rank = (uint64_t)ceil(share * (double)finite);
    float result = 0;
    if (rank > 0) {
        uint32_t upper = find_bucket(counts, &rank);
        memset(counts, 0, 65536 * sizeof *counts);
        for (int64_t i = 0; i < n; i++)
            if (isfinite(field->values[i]) && magnitude_bits(field->values[i]) >> 16 == upper)
                counts[magnitude_bits(field->values[i]) & 65535]++;
        uint32_t bits = upper << 16 | find_bucket(counts, &rank);
        memcpy(&result, &bits, sizeof result);
    }
    free(counts);
    return result;
}

void field_bounds(const plane_field *field, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (int64_t i = 0; i < field->columns * field->rows; i++)
        if (isfinite(field->values[i])) {
            *low = fmin(*low, field->values[i]);
            *high = fmax(*high, field->values[i]);
        }
    if (*low > *high)
        *low = *high = 0;
}

/* ---- Contours -------------------------------------------------------------------------------- */

/* Sides of a square that the line crosses: bottom 0, right 1, top 2, left 3. Index: corners above
 * the level, one bit each, from bottom left against the clock. Two pairs where opposite corners lie
 * above (5 and 10). */
static const signed char crossings[16][4] = {{-1, -1, -1, -1}, {3, 0, -1, -1}, {0, 1, -1, -1}, {3, 1, -1, -1},
                                             {1, 2, -1, -1},   {3, 0, 1, 2},   {0, 2, -1, -1}, {3, 2, -1, -1},
                                             {2, 3, -1, -1},   {0, 2, -1, -1}, {0, 1, 2, 3},   {1, 2, -1, -1},
                                             {1, 3, -1, -1},   {0, 1, -1, -1}, {3, 0, -1, -1}, {-1, -1, -1, -1}};

static const signed char corner_x[4] = {0, 1, 1, 0}, corner_y[4] = {0, 0, 1, 1};

static void crossing_point(const float corner[4], int side, double level, double *x, double *y)
{
    int a = side, b = (side + 1) % 4;
    double t = (level - corner[a]) / ((double)corner[b] - corner[a]);
    *x += corner_x[a] + t * (corner_x[b] - corner_x[a]);
    *y += corner_y[a] + t * (corner_y[b] - corner_y[a]);
}

void field_contour(const plane_field *field, double level,
                   void (*piece)(void *context, double x0, double y0, double x1, double y1), void *context)
{
    for (int64_t row = 0; row + 1 < field->rows; row++)
        for (int64_t column = 0; column + 1 < field->columns; column++) {
            const float *low = field->values + row * field->columns + column, *high = low + field->columns;
            const float corner[4] = {low[0], low[1], high[1], high[0]};
            float mean = 0.25f * (corner[0] + corner[1] + corner[2] + corner[3]);
            if (!isfinite(mean))
                continue;
            int above = 0;
            for (int i = 0; i < 4; i++)
                above |= (corner[i] > level) << i;
            /* A saddle: the middle says which two corners belong together. */
            int shape = (above == 5 || above == 10) && mean > level ? 15 - above : above;
            for (int i = 0; i < 4 && crossings[shape][i] >= 0; i += 2) {
                double x0 = (double)column, y0 = (double)row, x1 = x0, y1 = y0;
                crossing_point(corner, crossings[shape][i], level, &x0, &y0);
                crossing_point(corner, crossings[shape][i + 1], level, &x1, &y1);
                piece(context, x0, y0, x1, y1);
            }
        }
}
