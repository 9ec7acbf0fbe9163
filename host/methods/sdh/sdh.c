/* Single Debye-Hueckel: the atoms as one sphere with a charge, a dipole and a quadrupole at its
 * centre. */
#include "error.h"
#include "law/solvent.h"
#include "memory.h"
#include "parallel.h"
#include "target/boundary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Moments about the centre; of the traceless quadrupole, 1/2 sum q (x_i x_j - delta_ij r^2 / 3),
 * the six that differ. */
typedef struct moments {
    double centre_A[3], radius_A;
    double charge_e, dipole_eA[3];
    double xx_eA2, yy_eA2, zz_eA2, xy_eA2, xz_eA2, yz_eA2;
} moments;

typedef struct expansion {
    moments moments;
    double constant_A, dielectric;
    double screening_per_A, ka;          /* ka: times the radius; both 0 without screening */
    double monopole, dipole, quadrupole; /* what the tensors share at all points */
    const ley_boundary *boundary;
    double *value;
} expansion;

/* Sums run in the order of the atoms, as APBS's do: the same rounding. */
static void find_moments(const ley_atoms *atoms, moments *m)
{
    const size_t n = ley_atoms_count(atoms);
    const double *position_A = ley_atoms_positions_A(atoms), *charge_e = ley_atoms_charges_e(atoms),
                 *radius_A = ley_atoms_radii_A(atoms);
    double low_A[3], high_A[3];
    *m = (moments){0};
    ley_atoms_bounds_A(atoms, low_A, high_A);
    for (int axis = 0; axis < 3; axis++)
        m->centre_A[axis] = 0.5 * (high_A[axis] + low_A[axis]);
    for (size_t i = 0; i < n; i++) {
        const double x = position_A[3 * i] - m->centre_A[0], y = position_A[3 * i + 1] - m->centre_A[1],
                     z = position_A[3 * i + 2] - m->centre_A[2], q = charge_e[i];
        const double xx = x * x * q, yy = y * y * q, zz = z * z * q, trace_third = (xx + yy + zz) / 3;
        m->radius_A = fmax(m->radius_A, sqrt(x * x + y * y + z * z) + radius_A[i]);
        m->charge_e += q;
        m->dipole_eA[0] += x * q;
        m->dipole_eA[1] += y * q;
        m->dipole_eA[2] += z * q;
        m->xx_eA2 += 0.5 * (xx - trace_third);
        m->yy_eA2 += 0.5 * (yy - trace_third);
        m->zz_eA2 += 0.5 * (zz - trace_third);
        m->xy_eA2 += 0.5 * (x * y * q);
        m->xz_eA2 += 0.5 * (x * z * q);
        m->yz_eA2 += 0.5 * (y * z * q);
    }
}

static void prepare(const ley_atoms *atoms, const ley_solvent *solvent, expansion *e)
{
    const double er = solvent->dielectric / solvent->solute_dielectric, kappa = ley_screening_per_A(solvent);
    find_moments(atoms, &e->moments);
    e->constant_A = ley_solvent_coulomb_constant(solvent);
    e->dielectric = solvent->dielectric;
    e->screening_per_A = kappa < SOLVENT_LEAST_SCREENING_PER_A ? 0 : kappa;
    e->ka = e->screening_per_A * e->moments.radius_A;
    if (e->screening_per_A > 0) {
        const double ka = e->ka;
        e->monopole = 1 / (1 + ka);
        e->dipole = 3 * er / (1 + ka + er * (2 + 2 * ka + ka * ka));
        e->quadrupole = 15 * er / (6 + 6 * ka + 2 * ka * ka + er * (9 + 9 * ka + 4 * ka * ka + ka * ka * ka));
    } else {
        e->monopole = 1;
        e->dipole = 3 * er / (1 + 2 * er);
        e->quadrupole = 15 * er / (2 + 3 * er);
    }
}

static void sum_range(void *context, size_t first, size_t last)
{
    const expansion *e = context;
    const moments *m = &e->moments;
    for (size_t i = first; i < last; i++) {
        double p[3];
        ley_boundary_point_A(e->boundary, (int64_t)i, p);
        const double x = p[0] - m->centre_A[0], y = p[1] - m->centre_A[1], z = p[2] - m->centre_A[2];
        const double r2 = x * x + y * y + z * z, r = sqrt(r2), inverse = 1 / (e->dielectric * r);
        double t0 = e->monopole * inverse, t1 = e->dipole * inverse / r2, t2 = e->quadrupole * inverse / (r2 * r2);
        if (e->screening_per_A > 0) {
            const double kr = e->screening_per_A * r, screen = exp(e->ka - kr);
            t0 *= screen;
            t1 *= screen * (1 + kr);
            t2 *= screen * (3 + 3 * kr + kr * kr);
        }
        const double dipole = m->dipole_eA[0] * x + m->dipole_eA[1] * y + m->dipole_eA[2] * z;
        const double quadrupole = m->xx_eA2 * x * x + m->yy_eA2 * y * y + m->zz_eA2 * z * z +
                                  2 * (m->xy_eA2 * x * y + m->xz_eA2 * x * z + m->yz_eA2 * y * z);
        e->value[i] = e->constant_A * (m->charge_e * t0 + dipole * t1 + quadrupole * t2);
    }
}

ley_status ley_boundary_compute_sdh(ley_boundary *boundary, const ley_atoms *atoms, const ley_solvent *solvent,
                                    ley_error *error)
{
    ley_status status = solvent_check(solvent, error);
    if (status != LEY_OK)
        return status;
    const size_t bytes = (size_t)boundary->n * sizeof(double);
    status =
        memory_check_one("a second copy of the boundary", (double)bytes, "a coarser spacing, or fewer points", error);
    if (status != LEY_OK)
        return status;
    expansion e = {.boundary = boundary, .value = malloc(bytes)}; /* aside: a failure leaves the boundary as it was */
    if (e.value == NULL)
        return ley_fail_memory(error, bytes, "the boundary");
    prepare(atoms, solvent, &e);
    parallel_ranges((size_t)boundary->n, sum_range, &e);
    for (int64_t i = 0; i < boundary->n && status == LEY_OK; i++)
        if (!isfinite(e.value[i])) {
            char place[BOUNDARY_PLACE];
            status = ley_fail(
                error, LEY_ERROR_INPUT,
                "%s of the boundary lies at or near the molecule's centre, (%.9g, %.9g, %.9g) A, where a multipole "
                "expansion has no value",
                boundary_place(boundary, i, place), e.moments.centre_A[0], e.moments.centre_A[1],
                e.moments.centre_A[2]);
        }
    if (status == LEY_OK)
        memcpy(boundary->value, e.value, bytes);
    free(e.value);
    return status;
}
