/* The benchmark of files, which are the host's: atoms and maps are written and read, beside plain
 * writes and reads of the same disk. */
#include "bench/bench.h"
#include "clock.h"
#include "error.h"
#include "io/temporary.h"
#include "target/map.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    USUAL_EXTENT = 128,
    USUAL_ATOMS = 99999,     /* of whole molecules of water */
    PIECE_BYTES = 1 << 20,   /* that a plain write or read takes at once */
    TEXT_BYTES_A_POINT = 13, /* of a map as text: so large is the plain file */
    NAME_BYTES = 32
};

static const double spacing_A = 0.5, most_error = 1e-6;

/* ---- What is measured ------------------------------------------------------------------------ */

typedef enum file_work {
    PLAIN_WRITE,
    PLAIN_SYNC,
    PLAIN_READ,
    PLAIN_UNCACHED,
    WRITE_ATOMS,
    READ_ATOMS,
    WRITE_MAP,
    READ_MAP
} file_work;

typedef struct file_way {
    char name[NAME_BYTES];
    file_work work;
    char ending[NAME_BYTES / 2]; /* of the file's name */
} file_way;

static file_way ways[BENCH_MOST_VARIANTS];
static size_t way_count;

static void add_way(file_work work, const char *says, const char *ending)
{
    if (way_count == BENCH_MOST_VARIANTS)
        return;
    file_way *w = &ways[way_count++];
    w->work = work;
    snprintf(w->name, sizeof w->name, "%s%s", says, ending);
    snprintf(w->ending, sizeof w->ending, "%s", ending);
}

/* Of several names of one format the first; of packed files OpenDX, whose text they make small. */
static void list_ways(void)
{
    const ley_map_format *format;
    add_way(PLAIN_WRITE, "plain-write", "");
    add_way(PLAIN_SYNC, "plain-write-synced", "");
    add_way(PLAIN_READ, "plain-read", "");
    add_way(PLAIN_UNCACHED, "plain-read-uncached", "");
    for (const char *const *ending = (const char *const[]){".pqr", ".atoms", NULL}; *ending != NULL; ending++) {
        add_way(WRITE_ATOMS, "write", *ending);
        add_way(READ_ATOMS, "read", *ending);
    }
    for (size_t i = 0; (format = ley_map_format_at(i)) != NULL; i++)
        for (int packed = 0; packed < (i == 0 ? 2 : 1); packed++) {
            char ending[NAME_BYTES / 2];
            snprintf(ending, sizeof ending, "%s%s", *format->endings, packed ? ".gz" : "");
            add_way(WRITE_MAP, "write", ending);
            add_way(READ_MAP, "read", ending);
        }
}

static const char *named(size_t i)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, list_ways);
    return i < way_count ? ways[i].name : NULL;
}

static const file_way *way_named(const char *name)
{
    size_t i = 0;
    while (i + 1 < way_count && strcmp(ways[i].name, name) != 0)
        i++;
    return &ways[i];
}

static bool is_read(file_work work)
{
    return work == PLAIN_READ || work == PLAIN_UNCACHED || work == READ_ATOMS || work == READ_MAP;
}

static bool is_of_map(const file_way *w)
{
    return w->work == WRITE_MAP || w->work == READ_MAP;
}

/* ---- The problem ----------------------------------------------------------------------------- */

/* Bytes per second of plain reads and writes, once they were timed; else 0. */
typedef struct plain_rates {
    double read_per_s, write_per_s;
} plain_rates;

typedef struct files {
    ley_atoms *atoms;
    ley_map *map;
    unsigned char *piece; /* of the plain file; no zeros, which some file systems do not write */
    int64_t plain_bytes;
    plain_rates *rates;
    char stem[PATH_MAX - 2 * NAME_BYTES]; /* of all names, with the folder */
} files;

static void choose(const worker *w, const calibration *facts, const ley_bench_options *o, ley_bench_device *d)
{
    (void)w, (void)facts;
    d->points = 1;
    for (int axis = 0; axis < 3; axis++) {
        d->n[axis] = o->n[axis] > 0 ? o->n[axis] : USUAL_EXTENT;
        d->points *= d->n[axis];
    }
    d->atoms = o->atoms > 0 ? o->atoms - o->atoms % 3 : USUAL_ATOMS;
}

/* The potential of three charges outside: numbers like those of other maps. */
static void fill(ley_map *map)
{
    static const double at_A[3][3] = {{-1, -2, -3}, {-4, 20, -1}, {30, -1, 25}}, charge[3] = {300, -500, 400};
    const ley_grid *l = ley_map_grid(map);
    float *value = ley_map_values(map);
    for (int64_t z = 0; z < l->n[2]; z++)
        for (int64_t y = 0; y < l->n[1]; y++)
            for (int64_t x = 0; x < l->n[0]; x++) {
                double point_A[3], sum = 0;
                ley_grid_point_A(l, (const int64_t[3]){x, y, z}, point_A);
                for (int i = 0; i < 3; i++)
                    sum += charge[i] /
                           hypot(hypot(point_A[0] - at_A[i][0], point_A[1] - at_A[i][1]), point_A[2] - at_A[i][2]);
                *value++ = (float)sum;
            }
    ley_map_set_units(map, ley_units_name(LEY_UNITS_KT_E));
}

static void end(void *problem)
{
    files *f = problem;
    if (f == NULL)
        return;
    ley_atoms_destroy(f->atoms);
    ley_map_destroy(f->map);
    free(f->piece);
    free(f->rates);
    free(f);
}

static ley_status fill_files(files *f, const ley_bench_options *o, const ley_bench_device *d, ley_error *error)
{
    const ley_grid grid =
        ley_grid_orthogonal((const double[3]){0, 0, 0}, (const double[3]){spacing_A, spacing_A, spacing_A}, d->n);
    uint64_t random = 1;
    f->plain_bytes = d->points * TEXT_BYTES_A_POINT;
    f->piece = malloc(PIECE_BYTES);
    f->rates = calloc(1, sizeof *f->rates);
    if (f->piece == NULL || f->rates == NULL)
        return ley_fail_memory(error, PIECE_BYTES, "the benchmark");
    for (size_t i = 0; i < PIECE_BYTES; i++)
        f->piece[i] = (unsigned char)(256 * bench_random(&random));
    const int length = snprintf(f->stem, sizeof f->stem, "%s/.leyden-bench-%lld", o->folder != NULL ? o->folder : ".",
                                (long long)getpid());
    if (length >= (int)sizeof f->stem)
        return ley_fail(error, LEY_ERROR_FILE, "%s: %s", o->folder, strerror(ENAMETOOLONG));
    ley_status status = ley_map_create(&grid, &f->map, error);
    if (status != LEY_OK)
        return status;
    fill(f->map);
    return ley_waterbox_create(d->atoms, 1, 0, &f->atoms, error);
}

static ley_status make(const ley_bench_options *o, const ley_bench_device *d, void **problem, ley_error *error)
{
    files *f = calloc(1, sizeof *f);
    const ley_status status =
        f != NULL ? fill_files(f, o, d, error) : ley_fail_memory(error, sizeof *f, "the benchmark");
    if (status == LEY_OK)
        *problem = f;
    else
        end(f);
    return status;
}

/* ---- Plain files ----------------------------------------------------------------------------- */

typedef struct plain_file {
    const files *f;
    const ley_bench_options *o;
    file_work work;
    ley_temporary file; /* that is read */
    int fd;
} plain_file;

static ley_status fail_plain(const plain_file *p, int reason, ley_error *error)
{
    return ley_fail(error, LEY_ERROR_FILE, "%s: %s", p->f->stem, strerror(reason));
}

static ley_status begin_plain(plain_file *p, ley_error *error)
{
    const int reason = ley_temporary_create(&p->file, p->f->stem, &p->fd);
    return reason == 0 ? LEY_OK : fail_plain(p, reason, error);
}

static void end_plain(plain_file *p)
{
    if (p->fd >= 0)
        close(p->fd);
    p->fd = -1;
    ley_temporary_remove(&p->file);
}

/* All of it, piece by piece, as dd does. */
static ley_status move_pieces(const plain_file *p, bool is_written, unsigned char *to, ley_error *error)
{
    for (int64_t done = 0; done < p->f->plain_bytes;) {
        const int64_t left = p->f->plain_bytes - done;
        const size_t size = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;
        if (bench_cancelled(p->o))
            return ley_fail(error, LEY_CANCELLED, "cancelled");
        const ssize_t moved = is_written ? write(p->fd, p->f->piece, size) : read(p->fd, to, size);
        if (moved <= 0 && !(moved < 0 && errno == EINTR))
            return fail_plain(p, moved < 0 ? errno : EIO, error);
        done += moved > 0 ? moved : 0;
    }
    return LEY_OK;
}

static ley_status write_plain(void *context, double *seconds, ley_error *error)
{
    plain_file *p = context;
    ley_status status = begin_plain(p, error);
    if (status != LEY_OK)
        return status;
    const double start_s = ley_clock_s();
    status = move_pieces(p, true, NULL, error);
    if (status == LEY_OK && p->work == PLAIN_SYNC && fdatasync(p->fd) != 0)
        status = fail_plain(p, errno, error);
    *seconds = ley_clock_s() - start_s;
    end_plain(p);
    return status;
}

/* Whether most of the file is in the system's memory, where nothing is read from a disk. */
static bool is_resident(const plain_file *p)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (size_t)p->f->plain_bytes, pages = (size - 1) / page + 1;
    size_t there = 0;
    unsigned char *marks = malloc(pages);
    void *place = mmap(NULL, size, PROT_READ, MAP_SHARED, p->fd, 0);
    if (marks != NULL && place != MAP_FAILED && mincore(place, size, marks) == 0)
        for (size_t i = 0; i < pages; i++)
            there += marks[i] & 1;
    if (place != MAP_FAILED)
        munmap(place, size);
    free(marks);
    return there > pages / 10;
}

static ley_status read_plain(void *context, double *seconds, ley_error *error)
{
    const plain_file *p = context;
    if (p->work == PLAIN_UNCACHED) {
        posix_fadvise(p->fd, 0, 0, POSIX_FADV_DONTNEED);
        if (is_resident(p))
            return ley_fail(error, LEY_ERROR_NO_DEVICE, "the file system keeps files in memory");
    }
    unsigned char *to = malloc(PIECE_BYTES);
    if (to == NULL)
        return ley_fail_memory(error, PIECE_BYTES, "reading a file");
    const double start_s = ley_clock_s();
    lseek(p->fd, 0, SEEK_SET);
    const ley_status status = move_pieces(p, false, to, error);
    *seconds = ley_clock_s() - start_s;
    free(to);
    return status;
}

static ley_status time_plain(const files *f, const ley_bench_options *o, file_work work, bench_row *r, ley_error *error)
{
    plain_file p = {.f = f, .o = o, .work = work, .fd = -1};
    const bool reads = is_read(work);
    ley_status status = LEY_OK;
    if (reads) {
        status = begin_plain(&p, error);
        if (status == LEY_OK)
            status = move_pieces(&p, true, NULL, error);
        if (status == LEY_OK && fdatasync(p.fd) != 0)
            status = fail_plain(&p, errno, error);
    }
    if (status == LEY_OK)
        status = bench_time(o, (double)f->plain_bytes, reads ? read_plain : write_plain, &p, r, error);
    end_plain(&p);
    r->row.bytes = (double)f->plain_bytes;
    r->row.accuracy.passed = true; /* nothing is computed */
    if (status == LEY_OK && work == PLAIN_READ)
        f->rates->read_per_s = r->row.evaluations_per_s;
    if (status == LEY_OK && work == PLAIN_WRITE)
        f->rates->write_per_s = r->row.evaluations_per_s;
    return status;
}

/* Of one variant alone nobody has timed it yet. */
static double plain_rate(const files *f, const ley_bench_options *o, bool reads)
{
    const double *rate = reads ? &f->rates->read_per_s : &f->rates->write_per_s;
    bench_row *own = *rate > 0 ? NULL : calloc(1, sizeof *own);
    if (own != NULL) {
        time_plain(f, o, reads ? PLAIN_READ : PLAIN_WRITE, own, &own->failure);
        ley_error_clear(&own->failure);
    }
    free(own);
    return *rate;
}

/* ---- Atoms and maps -------------------------------------------------------------------------- */

typedef struct format_file {
    const files *f;
    const ley_bench_options *o;
    const file_way *way;
    char path[PATH_MAX];
    ley_temporary file, beside; /* which both are not to stay */
    ley_atoms *atoms;           /* what was read last */
    ley_map *map;
} format_file;

static void forget_read(format_file *file)
{
    ley_atoms_destroy(file->atoms);
    ley_map_destroy(file->map);
    file->atoms = NULL;
    file->map = NULL;
}

static ley_status write_file(void *context, double *seconds, ley_error *error)
{
    const format_file *file = context;
    const double start_s = ley_clock_s();
    const ley_status status = is_of_map(file->way)
                                  ? ley_map_write(file->f->map, file->path, NULL, NULL, file->o->cancel, error)
                                  : ley_atoms_write(file->f->atoms, file->path, file->o->cancel, error);
    *seconds = ley_clock_s() - start_s;
    return status;
}

static ley_status read_file(void *context, double *seconds, ley_error *error)
{
    format_file *file = context;
    forget_read(file);
    if (bench_cancelled(file->o))
        return ley_fail(error, LEY_CANCELLED, "cancelled");
    const double start_s = ley_clock_s();
    const ley_status status = is_of_map(file->way) ? ley_map_read(file->path, &file->map, error)
                                                   : ley_atoms_read(file->path, &file->atoms, error);
    *seconds = ley_clock_s() - start_s;
    return status;
}

static double size_of(const char *path)
{
    struct stat known;
    return path != NULL && stat(path, &known) == 0 ? (double)known.st_size : 0;
}

/* Both files are noted before they are there, so that there is no moment at which a signal would
 * leave them. */
static ley_status note_files(format_file *file, ley_error *error)
{
    const ley_map_format *format = ley_map_format_of(file->path, NULL);
    char beside[PATH_MAX + NAME_BYTES];
    if (format != NULL && format->beside != NULL)
        snprintf(beside, sizeof beside, "%s%s", file->path, format->beside);
    if (ley_temporary_note(&file->file, file->path) != 0 ||
        (format != NULL && format->beside != NULL && ley_temporary_note(&file->beside, beside) != 0))
        return ley_fail_memory(error, PATH_MAX, "the benchmark");
    return LEY_OK;
}

static void add_difference(ley_accuracy *a, double of, double read, double *sum, double *all)
{
    const double off = fabs(read - of);
    *sum += off * off;
    *all += of * of;
    a->max_error = fmax(a->max_error, off);
    a->points++;
}

static void add_differences(ley_accuracy *a, const double *of, const double *read, size_t n, double *sum, double *all)
{
    for (size_t i = 0; i < n; i++)
        add_difference(a, of[i], read[i], sum, all);
}

/* Whether what was read is what was written. */
static void judge(const format_file *file, ley_accuracy *a)
{
    double sum = 0, all = 0;
    *a = (ley_accuracy){.tolerance = most_error};
    if (file->map != NULL) {
        const size_t n = (size_t)ley_grid_points(ley_map_grid(file->f->map));
        const float *of = ley_map_read_values(file->f->map), *read = ley_map_read_values(file->map);
        for (size_t i = 0; i < n; i++)
            add_difference(a, of[i], read[i], &sum, &all);
    } else {
        const size_t n = ley_atoms_count(file->f->atoms);
        if (ley_atoms_count(file->atoms) != n)
            return;
        add_differences(a, ley_atoms_positions_A(file->f->atoms), ley_atoms_positions_A(file->atoms), 3 * n, &sum,
                        &all);
        add_differences(a, ley_atoms_charges_e(file->f->atoms), ley_atoms_charges_e(file->atoms), n, &sum, &all);
        add_differences(a, ley_atoms_radii_A(file->f->atoms), ley_atoms_radii_A(file->atoms), n, &sum, &all);
    }
    const double mean_square = all / (double)a->points;
    a->compared = a->points;
    a->absolute_rms = sqrt(sum / (double)a->points);
    a->relative_rms = a->absolute_rms / sqrt(mean_square);
    a->max_error /= sqrt(mean_square);
    a->passed = a->relative_rms <= most_error;
}

static ley_status time_format(format_file *file, bench_row *r, ley_error *error)
{
    double seconds;
    const bool reads = is_read(file->way->work);
    ley_status status = note_files(file, error);
    if (status == LEY_OK && reads)
        status = write_file(file, &seconds, error);
    if (status == LEY_OK)
        status = bench_time(file->o, 0, reads ? read_file : write_file, file, r, error);
    if (status == LEY_OK && !reads)
        status = read_file(file, &seconds, error);
    if (status != LEY_OK)
        return status;
    r->row.bytes = size_of(file->path) + size_of(file->beside.path);
    r->row.evaluations_per_s = r->row.bytes / r->row.median_s;
    judge(file, &r->row.accuracy);
    return LEY_OK;
}

static ley_status measure(worker *w, const ley_bench_options *o, const char *name, const void *problem,
                          const ley_bench_device *device, bench_row *r)
{
    const files *f = problem;
    const file_way *way = way_named(name);
    (void)w, (void)device;
    ley_status status;
    if (way->work <= PLAIN_UNCACHED) {
        status = time_plain(f, o, way->work, r, &r->failure);
    } else {
        format_file file = {.f = f, .o = o, .way = way};
        snprintf(file.path, sizeof file.path, "%s%s", f->stem, way->ending);
        status = time_format(&file, r, &r->failure);
        forget_read(&file);
        ley_temporary_remove(&file.file);
        ley_temporary_remove(&file.beside);
    }
    if (status != LEY_OK)
        return status;
    const double plain_per_s = plain_rate(f, o, is_read(way->work));
    bench_put_figure(&r->row, "plain_share", plain_per_s > 0 ? r->row.evaluations_per_s / plain_per_s : 0);
    snprintf(r->specification, sizeof r->specification, "%s", ley_size(r->row.bytes).s);
    return LEY_OK;
}

/* What there is to write must be a whole molecule. */
static ley_status check(const ley_engine *engine, const ley_bench_options *o, ley_error *error)
{
    named(0);
    return bench_check_box(engine, o, error);
}

/* clang-format off */
static const ley_bench_figure figures[] = {
    {.name = "plain_share", .sentence = "of the rate of plain reads, or writes", .may_be_unknown = true},
    {.name = NULL}};
/* clang-format on */

const bench_subject bench_files = {
    .figures = figures,
    .name = "io",
    .is_of_host = true,
    .named = named,
    .needs_no_facts = true,
    .check = check,
    .choose = choose,
    .make = make,
    .end = end,
    .measure = measure,
};
