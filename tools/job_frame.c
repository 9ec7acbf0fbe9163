#include "job_frame.h"
#include "console.h"
#include "forecast_report.h"
#include "interrupt.h"
#include "map_keeping.h"
#include "method_list.h"
#include "predictions.h"
#include "standard_stream.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Before the work ------------------------------------------------------------------------- */

static int begin_method(job_run *run)
{
    const method_row *method = run->method;
    const int code = check_method_options(run->arguments, &method->option);
    if (method->input_size > 0)
        run->input = allocate(1, method->input_size);
    return code == 0 && method->begin != NULL ? method->begin(run->arguments, run->input) : code;
}

static int check_files(const job_run *run)
{
    const job_kind *kind = run->kind;
    const method_row *method = run->method;
    const named_file none = {NULL, NULL, NULL};
    named_file files[8 + JOB_MOST_OTHERS] = {{run->arguments->operand, kind->operand, NULL},
                                             kind->file != NULL ? kind->file(run) : none,
                                             kind->second_file != NULL ? kind->second_file(run) : none,
                                             method->file != NULL ? method->file(run->input) : none,
                                             {run->values->plan, "plan", NULL},
                                             {run->output, kind->product, "--output"},
                                             {run->header, "header", "--output"},
                                             {run->values->json, "report", "--json"}};
    for (size_t i = 0; i < JOB_MOST_OTHERS && i < run->other_count; i++)
        files[8 + i] = (named_file){run->others[i], kind->product, "--output"};
    return files_check(run->arguments->command, files, sizeof files / sizeof *files);
}

/* Which goes to rank 0 alone. */
static int check_standard_input(const job_run *run)
{
    const named_file file = run->kind->file != NULL ? run->kind->file(run) : (named_file){NULL, NULL, NULL};
    if (ley_ranks_count() > 1 &&
        (input_takes_stdin(run->arguments->operand) || (file.path != NULL && input_takes_stdin(file.path))))
        return fail_usage(
            run->arguments->command,
            "standard input has one reader, and there are %d ranks: write it to a file, and name that in place of -",
            ley_ranks_count());
    return 0;
}

int job_frame_check(job_run *run)
{
    const job_kind *kind = run->kind;
    run->values = option_values(run->arguments, &job_options);
    int code = check_standard_input(run);
    if (code == 0)
        code = kind->check != NULL ? kind->check(run) : 0;
    if (code == 0)
        code = begin_method(run);
    if (code == 0 && kind->check_input != NULL)
        code = kind->check_input(run);
    if (code == 0 && run->method->tolerance != NULL)
        run->tolerance = run->method->tolerance(run->input);
    if (code == 0)
        code = check_variant(run->arguments->command, run->method->kernels, run->target, run->values->run.variant);
    return code == 0 ? check_files(run) : code;
}

/* ---- The work -------------------------------------------------------------------------------- */

/* Devices are opened while the input is read and there is made what they are to fill, where that
 * takes long; else they are opened once it is known that the host is not sooner. */
enum { LARGE_INPUT_BYTES = 4 << 20, LARGE_INPUT_OF_POINTS_BYTES = 64 << 20 };
typedef struct opening {
    job_run *run;
    pthread_t thread;
    bool is_running; /* else it is done, or nobody wants devices */
    ley_status status;
    ley_error error;
} opening;

bool job_frame_wants_devices(const job_run *run)
{
    return run->method->create != NULL;
}

static void *open_engine(void *context)
{
    opening *o = context;
    o->status = ley_engine_create(o->run->values->device, &o->run->engine, &o->error);
    return NULL;
}

static void begin_opening(opening *o, job_run *run, ley_status before)
{
    *o = (opening){.run = run};
    if (before != LEY_OK || !job_frame_wants_devices(run))
        return;
    o->is_running = pthread_create(&o->thread, NULL, open_engine, o) == 0;
    if (!o->is_running)
        open_engine(o);
}

/* Ranks do so before they talk to each other: drivers may change the environment while they are
 * opened, and MPI may read it whenever it does something for the first time. */
static void wait_for_opening(opening *o)
{
    if (o->is_running)
        pthread_join(o->thread, NULL);
    o->is_running = false;
}

/* What was wrong before counts. */
static ley_status end_opening(opening *o, ley_status before, ley_error *error)
{
    wait_for_opening(o);
    if (before == LEY_OK && o->status != LEY_OK) {
        *error = o->error;
        return o->status;
    }
    ley_error_clear(&o->error);
    return before;
}

/* Which method the job is, and how it is going to be done, or was in the end: where that was left
 * to the library, or where a run that missed its tolerance has come to other meshes, or to another
 * method. */
static void take_method(job_run *run)
{
    const method_row *row = run->method;
    const char *name = ley_job_report(run->job)->method;
    for (size_t i = 0; !method_row_makes(row, name) && (row = method_row_at(run->arguments->command, i)) != NULL; i++)
        ;
    if (row != NULL)
        run->method = row;
    if (run->method->done != NULL)
        run->method->done(run->problem, run->job);
}

static ley_run_options run_options_of(job_run *run)
{
    ley_run_options options = job_options_of(run->values, &run->progress);
    options.by_host = run->is_for_host;
    options.decision_count = run->plan.count;
    options.decisions = run->plan.decisions;
    return options;
}

/* Whether the host does the job alone, as that is asked for, or sooner than with a device, of which
 * none is named. What is wrong with the job is else found again on the way to the devices. */
static ley_status try_by_host(job_run *run, bool *is_by_host, ley_error *error)
{
    const ley_run_options options = run_options_of(run);
    *is_by_host = false;
    if ((run->values->device != NULL && !run->is_for_host) || !job_frame_wants_devices(run))
        return LEY_OK;
    const ley_status status = run->method->create(run->problem, NULL, &options, &run->job, error);
    if (status != LEY_OK) {
        run->job = NULL;
        if (run->is_for_host)
            return status;
        ley_error_clear(error);
        return LEY_OK;
    }
    *is_by_host = true;
    take_method(run);
    return LEY_OK;
}

/* All ranks do as rank 0, whatever each of them has measured. */
static ley_status create_by_host(job_run *run, bool *is_by_host, ley_error *error)
{
    ley_status status = try_by_host(run, is_by_host, error);
    if (status != LEY_OK)
        return status;
    const bool is_agreed = ley_ranks_agree(*is_by_host);
    if (is_agreed && !*is_by_host) {
        run->is_for_host = true;
        status = try_by_host(run, is_by_host, error);
    } else if (!is_agreed && *is_by_host) {
        ley_job_destroy(run->job);
        run->job = NULL;
        *is_by_host = false;
    }
    return status;
}

static ley_status create_job(job_run *run, ley_error *error)
{
    const ley_run_options options = run_options_of(run);
    if (!job_frame_wants_devices(run))
        return LEY_OK;
    ley_status status = run->method->create(run->problem, run->engine, &options, &run->job, error);
    if (status == LEY_OK)
        take_method(run);
    if (status == LEY_OK && run->is_streamed && !run->is_dry) /* of a map that is a file nobody has asked yet */
        status = ley_job_check_memory(run->job, error);
    plan_file_explain(run->values->plan, error);
    return status;
}

/* Of an option that is not given; -1: the plan does not say it, either. */
static int planned_choice(const job_run *run, const char *option)
{
    const char *choice, *word = option_named_given(run->arguments, option) ? NULL : plan_file_word(&run->plan, option);
    for (int i = 0; word != NULL && (choice = ley_parameter_choice("ley_run_options", option, i)) != NULL; i++)
        if (strcmp(choice, word) == 0)
            return i;
    return -1;
}

/* A plan of the host's names it, and so may the option. */
static ley_status read_place(job_run *run, ley_error *error)
{
    const char *device = run->values->device, *planned = plan_file_word(&run->plan, "computed_by");
    const bool names_host = device_is_host(device);
    if (device != NULL && planned != NULL && !names_host)
        return fail_into(error, LEY_ERROR_USAGE, "%s: plan: the host did that job alone, and --device names others",
                         run->values->plan);
    run->is_for_host = names_host || planned != NULL;
    return LEY_OK;
}

static ley_status read_plan(job_run *run, ley_error *error)
{
    ley_status status = plan_file_read(run->values->plan, &run->plan, error);
    if (status == LEY_OK)
        status = read_place(run, error);
    run->planned = *run->values;
    const int math = planned_choice(run, "math"), sum = planned_choice(run, "sum");
    run->planned.run.math = math >= 0 ? (ley_math)math : run->planned.run.math;
    run->planned.run.sum = sum >= 0 ? (ley_sum)sum : run->planned.run.sum;
    run->values = &run->planned;
    return status;
}

static bool opens_at_once(const job_run *run)
{
    const bool has_points = run->kind->file != NULL && run->kind->file(run).path != NULL;
    return !run->is_for_host &&
           (run->values->device != NULL ||
            file_size(run->arguments->operand) >= (has_points ? LARGE_INPUT_OF_POINTS_BYTES : LARGE_INPUT_BYTES));
}

/* Whether ranks read their parts of the atoms: a binary file of them, for a map without a list of
 * atoms, by a method that can do with a part, on devices. The grid may still need all atoms. The
 * rule stands in docs/clusters.md. */
static bool reads_by_parts(const job_run *run)
{
    return ley_ranks_count() > 1 && run->method->takes_shares && run->target != LEY_TARGET_POINTS && !run->is_dry &&
           !run->keeps_atoms && opens_at_once(run) && ley_atoms_is_binary(run->arguments->operand);
}

/* A rank that has no device could do nothing with a part. */
static bool is_any_without(const job_run *run)
{
    return ley_ranks_most(run->engine != NULL && ley_engine_device_count(run->engine) == 0) > 0;
}

/* Ranks that were started with other command lines would wait for each other in different
 * places. */
static ley_status check_same(const job_run *run, ley_status status, ley_error *error)
{
    const int64_t own = run->is_by_parts + 2 * run->is_dry + 4 * run->keeps_planes + 8 * run->is_streamed +
                        16 * (run->target == LEY_TARGET_POINTS) + 32 * (int64_t)run->other_count +
                        65536 * run->front_bytes,
                  options = (int64_t)(map_keeping_options(run->arguments, &run->plan) >> 1);
    const bool is_same = ley_ranks_most(own) == -ley_ranks_most(-own),
               has_same_options = ley_ranks_most(options) == -ley_ranks_most(-options);
    if ((is_same && has_same_options) || status != LEY_OK)
        return status;
    return fail_into(error, LEY_ERROR_USAGE,
                     "ranks are to do the same job: they were started with different files or options; type one "
                     "command for all of them: mpirun -n %d leyden-mpi ...",
                     ley_ranks_count());
}

/* There is none: then the host does what it would have left to them. */
static ley_status create_in_place_of_devices(job_run *run, bool *is_by_host, ley_error *error)
{
    ley_error why = {0};
    const bool has_any = run->engine != NULL && ley_engine_device_count(run->engine) > 0;
    const bool has_some_rank = ley_ranks_most(has_any) > 0;
    create_by_host(run, is_by_host, &why);
    if (!*is_by_host)
        return LEY_ERROR_NO_DEVICE;
    if (has_some_rank)
        warn("rank 0 has no device, so that all ranks compute on their cores, also those with devices: %s",
             error->message);
    run->lacks_devices = true;
    ley_error_clear(error);
    return LEY_OK;
}

static ley_status prepare(job_run *run, ley_error *error)
{
    opening devices = {.run = run};
    double clock_s = run->phases.start_s;
    progress_say(&run->progress, text_of("reading the %s", run->kind->operand).s);
    ley_status status = read_plan(run, error);
    if (opens_at_once(run))
        begin_opening(&devices, run, status);
    run->is_by_parts = reads_by_parts(run);
    double opening_s = 0;
    if (ley_ranks_count() > 1) { /* drivers change the environment, which MPI reads */
        wait_for_opening(&devices);
        opening_s = lap_s(&clock_s);
        run->is_by_parts = !is_any_without(run) && run->is_by_parts;
        status = check_same(run, status, error);
        run->phases.waiting_s = lap_s(&clock_s);
    }
    if (status == LEY_OK)
        status = run->kind->read(run, error);
    run->phases.reading_s = lap_s(&clock_s);
    if (status == LEY_OK && run->kind->place != NULL)
        status = run->kind->place(run, error);
    bool is_by_host = false;
    if (status == LEY_OK && !opens_at_once(run))
        status = create_by_host(run, &is_by_host, error);
    const ley_status before = status;
    if (status == LEY_OK && !is_by_host && job_frame_wants_devices(run))
        progress_say(&run->progress, "opening the devices");
    if (!opens_at_once(run) && !is_by_host)
        begin_opening(&devices, run, status);
    status = end_opening(&devices, status, error);
    if (before == LEY_OK && ley_ranks_agree(status == LEY_ERROR_NO_DEVICE))
        status = create_in_place_of_devices(run, &is_by_host, error);
    plan_file_explain(run->values->plan, error);
    if (status == LEY_OK && !is_by_host)
        status = create_job(run, error);
    run->phases.preparing_s = opening_s + lap_s(&clock_s);
    return status;
}

static ley_status compute(job_run *run, ley_error *error)
{
    double clock_s = now_s();
    run->progress.last = run->values->run.verify_points > 0 ? "verifying" : NULL;
    progress_say(&run->progress, run->engine != NULL ? "preparing the devices" : "computing on the host");
    const ley_status status = method_row_run(run->method, run->problem, run->job, error);
    plan_file_explain(run->values->plan, error);
    run->computed = status == LEY_OK;
    run->phases.computing_s = lap_s(&clock_s);
    if (run->job == NULL)
        return status;
    run->report = ley_job_report(run->job);
    take_method(run);
    run->phases.preparing_s += run->report->prepare_s;
    run->phases.computing_s = run->report->compute_s;
    run->phases.verifying_s = run->report->verify_s;
    return status;
}

ley_status job_frame_read(job_run *run, ley_error *error)
{
    double clock_s = run->phases.start_s = now_s();
    ley_status status = read_plan(run, error);
    if (status == LEY_OK)
        status = run->kind->read(run, error);
    run->phases.reading_s = lap_s(&clock_s);
    return status;
}

ley_status job_frame_compute(job_run *run, ley_error *error)
{
    double clock_s = now_s();
    ley_status status = run->kind->place != NULL ? run->kind->place(run, error) : LEY_OK;
    bool is_by_host = false;
    if (status == LEY_OK)
        status = create_by_host(run, &is_by_host, error);
    if (status == LEY_OK && !is_by_host && *run->lent == NULL && job_frame_wants_devices(run))
        status = ley_engine_create(run->values->device, run->lent, error);
    if (status == LEY_ERROR_NO_DEVICE)
        status = create_in_place_of_devices(run, &is_by_host, error);
    run->engine = *run->lent;
    if (status == LEY_OK && !is_by_host)
        status = create_job(run, error);
    run->phases.preparing_s = lap_s(&clock_s);
    return status == LEY_OK ? compute(run, error) : status;
}

/* In place of both. */
static ley_status forecast(job_run *run, ley_error *error)
{
    double clock_s = now_s();
    if (run->engine != NULL)
        progress_say(&run->progress, "asking the devices");
    const ley_status status = ley_job_forecast(run->job, &run->forecast, error);
    plan_file_explain(run->values->plan, error);
    run->report = ley_job_report(run->job);
    run->phases.preparing_s += lap_s(&clock_s);
    return status;
}

static ley_status write_file(job_run *run, ley_error *error)
{
    double clock_s = now_s();
    if (run->kind->write == NULL || ley_ranks_own() > 0)
        return LEY_OK;
    progress_say(&run->progress, text_of("writing the %s", run->kind->product).s);
    const ley_status status = run->kind->write(run, error);
    run->is_written = status == LEY_OK;
    run->phases.writing_s = lap_s(&clock_s);
    return status;
}

/* In as many digits as show that it is more than the tolerance. */
static short_text excess_text(double rms, double tolerance)
{
    int digits = 2;
    short_text text = text_of("%.*g", digits, rms);
    while (digits < 17 && strtod(text.s, NULL) <= tolerance)
        text = text_of("%.*g", ++digits, rms);
    return text;
}

static const char *advice_for(const job_run *run)
{
    const ley_report *report = run->report;
    if (report->double_has_more_digits && report->sum != LEY_SUM_DOUBLE)
        return "a double sum (--sum auto) is more accurate";
    if (run->values->plan != NULL)
        return "a run without --plan may be more accurate";
    return run->method->advice != NULL ? run->method->advice(run->input) : "no other method is more accurate";
}

/* The file is there, and says how far off it is; so does the exit code. */
static ley_status hold_tolerance(const job_run *run, ley_error *error)
{
    const ley_accuracy *a = run->report != NULL ? &run->report->accuracy : NULL;
    if (a == NULL || !(run->report->tolerance_share > 1))
        return LEY_OK;
    if (run->report->tolerance_floor > 0 && isfinite(a->absolute_rms))
        return fail_into(
            error, LEY_ERROR_WRONG_RESULT,
            "the terms of the %s nearly cancel or are screened; its absolute RMS error is %.3g, and --tol %g "
            "allows %.3g: %s",
            run->kind->product, a->absolute_rms, run->tolerance, run->tolerance * run->report->tolerance_floor,
            advice_for(run));
    return fail_into(error, LEY_ERROR_WRONG_RESULT, "the relative RMS error of the %s is %s, and --tol is %g: %s",
                     run->kind->product, excess_text(a->relative_rms, run->tolerance).s, run->tolerance,
                     advice_for(run));
}

/* A tolerance is that of the potential. */
static void remark_field(const job_run *run)
{
    const ley_accuracy *field = run->report != NULL ? &run->report->field_accuracy : NULL;
    if (field != NULL && field->points > 0 && run->tolerance > 0 && field->relative_rms > run->tolerance &&
        isfinite(field->relative_rms) && !run->values->quiet)
        warn("--tol %g applies to the potential; the relative RMS error of the field is %s", run->tolerance,
             excess_text(field->relative_rms, run->tolerance).s);
}

ley_status job_frame_write(job_run *run, ley_error *error)
{
    const ley_status status = write_file(run, error);
    if (status == LEY_OK)
        remark_field(run);
    return status == LEY_OK ? hold_tolerance(run, error) : status;
}

/* ---- What is said of it ---------------------------------------------------------------------- */

void put_work(FILE *to, const job_values *values, const ley_report *report)
{
    if (report == NULL)
        return;
    fprintf(to, "math: %s, sum: %s\n", MATH_NAME(values->run.math), SUM_NAME(report->sum));
    put_devices(to, report);
    put_accuracy(to, report);
}

/* Seconds of a file that is written at the end, alone; planes of others go to it as they are
 * computed. */
static double seconds_of_output(const job_run *run)
{
    bool is_alone = !run->is_streamed;
    for (size_t i = 0; i < run->other_count; i++)
        is_alone = is_alone && run->others[i] == NULL;
    return is_alone ? run->phases.writing_s : 0;
}

static bool is_silent(const job_run *run)
{
    return run->values->quiet || json_takes_stdout(run->values->json) ||
           (run->output != NULL && output_takes_stdout(run->output));
}

/* Only what is out of the ordinary. */
static void print_tolerance(const job_run *run)
{
    if (run->report == NULL || !(run->tolerance > 0))
        return;
    if (run->report->accuracy.points == 0)
        printf("accuracy: not measured, since --verify is 0\n");
    if (run->report->tolerance_floor > 0)
        printf("tolerance: %g of %.3g, the scale of the terms, which nearly cancel or are screened\n", run->tolerance,
               run->report->tolerance_floor);
    for (size_t i = 0; i < run->report->missed_count; i++)
        printf("%s%.2g%s", i == 0 ? "computed again with stricter settings: relative RMS error before " : ", then ",
               run->report->missed_rms[i], i + 1 == run->report->missed_count ? "\n" : "");
}

/* What it is: the molecule, the places, the method. */
static void print_task(const job_run *run)
{
    if (run->kind->print != NULL)
        run->kind->print(run);
    printf("method: %s, %s", run->method->option.name, method_row_title(run->method, run->report));
    if (run->method->put_medium != NULL) {
        fputs(", ", stdout);
        run->method->put_medium(run->problem, stdout);
    }
    if (!run->is_dry)
        print_error(run->report);
    putchar('\n');
}

/* How it went, for --verbose. */
static void print_details(const job_run *run)
{
    if (run->method->print != NULL)
        run->method->print(run->problem, run->report);
    print_work(run->report, run->report != NULL && run->report->host != NULL ? NULL : run->method->rate,
               run->is_for_host || run->lacks_devices);
    print_times(&run->phases, run->report);
    print_predictions(run->report);
    print_accuracy(run->report);
    print_tolerance(run);
}

/* The line of the files, and the bytes of all. */
static void print_files(const job_run *run)
{
    uint64_t bytes = file_size(run->output);
    printf("written: %s", run->output);
    for (size_t i = 0; i < run->other_count; i++)
        if (run->others[i] != NULL) {
            printf(", %s", run->others[i]);
            bytes += file_size(run->others[i]);
        }
    printf(", %s", bytes_text(bytes).s);
    if (run->arguments->verbose && bytes > 0 && seconds_of_output(run) > 0)
        printf(", %s/s", bytes_text((uint64_t)((double)bytes / seconds_of_output(run))).s);
    putchar('\n');
}

/* Five lines, and what else is known with --verbose. */
static void print_report(const job_run *run)
{
    print_task(run);
    if (run->arguments->verbose)
        print_details(run);
    print_total(&run->phases, run->report);
    if (run->output != NULL)
        print_files(run);
}

/* What the methods of this sub-command have to say, which is nothing of those that were not run. */
static void put_sections(const job_run *run, json_t *report)
{
    const method_row *method;
    for (size_t i = 0; (method = method_row_at(run->arguments->command, i)) != NULL; i++)
        if (method->section != NULL)
            json_put(report, method->section,
                     method == run->method ? method->json(run->problem, run->report) : json_null());
}

/* Of a file that is values, and little else, before it is packed. */
static uint64_t float_bytes(const job_run *run)
{
    return (uint64_t)run->front_bytes + (uint64_t)run->report->points * sizeof(float);
}

static void print_dry(const job_run *run)
{
    print_task(run);
    print_forecast(run->forecast);
    if (run->link.ranks > 1 && run->forecast->devices_s > 0)
        print_ranks_forecast(run->job, run->forecast, &run->link, run->is_streamed);
    if (run->forecast->host != NULL)
        printf("the host alone, %s in double precision of %s at %s: about %.2g s, without a device%s\n",
               run->forecast->host, counted_text(run->report->atoms, "atom").s,
               counted_text(run->report->points, "point").s, run->forecast->total_s,
               run->is_for_host ? "" : " (--device asks for one)");
    const char *packed = run->output != NULL && ends_with(run->output, ".gz") ? " before it is packed" : "";
    if (run->is_streamed)
        printf("file: %s, %s%s\n", run->output, bytes_text(float_bytes(run)).s, packed);
    for (size_t i = 0; i < run->other_count; i++)
        if (run->others[i] != NULL && run->is_streamed && is_map_name(run->others[i]))
            printf("file: %s, %s%s\n", run->others[i], bytes_text(float_bytes(run)).s, packed);
}

/* Also of what is too large to be done. */
static int conclude_dry(job_run *run, ley_error *error)
{
    const job_values *values = run->values;
    int code = ley_status_exit_code(error->status), written = 0;
    if (run->forecast != NULL && values->json != NULL) {
        json_t *report = json_begin(run->arguments);
        json_put_outcome(report, error, code);
        if (run->kind->put_json != NULL)
            run->kind->put_json(run, report);
        json_put(report, "forecast", json_of_forecast(run->forecast));
        if (run->link.ranks > 1 && run->forecast->devices_s > 0)
            json_put(report, "ranks", json_of_ranks_forecast(run->job, &run->link, run->is_streamed));
        json_put(report, "by_host", json_boolean(run->forecast->host != NULL));
        json_put(report, "file_bytes",
                 run->is_streamed && !ends_with(run->output, ".gz") ? json_count((int64_t)float_bytes(run))
                                                                    : json_null());
        json_put(report, "plan", json_of_plan(run->report));
        json_put(report, "seconds", json_of_phases(&run->phases));
        written = json_finish(report, values->json);
    }
    if (run->forecast != NULL && !values->quiet && !json_takes_stdout(values->json)) {
        print_dry(run);
        fflush(stdout); /* before the message that says why it cannot be done */
    }
    if (error->status != LEY_OK)
        code = fail_with(error);
    return code != 0 ? code : written;
}

static int exit_code_of(const ley_error *outcome)
{
    return outcome->status == LEY_CANCELLED ? interrupt_exit_code() : ley_status_exit_code(outcome->status);
}

/* Of all maps, without headers beside them. */
static int64_t bytes_written(const job_run *run)
{
    int64_t bytes = (int64_t)file_size(run->output);
    for (size_t i = 0; i < run->other_count; i++)
        if (run->others[i] != NULL && is_map_name(run->others[i]))
            bytes += (int64_t)file_size(run->others[i]);
    return bytes;
}

void job_frame_put_json(const job_run *run, const ley_error *outcome, json_t *report)
{
    json_put_outcome(report, outcome, exit_code_of(outcome));
    if (!run->computed && run->report == NULL)
        return;
    if (run->kind->put_json != NULL)
        run->kind->put_json(run, report);
    put_sections(run, report);
    json_put(report, "tolerance", run->tolerance > 0 ? json_number(run->tolerance) : json_null());
    const bool has_floor = run->report != NULL && run->report->tolerance_floor > 0;
    json_put(report, "tolerance_floor", has_floor ? json_number(run->report->tolerance_floor) : json_null());
    json_put(report, "missed_rms",
             run->report != NULL ? json_numbers(run->report->missed_rms, run->report->missed_count) : json_array());
    json_put_work(report, run->report);
    json_put(report, "seconds", json_of_phases(&run->phases));
    if (run->output != NULL)
        json_put(report, "bytes_written", run->is_written ? json_count(bytes_written(run)) : json_null());
}

static int write_json(const job_run *run, const ley_error *outcome)
{
    json_t *report = json_begin(run->arguments);
    job_frame_put_json(run, outcome, report);
    return json_finish(report, run->values->json);
}

/* Says how it went; returns the exit code. */
static int conclude(job_run *run, ley_error *error)
{
    const job_values *values = run->values;
    const bool finished = error->status == LEY_OK;
    int code = 0, written = 0;
    progress_clear(&run->progress);
    if (ley_ranks_own() > 0) /* rank 0 tells how it went */
        return finished ? 0 : fail_with(error);
    if (run->is_dry)
        return conclude_dry(run, error);
    if (error->status == LEY_CANCELLED) {
        if (run->keeps_planes && !values->quiet)
            fail_into(error, LEY_CANCELLED, "cancelled: the same command goes on from the planes in %s.checkpoint",
                      run->output);
        if (values->json != NULL)
            write_json(run, error);
        fail_with(error);
        return interrupt_exit_code();
    }
    if (run->report != NULL && (!finished || !values->quiet))
        print_failures(run->report, error);
    if (values->json != NULL)
        written = write_json(run, error);
    if ((finished || run->is_written) && !is_silent(run))
        print_report(run);
    if (!finished)
        code = fail_with(error);
    return code != 0 ? code : written;
}

void job_frame_release(job_run *run)
{
    ley_job_destroy(run->job);
    if (run->lent == NULL)
        ley_engine_destroy(run->engine);
    if (run->kind->end != NULL)
        run->kind->end(run);
    if (run->method->end != NULL && run->input != NULL)
        run->method->end(run->input);
    free(run->input);
    plan_file_release(&run->plan);
}

int job_frame_run(job_run *run)
{
    ley_error error = {0};
    run->phases.start_s = now_s();
    int code = job_frame_check(run);
    if (code == 0) {
        if (run->kind->warn != NULL && !run->values->quiet)
            run->kind->warn(run);
        progress_start(&run->progress, run->values->quiet);
        error.status = prepare(run, &error);
        if (error.status == LEY_OK)
            error.status = run->is_dry ? forecast(run, &error) : compute(run, &error);
        if (error.status == LEY_OK && !run->is_dry)
            error.status = job_frame_write(run, &error);
        code = conclude(run, &error);
    }
    job_frame_release(run);
    return code;
}
