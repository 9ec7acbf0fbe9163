#include "plan/charge_statistics.h"

#include "error.h"
#include "law/accuracy.h"
#include "law/periodic.h"
#include "layout/grid_frame.h"
#include "parallel.h"
#include "ranks.h"
#include "source/atoms.h"
#include "target/points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EDGE = 1 << (SURVEY_BLOCKS - 1), CUBES = EDGE * EDGE * EDGE, POINTS = 512, MOST_RARE = 2, MOST_NEAR = 64 };

/* Pairs of atoms and points up to which all are summed; of more atoms those that are far from a
 * point are summed as charges and dipoles of cubes. */
static const double most_pairs = 8e6;

/* Atoms up to which eight of the smallest cubes make one. */
static const double most_of_coarse = 3e6;

/* Cubes count as far from this many of their edges on; no more than 64 middles are nearer. */
static const double far_edges = 2;

/* Charges so near to the map are as dense as its points see them; where they are denser than that
 * by as much than all charges are, it is theirs that counts. */
static const double near_map_A = 4, much_denser = 1.4;

/* So many along each axis. */
typedef struct cubes {
    size_t n;
    double low_A[3], edge_A, per_A; /* 1 / edge */
} cubes;

typedef struct pass {
    const ley_atoms *whole, *atoms; /* the molecule; of ranks with parts of it this rank's share */
    const cell *cell;
    size_t stretches;
    double high_A[3]; /* of the charges, and where they begin: */
    cubes cubes;      /* the smallest ones */
    double map_low_A[3], map_high_A[3];
    double (
        *moment)[CUBES][4]; /* of each stretch of atoms, of each cube: charge, e, and dipole about its middle, e A */
    double *square_e2, *near_e2, *rounded_e, *inside, *count; /* near_e2: of the charges at the map */
    double all_near_e2;
} pass;

static size_t cube_of(const cubes *c, const double r_A[3])
{
    size_t cube = 0;
    for (int axis = 2; axis >= 0; axis--) {
        const double at = (r_A[axis] - c->low_A[axis]) * c->per_A;
        cube = cube * c->n + (size_t)fmin(fmax(at, 0), (double)(c->n - 1));
    }
    return cube;
}

static void middle_of(const cubes *c, size_t cube, double middle_A[3])
{
    for (int axis = 0; axis < 3; axis++, cube /= c->n)
        middle_A[axis] = c->low_A[axis] + ((double)(cube % c->n) + 0.5) * c->edge_A;
}

static size_t count_of(const cubes *c)
{
    return c->n * c->n * c->n;
}

static void add_moment(const cubes *c, const double r_A[3], double q_e, double moment[][4])
{
    const size_t cube = cube_of(c, r_A);
    double middle_A[3];
    middle_of(c, cube, middle_A);
    moment[cube][0] += q_e;
    for (int axis = 0; axis < 3; axis++)
        moment[cube][1 + axis] += q_e * (r_A[axis] - middle_A[axis]);
}

/* Itself or an image of it: in the map or no farther from it than that. */
static bool is_at_map(const pass *p, const double r_A[3], double beyond_A)
{
    double d_A[3];
    bool is = true;
    for (int axis = 0; axis < 3; axis++)
        d_A[axis] = r_A[axis] - 0.5 * (p->map_low_A[axis] + p->map_high_A[axis]);
    cell_bring_near(p->cell, d_A);
    for (int axis = 0; axis < 3; axis++)
        is = is && fabs(d_A[axis]) <= 0.5 * (p->map_high_A[axis] - p->map_low_A[axis]) + beyond_A;
    return is;
}

static void look_at(void *context, size_t first, size_t last)
{
    const pass *p = context;
    const size_t n = ley_atoms_count(p->atoms);
    const double *position_A = ley_atoms_positions_A(p->atoms), *charge_e = ley_atoms_charges_e(p->atoms);
    for (size_t k = first; k < last; k++) {
        double inside = 0, square_e2 = 0, near_e2 = 0, rounded_e = 0, count = 0;
        for (size_t i = k * n / p->stretches; i < (k + 1) * n / p->stretches; i++) {
            const double *r_A = position_A + 3 * i, q_e = charge_e[i];
            bool is_inside = true;
            if (q_e == 0)
                continue;
            for (int axis = 0; axis < 3; axis++)
                is_inside = is_inside && r_A[axis] >= p->map_low_A[axis] && r_A[axis] <= p->map_high_A[axis];
            add_moment(&p->cubes, r_A, q_e, p->moment[k]);
            square_e2 += q_e * q_e;
            rounded_e += (double)(float)q_e - q_e;
            near_e2 += is_at_map(p, r_A, near_map_A) ? q_e * q_e : 0;
            inside += is_inside;
            count++;
        }
        p->square_e2[k] = square_e2;
        p->near_e2[k] = near_e2;
        p->rounded_e[k] = rounded_e;
        p->inside[k] = inside;
        p->count[k] = count;
    }
}

/* Sums over this rank's share become those over all atoms. */
static void add_ranks(const pass *p, double *numbers, size_t n)
{
    if (ley_atoms_part(p->whole) != NULL)
        ranks_add(numbers, n);
}

/* Sums of squares of the cubes, and of those that eight make each. */
static ley_status add_blocks(const pass *p, charge_statistics *s, ley_error *error)
{
    double *charge_e = malloc(CUBES * sizeof *charge_e);
    if (charge_e == NULL)
        return ley_fail_memory(error, CUBES * sizeof *charge_e, "looking at the atoms");
    for (size_t i = 0; i < CUBES; i++)
        charge_e[i] = p->moment[0][i][0];
    for (int k = 0, n = EDGE; k < SURVEY_BLOCKS; k++, n /= 2) {
        s->block_A[k] = p->cubes.edge_A * (1 << k);
        s->block_e2[k] = 0;
        for (int i = 0; i < n * n * n; i++)
            s->block_e2[k] += charge_e[i] * charge_e[i];
        for (int i = 0; i < n * n * n / 8; i++) {
            const int half = n / 2, x = i % half, y = i / half % half, z = i / half / half;
            double sum = 0;
            for (int corner = 0; corner < 8; corner++)
                sum += charge_e[((2 * z + (corner >> 2)) * n + 2 * y + (corner >> 1 & 1)) * n + 2 * x + (corner & 1)];
            charge_e[i] = sum; /* the eight are not before it, and were read */
        }
    }
    free(charge_e);
    return LEY_OK;
}

/* p->moment[0] is then that of all atoms, and the caller's to free. */
static ley_status pass_atoms(pass *p, charge_statistics *s, ley_error *error)
{
    p->stretches = (size_t)parallel_cores();
    const size_t bytes = p->stretches * (sizeof *p->moment + 5 * sizeof(double));
    p->moment = calloc(1, bytes);
    if (p->moment == NULL)
        return ley_fail_memory(error, bytes, "looking at the atoms");
    p->square_e2 = (double *)(p->moment + p->stretches);
    p->near_e2 = p->square_e2 + p->stretches;
    p->rounded_e = p->near_e2 + p->stretches;
    p->inside = p->rounded_e + p->stretches;
    p->count = p->inside + p->stretches;
    parallel_ranges(p->stretches, look_at, p);
    double sum[5] = {0};
    for (size_t k = 0; k < p->stretches; k++) {
        sum[0] += p->square_e2[k];
        sum[1] += p->rounded_e[k];
        sum[2] += p->inside[k];
        sum[3] += p->count[k];
        sum[4] += p->near_e2[k];
        for (size_t i = 0; i < CUBES && k > 0; i++)
            for (int m = 0; m < 4; m++)
                p->moment[0][i][m] += p->moment[k][i][m];
    }
    add_ranks(p, sum, sizeof sum / sizeof *sum);
    add_ranks(p, p->moment[0][0], sizeof *p->moment / sizeof(double));
    s->square_e2 = sum[0];
    s->rounded_e = sum[1];
    s->pairs_per_A3 = sum[2];
    s->atoms = sum[3];
    p->all_near_e2 = sum[4];
    return add_blocks(p, s, error);
}

/* ---- The potential --------------------------------------------------------------------------- */

typedef struct sampling {
    const pass *pass;
    cubes cubes;             /* as large as leave few atoms near a point, */
    double moment[CUBES][4]; /* and theirs */
    double kappa_per_A, r_min_A;
    size_t points;                                                      /* how many are looked at */
    bool are_all;                                                       /* of the map's */
    double point_A[POINTS][3], value_e_A[POINTS], square_e2_A2[POINTS]; /* squares: of the terms, where atoms are few */
    int64_t number[POINTS];                                             /* of points that are listed: which they are */
    const periodic_sum *images;                                         /* exact sums over all images, or NULL */
    size_t near_count[POINTS];
    uint32_t near_cube[POINTS][MOST_NEAR]; /* cubes whose atoms are summed one by one at a point */
    uint32_t first[CUBES + 1];             /* the same by cubes: their points, near_point[first[cube]] and on */
    uint32_t near_point[POINTS * MOST_NEAR];
    double (*near_e_A)[POINTS]; /* of each stretch of atoms: what near atoms add */
} sampling;

static void subtract(const cell *c, const double to_A[3], const double from_A[3], double d_A[3])
{
    for (int axis = 0; axis < 3; axis++)
        d_A[axis] = to_A[axis] - from_A[axis];
    cell_bring_near(c, d_A);
}

static double potential_of(const sampling *s, double q_e, const double d_A[3])
{
    const double r_A = fmax(sqrt(cell_dot(d_A, d_A)), s->r_min_A);
    return q_e / r_A * (s->kappa_per_A > 0 ? exp(-s->kappa_per_A * r_A) : 1);
}

/* All atoms at points [first, last). */
static void sum_points(void *context, size_t first, size_t last)
{
    sampling *s = context;
    const ley_atoms *atoms = s->pass->atoms;
    const size_t n = ley_atoms_count(atoms);
    const double *position_A = ley_atoms_positions_A(atoms), *charge_e = ley_atoms_charges_e(atoms);
    double d_A[3];
    for (size_t k = first; k < last; k++)
        for (size_t i = 0; i < n; i++) {
            subtract(s->pass->cell, position_A + 3 * i, s->point_A[k], d_A);
            const double term = potential_of(s, charge_e[i], d_A);
            s->value_e_A[k] += term;
            s->square_e2_A2[k] += term * term;
        }
}

static void sum_images(void *context, size_t first, size_t last)
{
    sampling *s = context;
    for (size_t k = first; k < last; k++)
        s->value_e_A[k] = periodic_sum_at(s->images, s->point_A[k]).value;
}

/* A charge and a dipole p at d: q/r - p d/r^3, each screened. */
static double potential_of_cube(const sampling *s, const double moment[4], const double d_A[3])
{
    const double square_A2 = cell_dot(d_A, d_A), per_A = 1 / sqrt(square_A2), x = s->kappa_per_A / per_A;
    return (moment[0] - cell_dot(moment + 1, d_A) * (1 + x) * per_A * per_A) * per_A * (x > 0 ? exp(-x) : 1);
}

static bool is_empty(const double moment[4])
{
    return moment[0] == 0 && moment[1] == 0 && moment[2] == 0 && moment[3] == 0;
}

/* Cubes that are far from points [first, last), and which are near. */
static void sum_cubes(void *context, size_t first, size_t last)
{
    sampling *s = context;
    const double far_A = far_edges * s->cubes.edge_A;
    const size_t count = count_of(&s->cubes);
    double middle_A[3], d_A[3];
    for (size_t k = first; k < last; k++)
        for (size_t cube = 0; cube < count; cube++) {
            const double *moment = s->moment[cube];
            if (is_empty(moment))
                continue;
            middle_of(&s->cubes, cube, middle_A);
            subtract(s->pass->cell, middle_A, s->point_A[k], d_A);
            if (cell_dot(d_A, d_A) < far_A * far_A && s->near_count[k] < MOST_NEAR)
                s->near_cube[k][s->near_count[k]++] = (uint32_t)cube;
            else
                s->value_e_A[k] += potential_of_cube(s, moment, d_A);
        }
}

/* The points of each cube, of the cubes of each point. */
static void list_by_cubes(sampling *s)
{
    for (size_t k = 0; k < s->points; k++)
        for (size_t i = 0; i < s->near_count[k]; i++)
            s->first[s->near_cube[k][i] + 1]++;
    for (size_t cube = 0; cube < CUBES; cube++)
        s->first[cube + 1] += s->first[cube];
    for (size_t k = s->points; k-- > 0;) /* from behind: each list's end moves to its beginning */
        for (size_t i = 0; i < s->near_count[k]; i++)
            s->near_point[--s->first[s->near_cube[k][i] + 1]] = (uint32_t)k;
    memmove(s->first, s->first + 1, CUBES * sizeof *s->first);
    s->first[CUBES] = 0;
    for (size_t k = 0; k < s->points; k++)
        s->first[CUBES] += (uint32_t)s->near_count[k];
}

/* Atoms of stretches [first, last) at the points that are near their cubes. */
static void sum_near(void *context, size_t first, size_t last)
{
    const sampling *s = context;
    const ley_atoms *atoms = s->pass->atoms;
    const size_t n = ley_atoms_count(atoms), stretches = s->pass->stretches;
    const double *position_A = ley_atoms_positions_A(atoms), *charge_e = ley_atoms_charges_e(atoms);
    double d_A[3];
    for (size_t stretch = first; stretch < last; stretch++)
        for (size_t i = stretch * n / stretches; i < (stretch + 1) * n / stretches; i++) {
            const size_t cube = charge_e[i] != 0 ? cube_of(&s->cubes, position_A + 3 * i) : CUBES;
            for (uint32_t at = cube < CUBES ? s->first[cube] : 0; cube < CUBES && at < s->first[cube + 1]; at++) {
                const size_t k = s->near_point[at];
                subtract(s->pass->cell, position_A + 3 * i, s->point_A[k], d_A);
                s->near_e_A[stretch][k] += potential_of(s, charge_e[i], d_A);
            }
        }
}

/* Eight smallest cubes make one, unless that would leave more atoms near a point than there are
 * cubes. */
static void choose_cubes(sampling *s)
{
    const pass *p = s->pass;
    const bool is_fine = (double)ley_atoms_whole_count(p->whole) > most_of_coarse;
    double middle_A[3], whole_A[3];
    s->cubes = p->cubes;
    if (is_fine) {
        memcpy(s->moment, p->moment[0], sizeof s->moment);
        return;
    }
    s->cubes.n = EDGE / 2;
    s->cubes.edge_A = 2 * p->cubes.edge_A;
    s->cubes.per_A = p->cubes.per_A / 2;
    for (size_t i = 0; i < CUBES; i++) {
        const double *part = p->moment[0][i];
        middle_of(&p->cubes, i, middle_A);
        const size_t cube = cube_of(&s->cubes, middle_A);
        middle_of(&s->cubes, cube, whole_A);
        s->moment[cube][0] += part[0];
        for (int axis = 0; axis < 3; axis++)
            s->moment[cube][1 + axis] += part[1 + axis] + part[0] * (middle_A[axis] - whole_A[axis]);
    }
}

static ley_status sum_by_cubes(sampling *s, ley_error *error)
{
    choose_cubes(s);
    const size_t stretches = s->pass->stretches, bytes = stretches * sizeof *s->near_e_A;
    s->near_e_A = calloc(1, bytes);
    if (s->near_e_A == NULL)
        return ley_fail_memory(error, bytes, "looking at the atoms");
    parallel_ranges(s->points, sum_cubes, s);
    list_by_cubes(s);
    parallel_ranges(stretches, sum_near, s);
    for (size_t stretch = 1; stretch < stretches; stretch++)
        for (size_t k = 0; k < s->points; k++)
            s->near_e_A[0][k] += s->near_e_A[stretch][k];
    add_ranks(s->pass, s->near_e_A[0], s->points);
    for (size_t k = 0; k < s->points; k++)
        s->value_e_A[k] += s->near_e_A[0][k];
    free(s->near_e_A);
    return LEY_OK;
}

static int compare_sizes(const void *a, const void *b)
{
    const double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
    return (x > y) - (x < y);
}

/* Plain, of all values of the map. Of a sample of them the two largest count as the third, for a
 * sample cannot say how many points are as near to an atom as that. */
static double root_mean_square(const sampling *of, const double *value_e_A)
{
    double sorted[POINTS], square = 0;
    const size_t kept = of->are_all || of->points < POINTS ? of->points : of->points - MOST_RARE;
    memcpy(sorted, value_e_A, of->points * sizeof *sorted);
    qsort(sorted, of->points, sizeof *sorted, compare_sizes);
    for (size_t k = 0; k < of->points; k++)
        square += pow(sorted[k < kept ? k : kept - 1], 2);
    return sqrt(square / (double)of->points);
}

/* ---- Of all images --------------------------------------------------------------------------- */

/* Few atoms: exact sums are done at once. With more of them, or in a cell that is much longer than
 * it is wide, the potential is that of each charge's nearest image, but for its mean. */
enum { FEW_ATOMS = 1024, LEAST_POINTS = 64, FEW_ATOMS_OF_WIRE = 256 };
static const double most_aspect = 20, least_screening = 0.1, exact_pairs = 65536, wire_pairs = 16384;

static bool can_be_exact(const pass *p, double kappa_per_A)
{
    const cell *c = p->cell;
    const size_t most = c->dimensions == 1 ? FEW_ATOMS_OF_WIRE : FEW_ATOMS;
    double longest_A = 0, thinnest_A = INFINITY;
    for (int i = 0; i < 3; i++)
        if (c->periodic[i]) {
            longest_A = fmax(longest_A, cell_length(c->vector_A[i]));
            thinnest_A = fmin(thinnest_A, 1 / cell_length(c->dual_per_A[i]));
        }
    return c->dimensions > 0 && ley_atoms_whole_count(p->whole) <= most && longest_A <= most_aspect * thinnest_A &&
           (c->dimensions > 1 || kappa_per_A == 0 || kappa_per_A * longest_A >= least_screening);
}

/* Of ranks with parts of the atoms the cell has images along all axes: each sums its share's. */
static bool sum_exactly(sampling *s)
{
    const pass *p = s->pass;
    const size_t n = ley_atoms_whole_count(p->whole);
    const double most = (p->cell->dimensions == 1 ? wire_pairs : exact_pairs) / (double)n;
    const size_t points = (size_t)fmin(fmax(most, LEAST_POINTS), (double)s->points);
    const periodic_options o = {.cell = *p->cell,
                                .kappa_per_A = s->kappa_per_A,
                                .r_min_A = s->r_min_A,
                                .n = ley_atoms_count(p->atoms),
                                .position_A = ley_atoms_positions_A(p->atoms),
                                .charge_e = ley_atoms_charges_e(p->atoms),
                                .points = points};
    periodic_sum *images = NULL;
    if (!can_be_exact(p, s->kappa_per_A))
        return false;
    double missing = periodic_sum_create(&o, &images, NULL) != LEY_OK;
    add_ranks(p, &missing, 1);
    if (missing > 0) {
        periodic_sum_destroy(images);
        return false;
    }
    s->are_all = s->are_all && points == s->points;
    s->points = points;
    s->images = images;
    parallel_ranges(points, sum_images, s);
    add_ranks(p, s->value_e_A, points);
    s->images = NULL;
    periodic_sum_destroy(images);
    return true;
}

/* What the potential of a charge is in the mean over the vectors along which it has images, at a
 * point of so much height above it: of layers; of a cell the same everywhere. */
static double mean_of_images(const sampling *s, const double d_A[3])
{
    const cell *c = s->pass->cell;
    const double kappa_per_A = s->kappa_per_A;
    double height_A = 0;
    for (int i = 0; i < 3; i++)
        height_A += c->periodic[i] ? 0 : fabs(cell_dot(c->dual_per_A[i], d_A));
    if (c->dimensions == 3)
        return kappa_per_A > 0 ? 4 * M_PI / (kappa_per_A * kappa_per_A * c->measure) : 0;
    return kappa_per_A > 0 ? 2 * M_PI / (kappa_per_A * c->measure) * exp(-kappa_per_A * height_A)
                           : -2 * M_PI / c->measure * height_A;
}

typedef struct mean_sum {
    const sampling *of;
    double sum_e_A[POINTS];
} mean_sum;

static void sum_means(void *context, size_t first, size_t last)
{
    mean_sum *m = context;
    const ley_atoms *atoms = m->of->pass->atoms;
    const double *position_A = ley_atoms_positions_A(atoms), *charge_e = ley_atoms_charges_e(atoms);
    for (size_t k = first; k < last; k++)
        for (size_t i = 0; i < ley_atoms_count(atoms); i++) {
            const double *from_A = position_A + 3 * i, *to_A = m->of->point_A[k];
            const double d_A[3] = {to_A[0] - from_A[0], to_A[1] - from_A[1], to_A[2] - from_A[2]};
            m->sum_e_A[k] += charge_e[i] * mean_of_images(m->of, d_A);
        }
}

/* Nearest images have a mean of their own in place of that of all, which follows from how high
 * points are above the charges. Of wires it is not looked for, and of strong screening the nearest
 * images are all that counts: those are left as they are. */
static ley_status mend_mean(sampling *s, ley_error *error)
{
    enum { LEAST_MEANS = 8 };
    const cell *c = s->pass->cell;
    const double all_screened = 6, most = 2e7 / (double)ley_atoms_whole_count(s->pass->whole);
    const size_t points = (size_t)fmin(fmax(most, LEAST_MEANS), (double)s->points);
    double mean_e_A = 0, own_e_A = 0, shortest_A = INFINITY;
    for (int i = 0; i < 3; i++)
        if (c->periodic[i])
            shortest_A = fmin(shortest_A, cell_length(c->vector_A[i]));
    if (c->dimensions == 0 || s->kappa_per_A * shortest_A > all_screened || (c->dimensions == 1 && s->kappa_per_A > 0))
        return LEY_OK;
    if (c->dimensions == 3) { /* the same at all points */
        const double anywhere_A[3] = {0}, each = mean_of_images(s, anywhere_A);
        mean_e_A = ley_atoms_total_charge_e(s->pass->whole) * each;
    } else if (c->dimensions == 2) {
        mean_sum *m = calloc(1, sizeof *m);
        if (m == NULL)
            return ley_fail_memory(error, sizeof *m, "looking at the atoms");
        m->of = s;
        parallel_ranges(points, sum_means, m);
        for (size_t k = 0; k < points; k++)
            mean_e_A += m->sum_e_A[k] / (double)points;
        free(m);
    }
    for (size_t k = 0; k < s->points; k++)
        own_e_A += s->value_e_A[k] / (double)s->points;
    for (size_t k = 0; k < s->points; k++)
        s->value_e_A[k] += mean_e_A - own_e_A;
    return LEY_OK;
}

/* A field has nothing of the mean, which may be thousands of times the rest, as of a net charge
 * with weak screening: where it is asked for, meshes are to be right for what is left. */
static void take_mean(sampling *s)
{
    double mean_e_A = 0;
    for (size_t k = 0; k < s->points; k++)
        mean_e_A += s->value_e_A[k] / (double)s->points;
    for (size_t k = 0; k < s->points; k++)
        s->value_e_A[k] -= mean_e_A;
}

/* ---- Where ----------------------------------------------------------------------------------- */

/* Of the grid, or of those that it is over: all of them where they are few. */
static void draw_points(const ley_grid *grid, const ley_points *listed, sampling *s)
{
    uint64_t random = 1;
    const int64_t total = listed != NULL ? ley_points_count(listed) : ley_grid_points(grid);
    s->are_all = total <= POINTS;
    s->points = s->are_all ? (size_t)total : POINTS;
    for (size_t k = 0; k < s->points && listed != NULL; k++) {
        const uint64_t at = s->are_all ? k : accuracy_random(&random) % (uint64_t)total;
        s->number[k] = (int64_t)at;
        memcpy(s->point_A[k], ley_points_positions_A(listed) + 3 * at, sizeof s->point_A[k]);
    }
    for (size_t k = 0; k < s->points && listed == NULL; k++) {
        int64_t at[3], number = (int64_t)k;
        for (int axis = 0; axis < 3; number /= grid->n[axis++])
            at[axis] =
                s->are_all ? number % grid->n[axis] : (int64_t)(accuracy_random(&random) % (uint64_t)grid->n[axis]);
        ley_grid_point_A(grid, at, s->point_A[k]);
    }
}

/* The terms of atoms that a point excludes, which may be thousands of times all others; of each the
 * nearest image. */
static double excluded(const sampling *s, const ley_points *listed, size_t k, double *squares_e2_A2)
{
    double sum_e_A = 0;
    size_t count;
    const int64_t *atom = points_excluded(listed, s->number[k], &count);
    *squares_e2_A2 = 0;
    for (size_t i = 0; i < count; i++) {
        double d_A[3], nearest_A[3];
        subtract(s->pass->cell, ley_atoms_positions_A(s->pass->atoms) + 3 * atom[i], s->point_A[k], d_A);
        cell_nearest(s->pass->cell, d_A, nearest_A);
        const double term_e_A = potential_of(s, ley_atoms_charges_e(s->pass->atoms)[atom[i]], nearest_A);
        sum_e_A += term_e_A;
        *squares_e2_A2 += term_e_A * term_e_A;
    }
    return sum_e_A;
}

static void exclude_squares(sampling *s, const ley_points *listed)
{
    for (size_t k = 0; k < s->points; k++) {
        double squares_e2_A2;
        excluded(s, listed, k, &squares_e2_A2);
        s->square_e2_A2[k] = fmax(0, s->square_e2_A2[k] - squares_e2_A2);
    }
}

static void exclude_values(sampling *s, const ley_points *listed)
{
    for (size_t k = 0; k < s->points; k++) {
        double squares_e2_A2;
        s->value_e_A[k] -= excluded(s, listed, k, &squares_e2_A2);
    }
}

/* Errors of meshes are those of charges up to two cutoffs away, which may be so far. */
enum { REACHES = 3 };
static const double reach_A[REACHES] = {8, 20, 50};

/* What points see of charges within reach: the sum of (q/r)^2, of some of the atoms for all. */
typedef struct crowd {
    const sampling *of;
    size_t every;
    double near_e2_A2[POINTS][REACHES];
} crowd;

static void sum_crowd(void *context, size_t first, size_t last)
{
    crowd *c = context;
    const pass *p = c->of->pass;
    const double *position_A = ley_atoms_positions_A(p->atoms), *charge_e = ley_atoms_charges_e(p->atoms);
    double d_A[3];
    for (size_t k = first; k < last; k++)
        for (size_t i = k % c->every; i < ley_atoms_count(p->atoms); i += c->every) {
            subtract(p->cell, position_A + 3 * i, c->of->point_A[k], d_A);
            const double r_A = fmax(sqrt(cell_dot(d_A, d_A)), 1);
            for (int reach = 0; reach < REACHES; reach++)
                c->near_e2_A2[k][reach] += r_A < reach_A[reach] ? (double)c->every * pow(charge_e[i] / r_A, 2) : 0;
        }
}

/* The volume over which the charges would have to be spread that points see as many of them, at the
 * reach at which they see most: the sum of (q/r)^2 within R is 4 pi R times their density. A
 * quarter of it: points that lie together are off alike, by more than is usual as likely as by
 * less. In a cell only where points see many more than the cell's volume says, as where some of
 * them are far from a layer; there each atom is its nearest image. */
static ley_status find_crowd(const sampling *of, charge_statistics *s, ley_error *error)
{
    crowd *c = calloc(1, sizeof *c);
    double least_A3 = INFINITY;
    if (c == NULL)
        return ley_fail_memory(error, sizeof *c, "looking at the atoms");
    c->of = of;
    c->every = (size_t)fmax(ceil((double)ley_atoms_count(of->pass->atoms) * POINTS / most_pairs), 1);
    parallel_ranges(of->points, sum_crowd, c);
    for (int reach = 0; reach < REACHES; reach++) {
        double sum = 0;
        for (size_t k = 0; k < of->points; k++)
            sum += c->near_e2_A2[k][reach];
        if (sum > 0)
            least_A3 = fmin(least_A3, 4 * M_PI * reach_A[reach] * s->square_e2 * (double)of->points / sum);
    }
    free(c);
    if (of->pass->cell->dimensions > 0 && much_denser * least_A3 > s->charged_A3)
        return LEY_OK;
    if (isfinite(least_A3))
        s->charged_A3 = least_A3 / 4;
    s->pairs_per_A3 = s->points * s->atoms / (4 * s->charged_A3); /* atoms as dense as points see them */
    return LEY_OK;
}

static ley_status sample_potential(const pass *p, const ley_long_range *range, const ley_grid *grid,
                                   const ley_points *listed, bool field, charge_statistics *s, ley_error *error)
{
    sampling *of = calloc(1, sizeof *of);
    ley_status status = LEY_OK;
    double squares_e2_A2 = 0;
    if (of == NULL)
        return ley_fail_memory(error, sizeof *of, "looking at the atoms");
    of->pass = p;
    of->kappa_per_A = range->kappa_per_A;
    of->r_min_A = range->r_min_A;
    draw_points(grid, listed, of);
    if ((double)ley_atoms_whole_count(p->whole) * POINTS <= most_pairs || range->r_min_A > p->cubes.edge_A) {
        parallel_ranges(of->points, sum_points, of);
        add_ranks(p, of->value_e_A, of->points);
        add_ranks(p, of->square_e2_A2, of->points);
    } else {
        status = sum_by_cubes(of, error);
    }
    if (status == LEY_OK && listed != NULL)
        status = find_crowd(of, s, error);
    if (listed != NULL)
        exclude_squares(of, listed);
    for (size_t k = 0; k < of->points; k++)
        squares_e2_A2 += of->square_e2_A2[k] / (double)of->points;
    if (status == LEY_OK && !sum_exactly(of))
        status = mend_mean(of, error);
    if (listed != NULL)
        exclude_values(of, listed);
    if (p->cell->dimensions > 0 && field)
        take_mean(of);
    s->potential_e_A = root_mean_square(of, of->value_e_A);
    s->terms_e_A = sqrt(squares_e2_A2);
    free(of);
    return status;
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* The box around the map. */
static void find_bounds(const ley_grid *grid, pass *p, charge_statistics *s)
{
    double farthest2_A2 = 0, largest_A = 0;
    double low_A[3], high_A[3];
    grid_frame_bounds_A(grid, grid->n, low_A, high_A);
    ley_atoms_charged_bounds_A(p->whole, p->cubes.low_A, p->high_A);
    s->volume_A3 = s->charged_A3 = 1;
    for (int axis = 0; axis < 3; axis++) {
        const double half_A =
            0.5 * (fabs(grid->step_A[0][axis]) + fabs(grid->step_A[1][axis]) + fabs(grid->step_A[2][axis]));
        p->map_low_A[axis] = grid->origin_A[axis] + low_A[axis] - half_A;
        p->map_high_A[axis] = grid->origin_A[axis] + high_A[axis] + half_A;
        const double map_A = p->map_high_A[axis] - p->map_low_A[axis],
                     both_A =
                         fmax(p->map_high_A[axis], p->high_A[axis]) - fmin(p->map_low_A[axis], p->cubes.low_A[axis]);
        s->volume_A3 *= map_A;
        s->extent_A[axis] = both_A;
        farthest2_A2 += both_A * both_A;
        largest_A = fmax(largest_A, p->high_A[axis] - p->cubes.low_A[axis]);
        s->charged_A3 *= p->high_A[axis] - p->cubes.low_A[axis];
    }
    s->charged_A3 = fmax(s->charged_A3, s->volume_A3);
    s->radius_A = 0.5 * sqrt(farthest2_A2);
    p->cubes.n = EDGE;
    p->cubes.edge_A = fmax(largest_A, 1e-3) * 1.0001 / EDGE;
    p->cubes.per_A = 1 / p->cubes.edge_A;
}

static void take_cell(const cell *c, double net_e, charge_statistics *s)
{
    double measure_A3 = c->measure;
    for (int i = 0; i < 3; i++) {
        s->periodic[i] = c->periodic[i];
        if (c->periodic[i])
            s->extent_A[i] = cell_length(c->vector_A[i]);
        else
            measure_A3 *= s->extent_A[i];
    }
    if (c->dimensions == 0)
        return;
    s->net_per_A3 = c->dimensions == 3 ? fabs(net_e) / c->measure : 0;
    s->pairs_per_A3 = s->atoms * s->volume_A3 / measure_A3; /* wherever the map is, it sees images */
    s->charged_A3 = measure_A3;
}

/* The volume that all charges would have if they were as dense as those at the map: where these are
 * much denser, as of a molecule that has ions far away, the meshes' error is theirs. */
static void look_at_map(const pass *p, charge_statistics *s)
{
    const double near_e2 = p->all_near_e2;
    double volume_A3 = 1;
    for (int axis = 0; axis < 3; axis++)
        volume_A3 *= p->map_high_A[axis] - p->map_low_A[axis] + 2 * near_map_A;
    if (near_e2 > 0 && volume_A3 * s->square_e2 * much_denser < s->charged_A3 * near_e2)
        s->charged_A3 = volume_A3 * s->square_e2 / near_e2;
}

/* Points of a map are half a step from such charges in the mean, or farther than that. */
static void look_at_strong(const pass *p, const ley_long_range *range, charge_statistics *s)
{
    large_charges large;
    ley_atoms_large_charges(p->whole, &large);
    s->strong_near_A = fmax(0.5 * cbrt(s->volume_A3 / s->points), range->r_min_A);
    for (size_t i = 0; i < large.count; i++)
        if (is_at_map(p, large.list[i].place_A, 0))
            s->strong_e2 += large.list[i].charge_e * large.list[i].charge_e;
}

ley_status charge_statistics_make(const ley_atoms *atoms, const ley_points *points, const ley_grid *grid, bool field,
                                  const ley_long_range *range, charge_statistics *made, ley_error *error)
{
    charge_statistics s = {.points = (double)(points != NULL ? ley_points_count(points) : ley_grid_points(grid))};
    cell c;
    pass p = {.whole = atoms, .atoms = ley_atoms_share(atoms), .cell = &c};
    ley_status status = cell_make(range->periodic, range->cell_A, &c, error);
    if (status == LEY_OK && points != NULL)
        status = points_check_excluded(points, atoms, error);
    if (status != LEY_OK)
        return status;
    if (points == NULL)
        ley_grid_spacing_A(grid, s.step_A);
    find_bounds(grid, &p, &s);
    status = pass_atoms(&p, &s, error);
    if (status == LEY_OK) {
        take_cell(&c, ley_atoms_net_charge_e(atoms), &s);
        look_at_map(&p, &s);
        s.pairs_per_A3 *= s.points / s.volume_A3;
        if (points == NULL)
            look_at_strong(&p, range, &s);
        status = sample_potential(&p, range, grid, points, field, &s, error);
    }
    free(p.moment);
    if (status == LEY_OK)
        *made = s;
    return status;
}

double charge_statistics_square_e2(const charge_statistics *s, double edge_A)
{
    int k = 0;
    if (edge_A <= s->block_A[0])
        return s->square_e2;
    while (k < SURVEY_BLOCKS - 2 && edge_A > s->block_A[k + 1])
        k++;
    const double at = fmin(edge_A, s->block_A[SURVEY_BLOCKS - 1]), low = fmax(s->block_e2[k], 1e-300),
                 high = fmax(s->block_e2[k + 1], 1e-300);
    return low * pow(high / low, log(at / s->block_A[k]) / log(2.0));
}
