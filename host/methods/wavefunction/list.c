#include "methods/wavefunction/list.h"

#include "core/sizes.h"
#include "core/two_floats.h"
#include "error.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>

/* Of a device's exponentials the kernel reaches this share, of Gaussians so many reach a point, and
 * each costs as much as so many more exponentials for its polynomials, of each orbital. */
static const double share_of_rate = 0.3, share_of_gaussians = 0.3, polynomial_cost = 0.3;
enum { COORDINATES = 6 };

void list_kernel_destroy(list_kernel *k)
{
    arena_clear(&k->arena);
    kernel_destroy(&k->kernel);
    stream_destroy(&k->stream);
    basis_code_destroy(&k->code);
    free(k->basis);
    *k = (list_kernel){.device = k->device};
}

static size_t number_bytes(const list_kernel *k)
{
    return k->spec.sum == LEY_SPEC_SUM_DOUBLE ? sizeof(double) : sizeof(float);
}

/* ---- Predictions ----------------------------------------------------------------------------- */

static int32_t blocks_of(const list_kernel *k, const list_problem *p)
{
    return (p->orbitals + k->spec.orbitals - 1) / k->spec.orbitals;
}

static double block_point_s(const list_kernel *k, const list_problem *p)
{
    const double each = 1 + polynomial_cost * k->spec.orbitals * (k->spec.derivatives ? 6 : 1) *
                                expansion_polynomial(p->e->most_l) / 4.0;
    return share_of_gaussians * p->e->count * each / (share_of_rate * fmax(k->facts.exps_per_s[k->spec.exp], 1e6));
}

double list_point_s(const list_kernel *k, const list_problem *p)
{
    return blocks_of(k, p) * block_point_s(k, p);
}

int64_t list_point_bytes(const list_kernel *k, const list_problem *p)
{
    return COORDINATES * (int64_t)sizeof(float) + p->values * (int64_t)number_bytes(k);
}

double list_bytes(const list_kernel *k, const list_problem *p)
{
    const double each = k->spec.compiled ? 1 : 5; /* of a Gaussian beside its coefficients, with gaps */
    return blocks_of(k, p) * (double)number_bytes(k) *
           (k->spec.orbitals * (p->e->coefficients + 1.0) + each * p->e->count + 8.0 * p->e->centres);
}

/* ---- Its data -------------------------------------------------------------------------------- */

static stream_orbitals orbitals_of(const list_problem *p)
{
    return (stream_orbitals){p->coefficients, p->exact, p->thresholds, p->orbitals, p->laplacian ? 2 : p->gradient};
}

ley_status list_count(const list_kernel *k, list_place *place, const void *context, int64_t points, int64_t step,
                      list_counts *counts, ley_error *error)
{
    const expansion *e = k->problem.e;
    const stream_orbitals orbitals = orbitals_of(&k->problem);
    double *reach2 = calloc((size_t)e->count, sizeof *reach2);
    *counts = (list_counts){0, 0};
    if (reach2 == NULL)
        return ley_fail_memory(error, (size_t)e->count * sizeof *reach2, "the basis");
    for (int32_t first = 0; first < orbitals.count; first += k->spec.orbitals) {
        const int32_t left = orbitals.count - first, count = left < k->spec.orbitals ? left : k->spec.orbitals;
        stream_reach(e, &orbitals, first, count, reach2);
        for (int64_t i = 0; i < points; i += step) {
            double at[3];
            place(context, i, at);
            for (int32_t g = 0; g < e->count; g++) {
                const expansion_gaussian *own = &e->gaussians[g];
                const double *c = own->centre;
                if (pow(at[0] - c[0], 2) + pow(at[1] - c[1], 2) + pow(at[2] - c[2], 2) >= reach2[g])
                    continue;
                counts->exponentials += e->is_contracted ? (double)e->wavefunction->shells[own->shell].primitives : 1;
                counts->multiply_adds += expansion_each(e, own) * (double)count;
            }
        }
    }
    free(reach2);
    return LEY_OK;
}

static size_t part_bytes(const list_kernel *k)
{
    return (size_t)k->stream.vectors * (size_t)k->stream.blocks / k->parts * 4 * number_bytes(k);
}

/* A weight for each orbital of a whole number of blocks. */
static size_t weight_count(const list_kernel *k)
{
    return (size_t)k->stream.blocks * (size_t)k->spec.orbitals;
}

static ley_status make_buffers(list_kernel *k, ley_error *error)
{
    const stream *s = &k->stream;
    k->parts = k->spec.atoms == LEY_ATOMS_CONSTANT ? (size_t)s->blocks : 1;
    k->basis = calloc(k->parts, sizeof *k->basis);
    if (k->basis == NULL)
        return ley_fail_memory(error, k->parts * sizeof *k->basis, "the orbitals");
    ley_status status =
        arena_upload(&k->arena, s->tiles, 2 * (size_t)s->tile_count * sizeof *s->tiles, &k->tiles, error);
    if (status == LEY_OK)
        status = arena_buffer(&k->arena, weight_count(k) * number_bytes(k), DEV_READ_ONLY, &k->weights, error);
    for (size_t i = 0; i < k->parts && status == LEY_OK; i++)
        status = arena_buffer(&k->arena, part_bytes(k), DEV_READ_ONLY, &k->basis[i], error);
    return status;
}

/* The numbers of the stream and the weights, on their way to the device, until they are there. */
static ley_status send(list_kernel *k, ley_error *error)
{
    const list_problem *p = &k->problem;
    const bool is_double = k->shape.is_double;
    void *weights = calloc(weight_count(k), number_bytes(k));
    if (weights == NULL)
        return ley_fail_memory(error, weight_count(k) * number_bytes(k), "the orbitals");
    for (int32_t o = 0; o < p->orbitals && p->weights != NULL; o++)
        if (is_double)
            ((double *)weights)[o] = p->weights[o];
        else
            ((float *)weights)[o] = (float)p->weights[o];
    command_sequence w = {.flight = NULL};
    sequence_begin(&w, &k->flight, NULL);
    sequence_write(&w, k->weights, 0, weights, weight_count(k) * number_bytes(k));
    for (size_t i = 0; i < k->parts; i++)
        sequence_write(&w, k->basis[i], 0, (const char *)k->stream.numbers + i * part_bytes(k), part_bytes(k));
    const ley_status status = sequence_finish(&w, error);
    sequence_end(&w);
    free(weights);
    return status;
}

ley_status list_kernel_renew(list_kernel *k, ley_error *error)
{
    const stream_orbitals orbitals = orbitals_of(&k->problem);
    stream_fill(k->problem.e, &k->shape, &orbitals, &k->stream);
    return send(k, error);
}

ley_status list_kernel_load(list_kernel *k, const list_problem *problem, ley_error *error)
{
    k->arena.device = k->flight.device = k->device;
    k->problem = *problem;
    ley_status status = k->spec.compiled ? basis_code_create(problem->e, &k->code, error) : LEY_OK;
    k->shape = (stream_shape){.at_once = k->spec.orbitals,
                              .is_double = k->spec.sum == LEY_SPEC_SUM_DOUBLE,
                              .tile = k->spec.atoms == LEY_ATOMS_LOCAL ? k->spec.tile : 0,
                              .code = k->spec.compiled ? &k->code : NULL};
    if (status == LEY_OK)
        status = stream_create(problem->e, &k->shape, problem->orbitals, &k->stream, error);
    if (status == LEY_OK)
        status = make_buffers(k, error);
    return status == LEY_OK ? list_kernel_renew(k, error) : status;
}

/* ---- Points ---------------------------------------------------------------------------------- */

static int64_t group_points(const list_kernel *k)
{
    return (int64_t)k->spec.wg * k->spec.width;
}

ley_status list_run_create(list_run *run, list_kernel *k, int64_t most, ley_error *error)
{
    const int64_t pitch = ley_round_up(most, group_points(k));
    const size_t bytes = COORDINATES * (size_t)pitch * sizeof(float);
    *run = (list_run){.kernel = k, .places = malloc(bytes)};
    if (run->places == NULL)
        return ley_fail_memory(error, bytes, "points");
    ley_status status = arena_buffer(&k->arena, bytes, DEV_READ_ONLY, &run->points, error);
    return status == LEY_OK
               ? arena_results(&k->arena, k->problem.values * pitch * (int64_t)number_bytes(k), &run->values, error)
               : status;
}

void list_run_destroy(list_run *run)
{
    sequence_end(&run->command_sequence);
    if (run->kernel != NULL) {
        arena_free_results(&run->kernel->arena, &run->values);
        arena_free_buffer(&run->kernel->arena, &run->points);
    }
    free(run->places);
}

typedef struct placing {
    float *places;
    size_t pitch;
    int64_t count;
    list_place *place;
    const void *context;
} placing;

static void put_places(void *context, size_t first, size_t last)
{
    const placing *p = context;
    for (size_t i = first; i < last; i++) {
        double place[3];
        p->place(p->context, (int64_t)i < p->count ? (int64_t)i : p->count - 1, place);
        for (size_t axis = 0; axis < 3; axis++)
            two_floats(place[axis], &p->places[axis * p->pitch + i], &p->places[(axis + 3) * p->pitch + i]);
    }
}

void list_put_places(float *places, int64_t pitch, int64_t count, list_place *place, const void *context)
{
    parallel_ranges((size_t)pitch, put_places, &(placing){places, (size_t)pitch, count, place, context});
}

static void launch_block(list_run *run, int32_t block)
{
    const list_kernel *k = run->kernel;
    const list_problem *p = &k->problem;
    const int at_once = k->spec.orbitals;
    const int32_t first = block * at_once, left = p->orbitals - first;
    const bool is_density = p->weights != NULL, is_alone = k->parts > 1;
    const size_t groups[3] = {(size_t)(run->pitch / group_points(k)), 1, 1};
    sequence_launch(
        &run->command_sequence, &k->kernel, groups,
        KERNEL_ARGUMENTS(gaussians, .gm_basis = {k->basis[is_alone ? block : 0]}, .gm_tiles = {k->tiles},
                         .n_tiles = k->stream.tile_count, .first = is_alone ? 0 : (int32_t)(block * k->stream.vectors),
                         .gm_points = {run->points}, .pitch = (int32_t)run->pitch, .gm_weights = {k->weights},
                         .first_weight = first, .n_orbitals = left < at_once ? left : at_once,
                         .places = {is_density ? -1 : first, is_density ? 0 : -1, p->gradient ? 1 : -1,
                                    p->laplacian ? p->values - 1 : -1},
                         .gm_values = {run->values.buffer}),
        (double)run->pitch * block_point_s(k, p));
}

typedef struct about {
    const double *origin;
    list_place *place;
    const void *context;
} about;

static void place_about(const void *context, int64_t i, double place[3])
{
    const about *a = context;
    a->place(a->context, i, place);
    for (int axis = 0; axis < 3; axis++)
        place[axis] -= a->origin[axis];
}

ley_status list_run_begin(list_run *run, list_place *place, const void *context, int64_t count,
                          const atomic_bool *cancelled, ley_error *error)
{
    list_kernel *k = run->kernel;
    command_sequence *w = &run->command_sequence;
    run->count = count;
    run->pitch = ley_round_up(count, group_points(k));
    const size_t bytes = (size_t)k->problem.values * (size_t)run->pitch * number_bytes(k);
    list_put_places(run->places, run->pitch, count, place_about, &(about){stream_origin(k->problem.e), place, context});
    sequence_begin(w, &k->flight, cancelled);
    sequence_write(w, run->points, 0, run->places, COORDINATES * (size_t)run->pitch * sizeof(float));
    if (k->problem.weights != NULL)
        sequence_fill(w, run->values.buffer, 0, 0, bytes);
    else
        sequence_poison(w, &run->values, bytes);
    for (int32_t block = 0; block < k->stream.blocks; block++)
        launch_block(run, block);
    sequence_read(w, run->values.buffer, 0, run->values.staging, bytes);
    return sequence_status(w, error);
}

double list_run_value(const list_run *run, int64_t v, int64_t i)
{
    const void *values = run->values.staging->bytes;
    const int64_t at = v * run->pitch + i;
    return run->kernel->shape.is_double ? ((const double *)values)[at] : (double)((const float *)values)[at];
}

ley_status list_run_finish(list_run *run, ley_error *error)
{
    const ley_status status = sequence_finish(&run->command_sequence, error);
    for (int v = 0; status == LEY_OK && v < run->kernel->problem.values; v++)
        for (int64_t i = 0; i < run->count; i++)
            if (!isfinite(list_run_value(run, v, i)))
                return sequence_no_number(error);
    return status;
}
