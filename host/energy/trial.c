#include "energy/trial.h"

#include "energy/batch.h"
#include "error.h"
#include "law/energy.h"
#include "verify/self_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Blocks of kernels, and one that is not full. */
enum { PARTICLES = 300, TYPES = 7, SIDE = 7 };

static const double spacing_A = 2.6;
static const double cells_A[ENERGY_TRIAL_FRAMES][9] = {{18.5, 0, 0, 2.5, 18.7, 0, -3, 4, 18.9},
                                                       {18.6, 0.5, 0.3, -0.6, 19, -0.25, 1, 0.4, 18.75}};

/* ---- Particles ------------------------------------------------------------------------------- */

typedef struct trial_arrays {
    double charge[PARTICLES], a[TYPES * TYPES], b[TYPES * TYPES], born_radius[PARTICLES], screen[PARTICLES],
        factor[PARTICLES][3], surface_radius[PARTICLES], lcpo[PARTICLES][4];
    int32_t type[PARTICLES], exclusion[3 * PARTICLES][2], pair_14[PARTICLES][2];
    double pair_charge[PARTICLES], pair_a[PARTICLES], pair_b[PARTICLES];
} trial_arrays;

/* Neighbours along the lattice, and pairs that are far from each other. */
static void set_pairs(trial_arrays *s, ley_particles_arrays *a)
{
    for (int32_t i = 0; i + 3 < PARTICLES; i++) {
        for (int32_t k = 1; k <= 2; k++, a->exclusions++) {
            s->exclusion[a->exclusions][0] = i;
            s->exclusion[a->exclusions][1] = i + k;
        }
        if (i + 133 < PARTICLES && i % 5 == 0) {
            s->exclusion[a->exclusions][0] = i + 133;
            s->exclusion[a->exclusions++][1] = i;
        }
        if (i % 3 == 0) {
            s->pair_14[a->pairs_14][0] = i;
            s->pair_14[a->pairs_14++][1] = i + 3;
        }
    }
}

static ley_status make_particles(uint32_t *state, ley_particles **made, ley_error *error)
{
    static const double gammas[3] = {1.0, 0.8, 4.85}, lcpo[4] = {0.8, -0.3, -2e-3, 1e-4};
    trial_arrays *s = calloc(1, sizeof *s);
    if (s == NULL)
        return ley_fail_memory(error, sizeof *s, "the self-test");
    ley_particles_arrays a = {.size = sizeof a,
                              .particles = PARTICLES,
                              .types = TYPES,
                              .charges = s->charge,
                              .type = s->type,
                              .lennard_jones_a = s->a,
                              .lennard_jones_b = s->b,
                              .exclusion = (const int32_t(*)[2])s->exclusion,
                              .pair_14 = (const int32_t(*)[2])s->pair_14,
                              .pair_14_charges = s->pair_charge,
                              .pair_14_a = s->pair_a,
                              .pair_14_b = s->pair_b,
                              .born_radii = s->born_radius,
                              .born_screens = s->screen,
                              .born_factors = (const double(*)[3])s->factor,
                              .surface_radii = s->surface_radius,
                              .lcpo_factors = (const double(*)[4])s->lcpo};
    set_pairs(s, &a);
    for (int i = 0; i < PARTICLES; i++) {
        s->charge[i] = 1.6 * self_test_fraction(state) - 0.8;
        s->type[i] = (int32_t)(TYPES * self_test_fraction(state));
        s->born_radius[i] = 1.2 + 0.6 * self_test_fraction(state);
        s->screen[i] = 0.7 + 0.2 * self_test_fraction(state);
        memcpy(s->factor[i], gammas, sizeof gammas);
        for (int k = 0; k < 4 && i % 3 > 0; k++) /* others have no sphere */
            s->lcpo[i][k] = (0.5 + 0.5 * self_test_fraction(state)) * lcpo[k];
        s->surface_radius[i] = i % 3 == 0 ? 0 : 1.4 + 0.5 * self_test_fraction(state);
        s->pair_charge[i] = self_test_fraction(state) - 0.5;
        s->pair_a[i] = 1e5 * (1 + self_test_fraction(state));
        s->pair_b[i] = 300 * (1 + self_test_fraction(state));
    }
    for (int i = 0; i < TYPES * TYPES; i++) { /* the first type has none */
        const int low = i / TYPES < i % TYPES ? i / TYPES : i % TYPES, high = i / TYPES + i % TYPES - low;
        s->a[i] = low == 0 ? 0 : 2e4 * (low + 3 * high);
        s->b[i] = low == 0 ? 0 : 37 * (5 * low + high);
    }
    const ley_status status = ley_particles_create(&a, made, error);
    free(s);
    return status;
}

static void set_positions(uint32_t *state, float *position_A)
{
    for (int f = 0; f < ENERGY_TRIAL_FRAMES; f++)
        for (int i = 0; i < PARTICLES; i++) {
            const int at[3] = {i % SIDE, i / SIDE % SIDE, i / (SIDE * SIDE)};
            for (int d = 0; d < 3; d++)
                position_A[3 * (f * PARTICLES + i) + d] =
                    (float)(spacing_A * at[d] + 0.5 * self_test_fraction(state) + 40 * f - 17);
        }
}

/* The way's square is about that of the nearest image's where that is less than half of the cell's
 * width. */
static double distance_A(const energy_trial *t, int frame, int i, int j)
{
    const float *x = t->position_A + 3 * (frame * PARTICLES + i), *y = t->position_A + 3 * (frame * PARTICLES + j);
    double least = INFINITY;
    for (int image = 0; image < (t->cell_A == NULL ? 1 : 27); image++) {
        const int step[3] = {image % 3, image / 3 % 3, image / 9};
        double square = 0;
        for (int d = 0; d < 3; d++) {
            double way = (double)x[d] - (double)y[d];
            for (int k = 0; k < 3 && t->cell_A != NULL; k++)
                way += (step[k] - 1) * t->cell_A[9 * frame + 3 * k + d];
            square += way * way;
        }
        least = fmin(least, square);
    }
    return sqrt(least);
}

/* A cutoff from which all pairs are as far as can be: kernels round. */
static double best_cutoff(const energy_trial *t, double cutoff_A)
{
    enum { TRIES = 16 };
    const double step_A = 0.01;
    double gap_A[TRIES];
    for (int k = 0; k < TRIES; k++)
        gap_A[k] = INFINITY;
    for (int f = 0; f < ENERGY_TRIAL_FRAMES; f++)
        for (int i = 0; i < PARTICLES; i++)
            for (int j = 0; j < i; j++) {
                const double r_A = distance_A(t, f, i, j);
                for (int k = 0; k < TRIES && fabs(r_A - cutoff_A) < 1; k++)
                    gap_A[k] = fmin(gap_A[k], fabs(r_A - cutoff_A - k * step_A));
            }
    int best = 0;
    for (int k = 1; k < TRIES; k++)
        best = gap_A[k] > gap_A[best] ? k : best;
    return cutoff_A + best * step_A;
}

void energy_trial_options(ley_energy_options *o, int lennard_jones, int coulomb, bool forces)
{
    ley_energy_options_default(o);
    o->lennard_jones = (ley_lennard_jones_kind)lennard_jones;
    o->coulomb = (ley_coulomb_kind)coulomb;
    o->cutoff_A = ENERGY_TRIAL_CUTOFF_A;
    o->switch_A = 0.75 * ENERGY_TRIAL_CUTOFF_A;
    o->reaction_dielectric = 78.5;
    o->forces = forces;
}

ley_status energy_trial_begin(energy_trial *t, dev *device, const ley_energy_options *options, bool is_periodic,
                              ley_error *error)
{
    uint32_t state = 1973;
    int32_t group[PARTICLES];
    ley_energy_options o = *options;
    *t = (energy_trial){.cell_A = is_periodic ? cells_A[0] : NULL};
    t->position_A = calloc(3 * ENERGY_TRIAL_FRAMES * PARTICLES, sizeof *t->position_A);
    ley_status status = t->position_A != NULL ? make_particles(&state, &t->particles, error)
                                              : ley_fail_memory(error, 24 * PARTICLES, "the self-test");
    if (status != LEY_OK)
        return status;
    set_positions(&state, t->position_A);
    for (int i = 0; i < PARTICLES; i++)
        group[i] = i % 7 < 2 ? i % 7 : 2 + i / 160;
    o.group = group;
    if (o.cutoff_A > 0)
        o.cutoff_A = best_cutoff(t, o.cutoff_A);
    status = energy_problem_make(&t->problem, t->particles, &o, error);
    if (status == LEY_OK)
        status = energy_memory_make(&t->part, &t->problem, device, is_periodic, ENERGY_TRIAL_FRAMES, 0, error);
    if (status == LEY_OK && t->part.frames < ENERGY_TRIAL_FRAMES)
        status = ley_fail(error, LEY_ERROR_NO_DEVICE, "no room for a self-test's frames");
    if (status != LEY_OK)
        return status;
    energy_batch_begin(&t->part, &t->part.batch[0], 0, ENERGY_TRIAL_FRAMES, t->position_A, t->cell_A);
    energy_batch_poison(&t->part, &t->part.batch[0]);
    return LEY_OK;
}

energy_batch *energy_trial_batch(energy_trial *t)
{
    return &t->part.batch[0];
}

void energy_trial_end(energy_trial *t)
{
    energy_memory_end(&t->part);
    energy_problem_destroy(&t->problem);
    ley_particles_destroy(t->particles);
    free(t->position_A);
    *t = (energy_trial){.particles = NULL};
}

/* ---- What is right --------------------------------------------------------------------------- */

typedef struct right_values {
    double energy[PARTICLES][LEY_ENERGY_TERMS], absolute[PARTICLES][LEY_ENERGY_TERMS], force[PARTICLES][3];
    double matrix[LEY_ENERGY_TERMS][ENERGY_TRIAL_GROUPS][ENERGY_TRIAL_GROUPS];
} right_values;

/* Which terms are compared. */
typedef struct trial_terms {
    bool has_pairs, has_14, has_born, has_surface;
} trial_terms;

/* Of one frame, and of no other terms: particles that are nothing to others in these. */
static ley_status make_right(const energy_trial *t, int frame, trial_terms which, right_values *right, ley_error *error)
{
    static const double zeros[PARTICLES];
    ley_particles_arrays a = t->problem.arrays;
    ley_energy_options o = t->problem.options;
    if (!which.has_14)
        a.pair_14_charges = a.pair_14_a = a.pair_14_b = zeros;
    if (!which.has_pairs && which.has_14)
        a.charges = a.lennard_jones_a = a.lennard_jones_b = zeros;
    if (!which.has_pairs && !which.has_14) {
        o.lennard_jones = LEY_LENNARD_JONES_NONE;
        o.coulomb = LEY_COULOMB_NONE;
    }
    if (!which.has_born)
        o.born = LEY_BORN_NONE;
    if (!which.has_surface)
        o.surface = LEY_SURFACE_NONE;
    const energy_frame f = {.particles = &a,
                            .options = &o,
                            .position_A = t->position_A + 3 * frame * PARTICLES,
                            .cell_A = t->cell_A != NULL ? t->cell_A + 9 * frame : NULL};
    int64_t all[PARTICLES];
    double radii[PARTICLES], slopes[PARTICLES];
    for (int i = 0; i < PARTICLES; i++)
        all[i] = i;
    if (which.has_born) {
        energy_law_radii(&f, PARTICLES, all, radii);
        energy_law_slopes(&f, radii, PARTICLES, all, slopes);
    }
    ley_energy_results wanted = {.size = sizeof wanted, .matrix = right->matrix[0][0]};
    const ley_status status = energy_law_particles(&f, which.has_born ? radii : NULL, which.has_born ? slopes : NULL,
                                                   PARTICLES, all, right->energy, right->absolute, right->force, error);
    return status == LEY_OK && o.groups > 0 ? energy_law_frame(&f, &wanted, NULL, error) : status;
}

/* ---- Comparisons ----------------------------------------------------------------------------- */

static ley_status judge_value(const char *what, int frame, size_t i, double found, double right, double scale,
                              ley_error *error)
{
    const double error_now = fabs(found - right), tolerance = 2 * SELF_TEST_FLOAT;
    self_test_note(error_now / scale, tolerance, scale, found, right);
    return error_now <= tolerance * scale
               ? LEY_OK
               : ley_fail(error, LEY_ERROR_WRONG_RESULT, "%s of particle %zu in frame %d is %.9g, not %.9g", what, i,
                          frame, found, right);
}

static ley_status judge_energies(const energy_trial *t, int frame, const right_values *right,
                                 const ley_energy_term *terms, int count, ley_error *error)
{
    const energy_problem *p = &t->problem;
    const float *energy = t->part.batch[0].energy_back->bytes;
    ley_status status = LEY_OK;
    for (int k = 0; k < count; k++)
        for (size_t i = 0; i < p->padded && status == LEY_OK; i++)
            if (p->order[i] >= 0)
                status = judge_value("the energy", frame, i,
                                     (double)energy[((size_t)frame * LEY_ENERGY_TERMS + terms[k]) * p->padded + i],
                                     right->energy[p->order[i]][terms[k]],
                                     right->absolute[p->order[i]][terms[k]] + 1e-3, error);
    return status;
}

static ley_status judge_forces(const energy_trial *t, int frame, const right_values *right, ley_error *error)
{
    const energy_problem *p = &t->problem;
    const float(*force)[4] = (const float(*)[4])t->part.batch[0].force_back->bytes;
    double square = 0;
    ley_status status = LEY_OK;
    for (int i = 0; i < PARTICLES; i++)
        for (int d = 0; d < 3; d++)
            square += right->force[i][d] * right->force[i][d] / (3 * PARTICLES);
    for (size_t i = 0; i < p->padded; i++)
        for (int d = 0; d < 3 && p->order[i] >= 0 && status == LEY_OK; d++) {
            const double own = right->force[p->order[i]][d];
            status = judge_value("the force", frame, i, (double)force[(size_t)frame * p->padded + i][d], own,
                                 2 * (fabs(own) + sqrt(square)), error);
        }
    return status;
}

static int column_of(ley_energy_term term)
{
    return term == LEY_ENERGY_LENNARD_JONES ? LEY_COLUMN_LENNARD_JONES
           : term == LEY_ENERGY_COULOMB     ? LEY_COLUMN_COULOMB
           : term == LEY_ENERGY_BORN        ? LEY_COLUMN_BORN
                                            : -1;
}

/* Sums of the parts over each group are elements of the matrix. */
static ley_status judge_parts(const energy_trial *t, int frame, const right_values *right, const float *parts,
                              const ley_energy_term *terms, int count, ley_error *error)
{
    const energy_problem *p = &t->problem;
    double absolute[LEY_ENERGY_TERMS] = {0};
    for (int i = 0; i < PARTICLES; i++)
        for (int term = 0; term < LEY_ENERGY_TERMS; term++)
            absolute[term] += right->absolute[i][term] / ENERGY_TRIAL_GROUPS;
    ley_status status = LEY_OK;
    for (int k = 0; k < count; k++)
        for (int g = 0; g < ENERGY_TRIAL_GROUPS && column_of(terms[k]) >= 0; g++)
            for (int h = 0; h < ENERGY_TRIAL_GROUPS && status == LEY_OK; h++) {
                const float *part =
                    parts + (((size_t)frame * LEY_COLUMN_COUNT + (size_t)column_of(terms[k])) * ENERGY_TRIAL_GROUPS +
                             (size_t)h) *
                                p->padded;
                double sum = 0;
                for (int32_t i = p->column_first[g]; i < p->column_first[g + 1]; i++)
                    sum += (double)part[i];
                status = judge_value("a group's part, seen", frame, (size_t)g, sum, right->matrix[terms[k]][g][h],
                                     absolute[terms[k]], error);
            }
    return status;
}

static ley_status judge_frame(const energy_trial *t, int frame, const float *parts, const ley_energy_term *terms,
                              int count, ley_error *error)
{
    trial_terms which = {.has_pairs = false};
    for (int k = 0; k < count; k++) {
        which.has_pairs = which.has_pairs || terms[k] == LEY_ENERGY_LENNARD_JONES || terms[k] == LEY_ENERGY_COULOMB;
        which.has_14 = which.has_14 || terms[k] == LEY_ENERGY_LENNARD_JONES_14;
        which.has_surface = which.has_surface || terms[k] == LEY_ENERGY_SURFACE;
        which.has_born = which.has_born || terms[k] == LEY_ENERGY_BORN;
    }
    right_values *right = calloc(1, sizeof *right);
    ley_status status = right != NULL ? make_right(t, frame, which, right, error)
                                      : ley_fail_memory(error, sizeof *right, "the self-test");
    if (status == LEY_OK)
        status = judge_energies(t, frame, right, terms, count, error);
    if (status == LEY_OK && t->problem.options.forces)
        status = judge_forces(t, frame, right, error);
    if (status == LEY_OK && parts != NULL)
        status = judge_parts(t, frame, right, parts, terms, count, error);
    free(right);
    return status;
}

static size_t parts_bytes(const energy_trial *t)
{
    return ENERGY_TRIAL_FRAMES * LEY_COLUMN_COUNT * ENERGY_TRIAL_GROUPS * t->problem.padded * sizeof(float);
}

ley_status energy_trial_judge(energy_trial *t, const ley_energy_term *terms, int count, ley_error *error)
{
    energy_batch *b = &t->part.batch[0];
    dev_staging *parts = NULL;
    ley_status status = LEY_OK;
    energy_batch_read(&t->part, b);
    if (b->parts.buffer != NULL)
        status = arena_staging(&t->part.arena, parts_bytes(t), &parts, error);
    if (parts != NULL)
        sequence_read(&b->sequence, b->parts.buffer, 0, parts, parts_bytes(t));
    const ley_status done = sequence_finish(&b->sequence, status == LEY_OK ? error : NULL);
    status = status == LEY_OK ? done : status;
    for (int f = 0; f < ENERGY_TRIAL_FRAMES && status == LEY_OK; f++)
        status = judge_frame(t, f, parts != NULL ? parts->bytes : NULL, terms, count, error);
    return status;
}

/* ---- Sums of parts --------------------------------------------------------------------------- */

static float some_part(size_t k)
{
    return (float)((k * 2654435761U >> 7) % 16000001) - 2e6F;
}

ley_status energy_trial_parts(energy_trial *t, ley_error *error)
{
    const size_t count = parts_bytes(t) / sizeof(float);
    float *part = malloc(count * sizeof *part);
    if (part == NULL)
        return ley_fail_memory(error, count * sizeof *part, "the self-test");
    for (size_t k = 0; k < count; k++)
        part[k] = some_part(k);
    sequence_write(&t->part.batch[0].sequence, t->part.batch[0].parts.buffer, 0, part, count * sizeof *part);
    free(part);
    return LEY_OK;
}

ley_status energy_trial_judge_sums(energy_trial *t, ley_error *error)
{
    enum { G = ENERGY_TRIAL_GROUPS };
    const energy_problem *p = &t->problem;
    energy_batch *b = &t->part.batch[0];
    energy_batch_read(&t->part, b);
    const ley_status status = sequence_finish(&b->sequence, error);
    const float(*matrix)[2] = (const float(*)[2])b->matrix_back->bytes;
    for (size_t k = 0; k < ENERGY_TRIAL_FRAMES * LEY_COLUMN_COUNT * G * G && status == LEY_OK; k++) {
        const size_t which = k / (G * G), g = k / G % G, h = k % G;
        double sum = 0;
        for (int32_t i = p->column_first[g]; i < p->column_first[g + 1]; i++)
            sum += (double)some_part((which * G + h) * p->padded + (size_t)i);
        const double found = (double)matrix[k][0] + (double)matrix[k][1];
        if (found != sum)
            return ley_fail(error, LEY_ERROR_WRONG_RESULT, "element %zu is %.12g, not %.12g", k, found, sum);
    }
    return status;
}
