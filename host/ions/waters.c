/* Water molecules, and ions in their places. */
#include "clock.h"
#include "error.h"
#include "ions/bins.h"
#include "ions/internal.h"
#include "ions/search.h"
#include "memory.h"
#include "parallel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Molecules ------------------------------------------------------------------------------- */

static const char *const residues[] = {"HOH",  "WAT", "H2O", "SOL", "TIP3", "TIP", "TP3",  "T3P", "TIP4", "TP4", "T4P",
                                       "TIP5", "TP5", "T5P", "SPC", "SPCE", "OPC", "OPC3", "DOD", "HHO",  "OHH", "W"};

const char *ley_waters_residue(size_t i)
{
    return i < sizeof residues / sizeof *residues ? residues[i] : NULL;
}

void ley_waters_destroy(ley_waters *w)
{
    if (w == NULL)
        return;
    free(w->water);
    free(w->oxygen);
    free(w);
}

size_t ley_waters_count(const ley_waters *w)
{
    return w->count;
}

const int32_t *ley_waters_numbers(const ley_waters *w)
{
    return w->water;
}

int64_t ley_waters_oxygen(const ley_waters *w, size_t i)
{
    return w->oxygen[i];
}

ley_status ley_waters_create(size_t n, const int32_t *water, size_t count, const int64_t *oxygen, ley_waters **made,
                             ley_error *error)
{
    if (count == 0 || n == 0)
        return ley_fail(error, LEY_ERROR_INPUT, "there is no water molecule");
    for (size_t i = 0; i < n; i++)
        if (water[i] < -1 || water[i] >= (int64_t)count)
            return ley_fail(error, LEY_ERROR_INPUT, "atom %zu is of water %d, and there are %zu, from 0; -1: of none",
                            i + 1, water[i], count);
    for (size_t i = 0; i < count; i++)
        if (oxygen[i] < 0 || (uint64_t)oxygen[i] >= n || water[oxygen[i]] != (int64_t)i)
            return ley_fail(error, LEY_ERROR_INPUT, "water %zu has an oxygen, atom %lld, that is none of its atoms", i,
                            (long long)oxygen[i]);
    ley_waters *w = calloc(1, sizeof *w);
    if (w != NULL) {
        *w = (ley_waters){
            .atoms = n, .count = count, .water = malloc(n * sizeof *water), .oxygen = malloc(count * sizeof *oxygen)};
        if (w->water != NULL && w->oxygen != NULL) {
            memcpy(w->water, water, n * sizeof *water);
            memcpy(w->oxygen, oxygen, count * sizeof *oxygen);
            *made = w;
            return LEY_OK;
        }
    }
    ley_waters_destroy(w);
    return ley_fail_memory(error, n * sizeof *water, "the water molecules");
}

/* ---- Places ---------------------------------------------------------------------------------- */

typedef struct site {
    double place_A[3]; /* from the origin; in a periodic cell within it */
    double solute;     /* the solute's potential, e/A: as it was computed, or exact: */
    double ions;       /* that of ions so far, exact */
    double absolute;
    bool is_exact, is_left_out;
} site;

typedef struct waters_search {
    ions_task *t;
    size_t count;
    site *sites;
    double delta; /* what potentials that are not exact may be off by, e/A */
    int64_t recomputed;
} waters_search;

/* Within the cell, where the images of the solute are known. */
static void wrap(const cell *c, double at_A[3])
{
    double component[3];
    if (c->dimensions == 0)
        return;
    cell_components(c, at_A, component);
    for (int i = 0; i < 3; i++)
        for (int axis = 0; axis < 3; axis++)
            at_A[axis] -= floor(component[i]) * c->vector_A[i][axis];
}

static void cell_box(const cell *c, double low_A[3], double high_A[3])
{
    for (int axis = 0; axis < 3; axis++) {
        low_A[axis] = high_A[axis] = 0;
        for (int i = 0; i < 3 && c->dimensions > 0; i++) {
            low_A[axis] += fmin(0, c->vector_A[i][axis]);
            high_A[axis] += fmax(0, c->vector_A[i][axis]);
        }
    }
}

typedef struct leaving_out {
    waters_search *s;
    const bins *b;
    double reach_A;
} leaving_out;

static void leave_out_some(void *context, size_t first, size_t last)
{
    const leaving_out *l = context;
    for (size_t i = first; i < last; i++)
        l->s->sites[i].is_left_out = bins_has_within(l->b, l->s->sites[i].place_A, l->reach_A);
}

static ley_status leave_out_near(waters_search *s, ley_error *error)
{
    const double *at_A[3];
    const size_t n = exact_near(s->t->exact, &at_A[0], &at_A[1], &at_A[2]);
    const double reach_A = s->t->o.from_solute_A;
    bins *b;
    const ley_status status = bins_create(n, at_A, reach_A, &b, error);
    if (status != LEY_OK)
        return status;
    leaving_out l = {s, b, reach_A};
    parallel_ranges(s->count, leave_out_some, &l);
    s->t->ions->how.nodes = (int64_t)s->count;
    for (size_t i = 0; i < s->count; i++)
        s->t->ions->how.free_nodes += !s->sites[i].is_left_out;
    bins_destroy(b);
    return LEY_OK;
}

static ley_status take_potential(waters_search *s, ley_error *error)
{
    ley_points *points = NULL;
    double *at_A = malloc(3 * s->count * sizeof *at_A);
    if (s->t->solute == NULL || !(ley_atoms_charge_magnitude_e(s->t->solute) > 0)) {
        free(at_A);
        return LEY_OK;
    }
    if (at_A == NULL)
        return ley_fail_memory(error, 3 * s->count * sizeof *at_A, "the waters' places");
    for (size_t i = 0; i < s->count; i++)
        memcpy(at_A + 3 * i, s->sites[i].place_A, 3 * sizeof *at_A);
    ley_status status = ley_points_create((int64_t)s->count, at_A, &points, error);
    if (status == LEY_OK)
        status = ions_potential(s->t, s->t->solute, (ley_target){.points = points}, error);
    for (size_t i = 0; i < s->count && status == LEY_OK; i++)
        s->sites[i].solute = ley_points_read_values(points)[i] / s->t->constant;
    ley_points_destroy(points);
    free(at_A);
    return status;
}

/* ---- The best one ---------------------------------------------------------------------------- */

static ley_status recompute(waters_search *s, size_t n, const size_t *which, double *off, ley_error *error)
{
    double(*place_A)[3] = malloc((n + 1) * sizeof *place_A);
    exact_value *values = malloc((n + 1) * sizeof *values);
    ley_status status =
        place_A != NULL && values != NULL ? LEY_OK : ley_fail_memory(error, n * sizeof *values, "places to recompute");
    for (size_t i = 0; i < n && status == LEY_OK; i++)
        memcpy(place_A[i], s->sites[which[i]].place_A, sizeof *place_A);
    if (status == LEY_OK)
        status = exact_at(s->t->exact, n, (const double(*)[3])place_A, values, error);
    for (size_t i = 0; i < n && status == LEY_OK; i++) {
        site *place = &s->sites[which[i]];
        *off = fmax(*off, fabs(place->solute - values[i].potential));
        place->solute = values[i].potential;
        place->absolute += values[i].absolute;
        place->is_exact = true;
    }
    s->recomputed += (int64_t)n;
    free(place_A);
    free(values);
    return status;
}

static double energy_of(const site *place, double charge_e)
{
    return charge_e * (place->solute + place->ions);
}

/* Makes exact all that may be best; how many have less energy than what that comes to, by no more
 * than rounding. */
static ley_status make_certain(waters_search *s, double charge_e, size_t *which, size_t *best, ley_error *error)
{
    for (;;) {
        double least = INFINITY, off = 0;
        size_t n = 0;
        for (size_t i = 0; i < s->count; i++)
            if (!s->sites[i].is_left_out && energy_of(&s->sites[i], charge_e) < least) {
                least = energy_of(&s->sites[i], charge_e);
                *best = i;
            }
        if (!isfinite(least))
            return ley_fail(error, LEY_ERROR_INPUT, "no water is left");
        for (size_t i = 0; i < s->count; i++)
            if (!s->sites[i].is_left_out && !s->sites[i].is_exact &&
                energy_of(&s->sites[i], charge_e) <= least + 2 * s->delta * fabs(charge_e))
                which[n++] = i;
        if (n == 0)
            return LEY_OK;
        const ley_status status = recompute(s, n, which, &off, error);
        if (status != LEY_OK)
            return status;
        s->delta = off > s->delta ? 2 * off : s->delta;
    }
}

static size_t choose(const waters_search *s, double charge_e, size_t best, size_t *which)
{
    const double equal = 1e-12,
                 most = energy_of(&s->sites[best], charge_e) + equal * fabs(charge_e) * s->sites[best].absolute;
    size_t n = 0;
    for (size_t i = 0; i < s->count; i++)
        if (!s->sites[i].is_left_out && energy_of(&s->sites[i], charge_e) <= most)
            which[n++] = i;
    return which[search_choice(s->t->o.seed, (size_t)s->t->ions->count, n)];
}

typedef struct adding {
    waters_search *s;
    double charge_e, place_A[3];
} adding;

static void add_ion(void *context, size_t first, size_t last)
{
    const adding *a = context;
    const double between_A = a->s->t->o.between_A;
    for (size_t i = first; i < last; i++) {
        site *place = &a->s->sites[i];
        double way_A[3];
        if (place->is_left_out)
            continue;
        for (int axis = 0; axis < 3; axis++)
            way_A[axis] = place->place_A[axis] - a->place_A[axis];
        const double d2 = exact_distance_A2(a->s->t->exact, way_A);
        if (d2 == 0 || d2 < between_A * between_A) {
            place->is_left_out = true;
            continue;
        }
        const double term = a->charge_e * exact_pair(a->s->t->exact, way_A);
        place->ions += term;
        place->absolute += fabs(term);
    }
}

static ley_status place_one(waters_search *s, size_t species, size_t *which, ley_error *error)
{
    ions_task *t = s->t;
    const double charge_e = t->o.species[species].charge_e;
    size_t best = 0;
    ley_status status = make_certain(s, charge_e, which, &best, error);
    if (status == LEY_ERROR_INPUT)
        return ions_no_room(t, species, error);
    if (status != LEY_OK)
        return status;
    best = choose(s, charge_e, best, which);
    const ley_waters *w = t->o.waters;
    const double energy = t->constant * energy_of(&s->sites[best], charge_e);
    status =
        ions_add(t, species, ley_atoms_positions_A(t->atoms) + 3 * w->oxygen[best], NULL, (int64_t)best, energy, error);
    for (size_t i = 0; i < w->atoms && status == LEY_OK; i++)
        if (w->water[i] == (int32_t)best) {
            t->ions->is_removed[i] = true;
            t->charge_e -= ley_atoms_charges_e(t->atoms)[i];
        }
    adding a = {s, charge_e, {0}};
    memcpy(a.place_A, s->sites[best].place_A, sizeof a.place_A);
    parallel_ranges(s->count, add_ion, &a);
    s->sites[best].is_left_out = true;
    t->ions->how.waters_removed++;
    return status;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static ley_status begin(waters_search *s, ley_error *error)
{
    static const double origin_A[3] = {0, 0, 0};
    ions_task *t = s->t;
    const double *position_A = ley_atoms_positions_A(t->atoms), start_s = ley_clock_s();
    double low_A[3], high_A[3];
    cell_box(&t->cell, low_A, high_A);
    for (size_t i = 0; i < s->count; i++) {
        memcpy(s->sites[i].place_A, position_A + 3 * t->o.waters->oxygen[i], sizeof s->sites[i].place_A);
        wrap(&t->cell, s->sites[i].place_A);
    }
    const exact_options options = {.atoms = t->solute,
                                   .origin_A = origin_A,
                                   .low_A = low_A,
                                   .high_A = high_A,
                                   .from_A = t->o.from_solute_A,
                                   .cell = &t->cell,
                                   .is_square = t->o.distance_dielectric,
                                   .points = 1000};
    ley_status status = exact_create(&options, &t->exact, error);
    if (status == LEY_OK)
        status = leave_out_near(s, error);
    t->ions->how.mask_s = ley_clock_s() - start_s;
    if (status == LEY_OK)
        status = take_potential(s, error);
    t->ions->how.potential_s = ley_clock_s() - start_s - t->ions->how.mask_s;
    return status;
}

/* What the potential is off by at the places that are best at first. */
static ley_status find_delta(waters_search *s, size_t *which, ley_error *error)
{
    enum { SAMPLE = 16 };
    double off = 0, largest = 0;
    size_t n = 0;
    for (int sign = 1; sign >= -1; sign -= 2)
        for (int k = 0; k < SAMPLE; k++) {
            double least = INFINITY;
            size_t best = 0;
            for (size_t i = 0; i < s->count; i++) {
                bool is_taken = s->sites[i].is_left_out;
                for (size_t j = 0; j < n && !is_taken; j++)
                    is_taken = which[j] == i;
                if (!is_taken && sign * s->sites[i].solute < least) {
                    least = sign * s->sites[i].solute;
                    best = i;
                }
            }
            if (isfinite(least)) {
                which[n++] = best;
                largest = fmax(largest, fabs(least));
            }
        }
    const ley_status status = recompute(s, n, which, &off, error);
    s->delta = fmax(4 * off, 1e-7 * largest);
    return status;
}

static ley_status place_all(waters_search *s, size_t *which, ley_error *error)
{
    ions_task *t = s->t;
    const double water_A3 = 29.97; /* of a molecule at 298 K */
    const double start_s = ley_clock_s();
    size_t species;
    t->ions->how.volume_A3 = t->cell.dimensions > 0 ? t->cell.measure : water_A3 * (double)s->count;
    ley_status status = ions_count(t, t->ions->how.volume_A3, error);
    if (status == LEY_OK)
        status = find_delta(s, which, error);
    while (status == LEY_OK && ions_next(t, &species)) {
        status = place_one(s, species, which, error);
        if (status == LEY_OK && ions_is_cancelled(t))
            status = ley_fail(error, LEY_CANCELLED, "cancelled");
    }
    t->ions->how.placing_s = ley_clock_s() - start_s;
    t->ions->how.recomputed = s->recomputed;
    return status;
}

ley_status ions_place_waters(ions_task *t, ley_error *error)
{
    waters_search s = {.t = t, .count = t->o.waters->count};
    const double bytes = (double)s.count * (double)(sizeof *s.sites + sizeof(size_t));
    ley_status status = memory_check_one("the waters", bytes, "fewer atoms", error);
    size_t *which = NULL;
    if (status == LEY_OK) {
        s.sites = calloc(s.count, sizeof *s.sites);
        which = calloc(s.count + 32, sizeof *which);
        if (s.sites == NULL || which == NULL)
            status = ley_fail_memory(error, (size_t)bytes, "the waters");
    }
    if (status == LEY_OK)
        status = begin(&s, error);
    if (status == LEY_OK)
        status = place_all(&s, which, error);
    snprintf(t->ions->device, sizeof t->ions->device, "host");
    free(s.sites);
    free(which);
    return status;
}
