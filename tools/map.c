/* leyden map: the electrostatic potential of a molecule on a lattice. */
#include "commands.h"
#include "console.h"
#include "file.h"
#include "interrupt.h"
#include "job_options.h"
#include "job_report.h"
#include "molecule.h"
#include "short_range_options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct map_values {
    job_values job;
    short_range_values range;
    const char *output;
    int method, units; /* method: DCS, CUTOFF */
    int64_t dims[3], slab_planes;
    double spacing_A, origin_A[3], padding_A, dielectric, temperature_K, r_min_A;
    bool pqr_anyway;
} map_values;

enum { DCS, CUTOFF };
static const char *const method_names[] = {[DCS] = "dcs", [CUTOFF] = "cutoff", NULL};
static const char *const method_titles[] = {
    [DCS] = "direct Coulomb summation", [CUTOFF] = "sum of pairs within a cutoff"};
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
                .help = "how to sum: dcs is direct Coulomb summation, every atom at every point; cutoff is a "
                        "short-range sum, of --pair "
                        "within --cutoff"},
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
              .unset = "what the padding or the cell asks for",
              .help = "points along x, y, z"},
    [ORIGIN] = {.name = "origin",
                .kind = OPTION_REAL,
                .offset = offsetof(map_values, origin_A),
                .count = 3,
                .value = "X,Y,Z",
                .low = -1e9,
                .high = 1e9,
                .unset = "a multiple of the spacing around the molecule; 0,0,0 of a cell",
                .help = "the lattice's first point, in Angstrom; with --dims, or where the lattice is the cell"},
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
    SHORT_RANGE_OPTION_ROWS(map_values, range),
    OPTION_ROW_PQR_ANYWAY(map_values),
    JOB_OPTION_ROWS,
};

typedef struct map_run {
    const parsed_arguments *arguments;
    const map_values *values;
    short_range_input input; /* of CUTOFF */
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
    ley_direct direct;
    ley_direct_default(&direct);
    job_set_defaults(&values->job);
    short_range_set_defaults(&values->range);
    values->units = (int)direct.units;
    values->dielectric = direct.dielectric;
    values->temperature_K = direct.temperature_K;
    values->r_min_A = direct.r_min_A;
    values->spacing_A = 0.5;
    values->padding_A = 10;
}

/* ---- Before the work ------------------------------------------------------------------------- */

/* The lattice of a periodic box is the box itself, unless something else is asked for. */
static bool lattice_is_cell(const map_run *run, double length_A[3])
{
    return !option_given(run->arguments, DIMS) && !option_given(run->arguments, PADDING) &&
           short_range_is_box(&run->input.range, length_A);
}

static int check_arguments(map_run *run)
{
    const parsed_arguments *arguments = run->arguments;
    const map_values *values = run->values;
    const subcommand *command = arguments->command;
    double length_A[3];
    if (option_given(arguments, DIMS) && option_given(arguments, PADDING))
        return fail_usage(command, "--dims and --padding exclude each other: both say how large the lattice is");
    if (!ends_with(values->output, ".dx") && !ends_with(values->output, ".dx.gz"))
        return fail_usage(command, "--output: '%s' must end in .dx or .dx.gz", values->output);
    int code = short_range_begin(arguments, &values->range, values->method == CUTOFF, &run->input);
    if (code != 0)
        return code;
    if (option_given(arguments, ORIGIN) && !option_given(arguments, DIMS) && !lattice_is_cell(run, length_A))
        return fail_usage(command, "--origin needs --dims: without it the lattice is laid around the molecule");
    code = check_variant_of(command, method_names[values->method], values->job.variant);
    if (code != 0)
        return code;
    const named_file files[] = {{arguments->operand, "atoms", NULL},
                                {values->range.well_depths, "well depths", NULL},
                                {values->output, "map", "--output"},
                                {values->job.json, "report", "--json"}};
    return files_check(command, files, sizeof files / sizeof *files);
}

static ley_status choose_lattice(const map_run *run, ley_lattice *lattice, ley_error *error)
{
    const map_values *values = run->values;
    double low_A[3], high_A[3], edge_A[3], origin_A[3], spacing_A[3];
    int64_t n[3];
    if (lattice_is_cell(run, edge_A)) {
        for (int axis = 0; axis < 3; axis++) {
            /* A whole number of spacings an edge: the far face is the near one again. */
            double count = fmin(fmax(round(edge_A[axis] / values->spacing_A), 1), LEY_MAX_EXTENT + 1.0);
            n[axis] = (int64_t)count;
            spacing_A[axis] = edge_A[axis] / count;
        }
        *lattice = ley_lattice_orthogonal(values->origin_A, spacing_A, n);
        return ley_lattice_check(lattice, error);
    }
    if (!option_given(run->arguments, DIMS))
        return ley_lattice_around(run->atoms, values->spacing_A, values->padding_A, lattice, error);
    ley_atoms_bounds_A(run->atoms, low_A, high_A);
    for (int axis = 0; axis < 3; axis++) {
        double length_A = (double)(values->dims[axis] - 1) * values->spacing_A;
        spacing_A[axis] = values->spacing_A;
        origin_A[axis] =
            option_given(run->arguments, ORIGIN)
                ? values->origin_A[axis]
                : values->spacing_A * round((0.5 * (low_A[axis] + high_A[axis]) - 0.5 * length_A) / values->spacing_A);
    }
    *lattice = ley_lattice_orthogonal(origin_A, spacing_A, values->dims);
    return ley_lattice_check(lattice, error);
}

static ley_direct direct_of(const map_values *values)
{
    ley_direct direct;
    ley_direct_default(&direct);
    direct.units = (ley_units)values->units;
    direct.dielectric = values->dielectric;
    direct.temperature_K = values->temperature_K;
    direct.r_min_A = values->r_min_A;
    return direct;
}

/* The options that both kinds of sums have. */
static void complete_range(map_run *run)
{
    const map_values *values = run->values;
    ley_short_range *range = &run->input.range;
    range->units = (ley_units)values->units;
    range->dielectric = values->dielectric;
    range->temperature_K = values->temperature_K;
    range->r_min_A = values->r_min_A;
}

static ley_status check_memory(const map_run *run, const ley_lattice *lattice, ley_error *error)
{
    const ley_direct direct = direct_of(run->values);
    return run->values->method == CUTOFF ? ley_short_range_check_memory(run->atoms, lattice, &run->input.range, error)
                                         : ley_direct_check_memory(run->atoms, lattice, &direct, error);
}

static ley_status create_job(map_run *run, ley_error *error)
{
    ley_run_options options = job_options_of(&run->values->job, &run->progress);
    options.slab_planes = run->values->slab_planes;
    const ley_direct direct = direct_of(run->values);
    if (run->values->method != CUTOFF)
        return ley_job_create_direct(run->engine, run->atoms, run->map, &direct, &options, &run->job, error);
    ley_status status =
        ley_job_create_short_range(run->engine, run->atoms, run->map, &run->input.range, &options, &run->job, error);
    short_range_explain(&run->input.range, error);
    return status;
}

/* ---- The header of the map ------------------------------------------------------------------- */

/* What made the map, without dates and paths: the same command makes the same bytes. */
static char *header_comment(const map_run *run)
{
    const map_values *values = run->values;
    comment_text comment;
    comment_begin(&comment);
    fprintf(comment.stream, "method: %s, %s\n", method_names[values->method], method_titles[values->method]);
    put_molecule(comment.stream, run->arguments->operand, run->atoms);
    if (run->values->method == CUTOFF)
        put_short_range(comment.stream, &run->input.range);
    fprintf(comment.stream, "units: %s, ", ley_map_units(run->map));
    if (!ley_pair_get(run->input.range.pair)->is_energy)
        fprintf(comment.stream, "dielectric %.15g, temperature %.15g K, ", values->dielectric, values->temperature_K);
    fprintf(comment.stream, "r_min %.15g A\n", values->r_min_A);
    fprintf(comment.stream, "math: %s, sum: %s\n", math_names[values->job.math], sum_names[run->report->sum]);
    put_devices(comment.stream, run->report);
    put_accuracy(comment.stream, run->report);
    return comment_end(&comment);
}

/* ---- The report ------------------------------------------------------------------------------ */

/* What the map is, and is not. Energies of probes and a permittivity that grows with the distance
 * say it themselves. */
static void print_model(const map_run *run)
{
    if (run->values->method != CUTOFF || ley_pair_get(run->input.range.pair)->is_uniform)
        printf("model: point charges in a uniform dielectric of %.6g (--dielectric), not Poisson-Boltzmann\n",
               run->values->dielectric);
}

static void print_report(const map_run *run)
{
    const ley_lattice *lattice = ley_map_lattice(run->map);
    print_molecule(run->arguments->operand, run->atoms);
    double h_A[3];
    ley_lattice_spacing_A(lattice, h_A);
    short_text spacing = h_A[0] == h_A[1] && h_A[1] == h_A[2] ? text_of("%.6g", h_A[0]) : triple_text(h_A);
    printf("lattice: %s = %s points, spacing %s A, box %s from %s\n", lattice_text(lattice->n).s,
           count_text(run->report->points).s, spacing.s, box_text(lattice).s, triple_text(lattice->origin_A).s);
    print_model(run);
    if (run->values->method == CUTOFF)
        print_short_range(&run->input.range, run->report);
    print_work(run->report);
    print_times(&run->phases);
    print_accuracy(run->report);
    print_written(run->values->output);
}

static json_t *short_range_json(const map_run *run)
{
    if (run->values->method != CUTOFF)
        return json_null();
    json_t *object = json_of_short_range(&run->values->range, &run->input.range);
    json_put(object, "report", json_of_notes(run->report));
    return object;
}

static int write_json(const map_run *run, const ley_error *outcome)
{
    json_t *report = json_begin(run->arguments);
    json_put_outcome(report, outcome, ley_status_exit_code(outcome->status));
    json_put(report, "molecule", json_of_molecule(run->arguments->operand, run->atoms));
    json_put(report, "lattice", json_of_lattice(ley_map_lattice(run->map)));
    json_put(report, "short_range", short_range_json(run));
    json_put_work(report, run->report);
    json_put(report, "seconds", json_of_phases(&run->phases));
    json_put(report, "bytes_written",
             outcome->status == LEY_OK ? json_count((int64_t)file_size(run->values->output)) : json_null());
    return json_finish(report, run->values->job.json);
}

/* ---- The work -------------------------------------------------------------------------------- */

static ley_status prepare(map_run *run, ley_error *error)
{
    double clock_s = run->phases.start_s;
    ley_lattice lattice;
    progress_say(&run->progress, "reading the atoms");
    ley_status status = molecule_read(run->arguments->operand, run->values->pqr_anyway, &run->atoms, error);
    if (status == LEY_OK)
        status = short_range_read_depths(&run->values->range, run->atoms, run->arguments->operand, &run->input, error);
    run->phases.reading_s = lap_s(&clock_s);
    if (status == LEY_OK)
        status = choose_lattice(run, &lattice, error);
    complete_range(run);
    if (status == LEY_OK)
        status = check_memory(run, &lattice, error);
    if (status == LEY_OK)
        status = ley_map_create(&lattice, &run->map, error);
    if (status == LEY_OK) {
        progress_say(&run->progress, "opening the devices");
        status = ley_engine_create(run->values->job.device, &run->engine, error);
    }
    if (status == LEY_OK)
        status = create_job(run, error);
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
    int code = check_arguments(&run);
    if (code != 0) {
        short_range_release(&run.input);
        return code;
    }
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
    short_range_release(&run.input);
    return code;
}

const subcommand map_command = {
    .name = "map",
    .summary = "Computes the electrostatic potential of a molecule's charges on a regular lattice.",
    .operand = "ATOMS",
    .operand_help = "the molecule, a PQR file (plain or .gz) or a binary one (.atoms)",
    .details =
        "phi(r_i) = C sum_j q_j / max(|r_i - r_j|, r_min), with C = e / (4 pi eps0 dielectric), in units of --units.\n"
        "With --method cutoff it is phi(r_i) = C sum over |r_i - r_j| < cutoff of q_j f(max(|r_i - r_j|, r_min)), with "
        "any function f "
        "(--pair), and atoms may have periodic images. docs/short-range.md has the functions.\n"
        "The lattice is laid around the molecule with --padding on every side, or has --dims points about its middle; "
        "without "
        "--origin its first point is a multiple of the spacing, so that maps of one spacing share their points. A "
        "rectangular cell that is "
        "periodic along x, y and z is itself the lattice where neither is given: from --origin on, its edges in whole "
        "numbers of "
        "spacings, each next to --spacing, the far faces left out.",
    .options = OPTION_BLOCK(map_options, map_values, set_defaults),
    .run = map_run_command,
};
