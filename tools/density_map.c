/* leyden density-map: the density of a structure at a resolution, as a map. */
#include "atom_density.h"
#include "console.h"
#include "file.h"
#include "interrupt.h"
#include "job_options.h"
#include "job_report.h"
#include "json.h"
#include "molecule.h"
#include "registry.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct density_map_values {
    const char *output, *like, *device, *json;
    ley_grid_options grid;
    bool quiet;
} density_map_values;

enum { OUTPUT, LIKE, SPACING, DIMS, PADDING, ORIGIN, DEVICE };

#define OPTION_OF_GRID(name) OPTION_OF(ley_grid_options, name, density_map_values, grid)

static const option_row rows[] = {
    [OUTPUT] = {.name = "output",
                .letter = 'o',
                .kind = OPTION_TEXT,
                .required = true,
                .offset = offsetof(density_map_values, output),
                .value = "MAP",
                .names = map_endings,
                .help = "map to write, in the format of its ending: %s"},
    [LIKE] = {.name = "like",
              .kind = OPTION_TEXT,
              .offset = offsetof(density_map_values, like),
              .value = "MAP",
              .unset = "none",
              .help = "on the grid of this map"},
    [SPACING] = {OPTION_OF_GRID("spacing"), .unset = "a third of the resolution; 0.3 of it for voltool"},
    [DIMS] = {OPTION_OF_GRID("dims")},
    [PADDING] = {OPTION_OF_GRID("padding"), .unset = "three times the resolution"},
    [ORIGIN] = {OPTION_OF_GRID("origin")},
    [DEVICE] = OPTION_ROW_DEVICE(density_map_values, DEVICE_MAY_BE_HOST),
    OPTION_ROW_JSON(density_map_values),
    OPTION_ROW_QUIET(density_map_values),
};

static void set_defaults(void *to)
{
    ley_grid_options_default(&((density_map_values *)to)->grid);
}

static int check(const parsed_arguments *arguments)
{
    const density_map_values *values = arguments->values;
    const subcommand *command = arguments->command;
    char *header = map_header_path(values->output);
    for (size_t option = SPACING; option <= ORIGIN; option++)
        if (values->like != NULL && option_given(arguments, option))
            return fail_usage(command, "--like and --%s exclude each other: the grid is the map's",
                              arguments->options[option].row->name);
    if (!is_map_name(values->output))
        return fail_usage(command, "--output: '%s' must end in %s", values->output, map_endings());
    const named_file files[] = {{arguments->operand, "molecule", NULL},
                                {values->like, "map", NULL},
                                {values->output, "map", "--output"},
                                {header, "map's header", "--output"},
                                {values->json, "report", "--json"}};
    const int code = files_check(command, files, sizeof files / sizeof *files);
    free(header);
    return code;
}

static ley_status choose_grid(const parsed_arguments *arguments, const atom_density *d, ley_grid *grid,
                              ley_error *error)
{
    const density_map_values *values = arguments->values;
    ley_map *like = NULL;
    ley_status status = ley_density_grid(d->atoms, &d->options, grid, error);
    if (values->like != NULL) {
        status = map_read_with_gaps(values->like, NULL, values->quiet, &like, error);
        if (status == LEY_OK)
            *grid = *ley_map_grid(like);
        ley_map_destroy(like);
        return status;
    }
    ley_grid_options options = values->grid;
    options.given = option_take_given(arguments, "ley_grid_options", &options);
    if (status != LEY_OK || options.given == 0)
        return status;
    if ((options.given & LEY_GIVEN_SPACING) == 0)
        ley_grid_spacing_A(grid, options.spacing_A);
    if ((options.given & LEY_GIVEN_PADDING) == 0)
        options.padding_A = 3 * d->options.resolution_A;
    return ley_grid_choose(&options, d->atoms, NULL, NULL, grid, error);
}

static int conclude(const parsed_arguments *arguments, const atom_density *d, const ley_map *map,
                    const ley_fit_totals *totals)
{
    const density_map_values *values = arguments->values;
    const ley_grid *grid = ley_map_grid(map);
    double low = INFINITY, high = -INFINITY, sum = 0;
    for (int64_t i = 0; i < ley_grid_points(grid); i++) {
        const double value = (double)ley_map_read_values(map)[i];
        low = fmin(low, value);
        high = fmax(high, value);
        sum += value;
    }
    int code = 0;
    if (high == 0 && low == 0 && !values->quiet)
        warn("the map is 0 everywhere: no atom is near its grid");
    if (values->json != NULL) {
        json_t *to = json_begin(arguments);
        json_put(to, "density", json_text(atom_density_text(d)));
        json_put(to, "atoms", json_count((int64_t)ley_atoms_count(d->atoms)));
        json_put(to, "grid", json_of_grid(grid));
        json_put(to, "least", json_number(low));
        json_put(to, "largest", json_number(high));
        json_put(to, "sum", json_number(sum));
        json_put(to, "checked_nodes", json_count(totals->checked_nodes));
        json_put(to, "error", json_number(totals->error));
        json_put(to, "device", json_text(totals->device));
        json_put(to, "elapsed_s", json_number(totals->seconds));
        code = json_finish(to, values->json);
    }
    if (code != 0 || values->quiet || json_takes_stdout(values->json))
        return code;
    printf("density: %s, of %s\n", atom_density_text(d), counted_text((int64_t)ley_atoms_count(d->atoms), "atom").s);
    printf("grid: %s nodes, spacing %s A, values from %.6g to %.6g\n", grid_text(grid->n).s, spacing_text(grid).s, low,
           high);
    atom_density_print(totals);
    printf("written: %s, %s\n", values->output, bytes_text(file_size(values->output)).s);
    return 0;
}

static int density_map_main(const parsed_arguments *arguments)
{
    const density_map_values *values = arguments->values;
    atom_density d = {.atoms = NULL};
    ley_error error = {0};
    ley_map *map = NULL;
    ley_grid grid;
    ley_fit_totals totals = {0};
    int code = check(arguments);
    if (code != 0)
        return code;
    ley_status status = atom_density_begin(&d, arguments->operand, NULL, values->output, values->device, values->quiet,
                                           arguments, &error);
    if (status == LEY_OK)
        status = choose_grid(arguments, &d, &grid, &error);
    if (status == LEY_OK)
        status =
            ley_density_map_create(d.engine, d.atoms, d.weight, &d.options, &grid, d.by_host, &map, &totals, &error);
    interrupt_defer();
    if (status == LEY_OK)
        status = ley_map_write(
            map, values->output,
            text_of("density of the atoms of %s, %s", base_name(arguments->operand), atom_density_text(&d)).s, NULL,
            interrupt_flag(), &error);
    code = status == LEY_OK ? conclude(arguments, &d, map, &totals) : fail_with(&error);
    ley_map_destroy(map);
    atom_density_end(&d);
    return status == LEY_CANCELLED ? interrupt_exit_code() : code;
}

static const option_block *const shared[] = {&atom_density_options, &molecule_options, NULL};

const subcommand density_map_command = {
    .name = "density-map",
    .summary = "Compute the density of a structure at a resolution, as a map.",
    .examples = {"leyden density-map protein.pqr -o density.mrc --resolution 5",
                 "leyden density-map protein.pqr -o density.mrc --resolution 6.5 --like emd_1234.map"},
    .operand = "MOLECULE",
    .operand_help = "the molecule, a PQR file, or what 'leyden generate' writes; - is standard input",
    .is_operand_file = true,
    .details = "Each atom is a Gaussian, whose width is of the resolution, and whose weight is its atomic number, say: "
               "what electron microscopes would see, for comparisons with their maps. The electron density of a "
               "wavefunction is 'leyden density'.",
    .options = OPTION_BLOCK(rows, density_map_values, set_defaults),
    .shared = shared,
    .run = density_map_main,
};
