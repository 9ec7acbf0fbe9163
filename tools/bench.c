/* leyden bench: a screen to quote; and every kernel variant on every device, against that device's
 * own measured limits. */
#include "bench_all.h"
#include "bench_compare.h"
#include "bench_csv.h"
#include "bench_html.h"
#include "bench_json.h"
#include "bench_markdown.h"
#include "bench_row.h"
#include "bench_screen.h"
#include "bench_text.h"
#include "bench_view.h"
#include "console.h"
#include "file.h"
#include "interrupt.h"
#include "private_folder.h"
#include "progress.h"
#include "registry.h"
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const bench_row *bench_at(size_t i)
{
    const method_row *const *row = method_table;
    while (*row != NULL && ((*row)->bench == NULL || i-- > 0))
        row++;
    if (*row != NULL)
        return (*row)->bench;
    const bench_row *const *other = other_benches;
    while (*other != NULL && i-- > 0)
        other++;
    return *other;
}

/* Options, before and behind those of methods. */
typedef struct bench_values {
    const char *device;
    ley_run_options run;
    int method;
    int64_t dims[3], atoms;
    bool frontier, gain;
} bench_values;

typedef struct report_values {
    const char *json, *csv, *markdown, *html, *compare;
    bool fail;
    int64_t repeats;
    bool quiet;
} report_values;

static const char *const bench_sum_names[] = {
    [LEY_SUM_FLOAT] = "float", [LEY_SUM_COMPENSATED] = "compensated", [LEY_SUM_DOUBLE] = "double", NULL};
CHOICES_ARE(bench_sum_names, LEY_SUM_AUTO); /* the last one, which is of jobs only */

static const option_row bench_options[] = {
    {.name = "kernel",
     .kind = OPTION_METHOD,
     .offset = offsetof(bench_values, method),
     .value = "KERNEL",
     .between = "; ",
     .help = "what to measure; %s"},
    {.name = "frontier",
     .kind = OPTION_FLAG,
     .offset = offsetof(bench_values, frontier),
     .method = "frontier",
     .help = "the same as --kernel frontier: error against time"},
    {.name = "gain",
     .kind = OPTION_FLAG,
     .offset = offsetof(bench_values, gain),
     .method = "gain",
     .help = "the same as --kernel gain: several devices against one"},
    OPTION_ROW_DEVICE(bench_values, ""),
    {OPTION_OF(ley_run_options, "math", bench_values, run)},
    {OPTION_OF(ley_run_options, "sum", bench_values, run), .choices = bench_sum_names,
     .help = "type of the terms and the sum, compensated being float terms in Kahan's sum"},
    {OPTION_OF(ley_run_options, "variant", bench_values, run), .unset = "all", .help = "this kernel variant only"},
    {.name = "dims",
     .kind = OPTION_INTEGER,
     .offset = offsetof(bench_values, dims),
     .count = 3,
     .value = "NX,NY,NZ",
     .low = 1,
     .high = INT32_MAX,
     .unset = "by the device's speed",
     .help = "grid points of the test problem; of cutoff, msm, frontier, lattice and ions they follow from the atoms"},
    {.name = "atoms",
     .kind = OPTION_INTEGER,
     .offset = offsetof(bench_values, atoms),
     .value = "N",
     .low = 1,
     .high = INT32_MAX,
     .unset = "by the device's speed",
     .help = "atoms of the test problem; with --kernel all, those of the screen's box, which then gets no score"},
};

static void set_defaults(void *to)
{
    bench_values *values = to;
    ley_bench_options options;
    ley_bench_options_default(&options);
    for (size_t i = 0; bench_at(i) != NULL; i++)
        values->method = bench_at(i) == &all_bench ? (int)i : values->method;
    values->run.math = options.math;
    values->run.sum = options.sum;
}

#define OUTPUT_ROW(of, says) \
    { \
        .name = #of, .kind = OPTION_TEXT, .offset = offsetof(report_values, of), .value = "FILE", .unset = "none", \
        .help = says \
    }

static const option_row report_rows[] = {
    {.name = "repeats",
     .kind = OPTION_INTEGER,
     .offset = offsetof(report_values, repeats),
     .value = "N",
     .low = 1,
     .high = 1000,
     .help = "timed launches per variant; their median counts"},
    OPTION_ROW_JSON(report_values),
    OUTPUT_ROW(csv, "write a line for each row that was measured"),
    OUTPUT_ROW(markdown, "write tables in Markdown; - is standard output"),
    OUTPUT_ROW(html,
               "write one page with tables and charts that needs nothing else: for a browser, a phone, a printer"),
    {.name = "compare",
     .kind = OPTION_TEXT,
     .offset = offsetof(report_values, compare),
     .value = "OLD.json",
     .unset = "none",
     .help =
         "put the devices of this report of an earlier run beside those of the other reports, or of this run; for two "
         "reports, print what is faster or slower than in it by more than the noise: 3 %, half of both spreads "
         "together (more for fewer than eight launches, 50 % for one), or the delay that other programs can have "
         "caused"},
    {.name = "fail",
     .kind = OPTION_FLAG,
     .offset = offsetof(report_values, fail),
     .help = "--compare: exit code 5 where anything is slower or less accurate, wrong or failed where it was right, or "
             "missing although both runs were asked for the same"},
    OPTION_ROW_QUIET(report_values),
};

static void set_report_defaults(void *to)
{
    ley_bench_options options;
    ley_bench_options_default(&options);
    ((report_values *)to)->repeats = options.repeats;
}

static const option_block report_options = OPTION_BLOCK(report_rows, report_values, set_report_defaults);

/* ---- Methods --------------------------------------------------------------------------------- */

static const option_method *method_at(size_t i)
{
    const bench_row *row = bench_at(i);
    return row != NULL ? &row->option : NULL;
}

static const bench_row *bench_of(const parsed_arguments *arguments)
{
    const bench_values *values = arguments->values;
    return bench_at((size_t)values->method);
}

/* ---- The work -------------------------------------------------------------------------------- */

typedef struct row_counter {
    progress_line progress;
    const char *part; /* NULL: there is only one */
    int rows;
} row_counter;

static void row_done(void *context)
{
    row_counter *counter = context;
    counter->rows++;
    progress_say(&counter->progress,
                 text_of("%s%s%d variant%s measured", counter->part != NULL ? counter->part : "",
                         counter->part != NULL ? ": " : "", counter->rows, counter->rows == 1 ? "" : "s")
                     .s);
}

static void part_begun(void *context, const char *part)
{
    row_counter *counter = context;
    counter->part = part;
    counter->rows = 0;
    progress_say(&counter->progress, part);
}

static ley_bench_options options_of(const parsed_arguments *arguments, row_counter *counter)
{
    const bench_values *values = arguments->values;
    const report_values *report = option_values(arguments, &report_options);
    const bench_row *method = bench_of(arguments);
    ley_bench_options options;
    ley_bench_options_default(&options);
    memcpy(options.n, values->dims, sizeof options.n);
    options.method = method->option.name;
    if (method->set != NULL)
        method->set(arguments, &options);
    options.atoms = values->atoms;
    options.repeats = (int)report->repeats;
    options.math = values->run.math;
    options.sum = values->run.sum;
    options.variant = values->run.variant;
    options.row_done = row_done;
    options.context = counter;
    options.cancel = interrupt_flag();
    return options;
}

static ley_status measure_one(const parsed_arguments *arguments, ley_engine *engine, const ley_bench_options *options,
                              bench_results *results, ley_error *error)
{
    const double start_s = now_s();
    bench_part *part = &results->parts[0];
    const char *sizes = bench_of(arguments)->sizes;
    *part = (bench_part){.name = options->linear && sizes != NULL ? sizes : options->method,
                         .title = options->method,
                         .method = bench_of(arguments),
                         .math = MATH_NAME(options->math)};
    const ley_status status = ley_bench_run(engine, options, &part->bench, error);
    results->count = status == LEY_OK;
    results->took_s = now_s() - start_s;
    return status;
}

/* Where files are made. All the rest is measured without one, too. */
static ley_status make_folder(const parsed_arguments *arguments, private_folder *folder, ley_error *error)
{
    const bench_row *method = bench_of(arguments);
    if (!method->needs_folder)
        return LEY_OK;
    const ley_status status = private_folder_create(folder, bench_folder_of(arguments), error);
    if (status == LEY_OK || method != &all_bench)
        return status;
    warn("files are not measured: %s", error->message);
    ley_error_clear(error);
    return LEY_OK;
}

static ley_status measure(const parsed_arguments *arguments, row_counter *counter, private_folder *folder,
                          ley_engine **engine, bench_results *results, ley_error *error)
{
    const bench_values *values = arguments->values;
    const report_values *how = option_values(arguments, &report_options);
    ley_bench_options options = options_of(arguments, counter);
    progress_say(&counter->progress, "opening the devices");
    ley_status status = ley_engine_create(values->device, engine, error);
    if (status != LEY_OK)
        return status;
    const bool is_full = bench_is_full(arguments);
    if (bench_of(arguments) == &all_bench && !how->quiet) {
        progress_clear(&counter->progress);
        bench_all_announce(is_full, ley_engine_device_count(*engine));
    }
    progress_say(&counter->progress, "measuring the limits");
    interrupt_defer();
    status = make_folder(arguments, folder, error);
    if (status != LEY_OK)
        return status;
    options.folder = folder->path;
    return bench_of(arguments) == &all_bench ? bench_all_run(*engine, &options, is_full, part_begun, results, error)
                                             : measure_one(arguments, *engine, &options, results, error);
}

/* ---- The report ------------------------------------------------------------------------------ */

/* What papers have measured of the same, beside the device that the report has there. */
static void print_papers(const json_t *made, size_t part, size_t device)
{
    const json_t *of = json_array_get(json_object_get(made, "tables"), part);
    text_table table = bench_view_papers(of, json_array_get(json_object_get(of, "devices"), device));
    if (table.rows > 1) {
        const short_text scale = bench_view_scale(json_array_get(json_object_get(of, "devices"), device));
        printf("\n%s%s", scale.s, scale.s[0] != '\0' ? "\n" : "");
        table_print(&table);
    } else {
        table_release(&table);
    }
}

/* What all devices gain together. */
static void print_gains(const json_t *made, size_t part)
{
    text_table table = bench_view_gains(json_array_get(json_object_get(made, "tables"), part));
    if (table.rows > 1) {
        putchar('\n');
        table_print(&table);
    } else {
        table_release(&table);
    }
}

/* Of the screen and the papers' tables the screen stands first, and has parts of its own. */
static void print_parts(const bench_results *results, const json_t *made)
{
    bench_screen_print(made);
    if (results->level != NULL && !results->is_full)
        return;
    for (size_t i = 0; i < results->count; i++) {
        const bench_part *part = &results->parts[i];
        if (results->level != NULL)
            printf("\n---- %s\n\n", part->title);
        for (size_t d = 0; d < ley_bench_device_count(part->bench); d++) {
            if (d > 0)
                putchar('\n');
            bench_print_device(part->method, ley_bench_get(part->bench, d));
            if (results->level != NULL)
                print_papers(made, i, d);
        }
        print_gains(made, i);
    }
    if (results->left_out[0] != '\0')
        printf("\nleft out, as the time was over: %s\n", results->left_out);
    const char *source;
    for (size_t i = 0; results->level != NULL && (source = bench_view_source(made, i)) != NULL; i++)
        printf("%s%s\n", i == 0 ? "\nThe papers; ~ is scaled to the size of their problem:\n" : "", source);
}

/* What others took of the processors makes figures lower than they are on a quiet machine. */
static void warn_of_load(const bench_results *results)
{
    static const double most_share = 0.1;
    double others = 0;
    int processors = 0;
    for (size_t i = 0; i < results->count; i++)
        for (size_t d = 0; d < ley_bench_device_count(results->parts[i].bench); d++) {
            const ley_bench_load *load = &ley_bench_get(results->parts[i].bench, d)->load;
            others = fmax(others, load->others);
            processors = load->processors;
        }
    if (others > most_share * processors)
        warn("other programs kept up to %.1f of %d processors busy: figures are lower than on a quiet machine", others,
             processors);
}

static const char *reason_of_nothing(const bench_results *results)
{
    const ley_bench_row *row = NULL;
    for (size_t i = 0; i < results->count && row == NULL; i++)
        row = bench_nothing_measured(results->parts[i].bench);
    return row != NULL ? bench_why_absent(row) : "";
}

/* The files that are made of reports. Prints errors; exit code. */
static int write_files(const report_values *values, const json_t *reports)
{
    int code = 0;
    if (values->csv != NULL)
        code = bench_csv_write(reports, values->csv);
    if (code == 0 && values->markdown != NULL)
        code = bench_markdown_write(reports, values->markdown);
    if (code == 0 && values->html != NULL)
        code = bench_html_write(reports, values->html);
    return code;
}

/* What is made of a new report: files, and what is compared with it. Releases it. Prints errors;
 * exit code. */
static int write_outputs(const parsed_arguments *arguments, json_t *report)
{
    const report_values *values = option_values(arguments, &report_options);
    json_t *reports = json_array();
    json_add(reports, json_incref(report));
    int code = write_files(values, reports);
    if (code == 0 && values->compare != NULL) {
        json_t *old = bench_json_read(values->compare, &code);
        if (old != NULL) {
            json_add(reports, old);
            bench_screen_print_sides(reports);
            code = bench_compare(values->compare, old, report, values->fail);
        }
    }
    json_decref(reports);
    if (values->json != NULL && (code == 0 || values->fail)) {
        const int written = json_finish(report, values->json);
        return code != 0 ? code : written;
    }
    json_decref(report);
    return code;
}

static int report(const parsed_arguments *arguments, const bench_results *results, const char *picture)
{
    const report_values *values = option_values(arguments, &report_options);
    const ley_status outcome = bench_results_verdict(results);
    json_t *made = bench_json_make(arguments, results, outcome);
    if (!values->quiet && !json_takes_stdout(values->json) && !json_takes_stdout(values->markdown))
        print_parts(results, made);
    if (results->level == NULL) /* the screen has its own remark */
        warn_of_load(results);
    int written = write_outputs(arguments, made);
    if (written == 0 && picture != NULL)
        written = bench_of(arguments)->draw(results->parts[0].bench, picture);
    if (outcome == LEY_ERROR_WRONG_RESULT)
        return fail(outcome, "a variant computes wrong results");
    if (outcome == LEY_ERROR_NO_DEVICE)
        return fail(outcome, "nothing was measured: %s", reason_of_nothing(results));
    if (outcome != LEY_OK)
        return fail(outcome, "a device or a variant failed");
    return written;
}

/* ---- Reports of earlier runs -------------------------------------------------------------- */

/* Of earlier runs only what is made of their reports means anything. Prints errors; exit code. */
static int check_earlier(const parsed_arguments *arguments)
{
    if (!ends_with(arguments->operand, ".json") && access(arguments->operand, F_OK) != 0)
        return fail_usage(arguments->command,
                          "'%s' is no report of an earlier run, REPORT.json; --kernel chooses what is measured, as in: "
                          "leyden bench --kernel dcs",
                          arguments->operand);
    static const char *const meant[] = {"csv", "markdown", "html", "compare", "fail", "quiet", NULL};
    for (size_t i = 0; i < arguments->option_count; i++) {
        const parsed_option *option = &arguments->options[i];
        bool is_meant = !option->given;
        for (const char *const *name = meant; *name != NULL; name++)
            is_meant = is_meant || strcmp(option->row->name, *name) == 0;
        if (!is_meant)
            return fail_usage(arguments->command, "--%s is not for the report of an earlier run, '%s'",
                              option->row->name, arguments->operand);
    }
    return 0;
}

/* That of --compare is the first one. NULL: prints errors, and *code is the exit code. */
static json_t *read_earlier(const parsed_arguments *arguments, int *code)
{
    const report_values *values = option_values(arguments, &report_options);
    json_t *reports = json_array();
    for (size_t i = 0; i < arguments->word_count + 2 && *code == 0; i++) {
        const char *path = i == 0 ? values->compare : i == 1 ? arguments->operand : arguments->words[i - 2];
        json_t *report = path != NULL ? bench_json_read(path, code) : NULL;
        if (report != NULL)
            json_add(reports, report);
    }
    if (*code == 0)
        return reports;
    json_decref(reports);
    return NULL;
}

/* One is printed as Markdown, several beside each other; of two it is told what has moved. */
static int print_earlier(const parsed_arguments *arguments, const json_t *reports)
{
    const report_values *values = option_values(arguments, &report_options);
    const bool has_files = values->csv != NULL || values->markdown != NULL || values->html != NULL;
    const size_t count = json_array_size(reports);
    if (count == 1)
        return has_files || values->quiet ? 0 : bench_markdown_write(reports, "-");
    if (!json_takes_stdout(values->markdown) && !values->quiet)
        bench_screen_print_sides(reports);
    return values->compare != NULL && count == 2
               ? bench_compare(values->compare, json_array_get(reports, 0), json_array_get(reports, 1), values->fail)
               : 0;
}

static int use_earlier(const parsed_arguments *arguments)
{
    const report_values *values = option_values(arguments, &report_options);
    int code = check_earlier(arguments);
    json_t *reports = code == 0 ? read_earlier(arguments, &code) : NULL;
    if (reports == NULL)
        return code;
    code = write_files(values, reports);
    if (code == 0)
        code = print_earlier(arguments, reports);
    json_decref(reports);
    return code;
}

/* ---------------------------------------------------------------------------------------------- */

/* Whether all that is asked for means something to this kernel. Prints errors; exit code. */
static int check_options(const parsed_arguments *arguments)
{
    const bench_values *values = arguments->values;
    const report_values *how = option_values(arguments, &report_options);
    const bench_row *method = bench_of(arguments);
    int code = check_method_options(arguments, &method->option);
    if (code == 0 && method->check != NULL)
        code = method->check(arguments);
    for (const bench_refusal *r = method->not_its; code == 0 && r->option != NULL; r++)
        if (option_named_given(arguments, r->option))
            code = fail_usage(arguments->command, "--%s is not for --kernel %s: %s", r->option, method->option.name,
                              r->why);
    if (code == 0 && how->fail && how->compare == NULL)
        code = fail_usage(arguments->command, "--fail needs --compare");
    if (code == 0 && how->fail && arguments->word_count > 0)
        code = fail_usage(arguments->command, "--fail compares two reports: that of --compare and one more");
    if (code == 0 && json_takes_stdout(how->json) && (json_takes_stdout(how->markdown) || how->compare != NULL))
        code = fail_usage(arguments->command, "--json -: standard output cannot take --%s, too",
                          how->compare != NULL ? "compare" : "markdown");
    return code == 0 && method != &all_bench
               ? check_variant(arguments->command, method->option.name, LEY_TARGET_GRID, values->run.variant)
               : code;
}

static int check_files(const parsed_arguments *arguments, const char *picture)
{
    const report_values *how = option_values(arguments, &report_options);
    const named_file named[] = {
        {arguments->operand, "earlier report", NULL},
        {how->compare, "report that is compared with", NULL},
        {picture, "picture", "--output"},
        {how->json, "report", "--json"},
        {how->csv, "table", "--csv"},
        {json_takes_stdout(how->markdown) ? NULL : how->markdown, "Markdown tables", "--markdown"},
        {how->html, "page", "--html"}};
    enum { NAMED = sizeof named / sizeof *named };
    named_file *files = allocate(NAMED + arguments->word_count, sizeof *files);
    memcpy(files, named, sizeof named);
    for (size_t i = 0; i < arguments->word_count; i++)
        files[NAMED + i] = (named_file){arguments->words[i], "earlier report", NULL};
    const int code = files_check(arguments->command, files, NAMED + arguments->word_count);
    free(files);
    return code;
}

/* One that cannot be read is told before anything is measured. */
static int check_old(const char *path)
{
    int code = 0;
    json_t *old = path != NULL ? bench_json_read(path, &code) : NULL;
    json_decref(old);
    return code;
}

static int bench_run(const parsed_arguments *arguments)
{
    row_counter counter = {.rows = 0};
    ley_engine *engine = NULL;
    bench_results results = {.count = 0};
    private_folder folder = {.path = NULL};
    ley_error error = {0};
    const report_values *how = option_values(arguments, &report_options);
    const bench_row *method = bench_of(arguments);
    const char *picture = method->picture != NULL ? method->picture(arguments) : NULL;
    int code = check_options(arguments);
    if (code == 0)
        code = check_files(arguments, picture);
    if (code == 0)
        code = check_old(how->compare);
    if (code == 0 && arguments->operand != NULL)
        return use_earlier(arguments);
    if (code != 0)
        return code;
    progress_start(&counter.progress, how->quiet);
    ley_status status = measure(arguments, &counter, &folder, &engine, &results, &error);
    private_folder_remove(&folder);
    progress_clear(&counter.progress);
    if (status == LEY_OK && interrupt_came())
        fail(status = LEY_CANCELLED, "cancelled");
    else if (status == LEY_OK)
        code = report(arguments, &results, picture);
    else
        code = fail_with(&error);
    if (status == LEY_CANCELLED)
        code = interrupt_exit_code();
    bench_results_end(&results);
    ley_engine_destroy(engine);
    return code;
}

static const option_block *const shared[] = {&report_options, NULL};

const subcommand bench_command = {
    .name = "bench",
    .summary = "Measure devices: one screen to quote, or kernel variants against the device's limits.",
    .examples = {"leyden bench", "leyden bench --device all --full --json new.json"},
    .operand = "[REPORT.json]",
    .operand_help = "the report of an earlier run (--json), to be printed, or written by --markdown, --html, --csv or "
                    "--compare; nothing is measured then",
    .is_operand_open = true,
    .words = "MORE.json",
    .words_help = "more reports, whose devices are put side by side",
    .details =
        "Without options a screen is measured, in 20 s on two quiet cores: direct sums, sums within a cutoff, a map to "
        "1e-4 of a box of water, a Debye-Hueckel boundary, and the whole command from a file of atoms to a file of a "
        "map; on all "
        "devices of the same input. The score is the geometric mean of how many times as fast these five are as on a "
        "machine that is named beside it. "
        "Figures are medians of launches that are timed one by one; 'timed' says how many, 'spread' is (slowest - "
        "fastest) / median, and '-' stands where there was one. Launches end early where they take long, not before "
        "there are three unless these take very long. "
        "Rates are atom-point pairs per second in the kernel, of cutoff those within the cutoff; 'hits' are these "
        "as part of all that are computed. "
        "The limits are the device's rates of reciprocal square roots and of fused multiply-adds, of cutoff "
        "also of bytes from local memory, of fft of bytes of the device's memory, measured in the same run. "
        "Of lattice a pair is two nodes whose weight is not 0, on all levels. "
        "Of msm each step of a job is a row: arithmetic and bytes are the least that it takes, and what it took is "
        "held against what the device's rate of multiply-adds and its memory would take for these. "
        "Of frontier each tolerance is a row, with what is chosen for it, and direct summation is the last one: "
        "where it would take long, it is made of some of the map's planes, and its seconds are scaled (~). "
        "Of fft, rates are values of the grid there and back per second; libraries are "
        "prepared without what the build cache keeps of them, and again with it. "
        "Of io a row is a file, and rates are bytes of it per second: what was just written is read from the system's "
        "memory; 'synced' and 'uncached' are plain files that have no help of it. "
        "Of average and series, rates are frames per second, from the host's memory; of ions each step is a row, timed "
        "by the clock.",
    .options = OPTION_BLOCK(bench_options, bench_values, set_defaults),
    .method = method_at,
    .shared = shared,
    .run = bench_run,
};
