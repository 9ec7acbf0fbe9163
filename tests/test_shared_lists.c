/* Lists of pairs that frames share: which frames do, and that each has the pairs that are its own.
 * Two devices are of one driver, so that frames of one list are dealt to both. */
#include "some_energies.h"
#include "support.h"

#include "energy/listed.h"

static ley_engine *engine;

/* So many that processors take one frame at a time. */
enum { COUNT = 3400, PAIRS = COUNT / 2, FRAMES = 6, SIDE = 12, TYPES = 5 };
static const double cutoff_A = 9, edge_A = 400;

typedef struct run_results {
    double by_particle[FRAMES][LEY_ENERGY_TERMS][COUNT], terms[FRAMES][LEY_ENERGY_TERMS];
    float forces[FRAMES][COUNT][3];
} run_results;

static ley_energy_options options_of(ley_coulomb_kind coulomb)
{
    ley_energy_options o;
    ley_energy_options_default(&o);
    o.lennard_jones = LEY_LENNARD_JONES_SHIFTED;
    o.coulomb = coulomb;
    o.cutoff_A = cutoff_A;
    o.forces = o.by_particle = true;
    o.verify_every = 1;
    return o;
}

/* The lists that were made. */
static int64_t run(ley_engine *on, const ley_particles *particles, const ley_energy_options *o, int frames,
                   const float *position_A, const double *cell_A, run_results *found)
{
    ley_error error = {0};
    ley_energy *e = NULL;
    ley_energy_totals totals;
    ley_energy_results r = {.size = sizeof r,
                            .terms = found->terms[0],
                            .by_particle = found->by_particle[0][0],
                            .forces = found->forces[0][0]};
    assert_ok(ley_energy_create(on, particles, o, &e, &error));
    assert_ok(ley_energy_run(e, frames, position_A, cell_A, &r, &error));
    ley_energy_get_totals(e, &totals);
    ley_energy_destroy(e);
    assert_int_equal(totals.failed, 0);
    return totals.lists;
}

/* Of processors that have vectors; others make one for each frame. */
static void assert_lists(int64_t made, int64_t shared)
{
    print_message("%d lists\n", (int)made);
    assert_int_equal(made, support_has_vectors(engine) ? shared : FRAMES);
}

/* ---- Pairs that come near -------------------------------------------------------------------- */

/* Charges of 1, pairs of which nothing else is near. */
static ley_particles *lonely_particles(void)
{
    static double charge[COUNT], zero;
    static int32_t type[COUNT];
    ley_particles_arrays a = {.size = sizeof a,
                              .particles = COUNT,
                              .types = 1,
                              .charges = charge,
                              .type = type,
                              .lennard_jones_a = &zero,
                              .lennard_jones_b = &zero};
    ley_particles *made;
    ley_error error = {0};
    for (int i = 0; i < COUNT; i++)
        charge[i] = 1;
    assert_ok(ley_particles_create(&a, &made, &error));
    return made;
}

/* Each pair is this far apart, its first particle on a lattice of points 30 A apart from `first_A`
 * on; all have moved towards each other by `moved_A`. */
static void put_pairs(float (*position_A)[3], double first_A, double apart_A, double moved_A)
{
    for (int i = 0; i < COUNT; i++) {
        const int pair = i / 2, at[3] = {pair % SIDE, pair / SIDE % SIDE, pair / (SIDE * SIDE)};
        for (int d = 0; d < 3; d++)
            position_A[i][d] = (float)(first_A + 30 * at[d]);
        position_A[i][pair % 3] += (float)(i % 2 == 0 ? moved_A : apart_A - moved_A);
    }
}

/* Particles with an energy. */
static int count_near(const run_results *r, int frame)
{
    int found = 0;
    for (int i = 0; i < COUNT; i++)
        found += r->by_particle[frame][LEY_ENERGY_COULOMB][i] != 0 ? 1 : 0;
    return found;
}

/* The first frames have pairs just beyond reach of the cutoff, others just within it. */
static void check_pairs(double apart_A, double moved_A, bool is_periodic, bool jumps, int64_t lists)
{
    float(*position_A)[COUNT][3] = calloc(FRAMES, sizeof *position_A);
    double cell_A[FRAMES][9] = {{0}};
    run_results *found = calloc(1, sizeof *found);
    ley_particles *particles = lonely_particles();
    const ley_energy_options o = options_of(LEY_COULOMB_PLAIN);
    for (int f = 0; f < FRAMES; f++) {
        put_pairs(position_A[f], -204, apart_A, f < FRAMES / 2 ? 0 : moved_A);
        for (int i = 0; i < COUNT && jumps; i++) /* to another image */
            for (int d = 0; d < 3; d++)
                position_A[f][i][d] += (float)(((i + f) * (d + 3) % 5 - 2) * edge_A);
        for (int d = 0; d < 3; d++)
            cell_A[f][4 * d] = edge_A;
    }
    assert_lists(run(engine, particles, &o, FRAMES, position_A[0][0], is_periodic ? cell_A[0] : NULL, found), lists);
    for (int f = 0; f < FRAMES; f++)
        assert_int_equal(count_near(found, f), f < FRAMES / 2 ? 0 : COUNT);
    ley_particles_destroy(particles);
    free(position_A);
    free(found);
}

/* Half of the buffer is what a particle may move. */
static void particles_move_by_half_of_the_buffer(void **state)
{
    (void)state;
    const double half_A = LISTED_BUFFER_A / 2, apart_A = cutoff_A + LISTED_BUFFER_A;
    check_pairs(apart_A - 0.01, half_A - 0.002, false, false, 1);
    check_pairs(apart_A - 0.01, half_A - 0.002, true, false, 1);
    check_pairs(apart_A + 0.01, half_A + 0.007, false, false, 2);
    check_pairs(apart_A + 0.01, half_A + 0.007, true, false, 2);
}

static void particles_jump_by_vectors_of_the_cell(void **state)
{
    (void)state;
    const double half_A = LISTED_BUFFER_A / 2, apart_A = cutoff_A + LISTED_BUFFER_A;
    check_pairs(apart_A - 0.01, half_A - 0.002, true, true, 1);
    check_pairs(apart_A + 0.01, half_A + 0.007, true, true, 2);
}

/* ---- Cells that change ----------------------------------------------------------------------- */

/* Pairs across a face of the cell, along x, which becomes shorter; what else there is stays
 * alone. */
static void check_cell(double shorter_A, double beyond_A, int64_t lists)
{
    enum { ACROSS = 2 * SIDE * SIDE };
    float(*position_A)[COUNT][3] = calloc(FRAMES, sizeof *position_A);
    double cell_A[FRAMES][9] = {{0}};
    run_results *found = calloc(1, sizeof *found);
    ley_particles *particles = lonely_particles();
    const ley_energy_options o = options_of(LEY_COULOMB_PLAIN);
    for (int f = 0; f < FRAMES; f++) {
        put_pairs(position_A[f], -150, 15, 0);
        for (int i = 0; i < ACROSS; i++) {
            position_A[f][i][0] = (float)(i % 2 == 0 ? edge_A / 2 - 5 : cutoff_A + beyond_A - 5 - edge_A / 2);
            position_A[f][i][1] = (float)(30 * (i / 2 % SIDE) - 170);
            position_A[f][i][2] = (float)(30 * (i / 2 / SIDE) - 170);
        }
        for (int d = 0; d < 3; d++)
            cell_A[f][4 * d] = edge_A - (d == 0 && f >= FRAMES / 2 ? shorter_A : 0);
    }
    assert_lists(run(engine, particles, &o, FRAMES, position_A[0][0], cell_A[0], found), lists);
    for (int f = 0; f < FRAMES; f++)
        assert_int_equal(count_near(found, f), f < FRAMES / 2 ? 0 : ACROSS);
    ley_particles_destroy(particles);
    free(position_A);
    free(found);
}

static void cells_change_by_the_buffer(void **state)
{
    (void)state;
    check_cell(LISTED_BUFFER_A - 0.01, LISTED_BUFFER_A - 0.03, 1);
    check_cell(LISTED_BUFFER_A + 0.02, LISTED_BUFFER_A + 0.01, 2);
}

/* ---- Liquids --------------------------------------------------------------------------------- */

/* Particles tremble in a cell that does; in one that is just narrower than twice what a list would
 * reach, no frame has another's. Each frame by itself is what is right. */
static void check_liquid(double spacing_A, double wider_A, ley_coulomb_kind coulomb, int64_t lists)
{
    float *position_A = some_positions(COUNT, FRAMES, spacing_A, 5);
    const double w = some_width_A(COUNT, spacing_A) + wider_A;
    double cell_A[FRAMES][9];
    run_results *found = calloc(1, sizeof *found), *alone = calloc(1, sizeof *alone);
    ley_particles *particles = some_particles(COUNT, TYPES, 3);
    const ley_energy_options o = options_of(coulomb);
    for (int f = 0; f < FRAMES; f++) {
        const double vectors[9] = {w + 0.01 * f, 0, 0, 3, w - 0.01 * f, 0, -4, 0.02 * f, w};
        memcpy(cell_A[f], vectors, sizeof vectors);
        for (int i = 0; i < 3 * COUNT; i++)
            position_A[3 * COUNT * f + i] = position_A[i] + 0.02F * (float)((i + f) % 7 - (i % 7));
    }
    assert_lists(run(engine, particles, &o, FRAMES, position_A, cell_A[0], found), lists);
    for (int f = 0; f < FRAMES; f++) {
        double square = 0, most = 0;
        run(engine, particles, &o, 1, position_A + 3 * COUNT * f, cell_A[f], alone);
        for (int t = 0; t < LEY_ENERGY_TERMS; t++)
            for (int i = 0; i < COUNT; i++)
                assert_true(fabs(found->by_particle[f][t][i] - alone->by_particle[0][t][i]) <=
                            2e-5 * (1 + fabs(alone->by_particle[0][t][i])));
        for (int i = 0; i < COUNT; i++)
            for (int d = 0; d < 3; d++) {
                square += pow((double)alone->forces[0][i][d], 2);
                most = fmax(most, fabs((double)found->forces[f][i][d] - (double)alone->forces[0][i][d]));
            }
        assert_true(most < 1e-4 * sqrt(square / COUNT));
    }
    ley_particles_destroy(particles);
    free(position_A);
    free(found);
    free(alone);
}

static void liquids_are_right(void **state)
{
    (void)state;
    const double narrow_A = 2 * (cutoff_A + 0.5) - some_width_A(COUNT, 1.2);
    check_liquid(2.6, 1, LEY_COULOMB_EWALD, 1);
    check_liquid(1.6, 1, LEY_COULOMB_SHIFTED, 2); /* the first one has no room */
    check_liquid(1.2, narrow_A, LEY_COULOMB_SHIFTED, FRAMES);
}

/* ---- Several devices ------------------------------------------------------------------------- */

/* Frames have the same bytes in another run of the same, and of two devices. */
static void frames_have_the_same_bytes(void **state)
{
    (void)state;
    float *position_A = some_positions(COUNT, FRAMES, 2.6, 5);
    run_results *once = calloc(1, sizeof *once), *again = calloc(1, sizeof *again);
    ley_particles *particles = some_particles(COUNT, TYPES, 3);
    const ley_energy_options o = options_of(LEY_COULOMB_SHIFTED);
    ley_engine *both;
    ley_error error = {0};
    for (int i = 0; i < 3 * COUNT * FRAMES; i++)
        position_A[i] = position_A[i % (3 * COUNT)] + 0.02F * (float)(i % 7);
    assert_lists(run(engine, particles, &o, FRAMES, position_A, NULL, once), 1);
    assert_lists(run(engine, particles, &o, FRAMES, position_A, NULL, again), 1);
    assert_memory_equal(again, once, sizeof *once);
    if (ley_engine_create("opencl:0,opencl:1", &both, &error) == LEY_OK) {
        for (int tries = 0; tries < 3; tries++) {
            const int64_t lists = run(both, particles, &o, FRAMES, position_A, NULL, again);
            print_message("%d lists of two devices\n", (int)lists);
            assert_memory_equal(again, once, sizeof *once);
        }
        ley_engine_destroy(both);
    }
    ley_error_clear(&error);
    ley_particles_destroy(particles);
    free(position_A);
    free(once);
    free(again);
}

int main(void)
{
    setenv("POCL_DEVICES", "pthread pthread", 0);
    return RUN_GROUP(SUPPORT_GROUP(.name = "shared lists", .opened = &engine), particles_move_by_half_of_the_buffer,
                     particles_jump_by_vectors_of_the_cell, cells_change_by_the_buffer, liquids_are_right,
                     frames_have_the_same_bytes);
}
