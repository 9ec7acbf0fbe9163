/* Water molecules, and ions in their places. */
#include "clock.h"
#include "error.h"
#include "ions/ions.h"
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

/* ---- Who is near the solute ------------------------------------------------------------------ */

/* Atoms in bins as wide as the distance that matters, or wider. */
typedef struct bins {
    double low_A[3], edge_A;
    int64_t n[3];
    size_t *first; /* [bins + 1] */
    size_t *atom;
} bins;

static int64_t bin_of(const bins *b, const double at_A[3])
{
    int64_t i[3];
    for (int axis = 0; axis < 3; axis++) {
        const double place = floor((at_A[axis] - b->low_A[axis]) / b->edge_A);
        if (!(place >= 0 && place < (double)b->n[axis]))
            return -1;
        i[axis] = (int64_t)place;
    }
    return (i[2] * b->n[1] + i[1]) * b->n[0] + i[0];
}

static void end_bins(bins *b)
{
    free(b->first);
    free(b->atom);
}

static ley_status make_bins(size_t n, const double *const at_A[3], double reach_A, bins *b, ley_error *error)
{
    const double most_bins = 4e6;
    double high_A[3], bins_in_all = 1;
    *b = (bins){.edge_A = reach_A};
    for (int axis = 0; axis < 3; axis++) {
        b->low_A[axis] = n > 0 ? INFINITY : 0;
        high_A[axis] = n > 0 ? -INFINITY : 0;
        for (size_t i = 0; i < n; i++) {
            b->low_A[axis] = fmin(b->low_A[axis], at_A[axis][i]);
            high_A[axis] = fmax(high_A[axis], at_A[axis][i]);
        }
        bins_in_all *= (high_A[axis] - b->low_A[axis]) / reach_A + 1;
    }
    b->edge_A *= fmax(1, cbrt(bins_in_all / most_bins));
    size_t count = 1;
    for (int axis = 0; axis < 3; axis++) {
        b->n[axis] = (int64_t)((high_A[axis] - b->low_A[axis]) / b->edge_A) + 1;
        count *= (size_t)b->n[axis];
    }
    b->first = calloc(count + 2, sizeof *b->first);
    b->atom = calloc(n + 1, sizeof *b->atom);
    if (b->first == NULL || b->atom == NULL) {
        end_bins(b);
        return ley_fail_memory(error, (count + n) * sizeof *b->first, "atoms in bins");
    }
    for (size_t i = 0; i < n; i++)
        b->first[bin_of(b, (const double[3]){at_A[0][i], at_A[1][i], at_A[2][i]}) + 2]++;
    for (size_t i = 0; i < count; i++)
        b->first[i + 2] += b->first[i + 1];
    for (size_t i = 0; i < n; i++)
        b->atom[b->first[bin_of(b, (const double[3]){at_A[0][i], at_A[1][i], at_A[2][i]}) + 1]++] = i;
    return LEY_OK;
}

static bool is_near(const bins *b, const double *const at_A[3], const double place_A[3], double reach_A)
{
    for (int neighbour = 0; neighbour < 27; neighbour++) {
        const int step[3] = {neighbour % 3 - 1, neighbour / 3 % 3 - 1, neighbour / 9 - 1};
        double probe_A[3];
        for (int axis = 0; axis < 3; axis++)
            probe_A[axis] = place_A[axis] + step[axis] * b->edge_A;
        const int64_t bin = bin_of(b, probe_A);
        for (size_t i = bin >= 0 ? b->first[bin] : 0; bin >= 0 && i < b->first[bin + 1]; i++) {
            double d2 = 0;
            for (int axis = 0; axis < 3; axis++)
                d2 += pow(place_A[axis] - at_A[axis][b->atom[i]], 2);
            if (d2 <= reach_A * reach_A)
                return true;
        }
    }
    return false;
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

static ley_status leave_out_near(waters_search *s, ley_error *error)
{
    const double *at_A[3];
    const size_t n = exact_near(s->t->exact, &at_A[0], &at_A[1], &at_A[2]);
    bins b;
    const ley_status status = make_bins(n, at_A, s->t->o.from_solute_A, &b, error);
    if (status != LEY_OK)
        return status;
    int64_t left = 0;
    for (size_t i = 0; i < s->count; i++) {
        s->sites[i].is_left_out = n > 0 && is_near(&b, at_A, s->sites[i].place_A, s->t->o.from_solute_A);
        left += !s->sites[i].is_left_out;
    }
    s->t->ions->how.nodes = (int64_t)s->count;
    s->t->ions->how.free_nodes = left;
    end_bins(&b);
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
