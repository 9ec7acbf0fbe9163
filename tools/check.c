/* leyden check: is a driver right, and how right? */
#include "check_report.h"
#include "console.h"
#include "file.h"
#include "interrupt.h"
#include "registry.h"
#include "table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

typedef struct check_values {
    const char *device, *json, *junit, *reproducers;
    bool quick, list, quiet;
} check_values;

static const option_row options[] = {
    {.name = "device",
     .kind = OPTION_TEXT,
     .offset = offsetof(check_values, device),
     .value = "LIST",
     .unset = "every device, by every path to it",
     .help = "devices to check, one after the other: as for other commands"},
    {.name = "quick",
     .kind = OPTION_FLAG,
     .offset = offsetof(check_values, quick),
     .help = "one small case of each check: half a minute on two idle cores when nothing is compiled yet"},
    {.name = "list",
     .kind = OPTION_FLAG,
     .offset = offsetof(check_values, list),
     .help = "list the checks and what each of them proves"},
    {.name = "emit-reproducer",
     .kind = OPTION_TEXT,
     .offset = offsetof(check_values, reproducers),
     .value = "DIR",
     .unset = "none",
     .help = "for each failure that can be shown this way, write a program in C and OpenCL C to a folder in DIR, for "
             "a bug report to the vendor of the driver"},
    OPTION_ROW_JSON(check_values),
    {.name = "junit",
     .kind = OPTION_TEXT,
     .offset = offsetof(check_values, junit),
     .value = "FILE",
     .unset = "none",
     .help = "write the results to FILE as JUnit XML"},
    OPTION_ROW_QUIET(check_values),
};

/* ---- Text ------------------------------------------------------------------------------------ */

typedef struct printer {
    bool is_silent, writes_reproducers;
    const char *device; /* whose heading stands there */
    int index;
} printer;

/* "1/2 ulp 91.3 %, 1 8.6 %, 2 0.1 %": which errors how many of the numbers have. */
static short_text counts_text(const ley_check_result *r)
{
    short_text text = {""};
    int64_t all = 0;
    for (int i = 0; i < LEY_CHECK_BINS; i++)
        all += r->ulp_counts[i];
    for (int i = 0; i < LEY_CHECK_BINS && all > 0; i++) {
        const size_t used = strlen(text.s);
        const double share = 100 * (double)r->ulp_counts[i] / (double)all;
        if (r->ulp_counts[i] == 0)
            continue;
        if (i == 0)
            snprintf(text.s + used, sizeof text.s - used, "; to 1/2 ulp %.3g %%", share);
        else if (i + 1 < LEY_CHECK_BINS)
            snprintf(text.s + used, sizeof text.s - used, "%s %d %.2g %%", used > 0 ? "," : "; to", 1 << (i - 1),
                     share);
        else
            snprintf(text.s + used, sizeof text.s - used, "%s more %.2g %%", used > 0 ? "," : ";", share);
    }
    return text;
}

static void print_heading(printer *p, const ley_device_info *device)
{
    if (p->device == device->name && p->index == device->index)
        return;
    printf("%s%d %s: %s, %s, driver %s\n", p->device != NULL ? "\n" : "", device->index, device->path, device->name,
           device->platform, device->driver);
    p->device = device->name;
    p->index = device->index;
}

/* Each result as it comes. */
static void print_result(void *context, const ley_device_info *device, const ley_check_result *r)
{
    static const char *const words[] = {
        [LEY_CHECK_PASSED] = "pass", [LEY_CHECK_FAILED] = "FAIL", [LEY_CHECK_SKIPPED] = "skip"};
    printer *p = context;
    if (p->is_silent)
        return;
    print_heading(p, device);
    const short_text name = text_of("%s/%s%s%s", r->group, r->name, r->variant[0] != '\0' ? "/" : "", r->variant);
    const bool is_all = r->text[0] == '\0' && (r->outcome != LEY_CHECK_PASSED || !r->has_error);
    printf("%s  %-*s", words[r->outcome], is_all ? 0 : 44, name.s);
    if (r->outcome == LEY_CHECK_PASSED && r->has_error)
        printf(" %.2g of %.2g, %.3g ulp%s", r->error, r->tolerance, r->ulps, counts_text(r).s);
    if (r->text[0] != '\0')
        printf("%s%s", r->outcome == LEY_CHECK_PASSED && r->has_error ? "; " : " ", r->text);
    printf("\n");
    if (r->smallest != NULL)
        printf("      smallest case that fails: %s\n", r->smallest);
    if (r->known != NULL)
        printf("      known: %s\n", r->known);
    if (r->reproducer != NULL)
        printf("      reproducer: %s\n", r->reproducer);
    else if (p->writes_reproducers && r->outcome == LEY_CHECK_FAILED)
        printf("      reproducer: none: not every fault can be shown by one (docs/check.md says which)\n");
    fflush(stdout);
}

static void print_summaries(const ley_check *check)
{
    for (size_t i = 0; i < ley_check_device_count(check); i++) {
        const ley_check_device *d = ley_check_get(check, i);
        printf("%s%d %s: %zu passed, %zu failed, %zu skipped in %s\n", i == 0 ? "\n" : "", d->info.index, d->info.path,
               d->outcomes[LEY_CHECK_PASSED], d->outcomes[LEY_CHECK_FAILED], d->outcomes[LEY_CHECK_SKIPPED],
               seconds_text(d->elapsed_s).s);
    }
}

static int print_list(const parsed_arguments *arguments, const check_values *values)
{
    text_table table = table_begin("ll");
    json_t *rows = json_array();
    for (size_t i = 0; i < ley_check_row_count(); i++) {
        const ley_check_row *row = ley_check_row_get(i);
        json_t *object = json_object();
        table_row(&table);
        table_set(&table, 0, "%s/%s", row->group, row->name);
        table_set(&table, 1, "%s", row->what);
        json_put(object, "group", json_text(row->group));
        json_put(object, "name", json_text(row->name));
        json_put(object, "what", json_text(row->what));
        json_add(rows, object);
    }
    if (!json_takes_stdout(values->json))
        table_print(&table);
    if (values->json == NULL) {
        json_decref(rows);
        return 0;
    }
    json_t *report = json_begin(arguments);
    json_put(report, "checks", rows);
    return json_finish(report, values->json);
}

/* ---- The command ----------------------------------------------------------------------------- */

static size_t count_failed(const ley_check *check)
{
    size_t failed = 0;
    for (size_t i = 0; i < ley_check_device_count(check); i++)
        failed += ley_check_get(check, i)->outcomes[LEY_CHECK_FAILED];
    return failed;
}

static int write_json(const parsed_arguments *arguments, const ley_check *check, const ley_error *outcome)
{
    const check_values *values = arguments->values;
    json_t *report = json_begin(arguments), *devices = json_array();
    for (size_t i = 0; i < ley_check_device_count(check); i++)
        json_add(devices, json_of_check_device(ley_check_get(check, i)));
    json_put(report, "devices", devices);
    json_put_outcome(report, outcome, ley_status_exit_code(outcome->status));
    return json_finish(report, values->json);
}

static int report(const parsed_arguments *arguments, const ley_check *check, bool is_silent)
{
    const check_values *values = arguments->values;
    const size_t failed = count_failed(check);
    ley_error outcome = {0};
    int written = 0;
    if (failed > 0)
        fail_into(&outcome, LEY_ERROR_WRONG_RESULT, "%zu check%s failed%s", failed, failed == 1 ? "" : "s",
                  values->reproducers == NULL
                      ? "; --emit-reproducer DIR writes programs that show the faults to the driver's "
                        "makers"
                      : "");
    if (!is_silent)
        print_summaries(check);
    if (values->json != NULL)
        written = write_json(arguments, check, &outcome);
    if (written == 0 && values->junit != NULL)
        written = check_write_junit(check, values->junit);
    if (failed > 0)
        return fail_with(&outcome);
    return written;
}

/* The folder for reproducers is made where it is not there. What is there is to be one, or a link
 * to one. */
static int make_folder(const char *path)
{
    struct stat known;
    if (path == NULL || mkdir(path, 0777) == 0)
        return 0;
    if (errno == EEXIST && stat(path, &known) == 0) {
        if (S_ISDIR(known.st_mode))
            return 0;
        errno = ENOTDIR;
    }
    return fail(LEY_ERROR_FILE, "--emit-reproducer: %s: %s", path, strerror(errno));
}

static int check_command_run(const parsed_arguments *arguments)
{
    const check_values *values = arguments->values;
    const named_file files[] = {{values->json, "report", "--json"}, {values->junit, "results", "--junit"}};
    const bool is_silent = values->quiet || json_takes_stdout(values->json);
    printer p = {.is_silent = is_silent, .writes_reproducers = values->reproducers != NULL};
    ley_error error = {0};
    ley_check *check = NULL;
    int code = files_check(arguments->command, files, sizeof files / sizeof *files);
    if (code != 0)
        return code;
    if (values->list && arguments->word_count > 0)
        return fail_usage(arguments->command, "--list takes no NAME: it prints all the checks there are");
    if (values->list)
        return print_list(arguments, values);
    if ((code = make_folder(values->reproducers)) != 0)
        return code;
    interrupt_defer();
    const ley_status status = ley_check_run(&(ley_check_options){.devices = values->device,
                                                                 .quick = values->quick,
                                                                 .names = arguments->words,
                                                                 .name_count = arguments->word_count,
                                                                 .reproducers = values->reproducers,
                                                                 .done = print_result,
                                                                 .context = &p,
                                                                 .cancel = interrupt_flag()},
                                            &check, &error);
    if (status == LEY_ERROR_USAGE && arguments->word_count > 0 && values->device == NULL) { /* of a name */
        const size_t used = strlen(error.message);
        snprintf(error.message + used, sizeof error.message - used, "; to see it, type: leyden check --list");
    }
    if (status == LEY_OK)
        code = report(arguments, check, is_silent);
    else
        code = fail_with(&error);
    ley_check_destroy(check);
    return status == LEY_CANCELLED ? interrupt_exit_code() : code;
}

const subcommand check_command = {
    .name = "check",
    .summary = "Check whether the devices and their drivers compute correctly.",
    .examples = {"leyden check --quick", "leyden check --device all --json report.json"},
    .words = "NAME",
    .words_help = "checks to run: GROUP, NAME, GROUP/NAME or GROUP/NAME/VARIANT, as in the output (default: all)",
    .details = "Each kernel, and each function and feature of the driver that leyden uses, is checked on each device "
               "against the host in double precision. Each has a line that says whether it passed, failed or was "
               "skipped, and why. Errors are relative, and in units in the last place (ulp). The exit code is 5 when "
               "any check failed.",
    .options = OPTION_BLOCK(options, check_values, NULL),
    .run = check_command_run,
};
