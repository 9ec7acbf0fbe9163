/* Times the passes of generalised Born on a device, each launch by itself: of particles as dense as
 * a protein, the best of some batches.
 *
 *     bench_born [DEVICE [PARTICLES [FRAMES [MODEL [FORCES]]]]]    4656, 1, 3 (OBC2), 1 */
#include "energy/born.h"
#include "energy/device_part.h"
#include "engine/engine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 40, PASSES = 3 };

static double fraction(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) / 16777216.0;
}

typedef struct molecule {
    double *charge, *radius, *screen, (*factor)[3];
    int32_t *type;
    float (*at)[3];
    ley_particles *particles;
} molecule;

static ley_status make(int64_t count, int frames, molecule *m, ley_error *error)
{
    static const double radii[] = {1.2, 1.3, 1.5, 1.55, 1.7, 1.8}, nothing[1] = {0}, apart_A = 2.15;
    const size_t n = (size_t)count;
    const int64_t half = ((int64_t)ceil(cbrt((double)count)) + 1) / 2;
    uint32_t state = 3;
    *m = (molecule){malloc(n * sizeof *m->charge),
                    malloc(n * sizeof *m->radius),
                    malloc(n * sizeof *m->screen),
                    malloc(n * sizeof *m->factor),
                    calloc(n, sizeof *m->type),
                    malloc(n * (size_t)frames * sizeof *m->at),
                    NULL};
    for (int64_t i = 0; i < count; i++) {
        const int64_t block = i / 8, at[3] = {2 * (block % half) + i % 2, 2 * (block / half % half) + i / 2 % 2,
                                              2 * (block / half / half) + i / 4 % 2};
        m->radius[i] = radii[(int)(6 * fraction(&state))];
        m->screen[i] = 0.8;
        m->charge[i] = fraction(&state) - 0.5;
        m->factor[i][0] = 0.7;
        m->factor[i][1] = 0.5;
        m->factor[i][2] = 0.3;
        for (int f = 0; f < frames; f++)
            for (int d = 0; d < 3; d++)
                m->at[f * count + i][d] = (float)(apart_A * ((double)at[d] + 0.5 * fraction(&state)));
    }
    const ley_particles_arrays a = {.size = sizeof a,
                                    .particles = count,
                                    .types = 1,
                                    .charges = m->charge,
                                    .type = m->type,
                                    .lennard_jones_a = nothing,
                                    .lennard_jones_b = nothing,
                                    .born_radii = m->radius,
                                    .born_screens = m->screen,
                                    .born_factors = (const double(*)[3])m->factor};
    return ley_particles_create(&a, &m->particles, error);
}

static void end(molecule *m)
{
    ley_particles_destroy(m->particles);
    free(m->charge);
    free(m->radius);
    free(m->screen);
    free(m->factor);
    free(m->type);
    free(m->at);
}

static ley_status time_batches(energy_part *part, int frames, const float *at, double best_s[PASSES + 1],
                               ley_error *error)
{
    energy_batch *b = &part->batch[0];
    ley_status status = LEY_OK;
    for (int round = 0; round < ROUNDS && status == LEY_OK; round++) {
        status = energy_part_start(part, b, 0, frames, at, NULL, error);
        if (status == LEY_OK)
            status = energy_part_finish(part, b, error);
        const sequence_times *t = &b->sequence.times;
        for (int pass = 0; pass <= PASSES; pass++)
            best_s[pass] = fmin(best_s[pass], pass < PASSES ? t->step_s[BORN_STEP + pass] : t->kernel_s);
    }
    return status;
}

static ley_status run(const char *selector, int64_t count, int frames, ley_born_kind model, bool forces,
                      ley_error *error)
{
    double best_s[PASSES + 1] = {1e9, 1e9, 1e9, 1e9};
    ley_engine *engine = NULL;
    ley_energy_options o;
    energy_problem problem;
    energy_part part;
    molecule m;
    ley_energy_options_default(&o);
    o.lennard_jones = LEY_LENNARD_JONES_NONE;
    o.coulomb = LEY_COULOMB_NONE;
    o.born = model;
    o.forces = forces;
    ley_status status = make(count, frames, &m, error);
    if (status == LEY_OK)
        status = ley_engine_create(selector, &engine, error);
    if (status != LEY_OK)
        return status;
    status = energy_problem_make(&problem, m.particles, &o, error);
    if (status == LEY_OK) /* twice as many, for of a run a batch has half at most */
        status = energy_part_begin(&part, &problem, engine->workers[0].device, false, 2 * frames, error);
    frames = status == LEY_OK && part.frames < frames ? part.frames : frames;
    if (status == LEY_OK)
        status = time_batches(&part, frames, m.at[0], best_s, error);
    if (status == LEY_OK) {
        const double pairs = (double)count * (double)count * frames;
        printf("%s: %lld particles, %d frames\n", engine->workers[0].info->name, (long long)count, frames);
        for (int pass = 0; pass < (forces ? PASSES : PASSES - 1); pass++)
            printf("  %-9s %9.3f ms, %8.2f 10^9 pairs/s\n", (const char *[]){"integrals", "energies", "chain"}[pass],
                   1e3 * best_s[pass], 1e-9 * pairs / best_s[pass]);
        printf("  all       %9.3f ms, %8.1f frames/s\n", 1e3 * best_s[PASSES], frames / best_s[PASSES]);
        energy_part_end(&part);
    }
    energy_problem_destroy(&problem);
    ley_engine_destroy(engine);
    end(&m);
    return status;
}

int main(int argc, char **argv)
{
    ley_error error = {.status = LEY_OK};
    const long long count = argc > 2 ? atoll(argv[2]) : 4656;
    const int frames = argc > 3 ? atoi(argv[3]) : 1, model = argc > 4 ? atoi(argv[4]) : LEY_BORN_OBC2;
    if (count < 1 || frames < 1 || model <= LEY_BORN_NONE || model >= LEY_BORN_KINDS ||
        run(argc > 1 ? argv[1] : "0", count, frames, (ley_born_kind)model, argc <= 5 || atoi(argv[5]) != 0, &error) !=
            LEY_OK) {
        fprintf(stderr, "bench_born [DEVICE [PARTICLES [FRAMES [MODEL [FORCES]]]]]: %s\n", error.message);
        return 1;
    }
    return 0;
}
