#include "mdh_self_test.h"

#include "accuracy.h"
#include "error.h"
#include "reference.h"
#include "self_test.h"

#include <math.h>
#include <stdlib.h>

static const ley_lattice test_lattice = {{-3, 40, 1000}, {0.5, 0.625, 0.75}, {23, 18, 20}};

/* A molecule across the lattice and beyond it: some radii large, some charges zero, for faces some close to nodes. */
static ley_status make_atoms(size_t n, double largest_radius_A, bool close, ley_atoms **atoms, ley_error *error)
{
    double *position_A = calloc(5 * n, sizeof(double)), *charge_e = position_A + 3 * n, *radius_A = position_A + 4 * n;
    if (position_A == NULL)
        return ley_fail_memory(error, 5 * n * sizeof(double), "the self-test");
    uint32_t state = 2010;
    for (size_t i = 0; i < n; i++) {
        for (int axis = 0; axis < 3; axis++) {
            const double along = floor(self_test_fraction(&state) * (double)(test_lattice.n[axis] + 20) - 10);
            const double within = close && i % 7 == 3 ? 0.02 : 0.3 + 0.4 * self_test_fraction(&state);
            position_A[3 * i + axis] = test_lattice.origin_A[axis] + (along + within) * test_lattice.spacing_A[axis];
        }
        charge_e[i] = i % 13 == 5 ? 0 : 2 * self_test_fraction(&state) - 1;
        radius_A[i] = largest_radius_A * self_test_fraction(&state);
    }
    ley_status status = ley_atoms_create(n, position_A, charge_e, radius_A, atoms, error);
    free(position_A);
    return status;
}

/* What each kind of screening is made for: none; a solution of salt; radii beyond a float's range. */
static ley_solvent test_solvent(int screening, ley_ion ions[1], double *largest_radius_A)
{
    *largest_radius_A = screening == LEY_SCREENING_WIDE ? 45 : 4;
    ions[0] = (ley_ion){1, screening == LEY_SCREENING_WIDE ? 30 : 0.3, 1};
    return (ley_solvent){.dielectric = 78.54, .solute_dielectric = 2, .temperature_K = 298.15,
                         .ion_count = screening == LEY_SCREENING_NONE ? 0 : 1, .ions = ions};
}

static ley_status make_boundary(int points, ley_boundary **boundary, ley_error *error)
{
    enum { COUNT = 333 };
    ley_status status = ley_boundary_create(&test_lattice, boundary, error);
    if (status != LEY_OK || points == LEY_POINTS_FACES)
        return status;
    double point_A[3 * COUNT];
    for (int64_t i = 0; i < COUNT; i++)
        ley_boundary_point_A(*boundary, i * 7 % ley_boundary_points(*boundary), point_A + 3 * i);
    ley_boundary_destroy(*boundary);
    *boundary = NULL;
    return ley_boundary_create_points(COUNT, point_A, boundary, error);
}

/* In two runs, so that one begins within a face. */
static ley_status compute(mdh_kernel *k, const mdh_problem *problem, ley_boundary *boundary, ley_error *error)
{
    mdh_run run = {.kernel = NULL};
    const int64_t middle = problem->rows / 2 - 3;
    ley_status status = LEY_OK;
    for (int half = 0; half < 2 && status == LEY_OK; half++) {
        status = mdh_run_begin(&run, k, half * middle, half == 0 ? middle : problem->rows - middle, error);
        if (status == LEY_OK)
            status = mdh_run_finish(&run, NULL, ley_boundary_values(boundary), error);
    }
    mdh_run_end(&run, k->device);
    if (status == LEY_OK && problem->patch_count > 0)
        patches_share_edges(boundary);
    return status;
}

static ley_status compare(const mdh_kernel *k, const mdh_problem *problem, const ley_solvent *solvent, const ley_boundary *boundary,
                          ley_error *error)
{
    const size_t n = (size_t)ley_boundary_points(boundary);
    reference_value *references = calloc(n, sizeof *references);
    if (references == NULL)
        return ley_fail_memory(error, n * sizeof *references, "the self-test");
    for (size_t i = 0; i < n; i++) {
        double point_A[3];
        ley_boundary_point_A(boundary, (int64_t)i, point_A);
        references[i] = reference_mdh(problem->atoms, point_A, solvent);
    }
    /* Native maths is taken at its word only where it was measured: there the limit follows the measured error. */
    const mdh_spec *spec = &k->choice.spec;
    const double recipes = fmin(k->facts.root_error[spec->root], 1e-3) + fmin(k->facts.exp_error[spec->exp], 1e-3);
    const double promise = spec->sum == LEY_SPEC_SUM_DOUBLE ? 1e-12 : problem->promise + recipes;
    const ley_accuracy a = accuracy_compare(n, ley_boundary_read_values(boundary), references,
                                            (accuracy_limits){promise, ACCURACY_NOTHING}, NULL);
    free(references);
    if (a.passed)
        return LEY_OK;
    return ley_fail(error, LEY_ERROR_WRONG_RESULT,
                    "self-test of mdh failed on %s (%s): an error of %.3g of the absolute terms, at most %.3g is right", k->device->info->name,
                    k->choice.variant, a.max_error, a.tolerance);
}

ley_status mdh_self_test(mdh_kernel *k, ley_error *error)
{
    const bool slow = (k->device->info->quirks & DEV_QUIRK_INTERPRETER) != 0;
    const mdh_spec *spec = &k->choice.spec;
    ley_ion ions[1];
    double largest_radius_A;
    const ley_solvent solvent = test_solvent(spec->screening, ions, &largest_radius_A);
    ley_atoms *atoms = NULL;
    ley_boundary *boundary = NULL;
    mdh_problem problem = {.order = NULL};
    ley_status status = make_atoms(slow ? 90 : 1500, largest_radius_A, spec->points == LEY_POINTS_FACES, &atoms, error);
    if (status == LEY_OK)
        status = make_boundary(spec->points, &boundary, error);
    if (status == LEY_OK)
        status = mdh_problem_init(&problem, atoms, boundary, ley_solvent_coulomb_constant(&solvent) / solvent.dielectric,
                                  ley_screening_per_A(&solvent), error);
    if (status == LEY_OK) {
        problem.screening = spec->screening;
        k->most_part_atoms = slow ? 40 : 600; /* two parts in a launch, and two launches */
        status = mdh_kernel_load(k, &problem, error);
    }
    if (status == LEY_OK)
        status = compute(k, &problem, boundary, error);
    if (status == LEY_OK)
        status = compare(k, &problem, &solvent, boundary, error);
    mdh_problem_end(&problem);
    ley_boundary_destroy(boundary);
    ley_atoms_destroy(atoms);
    return status;
}
