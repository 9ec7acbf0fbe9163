#include "fit/problem.h"

#include "core/options.h"
#include "error.h"
#include "memory.h"
#include "spec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Options --------------------------------------------------------------------------------- */

/* clang-format off */
static const char *const conventions[] = {"molmap", "voltool", NULL};
static const char *const weights[] = {"number", "mass", "charge", "occupancy", NULL};

static const ley_parameter rows[] = {
    {.name = "resolution", .type = LEY_PARAMETER_REAL, .unit = "A", .default_value = {5}, .low = 0.1, .high = 1000,
     .sentence = "resolution of the density of the atoms, which makes their width",
     PARAMETER_FIELD(ley_density_options, resolution_A)},
    {.name = "convention", .type = LEY_PARAMETER_CHOICE, .value = "NAME", .choices = conventions,
     .sentence = "molmap: ChimeraX's and EMAN's Gaussians; voltool: VMD's, whose widths are of the atoms' radii",
     PARAMETER_FIELD(ley_density_options, convention)},
    {.name = "weights", .type = LEY_PARAMETER_CHOICE, .value = "NAME", .choices = weights,
     .sentence = "what each atom counts: its atomic number, its mass, its charge, or its occupancy",
     .details = "elements are those that the atoms' names tell; a PQR file has no occupancies, so that they are 1",
     PARAMETER_FIELD(ley_density_options, weights)},
    {.name = "window_radius", .type = LEY_PARAMETER_REAL, .level = LEY_EXPERT, .unit = "A", .low = 0, .high = 100,
     .unset = "half of the resolution",
     .sentence = "nodes of a local correlation are so near to one of the atoms of its residue or segment",
     PARAMETER_FIELD(ley_density_options, window_A)},
    {.name = "verify_every", .type = LEY_PARAMETER_INTEGER, .level = LEY_EXPERT, .value = "N", .default_value = {256},
     .low = 0, .high = 9e15,
     .sentence = "verify one of so many frames in double precision, the first one always; 0: none",
     PARAMETER_FIELD(ley_density_options, verify_every)},
};
/* clang-format on */

const ley_parameter_table density_parameters = PARAMETER_TABLE(ley_density_options, rows);

void ley_density_options_default(ley_density_options *options)
{
    parameters_default(&density_parameters, options);
}

ley_status ley_density_grid(const ley_atoms *atoms, const ley_density_options *options, ley_grid *grid,
                            ley_error *error)
{
    const double d = options->resolution_A, spacing_A = d * (options->convention == LEY_DENSITY_MOLMAP ? 1.0 / 3 : 0.3);
    double low_A[3], high_A[3], origin_A[3], spacings_A[3];
    int64_t n[3];
    ley_atoms_bounds_A(atoms, low_A, high_A);
    for (int axis = 0; axis < 3; axis++) {
        origin_A[axis] = low_A[axis] - 3 * d;
        spacings_A[axis] = spacing_A;
        n[axis] = (int64_t)ceil((high_A[axis] + 3 * d - origin_A[axis]) / spacing_A) + 1;
    }
    *grid = ley_grid_orthogonal(origin_A, spacings_A, n);
    return ley_grid_check(grid, error);
}

double fit_window_A(const fit_problem *p)
{
    return p->options.window_A > 0 ? p->options.window_A : p->options.resolution_A / 2;
}

int fit_sets(const fit_problem *p)
{
    return p->map == NULL
               ? 0
               : LEY_FIT_ALL | (p->mask != NULL ? LEY_FIT_MASKED : 0) | (p->has_threshold ? LEY_FIT_ABOVE : 0);
}

/* ---- The map --------------------------------------------------------------------------------- */

static ley_status check_map(const ley_map *map, const char *what, ley_error *error)
{
    return ley_map_read_values(map) != NULL
               ? LEY_OK
               : ley_fail(error, LEY_ERROR_USAGE, "the values of the %s are not in memory", what);
}

static bool is_same_grid(const ley_grid *a, const ley_grid *b)
{
    bool is_same = true;
    double spacing_A[3];
    ley_grid_spacing_A(a, spacing_A);
    for (int m = 0; m < 3; m++) {
        is_same = is_same && a->n[m] == b->n[m] && fabs(a->origin_A[m] - b->origin_A[m]) <= 1e-3 * spacing_A[m];
        for (int d = 0; d < 3; d++)
            is_same = is_same && fabs(a->step_A[m][d] - b->step_A[m][d]) * (double)a->n[m] <= 1e-3 * spacing_A[m];
    }
    return is_same;
}

static ley_status standardise(fit_problem *p, const float *value, ley_error *error)
{
    double sum = 0, squares = 0, count = 0;
    for (int64_t i = 0; i < p->nodes; i++)
        if (isfinite(value[i])) {
            sum += (double)value[i];
            count += 1;
        }
    if (count < 2)
        return ley_fail(error, LEY_ERROR_INPUT,
                        "fewer than two of the map's values are numbers: no correlation is defined");
    p->mean = sum / count;
    for (int64_t i = 0; i < p->nodes; i++)
        squares += isfinite(value[i]) ? pow((double)value[i] - p->mean, 2) : 0;
    p->deviation = sqrt(squares / count);
    if (!(p->deviation > 1e-6 * fabs(p->mean)))
        return ley_fail(error, LEY_ERROR_INPUT,
                        "the map is %g at every node that counts, so that its correlation with anything is undefined",
                        p->mean);
    for (int64_t i = 0; i < p->nodes; i++)
        p->map[i] = isfinite(value[i]) ? (float)(((double)value[i] - p->mean) / p->deviation) : NAN;
    return LEY_OK;
}

static void sum_map(fit_problem *p)
{
    for (int64_t i = 0; i < p->nodes; i++) {
        if (isnan(p->map[i]))
            continue;
        density_sums_add(&p->all, 0, (double)p->map[i]);
        if (p->mask != NULL && p->mask[i] > 0)
            density_sums_add(&p->masked, 0, (double)p->map[i]);
    }
}

static ley_status take_mask(fit_problem *p, const ley_map *mask, ley_error *error)
{
    ley_status status = check_map(mask, "mask", error);
    if (status == LEY_OK && !is_same_grid(&p->model.grid, ley_map_grid(mask)))
        status = ley_fail(error, LEY_ERROR_USAGE, "the mask has another grid than the map");
    if (status != LEY_OK)
        return status;
    p->mask = malloc((size_t)p->nodes * sizeof *p->mask);
    if (p->mask == NULL)
        return ley_fail_memory(error, (size_t)p->nodes * sizeof *p->mask, "the mask");
    const float *value = ley_map_read_values(mask);
    for (int64_t i = 0; i < p->nodes; i++)
        p->mask[i] = value[i] > 0 && !isnan(p->map[i]) ? 1 : 0;
    return LEY_OK;
}

static ley_status take_map(fit_problem *p, const ley_fit_target *t, ley_error *error)
{
    ley_status status = check_map(t->map, "map", error);
    if (status != LEY_OK)
        return status;
    status = memory_check_one("the map", 4 * (double)p->nodes, "a smaller map", error);
    if (status != LEY_OK)
        return status;
    p->map = malloc((size_t)p->nodes * sizeof *p->map);
    if (p->map == NULL)
        return ley_fail_memory(error, (size_t)p->nodes * sizeof *p->map, "the map");
    status = standardise(p, ley_map_read_values(t->map), error);
    if (status == LEY_OK && t->mask != NULL)
        status = take_mask(p, t->mask, error);
    if (status == LEY_OK)
        sum_map(p);
    return status;
}

/* ---- Windows --------------------------------------------------------------------------------- */

static ley_status take_windows(fit_problem *p, const ley_fit_target *t, ley_error *error)
{
    const size_t n = p->model.count;
    if (t->windows <= 0)
        return LEY_OK;
    if (t->window == NULL || p->map == NULL)
        return ley_fail(error, LEY_ERROR_USAGE, "windows need the window of each atom, and a map");
    p->windows = t->windows;
    p->window_first = calloc(2 * (size_t)t->windows + 3, sizeof *p->window_first);
    p->window_atom = malloc(n * sizeof *p->window_atom);
    if (p->window_first == NULL || p->window_atom == NULL)
        return ley_fail_memory(error, n * sizeof *p->window_atom, "windows");
    for (size_t i = 0; i < n; i++) {
        if (t->window[i] < -1 || t->window[i] >= t->windows)
            return ley_fail(error, LEY_ERROR_USAGE, "atom %zu is of window %d, and there are %d", i + 1, t->window[i],
                            t->windows);
        if (t->window[i] >= 0)
            p->window_first[t->window[i] + 2]++;
    }
    for (int32_t k = 2; k <= t->windows + 1; k++)
        p->window_first[k] += p->window_first[k - 1];
    for (size_t i = 0; i < n; i++)
        if (t->window[i] >= 0)
            p->window_atom[p->window_first[t->window[i] + 1]++] = (int32_t)i;
    p->window_atoms = (size_t)p->window_first[t->windows];
    int32_t *box = p->window_first + t->windows + 1;
    box[0] = 0;
    for (int32_t k = 0; k < t->windows; k++)
        box[k + 1] = box[k] + (p->window_first[k + 1] - p->window_first[k] + LEY_FIT_CHUNK - 1) / LEY_FIT_CHUNK;
    p->window_boxes = (size_t)box[t->windows];
    return LEY_OK;
}

/* ---- Making ---------------------------------------------------------------------------------- */

static void take_grid(fit_problem *p)
{
    const density_model *m = &p->model;
    const double(*s)[3] = m->grid.step_A;
    static const int pairs[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    double widest_A = 0;
    p->nodes = ley_grid_points(&m->grid);
    for (int k = 0; k < 6; k++) {
        const double *u = s[pairs[k][0]], *v = s[pairs[k][1]];
        p->metric[k] = (k < 3 ? 1 : 2) * (u[0] * v[0] + u[1] * v[1] + u[2] * v[2]);
        p->is_oblique = p->is_oblique || (k >= 3 && fabs(p->metric[k]) > 1e-9 * p->metric[0]);
    }
    for (size_t i = 0; i < m->count; i++) {
        p->is_varied = p->is_varied || m->sigma_A[i] != m->sigma_A[0];
        widest_A = fmax(widest_A, m->sigma_A[i]);
    }
    for (int axis = 0; axis < 3; axis++)
        p->reach_nodes[axis] = density_reach_nodes(m, widest_A, axis);
}

ley_status fit_problem_make(fit_problem *p, const ley_fit_target *t, size_t n, const double *weight,
                            const double *radius_A, const ley_density_options *options, ley_error *error)
{
    *p = (fit_problem){.has_threshold = t->has_threshold, .has_gradient = t->has_gradient};
    ley_status status = OPTIONS_TAKE(ley_density_options, verify_every, &p->options, options, error);
    if (status == LEY_OK)
        status = parameters_check(&density_parameters, &p->options, error);
    if (status == LEY_OK && (t->map == NULL) == (t->grid == NULL))
        status = ley_fail(error, LEY_ERROR_USAGE, "ley_fit_target: either a map or a grid is needed");
    if (status == LEY_OK && t->map == NULL && (t->mask != NULL || t->has_threshold || t->has_gradient))
        status = ley_fail(error, LEY_ERROR_USAGE, "masks, thresholds and gradients are of scores, and there is no map");
    if (status == LEY_OK && (n == 0 || n > INT32_MAX / 16))
        status = ley_fail(error, LEY_ERROR_INPUT, "%zu atoms, must be 1 to %d", n, INT32_MAX / 16);
    if (status == LEY_OK)
        status = density_model_make(&p->model, t->map != NULL ? ley_map_grid(t->map) : t->grid, n, weight, radius_A,
                                    &p->options, error);
    if (status != LEY_OK)
        return status;
    take_grid(p);
    status = t->map != NULL ? take_map(p, t, error) : LEY_OK;
    return status == LEY_OK ? take_windows(p, t, error) : status;
}

void fit_problem_end(fit_problem *p)
{
    density_model_end(&p->model);
    free(p->map);
    free(p->mask);
    free(p->window_first);
    free(p->window_atom);
    *p = (fit_problem){.map = NULL};
}

/* ---- A frame's results ----------------------------------------------------------------------- */

void fit_add_node(const fit_problem *p, int64_t node, double density, double threshold, fit_sums *s)
{
    const double b = (double)p->map[node];
    if (isnan(b))
        return;
    density_sums_add(&s->all, density, b);
    if (p->mask != NULL && p->mask[node] > 0)
        density_sums_add(&s->masked, density, b);
    if (p->has_threshold && density >= threshold)
        density_sums_add(&s->above, density, b);
}

void fit_score(const fit_problem *p, const fit_sums *s, double score[LEY_FIT_SCORES])
{
    const density_sums *a = &s->all;
    const double of_map = p->deviation * p->deviation * a->bb + p->mean * (2 * p->deviation * a->b + p->mean * a->n),
                 both = p->deviation * a->ab + p->mean * a->a;
    score[LEY_FIT_PEARSON] = density_correlation(a);
    score[LEY_FIT_OVERLAP] = a->aa > 0 ? both / sqrt(a->aa * of_map) : NAN;
    score[LEY_FIT_MASK] = p->mask != NULL ? density_correlation(&s->masked) : NAN;
    score[LEY_FIT_THRESHOLDED] = p->has_threshold ? density_correlation(&s->above) : NAN;
    score[LEY_FIT_MEAN] = a->a / a->n;
    score[LEY_FIT_DEVIATION] = sqrt(fmax(a->aa / a->n - pow(a->a / a->n, 2), 0));
}

fit_slopes fit_slopes_of(const density_sums *s)
{
    const double pearson = density_correlation(s), va = s->aa - s->a * s->a / s->n, vb = s->bb - s->b * s->b / s->n;
    const fit_slopes none = {.by_a = 0}, some = {s->a / s->n, s->b / s->n, pearson / va, 1 / sqrt(va * vb)};
    return isnan(pearson) ? none : some;
}

void fit_atom_gradient(const fit_problem *p, const fit_slopes *s, size_t atom, const double sums[9], float gradient[3])
{
    const double(*step_A)[3] = p->model.grid.step_A, sigma2_A2 = p->model.sigma_A[atom] * p->model.sigma_A[atom];
    double along[3]; /* (b - mean) / sqrt(va vb) - pearson (a - mean) / va, times e d */
    for (int k = 0; k < 3; k++)
        along[k] = ((sums[k] - s->mean_b * sums[6 + k]) * s->by_b - (sums[3 + k] - s->mean_a * sums[6 + k]) * s->by_a) /
                   sigma2_A2;
    for (int d = 0; d < 3; d++)
        gradient[d] = (float)(step_A[0][d] * along[0] + step_A[1][d] * along[1] + step_A[2][d] * along[2]);
}
