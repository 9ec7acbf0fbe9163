/* The law of energies: pairs, triples and crystals against formulas written in another way, a
 * protein against OpenMM's Reference platform, forces against differences of energies for every
 * combination of terms, images, edges of cutoffs, what is refused. */
#include "near.h"
#include "some_particles.h"

#include "law/energy.h"

enum { MOST = 600, MOST_GROUPS = 4 };
static const double constant = LEY_COULOMB_CONSTANT_AMBER;

/* What the law says of a frame. */
typedef struct outcome {
    double terms[LEY_ENERGY_TERMS], by[LEY_ENERGY_TERMS][MOST], force[MOST][3], radii[MOST];
    double matrix[LEY_ENERGY_TERMS][MOST_GROUPS][MOST_GROUPS];
} outcome;

static ley_status try(const ley_particles_arrays *of, const ley_energy_options *o, const float *x, const double *cell,
                      outcome *made, ley_error *error)
{
    static double by[LEY_ENERGY_TERMS * MOST], matrix[LEY_ENERGY_TERMS * MOST_GROUPS * MOST_GROUPS];
    const energy_frame frame = {of, o, x, cell};
    ley_energy_results results = {.size = sizeof results,
                                  .terms = made->terms,
                                  .by_particle = by,
                                  .matrix = o->groups > 0 ? matrix : NULL,
                                  .born_radii = made->radii};
    ley_status status = energy_law_check(of, o, error);
    if (status == LEY_OK)
        status = energy_law_frame(&frame, &results, made->force, error);
    for (int term = 0; term < LEY_ENERGY_TERMS && status == LEY_OK; term++) {
        double sum = 0, absolute = 1;
        for (int64_t i = 0; i < of->particles; i++) {
            made->by[term][i] = by[term * of->particles + i];
            sum += made->by[term][i];
            absolute += fabs(made->by[term][i]);
        }
        assert_near(sum, made->terms[term], 1e-13 * absolute);
        for (int g = 0; g < o->groups; g++)
            for (int h = 0; h < o->groups; h++)
                made->matrix[term][g][h] = matrix[(term * o->groups + g) * o->groups + h];
    }
    return status;
}

static outcome run(const ley_particles_arrays *of, const ley_energy_options *o, const float *x, const double *cell)
{
    static outcome made;
    ley_error error = {0};
    assert_ok(try(of, o, x, cell, &made, &error));
    return made;
}

static double total(const outcome *made)
{
    double sum = 0;
    for (int term = 0; term < LEY_ENERGY_TERMS; term++)
        sum += made->terms[term];
    return sum;
}

static ley_energy_options options_of(ley_lennard_jones_kind lennard_jones, ley_coulomb_kind coulomb)
{
    ley_energy_options o;
    ley_energy_options_default(&o);
    o.lennard_jones = lennard_jones;
    o.coulomb = coulomb;
    return o;
}

/* ---- Two particles --------------------------------------------------------------------------- */

typedef struct couple {
    double charges[3], a[1], b[1], radii[3], screens[3], surface[3], lcpo[3][4];
    int32_t type[3];
    ley_particles_arrays arrays;
} couple;

static void make_couple(couple *c, int64_t particles)
{
    *c = (couple){.charges = {0.4, -0.7, 0.2},
                  .a = {582000},
                  .b = {595},
                  .radii = {1.7, 1.2, 1.5},
                  .screens = {0.72, 0.85, 0.8},
                  .surface = {1.7, 1.5, 1.6},
                  .lcpo = {{0.77887, -0.28063, -0.0012968, 0.00039328},
                           {0.68563, -0.1868, -0.00135573, 0.00023743},
                           {0.22599, -0.036648, -0.0012297, 0.000080038}}};
    c->arrays = (ley_particles_arrays){.size = sizeof c->arrays,
                                       .particles = particles,
                                       .types = 1,
                                       .charges = c->charges,
                                       .type = c->type,
                                       .lennard_jones_a = c->a,
                                       .lennard_jones_b = c->b,
                                       .born_radii = c->radii,
                                       .born_screens = c->screens,
                                       .surface_radii = c->surface,
                                       .lcpo_factors = (const double(*)[4])c->lcpo};
}

/* At (r, 0, 0) from each other. */
static outcome at_distance(const couple *c, const ley_energy_options *o, float r_A)
{
    const float x[6] = {1, 2, 3, 1 + r_A, 2, 3};
    return run(&c->arrays, o, x, NULL);
}

/* Forces of power p that go to 0 at c by a third and a fourth power, whose factors follow from
 * value and slope at c, integrated from c inwards. */
static double gromacs(double p, double s, double c, double r)
{
    const double w = c - s, value = p * pow(c, -p - 1), slope = -(p + 1) * value / c;
    const double b = (2 * value - w * slope) / (w * w * w), a = -(value + b * w * w * w) / (w * w);
    const int steps = 20000;
    double sum = 0;
    for (int k = 0; k <= steps; k++) {
        const double at = r + (c - r) * k / steps, past = fmax(0, at - s);
        sum += (k == 0 || k == steps ? 1
                : k % 2 == 1         ? 4
                                     : 2) *
               (p * pow(at, -p - 1) + a * past * past + b * past * past * past);
    }
    return sum * (c - r) / steps / 3;
}

static double right_power(ley_lennard_jones_kind kind, int p, double r, double s, double c)
{
    const double plain = pow(r, -p), t = (c - r) / (c - s), u = (r * r - s * s) / (c * c - s * s);
    switch (kind) {
    case LEY_LENNARD_JONES_SHIFTED:
        return plain - pow(c, -p);
    case LEY_LENNARD_JONES_SWITCHED: /* from the other end */
        return r < s ? plain : plain * (10 * pow(t, 3) - 15 * pow(t, 4) + 6 * pow(t, 5));
    case LEY_LENNARD_JONES_SWITCHED_CHARMM:
        return r < s ? plain : plain * (1 - 3 * u * u + 2 * u * u * u);
    case LEY_LENNARD_JONES_FORCE_SWITCHED_CHARMM: {
        const double h = 0.5 * p, end = pow(c, -h), begin = pow(s, -h);
        return r < s ? plain - begin * end : begin / (begin - end) * pow(pow(r, -h) - end, 2);
    }
    case LEY_LENNARD_JONES_FORCE_SWITCHED_GROMACS:
        return gromacs(p, s, c, r);
    default:
        return plain;
    }
}

static double right_coulomb(ley_coulomb_kind kind, double r, double c, double e)
{
    switch (kind) {
    case LEY_COULOMB_SHIFTED:
        return (c - r) / (r * c);
    case LEY_COULOMB_SHIFTED_CHARMM:
        return 1 / r - 2 * r / (c * c) + pow(r, 3) / pow(c, 4);
    case LEY_COULOMB_REACTION_FIELD:
        return e == 0 ? 1 / r + 0.5 * r * r / pow(c, 3) - 1.5 / c
                      : 1 / r + ((e - 1) * r * r / pow(c, 3) - 3 * e / c) / (2 * e + 1);
    default:
        return 1 / r;
    }
}

static void test_curves_of_two(void **state)
{
    (void)state;
    static const float distances[] = {3.25F, 6.75F, 7.5F, 8.25F, 8.9375F};
    couple c;
    make_couple(&c, 2);
    for (int kind = LEY_LENNARD_JONES_PLAIN; kind < LEY_LENNARD_JONES_KINDS; kind++)
        for (int coulomb = LEY_COULOMB_PLAIN; coulomb < LEY_COULOMB_EWALD; coulomb++)
            for (size_t k = 0; k < sizeof distances / sizeof *distances; k++) {
                ley_energy_options o = options_of((ley_lennard_jones_kind)kind, (ley_coulomb_kind)coulomb);
                const double r = (double)distances[k];
                o.cutoff_A = 9;
                o.switch_A = 7;
                o.dielectric = 2;
                o.reaction_dielectric = k % 2 == 0 ? 0 : 40;
                const outcome made = at_distance(&c, &o, distances[k]);
                const double right = c.a[0] * right_power(o.lennard_jones, 12, r, 7, 9) -
                                     c.b[0] * right_power(o.lennard_jones, 6, r, 7, 9);
                assert_near(made.terms[LEY_ENERGY_LENNARD_JONES], right, 1e-10 * (1 + fabs(right)));
                assert_near(made.terms[LEY_ENERGY_COULOMB],
                            constant / 2 * -0.28 * right_coulomb(o.coulomb, r, 9, o.reaction_dielectric), 1e-12);
                assert_near(made.by[LEY_ENERGY_COULOMB][0], made.by[LEY_ENERGY_COULOMB][1], 0);
            }
}

/* A pair as far apart as the cutoff is none; one that is nearer by the last bit is. What is
 * switched or shifted is 0 there. */
static void test_edges(void **state)
{
    (void)state;
    couple c;
    make_couple(&c, 2);
    for (int kind = LEY_LENNARD_JONES_PLAIN; kind < LEY_LENNARD_JONES_KINDS; kind++)
        for (int coulomb = LEY_COULOMB_PLAIN; coulomb < LEY_COULOMB_EWALD; coulomb++) {
            ley_energy_options o = options_of((ley_lennard_jones_kind)kind, (ley_coulomb_kind)coulomb);
            const float near_x[6] = {0, 0, 0, nextafterf(8, 0), 0, 0}, far_x[6] = {0, 0, 0, 8, 0, 0};
            o.cutoff_A = 8;
            o.switch_A = 6;
            outcome made = run(&c.arrays, &o, far_x, NULL);
            assert_near(total(&made), 0, 0);
            assert_near(made.force[0][0], 0, 0);
            made = run(&c.arrays, &o, near_x, NULL);
            const double lennard_jones = kind == LEY_LENNARD_JONES_PLAIN ? -0.0022613 : 0;
            const double coulombs = coulomb == LEY_COULOMB_PLAIN ? constant * -0.28 / 8 : 0;
            assert_near(made.terms[LEY_ENERGY_LENNARD_JONES], lennard_jones, 1e-6);
            assert_near(made.terms[LEY_ENERGY_COULOMB], coulombs, 1e-5);
        }
}

/* ---- Generalised Born ------------------------------------------------------------------------ */

/* The integral by regimes of Tanner et al. (2011): rho, s, distance, where it ends. */
static double right_integral(double rho, double s, double r, double c)
{
    if (r > c + s)
        return 0;
    if (r > c - s)
        return (1 + 2 * r / (r - s) + (r * r - 4 * c * r - s * s) / (c * c) + 2 * log((r - s) / c)) / (8 * r);
    if (r > rho + s)
        return 0.5 * (s / (r * r - s * s) + log((r - s) / (r + s)) / (2 * r));
    if (r > fabs(rho - s))
        return 0.25 * ((2 - (r * r + rho * rho - s * s) / (2 * r * rho)) / rho - 1 / (r + s) + log(rho / (r + s)) / r);
    return rho < s ? 0.5 * (s / (r * r - s * s) + 2 / rho + log((s - r) / (r + s)) / (2 * r)) : 0;
}

static void test_integrals_of_two(void **state)
{
    (void)state;
    static const float distances[] = {0.25F, 0.5F, 0.75F, 1.25F, 2, 2.5F, 3, 5, 7, 8.5F, 9.25F, 9.75F, 12};
    for (int tapered = 0; tapered < 2; tapered++)
        for (size_t k = 0; k < sizeof distances / sizeof *distances; k++) {
            couple c;
            make_couple(&c, 2);
            c.radii[0] = 3;
            c.screens[0] = 0.9;
            ley_energy_options o = options_of(LEY_LENNARD_JONES_NONE, LEY_COULOMB_NONE);
            o.born = LEY_BORN_HCT;
            o.born_taper = tapered == 1;
            o.born_cutoff_A = tapered == 1 ? 8 : 0;
            const outcome made = at_distance(&c, &o, distances[k]);
            for (int i = 0; i < 2; i++) {
                const double rho = c.radii[i] - 0.09, s = c.screens[1 - i] * (c.radii[1 - i] - 0.09),
                             right = right_integral(rho, s, (double)distances[k], tapered == 1 ? 8 : 1e6);
                assert_near(1 / made.radii[i], fmax(1 / rho - right, 1.0 / 30), 1e-9);
            }
            c.screens[0] = -0.9; /* takes as much from the other's as 0.9 adds, where they do not overlap */
            const outcome less = at_distance(&c, &o, distances[k]);
            const double rho = c.radii[1] - 0.09, s = 0.9 * (c.radii[0] - 0.09), r = (double)distances[k],
                         right = rho < r - s ? right_integral(rho, s, r, tapered == 1 ? 8 : 1e6) : 0;
            assert_near(1 / less.radii[1], fmax(1 / rho + right, 1.0 / 30), 1e-9);
        }
}

/* One that is deep in another: B ends at its most with HCT, of the other models where it is
 * tapered; there it changes no more. */
static void test_most_radius(void **state)
{
    (void)state;
    couple c;
    make_couple(&c, 2);
    c.radii[1] = 100;
    c.screens[1] = 1;
    ley_energy_options o = options_of(LEY_LENNARD_JONES_NONE, LEY_COULOMB_NONE);
    for (int kind = LEY_BORN_HCT; kind < LEY_BORN_GBN; kind++)
        for (int tapered = 0; tapered < 2; tapered++) {
            o.born = (ley_born_kind)kind;
            o.born_taper = tapered == 1;
            o.born_cutoff_A = tapered == 1 ? 1000 : 0;
            o.born_most_A = 12;
            const outcome made = at_distance(&c, &o, 3);
            const bool has_most = kind == LEY_BORN_HCT || tapered == 1;
            assert_true(has_most ? made.radii[0] == 12 : made.radii[0] > 15);
            /* Only the way in f changes the energy then; the large one's radius is its own. */
            const double b2 = made.radii[0] * made.radii[1], e = exp(-9 / (4 * b2)), f = sqrt(9 + b2 * e);
            const double slope = constant * (1 - 1 / 78.5) * -0.28 * 3 * (1 - e / 4) / (f * f * f);
            assert_near(made.force[1][0], -slope, has_most ? 1e-6 * fabs(slope) : 1);
        }
}

/* From the radii that two have to their energy. */
static void test_born_of_two(void **state)
{
    (void)state;
    couple c;
    make_couple(&c, 2);
    ley_energy_options o = options_of(LEY_LENNARD_JONES_NONE, LEY_COULOMB_NONE);
    for (int kind = LEY_BORN_HCT; kind < LEY_BORN_GBN; kind++) {
        o.born = (ley_born_kind)kind;
        o.salt_M = 0.1;
        o.dielectric = 2;
        outcome made = at_distance(&c, &o, 2.5F);
        const double kappa = 3.277 * sqrt(0.1) / 10; /* at 300 K in 78.5 */
        double b[2], right = 0;
        for (int i = 0; i < 2; i++) {
            const double rho = c.radii[i] - 0.09,
                         psi = rho * right_integral(rho, c.screens[1 - i] * (c.radii[1 - i] - 0.09), 2.5, 1e6);
            b[i] = kind == LEY_BORN_HCT ? 1 / (1 - psi) * rho
                   : kind == LEY_BORN_OBC1
                       ? 1 / (1 / rho - tanh(0.8 * psi + 2.909125 * psi * psi * psi) / c.radii[i])
                       : 1 / (1 / rho - tanh(psi - 0.8 * psi * psi + 4.85 * pow(psi, 3)) / c.radii[i]);
            assert_near(made.radii[i], b[i], 1e-12);
        }
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++) {
                const double r2 = i == j ? 0 : 6.25, f = sqrt(r2 + b[i] * b[j] * exp(-r2 / (4 * b[i] * b[j])));
                right -= constant / 2 * c.charges[i] * c.charges[j] / f * (0.5 - exp(-kappa * f) / 78.5);
            }
        assert_near(made.terms[LEY_ENERGY_BORN], right, 1e-4 * fabs(right) * 0.1);
    }
}

/* ---- Surfaces -------------------------------------------------------------------------------- */

static double cap(double a, double b, double r)
{
    return M_PI * a * ((a + b) * (a + b) - 2 * b * (a + b) + (b * b - a * a) + (b * b - (r - a) * (r - a))) / r;
}

static void test_surface_of_two(void **state)
{
    (void)state;
    couple c;
    make_couple(&c, 2);
    ley_energy_options o = options_of(LEY_LENNARD_JONES_NONE, LEY_COULOMB_NONE);
    o.surface = LEY_SURFACE_NUMERICAL;
    o.tension = 0.5;
    o.offset = 3;
    const outcome apart = at_distance(&c, &o, 7), near_by = at_distance(&c, &o, 2.5F);
    const double spheres = 4 * M_PI * (3.1 * 3.1 + 2.9 * 2.9), caps = cap(3.1, 2.9, 2.5) + cap(2.9, 3.1, 2.5);
    assert_near(apart.terms[LEY_ENERGY_SURFACE], 0.5 * spheres + 3, 1e-9);
    assert_near(near_by.terms[LEY_ENERGY_SURFACE], 0.5 * (spheres - caps) + 3, 0.5);
    assert_true(caps > 50);
}

/* A triangle, from the formula of the paper. */
static void test_lcpo_of_three(void **state)
{
    (void)state;
    couple c;
    make_couple(&c, 3);
    const float x[9] = {0, 0, 0, 3, 0, 0, 1, 2, 0.5F};
    ley_energy_options o = options_of(LEY_LENNARD_JONES_NONE, LEY_COULOMB_NONE);
    o.surface = LEY_SURFACE_LCPO;
    o.tension = 1;
    const outcome made = run(&c.arrays, &o, x, NULL);
    double a[3][3] = {{0}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const double r = sqrt(pow(x[3 * i] - x[3 * j], 2) + pow(x[3 * i + 1] - x[3 * j + 1], 2) +
                                  pow(x[3 * i + 2] - x[3 * j + 2], 2));
            a[i][j] = i == j ? 0 : cap(c.surface[i] + 1.4, c.surface[j] + 1.4, r);
        }
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const double *p = c.lcpo[i];
        assert_near(made.by[LEY_ENERGY_SURFACE][i],
                    p[0] * 4 * M_PI * pow(c.surface[i] + 1.4, 2) + p[1] * (a[i][j] + a[i][k]) +
                        p[2] * (a[j][k] + a[k][j]) + p[3] * (a[i][j] * a[j][k] + a[i][k] * a[k][j]),
                    1e-10);
    }
}

/* ---- Periodic -------------------------------------------------------------------------------- */

/* Madelung's constants; a charge with its background; two charges that are excluded. */
static void test_crystals(void **state)
{
    (void)state;
    for (const support_crystal *s = support_crystals; s < support_crystals + SUPPORT_CRYSTALS; s++) {
        const double edge_A = 8, cell[9] = {edge_A, 0, 0, 0, edge_A, 0, 0, 0, edge_A}, zero = 0;
        float x[24];
        double charges[8];
        int32_t type[8] = {0};
        ley_energy_options o = options_of(LEY_LENNARD_JONES_NONE, LEY_COULOMB_EWALD);
        o.cutoff_A = 3.5;
        for (int i = 0; i < s->ions; i++) {
            charges[i] = i < s->ions / 2 ? 1 : -1;
            for (int axis = 0; axis < 3; axis++)
                x[3 * i + axis] = (float)(s->quarter[i][axis] * edge_A / SUPPORT_QUARTERS);
        }
        ley_particles_arrays of = {.size = sizeof of,
                                   .particles = s->ions,
                                   .types = 1,
                                   .charges = charges,
                                   .type = type,
                                   .lennard_jones_a = &zero,
                                   .lennard_jones_b = &zero};
        outcome made = run(&of, &o, x, cell);
        const double of_pair = constant * s->constant * s->edge / (s->nearest * edge_A);
        assert_near(made.terms[LEY_ENERGY_COULOMB], -of_pair * s->ions / 2, 1e-7 * of_pair);
        for (int i = 0; i < s->ions; i++)
            assert_near(made.force[i][0], 0, 1e-8 * of_pair);

        const int32_t exclusion[1][2] = {{0, s->ions - 1}};
        double r2 = 0;
        for (int axis = 0; axis < 3; axis++)
            r2 += pow(remainder(x[axis] - x[3 * (s->ions - 1) + axis], edge_A), 2);
        of.exclusion = exclusion;
        of.exclusions = 1;
        made = run(&of, &o, x, cell);
        assert_near(made.terms[LEY_ENERGY_COULOMB], -of_pair * s->ions / 2 + constant / sqrt(r2), 1e-7 * of_pair);

        of.exclusions = 0;
        of.particles = 1;
        made = run(&of, &o, x, cell);
        assert_near(made.terms[LEY_ENERGY_COULOMB], -constant * 2.837297479480619 / 2 / edge_A, 1e-8);
    }
}

static void test_tail(void **state)
{
    (void)state;
    couple c;
    make_couple(&c, 2);
    const double cell[9] = {40, 0, 0, 0, 40, 0, 0, 0, 40}, each = 2 * M_PI * 4 / 64000;
    ley_energy_options o = options_of(LEY_LENNARD_JONES_PLAIN, LEY_COULOMB_NONE);
    const float x[6] = {0, 0, 0, 15, 0, 0};
    o.cutoff_A = 9;
    o.switch_A = 7;
    o.tail_correction = true;
    outcome made = run(&c.arrays, &o, x, cell);
    assert_near(made.terms[LEY_ENERGY_LENNARD_JONES], each * (c.a[0] / (9 * pow(9, 9)) - c.b[0] / (3 * pow(9, 3))),
                1e-15);
    /* Of a shifted one also the constant within. */
    o.lennard_jones = LEY_LENNARD_JONES_SHIFTED;
    made = run(&c.arrays, &o, x, cell);
    assert_near(made.terms[LEY_ENERGY_LENNARD_JONES],
                each * (c.a[0] * (1 / 9.0 + 1 / 3.0) / pow(9, 9) - c.b[0] * (2 / 3.0) / pow(9, 3)), 1e-15);
}

static const double skewed[9] = {17, 0, 0, -5, 16.5, 0, 7, -8, 16.25};

/* Vectors of the cell change nothing, and all images within the cutoff are found. */
static void test_images(void **state)
{
    (void)state;
    some_particles p;
    some_particles_make(&p, 40, 16, 7);
    for (int coulomb = LEY_COULOMB_REACTION_FIELD; coulomb <= LEY_COULOMB_EWALD; coulomb++) {
        ley_energy_options o = options_of(LEY_LENNARD_JONES_SHIFTED, (ley_coulomb_kind)coulomb);
        float moved[120];
        o.cutoff_A = 6.75;
        const outcome first = run(&p.arrays, &o, p.position_A, skewed);
        for (int i = 0; i < 40; i++)
            for (int axis = 0; axis < 3; axis++) {
                const double by =
                    (i % 3 - 1) * skewed[axis] + (i % 5 - 2) * skewed[3 + axis] + (i % 7 - 3) * skewed[6 + axis];
                moved[3 * i + axis] = (float)((double)p.position_A[3 * i + axis] + by);
            }
        const outcome second = run(&p.arrays, &o, moved, skewed);
        for (int term = 0; term < LEY_ENERGY_TERMS; term++)
            assert_near(first.terms[term], second.terms[term], 1e-9 * (1 + fabs(first.terms[term])));
        for (int i = 0; i < 40; i++)
            for (int axis = 0; axis < 3; axis++)
                assert_near(first.force[i][axis], second.force[i][axis], 1e-7 * (1 + fabs(first.force[i][axis])));
    }
    some_particles_clear(&p);
}

static double square_between(const float *x, int64_t i, int64_t j, const int image[3])
{
    double r2 = 0;
    for (int axis = 0; axis < 3; axis++)
        r2 += pow((double)x[3 * i + axis] - (double)x[3 * j + axis] + image[0] * skewed[axis] +
                      image[1] * skewed[3 + axis] + image[2] * skewed[6 + axis],
                  2);
    return r2;
}

static bool is_partner(int64_t i, int64_t j)
{
    return i == j || llabs(i - j) <= 3;
}

static void test_all_images(void **state)
{
    (void)state;
    some_particles p;
    some_particles_make(&p, 60, 17, 9);
    ley_energy_options o = options_of(LEY_LENNARD_JONES_PLAIN, LEY_COULOMB_SHIFTED);
    o.cutoff_A = 6.75;
    const outcome made = run(&p.arrays, &o, p.position_A, skewed);
    double right[2] = {0};
    int pairs = 0;
    for (int64_t i = 0; i < 60; i++)
        for (int64_t j = 0; j < 60; j++)
            for (int code = 0; code < 343 && !is_partner(i, j); code++) {
                const int image[3] = {code / 49 - 3, code / 7 % 7 - 3, code % 7 - 3};
                const double r2 = square_between(p.position_A, i, j, image), r = sqrt(r2);
                const int64_t at = p.arrays.type[i] * p.arrays.types + p.arrays.type[j];
                if (r2 >= 6.75 * 6.75)
                    continue;
                pairs++;
                right[0] +=
                    0.5 * (p.arrays.lennard_jones_a[at] / pow(r, 12) - p.arrays.lennard_jones_b[at] / pow(r, 6));
                right[1] += 0.5 * constant * p.arrays.charges[i] * p.arrays.charges[j] * (1 / r - 1 / 6.75);
            }
    assert_true(pairs > 500);
    assert_near(made.terms[LEY_ENERGY_LENNARD_JONES], right[0], 1e-10 * (1 + fabs(right[0])));
    assert_near(made.terms[LEY_ENERGY_COULOMB], right[1], 1e-10 * (1 + fabs(right[1])));
    some_particles_clear(&p);
}

/* ---- A protein ------------------------------------------------------------------------------- */

/* In kcal/mol and A, with OpenMM's constant: energy, force on particle 99 of 582, root mean square
 * force. compare_energies.py --write prints them. */
typedef struct openmm_value {
    ley_energy_term term;
    ley_born_kind born;
    double salt_M, energy, force[3], rms;
} openmm_value;

static const openmm_value openmm_values[] = {
    {LEY_ENERGY_LENNARD_JONES, LEY_BORN_NONE, 0, -256.653444450, {2.761526782, 0.152824147, -0.067271430}, 1.665907557},
    {LEY_ENERGY_LENNARD_JONES_14,
     LEY_BORN_NONE,
     0,
     141.461860065,
     {2.513472949, 0.910761008, -1.325046067},
     1.892886267},
    {LEY_ENERGY_COULOMB, LEY_BORN_NONE, 0, -2677.444361402, {-0.575169836, -0.200561583, 0.201804648}, 4.086999930},
    {LEY_ENERGY_COULOMB_14, LEY_BORN_NONE, 0, 1914.274722799, {0.409552143, 0.049544300, -0.134265511}, 3.642844383},
    {LEY_ENERGY_BORN, LEY_BORN_HCT, 0, -716.780502848, {0.133374826, 0.123654866, -0.070750176}, 2.878266722},
    {LEY_ENERGY_BORN, LEY_BORN_HCT, 0.15, -717.975678192, {0.133434602, 0.124143386, -0.070482142}, 2.882189791},
    {LEY_ENERGY_BORN, LEY_BORN_OBC1, 0, -732.601104157, {0.102334498, 0.131977346, -0.077074975}, 2.972921540},
    {LEY_ENERGY_BORN, LEY_BORN_OBC1, 0.15, -733.797568393, {0.102369248, 0.132516981, -0.076826603}, 2.976718335},
    {LEY_ENERGY_BORN, LEY_BORN_OBC2, 0, -692.538782447, {-0.015827651, 0.149380459, -0.051972307}, 2.891307224},
    {LEY_ENERGY_BORN, LEY_BORN_OBC2, 0.15, -693.723911150, {-0.015851980, 0.149951786, -0.051677113}, 2.895063993},
    {LEY_ENERGY_BORN, LEY_BORN_GBN, 0, -683.689245494, {-0.051449862, 0.021756880, -0.037558534}, 2.812858860},
    {LEY_ENERGY_BORN, LEY_BORN_GBN, 0.15, -684.880377266, {-0.051417201, 0.022185049, -0.037286838}, 2.816837765},
    {LEY_ENERGY_BORN, LEY_BORN_GBN2, 0, -903.195004913, {0.066620409, 0.063509320, -0.149794900}, 3.348144591},
    {LEY_ENERGY_BORN, LEY_BORN_GBN2, 0.15, -904.416334998, {0.066772692, 0.063968668, -0.149567623}, 3.351817768},
    {LEY_ENERGY_SURFACE, LEY_BORN_NONE, 0, 13.177019422, {0.013673220, -0.010222179, 0.025594047}, 0.021195575}};

static ley_energy_options options_of_value(const openmm_value *v)
{
    const bool is_coulomb = v->term == LEY_ENERGY_COULOMB || v->term == LEY_ENERGY_COULOMB_14;
    const bool is_pairs = v->term < LEY_ENERGY_BORN;
    ley_energy_options o = options_of(is_pairs && !is_coulomb ? LEY_LENNARD_JONES_PLAIN : LEY_LENNARD_JONES_NONE,
                                      is_coulomb ? LEY_COULOMB_PLAIN : LEY_COULOMB_NONE);
    o.coulomb_constant = 1389.3545764438198 / 4.184;
    o.born = v->born;
    o.salt_M = v->salt_M;
    o.surface = v->term == LEY_ENERGY_SURFACE ? LEY_SURFACE_LCPO : LEY_SURFACE_NONE;
    o.tension = 0.005;
    return o;
}

/* Forces of pairs and of those 1-4 come together: each alone is without the other's particles. */
static ley_particles_arrays arrays_of_value(const openmm_value *v, ley_particles_arrays a, const double *zeros)
{
    if (v->term == LEY_ENERGY_LENNARD_JONES || v->term == LEY_ENERGY_COULOMB)
        a.pair_14_charges = a.pair_14_a = a.pair_14_b = zeros;
    if (v->term == LEY_ENERGY_LENNARD_JONES_14 || v->term == LEY_ENERGY_COULOMB_14)
        a.charges = a.lennard_jones_a = a.lennard_jones_b = zeros;
    return a;
}

static void test_protein(void **state)
{
    (void)state;
    static const double zeros[2000];
    float *x;
    ley_particles *protein = some_particles_read(&x);
    const ley_particles_arrays all = ley_particles_get(protein);
    for (const openmm_value *v = openmm_values; v < openmm_values + sizeof openmm_values / sizeof *openmm_values; v++) {
        const ley_energy_options o = options_of_value(v);
        const ley_particles_arrays of = arrays_of_value(v, all, zeros);
        const outcome made = run(&of, &o, x, NULL);
        double squares = 0;
        for (int64_t i = 0; i < of.particles; i++)
            for (int axis = 0; axis < 3; axis++)
                squares += made.force[i][axis] * made.force[i][axis];
        assert_near(total(&made), v->energy, 2e-9);
        assert_near(made.terms[v->term], v->energy, 2e-9);
        assert_near(sqrt(squares / (double)(3 * of.particles)), v->rms, 2e-9);
        for (int axis = 0; axis < 3; axis++)
            assert_near(made.force[98][axis], v->force[axis], 2e-9);
    }
    ley_particles_destroy(protein);
    free(x);
}

/* ---- Forces ---------------------------------------------------------------------------------- */

/* A derivative by four points: positions are floats, which take the steps exactly. */
static double difference(const ley_particles_arrays *of, const ley_energy_options *o, float *x, int at,
                         const double *cell)
{
    const float step = 0x1p-9F, kept = x[at];
    double energy[4];
    for (int k = 0; k < 4; k++) {
        x[at] = kept + step * (float)(k < 2 ? k - 2 : k - 1);
        const outcome made = run(of, o, x, cell);
        energy[k] = total(&made);
    }
    x[at] = kept;
    return (8 * (energy[2] - energy[1]) - (energy[3] - energy[0])) / (12 * (double)step);
}

/* Whether no distance from i is where an energy jumps or has a corner. */
static bool is_smooth(const some_particles *p, const ley_energy_options *o, int64_t i, bool is_periodic)
{
    for (int64_t j = 0; j < p->arrays.particles; j++)
        for (int code = 0; code < 27 && j != i; code++) {
            const int image[3] = {code / 9 - 1, code / 3 % 3 - 1, code % 3 - 1};
            const double r = sqrt(square_between(p->position_A, i, j, image));
            const double touch = p->arrays.surface_radii[i] + p->arrays.surface_radii[j] + 2 * o->probe_A;
            const double neck = p->arrays.born_radii[i] + p->arrays.born_radii[j] + 6.8;
            if ((is_periodic || code == 13) && (fabs(r - o->cutoff_A) < 0.01 || fabs(r - o->born_cutoff_A) < 0.01 ||
                                                fabs(r - touch) < 0.01 || fabs(r - neck) < 0.01))
                return false;
        }
    return true;
}

static void check_forces(const some_particles *p, const ley_energy_options *o, const double *cell)
{
    const outcome made = run(&p->arrays, o, p->position_A, cell);
    int tried = 0;
    for (int64_t i = 0; i < p->arrays.particles; i++)
        for (int axis = 0; axis < 3 && is_smooth(p, o, i, cell != NULL); axis++) {
            const double right = -difference(&p->arrays, o, p->position_A, (int)(3 * i) + axis, cell);
            assert_near(made.force[i][axis], right, 3e-6 * (1 + fabs(right)));
            tried++;
        }
    assert_true(tried > p->arrays.particles);
    double sum[3] = {0}, torque[3] = {0}, absolute = 0;
    for (int64_t i = 0; i < p->arrays.particles; i++)
        for (int axis = 0; axis < 3; axis++) {
            const int next = (axis + 1) % 3, last = (axis + 2) % 3;
            const float *x = p->position_A + 3 * i;
            sum[axis] += made.force[i][axis];
            torque[axis] += (double)x[next] * made.force[i][last] - (double)x[last] * made.force[i][next];
            absolute += fabs(made.force[i][axis]);
        }
    for (int axis = 0; axis < 3; axis++) {
        assert_near(sum[axis], 0, 1e-8 * absolute);
        if (cell == NULL)
            assert_near(torque[axis], 0, 1e-11 * absolute);
    }
}

static void test_forces_of_pairs(void **state)
{
    (void)state;
    some_particles p;
    some_particles_make(&p, 14, 12, 3);
    for (int kind = 0; kind < LEY_LENNARD_JONES_KINDS; kind++)
        for (int coulomb = 0; coulomb < LEY_COULOMB_KINDS; coulomb++)
            for (int periodic = coulomb == LEY_COULOMB_EWALD; periodic < 2; periodic++) {
                ley_energy_options o = options_of((ley_lennard_jones_kind)kind, (ley_coulomb_kind)coulomb);
                o.cutoff_A = 6.7;
                o.switch_A = 4.1;
                o.reaction_dielectric = kind % 2 == 0 ? 0 : 20;
                o.tail_correction = periodic == 1;
                if (coulomb != LEY_COULOMB_EWALD || kind == LEY_LENNARD_JONES_SWITCHED)
                    check_forces(&p, &o, periodic == 1 ? skewed : NULL);
            }
    some_particles_clear(&p);
}

static void test_forces_of_born(void **state)
{
    (void)state;
    some_particles p;
    some_particles_make(&p, 14, 8, 5);
    for (int kind = LEY_BORN_HCT; kind < LEY_BORN_KINDS; kind++)
        for (int way = 0; way < 6; way++) {
            ley_energy_options o = options_of(LEY_LENNARD_JONES_NONE, LEY_COULOMB_NONE);
            o.born = (ley_born_kind)kind;
            o.salt_M = way % 2 == 0 ? 0 : 0.5;
            o.dielectric = way % 2 == 0 ? 1 : 4;
            o.born_cutoff_A = way < 2 ? 0 : 5.5;
            o.born_taper = way >= 4;
            check_forces(&p, &o, way == 3 || way == 5 ? skewed : NULL);
        }
    some_particles_clear(&p);
}

static void test_forces_of_surface(void **state)
{
    (void)state;
    some_particles p;
    some_particles_make(&p, 14, 8, 6);
    for (int periodic = 0; periodic < 2; periodic++) {
        ley_energy_options o = options_of(LEY_LENNARD_JONES_NONE, LEY_COULOMB_NONE);
        o.surface = LEY_SURFACE_LCPO;
        o.tension = 1;
        check_forces(&p, &o, periodic == 1 ? skewed : NULL);
    }
    some_particles_clear(&p);
}

/* ---- Some of all ----------------------------------------------------------------------------- */

/* What verification asks for: of some particles the same as of all. */
static void test_some(void **state)
{
    (void)state;
    enum { ALL = 30, SOME = 3 };
    static const int64_t some[SOME] = {29, 4, 11};
    some_particles p;
    some_particles_make(&p, ALL, 12, 8);
    for (int way = 0; way < 2; way++) {
        ley_energy_options o = options_of(LEY_LENNARD_JONES_PLAIN, way == 0 ? LEY_COULOMB_PLAIN : LEY_COULOMB_EWALD);
        o.born = way == 0 ? LEY_BORN_GBN2 : LEY_BORN_NONE;
        o.surface = LEY_SURFACE_LCPO;
        o.cutoff_A = 6.5;
        o.tail_correction = way == 1;
        const double *cell = way == 1 ? skewed : NULL;
        const energy_frame frame = {&p.arrays, &o, p.position_A, cell};
        const outcome right = run(&p.arrays, &o, p.position_A, cell);
        int64_t all[ALL];
        double radii[ALL], slopes[ALL], energy[SOME][LEY_ENERGY_TERMS], absolute[SOME][LEY_ENERGY_TERMS],
            force[SOME][3];
        ley_error error = {0};
        for (int64_t i = 0; i < ALL; i++)
            all[i] = i;
        if (way == 0) {
            energy_law_radii(&frame, ALL, all, radii);
            energy_law_slopes(&frame, radii, ALL, all, slopes);
        }
        assert_ok(energy_law_particles(&frame, way == 0 ? radii : NULL, way == 0 ? slopes : NULL, SOME, some, energy,
                                       absolute, force, &error));
        for (int k = 0; k < SOME; k++) {
            for (int term = 0; term < LEY_ENERGY_TERMS; term++) {
                assert_near(energy[k][term], right.by[term][some[k]], 1e-10 * (1 + absolute[k][term]));
                assert_true(absolute[k][term] >= fabs(energy[k][term]) * (1 - 1e-12) || term == LEY_ENERGY_COULOMB);
            }
            for (int axis = 0; axis < 3; axis++)
                assert_near(force[k][axis], right.force[some[k]][axis], 1e-9 * (1 + fabs(force[k][axis])));
        }
    }
    some_particles_clear(&p);
}

/* Rows of the matrix are the energies of their particles; elements are those of their pairs. */
static void test_matrix(void **state)
{
    (void)state;
    enum { ALL = 30, GROUPS = 3 };
    int32_t group[ALL];
    some_particles p;
    some_particles_make(&p, ALL, 12, 10);
    ley_energy_options o = options_of(LEY_LENNARD_JONES_PLAIN, LEY_COULOMB_PLAIN);
    o.born = LEY_BORN_OBC2;
    o.surface = LEY_SURFACE_LCPO;
    o.groups = GROUPS;
    o.group = group;
    for (int i = 0; i < ALL; i++)
        group[i] = i % 4 - (i < 15);
    for (int i = 0; i < ALL; i++)
        group[i] = group[i] < 0 ? -1 : group[i] % GROUPS;
    const outcome made = run(&p.arrays, &o, p.position_A, NULL);
    double right[GROUPS][GROUPS] = {{0}}, outside = 0;
    static const int here[3] = {0};
    for (int64_t i = 0; i < ALL; i++)
        for (int64_t j = 0; j < ALL; j++) {
            const double e = is_partner(i, j) ? 0
                                              : 0.5 * constant * p.arrays.charges[i] * p.arrays.charges[j] /
                                                    sqrt(square_between(p.position_A, i, j, here));
            if (group[i] >= 0 && group[j] >= 0)
                right[group[i]][group[j]] += e;
            else
                outside += e;
        }
    double sum = outside;
    for (int g = 0; g < GROUPS; g++)
        for (int h = 0; h < GROUPS; h++) {
            sum += made.matrix[LEY_ENERGY_COULOMB][g][h];
            assert_near(made.matrix[LEY_ENERGY_COULOMB][g][h], right[g][h], 1e-10);
            for (int term = 0; term < LEY_ENERGY_TERMS; term++)
                assert_near(made.matrix[term][g][h], made.matrix[term][h][g],
                            term == LEY_ENERGY_SURFACE ? 1e3 : 1e-10 * (1 + fabs(made.matrix[term][g][h])));
            if (g != h)
                assert_near(made.matrix[LEY_ENERGY_SURFACE][g][h], 0, 0);
        }
    assert_near(sum, made.terms[LEY_ENERGY_COULOMB], 1e-9);
    o.groups = 1;
    for (int i = 0; i < ALL; i++)
        group[i] = 0;
    const outcome whole = run(&p.arrays, &o, p.position_A, NULL);
    for (int term = 0; term < LEY_ENERGY_TERMS; term++)
        assert_near(whole.matrix[term][0][0], whole.terms[term], 1e-10 * (1 + fabs(whole.terms[term])));
    some_particles_clear(&p);
}

/* ---- Few, and bad ---------------------------------------------------------------------------- */

static void test_one(void **state)
{
    (void)state;
    couple c;
    make_couple(&c, 1);
    ley_energy_options o = options_of(LEY_LENNARD_JONES_PLAIN, LEY_COULOMB_PLAIN);
    const float x[3] = {1, 2, 3};
    for (int kind = LEY_BORN_HCT; kind < LEY_BORN_GBN; kind++) {
        o.born = (ley_born_kind)kind;
        const outcome made = run(&c.arrays, &o, x, NULL);
        assert_near(made.radii[0], 1.61, 1e-14);
        assert_near(total(&made), -0.5 * constant * (1 - 1 / 78.5) * 0.16 / 1.61, 1e-12);
        assert_near(made.force[0][0], 0, 0);
    }
}

/* A particle without radius and charge changes nothing; with a charge there is no such thing. */
static void test_radius_of_0(void **state)
{
    (void)state;
    couple c;
    ley_error error = {0};
    static outcome made;
    const float x[9] = {0, 0, 0, 3, 0, 0, 1, 1, 0.5F};
    ley_energy_options o = options_of(LEY_LENNARD_JONES_NONE, LEY_COULOMB_NONE);
    for (int kind = LEY_BORN_HCT; kind <= LEY_BORN_GBN; kind++) {
        o.born = (ley_born_kind)kind;
        make_couple(&c, 2);
        const outcome two = run(&c.arrays, &o, x, NULL);
        make_couple(&c, 3);
        c.radii[2] = c.charges[2] = 0;
        const outcome three = run(&c.arrays, &o, x, NULL);
        assert_near(three.terms[LEY_ENERGY_BORN], two.terms[LEY_ENERGY_BORN], 0);
        assert_near(three.radii[2], 0, 0);
        c.charges[2] = 0.1;
        assert_error(try(&c.arrays, &o, x, NULL, &made, &error), LEY_ERROR_INPUT, "particle 3: it has a charge");
    }
    make_couple(&c, 2);
    o = options_of(LEY_LENNARD_JONES_NONE, LEY_COULOMB_NONE);
    for (int kind = LEY_SURFACE_LCPO; kind < LEY_SURFACE_KINDS; kind++) {
        o.surface = (ley_surface_kind)kind;
        c.surface[1] = 0;
        const outcome alone = run(&c.arrays, &o, x, NULL);
        const double share = kind == LEY_SURFACE_LCPO ? c.lcpo[0][0] : 1;
        assert_near(alone.terms[LEY_ENERGY_SURFACE], 0.0072 * share * 4 * M_PI * 3.1 * 3.1, 1e-12);
    }
}

/* Two at one place have an energy where nothing between them is infinite. */
static void test_same_place(void **state)
{
    (void)state;
    couple c;
    ley_error error = {0};
    static outcome made;
    const float x[6] = {1, 1, 1, 1, 1, 1};
    ley_energy_options o = options_of(LEY_LENNARD_JONES_PLAIN, LEY_COULOMB_PLAIN);
    make_couple(&c, 2);
    assert_error(try(&c.arrays, &o, x, NULL, &made, &error), LEY_ERROR_INPUT, "particle 1: its energy is not finite");
    c.a[0] = c.b[0] = c.charges[1] = 0;
    o.born = LEY_BORN_OBC2;
    assert_ok(try(&c.arrays, &o, x, NULL, &made, &error));
    assert_true(isfinite(total(&made)) && isfinite(made.force[0][0]));
}

static void test_refusals(void **state)
{
    (void)state;
    couple c;
    ley_error error = {0};
    static outcome made;
    float x[6] = {0, 0, 0, 3, 0, 0};
    const double narrow[9] = {30, 0, 0, 0, 30, 0, 0, 29, 12}, flat[9] = {30, 0, 0, 0, 30, 0, 0, 30, 0};
    make_couple(&c, 2);
    const ley_energy_options usual = options_of(LEY_LENNARD_JONES_PLAIN, LEY_COULOMB_PLAIN);
#define REFUSED(status, message, cell, ...) \
    do { \
        ley_energy_options o = usual; \
        __VA_ARGS__; \
        assert_error(try(&c.arrays, &o, x, cell, &made, &error), status, message); \
        ley_error_clear(&error); \
    } while (0)
    REFUSED(LEY_ERROR_USAGE, "cutoff is needed", NULL, o.lennard_jones = LEY_LENNARD_JONES_SWITCHED);
    REFUSED(LEY_ERROR_USAGE, "cutoff is needed", NULL, o.coulomb = LEY_COULOMB_SHIFTED);
    REFUSED(LEY_ERROR_USAGE, "switch is 0 A", NULL, o.lennard_jones = LEY_LENNARD_JONES_SWITCHED, o.cutoff_A = 9);
    REFUSED(LEY_ERROR_USAGE, "no Ewald sum", NULL, o.coulomb = LEY_COULOMB_EWALD, o.cutoff_A = 9,
            o.born = LEY_BORN_HCT);
    REFUSED(LEY_ERROR_USAGE, "no matrix", NULL, o.coulomb = LEY_COULOMB_EWALD, o.cutoff_A = 9, o.groups = 1);
    REFUSED(LEY_ERROR_USAGE, "null pointer", NULL, o.groups = 1);
    REFUSED(LEY_ERROR_USAGE, "gb_cutoff", NULL, o.born = LEY_BORN_HCT, o.born_taper = true);
    REFUSED(LEY_ERROR_USAGE, "no forces", NULL, o.surface = LEY_SURFACE_NUMERICAL, o.forces = true);
    REFUSED(LEY_ERROR_USAGE, "ewald_tolerance 5e-06", NULL, o.ewald_tolerance = 5e-6);
    REFUSED(LEY_ERROR_USAGE, "temperature nan K", NULL, o.temperature_K = NAN);
    REFUSED(LEY_ERROR_USAGE, "unknown gb 6", NULL, o.born = LEY_BORN_KINDS);
    REFUSED(LEY_ERROR_INPUT, "born_factors", NULL, o.born = LEY_BORN_GBN2);
    REFUSED(LEY_ERROR_INPUT, "needs a cell", NULL, o.coulomb = LEY_COULOMB_EWALD, o.cutoff_A = 9);
    REFUSED(LEY_ERROR_INPUT, "less than twice the cutoff", narrow, o.cutoff_A = 7);
    REFUSED(LEY_ERROR_INPUT, "in a plane", flat, o.cutoff_A = 7);
    x[4] = NAN;
    REFUSED(LEY_ERROR_INPUT, "particle 2: position", NULL, (void)o);
    x[4] = 2e6F;
    REFUSED(LEY_ERROR_INPUT, "particle 2: position", NULL, (void)o);
    x[4] = 0;
    c.radii[1] = 2.5;
    REFUSED(LEY_ERROR_INPUT, "particle 2: an intrinsic radius", NULL, o.born = LEY_BORN_GBN);
    const double falling[2][3] = {{1, 0.8, 4.85}, {1, 3, 1}};
    c.radii[1] = 1.5;
    c.arrays.born_factors = falling;
    REFUSED(LEY_ERROR_INPUT, "particle 2: with factors", NULL, o.born = LEY_BORN_GBN2);
}

int main(void)
{
    return RUN_TESTS(test_curves_of_two, test_edges, test_integrals_of_two, test_most_radius, test_born_of_two,
                     test_surface_of_two, test_lcpo_of_three, test_crystals, test_tail, test_images, test_all_images,
                     test_protein, test_forces_of_pairs, test_forces_of_born, test_forces_of_surface, test_some,
                     test_matrix, test_one, test_radius_of_0, test_same_place, test_refusals);
}
