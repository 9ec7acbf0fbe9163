#include "average/intake.h"

#include "average/structure.h"
#include "error.h"
#include "for_this_cpu.h"
#include "parallel.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Atoms of a piece, whose sums are added in their order whoever makes them. Numbers of one that is
 * copied: 128 KiB, so that a frame of 100,000 atoms occupies nine threads; and so many at a time,
 * which a cache holds. */
enum { PIECE = 8192, COPIED = 1 << 15, LOOKED_AT = 1 << 12 };

/* Places beyond this have no digits left in floats. */
static const float most_A = 1e6F;

/* Whether all numbers are finite and not too large. */
FOR_THIS_CPU static bool are_good(const float *value, size_t count)
{
    int bad = 0;
    for (size_t i = 0; i < count; i++)
        bad |= !(fabsf(value[i]) <= most_A);
    return bad == 0;
}

enum { LANES = 16 };

/* Adds q cos and -q sin of 2 pi turns, to 1e-7. Turns are doubles; what is left of them beside
 * whole ones are floats, of whose half angles the series are. */
static inline __attribute__((always_inline)) void add_lanes(const float *position_A, const double *charge_e,
                                                            const double wave[4], double cosines[LANES],
                                                            double sines[LANES])
{
    float half[LANES], q[LANES];
    for (int l = 0; l < LANES; l++) {
        const double turns = wave[0] * (double)position_A[3 * l] + wave[1] * (double)position_A[3 * l + 1] +
                             wave[2] * (double)position_A[3 * l + 2] + wave[3];
        /* Adding and taking away 1.5 2^52 rounds to integers. */
        half[l] = (float)(M_PI * (turns - ((turns + 0x1.8p52) - 0x1.8p52)));
        q[l] = (float)charge_e[l];
    }
    for (int l = 0; l < LANES; l++) {
        const float x = half[l], v = x * x;
        const float sine =
            x * (1 + v * (-1.0f / 6 +
                          v * (1.0f / 120 + v * (-1.0f / 5040 + v * (1.0f / 362880 + v * (-1.0f / 39916800))))));
        const float cosine =
            1 + v * (-1.0f / 2 +
                     v * (1.0f / 24 +
                          v * (-1.0f / 720 + v * (1.0f / 40320 + v * (-1.0f / 3628800 + v * (1.0f / 479001600.0f))))));
        cosines[l] += (double)(q[l] * (1 - 2 * sine * sine));
        sines[l] -= (double)(q[l] * (2 * sine * cosine));
    }
}

FOR_THIS_CPU static void add_turns(const float *position_A, const double *charge_e, const double wave[4], size_t count,
                                   double sum[2])
{
    double cosines[LANES] = {0}, sines[LANES] = {0}, last_e[LANES] = {0};
    float last_A[3 * LANES] = {0};
    const size_t whole = count / LANES * LANES, rest = count - whole;
    for (size_t i = 0; i < whole; i += LANES)
        add_lanes(position_A + 3 * i, charge_e + i, wave, cosines, sines);
    memcpy(last_A, position_A + 3 * whole, 3 * rest * sizeof *last_A);
    memcpy(last_e, charge_e + whole, rest * sizeof *last_e);
    add_lanes(last_A, last_e, wave, cosines, sines);
    for (int l = 0; l < LANES; l++) {
        sum[0] += cosines[l];
        sum[1] += sines[l];
    }
}

void intake_add_turns(const float *position_A, const double *charge_e, const double wave[4], size_t count,
                      double sum[2])
{
    add_turns(position_A, charge_e, wave, count, sum);
}

/* ---- Frames in pieces ------------------------------------------------------------------------ */

/* Numbers that follow each other, looked at, or copied, or both. */
typedef struct passing {
    size_t count;
    const float *from;
    float *to; /* NULL: nowhere */
    bool is_looked_at;
    atomic_bool is_bad;
} passing;

static void pass_numbers(void *context, size_t first, size_t last)
{
    passing *p = context;
    const size_t end = last * COPIED < p->count ? last * COPIED : p->count;
    bool are_all_good = true;
    for (size_t at = first * COPIED; at < end; at += LOOKED_AT) {
        const size_t count = end - at < LOOKED_AT ? end - at : LOOKED_AT;
        if (p->is_looked_at)
            are_all_good = are_good(p->from + at, count) && are_all_good;
        if (p->to != NULL)
            memcpy(p->to + at, p->from + at, count * sizeof *p->to);
    }
    if (!are_all_good)
        atomic_store(&p->is_bad, true);
}

/* False: a number is not good. Threads are woken for what takes longer than that. */
static bool pass_frames(size_t atoms, size_t frames, const float *from, float *to, bool is_looked_at)
{
    static const size_t alone_bytes = 1 << 20;
    passing p = {.count = 3 * atoms * frames, .from = from, .to = to, .is_looked_at = is_looked_at};
    const size_t pieces = (p.count + COPIED - 1) / COPIED;
    if (p.count * sizeof *from <= alone_bytes)
        pass_numbers(&p, 0, pieces);
    else
        parallel_ranges(pieces, pass_numbers, &p);
    return !atomic_load(&p.is_bad);
}

/* Names the first number that is not good. */
static ley_status name_atom(const ley_average *a, const float *position_A, ley_error *error)
{
    size_t i = 0;
    while (fabsf(position_A[i]) <= most_A)
        i++;
    const size_t frame = i / (3 * a->problem.atoms), number = i % (3 * a->problem.atoms);
    return ley_fail(error, LEY_ERROR_INPUT, "frame %lld: the position of atom %zu is %g along %c, %s",
                    (long long)a->added + (long long)frame + 1, number / 3 + 1, (double)position_A[i],
                    "xyz"[number % 3], isfinite(position_A[i]) ? "which is beyond 1e6 A" : "which is no number");
}

ley_status intake_check_cells(const ley_average *a, size_t frames, const double *cell_A, ley_error *error)
{
    for (size_t f = 0; f < frames; f++) {
        const double *c = cell_A + 9 * f;
        frame_place made;
        if (!place_make(c, (const int64_t[3]){1, 1, 1}, a->problem.origin, &made))
            return ley_fail(error, LEY_ERROR_INPUT,
                            "frame %lld: the cell's vectors (%g, %g, %g), (%g, %g, %g), (%g, %g, %g) A span no volume",
                            (long long)a->added + (long long)f + 1, c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7],
                            c[8]);
    }
    return LEY_OK;
}

ley_status intake_check(const ley_average *a, size_t frames, const float *position_A, ley_error *error)
{
    return pass_frames(a->problem.atoms, frames, position_A, NULL, true) ? LEY_OK : name_atom(a, position_A, error);
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

ley_status intake_append(const ley_average *a, chunk *c, size_t frames, const float *position_A, const double *cell_A,
                         bool is_checked, ley_error *error)
{
    const average_problem *p = &a->problem;
    if (!pass_frames(p->atoms, frames, position_A, c->position_A + 3 * (size_t)c->frames * p->atoms, !is_checked))
        return name_atom(a, position_A, error);
    for (size_t f = 0; f < frames; f++, c->frames++) {
        const int at = c->frames;
        memcpy(c->cell_A[at], cell_A + 9 * f, sizeof c->cell_A[at]);
        c->structure[at][0] = c->structure[at][1] = 0;
        place_make(p->options.pmepot ? p->first_cell_A : c->cell_A[at], p->mesh.n, p->origin, &c->place[at]);
        place_floats(&c->place[at], c->floats + at * PLACE_FLOATS);
    }
    return LEY_OK;
}

/* ---- Structure factors ----------------------------------------------------------------------- */

typedef struct structures {
    const average_problem *problem;
    const chunk *chunk;
    size_t pieces, first;
    double (*wave)[4]; /* of each frame, from a position to turns */
    double (*sum)[2];  /* of each piece */
} structures;

static void sum_pieces(void *context, size_t first, size_t last)
{
    const structures *k = context;
    const size_t atoms = k->problem->atoms;
    for (size_t i = first; i < last; i++) {
        const size_t frame = i / k->pieces, from = i % k->pieces * PIECE,
                     count = atoms - from < PIECE ? atoms - from : PIECE;
        intake_add_turns(k->chunk->position_A + 3 * ((k->first + frame) * atoms + from), k->problem->charge_e + from,
                         k->wave[frame], count, k->sum[i]);
    }
}

ley_status intake_structures(ley_average *a, ley_error *error)
{
    const average_problem *p = &a->problem;
    chunk *c = a->filling;
    if (c == NULL || p->options.verify_every == 0 || a->structured == c->frames)
        return LEY_OK;
    const size_t frames = (size_t)(c->frames - a->structured), pieces = (p->atoms + PIECE - 1) / PIECE;
    structures k = {.problem = p,
                    .chunk = c,
                    .pieces = pieces,
                    .first = (size_t)a->structured,
                    .wave = malloc(frames * sizeof *k.wave),
                    .sum = calloc(frames * pieces, sizeof *k.sum)};
    const bool is_there = k.wave != NULL && k.sum != NULL;
    for (size_t f = 0; f < frames && is_there; f++) {
        frame_place whole;
        place_make(p->options.pmepot ? p->first_cell_A : c->cell_A[k.first + f], (const int64_t[3]){1, 1, 1}, p->origin,
                   &whole);
        wave_of(&whole, k.wave[f]);
    }
    if (is_there)
        parallel_ranges(frames * pieces, sum_pieces, &k);
    for (size_t i = 0; i < frames * pieces && is_there; i++)
        for (int part = 0; part < 2; part++)
            c->structure[k.first + i / pieces][part] += k.sum[i][part];
    for (size_t f = k.first; f < (size_t)c->frames && is_there; f++)
        for (int part = 0; part < 2; part++) {
            a->structure[part] += c->structure[f][part];
            a->structure_square += c->structure[f][part] * c->structure[f][part];
        }
    a->structured = c->frames;
    free(k.wave);
    free(k.sum);
    return is_there ? LEY_OK : ley_fail_memory(error, frames * pieces * 16, "frames' structure factors");
}
