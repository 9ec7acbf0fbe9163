/* The stage of a short-range sum at the points of a list, and its task: for methods whose results
 * are that sum and something more, which is added to it. */
#ifndef LEY_CUTOFF_POINT_STAGES_H
#define LEY_CUTOFF_POINT_STAGES_H

#include "methods/cutoff/excluded.h"
#include "methods/cutoff/stages.h"

/* What is added to short-range sums at points. Slabs are of points: [first, first + count) of the
 * task's list. */
typedef struct cutoff_points_addition {
    /* A device joins; memory is of this arena. `state` is set also on failure when there is
     * something to end. */
    ley_status (*begin)(void *task, const stage_place *place, arena *memory, void **state, ley_error *error);
    void (*end)(void *state);

    /* Continues the sequence of a slot's slab; and adds to the points, whose sums are in their
     * place, when that has ended. */
    ley_status (*submit)(void *state, int slot, command_sequence *w, slab piece, ley_error *error);
    ley_status (*collect)(void *state, int slot, slab piece, ley_error *error);

    cutoff_of_charge *of_charge; /* what is added of a unit charge */

    /* For forecasts: bytes of a device that a point of a slab takes. */
    double (*point_bytes)(const void *task);
} cutoff_points_addition;

/* A task whose `sums` have no map, for the stage below and for methods that add to it. */
typedef struct cutoff_points_task {
    cutoff_task sums; /* first */
    ley_points *points;
    const cutoff_points_addition *addition; /* NULL: none */
    bool has_list;                          /* from prepare() to release(): */
    point_list list;
    double ordering_s; /* what it took to make that */
} cutoff_points_task;

/* Where a step of options is asked for that is not done otherwise at points: LEY_ERROR_USAGE. */
ley_status cutoff_points_check(const ley_short_range *range, ley_error *error);

int64_t cutoff_points_count(const void *context);
ley_status cutoff_points_wish(const void *context, const job_view *job, void **made, ley_error *error);
ley_status cutoff_points_ready(dev *device, const void *wish, kernel_notes *noted, void **state, ley_error *error);
ley_status cutoff_points_begin(void *context, const stage_place *place, void **state, ley_error *error);
ley_status cutoff_points_forecast(void *context, const stage_place *place, void *state, struct device_forecast *f,
                                  ley_error *error);
void cutoff_points_end(void *state);
int64_t cutoff_points_slab_count(const void *state);
ley_status cutoff_points_submit(void *state, int slot, slab piece, ley_error *error);
ley_status cutoff_points_collect(void *state, int slot, slab piece, slab_times *times, ley_error *error);
void cutoff_points_drop(void *state, int slot);

/* The stage's row; `needed`: the products that an addition needs, or NULL. */
/* clang-format off */
#define CUTOFF_STAGE_POINTS(needed) \
    {.name = "sum", .split = STAGE_SLABS, .needs = (needed), .count = cutoff_points_count, \
     .wish = cutoff_points_wish, .wish_destroy = cutoff_sum_wish_destroy, .ready = cutoff_points_ready, \
     .begin = cutoff_points_begin, .forecast = cutoff_points_forecast, .end = cutoff_points_end, \
     .slab_count = cutoff_points_slab_count, .submit = cutoff_points_submit, .collect = cutoff_points_collect, \
     .drop = cutoff_points_drop}
/* clang-format on */

/* For the rows of methods. */
ley_status cutoff_points_prepare(void *context, const job_view *job, ley_error *error);
void cutoff_points_release(void *context, bool is_kept);
void cutoff_points_host_needs(const void *context, struct job_needs *needs);
double cutoff_points_host_s(const void *context);
int64_t cutoff_points_of(const void *context, slab s);
double cutoff_points_pairs(const void *context);
void cutoff_points_note(const void *context, notes *n);
int64_t cutoff_points_point(const void *context, slab s, int64_t i);
double cutoff_points_value(const void *context, int64_t number, double place_A[3]);
bool cutoff_points_field(const void *context, int64_t number, double field[3]);
const int64_t *cutoff_points_excluded(const void *context, int64_t number, size_t *count);
extern const kernel_kind point_pairs_kind; /* whose variants these methods have */

/* Pairs within the cutoff per second that a device will reach there; `facts` NULL: it has not been
 * measured yet. */
double cutoff_points_expected_rate(const dev_info *info, const calibration *facts);

#endif
