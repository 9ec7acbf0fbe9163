#include "law/tolerance_floor.h"

#include "numerics/cell.h"
#include "parallel.h"
#include "source/atoms.h"

#include <math.h>

/* However many cores there are, the sum is the same. */
enum { PARTS = 64 };

typedef struct squares {
    double screened, unscreened;
} squares;

typedef struct floor_sum {
    const reference_terms *terms;
    bool is_thin; /* several images of a charge may be near */
    size_t n;
    const tolerance_place *places;
    squares squares[PARTS];
} floor_sum;

/* Of a charge: of its images that are near, or of the nearest one. */
typedef struct term_squares {
    const reference_terms *terms;
    double charge_e;
    squares *sum;
    int count;
} term_squares;

static void add_image(void *context, const double d_A[3])
{
    term_squares *t = context;
    const double kappa = t->terms->kappa_per_A, r_A = fmax(cell_length(d_A), t->terms->r_min_A),
                 term = t->charge_e / r_A, screened = kappa > 0 ? term * exp(-kappa * r_A) : term;
    t->sum->unscreened += term * term;
    t->sum->screened += screened * screened;
    t->count++;
}

/* Of the squared terms at one place, without the constant. */
static void add_squares_at(const reference_terms *t, bool is_thin, const double place_A[3], squares *sum)
{
    const size_t atoms = ley_atoms_count(t->atoms);
    const double *position_A = ley_atoms_positions_A(t->atoms), *charge_e = ley_atoms_charges_e(t->atoms);
    for (size_t j = 0; j < atoms; j++) {
        term_squares own = {.terms = t, .charge_e = charge_e[j], .sum = sum};
        double d_A[3];
        if (t->excluded_count > 0 && reference_excludes(t, j))
            continue;
        for (int axis = 0; axis < 3; axis++)
            d_A[axis] = place_A[axis] - position_A[3 * j + (size_t)axis];
        if (is_thin)
            cell_images(t->cell, d_A, LEY_TOLERANCE_NEAR_A, add_image, &own);
        if (own.count > 0)
            continue;
        if (t->cell != NULL)
            cell_bring_near(t->cell, d_A);
        add_image(&own, d_A);
    }
}

static void sum_parts(void *context, size_t first, size_t last)
{
    floor_sum *f = context;
    for (size_t part = first; part < last; part++)
        for (size_t i = parallel_first(f->n, PARTS, part); i < parallel_first(f->n, PARTS, part + 1); i++) {
            reference_terms terms = *f->terms;
            squares here = {0, 0};
            terms.excluded = f->places[i].excluded;
            terms.excluded_count = f->places[i].excluded_count;
            add_squares_at(&terms, f->is_thin, f->places[i].place_A, &here);
            f->squares[part].screened += f->places[i].weight * here.screened;
            f->squares[part].unscreened += f->places[i].weight * here.unscreened;
        }
}

/* Two images can be near one place only where a multiple of the vectors is that short. */
static bool is_thin(const cell *c)
{
    double shortest_A = INFINITY;
    for (int m = 0; c != NULL && m < 3; m++)
        if (c->periodic[m])
            shortest_A = fmin(shortest_A, cell_length(c->vector_A[m]));
    for (int i = 0; c != NULL && i < c->steps; i++)
        shortest_A = fmin(shortest_A, cell_length(c->step_A[i]));
    return shortest_A < 2 * LEY_TOLERANCE_NEAR_A;
}

void tolerance_squares_at(const reference_terms *terms, size_t n, const tolerance_place *places, double sum[2])
{
    floor_sum f = {.terms = terms, .is_thin = is_thin(terms->cell), .n = n, .places = places};
    parallel_ranges(PARTS, sum_parts, &f);
    sum[0] = sum[1] = 0;
    for (size_t part = 0; part < PARTS; part++) {
        sum[0] += f.squares[part].screened;
        sum[1] += f.squares[part].unscreened;
    }
}

tolerance_terms tolerance_terms_of(const reference_terms *terms, const double sum[2], double weights)
{
    const double constant = fabs(terms->constant);
    return weights > 0 ? (tolerance_terms){constant * sqrt(sum[0] / weights), constant * sqrt(sum[1] / weights)}
                       : (tolerance_terms){0, 0};
}

tolerance_terms tolerance_terms_at(const reference_terms *terms, size_t n, const tolerance_place *places)
{
    double sum[2], weights = 0;
    tolerance_squares_at(terms, n, places, sum);
    for (size_t i = 0; i < n; i++)
        weights += places[i].weight;
    return tolerance_terms_of(terms, sum, weights);
}

/* What plans and first runs go by: with half of what no map need be nearer than. */
double tolerance_floor_share(double tolerance)
{
    return fmax(LEY_TOLERANCE_FLOOR, 0.5 * LEY_TOLERANCE_DIGITS / tolerance);
}

double tolerance_floor(const tolerance_terms *terms, double tolerance)
{
    return tolerance_floor_share(tolerance) * terms->rms;
}

double tolerance_last_floor(const tolerance_terms *terms, double tolerance)
{
    return fmax(LEY_TOLERANCE_FLOOR * terms->rms, LEY_TOLERANCE_DIGITS / tolerance * terms->unscreened_rms);
}

static double share_of(const ley_accuracy *a, double tolerance, double floor_rms)
{
    const double of_values = a->relative_rms / tolerance;
    if (a->points == 0 || !(tolerance > 0))
        return 0;
    return floor_rms > 0 ? fmin(of_values, a->absolute_rms / (tolerance * floor_rms)) : of_values;
}

/* Whether a floor by S, or by S0, may allow the error. Of many atoms a few places tell where it is
 * far from that; that S of all of them is ten times as much is out of the question. */
static bool floor_may_do(const ley_report *r, double tolerance, const reference_terms *terms, size_t n,
                         const tolerance_place *places)
{
    enum { FEW = 4 };
    const double worth_asking = 1e7, much = 10;
    if (n <= FEW || (double)n * (double)ley_atoms_count(terms->atoms) < worth_asking)
        return true;
    const tolerance_terms few = tolerance_terms_at(terms, FEW, places);
    const double floor_rms = fmax(tolerance_floor(&few, tolerance), tolerance_last_floor(&few, tolerance));
    return r->accuracy.absolute_rms <= much * tolerance * floor_rms;
}

static void lower(ley_report *r, double tolerance, double floor_rms)
{
    const double share = share_of(&r->accuracy, tolerance, floor_rms);
    if (share < r->tolerance_share) {
        r->tolerance_share = share;
        r->tolerance_floor = floor_rms;
    }
}

void tolerance_judge(ley_report *r, double tolerance, const reference_terms *terms, size_t n,
                     const tolerance_place *places, tolerance_terms *made)
{
    *made = (tolerance_terms){0, 0};
    r->tolerance_floor = 0;
    r->tolerance_share = share_of(&r->accuracy, tolerance, 0);
    if (!(r->tolerance_share > 1) || terms->atoms == NULL || !floor_may_do(r, tolerance, terms, n, places))
        return;
    *made = tolerance_terms_at(terms, n, places);
    tolerance_judge_by(r, tolerance, made);
}

void tolerance_judge_by(ley_report *r, double tolerance, const tolerance_terms *made)
{
    lower(r, tolerance, tolerance_floor(made, tolerance));
}

void tolerance_judge_last(ley_report *r, double tolerance, const tolerance_terms *made)
{
    if (r->tolerance_share > 1)
        lower(r, tolerance, tolerance_last_floor(made, tolerance));
}
