/* Waves along the normal of planes across vector i are multiples m of its reciprocal vector, k = 2
 * pi m / L, L being how far the vector leads along the normal:
 *
 *     S(m)   = sum over planes j of Q_j exp(-2 pi i m j / n) / W(m)
 *     rho(s) = 1/V sum over m of exp(-sigma^2 k^2 / 2) S(m) exp(2 pi i m s)
 *     E(s)   = C 4 pi / V sum over m != 0 of -i / k ...,    phi(s) the same of 1 / k^2
 *
 * From one side: E - E(0) + 4 pi C rho_0 z and phi - phi(0) + E(0) z - 2 pi C rho_0 z^2, rho_0
 * being the mean charge density, which the periodic sums leave out. */
#include "average/profile.h"

#include "average/place.h"
#include "average/potential.h"
#include "average/results.h"
#include "average/sums.h"
#include "error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHARGE, FIELD, POTENTIAL, QUANTITIES, DISTANCE = QUANTITIES, ERRORS };

typedef struct profiler {
    const average_problem *p;
    int axis;
    ley_profile_boundary boundary;
    size_t planes;
    double length_A, volume;
} profiler;

/* All three at a fraction of the vector, from the planes' charges' waves: [n / 2 + 1][2]. */
static void values_at(const profiler *f, double (*wave)[2], double s, double value[QUANTITIES])
{
    const int64_t n = f->p->mesh.n[f->axis];
    const double sigma_A = f->p->options.smooth_A, factor = f->p->coulomb_constant * 4 * M_PI;
    value[CHARGE] = wave[0][0] / f->volume;
    value[FIELD] = value[POTENTIAL] = 0;
    for (int64_t m = 1; m <= n / 2; m++) {
        const double k = 2 * M_PI * (double)m / f->length_A, phase = 2 * M_PI * (double)m * s,
                     share = (2 * m == n ? 1 : 2) * exp(-sigma_A * sigma_A * k * k / 2) / f->volume;
        const double even = share * (wave[m][0] * cos(phase) - wave[m][1] * sin(phase)),
                     odd = share * (wave[m][0] * sin(phase) + wave[m][1] * cos(phase));
        value[CHARGE] += even;
        value[FIELD] += factor * odd / k;
        value[POTENTIAL] += factor * even / (k * k);
    }
}

static void make_waves(const profiler *f, const double *charge_e, double (*wave)[2])
{
    const int64_t n = f->p->mesh.n[f->axis];
    for (int64_t m = 0; m <= n / 2; m++) {
        const double spline = potential_spline(f->p, f->axis, m);
        wave[m][0] = wave[m][1] = 0;
        for (int64_t j = 0; j < n; j++) {
            const double phase = 2 * M_PI * (double)(m * j % n) / (double)n;
            wave[m][0] += spline * charge_e[j] * cos(phase);
            wave[m][1] -= spline * charge_e[j] * sin(phase);
        }
    }
}

/* The value at the plane by the mirror image: of the field, with the other sign. */
static void mirror(const profiler *f, double (*wave)[2], double s, double value[QUANTITIES])
{
    double other[QUANTITIES];
    values_at(f, wave, 1 - 2 * f->p->origin[f->axis] - s, other);
    for (int q = 0; q < QUANTITIES; q++)
        value[q] = (value[q] + (q == FIELD ? -other[q] : other[q])) / 2;
}

/* made[QUANTITIES][planes] of the charges in the mesh's planes across the axis. */
static void make_profile(const profiler *f, const double *charge_e, double (*wave)[2], double *made)
{
    double first[QUANTITIES];
    make_waves(f, charge_e, wave);
    values_at(f, wave, 0, first);
    for (size_t i = 0; i < f->planes; i++) {
        const double s = (double)i / (double)f->planes, z_A = s * f->length_A,
                     mean = f->p->coulomb_constant * 4 * M_PI * wave[0][0] / f->volume;
        double value[QUANTITIES];
        values_at(f, wave, s, value);
        if (f->boundary == LEY_PROFILE_SYMMETRIC)
            mirror(f, wave, s, value);
        if (f->boundary == LEY_PROFILE_ONE_SIDE) {
            value[FIELD] += mean * z_A - first[FIELD];
            value[POTENTIAL] += first[FIELD] * z_A - first[POTENTIAL] - mean * z_A * z_A / 2;
        }
        for (int q = 0; q < QUANTITIES; q++)
            made[(size_t)q * f->planes + i] = value[q];
    }
}

/* Standard errors by the blocks' profiles: [QUANTITIES][planes]. */
static ley_status make_errors(const ley_average *a, const profiler *f, double (*wave)[2], double *made,
                              ley_error *error)
{
    const all_blocks *all = &a->blocks;
    const size_t values = QUANTITIES * f->planes, count = sums_plane_count(&f->p->mesh);
    double *own = malloc(values * sizeof *own), *sum = calloc(values, sizeof *sum);
    const int64_t *n = f->p->mesh.n;
    const size_t first = (size_t)(f->axis == 0 ? 0 : f->axis == 1 ? n[0] : n[0] + n[1]);
    for (size_t i = 0; i < values; i++)
        made[i] = all->count < 2 ? NAN : 0;
    for (int pass = 0; pass < 2 && own != NULL && sum != NULL && all->count >= 2; pass++)
        for (int64_t b = 0; b < all->count; b++) {
            make_profile(f, all->planes + (size_t)b * count + first, wave, own);
            for (size_t i = 0; i < values; i++)
                *(pass == 0 ? &sum[i] : &made[i]) +=
                    pass == 0 ? own[i] / (double)all->count : (own[i] - sum[i]) * (own[i] - sum[i]);
        }
    for (size_t i = 0; i < values; i++)
        made[i] = sqrt(made[i] / ((double)(all->count - 1) * (double)all->count));
    const bool are_there = own != NULL && sum != NULL;
    free(own);
    free(sum);
    return are_there ? LEY_OK : ley_fail_memory(error, 2 * values * sizeof *own, "the profile");
}

static ley_status make_all(ley_average *a, const profiler *f, double *value, ley_error *error)
{
    const size_t planes = f->planes, n = (size_t)f->p->mesh.n[f->axis];
    double *charge_e = malloc(sums_nodes(f->p) * sizeof *charge_e),
           *sums = malloc(sums_plane_count(&f->p->mesh) * sizeof *sums),
           (*wave)[2] = malloc((n / 2 + 1) * sizeof *wave);
    ley_status status = charge_e != NULL && sums != NULL && wave != NULL
                            ? results_charges(a, charge_e, error)
                            : ley_fail_memory(error, 8 * sums_nodes(f->p), "the profile");
    if (status == LEY_OK) {
        sums_planes(&f->p->mesh, charge_e, sums);
        const int64_t *nodes = f->p->mesh.n;
        make_profile(f, sums + (f->axis == 0 ? 0 : f->axis == 1 ? nodes[0] : nodes[0] + nodes[1]), wave, value);
        for (size_t i = 0; i < planes; i++)
            value[DISTANCE * planes + i] = f->length_A * (double)i / (double)planes;
        status = make_errors(a, f, wave, value + ERRORS * planes, error);
    }
    free(charge_e);
    free(sums);
    free(wave);
    return status;
}

ley_status profile_make(ley_average *a, int axis, ley_profile_boundary boundary, ley_profile *profile, ley_error *error)
{
    double cell_A[9], reciprocal[3][3];
    profiler f = {.p = &a->problem, .axis = axis, .boundary = boundary, .planes = (size_t)a->problem.n[axis]};
    const size_t planes = f.planes, bytes = PROFILE_ARRAYS * planes * sizeof(double);
    results_cell(a, cell_A);
    f.volume = place_reciprocal(cell_A, reciprocal);
    f.length_A = 1 / sqrt(reciprocal[axis][0] * reciprocal[axis][0] + reciprocal[axis][1] * reciprocal[axis][1] +
                          reciprocal[axis][2] * reciprocal[axis][2]);
    double *value = malloc(bytes);
    const ley_status status =
        value != NULL ? make_all(a, &f, value, error) : ley_fail_memory(error, bytes, "the profile");
    if (status != LEY_OK) {
        free(value);
        return status;
    }
    free(a->profile.value);
    a->profile.value = value;
    *profile = (ley_profile){.planes = planes,
                             .distance_A = value + DISTANCE * planes,
                             .charge_e_A3 = value,
                             .field = value + FIELD * planes,
                             .potential = value + POTENTIAL * planes,
                             .charge_error = value + ERRORS * planes,
                             .field_error = value + (ERRORS + FIELD) * planes,
                             .potential_error = value + (ERRORS + POTENTIAL) * planes};
    return LEY_OK;
}
