#include "methods/msm/problem.h"

#include "core/options.h"
#include "error.h"
#include "methods/msm/lattice_tuning.h"
#include "methods/msm/spread.h"
#include "parallel.h"

#include <math.h>
#include <stdio.h>

/* What is public of them is the mathematics' own, by name and number. */
#define IS_NUMBER(value, kind) _Static_assert((int)(value) == (int)(kind), "the same order")
IS_NUMBER(LEY_SPLITTING_TAYLOR2, SPLITTING_TAYLOR2);
IS_NUMBER(LEY_SPLITTING_TAYLOR8, SPLITTING_TAYLOR8);
IS_NUMBER(LEY_SPLITTING_PSWF, SPLITTING_PSWF);
IS_NUMBER(LEY_SPLITTING_EWALD, SPLITTING_EWALD);
IS_NUMBER(LEY_SPLITTING_COUNT, SPLITTING_COUNT);
IS_NUMBER(LEY_WINDOW_NODAL3, WINDOW_NODAL3);
IS_NUMBER(LEY_WINDOW_NODAL9, WINDOW_NODAL9);
IS_NUMBER(LEY_WINDOW_BSPLINE4, WINDOW_BSPLINE4);
IS_NUMBER(LEY_WINDOW_BSPLINE8, WINDOW_BSPLINE8);
IS_NUMBER(LEY_WINDOW_COUNT, WINDOW_COUNT);
IS_NUMBER(LEY_SOLVER_DIRECT, HIERARCHY_DIRECT);
IS_NUMBER(LEY_SOLVER_FFT, HIERARCHY_FFT);

void ley_long_range_papers(ley_long_range *r)
{
    r->cutoff_A = 12;
    r->spacing_A = 2;
    r->splitting = LEY_SPLITTING_TAYLOR2;
    r->window = LEY_WINDOW_NODAL3;
    r->solver = LEY_SOLVER_DIRECT;
    r->levels = 0;
}

void ley_long_range_default(ley_long_range *r)
{
    *r = (ley_long_range){
        .size = sizeof *r, .units = LEY_UNITS_KT_E, .dielectric = 1, .temperature_K = 298.15, .r_min_A = 0.05};
    ley_long_range_papers(r);
    r->splitting = LEY_SPLITTING_TAYLOR4;
    r->window = LEY_WINDOW_NODAL7;
}

/* ---- What makes sense ------------------------------------------------------------------------ */

/* As far as the kernel of the lattice cutoff reaches: 2 a/h - 1 nodes, rounded up. */
static const double most_ratio = (LATTICE_MOST_RADIUS + 1) / 2.0;

static ley_status check(const ley_long_range *r, ley_error *error)
{
    if ((unsigned)r->splitting >= LEY_SPLITTING_COUNT)
        return ley_fail(error, LEY_ERROR_USAGE, "unknown splitting %d", (int)r->splitting);
    if ((unsigned)r->window >= LEY_WINDOW_COUNT)
        return ley_fail(error, LEY_ERROR_USAGE, "unknown window %d", (int)r->window);
    if ((unsigned)r->solver >= LEY_SOLVER_COUNT)
        return ley_fail(error, LEY_ERROR_USAGE, "unknown solver %d", (int)r->solver);
    if (!(r->cutoff_A > r->r_min_A && r->cutoff_A <= 1e4))
        return ley_fail(error, LEY_ERROR_USAGE, "cutoff %g A, must be above r_min (%g A) and at most 1e4", r->cutoff_A,
                        r->r_min_A);
    if (!(r->spacing_A > 0 && r->spacing_A <= r->cutoff_A))
        return ley_fail(error, LEY_ERROR_USAGE,
                        "lattice spacing %g A, must be above 0 and at most the cutoff, %g A: what is left beyond the "
                        "cutoff is as smooth as that, and a wider lattice cannot carry it",
                        r->spacing_A, r->cutoff_A);
    if (r->solver == LEY_SOLVER_DIRECT && r->cutoff_A > most_ratio * r->spacing_A)
        return ley_fail(
            error, LEY_ERROR_USAGE,
            "a cutoff of %g A is %.4g lattice spacings of %g A: the direct solver's weights reach twice as "
            "far, and kernels hold those of at most %g spacings; a wider lattice, a shorter cutoff, or the fft solver",
            r->cutoff_A, r->cutoff_A / r->spacing_A, r->spacing_A, most_ratio);
    return LEY_OK;
}

static void put_number(msm_formula *f, int i, double value)
{
    snprintf(f->names[i], sizeof f->names[i], "c%d", i);
    f->numbers[i] = (ley_named_number){f->names[i], value};
}

/* 1/r - gamma(r/a)/a by Horner's scheme in u = r^2/a^2 - 1, of numbers c0, c1, ...; the one
 * behind the last is 1/a^2. */
static void put_formula(const splitting *s, double cutoff_A, msm_formula *f)
{
    const size_t size = sizeof f->text;
    size_t used = (size_t)snprintf(f->text, size, "q*(1/r-(c0");
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

ley_short_range msm_near(const ley_long_range *r, const hierarchy *h, msm_formula *formula)
{
    static const ley_pair pairs[] = {LEY_PAIR_TAYLOR2, LEY_PAIR_TAYLOR3, LEY_PAIR_TAYLOR4}; /* of cutoff.cl */
    ley_short_range near;
    ley_short_range_default(&near);
    near.units = r->units;
    near.dielectric = r->dielectric;
    near.temperature_K = r->temperature_K;
    near.r_min_A = r->r_min_A;
    near.cutoff_A = r->cutoff_A;
    near.pair = LEY_PAIR_EXPRESSION;
    if ((size_t)r->splitting < sizeof pairs / sizeof *pairs) {
        near.pair = pairs[r->splitting];
    } else {
        put_formula(&h->level[0].split, r->cutoff_A, formula);
        near.expression = formula->text;
        near.number_count = (size_t)h->level[0].split.degree + 2;
        near.numbers = formula->numbers;
    }
    return near;
}

/* ---- Lattices -------------------------------------------------------------------------------- */

/* Around the charges and the map: atoms without a charge need no nodes. */
static void find_box(const ley_atoms *atoms, const ley_lattice *points, double low[3], double high[3])
{
    for (int axis = 0; axis < 3; axis++) {
        const double last_A = points->origin_A[axis] + (double)(points->n[axis] - 1) * points->step_A[axis][axis];
        low[axis] = fmin(points->origin_A[axis], last_A);
        high[axis] = fmax(points->origin_A[axis], last_A);
    }
    const double *position_A = ley_atoms_positions_A(atoms), *charge_e = ley_atoms_charges_e(atoms);
    for (size_t i = 0; i < ley_atoms_count(atoms); i++)
        for (int axis = 0; axis < 3 && charge_e[i] != 0; axis++) {
            low[axis] = fmin(low[axis], position_A[3 * i + (size_t)axis]);
            high[axis] = fmax(high[axis], position_A[3 * i + (size_t)axis]);
        }
}

/* Whether kernels reach from end to end of the top level, whose nodes all interact. */
static bool top_is_in_reach(const hierarchy *h)
{
    int64_t reach[3];
    hierarchy_whole_reach(h, h->levels - 1, reach);
    return reach[0] <= LATTICE_MOST_RADIUS && reach[1] <= LATTICE_MOST_RADIUS && reach[2] <= LATTICE_MOST_RADIUS;
}

ley_status msm_lattices(const ley_long_range *r, const ley_atoms *atoms, const ley_lattice *points, hierarchy *made,
                        ley_error *error)
{
    double low[3], high[3];
    hierarchy_options o = {.splitting = (splitting_kind)r->splitting,
                           .window = (window_kind)r->window,
                           .solver = (hierarchy_solver)r->solver,
                           .levels = r->levels,
                           .cutoff_A = r->cutoff_A,
                           .spacing_A = r->spacing_A};
    ley_status status = check(r, error);
    if (status != LEY_OK)
        return status;
    find_box(atoms, points, low, high);
    status = hierarchy_make(&o, low, high, made, error);
    if (status == LEY_OK && r->solver == LEY_SOLVER_DIRECT && !top_is_in_reach(made))
        return ley_fail(error, r->levels > 0 ? LEY_ERROR_USAGE : LEY_ERROR_INPUT,
                        "%d levels are too few for these atoms and this map: all pairs of the coarsest lattice's nodes "
                        "interact, and kernels reach %d nodes far",
                        made->levels, LATTICE_MOST_RADIUS);
    return status;
}

double msm_bytes(const hierarchy *h, size_t atoms)
{
    const double each = sizeof(float[4]) + sizeof(int32_t),
                 bins = (double)hierarchy_nodes(&h->level[0]) / (SPREAD_EDGE * SPREAD_EDGE * SPREAD_EDGE);
    return (double)atoms * each + bins * sizeof(int32_t) * (1 + parallel_cores());
}
