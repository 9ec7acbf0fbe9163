/* Statistics of what a target's values have been: blocks of rows, which threads share, are added
 * each in its own order, and the blocks' figures in theirs. */
#include "target/statistics.h"

#include "error.h"
#include "memory.h"
#include "parallel.h"
#include "target/map.h"
#include "target/points.h"
#include "target/target.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    LIST_ROW = 4096,
    LANES = 16,
    ALL_KINDS = LEY_KEEP_MEAN | LEY_KEEP_VARIANCE | LEY_KEEP_MINIMUM | LEY_KEEP_PLANES
};

typedef struct least {
    double value;
    int64_t point;
} least;

struct ley_statistics {
    ley_target target;
    unsigned kept;
    int components;
    int64_t points, runs;
    int64_t n[3];         /* values of a row, rows of a block, blocks: of a map its grid's points */
    double *mean;         /* [components][points]; or NULL */
    double *square;       /* the variance, the same */
    double *planes[3];    /* [components][n[axis]]; or NULL */
    double *block_sum[3]; /* of this run, for each block [n[axis]] sums, of z one; or NULL */
    least *block_least;   /* [blocks], or NULL */
    least least;
    int64_t least_run;
    atomic_bool lacks_memory;
};

/* ---- Life ------------------------------------------------------------------------------------ */

static double *room(int64_t count, bool is_wanted)
{
    return is_wanted ? malloc((size_t)count * sizeof(double)) : NULL;
}

static ley_status take_room(ley_statistics *s, ley_error *error)
{
    const int64_t all = s->components * s->points;
    const bool has_mean = (s->kept & LEY_KEEP_MEAN) != 0, has_square = (s->kept & LEY_KEEP_VARIANCE) != 0,
               has_planes = (s->kept & LEY_KEEP_PLANES) != 0, has_least = (s->kept & LEY_KEEP_MINIMUM) != 0;
    const double bytes = sizeof(double) * ((double)all * (has_mean + has_square) +
                                           (double)(s->n[2] * (s->n[0] + s->n[1] + 1)) * has_planes);
    const ley_status status =
        memory_check_one("the statistics of the target", bytes, "fewer points, or their planes alone", error);
    if (status != LEY_OK)
        return status;
    s->mean = room(all, has_mean);
    s->square = room(all, has_square);
    s->block_least = has_least ? malloc((size_t)s->n[2] * sizeof *s->block_least) : NULL;
    bool has_all =
        has_mean == (s->mean != NULL) && has_square == (s->square != NULL) && has_least == (s->block_least != NULL);
    for (int axis = 0; axis < 3; axis++) {
        s->planes[axis] = room(s->components * s->n[axis], has_planes);
        s->block_sum[axis] = room(s->n[2] * (axis < 2 ? s->n[axis] : 1), has_planes);
        has_all = has_all && has_planes == (s->planes[axis] != NULL && s->block_sum[axis] != NULL);
    }
    return has_all ? LEY_OK : ley_fail_memory(error, (size_t)bytes, "the statistics of the target");
}

static void measure(ley_statistics *s, const ley_target *target)
{
    s->components = target_has_field(target) ? MAP_MOST_COMPONENTS : 1;
    if (target->map != NULL) {
        memcpy(s->n, ley_map_grid(target->map)->n, sizeof s->n);
        s->points = ley_grid_points(ley_map_grid(target->map));
        return;
    }
    s->points = target->points != NULL ? ley_points_count(target->points) : ley_boundary_points(target->boundary);
    s->n[0] = LIST_ROW;
    s->n[1] = 1;
    s->n[2] = (s->points + LIST_ROW - 1) / LIST_ROW;
}

static ley_status check(const ley_target *target, unsigned kept, ley_error *error)
{
    const ley_status status = target_check(target, TARGET_MAP | TARGET_POINTS | TARGET_BOUNDARY, "", error);
    if (status != LEY_OK)
        return status;
    if (kept == 0 || (kept & ~(unsigned)ALL_KINDS) != 0)
        return ley_fail(error, LEY_ERROR_USAGE, "statistics: nothing, or something unknown, is to be kept");
    if (target->map != NULL && !map_takes_values(target->map))
        return ley_fail(error, LEY_ERROR_USAGE, "statistics: the map has no values");
    if (target->map == NULL && (kept & LEY_KEEP_PLANES) != 0)
        return ley_fail(error, LEY_ERROR_USAGE, "statistics: a list of points has no planes");
    return LEY_OK;
}

ley_status ley_statistics_create(const ley_target *target, unsigned kept, ley_statistics **statistics, ley_error *error)
{
    ley_status status = check(target, kept, error);
    ley_statistics *s = status == LEY_OK ? calloc(1, sizeof *s) : NULL;
    if (s == NULL)
        return status != LEY_OK ? status : ley_fail_memory(error, sizeof *s, "the statistics of the target");
    s->target = *target;
    s->target.statistics = NULL;
    s->kept = kept | ((kept & LEY_KEEP_VARIANCE) != 0 ? LEY_KEEP_MEAN : 0);
    measure(s, target);
    status = take_room(s, error);
    if (status != LEY_OK) {
        ley_statistics_destroy(s);
        return status;
    }
    ley_statistics_reset(s);
    *statistics = s;
    return LEY_OK;
}

void ley_statistics_destroy(ley_statistics *s)
{
    if (s == NULL)
        return;
    for (int axis = 0; axis < 3; axis++) {
        free(s->planes[axis]);
        free(s->block_sum[axis]);
    }
    free(s->mean);
    free(s->square);
    free(s->block_least);
    free(s);
}

static void make_unknown(double *values, int64_t count)
{
    for (int64_t i = 0; i < count && values != NULL; i++)
        values[i] = NAN;
}

void ley_statistics_reset(ley_statistics *s)
{
    s->runs = s->least_run = 0;
    make_unknown(s->mean, s->components * s->points);
    make_unknown(s->square, s->components * s->points);
    for (int axis = 0; axis < 3; axis++)
        make_unknown(s->planes[axis], s->components * s->n[axis]);
}

/* ---- A run ----------------------------------------------------------------------------------- */

/* Room of a thread: a row, and of a map in a file a plane. */
typedef struct buffers {
    double *row;
    float *plane;
} buffers;

static const double *row_of_list(const ley_statistics *s, int component, int64_t first, int64_t count, double *row)
{
    if (s->target.boundary != NULL)
        return ley_boundary_read_values(s->target.boundary) + first;
    if (component == 0)
        return ley_points_read_values(s->target.points) + first;
    const double *field = ley_points_read_field(s->target.points) + 3 * first + component - 1;
    for (int64_t i = 0; i < count; i++)
        row[i] = field[3 * i];
    return row;
}

/* Welford's: run T of the mean and of the variance, by v less the mean before it. */
static void add_to_mean(const ley_statistics *s, int64_t first, int64_t count, const double *row)
{
    double *mean = s->mean + first, *square = s->square != NULL ? s->square + first : NULL;
    const double share = 1 / (double)s->runs;
    if (s->runs == 1)
        memcpy(mean, row, (size_t)count * sizeof *mean);
    if (s->runs == 1)
        return;
    const double less = s->runs == 2 ? 0 : (double)(s->runs - 2) / (double)(s->runs - 1);
    if (s->runs == 2 && square != NULL)
        memset(square, 0, (size_t)count * sizeof *square);
    for (int64_t i = 0; i < count && square != NULL; i++) {
        const double off = row[i] - mean[i];
        square[i] = less * square[i] + share * off * off;
    }
    for (int64_t i = 0; i < count; i++)
        mean[i] += share * (row[i] - mean[i]);
}

static double sum_of(const double *row, int64_t count)
{
    double lane[LANES] = {0}, sum = 0;
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (int k = 0; k < LANES; k++)
            lane[k] += row[i + k];
    for (; i < count; i++)
        sum += row[i];
    for (int k = 0; k < LANES; k++)
        sum += lane[k];
    return sum;
}

static void add_to_planes(const ley_statistics *s, int64_t block, int64_t in_block, const double *row)
{
    double *along_x = s->block_sum[0] + block * s->n[0];
    const double sum = sum_of(row, s->n[0]);
    s->block_sum[1][block * s->n[1] + in_block] = sum;
    s->block_sum[2][block] = (in_block > 0 ? s->block_sum[2][block] : 0) + sum;
    if (in_block == 0)
        memcpy(along_x, row, (size_t)s->n[0] * sizeof *along_x);
    for (int64_t i = 0; i < s->n[0] && in_block > 0; i++)
        along_x[i] += row[i];
}

static void look_for_least(least *of, int64_t first, int64_t count, const double *row)
{
    double value = INFINITY;
    for (int64_t i = 0; i < count; i++)
        value = row[i] < value ? row[i] : value;
    if (!(value < of->value))
        return;
    int64_t i = 0;
    while (row[i] > value || isnan(row[i]))
        i++;
    *of = (least){value, first + i};
}

static void add_block(const ley_statistics *s, int component, int64_t block, const buffers *b)
{
    const int64_t values = s->n[0] * s->n[1], first = block * values;
    const float *plane = s->target.map != NULL
                             ? map_values_from(map_component(s->target.map, component), first, values, b->plane)
                             : NULL;
    for (int64_t r = 0; r < s->n[1]; r++) {
        const int64_t from = first + r * s->n[0], count = from + s->n[0] < s->points ? s->n[0] : s->points - from;
        const double *row = b->row;
        for (int64_t i = 0; i < count && plane != NULL; i++)
            b->row[i] = (double)plane[r * s->n[0] + i];
        if (plane == NULL)
            row = row_of_list(s, component, from, count, b->row);
        if (s->mean != NULL)
            add_to_mean(s, component * s->points + from, count, row);
        if (s->planes[0] != NULL)
            add_to_planes(s, block, r, row);
        if (s->block_least != NULL && component == 0)
            look_for_least(&s->block_least[block], from, count, row);
    }
}

typedef struct part {
    ley_statistics *statistics;
    int component;
} part;

static void add_blocks(void *context, size_t first, size_t last)
{
    const part *p = context;
    ley_statistics *s = p->statistics;
    const bool is_stored = s->target.map != NULL && map_is_stored(s->target.map);
    buffers b = {malloc((size_t)s->n[0] * sizeof *b.row), NULL};
    if (is_stored)
        b.plane = malloc((size_t)(s->n[0] * s->n[1]) * sizeof *b.plane);
    if (b.row == NULL || (is_stored && b.plane == NULL))
        atomic_store(&s->lacks_memory, true);
    else
        for (size_t i = first; i < last; i++)
            add_block(s, p->component, (int64_t)i, &b);
    free(b.row);
    free(b.plane);
}

/* What the blocks have found becomes part of the planes. */
static void add_sums(ley_statistics *s, int component, int axis)
{
    const int64_t count = s->n[axis];
    const double points = (double)(s->points / count);
    double *planes = s->planes[axis] + component * count;
    for (int64_t i = 0; i < count; i++) {
        double sum = 0;
        for (int64_t block = 0; block < s->n[2] && axis < 2; block++)
            sum += s->block_sum[axis][block * count + i];
        const double now = (axis < 2 ? sum : s->block_sum[2][i]) / points;
        planes[i] = s->runs == 1 ? now : planes[i] + (now - planes[i]) / (double)s->runs;
    }
}

static void take_least(ley_statistics *s)
{
    for (int64_t block = 0; block < s->n[2]; block++)
        if (s->least_run == 0 || s->block_least[block].value < s->least.value) {
            s->least = s->block_least[block];
            s->least_run = s->runs;
        }
}

ley_status ley_statistics_add(ley_statistics *s, ley_error *error)
{
    const int components = target_has_field(&s->target) ? MAP_MOST_COMPONENTS : 1;
    if (components != s->components)
        return ley_fail(error, LEY_ERROR_USAGE, "statistics: the target's field was %s after they had begun",
                        components > 1 ? "asked for" : "given up");
    s->runs++;
    atomic_store(&s->lacks_memory, false);
    for (int64_t block = 0; block < s->n[2] && s->block_least != NULL; block++)
        s->block_least[block] = (least){INFINITY, block * s->n[0] * s->n[1]};
    for (int c = 0; c < components; c++) {
        parallel_ranges((size_t)s->n[2], add_blocks, &(part){s, c});
        for (int axis = 0; axis < 3 && s->planes[axis] != NULL; axis++)
            add_sums(s, c, axis);
    }
    if (s->block_least != NULL)
        take_least(s);
    if (atomic_load(&s->lacks_memory))
        return ley_fail_memory(error, (size_t)(s->n[0] * s->n[1]) * sizeof(float), "the statistics of the target");
    return s->target.map != NULL ? map_check_store(s->target.map, error) : LEY_OK;
}

ley_status statistics_check(const ley_target *target, ley_error *error)
{
    const ley_target *own = target->statistics != NULL ? &target->statistics->target : target;
    if (own->map != target->map || own->points != target->points || own->boundary != target->boundary)
        return ley_fail(error, LEY_ERROR_USAGE, "the statistics are of another target");
    return LEY_OK;
}

/* ---- What came of it ------------------------------------------------------------------------- */

int64_t ley_statistics_runs(const ley_statistics *s)
{
    return s->runs;
}

static const double *values_of(const ley_statistics *s, const double *values, int component, int64_t count)
{
    return values != NULL && component >= 0 && component < s->components ? values + component * count : NULL;
}

const double *ley_statistics_mean(const ley_statistics *s, int component)
{
    return values_of(s, s->mean, component, s->points);
}

const double *ley_statistics_variance(const ley_statistics *s, int component)
{
    return values_of(s, s->square, component, s->points);
}

const double *ley_statistics_planes(const ley_statistics *s, int component, int axis)
{
    return axis >= 0 && axis < 3 ? values_of(s, s->planes[axis], component, s->n[axis]) : NULL;
}

bool ley_statistics_minimum(const ley_statistics *s, double *value, int64_t *point, int64_t *run)
{
    if (s->block_least == NULL || s->least_run == 0)
        return false;
    if (value != NULL)
        *value = s->least.value;
    if (point != NULL)
        *point = s->least.point;
    if (run != NULL)
        *run = s->least_run;
    return true;
}
