#include "numerics/expected_error.h"

#include <math.h>
#include <stdint.h>

enum { PAIRS = 160, MOST_STEPS = 2 * WINDOW_MOST_POINTS - 1 };

/* Coarser levels are off as well, each by half as much at the same place: sqrt(1 + 1/4 + ...). */
static const double all_levels = 1.1547;

/* splitmix64, within [0, 1). */
static double draw(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* Along one axis: the shares of the pairs of nodes that are `first` + k apart. */
typedef struct steps {
    double share[MOST_STEPS];
    double first;
} steps;

static steps steps_of(const window *w, double charge, double point, bool is_slope)
{
    const double below = floor(charge), above = floor(point);
    double of_charge[WINDOW_MOST_POINTS], of_point[WINDOW_MOST_POINTS];
    steps s = {.first = above - below - (w->points - 1)};
    window_weights(w, charge - below, of_charge);
    if (is_slope)
        window_slopes(w, point - above, of_point);
    else
        window_weights(w, point - above, of_point);
    for (int i = 0; i < w->points; i++)
        for (int k = 0; k < w->points; k++)
            s.share[k - i + w->points - 1] += of_charge[i] * of_point[k];
    return s;
}

/* The smooth part between two places, given in nodes, through the mesh, in 1/A; or its
 * derivative along axis `slope` of the mesh, per node. */
static double through_mesh(const hierarchy *h, const double charge[3], const double point[3], int slope)
{
    const int count = 2 * h->window->points - 1;
    const hierarchy_level *level = &h->level[0];
    double sum = 0;
    steps s[3];
    for (int axis = 0; axis < 3; axis++)
        s[axis] = steps_of(h->window, charge[axis], point[axis], axis == slope);
    for (int z = 0; z < count; z++)
        for (int y = 0; y < count; y++) {
            double row = 0;
            for (int x = 0; x < count; x++) {
                const double at[3] = {s[0].first + x, s[1].first + y, s[2].first + z};
                double d_A[3];
                hierarchy_displacement(h, 0, at, d_A);
                row += s[0].share[x] * splitting_gamma(&level->split, cell_length(d_A) / level->cutoff_A);
            }
            sum += s[2].share[z] * s[1].share[y] * row;
        }
    return sum / level->cutoff_A;
}

/* A direction, any as likely as any other. */
static void draw_direction(uint64_t *random, double direction[3])
{
    double length;
    do {
        for (int axis = 0; axis < 3; axis++)
            direction[axis] = 2 * draw(random) - 1;
        length = cell_length(direction);
    } while (length > 1 || length < 0.1);
    for (int axis = 0; axis < 3; axis++)
        direction[axis] /= length;
}

/* Less the derivative of the smooth part, in 1/A^2. */
static double smooth_slope(const hierarchy_level *level, double r_A)
{
    const double step = 1e-5, rho = r_A / level->cutoff_A;
    return (splitting_gamma(&level->split, fmax(rho - step, 0)) - splitting_gamma(&level->split, rho + step)) /
           (rho - fmax(rho - step, 0) + step) / (level->cutoff_A * level->cutoff_A);
}

/* The mean square, times r^2, of a component of the gradient's error. */
static double square_of_gradient(const hierarchy *h, const double charge[3], const double point[3],
                                 const double direction[3], double r_A)
{
    double along[3], sum = 0;
    for (int m = 0; m < 3; m++)
        along[m] = through_mesh(h, charge, point, m);
    for (int axis = 0; axis < 3; axis++) {
        double error = smooth_slope(&h->level[0], r_A) * direction[axis];
        for (int m = 0; m < 3; m++)
            error += h->inverse_per_A[m][axis] * along[m];
        sum += error * error * r_A * r_A / 3;
    }
    return sum;
}

static double nodal_error(const hierarchy *h, bool of_field)
{
    enum { NO_SLOPE = -1 };
    const hierarchy_level *level = &h->level[0];
    uint64_t random = 1;
    double sum = 0;
    for (int i = 0; i < PAIRS; i++) {
        const double r_A = 2 * level->cutoff_A * (i + draw(&random)) / PAIRS;
        double charge[3], point[3], direction[3];
        draw_direction(&random, direction);
        for (int axis = 0; axis < 3; axis++) {
            charge[axis] = draw(&random);
            point[axis] = charge[axis] + r_A * cell_dot(h->inverse_per_A[axis], direction);
        }
        const double right = splitting_gamma(&level->split, r_A / level->cutoff_A) / level->cutoff_A;
        const double error = of_field ? 0 : (through_mesh(h, charge, point, NO_SLOPE) - right) * r_A;
        sum += of_field ? square_of_gradient(h, charge, point, direction, r_A) : error * error;
    }
    return (h->levels > 1 ? all_levels : 1) * sqrt(sum / PAIRS);
}

/* ---- By waves -------------------------------------------------------------------------------- */

/* What a wave is off by, in the mean over all places of charge and point, follows from its aliases
 * (Hockney, Eastwood 1988): its own amplitude is not quite right, and each alias turns up in each
 * other one's place. */
enum { WAVES = 12, LENGTHS = 600 };

typedef struct kernel_table {
    double step; /* of k a */
    double sigma[LENGTHS + 2];
} kernel_table;

static double kernel_at(const kernel_table *t, double k_per_A, double cutoff_A)
{
    const double at = k_per_A * cutoff_A / t->step;
    const int below = (int)fmin(at, LENGTHS + 1);
    if (below > LENGTHS)
        return 0; /* a wave of an oblique mesh that next to nothing is left of */
    const double sigma = t->sigma[below] + (at - below) * (t->sigma[below + 1] - t->sigma[below]);
    return 4 * M_PI * sigma / (k_per_A * k_per_A);
}

/* The squared length of the wave of these radians per node. */
static double wave_square_per_A2(const hierarchy *h, const double theta[3])
{
    double k_per_A[3] = {0, 0, 0};
    for (int m = 0; m < 3; m++)
        for (int axis = 0; axis < 3; axis++)
            k_per_A[axis] += theta[m] * h->inverse_per_A[m][axis];
    return cell_dot(k_per_A, k_per_A);
}

/* Of the radians per node that waves have along an axis, by their sign: the window's transform
 * there and at the two nearest aliases, and window_aliases(). */
typedef struct axis_wave {
    double theta[3], window[3], all; /* theta[0]: the wave itself */
} axis_wave;

typedef axis_wave axis_waves[2][WAVES];

static void make_axis_waves(const window *w, axis_waves made)
{
    for (int i = 0; i < 2 * WAVES; i++) {
        axis_wave *a = &made[i / WAVES][i % WAVES];
        const double theta = M_PI * (i % WAVES + 0.5) / WAVES * (i < WAVES ? 1 : -1);
        a->all = window_aliases(w, theta);
        for (int k = 0; k < 3; k++) {
            a->theta[k] = theta + 2 * M_PI * ((k + 1) % 3 - 1);
            a->window[k] = window_transform(w, a->theta[k]);
        }
    }
}

/* The squared error of a wave, by what it is along each axis; or of a component of its gradient, in
 * the mean over the axes: an alias counts by its own length. */
static double wave_error(const hierarchy *h, const kernel_table *t, const axis_wave *const along[3], bool of_field)
{
    enum { ALIASES = 27 };
    double kernel[ALIASES], window2[ALIASES], counts[ALIASES], of_all = 0;
    const double all = along[0]->all * along[1]->all * along[2]->all;
    for (int i = 0; i < ALIASES; i++) {
        const int alias[3] = {i % 3, i / 3 % 3, i / 9}; /* 0: the wave itself */
        double own[3];
        window2[i] = 1;
        for (int axis = 0; axis < 3; axis++) {
            const double w = along[axis]->window[alias[axis]];
            own[axis] = along[axis]->theta[alias[axis]];
            window2[i] *= w * w;
        }
        const double k2_per_A2 = wave_square_per_A2(h, own);
        counts[i] = of_field ? k2_per_A2 / 3 : 1;
        kernel[i] = kernel_at(t, sqrt(k2_per_A2), h->level[0].cutoff_A);
        of_all += kernel[i];
    }
    const double influence = of_all * window2[0] / (all * all);
    double sum = 0, others = of_field ? 0 : all * all;
    for (int i = 0; i < ALIASES; i++) {
        const double error = kernel[i] - influence * window2[i];
        sum += error * error * counts[i];
        others += of_field ? window2[i] * (all - window2[i]) * counts[i] : -window2[i] * window2[i];
    }
    return sum + influence * influence * fmax(others, 0);
}

static double step_volume_A3(const hierarchy *h)
{
    const double(*s)[3] = h->step_A;
    const double normal[3] = {s[1][1] * s[2][2] - s[1][2] * s[2][1], s[1][2] * s[2][0] - s[1][0] * s[2][2],
                              s[1][0] * s[2][1] - s[1][1] * s[2][0]};
    return fabs(cell_dot(s[0], normal));
}

/* Where axes are normal to each other, waves of one octant stand for all; else those of four. */
static double spline_error(const hierarchy *h, bool of_field)
{
    const double a_A = h->level[0].cutoff_A;
    const int octants = hierarchy_is_rectangular(h) ? 1 : 4;
    kernel_table t = {.step = 0};
    axis_waves of_axis;
    double sum = 0;
    make_axis_waves(h->window, of_axis);
    for (int axis = 0; axis < 3; axis++)
        t.step += pow(3 * M_PI * a_A / cell_length(h->step_A[axis]) / LENGTHS, 2);
    t.step = sqrt(t.step);
    for (int i = 0; i < LENGTHS + 2; i++)
        t.sigma[i] = splitting_sigma(&h->level[0].split, i * t.step);
    for (int i = 0; i < octants * WAVES * WAVES * WAVES; i++) {
        const int octant = i / (WAVES * WAVES * WAVES);
        const axis_wave *const along[3] = {&of_axis[octant & 1][i % WAVES], &of_axis[octant >> 1][i / WAVES % WAVES],
                                           &of_axis[0][i / WAVES / WAVES % WAVES]};
        sum += wave_error(h, &t, along, of_field);
    }
    return sqrt(sum / octants / (step_volume_A3(h) * WAVES * WAVES * WAVES) / (8 * M_PI * a_A));
}

double expected_error(const hierarchy *h)
{
    return h->window->is_nodal ? nodal_error(h, false) : spline_error(h, false);
}

double expected_field_error(const hierarchy *h)
{
    return h->window->is_nodal ? nodal_error(h, true) : spline_error(h, true);
}
