#include "io/binary.h"

#include "error.h"
#include "memory.h"
#include "target/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_VALUES = 128 * 1024, MOST_BYTES_EACH = 8 };

ley_status binary_read(ley_stream *stream, void *to, size_t size, ley_error *error)
{
    unsigned char *at = to;
    while (size > 0) {
        const int64_t n = ley_stream_read(stream, at, size);
        if (n < 0)
            return ley_stream_fail(stream, ley_stream_path(stream), error);
        if (n == 0)
            return ley_fail(error, LEY_ERROR_INPUT, "%s: cut short: it ends after %lld bytes%s",
                            ley_stream_path(stream), (long long)ley_stream_position(stream),
                            ley_stream_is_packed(stream) ? ", unpacked" : "");
        at += n;
        size -= (size_t)n;
    }
    return LEY_OK;
}

ley_status binary_pass(ley_stream *stream, int64_t bytes, ley_error *error)
{
    unsigned char block[4096];
    ley_status status = LEY_OK;
    for (int64_t part; bytes > 0 && status == LEY_OK; bytes -= part) {
        part = bytes < (int64_t)sizeof block ? bytes : (int64_t)sizeof block;
        status = binary_read(stream, block, (size_t)part, error);
    }
    return status;
}

/* Of a packed file, whose damage shows at its end. */
static ley_status pass_rest(ley_stream *stream, ley_error *error)
{
    unsigned char block[4096];
    int64_t n = ley_stream_is_packed(stream) ? 1 : 0;
    while (n > 0)
        n = ley_stream_read(stream, block, sizeof block);
    return n < 0 ? ley_stream_fail(stream, ley_stream_path(stream), error) : LEY_OK;
}

ley_status binary_expect_end(ley_stream *stream, ley_error *error)
{
    unsigned char byte;
    const int64_t n = ley_stream_read(stream, &byte, 1);
    if (n < 0)
        return ley_stream_fail(stream, ley_stream_path(stream), error);
    return n == 0 ? LEY_OK
                  : ley_fail(error, LEY_ERROR_INPUT, "%s: too long: it goes on behind its %lld bytes",
                             ley_stream_path(stream), (long long)ley_stream_position(stream) - 1);
}

/* ---- Numbers --------------------------------------------------------------------------------- */

int64_t binary_type_bytes(binary_type type)
{
    static const int bytes[] = {[BINARY_INT8] = 1,    [BINARY_INT16] = 2,   [BINARY_UINT16] = 2,
                                [BINARY_FLOAT16] = 2, [BINARY_FLOAT32] = 4, [BINARY_FLOAT64] = MOST_BYTES_EACH};
    _Static_assert(sizeof bytes / sizeof *bytes == BINARY_TYPES, "a size for each type");
    return bytes[type];
}

bool binary_is_other(bool is_big_endian)
{
    return is_big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

static void swap_twos(unsigned char *at, size_t count)
{
    for (size_t i = 0; i < count; i++, at += sizeof(uint16_t)) {
        uint16_t bits;
        memcpy(&bits, at, sizeof bits);
        bits = __builtin_bswap16(bits);
        memcpy(at, &bits, sizeof bits);
    }
}

static void swap_fours(unsigned char *at, size_t count)
{
    for (size_t i = 0; i < count; i++, at += sizeof(uint32_t)) {
        uint32_t bits;
        memcpy(&bits, at, sizeof bits);
        bits = __builtin_bswap32(bits);
        memcpy(at, &bits, sizeof bits);
    }
}

static void swap_eights(unsigned char *at, size_t count)
{
    for (size_t i = 0; i < count; i++, at += sizeof(uint64_t)) {
        uint64_t bits;
        memcpy(&bits, at, sizeof bits);
        bits = __builtin_bswap64(bits);
        memcpy(at, &bits, sizeof bits);
    }
}

void binary_swap(void *numbers, size_t count, size_t bytes_each)
{
    if (bytes_each == sizeof(uint16_t))
        swap_twos(numbers, count);
    else if (bytes_each == sizeof(uint32_t))
        swap_fours(numbers, count);
    else if (bytes_each == sizeof(uint64_t))
        swap_eights(numbers, count);
}

double binary_number(const void *numbers, binary_type type, size_t i)
{
    float single;
    double number;
    if (type == BINARY_FLOAT64) {
        memcpy(&number, (const unsigned char *)numbers + i * sizeof number, sizeof number);
        return number;
    }
    memcpy(&single, (const unsigned char *)numbers + i * sizeof single, sizeof single);
    return (double)single;
}

/* IEEE's half precision: a sign, five bits of exponent, ten of the fraction. */
static float from_half(uint16_t bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const float sign = (bits & 0x8000) != 0 ? -1.0f : 1.0f;
    if (exponent == 31)
        return fraction == 0 ? sign * INFINITY : NAN;
    return sign * (exponent == 0 ? ldexpf((float)fraction, -24) : ldexpf((float)(fraction + 1024), exponent - 25));
}

#define CONVERT(type, expression) \
    for (size_t i = 0; i < count; i++) { \
        type value; \
        memcpy(&value, (const unsigned char *)from + i * sizeof value, sizeof value); \
        to[i] = (expression); \
    } \
    break

static void to_floats(const void *from, binary_type type, float *to, size_t count)
{
    switch (type) {
    case BINARY_INT8:
        CONVERT(int8_t, (float)value);
    case BINARY_INT16:
        CONVERT(int16_t, (float)value);
    case BINARY_UINT16:
        CONVERT(uint16_t, (float)value);
    case BINARY_FLOAT16:
        CONVERT(uint16_t, from_half(value));
    case BINARY_FLOAT32:
        CONVERT(float, value);
    case BINARY_FLOAT64:
        CONVERT(double, (float)value);
    case BINARY_TYPES:
        break;
    }
}

/* Values from this number on, counted as they are in the file, to their places in the map. */
static void scatter(const float *from, size_t count, size_t number, const binary_array *array, ley_map *map)
{
    const int64_t *n = ley_map_grid(map)->n, stride[3] = {1, n[0], n[0] * n[1]};
    const int64_t along = n[array->axis[0]], rows = n[array->axis[1]], step = stride[array->axis[0]];
    float *values = ley_map_values(map);
    int64_t i = (int64_t)number % along, row = (int64_t)number / along % rows, plane = (int64_t)number / along / rows;
    while (count > 0) {
        const int64_t part = (size_t)(along - i) < count ? along - i : (int64_t)count;
        float *to = values + row * stride[array->axis[1]] + plane * stride[array->axis[2]] + i * step;
        for (int64_t k = 0; k < part; k++)
            to[k * step] = from[k];
        from += part;
        count -= (size_t)part;
        i = 0;
        if (++row == rows) {
            row = 0;
            plane++;
        }
    }
}

static ley_status read_blocks(ley_stream *stream, const binary_array *array, ley_map *map, unsigned char *block,
                              float *values, ley_error *error)
{
    const size_t n = (size_t)ley_grid_points(ley_map_grid(map)), each = (size_t)binary_type_bytes(array->type);
    const bool is_in_place = array->axis[0] == 0 && array->axis[1] == 1;
    for (size_t i = 0, part; i < n; i += part) {
        part = n - i < BLOCK_VALUES ? n - i : BLOCK_VALUES;
        const ley_status status = binary_read(stream, block, part * each, error);
        if (status != LEY_OK)
            return status;
        if (binary_is_other(array->is_big_endian))
            binary_swap(block, part, each);
        to_floats(block, array->type, is_in_place ? ley_map_values(map) + i : values, part);
        if (!is_in_place)
            scatter(values, part, i, array, map);
    }
    return ley_stream_allows_gaps(stream) ? LEY_OK : map_check_values(map, ley_stream_path(stream), error);
}

static ley_status read_map(ley_stream *stream, const binary_array *array, ley_map *map, ley_error *error)
{
    const size_t bytes = (size_t)BLOCK_VALUES * (MOST_BYTES_EACH + sizeof(float));
    unsigned char *block = malloc((size_t)BLOCK_VALUES * MOST_BYTES_EACH);
    float *values = malloc(BLOCK_VALUES * sizeof *values);
    const ley_status status = block != NULL && values != NULL ? read_blocks(stream, array, map, block, values, error)
                                                              : ley_fail_memory(error, bytes, "reading a map");
    free(values);
    free(block);
    return status;
}

ley_status binary_make_map(ley_stream *stream, const binary_array *array, const ley_grid *grid,
                           const map_origin *origin, binary_end end, ley_map **map, ley_error *error)
{
    ley_map *made = NULL;
    ley_status status = ley_map_create(grid, &made, error);
    if (status != LEY_OK) {
        ley_error_prefix(error, "%s", ley_stream_path(stream));
        return status;
    }
    status = read_map(stream, array, made, error);
    if (status == LEY_OK)
        status = end == BINARY_ENDS ? binary_expect_end(stream, error) : pass_rest(stream, error);
    if (status != LEY_OK) {
        ley_map_destroy(made);
        return status;
    }
    map_set_origin(made, origin);
    *map = made;
    return LEY_OK;
}
