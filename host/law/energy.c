#include "law/energy.h"

#include "error.h"
#include "law/energy_born.h"
#include "law/energy_ewald.h"
#include "law/energy_surface.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Some particles -------------------------------------------------------------------------- */

/* One number of each of some particles, on all cores. */
typedef struct of_each {
    energy_law law;
    const double *radii;
    const int64_t *particle;
    double *made;
} of_each;

static void radii_range(void *context, size_t first, size_t last)
{
    const of_each *o = context;
    for (size_t k = first; k < last; k++)
        o->made[k] = energy_born_radius(&o->law, o->particle[k]);
}

static void slopes_range(void *context, size_t first, size_t last)
{
    const of_each *o = context;
    for (size_t k = first; k < last; k++)
        o->made[k] = energy_born_slope(&o->law, o->radii, o->particle[k]);
}

static void find_each(const energy_frame *frame, int64_t count, void (*range)(void *context, size_t first, size_t last),
                      of_each *o)
{
    ley_error error = {0};
    if (energy_law_begin(frame, &o->law, &error) == LEY_OK)
        parallel_ranges((size_t)count, range, o);
}

void energy_law_radii(const energy_frame *frame, int64_t count, const int64_t *particle, double *radius)
{
    find_each(frame, count, radii_range, &(of_each){.particle = particle, .made = radius});
}

void energy_law_slopes(const energy_frame *frame, const double *radii, int64_t count, const int64_t *particle,
                       double *slope)
{
    find_each(frame, count, slopes_range, &(of_each){.radii = radii, .particle = particle, .made = slope});
}

/* What the sums of all particles share. */
typedef struct shared_sums {
    energy_frame frame;
    ley_energy_options options; /* the frame's, with `forces` as they are wanted */
    energy_law law;
    const double *radii;
    double *weight; /* [particles]; NULL: not wanted */
    double *tail;   /* [types]; NULL: there is none */
    energy_partners *partners;
    energy_ewald *ewald; /* NULL: there is none */
    energy_surface *surface;
} shared_sums;

static void shared_free(shared_sums *s)
{
    free(s->weight);
    free(s->tail);
    energy_partners_destroy(s->partners);
    energy_ewald_destroy(s->ewald);
    energy_surface_destroy(s->surface);
}

static ley_status make_weights(shared_sums *s, const double *slopes, ley_error *error)
{
    const size_t bytes = (size_t)s->law.n * sizeof(double);
    s->weight = malloc(bytes);
    if (s->weight == NULL)
        return ley_fail_memory(error, bytes, "slopes of Born radii");
    for (int64_t i = 0; i < s->law.n; i++)
        s->weight[i] = energy_born_weight(&s->law, i, s->radii[i], slopes[i]);
    return LEY_OK;
}

static ley_status make_tail(shared_sums *s, ley_error *error)
{
    const size_t bytes = (size_t)s->law.of->types * sizeof(double);
    s->tail = malloc(bytes);
    if (s->tail == NULL)
        return ley_fail_memory(error, bytes, "the tail's correction");
    energy_tail(&s->law, s->tail);
    return LEY_OK;
}

/* What sums of these particles share. */
static ley_status shared_make(const energy_frame *frame, const double *radii, const double *slopes, int64_t count,
                              const int64_t *particle, bool with_forces, shared_sums *s, ley_error *error)
{
    *s = (shared_sums){.frame = *frame, .options = *frame->options, .radii = radii};
    s->options.forces = with_forces;
    s->frame.options = &s->options;
    ley_status status = energy_law_begin(&s->frame, &s->law, error);
    if (status == LEY_OK)
        status = energy_partners_create(s->law.of, &s->partners, error);
    if (status == LEY_OK && slopes != NULL)
        status = make_weights(s, slopes, error);
    if (status == LEY_OK && frame->options->tail_correction)
        status = make_tail(s, error);
    if (status == LEY_OK && frame->options->coulomb == LEY_COULOMB_EWALD)
        status = energy_ewald_create(&s->law, count, &s->ewald, error);
    if (status == LEY_OK && frame->options->surface != LEY_SURFACE_NONE)
        status = energy_surface_create(&s->law, count, particle, &s->surface, error);
    if (status != LEY_OK)
        shared_free(s);
    return status;
}

static void sum_particle(const shared_sums *s, int64_t i, energy_sums *sums)
{
    energy_add_pairs(&s->law, s->partners, i, sums);
    if (s->ewald != NULL)
        energy_add_ewald(&s->law, s->ewald, s->partners, i, sums);
    if (s->tail != NULL)
        energy_add_own(&s->law, i, LEY_ENERGY_LENNARD_JONES, s->tail[s->law.of->type[i]], sums);
    if (s->surface != NULL)
        energy_add_surface(&s->law, s->surface, i, sums);
    if (s->radii != NULL)
        energy_add_born(&s->law, s->radii, s->weight, i, sums);
}

/* Some particles, on all cores. */
typedef struct some_work {
    const shared_sums *shared;
    const int64_t *particle;
    double (*energy)[LEY_ENERGY_TERMS], (*absolute)[LEY_ENERGY_TERMS], (*force)[3];
} some_work;

static void some_range(void *context, size_t first, size_t last)
{
    const some_work *w = context;
    for (size_t k = first; k < last; k++) {
        energy_sums sums = {0};
        sum_particle(w->shared, w->particle[k], &sums);
        memcpy(w->energy[k], sums.energy, sizeof sums.energy);
        if (w->absolute != NULL)
            memcpy(w->absolute[k], sums.absolute, sizeof sums.absolute);
        if (w->force != NULL)
            memcpy(w->force[k], sums.force, sizeof sums.force);
    }
}

ley_status energy_law_particles(const energy_frame *frame, const double *radii, const double *slopes, int64_t count,
                                const int64_t *particle, double (*energy)[LEY_ENERGY_TERMS],
                                double (*absolute)[LEY_ENERGY_TERMS], double (*force)[3], ley_error *error)
{
    shared_sums s;
    ley_status status = shared_make(frame, radii, slopes, count, particle, force != NULL, &s, error);
    if (status != LEY_OK)
        return status;
    some_work w = {&s, particle, energy, absolute, force};
    parallel_ranges((size_t)count, some_range, &w);
    shared_free(&s);
    return LEY_OK;
}

/* ---- All of a frame -------------------------------------------------------------------------- */

/* Sums of all particles, on all cores. */
typedef struct frame_work {
    const energy_frame *frame;
    int64_t *all; /* [particles]: 0, 1, ... */
    double *radii, *slopes;
    shared_sums shared;
    energy_sums *sums; /* [particles] */
    double *rows;      /* [particles][LEY_ENERGY_TERMS][groups]; NULL: not wanted */
} frame_work;

static void sums_range(void *context, size_t first, size_t last)
{
    frame_work *w = context;
    const size_t row = (size_t)LEY_ENERGY_TERMS * (size_t)w->frame->options->groups;
    for (size_t i = first; i < last; i++) {
        w->sums[i].row = w->rows == NULL ? NULL : w->rows + i * row;
        sum_particle(&w->shared, (int64_t)i, &w->sums[i]);
    }
}

static void work_free(frame_work *w)
{
    free(w->all);
    free(w->radii);
    free(w->slopes);
    free(w->sums);
    free(w->rows);
}

static ley_status work_make(const energy_frame *frame, bool with_rows, frame_work *w, ley_error *error)
{
    const size_t n = (size_t)frame->particles->particles,
                 row = (size_t)LEY_ENERGY_TERMS * (size_t)frame->options->groups;
    *w = (frame_work){.frame = frame,
                      .all = malloc(n * sizeof *w->all),
                      .radii = calloc(n, sizeof *w->radii),
                      .slopes = calloc(n, sizeof *w->slopes),
                      .sums = calloc(n, sizeof *w->sums),
                      .rows = with_rows ? calloc(n * row, sizeof *w->rows) : NULL};
    if (w->all == NULL || w->radii == NULL || w->slopes == NULL || w->sums == NULL || (with_rows && w->rows == NULL)) {
        work_free(w);
        return ley_fail_memory(error, n * (sizeof *w->sums + row * sizeof(double)), "sums of particles");
    }
    for (size_t i = 0; i < n; i++)
        w->all[i] = (int64_t)i;
    return LEY_OK;
}

/* Of results that are wanted. */
static void store(const frame_work *w, ley_energy_results *results, double (*force)[3])
{
    const ley_energy_options *o = w->frame->options;
    const int64_t n = w->frame->particles->particles, groups = o->groups;
    if (results->terms != NULL)
        memset(results->terms, 0, LEY_ENERGY_TERMS * sizeof *results->terms);
    if (results->matrix != NULL)
        memset(results->matrix, 0, (size_t)(LEY_ENERGY_TERMS * groups * groups) * sizeof *results->matrix);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t term = 0; term < LEY_ENERGY_TERMS; term++) {
            if (results->terms != NULL)
                results->terms[term] += w->sums[i].energy[term];
            if (results->by_particle != NULL)
                results->by_particle[term * n + i] = w->sums[i].energy[term];
            for (int64_t g = 0; g < groups && results->matrix != NULL && o->group[i] >= 0; g++)
                results->matrix[(term * groups + o->group[i]) * groups + g] += w->sums[i].row[term * groups + g];
        }
        if (results->born_radii != NULL)
            results->born_radii[i] = w->radii[i];
        if (force != NULL)
            memcpy(force[i], w->sums[i].force, sizeof force[i]);
    }
}

static ley_status check_finite(const frame_work *w, ley_error *error)
{
    for (int64_t i = 0; i < w->frame->particles->particles; i++)
        for (int term = 0; term < LEY_ENERGY_TERMS; term++)
            if (!isfinite(w->sums[i].energy[term]))
                return ley_fail(error, LEY_ERROR_INPUT,
                                "particle %lld: its energy is not finite: another is at the same place",
                                (long long)i + 1);
    return LEY_OK;
}

ley_status energy_law_frame(const energy_frame *frame, ley_energy_results *results, double (*force)[3],
                            ley_error *error)
{
    const size_t n = (size_t)frame->particles->particles;
    const bool has_born = frame->options->born != LEY_BORN_NONE;
    frame_work w;
    ley_status status = energy_law_check_frame(frame, error);
    if (status == LEY_OK)
        status = work_make(frame, results->matrix != NULL, &w, error);
    if (status != LEY_OK)
        return status;
    if (has_born) {
        energy_law_radii(frame, (int64_t)n, w.all, w.radii);
        energy_law_slopes(frame, w.radii, (int64_t)n, w.all, w.slopes);
    }
    status = shared_make(frame, has_born ? w.radii : NULL, has_born ? w.slopes : NULL, (int64_t)n, w.all, force != NULL,
                         &w.shared, error);
    if (status == LEY_OK) {
        parallel_ranges(n, sums_range, &w);
        status = check_finite(&w, error);
        shared_free(&w.shared);
    }
    if (status == LEY_OK)
        store(&w, results, force);
    work_free(&w);
    return status;
}
