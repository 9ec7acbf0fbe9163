#include "io/text_array.h"

#include "core/number.h"
#include "error.h"
#include "io/digits.h"
#include "memory.h"
#include "parallel.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { TILE = 16 };

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

/* Text is made by all cores, block by block, and written in order. Memory holds x next to each
 * other, the file z: several planes of constant x are turned around together, a slab, from which
 * blocks are taken. Slabs are turned by all cores, too, in parts that come among the blocks of the
 * slab in front of them. A plane that is too large for a slab of several is read as it lies. */
enum {
    BLOCK = 64 * 1024,                         /* values whose text is made at once */
    BLOCK_TEXT = BLOCK * (LEY_DIGITS_MAX + 2), /* behind each of them a blank and perhaps a line's end */
    PARTS = 32                                 /* of a slab */
};

typedef struct text_block {
    ley_packed packed; /* of files that are packed */
    size_t length;
    char text[BLOCK_TEXT];
} text_block;

typedef struct array_writer {
    ley_digits digits;
    const ley_map *map;
    const text_layout *layout;
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
    const int64_t *n = ley_map_grid(w->map)->n, plane = n[1] * n[2], x = slab * w->planes;
    const int64_t width = x + w->planes <= n[0] ? w->planes : n[0] - x;
    const int64_t last = (int64_t)parallel_first((size_t)n[1], PARTS, (size_t)part + 1);
    for (int64_t y = (int64_t)parallel_first((size_t)n[1], PARTS, (size_t)part); y < last; y++)
        transpose(ley_map_read_values(w->map) + y * n[0] + x, n[0] * n[1], w->slab[slab % 2] + y * n[2], plane, n[2],
                  width);
}

/* Values from this number on, in the file's order, that lie in the map at a distance from each
 * other. */
static void write_values(const array_writer *w, const float *values, int64_t stride, int64_t first, int64_t n,
                         text_block *block)
{
    const text_layout *layout = w->layout;
    const int64_t all = ley_grid_points(ley_map_grid(w->map)), rows = ley_map_grid(w->map)->n[2];
    const int64_t place = layout->ends_rows ? first % rows : first;
    int64_t left = layout->ends_rows ? rows - place : all - place; /* until a line ends, whatever is in it */
    int column = (int)(place % layout->values_a_line);
    char *at = block->text + block->length;
    for (int64_t i = 0; i < n; i++) {
        const float value = values[i * stride];
        at = ley_digits_write(&w->digits, layout->factor == 1 ? value : (float)((double)value * layout->factor), at);
        *at++ = ' ';
        if (++column == layout->values_a_line || left == 1) {
            *at++ = '\n';
            column = 0;
        }
        left = left > 1 ? left - 1 : rows;
    }
    block->length = (size_t)(at - block->text);
}

static void make_text(const array_writer *w, int64_t slab, int64_t number, text_block *block)
{
    const int64_t *n = ley_map_grid(w->map)->n, plane = n[1] * n[2];
    const int64_t first_of_slab = slab * w->planes * plane, all = ley_grid_points(ley_map_grid(w->map));
    const int64_t end_of_slab = first_of_slab + w->planes * plane < all ? first_of_slab + w->planes * plane : all;
    const int64_t first = first_of_slab + number * BLOCK,
                  last = first + BLOCK < end_of_slab ? first + BLOCK : end_of_slab;
    if (w->slab[slab % 2] != NULL && first < last)
        write_values(w, w->slab[slab % 2] + number * BLOCK, 1, first, last - first, block);
    for (int64_t i = first, row; w->slab[slab % 2] == NULL && i < last; i += row) {
        const int64_t y = (i - first_of_slab) / n[2], z = (i - first_of_slab) % n[2];
        row = n[2] - z < last - i ? n[2] - z : last - i;
        write_values(w, ley_map_read_values(w->map) + (z * n[1] + y) * n[0] + slab, n[0] * n[1], i, row, block);
    }
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
    const int64_t *n = ley_map_grid(w->map)->n, slabs = w->planes == 1 ? 0 : w->slabs > 1 ? 2 : 1;
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

ley_status text_array_write(ley_output *output, const ley_map *map, const text_layout *layout, int threads,
                            ley_error *error)
{
    const int64_t *n = ley_map_grid(map)->n, plane = n[1] * n[2];
    array_writer w = {.map = map, .layout = layout, .output = output, .error = error};
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

/* ---- Reading --------------------------------------------------------------------------------- */

/* The values in the file's order and the map itself, where the file is long enough for what its
 * header announces: else it will end too early. */
static ley_status check_memory(const text_values *from, int64_t count, ley_error *error)
{
    enum { LEAST_BYTES = 2 }; /* a digit and a blank */
    const double points = (double)count;
    if (!ley_text_may_hold(from->text, points * LEAST_BYTES - 1))
        return LEY_OK;
    ley_status status = memory_check_one("reading the map", 2 * points * sizeof(float), "a map of fewer points", error);
    if (status != LEY_OK)
        ley_error_prefix(error, "%s", from->path);
    return status;
}

/* What seven digits may make larger: the largest float must come back where another unit stands in
 * the file. */
static const double seven_digits = 1 + 5.1e-7;

static ley_number parse(const char *word, size_t length, double factor, float *value)
{
    double number;
    if (factor == 1)
        return ley_parse_float(word, length, value);
    const ley_number kind = ley_parse_double(word, length, &number);
    if (kind != LEY_NUMBER_FINE)
        return kind;
    if (!(fabs(number * factor) <= (double)FLT_MAX * seven_digits))
        return LEY_NUMBER_TOO_LARGE;
    *value = (float)fmin(fmax(number * factor, -(double)FLT_MAX), (double)FLT_MAX);
    return LEY_NUMBER_FINE;
}

static ley_status grow(const text_values *from, int64_t points, int64_t *capacity, float **values, ley_error *error)
{
    int64_t more = *capacity == 0 ? 1 << 16 : (int64_t)ley_text_room((size_t)*capacity);
    more = more < points ? more : points;
    const ley_status status = ley_text_check_growth(from->text, "reading the map", (double)*capacity * sizeof(float),
                                                    (double)more * sizeof(float), "a map of fewer points", error);
    if (status != LEY_OK)
        return status;
    float *larger = realloc(*values, (size_t)more * sizeof(float));
    if (larger == NULL)
        return ley_fail_memory(error, (size_t)more * sizeof(float), "the map");
    *values = larger;
    *capacity = more;
    return LEY_OK;
}

ley_status text_array_read(const text_values *from, const ley_grid *grid, float **values, ley_error *error)
{
    int64_t points = ley_grid_points(grid), capacity = 0;
    ley_status status = check_memory(from, points, error);
    for (int64_t i = 0; i < points && status == LEY_OK; i++) {
        const char *word;
        size_t length;
        if (i == capacity && (status = grow(from, points, &capacity, values, error)) != LEY_OK)
            return status;
        if ((status = from->next(from->context, &word, &length, error)) != LEY_OK)
            return status;
        if (word == NULL)
            return ley_text_fail(from->text, error, "the file ends after %lld of %lld values", (long long)i,
                                 (long long)points);
        const ley_number kind = parse(word, length, from->factor, &(*values)[i]);
        if (kind != LEY_NUMBER_FINE) {
            char quote[LEY_TEXT_QUOTE];
            return ley_text_fail(from->text, error, "value %lld of %lld: %s %s", (long long)i + 1, (long long)points,
                                 ley_quote(word, length, quote), ley_number_complaint(kind));
        }
    }
    return status;
}

ley_status text_array_make_map(const float *values, const ley_grid *grid, const map_origin *origin, ley_map **map,
                               ley_error *error)
{
    ley_status status = ley_map_create(grid, map, error);
    if (status != LEY_OK)
        return status;
    const int64_t *n = grid->n;
    for (int64_t y = 0; y < n[1]; y++)
        transpose(values + y * n[2], n[1] * n[2], ley_map_values(*map) + y * n[0], n[0] * n[1], n[0], n[2]);
    map_set_origin(*map, origin);
    return LEY_OK;
}
