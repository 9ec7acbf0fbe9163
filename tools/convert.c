/* leyden convert: files of atoms, and of maps, from one form to another. */
#include "console.h"
#include "file.h"
#include "interrupt.h"
#include "job_report.h"
#include "molecule.h"
#include "registry.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct convert_values {
    const char *output;
} convert_values;

typedef struct speech_values {
    bool quiet;
} speech_values;

static const option_row convert_options[] = {
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_TEXT,
     .required = true,
     .value = "OUT",
     .offset = offsetof(convert_values, output),
     .help = "the file to write: of atoms, PQR for a name that ends in .pqr or .pqr.gz, binary for .atoms; of a map, "
             "%s",
     .names = map_formats},
};

static const option_row speech_rows[] = {OPTION_ROW_QUIET(speech_values)};
static const option_block speech_options = OPTION_BLOCK(speech_rows, speech_values, NULL);
static const option_block *const shared[] = {&molecule_options, &speech_options, NULL};

/* What is converted: atoms, or the map that the output's name asks for. */
typedef struct content {
    ley_atoms *atoms;
    ley_map *map;
} content;

static int check_files(const parsed_arguments *arguments, const char *what)
{
    const convert_values *values = arguments->values;
    char *read_header = map_header_path(arguments->operand), *written_header = map_header_path(values->output);
    const named_file files[] = {{arguments->operand, what, NULL},
                                {read_header, "map's header", NULL},
                                {values->output, what, "--output"},
                                {written_header, "header", "--output"}};
    const int code = files_check(arguments->command, files, sizeof files / sizeof *files);
    free(read_header);
    free(written_header);
    return code;
}

static int check_arguments(const parsed_arguments *arguments)
{
    const convert_values *values = arguments->values;
    const bool is_map = is_map_name(values->output);
    if (!is_map && !ends_with(values->output, ".pqr") && !ends_with(values->output, ".pqr.gz") &&
        !ends_with(values->output, ".atoms"))
        return fail_usage(arguments->command, "--output: '%s' must end in .pqr, .pqr.gz or .atoms, or of a map in %s",
                          values->output, map_endings());
    if (is_map != is_map_name(arguments->operand))
        return fail_usage(arguments->command, "--output: '%s' is to be %s, and '%s' is %s", values->output,
                          is_map ? "a map" : "of atoms", arguments->operand, is_map ? "none" : "a map");
    return check_files(arguments, is_map ? "map" : "atoms");
}

static ley_status read_content(const parsed_arguments *arguments, content *c, ley_error *error)
{
    return is_map_name(arguments->operand) ? ley_map_read(arguments->operand, &c->map, error)
                                           : molecule_read(arguments->operand, arguments, &c->atoms, error);
}

/* The comments of a map get lost, as atoms' names do. */
static ley_status write_content(const content *c, const char *path, ley_error *error)
{
    return c->map != NULL ? ley_map_write(c->map, path, NULL, NULL, interrupt_flag(), error)
                          : ley_atoms_write(c->atoms, path, interrupt_flag(), error);
}

static void print_content(const content *c, const char *path)
{
    if (c->map == NULL) {
        print_molecule(path, c->atoms);
        return;
    }
    const ley_lattice *lattice = ley_map_lattice(c->map);
    printf("map: %s, %s = %s points, spacing %s A\n", base_name(path), lattice_text(lattice->n).s,
           count_text(ley_lattice_points(lattice)).s, spacing_text(lattice).s);
}

static int convert_run(const parsed_arguments *arguments)
{
    const convert_values *values = arguments->values;
    const speech_values *speech = option_values(arguments, &speech_options);
    int code = check_arguments(arguments);
    if (code != 0)
        return code;
    content c = {NULL, NULL};
    ley_error error = {0};
    double clock_s = now_s();
    ley_status status = read_content(arguments, &c, &error);
    const double reading_s = lap_s(&clock_s);
    if (status == LEY_OK) {
        interrupt_defer();
        status = write_content(&c, values->output, &error);
    }
    const double writing_s = lap_s(&clock_s);
    if (status != LEY_OK) {
        code = fail_with(&error);
        code = status == LEY_CANCELLED ? interrupt_exit_code() : code;
    } else if (!speech->quiet) {
        print_content(&c, arguments->operand);
        printf("time: reading %s, writing %s\n", seconds_text(reading_s).s, seconds_text(writing_s).s);
        print_written(values->output, writing_s);
    }
    ley_atoms_destroy(c.atoms);
    ley_map_destroy(c.map);
    return code;
}

const subcommand convert_command = {
    .name = "convert",
    .summary = "Copies atoms, or a map, into another form of file.",
    .operand = "IN",
    .operand_help = "a molecule, a PQR file (plain or .gz) or a binary one (.atoms); or a map: %s",
    .operand_names = map_formats,
    .details = "Numbers of atoms stay as they are, to the last bit, in every form. Names of atoms and residues get "
               "lost: a PQR file "
               "that is written has X and UNK. Of a map the comments get lost; OpenDX and cube files have seven digits "
               "of each value.",
    .options = OPTION_BLOCK(convert_options, convert_values, NULL),
    .shared = shared,
    .run = convert_run,
};
