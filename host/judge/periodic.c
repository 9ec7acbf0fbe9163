#include "judge/periodic.h"

#include "cancel.h"
#include "error.h"
#include "numerics/ewald.h"
#include "numerics/lattice_sum.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>

/* erfc(x) and exp(-x^2) are 1e-10 here. */
static const double gaussian_end = 4.8;
/* Layers are flat to each other to exp(-this). */
static const double flat = 24;
/* How long an image takes, in units of a charge's part in a wave. */
static const double image_cost = 15;
/* Vectors of the lattice that are looked at for each charge, and waves, at most. */
static const double most_vectors = 2e6, most_waves = 1e8;

/* Waves (i, k, l) of one k and one l, i from first to first + count - 1. */
typedef struct wave_row {
    int64_t first, count, k, l;
    size_t at; /* of the first one among all */
} wave_row;

struct periodic_sum {
    periodic_options o;
    double total_e;
    double low_A, high_A; /* 2-D: of the charges' components along the normal, which is axis `open` */
    int open;
    cell waved;        /* the cell whose waves are summed: higher than it is, in 2-D */
    double gap_A;      /* 2-D: of the layers, at least */
    double beta_per_A; /* 0: no waves */
    double reach_A;    /* of images whose value counts */
    size_t vectors;
    double (*vector_A)[3]; /* of the lattice: those that may bring an image into reach of the nearest place */
    size_t rows, waves;
    int64_t most[3];
    wave_row *row;
    double *weight, *real, *imaginary; /* [waves]; real and imaginary: of all charges, and weighted */
    lattice_sum *line;                 /* 1-D without screening, in place of all this */
};

static bool is_cancelled(const periodic_sum *s)
{
    return cancel_is_asked(s->o.cancelled);
}

/* ---- Images ---------------------------------------------------------------------------------- */

static double image_value(const periodic_sum *s, double r_A)
{
    const double kappa = s->o.kappa_per_A, beta = s->beta_per_A;
    if (r_A < s->o.r_min_A)
        return ewald_image(s->o.r_min_A, kappa, 0) - (beta > 0 ? ewald_smooth(r_A, kappa, beta) : 0);
    return ewald_image(r_A, kappa, beta);
}

/* The nearest place to 0, or nearly so, that a multiple of the periodic vectors brings x to. */
static void wrap(const cell *c, double x_A[3])
{
    double component[3];
    cell_components(c, x_A, component);
    for (int i = 0; i < 3; i++) {
        const double turns = c->periodic[i] ? floor(component[i] + 0.5) : 0;
        for (int axis = 0; axis < 3; axis++)
            x_A[axis] -= turns * c->vector_A[i][axis];
    }
}

/* The square of what a unit charge is allowed. */
static double square_of(const periodic_sum *s, double r2)
{
    const double safe2 = fmax(r2, s->o.r_min_A * s->o.r_min_A), r_A = sqrt(safe2);
    return s->o.kappa_per_A > 0 || r_A < LEY_CONTACT
               ? pow(ley_long_range_allowed(r_A, s->o.kappa_per_A, s->o.shares), 2) / safe2
               : 1 / safe2;
}

static periodic_value add_images(const periodic_sum *s, const double point_A[3])
{
    periodic_value sum = {0, 0};
    const double near2 = s->o.near_A * s->o.near_A, reach2 = s->line != NULL ? 0 : s->reach_A * s->reach_A,
                 most2 = fmax(near2, reach2);
    for (size_t j = 0; j < s->o.n; j++) {
        double x_A[3], value = 0, squares = 0, least2 = INFINITY;
        if (s->o.charge_e[j] == 0)
            continue;
        for (int axis = 0; axis < 3; axis++)
            x_A[axis] = point_A[axis] - s->o.position_A[3 * j + (size_t)axis];
        wrap(&s->o.cell, x_A);
        for (size_t m = 0; m < s->vectors; m++) {
            const double *v = s->vector_A[m], x = x_A[0] - v[0], y = x_A[1] - v[1], z = x_A[2] - v[2];
            const double r2 = x * x + y * y + z * z;
            least2 = r2 < least2 ? r2 : least2;
            if (r2 >= most2)
                continue;
            if (r2 < reach2)
                value += image_value(s, sqrt(r2));
            if (r2 < near2)
                squares += square_of(s, r2);
        }
        if (squares == 0)
            squares = square_of(s, least2);
        sum.value += s->o.charge_e[j] * value;
        sum.squares += s->o.charge_e[j] * s->o.charge_e[j] * squares;
    }
    return sum;
}

/* The multiples of the periodic vectors with which something within half a cell of 0 may come into
 * reach. */
typedef struct vector_list {
    size_t count;
    double (*vector_A)[3]; /* NULL: they are counted */
} vector_list;

static void put_vector(void *context, const double image_A[3])
{
    vector_list *list = context;
    for (int axis = 0; axis < 3 && list->vector_A != NULL; axis++)
        list->vector_A[list->count][axis] = image_A[axis];
    list->count++;
}

static double half_of(const cell *c)
{
    double half_A = 0;
    for (int i = 0; i < 3; i++)
        half_A += c->periodic[i] ? cell_length(c->vector_A[i]) / 2 : 0;
    return half_A;
}

static bool can_be_listed(const cell *c, double reach_A)
{
    return pow(2 * (reach_A + half_of(c)), c->dimensions) / c->measure <= most_vectors;
}

bool periodic_can_be_summed(const cell *c, double kappa_per_A, double near_A)
{
    /* Along a line no wave helps; numerics/lattice_sum.c goes that far, and this less. */
    const double exponential_end = 38;
    return can_be_listed(c,
                         c->dimensions == 1 && kappa_per_A > 0 ? fmax(near_A, exponential_end / kappa_per_A) : near_A);
}

static ley_status list_vectors(periodic_sum *s, ley_error *error)
{
    static const double nowhere_A[3] = {0};
    const cell *c = &s->o.cell;
    const double reach_A = s->line != NULL ? s->o.near_A : fmax(s->reach_A, s->o.near_A);
    if (!can_be_listed(c, reach_A))
        return ley_fail(error, LEY_ERROR_USAGE,
                        "lattice sum: there are too many images within %g A, where they are still to be counted",
                        reach_A);
    vector_list list = {0, NULL};
    const double most_A = (reach_A + half_of(c)) * (1 + 1e-9) + 1e-9;
    cell_images(c, nowhere_A, most_A, put_vector, &list);
    s->vectors = list.count;
    s->vector_A = malloc((s->vectors + 1) * sizeof *s->vector_A);
    if (s->vector_A == NULL)
        return ley_fail_memory(error, s->vectors * sizeof *s->vector_A, "images of a lattice sum");
    list = (vector_list){0, s->vector_A};
    cell_images(c, nowhere_A, most_A, put_vector, &list);
    return LEY_OK;
}

/* ---- Waves ----------------------------------------------------------------------------------- */

/* exp(i m x) of each axis, real and imaginary; m = 0 is in the middle. */
typedef struct phases {
    double *axis[3][2];
} phases;

static size_t phases_size(const periodic_sum *s)
{
    return 2 * (size_t)(2 * (s->most[0] + s->most[1] + s->most[2]) + 3);
}

static void find_phases(const periodic_sum *s, const double x_A[3], double *room, phases *p)
{
    double component[3];
    cell_components(&s->waved, x_A, component);
    for (int i = 0; i < 3; i++) {
        const int64_t most = s->most[i];
        const double angle = 2 * M_PI * (component[i] - floor(component[i])), c = cos(angle), d = sin(angle);
        double *real = p->axis[i][0] = room + most, *imaginary = p->axis[i][1] = room + 3 * most + 1;
        room += 2 * (2 * most + 1);
        real[0] = 1;
        imaginary[0] = 0;
        for (int64_t m = 1; m <= most; m++) {
            real[m] = real[-m] = real[m - 1] * c - imaginary[m - 1] * d;
            imaginary[m] = real[m - 1] * d + imaginary[m - 1] * c;
            imaginary[-m] = -imaginary[m];
        }
    }
}

/* exp(i (k y + l z)) of a row. */
static void phase_of_row(const phases *p, const wave_row *r, double of[2])
{
    const double y[2] = {p->axis[1][0][r->k], p->axis[1][1][r->k]}, z[2] = {p->axis[2][0][r->l], p->axis[2][1][r->l]};
    of[0] = y[0] * z[0] - y[1] * z[1];
    of[1] = y[0] * z[1] + y[1] * z[0];
}

static void add_charge(periodic_sum *s, const wave_row *r, const phases *p, double charge_e)
{
    const double *c = p->axis[0][0] + r->first, *d = p->axis[0][1] + r->first;
    double across[2], *real = s->real + r->at, *imaginary = s->imaginary + r->at;
    phase_of_row(p, r, across);
    const double a = charge_e * across[0], b = charge_e * across[1];
    for (int64_t i = 0; i < r->count; i++) {
        real[i] += a * c[i] - b * d[i];
        imaginary[i] += a * d[i] + b * c[i];
    }
}

/* The structure factors of some rows. */
static void sum_charges(void *context, size_t first, size_t last)
{
    periodic_sum *s = context;
    double *room = malloc(phases_size(s) * sizeof *room);
    for (size_t j = 0; j < s->o.n && (j % 256 != 0 || !is_cancelled(s)); j++) {
        phases p;
        if (room == NULL) { /* nothing is right then */
            s->real[s->row[first].at] = NAN;
            break;
        }
        find_phases(s, s->o.position_A + 3 * j, room, &p);
        for (size_t r = first; r < last; r++)
            add_charge(s, &s->row[r], &p, s->o.charge_e[j]);
    }
    free(room);
    for (size_t i = s->row[first].at; i < s->row[last - 1].at + (size_t)s->row[last - 1].count; i++) {
        s->real[i] *= s->weight[i];
        s->imaginary[i] *= s->weight[i];
    }
}

static double add_waves(const periodic_sum *s, const double point_A[3])
{
    double sum = 0, *room = malloc(phases_size(s) * sizeof *room);
    phases p;
    if (room == NULL)
        return NAN;
    find_phases(s, point_A, room, &p);
    for (size_t r = 0; r < s->rows; r++) {
        const wave_row *row = &s->row[r];
        const double *c = p.axis[0][0] + row->first, *d = p.axis[0][1] + row->first, *real = s->real + row->at,
                     *imaginary = s->imaginary + row->at;
        double across[2];
        phase_of_row(&p, row, across);
        for (int64_t i = 0; i < row->count; i++)
            sum +=
                real[i] * (across[0] * c[i] - across[1] * d[i]) + imaginary[i] * (across[0] * d[i] + across[1] * c[i]);
    }
    free(room);
    return sum;
}

static double wave_length2(const periodic_sum *s, int64_t i, int64_t k, int64_t l)
{
    const double(*d)[3] = s->waved.dual_per_A;
    double sum = 0;
    for (int axis = 0; axis < 3; axis++)
        sum += pow(2 * M_PI * ((double)i * d[0][axis] + (double)k * d[1][axis] + (double)l * d[2][axis]), 2);
    return sum;
}

/* One of each pair of opposite waves, in rows; without places to put them they are counted. */
static void list_rows(periodic_sum *s)
{
    const double longest2 = pow(2 * s->beta_per_A * gaussian_end, 2);
    size_t rows = 0, at = 0;
    for (int64_t l = 0; l <= s->most[2]; l++)
        for (int64_t k = l > 0 ? -s->most[1] : 0; k <= s->most[1]; k++) {
            wave_row row = {.k = k, .l = l, .at = at};
            for (int64_t i = l > 0 || k > 0 ? -s->most[0] : 1; i <= s->most[0]; i++) {
                const double k2 = wave_length2(s, i, k, l);
                if (k2 > longest2)
                    continue;
                row.first = row.count == 0 ? i : row.first;
                row.count++;
                if (s->weight != NULL)
                    s->weight[at] = 2 / s->waved.measure * ewald_wave(k2, s->o.kappa_per_A, s->beta_per_A);
                at++;
            }
            if (row.count > 0 && s->row != NULL)
                s->row[rows] = row;
            rows += row.count > 0;
        }
    s->rows = rows;
    s->waves = at;
}

static ley_status make_waves(periodic_sum *s, ley_error *error)
{
    double boxes = 1;
    for (int i = 0; i < 3; i++) {
        const double most = 2 * s->beta_per_A * gaussian_end * cell_length(s->waved.vector_A[i]) / (2 * M_PI);
        s->most[i] = (int64_t)fmin(most, 1e6);
        boxes *= 2 * most + 1;
    }
    if (!(boxes < most_waves))
        return ley_fail(error, LEY_ERROR_INPUT, "lattice sum: a cell so oblique that %.2g waves were to be summed",
                        boxes);
    list_rows(s);
    s->row = malloc((s->rows + 1) * sizeof *s->row);
    s->weight = malloc((s->waves + 1) * sizeof *s->weight);
    s->real = calloc(s->waves + 1, sizeof *s->real);
    s->imaginary = calloc(s->waves + 1, sizeof *s->imaginary);
    if (s->row == NULL || s->weight == NULL || s->real == NULL || s->imaginary == NULL)
        return ley_fail_memory(error, 3 * s->waves * sizeof *s->weight, "waves of an Ewald sum");
    list_rows(s);
    if (s->rows > 0)
        parallel_ranges(s->rows, sum_charges, s);
    return is_cancelled(s) ? ley_fail(error, LEY_CANCELLED, "cancelled") : LEY_OK;
}

/* ---- Layers ---------------------------------------------------------------------------------- */

/* The shortest vector of a plane's lattice: the shorter one of two that are no shorter by a
 * multiple of the other (Gauss). */
static double shortest_of_plane(const cell *c, int open)
{
    double v[2][3];
    for (int i = 0; i < 2; i++)
        for (int axis = 0; axis < 3; axis++)
            v[i][axis] = c->vector_A[(open + 1 + i) % 3][axis];
    for (int turn = 0; turn < 1000; turn++) {
        const int a = cell_length(v[0]) < cell_length(v[1]) ? 0 : 1, b = 1 - a;
        const double turns = floor(cell_dot(v[a], v[b]) / cell_dot(v[a], v[a]) + 0.5);
        if (turns == 0)
            break;
        for (int axis = 0; axis < 3; axis++)
            v[b][axis] -= turns * v[a][axis];
    }
    return fmin(cell_length(v[0]), cell_length(v[1]));
}

/* How far apart layers are that are flat to each other: their longest wave is 2 pi |v| / area. */
static double flat_gap(const cell *c, int open)
{
    return flat * c->measure / (2 * M_PI * shortest_of_plane(c, open));
}

/* A layer of charges, and images of it above and below. */
static ley_status raise_cell(periodic_sum *s, ley_error *error)
{
    static const bool all[3] = {true, true, true};
    cell c = s->o.cell;
    s->open = !c.periodic[0] ? 0 : !c.periodic[1] ? 1 : 2;
    const double *normal = c.vector_A[s->open];
    s->low_A = INFINITY;
    s->high_A = -INFINITY;
    for (size_t j = 0; j < s->o.n; j++) {
        const double z_A = cell_dot(normal, s->o.position_A + 3 * j);
        s->low_A = fmin(s->low_A, z_A);
        s->high_A = fmax(s->high_A, z_A);
    }
    s->gap_A = flat_gap(&c, s->open);
    for (int axis = 0; axis < 3; axis++)
        c.vector_A[s->open][axis] *= s->high_A - s->low_A + 2 * s->gap_A;
    return cell_make(all, (const double(*)[3])c.vector_A, &s->waved, error);
}

/* Beside charge q per area, 2 pi times it, in the mean over the plane: a layer alone, less one with
 * its images and a background. */
static double without_images(const periodic_sum *s, double z_A)
{
    const double kappa = s->o.kappa_per_A, height_A = s->high_A - s->low_A + 2 * s->gap_A;
    if (kappa == 0)
        return -z_A * z_A / height_A - height_A / 6;
    return (exp(-kappa * (height_A - z_A)) + exp(-kappa * (height_A + z_A))) / (kappa * expm1(-kappa * height_A));
}

/* A layer that is so far away that it is flat. */
static double flat_value(const periodic_sum *s, double z_A)
{
    return s->o.kappa_per_A == 0 ? -z_A : exp(-s->o.kappa_per_A * z_A) / s->o.kappa_per_A;
}

typedef double layer_function(const periodic_sum *s, double z_A);

static double sum_layers(const periodic_sum *s, double z_A, layer_function *of_layer)
{
    double sum = 0;
    for (size_t j = 0; j < s->o.n; j++)
        sum +=
            s->o.charge_e[j] * of_layer(s, fabs(z_A - cell_dot(s->o.cell.vector_A[s->open], s->o.position_A + 3 * j)));
    return 2 * M_PI / s->o.cell.measure * sum;
}

/* ---- All of it ------------------------------------------------------------------------------- */

periodic_value periodic_sum_at(const periodic_sum *s, const double point_A[3])
{
    periodic_value sum = add_images(s, point_A);
    if (s->line != NULL)
        sum.value = lattice_sum_at(s->line, point_A);
    if (s->beta_per_A == 0)
        return sum;
    if (s->o.cell.dimensions == 2) {
        const double z_A = cell_dot(s->o.cell.vector_A[s->open], point_A);
        if (z_A < s->low_A - s->gap_A || z_A > s->high_A + s->gap_A) {
            sum.value = sum_layers(s, z_A, flat_value);
            return sum;
        }
        sum.value += sum_layers(s, z_A, without_images);
    }
    sum.value += s->total_e * ewald_mean(s->o.kappa_per_A, s->beta_per_A) / s->waved.measure + add_waves(s, point_A);
    return sum;
}

/* ---- Its gradient ---------------------------------------------------------------------------- */

/* Less the derivative of image_value(). */
static double image_slope(const periodic_sum *s, double r_A)
{
    const double kappa = s->o.kappa_per_A, beta = s->beta_per_A;
    if (r_A >= s->o.r_min_A)
        return ewald_image_slope(r_A, kappa, beta);
    return beta * r_A < 1e-3 ? 0 : ewald_image_slope(r_A, kappa, beta) - ewald_image_slope(r_A, kappa, 0);
}

/* What places are off by as floats, in A, and of r_min. */
static const double place_A = 1e-6, place_share = 1e-5;

void periodic_allow_step(double charge_e, const double way_A[3], double r_A, double r_min_A, double kappa_per_A,
                         periodic_gradient *sum)
{
    if (!(r_A > 0) || fabs(r_A - r_min_A) > place_share * r_min_A + place_A)
        return;
    const double slope = charge_e * ewald_image_slope(r_A, kappa_per_A, 0) / r_A;
    for (int axis = 0; axis < 3; axis++) {
        sum->lower[axis] -= fabs(slope * way_A[axis]);
        sum->higher[axis] += fabs(slope * way_A[axis]);
    }
}

static void add_image_slopes(const periodic_sum *s, const double point_A[3], periodic_gradient *sum)
{
    const double near2 = s->o.near_A * s->o.near_A, reach2 = s->line != NULL ? 0 : s->reach_A * s->reach_A,
                 most2 = fmax(near2, reach2);
    for (size_t j = 0; j < s->o.n; j++) {
        const double q_e = s->o.charge_e[j];
        double x_A[3], squares = 0, field_squares = 0, least2 = INFINITY;
        for (int axis = 0; axis < 3; axis++)
            x_A[axis] = point_A[axis] - s->o.position_A[3 * j + (size_t)axis];
        wrap(&s->o.cell, x_A);
        for (size_t m = 0; m < s->vectors && q_e != 0; m++) {
            const double *v = s->vector_A[m], way_A[3] = {x_A[0] - v[0], x_A[1] - v[1], x_A[2] - v[2]};
            const double r2 = cell_dot(way_A, way_A), r_A = sqrt(r2);
            least2 = fmin(least2, r2);
            if (r2 >= most2)
                continue;
            const double slope = r2 < reach2 && r_A > 0 ? q_e * image_slope(s, r_A) / r_A : 0;
            for (int axis = 0; axis < 3; axis++)
                sum->field[axis] += slope * way_A[axis];
            periodic_allow_step(q_e, way_A, r_A, s->o.r_min_A, s->o.kappa_per_A, sum);
            squares += r2 < near2 ? square_of(s, r2) : 0;
            field_squares += r2 < near2 ? 1 / pow(fmax(r_A, s->o.r_min_A), 4) : 0;
        }
        if (squares == 0 && q_e != 0) {
            squares = square_of(s, least2);
            field_squares = 1 / (least2 * least2);
        }
        sum->squares += q_e * q_e * squares;
        sum->field_squares += q_e * q_e * field_squares;
    }
}

static bool add_wave_slopes(const periodic_sum *s, const double point_A[3], double field[3])
{
    double *room = malloc(phases_size(s) * sizeof *room);
    const double(*dual)[3] = s->waved.dual_per_A;
    phases p;
    if (room == NULL)
        return false;
    find_phases(s, point_A, room, &p);
    for (size_t r = 0; r < s->rows; r++) {
        const wave_row *row = &s->row[r];
        const double *c = p.axis[0][0] + row->first, *d = p.axis[0][1] + row->first, *real = s->real + row->at,
                     *imaginary = s->imaginary + row->at;
        double across[2], sum = 0, moment = 0;
        phase_of_row(&p, row, across);
        for (int64_t i = 0; i < row->count; i++) {
            const double turned =
                real[i] * (across[0] * d[i] + across[1] * c[i]) - imaginary[i] * (across[0] * c[i] - across[1] * d[i]);
            sum += turned;
            moment += turned * (double)(row->first + i);
        }
        for (int axis = 0; axis < 3; axis++)
            field[axis] +=
                2 * M_PI *
                (moment * dual[0][axis] + sum * ((double)row->k * dual[1][axis] + (double)row->l * dual[2][axis]));
    }
    free(room);
    return true;
}

/* Less the derivatives of without_images() and flat_value(). */
static double without_images_slope(const periodic_sum *s, double z_A)
{
    const double kappa = s->o.kappa_per_A, height_A = s->high_A - s->low_A + 2 * s->gap_A;
    if (kappa == 0)
        return 2 * z_A / height_A;
    return (exp(-kappa * (height_A + z_A)) - exp(-kappa * (height_A - z_A))) / expm1(-kappa * height_A);
}

static double flat_slope(const periodic_sum *s, double z_A)
{
    return s->o.kappa_per_A == 0 ? 1 : exp(-s->o.kappa_per_A * z_A);
}

static void add_layer_slopes(const periodic_sum *s, double z_A, layer_function *slope, double field[3])
{
    const double *normal = s->o.cell.vector_A[s->open];
    double sum = 0;
    for (size_t j = 0; j < s->o.n; j++) {
        const double from_A = z_A - cell_dot(normal, s->o.position_A + 3 * j);
        sum += s->o.charge_e[j] * slope(s, fabs(from_A)) * (from_A > 0 ? 1 : from_A < 0 ? -1 : 0);
    }
    for (int axis = 0; axis < 3; axis++)
        field[axis] += 2 * M_PI / s->o.cell.measure * sum * normal[axis];
}

periodic_gradient periodic_sum_field(const periodic_sum *s, const double point_A[3])
{
    periodic_gradient g = {.squares = 0};
    add_image_slopes(s, point_A, &g);
    if (s->line != NULL)
        lattice_sum_line_field(s->line, point_A, g.field);
    if (s->beta_per_A == 0)
        return g;
    if (s->o.cell.dimensions == 2) {
        const double z_A = cell_dot(s->o.cell.vector_A[s->open], point_A);
        if (z_A < s->low_A - s->gap_A || z_A > s->high_A + s->gap_A) {
            g.field[0] = g.field[1] = g.field[2] = 0;
            add_layer_slopes(s, z_A, flat_slope, g.field);
            return g;
        }
        add_layer_slopes(s, z_A, without_images_slope, g.field);
    }
    if (!add_wave_slopes(s, point_A, g.field))
        g.field[0] = NAN;
    return g;
}

/* ---- Making it ------------------------------------------------------------------------------- */

/* As far as images count that are summed one by one. What a value may be off by is a share of its
 * screened terms, and images that bring the terms bring their values, too, however small these
 * are. */
static double screened_reach_A(const periodic_sum *s)
{
    return fmax(gaussian_end * gaussian_end / s->o.kappa_per_A, s->o.near_A);
}

/* The more points there are, the more is left to waves, which are summed once for all charges; but
 * for each point, too. */
static void divide(periodic_sum *s)
{
    const double n = (double)s->o.n, points = (double)s->o.points,
                 crowd = sqrt(62 * image_cost * points * n / (n + points));
    double beta = cbrt(crowd / s->waved.measure);
    if (s->o.cell.dimensions == 2)
        beta = fmax(beta, gaussian_end / s->gap_A);
    s->reach_A = gaussian_end / beta;
    s->beta_per_A = beta;
    /* Images alone are as few. */
    if (s->o.kappa_per_A * fmax(s->reach_A, s->o.near_A) > gaussian_end * gaussian_end) {
        s->beta_per_A = 0;
        s->reach_A = screened_reach_A(s);
    }
}

static ley_status make_line(periodic_sum *s, ley_error *error)
{
    const lattice_sum_options options = {.cell = s->o.cell, .r_min_A = s->o.r_min_A};
    if (s->o.kappa_per_A == 0)
        return lattice_sum_create(&options, s->o.n, s->o.position_A, s->o.charge_e, &s->line, error);
    s->reach_A = screened_reach_A(s);
    return LEY_OK;
}

static ley_status make(periodic_sum *s, ley_error *error)
{
    ley_status status = LEY_OK;
    s->waved = s->o.cell;
    if (s->o.cell.dimensions == 1)
        status = make_line(s, error);
    else if (s->o.cell.dimensions == 2)
        status = raise_cell(s, error);
    if (status == LEY_OK && s->o.cell.dimensions > 1)
        divide(s);
    if (status == LEY_OK)
        status = list_vectors(s, error);
    return status == LEY_OK && s->beta_per_A > 0 ? make_waves(s, error) : status;
}

ley_status periodic_sum_create(const periodic_options *options, periodic_sum **made, ley_error *error)
{
    const double neutral = 1e-14; /* what the rounding of doubles leaves has a mean, too, with next to no screening */
    double magnitude_e = 0;
    periodic_sum *s = calloc(1, sizeof *s);
    if (s == NULL)
        return ley_fail_memory(error, sizeof *s, "a lattice sum");
    s->o = *options;
    for (size_t j = 0; j < s->o.n; j++) {
        s->total_e += s->o.charge_e[j];
        magnitude_e += fabs(s->o.charge_e[j]);
    }
    if (fabs(s->total_e) <= neutral * magnitude_e)
        s->total_e = 0;
    const ley_status status = make(s, error);
    if (status == LEY_OK)
        *made = s;
    else
        periodic_sum_destroy(s);
    return status;
}

void periodic_sum_destroy(periodic_sum *s)
{
    if (s == NULL)
        return;
    lattice_sum_destroy(s->line);
    free(s->vector_A);
    free(s->row);
    free(s->weight);
    free(s->real);
    free(s->imaginary);
    free(s);
}
