#include "numerics/cell.h"

#include "error.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* What the vectors span of the product of their lengths, at least. */
static const double least_share = 1e-6;

double cell_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double product[3])
{
    for (int i = 0; i < 3; i++)
        product[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

double cell_length(const double v[3])
{
    return sqrt(cell_dot(v, v));
}

static void normalise(double v[3])
{
    const double by = 1 / cell_length(v);
    for (int i = 0; i < 3; i++)
        v[i] *= by;
}

/* The two normals of the one periodic vector p: the next one is its axis's next one as far as
 * possible. */
static void complete_line(double v[3][3], int p)
{
    const double along = cell_dot(v[p], v[p]);
    double *first = v[(p + 1) % 3], *second = v[(p + 2) % 3];
    for (int axis = 1; axis <= 2; axis++) {
        const double *parallel = v[p];
        const int e = (p + axis) % 3;
        const double share = parallel[e] / along;
        for (int i = 0; i < 3; i++)
            first[i] = (i == e) - share * parallel[i];
        if (cell_length(first) > 0.5)
            break;
    }
    normalise(first);
    cross(v[p], first, second);
    normalise(second);
}

static void complete(cell *c)
{
    int p = 0; /* the vector that is alone, or missing */
    while (p < 2 && c->periodic[p] != (c->dimensions == 1))
        p++;
    double(*v)[3] = c->vector_A;
    if (c->dimensions == 0)
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                v[i][k] = i == k;
    if (c->dimensions == 1)
        complete_line(v, p);
    if (c->dimensions == 2) {
        cross(v[(p + 1) % 3], v[(p + 2) % 3], v[p]);
        normalise(v[p]);
    }
}

ley_status cell_make(const bool periodic[3], const double vector_A[3][3], cell *made, ley_error *error)
{
    cell c = {.measure = 1};
    double product = 1;
    for (int i = 0; i < 3; i++) {
        c.periodic[i] = periodic[i];
        c.dimensions += periodic[i];
        if (!periodic[i])
            continue;
        memcpy(c.vector_A[i], vector_A[i], sizeof c.vector_A[i]);
        product *= cell_length(vector_A[i]);
        if (!isfinite(product) || !(cell_length(vector_A[i]) > 0))
            return ley_fail(error, LEY_ERROR_INPUT, "cell: vector %c has no length", 'a' + i);
    }
    complete(&c);
    for (int i = 0; i < 3; i++) {
        cross(c.vector_A[(i + 1) % 3], c.vector_A[(i + 2) % 3], c.dual_per_A[i]);
        const double volume = cell_dot(c.dual_per_A[i], c.vector_A[i]);
        if (!(fabs(volume) > least_share * product))
            return ley_fail(error, LEY_ERROR_INPUT, "cell: its vectors lie in a plane, or two of them on a line");
        for (int k = 0; k < 3; k++)
            c.dual_per_A[i][k] /= volume;
        c.measure = fabs(volume);
    }
    *made = c;
    return LEY_OK;
}

void cell_components(const cell *c, const double x_A[3], double component[3])
{
    for (int i = 0; i < 3; i++)
        component[i] = cell_dot(c->dual_per_A[i], x_A);
}

void cell_bring_near(const cell *c, double d_A[3])
{
    double component[3];
    if (c->dimensions == 0)
        return;
    cell_components(c, d_A, component);
    for (int i = 0; i < 3; i++)
        for (int axis = 0; axis < 3 && c->periodic[i]; axis++)
            d_A[axis] -= round(component[i]) * c->vector_A[i][axis];
}

void cell_reach(const cell *c, const double x_A[3], double reach_A, int64_t low[3], int64_t high[3])
{
    double at[3];
    cell_components(c, x_A, at);
    for (int i = 0; i < 3; i++) {
        const double width = cell_length(c->dual_per_A[i]) * reach_A;
        low[i] = c->periodic[i] ? (int64_t)ceil(at[i] - width) : 0;
        high[i] = c->periodic[i] ? (int64_t)floor(at[i] + width) : 0;
    }
}

void cell_images(const cell *c, const double x_A[3], double reach_A, cell_each *each, void *context)
{
    int64_t low[3], high[3];
    cell_reach(c, x_A, reach_A, low, high);
    for (int64_t i = low[0]; i <= high[0]; i++)
        for (int64_t k = low[1]; k <= high[1]; k++)
            for (int64_t l = low[2]; l <= high[2]; l++) {
                double image_A[3];
                for (int axis = 0; axis < 3; axis++)
                    image_A[axis] = x_A[axis] - ((double)i * c->vector_A[0][axis] + (double)k * c->vector_A[1][axis] +
                                                 (double)l * c->vector_A[2][axis]);
                if (cell_dot(image_A, image_A) < reach_A * reach_A)
                    each(context, image_A);
            }
}

static void take_shorter(void *context, const double image_A[3])
{
    double *nearest_A = context;
    if (cell_dot(image_A, image_A) < cell_dot(nearest_A, nearest_A))
        memcpy(nearest_A, image_A, 3 * sizeof *nearest_A);
}

/* What components round to is near; whatever is nearer is among the images within its reach. */
double cell_nearest(const cell *c, const double x_A[3], double image_A[3])
{
    double at[3], near_A[3];
    cell_components(c, x_A, at);
    memcpy(near_A, x_A, sizeof near_A);
    for (int i = 0; i < 3; i++)
        for (int axis = 0; c->periodic[i] && axis < 3; axis++)
            near_A[axis] -= rint(at[i]) * c->vector_A[i][axis];
    memcpy(image_A, near_A, sizeof near_A);
    if (c->dimensions > 0)
        cell_images(c, near_A, cell_length(near_A), take_shorter, image_A);
    return cell_length(image_A);
}
