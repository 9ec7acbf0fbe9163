/* Generalised Born on every device of this machine against the law, in every model: with salt and
 * without, with cutoffs, tapers and cells; near and far pairs, spheres within others and none at
 * all; batches of frames, energies between groups, OpenMM's energy of a protein. */
#include "support.h"

#include "energy/born_kernel.h"
#include "energy/device_part.h"
#include "engine/engine.h"
#include "law/energy.h"
#include "numerics/cell.h"

static ley_engine *engine;

/* ---- Particles ------------------------------------------------------------------------------- */

enum { MOST_FRAMES = 5, MOST_GROUPS = 4 };

typedef struct molecule {
    int64_t count;
    double *charge, *radius, *screen, (*factor)[3], no_a[1], no_b[1];
    int32_t *type, *group;
    float (*frame)[3]; /* [MOST_FRAMES][count] */
    ley_particles *particles;
} molecule;

static molecule molecule_of(int64_t count)
{
    const size_t n = (size_t)count;
    molecule m = {.count = count,
                  .charge = calloc(n, sizeof *m.charge),
                  .radius = calloc(n, sizeof *m.radius),
                  .screen = calloc(n, sizeof *m.screen),
                  .factor = calloc(n, sizeof *m.factor),
                  .type = calloc(n, sizeof *m.type),
                  .group = calloc(n, sizeof *m.group),
                  .frame = calloc(MOST_FRAMES * n, sizeof *m.frame)};
    return m;
}

static void finish(molecule *m)
{
    ley_error error = {0};
    const ley_particles_arrays a = {.size = sizeof a,
                                    .particles = m->count,
                                    .types = 1,
                                    .charges = m->charge,
                                    .type = m->type,
                                    .lennard_jones_a = m->no_a,
                                    .lennard_jones_b = m->no_b,
                                    .born_radii = m->radius,
                                    .born_screens = m->screen,
                                    .born_factors = (const double(*)[3])m->factor};
    assert_ok(ley_particles_create(&a, &m->particles, &error));
}

static void end(molecule *m)
{
    ley_particles_destroy(m->particles);
    free(m->charge);
    free(m->radius);
    free(m->screen);
    free(m->factor);
    free(m->type);
    free(m->group);
    free(m->frame);
}

/* As dense as a protein: a jittered lattice, in blocks along which a chain would run. Some have
 * neither charge nor sphere. */
static molecule globule(int64_t count, unsigned seed)
{
    static const double radii[] = {1.2, 1.3, 1.5, 1.55, 1.7, 1.8}, screens[] = {0.85, 0.85, 0.85, 0.79, 0.72, 0.96},
                        apart_A = 2.15;
    molecule m = molecule_of(count);
    const int64_t side = (int64_t)ceil(cbrt((double)count) / 2) * 2;
    for (int64_t i = 0; i < count; i++) {
        const int64_t block = i / 8, half = side / 2, within[3] = {i % 2, i / 2 % 2, i / 4 % 2},
                      at[3] = {2 * (block % half) + within[0], 2 * (block / half % half) + within[1],
                               2 * (block / half / half) + within[2]};
        const int kind = (int)(support_uniform(&seed) * 6);
        const bool is_there = support_uniform(&seed) > 0.02;
        m.radius[i] = is_there ? radii[kind] : 0;
        m.screen[i] = screens[kind];
        m.charge[i] = is_there ? support_uniform(&seed) - 0.5 : 0;
        m.group[i] = (int32_t)(i * MOST_GROUPS / count) - 1;
        m.factor[i][0] = 0.5 + 0.4 * support_uniform(&seed);
        m.factor[i][1] = 0.3 + 0.3 * support_uniform(&seed);
        m.factor[i][2] = 0.2 + 0.2 * support_uniform(&seed);
        for (int f = 0; f < MOST_FRAMES; f++)
            for (int d = 0; d < 3; d++)
                m.frame[f * count + i][d] =
                    (float)(apart_A * ((double)at[d] + 0.7 * (support_uniform(&seed) - 0.5)) + 20 * (d + 1));
    }
    finish(&m);
    return m;
}

/* ---- What devices compute -------------------------------------------------------------------- */

typedef struct outcome {
    double *energy, *radius, *slope, (*force)[3]; /* [frames][count] */
    double *matrix;                               /* [frames][groups][groups]; NULL: not wanted */
} outcome;

static void outcome_end(outcome *o)
{
    free(o->energy);
    free(o->radius);
    free(o->slope);
    free(o->force);
    free(o->matrix);
}

static outcome outcome_of(const molecule *m, const ley_energy_options *o, int frames)
{
    const size_t n = (size_t)m->count * (size_t)frames, groups = (size_t)o->groups;
    outcome made = {.energy = calloc(n, sizeof *made.energy),
                    .radius = calloc(n, sizeof *made.radius),
                    .slope = calloc(n, sizeof *made.slope),
                    .force = calloc(n, sizeof *made.force),
                    .matrix = calloc(groups * groups * (size_t)frames + 1, sizeof *made.matrix)};
    return made;
}

static ley_energy_options options_of(ley_born_kind kind)
{
    ley_energy_options o;
    ley_energy_options_default(&o);
    o.lennard_jones = LEY_LENNARD_JONES_NONE;
    o.coulomb = LEY_COULOMB_NONE;
    o.born = kind;
    o.forces = true;
    return o;
}

/* The matrix is what batches have of it before it is summed over a group. */
static void take_matrix(energy_part *part, energy_batch *b, const molecule *m, const ley_energy_options *o,
                        const energy_problem *p, outcome *made)
{
    ley_error error = {0};
    dev_staging *back = NULL;
    const size_t groups = (size_t)p->options.groups, columns = groups * p->padded,
                 bytes = (size_t)b->frames * LEY_COLUMN_COUNT * columns * sizeof(float);
    assert_ok(arena_staging(&part->arena, bytes, &back, &error));
    sequence_begin(&b->sequence, &part->flight, NULL);
    sequence_read(&b->sequence, b->parts.buffer, 0, back, bytes);
    assert_ok(sequence_finish(&b->sequence, &error));
    const float *found = back->bytes;
    for (int f = 0; f < b->frames; f++)
        for (int64_t i = 0; i < m->count; i++)
            for (int32_t h = 0; h < o->groups && m->group[i] >= 0; h++)
                made->matrix[(((int64_t)b->first + f) * o->groups + m->group[i]) * o->groups + h] +=
                    (double)found[(((size_t)f * LEY_COLUMN_COUNT + LEY_COLUMN_BORN) * groups + (size_t)h) * p->padded +
                                  (size_t)p->place[i]];
}

static void take(energy_part *part, energy_batch *b, const molecule *m, const ley_energy_options *o,
                 const energy_problem *p, outcome *made)
{
    const float *energy = b->energy_back->bytes, *radius = b->radius_back->bytes, *slope = b->slope_back->bytes,
                *force = o->forces ? b->force_back->bytes : NULL;
    for (int f = 0; f < b->frames; f++)
        for (int64_t i = 0; i < m->count; i++) {
            const size_t place = (size_t)p->place[i], at = (size_t)f * p->padded + place;
            const int64_t to = (b->first + f) * m->count + i;
            made->energy[to] = (double)energy[((size_t)f * LEY_ENERGY_TERMS + LEY_ENERGY_BORN) * p->padded + place];
            made->radius[to] = (double)radius[at];
            made->slope[to] = (double)slope[at];
            for (int d = 0; d < 3 && o->forces; d++)
                made->force[to][d] = (double)force[4 * at + (size_t)d];
        }
    if (o->groups > 0)
        take_matrix(part, b, m, o, p, made);
}

static outcome on_device(const molecule *m, const ley_energy_options *o, int frames, const double *cell_A)
{
    ley_error error = {0};
    energy_problem p;
    energy_part part;
    outcome made = outcome_of(m, o, frames);
    assert_ok(energy_problem_make(&p, m->particles, o, &error));
    assert_ok(energy_part_begin(&part, &p, engine->workers[0].device, cell_A != NULL, frames, &error));
    for (int f = 0; f < frames; f += part.frames) {
        const int count = frames - f < part.frames ? frames - f : part.frames;
        energy_batch *b = &part.batch[0];
        assert_ok(energy_part_start(&part, b, f, count, m->frame[f * m->count], cell_A, &error));
        assert_ok(energy_part_finish(&part, b, &error));
        take(&part, b, m, o, &p, &made);
    }
    energy_part_end(&part);
    energy_problem_destroy(&p);
    return made;
}

static outcome by_law(const molecule *m, const ley_energy_options *o, int frames, const double *cell_A)
{
    const ley_particles_arrays a = ley_particles_get(m->particles);
    const int64_t n = m->count;
    ley_error error = {0};
    outcome made = outcome_of(m, o, frames);
    int64_t *all = calloc((size_t)n, sizeof *all);
    double *energies = calloc((size_t)n * LEY_ENERGY_TERMS, sizeof *energies),
           *matrix = calloc((size_t)(o->groups * o->groups * LEY_ENERGY_TERMS) + 1, sizeof *matrix);
    for (int64_t i = 0; i < n; i++)
        all[i] = i;
    assert_ok(energy_law_check(&a, o, &error));
    for (int f = 0; f < frames; f++) {
        const energy_frame frame = {&a, o, m->frame[f * n], cell_A == NULL ? NULL : cell_A + 9 * f};
        ley_energy_results r = {.size = sizeof r,
                                .by_particle = energies,
                                .matrix = o->groups > 0 ? matrix : NULL,
                                .born_radii = made.radius + f * n};
        assert_ok(energy_law_frame(&frame, &r, made.force + f * n, &error));
        energy_law_slopes(&frame, made.radius + f * n, n, all, made.slope + f * n);
        memcpy(made.energy + f * n, energies + LEY_ENERGY_BORN * n, (size_t)n * sizeof(double));
        memcpy(made.matrix + f * o->groups * o->groups, matrix + LEY_ENERGY_BORN * o->groups * o->groups,
               (size_t)(o->groups * o->groups) * sizeof(double));
    }
    free(all);
    free(energies);
    free(matrix);
    return made;
}

/* ---- What is compared ------------------------------------------------------------------------ */

static double mean_square(const double *values, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += values[i] * values[i];
    return sqrt(sum / (double)count);
}

/* The largest difference, as a share of the root mean square. */
static double largest(const double *found, const double *right, int64_t count)
{
    double most = 0;
    for (int64_t i = 0; i < count; i++) {
        const double off = fabs(found[i] - right[i]);
        most = off > most || isnan(off) ? off : most; /* no number stays */
    }
    return most / (mean_square(right, count) + 1e-30);
}

static double total(const double *values, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

static void compare(const char *what, const molecule *m, const ley_energy_options *o, int frames, const double *cell_A)
{
    outcome found = on_device(m, o, frames, cell_A), right = by_law(m, o, frames, cell_A);
    for (int f = 0; f < frames; f++) {
        const int64_t n = m->count, at = f * n, groups = o->groups * o->groups;
        const double sum = total(right.energy + at, n), error = fabs(total(found.energy + at, n) - sum) / fabs(sum),
                     radius = largest(found.radius + at, right.radius + at, n),
                     slope = o->forces ? largest(found.slope + at, right.slope + at, n) : 0,
                     force = o->forces ? largest(found.force[at], right.force[at], 3 * n) : 0,
                     matrix = groups > 0 ? largest(found.matrix + f * groups, right.matrix + f * groups, groups) : 0;
        if (getenv("TEST_TELL") != NULL)
            print_message("%s, frame %d: energy %.9g off by %.1e, radii %.1e, slopes %.1e, forces %.1e, matrix %.1e\n",
                          what, f, sum, error, radius, slope, force, matrix);
        if (!(error <= 1e-6 && radius <= 4e-5 && slope <= 1e-5 && force <= 2e-5 && matrix <= 2e-6))
            fail_msg("%s, frame %d: energy %.9g off by %.1e, radii %.1e, slopes %.1e, forces %.1e, matrix %.1e", what,
                     f, sum, error, radius, slope, force, matrix);
    }
    outcome_end(&found);
    outcome_end(&right);
}

/* ---- Models ---------------------------------------------------------------------------------- */

static const char *const names[LEY_BORN_KINDS] = {"none", "HCT", "OBC1", "OBC2", "GBn", "GBn2"};

static void test_models(void **state)
{
    molecule m = globule(700, 5);
    (void)state;
    for (int kind = LEY_BORN_HCT; kind < LEY_BORN_KINDS; kind++) {
        ley_energy_options o = options_of((ley_born_kind)kind);
        compare(names[kind], &m, &o, 1, NULL);
        o.salt_M = 0.2;
        o.dielectric = 2;
        compare(names[kind], &m, &o, 1, NULL);
    }
    end(&m);
}

static void test_cutoffs(void **state)
{
    molecule m = globule(1500, 6);
    (void)state;
    for (int64_t i = 0; i < m.count; i += 11) /* as sulphur has it in GBn2 */
        m.screen[i] *= -0.8;
    ley_particles_destroy(m.particles);
    finish(&m);
    for (int kind = LEY_BORN_HCT; kind < LEY_BORN_KINDS; kind++)
        for (int taper = 0; taper <= 1; taper++) {
            ley_energy_options o = options_of((ley_born_kind)kind);
            o.born_cutoff_A = taper ? 15 : 8;
            o.born_taper = taper;
            o.salt_M = taper ? 0.2 : 0;
            compare(taper ? "tapered" : "cut", &m, &o, 1, NULL);
        }
    end(&m);
}

static void test_cells(void **state)
{
    molecule m = globule(600, 7);
    const double cells[2][9] = {{40, 0, 0, 0, 42, 0, 0, 0, 44}, {40, 0, 0, 9, 42, 0, -8, 7, 44}},
                 oblique[3][3] = {{22, 0, 0}, {20, 24, 0}, {-21, 23, 25}};
    double narrow[2][3][3] = {{{22, 0, 0}, {0, 24, 0}, {0, 0, 25}}};
    ley_energy_options o = options_of(LEY_BORN_OBC2);
    (void)state;
    o.born_cutoff_A = 14;
    compare("in cells", &m, &o, 2, cells[0]);
    o.born_taper = true;
    compare("tapered in cells", &m, &o, 2, cells[0]);
    o.born_cutoff_A = 0;
    o.born_taper = false;
    memcpy(narrow[1], oblique, sizeof oblique);
    assert_true(cell_shorten(narrow[1])); /* as runs do */
    compare("of nearest images", &m, &o, 2, narrow[0][0]);
    end(&m);
}

/* The same bytes whatever a run has of frames; energies alone are those with forces. */
static void test_batches(void **state)
{
    molecule m = globule(389, 8);
    ley_energy_options o = options_of(LEY_BORN_OBC2);
    o.groups = MOST_GROUPS - 1;
    o.group = m.group;
    (void)state;
    compare("batches", &m, &o, MOST_FRAMES, NULL);
    outcome all = on_device(&m, &o, MOST_FRAMES, NULL), one = on_device(&m, &o, 1, NULL);
    assert_memory_equal(all.energy, one.energy, (size_t)m.count * sizeof *one.energy);
    assert_memory_equal(all.force, one.force, (size_t)m.count * sizeof *one.force);
    outcome_end(&one);
    o.forces = false;
    compare("energies alone", &m, &o, 2, NULL);
    outcome_end(&all);
    end(&m);
}

static void test_few(void **state)
{
    (void)state;
    for (int64_t count = 1; count <= 3; count++) {
        molecule m = globule(count, 9);
        for (int64_t i = 0; i < count; i++)
            m.charge[i] = m.radius[i] = 1.2;
        ley_particles_destroy(m.particles);
        finish(&m);
        ley_energy_options o = options_of(LEY_BORN_OBC2);
        compare("few", &m, &o, 1, NULL);
        if (count == 1) {
            outcome made = on_device(&m, &o, 1, NULL);
            assert_true(fabs(made.energy[0] / (-0.5 * o.coulomb_constant * (1 - 1 / 78.5) * 1.44 / 1.11) - 1) < 1e-6);
            outcome_end(&made);
        }
        end(&m);
    }
}

/* Two spheres from within one another to far apart, each time by themselves: no digits are lost
 * where others are not there to hide it. */
static void test_pairs(void **state)
{
    static const double radii[][2] = {{1.2, 1.7}, {1.7, 1.2}, {1.0, 2.0}, {1.05, 1.0}},
                        ways_A[] = {0,    1e-4, 0.01, 0.1, 0.2, 0.3,  0.31, 0.5, 0.75, 1.02, 1.5, 2.2,
                                    2.71, 2.75, 3,    4,   6,   6.28, 6.4,  7.2, 9,    12,   40,  900};
    (void)state;
    for (size_t k = 0; k < sizeof radii / sizeof *radii * (sizeof ways_A / sizeof *ways_A); k++)
        for (int screened = 0; screened <= 1; screened++) {
            molecule m = molecule_of(2);
            const double *pair = radii[k % (sizeof radii / sizeof *radii)],
                         way_A = ways_A[k / (sizeof radii / sizeof *radii)];
            for (int i = 0; i < 2; i++) {
                m.radius[i] = pair[i];
                m.screen[i] = screened ? 1.1 : 0.8;
                m.charge[i] = i == 0 ? 0.7 : -0.4;
                m.frame[i][0] = (float)(i * way_A);
            }
            finish(&m);
            /* A neck has no force at one place. */
            for (int kind = LEY_BORN_HCT; kind <= (way_A > 0 ? LEY_BORN_GBN : LEY_BORN_HCT); kind += 3) {
                const ley_energy_options o = options_of((ley_born_kind)kind);
                outcome found = on_device(&m, &o, 1, NULL), right = by_law(&m, &o, 1, NULL);
                const double radius = largest(found.radius, right.radius, 2);
                const double force = fabs(found.force[0][0] - right.force[0][0]);
                /* Near 1 A pairs of this charge have 100 kcal/mol/A. */
                if (!(radius <= 1e-6 && force <= 2e-6 * fabs(right.force[0][0]) + 1e-4))
                    fail_msg("%s, radii %g and %g at %g A: radii off by %.1e, force %.9g off by %.1e", names[kind],
                             pair[0], pair[1], way_A, radius, right.force[0][0], force);
                outcome_end(&found);
                outcome_end(&right);
            }
            end(&m);
        }
}

/* A force is the slope of the device's own energy. */
static void test_differences(void **state)
{
    molecule m = globule(120, 12);
    const float step_A = 0x1p-6f;
    (void)state;
    for (int kind = LEY_BORN_OBC2; kind <= LEY_BORN_GBN2; kind += 2) {
        const ley_energy_options o = options_of((ley_born_kind)kind);
        outcome at = on_device(&m, &o, 1, NULL);
        const double scale = mean_square(at.force[0], 3 * m.count);
        for (int64_t i = 0; i < m.count; i += 37) {
            double energy[2];
            for (int side = 0; side < 2; side++) {
                const float before = m.frame[i][1];
                m.frame[i][1] += side == 0 ? -step_A : step_A;
                outcome moved = on_device(&m, &o, 1, NULL);
                energy[side] = total(moved.energy, m.count);
                outcome_end(&moved);
                m.frame[i][1] = before;
            }
            const double slope = -(energy[1] - energy[0]) / (2 * (double)step_A);
            if (!(fabs(slope - at.force[i][1]) <= 0.02 * scale))
                fail_msg("%s, particle %d: force %g, not %g", names[kind], (int)i, at.force[i][1], slope);
        }
        outcome_end(&at);
    }
    end(&m);
}

/* OpenMM's Reference platform has this energy, -630.9239 kcal/mol, these radii and forces. */
static void test_protein(void **state)
{
    enum { COUNT = 582 };
    molecule m = molecule_of(COUNT);
    double radius[COUNT], force[COUNT][3];
    FILE *file = fopen("tests/data/born_obc2.txt", "r");
    (void)state;
    assert_non_null(file);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(fscanf(file, "%f %f %f %lf %lf %lf %lf %lf %lf %lf", &m.frame[i][0], &m.frame[i][1],
                                &m.frame[i][2], &m.charge[i], &m.radius[i], &m.screen[i], &radius[i], &force[i][0],
                                &force[i][1], &force[i][2]),
                         10);
    fclose(file);
    finish(&m);
    ley_energy_options o = options_of(LEY_BORN_OBC2);
    o.coulomb_constant = LEY_COULOMB_CONSTANT_OPENMM;
    o.solvent_dielectric = 78.3;
    outcome found = on_device(&m, &o, 1, NULL);
    assert_true(fabs(total(found.energy, COUNT) * 4.184 + 2639.7855) < 0.003);
    assert_true(largest(found.radius, radius, COUNT) < 1e-5);
    /* Its positions had more digits. */
    assert_true(largest(found.force[0], force[0], 3 * COUNT) < 5e-5);
    compare("protein", &m, &o, 1, NULL);
    outcome_end(&found);
    end(&m);
}

/* As the library has them: all frames verified, by particle, between groups. */
static void test_library(void **state)
{
    enum { FRAMES = 3 };
    molecule m = globule(300, 14);
    (void)state;
    for (int forces = 0; forces <= 1; forces++) {
        ley_energy_options o = options_of(LEY_BORN_GBN2);
        ley_energy *energy = NULL;
        ley_error error = {0};
        double terms[FRAMES][LEY_ENERGY_TERMS], matrix[FRAMES][LEY_ENERGY_TERMS][MOST_GROUPS - 1][MOST_GROUPS - 1];
        ley_energy_results r = {.size = sizeof r, .terms = terms[0], .matrix = matrix[0][0][0]};
        o.groups = MOST_GROUPS - 1;
        o.group = m.group;
        o.salt_M = 0.1;
        o.forces = forces != 0;
        o.verify_every = 1;
        assert_ok(ley_energy_create(engine, m.particles, &o, &energy, &error));
        assert_ok(ley_energy_run(energy, FRAMES, m.frame[0], NULL, &r, &error));
        ley_energy_destroy(energy);
        outcome right = by_law(&m, &o, FRAMES, NULL);
        for (int f = 0; f < FRAMES; f++) {
            const double sum = total(right.energy + f * m.count, m.count);
            assert_true(fabs(terms[f][LEY_ENERGY_BORN] - sum) <= 1e-6 * fabs(sum));
            assert_true(largest(matrix[f][LEY_ENERGY_BORN][0], right.matrix + f * o.groups * o.groups,
                                o.groups * o.groups) < 2e-6);
        }
        outcome_end(&right);
    }
    end(&m);
}

static void test_many(void **state)
{
    molecule m = globule(support_is_quick() ? 3000 : 10000, 10);
    const ley_energy_options o = options_of(LEY_BORN_OBC2);
    (void)state;
    compare("many", &m, &o, 1, NULL);
    end(&m);
}

/* ---- Planted faults -------------------------------------------------------------------------- */

enum { ENERGIES = LEY_BORN_ENERGIES, CHAIN = LEY_BORN_CHAIN, OF_PARTICLES = 8, GROUPS = 16, HALF = 32 };

/* `from` becomes `to` in a file of cl/; of this pass, of a form of groups, of single particles. */
static const struct {
    const char *what, *file, *from, *to;
    int of;
} faults[] = {
    {"a dropped diagonal", "born_charges.h", "c.energy = q_root * v;", "c.energy = d2 > 0 ? q_root * v : (real)0;",
     ENERGIES},
    {"a pair's wrong sign", "born_charges.h", "h - 0.25f * he", "h + 0.25f * he", ENERGIES},
    {"salt's slope", "born_charges.h", "screened * numbers.s8 * f", "screened * f", ENERGIES},
    {"an integral over itself", "born_spheres.h", "IS_SELF(o->number[u], j) ? (real)0 : near_value", "near_value",
     LEY_BORN_INTEGRALS},
    {"a neck with itself", "born_spheres.h", "IS_SELF(number, j) ? (real)0 : neck_value", "neck_value",
     LEY_BORN_INTEGRALS},
    {"spheres within others", "born_spheres.h", "value + 1 / rho - upper * by", "value", LEY_BORN_INTEGRALS},
    {"a coefficient", "born_spheres.h", "0.40014257f", "0.4f", LEY_BORN_INTEGRALS},
    {"a neck of another class", "born_spheres.h", "NECK_AT(which + 1, kind)) * r", "NECK_AT(which + 1, 0)) * r", CHAIN},
    {"the chain's wrong sign", "born_spheres.h", "a.more.y * near_slope", "-a.more.y * near_slope", CHAIN},
    {"and of far pairs", "born_spheres.h", "a.more.y * o->second[u]", "-a.more.y * o->second[u]", CHAIN},
    {"a tile's edge", "born_pairs.cl", "min(begin + LEY_TILE, range.y)",
     "min(begin + LEY_TILE, range.y) - (begin + LEY_TILE < range.y ? 1 : 0)", CHAIN},
    {"another frame", "born_pairs.cl", "gm_frame = gm_at + frame", "gm_frame = gm_at + 0 * frame", LEY_BORN_INTEGRALS},
    {"a mark's bit", "born_pairs_group.h", "is_marked ? 1u << k : 0;", "is_marked && first + k < 31 ? 1u << k : 0;",
     CHAIN | GROUPS},
    {"a step's marks", "born_pairs_group.h", "of_step[u] << first", "of_step[u]", LEY_BORN_INTEGRALS | GROUPS},
    {"a neck that is marked", "born_spheres.h", "return near + neck_term", "return near + 0 * neck_term",
     LEY_BORN_INTEGRALS | GROUPS},
    {"a word that is not whole", "born_pairs_group.h", "marks[u] & there", "marks[u] & (there >> 1)",
     LEY_BORN_INTEGRALS | GROUPS},
    {"who is next", "born_pairs_half.h", "NEXT (LANE + 1", "NEXT (LANE + 3", ENERGIES | HALF},
    {"the other's force", "born_pairs_half.h", "a.at.w, x, y, z, sum", "a.at.w, -x, y, z, sum", ENERGIES | HALF},
    {"the other's integral", "born_pairs_half.h", "o->second[u] * (by_d4", "a.more.x * (by_d4",
     LEY_BORN_INTEGRALS | HALF},
    {"the other's slope", "born_pairs_half.h", "back), -x, -y, -z)", "back), x, -y, -z)", CHAIN | HALF},
    {"a mark across", "born_pairs_half.h", ">> lane & 1) << b", ">> lane & 1) << (b ^ 1)", CHAIN | HALF},
    {"a word across", "born_pairs_half.h", "words >> k & 1", "words >> k & 1 & k", LEY_BORN_INTEGRALS | HALF},
    {"a side", "born_pairs_half.h", "side < SIDES; side++", "side < 1; side++", ENERGIES | HALF},
    {"the other's part", "born_pairs.cl", "(blocks - apart) * part", "apart * part", LEY_BORN_INTEGRALS | HALF},
    {"another block", "born_pairs.cl", "block + apart - blocks", "blocks - 1", CHAIN | HALF},
    {"what is staged", "born_pairs_group.h", "LEY_LOCAL_ID(0); j < end;", "LEY_LOCAL_ID(0); j < end - 1;",
     ENERGIES | GROUPS},
    {"a radius's slope", "born_particles.cl", "rest * (2 - rest)", "rest", LEY_BORN_INTEGRALS | OF_PARTICLES},
    {"a group's energy", "born_particles.cl", "factor * own.sum", "factor * all[0].sum", ENERGIES | OF_PARTICLES},
    {"a force's factor", "born_particles.cl", "2 * factor * sum[3]", "factor * sum[3]", ENERGIES | OF_PARTICLES},
    {"a part too few", "born_particles.cl", "first + n < size.y ?", "first + n < size.y - 1 ?", CHAIN | OF_PARTICLES},
    {"a root of the state", "born_particles.cl", "HALF_ROOT_LOG2_E / radius", "HALF_ROOT_LOG2_E * radius",
     LEY_BORN_INTEGRALS | OF_PARTICLES},
    {"a slope that is not handed on", "born_particles.cl", "gm_slope[at] = gm_states[at].w;", "", CHAIN | OF_PARTICLES},
    {"a screen's sign", "born_spheres.h", "a.more.x < 0 ? -LEY_F_SQRT", "a.more.x < 0 ? LEY_F_SQRT",
     LEY_BORN_INTEGRALS},
};

/* The kernels' sources are a copy with a fault from here on. */
static void plant(const char *file, const char *from, const char *to)
{
    char path[600], command[2000];
    snprintf(path, sizeof path, "%s/planted", support_directory());
    snprintf(command, sizeof command, "rm -rf '%s' && mkdir '%s' && cp -r cl kernels_cuda '%s'", path, path, path);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/planted/cl", support_directory());
    setenv("LEYDEN_KERNEL_DIR", path, 1);
    snprintf(path, sizeof path, "%s/planted/cl/%s", support_directory(), file);
    char *text = support_read_file(path, NULL), *at = strstr(text, from);
    if (at == NULL || strstr(at + 1, from) != NULL)
        fail_msg("%s has '%s' not once", file, from);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    assert_int_equal(fclose(out), 0);
    free(text);
    support_fresh_cache();
}

/* Builds and tests the kernel of a pass; of groups whatever the device is, if the width is 1: with
 * a `half` of 0 pairs computed twice; else once, in blocks of so many. */
static ley_status try_kernel(int pass, bool is_of_particles, int width, int half, ley_error *error)
{
    dev *device = engine->workers[0].device;
    const born_pairs_spec pairs = {.sum = LEY_SPEC_SUM_FLOAT,
                                   .width = width,
                                   .root = LEY_ROOT_STANDARD,
                                   .exp = LEY_EXP_STANDARD,
                                   .wg = width > 1   ? 1
                                         : half == 0 ? 64
                                                     : half * half / 512,
                                   .ux = width > 1   ? 1
                                         : half == 0 ? 2
                                                     : 4,
                                   .tile = half == 0 ? 64 : half,
                                   .half = half != 0,
                                   .pass = pass,
                                   .neck = pass != ENERGIES,
                                   .salt = pass == ENERGIES,
                                   .forces = pass == ENERGIES};
    const born_particles_spec particles = {.sum = LEY_SPEC_SUM_FLOAT,
                                           .width = 1,
                                           .root = LEY_ROOT_STANDARD,
                                           .wg = 64,
                                           .pass = pass,
                                           .forces = pass == ENERGIES};
    dev_kernel built = {.program = NULL};
    const ley_status status =
        kernel_create_anew(device, is_of_particles ? &born_particles_kind : &born_pairs_kind,
                           is_of_particles ? (const void *)&particles : &pairs, true, NULL, &built, error);
    kernel_destroy(&built);
    return status;
}

static bool is_seen(size_t i, int width)
{
    ley_error error = {0};
    const int half = (faults[i].of & HALF) != 0 ? 256 : 0;
    const ley_status status = try_kernel(faults[i].of & 3, (faults[i].of & OF_PARTICLES) != 0, width, half, &error);
    if (status != LEY_ERROR_WRONG_RESULT)
        print_error("%s, %d wide: %s\n", faults[i].what, width, error.message);
    ley_error_clear(&error);
    return status == LEY_ERROR_WRONG_RESULT;
}

static void test_faults(void **state)
{
    const bool is_vectors = support_has_vectors(engine);
    ley_error error = {0};
    int missed = 0;
    (void)state;
    for (int pass = 0; pass < BORN_PASSES; pass++)
        for (int k = 0; k < (is_vectors ? 5 : 4); k++)
            assert_ok(try_kernel(pass, k == 0, k < 4 ? 1 : 16, k == 2 ? 128 : k == 3 ? 256 : 0, &error));
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        plant(faults[i].file, faults[i].from, faults[i].to);
        missed += is_seen(i, 1) ? 0 : 1;
        if (is_vectors && (faults[i].of & (GROUPS | HALF | OF_PARTICLES)) == 0)
            missed += is_seen(i, 16) ? 0 : 1;
    }
    unsetenv("LEYDEN_KERNEL_DIR");
    support_fresh_cache();
    assert_int_equal(missed, 0);
}

/* What no self-test is large enough for, frames' verification sees. */
static void test_unseen_fault(void **state)
{
    molecule m = globule(1100, 15);
    const ley_energy_options o = options_of(LEY_BORN_OBC2);
    ley_energy *energy = NULL;
    ley_error error = {0};
    ley_energy_totals totals = {.frames = 0};
    double terms[LEY_ENERGY_TERMS];
    ley_energy_results r = {.size = sizeof r, .terms = terms};
    (void)state;
    plant("born_particles.cl", "sum[k] = all[k].sum;", "sum[k] = all[k].sum * (LEY_GLOBAL_ID(0) < 1024 ? 1 : 1.01f);");
    assert_ok(ley_energy_create(engine, m.particles, &o, &energy, &error));
    const ley_status status = ley_energy_run(energy, 1, m.frame[0], NULL, &r, &error);
    ley_energy_get_totals(energy, &totals);
    if (status != LEY_ERROR_WRONG_RESULT && totals.failed == 0)
        fail_msg("not seen: %s", error.message);
    ley_error_clear(&error);
    ley_energy_destroy(energy);
    unsetenv("LEYDEN_KERNEL_DIR");
    support_fresh_cache();
    end(&m);
}

static int run_on(const char *selector, const ley_device_info *info)
{
    return RUN_ON_DEVICE("Born energies", &engine, test_protein, test_models, test_cutoffs, test_cells, test_batches,
                         test_few, test_pairs, test_differences, test_library, test_many, test_faults,
                         test_unseen_fault);
}

int main(void)
{
    return support_on_each_device(run_on);
}
