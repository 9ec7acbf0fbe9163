/* The JSON file beside a map whose own file has no place for its grid. docs/formats.md has the
 * layout. */
#include "io/map_header.h"

#include "core/number.h"
#include "error.h"
#include "io/binary.h"
#include "io/json_text.h"
#include "io/map_comment.h"
#include "io/stored_map.h"
#include "io/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VERSION = 1, MOST_HEADER_BYTES = 1 << 20 };

static const char value_type[] = "float32", byte_order[] = "little", value_order[] = "x fastest, then y, then z";

const map_header_kind map_header_raw = {"leyden raw map", true}, map_header_npy = {"leyden npy map", false};

char *map_header_file(const char *path)
{
    char *header;
    return asprintf(&header, "%s.json", path) >= 0 ? header : NULL;
}

/* Whoever packs a map, or unpacks one, leaves its header as it was named. */
char *map_header_find(const char *path)
{
    char *header = map_header_file(path), *other = NULL;
    const size_t length = strlen(path), gz = strlen(".gz");
    if (header == NULL || access(header, F_OK) == 0)
        return header;
    const int made = ley_ends_with(path, ".gz") ? asprintf(&other, "%.*s.json", (int)(length - gz), path)
                                                : asprintf(&other, "%s.gz.json", path);
    if (made < 0 || access(other, F_OK) != 0) {
        if (made >= 0)
            free(other);
        return header;
    }
    free(header);
    return other;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static bool put_string(FILE *to, const char *text, size_t length)
{
    char *string = ley_json_string(text, length);
    if (string != NULL)
        fputs(string, to);
    free(string);
    return string != NULL;
}

static bool put_comment(FILE *to, const char *comment)
{
    bool done = true;
    fputs("  \"comment\": [", to);
    for (const char *line = comment; *line != '\0' && done;) {
        const size_t length = strcspn(line, "\n");
        fputs(line == comment ? "\n    " : ",\n    ", to);
        done = put_string(to, line, length);
        line += length + (line[length] == '\n');
    }
    fputs(*comment != '\0' ? "\n  ]" : "]", to);
    return done;
}

static void put_three(FILE *to, const double values[3])
{
    char text[3][LEY_JSON_NUMBER];
    for (int axis = 0; axis < 3; axis++)
        ley_json_number(values[axis], text[axis]);
    fprintf(to, "[%s, %s, %s]", text[0], text[1], text[2]);
}

static bool put_header(FILE *to, const map_header_kind *kind, const ley_map *map, const char *comment,
                       const char *facts)
{
    const ley_grid *grid = ley_map_grid(map);
    const char *units = ley_map_units(map);
    fprintf(to, "{\n  \"format\": \"%s\",\n  \"version\": %d,\n  \"creator\": \"leyden %s\",\n", kind->format, VERSION,
            ley_version());
    if (kind->has_values)
        fprintf(to, "  \"values\": \"%s\",\n  \"byte_order\": \"%s\",\n  \"order\": \"%s\",\n", value_type, byte_order,
                value_order);
    fprintf(to, "  \"n\": [%lld, %lld, %lld],\n  \"origin_A\": ", (long long)grid->n[0], (long long)grid->n[1],
            (long long)grid->n[2]);
    put_three(to, grid->origin_A);
    for (int axis = 0; axis < 3; axis++) {
        fputs(axis == 0 ? ",\n  \"step_A\": [" : ", ", to);
        put_three(to, grid->step_A[axis]);
    }
    fputs("],\n  \"units\": ", to);
    bool done = put_string(to, units, strlen(units));
    if (done && comment != NULL) {
        fputs(",\n", to);
        done = put_comment(to, comment);
    }
    if (facts != NULL)
        fprintf(to, ",\n  \"facts\": %s", facts);
    fputs("\n}\n", to);
    return done;
}

char *map_header_text(const map_header_kind *kind, const ley_map *map, const char *comment, const char *facts)
{
    char *text = NULL;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    if (to == NULL)
        return NULL;
    const bool done = put_header(to, kind, map, comment, facts);
    if (fclose(to) == 0 && done)
        return text;
    free(text);
    return NULL;
}

static ley_status check_facts(const char *facts, ley_error *error)
{
    ley_json json = {.path = "facts", .at = facts, .end = facts + strlen(facts), .line = 1};
    ley_json object = json;
    ley_status status = ley_json_enter(&object, '{', "facts", error);
    if (status == LEY_OK)
        status = ley_json_skip(&json, error);
    if (status == LEY_OK)
        status = ley_json_end(&json, error);
    if (status != LEY_OK && error != NULL)
        error->status = LEY_ERROR_USAGE;
    return status == LEY_OK ? LEY_OK : LEY_ERROR_USAGE;
}

/* ---- Both files ------------------------------------------------------------------------------ */

/* The header comes last: who waits for it finds the map. Once the map has its name nothing cancels
 * the header any more. */
static ley_status commit_both(values_file *values, ley_output *header, ley_error *error)
{
    const ley_status status = values_file_commit(values, error);
    if (status != LEY_OK) {
        ley_output_abandon(header);
        return status;
    }
    header->cancel = NULL;
    return ley_output_commit(header, error);
}

static ley_status write_both(const ley_map *map, const char *path, const map_front *front, const char *header_path,
                             const char *text, const volatile bool *cancel, ley_error *error)
{
    values_file values;
    ley_output header;
    ley_status status = ley_output_open(&header, header_path, false, cancel, error);
    if (status != LEY_OK)
        return status;
    status = ley_output_write(&header, text, strlen(text), error);
    if (status == LEY_OK)
        status = values_file_open(&values, map, path, front->bytes, front->size, cancel, error);
    if (status == LEY_OK)
        return commit_both(&values, &header, error);
    ley_output_abandon(&header);
    return status;
}

ley_status map_header_write(const map_header_kind *kind, const ley_map *map, const char *path, const map_front *front,
                            const char *comment, const char *facts, const volatile bool *cancel, ley_error *error)
{
    ley_status status = facts != NULL ? check_facts(facts, error) : LEY_OK;
    if (status == LEY_OK)
        status = values_file_check(map, path, error);
    if (status != LEY_OK)
        return status;
    char *header_path = map_header_file(path), *text = map_header_text(kind, map, comment, facts);
    if (header_path == NULL || text == NULL)
        status = ley_fail_memory(error, strlen(path), "a map's header");
    else if (strlen(text) > MOST_HEADER_BYTES)
        status = ley_fail(error, LEY_ERROR_USAGE, "%s: a header of %zu bytes; at most %d are read again", header_path,
                          strlen(text), MOST_HEADER_BYTES);
    else
        status = write_both(map, path, front, header_path, text, cancel, error);
    free(text);
    free(header_path);
    return status;
}

/* ---- Reading --------------------------------------------------------------------------------- */

typedef struct header_reader {
    ley_json json;
    const map_header_kind *kind;
    map_header *header;
} header_reader;

/* "step_A[1][2]" is the item 2 of `what` "step_A[1]". */
static ley_status read_items(header_reader *r, const char *what, int64_t whole[3], double real[3], ley_error *error)
{
    bool is_first = true, is_there;
    ley_status status = ley_json_enter(&r->json, '[', what, error);
    for (int i = 0; i <= 3 && status == LEY_OK; i++) {
        char item[LEY_JSON_KEY + 16];
        snprintf(item, sizeof item, "%s[%d]", what, i);
        status = ley_json_item(&r->json, &is_first, &is_there, error);
        if (status == LEY_OK && is_there != (i < 3))
            return ley_json_fail(&r->json, error, "%s: %s than three numbers", what, is_there ? "more" : "fewer");
        if (status == LEY_OK && is_there)
            status = whole != NULL ? ley_json_int64(&r->json, item, &whole[i], error)
                                   : ley_json_double(&r->json, item, &real[i], error);
    }
    return status;
}

static ley_status read_n(header_reader *r, const char *what, ley_error *error)
{
    int64_t *n = r->header->grid.n;
    const ley_status status = read_items(r, what, n, NULL, error);
    for (int axis = 0; axis < 3 && status == LEY_OK; axis++)
        if (n[axis] < 1)
            return ley_json_fail(&r->json, error, "%s[%d]: %lld is not positive", what, axis, (long long)n[axis]);
    return status;
}

static ley_status read_origin(header_reader *r, const char *what, ley_error *error)
{
    return read_items(r, what, NULL, r->header->grid.origin_A, error);
}

static ley_status read_steps(header_reader *r, const char *what, ley_error *error)
{
    bool is_first = true, is_there;
    ley_status status = ley_json_enter(&r->json, '[', what, error);
    for (int m = 0; m <= 3 && status == LEY_OK; m++) {
        char row[LEY_JSON_KEY + 16];
        snprintf(row, sizeof row, "%s[%d]", what, m);
        status = ley_json_item(&r->json, &is_first, &is_there, error);
        if (status == LEY_OK && is_there != (m < 3))
            return ley_json_fail(&r->json, error, "%s: %s than three vectors", what, is_there ? "more" : "fewer");
        if (status == LEY_OK && is_there)
            status = read_items(r, row, NULL, r->header->grid.step_A[m], error);
        for (int axis = 0; axis < 3 && status == LEY_OK && is_there; axis++)
            r->header->grid.step_A[m][axis] += 0.0; /* never -0 */
    }
    return status;
}

static ley_status read_units(header_reader *r, const char *what, ley_error *error)
{
    return ley_json_text(&r->json, what, r->header->origin.units, sizeof r->header->origin.units, error);
}

/* A comment that is no list of lines says nothing, and is no error. */
static ley_status read_comment(header_reader *r, const char *what, ley_error *error)
{
    ley_json lines = r->json;
    char line[512];
    bool is_first = true, is_there = true;
    ley_status status = ley_json_enter(&lines, '[', what, NULL);
    while (status == LEY_OK && ley_json_item(&lines, &is_first, &is_there, NULL) == LEY_OK && is_there) {
        const ley_json at = lines;
        if (ley_json_text(&lines, what, line, sizeof line, NULL) == LEY_OK) {
            map_comment_read(line, &r->header->origin);
            continue;
        }
        lines = at;
        status = ley_json_skip(&lines, NULL);
    }
    return ley_json_skip(&r->json, error);
}

static ley_status expect_text(header_reader *r, const char *what, const char *expected, ley_error *error)
{
    char text[64], quote[LEY_TEXT_QUOTE];
    const ley_status status = ley_json_text(&r->json, what, text, sizeof text, error);
    if (status != LEY_OK || strcmp(text, expected) == 0)
        return status;
    return ley_json_fail(&r->json, error, "%s: %s; only '%s' can be read", what, ley_quote(text, strlen(text), quote),
                         expected);
}

static ley_status read_format(header_reader *r, const char *what, ley_error *error)
{
    return expect_text(r, what, r->kind->format, error);
}

static ley_status read_values_type(header_reader *r, const char *what, ley_error *error)
{
    return expect_text(r, what, value_type, error);
}

static ley_status read_byte_order(header_reader *r, const char *what, ley_error *error)
{
    return expect_text(r, what, byte_order, error);
}

static ley_status read_version(header_reader *r, const char *what, ley_error *error)
{
    int64_t version;
    const ley_status status = ley_json_int64(&r->json, what, &version, error);
    if (status != LEY_OK || version == VERSION)
        return status;
    return ley_json_fail(&r->json, error, "%s: %lld of the format; only version %d can be read", what,
                         (long long)version, VERSION);
}

static const struct {
    const char *name;
    ley_status (*read)(header_reader *r, const char *what, ley_error *error);
    bool may_lack, of_values;
} members[] = {{"format", read_format, false, false},
               {"version", read_version, false, false},
               {"values", read_values_type, false, true},
               {"byte_order", read_byte_order, false, true},
               {"n", read_n, false, false},
               {"origin_A", read_origin, false, false},
               {"step_A", read_steps, false, false},
               {"units", read_units, true, false},
               {"comment", read_comment, true, false}};

enum { MEMBERS = sizeof members / sizeof *members };

static ley_status read_member(header_reader *r, const char *key, bool is_read[MEMBERS], ley_error *error)
{
    for (int i = 0; i < MEMBERS; i++)
        if (strcmp(members[i].name, key) == 0 && (r->kind->has_values || !members[i].of_values)) {
            if (is_read[i])
                return ley_json_fail(&r->json, error, "%s: a second one", key);
            is_read[i] = true;
            return members[i].read(r, key, error);
        }
    return ley_json_skip(&r->json, error);
}

ley_status map_header_parse(const map_header_kind *kind, const char *path, const char *text, size_t length,
                            map_header *header, ley_error *error)
{
    bool is_read[MEMBERS] = {false}, is_first = true, is_there = true;
    char key[LEY_JSON_KEY];
    *header = (map_header){.origin.units = ""};
    header_reader r = {
        .json = {.path = path, .at = text, .end = text + length, .line = 1}, .kind = kind, .header = header};
    ley_status status = ley_json_enter(&r.json, '{', "a map's header", error);
    while (status == LEY_OK && is_there) {
        status = ley_json_member(&r.json, &is_first, key, &is_there, error);
        if (status == LEY_OK && is_there)
            status = read_member(&r, key, is_read, error);
    }
    if (status == LEY_OK)
        status = ley_json_end(&r.json, error);
    for (int i = 0; i < MEMBERS && status == LEY_OK; i++)
        if (!is_read[i] && !members[i].may_lack && (kind->has_values || !members[i].of_values))
            return ley_fail(error, LEY_ERROR_INPUT, "%s: no '%s'", path, members[i].name);
    if (status == LEY_OK && (status = ley_grid_check(&header->grid, error)) != LEY_OK)
        ley_error_prefix(error, "%s", path);
    return status;
}

/* With a byte more than a header may have. */
static ley_status read_text(const map_header_kind *kind, ley_stream *stream, map_header *header, ley_error *error)
{
    const char *path = ley_stream_path(stream);
    size_t size = 0;
    char *text = malloc(MOST_HEADER_BYTES + 1);
    if (text == NULL)
        return ley_fail_memory(error, MOST_HEADER_BYTES, "a map's header");
    int64_t got = 1;
    for (; got > 0 && size <= MOST_HEADER_BYTES; size += got > 0 ? (size_t)got : 0)
        got = ley_stream_read(stream, text + size, MOST_HEADER_BYTES + 1 - size);
    ley_status status = LEY_OK;
    if (got < 0)
        status = ley_stream_fail(stream, path, error);
    else if (size > MOST_HEADER_BYTES)
        status = ley_fail(error, LEY_ERROR_INPUT, "%s: larger than %d bytes: no map's header", path, MOST_HEADER_BYTES);
    if (status == LEY_OK)
        status = ley_text_clean(path, text, &size, error);
    if (status == LEY_OK)
        status = map_header_parse(kind, path, text, size, header, error);
    free(text);
    return status;
}

ley_status map_header_read(const map_header_kind *kind, const char *header_path, map_header *header, ley_error *error)
{
    ley_stream *stream;
    ley_status status = ley_stream_open(header_path, &stream, error);
    if (status != LEY_OK)
        return status;
    status = read_text(kind, stream, header, error);
    ley_stream_close(stream);
    return status;
}
