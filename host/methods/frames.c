#include "methods/frames.h"

#include "bench/bench.h"
#include "error.h"
#include "law/periodic.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double most_move_A = 0.1, most_change = 5e-4, disorder_A = 0.25;

void water_frames_clear(water_frames *f)
{
    free(f->charge_e);
    free(f->position_A);
    free(f->cell_A);
    *f = (water_frames){.atoms = 0};
}

const float *water_frame_positions_A(const water_frames *f, size_t frame)
{
    return f->position_A + 3 * f->atoms * frame;
}

/* Molecules stay whole and keep their size. */
static void fill_frame(const water_frames *f, size_t frame, const ley_atoms *water, uint64_t *random)
{
    const double *at_A = ley_atoms_positions_A(water), side_A = ley_waterbox_side_A((int64_t)f->atoms),
                 change = frame > 0 ? 1 + most_change * (2 * bench_random(random) - 1) : 1;
    float *to_A = f->position_A + 3 * f->atoms * frame;
    for (size_t axis = 0; axis < 3; axis++)
        f->cell_A[9 * frame + 4 * axis] = f->edge_A[axis] * change;
    for (size_t i = 0; i < f->atoms; i++)
        for (size_t axis = 0; axis < 3; axis++) {
            const double oxygen_A = at_A[3 * (i - i % 3) + axis];
            to_A[3 * i + axis] = (float)(oxygen_A * f->edge_A[axis] / side_A + at_A[3 * i + axis] - oxygen_A +
                                         most_move_A * (2 * bench_random(random) - 1));
        }
}

ley_status water_frames_make(int64_t atoms, size_t count, const double *edge_A, water_frames *made, ley_error *error)
{
    water_frames f = {.count = count};
    ley_atoms *water = NULL;
    uint64_t random = 1;
    ley_status status = ley_waterbox_create(atoms, 1, disorder_A, &water, error);
    if (status != LEY_OK)
        return status;
    f.atoms = ley_atoms_count(water);
    const double bytes = 3 * sizeof(float) * (double)f.atoms * (double)count;
    for (int axis = 0; axis < 3; axis++)
        f.edge_A[axis] = edge_A != NULL ? edge_A[axis] : ley_waterbox_side_A((int64_t)f.atoms);
    status = memory_check_one("frames", bytes, "fewer atoms", error);
    if (status == LEY_OK) {
        f.charge_e = malloc(f.atoms * sizeof *f.charge_e);
        f.position_A = malloc((size_t)bytes);
        f.cell_A = calloc(9 * count, sizeof *f.cell_A);
        if (f.charge_e == NULL || f.position_A == NULL || f.cell_A == NULL)
            status = ley_fail_memory(error, (size_t)bytes, "frames");
    }
    if (status == LEY_OK) {
        memcpy(f.charge_e, ley_atoms_charges_e(water), f.atoms * sizeof *f.charge_e);
        for (size_t i = 0; i < count; i++)
            fill_frame(&f, i, water, &random);
        *made = f;
    } else {
        water_frames_clear(&f);
    }
    ley_atoms_destroy(water);
    return status;
}

ley_status water_frames_atoms(const water_frames *f, ley_atoms **atoms, ley_error *error)
{
    double *zero = calloc(3 * f->atoms, sizeof *zero);
    if (zero == NULL)
        return ley_fail_memory(error, 3 * f->atoms * sizeof *zero, "the benchmark");
    const ley_status status = ley_atoms_create(f->atoms, zero, f->charge_e, NULL, atoms, error);
    free(zero);
    return status;
}

ley_status water_frame_potential(const water_frames *f, size_t frame, const double cell_A[9], double r_min_A,
                                 size_t points, const double *point_A, double *potential, double *field,
                                 ley_error *error)
{
    static const bool periodic[3] = {true, true, true};
    const float *from_A = water_frame_positions_A(f, frame);
    double vector_A[3][3], *position_A = malloc(3 * f->atoms * sizeof *position_A);
    periodic_sum *sum = NULL;
    periodic_options o = {.r_min_A = r_min_A,
                          .near_A = 1,
                          .n = f->atoms,
                          .position_A = position_A,
                          .charge_e = f->charge_e,
                          .points = points};
    if (position_A == NULL)
        return ley_fail_memory(error, 3 * f->atoms * sizeof *position_A, "a frame");
    memcpy(vector_A, cell_A, sizeof vector_A);
    for (size_t i = 0; i < 3 * f->atoms; i++)
        position_A[i] = from_A[i];
    ley_status status = cell_make(periodic, (const double(*)[3])vector_A, &o.cell, error);
    if (status == LEY_OK)
        status = periodic_sum_create(&o, &sum, error);
    for (size_t p = 0; status == LEY_OK && p < points; p++) {
        potential[p] = periodic_sum_at(sum, point_A + 3 * p).value;
        if (field != NULL)
            memcpy(field + 3 * p, periodic_sum_field(sum, point_A + 3 * p).field, 3 * sizeof *field);
    }
    periodic_sum_destroy(sum);
    free(position_A);
    return status;
}

size_t frames_of_run(double run_s, double seconds, size_t frames, size_t least, size_t most)
{
    const double fit = seconds > 0 ? run_s * (double)frames / seconds : (double)most;
    return (size_t)fmin(fmax(fit, (double)least), (double)most);
}

double frames_processor_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
