/* leyden devices: what this machine has to compute with. */
#include "console.h"
#include "json.h"
#include "registry.h"
#include "table.h"

#include <stdio.h>
#include <string.h>

typedef struct devices_values {
    bool json;
} devices_values;

static const option_row devices_options[] = {
    {.name = "json", .kind = OPTION_FLAG, .offset = offsetof(devices_values, json), .help = "print the list as JSON"},
};

static size_t count_usable(const ley_device_list *list)
{
    size_t usable = 0;
    for (size_t i = 0; i < ley_device_list_count(list); i++)
        usable += ley_device_list_get(list, i)->unusable == NULL;
    return usable;
}

static bool is_first_of_its_card(const ley_device_list *list, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (ley_device_list_get(list, k)->index == ley_device_list_get(list, i)->index)
            return false;
    return true;
}

/* "opencl, cuda": all paths to a card. */
static void join_paths(const ley_device_list *list, int card, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < ley_device_list_count(list) && used < size; i++)
        if (ley_device_list_get(list, i)->index == card)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "",
                                     ley_device_list_get(list, i)->path);
}

/* What there is to say of each path to a card: its quirks, and why it cannot be used, beside the
 * other one that can. */
static void add_notes(text_table *table, const ley_device_list *list, int card)
{
    const char *usable = NULL, *said = "";
    for (size_t i = 0; i < ley_device_list_count(list); i++)
        if (ley_device_list_get(list, i)->index == card && ley_device_list_get(list, i)->unusable == NULL)
            usable = ley_device_list_get(list, i)->path;
    for (size_t i = 0; i < ley_device_list_count(list); i++) {
        const ley_device_info *device = ley_device_list_get(list, i);
        if (device->index != card)
            continue;
        if (device->quirks != NULL && device->quirks[0] != '\0' && strcmp(device->quirks, said) != 0)
            table_note(table, "quirks: %s", said = device->quirks);
        if (device->unusable != NULL && usable != NULL)
            table_note(table, "%s path cannot be used: %s (%s path available)", device->path, device->unusable, usable);
        else if (device->unusable != NULL)
            table_note(table, "cannot be used: %s", device->unusable);
    }
}

static void add_row(text_table *table, const ley_device_list *list, const ley_device_info *device)
{
    static const char *const classes[] = {
        [LEY_CLASS_GPU] = "GPU", [LEY_CLASS_CPU] = "CPU", [LEY_CLASS_OTHER] = "other"};
    _Static_assert(sizeof classes / sizeof *classes == LEY_CLASS_COUNT, "a word for each class");
    size_t column = 0;
    char paths[64];
    join_paths(list, device->index, paths, sizeof paths);
    table_row(table);
    table_set(table, column++, "%d", device->index);
    table_set(table, column++, "%s", device->name);
    table_set(table, column++, "%s", device->platform);
    table_set(table, column++, "%s", device->driver);
    table_set(table, column++, "%s", paths);
    table_set(table, column++, "%s", classes[device->device_class]);
    table_set(table, column++, "%d", device->compute_units);
    table_set(table, column++, "%s", bytes_text(device->global_bytes).s);
    table_set(table, column++, "%s", device->has_double ? "yes" : "no");
    table_set(table, column++, "%s", device->has_timestamps ? "yes" : "no");
    table_set(table, column++, "%s", device->quirks != NULL && device->quirks[0] != '\0' ? "yes" : "none");
    add_notes(table, list, device->index);
}

static void print_table(const ley_device_list *list)
{
    static const char *const headings[] = {"#",     "name",   "platform", "driver",     "through", "class",
                                           "units", "memory", "double",   "timestamps", "quirks"};
    text_table table = table_begin("rlllllrrlll");
    table_row(&table);
    for (size_t column = 0; column < sizeof headings / sizeof *headings; column++)
        table_set(&table, column, "%s", headings[column]);
    for (size_t i = 0; i < ley_device_list_count(list); i++)
        if (is_first_of_its_card(list, i))
            add_row(&table, list, ley_device_list_get(list, i));
    table_print(&table);
}

static void print_list(const ley_device_list *list)
{
    bool any = ley_device_list_count(list) > 0;
    if (any)
        print_table(list);
    for (size_t i = 0; i < ley_device_list_note_count(list); i++)
        printf("%s%s\n", i == 0 && any ? "\n" : "", ley_device_list_note(list, i));
}

static int print_json(const parsed_arguments *arguments, const ley_device_list *list)
{
    json_t *report = json_begin(arguments), *devices = json_array(), *notes = json_array();
    for (size_t i = 0; i < ley_device_list_count(list); i++)
        json_add(devices, json_of_device(ley_device_list_get(list, i)));
    for (size_t i = 0; i < ley_device_list_note_count(list); i++)
        json_add(notes, json_text(ley_device_list_note(list, i)));
    json_put(report, "devices", devices);
    json_put(report, "notes", notes);
    return json_finish(report, "-");
}

static int devices_run(const parsed_arguments *arguments)
{
    const devices_values *values = arguments->values;
    ley_error error = {0};
    ley_device_list *list;
    if (ley_device_list_create(&list, &error) != LEY_OK)
        return fail_with(&error);
    int code = 0;
    if (values->json)
        code = print_json(arguments, list);
    else
        print_list(list);
    if (code == 0 && ley_device_list_count(list) == 0)
        code = fail(LEY_ERROR_NO_DEVICE, "no device found: install an OpenCL driver (ICD) that finds one");
    else if (code == 0 && count_usable(list) == 0)
        code = fail(LEY_ERROR_NO_DEVICE, "none of the devices can be used");
    ley_device_list_destroy(list);
    return code;
}

const subcommand devices_command = {
    .name = "devices",
    .summary = "List the devices of this machine, and why some of them cannot be used.",
    .examples = {"leyden devices", "leyden devices --json"},
    .options = OPTION_BLOCK(devices_options, devices_values, NULL),
    .run = devices_run,
};
