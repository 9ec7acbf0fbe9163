#include "long_range/fourier/spectral.h"

#include "clock.h"
#include "error.h"
#include "long_range/fourier/kept_spectrum.h"
#include "long_range/mesh/mesh_rows.h"
#include "long_range/mesh/transfer_build.h"
#include "numerics/influence.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void spectral_clear(const spectral *s, command_sequence *w)
{
    const bool is_padded = s->hierarchy->cell.dimensions < 3; /* nodes of padding have no charges */
    if (!is_padded)
        sequence_fill(w, s->charges.buffer, 0, DEV_NO_NUMBERS, s->bytes);
    else if (s->fft.zero_bytes > 0)
        sequence_fill(w, s->charges.buffer, 0, 0, s->fft.zero_bytes);
}

/* Waits for the host with all that comes before the product under way. */
static void send_long_waves(const spectral *s, command_sequence *w)
{
    const long_wavelengths *longs;
    ley_error error = {0};
    if (s->long_wavelengths.take == NULL || sequence_status(w, NULL) != LEY_OK)
        return;
    if (s->long_wavelengths.take(s->long_wavelengths.context, s->n, &longs, &error) == LEY_OK)
        influence_send_long(w, &s->influence, longs);
    else
        sequence_fail(w, &error);
    ley_error_clear(&error);
}

void spectral_transform(const spectral *s, command_sequence *w)
{
    dev_buffer *mesh = s->charges.buffer;
    sequence_step(w, s->step + SPECTRAL_FORWARD);
    sequence_fft(w, &s->fft, true, mesh, mesh, s->scratch);
    send_long_waves(s, w);
    sequence_step(w, s->step + SPECTRAL_PRODUCT);
    influence_launch(w, &s->multiply, &s->influence, (buffer_of_float2){mesh});
    sequence_step(w, s->step + SPECTRAL_BACK);
    sequence_fft(w, &s->fft, false, mesh, mesh, s->scratch);
}

void spectral_run(const spectral *s, command_sequence *w)
{
    if (s->given_potentials != NULL) {
        mesh_rows_write(w, &s->arrays[0], s->given_potentials, s->potentials);
        return;
    }
    spectral_clear(s, w);
    sequence_step(w, SPECTRAL_ANTERPOLATION);
    if (s->given_charges != NULL)
        mesh_rows_write(w, &s->arrays[0], s->given_charges, s->charges);
    else
        transfer_anterpolate(w, &s->meshes, &s->atoms, s->charges);
    spectral_transform(s, w);
}

/* ---- Mesh --------------------------------------------------------------------------------- */

/* The mesh in that of the transform, of n nodes. */
static coordinate_table array_of(const hierarchy *h, const int64_t n[3])
{
    const size_t extent[3] = {(size_t)n[0], (size_t)n[1], (size_t)n[2]};
    coordinate_table array = {.pitch = {(int64_t)fft_pitch(extent, true), n[1]}};
    for (int axis = 0; axis < 3; axis++) {
        array.n[axis] = h->level[0].n[axis];
        array.periodic[axis] = h->cell.periodic[axis];
    }
    array.by_plane = h->solver == HIERARCHY_FOURIER && coordinates_are_many(&array);
    return array;
}

/* By itself, where there is no transform. */
static coordinate_table own_array(const spectral *s)
{
    coordinate_table array = array_of(s->hierarchy, s->n);
    for (int axis = 0; axis < 2 && s->awaits_potentials; axis++)
        array.pitch[axis] = array.n[axis];
    return array;
}

bool spectral_is_by_plane(const hierarchy *h)
{
    int64_t n[3];
    influence_extent(h, n);
    return array_of(h, n).by_plane;
}

bool spectral_can_number(const hierarchy *h)
{
    int64_t n[3];
    influence_extent(h, n);
    const coordinate_table array = array_of(h, n);
    return coordinates_can_number(&array);
}

/* ---- Kernels --------------------------------------------------------------------------------- */

void spectral_extent(const dev_info *info, const hierarchy *h, int64_t n[3])
{
    size_t least[3], good[3];
    influence_extent(h, n);
    for (int axis = 0; axis < 3; axis++)
        least[axis] = (size_t)n[axis];
    if (h->cell.periodic[2])
        return;
    fft_good_sizes(info, least, good);
    if (good[0] == least[0] && good[1] == least[1])
        n[2] = (int64_t)good[2];
}

static fft_wish wish_of(const spectral *s, const fft_wish *fft)
{
    fft_wish own = fft != NULL ? *fft : (fft_wish){.library = NULL};
    own.in_place = true;
    for (int axis = 0; axis < 3; axis++) {
        own.n[axis] = (size_t)s->n[axis];
        own.filled[axis] = (size_t)s->hierarchy->level[0].n[axis];
    }
    return own;
}

static ley_status make_fft(spectral *s, dev *device, const fft_wish *fft, ley_error *error)
{
    const fft_wish own = wish_of(s, fft);
    return fft_create(device, &own, &s->fft, error);
}

ley_status spectral_ready_mesh(spectral *s, dev *device, const hierarchy *h, const fft_wish *fft, ley_error *error)
{
    *s = (spectral){.hierarchy = h, .arena = {.device = device}};
    spectral_extent(device->info, h, s->n);
    const ley_status status = make_fft(s, device, fft, error);
    return status == LEY_OK ? influence_kernel_create(device, zero_mode_is_needed(h), long_wavelengths_are_wanted(h),
                                                      &s->multiply, error)
                            : status;
}

static ley_status make_transfers(spectral *s, dev *device, const transfer_wish *wish, ley_error *error)
{
    transfer_wish own = *wish;
    own.has_levels = false;
    own.by_plane = spectral_is_by_plane(s->hierarchy);
    return transfer_kernels_create(device, &own, &s->transfer, error);
}

ley_status spectral_ready(spectral *s, dev *device, const hierarchy *h, const transfer_wish *wish, const fft_wish *fft,
                          ley_error *error)
{
    const ley_status status = spectral_ready_mesh(s, device, h, fft, error);
    return status == LEY_OK ? make_transfers(s, device, wish, error) : status;
}

ley_status spectral_foresee_mesh(spectral *s, dev *device, const hierarchy *h, const fft_wish *fft, ley_error *error)
{
    char why[256];
    fft_prediction predicted;
    *s = (spectral){.hierarchy = h, .arena = {.device = device}};
    spectral_extent(device->info, h, s->n);
    const fft_wish wished = wish_of(s, fft);
    if (!fft_is_there(device->info, why, sizeof why))
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "%s", why);
    if (!fft_predict(device->info, &wished, &predicted))
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "no library has transforms of %zu x %zu x %zu", wished.n[0],
                        wished.n[1], wished.n[2]);
    memcpy(s->fft.n, wished.n, sizeof s->fft.n);
    snprintf(s->fft.library, sizeof s->fft.library, "%s", predicted.library);
    s->fft.tables = predicted.tables;
    s->fft.forward_s = s->fft.back_s = predicted.transform_s;
    s->fft.prepared_s = predicted.prepare_s;
    s->fft.scratch_bytes = predicted.scratch_bytes;
    return LEY_OK;
}

ley_status spectral_foresee(spectral *s, dev *device, const hierarchy *h, const transfer_wish *wish,
                            const fft_wish *fft, ley_error *error)
{
    const ley_status status = spectral_foresee_mesh(s, device, h, fft, error);
    return status == LEY_OK ? make_transfers(s, device, wish, error) : status;
}

/* ---- Loading --------------------------------------------------------------------------------- */

ley_status spectral_load_influence(spectral *s, const hierarchy *whole, const spread *atoms, ley_error *error)
{
    const bool has_mean = zero_mode_is_needed(s->hierarchy);
    kept_spectrum *kept;
    zero_mode mean = {.values = NULL};
    int64_t most_long[3];
    const double start_s = ley_clock_s();
    ley_status status = kept_spectrum_get(s->hierarchy, s->n, s->cancelled, &kept, error);
    if (status != LEY_OK)
        return status;
    if (has_mean)
        status = zero_mode_make(whole, s->n, atoms, &mean, error);
    s->spectrum_s = ley_clock_s() - start_s;
    long_wavelengths_most(s->hierarchy, s->n, most_long);
    if (status == LEY_OK)
        status = influence_waves_create(&s->influence, kept_spectrum_of(kept), kept_spectrum_name(kept),
                                        has_mean ? &mean : NULL, s->long_wavelengths.take != NULL ? most_long : NULL,
                                        &s->arena, error);
    zero_mode_clear(&mean);
    kept_spectrum_give_back(kept);
    return status;
}

ley_status spectral_load_mesh(spectral *s, ley_error *error)
{
    s->arrays[0] = own_array(s);
    const size_t scratch_bytes = s->awaits_potentials ? 0 : s->fft.scratch_bytes;
    s->bytes = s->awaits_potentials ? spectral_lent_bytes(s) : fft_mesh_bytes(s->fft.n, true);
    ley_status status = arena_check_host(&s->arena, "a mesh for the processor as a device",
                                         (double)s->bytes + (double)scratch_bytes, "a wider mesh spacing", error);
    if (status == LEY_OK)
        status = arena_buffer(&s->arena, s->bytes, DEV_READ_WRITE, &s->charges.buffer, error);
    s->potentials = s->charges;
    return status == LEY_OK && scratch_bytes > 0
               ? arena_buffer(&s->arena, scratch_bytes, DEV_READ_WRITE, &s->scratch, error)
               : status;
}

ley_status spectral_load(spectral *s, const spread *atoms, ley_error *error)
{
    ley_status status = spectral_load_mesh(s, error);
    if (status == LEY_OK)
        status = transfer_meshes_create(&s->meshes, &s->transfer, s->hierarchy, s->arrays, &s->arena, error);
    if (status == LEY_OK && atoms->at != NULL)
        status = transfer_atoms_create(&s->atoms, atoms, &s->arena, error);
    return status == LEY_OK && !s->awaits_potentials ? spectral_load_influence(s, s->hierarchy, atoms, error) : status;
}

size_t spectral_lent_bytes(const spectral *s)
{
    const coordinate_table array = own_array(s);
    return sizeof(float) * (size_t)(array.pitch[0] * array.pitch[1] * array.n[2]);
}

ley_status spectral_borrow(spectral *s, ley_error *error)
{
    s->arrays[0] = own_array(s);
    ley_status status = arena_check_host(&s->arena, "a mesh for the processor as a device",
                                         (double)spectral_lent_bytes(s), "a wider mesh spacing", error);
    if (status == LEY_OK)
        status = transfer_meshes_create(&s->meshes, &s->transfer, s->hierarchy, s->arrays, &s->arena, error);
    if (status == LEY_OK)
        status = arena_buffer(&s->arena, spectral_lent_bytes(s), DEV_READ_WRITE, &s->potentials.buffer, error);
    return status;
}

void spectral_end(spectral *s)
{
    arena_clear(&s->arena);
    transfer_kernels_destroy(&s->transfer);
    kernel_destroy(&s->multiply);
    if (s->fft.device != NULL)
        fft_destroy(&s->fft);
}

double spectral_transform_s(const spectral *s)
{
    return s->fft.forward_s + s->fft.back_s + influence_seconds(s->arena.device, s->n);
}

/* Of the influence function. */
static double waves_bytes(const spectral *s)
{
    const int64_t *n = s->n;
    const bool is_mirrored = hierarchy_is_rectangular(s->hierarchy);
    return sizeof(float) * (double)(n[0] / 2 + 1) * (double)(is_mirrored ? n[1] / 2 + 1 : n[1]) *
           (double)(is_mirrored ? n[2] / 2 + 1 : n[2]);
}

double spectral_send_s(const spectral *s)
{
    return influence_send_s(s->arena.device, kept_spectrum_find_name(s->hierarchy, s->n), waves_bytes(s));
}

double spectral_seconds(const spectral *s, size_t atoms)
{
    return transfer_anterpolation_s(&s->transfer, atoms) + spectral_transform_s(s) + spectral_send_s(s);
}

double spectral_bytes(const spectral *s, double *largest)
{
    const double mesh = (double)fft_mesh_bytes(s->fft.n, true), scratch = (double)s->fft.scratch_bytes,
                 waves = waves_bytes(s);
    *largest = fmax(mesh, fmax(scratch, waves));
    return mesh + scratch + waves + long_wavelengths_bytes(s->hierarchy, s->n);
}

void spectral_learn(const spectral *s, const sequence_times *times)
{
    const double *predicted_s = times->step_predicted_s + s->step, *took_s = times->step_s + s->step;
    if (s->step == 0) /* else the atoms are another level's */
        transfer_learn(&s->transfer, TRANSFER_ANTERPOLATION, predicted_s[SPECTRAL_ANTERPOLATION],
                       took_s[SPECTRAL_ANTERPOLATION]);
    influence_learn(s->arena.device, &s->influence, predicted_s[SPECTRAL_PRODUCT], took_s[SPECTRAL_PRODUCT]);
    fft_learn(&s->fft, took_s[SPECTRAL_FORWARD], took_s[SPECTRAL_BACK]);
}
