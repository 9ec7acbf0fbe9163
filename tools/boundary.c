/* leyden boundary: Dirichlet values for a Poisson-Boltzmann solver. */
#include "boundary_job.h"
#include "console.h"
#include "interrupt.h"
#include "method_list.h"
#include "molecule.h"
#include "registry.h"
#include "standard_stream.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum file_format { FORMAT_DX, FORMAT_RAW, FORMAT_CSV, FORMAT_COUNT } file_format;

typedef struct boundary_values {
    const char *output, *points;
    int format, method, stride;
    ley_grid_options grid;
    ley_solvent solvent; /* but for the ions */
    double stride_tolerance;
    option_triples ions;
} boundary_values;

#define OPTION_OF_GRID(name) OPTION_OF(ley_grid_options, name, boundary_values, grid)
#define OPTION_OF_SOLVENT(name) OPTION_OF(ley_solvent, name, boundary_values, solvent)

static const char *const format_names[] = {[FORMAT_DX] = "dx", [FORMAT_RAW] = "raw", [FORMAT_CSV] = "csv", NULL};
CHOICES_ARE(format_names, FORMAT_COUNT);

enum { OUTPUT, FORMAT, DIMS, GLEN, SPACING, GCENT, POINTS, STRIDE, STRIDE_TOLERANCE };

static const option_row boundary_options[] = {
    [OUTPUT] = {.name = "output",
                .letter = 'o',
                .kind = OPTION_TEXT,
                .required = true,
                .value = "FILE",
                .offset = offsetof(boundary_values, output),
                .help =
                    "file to write: .dx is an OpenDX map of the faces, with 0 inside; .bin and .raw hold the values "
                    "alone, as float64, face after face; .csv holds lines of x,y,z,phi; - is standard output instead "
                    "of the text, as OpenDX (CSV with --points) or in the --format given"},
    [FORMAT] = {.name = "format",
                .kind = OPTION_CHOICE,
                .offset = offsetof(boundary_values, format),
                .value = "FORMAT",
                .choices = format_names,
                .unset = "by the ending of FILE",
                .help = "format of the file"},
    [DIMS] = {OPTION_OF_GRID("dims"), .low = 2, .unset = "none", .help = "number of nodes of the grid along x, y, z"},
    [GLEN] = {OPTION_OF_GRID("glen"), .is_everyday = true, .unset = "none",
              .help = "edges of the grid in Angstrom, from its first node to its last"},
    [SPACING] = {OPTION_OF_GRID("spacing"), .unset = "by --glen",
                 .help = "distance between neighbouring nodes in Angstrom, instead of --glen"},
    [GCENT] = {OPTION_OF_GRID("gcent"), .unset = "mol",
               .help = "centre of the grid in Angstrom; mol is the centre of the atoms' bounding box"},
    [POINTS] = {.name = "points",
                .kind = OPTION_TEXT,
                .is_input = true,
                .offset = offsetof(boundary_values, points),
                .value = "FILE",
                .unset = "the nodes of the faces",
                .help = "compute at the points of FILE, with x y z on each line, instead of on the faces of a grid"},
    [STRIDE] = OPTION_ROW_STRIDE(boundary_values),
    [STRIDE_TOLERANCE] = OPTION_ROW_STRIDE_TOLERANCE(boundary_values),
    {.name = "bcfl",
     .kind = OPTION_METHOD,
     .offset = offsetof(boundary_values, method),
     .value = "KIND",
     .between = "; ",
     .help = "%s"},
    {OPTION_OF_SOLVENT("dielectric")},
    {OPTION_OF_SOLVENT("solute_dielectric")},
    {OPTION_OF_SOLVENT("temperature")},
    {.of = "ley_solvent", .parameter = "ion", .kind = OPTION_TRIPLES, .offset = offsetof(boundary_values, ions)},
};

typedef struct boundary_run {
    job_run run;
    boundary_problem problem;
    file_format format;
    ley_ion ions[OPTION_TRIPLES_MAX];
    ley_solvent solvent;
    ley_atoms *atoms;
    int stride; /* 0: not an OpenDX file, or not yet written */
    double stride_error;
} boundary_run;

static const boundary_values *values_of(const job_run *run)
{
    return run->arguments->values;
}

static void set_defaults(void *to)
{
    boundary_values *values = to;
    values->method = method_row_usual(&boundary_command);
    ley_grid_options_default(&values->grid);
    ley_solvent_default(&values->solvent);
    values->stride = STRIDE_1;
    values->stride_tolerance = 1e-6;
    for (int axis = 0; axis < 3; axis++)
        values->grid.centre_A[axis] = NAN;
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
    if (output_takes_stdout(values->output)) {
        *format = option_given(arguments, POINTS) ? FORMAT_CSV : FORMAT_DX;
        return 0;
    }
    return fail_usage(arguments->command, "--output: '%s' must end in .dx, .bin, .raw or .csv, or name its --format",
                      values->output);
}

static int check_places(const parsed_arguments *arguments, file_format format)
{
    const subcommand *command = arguments->command;
    const boundary_values *values = arguments->values;
    static const size_t of_meshes[] = {DIMS, GLEN, SPACING, GCENT};
    short_text why;
    if (format != FORMAT_DX && (option_given(arguments, STRIDE) || option_given(arguments, STRIDE_TOLERANCE)))
        return fail_usage(command, "--boundary-stride and --boundary-tol are for OpenDX files only");
    if (option_given(arguments, POINTS)) {
        for (size_t i = 0; i < sizeof of_meshes / sizeof *of_meshes; i++)
            if (option_given(arguments, of_meshes[i]))
                return fail_usage(command, "--points and --%s exclude each other",
                                  arguments->options[of_meshes[i]].row->name);
        if (format == FORMAT_DX)
            return fail_usage(command, "--points: OpenDX holds grids only; write .csv, .bin or .raw");
    } else {
        if (!option_given(arguments, DIMS))
            return fail_usage(command, "--dims NX,NY,NZ or --points FILE is missing: where the values are wanted, as "
                                       "in: --dims 65,65,65 --glen 64,64,64");
        if (option_given(arguments, GLEN) == option_given(arguments, SPACING))
            return fail_usage(command, option_given(arguments, GLEN)
                                           ? "--glen and --spacing exclude each other"
                                           : "--glen or --spacing is missing: the grid's size, as in: --glen 64,64,64");
        if (!boundary_stride_fits(values->grid.n, values->stride, &why))
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

static int check(job_run *run)
{
    boundary_run *boundary = (boundary_run *)run;
    int code = choose_format(run->arguments, &boundary->format);
    if (code == 0)
        code = check_places(run->arguments, boundary->format);
    return code == 0 ? check_ions(run->arguments) : code;
}

static named_file points_file(const job_run *run)
{
    return (named_file){values_of(run)->points, "points", NULL};
}

static int set_solvent(job_run *run)
{
    boundary_run *boundary = (boundary_run *)run;
    const boundary_values *values = values_of(run);
    for (size_t i = 0; i < values->ions.n; i++) {
        const double *ion = values->ions.value[i];
        boundary->ions[i] = (ley_ion){.concentration_M = ion[0], .charge_e = ion[1], .radius_A = ion[2]};
    }
    boundary->solvent = values->solvent;
    boundary->solvent.ion_count = values->ions.n;
    boundary->solvent.ions = boundary->ions;
    boundary->problem.solvent = &boundary->solvent;
    return 0;
}

static void warn_of_ions(const job_run *run)
{
    char text[256];
    if (ley_solvent_remark(&((const boundary_run *)run)->solvent, text, sizeof text))
        warn("%s", text);
}

/* ---- The work -------------------------------------------------------------------------------- */

static ley_status make_points(boundary_run *boundary, ley_error *error)
{
    int64_t n;
    double *point_A;
    ley_status status = ley_points_read(values_of(&boundary->run)->points, &n, &point_A, error);
    if (status != LEY_OK)
        return status;
    status = ley_boundary_create_points(n, point_A, &boundary->problem.boundary, error);
    free(point_A);
    return status;
}

static ley_status make_grid(boundary_run *boundary, ley_error *error)
{
    const parsed_arguments *arguments = boundary->run.arguments;
    const boundary_values *values = arguments->values;
    double spacing_A[3], centre_A[3], low_A[3], high_A[3];
    ley_atoms_bounds_A(boundary->atoms, low_A, high_A);
    for (int axis = 0; axis < 3; axis++) {
        spacing_A[axis] = option_given(arguments, SPACING)
                              ? values->grid.spacing_A[axis]
                              : values->grid.length_A[axis] / (double)(values->grid.n[axis] - 1);
        centre_A[axis] =
            isnan(values->grid.centre_A[0]) ? 0.5 * (high_A[axis] + low_A[axis]) : values->grid.centre_A[axis];
    }
    ley_grid grid = boundary_grid(values->grid.n, spacing_A, centre_A);
    return ley_boundary_create(&grid, &boundary->problem.boundary, error);
}

static ley_status read_input(job_run *run, ley_error *error)
{
    boundary_run *boundary = (boundary_run *)run;
    ley_status status = molecule_read(run->arguments->operand, run->arguments, &boundary->atoms, error);
    boundary->problem.atoms = boundary->atoms;
    if (status == LEY_OK && !run->values->quiet) {
        progress_clear(&run->progress);
        molecule_warn(run->arguments->operand, boundary->atoms);
    }
    if (status == LEY_OK)
        status = values_of(run)->points != NULL ? make_points(boundary, error) : make_grid(boundary, error);
    return status;
}

static void warn_of_cuts(boundary_run *boundary)
{
    job_run *run = &boundary->run;
    const ley_grid *grid = ley_boundary_grid(boundary->problem.boundary);
    short_text what;
    if (grid == NULL || run->values->quiet || !boundary_cuts_molecule(grid, boundary->atoms, &what))
        return;
    progress_clear(&run->progress);
    warn("the grid cuts through the molecule: %s; boundary values hold outside of it only", what.s);
}

/* Potentials of single atoms are infinite at their centres. */
static ley_status place(job_run *run, ley_error *error)
{
    boundary_run *boundary = (boundary_run *)run;
    warn_of_cuts(boundary);
    return run->method->create != NULL ? ley_boundary_check_atoms(boundary->problem.boundary, boundary->atoms, error)
                                       : LEY_OK;
}

static ley_status write_dx(boundary_run *boundary, ley_error *error)
{
    const job_run *run = &boundary->run;
    const boundary_values *values = values_of(run);
    boundary->stride = boundary_choose_stride(boundary->problem.boundary, values->stride, values->stride_tolerance,
                                              &boundary->stride_error);
    char *comment = boundary_comment(&(boundary_facts){.method = run->method,
                                                       .path = run->arguments->operand,
                                                       .atoms = boundary->atoms,
                                                       .solvent = &boundary->solvent,
                                                       .stride = boundary->stride,
                                                       .stride_error = boundary->stride_error,
                                                       .values = run->values,
                                                       .report = run->report});
    ley_status status = ley_boundary_write_dx(boundary->problem.boundary, boundary->stride, run->output, comment,
                                              interrupt_flag(), error);
    free(comment);
    return status;
}

static ley_status write_file(job_run *run, ley_error *error)
{
    boundary_run *boundary = (boundary_run *)run;
    if (interrupt_came())
        return LEY_CANCELLED;
    if (boundary->format == FORMAT_DX)
        return write_dx(boundary, error);
    if (boundary->format == FORMAT_CSV)
        return ley_boundary_write_csv(boundary->problem.boundary, run->output, interrupt_flag(), error);
    return ley_boundary_write_raw(boundary->problem.boundary, run->output, error);
}

static void end(job_run *run)
{
    boundary_run *boundary = (boundary_run *)run;
    ley_boundary_destroy(boundary->problem.boundary);
    ley_atoms_destroy(boundary->atoms);
}

/* ---- The report ------------------------------------------------------------------------------ */

static void print(const job_run *run)
{
    const boundary_run *boundary = (const boundary_run *)run;
    const ley_grid *grid = ley_boundary_grid(boundary->problem.boundary);
    short_text points = counted_text(ley_boundary_points(boundary->problem.boundary), "point");
    print_molecule(run->arguments->operand, boundary->atoms);
    if (grid != NULL)
        printf("grid: %s, %s on its faces, spacing %s A, box %s from %s", grid_text(grid->n).s, points.s,
               spacing_text(grid).s, box_text(grid).s, triple_text(grid->origin_A).s);
    else
        printf("points: %s of %s", count_text(ley_boundary_points(boundary->problem.boundary)).s,
               base_name(values_of(run)->points));
    if (boundary->stride > 1)
        printf(", every %s node in the file (interpolation error at most %.2g of the largest value)",
               boundary->stride == 2 ? "second" : "fourth", boundary->stride_error);
    putchar('\n');
}

static void put_json(const job_run *run, json_t *report)
{
    const boundary_run *boundary = (const boundary_run *)run;
    const ley_grid *grid = ley_boundary_grid(boundary->problem.boundary);
    const bool has_stride = boundary->stride > 0;
    json_put(report, "molecule", json_of_molecule(run->arguments->operand, boundary->atoms));
    json_put(report, "solvent", json_of_solvent(&boundary->solvent));
    json_put(report, "grid", grid != NULL ? json_of_grid(grid) : json_null());
    json_put(report, "points", json_count(ley_boundary_points(boundary->problem.boundary)));
    json_put(report, "format", json_text(format_names[boundary->format]));
    json_put(report, "stride", has_stride ? json_count(boundary->stride) : json_null());
    json_put(report, "stride_error", has_stride ? json_number(boundary->stride_error) : json_null());
}

/* ---- The command ----------------------------------------------------------------------------- */

static const job_kind kind = {.operand = "atoms",
                              .product = "boundary",
                              .check = check,
                              .check_input = set_solvent,
                              .file = points_file,
                              .warn = warn_of_ions,
                              .read = read_input,
                              .place = place,
                              .write = write_file,
                              .end = end,
                              .print = print,
                              .put_json = put_json};

static int boundary_run_command(const parsed_arguments *arguments)
{
    const boundary_values *values = arguments->values;
    boundary_run boundary = {.run = {.kind = &kind,
                                     .arguments = arguments,
                                     .method = method_row_at(&boundary_command, (size_t)values->method),
                                     .output = output_path(values->output),
                                     .problem = &boundary.problem}};
    return job_frame_run(&boundary.run);
}

static const option_method *method_at(size_t i)
{
    return method_option_at(&boundary_command, i);
}

static const option_block *const shared[] = {&molecule_options, &job_options, NULL};

const subcommand boundary_command = {
    .name = "boundary",
    .summary = "Compute the boundary values of a Poisson-Boltzmann problem, as APBS defines them.",
    .examples = {"leyden boundary protein.pqr -o boundary.dx --dims 65,65,65 --glen 64,64,64",
                 "leyden boundary protein.pqr -o values.csv --points places.txt --ion 0.15,1,2 --ion 0.15,-1,2"},
    .operand = "ATOMS",
    .operand_help = "molecule: PQR (plain or .gz) or .atoms; - is PQR on standard input",
    .is_operand_file = true,
    .details =
        "mdh is phi(r) = C / dielectric sum_j q_j / d_j exp(-kappa (d_j - R_j)) / (1 + kappa R_j), d_j = |r - r_j|, "
        "computed on the devices; sdh and zero are computed on the host. The points are the nodes on the six faces "
        "of a grid with --dims nodes and --glen or --spacing and --gcent, as in APBS, or those of a file (--points). "
        "The host does small jobs alone, in double precision, where that is faster than opening a device.",
    .options = OPTION_BLOCK(boundary_options, boundary_values, set_defaults),
    .method = method_at,
    .shared = shared,
    .is_dealt = true,
    .run = boundary_run_command,
};
