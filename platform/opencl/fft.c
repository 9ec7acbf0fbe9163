/* Fourier transforms: one way to all libraries. What a library enqueues is between two markers, of
 * which the second one is the event of the whole. */
#include "../clock.h"
#include "internal.h"

#include <stdlib.h>

static const cl_fft_library *const libraries[] = {&cl_fft_fftw, &cl_fft_vkfft, &cl_fft_clfft};

bool cl_fft_library_at(const dev_info *info, size_t i, dev_fft_library *library)
{
    if (i >= sizeof libraries / sizeof *libraries)
        return false;
    *library = (dev_fft_library){.name = libraries[i]->name,
                                 .has_tables = libraries[i]->has_tables,
                                 .leaves_out = libraries[i]->leaves_out,
                                 .needs_no_area = libraries[i]->needs_no_area,
                                 .most_values = libraries[i]->most_values};
    libraries[i]->describe(info, library->version, library->unusable);
    return true;
}

ley_status cl_fft_plan(dev *device, size_t library, const dev_fft_shape *shape, const void *kept, size_t kept_size,
                       dev_fft_plan **plan, ley_error *error)
{
    ley_status status = libraries[library]->plan((cl_dev *)device, shape, kept, kept_size, plan, error);
    if (status == LEY_OK)
        (*plan)->library = library;
    return status;
}

ley_status cl_fft_keep(dev *device, dev_fft_plan *plan, void **bytes, size_t *size, ley_error *error)
{
    (void)device;
    *bytes = NULL;
    return libraries[plan->library]->keep != NULL ? libraries[plan->library]->keep(plan, bytes, size, error) : LEY_OK;
}

static ley_status mark(cl_dev *d, cl_event *event, ley_error *error)
{
    CL_TRY(error, clEnqueueMarkerWithWaitList(d->queues[LANE_LAUNCH], 0, NULL, event));
    return LEY_OK;
}

static ley_status run_between(cl_dev *d, dev_fft_plan *plan, bool forward, cl_mem from, cl_mem to, cl_mem scratch,
                              dev_event *event, ley_error *error)
{
    ley_status status = mark(d, &event->before, error);
    if (status == LEY_OK)
        status = libraries[plan->library]->run(d, plan, forward, from, to, scratch, error);
    if (status == LEY_OK)
        status = mark(d, &event->event, error);
    if (status == LEY_OK)
        CL_TRY(error, clFlush(d->queues[LANE_LAUNCH]));
    return status;
}

ley_status cl_fft_run(dev *device, dev_fft_plan *plan, bool forward, dev_buffer *from, dev_buffer *to,
                      dev_buffer *scratch, dev_event **done, ley_error *error)
{
    cl_dev *d = (cl_dev *)device;
    dev_event *event = calloc(1, sizeof *event);
    if (event == NULL)
        return ley_fail_memory(error, sizeof *event, "an event");
    event->lane = LANE_LAUNCH;
    event->submitted_s = ley_clock_s();
    const ley_status status = run_between(d, plan, forward, (cl_mem)from, (cl_mem)to, (cl_mem)scratch, event, error);
    if (status != LEY_OK) {
        cl_settled(d); /* a part of it may have been begun */
        if (event->before != NULL)
            clReleaseEvent(event->before);
        if (event->event != NULL)
            clReleaseEvent(event->event);
        free(event);
        return status;
    }
    *done = event;
    return LEY_OK;
}

/* Libraries free what kernels of theirs may still use. */
void cl_fft_end(dev *device, dev_fft_plan *plan)
{
    if (cl_settled((cl_dev *)device))
        libraries[plan->library]->end(plan);
    else
        dev_keep(plan);
}
