#include "job_batch.h"
#include "console.h"
#include "interrupt.h"
#include "standard_stream.h"

#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- Names ----------------------------------------------------------------------------------- */

/* Of a file's name: "1abc" of "1abc.pqr.gz". A name that is nothing but an ending stays. */
static size_t stem_length(const char *name)
{
    size_t length = strlen(name);
    if (ends_with(name, ".gz"))
        length -= strlen(".gz");
    for (size_t i = length; i-- > 1;)
        if (name[i] == '.')
            return i;
    return length;
}

char *job_batch_output(const char *pattern, const char *molecule)
{
    const char *name = base_name(molecule), *at = pattern, *mark;
    const size_t stem = stem_length(name), mark_length = strlen(JOB_BATCH_MARK);
    size_t marks = 0;
    for (const char *p = pattern; (p = strstr(p, JOB_BATCH_MARK)) != NULL; p += mark_length)
        marks++;
    char *output = allocate(strlen(pattern) + marks * stem + 1, 1), *to = output;
    while ((mark = strstr(at, JOB_BATCH_MARK)) != NULL) {
        to = mempcpy(to, at, (size_t)(mark - at));
        to = mempcpy(to, name, stem);
        at = mark + mark_length;
    }
    strcpy(to, at);
    return output;
}

/* ---- One molecule ---------------------------------------------------------------------------- */

typedef struct one {
    parsed_arguments arguments; /* those of the command, with this molecule */
    char *output;
    job_run *run;
    ley_error error;
} one;

static size_t molecule_count(const job_batch *batch)
{
    return 1 + batch->arguments->word_count;
}

static const char *molecule_at(const job_batch *batch, size_t i)
{
    return i == 0 ? batch->arguments->operand : batch->arguments->words[i - 1];
}

static void one_begin(one *o, const job_batch *batch, size_t i)
{
    *o = (one){.arguments = *batch->arguments};
    o->arguments.operand = molecule_at(batch, i);
    o->output = job_batch_output(batch->output, o->arguments.operand);
    o->run = batch->make(&o->arguments, o->output);
}

static void one_end(one *o)
{
    job_frame_release(o->run);
    free(o->run);
    free(o->output);
    ley_error_clear(&o->error);
}

/* ---- Before the work ------------------------------------------------------------------------- */

static int check_options(const job_batch *batch)
{
    const parsed_arguments *arguments = batch->arguments;
    for (size_t i = 0; batch->refused[i] != NULL; i++)
        if (option_named_given(arguments, batch->refused[i]))
            return fail_usage(arguments->command, "--%s is for one molecule only, and %zu are given", batch->refused[i],
                              molecule_count(batch));
    if (strstr(batch->output, JOB_BATCH_MARK) == NULL)
        return fail_usage(arguments->command,
                          "--output: each of the %zu molecules has a file of its own, so '%s' needs a " JOB_BATCH_MARK
                          ", which stands for the molecule's name",
                          molecule_count(batch), batch->output);
    for (size_t i = 0; i < molecule_count(batch); i++)
        if (input_takes_stdin(molecule_at(batch, i)))
            return fail_usage(arguments->command, "'%s': standard input can hold only one molecule, and %zu are given",
                              molecule_at(batch, i), molecule_count(batch));
    for (size_t i = 0; i < arguments->option_count; i++) {
        const parsed_option *option = &arguments->options[i];
        if (option->given && option->row->kind == OPTION_TEXT && strcmp(option->row->name, "json") != 0 &&
            input_takes_stdin(*(const char *const *)option->value))
            return fail_usage(arguments->command,
                              "--%s: standard input can be read only once, and %zu molecules are given",
                              option->row->name, molecule_count(batch));
    }
    return 0;
}

/* "map of a.pqr" */
static char *what_of(const one *o, const char *product)
{
    const size_t size = strlen(product) + strlen(" of ") + strlen(o->arguments.operand) + 1;
    char *what = allocate(size, 1);
    snprintf(what, size, "%s of %s", product, o->arguments.operand);
    return what;
}

/* Each molecule as if it were alone; and then all files together. */
static int check(const job_batch *batch, bool *wants_devices)
{
    const size_t n = molecule_count(batch);
    enum { MOST_FILES = 3 + JOB_MOST_OTHERS };
    named_file *files = allocate(n * MOST_FILES, sizeof *files);
    char **texts = allocate(2 * n * MOST_FILES, sizeof *texts);
    size_t file_count = 0, text_count = 0;
    int code = check_options(batch);
    for (size_t i = 0; i < n && code == 0; i++) {
        one o;
        one_begin(&o, batch, i);
        code = job_frame_check(o.run);
        *wants_devices = job_frame_wants_devices(o.run);
        const char *made[2 + JOB_MOST_OTHERS] = {o.run->output, o.run->header};
        for (size_t k = 0; k < JOB_MOST_OTHERS && k < o.run->other_count; k++)
            made[2 + k] = o.run->others[k];
        files[file_count++] = (named_file){o.arguments.operand, o.run->kind->operand, NULL};
        for (size_t k = 0; k < sizeof made / sizeof *made; k++)
            if (made[k] != NULL) {
                char *path = texts[text_count++] = strdup(made[k]);
                char *what = texts[text_count++] = what_of(&o, k == 1 ? "header" : o.run->kind->product);
                files[file_count++] = (named_file){path, what, "--output"};
            }
        one_end(&o);
    }
    if (code == 0)
        code = files_check_apart(batch->arguments->command, files, file_count);
    for (size_t i = 0; i < text_count; i++)
        free(texts[i]);
    free(texts);
    free(files);
    return code;
}

/* ---- The work -------------------------------------------------------------------------------- */

/* Values and atoms of a job that others may run beside: their memory on the host and on devices is
 * small, whatever the method has beside them. A larger one has the devices for itself. */
static const int64_t most_beside = INT64_C(1) << 22;

/* Threads that take molecules, a lane each, with an engine of its own. */
typedef struct work {
    const job_batch *batch;
    locale_t locale;
    json_t **reports; /* of each molecule; NULL where nobody wants them */
    double start_s;
    const char *device;
    bool wants_devices, is_silent; /* on standard output */
    bool is_dealt;                 /* among ranks */

    pthread_mutex_t mutex; /* of what follows */
    pthread_cond_t changed;
    size_t next, computing, waiting; /* molecules taken; jobs at work; jobs that wait to be alone */
    bool is_alone;                   /* the job at work lets none beside it */
    bool is_warm; /* a device has computed one: kernels are built and costs measured, for all to find in the cache */
    bool is_over, was_cancelled; /* nothing is left to take; one that was taken has not come to its end */
    bool is_given_up;            /* since the driver does not return, which it would not for others either */
    size_t done, written;
    int code;
    progress_line progress;
} work;

/* The first job runs alone, and so does a large one. */
static void enter(work *w, bool is_large)
{
    pthread_mutex_lock(&w->mutex);
    const bool wants_alone = is_large || !w->is_warm;
    w->waiting += wants_alone;
    while (w->is_alone || (wants_alone ? w->computing > 0 : w->waiting > 0))
        pthread_cond_wait(&w->changed, &w->mutex);
    w->waiting -= wants_alone;
    w->is_alone = wants_alone;
    w->computing++;
    pthread_mutex_unlock(&w->mutex);
}

static void leave(work *w, bool has_computed)
{
    pthread_mutex_lock(&w->mutex);
    w->computing--;
    w->is_alone = false;
    w->is_warm = w->is_warm || has_computed;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->mutex);
}

static bool take(work *w, size_t *i)
{
    pthread_mutex_lock(&w->mutex);
    w->is_over = w->is_over || w->next == molecule_count(w->batch) || interrupt_came();
    if (!w->is_over) {
        *i = w->is_dealt ? (size_t)ley_ranks_take() : w->next;
        w->is_over = *i >= molecule_count(w->batch);
        w->next = w->is_over ? molecule_count(w->batch) : *i + 1;
    }
    const bool is_there = !w->is_over;
    if (!is_there)
        pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->mutex);
    return is_there;
}

static void give_up(work *w)
{
    pthread_mutex_lock(&w->mutex);
    w->is_over = w->is_given_up = true;
    pthread_mutex_unlock(&w->mutex);
}

static ley_status run_one(work *w, one *o, ley_engine **engine)
{
    job_run *run = o->run;
    ley_status status = job_frame_read(run, &o->error);
    if (status != LEY_OK)
        return status;
    run->lent = engine;
    enter(w, w->batch->size(run) > most_beside);
    status = job_frame_compute(run, &o->error);
    leave(w, status == LEY_OK && (run->report == NULL || run->report->host == NULL));
    return status == LEY_OK ? job_frame_write(run, &o->error) : status;
}

/* ---- What is said of it ---------------------------------------------------------------------- */

static void print_one(const one *o)
{
    const job_run *run = o->run;
    printf("%s:", o->arguments.operand);
    if (run->report != NULL) {
        const ley_accuracy *a = &run->report->accuracy;
        printf(" %s, %s, %s", counted_text(run->report->atoms, "atom").s, counted_text(run->report->points, "point").s,
               run->method->option.name);
        putchar(' ');
        run->method->put_medium(run->problem, stdout);
        if (a->compared > 0)
            printf(", relative RMS error %s", relative_text(a->relative_rms).s);
        putchar(',');
    }
    printf(" %s, written: %s\n", seconds_text(now_s() - run->phases.start_s).s, o->output);
}

/* With the molecule's name, which a molecule that cannot be read has in its message already. */
static int fail_one(one *o)
{
    if (o->run->is_told)
        return fail_with(&o->error);
    const char *why = o->error.message[0] != '\0' ? o->error.message : ley_status_text(o->error.status);
    const int code = fail(o->error.status, "%s: %s", o->arguments.operand, why);
    if (o->error.log != NULL)
        fprintf(stderr, "%s\n", o->error.log);
    return code;
}

static json_t *facts_of(const one *o)
{
    json_t *facts = json_object();
    json_put(facts, "file", json_text(o->arguments.operand));
    json_put(facts, "output", json_text(o->output));
    job_frame_put_json(o->run, &o->error, facts);
    return facts;
}

/* Says how it went, as soon as it is known. */
static void conclude_one(work *w, one *o, size_t i)
{
    const job_run *run = o->run;
    pthread_mutex_lock(&w->mutex);
    if (w->reports != NULL)
        w->reports[i] = facts_of(o);
    w->done++;
    w->written += run->is_written;
    progress_clear(&w->progress);
    w->was_cancelled = w->was_cancelled || o->error.status == LEY_CANCELLED;
    if (o->error.status != LEY_CANCELLED) {
        if (run->report != NULL && (o->error.status != LEY_OK || !run->values->quiet))
            print_failures(run->report, &o->error);
        if (run->is_written && !w->is_silent) {
            print_one(o);
            fflush(stdout);
        }
        if (o->error.status != LEY_OK) {
            const int code = fail_one(o);
            w->code = code > w->code ? code : w->code;
        }
    }
    progress_say(&w->progress, text_of("%zu of %zu molecules are done", w->done, molecule_count(w->batch)).s);
    pthread_mutex_unlock(&w->mutex);
}

/* ---- Lanes ----------------------------------------------------------------------------------- */

/* What is opened anew for the next molecule, as a command of its own would. */
static bool is_of_devices(const one *o)
{
    return o->error.status == LEY_ERROR_DEVICE || o->error.status == LEY_ERROR_NO_DEVICE ||
           (o->error.status == LEY_ERROR_WRONG_RESULT && !o->run->computed);
}

static void run_lane(work *w, ley_engine *engine)
{
    for (size_t i; take(w, &i);) {
        one o;
        one_begin(&o, w->batch, i);
        const int code = job_frame_check(o.run); /* the files, which may have changed since */
        if (code == 0)
            o.error.status = run_one(w, &o, &engine);
        else
            fail_into(&o.error, LEY_ERROR_FILE, "%s: its files have changed since the command began",
                      o.arguments.operand);
        const bool has_failed = is_of_devices(&o);
        if (o.error.status == LEY_ERROR_DEVICE && ley_driver_is_stuck())
            give_up(w);
        conclude_one(w, &o, i);
        one_end(&o);
        if (has_failed) {
            ley_engine_destroy(engine);
            engine = NULL;
        }
    }
    ley_engine_destroy(engine);
}

/* Lanes beside the first one begin once it has computed something. One for which no device opens
 * again is not needed. */
static void *run_other_lane(void *context)
{
    work *w = context;
    ley_engine *engine = NULL;
    ley_error error = {0};
    uselocale(w->locale);
    pthread_mutex_lock(&w->mutex);
    while (!w->is_warm && !w->is_over)
        pthread_cond_wait(&w->changed, &w->mutex);
    const bool is_wanted = !w->is_over && w->next < molecule_count(w->batch);
    pthread_mutex_unlock(&w->mutex);
    if (is_wanted && (!w->wants_devices || ley_engine_create(w->device, &engine, &error) == LEY_OK))
        run_lane(w, engine);
    ley_error_clear(&error);
    return NULL;
}

static void run_lanes(work *w)
{
    pthread_t lanes[JOB_BATCH_MOST];
    size_t count = 0, wanted = molecule_count(w->batch);
    wanted = wanted < (size_t)w->batch->side_by_side ? wanted : (size_t)w->batch->side_by_side;
    while (count + 1 < wanted && pthread_create(&lanes[count], NULL, run_other_lane, w) == 0)
        count++;
    run_lane(w, NULL);
    for (size_t i = 0; i < count; i++)
        pthread_join(lanes[i], NULL);
}

/* ---- The whole ------------------------------------------------------------------------------- */

static int write_report(const work *w, const job_values *values, double seconds)
{
    const size_t n = molecule_count(w->batch);
    json_t *report = json_begin(w->batch->arguments), *names = json_array(), *molecules = json_array();
    for (size_t i = 0; i < n; i++) {
        json_add(names, json_text(molecule_at(w->batch, i)));
        if (w->reports[i] != NULL) /* else it was not begun */
            json_add(molecules, w->reports[i]);
    }
    json_put(report, "operand", names);
    json_put(report, "exit_code", json_count(w->code));
    json_put(report, "molecules", molecules);
    json_put(report, "written", json_count((int64_t)w->written));
    json_put(report, "seconds", json_number(seconds));
    json_put(report, "molecules_per_s", json_number((double)w->written / seconds));
    return json_finish(report, values->json);
}

static int conclude(work *w, const job_values *values)
{
    const double seconds = now_s() - w->start_s;
    const size_t n = molecule_count(w->batch), left = n - w->next;
    int written = 0;
    progress_clear(&w->progress);
    const bool is_cancelled = w->was_cancelled || (left > 0 && !w->is_given_up);
    if (is_cancelled)
        w->code = interrupt_exit_code();
    if (values->json != NULL)
        written = write_report(w, values, seconds);
    if (is_cancelled) {
        fail(LEY_CANCELLED, "cancelled: %zu of %zu molecules are written", w->written, n);
        return w->code;
    }
    if (!w->is_silent)
        printf("molecules: %zu of %zu written in %s, %.3g per second\n", w->written, n, seconds_text(seconds).s,
               (double)w->written / seconds);
    if (left > 0)
        fail(LEY_ERROR_DEVICE, "the driver does not return: %zu of %zu molecules were not begun", left, n);
    return w->code > written ? w->code : written;
}

/* Reports of molecules that other ranks have computed. */
static void take_reports(work *w, int from)
{
    char *own = NULL;
    for (size_t i = 0; i < molecule_count(w->batch); i++) {
        own = w->reports[i] != NULL && ley_ranks_own() == from ? json_dumps(w->reports[i], JSON_REAL_PRECISION(17))
                                                               : NULL;
        char *text = ley_ranks_text(from, own);
        if (text != NULL && w->reports[i] == NULL)
            w->reports[i] = json_loads(text, 0, NULL);
        free(text);
        free(own);
    }
}

/* What all ranks have done together, on rank 0. */
static void join_ranks(work *w)
{
    w->written = (size_t)ley_ranks_sum((int64_t)w->written);
    w->code = (int)ley_ranks_most(w->code);
    w->is_given_up = ley_ranks_most(w->is_given_up) > 0;
    for (int r = 1; r < ley_ranks_count() && w->reports != NULL; r++)
        take_reports(w, r);
}

int job_batch_run(const job_batch *batch)
{
    const job_values *values = option_values(batch->arguments, &job_options);
    bool wants_devices = false;
    int code = check(batch, &wants_devices);
    if (code != 0)
        return code;
    work w = {.batch = batch,
              .locale = uselocale((locale_t)0),
              .start_s = now_s(),
              .device = values->device,
              .wants_devices = wants_devices,
              .is_dealt = ley_ranks_count() > 1,
              .is_silent = values->quiet || json_takes_stdout(values->json)};
    if (values->json != NULL)
        w.reports = allocate(molecule_count(batch), sizeof *w.reports);
    pthread_mutex_init(&w.mutex, NULL);
    pthread_cond_init(&w.changed, NULL);
    progress_start(&w.progress, values->quiet);
    ley_ranks_part(true);
    run_lanes(&w);
    ley_ranks_part(false);
    join_ranks(&w);
    progress_clear(&w.progress);
    code = ley_ranks_own() == 0 ? conclude(&w, values) : 0;
    pthread_cond_destroy(&w.changed);
    pthread_mutex_destroy(&w.mutex);
    free(w.reports);
    return code;
}
