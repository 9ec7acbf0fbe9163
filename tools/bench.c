/* leyden bench: every kernel variant on every device, against that device's own measured limits. */
#include "commands.h"
#include "console.h"
#include "file.h"
#include "interrupt.h"
#include "json.h"
#include "progress.h"
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct bench_values {
    const char *device, *variant, *json;
    int kernel, math, sum;
    int64_t dims[3], atoms, points, repeats;
    double salt, cutoff;
    bool linear, quiet;
} bench_values;

static const char *const kernel_names[] = {"dcs", "mdh", "cutoff", NULL};

static const char *const bench_sum_names[] = {
    [LEY_SUM_FLOAT] = "float", [LEY_SUM_COMPENSATED] = "compensated", [LEY_SUM_DOUBLE] = "double", NULL};

static const option_row bench_options[] = {
    {.name = "kernel",
     .kind = OPTION_CHOICE,
     .offset = offsetof(bench_values, kernel),
     .value = "KERNEL",
     .choices = kernel_names,
     .help = "whose variants: dcs is direct Coulomb summation, mdh Multiple Debye-Hueckel boundary values, cutoff the "
             "short-range part of "
             "multilevel summation (taylor2) of a box of water, at 0.5 A"},
    OPTION_ROW_DEVICE(bench_values),
    OPTION_ROW_MATH(bench_values),
    {.name = "sum",
     .kind = OPTION_CHOICE,
     .offset = offsetof(bench_values, sum),
     .value = "TYPE",
     .choices = bench_sum_names,
     .help = "type of the terms and the sum, compensated being float terms in Kahan's sum"},
    {.name = "variant",
     .kind = OPTION_TEXT,
     .offset = offsetof(bench_values, variant),
     .value = "NAME",
     .unset = "all",
     .help = "this kernel variant only"},
    {.name = "dims",
     .kind = OPTION_INTEGER,
     .offset = offsetof(bench_values, dims),
     .count = 3,
     .value = "NX,NY,NZ",
     .low = 1,
     .high = INT32_MAX,
     .unset = "by the device's speed",
     .help = "lattice points of the test problem; cutoff: they follow from the atoms"},
    {.name = "atoms",
     .kind = OPTION_INTEGER,
     .offset = offsetof(bench_values, atoms),
     .value = "N",
     .low = 1,
     .high = INT32_MAX,
     .unset = "by the device's speed",
     .help = "atoms of the test problem"},
    {.name = "points",
     .kind = OPTION_INTEGER,
     .offset = offsetof(bench_values, points),
     .value = "N",
     .low = 1,
     .high = INT32_MAX,
     .unset = "the faces of a lattice",
     .help = "mdh: points of a list"},
    {.name = "salt",
     .kind = OPTION_REAL,
     .offset = offsetof(bench_values, salt),
     .value = "M",
     .low = 0,
     .high = 1000,
     .help = "mdh: concentration of a 1:1 salt in mol/l; 0: no screening"},
    {.name = "cutoff",
     .kind = OPTION_REAL,
     .offset = offsetof(bench_values, cutoff),
     .value = "A",
     .low = 0.1,
     .high = 1e4,
     .unset = "12",
     .help = "cutoff: distance in A beyond which no pair counts"},
    {.name = "linear",
     .kind = OPTION_FLAG,
     .offset = offsetof(bench_values, linear),
     .help = "cutoff: one variant (--variant, or the default) on ever larger boxes, of up to --atoms; the power of the "
             "number of atoms that its "
             "seconds grow with"},
    {.name = "repeats",
     .kind = OPTION_INTEGER,
     .offset = offsetof(bench_values, repeats),
     .value = "N",
     .low = 1,
     .high = 1000,
     .help = "timed launches per variant; their median counts"},
    OPTION_ROW_JSON(bench_values),
    OPTION_ROW_QUIET(bench_values),
};

static void set_defaults(void *to)
{
    bench_values *values = to;
    ley_bench_options options;
    ley_bench_options_default(&options);
    values->math = (int)options.math;
    values->sum = (int)options.sum;
    values->repeats = options.repeats;
    values->salt = options.salt_M;
}

/* ---- Verdicts -------------------------------------------------------------------------------- */

static bool is_wrong(const ley_bench_row *row)
{
    return row->status == LEY_ERROR_WRONG_RESULT ||
           (row->status == LEY_OK && row->accuracy.points > 0 && !row->accuracy.passed);
}

/* A device need not be able to do every variant. */
static bool is_absent(const ley_bench_row *row)
{
    return row->status == LEY_ERROR_NO_DEVICE;
}

static bool is_failed(const ley_bench_row *row)
{
    return row->status != LEY_OK && !is_wrong(row) && !is_absent(row);
}

/* 5 when anything is wrong, else 4 when anything failed. */
static ley_status verdict(const ley_bench *bench)
{
    bool wrong = false, failed = false;
    for (size_t d = 0; d < ley_bench_device_count(bench); d++) {
        const ley_bench_device *device = ley_bench_get(bench, d);
        wrong = wrong || device->status == LEY_ERROR_WRONG_RESULT;
        failed = failed || device->status != LEY_OK;
        for (size_t i = 0; i < device->row_count; i++) {
            wrong = wrong || is_wrong(&device->rows[i]);
            failed = failed || is_failed(&device->rows[i]);
        }
        for (size_t i = 0; i < device->size_count; i++)
            wrong = wrong || !device->sizes[i].accuracy.passed;
    }
    return wrong ? LEY_ERROR_WRONG_RESULT : failed ? LEY_ERROR_DEVICE : LEY_OK;
}

/* ---- The tables ------------------------------------------------------------------------------ */

static bool is_cutoff(const ley_bench_device *device)
{
    return device->cutoff_A > 0;
}

/* The variant that the others are compared with: the papers' first kernel. */
static double simple_rate(const ley_bench_device *device)
{
    const char *simple = is_cutoff(device) ? "bins" : "simple";
    for (size_t i = 0; i < device->row_count; i++)
        if (device->rows[i].status == LEY_OK && !is_wrong(&device->rows[i]) &&
            strcmp(device->rows[i].variant, simple) == 0)
            return device->rows[i].evaluations_per_s;
    return 0;
}

static short_text rate_text(double per_s)
{
    short_text rate = billions_text(per_s);
    char *unit = strstr(rate.s, " billion");
    if (unit != NULL)
        *unit = '\0';
    return rate;
}

static short_text ratio_text(double rate, double simple)
{
    return simple > 0 ? text_of(rate < 0.1 * simple ? "%.2g" : "%.2f", rate / simple) : text_of("-");
}

/* Starts a row: its names, its error, and why there is no rate where there is none; whether there
 * is one. */
static bool begin_row(text_table *table, const ley_bench_row *row, size_t rate_column, size_t error_column)
{
    table_row(table);
    table_set(table, 0, "%s%s", row->variant, row->is_default ? " *" : "");
    table_set(table, 1, "%s%s%s", row->root != NULL ? row->root : "-", row->exp != NULL ? ", " : "",
              row->exp != NULL ? row->exp : "");
    if (row->accuracy.points > 0)
        table_set(table, error_column, "%.2g", row->accuracy.relative_rms);
    if (is_wrong(row)) {
        table_set(table, rate_column, "WRONG");
        if (row->accuracy.points > 0)
            table_note(table, "WRONG: an error of %.2g of the absolute terms, at most %.2g is allowed",
                       row->accuracy.max_error, row->accuracy.tolerance);
        else
            table_note(table, "WRONG: %s", row->failure != NULL ? row->failure : ley_status_text(row->status));
    } else if (is_absent(row)) {
        table_set(table, rate_column, "-");
        table_note(table, "not on this device%s%s", row->failure != NULL ? ": " : "",
                   row->failure != NULL ? row->failure : "");
    } else if (is_failed(row)) {
        table_set(table, rate_column, "failed");
        table_note(table, "failed: %s", row->failure != NULL ? row->failure : ley_status_text(row->status));
    } else
        return true;
    return false;
}

static void add_row(text_table *table, const ley_bench_device *device, const ley_bench_row *row)
{
    if (begin_row(table, row, 2, 7)) {
        table_set(table, 2, "%s", rate_text(row->evaluations_per_s).s);
        table_set(table, 3, "%.1f", 100 * row->spread);
        table_set(table, 4, "%s", ratio_text(row->evaluations_per_s, simple_rate(device)).s);
        table_set(table, 5, "%.1f", 100 * row->root_share);
        table_set(table, 6, "%.1f", 100 * row->fma_share);
    }
}

static void add_cutoff_row(text_table *table, const ley_bench_device *device, const ley_bench_row *row)
{
    if (!begin_row(table, row, 3, 10))
        return;
    table_set(table, 2, "%.3g", row->kernel_s);
    table_set(table, 3, "%s", rate_text(row->evaluations_per_s).s);
    table_set(table, 4, "%.1f", 100 * row->spread);
    table_set(table, 5, "%s", ratio_text(row->evaluations_per_s, simple_rate(device)).s);
    table_set(table, 6, "%.1f", 100 * row->hit_rate);
    table_set(table, 7, "%.1f", 100 * row->root_share);
    table_set(table, 8, "%.1f", 100 * row->fma_share);
    table_set(table, 9, "%s", row->local_share > 0 ? text_of("%.1f", 100 * row->local_share).s : "-");
}

static void add_host_loop(text_table *table, const ley_bench_device *device, size_t rate_column, size_t ratio_column)
{
    if (!(device->host_loop_evaluations_per_s > 0))
        return;
    table_row(table);
    table_set(table, 0, "host C loop");
    table_set(table, 1, "%s, %d thread%s", device->host_loop != NULL ? device->host_loop : "C", device->host_threads,
              device->host_threads == 1 ? "" : "s");
    table_set(table, rate_column, "%s", rate_text(device->host_loop_evaluations_per_s).s);
    table_set(table, ratio_column, "%s", ratio_text(device->host_loop_evaluations_per_s, simple_rate(device)).s);
}

static void print_limits(const ley_bench_device *device)
{
    printf("limits: %s 1/sqrt/s with %s, ", billions_text(device->roots_per_s).s,
           device->root != NULL ? device->root : "the standard's");
    if (device->exps_per_s > 0)
        printf("%s 2^x/s with %s, ", billions_text(device->exps_per_s).s,
               device->exp != NULL ? device->exp : "the standard's");
    printf("%s FMA/s", billions_text(device->fma_per_s).s);
    if (is_cutoff(device) && device->local_bytes_per_s > 0)
        printf(", %s bytes/s from local memory", billions_text(device->local_bytes_per_s).s);
    putchar('\n');
}

static void print_problem(const ley_bench_device *device)
{
    if (device->n[0] == 0)
        printf("problem: a list of %s points, ", count_text(device->points).s);
    else if (device->points == device->n[0] * device->n[1] * device->n[2])
        printf("problem: %s points, ", lattice_text(device->n).s);
    else
        printf("problem: %s nodes on the faces of %s, ", count_text(device->points).s, lattice_text(device->n).s);
    printf("%s atoms", count_text(device->atoms).s);
    if (is_cutoff(device))
        printf(", cutoff %g A, %.4g pairs within it", device->cutoff_A, device->pairs);
    printf("\n\n");
}

static double best_rate(const ley_bench_device *device)
{
    double best = 0;
    for (size_t i = 0; i < device->row_count; i++)
        if (device->rows[i].status == LEY_OK && !is_wrong(&device->rows[i]))
            best = fmax(best, device->rows[i].evaluations_per_s);
    return best;
}

static void print_cutoff(const ley_bench_device *device)
{
    static const char *const headings[] = {"variant",        "root recipe",       "kernel s",    "billion/s",
                                           "spread %",       "to bins",           "hits %",      "% of root limit",
                                           "% of FMA limit", "% of local memory", "relative RMS"};
    text_table table = table_begin("llrrrrrrrrr");
    table_row(&table);
    for (size_t column = 0; column < sizeof headings / sizeof *headings; column++)
        table_set(&table, column, "%s", headings[column]);
    for (size_t i = 0; i < device->row_count; i++)
        add_cutoff_row(&table, device, &device->rows[i]);
    add_host_loop(&table, device, 3, 5);
    table_print(&table);
    puts("* what a job takes");
    if (device->host_loop_evaluations_per_s > 0 && best_rate(device) > 0)
        printf("best variant to host C loop: %.2f\n", best_rate(device) / device->host_loop_evaluations_per_s);
    if (device->whole_variant != NULL)
        printf("end to end: %.3g s by %s, %s pairs/s: bins, transfers and the map's rows included\n", device->whole_s,
               device->whole_variant, billions_text(device->pairs / device->whole_s).s);
}

static void print_sizes(const ley_bench_device *device)
{
    static const char *const headings[] = {"atoms", "points", "pairs within", "kernel s", "billion/s", "relative RMS"};
    text_table table = table_begin("rrrrrr");
    printf("cutoff %g A\n\n", device->cutoff_A);
    table_row(&table);
    for (size_t column = 0; column < sizeof headings / sizeof *headings; column++)
        table_set(&table, column, "%s", headings[column]);
    for (size_t i = 0; i < device->size_count; i++) {
        const ley_bench_size *size = &device->sizes[i];
        table_row(&table);
        table_set(&table, 0, "%s", count_text(size->atoms).s);
        table_set(&table, 1, "%s", lattice_text(size->n).s);
        table_set(&table, 2, "%.4g", size->pairs);
        table_set(&table, 3, "%.4g", size->kernel_s);
        table_set(&table, 4, "%s", size->accuracy.passed ? rate_text(size->pairs / size->kernel_s).s : "WRONG");
        table_set(&table, 5, "%.2g", size->accuracy.relative_rms);
    }
    table_print(&table);
    printf("kernel s = c atoms^%.3f: %.2f times for ten times the atoms, in which pairs grow %.2f times, as boxes have "
           "surfaces; %.2f times for ten "
           "times the pairs\n",
           device->exponent, pow(10, device->exponent), pow(10, device->pairs_exponent),
           pow(10, device->exponent / device->pairs_exponent));
}

static void print_device(const ley_bench_device *device)
{
    static const char *const headings[] = {"variant",   "root recipe",     "billion/s",      "spread %",
                                           "to simple", "% of root limit", "% of FMA limit", "relative RMS"};
    printf("device %d: %s, driver %s\n", device->device->index, device->device->name, device->device->driver);
    if (device->status != LEY_OK)
        printf("failed: %s\n", device->failure != NULL ? device->failure : ley_status_text(device->status));
    if (device->roots_per_s > 0)
        print_limits(device);
    if (device->size_count > 0)
        print_sizes(device);
    if (device->row_count == 0)
        return;
    print_problem(device);
    if (is_cutoff(device)) {
        print_cutoff(device);
        return;
    }
    const bool is_mdh = device->exps_per_s > 0;
    text_table table = table_begin("llrrrrrr");
    table_row(&table);
    for (size_t column = 0; column < sizeof headings / sizeof *headings; column++)
        table_set(&table, column, "%s",
                  is_mdh && column == 1   ? "recipes"
                  : is_mdh && column == 5 ? "% of functions' limit"
                                          : headings[column]);
    for (size_t i = 0; i < device->row_count; i++)
        add_row(&table, device, &device->rows[i]);
    add_host_loop(&table, device, 2, 4);
    table_print(&table);
    puts("* what a job takes");
}

static json_t *json_of_sizes(const ley_bench_device *device)
{
    json_t *sizes = json_array();
    for (size_t i = 0; i < device->size_count; i++) {
        const ley_bench_size *size = &device->sizes[i];
        json_t *object = json_object();
        json_put(object, "dims", json_counts(size->n, 3));
        json_put(object, "atoms", json_count(size->atoms));
        json_put(object, "pairs", json_number(size->pairs));
        json_put(object, "kernel_s", json_number(size->kernel_s));
        json_put(object, "accuracy", json_of_accuracy(&size->accuracy));
        json_add(sizes, object);
    }
    return sizes;
}

/* What only cutoff has. */
static void put_cutoff(json_t *object, const ley_bench_device *device)
{
    json_put(object, "cutoff_A", json_number(device->cutoff_A));
    json_put(object, "local_bytes_per_s", json_number(device->local_bytes_per_s));
    json_put(object, "pairs", json_number(device->pairs));
    json_put(object, "end_to_end_variant", json_text(device->whole_variant));
    json_put(object, "end_to_end_s", json_number(device->whole_variant != NULL ? device->whole_s : NAN));
    json_put(object, "sizes", json_of_sizes(device));
    json_put(object, "exponent", json_number(device->size_count > 0 ? device->exponent : NAN));
    json_put(object, "pairs_exponent", json_number(device->size_count > 0 ? device->pairs_exponent : NAN));
    for (size_t i = 0; i < device->row_count; i++) {
        const ley_bench_row *row = &device->rows[i];
        json_t *to = json_array_get(json_object_get(object, "rows"), i);
        json_put(to, "kernel_s", json_number(row->kernel_s));
        json_put(to, "hit_rate", json_number(row->hit_rate));
        json_put(to, "local_share", json_number(row->local_share));
    }
}

static json_t *json_of(const ley_bench_device *device)
{
    json_t *object = json_of_bench_device(device);
    if (is_cutoff(device))
        put_cutoff(object, device);
    return object;
}

static int write_json(const parsed_arguments *arguments, const ley_bench *bench, ley_status outcome)
{
    const bench_values *values = arguments->values;
    json_t *report = json_begin(arguments), *devices = json_array();
    ley_error error = {.status = outcome};
    snprintf(error.message, sizeof error.message, "%s", ley_status_text(outcome));
    json_put_outcome(report, &error, ley_status_exit_code(outcome));
    for (size_t d = 0; d < ley_bench_device_count(bench); d++)
        json_add(devices, json_of(ley_bench_get(bench, d)));
    json_put(report, "devices", devices);
    return json_finish(report, values->json);
}

/* ---- The work -------------------------------------------------------------------------------- */

typedef struct row_counter {
    progress_line progress;
    int rows;
} row_counter;

static void row_done(void *context)
{
    row_counter *counter = context;
    counter->rows++;
    progress_say(&counter->progress, text_of("%d variant%s measured", counter->rows, counter->rows == 1 ? "" : "s").s);
}

static ley_status measure(const bench_values *values, row_counter *counter, ley_engine **engine, ley_bench **bench,
                          ley_error *error)
{
    ley_bench_options options;
    ley_bench_options_default(&options);
    memcpy(options.n, values->dims, sizeof options.n);
    options.method = kernel_names[values->kernel];
    options.points = values->points;
    options.salt_M = values->salt;
    options.cutoff_A = values->cutoff;
    options.linear = values->linear;
    options.atoms = values->atoms;
    options.repeats = (int)values->repeats;
    options.math = (ley_math)values->math;
    options.sum = (ley_sum)values->sum;
    options.variant = values->variant;
    options.row_done = row_done;
    options.context = counter;
    options.cancel = interrupt_flag();
    progress_say(&counter->progress, "opening the devices");
    ley_status status = ley_engine_create(values->device, engine, error);
    if (status != LEY_OK)
        return status;
    progress_say(&counter->progress, "measuring the limits");
    interrupt_defer();
    return ley_bench_run(*engine, &options, bench, error);
}

static int report(const parsed_arguments *arguments, const ley_bench *bench)
{
    const bench_values *values = arguments->values;
    ley_status outcome = verdict(bench);
    int written = values->json != NULL ? write_json(arguments, bench, outcome) : 0;
    bool silent = values->quiet || json_takes_stdout(values->json);
    for (size_t d = 0; !silent && d < ley_bench_device_count(bench); d++) {
        if (d > 0)
            putchar('\n');
        print_device(ley_bench_get(bench, d));
    }
    if (outcome == LEY_ERROR_WRONG_RESULT)
        return fail(outcome, "a variant computes wrong results");
    if (outcome != LEY_OK)
        return fail(outcome, "a device or a variant failed");
    return written;
}

static int bench_run(const parsed_arguments *arguments)
{
    const bench_values *values = arguments->values;
    row_counter counter = {.rows = 0};
    ley_engine *engine = NULL;
    ley_bench *bench = NULL;
    ley_error error = {0};
    const bool is_mdh = strcmp(kernel_names[values->kernel], "mdh") == 0;
    const named_file report_file = {values->json, "report", "--json"};
    int code = is_mdh ? 0 : check_variant(arguments->command, kernel_names[values->kernel], values->variant);
    if (code == 0)
        code = files_check(arguments->command, &report_file, 1);
    if (code != 0)
        return code;
    progress_start(&counter.progress, values->quiet);
    ley_status status = measure(values, &counter, &engine, &bench, &error);
    progress_clear(&counter.progress);
    if (status == LEY_OK && *interrupt_flag())
        fail(status = LEY_CANCELLED, "cancelled");
    else if (status == LEY_OK)
        code = report(arguments, bench);
    else
        code = fail_with(&error);
    if (status == LEY_CANCELLED)
        code = interrupt_exit_code();
    ley_bench_destroy(bench);
    ley_engine_destroy(engine);
    return code;
}

const subcommand bench_command = {
    .name = "bench",
    .summary = "Measures every kernel variant on your devices, against each device's own measured limits.",
    .details =
        "Rates are atom-point pairs per second in the kernel, of cutoff those within the cutoff; 'hits' are these "
        "as part of all that are computed. "
        "The limits are the device's rates of reciprocal square roots and of fused multiply-adds, of cutoff "
        "also of bytes from local memory, "
        "measured in the same run.",
    .options = OPTION_BLOCK(bench_options, bench_values, set_defaults),
    .run = bench_run,
};
