#include "io/npy.h"

#include "core/number.h"
#include "core/sizes.h"
#include "error.h"
#include "io/map_header.h"
#include "io/stored_map.h"
#include "memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char magic[6] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};

enum {
    VERSION_BYTES = 2,
    MOST_TEXT_BYTES = 1 << 16 /* of a header that is read */
};

/* ---- Writing --------------------------------------------------------------------------------- */

/* Version 1.0: the text is as long as two bytes say, and ends in a newline. */
void npy_header(const char *type, const char *shape, char header[NPY_HEADER_BYTES])
{
    enum { BEFORE = sizeof magic + VERSION_BYTES + 2, TEXT = NPY_HEADER_BYTES - BEFORE };
    _Static_assert(TEXT < 256, "the length's upper byte is 0");
    char text[NPY_HEADER_BYTES];
    memset(header, ' ', NPY_HEADER_BYTES);
    memcpy(header, magic, sizeof magic);
    memcpy(header + sizeof magic, (const char[]){1, 0, TEXT, 0}, VERSION_BYTES + 2);
    const int length =
        snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", type, shape);
    memcpy(header + BEFORE, text, (size_t)length);
    header[NPY_HEADER_BYTES - 1] = '\n';
}

ley_status npy_write(const ley_map *map, const char *path, const char *comment, const char *facts,
                     const volatile bool *cancel, ley_error *error)
{
    const int64_t *n = ley_map_grid(map)->n;
    char header[NPY_HEADER_BYTES], shape[NPY_HEADER_BYTES / 2];
    snprintf(shape, sizeof shape, "%lld, %lld, %lld", (long long)n[2], (long long)n[1], (long long)n[0]);
    npy_header("<f4", shape, header);
    const map_front front = {header, sizeof header};
    return map_header_write(&map_header_npy, map, path, &front, comment, facts, cancel, error);
}

ley_status npy_create(const ley_grid *grid, const char *path, ley_map **map, ley_error *error)
{
    return stored_map_create(grid, path, NPY_HEADER_BYTES, false, map, error);
}

/* ---- Reading the array's header -------------------------------------------------------------- */

typedef struct npy_text {
    const char *path, *at, *end;
} npy_text;

static void pass_blanks(npy_text *t)
{
    while (t->at < t->end && ley_is_space(*t->at))
        t->at++;
}

static bool take(npy_text *t, char c)
{
    pass_blanks(t);
    const bool is_there = t->at < t->end && *t->at == c;
    t->at += is_there;
    return is_there;
}

static ley_status fail_text(const npy_text *t, const char *what, ley_error *error)
{
    char quote[LEY_TEXT_QUOTE];
    return ley_fail(error, LEY_ERROR_INPUT, "%s: the array's header: %s where %s should be", t->path,
                    ley_quote(t->at, (size_t)(t->end - t->at), quote), what);
}

/* A string, in either kind of quotation marks, as a word of the text. */
static bool take_string(npy_text *t, const char **word, size_t *length)
{
    pass_blanks(t);
    if (t->at == t->end || (*t->at != '\'' && *t->at != '"'))
        return false;
    const char *stop = memchr(t->at + 1, *t->at, (size_t)(t->end - t->at - 1));
    if (stop == NULL)
        return false;
    *word = t->at + 1;
    *length = (size_t)(stop - *word);
    t->at = stop + 1;
    return true;
}

static bool take_word(npy_text *t, const char *word)
{
    const size_t length = strlen(word);
    pass_blanks(t);
    const bool is_there = (size_t)(t->end - t->at) >= length && memcmp(t->at, word, length) == 0;
    t->at += is_there ? length : 0;
    return is_there;
}

/* "<f8": which types can be read is for the caller to say. */
static ley_status parse_type(npy_text *t, npy_array *array, ley_error *error)
{
    const char *word;
    size_t length;
    if (!take_string(t, &word, &length))
        return fail_text(t, "a type", error);
    int64_t n = 0;
    const bool is_text = length > 3 && (word[1] == 'U' || word[1] == 'S');
    if (length < 3 || (length > 3 && !is_text) || word[0] == '\0' || strchr("<>|=", word[0]) == NULL ||
        word[2] == '0' || ley_parse_int64(word + 2, length - 2, &n) != LEY_NUMBER_FINE || n < 1 ||
        n > NPY_MOST_LETTERS) {
        char quote[LEY_TEXT_QUOTE];
        return ley_fail(error, LEY_ERROR_INPUT, "%s: values of type %s cannot be read", t->path,
                        ley_quote(word, length, quote));
    }
    array->is_big_endian = word[0] == '>';
    array->kind = word[1];
    array->length = (int)n;
    array->bytes = array->kind == 'U' ? NPY_LETTER_BYTES * array->length : array->length;
    return LEY_OK;
}

static ley_status parse_shape(npy_text *t, npy_array *array, ley_error *error)
{
    if (!take(t, '('))
        return fail_text(t, "a shape", error);
    bool goes_on = true;
    for (array->extents = 0, array->count = 1; !take(t, ')'); array->extents++) {
        if (!goes_on)
            return fail_text(t, "',' or ')'", error);
        pass_blanks(t);
        const char *word = t->at;
        while (array->extents < NPY_MOST_EXTENTS && t->at < t->end && ley_is_digit(*t->at))
            t->at++;
        if (array->extents == NPY_MOST_EXTENTS ||
            ley_parse_int64(word, (size_t)(t->at - word), &array->n[array->extents]) != LEY_NUMBER_FINE)
            return fail_text(t, "an extent, one of four at most,", error);
        if (!ley_multiply(array->count, array->n[array->extents], &array->count))
            return ley_fail(error, LEY_ERROR_INPUT, "%s: an array of more numbers than there can be", t->path);
        goes_on = take(t, ',');
    }
    return LEY_OK;
}

static ley_status parse_order(npy_text *t, npy_array *array, ley_error *error)
{
    array->is_fortran = take_word(t, "True");
    return array->is_fortran || take_word(t, "False") ? LEY_OK : fail_text(t, "True or False", error);
}

ley_status npy_parse(const char *path, const char *text, size_t length, npy_array *array, ley_error *error)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    npy_text t = {path, text, text + length};
    bool is_there[3] = {false};
    const char *word;
    size_t letters;
    if (!take(&t, '{'))
        return fail_text(&t, "'{'", error);
    while (!take(&t, '}')) {
        int key = 0;
        ley_status status = LEY_OK;
        if (!take_string(&t, &word, &letters) || !take(&t, ':'))
            return fail_text(&t, "a member", error);
        while (key < 3 && (strlen(keys[key]) != letters || memcmp(word, keys[key], letters) != 0))
            key++;
        if (key == 3 || is_there[key])
            return fail_text(&t, "'descr', 'fortran_order' or 'shape', each of them once,", error);
        is_there[key] = true;
        status = key == 0   ? parse_type(&t, array, error)
                 : key == 1 ? parse_order(&t, array, error)
                            : parse_shape(&t, array, error);
        if (status != LEY_OK)
            return status;
        if (!take(&t, ',')) {
            if (!take(&t, '}'))
                return fail_text(&t, "',' or '}'", error);
            break;
        }
    }
    for (int key = 0; key < 3; key++)
        if (!is_there[key])
            return ley_fail(error, LEY_ERROR_INPUT, "%s: the array's header: no '%s'", path, keys[key]);
    return LEY_OK;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Versions differ in how many bytes the length of the text has: two, from 2.0 on four. */
static ley_status read_length(ley_stream *stream, int64_t *bytes, ley_error *error)
{
    const char *path = ley_stream_path(stream);
    unsigned char front[sizeof magic + VERSION_BYTES] = {0}, length[4] = {0};
    const int64_t size = ley_stream_size(stream);
    if (size >= 0 && size < (int64_t)(sizeof front + sizeof length))
        return ley_fail(error, LEY_ERROR_INPUT, "%s: not a NumPy array: %lld bytes", path, (long long)size);
    ley_status status = binary_read(stream, front, sizeof front, error);
    if (status != LEY_OK)
        return status;
    const int version = front[sizeof magic];
    if (memcmp(front, magic, sizeof magic) != 0)
        return ley_fail(error, LEY_ERROR_INPUT, "%s: not a NumPy array, by its first bytes", path);
    if (version < 1 || version > 3)
        return ley_fail(error, LEY_ERROR_INPUT, "%s: version %d of the format; only 1 to 3 can be read", path, version);
    status = binary_read(stream, length, version == 1 ? 2 : 4, error);
    *bytes = length[0] + 256 * (int64_t)length[1] + 65536 * (int64_t)length[2] + 16777216 * (int64_t)length[3];
    if (status == LEY_OK && (*bytes > MOST_TEXT_BYTES || (size >= 0 && ley_stream_position(stream) + *bytes > size)))
        return ley_fail(error, LEY_ERROR_INPUT, "%s: a header of %lld bytes in a file of %lld", path, (long long)*bytes,
                        (long long)size);
    return status;
}

/* Floats or doubles of so many extents, n: that of neighbours in C's order first. */
static ley_status take_array(const char *path, const npy_array *from, int extents, binary_array *array, int64_t *n,
                             ley_error *error)
{
    if (from->kind != 'f' || (from->bytes != 4 && from->bytes != 8))
        return ley_fail(error, LEY_ERROR_INPUT,
                        "%s: values of type '%c%c%d'; only '<f4', '>f4', '<f8' and '>f8' can be read", path,
                        from->is_big_endian ? '>' : '<', from->kind, from->length);
    if (from->extents != extents)
        return ley_fail(error, LEY_ERROR_INPUT, "%s: an array of %d extents, not %d", path, from->extents, extents);
    array->type = from->bytes == 4 ? BINARY_FLOAT32 : BINARY_FLOAT64;
    array->is_big_endian = from->is_big_endian;
    for (int i = 0; i < extents; i++) {
        array->axis[i] = from->is_fortran ? extents - 1 - i : i;
        n[i] = from->n[extents - 1 - i];
    }
    return LEY_OK;
}

static ley_status read_header(ley_stream *stream, int extents, binary_array *array, int64_t *n, ley_error *error)
{
    const char *path = ley_stream_path(stream);
    int64_t bytes = 0;
    npy_array from = {.extents = 0};
    ley_status status = read_length(stream, &bytes, error);
    if (status != LEY_OK)
        return status;
    char *text = malloc((size_t)bytes + 1);
    if (text == NULL)
        return ley_fail_memory(error, (size_t)bytes + 1, "an array's header");
    status = binary_read(stream, text, (size_t)bytes, error);
    if (status == LEY_OK)
        status = npy_parse(path, text, (size_t)bytes, &from, error);
    free(text);
    return status == LEY_OK ? take_array(path, &from, extents, array, n, error) : status;
}

static ley_status check_size(const ley_stream *stream, const binary_array *array, int64_t count, ley_error *error)
{
    const char *path = ley_stream_path(stream);
    const int64_t each = binary_type_bytes(array->type), rest = ley_stream_size(stream) - ley_stream_position(stream);
    if (ley_stream_size(stream) < 0) {
        if (ley_stream_may_hold(stream, (double)count * (double)each))
            return LEY_OK;
        return ley_fail(error, LEY_ERROR_INPUT, "%s: cut short: %lld values of %lld bytes are to be there", path,
                        (long long)count, (long long)each);
    }
    if (rest % each == 0 && rest / each == count)
        return LEY_OK;
    return ley_fail(error, LEY_ERROR_INPUT, "%s: %s: %lld bytes of values, but %lld of %lld bytes are to be there",
                    path, rest / each < count ? "cut short" : "too long", (long long)rest, (long long)count,
                    (long long)each);
}

static ley_status read_values(ley_stream *stream, const char *header_path, const map_header *header, ley_map **map,
                              ley_error *error)
{
    binary_array array;
    int64_t n[3];
    const ley_grid *l = &header->grid;
    ley_status status = read_header(stream, 3, &array, n, error);
    if (status != LEY_OK)
        return status;
    if (memcmp(n, l->n, sizeof n) != 0)
        return ley_fail(error, LEY_ERROR_INPUT,
                        "%s: an array of %lld x %lld x %lld values along x, y and z, but %s says %lld x %lld x %lld",
                        ley_stream_path(stream), (long long)n[0], (long long)n[1], (long long)n[2], header_path,
                        (long long)l->n[0], (long long)l->n[1], (long long)l->n[2]);
    status = check_size(stream, &array, ley_grid_points(l), error);
    return status == LEY_OK ? binary_make_map(stream, &array, l, &header->origin, BINARY_ENDS, map, error) : status;
}

bool npy_is(const unsigned char *bytes, size_t size)
{
    return size >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

ley_status npy_read(ley_stream *stream, ley_map **map, ley_error *error)
{
    map_header header;
    char *header_path = map_header_find(ley_stream_path(stream));
    ley_status status = header_path != NULL ? map_header_read(&map_header_npy, header_path, &header, error)
                                            : ley_fail_memory(error, strlen(ley_stream_path(stream)), "a map's header");
    if (status == LEY_OK)
        status = read_values(stream, header_path, &header, map, error);
    free(header_path);
    return status;
}

/* ---- Points ---------------------------------------------------------------------------------- */

enum { BLOCK_BYTES = 1 << 18 };

/* Numbers from this place of the file on, of which those of the first three columns are kept. */
static ley_status keep_numbers(const unsigned char *block, int64_t count, int64_t first, const binary_array *array,
                               const int64_t n[2], const char *path, double *point_A, ley_error *error)
{
    const bool is_by_row = array->axis[0] == 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t column = is_by_row ? (first + i) % n[0] : (first + i) / n[1],
                      row = is_by_row ? (first + i) / n[0] : (first + i) % n[1];
        const double number = binary_number(block, array->type, (size_t)i);
        if (column >= 3)
            continue;
        if (!isfinite(number))
            return ley_fail(error, LEY_ERROR_INPUT, "%s: %c of point %lld is not finite", path, 'x' + (int)column,
                            (long long)row + 1);
        point_A[3 * row + column] = number;
    }
    return LEY_OK;
}

static ley_status read_points(ley_stream *stream, const binary_array *array, const int64_t n[2], double *point_A,
                              ley_error *error)
{
    const int64_t each = binary_type_bytes(array->type), all = n[0] * n[1];
    unsigned char *block = malloc(BLOCK_BYTES);
    ley_status status = block != NULL ? LEY_OK : ley_fail_memory(error, BLOCK_BYTES, "reading points");
    for (int64_t i = 0, part; i < all && status == LEY_OK; i += part) {
        part = all - i < BLOCK_BYTES / each ? all - i : BLOCK_BYTES / each;
        status = binary_read(stream, block, (size_t)(part * each), error);
        if (status != LEY_OK)
            break;
        if (binary_is_other(array->is_big_endian))
            binary_swap(block, (size_t)part, (size_t)each);
        status = keep_numbers(block, part, i, array, n, ley_stream_path(stream), point_A, error);
    }
    free(block);
    return status == LEY_OK ? binary_expect_end(stream, error) : status;
}

ley_status npy_read_points(ley_stream *stream, int64_t *count, double **point_A, ley_error *error)
{
    binary_array array;
    int64_t n[2], numbers;
    const char *path = ley_stream_path(stream);
    ley_status status = read_header(stream, 2, &array, n, error);
    if (status != LEY_OK)
        return status;
    if (n[0] < 3 || n[1] < 1 || n[1] > INT32_MAX || __builtin_mul_overflow(n[0], n[1], &numbers) ||
        numbers > INT64_MAX / 8)
        return ley_fail(error, LEY_ERROR_INPUT,
                        "%s: an array of %lld x %lld: of points it has a row each, %d at most, of which the first "
                        "three columns are x, y and z",
                        path, (long long)n[1], (long long)n[0], INT32_MAX);
    status = check_size(stream, &array, numbers, error);
    const size_t bytes = 3 * (size_t)n[1] * sizeof **point_A;
    if (status == LEY_OK &&
        (status = memory_check_one("reading the points", (double)bytes, "fewer points", error)) != LEY_OK)
        ley_error_prefix(error, "%s", path);
    if (status != LEY_OK)
        return status;
    double *read_A = malloc(bytes);
    if (read_A == NULL)
        return ley_fail_memory(error, bytes, "points");
    status = read_points(stream, &array, n, read_A, error);
    if (status != LEY_OK) {
        free(read_A);
        return status;
    }
    *count = n[1];
    *point_A = read_A;
    return LEY_OK;
}
