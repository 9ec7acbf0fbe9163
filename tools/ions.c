/* leyden ions: ions around a molecule, where its potential is best for them. */
#include "cell.h"
#include "console.h"
#include "file.h"
#include "interrupt.h"
#include "json.h"
#include "molecule.h"
#include "pieces.h"
#include "registry.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct ions_values {
    const char *output, *device, *json, *cell;
    option_texts ions;
    ley_ions_options placing;
    ley_request request;
    ley_grid_options grid;
    ley_direct medium;
    int periodic;
    bool replace_waters, ions_only, quiet;
} ions_values;

enum {
    OUTPUT,
    ION,
    FROM_SOLUTE,
    BETWEEN,
    NEUTRALISE,
    CONCENTRATION,
    WATERS,
    ONLY,
    SPACING,
    DIMS,
    PADDING,
    PERIODIC,
    CELL,
    TOL,
    SEED,
    SQUARE,
    PLACING,
    DIELECTRIC
};

#define OPTION_OF_PLACING(name) OPTION_OF(ley_ions_options, name, ions_values, placing)
#define OPTION_OF_GRID(name) OPTION_OF(ley_grid_options, name, ions_values, grid)
#define OPTION_OF_MEDIUM(name) OPTION_OF(ley_direct, name, ions_values, medium)

static const char *const periodic_names[] = {"xyz", NULL};

static const option_row rows[] = {
    [OUTPUT] = {.name = "output",
                .letter = 'o',
                .kind = OPTION_TEXT,
                .required = true,
                .offset = offsetof(ions_values, output),
                .value = "FILE",
                .help = "the file to write: the molecule with its ions, .pqr or .pdb, with or without .gz",
                .more = "a PDB file has neither charges nor radii"},
    [ION] = {.name = "ion",
             .kind = OPTION_TEXTS,
             .required = true,
             .offset = offsetof(ions_values, ions),
             .value = "NAME[,CHARGE[,COUNT]]",
             .help = "an ion: its name, its charge in e, which common ions do not need, and how many to place; "
                     "give --ion once for each kind"},
    [FROM_SOLUTE] = {OPTION_OF_PLACING("from_solute")},
    [BETWEEN] = {OPTION_OF_PLACING("between")},
    [NEUTRALISE] = {OPTION_OF_PLACING("neutralise")},
    [CONCENTRATION] = {OPTION_OF_PLACING("concentration")},
    [WATERS] = {.name = "replace-waters",
                .kind = OPTION_FLAG,
                .offset = offsetof(ions_values, replace_waters),
                .help =
                    "place ions at the oxygens of waters, which they replace, instead of at nodes of a grid; waters "
                    "do not count as solute, and those that are replaced are left out",
                .more = "waters are residues HOH, WAT, SOL, TIP3 and the like"},
    [ONLY] = {.name = "ions-only",
              .kind = OPTION_FLAG,
              .offset = offsetof(ions_values, ions_only),
              .help = "write the ions alone"},
    [SPACING] = {OPTION_OF_GRID("spacing")},
    [DIMS] = {OPTION_OF_GRID("dims")},
    [PADDING] = {OPTION_OF_GRID("padding")},
    [PERIODIC] = {.of = "ley_long_range",
                  .parameter = "periodic",
                  .offset = offsetof(ions_values, periodic),
                  .kind = OPTION_CHOICE,
                  .choices = periodic_names,
                  .help = "xyz: the atoms have images along all three vectors of --cell"},
    [CELL] = {.of = "ley_long_range", .parameter = "cell", .offset = offsetof(ions_values, cell), .kind = OPTION_TEXT},
    [TOL] = {OPTION_OF(ley_request, "tol", ions_values, request), .unset = "0.0001",
             .help = "largest relative root mean square (RMS) error of the potential on the grid",
             .more = "places and energies do not depend on it, because close decisions are made in double precision"},
    [SEED] = {OPTION_OF_PLACING("seed")},
    [SQUARE] = {OPTION_OF_PLACING("distance_dielectric")},
    [PLACING] = {OPTION_OF_PLACING("placing")},
    [DIELECTRIC] = {OPTION_OF_MEDIUM("dielectric"),
                    .help =
                        "relative permittivity for energies that are printed in addition to those in kcal/mol for 1"},
    {OPTION_OF_MEDIUM("temperature")},
    {OPTION_OF_MEDIUM("units")},
    OPTION_ROW_DEVICE(ions_values, "; host: no device at all"),
    OPTION_ROW_JSON(ions_values),
    OPTION_ROW_QUIET(ions_values),
};

static void set_defaults(void *to)
{
    ions_values *values = to;
    ley_ions_options_default(&values->placing);
    ley_request_default(&values->request);
    ley_grid_options_default(&values->grid);
    ley_direct_default(&values->medium);
}

/* ---- What is asked for ----------------------------------------------------------------------- */

static void list_known(char *text, size_t size)
{
    const char *name;
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; (name = ley_ion_species_name(i)) != NULL && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? ", " : "", name);
}

/* One --ion, cut into pieces of `copy`. Prints errors; exit code. */
static int parse_ion(const subcommand *command, const char *text, char *copy, ley_ion_species *ion)
{
    char *rest = copy, known[256];
    const char *name = next_piece(&rest), *charge = next_piece(&rest), *count = next_piece(&rest);
    double number = 0, charge_e = 0;
    *ion = (ley_ion_species){.name = name};
    list_known(known, sizeof known);
    if (name == NULL || name[0] == '\0' || strlen(name) > 4)
        return fail_usage(command, "--ion: '%.60s' begins with no name of 1 to 4 letters: --ion NA,+1", text);
    const bool is_known = ley_ion_species_find(name, &charge_e, &ion->radius_A);
    if (charge == NULL && !is_known)
        return fail_usage(command, "--ion: no ion '%s' is known, so say its charge: --ion %s,+1 (known are %s)", name,
                          name, known);
    if (charge != NULL && (!read_real(charge, &charge_e) || !(fabs(charge_e) <= 100)))
        return fail_usage(command, "--ion: '%.60s' has no charge in e behind the name: --ion %s,+1,6", text, name);
    if (charge_e == 0)
        return fail_usage(command, "--ion: '%.60s' has a charge of 0, and an ion has one: --ion %s,+1", text, name);
    if (count != NULL && (!read_real(count, &number) || number != floor(number) || number < 0 || number > 1e7))
        return fail_usage(command, "--ion: '%.60s' has no count of ions at its end, from 0 to 10000000: --ion %s,%+g,6",
                          text, name, charge_e);
    if (next_piece(&rest) != NULL)
        return fail_usage(command, "--ion: '%.60s' has more than name, charge and count: --ion %s,%+g,6", text, name,
                          charge_e);
    ion->charge_e = charge_e;
    ion->count = (int64_t)number;
    return 0;
}

static int check_ions(const parsed_arguments *arguments, const ley_ion_species *species, size_t n)
{
    const ions_values *values = arguments->values;
    const subcommand *command = arguments->command;
    int64_t counts = 0;
    bool has_cation = false, has_anion = false;
    for (size_t i = 0; i < n; i++) {
        counts += species[i].count;
        has_cation = has_cation || species[i].charge_e > 0;
        has_anion = has_anion || species[i].charge_e < 0;
        for (size_t k = 0; k < i; k++)
            if (strcmp(species[k].name, species[i].name) == 0)
                return fail_usage(command, "--ion %s is given twice: once will do, with the count of both",
                                  species[i].name);
    }
    if (counts == 0 && !values->placing.neutralise && values->placing.concentration_M == 0)
        return fail_usage(command,
                          "no ion is to be placed: add --neutralise or --concentration 0.15, or a count: --ion "
                          "%s,%+g,6",
                          species[0].name, species[0].charge_e);
    if (values->placing.concentration_M > 0 && !(has_cation && has_anion))
        return fail_usage(command, "--concentration is that of a salt, and there is no %s: add --ion %s",
                          has_cation ? "anion" : "cation", has_cation ? "CL,-1" : "NA,+1");
    return 0;
}

static int check_space(const parsed_arguments *arguments)
{
    const subcommand *command = arguments->command;
    static const int of_grids[] = {SPACING, DIMS, PADDING, PLACING};
    const bool is_periodic = option_given(arguments, PERIODIC), has_cell = option_given(arguments, CELL);
    const ions_values *values = arguments->values;
    for (size_t i = 0; values->replace_waters && i < sizeof of_grids / sizeof *of_grids; i++)
        if (option_given(arguments, (size_t)of_grids[i]))
            return fail_usage(command, "--replace-waters and --%s exclude each other: there is no grid",
                              arguments->options[of_grids[i]].row->name);
    if (is_periodic && !has_cell)
        return fail_usage(command, "--periodic needs --cell, the periods in A: --periodic xyz --cell 90,90,90");
    if (has_cell && !is_periodic)
        return fail_usage(command, "--cell needs --periodic: --periodic xyz --cell %.200s", values->cell);
    if (is_periodic && option_given(arguments, PADDING))
        return fail_usage(command, "--periodic and --padding exclude each other: the grid is the cell's");
    if (!option_given(arguments, DIMS) && (values->grid.spacing_A[0] != values->grid.spacing_A[1] ||
                                           values->grid.spacing_A[0] != values->grid.spacing_A[2]))
        return fail_usage(command, "--spacing: three different numbers need --dims");
    return 0;
}

static bool is_ions_name(const char *path)
{
    return ends_with(path, ".pqr") || ends_with(path, ".pqr.gz") || ends_with(path, ".pdb") ||
           ends_with(path, ".pdb.gz");
}

static int check_files(const parsed_arguments *arguments)
{
    const ions_values *values = arguments->values;
    const subcommand *command = arguments->command;
    const bool is_stdin = strcmp(arguments->operand, "/dev/stdin") == 0,
               is_binary = ends_with(arguments->operand, ".atoms");
    if (!is_ions_name(values->output))
        return fail_usage(command, "--output: '%s' must end in .pqr or .pdb, or one of these and .gz", values->output);
    if (is_stdin && (!values->ions_only || values->replace_waters))
        return fail_usage(command, "standard input is read once: name a file of the molecule%s",
                          values->replace_waters ? "" : ", or add --ions-only");
    if (is_binary && (!values->ions_only || values->replace_waters))
        return fail_usage(command, "'%s' has no names of atoms and residues: name a .pqr file%s", arguments->operand,
                          values->replace_waters ? "" : ", or add --ions-only");
    const named_file files[] = {{arguments->operand, "molecule", NULL},
                                {values->output, "molecule with ions", "--output"},
                                {values->json, "report", "--json"}};
    return files_check(command, files, sizeof files / sizeof *files);
}

/* ---- The work -------------------------------------------------------------------------------- */

typedef struct ions_run {
    const parsed_arguments *arguments;
    const ions_values *values;
    ley_ion_species species[OPTION_TEXTS_MAX];
    char *copies[OPTION_TEXTS_MAX];
    ley_request request;
    ley_ions_options options;
    ley_engine *engine;
    ley_atoms *atoms;
    ley_waters *waters;
    ley_ions *ions;
} ions_run;

static int begin(ions_run *run)
{
    const ions_values *values = run->values;
    const option_texts *texts = &values->ions;
    int code = 0;
    for (size_t i = 0; i < texts->n && code == 0; i++) {
        run->copies[i] = copy_of(texts->value[i]);
        code = parse_ion(run->arguments->command, texts->value[i], run->copies[i], &run->species[i]);
    }
    if (code == 0)
        code = check_ions(run->arguments, run->species, texts->n);
    if (code == 0)
        code = check_space(run->arguments);
    if (code == 0)
        code = check_files(run->arguments);
    run->options = values->placing;
    run->options.species = run->species;
    run->options.species_count = texts->n;
    run->request = values->request;
    run->request.grid = values->grid;
    run->request.grid.given = option_take_given(run->arguments, "ley_grid_options", &run->request.grid);
    run->request.potential.units = values->medium.units;
    run->request.potential.dielectric = values->medium.dielectric;
    run->request.potential.temperature_K = values->medium.temperature_K;
    if (code == 0 && values->cell != NULL) {
        code = cell_parse(run->arguments->command, values->cell, run->request.potential.cell_A);
        for (int i = 0; i < 3; i++)
            run->request.potential.periodic[i] = true;
    }
    return code;
}

static void warn_of_charge(const ions_run *run)
{
    const double charge_e = ley_atoms_total_charge_e(run->atoms), off_e = fabs(charge_e - round(charge_e));
    if (off_e > 0.01)
        warn(
            "%s: a charge of %+.4f e is no whole number: atoms or charges may be missing; ions leave %.2g e of it over",
            base_name(run->arguments->operand), charge_e, off_e);
}

static ley_status open_engine(ions_run *run, ley_error *error)
{
    const char *device = run->values->device;
    if (device != NULL && strcmp(device, "host") == 0) {
        run->options.placing = LEY_PLACE_HOST;
        return LEY_OK;
    }
    if (device == NULL)
        return LEY_OK;
    if (run->options.placing == LEY_PLACE_AUTO)
        run->options.placing = LEY_PLACE_DEVICE;
    return ley_engine_create(device, &run->engine, error);
}

static ley_status work(ions_run *run, ley_error *error)
{
    const ions_values *values = run->values;
    ley_status status = molecule_read(run->arguments->operand, run->arguments, &run->atoms, error);
    if (status == LEY_OK && !values->quiet) {
        molecule_warn(run->arguments->operand, run->atoms);
        warn_of_charge(run);
    }
    if (status == LEY_OK && values->replace_waters)
        status = ley_waters_read(run->arguments->operand, run->atoms, &run->waters, error);
    if (status == LEY_OK)
        status = open_engine(run, error);
    run->options.waters = run->waters;
    run->options.cancel = interrupt_flag();
    interrupt_defer();
    if (status == LEY_OK)
        status = ley_ions_place(run->engine, run->atoms, &run->request, &run->options, &run->ions, error);
    if (status == LEY_OK)
        status = ley_ions_write(run->ions, values->ions_only ? NULL : run->arguments->operand, values->output, NULL,
                                interrupt_flag(), error);
    return status;
}

/* ---- What is said ---------------------------------------------------------------------------- */

static int64_t count_of(const ley_ions *ions, size_t species)
{
    int64_t n = 0;
    for (int64_t i = 0; i < ley_ions_count(ions); i++)
        n += ley_ions_get(ions, i)->species == species;
    return n;
}

static json_t *json_of_ion(const ions_run *run, int64_t i)
{
    const ley_placed_ion *ion = ley_ions_get(run->ions, i);
    json_t *object = json_object();
    json_put(object, "order", json_count(i + 1));
    json_put(object, "name", json_text(ion->name));
    json_put(object, "charge_e", json_number(ion->charge_e));
    json_put(object, "position_A", json_numbers(ion->position_A, 3));
    json_put(object, "node", ion->water < 0 ? json_counts(ion->node, 3) : json_null());
    json_put(object, "oxygen",
             ion->water >= 0 ? json_count(ley_waters_oxygen(run->waters, (size_t)ion->water) + 1) : json_null());
    json_put(object, "energy_kcal_mol", json_number(ion->energy_kcal_mol));
    json_put(object, "energy", json_number(ion->energy));
    return object;
}

static int report(const ions_run *run)
{
    const ley_ions_report *how = ley_ions_how(run->ions);
    json_t *to = json_begin(run->arguments), *list = json_array();
    for (int64_t i = 0; i < ley_ions_count(run->ions); i++)
        json_add(list, json_of_ion(run, i));
    json_put(to, "ions", list);
    json_put(to, "units", json_text(text_of("%s e", how->units).s));
    json_put(to, "grid", how->grid.n[0] > 0 ? json_of_grid(&how->grid) : json_null());
    json_put(to, "places", json_count(how->nodes));
    json_put(to, "free_places", json_count(how->free_nodes));
    json_put(to, "volume_A3", json_number(how->volume_A3));
    json_put(to, "solute_charge_e", json_number(how->solute_charge_e));
    json_put(to, "total_charge_e", json_number(how->total_charge_e));
    json_put(to, "waters_removed", json_count(how->waters_removed));
    json_put(to, "method", json_text(how->method));
    json_put(to, "device", json_text(how->device));
    json_put(to, "potential_rms", json_number(how->potential_rms));
    json_put(to, "energy_error", json_number(how->energy_error));
    json_put(to, "recomputed", json_count(how->recomputed));
    json_put(to, "undecided", json_count(how->undecided));
    json_put(to, "potential_s", json_number(how->potential_s));
    json_put(to, "mask_s", json_number(how->mask_s));
    json_put(to, "placing_s", json_number(how->placing_s));
    json_put(to, "bytes_written", json_count((int64_t)file_size(run->values->output)));
    return json_finish(to, run->values->json);
}

/* A charge to 1e-4 e: sums of charges that are written to a few digits are off by less. */
static double without_noise(double charge_e)
{
    return round(charge_e * 1e4) / 1e4 + 0.0; /* no -0 */
}

static void print_places(const ions_run *run)
{
    const ley_ions_report *how = ley_ions_how(run->ions);
    if (run->waters != NULL)
        printf("waters: %s, %s of them more than %g A from the solute, %s replaced\n", count_text(how->nodes).s,
               count_text(how->free_nodes).s, run->options.from_solute_A, count_text(how->waters_removed).s);
    else
        printf("grid: %s nodes, %s of %s within %g A of the solute\n", grid_text(how->grid.n).s,
               count_text(how->nodes - how->free_nodes).s, count_text(how->nodes).s, run->options.from_solute_A);
    if (run->options.concentration_M > 0)
        printf("salt: %g mol/l in %.6g A^3, %s\n", run->options.concentration_M, how->volume_A3,
               run->request.potential.periodic[0] ? "the cell"
               : run->waters != NULL              ? "30 A^3 of each water"
                                                  : "the volume of the grid that is not near the solute");
}

static void print(const ions_run *run)
{
    const ley_ions_report *how = ley_ions_how(run->ions);
    const int64_t n = ley_ions_count(run->ions);
    print_places(run);
    printf("ions: %s", n == 0 ? "none" : "");
    for (size_t i = 0; n > 0 && i < run->options.species_count; i++)
        printf("%s%s %s", i > 0 ? ", " : "", count_text(count_of(run->ions, i)).s, run->species[i].name);
    printf("\ncharge: %+.6g e before, %+.6g e with the ions\n", without_noise(how->solute_charge_e),
           without_noise(how->total_charge_e));
    if (n > 0) {
        const ley_placed_ion *first = ley_ions_get(run->ions, 0), *last = ley_ions_get(run->ions, n - 1);
        printf("energies: %.3f kcal/mol of the first, %s, to %.3f of the last, %s, in double precision\n",
               first->energy_kcal_mol, first->name, last->energy_kcal_mol, last->name);
    }
    printf("potential: %s, RMS error %.2g, %s\n", how->method, how->potential_rms, seconds_text(how->potential_s).s);
    printf("placing: %s on %s, %s recomputed\n", seconds_text(how->mask_s + how->placing_s).s, how->device,
           counted_text(how->recomputed, "place").s);
    printf("written: %s, %s\n", run->values->output, bytes_text(file_size(run->values->output)).s);
}

static int conclude(const ions_run *run)
{
    int code = 0;
    const ley_ions_report *how = ley_ions_how(run->ions);
    if (ley_ions_count(run->ions) == 0 && !run->values->quiet)
        warn("no ion is needed: the charge is %+.3g e; the file has the molecule alone", how->solute_charge_e + 0.0);
    if (how->undecided > 0 && !run->values->quiet)
        warn("%s had more places of equal energy than can be compared: the first of these was taken",
             counted_text(how->undecided, "ion").s);
    if (run->values->json != NULL)
        code = report(run);
    if (code == 0 && !run->values->quiet && !json_takes_stdout(run->values->json))
        print(run);
    return code;
}

static void end(ions_run *run)
{
    ley_ions_destroy(run->ions);
    ley_waters_destroy(run->waters);
    ley_atoms_destroy(run->atoms);
    ley_engine_destroy(run->engine);
    for (size_t i = 0; i < OPTION_TEXTS_MAX; i++)
        free(run->copies[i]);
}

static int ions_main(const parsed_arguments *arguments)
{
    ions_run run = {.arguments = arguments, .values = arguments->values};
    ley_error error = {0};
    int code = begin(&run);
    if (code == 0) {
        const ley_status status = work(&run, &error);
        if (status == LEY_OK)
            code = conclude(&run);
        else {
            code = fail_with(&error);
            code = status == LEY_CANCELLED ? interrupt_exit_code() : code;
        }
    }
    end(&run);
    return code;
}

static const option_block *const shared[] = {&molecule_options, NULL};

const subcommand ions_command = {
    .name = "ions",
    .summary = "Place ions around a molecule where its potential is best for them.",
    .examples = {"leyden ions protein.pqr -o with-ions.pqr --ion NA,+1 --ion CL,-1 --neutralise --concentration 0.15",
                 "leyden ions boxed.pqr -o salted.pqr --ion CL,-1,6 --replace-waters --periodic xyz --cell 90,90,90"},
    .operand = "MOLECULE",
    .operand_help = "the molecule, a PQR file; with --ions-only also what 'leyden generate' writes, and - for standard "
                    "input",
    .is_operand_file = true,
    .details = "Ions are placed one after the other, each at the node of a grid where its energy in the potential of "
               "the molecule and of all ions before it is least, as cionize does. In turn comes the ion that brings "
               "the charge of all nearest to 0. Nodes near the molecule and near other ions are left out.",
    .options = OPTION_BLOCK(rows, ions_values, set_defaults),
    .shared = shared,
    .run = ions_main,
};
