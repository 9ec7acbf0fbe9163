#include "law/energy_options.h"

#include "core/parameters.h"
#include "error.h"
#include "law/energy_born.h"
#include "law/energy_pairs.h"

#include <math.h>

/* ---- Parameters ------------------------------------------------------------------------------ */

static const char *const lennard_jones_words[] = {
    "none", "plain", "shifted", "switched", "switched-charmm", "force-switched-charmm", "force-switched-gromacs", NULL};
static const char *const coulomb_words[] = {"none",           "plain", "shifted", "shifted-charmm",
                                            "reaction-field", "pme",   NULL};
static const char *const born_words[] = {"none", "hct", "obc1", "obc2", "gbn", "gbn2", NULL};
static const char *const surface_words[] = {"none", "lcpo", "numerical", NULL};
static const ley_named_number constants[] = {{"amber", LEY_COULOMB_CONSTANT_AMBER},
                                             {"charmm", LEY_COULOMB_CONSTANT_CHARMM},
                                             {"namd", LEY_COULOMB_CONSTANT_NAMD},
                                             {"openmm", LEY_COULOMB_CONSTANT_OPENMM},
                                             {NULL, 0}};

_Static_assert(sizeof lennard_jones_words / sizeof *lennard_jones_words == LEY_LENNARD_JONES_KINDS + 1 &&
                   sizeof coulomb_words / sizeof *coulomb_words == LEY_COULOMB_KINDS + 1 &&
                   sizeof born_words / sizeof *born_words == LEY_BORN_KINDS + 1 &&
                   sizeof surface_words / sizeof *surface_words == LEY_SURFACE_KINDS + 1,
               "each kind has a word");

/* clang-format off */
static const ley_parameter rows[] = {
    {.name = "lj", .type = LEY_PARAMETER_CHOICE, .value = "KIND", .default_value = {LEY_LENNARD_JONES_PLAIN},
     .choices = lennard_jones_words, .sentence = "Lennard-Jones energies",
     .details = "plain ones are cut off at `cutoff`, if there is one; shifted ones are 0 there; the others are "
                 "switched off "
                "from `switch` to `cutoff`, switched as by OpenMM and GROMACS",
     PARAMETER_FIELD(ley_energy_options, lennard_jones)},
    {.name = "coulomb", .type = LEY_PARAMETER_CHOICE, .value = "KIND", .default_value = {LEY_COULOMB_PLAIN},
     .choices = coulomb_words, .sentence = "Coulomb energies",
     .details = "plain ones are cut off at `cutoff`, if there is one; shifted is GROMACS's; pme, Ewald's sum by a "
                 "mesh, is in "
                "periodic cells",
     PARAMETER_FIELD(ley_energy_options, coulomb)},
    {.name = "constant", .type = LEY_PARAMETER_REAL, .unit = "kcal/mol A/e^2", .value = "C",
     .default_value = {LEY_COULOMB_CONSTANT_AMBER}, .low = 1, .high = 1e4, .numbers = constants,
     .sentence = "Coulomb's constant, of a program or a number",
     PARAMETER_FIELD(ley_energy_options, coulomb_constant)},
    {.name = "dielectric", .alias = "intdiel", .type = LEY_PARAMETER_REAL, .value = "E", .default_value = {1},
     .low = 1e-3,
     .high = 1e6, .sentence = "relative permittivity of the solute", PARAMETER_FIELD(ley_energy_options, dielectric)},
    {.name = "cutoff", .alias = "cut", .type = LEY_PARAMETER_REAL, .unit = "A", .low = 0, .high = 1e4,
     .unset = "there is none",
     .sentence = "cutoff distance of pairs", PARAMETER_FIELD(ley_energy_options, cutoff_A)},
    {.name = "switch", .type = LEY_PARAMETER_REAL, .unit = "A", .low = 0, .high = 1e4, .unset = "nowhere",
     .sentence = "where `lj` begins to switch", PARAMETER_FIELD(ley_energy_options, switch_A)},
    {.name = "tail_correction", .type = LEY_PARAMETER_FLAG,
     .sentence = "Lennard-Jones energy beyond the cutoff, of particles that are spread evenly, in periodic cells",
     PARAMETER_FIELD(ley_energy_options, tail_correction)},
    {.name = "reaction_dielectric", .type = LEY_PARAMETER_REAL, .value = "E", .low = 0, .high = 1e6,
     .sentence = "relative permittivity of what surrounds a reaction field; 0: conducting",
     PARAMETER_FIELD(ley_energy_options, reaction_dielectric)},
    {.name = "ewald_tolerance", .type = LEY_PARAMETER_REAL, .value = "TOL", .default_value = {1e-4}, .low = 1e-5,
     .high = 1e-2,
     .sentence = "relative root mean square error of forces of pme",
     PARAMETER_FIELD(ley_energy_options, ewald_tolerance)},
    {.name = "gb", .type = LEY_PARAMETER_CHOICE, .value = "MODEL", .choices = born_words,
     .sentence = "generalised Born: Amber's igb 1, 2, 5, 7, 8", PARAMETER_FIELD(ley_energy_options, born)},
    {.name = "solvent_dielectric", .alias = "extdiel", .type = LEY_PARAMETER_REAL, .value = "E",
     .default_value = {78.5},
     .low = 1e-3, .high = 1e6, .sentence = "relative permittivity of the solvent of `gb`",
     PARAMETER_FIELD(ley_energy_options, solvent_dielectric)},
    {.name = "salt", .type = LEY_PARAMETER_REAL, .unit = "mol/l", .value = "M", .low = 0, .high = 7,
     .sentence = "monovalent ions around `gb`; NaCl dissolves up to 6.1 mol/l",
     PARAMETER_FIELD(ley_energy_options, salt_M)},
    {.name = "temperature", .type = LEY_PARAMETER_REAL, .unit = "K", .default_value = {300}, .low = 1e-3, .high = 1e6,
     .sentence = "temperature of the screening by `salt`", PARAMETER_FIELD(ley_energy_options, temperature_K)},
    {.name = "gb_cutoff", .type = LEY_PARAMETER_REAL, .unit = "A", .low = 0, .high = 1e4,
     .unset = "there is none", .sentence = "cutoff distance of pairs of `gb`",
     PARAMETER_FIELD(ley_energy_options, born_cutoff_A)},
    {.name = "gb_taper", .type = LEY_PARAMETER_FLAG, .sentence = "integrals of `gb` go smoothly to 0 at "
                 "`gb_cutoff`, as NAMD's",
     PARAMETER_FIELD(ley_energy_options, born_taper)},
    {.name = "surface", .type = LEY_PARAMETER_CHOICE, .value = "KIND", .choices = surface_words,
     .sentence = "surface energy, `tension` times the area and `offset`",
     .details = "numerical is Shrake and Rupley's area",
     PARAMETER_FIELD(ley_energy_options, surface)},
    {.name = "tension", .alias = "surften", .type = LEY_PARAMETER_REAL, .unit = "kcal/mol/A^2", .value = "T",
     .default_value = {0.0072}, .low = -1e3, .high = 1e3, .sentence = "surface tension",
     PARAMETER_FIELD(ley_energy_options, tension)},
    {.name = "offset", .alias = "surfoff", .type = LEY_PARAMETER_REAL, .unit = "kcal/mol", .value = "E", .low = -1e6,
     .high = 1e6, .sentence = "what is added to the surface energy", PARAMETER_FIELD(ley_energy_options, offset)},
    {.name = "probe", .type = LEY_PARAMETER_REAL, .unit = "A", .default_value = {1.4}, .low = 0, .high = 100,
     .sentence = "radius of the solvent, by which the surface is larger",
     PARAMETER_FIELD(ley_energy_options, probe_A)},
    {.name = "verify_every", .type = LEY_PARAMETER_INTEGER, .value = "N", .default_value = {256}, .low = 0,
     .high = 1e15,
     .sentence = "one frame of so many is verified in double precision, the first one always; 0: none",
     PARAMETER_FIELD(ley_energy_options, verify_every)},
};
/* clang-format on */

const ley_parameter_table energy_parameters = PARAMETER_TABLE(ley_energy_options, rows);

void ley_energy_options_default(ley_energy_options *options)
{
    parameters_default(&energy_parameters, options);
    options->born_most_A = 30;
}

/* ---- Options --------------------------------------------------------------------------------- */

static ley_status check_ranges(const ley_energy_options *o, ley_error *error)
{
    if (!(o->born_most_A >= 0.1 && o->born_most_A <= 1e6))
        return ley_fail(error, LEY_ERROR_USAGE, "born_most_A is %g, must be 0.1 to 1e6", o->born_most_A);
    if (o->groups < 0 || o->groups > 1000000)
        return ley_fail(error, LEY_ERROR_USAGE, "groups is %d, must be 0 to 1e6", (int)o->groups);
    return parameters_check(&energy_parameters, o, error);
}

/* Options that need others, or exclude them. */
static ley_status check_together(const ley_energy_options *o, ley_error *error)
{
    const bool needs_cutoff = energy_is_switched(o->lennard_jones) || o->lennard_jones == LEY_LENNARD_JONES_SHIFTED ||
                              o->coulomb > LEY_COULOMB_PLAIN || o->tail_correction;
    if (needs_cutoff && o->cutoff_A == 0)
        return ley_fail(
            error, LEY_ERROR_USAGE,
            "cutoff is needed: what is switched, shifted or corrected for a tail, a reaction field and Ewald's "
            "sum have one, 9 A say");
    if (energy_is_switched(o->lennard_jones) && !(o->switch_A > 0 && o->switch_A < o->cutoff_A))
        return ley_fail(error, LEY_ERROR_USAGE, "switch is %g A, must be above 0 and below the cutoff, %g A",
                        o->switch_A, o->cutoff_A);
    if (o->coulomb == LEY_COULOMB_EWALD && o->born != LEY_BORN_NONE)
        return ley_fail(
            error, LEY_ERROR_USAGE,
            "gb and coulomb='pme' exclude each other: Born energies are of open space, and have no Ewald sum");
    if (o->coulomb == LEY_COULOMB_EWALD && o->groups > 0)
        return ley_fail(error, LEY_ERROR_USAGE,
                        "groups: coulomb='pme', Ewald's sum, is not made of pairs, and has no matrix of groups: "
                        "coulomb='reaction-field' has energies between groups, and without groups 'pme' has the whole");
    if (o->born_taper && o->born_cutoff_A == 0)
        return ley_fail(error, LEY_ERROR_USAGE, "gb_taper needs gb_cutoff");
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
