/* The stages of a short-range sum, and its task: for methods whose results are that sum and
 * something more, which is added to it on the device. A task of theirs begins with a cutoff_task,
 * and their stages are these and their own. */
#ifndef LEY_CUTOFF_STAGES_H
#define LEY_CUTOFF_STAGES_H

#include "methods/cutoff/device_binning.h"
#include "methods/cutoff/epilogue.h"
#include "methods/cutoff/kernel.h"
#include "methods/cutoff/plan.h"
#include "methods/cutoff/serial_pairs.h"
#include "schedule/method.h"
#include "schedule/stage.h"

#include <pthread.h>

/* What is added to the sums on their device, behind the kernel and before they travel; or by the
 * kernel itself, where that can be and is predicted to be done sooner. */
typedef struct cutoff_addition {
    /* What the kernel would add, before devices are readied; not asked of maps with a field. */
    void (*epilogue)(const void *task, cutoff_epilogue *wish);

    /* A device joins, whose slabs are of so many planes at most; memory is of this arena. `state`
     * is set also on failure when there is something to end. */
    ley_status (*begin)(void *task, const stage_place *place, const cutoff_kernel *kernel, int64_t planes,
                        arena *memory, void **state, ley_error *error);
    void (*end)(void *state);

    /* To planes [first, first + planes), which lie in phi as cutoff_kernel_layout() says, those of
     * the field's components so many values apart. */
    void (*add)(void *state, command_sequence *w, int64_t first, int64_t planes, int64_t component,
                buffer_of_float phi);

    /* In place of add(), once: what the kernel reads. */
    void (*mesh)(void *state, cutoff_mesh *made);
} cutoff_addition;

typedef struct cutoff_task {
    const ley_atoms *atoms;
    ley_map *map;
    ley_short_range range; /* with copies of its own */
    const job_view *job;
    const cutoff_addition *addition; /* NULL: none */
    bool keeps_atoms;                /* devices that bin them have them for later stages */
    bool even_bins;                  /* for the last digits: cutoff_problem_even_bins() */
    double offset;                   /* added to every value of a map by the host, for float sums would lose it */

    /* From prepare() to release(): */
    double planned_s; /* what planning the bins took */
    cutoff_problem *problem;
    cutoff_plan plan;
    double pairs;
    pthread_mutex_t mutex; /* for the problem's bins, which the first device that cannot bin makes on the host; and: */
    device_bins bins;      /* as the report has them */
    double binning_s, upload_s, transposition_s;
    double step_s[WORK_STEPS]; /* of devices' launches: the kernel's own are step 0 */
    double predicted_binning_s, predicted_upload_s, predicted_rows_s;
} cutoff_task;

/* What a device is to be ready for. The problem is there for a user's own pair function only: it
 * has no atoms. */
typedef struct cutoff_order {
    cutoff_wish wish;
    bool has_addition;
    cutoff_epilogue epilogue; /* of the addition */
    job_plan *plan;
    cutoff_problem problem;
    ley_short_range range; /* the problem's */
} cutoff_order;

/* Of checked options, which are copied. The task is to be cleared also when this fails. */
ley_status cutoff_task_init(cutoff_task *task, const ley_atoms *atoms, ley_map *map, const ley_short_range *range,
                            ley_error *error);
void cutoff_task_clear(cutoff_task *task);

/* ---- Stages ---------------------------------------------------------------------------------- */

extern const product cutoff_product_bins;

bool cutoff_bins_are_wanted(const void *context);
ley_status cutoff_bins_wish(const void *context, const job_view *job, void **wish, ley_error *error);
ley_status cutoff_bins_ready(dev *device, const void *wish, kernel_notes *noted, void **state, ley_error *error);
ley_status cutoff_bins_begin(void *context, const stage_place *place, void **state, ley_error *error);
ley_status cutoff_bins_renew(void *context, const stage_place *place, void *state, ley_error *error);
void cutoff_bins_end(void *state);
ley_status cutoff_bins_submit(void *state, int slot, slab piece, ley_error *error);
ley_status cutoff_bins_collect(void *state, int slot, slab piece, slab_times *times, ley_error *error);
void cutoff_bins_drop(void *state, int slot);

/* In a stage that needs the bins, where the task keeps atoms: the atoms of a device that has made
 * its bins by itself, until they are freed; NULL: it has none. */
const device_atoms *cutoff_bins_atoms(const stage_place *place);
void cutoff_bins_free_atoms(const stage_place *place);

int64_t cutoff_count_layers(const void *context);
ley_status cutoff_sum_wish(const void *context, const job_view *job, void **made, ley_error *error);
void cutoff_sum_wish_destroy(void *made);
ley_status cutoff_sum_ready(dev *device, const void *wish, kernel_notes *noted, void **state, ley_error *error);
ley_status cutoff_sum_begin(void *context, const stage_place *place, void **state, ley_error *error);
ley_status cutoff_sum_renew(void *context, const stage_place *place, void *state, ley_error *error);
double cutoff_sum_predict(const void *context, const void *state);
ley_status cutoff_sum_forecast(void *context, const stage_place *place, void *state, struct device_forecast *f,
                               ley_error *error);
void cutoff_sum_end(void *state);
int64_t cutoff_sum_slab_count(const void *state);
ley_status cutoff_sum_submit(void *state, int slot, slab piece, ley_error *error);
ley_status cutoff_sum_collect(void *state, int slot, slab piece, slab_times *times, ley_error *error);
void cutoff_sum_drop(void *state, int slot);

/* Rows of a method's stages, in this order; `made_by_bins`: what the sums need, with
 * &cutoff_product_bins. */
/* clang-format off */
#define CUTOFF_STAGE_BINS(made_by_bins) \
    {.name = "bins", .split = STAGE_EACH_DEVICE, .makes = (made_by_bins), .is_wanted = cutoff_bins_are_wanted, \
     .wish = cutoff_bins_wish, .wish_destroy = free, .ready = cutoff_bins_ready, .begin = cutoff_bins_begin, \
     .renew = cutoff_bins_renew, .end = cutoff_bins_end, .submit = cutoff_bins_submit, \
     .collect = cutoff_bins_collect, .drop = cutoff_bins_drop}
#define CUTOFF_STAGE_SUM(needed) \
    {.name = "sum", .split = STAGE_SLABS, .needs = (needed), .count = cutoff_count_layers, .wish = cutoff_sum_wish, \
     .wish_destroy = cutoff_sum_wish_destroy, .ready = cutoff_sum_ready, .begin = cutoff_sum_begin, \
     .renew = cutoff_sum_renew, .predict = cutoff_sum_predict, .forecast = cutoff_sum_forecast, \
     .end = cutoff_sum_end, .slab_count = cutoff_sum_slab_count, .submit = cutoff_sum_submit, \
     .collect = cutoff_sum_collect, .drop = cutoff_sum_drop}
/* clang-format on */

/* ---- The rest of a method -------------------------------------------------------------------- */

uint64_t cutoff_needs(const void *context, const ley_run_options *options);
ley_status cutoff_prepare(void *context, const job_view *job, ley_error *error);

/* The same in two steps: after the first one it is decided where atoms are binned (plan.binning);
 * the second one does so where that is the host. */
ley_status cutoff_begin_preparing(void *context, const job_view *job, ley_error *error);
ley_status cutoff_end_preparing(void *context, ley_error *error);
ley_status cutoff_renew(void *context, ley_error *error);
void cutoff_release(void *context, bool is_kept);
int64_t cutoff_count_points(const void *context, slab s);
double cutoff_count_pairs(const void *context);
ley_status cutoff_finish(void *context, ley_error *error);

/* For forecasts: bins and pairs; and how long the host takes for the bins, where it makes them. */
void cutoff_outline(const void *context, notes *n);
double cutoff_host_s(const void *context);
void cutoff_note(const void *context, notes *n);
extern const plan_row cutoff_plan_rows[];
/* clang-format off */
#define CUTOFF_PLAN_ROWS \
    {.name = "binning", .words = plan_places}, {.name = "transposition", .words = plan_places}
/* clang-format on */
void cutoff_decisions(const void *context, job_plan *made);
int64_t cutoff_point(const void *context, slab s, int64_t i);
double cutoff_value(const void *context, int64_t number, double place_A[3]);
bool cutoff_field(const void *context, int64_t number, double field[3]);
const ley_map *cutoff_map(const void *context);

/* What is promised of the sum's error at each point, against its absolute terms there, where the
 * pair function is no steeper than this one, and no distance below r_min_A counts. */
double cutoff_promise(const cutoff_task *task, ley_pair steepest, double r_min_A);

/* How far rounding may move places. */
double cutoff_place_A(const cutoff_task *task);

#endif
