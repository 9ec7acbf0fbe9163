#include "methods/wavefunction/tables.h"

#include "error.h"
#include "memory.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>

enum { X, Y, Z };

/* Beyond that a Gaussian is nothing to a float, whatever its power is. */
static const double least = 1e-60;

typedef struct filling {
    const expansion *e;
    tables *t;
} filling;

/* d^i e^(-a d^2) for i = 0 to l, or a derivative of it, from d^0 to d^(l + 2). */
static double function_of(const double *power, double e, double a, int i, int derivative)
{
    const double below = i > 0 ? i * power[i - 1] : 0, second = i > 1 ? i * (i - 1) * power[i - 2] : 0;
    return derivative == 0   ? e * power[i]
           : derivative == 1 ? e * (below - 2 * a * power[i + 1])
                             : e * (second - 2 * a * (2 * i + 1) * power[i] + 4 * a * a * power[i + 2]);
}

static float *place_of(const tables *t, int axis, int derivative, int32_t row, int64_t point)
{
    if (axis == Z)
        return t->z + (size_t)derivative * t->z_count + (size_t)point * (size_t)t->rows + (size_t)row;
    return (axis == X ? t->x + (size_t)derivative * t->x_count : t->y + (size_t)derivative * t->y_count) +
           (size_t)row * (size_t)(axis == X ? t->shape.padded_x : t->shape.padded_y) + (size_t)point;
}

/* All rows of a Gaussian at a point. */
static void fill_point(const tables *t, const expansion_gaussian *g, int axis, int64_t point)
{
    const tables_shape *s = &t->shape;
    const double d = s->origin[axis] + (double)point * s->step[axis] - g->centre[axis], e = exp(-g->exponent * d * d);
    double power[LEY_MOST_MOMENTUM + 3] = {1};
    if (e < least)
        return; /* tables are 0 */
    for (int i = 0; i < g->l + 2; i++)
        power[i + 1] = power[i] * d;
    for (int derivative = 0; derivative <= s->derivatives; derivative++)
        for (int i = 0; i <= g->l; i++) {
            const float value = (float)function_of(power, e, g->exponent, i, derivative);
            *place_of(t, axis, derivative, g->first_row + i, point) = value;
            if (axis == Z)
                continue;
            float *most = (axis == X ? t->x_most + (size_t)derivative * t->x_most_count +
                                           (size_t)(point / s->tile_x) * (size_t)t->rows
                                     : t->y_most + (size_t)derivative * t->y_most_count +
                                           (size_t)(point / s->tile_y) * (size_t)t->rows) +
                          g->first_row + i;
            *most = fmaxf(*most, fabsf(value));
        }
}

/* The first and the last plane that a Gaussian reaches, the latter in the upper half. */
static int32_t planes_of(const tables_shape *s, double reach2, const expansion_gaussian *g)
{
    const double centre = (g->centre[Z] - s->origin[Z]) / s->step[Z], reach = sqrt(reach2) / s->step[Z],
                 most = (double)s->n[Z] - 1, first = fmin(fmax(floor(centre - reach), 0), most),
                 last = fmax(fmin(ceil(centre + reach), most), 0);
    const uint32_t low = (uint32_t)first >> s->plane_shift, high = (uint32_t)last >> s->plane_shift;
    return (int32_t)(low | high << 16);
}

static void fill(void *context, size_t first, size_t last)
{
    const filling *f = context;
    for (size_t k = first; k < last; k++) {
        const expansion_gaussian *g = &f->e->gaussians[k];
        for (int axis = 0; axis < 3; axis++)
            for (int64_t point = 0; point < f->t->shape.n[axis]; point++)
                fill_point(f->t, g, axis, point);
        for (int i = 0; i <= g->l; i++) {
            int32_t *term = f->t->terms + 4 * (g->first_row + i);
            term[0] = g->first_row;
            term[1] = g->l - i + 1;
            term[2] = g->first_coefficient + expansion_place(g->l, i);
        }
    }
}

void tables_set_reach(const expansion *e, const double *reach2, tables *t)
{
    for (int32_t k = 0; k < e->count; k++) {
        const expansion_gaussian *g = &e->gaussians[k];
        const int32_t planes = planes_of(&t->shape, reach2 != NULL ? reach2[k] : INFINITY, g);
        for (int i = 0; i <= g->l; i++)
            t->terms[4 * (g->first_row + i) + 3] = planes;
    }
}

static void count(const expansion *e, const tables_shape *s, tables *t)
{
    const size_t rows = (size_t)e->rows;
    t->shape = *s;
    t->rows = e->rows;
    t->x_count = rows * (size_t)s->padded_x;
    t->y_count = rows * (size_t)s->padded_y;
    t->z_count = rows * (size_t)s->n[2];
    t->x_most_count = rows * (size_t)(s->padded_x / s->tile_x);
    t->y_most_count = rows * (size_t)(s->padded_y / s->tile_y);
}

double tables_bytes(const expansion *e, const tables_shape *shape)
{
    tables t = {.rows = 0};
    count(e, shape, &t);
    return (double)sizeof(float) *
           ((shape->derivatives + 1) * (double)(t.x_count + t.y_count + t.z_count + t.x_most_count + t.y_most_count) +
            4.0 * e->rows);
}

ley_status tables_create(const expansion *e, const tables_shape *shape, tables *t, ley_error *error)
{
    const size_t sets = (size_t)shape->derivatives + 1;
    *t = (tables){.rows = 0};
    count(e, shape, t);
    ley_status status = memory_check_one("tables along the axes", tables_bytes(e, shape), "a coarser spacing", error);
    if (status != LEY_OK)
        return status;
    t->x = calloc(sets * t->x_count, sizeof(float));
    t->y = calloc(sets * t->y_count, sizeof(float));
    t->z = calloc(sets * t->z_count, sizeof(float));
    t->x_most = calloc(sets * t->x_most_count, sizeof(float));
    t->y_most = calloc(sets * t->y_most_count, sizeof(float));
    t->terms = calloc(4 * (size_t)e->rows, sizeof(int32_t));
    if (t->x == NULL || t->y == NULL || t->z == NULL || t->x_most == NULL || t->y_most == NULL || t->terms == NULL) {
        tables_destroy(t);
        return ley_fail_memory(error, (size_t)tables_bytes(e, shape), "tables along the axes");
    }
    parallel_ranges((size_t)e->count, fill, &(filling){e, t});
    tables_set_reach(e, shape->reach2, t);
    return LEY_OK;
}

void tables_destroy(tables *t)
{
    free(t->x);
    free(t->y);
    free(t->z);
    free(t->x_most);
    free(t->y_most);
    free(t->terms);
    *t = (tables){.rows = 0};
}
