/* What is asked for: options, species, how many ions, in which order. */
#include "core/options.h"
#include "error.h"
#include "ions/internal.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const char *const places[] = {"auto", "host", "device", NULL};
static const ley_parameter rows[] = {
    {.name = "from_solute", .type = LEY_PARAMETER_REAL, .unit = "A", .default_value = {6}, .low = 0.1, .high = 1e3,
     .sentence = "least distance of an ion from the atoms of the solute",
     PARAMETER_FIELD(ley_ions_options, from_solute_A)},
    {.name = "between", .type = LEY_PARAMETER_REAL, .unit = "A", .default_value = {10}, .low = 0, .above_low = true,
     .high = 1e3, .sentence = "least distance between ions, in whole spacings of the grid",
     PARAMETER_FIELD(ley_ions_options, between_A)},
    {.name = "neutralise", .alias = "neutralize", .type = LEY_PARAMETER_FLAG,
     .sentence = "add ions of the missing sign until the total charge is as near to 0 as it gets",
     PARAMETER_FIELD(ley_ions_options, neutralise)},
    {.name = "concentration", .type = LEY_PARAMETER_REAL, .unit = "mol/l", .value = "M", .default_value = {0},
     .low = 0, .high = 100, .unset = "no salt",
     .sentence = "add salt of this concentration, of the first cation and the first anion",
     .details = "in the volume that ions may be in: that of the nodes of the grid that are not too near to the "
                "solute, or of the whole periodic cell",
     PARAMETER_FIELD(ley_ions_options, concentration_M)},
    {.name = "distance_dielectric", .type = LEY_PARAMETER_FLAG, .level = LEY_EXPERT,
     .sentence = "take the distance of a pair in A as its relative permittivity, so that potentials are sums of q/r^2",
     PARAMETER_FIELD(ley_ions_options, distance_dielectric)},
    {.name = "seed", .type = LEY_PARAMETER_INTEGER, .value = "N", .default_value = {0}, .low = 0, .high = 9e15,
     .unset = "the first of equals",
     .sentence = "random seed for the choice among places of equal energy",
     PARAMETER_FIELD(ley_ions_options, seed)},
    {.name = "placing", .type = LEY_PARAMETER_CHOICE, .level = LEY_EXPERT, .value = "PLACE", .choices = places,
     .sentence = "where the grid is searched for the ions' places; auto is a device that is a GPU, or else the host",
     PARAMETER_FIELD(ley_ions_options, placing)},
};
/* clang-format on */

const ley_parameter_table ions_parameters = PARAMETER_TABLE(ley_ions_options, rows);

void ley_ions_options_default(ley_ions_options *options)
{
    parameters_default(&ions_parameters, options);
}

/* ---- Species --------------------------------------------------------------------------------- */

/* Radii: half of the distance of least energy of CHARMM36's ions. */
static const ley_ion_species known[] = {
    {"LI", 1, 1.2975, 0}, {"NA", 1, 1.41075, 0}, {"K", 1, 1.76375, 0},   {"RB", 1, 1.9, 0},      {"CS", 1, 2.1, 0},
    {"MG", 2, 1.185, 0},  {"CA", 2, 1.367, 0},   {"BA", 2, 1.89, 0},     {"ZN", 2, 1.09, 0},     {"CD", 2, 1.357, 0},
    {"CL", -1, 2.27, 0},  {"LIT", 1, 1.2975, 0}, {"SOD", 1, 1.41075, 0}, {"POT", 1, 1.76375, 0}, {"RUB", 1, 1.9, 0},
    {"CES", 1, 2.1, 0},   {"CAL", 2, 1.367, 0},  {"BAR", 2, 1.89, 0},    {"ZN2", 2, 1.09, 0},    {"CD2", 2, 1.357, 0},
    {"CLA", -1, 2.27, 0},
};
enum { KNOWN = sizeof known / sizeof *known };

bool ley_ion_species_find(const char *name, double *charge_e, double *radius_A)
{
    for (size_t i = 0; i < KNOWN; i++)
        if (strcmp(known[i].name, name) == 0) {
            *charge_e = known[i].charge_e;
            *radius_A = known[i].radius_A;
            return true;
        }
    return false;
}

const char *ley_ion_species_name(size_t i)
{
    return i < KNOWN ? known[i].name : NULL;
}

/* A residue of a PQR or PDB file. */
static bool is_name(const char *name)
{
    const size_t length = strlen(name);
    for (size_t i = 0; i < length; i++)
        if (name[i] <= ' ' || name[i] > '~')
            return false;
    return length >= 1 && length <= 4;
}

static ley_status check_species(const ley_ions_options *o, size_t i, ley_error *error)
{
    const double most_e = 100, most_A = 100;
    const int64_t most = 10000000;
    const ley_ion_species *s = &o->species[i];
    if (s->name == NULL || !is_name(s->name))
        return ley_fail(error, LEY_ERROR_USAGE, "ion %zu: its name has 1 to 4 letters or digits, not '%.40s'", i + 1,
                        s->name != NULL ? s->name : "");
    if (!(fabs(s->charge_e) <= most_e) || s->charge_e == 0)
        return ley_fail(error, LEY_ERROR_USAGE,
                        "ion %s: a charge of %g e, and an ion has one that is not 0, up to %g: +1, say", s->name,
                        s->charge_e, most_e);
    if (!(s->radius_A >= 0 && s->radius_A <= most_A))
        return ley_fail(error, LEY_ERROR_USAGE, "ion %s: a radius of %g A, and it must be 0 to %g", s->name,
                        s->radius_A, most_A);
    if (s->count < 0 || s->count > most)
        return ley_fail(error, LEY_ERROR_USAGE, "ion %s: a count of %lld, and it must be 0 to %lld", s->name,
                        (long long)s->count, (long long)most);
    for (size_t k = 0; k < i; k++)
        if (strcmp(o->species[k].name, s->name) == 0)
            return ley_fail(error, LEY_ERROR_USAGE, "ion %s is there twice: name it once, with the count of both",
                            s->name);
    return LEY_OK;
}

/* The first species of this sign; NULL: there is none. */
static const ley_ion_species *first_of(const ley_ions_options *o, double sign)
{
    for (size_t i = 0; i < o->species_count; i++)
        if (o->species[i].charge_e * sign > 0)
            return &o->species[i];
    return NULL;
}

ley_status ions_check(const ley_ions_options *o, ley_error *error)
{
    int64_t counts = 0;
    ley_status status = parameters_check(&ions_parameters, o, error);
    if (status == LEY_OK && (o->species_count == 0 || o->species == NULL))
        status = ley_fail(error, LEY_ERROR_USAGE, "no ion is named: name one with its charge, as NA with +1");
    if (status == LEY_OK && o->species_count > IONS_MOST_SPECIES)
        status = ley_fail(error, LEY_ERROR_USAGE, "%zu species of ions, and at most %d can be placed", o->species_count,
                          IONS_MOST_SPECIES);
    for (size_t i = 0; status == LEY_OK && i < o->species_count; i++) {
        status = check_species(o, i, error);
        counts += o->species[i].count;
    }
    if (status != LEY_OK)
        return status;
    if (counts == 0 && !o->neutralise && o->concentration_M == 0)
        return ley_fail(error, LEY_ERROR_USAGE,
                        "no ion is to be placed: give %s a count, or ask for neutralise or a concentration",
                        o->species[0].name);
    for (int sign = 1; sign >= -1 && o->concentration_M > 0; sign -= 2)
        if (first_of(o, sign) == NULL)
            return ley_fail(error, LEY_ERROR_USAGE,
                            "a concentration is of a salt, and no %s is named: name one beside %s, as %s",
                            sign > 0 ? "cation" : "anion", o->species[0].name, sign > 0 ? "NA with +1" : "CL with -1");
    return LEY_OK;
}

/* ---- How many -------------------------------------------------------------------------------- */

/* The ion of the larger charge counts, and the other one neutralises it. */
static void add_salt(ions_task *t, double volume_A3)
{
    const double per_A3 = 6.02214076e-4; /* of 1 mol/l */
    const ley_ion_species *cation = first_of(&t->o, 1), *anion = first_of(&t->o, -1);
    const double plus_e = cation->charge_e, minus_e = -anion->charge_e;
    const double units = t->o.concentration_M * per_A3 * volume_A3;
    const double cations = plus_e >= minus_e ? round(units) : round(round(units) * minus_e / plus_e);
    const double anions = plus_e >= minus_e ? round(cations * plus_e / minus_e) : round(units);
    t->counts[cation - t->o.species] += (int64_t)cations;
    t->counts[anion - t->o.species] += (int64_t)anions;
}

static double total_charge(const ions_task *t)
{
    double sum = t->charge_e;
    for (size_t i = 0; i < t->o.species_count; i++)
        sum += (double)t->counts[i] * t->o.species[i].charge_e;
    return sum;
}

ley_status ions_count(ions_task *t, double volume_A3, ley_error *error)
{
    const double nothing_e = 1e-6, most = 1e7;
    for (size_t i = 0; i < t->o.species_count; i++)
        t->counts[i] = t->o.species[i].count;
    if (t->o.concentration_M > 0)
        add_salt(t, volume_A3);
    const double lacks_e = -total_charge(t);
    if (t->o.neutralise && fabs(lacks_e) > nothing_e) {
        const ley_ion_species *s = first_of(&t->o, lacks_e);
        if (s == NULL)
            return ley_fail(error, LEY_ERROR_USAGE,
                            "a charge of %+.6g e is to be neutralised, and no %s is named: name one beside %s, as %s",
                            -lacks_e, lacks_e > 0 ? "cation" : "anion", t->o.species[0].name,
                            lacks_e > 0 ? "NA with +1" : "CL with -1");
        t->counts[s - t->o.species] += (int64_t)fmin(ceil(lacks_e / s->charge_e - 0.5), 2 * most);
    }
    memcpy(t->left, t->counts, sizeof t->left);
    if ((double)ions_wanted(t) > most)
        return ley_fail(error, LEY_ERROR_USAGE, "%lld ions, and at most %.0f can be placed", (long long)ions_wanted(t),
                        most);
    return LEY_OK;
}

int64_t ions_wanted(const ions_task *t)
{
    int64_t sum = 0;
    for (size_t i = 0; i < t->o.species_count; i++)
        sum += t->counts[i];
    return sum;
}

bool ions_next(const ions_task *t, size_t *species)
{
    const double rounding_e = 1e-9;
    double best_e = INFINITY;
    for (size_t i = 0; i < t->o.species_count; i++) {
        const double after_e = fabs(t->charge_e + t->o.species[i].charge_e);
        if (t->left[i] > 0 && after_e < best_e - rounding_e) {
            best_e = after_e;
            *species = i;
        }
    }
    return isfinite(best_e);
}

/* ---- Ions ------------------------------------------------------------------------------------ */

ley_status ions_add(ions_task *t, size_t species, const double position_A[3], const int64_t node[3], int64_t water,
                    double energy_kcal_mol, ley_error *error)
{
    ley_ions *ions = t->ions;
    if (ions->count == ions->room) {
        const int64_t room = 2 * ions->room + 16;
        ley_placed_ion *more = realloc(ions->placed, (size_t)room * sizeof *more);
        if (more == NULL)
            return ley_fail_memory(error, (size_t)room * sizeof *more, "the ions");
        ions->placed = more;
        ions->room = room;
    }
    const ley_ion_species *s = &t->o.species[species];
    ley_placed_ion *ion = &ions->placed[ions->count++];
    *ion = (ley_placed_ion){.species = species,
                            .name = ions->names[species],
                            .charge_e = s->charge_e,
                            .radius_A = s->radius_A,
                            .water = water,
                            .energy_kcal_mol = energy_kcal_mol,
                            .energy = energy_kcal_mol * t->unit};
    for (int axis = 0; axis < 3; axis++) {
        ion->position_A[axis] = position_A[axis];
        ion->node[axis] = node != NULL ? node[axis] : -1;
    }
    t->left[species]--;
    t->charge_e += s->charge_e;
    if (t->o.progress != NULL)
        t->o.progress(t->o.progress_context, ions->count, ions_wanted(t));
    return LEY_OK;
}

void ions_set_energy(ions_task *t, int64_t i, double energy_kcal_mol)
{
    t->ions->placed[i].energy_kcal_mol = energy_kcal_mol;
    t->ions->placed[i].energy = energy_kcal_mol * t->unit;
}

ley_status ions_no_room(const ions_task *t, size_t species, ley_error *error)
{
    return ley_fail(error, LEY_ERROR_INPUT,
                    "there is no room for ion %lld of %lld, %s: all %s are within %g A of the solute or %g A of "
                    "ions, of which %lld were placed; take less for between or from_solute, or %s",
                    (long long)t->ions->count + 1, (long long)ions_wanted(t), t->o.species[species].name,
                    t->o.waters != NULL ? "waters" : "nodes", t->o.from_solute_A, t->o.between_A,
                    (long long)t->ions->count,
                    t->o.waters != NULL || t->cell.dimensions > 0 ? "fewer ions" : "more padding");
}

bool ions_is_cancelled(const ions_task *t)
{
    return t->o.cancel != NULL && *t->o.cancel;
}
