#include "energy/verify.h"

#include "energy/store.h"
#include "error.h"
#include "law/energy_parts.h"
#include "numerics/cell.h"

#include <math.h>
#include <stdlib.h>

enum { CHECKED = 16 };

/* Pairs near the cutoff count for the law and not for the device, or the other way round: what is
 * between the values of a cutoff a little shorter and a little longer is right, too, and what is as
 * far from these as some such pairs may bring it. Of all but radii the device's radii are taken. */
typedef struct values {
    double radius[CHECKED], slope[CHECKED];
    double energy[CHECKED][LEY_ENERGY_TERMS], absolute[CHECKED][LEY_ENERGY_TERMS], force[CHECKED][3];
} values;

/* What a device has of a frame, and what is right. */
typedef struct checking {
    const ley_energy *e;
    const energy_batch *b;
    int frame; /* of the batch */
    energy_frame of;
    int count;
    int64_t particle[CHECKED];
    double reach[CHECKED];  /* share of an energy that rounded positions may cost */
    double integers;        /* what sums of integers may cost, kcal/mol and kcal/mol/A */
    double *radii, *slopes; /* [particles], the device's; NULL: no Born energies; no forces */
    double force_rms;
    const values *right, *low, *high; /* the same unless pairs may be at the cutoff */
    double energy_error, force_error;
    double off_square, rounded_square; /* of all forces together: errors, and what rounded positions cost */
} checking;

/* ---- What the device has --------------------------------------------------------------------- */

static const float *energies_of(const checking *c, int term)
{
    return (const float *)c->b->energy_back->bytes +
           ((size_t)c->frame * LEY_ENERGY_TERMS + (size_t)term) * c->e->problem.padded;
}

static const float *force_of(const checking *c, int64_t particle)
{
    const energy_problem *p = &c->e->problem;
    return (const float *)c->b->force_back->bytes + 4 * ((size_t)c->frame * p->padded + (size_t)p->place[particle]);
}

static double *by_particle(const checking *c, const dev_staging *staging)
{
    const energy_problem *p = &c->e->problem;
    double *made = malloc(p->count * sizeof *made);
    const float *from = (const float *)staging->bytes + (size_t)c->frame * p->padded;
    for (size_t i = 0; i < p->count && made != NULL; i++)
        made[i] = (double)from[p->place[i]];
    return made;
}

/* Particles all over the frame, other ones in other frames. */
static void choose(checking *c)
{
    const int64_t n = c->of.particles->particles;
    uint64_t state = 6364136223846793005U * (uint64_t)(c->e->queue.before + c->b->first + c->frame + 1);
    c->count = n < CHECKED ? (int)n : CHECKED;
    for (int k = 0; k < c->count; k++) {
        const int64_t low = n * k / c->count, high = n * (k + 1) / c->count;
        state = state * 6364136223846793005U + 1442695040888963407U;
        c->particle[k] = low + (int64_t)((state >> 33) % (uint64_t)(high - low));
    }
}

/* In a cell kernels have positions of images within it, rounded to floats: so far off may each be;
 * else those that were given. */
static double rounding_A(const checking *c)
{
    double longest_A = 0;
    for (int k = 0; k < 3 && c->of.cell_A != NULL; k++)
        longest_A = fmax(longest_A, cell_length(c->of.cell_A + 3 * k));
    return 0x1p-22 * longest_A;
}

static double nearest_A(const energy_law *law, int64_t i)
{
    double least = INFINITY, way_A[3];
    for (int64_t j = 0; j < law->n; j++)
        if (j != i)
            least = fmin(least, energy_way(law, i, j, way_A));
    return sqrt(least);
}

static ley_status begin(checking *c, ley_error *error)
{
    const energy_problem *p = &c->e->problem;
    const bool has_born = p->options.born != LEY_BORN_NONE;
    double square = 0;
    energy_law law;
    choose(c);
    const double rounded_A = rounding_A(c);
    const ley_status status = energy_law_begin(&c->of, &law, error);
    for (int k = 0; k < c->count && status == LEY_OK; k++)
        c->reach[k] = 13 * rounded_A / nearest_A(&law, c->particle[k]);
    for (size_t i = 0; i < p->count && p->options.forces; i++)
        for (int d = 0; d < 3; d++)
            square += (double)force_of(c, (int64_t)i)[d] * (double)force_of(c, (int64_t)i)[d];
    c->force_rms = sqrt(square / (double)p->count);
    if (!has_born || status != LEY_OK)
        return status;
    c->radii = by_particle(c, c->b->radius_back);
    c->slopes = p->options.forces ? by_particle(c, c->b->slope_back) : NULL;
    return c->radii != NULL && (c->slopes != NULL || !p->options.forces)
               ? LEY_OK
               : ley_fail_memory(error, 16 * p->count, "a frame's verification");
}

/* ---- Comparisons ----------------------------------------------------------------------------- */

static const double allowed = 2e-5, allowed_force = 1e-4, allowed_radius = 1e-4;

static ley_status fail(const checking *c, int k, const char *what, double found, double right, ley_error *error)
{
    return ley_fail(error, LEY_ERROR_WRONG_RESULT, "frame %lld: %s of particle %lld is %.9g, not %.9g",
                    frame_number(&c->e->queue, c->b->first + c->frame), what, (long long)c->particle[k] + 1, found,
                    right);
}

static ley_status find_values(const checking *c, double cutoffs, values *made, ley_error *error)
{
    ley_energy_options o = *c->of.options;
    energy_frame of = c->of;
    of.options = &o;
    o.cutoff_A *= cutoffs;
    o.born_cutoff_A *= cutoffs;
    if (c->radii != NULL)
        energy_law_radii(&of, c->count, c->particle, made->radius);
    if (c->slopes != NULL)
        energy_law_slopes(&of, c->radii, c->count, c->particle, made->slope);
    const ley_status status = energy_law_particles(&of, c->radii, c->slopes, c->count, c->particle, made->energy,
                                                   made->absolute, o.forces ? made->force : NULL, error);
    double unshifted[CHECKED][LEY_ENERGY_TERMS];
    if (status != LEY_OK || cutoffs == 1 ||
        (o.lennard_jones != LEY_LENNARD_JONES_SHIFTED && o.coulomb != LEY_COULOMB_SHIFTED))
        return status;
    /* At the cutoff it is forces of shifted pairs that end. */
    o.lennard_jones = o.lennard_jones == LEY_LENNARD_JONES_SHIFTED ? LEY_LENNARD_JONES_PLAIN : o.lennard_jones;
    o.coulomb = o.coulomb == LEY_COULOMB_SHIFTED ? LEY_COULOMB_PLAIN : o.coulomb;
    return energy_law_particles(&of, c->radii, c->slopes, c->count, c->particle, unshifted, made->absolute, NULL,
                                error);
}

/* How far a value is from right, or from where pairs at the cutoff may bring it, which are so
 * large. */
static double distance(double found, double right, double low, double high, double pairs)
{
    return fmax(fmax(fmin(right, fmin(low, high)) - found, found - fmax(right, fmax(low, high))) - pairs, 0);
}

/* The sum of the absolute energies of pairs at the cutoff. */
static double at_cutoff(const checking *c, int k, int term)
{
    return fabs(c->high->absolute[k][term] - c->low->absolute[k][term]);
}

/* A force of an energy, as a repulsion has it, of two particles that have half of the energy
 * each. */
static double force_at_cutoff(const checking *c, double energy)
{
    const ley_energy_options *o = c->of.options;
    const double shorter_A = o->cutoff_A > 0 && o->born_cutoff_A > 0 ? fmin(o->cutoff_A, o->born_cutoff_A)
                                                                     : fmax(o->cutoff_A, o->born_cutoff_A);
    return energy > 0 ? 24 * energy / shorter_A : 0;
}

/* What a particle's energy may be off by where forces are allowed a root mean square error; a force
 * by four times that. */
static double by_mesh(const checking *c)
{
    return c->of.options->coulomb == LEY_COULOMB_EWALD ? 2 * c->of.options->ewald_tolerance : 0;
}

/* Radii, and, of forces, slopes by the device's radii. */
static ley_status judge_born(const checking *c, ley_error *error)
{
    const values *right = c->right, *low = c->low, *high = c->high;
    double most = 0;
    for (int64_t i = 0; c->slopes != NULL && i < c->of.particles->particles; i++)
        most = fmax(most, fabs(c->slopes[i]));
    for (int k = 0; k < c->count; k++) {
        const double radius = c->radii[c->particle[k]], slope = c->slopes != NULL ? c->slopes[c->particle[k]] : 0,
                     by_pairs = radius > 0 ? 2 * at_cutoff(c, k, LEY_ENERGY_BORN) / radius : 0;
        if (!(distance(radius, right->radius[k], low->radius[k], high->radius[k], 0) <=
              allowed_radius * right->radius[k]))
            return fail(c, k, "the Born radius", radius, right->radius[k], error);
        if (c->slopes != NULL && !(distance(slope, right->slope[k], low->slope[k], high->slope[k], by_pairs) <=
                                   allowed_radius * (fabs(right->slope[k]) + most)))
            return fail(c, k, "the slope by the Born radius", slope, right->slope[k], error);
    }
    return LEY_OK;
}

static ley_status judge_particle(checking *c, int k, ley_error *error)
{
    const values *right = c->right, *low = c->low, *high = c->high;
    const energy_problem *p = &c->e->problem;
    const size_t place = (size_t)p->place[c->particle[k]];
    double whole = 0, absolute = 0, pairs = 0;
    for (int term = 0; term < LEY_ENERGY_TERMS; term++) {
        if (!energy_has_term(p, (ley_energy_term)term))
            continue;
        const double found = (double)energies_of(c, term)[place], value = right->energy[k][term],
                     off = distance(found, value, low->energy[k][term], high->energy[k][term], at_cutoff(c, k, term));
        const double share = allowed + c->reach[k] + (term == LEY_ENERGY_COULOMB ? by_mesh(c) : 0);
        if (!(off <= share * (right->absolute[k][term] + 1e-3) + c->integers))
            return fail(c, k, "the energy", found, value, error);
        whole += off;
        absolute += right->absolute[k][term];
        pairs += at_cutoff(c, k, term);
    }
    if (absolute > 0)
        c->energy_error = fmax(c->energy_error, whole / absolute);
    for (int d = 0; d < 3 && p->options.forces; d++) {
        const double found = (double)force_of(c, c->particle[k])[d], value = right->force[k][d],
                     off = distance(found, value, low->force[k][d], high->force[k][d], force_at_cutoff(c, pairs));
        const double size = c->force_rms + fabs(value), rounded = c->reach[k] * (size + absolute) + c->integers;
        if (!(off <= (allowed_force + 4 * by_mesh(c)) * size + rounded))
            return fail(c, k, "the force", found, value, error);
        c->off_square += off * off;
        c->rounded_square += rounded * rounded;
        if (c->force_rms > 0)
            c->force_error = fmax(c->force_error, off / c->force_rms);
    }
    return LEY_OK;
}

/* A mesh's root mean square error is what is promised, where that of one force may be larger. */
static ley_status judge_mesh(const checking *c, ley_error *error)
{
    const double off = sqrt(c->off_square / c->count), rounded = sqrt(c->rounded_square / c->count),
                 most = (allowed_force + 2.5 * by_mesh(c)) * c->force_rms + rounded;
    return by_mesh(c) == 0 || off <= most
               ? LEY_OK
               : ley_fail(error, LEY_ERROR_WRONG_RESULT,
                          "frame %lld: forces are off by %.3g kcal/mol/A in the root mean square, more than %.3g",
                          frame_number(&c->e->queue, c->b->first + c->frame), off, most);
}

static ley_status judge(checking *c, const values *right, const values *low, const values *high, ley_error *error)
{
    c->right = right;
    c->low = low;
    c->high = high;
    c->energy_error = c->force_error = c->off_square = c->rounded_square = 0;
    ley_status status = c->radii != NULL ? judge_born(c, error) : LEY_OK;
    for (int k = 0; k < c->count && status == LEY_OK; k++)
        status = judge_particle(c, k, error);
    return status == LEY_OK ? judge_mesh(c, error) : status;
}

static ley_status judge_all(checking *c, ley_error *error)
{
    static const double near = 4e-6;
    values right, low, high;
    ley_status status = find_values(c, 1, &right, error);
    if (status == LEY_OK)
        status = judge(c, &right, &right, &right, error);
    if (status != LEY_ERROR_WRONG_RESULT || (c->of.options->cutoff_A == 0 && c->of.options->born_cutoff_A == 0))
        return status;
    ley_error_clear(error);
    status = find_values(c, 1 - near, &low, error);
    if (status == LEY_OK)
        status = find_values(c, 1 + near, &high, error);
    return status == LEY_OK ? judge(c, &right, &low, &high, error) : status;
}

ley_status energy_verify(ley_energy *e, const energy_batch *b, int frame, double quantum, ley_error *error)
{
    /* A particle is in less than 100 sums, each rounded by half of a quantum at most. */
    checking c = {
        .e = e, .b = b, .frame = frame, .of = energy_run_frame(e, b->first + frame), .integers = 32 * quantum};
    ley_status status = begin(&c, error);
    if (status == LEY_OK)
        status = judge_all(&c, error);
    free(c.radii);
    free(c.slopes);
    if (status != LEY_OK)
        return status;
    pthread_mutex_lock(&e->queue.mutex);
    e->totals.checked_frames++;
    e->totals.checked_particles += c.count;
    e->totals.energy_error = fmax(e->totals.energy_error, c.energy_error);
    e->totals.force_error = fmax(e->totals.force_error, c.force_error);
    pthread_mutex_unlock(&e->queue.mutex);
    return LEY_OK;
}
