/* The judge of periodic sums, which adds many charges up at once, against sums of each charge by
 * itself. */
#include "support.h"

#include "law/periodic.h"
#include "numerics/lattice_sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHARGES = 23, POINTS = 9 };

/* Distances below count as this. */
static const double r_min_A = 0.05, lattice_share = 1e-3;

typedef struct problem {
    cell cell;
    double kappa_per_A, position_A[CHARGES][3], charge_e[CHARGES], point_A[POINTS][3];
} problem;

/* Bits of a boundary: periodic along a, b, c; 8: in an oblique cell; 16: and one of edges that are
 * far from alike. */
enum { OBLIQUE = 8, UNEQUAL = 16 };

static double fraction(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0;
}

/* Charges and points in a cell and some of its neighbours; the first point is a charge's place, the
 * second one nearer than r_min to one, the last ones far above it where it is open there. */
static problem make_problem(int boundary, double kappa_per_A, double net_e)
{
    static const double edges_A[2][3][3] = {{{12, 0, 0}, {0, 14, 0}, {0, 0, 11}}, {{12, 0, 0}, {5, 9, 0}, {-4, 3, 8}}};
    problem p = {.kappa_per_A = kappa_per_A};
    double vector_A[3][3], total_e = 0;
    bool periodic[3];
    uint64_t seed = 7;
    ley_error error = {0};
    for (int i = 0; i < 3; i++)
        for (int axis = 0; axis < 3; axis++) {
            periodic[i] = boundary >> i & 1;
            vector_A[i][axis] =
                edges_A[(boundary & OBLIQUE) != 0][i][axis] * ((boundary & UNEQUAL) != 0 && i == 1 ? 0.2 : 1);
        }
    assert_ok(cell_make(periodic, (const double(*)[3])vector_A, &p.cell, &error));
    for (int j = 0; j < CHARGES + POINTS; j++) {
        double *place = j < CHARGES ? p.position_A[j] : p.point_A[j - CHARGES];
        for (int i = 0; i < 3; i++) {
            const double share = periodic[i] ? 3 * fraction(&seed) - 1 : fraction(&seed);
            for (int axis = 0; axis < 3; axis++)
                place[axis] += share * vector_A[i][axis];
        }
        if (j < CHARGES) {
            p.charge_e[j] = j == 3 ? 0 : j + 1 < CHARGES ? 2 * fraction(&seed) - 1 : net_e - total_e;
            total_e += p.charge_e[j];
        }
    }
    memcpy(p.point_A[0], p.position_A[5], sizeof p.point_A[0]);
    memcpy(p.point_A[1], p.position_A[6], sizeof p.point_A[1]);
    p.point_A[1][1] += 0.6 * r_min_A;
    for (int i = 0; i < 3; i++)
        for (int axis = 0; axis < 3 && !periodic[i]; axis++) {
            p.point_A[POINTS - 1][axis] += 300 * p.cell.vector_A[i][axis];
            p.point_A[POINTS - 2][axis] -= 30 * p.cell.vector_A[i][axis];
        }
    return p;
}

static periodic_sum *sum_of(const problem *p, size_t points, double near_A)
{
    const periodic_options options = {.cell = p->cell,
                                      .kappa_per_A = p->kappa_per_A,
                                      .r_min_A = r_min_A,
                                      .shares = {.lattice = lattice_share},
                                      .near_A = near_A,
                                      .n = CHARGES,
                                      .position_A = p->position_A[0],
                                      .charge_e = p->charge_e,
                                      .points = points};
    periodic_sum *sum;
    ley_error error = {0};
    assert_ok(periodic_sum_create(&options, &sum, &error));
    return sum;
}

static void add_image(void *context, const double image_A[3])
{
    double *sum = context; /* and kappa */
    const double r_A = fmax(cell_length(image_A), r_min_A);
    sum[0] += exp(-sum[1] * r_A) / r_A;
}

/* Screened charges' images one by one: there are no waves in that. */
static void sum_images(const problem *p, double right[POINTS])
{
    for (int i = 0; i < POINTS; i++) {
        right[i] = 0;
        for (int j = 0; j < CHARGES; j++) {
            double x_A[3], sum[2] = {0, p->kappa_per_A};
            for (int axis = 0; axis < 3; axis++)
                x_A[axis] = p->point_A[i][axis] - p->position_A[j][axis];
            cell_images(&p->cell, x_A, 34 / p->kappa_per_A, add_image, sum);
            right[i] += p->charge_e[j] * sum[0];
        }
    }
}

static void right_values(const problem *p, double right[POINTS])
{
    if (p->kappa_per_A >= 0.2) {
        sum_images(p, right);
        return;
    }
    const lattice_sum_options options = {.cell = p->cell, .kappa_per_A = p->kappa_per_A, .r_min_A = r_min_A};
    lattice_sum *sum;
    ley_error error = {0};
    assert_ok(lattice_sum_create(&options, CHARGES, p->position_A[0], p->charge_e, &sum, &error));
    for (int i = 0; i < POINTS; i++)
        right[i] = lattice_sum_at(sum, p->point_A[i]);
    lattice_sum_destroy(sum);
}

/* However images and waves share the work. */
static void check_values(int boundary, double kappa_per_A, double net_e)
{
    static const size_t points[] = {1, 40, 5000};
    const problem p = make_problem(boundary, kappa_per_A, net_e);
    double right[POINTS], worst = 0;
    right_values(&p, right);
    for (int way = 0; way < 3; way++) {
        periodic_sum *sum = sum_of(&p, points[way], 6);
        for (int i = 0; i < POINTS; i++) {
            const double off = fabs(periodic_sum_at(sum, p.point_A[i]).value - right[i]) / (1 + fabs(right[i]));
            worst = fmax(worst, off);
            if (!(off < 1e-12))
                fail_msg("boundary %d, kappa %g, net charge %g, point %d of %zu: off by %.3g of %.12g", boundary,
                         kappa_per_A, net_e, i, points[way], off, right[i]);
        }
        periodic_sum_destroy(sum);
    }
    print_message("boundary %d, kappa %g / A, %g e: off by %.2g at most\n", boundary, kappa_per_A, net_e, worst);
}

static void test_values(void **state)
{
    (void)state;
    static const int boundaries[] = {7, OBLIQUE | 7, UNEQUAL | 7, 3,           6, OBLIQUE | 3, OBLIQUE | UNEQUAL | 5,
                                     1, 4,           OBLIQUE | 2, UNEQUAL | 2, 5};
    static const double kappas_per_A[] = {0, 0.25, 0.02, 9};
    for (size_t i = 0; i < sizeof boundaries / sizeof *boundaries; i++)
        for (size_t k = 0; k < 4; k++) {
            if (support_is_quick() && k > 0 && (i + k) % 3 != 0)
                continue;
            check_values(boundaries[i], kappas_per_A[k], 0);
            if (kappas_per_A[k] > 0 || (boundaries[i] & 7) == 7)
                check_values(boundaries[i], kappas_per_A[k], 1.75);
        }
}

/* Screening that is next to none: neutral charges are next to unscreened, where waves without a
 * direction, large numbers, have to cancel. */
static void test_weak_screening(void **state)
{
    (void)state;
    static const int boundaries[] = {7, OBLIQUE | 3, OBLIQUE | 7, 6};
    for (size_t i = 0; i < sizeof boundaries / sizeof *boundaries; i++) {
        const problem none = make_problem(boundaries[i], 0, 0), weak = make_problem(boundaries[i], 1e-6, 0);
        double right[POINTS];
        right_values(&none, right);
        periodic_sum *sum = sum_of(&weak, 40, 1);
        for (int k = 0; k < POINTS - 2; k++)
            assert_true(fabs(periodic_sum_at(sum, weak.point_A[k]).value - right[k]) < 1e-5 * (1 + fabs(right[k])));
        periodic_sum_destroy(sum);
    }
}

/* The share of lattices counts without screening. */
static double right_square(const problem *p, double r2)
{
    return pow(lattice_share + (1 - lattice_share) * exp(-p->kappa_per_A * sqrt(r2)), 2) / r2;
}

/* All images within a distance, or the nearest one, by going through many. */
static double right_squares(const problem *p, const double point_A[3], double near_A)
{
    enum { FAR = 14 };
    double sum = 0;
    for (int j = 0; j < CHARGES; j++) {
        double own = 0, least = INFINITY;
        int at[3], most[3];
        for (int i = 0; i < 3; i++)
            most[i] = p->cell.periodic[i] ? FAR : 0;
        for (at[0] = -most[0]; at[0] <= most[0]; at[0]++)
            for (at[1] = -most[1]; at[1] <= most[1]; at[1]++)
                for (at[2] = -most[2]; at[2] <= most[2]; at[2]++) {
                    double r2 = 0;
                    for (int axis = 0; axis < 3; axis++) {
                        double x = point_A[axis] - p->position_A[j][axis];
                        for (int i = 0; i < 3; i++)
                            x += at[i] * p->cell.vector_A[i][axis];
                        r2 += x * x;
                    }
                    r2 = fmax(r2, r_min_A * r_min_A);
                    own += r2 < near_A * near_A ? right_square(p, r2) : 0;
                    least = fmin(least, r2);
                }
        sum += p->charge_e[j] * p->charge_e[j] * (own > 0 ? own : right_square(p, least));
    }
    return sum;
}

static void test_squares(void **state)
{
    (void)state;
    static const int boundaries[] = {7, OBLIQUE | 7, 3, OBLIQUE | 6, 1, UNEQUAL | 2};
    static const double near_A[] = {0.5, 7, 25.1};
    for (size_t i = 0; i < sizeof boundaries / sizeof *boundaries; i++)
        for (int k = 0; k < 3; k++) {
            const problem p = make_problem(boundaries[i], k == 1 ? 0.3 : 0, 0);
            periodic_sum *sum = sum_of(&p, 30, near_A[k]);
            for (int m = 0; m < POINTS; m++) {
                const double right = right_squares(&p, p.point_A[m], near_A[k]);
                const double squares = periodic_sum_at(sum, p.point_A[m]).squares;
                if (!(fabs(squares - right) < 1e-12 * right))
                    fail_msg("boundary %d, within %g A, point %d: %.15g, right is %.15g", boundaries[i], near_A[k], m,
                             squares, right);
            }
            periodic_sum_destroy(sum);
        }
}

/* Many charges, and the mean of the potential, which is 0 whatever their sum is. */
static void test_mean_of_a_charged_cell(void **state)
{
    (void)state;
    enum { EDGE = 20 };
    const problem p = make_problem(7, 0, 3);
    periodic_sum *sum = sum_of(&p, EDGE * EDGE * EDGE, 1);
    double mean = 0, most = 0;
    for (int i = 0; i < EDGE * EDGE * EDGE; i++) {
        const double point_A[3] = {12.0 / EDGE * (i % EDGE), 14.0 / EDGE * (i / EDGE % EDGE),
                                   11.0 / EDGE * (i / EDGE / EDGE)};
        const double value = periodic_sum_at(sum, point_A).value;
        mean += value / (EDGE * EDGE * EDGE);
        most = fmax(most, fabs(value));
    }
    periodic_sum_destroy(sum);
    print_message("mean %.3g of up to %.3g\n", mean, most);
    assert_true(fabs(mean) < 0.01); /* points are few next to charges; without a background 1e-1 */
}

/* Whether a charge at r_min counts is up to the rounding of places, and only there: the judge lets
 * the field have its term more or less. What that is follows from fields just inside and
 * outside. */
static void test_field_at_r_min(void **state)
{
    (void)state;
    static const double way[3] = {0.48, 0.6, -0.64}, kappas_per_A[] = {0, 0.1};
    for (int boundary = 1; boundary < 8 + OBLIQUE; boundary += boundary == 7 ? 2 : 1)
        for (int k = 0; k < 2; k++) {
            const problem p = make_problem(boundary, kappas_per_A[k], 0);
            periodic_sum *sum = sum_of(&p, 50, 9);
            periodic_gradient at[5];
            static const double off_A[5] = {-4e-6, -1e-7, 0, 1e-7, 4e-6};
            for (int i = 0; i < 5; i++) {
                double point_A[3];
                for (int axis = 0; axis < 3; axis++)
                    point_A[axis] = p.position_A[4][axis] + (r_min_A + off_A[i]) * way[axis] +
                                    (p.cell.periodic[0] ? 2 * p.cell.vector_A[0][axis] : 0);
                at[i] = periodic_sum_field(sum, point_A);
            }
            for (int axis = 0; axis < 3; axis++) {
                const double step = at[4].field[axis] - at[0].field[axis];
                assert_true(fabs(step) > 30 * fabs(p.charge_e[4]));
                assert_true(at[0].lower[axis] == 0 && at[0].higher[axis] == 0);
                assert_true(at[4].lower[axis] == 0 && at[4].higher[axis] == 0);
                for (int i = 1; i < 4; i++) {
                    assert_true(fabs(at[i].lower[axis] + fabs(step)) < 1e-3 * fabs(step));
                    assert_true(fabs(at[i].higher[axis] - fabs(step)) < 1e-3 * fabs(step));
                }
            }
            periodic_sum_destroy(sum);
        }
}

/* ---- Many charges ---------------------------------------------------------------------------- */

enum { MANY = 4200, LOOKED_AT = 2 };

typedef struct many {
    cell cell;
    double *position_A, *charge_e, point_A[LOOKED_AT][3];
} many;

static many make_many(const bool periodic[3], const double vector_A[3][3])
{
    many m = {.position_A = calloc(3 * MANY, sizeof(double)), .charge_e = malloc(MANY * sizeof(double))};
    uint64_t seed = 11;
    ley_error error = {0};
    assert_ok(cell_make(periodic, vector_A, &m.cell, &error));
    for (int j = 0; j < MANY + LOOKED_AT; j++) {
        double *place_A = j < MANY ? m.position_A + 3 * j : m.point_A[j - MANY];
        for (int i = 0; i < 3; i++) {
            const double share = fraction(&seed) * (i == 2 && !periodic[2] ? 0.5 : 1);
            for (int axis = 0; axis < 3; axis++)
                place_A[axis] += share * vector_A[i][axis];
        }
        if (j < MANY)
            m.charge_e[j] = j % 3 == 0 ? -0.8 : 0.4;
    }
    return m;
}

static double nearest_squares(const many *m, const double point_A[3])
{
    double sum = 0;
    for (size_t j = 0; j < MANY; j++) {
        const double *at_A = m->position_A + 3 * j;
        const double x_A[3] = {point_A[0] - at_A[0], point_A[1] - at_A[1], point_A[2] - at_A[2]};
        double way_A[3];
        const double r_A = fmax(cell_nearest(&m->cell, x_A, way_A), r_min_A);
        sum += pow(m->charge_e[j] / r_A, 2);
    }
    return sum;
}

/* Less the slope, from values to either side. */
static double slope_of(const periodic_sum *sum, const double point_A[3], int axis)
{
    const double step_A = 1e-4;
    double at_A[3] = {point_A[0], point_A[1], point_A[2]};
    at_A[axis] = point_A[axis] - step_A;
    const double below = periodic_sum_at(sum, at_A).value;
    at_A[axis] = point_A[axis] + step_A;
    return (below - periodic_sum_at(sum, at_A).value) / (2 * step_A);
}

/* Charges on a mesh by blocks, and those of whole bins as one from afar: the former is as exact as
 * with few charges, the latter to a percent. */
static void test_many_charges(void **state)
{
    static const double vectors_A[2][3][3] = {{{45, 0, 0}, {0, 40, 0}, {0, 0, 42}},
                                              {{42, 0, 0}, {15, 38, 0}, {-9, 12, 40}}};
    static const bool all[3] = {true, true, true}, layer[3] = {true, true, false};
    (void)state;
    for (int way = 0; way < 3; way++) {
        const many m = make_many(way < 2 ? all : layer, vectors_A[way % 2]);
        const periodic_options options = {.cell = m.cell,
                                          .r_min_A = r_min_A,
                                          .shares = {.lattice = 1},
                                          .near_A = 5,
                                          .n = MANY,
                                          .position_A = m.position_A,
                                          .charge_e = m.charge_e,
                                          .points = way == 0 ? 300 : 20};
        const lattice_sum_options exact = {.cell = m.cell, .r_min_A = r_min_A};
        periodic_sum *sum;
        lattice_sum *right;
        ley_error error = {0};
        assert_ok(periodic_sum_create(&options, &sum, &error));
        assert_ok(lattice_sum_create(&exact, MANY, m.position_A, m.charge_e, &right, &error));
        for (int i = 0; i < LOOKED_AT; i++) {
            const periodic_value at = periodic_sum_at(sum, m.point_A[i]);
            const periodic_gradient of = periodic_sum_field(sum, m.point_A[i]);
            const double value = lattice_sum_at(right, m.point_A[i]), squares = nearest_squares(&m, m.point_A[i]);
            print_message("value %.12g, off by %.2g; squares %.6g, off by %.2g\n", value, at.value - value, squares,
                          at.squares / squares - 1);
            assert_true(fabs(at.value - value) < 1e-12 * sqrt(squares));
            assert_true(fabs(at.squares - squares) < 0.01 * squares && fabs(of.squares - at.squares) < 1e-12 * squares);
            for (int axis = 0; axis < 3; axis++)
                assert_true(fabs(of.field[axis] - slope_of(sum, m.point_A[i], axis)) < 1e-5 * sqrt(of.field_squares));
        }
        lattice_sum_destroy(right);
        periodic_sum_destroy(sum);
        free(m.position_A);
        free(m.charge_e);
    }
}

static void test_what_is_refused(void **state)
{
    (void)state;
    ley_error error = {0};
    problem p = make_problem(3, 0, 0);
    atomic_bool cancelled = true;
    periodic_sum *sum = NULL;
    periodic_options o = {.cell = p.cell,
                          .r_min_A = r_min_A,
                          .near_A = 1,
                          .n = CHARGES,
                          .position_A = p.position_A[0],
                          .charge_e = p.charge_e,
                          .points = 50,
                          .cancelled = &cancelled};
    assert_int_equal(periodic_sum_create(&o, &sum, &error), LEY_CANCELLED);
    ley_error_clear(&error);
    o.cancelled = NULL;
    p = make_problem(1, 0, 2);
    o.near_A = 1;
    o.cell = p.cell;
    assert_int_equal(periodic_sum_create(&o, &sum, &error), LEY_ERROR_INPUT);
    assert_non_null(strstr(error.message, "net charge"));
    ley_error_clear(&error);
    assert_null(sum);
}

/* ---- Cells that look too small --------------------------------------------------------------- */

/* 400 atoms in a box of 40 A, and one whose molecules stick out of it by up to 20 A. */
static void test_cells_that_look_too_small(void **state)
{
    static const bool all[3] = {true, true, true}, none[3] = {false}, z_only[3] = {false, false, true};
    static const struct {
        const char *what;
        const bool *periodic;
        double cell_A[3][3];
        const char *says; /* NULL: nothing */
    } cases[] = {
        {"its own", all, {{40, 0, 0}, {0, 40, 0}, {0, 0, 40}}, NULL},
        {"molecules that stick out", all, {{27, 0, 0}, {0, 27, 0}, {0, 0, 21}}, NULL},
        {"in nm", all, {{4, 0, 0}, {0, 4, 0}, {0, 0, 4}}, "if its lengths are in nm, give them in A"},
        {"in nm, oblique", all, {{4, 0, 0}, {2, 3.5, 0}, {2, 1, 3.2}}, "in nm"},
        {"too small along one axis", all, {{40, 0, 0}, {0, 12, 0}, {0, 0, 40}}, "edge b is 12 A, and the atoms reach"},
        {"thin along axes that repeat nothing", z_only, {{1, 0, 0}, {0, 1, 0}, {0, 0, 40}}, NULL},
        {"a wire in nm", z_only, {{0, 0, 0}, {0, 0, 0}, {0, 0, 4}}, "edge c is 4 A"},
        {"open space", none, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, NULL},
        {"no cell", all, {{1, 0, 0}, {1, 0, 0}, {0, 0, 1}}, NULL},
    };
    (void)state;
    ley_atoms *atoms = support_atoms(400, 0, 40, 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256] = "before";
        const bool found = ley_atoms_cell_remark(atoms, cases[i].periodic, cases[i].cell_A, text, sizeof text);
        if (found != (cases[i].says != NULL) || (found ? strstr(text, cases[i].says) == NULL : text[0] != '\0'))
            fail_msg("%s: '%s'", cases[i].what, text);
    }
    ley_atoms_destroy(atoms);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),          cmocka_unit_test(test_weak_screening),
        cmocka_unit_test(test_squares),         cmocka_unit_test(test_mean_of_a_charged_cell),
        cmocka_unit_test(test_field_at_r_min),  cmocka_unit_test(test_many_charges),
        cmocka_unit_test(test_what_is_refused), cmocka_unit_test(test_cells_that_look_too_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
