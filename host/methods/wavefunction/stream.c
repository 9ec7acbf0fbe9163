#include "methods/wavefunction/stream.h"

#include "core/two_floats.h"
#include "error.h"
#include "memory.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>

enum { VECTOR = 4, HEADER = 2 };

static int64_t vectors_of(int64_t numbers)
{
    return (numbers + VECTOR - 1) / VECTOR;
}

/* Coefficients of a Gaussian, of all orbitals of a block. */
static int64_t coefficients_of(const expansion *e, const expansion_gaussian *g, const stream_shape *shape)
{
    return (int64_t)expansion_each(e, g) * shape->at_once;
}

static int64_t primitives_of(const expansion *e, const expansion_gaussian *g)
{
    return e->is_contracted ? e->wavefunction->shells[g->shell].primitives : 0;
}

static int64_t gaussian_vectors(const expansion *e, const expansion_gaussian *g, const stream_shape *shape)
{
    return 1 + vectors_of(2 * primitives_of(e, g)) + vectors_of(coefficients_of(e, g, shape));
}

/* Of a centre, with its header. */
static int64_t centre_vectors(const expansion *e, const stream_shape *shape, int32_t centre)
{
    int64_t numbers = 0, vectors = HEADER;
    for (int32_t g = e->first_of[centre]; g < e->first_of[centre + 1]; g++) {
        numbers += 1 + coefficients_of(e, &e->gaussians[g], shape);
        vectors += gaussian_vectors(e, &e->gaussians[g], shape);
    }
    return shape->code != NULL ? HEADER + vectors_of(numbers) : vectors;
}

int64_t stream_vectors(const expansion *e, const stream_shape *shape)
{
    int64_t sum = shape->code != NULL ? shape->code->kinds : 0;
    for (int32_t centre = 0; centre < e->centres; centre++)
        sum += centre_vectors(e, shape, centre);
    return sum;
}

void stream_reach(const expansion *e, const stream_orbitals *of, int32_t first, int32_t count, double *reach2)
{
    for (int32_t centre = 0; centre < e->centres; centre++) {
        double most = 0;
        for (int32_t g = e->first_of[centre]; g < e->first_of[centre + 1]; g++) {
            most = fmax(most, expansion_reach2(e, &e->gaussians[g],
                                               of->coefficients + (size_t)first * (size_t)e->coefficients,
                                               of->thresholds + first, count, of->derivatives));
            reach2[g] = fmin(most, 1e30);
        }
    }
}

/* ---- Filling --------------------------------------------------------------------------------- */

/* One block: how far it is written. */
typedef struct writer {
    const expansion *e;
    const stream_shape *shape;
    const stream_orbitals *orbitals;
    void *numbers;        /* where the block begins */
    int64_t at;           /* in numbers */
    const double *reach2; /* [e->count] */
    int32_t first;        /* of its orbitals */
    int32_t count;
} writer;

static void put(writer *w, double number)
{
    if (w->shape->is_double)
        ((double *)w->numbers)[w->at++] = number;
    else
        ((float *)w->numbers)[w->at++] = (float)number;
}

static void put_to_vector(writer *w)
{
    while (w->at % VECTOR != 0)
        put(w, 0);
}

static void put_header(writer *w, const double centre[3], double more)
{
    float high[3], low[3];
    for (int axis = 0; axis < 3; axis++)
        two_floats(centre[axis] - stream_origin(w->e)[axis], &high[axis], &low[axis]);
    for (int axis = 0; axis < 3; axis++)
        put(w, (double)high[axis]);
    put(w, more);
    for (int axis = 0; axis < 3; axis++)
        put(w, (double)low[axis]);
    put(w, 0);
}

static double coefficient_of(const writer *w, int32_t orbital, int32_t number)
{
    const size_t at = (size_t)orbital * (size_t)w->e->coefficients + (size_t)number;
    return w->orbitals->exact != NULL ? w->orbitals->exact[at] : (double)w->orbitals->coefficients[at];
}

/* Orbitals that the block lacks have coefficients of 0. */
static void put_coefficients(writer *w, const expansion_gaussian *g)
{
    for (int k = 0; k < expansion_each(w->e, g); k++)
        for (int32_t o = 0; o < w->shape->at_once; o++)
            put(w, o < w->count ? coefficient_of(w, w->first + o, g->first_coefficient + k) : 0);
}

/* Of a shell {-a log2 e, factor} of each. */
static void put_primitives(writer *w, const expansion_gaussian *g)
{
    const ley_wavefunction *from = w->e->wavefunction;
    for (int64_t p = 0; p < primitives_of(w->e, g); p++) {
        put(w, -from->arrays.exponents[from->shells[g->shell].first_primitive + p] * M_LOG2E);
        put(w, expansion_factor(w->e, g, p));
    }
    put_to_vector(w);
}

/* A part of a centre, from a Gaussian on, down to another one. */
static void put_centre(writer *w, int32_t centre, int32_t from, int32_t to)
{
    const int32_t first = w->e->first_of[centre];
    const bool is_coded = w->shape->code != NULL;
    int64_t vectors = HEADER;
    for (int32_t g = from; g > to; g--)
        vectors += gaussian_vectors(w->e, &w->e->gaussians[g], w->shape);
    put_header(w, w->e->gaussians[first].centre, is_coded ? 0 : (double)vectors);
    for (int32_t g = from; g > to; g--) {
        const expansion_gaussian *own = &w->e->gaussians[g];
        if (!is_coded) {
            put(w, w->e->is_contracted ? (double)primitives_of(w->e, own) : -own->exponent * M_LOG2E);
            put(w, w->reach2[g]);
            put(w, own->l);
            put(w, (double)gaussian_vectors(w->e, own, w->shape));
            put_primitives(w, own);
        } else {
            put(w, w->reach2[g]);
        }
        put_coefficients(w, own);
        if (!is_coded)
            put_to_vector(w);
    }
    put_to_vector(w);
}

/* How many Gaussians of a centre, from number `from` down, go into what is left of a tile. */
static int32_t fitting(const expansion *e, const stream_shape *shape, int32_t from, int32_t least, int64_t left)
{
    int64_t vectors = HEADER;
    int32_t count = 0;
    for (int32_t g = from; g >= least; g--, count++) {
        vectors += gaussian_vectors(e, &e->gaussians[g], shape);
        if (vectors > left)
            break;
    }
    return count;
}

/* Goes through all parts of centres, as tiles have them: puts them, where there is a writer, and
 * notes the tiles, where there are any. How many tiles; 0: a Gaussian fits into none. */
static int32_t walk(const expansion *e, const stream_shape *shape, writer *w, int32_t *tiles)
{
    int64_t at = 0, begin = 0;
    int32_t count = 0;
    for (int32_t centre = 0; centre < e->centres; centre++) {
        const int32_t least = e->first_of[centre];
        int32_t from = e->first_of[centre + 1] - 1;
        while (from >= least) {
            const int32_t all = from - least + 1,
                          take = shape->tile == 0 ? all : fitting(e, shape, from, least, shape->tile - (at - begin));
            if (take == 0 && at == begin)
                return 0;
            if (take > 0) {
                at += HEADER;
                for (int32_t g = from; g > from - take; g--)
                    at += gaussian_vectors(e, &e->gaussians[g], shape);
                if (w != NULL)
                    put_centre(w, centre, from, from - take);
            }
            from -= take;
            if (take < all || (centre + 1 == e->centres && take == all)) { /* the tile is full, or the last one */
                if (tiles != NULL) {
                    tiles[2 * count] = (int32_t)begin;
                    tiles[2 * count + 1] = (int32_t)(at - begin);
                }
                count++;
                begin = at;
            }
        }
    }
    return count;
}

static void put_coded(writer *w)
{
    const basis_code *code = w->shape->code;
    for (int32_t kind = 0; kind < code->kinds; kind++) {
        put(w, code->counts[kind]);
        put_to_vector(w);
        for (int32_t centre = 0; centre < w->e->centres; centre++) {
            if (code->kind_of[centre] != kind)
                continue;
            put_centre(w, centre, w->e->first_of[centre + 1] - 1, w->e->first_of[centre] - 1);
        }
    }
}

typedef struct filling {
    const expansion *e;
    const stream_shape *shape;
    const stream_orbitals *orbitals;
    stream *s;
} filling;

static size_t number_bytes(const stream_shape *shape)
{
    return shape->is_double ? sizeof(double) : sizeof(float);
}

static void fill_blocks(void *context, size_t first, size_t last)
{
    const filling *f = context;
    double *reach2 = calloc((size_t)f->e->count, sizeof *reach2);
    for (size_t block = first; block < last && reach2 != NULL; block++) {
        const int32_t begin = (int32_t)block * f->shape->at_once, left = f->orbitals->count - begin;
        writer w = {.e = f->e,
                    .shape = f->shape,
                    .orbitals = f->orbitals,
                    .numbers = (char *)f->s->numbers + block * (size_t)f->s->vectors * VECTOR * number_bytes(f->shape),
                    .reach2 = reach2,
                    .first = begin,
                    .count = left < f->shape->at_once ? left : f->shape->at_once};
        stream_reach(f->e, f->orbitals, begin, w.count, reach2);
        if (f->shape->code != NULL)
            put_coded(&w);
        else
            walk(f->e, f->shape, &w, NULL);
    }
    free(reach2);
}

void stream_fill(const expansion *e, const stream_shape *shape, const stream_orbitals *orbitals, stream *s)
{
    parallel_ranges((size_t)s->blocks, fill_blocks, &(filling){e, shape, orbitals, s});
}

ley_status stream_create(const expansion *e, const stream_shape *shape, int32_t orbitals, stream *made,
                         ley_error *error)
{
    *made = (stream){.blocks = (orbitals + shape->at_once - 1) / shape->at_once,
                     .tile_count = shape->code != NULL ? 1 : walk(e, shape, NULL, NULL)};
    if (made->tile_count == 0)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "a Gaussian of %d orbitals is larger than a tile of local memory",
                        shape->at_once);
    made->tiles = calloc(2 * (size_t)made->tile_count, sizeof *made->tiles);
    if (made->tiles == NULL)
        return ley_fail_memory(error, 2 * (size_t)made->tile_count * sizeof *made->tiles, "the basis");
    if (shape->code != NULL)
        made->tiles[1] = (int32_t)stream_vectors(e, shape);
    else
        walk(e, shape, NULL, made->tiles);
    const int32_t *last = made->tiles + 2 * (made->tile_count - 1);
    made->vectors = (int64_t)last[0] + last[1];
    const double bytes = (double)made->vectors * made->blocks * VECTOR * (double)number_bytes(shape);
    ley_status status = memory_check_one("the orbitals", bytes, "fewer orbitals", error);
    if (status == LEY_OK && (double)made->vectors * made->blocks > INT32_MAX / VECTOR)
        status =
            ley_fail(error, LEY_ERROR_NO_DEVICE, "%d orbitals of %d coefficients are more than the kernel can number",
                     orbitals, e->coefficients);
    made->numbers = status == LEY_OK ? calloc((size_t)bytes, 1) : NULL;
    if (status == LEY_OK && made->numbers == NULL)
        status = ley_fail_memory(error, (size_t)bytes, "the orbitals");
    if (status != LEY_OK)
        stream_destroy(made);
    return status;
}

void stream_destroy(stream *s)
{
    free(s->numbers);
    free(s->tiles);
    *s = (stream){.vectors = 0};
}
