#include "long_range/model/short_range_part.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void put_number(pairs_formula *f, int i, double value)
{
    snprintf(f->names[i], sizeof f->names[i], "c%d", i);
    f->numbers[i] = (ley_named_number){f->names[i], value};
}

double pairs_contact_error(const splitting *s, double cutoff_A, double r_min_A, double clamped_A)
{
    return 2 * r_min_A / cutoff_A * (splitting_gamma(s, 0) - splitting_gamma(s, clamped_A / cutoff_A));
}

/* Where gamma is the same at all distances below r_min, 1/max(r, r_min) everywhere does; else it
 * needs the true distance. */
static bool is_far_from_contact(const ley_long_range *r, const splitting *s)
{
    const double most = r->contact_error > 0 ? r->contact_error : PAIRS_CONTACT_ERROR;
    return pairs_contact_error(s, r->cutoff_A, r->r_min_A, r->r_min_A) <= most;
}

bool pairs_are_named(const ley_long_range *r, const splitting *s)
{
    return r->splitting <= LEY_SPLITTING_TAYLOR4 && r->kappa_per_A == 0 && is_far_from_contact(r, s);
}

int pairs_kernel(const ley_long_range *r, const splitting *s, bool is_float)
{
    const bool is_screened = r->kappa_per_A > 0, is_far = is_far_from_contact(r, s);
    const int kind = pairs_are_named(r, s) ? 0 : 1 + (is_screened ? 2 : 0) + (is_far ? 0 : 1);
    return (kind + (is_float ? 0 : 5)) * PAIRS_DEGREES + (s->degree < PAIRS_DEGREES ? s->degree : PAIRS_DEGREES - 1);
}

/* exp(-kappa r)/r - gamma(r/a)/a by Horner's scheme in u = r^2/a^2 - 1, of numbers c0, c1, ...; the
 * one behind the last is 1/a^2, and then comes r_min, or 1/r_min without screening, if the formula
 * is the one to know it: kernels have 1/r as a root, which a division by max(r, r_min) would round
 * twice more. */
static void put_formula(const splitting *s, double cutoff_A, double r_min_A, pairs_formula *f)
{
    const size_t size = sizeof f->text;
    const int last = s->degree + 2;
    size_t used;
    if (r_min_A > 0)
        put_number(f, last, s->kappa_a > 0 ? r_min_A : 1 / r_min_A);
    if (s->kappa_a > 0)
        used = (size_t)(r_min_A > 0 ? snprintf(f->text, size, "q*(exp(-kappa*max(r,c%d))/max(r,c%d)-(c0", last, last)
                                    : snprintf(f->text, size, "q*(exp(-kappa*r)/r-(c0"));
    else
        used = (size_t)(r_min_A > 0 ? snprintf(f->text, size, "q*(min(1/r,c%d)-(c0", last)
                                    : snprintf(f->text, size, "q*(1/r-(c0"));
    for (int k = 0; k <= s->degree; k++) {
        put_number(f, k, s->c[k]);
        if (k > 0)
            used += (size_t)snprintf(f->text + used, size - used, "+(r2*c%d-1)*(c%d", s->degree + 1, k);
    }
    put_number(f, s->degree + 1, 1 / (cutoff_A * cutoff_A));
    for (int k = 0; k < s->degree; k++)
        used += (size_t)snprintf(f->text + used, size - used, ")");
    snprintf(f->text + used, size - used, ")/cutoff)");
}

ley_short_range pairs_of(const ley_long_range *r, const splitting *meshes, pairs_formula *formula)
{
    static const ley_pair pairs[] = {LEY_PAIR_TAYLOR2, LEY_PAIR_TAYLOR3, LEY_PAIR_TAYLOR4}; /* of cutoff.cl */
    ley_short_range near;
    ley_short_range_default(&near);
    near.units = r->units;
    near.dielectric = r->dielectric;
    near.temperature_K = r->temperature_K;
    near.r_min_A = r->r_min_A;
    near.cutoff_A = r->cutoff_A;
    near.kappa_per_A = r->kappa_per_A;
    memcpy(near.periodic, r->periodic, sizeof near.periodic);
    memcpy(near.cell_A, r->cell_A, sizeof near.cell_A);
    if (meshes == NULL) {
        near.pair = LEY_PAIR_YUKAWA;
    } else if (pairs_are_named(r, meshes)) {
        near.pair = pairs[r->splitting];
    } else {
        const bool is_far = is_far_from_contact(r, meshes);
        put_formula(meshes, r->cutoff_A, is_far ? 0 : r->r_min_A, formula);
        near.pair = LEY_PAIR_EXPRESSION;
        near.expression = formula->text;
        near.r_min_A = is_far ? r->r_min_A : fmin(r->r_min_A, 1e-4 * r->cutoff_A);
        near.number_count = (size_t)meshes->degree + (is_far ? 2 : 3);
        near.numbers = formula->numbers;
    }
    return near;
}
