#include "methods/wavefunction/list.h"

#include "core/sizes.h"
#include "error.h"
#include "memory.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>

/* Of a device's exponentials the kernel reaches this share, of Gaussians so many reach a point, and
 * each costs as much as so many more exponentials for its polynomials, of each orbital. */
static const double share_of_rate = 0.3, share_of_gaussians = 0.3, polynomial_cost = 0.3;
enum { COORDINATES = 6, NUMBER = sizeof(float) };

void list_kernel_destroy(list_kernel *k)
{
    arena_clear(&k->arena);
    kernel_destroy(&k->kernel);
    *k = (list_kernel){.device = k->device};
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

int64_t list_point_bytes(const list_problem *p)
{
    return (COORDINATES + p->values) * NUMBER;
}

double list_bytes(const list_kernel *k, const list_problem *p)
{
    const double padded = (double)blocks_of(k, p) * k->spec.orbitals;
    return padded * (p->e->coefficients + 1.0) * NUMBER + 10.0 * p->e->count * NUMBER;
}

/* ---- Its data -------------------------------------------------------------------------------- */

typedef struct packing {
    const list_problem *p;
    float *centres, *lows; /* [count][4] */
    int32_t *kinds;        /* [count][2] */
} packing;

static void pack(void *context, size_t first, size_t last)
{
    const packing *to = context;
    for (size_t i = first; i < last; i++) {
        const list_problem *p = to->p;
        const expansion_gaussian *g = &p->e->gaussians[i];
        const int derivatives = p->laplacian ? 2 : p->gradient;
        const double reach2 = expansion_reach2(p->e, g, p->coefficients, p->thresholds, p->orbitals, derivatives);
        for (size_t axis = 0; axis < 3; axis++) {
            to->centres[4 * i + axis] = (float)g->centre[axis];
            to->lows[4 * i + axis] = (float)(g->centre[axis] - (double)to->centres[4 * i + axis]);
        }
        to->centres[4 * i + 3] = (float)(-g->exponent * M_LOG2E);
        to->lows[4 * i + 3] = (float)fmin(reach2, 1e30);
        to->kinds[2 * i] = g->l;
        to->kinds[2 * i + 1] = g->first_coefficient;
    }
}

/* Blocks of orbitals, those of a block beside each other; the last one is filled up with zeros. */
static void pack_orbitals(const list_kernel *k, float *coefficients, float *weights)
{
    const list_problem *p = &k->problem;
    const size_t at_once = (size_t)k->spec.orbitals, n = (size_t)p->e->coefficients;
    for (size_t o = 0; o < (size_t)p->orbitals; o++) {
        const size_t block = o / at_once, lane = o % at_once;
        for (size_t i = 0; i < n; i++)
            coefficients[(block * n + i) * at_once + lane] = p->coefficients[o * n + i];
        weights[o] = p->weights != NULL ? (float)p->weights[o] : 0;
    }
}

static ley_status upload(list_kernel *k, const packing *packed, const float *coefficients, const float *weights,
                         ley_error *error)
{
    const size_t n = (size_t)k->problem.e->count, padded = (size_t)k->blocks * (size_t)k->spec.orbitals;
    ley_status status = arena_upload(&k->arena, packed->centres, 4 * n * NUMBER, &k->centres, error);
    if (status == LEY_OK)
        status = arena_upload(&k->arena, packed->lows, 4 * n * NUMBER, &k->lows, error);
    if (status == LEY_OK)
        status = arena_upload(&k->arena, packed->kinds, 2 * n * sizeof(int32_t), &k->kinds, error);
    if (status == LEY_OK)
        status = arena_upload(&k->arena, coefficients, padded * (size_t)k->problem.e->coefficients * NUMBER,
                              &k->coefficients, error);
    return status == LEY_OK ? arena_upload(&k->arena, weights, padded * NUMBER, &k->weights, error) : status;
}

ley_status list_kernel_load(list_kernel *k, const list_problem *problem, ley_error *error)
{
    k->arena.device = k->flight.device = k->device;
    k->problem = *problem;
    k->blocks = blocks_of(k, problem);
    const size_t n = (size_t)problem->e->count, padded = (size_t)k->blocks * (size_t)k->spec.orbitals;
    if ((double)padded * problem->e->coefficients > INT32_MAX)
        return ley_fail(error, LEY_ERROR_NO_DEVICE,
                        "%d orbitals of %d coefficients are more than the kernel can number", problem->orbitals,
                        problem->e->coefficients);
    ley_status status = memory_check_one("the orbitals", list_bytes(k, problem), "fewer orbitals", error);
    if (status != LEY_OK)
        return status;
    packing to = {.p = problem,
                  .centres = calloc(n, 4 * NUMBER),
                  .lows = calloc(n, 4 * NUMBER),
                  .kinds = calloc(n, 2 * sizeof(int32_t))};
    float *coefficients = calloc(padded * (size_t)problem->e->coefficients, NUMBER), *weights = calloc(padded, NUMBER);
    if (to.centres == NULL || to.lows == NULL || to.kinds == NULL || coefficients == NULL || weights == NULL) {
        status = ley_fail_memory(error, (size_t)list_bytes(k, problem), "the orbitals");
    } else {
        parallel_ranges(n, pack, &to);
        pack_orbitals(k, coefficients, weights);
        status = upload(k, &to, coefficients, weights, error);
    }
    free(to.centres);
    free(to.lows);
    free(to.kinds);
    free(coefficients);
    free(weights);
    return status;
}

/* ---- Points ---------------------------------------------------------------------------------- */

static int64_t group_points(const list_kernel *k)
{
    return (int64_t)k->spec.wg * k->spec.width;
}

ley_status list_run_create(list_run *run, list_kernel *k, int64_t most, ley_error *error)
{
    const int64_t pitch = ley_round_up(most, group_points(k));
    const size_t bytes = COORDINATES * (size_t)pitch * NUMBER;
    *run = (list_run){.kernel = k, .places = malloc(bytes)};
    if (run->places == NULL)
        return ley_fail_memory(error, bytes, "points");
    ley_status status = arena_buffer(&k->arena, bytes, DEV_READ_ONLY, &run->points, error);
    return status == LEY_OK ? arena_results(&k->arena, k->problem.values * pitch * NUMBER, &run->values, error)
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
        for (size_t axis = 0; axis < 3; axis++) {
            float *high = &p->places[axis * p->pitch + i];
            *high = (float)place[axis];
            p->places[(axis + 3) * p->pitch + i] = (float)(place[axis] - (double)*high);
        }
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
    const bool is_density = p->weights != NULL;
    const size_t groups[3] = {(size_t)(run->pitch / group_points(k)), 1, 1};
    sequence_launch(&run->command_sequence, &k->kernel, groups,
                    KERNEL_ARGUMENTS(gaussians, .gm_centres = {k->centres}, .gm_lows = {k->lows},
                                     .gm_kinds = {k->kinds}, .n_gaussians = p->e->count, .gm_points = {run->points},
                                     .pitch = (int32_t)run->pitch, .gm_coefficients = {k->coefficients},
                                     .first = first * p->e->coefficients, .gm_weights = {k->weights},
                                     .first_weight = first, .n_orbitals = left < at_once ? left : at_once,
                                     .places = {is_density ? -1 : first, is_density ? 0 : -1, p->gradient ? 1 : -1,
                                                p->laplacian ? p->values - 1 : -1},
                                     .gm_values = {run->values.buffer}),
                    (double)run->pitch * block_point_s(k, p));
}

ley_status list_run_begin(list_run *run, list_place *place, const void *context, int64_t count,
                          const atomic_bool *cancelled, ley_error *error)
{
    list_kernel *k = run->kernel;
    command_sequence *w = &run->command_sequence;
    run->count = count;
    run->pitch = ley_round_up(count, group_points(k));
    const size_t bytes = (size_t)k->problem.values * (size_t)run->pitch * NUMBER;
    list_put_places(run->places, run->pitch, count, place, context);
    sequence_begin(w, &k->flight, cancelled);
    sequence_write(w, run->points, 0, run->places, COORDINATES * (size_t)run->pitch * NUMBER);
    if (k->problem.weights != NULL)
        sequence_fill(w, run->values.buffer, 0, 0, bytes);
    else
        sequence_poison(w, &run->values, bytes);
    for (int32_t block = 0; block < k->blocks; block++)
        launch_block(run, block);
    sequence_read(w, run->values.buffer, 0, run->values.staging, bytes);
    return sequence_status(w, error);
}

ley_status list_run_finish(list_run *run, const float **values, ley_error *error)
{
    const ley_status status = sequence_finish(&run->command_sequence, error);
    *values = run->values.staging->bytes;
    for (int v = 0; status == LEY_OK && v < run->kernel->problem.values; v++)
        for (int64_t i = 0; i < run->count; i++)
            if (!isfinite((*values)[v * run->pitch + i]))
                return sequence_no_number(error);
    return status;
}
