#include "layout/padding.h"

#include "core/sizes.h"
#include "parallel.h"

#include <stdatomic.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Points that are worth two threads, and that each thread is called for at least; and from how many
 * on they go past the caches. */
enum { WORTH_THREADS = 1 << 17, WORTH_A_THREAD = 1 << 16, WORTH_STREAMING = 1 << 20 };

/* So many points of rows are a thread's at a time: cores that others use, too, do fewer of them. */
enum { CHUNK = 1 << 16, SMALL_CHUNK = 1 << 13 };

bool padding_bytes(const padded_slab *slab, int64_t *bytes)
{
    const int64_t number = slab->store == PADDED_FLOAT ? 4 : 8,
                  point = slab->components > 1 ? slab->components * number : number;
    int64_t size;
    return ley_multiply(slab->padded_x, slab->padded_y, &size) && ley_multiply(size, slab->planes, &size) &&
           ley_multiply(size, point, bytes);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* As padding_copy(), past the caches where processors can: what is written need not be read before,
 * and caches keep what they have. */
static uint32_t stream(float *to, const float *from, size_t n)
{
#ifdef __SSE2__
    enum { LINE = 64 / sizeof(float), LANES = 4 };
    const size_t before = (LINE - (uintptr_t)to / sizeof *to % LINE) % LINE, head = before < n ? before : n;
    const size_t lines = (n - head) / LINE * LINE;
    const __m128i magnitude = _mm_set1_epi32(0x7fffffff), carry = _mm_set1_epi32(0x00800000);
    __m128i marks = _mm_setzero_si128();
    uint32_t marked[LANES];
    for (size_t i = head; i < head + lines; i += LANES) {
        const __m128i bits = _mm_loadu_si128((const __m128i *)(const void *)(from + i));
        marks = _mm_or_si128(marks, _mm_add_epi32(_mm_and_si128(bits, magnitude), carry));
        _mm_stream_si128((__m128i *)(void *)(to + i), bits);
    }
    _mm_storeu_si128((__m128i *)(void *)marked, marks);
    return marked[0] | marked[1] | marked[2] | marked[3] | padding_copy(to, from, head) |
           padding_copy(to + head + lines, from + head + lines, n - head - lines);
#else
    return padding_copy(to, from, n);
#endif
}

/* Before others read what was streamed. */
static void end_stream(void)
{
#ifdef __SSE2__
    _mm_sfence();
#endif
}

/* One slab's way into the map. */
typedef struct crop {
    const padded_slab *slab;
    const void *padded;
    float *map;
    bool is_large;      /* it goes past the caches */
    atomic_uint marks;  /* of padding_copy() */
    atomic_size_t next; /* row that nobody has taken yet */
} crop;

/* Returns what padding_copy() does. */
static uint32_t crop_row(const crop *c, size_t at, size_t carries, float *row)
{
    const size_t n = (size_t)c->slab->n_x;
    if (c->slab->store == PADDED_FLOAT)
        return (c->is_large ? stream : padding_copy)(row, (const float *)c->padded + at, n);
    if (c->slab->store == PADDED_COMPENSATED)
        for (size_t x = 0; x < n; x++)
            row[x] = ((const float *)c->padded)[at + x] - ((const float *)c->padded)[carries + at + x];
    else
        for (size_t x = 0; x < n; x++)
            row[x] = (float)((const double *)c->padded)[at + x];
    return padding_copy(row, row, n);
}

static void crop_rows(crop *c, size_t first, size_t last)
{
    uint32_t marks = 0;
    const size_t row_points = (size_t)c->slab->padded_x, rows = (size_t)c->slab->n_y,
                 padded_rows = (size_t)c->slab->padded_y;
    const size_t component = row_points * padded_rows * (size_t)c->slab->planes,
                 before = (size_t)c->slab->component * component,
                 carries = component * (size_t)(c->slab->components > 1 ? c->slab->components : 1);
    for (size_t i = first; i < last; i++)
        marks |= crop_row(c, before + (i / rows * padded_rows + i % rows) * row_points, carries,
                          c->map + i * (size_t)c->slab->n_x);
    atomic_fetch_or_explicit(&c->marks, marks, memory_order_relaxed);
}

static size_t rows_of(const padded_slab *slab)
{
    return (size_t)(slab->n_y * slab->planes);
}

/* Threads of different numbers do the same. */
static void crop_chunks(void *context, size_t first, size_t last)
{
    crop *c = context;
    const size_t rows = rows_of(c->slab), most = (c->is_large ? CHUNK : SMALL_CHUNK) / (size_t)c->slab->n_x + 1;
    (void)first, (void)last;
    for (size_t at; (at = atomic_fetch_add_explicit(&c->next, most, memory_order_relaxed)) < rows;)
        crop_rows(c, at, at + most < rows ? at + most : rows);
    end_stream();
}

/* ---- All of them ----------------------------------------------------------------------------- */

int padding_crop_threads(size_t points)
{
    const size_t wanted = points / WORTH_A_THREAD, cores = (size_t)parallel_cores();
    return points < WORTH_THREADS ? 1 : (int)(wanted < cores ? wanted : cores);
}

bool padding_crop(const padded_slab *slab, const void *padded, float *map)
{
    crop c = {.slab = slab, .padded = padded, .map = map};
    const size_t rows = rows_of(slab);
    const size_t points = rows * (size_t)slab->n_x;
    c.is_large = points >= WORTH_STREAMING;
    parallel_ranges((size_t)padding_crop_threads(points), crop_chunks, &c);
    return padding_is_finite(atomic_load(&c.marks));
}
