/* How many frames a second averages take, of charges as in water, from the host's memory: median of
 * rounds; and beside it PMEPot's algorithm as a plain loop of C on one thread.
 *
 *     bench_average DEVICE ATOMS POINTS [FRAMES [mean|deviation|bare|exact]]
 *     bench_average pmepot ATOMS POINTS [FRAMES]
 *
 * POINTS along each axis, 1 A from each other. */
#include "leyden.h"

#include "numerics/fourier.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 5, KEPT = 32, AT_ONCE = 16 };

typedef struct bench {
    size_t atoms;
    int points;
    size_t frames, kept;
    double *charge_e, edge_A;
    float *position_A; /* [kept][atoms][3] */
    double *cell_A;    /* [kept][9] */
} bench;

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Of all threads of the process, which other processes do not make longer. */
static double processor_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(ley_status status, const ley_error *error)
{
    if (status == LEY_OK)
        return;
    fprintf(stderr, "bench_average: %s\n", error->message);
    exit(ley_status_exit_code(status));
}

/* A box of water as dense as the cell has room for, and as many frames of it as are kept, each atom
 * moved by up to 0.2 A; frames are taken from these in turn. */
static void make_frames(bench *b)
{
    ley_error error = {0};
    ley_atoms *water = NULL;
    unsigned seed = 5;
    check(ley_waterbox_create((int64_t)b->atoms, 1, 0.25, &water, &error), &error);
    b->atoms = ley_atoms_count(water);
    b->edge_A = b->points;
    const double scale = b->edge_A / ley_waterbox_side_A((int64_t)b->atoms);
    b->kept = b->atoms * KEPT > 32000000 ? 8 : KEPT;
    b->charge_e = malloc(b->atoms * sizeof *b->charge_e);
    b->position_A = malloc(b->kept * b->atoms * 3 * sizeof *b->position_A);
    b->cell_A = calloc(b->kept * 9, sizeof *b->cell_A);
    if (b->charge_e == NULL || b->position_A == NULL || b->cell_A == NULL)
        exit(4);
    memcpy(b->charge_e, ley_atoms_charges_e(water), b->atoms * sizeof *b->charge_e);
    for (size_t f = 0; f < b->kept; f++) {
        for (int axis = 0; axis < 3; axis++)
            b->cell_A[9 * f + 4 * (size_t)axis] = b->edge_A;
        for (size_t i = 0; i < b->atoms; i++) { /* molecules stay whole and keep their size, the box has the edge */
            const double *p = ley_atoms_positions_A(water) + 3 * i,
                         *oxygen = ley_atoms_positions_A(water) + 3 * (i - i % 3);
            for (int d = 0; d < 3; d++)
                b->position_A[3 * (f * b->atoms + i) + (size_t)d] =
                    (float)(oxygen[d] * scale + p[d] - oxygen[d] + 0.2 * rand_r(&seed) / RAND_MAX);
        }
    }
    ley_atoms_destroy(water);
}

static int by_size(const void *a, const void *b)
{
    return *(const double *)a < *(const double *)b ? -1 : 1;
}

static void run(const bench *b, const char *device, const char *what)
{
    ley_error error = {0};
    ley_engine *engine = NULL;
    ley_atoms *atoms = NULL;
    ley_average_options o;
    double *zero = calloc(3 * b->atoms, sizeof *zero), rate[ROUNDS];
    ley_average_options_default(&o);
    o.n[0] = o.n[1] = o.n[2] = b->points;
    o.deviation = strcmp(what, "deviation") == 0;
    o.exact_cells = strcmp(what, "exact") == 0;
    o.smooth_A = strcmp(what, "bare") == 0 ? 0 : o.smooth_A;
    check(ley_engine_create(device, &engine, &error), &error);
    check(ley_atoms_create(b->atoms, zero, b->charge_e, NULL, &atoms, &error), &error);
    for (int round = -1; round < ROUNDS; round++) { /* the first one builds kernels */
        ley_average *a = NULL;
        ley_average_totals totals;
        ley_map *map = NULL;
        check(ley_average_create(engine, atoms, &o, &a, &error), &error);
        check(ley_average_add(a, 1, b->position_A, b->cell_A, &error), &error);
        check(ley_average_finish(a, &totals, &error), &error); /* all is prepared */
        const double start_s = now_s(), start_processor_s = processor_s();
        for (size_t f = 1, some; f < b->frames; f += some) {
            const size_t at = f % b->kept, left = b->frames - f, most = b->kept - at < AT_ONCE ? b->kept - at : AT_ONCE;
            some = left < most ? left : most;
            check(ley_average_add(a, some, b->position_A + at * b->atoms * 3, b->cell_A + at * 9, &error), &error);
        }
        const double added_s = now_s();
        check(ley_average_finish(a, &totals, &error), &error);
        const double finished_s = now_s(),
                     used_ms = 1e3 * (processor_s() - start_processor_s) / (double)(b->frames - 1);
        check(ley_average_map(a, LEY_AVERAGE_MEAN, &map, &error), &error);
        const double end_s = now_s();
        if (round >= 0)
            rate[round] = (double)(b->frames - 1) / (finished_s - start_s);
        printf("%s: %.1f frames/s, %.4f s for %zu frames (added in %.4f; %.3f ms of processors a frame), map %.4f s; "
               "order %d, mesh %d; checked %d: %.2g, "
               "mean %.2g\n",
               totals.device, (double)(b->frames - 1) / (finished_s - start_s), finished_s - start_s, b->frames - 1,
               added_s - start_s, used_ms, end_s - finished_s, totals.order, (int)totals.mesh[0],
               (int)totals.checked_frames, totals.relative_rms, totals.mean_error);
        ley_map_destroy(map);
        ley_average_destroy(a);
    }
    qsort(rate, ROUNDS, sizeof *rate, by_size);
    printf("%s, %zu atoms, %d^3 points, %s: median %.1f frames/s (%.1f to %.1f)\n", device, b->atoms, b->points, what,
           rate[ROUNDS / 2], rate[0], rate[ROUNDS - 1]);
    free(zero);
    ley_atoms_destroy(atoms);
    ley_engine_destroy(engine);
}

/* ---- PMEPot ---------------------------------------------------------------------------------- */

/* Values of M_4 at the four nodes that an atom reaches. */
static void spline(float t, float w[4])
{
    const float u = 1 - t;
    w[0] = u * u * u / 6;
    w[1] = (3 * t * t * t - 6 * t * t + 4) / 6;
    w[2] = (3 * u * u * u - 6 * u * u + 4) / 6;
    w[3] = t * t * t / 6;
}

static void spread(const bench *b, const float *position_A, double *mesh)
{
    const int n = b->points;
    memset(mesh, 0, (size_t)n * (size_t)n * (size_t)n * sizeof *mesh);
    for (size_t i = 0; i < b->atoms; i++) {
        float w[3][4];
        int node[3];
        for (int d = 0; d < 3; d++) {
            const float s = position_A[3 * i + (size_t)d] / (float)b->edge_A, at = (s - floorf(s)) * (float)n,
                        below = floorf(at);
            node[d] = (int)below;
            spline(at - below, w[d]);
        }
        for (int z = 0; z < 4; z++)
            for (int y = 0; y < 4; y++)
                for (int x = 0; x < 4; x++)
                    mesh[((size_t)((node[2] + z - 1 + n) % n) * (size_t)n + (size_t)((node[1] + y - 1 + n) % n)) *
                             (size_t)n +
                         (size_t)((node[0] + x - 1 + n) % n)] += b->charge_e[i] * (double)(w[0][x] * w[1][y] * w[2][z]);
    }
}

static void multiply(const bench *b, double *spectrum)
{
    const int n = b->points;
    size_t i = 0;
    for (int z = 0; z < n; z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x <= n / 2; x++, i++) {
                const int k[3] = {x, y <= n / 2 ? y : y - n, z <= n / 2 ? z : z - n};
                double m2 = 0, share = 1;
                for (int d = 0; d < 3; d++) {
                    m2 += k[d] * k[d] / (b->edge_A * b->edge_A);
                    share /= pow((4 + 2 * cos(2 * M_PI * k[d] / n)) / 6, 2);
                }
                share *= m2 > 0 ? exp(-M_PI * M_PI * m2 / 0.0625) / m2 : 0;
                spectrum[2 * i] *= share;
                spectrum[2 * i + 1] *= share;
            }
}

/* A frame: spread, transform, product, transform back, accumulate. The product's factors are made
 * once, as PMEPot's exponentials are. */
static void run_pmepot(const bench *b)
{
    const int64_t n[3] = {b->points, b->points, b->points};
    const size_t nodes = (size_t)(n[0] * n[1] * n[2]), waves = (size_t)fourier_waves(n);
    double *mesh = malloc(nodes * sizeof *mesh), *sum = calloc(nodes, sizeof *sum),
           *spectrum = malloc(2 * waves * sizeof *spectrum), *factor = malloc(2 * waves * sizeof *factor), rate[ROUNDS];
    for (size_t i = 0; i < 2 * waves; i++)
        factor[i] = 1;
    multiply(b, factor);
    for (int round = 0; round < ROUNDS; round++) {
        const double start_s = now_s();
        for (size_t f = 0; f < b->frames; f++) {
            spread(b, b->position_A + f % b->kept * b->atoms * 3, mesh);
            fourier_forward(n, mesh, spectrum, NULL);
            for (size_t i = 0; i < 2 * waves; i++)
                spectrum[i] *= factor[i];
            fourier_back(n, spectrum, mesh, NULL);
            for (size_t i = 0; i < nodes; i++)
                sum[i] += mesh[i];
        }
        rate[round] = (double)b->frames / (now_s() - start_s);
    }
    qsort(rate, ROUNDS, sizeof *rate, by_size);
    printf("PMEPot's algorithm, plain C, one thread (run it by taskset -c 0), %zu atoms, %d^3 points: median %.1f "
           "frames/s (%.1f to %.1f)\n",
           b->atoms, b->points, rate[ROUNDS / 2], rate[0], rate[ROUNDS - 1]);
    free(mesh);
    free(sum);
    free(spectrum);
    free(factor);
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "bench_average DEVICE|pmepot ATOMS POINTS [FRAMES [mean|deviation|bare|exact]]\n");
        return 1;
    }
    bench b = {.atoms = strtoul(argv[2], NULL, 10),
               .points = atoi(argv[3]),
               .frames = argc > 4 ? strtoul(argv[4], NULL, 10) : 257};
    make_frames(&b);
    if (strcmp(argv[1], "pmepot") == 0)
        run_pmepot(&b);
    else
        run(&b, argv[1], argc > 5 ? argv[5] : "mean");
    free(b.charge_e);
    free(b.position_A);
    free(b.cell_A);
    return 0;
}
