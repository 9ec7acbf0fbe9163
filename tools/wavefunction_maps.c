#include "wavefunction_maps.h"
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

static const double bohr_A = 0.529177210903, usual_spacing_bohr = 0.2, usual_padding_bohr = 6, usual_norm_error = 1e-4;

typedef struct wavefunction_job {
    job_run run;
    wavefunction_problem problem;
    size_t count; /* of maps */
    ley_grid grid;
    char **paths; /* of the files: one for each map, or one alone */
    size_t path_count;
} wavefunction_job;

void wavefunction_set_defaults(void *to)
{
    wavefunction_values *values = to;
    ley_grid_options_default(&values->grid);
    ley_wavefunction_options_default(&values->sum);
    for (int axis = 0; axis < 3; axis++)
        values->grid.spacing_A[axis] = usual_spacing_bohr * bohr_A;
    values->grid.padding_A = usual_padding_bohr * bohr_A;
}

ley_status wavefunction_create(const void *context, ley_engine *engine, const ley_run_options *options, ley_job **job,
                               ley_error *error)
{
    const wavefunction_problem *problem = context;
    return ley_job_create_wavefunction(engine, problem->wavefunction, &problem->request, &problem->values->sum, options,
                                       job, error);
}

/* ---- Before the work ------------------------------------------------------------------------- */

static named_file points_file(const job_run *run)
{
    const wavefunction_values *values = run->arguments->values;
    return (named_file){values->points, "points", NULL};
}

static named_file file_to_subtract(const job_run *run)
{
    const wavefunction_values *values = run->arguments->values;
    return (named_file){values->less, "wavefunction", NULL};
}

static int check_output(const job_run *run)
{
    const wavefunction_values *values = run->arguments->values;
    const bool is_table = ends_with(run->output, ".csv") || ends_with(run->output, ".npy");
    if (values->points != NULL && !is_table)
        return fail_usage(run->arguments->command, "--output: '%s' must end in .csv or .npy, as --points is given",
                          run->output);
    if (values->points != NULL && strstr(run->output, "{}") != NULL)
        return fail_usage(run->arguments->command,
                          "--output: '%s' has a {} in it, and with --points all values are columns of one table",
                          run->output);
    if (values->points != NULL)
        return 0;
    if (ends_with(run->output, ".csv"))
        return fail_usage(run->arguments->command,
                          "--output: '%s' is a table, which needs --points FILE: where to compute", run->output);
    if (output_takes_stdout(run->output) || !is_map_name(run->output))
        return fail_usage(run->arguments->command, "--output: '%s' must end in %s", run->output, map_endings());
    if (values->together && !ends_with(run->output, ".cube") && !ends_with(run->output, ".cube.gz"))
        return fail_usage(run->arguments->command, "--together: '%s' must end in .cube, which holds several values",
                          run->output);
    return 0;
}

static int check(job_run *run)
{
    static const char *const excluded[][2] = {
        {"like", "spacing"},  {"like", "dims"},       {"like", "glen"},      {"like", "gcent"},  {"like", "origin"},
        {"like", "padding"},  {"points", "like"},     {"points", "spacing"}, {"points", "dims"}, {"points", "glen"},
        {"points", "gcent"},  {"points", "origin"},   {"points", "padding"}, {"points", "slab"}, {"points", "together"},
        {"minus", "orbital"}, {"spin", "occupations"}};
    static const char *const of_dims[] = {"glen", "gcent", "origin"};
    const wavefunction_values *values = run->arguments->values;
    for (size_t i = 0; i < sizeof excluded / sizeof *excluded; i++)
        if (option_named_given(run->arguments, excluded[i][0]) && option_named_given(run->arguments, excluded[i][1]))
            return fail_usage(run->arguments->command, "--%s and --%s exclude each other", excluded[i][0],
                              excluded[i][1]);
    for (size_t i = 0; i < sizeof of_dims / sizeof *of_dims && !option_named_given(run->arguments, "dims"); i++)
        if (option_named_given(run->arguments, of_dims[i]))
            return fail_usage(run->arguments->command, "--%s needs --dims: how many points the grid has", of_dims[i]);
    if (values->occupations.n > 0 && values->orbitals == NULL)
        return fail_usage(run->arguments->command, "--occupations needs --orbital: whose occupations these are");
    return check_output(run);
}

/* What the options ask for, of these orbitals. */
static ley_wavefunction_request request_of(const wavefunction_values *values, bool is_density,
                                           const wavefunction_problem *p, size_t orbital_count)
{
    return (ley_wavefunction_request){.kind = values->is_potential ? LEY_POTENTIAL
                                              : !is_density        ? LEY_ORBITALS
                                              : values->is_spin    ? LEY_SPIN_DENSITY
                                                                   : LEY_DENSITY,
                                      .orbitals = p->orbitals,
                                      .orbital_count = orbital_count,
                                      .occupations = p->occupations,
                                      .gradient = values->gradient,
                                      .laplacian = values->laplacian,
                                      .reduced_gradient = values->reduced_gradient,
                                      .field = values->field,
                                      .units = values->units,
                                      .temperature_K = values->temperature_K};
}

/* One number of --occupations is that of all orbitals. */
static ley_status take_occupations(const wavefunction_values *values, wavefunction_problem *p, size_t orbital_count,
                                   ley_error *error)
{
    const option_reals *given = &values->occupations;
    if (given->n == 0)
        return LEY_OK;
    if (given->n != 1 && given->n != orbital_count)
        return fail_into(error, LEY_ERROR_USAGE, "--occupations: %zu numbers for %zu orbitals", given->n,
                         orbital_count);
    p->occupations = allocate(orbital_count, sizeof *p->occupations);
    for (size_t i = 0; i < orbital_count; i++)
        p->occupations[i] = given->value[given->n == 1 ? 0 : i];
    return LEY_OK;
}

ley_status wavefunction_read(const char *path, const char *advice, ley_wavefunction **w, ley_error *error)
{
    ley_status status = ley_wavefunction_read(path, w, error);
    if (status != LEY_OK || advice == NULL)
        return status;
    status = ley_wavefunction_check_norms(*w, usual_norm_error, error);
    if (status != LEY_ERROR_INPUT)
        return status;
    char why[sizeof error->message];
    snprintf(why, sizeof why, "%s", error->message);
    return fail_into(error, status, "%s: %.800s%s", base_name(path), why, advice);
}

static ley_status read_one(const char *path, const wavefunction_values *values, ley_wavefunction **w, ley_error *error)
{
    return wavefunction_read(path, values->any_norm ? NULL : "; --any-norm goes on all the same", w, error);
}

/* In the place of the wavefunction comes what it has more than the other one. */
static ley_status subtract(const wavefunction_values *values, wavefunction_problem *p, ley_error *error)
{
    ley_wavefunction *less = NULL, *whole = p->wavefunction;
    ley_status status = read_one(values->less, values, &less, error);
    if (status == LEY_OK)
        status = ley_wavefunction_difference(whole, less, &p->wavefunction, error);
    if (status == LEY_OK)
        ley_wavefunction_destroy(whole);
    ley_wavefunction_destroy(less);
    return status;
}

/* Each orbital once, in the order of the first mentions: files have names by their numbers. */
static size_t without_repeats(int64_t *orbitals, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < kept && orbitals[k] != orbitals[i])
            k++;
        orbitals[k] = orbitals[i];
        kept += k == kept;
    }
    return kept;
}

static ley_status read_input(job_run *run, ley_error *error)
{
    wavefunction_job *job = (wavefunction_job *)run;
    const wavefunction_values *values = run->arguments->values;
    wavefunction_problem *p = &job->problem;
    const bool is_density = run->arguments->command == &density_command;
    size_t orbitals = 0;
    ley_status status = read_one(run->arguments->operand, values, &p->wavefunction, error);
    run->is_told = status != LEY_OK;
    if (status == LEY_OK && values->orbitals != NULL)
        status = ley_wavefunction_find(p->wavefunction, values->orbitals, &p->orbitals, &orbitals, error);
    if (!is_density)
        orbitals = without_repeats(p->orbitals, orbitals);
    if (status == LEY_OK)
        status = take_occupations(values, p, orbitals, error);
    if (status == LEY_OK && values->less != NULL)
        status = subtract(values, p, error);
    p->request = request_of(values, is_density, p, orbitals);
    job->count = ley_wavefunction_values(&p->request);
    return status;
}

/* The points of a list, whose values come one kind behind the other. */
static ley_status place_points(wavefunction_job *job, ley_error *error)
{
    wavefunction_problem *p = &job->problem;
    ley_atoms *molecule;
    const ley_status status = points_read(p->values->points, &molecule, &p->points, error);
    ley_atoms_destroy(molecule);
    if (status != LEY_OK)
        return status;
    const int64_t n = ley_points_count(p->points);
    p->request.points = n;
    p->request.point_A = ley_points_positions_A(p->points);
    p->request.values = allocate((size_t)n * job->count, sizeof *p->request.values);
    return LEY_OK;
}

static ley_status choose_grid(const wavefunction_job *job, ley_grid *grid, ley_error *error)
{
    const wavefunction_values *values = job->run.arguments->values;
    ley_grid_options options = values->grid;
    options.given = option_take_given(job->run.arguments, "ley_grid_options", &options);
    if (values->like == NULL)
        return ley_grid_choose(&options, ley_wavefunction_atoms(job->problem.wavefunction), NULL, NULL, grid, error);
    ley_map *like = NULL;
    const ley_status status = ley_map_read_value(values->like, "1", &like, error);
    if (status == LEY_OK)
        *grid = *ley_map_grid(like);
    ley_map_destroy(like);
    return status;
}

/* What tells a map's file from the others': "21" of an orbital, "dx", "laplacian". */
static short_text label_of(const wavefunction_job *job, size_t i)
{
    static const char *const derivatives[] = {"", "dx", "dy", "dz"}, *const field[] = {"", "Ex", "Ey", "Ez"};
    const ley_wavefunction_request *r = &job->problem.request;
    if (r->kind == LEY_POTENTIAL)
        return text_of("%s", field[i]);
    if (r->kind == LEY_ORBITALS)
        return text_of("%lld", (long long)job->problem.orbitals[i] + 1);
    const size_t last = job->count - 1;
    return text_of("%s", r->reduced_gradient && i == last                  ? "reduced_gradient"
                         : r->laplacian && i == last - r->reduced_gradient ? "laplacian"
                                                                           : derivatives[i]);
}

/* {} in the name stands for the label; else it stands in front of the ending. */
static char *path_of(const wavefunction_job *job, size_t i)
{
    const char *output = job->run.output, *place = strstr(output, "{}");
    const short_text label = label_of(job, i);
    const size_t room = strlen(output) + sizeof label.s + 2;
    char *path = allocate(1, room);
    const size_t stem = map_stem(output);
    if (place != NULL)
        snprintf(path, room, "%.*s%s%s", (int)(place - output), output, label.s, place + 2);
    else if (job->count == 1 || label.s[0] == '\0')
        snprintf(path, room, "%s", output);
    else
        snprintf(path, room, "%.*s_%s%s", (int)stem, output, label.s, output + stem);
    return path;
}

static void name_files(wavefunction_job *job)
{
    const wavefunction_values *values = job->run.arguments->values;
    const bool is_one = values->together;
    job->path_count = is_one ? 1 : job->count;
    job->paths = allocate(job->path_count + 1, sizeof *job->paths);
    for (size_t i = 0; i < job->path_count; i++)
        job->paths[i] = is_one ? strdup(job->run.output) : path_of(job, i);
    job->run.output = job->paths[0];
    job->run.others = job->paths + 1;
    job->run.other_count = job->path_count - 1;
}

static ley_status place(job_run *run, ley_error *error)
{
    wavefunction_job *job = (wavefunction_job *)run;
    wavefunction_problem *p = &job->problem;
    if (p->values->points != NULL)
        return place_points(job, error);
    ley_status status = choose_grid(job, &job->grid, error);
    if (status != LEY_OK)
        return status;
    p->maps = allocate(job->count + 1, sizeof *p->maps);
    if (!run->is_dry)
        status = ley_maps_create(&job->grid, job->count, p->maps, error);
    for (size_t i = 0; i < job->count && run->is_dry && status == LEY_OK; i++)
        status = ley_map_outline(&job->grid, &p->maps[i], error);
    p->request.maps = p->maps;
    name_files(job);
    return status;
}

/* ---- The files ------------------------------------------------------------------------------- */

/* Of potentials, which may be in several; maps of others have theirs in their titles. */
static void put_units_of(FILE *to, const ley_wavefunction_request *r)
{
    const char *units = r->units != NULL ? r->units : "hartree/e";
    if (r->kind != LEY_POTENTIAL && r->maps != NULL)
        return;
    fprintf(to, "units: %s", r->kind == LEY_POTENTIAL ? units : r->kind == LEY_ORBITALS ? "bohr^-3/2" : "bohr^-3");
    if (r->field)
        fprintf(to, ", of the field %s", r->units != NULL ? text_of("%s/A", units).s : "hartree/(e bohr)");
    fprintf(to, "%s%s\n", r->gradient ? ", of derivatives bohr^-4" : "",
            r->laplacian ? ", of the Laplacian bohr^-5" : "");
}

static char *comment_of(const wavefunction_job *job)
{
    const job_run *run = &job->run;
    const wavefunction_values *values = run->arguments->values;
    comment_text comment;
    comment_begin(&comment);
    fprintf(comment.stream, "method: %s\n", run->method->title);
    put_name(comment.stream, "wavefunction: ", base_name(run->arguments->operand));
    fputc('\n', comment.stream);
    if (values->less != NULL) {
        put_name(comment.stream, "minus: ", base_name(values->less));
        fputc('\n', comment.stream);
    }
    put_units_of(comment.stream, &job->problem.request);
    put_work(comment.stream, run->values, run->report);
    return comment_end(&comment);
}

/* "orbital_21", "density", "density_dx", "spin_density". */
static short_text column_of(const wavefunction_job *job, size_t i)
{
    const ley_wavefunction_kind wanted = job->problem.request.kind;
    const short_text label = label_of(job, i);
    return text_of("%s%s%s",
                   wanted == LEY_ORBITALS  ? "orbital"
                   : wanted == LEY_DENSITY ? "density"
                                           : "spin_density",
                   label.s[0] != '\0' ? "_" : "", label.s);
}

static ley_status write_points(const wavefunction_job *job, const char *comment, ley_error *error)
{
    const bool is_potential = job->problem.request.kind == LEY_POTENTIAL; /* whose columns have their usual names */
    short_text *text = allocate(job->count, sizeof *text);
    const char **names = allocate(job->count, sizeof *names);
    for (size_t i = 0; i < job->count; i++) {
        text[i] = column_of(job, i);
        names[i] = text[i].s;
    }
    const ley_status status =
        ley_points_write_columns(job->problem.points, job->count, is_potential ? NULL : names,
                                 job->problem.request.values, job->run.output, comment, interrupt_flag(), error);
    free(text);
    free(names);
    return status;
}

static ley_status write_file(job_run *run, ley_error *error)
{
    wavefunction_job *job = (wavefunction_job *)run;
    const wavefunction_values *values = run->arguments->values;
    char *comment = comment_of(job);
    ley_status status = LEY_OK;
    if (job->problem.points != NULL)
        status = write_points(job, comment, error);
    else if (values->together)
        status = ley_wavefunction_write_cube(job->problem.maps, job->count, job->problem.orbitals, run->output, comment,
                                             interrupt_flag(), error);
    for (size_t i = 0; i < job->count && job->problem.points == NULL && !values->together && status == LEY_OK; i++)
        status = ley_map_write(job->problem.maps[i], job->paths[i], comment, NULL, interrupt_flag(), error);
    free(comment);
    return status;
}

static void end(job_run *run)
{
    wavefunction_job *job = (wavefunction_job *)run;
    for (size_t i = 0; job->problem.maps != NULL && i < job->count; i++)
        ley_map_destroy(job->problem.maps[i]);
    for (size_t i = 0; i < job->path_count; i++)
        free(job->paths[i]);
    free(job->paths);
    if (job->problem.points != NULL)
        free(job->problem.request.values);
    ley_points_destroy(job->problem.points);
    free(job->problem.maps);
    free(job->problem.orbitals);
    free(job->problem.occupations);
    ley_wavefunction_destroy(job->problem.wavefunction);
}

/* ---- The report ------------------------------------------------------------------------------ */

/* Of nuclei and electrons; of a part of a molecule's orbitals it is far from the molecule's. */
static double charge_of(const ley_wavefunction *w)
{
    const ley_wavefunction_arrays a = ley_wavefunction_get(w);
    double charge_e = -ley_wavefunction_electrons(w, 0);
    for (int64_t i = 0; i < a.nuclei; i++)
        charge_e += a.charges[i];
    return rint(1000 * charge_e) / 1000 + 0.0; /* no -0 */
}

/* "orbital 21, energy -0.34 hartree, occupation 2"; of several the first one. */
static short_text subject_of(const wavefunction_job *job)
{
    const ley_wavefunction *w = job->problem.wavefunction;
    const ley_wavefunction_arrays a = ley_wavefunction_get(w);
    const wavefunction_values *values = job->run.arguments->values;
    if (values->less != NULL)
        return text_of("less %s, electrons: %.6g", base_name(values->less), ley_wavefunction_electrons(w, 0));
    if (job->problem.request.kind != LEY_ORBITALS && values->orbitals != NULL)
        return text_of("density of %s", values->orbitals);
    if (job->problem.request.kind != LEY_ORBITALS)
        return text_of("%.6g alpha and %.6g beta electrons, charge %+.6g e", ley_wavefunction_electrons(w, 1),
                       ley_wavefunction_electrons(w, -1), charge_of(w));
    const int64_t first = job->problem.orbitals[0];
    return text_of("orbital %lld, energy %.6g hartree, occupation %g%s", (long long)first + 1, a.energies[first],
                   a.occupations[first], job->count > 1 ? text_of(", and %zu more", job->count - 1).s : "");
}

static void print(const job_run *run)
{
    const wavefunction_job *job = (const wavefunction_job *)run;
    printf("wavefunction: %s, %s, %s; %s\n", base_name(run->arguments->operand),
           counted_text(ley_wavefunction_get(job->problem.wavefunction).nuclei, "atom").s,
           counted_text(ley_wavefunction_functions(job->problem.wavefunction), "function").s, subject_of(job).s);
    if (job->problem.points != NULL) {
        printf("points: %s of %s\n", count_text(job->problem.request.points).s, base_name(job->problem.values->points));
        return;
    }
    double h_A[3];
    ley_grid_spacing_A(&job->grid, h_A);
    const bool is_one = h_A[0] == h_A[1] && h_A[0] == h_A[2];
    printf("grid: %s, spacing %s A, box %s\n", grid_text(job->grid.n).s,
           is_one ? text_of("%.6g", h_A[0]).s : spacing_text(&job->grid).s, box_text(&job->grid).s);
}

static json_t *json_of_orbitals(const wavefunction_job *job)
{
    const ley_wavefunction_arrays a = ley_wavefunction_get(job->problem.wavefunction);
    const double *given = job->problem.occupations;
    json_t *list = json_array();
    for (size_t i = 0; i < job->problem.request.orbital_count; i++) {
        const int64_t orbital = job->problem.orbitals[i];
        json_t *one = json_object();
        json_put(one, "number", json_count(orbital + 1));
        json_put(one, "energy_hartree", json_number(a.energies[orbital]));
        json_put(one, "occupation", json_number(given != NULL ? given[i] : a.occupations[orbital]));
        json_put(one, "spin", json_count(a.spins[orbital]));
        json_add(list, one);
    }
    return list;
}

static void put_json(const job_run *run, json_t *report)
{
    const wavefunction_job *job = (const wavefunction_job *)run;
    const ley_wavefunction_arrays a = ley_wavefunction_get(job->problem.wavefunction);
    json_t *files = json_array();
    json_put(report, "atoms", json_count(a.nuclei));
    json_put(report, "functions", json_count(ley_wavefunction_functions(job->problem.wavefunction)));
    json_put(report, "alpha_electrons", json_number(ley_wavefunction_electrons(job->problem.wavefunction, 1)));
    json_put(report, "beta_electrons", json_number(ley_wavefunction_electrons(job->problem.wavefunction, -1)));
    json_put(report, "charge_e", json_number(charge_of(job->problem.wavefunction)));
    json_put(report, "orbitals", job->problem.orbitals != NULL ? json_of_orbitals(job) : json_null());
    json_put(report, "grid", job->problem.points == NULL ? json_of_grid(&job->grid) : json_null());
    if (job->problem.points != NULL)
        json_put(report, "points", json_count(job->problem.request.points));
    for (size_t i = 0; i < job->path_count; i++)
        json_add(files, json_text(job->paths[i]));
    if (job->problem.points != NULL)
        json_add(files, json_text(job->run.output));
    json_put(report, "files", files);
}

/* ---- The command ----------------------------------------------------------------------------- */

static const job_kind kind = {.operand = "wavefunction",
                              .product = "map",
                              .check = check,
                              .file = points_file,
                              .second_file = file_to_subtract,
                              .read = read_input,
                              .place = place,
                              .write = write_file,
                              .end = end,
                              .print = print,
                              .put_json = put_json};

const option_block *const wavefunction_shared[] = {&job_options, NULL};

int wavefunction_run(const parsed_arguments *arguments)
{
    const wavefunction_values *values = arguments->values;
    wavefunction_job job = {.run = {.kind = &kind,
                                    .arguments = arguments,
                                    .method = method_row_at(arguments->command, 0),
                                    .output = values->output,
                                    .is_dry = values->dry_run,
                                    .problem = &job.problem},
                            .problem = {.values = values}};
    return job_frame_run(&job.run);
}
