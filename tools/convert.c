/* leyden convert: files of atoms from one form to another. */
#include "console.h"
#include "file.h"
#include "interrupt.h"
#include "job_report.h"
#include "molecule.h"
#include "registry.h"

#include <stdio.h>

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
     .help = "the file to write: PQR for a name that ends in .pqr or .pqr.gz, binary for .atoms"},
};

static const option_row speech_rows[] = {OPTION_ROW_QUIET(speech_values)};
static const option_block speech_options = OPTION_BLOCK(speech_rows, speech_values, NULL);
static const option_block *const shared[] = {&molecule_options, &speech_options, NULL};

static int check_arguments(const parsed_arguments *arguments)
{
    const convert_values *values = arguments->values;
    if (!ends_with(values->output, ".pqr") && !ends_with(values->output, ".pqr.gz") &&
        !ends_with(values->output, ".atoms"))
        return fail_usage(arguments->command, "--output: '%s' must end in .pqr, .pqr.gz or .atoms", values->output);
    const named_file files[] = {{arguments->operand, "atoms", NULL}, {values->output, "atoms", "--output"}};
    return files_check(arguments->command, files, sizeof files / sizeof *files);
}

static int convert_run(const parsed_arguments *arguments)
{
    const convert_values *values = arguments->values;
    const speech_values *speech = option_values(arguments, &speech_options);
    int code = check_arguments(arguments);
    if (code != 0)
        return code;
    ley_atoms *atoms = NULL;
    ley_error error = {0};
    double clock_s = now_s();
    ley_status status = molecule_read(arguments->operand, arguments, &atoms, &error);
    const double reading_s = lap_s(&clock_s);
    if (status == LEY_OK) {
        interrupt_defer();
        status = ley_atoms_write(atoms, values->output, interrupt_flag(), &error);
    }
    const double writing_s = lap_s(&clock_s);
    if (status != LEY_OK) {
        code = fail_with(&error);
        code = status == LEY_CANCELLED ? interrupt_exit_code() : code;
    } else if (!speech->quiet) {
        print_molecule(arguments->operand, atoms);
        printf("time: reading %s, writing %s\n", seconds_text(reading_s).s, seconds_text(writing_s).s);
        print_written(values->output);
    }
    ley_atoms_destroy(atoms);
    return code;
}

const subcommand convert_command = {
    .name = "convert",
    .summary = "Copies atoms into another form of file.",
    .operand = "ATOMS",
    .operand_help = "the molecule, a PQR file (plain or .gz) or a binary one (.atoms)",
    .details =
        "Numbers stay as they are, to the last bit, in every form. Names of atoms and residues get lost: a PQR file "
        "that is written has X and UNK.",
    .options = OPTION_BLOCK(convert_options, convert_values, NULL),
    .shared = shared,
    .run = convert_run,
};
