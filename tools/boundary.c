/* leyden boundary: Dirichlet values for a Poisson-Boltzmann solver. */
#include "boundary_job.h"
#include "commands.h"
#include "console.h"
#include "file.h"
#include "interrupt.h"
#include "job_report.h"
#include "molecule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum file_format { FORMAT_DX, FORMAT_RAW, FORMAT_CSV } file_format;

typedef struct boundary_values {
    job_values job;
    const char *output, *points;
    int format, kind, stride; /* kind: index into boundary_kind_names */
    int64_t dime[3], slab_rows;
    double length_A[3], spacing_A[3], centre_A[3], dielectric, solute_dielectric, temperature_K, stride_tolerance;
    option_triples ions;
    bool pqr_anyway;
} boundary_values;

static const char *const format_names[] = {[FORMAT_DX] = "dx", [FORMAT_RAW] = "raw", [FORMAT_CSV] = "csv", NULL};

enum { OUTPUT, FORMAT, DIME, GLEN, GRID, GCENT, POINTS, STRIDE, STRIDE_TOLERANCE };

static const option_row boundary_options[] = {
    [OUTPUT] = {.name = "output",
                .letter = 'o',
                .kind = OPTION_TEXT,
                .required = true,
                .value = "FILE",
                .offset = offsetof(boundary_values, output),
                .help =
                    "the file to write: .dx is an OpenDX map of the faces, 0 inside; .bin or .raw the values alone, "
                    "float64, face after face; .csv lines of x,y,z,phi"},
    [FORMAT] = {.name = "format",
                .kind = OPTION_CHOICE,
                .offset = offsetof(boundary_values, format),
                .value = "FORMAT",
                .choices = format_names,
                .unset = "by the ending of FILE",
                .help = "of the file"},
    [DIME] = {.name = "dime",
              .kind = OPTION_INTEGER,
              .offset = offsetof(boundary_values, dime),
              .count = 3,
              .value = "NX,NY,NZ",
              .low = 2,
              .high = INT32_MAX,
              .unset = "none",
              .help = "nodes of the lattice along x, y, z"},
    [GLEN] = {.name = "glen",
              .kind = OPTION_REAL,
              .offset = offsetof(boundary_values, length_A),
              .count = 3,
              .value = "X,Y,Z",
              .low = 0,
              .above_low = true,
              .high = 1e9,
              .unset = "none",
              .help = "edges of the lattice in Angstrom, from its first node to its last"},
    [GRID] = {.name = "grid",
              .kind = OPTION_REAL,
              .offset = offsetof(boundary_values, spacing_A),
              .count = 3,
              .value = "HX,HY,HZ",
              .low = 1e-6,
              .high = 1e8,
              .unset = "by --glen",
              .help = "distances of neighbouring nodes in Angstrom, in place of --glen"},
    [GCENT] = {.name = "gcent",
               .kind = OPTION_REAL,
               .offset = offsetof(boundary_values, centre_A),
               .count = 3,
               .value = "X,Y,Z",
               .low = -1e9,
               .high = 1e9,
               .word = "mol",
               .unset = "mol",
               .help = "centre of the lattice in Angstrom; mol is the centre of the atoms' bounding box"},
    [POINTS] = {.name = "points",
                .kind = OPTION_TEXT,
                .offset = offsetof(boundary_values, points),
                .value = "FILE",
                .unset = "the nodes of the faces",
                .help = "values at the points of FILE, x y z in a line each, in place of a lattice"},
    [STRIDE] = OPTION_ROW_STRIDE(boundary_values),
    [STRIDE_TOLERANCE] = OPTION_ROW_STRIDE_TOLERANCE(boundary_values),
    {.name = "bcfl",
     .kind = OPTION_CHOICE,
     .offset = offsetof(boundary_values, kind),
     .value = "KIND",
     .choices = boundary_kind_names,
     .help = "mdh: Debye-Hueckel potentials of all atoms; sdh: of one sphere with their charge, dipole and quadrupole"},
    {.name = "sdie",
     .kind = OPTION_REAL,
     .offset = offsetof(boundary_values, dielectric),
     .value = "E",
     .low = 1,
     .high = 1e6,
     .help = "relative permittivity of the solvent"},
    {.name = "pdie",
     .kind = OPTION_REAL,
     .offset = offsetof(boundary_values, solute_dielectric),
     .value = "E",
     .low = 1,
     .high = 1e6,
     .help = "of the molecule; matters for sdh only"},
    {.name = "temp",
     .kind = OPTION_REAL,
     .offset = offsetof(boundary_values, temperature_K),
     .value = "K",
     .low = 1e-3,
     .high = 1e6,
     .help = "temperature in Kelvin"},
    {.name = "ion",
     .kind = OPTION_TRIPLES,
     .offset = offsetof(boundary_values, ions),
     .value = "C,Z,R",
     .low = -1e6,
     .high = 1e6,
     .help = "an ion species: concentration in mol/l, charge in e, radius in Angstrom; once for each species"},
    {.name = "slab-rows",
     .kind = OPTION_INTEGER,
     .offset = offsetof(boundary_values, slab_rows),
     .value = "N",
     .low = 1,
     .high = INT32_MAX,
     .unset = "as memory and balance suggest",
     .help = "rows of a face, or points, in one piece of work, at most"},
    OPTION_ROW_PQR_ANYWAY(boundary_values),
    JOB_OPTION_ROWS,
};

typedef struct boundary_run {
    const parsed_arguments *arguments;
    const boundary_values *values;
    ley_boundary_kind kind;
    file_format format;
    ley_ion ions[OPTION_TRIPLES_MAX];
    ley_solvent solvent;
    ley_atoms *atoms;
    ley_boundary *boundary;
    ley_engine *engine;
    ley_job *job;
    const ley_report *report; /* of MDH, once the job ended */
    bool computed;
    int stride;
    double stride_error;
    phase_times phases;
    progress_line progress;
} boundary_run;

static void set_defaults(void *to)
{
    boundary_values *values = to;
    job_set_defaults(&values->job);
    values->kind = LEY_BOUNDARY_MDH - LEY_BOUNDARY_ZERO;
    values->dielectric = 78.54;
    values->solute_dielectric = 2;
    values->temperature_K = 298.15;
    values->stride = STRIDE_1;
    values->stride_tolerance = 1e-6;
    for (int axis = 0; axis < 3; axis++)
        values->centre_A[axis] = NAN;
}

/* ---- Before the work ------------------------------------------------------------------------- */

/* By the option, else by the ending. */
static int choose_format(const parsed_arguments *arguments, file_format *format)
{
    static const struct {
        const char *ending;
        file_format format;
    } endings[] = {{".dx", FORMAT_DX}, {".bin", FORMAT_RAW}, {".raw", FORMAT_RAW}, {".csv", FORMAT_CSV}};
    const boundary_values *values = arguments->values;
    *format = (file_format)values->format;
    if (option_given(arguments, FORMAT))
        return 0;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends_with(values->output, endings[i].ending)) {
            *format = endings[i].format;
            return 0;
        }
    return fail_usage(arguments->command, "--output: '%s' must end in .dx, .bin, .raw or .csv, or name its --format",
                      values->output);
}

static int check_places(const parsed_arguments *arguments, file_format format)
{
    const subcommand *command = arguments->command;
    const boundary_values *values = arguments->values;
    static const size_t of_lattices[] = {DIME, GLEN, GRID, GCENT};
    short_text why;
    if (format != FORMAT_DX && (option_given(arguments, STRIDE) || option_given(arguments, STRIDE_TOLERANCE)))
        return fail_usage(command, "--boundary-stride and --boundary-tol are for OpenDX files only");
    if (option_given(arguments, POINTS)) {
        for (size_t i = 0; i < sizeof of_lattices / sizeof *of_lattices; i++)
            if (option_given(arguments, of_lattices[i]))
                return fail_usage(command, "--points and --%s exclude each other",
                                  boundary_options[of_lattices[i]].name);
        if (format == FORMAT_DX)
            return fail_usage(command, "--points: OpenDX holds lattices only; write .csv, .bin or .raw");
    } else {
        if (!option_given(arguments, DIME))
            return fail_usage(command, "--dime NX,NY,NZ or --points FILE is missing: where the values are wanted");
        if (option_given(arguments, GLEN) == option_given(arguments, GRID))
            return fail_usage(command, option_given(arguments, GLEN)
                                           ? "--glen and --grid exclude each other"
                                           : "--glen or --grid is missing: the lattice's size");
        if (!boundary_stride_fits(values->dime, values->stride, &why))
            return fail_usage(command, "%s", why.s);
    }
    return 0;
}

static int check_ions(const parsed_arguments *arguments)
{
    const boundary_values *values = arguments->values;
    for (size_t i = 0; i < values->ions.n; i++) {
        const double *ion = values->ions.value[i];
        if (ion[0] < 0)
            return fail_usage(arguments->command, "--ion: a concentration of %g mol/l", ion[0]);
        if (ion[2] < 0)
            return fail_usage(arguments->command, "--ion: a radius of %g A", ion[2]);
    }
    return 0;
}

static int check_arguments(const parsed_arguments *arguments, file_format *format)
{
    const boundary_values *values = arguments->values;
    const named_file files[] = {{arguments->operand, "atoms", NULL},
                                {values->points, "points", NULL},
                                {values->output, "boundary", "--output"},
                                {values->job.json, "report", "--json"}};
    int code = choose_format(arguments, format);
    if (code == 0)
        code = check_places(arguments, *format);
    if (code == 0)
        code = check_ions(arguments);
    if (code == 0)
        code = check_variant_of(arguments->command, "mdh", values->job.variant);
    if (code != 0)
        return code;
    return files_check(arguments->command, files, sizeof files / sizeof *files);
}

static void set_solvent(boundary_run *run)
{
    const boundary_values *values = run->values;
    double charge_M = 0;
    for (size_t i = 0; i < values->ions.n; i++) {
        const double *ion = values->ions.value[i];
        run->ions[i] = (ley_ion){.concentration_M = ion[0], .charge_e = ion[1], .radius_A = ion[2]};
        charge_M += ion[0] * ion[1];
    }
    run->solvent = (ley_solvent){.dielectric = values->dielectric,
                                 .solute_dielectric = values->solute_dielectric,
                                 .temperature_K = values->temperature_K,
                                 .ion_count = values->ions.n,
                                 .ions = run->ions};
    if (fabs(charge_M) > 1e-9 && !values->job.quiet)
        warn("the ions are not neutral together: %+g mol/l of charge", charge_M);
}

/* ---- The work -------------------------------------------------------------------------------- */

static ley_status make_points(boundary_run *run, ley_error *error)
{
    int64_t n;
    double *point_A;
    ley_status status = ley_points_read(run->values->points, &n, &point_A, error);
    if (status != LEY_OK)
        return status;
    status = ley_boundary_create_points(n, point_A, &run->boundary, error);
    free(point_A);
    return status;
}

static ley_status make_lattice(boundary_run *run, ley_error *error)
{
    const boundary_values *values = run->values;
    double spacing_A[3], centre_A[3], low_A[3], high_A[3];
    ley_atoms_bounds_A(run->atoms, low_A, high_A);
    for (int axis = 0; axis < 3; axis++) {
        spacing_A[axis] = option_given(run->arguments, GRID)
                              ? values->spacing_A[axis]
                              : values->length_A[axis] / (double)(values->dime[axis] - 1);
        centre_A[axis] = isnan(values->centre_A[0]) ? 0.5 * (high_A[axis] + low_A[axis]) : values->centre_A[axis];
    }
    ley_lattice lattice = boundary_lattice(values->dime, spacing_A, centre_A);
    return ley_boundary_create(&lattice, &run->boundary, error);
}

static void warn_of_cuts(boundary_run *run)
{
    const ley_lattice *lattice = ley_boundary_lattice(run->boundary);
    short_text what;
    if (lattice == NULL || run->values->job.quiet || !boundary_cuts_molecule(lattice, run->atoms, &what))
        return;
    progress_clear(&run->progress);
    warn("the lattice cuts through the molecule: %s; boundary values hold outside of it only", what.s);
}

static ley_status prepare(boundary_run *run, ley_error *error)
{
    double clock_s = run->phases.start_s;
    progress_say(&run->progress, "reading the atoms");
    ley_status status = molecule_read(run->arguments->operand, run->values->pqr_anyway, &run->atoms, error);
    if (status == LEY_OK)
        status = run->values->points != NULL ? make_points(run, error) : make_lattice(run, error);
    run->phases.reading_s = lap_s(&clock_s);
    if (status == LEY_OK)
        warn_of_cuts(run);
    if (status == LEY_OK && run->kind == LEY_BOUNDARY_MDH)
        status = ley_boundary_check_atoms(run->boundary, run->atoms, error);
    if (status == LEY_OK && run->kind == LEY_BOUNDARY_MDH) {
        progress_say(&run->progress, "opening the devices");
        status = ley_engine_create(run->values->job.device, &run->engine, error);
    }
    run->phases.preparing_s = lap_s(&clock_s);
    return status;
}

static ley_status compute(boundary_run *run, ley_error *error)
{
    const boundary_values *values = run->values;
    double clock_s = now_s();
    ley_run_options options = job_options_of(&values->job, &run->progress);
    options.slab_planes = values->slab_rows;
    run->progress.last = values->job.verify > 0 ? "verifying" : NULL;
    progress_say(&run->progress, "preparing the devices");
    ley_status status =
        boundary_compute(run->kind, run->engine, run->atoms, &run->solvent, &options, run->boundary, &run->job, error);
    run->computed = status == LEY_OK;
    run->phases.computing_s = lap_s(&clock_s);
    if (run->job == NULL)
        return status;
    run->report = ley_job_report(run->job);
    run->phases.preparing_s += run->report->prepare_s;
    run->phases.computing_s = run->report->compute_s;
    run->phases.verifying_s = run->report->verify_s;
    return status;
}

static ley_status write_dx(boundary_run *run, ley_error *error)
{
    const boundary_values *values = run->values;
    run->stride = boundary_choose_stride(run->boundary, values->stride, values->stride_tolerance, &run->stride_error);
    char *comment = boundary_comment(&(boundary_facts){.kind = run->kind,
                                                       .path = run->arguments->operand,
                                                       .atoms = run->atoms,
                                                       .solvent = &run->solvent,
                                                       .stride = run->stride,
                                                       .stride_error = run->stride_error,
                                                       .math = (ley_math)values->job.math,
                                                       .sum = (ley_sum)values->job.sum,
                                                       .report = run->report});
    ley_status status =
        ley_boundary_write_dx(run->boundary, run->stride, values->output, comment, interrupt_flag(), error);
    free(comment);
    return status;
}

static ley_status write_file(boundary_run *run, ley_error *error)
{
    const char *output = run->values->output;
    double clock_s = now_s();
    ley_status status;
    progress_say(&run->progress, "writing the boundary");
    if (*interrupt_flag())
        status = LEY_CANCELLED;
    else if (run->format == FORMAT_DX)
        status = write_dx(run, error);
    else if (run->format == FORMAT_CSV)
        status = ley_boundary_write_csv(run->boundary, output, interrupt_flag(), error);
    else
        status = ley_boundary_write_raw(run->boundary, output, error);
    run->phases.writing_s = lap_s(&clock_s);
    return status;
}

/* ---- The report ------------------------------------------------------------------------------ */

static void print_report(const boundary_run *run)
{
    const boundary_values *values = run->values;
    const ley_lattice *lattice = ley_boundary_lattice(run->boundary);
    short_text points = count_text(ley_boundary_points(run->boundary));
    print_molecule(run->arguments->operand, run->atoms);
    put_solvent(stdout, &run->solvent);
    printf("boundary: %s, %s, ", boundary_kind_name(run->kind), boundary_kind_title(run->kind));
    if (lattice != NULL)
        printf("%s points on the faces of %s, spacing %s A, box %s from %s\n", points.s, lattice_text(lattice->n).s,
               spacing_text(lattice).s, box_text(lattice).s, triple_text(lattice->origin_A).s);
    else
        printf("%s points of %s\n", points.s, base_name(values->points));
    if (run->stride > 1)
        printf("stride: %d, off by %.2g of the largest value at most\n", run->stride, run->stride_error);
    print_work(run->report);
    print_times(&run->phases);
    print_accuracy(run->report);
    print_written(values->output);
}

static int write_json(const boundary_run *run, const ley_error *outcome)
{
    const ley_lattice *lattice = ley_boundary_lattice(run->boundary);
    json_t *report = json_begin(run->arguments);
    json_put_outcome(report, outcome, ley_status_exit_code(outcome->status));
    json_put(report, "molecule", json_of_molecule(run->arguments->operand, run->atoms));
    json_put(report, "solvent", json_of_solvent(&run->solvent));
    json_put(report, "lattice", lattice != NULL ? json_of_lattice(lattice) : json_null());
    json_put(report, "points", json_count(ley_boundary_points(run->boundary)));
    json_put(report, "format", json_text(format_names[run->format]));
    json_put(report, "stride", run->stride > 0 ? json_count(run->stride) : json_null());
    json_put(report, "stride_error", run->stride > 0 ? json_number(run->stride_error) : json_null());
    json_put_work(report, run->report);
    json_put(report, "seconds", json_of_phases(&run->phases));
    json_put(report, "bytes_written",
             outcome->status == LEY_OK ? json_count((int64_t)file_size(run->values->output)) : json_null());
    return json_finish(report, run->values->job.json);
}

/* Says how it went; returns the exit code. */
static int conclude(boundary_run *run, ley_error *error)
{
    const job_values *values = &run->values->job;
    int code = 0, written = 0;
    progress_clear(&run->progress);
    if (error->status == LEY_CANCELLED) {
        fail_with(error);
        return interrupt_exit_code();
    }
    bool finished = error->status == LEY_OK;
    if (run->report != NULL && (!finished || !values->quiet))
        print_failures(run->report, error);
    if ((run->computed || run->report != NULL) && values->json != NULL)
        written = write_json(run, error);
    if (finished && !values->quiet && !json_takes_stdout(values->json))
        print_report(run);
    if (!finished)
        code = fail_with(error);
    return code != 0 ? code : written;
}

static int boundary_run_command(const parsed_arguments *arguments)
{
    boundary_run run = {.arguments = arguments, .values = arguments->values, .phases.start_s = now_s()};
    ley_error error = {0};
    int code = check_arguments(arguments, &run.format);
    if (code != 0)
        return code;
    run.kind = (ley_boundary_kind)(run.values->kind + LEY_BOUNDARY_ZERO);
    set_solvent(&run);
    progress_start(&run.progress, run.values->job.quiet);
    ley_status status = prepare(&run, &error);
    if (status == LEY_OK)
        status = compute(&run, &error);
    if (status == LEY_OK)
        status = write_file(&run, &error);
    error.status = status;
    code = conclude(&run, &error);
    ley_job_destroy(run.job);
    ley_engine_destroy(run.engine);
    ley_boundary_destroy(run.boundary);
    ley_atoms_destroy(run.atoms);
    return code;
}

const subcommand boundary_command = {
    .name = "boundary",
    .summary = "Computes the Dirichlet boundary values of a Poisson-Boltzmann problem, in kT/e, as APBS defines them.",
    .operand = "ATOMS",
    .operand_help = "the molecule, a PQR file (plain or .gz) or a binary one (.atoms)",
    .details =
        "mdh is phi(r) = C / sdie sum_j q_j / d_j exp(-kappa (d_j - R_j)) / (1 + kappa R_j), d_j = |r - r_j|, computed "
        "on "
        "the devices; sdh and zero are computed on the host. The points are the nodes on the six faces of a lattice of "
        "--dime nodes, with --glen or --grid and --gcent as in APBS, or those of a file (--points).",
    .options = OPTION_BLOCK(boundary_options, boundary_values, set_defaults),
    .run = boundary_run_command,
};
