#include "fft_plan.h"

#include "error.h"

size_t fft_pitch(const size_t n[3], bool in_place)
{
    return in_place ? 2 * (n[0] / 2 + 1) : n[0];
}

size_t fft_mesh_bytes(const size_t n[3], bool in_place)
{
    return fft_pitch(n, in_place) * n[1] * n[2] * sizeof(float);
}

uint64_t fft_values(const size_t n[3])
{
    return fft_mesh_bytes(n, true) / sizeof(float);
}

size_t fft_spectrum_bytes(const size_t n[3])
{
    return 2 * (n[0] / 2 + 1) * n[1] * n[2] * sizeof(float);
}

ley_status fft_start(const dev_fft *fft, bool forward, dev_buffer *from, dev_buffer *to, dev_buffer *scratch,
                     dev_event **done, ley_error *error)
{
    if (fft->in_place != (from == to))
        return ley_fail(error, LEY_ERROR_DEVICE, "a transform %s was given %s",
                        fft->in_place ? "in place" : "out of place", from == to ? "one buffer" : "two buffers");
    if (fft->scratch_bytes > 0 && scratch == NULL)
        return ley_fail(error, LEY_ERROR_DEVICE, "a transform that needs %s of scratch was given none",
                        ley_size((double)fft->scratch_bytes).s);
    return fft->device->backend->fft_run(fft->device, fft->plan, forward, from, to, scratch, done, error);
}
