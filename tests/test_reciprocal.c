/* Ewald's sum on a mesh: forces and energies beside exact sums at several tolerances, cells of
 * several shapes, a net charge, momentum, the same bytes. */
#include "support.h"

#include "energy/reciprocal.h"
#include "fft.h"
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

/* Of charges in a Gaussian of 3.3 A, which is what parts of the energy cancel from. */
static double own_energy(const ley_energy_options *o, const water *w)
{
    const ley_particles_arrays a = ley_particles_get(w->particles);
    double own = 0;
    for (int i = 0; i < COUNT; i++)
        own += o->coulomb_constant * 0.3 / sqrt(M_PI) * a.charges[i] * a.charges[i];
    return own;
}

/* Errors of the forces as a share of their root mean square, and of the energy as one of the
 * charges' own. */
static void compare(const water *w, const ley_energy_options *o, const double (*right)[3], double energy,
                    double errors[2], double *push)
{
    ley_error error = {0};
    ley_energy *e = NULL;
    double terms[LEY_ENERGY_TERMS], off = 0, square = 0, sum[3] = {0, 0, 0};
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
    errors[1] = fabs(terms[LEY_ENERGY_COULOMB] - energy) / own_energy(o, w);
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

static void run_frames(ley_energy *e, int first, int frames, const float (*position_A)[COUNT][3],
                       const double (*cell_A)[9], double (*terms)[LEY_ENERGY_TERMS], float (*force)[COUNT][3])
{
    ley_error error = {0};
    ley_energy_results r = {.size = sizeof r, .terms = terms[first], .forces = force[first][0]};
    assert_ok(ley_energy_run(e, frames, position_A[first][0], cell_A[first], &r, &error));
}

/* A mesh for a first cell, and others for larger ones, of which one is longest along another vector
 * than the next: each frame has the bytes that it has alone, whatever frames came before. */
static void cells_may_change(void **state)
{
    (void)state;
    enum { FRAMES = 6 };
    ley_error error = {0};
    ley_energy *e = NULL;
    water *w = calloc(1, sizeof *w);
    float(*position_A)[COUNT][3] = calloc(FRAMES, sizeof *position_A);
    float(*force)[FRAMES][COUNT][3] = calloc(3, sizeof *force);
    double cell_A[FRAMES][9], terms[3][FRAMES][LEY_ENERGY_TERMS];
    make_water(w, 0.1, 0);
    const ley_energy_options o = options_of(1e-4, 8);
    for (int f = 0; f < FRAMES; f++) {
        const double much = f == 2 ? 1.5 : 1 + 0.001 * f, grown[3] = {f == 4 ? 1.7 : much, much, f == 5 ? 1.7 : much};
        for (int i = 0; i < 9; i++)
            cell_A[f][i] = grown[i % 3] * w->cell_A[i];
        for (int i = 0; i < 3 * COUNT; i++)
            position_A[f][i / 3][i % 3] = (float)grown[i % 3] * w->position_A[i / 3][i % 3];
    }
    assert_ok(ley_energy_create(engine, w->particles, &o, &e, &error));
    run_frames(e, 0, FRAMES, (const float(*)[COUNT][3])position_A, (const double(*)[9])cell_A, terms[0], force[0]);
    for (int f = FRAMES - 1; f >= 0; f--)
        run_frames(e, f, 1, (const float(*)[COUNT][3])position_A, (const double(*)[9])cell_A, terms[1], force[1]);
    ley_energy_destroy(e);
    for (int f = 0; f < FRAMES; f += 2) {
        assert_ok(ley_energy_create(engine, w->particles, &o, &e, &error));
        run_frames(e, f, 1, (const float(*)[COUNT][3])position_A, (const double(*)[9])cell_A, terms[2], force[2]);
        ley_energy_destroy(e);
        assert_memory_equal(terms[2][f], terms[0][f], sizeof terms[2][f]);
        assert_memory_equal(force[2][f], force[0][f], sizeof force[2][f]);
    }
    assert_memory_equal(terms[1], terms[0], sizeof terms[0]);
    assert_memory_equal(force[1], force[0], sizeof force[0]);
    ley_energy_options plain = o;
    plain.forces = false;
    for (int f = 0; f < FRAMES; f++) {
        const ley_particles_arrays a = ley_particles_get(w->particles);
        const energy_frame frame = {&a, &plain, position_A[f][0], cell_A[f]};
        double right[LEY_ENERGY_TERMS];
        ley_energy_results own = {.size = sizeof own, .terms = right};
        assert_ok(energy_law_frame(&frame, &own, NULL, &error));
        assert_true(fabs(terms[0][f][LEY_ENERGY_COULOMB] - right[LEY_ENERGY_COULOMB]) <
                    o.ewald_tolerance * own_energy(&o, w));
    }
    ley_particles_destroy(w->particles);
    free(w);
    free(force);
    free(position_A);
}

static int transforms; /* that were made */
ley_status right_fft(dev *device, const fft_wish *wish, dev_fft *fft, ley_error *error) __asm__("__real_fft_create");
ley_status some_fft(dev *device, const fft_wish *wish, dev_fft *fft, ley_error *error) __asm__("__wrap_fft_create");
ley_status some_fft(dev *device, const fft_wish *wish, dev_fft *fft, ley_error *error)
{
    transforms++;
    return right_fft(device, wish, fft, error);
}

/* Edges that change by a hundredth, each for itself, in every frame: a few meshes are made once. */
static void meshes_are_kept(void **state)
{
    (void)state;
    enum { FRAMES = 60 };
    uint32_t random = 9;
    ley_error error = {0};
    ley_energy *e = NULL;
    water *w = calloc(1, sizeof *w);
    make_water(w, 0, 0);
    const ley_energy_options o = options_of(1e-3, 8);
    assert_ok(ley_energy_create(engine, w->particles, &o, &e, &error));
    average_mesh first, larger;
    double edge = 1; /* at which meshes become larger */
    assert_ok(reciprocal_mesh(&o, w->cell_A, COUNT, false, &first, &error));
    for (larger = first; larger.n[0] == first.n[0]; edge *= 1.001) {
        double cell_A[9];
        for (int i = 0; i < 9; i++)
            cell_A[i] = edge * w->cell_A[i];
        assert_ok(reciprocal_mesh(&o, cell_A, COUNT, false, &larger, &error));
    }
    int before = 0;
    transforms = 0;
    for (int f = 0; f < 2 * FRAMES; f++) {
        double cell_A[9], terms[LEY_ENERGY_TERMS];
        ley_energy_results r = {.size = sizeof r, .terms = terms};
        for (int i = 0; i < 9; i++)
            cell_A[i] = w->cell_A[i] * (edge + 0.02 * (self_test_fraction(&random) - 0.5));
        assert_ok(ley_energy_run(e, 1, w->position_A[0], cell_A, &r, &error));
        before = f < FRAMES ? transforms : before;
    }
    print_message("%d plans of transforms, and %d later\n", before, transforms - before);
    assert_true(before > 1 && before <= 16 && transforms - before <= 2); /* some are of another order */
    ley_energy_destroy(e);
    ley_particles_destroy(w->particles);
    free(w);
}

/* Without a matrix of groups: three parts of the water, of whose molecules each has one third. */
static void interactions_are_differences_of_subsets(void **state)
{
    (void)state;
    water *w = calloc(1, sizeof *w);
    ley_error error = {0};
    double energy[8] = {0};
    make_water(w, 0.2, 0.02);
    const ley_energy_options o = options_of(1e-4, 8);
    for (int parts = 1; parts < 8; parts++) {
        ley_particles *some = NULL;
        ley_energy *e = NULL;
        int64_t index[COUNT], count = 0;
        float(*position_A)[3] = calloc(COUNT, sizeof *position_A);
        double terms[LEY_ENERGY_TERMS];
        for (int i = 0; i < COUNT; i++)
            if ((parts >> i / 3 % 3 & 1) != 0) {
                memcpy(position_A[count], w->position_A[i], sizeof *position_A);
                index[count++] = i;
            }
        ley_energy_results r = {.size = sizeof r, .terms = terms};
        assert_ok(ley_particles_subset(w->particles, index, count, &some, &error));
        assert_ok(ley_energy_create(engine, some, &o, &e, &error));
        assert_ok(ley_energy_run(e, 1, position_A[0], w->cell_A, &r, &error));
        energy[parts] = terms[LEY_ENERGY_COULOMB];
        ley_energy_destroy(e);
        ley_particles_destroy(some);
        free(position_A);
    }
    double sum = energy[1] + energy[2] + energy[4];
    for (int a = 1; a < 4; a *= 2)
        for (int b = 2 * a; b < 8; b *= 2)
            sum += energy[a + b] - energy[a] - energy[b];
    print_message("three parts: %.6g, and together %.6g\n", sum, energy[7]);
    assert_true(fabs(sum - energy[7]) < 1e-3 * (fabs(energy[1]) + fabs(energy[7])));
    ley_particles_destroy(w->particles);
    free(w);
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
                     meshes_are_kept, interactions_are_differences_of_subsets, faults_are_found);
}
