#include "average/intake.h"

#include "average/structure.h"
#include "error.h"
#include "for_this_cpu.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Atoms of a piece, whose sums are added in their order whoever makes them. */
enum { PIECE = 8192 };

/* Places beyond this have no digits left in floats. */
static const float most_A = 1e6F;

typedef struct looking {
    size_t atoms, pieces;
    const float *position_A;
    const double *charge_e;
    const double (*wave)[4]; /* of each frame, from a position to turns; NULL: no structure factors */
    double (*sum)[2];        /* of each piece */
    bool *is_bad;            /* the same */
} looking;

/* Whether all numbers of these atoms are finite and not too large. */
FOR_THIS_CPU static bool are_good(const float *value, size_t count)
{
    int bad = 0;
    for (size_t i = 0; i < count; i++)
        bad |= !(fabsf(value[i]) <= most_A);
    return bad == 0;
}

/* The sums of q cos and -q sin of 2 pi turns, by series about the nearest quarter turn. */
FOR_THIS_CPU static void add_turns(const float *position_A, const double *charge_e, const double wave[4], size_t count,
                                   double sum[2])
{
    double cosines[8] = {0}, sines[8] = {0};
    for (size_t first = 0; first < count; first += 8)
        for (size_t l = 0; l < 8; l++) {
            const size_t i = first + l < count ? first + l : count - 1;
            const double q = first + l < count ? charge_e[i] : 0;
            const double turns = wave[0] * (double)position_A[3 * i] + wave[1] * (double)position_A[3 * i + 1] +
                                 wave[2] * (double)position_A[3 * i + 2] + wave[3];
            /* Adding and taking away 1.5 2^52 rounds to integers. */
            const double half = 2 * turns, whole = (half + 0x1.8p52) - 0x1.8p52, u = (half - whole) * M_PI,
                         pair = (whole / 2 + 0x1.8p52) - 0x1.8p52, is_odd = whole - 2 * pair,
                         sign = 1 - 2 * is_odd * is_odd, s = u * u;
            /* To 1e-10 and 1e-9. */
            const double cosine =
                1 + s * (-1.0 / 2 +
                         s * (1.0 / 24 +
                              s * (-1.0 / 720 + s * (1.0 / 40320 + s * (-1.0 / 3628800 +
                                                                        s * (1.0 / 479001600 - s / 87178291200.0))))));
            const double sine =
                u * (1 + s * (-1.0 / 6 +
                              s * (1.0 / 120 +
                                   s * (-1.0 / 5040 + s * (1.0 / 362880 + s * (-1.0 / 39916800 + s / 6227020800.0))))));
            cosines[l] += q * sign * cosine;
            sines[l] -= q * sign * sine;
        }
    for (int l = 0; l < 8; l++) {
        sum[0] += cosines[l];
        sum[1] += sines[l];
    }
}

static void look_at_pieces(void *context, size_t first, size_t last)
{
    const looking *k = context;
    for (size_t i = first; i < last; i++) {
        const size_t frame = i / k->pieces, from = i % k->pieces * PIECE,
                     count = k->atoms - from < PIECE ? k->atoms - from : PIECE;
        const float *position_A = k->position_A + 3 * (frame * k->atoms + from);
        k->is_bad[i] = !are_good(position_A, 3 * count);
        if (k->wave != NULL && !k->is_bad[i])
            add_turns(position_A, k->charge_e + from, k->wave[frame], count, k->sum[i]);
    }
}

/* Names the first number of a frame that is not good. */
static ley_status name_atom(const ley_average *a, size_t frame, const float *position_A, ley_error *error)
{
    const float *own = position_A + 3 * frame * a->problem.atoms;
    size_t i = 0;
    while (fabsf(own[i]) <= most_A)
        i++;
    return ley_fail(error, LEY_ERROR_INPUT, "frame %lld: the position of atom %zu is %g along %c, %s",
                    (long long)a->added + (long long)frame + 1, i / 3 + 1, (double)own[i], "xyz"[i % 3],
                    isfinite(own[i]) ? "which is beyond 1e6 A" : "which is no number");
}

static ley_status check_cell(const ley_average *a, size_t frame, const double *cell_A, frame_place *made,
                             ley_error *error)
{
    const double *c = cell_A + 9 * frame;
    if (place_make(c, (const int64_t[3]){1, 1, 1}, a->problem.origin, made))
        return LEY_OK;
    return ley_fail(error, LEY_ERROR_INPUT,
                    "frame %lld: the cell's vectors (%g, %g, %g), (%g, %g, %g), (%g, %g, %g) A span no volume",
                    (long long)a->added + (long long)frame + 1, c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8]);
}

ley_status intake_check_cell(const ley_average *a, size_t frame, const double *cell_A, ley_error *error)
{
    frame_place made;
    return check_cell(a, frame, cell_A, &made, error);
}

static void wave_of(const frame_place *p, double wave[4])
{
    static const double m[3] = {STRUCTURE_X, STRUCTURE_Y, STRUCTURE_Z};
    for (int d = 0; d < 4; d++)
        wave[d] = 0;
    for (int i = 0; i < 3; i++) {
        for (int d = 0; d < 3; d++)
            wave[d] += m[i] * p->along[i][d];
        wave[3] += m[i] * p->first[i];
    }
}

static ley_status check_frames(const ley_average *a, size_t frames, looking *k, double (*wave)[4], const double *cell_A,
                               double (*structure)[2], ley_error *error)
{
    ley_status status = LEY_OK;
    for (size_t f = 0; f < frames && status == LEY_OK; f++) {
        frame_place p;
        const bool is_first_kept = a->problem.options.pmepot && a->problem.is_fixed;
        status = check_cell(a, f, cell_A, &p, error);
        if (status == LEY_OK && is_first_kept)
            place_make(a->problem.first_cell_A, (const int64_t[3]){1, 1, 1}, a->problem.origin, &p);
        if (status == LEY_OK)
            wave_of(&p, wave[f]);
    }
    if (status != LEY_OK)
        return status;
    k->wave = structure != NULL ? (const double(*)[4])wave : NULL;
    parallel_ranges(frames * k->pieces, look_at_pieces, k);
    for (size_t i = 0; i < frames * k->pieces; i++)
        if (k->is_bad[i])
            return name_atom(a, i / k->pieces, k->position_A, error);
    for (size_t i = 0; i < frames * k->pieces && structure != NULL; i++)
        for (int part = 0; part < 2; part++)
            structure[i / k->pieces][part] =
                (i % k->pieces == 0 ? 0 : structure[i / k->pieces][part]) + k->sum[i][part];
    return LEY_OK;
}

ley_status intake_check(const ley_average *a, size_t frames, const float *position_A, const double *cell_A,
                        double (*structure)[2], ley_error *error)
{
    const size_t atoms = a->problem.atoms, pieces = (atoms + PIECE - 1) / PIECE;
    looking k = {.atoms = atoms,
                 .pieces = pieces,
                 .position_A = position_A,
                 .charge_e = a->problem.charge_e,
                 .sum = calloc(frames * pieces, sizeof *k.sum),
                 .is_bad = calloc(frames * pieces, sizeof *k.is_bad)};
    double(*wave)[4] = malloc(frames * sizeof *wave);
    const ley_status status = k.sum != NULL && k.is_bad != NULL && wave != NULL
                                  ? check_frames(a, frames, &k, wave, cell_A, structure, error)
                                  : ley_fail_memory(error, frames * pieces * 17, "frames");
    free(k.sum);
    free(k.is_bad);
    free(wave);
    return status;
}

typedef struct copying {
    float *to;
    const float *from;
    size_t count;
} copying;

static void copy_pieces(void *context, size_t first, size_t last)
{
    const copying *c = context;
    const size_t from = 3 * first * PIECE, end = 3 * last * PIECE < c->count ? 3 * last * PIECE : c->count;
    memcpy(c->to + from, c->from + from, (end - from) * sizeof *c->to);
}

void intake_copy(const ley_average *a, chunk *c, const float *position_A, const double *cell_A,
                 const double structure[2])
{
    const average_problem *p = &a->problem;
    const int f = c->frames++;
    copying k = {c->position_A + (size_t)f * p->atoms * 3, position_A, 3 * p->atoms};
    parallel_ranges((p->atoms + PIECE - 1) / PIECE, copy_pieces, &k);
    memcpy(c->cell_A[f], cell_A, sizeof c->cell_A[f]);
    for (int part = 0; part < 2; part++)
        c->structure[f][part] = structure != NULL ? structure[part] : 0;
    place_make(p->options.pmepot ? p->first_cell_A : cell_A, p->mesh.n, p->origin, &c->place[f]);
    place_floats(&c->place[f], c->floats + f * PLACE_FLOATS);
}
