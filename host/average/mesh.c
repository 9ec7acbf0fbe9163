#include "average/mesh.h"

#include "average/place.h"
#include "error.h"
#include "fft.h"
#include "numerics/cell.h"
#include "numerics/quadrature.h"

#include <math.h>

/* Matter has next to no charge at long waves: structure factors grow from 0 as k^2 / (k^2 +
 * screened^2), while aliases come from short waves, where they are those of independent charges.
 * This fits boxes of water within a factor of 2. */
static const double screened_per_A = 8;

/* No wave matters beyond exp(-k^2 sigma^2) of this number of k sigma, squared. */
static const double most_k_sigma = 6;

typedef struct error_model {
    int order;
    double sigma_A, h_A, k_per_A, low_k; /* the last: 0, or that of the longest wave, beside which there are few */
} error_model;

/* By multiplications: pow() takes most of the time otherwise. */
static double whole_power(double x, int power)
{
    double made = power % 2 != 0 ? x : 1;
    for (power /= 2; power > 0; power /= 2) {
        x *= x;
        made *= power % 2 != 0 ? x : 1;
    }
    return made;
}

/* Of waves at an angle of this cosine to an axis. */
static double aliases_at(const void *context, double cosine)
{
    const error_model *m = context;
    const double x = fmin(fabs(m->k_per_A * cosine * m->h_A / (2 * M_PI)), 0.5);
    return whole_power(x / (1 - x), 2 * m->order) + whole_power(x / (1 + x), 2 * m->order);
}

double average_mesh_matter(double k2)
{
    return k2 / (k2 + screened_per_A * screened_per_A);
}

/* The Gaussian's square, as a share of that of the longest wave. */
static double gaussian(const error_model *m, double k)
{
    return exp((m->low_k * m->low_k - k * k) * m->sigma_A * m->sigma_A);
}

static double signal_at(const void *context, double k)
{
    return gaussian(context, k) / (k * k + screened_per_A * screened_per_A);
}

static double error_at(const void *context, double k)
{
    error_model m = *(const error_model *)context;
    m.k_per_A = k;
    const double aliases = m.low_k > 0 ? aliases_at(&m, 1) : 3 * quadrature(aliases_at, &m, 0, 1, 1);
    return gaussian(&m, k) / fmax(k * k, 1e-12) *
           (k * m.h_A < M_PI ? aliases : average_mesh_matter(k * k) * gaussian(&m, k));
}

double average_mesh_error(const mesh_wish *wish, int order, double h_A)
{
    const double sigma_A = wish->sigma_A, low = wish->least_k * sigma_A > 1 ? wish->least_k : 0;
    const error_model m = {.order = order, .sigma_A = sigma_A, .h_A = h_A, .low_k = low};
    const double end = place_most_wave(low, most_k_sigma / sigma_A), edge = fmin(fmax(M_PI / h_A, low), end);
    const double signal = quadrature(signal_at, &m, low, end, 8);
    return sqrt((quadrature(error_at, &m, low, edge, 8) + quadrature(error_at, &m, edge, end, 8)) / signal) /
           wish->signal;
}

/* The widest spacing whose error is small enough. */
static double widest_A(int order, const mesh_wish *wish)
{
    double low = 1e-3 * wish->sigma_A, high = 2 * wish->sigma_A;
    for (int i = 0; i < 40; i++) {
        const double h_A = sqrt(low * high);
        *(average_mesh_error(wish, order, h_A) <= wish->error ? &low : &high) = h_A;
    }
    return low;
}

/* Relative costs, as processors were found to have them: of a node that an atom adds to; of a row
 * of them, by the level of memory that the mesh's floats are in; of a node that is transformed. */
static const double node_cost = 1, transform_cost = 30;

static double row_cost(double bytes)
{
    return bytes < 3e6 ? 3 : bytes < 12e6 ? 12 : bytes < 48e6 ? 38 : 100;
}

/* The same of cards, in atomic additions of 64 bits to a mesh in the cache, of which an H100 makes
 * 1.75e11 a second: of one in memory; of a node that comes to the host, which adds it, and in the
 * end transforms it in doubles, as a share of a thousand frames; of a node that the card
 * transforms. */
static const double cached_bytes = 40e6, memory_cost = 4, host_cost = 60, card_transform_cost = 10;

static double cost_by_cards(const average_mesh *m, const mesh_wish *wish)
{
    const double points = m->window->points, nodes = (double)average_mesh_nodes(m);
    return wish->atoms * points * points * points * (8 * nodes <= cached_bytes ? 1 : memory_cost) +
           (host_cost + (wish->transforms ? card_transform_cost : 0)) * nodes;
}

static double cost_of(const average_mesh *m, const mesh_wish *wish)
{
    const double points = m->window->points, nodes = (double)average_mesh_nodes(m);
    if (wish->by_cards)
        return cost_by_cards(m, wish);
    return wish->atoms * points * points * (points * node_cost + row_cost(4 * nodes)) +
           (wish->transforms ? transform_cost : 0) * nodes;
}

ley_status average_mesh_choose(const mesh_wish *wish, average_mesh *made, ley_error *error)
{
    static const window_kind kinds[] = {WINDOW_BSPLINE4, WINDOW_BSPLINE6, WINDOW_BSPLINE8};
    double least = INFINITY;
    for (int i = 0; i < 3; i++) {
        average_mesh m = {.window = window_get(kinds[i])};
        double product = 1, worst_A = 0;
        const double h_A = widest_A(m.window->points, wish);
        for (int axis = 0; axis < 3; axis++) {
            const double edge_A = cell_length(wish->cell_A[axis]), nodes = fmax(edge_A / h_A, 2 * m.window->points);
            if (nodes > 1e6)
                product = INFINITY;
            m.n[axis] = nodes > 1e6 ? 1 : (int64_t)fft_good_size((size_t)ceil(nodes));
            product *= (double)m.n[axis];
            worst_A = fmax(worst_A, edge_A / (double)m.n[axis]);
        }
        m.expected_error = average_mesh_error(wish, m.window->points, worst_A);
        if (product < 0x1p31 && cost_of(&m, wish) < least) {
            least = cost_of(&m, wish);
            *made = m;
        }
    }
    if (least == INFINITY)
        return ley_fail(error, LEY_ERROR_USAGE,
                        "a Gaussian of %g A in a cell of this size needs a mesh of more than 2^31 nodes: take a larger "
                        "smooth_A, or a larger tolerance",
                        wish->sigma_A);
    return LEY_OK;
}
