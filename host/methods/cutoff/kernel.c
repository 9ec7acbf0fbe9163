#include "methods/cutoff/kernel.h"

#include "cancel.h"
#include "clock.h"
#include "core/sizes.h"
#include "error.h"
#include "memory.h"
#include "memory/upload.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void cutoff_kernel_destroy(cutoff_kernel *k)
{
    arena_clear(&k->arena);
    kernel_destroy(&k->kernel);
    *k = (cutoff_kernel){.device = k->device};
}

/* ---- What a region looks at ------------------------------------------------------------------ */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Whether a bin so many steps from home has a corner within reach of a region whose first point is
 * anywhere in home. */
static bool in_reach(const cutoff_problem *p, const int64_t step[3])
{
    double r2_A2 = 0;
    for (int axis = 0; axis < 3; axis++) {
        const double side_A = p->plan.side_A[axis], low_A = (double)step[axis] * side_A;
        const double above_A = low_A - side_A - p->plan.region_high_A[axis],
                     below_A = p->plan.region_low_A[axis] - (low_A + side_A), d_A = fmax(fmax(above_A, below_A), 0);
        r2_A2 += d_A * d_A;
    }
    return r2_A2 <= p->plan.reach_A * p->plan.reach_A;
}

/* How far a bin's middle is from a region's, and from the region, squared and in cutoffs, where the
 * region's first point is in the middle of home. */
typedef struct distances {
    double middle2, gap2;
} distances;

static distances distances_of(const cutoff_problem *p, const int32_t entry[4])
{
    distances d = {0, 0};
    for (int axis = 0; axis < 3; axis++) {
        const double low_A = p->plan.region_low_A[axis], high_A = p->plan.region_high_A[axis];
        const double half_A = (high_A - low_A) / 2,
                     middle_A = fabs((double)entry[axis] * p->plan.side_A[axis] - (low_A + high_A) / 2),
                     gap_A = fmax(middle_A - half_A, 0);
        d.middle2 += middle_A * middle_A / (p->cutoff_A * p->cutoff_A);
        d.gap2 += gap_A * gap_A / (p->cutoff_A * p->cutoff_A);
    }
    return d;
}

/* Puts the bins that may cover a region, within half a cutoff of it, before the others, which keep
 * their order: the closest first, but no more of them than matter. */
static void sort_close(cutoff_kernel *k, const cutoff_problem *p, int32_t (*table)[4])
{
    enum { MOST_CLOSE = 128 };
    const double most_gap2 = 0.25;
    k->n_close = 0;
    for (int i = 0; i < k->n_table; i++) {
        int32_t entry[4];
        const distances d = distances_of(p, table[i]);
        int at = k->n_close;
        if (d.gap2 > most_gap2 || (at == MOST_CLOSE && d.middle2 >= distances_of(p, table[at - 1]).middle2))
            continue;
        while (at > 0 && distances_of(p, table[at - 1]).middle2 > d.middle2)
            at--;
        memcpy(entry, table[i], sizeof entry);
        memmove(table + at + 1, table + at, (size_t)(i - at) * sizeof *table);
        memcpy(table[at], entry, sizeof entry);
        k->n_close += k->n_close < MOST_CLOSE;
    }
}

/* The "spherical" neighbourhood of a region: {dx, dy, dz, offset}, in the order of the bins. */
static ley_status make_table(cutoff_kernel *k, const cutoff_problem *p, int32_t (**table)[4], ley_error *error)
{
    const binning_plan *plan = &p->plan;
    const int64_t *above = plan->above;
    int64_t bins = 1, step[3];
    for (int axis = 0; axis < 3; axis++)
        bins *= plan->below[axis] + above[axis] + 1;
    int32_t(*made)[4] = malloc((size_t)bins * sizeof *made);
    if (made == NULL)
        return ley_fail_memory(error, (size_t)bins * sizeof *made, "a table of bins");
    k->n_table = 0;
    for (step[2] = -plan->below[2]; step[2] <= above[2]; step[2]++)
        for (step[1] = -plan->below[1]; step[1] <= above[1]; step[1]++)
            for (step[0] = -plan->below[0]; step[0] <= above[0]; step[0]++)
                if (in_reach(p, step)) {
                    int32_t *entry = made[k->n_table++];
                    for (int axis = 0; axis < 3; axis++)
                        entry[axis] = (int32_t)step[axis];
                    entry[3] = (int32_t)((step[2] * plan->n[1] + step[1]) * plan->n[0] + step[0]);
                }
    k->n_close = 0;
    if (p->fringe[1] > 0)
        sort_close(k, p, made);
    *table = made;
    return LEY_OK;
}

/* cutoff.cl's LEY_FINE. */
static bool is_fine(const cutoff_kernel *k)
{
    return k->choice.spec.total == LEY_SPEC_SUM_COMPENSATED;
}

/* Of bins whose sides are whole numbers of 1/64 A, corners that are whole numbers of these from
 * where a region begins are floats up to 64 A away. */
static const double home_per_A = 1 << 18;

/* Which regions have a place of their own along an axis: those along it; of an oblique grid, whose
 * steps along x have parts along y and z, and those along y one along z, those of all axes up to
 * it. */
static void count_homes(const cutoff_kernel *k, int axis, int64_t n[3])
{
    const bool is_oblique = k->choice.spec.oblique != 0;
    for (int m = 0; m < 3; m++)
        n[m] = m == axis || (is_oblique && m < axis) ? k->regions[m] : 1;
}

static int64_t count_all_homes(const cutoff_kernel *k)
{
    int64_t n[3], count = 0;
    for (int axis = 0; axis < 3; axis++) {
        count_homes(k, axis, n);
        count += n[0] * n[1] * n[2];
    }
    return count;
}

/* For each of these regions along each axis: its home's number along it, and where home begins,
 * from the region's first point, or from where the region begins; how far that is from this
 * point. */
static ley_status make_homes(const cutoff_kernel *k, const cutoff_problem *p, int32_t (**homes)[2], float **begins,
                             ley_error *error)
{
    const int64_t count = count_all_homes(k);
    int32_t(*made)[2] = malloc((size_t)count * sizeof *made), (*entry)[2] = made;
    float *begin = malloc((size_t)count * sizeof *begin);
    if (made == NULL || begin == NULL) {
        free(made);
        free(begin);
        return ley_fail_memory(error, (size_t)count * (sizeof *made + sizeof *begin), "a table of regions");
    }
    *begins = begin;
    int64_t stride = 1;
    for (int axis = 0; axis < 3; stride *= p->plan.n[axis++]) {
        int64_t n[3];
        count_homes(k, axis, n);
        for (int64_t r = 0; r < n[0] * n[1] * n[2]; r++, entry++, begin++) {
            double first_A[3];
            binning_first_point_A(&p->plan, (const int64_t[3]){r % n[0], r / n[0] % n[1], r / n[0] / n[1]}, first_A);
            const double side_A = p->plan.side_A[axis], home = floor(first_A[axis] / side_A);
            const double exact_A = home * side_A - first_A[axis],
                         from_A = is_fine(k) ? rint(exact_A * home_per_A) / home_per_A : exact_A;
            const float from = (float)(from_A * p->unit_per_A);
            *begin = (float)((from_A - exact_A) * p->unit_per_A);
            (*entry)[0] = (int32_t)(((int64_t)home + p->plan.origin_bin[axis]) * stride);
            memcpy(&(*entry)[1], &from, sizeof from);
        }
    }
    *homes = made;
    return LEY_OK;
}

/* ---- On the device --------------------------------------------------------------------------- */

/* In parts, between which a job can be cancelled. */
static ley_status write_bytes(cutoff_kernel *k, dev_buffer *buffer, int64_t offset, const void *bytes, int64_t size,
                              ley_error *error)
{
    const int64_t most = (int64_t)256 << 20;
    const atomic_bool *cancelled = k->problem->plan.options.cancelled;
    for (int64_t done = 0, part; done < size; done += part) {
        part = size - done < most ? size - done : most;
        if (cancel_is_asked(cancelled))
            return ley_fail(error, LEY_CANCELLED, "cancelled");
        const ley_status status =
            upload_bytes(k->device, buffer, (size_t)(offset + done), (const char *)bytes + done, (size_t)part, error);
        if (status != LEY_OK)
            return status;
    }
    return LEY_OK;
}

static ley_status upload(cutoff_kernel *k, const void *bytes, int64_t size, int64_t capacity, dev_buffer **buffer,
                         ley_error *error)
{
    const dev_info *info = k->device->info;
    if (info->max_allocation_bytes > 0 && (uint64_t)capacity > info->max_allocation_bytes)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "the bins need %s, more than its largest buffer",
                        ley_size((double)capacity).s);
    ley_status status =
        arena_check_host(&k->arena, "a copy of the bins for the processor as a device", (double)capacity,
                         "a larger bin fill, a shorter cutoff, or a smaller grid", error);
    if (status == LEY_OK)
        status = arena_buffer(&k->arena, (size_t)capacity, DEV_READ_ONLY, buffer, error);
    return status == LEY_OK ? write_bytes(k, *buffer, 0, bytes, size, error) : status;
}

static ley_status upload_table(cutoff_kernel *k, const cutoff_problem *p, ley_error *error)
{
    int32_t(*table)[4] = NULL;
    ley_status status = make_table(k, p, &table, error);
    const int64_t bytes = k->n_table * (int64_t)sizeof *table;
    if (status == LEY_OK && k->choice.spec.table == LEY_ATOMS_CONSTANT &&
        (uint64_t)bytes > k->device->info->constant_bytes)
        status = ley_fail(error, LEY_ERROR_NO_DEVICE,
                          "variant %s: its %d bins around a region are more than constant memory holds",
                          k->choice.variant, k->n_table);
    if (status == LEY_OK)
        status = upload(k, table, bytes, bytes, &k->table.buffer, error);
    free(table);
    return status;
}

static ley_status upload_homes(cutoff_kernel *k, const cutoff_problem *p, ley_error *error)
{
    int32_t(*homes)[2] = NULL;
    float *begins = NULL;
    const int64_t count = count_all_homes(k), bytes = count * (int64_t)sizeof *homes,
                  begin_bytes = count * (int64_t)sizeof *begins;
    ley_status status = make_homes(k, p, &homes, &begins, error);
    if (status == LEY_OK)
        status = upload(k, homes, bytes, bytes, &k->homes.buffer, error);
    if (status == LEY_OK)
        status = upload(k, begins, begin_bytes, begin_bytes, &k->begins.buffer, error);
    free(homes);
    free(begins);
    return status;
}

ley_status cutoff_kernel_upload_bins(cutoff_kernel *k, const cutoff_problem *p, ley_error *error)
{
    const binned_atoms *binned = p->binned;
    const int64_t slots = binned->bins * binned->depth, extra = binned->extra_bins * binned->depth;
    const int64_t slot_bytes = sizeof *binned->slot, more_bytes = sizeof *p->more;
    const int64_t all = slots + extra + CUTOFF_SPARE_SLOTS;
    ley_status status = upload(k, binned->slot, slots * slot_bytes, all * slot_bytes, &k->slots.buffer, error);
    if (status == LEY_OK && p->more != NULL)
        status = upload(k, p->more, (slots + extra) * more_bytes, all * more_bytes, &k->more.buffer, error);
    if (status != LEY_OK || extra == 0)
        return status;
    int32_t *first = malloc(((size_t)binned->bins + 1) * sizeof *first);
    if (first == NULL)
        return ley_fail_memory(error, (size_t)binned->bins * sizeof *first, "bins for overflow");
    for (int64_t bin = 0; bin <= binned->bins; bin++)
        first[bin] = (int32_t)(binned->bins + binned->extra_first[bin]);
    const int64_t bytes = (binned->bins + 1) * (int64_t)sizeof *first;
    status = upload(k, first, bytes, bytes, &k->extra.buffer, error);
    free(first);
    return status == LEY_OK
               ? write_bytes(k, k->slots.buffer, slots * slot_bytes, binned->extra_slot, extra * slot_bytes, error)
               : status;
}

void cutoff_kernel_free_bins(cutoff_kernel *k)
{
    arena_free_buffer(&k->arena, &k->slots.buffer);
    arena_free_buffer(&k->arena, &k->more.buffer);
    arena_free_buffer(&k->arena, &k->extra.buffer);
}

static ley_status check_groups(const cutoff_kernel *k, const cutoff_problem *p, ley_error *error)
{
    const dev_info *info = k->device->info;
    for (int axis = 0; axis < 2; axis++)
        if (info->max_groups[axis] > 0 && (uint64_t)k->regions[axis] > info->max_groups[axis])
            return ley_fail(error, LEY_ERROR_NO_DEVICE,
                            "a plane of %lld x %lld points has more regions than a launch may have",
                            (long long)p->grid.n[0], (long long)p->grid.n[1]);
    return LEY_OK;
}

ley_status cutoff_kernel_lay_out(cutoff_kernel *k, const cutoff_problem *p, ley_error *error)
{
    k->arena.device = k->flight.device = k->device;
    k->problem = p;
    tuning_cutoff_region(&k->choice.spec, k->region);
    for (int axis = 0; axis < 3; axis++)
        k->regions[axis] = (p->grid.n[axis] + k->region[axis] - 1) / k->region[axis];
    for (int axis = 0; axis < 3; axis++)
        if (k->region[axis] != CUTOFF_LAYER) /* what bins are laid out for */
            return ley_fail(error, LEY_ERROR_DEVICE, "variant %s: its regions are not of %d points along %c",
                            k->choice.variant, CUTOFF_LAYER, 'x' + axis);
    return check_groups(k, p, error);
}

ley_status cutoff_kernel_load(cutoff_kernel *k, const cutoff_problem *p, ley_error *error)
{
    ley_status status = cutoff_kernel_lay_out(k, p, error);
    if (status == LEY_OK)
        status = upload_table(k, p, error);
    if (status == LEY_OK)
        status = upload_homes(k, p, error);
    return status == LEY_OK && k->slots.buffer == NULL ? cutoff_kernel_upload_bins(k, p, error) : status;
}

/* ---- A run ----------------------------------------------------------------------------------- */

static padded_slab rows_of(const cutoff_kernel *k, int64_t planes)
{
    const int64_t *n = k->problem->grid.n;
    return (padded_slab){.n_x = n[0],
                         .n_y = n[1],
                         .padded_x = k->regions[0] * k->region[0],
                         .padded_y = k->regions[1] * k->region[1],
                         .planes = planes,
                         .store = PADDED_FLOAT};
}

static tiled_slab regions_of(const cutoff_kernel *k, int64_t planes)
{
    const int64_t *n = k->problem->grid.n;
    return (tiled_slab){
        .n = {n[0], n[1], planes}, .region = {k->region[0], k->region[1], k->region[2]}, .store = PADDED_FLOAT};
}

static int components_of(const cutoff_kernel *k)
{
    return LEY_COMPONENTS(k->choice.spec.field);
}

/* Of one component. Where there are several, each has whole layers. */
static bool component_bytes(const cutoff_kernel *k, int64_t planes, int64_t *bytes)
{
    const int64_t whole = components_of(k) > 1 ? ley_round_up(planes, CUTOFF_LAYER) : planes;
    const padded_slab rows = rows_of(k, whole);
    const tiled_slab regions = regions_of(k, whole);
    return k->choice.spec.store == LEY_STORE_ROWS ? padding_bytes(&rows, bytes) : tiled_bytes(&regions, bytes);
}

static bool bytes_of(const cutoff_kernel *k, int64_t planes, int64_t *bytes)
{
    return component_bytes(k, planes, bytes) && ley_multiply(*bytes, components_of(k), bytes);
}

bool cutoff_kernel_bytes(const cutoff_kernel *k, int64_t layers, int64_t *bytes)
{
    return layers < INT64_MAX / CUTOFF_LAYER && bytes_of(k, layers * CUTOFF_LAYER, bytes);
}

cutoff_layout cutoff_kernel_layout(const cutoff_kernel *k)
{
    const int64_t points = k->choice.spec.store == LEY_STORE_ROWS ? CUTOFF_LAYER : 1;
    return (cutoff_layout){.in_cubes = k->choice.spec.store != LEY_STORE_ROWS,
                           .edge = CUTOFF_LAYER,
                           .pitch = {k->regions[0] * points, k->regions[1] * points}};
}

ley_status cutoff_run_create(cutoff_run *run, cutoff_kernel *k, int64_t layers, ley_error *error)
{
    int64_t bytes = 0;
    *run = (cutoff_run){.kernel = k};
    if (!cutoff_kernel_bytes(k, layers, &bytes))
        return ley_fail_memory(error, SIZE_MAX, "a slab");
    return arena_results(&k->arena, bytes, &run->phi, error);
}

void cutoff_run_destroy(cutoff_run *run)
{
    sequence_end(&run->command_sequence);
    if (run->kernel != NULL)
        arena_free_results(&run->kernel->arena, &run->phi);
}

/* By how much an atom may lie outside its bin, in units of its side: roundings. */
static const double slack = 1e-6;

/* Kernels that add nothing are given buffers that they do not read. */
static void put_mesh(const cutoff_kernel *k, cutoff_arguments *a)
{
    const bool adds = k->choice.spec.nodes > 0;
    const cutoff_mesh *l = &k->mesh;
    a->gm_potentials = adds ? l->potentials : (buffer_of_float){k->homes.buffer};
    a->gm_weights = adds ? l->weights : (buffer_of_float){k->homes.buffer};
    a->gm_places = adds ? l->places : (buffer_of_int){k->homes.buffer};
    a->gm_nodes = adds ? l->nodes : (buffer_of_int){k->homes.buffer};
    memcpy(a->mesh, l->mesh, sizeof a->mesh);
    memcpy(a->axes, l->axes, sizeof a->axes);
    for (int axis = 0; axis < 3; axis++)
        a->map[axis] = (int32_t)k->problem->grid.n[axis];
}

/* What LEY_HIGH() leaves out of a number. */
static double lower_digits(double x)
{
    const float whole = (float)x;
    int32_t bits;
    float high;
    memcpy(&bits, &whole, sizeof bits);
    bits &= ~15;
    memcpy(&high, &bits, sizeof high);
    return x - (double)high;
}

/* The lower digits of steps; and what is lost of an atom's place next to a region, in
 * LEY_MOST_LOST steps at least: half of the last digit of what is twice as large as the region. How
 * near atoms are summed apart, so that they have these digits. */
static void put_fine(const cutoff_kernel *k, cutoff_arguments *a)
{
    const double unit = k->problem->unit_per_A, near_A = 0.5;
    double reach = near_A * unit;
    for (int axis = 0; axis < 3; axis++) {
        a->step_low[axis] = lower_digits(a->step[axis]);
        a->shear_low[axis] = lower_digits(a->shear[axis]);
        reach = fmax(reach, (double)k->region[axis] * cutoff_problem_step_A(k->problem, axis) * unit);
    }
    a->step_low[3] = ldexp(exp2(ceil(log2(2 * reach))), -34);
    a->limits[3] = fmax(a->limits[3], near_A * unit * near_A * unit);
}

static void launch(cutoff_run *run)
{
    const cutoff_kernel *k = run->kernel;
    const cutoff_problem *p = k->problem;
    const double unit = p->unit_per_A, *s = p->plan.side_A, (*h)[3] = p->grid.step_A;
    const double side = fmax(s[0], fmax(s[1], s[2]));
    const int64_t first = run->first / k->region[2],
                  last = (run->first + run->planes + k->region[2] - 1) / k->region[2];
    const size_t groups[3] = {(size_t)k->regions[0], (size_t)k->regions[1], (size_t)(last - first)};
    cutoff_arguments a = {
        .kind = &cutoff_kind,
        .gm_table = k->table,
        .n_table = k->n_table,
        .gm_homes = k->homes,
        .gm_begins = k->begins,
        .first_region = (int32_t)first,
        .gm_slots = k->slots,
        .gm_more = k->more.buffer != NULL ? k->more : (buffer_of_float2){k->slots.buffer}, /* anything */
        .gm_extra = k->extra.buffer != NULL ? k->extra : (buffer_of_int){k->homes.buffer}, /* anything */
        .has_extra = k->extra.buffer != NULL,
        .step = {h[0][0] * unit, h[1][1] * unit, h[2][2] * unit, unit},
        .shear = {h[0][1] * unit, h[0][2] * unit, h[1][2] * unit, 0},
        .side = {s[0] * unit, s[1] * unit, s[2] * unit, slack * side * unit},
        .n_close = p->is_part ? -1 : k->n_close,
        .gm_phi = {run->phi.buffer},
    };
    for (int j = 0; j < 4; j++) {
        a.limits[j] = (double)p->limits[j];
        a.series[j] = (double)p->series[j];
        a.fringe[j] = (double)p->fringe[j];
    }
    if (is_fine(k))
        put_fine(k, &a);
    memcpy(a.numbers, p->numbers[0], sizeof a.numbers);
    memcpy(a.more_numbers, p->numbers[1], sizeof a.more_numbers);
    put_mesh(k, &a);
    sequence_launch(&run->command_sequence, &k->kernel, groups, &a, k->layer_s * (double)run->planes / CUTOFF_LAYER);
}

ley_status cutoff_run_begin(cutoff_run *run, int64_t first, int64_t count, const atomic_bool *cancelled,
                            ley_error *error)
{
    const int64_t n_z = run->kernel->problem->grid.n[2];
    run->first = first * CUTOFF_LAYER;
    run->planes = least(n_z, (first + count) * CUTOFF_LAYER) - run->first;
    int64_t bytes = 0, each = 0;
    bytes_of(run->kernel, run->planes, &bytes);
    component_bytes(run->kernel, run->planes, &each);
    sequence_begin(&run->command_sequence, &run->kernel->flight, cancelled);
    sequence_poison(&run->command_sequence, &run->phi, (size_t)bytes);
    launch(run);
    if (run->kernel->add != NULL && run->kernel->choice.spec.nodes == 0)
        run->kernel->add(run->kernel->added, &run->command_sequence, run->first, run->planes,
                         each / (int64_t)sizeof(float), (buffer_of_float){run->phi.buffer});
    sequence_read(&run->command_sequence, run->phi.buffer, 0, run->phi.staging, (size_t)bytes);
    return sequence_status(&run->command_sequence, error);
}

ley_status cutoff_run_finish(cutoff_run *run, float *const *planes, double *store_s, ley_error *error)
{
    const cutoff_kernel *k = run->kernel;
    ley_status status = sequence_finish(&run->command_sequence, error);
    if (status != LEY_OK)
        return status;
    const double start_s = ley_clock_s();
    const padded_slab rows = rows_of(k, run->planes);
    const tiled_slab regions = regions_of(k, run->planes);
    int64_t each = 0;
    bool is_finite = component_bytes(k, run->planes, &each);
    for (int c = 0; c < components_of(k); c++) {
        const char *from = (const char *)run->phi.staging->bytes + c * each;
        const bool is_own_finite = k->choice.spec.store == LEY_STORE_ROWS
                                       ? padding_crop(&rows, from, planes[c])
                                       : transpose_to_rows(&regions, from, planes[c]);
        is_finite = is_finite && is_own_finite;
    }
    if (store_s != NULL)
        *store_s = ley_clock_s() - start_s;
    return is_finite ? LEY_OK : sequence_no_number(error);
}
