/* The influence function on one device: what a mesh's transform is multiplied by. */
#ifndef LEY_LONG_RANGE_FOURIER_INFLUENCE_KERNEL_H
#define LEY_LONG_RANGE_FOURIER_INFLUENCE_KERNEL_H

#include "arguments.h"
#include "dev_kernel.h"
#include "engine/command_sequence.h"
#include "long_range/fourier/long_wavelengths.h"
#include "long_range/fourier/zero_mode.h"
#include "numerics/spectrum.h"

KERNEL_ARGUMENTS_STRUCT(influence, LEY_INFLUENCE_ARGUMENTS);
extern const kernel_kind influence_kind;

/* Built and tested; of meshes with a mean wave or without one, with long waves or without. */
ley_status influence_kernel_create(dev *device, bool has_mean, bool has_long, dev_kernel *kernel, ley_error *error);

/* A spectrum on a device. */
typedef struct influence_waves {
    int32_t waves[4], stored[4], strides[4], longs[4];
    buffer_of_float values;
    buffer_of_float2 mean, long_wavelengths;
    dev_staging *long_staging; /* by which they go there */
    double byte_s;             /* a byte that is read or written, as jobs have shown, or as usual */
} influence_waves;

/* Of this name for arena_upload_kept(), or 0; with the mean wave, where there is one, else NULL;
 * and with room for long waves, most_long to either side of wave 0 along each axis, where there are
 * any, else NULL. Errors: those of arena_buffer(); LEY_ERROR_NO_DEVICE, more waves than a kernel
 * can number. */
ley_status influence_waves_create(influence_waves *made, const spectrum *s, uint64_t name, const zero_mode *mean,
                                  const int64_t most_long[3], arena *memory, ley_error *error);

/* How long a spectrum of so many bytes is predicted to take to a device; 0 where the device keeps
 * the one of this name, or is a processor. */
double influence_send_s(const dev *device, uint64_t name, double bytes);

/* Brings long waves there, within a sequence, before the product: as many as there is room for. */
void influence_send_long(command_sequence *w, const influence_waves *waves, const long_wavelengths *longs);

/* Learns from what the product was predicted to take, and took. */
void influence_learn(const dev *device, const influence_waves *waves, double predicted_s, double took_s);

/* How long it is predicted to take for a transform of so many nodes. */
double influence_seconds(const dev *device, const int64_t n[3]);

/* Multiplies a transform, [n_z][n_y][n_x / 2 + 1] as platform/fft_plan.h has it, in place. */
void influence_launch(command_sequence *w, const dev_kernel *kernel, const influence_waves *waves,
                      buffer_of_float2 transform);

#endif
