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

/* Takes the multiple of the step from d that leaves least of it; whether d became shorter by more
 * than rounding, which would never end. */
static bool shorten(double d_A[3], const double step_A[3])
{
    const double times = cell_dot(d_A, step_A) / cell_dot(step_A, step_A);
    if (!(fabs(times) > 0.5 + 1e-9))
        return false;
    for (int axis = 0; axis < 3; axis++)
        d_A[axis] -= round(times) * step_A[axis];
    return true;
}

/* Sums and differences of the periodic vectors v, each once of the two signs that it has. */
static void combine(cell *c, int n, const double v[3][3])
{
    static const int times[13][3] = {{1, 0, 0}, {0, 1, 0},  {1, 1, 0}, {1, -1, 0}, {0, 0, 1},  {1, 0, 1},  {1, 0, -1},
                                     {0, 1, 1}, {0, 1, -1}, {1, 1, 1}, {1, 1, -1}, {1, -1, 1}, {1, -1, -1}};
    c->steps = n == 3 ? 13 : n == 2 ? 4 : 1;
    for (int k = 0; k < c->steps; k++)
        for (int axis = 0; axis < 3; axis++)
            for (int i = 0; i < n; i++)
                c->step_A[k][axis] += times[k][i] * v[i][axis];
}

/* Of reduced vectors, none of which a sum or difference of the others shortens, the steps hold all
 * faces of the cell of what is nearest to 0 (Conway and Sloane). In a rectangular cell rounding
 * does. */
static void find_steps(cell *c)
{
    double v[3][3];
    int n = 0;
    bool is_oblique = false, is_shorter = true;
    for (int i = 0; i < 3; i++)
        if (c->periodic[i])
            memcpy(v[n++], c->vector_A[i], sizeof v[0]);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++)
            is_oblique = is_oblique || fabs(cell_dot(v[i], v[k])) > 1e-12 * cell_length(v[i]) * cell_length(v[k]);
    while (is_oblique && is_shorter) {
        is_shorter = false;
        for (int i = 0; i < n; i++)
            for (int k = 1; k < n; k++)
                is_shorter = shorten(v[i], v[(i + k) % n]) || is_shorter;
        for (int sign = -1; n == 3 && sign <= 1; sign += 2)
            for (int i = 0; i < 3; i++) {
                double sum_A[3];
                for (int axis = 0; axis < 3; axis++)
                    sum_A[axis] = v[i][axis] + sign * v[(i + 1) % 3][axis];
                is_shorter = shorten(v[(i + 2) % 3], sum_A) || is_shorter;
            }
    }
    if (is_oblique)
        combine(c, n, (const double(*)[3])v);
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
    find_steps(&c);
    *made = c;
    return LEY_OK;
}

/* Whether another vector, or a sum or difference of two, shortens one, by more than what rounding
 * makes of vectors that are as long as they may be: those of a rhombic dodecahedron, say. */
static bool is_long(const double v[3][3])
{
    static const double most = 0.55;
    for (int i = 0; i < 3; i++) {
        const double *u = v[(i + 1) % 3], *w = v[(i + 2) % 3],
                     by[4][3] = {{u[0], u[1], u[2]},
                                 {w[0], w[1], w[2]},
                                 {u[0] + w[0], u[1] + w[1], u[2] + w[2]},
                                 {u[0] - w[0], u[1] - w[1], u[2] - w[2]}};
        for (int k = 0; k < 4; k++)
            if (fabs(cell_dot(v[i], by[k])) > most * cell_dot(by[k], by[k]))
                return true;
    }
    return false;
}

bool cell_shorten(double vector_A[3][3])
{
    static const int alone[3] = {0, 1, 4}; /* steps of one vector each */
    static const bool periodic[3] = {true, true, true};
    cell c;
    if (!is_long((const double(*)[3])vector_A) || cell_make(periodic, (const double(*)[3])vector_A, &c, NULL) != LEY_OK)
        return false;
    for (int i = 0; i < 3; i++)
        memcpy(vector_A[i], c.step_A[alone[i]], sizeof vector_A[i]);
    return true;
}

void cell_turn(cell *c, const double axis[3][3])
{
    memcpy(c->vector_A, axis, sizeof c->vector_A);
    memcpy(c->dual_per_A, axis, sizeof c->dual_per_A);
}

void cell_components(const cell *c, const double x_A[3], double component[3])
{
    for (int i = 0; i < 3; i++)
        component[i] = cell_dot(c->dual_per_A[i], x_A);
}

void cell_bring_near(const cell *c, double d_A[3])
{
    double component[3];
    bool is_shorter = c->steps > 0;
    if (c->dimensions == 0)
        return;
    cell_components(c, d_A, component);
    for (int i = 0; i < 3; i++)
        for (int axis = 0; axis < 3 && c->periodic[i]; axis++)
            d_A[axis] -= round(component[i]) * c->vector_A[i][axis];
    while (is_shorter) {
        is_shorter = false;
        for (int k = 0; k < c->steps; k++)
            is_shorter = shorten(d_A, c->step_A[k]) || is_shorter;
    }
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

double cell_nearest(const cell *c, const double x_A[3], double image_A[3])
{
    memcpy(image_A, x_A, 3 * sizeof *image_A);
    cell_bring_near(c, image_A);
    return cell_length(image_A);
}
