#include "law/neighbours.h"

#include "error.h"
#include "law/wide.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>

static const double per_bin = 4;
enum { MOST_BINS = 512, PADDING = 64, LEAST_PART = 4096 };

/* The place within the cell, and its components, from 0 to 1 where it is periodic. */
static WIDE_INLINE void wrap(const cell *c, const double x_A[3], double place_A[3], double component[3])
{
    for (int axis = 0; axis < 3; axis++)
        place_A[axis] = x_A[axis];
    for (int i = 0; i < 3; i++) {
        const double *dual = c->dual_per_A[i], along = dual[0] * x_A[0] + dual[1] * x_A[1] + dual[2] * x_A[2],
                     turns = c->periodic[i] ? floor(along) : 0;
        component[i] = along - turns;
        for (int axis = 0; axis < 3; axis++)
            place_A[axis] -= turns * c->vector_A[i][axis];
    }
}

/* Bins about as long as wide, with a few charges each, or as long as is wanted; what is thinner
 * than a bin leaves more of them to the other axes. */
static void find_bins(neighbours *b, double least_A)
{
    enum { TURNS = 12 };
    double extent_A[3], edge_A = 0;
    for (int i = 0; i < 3; i++)
        extent_A[i] = fmax(b->width[i] / cell_length(b->cell.dual_per_A[i]), 1e-3);
    for (int turn = 0; turn < TURNS; turn++) {
        double volume = 1;
        for (int i = 0; i < 3; i++)
            volume *= fmax(extent_A[i], edge_A);
        edge_A = fmax(cbrt(volume * per_bin / fmax((double)b->n, 1)), least_A);
    }
    for (int i = 0; i < 3; i++)
        b->bins[i] = (int64_t)fmin(fmax(floor(extent_A[i] / edge_A), 1), MOST_BINS);
    b->radius_A = 0;
    for (int corner = 0; corner < 4; corner++) {
        double diagonal_A[3] = {0};
        for (int i = 0; i < 3; i++)
            for (int axis = 0; axis < 3; axis++)
                diagonal_A[axis] += (i > 0 && (corner >> (i - 1) & 1) != 0 ? -0.5 : 0.5) * b->width[i] /
                                    (double)b->bins[i] * b->cell.vector_A[i][axis];
        b->radius_A = fmax(b->radius_A, cell_length(diagonal_A));
    }
}

static WIDE_INLINE size_t bin_of(const neighbours *b, const double component[3])
{
    int64_t at[3];
    for (int i = 0; i < 3; i++) {
        const double share = b->width[i] > 0 ? (component[i] - b->low[i]) / b->width[i] * (double)b->bins[i] : 0;
        at[i] = (int64_t)fmin(fmax(share, 0), (double)(b->bins[i] - 1));
    }
    return (size_t)((at[2] * b->bins[1] + at[1]) * b->bins[0] + at[0]);
}

void neighbours_extent(const cell *c, size_t n, const double *position_A, double low[3], double width[3])
{
    double high[3];
    for (int i = 0; i < 3; i++) {
        low[i] = c->periodic[i] ? 0 : INFINITY;
        high[i] = c->periodic[i] ? 1 : -INFINITY;
    }
    for (size_t j = 0; j < n && c->dimensions < 3; j++) {
        double component[3];
        cell_components(c, position_A + 3 * j, component);
        for (int i = 0; i < 3; i++)
            if (!c->periodic[i]) {
                low[i] = fmin(low[i], component[i]);
                high[i] = fmax(high[i], component[i]);
            }
    }
    for (int i = 0; i < 3; i++)
        width[i] = n > 0 ? high[i] - low[i] : 0;
}

/* Charges are counted and sorted in parts, a thread each; those of a bin stay in the order that is
 * given. */
typedef struct sorting {
    neighbours *b;
    const double *position_A, *charge_e;
    size_t *bin, *next, parts, bins; /* [n]; [parts][bins]: how many, and then where the next one goes */
} sorting;

/* The first time they are counted. */
static WIDE_INLINE void sort_part(const sorting *s, size_t part, bool again)
{
    const neighbours *b = s->b;
    size_t *next = s->next + part * s->bins;
    double place_A[3], component[3];
    for (size_t j = parallel_first(b->n, s->parts, part); j < parallel_first(b->n, s->parts, part + 1); j++) {
        wrap(&b->cell, s->position_A + 3 * j, place_A, component);
        if (!again) {
            s->bin[j] = bin_of(b, component);
            next[s->bin[j]]++;
            continue;
        }
        const size_t at = next[s->bin[j]]++;
        b->charge_e[at] = s->charge_e[j];
        for (int axis = 0; axis < 3; axis++)
            b->place_A[axis][at] = place_A[axis];
    }
}

WIDE_VERSIONS(sort_part, (const sorting *s, size_t part, bool again), (s, part, again))

static void count_parts(void *context, size_t first, size_t last)
{
    for (size_t part = first; part < last; part++)
        sort_part_wide(context, part, false);
}

static void sort_parts(void *context, size_t first, size_t last)
{
    for (size_t part = first; part < last; part++)
        sort_part_wide(context, part, true);
}

static void sort_charges(sorting *s)
{
    size_t at = 0;
    parallel_ranges(s->parts, count_parts, s);
    for (size_t i = 0; i < s->bins; i++) {
        s->b->first[i] = at;
        for (size_t part = 0; part < s->parts; part++) {
            const size_t count = s->next[part * s->bins + i];
            s->next[part * s->bins + i] = at;
            at += count;
        }
    }
    s->b->first[s->bins] = at;
    parallel_ranges(s->parts, sort_parts, s);
}

ley_status neighbours_make(const cell *c, size_t n, const double *position_A, const double *charge_e, double least_A,
                           neighbours *made, ley_error *error)
{
    neighbours b = {.cell = *c, .n = n, .capacity = n + PADDING};
    neighbours_extent(c, n, position_A, b.low, b.width);
    find_bins(&b, least_A);
    sorting s = {.b = &b,
                 .position_A = position_A,
                 .charge_e = charge_e,
                 .bins = (size_t)(b.bins[0] * b.bins[1] * b.bins[2]),
                 .parts = n / LEAST_PART + 1};
    s.parts = s.parts < (size_t)parallel_cores() ? s.parts : (size_t)parallel_cores();
    s.bin = malloc((n + 1) * sizeof *s.bin);
    s.next = calloc(s.parts * s.bins, sizeof *s.next);
    double *room = calloc(4 * b.capacity, sizeof *room);
    b.first = malloc((s.bins + 1) * sizeof *b.first);
    for (size_t axis = 0; axis < 3 && room != NULL; axis++)
        b.place_A[axis] = room + axis * b.capacity;
    b.charge_e = room != NULL ? room + 3 * b.capacity : NULL;
    ley_status status = LEY_OK;
    if (s.bin == NULL || s.next == NULL || room == NULL || b.first == NULL) {
        status = ley_fail_memory(error, (n + PADDING) * 6 * sizeof *room, "the verification");
        free(room);
        free(b.first);
    } else {
        sort_charges(&s);
        *made = b;
    }
    free(s.bin);
    free(s.next);
    return status;
}

void neighbours_clear(neighbours *n)
{
    free(n->place_A[0]);
    free(n->first);
    *n = (neighbours){.n = 0};
}

/* Bins of a row along the first vector, as numbers that go on into images: those whose middles are
 * within reach, r_A of `middle_A`, that of bin 0. */
static bool row_range(const neighbours *b, const double middle_A[3], const double point_A[3], double reach_A,
                      int64_t *low, int64_t *high)
{
    double step_A[3], away_A[3];
    for (int axis = 0; axis < 3; axis++) {
        step_A[axis] = b->cell.vector_A[0][axis] * b->width[0] / (double)b->bins[0];
        away_A[axis] = middle_A[axis] - point_A[axis];
    }
    const double a = cell_dot(step_A, step_A), half = cell_dot(step_A, away_A),
                 beyond = cell_dot(away_A, away_A) - reach_A * reach_A;
    if (!(a > 0)) { /* all in one plane across it */
        *low = *high = 0;
        return beyond <= 0;
    }
    const double root2 = half * half - a * beyond;
    if (root2 < 0)
        return false;
    double first = ceil((-half - sqrt(root2)) / a), last = floor((-half + sqrt(root2)) / a);
    if (!b->cell.periodic[0]) {
        first = fmax(first, 0);
        last = fmin(last, (double)(b->bins[0] - 1));
    }
    *low = (int64_t)first;
    *high = (int64_t)last;
    return first <= last;
}

static int64_t turns_of(int64_t at, int64_t bins)
{
    return at >= 0 ? at / bins : -((bins - 1 - at) / bins);
}

typedef struct walk {
    const neighbours *bins;
    const double *point_A;
    double reach_A; /* of bins' middles */
    neighbours_visit *visit;
    void *context;
} walk;

/* The stretches of a row, which begins with bin `start`; shift_A: of the image that it is in. */
static void walk_row(const walk *w, size_t start, const double middle_A[3], const double shift_A[3])
{
    const neighbours *b = w->bins;
    int64_t low, high;
    if (!row_range(b, middle_A, w->point_A, w->reach_A, &low, &high))
        return;
    for (int64_t at = low; at <= high;) {
        const int64_t turns = turns_of(at, b->bins[0]), end = (turns + 1) * b->bins[0] - 1,
                      last = high < end ? high : end;
        const size_t first = b->first[start + (size_t)(at - turns * b->bins[0])],
                     behind = b->first[start + (size_t)(last - turns * b->bins[0]) + 1];
        double from_A[3];
        for (int axis = 0; axis < 3; axis++)
            from_A[axis] = w->point_A[axis] - shift_A[axis] - (double)turns * b->cell.vector_A[0][axis];
        if (first < behind)
            w->visit(w->context, first, behind, from_A);
        at = last + 1;
    }
}

void neighbours_near(const neighbours *b, const double point_A[3], double reach_A, neighbours_visit *visit,
                     void *context)
{
    const walk w = {b, point_A, (reach_A + b->radius_A) * (1 + 1e-9) + 1e-9, visit, context};
    double component[3];
    int64_t low[3], high[3], at[3];
    cell_components(&b->cell, point_A, component);
    for (int i = 1; i < 3; i++) {
        const double bins = (double)b->bins[i], width = b->width[i] > 0 ? b->width[i] : 1,
                     away = w.reach_A * cell_length(b->cell.dual_per_A[i]);
        double first = floor((component[i] - away - b->low[i]) / width * bins),
               last = floor((component[i] + away - b->low[i]) / width * bins);
        if (!b->cell.periodic[i]) {
            first = fmax(first, 0);
            last = fmin(last, bins - 1);
        }
        if (first > last)
            return;
        low[i] = (int64_t)first;
        high[i] = (int64_t)last;
    }
    for (at[2] = low[2]; at[2] <= high[2]; at[2]++)
        for (at[1] = low[1]; at[1] <= high[1]; at[1]++) {
            double middle_A[3] = {0}, shift_A[3] = {0};
            int64_t row = 0;
            for (int i = 2; i >= 0; i--) {
                const int64_t turns = i > 0 ? turns_of(at[i], b->bins[i]) : 0,
                              bin = i > 0 ? at[i] - turns * b->bins[i] : 0;
                const double share = b->low[i] + ((double)(i > 0 ? at[i] : 0) + 0.5) * b->width[i] / (double)b->bins[i];
                row = row * b->bins[i] + bin;
                for (int axis = 0; axis < 3; axis++) {
                    middle_A[axis] += share * b->cell.vector_A[i][axis];
                    shift_A[axis] += (double)turns * b->cell.vector_A[i][axis];
                }
            }
            walk_row(&w, (size_t)row, middle_A, shift_A);
        }
}
