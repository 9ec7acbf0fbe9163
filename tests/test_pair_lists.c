/* Lists of pairs within the cutoff, beside the law: cells of all shapes, edges, crowds, the same
 * bytes, and faults that are planted in their kernels, in all forms of these. */
#include "some_energies.h"
#include "support.h"

#include "energy/listed.h"
#include "engine/engine.h"
#include "law/energy.h"

static ley_engine *engine;

/* Enough for lists; clusters of 8, 16 and 32 are not all full. */
enum { COUNT = 2501, TYPES = 9, FRAMES = 2 };

typedef struct case_results {
    double by_particle[FRAMES][LEY_ENERGY_TERMS][COUNT], terms[FRAMES][LEY_ENERGY_TERMS];
    float forces[FRAMES][COUNT][3];
} case_results;

static ley_energy_options options_of(ley_lennard_jones_kind lj, ley_coulomb_kind coulomb, double cutoff_A)
{
    ley_energy_options o;
    ley_energy_options_default(&o);
    o.lennard_jones = lj;
    o.coulomb = coulomb;
    o.cutoff_A = cutoff_A;
    o.switch_A = 0.8 * cutoff_A;
    o.reaction_dielectric = 60;
    o.forces = o.by_particle = true;
    return o;
}

static void run(ley_engine *on, const ley_particles *particles, const ley_energy_options *o, int frames,
                const float *position_A, const double *cell_A, case_results *found, ley_energy_totals *totals)
{
    ley_error error = {0};
    ley_energy *e = NULL;
    ley_energy_results r = {.size = sizeof r,
                            .terms = found->terms[0],
                            .by_particle = found->by_particle[0][0],
                            .forces = found->forces[0][0]};
    assert_ok(ley_energy_create(on, particles, o, &e, &error));
    assert_ok(ley_energy_run(e, frames, position_A, cell_A, &r, &error));
    ley_energy_get_totals(e, totals);
    ley_energy_destroy(e);
}

/* What energies may be off by that are sums of integers, kcal/mol. */
static double by_integers;

/* Of each particle, and of each force. */
static void compare(const char *what, const ley_particles *particles, const ley_energy_options *o, int frames,
                    const float *position_A, const double *cell_A, const case_results *found)
{
    const ley_particles_arrays a = ley_particles_get(particles);
    int64_t *all = calloc(COUNT, sizeof *all);
    double(*energy)[LEY_ENERGY_TERMS] = calloc(COUNT, sizeof *energy), (*force)[3] = calloc(COUNT, sizeof *force),
    (*absolute)[LEY_ENERGY_TERMS] = calloc(COUNT, sizeof *absolute);
    ley_error error = {0};
    double off = 0, worst = 0;
    for (int i = 0; i < COUNT; i++)
        all[i] = i;
    for (int f = 0; f < frames; f++) {
        const energy_frame frame = {&a, o, position_A + 3 * COUNT * f, cell_A != NULL ? cell_A + 9 * f : NULL};
        double square = 0, most = 0, scale[LEY_ENERGY_TERMS] = {0};
        assert_ok(energy_law_particles(&frame, NULL, NULL, COUNT, all, energy, absolute, force, &error));
        for (int i = 0; i < COUNT; i++)
            for (int t = 0; t < LEY_ENERGY_TERMS; t++)
                scale[t] += absolute[i][t] / COUNT;
        for (int i = 0; i < COUNT; i++) {
            for (int t = 0; t < LEY_ENERGY_TERMS; t++)
                off = fmax(off, (fabs(found->by_particle[f][t][i] - energy[i][t]) - by_integers) /
                                    (absolute[i][t] + 0.1 * scale[t] + 1e-6));
            for (int d = 0; d < 3; d++) {
                square += force[i][d] * force[i][d];
                most = fmax(most, fabs((double)found->forces[f][i][d] - force[i][d]));
            }
        }
        worst = fmax(worst, most / sqrt(square / COUNT));
    }
    print_message("%s: energies off by %.1e, forces by %.1e\n", what, off, worst);
    assert_true(off < 3e-5); /* places are rounded, and 1/r^12 is steep */
    assert_true(worst < 1e-4);
    free(all);
    free(energy);
    free(force);
    free(absolute);
}

static void check(const char *what, ley_lennard_jones_kind lj, ley_coulomb_kind coulomb, double cutoff_A,
                  const float *position_A, const double *cell_A)
{
    ley_particles *particles = some_particles(COUNT, TYPES, 3);
    case_results *found = calloc(1, sizeof *found);
    const ley_energy_options o = options_of(lj, coulomb, cutoff_A);
    ley_energy_totals totals;
    run(engine, particles, &o, FRAMES, position_A, cell_A, found, &totals);
    compare(what, particles, &o, FRAMES, position_A, cell_A, found);
    assert_int_equal(totals.failed, 0);
    free(found);
    ley_particles_destroy(particles);
}

/* ---- Cells ----------------------------------------------------------------------------------- */

/* The kind of Coulomb energies that is tried with one of Lennard-Jones'. */
static ley_coulomb_kind coulomb_of(int lj)
{
    return lj < (int)LEY_COULOMB_EWALD ? (ley_coulomb_kind)(LEY_COULOMB_EWALD - 1 - lj) : LEY_COULOMB_SHIFTED;
}

static bool is_tried(int lj)
{
    return !support_is_quick() || lj % 3 == 1;
}

static void all_kinds_are_those_of_the_law(void **state)
{
    (void)state;
    float *position_A = some_positions(COUNT, FRAMES, 2.6, 5);
    const double w = some_width_A(COUNT, 2.6) + 1,
                 box[2][9] = {{w, 0, 0, 0, w, 0, 0, 0, w}, {w + 1, 0, 0, 3, w, 0, -4, 5, w + 0.4}};
    for (int lj = 0; lj < (int)LEY_LENNARD_JONES_KINDS; lj++) {
        const ley_coulomb_kind coulomb = coulomb_of(lj);
        char what[64];
        if (!is_tried(lj))
            continue;
        snprintf(what, sizeof what, "Lennard-Jones %d, Coulomb %d", lj, (int)coulomb);
        check(what, (ley_lennard_jones_kind)lj, coulomb, 9, position_A, lj % 2 == 0 ? NULL : box[0]);
    }
    free(position_A);
}

/* Particles outside the cell, each elsewhere; cells just over twice the cutoff; crowded ones; all
 * particles in a corner of a large one. */
static void all_cells_are_right(void **state)
{
    (void)state;
    float *position_A = some_positions(COUNT, FRAMES, 2.6, 5), *crowd_A = some_positions(COUNT, FRAMES, 1.5, 5);
    const double w = some_width_A(COUNT, 2.6) + 0.5, c = some_width_A(COUNT, 1.5) + 0.5;
    const double skewed[2][9] = {{w, 0, 0, w / 2, w, 0, -w / 3, w / 2, w}, {w, 0, 0, 0, w, 0, 0.4 * w, 0, w}};
    const double crowded[2][9] = {{c, 0, 0, c / 2, c, 0, c / 2, c / 2, c}, {c, 0, 0, 0, c, 0, 0, 0, c}};
    const double large[2][9] = {{300, 0, 0, 0, 200, 0, 0, 0, 500}, {300, 0, 0, 100, 300, 0, 0, 0, 500}};
    check("crowded, just over twice the cutoff", LEY_LENNARD_JONES_SHIFTED, LEY_COULOMB_SHIFTED, 9.35, crowd_A,
          crowded[0]);
    check("a crowd without a cell", LEY_LENNARD_JONES_SHIFTED, LEY_COULOMB_SHIFTED, 12, crowd_A, NULL);
    check("a large cell", LEY_LENNARD_JONES_SWITCHED, LEY_COULOMB_REACTION_FIELD, 9, position_A, large[0]);
    for (int i = 0; i < FRAMES * COUNT; i++)
        for (int d = 0; d < 3; d++)
            for (int k = 0; k < 3; k++)
                position_A[3 * i + d] += (float)((i * (k + 3) % 5 - 2) * skewed[i / COUNT][3 * k + d]);
    check("skewed, particles outside", LEY_LENNARD_JONES_SWITCHED_CHARMM, LEY_COULOMB_SHIFTED_CHARMM, 11.5, position_A,
          skewed[0]);
    free(position_A);
    free(crowd_A);
}

/* ---- Forms of rows --------------------------------------------------------------------------- */

static const list_tiles_spec *forced; /* NULL: the device's own */

list_tiles_spec __real_lists_spec_for(const dev_info *info);
list_tiles_spec __wrap_lists_spec_for(const dev_info *info);

list_tiles_spec __wrap_lists_spec_for(const dev_info *info)
{
    return forced != NULL ? *forced : __real_lists_spec_for(info);
}

/* Kernels of this form, of which there is none where sub-groups are missing. */
static bool is_built(const list_tiles_spec *spec, const ley_energy_options *o)
{
    dev *device = engine->workers[0].device;
    const listed_pairs_spec pairs = listed_spec_for(device->info, spec, o, TYPES + 1);
    dev_kernel kernel[2] = {{.program = NULL}};
    ley_error error = {0};
    const bool is_there = kernel_create(device, &list_tiles_kind, spec, NULL, NULL, &kernel[0], &error) == LEY_OK &&
                          kernel_create(device, &listed_pairs_kind, &pairs, NULL, NULL, &kernel[1], &error) == LEY_OK;
    if (!is_there)
        print_message("%s\n", error.message);
    kernel_destroy(&kernel[0]);
    kernel_destroy(&kernel[1]);
    ley_error_clear(&error);
    return is_there;
}

/* Work-groups, as cards have them, on any device; and sub-groups that a device says it has and has
 * not, in whose place local memory is taken. */
static void all_forms_are_right(void **state)
{
    (void)state;
    const dev_info *info = engine->workers[0].info;
    const bool has = info->sub_groups != LEY_SUB_GROUPS_NONE,
               has_standard = has && strncmp(info->version, "OpenCL 3", 8) == 0;
    const struct {
        const char *what;
        bool full, has;
        int sub_groups;
    } forms[] = {{"work-groups, all pairs", true, true, LEY_SUB_GROUPS_NONE},
                 {"work-groups, each pair in one row", false, true, LEY_SUB_GROUPS_NONE},
                 {"sub-groups", false, has, has ? info->sub_groups : LEY_SUB_GROUPS_CL12},
                 {"the standard's sub-groups", false, has_standard, LEY_SUB_GROUPS_KHR}};
    float *position_A = some_positions(COUNT, FRAMES, 1.5, 5);
    const double w = some_width_A(COUNT, 1.5) + 0.5,
                 crowded[2][9] = {{w, 0, 0, w / 2, w, 0, w / 2, w / 2, w}, {w, 0, 0, 0, w, 0, 0, 0, w}};
    const ley_energy_options o = options_of(LEY_LENNARD_JONES_SHIFTED, LEY_COULOMB_SHIFTED, 9.35);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const list_tiles_spec spec = lists_spec_of_groups(forms[i].full, forms[i].sub_groups);
        forced = &spec;
        assert_true(is_built(&spec, &o) || !forms[i].has);
        check(forms[i].what, o.lennard_jones, o.coulomb, o.cutoff_A, position_A, crowded[0]);
        forced = NULL;
    }
    free(position_A);
}

/* What integers of 64 bits hardly have, in the form that adds these: a gas whose energies are near
 * 0; two particles so near to each other that the host computes the frame, and no device has
 * failed. */
static void integers_have_gases_and_overlaps(void **state)
{
    (void)state;
    const list_tiles_spec spec = lists_spec_of_groups(false, LEY_SUB_GROUPS_NONE);
    float *position_A = some_positions(COUNT, FRAMES, 9, 5);
    const double w = some_width_A(COUNT, 9) + 1,
                 cells[FRAMES][9] = {{w, 0, 0, 0, w, 0, 0, 0, w}, {w, 0, 0, 0, w, 0, 0, 0, w}};
    ley_particles *particles = some_particles(COUNT, TYPES, 3);
    case_results *found = calloc(1, sizeof *found);
    ley_energy_options o = options_of(LEY_LENNARD_JONES_SHIFTED, LEY_COULOMB_SHIFTED_CHARMM, 9.35);
    ley_energy_totals totals;
    o.verify_every = 1;
    forced = &spec;
    run(engine, particles, &o, FRAMES, position_A, cells[0], found, &totals);
    assert_int_equal(totals.failed, 0);
    memcpy(position_A + 3 * 400, position_A + 3 * 1700, 3 * sizeof *position_A);
    position_A[3 * 400] += 0.2F;
    run(engine, particles, &o, FRAMES, position_A, cells[0], found, &totals);
    forced = NULL;
    assert_int_equal(totals.failed, 0);
    assert_int_equal(totals.checked_frames, FRAMES - 1);
    by_integers = 32 * 0x1p-24;
    compare("an overlap", particles, &o, FRAMES, position_A, cells[0], found);
    by_integers = 0;
    ley_particles_destroy(particles);
    free(found);
    free(position_A);
}

/* ---- Edges ----------------------------------------------------------------------------------- */

/* Particles of one type, two and two: at this distance from each other, and far from all others. */
typedef struct twos {
    ley_particles *particles;
    float *position_A;
} twos;

static twos make_twos(double charge_e, double lennard_jones_a, double lennard_jones_b, double (*distance_A)(int pair))
{
    ley_particles_arrays a = {.size = sizeof a, .particles = COUNT, .types = 1};
    double *charge = calloc(COUNT, sizeof *charge);
    int32_t *type = calloc(COUNT, sizeof *type);
    twos made = {NULL, calloc(3 * COUNT, sizeof *made.position_A)};
    ley_error error = {0};
    for (int i = 0; i < COUNT; i++) {
        const int pair = i / 2, at[3] = {pair % 12 - 6, pair / 12 % 12 - 6, pair / 144 - 4};
        charge[i] = charge_e;
        for (int d = 0; d < 3; d++)
            made.position_A[3 * i + d] = (float)(20 * at[d]);
        if (i % 2 != 0)
            made.position_A[3 * i + pair % 3] += (float)distance_A(pair);
    }
    a.charges = charge;
    a.type = type;
    a.lennard_jones_a = &lennard_jones_a;
    a.lennard_jones_b = &lennard_jones_b;
    assert_ok(ley_particles_create(&a, &made.particles, &error));
    free(charge);
    free(type);
    return made;
}

static void end_twos(twos *t)
{
    ley_particles_destroy(t->particles);
    free(t->position_A);
}

static const double edge_A = 8;

static double at_the_edge(int pair)
{
    return edge_A + (pair % 2 != 0 ? 1 : -1) * (1e-4 + 1e-6 * pair);
}

/* Each pair is a little nearer or further than the cutoff. */
static void edges_are_sharp(void **state)
{
    (void)state;
    case_results *found = calloc(1, sizeof *found);
    ley_energy_totals totals;
    int within = 0;
    twos t = make_twos(1, 1e6, 1e6, at_the_edge);
    const ley_energy_options o = options_of(LEY_LENNARD_JONES_PLAIN, LEY_COULOMB_PLAIN, edge_A);
    run(engine, t.particles, &o, 1, t.position_A, NULL, found, &totals);
    compare("edges", t.particles, &o, 1, t.position_A, NULL, found);
    for (int i = 0; i < COUNT; i++)
        within += found->by_particle[0][LEY_ENERGY_COULOMB][i] != 0 ? 1 : 0;
    assert_int_equal(within, 2 * ((COUNT / 2 + 1) / 2)); /* every other pair; the last particle is alone */
    end_twos(&t);
    free(found);
}

static double in_the_switch(int pair)
{
    return edge_A * (0.78 + 0.215 * pair / (COUNT / 2));
}

/* Of repulsion alone, and of attraction alone, which others do not hide. */
static void switches_are_those_of_the_law(void **state)
{
    (void)state;
    case_results *found = calloc(1, sizeof *found);
    ley_energy_totals totals;
    for (int k = 0; k < 2 * (int)LEY_LENNARD_JONES_KINDS; k++) {
        twos t = make_twos(0, k % 2 == 0 ? 1e12 : 0, k % 2 != 0 ? 1e6 : 0, in_the_switch);
        const ley_energy_options o = options_of((ley_lennard_jones_kind)(k / 2), coulomb_of(k / 2), edge_A);
        if (o.lennard_jones != LEY_LENNARD_JONES_NONE && is_tried(k / 2)) {
            run(engine, t.particles, &o, 1, t.position_A, NULL, found, &totals);
            assert_int_equal(totals.failed, 0);
            compare("switches", t.particles, &o, 1, t.position_A, NULL, found);
        }
        end_twos(&t);
    }
    free(found);
}

/* Of a crystal many pairs are at the cutoff, each of which may count or not. */
static void crystals_pass(void **state)
{
    (void)state;
    enum { SIDE = 6, IONS = SIDE * SIDE * SIDE };
    static const double apart_A = 2.82, w = SIDE * 2.82, cell_A[9] = {w, 0, 0, 0, w, 0, 0, 0, w}, a = 1e5, b = 100;
    double charge[IONS], terms[LEY_ENERGY_TERMS];
    int32_t type[IONS] = {0};
    float position_A[IONS][3], force[IONS][3];
    ley_particles_arrays of = {.size = sizeof of, .particles = IONS, .types = 1, .charges = charge, .type = type};
    ley_energy_results r = {.size = sizeof r, .terms = terms, .forces = force[0]};
    ley_particles *particles;
    ley_error error = {0};
    for (int i = 0; i < IONS; i++) {
        const int at[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
        charge[i] = (at[0] + at[1] + at[2]) % 2 != 0 ? 1 : -1;
        for (int d = 0; d < 3; d++)
            position_A[i][d] = (float)(apart_A * at[d] + 0.113);
    }
    of.lennard_jones_a = &a;
    of.lennard_jones_b = &b;
    assert_ok(ley_particles_create(&of, &particles, &error));
    for (int kind = LEY_COULOMB_PLAIN; kind <= LEY_COULOMB_SHIFTED; kind++) {
        ley_energy_options o = options_of(LEY_LENNARD_JONES_PLAIN, (ley_coulomb_kind)kind, 3 * apart_A);
        ley_energy_totals totals;
        ley_energy *e = NULL;
        o.by_particle = false;
        assert_ok(ley_energy_create(engine, particles, &o, &e, &error));
        assert_ok(ley_energy_run(e, 1, position_A[0], cell_A, &r, &error));
        ley_energy_get_totals(e, &totals);
        ley_energy_destroy(e);
        assert_int_equal(totals.failed, 0);
    }
    ley_particles_destroy(particles);
}

/* ---- The same bytes -------------------------------------------------------------------------- */

static void frames_have_the_same_bytes(void **state)
{
    (void)state;
    enum { MANY = 6 };
    float *position_A = some_positions(COUNT, MANY, 2.6, 8);
    ley_particles *particles = some_particles(COUNT, TYPES, 3);
    case_results *once = calloc(1, sizeof *once), *again = calloc(1, sizeof *again);
    ley_energy_options o = options_of(LEY_LENNARD_JONES_PLAIN, LEY_COULOMB_SHIFTED, 9);
    ley_energy_totals totals;
    run(engine, particles, &o, FRAMES, position_A, NULL, once, &totals);
    for (int f = 0; f < MANY; f++) {
        run(engine, particles, &o, 1, position_A + 3 * COUNT * (f % FRAMES), NULL, again, &totals);
        assert_memory_equal(again->by_particle[0], once->by_particle[f % FRAMES], sizeof once->by_particle[0]);
        assert_memory_equal(again->forces[0], once->forces[f % FRAMES], sizeof once->forces[0]);
    }
    ley_particles_destroy(particles);
    free(position_A);
    free(once);
    free(again);
}

/* ---- Faults ---------------------------------------------------------------------------------- */

typedef struct fault {
    const char *kernel, *from, *to;
} fault;

/* Whichever form lists have. */
static const fault faults[] = {
    {"list_bins", "y ^= x;", "y ^= z;"},                                         /* another curve */
    {"list_bins", "LEY_ATOMIC_EXCHANGE(&gm_head[first_bin + bin], i + 1)", "0"}, /* lists of one */
    {"list_first", "before += gm_count[frame + i];", "before += gm_count[i];"},
    {"list_place", "other - 1 < i ? 1 : 0", "other - 1 <= i ? 1 : 0"},
    {"list_box", "ley_box_half(low.x, high.x)", "ley_box_half(low.y, high.y)"},
    {"list_blocks", "i < LEY_LIST_BLOCK; i++", "i < LEY_LIST_BLOCK - 1; i++"},
    {"list_tiles", "3 * n_v + 9 * n_w", "3 * n_w + 9 * n_v"},
    {"list_tiles", "slot / LEY_CLUSTER == cluster", "slot / LEY_CLUSTER == cluster && slot % LEY_CLUSTER != 3"},
    {"listed_gather", "sum[0] = sum[1] = ", "sum[0] = "},
};

/* No device has such a kernel: the host computes the frames. */
static void try_fault(const fault *f, const float *position_A, const double *cell_A, const case_results *right)
{
    ley_particles *particles = some_particles(COUNT, TYPES, 3);
    case_results *found = calloc(1, sizeof *found);
    const ley_energy_options o = options_of(LEY_LENNARD_JONES_PLAIN, LEY_COULOMB_SHIFTED, 9);
    ley_energy_totals totals;
    ley_engine *faulty;
    ley_error error = {0};
    support_fresh_cache();
    support_plant_fault(f->kernel, f->from, f->to);
    assert_ok(ley_engine_create("opencl:0", &faulty, &error));
    run(faulty, particles, &o, 1, position_A, cell_A, found, &totals);
    print_message("%s, %s: %d failed\n", f->kernel, f->to, totals.failed);
    assert_int_equal(totals.failed, 1);
    for (int t = 0; t < LEY_ENERGY_TERMS; t++)
        assert_true(fabs(found->terms[0][t] - right->terms[0][t]) <= 3e-5 * fabs(right->terms[0][t]) + 1e-6);
    ley_engine_destroy(faulty);
    unsetenv("LEYDEN_KERNEL_DIR");
    ley_particles_destroy(particles);
    free(found);
}

static void faults_are_found(void **state)
{
    (void)state;
    float *position_A = some_positions(COUNT, 1, 2.6, 5);
    const double w = some_width_A(COUNT, 2.6) + 1, box[9] = {w, 0, 0, 0, w, 0, 0, 0, w};
    ley_particles *particles = some_particles(COUNT, TYPES, 3);
    case_results *right = calloc(1, sizeof *right);
    const ley_energy_options o = options_of(LEY_LENNARD_JONES_PLAIN, LEY_COULOMB_SHIFTED, 9);
    ley_energy_totals totals;
    run(engine, particles, &o, 1, position_A, box, right, &totals);
    assert_int_equal(totals.failed, 0);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i += support_is_quick() ? 3 : 1)
        try_fault(&faults[i], position_A, box, right);
    ley_particles_destroy(particles);
    free(position_A);
    free(right);
}

/* ---- Faults of each form --------------------------------------------------------------------- */

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

/* Self-tests find what is planted: of vectors on processors, of groups with rows of both kinds,
 * listed_pairs-1 and -2, on any device. */
static void self_tests_find_faults(void **state)
{
    (void)state;
    static const struct {
        const kernel_kind *kind;
        const char *name, *from, *to;
        bool of_vectors;
    } planted[] = {
        {&list_tiles_kind, "list_tiles-group", "~((2u << lane) - 1)", "~((1u << lane) - 1)"}, /* with itself */
        {&list_tiles_kind, "list_tiles-group-full", "~(1u << lane)", "~(2u << lane)"},
        {&list_tiles_kind, "list_tiles", "1 << LEY_CLUSTER) - 1 - (found ? 1 << k : 0)", "1 << LEY_CLUSTER) - 1", true},
        {&list_tiles_kind, "list_tiles-group", "~((2u << lane) - 1)", "~((4u << lane) - 1)"}, /* without the next one */
        {&list_tiles_kind, "list_tiles-group", "further < candidates", "further < candidates - 1"},
        {&list_tiles_kind, "list_tiles-group", "candidates / LEY_LIST_BLOCK + 3", "candidates / LEY_LIST_BLOCK"},
        {&list_tiles_kind, "list_tiles-group-full", "votes & ((1u << lane) - 1)", "votes & ((2u << lane) - 1)"},
        {&list_tiles_kind, "list_tiles-group-full", "widest < (real)0.49999f ? n_u", "widest < (real)2.0f ? n_u"},
        {&list_tiles_kind, "list_tiles-group", "return x == x && farthest", "return x != middle.x && farthest"},
        {&list_tiles_kind, "list_tiles", "sm_own, reach * reach)", "sm_own, 0.8f * reach * reach)", true},
        {&list_tiles_kind, "list_tiles", "begin < r->blocks; begin", "begin + LEY_WIDTH < r->blocks; begin", true},
        {&list_tiles_kind, "list_tiles", "(block + 1) * LEY_LIST_BLOCK, r", "block * LEY_LIST_BLOCK + 8, r", true},
        {&list_tiles_kind, "list_tiles", "? dx * dx + dy * dy + dz * dz : (real)0", "? dx * dx : (real)9e9f", true},
        {&list_first_kind, "list_first-group", "i < part && is_second", "i < part - 1 && is_second"},
        {&list_first_kind, "list_first-group", "frame_parts + part] = sum", "part] = sum"},
        {&list_move_kind, "list_move", "n_v * v.x + n_w * w.x)", "n_v * v.x)"},
        {&list_move_kind, "list_move", "if (particle < 0)", "if (particle < 1)"},
        {&list_tiles_kind, "list_tiles-group", "|| r->row < middle_row ?",
         "|| r->row <= middle_row ?"}, /* of even ones */
        {&list_tiles_kind, "list_tiles-group", "place < r->room_near)",
         "place < r->room_near - 1)"}, /* a row just full */
        {&list_tiles_kind, "list_tiles-group-full", "if (r.near > room.y)", "if (r.near > room.y + 1)"},
        {&list_move_kind, "list_move", "gm_slot[frame * padded + particle] = slot;", ""},
        {&listed_gather_kind, "listed_gather", "|| gm_own[frame * slots + slot] != i", ""},
        {&listed_pairs_kind, "listed_pairs-0-1-4", "(float)(bits >> i & 1)", "1.0f", true}, /* unheeded masks */
        {&listed_pairs_kind, "listed_pairs-0-1-4", "+ STRETCH && k", "+ STRETCH - 1 && k", true},
        {&listed_pairs_kind, "listed_pairs-0-1-4", "s->x += slope * dx", "s->x += slope * dy", true},
        {&listed_pairs_kind, "listed_pairs-1-1-4", "(marks & 1u << u * STEPS) != 0", "true"},
        {&listed_pairs_kind, "listed_pairs-1-1-4", "own->x += slope * dx;", "own->x += slope * dy;"},
        {&listed_pairs_kind, "listed_pairs-2-1-4", "bits << STEPS) >> place", "bits << STEPS) >> 0"},
        {&listed_pairs_kind, "listed_pairs-2-1-4", "gm_own + 2 * slots, scale", "gm_own + 3 * slots, scale"},
    };
    const bool has_vectors = support_has_vectors(engine);
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i += support_is_quick() && i >= 3 ? 5 : 1) {
        if (planted[i].of_vectors && !has_vectors)
            continue;
        look k = {.kind = planted[i].kind, .name = planted[i].name};
        support_plant_fault(k.kind->name, planted[i].from, planted[i].to);
        kernel_specs(k.kind, engine->workers[0].info, KERNEL_ALL, build, &k);
        print_message("%s, %s: %d seen\n", k.name, planted[i].to, k.seen);
        if (k.seen == 0 || k.right > 0)
            fail_msg("%s: '%s' is planted: %d seen, %d not", k.name, planted[i].from, k.seen, k.right);
    }
    unsetenv("LEYDEN_KERNEL_DIR");
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.name = "pair lists", .opened = &engine), all_kinds_are_those_of_the_law,
                     all_cells_are_right, all_forms_are_right, integers_have_gases_and_overlaps, edges_are_sharp,
                     crystals_pass, switches_are_those_of_the_law, frames_have_the_same_bytes, faults_are_found,
                     self_tests_find_faults);
}
