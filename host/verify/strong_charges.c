#include "verify/strong_charges.h"

#include "error.h"
#include "source/atoms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How far each shell reaches, in steps of the grid. */
static const int64_t shell_steps[STRONG_SHELLS] = {1, 3, 8};

/* ---- Points ---------------------------------------------------------------------------------- */

typedef struct finder {
    const ley_grid *grid;
    cell steps; /* whose components are a place's indices */
    strong_point *points;
    size_t count, room;
    bool lacks_memory;
} finder;

static void add_point(finder *f, int64_t number, int shell)
{
    if (f->count == f->room) {
        const size_t room = f->room > 0 ? 2 * f->room : 4096;
        strong_point *more = realloc(f->points, room * sizeof *more);
        f->lacks_memory = more == NULL;
        if (more == NULL)
            return;
        f->points = more;
        f->room = room;
    }
    f->points[f->count++] = (strong_point){number, shell};
}

static int shell_of(const int64_t index[3], const double place[3])
{
    double steps = 0;
    for (int axis = 0; axis < 3; axis++)
        steps = fmax(steps, fabs((double)index[axis] - place[axis]));
    int shell = 0;
    while (shell < STRONG_SHELLS && steps > (double)shell_steps[shell])
        shell++;
    return shell;
}

static void add_around(finder *f, const double place_A[3])
{
    const int64_t *n = f->grid->n, reach = shell_steps[STRONG_SHELLS - 1];
    double way_A[3], place[3];
    int64_t low[3], high[3], index[3];
    for (int axis = 0; axis < 3; axis++)
        way_A[axis] = place_A[axis] - f->grid->origin_A[axis];
    cell_components(&f->steps, way_A, place);
    for (int axis = 0; axis < 3; axis++) {
        if (!(place[axis] > (double)-reach && place[axis] < (double)(n[axis] + reach)))
            return;
        const int64_t near = (int64_t)floor(place[axis]);
        low[axis] = near - reach > 0 ? near - reach : 0;
        high[axis] = near + reach + 1 < n[axis] ? near + reach + 1 : n[axis] - 1;
    }
    for (index[2] = low[2]; index[2] <= high[2]; index[2]++)
        for (index[1] = low[1]; index[1] <= high[1]; index[1]++)
            for (index[0] = low[0]; index[0] <= high[0] && !f->lacks_memory; index[0]++) {
                const int shell = shell_of(index, place);
                if (shell < STRONG_SHELLS)
                    add_point(f, (index[2] * n[1] + index[1]) * n[0] + index[0], shell);
            }
}

/* The atom where it is nearest to the grid's middle, and a period to either side: a map of more
 * periods has points next to other images, which stay among the others. */
static void add_images(finder *f, const double position_A[3], const cell *periods)
{
    const int64_t *n = f->grid->n, middle[3] = {n[0] / 2, n[1] / 2, n[2] / 2};
    double middle_A[3], way_A[3], component[3];
    ley_grid_point_A(f->grid, middle, middle_A);
    for (int axis = 0; axis < 3; axis++)
        way_A[axis] = position_A[axis] - middle_A[axis];
    cell_components(periods, way_A, component);
    int64_t most[3];
    for (int m = 0; m < 3; m++) {
        most[m] = periods->periodic[m] ? 1 : 0;
        component[m] -= periods->periodic[m] ? round(component[m]) : 0;
    }
    for (int64_t c = -most[2]; c <= most[2]; c++)
        for (int64_t b = -most[1]; b <= most[1]; b++)
            for (int64_t a = -most[0]; a <= most[0]; a++) {
                const double along[3] = {component[0] + (double)a, component[1] + (double)b, component[2] + (double)c};
                double place_A[3];
                for (int axis = 0; axis < 3; axis++)
                    place_A[axis] = middle_A[axis] + along[0] * periods->vector_A[0][axis] +
                                    along[1] * periods->vector_A[1][axis] + along[2] * periods->vector_A[2][axis];
                add_around(f, place_A);
            }
}

static int compare_points(const void *a, const void *b)
{
    const strong_point *x = a, *y = b;
    return x->number != y->number ? (x->number > y->number) - (x->number < y->number) : x->shell - y->shell;
}

/* Each once, in the nearest shell that it is in. */
static void put_in_order(finder *f)
{
    size_t kept = 0;
    if (f->count > 0)
        qsort(f->points, f->count, sizeof *f->points, compare_points);
    for (size_t i = 0; i < f->count; i++)
        if (i == 0 || f->points[i].number != f->points[kept - 1].number)
            f->points[kept++] = f->points[i];
    f->count = kept;
}

ley_status strong_charges_find(const ley_atoms *atoms, const ley_grid *grid, const cell *periods, strong_point **points,
                               size_t *count, ley_error *error)
{
    static const bool all[3] = {true, true, true};
    finder f = {.grid = grid};
    large_charges large;
    ley_atoms_large_charges(atoms, &large);
    const ley_status status = large.count > 0 ? cell_make(all, grid->step_A, &f.steps, error) : LEY_OK;
    for (size_t i = 0; status == LEY_OK && i < large.count; i++)
        if (periods != NULL && periods->dimensions > 0)
            add_images(&f, large.list[i].place_A, periods);
        else
            add_around(&f, large.list[i].place_A);
    if (status != LEY_OK || f.lacks_memory) {
        free(f.points);
        return status != LEY_OK ? status : ley_fail_memory(error, f.room * sizeof *f.points, "the verification");
    }
    put_in_order(&f);
    *points = f.points;
    *count = f.count;
    return LEY_OK;
}
