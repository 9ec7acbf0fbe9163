/* Every method on grids whose steps are not along x, y and z, against a plain sum in double
 * precision over the atoms, and their images, as it stands here. */
#include "support.h"

#include "leyden_map_formats.h"

#include <float.h>

static ley_engine *engine; /* of the device under test */

/* ---- Grids ----------------------------------------------------------------------------------- */

typedef struct oblique_grid {
    const char *name;
    ley_grid grid;
} oblique_grid;

#define COS_10 0.984807753012208
#define SIN_10 0.17364817766693

static const oblique_grid grids[] = {
    {"axes in another order", {{-3, 1, -7}, {{0, 0, 0.5}, {0.625, 0, 0}, {0, 0.75, 0}}, {21, 19, 9}}},
    {"turned by 30 degrees",
     {{-3, 1, -7}, {{0.433012701892219, 0.25, 0}, {-0.25, 0.433012701892219, 0}, {0, 0, 0.5}}, {21, 19, 9}}},
    {"monoclinic", {{-3, 1, -7}, {{0.5, 0, 0}, {0, 0.6, 0}, {-0.2, 0, 0.5}}, {25, 9, 13}}},
    {"rhombic dodecahedron",
     {{1, -2, 3},
      {{0.5, 0, 0}, {0.25, 0.433012701892219, 0}, {0.25, 0.144337567297406, 0.408248290463863}},
      {20, 17, 11}}},
    {"truncated octahedron",
     {{1, -2, 3},
      {{0.6, 0, 0}, {0.2, 0.565685424949238, 0}, {-0.2, 0.282842712474619, 0.489897948556636}},
      {19, 21, 10}}},
    {"left-handed", {{0, 0, 0}, {{0.5, 0.1, 0.2}, {-0.1, 0.2, 0.5}, {0.1, 0.6, -0.1}}, {17, 11, 10}}},
    {"10 degrees", {{5, 5, 5}, {{0.8, 0, 0}, {0.8 * COS_10, 0.8 * SIN_10, 0}, {0, 0.3, 0.5}}, {18, 20, 9}}},
    {"two planes", {{0, 0, 0}, {{0.5, 0, 0}, {-0.3, 0.5, 0}, {0.4, 0.3, 0.6}}, {33, 10, 2}}},
};
enum { GRIDS = sizeof grids / sizeof *grids };

static double fraction(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / (1 << 24);
}

/* Atoms in the grid and around it, neutral together; every seventh one lies on a point, or beside
 * one. */
static ley_atoms *atoms_of(const ley_grid *grid, size_t n, double beyond)
{
    double *position_A = calloc(4 * n, sizeof *position_A), *charge_e = position_A + 3 * n;
    double total_e = 0;
    uint32_t state = 7;
    for (size_t i = 0; i < n; i++) {
        double at[3];
        for (int m = 0; m < 3; m++) {
            at[m] = ((1 + 2 * beyond) * fraction(&state) - beyond) * (double)(grid->n[m] - 1);
            at[m] = i % 7 == 3 ? floor(at[m]) + (i % 2 != 0 ? 0.01 : 0) : at[m];
        }
        for (int axis = 0; axis < 3; axis++)
            position_A[3 * i + (size_t)axis] = grid->origin_A[axis] + at[0] * grid->step_A[0][axis] +
                                               at[1] * grid->step_A[1][axis] + at[2] * grid->step_A[2][axis];
        charge_e[i] = i + 1 < n ? 2 * fraction(&state) - 1 : -total_e;
        total_e += charge_e[i];
    }
    ley_atoms *atoms = support_make_atoms(n, position_A, charge_e, NULL);
    free(position_A);
    return atoms;
}

/* ---- Sums ------------------------------------------------------------------------------------ */

/* What is summed: what one pair adds, of q_j in e and r_ij in A; over which images; and what values
 * are at least as large as, where errors are judged. */
typedef struct formula {
    double (*term)(const struct formula *f, double q, double r);
    double r_min_A, cutoff_A, least;
    const double (*cell_A)[3]; /* NULL: no images */
} formula;

static void add_images(const formula *f, const double d_A[3], double q, double *sum, double *magnitude)
{
    const int most = f->cell_A != NULL ? 2 : 0;
    for (int i = -most; i <= most; i++)
        for (int k = -most; k <= most; k++)
            for (int l = -most; l <= most; l++) {
                double r2 = 0;
                for (int axis = 0; axis < 3; axis++) {
                    const double image_A =
                        most > 0 ? i * f->cell_A[0][axis] + k * f->cell_A[1][axis] + l * f->cell_A[2][axis] : 0;
                    r2 += (d_A[axis] + image_A) * (d_A[axis] + image_A);
                }
                if (f->cutoff_A > 0 && r2 >= f->cutoff_A * f->cutoff_A)
                    continue;
                const double added = f->term(f, q, fmax(sqrt(r2), f->r_min_A));
                *sum += added;
                *magnitude += fabs(added);
            }
}

/* The largest error of a point, relative to the sum of its absolute terms. */
static double worst_error(const ley_map *map, const ley_atoms *atoms, const formula *f)
{
    const ley_grid *grid = ley_map_grid(map);
    const double *position_A = ley_atoms_positions_A(atoms), *charge_e = ley_atoms_charges_e(atoms);
    const int64_t points = ley_grid_points(grid);
    double worst = 0;
    for (int64_t p = 0; p < points; p += p % 3 + 1) {
        const int64_t at[3] = {p % grid->n[0], p / grid->n[0] % grid->n[1], p / grid->n[0] / grid->n[1]};
        double point_A[3], sum = 0, magnitude = f->least;
        for (int axis = 0; axis < 3; axis++)
            point_A[axis] = grid->origin_A[axis] + (double)at[0] * grid->step_A[0][axis] +
                            (double)at[1] * grid->step_A[1][axis] + (double)at[2] * grid->step_A[2][axis];
        for (size_t j = 0; j < ley_atoms_count(atoms); j++) {
            const double d_A[3] = {point_A[0] - position_A[3 * j], point_A[1] - position_A[3 * j + 1],
                                   point_A[2] - position_A[3 * j + 2]};
            add_images(f, d_A, charge_e[j], &sum, &magnitude);
        }
        const double value = (double)ley_map_read_values(map)[p], off = fabs(value - sum) / magnitude;
        worst = off <= worst ? worst : isfinite(off) ? off : INFINITY;
    }
    return worst;
}

static void assert_right(double error, double limit, const char *what, const char *where)
{
    if (!(error <= limit))
        fail_msg("%s, %s: off by %g", what, where, error);
}

/* As many planes a slab as may be, and one: the bytes are the same. */
static ley_map *run(const ley_atoms *atoms, const ley_grid *grid, support_options options)
{
    ley_map *map = support_run(engine, atoms, grid, &options);
    options.slab_planes = 1;
    ley_map *in_slabs = support_run(engine, atoms, grid, &options);
    assert_memory_equal(ley_map_values(map), ley_map_values(in_slabs), (size_t)ley_grid_points(grid) * sizeof(float));
    ley_map_destroy(in_slabs);
    return map;
}

static bool is_tried(const char *variant)
{
    return support_tries_variant(engine, variant) &&
           (strncmp(variant, "vector", 6) != 0 || support_has_vectors(engine));
}

/* ---- Direct summation ------------------------------------------------------------------------ */

static double direct_term(const formula *f, double q, double r)
{
    return q * ley_coulomb_constant(LEY_UNITS_KT_E, 1, 298.15) / r;
}

static void check_direct(const oblique_grid *l, const char *variant, ley_sum sum)
{
    support_options options = support_default_options();
    options.variant = variant;
    options.sum = sum;
    const formula f = {direct_term, .r_min_A = options.r_min_A, .least = DBL_MIN};
    ley_atoms *atoms = atoms_of(&l->grid, 400, 0.3);
    ley_map *map = run(atoms, &l->grid, options);
    assert_right(worst_error(map, atoms, &f), sum == LEY_SUM_DOUBLE ? 1e-7 : 3e-6, variant != NULL ? variant : "dcs",
                 l->name);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
}

static void test_direct_sums(void **state)
{
    const bool has_double = ley_engine_device(engine, 0)->has_double;
    for (int i = 0; i < GRIDS; i++)
        check_direct(&grids[i], NULL, LEY_SUM_FLOAT);
    check_direct(&grids[3], NULL, LEY_SUM_COMPENSATED);
    for (int i = 2; i < GRIDS && has_double; i += 3)
        check_direct(&grids[i], NULL, LEY_SUM_DOUBLE);
    for (int v = 0; v < support_variants("dcs", LEY_TARGET_GRID); v++)
        if (is_tried(ley_variant_name("dcs", LEY_TARGET_GRID, (size_t)v)))
            check_direct(&grids[4], ley_variant_name("dcs", LEY_TARGET_GRID, (size_t)v), LEY_SUM_FLOAT);
}

/* Of nearly flat grids steps are many between an atom and its plane; and atoms are far outside. */
static void test_flat_grids(void **state)
{
    static const oblique_grid flat[] = {
        {"nearly a plane", {{1, -2, 3}, {{0.5, 0, 0}, {0.3, 0.4, 0}, {0.35, 0.35, 1e-5}}, {19, 20, 60}}},
        {"nearly a line", {{1, -2, 3}, {{0.5, 0, 0}, {0.5, 0.002, 0}, {0.4, 0.1, 0.003}}, {21, 18, 50}}},
    };
    const formula f = {direct_term, .r_min_A = support_default_options().r_min_A, .least = DBL_MIN};
    for (size_t i = 0; i < sizeof flat / sizeof *flat; i++) {
        double position_A[3 * 200], charge_e[200];
        uint32_t state_of = 5;
        for (int k = 0; k < 3 * 200; k++)
            position_A[k] = flat[i].grid.origin_A[k % 3] + 40 * fraction(&state_of) - 10;
        for (int k = 0; k < 200; k++)
            charge_e[k] = k % 2 == 0 ? 0.5 : -0.5;
        ley_atoms *atoms = support_make_atoms(200, position_A, charge_e, NULL);
        ley_map *map = run(atoms, &flat[i].grid, support_default_options());
        assert_right(worst_error(map, atoms, &f), 3e-6, "dcs", flat[i].name);
        ley_map_destroy(map);
        ley_atoms_destroy(atoms);
    }
}

/* ---- Short-range sums ------------------------------------------------------------------------ */

static double taylor2_term(const formula *f, double q, double r)
{
    const double s = r * r / (f->cutoff_A * f->cutoff_A);
    return q * ley_coulomb_constant(LEY_UNITS_KT_E, 1, 298.15) *
           (1 / r - (15.0 / 8 - 10.0 / 8 * s + 3.0 / 8 * s * s) / f->cutoff_A);
}

static const double dodecahedron_A[3][3] = {
    {13, 0, 0}, {6.5, 11.2583302491977, 0}, {6.5, 3.75277674973257, 10.6144555520604}};

static void check_short_range(const oblique_grid *l, const support_options *options)
{
    const ley_short_range *range = &options->short_range;
    const formula f = {taylor2_term, options->r_min_A, range->cutoff_A, 0.1, range->periodic[0] ? range->cell_A : NULL};
    ley_atoms *atoms = atoms_of(&l->grid, f.cell_A != NULL ? 150 : 500, 0.3);
    ley_map *map = run(atoms, &l->grid, *options);
    assert_right(worst_error(map, atoms, &f), options->sum == LEY_SUM_COMPENSATED ? 5e-6 : 1e-5,
                 options->variant != NULL ? options->variant : "cutoff", l->name);
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
}

static void test_short_range_sums(void **state)
{
    support_options options = support_short_range(LEY_PAIR_TAYLOR2, 5);
    for (int i = 0; i < GRIDS; i++)
        check_short_range(&grids[i], &options);
    memcpy(options.short_range.cell_A, dodecahedron_A, sizeof dodecahedron_A);
    for (int axis = 0; axis < 3; axis++)
        options.short_range.periodic[axis] = true;
    check_short_range(&grids[3], &options);
    check_short_range(&grids[5], &options);
    options = support_short_range(LEY_PAIR_TAYLOR2, 5);
    options.sum = LEY_SUM_COMPENSATED;
    check_short_range(&grids[4], &options);
    check_short_range(&grids[6], &options);
    options.sum = LEY_SUM_FLOAT;
    for (int v = 0; v < support_variants("cutoff", LEY_TARGET_GRID); v++) {
        options.variant = ley_variant_name("cutoff", LEY_TARGET_GRID, (size_t)v);
        if (is_tried(options.variant))
            check_short_range(&grids[4], &options);
    }
}

/* Bins that most atoms find full; and bins of a device. */
static void test_places(void **state)
{
    support_options options = support_short_range(LEY_PAIR_TAYLOR2, 5);
    options.short_range.bin_depth = 1;
    check_short_range(&grids[3], &options);
    check_short_range(&grids[6], &options);
    options = support_short_range(LEY_PAIR_TAYLOR2, 5);
    options.short_range.binning = LEY_PLACE_DEVICE;
    check_short_range(&grids[4], &options);
    check_short_range(&grids[5], &options);
}

/* Steps that lead either way along the others, each way with each: no pair at the edge of the
 * cutoff is left out, as a function with a step there shows, and no digit of a distance is lost. */
static void test_steps_either_way(void **state)
{
    for (int way = 0; way < 8; way++) {
        char name[32];
        const double x = way & 1 ? -0.35 : 0.35, y = way & 2 ? -0.3 : 0.3, z = way & 4 ? -0.45 : 0.45;
        const ley_grid grid = {.step_A = {{0.5, x, y}, {0, 0.6, z}, {0, 0, 0.5}}, .n = {37, 21, 17}};
        ley_atoms *atoms = atoms_of(&grid, 500, 0.2);
        snprintf(name, sizeof name, "steps' ways %d", way);
        for (int sum = LEY_SUM_FLOAT; sum <= LEY_SUM_COMPENSATED; sum++) {
            support_options options = support_short_range(LEY_PAIR_COULOMB, 4.037);
            options.sum = (ley_sum)sum;
            const formula f = {direct_term, options.r_min_A, 4.037, .least = 0.1};
            ley_map *map = support_run(engine, atoms, &grid, &options);
            assert_right(worst_error(map, atoms, &f), sum == LEY_SUM_FLOAT ? 1e-5 : 2e-6, "cutoff", name);
            ley_map_destroy(map);
            options = support_default_options();
            options.sum = (ley_sum)sum;
            const formula all = {direct_term, .r_min_A = options.r_min_A, .least = DBL_MIN};
            map = support_run(engine, atoms, &grid, &options);
            assert_right(worst_error(map, atoms, &all), sum == LEY_SUM_FLOAT ? 3e-6 : 1e-6, "dcs", name);
            ley_map_destroy(map);
        }
        ley_atoms_destroy(atoms);
    }
}

/* Rows that are shifted by far more than their length: what places are rounded by shows where a
 * near atom is not summed apart. */
static void test_long_shifts(void **state)
{
    const ley_grid grid = {.step_A = {{0.5, 0, 0}, {9, 0.6, 0}, {0.1, 0.2, 0.5}}, .n = {37, 41, 9}};
    const support_options options = support_default_options();
    const formula f = {direct_term, .r_min_A = options.r_min_A, .least = DBL_MIN};
    ley_atoms *atoms = atoms_of(&grid, 60, 0);
    ley_map *map = support_run(engine, atoms, &grid, &options);
    assert_right(worst_error(map, atoms, &f), 1e-6, "dcs", "rows that are shifted far");
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
}

/* ---- Long-range sums ------------------------------------------------------------------------- */

static const double open_A[3][3];

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* 2 pi times the reciprocal vectors; returns the cell's volume. */
static double reciprocal(const double (*cell_A)[3], double k_per_A[3][3])
{
    double volume_A3 = 0;
    for (int m = 0; m < 3; m++) {
        const double *b = cell_A[(m + 1) % 3], *c = cell_A[(m + 2) % 3];
        for (int i = 0; i < 3; i++)
            k_per_A[m][i] = b[(i + 1) % 3] * c[(i + 2) % 3] - b[(i + 2) % 3] * c[(i + 1) % 3];
        volume_A3 = dot(cell_A[m], k_per_A[m]);
    }
    for (int i = 0; i < 9; i++)
        k_per_A[i / 3][i % 3] *= 2 * M_PI / volume_A3;
    return fabs(volume_A3);
}

/* Ewald's sum at a point, e/A: of charges whose sum is 0. */
static double ewald(const ley_atoms *atoms, const double (*cell_A)[3], double r_min_A, const double point_A[3])
{
    enum { IMAGES = 3, WAVES = 9 };
    const double alpha_per_A = 0.45, *position_A = ley_atoms_positions_A(atoms), *charge_e = ley_atoms_charges_e(atoms);
    const size_t n = ley_atoms_count(atoms);
    double k_per_A[3][3], sum = 0;
    const double volume_A3 = reciprocal(cell_A, k_per_A);
    for (int i = 0; i < (2 * IMAGES + 1) * (2 * IMAGES + 1) * (2 * IMAGES + 1); i++)
        for (size_t j = 0; j < n; j++) {
            const int at[3] = {i % (2 * IMAGES + 1) - IMAGES, i / (2 * IMAGES + 1) % (2 * IMAGES + 1) - IMAGES,
                               i / (2 * IMAGES + 1) / (2 * IMAGES + 1) - IMAGES};
            double d_A[3];
            for (int axis = 0; axis < 3; axis++)
                d_A[axis] = point_A[axis] - position_A[3 * j + (size_t)axis] - at[0] * cell_A[0][axis] -
                            at[1] * cell_A[1][axis] - at[2] * cell_A[2][axis];
            const double r_A = sqrt(dot(d_A, d_A));
            if (r_A < 14)
                sum += charge_e[j] * (1 / fmax(r_A, r_min_A) -
                                      (r_A > 1e-8 ? erf(alpha_per_A * r_A) / r_A : 2 * alpha_per_A / sqrt(M_PI)));
        }
    for (int i = 0; i < (2 * WAVES + 1) * (2 * WAVES + 1) * (2 * WAVES + 1); i++) {
        const int at[3] = {i % (2 * WAVES + 1) - WAVES, i / (2 * WAVES + 1) % (2 * WAVES + 1) - WAVES,
                           i / (2 * WAVES + 1) / (2 * WAVES + 1) - WAVES};
        double k[3], real = 0;
        for (int axis = 0; axis < 3; axis++)
            k[axis] = at[0] * k_per_A[0][axis] + at[1] * k_per_A[1][axis] + at[2] * k_per_A[2][axis];
        const double k2 = dot(k, k), weight = exp(-k2 / (4 * alpha_per_A * alpha_per_A));
        if (k2 == 0 || weight < 1e-9)
            continue;
        for (size_t j = 0; j < n; j++)
            real += charge_e[j] * cos(dot(k, point_A) - dot(k, position_A + 3 * j));
        sum += 4 * M_PI / volume_A3 * weight / k2 * real;
    }
    return sum;
}

/* The largest error at some points, relative to the root mean square there. */
static double ewald_error(const ley_map *map, const ley_atoms *atoms, const ley_long_range *r)
{
    enum { POINTS = 60 };
    const ley_grid *grid = ley_map_grid(map);
    const int64_t points = ley_grid_points(grid);
    const double constant = ley_coulomb_constant(r->units, r->dielectric, r->temperature_K);
    double worst = 0, squares = 0;
    for (int i = 0; i < POINTS; i++) {
        const int64_t p = (points - 1) * i / (POINTS - 1),
                      at[3] = {p % grid->n[0], p / grid->n[0] % grid->n[1], p / grid->n[0] / grid->n[1]};
        double point_A[3];
        for (int axis = 0; axis < 3; axis++)
            point_A[axis] = grid->origin_A[axis] + (double)at[0] * grid->step_A[0][axis] +
                            (double)at[1] * grid->step_A[1][axis] + (double)at[2] * grid->step_A[2][axis];
        const double right = constant * ewald(atoms, r->cell_A, r->r_min_A, point_A),
                     off = fabs((double)ley_map_read_values(map)[p] - right);
        worst = off <= worst ? worst : isfinite(off) ? off : INFINITY;
        squares += right * right / POINTS;
    }
    return worst / sqrt(squares);
}

/* The map by a job in such slabs; with what `former` decided but for its slabs, where it is not
 * NULL. */
static ley_map *run_long_range(const ley_atoms *atoms, const ley_grid *grid, const ley_long_range *range,
                               int64_t slab_planes, const ley_job *former, ley_job **job)
{
    ley_error error = {0};
    ley_run_options options = support_default_run_options();
    options.slab_planes = slab_planes;
    ley_decision decisions[64];
    const ley_report *report = former != NULL ? ley_job_report(former) : NULL;
    for (size_t i = 0; report != NULL && i < report->decision_count; i++)
        if (strcmp(report->decisions[i].name, "slab") != 0 && options.decision_count < 64)
            decisions[options.decision_count++] = report->decisions[i];
    options.decisions = decisions;
    ley_map *map = support_make_map(grid);
    assert_ok(ley_job_create_long_range(engine, atoms, (ley_target){.map = map}, range, &options, job, &error));
    assert_ok(ley_job_run(*job, &error));
    return map;
}

/* Periodic along all vectors of the cell, or open. */
static void check_long_range(const oblique_grid *l, ley_solver solver, const double (*cell_A)[3])
{
    ley_long_range r = support_default_long_range();
    r.solver = solver;
    r.splitting = solver == LEY_SOLVER_FOURIER ? LEY_SPLITTING_EWALD : LEY_SPLITTING_TAYLOR5;
    r.window = solver == LEY_SOLVER_FOURIER ? LEY_WINDOW_BSPLINE8 : LEY_WINDOW_NODAL9;
    r.cutoff_A = 6;
    r.spacing_A = solver == LEY_SOLVER_FOURIER ? 0.7 : 1;
    for (int axis = 0; axis < 3; axis++)
        r.periodic[axis] = cell_A != open_A;
    memcpy(r.cell_A, cell_A, sizeof r.cell_A);
    ley_atoms *atoms = atoms_of(&l->grid, 80, 0.1);
    ley_job *job = NULL, *other = NULL;
    ley_map *map = run_long_range(atoms, &l->grid, &r, 0, NULL, &job),
            *in_slabs = run_long_range(atoms, &l->grid, &r, 1, job, &other);
    ley_job_destroy(job);
    ley_job_destroy(other);
    assert_memory_equal(ley_map_values(map), ley_map_values(in_slabs),
                        (size_t)ley_grid_points(&l->grid) * sizeof(float));
    const formula f = {direct_term, .r_min_A = r.r_min_A, .least = DBL_MIN};
    const double limit = solver == LEY_SOLVER_FOURIER ? 2e-5 : 1e-3;
    assert_right(r.periodic[0] ? ewald_error(map, atoms, &r) : worst_error(map, atoms, &f), limit, "msm", l->name);
    ley_map_destroy(map);
    ley_map_destroy(in_slabs);
    ley_atoms_destroy(atoms);
}

/* The cell itself, of so many points. */
static oblique_grid cell_grid(const double (*cell_A)[3], int64_t n_a, int64_t n_b, int64_t n_c)
{
    oblique_grid l = {"the cell", {.n = {n_a, n_b, n_c}}};
    for (int m = 0; m < 3; m++)
        for (int axis = 0; axis < 3; axis++)
            l.grid.step_A[m][axis] = cell_A[m][axis] / (double)l.grid.n[m];
    return l;
}

static void test_long_range_sums(void **state)
{
    const oblique_grid own = cell_grid(dodecahedron_A, 26, 25, 17);
    for (int is_fourier = 0; is_fourier < 2; is_fourier++) {
        const ley_solver solver = is_fourier ? LEY_SOLVER_FOURIER : LEY_SOLVER_MULTILEVEL;
        check_long_range(&own, solver, dodecahedron_A);
        check_long_range(&grids[4], solver, dodecahedron_A);
        check_long_range(&grids[is_fourier ? 5 : 3], solver, open_A);
        check_long_range(&grids[is_fourier ? 0 : 6], solver, open_A);
    }
}

/* ---- Files, plans, devices ------------------------------------------------------------------- */

/* A job of direct summation that fills this map, by the decisions of another one, or none. */
static ley_job *fill(ley_engine *on, const ley_atoms *atoms, ley_map *map, const ley_report *plan)
{
    ley_error error = {0};
    ley_job *job = NULL;
    ley_direct direct = support_default_direct();
    ley_run_options options = support_default_run_options();
    options.slab_planes = 2;
    options.decision_count = plan != NULL ? plan->decision_count : 0;
    options.decisions = plan != NULL ? plan->decisions : NULL;
    assert_ok(ley_job_create_direct(on, atoms, (ley_target){.map = map}, &direct, &options, &job, &error));
    assert_ok(ley_job_run(job, &error));
    return job;
}

/* Each format carries the steps, and what is streamed to a file is what memory has. */
static void test_files(void **state)
{
    static const char *const endings[] = {"dx", "dx.gz", "dxbin", "cube", "npy", "raw", "mrc", "ccp4"};
    ley_error error = {0};
    const ley_grid *grid = &grids[3].grid;
    const size_t points = (size_t)ley_grid_points(grid);
    ley_atoms *atoms = atoms_of(grid, 50, 0.3);
    ley_map *map = support_make_map(grid);
    ley_job_destroy(fill(engine, atoms, map, NULL));
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char path[512];
        ley_map *stored = NULL, *again = NULL;
        snprintf(path, sizeof path, "%s/map.%s", support_directory(), endings[i]);
        assert_ok(ley_map_create_file(grid, path, &stored, &error));
        ley_job_destroy(fill(engine, atoms, stored, NULL));
        assert_ok(ley_map_write(stored, path, NULL, NULL, NULL, &error));
        ley_map_destroy(stored);
        assert_ok(ley_map_read(path, &again, &error));
        for (int k = 0; k < 9; k++)
            assert_true(fabs(ley_map_grid(again)->step_A[k / 3][k % 3] - grid->step_A[k / 3][k % 3]) < 1e-6);
        for (size_t p = 0; p < points; p++)
            if (!(fabsf(ley_map_values(again)[p] - ley_map_values(map)[p]) <= 1e-6f * fabsf(ley_map_values(map)[p])))
                fail_msg("%s: value %zu is %g, not %g", path, p, (double)ley_map_values(again)[p],
                         (double)ley_map_values(map)[p]);
        ley_map_destroy(again);
    }
    ley_map_destroy(map);
    ley_atoms_destroy(atoms);
}

/* A plan makes the same bytes again. */
static void test_plans(void **state)
{
    ley_error error = {0};
    const ley_grid *grid = &grids[5].grid;
    ley_atoms *atoms = atoms_of(grid, 300, 0.3);
    ley_map *first = NULL, *second = NULL;
    assert_ok(ley_map_create(grid, &first, &error));
    assert_ok(ley_map_create(grid, &second, &error));
    ley_job *job = fill(engine, atoms, first, NULL);
    ley_job_destroy(fill(engine, atoms, second, ley_job_report(job)));
    assert_memory_equal(ley_map_values(first), ley_map_values(second), (size_t)ley_grid_points(grid) * sizeof(float));
    ley_job_destroy(job);
    ley_map_destroy(first);
    ley_map_destroy(second);
    ley_atoms_destroy(atoms);
}

/* Steps that lie in a plane are refused by every method, with the reason. */
static void test_refusals(void **state)
{
    ley_error error = {0};
    ley_map *map = NULL;
    const ley_grid flat = {.step_A = {{1, 0, 0}, {0, 1, 0}, {1, 2, 0}}, .n = {2, 2, 2}},
                   line = {.step_A = {{1, 0, 0}, {2, 0, 0}, {0, 0, 1}}, .n = {2, 2, 2}};
    assert_error_is(ley_map_create(&flat, &map, &error), LEY_ERROR_INPUT,
                    "grid: its three steps lie in a plane, or two of them on a line");
    assert_int_equal(ley_map_create(&line, &map, &error), LEY_ERROR_INPUT);
    ley_error_clear(&error);
}

/* ---- Main ------------------------------------------------------------------------------------ */

static int run_on(const char *selector, const ley_device_info *info)
{
    if (!support_open(selector, info->name, &engine))
        return 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_direct_sums),
        cmocka_unit_test(test_flat_grids),
        cmocka_unit_test(test_short_range_sums),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_long_range_sums),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_steps_either_way),
        cmocka_unit_test(test_long_shifts),
    };
    const int failed = cmocka_run_group_tests_name(info->name, tests, NULL, NULL);
    ley_engine_destroy(engine);
    return failed;
}

int main(void)
{
    support_directory();
    return support_on_each_device(run_on);
}
