#include "fit/verify.h"

#include "error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BRICKS = 8, CHECKED_ATOMS = 4, CHECKED_WINDOWS = 2, WINDOW_NODES = 200000 };

/* ---- The law --------------------------------------------------------------------------------- */

/* Nodes within so many of a place. */
static void find_box(const fit_problem *p, const double at[3], const double reach[3], int64_t first[3],
                     int64_t count[3])
{
    for (int axis = 0; axis < 3; axis++) {
        const double last = (double)(p->model.grid.n[axis] - 1),
                     low = fmin(fmax(ceil(at[axis] - reach[axis]), 0), last + 1),
                     high = fmin(fmax(floor(at[axis] + reach[axis]), -1), last);
        first[axis] = (int64_t)low;
        count[axis] = high >= low ? (int64_t)(high - low) + 1 : 0;
    }
}

static double square_from_A2(const density_model *m, const int64_t index[3], const float position_A[3])
{
    double point_A[3], square_A2 = 0;
    ley_grid_point_A(&m->grid, index, point_A);
    for (int d = 0; d < 3; d++)
        square_A2 += (point_A[d] - (double)position_A[d]) * (point_A[d] - (double)position_A[d]);
    return square_A2;
}

static int64_t node_at(const density_model *m, const int64_t index[3])
{
    return (index[2] * m->grid.n[1] + index[1]) * m->grid.n[0] + index[0];
}

static void reach_of(const density_model *m, double reach_A, double reach[3])
{
    for (int axis = 0; axis < 3; axis++)
        reach[axis] = reach_A * density_reach_nodes(m, 1, axis) / m->cut;
}

density_sums fit_law_window(const fit_problem *p, const float *position_A, const double *rho, const int64_t first[3],
                            const int64_t count[3], int32_t window, double reach_A, unsigned char *mark)
{
    density_sums s = {.n = 0};
    double reach[3];
    reach_of(&p->model, reach_A, reach);
    for (int32_t k = p->window_first[window]; k < p->window_first[window + 1]; k++) {
        const float *x = position_A + 3 * (size_t)p->window_atom[k];
        int64_t low[3], size[3];
        double at[3];
        density_place(&p->model, x, at);
        find_box(p, at, reach, low, size);
        for (int64_t i = 0; i < size[0] * size[1] * size[2]; i++) {
            const int64_t index[3] = {low[0] + i % size[0], low[1] + i / size[0] % size[1],
                                      low[2] + i / (size[0] * size[1])};
            const int64_t own =
                ((index[2] - first[2]) * count[1] + index[1] - first[1]) * count[0] + index[0] - first[0];
            const double b = (double)p->map[node_at(&p->model, index)];
            if (isnan(b) || mark[own] || square_from_A2(&p->model, index, x) > reach_A * reach_A)
                continue;
            mark[own] = 1;
            density_sums_add(&s, rho[own], b);
        }
    }
    return s;
}

void fit_law_atom(const fit_problem *p, const float *position_A, size_t atom, const double *rho, const int64_t first[3],
                  const int64_t count[3], double sums[9], double absolute[9])
{
    const density_model *m = &p->model;
    const float *x = position_A + 3 * atom;
    const double fall = 0.5 / (m->sigma_A[atom] * m->sigma_A[atom]);
    int64_t low[3], size[3];
    double at[3], reach[3];
    density_place(m, x, at);
    for (int axis = 0; axis < 3; axis++)
        reach[axis] = density_reach_nodes(m, m->sigma_A[atom], axis);
    find_box(p, at, reach, low, size);
    memset(sums, 0, 9 * sizeof *sums);
    memset(absolute, 0, 9 * sizeof *absolute);
    for (int64_t i = 0; i < size[0] * size[1] * size[2]; i++) {
        const int64_t index[3] = {low[0] + i % size[0], low[1] + i / size[0] % size[1],
                                  low[2] + i / (size[0] * size[1])};
        const double b = (double)p->map[node_at(m, index)];
        if (isnan(b))
            continue;
        const double a = rho[((index[2] - first[2]) * count[1] + index[1] - first[1]) * count[0] + index[0] - first[0]],
                     e = m->weight[atom] * exp(-fall * square_from_A2(m, index, x));
        for (int d = 0; d < 3; d++) {
            const double way = (double)index[d] - at[d], of[3] = {e * b * way, e * a * way, e * way};
            for (int k = 0; k < 3; k++) {
                sums[3 * k + d] += of[k];
                absolute[3 * k + d] += fabs(of[k]);
            }
        }
    }
}

/* ---- What a device has made ------------------------------------------------------------------ */

typedef struct checking {
    ley_fit *fit;
    const fit_part *part;
    const fit_batch *b;
    int frame; /* of the batch */
    const float *position_A;
    uint64_t state;
    double allowed, worst;
    int64_t nodes; /* that were looked at */
} checking;

static size_t next_random(checking *c, size_t below)
{
    c->state = c->state * 6364136223846793005U + 1442695040888963407U;
    return (size_t)((c->state >> 33) % below);
}

static ley_status judge(checking *c, const char *what, size_t number, double found, double right, double scale,
                        double doubt, ley_error *error)
{
    const double off = fmax(fabs(found - right) - doubt, 0);
    if (!(off <= c->allowed * scale))
        return ley_fail(error, LEY_ERROR_WRONG_RESULT, "frame %lld: %s %zu is %.9g, not %.9g",
                        frame_number(&c->fit->queue, c->b->first + c->frame), what, number, found, right);
    if (scale > 0)
        c->worst = fmax(c->worst, off / scale);
    return LEY_OK;
}

/* Values of the density, in a box of nodes. */
typedef struct box {
    int64_t first[3], count[3];
    double *rho, *doubt;
} box;

static ley_status make_box(checking *c, box *x, ley_error *error)
{
    const size_t nodes = (size_t)(x->count[0] * x->count[1] * x->count[2]);
    x->rho = malloc(nodes * sizeof *x->rho);
    x->doubt = malloc(nodes * sizeof *x->doubt);
    if (x->rho == NULL || x->doubt == NULL)
        return ley_fail_memory(error, 2 * nodes * sizeof *x->rho, "a frame's verification");
    density_law_box(&c->fit->problem.model, c->position_A, x->first, x->count, x->rho, x->doubt);
    c->nodes += (int64_t)nodes;
    return LEY_OK;
}

static void free_box(box *x)
{
    free(x->rho);
    free(x->doubt);
}

static const float *part_of(const checking *c, size_t brick)
{
    return (const float *)c->b->parts.staging->bytes +
           ((size_t)c->frame * c->part->bricks.brick_count + brick) * (size_t)LEY_FIT_SUMS(c->part->sets);
}

/* Sums over the nodes of a brick. Where the threshold decides by rounding, its sums are not
 * compared. */
static ley_status judge_sums(checking *c, const box *x, size_t brick, ley_error *error)
{
    const fit_problem *p = &c->fit->problem;
    const float *found = part_of(c, brick);
    double right[6] = {0}, absolute[6] = {0}, doubt[6] = {0}; /* a, a^2, a b; of the mask the same */
    const int64_t nodes = x->count[0] * x->count[1] * x->count[2];
    for (int64_t i = 0; i < nodes; i++) {
        const int64_t index[3] = {x->first[0] + i % x->count[0], x->first[1] + i / x->count[0] % x->count[1],
                                  x->first[2] + i / (x->count[0] * x->count[1])};
        const int64_t node = node_at(&p->model, index);
        const double a = x->rho[i], b = (double)p->map[node], off = x->doubt[i];
        if (isnan(b))
            continue;
        const double of[3] = {a, a * a, a * b}, or [3] = {off, (2 * fabs(a) + off) * off, off * fabs(b)};
        for (int set = 0; set < (p->mask != NULL && p->mask[node] > 0 ? 2 : 1); set++)
            for (int k = 0; k < 3; k++) {
                right[3 * set + k] += of[k];
                absolute[3 * set + k] += fabs(of[k]);
                doubt[3 * set + k] += or [k];
            }
    }
    ley_status status = LEY_OK;
    for (int k = 0; k < (p->mask != NULL ? 6 : 3) && status == LEY_OK; k++)
        status = judge(c, "a sum of brick", brick, (double)found[k], right[k], absolute[k] + 1e-6, doubt[k], error);
    return status;
}

static ley_status judge_nodes(checking *c, const box *x, ley_error *error)
{
    const fit_bricks *k = &c->part->bricks;
    const float *found = (const float *)c->b->density_back->bytes + (size_t)c->frame * k->node_count;
    const int64_t nodes = x->count[0] * x->count[1] * x->count[2];
    double most = 0;
    ley_status status = LEY_OK;
    for (int64_t i = 0; i < nodes; i++)
        most = fmax(most, fabs(x->rho[i]));
    for (int64_t i = 0; i < nodes && status == LEY_OK; i++) {
        const int64_t at_x = x->first[0] + i % x->count[0], at_y = x->first[1] + i / x->count[0] % x->count[1],
                      at_z = x->first[2] + i / (x->count[0] * x->count[1]);
        const size_t node = (size_t)((at_z * k->nodes[1] + at_y) * k->nodes[0] + at_x);
        status = judge(c, "the density at node", node, (double)found[node], x->rho[i], most, x->doubt[i], error);
    }
    return status;
}

/* The brick of an atom, or the nearest one. */
static ley_status judge_brick(checking *c, ley_error *error)
{
    const fit_problem *p = &c->fit->problem;
    const fit_bricks *k = &c->part->bricks;
    size_t brick = 0;
    double at[3];
    box x = {.rho = NULL};
    density_place(&p->model, c->position_A + 3 * next_random(c, p->model.count), at);
    for (int axis = 2; axis >= 0; axis--) {
        const int64_t n = p->model.grid.n[axis], size = k->nodes[axis] / k->bricks[axis],
                      own = (int64_t)fmin(fmax(at[axis], 0), (double)(n - 1)) / size;
        x.first[axis] = own * size;
        x.count[axis] = n - x.first[axis] < size ? n - x.first[axis] : size;
        brick = brick * (size_t)k->bricks[axis] + (size_t)own;
    }
    ley_status status = make_box(c, &x, error);
    if (status == LEY_OK && c->part->sets != 0)
        status = judge_sums(c, &x, brick, error);
    if (status == LEY_OK && c->b->density_back != NULL)
        status = judge_nodes(c, &x, error);
    free_box(&x);
    return status;
}

static ley_status judge_atom(checking *c, ley_error *error)
{
    const fit_problem *p = &c->fit->problem;
    const size_t n = p->model.count, atom = next_random(c, n);
    const float *found =
        (const float *)c->b->gradient.staging->bytes + ((size_t)c->frame * n + atom) * LEY_FIT_ATOM_SUMS;
    double at[3], reach[3], sums[9], absolute[9], most = 0, of_all = 0;
    box x = {.rho = NULL};
    density_place(&p->model, c->position_A + 3 * atom, at);
    for (int axis = 0; axis < 3; axis++)
        reach[axis] = density_reach_nodes(&p->model, p->model.sigma_A[atom], axis) + 1;
    find_box(p, at, reach, x.first, x.count);
    if (x.count[0] * x.count[1] * x.count[2] == 0)
        return LEY_OK;
    ley_status status = make_box(c, &x, error);
    if (status == LEY_OK)
        fit_law_atom(p, c->position_A, atom, x.rho, x.first, x.count, sums, absolute);
    for (int64_t i = 0; i < x.count[0] * x.count[1] * x.count[2] && status == LEY_OK; i++) {
        most = fmax(most, x.doubt[i]);
        of_all = fmax(of_all, fabs(x.rho[i]));
    }
    for (int k = 0; k < 9 && status == LEY_OK; k++) { /* ends of reaches make jumps of as much as an atom is there */
        const double end = fabs(p->model.weight[atom]) * exp(-0.5 * p->model.cut * p->model.cut) * (1 + of_all + most) *
                           40 * reach[k % 3],
                     doubt = end + (k / 3 == 1 ? most * absolute[6 + k % 3] : 0);
        status = judge(c, "a sum of the gradient of atom", atom + 1, (double)found[k], sums[k], absolute[k] + 1e-6,
                       doubt, error);
    }
    free_box(&x);
    return status;
}

/* The box of all that a window reaches. */
static void find_window(const checking *c, int32_t window, int64_t first[3], int64_t count[3])
{
    const fit_problem *p = &c->fit->problem;
    double reach[3];
    int64_t last[3] = {-1, -1, -1};
    memcpy(first, p->model.grid.n, 3 * sizeof *first);
    reach_of(&p->model, fit_window_A(p) * 1.001, reach);
    for (int32_t k = p->window_first[window]; k < p->window_first[window + 1]; k++) {
        int64_t low[3], size[3];
        double at[3];
        density_place(&p->model, c->position_A + 3 * (size_t)p->window_atom[k], at);
        find_box(p, at, reach, low, size);
        for (int d = 0; d < 3 && size[0] * size[1] * size[2] > 0; d++) {
            first[d] = low[d] < first[d] ? low[d] : first[d];
            last[d] = low[d] + size[d] - 1 > last[d] ? low[d] + size[d] - 1 : last[d];
        }
    }
    for (int d = 0; d < 3; d++)
        count[d] = last[d] >= first[d] ? last[d] - first[d] + 1 : 0;
}

/* Unless a node is just at the end of the window, where rounding decides. */
static ley_status compare_window(checking *c, int32_t window, const box *x, unsigned char *mark, ley_error *error)
{
    static const double sides[2] = {1 - 1e-5, 1 + 1e-5};
    const fit_problem *p = &c->fit->problem;
    const size_t nodes = (size_t)(x->count[0] * x->count[1] * x->count[2]);
    const float *found = (const float *)c->b->windows.staging->bytes +
                         ((size_t)c->frame * (size_t)p->windows + (size_t)window) * LEY_FIT_WINDOW_SUMS;
    density_sums s[2];
    double most_rho = 0, most_doubt = 0;
    for (int side = 0; side < 2; side++) {
        memset(mark, 0, nodes);
        s[side] =
            fit_law_window(p, c->position_A, x->rho, x->first, x->count, window, fit_window_A(p) * sides[side], mark);
    }
    if (s[0].n != s[1].n)
        return LEY_OK;
    for (size_t i = 0; i < nodes; i++) {
        most_rho = fmax(most_rho, fabs(x->rho[i]));
        most_doubt = fmax(most_doubt, x->doubt[i]);
    }
    const double right[LEY_FIT_WINDOW_SUMS] = {s[0].n, s[0].a, s[0].b, s[0].ab, s[0].aa, s[0].bb},
                 size_a = s[0].n * most_rho, size_b = sqrt(s[0].n * s[0].bb),
                 scale[LEY_FIT_WINDOW_SUMS] = {0, size_a, size_b, most_rho * size_b, size_a * most_rho, s[0].bb},
                 doubt[LEY_FIT_WINDOW_SUMS] = {0, s[0].n * most_doubt, 0, most_doubt * size_b, 2 * size_a * most_doubt,
                                               0};
    ley_status status = LEY_OK;
    for (int k = 0; k < LEY_FIT_WINDOW_SUMS && status == LEY_OK; k++)
        status = judge(c, "a sum of window", (size_t)window + 1, (double)found[k], right[k], scale[k], doubt[k], error);
    return status;
}

static ley_status judge_window(checking *c, ley_error *error)
{
    const int32_t window = (int32_t)next_random(c, (size_t)c->fit->problem.windows);
    box x = {.rho = NULL};
    find_window(c, window, x.first, x.count);
    const int64_t nodes = x.count[0] * x.count[1] * x.count[2];
    if (nodes == 0 || nodes > WINDOW_NODES)
        return LEY_OK;
    unsigned char *mark = malloc((size_t)nodes);
    ley_status status = mark != NULL ? make_box(c, &x, error) : ley_fail_memory(error, (size_t)nodes, "a window");
    if (status == LEY_OK)
        status = compare_window(c, window, &x, mark, error);
    free(mark);
    free_box(&x);
    return status;
}

ley_status fit_verify(ley_fit *fit, const fit_part *part, const fit_batch *b, int frame, ley_error *error)
{
    const fit_problem *p = &fit->problem;
    const int64_t *n = p->model.grid.n;
    const double longest = (double)(n[0] > n[1] ? (n[0] > n[2] ? n[0] : n[2]) : (n[1] > n[2] ? n[1] : n[2]));
    checking c = {.fit = fit,
                  .part = part,
                  .b = b,
                  .frame = frame,
                  .position_A = fit_positions(fit, b->first + frame),
                  .state = 6364136223846793005U * (uint64_t)(fit->queue.before + b->first + frame + 1),
                  .allowed = 5e-5 + 1e-6 * longest}; /* places are floats */
    ley_status status = LEY_OK;
    for (int k = 0; k < BRICKS && status == LEY_OK; k++)
        status = judge_brick(&c, error);
    for (int k = 0; k < CHECKED_ATOMS && p->has_gradient && status == LEY_OK; k++)
        status = judge_atom(&c, error);
    for (int k = 0; k < CHECKED_WINDOWS && p->windows > 0 && status == LEY_OK; k++)
        status = judge_window(&c, error);
    if (status != LEY_OK)
        return status;
    pthread_mutex_lock(&fit->queue.mutex);
    fit->totals.checked_frames++;
    fit->totals.checked_nodes += c.nodes;
    fit->totals.error = fmax(fit->totals.error, c.worst);
    pthread_mutex_unlock(&fit->queue.mutex);
    return LEY_OK;
}
