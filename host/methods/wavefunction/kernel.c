#include "methods/wavefunction/kernel.h"

#include "core/sizes.h"
#include "core/units.h"
#include "error.h"
#include "memory.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>

/* Of a device's multiply-adds the kernel reaches this share; and of all terms that are not left out
 * so many are expected to reach a tile. */
static const double share_of_rate = 0.5, share_of_terms = 0.3, share_of_functions = 0.3;

/* ---- Its size -------------------------------------------------------------------------------- */

/* Of one work-item alone the bounds are those of its vectors and rows; of groups those of the whole
 * tile. */
static int bound_tile_x(const separable_spec *s)
{
    return s->width == 1 ? s->lx * s->ux : s->ux * s->width;
}

static int bound_tile_y(const separable_spec *s)
{
    return s->width == 1 ? s->ly * s->uy : s->uy;
}

int separable_tile_x(const separable_spec *s)
{
    return s->width == 1 ? s->lx * s->ux : s->ux * s->width * s->tile;
}

int separable_tile_y(const separable_spec *s)
{
    return s->width == 1 ? s->ly * s->uy : s->uy * LEY_SEPARABLE_STEPS;
}

/* Planes are numbered in 16 bits. */
static int plane_shift(int64_t n)
{
    int shift = 0;
    while (n >> shift > UINT16_MAX)
        shift++;
    return shift;
}

static tables_shape shape_of(const separable_kernel *k, const separable_problem *p)
{
    const separable_spec *spec = &k->choice.spec;
    tables_shape s = {.tile_x = bound_tile_x(spec),
                      .tile_y = bound_tile_y(spec),
                      .padded_x = ley_round_up(p->grid.n[0], bound_tile_x(spec)),
                      .padded_y = ley_round_up(p->grid.n[1], bound_tile_y(spec)),
                      .plane_shift = plane_shift(p->grid.n[2]),
                      .derivatives = p->derivatives};
    for (int axis = 0; axis < 3; axis++) {
        s.n[axis] = p->grid.n[axis];
        s.origin[axis] = p->grid.origin_A[axis] / units_bohr_A;
        s.step[axis] = p->grid.step_A[axis][axis] / units_bohr_A;
    }
    return s;
}

padded_slab separable_layout(const separable_kernel *k, const separable_problem *p)
{
    const tables_shape s = shape_of(k, p);
    return (padded_slab){.n_x = s.n[0],
                         .n_y = s.n[1],
                         .padded_x = s.padded_x,
                         .padded_y = s.padded_y,
                         .planes = 1,
                         .store = PADDED_FLOAT,
                         .components = p->values};
}

/* The orbitals of all passes. */
static density_orbitals orbitals_of(const separable_problem *p)
{
    return (density_orbitals){.wavefunction = p->e->wavefunction,
                              .numbers = p->numbers,
                              .weights = p->weights,
                              .thresholds = p->thresholds,
                              .count = p->orbitals,
                              .gradient = p->passes[0].places[2] >= 0};
}

static double matrix_plane_s(const separable_kernel *k, const separable_problem *p)
{
    const padded_slab layout = separable_layout(k, p);
    const double functions = share_of_functions * (double)density_matrix_functions(p->e->wavefunction);
    return (double)layout.padded_x * (double)layout.padded_y * functions * functions /
           (share_of_rate * k->facts.fma_per_s);
}

static double pass_plane_s(const separable_kernel *k, const separable_problem *p, const separable_pass *pass)
{
    const padded_slab layout = separable_layout(k, p);
    const bool is_screened = p->thresholds != NULL && p->thresholds[pass->orbital] > 0;
    return (double)layout.padded_x * (double)layout.padded_y * (double)p->e->rows * pass->orbitals *
           separable_sets(pass) * (is_screened ? share_of_terms : 1) / (share_of_rate * k->facts.fma_per_s);
}

double separable_plane_s(const separable_kernel *k, const separable_problem *p)
{
    double sum = k->choice.is_by_matrix ? matrix_plane_s(k, p) : 0;
    for (size_t i = 0; i < p->pass_count && !k->choice.is_by_matrix; i++)
        sum += pass_plane_s(k, p, &p->passes[i]);
    return sum;
}

double separable_bytes(const separable_kernel *k, const separable_problem *p)
{
    const tables_shape s = shape_of(k, p);
    if (k->choice.is_by_matrix)
        return density_matrix_bytes(p->e->wavefunction, &s);
    return tables_bytes(p->e, &s) + (double)p->orbitals * (p->e->coefficients + 2.0) * sizeof(float);
}

/* ---- Its data -------------------------------------------------------------------------------- */

static size_t weight_bytes(const separable_kernel *k)
{
    return 2 * (size_t)k->problem.orbitals * sizeof *k->weights;
}

static void fill_weights(separable_kernel *k)
{
    const separable_problem *p = &k->problem;
    for (int32_t o = 0; o < p->orbitals; o++) {
        k->weights[2 * o] = p->weights != NULL ? (float)p->weights[o] : 0;
        k->weights[2 * o + 1] = p->thresholds != NULL ? (float)p->thresholds[o] : 0;
    }
}

static ley_status upload(separable_kernel *k, ley_error *error)
{
    const tables *t = &k->tables;
    const size_t sets = (size_t)t->shape.derivatives + 1, each = sizeof(float);
    const struct {
        const void *bytes;
        size_t size;
        dev_buffer **buffer;
    } parts[] = {{t->terms, 4 * (size_t)t->rows * sizeof(int32_t), &k->terms},
                 {t->x, sets * t->x_count * each, &k->x},
                 {t->y, sets * t->y_count * each, &k->y},
                 {t->z, sets * t->z_count * each, &k->z},
                 {t->x_most, sets * t->x_most_count * each, &k->x_most},
                 {t->y_most, sets * t->y_most_count * each, &k->y_most},
                 {k->weights, weight_bytes(k), &k->gm_weights},
                 {k->problem.coefficients, (size_t)k->problem.orbitals * (size_t)k->problem.e->coefficients * each,
                  &k->coefficients}};
    ley_status status = LEY_OK;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == LEY_OK; i++)
        status = arena_upload(&k->arena, parts[i].bytes, parts[i].size, parts[i].buffer, error);
    return status;
}

typedef struct reaching {
    const separable_problem *p;
    double *reach2;
} reaching;

/* Blocks of Gaussians, a few microseconds of work: waking a thread takes tens. */
enum { REACH_BLOCK = 64 };

static void find_reach(void *context, size_t first, size_t last)
{
    const reaching *r = context;
    const size_t n = (size_t)r->p->e->count, end = last * REACH_BLOCK < n ? last * REACH_BLOCK : n;
    for (size_t i = first * REACH_BLOCK; i < end; i++)
        r->reach2[i] = expansion_reach2(r->p->e, &r->p->e->gaussians[i], r->p->coefficients, r->p->thresholds,
                                        r->p->orbitals, r->p->derivatives);
}

/* Of each Gaussian, from malloc; NULL where none is left out. */
static ley_status make_reach(const separable_problem *p, double **reach2, ley_error *error)
{
    const size_t n = (size_t)p->e->count;
    *reach2 = p->thresholds != NULL ? calloc(n, sizeof **reach2) : NULL;
    if (p->thresholds != NULL && *reach2 == NULL)
        return ley_fail_memory(error, n * sizeof **reach2, "tables along the axes");
    if (*reach2 != NULL)
        parallel_ranges((n + REACH_BLOCK - 1) / REACH_BLOCK, find_reach, &(reaching){p, *reach2});
    return LEY_OK;
}

static ley_status renew_matrix(separable_kernel *k, ley_error *error)
{
    density_matrix *m = &k->matrix;
    const density_orbitals orbitals = orbitals_of(&k->problem);
    command_sequence w = {.flight = NULL};
    ley_status status = density_matrix_fill(&orbitals, m, error);
    if (status != LEY_OK)
        return status;
    sequence_begin(&w, &k->flight, NULL);
    sequence_write(&w, m->gm_centres, 0, m->centres, 8 * (size_t)m->e.count * sizeof *m->centres);
    sequence_write(&w, m->gm_matrix, 0, m->matrix, (size_t)m->functions * (size_t)m->pitch * sizeof *m->matrix);
    status = sequence_finish(&w, error);
    sequence_end(&w);
    return status;
}

ley_status separable_kernel_renew(separable_kernel *k, ley_error *error)
{
    const separable_problem *p = &k->problem;
    if (k->choice.is_by_matrix)
        return renew_matrix(k, error);
    double *reach2 = NULL;
    ley_status status = make_reach(p, &reach2, error);
    if (status != LEY_OK)
        return status;
    tables_set_reach(p->e, reach2, &k->tables);
    free(reach2);
    fill_weights(k);
    command_sequence w = {.flight = NULL};
    sequence_begin(&w, &k->flight, NULL);
    sequence_write(&w, k->terms, 0, k->tables.terms, 4 * (size_t)k->tables.rows * sizeof *k->tables.terms);
    sequence_write(&w, k->coefficients, 0, p->coefficients,
                   (size_t)p->orbitals * (size_t)p->e->coefficients * sizeof *p->coefficients);
    sequence_write(&w, k->gm_weights, 0, k->weights, weight_bytes(k));
    status = sequence_finish(&w, error);
    sequence_end(&w);
    return status;
}

ley_status separable_kernel_load(separable_kernel *k, const separable_problem *problem, ley_error *error)
{
    k->arena.device = k->flight.device = k->device;
    k->problem = *problem;
    k->shape = shape_of(k, problem);
    if (k->choice.is_by_matrix) {
        const density_orbitals orbitals = orbitals_of(problem);
        return density_matrix_load(&orbitals, &k->shape, &k->arena, &k->matrix, error);
    }
    double *reach2 = NULL;
    ley_status status = make_reach(problem, &reach2, error);
    k->shape.reach2 = reach2;
    if (status == LEY_OK)
        status = tables_create(problem->e, &k->shape, &k->tables, error);
    k->shape.reach2 = k->tables.shape.reach2 = NULL;
    free(reach2);
    const double most = (double)INT32_MAX / (problem->derivatives + 1);
    if (status == LEY_OK &&
        ((double)k->tables.x_count > most || (double)k->tables.y_count > most || (double)k->tables.z_count > most ||
         (double)problem->orbitals * problem->e->coefficients > INT32_MAX))
        status = ley_fail(error, LEY_ERROR_NO_DEVICE,
                          "tables of a basis of %d terms are larger than the kernel can "
                          "number on this grid: fewer orbitals at once, or a coarser one",
                          problem->e->rows);
    k->weights = status == LEY_OK ? malloc(weight_bytes(k)) : NULL;
    if (status == LEY_OK && k->weights == NULL)
        status = ley_fail_memory(error, weight_bytes(k), "the orbitals");
    if (status != LEY_OK)
        return status;
    fill_weights(k);
    return upload(k, error);
}

void separable_kernel_destroy(separable_kernel *k)
{
    arena_clear(&k->arena);
    kernel_destroy(&k->kernel);
    tables_destroy(&k->tables);
    density_matrix_destroy(&k->matrix);
    free(k->weights);
    *k = (separable_kernel){.device = k->device};
}

/* ---- What it computes ------------------------------------------------------------------------ */

/* Tiles that a term of one of separable_sets() is not left out of, in a plane: as kernels decide
 * it. */
static int64_t reached_tiles(const separable_kernel *k, int set, int32_t orbital, int64_t plane, int32_t term)
{
    const tables *t = &k->tables;
    const double threshold = (double)k->weights[2 * orbital + 1];
    int d[3] = {0};
    if (set > 0)
        d[(set - 1) % 3] = set <= 3 ? 1 : 2;
    const int32_t *own = t->terms + 4 * term;
    const int64_t number = plane >> t->shape.plane_shift;
    const float *z = t->z + (size_t)d[2] * t->z_count + (size_t)plane * (size_t)t->rows + own[0],
                *c = k->problem.coefficients + (size_t)orbital * (size_t)k->problem.e->coefficients + own[2],
                *x_most = t->x_most + (size_t)d[0] * t->x_most_count + term,
                *y_most = t->y_most + (size_t)d[1] * t->y_most_count + own[0];
    double factors[LEY_MOST_MOMENTUM + 1] = {0};
    int64_t tiles = 0;
    if (number < (own[3] & UINT16_MAX) || number > (own[3] >> 16 & UINT16_MAX))
        return 0;
    for (int j = 0; j < own[1]; j++)
        for (int i = 0; i < own[1] - j; i++)
            factors[j] += (double)*c++ * (double)z[i];
    for (int64_t y = 0; y < t->shape.padded_y / t->shape.tile_y; y++, y_most += t->rows) {
        double most = 0;
        for (int j = 0; j < own[1]; j++)
            most += fabs(factors[j]) * (double)y_most[j];
        for (int64_t x = 0; x < t->shape.padded_x / t->shape.tile_x; x++)
            tiles += most * (double)x_most[x * t->rows] > threshold;
    }
    return tiles;
}

double separable_multiply_adds(const separable_kernel *k, int64_t plane)
{
    const double points = (double)k->shape.tile_x * k->shape.tile_y;
    double sum = 0;
    if (k->choice.is_by_matrix)
        return density_matrix_multiply_adds(&k->matrix, &k->shape, plane);
    for (size_t i = 0; i < k->problem.pass_count; i++) {
        const separable_pass *pass = &k->problem.passes[i];
        for (int32_t o = pass->orbital; o < pass->orbital + pass->orbitals; o++)
            for (int32_t t = 0; t < separable_sets(pass) * k->tables.rows; t++)
                sum += points * (double)reached_tiles(k, t / k->tables.rows, o, plane, t % k->tables.rows);
    }
    return sum;
}

/* ---- A slab ---------------------------------------------------------------------------------- */

static padded_slab layout_of(const separable_kernel *k, int64_t planes)
{
    padded_slab layout = separable_layout(k, &k->problem);
    layout.planes = planes;
    return layout;
}

ley_status separable_run_create(separable_run *run, separable_kernel *k, int64_t planes, ley_error *error)
{
    const padded_slab layout = layout_of(k, planes);
    int64_t bytes = 0;
    *run = (separable_run){.kernel = k};
    if (!padding_bytes(&layout, &bytes))
        return ley_fail_memory(error, SIZE_MAX, "a slab");
    return arena_results(&k->arena, bytes, &run->values, error);
}

void separable_run_destroy(separable_run *run)
{
    sequence_end(&run->command_sequence);
    if (run->kernel != NULL)
        arena_free_results(&run->kernel->arena, &run->values);
}

static void launch_pass(separable_run *run, const separable_pass *pass)
{
    const separable_kernel *k = run->kernel;
    const separable_spec *spec = &k->choice.spec;
    const bool is_stored = pass->places[0] >= 0;
    const size_t groups[3] = {
        (size_t)(ley_round_up(k->shape.padded_x, separable_tile_x(spec)) / separable_tile_x(spec)),
        (size_t)(ley_round_up(k->shape.padded_y, separable_tile_y(spec)) / separable_tile_y(spec)),
        (size_t)(run->planes * (is_stored ? pass->orbitals : 1))};
    sequence_launch(
        &run->command_sequence, &k->kernel, groups,
        KERNEL_ARGUMENTS(
            separable, .gm_terms = {k->terms}, .n_terms = k->tables.rows, .gm_x = {k->x}, .gm_y = {k->y},
            .gm_z = {k->z}, .gm_x_most = {k->x_most}, .gm_y_most = {k->y_most}, .gm_coefficients = {k->coefficients},
            .gm_weights = {k->gm_weights},
            .size = {k->tables.rows, (int32_t)k->shape.padded_x, (int32_t)k->shape.padded_y, (int32_t)k->shape.n[2]},
            .slab = {(int32_t)run->first, (int32_t)run->planes, k->problem.e->coefficients, k->shape.plane_shift},
            .orbitals = {pass->orbital, pass->orbitals, 0, 0},
            .places = {pass->places[0], pass->places[1], pass->places[2], pass->places[3]},
            .gm_values = {run->values.buffer}),
        (double)run->planes * pass_plane_s(k, &k->problem, pass));
}

/* All orbitals at once. */
static void launch_matrix(separable_run *run)
{
    const separable_kernel *k = run->kernel;
    const density_matrix *m = &k->matrix;
    const int32_t *places = k->problem.passes[0].places;
    const int64_t last = run->first + run->planes - 1;
    const size_t groups[3] = {(size_t)(k->shape.padded_x / LEY_DENSITY_MATRIX_X),
                              (size_t)(k->shape.padded_y / LEY_DENSITY_MATRIX_Y),
                              (size_t)(last / LEY_DENSITY_MATRIX_Z - run->first / LEY_DENSITY_MATRIX_Z + 1)};
    sequence_launch(&run->command_sequence, &k->kernel, groups,
                    KERNEL_ARGUMENTS(density_matrix, .gm_shells = {m->gm_shells}, .gm_centres = {m->gm_centres},
                                     .n_shells = m->e.count, .gm_primitives = {m->gm_primitives},
                                     .gm_functions = {m->gm_codes}, .n_functions = m->functions,
                                     .gm_matrix = {m->gm_matrix}, .gm_axes = {m->gm_axes},
                                     .size = {(int32_t)k->shape.padded_x, (int32_t)k->shape.padded_y,
                                              (int32_t)k->shape.n[2], m->pitch},
                                     .slab = {(int32_t)run->first, (int32_t)run->planes, 0, 0},
                                     .places = {places[1], places[2], 0, 0}, .gm_values = {run->values.buffer}),
                    (double)run->planes * matrix_plane_s(k, &k->problem));
}

ley_status separable_run_begin(separable_run *run, int64_t first, int64_t planes, const atomic_bool *cancelled,
                               ley_error *error)
{
    separable_kernel *k = run->kernel;
    const padded_slab layout = layout_of(k, planes);
    command_sequence *w = &run->command_sequence;
    int64_t bytes = 0;
    padding_bytes(&layout, &bytes);
    run->first = first;
    run->planes = planes;
    sequence_begin(w, &k->flight, cancelled);
    if (k->problem.adds)
        sequence_fill(w, run->values.buffer, 0, 0, (size_t)bytes);
    else
        sequence_poison(w, &run->values, (size_t)bytes);
    if (k->choice.is_by_matrix)
        launch_matrix(run);
    for (size_t i = 0; i < k->problem.pass_count && !k->choice.is_by_matrix; i++)
        launch_pass(run, &k->problem.passes[i]);
    sequence_read(w, run->values.buffer, 0, run->values.staging, (size_t)bytes);
    return sequence_status(w, error);
}

ley_status separable_run_finish(separable_run *run, float *const *planes, ley_error *error)
{
    padded_slab layout = layout_of(run->kernel, run->planes);
    ley_status status = sequence_finish(&run->command_sequence, error);
    for (; layout.component < layout.components && status == LEY_OK; layout.component++)
        if (!padding_crop(&layout, run->values.staging->bytes, planes[layout.component]))
            status = sequence_no_number(error);
    return status;
}
