#include "law/energy_options.h"

#include "error.h"
#include "law/energy_born.h"
#include "law/energy_pairs.h"

#include <math.h>

void ley_energy_options_default(ley_energy_options *options)
{
    *options = (ley_energy_options){.size = sizeof *options,
                                    .coulomb_constant = LEY_COULOMB_CONSTANT_AMBER,
                                    .dielectric = 1,
                                    .lennard_jones = LEY_LENNARD_JONES_PLAIN,
                                    .coulomb = LEY_COULOMB_PLAIN,
                                    .ewald_tolerance = 1e-4,
                                    .solvent_dielectric = 78.5,
                                    .temperature_K = 300,
                                    .born_most_A = 30,
                                    .tension = 0.0072,
                                    .probe_A = 1.4,
                                    .verify_every = 256};
}

/* ---- Options --------------------------------------------------------------------------------- */

static ley_status check_ranges(const ley_energy_options *o, ley_error *error)
{
    const struct {
        const char *name;
        double value, low, high;
    } ranges[] = {{"coulomb_constant", o->coulomb_constant, 1, 1e4},
                  {"dielectric", o->dielectric, 1e-3, 1e6},
                  {"lennard_jones", (double)o->lennard_jones, 0, LEY_LENNARD_JONES_KINDS - 1},
                  {"coulomb", (double)o->coulomb, 0, LEY_COULOMB_KINDS - 1},
                  {"cutoff_A", o->cutoff_A, 0, 1e4},
                  {"switch_A", o->switch_A, 0, 1e4},
                  {"reaction_dielectric", o->reaction_dielectric, 0, 1e6},
                  {"ewald_tolerance", o->ewald_tolerance, 1e-5, 1e-2},
                  {"born", (double)o->born, 0, LEY_BORN_KINDS - 1},
                  {"solvent_dielectric", o->solvent_dielectric, 1e-3, 1e6},
                  {"salt_M", o->salt_M, 0, 100},
                  {"temperature_K", o->temperature_K, 1e-3, 1e6},
                  {"born_cutoff_A", o->born_cutoff_A, 0, 1e4},
                  {"born_most_A", o->born_most_A, 0.1, 1e6},
                  {"surface", (double)o->surface, 0, LEY_SURFACE_KINDS - 1},
                  {"tension", o->tension, -1e3, 1e3},
                  {"offset", o->offset, -1e6, 1e6},
                  {"probe_A", o->probe_A, 0, 100},
                  {"groups", o->groups, 0, 1e6},
                  {"verify_every", (double)o->verify_every, 0, 1e18}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (!(ranges[i].value >= ranges[i].low && ranges[i].value <= ranges[i].high))
            return ley_fail(error, LEY_ERROR_USAGE, "%s is %g, must be %g to %g", ranges[i].name, ranges[i].value,
                            ranges[i].low, ranges[i].high);
    return LEY_OK;
}

/* Options that need others, or exclude them. */
static ley_status check_together(const ley_energy_options *o, ley_error *error)
{
    const bool needs_cutoff = energy_is_switched(o->lennard_jones) || o->lennard_jones == LEY_LENNARD_JONES_SHIFTED ||
                              o->coulomb > LEY_COULOMB_PLAIN || o->tail_correction;
    if (needs_cutoff && o->cutoff_A == 0)
        return ley_fail(error, LEY_ERROR_USAGE,
                        "cutoff_A is 0: what is switched, shifted, corrected for a tail, a "
                        "reaction field or Ewald's sum needs a cutoff");
    if (energy_is_switched(o->lennard_jones) && !(o->switch_A > 0 && o->switch_A < o->cutoff_A))
        return ley_fail(error, LEY_ERROR_USAGE, "switch_A is %g, must be above 0 and below the cutoff, %g A",
                        o->switch_A, o->cutoff_A);
    if (o->coulomb == LEY_COULOMB_EWALD && o->born != LEY_BORN_NONE)
        return ley_fail(error, LEY_ERROR_USAGE, "Born energies have no Ewald sum");
    if (o->coulomb == LEY_COULOMB_EWALD && o->groups > 0)
        return ley_fail(
            error, LEY_ERROR_USAGE,
            "Ewald's sum is not made of pairs: it has no matrix of groups; a cutoff or a reaction field has one, "
            "or take energies of subsets, E(A and B) - E(A) - E(B)");
    if (o->born_taper && o->born_cutoff_A == 0)
        return ley_fail(error, LEY_ERROR_USAGE, "born_taper needs a born_cutoff_A");
    if (o->groups > 0 && o->group == NULL)
        return ley_fail(error, LEY_ERROR_USAGE, "%d groups, and a null pointer to them", (int)o->groups);
    if (o->forces && o->surface == LEY_SURFACE_NUMERICAL)
        return ley_fail(error, LEY_ERROR_USAGE, "the numerical surface has no forces");
    return LEY_OK;
}

/* ---- Particles ------------------------------------------------------------------------------- */

static ley_status check_arrays(const ley_particles_arrays *of, const ley_energy_options *o, ley_error *error)
{
    const struct {
        bool is_needed;
        const void *array;
        const char *name, *by;
    } needs[] = {{o->born != LEY_BORN_NONE, of->born_radii, "born_radii", "Born energies need"},
                 {o->born != LEY_BORN_NONE, of->born_screens, "born_screens", "Born energies need"},
                 {o->born == LEY_BORN_GBN2, of->born_factors, "born_factors", "GBn2 needs"},
                 {o->surface != LEY_SURFACE_NONE, of->surface_radii, "surface_radii", "a surface needs"},
                 {o->surface == LEY_SURFACE_LCPO, of->lcpo_factors, "lcpo_factors", "LCPO needs"}};
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (needs[i].is_needed && needs[i].array == NULL)
            return ley_fail(error, LEY_ERROR_INPUT, "the particles have no %s, which %s", needs[i].name, needs[i].by);
    for (int64_t i = 0; i < of->particles && o->groups > 0; i++)
        if (o->group[i] < -1 || o->group[i] >= o->groups)
            return ley_fail(error, LEY_ERROR_USAGE, "particle %lld is of group %d: there are %d, from 0",
                            (long long)i + 1, (int)o->group[i], (int)o->groups);
    return LEY_OK;
}

ley_status energy_law_check(const ley_particles_arrays *particles, const ley_energy_options *options, ley_error *error)
{
    ley_status status = check_ranges(options, error);
    if (status == LEY_OK)
        status = check_together(options, error);
    if (status == LEY_OK)
        status = check_arrays(particles, options, error);
    if (status == LEY_OK && options->born != LEY_BORN_NONE)
        status = energy_born_check(particles, options, error);
    return status;
}

/* ---- Frames ---------------------------------------------------------------------------------- */

/* How far pairs reach within a cell, at most. */
static double reach_of(const ley_particles_arrays *of, const ley_energy_options *o)
{
    double surface_A = 0;
    for (int64_t i = 0; i < of->particles && o->surface != LEY_SURFACE_NONE; i++)
        surface_A = fmax(surface_A, 2 * (of->surface_radii[i] + o->probe_A));
    return fmax(fmax(o->cutoff_A, surface_A), o->born != LEY_BORN_NONE ? energy_born_reach(of, o) : 0);
}

static ley_status check_cell(const energy_frame *frame, ley_error *error)
{
    const ley_energy_options *o = frame->options;
    const double reach_A = reach_of(frame->particles, o);
    energy_law law;
    ley_status status = energy_law_begin(frame, &law, error);
    for (int i = 0; i < 3 && status == LEY_OK && frame->cell_A != NULL; i++) {
        const double width_A = 1 / cell_length(law.cell.dual_per_A[i]);
        if (width_A < 2 * reach_A)
            status =
                ley_fail(error, LEY_ERROR_INPUT, "cell: %g A wide across vector %c, less than twice the cutoff, %g A",
                         width_A, 'a' + i, reach_A);
    }
    if (status == LEY_OK && frame->cell_A == NULL && (o->coulomb == LEY_COULOMB_EWALD || o->tail_correction))
        status = ley_fail(error, LEY_ERROR_INPUT, "%s needs a cell",
                          o->tail_correction ? "the tail's correction" : "Ewald's sum");
    return status;
}

ley_status energy_law_check_frame(const energy_frame *frame, ley_error *error)
{
    const double most_A = 1e6;
    for (int64_t i = 0; i < 3 * frame->particles->particles; i++)
        if (!(fabs((double)frame->position_A[i]) <= most_A))
            return ley_fail(error, LEY_ERROR_INPUT, "particle %lld: position %g is not within 1e6 A",
                            (long long)(i / 3) + 1, (double)frame->position_A[i]);
    return check_cell(frame, error);
}
