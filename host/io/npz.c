#include "io/npz.h"

#include "core/number.h"
#include "core/sizes.h"
#include "error.h"
#include "io/binary.h"
#include "memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Of the zip format: signatures, and where fields are. */
static const char end_signature[4] = "PK\5\6", central_signature[4] = "PK\1\2", local_signature[4] = "PK\3\4",
                  end64_signature[4] = "PK\6\6";
enum { END_BYTES = 22, CENTRAL_BYTES = 46, LOCAL_BYTES = 30, END64_BYTES = 56, MOST_COMMENT = 65535, NPY_FRONT = 10 };

struct npz {
    const char *path;
    const npz_content *content;
    unsigned char *bytes;
    size_t size;
    size_t first, count, end; /* the directory: where it begins, its members, and where it ends */
};

static uint64_t take(const unsigned char *at, int bytes)
{
    uint64_t number = 0;
    for (int i = bytes - 1; i >= 0; i--)
        number = number << 8 | at[i];
    return number;
}

/* ---- The archive ----------------------------------------------------------------------------- */

static ley_status read_all(npz *a, ley_stream *stream, ley_error *error)
{
    const int64_t size = ley_stream_size(stream);
    if (size < 0)
        return ley_fail(error, LEY_ERROR_INPUT, "%s: not a plain file, which an archive of arrays must be", a->path);
    ley_status status = memory_check_one("the archive", (double)size, "a smaller file", error);
    if (status != LEY_OK)
        return status;
    a->size = (size_t)size;
    a->bytes = malloc(a->size + 1);
    return a->bytes != NULL ? binary_read(stream, a->bytes, a->size, error)
                            : ley_fail_memory(error, a->size, "the archive");
}

/* The directory of a large archive is where another record says. */
static bool find_directory64(npz *a, size_t end)
{
    if (end < 20 || memcmp(a->bytes + end - 20, "PK\6\7", 4) != 0)
        return false;
    const uint64_t at = take(a->bytes + end - 20 + 8, 8);
    if (at > end - 20 || end - 20 - at < END64_BYTES || memcmp(a->bytes + at, end64_signature, 4) != 0)
        return false;
    a->count = (size_t)take(a->bytes + at + 32, 8);
    a->first = (size_t)take(a->bytes + at + 48, 8);
    a->end = (size_t)at;
    return true;
}

static ley_status find_directory(npz *a, ley_error *error)
{
    size_t end = a->size >= END_BYTES ? a->size - END_BYTES + 1 : 0;
    const size_t last = a->size > END_BYTES + MOST_COMMENT ? a->size - END_BYTES - MOST_COMMENT : 0;
    if (a->size < 4 || memcmp(a->bytes, local_signature, 4) != 0)
        return ley_fail(error, LEY_ERROR_INPUT,
                        "%s: not an archive of arrays (.npz), by its first bytes; of %s python3 -m leyden convert FILE "
                        "-o FILE.npz makes one",
                        a->path, a->content->of);
    while (end > last && memcmp(a->bytes + end - 1, end_signature, 4) != 0)
        end--;
    if (end == last)
        return ley_fail(error, LEY_ERROR_INPUT, "%s: cut short: the archive's directory is not there", a->path);
    end--;
    if (!find_directory64(a, end)) {
        a->count = (size_t)take(a->bytes + end + 10, 2);
        a->first = (size_t)take(a->bytes + end + 16, 4);
        a->end = end;
    }
    return a->first <= a->end
               ? LEY_OK
               : ley_fail(error, LEY_ERROR_INPUT, "%s: the archive's directory is not where it says", a->path);
}

ley_status npz_open(const char *path, const npz_content *content, npz **archive, ley_error *error)
{
    ley_stream *stream = NULL;
    npz *a = calloc(1, sizeof *a);
    if (a == NULL)
        return ley_fail_memory(error, sizeof *a, "the archive");
    a->path = path;
    a->content = content;
    ley_status status = ley_stream_open(path, &stream, error);
    if (status == LEY_OK) {
        status = read_all(a, stream, error);
        ley_stream_close(stream);
    }
    if (status == LEY_OK)
        status = find_directory(a, error);
    if (status == LEY_OK)
        *archive = a;
    else
        npz_close(a);
    return status;
}

void npz_close(npz *a)
{
    if (a != NULL)
        free(a->bytes);
    free(a);
}

/* ---- A member -------------------------------------------------------------------------------- */

typedef struct zip_entry {
    const unsigned char *name;
    size_t name_length;
    unsigned method, flags;
    uint32_t check;
    uint64_t packed, size, local;
} zip_entry;

/* Sizes that do not fit into four bytes stand in an extra field. */
static bool take_extra(const unsigned char *extra, size_t length, zip_entry *e)
{
    uint64_t *const wide[] = {&e->size, &e->packed, &e->local};
    for (size_t at = 0; at + 4 <= length;) {
        const size_t bytes = (size_t)take(extra + at + 2, 2);
        if (bytes > length - at - 4)
            return false;
        if (take(extra + at, 2) == 1) {
            size_t from = at + 4;
            for (int i = 0; i < 3; i++)
                if (*wide[i] == UINT32_MAX) {
                    if (from + 8 > at + 4 + bytes)
                        return false;
                    *wide[i] = take(extra + from, 8);
                    from += 8;
                }
        }
        at += 4 + bytes;
    }
    return true;
}

/* The entry of the directory at *at, which goes on to the next one. */
static ley_status next_entry(const npz *a, size_t *at, zip_entry *e, ley_error *error)
{
    const unsigned char *from = a->bytes + *at;
    if (a->end - *at < CENTRAL_BYTES || memcmp(from, central_signature, 4) != 0)
        return ley_fail(error, LEY_ERROR_INPUT, "%s: the archive's directory is damaged", a->path);
    const size_t name = (size_t)take(from + 28, 2), extra = (size_t)take(from + 30, 2),
                 comment = (size_t)take(from + 32, 2);
    if (a->end - *at - CENTRAL_BYTES < name + extra + comment)
        return ley_fail(error, LEY_ERROR_INPUT, "%s: the archive's directory is cut short", a->path);
    *e = (zip_entry){.name = from + CENTRAL_BYTES,
                     .name_length = name,
                     .flags = (unsigned)take(from + 8, 2),
                     .method = (unsigned)take(from + 10, 2),
                     .check = (uint32_t)take(from + 16, 4),
                     .packed = take(from + 20, 4),
                     .size = take(from + 24, 4),
                     .local = take(from + 42, 4)};
    *at += CENTRAL_BYTES + name + extra + comment;
    return take_extra(e->name + name, extra, e)
               ? LEY_OK
               : ley_fail(error, LEY_ERROR_INPUT, "%s: the archive's directory is damaged", a->path);
}

/* "name.npy". */
static bool is_entry(const zip_entry *e, const char *name)
{
    const size_t length = strlen(name);
    return e->name_length == length + 4 && memcmp(e->name, name, length) == 0 &&
           memcmp(e->name + length, ".npy", 4) == 0;
}

static ley_status open_member(const npz *a, const char *name, const zip_entry *e, const unsigned char **bytes,
                              ley_error *error)
{
    if ((e->flags & 1) != 0)
        return ley_fail(error, LEY_ERROR_INPUT, "%s: %s: encrypted", a->path, name);
    if (e->method != 0)
        return ley_fail(error, LEY_ERROR_INPUT,
                        "%s: %s: compressed; python3 -c \"import numpy; numpy.savez('plain.npz', "
                        "**numpy.load('%s'))\" writes plain.npz, which can be read",
                        a->path, name, ley_name_to_type(a->path));
    if (e->packed != e->size || e->local > a->size || a->size - e->local < LOCAL_BYTES ||
        memcmp(a->bytes + e->local, local_signature, 4) != 0)
        return ley_fail(error, LEY_ERROR_INPUT, "%s: %s: not where the archive's directory says", a->path, name);
    const uint64_t front = LOCAL_BYTES + take(a->bytes + e->local + 26, 2) + take(a->bytes + e->local + 28, 2),
                   left = a->size - e->local;
    if (front > left || e->size > left - front)
        return ley_fail(error, LEY_ERROR_INPUT, "%s: %s: cut short: %llu bytes of %llu", a->path, name,
                        (unsigned long long)(front > left ? 0 : left - front), (unsigned long long)e->size);
    *bytes = a->bytes + e->local + front;
    uLong check = crc32(0, NULL, 0);
    for (uint64_t done = 0, part; done < e->size; done += part) {
        part = e->size - done < (1u << 30) ? e->size - done : 1u << 30;
        check = crc32(check, *bytes + done, (uInt)part);
    }
    return check == e->check
               ? LEY_OK
               : ley_fail(error, LEY_ERROR_INPUT, "%s: %s: altered: its checksum does not fit", a->path, name);
}

/* ---- Its header ------------------------------------------------------------------------------ */

static bool can_be_read(const npy_array *array)
{
    const int bytes = array->bytes;
    const bool is_size = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
    switch (array->kind) {
    case 'f':
        return is_size && bytes >= 4;
    case 'i':
        return is_size;
    case 'u':
        return is_size && bytes < 8;
    case 'U':
    case 'S':
        return true;
    default:
        return array->kind == 'b' && bytes == 1;
    }
}

static ley_status parse_array(const npz *a, const char *name, const unsigned char *bytes, uint64_t size,
                              npy_array *array, ley_error *error)
{
    char about[2 * LEY_TEXT_QUOTE];
    if (size < NPY_FRONT + 2 || !npy_is(bytes, size) || bytes[6] < 1 || bytes[6] > 3)
        return ley_fail(error, LEY_ERROR_INPUT, "%s: %s: not a NumPy array", a->path, name);
    const uint64_t front = bytes[6] == 1 ? NPY_FRONT : NPY_FRONT + 2, length = take(bytes + 8, bytes[6] == 1 ? 2 : 4);
    if (length > size - front)
        return ley_fail(error, LEY_ERROR_INPUT, "%s: %s: cut short: a header of %llu bytes", a->path, name,
                        (unsigned long long)length);
    snprintf(about, sizeof about, "%s: %s", a->path, name);
    const ley_status status = npy_parse(about, (const char *)bytes + front, (size_t)length, array, error);
    if (status != LEY_OK)
        return status;
    if (!can_be_read(array))
        return ley_fail(error, LEY_ERROR_INPUT,
                        "%s: values of type '%c%d'; only 'f8', 'f4', 'i8', 'i4', other whole numbers, 'b1', and texts "
                        "can be read",
                        about, array->kind, array->length);
    const uint64_t left = size - front - length;
    if ((uint64_t)array->count > left / (uint64_t)array->bytes ||
        (uint64_t)array->count * (uint64_t)array->bytes != left)
        return ley_fail(error, LEY_ERROR_INPUT, "%s: %s: %llu bytes of numbers, but %lld of %d bytes are to be there",
                        a->path, name, (unsigned long long)left, (long long)array->count, array->bytes);
    array->numbers = bytes + front + length;
    return LEY_OK;
}

ley_status npz_find(const npz *a, const char *name, npy_array *array, bool *is_there, ley_error *error)
{
    size_t at = a->first;
    zip_entry e;
    const unsigned char *bytes = NULL;
    if (is_there != NULL)
        *is_there = true;
    for (size_t i = 0; i < a->count; i++) {
        ley_status status = next_entry(a, &at, &e, error);
        if (status != LEY_OK || !is_entry(&e, name)) {
            if (status != LEY_OK)
                return status;
            continue;
        }
        *array = (npy_array){.extents = 0};
        status = open_member(a, name, &e, &bytes, error);
        return status == LEY_OK ? parse_array(a, name, bytes, e.size, array, error) : status;
    }
    if (is_there == NULL)
        return ley_fail(error, LEY_ERROR_INPUT, "%s: %s: no such array, which %s (docs/formats.md); %s writes all",
                        a->path, name, a->content->has, a->content->by);
    *is_there = false;
    return LEY_OK;
}

/* ---- Numbers and texts ----------------------------------------------------------------------- */

/* Where the i-th number in C's order is. */
static int64_t place_of(const npy_array *array, int64_t i)
{
    int64_t place = 0, stride = array->count;
    if (!array->is_fortran)
        return i;
    for (int k = array->extents - 1; k >= 0; k--) {
        stride /= array->n[k];
        place += i % array->n[k] * stride;
        i /= array->n[k];
    }
    return place;
}

/* Its bits, in this machine's order, without a sign. */
static uint64_t bits_of(const npy_array *array, int64_t i)
{
    const unsigned char *at = array->numbers + place_of(array, i) * array->bytes;
    uint64_t bits = 0;
    for (int k = 0; k < array->bytes; k++)
        bits |= (uint64_t)at[array->is_big_endian ? array->bytes - 1 - k : k] << 8 * k;
    return bits;
}

static int64_t whole_of(const npy_array *array, int64_t i)
{
    const uint64_t bits = bits_of(array, i), sign = 1ull << (8 * array->bytes - 1);
    return array->kind == 'i' ? (int64_t)((bits ^ sign) - sign) : (int64_t)bits;
}

static double number_of(const npy_array *array, int64_t i)
{
    const uint64_t bits = bits_of(array, i);
    const uint32_t low = (uint32_t)bits;
    double number;
    float single;
    if (array->kind != 'f')
        return (double)whole_of(array, i);
    if (array->bytes == (int)sizeof number) {
        memcpy(&number, &bits, sizeof number);
        return number;
    }
    memcpy(&single, &low, sizeof single);
    return (double)single;
}

static bool is_text(const npy_array *array)
{
    return array->kind == 'U' || array->kind == 'S';
}

/* Room for so many bytes of each value. */
static ley_status make_room(const npz *a, const char *name, const npy_array *array, size_t each, void **made,
                            ley_error *error)
{
    const double bytes = (double)each * (double)array->count;
    ley_status status = memory_check_one(name, bytes, "a smaller file", error);
    if (status != LEY_OK) {
        ley_error_prefix(error, "%s", a->path);
        return status;
    }
    *made = malloc((size_t)bytes + 8);
    return *made != NULL ? LEY_OK : ley_fail_memory(error, (size_t)bytes, name);
}

static ley_status make_numbers(const npz *a, const char *name, const npy_array *array, void **made, ley_error *error)
{
    if (is_text(array))
        return ley_fail(error, LEY_ERROR_INPUT, "%s: %s: texts of type '%c%d', where numbers are needed", a->path, name,
                        array->kind, array->length);
    return make_room(a, name, array, sizeof(double), made, error);
}

ley_status npz_doubles(const npz *a, const char *name, const npy_array *array, double **numbers, ley_error *error)
{
    void *made = NULL;
    const ley_status status = make_numbers(a, name, array, &made, error);
    double *to = made;
    for (int64_t i = 0; status == LEY_OK && i < array->count; i++)
        to[i] = number_of(array, i);
    *numbers = to;
    return status;
}

ley_status npz_whole(const npz *a, const char *name, const npy_array *array, int64_t **numbers, ley_error *error)
{
    void *made = NULL;
    ley_status status = make_numbers(a, name, array, &made, error);
    int64_t *to = made;
    for (int64_t i = 0; status == LEY_OK && i < array->count; i++) {
        const double number = array->kind == 'f' ? number_of(array, i) : 0;
        if (!(fabs(number) < 9e15 && number == floor(number)))
            status = ley_fail(error, LEY_ERROR_INPUT, "%s: %s: number %lld is %g, which is not a whole number", a->path,
                              name, (long long)i + 1, number);
        else
            to[i] = array->kind == 'f' ? (int64_t)number : whole_of(array, i);
    }
    if (status != LEY_OK) {
        free(made);
        to = NULL;
    }
    *numbers = to;
    return status;
}

/* The i-th text, which zeros behind its end fill; false: it has a letter that is not of ASCII. */
static bool take_text(const npy_array *array, int64_t i, char *to)
{
    const int each = array->kind == 'U' ? NPY_LETTER_BYTES : 1;
    const unsigned char *from = array->numbers + place_of(array, i) * array->bytes;
    bool has_ended = false;
    for (int k = 0; k < array->length; k++, from += each) {
        uint32_t letter = 0;
        for (int byte = 0; byte < each; byte++)
            letter |= (uint32_t)from[array->is_big_endian ? each - 1 - byte : byte] << 8 * byte;
        if (letter > 127 || (has_ended && letter != 0))
            return false;
        has_ended = letter == 0;
        to[k] = (char)letter;
    }
    to[array->length] = '\0';
    return true;
}

ley_status npz_texts(const npz *a, const char *name, const npy_array *array, char ***texts, ley_error *error)
{
    const size_t letters = (size_t)array->length + 1, count = (size_t)array->count;
    void *made = NULL;
    if (!is_text(array))
        return ley_fail(error, LEY_ERROR_INPUT, "%s: %s: values of type '%c%d', where texts are needed", a->path, name,
                        array->kind, array->length);
    ley_status status = make_room(a, name, array, letters + sizeof **texts, &made, error);
    char **to = made, *room = (char *)made + count * sizeof *to;
    for (size_t i = 0; status == LEY_OK && i < count; i++) {
        to[i] = room + i * letters;
        if (!take_text(array, (int64_t)i, to[i]))
            status = ley_fail(error, LEY_ERROR_INPUT, "%s: %s: text %zu has letters that are not of ASCII", a->path,
                              name, i + 1);
    }
    if (status != LEY_OK) {
        free(made);
        to = NULL;
    }
    *texts = to;
    return status;
}

/* ---- Writing --------------------------------------------------------------------------------- */

typedef struct npz_writer {
    ley_output output;
    ley_status status;
    ley_error *error;
    uint64_t written;
    unsigned char *directory;
    size_t directory_bytes;
} npz_writer;

static void put(npz_writer *w, const void *bytes, size_t size)
{
    if (w->status == LEY_OK)
        w->status = ley_output_write(&w->output, bytes, size, w->error);
    w->written += size;
}

static unsigned char *give(unsigned char *at, uint64_t number, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *at++ = (unsigned char)(number >> 8 * i);
    return at;
}

static int64_t member_bytes(const npz_member *m)
{
    int64_t bytes = strtol(m->type + 2, NULL, 10) * (m->type[1] == 'U' ? NPY_LETTER_BYTES : 1);
    for (int k = 0; k < m->extents; k++)
        bytes *= m->n[k];
    return bytes;
}

static void member_header(const npz_member *m, char header[NPY_HEADER_BYTES])
{
    const char order = binary_is_other(false) ? '>' : '<'; /* as the numbers are in memory */
    char shape[NPY_HEADER_BYTES / 2] = "", type[sizeof m->type];
    for (int k = 0; k < m->extents; k++)
        snprintf(shape + strlen(shape), sizeof shape - strlen(shape), k == 0 ? "%lld," : " %lld,", (long long)m->n[k]);
    snprintf(type, sizeof type, "%c%s", order, m->type + 1);
    npy_header(type, shape, header);
}

/* What local header and directory have in common: version, flags, method, date, checksum, sizes as
 * far as four bytes have them, lengths of name and extra field. */
static unsigned char *give_common(unsigned char *at, const npz_member *m, uint32_t check, uint64_t size, int extra)
{
    at = give(at, 45, 2);
    at = give(at, 0, 2);
    at = give(at, 0, 2);
    at = give(at, 0, 2);
    at = give(at, 33, 2); /* the first of January 1980 */
    at = give(at, check, 4);
    at = give(at, size < UINT32_MAX ? size : UINT32_MAX, 4);
    at = give(at, size < UINT32_MAX ? size : UINT32_MAX, 4);
    at = give(at, strlen(m->name) + 4, 2);
    return give(at, (uint64_t)extra, 2);
}

static unsigned char *give_name(unsigned char *at, const npz_member *m)
{
    const size_t length = strlen(m->name);
    memcpy(at, m->name, length);
    memcpy(at + length, ".npy", 4);
    return at + length + 4;
}

static unsigned char *give_wide(unsigned char *at, uint64_t size, uint64_t local, bool has_local)
{
    at = give(give(at, 1, 2), has_local ? 24 : 16, 2);
    at = give(give(at, size, 8), size, 8);
    return has_local ? give(at, local, 8) : at;
}

enum { MOST_NAME = 64, MOST_ENTRY = 256 };

static void put_member(npz_writer *w, const npz_member *m)
{
    char header[NPY_HEADER_BYTES];
    unsigned char front[MOST_ENTRY];
    const uint64_t bytes = (uint64_t)member_bytes(m), size = sizeof header + bytes, local = w->written;
    const bool is_wide = size >= UINT32_MAX || local >= UINT32_MAX;
    member_header(m, header);
    uLong check = crc32(crc32(0, NULL, 0), (const Bytef *)header, sizeof header);
    for (uint64_t done = 0, part; done < bytes; done += part) {
        part = bytes - done < (1u << 30) ? bytes - done : 1u << 30;
        check = crc32(check, (const Bytef *)m->numbers + done, (uInt)part);
    }
    memcpy(front, local_signature, 4);
    unsigned char *at =
        give_name(give_common(front + 4, m, (uint32_t)check, is_wide ? UINT32_MAX : size, is_wide ? 20 : 0), m);
    at = is_wide ? give_wide(at, size, local, false) : at;
    put(w, front, (size_t)(at - front));
    put(w, header, sizeof header);
    put(w, m->numbers, (size_t)bytes);
    unsigned char *to = w->directory + w->directory_bytes, *from = to;
    memcpy(to, central_signature, 4);
    to = give(to + 4, 45, 2);
    to = give_common(to, m, (uint32_t)check, is_wide ? UINT32_MAX : size, is_wide ? 28 : 0);
    to = give(give(give(to, 0, 2), 0, 2), 0, 2);
    to = give(to, 0, 4);
    to = give_name(give(to, is_wide ? UINT32_MAX : local, 4), m);
    to = is_wide ? give_wide(to, size, local, true) : to;
    w->directory_bytes += (size_t)(to - from);
}

/* The end of a file beyond four bytes' range says where the directory is in a record of its own. */
static void put_end(npz_writer *w, size_t count)
{
    unsigned char end[END64_BYTES + 20 + END_BYTES], *at = end;
    const uint64_t first = w->written;
    put(w, w->directory, w->directory_bytes);
    if (first >= UINT32_MAX) {
        memcpy(at, end64_signature, 4);
        at = give(give(give(at + 4, END64_BYTES - 12, 8), 45, 2), 45, 2);
        at = give(give(give(give(at, 0, 8), count, 8), count, 8), w->directory_bytes, 8);
        at = give(at, first, 8);
        memcpy(at, "PK\6\7", 4);
        at = give(give(give(at + 4, 0, 4), w->written, 8), 1, 4);
    }
    memcpy(at, end_signature, 4);
    at = give(give(give(at + 4, 0, 4), count, 2), count, 2);
    at = give(give(at, w->directory_bytes, 4), first < UINT32_MAX ? first : UINT32_MAX, 4);
    at = give(at, 0, 2);
    put(w, end, (size_t)(at - end));
}

ley_status npz_write(const char *path, const npz_member *members, size_t count, const volatile bool *cancel,
                     ley_error *error)
{
    npz_writer w = {.error = error, .directory = malloc(count * MOST_ENTRY + 1)};
    if (w.directory == NULL)
        return ley_fail_memory(error, count * MOST_ENTRY, "the archive");
    ley_status status = ley_output_open(&w.output, path, false, cancel, error);
    if (status != LEY_OK) {
        free(w.directory);
        return status;
    }
    for (size_t i = 0; i < count; i++)
        put_member(&w, &members[i]);
    put_end(&w, count);
    free(w.directory);
    if (w.status == LEY_OK)
        return ley_output_commit(&w.output, error);
    ley_output_abandon(&w.output);
    return w.status;
}

ley_status npz_pack(const char *name, const char *const *texts, int64_t count, npz_member *member, ley_error *error)
{
    size_t longest = 1;
    for (int64_t i = 0; i < count; i++)
        if (texts[i] != NULL && strlen(texts[i]) > longest)
            longest = strlen(texts[i]);
    uint32_t *letter = calloc((size_t)count * longest + 1, sizeof *letter);
    if (letter == NULL)
        return ley_fail_memory(error, (size_t)count * longest * sizeof *letter, name);
    for (int64_t i = 0; i < count; i++)
        for (size_t k = 0; texts[i] != NULL && texts[i][k] != '\0'; k++)
            letter[(size_t)i * longest + k] = (unsigned char)texts[i][k];
    *member = (npz_member){.name = name, .extents = 1, .n = {count}, .numbers = letter};
    snprintf(member->type, sizeof member->type, "<U%zu", longest);
    return LEY_OK;
}
