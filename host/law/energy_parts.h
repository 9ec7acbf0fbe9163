/* What the terms of the law of energies share. */
#ifndef LEY_LAW_ENERGY_PARTS_H
#define LEY_LAW_ENERGY_PARTS_H

#include "law/energy_frame.h"
#include "numerics/cell.h"

/* A frame, and what all its sums need. */
typedef struct energy_law {
    const energy_frame *frame;
    const ley_particles_arrays *of;
    const ley_energy_options *options;
    int64_t n;
    cell cell;    /* without periodic vectors where the frame has no cell */
    double kappa; /* of Born's salt, in 1/A */
} energy_law;

/* Errors: LEY_ERROR_INPUT for a cell that is none. */
ley_status energy_law_begin(const energy_frame *frame, energy_law *law, ley_error *error);

/* The shortest way from particle j, or its nearest image, to i; its square. */
double energy_way(const energy_law *law, int64_t i, int64_t j, double way_A[3]);

/* A function f of a distance r: its value, and -f'(r) / r, which times a way is a force. */
typedef struct energy_curve {
    double value, slope;
} energy_curve;

/* Sums over what one particle takes part in. */
typedef struct energy_sums {
    double energy[LEY_ENERGY_TERMS], absolute[LEY_ENERGY_TERMS], force[3];
    double *row; /* [LEY_ENERGY_TERMS][groups]: energies with each group's particles; NULL: not wanted */
} energy_sums;

/* Adds half of a pair's energy, as one with particle j, and its whole force. */
void energy_add_pair(const energy_law *law, int64_t j, ley_energy_term term, energy_curve pair, double absolute,
                     const double way_A[3], energy_sums *sums);

/* Adds an energy of particle i's own. */
void energy_add_own(const energy_law *law, int64_t i, ley_energy_term term, double energy, energy_sums *sums);

#endif
