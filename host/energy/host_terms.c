#include "energy/host_terms.h"

#include "energy/surface.h"
#include "error.h"
#include "law/energy_surface.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>

typedef struct adding {
    ley_energy *e;
    energy_batch *b;
    pthread_mutex_t mutex; /* for what follows */
    ley_error failure;
} adding;

static float *energies_of(const adding *a, size_t frame, ley_energy_term term)
{
    return (float *)a->b->energy_back->bytes + (frame * LEY_ENERGY_TERMS + term) * a->e->problem.padded;
}

/* ---- Tails ----------------------------------------------------------------------------------- */

double energy_tail_of(const energy_problem *p, const double *cell_A, int64_t particle)
{
    const double volume = cell_A[0] * (cell_A[4] * cell_A[8] - cell_A[5] * cell_A[7]) +
                          cell_A[1] * (cell_A[5] * cell_A[6] - cell_A[3] * cell_A[8]) +
                          cell_A[2] * (cell_A[3] * cell_A[7] - cell_A[4] * cell_A[6]);
    return p->tail[p->arrays.type[particle]] / fabs(volume);
}

static void add_tails(const adding *a, size_t frame)
{
    const energy_problem *p = &a->e->problem;
    const energy_frame f = energy_run_frame(a->e, a->b->first + (int64_t)frame);
    float *energy = energies_of(a, frame, LEY_ENERGY_LENNARD_JONES);
    for (size_t i = 0; i < p->count; i++)
        energy[i] = (float)((double)energy[i] + energy_tail_of(p, f.cell_A, p->order[i]));
}

/* ---- Surfaces -------------------------------------------------------------------------------- */

static bool has_surface(const energy_problem *p)
{
    return p->options.surface != LEY_SURFACE_NONE && !energy_surface_is_devices(p);
}

static ley_status add_surface(const adding *a, size_t frame, ley_error *error)
{
    const energy_problem *p = &a->e->problem;
    const energy_frame f = energy_run_frame(a->e, a->b->first + (int64_t)frame);
    float *energy = energies_of(a, frame, LEY_ENERGY_SURFACE),
          (*force)[4] = p->options.forces ? (float(*)[4])a->b->force_back->bytes + frame * p->padded : NULL;
    energy_law law;
    energy_surface *surface = NULL;
    int64_t *all = malloc(p->count * sizeof *all);
    ley_status status = all != NULL ? energy_law_begin(&f, &law, error)
                                    : ley_fail_memory(error, p->count * sizeof *all, "surfaces of particles");
    for (size_t i = 0; i < p->count && all != NULL; i++)
        all[i] = (int64_t)i;
    if (status == LEY_OK)
        status = energy_surface_create(&law, (int64_t)p->count, all, &surface, error);
    for (size_t i = 0; i < p->count && status == LEY_OK; i++) {
        energy_sums sums = {.row = NULL};
        energy_add_surface(&law, surface, p->order[i], &sums);
        energy[i] = (float)sums.energy[LEY_ENERGY_SURFACE];
        for (int d = 0; d < 3 && force != NULL; d++)
            force[i][d] += (float)sums.force[d];
    }
    energy_surface_destroy(surface);
    free(all);
    return status;
}

/* ---- Both ------------------------------------------------------------------------------------ */

static void add_frames(void *context, size_t first, size_t last)
{
    adding *a = context;
    const energy_problem *p = &a->e->problem;
    for (size_t frame = first; frame < last; frame++) {
        ley_error error = {.status = LEY_OK};
        if (p->tail != NULL)
            add_tails(a, frame);
        if (!has_surface(p) || add_surface(a, frame, &error) == LEY_OK)
            continue;
        pthread_mutex_lock(&a->mutex);
        ley_error_copy(&a->failure, &error);
        pthread_mutex_unlock(&a->mutex);
        ley_error_clear(&error);
    }
}

ley_status energy_add_host_terms(ley_energy *e, energy_batch *b, ley_error *error)
{
    adding a = {.e = e, .b = b, .failure = {.status = LEY_OK}};
    if (e->problem.tail == NULL && !has_surface(&e->problem))
        return LEY_OK;
    pthread_mutex_init(&a.mutex, NULL);
    parallel_ranges((size_t)b->frames, add_frames, &a);
    pthread_mutex_destroy(&a.mutex);
    const ley_status status = a.failure.status;
    if (status != LEY_OK)
        ley_error_copy(error, &a.failure);
    ley_error_clear(&a.failure);
    return status;
}
