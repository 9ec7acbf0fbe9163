#include "verify/stratified_sample.h"

#include "error.h"
#include "law/accuracy.h"
#include "parallel.h"
#include "target/map.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Of the chosen points the largest ones are a quarter at most; each stratum after them ends four
 * times as far as the one before. */
enum { LARGE = 4, WIDER = 4, MOST_STRATA = 24, LEAST_OF_EACH = 2 };

/* Values of one class are as large as each other within a factor of 1.5: one exponent of a float,
 * and the first bit behind it. The last class has what is no number, too. */
enum { CLASSES = 512, CLASS_SHIFT = 22 };

/* Behind the classes of values those of points next to strong charges, whatever their values, one
 * for each shell. Of fewer chosen points than these there is none to spare for them. */
enum { ALL_CLASSES = CLASSES + STRONG_SHELLS, LEAST_FOR_SHELLS = 64, SHELL_SHARE = 16 };

/* What is counted at a time. */
enum { MOST_CHUNKS = 1024, LEAST_CHUNK = 4096 };

typedef struct counts {
    uint32_t of[ALL_CLASSES];
} counts;

typedef struct frame {
    const stratified_sample_source *source;
    const strong_point *strong, *strong_end; /* those that count */
    int64_t count;
    int64_t *sampled; /* as in stratified_sample */
    double *value;    /* of these */
    size_t chunks;
    counts *counts;              /* [chunks] */
    int64_t in_all[ALL_CLASSES]; /* chunks */
    double *squares;             /* [chunks] */
    atomic_bool lacks_memory;
} frame;

typedef struct stratum {
    int from, to; /* classes, the largest values first: [to, from] */
    int64_t count;
    size_t chosen;
} stratum;

static bool is_cancelled(const frame *f)
{
    return f->source->cancelled != NULL && atomic_load(f->source->cancelled);
}

/* ---- Values ---------------------------------------------------------------------------------- */

static inline int class_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (int)((bits & 0x7fffffffU) >> CLASS_SHIFT);
}

/* The square of what is as large as any value of the class. */
static double class_square(int size)
{
    const uint32_t bits = (uint32_t)size << CLASS_SHIFT;
    float value;
    memcpy(&value, &bits, sizeof value);
    return isfinite(value) ? (double)value * value : 0;
}

/* How many points to look at, which are a sample; 0: all values, in a row. */
static int64_t sample_size(const stratified_sample_source *s)
{
    if (s->map != NULL && (map_get_store(s->map) == NULL || s->total <= STRATA_LARGEST_FILE))
        return 0;
    const int64_t most = s->map != NULL ? STRATA_FILE_POINTS : STRATA_POINTS;
    return s->total < most ? s->total : most;
}

static void ask_for(void *context, size_t first, size_t last)
{
    const frame *f = context;
    for (size_t k = first; k < last && !is_cancelled(f); k++)
        f->value[k] = f->source->value(f->source->context, f->sampled[k]);
}

static ley_status look_at_some(frame *f, uint64_t *random, ley_error *error)
{
    const stratified_sample_source *source = f->source;
    f->sampled = malloc((size_t)f->count * sizeof *f->sampled);
    f->value = malloc((size_t)f->count * sizeof *f->value);
    if (f->sampled == NULL || f->value == NULL)
        return ley_fail_memory(error, (size_t)f->count * (sizeof *f->sampled + sizeof *f->value), "the verification");
    for (int64_t k = 0; k < f->count; k++)
        f->sampled[k] = f->count == source->total ? k : (int64_t)(accuracy_random(random) % (uint64_t)source->total);
    parallel_ranges((size_t)f->count, ask_for, f);
    return LEY_OK;
}

/* Values of a chunk: one of both. They are looked at in ascending order. */
typedef struct run {
    int64_t first, count;
    const float *values;
    const double *asked;
    const strong_point *strong, *strong_end; /* from the next one on */
} run;

static int64_t chunk_first(const frame *f, size_t chunk)
{
    return (int64_t)parallel_first((size_t)f->count, f->chunks, chunk);
}

/* The first one of this number or a larger one. */
static const strong_point *strong_from(const frame *f, int64_t number)
{
    const strong_point *low = f->strong;
    for (size_t left = (size_t)(f->strong_end - f->strong); left > 0;) {
        const size_t half = left / 2;
        const bool is_before = low[half].number < number;
        low += is_before ? half + 1 : 0;
        left = is_before ? left - half - 1 : half;
    }
    return low;
}

/* `buffer` has room for the largest chunk. */
static run chunk_values(const frame *f, size_t chunk, float *buffer)
{
    run r = {.first = chunk_first(f, chunk)};
    r.count = chunk_first(f, chunk + 1) - r.first;
    r.strong = strong_from(f, r.first);
    r.strong_end = f->strong_end;
    if (f->sampled != NULL)
        r.asked = f->value + r.first;
    else
        r.values = map_values_from(f->source->map, r.first, r.count, buffer);
    return r;
}

static inline int class_at(run *r, int64_t k)
{
    while (r->strong < r->strong_end && r->strong->number < r->first + k)
        r->strong++;
    if (r->strong < r->strong_end && r->strong->number == r->first + k)
        return CLASSES + r->strong->shell;
    return class_of(r->asked != NULL ? (float)r->asked[k] : r->values[k]);
}

static inline double square_at(const run *r, int64_t k)
{
    const double value = r->asked != NULL ? r->asked[k] : (double)r->values[k];
    return isfinite(value) ? value * value : 0;
}

/* Room for the values of a chunk that are read from a file; NULL: no memory. */
static float *make_buffer(const frame *f)
{
    return malloc(((size_t)f->count / f->chunks + 1) * sizeof(float));
}

/* ---- Counting -------------------------------------------------------------------------------- */

static void count_chunks(void *context, size_t first, size_t last)
{
    frame *f = context;
    float *buffer = make_buffer(f);
    if (buffer == NULL)
        atomic_store(&f->lacks_memory, true);
    for (size_t chunk = first; chunk < last && buffer != NULL && !is_cancelled(f); chunk++) {
        run r = chunk_values(f, chunk, buffer);
        for (int64_t k = 0; k < r.count; k++) {
            f->counts[chunk].of[class_at(&r, k)]++;
            f->squares[chunk] += square_at(&r, k);
        }
    }
    free(buffer);
}

/* As many chunks for one number of values, on however many cores: sums are the same. */
static ley_status count_all(frame *f, ley_error *error)
{
    const int64_t wanted = f->count / LEAST_CHUNK + 1;
    f->chunks = (size_t)(wanted < MOST_CHUNKS ? wanted : MOST_CHUNKS);
    f->counts = calloc(f->chunks, sizeof *f->counts);
    f->squares = calloc(f->chunks, sizeof *f->squares);
    if (f->counts == NULL || f->squares == NULL)
        return ley_fail_memory(error, f->chunks * sizeof *f->counts, "the verification");
    parallel_ranges(f->chunks, count_chunks, f);
    if (atomic_load(&f->lacks_memory))
        return ley_fail_memory(error, (size_t)f->count / f->chunks * sizeof(float), "the verification");
    for (size_t chunk = 0; chunk < f->chunks; chunk++)
        for (int size = 0; size < ALL_CLASSES; size++)
            f->in_all[size] += f->counts[chunk].of[size];
    return is_cancelled(f) ? ley_fail(error, LEY_CANCELLED, "cancelled") : LEY_OK;
}

static int64_t count_in_chunk(const frame *f, size_t chunk, const stratum *s)
{
    int64_t sum = 0;
    for (int size = s->to; size <= s->from; size++)
        sum += f->counts[chunk].of[size];
    return sum;
}

/* ---- Strata ---------------------------------------------------------------------------------- */

static size_t least_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How many there may be so that each can have what is the least of it, the first one as much as a
 * quarter of the chosen points. */
static size_t most_strata(size_t chosen)
{
    return least_of(MOST_STRATA, least_of(chosen / LEAST_OF_EACH, 1 + (chosen - chosen / LARGE) / LEAST_OF_EACH));
}

/* Whole classes, the largest values first: no more than a quarter of the chosen points, if one has
 * as few; then each as far as WIDER times the one before. */
static size_t find_strata(const frame *f, size_t chosen, stratum *list)
{
    const size_t most = most_strata(chosen);
    size_t n = 0;
    int64_t end = 0, next = (int64_t)(chosen < (size_t)f->count ? chosen / LARGE : chosen);
    stratum now = {.from = CLASSES - 1, .to = CLASSES};
    for (int size = CLASSES - 1; size >= 0; size--) {
        const int64_t count = f->in_all[size];
        const bool is_too_many = n == 0 && now.count + count > next;
        if (now.count > 0 && count > 0 && n + 1 < most && (is_too_many || end >= next)) {
            list[n++] = now;
            now = (stratum){.from = size};
            next = WIDER * (end > 0 ? end : 1);
        }
        now.to = size;
        now.count += count;
        end += count;
    }
    list[n++] = now;
    return n;
}

/* The shells around strong charges, and what is chosen of each at least; how many points in all. */
static size_t find_shells(const frame *f, size_t chosen, stratum *list, size_t *n)
{
    size_t sum = 0;
    for (int shell = 0; shell < STRONG_SHELLS; shell++) {
        stratum s = {.from = CLASSES + shell, .to = CLASSES + shell};
        s.count = f->in_all[s.from];
        s.chosen = (size_t)s.count < chosen / SHELL_SHARE ? (size_t)s.count : chosen / SHELL_SHARE;
        sum += s.chosen;
        if (s.count > 0)
            list[(*n)++] = s;
    }
    return sum;
}

/* Of classes of values; of strong charges' shells the values say little. */
static double squares_of(const frame *f, const stratum *s)
{
    double sum = 0;
    if (s->from >= CLASSES)
        return 0;
    for (int size = s->to; size <= s->from; size++)
        sum += (double)f->in_all[size] * class_square(size);
    return sum;
}

/* What a stratum has of the points and of the sum of squares, half and half, of all that have some
 * left to choose: errors may be the same everywhere or a share of each value. */
static void find_shares(const frame *f, const stratum *list, size_t n, double *share)
{
    double squares = 0, points = 0;
    for (size_t i = 0; i < n; i++) {
        const bool has_some = (int64_t)list[i].chosen < list[i].count;
        squares += share[i] = has_some ? squares_of(f, &list[i]) : 0;
        points += has_some ? (double)list[i].count : 0;
    }
    for (size_t i = 0; i < n; i++)
        share[i] = (squares > 0 ? share[i] / squares : 0) + (double)list[i].count / fmax(points, 1);
}

/* Of those that have points left, the one that has the fewest for its share. */
static size_t neediest(const stratum *list, size_t n, const double *share)
{
    size_t most = n;
    for (size_t i = 0; i < n; i++) {
        const bool has_some = (int64_t)list[i].chosen < list[i].count;
        if (has_some && (most == n || share[i] * (double)list[most].chosen > share[most] * (double)list[i].chosen))
            most = i;
    }
    return most;
}

/* What is chosen of each of the first `of_values`: all of the largest values where they are as few
 * as said, at least two of the others; and what is left by the shares of all. */
static void share_out(const frame *f, size_t chosen, stratum *list, size_t of_values, size_t n)
{
    double share[MOST_STRATA + STRONG_SHELLS];
    size_t left = chosen;
    for (size_t i = 0; i < of_values; i++) {
        const size_t least =
            of_values == 1 || (i == 0 && list[0].count <= (int64_t)(chosen / LARGE)) ? left : LEAST_OF_EACH;
        list[i].chosen = list[i].count < (int64_t)least ? (size_t)list[i].count : least;
        left -= list[i].chosen;
    }
    find_shares(f, list, n, share);
    for (; left > 0; left--)
        list[neediest(list, n, share)].chosen++;
}

/* ---- Points ---------------------------------------------------------------------------------- */

static bool is_drawn(const int64_t *drawn, size_t n, int64_t rank)
{
    for (size_t i = 0; i < n; i++)
        if (drawn[i] == rank)
            return true;
    return false;
}

/* Points of a stratum to be found: by their ranks, which their numbers replace. */
typedef struct search {
    frame *frame;
    const stratum *stratum;
    int64_t *before; /* [chunks + 1]: how many of the stratum are before each chunk */
    int64_t *points;
} search;

/* The rank-th of a stratum's points. */
static int64_t find_point(const search *of, int64_t rank, float *buffer)
{
    const frame *f = of->frame;
    const stratum *s = of->stratum;
    size_t chunk = 0;
    for (size_t end = f->chunks; chunk + 1 < end;) { /* the last one with no more than that before it */
        const size_t middle = chunk + (end - chunk) / 2;
        if (of->before[middle] <= rank)
            chunk = middle;
        else
            end = middle;
    }
    rank -= of->before[chunk];
    run r = chunk_values(f, chunk, buffer);
    int64_t k = 0;
    for (; k + 1 < r.count; k++) {
        const int size = class_at(&r, k);
        if (size >= s->to && size <= s->from && rank-- == 0)
            break;
    }
    return r.first + k;
}

static void find_points(void *context, size_t first, size_t last)
{
    const search *of = context;
    float *buffer = make_buffer(of->frame);
    if (buffer == NULL)
        atomic_store(&of->frame->lacks_memory, true);
    for (size_t i = first; i < last && buffer != NULL; i++)
        of->points[i] = find_point(of, of->points[i], buffer);
    free(buffer);
}

/* Each once; all of them in order where all are wanted. */
static void choose_of(frame *f, const stratum *s, uint64_t *random, int64_t *before, int64_t *points)
{
    before[0] = 0;
    for (size_t chunk = 0; chunk < f->chunks; chunk++)
        before[chunk + 1] = before[chunk] + count_in_chunk(f, chunk, s);
    for (size_t i = 0; i < s->chosen; i++) {
        int64_t rank = (int64_t)i;
        while ((int64_t)s->chosen < s->count &&
               (rank = (int64_t)(accuracy_random(random) % (uint64_t)s->count), is_drawn(points, i, rank)))
            ;
        points[i] = rank;
    }
    parallel_ranges(s->chosen, find_points, &(search){f, s, before, points});
}

static ley_status choose(frame *f, size_t chosen, uint64_t *random, stratified_sample *made, ley_error *error)
{
    stratum list[MOST_STRATA + STRONG_SHELLS], shells[STRONG_SHELLS];
    size_t shell_count = 0;
    const size_t in_shells = find_shells(f, chosen, shells, &shell_count),
                 of_values = find_strata(f, chosen - in_shells, list), n = of_values + shell_count;
    memcpy(list + of_values, shells, shell_count * sizeof *shells);
    made->points = malloc((chosen + 1) * sizeof *made->points);
    made->weight = malloc((chosen + 1) * sizeof *made->weight);
    int64_t *before = malloc((f->chunks + 1) * sizeof *before);
    if (made->points == NULL || made->weight == NULL || before == NULL) {
        free(before);
        return ley_fail_memory(error, chosen * (sizeof *made->points + sizeof *made->weight), "the verification");
    }
    share_out(f, chosen - in_shells, list, of_values, n);
    for (size_t i = 0; i < n; i++) {
        choose_of(f, &list[i], random, before, made->points + made->chosen);
        for (size_t k = 0; k < list[i].chosen; k++)
            made->weight[made->chosen++] = (double)list[i].count / (double)list[i].chosen;
    }
    free(before);
    if (atomic_load(&f->lacks_memory))
        return ley_fail_memory(error, (size_t)f->count / f->chunks * sizeof(float), "the verification");
    made->large = list[0].chosen == (size_t)list[0].count ? list[0].chosen : 0;
    for (size_t i = 0; i < f->chunks; i++)
        made->squares += f->squares[i];
    return LEY_OK;
}

ley_status stratified_sample_make(const stratified_sample_source *source, size_t chosen, uint64_t *random,
                                  stratified_sample *made, ley_error *error)
{
    const int64_t sample = sample_size(source);
    frame f = {.source = source, .count = sample > 0 ? sample : source->total};
    if (sample == 0 && source->strong_count > 0 && chosen >= LEAST_FOR_SHELLS) {
        f.strong = source->strong;
        f.strong_end = source->strong + source->strong_count;
    }
    stratified_sample s = {.count = f.count};
    ley_status status = sample > 0 ? look_at_some(&f, random, error) : LEY_OK;
    if (status == LEY_OK)
        status = count_all(&f, error);
    if (status == LEY_OK)
        status = choose(&f, (int64_t)chosen < f.count ? chosen : (size_t)f.count, random, &s, error);
    for (size_t i = 0; status == LEY_OK && f.sampled != NULL && i < s.chosen; i++)
        s.points[i] = f.sampled[s.points[i]];
    s.sampled = f.sampled;
    free(f.value);
    free(f.counts);
    free(f.squares);
    if (status == LEY_OK)
        *made = s;
    else
        stratified_sample_clear(&s);
    return status;
}

void stratified_sample_clear(stratified_sample *s)
{
    free(s->sampled);
    free(s->points);
    free(s->weight);
    *s = (stratified_sample){.count = 0};
}

double stratified_sample_absolute_rms(const stratified_sample *s, double weighted_error2)
{
    return s->count > 0 ? sqrt(weighted_error2 / (double)s->count) : 0;
}

/* Values that are nearly right have the mean square of right ones; of others the chosen ones say by
 * how much they are too large, unless that is most of them. */
double stratified_sample_relative_rms(const stratified_sample *s, double weighted_error2, double weighted_beyond2,
                                      double weighted_right2)
{
    const double little = 0.02, much = 0.5, share = s->squares > 0 ? fabs(weighted_beyond2) / s->squares : 1;
    const double square = share < little ? s->squares : share < much ? s->squares - weighted_beyond2 : weighted_right2;
    return square > 0 ? sqrt(weighted_error2 / square) : weighted_error2 > 0 ? INFINITY : 0;
}
