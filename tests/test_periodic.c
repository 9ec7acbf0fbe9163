/* The judge of periodic sums, which adds many charges up at once, against sums of each charge by
 * itself. */
#include "support.h"

#include "law/flat.h"
#include "law/periodic.h"
#include "numerics/lattice_sum.h"

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
                                      .shares = {.mesh = lattice_share},
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
    check_values(7, 0.02, 1e-4); /* little, and not next to nothing */
}

/* Screening that is next to none: neutral charges are next to unscreened, where waves without a
 * direction, large numbers, have to cancel. */
static void test_weak_screening(void **state)
{
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

/* The share of meshes counts without screening. */
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

static void add_squares(void *context, const double image_A[3])
{
    double *sums = context;
    const double r2 = cell_dot(image_A, image_A);
    sums[0] += 1 / r2;
    sums[1] += 1 / (r2 * r2);
}

/* Squares of more images than are looked at one by one: the others are as many as they are on
 * average. The second of two points is above a layer. */
static void test_squares_of_many_images(void **state)
{
    static const struct {
        bool is_layer;
        double near_A;
    } cases[] = {{false, 40}, {true, 500}};
    static const double vector_A[3][3] = {{2, 0, 0}, {0.5, 1.9, 0}, {0.3, -0.4, 2.1}}, place_A[3] = {0.4, 1.1, 0.9},
                        charge_e = 0.7, shown_A[2][3] = {{1.3, 0.2, 0.6}, {0.9, 1.5, 100}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int k = 0; k <= (int)cases[i].is_layer; k++) {
            const bool periodic[3] = {true, true, !cases[i].is_layer};
            periodic_options options = {.r_min_A = r_min_A,
                                        .shares = {.mesh = lattice_share},
                                        .near_A = cases[i].near_A,
                                        .n = 1,
                                        .position_A = place_A,
                                        .charge_e = &charge_e,
                                        .points = 2};
            double x_A[3], right[2] = {0};
            periodic_sum *sum;
            ley_error error = {0};
            assert_ok(cell_make(periodic, vector_A, &options.cell, &error));
            for (int axis = 0; axis < 3; axis++)
                x_A[axis] = shown_A[k][axis] - place_A[axis];
            cell_images(&options.cell, x_A, cases[i].near_A, add_squares, right);
            assert_ok(periodic_sum_create(&options, &sum, &error));
            const periodic_gradient at = periodic_sum_field(sum, shown_A[k]);
            print_message("squares off by %.2g, those of fields by %.2g\n",
                          at.squares / (charge_e * charge_e * right[0]) - 1,
                          at.field_squares / (charge_e * charge_e * right[1]) - 1);
            assert_true(fabs(at.squares / (charge_e * charge_e * right[0]) - 1) < 0.01);
            assert_true(fabs(at.field_squares / (charge_e * charge_e * right[1]) - 1) < 0.01);
            periodic_sum_destroy(sum);
        }
}

/* Many charges, and the mean of the potential, which is 0 whatever their sum is. */
static void test_mean_of_a_charged_cell(void **state)
{
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

/* ---- What does not change along a layer or a line -------------------------------------------- */

enum { FLAT_CHARGES = 150, FLAT_POINTS = 8 };

typedef struct flat_problem {
    flat_options o;
    double position_A[FLAT_CHARGES][3], charge_e[FLAT_CHARGES], point_A[FLAT_POINTS][3];
} flat_problem;

/* Potential, and less its slope along the way; and what rounding of both is a share of. */
typedef struct flat_right {
    double value, way[3], scale, way_scale;
} flat_right;

/* Charges up to a width along open axes, on both ends of it, too; points on `at`, shares of that
 * width, and so many gaps beyond it. */
static void make_flat(flat_problem *p, int boundary, double width_A, double net_e, const double at[FLAT_POINTS][2])
{
    static const double vectors_A[3][3] = {{12, 0, 0}, {5, 9, 0}, {-4, 3, 8}};
    const bool periodic[3] = {boundary & 1, boundary & 2, boundary & 4};
    uint64_t seed = 5;
    double total_e = 0;
    ley_error error = {0};
    assert_ok(cell_make(periodic, vectors_A, &p->o.cell, &error));
    memset(p->position_A, 0, sizeof p->position_A);
    memset(p->point_A, 0, sizeof p->point_A);
    for (int j = 0; j < FLAT_CHARGES + FLAT_POINTS; j++)
        for (int i = 0; i < 3; i++) {
            const double *share = j < FLAT_CHARGES ? NULL : at[j - FLAT_CHARGES];
            double along = j > 1 ? fraction(&seed) : j;
            if (!periodic[i])
                along = share == NULL ? along * width_A : share[0] * width_A + share[1] * p->o.gap_A;
            for (int axis = 0; axis < 3; axis++)
                (j < FLAT_CHARGES ? p->position_A[j] : p->point_A[j - FLAT_CHARGES])[axis] +=
                    along * p->o.cell.vector_A[i][axis];
        }
    for (int j = 0; j < FLAT_CHARGES; j++) {
        p->charge_e[j] = j == 0 ? 0.9 : j + 1 < FLAT_CHARGES ? 2 * fraction(&seed) - 1 : net_e - total_e;
        total_e += p->charge_e[j];
    }
    p->o.n = FLAT_CHARGES;
    p->o.position_A = p->position_A[0];
    p->o.charge_e = p->charge_e;
    for (int i = 0; i < 3; i++) {
        p->o.low_A[i] = 0;
        p->o.high_A[i] = periodic[i] ? 0 : width_A;
    }
}

/* A point's flat part by its definition, with each charge's layers one by one: screened layers
 * sum to a mean, which waves of a Gaussian's width have less of; within the gap that is what is
 * left of a layer with its images when all but itself are taken off, elsewhere it is the layer. The
 * potential of a layer that is weakly screened, on itself, is not counted. */
static void add_layers(const flat_problem *p, double at_A, bool is_inside, double kappa, double sign, flat_right *sum)
{
    const long double factor = 2 * M_PI / p->o.cell.measure, h_A = p->o.high_A[2] + 2 * p->o.gap_A,
                      shrink = expl(-kappa * h_A);
    for (int j = 0; j < FLAT_CHARGES; j++) {
        const long double d_A = at_A - cell_dot(p->o.cell.vector_A[2], p->position_A[j]);
        long double below = is_inside ? expl(-kappa * (h_A + d_A)) : 0,
                    above = is_inside ? expl(-kappa * (h_A - d_A)) : 0, own = is_inside ? 0 : expl(-kappa * fabsl(d_A)),
                    slope = d_A > 0 ? own : -own, mean = 0;
        for (; below + above > 1e-22L * own && below + above > 0; below *= shrink, above *= shrink) {
            own += below + above;
            slope += below - above;
        }
        if (is_inside)
            mean = 2 / (h_A * kappa) * expl(-powl(kappa / (2 * p->o.beta_per_A), 2));
        const long double of_e = (is_inside ? -sign : sign) * factor * p->charge_e[j], magnitude = fabsl(of_e);
        sum->value += (double)(of_e / kappa * (own - mean + (p->o.kappa_per_A > 0 ? 0 : is_inside ? 1 : -1)));
        for (int axis = 0; axis < 3; axis++)
            sum->way[axis] += (double)(of_e * slope) * p->o.cell.vector_A[2][axis];
        sum->scale += (double)(p->o.kappa_per_A > 0 ? magnitude / kappa * (own + 1e-3L * mean) : magnitude * h_A);
        sum->way_scale += (double)(p->o.kappa_per_A > 0 ? magnitude * own : magnitude);
    }
}

/* Without screening it is the limit of ever less. */
static flat_right right_of_layer(const flat_problem *p, const double point_A[3])
{
    static const double share[] = {4, -6, 4, -1};
    flat_right sum = {0};
    const double at_A = cell_dot(p->o.cell.vector_A[2], point_A), gap_A = p->o.gap_A;
    const bool is_inside = at_A > -gap_A && at_A < p->o.high_A[2] + gap_A;
    const double weak = 0.01 / (p->o.high_A[2] + 2 * gap_A);
    if (p->o.kappa_per_A > 0)
        add_layers(p, at_A, is_inside, p->o.kappa_per_A, 1, &sum);
    else
        for (int i = 0; i < 4; i++)
            add_layers(p, at_A, is_inside, (i + 1) * weak, share[i], &sum);
    return sum;
}

/* 2/L times the integral of exp(-x v^2 - c^2/v^2) dv/v, v from 0 to 1, or without screening what it
 * has less of than on the line, x = (beta rho)^2: in steps of u, v = 1/(1 + exp(-u)), at both ends
 * of which there is nothing. */
static flat_right right_of_line(const flat_problem *p, int line, const double point_A[3])
{
    const double beta = p->o.beta_per_A, c = p->o.kappa_per_A / (2 * beta), step = 1.0 / 16;
    const double *along_A = p->o.cell.vector_A[line];
    flat_right sum = {0};
    for (int j = 0; j < FLAT_CHARGES; j++) {
        double way_A[3], value = 0, slope = 0, scale = 0;
        for (int axis = 0; axis < 3; axis++)
            way_A[axis] = point_A[axis] - p->position_A[j][axis];
        const double turns = cell_dot(way_A, along_A) / cell_dot(along_A, along_A);
        for (int axis = 0; axis < 3; axis++)
            way_A[axis] -= turns * along_A[axis];
        const double x = beta * beta * cell_dot(way_A, way_A);
        for (double u = -45; u < 40; u += step) {
            const double v = 1 / (1 + exp(-u)), part = step / (1 + exp(u)), screened = exp(-c * c / (v * v));
            value += part * (c > 0 ? screened * exp(-x * v * v) : expm1(-x * v * v));
            scale += part * (c > 0 ? screened : -expm1(-x * v * v));
            slope += part * screened * v * v * exp(-x * v * v);
        }
        const double factor = 2 / p->o.cell.measure * p->charge_e[j], sloped = 2 * beta * beta * factor * slope;
        sum.value += factor * value;
        sum.scale += fabs(factor) * scale;
        for (int axis = 0; axis < 3; axis++)
            sum.way[axis] += sloped * way_A[axis];
        sum.way_scale += fabs(sloped) * cell_length(way_A) + 1e-12 * beta * fabs(factor);
    }
    return sum;
}

static void check_flat(const flat_problem *p, int line, double most, const char *what)
{
    flat_part *flat;
    ley_error error = {0};
    double off[2] = {0};
    assert_ok(flat_create(&p->o, &flat, &error));
    for (int i = 0; i < FLAT_POINTS; i++) {
        const flat_right right = line >= 0 ? right_of_line(p, line, p->point_A[i]) : right_of_layer(p, p->point_A[i]);
        double way[3] = {0};
        flat_add_field(flat, p->point_A[i], way);
        const double value = flat_at(flat, p->point_A[i]), value_off = fabs(value - right.value);
        if (!(value_off <= most * right.scale))
            fail_msg("%s, point %d: %.15g, right is %.15g of %.3g", what, i, value, right.value, right.scale);
        off[0] = fmax(off[0], value_off / right.scale);
        for (int axis = 0; axis < 3; axis++) {
            const double way_off = fabs(way[axis] - right.way[axis]);
            if (!(way_off <= most * right.way_scale))
                fail_msg("%s, point %d: slope %.15g, right is %.15g of %.3g", what, i, way[axis], right.way[axis],
                         right.way_scale);
            off[1] = fmax(off[1], way_off / right.way_scale);
        }
    }
    flat_destroy(flat);
    print_message("%s: off by %.2g, slopes by %.2g\n", what, off[0], off[1]);
}

/* Shares of the width, and gaps beyond it: among charges, between them and the end of the gap, and
 * outside, both near to that and far. */
static const double flat_places[FLAT_POINTS][2] = {{0.02, 0}, {0.4, 0},    {0.97, 0}, {0, -0.6},
                                                   {1, 0.7},  {0, -1.001}, {1, 1.5},  {1, 12}};

/* Unscreened, with next to no screening, with some, and with so much that hyperbolic functions
 * would be beyond what doubles hold. */
static void test_layers(void **state)
{
    static const double products[] = {0, 0.003, 0.09, 0.11, 3, 60, 99, 101, 200, 1200};
    for (size_t k = 0; k < sizeof products / sizeof *products; k++)
        for (int charged = 0; charged < 2; charged++) {
            char what[80];
            const double width_A = 70, gap_A = 4, kappa = products[k] / (width_A + 2 * gap_A);
            flat_problem p = {.o = {.kappa_per_A = kappa, .beta_per_A = 0.4 + kappa / 3, .gap_A = gap_A}};
            snprintf(what, sizeof what, "kappa times height %g, %s", products[k], charged ? "charged" : "neutral");
            make_flat(&p, 3, width_A, charged ? 2.5 : 0, flat_places);
            check_flat(&p, -1, products[k] == 0 ? 1e-8 : products[k] < 1 ? 1e-13 : 1e-11, what);
        }
}

static void test_lines(void **state)
{
    static const double kappas_per_A[] = {0, 0.01, 0.3};
    for (int line = 0; line < 3; line++)
        for (size_t k = 0; k < sizeof kappas_per_A / sizeof *kappas_per_A; k++) {
            char what[80];
            const double kappa = kappas_per_A[k];
            flat_problem p = {.o = {.kappa_per_A = kappa, .beta_per_A = 0.45, .gap_A = kappa > 0 ? 9 / kappa : 40}};
            snprintf(what, sizeof what, "a line along %c, kappa %g / A", 'a' + line, kappa);
            make_flat(&p, 1 << line, 30, kappa > 0 ? 2.5 : 0, flat_places);
            check_flat(&p, line, 1e-11, what);
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
    for (int way = 0; way < 3; way++) {
        const many m = make_many(way < 2 ? all : layer, vectors_A[way % 2]);
        const periodic_options options = {.cell = m.cell,
                                          .r_min_A = r_min_A,
                                          .shares = {.mesh = 1},
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
    assert_error(periodic_sum_create(&o, &sum, &error), LEY_ERROR_INPUT, "net charge");
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
    return RUN_TESTS(test_layers, test_lines, test_values, test_weak_screening, test_squares,
                     test_squares_of_many_images, test_mean_of_a_charged_cell, test_field_at_r_min, test_many_charges,
                     test_what_is_refused, test_cells_that_look_too_small);
}
