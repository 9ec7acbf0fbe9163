/* OpenDX scalar maps, as APBS writes them. docs/formats.md has the layout. */
#include "io/dx.h"

#include "core/map.h"
#include "error.h"
#include "io/digits.h"
#include "io/text.h"
#include "memory.h"
#include "parallel.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TILE = 16,
    NUMBER_BYTES = 32 /* of any number of the header */
};

static const size_t slab_bytes = 64 << 20; /* of values turned into the file's order at once, when several planes fit */

/* to[c][r] = from[r][c]; the strides are the distances of rows. Tile by tile, as columns jump
 * through memory. */
static void transpose(const float *from, int64_t from_stride, float *to, int64_t to_stride, int64_t rows,
                      int64_t columns)
{
    for (int64_t r0 = 0; r0 < rows; r0 += TILE)
        for (int64_t c0 = 0; c0 < columns; c0 += TILE) {
            int64_t r1 = r0 + TILE < rows ? r0 + TILE : rows, c1 = c0 + TILE < columns ? c0 + TILE : columns;
            for (int64_t r = r0; r < r1; r++)
                for (int64_t c = c0; c < c1; c++)
                    to[c * to_stride + r] = from[r * from_stride + c];
        }
}

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

ley_status ley_dx_write_header(ley_output *output, const ley_lattice *lattice, const char *units, const char *comment,
                               ley_error *error)
{
    const long long n[3] = {lattice->n[0], lattice->n[1], lattice->n[2]};
    char title[64];
    snprintf(title, sizeof title, *units != '\0' ? "POTENTIAL (%s)\n\n" : "POTENTIAL\n\n", units);
    ley_status status = print(output, error, "# Data from leyden %s\n# \n", ley_version());
    if (status == LEY_OK)
        status = write_comment(output, title, error);
    if (status == LEY_OK && comment != NULL)
        status = write_comment(output, comment, error);
    if (status == LEY_OK)
        status = print(output, error, "object 1 class gridpositions counts %lld %lld %lld\n", n[0], n[1], n[2]);
    if (status == LEY_OK)
        status = write_three(output, "origin", lattice->origin_A, error);
    for (int axis = 0; axis < 3 && status == LEY_OK; axis++)
        status = write_three(output, "delta", lattice->step_A[axis], error);
    if (status == LEY_OK)
        status = print(output, error, "object 2 class gridconnections counts %lld %lld %lld\n", n[0], n[1], n[2]);
    if (status == LEY_OK)
        status = print(output, error, "object 3 class array type double rank 0 items %lld         data follows\n",
                       (long long)ley_lattice_points(lattice));
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

/* Text is made by all cores, block by block, and written in order. Memory holds x next to each
 * other, the file z: several planes of constant x are turned around together, a slab, from which
 * blocks are taken. Slabs are turned by all cores, too, in parts that come among the blocks of the
 * slab in front of them. A plane that is too large for a slab of several is read as it lies. */
enum {
    BLOCK = 64 * 1024, /* values whose text is made at once */
    BLOCK_TEXT = BLOCK * (LEY_DIGITS_MAX + 1) + BLOCK / LEY_DX_VALUES_A_LINE + 2,
    PARTS = 32 /* of a slab */
};

typedef struct text_block {
    ley_packed packed; /* of files that are packed */
    size_t length;
    char text[BLOCK_TEXT];
} text_block;

typedef struct array_writer {
    ley_digits digits;
    const ley_map *map;
    int64_t planes, slabs, blocks, parts; /* planes, blocks and parts of a slab */
    float *slab[2];                       /* of those with even and odd numbers; NULL: none are turned */
    size_t workers;
    text_block *block; /* for each of them */
    ley_output *output;
    ley_status status;
    ley_error *error;
} array_writer;

/* Items: the parts of the first slab; then for each slab half of its blocks, the parts of the next
 * one, and its other blocks. */
static size_t items_before(const array_writer *w, int64_t slab)
{
    return (size_t)(w->parts + slab * (w->blocks + w->parts));
}

static void turn_part(const array_writer *w, int64_t slab, int64_t part)
{
    const int64_t *n = ley_map_lattice(w->map)->n, plane = n[1] * n[2], x = slab * w->planes;
    const int64_t width = x + w->planes <= n[0] ? w->planes : n[0] - x;
    const int64_t last = (int64_t)parallel_first((size_t)n[1], PARTS, (size_t)part + 1);
    for (int64_t y = (int64_t)parallel_first((size_t)n[1], PARTS, (size_t)part); y < last; y++)
        transpose(ley_map_read_values(w->map) + y * n[0] + x, n[0] * n[1], w->slab[slab % 2] + y * n[2], plane, n[2],
                  width);
}

/* The values of a block that lie in the map at a distance from each other. */
static void write_values(const array_writer *w, const float *values, int64_t stride, int64_t n, int column,
                         text_block *block)
{
    char *at = block->text + block->length;
    for (int64_t i = 0; i < n; i++) {
        at = ley_digits_write(&w->digits, values[i * stride], at);
        *at++ = ' ';
        if (++column == LEY_DX_VALUES_A_LINE) {
            *at++ = '\n';
            column = 0;
        }
    }
    block->length = (size_t)(at - block->text);
}

static void make_text(const array_writer *w, int64_t slab, int64_t number, text_block *block)
{
    const int64_t *n = ley_map_lattice(w->map)->n, plane = n[1] * n[2];
    const int64_t first_of_slab = slab * w->planes * plane, all = ley_lattice_points(ley_map_lattice(w->map));
    const int64_t end_of_slab = first_of_slab + w->planes * plane < all ? first_of_slab + w->planes * plane : all;
    const int64_t first = first_of_slab + number * BLOCK,
                  last = first + BLOCK < end_of_slab ? first + BLOCK : end_of_slab;
    if (w->slab[slab % 2] != NULL && first < last)
        write_values(w, w->slab[slab % 2] + number * BLOCK, 1, last - first, (int)(first % LEY_DX_VALUES_A_LINE),
                     block);
    for (int64_t i = first, row; w->slab[slab % 2] == NULL && i < last; i += row) {
        const int64_t y = (i - first_of_slab) / n[2], z = (i - first_of_slab) % n[2];
        row = n[2] - z < last - i ? n[2] - z : last - i;
        write_values(w, ley_map_read_values(w->map) + (z * n[1] + y) * n[0] + slab, n[0] * n[1], row,
                     (int)(i % LEY_DX_VALUES_A_LINE), block);
    }
    if (first < last && last == all && all % LEY_DX_VALUES_A_LINE != 0)
        block->text[block->length++] = '\n';
}

static void make_item(parallel_order *order, void *context, size_t item, size_t worker)
{
    const array_writer *w = context;
    const int64_t i = (int64_t)item - w->parts, group = w->blocks + w->parts, half = w->blocks / 2;
    const int64_t slab = i < 0 ? -1 : i / group, number = i < 0 ? (int64_t)item : i % group;
    text_block *block = &w->block[worker];
    block->length = 0;
    if (i < 0) {
        turn_part(w, 0, number);
    } else if (number >= half && number < half + w->parts) {
        if (slab + 1 < w->slabs && parallel_await(order, items_before(w, slab))) /* its place is free */
            turn_part(w, slab + 1, number - half);
    } else {
        const size_t parts_end = slab == 0 ? (size_t)w->parts : items_before(w, slab - 1) + (size_t)(half + w->parts);
        if (parallel_await(order, parts_end))
            make_text(w, slab, number < half ? number : number - w->parts, block);
        if (w->output->packer != NULL && block->length > 0)
            ley_packed_make(&block->packed, block->text, block->length);
    }
}

static bool put_item(void *context, size_t item, size_t worker)
{
    array_writer *w = context;
    (void)item;
    const text_block *block = &w->block[worker];
    if (block->length > 0)
        w->status = w->output->packer != NULL ? ley_output_write_packed(w->output, &block->packed, w->error)
                                              : ley_output_write(w->output, block->text, block->length, w->error);
    return w->status == LEY_OK;
}

static ley_status reserve(array_writer *w)
{
    const int64_t *n = ley_map_lattice(w->map)->n, slabs = w->planes == 1 ? 0 : w->slabs > 1 ? 2 : 1;
    const size_t each = (size_t)(w->planes * n[1] * n[2]) * sizeof(float);
    const size_t of_worker = sizeof *w->block * (w->output->packer != NULL ? 2 : 1);
    const size_t bytes = (size_t)slabs * each + w->workers * of_worker;
    ley_status status = memory_check_one("writing the map", (double)bytes, "fewer points along y and z", w->error);
    if (status != LEY_OK)
        return status;
    w->block = calloc(w->workers, sizeof *w->block);
    for (int64_t i = 0; i < slabs; i++)
        w->slab[i] = malloc(each);
    if (w->block == NULL || (slabs > 0 && w->slab[0] == NULL) || (slabs > 1 && w->slab[1] == NULL))
        return ley_fail_memory(w->error, bytes, "writing a map");
    for (size_t i = 0; i < w->workers && w->output->packer != NULL && status == LEY_OK; i++)
        status = ley_packed_begin(&w->block[i].packed, BLOCK_TEXT, w->error);
    return status;
}

static void release(array_writer *w)
{
    for (size_t i = 0; w->block != NULL && i < w->workers; i++)
        ley_packed_end(&w->block[i].packed);
    free(w->block);
    free(w->slab[0]);
    free(w->slab[1]);
}

static ley_status write_array(ley_output *output, const ley_map *map, int threads, ley_error *error)
{
    const int64_t *n = ley_map_lattice(map)->n, plane = n[1] * n[2];
    array_writer w = {.map = map, .output = output, .error = error};
    w.planes = (int64_t)(slab_bytes / sizeof(float)) / plane;
    w.planes = w.planes < 1 ? 1 : w.planes > TILE ? TILE : w.planes;
    w.planes = w.planes > n[0] ? n[0] : w.planes;
    w.slabs = (n[0] - 1) / w.planes + 1;
    w.blocks = (w.planes * plane - 1) / BLOCK + 1;
    w.parts = w.planes > 1 ? PARTS : 0;
    ley_digits_prepare(&w.digits);
    const size_t items = items_before(&w, w.slabs);
    w.workers = (size_t)threads < items ? (size_t)threads : items;
    w.status = reserve(&w);
    if (w.status == LEY_OK)
        parallel_in_order(items, w.workers, make_item, put_item, &w);
    release(&w);
    return w.status;
}

static bool ends_in_gz(const char *path)
{
    size_t length = strlen(path);
    return length >= 3 && ley_word_is(path + length - 3, 3, ".GZ");
}

ley_status ley_dx_write_map(const ley_map *map, const char *path, const char *comment, int threads,
                            const volatile bool *cancel, ley_error *error)
{
    ley_output output;
    ley_status status = map_check_values(map, path, error);
    if (status == LEY_OK)
        status = ley_output_open(&output, path, ends_in_gz(path), cancel, error);
    if (status != LEY_OK)
        return status;
    status = ley_dx_write_header(&output, ley_map_lattice(map), ley_map_units(map), comment, error);
    if (status == LEY_OK)
        status = write_array(&output, map, threads, error);
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
    ley_lattice lattice;
    bool has_counts, has_origin;
    int deltas;
    char units[32];
    const char *word; /* the current one; NULL at the end of the file */
    size_t length;
} dx_reader;

/* "... potential ... (units) ...", in parentheses that may hold others. */
static void find_units(dx_reader *reader, const char *comment)
{
    const char *at = comment;
    while (*at != '\0' && !(strlen(at) >= 9 && ley_word_is(at, 9, "POTENTIAL")))
        at++;
    const char *open = strchr(at, '(');
    if (reader->units[0] != '\0' || open == NULL)
        return;
    size_t length = 0;
    for (int depth = 1; depth > 0; length++) {
        char c = open[1 + length];
        if (c == '\0' || (unsigned char)c < ' ')
            return;
        depth += (c == '(') - (c == ')');
    }
    if (length - 1 < sizeof reader->units)
        memcpy(reader->units, open + 1, length - 1);
}

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
        find_units(reader, comment);
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
    double *step_A = reader->lattice.step_A[reader->deltas++];
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
        bool is_items = is(reader, "ITEMS"), is_rank = is(reader, "RANK");
        if (is(reader, "BINARY") || is(reader, "IEEE") || is(reader, "LSB") || is(reader, "MSB") || is(reader, "XDR"))
            return ley_text_fail(reader->text, error, "binary values are not supported");
        if (!counted && !is(reader, "TYPE"))
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
    }
    return expect(reader, "FOLLOWS", "the word follows (values elsewhere or binary are not supported)", error);
}

static ley_status check_header(dx_reader *reader, int64_t items, ley_error *error)
{
    if (!reader->has_counts || !reader->has_origin || reader->deltas < 3)
        return ley_text_fail(reader->text, error, "values before %s",
                             !reader->has_counts   ? "gridpositions"
                             : !reader->has_origin ? "origin"
                                                   : "three delta rows");
    ley_status status = ley_lattice_check(&reader->lattice, error);
    if (status != LEY_OK) {
        ley_error_prefix(error, "%s:%lld", reader->path, (long long)ley_text_line_number(reader->text));
        return status;
    }
    int64_t points = ley_lattice_points(&reader->lattice);
    if (items != points)
        return ley_text_fail(reader->text, error, "%lld items for a lattice of %lld points", (long long)items,
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
            status = read_three(reader, "origin", reader->lattice.origin_A, error);
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
                status = read_counts(reader, reader->lattice.n, error);
                reader->has_counts = true;
            } else if (status == LEY_OK && is(reader, "GRIDCONNECTIONS")) {
                status = read_counts(reader, connections, error);
                if (status == LEY_OK && reader->has_counts &&
                    memcmp(connections, reader->lattice.n, sizeof connections) != 0)
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

/* The values in the file's order and the map itself, where the file is long enough for what its
 * header announces: else it will end too early. */
static ley_status check_memory(const dx_reader *reader, ley_error *error)
{
    enum { LEAST_BYTES = 2 }; /* a digit and a blank */
    const double points = (double)ley_lattice_points(&reader->lattice);
    if (!ley_text_may_hold(reader->text, points * LEAST_BYTES - 1))
        return LEY_OK;
    ley_status status = memory_check_one("reading the map", 2 * points * sizeof(float), "a map of fewer points", error);
    if (status != LEY_OK)
        ley_error_prefix(error, "%s", reader->path);
    return status;
}

/* The array grows with what the file really holds: its header alone is no reason to take memory. */
static ley_status read_values(dx_reader *reader, float **values, ley_error *error)
{
    int64_t points = ley_lattice_points(&reader->lattice), capacity = 0;
    for (int64_t i = 0; i < points; i++) {
        ley_status status = next(reader, error);
        if (status != LEY_OK)
            return status;
        if (reader->word == NULL)
            return ley_text_fail(reader->text, error, "the file ends after %lld of %lld values", (long long)i,
                                 (long long)points);
        if (i == capacity) {
            const int64_t former = capacity;
            capacity = capacity == 0 ? 1 << 16 : (int64_t)ley_text_room((size_t)capacity);
            capacity = capacity < points ? capacity : points;
            status = ley_text_check_growth(reader->text, "reading the map", (double)former * sizeof(float),
                                           (double)capacity * sizeof(float), "a map of fewer points", error);
            if (status != LEY_OK)
                return status;
            float *larger = realloc(*values, (size_t)capacity * sizeof(float));
            if (larger == NULL)
                return ley_fail_memory(error, (size_t)capacity * sizeof(float), "the map");
            *values = larger;
        }
        ley_number kind = ley_parse_float(reader->word, reader->length, &(*values)[i]);
        if (kind != LEY_NUMBER_FINE) {
            char quote[LEY_TEXT_QUOTE];
            return ley_text_fail(reader->text, error, "value %lld of %lld: %s %s", (long long)i + 1, (long long)points,
                                 ley_quote(reader->word, reader->length, quote), ley_number_complaint(kind));
        }
    }
    return LEY_OK;
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

static ley_status make_map(const dx_reader *reader, const float *values, ley_map **map, ley_error *error)
{
    ley_status status = ley_map_create(&reader->lattice, map, error);
    if (status != LEY_OK)
        return status;
    const int64_t *n = reader->lattice.n;
    for (int64_t y = 0; y < n[1]; y++)
        transpose(values + y * n[2], n[1] * n[2], ley_map_values(*map) + y * n[0], n[0] * n[1], n[0], n[2]);
    ley_map_set_units(*map, reader->units);
    return LEY_OK;
}

ley_status ley_map_read_dx(const char *path, ley_map **map, ley_error *error)
{
    dx_reader reader = {.path = path};
    ley_status status = ley_text_open(path, &reader.text, error);
    if (status != LEY_OK)
        return status;
    float *values = NULL;
    status = read_header(&reader, error);
    if (status == LEY_OK)
        status = check_memory(&reader, error);
    if (status == LEY_OK)
        status = read_values(&reader, &values, error);
    if (status == LEY_OK)
        status = read_footer(&reader, error);
    if (status == LEY_OK)
        status = make_map(&reader, values, map, error);
    free(values);
    ley_text_close(reader.text);
    return status;
}
