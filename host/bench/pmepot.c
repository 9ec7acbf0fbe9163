#include "bench/pmepot.h"

#include "error.h"
#include "memory.h"
#include "numerics/fourier.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

static const double beta_per_A = 0.25;

struct pmepot {
    int64_t n[3];
    double edge_A[3], origin_A[3];
    size_t nodes, waves, frames;
    double *mesh, *sum, *spectrum, *factor;
};

/* Values of M_4 at the four nodes that an atom reaches. */
static void spline(float t, float w[4])
{
    const float u = 1 - t;
    w[0] = u * u * u / 6;
    w[1] = (3 * t * t * t - 6 * t * t + 4) / 6;
    w[2] = (3 * u * u * u - 6 * u * u + 4) / 6;
    w[3] = t * t * t / 6;
}

static void spread(pmepot *p, size_t atoms, const double *charge_e, const float *position_A)
{
    const int64_t *n = p->n;
    memset(p->mesh, 0, p->nodes * sizeof *p->mesh);
    for (size_t i = 0; i < atoms; i++) {
        float w[3][4];
        int64_t node[3];
        for (int d = 0; d < 3; d++) {
            const float s = (position_A[3 * i + (size_t)d] - (float)p->origin_A[d]) / (float)p->edge_A[d],
                        at = (s - floorf(s)) * (float)n[d], below = floorf(at);
            node[d] = (int64_t)below;
            spline(at - below, w[d]);
        }
        for (int z = 0; z < 4; z++)
            for (int y = 0; y < 4; y++)
                for (int x = 0; x < 4; x++)
                    p->mesh[((node[2] + z - 1 + n[2]) % n[2] * n[1] + (node[1] + y - 1 + n[1]) % n[1]) * n[0] +
                            (node[0] + x - 1 + n[0]) % n[0]] += charge_e[i] * (double)(w[0][x] * w[1][y] * w[2][z]);
    }
}

static void make_factor(pmepot *p)
{
    const int64_t *n = p->n;
    const double volume_A3 = p->edge_A[0] * p->edge_A[1] * p->edge_A[2];
    double *factor = p->factor;
    for (int64_t z = 0; z < n[2]; z++)
        for (int64_t y = 0; y < n[1]; y++)
            for (int64_t x = 0; x <= n[0] / 2; x++) {
                const double m[3] = {(double)x, (double)(y <= n[1] / 2 ? y : y - n[1]),
                                     (double)(z <= n[2] / 2 ? z : z - n[2])};
                double m2 = 0, share = 1;
                for (int d = 0; d < 3; d++) {
                    m2 += m[d] * m[d] / (p->edge_A[d] * p->edge_A[d]);
                    share /= pow((4 + 2 * cos(2 * M_PI * m[d] / (double)n[d])) / 6, 2);
                }
                *factor++ =
                    m2 > 0 ? share * exp(-M_PI * M_PI * m2 / (beta_per_A * beta_per_A)) / (M_PI * volume_A3 * m2) : 0;
            }
}

ley_status pmepot_create(const int64_t n[3], const double edge_A[3], pmepot **made, ley_error *error)
{
    const size_t nodes = (size_t)(n[0] * n[1] * n[2]), waves = (size_t)fourier_waves(n);
    const double bytes = sizeof(double) * (2 * (double)nodes + 3 * (double)waves);
    if (memory_check_one("the loop of PMEPot", bytes, "fewer points", error) != LEY_OK)
        return LEY_ERROR_MEMORY;
    pmepot *p = calloc(1, sizeof *p);
    if (p == NULL)
        return ley_fail_memory(error, sizeof *p, "the loop of PMEPot");
    *p = (pmepot){.nodes = nodes,
                  .waves = waves,
                  .mesh = malloc(nodes * sizeof *p->mesh),
                  .sum = calloc(nodes, sizeof *p->sum),
                  .spectrum = malloc(2 * waves * sizeof *p->spectrum),
                  .factor = malloc(waves * sizeof *p->factor)};
    if (p->mesh == NULL || p->sum == NULL || p->spectrum == NULL || p->factor == NULL) {
        pmepot_destroy(p);
        return ley_fail_memory(error, (size_t)bytes, "the loop of PMEPot");
    }
    for (int d = 0; d < 3; d++) {
        p->n[d] = n[d];
        p->edge_A[d] = edge_A[d];
        p->origin_A[d] = -edge_A[d] * (double)(n[d] - 1) / (double)(2 * n[d]);
    }
    make_factor(p);
    *made = p;
    return LEY_OK;
}

static ley_status add(pmepot *p, size_t atoms, const double *charge_e, const float *position_A, ley_error *error)
{
    spread(p, atoms, charge_e, position_A);
    ley_status status = fourier_forward(p->n, p->mesh, p->spectrum, error);
    if (status != LEY_OK)
        return status;
    for (size_t i = 0; i < p->waves; i++) {
        p->spectrum[2 * i] *= p->factor[i];
        p->spectrum[2 * i + 1] *= p->factor[i];
    }
    status = fourier_back(p->n, p->spectrum, p->mesh, error);
    for (size_t i = 0; status == LEY_OK && i < p->nodes; i++)
        p->sum[i] += p->mesh[i];
    p->frames += status == LEY_OK;
    return status;
}

/* Transforms take as many threads as the calling one may have processors. */
ley_status pmepot_add(pmepot *p, size_t atoms, const double *charge_e, const float *position_A, ley_error *error)
{
    cpu_set_t all, one;
    const int cpu = sched_getcpu();
    const bool is_kept = cpu >= 0 && cpu < CPU_SETSIZE && sched_getaffinity(0, sizeof all, &all) == 0;
    CPU_ZERO(&one);
    if (is_kept) {
        CPU_SET((size_t)cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
    }
    const ley_status status = add(p, atoms, charge_e, position_A, error);
    if (is_kept)
        sched_setaffinity(0, sizeof all, &all);
    return status;
}

double pmepot_mean(const pmepot *p, size_t i)
{
    return p->sum[i] / (double)p->frames;
}

void pmepot_destroy(pmepot *p)
{
    if (p == NULL)
        return;
    free(p->mesh);
    free(p->sum);
    free(p->spectrum);
    free(p->factor);
    free(p);
}
