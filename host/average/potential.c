#include "average/potential.h"

#include "average/place.h"
#include "error.h"
#include "memory.h"
#include "numerics/fourier.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* From the mesh's spectrum to that of the points: what both have of an axis. Where waves are as
 * long as two nodes, +k and -k are one number of the mesh: half of it is either's. */
typedef struct fold {
    const average_problem *p;
    double reciprocal[3][3], factor; /* 1 / A, without 2 pi */
    double *spline[3];               /* 1 / its transform, at 0 to n / 2, to the power that is asked for */
    const double *from;
    double *to;
} fold;

/* The mesh's wave m of axis i: its place among the stored ones. */
static inline int64_t stored(int64_t m, int64_t n)
{
    return m < 0 ? m + n : m;
}

static void add_wave(const fold *f, const int64_t m[3], double share, double sum[2])
{
    const average_problem *p = f->p;
    const int64_t *n = p->mesh.n, waves = n[0] / 2 + 1;
    const bool is_conjugate = m[0] < 0;
    int64_t at[3];
    double k2 = 0, scale = share * f->factor;
    for (int axis = 0; axis < 3; axis++) {
        at[axis] = stored(is_conjugate ? -m[axis] : m[axis], n[axis]);
        scale *= f->spline[axis][llabs(m[axis])];
    }
    for (int d = 0; d < 3; d++) {
        double k = 0;
        for (int axis = 0; axis < 3; axis++)
            k += (double)m[axis] * f->reciprocal[axis][d];
        k2 += 4 * M_PI * M_PI * k * k;
    }
    if (k2 == 0)
        return;
    const double sigma_A = p->options.smooth_A, *c = f->from + 2 * ((at[2] * n[1] + at[1]) * waves + at[0]);
    scale *= exp(-sigma_A * sigma_A * k2 / 2) / k2;
    sum[0] += scale * c[0];
    sum[1] += (is_conjugate ? -scale : scale) * c[1];
}

/* The first and last wave of the mesh that is wave k of the points along an axis: every n-th. */
static void aliases(int64_t k, int64_t n, int64_t mesh, int64_t *first, int64_t *last)
{
    const int64_t half = mesh / 2;
    *first = k - (k + half) / n * n;
    *last = k + (half - k) / n * n;
    if (k > half)
        *last = k - (k - half + n - 1) / n * n;
}

static void fold_rows(void *context, size_t first, size_t last)
{
    const fold *f = context;
    const int64_t *n = f->p->n, *mesh = f->p->mesh.n, waves = n[0] / 2 + 1;
    for (size_t row = first; row < last; row++) {
        const int64_t y = (int64_t)row % n[1], z = (int64_t)row / n[1];
        int64_t low[3], high[3], m[3];
        aliases(y, n[1], mesh[1], &low[1], &high[1]);
        aliases(z, n[2], mesh[2], &low[2], &high[2]);
        for (int64_t x = 0; x < waves; x++) {
            double *sum = f->to + 2 * ((int64_t)row * waves + x);
            sum[0] = sum[1] = 0;
            aliases(x, n[0], mesh[0], &low[0], &high[0]);
            for (m[2] = low[2]; m[2] <= high[2]; m[2] += n[2])
                for (m[1] = low[1]; m[1] <= high[1]; m[1] += n[1])
                    for (m[0] = low[0]; m[0] <= high[0]; m[0] += n[0]) {
                        double share = 1;
                        for (int axis = 0; axis < 3; axis++)
                            share *= 2 * llabs(m[axis]) == mesh[axis] ? 0.5 : 1;
                        add_wave(f, m, share, sum);
                    }
        }
    }
}

double potential_spline(const average_problem *p, int axis, int64_t m)
{
    const double theta = 2 * M_PI * (double)m / (double)p->mesh.n[axis];
    /* PMEPot's is that of values at nodes: M_4(0) + 2 M_4(1) cos theta; squared. */
    return p->options.pmepot ? pow((4 + 2 * cos(theta)) / 6, -2) : 1 / window_transform(p->mesh.window, theta);
}

static ley_status make_splines(fold *f, ley_error *error)
{
    for (int axis = 0; axis < 3; axis++) {
        const int64_t n = f->p->mesh.n[axis];
        f->spline[axis] = malloc((size_t)(n / 2 + 1) * sizeof(double));
        if (f->spline[axis] == NULL)
            return ley_fail_memory(error, (size_t)n * 4, "the splines' transform");
        for (int64_t k = 0; k <= n / 2; k++)
            f->spline[axis][k] = potential_spline(f->p, axis, k);
    }
    return LEY_OK;
}

static ley_status make_potential(fold *f, const double *density_e, double *spectrum, double *folded, double *value,
                                 ley_error *error)
{
    const average_problem *p = f->p;
    ley_status status = make_splines(f, error);
    if (status == LEY_OK)
        status = fourier_forward(p->mesh.n, density_e, spectrum, error);
    if (status != LEY_OK)
        return status;
    f->from = spectrum;
    f->to = folded;
    parallel_ranges((size_t)(p->n[1] * p->n[2]), fold_rows, f);
    return fourier_back(p->n, folded, value, error);
}

ley_status potential_of(const average_problem *p, const double cell_A[9], const double *density_e, double *value,
                        ley_error *error)
{
    fold f = {.p = p};
    const size_t bytes = 2 * sizeof(double) * (size_t)fourier_waves(p->mesh.n),
                 folded_bytes = 2 * sizeof(double) * (size_t)fourier_waves(p->n);
    ley_status status = memory_check_one("the transforms", (double)bytes + (double)folded_bytes,
                                         "fewer points, or a larger smooth_A", error);
    if (status != LEY_OK)
        return status;
    f.factor = p->coulomb_constant * 4 * M_PI / place_reciprocal(cell_A, f.reciprocal);
    double *spectrum = malloc(bytes), *folded = malloc(folded_bytes);
    status = spectrum != NULL && folded != NULL ? make_potential(&f, density_e, spectrum, folded, value, error)
                                                : ley_fail_memory(error, bytes + folded_bytes, "the transforms");
    for (int axis = 0; axis < 3; axis++)
        free(f.spline[axis]);
    free(spectrum);
    free(folded);
    return status;
}
