/* Kernels are wrong in corners: in tiles that are not the first, in the last row of a tile, in late
 * planes, beyond a number of atoms. So there are several problems, each with many of one thing and
 * few of the others, for the judge's time is points times atoms: meshes of several tiles and a
 * part of one, judged at every point, of a few atoms; and a crowd of atoms, judged at a few points,
 * each atom of which is worth several times the error that is right. */
#include "methods/dcs/self_test.h"

#include "error.h"
#include "law/dcs.h"
#include "law/reference.h"
#include "layout/grid_frame.h"
#include "verify/self_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Several points are within r_min of an atom that is among them. */
static const double r_min_A = 1.5, spacing_A[3] = {0.5, 0.625, 0.75}, origin_A[3] = {-3, 40, 1000},
                    oblique_A[3][3] = {{0.5, 0, 0}, {-0.375, 0.625, 0}, {0.25, 0.4375, 0.75}};

typedef struct problem {
    const char *name;
    int tiles; /* whole ones along x and y, beside a part of one */
    int planes, first_plane;
    int atoms;
    int last_atoms; /* of these, in a launch of their own; 0: all come in one, unless they are in constant memory */
    int judged;     /* points; 0: all */
} problem;

enum { CROWD = 10000, CARRIES = 2 * SELF_TEST_PERIOD };

/* In the crowd the first launch is more than two of what kernels sum before they flush (4,096). */
static const problem problems[] = {
    {"several tiles", 4, 2, 0, 9, 0, 0},
    {"many planes", 1, 34, 100, 9, 0, 0},
    {"many atoms", 0, 1, 7, CROWD, CROWD / 10, 100},
};
static const problem short_problems[] = {
    {"several tiles", 1, 2, 100, 9, 0, 0}, {"many atoms", 0, 1, 7, 84, 16, 0}, /* two tiles of 32, and a part of one */
};
static const problem carries = {"carries", 0, 1, 7, CARRIES, 0, 20};

static ley_grid grid_of(const problem *p, const dcs_spec *spec)
{
    const int64_t tile[2] = {tuning_dcs_tile_x(spec), tuning_dcs_tile_y(spec)};
    ley_grid grid = ley_grid_orthogonal(origin_A, spacing_A, (int64_t[3]){0, 0, p->first_plane + p->planes});
    if (spec->oblique)
        memcpy(grid.step_A, oblique_A, sizeof grid.step_A);
    for (int axis = 0; axis < 2; axis++) {
        const int64_t part = p->tiles == 0 ? tile[axis] - 1 : tile[axis] / 3 + 1;
        grid.n[axis] = p->tiles * tile[axis] + (part > 0 ? part : 1);
    }
    return grid;
}

/* In and around the slab: some on points, some within r_min of one, some far from all. */
static void place_among_points(size_t i, const problem *p, const ley_grid *grid, uint32_t *state, double place[3])
{
    const double around[3] = {6, 6, 16}, first[3] = {0, 0, p->first_plane},
                 last[3] = {(double)grid->n[0], (double)grid->n[1], (double)grid->n[2]};
    for (int axis = 0; axis < 3; axis++) {
        const double low = first[axis] - around[axis], high = last[axis] + around[axis];
        const double at = low + (high - low) * self_test_fraction(state),
                     inside = first[axis] + 0.6 * (last[axis] - first[axis]);
        place[axis] = i % 7 == 0 ? floor(at) : i % 11 == 0 ? floor(at) + 0.2 : i == 3 ? floor(inside) : at;
    }
}

/* Where so many steps along each axis lead. */
static void at_place(const ley_grid *grid, const double steps[3], double place_A[3])
{
    for (int axis = 0; axis < 3; axis++)
        place_A[axis] = grid->origin_A[axis] + steps[0] * grid->step_A[0][axis] + steps[1] * grid->step_A[1][axis] +
                        steps[2] * grid->step_A[2][axis];
}

static ley_status make_atoms(const problem *p, const ley_grid *grid, ley_atoms **atoms, ley_error *error)
{
    const size_t n = (size_t)p->atoms;
    const double beside[3] = {(double)grid->n[0] / 2, (double)grid->n[1] / 2, p->first_plane + 30};
    double *position_A = calloc(4 * n, sizeof(double));
    if (position_A == NULL)
        return ley_fail_memory(error, 4 * n * sizeof(double), "the self-test");
    double *charge_e = position_A + 3 * n;
    uint32_t state = 2010;
    for (size_t i = 0; i < n; i++) {
        double place[3];
        place_among_points(i, p, grid, &state, place);
        charge_e[i] = (0.5 + 0.5 * self_test_fraction(&state)) * (self_test_fraction(&state) < 0.25 ? -1 : 1);
        if (p == &carries) {
            charge_e[i] = self_test_carry_e(i);
            memcpy(place, beside, sizeof place);
        }
        at_place(grid, place, position_A + 3 * i);
    }
    ley_status status = ley_atoms_create(n, position_A, charge_e, NULL, atoms, error);
    free(position_A);
    return status;
}

/* Points of the slab, which is float[planes][n_y][n_x] of each component. */
static size_t points_of(const ley_grid *grid, const problem *p)
{
    return (size_t)(grid->n[0] * grid->n[1] * p->planes);
}

/* Runs the loaded kernel and brings its slab back to `map`. */
static ley_status compute(dcs_kernel *k, const problem *p, float *map, ley_error *error)
{
    float *planes[LEY_COMPONENTS(true)];
    for (size_t c = 0; c < LEY_COMPONENTS(true); c++)
        planes[c] = map + c * points_of(&k->problem.grid, p);
    dcs_run run;
    ley_status status = dcs_run_create(&run, k, p->planes, error);
    if (status == LEY_OK)
        status = dcs_run_begin(&run, p->first_plane, p->planes, NULL, error);
    if (status == LEY_OK)
        status = dcs_run_finish(&run, planes, error);
    dcs_run_destroy(&run);
    return status;
}

/* A component is judged, 0: the value. */
typedef struct judged {
    const dcs_kernel *kernel;
    int component;
} judged;

static reference_value right_value(const void *context, const double point_A[3])
{
    const judged *j = context;
    const dcs_kernel *k = j->kernel;
    const reference_terms terms = {.law = &law_dcs,
                                   .constant = k->problem.coulomb_constant,
                                   .atoms = k->problem.atoms,
                                   .r_min_A = k->problem.r_min_A};
    reference_value field[3], right;
    if (j->component > 0)
        reference_field(&terms, point_A, field);
    right = j->component > 0 ? field[j->component - 1] : reference_sum(&terms, point_A);
    if (k->choice.spec.sum == LEY_SPEC_SUM_DOUBLE)
        self_test_allow_float(&right);
    return right;
}

/* Native maths is taken at its word only where it was measured: there the limit follows the
 * measured error. Positions from the grid's origin are rounded by how far from it they are.
 * Double sums are right to the last digit of the map's floats. A slope is steeper than its function
 * by one power of the distance, and has a direction. */
static double tolerance_of(const dcs_kernel *k, const problem *p, int component)
{
    const double times = component > 0 ? 3 : 1;
    const dcs_spec *spec = &k->choice.spec;
    const double recipe = fmin(k->facts.root_error[spec->root], 1e-3);
    const ley_grid *l = &k->problem.grid;
    double low_A[3], high_A[3];
    grid_frame_bounds_A(l, l->n, low_A, high_A);
    const double farthest_A = high_A[0] - low_A[0] + high_A[2] - low_A[2];
    const double rounding = dcs_packing_of(spec) == DCS_PACK_FLOAT ? 1.2e-7 * farthest_A / r_min_A : 0;
    if (spec->sum == LEY_SPEC_SUM_DOUBLE)
        return SELF_TEST_DOUBLE;
    return times * (p == &carries ? SELF_TEST_CARRIES : SELF_TEST_FLOAT + 2 * recipe + rounding);
}

static ley_status judge(const dcs_kernel *k, const problem *p, int component, const float *map, ley_error *error)
{
    const ley_grid *grid = &k->problem.grid;
    const judged of = {k, component};
    const size_t n_x = (size_t)grid->n[0], n_y = (size_t)grid->n[1], points = points_of(grid, p);
    const size_t count = p->judged == 0 || (size_t)p->judged > points ? points : (size_t)p->judged;
    char what[64];
    snprintf(what, sizeof what, component > 0 ? "%s, field along %c" : "%s", p->name, 'x' + component - 1);
    self_test t = {.variant = k->choice.variant,
                   .problem = what,
                   .reference = right_value,
                   .context = &of,
                   .tolerance = tolerance_of(k, p, component)};
    ley_status status = self_test_create(&t, count, error);
    for (size_t i = 0; i < count && status == LEY_OK; i++) {
        const size_t at =
            count == points ? i : i * (points - 1) / (count - 1); /* the first, the last, and some between */
        const double index[3] = {(double)(at % n_x), (double)(at / n_x % n_y),
                                 (double)(at / n_x / n_y) + p->first_plane};
        at_place(grid, index, t.point_A[i]);
        t.value[i] = (double)map[(size_t)component * points + at];
    }
    if (status == LEY_OK)
        status = self_test_judge(&t, error);
    self_test_destroy(&t);
    return status;
}

/* Whether the results have room on the device, and leave some. */
static bool fits(const dcs_kernel *k, const problem *p)
{
    const ley_grid grid = grid_of(p, &k->choice.spec);
    const dev_info *info = k->device->info;
    padded_slab layout = dcs_kernel_layout(k, &grid);
    int64_t bytes = 0;
    layout.planes = p->planes;
    return padding_bytes(&layout, &bytes) &&
           (info->max_allocation_bytes == 0 || (uint64_t)bytes <= info->max_allocation_bytes) &&
           (info->global_bytes == 0 || (uint64_t)bytes <= info->global_bytes / 4);
}

/* As small as is asked for. */
static problem shrunk(const problem *p)
{
    problem less = *p;
    less.tiles = p->tiles > 0 ? self_test_less(p->tiles + 1) - 1 : 0;
    less.planes = self_test_less(p->planes);
    less.atoms = self_test_less(p->atoms);
    less.last_atoms = p->last_atoms > 0 && less.atoms > 1 ? self_test_less(p->last_atoms) : 0;
    return less;
}

static ley_status test_problem(const dcs_kernel *kernel, const problem *whole, ley_error *error)
{
    const problem less = shrunk(whole), *wanted = whole == &carries ? whole : &less;
    /* Atoms are of one problem: a kernel of its own, but for what was built. */
    dcs_kernel k = {
        .device = kernel->device, .facts = kernel->facts, .choice = kernel->choice, .kernel = kernel->kernel};
    problem smaller = *wanted;
    while (!fits(&k, &smaller) &&
           (smaller.tiles > 0 || smaller.planes > 1)) { /* devices of next to no memory see less */
        smaller.planes = smaller.planes > 2 ? smaller.planes / 2 : smaller.tiles > 0 ? smaller.planes : 1;
        smaller.tiles -= smaller.tiles > 0;
    }
    const problem *p = fits(&k, wanted) ? wanted : &smaller;
    const ley_grid grid = grid_of(p, &k.choice.spec);
    const size_t n = (size_t)p->atoms;
    ley_atoms *atoms = NULL;
    float *map = calloc(LEY_COMPONENTS(true) * points_of(&grid, p), sizeof *map);
    ley_status status = map != NULL ? LEY_OK : ley_fail_memory(error, 0, "the self-test");
    if (status == LEY_OK)
        status = make_atoms(p, &grid, &atoms, error);
    if (status == LEY_OK)
        status = dcs_kernel_load_batches(&k, &(dcs_problem){atoms, grid, 1, r_min_A, NULL}, n - (size_t)p->last_atoms,
                                         error);
    if (status == LEY_OK)
        status = compute(&k, p, map, error);
    for (int c = 0; c < LEY_COMPONENTS(k.choice.spec.field) && status == LEY_OK; c++)
        status = judge(&k, p, c, map, error);
    k.kernel.program = NULL; /* the caller's */
    dcs_kernel_destroy(&k);
    ley_atoms_destroy(atoms);
    free(map);
    return status;
}

ley_status dcs_self_test(const dcs_kernel *k, ley_error *error)
{
    const bool slow = (k->device->info->quirks & DEV_QUIRK_INTERPRETER) != 0;
    const problem *first = slow ? short_problems : problems;
    const size_t count = slow ? sizeof short_problems / sizeof *short_problems : sizeof problems / sizeof *problems;
    ley_status status = LEY_OK;
    for (size_t i = 0; i < count && status == LEY_OK; i++)
        status = test_problem(k, &first[i], error);
    if (status == LEY_OK && !slow && k->choice.spec.sum == LEY_SPEC_SUM_COMPENSATED)
        status = test_problem(k, &carries, error);
    return status;
}
