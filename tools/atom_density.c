#include "atom_density.h"
#include "console.h"
#include "file.h"
#include "job_options.h"
#include "molecule.h"
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPTION_OF_DENSITY(name) OPTION_OF(ley_density_options, name, atom_density_values, density)

static const option_row rows[] = {
    {OPTION_OF_DENSITY("resolution")},
    {OPTION_OF_DENSITY("convention")},
    {OPTION_OF_DENSITY("weights")},
    {OPTION_OF_DENSITY("verify_every")},
};

static void set_defaults(void *to)
{
    ley_density_options_default(&((atom_density_values *)to)->density);
}

const option_block atom_density_options = OPTION_BLOCK(rows, atom_density_values, set_defaults);

/* What has no charges is Python's to read. */
static void say_what_to_type(const char *path, const char *map, const char *output, const parsed_arguments *arguments,
                             ley_error *error)
{
    char *words[3] = {quoted_word(map != NULL ? map : ""), quoted_word(path), quoted_word(output)};
    const size_t used = strlen(error->message);
    snprintf(error->message + used, sizeof error->message - used,
             "; what has no charges python3 reads: type python3 -m leyden %s %s%s%s -o %s", arguments->command->name,
             map != NULL ? words[0] : "", map != NULL ? " " : "", words[1], words[2]);
    for (int i = 0; i < 3; i++)
        free(words[i]);
}

ley_status atom_density_begin(atom_density *d, const char *path, const char *map, const char *output,
                              const char *device, bool quiet, const parsed_arguments *arguments, ley_error *error)
{
    const atom_density_values *values = option_values(arguments, &atom_density_options);
    d->options = values->density;
    d->by_host = device_is_host(device);
    ley_status status = molecule_read(path, arguments, &d->atoms, error);
    if (status == LEY_ERROR_INPUT && !is_atoms_name(path))
        say_what_to_type(path, map, output, arguments, error);
    if (status != LEY_OK)
        return status;
    if (!quiet && molecule_looks_like_nm(d->atoms))
        warn("%s: are the coordinates in nm? PQR files have them in A", base_name(path));
    d->weight = allocate(ley_atoms_count(d->atoms), sizeof *d->weight);
    d->radius_A = allocate(ley_atoms_count(d->atoms), sizeof *d->radius_A);
    ley_density_radii_of(d->atoms, d->radius_A);
    status = ley_density_weights_of(d->atoms, d->options.weights, d->weight, error);
    if (status == LEY_OK && device != NULL && !d->by_host)
        status = ley_engine_create(device, &d->engine, error);
    return status;
}

void atom_density_end(atom_density *d)
{
    ley_atoms_destroy(d->atoms);
    ley_engine_destroy(d->engine);
    free(d->weight);
    free(d->radius_A);
}

const char *atom_density_text(const atom_density *d)
{
    static const char *const weights[] = {"atomic numbers", "masses", "charges", "occupancies of 1"};
    static short_text text;
    text = text_of("%s at %g A, weights: %s",
                   ley_parameter_choice("ley_density_options", "convention", (int)d->options.convention),
                   d->options.resolution_A, weights[d->options.weights]);
    return text.s;
}

void atom_density_print(const ley_fit_totals *totals)
{
    if (totals->checked_frames > 0)
        printf("verified: %s in double precision, off by at most %.2g\n", counted_text(totals->checked_nodes, "node").s,
               totals->error);
    printf("time: %s on %s\n", seconds_text(totals->seconds).s, totals->device);
}
