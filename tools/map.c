/* leyden map: the electrostatic potential of a molecule on a grid, or at points. */
#include "console.h"
#include "cutoff_options.h"
#include "field_maps.h"
#include "interrupt.h"
#include "job_batch.h"
#include "job_frame.h"
#include "map_keeping.h"
#include "map_problem.h"
#include "method_list.h"
#include "molecule.h"
#include "registry.h"
#include "standard_stream.h"
#include "typed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct map_values {
    const char *output, *points, *exclude, *like;
    int format, method;
    int64_t side_by_side;
    ley_grid_options grid;
    ley_direct medium;
    bool field, dry_run, resume;
    int64_t ranks;
    double link[2]; /* bytes per second, seconds */
} map_values;

#define OPTION_OF_GRID(name) OPTION_OF(ley_grid_options, name, map_values, grid)
#define OPTION_OF_MEDIUM(name) OPTION_OF(ley_direct, name, map_values, medium)

enum { OUTPUT, FORMAT, METHOD, SPACING, DIMS, LENGTH, CENTRE, ORIGIN, PADDING, LIKE, POINTS, EXCLUDE, RANKS, LINK };

static const option_row map_options[] = {
    [OUTPUT] = {.name = "output",
                .letter = 'o',
                .kind = OPTION_TEXT,
                .required = true,
                .value = "MAP",
                .offset = offsetof(map_values, output),
                .help = "map to write, in the format of its ending",
                .more =
                    "%s; {} stands for the name of the molecule's file; with --points a table (.csv or .npy) of "
                    "x,y,z,phi, and with --field also ex,ey,ez; - is standard output instead of the text, as OpenDX "
                    "(CSV with --points) or in the --format given, except raw and npy, which need a file",
                .names = map_formats},
    [FORMAT] = {.name = "format",
                .kind = OPTION_CHOICE,
                .is_expert = true,
                .offset = offsetof(map_values, format),
                .value = "FORMAT",
                .choices = map_format_words,
                .unset = "by the ending of MAP",
                .help = "format of the map, whatever its name; not with --points"},
    [METHOD] = {.name = "method",
                .kind = OPTION_METHOD,
                .offset = offsetof(map_values, method),
                .value = "METHOD",
                .between = "; ",
                .help = "method of summation: %s"},
    [SPACING] = {OPTION_OF_GRID("spacing")},
    [LENGTH] = {OPTION_OF_GRID("glen")},
    [CENTRE] = {OPTION_OF_GRID("gcent")},
    [DIMS] = {OPTION_OF_GRID("dims")},
    [ORIGIN] = {OPTION_OF_GRID("origin")},
    [PADDING] = {OPTION_OF_GRID("padding")},
    [LIKE] = {.name = "like",
              .kind = OPTION_TEXT,
              .offset = offsetof(map_values, like),
              .value = "MAP",
              .unset = "a new grid",
              .help = "use the grid of this map, in any readable format"},
    [POINTS] = {.name = "points",
                .kind = OPTION_TEXT,
                .is_input = true,
                .offset = offsetof(map_values, points),
                .value = "FILE",
                .unset = "those of the grid",
                .help = "compute at the points of FILE, with x y z on each line, instead of on a grid",
                .more = "- is standard input; FILE may also be a table with columns x, y and z, as leyden writes "
                        "them, a NumPy array, or a molecule (.pqr, .pqr.gz or .atoms), whose atoms are the points"},
    [EXCLUDE] = {.name = "exclude",
                 .kind = OPTION_TEXT,
                 .is_input = true,
                 .is_expert = true,
                 .offset = offsetof(map_values, exclude),
                 .value = "self|residue|FILE",
                 .unset = "all atoms count",
                 .help =
                     "with --points: atoms left out at each point (their nearest image): self, the atoms within 0.01 "
                     "A of it; residue, the atoms of its residue, which a molecule of --points has, or else of the "
                     "residue of the atom within 0.01 A; or those in FILE, with one line for each point that holds "
                     "atom numbers from 1, or a -"},
    [RANKS] = {.name = "ranks",
               .kind = OPTION_INTEGER,
               .is_expert = true,
               .offset = offsetof(map_values, ranks),
               .value = "N",
               .low = 1,
               .high = 1000000,
               .help = "with --dry-run: what N ranks, each with these devices, would take together"},
    [LINK] = {.name = "link",
              .kind = OPTION_REAL,
              .is_expert = true,
              .offset = offsetof(map_values, link),
              .count = 2,
              .value = "BYTES_PER_S,S",
              .low = 0,
              .above_low = true,
              .high = 1e15,
              .help = "with --ranks: bytes per second that a rank sends or receives, and seconds that the shortest "
                      "message takes"},
    {.name = "resume",
     .kind = OPTION_FLAG,
     .offset = offsetof(map_values, resume),
     .help = "go on where the same command has left planes in MAP.checkpoint, and leave them there when it "
             "ends early; MAP is a .raw, .npy, .mrc or .ccp4 file",
     .more = "planes that were written are not computed again after a failure, a signal or a killed "
             "process; another input or option is refused, but for --verify and --seed, and for --device "
             "where --plan names one device; give it from the first run on"},
    {.name = "field",
     .kind = OPTION_FLAG,
     .offset = offsetof(map_values, field),
     .help = "also compute the electric field E = -grad phi, in --units per A",
     .more = "three more maps are written beside MAP.dx, MAP_Ex.dx, MAP_Ey.dx and MAP_Ez.dx, or columns ex,ey,ez "
             "with --points; the error of the field is measured and reported, but --tol does not apply to it"},
    {OPTION_OF_MEDIUM("dielectric")},
    {OPTION_OF_MEDIUM("temperature")},
    {OPTION_OF_MEDIUM("units")},
    {OPTION_OF_MEDIUM("r_min")},
    {.name = "side-by-side",
     .kind = OPTION_INTEGER,
     .is_expert = true,
     .offset = offsetof(map_values, side_by_side),
     .value = "N",
     .low = 1,
     .high = JOB_BATCH_MOST,
     .help = "number of small molecules that are computed at a time, where there are several; molecules with more "
             "than 4,194,304 points and atoms together are computed alone"},
    {.name = "dry-run",
     .kind = OPTION_FLAG,
     .offset = offsetof(map_values, dry_run),
     .help = "compute nothing; report the memory and time needed, and the plan",
     .more = "devices are measured and kernels built as for a run; Fourier transforms are only predicted"},
};

typedef struct map_run {
    job_run run;
    map_problem problem;
    const ley_map_format *format; /* of a map */
    char *header;                 /* the path of the map's header, where that is a file of its own */
    ley_grid grid;                /* of a map */
    ley_map *field[3];            /* of the map; or NULL. And: */
    field_files field_files;
    int64_t on_charges; /* points that are on charges which they do not exclude */
} map_run;

static void set_defaults(void *to)
{
    map_values *values = to;
    ley_direct_default(&values->medium);
    ley_grid_options_default(&values->grid);
    values->method = method_row_usual(&map_command);
    values->side_by_side = 4;
    values->ranks = 1;
    values->link[0] = 25e9;
    values->link[1] = 2e-6;
}

/* ---- Before the work ------------------------------------------------------------------------- */

static const map_values *values_of(const job_run *run)
{
    return run->arguments->values;
}

/* Of potentials at points: nothing that is about maps. */
static int check_points(job_run *run)
{
    static const char *const of_maps[] = {"format", "spacing", "dims", "origin",  "padding",       "glen",
                                          "gcent",  "like",    "slab", "binning", "transposition", "resume"};
    const parsed_arguments *arguments = run->arguments;
    for (size_t i = 0; i < sizeof of_maps / sizeof *of_maps; i++)
        if (option_named_given(arguments, of_maps[i]))
            return fail_usage(arguments->command, "--points and --%s exclude each other", of_maps[i]);
    if (!run->method->takes_points)
        return fail_usage(arguments->command, "--points: method %s computes potentials on grids only",
                          run->method->option.name);
    if (!ends_with(run->output, ".csv") && !ends_with(run->output, ".npy") && !output_takes_stdout(run->output))
        return fail_usage(arguments->command, "--output: '%s' must end in .csv or .npy, as --points is given",
                          run->output);
    run->target = LEY_TARGET_POINTS;
    return 0;
}

/* Of the field of a map. */
static int check_field(job_run *run)
{
    map_run *map = (map_run *)run;
    if (!run->method->takes_points)
        return fail_usage(run->arguments->command, "--field: method %s computes potentials only",
                          run->method->option.name);
    map->field_files = field_files_for(run->output);
    run->others = map->field_files.path;
    run->other_count = FIELD_FILES;
    return 0;
}

/* By the option, else by the ending; planes are streamed to files that are named as it is. */
static int choose_format(map_run *map)
{
    job_run *run = &map->run;
    const bool is_stdout = output_takes_stdout(run->output);
    const ley_map_format *by_name = ley_map_format_of(run->output, NULL);
    const char *word = option_given(run->arguments, FORMAT) ? map_format_words[values_of(run)->format]
                       : is_stdout                          ? "dx"
                                                            : NULL;
    map->format = word != NULL ? ley_map_format_named(word) : by_name;
    if (map->format == NULL)
        return fail_usage(run->arguments->command, "--output: '%s' must end in %s, or name its --format", run->output,
                          map_endings());
    const int code = is_stdout ? check_one_file(run->arguments->command, map->format, word) : 0;
    if (code != 0)
        return code;
    if (values_of(run)->field && (is_stdout || map->format != by_name))
        return fail_usage(run->arguments->command,
                          "--field writes four files, which are named after --output: '%s' must end in %s", run->output,
                          map_endings());
    if (map->format == by_name) {
        run->is_streamed = map->format->is_streamed;
        run->front_bytes = map->format->front_bytes;
    }
    if (values_of(run)->resume && !run->is_streamed)
        return fail_usage(run->arguments->command, "--resume: '%s' must be a .raw, .npy, .mrc or .ccp4 file",
                          run->output);
    run->keeps_atoms = map->format->keeps_atoms;
    run->keeps_planes = values_of(run)->resume;
    run->header = map->header = map_header_path_of(map->format, run->output);
    return 0;
}

static bool is_field_of_map(const job_run *run)
{
    return values_of(run)->field && values_of(run)->points == NULL;
}

/* Each pair says the same thing twice, or what the other cannot have. */
static int check_grid(const parsed_arguments *arguments)
{
    static const size_t pairs[][2] = {{LIKE, DIMS},      {LIKE, SPACING},  {LIKE, LENGTH},    {LIKE, CENTRE},
                                      {LIKE, ORIGIN},    {LIKE, PADDING},  {LENGTH, SPACING}, {LENGTH, PADDING},
                                      {CENTRE, PADDING}, {CENTRE, ORIGIN}, {PADDING, ORIGIN}};
    const double *spacing_A = ((const map_values *)arguments->values)->grid.spacing_A;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (option_given(arguments, pairs[i][0]) && option_given(arguments, pairs[i][1]))
            return fail_usage(arguments->command, "--%s and --%s exclude each other",
                              arguments->options[pairs[i][0]].row->name, arguments->options[pairs[i][1]].row->name);
    const bool has_dims = option_given(arguments, DIMS);
    if (has_dims && option_given(arguments, PADDING) && option_given(arguments, SPACING))
        return fail_usage(arguments->command,
                          "--dims, --padding and --spacing: two of them say what the third is, so leave one out");
    if (!has_dims && (option_given(arguments, LENGTH) || option_given(arguments, CENTRE)))
        return fail_usage(arguments->command, "--%s needs --dims: how many points the grid has",
                          option_given(arguments, LENGTH) ? "glen" : "gcent");
    if (!has_dims && (spacing_A[0] != spacing_A[1] || spacing_A[0] != spacing_A[2]))
        return fail_usage(arguments->command, "--spacing: three different numbers need --dims");
    return 0;
}

/* Of ranks that a dry run is about. */
static int check_ranks(const job_run *run)
{
    const parsed_arguments *arguments = run->arguments;
    const bool has_ranks = option_given(arguments, RANKS), has_link = option_given(arguments, LINK);
    if ((has_ranks || has_link) && !values_of(run)->dry_run)
        return fail_usage(arguments->command,
                          "--%s needs --dry-run, which says what ranks would take; mpirun starts them: mpirun -n 4 "
                          "leyden-mpi map ...",
                          has_ranks ? "ranks" : "link");
    if (has_link && !has_ranks)
        return fail_usage(arguments->command, "--link needs --ranks, how many ranks it joins; type: --ranks 4");
    const double *link = ((const map_values *)arguments->values)->link;
    if (link[0] <= link[1])
        return fail_usage(arguments->command, "--link: bytes per second come first, then seconds; type: --link %g,%g",
                          link[1], link[0]);
    return 0;
}

static int check(job_run *run)
{
    const parsed_arguments *arguments = run->arguments;
    int code = check_ranks(run);
    if (code != 0)
        return code;
    if (values_of(run)->resume && (values_of(run)->dry_run || run->arguments->rest_count > 0))
        return fail_usage(arguments->command, "--resume goes on with one map, and not with a dry run");
    if (option_given(arguments, POINTS))
        return check_points(run);
    if ((code = choose_format((map_run *)run)) != 0)
        return code;
    if (values_of(run)->field && (code = check_field(run)) != 0)
        return code;
    if (option_given(arguments, EXCLUDE))
        return fail_usage(arguments->command,
                          "--exclude needs --points: it names the atoms that are left out at the points");
    return check_grid(arguments);
}

/* Points and a map whose grid is taken exclude each other. */
static named_file points_file(const job_run *run)
{
    const map_values *values = values_of(run);
    return values->like != NULL ? (named_file){values->like, "map of --like", NULL}
                                : (named_file){values->points, "points", NULL};
}

/* Where the method's atoms have images. */
static const periodic_cell *cell_of(const job_run *run)
{
    static const periodic_cell none;
    return run->method->cell != NULL ? run->method->cell(run->input) : &none;
}

static ley_grid_options grid_options_of(const parsed_arguments *arguments)
{
    ley_grid_options options = ((const map_values *)arguments->values)->grid;
    options.given = option_take_given(arguments, "ley_grid_options", &options);
    return options;
}

/* What is wrong with the grid's options now that the cell is known. */
static int check_input(job_run *run)
{
    const parsed_arguments *arguments = run->arguments;
    const periodic_cell *cell = cell_of(run);
    const ley_grid_options options = grid_options_of(arguments);
    const bool is_cell = values_of(run)->like == NULL && ley_grid_is_cell(&options, cell->periodic, cell->vector_A);
    ((map_run *)run)->problem.input = run->input;
    if (option_given(arguments, ORIGIN) && !option_given(arguments, DIMS) && !is_cell)
        return fail_usage(arguments->command, "--origin needs --dims: without it the grid is laid around the molecule");
    return 0;
}

static ley_status take_grid_of(const char *path, ley_grid *grid, ley_error *error)
{
    ley_map *like = NULL;
    const ley_status status = ley_map_read_value(path, "1", &like, error);
    if (status != LEY_OK)
        return status;
    *grid = *ley_map_grid(like);
    ley_map_destroy(like);
    return LEY_OK;
}

static ley_status choose_grid(const map_run *map, ley_grid *grid, ley_error *error)
{
    const char *like = values_of(&map->run)->like;
    const periodic_cell *cell = cell_of(&map->run);
    const ley_grid_options options = grid_options_of(map->run.arguments);
    return like != NULL ? take_grid_of(like, grid, error)
                        : ley_grid_choose(&options, map->problem.atoms, cell->periodic, cell->vector_A, grid, error);
}

/* ---- The work -------------------------------------------------------------------------------- */

/* The command with the cell in A, of lengths that look as if they were in nm; and with a molecule
 * in A, where the coordinates look like that, too. */
static typed_text from_nm(const parsed_arguments *arguments, bool is_molecule_too)
{
    const char *given = cutoff_cell_text(arguments);
    char *scaled = cell_from_nm(given);
    const typed_swap swaps[] = {{given, scaled}, {arguments->operand, "NEW.pqr"}};
    const typed_text text = typed_instead(swaps, is_molecule_too && strcmp(arguments->operand, "-") != 0 ? 2 : 1);
    free(scaled);
    return text;
}

/* Whether a cell is in nm like the coordinates: in one in A the atoms would reach over a tenth of
 * it. */
static bool is_cell_alike(const periodic_cell *cell, const ley_atoms *atoms)
{
    const double least_edges = 0.2;
    double low_A[3], high_A[3], reach_A = 0, edge_A = 0;
    ley_atoms_bounds_A(atoms, low_A, high_A);
    for (int m = 0; m < 3; m++) {
        const double *v = cell->vector_A[m];
        reach_A = fmax(reach_A, high_A[m] - low_A[m]);
        edge_A = fmax(edge_A, cell->periodic[m] ? sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) : 0);
    }
    return cell_is_periodic(cell) && reach_A > least_edges * edge_A;
}

static void warn_of_molecule(job_run *run)
{
    char text[256];
    const periodic_cell *cell = cell_of(run);
    const ley_atoms *atoms = ((map_run *)run)->problem.atoms;
    if (run->values->quiet)
        return;
    progress_clear(&run->progress);
    molecule_warn(run->arguments->operand, atoms);
    if (ley_atoms_cell_remark(atoms, cell->periodic, cell->vector_A, text, sizeof text))
        warn("%s: %s%s", base_name(run->arguments->operand), text,
             strstr(text, " nm") != NULL ? from_nm(run->arguments, false).s : "");
    else if (molecule_looks_like_nm(atoms) && is_cell_alike(cell, atoms))
        warn("%s: then --cell may be in nm, too%s", base_name(run->arguments->operand),
             from_nm(run->arguments, true).s);
}

/* Nothing that consists of atoms is so dense. */
static ley_status check_density(const job_run *run, ley_error *error)
{
    const double most_per_A3 = 10;
    const ley_atoms *atoms = ((const map_run *)run)->problem.atoms;
    const double n = (double)ley_atoms_whole_count(atoms), per_A3 = n / cell_volume_A3(cell_of(run));
    const bool is_molecule_too = molecule_looks_like_nm(atoms);
    if (!(per_A3 > most_per_A3))
        return LEY_OK;
    return fail_into(error, LEY_ERROR_INPUT,
                     "%s: %.0f atoms in a cell of --cell %.200s A are %.3g in each cubic A, and water has 0.1, so %s%s",
                     base_name(run->arguments->operand), n, cutoff_cell_text(run->arguments), per_A3,
                     is_molecule_too ? "these lengths and the coordinates may be nm; '" MOLECULE_IN_A
                                       "' writes the coordinates in A"
                                     : "these lengths may be nm",
                     from_nm(run->arguments, is_molecule_too).s);
}

/* By the cell that the method repeats. */
static ley_status exclude_atoms(map_run *map, const int32_t *residue, ley_error *error)
{
    const char *what = values_of(&map->run)->exclude;
    const periodic_cell *cell = cell_of(&map->run);
    const bool *periodic = cell->periodic;
    const double(*cell_A)[3] = cell->vector_A;
    ley_points *points = map->problem.target.points;
    if (what == NULL)
        return LEY_OK;
    if (strcmp(what, "self") == 0)
        return ley_points_exclude_own(points, map->problem.atoms, NULL, periodic, cell_A, error);
    if (strcmp(what, "residue") != 0)
        return ley_points_read_exclusions(points, map->problem.atoms, what, error);
    const ley_status status = ley_points_exclude_residues(points, map->problem.atoms, residue, periodic, cell_A, error);
    if (status == LEY_ERROR_INPUT) {
        char why[sizeof error->message];
        snprintf(why, sizeof why, "%s", error->message);
        fail_into(error, status, "--exclude residue: %.900s", why);
    }
    return status;
}

/* A charge's own potential hides all others. */
static ley_status look_for_charges(map_run *map, ley_error *error)
{
    const periodic_cell *cell = cell_of(&map->run);
    int64_t point, atom;
    const ley_status status = ley_points_on_charges(map->problem.target.points, map->problem.atoms, cell->periodic,
                                                    cell->vector_A, &map->on_charges, &point, &atom, error);
    if (status != LEY_OK || map->on_charges == 0 || map->run.values->quiet)
        return status;
    const double *at_A = ley_points_positions_A(map->problem.target.points) + 3 * point;
    progress_clear(&map->run.progress);
    warn("%s: %s %s within %g A of charges, whose own potential dominates there; the first one is point %lld at "
         "(%.9g, %.9g, %.9g) A, beside atom %lld: --exclude self leaves such charges out",
         base_name(values_of(&map->run)->points), count_text(map->on_charges).s,
         map->on_charges == 1 ? "point is" : "points are", LEY_OWN_A, (long long)point + 1, at_A[0] + 0.0,
         at_A[1] + 0.0, at_A[2] + 0.0, (long long)atom + 1);
    return LEY_OK;
}

static ley_status read_points(map_run *map, ley_error *error)
{
    ley_atoms *molecule = NULL;
    ley_status status = points_read(values_of(&map->run)->points, &molecule, &map->problem.target.points, error);
    if (status == LEY_OK && values_of(&map->run)->field)
        status = ley_points_add_field(map->problem.target.points, error);
    if (status == LEY_OK)
        status = exclude_atoms(map, molecule != NULL ? ley_atoms_residues(molecule) : NULL, error);
    ley_atoms_destroy(molecule);
    return status == LEY_OK ? look_for_charges(map, error) : status;
}

static ley_status read_input(job_run *run, ley_error *error)
{
    map_run *map = (map_run *)run;
    const char *path = run->arguments->operand;
    ley_status status = run->is_by_parts ? ley_atoms_read_share(path, &map->problem.atoms, error)
                                         : molecule_read(path, run->arguments, &map->problem.atoms, error);
    if (status == LEY_OK && run->method->read != NULL)
        status = run->method->read(run->input, map->problem.atoms, path, error);
    if (status == LEY_OK)
        status = check_density(run, error);
    if (status == LEY_OK)
        warn_of_molecule(run);
    run->is_told = status != LEY_OK;
    return status == LEY_OK && option_given(run->arguments, POINTS) ? read_points(map, error) : status;
}

/* One of the maps, which is going to be the file `path`. */
static ley_status make_map(const job_run *run, const ley_grid *grid, const char *path, ley_map **made, ley_error *error)
{
    return run->is_streamed ? ley_map_create_file(grid, path, made, error) /* planes go there as they come */
           : run->is_dry    ? ley_map_outline(grid, made, error)
                            : ley_map_create(grid, made, error);
}

static ley_status keep_maps(const map_run *map, ley_error *error)
{
    char *text = map_keeping_text(map->run.arguments, map->problem.atoms, &map->grid, &map->run.plan);
    ley_status status = map_keep(map->problem.target.map, map->run.output, text, error);
    for (int axis = 0; axis < 3 && status == LEY_OK && map->field[axis] != NULL; axis++)
        status = map_keep(map->field[axis], map->field_files.path[axis], text, error);
    free(text);
    return status;
}

/* Of this rank, which does nothing beside others where it has no device. */
static ley_status take_part(const map_run *map, ley_error *error)
{
    const periodic_cell *cell = cell_of(&map->run);
    const double halo_A = map->run.method->halo_A(&map->problem, &map->grid),
                 known = map->run.engine != NULL ? ley_engine_speed(map->run.engine) : 0,
                 speed = map->run.engine != NULL && known == 0 ? NAN : known;
    return ley_atoms_take_part(map->problem.atoms, &map->grid, cell->periodic, cell->vector_A, halo_A, speed, error);
}

static ley_status place(job_run *run, ley_error *error)
{
    map_run *map = (map_run *)run;
    const ley_grid *grid = &map->grid;
    if (map->problem.target.points != NULL)
        return LEY_OK;
    ley_status status = choose_grid(map, &map->grid, error);
    if (status == LEY_OK && run->is_by_parts && run->method->halo_A != NULL)
        status = take_part(map, error);
    if (status == LEY_OK && run->is_dry && run->method->halo_A != NULL)
        run->link.halo_A = run->method->halo_A(&map->problem, grid);
    if (status == LEY_OK && !run->is_streamed && !run->is_dry && run->method->check_memory != NULL)
        status = run->method->check_memory(&map->problem, grid, error);
    if (status == LEY_OK)
        status = make_map(run, grid, run->output, &map->problem.target.map, error);
    for (int axis = 0; axis < 3 && status == LEY_OK && is_field_of_map(run); axis++)
        status = make_map(run, grid, map->field_files.path[axis], &map->field[axis], error);
    if (status == LEY_OK && is_field_of_map(run))
        status = ley_map_set_field(map->problem.target.map, map->field, error);
    return status == LEY_OK && values_of(run)->resume ? keep_maps(map, error) : status;
}

/* What made the map, without dates and paths: the same command makes the same bytes. */
static char *header_comment(const map_run *map)
{
    const job_run *run = &map->run;
    comment_text comment;
    comment_begin(&comment);
    fprintf(comment.stream, "method: %s, %s\n", run->method->option.name, method_row_title(run->method, run->report));
    put_molecule(comment.stream, run->arguments->operand, map->problem.atoms);
    if (run->method->put_header != NULL)
        run->method->put_header(&map->problem, run->report, comment.stream);
    const char *exclude = ((const map_values *)run->arguments->values)->exclude;
    if (exclude != NULL)
        fprintf(comment.stream, "excluded: %s\n",
                strcmp(exclude, "self") == 0      ? "the atoms at each point"
                : strcmp(exclude, "residue") == 0 ? "the atoms of each point's residue"
                                                  : "the atoms listed for each point");
    if (run->tolerance > 0)
        fprintf(
            comment.stream, "tolerance: %g of %s%s\n", run->tolerance,
            run->report != NULL && run->report->tolerance_floor > 0
                ? text_of("%.3g, as values are nothing beside the terms that cancel", run->report->tolerance_floor).s
                : "the root mean square",
            run->report != NULL && run->report->seeded_accuracy.points == 0 ? ", not measured" : "");
    put_work(comment.stream, run->values, run->report);
    return comment_end(&comment);
}

/* With as many digits as the comment has: those beyond depend on who judged. */
static json_t *rounded(double value)
{
    return json_number(isfinite(value) ? strtod(text_of("%.2g", value).s, NULL) : value);
}

static json_t *facts_of_accuracy(const ley_report *report)
{
    if (report == NULL || report->seeded_accuracy.points == 0)
        return json_null();
    const ley_accuracy *a = &report->seeded_accuracy;
    json_t *object = json_object();
    json_put(object, "points", json_count((int64_t)a->points));
    json_put(object, "compared", json_count((int64_t)a->compared));
    json_put(object, "max_error", rounded(a->max_error));
    json_put(object, "error_scale", json_text(report->error_scale));
    json_put(object, "relative_rms", rounded(a->relative_rms));
    json_put(object, "absolute_rms", rounded(a->absolute_rms));
    return object;
}

/* The same for programs. */
static char *header_facts(const map_run *map)
{
    const job_run *run = &map->run;
    const map_values *values = run->arguments->values;
    json_t *facts = json_object();
    json_put(facts, "method", json_text(run->method->option.name));
    json_put(facts, "title", json_text(method_row_title(run->method, run->report)));
    json_put(facts, "molecule", json_of_molecule(base_name(run->arguments->operand), map->problem.atoms));
    json_put(facts, "dielectric", json_number(values->medium.dielectric));
    json_put(facts, "temperature_K", json_number(values->medium.temperature_K));
    json_put(facts, "r_min_A", json_number(values->medium.r_min_A));
    json_put(facts, "sum", json_text(run->report != NULL ? SUM_NAME(run->report->sum) : NULL));
    json_put(facts, "accuracy", facts_of_accuracy(run->report));
    return json_finish_text(facts);
}

static ley_status write_points(const map_run *map, const char *comment, ley_error *error)
{
    const char *path = map->run.output;
    return ends_with(path, ".npy")
               ? ley_points_write_npy(map->problem.target.points, path, interrupt_flag(), error)
               : ley_points_write_csv(map->problem.target.points, path, comment, interrupt_flag(), error);
}

static void warn_of_grid(job_run *run)
{
    const map_run *map = (map_run *)run;
    if (run->values->quiet)
        return;
    progress_clear(&run->progress);
    map_warn(map->problem.target.map, map->format, run->output);
}

static ley_status write_file(job_run *run, ley_error *error)
{
    map_run *map = (map_run *)run;
    char *comment = header_comment(map), *facts = NULL;
    if (map->format != NULL && map->format->keeps_facts)
        facts = header_facts(map);
    if (map->problem.target.map != NULL) {
        ley_map_set_atoms(map->problem.target.map, map->problem.atoms);
        warn_of_grid(run);
    }
    for (int axis = 0; axis < 3 && map->field[axis] != NULL; axis++)
        ley_map_set_atoms(map->field[axis], map->problem.atoms);
    const ley_status status =
        is_field_of_map(run) ? field_maps_write(map->problem.target.map, map->field, run->output, &map->field_files,
                                                comment, facts, interrupt_flag(), error)
        : map->problem.target.points != NULL ? write_points(map, comment, error)
                                             : ley_map_write_as(map->problem.target.map, map->format, run->output,
                                                                comment, facts, interrupt_flag(), error);
    free(facts);
    free(comment);
    return status;
}

static void end(job_run *run)
{
    map_run *map = (map_run *)run;
    free(map->header);
    field_files_free(&map->field_files);
    ley_map_destroy(map->problem.target.map);
    for (int axis = 0; axis < 3; axis++)
        ley_map_destroy(map->field[axis]);
    ley_points_destroy(map->problem.target.points);
    ley_atoms_destroy(map->problem.atoms);
}

/* ---- The report ------------------------------------------------------------------------------ */

/* " at 60, 90, 120 degrees": between the second and the third of the grid's steps, the third and
 * the first, the first and the second; nothing of right angles. */
static short_text angles_text(const ley_grid *grid)
{
    double angle[3], h_A[3];
    bool are_right = true;
    ley_grid_spacing_A(grid, h_A);
    for (int axis = 0; axis < 3; axis++) {
        const int a = (axis + 1) % 3, b = (axis + 2) % 3;
        double product = 0;
        for (int k = 0; k < 3; k++)
            product += grid->step_A[a][k] / h_A[a] * (grid->step_A[b][k] / h_A[b]);
        angle[axis] = acos(fmax(fmin(product, 1), -1)) * 180 / acos(-1);
        are_right = are_right && fabs(angle[axis] - 90) < 1e-4;
    }
    return are_right ? text_of("%s", "") : text_of(" at %.6g, %.6g, %.6g degrees", angle[0], angle[1], angle[2]);
}

static void print_grid(const job_run *run, const ley_grid *grid)
{
    printf("grid: %s = %s, spacing %s A, box %s%s from %s\n", grid_text(grid->n).s,
           counted_text(run->report->points, "point").s, spacing_text(grid).s, box_text(grid).s, angles_text(grid).s,
           triple_text(grid->origin_A).s);
}

static void print(const job_run *run)
{
    const map_problem *problem = &((const map_run *)run)->problem;
    print_molecule(run->arguments->operand, problem->atoms);
    if (problem->target.points != NULL)
        printf("points: %s of %s\n", count_text(ley_points_count(problem->target.points)).s,
               base_name(values_of(run)->points));
    else
        print_grid(run, &((const map_run *)run)->grid);
}

static void put_json(const job_run *run, json_t *report)
{
    const map_run *map = (const map_run *)run;
    const map_problem *problem = &map->problem;
    const bool is_list = problem->target.points != NULL;
    json_put(report, "molecule", json_of_molecule(run->arguments->operand, problem->atoms));
    json_put(report, "grid", problem->target.map != NULL ? json_of_grid(&map->grid) : json_null());
    json_put(report, "points", is_list ? json_count(ley_points_count(problem->target.points)) : json_null());
    json_put(report, "points_on_charges", is_list ? json_count(map->on_charges) : json_null());
}

/* ---- The command ----------------------------------------------------------------------------- */

static const job_kind kind = {.operand = "atoms",
                              .product = "map",
                              .check = check,
                              .check_input = check_input,
                              .file = points_file,
                              .read = read_input,
                              .place = place,
                              .write = write_file,
                              .end = end,
                              .print = print,
                              .put_json = put_json};

static job_run *make_run(const parsed_arguments *arguments, const char *output)
{
    const map_values *values = arguments->values;
    map_run *map = allocate(1, sizeof *map);
    *map = (map_run){.run = {.kind = &kind,
                             .arguments = arguments,
                             .method = method_row_at(&map_command, (size_t)values->method),
                             .output = output_path(output),
                             .problem = &map->problem,
                             .is_dry = values->dry_run,
                             .link = {.ranks = values->ranks,
                                      .latency_s = values->link[1],
                                      .bytes_per_s = values->link[0],
                                      .halo_A = INFINITY}},
                     .problem = {.medium = values->medium}};
    return &map->run;
}

static int64_t size_of_run(const job_run *run)
{
    const map_run *map = (const map_run *)run;
    ley_grid grid;
    ley_error error = {0};
    int64_t points = 0;
    if (map->problem.target.points != NULL)
        points = ley_points_count(map->problem.target.points);
    else if (choose_grid(map, &grid, &error) == LEY_OK)
        points = ley_grid_points(&grid);
    ley_error_clear(&error); /* it is found again by whoever needs the grid */
    return points + (int64_t)ley_atoms_count(map->problem.atoms);
}

static int run_alone(const parsed_arguments *arguments)
{
    const map_values *values = arguments->values;
    char *output = job_batch_output(values->output, arguments->operand);
    job_run *run = make_run(arguments, output);
    const int code = job_frame_run(run);
    free(run);
    free(output);
    return code;
}

static int map_run_command(const parsed_arguments *arguments)
{
    const map_values *values = arguments->values;
    const job_batch batch = {.arguments = arguments,
                             .output = values->output,
                             .side_by_side = values->side_by_side,
                             .refused = {"dry-run"},
                             .make = make_run,
                             .size = size_of_run};
    return arguments->word_count > 0 ? job_batch_run(&batch) : run_alone(arguments);
}

static const option_method *method_at(size_t i)
{
    return method_option_at(&map_command, i);
}

static const option_block *const shared[] = {&molecule_options, &job_options, NULL};

const subcommand map_command = {
    .name = "map",
    .summary = "Compute the electrostatic potential of a molecule on a grid, or at given points.",
    .examples = {"leyden map protein.pqr -o protein.dx --dielectric 78.54",
                 "leyden map protein.pqr -o values.csv --points places.txt --tol 1e-5"},
    .operand = "ATOMS",
    .operand_help = "molecule: PQR (plain or .gz) or .atoms; - is PQR on standard input",
    .is_operand_file = true,
    .words = "MORE",
    .words_help = "more molecules, each with a map of its own; MAP then holds {}, which stands for the name of the "
                  "molecule's file without folder and ending",
    .details = "The grid covers the molecule with a margin of --padding on every side, or has --dims points centred "
               "on the molecule; without --origin its first point is a multiple of the spacing, so that maps of the "
               "same spacing share their points. --dims with --padding places that many points over the molecule and "
               "its margin, and --dims with --glen and --gcent makes the grid of an APBS input. Where the cell is "
               "periodic along all of its vectors and none of these options is given, the grid is the cell: it "
               "begins at --origin and has --dims points, or as many as come closest to --spacing, along the cell's "
               "edges, which may be oblique; points on the far faces are left out, since they repeat those on the "
               "near faces. With --points there is no grid: the potentials at the points of a file are written as a "
               "table. Several molecules are computed on devices that are opened once, small ones side by side; "
               "failed molecules are reported by name, the others are computed, and the exit code is the highest of "
               "all. The host does small jobs alone, in double precision, where that is faster than opening a "
               "device; --device asks for a device.",
    .options = OPTION_BLOCK(map_options, map_values, set_defaults),
    .method = method_at,
    .shared = shared,
    .is_dealt = true,
    .run = map_run_command,
};
