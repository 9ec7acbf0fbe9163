#include "law/second.h"

#include "law/pairs.h"
#include "law/reference.h"

#include <math.h>
#include <string.h>

/* ---- Before the first sum -------------------------------------------------------------------- */

ley_status second_begin(const reference_terms *t, second_sum *s, ley_error *error)
{
    static const bool open[3] = {false, false, false};
    static const double axes_A[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    *s = (second_sum){.terms = t};
    if (t->cell != NULL)
        s->cell = *t->cell;
    else {
        const bool has_images = t->range != NULL;
        const ley_status status =
            cell_make(has_images ? t->range->periodic : open, has_images ? t->range->cell_A : axes_A, &s->cell, error);
        if (status != LEY_OK)
            return status;
    }
    if (t->range != NULL || s->cell.dimensions == 0)
        return LEY_OK;
    const size_t n = ley_atoms_count(t->atoms);
    for (size_t j = 0; j < n; j++)
        s->mean_per_A += lattice_sum_mean(&s->cell, t->kappa_per_A) * ley_atoms_charges_e(t->atoms)[j];
    const lattice_sum_options options = {
        .cell = s->cell, .kappa_per_A = t->kappa_per_A, .without_mean = true, .r_min_A = t->r_min_A};
    return lattice_sum_create(&options, n, ley_atoms_positions_A(t->atoms), ley_atoms_charges_e(t->atoms), &s->images,
                              error);
}

void second_end(second_sum *s)
{
    lattice_sum_destroy(s->images);
    s->images = NULL;
}

const char *second_says(const second_sum *s)
{
    return s->images != NULL         ? "a second sum over all images, with another splitting"
           : s->terms->range != NULL ? "a second sum with images one by one"
                                     : "a second sum in extended precision";
}

/* ---- The potential --------------------------------------------------------------------------- */

static void way_from(const second_sum *s, size_t j, const double point_A[3], double way_A[3])
{
    const double *atom_A = ley_atoms_positions_A(s->terms->atoms) + 3 * j;
    for (int axis = 0; axis < 3; axis++)
        way_A[axis] = point_A[axis] - atom_A[axis];
}

static long double length_of(const double x_A[3])
{
    return sqrtl((long double)x_A[0] * x_A[0] + (long double)x_A[1] * x_A[1] + (long double)x_A[2] * x_A[2]);
}

/* Of a sum without a cutoff, q included, at a distance. */
static long double charge_term(const reference_terms *t, size_t j, long double r_A)
{
    return ley_atoms_charges_e(t->atoms)[j] != 0 ? t->law->second(t, j, r_A) : 0;
}

/* Of a sum with a cutoff. */
static long double pair_term(const reference_terms *t, size_t j, long double r_A)
{
    return r_A < t->range->cutoff_A ? reference_pair_term(t, j, (double)fmaxl(r_A, t->r_min_A)).value : 0;
}

/* An atom and its images within the cutoff, but for an excluded one. */
typedef struct images_sum {
    const reference_terms *terms;
    size_t atom;
    const double *excluded_A; /* the way from it; NULL: none is */
    long double value;
} images_sum;

static void add_image(void *context, const double way_A[3])
{
    static const double same_A = 1e-5; /* no two images are so near to each other */
    images_sum *sum = context;
    double apart_A[3] = {INFINITY, 0, 0};
    for (int axis = 0; axis < 3 && sum->excluded_A != NULL; axis++)
        apart_A[axis] = way_A[axis] - sum->excluded_A[axis];
    if (!(length_of(apart_A) < same_A))
        sum->value += pair_term(sum->terms, sum->atom, length_of(way_A));
}

/* From the image of an excluded atom that does not count at the centre, though another may be
 * nearer here. */
static void way_from_excluded(const second_sum *s, size_t j, const double centre_A[3], const double point_A[3],
                              double excluded_A[3])
{
    double way_A[3];
    way_from(s, j, centre_A, way_A);
    cell_nearest(&s->cell, way_A, excluded_A);
    for (int axis = 0; axis < 3; axis++)
        excluded_A[axis] += point_A[axis] - centre_A[axis];
}

/* At a point next to the centre, less the mean of images, in which differences would lose their
 * digits. */
static long double sum_without_mean(const second_sum *s, const reference_terms *at, const double centre_A[3],
                                    const double point_A[3])
{
    long double sum = s->images != NULL ? lattice_sum_at(s->images, point_A) : 0;
    for (size_t j = ley_atoms_count(at->atoms); j-- > 0;) {
        const bool excluded = reference_excludes(at, j);
        double way_A[3], excluded_A[3];
        way_from(s, j, point_A, way_A);
        if (excluded)
            way_from_excluded(s, j, centre_A, point_A, excluded_A);
        if (at->range != NULL) {
            images_sum images = {at, j, excluded ? excluded_A : NULL, 0};
            cell_images(&s->cell, way_A, at->range->cutoff_A, add_image, &images);
            sum += images.value;
        } else if (s->images == NULL)
            sum += excluded ? 0 : charge_term(at, j, length_of(way_A));
        else if (excluded)
            sum -= charge_term(at, j, length_of(excluded_A));
    }
    return sum;
}

long double second_value(const second_sum *s, const reference_terms *at, const double point_A[3])
{
    return at->constant * (at->law->again != NULL ? at->law->again(at, point_A)
                                                  : sum_without_mean(s, at, point_A, point_A) + s->mean_per_A);
}

/* ---- The field ------------------------------------------------------------------------------- */

/* How far the nearest charge is, and how near any is to where it begins or ceases to count. */
typedef struct distances {
    const reference_terms *terms;
    double beyond_A; /* images that are no farther do not count: of an excluded atom the nearest one */
    double nearest_A, step_A;
    double terms_per_A, slopes_per_A2; /* of all charges, none left out */
} distances;

static void look_at(void *context, const double way_A[3])
{
    distances *d = context;
    const reference_terms *t = d->terms;
    const double r_A = (double)length_of(way_A);
    if (r_A <= d->beyond_A)
        return;
    d->nearest_A = fmin(d->nearest_A, r_A);
    d->step_A = fmin(d->step_A, fabs(r_A - t->r_min_A));
    if (t->range != NULL)
        d->step_A = fmin(d->step_A, fabs(r_A - t->range->cutoff_A));
}

static distances distances_of(const second_sum *s, const reference_terms *at, const double point_A[3])
{
    distances d = {at, -1, INFINITY, INFINITY, 0, 0};
    for (size_t j = 0; j < ley_atoms_count(at->atoms); j++) {
        double way_A[3], near_A[3];
        way_from(s, j, point_A, way_A);
        const double nearest_A = cell_nearest(&s->cell, way_A, near_A);
        const double q_e = fabs(ley_atoms_charges_e(at->atoms)[j]), safe_A = fmax(nearest_A, at->r_min_A);
        d.terms_per_A += q_e / safe_A;
        d.slopes_per_A2 += q_e / (safe_A * safe_A);
        d.beyond_A = reference_excludes(at, j) ? nearest_A * (1 + 1e-9) : -1;
        if (at->range != NULL || s->images != NULL)
            cell_images(&s->cell, way_A, 1.01 * (at->range != NULL ? at->range->cutoff_A : fmax(at->r_min_A, 1)),
                        look_at, &d);
        if (at->range == NULL)
            look_at(&d, near_A);
    }
    return d;
}

bool second_field(const second_sum *s, const reference_terms *at, const double point_A[3], double field[3],
                  double *rounding)
{
    static const double digits = 1e-14; /* of double sums, and of places */
    const distances d = distances_of(s, at, point_A);
    const double h_A = fmin(d.nearest_A, 1) / 256; /* what differences leave of a charge is a share (h/r)^4 */
    if (!(h_A > 1e-5 && d.step_A > 3 * h_A))
        return false;
    *rounding = digits * fabs(at->constant) * (d.terms_per_A + cell_length(point_A) * d.slopes_per_A2) / h_A;
    for (int axis = 0; axis < 3; axis++) {
        static const double weights[4] = {1, -8, 8, -1}, steps[4] = {-2, -1, 1, 2};
        long double slope = 0;
        for (int i = 0; i < 4; i++) {
            double at_A[3] = {point_A[0], point_A[1], point_A[2]};
            at_A[axis] += steps[i] * h_A;
            slope += weights[i] * sum_without_mean(s, at, point_A, at_A);
        }
        field[axis] = -(double)(at->constant * slope / (12 * h_A));
    }
    return true;
}
