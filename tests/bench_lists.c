/* Energies and forces of water in a periodic cell, pairs within a cutoff by lists: milliseconds a
 * frame, and those of each step on the device, with the charges' pairs cut off and with Ewald's
 * sum; with forces and without.
 *
 *     bench_lists [DEVICE [SIDE [CUTOFF [FRAMES]]]]      opencl:0, cuda, ...; 20 molecules along
 *                                                        each edge, 9 A, 4 frames */
#include "clock.h"
#include "energy/device_part.h"
#include "engine/engine.h"
#include "verify/self_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct work {
    ley_engine *engine;
    ley_particles *particles;
    int side, frames;
    int64_t count;
    double cutoff_A;
    float *position_A;
    double *cell_A;
} work;

static const double spacing_A = 3.1;

static void make_frames(work *w)
{
    uint32_t state = 9;
    const int side = w->side;
    for (int f = 0; f < w->frames; f++) {
        for (int k = 0; k < 9; k++)
            w->cell_A[9 * f + k] = k % 4 == 0 ? side * spacing_A : 0;
        for (int64_t i = 0; i < w->count; i++) {
            float *at = w->position_A + 3 * (f * w->count + i);
            const int64_t m = i / 3, node[3] = {m % side, m / side % side, m / side / side};
            double way[3], length = 0;
            for (int d = 0; d < 3; d++) {
                way[d] = self_test_fraction(&state) - 0.5;
                length += way[d] * way[d];
            }
            for (int d = 0; d < 3; d++)
                at[d] = (float)(i % 3 == 0 ? spacing_A * (double)node[d] + 0.3 * way[d]
                                           : (double)(at - 3 * (i % 3))[d] + 0.9572 * way[d] / sqrt(length));
        }
    }
}

static ley_status make_water(work *w, ley_error *error)
{
    static const double a[4] = {582000, 0, 0, 0}, b[4] = {595, 0, 0, 0};
    const size_t n = (size_t)w->count;
    double *charge = calloc(n, sizeof *charge);
    int32_t *type = calloc(n, sizeof *type), (*exclusion)[2] = calloc(n, sizeof *exclusion);
    ley_status status = LEY_ERROR_MEMORY;
    if (charge != NULL && type != NULL && exclusion != NULL) {
        for (int32_t i = 0; i < (int32_t)n; i++) {
            charge[i] = i % 3 == 0 ? -0.834 : 0.417;
            type[i] = i % 3 == 0 ? 0 : 1;
            exclusion[i][0] = i - i % 3 + (i % 3 == 2);
            exclusion[i][1] = i - i % 3 + (i % 3 == 0 ? 1 : 2);
        }
        const ley_particles_arrays arrays = {.size = sizeof arrays,
                                             .particles = w->count,
                                             .types = 2,
                                             .exclusions = w->count,
                                             .charges = charge,
                                             .type = type,
                                             .lennard_jones_a = a,
                                             .lennard_jones_b = b,
                                             .exclusion = (const int32_t(*)[2])exclusion};
        status = ley_particles_create(&arrays, &w->particles, error);
    }
    free(charge);
    free(type);
    free(exclusion);
    return status;
}

/* The fastest turn of a batch; the first one builds. */
static ley_status measure_part(const work *w, energy_part *part, const char *name, ley_error *error)
{
    static const char *const steps[WORK_STEPS] = {"other",  "places",     "lists", "pairs",
                                                  "spread", "transforms", "gather"};
    energy_batch *b = &part->batch[0];
    double best_s = INFINITY, step_s[WORK_STEPS] = {0};
    ley_status status = LEY_OK;
    for (int turn = 0; turn < 6 && status == LEY_OK; turn++)
        for (int f = 0; f < w->frames && status == LEY_OK; f += part->frames) {
            const int count = w->frames - f < part->frames ? w->frames - f : part->frames;
            const double before_s = ley_clock_s();
            status = energy_part_start(part, b, f, count, w->position_A + 3 * f * w->count, w->cell_A + 9 * f, error);
            if (status == LEY_OK)
                status = energy_part_finish(part, b, error);
            const double took_s = (ley_clock_s() - before_s) / count;
            if (turn > 0 && took_s < best_s) {
                best_s = took_s;
                for (int s = 0; s < WORK_STEPS; s++)
                    step_s[s] = b->sequence.times.step_s[s] / count;
            }
        }
    printf("%-28s %8.3f ms a frame;", name, 1e3 * best_s);
    for (int s = 0; s < WORK_STEPS; s++)
        if (steps[s] != NULL && step_s[s] > 0)
            printf(" %s %.3f", steps[s], 1e3 * step_s[s]);
    printf("\n");
    return status;
}

static ley_status measure(const work *w, const char *name, ley_coulomb_kind coulomb, bool forces, ley_error *error)
{
    energy_problem problem;
    energy_part *part = calloc(1, sizeof *part);
    ley_energy_options o;
    ley_energy_options_default(&o);
    o.coulomb = coulomb;
    o.cutoff_A = w->cutoff_A;
    o.forces = forces;
    ley_status status = energy_problem_make(&problem, w->particles, &o, error);
    if (part != NULL && status == LEY_OK)
        status = energy_part_begin(part, &problem, w->engine->workers[0].device, true, w->frames, error);
    if (part != NULL && status == LEY_OK)
        status = measure_part(w, part, name, error);
    if (part != NULL)
        energy_part_end(part);
    energy_problem_destroy(&problem);
    free(part);
    return status;
}

int main(int argc, char **argv)
{
    work w = {.side = argc > 2 ? atoi(argv[2]) : 20,
              .cutoff_A = argc > 3 ? atof(argv[3]) : 9,
              .frames = argc > 4 ? atoi(argv[4]) : 4};
    ley_error error = {.status = LEY_OK};
    w.count = 3 * (int64_t)w.side * w.side * w.side;
    w.position_A = calloc(3 * (size_t)w.frames * (size_t)w.count, sizeof *w.position_A);
    w.cell_A = calloc(9 * (size_t)w.frames, sizeof *w.cell_A);
    ley_status status = ley_engine_create(argc > 1 ? argv[1] : "opencl:0", &w.engine, &error);
    if (status == LEY_OK)
        status = make_water(&w, &error);
    if (status == LEY_OK) {
        make_frames(&w);
        printf("%lld particles, %g A, %s\n", (long long)w.count, w.cutoff_A, w.engine->workers[0].info->name);
        status = measure(&w, "cut off, energies", LEY_COULOMB_SHIFTED, false, &error);
    }
    if (status == LEY_OK)
        status = measure(&w, "cut off, with forces", LEY_COULOMB_SHIFTED, true, &error);
    if (status == LEY_OK)
        status = measure(&w, "Ewald's sum, energies", LEY_COULOMB_EWALD, false, &error);
    if (status == LEY_OK)
        status = measure(&w, "Ewald's sum, with forces", LEY_COULOMB_EWALD, true, &error);
    if (status != LEY_OK)
        fprintf(stderr, "%s\n", error.message);
    ley_error_clear(&error);
    ley_particles_destroy(w.particles);
    ley_engine_destroy(w.engine);
    free(w.position_A);
    free(w.cell_A);
    return status == LEY_OK ? 0 : 1;
}
