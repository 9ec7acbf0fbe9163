/* Energies of frames on devices, beside the law in double precision: every kind, edges, what is
 * refused. */
#include "some_energies.h"
#include "support.h"

#include "energy/listed.h"
#include "energy/marks.h"
#include "energy/pairs.h"
#include "energy/pairs_14.h"
#include "energy/problem.h"
#include "energy/surface.h"
#include "engine/engine.h"
#include "law/energy.h"
#include "methods/patches.h"
#include "verify/self_test.h"

static ley_engine *engine;

enum { COUNT = 421, TYPES = 9, FRAMES = 3, GROUPS = 6 };

/* ---- Beside the law -------------------------------------------------------------------------- */

typedef struct values {
    double terms[FRAMES][LEY_ENERGY_TERMS], by_particle[FRAMES][LEY_ENERGY_TERMS][COUNT],
        matrix[FRAMES][LEY_ENERGY_TERMS][GROUPS][GROUPS];
    float forces[FRAMES][COUNT][3];
    double right_force[FRAMES][COUNT][3], absolute[FRAMES][COUNT][LEY_ENERGY_TERMS];
} values;

static ley_energy_results results_of(values *v, const ley_energy_options *o, int frame)
{
    return (ley_energy_results){.size = sizeof(ley_energy_results),
                                .terms = v->terms[frame],
                                .by_particle = o->by_particle ? v->by_particle[frame][0] : NULL,
                                .matrix = o->groups > 0 ? v->matrix[frame][0][0] : NULL,
                                .forces = o->forces ? v->forces[frame][0] : NULL};
}

static ley_energy_options options_of(ley_lennard_jones_kind lj, ley_coulomb_kind coulomb, double cutoff_A)
{
    ley_energy_options o;
    ley_energy_options_default(&o);
    o.lennard_jones = lj;
    o.coulomb = coulomb;
    o.cutoff_A = cutoff_A;
    o.switch_A = 0.8 * cutoff_A;
    o.reaction_dielectric = 60;
    o.dielectric = 1.7;
    o.forces = o.by_particle = true;
    o.verify_every = 2;
    return o;
}

static void make_right(const ley_particles *particles, const ley_energy_options *o, const float *position_A,
                       const double *cell_A, values *right)
{
    const ley_particles_arrays a = ley_particles_get(particles);
    ley_error error = {0};
    int64_t all[COUNT];
    double energy[COUNT][LEY_ENERGY_TERMS];
    for (int i = 0; i < COUNT; i++)
        all[i] = i;
    for (int f = 0; f < FRAMES; f++) {
        const energy_frame frame = {&a, o, position_A + 3 * COUNT * f, cell_A != NULL ? cell_A + 9 * f : NULL};
        ley_energy_results r = results_of(right, o, f);
        assert_ok(energy_law_frame(&frame, &r, right->right_force[f], &error));
        double radii[COUNT], slopes[COUNT];
        const bool has_born = o->born != LEY_BORN_NONE;
        if (has_born) {
            energy_law_radii(&frame, COUNT, all, radii);
            energy_law_slopes(&frame, radii, COUNT, all, slopes);
        }
        assert_ok(energy_law_particles(&frame, has_born ? radii : NULL, has_born ? slopes : NULL, COUNT, all, energy,
                                       right->absolute[f], NULL, &error));
    }
}

/* Shares of what is large in a frame. */
static void compare(const char *what, const values *found, const values *right, const ley_energy_options *o)
{
    for (int f = 0; f < FRAMES; f++) {
        double square = 0, worst = 0, scale[LEY_ENERGY_TERMS] = {0};
        for (int i = 0; i < COUNT; i++)
            for (int d = 0; d < 3; d++)
                square += pow(right->right_force[f][i][d], 2);
        for (int i = 0; i < COUNT; i++)
            for (int d = 0; d < 3 && o->forces; d++)
                worst = fmax(worst, fabs((double)found->forces[f][i][d] - right->right_force[f][i][d]));
        worst /= sqrt(square / COUNT);
        double off = 0;
        for (int t = 0; t < LEY_ENERGY_TERMS; t++) {
            for (int i = 0; i < COUNT; i++)
                scale[t] += right->absolute[f][i][t];
            off = fmax(off, fabs(found->terms[f][t] - right->terms[f][t]) / (scale[t] + 1e-9));
            for (int i = 0; i < COUNT; i++)
                off = fmax(off, fabs(found->by_particle[f][t][i] - right->by_particle[f][t][i]) /
                                    (right->absolute[f][i][t] + 0.1 * scale[t] / COUNT + 1e-9));
            for (int g = 0; g < GROUPS && o->groups > 0; g++)
                for (int h = 0; h < GROUPS; h++)
                    off = fmax(off, fabs(found->matrix[f][t][g][h] - right->matrix[f][t][g][h]) /
                                        (scale[t] / GROUPS + 1e-9));
        }
        if (f == 0)
            print_message("%s: energies off by %.1e, forces by %.1e\n", what, off, worst);
        assert_true(off < 1e-5);
        assert_true(worst < 1e-4);
    }
}

/* Cells that fit the lump, oblique ones; frames have their own. */
static void make_cells(double width_A, double cell_A[FRAMES][9])
{
    for (int f = 0; f < FRAMES; f++) {
        const double w = width_A + 0.4 * f, own[9] = {w, 0, 0, f == 0 ? 0 : 3, w, 0, f == 0 ? 0 : -4, 5.0 * (f > 0), w};
        memcpy(cell_A[f], own, sizeof own);
    }
}

static void set_groups(int32_t *group)
{
    for (int i = 0; i < COUNT; i++)
        group[i] = i % 13 == 12 ? -1 : i < 130 ? i % 3 : i < 300 ? 3 : i % 2 == 0 ? 5 : 1; /* 4 has nobody */
}

static void check_options(const char *what, ley_energy_options o, bool is_periodic, bool has_groups)
{
    int32_t group[COUNT];
    double cell_A[FRAMES][9];
    ley_error error = {0};
    ley_energy *e = NULL;
    ley_energy_totals totals;
    ley_particles *particles = some_particles(COUNT, TYPES, 3);
    float *position_A = some_positions(COUNT, FRAMES, 2.6, 5);
    values *found = calloc(1, sizeof *found), *right = calloc(1, sizeof *right);
    set_groups(group);
    make_cells(some_width_A(COUNT, 2.6) + 1, cell_A);
    o.group = group;
    o.groups = has_groups ? GROUPS : 0;
    const double *cells = is_periodic ? cell_A[0] : NULL;
    make_right(particles, &o, position_A, cells, right);
    ley_energy_results r = results_of(found, &o, 0);
    assert_ok(ley_energy_create(engine, particles, &o, &e, &error));
    assert_ok(ley_energy_run(e, FRAMES, position_A, cells, &r, &error));
    ley_energy_get_totals(e, &totals);
    compare(what, found, right, &o);
    assert_int_equal(totals.frames, FRAMES);
    assert_int_equal(totals.checked_frames, 2);
    assert_int_equal(totals.checked_particles, 32);
    assert_true(totals.energy_error < 1e-5 && totals.force_error < 1e-4 && (totals.force_error > 0) == o.forces);
    assert_int_equal(totals.failed, 0);
    ley_energy_destroy(e);
    ley_particles_destroy(particles);
    free(position_A);
    free(found);
    free(right);
}

static void check_kind(ley_lennard_jones_kind lj, ley_coulomb_kind coulomb, double cutoff_A, bool is_periodic,
                       bool has_groups)
{
    char what[128];
    snprintf(what, sizeof what, "Lennard-Jones %d, Coulomb %d%s%s", (int)lj, (int)coulomb,
             is_periodic ? ", periodic" : "", has_groups ? ", groups" : "");
    check_options(what, options_of(lj, coulomb, cutoff_A), is_periodic, has_groups);
}

/* Born energies beside those of pairs. */
static void all_terms_are_those_of_the_law(void **state)
{
    (void)state;
    ley_energy_options o = options_of(LEY_LENNARD_JONES_PLAIN, LEY_COULOMB_PLAIN, 0);
    o.born = LEY_BORN_OBC2;
    o.salt_M = 0.15;
    o.surface = LEY_SURFACE_LCPO;
    check_options("all terms", o, false, false);
    check_options("all terms, groups", o, false, true);
}

/* Surfaces of devices: of few neighbours, and of more than there is room for at first. */
static void areas_are_those_of_the_law(void **state)
{
    (void)state;
    ley_energy_options o = options_of(LEY_LENNARD_JONES_PLAIN, LEY_COULOMB_PLAIN, 0);
    o.surface = LEY_SURFACE_LCPO;
    o.forces = false;
    o.offset = 2;
    check_options("areas", o, false, true);
    check_options("areas, periodic", o, true, false);
    o.probe_A = 3;
    check_options("areas, many neighbours", o, false, false);
}

/* What the host adds. */
static void tails_and_surfaces_are_those_of_the_law(void **state)
{
    (void)state;
    ley_energy_options o = options_of(LEY_LENNARD_JONES_SWITCHED, LEY_COULOMB_REACTION_FIELD, 8.1);
    o.tail_correction = true;
    check_options("tail", o, true, true);
    o = options_of(LEY_LENNARD_JONES_PLAIN, LEY_COULOMB_PLAIN, 0);
    o.surface = LEY_SURFACE_LCPO;
    o.offset = 3;
    check_options("surface", o, false, true);
    o.lennard_jones = LEY_LENNARD_JONES_NONE;
    o.coulomb = LEY_COULOMB_NONE;
    check_options("surface alone", o, false, true);
}

static void energies_are_those_of_the_law(void **state)
{
    (void)state;
    check_kind(LEY_LENNARD_JONES_PLAIN, LEY_COULOMB_PLAIN, 0, false, false);
    check_kind(LEY_LENNARD_JONES_PLAIN, LEY_COULOMB_PLAIN, 0, false, true);
    check_kind(LEY_LENNARD_JONES_NONE, LEY_COULOMB_PLAIN, 0, false, false);
    check_kind(LEY_LENNARD_JONES_PLAIN, LEY_COULOMB_NONE, 0, false, true);
    check_kind(LEY_LENNARD_JONES_PLAIN, LEY_COULOMB_PLAIN, 0, true, false);
}

static void cutoffs_are_those_of_the_law(void **state)
{
    (void)state;
    for (int lj = LEY_LENNARD_JONES_SHIFTED; lj < LEY_LENNARD_JONES_KINDS; lj++) {
        const ley_coulomb_kind coulomb = lj % 2 == 0 ? LEY_COULOMB_SHIFTED : LEY_COULOMB_SHIFTED_CHARMM;
        check_kind((ley_lennard_jones_kind)lj, coulomb, 7.3, lj % 3 == 0, lj % 2 == 1);
    }
    check_kind(LEY_LENNARD_JONES_SWITCHED, LEY_COULOMB_REACTION_FIELD, 8.1, true, true);
    check_kind(LEY_LENNARD_JONES_SWITCHED, LEY_COULOMB_SHIFTED, 8.1, true, false);
}

/* Of groups that have all particles, to the digits of the particles' energies. */
static void matrices_add_up_to_terms(void **state)
{
    (void)state;
    int32_t group[COUNT];
    double cell_A[FRAMES][9], worst = 0;
    ley_particles *particles = some_particles(COUNT, TYPES, 3);
    float *position_A = some_positions(COUNT, FRAMES, 2.2, 5);
    values *found = calloc(1, sizeof *found);
    for (int i = 0; i < COUNT; i++)
        group[i] = i * 7 % GROUPS;
    make_cells(some_width_A(COUNT, 2.6) + 1, cell_A);
    for (int way = 0; way < 3; way++) {
        ley_energy_options o = options_of(LEY_LENNARD_JONES_PLAIN, LEY_COULOMB_PLAIN, way == 1 ? 8.1 : 0);
        ley_error error = {0};
        ley_energy *e = NULL;
        o.born = way == 2 ? LEY_BORN_OBC2 : LEY_BORN_NONE;
        o.groups = GROUPS;
        o.group = group;
        ley_energy_results r = results_of(found, &o, 0);
        assert_ok(ley_energy_create(engine, particles, &o, &e, &error));
        assert_ok(ley_energy_run(e, FRAMES, position_A, way == 1 ? cell_A[0] : NULL, &r, &error));
        for (int f = 0; f < FRAMES; f++)
            for (int t = 0; t < LEY_ENERGY_TERMS; t++) {
                double sum = 0, absolute = 0;
                for (int k = 0; k < GROUPS * GROUPS; k++)
                    sum += found->matrix[f][t][k / GROUPS][k % GROUPS];
                for (int i = 0; i < COUNT; i++)
                    absolute += fabs(found->by_particle[f][t][i]);
                worst = fmax(worst, fabs(sum - found->terms[f][t]) / (absolute + 1e-9));
            }
        ley_energy_destroy(e);
    }
    print_message("sums of matrices are off by %.1e of the particles' absolute energies\n", worst);
    assert_true(worst < 2e-7);
    ley_particles_destroy(particles);
    free(position_A);
    free(found);
}

/* ---- The same bytes -------------------------------------------------------------------------- */

static void frames_have_the_same_bytes(void **state)
{
    enum { MANY = 70 };
    (void)state;
    ley_error error = {0};
    ley_energy *e = NULL;
    ley_particles *particles = some_particles(COUNT, TYPES, 4);
    float *position_A = some_positions(COUNT, MANY, 2.5, 6);
    double *once = calloc(MANY, LEY_ENERGY_TERMS * sizeof *once),
           *again = calloc(MANY, LEY_ENERGY_TERMS * sizeof *again);
    float *force = calloc((size_t)MANY * COUNT * 3, sizeof *force),
          *other = calloc((size_t)MANY * COUNT * 3, sizeof *other);
    ley_energy_options o = options_of(LEY_LENNARD_JONES_PLAIN, LEY_COULOMB_PLAIN, 0);
    ley_energy_results r = {.size = sizeof r, .terms = once, .forces = force};
    assert_ok(ley_energy_create(engine, particles, &o, &e, &error));
    assert_ok(ley_energy_run(e, MANY, position_A, NULL, &r, &error));
    for (int f = 0; f < MANY; f++) {
        ley_energy_results single = {
            .size = sizeof single, .terms = again + LEY_ENERGY_TERMS * f, .forces = other + 3 * COUNT * f};
        assert_ok(ley_energy_run(e, 1, position_A + 3 * COUNT * f, NULL, &single, &error));
    }
    assert_memory_equal(once, again, MANY * LEY_ENERGY_TERMS * sizeof *once);
    assert_memory_equal(force, other, (size_t)MANY * COUNT * 3 * sizeof *force);
    ley_energy_destroy(e);
    ley_particles_destroy(particles);
    free(position_A);
    free(once);
    free(again);
    free(force);
    free(other);
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void frames_are_named(void **state)
{
    (void)state;
    const double narrow_A[2][9] = {{30, 0, 0, 0, 30, 0, 0, 0, 30}, {30, 0, 0, 28, 14, 0, 0, 0, 30}};
    ley_error error = {0};
    ley_energy *e = NULL;
    double terms[2][LEY_ENERGY_TERMS];
    ley_particles *particles = some_particles(COUNT, TYPES, 4);
    float *position_A = some_positions(COUNT, 2, 2.5, 6);
    ley_energy_options o = options_of(LEY_LENNARD_JONES_PLAIN, LEY_COULOMB_PLAIN, 7.5);
    ley_energy_results r = {.size = sizeof r, .terms = terms[0]};
    o.forces = false;
    assert_ok(ley_energy_create(engine, particles, &o, &e, &error));
    assert_ok(ley_energy_run(e, 2, position_A, NULL, &r, &error));
    assert_int_equal(ley_energy_run(e, 2, position_A, narrow_A[0], &r, &error), LEY_ERROR_INPUT);
    assert_non_null(strstr(error.message, "frame 4: cell"));
    position_A[3 * (COUNT + 17) + 1] = NAN;
    assert_int_equal(ley_energy_run(e, 2, position_A, NULL, &r, &error), LEY_ERROR_INPUT);
    assert_non_null(strstr(error.message, "frame 4: particle 18"));
    position_A[3 * (COUNT + 17) + 1] = 2e6F;
    assert_int_equal(ley_energy_run(e, 2, position_A, NULL, &r, &error), LEY_ERROR_INPUT);
    position_A[3 * (COUNT + 17) + 1] = 2;
    assert_ok(ley_energy_run(e, 2, position_A, NULL, &r, &error));
    r.forces = (float *)terms;
    assert_int_equal(ley_energy_run(e, 2, position_A, NULL, &r, &error), LEY_ERROR_USAGE);
    ley_energy_cancel(e);
    r.forces = NULL;
    assert_int_equal(ley_energy_run(e, 2, position_A, NULL, &r, &error), LEY_CANCELLED);
    assert_ok(ley_energy_run(e, 2, position_A, NULL, &r, &error));
    ley_energy_destroy(e);
    e = NULL;
    o.coulomb = LEY_COULOMB_REACTION_FIELD;
    o.cutoff_A = 0;
    assert_int_equal(ley_energy_create(engine, particles, &o, &e, &error), LEY_ERROR_USAGE);
    assert_null(e);
    ley_particles_destroy(particles);
    free(position_A);
    ley_error_clear(&error);
}

/* What no caller should give, each refused by a sentence that names it. */
static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    ley_error error = {0};
    ley_energy *e = NULL, *cut = NULL;
    double terms[LEY_ENERGY_TERMS], cell_A[9] = {60, 0, 0, 0, 60, 0, 0, 0, 60};
    static int32_t group[COUNT];
    ley_particles *particles = some_particles(COUNT, TYPES, 4);
    float *position_A = some_positions(COUNT, 1, 2.5, 6);
    const ley_energy_options usual = options_of(LEY_LENNARD_JONES_PLAIN, LEY_COULOMB_PLAIN, 0);
#define REFUSED(status, says, change) \
    do { \
        ley_energy_options o = usual; \
        change; \
        assert_error(ley_energy_create(engine, particles, &o, &e, &error), status, says); \
        assert_null(e); \
        ley_error_clear(&error); \
    } while (0)
    REFUSED(LEY_ERROR_USAGE, "ley_energy_options is 8 bytes long", o.size = 8);
    REFUSED(LEY_ERROR_USAGE, "ley_energy_options is 100000 bytes long", o.size = 100000);
    REFUSED(LEY_ERROR_USAGE, "cutoff -9 A, must be 0 to 10000", o.cutoff_A = -9);
    REFUSED(LEY_ERROR_USAGE, "cutoff nan A", o.cutoff_A = NAN);
    REFUSED(LEY_ERROR_USAGE, "cutoff inf A", o.cutoff_A = INFINITY);
    REFUSED(LEY_ERROR_USAGE, "dielectric 0", o.dielectric = 0);
    REFUSED(LEY_ERROR_USAGE, "switch is 9 A, must be above 0 and below the cutoff, 9 A",
            (o.lennard_jones = LEY_LENNARD_JONES_SWITCHED, o.cutoff_A = o.switch_A = 9));
    REFUSED(LEY_ERROR_USAGE, "switch is 10 A",
            (o.lennard_jones = LEY_LENNARD_JONES_FORCE_SWITCHED_CHARMM, o.cutoff_A = 9, o.switch_A = 10));
    REFUSED(LEY_ERROR_USAGE, "groups is -1", o.groups = -1);
    REFUSED(LEY_ERROR_USAGE, "3 groups, and a null pointer", (o.groups = 3, o.group = NULL));
    REFUSED(LEY_ERROR_USAGE, "particle 8 is of group 3: there are 3, from 0",
            (o.groups = 3, o.group = group, group[7] = 3));
    REFUSED(LEY_ERROR_USAGE, "particle 8 is of group -2", (o.groups = 3, o.group = group, group[7] = -2));
    REFUSED(LEY_ERROR_USAGE, "unknown coulomb -1", o.coulomb = (ley_coulomb_kind)-1);
    REFUSED(LEY_ERROR_USAGE, "verify_every -1", o.verify_every = -1);
    assert_error(ley_energy_create(engine, NULL, &usual, &e, &error), LEY_ERROR_USAGE, "a null pointer");
    assert_error(ley_energy_create(engine, particles, &usual, NULL, &error), LEY_ERROR_USAGE, "a null pointer");
    assert_ok(ley_energy_create(engine, particles, NULL, &e, &error));
    ley_energy_results r = {.size = sizeof r};
    assert_error(ley_energy_run(NULL, 1, position_A, NULL, &r, &error), LEY_ERROR_USAGE, "a null pointer");
    assert_error(ley_energy_run(e, 1, position_A, NULL, NULL, &error), LEY_ERROR_USAGE, "null pointer to results");
    assert_error(ley_energy_run(e, -1, position_A, NULL, &r, &error), LEY_ERROR_USAGE, "frames is -1");
    assert_error(ley_energy_run(e, 1, NULL, NULL, &r, &error), LEY_ERROR_USAGE, "null pointer to positions");
    assert_ok(ley_energy_run(e, 0, NULL, NULL, &r, &error));
    assert_ok(ley_energy_run(e, 1, position_A, NULL, &r, &error)); /* nothing is wanted */
    r.by_particle = terms;
    assert_error(ley_energy_run(e, 1, position_A, NULL, &r, &error), LEY_ERROR_USAGE,
                 "energies by particle are wanted");
    r.size = 8;
    assert_error(ley_energy_run(e, 1, position_A, NULL, &r, &error), LEY_ERROR_USAGE, "ley_energy_results.size");
    ley_energy_options o = usual;
    o.forces = o.by_particle = false;
    o.cutoff_A = 20;
    o.coulomb = LEY_COULOMB_EWALD;
    assert_ok(ley_energy_create(engine, particles, &o, &cut, &error));
    r = (ley_energy_results){.size = sizeof r, .terms = terms};
    assert_ok(ley_energy_run(cut, 1, position_A, cell_A, &r, &error));
    assert_error(ley_energy_run(cut, 1, position_A, NULL, &r, &error), LEY_ERROR_INPUT,
                 "frame 2: Ewald's sum needs a cell");
    cell_A[4] = 39.9;
    assert_error(ley_energy_run(cut, 1, position_A, cell_A, &r, &error), LEY_ERROR_INPUT,
                 "frame 2: cell: 39.9 A wide across vector b, less than twice the cutoff, 20 A");
    cell_A[4] = NAN;
    assert_error(ley_energy_run(cut, 1, position_A, cell_A, &r, &error), LEY_ERROR_INPUT, "frame 2: cell");
    cell_A[4] = INFINITY;
    assert_error(ley_energy_run(cut, 1, position_A, cell_A, &r, &error), LEY_ERROR_INPUT, "frame 2: cell");
    cell_A[4] = 1e9;
    assert_error(ley_energy_run(cut, 1, position_A, cell_A, &r, &error), LEY_ERROR_INPUT, "more than 2^31 nodes");
    cell_A[4] = 60;
    assert_ok(ley_energy_run(cut, 1, position_A, cell_A, &r, &error));
    ley_energy_totals totals;
    ley_energy_get_totals(cut, &totals);
    assert_int_equal(totals.failed, 0);
    ley_energy_get_totals(NULL, &totals);
    assert_int_equal(totals.frames, 0);
    ley_energy_cancel(NULL);
    ley_energy_destroy(NULL);
    ley_energy_destroy(cut);
    ley_energy_destroy(e);
    ley_particles_destroy(particles);
    free(position_A);
    ley_error_clear(&error);
#undef REFUSED
}

/* Particles nearer to each other than any can be; of the last ones forces are beyond floats. */
static void overlaps_are_finite_or_named(void **state)
{
    (void)state;
    static const float apart_A[] = {0.4F, 0.03F, 0.004F, 1e-3F, 1e-4F};
    ley_error error = {0};
    ley_energy *e = NULL;
    values *found = calloc(1, sizeof *found), *right = calloc(1, sizeof *right);
    ley_particles *particles = some_particles(COUNT, TYPES, 4);
    float *position_A = some_positions(COUNT, FRAMES, 2.5, 6);
    const ley_energy_options o = options_of(LEY_LENNARD_JONES_PLAIN, LEY_COULOMB_PLAIN, 0);
    const ley_particles_arrays a = ley_particles_get(particles);
    int from = 31, to = 200; /* which have Lennard-Jones energies */
    char names[64];
    while (a.type[from] == 0)
        from++;
    while (a.type[to] == 0)
        to++;
    snprintf(names, sizeof names, "particles %d and %d", from + 1, to + 1);
    assert_ok(ley_energy_create(engine, particles, &o, &e, &error));
    for (size_t k = 0; k < sizeof apart_A / sizeof *apart_A; k++) {
        float *at = position_A + 3 * (COUNT + to), *near = position_A + 3 * (COUNT + from);
        for (int d = 0; d < 3; d++)
            at[d] = near[d] = 0;
        at[1] = apart_A[k];
        ley_energy_results r = results_of(found, &o, 0);
        make_right(particles, &o, position_A, NULL, right);
        if (apart_A[k] < 2e-3F) {
            assert_error(ley_energy_run(e, FRAMES, position_A, NULL, &r, &error), LEY_ERROR_INPUT, names);
            print_message("%s\n", error.message);
            assert_non_null(strstr(error.message, "their force is beyond what a float has"));
            ley_error_clear(&error);
            r.forces = NULL;
        }
        assert_ok(ley_energy_run(e, FRAMES, position_A, NULL, &r, &error));
        const float *force = found->forces[0][0];
        for (int i = 0; i < 3 * COUNT * FRAMES && r.forces != NULL; i++)
            assert_true(isfinite(force[i]));
        for (int t = 0; t < LEY_ENERGY_TERMS; t++)
            assert_true(fabs(found->terms[1][t] - right->terms[1][t]) <=
                        1e-5 * (1 + 10 / (double)apart_A[k]) * fabs(right->terms[1][t]) + 1e-3);
    }
    ley_energy_results r = results_of(found, &o, 0);
    position_A[3 * (COUNT + to) + 1] = 0;
    assert_int_equal(ley_energy_run(e, FRAMES, position_A, NULL, &r, &error), LEY_ERROR_INPUT);
    print_message("%s\n", error.message);
    assert_non_null(strstr(error.message, names));
    memcpy(position_A + 3 * (COUNT + to), position_A + 3 * COUNT, 3 * sizeof *position_A);
    memcpy(position_A + 3 * (COUNT + a.exclusion[0][1]), position_A + 3 * (COUNT + a.exclusion[0][0]),
           3 * sizeof *position_A); /* excluded pairs may be anywhere */
    position_A[3 * (COUNT + to)] += 1;
    assert_ok(ley_energy_run(e, FRAMES, position_A, NULL, &r, &error));
    assert_int_equal(a.exclusion[0][0], 0);
    ley_energy_destroy(e);
    ley_particles_destroy(particles);
    free(position_A);
    free(found);
    free(right);
    ley_error_clear(&error);
}

/* Pairs 1-4 and excluded ones anywhere in a skewed cell, where what rounding brings near is not the
 * nearest image. */
static void check_far_pairs(ley_coulomb_kind coulomb)
{
    static const double cell_A[9] = {44, 0, 0, 20, 42, 0, -18, 13, 42};
    enum { PARTICLES = 400 };
    static int32_t type[PARTICLES], pair[PARTICLES / 2][2];
    static double charge[PARTICLES], product[PARTICLES / 4], zero[PARTICLES / 4], right[LEY_ENERGY_TERMS];
    static float position_A[PARTICLES][3], force[PARTICLES][3];
    static double right_force[PARTICLES][3];
    uint32_t state = 5;
    ley_error error = {0};
    ley_energy *e = NULL;
    ley_particles *particles = NULL;
    double terms[LEY_ENERGY_TERMS], square = 0, worst = 0;
    for (int i = 0; i < PARTICLES; i++) {
        charge[i] = i % 2 == 0 ? 0.5 : -0.5;
        pair[i / 2][i % 2] = i;
        product[i / 4] = -0.3;
        for (int d = 0; d < 3; d++) {
            position_A[i][d] = 0;
            for (int k = 0; k < 3; k++)
                position_A[i][d] += (float)(self_test_fraction(&state) * cell_A[3 * k + d]);
        }
    }
    const ley_particles_arrays a = {.size = sizeof a,
                                    .particles = PARTICLES,
                                    .types = 1,
                                    .exclusions = PARTICLES / 4,
                                    .pairs_14 = PARTICLES / 4,
                                    .charges = charge,
                                    .type = type,
                                    .lennard_jones_a = zero,
                                    .lennard_jones_b = zero,
                                    .exclusion = (const int32_t(*)[2])pair,
                                    .pair_14 = (const int32_t(*)[2])(pair + PARTICLES / 4),
                                    .pair_14_charges = product,
                                    .pair_14_a = zero,
                                    .pair_14_b = zero};
    ley_energy_options o = options_of(LEY_LENNARD_JONES_NONE, coulomb, 9);
    o.forces = true;
    o.by_particle = false;
    assert_ok(ley_particles_create(&a, &particles, &error));
    const energy_frame frame = {&a, &o, position_A[0], cell_A};
    ley_energy_results r = {.size = sizeof r, .terms = right};
    assert_ok(energy_law_frame(&frame, &r, right_force, &error));
    r.terms = terms;
    r.forces = force[0];
    assert_ok(ley_energy_create(engine, particles, &o, &e, &error));
    assert_ok(ley_energy_run(e, 1, position_A[0], cell_A, &r, &error));
    ley_energy_totals totals;
    ley_energy_get_totals(e, &totals);
    assert_int_equal(totals.failed, 0);
    for (int i = 0; i < 3 * PARTICLES; i++) {
        const double now = right_force[i / 3][i % 3];
        square += now * now / PARTICLES;
        worst = fmax(worst, fabs((double)force[i / 3][i % 3] - now));
    }
    print_message("far pairs, Coulomb %d: forces off by %.1e\n", (int)coulomb, worst / sqrt(square));
    assert_true(worst < (coulomb == LEY_COULOMB_EWALD ? 5e-4 : 2e-5) * sqrt(square));
    assert_true(fabs(terms[LEY_ENERGY_COULOMB_14] - right[LEY_ENERGY_COULOMB_14]) < 1e-3);
    ley_energy_destroy(e);
    ley_particles_destroy(particles);
}

static void far_pairs_are_those_of_nearest_images(void **state)
{
    (void)state;
    check_far_pairs(LEY_COULOMB_REACTION_FIELD);
    check_far_pairs(LEY_COULOMB_EWALD);
}

/* Positions of frames without a cell are not rounded, however wide these are: some of the particles
 * are far from the others, and any from 0. */
static void wide_frames_lose_no_digits(void **state)
{
    (void)state;
    static const float apart_A[][2] = {{0, 1e4F}, {0, 9e5F}, {1e4F, 2e4F}, {-7e3F, -2e3F}};
    ley_error error = {0};
    ley_particles *particles = some_particles(COUNT, TYPES, 3);
    float *position_A = some_positions(COUNT, FRAMES, 2.6, 5);
    values *found = calloc(1, sizeof *found), *right = calloc(1, sizeof *right);
    for (size_t k = 0; k < sizeof apart_A / sizeof *apart_A; k++) {
        const ley_energy_options o = options_of(LEY_LENNARD_JONES_PLAIN, LEY_COULOMB_PLAIN, 0);
        ley_energy *e = NULL;
        float *moved_A = calloc(3 * COUNT * FRAMES, sizeof *moved_A);
        for (int i = 0; i < 3 * COUNT * FRAMES; i++)
            moved_A[i] = position_A[i] + apart_A[k][i / 3 % COUNT >= 2 * COUNT / 3];
        make_right(particles, &o, moved_A, NULL, right);
        ley_energy_results r = results_of(found, &o, 0);
        assert_ok(ley_energy_create(engine, particles, &o, &e, &error));
        assert_ok(ley_energy_run(e, FRAMES, moved_A, NULL, &r, &error));
        compare("wide", found, right, &o);
        ley_energy_totals totals;
        ley_energy_get_totals(e, &totals);
        assert_int_equal(totals.failed, 0);
        ley_energy_destroy(e);
        free(moved_A);
    }
    ley_particles_destroy(particles);
    free(position_A);
    free(found);
    free(right);
}

/* One particle, a few of them, and as many as blocks of kernels have, one less and one more. */
static void all_counts_are_right(void **state)
{
    static const int64_t counts[] = {1, 2, 17, 33, 64, 127, 128, 129, 256, 257};
    (void)state;
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        ley_error error = {0};
        ley_energy *e = NULL;
        double found[2][LEY_ENERGY_TERMS], right[LEY_ENERGY_TERMS];
        ley_particles *particles = some_particles(counts[k], 3, 4);
        float *position_A = some_positions(counts[k], 2, 2.5, 6);
        ley_energy_options o;
        ley_energy_options_default(&o);
        ley_energy_results r = {.size = sizeof r, .terms = found[0]};
        assert_ok(ley_energy_create(engine, particles, &o, &e, &error));
        assert_ok(ley_energy_run(e, 2, position_A, NULL, &r, &error));
        const ley_particles_arrays a = ley_particles_get(particles);
        const energy_frame frame = {&a, &o, position_A + 3 * counts[k], NULL};
        ley_energy_results own = {.size = sizeof own, .terms = right};
        assert_ok(energy_law_frame(&frame, &own, NULL, &error));
        for (int t = 0; t < LEY_ENERGY_TERMS; t++)
            assert_true(fabs(found[1][t] - right[t]) <= 1e-5 * fabs(right[t]) + 1e-4);
        ley_energy_destroy(e);
        ley_particles_destroy(particles);
        free(position_A);
    }
}

/* ---- Marks ----------------------------------------------------------------------------------- */

/* Each excluded pair, and each particle with itself, once; nothing else. */
static void marks_are_the_exclusions(void **state)
{
    (void)state;
    static const int blocks[][2] = {{16, 1}, {8, 1}, {128, 32}};
    ley_error error = {0};
    ley_particles *particles = some_particles(COUNT, TYPES, 4);
    ley_energy_options o;
    energy_problem p;
    ley_energy_options_default(&o);
    assert_ok(energy_problem_make(&p, particles, &o, &error));
    for (size_t k = 0; k < 3; k++) {
        energy_marks m;
        const int block = blocks[k][0], others = blocks[k][1];
        int64_t bits = 0;
        assert_ok(energy_marks_make(&m, &p, block, others, &error));
        for (size_t b = 0; b < m.blocks; b++)
            for (int32_t t = m.first[b]; t < m.first[b + 1]; t++) {
                assert_true(t == m.first[b] || m.tile[t] > m.tile[t - 1]);
                for (int row = 0; row < block; row++)
                    for (int other = 0; other < others; other++) {
                        const int32_t i = (int32_t)b * block + row, j = m.tile[t] * others + other,
                                      word = others == 1 ? m.mask[t] >> row & 1
                                                         : m.mask[(size_t)t * m.words + (size_t)row] >> other & 1;
                        bool is_right = i == j;
                        for (int32_t n = p.first[i]; n < p.first[i + 1]; n++)
                            is_right = is_right || p.excluded[n] == j;
                        bits += word;
                        assert_true(word == 0 || is_right);
                    }
            }
        assert_int_equal(bits, COUNT + p.first[p.padded]);
        energy_marks_destroy(&m);
    }
    energy_problem_destroy(&p);
    ley_particles_destroy(particles);
}

/* ---- Faults in kernels ----------------------------------------------------------------------- */

typedef struct look {
    const kernel_kind *kind;
    const char *name; /* of the specification */
    int right, seen;
} look;

static void build(void *context, const char *name, const void *spec)
{
    look *k = context;
    ley_error error = {0};
    dev_kernel kernel;
    if (strcmp(name, k->name) != 0)
        return;
    const ley_status status = kernel_create_anew(engine->workers[0].device, k->kind, spec, true, NULL, &kernel, &error);
    if (status == LEY_OK)
        kernel_destroy(&kernel);
    else if (status != LEY_ERROR_WRONG_RESULT)
        fail_msg("%s: %s", name, error.message);
    k->right += status == LEY_OK;
    k->seen += status == LEY_ERROR_WRONG_RESULT;
    ley_error_clear(&error);
}

/* Self-tests find what is planted in a specification; those of names with "group" are for GPUs, and
 * run on any device, those without are vectors' on CPUs. */
static void self_tests_find_faults(void **state)
{
    (void)state;
    static const struct {
        const kernel_kind *kind;
        const char *name, *from, *to;
        bool of_vectors;
    } faults[] = {
        {&pair_energies_kind, "pair_energies-plain", "gm_mask[next++]", "(gm_mask[next++] & ~8)", true},
        {&pair_energies_kind, "pair_energies-plain", "b[lane] = mask >> lane & 1", "b[lane] = mask >> lane & 3", true},
        {&pair_energies_kind, "pair_energies-plain", "int j = from; j < to;", "int j = from; j < to - 1;", true},
        {&pair_energies_kind, "pair_energies-plain", "gm_type[j] * 2", "gm_type[j] * 1", true},
        {&pair_energies_kind, "pair_energies-plain", "keep(&p->coulomb, s.coulomb);", ""},
        {&pair_energies_kind, "pair_energies-plain", "gm_position + frame * padded", "gm_position"},
        {&pair_energies_kind, "pair_energies-forces", "s->fy += t.slope * y;", "s->fy += t.slope * x;"},
        {&pair_energies_kind, "pair_energies-columns", "end_column(&p);", "", true},
        {&pair_energies_kind, "pair_energies-columns", "min(to, gm_column[column + 1])", "to", true},
        {&pair_energies_kind, "pair_energies-field", "ley_image_cell(gm_cell, frame)", "ley_image_cell(gm_cell, 0)"},
        {&pair_energies_kind, "pair_energies-field", "r2 < numbers.s0 ? t.coulomb", "r2 > 0 ? t.coulomb"},
        {&pair_energies_kind, "pair_energies-images", "ley_bring_nearest(cell, x, y, z)",
         "ley_bring_near(cell, x, y, z)"},
        {&pairs_14_kind, "pairs_14-periodic", "ley_bring_nearest(cell, &x, &y, &z);", ""},
        {&pair_energies_kind, "pair_energies-plain-group", "base < n; base += BLOCK",
         "base < n - BLOCK; base += BLOCK"},
        {&pair_energies_kind, "pair_energies-plain-group", "(size_t)next * BLOCK", "(size_t)0 * BLOCK"},
        {&pair_energies_kind, "pair_energies-plain-group", "% LEY_ENERGY_SUB_TILE == 0", "% LEY_ENERGY_SUB_TILE == 1"},
        {&pair_energies_kind, "pair_energies-plain-group", "marks[u] >> (base", "marks[0] >> (base"},
        {&pair_energies_kind, "pair_energies-plain-group", "gm_table[2 * i + 1];", "gm_table[2 * i];"},
        {&pair_energies_kind, "pair_energies-columns-group", "min(to, gm_column[column + 1] - base)", "to"},
        {&pairs_14_kind, "pairs_14-open", "frame * padded + gm_partner[k]", "gm_partner[k]"},
        {&pairs_14_kind, "pairs_14-open", "k < gm_first[own + 1]", "k < gm_first[own + 1] - 1"},
        {&pairs_14_kind, "pairs_14-open-forces", "force_z += slope * z;", "force_z += slope * y;"},
        {&lcpo_kind, "lcpo-open", "any(left > 0)", "all(left > 0)", true},
        {&lcpo_kind, "lcpo-open", "single == (real)j", "single == (real)0", true},
        {&lcpo_kind, "lcpo-open", "others += lanes[lane];", "others = lanes[lane];", true},
        {&lcpo_kind, "lcpo-periodic", "ley_bring_near(*cell, &x, &y, &z);", "", true},
        {&lcpo_kind, "lcpo-open-group", "&& j != own", ""},
        {&lcpo_kind, "lcpo-open-group", "products += of_own * sum;", "products += of_own;"},
        {&lcpo_kind, "lcpo-periodic-group", "gm_position + frame * padded", "gm_position"},
        {&group_sums_kind, "group_sums", "made.y = -lost", "made.y = 0"},
        {&listed_pairs_kind, "listed_pairs-2-1-4", "gm_done + frame) + 1, 1)", "gm_done + frame) + 1, 0)"},
        {&listed_gather_kind, "listed_gather", "done.y != terms.w", "done.y > terms.w"},
        {&listed_gather_kind, "listed_gather", "done.x != 0", "done.x > 1"},
        {&group_sums_kind, "group_sums", "i < gm_column[g + 1]", "i + 1 < gm_column[g + 1]"},
        {&group_sums_kind, "group_sums", "(which * columns + h) * padded", "(which * columns + g) * padded"},
        {&patch_pairs_kind, "patch_pairs", "if (r2 < numbers.s0",
         "if (pair != 22 && r2 < numbers.s0"},                                      /* none of these */
        {&patch_pairs_kind, "patch_pairs", "pair / 3 % 3 - 1", "pair / 3 % 2 - 1"}, /* a neighbour twice */
        {&patch_pairs_kind, "patch_pairs", "at < size ? 0.0f : 1.0f", "at < size ? 0.0f : -1.0f"},
        {&patch_pairs_kind, "patch_pairs", "b * v.x", "b * v.y"},
        {&patch_pairs_kind, "patch_pairs", "min(LEY_WG, others_end - begin)", "min(LEY_WG - 1, others_end - begin)"},
        {&patch_pairs_kind, "patch_pairs", "k < count; k++", "k < count - (count < LEY_WG); k++"},
        {&patch_pairs_kind, "patch_pairs", "begin < others_end; begin += LEY_WG",
         "begin < others_end; begin = others_end"},
        {&patch_pairs_kind, "patch_pairs", "own < end; own += LEY_WG", "own < end; own = end"},
        {&patch_pairs_kind, "patch_pairs", "own + lane < end", "own + lane < end - 1"},
        {&patch_pairs_kind, "patch_pairs", "d >= -other.w", "d >= 0"},
        {&patch_pairs_kind, "patch_pairs", "gm_vector = gm_cell + 6 * frame", "gm_vector = gm_cell"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        const bool has_vectors = engine->workers[0].info->device_class == DEV_CPU;
        if (faults[i].of_vectors && !has_vectors)
            continue;
        char name[64]; /* groups are the only form of cards */
        snprintf(name, sizeof name, "%s", faults[i].name);
        char *suffix = strstr(name, "-group");
        if (!has_vectors && suffix != NULL)
            *suffix = '\0';
        look k = {.kind = faults[i].kind, .name = name};
        support_plant_fault(k.kind->name, faults[i].from, faults[i].to);
        kernel_specs(k.kind, engine->workers[0].info, KERNEL_ALL, build, &k);
        if (k.seen == 0 || k.right > 0)
            fail_msg("%s: '%s' is planted: %d seen, %d not", k.name, faults[i].from, k.seen, k.right);
    }
    unsetenv("LEYDEN_KERNEL_DIR");
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.name = "energies", .opened = &engine), energies_are_those_of_the_law,
                     all_terms_are_those_of_the_law, tails_and_surfaces_are_those_of_the_law,
                     areas_are_those_of_the_law, cutoffs_are_those_of_the_law, matrices_add_up_to_terms,
                     frames_have_the_same_bytes, frames_are_named, what_makes_no_sense_is_refused,
                     overlaps_are_finite_or_named, far_pairs_are_those_of_nearest_images, wide_frames_lose_no_digits,
                     all_counts_are_right, marks_are_the_exclusions, self_tests_find_faults);
}
