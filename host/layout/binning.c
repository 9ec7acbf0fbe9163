#include "layout/binning.h"

#include "cancel.h"
#include "core/sizes.h"
#include "error.h"
#include "layout/grid_frame.h"
#include "memory.h"
#include "parallel.h"
#include "source/atoms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double longest_A = 1e8;
static const char fewer_images[] = "a shorter cutoff, a larger cell, or fewer periodic axes",
                  fewer_atoms[] = "fewer atoms, or a smaller grid",
                  fuller_bins[] = "a larger bin fill, a smaller bin depth, or a smaller grid";
static const double neighbourhood_bins =
    16; /* along an axis, when the side is ours to choose: 4,000 in a ball are a table that fits */

void binning_options_default(binning_options *options)
{
    *options = (binning_options){.depth = 8, .fill = 0.75, .region = {8, 8, 8}, .charge_scale = 1};
}

/* ---- Images ---------------------------------------------------------------------------------- */

static void cross(const double a[3], const double b[3], double product[3])
{
    for (int i = 0; i < 3; i++)
        product[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Vectors that are not periodic are replaced: only a direction is needed in which there are no
 * images. */
static void complete_basis(binning_images *im)
{
    const int count = im->periodic[0] + im->periodic[1] + im->periodic[2];
    int free = 0;
    while (im->periodic[free])
        free++;
    if (count == 1) { /* the axis farthest from the periodic vector, and what is normal to both */
        const int other = im->periodic[(free + 1) % 3] ? (free + 2) % 3 : (free + 1) % 3;
        const double *v = im->v_A[3 - free - other], x = fabs(v[0]), y = fabs(v[1]), z = fabs(v[2]);
        const int axis = x <= y && x <= z ? 0 : y <= z ? 1 : 2;
        memcpy(im->v_A[other], (double[3]){axis == 0, axis == 1, axis == 2}, sizeof im->v_A[other]);
    }
    double normal[3];
    cross(im->v_A[(free + 1) % 3], im->v_A[(free + 2) % 3], normal);
    const double length = sqrt(dot(normal, normal));
    for (int i = 0; i < 3; i++)
        im->v_A[free][i] = normal[i] / length;
}

ley_status binning_find_images(const binning_plan *plan, size_t atoms, binning_images *im, ley_error *error)
{
    const binning_options *o = &plan->options;
    double lengths = 1, normal[3];
    *im = (binning_images){.any = o->periodic[0] || o->periodic[1] || o->periodic[2], .each = 1, .mean = 1};
    if (!im->any)
        return LEY_OK;
    for (int i = 0; i < 3; i++) {
        im->periodic[i] = o->periodic[i];
        const double length_A = sqrt(dot(o->cell_A[i], o->cell_A[i]));
        if (o->periodic[i] && !(length_A >= 0.1 && length_A <= longest_A))
            return ley_fail(error, LEY_ERROR_INPUT, "cell: vector %c is %g A long, must be 0.1 to 1e8", 'a' + i,
                            length_A);
        memcpy(im->v_A[i], o->cell_A[i], sizeof im->v_A[i]);
        lengths *= o->periodic[i] ? length_A : 1;
    }
    if (!(im->periodic[0] && im->periodic[1] && im->periodic[2]))
        complete_basis(im);
    cross(im->v_A[1], im->v_A[2], normal);
    const double volume = dot(im->v_A[0], normal);
    if (!(fabs(volume) >= 1e-3 * lengths)) /* also two parallel vectors, whose normal is no number */
        return ley_fail(error, LEY_ERROR_INPUT, "cell: its vectors lie in a plane, or two of them on a line");
    im->mean /= fabs(volume);
    for (int i = 0; i < 3; i++) {
        im->mean *= plan->high_A[i] - plan->low_A[i] + 2 * plan->reach_A;
        cross(im->v_A[(i + 1) % 3], im->v_A[(i + 2) % 3], im->dual[i]);
        for (int axis = 0; axis < 3; axis++) {
            im->dual[i][axis] /= volume;
            const double at_low = (plan->low_A[axis] - plan->reach_A) * im->dual[i][axis],
                         at_high = (plan->high_A[axis] + plan->reach_A) * im->dual[i][axis];
            im->low[i] += fmin(at_low, at_high);
            im->high[i] += fmax(at_low, at_high);
        }
        im->each *= im->periodic[i] ? im->high[i] - im->low[i] + 1 : 1;
        im->mean /= im->periodic[i] ? 1 : im->high[i] - im->low[i];
    }
    if (!(im->each * (double)atoms < 4e9))
        return ley_fail(error, LEY_ERROR_INPUT, "cell: so small that %zu atoms have about %.3g images in reach", atoms,
                        im->each * (double)atoms);
    return LEY_OK;
}

/* ---- Plan ------------------------------------------------------------------------------------ */

static ley_status check_options(const binning_options *o, ley_error *error)
{
    const bool sides = o->side_A[0] != 0 || o->side_A[1] != 0 || o->side_A[2] != 0;
    if (!(o->cutoff_A > 0 && o->cutoff_A <= longest_A))
        return ley_fail(error, LEY_ERROR_USAGE, "bins: cutoff %g A, must be above 0 and at most 1e8", o->cutoff_A);
    if (o->depth < 1 || o->depth > BINNING_MOST_DEPTH)
        return ley_fail(error, LEY_ERROR_USAGE, "bins: depth %d, must be 1 to %d", o->depth, BINNING_MOST_DEPTH);
    if (!(o->fill >= 1e-3 && o->fill <= 1e3))
        return ley_fail(error, LEY_ERROR_USAGE, "bins: fill %g, must be 0.001 to 1000", o->fill);
    if (!(o->density_per_A3 >= 0 && o->density_per_A3 <= 1e9))
        return ley_fail(error, LEY_ERROR_USAGE, "bins: density %g per A^3, must be 0 to 1e9", o->density_per_A3);
    if (!isfinite(o->charge_scale))
        return ley_fail(error, LEY_ERROR_USAGE, "bins: charges scaled by %g", o->charge_scale);
    if (o->spare_bins < 0 || o->spare_bins > 1 << 20)
        return ley_fail(error, LEY_ERROR_USAGE, "bins: %lld spare bins, must be 0 to 2^20", (long long)o->spare_bins);
    for (int axis = 0; axis < 3; axis++) {
        if (o->region[axis] < 1 || o->region[axis] > LEY_MAX_EXTENT)
            return ley_fail(error, LEY_ERROR_USAGE, "bins: regions of %lld points along %c, must be 1 to %d",
                            (long long)o->region[axis], 'x' + axis, LEY_MAX_EXTENT);
        if (sides && !(o->side_A[axis] >= 1e-6 && o->side_A[axis] <= 1e9))
            return ley_fail(error, LEY_ERROR_USAGE, "bins: side %g A along %c, must be 1e-6 to 1e9", o->side_A[axis],
                            'x' + axis);
    }
    return LEY_OK;
}

/* The boxes around the grid and around a region. */
static void find_boxes(binning_plan *plan)
{
    const int64_t *n = plan->grid.n, *region = plan->options.region;
    int64_t points[3];
    for (int axis = 0; axis < 3; axis++)
        points[axis] = region[axis] < n[axis] ? region[axis] : n[axis];
    grid_frame_bounds_A(&plan->grid, n, plan->low_A, plan->high_A);
    grid_frame_bounds_A(&plan->grid, points, plan->region_low_A, plan->region_high_A);
}

/* The grid of bins of these sides; false when there are more than 2^31 - 1. */
static bool lay_out(binning_plan *plan, const double side_A[3])
{
    const int64_t spare = plan->options.spare_bins;
    int64_t bins = 1, last[3];
    double first_A[3], last_A[3]; /* of all regions' first points */
    for (int axis = 0; axis < 3; axis++) {
        const int64_t region = plan->options.region[axis];
        last[axis] = (plan->grid.n[axis] - 1) / region * region + 1;
    }
    grid_frame_bounds_A(&plan->grid, last, first_A, last_A);
    for (int axis = 0; axis < 3; axis++) {
        const double side = side_A[axis], across = (plan->reach_A + plan->region_high_A[axis]) / side,
                     before = (plan->reach_A - plan->region_low_A[axis]) / side;
        if (!(before + across + (last_A[axis] - first_A[axis]) / side < INT32_MAX))
            return false;
        /* Home may begin right below the region's first point, or nearly a whole side below. */
        plan->side_A[axis] = side;
        plan->below[axis] = (int64_t)ceil(before);
        plan->above[axis] = (int64_t)floor(across) + 1;
        plan->origin_bin[axis] = spare + plan->below[axis] - (int64_t)floor(first_A[axis] / side);
        plan->n[axis] = plan->origin_bin[axis] + (int64_t)floor(last_A[axis] / side) + plan->above[axis] + 1 + spare;
        if (!ley_multiply(bins, plan->n[axis], &bins) || bins > INT32_MAX)
            return false;
    }
    plan->bins = bins;
    plan->layers = plan->n[2];
    return ley_multiply(bins * plan->options.depth, 4 * (int64_t)sizeof(float), &plan->slot_bytes);
}

/* Where the regions that begin at a plane have their home, in bins from the origin: as kernels look
 * for it. */
static int64_t home_of_plane(const binning_plan *plan, int64_t plane)
{
    return (int64_t)floor((double)plane * plan->grid.step_A[2][2] / plan->side_A[2]);
}

/* Of the bins that are laid out those that some of the planes need. */
static void keep_planes(binning_plan *plan)
{
    const int64_t region = plan->options.region[2], *planes = plan->options.planes;
    const int64_t low = plan->origin_bin[2] + home_of_plane(plan, planes[0]) - plan->below[2],
                  high = plan->origin_bin[2] + home_of_plane(plan, (planes[1] - 1) / region * region) + plan->above[2];
    const int64_t first = low > 0 ? low : 0, last = high < plan->layers - 1 ? high : plan->layers - 1;
    plan->first_layer = first;
    plan->origin_bin[2] -= first;
    plan->slot_bytes = plan->slot_bytes / plan->n[2] * (last - first + 1);
    plan->n[2] = last - first + 1;
    plan->bins = plan->n[0] * plan->n[1] * plan->n[2];
}

double binning_reach_of_planes(const binning_plan *plan)
{
    const double hair = 1e-6, side_A = plan->side_A[2], region_A = plan->region_high_A[2];
    return fmax((double)(plan->below[2] + 1) * side_A, (double)(plan->above[2] + 1) * side_A - region_A) * (1 + hair);
}

enum {
    DENSITY_CELLS = 16, /* along an axis */
    ALL_DENSITY_CELLS = DENSITY_CELLS * DENSITY_CELLS * DENSITY_CELLS
};

/* One atom in so many, counted by cells of equal size. */
typedef struct density_sample {
    atoms_sample atoms;
    double low_A[3], span_A[3], across; /* cells along each axis */
    atomic_uint counted, cells[ALL_DENSITY_CELLS];
} density_sample;

static void count_sample(void *context, size_t first, size_t last)
{
    density_sample *s = context;
    uint32_t counted = 0;
    for (size_t i = first; i < last; i++) {
        size_t cell = 0;
        bool inside = true;
        for (int axis = 2; axis >= 0; axis--) {
            const double x_A = s->atoms.position_A[3 * i * s->atoms.step + (size_t)axis] - s->low_A[axis],
                         span_A = s->span_A[axis];
            inside = inside && x_A >= 0 && x_A <= span_A;
            cell = cell * DENSITY_CELLS + (inside ? (size_t)fmin(x_A / fmax(span_A, 3) * s->across, s->across - 1) : 0);
        }
        if (inside) {
            atomic_fetch_add_explicit(&s->cells[cell], 1, memory_order_relaxed);
            counted++;
        }
    }
    atomic_fetch_add_explicit(&s->counted, counted, memory_order_relaxed);
}

static int by_size(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* What the median one of the atoms that were counted has in its cell, itself included. */
static uint32_t median_count(density_sample *s)
{
    uint32_t count[ALL_DENSITY_CELLS];
    const double counted = atomic_load(&s->counted);
    double seen = 0;
    size_t i = 0;
    for (size_t k = 0; k < ALL_DENSITY_CELLS; k++)
        count[k] = atomic_load_explicit(&s->cells[k], memory_order_relaxed);
    qsort(count, ALL_DENSITY_CELLS, sizeof *count, by_size);
    while (i < ALL_DENSITY_CELLS - 1 && (seen += count[i]) < counted / 2)
        i++;
    return count[i];
}

/* A sample of the atoms in reach: how many they are, and the density that the median one of them
 * sees around it, which neither empty space nor a few clusters change. */
static double sample_density(const binning_plan *plan, const ley_atoms *atoms, bool periodic, double *in_reach)
{
    density_sample s = {.atoms = ley_atoms_sample(atoms)};
    const size_t stride = s.atoms.stride;
    double low_A[3], high_A[3], cell_A3 = 1;
    s.across = fmin(DENSITY_CELLS, fmax(1, floor(cbrt((double)(ley_atoms_whole_count(atoms) / stride) / 16))));
    ley_atoms_bounds_A(atoms, low_A, high_A);
    for (int axis = 0; axis < 3; axis++) {
        const double origin_A = plan->grid.origin_A[axis];
        if (!periodic) {
            low_A[axis] = fmax(low_A[axis], origin_A + plan->low_A[axis] - plan->reach_A);
            high_A[axis] = fmin(high_A[axis], origin_A + plan->high_A[axis] + plan->reach_A);
        }
        s.low_A[axis] = low_A[axis];
        s.span_A[axis] = high_A[axis] - low_A[axis];
        cell_A3 *= fmax(s.span_A[axis], 3) / s.across; /* flat molecules are as thick as an atom */
    }
    parallel_ranges(s.atoms.count, count_sample, &s);
    const uint32_t median = median_count(&s);
    *in_reach = (double)atomic_load(&s.counted) * (double)stride;
    return median > 1 ? (double)(median - 1) * (double)stride / cell_A3 : 0;
}

/* Atoms that have left their cell, as those of trajectories do, are denser than they look: with
 * their images they are as many per volume as the cell has. */
static double images_density(double sampled, const ley_atoms *atoms, const binning_images *im)
{
    double normal[3];
    if (!im->periodic[0] || !im->periodic[1] || !im->periodic[2])
        return sampled;
    cross(im->v_A[1], im->v_A[2], normal);
    const double mean = (double)ley_atoms_whole_count(atoms) / fabs(dot(im->v_A[0], normal));
    return mean > 1.5 * sampled ? mean : sampled;
}

/* The side for the wished fill, within bounds. */
static ley_status choose_side(binning_plan *plan, const ley_atoms *atoms, const binning_images *im, ley_error *error)
{
    double in_reach, extent_A = 0, entries;
    const double sampled = images_density(sample_density(plan, atoms, im->any, &in_reach), atoms, im);
    plan->density_per_A3 = plan->options.density_per_A3 > 0 ? plan->options.density_per_A3 : sampled;
    entries = im->any ? (double)ley_atoms_whole_count(atoms) * fmax(1, im->each) : in_reach;
    if (!im->any)
        plan->entries = in_reach;
    for (int axis = 0; axis < 3; axis++)
        extent_A = fmax(extent_A, plan->region_high_A[axis] - plan->region_low_A[axis]);
    const double neighbourhood_A = 2 * plan->reach_A + extent_A;
    double side_A = plan->density_per_A3 > 0 ? cbrt(plan->options.fill * plan->options.depth / plan->density_per_A3)
                                             : neighbourhood_A;
    side_A = fmax(fmin(side_A, neighbourhood_A), neighbourhood_A / neighbourhood_bins);
    for (; side_A < 1e10; side_A *= 1.02) { /* few atoms in a large grid: no grid of empty bins for them */
        const double taken_A = plan->options.even_sides ? ceil(side_A * 64) / 64 : side_A;
        if (lay_out(plan, (double[3]){taken_A, taken_A, taken_A}) && (double)plan->bins <= 4 * entries + 4096)
            return LEY_OK;
    }
    return ley_fail(error, LEY_ERROR_INPUT, "bins: %lld spare bins on each side are too many",
                    (long long)plan->options.spare_bins);
}

ley_status binning_prepare(const ley_atoms *atoms, const ley_grid *grid, const binning_options *options,
                           binning_plan *plan, ley_error *error)
{
    binning_images im;
    binning_plan p = {.grid = *grid, .options = *options, .reach_A = options->cutoff_A * (1 + 1e-5)};
    ley_status status = ley_grid_check(grid, error);
    if (status == LEY_OK)
        status = check_options(options, error);
    if (status == LEY_OK) {
        find_boxes(&p);
        status = binning_find_images(&p, ley_atoms_whole_count(atoms), &im, error);
    }
    if (status == LEY_OK)
        p.entries = (double)ley_atoms_whole_count(atoms) * (im.any ? fmin(im.mean, im.each) : 1);
    if (status == LEY_OK && options->side_A[0] == 0)
        status = choose_side(&p, atoms, &im, error);
    else if (status == LEY_OK && !lay_out(&p, options->side_A))
        status = ley_fail(error, LEY_ERROR_INPUT, "bins: of %g x %g x %g A there are more than 2^31 - 1",
                          options->side_A[0], options->side_A[1], options->side_A[2]);
    if (status == LEY_OK && options->planes[1] > 0) {
        keep_planes(&p);
        p.entries *= (double)ley_atoms_count(atoms) / (double)ley_atoms_whole_count(atoms);
    }
    if (status == LEY_OK)
        *plan = p;
    return status;
}

void binning_first_point_A(const binning_plan *plan, const int64_t region[3], double point_A[3])
{
    for (int axis = 0; axis < 3; axis++) {
        point_A[axis] = 0;
        for (int m = 0; m < 3; m++)
            point_A[axis] += (double)(region[m] * plan->options.region[m]) * plan->grid.step_A[m][axis];
    }
}

/* ---- Filling --------------------------------------------------------------------------------- */

/* Bins are filled in two steps, for writing each atom straight to its bin would touch all of the
 * memory at random. Chunks of atoms are sorted by groups of neighbouring bins, a chunk within a
 * core's own cache; then each group collects its atoms from all chunks, in their order. */
enum { CHUNK = 8192, GROUP_BITS = 11, LEAST_GROUP_BITS = 6, MOST_GROUPS = 2048, AHEAD = 4, SOON = 96, BLOCK = 1 << 18 };

typedef struct record {
    float slot[4];
    int32_t bin, index;
} record;

/* Positions from the grid's origin: where they are in reach, and their bin, position *
 * bins_per_A + zero. */
typedef struct bin_axis {
    double low_A, high_A, bins_per_A, side_A, zero;
    int32_t last;
    int32_t first, count; /* those that are kept */
} bin_axis;

typedef struct fill_job {
    const binning_plan *plan;
    const double *position_A, *charge_e;
    binning_images images;
    bin_axis axes[3];
    size_t atoms, chunk, chunks, groups;
    int group_bits;
    const atomic_bool *cancelled;
    record *records;
    size_t *base;              /* [chunks + 1]: a chunk's first record */
    uint32_t *first;           /* [chunks][groups + 1]: where a group's records start, from base */
    uint32_t *kept;            /* [chunks][groups]: of these, how many overflow; they come to stand first */
    size_t *outside, *neutral; /* [chunks] */
    int32_t *total;            /* [bins]: atoms; later where the bin's next overflow goes */
    int64_t *overflow;         /* [groups + 1]: first of a group */
    binned_atoms *result;
} fill_job;

/* How chunks of atoms are sorted by groups of bins. */
typedef struct fill_shape {
    size_t chunk, chunks, groups;
    int group_bits;
} fill_shape;

static fill_shape shape_of(const binning_plan *plan, const binning_images *im, size_t atoms)
{
    fill_shape s = {.group_bits = GROUP_BITS};
    while (s.group_bits > LEAST_GROUP_BITS &&
           plan->bins >> s.group_bits < 8 * parallel_cores()) /* a share for every core */
        s.group_bits--;
    while ((plan->bins - 1) >> s.group_bits >= MOST_GROUPS)
        s.group_bits++;
    s.groups = (size_t)((plan->bins - 1) >> s.group_bits) + 1;
    s.chunk = (size_t)fmax(1, floor(CHUNK / im->each));
    s.chunks = (atoms + s.chunk - 1) / s.chunk;
    return s;
}

/* Of so many atoms and images. */
static binning_bytes bytes_of(const binning_plan *plan, const fill_shape *shape, double entries)
{
    const double depth = plan->options.depth, bins = (double)plan->bins, excess = fmax(entries - bins * depth, 0);
    return (binning_bytes){
        .entries = entries,
        .sorting = entries * sizeof(record) +
                   2 * sizeof(uint32_t) * (double)shape->chunks * (double)(shape->groups + 1) + bins * sizeof(int32_t),
        .bins = (double)plan->slot_bytes + bins * (1 + (plan->options.with_index ? depth * sizeof(int32_t) : 0)),
        .overflow = excess * (4 * sizeof(float) + 2 * sizeof(int32_t)),
        .extra = excess * 4 * sizeof(float) + (excess > 0 ? bins * sizeof(int32_t) : 0),
    };
}

binning_bytes binning_predict(const binning_plan *plan, const ley_atoms *atoms)
{
    binning_images im;
    if (binning_find_images(plan, ley_atoms_count(atoms), &im, NULL) != LEY_OK)
        return (binning_bytes){.entries = 0};
    const fill_shape shape = shape_of(plan, &im, ley_atoms_count(atoms));
    return bytes_of(plan, &shape, plan->entries);
}

static inline bool is_cancelled(const fill_job *j)
{
    return cancel_is_asked(j->cancelled);
}

/* Before anything is allocated, and again when images have been counted. */
static ley_status check_memory(const fill_job *j, double entries, ley_error *error)
{
    const fill_shape shape = {j->chunk, j->chunks, j->groups, j->group_bits};
    const binning_bytes b = bytes_of(j->plan, &shape, entries);
    const memory_need needs[] = {
        {j->images.any ? "atoms and their images" : "atoms", b.sorting, j->images.any ? fewer_images : fewer_atoms},
        {"bins", j->result->owns_slots ? b.bins : 0, fuller_bins},
        {"what overflows the bins", b.overflow, j->images.any ? fewer_images : fuller_bins},
    };
    return memory_check(needs, sizeof needs / sizeof *needs, error);
}

static inline int32_t along(const bin_axis *a, double d_A)
{
    const int32_t bin = (int32_t)(d_A * a->bins_per_A + a->zero);
    return bin > a->last ? a->last : bin; /* by rounding */
}

/* The bin of a position from the grid's origin, or -1 when it is out of reach, or in no bin that is
 * kept. */
static inline int32_t bin_of(const bin_axis a[3], const double d_A[3])
{
    if (!((d_A[0] >= a[0].low_A) & (d_A[0] <= a[0].high_A) & (d_A[1] >= a[1].low_A) & (d_A[1] <= a[1].high_A) &
          (d_A[2] >= a[2].low_A) & (d_A[2] <= a[2].high_A)))
        return -1;
    const int32_t layer = along(&a[2], d_A[2]) - a[2].first;
    if (layer < 0 || layer >= a[2].count)
        return -1;
    return (layer * (a[1].last + 1) + along(&a[1], d_A[1])) * (a[0].last + 1) + along(&a[0], d_A[0]);
}

/* The slot of an atom with this position from the grid's origin. */
static inline void place(const bin_axis a[3], const double d_A[3], float charge, float slot[4])
{
    for (int axis = 0; axis < 3; axis++)
        slot[axis] = (float)(d_A[axis] - ((double)along(&a[axis], d_A[axis]) - a[axis].zero) * a[axis].side_A);
    slot[3] = charge;
}

static inline bool is_skipped(const fill_job *j, float charge)
{
    return charge == 0 && !j->plan->options.keep_neutral;
}

/* Counts become places; returns their sum. */
static uint32_t sum_up(uint32_t *cursor, size_t groups)
{
    uint32_t sum = 0;
    for (size_t g = 0; g < groups; g++) {
        const uint32_t count = cursor[g];
        cursor[g] = sum;
        sum += count;
    }
    return sum;
}

/* A chunk without images. `cursor` points to the second number of the chunk's row: when a group's
 * place has moved past its records, the number stands for where the next group starts. */
static void sort_chunk(const fill_job *j, size_t c)
{
    int32_t bins[CHUNK];
    const bin_axis axes[3] = {j->axes[0], j->axes[1],
                              j->axes[2]}; /* nothing that is written to can change these: they stay in registers */
    const int bits = j->group_bits;
    uint32_t *cursor = j->first + c * (j->groups + 1) + 1;
    const size_t first = c * j->chunk, n = j->atoms - first < j->chunk ? j->atoms - first : j->chunk;
    const double *position_A = j->position_A + 3 * first, *charge_e = j->charge_e + first,
                 scale = j->plan->options.charge_scale;
    const double x_A = j->plan->grid.origin_A[0], y_A = j->plan->grid.origin_A[1], z_A = j->plan->grid.origin_A[2];
    for (size_t i = 0; i < n; i++) {
        if (i + SOON < n) {
            __builtin_prefetch(position_A + 3 * (i + SOON));
            __builtin_prefetch(charge_e + i + SOON);
        }
        const double d_A[3] = {position_A[3 * i] - x_A, position_A[3 * i + 1] - y_A, position_A[3 * i + 2] - z_A};
        bins[i] = bin_of(axes, d_A);
        if (bins[i] < 0)
            j->outside[c]++;
        else if (is_skipped(j, (float)(scale * charge_e[i]))) {
            j->neutral[c]++;
            bins[i] = -1;
        } else
            cursor[bins[i] >> bits]++;
    }
    sum_up(cursor, j->groups);
    record *records = j->records + j->base[c];
    for (size_t i = 0; i < n; i++)
        if (bins[i] >= 0) {
            const double d_A[3] = {position_A[3 * i] - x_A, position_A[3 * i + 1] - y_A, position_A[3 * i + 2] - z_A};
            record *r = &records[cursor[bins[i] >> bits]++];
            place(axes, d_A, (float)(scale * charge_e[i]), r->slot);
            r->bin = bins[i];
            r->index = (int32_t)(first + i);
        }
}

/* ceil and floor of what is below 1e10, without a call, and a hair beyond: the test of reach has
 * the last word. */
static inline int64_t round_up(double x)
{
    const int64_t whole = (int64_t)(x - 1e-5);
    return whole + ((double)whole < x - 1e-5);
}

static inline int64_t round_down(double x)
{
    const int64_t whole = (int64_t)(x + 1e-5);
    return whole - ((double)whole > x + 1e-5);
}

/* Limits from and to, further, to whole numbers n for which `at` + n `step` lies in reach. */
static inline void clip(const bin_axis *a, double at, double step, int64_t *from, int64_t *to)
{
    if (fabs(step) < 1e-3) /* bounds would be no numbers, or too large */
        return;
    const double x = (a->low_A - at) / step, y = (a->high_A - at) / step;
    const int64_t low = round_up(x < y ? x : y), high = round_down(x < y ? y : x);
    *from = low > *from ? low : *from;
    *to = high < *to ? high : *to;
}

/* All images of an atom in reach: counts them by group, or writes them when there are `records`.
 * Along the first vector only those between the walls are visited, so that a skewed cell does not
 * cost more than its rows. */
static size_t visit_images(const fill_job *j, size_t i, float charge, uint32_t *cursor, record *records)
{
    const binning_images *im = &j->images;
    const double(*v_A)[3] = im->v_A;
    double d_A[3];
    int64_t from[3] = {0}, to[3] = {0};
    size_t found = 0;
    for (int k = 0; k < 3; k++)
        d_A[k] = j->position_A[3 * i + (size_t)k] - j->plan->grid.origin_A[k];
    for (int v = 0; v < 3; v++)
        if (im->periodic[v]) {
            const double at = dot(im->dual[v], d_A);
            from[v] = round_up(im->low[v] - at);
            to[v] = round_down(im->high[v] - at);
        }
    for (int64_t n2 = from[2]; n2 <= to[2]; n2++)
        for (int64_t n1 = from[1]; n1 <= to[1] && !is_cancelled(j); n1++) {
            double row_A[3];
            int64_t low = from[0], high = to[0];
            for (int k = 0; k < 3; k++) {
                row_A[k] = d_A[k] + (double)n2 * v_A[2][k] + (double)n1 * v_A[1][k];
                if (high > low) /* else the test is as cheap */
                    clip(&j->axes[k], row_A[k], v_A[0][k], &low, &high);
            }
            for (int64_t n0 = low; n0 <= high && (n0 % BLOCK != 0 || !is_cancelled(j)); n0++) {
                const double at_A[3] = {row_A[0] + (double)n0 * v_A[0][0], row_A[1] + (double)n0 * v_A[0][1],
                                        row_A[2] + (double)n0 * v_A[0][2]};
                const int32_t bin = bin_of(j->axes, at_A);
                if (bin < 0)
                    continue;
                found++;
                if (records != NULL) {
                    record *r = &records[cursor[bin >> j->group_bits]];
                    place(j->axes, at_A, charge, r->slot);
                    r->bin = bin;
                    r->index = (int32_t)i;
                }
                cursor[bin >> j->group_bits]++;
            }
        }
    return found;
}

/* Chunks with images: once to count, and once to write when there are records. */
static void visit_chunks(void *context, size_t first, size_t last)
{
    const fill_job *j = context;
    for (size_t c = first; c < last && !is_cancelled(j); c++) {
        uint32_t *cursor = j->first + c * (j->groups + 1) + 1;
        record *records = j->records != NULL ? j->records + j->base[c] : NULL;
        const size_t begin = c * j->chunk, end = j->atoms - begin < j->chunk ? j->atoms : begin + j->chunk;
        j->outside[c] = j->neutral[c] = 0;
        for (size_t i = begin; i < end; i++) {
            const float charge = (float)(j->plan->options.charge_scale * j->charge_e[i]);
            if (is_skipped(j, charge))
                j->neutral[c]++;
            else if (visit_images(j, i, charge, cursor, records) == 0)
                j->outside[c]++;
        }
        if (records == NULL)
            j->base[c + 1] = sum_up(cursor, j->groups);
    }
}

static void sort_chunks(void *context, size_t first, size_t last)
{
    const fill_job *j = context;
    for (size_t c = first; c < last && !is_cancelled(j); c++)
        sort_chunk(j, c);
}

static void set_far(float (*slot)[4], int64_t slots)
{
    const float far[4] = {BINNING_FAR_A, BINNING_FAR_A, BINNING_FAR_A, 0};
    for (int64_t s = 0; s < slots; s++)
        memcpy(slot[s], far, sizeof far);
}

/* A chunk's records in a group. */
static inline record *records_of(const fill_job *j, size_t c, size_t g, size_t *n)
{
    const uint32_t *row = j->first + c * (j->groups + 1) + g;
    *n = row[1] - row[0];
    return j->records + j->base[c] + row[0];
}

/* The bins of a group. */
static void fill_group(const fill_job *j, size_t g)
{
    binned_atoms *b = j->result;
    const int32_t depth = b->depth;
    int32_t *const total = j->total, *const index = b->index;
    float(*const slot)[4] = b->slot;
    const int64_t low = (int64_t)g << j->group_bits, next = (int64_t)(g + 1) << j->group_bits,
                  high = next < b->bins ? next : b->bins;
    set_far(slot + low * depth, (high - low) * depth);
    if (index != NULL)
        memset(index + low * depth, 0xff, (size_t)((high - low) * depth) * sizeof *index);
    memset(total + low, 0, (size_t)(high - low) * sizeof *total);
    for (size_t c = 0; c < j->chunks && (c % 1024 != 0 || !is_cancelled(j)); c++) {
        size_t n;
        record *records = records_of(j, c, g, &n);
        uint32_t kept = 0;
        if (c + AHEAD < j->chunks) { /* pieces are too short for the processor to see them coming */
            size_t later_n;
            const record *later = records_of(j, c + AHEAD, g, &later_n);
            for (size_t byte = 0; byte < later_n * sizeof *later; byte += 64)
                __builtin_prefetch((const char *)later + byte, 1);
        }
        for (size_t i = 0; i < n; i++) {
            const int32_t bin = records[i].bin, rank = total[bin]++;
            if (rank >= depth) {
                records[kept++] = records[i];
                continue;
            }
            const int64_t s = (int64_t)bin * depth + rank;
            memcpy(slot[s], records[i].slot, sizeof slot[s]);
            if (index != NULL)
                index[s] = records[i].index;
        }
        j->kept[c * j->groups + g] = kept;
        j->overflow[g + 1] += kept;
    }
    for (int64_t bin = low; bin < high; bin++)
        b->used[bin] = (uint8_t)(total[bin] < depth ? total[bin] : depth);
}

static void fill_groups(void *context, size_t first, size_t last)
{
    const fill_job *j = context;
    for (size_t g = first; g < last && !is_cancelled(j); g++)
        fill_group(j, g);
}

/* The overflow of a group's bins, one bin after the other. */
static void list_overflow(void *context, size_t first, size_t last)
{
    const fill_job *j = context;
    binned_atoms *b = j->result;
    for (size_t g = first; g < last && !is_cancelled(j); g++) {
        const int64_t low = (int64_t)g << j->group_bits, next = (int64_t)(g + 1) << j->group_bits;
        int32_t at = (int32_t)j->overflow[g];
        for (int64_t bin = low; bin < next && bin < b->bins && j->overflow[g + 1] > j->overflow[g]; bin++) {
            const int32_t excess = j->total[bin] - b->used[bin];
            j->total[bin] = at;
            at += excess;
        }
        for (size_t c = 0; c < j->chunks && (c % 1024 != 0 || !is_cancelled(j)); c++)
            for (uint32_t i = 0; i < j->kept[c * j->groups + g]; i++) {
                size_t n;
                const record *r = records_of(j, c, g, &n) + i;
                const int32_t place = j->total[r->bin]++;
                memcpy(b->overflow_slot[place], r->slot, sizeof r->slot);
                b->overflow_bin[place] = r->bin;
                b->overflow_index[place] = r->index;
            }
    }
}

static ley_status set_fill(fill_job *j, const binning_plan *plan, const ley_atoms *atoms, binned_atoms *result,
                           ley_error *error)
{
    *j = (fill_job){.plan = plan,
                    .position_A = ley_atoms_positions_A(atoms),
                    .charge_e = ley_atoms_charges_e(atoms),
                    .atoms = ley_atoms_count(atoms),
                    .cancelled = plan->options.cancelled,
                    .result = result};
    ley_status status = binning_find_images(plan, j->atoms, &j->images, error);
    if (status != LEY_OK)
        return status;
    for (int k = 0; k < 3; k++)
        j->axes[k] = (bin_axis){.low_A = plan->low_A[k] - plan->reach_A,
                                .high_A = plan->high_A[k] + plan->reach_A,
                                .bins_per_A = 1 / plan->side_A[k],
                                .side_A = plan->side_A[k],
                                .zero = (double)plan->origin_bin[k],
                                .last = (int32_t)plan->n[k] - 1};
    j->axes[2].zero += (double)plan->first_layer;
    j->axes[2].last = (int32_t)plan->layers - 1;
    j->axes[2].first = (int32_t)plan->first_layer;
    j->axes[2].count = (int32_t)plan->n[2];
    const fill_shape shape = shape_of(plan, &j->images, j->atoms);
    j->chunk = shape.chunk;
    j->chunks = shape.chunks;
    j->groups = shape.groups;
    j->group_bits = shape.group_bits;
    status = check_memory(j, plan->entries, error);
    if (status != LEY_OK)
        return status;
    j->base = calloc(j->chunks + 1, sizeof *j->base);
    j->first = calloc(j->chunks * (j->groups + 1), sizeof *j->first);
    j->kept = malloc(j->chunks * j->groups * sizeof *j->kept);
    j->outside = calloc(j->chunks, sizeof *j->outside);
    j->neutral = calloc(j->chunks, sizeof *j->neutral);
    j->total = malloc((size_t)plan->bins * sizeof *j->total);
    j->overflow = calloc(j->groups + 1, sizeof *j->overflow);
    if (j->base == NULL || j->first == NULL || j->kept == NULL || j->outside == NULL || j->neutral == NULL ||
        j->total == NULL || j->overflow == NULL)
        return ley_fail_memory(error,
                               2 * j->chunks * j->groups * sizeof *j->first + (size_t)plan->bins * sizeof *j->total,
                               "sorting atoms");
    return LEY_OK;
}

static ley_status sort(fill_job *j, ley_error *error)
{
    size_t records = j->atoms;
    if (j->images.any)
        parallel_ranges(j->chunks, visit_chunks, j);
    for (size_t c = 0; c < j->chunks; c++)
        j->base[c + 1] = j->images.any ? j->base[c] + j->base[c + 1] : (c + 1) * j->chunk;
    if (j->images.any)
        records = j->base[j->chunks];
    if (is_cancelled(j))
        return ley_fail(error, LEY_CANCELLED, "cancelled");
    if (records > INT32_MAX)
        return ley_fail(error, LEY_ERROR_INPUT, "cell: %zu images are more than %d", records, INT32_MAX);
    ley_status status = j->images.any ? check_memory(j, (double)records, error) : LEY_OK;
    if (status != LEY_OK)
        return status;
    if ((j->records = memory_in_large_pages((int64_t)(records * sizeof *j->records))) == NULL)
        return ley_fail_memory(error, records * sizeof *j->records, "sorting atoms");
    parallel_ranges(j->chunks, j->images.any ? visit_chunks : sort_chunks, j);
    if (is_cancelled(j))
        return ley_fail(error, LEY_CANCELLED, "cancelled");
    for (size_t c = 0; c < j->chunks; c++) {
        j->result->binned += j->first[c * (j->groups + 1) + j->groups];
        j->result->outside += (int64_t)j->outside[c];
        j->result->neutral += (int64_t)j->neutral[c];
    }
    return LEY_OK;
}

static ley_status fill(fill_job *j, ley_error *error)
{
    binned_atoms *b = j->result;
    const int64_t index_bytes = b->bins * b->depth * (int64_t)sizeof *b->index;
    b->used = malloc((size_t)b->bins);
    if (b->owns_slots)
        b->slot = memory_in_large_pages(j->plan->slot_bytes);
    if (j->plan->options.with_index)
        b->index = memory_in_large_pages(index_bytes);
    if (b->used == NULL || b->slot == NULL || (j->plan->options.with_index && b->index == NULL))
        return ley_fail_memory(error, (size_t)(j->plan->slot_bytes + index_bytes), "bins of atoms");
    parallel_ranges(j->groups, fill_groups, j);
    if (is_cancelled(j))
        return ley_fail(error, LEY_CANCELLED, "cancelled");
    for (size_t g = 0; g < j->groups; g++)
        j->overflow[g + 1] += j->overflow[g];
    b->overflow = j->overflow[j->groups];
    if (b->overflow == 0)
        return LEY_OK;
    ley_status status = memory_check_one("what overflows the bins", (double)b->overflow * sizeof(record),
                                         j->images.any ? fewer_images : fuller_bins, error);
    if (status != LEY_OK)
        return status;
    b->overflow_slot = memory_in_large_pages(b->overflow * (int64_t)sizeof *b->overflow_slot);
    b->overflow_bin = memory_in_large_pages(b->overflow * (int64_t)sizeof *b->overflow_bin);
    b->overflow_index = memory_in_large_pages(b->overflow * (int64_t)sizeof *b->overflow_index);
    if (b->overflow_slot == NULL || b->overflow_bin == NULL || b->overflow_index == NULL)
        return ley_fail_memory(error, (size_t)b->overflow * sizeof(record), "atoms beyond full bins");
    parallel_ranges(j->groups, list_overflow, j);
    return is_cancelled(j) ? ley_fail(error, LEY_CANCELLED, "cancelled") : LEY_OK;
}

ley_status binning_fill(const binning_plan *plan, const ley_atoms *atoms, void *slots, binned_atoms **binned,
                        ley_error *error)
{
    fill_job j;
    binned_atoms *result = calloc(1, sizeof *result);
    if (result == NULL)
        return ley_fail_memory(error, sizeof *result, "bins of atoms");
    *result =
        (binned_atoms){.bins = plan->bins, .depth = plan->options.depth, .slot = slots, .owns_slots = slots == NULL};
    ley_status status = set_fill(&j, plan, atoms, result, error);
    if (status == LEY_OK)
        status = sort(&j, error);
    if (status == LEY_OK)
        status = fill(&j, error);
    free(j.records);
    free(j.base);
    free(j.first);
    free(j.kept);
    free(j.outside);
    free(j.neutral);
    free(j.total);
    free(j.overflow);
    if (status == LEY_OK)
        *binned = result;
    else
        binning_destroy(result);
    return status;
}

void binning_destroy(binned_atoms *binned)
{
    if (binned == NULL)
        return;
    if (binned->owns_slots)
        free(binned->slot);
    free(binned->used);
    free(binned->index);
    free(binned->overflow_slot);
    free(binned->overflow_bin);
    free(binned->overflow_index);
    free(binned->extra_first);
    free(binned->extra_slot);
    free(binned);
}

/* Where each bin's further bins begin; returns how many there are. */
static int64_t number_extra(const binned_atoms *b, const atomic_bool *cancelled, int32_t *first)
{
    int64_t extra = 0, at = 0;
    for (int64_t bin = 0; bin < b->bins && (bin % BLOCK != 0 || !cancel_is_asked(cancelled));
         bin++) { /* less than the overflow's atoms: they fit */
        const int64_t start = at;
        first[bin] = (int32_t)extra;
        while (at < b->overflow && b->overflow_bin[at] == bin)
            at++;
        extra += (at - start + b->depth - 1) / b->depth;
    }
    first[b->bins] = (int32_t)extra;
    return extra;
}

static void fill_extra(const binned_atoms *b, const atomic_bool *cancelled, const int32_t *first, int64_t slots,
                       float (*slot)[4])
{
    for (int64_t s = 0; s < slots && !cancel_is_asked(cancelled); s += BLOCK)
        set_far(slot + s, slots - s < BLOCK ? slots - s : BLOCK);
    for (int64_t i = 0, rank = 0; i < b->overflow && (i % BLOCK != 0 || !cancel_is_asked(cancelled)); i++) {
        const int32_t bin = b->overflow_bin[i];
        rank = i > 0 && b->overflow_bin[i - 1] == bin ? rank + 1 : 0;
        memcpy(slot[(int64_t)first[bin] * b->depth + rank], b->overflow_slot[i], sizeof slot[0]);
    }
}

ley_status binning_add_extra(binned_atoms *b, const atomic_bool *cancelled, ley_error *error)
{
    const double least_bytes = (double)b->overflow * sizeof *b->extra_slot + (double)b->bins * sizeof *b->extra_first;
    ley_status status = memory_check_one("bins for what overflows", least_bytes, fuller_bins, error);
    if (status != LEY_OK)
        return status;
    int32_t *first = malloc(((size_t)b->bins + 1) * sizeof *first);
    if (first == NULL)
        return ley_fail_memory(error, ((size_t)b->bins + 1) * sizeof *first, "bins for overflow");
    const int64_t extra = number_extra(b, cancelled, first), slots = cancel_is_asked(cancelled) ? 0 : extra * b->depth;
    const int64_t bytes = slots * (int64_t)sizeof *b->extra_slot;
    status = memory_check_one("bins for what overflows", (double)bytes, fuller_bins, error);
    float(*slot)[4] = status == LEY_OK ? memory_in_large_pages(bytes) : NULL;
    if (status == LEY_OK && slot == NULL)
        status = ley_fail_memory(error, (size_t)bytes, "bins for overflow");
    if (status == LEY_OK && slots > 0)
        fill_extra(b, cancelled, first, slots, slot);
    if (status == LEY_OK && cancel_is_asked(cancelled))
        status = ley_fail(error, LEY_CANCELLED, "cancelled");
    if (status != LEY_OK) {
        free(first);
        free(slot);
        return status;
    }
    free(b->extra_first);
    free(b->extra_slot);
    b->extra_first = first;
    b->extra_slot = slot;
    b->extra_bins = extra;
    return LEY_OK;
}
