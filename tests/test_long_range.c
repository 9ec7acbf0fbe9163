/* Long-range sums on meshes in double precision, the judge of devices: each step by what must be
 * true of it, all of them together against exact sums, and how the error falls. */
#include "support.h"

#include "law/fourier.h"
#include "law/long_range.h"
#include "numerics/lattice_sum.h"
#include "pairwise.h"

/* Distances below count as this, of all sums here. */
static const double r_min_A = 0.05;

static double random_number(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0;
}

/* ---- Problems -------------------------------------------------------------------------------- */

/* Charges and points where their potential is wanted. */
typedef struct problem {
    size_t n, points;
    double *position_A, *charge_e, *point_A;
} problem;

static void end(problem *p)
{
    free(p->position_A);
    free(p->charge_e);
    free(p->point_A);
}

static problem empty(size_t n, size_t points)
{
    problem p = {n, points, calloc(3 * n, sizeof(double)), calloc(n, sizeof(double)),
                 calloc(3 * points, sizeof(double))};
    assert_true(p.position_A != NULL && p.charge_e != NULL && p.point_A != NULL);
    return p;
}

/* A box of water, and points of a 0.5 A mesh in it. */
static problem water(int64_t atoms, size_t points)
{
    ley_error error = {0};
    ley_atoms *box;
    assert_ok(ley_waterbox_create(atoms, 1, 0, &box, &error));
    problem p = empty(ley_atoms_count(box), points);
    memcpy(p.position_A, ley_atoms_positions_A(box), 3 * p.n * sizeof(double));
    memcpy(p.charge_e, ley_atoms_charges_e(box), p.n * sizeof(double));
    uint64_t seed = 5;
    for (size_t i = 0; i < 3 * points; i++)
        p.point_A[i] = round(2 * ley_waterbox_side_A(atoms) * random_number(&seed)) / 2;
    ley_atoms_destroy(box);
    return p;
}

/* Neutral charges, and points, at random in a parallelepiped and a little around it. */
static problem crowd(size_t n, size_t points, const double vector_A[3][3], uint64_t seed)
{
    problem p = empty(n, points);
    double total = 0;
    for (size_t j = 0; j < n + points; j++) {
        double *place = j < n ? p.position_A + 3 * j : p.point_A + 3 * (j - n);
        for (int m = 0; m < 3; m++) {
            const double share = -0.1 + 1.2 * random_number(&seed);
            for (int i = 0; i < 3; i++)
                place[i] += share * vector_A[m][i];
        }
        if (j < n) {
            p.charge_e[j] = j + 1 < n ? 2 * random_number(&seed) - 1 : -total;
            total += p.charge_e[j];
        }
    }
    return p;
}

static void shift(problem *p, double x_A, double y_A, double z_A)
{
    const double by_A[3] = {x_A, y_A, z_A};
    for (size_t j = 0; j < p->n; j++)
        for (size_t i = 0; i < 3; i++)
            p->position_A[3 * j + i] += by_A[i];
    for (size_t j = 0; j < p->points; j++)
        for (size_t i = 0; i < 3; i++)
            p->point_A[3 * j + i] += by_A[i];
}

static hierarchy meshes(const hierarchy_options *options, const problem *p)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    cell c;
    hierarchy h;
    ley_error error = {0};
    assert_ok(cell_make(options->periodic, options->cell_A, &c, &error));
    hierarchy_box(&c, p->n, p->position_A, low, high);
    hierarchy_box(&c, p->points, p->point_A, low, high);
    assert_ok(hierarchy_make(options, low, high, &h, &error));
    return h;
}

static double *doubles(int64_t n)
{
    double *made = calloc((size_t)n, sizeof *made);
    assert_non_null(made);
    return made;
}

/* Beyond the short range, by an exact sum; or all of it. */
static double *exact(const problem *p, const hierarchy *h, bool far)
{
    const lattice_sum_options options = {.cell = h->cell,
                                         .kappa_per_A = h->kappa_per_A,
                                         .far = far ? &h->level[0].split : NULL,
                                         .cutoff_A = h->level[0].cutoff_A,
                                         .r_min_A = far ? 0 : r_min_A};
    double *value = doubles((int64_t)p->points);
    lattice_sum *sum;
    ley_error error = {0};
    assert_ok(lattice_sum_create(&options, p->n, p->position_A, p->charge_e, &sum, &error));
    for (size_t i = 0; i < p->points; i++)
        value[i] = lattice_sum_at(sum, p->point_A + 3 * i);
    lattice_sum_destroy(sum);
    return value;
}

static double *far_of(const problem *p, const hierarchy *h)
{
    double *value = doubles((int64_t)p->points);
    ley_error error = {0};
    assert_ok(
        long_range_potential(h, p->n, p->position_A, p->charge_e, r_min_A, p->points, p->point_A, value, NULL, &error));
    return value;
}

static double rms(size_t n, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += pow(a[i] - (b != NULL ? b[i] : 0), 2);
    return sqrt(sum / (double)n);
}

/* Root mean square error of what is far, in e/A. */
static double error_of(const problem *p, const hierarchy_options *options)
{
    const hierarchy h = meshes(options, p);
    double *value = far_of(p, &h), *right = exact(p, &h, true);
    const double error = rms(p->points, value, right);
    free(value);
    free(right);
    return error;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void fill(double *values, int64_t n, uint64_t seed)
{
    for (int64_t i = 0; i < n; i++)
        values[i] = 2 * random_number(&seed) - 1;
}

static double product(int64_t n, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static const double oblique_A[3][3] = {{9, 0, 0}, {2.1, 8.6, 0}, {-1.7, 1.4, 10.2}};
static const double cubic_A[3][3] = {{9, 0, 0}, {0, 9.5, 0}, {0, 0, 10}};

/* Options of a small problem in a cell, periodic as the bits of `which` say. */
static hierarchy_options small(int kind, int which, const double vector_A[3][3])
{
    hierarchy_options options = {
        .splitting = SPLITTING_TAYLOR3, .window = (window_kind)kind, .levels = 3, .cutoff_A = 4, .spacing_A = 1.1};
    for (int m = 0; m < 3; m++)
        options.periodic[m] = which >> m & 1;
    memcpy(options.cell_A, vector_A, sizeof options.cell_A);
    return options;
}

/* What a charge brings to a node, the node brings to a point where the charge is. */
static void test_anterpolation_and_interpolation_are_transposes(void **state)
{
    for (int kind = 0; kind < WINDOW_COUNT; kind++)
        for (int which = 0; which < 8; which += 7) {
            problem p = crowd(9, 9, oblique_A, 3);
            hierarchy_options options = small(kind, which, oblique_A);
            options.solver = HIERARCHY_FOURIER;
            options.levels = 1;
            memcpy(p.point_A, p.position_A, 3 * p.n * sizeof(double));
            const hierarchy h = meshes(&options, &p);
            const int64_t nodes = hierarchy_nodes(&h.level[0]);
            double *charge = doubles(nodes), *potential = doubles(nodes), sum = 0, total = 0;
            fill(potential, nodes, 17);
            p.charge_e[0] += 1;
            long_range_anterpolate(&h, p.n, p.position_A, p.charge_e, charge);
            for (size_t j = 0; j < p.n; j++)
                sum += p.charge_e[j] * long_range_interpolate(&h, potential, p.point_A + 3 * j);
            for (int64_t i = 0; i < nodes; i++)
                total += charge[i];
            assert_true(fabs(sum - product(nodes, charge, potential)) < 1e-13);
            assert_true(fabs(total - 1) < 1e-13); /* every charge once, and all of it */
            free(charge);
            free(potential);
            end(&p);
        }
}

/* Nodal windows interpolate polynomials up to their degree less one exactly. */
static void test_interpolation_of_polynomials(void **state)
{
    for (int kind = WINDOW_NODAL3; kind <= WINDOW_NODAL9; kind++) {
        problem p = crowd(9, 20, cubic_A, 5);
        const hierarchy_options options = small(kind, 0, cubic_A);
        const hierarchy h = meshes(&options, &p);
        const hierarchy_level *level = &h.level[0];
        double *potential = doubles(hierarchy_nodes(level));
        const int degree = h.window->reproduces;
        for (int64_t l = 0; l < level->n[2]; l++)
            for (int64_t j = 0; j < level->n[1]; j++)
                for (int64_t i = 0; i < level->n[0]; i++)
                    potential[(l * level->n[1] + j) * level->n[0] + i] =
                        pow((double)(i + level->first[0]) * 0.11, degree) +
                        pow((double)(j + level->first[1]) * 0.11, degree - 1) * (double)(l + level->first[2]) * 0.11;
        for (size_t i = 0; i < p.points; i++) {
            const double *x = p.point_A + 3 * i,
                         right = pow(x[0] / 10, degree) + pow(x[1] / 10, degree - 1) * x[2] / 10;
            assert_true(fabs(long_range_interpolate(&h, potential, x) - right) < 1e-12);
        }
        free(potential);
        end(&p);
    }
}

static void test_restriction_and_prolongation_are_transposes(void **state)
{
    for (int kind = WINDOW_NODAL3; kind <= WINDOW_NODAL9; kind++)
        for (int which = 0; which < 8; which++) {
            problem p = crowd(9, 1, oblique_A, 3);
            const hierarchy_options options = small(kind, which, oblique_A);
            const hierarchy h = meshes(&options, &p);
            for (int k = 0; k + 1 < h.levels; k++) {
                const int64_t n = hierarchy_nodes(&h.level[k]), m = hierarchy_nodes(&h.level[k + 1]);
                double *fine = doubles(n), *coarse = doubles(m), *restricted = doubles(m), *prolongated = doubles(n);
                double whole = 0, kept = 0;
                fill(fine, n, 7);
                fill(coarse, m, 8);
                long_range_restrict(&h, k, fine, restricted);
                long_range_prolongate(&h, k, coarse, prolongated);
                const double a = product(m, coarse, restricted), b = product(n, prolongated, fine);
                assert_true(fabs(a - b) < 1e-11 * (1 + fabs(a)));
                for (int64_t i = 0; i < n; i++)
                    whole += fine[i];
                for (int64_t i = 0; i < m; i++)
                    kept += restricted[i];
                assert_true(fabs(whole - kept) < 1e-11); /* no charge is lost */
                free(fine);
                free(coarse);
                free(restricted);
                free(prolongated);
            }
            end(&p);
        }
}

/* Node by node from the definition: each charge's weight, with images, at each node. */
static void test_lattice_cutoff_by_its_definition(void **state)
{
    for (int which = 0; which < 8; which++) {
        problem p = crowd(6, 1, oblique_A, 3);
        const hierarchy_options options = small(WINDOW_NODAL3, which, oblique_A);
        const hierarchy h = meshes(&options, &p);
        for (int k = 0; k + 1 < h.levels; k++) {
            const hierarchy_level *level = &h.level[k];
            const int64_t nodes = hierarchy_nodes(level), source = nodes / 3;
            double *charge = doubles(nodes), *potential = doubles(nodes), worst = 0;
            ley_error error = {0};
            charge[source] = 1.5;
            assert_ok(long_range_cutoff(&h, k, charge, potential, &error));
            for (int64_t node = 0; node < nodes; node++) {
                double right = 0;
                for (int a = -4; a <= 4; a++)
                    for (int b = -4; b <= 4; b++)
                        for (int c = -4; c <= 4; c++) {
                            const double d[3] = {(double)(node % level->n[0] - source % level->n[0] + a * level->n[0]),
                                                 (double)(node / level->n[0] % level->n[1] -
                                                          source / level->n[0] % level->n[1] + b * level->n[1]),
                                                 (double)(node / level->n[0] / level->n[1] -
                                                          source / level->n[0] / level->n[1] + c * level->n[2])};
                            double d_A[3];
                            if ((a != 0 && !(which & 1)) || (b != 0 && !(which & 2)) || (c != 0 && !(which & 4)))
                                continue;
                            hierarchy_displacement(&h, k, d, d_A);
                            const double r = cell_length(d_A), own = level->cutoff_A;
                            if (r < 2 * own)
                                right += 1.5 * (splitting_gamma(&level->split, r / own) / own -
                                                splitting_gamma(&level[1].split, r / own / 2) / own / 2);
                        }
                worst = fmax(worst, fabs(potential[node] - right));
            }
            assert_true(worst < 1e-14);
            free(charge);
            free(potential);
        }
        end(&p);
    }
}

static void test_transforms(void **state)
{
    const int64_t n[3] = {12, 7, 5};
    const bool along[3] = {true, true, true};
    enum { COUNT = 12 * 7 * 5 };
    static fourier_number values[COUNT], kept[COUNT];
    ley_error error = {0};
    uint64_t seed = 3;
    for (int i = 0; i < COUNT; i++)
        kept[i] = values[i] = (fourier_number){random_number(&seed), random_number(&seed)};
    assert_ok(fourier_transform(values, n, along, false, &error));
    for (int64_t k = 0; k < COUNT; k += 37) {
        double real = 0, imaginary = 0;
        for (int64_t j = 0; j < COUNT; j++) {
            const double angle = -2 * M_PI *
                                 ((double)(j % 12 * (k % 12)) / 12 + (double)(j / 12 % 7 * (k / 12 % 7)) / 7 +
                                  (double)(j / 84 * (k / 84)) / 5);
            real += kept[j].real * cos(angle) - kept[j].imaginary * sin(angle);
            imaginary += kept[j].real * sin(angle) + kept[j].imaginary * cos(angle);
        }
        assert_true(hypot(values[k].real - real, values[k].imaginary - imaginary) < 1e-11);
    }
    assert_ok(fourier_transform(values, n, along, true, &error));
    for (int i = 0; i < COUNT; i++)
        assert_true(hypot(values[i].real - kept[i].real, values[i].imaginary - kept[i].imaginary) < 1e-14);
}

/* ---- All steps ------------------------------------------------------------------------------- */

/* One level by all pairs, and by transforms: open meshes are the same to rounding. Along periodic
 * axes the transform's kernel has no aliases, which a smooth splitting hardly has. */
static void test_transforms_do_what_all_pairs_do(void **state)
{
    for (int kind = WINDOW_NODAL3; kind <= WINDOW_NODAL9; kind += 2)
        for (int which = 0; which < 9; which++) {
            const bool is_oblique = which == 8;
            problem p = crowd(9, 9, is_oblique ? oblique_A : cubic_A, 3);
            hierarchy_options options = small(kind, is_oblique ? 7 : which, is_oblique ? oblique_A : cubic_A);
            options.levels = 1;
            options.splitting = SPLITTING_PSWF;
            options.band = 14;
            options.degree = 14;
            options.cutoff_A = 6;
            options.spacing_A = 0.9;
            hierarchy h = meshes(&options, &p);
            double *direct = far_of(&p, &h);
            h.solver = HIERARCHY_FOURIER;
            double *fft = far_of(&p, &h);
            if (!(rms(p.points, direct, fft) < (which == 0 ? 1e-14 : 2e-5)))
                fail_msg("%s, boundary %d: %g apart", h.window->name, which, rms(p.points, direct, fft));
            free(direct);
            free(fft);
            end(&p);
        }
}

/* Levels leave out nothing: their error is a little more than that of one. */
static void test_levels(void **state)
{
    problem p = water(300, 60);
    hierarchy_options options = {
        .splitting = SPLITTING_TAYLOR3, .window = WINDOW_NODAL5, .cutoff_A = 5, .spacing_A = 1};
    double error[5];
    for (options.levels = 0; options.levels < 5; options.levels++)
        error[options.levels] = error_of(&p, &options);
    for (int levels = 2; levels < 5; levels++)
        assert_true(error[levels] < 1.6 * error[1] && error[levels] != error[levels - 1]);
    assert_true(error[0] < 1.6 * error[1]);
    end(&p);
}

/* The error is that of the mesh, wherever its nodes lie beside the atoms. */
static void test_error_does_not_depend_on_the_place(void **state)
{
    for (int solver = 0; solver < 2; solver++) {
        problem p = water(300, 100);
        const hierarchy_options options = {.splitting = SPLITTING_TAYLOR3,
                                           .window = solver == HIERARCHY_FOURIER ? WINDOW_BSPLINE6 : WINDOW_NODAL5,
                                           .solver = (hierarchy_solver)solver,
                                           .cutoff_A = 5,
                                           .spacing_A = 1};
        const double first = error_of(&p, &options);
        for (int i = 0; i < 3; i++) {
            shift(&p, 0.37, -0.51, 1.23);
            const double error = error_of(&p, &options);
            assert_true(error < 1.4 * first && first < 1.4 * error);
        }
        /* By a node of the coarsest level all is the same but for rounding. */
        const hierarchy before = meshes(&options, &p);
        double *a = far_of(&p, &before);
        const double node_A = ldexp(1, before.levels - 1);
        shift(&p, node_A, -2 * node_A, node_A);
        const hierarchy after = meshes(&options, &p);
        double *b = far_of(&p, &after);
        assert_true(rms(p.points, a, b) < 1e-13);
        free(a);
        free(b);
        end(&p);
    }
}

/* ---- How the error falls --------------------------------------------------------------------- */

/* Measured in the experiment that the method was chosen by, in units of 0.668 e/A, the potential in
 * its box (docs/long-range.md): relative to that the error depends on a/h alone. */
static const double scale_e_A = 0.668;

/* Smaller errors had a floor there, from meshes that were padded by too little. */
static const double floor_there = 3e-6;

enum { RATIOS = 6 };
static const double ratios[RATIOS] = {3, 4, 5, 6, 8, 10}; /* a/h */

typedef struct row {
    window_kind window;
    splitting_kind splitting[RATIOS]; /* of Taylor's the best one */
    double error[RATIOS], band[RATIOS];
} row;

static void check_row(const problem *p, const row *r, double spacing_A)
{
    char line[256];
    int length = snprintf(line, sizeof line, "%-9s %-8s", window_get(r->window)->name, splitting_name(r->splitting[0]));
    bool is_near = true;
    for (int i = 0; i < RATIOS && r->error[i] > 0; i++) {
        const hierarchy_options options = {.splitting = r->splitting[i],
                                           .band = r->band[i],
                                           .window = r->window,
                                           .solver = HIERARCHY_FOURIER,
                                           .cutoff_A = ratios[i] * spacing_A,
                                           .spacing_A = spacing_A};
        const double error = error_of(p, &options) / scale_e_A;
        is_near = is_near && error < 1.5 * r->error[i] && (error > r->error[i] / 1.5 || r->error[i] < floor_there);
        length += snprintf(line + length, sizeof line - (size_t)length, "  %.1e (%.1e)", error, r->error[i]);
    }
    print_message("%s\n", line);
    assert_true(is_near);
}

#define TAYLOR(n) ((splitting_kind)(SPLITTING_TAYLOR2 + (n)-2))
#define TAYLORS(a, b, c, d, e, f) \
    { \
        TAYLOR(a), TAYLOR(b), TAYLOR(c), TAYLOR(d), TAYLOR(e), TAYLOR(f) \
    }
#define ALL_OF(kind) \
    { \
        kind, kind, kind, kind, kind, kind \
    }

static void test_errors_fall_as_they_should(void **state)
{
    static const row rows[] = {
        {WINDOW_NODAL3, TAYLORS(2, 2, 2, 2, 2, 2), {4.9e-3, 2.6e-3, 1.5e-3, 9.3e-4, 6.1e-4, 4.6e-4}, {0}},
        {WINDOW_NODAL5, TAYLORS(2, 4, 3, 4, 4, 4), {2.6e-3, 1.0e-3, 3.4e-4, 1.5e-4, 4.2e-5, 1.6e-5}, {0}},
        {WINDOW_NODAL7, TAYLORS(3, 4, 3, 5, 5, 6), {2.0e-3, 5.1e-4, 2.1e-4, 6.9e-5, 1.1e-5, 3.0e-6}, {0}},
        {WINDOW_BSPLINE6, ALL_OF(SPLITTING_EWALD), {1.3e-3, 4.1e-4, 1.2e-4, 5.3e-5}, {0}},
        {WINDOW_BSPLINE6, TAYLORS(3, 5, 6, 6, 6, 6), {9.1e-4, 1.9e-4, 4.4e-5, 1.3e-5, 2.0e-6, 7.2e-7}, {0}},
        {WINDOW_BSPLINE4,
         ALL_OF(SPLITTING_PSWF),
         {8.7e-4, 2.9e-4, 1.3e-4, 6.8e-5, 3.7e-5, 2.6e-5},
         {7.0, 8.3, 9.1, 9.4, 0, 0}},
        {WINDOW_BSPLINE6,
         ALL_OF(SPLITTING_PSWF),
         {3.1e-4, 5.6e-5, 1.6e-5, 5.8e-6, 1.6e-6, 8.7e-7},
         {7.7, 9.3, 10.4, 12.4, 0, 0}},
        {WINDOW_BSPLINE8,
         ALL_OF(SPLITTING_PSWF),
         {2.1e-4, 2.4e-5, 5.9e-6, 2.6e-6, 1.2e-6, 7.0e-7},
         {7.7, 10.3, 11.6, 12.4, 0, 0}},
        /* Measured here, where there was no such splitting. */
        {WINDOW_BSPLINE4, ALL_OF(SPLITTING_OPTIMAL), {6.4e-4, 2.9e-4, 1.2e-4, 6.7e-5, 3.3e-5, 1.9e-5}, {0}},
        {WINDOW_BSPLINE6, ALL_OF(SPLITTING_OPTIMAL), {4.2e-4, 5.6e-5, 1.5e-5, 3.9e-6, 8.9e-7, 2.6e-7}, {0}},
        {WINDOW_BSPLINE8, ALL_OF(SPLITTING_OPTIMAL), {1.6e-4, 3.0e-5, 4.4e-6, 1.3e-6, 3.5e-7, 3.3e-7}, {0}}};
    problem p = water(648, 150);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i += support_is_quick() ? 3 : 1)
        check_row(&p, &rows[i], 1);
    end(&p);
}

/* ---- Boundaries ------------------------------------------------------------------------------ */

/* As which bits of a boundary: periodic along x, y, z; 8: in an oblique cell. */
enum { OBLIQUE = 8, OBLIQUE_PLANE = 11, OBLIQUE_VOLUME = 15 };
static const int boundaries[] = {0, 1, 2, 4, 3, 5, 6, 7, OBLIQUE_PLANE, OBLIQUE_VOLUME};
enum { BOUNDARIES = sizeof boundaries / sizeof boundaries[0] };

/* Combinations that there are: nodal windows with both solvers, B-splines with one. */
static bool can_be(const int *at)
{
    return at[1] < WINDOW_BSPLINE4 || at[2] == HIERARCHY_FOURIER;
}

/* Every splitting, window, solver and boundary against exact sums: periodic meshes are off by
 * hardly more than open ones. */
static void test_all_combinations(void **state)
{
    double open_error[SPLITTING_COUNT][WINDOW_COUNT] = {{0}};
    for (pairwise c = {.sizes = {SPLITTING_COUNT, WINDOW_COUNT, 2, BOUNDARIES}, .can_be = can_be}; pairwise_next(&c);) {
        const int boundary = boundaries[c.at[3]];
        const double(*vector_A)[3] = boundary & OBLIQUE ? oblique_A : cubic_A;
        problem p = crowd(30, 25, vector_A, 3);
        hierarchy_options options = small(c.at[1], boundary & 7, vector_A);
        options.splitting = (splitting_kind)c.at[0];
        options.solver = (hierarchy_solver)c.at[2];
        options.levels = options.solver == HIERARCHY_MULTILEVEL ? 2 : 1;
        options.cutoff_A = 4.4;
        double *open = &open_error[c.at[0]][c.at[1]];
        if (*open == 0) {
            hierarchy_options alone = options;
            memset(alone.periodic, 0, sizeof alone.periodic);
            *open = error_of(&p, &alone);
            assert_true(*open < 2e-2 && *open > 1e-7);
        }
        const double error = error_of(&p, &options);
        if (!(error < 3 * *open))
            fail_msg("%s, %s, %s, boundary %d: off by %g, open by %g", splitting_name(options.splitting),
                     window_get(options.window)->name, options.solver == HIERARCHY_FOURIER ? "fourier" : "multilevel",
                     boundary, error, *open);
        end(&p);
    }
}

/* The whole potential, near and far, against exact sums of the whole. */
static void test_near_and_far_are_the_whole(void **state)
{
    for (int i = 0; i < BOUNDARIES; i++) {
        const double(*vector_A)[3] = boundaries[i] & OBLIQUE ? oblique_A : cubic_A;
        problem p = crowd(30, 25, vector_A, 9);
        hierarchy_options options = small(WINDOW_BSPLINE8, boundaries[i] & 7, vector_A);
        options.solver = HIERARCHY_FOURIER;
        options.levels = 1;
        options.splitting = SPLITTING_PSWF;
        options.cutoff_A = 8;
        options.spacing_A = 1;
        /* A net charge where it has a potential. */
        if (i == 0 || (boundaries[i] & 7) == 7)
            p.charge_e[3] += 2;
        const hierarchy h = meshes(&options, &p);
        double *far = doubles((int64_t)p.points), *near = doubles((int64_t)p.points), *whole = exact(&p, &h, false);
        ley_error error = {0};
        assert_ok(
            long_range_potential(&h, p.n, p.position_A, p.charge_e, r_min_A, p.points, p.point_A, far, near, &error));
        for (size_t k = 0; k < p.points; k++)
            far[k] += near[k];
        const double off = rms(p.points, far, whole);
        if (!(off < 5e-7))
            fail_msg("boundary %d: off by %g of %g", boundaries[i], off, rms(p.points, whole, NULL));
        free(far);
        free(near);
        free(whole);
        end(&p);
    }
}

/* exp(-kappa r)/r: levels have splittings of their own; every boundary, net charges as well. */
static void test_screened(void **state)
{
    for (pairwise which = PAIRWISE(BOUNDARIES, 2); pairwise_next(&which);) {
        const int i = which.at[0], solver = which.at[1];
        const double(*vector_A)[3] = boundaries[i] & OBLIQUE ? oblique_A : cubic_A;
        problem p = crowd(20, 15, vector_A, 9);
        hierarchy_options options =
            small(solver == HIERARCHY_FOURIER ? WINDOW_BSPLINE6 : WINDOW_NODAL7, boundaries[i] & 7, vector_A);
        options.solver = (hierarchy_solver)solver;
        options.levels = options.solver == HIERARCHY_MULTILEVEL ? 2 : 1;
        options.splitting = SPLITTING_TAYLOR5;
        options.cutoff_A = 5.5;
        options.kappa_per_A = 0.4;
        p.charge_e[0] += 1;
        const double error = error_of(&p, &options);
        options.kappa_per_A = 0;
        memset(options.periodic, 0, sizeof options.periodic);
        const double open = error_of(&p, &options);
        if (!(error < 2 * open && error > open / 20))
            fail_msg("boundary %d, solver %d: off by %g, without screening by %g", boundaries[i], solver, error, open);
        end(&p);
    }
}

/* Charges far from the map, and a map of a corner. */
static void test_a_map_of_a_corner(void **state)
{
    problem p = water(300, 60);
    const hierarchy_options options = {
        .splitting = SPLITTING_TAYLOR3, .window = WINDOW_NODAL5, .cutoff_A = 5, .spacing_A = 1};
    const double whole = error_of(&p, &options);
    for (size_t i = 0; i < 3 * p.points; i++)
        p.point_A[i] = -9 + p.point_A[i] / 2;
    assert_true(error_of(&p, &options) < whole);
    end(&p);
}

static void test_net_charges_without_a_potential(void **state)
{
    for (int which = 0; which < 8; which++) {
        problem p = crowd(5, 1, cubic_A, 9);
        const hierarchy_options options = small(WINDOW_NODAL3, which, cubic_A);
        const hierarchy h = meshes(&options, &p);
        double value;
        ley_error error = {0};
        p.charge_e[0] += 0.5;
        const ley_status status =
            long_range_potential(&h, p.n, p.position_A, p.charge_e, r_min_A, 1, p.point_A, &value, NULL, &error);
        const bool refused = h.cell.dimensions == 1 || h.cell.dimensions == 2;
        assert_int_equal(status, refused ? LEY_ERROR_INPUT : LEY_OK);
        assert_true(!refused || strstr(error.message, "net charge") != NULL);
        end(&p);
    }
}

/* The bands that are suggested are about the best. */
static void test_suggested_bands(void **state)
{
    problem p = water(300, 60);
    for (int kind = SPLITTING_PSWF; kind <= SPLITTING_OPTIMAL; kind++) {
        hierarchy_options options = {.splitting = (splitting_kind)kind,
                                     .window = WINDOW_BSPLINE6,
                                     .solver = HIERARCHY_FOURIER,
                                     .cutoff_A = 5.5,
                                     .spacing_A = 1};
        const double suggested = error_of(&p, &options), band = splitting_band(options.splitting, 5.5, 6);
        for (int i = -1; i <= 1; i += 2) {
            options.band = band * (1 + 0.15 * i);
            assert_true(error_of(&p, &options) > 1.2 * suggested);
        }
    }
    end(&p);
}

/* The end of a padded mesh does not show, however it is divided. */
static void test_padding_does_not_show(void **state)
{
    problem p = water(300, 60);
    const hierarchy_options options = {.splitting = SPLITTING_PSWF,
                                       .band = 14.6,
                                       .window = WINDOW_BSPLINE8,
                                       .solver = HIERARCHY_FOURIER,
                                       .cutoff_A = 8,
                                       .spacing_A = 1};
    for (int wider = 0; wider < 4; wider++) {
        for (size_t i = 0; i < 3; i++)
            p.point_A[i] = -wider;
        const double error = error_of(&p, &options) / scale_e_A;
        if (!(error < 3e-7))
            fail_msg("%d nodes wider: off by %g", wider, error);
    }
    end(&p);
}

int main(void)
{
    return RUN_TESTS(test_anterpolation_and_interpolation_are_transposes, test_interpolation_of_polynomials,
                     test_restriction_and_prolongation_are_transposes, test_lattice_cutoff_by_its_definition,
                     test_transforms, test_transforms_do_what_all_pairs_do, test_levels,
                     test_error_does_not_depend_on_the_place, test_errors_fall_as_they_should, test_suggested_bands,
                     test_padding_does_not_show, test_all_combinations, test_near_and_far_are_the_whole, test_screened,
                     test_a_map_of_a_corner, test_net_charges_without_a_potential);
}
