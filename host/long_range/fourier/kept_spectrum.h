/* The latest influence function, and all that somebody has at the time, for whoever wants the same
 * one: it follows from the mesh and the choices, not from atoms, and takes longer to make than
 * transforms to run. */
#ifndef LEY_LONG_RANGE_FOURIER_KEPT_SPECTRUM_H
#define LEY_LONG_RANGE_FOURIER_KEPT_SPECTRUM_H

#include "numerics/spectrum.h"

/* What is larger than this, and than this part of the memory that the host has left, is not
 * kept. */
#define KEPT_SPECTRUM_USUAL_BYTES (64 << 20)
#define KEPT_SPECTRUM_MOST_SHARE (1.0 / 32)

typedef struct kept_spectrum kept_spectrum;

/* The one that is there; or else made as by spectrum_make(), whose errors it has. From any thread:
 * who wants one that is being made waits for it, or until *cancelled (may be NULL) turns true; and
 * makes it where the other one gives up. Its values are not to be changed. */
ley_status kept_spectrum_get(const hierarchy *h, const int64_t n[3], const atomic_bool *cancelled, kept_spectrum **kept,
                             ley_error *error);
const spectrum *kept_spectrum_of(const kept_spectrum *kept);

/* A number that no other influence function ever has, made before or after it: by this name
 * devices keep its values. And that of the one that is there, without waiting; 0: there is none. */
uint64_t kept_spectrum_name(const kept_spectrum *kept);
uint64_t kept_spectrum_find_name(const hierarchy *h, const int64_t n[3]);

/* Whoever got it gives it back; NULL is none. */
void kept_spectrum_give_back(kept_spectrum *kept);

/* The next one is made anew: a map that it had a part in was wrong. Who has one keeps it. */
void kept_spectrum_forget(void);

#endif
