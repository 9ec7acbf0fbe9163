/* Known answers for self-tests of energies' kernels: particles on a jittered lattice, two frames,
 * which the law has computed. */
#ifndef LEY_ENERGY_TRIAL_H
#define LEY_ENERGY_TRIAL_H

#include "energy/part.h"

enum { ENERGY_TRIAL_FRAMES = 2, ENERGY_TRIAL_GROUPS = 4 };
#define ENERGY_TRIAL_CUTOFF_A 7.5 /* of options; the trial moves it a little, to where no pair is */

typedef struct energy_trial {
    ley_particles *particles;
    energy_problem problem;
    energy_part part; /* memory alone: no module of it is made */
    float *position_A;
    const double *cell_A; /* [frames][3][3]; NULL: not periodic */
} energy_trial;

/* Options of pairs within the cutoff of these kinds; the default ones otherwise. */
void energy_trial_options(ley_energy_options *options, int lennard_jones, int coulomb, bool forces);

/* On failure, energy_trial_end() ends what there is. */
ley_status energy_trial_begin(energy_trial *t, dev *device, const ley_energy_options *options, bool is_periodic,
                              ley_error *error);

/* The batch that both frames are in, with results poisoned. */
energy_batch *energy_trial_batch(energy_trial *t);

/* Ends the batch, and compares these terms by particle, forces if there are any, and the parts with
 * groups. Forces are those of these terms alone. Errors: LEY_ERROR_WRONG_RESULT, with the place. */
ley_status energy_trial_judge(energy_trial *t, const ley_energy_term *terms, int count, ley_error *error);

/* Parts that are whole numbers; ends the batch and compares their sums by groups. */
ley_status energy_trial_parts(energy_trial *t, ley_error *error);
ley_status energy_trial_judge_sums(energy_trial *t, ley_error *error);

void energy_trial_end(energy_trial *t);

#endif
