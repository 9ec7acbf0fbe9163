/* As of dcs: many points of a few atoms, and a crowd of atoms at a few points. Terms of short-range
 * functions differ by many powers of ten between near and far: where atoms are few, most points
 * have far ones alone, and are judged by these. */
#include "methods/cutoff/self_test.h"

#include "error.h"
#include "methods/cutoff/epilogue_self_test.h"
#include "methods/cutoff/short_range.h"
#include "verify/self_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lengths in cutoffs: the grid of a small problem, its bins, and its r_min, which is larger
 * where r^-12 would hide all the rest. Along each axis the first region begins where a bin does,
 * and the second one just before: each of the bins that a region of any grid may have in reach,
 * one of these has. */
static const double spacing[3] = {1.0 / 8, 1.0 / 7, 1.0 / 6}, origin[3] = {-3, 40, 1000},
                    side[3] = {1.0 / 1.99, 8 / 7.0 / 1.99, 8 / 6.0 / 1.99};
static const double charges_r_min = 0.05, radii_r_min = 0.12;

/* Of compensated sums, whose places have more digits next to atoms: r_min, and how far atoms are
 * from points, in places that are floats in their bins. What a float loses of a place in a region
 * is worth ten times the tolerance there. */
static const double fine_r_min = 0.001, fine_distance = 0.0016, fine_tolerance = 2e-6,
                    fine_share = 10; /* of other points no more is asked than elsewhere */

/* Of kernels for oblique grids: what a step along x leads along y and z, and one along y along z,
 * in spacings along x. */
static const double shear[3] = {-0.6, 0.4, 0.7};

/* Where regions are covered, a region's edges, of 7 spacings, are 2, 1 and 1 bins long: all bins in
 * it are close to its middle. */
static const double covered_side = 0.485, covered_spacing[3] = {2 * 0.485 / 7, 0.485 / 7, 0.485 / 7};

enum { COMPONENTS = LEY_COMPONENTS(true) };

typedef struct shape {
    const char *name;
    int64_t n[3];
    double finer;     /* by this the spacings are shorter: points that are all within reach of many atoms */
    int atoms;        /* anywhere; */
    bool in_each_bin; /* and one in each bin that a region may look at */
    size_t judged;    /* points; 0: all */
    bool is_covered;  /* instead: so many in each octant of a region, and some on the brink of its reach */
    bool is_fine;     /* instead: each next to a point */
} shape;

/* Regions have 8 x 8 x 8 points. In the crowd each of them has more than two staged tiles of atoms
 * in reach, and bins overflow. */
static const shape problems[] = {
    {"several regions", {37, 19, 35}, 1, 12, true, 0, false, false},
    {"many atoms", {19, 9, 11}, 3, 1000, false, 150, false, false},
    {"covered regions", {8, 8, 16}, 1, 5, false, 0, true, false},
};
static const shape short_problems[] = {
    {"several regions", {17, 9, 10}, 1, 12, true, 400, false, false},
    {"many atoms", {9, 9, 9}, 3, 120, false, 100, false, false},
};

/* Spacings are none that floats have. */
static const shape fine_problem = {"next to atoms", {17, 9, 35}, 1.07, 70, .is_fine = true},
                   short_fine_problem = {"next to atoms", {9, 9, 19}, 1.07, 38, .is_fine = true};

/* ---- Atoms ----------------------------------------------------------------------------------- */

typedef struct atom_list {
    size_t count, capacity;
    double (*at)[3]; /* from the grid's first point, in cutoffs */
} atom_list;

static void append(atom_list *list, const double at[3])
{
    for (int axis = 0; axis < 3 && list->count < list->capacity; axis++)
        list->at[list->count][axis] = at[axis];
    list->count += list->count < list->capacity;
}

/* Some on points, some within r_min of one, others anywhere in the grid and around it. */
static void append_anywhere(atom_list *list, const shape *p, uint32_t *state)
{
    for (int i = 0; i < p->atoms; i++) {
        double at[3];
        for (int axis = 0; axis < 3; axis++) {
            const double u = self_test_fraction(state), h = spacing[axis] / p->finer;
            const double length = (double)(p->n[axis] - 1) * h, beyond = 0.6;
            at[axis] = i % 4 == 1 ? (floor(u * (double)p->n[axis]) + (i % 8 == 1 ? 0 : 0.02)) * h
                                  : u * (length + 2 * beyond) - beyond;
        }
        append(list, at);
    }
}

/* One in each plane, or some. */
static void append_next_to_points(atom_list *list, const shape *p, uint32_t *state)
{
    for (int i = 0; i < p->atoms; i++) {
        const double index[3] = {floor(self_test_fraction(state) * (double)p->n[0]),
                                 floor(self_test_fraction(state) * (double)p->n[1]), (double)(i % p->n[2])};
        double at[3];
        for (int axis = 0; axis < 3; axis++)
            at[axis] = index[axis] * spacing[axis] / p->finer + (i % 3 == axis ? fine_distance : 0.3 * fine_distance);
        append(list, at);
    }
}

/* How far a bin is from a region along an axis, the bin being so many steps from the region's own,
 * and the place in it, a little within, that is nearest. */
static double nearest_in_bin(const shape *p, int axis, int64_t region, int64_t step, double *at)
{
    const int64_t first = 8 * region, last = first + 7 < p->n[axis] - 1 ? first + 7 : p->n[axis] - 1;
    const double low = (double)first * spacing[axis], high = (double)last * spacing[axis];
    const double bin = (floor(low / side[axis]) + (double)step) * side[axis], margin = 0.01 * side[axis];
    *at = bin + margin > high               ? bin + margin
          : bin + side[axis] - margin < low ? bin + side[axis] - margin
                                            : fmin(fmax(bin + side[axis] / 3, low), high);
    return *at > high ? *at - high : *at < low ? low - *at : 0;
}

/* An atom in the bin so many steps from a region's own, of the region that it is nearest to; none
 * where it is near no region. */
static void append_in_bin(atom_list *list, const shape *p, const int64_t step[3])
{
    const double far = 0.99;
    double at[3], d2 = 0;
    for (int axis = 0; axis < 3; axis++) {
        double least = INFINITY, there;
        for (int64_t region = 0; 8 * region < p->n[axis]; region++) {
            const double d = nearest_in_bin(p, axis, region, step[axis], &there);
            if (d < least)
                at[axis] = there;
            least = fmin(least, d);
        }
        d2 += least * least;
    }
    if (d2 < far * far)
        append(list, at);
}

static void append_in_each_bin(atom_list *list, const shape *p)
{
    enum { BEYOND = 6 };
    int64_t step[3];
    for (step[2] = -BEYOND; step[2] <= BEYOND; step[2]++)
        for (step[1] = -BEYOND; step[1] <= BEYOND; step[1]++)
            for (step[0] = -BEYOND; step[0] <= BEYOND; step[0]++)
                append_in_bin(list, p, step);
}

/* So many about the middle of each octant that functions which cancel next to the cutoff do not
 * take the region for a fringe. Beyond each of the grid's ends one that only the last point of a
 * row has in reach, and one in a bin whose first corner is nearly as far as the cutoff. */
static void append_covering(atom_list *list, const shape *p, uint32_t *state)
{
    const double *h = covered_spacing;
    for (int64_t octant = 0; octant < p->n[0] * p->n[1] * p->n[2] / 64; octant++) {
        const int64_t index[3] = {octant % 2, octant / 2 % 2, octant / 4};
        for (int i = 0; i < p->atoms; i++) {
            double at[3];
            for (int axis = 0; axis < 3; axis++)
                at[axis] = (4 * (double)index[axis] + 1.5 + 0.4 * (self_test_fraction(state) - 0.5)) * h[axis];
            append(list, at);
        }
    }
    for (int end = 0; end < 12; end++) {
        const int axis = end % 3;
        const double beyond = end < 6 ? 1 - 0.9 * h[axis] : 0.98, length = (double)(p->n[axis] - 1) * h[axis];
        double at[3] = {0};
        at[axis] = end / 3 % 2 == 0 ? length + beyond : -beyond;
        append(list, at);
    }
}

static ley_status make_atoms(const shape *p, const ley_grid *grid, double cutoff_A, ley_atoms **atoms, ley_error *error)
{
    enum { MOST_BINS = 13 * 13 * 13, MOST_COVERING = 16 * 5 + 12 };
    atom_list list = {.capacity = p->is_covered ? MOST_COVERING : (size_t)p->atoms + (p->in_each_bin ? MOST_BINS : 0)};
    double *charge_e = calloc(list.capacity, 5 * sizeof *charge_e);
    if (charge_e == NULL)
        return ley_fail_memory(error, list.capacity * 5 * sizeof *charge_e, "the self-test");
    double *radius_A = charge_e + list.capacity;
    list.at = (double(*)[3])(radius_A + list.capacity);
    uint32_t state = 2013;
    if (p->is_covered)
        append_covering(&list, p, &state);
    else if (p->is_fine)
        append_next_to_points(&list, p, &state);
    else
        append_anywhere(&list, p, &state);
    if (p->in_each_bin)
        append_in_each_bin(&list, p);
    for (size_t i = 0; i < list.count; i++) {
        const double steps[3] = {list.at[i][0] * cutoff_A / grid->step_A[0][0],
                                 list.at[i][1] * cutoff_A / grid->step_A[1][1],
                                 list.at[i][2] * cutoff_A / grid->step_A[2][2]};
        for (int axis = 0; axis < 3; axis++) {
            double from_A = list.at[i][axis] * cutoff_A;
            for (int m = 0; m < axis; m++) /* as the grid's points, where it is oblique */
                from_A += steps[m] * grid->step_A[m][axis];
            list.at[i][axis] = grid->origin_A[axis] + (p->is_fine ? rint(from_A * 0x1p21) * 0x1p-21 : from_A);
        }
        charge_e[i] = p->is_covered ? (i % 4 == 1 ? -1 : 1)
                      : i % 13 == 5 && i < (size_t)p->atoms
                          ? 0
                          : (0.5 + 0.5 * self_test_fraction(&state)) * (self_test_fraction(&state) < 0.25 ? -1 : 1);
        radius_A[i] = cutoff_A * (0.05 + 0.1 * self_test_fraction(&state));
    }
    ley_status status = ley_atoms_create(list.count, list.at[0], charge_e, radius_A, atoms, error);
    free(charge_e);
    return status;
}

/* ---- Problems -------------------------------------------------------------------------------- */

ley_short_range cutoff_test_range(int pair, int depth, const cutoff_problem *problem)
{
    ley_short_range range;
    ley_short_range_default(&range);
    if (pair == LEY_PAIR_EXPRESSION) {
        range = *problem->range;
        for (int axis = 0; axis < 3; axis++)
            range.periodic[axis] = false;
    }
    range.pair = (ley_pair)pair;
    range.kappa_per_A = LEY_TRAITS_OF(range.pair) & LEY_IS_SCREENED ? 3 / range.cutoff_A : range.kappa_per_A;
    range.depth_kcal_mol = NULL;
    range.bin_depth = depth;
    return range;
}

double cutoff_test_r_min_A(const ley_short_range *range)
{
    return (short_range_number_count(range->pair) > 1 ? radii_r_min : charges_r_min) * range->cutoff_A;
}

/* Everything but the bins, whose sides are the test's own. The range's dielectric is in what was
 * built of an expression that names it. */
static ley_status make_problem(const shape *p, const ley_atoms *atoms, const ley_grid *grid,
                               const ley_short_range *range, bool field, cutoff_problem *problem, ley_error *error)
{
    const double r_min_A = p->is_fine ? fine_r_min * range->cutoff_A : cutoff_test_r_min_A(range);
    ley_status status = cutoff_problem_init(problem, atoms, grid, range, 1, range->dielectric, r_min_A, error);
    if (status == LEY_OK && field)
        status = cutoff_problem_add_field(problem, error);
    if (status != LEY_OK)
        return status;
    binning_options o = problem->plan.options;
    for (int axis = 0; axis < 3; axis++) {
        const double side_A = (p->is_covered ? covered_side : side[axis]) * range->cutoff_A;
        o.side_A[axis] = p->is_fine ? ceil(side_A * 64) / 64 : side_A; /* as of o.even_sides */
    }
    return binning_prepare(problem->atoms, &problem->grid, &o, &problem->plan, error);
}

/* In two runs, the second of the last layer. `maps`: one for each component. */
static ley_status compute(cutoff_kernel *k, ley_map *const *maps, ley_error *error)
{
    const int64_t layers = cutoff_layers(&k->problem->grid);
    float *planes[COMPONENTS];
    cutoff_run run = {.kernel = NULL};
    ley_status status = cutoff_run_create(&run, k, layers - 1, error);
    for (int64_t first = 0; first < layers && status == LEY_OK; first += layers - 1) {
        status = cutoff_run_begin(&run, first, first == 0 ? layers - 1 : 1, NULL, error);
        for (int c = 0; c < COMPONENTS && maps[c] != NULL; c++)
            planes[c] = cutoff_run_place(&run, ley_map_values(maps[c]));
        if (status == LEY_OK)
            status = cutoff_run_finish(&run, planes, NULL, error);
    }
    cutoff_run_destroy(&run);
    return status;
}

/* Native maths is taken at its word only where it was measured: there the limit follows the
 * measured error. A power of a distance is off by a multiple of what the distance is; a user's
 * function may be steeper still. Halfway to the cutoff Taylor's functions are 1/r less nearly as
 * much, and kernels take care of what cancels there as a float's rounding makes it necessary: an
 * error far beyond that shows enlarged. */
double cutoff_test_tolerance(int pair, double root_error)
{
    const bool is_steep = LEY_BRINGS_OF(pair) != LEY_BRINGS_CHARGE;
    const double own = pair == LEY_PAIR_EXPRESSION ? 1e-3 : is_steep ? 3e-5 : 1e-5;
    return own + (is_steep || root_error > CALIBRATE_FINEST ? 12 : 4) * fmin(root_error, 1e-3);
}

/* A user's function may vanish anywhere, and be left with no digits there. */
double cutoff_test_least_share(int pair)
{
    return pair == LEY_PAIR_EXPRESSION ? 1 : 0.01;
}

/* What is right of a component (0: the value): a sum, and what a kernel adds to it by itself. */
typedef struct expected {
    const cutoff_problem *problem;
    const test_mesh *mesh; /* NULL: nothing */
    int component;
} expected;

static reference_value expect(const void *context, const double point_A[3])
{
    const expected *e = context;
    reference_value field[3], sum;
    if (e->component > 0)
        cutoff_problem_reference_field(e->problem, point_A, field);
    sum = e->component > 0 ? field[e->component - 1] : cutoff_problem_reference(e->problem, point_A);
    if (e->mesh != NULL)
        test_mesh_add(e->mesh, point_A, &sum);
    return sum;
}

/* A slope is steeper than its function by one power of the distance. */
static ley_status judge(const cutoff_kernel *k, const shape *p, const test_mesh *mesh, int component,
                        const ley_map *map, ley_error *error)
{
    const expected right = {k->problem, k->choice.spec.nodes > 0 ? mesh : NULL, component};
    const ley_grid *l = ley_map_grid(map);
    const size_t points = (size_t)ley_grid_points(l), n_x = (size_t)l->n[0], n_y = (size_t)l->n[1];
    const size_t count = p->judged == 0 || p->judged > points ? points : p->judged;
    const double root_error = k->facts.root_error[k->choice.spec.root];
    char what[64];
    snprintf(what, sizeof what, component > 0 ? "%s, field along %c" : "%s", p->name, 'x' + component - 1);
    self_test t = {.variant = k->choice.variant,
                   .problem = what,
                   .reference = expect,
                   .context = &right,
                   .tolerance =
                       (component > 0 ? 3 : 1) * (p->is_fine ? fine_tolerance + 4 * fmin(root_error, 1e-3)
                                                             : cutoff_test_tolerance(k->choice.spec.pair, root_error)),
                   .least_share = p->is_fine ? fine_share : cutoff_test_least_share(k->choice.spec.pair)};
    ley_status status = self_test_create(&t, count, error);
    for (size_t i = 0; i < count && status == LEY_OK; i++) {
        const size_t at =
            count == points ? i : i * (points - 1) / (count - 1); /* the first, the last, and some between */
        const int64_t index[3] = {(int64_t)(at % n_x), (int64_t)(at / n_x % n_y), (int64_t)(at / n_x / n_y)};
        ley_grid_point_A(l, index, t.point_A[i]);
        t.value[i] = (double)ley_map_read_values(map)[at];
    }
    if (status == LEY_OK)
        status = self_test_judge(&t, error);
    self_test_destroy(&t);
    return status;
}

/* A grid's values are about as large as that of a charge at the cutoff. */
static ley_status load_mesh(cutoff_kernel *k, const ley_grid *points, double cutoff_A, test_mesh *t, ley_error *error)
{
    const int nodes = k->choice.spec.nodes;
    if (nodes == 0)
        return LEY_OK;
    const ley_status status = test_mesh_create(t, points, nodes, k->choice.spec.by_plane != 0, 0.1 / cutoff_A, error);
    return status == LEY_OK ? test_mesh_upload(t, &k->arena, &k->mesh, error) : status;
}

/* As small as is asked for, where that changes nothing else. */
static shape shrunk(const shape *p)
{
    shape less = *p;
    for (int axis = 0; axis < 3 && !p->is_covered && !p->is_fine; axis++)
        less.n[axis] = self_test_less((int)p->n[axis]);
    less.atoms = p->is_covered || p->is_fine ? p->atoms : self_test_less(p->atoms);
    return less;
}

static ley_status test_problem(const cutoff_kernel *kernel, const shape *whole, ley_error *error)
{
    const shape less = shrunk(whole), *p = &less;
    /* Bins are of one problem: a kernel of its own, but for what was built. */
    cutoff_kernel k = {
        .device = kernel->device, .facts = kernel->facts, .choice = kernel->choice, .kernel = kernel->kernel};
    const ley_short_range range =
        cutoff_test_range(kernel->choice.spec.pair, kernel->choice.spec.depth, kernel->problem);
    ley_grid grid = {.n = {p->n[0], p->n[1], p->n[2]}};
    for (int axis = 0; axis < 3; axis++) {
        grid.step_A[axis][axis] = (p->is_covered ? covered_spacing : spacing)[axis] / p->finer * range.cutoff_A;
        grid.origin_A[axis] = origin[axis] * range.cutoff_A;
    }
    if (kernel->choice.spec.oblique) {
        const double unit_A = grid.step_A[0][0];
        grid.step_A[0][1] = shear[0] * unit_A;
        grid.step_A[0][2] = shear[1] * unit_A;
        grid.step_A[1][2] = shear[2] * unit_A;
    }
    ley_atoms *atoms = NULL;
    ley_map *maps[COMPONENTS] = {NULL};
    const int components = LEY_COMPONENTS(k.choice.spec.field);
    cutoff_problem problem = {.binned = NULL};
    test_mesh added = {.points = NULL};
    ley_status status = make_atoms(p, &grid, range.cutoff_A, &atoms, error);
    for (int c = 0; c < components && status == LEY_OK; c++)
        status = ley_map_create(&grid, &maps[c], error);
    if (status == LEY_OK)
        status = make_problem(p, atoms, &grid, &range, k.choice.spec.field, &problem, error);
    if (status == LEY_OK)
        status = cutoff_problem_bin(&problem, error);
    if (status == LEY_OK)
        status = cutoff_kernel_load(&k, &problem, error);
    if (status == LEY_OK)
        status = load_mesh(&k, &grid, range.cutoff_A, &added, error);
    if (status == LEY_OK)
        status = compute(&k, maps, error);
    for (int c = 0; c < components && status == LEY_OK; c++)
        status = judge(&k, p, &added, c, maps[c], error);
    test_mesh_destroy(&added);
    k.kernel.program = NULL; /* the caller's */
    cutoff_kernel_destroy(&k);
    cutoff_problem_clear(&problem);
    for (int c = 0; c < components; c++)
        ley_map_destroy(maps[c]);
    ley_atoms_destroy(atoms);
    return status;
}

/* Compensated sums of charges; without pruning no atom is near, and none has more digits. */
static bool is_fine(const cutoff_kernel *k)
{
    return k->choice.spec.total == LEY_SPEC_SUM_COMPENSATED && k->choice.spec.prune &&
           LEY_BRINGS_OF(k->choice.spec.pair) == LEY_BRINGS_CHARGE && k->choice.spec.pair != LEY_PAIR_EXPRESSION;
}

ley_status cutoff_self_test(const cutoff_kernel *k, ley_error *error)
{
    if (ley_pair_get((ley_pair)k->choice.spec.pair) == NULL) /* it counts */
        return LEY_OK;
    const bool slow = (k->device->info->quirks & DEV_QUIRK_INTERPRETER) != 0;
    const shape *first = slow ? short_problems : problems;
    const size_t count = slow ? sizeof short_problems / sizeof *short_problems : sizeof problems / sizeof *problems;
    ley_status status = LEY_OK;
    for (size_t i = 0; i < count && status == LEY_OK; i++)
        status = test_problem(k, &first[i], error);
    return status == LEY_OK && is_fine(k) ? test_problem(k, slow ? &short_fine_problem : &fine_problem, error) : status;
}
