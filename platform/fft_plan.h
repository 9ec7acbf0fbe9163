/* A plan of a Fourier transform: the layout of what it transforms, its sizes, and its
 * start. The layout is the same for all libraries:
 *
 *   mesh   float[n[2]][n[1]][pitch], x fastest. Out of place the pitch is n[0]; in place it is
 *             2 (n[0] / 2 + 1), and what stands behind a row's n[0] values does not matter and
 *             does not stay.
 *   spectrum  {re, im} as floats, [n[2]][n[1]][n[0] / 2 + 1]: k_x from 0 to n[0] / 2; k_y and k_z
 *             from 0 to n - 1, those above n / 2 standing for k - n. In place it takes the
 *             mesh's room.
 *   there     F[k] = sum over r of f[r] exp(-2 pi i (k_x r_x / n[0] + k_y r_y / n[1] + k_z r_z /
 *             n[2]))
 *   back      the same with + in the exponent, of all n[0] n[1] n[2] k, the missing half of which
 *             is F[-k] = conj F[k]. That must hold in the planes k_x = 0 and k_x = n[0] / 2 as
 *             well, of which both halves are there: libraries differ in what they make of others
 *
 * Nothing is divided: there and back multiplies by n[0] n[1] n[2]. Out of place the way there
 * leaves the mesh as it is, and the way back leaves anything in the spectrum. */
#ifndef LEY_FFT_PLAN_H
#define LEY_FFT_PLAN_H

#include "device.h"

/* A plan, ready for use on its device. */
typedef struct dev_fft {
    dev *device;
    dev_fft_plan *plan; /* NULL: there is none */
    size_t n[3], filled[3], scratch_bytes;
    size_t zero_bytes; /* of the mesh, from its beginning: where what is not filled must be zero on the way there, in
                          planes that are not filled the ends of rows as well; others are not read */
    bool in_place, tables, from_cache;
    bool is_wrong; /* there is none, and one was tried whose known answer is wrong, or off by more than wished for */
    char library[16], version[64];
    char passed_over[256];    /* libraries that were predicted faster and are wrong or failed, and why; empty: none */
    double error;             /* relative RMS of its known answer, the worse way */
    double forward_s, back_s; /* measured; 0: unknown */
    double prepared_s;        /* how long fft_create() took for it; and when nothing was kept of it, test included */
    double cold_s;
} dev_fft;

/* Values of a grid of this size in place, padding included. */
uint64_t fft_values(const size_t n[3]);

/* Bytes of a mesh of this size, padding included, and of its spectrum. */
size_t fft_mesh_bytes(const size_t n[3], bool in_place);
size_t fft_spectrum_bytes(const size_t n[3]);

/* Floats from one row of the mesh to the next. */
size_t fft_pitch(const size_t n[3], bool in_place);

/* Starts it in the launch lane, there from the mesh `from` to the spectrum `to`, or back from
 * the spectrum to the mesh; in place both are the same buffer. `scratch` has scratch_bytes, and
 * may be other plans' of the same device as well; NULL where that is 0. */
ley_status fft_start(const dev_fft *fft, bool forward, dev_buffer *from, dev_buffer *to, dev_buffer *scratch,
                     dev_event **done, ley_error *error);

#endif
