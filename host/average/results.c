#include "average/results.h"

#include "average/host_spread.h"
#include "average/potential.h"
#include "average/share.h"
#include "average/structure.h"
#include "average/sums.h"
#include "error.h"
#include "target/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void results_cell(const ley_average *a, double cell_A[9])
{
    for (int i = 0; i < 9; i++)
        cell_A[i] = a->problem.options.pmepot || !a->cells_change
                        ? a->problem.first_cell_A[i]
                        : (a->cell_sum_A[i] + a->cell_rest_A[i]) / (double)a->added;
}

ley_status results_charges(ley_average *a, double *charge_e, ley_error *error)
{
    int64_t frames = 0;
    const ley_status status = sums_values(a, SUMS_CHARGE, charge_e, &frames, error);
    for (size_t i = 0; i < sums_nodes(&a->problem) && status == LEY_OK; i++)
        charge_e[i] /= (double)frames;
    return status;
}

/* ---- Maps ------------------------------------------------------------------------------------ */

static ley_status make_map(const ley_average *a, const double *value, ley_map **map, ley_error *error)
{
    const average_problem *p = &a->problem;
    double cell_A[9];
    ley_grid grid = {.n = {p->n[0], p->n[1], p->n[2]}};
    results_cell(a, cell_A);
    for (int axis = 0; axis < 3; axis++)
        for (int d = 0; d < 3; d++) {
            grid.step_A[axis][d] = cell_A[3 * axis + d] / (double)p->n[axis];
            grid.origin_A[d] += p->origin[axis] * cell_A[3 * axis + d];
        }
    const ley_status status = ley_map_create(&grid, map, error);
    if (status != LEY_OK)
        return status;
    float *values = ley_map_values(*map);
    for (size_t i = 0; i < sums_points(p); i++)
        values[i] = (float)value[i];
    ley_map_set_units(*map, ley_units_name(p->options.units));
    return LEY_OK;
}

static ley_status mean_by_frame(ley_average *a, double *value, ley_error *error)
{
    int64_t frames = 0;
    const ley_status status = sums_values(a, SUMS_PHI, value, &frames, error);
    for (size_t i = 0; i < sums_points(&a->problem) && status == LEY_OK; i++)
        value[i] *= a->problem.coulomb_constant / (double)frames;
    return status;
}

static ley_status mean_of_charges(ley_average *a, double *value, ley_error *error)
{
    double cell_A[9];
    const size_t bytes = sums_nodes(&a->problem) * sizeof(double);
    double *charge_e = malloc(bytes);
    if (charge_e == NULL)
        return ley_fail_memory(error, bytes, "the mean");
    results_cell(a, cell_A);
    ley_status status = results_charges(a, charge_e, error);
    if (status == LEY_OK)
        status = potential_of(&a->problem, cell_A, charge_e, value, error);
    free(charge_e);
    return status;
}

/* From sums of `count` values, in value[], and of their squares: standard deviations over
 * sqrt(share). */
static void deviate(const average_problem *p, double count, double share, const double *square, double *value)
{
    for (size_t i = 0; i < sums_points(p); i++) {
        const double variance = (square[i] - value[i] * value[i] / count) / (count - 1);
        value[i] = p->coulomb_constant * sqrt(fmax(variance, 0) / share);
    }
}

static ley_status deviation(ley_average *a, double *value, double *square, ley_error *error)
{
    int64_t frames = 0;
    ley_status status = sums_values(a, SUMS_PHI, value, &frames, error);
    if (status == LEY_OK)
        status = sums_values(a, SUMS_SQUARE, square, &frames, error);
    if (status == LEY_OK)
        deviate(&a->problem, (double)frames, 1, square, value);
    return status;
}

static ley_status error_by_blocks(ley_average *a, double *value, double *square, ley_error *error)
{
    const double blocks = (double)a->blocks.count;
    (void)error;
    density_values(&a->blocks.phi, ldexp(1, -BLOCK_EXPONENT), value);
    density_values(&a->blocks.square, ldexp(1, -2 * BLOCK_EXPONENT), square);
    deviate(&a->problem, blocks, blocks, square, value);
    return LEY_OK;
}

static ley_status check_quantity(const ley_average *a, ley_average_quantity quantity, ley_error *error)
{
    if ((unsigned)quantity >= LEY_AVERAGE_COUNT)
        return ley_fail(error, LEY_ERROR_USAGE, "there is no quantity of number %d", (int)quantity);
    if (a->added == 0)
        return ley_fail(error, LEY_ERROR_USAGE, "no frame has been added");
    if (quantity == LEY_AVERAGE_DEVIATION && !a->problem.options.deviation)
        return ley_fail(error, LEY_ERROR_USAGE, "the standard deviation is not kept: set `deviation` in the options");
    if (quantity == LEY_AVERAGE_DEVIATION && a->added < 2)
        return ley_fail(error, LEY_ERROR_USAGE, "a standard deviation needs two frames; there is one");
    if (quantity == LEY_AVERAGE_ERROR && a->problem.options.block_frames == 0)
        return ley_fail(error, LEY_ERROR_USAGE, "standard errors are not kept: set `block_frames` in the options");
    if (quantity == LEY_AVERAGE_ERROR && a->blocks.count < 2)
        return ley_fail(
            error, LEY_ERROR_USAGE,
            "a standard error needs two blocks of %lld frames that are full; there are %lld, of %lld frames",
            (long long)a->problem.options.block_frames, (long long)a->blocks.count, (long long)a->added);
    return LEY_OK;
}

ley_status results_map(ley_average *a, ley_average_quantity quantity, ley_map **map, ley_error *error)
{
    ley_status status = check_quantity(a, quantity, error);
    if (status != LEY_OK)
        return status;
    const size_t bytes = sums_points(&a->problem) * sizeof(double);
    double *value = malloc(bytes), *square = malloc(bytes);
    if (value == NULL || square == NULL)
        status = ley_fail_memory(error, 2 * bytes, "a map");
    else if (quantity == LEY_AVERAGE_MEAN)
        status = a->problem.by_frame ? mean_by_frame(a, value, error) : mean_of_charges(a, value, error);
    else
        status = (quantity == LEY_AVERAGE_DEVIATION ? deviation : error_by_blocks)(a, value, square, error);
    if (status == LEY_OK)
        status = make_map(a, value, map, error);
    free(value);
    free(square);
    return status;
}

/* ---- The check of the mean ------------------------------------------------------------------- */

ley_status results_check_mean(ley_average *a, double *mean_error, ley_error *error)
{
    const double frames = (double)a->added, right[2] = {a->structure[0] / frames, a->structure[1] / frames};
    double structure[2];
    double *charge_e = malloc(sums_nodes(&a->problem) * sizeof *charge_e);
    if (charge_e == NULL)
        return ley_fail_memory(error, 8 * sums_nodes(&a->problem), "the mean");
    const ley_status status = results_charges(a, charge_e, error);
    if (status == LEY_OK)
        structure_of_charges(&a->problem.mesh, charge_e, structure);
    free(charge_e);
    return status != LEY_OK ||
                   structure_is_right(&a->problem, structure, right, a->structure_square / frames, 1, mean_error)
               ? status
               : ley_fail(error, LEY_ERROR_WRONG_RESULT,
                          "a structure factor of the mean is off by %.2g of its root mean square over frames: frames "
                          "were lost, or summed wrongly",
                          *mean_error);
}

/* ---- Cells that change ----------------------------------------------------------------------- */

/* Sums over the frames in words, which ranks add up: charges in quanta, potentials in units of
 * 2^-EXACT_EXPONENT. */
enum { EXACT_EXPONENT = 32 };
typedef struct both_ways {
    int64_t *quanta, *all_quanta, *exact;
    double *charge_e, *value;
} both_ways;

/* Adds a frame's charges, and its potential by its own cell. */
static ley_status add_both(const average_problem *p, const cell_sample *s, int i, both_ways *b, ley_error *error)
{
    frame_place place;
    memset(b->quanta, 0, sums_nodes(p) * sizeof *b->quanta);
    place_make(s->cell_A[i], p->mesh.n, p->origin, &place);
    host_spread_frame(&p->mesh, &place, p->atoms, s->position_A[i], p->quanta, b->quanta);
    for (size_t k = 0; k < sums_nodes(p); k++) {
        b->charge_e[k] = ldexp((double)b->quanta[k], -p->exponent);
        b->all_quanta[k] += b->quanta[k];
    }
    const ley_status status = potential_of(p, s->cell_A[i], b->charge_e, b->value, error);
    for (size_t k = 0; k < sums_points(p) && status == LEY_OK; k++)
        b->exact[k] += llrint(ldexp(b->value[k], EXACT_EXPONENT));
    return status;
}

static ley_status compare(const ley_average *a, const cell_sample *s, both_ways *b, double *difference,
                          ley_error *error)
{
    const average_problem *p = &a->problem;
    double cell_A[9] = {0}, off = 0, all = 0;
    ley_status status = LEY_OK;
    for (int i = 0; i < s->count && status == LEY_OK; i++) {
        status = add_both(p, s, i, b, error);
        for (int k = 0; k < 9; k++)
            cell_A[k] += s->cell_A[i][k] / s->all;
    }
    if (status == LEY_OK)
        status = share_doubles(&a->ranks, cell_A, 9, error);
    if (status == LEY_OK)
        status = share_words(&a->ranks, b->all_quanta, sums_nodes(p), SHARE_ALL, error);
    if (status == LEY_OK)
        status = share_words(&a->ranks, b->exact, sums_points(p), SHARE_ALL, error);
    for (size_t k = 0; k < sums_nodes(p); k++)
        b->charge_e[k] = ldexp((double)b->all_quanta[k] / s->all, -p->exponent);
    if (status == LEY_OK)
        status = potential_of(p, cell_A, b->charge_e, b->value, error);
    for (size_t k = 0; k < sums_points(p) && status == LEY_OK; k++) {
        const double exact = ldexp((double)b->exact[k] / s->all, -EXACT_EXPONENT);
        off += (b->value[k] - exact) * (b->value[k] - exact);
        all += exact * exact;
    }
    *difference = all > 0 ? sqrt(off / all) : 0;
    return status;
}

ley_status results_compare_cells(ley_average *a, double *difference, ley_error *error)
{
    const average_problem *p = &a->problem;
    cell_sample *s = &a->sample;
    *difference = NAN;
    if (!a->cells_change || s->all == 0 || p->by_frame || p->options.pmepot)
        return LEY_OK;
    if (s->judged == s->all) {
        *difference = s->difference;
        return LEY_OK;
    }
    const size_t nodes = sums_nodes(p), points = sums_points(p);
    both_ways b = {.quanta = malloc(nodes * sizeof *b.quanta),
                   .charge_e = malloc(nodes * sizeof *b.charge_e),
                   .all_quanta = calloc(nodes, sizeof *b.all_quanta),
                   .value = malloc(points * sizeof *b.value),
                   .exact = calloc(points, sizeof *b.exact)};
    const bool are_there =
        b.quanta != NULL && b.charge_e != NULL && b.all_quanta != NULL && b.value != NULL && b.exact != NULL;
    const ley_status status =
        are_there ? compare(a, s, &b, difference, error) : ley_fail_memory(error, 24 * nodes + 16 * points, "a sample");
    if (status == LEY_OK) {
        s->judged = s->all;
        s->difference = *difference;
    }
    free(b.quanta);
    free(b.charge_e);
    free(b.all_quanta);
    free(b.value);
    free(b.exact);
    return status;
}
