/* Gaussians of sigma are wider ones of s, summed over waves, and beside them what narrower ones are
 * more, summed over atoms near by:
 *
 *     phi(r) = sum over waves of s + sum over j and images of q_j (erf(r_j / (sigma sqrt 2)) -
 *              erf(r_j / (s sqrt 2))) / r_j - 2 pi (s^2 - sigma^2) Q / V */
#include "average/verify.h"

#include "average/host_spread.h"
#include "average/place.h"
#include "average/potential.h"
#include "average/share.h"
#include "average/sums.h"
#include "clock.h"
#include "error.h"
#include "for_this_cpu.h"
#include "parallel.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Waves and distances beyond so many widths do not matter. */
static const double most_widths = 5.4;

enum { BATCH = 2048, MOST_WAVES_ALONG = 200, TABLE = 4096 };

typedef struct wave {
    int m[3];
    double factor, re, im;
} wave;

typedef struct ewald {
    const average_problem *p;
    const double *cell_A;
    const float *position_A;
    const frame_place *place;
    double reciprocal[3][3], volume, sigma_A, wide_A;
    int most[3], images[3];
    size_t waves, points;
    wave *list;
    double step_A, table[TABLE][2]; /* of near terms */
    const double (*at)[3];
    double *value;
    pthread_mutex_t mutex;
    double (*part)[2];     /* [batches][waves] */
    double (*fraction)[3]; /* of the atoms, in [0, 1) */
} ewald;

/* ---- Waves ----------------------------------------------------------------------------------- */

static double length_of(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static double k2_of(const ewald *e, const int m[3])
{
    double k2 = 0;
    for (int d = 0; d < 3; d++) {
        double k = 0;
        for (int i = 0; i < 3; i++)
            k += m[i] * e->reciprocal[i][d];
        k2 += 4 * M_PI * M_PI * k * k;
    }
    return k2;
}

static double most_wave(const ewald *e, double wide_A)
{
    return place_most_wave(place_least_wave(e->cell_A), most_widths / wide_A);
}

static double count_waves(const ewald *e, double wide_A)
{
    const double k = most_wave(e, wide_A);
    return 2 * M_PI / 3 * k * k * k * e->volume / (8 * M_PI * M_PI * M_PI);
}

/* Images of an atom that distances of a Gaussian this wide reach, from that one on that is within
 * half a cell along each axis. */
static double count_images(const ewald *e, double wide_A)
{
    double images = 1;
    for (int i = 0; i < 3; i++)
        images *= 2 * floor(most_widths * wide_A * length_of(e->reciprocal[i]) + 0.5) + 1;
    return images;
}

/* The split that takes the least. */
static const double pair_cost = 15; /* of an image of an atom, in waves of it */

static void choose_split(ewald *e)
{
    double least = (double)e->p->atoms * count_waves(e, e->sigma_A);
    e->wide_A = e->sigma_A;
    for (double wide_A = 1.25 * e->sigma_A; wide_A < 12 * e->sigma_A; wide_A *= 1.25) {
        const double cost =
            (double)e->p->atoms * (count_waves(e, wide_A) + pair_cost * (double)e->points * count_images(e, wide_A));
        if (cost < least) {
            least = cost;
            e->wide_A = wide_A;
        }
    }
    for (int i = 0; i < 3; i++) {
        e->most[i] = (int)(most_wave(e, e->wide_A) * length_of(e->cell_A + 3 * i) / (2 * M_PI));
        e->most[i] = e->most[i] > MOST_WAVES_ALONG ? MOST_WAVES_ALONG : e->most[i];
        e->images[i] = (int)floor(most_widths * e->wide_A * length_of(e->reciprocal[i]) + 0.5);
    }
}

static ley_status list_waves(ewald *e, ley_error *error)
{
    const size_t most = (size_t)(e->most[0] + 1) * (size_t)(2 * e->most[1] + 1) * (size_t)(2 * e->most[2] + 1);
    const double most_k = most_wave(e, e->wide_A);
    e->list = malloc(most * sizeof *e->list);
    if (e->list == NULL)
        return ley_fail_memory(error, most * sizeof *e->list, "the waves");
    for (int x = 0; x <= e->most[0]; x++)
        for (int y = x == 0 ? 0 : -e->most[1]; y <= e->most[1]; y++)
            for (int z = x == 0 && y == 0 ? 1 : -e->most[2]; z <= e->most[2]; z++) {
                wave w = {.m = {x, y, z}};
                const double k2 = k2_of(e, w.m);
                w.factor = 8 * M_PI / e->volume * exp(-e->wide_A * e->wide_A * k2 / 2) / k2;
                if (k2 < most_k * most_k)
                    e->list[e->waves++] = w;
            }
    return LEY_OK;
}

/* Powers of exp(-2 pi i s) of each atom of a batch, along an axis: [2][0 to most][BATCH]. */
typedef double batch_values[BATCH];

FOR_THIS_CPU static void make_powers(const ewald *e, size_t first, size_t count, int axis, batch_values *re,
                                     batch_values *im)
{
    for (size_t i = 0; i < count; i++) {
        re[0][i] = 1;
        im[0][i] = 0;
        re[1][i] = cos(2 * M_PI * e->fraction[first + i][axis]);
        im[1][i] = -sin(2 * M_PI * e->fraction[first + i][axis]);
    }
    for (int m = 2; m <= e->most[axis]; m++)
        for (size_t i = 0; i < count; i++) {
            re[m][i] = re[m - 1][i] * re[1][i] - im[m - 1][i] * im[1][i];
            im[m][i] = re[m - 1][i] * im[1][i] + im[m - 1][i] * re[1][i];
        }
}

/* The charges' sums of products of three powers; `sign`: of the third one. */
FOR_THIS_CPU static void sum_products(const double *a_re, const double *a_im, const double *z_re, const double *z_im,
                                      double sign, size_t count, double sum[2])
{
    double re[8] = {0}, im[8] = {0};
    for (size_t i = 0; i < count; i += 8)
        for (size_t l = 0; l < 8; l++) {
            re[l] += a_re[i + l] * z_re[i + l] - sign * a_im[i + l] * z_im[i + l];
            im[l] += sign * a_re[i + l] * z_im[i + l] + a_im[i + l] * z_re[i + l];
        }
    for (int l = 0; l < 8; l++) {
        sum[0] += re[l];
        sum[1] += im[l];
    }
}

FOR_THIS_CPU static void multiply(const double *q, const double *x_re, const double *x_im, const double *y_re,
                                  const double *y_im, double sign, size_t count, double *re, double *im)
{
    for (size_t i = 0; i < count; i++) {
        re[i] = q[i] * (x_re[i] * y_re[i] - sign * x_im[i] * y_im[i]);
        im[i] = q[i] * (sign * x_re[i] * y_im[i] + x_im[i] * y_re[i]);
    }
}

static void sum_batch(const ewald *e, size_t first, size_t count, batch_values *room, double (*part)[2])
{
    const size_t along[3] = {(size_t)e->most[0] + 2, (size_t)e->most[1] + 2, (size_t)e->most[2] + 2};
    batch_values *re[3] = {NULL}, *im[3] = {NULL}, *charge = room, *across = room + 1;
    room += 3;
    for (int axis = 0; axis < 3; axis++) {
        re[axis] = room;
        im[axis] = room + along[axis];
        room += 2 * along[axis];
    }
    const size_t whole = (count + 7) / 8 * 8; /* behind the last atom charges are 0 */
    memset(charge, 0, sizeof *charge);
    memcpy(charge, e->p->charge_e + first, count * sizeof(double));
    for (int axis = 0; axis < 3; axis++) {
        make_powers(e, first, count, axis, re[axis], im[axis]);
        for (size_t m = 0; m <= (size_t)e->most[axis] + 1 && whole > count; m++)
            for (size_t i = count; i < whole; i++)
                re[axis][m][i] = im[axis][m][i] = 0;
    }
    int x = -1, y = 0;
    for (size_t w = 0; w < e->waves; w++) {
        const int *m = e->list[w].m, z = abs(m[2]);
        if (m[0] != x || m[1] != y) {
            x = m[0];
            y = m[1];
            multiply(charge[0], re[0][x], im[0][x], re[1][abs(y)], im[1][abs(y)], y < 0 ? -1 : 1, whole, across[0],
                     across[1]);
        }
        sum_products(across[0], across[1], re[2][z], im[2][z], m[2] < 0 ? -1 : 1, whole, part[w]);
    }
}

static void sum_batches(void *context, size_t first, size_t last)
{
    ewald *e = context;
    const size_t along = (size_t)(e->most[0] + e->most[1] + e->most[2] + 6);
    batch_values *room = malloc((3 + 2 * along) * sizeof *room);
    for (size_t b = first; b < last && room != NULL; b++) {
        const size_t from = b * BATCH, count = e->p->atoms - from < BATCH ? e->p->atoms - from : BATCH;
        sum_batch(e, from, count, room, e->part + b * e->waves);
    }
    if (room == NULL)
        e->part[first * e->waves][0] = NAN;
    free(room);
}

static ley_status sum_waves(ewald *e, ley_error *error)
{
    const size_t batches = (e->p->atoms + BATCH - 1) / BATCH;
    e->part = calloc(batches * e->waves + 1, sizeof *e->part);
    if (e->part == NULL)
        return ley_fail_memory(error, batches * e->waves * sizeof *e->part, "structure factors");
    parallel_ranges(batches, sum_batches, e);
    for (size_t b = 0; b < batches; b++)
        for (size_t w = 0; w < e->waves; w++) {
            e->list[w].re += e->part[b * e->waves + w][0];
            e->list[w].im += e->part[b * e->waves + w][1];
        }
    return LEY_OK;
}

/* ---- Points ---------------------------------------------------------------------------------- */

/* What the narrow Gaussian has more than the wide one, at a distance; and a table of it, by cubic
 * polynomials between values and slopes, whose error is 1e-11 of the largest one. */
static double near_term(const ewald *e, double r)
{
    return r < 1e-6 * e->sigma_A ? sqrt(2 / M_PI) * (1 / e->sigma_A - 1 / e->wide_A)
                                 : (erf(r / (M_SQRT2 * e->sigma_A)) - erf(r / (M_SQRT2 * e->wide_A))) / r;
}

static double near_slope(const ewald *e, double r)
{
    const double narrow = r / e->sigma_A, wide = r / e->wide_A;
    return r < 1e-6 * e->sigma_A
               ? 0
               : (sqrt(2 / M_PI) * (exp(-narrow * narrow / 2) / e->sigma_A - exp(-wide * wide / 2) / e->wide_A) -
                  near_term(e, r)) /
                     r;
}

static void make_table(ewald *e)
{
    e->step_A = most_widths * e->wide_A / (TABLE - 1);
    for (int i = 0; i < TABLE; i++) {
        e->table[i][0] = near_term(e, i * e->step_A);
        e->table[i][1] = near_slope(e, i * e->step_A) * e->step_A;
    }
}

static inline double near_value(const ewald *e, double r2)
{
    const double x = sqrt(r2) / e->step_A;
    const int i = (int)x < TABLE - 2 ? (int)x : TABLE - 2;
    const double t = x - i, u = 1 - t, *a = e->table[i], *b = e->table[i + 1];
    return u * u * ((1 + 2 * t) * a[0] + t * a[1]) + t * t * ((1 + 2 * u) * b[0] - u * b[1]);
}

static double near_sum(const ewald *e, const double at[3], size_t first, size_t last)
{
    const double reach2 = pow(most_widths * e->wide_A, 2);
    double sum = 0;
    for (size_t i = first; i < last; i++) {
        double s[3], own = 0;
        for (int d = 0; d < 3; d++) {
            s[d] = at[d] - e->fraction[i][d];
            s[d] -= rint(s[d]);
        }
        for (int x = -e->images[0]; x <= e->images[0]; x++)
            for (int y = -e->images[1]; y <= e->images[1]; y++)
                for (int z = -e->images[2]; z <= e->images[2]; z++) {
                    double r2 = 0;
                    for (int d = 0; d < 3; d++) {
                        const double r =
                            (s[0] + x) * e->cell_A[d] + (s[1] + y) * e->cell_A[3 + d] + (s[2] + z) * e->cell_A[6 + d];
                        r2 += r * r;
                    }
                    if (r2 < reach2)
                        own += near_value(e, r2);
                }
        sum += e->p->charge_e[i] * own;
    }
    return sum;
}

enum { PIECES = 64 }; /* of the atoms, whose sums are added in their order */

static void do_near(void *context, size_t first, size_t last)
{
    ewald *e = context;
    for (size_t i = first; i < last; i++)
        e->value[i] = near_sum(e, e->at[i / PIECES], parallel_first(e->p->atoms, PIECES, i % PIECES),
                               parallel_first(e->p->atoms, PIECES, i % PIECES + 1));
}

static double far_sum(const ewald *e, const double at[3])
{
    double sum = 0;
    for (size_t w = 0; w < e->waves; w++) {
        const wave *v = &e->list[w];
        const double phase = 2 * M_PI * (v->m[0] * at[0] + v->m[1] * at[1] + v->m[2] * at[2]);
        sum += v->factor * (v->re * cos(phase) - v->im * sin(phase));
    }
    return sum;
}

static ley_status sum_points(ewald *e, double *value, ley_error *error)
{
    double charge = 0;
    for (size_t i = 0; i < e->p->atoms; i++)
        charge += e->p->charge_e[i];
    e->value = calloc(e->points * PIECES, sizeof *e->value);
    if (e->value == NULL)
        return ley_fail_memory(error, e->points * PIECES * sizeof *e->value, "a frame's verification");
    make_table(e);
    if (e->wide_A > e->sigma_A)
        parallel_ranges(e->points * PIECES, do_near, e);
    for (size_t i = 0; i < e->points; i++) {
        value[i] =
            far_sum(e, e->at[i]) - 2 * M_PI * (e->wide_A * e->wide_A - e->sigma_A * e->sigma_A) * charge / e->volume;
        for (size_t k = 0; k < PIECES; k++)
            value[i] += e->value[i * PIECES + k];
    }
    return LEY_OK;
}

static void find_fractions(void *context, size_t first, size_t last)
{
    ewald *e = context;
    for (size_t i = first; i < last; i++)
        for (int axis = 0; axis < 3; axis++) {
            double at = e->place->first[axis];
            for (int d = 0; d < 3; d++)
                at += e->place->along[axis][d] * (double)e->position_A[3 * i + (size_t)d];
            at /= (double)e->p->mesh.n[axis];
            e->fraction[i][axis] = at - floor(at);
        }
}

/* The smoothed potential of charges at fractions of the first frame's cell, at points that are such
 * fractions, too: by Ewald's sum with a split of its own, in e / A. */
static ley_status exact(const average_problem *p, const double cell_A[9], const frame_place *place,
                        const float *position_A, size_t points, const double (*at)[3], double *value, ley_error *error)
{
    ewald *e = calloc(1, sizeof *e);
    if (e == NULL)
        return ley_fail_memory(error, sizeof *e, "a frame's verification");
    *e = (ewald){.p = p,
                 .cell_A = cell_A,
                 .position_A = position_A,
                 .place = place,
                 .sigma_A = p->options.smooth_A,
                 .points = points,
                 .at = at,
                 .fraction = malloc(p->atoms * sizeof *e->fraction)};
    ley_status status =
        e->fraction != NULL ? LEY_OK : ley_fail_memory(error, p->atoms * sizeof *e->fraction, "a frame's verification");
    e->volume = place_reciprocal(cell_A, e->reciprocal);
    choose_split(e);
    if (status == LEY_OK)
        status = list_waves(e, error);
    if (status == LEY_OK) {
        parallel_ranges(p->atoms, find_fractions, e);
        status = sum_waves(e, error);
    }
    if (status == LEY_OK)
        status = sum_points(e, value, error);
    free(e->fraction);
    free(e->list);
    free(e->part);
    free(e->value);
    free(e);
    return status;
}

/* ---- A frame --------------------------------------------------------------------------------- */

enum { VERIFY_POINTS = 16 };

static const double most_time = 0.05; /* of all */

/* Whether a frame's own cell is too large for the mesh to be fine enough without a doubt: it is
 * twice as good as it has to be, by the fourth power at least. */
static bool is_coarse(const average_problem *p, const double cell_A[9])
{
    static const double most_growth = 1.15;
    bool is_longer = false;
    for (int i = 0; i < 9 && p->by_frame; i += 3)
        is_longer = is_longer || length_of(cell_A + i) > most_growth * length_of(p->first_cell_A + i);
    return is_longer;
}

bool verify_wants(ley_average *a, int64_t frame, const double cell_A[9])
{
    const ley_average_options *o = &a->problem.options;
    if (o->verify_every == 0 || o->pmepot)
        return false;
    if (is_coarse(&a->problem, cell_A) || frame == 0)
        return true;
    pthread_mutex_lock(&a->sum_mutex);
    /* Among ranks the others wait for one that is at it in the end. */
    const double next_s = a->ranks.count > 1 ? a->judging_s : 0;
    const bool is_affordable = a->checking_s + next_s <= most_time * (ley_clock_s() - a->start_s);
    pthread_mutex_unlock(&a->sum_mutex);
    return is_affordable && frame % o->verify_every == 0;
}

/* Nodes at random, by the frame's number. */
static void choose_nodes(const int64_t n[3], int64_t frame, int64_t (*node)[3], double (*at)[3])
{
    uint64_t state = 88172645463325252u + (uint64_t)frame * 0x9E3779B97F4A7C15u;
    for (int i = 0; i < VERIFY_POINTS; i++)
        for (int axis = 0; axis < 3; axis++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            node[i][axis] = (int64_t)((state >> 11) % (uint64_t)n[axis]);
            at[i][axis] = (double)node[i][axis] / (double)n[axis];
        }
}

/* The potential that a node's unit charge makes on the mesh, in the first frame's cell and e / A:
 * made once. The caller holds the mutex of the sums. */
static ley_status make_response(ley_average *a, ley_error *error)
{
    average_problem p = a->problem;
    const size_t nodes = (size_t)average_mesh_nodes(&p.mesh);
    if (a->response != NULL)
        return LEY_OK;
    memcpy(p.n, p.mesh.n, sizeof p.n);
    p.coulomb_constant = 1;
    double *unit = calloc(nodes, sizeof *unit), *response = malloc(nodes * sizeof *response);
    ley_status status = unit != NULL && response != NULL ? LEY_OK : ley_fail_memory(error, 16 * nodes, "verification");
    if (status == LEY_OK) {
        unit[0] = 1;
        status = potential_of(&p, p.first_cell_A, unit, response, error);
    }
    if (status == LEY_OK)
        a->response = response;
    else
        free(response);
    free(unit);
    return status;
}

typedef struct convolution {
    const average_mesh *mesh;
    const int64_t *quanta, (*node)[3];
    const double *response;
    double *row; /* [n_z][VERIFY_POINTS] */
} convolution;

FOR_THIS_CPU static double product(const int64_t *quanta, const double *mirrored, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += (double)quanta[i] * mirrored[i];
    return sum;
}

/* The response is even: G(p - m) = G(m - p), so that rows run the same way. */
static void do_planes(void *context, size_t first, size_t last)
{
    const convolution *c = context;
    const int64_t *n = c->mesh->n;
    for (int64_t z = (int64_t)first; z < (int64_t)last; z++)
        for (int p = 0; p < VERIFY_POINTS; p++) {
            const int64_t *at = c->node[p], far_z = (z - at[2] + n[2]) % n[2];
            double sum = 0;
            for (int64_t y = 0; y < n[1]; y++) {
                const int64_t *row = c->quanta + (z * n[1] + y) * n[0];
                const double *g = c->response + (far_z * n[1] + (y - at[1] + n[1]) % n[1]) * n[0];
                sum += product(row, g + n[0] - at[0], at[0]) + product(row + at[0], g, n[0] - at[0]);
            }
            c->row[z * VERIFY_POINTS + p] = sum;
        }
}

static ley_status note(ley_average *a, int64_t frame, const double *found, const double *right, ley_error *error)
{
    double off = 0, all = 0;
    for (int i = 0; i < VERIFY_POINTS; i++) {
        off += pow(found[i] - right[i], 2);
        all += right[i] * right[i];
    }
    const double share = all > 0 ? off / all : off;
    if (!(sqrt(share) <= a->problem.options.tolerance))
        return ley_fail(error, LEY_ERROR_WRONG_RESULT,
                        "frame %lld: the potential is off by %.2g of its root mean square at %d points, by more than "
                        "the tolerance, %g: a tolerance of %.1g takes a finer mesh, which charges as regular as a "
                        "crystal's may need",
                        (long long)frame + 1, sqrt(share), VERIFY_POINTS, a->problem.options.tolerance,
                        a->problem.options.tolerance / 10);
    pthread_mutex_lock(&a->sum_mutex);
    /* One that is done again, for its chunk was not full or its device has failed, counts once. */
    const size_t recent = sizeof a->lately_checked / sizeof *a->lately_checked;
    bool is_known = false;
    for (size_t i = 0; i < recent; i++)
        is_known = is_known || a->lately_checked[i] == frame + 1;
    if (!is_known) {
        a->lately_checked[a->checked_frames % (int64_t)recent] = frame + 1;
        a->checked_frames++;
        a->checked_points += VERIFY_POINTS;
        a->checked_share += share;
    }
    pthread_mutex_unlock(&a->sum_mutex);
    return LEY_OK;
}

static void add_time(ley_average *a, double seconds)
{
    pthread_mutex_lock(&a->sum_mutex);
    a->checking_s += seconds;
    pthread_mutex_unlock(&a->sum_mutex);
}

/* Of the atoms of all ranks, or of those that `own` has. */
static ley_status judge_density(ley_average *a, const average_problem *own, const ley_average_ranks *ranks,
                                int64_t frame, const frame_place *place, const float *position_A, const int64_t *quanta,
                                ley_error *error)
{
    const average_problem *p = &a->problem;
    int64_t node[VERIFY_POINTS][3];
    double at[VERIFY_POINTS][3], value[2][VERIFY_POINTS] = {{0}}, *found = value[0], *right = value[1];
    convolution c = {.mesh = &p->mesh, .quanta = quanta, .node = (const int64_t(*)[3])node};
    choose_nodes(p->mesh.n, frame, node, at);
    pthread_mutex_lock(&a->sum_mutex);
    ley_status status = make_response(a, error);
    pthread_mutex_unlock(&a->sum_mutex);
    c.response = a->response;
    c.row = malloc((size_t)p->mesh.n[2] * VERIFY_POINTS * sizeof *c.row);
    if (status == LEY_OK && c.row == NULL)
        status = ley_fail_memory(error, (size_t)p->mesh.n[2] * VERIFY_POINTS * 8, "verification");
    if (status == LEY_OK)
        status = exact(own, p->first_cell_A, place, position_A, VERIFY_POINTS, (const double(*)[3])at, right, error);
    if (status == LEY_OK) {
        parallel_ranges((size_t)p->mesh.n[2], do_planes, &c);
        for (int64_t z = 0; z < p->mesh.n[2]; z++)
            for (int i = 0; i < VERIFY_POINTS; i++)
                found[i] += ldexp(c.row[z * VERIFY_POINTS + i], -p->exponent);
        status = share_doubles(ranks, value[0], sizeof value / sizeof value[0][0], error);
    }
    if (status == LEY_OK)
        status = note(a, frame, found, right, error);
    free(c.row);
    return status;
}

ley_status verify_density(ley_average *a, int64_t frame, const frame_place *place, const float *position_A,
                          const int64_t *quanta, ley_error *error)
{
    const ley_average_ranks alone = {.count = 1};
    const double start_s = ley_clock_s();
    const ley_status status = judge_density(a, &a->problem, &alone, frame, place, position_A, quanta, error);
    add_time(a, ley_clock_s() - start_s);
    return status;
}

ley_status verify_mesh(ley_average *a, const frame_place *place, const float *position_A, ley_error *error)
{
    const average_problem *p = &a->problem;
    average_problem own = *p;
    size_t first;
    const size_t bytes = sums_nodes(p) * sizeof(int64_t);
    const double start_s = ley_clock_s();
    int64_t *quanta = parallel_zeros(bytes);
    if (quanta == NULL)
        return ley_fail_memory(error, bytes, "the first frame's charges on the mesh");
    own.atoms = share_atoms(&a->ranks, p->atoms, &first);
    own.charge_e += first;
    host_spread_frame(&p->mesh, place, own.atoms, position_A + 3 * first, p->quanta + first, quanta);
    const ley_status status = judge_density(a, &own, &a->ranks, 0, place, position_A + 3 * first, quanta, error);
    free(quanta);
    a->judging_s = (ley_clock_s() - start_s) * (a->ranks.count > 1 ? a->ranks.count : 1);
    /* It does not count beside what devices make of that frame. */
    a->checked_frames = a->checked_points = a->lately_checked[0] = 0;
    a->checked_share = 0;
    if (status != LEY_OK) { /* that of another mesh is another one */
        free(a->response);
        a->response = NULL;
    }
    return status;
}

static ley_status judge_potential(ley_average *a, int64_t frame, const frame_place *place, const double cell_A[9],
                                  const float *position_A, const float *value, ley_error *error)
{
    const average_problem *p = &a->problem;
    int64_t node[VERIFY_POINTS][3];
    double at[VERIFY_POINTS][3], found[VERIFY_POINTS], right[VERIFY_POINTS];
    choose_nodes(p->n, frame, node, at);
    const ley_status status = exact(p, cell_A, place, position_A, VERIFY_POINTS, (const double(*)[3])at, right, error);
    for (int i = 0; i < VERIFY_POINTS; i++)
        found[i] = (double)value[(node[i][2] * p->n[1] + node[i][1]) * p->n[0] + node[i][0]];
    return status == LEY_OK ? note(a, frame, found, right, error) : status;
}

ley_status verify_potential(ley_average *a, int64_t frame, const frame_place *place, const double cell_A[9],
                            const float *position_A, const float *value, ley_error *error)
{
    const double start_s = ley_clock_s();
    const ley_status status = judge_potential(a, frame, place, cell_A, position_A, value, error);
    add_time(a, ley_clock_s() - start_s);
    return status;
}
