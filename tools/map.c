/* leyden map: the electrostatic potential of a molecule on a lattice. */
#include "commands.h"
#include "console.h"
#include "file.h"
#include "interrupt.h"
#include "json.h"
#include "progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct map_values {
    const char *output, *device, *variant, *json;
    int method, units, math, sum;
    int64_t dims[3], verify, seed, slab_planes;
    double spacing_A, origin_A[3], padding_A, dielectric, temperature_K, r_min_A;
    bool quiet;
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
    OPTION_ROW_DEVICE(map_values),
    OPTION_ROW_MATH(map_values),
    OPTION_ROW_SUM(map_values),
    {.name = "variant",
     .kind = OPTION_TEXT,
     .offset = offsetof(map_values, variant),
     .value = "NAME",
     .unset = "by device class",
     .help = "kernel variant; 'leyden bench' shows them"},
    {.name = "verify",
     .kind = OPTION_INTEGER,
     .offset = offsetof(map_values, verify),
     .value = "N",
     .low = 0,
     .high = INT32_MAX,
     .help = "recompute N random points in double precision; a map that is off is not written"},
    {.name = "seed",
     .kind = OPTION_INTEGER,
     .offset = offsetof(map_values, seed),
     .value = "S",
     .low = 0,
     .high = 9007199254740991,
     .help = "start of the random numbers behind --verify"},
    {.name = "slab-planes",
     .kind = OPTION_INTEGER,
     .offset = offsetof(map_values, slab_planes),
     .value = "N",
     .low = 1,
     .high = INT32_MAX,
     .unset = "as memory and balance suggest",
     .help = "planes of the lattice in one piece of work, at most"},
    OPTION_ROW_JSON(map_values),
    OPTION_ROW_QUIET(map_values),
};

/* Seconds, by what they went into. */
typedef struct phase_times {
    double start_s, reading_s, preparing_s, computing_s, verifying_s, writing_s;
} phase_times;

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
    values->method = (int)options.method;
    values->units = (int)options.units;
    values->math = (int)options.math;
    values->sum = (int)options.sum;
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
    if (check_variant(command, values->variant) != 0)
        return ley_status_exit_code(LEY_ERROR_USAGE);
    if (file_is_same(arguments->operand, values->output))
        return fail_usage(command, "--output: '%s' is the file of the atoms", values->output);
    if (values->json == NULL || json_takes_stdout(values->json))
        return file_check_output(values->output);
    if (strcmp(values->json, values->output) == 0 || file_is_same(values->json, values->output))
        return fail_usage(command, "--json: '%s' is the file of the map", values->json);
    if (file_is_same(arguments->operand, values->json))
        return fail_usage(command, "--json: '%s' is the file of the atoms", values->json);
    int code = file_check_output(values->output);
    return code != 0 ? code : file_check_output(values->json);
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
    ley_job_options options;
    ley_job_options_default(&options);
    options.method = (ley_method)values->method;
    options.units = (ley_units)values->units;
    options.dielectric = values->dielectric;
    options.temperature_K = values->temperature_K;
    options.r_min_A = values->r_min_A;
    options.math = (ley_math)values->math;
    options.sum = (ley_sum)values->sum;
    options.variant = values->variant;
    options.slab_planes = values->slab_planes;
    options.verify_points = (size_t)values->verify;
    options.verify_seed = (uint64_t)values->seed;
    options.progress = progress_show;
    options.progress_context = &run->progress;
    return options;
}

/* ---- The header of the map -------------------------------------------------------------------------------------- */

/* A line break in the name of a file or a device would break the header. */
static void put_name(FILE *to, const char *before, const char *name)
{
    fputs(before, to);
    for (; *name != '\0'; name++)
        fputc((unsigned char)*name < ' ' ? '?' : *name, to);
}

/* What made the map, without dates and paths: the same command makes the same bytes. */
static char *header_comment(const map_run *run)
{
    const map_values *values = run->values;
    const ley_accuracy *accuracy = &run->report->accuracy;
    char *comment = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&comment, &size);
    if (to == NULL)
        exit(fail(LEY_ERROR_MEMORY, "out of memory for the header of the map"));
    fprintf(to, "method: %s, %s\n", method_names[values->method], method_titles[values->method]);
    put_name(to, "molecule: ", base_name(run->arguments->operand));
    fprintf(to, ", %zu atoms, total charge %.6g e\n", ley_atoms_count(run->atoms),
            ley_atoms_total_charge_e(run->atoms));
    fprintf(to, "units: %s, dielectric %.15g, temperature %.15g K, r_min %.15g A\n", units_names[values->units],
            values->dielectric, values->temperature_K, values->r_min_A);
    fprintf(to, "math: %s, sum: %s\n", math_names[values->math], sum_names[values->sum]);
    for (size_t i = 0; i < run->report->device_count; i++) {
        const ley_device_report *device = &run->report->devices[i];
        if (device->points == 0 || device->variant == NULL)
            continue;
        put_name(to, "device: ", device->device->name);
        put_name(to, ", driver ", device->device->driver);
        fprintf(to, ", variant %s, root %s\n", device->variant, device->root);
    }
    if (accuracy->points > 0)
        fprintf(to, "accuracy: relative RMS %.3g, max %.3g of %zu points against double precision\n",
                accuracy->relative_rms, accuracy->max_relative, accuracy->points);
    if (fclose(to) != 0)
        exit(fail(LEY_ERROR_MEMORY, "out of memory for the header of the map"));
    comment[size - 1] = '\0'; /* the last line break is the writer's */
    return comment;
}

/* ---- The report ------------------------------------------------------------------------------------------------- */

static short_text box_text(const ley_lattice *lattice)
{
    double length_A[3];
    for (int axis = 0; axis < 3; axis++)
        length_A[axis] = (double)(lattice->n[axis] - 1) * lattice->spacing_A[axis];
    return text_of("%.6g x %.6g x %.6g A", length_A[0], length_A[1], length_A[2]);
}

static void print_devices(const ley_report *report)
{
    for (size_t i = 0; i < report->device_count; i++) {
        const ley_device_report *device = &report->devices[i];
        printf("device %d: %s, ", device->device->index, device->device->name);
        if (device->status == LEY_OK && device->points == 0)
            printf("idle\n");
        else if (device->status == LEY_OK)
            printf("%.1f %% of the points, variant %s, root %s, %s/s, ready in %s%s\n", 100 * device->share,
                   device->variant, device->root, billions_text(device->evaluations_per_s).s,
                   seconds_text(device->build_s).s, device->from_cache ? " (kernel from the cache)" : "");
        else
            printf("%.1f %% of the points, then %s\n", 100 * device->share, ley_status_text(device->status));
    }
}

static void print_report(const map_run *run)
{
    const ley_lattice *lattice = ley_map_lattice(run->map);
    const ley_report *report = run->report;
    const phase_times *phases = &run->phases;
    const ley_accuracy *accuracy = &report->accuracy;
    printf("molecule: %s, %s atoms, total charge %+.4f e\n", base_name(run->arguments->operand),
           count_text(report->atoms).s, ley_atoms_total_charge_e(run->atoms));
    printf("lattice: %s = %s points, spacing %.6g A, box %s from %s\n", lattice_text(lattice->n).s,
           count_text(report->points).s, lattice->spacing_A[0], box_text(lattice).s, triple_text(lattice->origin_A).s);
    print_devices(report);
    printf("rate: %s evaluations/s, %.4g in all\n", billions_text(report->evaluations_per_s).s, report->evaluations);
    printf("time: reading %s, preparing %s, computing %s, verifying %s, writing %s, total %s\n",
           seconds_text(phases->reading_s).s, seconds_text(phases->preparing_s).s, seconds_text(phases->computing_s).s,
           seconds_text(phases->verifying_s).s, seconds_text(phases->writing_s).s,
           seconds_text(now_s() - phases->start_s).s);
    if (accuracy->points > 0)
        printf("accuracy: relative RMS %.2g of %s points against double precision (limit %.2g)\n",
               accuracy->relative_rms, count_text((int64_t)accuracy->points).s, accuracy->tolerance);
    printf("written: %s, %s\n", run->values->output, bytes_text(file_size(run->values->output)).s);
}

static json_t *molecule_json(const map_run *run)
{
    json_t *molecule = json_object();
    double low_A[3], high_A[3];
    ley_atoms_bounds_A(run->atoms, low_A, high_A);
    json_put(molecule, "file", json_text(run->arguments->operand));
    json_put(molecule, "atoms", json_count((int64_t)ley_atoms_count(run->atoms)));
    json_put(molecule, "total_charge_e", json_number(ley_atoms_total_charge_e(run->atoms)));
    json_put(molecule, "low_A", json_numbers(low_A, 3));
    json_put(molecule, "high_A", json_numbers(high_A, 3));
    return molecule;
}

static json_t *phases_json(const phase_times *phases)
{
    json_t *seconds = json_object();
    json_put(seconds, "reading", json_number(phases->reading_s));
    json_put(seconds, "preparing", json_number(phases->preparing_s));
    json_put(seconds, "computing", json_number(phases->computing_s));
    json_put(seconds, "verifying", json_number(phases->verifying_s));
    json_put(seconds, "writing", json_number(phases->writing_s));
    json_put(seconds, "total", json_number(now_s() - phases->start_s));
    return seconds;
}

static int write_json(const map_run *run, const ley_error *outcome)
{
    const ley_report *job = run->report;
    json_t *report = json_begin(run->arguments);
    json_put_outcome(report, outcome, ley_status_exit_code(outcome->status));
    json_put(report, "molecule", molecule_json(run));
    json_put(report, "lattice", json_of_lattice(ley_map_lattice(run->map)));
    json_put(report, "devices", json_of_device_reports(job));
    json_put(report, "evaluations", json_number(job->evaluations));
    json_put(report, "evaluations_per_s", json_number(job->evaluations_per_s));
    json_put(report, "seconds", phases_json(&run->phases));
    json_put(report, "accuracy", json_of_accuracy(&job->accuracy));
    json_put(report, "slabs", json_of_slabs(job));
    json_put(report, "bytes_written",
             outcome->status == LEY_OK ? json_count((int64_t)file_size(run->values->output)) : json_null());
    return json_finish(report, run->values->json);
}

static void print_failure(const ley_device_report *device, const ley_error *error, bool alone)
{
    const char *why = device->failure != NULL ? device->failure : ley_status_text(device->status);
    if (error->status == LEY_OK)
        warn("device %d, %s, left the job: %s", device->device->index, device->device->name, why);
    else if (!alone) /* a single device's reason is the error's message */
        fail(device->status, "device %d, %s: %s", device->device->index, device->device->name, why);
    if (device->failure_log != NULL && (error->log == NULL || strcmp(error->log, device->failure_log) != 0))
        fprintf(stderr, "%s\n", device->failure_log);
}

/* Devices that left the job: warnings when others finished it, an explanation of the error otherwise. */
static void print_failures(const ley_report *report, const ley_error *error)
{
    for (size_t i = 0; i < report->device_count; i++) {
        const ley_device_report *device = &report->devices[i];
        if (device->status != LEY_OK && device->status != LEY_CANCELLED)
            print_failure(device, error, report->device_count == 1);
    }
}

/* ---- The work --------------------------------------------------------------------------------------------------- */

/* Reads the clock and gives the time since its last reading. */
static double lap_s(double *last_s)
{
    double now = now_s(), lap = now - *last_s;
    *last_s = now;
    return lap;
}

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
        status = ley_engine_create(run->values->device, &run->engine, error);
    }
    if (status == LEY_OK)
        status = ley_job_create(run->engine, run->atoms, run->map, &options, &run->job, error);
    run->phases.preparing_s = lap_s(&clock_s);
    return status;
}

static ley_status compute(map_run *run, ley_error *error)
{
    run->progress.last = run->values->verify > 0 ? "verifying" : NULL;
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
        if (!finished || !values->quiet)
            print_failures(run->report, error);
        if (values->json != NULL)
            written = write_json(run, error);
        if (finished && !values->quiet && !json_takes_stdout(values->json))
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
    progress_start(&run.progress, run.values->quiet);
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
