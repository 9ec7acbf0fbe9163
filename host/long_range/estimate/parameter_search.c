#include "long_range/estimate/parameter_search.h"

#include "error.h"
#include "fft.h"
#include "long_range/fourier/device_long_wavelengths.h"
#include "long_range/mesh/coordinates.h"
#include "long_range/mesh/step_costs.h"
#include "long_range/mesh/transfer.h"
#include "long_range/mesh/transfer_build.h"
#include "long_range/model/memory_limits.h"
#include "long_range/model/short_range_part.h"
#include "long_range/multilevel/lattice_kernel.h"
#include "memory.h"
#include "methods/cutoff/kernel.h"
#include "numerics/error_table.h"
#include "parallel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const double search_reaches[SEARCH_REACHES] = {4, 6, 8, 10, 12, 16, 24, 48};

/* Cutoffs that are looked at. A whole number of steps: kernels of functions that are compiled for
 * their cutoff are found in the build cache again. */
static const double cutoff_step_A = 0.25, least_cutoff_A = 2.5, most_cutoff_A = 24;

/* What floats are off by, of the potential, whatever is chosen (docs/long-range.md). */
static const double rounding = 4e-7;

/* a/h with LEY_SOLVER_MULTILEVEL: what kernels reach, and below which meshes are pointless. */
static const double most_ratio = 15, least_ratio = 1.5;

/* Nodes along an axis of a transform's mesh that a plan looks at, at most. Bytes for each node
 * of such a mesh, with a library's work area, and of meshes that are done by mesh
 * cutoff. */
static const double most_along = 1 << 20, transform_node_bytes = 9, node_bytes = 8;

/* Of the host's memory, for each node of a transform: the influence function while it is made; and
 * beside that the mesh itself, where the host is the device. */
static const double function_node_bytes = (sizeof(double) + sizeof(float)) / 8.0, mesh_node_bytes = sizeof(float);

/* ---- What it is off by ----------------------------------------------------------------------- */

/* Of charges next to each other, which the finest mesh of multilevel summation does not see one
 * by one either: crystals and water have shown it. */
static const double least_alone = 0.3;

/* The error of all meshes, squared, in e^2/A^2, of an epsilon of 1. Level k has 2^k times the
 * cutoff, and reaches no further than there are charges; of those that are nearer to each other
 * than its nodes, coarser levels see the sum. Where that is more than they are one by one, as of
 * charges of one sign, transforms are off by the sum as well: it is that of cubes two nodes wide,
 * as plates have shown. Where many charges of one sign make the potential, interpolation between
 * nodes is off by epsilon of it in the mean, too; transforms are not. */
static double unit_error2(const charge_statistics *s, const ley_long_range *r, double spacing_A)
{
    const bool is_direct = r->solver != LEY_SOLVER_FOURIER;
    const double alone_e2 = is_direct
                                ? fmax(charge_statistics_square_e2(s, 0.5 * spacing_A), least_alone * s->square_e2)
                                : fmax(charge_statistics_square_e2(s, 2 * spacing_A), s->square_e2);
    double sum = 0;
    for (int k = 0; k == 0 || (is_direct && r->cutoff_A * (1 << k) < s->radius_A); k++)
        sum += 4 * M_PI * fmin(2 * r->cutoff_A * (1 << k), fmax(s->radius_A, r->cutoff_A)) *
               (k == 0 ? alone_e2 : charge_statistics_square_e2(s, 0.5 * spacing_A * (1 << k)));
    return sum / s->charged_A3 + (is_direct ? s->potential_e_A * s->potential_e_A : 0);
}

static double relative(const charge_statistics *s, double error2)
{
    return s->potential_e_A > 0 ? sqrt(error2 / (s->potential_e_A * s->potential_e_A) + rounding * rounding) : rounding;
}

/* Of meshes in an oblique cell, the error is a multiple of what the table has of cubes. */
static double excess_of(const charge_statistics *s, const ley_long_range *r)
{
    const double excess = s->excess[r->splitting][r->window];
    return excess > 0 ? excess : 1;
}

double search_error(const charge_statistics *s, const ley_long_range *r)
{
    const double epsilon = excess_of(s, r) * error_table_at((splitting_kind)r->splitting, (window_kind)r->window,
                                                            r->cutoff_A / r->spacing_A);
    return relative(s, epsilon * epsilon * unit_error2(s, r, r->spacing_A));
}

/* What nodes' charges are off by, as floats and by transforms of floats, leans to one side over
 * the whole box, and nothing cancels it: a potential that grows with the box, as far as screening
 * lets it. Of waves in double precision only what is in the others is left, the mean square of
 * which is 8 / k of the charges' per volume. Both were found from boxes of water of 6e4 to 1.5e6
 * atoms (docs/long-range.md). */
static const double leaning_per_A = 3e-8, short_wave_rounding = 4e-8;

/* Potentials of nodes that are summed one by one are floats: off by a share of the terms, however
 * much of these cancels. Few charges in wires and cells have shown 0.8e-7 to 1.2e-7. */
static const double node_rounding = 1.2e-7;

/* Of each root of the density of squared charges; a float sum is as long as its cutoff is wide, in
 * A, to this power. */
static const double pair_rounding = 1.8e-8, pair_power = 1.6;

/* The waves that are in double precision, where they are; and what rounding may be, of what is
 * aimed at, before anything is done about it, with better meshes in place of such waves, and in
 * the end. */
static const double long_per_A = 0.3, least_rounding = 0.2, meshes_rounding = 0.7, most_rounding = 1.5;

static double of_potential(const charge_statistics *s, double rounding_e_A)
{
    return s->potential_e_A > 0 ? rounding_e_A * sqrt(s->square_e2 / s->charged_A3) / s->potential_e_A : 0;
}

static double of_terms(const charge_statistics *s, double share)
{
    return s->potential_e_A > 0 ? share * s->terms_e_A / s->potential_e_A : 0;
}

/* Equal charges are rounded alike, and their sum may lack as large a share as each does, and a net
 * charge, which is what is left of it, a much larger one. */
static double of_net_charge(const charge_statistics *s)
{
    const bool has_none = s->periodic[0] && s->periodic[1] && s->periodic[2];
    return s->potential_e_A > 0 && !has_none ? fabs(s->rounded_e) / s->radius_A / s->potential_e_A : 0;
}

double search_mesh_rounding(const charge_statistics *s, const ley_long_range *r)
{
    const double screened_A = r->kappa_per_A > 0 ? 1 / r->kappa_per_A : INFINITY;
    if (r->long_waves_per_A > 0)
        return of_potential(s, short_wave_rounding * sqrt(8 / r->long_waves_per_A));
    return hypot(hypot(of_potential(s, leaning_per_A * fmin(s->radius_A, screened_A)), of_net_charge(s)),
                 r->solver != LEY_SOLVER_FOURIER ? of_terms(s, node_rounding) : 0);
}

double search_pair_rounding(const charge_statistics *s, const ley_long_range *r, ley_sum sum)
{
    return sum == LEY_SUM_FLOAT ? of_potential(s, pair_rounding * pow(r->cutoff_A, pair_power)) : 0;
}

/* Places are floats within their bins, and off by so much along each axis. What a charge does at r
 * is then off by q / r^2 times that, most of it next to the charge, and neither other sums nor
 * other meshes help. Of usual charges it is part of `rounding`; a pair of 1e4 e, 1e-7 A apart,
 * has shown what it is of others. */
static const double place_rounding_A = 8e-8;

double search_place_rounding(const charge_statistics *s)
{
    return s->potential_e_A > 0 && s->strong_e2 > 0
               ? place_rounding_A * sqrt(4 * M_PI * s->strong_e2 / (s->strong_near_A * s->volume_A3)) / s->potential_e_A
               : 0;
}

/* In cells that repeat a net charge, sums of pairs are as large as the charge within the cutoff,
 * and meshes take most of it away again: floats leave a share of that, whatever the sums. A cell
 * of 500 A^3 with 0.23 e has shown 1.1e-7 to 1.5e-7, with cutoffs of 12 to 22 A. */
static const double net_rounding = 1.3e-7;

double search_net_rounding(const charge_statistics *s, const ley_long_range *r)
{
    return s->potential_e_A > 0 ? net_rounding * s->net_per_A3 * r->cutoff_A * r->cutoff_A / s->potential_e_A : 0;
}

/* What is done about it: few waves in double precision, if the host may make them, and compensated
 * sums, which cost nothing that was measured. False: too much is left. */
static bool settle_rounding(const charge_statistics *s, double aim, ley_sum asked, bool with_long, ley_long_range *r,
                            search_figures *made)
{
    made->sum = asked == LEY_SUM_AUTO ? LEY_SUM_FLOAT : asked;
    r->long_waves_per_A = 0;
    if (with_long && r->solver == LEY_SOLVER_FOURIER && r->window >= LEY_WINDOW_BSPLINE4 &&
        search_mesh_rounding(s, r) > least_rounding * aim)
        r->long_waves_per_A = long_per_A;
    if (asked == LEY_SUM_AUTO && search_pair_rounding(s, r, LEY_SUM_FLOAT) > least_rounding * aim)
        made->sum = LEY_SUM_COMPENSATED;
    const double left = hypot(hypot(search_mesh_rounding(s, r), search_pair_rounding(s, r, made->sum)),
                              hypot(search_place_rounding(s), search_net_rounding(s, r)));
    made->rounding = left > least_rounding * aim ? left : 0;
    return left <= most_rounding * aim;
}

/* Of what is aimed at, what points on atoms may be off by there: of a crystal whose map is in step
 * with it these make the whole potential. More than is usual is never allowed. */
static const double contact_share = 0.6;

static double contact_error(double aim)
{
    const double most = contact_share * aim;
    return most < PAIRS_CONTACT_ERROR ? most : 0;
}

/* The widest spacing whose error is no more than that; 0: none. What blocks of charges come to
 * depends on the spacing itself, and makes a wider one possible at most. Where there is no
 * potential, any spacing will do. */
static double widest_spacing_A(const charge_statistics *s, const ley_long_range *r, double aim)
{
    const double meshes2 = fmax(aim * aim - rounding * rounding, 0.25 * aim * aim);
    double spacing_A = r->cutoff_A / 4;
    for (int i = 0; i < 4; i++) {
        const double unit2 = unit_error2(s, r, spacing_A);
        const double epsilon = unit2 > 0 && s->potential_e_A > 0 ? s->potential_e_A * sqrt(meshes2 / unit2) : 1;
        const double ratio =
            error_table_ratio((splitting_kind)r->splitting, (window_kind)r->window, epsilon / excess_of(s, r));
        if (ratio == 0)
            return 0;
        spacing_A = r->cutoff_A / ratio;
    }
    return floor(spacing_A * 1000) / 1000;
}

/* ---- Devices --------------------------------------------------------------------------------- */

/* Of devices that have not been measured yet. */
static const double unknown_gpu_fma_per_s = 8e12, unknown_cpu_fma_per_s = 6e10;

static double transform_byte_s(const dev_info *info)
{
    const fft_wish wish = {.n = {256, 256, 256}, .filled = {128, 128, 128}};
    fft_prediction prediction;
    return fft_is_there(info, NULL, 0) && fft_predict(info, &wish, &prediction)
               ? prediction.transform_s / fft_least_bytes(wish.n, wish.filled)
               : INFINITY;
}

/* Kernels that the device has not been used with yet, of a window or of pairs, have to be built.
 * What is faster by less than that is not worth it, so that a new tolerance is reached with kernels
 * that are there, and what the first run has measured does not lead the second to others. */
static double building_s(const dev_info *info, const transfer_kernels *t)
{
    return transfer_was_used(t) ? 0
                                : kernel_build_s(info, &anterpolate_kind) + kernel_build_s(info, &interpolation_kind);
}

static const char levels_step[] = "levels";

void search_note_levels(const dev_info *info, ley_window w)
{
    step_note_done(info, levels_step, window_get((window_kind)w)->name);
}

/* Two lattice cutoffs, as levels are wide or narrow, and what leads from one level to the next. */
static double levels_building_s(const dev_info *info, int number)
{
    return step_was_done(info, levels_step, window_get((window_kind)number)->name)
               ? 0
               : 2 * kernel_build_s(info, &lattice_kind) + kernel_build_s(info, &restriction_kind) +
                     kernel_build_s(info, &prolongation_kind);
}

static const char pairs_step[] = "pairs";
typedef struct pairs_name {
    char s[16];
} pairs_name;

static pairs_name name_of_pairs(int kernel)
{
    pairs_name name;
    snprintf(name.s, sizeof name.s, "%d", kernel);
    return name;
}

void search_note_pairs(const dev_info *info, const ley_long_range *range, const splitting *meshes, ley_sum sum)
{
    step_note_done(info, pairs_step, name_of_pairs(pairs_kernel(range, meshes, sum == LEY_SUM_FLOAT)).s);
}

/* The last transform's size, and the cutoff that went with it. */
static const costs_kind last_transform = {
    .name = "msm transform", .count = 4, .bounds = {{0, 0, 1e9}, {0, 0, 1e9}, {0, 0, 1e9}, {0, 0, 1e9}}};

void search_note_transform(const dev_info *info, const size_t n[3], double cutoff_A)
{
    const double now[] = {(double)n[0], (double)n[1], (double)n[2], cutoff_A};
    double last[COSTS_MOST];
    if (!costs_known(&last_transform, info, last) || memcmp(now, last, sizeof now) != 0)
        costs_keep(&last_transform, info, now);
}

static void look_at_transform(const dev_info *info, search_device *d)
{
    const fft_wish wish = {.n = {243, 243, 243}, .in_place = true}; /* no mesh has as many: an unused one */
    fft_prediction prediction;
    double last[COSTS_MOST];
    if (costs_known(&last_transform, info, last)) {
        for (int axis = 0; axis < 3; axis++)
            d->last_transform[axis] = (size_t)last[axis];
        d->last_cutoff_A = last[3];
    }
    if (d->transform_byte_s < INFINITY && fft_predict(info, &wish, &prediction))
        d->transform_building_s = prediction.prepare_s;
}

/* Of a device whose rates are not known nothing that was learnt in passing counts either: costs of
 * both kinds do not go together, and the same job is planned alike run after run. */
static void look_at_window(const dev_info *info, bool is_known, int number, search_device *d)
{
    const int64_t node[3] = {1, 1, 1};
    dev device = {.info = info};
    transfer_kernels t = {
        .device = &device, .facts.fma_per_s = d->fma_per_s, .window = window_get((window_kind)number)};
    t.anterpolate.group_size[0] = d->is_cpu ? 1 : 64;
    if (is_known)
        transfer_look_up_costs(&t);
    else
        transfer_take_usual_costs(&t);
    d->window[number].building_s = building_s(info, &t);
    d->window[number].levels_building_s = levels_building_s(info, number);
    d->window[number].anterpolation_s = transfer_anterpolation_s(&t, 1);
    d->window[number].restriction_s = transfer_restriction_s(&t, node);
    d->window[number].prolongation_s = transfer_prolongation_s(&t, node);
}

void search_look_at(const dev_info *info, const calibration *facts, const double rates[SEARCH_REACHES],
                    search_device *d)
{
    *d = (search_device){.info = info,
                         .is_cpu = info->device_class == DEV_CPU,
                         .memory_bytes = (double)info->global_bytes,
                         .largest_bytes = (double)info->max_allocation_bytes,
                         .long_wave_s = info->device_class == DEV_CPU ? 0 : device_long_atom_s(info, facts),
                         .host_bytes = memory_available().bytes,
                         .most_values = (double)fft_most_values(info),
                         .transform_byte_s = transform_byte_s(info)};
    memcpy(d->pairs_per_s, rates, sizeof d->pairs_per_s);
    d->fma_per_s = facts != NULL && facts->fma_per_s > 0 ? facts->fma_per_s
                   : d->is_cpu                           ? unknown_cpu_fma_per_s
                                                         : unknown_gpu_fma_per_s;
    for (int number = 0; number < LEY_WINDOW_COUNT; number++)
        look_at_window(info, facts != NULL, number, d);
    look_at_transform(info, d);
    for (int k = 0; k < PAIRS_KERNELS; k++)
        d->pairs_building_s[k] =
            step_was_done(info, pairs_step, name_of_pairs(k).s) ? 0 : kernel_build_s(info, &cutoff_kind);
}

void search_forget_building(search_device *d)
{
    d->transform_building_s = 0;
    for (int number = 0; number < LEY_WINDOW_COUNT; number++)
        d->window[number].building_s = d->window[number].levels_building_s = 0;
    for (int k = 0; k < PAIRS_KERNELS; k++)
        d->pairs_building_s[k] = 0;
    d->builds_for_nothing = true;
}

/* ---- What it takes --------------------------------------------------------------------------- */

static double cube(double x)
{
    return x * x * x;
}

/* Whether pairs are an expression, and not a function that kernels have by name. */
static bool is_expression(const ley_long_range *r)
{
    splitting s;
    if (r->kappa_per_A > 0 || r->splitting > LEY_SPLITTING_TAYLOR4)
        return true;
    return splitting_make((splitting_kind)r->splitting, 0, 0, 0, &s, NULL) != LEY_OK || !pairs_are_named(r, &s);
}

static int degree_of(const ley_long_range *r)
{
    return splitting_degree((splitting_kind)r->splitting, r->cutoff_A / r->spacing_A,
                            window_get((window_kind)r->window)->points);
}

/* How much longer a pair takes than one of taylor2, for which devices have rates: each degree is a
 * multiply-add. A pair has some instructions besides; on GPUs all of them are free as long as a
 * root takes. Of CPUs it was measured with PoCL. Exponentials cost both more. */
static double pair_factor(const search_device *d, const ley_long_range *r)
{
    const double root_instructions = 7.6, other_instructions = is_expression(r) ? 6 : 5, degree_of_cpu = 0.09;
    const int degree = degree_of(r);
    if (r->kappa_per_A > 0)
        return 2;
    if (d->is_cpu)
        return is_expression(r) ? 1 + degree_of_cpu * degree : 1;
    return fmax(1, (degree + other_instructions) / root_instructions);
}

/* Of a device, at this cutoff: between those that are known by powers, beyond them as at the last
 * ones. */
static double pairs_per_s(const search_device *d, double reach)
{
    const double *at = search_reaches, x = fmin(fmax(reach, at[0]), at[SEARCH_REACHES - 1]);
    int i = 0;
    while (i < SEARCH_REACHES - 2 && x > at[i + 1])
        i++;
    return d->pairs_per_s[i] * pow(d->pairs_per_s[i + 1] / d->pairs_per_s[i], log(x / at[i]) / log(at[i + 1] / at[i]));
}

static double pairs_s(const charge_statistics *s, size_t count, const search_device *devices, const ley_long_range *r)
{
    const double point_A = cbrt(s->volume_A3 / s->points);
    double per_s = 0;
    for (size_t i = 0; i < count; i++)
        per_s += pairs_per_s(&devices[i], r->cutoff_A / point_A) / pair_factor(&devices[i], r);
    return s->pairs_per_A3 * 4 * M_PI / 3 * cube(r->cutoff_A) / per_s;
}

/* Nodes along each axis of level k. */
static void count_nodes(const charge_statistics *s, const ley_long_range *r, int k, double n[3])
{
    const double points = window_get((window_kind)r->window)->points;
    for (int axis = 0; axis < 3; axis++)
        n[axis] = s->extent_A[axis] / (r->spacing_A * (1 << k)) + (s->periodic[axis] ? 0 : points + 1);
}

static size_t padded_size(double nodes, bool is_periodic)
{
    return fft_good_size((size_t)fmin(is_periodic ? nodes : 2 * nodes + 16, most_along));
}

/* A transform's mesh of level k, padded along open axes. */
static double transform_nodes(const charge_statistics *s, const ley_long_range *r, int k, size_t padded[3])
{
    double n[3], nodes = 1;
    count_nodes(s, r, k, n);
    for (int axis = 0; axis < 3; axis++) {
        padded[axis] = padded_size(n[axis], s->periodic[axis]);
        nodes *= (double)padded[axis];
    }
    return nodes;
}

/* Whether kernels can number the mesh of such a transform: with one number for each node, as
 * those of meshes with finer ones beside them, or by plane. */
static bool can_number(const charge_statistics *s, const ley_long_range *r, int k, const size_t padded[3],
                       bool *by_plane)
{
    double n[3];
    count_nodes(s, r, k, n);
    const size_t own = (size_t)fmin(n[2], (double)padded[2]);
    const coordinate_table few = {.n = {1, 1, (int64_t)own + 1},
                                  .pitch = {(int64_t)fft_pitch(padded, true), (int64_t)padded[1]}};
    coordinate_table many = few;
    many.by_plane = true;
    *by_plane = coordinates_are_many(&few);
    return *by_plane ? r->solver == LEY_SOLVER_FOURIER && coordinates_can_number(&many) : coordinates_can_number(&few);
}

/* Whether the host has room for what it makes for meshes of so many nodes. Smaller ones are
 * planned alike whatever the host has, and refused where it has none. */
static bool host_has_room(const search_device *d, double nodes)
{
    return d->host_bytes == 0 ||
           nodes * (function_node_bytes + (d->is_cpu ? mesh_node_bytes : 0)) <= FIT_SHARE * d->host_bytes;
}

/* Whether the device has room for the transform of level k, and for the finer levels as they
 * are. */
static bool has_room(const charge_statistics *s, const search_device *d, const ley_long_range *r, int k)
{
    size_t padded[3];
    const double nodes = transform_nodes(s, r, k, padded), transform = nodes * transform_node_bytes;
    double n[3], levels = 0;
    for (int i = 0; i < k; i++) {
        count_nodes(s, r, i, n);
        levels += n[0] * n[1] * n[2] * node_bytes;
    }
    bool by_plane;
    const bool is_too_many = d->most_values > 0 && (double)fft_values(padded) > d->most_values;
    return !is_too_many && can_number(s, r, k, padded, &by_plane) && (!by_plane || host_has_room(d, nodes)) &&
           memory_limits_has_room(levels + transform, fmax(levels, transform) / 2, d->memory_bytes, d->largest_bytes);
}

/* There and back; the product; and the function that it is multiplied by, an eighth of which is
 * made on the cores that are the device, or sent to a card. */
static double transforms_s(const charge_statistics *s, const search_device *d, const ley_long_range *r, int k)
{
    size_t n[3], filled[3];
    double own[3];
    const double nodes = transform_nodes(s, r, k, n), made_s = 5.6e-8 * 2 / parallel_cores(), sent_s = 2e-10;
    if (!has_room(s, d, r, k))
        return INFINITY;
    count_nodes(s, r, k, own);
    for (int axis = 0; axis < 3; axis++)
        filled[axis] = (size_t)fmin(own[axis], (double)n[axis]);
    const double transform_s = d->transform_byte_s * fft_least_bytes(n, filled);
    return 3 * transform_s + nodes / 8 * (d->is_cpu ? made_s : sent_s);
}

/* The lattice cutoff of level k, and what leads to it and back. */
static double level_s(const charge_statistics *s, const search_device *d, const ley_long_range *r, int k, bool is_top)
{
    const double all = 4 * M_PI / 3 * cube(2 * r->cutoff_A / r->spacing_A), start_s = 3e-5;
    double n[3];
    count_nodes(s, r, k, n);
    const double nodes = n[0] * n[1] * n[2];
    return start_s + nodes * fmin(is_top ? nodes : all, all) / d->fma_per_s +
           (k > 0 ? nodes * d->window[r->window].restriction_s : 0) +
           (is_top ? 0 : nodes * d->window[r->window].prolongation_s);
}

/* Levels that periods allow: see hierarchy_halvings(). */
static int most_levels(const charge_statistics *s, const ley_long_range *r)
{
    int most = HIERARCHY_MOST_LEVELS;
    for (int axis = 0; axis < 3; axis++)
        if (s->periodic[axis]) {
            const int own = 1 + hierarchy_halvings(s->extent_A[axis] / r->spacing_A);
            most = own < most ? own : most;
        }
    return most;
}

/* Infinite: the last level that periods allow is more than kernels reach from end to end. */
static double levels_s(const charge_statistics *s, const search_device *d, const ley_long_range *r)
{
    double sum_s = 0, n[3];
    bool is_top = false;
    for (int k = 0; k < most_levels(s, r) && !is_top; k++) {
        count_nodes(s, r, k, n);
        is_top = fmax(n[0], fmax(n[1], n[2])) <= HIERARCHY_MOST_REACH;
        sum_s += level_s(s, d, r, k, is_top);
    }
    return is_top ? sum_s : INFINITY;
}

/* The level that is transformed: the first one, or, where finer ones go by lattice cutoff, the
 * first one after it that the device has room for; HIERARCHY_MOST_LEVELS: none. */
static int transform_level(const charge_statistics *s, const search_device *d, const ley_long_range *r)
{
    if (r->solver == LEY_SOLVER_FOURIER)
        return 0;
    int k = 1;
    while (k < HIERARCHY_MOST_LEVELS && !has_room(s, d, r, k))
        k++;
    return k;
}

/* Levels by lattice cutoff, and the transform of what is left. */
static double mixed_s(const charge_statistics *s, const search_device *d, const ley_long_range *r)
{
    const int top = transform_level(s, d, r);
    double sum_s = 0, n[3];
    if (top == HIERARCHY_MOST_LEVELS)
        return INFINITY;
    for (int k = 0; k < top; k++)
        sum_s += level_s(s, d, r, k, false);
    count_nodes(s, r, top, n);
    return sum_s + transforms_s(s, d, r, top) + n[0] * n[1] * n[2] * d->window[r->window].restriction_s;
}

static double solver_s(const charge_statistics *s, const search_device *d, const ley_long_range *r)
{
    return r->solver == LEY_SOLVER_FOURIER ? transforms_s(s, d, r, 0)
           : r->solver == LEY_SOLVER_MIXED ? mixed_s(s, d, r)
                                           : levels_s(s, d, r);
}

/* A point's: for each of the window's nodes along an axis, what takes as long as so many
 * multiply-adds: measured with PoCL; of GPUs, which wait for their memory, estimated. */
static double interpolation_s(const charge_statistics *s, const search_device *d, const ley_long_range *r)
{
    const double multiply_adds = d->is_cpu ? 40 : 20, points = window_get((window_kind)r->window)->points;
    return s->points * multiply_adds * points / d->fma_per_s;
}

/* Of one device: what it does to the meshes, the points' interpolation, and what it waits for. */
static double meshes_s(const charge_statistics *s, const search_device *d, const ley_long_range *r)
{
    return s->atoms * d->window[r->window].anterpolation_s + solver_s(s, d, r) + interpolation_s(s, d, r);
}

/* Of an atom, by the devices where each of them can and does it sooner, or by the host: as
 * device_long_plan() decides, but for the way of atoms to the devices. */
static double long_wave_s(size_t count, const search_device *devices)
{
    const double host_s = LONG_WAVES_ATOM_S / parallel_cores();
    double slowest_s = count > 0 ? 0 : INFINITY;
    for (size_t i = 0; i < count; i++)
        slowest_s = fmax(slowest_s, devices[i].long_wave_s > 0 ? devices[i].long_wave_s : INFINITY);
    return fmin(host_s, slowest_s);
}

double search_seconds(const charge_statistics *s, size_t count, const search_device *devices, const ley_long_range *r)
{
    double least_s = INFINITY;
    for (size_t i = 0; i < count; i++)
        least_s = fmin(least_s, meshes_s(s, &devices[i], r));
    return least_s + pairs_s(s, count, devices, r) +
           (r->long_waves_per_A > 0 ? s->atoms * long_wave_s(count, devices) : 0);
}

/* ---- The choice ------------------------------------------------------------------------------ */

typedef struct search {
    const charge_statistics *charge_statistics;
    size_t count;
    const search_device *devices;
    double aim;
    unsigned fixed;
    ley_sum sum;
    ley_long_range best;
    double best_s; /* with the building of its kernels; infinite: nothing was found */
    search_figures figures;
    bool lacks_room;   /* for a transform that was looked at */
    bool lacks_digits; /* floats left too much of something that was looked at */
} search;

/* Whether that was the last transform, of level k. Along open axes a mesh has up to two nodes
 * fewer than the charge statistics say, or one more. */
static bool had_transform(const charge_statistics *s, const search_device *d, const ley_long_range *r, int k)
{
    double n[3];
    bool is_it = true;
    count_nodes(s, r, k, n);
    for (int axis = 0; axis < 3; axis++) {
        const double fewer = s->periodic[axis] ? 0 : 2, more = s->periodic[axis] ? 0 : 1;
        is_it = is_it && padded_size(n[axis] - fewer, s->periodic[axis]) <= d->last_transform[axis] &&
                d->last_transform[axis] <= padded_size(n[axis] + more, s->periodic[axis]);
    }
    return is_it;
}

/* What a solver has to build counts as shared by so many maps: on a card a second of it buys
 * milliseconds, but of each map that follows. */
static const double maps_of_a_build = 20;

/* Of maps; a window that has not been used lacks its own in any case. */
static double interpolation_building_s(const charge_statistics *s, const search_device *d, const ley_long_range *r)
{
    double nodes_per_point[3];
    if (d->info == NULL || d->builds_for_nothing || s->step_A[0] == 0 || d->window[r->window].building_s > 0)
        return 0;
    for (int axis = 0; axis < 3; axis++)
        nodes_per_point[axis] = s->step_A[axis] / r->spacing_A;
    return transfer_interpolation_building_s(d->info, window_get((window_kind)r->window)->points, nodes_per_point);
}

/* Of the meshes: the window's kernels and the solver's. */
static double meshes_building_s(const charge_statistics *s, const search_device *d, const ley_long_range *r)
{
    const bool is_new = r->solver != LEY_SOLVER_MULTILEVEL && !had_transform(s, d, r, transform_level(s, d, r));
    const double levels_s = r->solver != LEY_SOLVER_FOURIER ? d->window[r->window].levels_building_s : 0,
                 transform_s = is_new ? d->transform_building_s : 0;
    return d->window[r->window].building_s +
           (levels_s + transform_s + interpolation_building_s(s, d, r)) / maps_of_a_build;
}

/* Devices build at the same time. Of what is no better than `most_s` with its meshes alone the
 * pairs are not looked at: optimal ones take a while to make. */
static double longest_building_s(const charge_statistics *at, size_t count, const search_device *devices,
                                 const ley_long_range *r, ley_sum sum, double most_s)
{
    const double ratio = r->cutoff_A / r->spacing_A;
    const splitting_kind kind = (splitting_kind)r->splitting;
    double longest_s = 0;
    splitting s;
    for (size_t i = 0; i < count; i++)
        longest_s = fmax(longest_s, meshes_building_s(at, &devices[i], r));
    if (longest_s >= most_s ||
        splitting_make(kind, degree_of(r), splitting_band(kind, ratio, window_get((window_kind)r->window)->points),
                       r->kappa_per_A * r->cutoff_A, &s, NULL) != LEY_OK)
        return longest_s;
    const int pairs = pairs_kernel(r, &s, sum == LEY_SUM_FLOAT);
    for (size_t i = 0; i < count; i++)
        longest_s = fmax(longest_s, meshes_building_s(at, &devices[i], r) + devices[i].pairs_building_s[pairs]);
    return longest_s;
}

/* With long waves where floats leave too much of what is aimed at, or without them, the meshes
 * being better by as much. Seconds; infinite: it cannot be had, or is what it is with them. */
static double try_rounded(search *f, ley_long_range r, bool with_long)
{
    const charge_statistics *s = f->charge_statistics;
    search_figures own;
    const bool is_settled = settle_rounding(s, f->aim, f->sum, with_long, &r, &own);
    if (!with_long && (own.rounding == 0 || own.rounding > meshes_rounding * f->aim))
        return INFINITY;
    const double widest_A =
        widest_spacing_A(s, &r, with_long ? f->aim : sqrt(f->aim * f->aim - own.rounding * own.rounding));
    if (!(f->fixed & LEY_FIX_SPACING))
        r.spacing_A = fmin(widest_A, r.cutoff_A / least_ratio);
    const double ratio = r.cutoff_A / r.spacing_A;
    if (!(r.spacing_A > 0 && r.spacing_A <= widest_A && ratio >= 1) ||
        (r.solver != LEY_SOLVER_FOURIER && ratio > most_ratio) || r.cutoff_A <= r.r_min_A)
        return INFINITY;
    f->lacks_digits = f->lacks_digits || !is_settled;
    if (!is_settled)
        return INFINITY;
    r.contact_error = contact_error(f->aim);
    const double seconds = search_seconds(s, f->count, f->devices, &r),
                 with_building_s = seconds < f->best_s ? seconds + longest_building_s(s, f->count, f->devices, &r,
                                                                                      own.sum, f->best_s - seconds)
                                                       : seconds;
    f->lacks_room = f->lacks_room || (r.solver == LEY_SOLVER_FOURIER && seconds == INFINITY);
    if (with_building_s < f->best_s) {
        f->best = r;
        f->best_s = with_building_s;
        own.seconds = seconds;
        own.building_s = with_building_s - seconds;
        own.relative_rms = search_error(s, &r);
        f->figures = own;
    }
    return seconds;
}

static double try_at(search *f, ley_long_range r, double cutoff_A)
{
    r.cutoff_A = cutoff_A;
    const double seconds = try_rounded(f, r, true);
    return fmin(seconds, try_rounded(f, r, false));
}

static void try_splitting(search *f, ley_long_range r)
{
    if (f->fixed & LEY_FIX_CUTOFF) {
        try_at(f, r, r.cutoff_A);
        return;
    }
    const double coarse_A = 4 * cutoff_step_A;
    double best_s = INFINITY, best_A = least_cutoff_A;
    for (double a_A = least_cutoff_A; a_A <= most_cutoff_A; a_A += coarse_A) {
        const double seconds = try_at(f, r, a_A);
        best_A = seconds < best_s ? a_A : best_A;
        best_s = fmin(seconds, best_s);
    }
    for (double a_A = fmax(best_A - coarse_A, least_cutoff_A); a_A < best_A + coarse_A && best_s < INFINITY;
         a_A += cutoff_step_A)
        try_at(f, r, a_A);
    for (size_t i = 0; i < f->count; i++)
        if (f->devices[i].last_cutoff_A > 0)
            try_at(f, r, f->devices[i].last_cutoff_A);
}

/* What goes with a window: B-splines are deconvolved by transforms, polynomials of a band suit them
 * best, of which optimal are the best, and screening has splittings of Taylor's alone. */
static bool goes_together(const ley_long_range *r, unsigned fixed)
{
    const bool is_spline = r->window >= LEY_WINDOW_BSPLINE4, is_taylor = r->splitting <= LEY_SPLITTING_TAYLOR8;
    return (is_spline == (r->solver == LEY_SOLVER_FOURIER) || (fixed & LEY_FIX_SOLVER && !is_spline)) &&
           (is_taylor || (r->kappa_per_A == 0 && (is_spline || fixed & LEY_FIX_SPLITTING))) &&
           (is_taylor || r->splitting == LEY_SPLITTING_OPTIMAL || fixed & LEY_FIX_SPLITTING);
}

/* Of these solvers the fixed one; else all. */
static bool is_asked(const search *f, const ley_long_range *asked, ley_solver solver)
{
    return !(f->fixed & LEY_FIX_SOLVER) || asked->solver == LEY_SOLVER_AUTO || solver == asked->solver;
}

static void try_all(search *f, const ley_long_range *asked, const ley_solver *solvers, int count)
{
    for (int w = 0; w < LEY_WINDOW_COUNT; w++)
        for (int i = 0; i < count; i++)
            for (int p = 0; p < LEY_SPLITTING_COUNT; p++) {
                ley_long_range r = *asked;
                if ((f->fixed & LEY_FIX_WINDOW && w != (int)asked->window) ||
                    (f->fixed & LEY_FIX_SPLITTING && p != (int)asked->splitting) || !is_asked(f, asked, solvers[i]))
                    continue;
                r.window = (ley_window)w;
                r.splitting = (ley_splitting)p;
                r.solver = solvers[i];
                if (goes_together(&r, f->fixed))
                    try_splitting(f, r);
            }
}

/* Whether some meshes were passed over because no device has room for their transforms. */
static bool lacks_room(const search *f)
{
    for (size_t i = 0; i < f->count; i++)
        if (f->devices[i].transform_byte_s < INFINITY)
            return f->lacks_room;
    return false;
}

/* Whole meshes first. Levels that are done in both ways cost more than these and no less than the
 * lattice cutoff alone, but for their top, and are looked at where there is no room for the whole,
 * or they are asked for. */
static void search_all(search *f, const ley_long_range *asked)
{
    static const ley_solver whole[] = {LEY_SOLVER_FOURIER, LEY_SOLVER_MULTILEVEL}, mixed[] = {LEY_SOLVER_MIXED};
    try_all(f, asked, whole, 2);
    if (lacks_room(f) || (f->fixed & LEY_FIX_SOLVER && asked->solver == LEY_SOLVER_MIXED))
        try_all(f, asked, mixed, 1);
}

ley_status search_make(const charge_statistics *s, size_t device_count, const search_device *devices, double aim,
                       unsigned fixed, ley_sum sum, ley_long_range *range, search_figures *figures, ley_error *error)
{
    search f = {
        .charge_statistics = s, .count = device_count, .devices = devices, .aim = aim, .fixed = fixed, .sum = sum};
    f.best_s = INFINITY;
    search_all(&f, range);
    if (!(f.best_s < INFINITY))
        return ley_fail(error, LEY_ERROR_USAGE,
                        "no meshes%s are expected to be off by half the tolerance, %.2g of the potential's root mean "
                        "square, %.3g e/A, or less%s",
                        fixed != 0 ? " with the choices that are given" : "", aim, s->potential_e_A,
                        f.lacks_digits
                            ? ": some would be, had floats the digits for so large a box, so long a cutoff or "
                              "so large charges"
                            : "");
    *range = f.best;
    *figures = f.figures;
    return LEY_OK;
}
