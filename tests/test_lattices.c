/* The mathematics of meshes: cells, exact sums over images, influence functions and hierarchies
 * against their definitions. */
#include "near.h"

#include "numerics/cosines.h"
#include "numerics/ewald.h"
#include "numerics/hierarchy.h"
#include "numerics/influence.h"
#include "numerics/lattice_sum.h"
#include "numerics/spectrum.h"
#include "numerics/splitting.h"
#include "numerics/window.h"

static splitting made(splitting_kind kind, int degree, double band, double kappa_a)
{
    splitting s;
    ley_error error = {0};
    assert_ok(splitting_make(kind, degree, band, kappa_a, &s, &error));
    return s;
}

/* ---- Exact sums ------------------------------------------------------------------------------ */

static double random_number(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0;
}

static const double orthogonal_A[3][3] = {{7, 0, 0}, {0, 8, 0}, {0, 0, 6.5}};
static const double oblique_A[3][3] = {{7, 0, 0}, {2.5, 7.4, 0}, {-1.4, 2.1, 6.6}};
static const bool all_periodic[3] = {true, true, true};

static cell cell_of(const bool periodic[3], const double vector_A[3][3])
{
    cell c;
    ley_error error = {0};
    assert_ok(cell_make(periodic, vector_A, &c, &error));
    return c;
}

static lattice_sum *sum_of(const lattice_sum_options *options, size_t n, const double *position_A,
                           const double *charge_e)
{
    lattice_sum *sum = NULL;
    ley_error error = {0};
    assert_ok(lattice_sum_create(options, n, position_A, charge_e, &sum, &error));
    return sum;
}

/* A value, of a sum made for it. */
static double value_of(const lattice_sum_options *options, size_t n, const double *position_A, const double *charge_e,
                       const double point_A[3])
{
    lattice_sum *sum = sum_of(options, n, position_A, charge_e);
    const double value = lattice_sum_at(sum, point_A);
    lattice_sum_destroy(sum);
    return value;
}

/* Charges whose sum is 0, in a cell and around it. */
enum { SOME = 5 };

static void some_charges(double position_A[3 * SOME], double charge_e[SOME], uint64_t seed)
{
    double total = 0;
    for (int j = 0; j < SOME; j++) {
        for (int i = 0; i < 3; i++)
            position_A[3 * j + i] = -3 + 12 * random_number(&seed);
        charge_e[j] = j + 1 < SOME ? 2 * random_number(&seed) - 1 : -total;
        total += charge_e[j];
    }
}

static void test_cells(void **state)
{
    for (int which = 0; which < 8; which++) {
        const bool periodic[3] = {which & 1, which & 2, which & 4};
        const cell c = cell_of(periodic, oblique_A);
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) {
                assert_near(cell_dot(c.vector_A[i], c.dual_per_A[k]), i == k, 1e-14);
                if (!periodic[i])
                    assert_near(cell_dot(c.vector_A[i], c.vector_A[k]), i == k, 1e-13);
            }
        const cell right = cell_of(periodic, orthogonal_A);
        double measure = 1;
        for (int i = 0; i < 3; i++) {
            measure *= periodic[i] ? orthogonal_A[i][i] : 1;
            for (int k = 0; k < 3; k++)
                assert_near(right.vector_A[i][k], i != k ? 0 : periodic[i] ? orthogonal_A[i][i] : 1, 1e-14);
        }
        assert_near(right.measure, measure, 1e-12);
    }
    const double flat_A[3][3] = {{1, 0, 0}, {0, 1, 0}, {1, 1, 0}}, none_A[3][3] = {{1, 0, 0}, {0}, {0, 0, NAN}};
    cell c;
    ley_error error = {0};
    assert_int_equal(cell_make(all_periodic, flat_A, &c, &error), LEY_ERROR_INPUT);
    assert_int_equal(cell_make(all_periodic, none_A, &c, &error), LEY_ERROR_INPUT);
}

/* Of all images of short vectors; the cell is told of the same mesh by long ones. */
static double shortest_A(const double vector_A[3][3], int dimensions, const double x_A[3])
{
    enum { FAR = 4 };
    double shortest = INFINITY;
    for (int i = -FAR; i <= FAR; i++)
        for (int k = dimensions > 1 ? -FAR : 0; k <= (dimensions > 1 ? FAR : 0); k++)
            for (int l = dimensions > 2 ? -FAR : 0; l <= (dimensions > 2 ? FAR : 0); l++) {
                double image_A[3];
                for (int axis = 0; axis < 3; axis++)
                    image_A[axis] = x_A[axis] + i * vector_A[0][axis] + k * vector_A[1][axis] + l * vector_A[2][axis];
                shortest = fmin(shortest, cell_length(image_A));
            }
    return shortest;
}

static void test_nearest_images(void **state)
{
    static const double face_centred_A[3][3] = {{0, 4, 4}, {4, 0, 4}, {4, 4, 0}};
    static const double(*const meshes_A[])[3] = {orthogonal_A, oblique_A, face_centred_A};
    uint64_t seed = 7;
    for (int of = 0; of < 3; of++)
        for (int dimensions = 1; dimensions <= 3; dimensions++) {
            const double(*v)[3] = meshes_A[of];
            const bool periodic[3] = {true, dimensions > 1, dimensions > 2};
            double long_A[3][3];
            for (int axis = 0; axis < 3; axis++) {
                long_A[0][axis] = v[0][axis] + (dimensions > 1 ? 3 * v[1][axis] : 0);
                long_A[1][axis] = v[1][axis] + 2 * long_A[0][axis];
                long_A[2][axis] = v[2][axis] + 5 * v[0][axis] - 4 * v[1][axis];
            }
            const cell c = cell_of(periodic, (const double(*)[3])long_A);
            for (int i = 0; i < 200; i++) {
                double x_A[3], far_A[3], image_A[3];
                for (int axis = 0; axis < 3; axis++) {
                    x_A[axis] = 12 * random_number(&seed) - 6;
                    far_A[axis] = x_A[axis] + 7 * long_A[0][axis];
                }
                assert_near(cell_nearest(&c, far_A, image_A), shortest_A(v, dimensions, x_A), 1e-12);
                cell_bring_near(&c, far_A);
                assert_near(cell_length(far_A), cell_length(image_A), 1e-12);
            }
        }
}

/* Ewald's sums do not depend on how they are divided, nor on the cell that the mesh is described
 * by. */
static void test_sums_do_not_depend_on_their_division(void **state)
{
    double position_A[3 * SOME], charge_e[SOME];
    some_charges(position_A, charge_e, 3);
    for (int dimensions = 2; dimensions <= 3; dimensions++)
        for (int turn = 0; turn < 3; turn++) {
            bool periodic[3] = {true, true, true};
            if (dimensions == 2)
                periodic[turn] = false;
            else
                charge_e[0] += turn; /* charged cells as well */
            lattice_sum_options options = {.cell = cell_of(periodic, oblique_A)};
            double sheared_A[3][3];
            memcpy(sheared_A, oblique_A, sizeof sheared_A);
            for (int k = 0; k < 3; k++)
                sheared_A[(turn + 1) % 3][k] += dimensions == 3 ? sheared_A[(turn + 2) % 3][k] : 0;
            uint64_t seed = 7;
            for (int i = 0; i < 6; i++) {
                const double point_A[3] = {9 * random_number(&seed), 9 * random_number(&seed),
                                           9 * random_number(&seed)};
                options.beta = 0;
                const double value = value_of(&options, SOME, position_A, charge_e, point_A);
                for (options.beta = 0.8; options.beta < 1.7; options.beta += 0.4)
                    assert_near(value_of(&options, SOME, position_A, charge_e, point_A), value, 1e-13);
                const lattice_sum_options other = {.cell = cell_of(periodic, (const double(*)[3])sheared_A)};
                assert_near(value_of(&other, SOME, position_A, charge_e, point_A), value, 1e-13);
            }
        }
}

/* Neutral charges, repeated within a disc or an interval that is centred on each of them: what is
 * left out falls with a power of the size, and is extrapolated. */
static double by_shells(const cell *c, const double position_A[3 * SOME], const double charge_e[SOME],
                        const double point_A[3], double reach_A)
{
    double sum = 0;
    for (int64_t i = 0; i < SOME; i++) {
        const double *at = position_A + 3 * i;
        const double x_A[3] = {point_A[0] - at[0], point_A[1] - at[1], point_A[2] - at[2]};
        int64_t low[3], high[3];
        const double origin[3] = {0};
        cell_reach(c, origin, reach_A, low, high);
        for (int64_t j = low[0]; j <= high[0]; j++)
            for (int64_t k = low[1]; k <= high[1]; k++)
                for (int64_t l = low[2]; l <= high[2]; l++) {
                    double r_A[3], d_A[3];
                    for (int m = 0; m < 3; m++) {
                        r_A[m] = (double)j * c->vector_A[0][m] + (double)k * c->vector_A[1][m] +
                                 (double)l * c->vector_A[2][m];
                        d_A[m] = x_A[m] - r_A[m];
                    }
                    /* The mesh ends gently, or its ragged edge would show. */
                    const double u = cell_dot(r_A, r_A) / (reach_A * reach_A);
                    if (u < 1)
                        sum += charge_e[i] * pow(1 - u * u * u, 4) / cell_length(d_A);
                }
    }
    return sum;
}

static void test_direct_sums_converge_to_these(void **state)
{
    double position_A[3 * SOME], charge_e[SOME];
    some_charges(position_A, charge_e, 5);
    for (int which = 1; which < 7; which++) {
        const bool periodic[3] = {which & 1, which & 2, which & 4};
        const lattice_sum_options options = {.cell = cell_of(periodic, oblique_A)};
        const int dimensions = options.cell.dimensions;
        const double point_A[3] = {1.3, 2.9, -0.7}, reach_A = dimensions == 1 ? 4000 : 400;
        const double once = by_shells(&options.cell, position_A, charge_e, point_A, reach_A),
                     twice = by_shells(&options.cell, position_A, charge_e, point_A, 2 * reach_A);
        /* Along a line a quadrupole leaves 1/R^2, over a plane 1/R. */
        const double ratio = dimensions == 1 ? 4 : 2, limit = (ratio * twice - once) / (ratio - 1);
        assert_near(value_of(&options, SOME, position_A, charge_e, point_A), limit, 1e-6);
    }
}

/* Constants of crystals: NaCl, CsCl, ZnS (zinc blende), and of a chain and a square layer of
 * alternating charges, in units of the nearest distance. */
static void test_madelung_constants(void **state)
{
    static const double salt[24] = {0, 0, 0, 1, 1, 0, 1, 0, 1, 0, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
    static const double blende[24] = {0,   0,   0,   1,   1,   0,   1,   0,   1,   0,   1,   1,
                                      0.5, 0.5, 0.5, 1.5, 1.5, 0.5, 1.5, 0.5, 1.5, 0.5, 1.5, 1.5};
    static const double caesium[6] = {0, 0, 0, 0.5, 0.5, 0.5}, layer[12] = {0, 0, 0, 1, 1, 0, 1, 0, 0, 0, 1, 0},
                        chain[6] = {0, 0, 0, 1, 0, 0};
    const struct {
        size_t n;
        const double *position;
        double edge, nearest, constant;
        bool periodic[3];
    } crystals[] = {{8, salt, 2, 1, 1.74756459463318, {true, true, true}},
                    {2, caesium, 1, sqrt(0.75), 1.76267477307099, {true, true, true}},
                    {8, blende, 2, sqrt(0.75), 1.63805505338879, {true, true, true}},
                    {4, layer, 2, 1, 1.61554262671282, {true, true, false}},
                    {2, chain, 2, 1, 2 * log(2), {true, false, false}}};
    for (size_t i = 0; i < sizeof crystals / sizeof crystals[0]; i++) {
        const double scale_A = 1.7, edge_A = scale_A * crystals[i].edge;
        const double vector_A[3][3] = {{edge_A, 0, 0}, {0, edge_A, 0}, {0, 0, edge_A}};
        double position_A[24], charge_e[8];
        for (size_t j = 0; j < crystals[i].n; j++) {
            charge_e[j] = 2 * j < crystals[i].n ? 1 : -1;
            for (size_t k = 0; k < 3; k++)
                position_A[3 * j + k] = scale_A * crystals[i].position[3 * j + k] + 0.1;
        }
        /* Beside the charge itself, which r_min makes finite. */
        const lattice_sum_options options = {.cell = cell_of(crystals[i].periodic, vector_A), .r_min_A = 0.01};
        const double value = value_of(&options, crystals[i].n, position_A, charge_e, position_A) - 1 / options.r_min_A;
        assert_near(-value * scale_A * crystals[i].nearest, crystals[i].constant, 2e-12);
    }
}

/* What is far is the whole without what is near; and screened images are counted until they do not
 * count. */
static void test_far_and_near_are_the_whole(void **state)
{
    double position_A[3 * SOME], charge_e[SOME];
    some_charges(position_A, charge_e, 11);
    for (int which = 0; which < 8; which++)
        for (int screened = 0; screened < 2; screened++) {
            const bool periodic[3] = {which & 1, which & 2, which & 4};
            const double cutoff_A = 9.5, kappa = 0.4 * screened, point_A[3] = {4, 2.2, 3.1};
            const splitting s = made(SPLITTING_TAYLOR4, 0, 0, kappa * cutoff_A);
            lattice_sum_options options = {.cell = cell_of(periodic, oblique_A), .kappa_per_A = kappa};
            const double whole = value_of(&options, SOME, position_A, charge_e, point_A);
            options.far = &s;
            options.cutoff_A = cutoff_A;
            double sum = value_of(&options, SOME, position_A, charge_e, point_A);
            for (size_t j = 0; j < SOME; j++)
                for (int i = -4; i <= 4; i++)
                    for (int k = -4; k <= 4; k++)
                        for (int l = -4; l <= 4; l++) {
                            double d_A[3];
                            for (size_t m = 0; m < 3; m++)
                                d_A[m] = point_A[m] - position_A[3 * j + m] - i * oblique_A[0][m] -
                                         k * oblique_A[1][m] - l * oblique_A[2][m];
                            const double rho = cell_length(d_A) / cutoff_A;
                            const bool counts =
                                (periodic[0] || i == 0) && (periodic[1] || k == 0) && (periodic[2] || l == 0);
                            if (counts && rho < 1)
                                sum += charge_e[j] * (splitting_whole(&s, rho) - splitting_gamma(&s, rho)) / cutoff_A;
                        }
            assert_near(sum, whole, 1e-13);
        }
}

/* Far above a layer nothing is left but what was taken away, however far and with any screening: no
 * number is too large there. The same beside a wire; and an atom without a charge adds nothing. */
static void test_far_from_layers_and_wires(void **state)
{
    static const double charge_e[2] = {1.5, 0}, position_A[6] = {1, 2, 0.5, 3, 3, 1e5};
    for (int axes = 1; axes <= 2; axes++)
        for (double kappa_per_A = 0.02; kappa_per_A < 30; kappa_per_A *= 7)
            for (double z_A = 30; z_A < 1e7; z_A *= 3) {
                const bool periodic[3] = {true, axes == 2, false};
                lattice_sum_options options = {.cell = cell_of(periodic, orthogonal_A),
                                               .kappa_per_A = kappa_per_A,
                                               .r_min_A = 0.05,
                                               .without_mean = true};
                const double point_A[3] = {2, 3, z_A}, mean = lattice_sum_mean(&options.cell, kappa_per_A),
                             layer = axes == 2 ? mean * charge_e[0] * exp(-kappa_per_A * (z_A - 0.5)) : 0,
                             left = value_of(&options, 2, position_A, charge_e, point_A) + charge_e[0] * mean;
                assert_true(fabs(left - layer) <= 1e-12 * mean + (axes == 1 ? exp(-kappa_per_A * z_A) : 0.1 * layer));
            }
}

/* Parts of a screened charge, where an exponential is too large a number and its partner is 0. */
static void test_screened_parts_far_away(void **state)
{
    for (double beta = 0.01; beta < 3; beta *= 2)
        for (double kappa = 1e-4; kappa < 100; kappa *= 3)
            for (double r_A = 1e-3; r_A < 1e7; r_A *= 5) {
                const double whole = exp(-kappa * r_A) / r_A, image = ewald_image(r_A, kappa, beta),
                             smooth = ewald_smooth(r_A, kappa, beta);
                assert_true(image >= 0 && image <= whole * (1 + 1e-9) + 1e-300);
                assert_true(fabs(image + smooth - whole) <= 1e-9 * whole);
                assert_true(isfinite(ewald_image_slope(r_A, kappa, beta)));
                const double rest = ewald_plane_rest(kappa, beta, r_A),
                             all = ewald_plane(kappa, beta, r_A) - 2 * M_PI / kappa;
                assert_true(fabs(rest - all) <= 1e-9 * M_PI / kappa);
            }
}

static void test_sums_that_cannot_be(void **state)
{
    const double position_A[3] = {0}, charge_e = 1;
    for (int which = 0; which < 8; which++) {
        const bool periodic[3] = {which & 1, which & 2, which & 4};
        lattice_sum_options options = {.cell = cell_of(periodic, oblique_A)};
        const bool refused = options.cell.dimensions == 1 || options.cell.dimensions == 2;
        lattice_sum *sum = NULL;
        ley_error error = {0};
        assert_int_equal(lattice_sum_create(&options, 1, position_A, &charge_e, &sum, &error),
                         refused ? LEY_ERROR_INPUT : LEY_OK);
        lattice_sum_destroy(sum);
        options.kappa_per_A = 1e-6; /* 1e7 images along an axis, which have no waves */
        sum = NULL;
        assert_int_equal(lattice_sum_create(&options, 1, position_A, &charge_e, &sum, &error),
                         options.cell.dimensions == 1 ? LEY_ERROR_USAGE : LEY_OK);
        lattice_sum_destroy(sum);
    }
}

/* ---- Influence functions --------------------------------------------------------------------- */

/* The waves of the influence functions, summed, are what the exact sum has beyond its short range:
 * for each dimension, with and without screening, beside the charge and away from it. */
static void test_waves_sum_to_what_is_far(void **state)
{
    const double origin_A[3] = {0}, unit = 1, cutoff_A = 5;
    for (int which = 1; which < 8; which++)
        for (int screened = 0; screened < 2; screened++) {
            const bool periodic[3] = {which & 1, which & 2, which & 4};
            const cell c = cell_of(periodic, oblique_A);
            const double kappa = 0.45 * screened;
            const splitting s =
                screened ? made(SPLITTING_TAYLOR8, 0, 0, kappa * cutoff_A) : made(SPLITTING_PSWF, 16, 14, 0);
            const lattice_sum_options options = {.cell = c, .far = &s, .cutoff_A = cutoff_A, .kappa_per_A = kappa};
            for (int place = 0; place < 3; place++) {
                const double out = place == 0 ? 0 : place == 1 ? 2.3 : 7;
                double point_A[3] = {0}, across_A[3] = {0}, sum = 0;
                for (int m = 0; m < 3; m++)
                    for (int k = 0; k < 3; k++) {
                        point_A[k] += (c.periodic[m] ? 0.31 * (m + 1) : out * (m + 1) / 2.5) * c.vector_A[m][k];
                        across_A[k] += (c.periodic[m] ? 0 : out * (m + 1) / 2.5) * c.vector_A[m][k];
                    }
                const int most[3] = {periodic[0] ? 9 : 0, periodic[1] ? 9 : 0, periodic[2] ? 9 : 0};
                for (int i = -most[0]; i <= most[0]; i++)
                    for (int j = -most[1]; j <= most[1]; j++)
                        for (int l = -most[2]; l <= most[2]; l++) {
                            double k_per_A[3];
                            for (int m = 0; m < 3; m++)
                                k_per_A[m] = 2 * M_PI *
                                             (i * c.dual_per_A[0][m] + j * c.dual_per_A[1][m] + l * c.dual_per_A[2][m]);
                            const double k = cell_length(k_per_A), wave = cos(cell_dot(k_per_A, point_A));
                            const double r = cell_length(across_A);
                            sum += wave / c.measure *
                                   (c.dimensions == 3   ? influence_wave(&s, cutoff_A, k)
                                    : c.dimensions == 2 ? influence_plane(&s, cutoff_A, k, r)
                                                        : influence_line(&s, cutoff_A, k, r));
                        }
                assert_near(sum, value_of(&options, 1, origin_A, &unit, point_A), screened ? 2e-7 : 2e-7);
            }
        }
}

static void test_tables_of_waves(void **state)
{
    for (int kind = 0; kind < SPLITTING_COUNT; kind++) {
        static influence_table table;
        const double K = kind < SPLITTING_PSWF ? 0.3 * kind : 0, most = 55 / 4.5;
        const splitting s = made((splitting_kind)kind, 0, kind == SPLITTING_EWALD ? 2.6 : 12.4, K);
        influence_table_make(&s, 4.5, most, &table);
        for (double k = 0; k <= most; k = k < most ? fmin(k + 0.0371, most) : INFINITY) {
            const double q2 = k * k + K * K / 4.5 / 4.5;
            assert_near(influence_table_wave(&table, k), influence_wave(&s, 4.5, k), q2 > 0 ? 1e-10 / q2 : 0);
        }
    }
}

/* Distances that count are those of the nodes; then they go on smoothly into a constant, the same
 * from both sides. */
static void test_distances_saturate(void **state)
{
    for (int64_t n = 1; n < 90; n += 7) {
        const int64_t padded = influence_padded(n, (int)(n % 3));
        assert_true(padded >= 2 * n + 16 && padded % 2 == 0);
        for (int64_t i = 0; i < padded; i++) {
            const double x = influence_distance(i, n, padded);
            if (i <= n)
                assert_near(x, (double)i, 0);
            if (i > 0)
                assert_near(x, influence_distance(padded - i, n, padded), 0);
            if (i > 0 && i <= padded / 2)
                assert_true(x > influence_distance(i - 1, n, padded));
        }
        /* Even steps: the second differences are small against the first. */
        for (int64_t i = 1; i + 1 < padded; i++)
            assert_true(fabs(influence_distance(i - 1, n, padded) - 2 * influence_distance(i, n, padded) +
                             influence_distance(i + 1, n, padded)) < 0.6);
        assert_near(influence_distance(padded / 2, n, padded) - influence_distance(padded / 2 - 1, n, padded), 0, 0.2);
    }
}

/* Where distances bend, short waves have next to no part in it: B-splines' factor would spread it
 * over all nodes. */
static void test_distances_bend_smoothly(void **state)
{
    for (int64_t n = 17; n < 90; n += 6) {
        const int64_t padded = influence_padded(n, 0);
        for (double theta = 0.5 * M_PI; theta < 1.01 * M_PI; theta += 0.1 * M_PI) {
            double cosines = 0;
            for (int64_t i = n - 1; i <= padded - n + 1; i++)
                cosines += cos(theta * (double)(i - padded / 2)) *
                           (influence_distance(i - 1, n, padded) - 2 * influence_distance(i, n, padded) +
                            influence_distance(i + 1, n, padded));
            assert_near(cosines, 0, theta < 0.6 * M_PI ? 1e-2 : 1e-3);
        }
    }
}

/* A wave and its opposite have one kernel, half-way round an oblique cell as well. */
static void test_kernels_are_even(void **state)
{
    for (int which = 1; which < 8; which++) {
        hierarchy_options options = {.window = WINDOW_BSPLINE4,
                                     .solver = HIERARCHY_FOURIER,
                                     .cutoff_A = 3,
                                     .spacing_A = 1.2,
                                     .periodic = {which & 1, which & 2, which & 4}};
        const double low[3] = {0}, high[3] = {1, 1, 1};
        int64_t n[3], m[3], opposite[3];
        hierarchy h;
        ley_error error = {0};
        memcpy(options.cell_A, oblique_A, sizeof oblique_A);
        assert_ok(hierarchy_make(&options, low, high, &h, &error));
        influence_extent(&h, n);
        for (m[2] = 0; m[2] < n[2]; m[2] += h.cell.periodic[2] ? 1 : 5)
            for (m[1] = 0; m[1] < n[1]; m[1] += h.cell.periodic[1] ? 1 : 5)
                for (m[0] = 0; m[0] < n[0]; m[0] += h.cell.periodic[0] ? 1 : 5) {
                    for (int i = 0; i < 3; i++)
                        opposite[i] = (n[i] - m[i]) % n[i];
                    const double kernel = influence_kernel(&h, n, m);
                    assert_near(influence_kernel(&h, n, opposite), kernel, 1e-12 * (1 + fabs(kernel)));
                }
    }
}

static void test_factors_of_windows(void **state)
{
    for (int kind = 0; kind < WINDOW_COUNT; kind++) {
        const window *w = window_get((window_kind)kind);
        for (int64_t m = 0; m < 20; m++) {
            const double theta = 2 * M_PI * (double)m / 20, factor = influence_factor(w, m, 20);
            double aliases = 0;
            for (int j = -200; j <= 200 && !w->is_nodal; j++)
                aliases += pow(window_transform(w, theta + 2 * M_PI * j), 2);
            assert_near(factor,
                        w->is_nodal ? 1 : pow(window_transform(w, m > 10 ? theta - 2 * M_PI : theta) / aliases, 2),
                        1e-10 * factor);
        }
    }
}

/* ---- Meshes -------------------------------------------------------------------------------- */

/* Every node that a charge reaches is there, on each level; and none that nothing reaches. */
static void test_meshes_cover_what_is_in_them(void **state)
{
    for (int kind = WINDOW_NODAL3; kind <= WINDOW_NODAL9; kind++)
        for (int shift = 0; shift < 7; shift++) {
            const hierarchy_options options = {
                .window = (window_kind)kind, .levels = 4, .cutoff_A = 3, .spacing_A = 0.7};
            const double low[3] = {-3 + 0.31 * shift, 2, -20}, high[3] = {4, 2, 8 + 0.27 * shift};
            hierarchy h;
            ley_error error = {0};
            assert_ok(hierarchy_make(&options, low, high, &h, &error));
            assert_int_equal(h.levels, 4);
            for (int m = 0; m < 3; m++) {
                int64_t first = (int64_t)floor(low[m] / 0.7) - h.window->points / 2 + 1,
                        last = (int64_t)floor(high[m] / 0.7) + h.window->points / 2;
                for (int k = 0; k < 4; k++) {
                    assert_int_equal(h.level[k].first[m], first);
                    assert_int_equal(h.level[k].first[m] + h.level[k].n[m] - 1, last);
                    assert_near(h.level[k].cutoff_A, 3 * (1 << k), 0);
                    int64_t least = INT64_MAX, most = INT64_MIN;
                    for (int64_t coarse = first / 2 - 20; coarse <= last / 2 + 20; coarse++)
                        for (int j = 1 - h.window->points; j < h.window->points; j++)
                            if (2 * coarse + j >= first && 2 * coarse + j <= last) {
                                least = coarse < least ? coarse : least;
                                most = coarse > most ? coarse : most;
                            }
                    first = least;
                    last = most;
                }
            }
        }
}

/* Periods are divided evenly, however often they are halved. */
static void test_periodic_meshes(void **state)
{
    for (int levels = 1; levels < 5; levels++) {
        hierarchy_options options = {.window = WINDOW_NODAL3,
                                     .levels = levels,
                                     .cutoff_A = 3,
                                     .spacing_A = 0.71,
                                     .periodic = {true, false, true}};
        const double low[3] = {0}, high[3] = {1, 1, 1};
        hierarchy h;
        ley_error error = {0};
        memcpy(options.cell_A, oblique_A, sizeof oblique_A);
        assert_ok(hierarchy_make(&options, low, high, &h, &error));
        for (int m = 0; m < 3; m += 2) {
            assert_true(cell_length(h.step_A[m]) <= 0.71);
            assert_int_equal(h.level[0].n[m] % (1 << (levels - 1)), 0);
            for (int k = 0; k < levels; k++)
                for (int i = 0; i < 3; i++)
                    assert_near((double)h.level[k].n[m] * ldexp(h.step_A[m][i], k), oblique_A[m][i], 1e-12);
        }
        const int64_t inside[3] = {1, h.level[0].first[1], 2},
                      outside[3] = {1 - 3 * h.level[0].n[0], h.level[0].first[1], 2 + h.level[0].n[2]},
                      nowhere[3] = {1, h.level[0].first[1] - 1, 2};
        assert_int_equal(hierarchy_number(&h, 0, inside), hierarchy_number(&h, 0, outside));
        assert_int_equal(hierarchy_number(&h, 0, nowhere), -1);
    }
}

static void test_choices_that_do_not_combine(void **state)
{
    const hierarchy_options good = {.splitting = SPLITTING_TAYLOR2,
                                    .window = WINDOW_NODAL3,
                                    .cutoff_A = 8,
                                    .spacing_A = 1,
                                    .cell_A = {{20, 0, 0}, {0, 20, 0}, {0, 0, 20}}};
    enum { CASES = 8 };
    hierarchy_options bad[CASES];
    static const char *const messages[CASES] = {"bspline6", "one level", "levels",    "cutoff must be",
                                                "kappa",    "screened",  "no window", "nodes"};
    for (int i = 0; i < CASES; i++)
        bad[i] = good;
    bad[0].window = WINDOW_BSPLINE6;
    bad[1].solver = HIERARCHY_FOURIER;
    bad[1].levels = 2;
    bad[2].levels = 17;
    bad[3].cutoff_A = 0.5;
    bad[4].kappa_per_A = NAN;
    bad[5].kappa_per_A = 0.1;
    bad[5].splitting = SPLITTING_PSWF;
    bad[6].window = WINDOW_COUNT;
    bad[7].spacing_A = 1e-7;
    const double low[3] = {0}, high[3] = {9, 9, 9};
    hierarchy h;
    ley_error error = {0};
    assert_ok(hierarchy_make(&good, low, high, &h, &error));
    for (int i = 0; i < CASES; i++) {
        const ley_status status = hierarchy_make(&bad[i], low, high, &h, &error);
        if (status == LEY_OK || strstr(error.message, messages[i]) == NULL)
            fail_msg("case %d: %s, not one of %s", i, error.message, messages[i]);
        assert_int_equal(status, i == 7 ? LEY_ERROR_INPUT : LEY_ERROR_USAGE);
    }
    for (int which = 0; which < 8; which++) {
        hierarchy_options options = good;
        for (int m = 0; m < 3; m++)
            options.periodic[m] = which >> m & 1;
        assert_ok(hierarchy_make(&options, low, high, &h, &error));
        const bool refused = h.cell.dimensions == 1 || h.cell.dimensions == 2;
        assert_int_equal(hierarchy_check_charge(&h, 1, 5, &error), refused ? LEY_ERROR_INPUT : LEY_OK);
        assert_int_equal(hierarchy_check_charge(&h, 1e-9, 5, &error), LEY_OK);
    }
}

/* ---- Spectra --------------------------------------------------------------------------------- */

/* Of every size up to some, along each axis, of any number of lines: against the definition. */
static void test_cosines(void **state)
{
    uint64_t seed = 3;
    for (int64_t half = 1; half < 40; half += half < 16 ? 1 : 7)
        for (int axis = 0; axis < 3; axis++) {
            int64_t count[3] = {2 + half % 3, 3, 5 + half % 2};
            count[axis] = half + 1;
            const int64_t all = count[0] * count[1] * count[2], stride = axis == 0   ? 1
                                                                         : axis == 1 ? count[0]
                                                                                     : count[0] * count[1];
            double *values = calloc((size_t)all, sizeof *values), *before = calloc((size_t)all, sizeof *before);
            ley_error error = {0};
            assert_true(values != NULL && before != NULL);
            for (int64_t i = 0; i < all; i++)
                values[i] = before[i] = random_number(&seed) - 0.5;
            assert_ok(cosines_transform(values, count, axis, NULL, &error));
            for (int64_t at = 0; at < all; at++) {
                const int64_t m = at / stride % count[axis], first = at - m * stride;
                double sum = 0;
                for (int64_t i = 0; i < 2 * half; i++)
                    sum += before[first + (i > half ? 2 * half - i : i) * stride] *
                           cos(M_PI * (double)(i * m % (2 * half)) / (double)half);
                assert_near(values[at], sum, 1e-13);
            }
            free(values);
            free(before);
        }
}

/* Lines are made two at a time, and rounding lets each see a little of the other: which two they
 * are does not depend on how many there are, in eights, so that meshes keep their last digits. */
static void test_cosines_of_partners(void **state)
{
    enum { LINE = 51, LINES = 27, EIGHT = 8 };
    static double together[LINES][LINE], apart[LINES][LINE];
    uint64_t seed = 8;
    ley_error error = {0};
    for (int i = 0; i < LINES * LINE; i++)
        together[i / LINE][i % LINE] = apart[i / LINE][i % LINE] = random_number(&seed) - 0.5;
    assert_ok(cosines_transform(together[0], (const int64_t[3]){LINE, LINES, 1}, 0, NULL, &error));
    for (int i = 0; i < LINES; i += EIGHT)
        assert_ok(cosines_transform(apart[i], (const int64_t[3]){LINE, LINES - i < EIGHT ? LINES - i : EIGHT, 1}, 0,
                                    NULL, &error));
    assert_memory_equal(together, apart, sizeof together);
}

static hierarchy lattice_of(int which, const double vector_A[3][3], window_kind kind, splitting_kind split)
{
    const double low[3] = {0}, high[3] = {1, 1.5, 2};
    hierarchy_options options = {.window = kind,
                                 .splitting = split,
                                 .solver = HIERARCHY_FOURIER,
                                 .cutoff_A = 3,
                                 .spacing_A = 1.1,
                                 .periodic = {which & 1, which & 2, which & 4}};
    hierarchy h;
    ley_error error = {0};
    memcpy(options.cell_A, vector_A, sizeof options.cell_A);
    assert_ok(hierarchy_make(&options, low, high, &h, &error));
    return h;
}

/* The influence function of a wave: its kernel, transformed along open axes, times the factors,
 * by which rounding grows, too. */
static double influence_of(const hierarchy *h, const int64_t n[3], const int64_t m[3], double *rounding)
{
    double sum = 0, factor = 1;
    int64_t i[3], end[3], begin[3];
    const int64_t origin[3] = {0}, diagonal[3] = {1, 1, 1};
    for (int axis = 0; axis < 3; axis++) {
        begin[axis] = h->cell.periodic[axis] ? m[axis] : 0;
        end[axis] = h->cell.periodic[axis] ? m[axis] + 1 : n[axis];
        factor *= influence_factor(h->window, m[axis], n[axis]) / (double)n[axis];
    }
    for (i[2] = begin[2]; i[2] < end[2]; i[2]++)
        for (i[1] = begin[1]; i[1] < end[1]; i[1]++)
            for (i[0] = begin[0]; i[0] < end[0]; i[0]++) {
                double wave = 1;
                for (int axis = 0; axis < 3; axis++)
                    if (!h->cell.periodic[axis])
                        wave *= cos(2 * M_PI * (double)(i[axis] * m[axis] % n[axis]) / (double)n[axis]);
                sum += wave * influence_kernel(h, n, i);
            }
    *rounding = 1e-9 * factor * (fabs(influence_kernel(h, n, origin)) + fabs(influence_kernel(h, n, diagonal)));
    return sum * factor;
}

/* Each boundary, in cells of either kind: waves that are stored, and those that mirrors make. */
static void test_spectra(void **state)
{
    uint64_t seed = 9;
    for (int which = 0; which < 8; which++)
        for (int is_oblique = 0; is_oblique < 2; is_oblique++) {
            const hierarchy h = lattice_of(which, is_oblique ? oblique_A : orthogonal_A,
                                           (window_kind)((which + 3) % WINDOW_COUNT), SPLITTING_TAYLOR3);
            const int64_t *n;
            int64_t extent[3];
            spectrum s;
            ley_error error = {0};
            influence_extent(&h, extent);
            assert_ok(spectrum_make(&h, extent, NULL, &s, &error));
            n = s.n;
            assert_int_equal(s.stored[0], n[0] / 2 + 1);
            for (int axis = 1; axis < 3; axis++) {
                const bool is_slanted = is_oblique && h.cell.periodic[axis] && h.cell.dimensions > 1;
                assert_int_equal(s.stored[axis], is_slanted ? n[axis] : n[axis] / 2 + 1);
            }
            for (int i = 0; i < (h.cell.dimensions == 3 ? 200 : 6); i++) {
                const int64_t m[3] = {(int64_t)(random_number(&seed) * (double)s.stored[0]),
                                      (int64_t)(random_number(&seed) * (double)n[1]),
                                      (int64_t)(random_number(&seed) * (double)n[2])};
                const int64_t y = m[1] < s.stored[1] ? m[1] : n[1] - m[1], z = m[2] < s.stored[2] ? m[2] : n[2] - m[2];
                const double value = (double)s.values[(z * s.stored[1] + y) * s.stored[0] + m[0]];
                double rounding;
                const double right = influence_of(&h, n, m, &rounding);
                assert_near(value, right, 1e-7 * fabs(right) + rounding);
            }
            spectrum_clear(&s);
        }
}

/* Where a part begins, of so many. */
static int64_t first_of_part(int64_t count, int part, int parts)
{
    return part == parts ? count : count * part / parts / SPECTRUM_PART * SPECTRUM_PART;
}

/* The bytes of the whole, as ranks make it: planes of each, which are put together, then rows of
 * each. */
static void check_parts(const hierarchy *h, const spectrum *whole, int parts)
{
    const int64_t *n = whole->n, *stored = whole->stored, plane = stored[1] * stored[0];
    const size_t waves = (size_t)spectrum_waves(whole);
    double *planes = calloc(waves, sizeof *planes), *rows = calloc(waves, sizeof *rows);
    float *values = calloc(waves, sizeof *values);
    ley_error error = {0};
    assert_true(planes != NULL && rows != NULL && values != NULL);
    for (int p = 0; p < parts; p++) {
        const int64_t first = first_of_part(stored[2], p, parts),
                      count = first_of_part(stored[2], p + 1, parts) - first;
        assert_ok(spectrum_planes(h, n, first, count, NULL, planes + first * plane, &error));
    }
    for (int p = 0; p < parts; p++) {
        const int64_t first = first_of_part(stored[1], p, parts),
                      count = first_of_part(stored[1], p + 1, parts) - first;
        const size_t row = (size_t)(count * stored[0]);
        for (int64_t z = 0; z < stored[2]; z++)
            memcpy(rows + (size_t)z * row, planes + z * plane + first * stored[0], row * sizeof *rows);
        assert_ok(spectrum_rows(h, n, first, count, NULL, rows, values, &error));
        for (int64_t z = 0; z < stored[2]; z++)
            assert_memory_equal(values + (size_t)z * row, whole->values + z * plane + first * stored[0],
                                row * sizeof *values);
    }
    free(planes);
    free(rows);
    free(values);
}

static void test_spectra_in_parts(void **state)
{
    for (int which = 0; which < 8; which += 7)
        for (int is_oblique = 0; is_oblique < 2; is_oblique++) {
            hierarchy_options options = {.window = WINDOW_BSPLINE6,
                                         .splitting = SPLITTING_TAYLOR4,
                                         .solver = HIERARCHY_FOURIER,
                                         .cutoff_A = 3,
                                         .spacing_A = 0.7,
                                         .periodic = {which & 1, which & 2, which & 4}};
            const double low[3] = {0}, high[3] = {20, 23, 21};
            hierarchy h;
            int64_t extent[3];
            spectrum s;
            ley_error error = {0};
            for (int m = 0; m < 3; m++)
                for (int k = 0; k < 3; k++)
                    options.cell_A[m][k] = 3 * (is_oblique ? oblique_A : orthogonal_A)[m][k];
            assert_ok(hierarchy_make(&options, low, high, &h, &error));
            influence_extent(&h, extent);
            assert_ok(spectrum_make(&h, extent, NULL, &s, &error));
            for (int parts = 1; parts < 5; parts++)
                check_parts(&h, &s, parts);
            spectrum_clear(&s);
        }
}

static void test_spectra_that_cannot_be(void **state)
{
    const hierarchy h = lattice_of(0, orthogonal_A, WINDOW_NODAL3, SPLITTING_TAYLOR3);
    const atomic_bool cancelled = true;
    const int64_t odd[3] = {32, 33, 32}, even[3] = {32, 32, 32};
    spectrum s;
    ley_error error = {0};
    assert_int_equal(spectrum_make(&h, odd, NULL, &s, &error), LEY_ERROR_USAGE);
    assert_int_equal(spectrum_make(&h, even, &cancelled, &s, &error), LEY_CANCELLED);
    assert_null(s.values);
}

/* ---- Levels that kernels can do -------------------------------------------------------------- */

/* Where nobody says how many levels there are, the top one is within reach, however long a box
 * is. */
static void test_levels_are_within_reach(void **state)
{
    for (double length_A = 20; length_A < 2000; length_A *= 1.7) {
        const hierarchy_options options = {
            .splitting = SPLITTING_TAYLOR2, .window = WINDOW_NODAL3, .cutoff_A = 8, .spacing_A = 2};
        const double low[3] = {0}, high[3] = {8, length_A, 12};
        int64_t reach[3];
        hierarchy h;
        ley_error error = {0};
        assert_ok(hierarchy_make(&options, low, high, &h, &error));
        hierarchy_whole_reach(&h, h.levels - 1, reach);
        for (int axis = 0; axis < 3; axis++) {
            assert_int_equal(reach[axis], h.level[h.levels - 1].n[axis] - 1);
            assert_true(reach[axis] <= HIERARCHY_MOST_REACH);
        }
    }
}

/* Screening that leaves nothing beyond the cutoff. */
static void test_what_is_far(void **state)
{
    bool had_far = true;
    for (double kappa_per_A = 0; kappa_per_A < 8; kappa_per_A += 0.25) {
        const hierarchy_options options = {.splitting = SPLITTING_TAYLOR4,
                                           .window = WINDOW_NODAL3,
                                           .cutoff_A = 4,
                                           .spacing_A = 1,
                                           .kappa_per_A = kappa_per_A};
        const double low[3] = {0}, high[3] = {8, 8, 8};
        hierarchy h;
        ley_error error = {0};
        assert_ok(hierarchy_make(&options, low, high, &h, &error));
        const bool has_far = splitting_has_far(&h.level[0].split);
        assert_true(had_far || !has_far);
        assert_true(has_far == (h.level[0].split.c[0] > 0 && splitting_gamma(&h.level[0].split, 0) >= 1e-7));
        had_far = has_far;
    }
    assert_false(had_far);
}

/* With strong screening the cutoffs of coarse levels are so long that nothing is left beyond
 * them. */
static void test_screening_far_away(void **state)
{
    static const double low[3] = {0, 0, 0}, high[3] = {1200, 30, 30};
    const hierarchy_options options = {.splitting = SPLITTING_TAYLOR3,
                                       .window = WINDOW_NODAL5,
                                       .cutoff_A = 1.5,
                                       .spacing_A = 0.75,
                                       .kappa_per_A = 0.5};
    hierarchy h;
    ley_error error = {0};
    assert_ok(hierarchy_make(&options, low, high, &h, &error));
    assert_true(options.kappa_per_A * h.level[h.levels - 1].cutoff_A > SPLITTING_MOST_KAPPA_A);
    for (int k = 0; k < h.levels; k++)
        for (double r_A = 0; r_A < 3000; r_A += 250)
            assert_true(isfinite(hierarchy_weight(&h, k, r_A)));
    assert_true(hierarchy_weight(&h, 0, 1) > 0);
}

int main(void)
{
    return RUN_TESTS(
        test_cells, test_nearest_images, test_sums_do_not_depend_on_their_division, test_direct_sums_converge_to_these,
        test_madelung_constants, test_far_and_near_are_the_whole, test_far_from_layers_and_wires,
        test_screened_parts_far_away, test_sums_that_cannot_be, test_waves_sum_to_what_is_far, test_tables_of_waves,
        test_distances_saturate, test_distances_bend_smoothly, test_kernels_are_even, test_screening_far_away,
        test_factors_of_windows, test_meshes_cover_what_is_in_them, test_periodic_meshes,
        test_choices_that_do_not_combine, test_cosines, test_cosines_of_partners, test_spectra, test_spectra_in_parts,
        test_spectra_that_cannot_be, test_levels_are_within_reach, test_what_is_far);
}
