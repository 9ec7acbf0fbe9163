#include "energy/verify.h"

#include "energy/store.h"
#include "error.h"
#include "law/energy_parts.h"
#include "numerics/cell.h"

#include <math.h>
#include <stdlib.h>

enum { CHECKED = 16 };

/* What a device has of a frame, and what is right. */
typedef struct checking {
    const ley_energy *e;
    const energy_batch *b;
    int frame; /* of the batch */
    energy_frame of;
    int count;
    int64_t particle[CHECKED];
    double reach[CHECKED];  /* share of an energy that rounded positions may cost */
    double *radii, *slopes; /* [particles], the device's; NULL: no Born energies; no forces */
    double force_rms;
    double energy[CHECKED][LEY_ENERGY_TERMS], absolute[CHECKED][LEY_ENERGY_TERMS], force[CHECKED][3];
    double energy_error, force_error;
    double off_square, rounded_square; /* of all forces together: errors, and what rounded positions cost */
} checking;

bool energy_verify_wants(const ley_energy *e, const energy_device *d, int64_t frame)
{
    const int64_t every = e->problem.options.verify_every;
    return every > 0 && (!d->has_passed || (e->before + frame) % every == 0);
}

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
    uint64_t state = 6364136223846793005U * (uint64_t)(c->e->before + c->b->first + c->frame + 1);
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
                    (long long)(c->e->before + c->b->first + c->frame + 1), what, (long long)c->particle[k] + 1, found,
                    right);
}

/* Radii, and, of forces, slopes by the device's radii. */
static ley_status judge_born(const checking *c, ley_error *error)
{
    double radius[CHECKED], slope[CHECKED], most = 0;
    energy_law_radii(&c->of, c->count, c->particle, radius);
    for (int k = 0; k < c->count; k++) {
        const double own = c->radii[c->particle[k]];
        if (!(fabs(own - radius[k]) <= allowed_radius * radius[k]))
            return fail(c, k, "the Born radius", own, radius[k], error);
    }
    if (c->slopes == NULL)
        return LEY_OK;
    energy_law_slopes(&c->of, c->radii, c->count, c->particle, slope);
    for (int64_t i = 0; i < c->of.particles->particles; i++)
        most = fmax(most, fabs(c->slopes[i]));
    for (int k = 0; k < c->count; k++) {
        const double own = c->slopes[c->particle[k]];
        if (!(fabs(own - slope[k]) <= allowed_radius * (fabs(slope[k]) + most)))
            return fail(c, k, "the slope by the Born radius", own, slope[k], error);
    }
    return LEY_OK;
}

/* Pairs near the cutoff count for the law and not for the device, or the other way round: values
 * between those of a cutoff a little shorter and a little longer are right, too. */
typedef struct edges {
    double energy[2][CHECKED][LEY_ENERGY_TERMS], force[2][CHECKED][3];
} edges;

static ley_status find_edges(const checking *c, edges *made, ley_error *error)
{
    static const double near = 4e-6;
    ley_energy_options o = *c->of.options;
    energy_frame of = c->of;
    ley_status status = LEY_OK;
    of.options = &o;
    for (int side = 0; side < 2 && status == LEY_OK; side++) {
        o.cutoff_A = c->of.options->cutoff_A * (1 + (side == 0 ? -near : near));
        o.born_cutoff_A = c->of.options->born_cutoff_A * (1 + (side == 0 ? -near : near));
        status = energy_law_particles(&of, c->radii, c->slopes, c->count, c->particle, made->energy[side], NULL,
                                      o.forces ? made->force[side] : NULL, error);
    }
    return status;
}

/* How far a value is from right, or from where edges have it. */
static double distance(double found, double right, const double *low, const double *high)
{
    double least = right, most = right;
    if (low != NULL) {
        least = fmin(right, fmin(*low, *high));
        most = fmax(right, fmax(*low, *high));
    }
    return fmax(fmax(least - found, found - most), 0);
}

/* What a particle's energy may be off by where forces are allowed a root mean square error; a force
 * by four times that. */
static double by_mesh(const checking *c)
{
    return c->of.options->coulomb == LEY_COULOMB_EWALD ? 2 * c->of.options->ewald_tolerance : 0;
}

static ley_status judge_particle(checking *c, int k, const edges *edge, ley_error *error)
{
    const energy_problem *p = &c->e->problem;
    const size_t place = (size_t)p->place[c->particle[k]];
    double whole = 0, absolute = 0;
    for (int term = 0; term < LEY_ENERGY_TERMS; term++) {
        if (!energy_has_term(p, (ley_energy_term)term))
            continue;
        const double found = (double)energies_of(c, term)[place], right = c->energy[k][term],
                     off = distance(found, right, edge != NULL ? &edge->energy[0][k][term] : NULL,
                                    edge != NULL ? &edge->energy[1][k][term] : NULL);
        const double share = allowed + c->reach[k] + (term == LEY_ENERGY_COULOMB ? by_mesh(c) : 0);
        if (!(off <= share * (c->absolute[k][term] + 1e-3)))
            return fail(c, k, "the energy", found, right, error);
        whole += off;
        absolute += c->absolute[k][term];
    }
    if (absolute > 0)
        c->energy_error = fmax(c->energy_error, whole / absolute);
    for (int d = 0; d < 3 && p->options.forces; d++) {
        const double found = (double)force_of(c, c->particle[k])[d], right = c->force[k][d],
                     off = distance(found, right, edge != NULL ? &edge->force[0][k][d] : NULL,
                                    edge != NULL ? &edge->force[1][k][d] : NULL);
        const double size = c->force_rms + fabs(right), rounded = c->reach[k] * (size + absolute);
        if (!(off <= (allowed_force + 4 * by_mesh(c)) * size + rounded))
            return fail(c, k, "the force", found, right, error);
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
                          (long long)(c->e->before + c->b->first + c->frame + 1), off, most);
}

static ley_status judge(checking *c, const edges *edge, ley_error *error)
{
    ley_status status = LEY_OK;
    c->energy_error = c->force_error = c->off_square = c->rounded_square = 0;
    for (int k = 0; k < c->count && status == LEY_OK; k++)
        status = judge_particle(c, k, edge, error);
    return status == LEY_OK ? judge_mesh(c, error) : status;
}

static ley_status judge_all(checking *c, ley_error *error)
{
    edges edge;
    ley_status status = c->radii != NULL ? judge_born(c, error) : LEY_OK;
    if (status == LEY_OK)
        status = energy_law_particles(&c->of, c->radii, c->slopes, c->count, c->particle, c->energy, c->absolute,
                                      c->of.options->forces ? c->force : NULL, error);
    if (status == LEY_OK)
        status = judge(c, NULL, error);
    if (status != LEY_ERROR_WRONG_RESULT || (c->of.options->cutoff_A == 0 && c->of.options->born_cutoff_A == 0))
        return status;
    ley_error_clear(error);
    status = find_edges(c, &edge, error);
    return status == LEY_OK ? judge(c, &edge, error) : status;
}

ley_status energy_verify(ley_energy *e, const energy_batch *b, int frame, ley_error *error)
{
    checking c = {.e = e, .b = b, .frame = frame, .of = energy_run_frame(e, b->first + frame)};
    ley_status status = begin(&c, error);
    if (status == LEY_OK)
        status = judge_all(&c, error);
    free(c.radii);
    free(c.slopes);
    if (status != LEY_OK)
        return status;
    pthread_mutex_lock(&e->mutex);
    e->totals.checked_frames++;
    e->totals.checked_particles += c.count;
    e->totals.energy_error = fmax(e->totals.energy_error, c.energy_error);
    e->totals.force_error = fmax(e->totals.force_error, c.force_error);
    pthread_mutex_unlock(&e->mutex);
    return LEY_OK;
}
