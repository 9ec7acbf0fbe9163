#include "methods/mdh/pack.h"

#include "layout/cells.h"
#include "parallel.h"
#include "spec.h"

#include <math.h>
#include <string.h>

typedef struct placed_float {
    float offset[4];
    int32_t cell[4];
} placed_float;

typedef struct placed_double {
    double offset[4];
    int32_t cell[4], unused[4];
} placed_double;

size_t mdh_placed_bytes(const mdh_spec *spec)
{
    return spec->sum == LEY_SPEC_SUM_DOUBLE ? sizeof(placed_double) : sizeof(placed_float);
}

static placed_double place(const mdh_problem *problem, const double position_A[3], double weight, int radius)
{
    placed_double p = {.offset = {0, 0, 0, weight}, .cell = {0, 0, 0, radius}};
    for (int axis = 0; axis < 3; axis++) {
        const double h_A = problem->frame.step_A[axis][axis], from_A = position_A[axis] - problem->frame.origin_A[axis];
        const double nearest = cells_nearest(from_A, h_A);
        p.cell[axis] = (int32_t)nearest;
        p.offset[axis] = (from_A - nearest * h_A) * problem->unit_per_A;
    }
    return p;
}

static void put(const mdh_spec *spec, const placed_double *p, size_t at, void *packed)
{
    if (spec->sum == LEY_SPEC_SUM_DOUBLE) {
        ((placed_double *)packed)[at] = *p;
        return;
    }
    placed_float *f = (placed_float *)packed + at;
    for (int k = 0; k < 4; k++) {
        f->offset[k] = (float)p->offset[k];
        f->cell[k] = p->cell[k];
    }
}

enum { STOP_EVERY = 1 << 18 };

int mdh_pack_atoms(const mdh_spec *spec, const mdh_problem *problem, void *packed)
{
    const double *position_A = ley_atoms_positions_A(problem->atoms), *charge_e = ley_atoms_charges_e(problem->atoms);
    const double *radius_A = ley_atoms_radii_A(problem->atoms);
    const double kappa = problem->screening == LEY_SCREENING_NONE ? 0 : problem->kappa_per_A;
    size_t count = 0;
    for (size_t i = 0; i < ley_atoms_count(problem->atoms); i++) {
        if (i % STOP_EVERY == 0 && problem->cancelled != NULL &&
            atomic_load_explicit(problem->cancelled, memory_order_relaxed))
            break;
        if (charge_e[i] == 0)
            continue;
        /* exp(kappa R) = 2^exponent: all of it into the weight, or its fraction, the rest into the
         * pair's own power. Where that may come to be limited, the weight is so large that the pair
         * is infinite then, and never a wrong number. */
        const double exponent = kappa > 0 ? radius_A[i] * problem->unit_per_A : 0;
        double whole = problem->screening == LEY_SCREENING_WIDE ? fmin(rint(exponent), LEY_MAX_EXTENT) : 0;
        double weight = problem->coulomb_constant * charge_e[i] * exp2(exponent - whole) / (1 + kappa * radius_A[i]) *
                        problem->unit_per_A;
        if (whole > 100 && isnormal(weight)) {
            const int raise = (spec->sum == LEY_SPEC_SUM_DOUBLE ? 60 : 20) - ilogb(weight);
            weight = ldexp(weight, raise);
            whole -= raise;
        }
        const placed_double p = place(problem, position_A + 3 * i, weight, (int)whole);
        put(spec, &p, count++, packed);
    }
    return (int)count;
}

int64_t mdh_group_points(const mdh_spec *spec)
{
    return (int64_t)spec->wg * spec->width * spec->ux;
}

int64_t mdh_packed_points(const mdh_spec *spec, int64_t count)
{
    const int64_t each = mdh_group_points(spec);
    return count + (count + each - 1) / each;
}

/* Where positions are rounded by how far the points reach, by 6e-8 of it, twice: from this share of
 * it on that is 2e-6 of a distance or less. */
static const double near_share = 0.05;

/* The frame of points [first, end). */
static placed_double make_frame(const mdh_problem *problem, int64_t first, int64_t end)
{
    double low_A[3] = {INFINITY, INFINITY, INFINITY}, high_A[3] = {-INFINITY, -INFINITY, -INFINITY}, middle_A[3],
           reach = 0;
    for (int64_t i = first; i < end; i++)
        for (int axis = 0; axis < 3; axis++) {
            const double x_A = problem->boundary->point_A[3 * (int64_t)problem->order[i] + axis];
            low_A[axis] = x_A < low_A[axis] ? x_A : low_A[axis];
            high_A[axis] = x_A > high_A[axis] ? x_A : high_A[axis];
        }
    for (int axis = 0; axis < 3; axis++)
        middle_A[axis] = 0.5 * (low_A[axis] + high_A[axis]);
    placed_double frame = place(problem, middle_A, 0, 0);
    for (int axis = 0; axis < 3; axis++) {
        frame.offset[axis] = fabs(frame.offset[axis]) + 0.5 * (high_A[axis] - low_A[axis]) * problem->unit_per_A;
        reach = fmax(reach, frame.offset[axis]);
    }
    for (int axis = 0; axis < 3; axis++) /* atoms beyond that are also beyond r_min */
        frame.offset[axis] += fmax(near_share * reach, problem->r_min_A * problem->unit_per_A);
    return frame;
}

typedef struct packing {
    const mdh_spec *spec;
    const mdh_problem *problem;
    int64_t first, count;
    void *packed;
} packing;

static void pack_groups(void *context, size_t first_group, size_t last_group)
{
    const packing *k = context;
    const int64_t each = mdh_group_points(k->spec);
    for (int64_t group = (int64_t)first_group; group < (int64_t)last_group; group++) {
        const int64_t begin = group * each, end = begin + each < k->count ? begin + each : k->count;
        for (int64_t i = begin; i < end; i++) {
            const int64_t at = k->problem->order[k->first + i];
            const placed_double p = place(k->problem, k->problem->boundary->point_A + 3 * at, 0, 0);
            put(k->spec, &p, (size_t)i, k->packed);
        }
        const placed_double frame = make_frame(k->problem, k->first + begin, k->first + end);
        put(k->spec, &frame, (size_t)(k->count + group), k->packed);
    }
}

void mdh_pack_points(const mdh_spec *spec, const mdh_problem *problem, int64_t first, int64_t count, void *packed)
{
    const int64_t worth_threads = 1 << 16;
    packing k = {spec, problem, first, count, packed};
    const size_t groups = (size_t)(mdh_packed_points(spec, count) - count);
    if (count >= worth_threads)
        parallel_ranges(groups, pack_groups, &k);
    else
        pack_groups(&k, 0, groups);
}

/* Positions from the middle of a face are rounded by 6e-8 of its half edge: beyond this distance
 * that is 4e-6 or less of the distance. */
static double near_A(const mdh_problem *problem)
{
    double longest_A = 0;
    for (int axis = 0; axis < 3; axis++)
        longest_A = fmax(longest_A, (double)problem->frame.n[axis] * problem->frame.step_A[axis][axis]);
    return 0.5 * longest_A * (6e-8 / 4e-6);
}

/* Squares of shorter distances are clamped to this one. */
static double least_r2(const mdh_problem *problem)
{
    return pow(fmax(problem->r_min_A * problem->unit_per_A, 1e-15), 2);
}

void mdh_step(const mdh_spec *spec, const mdh_problem *problem, double step[4], double step_low[4])
{
    step[3] = problem->patch_count > 0 ? near_A(problem) * problem->unit_per_A : least_r2(problem);
    step_low[3] = 0;
    for (int axis = 0; axis < 3; axis++) {
        step[axis] = problem->frame.step_A[axis][axis] * problem->unit_per_A;
        step_low[axis] = spec->sum == LEY_SPEC_SUM_DOUBLE ? 0 : step[axis] - (double)(float)step[axis];
    }
}
