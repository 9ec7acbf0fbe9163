#include "io/stored_map.h"

#include "error.h"
#include "io/binary.h"
#include "io/target.h"
#include "memory.h"
#include "parallel.h"
#include "ranks.h"
#include "target/map.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(float) == sizeof(uint32_t), "a value is a float32");

/* ---- Measuring ------------------------------------------------------------------------------- */

/* Of a plane. Planes are measured one by one and put together in their order, so that the numbers
 * do not depend on which slabs they came in. */
typedef struct plane_range {
    double least, most, mean, squares; /* of the differences from the mean */
} plane_range;

enum { LANES = 8 };

/* Differences from the plane's first value, in several sums: one would wait for each addition. */
static plane_range measure_plane(const float *values, size_t n)
{
    float least[LANES], most[LANES];
    double sum[LANES] = {0}, squares[LANES] = {0};
    const double first = (double)values[0];
    for (int lane = 0; lane < LANES; lane++)
        least[lane] = most[lane] = values[0];
    for (size_t i = 0; i < n; i++) {
        const size_t lane = i % LANES;
        const double difference = (double)values[i] - first;
        sum[lane] += difference;
        squares[lane] += difference * difference;
        least[lane] = values[i] < least[lane] ? values[i] : least[lane];
        most[lane] = values[i] > most[lane] ? values[i] : most[lane];
    }
    plane_range range = {(double)least[0], (double)most[0], sum[0], squares[0]};
    for (int lane = 1; lane < LANES; lane++) {
        range.least = fmin(range.least, (double)least[lane]);
        range.most = fmax(range.most, (double)most[lane]);
        range.mean += sum[lane];
        range.squares += squares[lane];
    }
    range.squares -= range.mean * range.mean / (double)n;
    range.mean = first + range.mean / (double)n;
    return range;
}

typedef struct measured_planes {
    const float *values;
    size_t plane;       /* points of each */
    plane_range *range; /* of each */
} measured_planes;

static void measure_some(void *context, size_t first, size_t last)
{
    const measured_planes *m = context;
    for (size_t z = first; z < last; z++)
        m->range[z] = measure_plane(m->values + z * m->plane, m->plane);
}

static void measure_planes(const float *values, int64_t plane, int64_t count, plane_range *range)
{
    measured_planes m = {values, (size_t)plane, range};
    parallel_ranges((size_t)count, measure_some, &m);
}

static value_range put_together(const plane_range *planes, int64_t count, int64_t points_each)
{
    const double each = (double)points_each;
    plane_range all = planes[0];
    for (int64_t z = 1; z < count; z++) {
        const double before = (double)z * each, difference = planes[z].mean - all.mean;
        all.least = fmin(all.least, planes[z].least);
        all.most = fmax(all.most, planes[z].most);
        all.mean += difference * each / (before + each);
        all.squares += planes[z].squares + difference * difference * before * each / (before + each);
    }
    return (value_range){all.least, all.most, all.mean, sqrt(fmax(all.squares, 0) / ((double)count * each))};
}

/* ---- Maps that are files from the beginning -------------------------------------------------- */

/* The file is begun with the first planes: before, nothing is on the disk. One that is to be packed
 * is packed when all planes are there: until then they are in a hidden file as they are. Of several
 * ranks rank 0 begins the file at once, so that each writes its planes into it, and ends it; room
 * is taken with rank 0's first planes, as the file may yet be another one (ley_map_keep()). */
typedef struct file_store {
    ley_output output;
    ley_grid grid;
    int64_t offset;
    pthread_mutex_t mutex;                 /* for its beginning, and: */
    bool is_begun, is_reserved, *is_there; /* [n_z]: planes that were written */
    plane_range *range;                    /* [n_z]: what they are like; NULL: nobody will ask */
    ranks_file *others;                    /* the file that rank 0 has begun, on another rank; or NULL */
    bool is_kept;                          /* the file outlives the process, with its record behind the planes: */
    uint64_t pass;                         /* how planes are made (map.h) */
    char path[];
} file_store;

static int64_t values_end(const file_store *s)
{
    return s->offset + ley_grid_points(&s->grid) * (int64_t)sizeof(float);
}

static ley_status begin_file(file_store *s, bool reserves, ley_error *error)
{
    ley_status status = LEY_OK;
    pthread_mutex_lock(&s->mutex);
    if (!s->is_begun) {
        status = ley_output_open(&s->output, s->path, false, NULL, error);
        s->is_begun = status == LEY_OK;
    }
    if (s->is_begun && reserves && !s->is_reserved) {
        status = ley_output_reserve(&s->output, values_end(s), error);
        s->is_reserved = status == LEY_OK;
        if (status != LEY_OK) {
            ley_output_abandon(&s->output);
            s->is_begun = false;
        }
    }
    pthread_mutex_unlock(&s->mutex);
    return status;
}

static ley_status write_at(file_store *s, const void *bytes, size_t size, int64_t offset, ley_error *error)
{
    return s->others != NULL ? ranks_file_write(s->others, bytes, size, offset, error)
                             : ley_output_write_at(&s->output, bytes, size, offset, error);
}

/* ---- The record of a file that is kept ------------------------------------------------------- */

/* Behind the values; then of each plane a checksum, 0 where it is not there, the text that says
 * what the map is of, and where this head is, for runs of other grids. */
typedef struct record_head {
    char magic[64];
    uint64_t pass, text_bytes;
} record_head;

static const char record_magic[64] = "leyden: planes of a map that is not whole, version 2\n";

static int64_t place_of_sum(const file_store *s, int64_t z)
{
    return values_end(s) + (int64_t)sizeof(record_head) + z * (int64_t)sizeof(uint64_t);
}

/* FNV-1a of words, of values as they are in the file: not 0. */
static uint64_t sum_of_plane(const float *values, size_t n)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < n; i += 2) {
        uint64_t word = 0;
        memcpy(&word, values + i, (n - i < 2 ? n - i : 2) * sizeof *values);
        sum = (sum ^ word) * UINT64_C(0x100000001b3);
        sum ^= sum >> 32;
    }
    return sum != 0 ? sum : 1;
}

/* Planes that are in the file, or are not (NULL). */
static ley_status record_planes(file_store *s, int64_t first, int64_t count, const float *values, ley_error *error)
{
    const size_t plane = (size_t)(s->grid.n[0] * s->grid.n[1]);
    ley_status status = LEY_OK;
    for (int64_t i = 0; i < count && s->is_kept && status == LEY_OK; i++) {
        const uint64_t sum = values != NULL ? sum_of_plane(values + (size_t)i * plane, plane) : 0;
        status = write_at(s, &sum, sizeof sum, place_of_sum(s, first + i), error);
    }
    return status;
}

static ley_status begin_record(file_store *s, const char *text, ley_error *error)
{
    record_head head = {.pass = s->pass, .text_bytes = strlen(text)};
    const int64_t place = place_of_sum(s, s->grid.n[2]), end = place + (int64_t)head.text_bytes;
    const uint64_t own_place = (uint64_t)values_end(s);
    memcpy(head.magic, record_magic, sizeof head.magic);
    memset(s->is_there, 0, (size_t)s->grid.n[2] * sizeof *s->is_there);
    ley_status status = ley_output_cut(&s->output, 0, error);
    if (status == LEY_OK)
        status = ley_output_reserve(&s->output, end + (int64_t)sizeof own_place, error);
    if (status == LEY_OK)
        status = ley_output_write_at(&s->output, text, head.text_bytes, place, error);
    if (status == LEY_OK)
        status = ley_output_write_at(&s->output, &own_place, sizeof own_place, end, error);
    return status == LEY_OK ? ley_output_write_at(&s->output, &head, sizeof head, values_end(s), error) : status;
}

/* The first line that two texts, which end with line breaks, have not in common; their beginnings
 * become lines, of which one is empty where that text has no more. */
static bool find_difference(char *a, char *b)
{
    size_t line = 0, i = 0;
    for (; a[i] != '\0' && a[i] == b[i]; i++)
        line = a[i] == '\n' ? i + 1 : line;
    if (a[i] == b[i])
        return false;
    memmove(a, a + line, strlen(a + line) + 1);
    memmove(b, b + line, strlen(b + line) + 1);
    a[strcspn(a, "\n")] = b[strcspn(b, "\n")] = '\0';
    return true;
}

static ley_status check_text(const file_store *s, const char *there, const char *text, ley_error *error)
{
    char *former = NULL, *own = NULL;
    const char *path = s->output.temporary.path,
               *what_to_do = ": repeat its command to go on, or delete it to begin anew";
    ley_status status = LEY_OK;
    if (asprintf(&former, "%s\n", there) < 0 || asprintf(&own, "%s\n", text) < 0)
        status = ley_fail_memory(error, strlen(text), "what a map is of");
    else if (find_difference(former, own) && own[0] == '\0')
        status = ley_fail(error, LEY_ERROR_INPUT, "%s: the run that left it was of '%s', and this one is not%s", path,
                          former, what_to_do);
    else if (strcmp(former, own) != 0 && former[0] == '\0')
        status = ley_fail(error, LEY_ERROR_INPUT, "%s: this run is of '%s', and the one that left it was not%s", path,
                          own, what_to_do);
    else if (strcmp(former, own) != 0)
        status = ley_fail(error, LEY_ERROR_INPUT, "%s: this run is of '%s', and the one that left it was of '%s'%s",
                          path, own, former, what_to_do);
    free(former);
    free(own);
    return status;
}

/* Planes whose values are what the record says. */
static ley_status read_planes(file_store *s, ley_map *map, const uint64_t *sum, ley_error *error)
{
    const int64_t plane = s->grid.n[0] * s->grid.n[1];
    const size_t size = (size_t)plane * sizeof(float);
    float *values = malloc(size);
    ley_status status = values != NULL ? LEY_OK : ley_fail_memory(error, size, "a map's plane");
    for (int64_t z = 0; z < s->grid.n[2] && status == LEY_OK; z++) {
        if (sum[z] != 0)
            status = ley_output_read_at(&s->output, values, size, s->offset + z * (int64_t)size, error);
        s->is_there[z] = status == LEY_OK && sum[z] != 0 && sum_of_plane(values, (size_t)plane) == sum[z];
        if (s->is_there[z] && binary_is_other(false))
            binary_swap(values, (size_t)plane, sizeof *values);
        if (s->is_there[z] && s->range != NULL)
            measure_planes(values, plane, 1, s->range + z);
        if (s->is_there[z])
            map_planes_note(map, z, 1, values);
    }
    free(values);
    return status;
}

/* What there is of a record, of whatever grid. */
typedef struct found_record {
    record_head head;
    int64_t place, planes; /* of the head; of the map */
    uint64_t *sum;         /* [planes] */
    char *text;
} found_record;

static ley_status find_record(file_store *s, found_record *r, ley_error *error)
{
    const int64_t size = ley_output_size(&s->output), last = (int64_t)sizeof(uint64_t), head = (int64_t)sizeof r->head;
    uint64_t place = 0;
    ley_status status = LEY_OK;
    *r = (found_record){.planes = -1};
    if (size > head + last)
        status = ley_output_read_at(&s->output, &place, sizeof place, size - last, error);
    if (status == LEY_OK && size > head + last && place <= (uint64_t)(size - head - last)) {
        r->place = (int64_t)place;
        status = ley_output_read_at(&s->output, &r->head, sizeof r->head, r->place, error);
    }
    if (status != LEY_OK)
        return status;
    const int64_t left = size - last - r->place - head, text = (int64_t)r->head.text_bytes;
    if (memcmp(r->head.magic, record_magic, sizeof r->head.magic) == 0 && text >= 0 && text < left &&
        (left - text) % last == 0)
        r->planes = (left - text) / last;
    if (r->planes < 0)
        return ley_fail(error, LEY_ERROR_INPUT,
                        "%s: it is no checkpoint of a map, or is damaged: move it away, or delete it, to begin anew",
                        s->output.temporary.path);
    r->sum = malloc((size_t)r->planes * sizeof *r->sum);
    r->text = calloc(1, (size_t)text + 1);
    if (r->sum == NULL || r->text == NULL)
        return ley_fail_memory(error, (size_t)left, "what is known of a map's planes");
    status = ley_output_read_at(&s->output, r->sum, (size_t)(left - text), r->place + head, error);
    return status == LEY_OK ? ley_output_read_at(&s->output, r->text, (size_t)text, size - last - text, error) : status;
}

/* What a former run has left, where that is of the same; of no planes there is nothing to keep. */
static ley_status take_record(file_store *s, ley_map *map, const char *text, ley_error *error)
{
    found_record r;
    bool is_any = false;
    const int64_t size = ley_output_size(&s->output);
    if (size == 0)
        return begin_record(s, text, error);
    ley_status status = find_record(s, &r, error);
    for (int64_t z = 0; z < r.planes && status == LEY_OK; z++)
        is_any = is_any || r.sum[z] != 0;
    if (status == LEY_OK)
        status = is_any ? check_text(s, r.text, text, error) : begin_record(s, text, error);
    if (status == LEY_OK && is_any && (r.planes != s->grid.n[2] || r.place != values_end(s)))
        status = ley_fail(error, LEY_ERROR_INPUT,
                          "%s: it is of a map of another size: repeat its command to go on, or delete it to begin anew",
                          s->output.temporary.path);
    if (status == LEY_OK && is_any) {
        s->pass = r.head.pass;
        status = read_planes(s, map, r.sum, error);
    }
    free(r.sum);
    free(r.text);
    return status;
}

static bool is_there(const void *context, int64_t plane)
{
    return ((const file_store *)context)->is_there[plane];
}

/* Rank 0 has the record; planes are written after all ranks have met. */
static ley_status begin_pass(void *context, uint64_t pass, ley_error *error)
{
    file_store *s = context;
    if (pass == s->pass)
        return LEY_OK;
    s->pass = pass;
    memset(s->is_there, 0, (size_t)s->grid.n[2] * sizeof *s->is_there);
    if (s->others != NULL)
        return LEY_OK;
    const ley_status status = record_planes(s, 0, s->grid.n[2], NULL, error);
    return status == LEY_OK
               ? write_at(s, &pass, sizeof pass, values_end(s) + (int64_t)offsetof(record_head, pass), error)
               : status;
}

static ley_status forget_planes(void *context, int64_t first, int64_t count, ley_error *error)
{
    file_store *s = context;
    memset(s->is_there + first, 0, (size_t)count * sizeof *s->is_there);
    return record_planes(s, first, count, NULL, error);
}

/* ---- Planes that come ------------------------------------------------------------------------ */

static ley_status store_planes(void *context, int64_t first, int64_t count, const float *values, ley_error *error)
{
    file_store *s = context;
    const int64_t plane = s->grid.n[0] * s->grid.n[1];
    ley_status status = s->others == NULL ? begin_file(s, true, error) : LEY_OK;
    if (s->range != NULL)
        measure_planes(values, plane, count, s->range + first);
    if (binary_is_other(false)) /* a buffer of the map's own, which is not read again */
        binary_swap((float *)(uintptr_t)values, (size_t)(plane * count), sizeof *values);
    const size_t size = (size_t)(plane * count) * sizeof *values;
    const int64_t offset = s->offset + first * plane * (int64_t)sizeof *values;
    if (status == LEY_OK)
        status = write_at(s, values, size, offset, error);
    if (status == LEY_OK)
        status = record_planes(s, first, count, values, error);
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
    file_store *s = context;
    const ley_status status = s->is_begun ? ley_output_read_at(&s->output, values, (size_t)count * sizeof *values,
                                                               s->offset + first * (int64_t)sizeof *values, error)
                                          : ley_fail(error, LEY_ERROR_FILE, "%s: nothing was written yet", s->path);
    if (status == LEY_OK && binary_is_other(false))
        binary_swap(values, (size_t)count, sizeof *values);
    return status;
}

static ley_status check_stored(void *context, ley_error *error)
{
    const file_store *s = context;
    return s->is_begun ? ley_output_check(&s->output, error) : LEY_OK;
}

/* What rank 0 keeps of planes that another rank has written. */
typedef struct known_plane {
    plane_range range;
    bool is_there;
} known_plane;

static void move_planes(void *context, int64_t first, int64_t count, void *bytes, bool comes)
{
    file_store *s = context;
    for (int64_t i = 0; i < count; i++) {
        known_plane p = {.is_there = s->is_there[first + i]};
        if (comes)
            memcpy(&p, (char *)bytes + (size_t)i * sizeof p, sizeof p);
        else if (s->range != NULL)
            p.range = s->range[first + i];
        if (!comes)
            memcpy((char *)bytes + (size_t)i * sizeof p, &p, sizeof p);
        else if (s->range != NULL)
            s->range[first + i] = p.range;
        s->is_there[first + i] = p.is_there;
    }
}

static ley_status flush_stored(void *context, ley_error *error)
{
    const file_store *s = context;
    return s->others != NULL ? ranks_file_flush(s->others, error) : LEY_OK;
}

/* Rank 0 begins the file, and says where it is. */
static ley_status begin_on_ranks(file_store *s, ley_error *error)
{
    char path[PATH_MAX] = "";
    ley_status status = LEY_OK;
    if (ranks_own() == 0)
        status = begin_file(s, false, error);
    if (ranks_own() == 0 && status == LEY_OK)
        snprintf(path, sizeof path, "%s", s->output.temporary.path);
    ranks_broadcast(path, sizeof path);
    if (ranks_own() == 0)
        return status;
    return path[0] != '\0' ? ranks_file_open(path, &s->others, error)
                           : ley_fail(error, LEY_ERROR_FILE, "%s: rank 0 cannot begin it, and says why", s->path);
}

/* Rank 0 takes what there is of the file, in place of a hidden one, and says so. */
static ley_status keep_on_ranks(file_store *s, ley_map *map, const char *kept, const char *text, ley_error *error)
{
    char path[PATH_MAX] = "";
    ley_status status = LEY_OK;
    ranks_file_close(s->others);
    s->others = NULL;
    if (ranks_count() > 1)  /* else others may count molecules */
        ranks_count_anew(); /* which waits until nobody has the hidden file that was begun */
    if (ranks_own() == 0) {
        if (s->is_begun)
            ley_output_abandon(&s->output);
        status = ley_output_keep(&s->output, s->path, kept, error);
        s->is_begun = s->is_reserved = s->is_kept = status == LEY_OK;
        if (status == LEY_OK)
            status = take_record(s, map, text, error);
        if (status == LEY_OK)
            snprintf(path, sizeof path, "%s", s->output.temporary.path);
    }
    ranks_broadcast(path, sizeof path);
    ranks_broadcast(s->is_there, (size_t)s->grid.n[2] * sizeof *s->is_there);
    if (s->range != NULL) /* by parts each rank says what its planes are like, kept ones among them */
        ranks_broadcast(s->range, (size_t)s->grid.n[2] * sizeof *s->range);
    ranks_broadcast(&s->pass, sizeof s->pass);
    if (ranks_own() == 0)
        return status;
    s->is_kept = true;
    return path[0] != '\0' ? ranks_file_open(path, &s->others, error)
                           : ley_fail(error, LEY_ERROR_FILE, "%s: rank 0 cannot begin it, and says why", s->path);
}

static void free_store(file_store *s)
{
    if (s == NULL)
        return;
    free(s->range);
    free(s->is_there);
    free(s);
}

static void end_store(void *context)
{
    file_store *s = context;
    if (s->is_begun)
        ley_output_abandon(&s->output);
    ranks_file_close(s->others);
    pthread_mutex_destroy(&s->mutex);
    free_store(s);
}

/* Whether planes can be put anywhere in such a file. */
static bool is_regular(const char *path)
{
    char *target = NULL;
    const bool is = ley_target_find(path, &target) == 0 && target != NULL;
    free(target);
    return is;
}

ley_status stored_map_create(const ley_grid *grid, const char *path, int64_t offset, bool is_measured, ley_map **map,
                             ley_error *error)
{
    ley_status status = ley_grid_check(grid, error);
    if (status == LEY_OK)
        status = ley_file_check(path, error);
    if (status != LEY_OK)
        return status;
    bool is_file = is_regular(path);
    ranks_broadcast(&is_file, sizeof is_file);
    if (!is_file)
        return ley_map_create(grid, map, error);
    const size_t length = strlen(path) + 1, planes = (size_t)grid->n[2];
    file_store *s = calloc(1, sizeof *s + length);
    if (s != NULL) {
        s->is_there = calloc(planes, sizeof *s->is_there);
        s->range = is_measured ? calloc(planes, sizeof *s->range) : NULL;
    }
    if (s == NULL || s->is_there == NULL || (is_measured && s->range == NULL)) {
        free_store(s);
        return ley_fail_memory(error, length + planes * sizeof *s->range, "a map's file");
    }
    memcpy(s->path, path, length);
    s->grid = *grid;
    s->offset = offset;
    pthread_mutex_init(&s->mutex, NULL);
    const map_store store = {.context = s,
                             .write = store_planes,
                             .read = read_stored,
                             .check = check_stored,
                             .end = end_store,
                             .plane_bytes = sizeof(known_plane),
                             .move = move_planes,
                             .flush = flush_stored};
    status = ranks_count() > 1 ? begin_on_ranks(s, error) : LEY_OK;
    if (status == LEY_OK)
        return map_create_stored(grid, &store, map, error);
    end_store(s);
    return status;
}

ley_status ley_map_keep(ley_map *map, const char *kept, const char *text, ley_error *error)
{
    if (map_get_store(map) == NULL || map_get_store(map)->end != end_store)
        return ley_fail(error, LEY_ERROR_USAGE, "%s: only planes of a map that is a regular file can be kept", kept);
    map_store store = *map_get_store(map);
    store.is_there = is_there;
    store.begin_pass = begin_pass;
    store.forget = forget_planes;
    map_set_store(map, &store);
    return keep_on_ranks(store.context, map, kept, text, error);
}

/* The map's store, where that is a file of this path; NULL: it is not. */
static file_store *store_of(const ley_map *map, const char *path)
{
    const map_store *store = map_get_store(map);
    file_store *s = store != NULL && store->end == end_store ? store->context : NULL;
    return s != NULL && strcmp(s->path, path) == 0 ? s : NULL;
}

/* ---- Writing --------------------------------------------------------------------------------- */

ley_status values_file_check(const ley_map *map, const char *path, ley_error *error)
{
    const file_store *s = store_of(map, path);
    if (s == NULL)
        return map_check_values(map, path, error);
    for (int64_t z = 0; z < s->grid.n[2]; z++)
        if (!s->is_there[z])
            return ley_fail(error, LEY_ERROR_INPUT, "%s: the map's plane %lld was not computed", path, (long long)z);
    return s->is_begun ? LEY_OK : ley_fail(error, LEY_ERROR_USAGE, "%s: the map was written already", path);
}

ley_status values_file_measure(const ley_map *map, const char *path, value_range *range, ley_error *error)
{
    const file_store *s = store_of(map, path);
    const int64_t *n = ley_map_grid(map)->n, plane = n[0] * n[1];
    plane_range *ranges = s != NULL ? s->range : NULL;
    if (s == NULL) {
        ranges = malloc((size_t)n[2] * sizeof *ranges);
        if (ranges == NULL)
            return ley_fail_memory(error, (size_t)n[2] * sizeof *ranges, "what a map's values are like");
        measure_planes(ley_map_read_values(map), plane, n[2], ranges);
    }
    ley_status status = LEY_OK;
    for (int64_t z = 0; z < n[2] && status == LEY_OK; z++)
        if (!isfinite(ranges[z].squares))
            status = ley_fail(error, LEY_ERROR_INPUT, "%s: the map's plane %lld holds values that are not numbers",
                              path, (long long)z);
    if (status == LEY_OK)
        *range = put_together(ranges, n[2], plane);
    if (s == NULL)
        free(ranges);
    return status;
}

static ley_status write_values(ley_output *output, const ley_map *map, ley_error *error)
{
    const float *values = ley_map_read_values(map);
    const size_t n = (size_t)ley_grid_points(ley_map_grid(map));
    float block[4096];
    if (!binary_is_other(false))
        return ley_output_write(output, values, n * sizeof *values, error);
    for (size_t i = 0, part; i < n; i += part) {
        part = n - i < sizeof block / sizeof *block ? n - i : sizeof block / sizeof *block;
        memcpy(block, values + i, part * sizeof *block);
        binary_swap(block, part, sizeof *block);
        const ley_status status = ley_output_write(output, block, part * sizeof *block, error);
        if (status != LEY_OK)
            return status;
    }
    return LEY_OK;
}

/* From the hidden file into one that is packed. */
static ley_status pack_stored(ley_output *output, file_store *s, ley_error *error)
{
    enum { BLOCK = 1 << 20 };
    const int64_t end = values_end(s);
    unsigned char *block = malloc(BLOCK);
    ley_status status = block != NULL ? LEY_OK : ley_fail_memory(error, BLOCK, "packing a map");
    for (int64_t at = s->offset, part; at < end && status == LEY_OK; at += part) {
        part = end - at < BLOCK ? end - at : BLOCK;
        status = ley_output_read_at(&s->output, block, (size_t)part, at, error);
        if (status == LEY_OK)
            status = ley_output_write(output, block, (size_t)part, error);
    }
    free(block);
    return status;
}

ley_status values_file_open(values_file *file, const ley_map *map, const char *path, const void *front,
                            size_t front_bytes, const volatile bool *cancel, ley_error *error)
{
    const bool is_packed = ley_output_is_packed(path);
    *file = (values_file){.map = map, .store = store_of(map, path), .own = {.fd = -1}};
    if (file->store != NULL && file->store->offset != (int64_t)front_bytes)
        return ley_fail(error, LEY_ERROR_USAGE, "%s: the map's file was begun in another format", path);
    if (file->store != NULL && !is_packed) {
        file->store->output.cancel = cancel;
        return ley_output_write_at(&file->store->output, front, front_bytes, 0, error);
    }
    ley_status status = ley_output_open(&file->own, path, is_packed, cancel, error);
    if (status != LEY_OK)
        return status;
    status = ley_output_write(&file->own, front, front_bytes, error);
    if (status == LEY_OK)
        status =
            file->store != NULL ? pack_stored(&file->own, file->store, error) : write_values(&file->own, map, error);
    if (status != LEY_OK)
        ley_output_abandon(&file->own);
    return status;
}

ley_status values_file_commit(values_file *file, ley_error *error)
{
    if (file->store == NULL)
        return ley_output_commit(&file->own, error);
    file_store *s = file->store;
    s->is_begun = false; /* it ends with its commit */
    if (file->own.fd < 0) {
        const ley_status cut = s->is_kept ? ley_output_cut(&s->output, values_end(s), error) : LEY_OK;
        if (cut == LEY_OK)
            return ley_output_commit(&s->output, error);
        ley_output_abandon(&s->output);
        return cut;
    }
    const ley_status status = ley_output_commit(&file->own, error);
    if (status == LEY_OK)
        s->output.temporary.stays = false;
    ley_output_abandon(&s->output);
    return status;
}
