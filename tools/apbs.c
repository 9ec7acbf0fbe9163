/* leyden apbs: APBS, with boundaries computed on the devices. */
#include "apbs_plan.h"
#include "file.h"
#include "interrupt.h"
#include "job_report.h"
#include "method_list.h"
#include "private_folder.h"
#include "program.h"
#include "registry.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct apbs_values {
    job_values job;
    const char *keep;
    int stride;
    double stride_tolerance;
    bool no_run, force;
} apbs_values;

enum { KEEP };

static const option_row apbs_options[] = {
    [KEEP] = {.name = "keep",
              .kind = OPTION_TEXT,
              .offset = offsetof(apbs_values, keep),
              .value = "DIR",
              .unset = "a temporary folder, which is removed at the end",
              .help =
                  "write the maps, boundary-N.dx, and the input file that uses them, leyden.in, to DIR and keep them"},
    {.name = "no-run",
     .kind = OPTION_FLAG,
     .offset = offsetof(apbs_values, no_run),
     .help = "write the files and print the command, but do not run it; needs --keep"},
    {.name = "force",
     .kind = OPTION_FLAG,
     .offset = offsetof(apbs_values, force),
     .help = "compute every mdh and sdh boundary, even where APBS itself would be faster"},
    OPTION_ROW_STRIDE(apbs_values),
    OPTION_ROW_STRIDE_TOLERANCE(apbs_values),
    OPTION_ROW_DEVICE(job_values, DEVICE_MAY_BE_HOST),
    {OPTION_OF_RUN("math")},
    {OPTION_OF_RUN("sum"),
     .help = "number type of the terms and of their sum; compensated adds float terms by Kahan summation; auto is "
             "double for molecules with fewer than 2,000 atoms, where a float error would show in the tenth digit of "
             "an energy, and float for larger ones and on devices without double"},
    {OPTION_OF_RUN("variant")},
    {OPTION_OF_RUN("verify")},
    {OPTION_OF_RUN("seed")},
    OPTION_ROW_JSON(job_values),
    OPTION_ROW_QUIET(job_values),
};

typedef struct apbs_run {
    const parsed_arguments *arguments;
    const apbs_values *values;
    char *program; /* NULL with --no-run */
    ley_apbs_input *input;
    ley_engine *engine;
    apbs_plan plan;
    private_folder temporary;
    char *folder, *rewritten; /* where the files go, and the input among them; NULL: nothing is written */
    bool made_folder;         /* that of --keep */
    bool ran;
    program_result result;
    phase_times phases;
    progress_line progress;
} apbs_run;

static void set_defaults(void *to)
{
    apbs_values *values = to;
    job_set_defaults(&values->job);
    values->job.run.sum = LEY_SUM_AUTO;
    values->stride = STRIDE_AUTO;
    values->stride_tolerance = 1e-6;
}

/* A remark on stderr, since stdout belongs to APBS. */
static void note(apbs_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void note(apbs_run *run, const char *format, ...)
{
    va_list values;
    if (run->values->job.quiet)
        return;
    progress_clear(&run->progress);
    va_start(values, format);
    fputs("leyden: ", stderr);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
}

/* ---- Before the work ------------------------------------------------------------------------- */

static char *path_in(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = allocate(size, 1);
    bool ends = folder[strlen(folder) - 1] == '/';
    snprintf(path, size, "%s%s%s", folder, ends ? "" : "/", name);
    return path;
}

static int check_keep(const parsed_arguments *arguments)
{
    const apbs_values *values = arguments->values;
    struct stat known;
    if (values->keep == NULL)
        return 0;
    if (stat(values->keep, &known) == 0 && !S_ISDIR(known.st_mode))
        return fail_usage(arguments->command, "--keep: '%s' is not a folder", values->keep);
    char *path = path_in(values->keep, "leyden.in");
    bool same = ley_file_is_same(arguments->operand, path);
    free(path);
    return same ? fail_usage(arguments->command, "--keep: '%s' is the folder of the input file", values->keep) : 0;
}

static int check_arguments(apbs_run *run)
{
    const apbs_values *values = run->values;
    const subcommand *command = run->arguments->command;
    const named_file files[] = {{run->arguments->operand, "input", NULL}, {values->job.json, "report", "--json"}};
    const char *operand = run->arguments->operand;
    if (is_atoms_name(operand) || is_map_name(operand))
        return fail_usage(command,
                          "'%s' is no input file of APBS, which names the molecule and what is computed; to write one, "
                          "type: pdb2pqr --ff AMBER --apbs-input NEW.in NAME.pdb NEW.pqr",
                          operand);
    if (values->no_run && values->keep == NULL)
        return fail_usage(command, "--no-run needs --keep DIR: nothing would be left to run");
    if (json_takes_stdout(values->job.json) && !values->no_run)
        return fail_usage(command, "--json: standard output belongs to APBS; name a file");
    int code = check_variant(command, method_row_of_bcfl(LEY_BOUNDARY_MDH)->kernels, LEY_TARGET_BOUNDARY,
                             values->job.run.variant);
    if (code == 0)
        code = check_keep(run->arguments);
    if (code == 0)
        code = files_check(command, files, sizeof files / sizeof *files);
    if (code != 0 || values->no_run)
        return code;
    run->program = program_find("apbs");
    return run->program != NULL
               ? 0
               : fail(LEY_ERROR_FILE,
                      "there is no program 'apbs' in PATH; to install it on Debian or Ubuntu, type: apt install apbs");
}

/* Reads the input and decides. Devices are opened only if they can be of use. */
static ley_status prepare(apbs_run *run, ley_error *error)
{
    const apbs_values *values = run->values;
    double clock_s = run->phases.start_s;
    progress_say(&run->progress, "reading the input");
    ley_status status = ley_apbs_input_read(run->arguments->operand, &run->input, error);
    run->phases.reading_s = lap_s(&clock_s);
    if (status != LEY_OK)
        return status;
    for (size_t i = 0; i < ley_apbs_warning_count(run->input) && !values->job.quiet; i++) {
        progress_clear(&run->progress);
        warn("%s", ley_apbs_warning(run->input, i));
    }
    const plan_settings settings = {.stride = values->stride,
                                    .sum = (ley_sum)values->job.run.sum,
                                    .threads = program_threads(),
                                    .force = values->force,
                                    .is_for_host = device_is_host(values->job.device)};
    plan_begin(&run->plan, run->input, &settings);
    if (plan_needs_engine(&run->plan)) {
        progress_say(&run->progress, "opening the devices");
        status = ley_engine_create(values->job.device, &run->engine, error);
    }
    if (status == LEY_OK)
        status = plan_decide(&run->plan, run->engine, error);
    run->phases.preparing_s = lap_s(&clock_s);
    return status;
}

/* ---- Where the files go ---------------------------------------------------------------------- */

static bool writes_maps(const apbs_run *run)
{
    for (size_t i = 0; i < run->plan.n; i++)
        if (run->plan.elec[i].use)
            return true;
    return false;
}

static ley_status make_kept_folder(apbs_run *run, ley_error *error)
{
    const char *keep = run->values->keep;
    run->made_folder = mkdir(keep, 0777) == 0;
    if (!run->made_folder && errno != EEXIST)
        return fail_into(error, LEY_ERROR_FILE, "%s: %s", keep, strerror(errno));
    run->folder = allocate(strlen(keep) + 1, 1);
    strcpy(run->folder, keep);
    return LEY_OK;
}

/* The folder and the names in it, before anything is computed. */
static ley_status make_folder(apbs_run *run, ley_error *error)
{
    ley_status status = LEY_OK;
    if (!writes_maps(run))
        return LEY_OK; /* APBS gets its own input */
    if (run->values->keep != NULL) {
        status = make_kept_folder(run, error);
    } else {
        status = private_folder_create(&run->temporary, NULL, error);
        run->folder = run->temporary.path;
    }
    if (status != LEY_OK)
        return status;
    for (size_t i = 0; i < run->plan.n; i++)
        if (run->plan.elec[i].use && run->plan.elec[i].first == i)
            run->plan.elec[i].map = path_in(run->folder, text_of("boundary-%d.dx", run->plan.elec[i].elec->number).s);
    run->rewritten = path_in(run->folder, "leyden.in");
    return LEY_OK;
}

/* The file that `--output-file=FILE` tells APBS to write, or NULL. */
static const char *apbs_output(const apbs_run *run)
{
    static const char option[] = "--output-file=";
    const char *path = NULL;
    for (int i = 0; i < run->arguments->rest_count; i++)
        if (strncmp(run->arguments->rest[i], option, strlen(option)) == 0)
            path = run->arguments->rest[i] + strlen(option);
    return path;
}

/* Is a file that we write one that we or APBS read or write? Asked once the input is known. */
static int check_files(const apbs_run *run)
{
    const size_t named = ley_apbs_file_count(run->input);
    named_file *files = allocate(named + PLAN_ELECS_MAX + 4, sizeof *files);
    size_t n = 0;
    files[n++] = (named_file){run->arguments->operand, "input", NULL};
    files[n++] = (named_file){apbs_output(run), "output of APBS", NULL};
    for (size_t i = 0; i < named; i++) {
        const ley_apbs_file *file = ley_apbs_file_get(run->input, i);
        files[n++] = (named_file){file->path, file->is_written ? "output of APBS" : "input of APBS", NULL};
    }
    for (size_t i = 0; i < run->plan.n; i++)
        files[n++] = (named_file){run->plan.elec[i].map, "boundary", "--keep"};
    files[n++] = (named_file){run->rewritten, "rewritten input", "--keep"};
    files[n++] = (named_file){run->values->job.json, "report", "--json"};
    const int code = files_check(run->arguments->command, files, n);
    free(files);
    return code;
}

/* ---- The boundaries -------------------------------------------------------------------------- */

static ley_status compute(apbs_run *run, elec_plan *elec, ley_error *error)
{
    const method_row *method = method_row_of_bcfl(elec->elec->boundary);
    ley_run_options options = job_options_of(&run->values->job, &run->progress);
    options.sum = elec->sum;
    options.by_host = run->plan.settings.is_for_host;
    run->progress.finished = false;
    run->progress.last = run->values->job.run.verify_points > 0 ? "verifying" : NULL;
    progress_say(&run->progress, options.by_host ? "computing on the host" : "preparing the devices");
    ley_status status = ley_boundary_create(&elec->elec->grid, &elec->boundary, error);
    if (status == LEY_OK)
        status = ley_boundary_check_atoms(elec->boundary, elec->atoms, error);
    if (status != LEY_OK)
        return status;
    double start_s = now_s();
    const boundary_problem problem = {elec->atoms, &elec->elec->solvent, elec->boundary};
    if (method->create != NULL)
        status = method->create(&problem, run->engine, &options, &elec->job, error);
    if (status == LEY_OK)
        status = method_row_run(method, &problem, elec->job, error);
    elec->computing_s = now_s() - start_s;
    if (elec->job != NULL)
        elec->report = ley_job_report(elec->job);
    if (status == LEY_OK)
        elec->stride = boundary_choose_stride(elec->boundary, run->values->stride, run->values->stride_tolerance,
                                              &elec->stride_error);
    return status;
}

static ley_status write_map(apbs_run *run, elec_plan *elec, ley_error *error)
{
    progress_say(&run->progress, "writing the boundary");
    char *comment = boundary_comment(&(boundary_facts){.method = method_row_of_bcfl(elec->elec->boundary),
                                                       .path = elec->path,
                                                       .atoms = elec->atoms,
                                                       .solvent = &elec->elec->solvent,
                                                       .stride = elec->stride,
                                                       .stride_error = elec->stride_error,
                                                       .values = &run->values->job,
                                                       .report = elec->report});
    if (run->temporary.path != NULL)
        interrupt_removes(elec->map);
    ley_status status =
        ley_boundary_write_dx(elec->boundary, elec->stride, elec->map, comment, interrupt_flag(), error);
    free(comment);
    return status;
}

static void warn_of_cuts(apbs_run *run, size_t i)
{
    const elec_plan *elec = &run->plan.elec[i];
    short_text what;
    if (run->values->job.quiet || !boundary_cuts_molecule(&elec->elec->grid, elec->atoms, &what))
        return;
    progress_clear(&run->progress);
    warn("%s: the grid cuts through the molecule: %s; boundary values hold outside of it only",
         plan_name(&run->plan, i, run->arguments->operand).s, what.s);
}

/* Computes and writes the boundaries one after the other, each one once. */
static ley_status make_maps(apbs_run *run, ley_error *error)
{
    for (size_t i = 0; i < run->plan.n; i++) {
        elec_plan *elec = &run->plan.elec[i];
        if (!elec->use || elec->first != i)
            continue;
        warn_of_cuts(run, i);
        ley_status status = interrupt_came() ? LEY_CANCELLED : compute(run, elec, error);
        if (elec->report != NULL && status != LEY_CANCELLED && (status != LEY_OK || !run->values->job.quiet)) {
            progress_clear(&run->progress);
            print_failures(elec->report, &(ley_error){.status = status, .log = error->log});
        }
        double start_s = now_s();
        if (status == LEY_OK)
            status = write_map(run, elec, error);
        run->phases.computing_s += elec->computing_s;
        run->phases.writing_s += now_s() - start_s;
        if (status != LEY_OK)
            return status;
    }
    return LEY_OK;
}

static ley_status write_input(apbs_run *run, ley_error *error)
{
    const char *maps[PLAN_ELECS_MAX] = {NULL};
    if (run->folder == NULL)
        return LEY_OK;
    for (size_t i = 0; i < run->plan.n; i++)
        maps[i] = run->plan.elec[i].use ? run->plan.elec[run->plan.elec[i].first].map : NULL;
    if (run->temporary.path != NULL)
        interrupt_removes(run->rewritten);
    return ley_apbs_input_write(run->input, maps, run->rewritten, error);
}

/* ", relative RMS error 1e-08"; nothing of what was not measured. */
static short_text error_text(const ley_report *report)
{
    if (report == NULL || report->accuracy.compared == 0)
        return text_of("%s", "");
    return text_of(", relative RMS error %s", relative_text(report->accuracy.relative_rms).s);
}

static void note_decisions(apbs_run *run)
{
    for (size_t i = 0; i < run->plan.n; i++) {
        short_text name = plan_name(&run->plan, i, run->arguments->operand), native = text_of("%s", "");
        const elec_plan *elec = &run->plan.elec[i];
        if (run->arguments->verbose)
            native = text_of(" (APBS alone: about %s)", seconds_text(elec->native_s).s);
        if (elec->use && elec->first == i)
            note(run, "%s: dielectric %.6g, %s points in %s%s%s, every %snode in the map", name.s,
                 elec->elec->solvent.dielectric, count_text(elec->points).s, seconds_text(elec->computing_s).s,
                 native.s, error_text(elec->report).s,
                 elec->stride == 1   ? ""
                 : elec->stride == 2 ? "second "
                                     : "fourth ");
        else if (elec->reason[0] != '\0')
            note(run, "%s: %s", name.s, elec->reason);
    }
}

/* ---- APBS ------------------------------------------------------------------------------------ */

/* "apbs", the user's arguments, the input; the caller frees the array. */
static char **make_command(const apbs_run *run)
{
    static char name[] = "apbs";
    int n = run->arguments->rest_count;
    char **words = allocate((size_t)n + 3, sizeof *words);
    words[0] = name;
    for (int i = 0; i < n; i++)
        words[i + 1] = run->arguments->rest[i];
    const char *input = run->rewritten != NULL ? run->rewritten : run->arguments->operand;
    words[n + 1] = (char *)(uintptr_t)input; /* exec() takes words without const and changes none */
    return words;
}

static ley_status run_apbs(apbs_run *run, ley_error *error)
{
    char **words = make_command(run);
    ley_status status = LEY_OK;
    progress_clear(&run->progress);
    if (!run->values->no_run) {
        interrupt_defer();
        status = interrupt_came() ? LEY_CANCELLED : program_run(run->program, words, &run->result, error);
        run->ran = status == LEY_OK;
        if (interrupt_came())
            status = LEY_CANCELLED;
    } else if (!json_takes_stdout(run->values->job.json)) {
        for (char **word = words; *word != NULL; word++) {
            print_word(*word);
            putchar(word[1] != NULL ? ' ' : '\n');
        }
    }
    free(words);
    return status;
}

/* ---- The report ------------------------------------------------------------------------------ */

static json_t *apbs_json(const apbs_run *run)
{
    char **words = make_command(run);
    json_t *object = json_object(), *command = json_array();
    for (char **word = words; *word != NULL; word++)
        json_add(command, json_text(*word));
    free(words);
    json_put(object, "path", json_text(run->program));
    json_put(object, "command", command);
    json_put(object, "threads", json_count(run->plan.settings.threads));
    json_put(object, "exit_code", run->ran ? json_count(run->result.code) : json_null());
    json_put(object, "signal", run->ran && run->result.signal != 0 ? json_count(run->result.signal) : json_null());
    json_put(object, "seconds", run->ran ? json_number(run->result.elapsed_s) : json_null());
    return object;
}

static int write_json(const apbs_run *run, const ley_error *outcome, int code)
{
    json_t *report = json_begin(run->arguments), *molecules = json_array(), *elecs = json_array();
    json_put_outcome(report, outcome, code);
    for (size_t i = 0; i < ley_apbs_molecule_count(run->input); i++) {
        const ley_atoms *atoms = ley_apbs_molecule(run->input, i);
        json_add(molecules,
                 atoms != NULL ? json_of_molecule(ley_apbs_molecule_path(run->input, i), atoms) : json_null());
    }
    for (size_t i = 0; i < run->plan.n; i++)
        json_add(elecs, plan_json(&run->plan, i));
    json_put(report, "molecules", molecules);
    json_put(report, "elecs", elecs);
    json_put(report, "apbs", apbs_json(run));
    json_put(report, "seconds", json_of_phases(&run->phases));
    return json_finish(report, run->values->job.json);
}

/* Says how it went; returns the exit code. */
static int conclude(apbs_run *run, ley_error *error)
{
    int code = ley_status_exit_code(error->status), written = 0;
    progress_clear(&run->progress);
    if (error->status == LEY_CANCELLED) {
        fail_with(error);
        return interrupt_exit_code();
    }
    if (run->ran) {
        code = run->result.code;
        note(run, "apbs ran for %s", seconds_text(run->result.elapsed_s).s);
        if (run->result.signal != 0)
            fail(LEY_OK, "apbs was ended by signal %d, %s", run->result.signal, strsignal(run->result.signal));
    }
    if (run->plan.n > 0 && run->values->job.json != NULL)
        written = write_json(run, error, code);
    if (error->status != LEY_OK)
        fail_with(error);
    return code != 0 ? code : written;
}

static void release(apbs_run *run)
{
    if (run->temporary.path != NULL)
        private_folder_remove(&run->temporary);
    else if (run->made_folder)
        rmdir(run->folder); /* unless something was written to it */
    if (run->values->keep != NULL)
        free(run->folder);
    plan_end(&run->plan);
    ley_engine_destroy(run->engine);
    ley_apbs_input_destroy(run->input);
    free(run->rewritten);
    free(run->program);
}

static ley_status work(apbs_run *run, ley_error *error)
{
    ley_status status = make_maps(run, error);
    if (status == LEY_OK)
        status = write_input(run, error);
    if (status != LEY_OK)
        return status;
    note_decisions(run);
    return run_apbs(run, error);
}

static int apbs_run_command(const parsed_arguments *arguments)
{
    apbs_run run = {.arguments = arguments, .values = arguments->values, .phases.start_s = now_s()};
    ley_error error = {0};
    int code = check_arguments(&run);
    if (code == 0) {
        progress_start(&run.progress, run.values->job.quiet);
        error.status = prepare(&run, &error);
        if (error.status == LEY_OK)
            error.status = make_folder(&run, &error);
        if (error.status == LEY_OK) {
            progress_clear(&run.progress);
            code = check_files(&run);
        }
        if (error.status == LEY_OK && code == 0)
            error.status = work(&run, &error);
        if (code == 0)
            code = conclude(&run, &error);
    }
    release(&run);
    return code;
}

const subcommand apbs_command = {
    .name = "apbs",
    .summary = "Run APBS, with its mdh and sdh boundaries computed by leyden where that is faster.",
    .examples = {"leyden apbs protein.in", "leyden apbs protein.in --keep files -- --output-file=run.xml"},
    .operand = "INPUT",
    .operand_help = "APBS input file; paths in it are relative to the working directory, as for APBS",
    .rest = "ARGUMENTS",
    .rest_help = "options for apbs, such as --output-file=run.xml",
    .details = "Each boundary is written as an OpenDX map of the faces, and a copy of the input reads the maps (bcfl "
               "map). Then apbs, from PATH, runs on the copy in the working directory, or on the input itself where "
               "APBS alone is faster. Its output goes to standard output unchanged; remarks go to standard "
               "error.\\nThe exit code is that of apbs, or 128 plus the number of the signal that ended it. Without "
               "apbs in PATH it is 2.",
    .options = OPTION_BLOCK(apbs_options, apbs_values, set_defaults),
    .run = apbs_run_command,
};
