#include "io/raw.h"

#include "core/map.h"
#include "core/number.h"
#include "error.h"
#include "io/json_text.h"
#include "io/output.h"
#include "io/target.h"
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    VERSION = 1,
    MOST_HEADER_BYTES = 1 << 20,
    BLOCK_VALUES = 256 * 1024 /* that are read, looked at and brought into this machine's order at once */
};

static const char format_name[] = "leyden raw map", value_type[] = "float32", byte_order[] = "little",
                  value_order[] = "x fastest, then y, then z";

_Static_assert(sizeof(float) == sizeof(uint32_t), "a value is a float32");

char *raw_header_path(const char *path)
{
    char *header;
    return asprintf(&header, "%s.json", path) >= 0 ? header : NULL;
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

static bool put_header(FILE *to, const ley_map *map, const char *comment, const char *facts)
{
    const ley_lattice *lattice = ley_map_lattice(map);
    const char *units = ley_map_units(map);
    fprintf(to, "{\n  \"format\": \"%s\",\n  \"version\": %d,\n  \"creator\": \"leyden %s\",\n", format_name, VERSION,
            ley_version());
    fprintf(to, "  \"values\": \"%s\",\n  \"byte_order\": \"%s\",\n  \"order\": \"%s\",\n", value_type, byte_order,
            value_order);
    fprintf(to, "  \"n\": [%lld, %lld, %lld],\n  \"origin_A\": ", (long long)lattice->n[0], (long long)lattice->n[1],
            (long long)lattice->n[2]);
    put_three(to, lattice->origin_A);
    for (int axis = 0; axis < 3; axis++) {
        fputs(axis == 0 ? ",\n  \"step_A\": [" : ", ", to);
        put_three(to, lattice->step_A[axis]);
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

char *raw_header_text(const ley_map *map, const char *comment, const char *facts)
{
    char *text = NULL;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    if (to == NULL)
        return NULL;
    const bool done = put_header(to, map, comment, facts);
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

/* Between this machine's order and the file's; its own inverse. */
static void bring_in_order(float *values, size_t n)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        bits = __builtin_bswap32(bits);
        memcpy(&values[i], &bits, sizeof bits);
    }
#else
    (void)values, (void)n;
#endif
}

static bool is_in_order(void)
{
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
}

static ley_status write_values(ley_output *output, const ley_map *map, ley_error *error)
{
    const float *values = ley_map_read_values(map);
    const size_t n = (size_t)ley_lattice_points(ley_map_lattice(map));
    float block[4096];
    if (is_in_order())
        return ley_output_write(output, values, n * sizeof *values, error);
    for (size_t i = 0, part; i < n; i += part) {
        part = n - i < sizeof block / sizeof *block ? n - i : sizeof block / sizeof *block;
        memcpy(block, values + i, part * sizeof *block);
        bring_in_order(block, part);
        const ley_status status = ley_output_write(output, block, part * sizeof *block, error);
        if (status != LEY_OK)
            return status;
    }
    return LEY_OK;
}

/* ---- Maps that are files from the beginning -------------------------------------------------- */

/* The file is begun with the first planes: before, nothing is on the disk. */
typedef struct raw_store {
    ley_output output;
    ley_lattice lattice;
    pthread_mutex_t mutex;    /* for its beginning, and: */
    bool is_begun, *is_there; /* [n_z]: planes that were written */
    char path[];
} raw_store;

static ley_status begin_file(raw_store *s, ley_error *error)
{
    ley_status status = LEY_OK;
    pthread_mutex_lock(&s->mutex);
    if (!s->is_begun) {
        status = ley_output_open(&s->output, s->path, false, NULL, error);
        s->is_begun = status == LEY_OK;
        if (s->is_begun)
            status = ley_output_reserve(&s->output, ley_lattice_points(&s->lattice) * (int64_t)sizeof(float), error);
        if (s->is_begun && status != LEY_OK) {
            ley_output_abandon(&s->output);
            s->is_begun = false;
        }
    }
    pthread_mutex_unlock(&s->mutex);
    return status;
}

static ley_status store_planes(void *context, int64_t first, int64_t count, const float *values, ley_error *error)
{
    raw_store *s = context;
    const int64_t plane = s->lattice.n[0] * s->lattice.n[1];
    ley_status status = begin_file(s, error);
    if (!is_in_order()) /* a buffer of the map's own, which is not read again */
        bring_in_order((float *)(uintptr_t)values, (size_t)(plane * count));
    if (status == LEY_OK)
        status = ley_output_write_at(&s->output, values, (size_t)(plane * count) * sizeof *values,
                                     first * plane * (int64_t)sizeof *values, error);
    if (status == LEY_OK) {
        pthread_mutex_lock(&s->mutex);
        for (int64_t z = first; z < first + count; z++)
            s->is_there[z] = true;
        pthread_mutex_unlock(&s->mutex);
    }
    return status;
}

static ley_status read_stored(void *context, int64_t first, int64_t count, float *values, ley_error *error)
{
    raw_store *s = context;
    const ley_status status = s->is_begun ? ley_output_read_at(&s->output, values, (size_t)count * sizeof *values,
                                                               first * (int64_t)sizeof *values, error)
                                          : ley_fail(error, LEY_ERROR_FILE, "%s: nothing was written yet", s->path);
    if (status == LEY_OK)
        bring_in_order(values, (size_t)count);
    return status;
}

static void end_raw_store(void *context)
{
    raw_store *s = context;
    if (s->is_begun)
        ley_output_abandon(&s->output);
    pthread_mutex_destroy(&s->mutex);
    free(s->is_there);
    free(s);
}

/* Whether planes can be put anywhere in such a file. */
static bool is_regular(const char *path)
{
    char *target = NULL;
    const bool is = ley_target_find(path, &target) == 0 && target != NULL;
    free(target);
    return is;
}

ley_status ley_map_create_raw(const ley_lattice *lattice, const char *path, ley_map **map, ley_error *error)
{
    ley_status status = ley_lattice_check(lattice, error);
    if (status == LEY_OK)
        status = ley_file_check(path, error);
    if (status != LEY_OK)
        return status;
    if (!is_regular(path))
        return ley_map_create(lattice, map, error);
    const size_t length = strlen(path) + 1;
    raw_store *s = calloc(1, sizeof *s + length);
    if (s != NULL)
        s->is_there = calloc((size_t)lattice->n[2], sizeof *s->is_there);
    if (s == NULL || s->is_there == NULL) {
        free(s);
        return ley_fail_memory(error, length + (size_t)lattice->n[2], "a map's file");
    }
    memcpy(s->path, path, length);
    s->lattice = *lattice;
    pthread_mutex_init(&s->mutex, NULL);
    const map_store store = {.context = s, .write = store_planes, .read = read_stored, .end = end_raw_store};
    return map_create_stored(lattice, &store, map, error);
}

/* The map's store, where that is a file of this path; NULL: it is not. */
static raw_store *store_of(const ley_map *map, const char *path)
{
    const map_store *store = map_get_store(map);
    raw_store *s = store != NULL && store->end == end_raw_store ? store->context : NULL;
    return s != NULL && strcmp(s->path, path) == 0 ? s : NULL;
}

static ley_status check_planes(const raw_store *s, ley_error *error)
{
    for (int64_t z = 0; z < s->lattice.n[2]; z++)
        if (!s->is_there[z])
            return ley_fail(error, LEY_ERROR_INPUT, "%s: the map's plane %lld was not computed", s->path, (long long)z);
    return LEY_OK;
}

/* ---- Both files ------------------------------------------------------------------------------ */

/* The header comes last: who waits for it finds the map. Once the map has its name nothing cancels
 * the header any more. */
static ley_status commit_both(ley_output *values, ley_output *header, ley_error *error)
{
    const ley_status status = ley_output_commit(values, error);
    if (status != LEY_OK) {
        ley_output_abandon(header);
        return status;
    }
    header->cancel = NULL;
    return ley_output_commit(header, error);
}

/* The file of the values, with all of them; or the one in which they are. It is ended by its
 * commit, or abandoned with the store. */
static ley_status open_values(const ley_map *map, const char *path, raw_store *stored, ley_output *own,
                              const volatile bool *cancel, ley_error *error)
{
    if (stored != NULL) {
        stored->output.cancel = cancel;
        return LEY_OK;
    }
    ley_status status = ley_output_open(own, path, false, cancel, error);
    if (status == LEY_OK && (status = write_values(own, map, error)) != LEY_OK)
        ley_output_abandon(own);
    return status;
}

static ley_status write_both(const ley_map *map, const char *path, const char *header_path, const char *text,
                             const volatile bool *cancel, ley_error *error)
{
    ley_output own = {.fd = -1}, header;
    raw_store *stored = store_of(map, path);
    ley_output *values = stored != NULL ? &stored->output : &own;
    ley_status status = ley_output_open(&header, header_path, false, cancel, error);
    if (status != LEY_OK)
        return status;
    status = ley_output_write(&header, text, strlen(text), error);
    if (status == LEY_OK)
        status = open_values(map, path, stored, &own, cancel, error);
    if (status != LEY_OK) {
        ley_output_abandon(&header);
        return status;
    }
    if (stored != NULL)
        stored->is_begun = false; /* it ends with its commit */
    return commit_both(values, &header, error);
}

ley_status ley_map_write_raw(const ley_map *map, const char *path, const char *comment, const char *facts,
                             const volatile bool *cancel, ley_error *error)
{
    const raw_store *stored = store_of(map, path);
    ley_status status = facts != NULL ? check_facts(facts, error) : LEY_OK;
    if (status == LEY_OK)
        status = stored != NULL ? check_planes(stored, error) : map_check_values(map, path, error);
    if (status == LEY_OK && stored != NULL && !stored->is_begun)
        status = ley_fail(error, LEY_ERROR_USAGE, "%s: the map was written already", path);
    if (status != LEY_OK)
        return status;
    char *header_path = raw_header_path(path), *text = raw_header_text(map, comment, facts);
    if (header_path == NULL || text == NULL)
        status = ley_fail_memory(error, strlen(path), "a map's header");
    else if (strlen(text) > MOST_HEADER_BYTES)
        status = ley_fail(error, LEY_ERROR_USAGE, "%s: a header of %zu bytes; at most %d are read again", header_path,
                          strlen(text), MOST_HEADER_BYTES);
    else
        status = write_both(map, path, header_path, text, cancel, error);
    free(text);
    free(header_path);
    return status;
}

/* ---- Reading the header ---------------------------------------------------------------------- */

typedef struct header_reader {
    ley_json json;
    raw_header *header;
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
    int64_t *n = r->header->lattice.n;
    const ley_status status = read_items(r, what, n, NULL, error);
    for (int axis = 0; axis < 3 && status == LEY_OK; axis++)
        if (n[axis] < 1)
            return ley_json_fail(&r->json, error, "%s[%d]: %lld is not positive", what, axis, (long long)n[axis]);
    return status;
}

static ley_status read_origin(header_reader *r, const char *what, ley_error *error)
{
    return read_items(r, what, NULL, r->header->lattice.origin_A, error);
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
            status = read_items(r, row, NULL, r->header->lattice.step_A[m], error);
        for (int axis = 0; axis < 3 && status == LEY_OK && is_there; axis++)
            r->header->lattice.step_A[m][axis] += 0.0; /* never -0 */
    }
    return status;
}

static ley_status read_units(header_reader *r, const char *what, ley_error *error)
{
    return ley_json_text(&r->json, what, r->header->units, sizeof r->header->units, error);
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
    return expect_text(r, what, format_name, error);
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
    bool may_lack;
} members[] = {{"format", read_format, false},
               {"version", read_version, false},
               {"values", read_values_type, false},
               {"byte_order", read_byte_order, false},
               {"n", read_n, false},
               {"origin_A", read_origin, false},
               {"step_A", read_steps, false},
               {"units", read_units, true}};

enum { MEMBERS = sizeof members / sizeof *members };

static ley_status read_member(header_reader *r, const char *key, bool is_read[MEMBERS], ley_error *error)
{
    for (int i = 0; i < MEMBERS; i++)
        if (strcmp(members[i].name, key) == 0) {
            if (is_read[i])
                return ley_json_fail(&r->json, error, "%s: a second one", key);
            is_read[i] = true;
            return members[i].read(r, key, error);
        }
    return ley_json_skip(&r->json, error);
}

ley_status raw_header_parse(const char *path, const char *text, size_t length, raw_header *header, ley_error *error)
{
    bool is_read[MEMBERS] = {false}, is_first = true, is_there = true;
    char key[LEY_JSON_KEY];
    *header = (raw_header){.units = ""};
    header_reader r = {.json = {.path = path, .at = text, .end = text + length, .line = 1}, .header = header};
    ley_status status = ley_json_enter(&r.json, '{', "a map's header", error);
    while (status == LEY_OK && is_there) {
        status = ley_json_member(&r.json, &is_first, key, &is_there, error);
        if (status == LEY_OK && is_there)
            status = read_member(&r, key, is_read, error);
    }
    if (status == LEY_OK)
        status = ley_json_end(&r.json, error);
    for (int i = 0; i < MEMBERS && status == LEY_OK; i++)
        if (!is_read[i] && !members[i].may_lack)
            return ley_fail(error, LEY_ERROR_INPUT, "%s: no '%s'", path, members[i].name);
    if (status == LEY_OK && (status = ley_lattice_check(&header->lattice, error)) != LEY_OK)
        ley_error_prefix(error, "%s", path);
    return status;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static ley_status fail_file(const char *path, int reason, ley_error *error)
{
    return ley_fail(error, LEY_ERROR_FILE, "%s: %s", path, strerror(reason));
}

/* All of it, or its first bytes: what is missing is 0. -1: errno says why. */
static ssize_t read_fully(int fd, void *to, size_t size)
{
    size_t got = 0;
    ssize_t n = 1;
    while (got < size && n != 0) {
        n = read(fd, (char *)to + got, size - got);
        if (n < 0 && errno != EINTR)
            return -1;
        got += n > 0 ? (size_t)n : 0;
    }
    return (ssize_t)got;
}

/* A regular file, its size, and -1 where it cannot be opened. */
static ley_status open_regular(const char *path, const char *what, int *fd, int64_t *bytes, ley_error *error)
{
    struct stat known;
    *fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (*fd < 0)
        return fail_file(path, errno, error);
    if (fstat(*fd, &known) == 0 && S_ISREG(known.st_mode)) {
        *bytes = known.st_size;
        return LEY_OK;
    }
    close(*fd);
    *fd = -1;
    return ley_fail(error, LEY_ERROR_FILE, "%s: no regular file, as %s must be", path, what);
}

static ley_status read_header(const char *path, raw_header *header, ley_error *error)
{
    int fd;
    int64_t bytes;
    ley_status status = open_regular(path, "a map's header", &fd, &bytes, error);
    if (status != LEY_OK)
        return status;
    char *text = malloc(MOST_HEADER_BYTES + 1);
    const ssize_t got = text != NULL ? read_fully(fd, text, MOST_HEADER_BYTES + 1) : 0;
    if (text == NULL)
        status = ley_fail_memory(error, MOST_HEADER_BYTES, "a map's header");
    else if (got < 0)
        status = fail_file(path, errno, error);
    else if (got > MOST_HEADER_BYTES)
        status = ley_fail(error, LEY_ERROR_INPUT, "%s: larger than %d bytes: no map's header", path, MOST_HEADER_BYTES);
    else
        status = raw_header_parse(path, text, (size_t)got, header, error);
    free(text);
    close(fd);
    return status;
}

static ley_status check_size(const char *path, const char *header_path, const ley_lattice *lattice, int64_t bytes,
                             ley_error *error)
{
    const int64_t points = ley_lattice_points(lattice), expected = points * (int64_t)sizeof(float);
    if (bytes == expected)
        return LEY_OK;
    return ley_fail(error, LEY_ERROR_INPUT, "%s: %s: %lld bytes, but the %lld points that %s says take %lld", path,
                    bytes < expected ? "cut short" : "too long", (long long)bytes, (long long)points, header_path,
                    (long long)expected);
}

static ley_status read_values(int fd, const char *path, ley_map *map, ley_error *error)
{
    float *values = ley_map_values(map);
    const size_t n = (size_t)ley_lattice_points(ley_map_lattice(map));
    for (size_t i = 0, part; i < n; i += part) {
        part = n - i < BLOCK_VALUES ? n - i : BLOCK_VALUES;
        const ssize_t got = read_fully(fd, values + i, part * sizeof *values);
        if (got < 0)
            return fail_file(path, errno, error);
        if ((size_t)got < part * sizeof *values)
            return ley_fail(error, LEY_ERROR_INPUT, "%s: cut short while it was read", path);
        bring_in_order(values + i, part);
    }
    return map_check_values(map, path, error);
}

static ley_status read_map(const char *path, const char *header_path, ley_map **map, ley_error *error)
{
    raw_header header;
    int fd;
    int64_t bytes;
    ley_map *made = NULL;
    ley_status status = read_header(header_path, &header, error);
    if (status != LEY_OK)
        return status;
    status = open_regular(path, "a raw map", &fd, &bytes, error);
    if (status != LEY_OK)
        return status;
    status = check_size(path, header_path, &header.lattice, bytes, error);
    if (status == LEY_OK && (status = ley_map_create(&header.lattice, &made, error)) != LEY_OK)
        ley_error_prefix(error, "%s", path);
    if (status == LEY_OK)
        status = read_values(fd, path, made, error);
    close(fd);
    if (status != LEY_OK) {
        ley_map_destroy(made);
        return status;
    }
    ley_map_set_units(made, header.units);
    *map = made;
    return LEY_OK;
}

ley_status ley_map_read_raw(const char *path, ley_map **map, ley_error *error)
{
    char *header_path = raw_header_path(path);
    const ley_status status = header_path != NULL ? read_map(path, header_path, map, error)
                                                  : ley_fail_memory(error, strlen(path), "a map's header");
    free(header_path);
    return status;
}

/* ---- By the name ----------------------------------------------------------------------------- */

ley_status ley_map_read(const char *path, ley_map **map, ley_error *error)
{
    return ley_ends_with(path, ".raw") ? ley_map_read_raw(path, map, error) : ley_map_read_dx(path, map, error);
}

ley_status ley_map_write(const ley_map *map, const char *path, const char *comment, const char *facts,
                         const volatile bool *cancel, ley_error *error)
{
    if (ley_ends_with(path, ".raw"))
        return ley_map_write_raw(map, path, comment, facts, cancel, error);
    if (ley_ends_with(path, ".dx") || ley_ends_with(path, ".dx.gz"))
        return ley_map_write_dx(map, path, comment, cancel, error);
    return ley_fail(error, LEY_ERROR_USAGE, "%s: must end in .dx, .dx.gz or .raw", path);
}
