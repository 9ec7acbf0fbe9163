#include "layout/grid_frame.h"

#include "parallel.h"
#include "source/atoms.h"

#include <float.h>
#include <math.h>
#include <string.h>

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The part of a vector that is perpendicular to these axes, as a unit vector. Twice, for what is
 * left of nearly parallel steps has few digits the first time. */
static void perpendicular(const double v[3], const double *const axes[], int count, double unit[3])
{
    memcpy(unit, v, 3 * sizeof *unit);
    for (int time = 0; time < 2; time++) {
        for (int m = 0; m < count; m++) {
            const double along = dot(unit, axes[m]);
            for (int i = 0; i < 3; i++)
                unit[i] -= along * axes[m][i];
        }
        const double length = sqrt(dot(unit, unit));
        for (int i = 0; i < 3; i++)
            unit[i] /= length;
    }
}

void grid_frame_make(const ley_grid *grid, grid_frame_order order, grid_frame *f)
{
    const double rounding = 4 * DBL_EPSILON;
    const double *axes[3];
    *f = (grid_frame){.is_turned = !ley_grid_is_orthogonal(grid), .grid = *grid};
    if (!f->is_turned)
        return;
    memcpy(f->origin_A, grid->origin_A, sizeof f->origin_A);
    memset(f->grid.origin_A, 0, sizeof f->grid.origin_A);
    memset(f->grid.step_A, 0, sizeof f->grid.step_A);
    for (int i = 0; i < 3; i++) {
        const int m = order == GRID_FRAME_ROWS_ALONG_X ? i : 2 - i;
        perpendicular(grid->step_A[m], axes, i, f->axis[m]);
        axes[i] = f->axis[m];
        for (int k = 0; k <= i; k++) {
            const int axis = order == GRID_FRAME_ROWS_ALONG_X ? k : 2 - k;
            const double along_A = dot(grid->step_A[m], f->axis[axis]);
            const bool is_zero = axis != m && fabs(along_A) <= rounding * sqrt(dot(grid->step_A[m], grid->step_A[m]));
            f->grid.step_A[m][axis] = is_zero ? 0 : along_A;
        }
    }
}

void grid_frame_vector(const grid_frame *f, const double world[3], double own[3])
{
    double turned[3] = {world[0], world[1], world[2]};
    for (int i = 0; i < 3 && f->is_turned; i++)
        turned[i] = dot(f->axis[i], world);
    memcpy(own, turned, sizeof turned);
}

typedef struct vectors {
    const grid_frame *frame;
    float *const *own;
} vectors;

static void turn_back(void *context, size_t first, size_t last)
{
    const vectors *v = context;
    const double(*axis)[3] = v->frame->axis;
    float *const x = v->own[0], *const y = v->own[1], *const z = v->own[2];
    for (size_t i = first; i < last; i++) {
        const double own[3] = {(double)x[i], (double)y[i], (double)z[i]};
        x[i] = (float)(own[0] * axis[0][0] + own[1] * axis[1][0] + own[2] * axis[2][0]);
        y[i] = (float)(own[0] * axis[0][1] + own[1] * axis[1][1] + own[2] * axis[2][1]);
        z[i] = (float)(own[0] * axis[0][2] + own[1] * axis[1][2] + own[2] * axis[2][2]);
    }
}

void grid_frame_turn_back(const grid_frame *f, size_t count, float *const vector[3])
{
    vectors v = {f, vector};
    if (f->is_turned)
        parallel_ranges(count, turn_back, &v);
}

typedef struct turning {
    const grid_frame *frame;
    const double *position_A;
    double *turned_A;
} turning;

static void turn(void *context, size_t first, size_t last)
{
    const turning *t = context;
    for (size_t i = first; i < last; i++) {
        double from_A[3];
        for (size_t axis = 0; axis < 3; axis++)
            from_A[axis] = t->position_A[3 * i + axis] - t->frame->origin_A[axis];
        grid_frame_vector(t->frame, from_A, t->turned_A + 3 * i);
    }
}

ley_status grid_frame_move(const grid_frame *f, const ley_atoms *atoms, ley_atoms *turned, ley_error *error)
{
    const size_t n = ley_atoms_count(atoms);
    turning t = {f, ley_atoms_positions_A(atoms), ley_atoms_numbers(turned)};
    parallel_ranges(n, turn, &t);
    memcpy(t.turned_A + 3 * n, ley_atoms_charges_e(atoms), n * sizeof *t.turned_A);
    memcpy(t.turned_A + 4 * n, ley_atoms_radii_A(atoms), n * sizeof *t.turned_A);
    return ley_atoms_complete(turned, error);
}

ley_status grid_frame_atoms(const grid_frame *f, const ley_atoms *atoms, ley_atoms **turned, ley_error *error)
{
    ley_atoms *made;
    ley_status status = ley_atoms_allocate(ley_atoms_count(atoms), &made, error);
    if (status != LEY_OK)
        return status;
    status = grid_frame_move(f, atoms, made, error);
    if (status == LEY_OK)
        *turned = made;
    else
        ley_atoms_destroy(made);
    return status;
}

void grid_frame_bounds_A(const ley_grid *grid, const int64_t n[3], double low_A[3], double high_A[3])
{
    for (int axis = 0; axis < 3; axis++) {
        low_A[axis] = high_A[axis] = 0;
        for (int m = 0; m < 3; m++) {
            const double reach_A = (double)(n[m] - 1) * grid->step_A[m][axis];
            low_A[axis] += fmin(reach_A, 0);
            high_A[axis] += fmax(reach_A, 0);
        }
    }
}
