#include "methods/cutoff/excluded.h"

#include "law/pairs.h"
#include "law/reference.h"
#include "numerics/cell.h"
#include "parallel.h"

#include <math.h>
#include <string.h>

typedef struct pair_sum {
    reference_terms terms;
    const cutoff_problem *problem;
    cell cell;
    double value, field[3]; /* without the constant */
    size_t atom;            /* of the images at hand, and the nearest of these so far, which does not count: */
    double nearest_A[3];
} pair_sum;

static void add_pair(pair_sum *s, size_t atom, const double way_A[3])
{
    const double r_A = cell_length(way_A), r_min_A = s->terms.r_min_A;
    if (r_A >= s->problem->cutoff_A)
        return;
    s->value += reference_pair_term(&s->terms, atom, fmax(r_A, r_min_A)).value;
    if (s->terms.slope == NULL && s->terms.formula != NULL) /* nobody asks for the field */
        return;
    const double slope = r_A >= r_min_A && r_A > 0 ? reference_slope_term(&s->terms, atom, r_A).value / r_A : 0;
    for (int axis = 0; axis < 3; axis++)
        s->field[axis] += slope * way_A[axis];
}

/* ---- Atoms that count ------------------------------------------------------------------------ */

/* A slot: from its bin's lowest corner. */
static void add_slot(pair_sum *s, int32_t atom, const float slot[4], const double from_corner_A[3])
{
    const double way_A[3] = {from_corner_A[0] - (double)slot[0], from_corner_A[1] - (double)slot[1],
                             from_corner_A[2] - (double)slot[2]};
    if (!reference_excludes(&s->terms, (size_t)atom))
        add_pair(s, (size_t)atom, way_A);
}

/* The first of the overflow that is in this bin or behind it. */
static int64_t first_overflow(const binned_atoms *b, int64_t bin)
{
    int64_t low = 0, high = b->overflow;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (b->overflow_bin[middle] < bin)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add_bin(pair_sum *s, int64_t bin, const double from_corner_A[3])
{
    const binned_atoms *b = s->problem->binned;
    const int64_t first = bin * b->depth;
    for (int64_t slot = first; slot < first + b->used[bin]; slot++)
        add_slot(s, b->index[slot], b->slot[slot], from_corner_A);
    for (int64_t k = first_overflow(b, bin); k < b->overflow && b->overflow_bin[k] == bin; k++)
        add_slot(s, b->overflow_index[k], b->overflow_slot[k], from_corner_A);
}

/* Bins in reach of a place along each axis. */
static void add_bins(pair_sum *s, const double place_A[3])
{
    const binning_plan *plan = &s->problem->plan;
    int64_t low[3], high[3], at[3];
    double from_A[3];
    for (int axis = 0; axis < 3; axis++) {
        const double side_A = plan->side_A[axis], hair_A = 1e-6 * side_A;
        from_A[axis] = place_A[axis] - plan->grid.origin_A[axis] + (double)plan->origin_bin[axis] * side_A;
        low[axis] = (int64_t)fmax(floor((from_A[axis] - s->problem->cutoff_A - hair_A) / side_A), 0);
        high[axis] =
            (int64_t)fmin(floor((from_A[axis] + s->problem->cutoff_A + hair_A) / side_A), (double)(plan->n[axis] - 1));
    }
    for (at[2] = low[2]; at[2] <= high[2]; at[2]++)
        for (at[1] = low[1]; at[1] <= high[1]; at[1]++)
            for (at[0] = low[0]; at[0] <= high[0]; at[0]++) {
                double from_corner_A[3];
                for (int axis = 0; axis < 3; axis++)
                    from_corner_A[axis] = from_A[axis] - (double)at[axis] * plan->side_A[axis];
                add_bin(s, (at[2] * plan->n[1] + at[1]) * plan->n[0] + at[0], from_corner_A);
            }
}

/* ---- Atoms that do not ----------------------------------------------------------------------- */

static void add_image(void *context, const double image_A[3])
{
    pair_sum *s = context;
    if (cell_length(image_A) >= cell_length(s->nearest_A)) {
        add_pair(s, s->atom, image_A);
        return;
    }
    const double farther_A[3] = {s->nearest_A[0], s->nearest_A[1], s->nearest_A[2]};
    memcpy(s->nearest_A, image_A, sizeof s->nearest_A);
    add_pair(s, s->atom, farther_A); /* of none it is beyond the cutoff */
}

/* But their other images. */
static void add_images(pair_sum *s, cutoff_of_charge *of_charge, const void *task, const double point_A[3])
{
    for (size_t k = 0; k < s->terms.excluded_count; k++) {
        const double *atom_A = ley_atoms_positions_A(s->terms.atoms) + 3 * s->terms.excluded[k];
        const double x_A[3] = {point_A[0] - atom_A[0], point_A[1] - atom_A[1], point_A[2] - atom_A[2]};
        double nearest_A[3], value = 0, field[3] = {0};
        s->atom = (size_t)s->terms.excluded[k];
        s->nearest_A[0] = INFINITY;
        cell_images(&s->cell, x_A, s->problem->cutoff_A, add_image, s);
        if (of_charge == NULL)
            continue;
        cell_nearest(&s->cell, x_A, nearest_A);
        of_charge(task, nearest_A, &value, field);
        s->value -= ley_atoms_charges_e(s->terms.atoms)[s->atom] * value;
        for (int axis = 0; axis < 3; axis++)
            s->field[axis] -= ley_atoms_charges_e(s->terms.atoms)[s->atom] * field[axis];
    }
}

/* ---- All of it ------------------------------------------------------------------------------- */

typedef struct piece_sum {
    const point_list *list;
    ley_points *points;
    cutoff_of_charge *of_charge;
    const void *task;
    int64_t first;
    pair_sum begun;
} piece_sum;

static void set_points(void *context, size_t first, size_t last)
{
    const piece_sum *p = context;
    ley_points *points = p->points;
    for (int64_t i = p->first + (int64_t)first; i < p->first + (int64_t)last; i++) {
        const int64_t number = p->list->order[i];
        pair_sum s = p->begun;
        s.terms.excluded = points_excluded(points, number, &s.terms.excluded_count);
        if (s.terms.excluded_count == 0)
            continue;
        if (i < p->list->inside)
            add_bins(&s, p->list->place_A[i]);
        add_images(&s, p->of_charge, p->task, ley_points_positions_A(points) + 3 * number);
        ley_points_values(points)[number] = s.terms.constant * s.value;
        for (int axis = 0; points->field != NULL && axis < 3; axis++)
            points->field[3 * number + axis] = s.terms.constant * s.field[axis];
    }
}

void cutoff_points_exclude(const cutoff_problem *problem, const point_list *list, ley_points *points,
                           cutoff_of_charge *of_charge, const void *task, int64_t first, int64_t count)
{
    const ley_short_range *range = problem->range;
    piece_sum p = {.list = list,
                   .points = points,
                   .of_charge = of_charge,
                   .task = task,
                   .first = first,
                   .begun = {.terms = cutoff_problem_sum(problem), .problem = problem}};
    if (points->excluded_first == NULL || cell_make(range->periodic, range->cell_A, &p.begun.cell, NULL) != LEY_OK)
        return; /* of a degenerate cell there are no bins */
    parallel_ranges((size_t)count, set_points, &p);
}
