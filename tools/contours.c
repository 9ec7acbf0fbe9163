#include "contours.h"
#include "console.h"

#include <math.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846;

enum { MOST_OF_A_LEVEL = 6, SAMPLES = 8 /* along half a label */ };

typedef struct candidate {
    contour_label label;
    double score; /* the lower, the better */
} candidate;

typedef struct placing {
    const plane_field *cells;
    const contour_level *levels;
    size_t level_count, level; /* the current one */
    double height;
    candidate *candidates;
    size_t count, room;
    contour_label *labels;
    size_t label_count;
} placing;

/* Between the middles of cells; not a number outside of them. */
static double value_at(const plane_field *cells, double x, double y)
{
    x -= 0.5;
    y -= 0.5;
    if (!(x >= 0 && y >= 0 && x < (double)(cells->columns - 1) && y < (double)(cells->rows - 1)))
        return NAN;
    const int64_t column = (int64_t)x, row = (int64_t)y;
    const float *low = cells->values + row * cells->columns + column, *high = low + cells->columns;
    const double across = x - (double)column, up = y - (double)row;
    return (1 - up) * ((1 - across) * (double)low[0] + across * (double)low[1]) +
           up * ((1 - across) * (double)high[0] + across * (double)high[1]);
}

/* Whether the value is at another level, or beyond one, from this. */
static bool is_beyond(const placing *p, double value)
{
    const contour_level *level = &p->levels[p->level];
    return (p->level > 0 && value <= level[-1].value) || (p->level + 1 < p->level_count && value >= level[1].value);
}

/* How far the line is from a straight one along the label, as a share of its height; not a number:
 * the label does not lie on the plane, or another line is in its way. */
static double bend_of(const placing *p, const contour_label *label, double slope)
{
    const double along[2] = {cos(label->angle), sin(label->angle)}, half = 0.5 * label->width;
    double bend = 0;
    for (int i = -SAMPLES; i <= SAMPLES; i++)
        for (int side = -1; side <= 1; side++) {
            const double s = half * i / SAMPLES, t = 0.6 * p->height * side;
            const double value =
                value_at(p->cells, label->x + s * along[0] - t * along[1], label->y + s * along[1] + t * along[0]);
            if (isnan(value) || is_beyond(p, value))
                return NAN;
            if (side == 0)
                bend = fmax(bend, fabs(value - p->levels[p->level].value) / (slope * p->height));
        }
    return bend;
}

static void consider(void *context, double x0, double y0, double x1, double y1)
{
    placing *p = context;
    const double x = 0.5 * (x0 + x1) + 0.5, y = 0.5 * (y0 + y1) + 0.5, reach = 0.5 * p->height;
    const double across = (value_at(p->cells, x + reach, y) - value_at(p->cells, x - reach, y)) / (2 * reach),
                 up = (value_at(p->cells, x, y + reach) - value_at(p->cells, x, y - reach)) / (2 * reach),
                 slope = hypot(across, up);
    if (!(slope > 0))
        return;
    candidate c = {.label = {x, y, atan2(across, -up), p->levels[p->level].width, p->level}};
    c.label.angle -= c.label.angle > 0.5 * pi ? pi : 0;
    c.label.angle += c.label.angle <= -0.5 * pi ? pi : 0;
    const double bend = bend_of(p, &c.label, slope);
    if (isnan(bend))
        return;
    c.score = bend + 0.1 * fabs(sin(c.label.angle));
    if (p->count == p->room) {
        p->room = p->room > 0 ? 2 * p->room : 1024;
        p->candidates = realloc(p->candidates, p->room * sizeof *p->candidates);
        if (p->candidates == NULL)
            exit(fail(LEY_ERROR_MEMORY, "out of memory for contours"));
    }
    p->candidates[p->count++] = c;
}

static int compare_scores(const void *a, const void *b)
{
    const double x = ((const candidate *)a)->score, y = ((const candidate *)b)->score;
    return (x > y) - (x < y);
}

static bool is_free(const placing *p, const contour_label *label)
{
    for (size_t i = 0; i < p->label_count; i++) {
        const contour_label *other = &p->labels[i];
        const double apart = hypot(label->x - other->x, label->y - other->y);
        const double room = other->level == label->level ? 10 * p->height : p->height;
        if (apart < 0.5 * (label->width + other->width) + room)
            return false;
    }
    return true;
}

/* Sorted by score: places that are good enough, and where none is, the best one. */
static void take_best(placing *p)
{
    static const double good_bend = 0.16, poor_bend = 0.35;
    int taken = 0;
    qsort(p->candidates, p->count, sizeof *p->candidates, compare_scores);
    for (int is_poor = 0; is_poor <= 1 && taken == 0; is_poor++)
        for (size_t i = 0; i < p->count && taken < (is_poor ? 1 : MOST_OF_A_LEVEL); i++) {
            const candidate *c = &p->candidates[i];
            if (c->score > (is_poor ? poor_bend : good_bend))
                break;
            if (is_free(p, &c->label)) {
                p->labels[p->label_count++] = c->label;
                taken++;
            }
        }
}

contour_label *contours_place(const plane_field *cells, const contour_level *levels, size_t level_count, double height,
                              size_t *count)
{
    placing p = {.cells = cells, .levels = levels, .level_count = level_count, .height = height};
    p.labels = allocate(level_count * MOST_OF_A_LEVEL + 1, sizeof *p.labels);
    for (p.level = 0; p.level < level_count; p.level++) {
        p.count = 0;
        field_contour(cells, levels[p.level].value, consider, &p);
        take_best(&p);
    }
    free(p.candidates);
    *count = p.label_count;
    return p.labels;
}
