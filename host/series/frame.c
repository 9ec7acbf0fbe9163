#include "series/frame.h"

#include "error.h"
#include "law/wide.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct series_frame {
    const frame_sum *sum;
    neighbours charges;
    structure_factors *waves; /* NULL in open space */
};

/* ---- Pairs ----------------------------------------------------------------------------------- */

/* Vectors of AVX2: longer ones make it slow, and are hardly faster where there are any. */
enum { LANES = 4 };
typedef double lanes __attribute__((vector_size(LANES * sizeof(double)), aligned(8)));
typedef int64_t choices __attribute__((vector_size(LANES * sizeof(int64_t))));

typedef struct near_sum {
    const series_frame *f;
    point_sum *to;
} near_sum;

/* Charges first to last - 1, seen from `from_A`; in a cell those within the cutoff. */
static WIDE_INLINE void add_charges(near_sum *sum, size_t first, size_t last, const double from_A[3], bool is_open)
{
    static const choices number = {0, 1, 2, 3};
    const frame_sum *how = sum->f->sum;
    const neighbours *at = &sum->f->charges;
    const smooth_part *smooth = &how->smooth;
    const double r_min2 = how->r_min_A * how->r_min_A, cutoff2 = smooth->cutoff_A * smooth->cutoff_A,
                 by = is_open ? 0 : 2 / cutoff2;
    lanes value = {0}, field[3] = {{0}};
    choices close = {0};
    for (size_t j = first; j < last; j += LANES) {
        const lanes x = from_A[0] - *(const lanes *)(at->place_A[0] + j),
                    y = from_A[1] - *(const lanes *)(at->place_A[1] + j),
                    z = from_A[2] - *(const lanes *)(at->place_A[2] + j), r2 = x * x + y * y + z * z;
        const choices left = number < (int64_t)(last - j), counts = is_open ? left : left & (r2 < cutoff2),
                      is_far = r2 >= r_min2;
        const lanes charge = *(const lanes *)(at->charge_e + j), q = (lanes)((choices)charge & counts);
        lanes inverse = r2;
        for (int i = 0; i < LANES; i++)
            inverse[i] = 1 / sqrt(r2[i] > r_min2 ? r2[i] : r_min2);
        lanes term = inverse, slope = (lanes)((choices)(inverse * inverse * inverse) & is_far);
        if (!is_open) {
            const lanes t = r2 * by - 1;
            lanes a = smooth->value[SMOOTH_TERMS - 1] + 0 * t, b = smooth->slope[SMOOTH_TERMS - 1] + 0 * t;
            for (int i = SMOOTH_TERMS - 2; i >= 0; i--) {
                a = a * t + smooth->value[i];
                b = b * t + smooth->slope[i];
            }
            term -= a;
            slope += 2 * b;
        }
        close -= counts & ~is_far;
        value += q * term;
        slope *= q;
        field[0] += slope * x;
        field[1] += slope * y;
        field[2] += slope * z;
    }
    for (int i = 0; i < LANES; i++) {
        sum->to->value += value[i];
        sum->to->close += close[i];
        for (int axis = 0; axis < 3; axis++)
            sum->to->field[axis] += field[axis][i];
    }
}

static WIDE_INLINE void add_all(near_sum *sum, size_t first, size_t last, const double from_A[3])
{
    add_charges(sum, first, last, from_A, true);
}

static WIDE_INLINE void add_near(near_sum *sum, size_t first, size_t last, const double from_A[3])
{
    add_charges(sum, first, last, from_A, false);
}

WIDE_VERSIONS(add_all, (near_sum * sum, size_t first, size_t last, const double from_A[3]), (sum, first, last, from_A))
WIDE_VERSIONS(add_near, (near_sum * sum, size_t first, size_t last, const double from_A[3]), (sum, first, last, from_A))

static void add_stretch(void *context, size_t first, size_t last, const double from_A[3])
{
    add_near_wide(context, first, last, from_A);
}

void frame_leave_out(const frame_sum *sum, const double way_A[3], double q_e, point_sum *at)
{
    const double r2 = cell_dot(way_A, way_A), r_A = sqrt(r2), beta = sum->smooth.beta_per_A;
    const bool counted = sum->is_open || r_A < sum->smooth.cutoff_A; /* beyond it waves alone have brought it */
    const double slope = counted ? (r_A >= sum->r_min_A ? 1 / (r2 * r_A) : 0) : -2 * smooth_slope(r2, beta);
    at->value -= q_e * (counted ? 1 / fmax(r_A, sum->r_min_A) : smooth_value(r2, beta));
    for (int axis = 0; axis < 3; axis++)
        at->field[axis] -= q_e * slope * way_A[axis];
    at->close -= q_e != 0 && r_A < sum->r_min_A;
}

/* ---- All of it ------------------------------------------------------------------------------- */

ley_status frame_create(const frame_sum *sum, const cell *c, size_t n, const double *position_A, const double *charge_e,
                        series_frame **made, ley_error *error)
{
    /* Bins of a share of the cutoff: rows of them leave little out that is within it. */
    const double share = 0.2;
    series_frame *f = calloc(1, sizeof *f);
    if (f == NULL)
        return ley_fail_memory(error, sizeof *f, "a frame");
    f->sum = sum;
    ley_status status = neighbours_make(c, n, position_A, charge_e, share * sum->smooth.cutoff_A, &f->charges, error);
    if (status == LEY_OK && !sum->is_open)
        status = structure_factors_create(&f->charges, sum->smooth.beta_per_A, sum->s, &f->waves, error);
    if (status == LEY_OK)
        *made = f;
    else
        frame_destroy(f);
    return status;
}

void frame_destroy(series_frame *f)
{
    if (f == NULL)
        return;
    neighbours_clear(&f->charges);
    structure_factors_destroy(f->waves);
    free(f);
}

int64_t frame_waves(const series_frame *f)
{
    return f->waves != NULL ? structure_factors_count(f->waves) : 0;
}

ley_status frame_at(const series_frame *f, size_t points, const double *point_A, point_sum *at, ley_error *error)
{
    for (size_t i = 0; i < points; i++) {
        at[i] = (point_sum){.value = 0};
        near_sum sum = {f, &at[i]};
        if (f->sum->is_open)
            add_all_wide(&sum, 0, f->charges.n, point_A + 3 * i);
        else
            neighbours_near(&f->charges, point_A + 3 * i, f->sum->smooth.cutoff_A, add_stretch, &sum);
    }
    return f->waves != NULL ? structure_factors_add(f->waves, points, point_A, at, error) : LEY_OK;
}

/* ---- Its time -------------------------------------------------------------------------------- */

/* Nanoseconds, about: of a charge that is put in order; of a pair within the cutoff, or next to it;
 * of a stretch of bins; of a charge and a wave; of four points and a wave. */
static const double charge_ns = 25, pair_ns = 3, stretch_ns = 30, wave_ns = 0.1, point_wave_ns = 4;

static double time_of(const cell *c, double s, double n, double points, double cutoff_A)
{
    const double bin_A = fmax(0.2 * cutoff_A, cbrt(4 * c->measure / n)), reach_A = cutoff_A + bin_A,
                 density = n / c->measure, waves = c->measure * pow(2 * s * s / cutoff_A, 3) / (12 * M_PI * M_PI) + 8;
    return n * charge_ns +
           points * (4.2 * pow(reach_A, 3) * density * pair_ns + 3.2 * pow(reach_A / bin_A, 2) * stretch_ns) +
           waves * (n * wave_ns + ceil(points / FRAME_POINTS) * point_wave_ns);
}

double frame_best_cutoff(const cell *c, double s, double n, double points, double *time_ns)
{
    const double edge_A = cbrt(c->measure), step = 1.05;
    double best_A = edge_A;
    *time_ns = INFINITY;
    for (double cutoff_A = 2 * s * cbrt(c->measure / fmax(n, 1)) / 4; cutoff_A < 4 * edge_A; cutoff_A *= step) {
        const double ns = time_of(c, s, n, points, cutoff_A);
        if (ns < *time_ns) {
            *time_ns = ns;
            best_A = cutoff_A;
        }
    }
    return best_A;
}
