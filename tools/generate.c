/* leyden generate: atoms to measure with. */
#include "console.h"
#include "file.h"
#include "interrupt.h"
#include "registry.h"
#include "standard_stream.h"

#include <stdio.h>
#include <string.h>

typedef struct generate_values {
    const char *output;
    int64_t atoms, seed;
    double disorder_A;
    bool quiet;
} generate_values;

static const option_row generate_options[] = {
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_TEXT,
     .required = true,
     .value = "ATOMS",
     .offset = offsetof(generate_values, output),
     .help = "file to write: PQR for names that end in .pqr or .pqr.gz, binary for .atoms; - is PQR on standard "
             "output, instead of the text"},
    {.name = "atoms",
     .kind = OPTION_INTEGER,
     .offset = offsetof(generate_values, atoms),
     .value = "N",
     .low = 3,
     .high = INT32_MAX,
     .help = "number of atoms, rounded down to whole molecules of three"},
    {.name = "seed",
     .kind = OPTION_INTEGER,
     .offset = offsetof(generate_values, seed),
     .value = "S",
     .low = 0,
     .high = 9007199254740991,
     .help = "seed of the random numbers: the same seed makes the same file"},
    {.name = "disorder",
     .kind = OPTION_REAL,
     .offset = offsetof(generate_values, disorder_A),
     .value = "A",
     .low = 0,
     .high = 10,
     .help = "root mean square displacement of the molecules along each axis; with 0 they stand on a regular "
             "lattice, which biases the error of mesh methods"},
    OPTION_ROW_QUIET(generate_values),
};

static void set_defaults(void *to)
{
    generate_values *values = to;
    values->atoms = 30000;
    values->seed = 1;
}

static const char *kind_name(const void *context, size_t i)
{
    static const char *const names[] = {"waterbox", NULL};
    (void)context;
    return names[i];
}

static int check_arguments(const parsed_arguments *arguments)
{
    const generate_values *values = arguments->values;
    const char *kind = arguments->operand, *only = kind_name(NULL, 0);
    if (strcmp(kind, only) != 0)
        return fail_usage(arguments->command, "unknown kind of atoms '%s'%s; there is %s", kind,
                          suggest(kind, "", kind_name, NULL).s, only);
    if (!output_takes_stdout(values->output) && !is_atoms_name(values->output))
        return fail_usage(arguments->command, "--output: '%s' must end in .pqr, .pqr.gz or .atoms", values->output);
    return files_check(arguments->command, &(named_file){output_path(values->output), "atoms", "--output"}, 1);
}

static void print_report(const generate_values *values, double elapsed_s)
{
    const int64_t atoms = values->atoms / 3 * 3;
    printf("box: %s of water, side %.4f A, seed %lld\n", counted_text(atoms, "atom").s, ley_waterbox_side_A(atoms),
           (long long)values->seed);
    if (atoms != values->atoms)
        printf("rounded down: %s %s no whole molecules\n", counted_text(values->atoms, "atom").s,
               values->atoms == 1 ? "is" : "are");
    printf("time: %s, %s atoms/s\n", seconds_text(elapsed_s).s,
           count_text((int64_t)((double)atoms / (elapsed_s > 1e-6 ? elapsed_s : 1e-6))).s);
    printf("written: %s, %s\n", values->output, bytes_text(file_size(values->output)).s);
}

static int generate_run(const parsed_arguments *arguments)
{
    const generate_values *values = arguments->values;
    int code = check_arguments(arguments);
    if (code != 0)
        return code;
    ley_error error = {0};
    const double start_s = now_s();
    interrupt_defer();
    ley_status status = ley_waterbox_write(values->atoms, (uint64_t)values->seed, values->disorder_A,
                                           output_path(values->output), interrupt_flag(), &error);
    if (status != LEY_OK) {
        code = fail_with(&error);
        return status == LEY_CANCELLED ? interrupt_exit_code() : code;
    }
    if (!values->quiet && !output_takes_stdout(values->output))
        print_report(values, now_s() - start_s);
    return 0;
}

const subcommand generate_command = {
    .name = "generate",
    .summary = "Write a box of water, for benchmarks and tests.",
    .examples = {"leyden generate waterbox -o box.pqr",
                 "leyden generate waterbox -o box.atoms --atoms 1000000 --seed 1"},
    .operand = "KIND",
    .operand_help = "what to make: waterbox",
    .details = "A waterbox is a cubic box of three-site water molecules (charges and geometry of TIP3P) at a density "
               "of 1,534,539 atoms in 1.5e7 cubic Angstrom, in random orientations. Atoms of different molecules are "
               "at least 1 A apart, unless there is disorder.",
    .options = OPTION_BLOCK(generate_options, generate_values, set_defaults),
    .run = generate_run,
};
