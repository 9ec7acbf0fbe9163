/* leyden map: the electrostatic potential of a molecule on a lattice. */
#include "commands.h"
#include "console.h"
#include "file.h"
#include "interrupt.h"
#include "job_options.h"
#include "job_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct map_values {
    job_values job;
    const char *output;
    int method, units;
    int64_t dims[3], slab_planes;
    double spacing_A, origin_A[3], padding_A, dielectric, temperature_K, r_min_A;
} map_values;

static const char *const method_names[] = {[LEY_METHOD_DCS] = "dcs", NULL};
static const char *const method_titles[] = {[LEY_METHOD_DCS] = "direct Coulomb summation"};
static const char *const units_names[] = {
    [LEY_UNITS_KT_E] = "kT/e", [LEY_UNITS_VOLT] = "V", [LEY_UNITS_KCAL_MOL_E] = "kcal/mol/e", NULL};

enum { OUTPUT, METHOD, SPACING, DIMS, ORIGIN, PADDING };

static const option_row map_options[] = {
    [OUTPUT] = {.name = "output",
                .letter = 'o',
                .kind = OPTION_TEXT,
                .required = true,
                .value = "MAP",
                .offset = offsetof(map_values, output),
                .help = "the map to write, OpenDX: a name that ends in .dx, or in .dx.gz for a compressed one"},
    [METHOD] = {.name = "method",
                .kind = OPTION_CHOICE,
                .offset = offsetof(map_values, method),
                .value = "METHOD",
                .choices = method_names,
                .help = "how to sum: dcs is direct Coulomb summation, every atom at every point"},
    [SPACING] = {.name = "spacing",
                 .kind = OPTION_REAL,
                 .offset = offsetof(map_values, spacing_A),
                 .value = "A",
                 .low = 1e-6,
                 .high = 1e8,
                 .help = "distance of neighbouring points, in Angstrom"},
    [DIMS] = {.name = "dims",
              .kind = OPTION_INTEGER,
              .offset = offsetof(map_values, dims),
              .count = 3,
              .value = "NX,NY,NZ",
              .low = 1,
              .high = INT32_MAX,
              .unset = "what the padding asks for",
              .help = "points along x, y, z"},
    [ORIGIN] = {.name = "origin",
                .kind = OPTION_REAL,
                .offset = offsetof(map_values, origin_A),
                .count = 3,
                .value = "X,Y,Z",
                .low = -1e9,
                .high = 1e9,
                .unset = "centred on the molecule",
                .help = "the lattice's first point, in Angstrom; with --dims"},
    [PADDING] = {.name = "padding",
                 .kind = OPTION_REAL,
                 .offset = offsetof(map_values, padding_A),
                 .value = "A",
                 .low = 0,
                 .high = 1e8,
                 .help = "least distance of the atoms' centres from the lattice's faces; without --dims"},
    {.name = "dielectric",
     .kind = OPTION_REAL,
     .offset = offsetof(map_values, dielectric),
     .value = "E",
     .low = 0,
     .above_low = true,
     .high = INFINITY,
     .help = "relative permittivity"},
    {.name = "temperature",
     .kind = OPTION_REAL,
     .offset = offsetof(map_values, temperature_K),
     .value = "K",
     .low = 0,
     .above_low = true,
     .high = INFINITY,
     .help = "in Kelvin; matters for kT/e only"},
    {.name = "units",
     .kind = OPTION_CHOICE,
     .offset = offsetof(map_values, units),
     .value = "UNITS",
     .choices = units_names,
     .help = "units of the potential"},
    {.name = "r-min",
     .kind = OPTION_REAL,
     .offset = offsetof(map_values, r_min_A),
     .value = "A",
     .low = 1e-6,
     .high = 1e3,
     .help = "shorter distances between atom and point count as this one"},
    {.name = "slab-planes",
     .kind = OPTION_INTEGER,
     .offset = offsetof(map_values, slab_planes),
     .value = "N",
     .low = 1,
     .high = INT32_MAX,
     .unset = "as memory and balance suggest",
     .help = "planes of the lattice in one piece of work, at most"},
    JOB_OPTION_ROWS,
};

typedef struct map_run {
    const parsed_arguments *arguments;
    const map_values *values;
    ley_atoms *atoms;
    ley_map *map;
    ley_engine *engine;
    ley_job *job;
    const ley_report *report; /* NULL until the job ended */
    phase_times phases;
    progress_line progress;
} map_run;

static void set_defaults(void *to)
{
    map_values *values = to;
    ley_job_options options;
    ley_job_options_default(&options);
    job_set_defaults(&values->job);
    values->method = (int)options.method;
    values->units = (int)options.units;
    values->dielectric = options.dielectric;
    values->temperature_K = options.temperature_K;
    values->r_min_A = options.r_min_A;
    values->spacing_A = 0.5;
    values->padding_A = 10;
}

/* ---- Before the work ------------------------------------------------------------------------------------------- */

static int check_arguments(const parsed_arguments *arguments)
{
    const map_values *values = arguments->values;
    const subcommand *command = arguments->command;
    if (option_given(arguments, DIMS) && option_given(arguments, PADDING))
        return fail_usage(command, "--dims and --padding exclude each other: both say how large the lattice is");
    if (option_given(arguments, ORIGIN) && !option_given(arguments, DIMS))
        return fail_usage(command, "--origin needs --dims: without it the lattice is laid around the molecule");
    if (!ends_with(values->output, ".dx") && !ends_with(values->output, ".dx.gz"))
        return fail_usage(command, "--output: '%s' must end in .dx or .dx.gz", values->output);
    if (check_variant(command, values->job.variant) != 0)
        return ley_status_exit_code(LEY_ERROR_USAGE);
    const input_file atoms = {arguments->operand, "atoms"};
    return job_check_files(command, values->output, "map", values->job.json, &atoms, 1);
}

static ley_status choose_lattice(const map_run *run, ley_lattice *lattice, ley_error *error)
{
    const map_values *values = run->values;
    if (!option_given(run->arguments, DIMS))
        return ley_lattice_around(run->atoms, values->spacing_A, values->padding_A, lattice, error);
    double low_A[3], high_A[3];
    ley_atoms_bounds_A(run->atoms, low_A, high_A);
    for (int axis = 0; axis < 3; axis++) {
        double length_A = (double)(values->dims[axis] - 1) * values->spacing_A;
        lattice->n[axis] = values->dims[axis];
        lattice->spacing_A[axis] = values->spacing_A;
        lattice->origin_A[axis] = option_given(run->arguments, ORIGIN)
                                      ? values->origin_A[axis]
                                      : 0.5 * (low_A[axis] + high_A[axis]) - 0.5 * length_A;
    }
    return ley_lattice_check(lattice, error);
}

static ley_job_options job_options(map_run *run)
{
    const map_values *values = run->values;
    ley_job_options options = job_options_of(&values->job, &run->progress);
    options.method = (ley_method)values->method;
    options.units = (ley_units)values->units;
    options.dielectric = values->dielectric;
    options.temperature_K = values->temperature_K;
    options.r_min_A = values->r_min_A;
    options.slab_planes = values->slab_planes;
    return options;
}

/* ---- The header of the map -------------------------------------------------------------------------------------- */

/* What made the map, without dates and paths: the same command makes the same bytes. */
static char *header_comment(const map_run *run)
{
    const map_values *values = run->values;
    comment_text comment;
    comment_begin(&comment);
    fprintf(comment.stream, "method: %s, %s\n", method_names[values->method], method_titles[values->method]);
    put_molecule(comment.stream, run->arguments->operand, run->atoms);
    fprintf(comment.stream, "units: %s, dielectric %.15g, temperature %.15g K, r_min %.15g A\n",
            units_names[values->units], values->dielectric, values->temperature_K, values->r_min_A);
    fprintf(comment.stream, "math: %s, sum: %s\n", math_names[values->job.math], sum_names[values->job.sum]);
    put_devices(comment.stream, run->report);
    put_accuracy(comment.stream, run->report);
    return comment_end(&comment);
}

/* ---- The report ------------------------------------------------------------------------------------------------- */

static void print_report(const map_run *run)
{
    const ley_lattice *lattice = ley_map_lattice(run->map);
    print_molecule(run->arguments->operand, run->atoms);
    printf("lattice: %s = %s points, spacing %.6g A, box %s from %s\n", lattice_text(lattice->n).s,
           count_text(run->report->points).s, lattice->spacing_A[0], box_text(lattice).s,
           triple_text(lattice->origin_A).s);
    print_work(run->report);
    print_times(&run->phases);
    print_accuracy(run->report);
    print_written(run->values->output);
}

static int write_json(const map_run *run, const ley_error *outcome)
{
    json_t *report = json_begin(run->arguments);
    json_put_outcome(report, outcome, ley_status_exit_code(outcome->status));
    json_put(report, "molecule", json_of_molecule(run->arguments->operand, run->atoms));
    json_put(report, "lattice", json_of_lattice(ley_map_lattice(run->map)));
    json_put_work(report, run->report);
    json_put(report, "seconds", json_of_phases(&run->phases));
    json_put(report, "bytes_written",
             outcome->status == LEY_OK ? json_count((int64_t)file_size(run->values->output)) : json_null());
    return json_finish(report, run->values->job.json);
}

/* ---- The work --------------------------------------------------------------------------------------------------- */

static ley_status prepare(map_run *run, ley_error *error)
{
    double clock_s = run->phases.start_s;
    ley_lattice lattice;
    ley_job_options options = job_options(run);
    progress_say(&run->progress, "reading the atoms");
    ley_status status = ley_atoms_read_pqr(run->arguments->operand, &run->atoms, error);
    run->phases.reading_s = lap_s(&clock_s);
    if (status == LEY_OK)
        status = choose_lattice(run, &lattice, error);
    if (status == LEY_OK)
        status = ley_map_create(&lattice, &run->map, error);
    if (status == LEY_OK) {
        progress_say(&run->progress, "opening the devices");
        status = ley_engine_create(run->values->job.device, &run->engine, error);
    }
    if (status == LEY_OK)
        status = ley_job_create(run->engine, run->atoms, run->map, &options, &run->job, error);
    run->phases.preparing_s = lap_s(&clock_s);
    return status;
}

static ley_status compute(map_run *run, ley_error *error)
{
    run->progress.last = run->values->job.verify > 0 ? "verifying" : NULL;
    progress_say(&run->progress, "preparing the devices");
    interrupt_defer();
    interrupt_cancels(run->job);
    ley_status status = ley_job_run(run->job, error);
    interrupt_cancels(NULL);
    run->report = ley_job_report(run->job);
    run->phases.preparing_s += run->report->prepare_s;
    run->phases.computing_s = run->report->compute_s;
    run->phases.verifying_s = run->report->verify_s;
    return status;
}

static ley_status write_map(map_run *run, ley_error *error)
{
    double clock_s = now_s();
    char *comment = header_comment(run);
    progress_say(&run->progress, "writing the map");
    ley_map_set_units(run->map, units_names[run->values->units]);
    ley_status status = ley_map_write_dx(run->map, run->values->output, comment, interrupt_flag(), error);
    run->phases.writing_s = lap_s(&clock_s);
    free(comment);
    return status;
}

/* Says how it went; returns the exit code. */
static int conclude(map_run *run, ley_error *error)
{
    const map_values *values = run->values;
    int code = 0, written = 0;
    progress_clear(&run->progress);
    if (run->report != NULL && error->status != LEY_CANCELLED) {
        bool finished = error->status == LEY_OK;
        if (!finished || !values->job.quiet)
            print_failures(run->report, error);
        if (values->job.json != NULL)
            written = write_json(run, error);
        if (finished && !values->job.quiet && !json_takes_stdout(values->job.json))
            print_report(run);
    }
    if (error->status == LEY_CANCELLED) {
        fail_with(error);
        return interrupt_exit_code();
    }
    if (error->status != LEY_OK)
        code = fail_with(error);
    return code != 0 ? code : written;
}

static int map_run_command(const parsed_arguments *arguments)
{
    map_run run = {.arguments = arguments, .values = arguments->values, .phases.start_s = now_s()};
    ley_error error = {0};
    int code = check_arguments(arguments);
    if (code != 0)
        return code;
    progress_start(&run.progress, run.values->job.quiet);
    ley_status status = prepare(&run, &error);
    if (status == LEY_OK)
        status = compute(&run, &error);
    if (status == LEY_OK)
        status = write_map(&run, &error);
    error.status = status;
    code = conclude(&run, &error);
    ley_job_destroy(run.job);
    ley_engine_destroy(run.engine);
    ley_map_destroy(run.map);
    ley_atoms_destroy(run.atoms);
    return code;
}

const subcommand map_command = {
    .name = "map",
    .summary = "Computes the electrostatic potential of a molecule's charges on a regular lattice.",
    .operand = "ATOMS",
    .operand_help = "the molecule, a PQR file (plain or .gz)",
    .details =
        "phi(r_i) = C sum_j q_j / max(|r_i - r_j|, r_min), with C = e / (4 pi eps0 dielectric), in units of --units.\n"
        "The lattice is laid around the molecule with --padding on every side, or has --dims points.",
    .options = map_options,
    .option_count = sizeof map_options / sizeof *map_options,
    .values_size = sizeof(map_values),
    .set_defaults = set_defaults,
    .run = map_run_command,
};
