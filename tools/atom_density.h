/* What commands of densities of atoms share: options, and the atoms with their weights. */
#ifndef LEYDEN_TOOLS_ATOM_DENSITY_H
#define LEYDEN_TOOLS_ATOM_DENSITY_H

#include "options.h"

typedef struct atom_density_values {
    ley_density_options density;
} atom_density_values;

extern const option_block atom_density_options;

/* Atoms, what they weigh, and the device that was asked for, or none. */
typedef struct atom_density {
    ley_atoms *atoms;
    double *weight, *radius_A;
    ley_engine *engine;
    bool by_host;
    ley_density_options options;
} atom_density;

/* Of a file; `device`: as --device has it, or NULL; `map` and `output` are named where the file is
 * Python's to read, NULL: there is none. To be ended also on failure. */
ley_status atom_density_begin(atom_density *d, const char *path, const char *map, const char *output,
                              const char *device, bool quiet, const parsed_arguments *arguments, ley_error *error);
void atom_density_end(atom_density *d);

/* "molmap at 5 A, weights: atomic numbers". */
const char *atom_density_text(const atom_density *d);

/* "checked" lines of a run. */
void atom_density_print(const ley_fit_totals *totals);

#endif
