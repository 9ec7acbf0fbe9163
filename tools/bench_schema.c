#include "bench_schema.h"
#include "bench_values.h"
#include "console.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A member of the report: its name in it, "tables[0].devices". */
typedef struct member {
    const json_t *value;
    char name[200];
} member;

typedef struct reader {
    const char *path;
    const json_t *schema;
    ley_error *error;
} reader;

/* ---- Types ----------------------------------------------------------------------------------- */

static bool is_whole(const json_t *value)
{
    return json_is_integer(value) || (json_is_real(value) && json_real_value(value) == rint(json_real_value(value)));
}

static bool is_of(const json_t *value, const char *type)
{
    static const struct {
        const char *name;
        json_type type;
    } types[] = {{"object", JSON_OBJECT}, {"array", JSON_ARRAY}, {"string", JSON_STRING}, {"null", JSON_NULL}};
    if (strcmp(type, "number") == 0)
        return json_is_number(value);
    if (strcmp(type, "integer") == 0)
        return is_whole(value);
    if (strcmp(type, "boolean") == 0)
        return json_is_boolean(value);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(type, types[i].name) == 0)
            return json_typeof(value) == types[i].type;
    return true;
}

/* A type or an array of them; none: any. */
static bool is_of_any(const json_t *value, const json_t *types)
{
    const json_t *type;
    size_t i;
    if (!json_is_array(types))
        return types == NULL || is_of(value, json_string_value(types));
    JSON_EACH(types, i, type)
    {
        if (is_of(value, json_string_value(type)))
            return true;
    }
    return false;
}

/* The same, where the schema lists the values themselves: all of these are texts or null. */
static bool is_listed(const json_t *value, const json_t *schema)
{
    const json_t *only = json_object_get(schema, "const"), *list = json_object_get(schema, "enum"), *item;
    size_t i;
    bool is_there = only != NULL ? json_typeof(value) == json_typeof(only) : list == NULL;
    JSON_EACH(list, i, item)
    is_there = is_there || json_typeof(value) == json_typeof(item);
    return is_there;
}

static const char *type_name(const json_t *value)
{
    static const char *const names[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array", [JSON_STRING] = "a text", [JSON_INTEGER] = "a number",
        [JSON_REAL] = "a number",    [JSON_TRUE] = "true",      [JSON_FALSE] = "false",   [JSON_NULL] = "null"};
    return names[json_typeof(value)];
}

static const char *word_of(const char *type)
{
    static const char *const words[][2] = {{"object", "an object"},       {"array", "an array"},
                                           {"string", "a text"},          {"number", "a number"},
                                           {"integer", "a whole number"}, {"boolean", "true or false"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(type, words[i][0]) == 0)
            return words[i][1];
    return type;
}

/* "a number or null" */
static short_text expected(const json_t *schema)
{
    const json_t *types = json_object_get(schema, "type"), *either = json_object_get(schema, "anyOf"), *item;
    short_text text = text_of("%s", json_is_string(types) ? word_of(json_string_value(types)) : "");
    size_t i;
    JSON_EACH(types, i, item)
    text = text_of("%s%s%s", text.s, i > 0 ? " or " : "", word_of(json_string_value(item)));
    JSON_EACH(either, i, item)
    text = text_of("%s%s%s", text.s, i > 0 ? " or " : "", word_of(bench_text_at(item, "type")));
    return text.s[0] != '\0' ? text : text_of("a text");
}

/* ---- Members --------------------------------------------------------------------------------- */

static ley_status check(const reader *r, const member *m, const json_t *schema);

static ley_status check_members(const reader *r, const member *m, const json_t *schema)
{
    const char *key;
    json_t *of;
    json_object_foreach((json_t *)json_object_get(schema, "properties"), key, of)
    {
        member inner = {.value = json_object_get(m->value, key)};
        snprintf(inner.name, sizeof inner.name, "%.150s%s%.40s", m->name, m->name[0] != '\0' ? "." : "", key);
        const ley_status status = inner.value != NULL ? check(r, &inner, of) : LEY_OK;
        if (status != LEY_OK)
            return status;
    }
    return LEY_OK;
}

static ley_status check_items(const reader *r, const member *m, const json_t *schema)
{
    const json_t *of = json_object_get(schema, "items"), *item;
    size_t i;
    JSON_EACH(of != NULL && json_is_array(m->value) ? m->value : NULL, i, item)
    {
        member inner = {.value = item};
        snprintf(inner.name, sizeof inner.name, "%.150s[%zu]", m->name, i);
        const ley_status status = check(r, &inner, of);
        if (status != LEY_OK)
            return status;
    }
    return LEY_OK;
}

/* What a reference "#/definitions/row" stands for, and of several the one of the value's type. */
static const json_t *meant(const reader *r, const json_t *schema, const json_t *value)
{
    static const char before[] = "#/definitions/";
    const char *name = bench_text_at(schema, "$ref");
    const json_t *item;
    size_t i;
    if (strncmp(name, before, sizeof before - 1) == 0)
        return json_object_get(json_object_get(r->schema, "definitions"), name + sizeof before - 1);
    JSON_EACH(json_object_get(schema, "anyOf"), i, item)
    {
        if (is_of_any(value, json_object_get(item, "type")))
            return item;
    }
    return schema;
}

static ley_status check(const reader *r, const member *m, const json_t *schema)
{
    const json_t *of = meant(r, schema, m->value);
    const bool is_none = of == schema && json_object_get(schema, "anyOf") != NULL;
    if (is_none || !is_of_any(m->value, json_object_get(of, "type")) || !is_listed(m->value, of))
        return fail_into(r->error, LEY_ERROR_FILE,
                         "%s: no report of `leyden bench --json`: %s is %s, where %s is expected", r->path,
                         m->name[0] != '\0' ? m->name : "the whole", type_name(m->value), expected(of).s);
    const ley_status status = check_members(r, m, of);
    return status == LEY_OK ? check_items(r, m, of) : status;
}

ley_status bench_schema_check(const char *path, const json_t *report, ley_error *error)
{
    json_t *schema = json_of_lines(bench_schema);
    const reader r = {path, schema, error};
    const member whole = {.value = report};
    const ley_status status = check(&r, &whole, schema);
    json_decref(schema);
    return status;
}
