/* Whether anything that was given to a device is still in use. */
#include "internal.h"

#include <stdio.h>

static ley_status finish(cl_command_queue queue, ley_error *error)
{
    CL_TRY(error, clFinish(queue));
    return LEY_OK;
}

/* Waits until nothing that was given to the device is in use any more, whatever single calls said
 * of it. Where even that fails, the driver may go on writing to what it was given: the device is
 * lost, and nothing of its is freed. */
bool cl_settled(cl_dev *d)
{
    for (int lane = 0; lane < LANE_COUNT && !d->base.is_lost; lane++) {
        ley_error error = {.status = LEY_OK};
        if (d->queues[lane] != NULL && clFinish(d->queues[lane]) != CL_SUCCESS &&
            finish(d->queues[lane], &error) != LEY_OK) {
            d->base.is_lost = true;
            snprintf(d->base.lost_by, sizeof d->base.lost_by, "%.255s", error.message);
        }
        ley_error_clear(&error);
    }
    return !d->base.is_lost;
}
