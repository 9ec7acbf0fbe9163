/* How many frames a second series make, of a box of water whose atoms have other places in each:
 * in memory before and after. The median of rounds, and how far values are from sums in double
 * precision that are made otherwise (law/periodic.h).
 *
 *     bench_series ATOMS POINTS FRAMES [THREADS [TOLERANCE]]
 *
 * The first half of the points are on atoms, which they exclude, the others anywhere. */
#include "leyden.h"

#include "law/periodic.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 5, CHECKED = 4 };

typedef struct bench {
    size_t atoms, points, count;
    double tolerance, edge_A, *charge_e;
    float *position_A;
    double *cell_A, *point_A, *potential, *field;
    int64_t *first, *excluded;
} bench;

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(ley_status status, const ley_error *error)
{
    if (status == LEY_OK)
        return;
    fprintf(stderr, "bench_series: %s\n", error->message);
    exit(ley_status_exit_code(status));
}

static void *room_for(size_t count, size_t size)
{
    void *room = calloc(count + 1, size);
    if (room == NULL)
        exit(LEY_ERROR_MEMORY);
    return room;
}

static void keep_threads(int threads)
{
    cpu_set_t set, some;
    CPU_ZERO(&some);
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return;
    for (int cpu = 0; cpu < CPU_SETSIZE && threads > 0; cpu++)
        if (CPU_ISSET(cpu, &set)) {
            CPU_SET(cpu, &some);
            threads--;
        }
    sched_setaffinity(0, sizeof some, &some);
}

static double uniform(unsigned *seed)
{
    return rand_r(seed) / (RAND_MAX + 1.0);
}

static void make_frames(bench *b)
{
    ley_error error = {0};
    ley_atoms *water = NULL;
    unsigned seed = 1;
    check(ley_waterbox_create((int64_t)b->atoms, 1, 0.25, &water, &error), &error);
    b->atoms = ley_atoms_count(water);
    b->edge_A = ley_waterbox_side_A((int64_t)b->atoms);
    b->charge_e = room_for(b->atoms, sizeof *b->charge_e);
    b->position_A = room_for(3 * b->atoms * b->count, sizeof *b->position_A);
    b->cell_A = room_for(9 * b->count, sizeof *b->cell_A);
    b->point_A = room_for(3 * b->points * b->count, sizeof *b->point_A);
    b->potential = room_for(b->points * b->count, sizeof *b->potential);
    b->field = room_for(3 * b->points * b->count, sizeof *b->field);
    b->first = room_for(b->points + 1, sizeof *b->first);
    b->excluded = room_for(b->points, sizeof *b->excluded);
    for (size_t j = 0; j < b->atoms; j++)
        b->charge_e[j] = ley_atoms_charges_e(water)[j];
    for (size_t p = 0; p < b->points; p++) {
        const size_t before = (size_t)b->first[p];
        if (p < (b->points + 1) / 2)
            b->excluded[before] = (int64_t)(3 * (p * 997 % (b->atoms / 3)));
        b->first[p + 1] = (int64_t)(before + (p < (b->points + 1) / 2));
    }
    for (size_t f = 0; f < b->count; f++) {
        float *x = b->position_A + 3 * b->atoms * f;
        for (size_t i = 0; i < 3 * b->atoms; i++)
            x[i] = (float)(ley_atoms_positions_A(water)[i] + 0.2 * uniform(&seed) - 0.1);
        for (size_t i = 0; i < 3; i++)
            b->cell_A[9 * f + 4 * i] = b->edge_A * (1 + 1e-3 * (uniform(&seed) - 0.5));
        for (size_t p = 0; p < b->points; p++)
            for (size_t axis = 0; axis < 3; axis++)
                b->point_A[3 * (b->points * f + p) + axis] = b->first[p + 1] > b->first[p]
                                                                 ? x[3 * (size_t)b->excluded[b->first[p]] + axis]
                                                                 : b->edge_A * uniform(&seed);
    }
    ley_atoms_destroy(water);
}

/* Off by how much of the root mean square: potentials and fields of the first points of one frame,
 * against sums in double precision. */
static void judge(const bench *b, double constant, double off[2])
{
    ley_error error = {0};
    double sums[2][2] = {{0}}, *position_A = room_for(3 * b->atoms, sizeof *position_A);
    periodic_sum *sum = NULL;
    const bool periodic[3] = {true, true, true};
    double vector_A[3][3] = {{0}};
    for (size_t i = 0; i < 3; i++)
        vector_A[i][i] = b->cell_A[4 * i];
    for (size_t i = 0; i < 3 * b->atoms; i++)
        position_A[i] = b->position_A[i];
    periodic_options o = {.r_min_A = 0.05,
                          .near_A = 1,
                          .n = b->atoms,
                          .position_A = position_A,
                          .charge_e = b->charge_e,
                          .points = b->points};
    check(cell_make(periodic, (const double(*)[3])vector_A, &o.cell, &error), &error);
    check(periodic_sum_create(&o, &sum, &error), &error);
    for (size_t p = 0; p < b->points && p < 64; p++) {
        const size_t at = p % 2 == 0 ? p / 2 : b->points - 1 - p / 2; /* excluding ones and others */
        const double *point_A = b->point_A + 3 * at;
        double value = periodic_sum_at(sum, point_A).value;
        const periodic_gradient gradient = periodic_sum_field(sum, point_A);
        if (b->first[at + 1] > b->first[at]) /* on an atom, whose own term is 1 / r_min and has no field */
            value -= b->charge_e[b->excluded[b->first[at]]] / o.r_min_A;
        for (int axis = 0; axis < 3; axis++) {
            sums[1][0] += pow(b->field[3 * at + (size_t)axis] / constant - gradient.field[axis], 2);
            sums[1][1] += pow(gradient.field[axis], 2);
        }
        sums[0][0] += pow(b->potential[at] / constant - value, 2);
        sums[0][1] += value * value;
    }
    for (int i = 0; i < 2; i++)
        off[i] = sqrt(sums[i][0] / sums[i][1]);
    periodic_sum_destroy(sum);
    free(position_A);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    ley_error error = {0};
    ley_series *series = NULL;
    ley_series_options options;
    double seconds[ROUNDS], off[2];
    if (argc < 4) {
        fprintf(stderr, "Usage: bench_series ATOMS POINTS FRAMES [THREADS [TOLERANCE]]\n");
        return LEY_ERROR_USAGE;
    }
    bench b = {.atoms = (size_t)atoll(argv[1]), .points = (size_t)atoll(argv[2]), .count = (size_t)atoll(argv[3])};
    if (argc > 4)
        keep_threads(atoi(argv[4]));
    make_frames(&b);
    ley_series_options_default(&options);
    options.tolerance = argc > 5 ? atof(argv[5]) : options.tolerance;
    check(ley_series_create(b.atoms, b.charge_e, b.points, &options, &series, &error), &error);
    check(ley_series_exclude(series, b.first, b.excluded, &error), &error);
    const ley_series_frames frames = {b.count, b.position_A, b.cell_A, b.point_A, b.potential, b.field, NULL, NULL};
    const double start_s = now_s();
    check(ley_series_run(series, &frames, &error), &error);
    const double first_s = now_s() - start_s;
    for (int round = 0; round < ROUNDS; round++) {
        const double round_s = now_s();
        check(ley_series_run(series, &frames, &error), &error);
        seconds[round] = now_s() - round_s;
    }
    qsort(seconds, ROUNDS, sizeof *seconds, by_size);
    judge(&b, ley_coulomb_constant(options.units, options.dielectric, options.temperature_K), off);
    const ley_series_report r = ley_series_report_of(series);
    printf(
        "%zu atoms, %zu points, %zu frames, %s, rc %.1f A, beta %.4f per A, %lld waves: %.1f frames/s (rounds: %.1f to "
        "%.1f; first %.2f s)\n",
        b.atoms, b.points, b.count, r.method, r.cutoff_A, r.beta_per_A, (long long)r.waves,
        (double)b.count / seconds[ROUNDS / 2], (double)b.count / seconds[ROUNDS - 1], (double)b.count / seconds[0],
        first_s);
    printf("off by %.2g of potentials and %.2g of fields against double precision; its own estimate %.2g and %.2g\n",
           off[0], off[1], r.potential_error, r.field_error);
    ley_series_destroy(series);
    return off[0] < options.tolerance && off[1] < options.tolerance ? 0 : LEY_ERROR_WRONG_RESULT;
}
