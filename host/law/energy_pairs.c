#include "law/energy_pairs.h"

#include "error.h"

#include <math.h>
#include <stdlib.h>

/* ---- Lennard-Jones --------------------------------------------------------------------------- */

static energy_curve inverse_power(int power, double r_A)
{
    const double r2 = r_A * r_A, sixth = 1 / (r2 * r2 * r2), value = power == 12 ? sixth * sixth : sixth;
    return (energy_curve){value, power * value / r2};
}

/* From 1 at s to 0 at c: OpenMM's. */
static energy_curve switch_by_distance(double r_A, double s_A, double c_A)
{
    const double x = (r_A - s_A) / (c_A - s_A);
    return (energy_curve){1 - x * x * x * (10 - x * (15 - 6 * x)), 30 * pow(x * (1 - x), 2) / ((c_A - s_A) * r_A)};
}

/* CHARMM's. */
static energy_curve switch_by_square(double r_A, double s_A, double c_A)
{
    const double r2 = r_A * r_A, s2 = s_A * s_A, c2 = c_A * c_A, width3 = pow(c2 - s2, 3);
    return (energy_curve){pow(c2 - r2, 2) * (c2 + 2 * r2 - 3 * s2) / width3, 12 * (c2 - r2) * (r2 - s2) / width3};
}

static energy_curve product(energy_curve f, energy_curve g)
{
    return (energy_curve){f.value * g.value, f.slope * g.value + f.value * g.slope};
}

/* k (r^-m - c^-m)^2, m half the power; less its value at s within s. */
static energy_curve force_switch_charmm(int power, double r_A, double s_A, double c_A)
{
    const int m = power / 2;
    if (r_A <= s_A) {
        const energy_curve f = inverse_power(power, r_A);
        return (energy_curve){f.value - pow(s_A * c_A, -m), f.slope};
    }
    const double k = 1 / (1 - pow(s_A / c_A, m)), at = pow(r_A, -m), left = at - pow(c_A, -m);
    return (energy_curve){k * left * left, 2 * k * left * m * at / (r_A * r_A)};
}

/* The force p r^-(p+1) + A (r - s)^2 + B (r - s)^3, whose second term and third begin at s. */
static energy_curve force_switch_gromacs(int power, double r_A, double s_A, double c_A)
{
    const double p = power, end = p / (pow(c_A, p + 2) * pow(c_A - s_A, 2)), width_A = c_A - s_A;
    const double a = -end * ((p + 4) * c_A - (p + 1) * s_A), b = end * ((p + 3) * c_A - (p + 1) * s_A) / width_A;
    const double past_A = fmax(0, r_A - s_A);
    const energy_curve f = inverse_power(power, r_A);
    const double at_end = pow(c_A, -p) - pow(width_A, 3) * (a / 3 + b * width_A / 4);
    return (energy_curve){f.value - pow(past_A, 3) * (a / 3 + b * past_A / 4) - at_end,
                          f.slope + past_A * past_A * (a + b * past_A) / r_A};
}

energy_curve energy_lennard_jones(const ley_energy_options *o, int power, double r_A)
{
    const double c_A = o->cutoff_A, s_A = o->switch_A;
    if (o->lennard_jones == LEY_LENNARD_JONES_NONE || (c_A > 0 && !(r_A < c_A)))
        return (energy_curve){0, 0};
    if (o->lennard_jones == LEY_LENNARD_JONES_FORCE_SWITCHED_CHARMM)
        return force_switch_charmm(power, r_A, s_A, c_A);
    if (o->lennard_jones == LEY_LENNARD_JONES_FORCE_SWITCHED_GROMACS)
        return force_switch_gromacs(power, r_A, s_A, c_A);
    energy_curve f = inverse_power(power, r_A);
    if (o->lennard_jones == LEY_LENNARD_JONES_SHIFTED)
        f.value -= inverse_power(power, c_A).value;
    else if (o->lennard_jones == LEY_LENNARD_JONES_SWITCHED && r_A > s_A)
        f = product(f, switch_by_distance(r_A, s_A, c_A));
    else if (o->lennard_jones == LEY_LENNARD_JONES_SWITCHED_CHARMM && r_A > s_A)
        f = product(f, switch_by_square(r_A, s_A, c_A));
    return f;
}

/* ---- Its tail -------------------------------------------------------------------------------- */

/* The plain energy less what is in its place, times r^2, over all r: inside of `from` that is a
 * constant, beyond the cutoff all of it. */
static double missing(const ley_energy_options *o, int power, double from_A)
{
    enum { STEPS = 2000 };
    const double c_A = o->cutoff_A, width_A = (c_A - from_A) / STEPS;
    const double inner = inverse_power(power, 0.5 * from_A).value - energy_lennard_jones(o, power, 0.5 * from_A).value;
    double sum = inner * pow(from_A, 3) / 3 + pow(c_A, 3 - power) / (power - 3);
    for (int k = 0; k <= STEPS && width_A > 0; k++) { /* Simpson's rule */
        const double r_A = from_A + k * width_A, plain = inverse_power(power, r_A).value;
        const double left = k == STEPS ? plain : plain - energy_lennard_jones(o, power, r_A).value;
        sum += left * r_A * r_A * width_A / 3 * (k == 0 || k == STEPS ? 1 : k % 2 == 1 ? 4 : 2);
    }
    return sum;
}

/* Of all pairs of types, each particle's with itself, too, of which there are N (N + 1)/2 with the
 * same weight each. */
void energy_tail(const energy_law *law, double *of_type)
{
    const ley_particles_arrays *of = law->of;
    const ley_energy_options *o = law->options;
    const double n = (double)law->n, from_A = energy_is_switched(o->lennard_jones) ? o->switch_A : o->cutoff_A;
    const double twelfth = missing(o, 12, from_A), sixth = missing(o, 6, from_A);
    for (int64_t s = 0; s < of->types; s++) {
        double sum = 0;
        for (int64_t j = 0; j < law->n; j++) {
            const int64_t at = s * of->types + of->type[j];
            sum += of->lennard_jones_a[at] * twelfth - of->lennard_jones_b[at] * sixth;
        }
        const int64_t own = s * of->types + s;
        sum += of->lennard_jones_a[own] * twelfth - of->lennard_jones_b[own] * sixth;
        of_type[s] = 2 * M_PI / law->cell.measure * sum * n / (n + 1);
    }
}

/* ---- Coulomb --------------------------------------------------------------------------------- */

energy_curve energy_coulomb(const ley_energy_options *o, double r_A)
{
    const double c_A = o->cutoff_A, inverse = 1 / r_A, slope = inverse * inverse * inverse, e = o->reaction_dielectric;
    if (o->coulomb == LEY_COULOMB_NONE || (c_A > 0 && !(r_A < c_A)))
        return (energy_curve){0, 0};
    if (o->coulomb == LEY_COULOMB_SHIFTED)
        return (energy_curve){inverse - 1 / c_A, slope};
    if (o->coulomb == LEY_COULOMB_SHIFTED_CHARMM) {
        const double left = 1 - pow(r_A / c_A, 2);
        return (energy_curve){left * left * inverse, left * left * slope + 4 * left * inverse / (c_A * c_A)};
    }
    if (o->coulomb == LEY_COULOMB_REACTION_FIELD) {
        const double k = (e > 0 ? (e - 1) / (2 * e + 1) : 0.5) / pow(c_A, 3);
        const double h = (e > 0 ? 3 * e / (2 * e + 1) : 1.5) / c_A;
        return (energy_curve){inverse + k * r_A * r_A - h, slope - 2 * k};
    }
    return (energy_curve){inverse, slope};
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

static int by_place(const void *left, const void *right)
{
    const energy_partner *a = left, *b = right;
    return (a->which > b->which) - (a->which < b->which);
}

/* One end of each pair after the other: from whom, and the partner. */
static int64_t each_end(const ley_particles_arrays *of, int64_t end, energy_partner *to)
{
    const int64_t pair = end / 2;
    const bool is_excluded = pair < of->exclusions;
    const int32_t *ends = is_excluded ? of->exclusion[pair] : of->pair_14[pair - of->exclusions];
    *to = (energy_partner){ends[1 - end % 2], is_excluded ? -1 : pair - of->exclusions};
    return ends[end % 2];
}

ley_status energy_partners_create(const ley_particles_arrays *of, energy_partners **made, ley_error *error)
{
    const int64_t n = of->particles, ends = 2 * (of->exclusions + of->pairs_14);
    energy_partners *p = calloc(1, sizeof *p);
    energy_partner to;
    if (p != NULL) {
        p->first = calloc((size_t)n + 2, sizeof *p->first);
        p->partner = malloc((size_t)(ends + 1) * sizeof *p->partner);
    }
    if (p == NULL || p->first == NULL || p->partner == NULL) {
        energy_partners_destroy(p);
        return ley_fail_memory(error, (size_t)(ends + 1) * sizeof *p->partner, "excluded pairs");
    }
    for (int64_t end = 0; end < ends; end++)
        p->first[each_end(of, end, &to) + 2]++;
    for (int64_t i = 0; i < n; i++)
        p->first[i + 2] += p->first[i + 1];
    for (int64_t end = 0; end < ends; end++) {
        const int64_t from = each_end(of, end, &to);
        p->partner[p->first[from + 1]++] = to;
    }
    for (int64_t i = 0; i < n; i++)
        qsort(p->partner + p->first[i], (size_t)(p->first[i + 1] - p->first[i]), sizeof *p->partner, by_place);
    *made = p;
    return LEY_OK;
}

void energy_partners_destroy(energy_partners *p)
{
    if (p == NULL)
        return;
    free(p->first);
    free(p->partner);
    free(p);
}

static void add_lennard_jones(const energy_law *law, int64_t j, ley_energy_term term, double a, double b,
                              energy_curve twelfth, energy_curve sixth, const double way_A[3], energy_sums *sums)
{
    if (a == 0 && b == 0)
        return;
    energy_add_pair(law, j, term,
                    (energy_curve){a * twelfth.value - b * sixth.value, a * twelfth.slope - b * sixth.slope},
                    fabs(a * twelfth.value) + fabs(b * sixth.value), way_A, sums);
}

static void add_coulomb(const energy_law *law, int64_t j, ley_energy_term term, double charges_e2, energy_curve f,
                        const double way_A[3], energy_sums *sums)
{
    const double by = law->options->coulomb_constant / law->options->dielectric * charges_e2;
    if (by != 0)
        energy_add_pair(law, j, term, (energy_curve){by * f.value, by * f.slope}, fabs(by * f.value), way_A, sums);
}

static void add_14(const energy_law *law, int64_t i, int64_t j, int64_t pair, energy_sums *sums)
{
    const ley_particles_arrays *of = law->of;
    double way_A[3];
    const double r_A = sqrt(energy_way(law, i, j, way_A));
    if (law->options->lennard_jones != LEY_LENNARD_JONES_NONE)
        add_lennard_jones(law, j, LEY_ENERGY_LENNARD_JONES_14, of->pair_14_a[pair], of->pair_14_b[pair],
                          inverse_power(12, r_A), inverse_power(6, r_A), way_A, sums);
    if (law->options->coulomb != LEY_COULOMB_NONE)
        add_coulomb(law, j, LEY_ENERGY_COULOMB_14, of->pair_14_charges[pair],
                    (energy_curve){1 / r_A, 1 / (r_A * r_A * r_A)}, way_A, sums);
}

static bool has_pairs_of_coulomb(const ley_energy_options *o)
{
    return o->coulomb != LEY_COULOMB_NONE && o->coulomb != LEY_COULOMB_EWALD;
}

static void add_pair(const energy_law *law, int64_t i, int64_t j, energy_sums *sums)
{
    const ley_particles_arrays *of = law->of;
    const ley_energy_options *o = law->options;
    const int64_t at = of->type[i] * of->types + of->type[j];
    double way_A[3];
    const double r2 = energy_way(law, i, j, way_A), r_A = sqrt(r2);
    if (o->cutoff_A > 0 && !(r2 < o->cutoff_A * o->cutoff_A))
        return;
    if (o->lennard_jones != LEY_LENNARD_JONES_NONE && (of->lennard_jones_a[at] != 0 || of->lennard_jones_b[at] != 0))
        add_lennard_jones(law, j, LEY_ENERGY_LENNARD_JONES, of->lennard_jones_a[at], of->lennard_jones_b[at],
                          energy_lennard_jones(o, 12, r_A), energy_lennard_jones(o, 6, r_A), way_A, sums);
    if (has_pairs_of_coulomb(o))
        add_coulomb(law, j, LEY_ENERGY_COULOMB, of->charges[i] * of->charges[j], energy_coulomb(o, r_A), way_A, sums);
}

void energy_add_pairs(const energy_law *law, const energy_partners *p, int64_t i, energy_sums *sums)
{
    const int64_t last = p->first[i + 1];
    int64_t next = p->first[i];
    for (int64_t k = next; k < last; k++)
        if (p->partner[k].pair_14 >= 0)
            add_14(law, i, p->partner[k].which, p->partner[k].pair_14, sums);
    if (law->options->lennard_jones == LEY_LENNARD_JONES_NONE && !has_pairs_of_coulomb(law->options))
        return;
    for (int64_t j = 0; j < law->n; j++) {
        if (next < last && p->partner[next].which == j)
            next++;
        else if (j != i)
            add_pair(law, i, j, sums);
    }
}
