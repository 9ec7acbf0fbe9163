/* Energies of frames, all pairs of some particles: seconds per frame, and pairs, each of two
 * particles, per second, as the caller has them and in launches alone; with forces; with the matrix
 * of residues; with surfaces; and a plain loop in C.
 *
 *     bench_energy [DEVICE [PARTICLES [FRAMES]]]      opencl:0, cuda, ...; 4656, 20 */
#include "clock.h"
#include "some_energies.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct work {
    ley_engine *engine;
    ley_particles *particles;
    int64_t count, frames;
    float *position_A;
} work;

/* The fastest of three runs. */
static ley_status measure(const work *w, const char *name, bool forces, bool matrix, bool surface, ley_error *error)
{
    const ley_particles_arrays a = ley_particles_get(w->particles);
    const size_t frames = (size_t)w->frames, groups = (size_t)a.residues;
    ley_energy_options o;
    ley_energy *e = NULL;
    ley_energy_totals totals = {.frames = 0};
    ley_energy_options_default(&o);
    o.forces = forces;
    o.surface = surface ? LEY_SURFACE_LCPO : LEY_SURFACE_NONE;
    o.groups = matrix ? (int32_t)a.residues : 0;
    o.group = a.residue;
    ley_energy_results r = {.size = sizeof r};
    r.terms = calloc(frames * LEY_ENERGY_TERMS, sizeof(double));
    r.forces = forces ? calloc(frames * 3 * (size_t)w->count, sizeof(float)) : NULL;
    r.matrix = matrix ? calloc(frames * LEY_ENERGY_TERMS * groups * groups, sizeof(double)) : NULL;
    ley_status status = ley_energy_create(w->engine, w->particles, &o, &e, error);
    double best_s = INFINITY, best_device_s = INFINITY;
    for (int turn = 0; turn < 4 && status == LEY_OK; turn++) { /* the first one builds */
        const double before_s = ley_clock_s(), device_s = totals.device_seconds;
        status = ley_energy_run(e, w->frames, w->position_A, NULL, &r, error);
        ley_energy_get_totals(e, &totals);
        if (turn > 0) {
            best_s = fmin(best_s, (ley_clock_s() - before_s) / (double)w->frames);
            best_device_s = fmin(best_device_s, (totals.device_seconds - device_s) / (double)w->frames);
        }
    }
    const double pairs = (double)w->count * (double)(w->count - 1) / 2;
    if (status == LEY_OK)
        printf("%-10s %8.3f ms a frame, %9.3g pairs/s; launches %8.3f ms, %9.3g pairs/s; error %.1e %.1e; %s\n", name,
               1e3 * best_s, pairs / best_s, 1e3 * best_device_s, pairs / best_device_s, totals.energy_error,
               totals.force_error, totals.device);
    ley_energy_destroy(e);
    free(r.terms);
    free(r.forces);
    free(r.matrix);
    return status;
}

/* Each pair once, on one core. */
static void measure_loop(const work *w)
{
    const ley_particles_arrays a = ley_particles_get(w->particles);
    const float *x = w->position_A;
    const double start_s = ley_clock_s();
    double sum = 0;
    for (int64_t i = 0; i < w->count; i++) {
        float own = 0;
        for (int64_t j = 0; j < i; j++) {
            const float dx = x[3 * i] - x[3 * j], dy = x[3 * i + 1] - x[3 * j + 1], dz = x[3 * i + 2] - x[3 * j + 2],
                        r2 = dx * dx + dy * dy + dz * dz, inverse2 = 1 / r2, sixth = inverse2 * inverse2 * inverse2;
            const int64_t at = a.type[i] * a.types + a.type[j];
            own += sixth * ((float)a.lennard_jones_a[at] * sixth - (float)a.lennard_jones_b[at]) +
                   332.0F * (float)(a.charges[i] * a.charges[j]) * sqrtf(inverse2);
        }
        sum += (double)own;
    }
    const double loop_s = ley_clock_s() - start_s, pairs = (double)w->count * (double)(w->count - 1) / 2;
    printf("%-10s %8.3f ms a frame, %9.3g pairs/s (%g)\n", "plain loop", 1e3 * loop_s, pairs / loop_s, sum);
}

int main(int argc, char **argv)
{
    ley_error error = {.status = LEY_OK};
    work w = {.count = argc > 2 ? atoll(argv[2]) : 4656, .frames = argc > 3 ? atoll(argv[3]) : 20};
    w.particles = some_particles(w.count, 18, 7);
    w.position_A = some_positions(w.count, w.frames, 2.4, 11);
    ley_status status = ley_engine_create(argc > 1 ? argv[1] : NULL, &w.engine, &error);
    if (status == LEY_OK && w.particles != NULL && w.position_A != NULL) {
        printf("%lld particles, %lld frames\n", (long long)w.count, (long long)w.frames);
        measure_loop(&w);
        status = measure(&w, "energies", false, false, false, &error);
        if (status == LEY_OK)
            status = measure(&w, "forces", true, false, false, &error);
        if (status == LEY_OK)
            status = measure(&w, "residues", false, true, false, &error);
        if (status == LEY_OK)
            status = measure(&w, "surfaces", false, false, true, &error);
    }
    if (status != LEY_OK)
        fprintf(stderr, "%s\n", error.message);
    ley_engine_destroy(w.engine);
    ley_particles_destroy(w.particles);
    free(w.position_A);
    ley_error_clear(&error);
    return status == LEY_OK ? 0 : 1;
}
