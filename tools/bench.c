/* leyden bench: every kernel variant on every device, against that device's own measured limits. */
#include "bench_row.h"
#include "console.h"
#include "file.h"
#include "interrupt.h"
#include "progress.h"
#include "registry.h"
#include "table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Options, before and behind those of methods. */
typedef struct bench_values {
    const char *device, *variant;
    int method, math, sum;
    int64_t dims[3], atoms;
    bool frontier;
} bench_values;

typedef struct report_values {
    const char *json;
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
     .between = ", ",
     .help = "whose variants: %s"},
    {.name = "frontier",
     .kind = OPTION_FLAG,
     .offset = offsetof(bench_values, frontier),
     .method = "frontier",
     .help = "the same as --kernel frontier: error against time"},
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
     .help = "lattice points of the test problem; of cutoff, msm, frontier and lattice they follow from the atoms"},
    {.name = "atoms",
     .kind = OPTION_INTEGER,
     .offset = offsetof(bench_values, atoms),
     .value = "N",
     .low = 1,
     .high = INT32_MAX,
     .unset = "by the device's speed",
     .help = "atoms of the test problem"},
};

static void set_defaults(void *to)
{
    bench_values *values = to;
    ley_bench_options options;
    ley_bench_options_default(&options);
    values->math = (int)options.math;
    values->sum = (int)options.sum;
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

/* The first row that is absent, where that is all that there is of all devices; NULL: something was
 * measured, or nothing was asked for. */
static const ley_bench_row *nothing_measured(const ley_bench *bench)
{
    const ley_bench_row *first = NULL;
    for (size_t d = 0; d < ley_bench_device_count(bench); d++) {
        const ley_bench_device *device = ley_bench_get(bench, d);
        if (device->status != LEY_OK || device->size_count > 0)
            return NULL;
        for (size_t i = 0; i < device->row_count; i++) {
            if (!is_absent(&device->rows[i]))
                return NULL;
            first = first != NULL ? first : &device->rows[i];
        }
    }
    return first;
}

/* 5 when anything is wrong, else 4 when anything failed, else 3 when nothing could be measured. */
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
    return wrong                             ? LEY_ERROR_WRONG_RESULT
           : failed                          ? LEY_ERROR_DEVICE
           : nothing_measured(bench) != NULL ? LEY_ERROR_NO_DEVICE
                                             : LEY_OK;
}

/* ---- The tables ------------------------------------------------------------------------------ */

/* Of this variant, where it is right; 0 where it is not, or was not measured. */
static double rate_of(const ley_bench_device *device, const char *variant)
{
    for (size_t i = 0; i < device->row_count; i++)
        if (variant != NULL && device->rows[i].status == LEY_OK && !is_wrong(&device->rows[i]) &&
            strcmp(device->rows[i].variant, variant) == 0)
            return device->rows[i].evaluations_per_s;
    return 0;
}

double bench_best_rate(const ley_bench_device *device)
{
    double best = 0;
    for (size_t i = 0; i < device->row_count; i++)
        if (device->rows[i].status == LEY_OK && !is_wrong(&device->rows[i]))
            best = fmax(best, device->rows[i].evaluations_per_s);
    return best;
}

static short_text rate_text(double per_s)
{
    short_text rate = billions_text(per_s);
    char *unit = strstr(rate.s, " billion");
    if (unit != NULL)
        *unit = '\0';
    return rate;
}

static short_text ratio_text(double rate, double first)
{
    return first > 0 ? text_of(rate < 0.1 * first ? "%.2g" : "%.2f", rate / first) : text_of("-");
}

static short_text percent_text(double share)
{
    return text_of("%.1f", 100 * share);
}

/* The columns in their order. Headings that depend on the method are made by heading_text(). */
typedef enum bench_column {
    VARIANT,
    RECIPE,
    SECONDS,
    WHOLE,
    RATE,
    LAUNCHES,
    SPREAD,
    RATIO,
    HITS,
    ROOTS,
    MULTIPLY_ADDS,
    LOCAL,
    THERE,
    BACK,
    MEMORY,
    ERROR,
    COLD,
    WARM,
    PLAN,
    COLUMN_COUNT
} bench_column;

static const struct {
    const char *heading;
    unsigned of;   /* methods with this bit in `columns`; 0: all, */
    unsigned not ; /* but for those with this one */
} columns[] = {[VARIANT] = {"variant", 0},
               [RECIPE] = {"root recipe", BENCH_PAIRS},
               [SECONDS] = {"kernel s", BENCH_SECONDS | BENCH_STEPS | BENCH_TOLERANCES, 0},
               [WHOLE] = {"whole s", BENCH_TOLERANCES, 0},
               [RATE] = {"billion/s", 0, BENCH_STEPS | BENCH_TOLERANCES},
               [LAUNCHES] = {"launches", BENCH_STEPS | BENCH_TOLERANCES, 0},
               [SPREAD] = {"spread %", 0},
               [RATIO] = {"to", 0, BENCH_STEPS | BENCH_TOLERANCES},
               [HITS] = {"hits %", BENCH_HITS},
               [ROOTS] = {"% of root limit", BENCH_PAIRS},
               [MULTIPLY_ADDS] = {"% of FMA limit", BENCH_PAIRS | BENCH_FMA | BENCH_STEPS | BENCH_TOLERANCES, 0},
               [LOCAL] = {"% of local memory", BENCH_LOCAL},
               [THERE] = {"there s", BENCH_TRANSFORMS},
               [BACK] = {"back s", BENCH_TRANSFORMS},
               [MEMORY] = {"% of memory", BENCH_TRANSFORMS | BENCH_STEPS | BENCH_TOLERANCES, 0},
               [ERROR] = {"relative RMS", 0},
               [COLD] = {"prepared s", BENCH_TRANSFORMS},
               [WARM] = {"again s", BENCH_TRANSFORMS},
               [PLAN] = {"what was taken", BENCH_TOLERANCES, 0}};
_Static_assert(sizeof columns / sizeof *columns == COLUMN_COUNT, "a heading for each column");

/* A table of a device's variants, and where its columns are. */
typedef struct bench_table {
    text_table text;
    char alignment[COLUMN_COUNT + 1];
    size_t at[COLUMN_COUNT]; /* COLUMN_COUNT: the method has no such column */
    const bench_row *method;
    const ley_bench_device *device;
    char told[512]; /* the latest note */
} bench_table;

static void set(bench_table *table, bench_column c, const char *text)
{
    if (table->at[c] < COLUMN_COUNT)
        table_set(&table->text, table->at[c], "%s", text);
}

static bool are_steps(const bench_row *method)
{
    return (method->columns & BENCH_STEPS) != 0;
}

static bool are_tolerances(const bench_row *method)
{
    return (method->columns & BENCH_TOLERANCES) != 0;
}

static short_text heading_text(const bench_table *table, bench_column c)
{
    const bool has_exps = table->device->exps_per_s > 0;
    if (c == RATIO)
        return text_of("to %s", table->method->first_variant);
    if (are_steps(table->method) && (c == VARIANT || c == SECONDS || c == MULTIPLY_ADDS))
        return text_of("%s", c == VARIANT ? "step" : c == SECONDS ? "seconds" : "% of arithmetic");
    if (are_tolerances(table->method) && (c == VARIANT || c == MULTIPLY_ADDS))
        return text_of("%s", c == VARIANT ? "tolerance" : "% of arithmetic");
    if (has_exps && c == RECIPE)
        return text_of("recipes");
    if (has_exps && c == ROOTS)
        return text_of("%% of functions' limit");
    return text_of("%s", columns[c].heading);
}

static void begin_table(bench_table *table)
{
    size_t count = 0;
    for (bench_column c = 0; c < COLUMN_COUNT; c++) {
        const unsigned has = table->method->columns;
        const bool is_there = (columns[c].of == 0 || (columns[c].of & has) != 0) && (columns[c].not &has) == 0;
        table->at[c] = is_there ? count : COLUMN_COUNT;
        if (is_there)
            table->alignment[count++] = c <= RECIPE || c == PLAN ? 'l' : 'r';
    }
    table->alignment[count] = '\0';
    table->text = table_begin(table->alignment);
    table_row(&table->text);
    for (bench_column c = 0; c < COLUMN_COUNT; c++)
        set(table, c, heading_text(table, c).s);
}

/* Below the row, unless it stands below the one before: steps share their map. */
__attribute__((format(printf, 2, 3))) static void tell(bench_table *table, const char *format, ...)
{
    char text[sizeof table->told];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (!are_steps(table->method) || strcmp(text, table->told) != 0)
        table_note(&table->text, "%s", text);
    memcpy(table->told, text, sizeof text);
}

static const char *why_absent(const ley_bench_row *row)
{
    return row->failure != NULL ? row->failure : "the device cannot do it";
}

/* Why there is no rate where there is none. */
static const char *verdict_of(bench_table *table, const ley_bench_row *row)
{
    const char *why = row->failure != NULL ? row->failure : ley_status_text(row->status);
    if (is_wrong(row) && row->failure == NULL && row->accuracy.points > 0) {
        tell(table, "WRONG: an error of %.2g of the %s terms, at most %.2g is allowed", row->accuracy.max_error,
             are_steps(table->method) || row->tolerance > 0 ? "root of the squared" : "absolute",
             row->accuracy.tolerance);
        return "WRONG";
    }
    if (is_wrong(row)) {
        tell(table, "WRONG: %s", why);
        return "WRONG";
    }
    if (is_absent(row)) {
        tell(table, "not on this device: %s", why_absent(row));
        return "-";
    }
    if (is_failed(row)) {
        tell(table, "failed: %s", why);
        return "failed";
    }
    return NULL;
}

/* Starts a row: its names, its error, and why there is no rate where there is none; whether there
 * is one. */
static bool begin_row(bench_table *table, const ley_bench_row *row)
{
    table_row(&table->text);
    set(table, VARIANT, text_of("%s%s", row->variant, row->is_default ? " *" : "").s);
    set(table, RECIPE,
        text_of("%s%s%s", row->root != NULL ? row->root : "-", row->exp != NULL ? ", " : "",
                row->exp != NULL ? row->exp : "")
            .s);
    if (row->accuracy.points > 0)
        set(table, ERROR, text_of("%.2g", row->accuracy.relative_rms).s);
    const char *verdict = verdict_of(table, row);
    if (verdict != NULL)
        set(table, table->at[RATE] == COLUMN_COUNT ? SECONDS : RATE, verdict);
    set(table, PLAN, row->specification != NULL ? row->specification : "");
    return verdict == NULL;
}

static void add_row(bench_table *table, const ley_bench_row *row, double first_rate)
{
    if (!begin_row(table, row))
        return;
    const bool is_scaled = are_tolerances(table->method) && row->measured_share < 1;
    set(table, SECONDS, row->kernel_s > 0 ? text_of("%s%.3g", is_scaled ? "~" : "", row->kernel_s).s : "-");
    set(table, WHOLE, text_of("%s%.3g", is_scaled ? "~" : "", row->whole_s).s);
    set(table, RATE, rate_text(row->evaluations_per_s).s);
    set(table, LAUNCHES, row->launches > 0 ? text_of("%lld", (long long)row->launches).s : "-");
    set(table, SPREAD, percent_text(row->spread).s);
    set(table, RATIO, ratio_text(row->evaluations_per_s, first_rate).s);
    set(table, HITS, percent_text(row->hit_rate).s);
    set(table, ROOTS, percent_text(row->root_share).s);
    const bool is_of_host = are_steps(table->method) && row->launches == 0;
    set(table, MULTIPLY_ADDS, is_of_host ? "-" : percent_text(row->fma_share).s);
    set(table, LOCAL, row->local_share > 0 ? percent_text(row->local_share).s : "-");
    set(table, THERE, text_of("%.3g", row->there_s).s);
    set(table, BACK, text_of("%.3g", row->back_s).s);
    set(table, MEMORY, is_of_host ? "-" : percent_text(row->memory_share).s);
    set(table, COLD, text_of("%.3g", row->cold_s).s);
    set(table, WARM, text_of("%.3g", row->warm_s).s);
}

static void add_host_loop(bench_table *table, double first_rate)
{
    const ley_bench_device *device = table->device;
    if (!(device->host_loop_evaluations_per_s > 0))
        return;
    table_row(&table->text);
    set(table, VARIANT, "host C loop");
    set(table, RECIPE,
        text_of("%s, %d thread%s", device->host_loop != NULL ? device->host_loop : "C", device->host_threads,
                device->host_threads == 1 ? "" : "s")
            .s);
    set(table, RATE, rate_text(device->host_loop_evaluations_per_s).s);
    set(table, RATIO, ratio_text(device->host_loop_evaluations_per_s, first_rate).s);
}

static void print_variants(const bench_row *method, const ley_bench_device *device)
{
    const double first_rate = rate_of(device, method->first_variant);
    bench_table table = {.method = method, .device = device};
    begin_table(&table);
    for (size_t i = 0; i < device->row_count; i++)
        add_row(&table, &device->rows[i], first_rate);
    add_host_loop(&table, first_rate);
    table_print(&table.text);
    if (are_tolerances(method))
        puts("kernel s: all kernels; whole s: from atoms in memory to the map in the host's memory, whose spread is "
             "beside it");
    else if (!are_steps(method))
        puts("* what a job takes");
    else if (!device->device->has_timestamps)
        puts("the device does not stamp its events: steps are timed by the host, from the end of the one before to the "
             "end of the wait");
}

static void print_limits(const ley_bench_device *device)
{
    printf("limits: ");
    if (device->roots_per_s > 0)
        printf("%s 1/sqrt/s with %s, ", billions_text(device->roots_per_s).s,
               device->root != NULL ? device->root : "the standard's");
    if (device->exps_per_s > 0)
        printf("%s 2^x/s with %s, ", billions_text(device->exps_per_s).s,
               device->exp != NULL ? device->exp : "the standard's");
    printf("%s FMA/s", billions_text(device->fma_per_s).s);
    if (device->local_bytes_per_s > 0)
        printf(", %s bytes/s from local memory", billions_text(device->local_bytes_per_s).s);
    putchar('\n');
}

static void print_problem(const bench_row *method, const ley_bench_device *device)
{
    if (device->n[0] == 0)
        printf("problem: a list of %s points, ", count_text(device->points).s);
    else if (device->points == device->n[0] * device->n[1] * device->n[2])
        printf("problem: %s points, ", lattice_text(device->n).s);
    else
        printf("problem: %s nodes on the faces of %s, ", count_text(device->points).s, lattice_text(device->n).s);
    if ((method->columns & BENCH_TRANSFORMS) != 0)
        printf("transformed in place, there and back");
    else
        printf("%s atoms", count_text(device->atoms).s);
    if (device->cutoff_A > 0)
        printf(", cutoff %g A, %.4g pairs within it", device->cutoff_A, device->pairs);
    printf("\n\n");
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

static void print_device(const bench_row *method, const ley_bench_device *device)
{
    printf("device %d: %s, driver %s\n", device->device->index, device->device->name, device->device->driver);
    if (device->status != LEY_OK)
        printf("failed: %s\n", device->failure != NULL ? device->failure : ley_status_text(device->status));
    if (device->fma_per_s > 0)
        print_limits(device);
    if (device->memory_bytes_per_s > 0)
        printf("limit: %s bytes/s of its memory, read and written by a kernel that copies\n",
               billions_text(device->memory_bytes_per_s).s);
    if (device->size_count > 0)
        (method->print_sizes != NULL ? method->print_sizes : print_sizes)(device);
    if (device->row_count == 0)
        return;
    print_problem(method, device);
    print_variants(method, device);
    if (method->print != NULL)
        method->print(device);
}

static int write_json(const parsed_arguments *arguments, const ley_bench *bench, ley_status outcome)
{
    const report_values *values = option_values(arguments, &report_options);
    const bench_row *method = bench_of(arguments);
    json_t *report = json_begin(arguments), *devices = json_array();
    ley_error error = {.status = outcome};
    snprintf(error.message, sizeof error.message, "%s", ley_status_text(outcome));
    json_put_outcome(report, &error, ley_status_exit_code(outcome));
    for (size_t d = 0; d < ley_bench_device_count(bench); d++) {
        json_t *object = json_of_bench_device(ley_bench_get(bench, d));
        if (method->put_json != NULL)
            method->put_json(object, ley_bench_get(bench, d));
        json_add(devices, object);
    }
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

static ley_status measure(const parsed_arguments *arguments, row_counter *counter, ley_engine **engine,
                          ley_bench **bench, ley_error *error)
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

static int report(const parsed_arguments *arguments, const ley_bench *bench, const char *picture)
{
    const report_values *values = option_values(arguments, &report_options);
    ley_status outcome = verdict(bench);
    int written = values->json != NULL ? write_json(arguments, bench, outcome) : 0;
    if (written == 0 && picture != NULL)
        written = bench_of(arguments)->draw(bench, picture);
    bool silent = values->quiet || json_takes_stdout(values->json);
    for (size_t d = 0; !silent && d < ley_bench_device_count(bench); d++) {
        if (d > 0)
            putchar('\n');
        print_device(bench_of(arguments), ley_bench_get(bench, d));
    }
    if (outcome == LEY_ERROR_WRONG_RESULT)
        return fail(outcome, "a variant computes wrong results");
    if (outcome == LEY_ERROR_NO_DEVICE)
        return fail(outcome, "nothing was measured: %s", why_absent(nothing_measured(bench)));
    if (outcome != LEY_OK)
        return fail(outcome, "a device or a variant failed");
    return written;
}

/* Whether all that is asked for means something to this kernel. Prints errors; exit code. */
static int check_options(const parsed_arguments *arguments)
{
    const bench_values *values = arguments->values;
    const bench_row *method = bench_of(arguments);
    int code = check_method_options(arguments, &method->option);
    if (code == 0 && method->check != NULL)
        code = method->check(arguments);
    for (const bench_refusal *r = method->not_its; code == 0 && r->option != NULL; r++)
        if (option_named_given(arguments, r->option))
            code = fail_usage(arguments->command, "--%s is not for --kernel %s: %s", r->option, method->option.name,
                              r->why);
    return code == 0 ? check_variant(arguments->command, method->option.name, values->variant) : code;
}

static int bench_run(const parsed_arguments *arguments)
{
    row_counter counter = {.rows = 0};
    ley_engine *engine = NULL;
    ley_bench *bench = NULL;
    ley_error error = {0};
    const report_values *how = option_values(arguments, &report_options);
    const bench_row *method = bench_of(arguments);
    const char *picture = method->picture != NULL ? method->picture(arguments) : NULL;
    const named_file files[] = {{picture, "picture", "--output"}, {how->json, "report", "--json"}};
    int code = check_options(arguments);
    if (code == 0)
        code = files_check(arguments->command, files, sizeof files / sizeof *files);
    if (code != 0)
        return code;
    progress_start(&counter.progress, how->quiet);
    ley_status status = measure(arguments, &counter, &engine, &bench, &error);
    progress_clear(&counter.progress);
    if (status == LEY_OK && interrupt_came())
        fail(status = LEY_CANCELLED, "cancelled");
    else if (status == LEY_OK)
        code = report(arguments, bench, picture);
    else
        code = fail_with(&error);
    if (status == LEY_CANCELLED)
        code = interrupt_exit_code();
    ley_bench_destroy(bench);
    ley_engine_destroy(engine);
    return code;
}

static const option_block *const shared[] = {&report_options, NULL};

const subcommand bench_command = {
    .name = "bench",
    .summary = "Measures every kernel variant on your devices, against each device's own measured limits.",
    .details =
        "Rates are atom-point pairs per second in the kernel, of cutoff those within the cutoff; 'hits' are these "
        "as part of all that are computed. "
        "The limits are the device's rates of reciprocal square roots and of fused multiply-adds, of cutoff "
        "also of bytes from local memory, of fft of bytes of the device's memory, measured in the same run. "
        "Of lattice a pair is two nodes whose weight is not 0, on all levels. "
        "Of msm each step of a job is a row: arithmetic and bytes are the least that it takes, and what it took is "
        "held against what the device's rate of multiply-adds and its memory would take for these. "
        "Of frontier each tolerance is a row, with what is chosen for it, and direct summation is the last one: "
        "where it would take long, it is made of some of the map's planes, and its seconds are scaled (~). "
        "Of fft, rates are values of the lattice there and back per second; libraries are "
        "prepared without what the build cache keeps of them, and again with it.",
    .options = OPTION_BLOCK(bench_options, bench_values, set_defaults),
    .method = method_at,
    .shared = shared,
    .run = bench_run,
};
