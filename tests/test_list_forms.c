/* Lists of pairs in all of their forms, of vectors and of groups with rows of both kinds, beside
 * loops over all pairs: each pair within reach is there as often as it must be, by its nearest
 * image, and no pair more often. */
#include "support.h"

#include "energy/lists.h"
#include "engine/engine.h"

static ley_engine *engine;

typedef struct matter {
    const char *what;
    int count;
    double cell_A[9]; /* 0: not periodic */
    double reach_A;
    int lumps;     /* 0: evenly in the cell, else around so many places */
    double size_A; /* of lumps; where nothing is periodic, of all */
    int strange;   /* each of so many particles is at no place; 0: none */
} matter;

static const matter all[] = {
    {"one particle", 1, {20, 0, 0, 0, 20, 0, 0, 0, 20}, 9, 0, 0, 0},
    {"33 particles", 33, {20, 0, 0, 0, 20, 0, 0, 0, 20}, 9, 0, 0, 0},
    {"just wide enough", 2000, {20.02, 0, 0, 0, 20.02, 0, 0, 0, 20.02}, 10, 0, 0, 0},
    {"skewed, just wide enough", 1500, {24, 0, 0, 11.9, 21, 0, -11.9, 10.4, 20.1}, 10, 0, 0, 0},
    {"a cell of some blocks", 4000, {60, 0, 0, 15, 50, 0, -20, 10, 40}, 7, 0, 0, 0},
    {"long", 3000, {400, 0, 0, 0, 14, 0, 0, 7, 14}, 6, 0, 0, 0},
    {"lumps in a huge cell", 2500, {3000, 0, 0, 0, 2000, 0, 500, 0, 5000}, 9, 6, 12, 0},
    {"lumps at the cell's faces", 2500, {90, 0, 0, 0, 80, 0, 20, 0, 70}, 9, 2, 25, 0},
    {"all at one place", 700, {30, 0, 0, 0, 30, 0, 0, 0, 30}, 9, 1, 0, 0},
    {"no cell", 3000, {0}, 9, 0, 70, 0},
    {"no cell, and far away", 2000, {0}, 9, 5, 14, 0},
    {"some at no place", 1200, {30, 0, 0, 0, 30, 0, 0, 0, 30}, 9, 0, 0, 7},
};

/* ---- Matter ---------------------------------------------------------------------------------- */

typedef struct some_system {
    const matter *of;
    size_t padded;
    float (*position)[4];
    int32_t *first, *excluded;
} some_system;

static double fraction(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) / 16777216.0;
}

static bool is_periodic(const matter *m)
{
    return m->cell_A[0] > 0;
}

/* To the image within the cell around 0, in multiples of the vectors, of which b has no z and a no
 * y and z. */
static void wrap(const double v[9], double x[3])
{
    const double c = x[2] / v[8], b = (x[1] - c * v[7]) / v[4], a = (x[0] - c * v[6] - b * v[3]) / v[0];
    for (int d = 0; d < 3; d++)
        x[d] -= rint(a) * v[d] + rint(b) * v[3 + d] + rint(c) * v[6 + d];
}

static void place(const matter *m, unsigned *state, int i, float to[4])
{
    const double wide_A = is_periodic(m) ? 0 : m->lumps > 0 ? 5e5 : m->size_A;
    double x[3] = {0, 0, 0};
    unsigned own = 77 + (unsigned)(m->lumps > 0 ? i % m->lumps : 0); /* of its lump */
    for (int k = 0; k < 3; k++) {
        fraction(&own);
        const double at = fraction(m->lumps > 0 ? &own : state) - 0.5;
        for (int d = 0; d < 3; d++)
            x[d] += at * (is_periodic(m) ? m->cell_A[3 * k + d] : k == d ? wide_A : 0);
    }
    for (int d = 0; d < 3 && m->lumps > 0; d++)
        x[d] += m->size_A * (fraction(state) - 0.5);
    if (is_periodic(m))
        wrap(m->cell_A, x);
    for (int d = 0; d < 3; d++)
        to[d] = m->strange > 0 && i % m->strange == 0 ? NAN : (float)x[d];
    to[3] = (float)i;
}

/* Next ones are excluded, and some that are elsewhere. */
static some_system make_system(const matter *m)
{
    unsigned state = 5;
    some_system s = {.of = m, .padded = ((size_t)m->count + 127) / 128 * 128};
    s.position = calloc(s.padded, sizeof *s.position);
    s.first = calloc(s.padded + 1, sizeof *s.first);
    s.excluded = calloc(4 * s.padded + 1, sizeof *s.excluded);
    for (size_t i = 0; i < s.padded; i++) {
        s.first[i + 1] = s.first[i];
        if ((int)i >= m->count)
            continue;
        place(m, &state, (int)i, s.position[i]);
        const int own = (int)i, half = m->count / 2,
                  partner[3] = {own - half, own % 3 != 0 ? own - 1 : -1, own % 3 != 2 ? own + 1 : m->count};
        for (int k = 0; k < 3; k++)
            if (partner[k] >= 0 && partner[k] < m->count && (k > 0 || own % 5 == 0) && partner[k] != own)
                s.excluded[s.first[i + 1]++] = partner[k];
        if (own + half < m->count && (own + half) % 5 == 0 && half > 1)
            s.excluded[s.first[i + 1]++] = own + half;
    }
    return s;
}

static bool is_excluded(const some_system *s, int i, int j)
{
    for (int e = s->first[i]; e < s->first[i + 1]; e++)
        if (s->excluded[e] == j)
            return true;
    return i == j;
}

/* ---- Lists ----------------------------------------------------------------------------------- */

typedef struct found {
    pair_lists lists;
    const int32_t (*rows)[2], *tile, *mask, *near, *own;
    size_t bytes; /* of near */
} found;

static void *read_back(arena *memory, command_sequence *w, dev_buffer *buffer, size_t bytes)
{
    dev_staging *back = NULL;
    ley_error error = {0};
    assert_ok(arena_staging(memory, bytes, &back, &error));
    sequence_read(w, buffer, 0, back, bytes);
    return back->bytes;
}

/* Makes the lists until there is room. */
static void make(const some_system *s, const list_tiles_spec *spec, arena *memory, command_sequence *w, flight *f,
                 found *made)
{
    const matter *m = s->of;
    const lists_shape shape = lists_shape_of(spec, (size_t)m->count, s->padded, m->reach_A);
    pair_lists *l = &made->lists;
    buffer_of_float4 position;
    buffer_of_int type;
    float row[1][LEY_LIST_ROWS][4];
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    int32_t *types = calloc(s->padded, sizeof *types);
    const int32_t *beyond;
    ley_error error = {0};
    for (int i = 0; i < m->count; i++)
        for (int d = 0; d < 3; d++) {
            low[d] = fmin(low[d], (double)s->position[i][d]);
            high[d] = fmax(high[d], (double)s->position[i][d]);
        }
    assert_ok(arena_upload(memory, s->position, s->padded * sizeof *s->position, &position.buffer, &error));
    assert_ok(arena_upload(memory, types, s->padded * sizeof *types, &type.buffer, &error));
    assert_ok(pair_lists_create(l, memory, spec, 1, &shape, s->first, s->excluded, type, &error));
    for (;;) {
        lists_frame_rows(&l->shape, is_periodic(m) ? m->cell_A : NULL, low, high, row[0]);
        sequence_begin(w, f, NULL);
        pair_lists_launch(l, w, position, 1, row);
        beyond = read_back(memory, w, l->beyond.buffer, 2 * sizeof(int32_t));
        assert_ok(sequence_finish(w, &error));
        if (beyond[0] == 0 && beyond[1] == 0)
            break;
        assert_ok(pair_lists_grow(l, memory, beyond, &error));
    }
    const size_t rows = (size_t)l->shape.clusters * sizeof(int32_t), tiles = rows * (size_t)l->shape.room[0];
    made->bytes = rows * (size_t)l->shape.room[1];
    sequence_begin(w, f, NULL);
    made->rows = read_back(memory, w, l->row_counts.buffer, 2 * rows);
    made->tile = read_back(memory, w, l->tile.buffer, tiles);
    made->mask = read_back(memory, w, l->mask.buffer, tiles * (size_t)spec->cluster);
    made->near = read_back(memory, w, l->near.buffer, made->bytes);
    made->own = read_back(memory, w, l->own.buffer, (size_t)l->shape.slots * sizeof(int32_t));
    assert_ok(sequence_finish(w, &error));
    free(types);
}

/* ---- The judge ------------------------------------------------------------------------------- */

static double square_of(const some_system *s, int i, int j, const int steps[3])
{
    double square = 0;
    for (int d = 0; d < 3; d++) {
        double way = (double)s->position[i][d] - (double)s->position[j][d];
        for (int k = 0; k < 3; k++)
            way += steps[k] * s->of->cell_A[3 * k + d];
        square += way * way;
    }
    return square;
}

/* Of the nearest image, where that is within reach. */
static double nearest_square(const some_system *s, int i, int j)
{
    double way[3];
    for (int d = 0; d < 3; d++)
        way[d] = (double)s->position[i][d] - (double)s->position[j][d];
    if (is_periodic(s->of))
        wrap(s->of->cell_A, way);
    return way[0] * way[0] + way[1] * way[1] + way[2] * way[2];
}

/* A pair that is named: how often; at its image. */
static void count_pair(const some_system *s, unsigned char *times, int i, int j, int shift)
{
    const double reach2 = s->of->reach_A * s->of->reach_A;
    const int steps[3] = {shift % 3 - 1, shift / 3 % 3 - 1, shift / 9 - 1};
    if (i < 0 || j < 0)
        return;
    times[(size_t)i * (size_t)s->of->count + (size_t)j]++;
    if (shift == LEY_LIST_EACH)
        return;
    const double least = nearest_square(s, i, j);
    if (least < reach2 && !(square_of(s, i, j, steps) <= least + 1e-3))
        fail_msg("%s: particles %d and %d, %g A apart, have shift %d", s->of->what, i, j, sqrt(least), shift);
}

static void count_rows(const some_system *s, const list_tiles_spec *spec, const found *l, unsigned char *times)
{
    enum { NUMBER = (1 << LEY_LIST_SHIFT) - 1 };
    const int c = spec->cluster, *room = l->lists.shape.room;
    for (int row = 0; row < l->lists.shape.clusters; row++)
        for (int lane = 0; lane < c; lane++) {
            const int i = l->own[row * c + lane];
            for (int k = 0; k < l->rows[row][0]; k++) {
                const size_t at = (size_t)row * (size_t)room[0] + (size_t)k;
                for (int other = 0; other < c; other++) {
                    const uint32_t mask = (uint32_t)l->mask[at * (size_t)c + (size_t)(spec->width > 1 ? other : lane)];
                    if (mask >> (spec->width > 1 ? lane : other) & 1)
                        count_pair(s, times, i, l->own[(l->tile[at] & NUMBER) * c + other],
                                   l->tile[at] >> LEY_LIST_SHIFT);
                }
            }
            for (int k = 0; k < l->rows[row][1]; k++) {
                const int name = l->near[(size_t)row * (size_t)room[1] + (size_t)k];
                count_pair(s, times, i, l->own[name & NUMBER], name >> LEY_LIST_SHIFT);
            }
        }
}

static void judge(const some_system *s, const list_tiles_spec *spec, const found *l)
{
    const size_t count = (size_t)s->of->count;
    const double least = s->of->reach_A * s->of->reach_A - 1e-3;
    const int right = spec->full ? 2 : 1;
    unsigned char *times = calloc(count * count, 1);
    size_t within = 0;
    count_rows(s, spec, l, times);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j <= i; j++) {
            const int is = times[i * count + j] + (i != j ? times[j * count + i] : 0);
            const bool excluded = is_excluded(s, (int)i, (int)j),
                       near = !excluded && nearest_square(s, (int)i, (int)j) < least;
            within += near;
            if (times[i * count + j] > 1 || times[j * count + i] > 1 || is > right || (excluded && is > 0) ||
                (near && is != right))
                fail_msg("%s: particles %zu and %zu, %g A apart%s, are there %d times", s->of->what, i, j,
                         sqrt(nearest_square(s, (int)i, (int)j)), excluded ? ", excluded" : "", is);
        }
    print_message("%s, vectors of %d, %s: %zu pairs, rows have %.1f times as many\n", s->of->what, spec->width,
                  spec->full ? "full" : "half", within,
                  (double)l->lists.shape.clusters * spec->cluster * l->lists.shape.room[1] / fmax(1, (double)within));
    free(times);
}

/* In one form, twice. */
static void try_form(const some_system *s, const list_tiles_spec *spec)
{
    arena memory = {.device = engine->workers[0].device};
    flight *f = calloc(1, sizeof *f);
    command_sequence *w = calloc(2, sizeof *w);
    found made[2];
    f->device = memory.device;
    for (int k = 0; k < 2; k++)
        make(s, spec, &memory, &w[k], f, &made[k]);
    for (int row = 0; row < made[0].lists.shape.clusters; row++) {
        const size_t at = (size_t)row * (size_t)made[0].lists.shape.room[1];
        assert_memory_equal(made[0].rows[row], made[1].rows[row], sizeof *made[0].rows);
        assert_memory_equal(made[0].near + at, made[1].near + at, (size_t)made[0].rows[row][1] * sizeof(int32_t));
    }
    judge(s, spec, &made[0]);
    for (int k = 0; k < 2; k++) {
        pair_lists_destroy(&made[k].lists);
        sequence_end(&w[k]);
    }
    arena_clear(&memory);
    free(w);
    free(f);
}

static void lists_have_all_pairs(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        const some_system s = make_system(&all[k]);
        list_tiles_spec spec = lists_spec_for(engine->workers[0].info);
        try_form(&s, &spec);
        spec.width = 1;
        spec.cluster = 32;
        spec.root = LEY_ROOT_STANDARD;
        for (spec.full = 0; spec.full < 2; spec.full++)
            if (!support_is_quick() || (k + (size_t)spec.full) % 2 == 0)
                try_form(&s, &spec);
        free(s.position);
        free(s.first);
        free(s.excluded);
    }
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.name = "forms of pair lists", .opened = &engine), lists_have_all_pairs);
}
