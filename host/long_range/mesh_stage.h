/* The stage in which each device makes the meshes' potentials, for itself. */
#ifndef LEY_LONG_RANGE_MESH_STAGE_H
#define LEY_LONG_RANGE_MESH_STAGE_H

#include "long_range/solver.h"
#include "schedule/method.h"

/* What it makes, and on a device that has made it, where it is. */
extern const product msm_product_field;
const solver *msm_field_solver(const stage_place *place);

/* What kernels of the transfers a task wants of a device, but for `has_levels`. */
struct msm_task;
void msm_transfer_wish(const struct msm_task *task, transfer_wish *wish);

bool msm_field_is_wanted(const void *context);
ley_status msm_field_wish(const void *context, const job_view *job, void **wish, ley_error *error);
void msm_field_wish_destroy(void *wish);
ley_status msm_field_ready(dev *device, const void *wish, kernel_notes *noted, void **state, ley_error *error);
ley_status msm_field_begin(void *context, const stage_place *place, void **state, ley_error *error);
ley_status msm_field_renew(void *context, const stage_place *place, void *state, ley_error *error);
size_t msm_field_lent_bytes(const void *state);
dev_buffer *msm_field_lent(const void *state);
ley_status msm_field_borrow(void *context, const stage_place *place, void **state, dev_buffer **buffer,
                            ley_error *error);
double msm_field_predict(const void *context, const void *state);
ley_status msm_field_forecast(void *context, const stage_place *place, void *state, struct device_forecast *f,
                              ley_error *error);
void msm_field_end(void *state);
ley_status msm_field_submit(void *state, int slot, slab piece, ley_error *error);
ley_status msm_field_collect(void *state, int slot, slab piece, slab_times *times, ley_error *error);
void msm_field_drop(void *state, int slot);

/* The stage's row, of what it needs and makes. */
/* clang-format off */
#define MSM_STAGE_FIELD_ROW(needed, made) \
    {.name = "field", .split = STAGE_EACH_DEVICE, .needs = (needed), .makes = (made), \
     .is_wanted = msm_field_is_wanted, .wish = msm_field_wish, .wish_destroy = msm_field_wish_destroy, \
     .ready = msm_field_ready, .begin = msm_field_begin, .renew = msm_field_renew, .predict = msm_field_predict, \
     .lent_bytes = msm_field_lent_bytes, .lent = msm_field_lent, .borrow = msm_field_borrow, \
     .forecast = msm_field_forecast, .end = msm_field_end, .submit = msm_field_submit, \
     .collect = msm_field_collect, .drop = msm_field_drop}
/* clang-format on */

/* Of plans: a library, with tables or without. */
extern const char *const msm_library_words[];

#endif
