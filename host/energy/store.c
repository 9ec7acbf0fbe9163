#include "energy/store.h"

#include "energy/host_terms.h"
#include "error.h"
#include "law/energy_parts.h"
#include "parallel.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

bool energy_has_term(const energy_problem *p, ley_energy_term term)
{
    const bool has_lj = p->options.lennard_jones != LEY_LENNARD_JONES_NONE,
               has_coulomb = p->options.coulomb != LEY_COULOMB_NONE, has_14 = p->arrays.pairs_14 > 0;
    return term == LEY_ENERGY_LENNARD_JONES      ? has_lj
           : term == LEY_ENERGY_LENNARD_JONES_14 ? has_lj && has_14
           : term == LEY_ENERGY_COULOMB          ? has_coulomb
           : term == LEY_ENERGY_COULOMB_14       ? has_coulomb && has_14
           : term == LEY_ENERGY_BORN             ? p->options.born != LEY_BORN_NONE
                                                 : p->options.surface != LEY_SURFACE_NONE;
}

/* ---- Particles at the same place ------------------------------------------------------------- */

static bool is_excluded(const ley_particles_arrays *a, int64_t i, int64_t j)
{
    for (int64_t k = 0; k < a->exclusions; k++)
        if ((a->exclusion[k][0] == i && a->exclusion[k][1] == j) ||
            (a->exclusion[k][0] == j && a->exclusion[k][1] == i))
            return true;
    return false;
}

/* The particle that is nearest to i, of those that are not excluded or of all. */
static int64_t nearest(const energy_frame *f, int64_t i, bool all, double *distance_A)
{
    energy_law law;
    int64_t found = i;
    *distance_A = INFINITY;
    if (energy_law_begin(f, &law, NULL) != LEY_OK)
        return i;
    for (int64_t j = 0; j < law.n; j++) {
        double way_A[3];
        const double r_A = j == i ? INFINITY : sqrt(energy_way(&law, i, j, way_A));
        if (r_A < *distance_A && (all || !is_excluded(f->particles, i, j))) {
            *distance_A = r_A;
            found = j;
        }
    }
    return found;
}

/* Energies beyond this are of particles that are nearer to each other than that: floats are about
 * to overflow, or the energy is infinite. A device may have those of a frame infinite that has one
 * beyond extreme_energy: sums of 64 bits end there (listed.h). */
static const double most_energy = 1e20, overlap_A = 0.1, extreme_energy = 1e8;

/* Of a frame whose energies are infinite, or whose forces are as floats: names two particles that
 * are at the same place, or nearly; the first one is looked for from a particle on. */
static ley_status name_pair(const ley_energy *e, int64_t frame, int64_t from, const char *what, ley_error *error)
{
    const energy_frame f = energy_run_frame(e, frame);
    const int64_t n = f.particles->particles;
    int64_t i = from, j = 0;
    double r_A = INFINITY;
    for (int64_t k = 0; k < n && !(r_A < overlap_A); k++) {
        i = (from + k) % n;
        j = nearest(&f, i, false, &r_A);
    }
    return ley_fail(error, LEY_ERROR_INPUT, "frame %lld: particles %lld and %lld are %.3g A from each other: their %s",
                    frame_number(&e->queue, frame), (long long)(i < j ? i : j) + 1, (long long)(i < j ? j : i) + 1, r_A,
                    what);
}

/* ---- The host -------------------------------------------------------------------------------- */

static double largest_of(const double *value, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(value[i]));
    return largest;
}

/* The law's frame, whose results have energies by particle, as floats. */
static ley_status store_law(ley_energy *e, int64_t frame, int64_t from, ley_energy_results *r, double (*force)[3],
                            ley_error *error)
{
    const energy_frame f = energy_run_frame(e, frame);
    ley_status status = energy_law_frame(&f, r, force, error);
    if (status == LEY_ERROR_INPUT) {
        ley_error_clear(error);
        status = name_pair(e, frame, from, "energy is infinite", error);
    }
    for (size_t i = 0; i < 3 * (size_t)f.particles->particles && force != NULL && status == LEY_OK; i++) {
        r->forces[i] = (float)force[i / 3][i % 3];
        if (!isfinite(r->forces[i]))
            status = name_pair(e, frame, (int64_t)i / 3, "force is beyond what a float has", error);
    }
    return status;
}

/* `largest`, if not NULL: energy of a particle. */
static ley_status store_by_host(ley_energy *e, int64_t frame, int64_t from, double *largest, ley_error *error)
{
    const size_t n = (size_t)e->problem.arrays.particles, all = LEY_ENERGY_TERMS * n;
    ley_energy_results r = energy_run_results(e, frame);
    double(*force)[3] = r.forces != NULL ? malloc(n * sizeof *force) : NULL;
    double *own = largest != NULL && r.by_particle == NULL ? malloc(all * sizeof *own) : NULL;
    const bool wants_own = largest != NULL && r.by_particle == NULL;
    ley_status status = (r.forces != NULL && force == NULL) || (wants_own && own == NULL)
                            ? ley_fail_memory(error, n * sizeof *force + all * sizeof *own, "a frame of the host's")
                            : LEY_OK;
    if (wants_own)
        r.by_particle = own;
    if (status == LEY_OK)
        status = store_law(e, frame, from, &r, force, error);
    if (status == LEY_OK && largest != NULL)
        *largest = largest_of(r.by_particle, all);
    free(force);
    free(own);
    return status;
}

ley_status energy_store_host(ley_energy *e, int64_t frame, int64_t from, ley_error *error)
{
    return store_by_host(e, frame, from, NULL, error);
}

/* ---- Batches --------------------------------------------------------------------------------- */

enum { ALL_RIGHT = -1, WRONG_MATRIX = -2, WRONG_PLACES = -3 };

typedef struct storing {
    ley_energy *e;
    const energy_batch *b;
    int64_t *bad;       /* [frames]: a particle whose energy is no finite number; or one of those */
    atomic_bool *wrong; /* [frames]: a row of a matrix is not the particles' */
} storing;

static int column_of(ley_energy_term term)
{
    return term == LEY_ENERGY_LENNARD_JONES ? LEY_COLUMN_LENNARD_JONES
           : term == LEY_ENERGY_COULOMB     ? LEY_COLUMN_COULOMB
           : term == LEY_ENERGY_BORN        ? LEY_COLUMN_BORN
                                            : -1;
}

/* In double precision, several sums side by side: one addition need not wait for another. */
static double sum_of(const float *energy, size_t count)
{
    enum { SUMS = 8 };
    double part[SUMS] = {0}, sum = 0;
    const size_t whole = count / SUMS * SUMS;
    for (size_t i = 0; i < whole; i += SUMS)
        for (size_t k = 0; k < SUMS; k++)
            part[k] += (double)energy[i + k];
    for (size_t k = 0; k < SUMS; k++)
        sum += part[k];
    for (size_t i = whole; i < count; i++)
        sum += (double)energy[i];
    return sum;
}

/* Whether all is as it can be. */
static bool store_term(const storing *s, int frame, ley_energy_term term, const ley_energy_results *r)
{
    const energy_problem *p = &s->e->problem;
    const float *energy =
        (const float *)s->b->energy_back->bytes + ((size_t)frame * LEY_ENERGY_TERMS + term) * p->padded;
    const double sum = sum_of(energy, p->count);
    if (r->terms != NULL)
        r->terms[term] = sum;
    for (size_t i = 0; i < p->count && r->by_particle != NULL; i++)
        r->by_particle[(size_t)term * p->count + (size_t)p->order[i]] = (double)energy[i];
    const bool is_right = fabs(sum) < most_energy;
    double largest = 0;
    for (size_t i = 0; i < p->count && !is_right; i++)
        if (!(fabs((double)energy[i]) <= largest)) { /* the largest one, or the last that is no number */
            largest = fabs((double)energy[i]);
            s->bad[frame] = p->order[i];
        }
    return is_right;
}

/* A pair of the list 1-4 counts half for each of the two. */
static void add_matrix_14(const ley_energy *e, int64_t frame, const ley_energy_results *r)
{
    const energy_frame f = energy_run_frame(e, frame);
    const ley_particles_arrays *a = f.particles;
    const ley_energy_options *o = f.options;
    const int64_t groups = o->groups;
    energy_law law;
    if (energy_law_begin(&f, &law, NULL) != LEY_OK)
        return;
    for (int64_t k = 0; k < a->pairs_14; k++) {
        const int32_t i = a->pair_14[k][0], j = a->pair_14[k][1], g = o->group[i], h = o->group[j];
        double way_A[3];
        if (g < 0 || h < 0)
            continue;
        const double r2 = energy_way(&law, i, j, way_A), sixth = 1 / (r2 * r2 * r2),
                     half[2] = {sixth * (a->pair_14_a[k] * sixth - a->pair_14_b[k]) / 2,
                                e->problem.coulomb * a->pair_14_charges[k] / sqrt(r2) / 2};
        const ley_energy_term terms[2] = {LEY_ENERGY_LENNARD_JONES_14, LEY_ENERGY_COULOMB_14};
        for (int t = 0; t < 2; t++)
            if (energy_has_term(&e->problem, terms[t])) {
                r->matrix[((int64_t)terms[t] * groups + g) * groups + h] += half[t];
                r->matrix[((int64_t)terms[t] * groups + h) * groups + g] += half[t];
            }
    }
}

/* LCPO's energies are of one particle. */
static void add_matrix_surface(const storing *s, int frame, const ley_energy_results *r)
{
    const energy_problem *p = &s->e->problem;
    const float *energy =
        (const float *)s->b->energy_back->bytes + ((size_t)frame * LEY_ENERGY_TERMS + LEY_ENERGY_SURFACE) * p->padded;
    const int64_t groups = p->law_options.groups;
    for (int64_t g = 0; g < groups; g++)
        for (int32_t i = p->column_first[g]; i < p->column_first[g + 1]; i++)
            r->matrix[((int64_t)LEY_ENERGY_SURFACE * groups + g) * groups + g] += (double)energy[i];
}

/* A term's elements of a row, which is stored where one is given; `own` is what the group's
 * particles have alone. Whether their sum is that of the particles' energies, which came back by
 * another way. */
static bool store_row(const storing *s, int frame, ley_energy_term term, size_t g, double own, double *row)
{
    static const double allowed = 1e-5, least = 1e-4;
    enum { SUMS = 4 }; /* side by side: one addition need not wait for another */
    const energy_problem *p = &s->e->problem;
    const size_t all = (size_t)p->options.groups, stored = row != NULL ? (size_t)p->law_options.groups : 0;
    const float(*from)[2] = (const float(*)[2])s->b->matrix_back->bytes +
                            (((size_t)frame * LEY_COLUMN_COUNT + (size_t)column_of(term)) * all + g) * all;
    const float *energy =
        (const float *)s->b->energy_back->bytes + ((size_t)frame * LEY_ENERGY_TERMS + term) * p->padded;
    double part[SUMS] = {own}, size[SUMS] = {fabs(own)}, off = 0, absolute = 0;
    for (size_t h = 0; h < stored / SUMS * SUMS; h += SUMS)
        for (size_t k = 0; k < SUMS; k++) {
            const double element = (double)from[h + k][0] + (double)from[h + k][1];
            part[k] += element;
            size[k] += fabs(element);
            row[h + k] = element;
        }
    for (size_t h = stored / SUMS * SUMS; h < all; h++) {
        const double element = (double)from[h][0] + (double)from[h][1];
        part[0] += element;
        size[0] += fabs(element);
        if (h < stored)
            row[h] = element;
    }
    if (row != NULL)
        row[g] += own;
    for (size_t k = 0; k < SUMS; k++) {
        off += part[k];
        absolute += size[k];
    }
    for (int32_t i = p->column_first[g]; i < p->column_first[g + 1]; i++) {
        off -= (double)energy[i];
        absolute += fabs((double)energy[i]);
    }
    return fabs(off) <= allowed * absolute + least;
}

/* Rows of all frames and terms; of terms without elements 0. */
static void store_rows(void *context, size_t first, size_t last)
{
    const storing *s = context;
    const energy_problem *p = &s->e->problem;
    const size_t all = (size_t)p->options.groups, groups = (size_t)p->law_options.groups;
    for (size_t n = first; n < last; n++) {
        const size_t g = n % all, f = n / all / LEY_ENERGY_TERMS;
        const ley_energy_term term = (ley_energy_term)(n / all % LEY_ENERGY_TERMS);
        const energy_frame frame = energy_run_frame(s->e, s->b->first + (int64_t)f);
        double *matrix = energy_run_results(s->e, s->b->first + (int64_t)f).matrix,
               *row = g < groups ? matrix + ((size_t)term * groups + g) * groups : NULL, own = 0;
        if (column_of(term) < 0 || !energy_has_term(p, term)) {
            if (row != NULL)
                memset(row, 0, groups * sizeof *row);
            continue;
        }
        for (int32_t i = p->column_first[g];
             i < p->column_first[g + 1] && term == LEY_ENERGY_LENNARD_JONES && p->tail != NULL; i++)
            own += energy_tail_of(p, frame.cell_A, p->order[i]);
        if (!store_row(s, (int)f, term, g, own, row))
            atomic_store(&s->wrong[f], true);
    }
}

/* 0: all are numbers; of those that nobody wants, too. */
static float no_numbers(const dev_staging *staging, size_t frame, const energy_problem *p)
{
    const float *value = staging != NULL ? (const float *)staging->bytes + frame * p->padded : NULL;
    float nothing = 0;
    for (size_t i = 0; i < p->count && value != NULL; i++)
        nothing += 0 * value[i];
    return nothing;
}

/* Whether all are numbers. */
static bool store_places(const storing *s, int frame, const ley_energy_results *r)
{
    const energy_problem *p = &s->e->problem;
    float nothing = no_numbers(s->b->radius_back, (size_t)frame, p) + no_numbers(s->b->slope_back, (size_t)frame, p);
    if (r->forces != NULL) {
        const float(*force)[4] = (const float(*)[4])s->b->force_back->bytes + (size_t)frame * p->padded;
        for (size_t i = 0; i < p->count; i++) {
            memcpy(r->forces + 3 * (size_t)p->order[i], force[i], 3 * sizeof(float));
            nothing += 0 * force[i][0] + 0 * force[i][1] + 0 * force[i][2];
        }
    }
    if (r->born_radii != NULL) {
        const float *radius = (const float *)s->b->radius_back->bytes + (size_t)frame * p->padded;
        for (size_t i = 0; i < p->count; i++)
            r->born_radii[p->order[i]] = (double)radius[i];
    }
    return nothing == 0;
}

static void store_frames(void *context, size_t first, size_t last)
{
    const storing *s = context;
    const energy_problem *p = &s->e->problem;
    for (size_t f = first; f < last; f++) {
        const ley_energy_results r = energy_run_results(s->e, s->b->first + (int64_t)f);
        bool is_right = true;
        s->bad[f] = ALL_RIGHT;
        for (int term = 0; term < LEY_ENERGY_TERMS && is_right; term++) {
            if (energy_has_term(p, (ley_energy_term)term)) {
                is_right = store_term(s, (int)f, (ley_energy_term)term, &r);
                continue;
            }
            if (r.terms != NULL)
                r.terms[term] = 0;
            if (r.by_particle != NULL)
                memset(r.by_particle + (size_t)term * p->count, 0, p->count * sizeof *r.by_particle);
        }
        if (is_right && r.matrix != NULL) {
            add_matrix_14(s->e, s->b->first + (int64_t)f, &r);
            if (energy_has_term(p, LEY_ENERGY_SURFACE))
                add_matrix_surface(s, (int)f, &r);
            s->bad[f] = atomic_load(&s->wrong[f]) ? WRONG_MATRIX : ALL_RIGHT;
        }
        if (is_right && !store_places(s, (int)f, &r))
            s->bad[f] = WRONG_PLACES;
    }
}

static bool is_number(const ley_energy *e, const energy_batch *b, int frame, int64_t particle)
{
    const energy_problem *p = &e->problem;
    const float *of = (const float *)b->energy_back->bytes + (size_t)frame * LEY_ENERGY_TERMS * p->padded +
                      (size_t)p->place[particle];
    for (int term = 0; term < LEY_ENERGY_TERMS; term++)
        if (energy_has_term(p, (ley_energy_term)term) && isnan(of[(size_t)term * p->padded]))
            return false;
    return true;
}

static bool has_overlap(const energy_frame *f)
{
    double r_A = INFINITY;
    for (int64_t i = 0; i < f->particles->particles && !(r_A < overlap_A); i++)
        nearest(f, i, false, &r_A);
    return r_A < overlap_A;
}

/* A frame with an energy that is huge, or no number: the host's, where particles are so near to
 * each other, or energies extreme. */
static ley_status store_bad(ley_energy *e, const energy_batch *b, int frame, int64_t particle, ley_error *error)
{
    const energy_frame f = energy_run_frame(e, b->first + frame);
    double r_A, largest = 0;
    nearest(&f, particle, true, &r_A);
    const bool overlaps = r_A < overlap_A, may_be = overlaps || is_number(e, b, frame, particle);
    const ley_status status = may_be ? store_by_host(e, b->first + frame, particle, &largest, error) : LEY_OK;
    return status != LEY_OK || overlaps || largest > extreme_energy || (may_be && has_overlap(&f))
               ? status
               : ley_fail(error, LEY_ERROR_WRONG_RESULT,
                          "frame %lld: the energy of particle %lld is no number, or huge",
                          frame_number(&e->queue, b->first + frame), (long long)particle + 1);
}

/* One with a force or a radius that is no number. */
static ley_status store_places_again(ley_energy *e, const energy_batch *b, int frame, ley_error *error)
{
    const energy_frame f = energy_run_frame(e, b->first + frame);
    return has_overlap(&f)
               ? energy_store_host(e, b->first + frame, 0, error)
               : ley_fail(error, LEY_ERROR_WRONG_RESULT, "frame %lld: a force or a Born radius is no number",
                          frame_number(&e->queue, b->first + frame));
}

ley_status energy_store_batch(ley_energy *e, energy_batch *b, bool *by_host, ley_error *error)
{
    ley_status status = energy_add_host_terms(e, b, error);
    if (status != LEY_OK)
        return status;
    const size_t frames = (size_t)b->frames,
                 groups = e->run.results.matrix != NULL ? (size_t)e->problem.options.groups : 0;
    storing s = {.e = e, .b = b, .bad = malloc(frames * sizeof *s.bad), .wrong = calloc(frames, sizeof *s.wrong)};
    if (s.bad == NULL || s.wrong == NULL) {
        free(s.bad);
        free(s.wrong);
        return ley_fail_memory(error, frames * sizeof *s.bad, "a batch of frames");
    }
    parallel_ranges(frames * LEY_ENERGY_TERMS * groups, store_rows, &s);
    parallel_ranges(frames, store_frames, &s);
    for (int f = 0; f < b->frames && status == LEY_OK; f++)
        if (s.bad[f] == WRONG_MATRIX)
            status = ley_fail(error, LEY_ERROR_WRONG_RESULT, "frame %lld: energies of groups are not their particles'",
                              frame_number(&e->queue, b->first + f));
        else if (s.bad[f] == WRONG_PLACES)
            status = store_places_again(e, b, f, error);
        else if (s.bad[f] >= 0)
            status = store_bad(e, b, f, s.bad[f], error);
    for (int f = 0; f < b->frames; f++)
        by_host[f] = s.bad[f] != ALL_RIGHT;
    free(s.bad);
    free(s.wrong);
    return status;
}
