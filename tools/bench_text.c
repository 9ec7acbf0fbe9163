/* The tables of `leyden bench`: a device's limits, its problem, a row for each variant. */
#include "bench_text.h"
#include "bench_values.h"
#include "console.h"
#include "table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Of this variant, where it is right; 0 where it is not, or was not measured. */
static double rate_of(const ley_bench_device *device, const char *variant)
{
    for (size_t i = 0; i < device->row_count; i++)
        if (variant != NULL && device->rows[i].status == LEY_OK && !bench_is_wrong(&device->rows[i]) &&
            strcmp(device->rows[i].variant, variant) == 0)
            return device->rows[i].evaluations_per_s;
    return 0;
}

static short_text rate_text(double per_s)
{
    if (!(per_s > 0))
        return text_of("-");
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

short_text bench_percent_text(double share)
{
    return isfinite(share) ? text_of("%.1f", 100 * share) : text_of("-");
}

/* Of what was not timed there are none. */
static short_text seconds_of(double seconds, const char *mark)
{
    return seconds > 0 ? text_of("%s%.3g", mark, seconds) : text_of("-");
}

/* Launches that were timed. */
short_text bench_runs_text(size_t runs)
{
    return runs > 0 ? text_of("%zu", runs) : text_of("-");
}

/* The columns in their order. Headings that depend on the method are made by heading_text(). */
typedef enum bench_column {
    VARIANT,
    RECIPE,
    SECONDS,
    WHOLE,
    RATE,
    PROCESSORS,
    LAUNCHES,
    TIMED,
    SPREAD,
    RATIO,
    HITS,
    ROOTS,
    MULTIPLY_ADDS,
    LOCAL,
    PLAIN,
    THERE,
    BACK,
    JOULES,
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
} columns[] = {
    [VARIANT] = {"variant", 0},
    [RECIPE] = {"root recipe", BENCH_PAIRS},
    [SECONDS] = {"kernel s", 0, BENCH_FRAMES},
    [WHOLE] = {"whole s", BENCH_TOLERANCES, 0},
    [RATE] = {"billion/s", 0, BENCH_STEPS | BENCH_TOLERANCES | BENCH_PHASES},
    [PROCESSORS] = {"processors, ms a frame", BENCH_FRAMES, 0},
    [LAUNCHES] = {"launches", BENCH_STEPS | BENCH_TOLERANCES | BENCH_ENERGIES, 0},
    [TIMED] = {"timed", 0},
    [SPREAD] = {"spread %", 0},
    [RATIO] = {"to", 0, BENCH_STEPS | BENCH_TOLERANCES | BENCH_FILES | BENCH_FRAMES | BENCH_PHASES | BENCH_ENERGIES},
    [HITS] = {"hits %", BENCH_HITS},
    [ROOTS] = {"% of root limit", BENCH_PAIRS},
    [MULTIPLY_ADDS] = {"% of FMA limit", BENCH_PAIRS | BENCH_FMA | BENCH_STEPS | BENCH_TOLERANCES, 0},
    [LOCAL] = {"% of local memory", BENCH_LOCAL},
    [PLAIN] = {"% of plain", BENCH_FILES},
    [THERE] = {"there s", BENCH_TRANSFORMS},
    [BACK] = {"back s", BENCH_TRANSFORMS},
    [JOULES] = {"joules", BENCH_JOULES, 0},
    [MEMORY] = {"% of memory", BENCH_TRANSFORMS | BENCH_STEPS | BENCH_TOLERANCES, 0},
    [ERROR] = {"relative RMS", 0},
    [COLD] = {"prepared s", BENCH_TRANSFORMS},
    [WARM] = {"again s", BENCH_TRANSFORMS},
    [PLAN] = {"what was taken", BENCH_TOLERANCES | BENCH_FILES | BENCH_FRAMES | BENCH_PHASES | BENCH_ENERGIES, 0}};
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

static bool are_files(const bench_row *method)
{
    return (method->columns & BENCH_FILES) != 0;
}

static bool are_frames(const bench_row *method)
{
    return (method->columns & BENCH_FRAMES) != 0;
}

static bool are_phases(const bench_row *method)
{
    return (method->columns & BENCH_PHASES) != 0;
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
    if (are_files(table->method) && (c == VARIANT || c == SECONDS || c == RATE || c == PLAN))
        return text_of("%s", c == VARIANT ? "what" : c == SECONDS ? "seconds" : c == RATE ? "GB/s" : "file");
    if (are_frames(table->method) && (c == VARIANT || c == RATE))
        return text_of("%s", c == VARIANT ? "what" : "frames/s");
    if (are_phases(table->method) && (c == VARIANT || c == SECONDS))
        return text_of("%s", c == VARIANT ? "step" : "seconds");
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
        const unsigned has =
            table->method->columns | (table->device->energy_counter != NULL ? (unsigned)BENCH_JOULES : 0U);
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

/* Why there is no rate where there is none. */
static const char *verdict_of(bench_table *table, const ley_bench_row *row)
{
    const char *why = row->failure != NULL ? row->failure : ley_status_text(row->status);
    if (bench_is_wrong(row) && row->failure == NULL && row->accuracy.points > 0) {
        tell(table, "WRONG: an error of %.2g of the %s terms, at most %.2g is allowed", row->accuracy.max_error,
             are_steps(table->method) || row->tolerance > 0 ? "root of the squared" : "absolute",
             row->accuracy.tolerance);
        return "WRONG";
    }
    if (bench_is_wrong(row)) {
        tell(table, "WRONG: %s", why);
        return "WRONG";
    }
    if (bench_is_absent(row)) {
        tell(table, "not on this device: %s", bench_why_absent(row));
        return "-";
    }
    if (bench_is_failed(row)) {
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
    set(table, ERROR, row->accuracy.points > 0 ? bench_error_text(row->accuracy.relative_rms).s : "");
    const char *verdict = verdict_of(table, row);
    if (verdict != NULL)
        set(table, table->at[RATE] == COLUMN_COUNT ? SECONDS : RATE, verdict);
    set(table, PLAN, row->specification != NULL ? row->specification : "");
    return verdict == NULL;
}

/* Of a limit that the row is beyond. */
static void tell_beyond(bench_table *table, const char *limit, double share, const char *why)
{
    if (share > 1)
        tell(table, "%.0f %% of %s: %s", 100 * share, limit,
             why != NULL ? why : "limit not plausible, something else used the device when it was measured");
}

/* What cannot be seen from the figures themselves. */
static void tell_doubts(bench_table *table, const ley_bench_row *row)
{
    if (row->run_count < row->runs_wanted && row->run_count > 0)
        tell(table, "%zu of %zu launches timed, as each takes long", row->run_count, row->runs_wanted);
    tell_beyond(table, "the limit of special functions", row->root_share,
                row->has_other_roots ? "part of them are made of multiply-adds" : NULL);
    tell_beyond(table, "the limit of multiply-adds", row->fma_share, NULL);
    tell_beyond(table, "the limit of local memory", ley_bench_row_figure(row, "local_share"),
                "limit not plausible, or caches or registers spare reads");
    tell_beyond(table, "the limit of the device's memory", ley_bench_row_figure(row, "memory_share"),
                "limit not plausible, or caches spare reads and writes");
}

static void add_times(bench_table *table, const ley_bench_row *row)
{
    const char *mark = are_tolerances(table->method) && ley_bench_row_figure(row, "measured_share") < 1 ? "~" : "";
    set(table, SECONDS, seconds_of(row->kernel_s > 0 ? row->kernel_s : row->median_s, mark).s);
    set(table, WHOLE, seconds_of(row->whole_s, mark).s);
    set(table, TIMED, bench_runs_text(row->run_count).s);
    set(table, SPREAD, bench_percent_text(row->spread).s);
    set(table, THERE, seconds_of(ley_bench_row_figure(row, "there_s"), "").s);
    set(table, BACK, seconds_of(ley_bench_row_figure(row, "back_s"), "").s);
    set(table, JOULES, row->joules > 0 ? text_of("%.3g", row->joules).s : "-");
    set(table, COLD, seconds_of(ley_bench_row_figure(row, "cold_s"), "").s);
    set(table, WARM, seconds_of(ley_bench_row_figure(row, "warm_s"), "").s);
}

static void add_row(bench_table *table, const ley_bench_row *row, double first_rate)
{
    if (!begin_row(table, row))
        return;
    const bool is_timed = row->run_count > 0;
    const double launches = ley_bench_row_figure(row, "launches");
    add_times(table, row);
    set(table, RATE,
        are_frames(table->method) ? seconds_of(ley_bench_row_figure(row, "frames_per_s"), "").s
                                  : rate_text(row->evaluations_per_s).s);
    set(table, PROCESSORS, seconds_of(ley_bench_row_figure(row, "processor_ms"), "").s);
    set(table, LAUNCHES, launches > 0 ? text_of("%.0f", launches).s : "-");
    set(table, RATIO, ratio_text(row->evaluations_per_s, first_rate).s);
    set(table, HITS, bench_percent_text(ley_bench_row_figure(row, "hit_rate")).s);
    set(table, ROOTS, is_timed ? bench_percent_text(row->root_share).s : "-");
    const bool is_of_host = are_steps(table->method) && !(launches > 0);
    set(table, MULTIPLY_ADDS, is_of_host || !is_timed ? "-" : bench_percent_text(row->fma_share).s);
    set(table, PLAIN,
        ley_bench_row_figure(row, "plain_share") > 0 ? bench_percent_text(ley_bench_row_figure(row, "plain_share")).s
                                                     : "-");
    set(table, LOCAL,
        ley_bench_row_figure(row, "local_share") > 0 ? bench_percent_text(ley_bench_row_figure(row, "local_share")).s
                                                     : "-");
    set(table, MEMORY, is_of_host || !is_timed ? "-" : bench_percent_text(ley_bench_row_figure(row, "memory_share")).s);
    tell_doubts(table, row);
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
    set(table, TIMED, bench_runs_text(device->host_runs).s);
    set(table, SPREAD, bench_percent_text(device->host_spread).s);
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
    else if (are_files(method) || are_frames(method) || are_phases(method))
        puts("seconds and rates are medians of the times that were taken");
    else if (!are_steps(method))
        puts("* what a job takes; seconds and rates are medians of the launches that were timed");
    else if (!device->device->has_timestamps)
        puts("the device does not stamp its events: steps are timed by the host, from the end of the one before to the "
             "end of the wait");
}

static void print_limits(const ley_bench_device *device)
{
    if (device->limit_rounds > 1)
        printf("limits, the best of %d rounds, of which the worst is %s %% less: ", device->limit_rounds,
               bench_percent_text(device->limit_spread).s);
    else
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
    if (device->peak_fma_per_s > 0)
        printf("FMA/s are %s %% of %s = %s\n", bench_percent_text(device->fma_per_s / device->peak_fma_per_s).s,
               device->peak_text, billions_text(device->peak_fma_per_s).s);
    if (device->limit_doubt != NULL)
        printf("%s\n", device->limit_doubt);
}

static void print_load(const ley_bench_load *load)
{
    if (load->before < 0 || load->processors == 0)
        return;
    printf("load of the host %.2f before, %.2f after; ", load->before, load->after);
    if (load->others < 0)
        printf("what others did meanwhile is unknown\n");
    else
        printf("others kept %.2f of %d processors busy meanwhile\n", load->others, load->processors);
}

static void print_problem(const bench_row *method, const ley_bench_device *device)
{
    const bool is_of_rows = (method->columns & (BENCH_PHASES | BENCH_ENERGIES)) != 0 || device->points == 1;
    if (is_of_rows && device->n[0] == 0) /* each row has its own */
        return;
    if (device->n[0] == 0)
        printf("problem: a list of %s, ", counted_text(device->points, "point").s);
    else if (device->points == device->n[0] * device->n[1] * device->n[2])
        printf("problem: %s points, ", grid_text(device->n).s);
    else
        printf("problem: %s nodes on the faces of %s, ", count_text(device->points).s, grid_text(device->n).s);
    if ((method->columns & BENCH_TRANSFORMS) != 0)
        printf("transformed in place, there and back");
    else
        printf("%s", counted_text(device->atoms, "atom").s);
    if (device->cutoff_A > 0)
        printf(", cutoff %g A, %.4g pairs within it", device->cutoff_A, device->pairs);
    printf("\n\n");
}

static void print_sizes(const ley_bench_device *device)
{
    static const char *const headings[] = {"atoms", "points",   "pairs within", "kernel s",
                                           "timed", "spread %", "billion/s",    "relative RMS"};
    text_table table = table_begin("rrrrrrrr");
    printf("cutoff %g A\n\n", device->cutoff_A);
    table_row(&table);
    for (size_t column = 0; column < sizeof headings / sizeof *headings; column++)
        table_set(&table, column, "%s", headings[column]);
    for (size_t i = 0; i < device->size_count; i++) {
        const ley_bench_size *size = &device->sizes[i];
        table_row(&table);
        table_set(&table, 0, "%s", count_text(size->atoms).s);
        table_set(&table, 1, "%s", grid_text(size->n).s);
        table_set(&table, 2, "%.4g", size->pairs);
        table_set(&table, 3, "%.4g", size->kernel_s);
        table_set(&table, 4, "%s", bench_runs_text(size->run_count).s);
        table_set(&table, 5, "%s", bench_percent_text(size->spread).s);
        table_set(&table, 6, "%s", size->accuracy.passed ? rate_text(size->pairs / size->kernel_s).s : "WRONG");
        table_set(&table, 7, "%s", bench_error_text(size->accuracy.relative_rms).s);
    }
    table_print(&table);
    if (!(device->pairs_exponent > 0)) /* of one size */
        return;
    printf("kernel s = c atoms^%.3f: %.2f times for ten times the atoms, in which pairs grow %.2f times, as boxes have "
           "surfaces; %.2f times for ten "
           "times the pairs\n",
           device->exponent, pow(10, device->exponent), pow(10, device->pairs_exponent),
           pow(10, device->exponent / device->pairs_exponent));
}

void bench_print_device(const bench_row *method, const ley_bench_device *device)
{
    printf("device %d: %s, driver %s\n", device->device->index, device->device->name, device->device->driver);
    if (device->status != LEY_OK)
        printf("failed: %s\n", device->failure != NULL ? device->failure : ley_status_text(device->status));
    if (device->fma_per_s > 0)
        print_limits(device);
    if (device->memory_bytes_per_s > 0)
        printf("limit: %s bytes/s of its memory, read and written by a kernel that copies\n",
               billions_text(device->memory_bytes_per_s).s);
    if (device->is_interpreter)
        puts("an interpreter: errors are told, rates and seconds are not");
    print_load(&device->load);
    if (device->size_count > 0)
        (method->print_sizes != NULL ? method->print_sizes : print_sizes)(device);
    if (device->row_count == 0)
        return;
    print_problem(method, device);
    print_variants(method, device);
    if (method->print != NULL && !device->is_interpreter)
        method->print(device);
}
