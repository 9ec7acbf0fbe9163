#include "methods/cutoff/point_list.h"

#include "error.h"
#include "layout/space_order.h"
#include "memory.h"
#include "numerics/cell.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Points of the grid in a cutoff, and along an axis at most. */
static const double points_per_cutoff = 8, most_points = 1e6;

/* The point's image in the cell. */
static void wrap(const cell *c, const double point_A[3], double place_A[3])
{
    double at[3];
    memcpy(place_A, point_A, 3 * sizeof *place_A);
    if (c->dimensions == 0)
        return;
    cell_components(c, point_A, at);
    for (int i = 0; i < 3; i++)
        for (int axis = 0; c->periodic[i] && axis < 3; axis++)
            place_A[axis] -= floor(at[i]) * c->vector_A[i][axis];
}

typedef struct wrapping {
    const cell *cell;
    const double *point_A;
    double (*place_A)[3];
} wrapping;

static void wrap_all(void *context, size_t first, size_t last)
{
    const wrapping *w = context;
    for (size_t i = first; i < last; i++)
        wrap(w->cell, w->point_A + 3 * i, w->place_A[i]);
}

/* Where atoms and their images are in reach: anywhere along an axis along which they are
 * repeated. */
static void find_reach(const ley_atoms *atoms, const cell *c, double cutoff_A, double low_A[3], double high_A[3])
{
    ley_atoms_bounds_A(atoms, low_A, high_A);
    for (int axis = 0; axis < 3; axis++) {
        bool repeated = false;
        for (int i = 0; i < 3; i++)
            repeated = repeated || (c->periodic[i] && c->vector_A[i][axis] != 0);
        low_A[axis] = repeated ? -INFINITY : low_A[axis] - 1.001 * cutoff_A;
        high_A[axis] = repeated ? INFINITY : high_A[axis] + 1.001 * cutoff_A;
    }
}

static bool is_within(const double place_A[3], const double low_A[3], const double high_A[3])
{
    bool within = true;
    for (int axis = 0; axis < 3; axis++)
        within = within && place_A[axis] >= low_A[axis] && place_A[axis] <= high_A[axis];
    return within;
}

/* Those inside first; the caller's numbers. `place_A` has all of them wrapped, then those inside
 * alone. */
static void part(point_list *list, const double low_A[3], const double high_A[3])
{
    int64_t outside = list->n;
    for (int64_t i = list->n - 1; i >= 0; i--)
        if (!is_within(list->place_A[i], low_A, high_A))
            list->order[--outside] = (int32_t)i;
    list->inside = 0;
    for (int64_t i = 0; i < list->n; i++)
        if (is_within(list->place_A[i], low_A, high_A)) {
            memmove(list->place_A[list->inside], list->place_A[i], sizeof list->place_A[i]);
            list->order[list->inside++] = (int32_t)i;
        }
}

/* Places and numbers as they were, and which of them comes where. */
typedef struct sorting {
    point_list *list;
    double (*place_A)[3];
    int32_t *number, *by_space;
} sorting;

static void put_in_order(void *context, size_t first, size_t last)
{
    const sorting *s = context;
    for (size_t i = first; i < last; i++) {
        memcpy(s->list->place_A[i], s->place_A[s->by_space[i]], sizeof *s->place_A);
        s->list->order[i] = s->number[s->by_space[i]];
    }
}

/* Those inside into their order in space; there is room for them. */
static ley_status sort_into(sorting *s, ley_error *error)
{
    const size_t n = (size_t)s->list->inside;
    memcpy(s->place_A, s->list->place_A, n * sizeof *s->place_A);
    memcpy(s->number, s->list->order, n * sizeof *s->number);
    const ley_status status = n > 0 ? space_order(s->place_A[0], n, s->by_space, error) : LEY_OK;
    if (status == LEY_OK)
        parallel_ranges(n, put_in_order, s);
    return status;
}

static ley_status sort(point_list *list, ley_error *error)
{
    const size_t n = (size_t)list->inside + 1;
    sorting s = {.list = list,
                 .place_A = malloc(n * sizeof *s.place_A),
                 .number = malloc(n * sizeof *s.number),
                 .by_space = malloc(n * sizeof *s.by_space)};
    const ley_status status = s.place_A == NULL || s.number == NULL || s.by_space == NULL
                                  ? ley_fail_memory(error, n * sizeof *s.place_A, "the points' order")
                                  : sort_into(&s, error);
    free(s.place_A);
    free(s.number);
    free(s.by_space);
    return status;
}

/* Around the points inside; where there are none, at an atom. */
static void cover(const point_list *list, const ley_atoms *atoms, double cutoff_A, ley_grid *grid)
{
    double low_A[3], high_A[3], spacing_A[3];
    int64_t n[3];
    memcpy(low_A, list->inside > 0 ? list->place_A[0] : ley_atoms_positions_A(atoms), sizeof low_A);
    memcpy(high_A, low_A, sizeof high_A);
    for (int64_t i = 0; i < list->inside; i++)
        for (int axis = 0; axis < 3; axis++) {
            low_A[axis] = fmin(low_A[axis], list->place_A[i][axis]);
            high_A[axis] = fmax(high_A[axis], list->place_A[i][axis]);
        }
    for (int axis = 0; axis < 3; axis++) {
        const double extent_A = high_A[axis] - low_A[axis];
        spacing_A[axis] = fmax(cutoff_A / points_per_cutoff, extent_A / most_points);
        n[axis] = (int64_t)ceil(extent_A / spacing_A[axis]) + 1;
    }
    *grid = ley_grid_orthogonal(low_A, spacing_A, n);
}

ley_status point_list_create(int64_t n, const double *point_A, const ley_atoms *atoms, const ley_short_range *range,
                             point_list *list, ley_grid *grid, ley_error *error)
{
    cell c;
    double low_A[3], high_A[3];
    ley_status status = cell_make(range->periodic, range->cell_A, &c, error);
    if (status == LEY_OK)
        status =
            memory_check_one("the points' places", (double)n * (2 * sizeof(double[3]) + 12), "fewer points", error);
    if (status != LEY_OK)
        return status;
    point_list made = {
        .n = n, .place_A = malloc((size_t)n * sizeof(double[3])), .order = malloc((size_t)n * sizeof(int32_t))};
    if (made.place_A == NULL || made.order == NULL) {
        point_list_destroy(&made);
        return ley_fail_memory(error, (size_t)n * sizeof(double[3]), "the points' places");
    }
    wrapping w = {.cell = &c, .point_A = point_A, .place_A = made.place_A};
    parallel_ranges((size_t)n, wrap_all, &w);
    find_reach(atoms, &c, range->cutoff_A, low_A, high_A);
    part(&made, low_A, high_A);
    status = sort(&made, error);
    if (status != LEY_OK) {
        point_list_destroy(&made);
        return status;
    }
    cover(&made, atoms, range->cutoff_A, grid);
    *list = made;
    return LEY_OK;
}

void point_list_destroy(point_list *list)
{
    free(list->place_A);
    free(list->order);
    *list = (point_list){.n = 0};
}

/* Of atoms as dense as the median one sees them. */
double point_list_pairs(const point_list *list, const cutoff_problem *problem)
{
    return (double)list->inside * problem->plan.density_per_A3 * 4 * M_PI / 3 * pow(problem->cutoff_A, 3);
}
