#include "reference.h"

#include <math.h>

double reference_dcs(const ley_atoms *atoms, const double point_A[3], double coulomb_constant, double r_min_A)
{
    const size_t n = ley_atoms_count(atoms);
    const double *position_A = ley_atoms_positions_A(atoms), *charge_e = ley_atoms_charges_e(atoms);
    double sum = 0;
    for (size_t j = 0; j < n; j++) {
        const double dx = point_A[0] - position_A[3 * j], dy = point_A[1] - position_A[3 * j + 1],
                     dz = point_A[2] - position_A[3 * j + 2];
        const double r_A = sqrt(dx * dx + dy * dy + dz * dz);
        sum += charge_e[j] / (r_A < r_min_A ? r_min_A : r_A);
    }
    return coulomb_constant * sum;
}

double reference_mdh(const ley_atoms *atoms, const double point_A[3], const ley_solvent *solvent)
{
    const double kappa = ley_screening_per_A(solvent),
                 factor_A = ley_solvent_coulomb_constant(solvent) / solvent->dielectric;
    const size_t n = ley_atoms_count(atoms);
    const double *position_A = ley_atoms_positions_A(atoms), *charge_e = ley_atoms_charges_e(atoms),
                 *radius_A = ley_atoms_radii_A(atoms);
    double sum = 0;
    for (size_t j = 0; j < n; j++) {
        const double dx = point_A[0] - position_A[3 * j], dy = point_A[1] - position_A[3 * j + 1],
                     dz = point_A[2] - position_A[3 * j + 2];
        const double d_A = sqrt(dx * dx + dy * dy + dz * dz);
        if (charge_e[j] == 0)
            continue;
        if (kappa < 1e-9)
            sum += charge_e[j] / d_A;
        else
            sum += charge_e[j] / d_A * exp(-kappa * (d_A - radius_A[j])) / (1 + kappa * radius_A[j]);
    }
    return factor_A * sum;
}

/* The parts of monopole, dipole and quadrupole that do not depend on direction. */
static void sdh_tensors(double r, double a, double k, double eps_s, double er, double t[3])
{
    if (k < 1e-9) {
        t[0] = 1 / (eps_s * r);
        t[1] = -1 / (eps_s * pow(r, 3)) * 3 * er / (1 + 2 * er);
        t[2] = 3 / (eps_s * pow(r, 5)) * 5 * er / (2 + 3 * er);
        return;
    }
    const double e = exp(k * (a - r)), ka = k * a, kr = k * r;
    t[0] = e / (eps_s * r * (1 + ka));
    t[1] = -3 * er * e * (1 + kr) / (eps_s * pow(r, 3) * (1 + ka + er * (2 + 2 * ka + ka * ka)));
    t[2] = 15 * er * e * (3 + 3 * kr + kr * kr) /
           (eps_s * pow(r, 5) * (6 + 6 * ka + 2 * ka * ka + er * (9 + 9 * ka + 4 * ka * ka + ka * ka * ka)));
}

double reference_sdh(const ley_atoms *atoms, const double point_A[3], const ley_solvent *solvent)
{
    const size_t n = ley_atoms_count(atoms);
    const double *position_A = ley_atoms_positions_A(atoms), *charge_e = ley_atoms_charges_e(atoms),
                 *radius_A = ley_atoms_radii_A(atoms);
    double low_A[3], high_A[3], centre_A[3], a_A = 0, r2_A2 = 0, t[3];
    double charge = 0, dipole[3] = {0}, quadrupole[3][3] = {{0}};
    for (int i = 0; i < 3; i++) {
        low_A[i] = high_A[i] = position_A[i];
        for (size_t j = 0; j < n; j++) {
            low_A[i] = fmin(low_A[i], position_A[3 * j + (size_t)i]);
            high_A[i] = fmax(high_A[i], position_A[3 * j + (size_t)i]);
        }
        centre_A[i] = (low_A[i] + high_A[i]) / 2;
        r2_A2 += (point_A[i] - centre_A[i]) * (point_A[i] - centre_A[i]);
    }
    for (size_t j = 0; j < n; j++) {
        double x[3], d2_A2 = 0;
        for (int i = 0; i < 3; i++) {
            x[i] = position_A[3 * j + (size_t)i] - centre_A[i];
            d2_A2 += x[i] * x[i];
        }
        a_A = fmax(a_A, sqrt(d2_A2) + radius_A[j]);
        charge += charge_e[j];
        for (int i = 0; i < 3; i++) {
            dipole[i] += charge_e[j] * x[i];
            for (int k = 0; k < 3; k++)
                quadrupole[i][k] += 0.5 * charge_e[j] * (x[i] * x[k] - (i == k ? d2_A2 / 3 : 0));
        }
    }
    sdh_tensors(sqrt(r2_A2), a_A, ley_screening_per_A(solvent), solvent->dielectric,
                solvent->dielectric / solvent->solute_dielectric, t);
    double sum = charge * t[0];
    for (int i = 0; i < 3; i++) {
        sum -= dipole[i] * (point_A[i] - centre_A[i]) * t[1];
        for (int k = 0; k < 3; k++)
            sum += quadrupole[i][k] * (point_A[i] - centre_A[i]) * (point_A[k] - centre_A[k]) * t[2];
    }
    return ley_solvent_coulomb_constant(solvent) * sum;
}

/* ---- Short-range sums ------------------------------------------------------------------------------------------ */

/* What atom j does at distance r. */
static double pair_value(const ley_atoms *atoms, const ley_short_range *s, const expression *e, size_t j, double r_A)
{
    const double q_e = ley_atoms_charges_e(atoms)[j], a_A = s->cutoff_A, z = s->steepness;
    const double t = pow(r_A / a_A, 2); /* r^2/a^2 */
    const double R_A = ley_atoms_radii_A(atoms)[j] + s->probe_radius_A;
    const double eps_j = s->depth_kcal_mol != NULL ? s->depth_kcal_mol[j] : s->depth_for_all_kcal_mol;
    const double eps = sqrt(eps_j * s->probe_depth_kcal_mol);
    switch (s->pair) {
    case LEY_PAIR_COULOMB:
        return q_e / r_A;
    case LEY_PAIR_SHIFTED:
        return q_e * pow(1 - t, 2) / r_A;
    case LEY_PAIR_TAYLOR2:
        return q_e * (1 / r_A - (15.0 / 8 - 5.0 / 4 * t + 3.0 / 8 * pow(t, 2)) / a_A);
    case LEY_PAIR_TAYLOR3:
        return q_e * (1 / r_A - (35.0 / 16 - 35.0 / 16 * t + 21.0 / 16 * pow(t, 2) - 5.0 / 16 * pow(t, 3)) / a_A);
    case LEY_PAIR_TAYLOR4:
        return q_e * (1 / r_A - (315.0 / 128 - 105.0 / 32 * t + 189.0 / 64 * pow(t, 2) - 45.0 / 32 * pow(t, 3) +
                                 35.0 / 128 * pow(t, 4)) / a_A);
    case LEY_PAIR_YUKAWA:
        return q_e * exp(-s->kappa_per_A * r_A) / r_A;
    case LEY_PAIR_DISTANCE_DIELECTRIC:
        return q_e / pow(r_A, 2);
    case LEY_PAIR_LENNARD_JONES:
        return eps * (pow(R_A / r_A, 12) - 2 * pow(R_A / r_A, 6));
    case LEY_PAIR_BUCKINGHAM: /* R = 0: exp(-infinity), which is 0 */
        return eps * (6 / (z - 6) * exp(z * (1 - r_A / R_A)) - z / (z - 6) * pow(R_A / r_A, 6));
    case LEY_PAIR_EXPRESSION:
        return expression_evaluate(e, r_A, q_e);
    }
    return NAN;
}

/* Where images are. x has the components dual[i] . x along the vectors, none of them above |dual[i]| |x|. Along a vector that is not periodic,
 * which is normal to those that are, that tells what is too far. */
typedef struct images {
    bool periodic[3];
    double vector_A[3][3], dual_per_A[3][3];
    double width[3]; /* the largest component of what is in reach */
} images;

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double product[3])
{
    for (int i = 0; i < 3; i++)
        product[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* Vectors in place of those that are not periodic: normal to those that are, and to each other. */
static void complete_cell(images *im)
{
    const int count = im->periodic[0] + im->periodic[1] + im->periodic[2];
    static const double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    int p = 0, least = 0; /* the vector that is alone, or else missing; its smallest component */
    while (p < 2 && im->periodic[p] != (count == 1))
        p++;
    double(*v)[3] = im->vector_A;
    if (count == 0)
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                v[i][k] = axes[i][k];
    if (count == 1) {
        for (int k = 1; k < 3; k++)
            if (fabs(v[p][k]) < fabs(v[p][least]))
                least = k;
        cross(v[p], axes[least], v[(p + 1) % 3]);
        cross(v[p], v[(p + 1) % 3], v[(p + 2) % 3]);
    }
    if (count == 2)
        cross(v[(p + 1) % 3], v[(p + 2) % 3], v[p]);
}

/* False for a cell without volume. */
static bool find_images(const ley_short_range *s, double reach_A, images *im)
{
    for (int i = 0; i < 3; i++) {
        im->periodic[i] = s->periodic[i];
        for (int k = 0; k < 3; k++)
            im->vector_A[i][k] = s->cell_A[i][k];
    }
    complete_cell(im);
    for (int i = 0; i < 3; i++) {
        double *u = im->dual_per_A[i];
        cross(im->vector_A[(i + 1) % 3], im->vector_A[(i + 2) % 3], u);
        const double volume = dot(u, im->vector_A[i]);
        for (int k = 0; k < 3; k++)
            u[k] /= volume;
        /* A hair more: coordinates are rounded, and so are differences of those that are large. */
        im->width[i] = sqrt(dot(u, u)) * (reach_A * (1 + 1e-9) + 1e-5);
        if (!isfinite(im->width[i]))
            return false;
    }
    return true;
}

/* Which multiples of the vectors may bring an atom at d from the point into reach; false: none, as for most atoms, which is seen without
 * ceil() and floor(): many processors have no instruction for them. */
static bool image_range(const images *im, const double d_A[3], double low[3], double high[3])
{
    const double digits = 0x1.8p52; /* added to a number it leaves no digits for a fraction */
    double at[3], width[3];
    for (int i = 0; i < 3; i++) {
        at[i] = dot(im->dual_per_A[i], d_A);
        width[i] = im->width[i] + 1e-9 * fabs(at[i]);
        const double nearest = im->periodic[i] ? (at[i] + digits) - digits : 0;
        if (fabs(at[i] - nearest) > width[i])
            return false;
    }
    for (int i = 0; i < 3; i++) {
        low[i] = im->periodic[i] ? ceil(at[i] - width[i]) : 0;
        high[i] = im->periodic[i] ? floor(at[i] + width[i]) : 0;
    }
    return true;
}

typedef struct short_sum {
    double cutoff_A, value, lower, higher;
    bool vanishes; /* the function, at the cutoff */
} short_sum;

static void add_value(short_sum *sum, double r_A, double value)
{
    const bool counts = r_A < sum->cutoff_A;
    if (counts)
        sum->value += value;
    if (sum->vanishes || fabs(r_A / sum->cutoff_A - 1) >= 1e-6)
        return;
    const double change = counts ? -value : value;
    *(change < 0 ? &sum->lower : &sum->higher) += change;
}

double reference_short_range(const ley_atoms *atoms, const ley_short_range *s, const expression *e, const double point_A[3],
                             double constant, double r_min_A, double slack[2])
{
    const double reach_A = s->cutoff_A * (1 + 1e-6);
    const size_t n = ley_atoms_count(atoms);
    const double *position_A = ley_atoms_positions_A(atoms);
    const bool open = !s->periodic[0] && !s->periodic[1] && !s->periodic[2];
    short_sum sum = {.cutoff_A = s->cutoff_A, .vanishes = s->pair >= LEY_PAIR_SHIFTED && s->pair <= LEY_PAIR_TAYLOR4};
    images im;
    slack[0] = slack[1] = 0;
    if (!find_images(s, reach_A, &im))
        return NAN;
    double(*v)[3] = im.vector_A;
    for (size_t j = 0; j < n; j++) {
        const double d_A[3] = {point_A[0] - position_A[3 * j], point_A[1] - position_A[3 * j + 1], point_A[2] - position_A[3 * j + 2]};
        double low[3], high[3];
        if ((open && fabs(d_A[0]) >= reach_A) || !image_range(&im, d_A, low, high))
            continue;
        for (double i = low[0]; i <= high[0]; i++)
            for (double k = low[1]; k <= high[1]; k++)
                for (double l = low[2]; l <= high[2]; l++) {
                    double x_A[3];
                    for (int axis = 0; axis < 3; axis++)
                        x_A[axis] = d_A[axis] - (i * v[0][axis] + k * v[1][axis] + l * v[2][axis]);
                    const double r_A = sqrt(dot(x_A, x_A));
                    if (r_A < reach_A)
                        add_value(&sum, r_A, constant * pair_value(atoms, s, e, j, r_A < r_min_A ? r_min_A : r_A));
                }
    }
    slack[0] = sum.lower;
    slack[1] = sum.higher;
    return sum.value;
}
