/* The known answer of a Fourier transform: a mesh whose transform can be written down, there and
 * back on a device, every value compared. */
#ifndef LEY_FFT_ANSWER_H
#define LEY_FFT_ANSWER_H

#include "fft_plan.h"

/* Runs a plan there and back, twice, and fills in its error and how long it takes. Each value may
 * be off by at most a ten thousandth of the root mean square of all. LEY_ERROR_WRONG_RESULT: one is
 * off by more, or all together by more than `most_error`. */
ley_status fft_answer(dev_fft *fft, double most_error, ley_error *error);

#endif
