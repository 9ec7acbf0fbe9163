/* Memory: local and constant up to their limits, copies from and to any place, allocations up to
 * the largest one, and places beyond what 31 and 32 bits count. */
#include "check/internal.h"

#include "clock.h"
#include "error.h"
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t word_at(size_t i)
{
    return (uint32_t)i * 2654435761u + 12345;
}

/* ---- Local memory ---------------------------------------------------------------------------- */

enum {
    LOCAL_GROUPS = 3,
    LEAST_TURNS = 99,
    MOST_TURNS = 99999,
    LEAST_BUSY_GROUPS = 64,
    BUSY_GROUPS_OF_UNIT = 32,
    MOST_BUSY_GROUPS = 8192
};
#define WHILE_S 0.05

typedef struct local_case {
    int items;
    bool counts_groups; /* what grows is the number of groups, not their memory */
    int turns;
} local_case;

static ley_status judge_words(const uint32_t *found, size_t groups, size_t words, check_finding *f, ley_error *error)
{
    for (size_t i = 0; i < groups * words; i++) {
        const uint32_t right = word_at(i) + (uint32_t)(i % words);
        if (found[i] != right)
            return check_wrong(f, (double)(int32_t)found[i], (double)(int32_t)right, error,
                               "word %zu of group %zu, of %zu words, is %#x, not %#x", i % words, i / words, words,
                               found[i], right);
    }
    return LEY_OK;
}

/* `size` bytes of each of a few groups, or a few bytes of each of `size` groups. *elapsed_s: of the
 * launch. */
static ley_status attempt_turns(check_run *run, const local_case *c, size_t size, double *elapsed_s, check_finding *f,
                                ley_error *error)
{
    const size_t groups = c->counts_groups ? size : LOCAL_GROUPS;
    const size_t words = c->counts_groups ? 2 * (size_t)c->items : size / sizeof(uint32_t) / 2 * 2;
    const size_t bytes = groups * words * sizeof(uint32_t);
    const local_words_spec spec = {
        .sum = LEY_SPEC_SUM_FLOAT, .width = 1, .root = LEY_ROOT_STANDARD, .wg = c->items, .words = (int)words};
    uint32_t *in = malloc(bytes);
    dev_kernel kernel = {.device = run->device};
    dev_buffer *buffer = NULL;
    results out = {NULL, NULL};
    check_bench b;
    if (in == NULL)
        return ley_fail_memory(error, bytes, "a check");
    for (size_t i = 0; i < bytes / sizeof *in; i++)
        in[i] = word_at(i);
    ley_status status = kernel_create_anew(run->device, &local_words_kind, &spec, false, NULL, &kernel, error);
    check_bench_begin(&b, run->device);
    if (status == LEY_OK)
        status = arena_upload(&b.arena, in, bytes, &buffer, error);
    if (status == LEY_OK)
        status = check_bench_results(&b, bytes, &out, error);
    if (status == LEY_OK) {
        const double begin_s = ley_clock_s();
        sequence_launch(&b.command_sequence, &kernel, (const size_t[]){groups, 1, 1},
                        KERNEL_ARGUMENTS(local_words, .gm_in = {buffer}, .turns = c->turns, .gm_out = {out.buffer}), 0);
        sequence_read(&b.command_sequence, out.buffer, 0, out.staging, bytes);
        status = check_bench_finish(&b, error);
        *elapsed_s = ley_clock_s() - begin_s;
    }
    if (status == LEY_OK)
        status = judge_words(out.staging->bytes, groups, words, f, error);
    if (status == LEY_OK && c->counts_groups)
        snprintf(f->text, sizeof f->text, "%zu groups", groups);
    else if (status == LEY_OK)
        snprintf(f->text, sizeof f->text, "%s", ley_size((double)size).s);
    check_bench_end(&b);
    kernel_destroy(&kernel);
    free(in);
    return status;
}

static ley_status attempt_local(check_run *run, void *context, size_t size, check_finding *f, ley_error *error)
{
    double elapsed_s = 0;
    return attempt_turns(run, context, size, &elapsed_s, f, error);
}

/* As many turns as take a while, so that groups do run at a time however short they are. */
static ley_status attempt_busy(check_run *run, void *context, size_t size, check_finding *f, ley_error *error)
{
    local_case c = *(const local_case *)context;
    double elapsed_s = 0;
    ley_status status = LEY_OK;
    while (status == LEY_OK && elapsed_s < WHILE_S && c.turns <= MOST_TURNS) {
        status = attempt_turns(run, &c, size, &elapsed_s, f, error);
        c.turns *= 9; /* stays odd */
    }
    return status;
}

/* Half of it, and all; by a group of any size; and by so many groups that several run at a time,
 * each of which must have its own. */
void check_local_memory(check_run *run, const check_row *row)
{
    const dev_info *info = run->device->info;
    const size_t most = info->local_bytes < (64 << 20) ? (size_t)info->local_bytes : 64 << 20;
    local_case usual = {(int)check_kernels_group(info), false, 1}, odd = {usual.items > 37 ? 37 : 1, false, 1},
               busy = {usual.items, true, LEAST_TURNS};
    size_t groups = (size_t)info->compute_units * BUSY_GROUPS_OF_UNIT;
    if (most < 64) {
        check_skip(run, row, "", "the device has no local memory");
        return;
    }
    check_case c = {
        .variant = "all", .size = most, .least = 64, .unit = "bytes", .attempt = attempt_local, .context = &usual};
    check_try(run, row, &c);
    c.variant = "half";
    c.size = most / 2;
    c.context = &odd;
    if (!run->quick)
        check_try(run, row, &c);
    groups = groups > MOST_BUSY_GROUPS ? MOST_BUSY_GROUPS : groups < LEAST_BUSY_GROUPS ? LEAST_BUSY_GROUPS : groups;
    c = (check_case){
        .variant = "groups", .size = groups, .least = 1, .unit = "groups", .attempt = attempt_busy, .context = &busy};
    check_try(run, row, &c);
}

/* ---- Constant memory ------------------------------------------------------------------------- */

static ley_status attempt_constant(check_run *run, void *context, size_t size, check_finding *f, ley_error *error)
{
    const constant_words_spec spec = {
        .sum = LEY_SPEC_SUM_FLOAT, .width = 1, .root = LEY_ROOT_STANDARD, .table = LEY_ATOMS_CONSTANT};
    const size_t words = size / sizeof(uint32_t), bytes = words * sizeof(uint32_t);
    uint32_t *in = malloc(bytes);
    dev_kernel kernel = {.device = run->device};
    dev_buffer *buffer = NULL;
    results out = {NULL, NULL};
    check_bench b;
    (void)context;
    if (in == NULL)
        return ley_fail_memory(error, bytes, "a check");
    for (size_t i = 0; i < words; i++)
        in[i] = word_at(i);
    ley_status status = kernel_create_anew(run->device, &constant_words_kind, &spec, false, NULL, &kernel, error);
    check_bench_begin(&b, run->device);
    if (status == LEY_OK)
        status = arena_upload(&b.arena, in, bytes, &buffer, error);
    if (status == LEY_OK)
        status = check_bench_results(&b, bytes, &out, error);
    if (status == LEY_OK) {
        sequence_launch(
            &b.command_sequence, &kernel,
            (const size_t[]){(words + kernel.group_size[0] - 1) / kernel.group_size[0], 1, 1},
            KERNEL_ARGUMENTS(constant_words, .gm_words = {buffer}, .n_words = (int32_t)words, .gm_out = {out.buffer}),
            0);
        sequence_read(&b.command_sequence, out.buffer, 0, out.staging, bytes);
        status = check_bench_finish(&b, error);
    }
    for (size_t i = 0; i < words && status == LEY_OK; i++) {
        const uint32_t found = ((const uint32_t *)out.staging->bytes)[i], right = in[words - 1 - i];
        if (found != right)
            status = check_wrong(f, (double)(int32_t)found, (double)(int32_t)right, error,
                                 "word %zu of %zu is %#x, not %#x", words - 1 - i, words, found, right);
    }
    if (status == LEY_OK)
        snprintf(f->text, sizeof f->text, "%s", ley_size((double)size).s);
    check_bench_end(&b);
    kernel_destroy(&kernel);
    free(in);
    return status;
}

void check_constant_memory(check_run *run, const check_row *row)
{
    const uint64_t bytes = run->device->info->constant_bytes;
    check_try(run, row,
              &(check_case){.variant = "",
                            .size = bytes == 0           ? 65536
                                    : bytes < (64 << 20) ? (size_t)bytes
                                                         : 64 << 20,
                            .least = 64,
                            .unit = "bytes",
                            .attempt = attempt_constant});
}

/* ---- Offsets --------------------------------------------------------------------------------- */

enum { MIRROR = 4096 };

typedef struct mirror {
    unsigned char right[2][MIRROR]; /* of two buffers */
    dev_buffer *buffer[2];
    dev_staging *back;
} mirror;

static ley_status compare(check_bench *b, mirror *m, size_t offset, size_t size, const char *what, check_finding *f,
                          ley_error *error)
{
    for (int i = 0; i < 2; i++) {
        const size_t from = i == 0 ? offset : 0, bytes = i == 0 ? size : MIRROR;
        sequence_read(&b->command_sequence, m->buffer[i], from, m->back, bytes);
        const ley_status status = check_bench_finish(b, error);
        if (status != LEY_OK)
            return status;
        const unsigned char *found = m->back->bytes;
        for (size_t k = 0; k < bytes; k++)
            if (found[k] != m->right[i][from + k]) {
                int32_t word = 0, right = 0;
                const size_t at = k / 4 * 4 + 4 <= bytes ? k / 4 * 4 : bytes - 4;
                memcpy(&word, found + at, sizeof word);
                memcpy(&right, m->right[i] + from + at, sizeof right);
                return check_wrong(f, word, right, error, "after %s: byte %zu is %#x, not %#x", what, from + k,
                                   found[k], m->right[i][from + k]);
            }
    }
    return LEY_OK;
}

/* Writes, copies, fills and reads at places that are odd, of odd sizes. */
static ley_status attempt_offsets(check_run *run, void *context, size_t size, check_finding *f, ley_error *error)
{
    mirror m = {.back = NULL};
    check_bench b;
    ley_status status = LEY_OK;
    char what[96];
    (void)context, (void)size;
    check_bench_begin(&b, run->device);
    for (size_t i = 0; i < MIRROR; i++) {
        m.right[0][i] = (unsigned char)(word_at(i) >> 24);
        m.right[1][i] = (unsigned char)(word_at(i) >> 16);
    }
    for (int i = 0; i < 2 && status == LEY_OK; i++)
        status = arena_buffer(&b.arena, MIRROR, DEV_READ_WRITE, &m.buffer[i], error);
    if (status == LEY_OK)
        status = arena_staging(&b.arena, MIRROR, &m.back, error);
    for (int i = 0; i < 2 && status == LEY_OK; i++)
        sequence_write(&b.command_sequence, m.buffer[i], 0, m.right[i], MIRROR);
    for (size_t k = 1; k <= 12 && status == LEY_OK; k++) {
        const size_t offset = 37 * k + k % 4, bytes = 5 + 61 * k, to = 11 * k, fill = 4 * (100 + 7 * k);
        const uint32_t pattern = word_at(1000 + k);
        for (size_t i = 0; i < bytes; i++)
            m.right[0][offset + i] = (unsigned char)(i + k);
        sequence_write(&b.command_sequence, m.buffer[0], offset, m.right[0] + offset, bytes);
        memcpy(m.right[1] + to, m.right[0] + offset, bytes);
        sequence_copy(&b.command_sequence, m.buffer[1], to, m.buffer[0], offset, bytes);
        sequence_fill(&b.command_sequence, m.buffer[1], fill, pattern, 40);
        for (size_t i = 0; i < 40; i += 4)
            memcpy(m.right[1] + fill + i, &pattern, sizeof pattern);
        snprintf(what, sizeof what, "%zu bytes to place %zu, from there to %zu, 40 bytes at %zu filled", bytes, offset,
                 to, fill);
        status = compare(&b, &m, offset - 1, bytes + 3, what, f, error);
    }
    check_bench_end(&b);
    return status;
}

void check_offsets(check_run *run, const check_row *row)
{
    check_try(run, row, &(check_case){.variant = "", .attempt = attempt_offsets});
}

/* ---- Wide pieces ----------------------------------------------------------------------------- */

/* Two buffers of twice as many bytes as a piece: a piece is written behind the middle of the first
 * half of one, the other is filled as a whole; the piece's first three quarters are copied behind
 * the other's middle, and half a piece there is filled anew. */
typedef struct wide_case {
    unsigned char *piece, *right;
    dev_buffer *from, *to;
    dev_staging *back;
} wide_case;

static void fill_words(unsigned char *bytes, uint32_t pattern, size_t size)
{
    for (size_t i = 0; i < size; i += sizeof pattern)
        memcpy(bytes + i, &pattern, sizeof pattern);
}

static ley_status move_wide(check_bench *b, const wide_case *w, size_t size, check_finding *f, ley_error *error)
{
    const uint32_t first = word_at(1), second = word_at(2);
    sequence_write(&b->command_sequence, w->from, size / 2, w->piece, size);
    sequence_fill(&b->command_sequence, w->to, 0, first, 2 * size);
    sequence_copy(&b->command_sequence, w->to, size, w->from, size / 2, size / 4 * 3);
    sequence_fill(&b->command_sequence, w->to, size / 2 * 3, second, size / 2);
    sequence_read(&b->command_sequence, w->to, 0, w->back, 2 * size);
    const ley_status status = check_bench_finish(b, error);
    if (status != LEY_OK)
        return status;
    fill_words(w->right, first, 2 * size);
    memcpy(w->right + size, w->piece, size / 4 * 3);
    fill_words(w->right + size / 2 * 3, second, size / 2);
    const uint32_t *found = w->back->bytes, *right = (const uint32_t *)(const void *)w->right;
    for (size_t i = 0; i < 2 * size / sizeof *found; i++)
        if (found[i] != right[i])
            return check_wrong(f, (double)(int32_t)found[i], (double)(int32_t)right[i], error,
                               "after a fill of %zu bytes, a copy of %zu and another fill: the word at %zu is %#x, "
                               "not %#x",
                               2 * size, size / 4 * 3, i * sizeof *found, found[i], right[i]);
    return LEY_OK;
}

static ley_status attempt_wide(check_run *run, void *context, size_t any_size, check_finding *f, ley_error *error)
{
    const size_t size = any_size / 16 * 16;
    wide_case w = {.piece = malloc(size), .right = malloc(2 * size)};
    check_bench b;
    (void)context;
    check_bench_begin(&b, run->device);
    ley_status status = w.piece != NULL && w.right != NULL ? LEY_OK : ley_fail_memory(error, 3 * size, "a check");
    if (status == LEY_OK)
        status = arena_buffer(&b.arena, 2 * size, DEV_READ_WRITE, &w.from, error);
    if (status == LEY_OK)
        status = arena_buffer(&b.arena, 2 * size, DEV_READ_WRITE, &w.to, error);
    if (status == LEY_OK)
        status = arena_staging(&b.arena, 2 * size, &w.back, error);
    if (status == LEY_OK) {
        for (size_t i = 0; i < size; i++)
            w.piece[i] = (unsigned char)(word_at(i) >> 24);
        status = move_wide(&b, &w, size, f, error);
    }
    if (status == LEY_OK)
        snprintf(f->text, sizeof f->text, "%s", ley_size((double)size).s);
    check_bench_end(&b);
    free(w.piece);
    free(w.right);
    return status;
}

void check_wide(check_run *run, const check_row *row)
{
    const bool is_slow = (run->device->info->quirks & DEV_QUIRK_INTERPRETER) != 0;
    check_try(run, row,
              &(check_case){.variant = "",
                            .size = run->quick || is_slow ? 1 << 20 : 1 << 24,
                            .least = 64,
                            .unit = "bytes",
                            .attempt = attempt_wide});
}

/* ---- Allocations ----------------------------------------------------------------------------- */

enum { PIECE = 256 };

/* What is free on the device, as far as it is known; a processor's memory is the host's. */
static uint64_t most_bytes(const dev_info *info)
{
    const double host = info->device_class == DEV_CPU ? memory_available().bytes / 2 : 1e18;
    uint64_t most = info->global_bytes / 4 * 3;
    if (info->max_allocation_bytes > 0 && most > info->max_allocation_bytes)
        most = info->max_allocation_bytes;
    return (double)most > host ? (uint64_t)host : most;
}

/* Its ends and its middle are written and come back. */
static ley_status attempt_allocation(check_run *run, void *context, size_t size, check_finding *f, ley_error *error)
{
    const dev_backend *backend = run->device->backend;
    const size_t places[3] = {0, size / 2 / PIECE * PIECE, size - PIECE};
    uint32_t piece[PIECE / sizeof(uint32_t)];
    check_bench b;
    dev_buffer *buffer = NULL;
    dev_staging *back = NULL;
    (void)context;
    check_bench_begin(&b, run->device);
    ley_status status = backend->buffer_create(run->device, size, DEV_READ_WRITE, &buffer, error);
    if (status == LEY_OK)
        status = arena_staging(&b.arena, PIECE, &back, error);
    for (size_t k = 0; k < 3 && status == LEY_OK; k++) {
        for (size_t i = 0; i < PIECE / sizeof *piece; i++)
            piece[i] = word_at(places[k] + i);
        sequence_write(&b.command_sequence, buffer, places[k], piece, PIECE);
    }
    for (size_t k = 0; k < 3 && status == LEY_OK; k++) {
        sequence_read(&b.command_sequence, buffer, places[k], back, PIECE);
        status = check_bench_finish(&b, error);
        for (size_t i = 0; i < PIECE / sizeof *piece && status == LEY_OK; i++) {
            const uint32_t found = ((const uint32_t *)back->bytes)[i], right = word_at(places[k] + i);
            if (found != right)
                status =
                    check_wrong(f, (double)(int32_t)found, (double)(int32_t)right, error,
                                "of %zu bytes, the word at %zu is %#x, not %#x", size, places[k] + 4 * i, found, right);
        }
    }
    if (status == LEY_OK)
        snprintf(f->text, sizeof f->text, "%s", ley_size((double)size).s);
    check_bench_end(&b);
    if (buffer != NULL)
        backend->buffer_destroy(run->device, buffer);
    return status;
}

void check_allocations(check_run *run, const check_row *row)
{
    static const char *const names[] = {"quarter", "half", "largest"};
    const uint64_t most = most_bytes(run->device->info);
    for (int i = 0; i < (run->quick ? 1 : 3); i++) {
        const uint64_t bytes = most >> (2 - i) >> 8 << 8;
        if (bytes < 4 * PIECE)
            check_skip(run, row, names[i], "there is no memory for it");
        else
            check_try(run, row,
                      &(check_case){.variant = names[i],
                                    .size = (size_t)bytes,
                                    .least = 4 * PIECE,
                                    .unit = "bytes",
                                    .attempt = attempt_allocation});
    }
}

/* ---- Far places ------------------------------------------------------------------------------ */

enum { FAR_GROUPS = 4, FAR_ITEMS = 16, FAR_BYTES = FAR_GROUPS * FAR_ITEMS * 16 };

/* A kernel writes behind so many bytes; where they would end up if too few bits counted them,
 * nothing changes. */
static ley_status attempt_far(check_run *run, void *context, size_t size, check_finding *f, ley_error *error)
{
    const dev_backend *backend = run->device->backend;
    const work_items_spec spec = {
        .sum = LEY_SPEC_SUM_FLOAT, .width = 1, .root = LEY_ROOT_STANDARD, .lx = FAR_ITEMS, .ly = 1, .lz = 1};
    dev_kernel kernel = {.device = run->device};
    dev_buffer *buffer = NULL, *count = NULL;
    dev_staging *back = NULL;
    check_bench b;
    (void)context;
    check_bench_begin(&b, run->device);
    ley_status status = kernel_create_anew(run->device, &work_items_kind, &spec, false, NULL, &kernel, error);
    if (status == LEY_OK)
        status = backend->buffer_create(run->device, size + FAR_BYTES, DEV_READ_WRITE, &buffer, error);
    if (status == LEY_OK)
        status = arena_buffer(&b.arena, sizeof(int32_t), DEV_READ_WRITE, &count, error);
    if (status == LEY_OK)
        status = arena_staging(&b.arena, FAR_BYTES, &back, error);
    if (status == LEY_OK) {
        sequence_fill(&b.command_sequence, buffer, 0, 7, FAR_BYTES);
        sequence_fill(&b.command_sequence, buffer, size, DEV_NO_NUMBERS, FAR_BYTES);
        sequence_fill(&b.command_sequence, count, 0, 0, sizeof(int32_t));
        sequence_launch(&b.command_sequence, &kernel, (const size_t[]){FAR_GROUPS, 1, 1},
                        KERNEL_ARGUMENTS(work_items, .first = (int32_t)(size / 16 / LEY_FAR_UNIT), .gm_count = {count},
                                         .gm_out = {buffer}),
                        0);
        sequence_read(&b.command_sequence, buffer, size, back, FAR_BYTES);
        status = check_bench_finish(&b, error);
    }
    for (int i = 0; i < FAR_BYTES / 4 && status == LEY_OK; i++) {
        const int32_t found = ((const int32_t *)back->bytes)[i], right = i % 4 == 0   ? i / 4
                                                                         : i % 4 == 3 ? i / 4 / FAR_ITEMS
                                                                                      : 0;
        if (found != right)
            status = check_wrong(f, found, right, error, "the word at %zu is %d, not %d", size + 4 * (size_t)i, found,
                                 right);
    }
    if (status == LEY_OK) {
        sequence_read(&b.command_sequence, buffer, 0, back, FAR_BYTES);
        status = check_bench_finish(&b, error);
    }
    for (int i = 0; i < FAR_BYTES / 4 && status == LEY_OK; i++) {
        const int32_t found = ((const int32_t *)back->bytes)[i];
        if (found != 7)
            status = check_wrong(f, found, 7, error, "the word at %d has become %d: it was meant for %zu", 4 * i, found,
                                 size + 4 * (size_t)i);
    }
    check_bench_end(&b);
    if (buffer != NULL)
        backend->buffer_destroy(run->device, buffer);
    kernel_destroy(&kernel);
    return status;
}

void check_far_places(check_run *run, const check_row *row)
{
    static const struct {
        const char *name;
        uint64_t bytes;
    } places[] = {{"16 MiB", 1 << 24}, {"2^31", (uint64_t)1 << 31}, {"2^32", (uint64_t)1 << 32}};
    const uint64_t most = most_bytes(run->device->info);
    for (size_t i = run->quick && most > places[1].bytes + FAR_BYTES ? 1 : 0; i < (run->quick ? 2 : 3); i++) {
        if (places[i].bytes + FAR_BYTES > most || places[i].bytes + FAR_BYTES > SIZE_MAX / 2)
            check_skip(run, row, places[i].name, "the device, or the machine, has no buffer as large");
        else
            check_try(run, row,
                      &(check_case){.variant = places[i].name,
                                    .size = (size_t)places[i].bytes,
                                    .least = 16 * LEY_FAR_UNIT,
                                    .unit = "bytes before",
                                    .attempt = attempt_far});
    }
}
