/* The file: a line of text, padded to 64 bytes; facts, each a name of 24 bytes and a double; then
 * what `state` has in turn, whole words of 8 bytes in the machine's order; in the end XXH64 of all
 * words before it. */
#include "average/checkpoint.h"

#include "average/problem.h"
#include "average/sums.h"
#include "error.h"
#include "io/atoms_file.h"
#include "io/binary.h"
#include "io/output.h"
#include "io/stream.h"

#include <stdlib.h>
#include <string.h>

static const char magic[64] = "leyden: sums of an average over frames, version 3\n";

enum { NAME = 24, MOST_FACTS = 32, WORD = 8 };

typedef struct fact {
    char name[NAME];
    double value;
} fact;

/* What must be the same; charges by their checksum. */
static size_t list_facts(const average_problem *p, fact *list)
{
    const ley_average_options *o = &p->options;
    ley_checksum sum;
    ley_checksum_start(&sum);
    ley_checksum_add(&sum, p->charge_e, p->atoms);
    const fact all[] = {{"order of bytes", 0x1.23456789ABCDp0},
                        {"number of atoms", (double)p->atoms},
                        {"charges", (double)(ley_checksum_end(&sum) >> 12)},
                        {"units", (double)o->units},
                        {"dielectric", o->dielectric},
                        {"temperature_K", o->temperature_K},
                        {"smooth_A", o->smooth_A},
                        {"tolerance", o->tolerance},
                        {"n[0]", (double)o->n[0]},
                        {"n[1]", (double)o->n[1]},
                        {"n[2]", (double)o->n[2]},
                        {"spacing_A", o->spacing_A},
                        {"origin[0]", o->origin[0]},
                        {"origin[1]", o->origin[1]},
                        {"origin[2]", o->origin[2]},
                        {"deviation", o->deviation},
                        {"block_frames", (double)o->block_frames},
                        {"exact_cells", o->exact_cells},
                        {"pmepot", o->pmepot},
                        {"verify_every", (double)o->verify_every}};
    memcpy(list, all, sizeof all);
    return sizeof all / sizeof *all;
}

/* ---- Both ways ------------------------------------------------------------------------------- */

/* A file that is written, or read. */
typedef struct file {
    const char *path;
    ley_output *output; /* or: */
    ley_stream *stream;
    ley_checksum sum;
    ley_status status;
    ley_error *error;
} file;

/* The next bytes, in whole words, there or from there; nothing after a failure. */
static void pass(file *f, void *bytes, size_t size)
{
    if (f->status != LEY_OK || size == 0)
        return;
    if (f->output != NULL) {
        ley_checksum_add(&f->sum, bytes, size / WORD);
        f->status = ley_output_write(f->output, bytes, size, f->error);
    } else {
        f->status = binary_read(f->stream, bytes, size, f->error);
    }
}

static void pass_floats(file *f, float *value, size_t count)
{
    float last[2] = {count % 2 != 0 ? value[count - 1] : 0, 0};
    pass(f, value, count / 2 * WORD);
    if (count % 2 != 0)
        pass(f, last, WORD);
    if (count % 2 != 0)
        value[count - 1] = last[0];
}

static void pass_density(file *f, density *d)
{
    pass(f, d->low, d->nodes * WORD);
    pass(f, d->high, d->nodes * WORD);
}

static void fail_with(file *f, ley_status status)
{
    f->status = f->status == LEY_OK ? status : f->status;
}

/* A count that there can be: files are read by what they say. */
static void check_count(file *f, int64_t count, int64_t most)
{
    if (f->status == LEY_OK && (count < 0 || count > most))
        f->status = ley_fail(f->error, LEY_ERROR_INPUT, "%s: damaged: a count of %lld", f->path, (long long)count);
}

static void pass_frames(file *f, const average_problem *p, frame_sums *s)
{
    pass(f, &s->frames, WORD);
    check_count(f, s->frames, INT64_MAX);
    if (f->status == LEY_OK && s->frames > 0)
        fail_with(f, sums_begin(p, s, f->error));
    if (f->status != LEY_OK || s->frames == 0)
        return;
    pass_density(f, &s->charge);
    pass_density(f, &s->phi);
    pass_density(f, &s->square);
}

static void pass_open(file *f, ley_average *a)
{
    int64_t count = 0;
    for (const block_sums *b = a->open; b != NULL; b = b->next)
        count++;
    pass(f, &count, WORD);
    block_sums *b = a->open;
    for (int64_t i = 0; i < count && f->status == LEY_OK; i++) {
        int64_t number = b != NULL ? b->number : 0;
        pass(f, &number, WORD);
        if (f->stream != NULL && f->status == LEY_OK)
            fail_with(f, sums_open_block(a, number, &b, f->error));
        if (f->status == LEY_OK)
            pass_frames(f, &a->problem, &b->sums);
        b = f->stream != NULL || b == NULL ? NULL : b->next;
    }
}

static void pass_blocks(file *f, ley_average *a)
{
    all_blocks *all = &a->blocks;
    int64_t count = all->count;
    pass(f, &count, WORD);
    check_count(f, count, INT64_MAX / WORD / (int64_t)sums_plane_count(&a->problem.mesh) / 4);
    if (f->stream != NULL && f->status == LEY_OK && count > 0)
        fail_with(f, sums_reserve_blocks(&a->problem, all, count, f->error));
    all->count = count;
    if (f->status != LEY_OK || count == 0)
        return;
    pass_density(f, &all->phi);
    pass_density(f, &all->square);
    pass(f, all->number, (size_t)count * WORD);
    pass(f, all->planes, (size_t)count * sums_plane_count(&a->problem.mesh) * WORD);
}

/* The frames of the chunk that is not full. */
static void pass_filling(file *f, ley_average *a)
{
    const average_problem *p = &a->problem;
    int64_t head[3] = {0};
    if (a->filling != NULL) {
        head[0] = a->filling->first;
        head[1] = a->filling->frames;
        head[2] = a->filling->most;
    }
    pass(f, head, sizeof head);
    check_count(f, head[1], p->chunk_frames);
    check_count(f, head[2], p->chunk_frames);
    if (f->status != LEY_OK || head[1] == 0)
        return;
    if (f->stream != NULL) {
        a->filling = chunk_create(p->atoms, p->chunk_frames);
        if (a->filling == NULL) {
            fail_with(f, ley_fail_memory(f->error, 12 * p->atoms, "frames"));
            return;
        }
        a->chunks++;
        a->filling->first = head[0];
        a->filling->frames = a->structured = (int)head[1];
        a->filling->most = (int)head[2];
    }
    pass_floats(f, a->filling->position_A, (size_t)head[1] * p->atoms * 3);
    pass(f, a->filling->cell_A, (size_t)head[1] * sizeof *a->filling->cell_A);
    pass(f, a->filling->structure, (size_t)head[1] * sizeof *a->filling->structure);
    for (int i = 0; i < (int)head[1] && f->stream != NULL && f->status == LEY_OK; i++) {
        place_make(p->options.pmepot ? p->first_cell_A : a->filling->cell_A[i], p->mesh.n, p->origin,
                   &a->filling->place[i]);
        place_floats(&a->filling->place[i], a->filling->floats + i * PLACE_FLOATS);
    }
}

static void pass_sample(file *f, ley_average *a)
{
    int64_t count = a->sample.count;
    pass(f, &count, WORD);
    check_count(f, count, SAMPLE_MOST);
    for (int64_t i = 0; i < count && f->status == LEY_OK; i++) {
        if (f->stream != NULL && (a->sample.position_A[i] = malloc(a->problem.atoms * 3 * sizeof(float))) == NULL)
            fail_with(f, ley_fail_memory(f->error, a->problem.atoms * 12, "frames"));
        if (f->status != LEY_OK)
            return;
        a->sample.count = a->sample.all = (int)i + 1;
        pass_floats(f, a->sample.position_A[i], 3 * a->problem.atoms);
        pass(f, a->sample.cell_A[i], sizeof a->sample.cell_A[i]);
    }
}

static void pass_state(file *f, ley_average *a)
{
    int64_t change = a->cells_change;
    pass(f, &a->added, WORD);
    pass(f, a->cell_sum_A, sizeof a->cell_sum_A);
    pass(f, a->cell_rest_A, sizeof a->cell_rest_A);
    pass(f, a->widest_cell_A, sizeof a->widest_cell_A);
    pass(f, a->structure, sizeof a->structure);
    pass(f, &a->structure_square, WORD);
    pass(f, &change, WORD);
    pass(f, &a->checked_frames, WORD);
    pass(f, &a->checked_points, WORD);
    pass(f, &a->checked_share, WORD);
    pass(f, a->lately_checked, sizeof a->lately_checked);
    a->cells_change = change != 0;
    pass_frames(f, &a->problem, &a->sums);
    pass_open(f, a);
    pass_blocks(f, a);
    pass_filling(f, a);
    pass_sample(f, a);
}

/* ---- Writing --------------------------------------------------------------------------------- */

static ley_status write_all(ley_average *a, ley_output *output, ley_error *error)
{
    file f = {.output = output, .error = error};
    char head[sizeof magic];
    fact facts[MOST_FACTS] = {{{0}, 0}};
    double mesh[5] = {(double)a->problem.mesh.n[0], (double)a->problem.mesh.n[1], (double)a->problem.mesh.n[2],
                      (double)a->problem.mesh.window->points, a->problem.signal};
    const size_t count = list_facts(&a->problem, facts);
    ley_checksum_start(&f.sum);
    memcpy(head, magic, sizeof head);
    pass(&f, head, sizeof head);
    pass(&f, facts, count * sizeof *facts);
    pass(&f, a->problem.first_cell_A, sizeof a->problem.first_cell_A);
    pass(&f, mesh, sizeof mesh);
    pthread_mutex_lock(&a->sum_mutex);
    pass_state(&f, a);
    pthread_mutex_unlock(&a->sum_mutex);
    uint64_t sum = ley_checksum_end(&f.sum);
    pass(&f, &sum, sizeof sum);
    return f.status;
}

ley_status checkpoint_save(ley_average *a, const char *path, ley_error *error)
{
    ley_output output;
    if (a->added == 0)
        return ley_fail(error, LEY_ERROR_USAGE, "%s: there is nothing to write, no frame has been added", path);
    ley_status status = ley_output_open(&output, path, false, NULL, error);
    if (status != LEY_OK)
        return status;
    status = write_all(a, &output, error);
    if (status == LEY_OK)
        return ley_output_commit(&output, error);
    ley_output_abandon(&output);
    return status;
}

/* ---- Reading --------------------------------------------------------------------------------- */

enum { PIECE = 1 << 20 };

/* The whole file, before anything of it is believed. */
static ley_status check_sum(ley_stream *stream, const char *path, ley_error *error)
{
    ley_checksum sum;
    uint64_t last = 0;
    size_t left = 0;
    int64_t got = 0;
    unsigned char *bytes = malloc(PIECE + 2 * WORD);
    if (bytes == NULL)
        return ley_fail_memory(error, PIECE, "a piece of a file");
    ley_checksum_start(&sum);
    while ((got = ley_stream_read(stream, bytes + left, PIECE)) > 0) { /* the last word waits for more */
        const size_t all = left + (size_t)got, words = all / WORD > 0 ? (all - 1) / WORD : 0;
        ley_checksum_add(&sum, bytes, words);
        left = all - words * WORD;
        memmove(bytes, bytes + words * WORD, left);
    }
    memcpy(&last, bytes, WORD);
    free(bytes);
    if (got < 0)
        return ley_stream_fail(stream, path, error);
    return left == WORD && last == ley_checksum_end(&sum)
               ? LEY_OK
               : ley_fail(error, LEY_ERROR_INPUT, "%s: damaged, or no checkpoint of an average: its checksum is wrong",
                          path);
}

static ley_status check_facts(const average_problem *p, file *f, ley_error *error)
{
    char head[sizeof magic];
    fact own[MOST_FACTS] = {{{0}, 0}}, other;
    const size_t count = list_facts(p, own);
    pass(f, head, sizeof head);
    if (f->status == LEY_OK && memcmp(head, magic, sizeof head) != 0)
        return ley_fail(error, LEY_ERROR_INPUT, "%s: no checkpoint of an average, or of another version", f->path);
    for (size_t i = 0; i < count && f->status == LEY_OK; i++) {
        pass(f, &other, sizeof other);
        if (f->status != LEY_OK || (memcmp(other.name, own[i].name, NAME) == 0 && other.value == own[i].value))
            continue;
        return strcmp(own[i].name, "charges") == 0
                   ? ley_fail(error, LEY_ERROR_INPUT, "%s: the average of other charges", f->path)
                   : ley_fail(error, LEY_ERROR_INPUT, "%s: an average of another `%s`: %.15g, not %.15g", f->path,
                              own[i].name, other.value, own[i].value);
    }
    return f->status;
}

/* The mesh that the file's sums are on, and which devices it was chosen for: these may have been
 * others than those that go on with it. */
static ley_status take_mesh(average_problem *p, const double cell_A[9], const double mesh[5], const char *path,
                            ley_error *error)
{
    const bool own = p->by_cards;
    for (int i = 0; i < 2; i++) {
        p->by_cards = (i == 0) == own;
        const ley_status status = problem_fix(p, cell_A, mesh[4], error);
        if (status != LEY_OK)
            return status;
        if (mesh[0] == (double)p->mesh.n[0] && mesh[1] == (double)p->mesh.n[1] && mesh[2] == (double)p->mesh.n[2] &&
            mesh[3] == (double)p->mesh.window->points)
            return LEY_OK;
    }
    p->by_cards = own;
    p->is_fixed = false;
    return ley_fail(error, LEY_ERROR_INPUT,
                    "%s: an average on another mesh, of another version: go on with that one, or begin anew without "
                    "the file",
                    path);
}

static ley_status read_all(ley_average *a, file *f, ley_error *error)
{
    double cell_A[9], mesh[5];
    ley_status status = check_facts(&a->problem, f, error);
    if (status != LEY_OK)
        return status;
    pass(f, cell_A, sizeof cell_A);
    pass(f, mesh, sizeof mesh);
    status = f->status == LEY_OK ? take_mesh(&a->problem, cell_A, mesh, f->path, error) : f->status;
    if (status != LEY_OK)
        return status;
    pass_state(f, a);
    return f->status;
}

static ley_status open_checked(const char *path, ley_stream **stream, ley_error *error)
{
    ley_status status = ley_stream_open(path, stream, error);
    if (status == LEY_OK) {
        status = check_sum(*stream, path, error);
        ley_stream_close(*stream);
    }
    return status == LEY_OK ? ley_stream_open(path, stream, error) : status;
}

ley_status checkpoint_load(ley_average *a, const char *path, ley_error *error)
{
    file f = {.path = path, .error = error};
    if (a->added > 0)
        return ley_fail(error, LEY_ERROR_USAGE, "%s: frames have been added already", path);
    ley_status status = open_checked(path, &f.stream, error);
    if (status != LEY_OK)
        return status;
    status = read_all(a, &f, error);
    ley_stream_close(f.stream);
    return status;
}
