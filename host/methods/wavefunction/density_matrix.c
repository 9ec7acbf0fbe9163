#include "methods/wavefunction/density_matrix.h"

#include "core/sizes.h"
#include "core/two_floats.h"
#include "error.h"
#include "memory.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>

enum { BLOCK_POINTS = LEY_DENSITY_MATRIX_X * LEY_DENSITY_MATRIX_Y * LEY_DENSITY_MATRIX_Z, PITCH = 32 };
static const double farthest2 = 1e30;

int64_t density_matrix_functions(const ley_wavefunction *w)
{
    int64_t sum = 0;
    for (int64_t s = 0; s < w->arrays.shells; s++)
        sum += basis_shell_functions(w->shells[s].l, false);
    return sum;
}

static size_t pitch_of(int64_t functions)
{
    return (size_t)ley_round_up(functions + 1, PITCH);
}

static size_t points_of(const tables_shape *s)
{
    return (size_t)(s->padded_x + s->padded_y + s->n[2]);
}

double density_matrix_bytes(const ley_wavefunction *w, const tables_shape *s)
{
    const double functions = (double)density_matrix_functions(w) + 1;
    return (double)sizeof(float) *
           (functions * ((double)pitch_of((int64_t)functions - 1) + 1) + 12 * ((double)w->arrays.shells + 1) +
            2 * (double)w->arrays.primitives + 2 * (double)points_of(s));
}

/* ---- The basis and the grid ------------------------------------------------------------------ */

static void fill_shell(const density_matrix *m, int32_t s, int32_t *primitive)
{
    const expansion_gaussian *g = &m->e.gaussians[s];
    const ley_wavefunction *w = m->e.wavefunction;
    const basis_shell *shell = &w->shells[g->shell];
    int32_t *own = m->shells + 4 * (size_t)s, *code = m->codes + g->first_coefficient;
    own[0] = g->first_coefficient;
    own[1] = expansion_each(&m->e, g);
    own[2] = *primitive;
    own[3] = (int32_t)shell->primitives;
    for (int64_t p = 0; p < shell->primitives; p++, ++*primitive) {
        m->primitives[2 * *primitive] = (float)(-w->arrays.exponents[shell->first_primitive + p] * M_LOG2E);
        m->primitives[2 * *primitive + 1] = (float)expansion_factor(&m->e, g, p);
    }
    for (int i = g->l; i >= 0; i--)
        for (int j = g->l - i; j >= 0; j--)
            *code++ = ((s * 8 + i) * 8 + j) * 8 + g->l - i - j;
}

/* Places are relative to the grid's first point. */
static void fill_places(const density_matrix *m, const tables_shape *shape)
{
    const int64_t n[3] = {shape->padded_x, shape->padded_y, shape->n[2]};
    int32_t primitive = 0;
    float *axis = m->axes;
    for (int32_t s = 0; s < m->e.count; s++) {
        float *own = m->centres + 8 * (size_t)s;
        for (int d = 0; d < 3; d++)
            two_floats(m->e.gaussians[s].centre[d] - shape->origin[d], &own[d], &own[4 + d]);
        fill_shell(m, s, &primitive);
    }
    m->codes[m->functions] = m->e.count * 512;
    for (int d = 0; d < 3; d++)
        for (int64_t i = 0; i < n[d]; i++, axis += 2)
            two_floats((double)i * shape->step[d], &axis[0], &axis[1]);
}

/* ---- The matrix ------------------------------------------------------------------------------ */

typedef struct multiplying {
    const density_orbitals *orbitals;
    const density_matrix *m;
    double *exact;       /* [count][functions] */
    float *coefficients; /* the same */
} multiplying;

static void multiply_rows(void *context, size_t first, size_t last)
{
    const multiplying *p = context;
    const size_t n = (size_t)p->m->functions;
    double *row = malloc(n * sizeof *row);
    for (size_t i = first; i < last; i++) {
        for (size_t k = 0; k < n && row != NULL; k++)
            row[k] = 0;
        for (int32_t o = 0; o < p->orbitals->count && row != NULL; o++) {
            const double *c = p->exact + (size_t)o * n, own = p->orbitals->weights[o] * c[i];
            for (size_t k = 0; k < n && own != 0; k++)
                row[k] += own * c[k];
        }
        for (size_t k = 0; k < n; k++)
            p->m->matrix[i * (size_t)p->m->pitch + k] = row != NULL ? (float)row[k] : NAN;
    }
    free(row);
}

static void find_reach(void *context, size_t first, size_t last)
{
    const multiplying *p = context;
    const density_orbitals *o = p->orbitals;
    for (size_t s = first; s < last; s++)
        p->m->centres[8 * s + 3] =
            (float)(o->thresholds == NULL
                        ? farthest2
                        : fmin(farthest2, expansion_reach2(&p->m->e, &p->m->e.gaussians[s], p->coefficients,
                                                           o->thresholds, o->count, o->gradient)));
}

static void expand(void *context, size_t first, size_t last)
{
    const multiplying *p = context;
    const size_t n = (size_t)p->m->functions;
    for (size_t o = first; o < last; o++)
        expansion_fill(&p->m->e, p->orbitals->numbers[o], p->coefficients + o * n, p->exact + o * n);
}

ley_status density_matrix_fill(const density_orbitals *orbitals, density_matrix *m, ley_error *error)
{
    const size_t numbers = (size_t)orbitals->count * (size_t)m->functions;
    double *exact = malloc(numbers * sizeof *exact);
    float *coefficients = malloc(numbers * sizeof *coefficients);
    multiplying p = {orbitals, m, exact, coefficients};
    if (exact != NULL && coefficients != NULL) {
        parallel_ranges((size_t)orbitals->count, expand, &p);
        parallel_ranges((size_t)m->functions, multiply_rows, &p);
        parallel_ranges((size_t)m->e.count, find_reach, &p);
    }
    const bool has_room = exact != NULL && coefficients != NULL;
    free(exact);
    free(coefficients);
    return has_room ? LEY_OK : ley_fail_memory(error, numbers * sizeof *exact, "the orbitals");
}

/* ---- All ------------------------------------------------------------------------------------- */

static ley_status make_room(density_matrix *m, const tables_shape *shape, ley_error *error)
{
    const ley_wavefunction *w = m->e.wavefunction;
    const size_t shells = (size_t)m->e.count + 1, functions = (size_t)m->functions + 1;
    const ley_status status =
        memory_check_one("the density matrix", density_matrix_bytes(w, shape), "another variant", error);
    if (status != LEY_OK)
        return status;
    m->points = points_of(shape);
    m->shells = calloc(4 * shells, sizeof *m->shells);
    m->centres = calloc(8 * shells, sizeof *m->centres);
    m->primitives = calloc(2 * (size_t)w->arrays.primitives, sizeof *m->primitives);
    m->codes = calloc(functions, sizeof *m->codes);
    m->matrix = calloc(functions * (size_t)m->pitch, sizeof *m->matrix);
    m->axes = calloc(2 * m->points, sizeof *m->axes);
    return m->shells != NULL && m->centres != NULL && m->primitives != NULL && m->codes != NULL && m->matrix != NULL &&
                   m->axes != NULL
               ? LEY_OK
               : ley_fail_memory(error, (size_t)density_matrix_bytes(w, shape), "the density matrix");
}

static ley_status upload(density_matrix *m, arena *a, ley_error *error)
{
    const size_t shells = (size_t)m->e.count + 1, functions = (size_t)m->functions + 1;
    const struct {
        const void *bytes;
        size_t numbers;
        dev_buffer **buffer;
    } parts[] = {{m->shells, 4 * shells, &m->gm_shells},
                 {m->centres, 8 * shells, &m->gm_centres},
                 {m->primitives, 2 * (size_t)m->e.wavefunction->arrays.primitives, &m->gm_primitives},
                 {m->codes, functions, &m->gm_codes},
                 {m->matrix, functions * (size_t)m->pitch, &m->gm_matrix},
                 {m->axes, 2 * m->points, &m->gm_axes}};
    ley_status status = LEY_OK;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == LEY_OK; i++)
        status = arena_upload(a, parts[i].bytes, parts[i].numbers * sizeof(float), parts[i].buffer, error);
    return status;
}

ley_status density_matrix_load(const density_orbitals *orbitals, const tables_shape *shape, arena *a, density_matrix *m,
                               ley_error *error)
{
    *m = (density_matrix){.functions = 0};
    ley_status status = expansion_create_contracted(orbitals->wavefunction, &m->e, error);
    if (status != LEY_OK)
        return status;
    m->functions = m->e.coefficients;
    m->pitch = (int32_t)pitch_of(m->functions);
    status = make_room(m, shape, error);
    if (status == LEY_OK) {
        fill_places(m, shape);
        status = density_matrix_fill(orbitals, m, error);
    }
    return status == LEY_OK ? upload(m, a, error) : status;
}

void density_matrix_destroy(density_matrix *m)
{
    expansion_destroy(&m->e);
    free(m->shells);
    free(m->centres);
    free(m->primitives);
    free(m->codes);
    free(m->matrix);
    free(m->axes);
    *m = (density_matrix){.functions = 0};
}

/* How far a coordinate is from points of an axis. */
static double beside(const float *axis, int64_t first, int64_t count, double c)
{
    return fmax(0, fmax((double)axis[2 * first] - c, c - (double)axis[2 * (first + count - 1)]));
}

double density_matrix_multiply_adds(const density_matrix *m, const tables_shape *shape, int64_t plane)
{
    const float *y_axis = m->axes + 2 * shape->padded_x, *z_axis = y_axis + 2 * shape->padded_y;
    const int64_t z = plane / LEY_DENSITY_MATRIX_Z * LEY_DENSITY_MATRIX_Z,
                  left = shape->n[2] - z < LEY_DENSITY_MATRIX_Z ? shape->n[2] - z : LEY_DENSITY_MATRIX_Z;
    double sum = 0;
    for (int64_t y = 0; y < shape->padded_y; y += LEY_DENSITY_MATRIX_Y)
        for (int64_t x = 0; x < shape->padded_x; x += LEY_DENSITY_MATRIX_X) {
            double count = 0;
            for (int32_t s = 0; s < m->e.count; s++) {
                const float *c = m->centres + 8 * (size_t)s;
                const double d2 = pow(beside(m->axes, x, LEY_DENSITY_MATRIX_X, (double)c[0]), 2) +
                                  pow(beside(y_axis, y, LEY_DENSITY_MATRIX_Y, (double)c[1]), 2) +
                                  pow(beside(z_axis, z, left, (double)c[2]), 2);
                count += d2 < (double)c[3] ? m->shells[4 * (size_t)s + 1] : 0;
            }
            sum += count * count * BLOCK_POINTS / LEY_DENSITY_MATRIX_Z;
        }
    return sum;
}
