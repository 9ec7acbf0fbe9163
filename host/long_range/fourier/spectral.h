/* Long-range potentials by Fourier transforms on one device: from atoms to the potentials of the
 * mesh, in the place of the V-cycle (v_cycle.h) and with the same calls. The mesh, padded
 * along open axes, is transformed in place, multiplied by the influence function, and transformed
 * back. */
#ifndef LEY_LONG_RANGE_FOURIER_SPECTRAL_H
#define LEY_LONG_RANGE_FOURIER_SPECTRAL_H

#include "long_range/fourier/influence_kernel.h"
#include "long_range/mesh/transfer.h"

/* Steps of work that its launches are told apart by. */
enum { SPECTRAL_ANTERPOLATION, SPECTRAL_FORWARD, SPECTRAL_PRODUCT, SPECTRAL_BACK, SPECTRAL_STEPS };
_Static_assert((int)SPECTRAL_STEPS <= (int)WORK_STEPS, "a sequence tells them apart");

typedef struct spectral {
    const hierarchy *hierarchy;
    int step; /* what its launches are told apart by begins with this one; 0 but in a V-cycle's top level */
    const atomic_bool *cancelled; /* looked at while the influence function is made; may be NULL */
    bool awaits_potentials;       /* given_potentials will be there: it is loaded without an influence function */
    const float *given_charges, *given_potentials; /* of nodes, in the place of atoms (mesh_rows.h); or NULL */
    long_wavelengths_source long_wavelengths;      /* without take(): there are none */
    transfer_kernels transfer;
    dev_kernel multiply;
    dev_fft fft;
    int64_t n[3]; /* nodes of the transform */
    arena arena;  /* of: */
    coordinate_table arrays[1];
    transfer_meshes meshes;
    transfer_atoms atoms;
    influence_waves influence;
    buffer_of_float charges, potentials; /* the same one */
    dev_buffer *scratch;
    size_t bytes;      /* of the mesh */
    double spectrum_s; /* how long the influence function, made here or waited for, kept this device */
} spectral;

/* Whether kernels can number all nodes, of those of the transform; and whether they number them by
 * plane, being too many for one number. */
bool spectral_can_number(const hierarchy *h);
bool spectral_is_by_plane(const hierarchy *h);

/* How many nodes such a device's transforms of a hierarchy's only level have: influence_extent(),
 * but where z is open, what is known to go wrong on the device is left out. */
void spectral_extent(const dev_info *info, const hierarchy *h, int64_t n[3]);

/* The mesh alone, without atoms: the top level of a V-cycle. Its kernel and its transform, built
 * and tested, or predicted; its buffers, but for the mean wave; what turns its charges, `charges`,
 * into its potentials, in the same buffer, `arrays` saying where they are; before that the buffer
 * is to be cleared; and how long that is predicted to take. `whole`: the hierarchy whose finest
 * level has the atoms. */
ley_status spectral_ready_mesh(spectral *s, dev *device, const hierarchy *h, const fft_wish *fft, ley_error *error);
ley_status spectral_foresee_mesh(spectral *s, dev *device, const hierarchy *h, const fft_wish *fft, ley_error *error);
ley_status spectral_load_mesh(spectral *s, ley_error *error);
ley_status spectral_load_influence(spectral *s, const hierarchy *whole, const spread *atoms, ley_error *error);
void spectral_clear(const spectral *s, command_sequence *w);
void spectral_transform(const spectral *s, command_sequence *w);
double spectral_transform_s(const spectral *s);

/* How long the influence function is predicted to take to the device; 0: the device has it. */
double spectral_send_s(const spectral *s);

/* Kernels and the transform, built and tested. `wish` has no levels. Of `fft` the library, tables,
 * error and number of transforms are looked at; NULL: usual ones. Errors: those of kernel_create();
 * LEY_ERROR_NO_DEVICE, with the reason, where the device has no transform of this size that is
 * right. */
ley_status spectral_ready(spectral *s, dev *device, const hierarchy *h, const transfer_wish *wish, const fft_wish *fft,
                          ley_error *error);

/* The same for forecasts: transforms are predicted, and not made. Only its bytes, its seconds and
 * its end may be asked for. */
ley_status spectral_foresee(spectral *s, dev *device, const hierarchy *h, const transfer_wish *wish,
                            const fft_wish *fft, ley_error *error);

/* The influence function is made, on all cores, or whoever makes it is waited for; it and the atoms
 * go to the device. */
ley_status spectral_load(spectral *s, const spread *atoms, ley_error *error);

/* From atoms to potentials, within a sequence of operations. */
void spectral_run(const spectral *s, command_sequence *w);

/* How long it is predicted to take with so many atoms, once it is ready; 0: nobody knows. */
double spectral_seconds(const spectral *s, size_t atoms);

/* Bytes of its meshes on the device, of one that is ready; and of the largest of its buffers. */
double spectral_bytes(const spectral *s, double *largest);

/* Planes of the mesh with their padding, as solver_lent_bytes() says; and a buffer for them, in
 * place of what spectral_load() makes. */
size_t spectral_lent_bytes(const spectral *s);
ley_status spectral_borrow(spectral *s, ley_error *error);

/* Learns from what its steps were predicted to take, and took. */
void spectral_learn(const spectral *s, const sequence_times *times);

void spectral_end(spectral *s);

#endif
