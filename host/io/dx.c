/* OpenDX scalar maps, as APBS writes them. docs/formats.md has the layout. */
#include "io/dx.h"

#include "error.h"
#include "io/binary.h"
#include "io/map_comment.h"
#include "io/text.h"
#include "io/text_array.h"
#include "parallel.h"
#include "target/map.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_BYTES = 32 /* of any number of the header */ };

/* ---- Writing --------------------------------------------------------------------------------- */

static ley_status print(ley_output *output, ley_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static ley_status print(ley_output *output, ley_error *error, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    locale_t old = uselocale(ley_c_locale());
    int length = vsnprintf(text, sizeof text, format, arguments);
    uselocale(old);
    va_end(arguments);
    return ley_output_write(output, text, (size_t)length, error);
}

/* "# line" for every line; control characters would end a line somewhere. */
static ley_status write_comment(ley_output *output, const char *comment, ley_error *error)
{
    while (*comment != '\0') {
        ley_status status = print(output, error, "# ");
        size_t length = strcspn(comment, "\n");
        for (size_t done = 0, part; done < length && status == LEY_OK; done += part) {
            char text[256];
            part = length - done < sizeof text ? length - done : sizeof text;
            for (size_t i = 0; i < part; i++) {
                char c = comment[done + i];
                text[i] = c == 127 || (unsigned char)c < ' ' ? ' ' : c;
            }
            status = ley_output_write(output, text, part, error);
        }
        if (status == LEY_OK)
            status = print(output, error, "\n");
        if (status != LEY_OK)
            return status;
        comment += length + (comment[length] == '\n');
    }
    return LEY_OK;
}

/* As APBS writes a number where its seven digits say the same double; else as many digits as that
 * takes, 17 at most. */
static void exact_text(double value, char text[NUMBER_BYTES])
{
    locale_t old = uselocale(ley_c_locale());
    for (int decimals = 6; decimals <= 16; decimals++) {
        snprintf(text, NUMBER_BYTES, "%.*e", decimals, value);
        if (strtod(text, NULL) == value)
            break;
    }
    uselocale(old);
}

/* A line of a keyword and three numbers. */
static ley_status write_three(ley_output *output, const char *keyword, const double values[3], ley_error *error)
{
    char text[3][NUMBER_BYTES];
    for (int i = 0; i < 3; i++)
        exact_text(values[i], text[i]);
    return print(output, error, "%s %s %s %s\n", keyword, text[0], text[1], text[2]);
}

ley_status ley_dx_write_header(ley_output *output, const ley_grid *grid, const char *title, const char *comment,
                               bool is_binary, ley_error *error)
{
    const long long n[3] = {grid->n[0], grid->n[1], grid->n[2]};
    ley_status status = print(output, error, "# Data from leyden %s\n# \n", ley_version());
    if (status == LEY_OK)
        status = write_comment(output, title, error);
    if (status == LEY_OK)
        status = print(output, error, "# \n");
    if (status == LEY_OK && comment != NULL)
        status = write_comment(output, comment, error);
    if (status == LEY_OK)
        status = print(output, error, "object 1 class gridpositions counts %lld %lld %lld\n", n[0], n[1], n[2]);
    if (status == LEY_OK)
        status = write_three(output, "origin", grid->origin_A, error);
    for (int axis = 0; axis < 3 && status == LEY_OK; axis++)
        status = write_three(output, "delta", grid->step_A[axis], error);
    if (status == LEY_OK)
        status = print(output, error, "object 2 class gridconnections counts %lld %lld %lld\n", n[0], n[1], n[2]);
    if (status == LEY_OK)
        status = print(output, error, "object 3 class array type double rank 0 items %lld %s data follows\n",
                       (long long)ley_grid_points(grid), is_binary ? "binary" : "       ");
    return status;
}

ley_status ley_dx_write_footer(ley_output *output, ley_error *error)
{
    return print(output, error,
                 "attribute \"dep\" string \"positions\"\n"
                 "object \"regular positions regular connections\"         class field\n"
                 "component \"positions\" value 1\n"
                 "component \"connections\" value 2\n"
                 "component \"data\" value 3\n");
}

static const text_layout layout = {.values_a_line = LEY_DX_VALUES_A_LINE, .factor = 1};

ley_status ley_dx_write_map(const ley_map *map, const char *path, const char *comment, int threads,
                            const volatile bool *cancel, ley_error *error)
{
    ley_output output;
    char title[MAP_TITLE];
    map_title(map, ley_map_units(map), title);
    ley_status status = map_check_values(map, path, error);
    if (status == LEY_OK)
        status = ley_output_open(&output, path, ley_output_is_packed(path), cancel, error);
    if (status != LEY_OK)
        return status;
    status = ley_dx_write_header(&output, ley_map_grid(map), title, comment, false, error);
    if (status == LEY_OK)
        status = text_array_write(&output, map, &layout, threads, error);
    if (status == LEY_OK)
        status = ley_dx_write_footer(&output, error);
    if (status == LEY_OK)
        return ley_output_commit(&output, error);
    ley_output_abandon(&output);
    return status;
}

ley_status ley_map_write_dx(const ley_map *map, const char *path, const char *comment, const volatile bool *cancel,
                            ley_error *error)
{
    return ley_dx_write_map(map, path, comment, parallel_cores(), cancel, error);
}

/* ---- Reading --------------------------------------------------------------------------------- */

typedef struct dx_reader {
    const char *path;
    ley_text *text;
    ley_grid grid;
    bool has_counts, has_origin;
    bool is_double, is_binary; /* as the values are announced */
    int deltas;
    map_origin origin;
    const char *word; /* the current one; NULL at the end of the file */
    size_t length;
} dx_reader;

/* The next word that is in no comment. */
static ley_status next(dx_reader *reader, ley_error *error)
{
    for (;;) {
        ley_status status = ley_text_word(reader->text, &reader->word, &reader->length, error);
        if (status != LEY_OK || reader->word == NULL || reader->word[0] != '#')
            return status;
        char comment[256];
        status = ley_text_rest(reader->text, comment, sizeof comment, error);
        if (status != LEY_OK)
            return status;
        map_comment_read(comment, &reader->origin);
    }
}

static bool is(const dx_reader *reader, const char *keyword)
{
    return reader->word != NULL && ley_word_is(reader->word, reader->length, keyword);
}

static ley_status fail_word(const dx_reader *reader, const char *what, const char *complaint, ley_error *error)
{
    char quote[LEY_TEXT_QUOTE];
    if (reader->word == NULL)
        return ley_text_fail(reader->text, error, "the file ends where %s should be", what);
    return ley_text_fail(reader->text, error, "%s: %s %s", what, ley_quote(reader->word, reader->length, quote),
                         complaint);
}

static ley_status expect(dx_reader *reader, const char *keyword, const char *what, ley_error *error)
{
    ley_status status = next(reader, error);
    if (status == LEY_OK && !is(reader, keyword))
        status = fail_word(reader, what, "is not it", error);
    return status;
}

static ley_status read_three(dx_reader *reader, const char *what, double values[3], ley_error *error)
{
    for (int axis = 0; axis < 3; axis++) {
        ley_status status = next(reader, error);
        if (status != LEY_OK)
            return status;
        ley_number kind =
            reader->word != NULL ? ley_parse_double(reader->word, reader->length, &values[axis]) : LEY_NUMBER_NONE;
        if (kind != LEY_NUMBER_FINE)
            return fail_word(reader, what, ley_number_complaint(kind), error);
    }
    return LEY_OK;
}

static ley_status read_counts(dx_reader *reader, int64_t n[3], ley_error *error)
{
    ley_status status = expect(reader, "COUNTS", "the word counts", error);
    for (int axis = 0; axis < 3 && status == LEY_OK; axis++) {
        status = next(reader, error);
        if (status != LEY_OK)
            return status;
        ley_number kind =
            reader->word != NULL ? ley_parse_int64(reader->word, reader->length, &n[axis]) : LEY_NUMBER_NONE;
        if (kind != LEY_NUMBER_FINE)
            return fail_word(reader, "counts", ley_number_complaint(kind), error);
        if (n[axis] < 1)
            return fail_word(reader, "counts", "is not positive", error);
    }
    return status;
}

static ley_status read_delta(dx_reader *reader, ley_error *error)
{
    double row[3];
    ley_status status = read_three(reader, "delta", row, error);
    if (status != LEY_OK)
        return status;
    if (reader->deltas == 3)
        return ley_text_fail(reader->text, error, "more than three delta rows");
    double *step_A = reader->grid.step_A[reader->deltas++];
    for (int axis = 0; axis < 3; axis++)
        step_A[axis] = row[axis] + 0.0; /* never -0 */
    return LEY_OK;
}

/* ... type T rank R [shape S] items N [attributes] data follows. */
static ley_status read_array_header(dx_reader *reader, int64_t *items, ley_error *error)
{
    *items = -1;
    for (;;) {
        ley_status status = next(reader, error);
        if (status != LEY_OK)
            return status;
        if (is(reader, "DATA"))
            break;
        bool counted = is(reader, "ITEMS") || is(reader, "RANK") || is(reader, "SHAPE");
        if (is(reader, "BINARY")) {
            reader->is_binary = true;
            continue;
        }
        bool is_items = is(reader, "ITEMS"), is_rank = is(reader, "RANK");
        if (is(reader, "IEEE") || is(reader, "LSB") || is(reader, "MSB") || is(reader, "XDR"))
            return ley_text_fail(reader->text, error,
                                 "binary values of other kinds than APBS writes are not supported");
        bool is_type = is(reader, "TYPE");
        if (!counted && !is_type)
            return fail_word(reader, "array", "is unknown here", error);
        status = next(reader, error);
        int64_t value = 0;
        ley_number kind = LEY_NUMBER_FINE;
        if (status == LEY_OK && (counted || reader->word == NULL))
            kind = reader->word != NULL ? ley_parse_int64(reader->word, reader->length, &value) : LEY_NUMBER_NONE;
        if (status == LEY_OK && kind != LEY_NUMBER_FINE)
            status = fail_word(reader, "array", ley_number_complaint(kind), error);
        else if (status == LEY_OK && counted && !is_items && value != 1 && !(is_rank && value == 0))
            status = fail_word(reader, "array", "is no rank or shape of a scalar map", error);
        if (status != LEY_OK)
            return status;
        if (is_items)
            *items = value;
        is_type = is_type && is(reader, "DOUBLE");
        reader->is_double = reader->is_double || is_type;
    }
    if (reader->is_binary && !reader->is_double)
        return ley_text_fail(reader->text, error, "binary values of another type than double are not supported");
    return expect(reader, "FOLLOWS", "the word follows (values elsewhere are not supported)", error);
}

static ley_status check_header(dx_reader *reader, int64_t items, ley_error *error)
{
    if (!reader->has_counts || !reader->has_origin || reader->deltas < 3)
        return ley_text_fail(reader->text, error, "values before %s",
                             !reader->has_counts   ? "gridpositions"
                             : !reader->has_origin ? "origin"
                                                   : "three delta rows");
    ley_status status = ley_grid_check(&reader->grid, error);
    if (status != LEY_OK) {
        ley_error_prefix(error, "%s:%lld", reader->path, (long long)ley_text_line_number(reader->text));
        return status;
    }
    int64_t points = ley_grid_points(&reader->grid);
    if (items != points)
        return ley_text_fail(reader->text, error, "%lld items for a grid of %lld points", (long long)items,
                             (long long)points);
    return LEY_OK;
}

/* Everything in front of the values. */
static ley_status read_header(dx_reader *reader, ley_error *error)
{
    int64_t connections[3], items;
    for (;;) {
        ley_status status = next(reader, error);
        if (status != LEY_OK)
            return status;
        if (is(reader, "ORIGIN")) {
            status = read_three(reader, "origin", reader->grid.origin_A, error);
            reader->has_origin = true;
        } else if (is(reader, "DELTA")) {
            status = read_delta(reader, error);
        } else if (is(reader, "ATTRIBUTE")) {
            status = ley_text_rest(reader->text, NULL, 0, error);
        } else if (is(reader, "OBJECT")) {
            while (status == LEY_OK && reader->word != NULL && !is(reader, "CLASS"))
                status = next(reader, error);
            if (status == LEY_OK)
                status = next(reader, error);
            if (status == LEY_OK && is(reader, "GRIDPOSITIONS")) {
                status = read_counts(reader, reader->grid.n, error);
                reader->has_counts = true;
            } else if (status == LEY_OK && is(reader, "GRIDCONNECTIONS")) {
                status = read_counts(reader, connections, error);
                if (status == LEY_OK && reader->has_counts &&
                    memcmp(connections, reader->grid.n, sizeof connections) != 0)
                    status = ley_text_fail(reader->text, error, "connections and positions have different counts");
            } else if (status == LEY_OK && is(reader, "ARRAY")) {
                status = read_array_header(reader, &items, error);
                return status == LEY_OK ? check_header(reader, items, error) : status;
            } else if (status == LEY_OK) {
                status = fail_word(reader, "an object's class", "is none of a scalar map", error);
            }
        } else {
            status = fail_word(reader, "an OpenDX header", "does not belong there", error);
        }
        if (status != LEY_OK)
            return status;
    }
}

/* What follows the values says nothing new, but further values would mean that the header was
 * wrong. */
static ley_status read_footer(dx_reader *reader, ley_error *error)
{
    for (;;) {
        ley_status status = next(reader, error);
        if (status != LEY_OK || reader->word == NULL)
            return status;
        if (!is(reader, "ATTRIBUTE") && !is(reader, "OBJECT") && !is(reader, "COMPONENT") && !is(reader, "END"))
            return fail_word(reader, "behind the last value", "does not belong there", error);
        status = ley_text_rest(reader->text, NULL, 0, error);
        if (status != LEY_OK)
            return status;
    }
}

static ley_status next_value(void *context, const char **word, size_t *length, ley_error *error)
{
    dx_reader *reader = context;
    const ley_status status = next(reader, error);
    *word = reader->word;
    *length = reader->length;
    return status;
}

static ley_status read_text_values(dx_reader *reader, ley_map **map, ley_error *error)
{
    float *values = NULL;
    const text_values from = {
        .text = reader->text, .path = reader->path, .context = reader, .next = next_value, .factor = 1};
    ley_status status = text_array_read(&from, &reader->grid, &values, error);
    if (status == LEY_OK)
        status = read_footer(reader, error);
    if (status == LEY_OK)
        status = text_array_make_map(values, &reader->grid, &reader->origin, map, error);
    free(values);
    return status;
}

/* APBS writes its machine's order of bytes, and runs on little-endian ones. */
static const binary_array doubles = {BINARY_FLOAT64, false, {2, 1, 0}};

/* Values begin behind the line that announces them, however that ends. */
static ley_status pass_line(ley_stream *stream, ley_error *error)
{
    unsigned char byte = 0, next = 0;
    size_t there = 0;
    ley_status status = LEY_OK;
    while (byte != '\n' && byte != '\r' && status == LEY_OK)
        status = binary_read(stream, &byte, 1, error);
    if (status == LEY_OK && byte == '\r')
        status = ley_stream_peek(stream, &next, 1, &there, error);
    return status == LEY_OK && there > 0 && next == '\n' ? binary_read(stream, &next, 1, error) : status;
}

static ley_status read_binary_values(ley_stream *stream, const ley_grid *grid, const map_origin *origin, ley_map **map,
                                     ley_error *error)
{
    const int64_t points = ley_grid_points(grid), each = binary_type_bytes(doubles.type);
    const ley_status status = pass_line(stream, error);
    const int64_t size = ley_stream_size(stream), rest = size - ley_stream_position(stream);
    if (status != LEY_OK)
        return status;
    if (size < 0 ? !ley_stream_may_hold(stream, (double)points * (double)each) : rest / each < points)
        return size < 0 ? ley_fail(error, LEY_ERROR_INPUT, "%s: cut short: %lld values are to be there",
                                   ley_stream_path(stream), (long long)points)
                        : ley_fail(error, LEY_ERROR_INPUT,
                                   "%s: cut short: %lld bytes of values, but %lld values are to be there",
                                   ley_stream_path(stream), (long long)rest, (long long)points);
    return binary_make_map(stream, &doubles, grid, origin, BINARY_GOES_ON, map, error);
}

/* Its first word, behind a byte order mark and comments, is one of a header's. */
bool dx_is(const unsigned char *bytes, size_t size)
{
    static const char *const words[] = {"OBJECT", "ORIGIN", "DELTA", "ATTRIBUTE"};
    const char *at = (const char *)bytes, *end = at + size;
    at += strncmp(at, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    for (bool is_comment = false; at < end && (is_comment || ley_is_space(*at) || *at == '#'); at++)
        is_comment = (is_comment || *at == '#') && *at != '\n' && *at != '\r';
    const char *stop = at;
    while (stop < end && !ley_is_space(*stop) && *stop != '\0')
        stop++;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (ley_word_is(at, (size_t)(stop - at), words[i]))
            return true;
    return false;
}

ley_status dx_read(ley_stream *stream, ley_map **map, ley_error *error)
{
    dx_reader reader = {.path = ley_stream_path(stream)};
    ley_status status = ley_text_open_stream(stream, &reader.text, error);
    if (status != LEY_OK)
        return status;
    status = ley_text_keep_bytes(reader.text, error);
    if (status == LEY_OK)
        status = read_header(&reader, error);
    if (status == LEY_OK && reader.is_binary)
        status = ley_text_unread(reader.text, error);
    if (status == LEY_OK && !reader.is_binary)
        status = read_text_values(&reader, map, error);
    ley_text_close(reader.text);
    return status == LEY_OK && reader.is_binary ? read_binary_values(stream, &reader.grid, &reader.origin, map, error)
                                                : status;
}
