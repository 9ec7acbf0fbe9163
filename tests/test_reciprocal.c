/* Ewald's sum on a mesh: forces and energies beside exact sums at several tolerances, cells of
 * several shapes, a net charge, momentum, the same bytes. */
#include "support.h"

#include "energy/reciprocal.h"
#include "law/energy.h"
#include "verify/self_test.h"

static ley_engine *engine;

/* Water: three particles of a molecule, on a jittered lattice. */
enum { SIDE = 6, MOLECULES = SIDE * SIDE * SIDE, COUNT = 3 * MOLECULES };
static const double spacing_A = 3.1;

typedef struct water {
    ley_particles *particles;
    float position_A[COUNT][3];
    double cell_A[9];
} water;

/* `skew`: of the cell, whose lattice is skewed with it. `excess_e`: of each oxygen. */
static void make_water(water *made, double skew, double excess_e)
{
    static double charge[COUNT];
    static int32_t type[COUNT], exclusion[COUNT][2];
    static const double a[4] = {582000, 0, 0, 0}, b[4] = {595, 0, 0, 0}, bond_A = 0.9572;
    uint32_t state = 5;
    ley_error error = {0};
    const double w = SIDE * spacing_A, cell_A[9] = {w, 0, 0, skew * w, w, 0, -skew * w, 0.5 * skew * w, w};
    memcpy(made->cell_A, cell_A, sizeof cell_A);
    for (int i = 0; i < COUNT; i++) {
        const int m = i / 3, at[3] = {m % SIDE, m / SIDE % SIDE, m / (SIDE * SIDE)};
        double way[3], length = 0;
        charge[i] = i % 3 == 0 ? -0.834 + excess_e : 0.417;
        type[i] = i % 3 == 0 ? 0 : 1;
        exclusion[i][0] = 3 * m + (i % 3 == 2);
        exclusion[i][1] = 3 * m + (i % 3 == 0 ? 1 : 2);
        for (int d = 0; d < 3; d++) {
            way[d] = self_test_fraction(&state) - 0.5;
            length += way[d] * way[d];
        }
        for (int d = 0; d < 3; d++) {
            double x = i % 3 == 0 ? 0.4 * way[d] : (double)made->position_A[3 * m][d] + bond_A * way[d] / sqrt(length);
            for (int k = 0; k < 3 && i % 3 == 0; k++)
                x += cell_A[3 * k + d] / SIDE * at[k];
            made->position_A[i][d] = (float)x;
        }
    }
    const ley_particles_arrays arrays = {.size = sizeof arrays,
                                         .particles = COUNT,
                                         .types = 2,
                                         .exclusions = COUNT,
                                         .charges = charge,
                                         .type = type,
                                         .lennard_jones_a = a,
                                         .lennard_jones_b = b,
                                         .exclusion = (const int32_t(*)[2])exclusion};
    assert_ok(ley_particles_create(&arrays, &made->particles, &error));
}

static ley_energy_options options_of(double tolerance, double cutoff_A)
{
    ley_energy_options o;
    ley_energy_options_default(&o);
    o.lennard_jones = LEY_LENNARD_JONES_NONE;
    o.coulomb = LEY_COULOMB_EWALD;
    o.cutoff_A = cutoff_A;
    o.ewald_tolerance = tolerance;
    o.forces = true;
    return o;
}

/* Errors of the forces as a share of their root mean square, and of the energy as one of the
 * charges' own in a Gaussian of 3.3 A, which is what its parts cancel from. */
static void compare(const water *w, const ley_energy_options *o, const double (*right)[3], double energy,
                    double errors[2], double *push)
{
    ley_error error = {0};
    ley_energy *e = NULL;
    double terms[LEY_ENERGY_TERMS], own = 0, off = 0, square = 0, sum[3] = {0, 0, 0};
    float(*force)[3] = calloc(COUNT, sizeof *force);
    ley_energy_results r = {.size = sizeof r, .terms = terms, .forces = force[0]};
    assert_ok(ley_energy_create(engine, w->particles, o, &e, &error));
    assert_ok(ley_energy_run(e, 1, w->position_A[0], w->cell_A, &r, &error));
    for (int i = 0; i < COUNT; i++)
        for (int d = 0; d < 3; d++) {
            off += pow((double)force[i][d] - right[i][d], 2);
            square += right[i][d] * right[i][d];
            sum[d] += (double)force[i][d];
        }
    ley_energy_totals totals;
    ley_energy_get_totals(e, &totals);
    print_message("%s %lld x %lld x %lld, %g/A, %d failed, verified %.1e, %.1e\n", totals.device,
                  (long long)totals.mesh[0], (long long)totals.mesh[1], (long long)totals.mesh[2],
                  totals.splitting_per_A, totals.failed, totals.energy_error, totals.force_error);
    errors[0] = sqrt(off / square);
    const ley_particles_arrays a = ley_particles_get(w->particles);
    for (int i = 0; i < COUNT; i++)
        own += o->coulomb_constant * 0.3 / sqrt(M_PI) * a.charges[i] * a.charges[i];
    errors[1] = fabs(terms[LEY_ENERGY_COULOMB] - energy) / own;
    *push = sqrt((sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]) / square);
    ley_energy_destroy(e);
    free(force);
}

static void exact(const water *w, const ley_energy_options *o, double (*force)[3], double *energy)
{
    ley_error error = {0};
    double terms[LEY_ENERGY_TERMS];
    const ley_particles_arrays a = ley_particles_get(w->particles);
    const energy_frame frame = {&a, o, w->position_A[0], w->cell_A};
    ley_energy_results r = {.size = sizeof r, .terms = terms};
    assert_ok(energy_law_frame(&frame, &r, force, &error));
    *energy = terms[LEY_ENERGY_COULOMB];
}

static void check(const char *what, double skew, double excess_e, double cutoff_A)
{
    water *w = calloc(1, sizeof *w);
    double(*right)[3] = calloc(COUNT, sizeof *right), energy;
    make_water(w, skew, excess_e);
    ley_energy_options o = options_of(1e-2, cutoff_A);
    exact(w, &o, right, &energy);
    for (int digits = 2; digits <= 5; digits++) {
        double errors[2], push;
        o.ewald_tolerance = pow(10, -digits);
        compare(w, &o, (const double(*)[3])right, energy, errors, &push);
        print_message("%s, to %g: forces off by %.1e, the energy by %.1e; all together %.1e\n", what, o.ewald_tolerance,
                      errors[0], errors[1], push);
        assert_true(errors[0] < 1.2 * o.ewald_tolerance);
        assert_true(errors[0] > 0.02 * o.ewald_tolerance); /* no more than is asked for */
        assert_true(errors[1] < o.ewald_tolerance);
        assert_true(push < o.ewald_tolerance);
    }
    ley_particles_destroy(w->particles);
    free(w);
    free(right);
}

static void tolerances_are_kept(void **state)
{
    (void)state;
    check("water", 0, 0, 9);
    check("water, a skewed cell", 0.3, 0, 8);
    check("charged water", 0, 0.02, 7);
}

/* A mesh for a first cell, and others for larger ones, of which one is longest along another vector
 * than the next; each frame has the same bytes. */
static void cells_may_change(void **state)
{
    (void)state;
    enum { FRAMES = 6 };
    ley_error error = {0};
    ley_energy *e = NULL;
    water *w = calloc(1, sizeof *w);
    float(*position_A)[COUNT][3] = calloc(FRAMES, sizeof *position_A);
    double cell_A[FRAMES][9], terms[2][FRAMES][LEY_ENERGY_TERMS];
    make_water(w, 0.1, 0);
    const ley_energy_options o = options_of(1e-4, 8);
    ley_energy_results r = {.size = sizeof r, .terms = terms[0][0]};
    for (int f = 0; f < FRAMES; f++) {
        const double much = f == 2 ? 1.5 : 1 + 0.001 * f, grown[3] = {f == 4 ? 1.7 : much, much, f == 5 ? 1.7 : much};
        for (int i = 0; i < 9; i++)
            cell_A[f][i] = grown[i % 3] * w->cell_A[i];
        for (int i = 0; i < 3 * COUNT; i++)
            position_A[f][i / 3][i % 3] = (float)grown[i % 3] * w->position_A[i / 3][i % 3];
    }
    ley_energy_options plain = o;
    plain.forces = false;
    assert_ok(ley_energy_create(engine, w->particles, &plain, &e, &error));
    for (int k = 0; k < 2; k++) {
        r.terms = terms[k][0];
        assert_ok(ley_energy_run(e, FRAMES, position_A[0][0], cell_A[0], &r, &error));
    }
    ley_energy_destroy(e);
    for (int f = 0; f < FRAMES; f++) {
        const ley_particles_arrays a = ley_particles_get(w->particles);
        const energy_frame frame = {&a, &plain, position_A[f][0], cell_A[f]};
        double right[LEY_ENERGY_TERMS];
        ley_energy_results own = {.size = sizeof own, .terms = right};
        assert_ok(energy_law_frame(&frame, &own, NULL, &error));
        for (int k = 0; k < 2; k++)
            assert_true(fabs(terms[k][f][LEY_ENERGY_COULOMB] - right[LEY_ENERGY_COULOMB]) <
                        3e-4 * fabs(right[LEY_ENERGY_COULOMB]));
    }
    ley_particles_destroy(w->particles);
    free(w);
    free(position_A);
}

typedef struct fault {
    const char *kernel, *from, *to;
} fault;

static const fault faults[] = {
    {"mesh_points", "p.z", "p.y"},
    {"mesh_gather", "factors.y * p.w - ", "0.9f * factors.y * p.w - "}, /* the particle's own charge */
    {"mesh_gather", "factors.z * fabs(per_volume)", "0"},
    {"mesh_gather", "phi -= other.w * taken.x", "phi += other.w * taken.x"},
    {"mesh_gather", "x += other.w * taken.y * dx", "x += other.w * taken.x * dx"},
};

/* No device has such a kernel: the host computes the frame. */
static void faults_are_found(void **state)
{
    (void)state;
    water *w = calloc(1, sizeof *w);
    double(*right)[3] = calloc(COUNT, sizeof *right), energy, errors[2], push;
    make_water(w, 0, 0);
    const ley_energy_options o = options_of(1e-4, 8);
    exact(w, &o, right, &energy);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i += support_is_quick() ? 2 : 1) {
        ley_engine *whole = engine;
        ley_error error = {0};
        support_fresh_cache();
        support_plant_fault(faults[i].kernel, faults[i].from, faults[i].to);
        assert_ok(ley_engine_create("opencl:0", &engine, &error));
        compare(w, &o, (const double(*)[3])right, energy, errors, &push);
        ley_engine_destroy(engine);
        engine = whole;
        unsetenv("LEYDEN_KERNEL_DIR");
        assert_true(errors[0] < 1e-6 && errors[1] < 1e-6);
    }
    ley_particles_destroy(w->particles);
    free(w);
    free(right);
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.name = "reciprocal", .opened = &engine), tolerances_are_kept, cells_may_change,
                     faults_are_found);
}
