#include "check_report.h"

#include "console.h"
#include "text_file.h"

#include <string.h>

static const char *const outcome_names[] = {
    [LEY_CHECK_PASSED] = "passed", [LEY_CHECK_FAILED] = "failed", [LEY_CHECK_SKIPPED] = "skipped"};
_Static_assert(sizeof outcome_names / sizeof *outcome_names == LEY_CHECK_OUTCOME_COUNT, "a word for each outcome");

const char *check_outcome_name(ley_check_outcome outcome)
{
    return outcome_names[outcome];
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static bool has_counts(const ley_check_result *r)
{
    for (int i = 0; i < LEY_CHECK_BINS; i++)
        if (r->ulp_counts[i] > 0)
            return true;
    return false;
}

static json_t *json_of_result(const ley_check_result *r)
{
    json_t *object = json_object();
    json_put(object, "group", json_text(r->group));
    json_put(object, "name", json_text(r->name));
    json_put(object, "variant", json_text(r->variant));
    json_put(object, "outcome", json_text(check_outcome_name(r->outcome)));
    json_put(object, "text", json_text(r->text));
    json_put(object, "smallest", json_text(r->smallest));
    json_put(object, "known", json_text(r->known));
    json_put(object, "reproducer", json_text(r->reproducer));
    json_put(object, "error", r->has_error ? json_number(r->error) : json_null());
    json_put(object, "tolerance", r->has_error ? json_number(r->tolerance) : json_null());
    json_put(object, "ulps", r->has_error ? json_number(r->ulps) : json_null());
    json_put(object, "ulp_counts", has_counts(r) ? json_counts(r->ulp_counts, LEY_CHECK_BINS) : json_null());
    json_put(object, "elapsed_s", json_number(r->elapsed_s));
    return object;
}

json_t *json_of_check_device(const ley_check_device *device)
{
    json_t *object = json_object(), *results = json_array();
    for (size_t i = 0; i < device->result_count; i++)
        json_add(results, json_of_result(&device->results[i]));
    json_put(object, "device", json_of_device(&device->info));
    for (int i = 0; i < LEY_CHECK_OUTCOME_COUNT; i++)
        json_put(object, outcome_names[i], json_count((int64_t)device->outcomes[i]));
    json_put(object, "elapsed_s", json_number(device->elapsed_s));
    json_put(object, "checks", results);
    return object;
}

/* ---- JUnit ----------------------------------------------------------------------------------- */

/* As an attribute's value has it; what XML has no characters for becomes '?'. */
static void put_attribute(text_file *x, const char *name, const char *text)
{
    text_file_print(x, " %s=\"", name);
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++)
        if (strchr("<>&\"'", *c) != NULL)
            text_file_print(x, "&#%d;", *c);
        else
            text_file_print(x, "%c", *c < ' ' || *c == 127 ? '?' : *c);
    text_file_print(x, "\"");
}

static void put_result(text_file *x, const ley_check_result *r)
{
    text_file_print(x, "    <testcase");
    put_attribute(x, "classname", r->group);
    put_attribute(x, "name", text_of("%s%s%s", r->name, r->variant[0] != '\0' ? " " : "", r->variant).s);
    text_file_print(x, " time=\"%.3f\"", r->elapsed_s);
    if (r->outcome == LEY_CHECK_PASSED) {
        text_file_print(x, "/>\n");
        return;
    }
    text_file_print(x, ">\n      <%s", r->outcome == LEY_CHECK_FAILED ? "failure" : "skipped");
    put_attribute(x, "message", r->text);
    text_file_print(x, "/>\n    </testcase>\n");
}

static void put_device(text_file *x, const ley_check_device *d)
{
    text_file_print(x, "  <testsuite");
    put_attribute(x, "name", d->info.name);
    put_attribute(x, "package", d->info.path);
    text_file_print(x, " tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\" time=\"%.3f\">\n", d->result_count,
                    d->outcomes[LEY_CHECK_FAILED], d->outcomes[LEY_CHECK_SKIPPED], d->elapsed_s);
    for (size_t i = 0; i < d->result_count; i++)
        put_result(x, &d->results[i]);
    text_file_print(x, "  </testsuite>\n");
}

int check_write_junit(const ley_check *check, const char *path)
{
    text_file x;
    text_file_begin(&x, path, false);
    text_file_print(&x, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for (size_t i = 0; i < ley_check_device_count(check); i++)
        put_device(&x, ley_check_get(check, i));
    text_file_print(&x, "</testsuites>\n");
    return text_file_end(&x);
}
