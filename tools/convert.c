/* leyden convert: files of atoms, and of maps, from one form to another. */
#include "console.h"
#include "file.h"
#include "interrupt.h"
#include "job_report.h"
#include "molecule.h"
#include "registry.h"
#include "standard_stream.h"
#include "typed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct convert_values {
    const char *output;
    int format;
    const char *value; /* of a map */
} convert_values;

typedef struct speech_values {
    bool quiet;
} speech_values;

enum { OUTPUT, FORMAT };

static const option_row convert_options[] = {
    [OUTPUT] = {.name = "output",
                .letter = 'o',
                .kind = OPTION_TEXT,
                .required = true,
                .value = "OUT",
                .offset = offsetof(convert_values, output),
                .help = "file to write: atoms as PQR for names that end in .pqr or .pqr.gz, binary for .atoms; a map "
                        "as %s; - is standard output instead of the text, as PQR or OpenDX or in the --format given, "
                        "except raw and npy, which need a file",
                .names = map_formats},
    [FORMAT] = {.name = "format",
                .kind = OPTION_CHOICE,
                .offset = offsetof(convert_values, format),
                .value = "FORMAT",
                .choices = map_format_words,
                .unset = "by the ending of OUT",
                .help = "format of the map to write, whatever its name"},
    OPTION_ROW_OF_MAP_VALUE(convert_values),
};

static const option_row speech_rows[] = {OPTION_ROW_QUIET(speech_values)};
static const option_block speech_options = OPTION_BLOCK(speech_rows, speech_values, NULL);
static const option_block *const shared[] = {&molecule_options, &speech_options, NULL};

/* What is converted: atoms, or the map that the output asks for. */
typedef struct content {
    ley_atoms *atoms;
    ley_map *map;
} content;

/* Where it goes. */
typedef struct target {
    const char *path;
    const ley_map_format *format; /* NULL: atoms */
} target;

static int check_files(const parsed_arguments *arguments, const target *to)
{
    const char *what = to->format != NULL ? "map" : "atoms";
    char *read_header = map_header_path(arguments->operand), *written_header = map_header_path_of(to->format, to->path);
    const named_file files[] = {{arguments->operand, what, NULL},
                                {read_header, "map's header", NULL},
                                {to->path, what, "--output"},
                                {written_header, "header", "--output"}};
    const int code = files_check(arguments->command, files, sizeof files / sizeof *files);
    free(read_header);
    free(written_header);
    return code;
}

/* Pipes say nothing before they are read: what comes from one is what is to be written. */
static bool is_map_input(const char *path, const target *to)
{
    struct stat known;
    const bool is_pipe = stat(path, &known) == 0 && S_ISFIFO(known.st_mode);
    return ley_map_format_found(path) != NULL || (to->format != NULL && (is_pipe || strncmp(path, "/dev/", 5) == 0));
}

/* The same words are a command of the package. */
static int fail_wavefunction(const parsed_arguments *arguments)
{
    typed_text again = {""};
    typed_put_command(&again, NULL, 0);
    return fail_usage(arguments->command, "--output: the Python package makes wavefunctions, .npz; type: python3 -m %s",
                      strstr(again.s, "leyden"));
}

/* By the option, else by the ending; standard output by what is read. */
static int choose_target(const parsed_arguments *arguments, target *to)
{
    const convert_values *values = arguments->values;
    const bool is_stdout = output_takes_stdout(values->output);
    *to = (target){output_path(values->output), ley_map_format_of(values->output, NULL)};
    if (option_given(arguments, FORMAT))
        to->format = ley_map_format_named(map_format_words[values->format]);
    else if (is_stdout && ley_map_format_found(arguments->operand) != NULL)
        to->format = ley_map_format_named("dx");
    else if (to->format == NULL && ends_with(values->output, ".npz"))
        return fail_wavefunction(arguments);
    else if (to->format == NULL && !is_stdout && !is_atoms_name(values->output))
        return fail_usage(arguments->command,
                          "--output: '%s' must end in .pqr, .pqr.gz or .atoms, or of a map in %s, or name its --format",
                          values->output, map_endings());
    return is_stdout && to->format != NULL
               ? check_one_file(arguments->command, to->format, map_format_words[values->format])
               : 0;
}

static int check_arguments(const parsed_arguments *arguments, target *to)
{
    const int code = choose_target(arguments, to);
    const bool is_map = to->format != NULL;
    if (code != 0)
        return code;
    if (is_map && !is_map_input(arguments->operand, to))
        return fail_usage(arguments->command,
                          "--output: '%s' is to be a map, and '%s' is none: leyden map '%s' -o '%s' computes one of a "
                          "molecule",
                          to->path, arguments->operand, arguments->operand, to->path);
    if (!is_map && is_map_input(arguments->operand, to))
        return fail_usage(arguments->command,
                          "--output: '%s' is to be of atoms, and '%s' is a map, which holds none: leyden slice '%s' -o "
                          "NEW.png draws it",
                          to->path, arguments->operand, arguments->operand);
    return check_files(arguments, to);
}

static ley_status read_content(const parsed_arguments *arguments, const target *to, content *c, ley_error *error)
{
    const convert_values *values = arguments->values;
    const speech_values *speech = option_values(arguments, &speech_options);
    return to->format != NULL ? map_read(arguments->operand, values->value, speech->quiet, &c->map, error)
                              : molecule_read(arguments->operand, arguments, &c->atoms, error);
}

/* "dielectric 78.54", "molecule: NAME": what of a map's comment is kept. */
static short_text origin_text(const ley_map *map)
{
    const char *molecule = ley_map_molecule(map);
    const double dielectric = ley_map_dielectric(map);
    return text_of("%s%s%s", dielectric > 0 ? text_of("dielectric %.15g\n", dielectric).s : "",
                   molecule[0] != '\0' ? "molecule: " : "", molecule);
}

/* The other comments of a map get lost, as atoms' names do. */
static ley_status write_content(const content *c, const target *to, bool is_quiet, ley_error *error)
{
    if (c->map != NULL && !is_quiet)
        map_warn(c->map, to->format, to->path);
    const short_text comment = c->map != NULL ? origin_text(c->map) : text_of("%s", "");
    if (c->map != NULL)
        return ley_map_write_as(c->map, to->format, to->path, comment.s[0] != '\0' ? comment.s : NULL, NULL,
                                interrupt_flag(), error);
    return ley_atoms_write(c->atoms, to->path, interrupt_flag(), error);
}

static void print_content(const content *c, const char *path)
{
    if (c->map == NULL) {
        print_molecule(path, c->atoms);
        return;
    }
    const ley_grid *grid = ley_map_grid(c->map);
    printf("map: %s, %s = %s, spacing %s A\n", base_name(path), grid_text(grid->n).s,
           counted_text(ley_grid_points(grid), "point").s, spacing_text(grid).s);
}

static int convert_run(const parsed_arguments *arguments)
{
    const speech_values *speech = option_values(arguments, &speech_options);
    target to;
    int code = check_arguments(arguments, &to);
    if (code != 0)
        return code;
    content c = {NULL, NULL};
    ley_error error = {0};
    double clock_s = now_s();
    ley_status status = read_content(arguments, &to, &c, &error);
    const double reading_s = lap_s(&clock_s);
    if (status == LEY_OK) {
        interrupt_defer();
        status = write_content(&c, &to, speech->quiet, &error);
    }
    const double writing_s = lap_s(&clock_s);
    if (status != LEY_OK) {
        code = fail_with(&error);
        code = status == LEY_CANCELLED ? interrupt_exit_code() : code;
    } else if (!speech->quiet && !output_takes_stdout(to.path)) {
        print_content(&c, arguments->operand);
        printf("time: reading %s, writing %s\n", seconds_text(reading_s).s, seconds_text(writing_s).s);
        print_written(to.path, writing_s);
    }
    ley_atoms_destroy(c.atoms);
    ley_map_destroy(c.map);
    return code;
}

const subcommand convert_command = {
    .name = "convert",
    .summary = "Convert a file of atoms, or a map, to another format.",
    .examples = {"leyden convert protein.pqr -o protein.atoms", "leyden convert protein.dx -o protein.mrc"},
    .operand = "IN",
    .operand_help = "molecule: a PQR file (plain or .gz) or a binary .atoms file; or a map: %s; - is standard input: "
                    "atoms or a map, as the output is",
    .operand_names = map_formats,
    .is_operand_file = true,
    .details = "All numbers of atoms are kept to the last bit in every format. Names of atoms and residues are lost: "
               "PQR files are written with X and UNK. Of a map's comments the molecule's name and the dielectric are "
               "kept. OpenDX and cube files hold "
               "seven digits of each value.",
    .options = OPTION_BLOCK(convert_options, convert_values, NULL),
    .shared = shared,
    .run = convert_run,
};
