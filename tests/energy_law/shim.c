/* The law of energies for tests/compare_energies.py, which builds this as a library of its own. */
#include "law/energy.h"

LEY_API ley_status shim_energy(const ley_particles_arrays *particles, const ley_energy_options *options,
                               const float *position_A, const double *cell_A, ley_energy_results *results,
                               double (*force)[3], ley_error *error);
LEY_API void shim_default(ley_energy_options *options, size_t size[3]);

ley_status shim_energy(const ley_particles_arrays *particles, const ley_energy_options *options,
                       const float *position_A, const double *cell_A, ley_energy_results *results, double (*force)[3],
                       ley_error *error)
{
    const energy_frame frame = {particles, options, position_A, cell_A};
    const ley_status status = energy_law_check(particles, options, error);
    return status == LEY_OK ? energy_law_frame(&frame, results, force, error) : status;
}

/* Sizes by which the caller's structs are checked. */
void shim_default(ley_energy_options *options, size_t size[3])
{
    ley_energy_options_default(options);
    size[0] = sizeof *options;
    size[1] = sizeof(ley_particles_arrays);
    size[2] = sizeof(ley_error);
}
