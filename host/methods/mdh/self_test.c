/* As of dcs: many points of a few atoms, and a crowd of atoms at a few points. Work-items are
 * strided over a face, so that faces have both whole work-items and parts of them only where they
 * are made to measure; and groups of them are many in some variants. */
#include "methods/mdh/self_test.h"
#include "methods/mdh/run.h"

#include "error.h"
#include "law/dcs.h"
#include "law/reference.h"
#include "verify/self_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double spacing_A[3] = {0.5, 0.625, 0.75}, origin_A[3] = {-3, 40, 1000};

/* Longer ones are made of shorter spacings: with the widest screening little would be left of the
 * far atoms. */
static const double longest_edge_A = 25;

/* Of sums of distances that are at least r_min. */
static const double r_min_steps = 0.1;

typedef struct problem {
    const char *name;
    int atoms, part; /* atoms in a part, at most; 0: as in a job */
    int judged;      /* points; 0: all */
    bool small;      /* as few points as a run of the kernel has, rather than several groups of work-items */
    bool one_run;    /* of some rows of a face, or of a list */
} problem;

/* Every 13th atom has no charge, and is left out. The crowd goes in two launches of three parts,
 * the first launch of more than 8,192 atoms. No number of atoms of a part is a multiple of 4, by
 * which compilers unroll loops, and the last part has fewer than the others: 11 atoms; 2,803 in
 * each part and 2,801 in the last. */
static const problem problems[] = {
    {"many points", 12, 0, 0, false, false},
    {"many atoms", 18217, 3000, 60, true, true},
};
static const problem short_problems[] = {
    {"all points", 9, 3, 0, true, false},
    {"many atoms", 90, 24, 40, true, true},
};
static const problem carries = {"carries", 3 * SELF_TEST_PERIOD, SELF_TEST_PERIOD, 20, true, true};

/* ---- Points ---------------------------------------------------------------------------------- */

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Of a face, its last row and column are other faces' (patches.h). Along x whole work-items, two at
 * least; along y one and a part of one; along z whole ones again: so faces across y have whole ones
 * alone, the last of whose points is there, and others parts. */
static ley_grid grid_of(const problem *p, const mdh_spec *spec)
{
    const int64_t columns = (int64_t)spec->width * spec->ux, rows = spec->points == LEY_POINTS_LIST ? 8 : spec->uy;
    const int64_t least = p->small || spec->wg == 1 ? 8 : 72; /* several groups of work-items on each face */
    const int64_t n[3] = {columns * larger((least + columns - 1) / columns, 2),
                          larger(columns + spec->width + 3, least * 3 / 4),
                          rows * larger((least + rows - 1) / rows, 2)};
    ley_grid grid = {.n = {n[0] + 1, n[1] + 1, n[2] + 1}};
    const double longest_A =
        fmax((double)n[0] * spacing_A[0], fmax((double)n[1] * spacing_A[1], (double)n[2] * spacing_A[2]));
    for (int axis = 0; axis < 3; axis++) {
        grid.origin_A[axis] = origin_A[axis];
        grid.step_A[axis][axis] = spacing_A[axis] * fmin(1, longest_edge_A / longest_A);
    }
    return grid;
}

/* Nodes of the grid's faces, in no order, in two groups of work-items and a part of one. */
static ley_status make_list(const problem *p, const mdh_spec *spec, const ley_grid *grid, ley_boundary **boundary,
                            ley_error *error)
{
    const int64_t group = (int64_t)spec->wg * spec->width * spec->ux;
    const size_t n = (size_t)(p->small ? group - 1 : 2 * group + group / 2 + 3);
    ley_boundary *faces = NULL;
    double(*point_A)[3] = calloc(n, sizeof *point_A);
    ley_status status = point_A != NULL ? ley_boundary_create(grid, &faces, error)
                                        : ley_fail_memory(error, n * sizeof *point_A, "the self-test");
    for (size_t i = 0; i < n && status == LEY_OK; i++)
        ley_boundary_point_A(faces, (int64_t)i * 7 % ley_boundary_points(faces), point_A[i]);
    if (status == LEY_OK)
        status = ley_boundary_create_points((int64_t)n, point_A[0], boundary, error);
    ley_boundary_destroy(faces);
    free(point_A);
    return status;
}

static ley_status make_boundary(const problem *p, const mdh_spec *spec, const ley_grid *grid, ley_boundary **boundary,
                                ley_error *error)
{
    return spec->points == LEY_POINTS_LIST ? make_list(p, spec, grid, boundary, error)
                                           : ley_boundary_create(grid, boundary, error);
}

/* ---- Atoms ----------------------------------------------------------------------------------- */

/* What each kind of screening is made for: none; a solution of salt; radii beyond a float's
 * range. */
static ley_solvent test_solvent(int screening, ley_ion ions[1], double *largest_radius_A)
{
    *largest_radius_A = screening == LEY_SCREENING_WIDE ? 45 : 4;
    ions[0] = (ley_ion){1, screening == LEY_SCREENING_WIDE ? 30 : 0.3, 1};
    return (ley_solvent){.dielectric = 78.54,
                         .solute_dielectric = 2,
                         .temperature_K = 298.15,
                         .ion_count = screening == LEY_SCREENING_NONE ? 0 : 1,
                         .ions = ions};
}

/* In the grid and a little beyond it, in steps from its first node. Where the points are those
 * of faces, some atoms are close to a node; where they are a list, only those are within r_min of
 * one of its points, because else the host sums such pairs. */
static void place_among_points(size_t i, const ley_boundary *boundary, const ley_grid *grid, uint32_t *state,
                               double place[3])
{
    const bool is_list = ley_boundary_grid(boundary) == NULL;
    const int face = (int)(i % 6);
    for (int axis = 0; axis < 3; axis++) {
        const double n = (double)grid->n[axis], beyond = 5, along = self_test_fraction(state),
                     within = self_test_fraction(state);
        place[axis] = floor(along * (n - 1 + 2 * beyond) - beyond) + 0.3 + 0.4 * within;
        if (!is_list && i % 7 == 3) /* 0.02 of a cell from a node of this face */
            place[axis] = (axis != face / 2 ? floor(along * n) : face % 2 == 0 ? 0 : n - 1) + 0.02;
    }
}

/* Some 0.02 of a step from points of a list, where short distances count as r_min. */
static void place_next_to_point(size_t i, const ley_boundary *boundary, const ley_grid *grid, double place[3])
{
    double point_A[3];
    ley_boundary_point_A(boundary, (int64_t)(i * 17) % ley_boundary_points(boundary), point_A);
    for (int axis = 0; axis < 3; axis++)
        place[axis] = (point_A[axis] - grid->origin_A[axis]) / grid->step_A[axis][axis] + 0.02;
}

static ley_status make_atoms(const problem *p, double largest_radius_A, const ley_boundary *boundary,
                             const ley_grid *grid, bool has_r_min, ley_atoms **atoms, ley_error *error)
{
    const size_t n = (size_t)p->atoms;
    double *position_A = calloc(5 * n, sizeof(double));
    if (position_A == NULL)
        return ley_fail_memory(error, 5 * n * sizeof(double), "the self-test");
    double *charge_e = position_A + 3 * n, *radius_A = position_A + 4 * n;
    uint32_t state = 2010;
    enum { LAST = 4, LEAST_CROWD = 1000 };
    for (size_t i = 0; i < n; i++) {
        double place[3];
        place_among_points(i, boundary, grid, &state, place);
        if (has_r_min && i % 7 == 3)
            place_next_to_point(i, boundary, grid, place);
        charge_e[i] =
            i % 13 == 5 ? 0 : (0.5 + 0.5 * self_test_fraction(&state)) * (self_test_fraction(&state) < 0.25 ? -1 : 1);
        radius_A[i] = largest_radius_A * self_test_fraction(&state);
        if (i + LAST >= n && n > LEAST_CROWD) { /* these are worth more than what is right */
            charge_e[i] *= 20;
            radius_A[i] = largest_radius_A;
        }
        if (p == &carries) {
            charge_e[i] = self_test_carry_e(i);
            radius_A[i] = 1;
        }
        for (int axis = 0; axis < 3; axis++) {
            const double at = p == &carries ? (double)grid->n[axis] / 2 : place[axis];
            position_A[3 * i + (size_t)axis] = grid->origin_A[axis] + at * grid->step_A[axis][axis];
        }
    }
    ley_status status = ley_atoms_create(n, position_A, charge_e, radius_A, atoms, error);
    free(position_A);
    return status;
}

/* ---- Runs ------------------------------------------------------------------------------------ */

typedef struct trial {
    const problem *p;
    mdh_kernel *kernel;
    mdh_problem m;
    ley_boundary *boundary;
    double *field; /* of all points; NULL: the kernel has none */
    int axis;      /* of the field, while that is judged */
} trial;

/* Which rows are run: all, or of a face two work-items' from its second row on. */
static void rows_of(const trial *t, int64_t *first, int64_t *end)
{
    *first = 0;
    *end = t->m.rows;
    if (!t->p->one_run || t->m.patch_count == 0)
        return;
    *first = t->m.patches[0].n_b + t->m.patches[1].n_b + 1;
    *end = *first + t->kernel->choice.spec.uy;
}

/* All rows in two runs, so that one begins within a face. */
static ley_status compute(trial *t, ley_error *error)
{
    mdh_run run = {.kernel = NULL};
    int64_t first, end;
    rows_of(t, &first, &end);
    const int64_t middle = t->p->one_run ? end : end / 2 - 3;
    ley_status status = LEY_OK;
    for (int64_t from = first; from < end && status == LEY_OK; from = from == first && middle < end ? middle : end) {
        status = mdh_run_begin(&run, t->kernel, from, (from == first ? middle : end) - from, NULL, error);
        if (status == LEY_OK)
            status = mdh_run_finish(&run, ley_boundary_values(t->boundary), t->field, error);
    }
    mdh_run_end(&run);
    if (status == LEY_OK && !t->p->one_run && t->m.patch_count > 0)
        patches_share_edges(t->boundary);
    return status;
}

/* Of all points that were computed the i-th one's number. */
static int64_t computed_point(const trial *t, int64_t i)
{
    if (!t->p->one_run || t->m.patch_count == 0)
        return i;
    const patch *face = &t->m.patches[2];
    return t->boundary->face[face->face] + (face->first_b + 1 + i / face->n_a) * t->m.frame.n[0] + face->first_a +
           i % face->n_a;
}

static reference_value right_value(const void *context, const double point_A[3])
{
    const trial *t = context;
    reference_terms terms;
    mdh_problem_terms(&t->m, &terms);
    return reference_sum(&terms, point_A);
}

static reference_value right_field(const void *context, const double point_A[3])
{
    const trial *t = context;
    reference_terms terms;
    reference_value field[3];
    mdh_problem_terms(&t->m, &terms);
    terms.law = &law_dcs; /* with an r_min of 0, too */
    reference_field(&terms, point_A, field);
    return field[t->axis];
}

/* Native maths is taken at its word only where it was measured: there the limit follows the
 * measured error. */
static double tolerance_of(const trial *t)
{
    const mdh_spec *spec = &t->kernel->choice.spec;
    const double *root_error = t->kernel->facts.root_error, *exp_error = t->kernel->facts.exp_error;
    if (spec->sum == LEY_SPEC_SUM_DOUBLE)
        return SELF_TEST_DOUBLE;
    if (t->p == &carries)
        return SELF_TEST_CARRIES;
    const double of_exps = spec->screening == LEY_SCREENING_NONE ? 0 : fmin(exp_error[spec->exp], 1e-3);
    return t->m.promise + fmin(root_error[spec->root], 1e-3) + of_exps;
}

/* Numbers of which each point has one at every `stride`-th place. */
static ley_status judge_numbers(const trial *t, const char *what, const double *numbers, int64_t stride,
                                ley_error *error)
{
    int64_t first, end;
    rows_of(t, &first, &end);
    const int64_t points =
        t->p->one_run ? mdh_problem_points(&t->m, first, end - first) : ley_boundary_points(t->boundary);
    const int64_t count = t->p->judged == 0 || t->p->judged > points ? points : t->p->judged;
    self_test s = {.variant = t->kernel->choice.variant,
                   .problem = what,
                   .reference = stride == 1 ? right_value : right_field,
                   .context = t,
                   .tolerance = stride == 1 ? tolerance_of(t) : 3 * tolerance_of(t)};
    ley_status status = self_test_create(&s, (size_t)count, error);
    for (int64_t i = 0; i < count && status == LEY_OK; i++) {
        const int64_t at = computed_point(t, count == points ? i : i * (points - 1) / (count - 1));
        ley_boundary_point_A(t->boundary, at, s.point_A[i]);
        s.value[i] = numbers[stride * at];
    }
    if (status == LEY_OK)
        status = self_test_judge(&s, error);
    self_test_destroy(&s);
    return status;
}

static ley_status judge(trial *t, ley_error *error)
{
    char what[64];
    ley_status status = judge_numbers(t, t->p->name, ley_boundary_read_values(t->boundary), 1, error);
    for (t->axis = 0; t->axis < 3 && status == LEY_OK && t->field != NULL; t->axis++) {
        snprintf(what, sizeof what, "%s, field along %c", t->p->name, 'x' + t->axis);
        status = judge_numbers(t, what, t->field + t->axis, 3, error);
    }
    return status;
}

static ley_status make_field(trial *t, ley_error *error)
{
    const size_t n = (size_t)ley_boundary_points(t->boundary);
    if (!t->kernel->choice.spec.field)
        return LEY_OK;
    t->field = calloc(3 * n, sizeof *t->field);
    return t->field != NULL ? LEY_OK : ley_fail_memory(error, 3 * n * sizeof *t->field, "the self-test");
}

/* As small as is asked for. */
static problem shrunk(const problem *p)
{
    problem less = *p;
    less.atoms = self_test_less(p->atoms);
    less.part = p->part > 0 ? self_test_less(p->part) : 0;
    return less;
}

static ley_status test_problem(const mdh_kernel *kernel, const problem *whole, ley_error *error)
{
    const problem less = shrunk(whole), *p = whole == &carries ? whole : &less;
    /* Atoms are of one problem: a kernel of its own, but for what was built. */
    mdh_kernel k = {.device = kernel->device,
                    .facts = kernel->facts,
                    .choice = kernel->choice,
                    .kernel = kernel->kernel,
                    .sums = kernel->sums,
                    .most_part_atoms = p->part};
    const mdh_spec *spec = &k.choice.spec;
    const ley_grid grid = grid_of(p, spec);
    const bool has_r_min = spec->points == LEY_POINTS_LIST && spec->screening == LEY_SCREENING_NONE && p != &carries;
    double largest_radius_A;
    trial t = {.p = p, .kernel = &k};
    ley_ion ions[1];
    const ley_solvent solvent = test_solvent(spec->screening, ions, &largest_radius_A);
    ley_atoms *atoms = NULL;
    ley_status status = make_boundary(p, spec, &grid, &t.boundary, error);
    if (status == LEY_OK)
        status = make_field(&t, error);
    if (status == LEY_OK)
        status = make_atoms(p, largest_radius_A, t.boundary, &grid, has_r_min, &atoms, error);
    if (status == LEY_OK)
        status = mdh_problem_init(&t.m, atoms, t.boundary, ley_solvent_coulomb_constant(&solvent) / solvent.dielectric,
                                  ley_screening_per_A(&solvent), error);
    t.m.r_min_A = has_r_min ? r_min_steps * grid.step_A[0][0] : 0;
    if (status == LEY_OK) {
        t.m.screening = spec->screening;
        status = mdh_kernel_load(&k, &t.m, error);
    }
    if (status == LEY_OK)
        status = compute(&t, error);
    if (status == LEY_OK)
        status = judge(&t, error);
    k.kernel.program = k.sums.program = NULL; /* the caller's */
    mdh_kernel_destroy(&k);
    mdh_problem_end(&t.m);
    ley_boundary_destroy(t.boundary);
    ley_atoms_destroy(atoms);
    free(t.field);
    return status;
}

ley_status mdh_self_test(const mdh_kernel *k, ley_error *error)
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

/* ---- sum_parts ------------------------------------------------------------------------------- */

/* Several groups of work-items, and a part of one. */
enum { SUM_VALUES = 200, SUM_PARTS = 5 };

/* Whole numbers, which are summed without rounding: of a part a value, or what of it was lost. */
static double summand(int part, int i, bool lost)
{
    return lost ? (part + i) % 3 + 1 : (i * 7 + part * 13) % 101 - 50;
}

static void put_number(bool is_double, void *numbers, size_t at, double number)
{
    if (is_double)
        ((double *)numbers)[at] = number;
    else
        ((float *)numbers)[at] = (float)number;
}

static ley_status compare_sums(const mdh_kernel *k, const void *sums, ley_error *error)
{
    const int sum = k->choice.spec.sum;
    for (int i = 0; i < SUM_VALUES; i++) {
        double right = 0;
        for (int part = 0; part < SUM_PARTS; part++)
            right += summand(part, i, false) - (sum == LEY_SPEC_SUM_COMPENSATED ? summand(part, i, true) : 0);
        const double value = sum == LEY_SPEC_SUM_DOUBLE ? ((const double *)sums)[i] : (double)((const float *)sums)[i];
        if (!(value == right))
            return ley_fail(error, LEY_ERROR_WRONG_RESULT, "sum %d of %d is %.9g, not %.9g", i, SUM_VALUES, value,
                            right);
    }
    return LEY_OK;
}

/* The sums come to where other numbers are. */
static ley_status sum_on_device(const mdh_kernel *k, arena *r, command_sequence *w, const void *numbers,
                                size_t value_bytes, ley_error *error)
{
    const size_t part_bytes = 2 * SUM_PARTS * SUM_VALUES * value_bytes, bytes = SUM_VALUES * value_bytes;
    buffer_of_real parts;
    results sums = {.buffer = NULL};
    ley_status status = arena_buffer(r, part_bytes, DEV_READ_WRITE, &parts.buffer, error);
    if (status == LEY_OK)
        status = arena_results(r, (int64_t)bytes, &sums, error);
    if (status != LEY_OK)
        return status;
    sequence_write(w, parts.buffer, 0, numbers, part_bytes);
    sequence_write(w, sums.buffer, 0, numbers, bytes);
    mdh_launch_sums(w, k, parts, SUM_PARTS, SUM_VALUES, (buffer_of_real){sums.buffer});
    sequence_read(w, sums.buffer, 0, sums.staging, bytes);
    status = sequence_finish(w, error);
    return status == LEY_OK ? compare_sums(k, sums.staging->bytes, error) : status;
}

ley_status mdh_sums_self_test(const mdh_kernel *k, ley_error *error)
{
    const bool is_double = k->choice.spec.sum == LEY_SPEC_SUM_DOUBLE;
    const size_t bytes = is_double ? sizeof(double) : sizeof(float), count = 2 * SUM_PARTS * SUM_VALUES;
    arena r = {.device = k->device};
    flight f = {.device = k->device};
    command_sequence w = {.flight = NULL};
    void *numbers = calloc(count, bytes);
    if (numbers == NULL)
        return ley_fail_memory(error, count * bytes, "the self-test");
    for (size_t i = 0; i < count; i++) /* what was lost lies behind the values */
        put_number(is_double, numbers, i,
                   summand((int)(i / SUM_VALUES) % SUM_PARTS, (int)(i % SUM_VALUES), i >= count / 2));
    sequence_begin(&w, &f, NULL);
    ley_status status = sum_on_device(k, &r, &w, numbers, bytes, error);
    sequence_end(&w);
    arena_clear(&r);
    free(numbers);
    return status;
}
