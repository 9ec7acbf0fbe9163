#include "energy/born_self_test.h"

#include "engine/command_sequence.h"
#include "error.h"
#include "verify/self_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The last tile is not whole; parts end within tiles. Half of the particles are close together,
 * some within others, two at one place; the others are all over skewed cells. */
enum {
    COUNT = 601,
    JUDGED = 3, /* every so manyth particle of a part */
    PADDED = 768,
    FRAMES = 2,
    PARTS = 3,
    MOST_PARTS = 6,
    CLASSES = 5, /* the last one that of no particles, which have no necks */
    MOST_SUMS = 5,
    PART_FLOATS = FRAMES * MOST_PARTS * MOST_SUMS * PADDED
};
static const int32_t ranges[PARTS][4] = {{0, 101, 0, 0}, {101, 102, 1, 0}, {102, COUNT, -1, 0}};
static const double cutoff_A = 9.5, kappa = 0.11, by_solute = 0.5, by_solvent = 0.0125, gap_A = 6.5;

typedef struct trial {
    arena arena;
    flight flight;
    command_sequence sequence;
    float at[FRAMES][PADDED][4], sphere[PADDED][4], state[FRAMES][PADDED][4], neck[4][CLASSES][PADDED],
        cell[FRAMES][6][4], factor[2][PADDED][4];
    float parts[PART_FLOATS];
    double numbers[16];
    buffer_of_float4 at_buffer, spheres, states, cells, factors, forces;
    buffer_of_float neck_buffer, part_buffer, energies, columns, radii, slopes;
    buffer_of_int4 range_buffer;
    dev_staging *back;
} trial;

static double between(uint32_t *state, double low, double high)
{
    return low + (high - low) * self_test_fraction(state);
}

/* A frame's cell vectors, A. */
static const double vectors_A[FRAMES][3][3] = {{{44, 0, 0}, {20, 36, 0}, {-17, 15, 30}},
                                               {{31, 2, -3}, {-12, 29, 1}, {-10, -11, 40}}};

/* What has the scalar products of 0 with the other vectors, and of 1 with this one. */
static void make_dual(const double cell_A[3][3], int k, double dual[3])
{
    const double *u = cell_A[(k + 1) % 3], *v = cell_A[(k + 2) % 3];
    double volume = 0;
    for (int d = 0; d < 3; d++) {
        dual[d] = u[(d + 1) % 3] * v[(d + 2) % 3] - u[(d + 2) % 3] * v[(d + 1) % 3];
        volume += dual[d] * cell_A[k][d];
    }
    for (int d = 0; d < 3; d++)
        dual[d] /= volume;
}

static void put_frame(trial *t, int f, uint32_t *seed)
{
    static const double edge_A = 60;
    for (int i = 0; i < PADDED; i++) {
        const double reach_A = i % 2 == 0 ? 4 : edge_A;
        for (int d = 0; d < 3; d++)
            t->at[f][i][d] = (float)(i < COUNT ? between(seed, -0.5, 0.5) * reach_A
                                     : d == 0  ? 1e6 * (i - COUNT + 1)
                                               : 0);
        t->at[f][i][3] = (float)(i < COUNT ? between(seed, -1, 1) : 0);
        t->state[f][i][0] = (float)between(seed, 1, 9);
        t->state[f][i][1] = (float)(0.5 * sqrt(1 / log(2)) / (double)t->state[f][i][0]);
        t->state[f][i][2] = (float)(i < COUNT ? between(seed, -1, 1) : 0);
        t->state[f][i][3] = (float)between(seed, -1, 1);
    }
    memcpy(t->at[f][6], t->at[f][4], 3 * sizeof(float));
    for (int k = 0; k < 3; k++) {
        double dual[3];
        make_dual(vectors_A[f], k, dual);
        for (int d = 0; d < 3; d++) {
            t->cell[f][k][d] = (float)vectors_A[f][k][d];
            t->cell[f][3 + k][d] = (float)dual[d];
        }
    }
}

static int class_of(int i)
{
    return i < COUNT ? i % (CLASSES - 1) : CLASSES - 1;
}

static void put_all(trial *t)
{
    uint32_t seed = 90;
    double rho = 0, s = 0;
    for (int f = 0; f < FRAMES; f++)
        put_frame(t, f, &seed);
    for (int i = 0; i < PADDED; i++) {
        t->sphere[i][0] = (float)(i % 9 == 4 ? 0.3 : between(&seed, 1, 2));
        t->sphere[i][1] = (float)(i >= COUNT || i % 31 == 7 ? 0 : (i % 13 == 5 ? -1 : 1) * between(&seed, 0.6, 2));
        t->sphere[i][2] = (float)class_of(i);
        rho = fmax(rho, (double)t->sphere[i][0]);
        s = fmax(s, fabs((double)t->sphere[i][1]));
        for (int k = 0; k < 4 * CLASSES; k++)
            t->neck[k / CLASSES][k % CLASSES][i] =
                (float)(k % CLASSES == CLASSES - 1 ? 0 : between(&seed, 0, k / CLASSES % 2 == 0 ? 4 : 0.04));
        const double radius = (double)t->sphere[i][0] + 0.09;
        const double factor[8] = {1,
                                  -0.8,
                                  4.85,
                                  (double)t->sphere[i][0],
                                  i % 50 == 3 ? 0 : 1 / radius,
                                  1 / (double)t->sphere[i][0] - 1 / radius,
                                  i % 7 == 0 ? 3 : 1e30,
                                  between(&seed, -1, 1)};
        for (int k = 0; k < 8; k++)
            t->factor[k / 4][i][k % 4] = (float)factor[k];
    }
    for (int i = 0; i < PART_FLOATS; i++)
        t->parts[i] = (float)between(&seed, 0, 0.6 / PARTS);
    const double near = fmax(3 * s, rho + s), reach = 2 * rho + gap_A, inner = cutoff_A - s, outer = cutoff_A + s;
    const double all[16] = {near * near,   reach * reach,   gap_A, cutoff_A,  cutoff_A * cutoff_A, inner * inner,
                            outer * outer, -kappa / log(2), kappa, by_solute, by_solvent};
    memcpy(t->numbers, all, sizeof all);
}

/* ---- What is right --------------------------------------------------------------------------- */

/* T of a sphere at d; the integral ends at `end`. */
static double sphere_of(double rho, double s, double d, double end)
{
    if (d < 1e-4) /* of two at one place */
        return s > rho ? 1 / rho - 1 / s : 0;
    const double lower = fmin(fmax(rho, fabs(d - s)), end), upper = fmin(d + s, end), a = 1 / lower, b = 1 / upper;
    if (!(rho < upper) || s == 0)
        return 0;
    return 0.5 * ((a - b) - 0.25 * (d - s * s / d) * (a * a - b * b) - 0.5 * log(upper / lower) / d) +
           (s - d > rho ? 1 / rho - a : 0);
}

static double integral_of(const trial *t, const born_pairs_spec *spec, int i, int j, double d)
{
    const double rho = (double)t->sphere[i][0], end = spec->cutoff == LEY_BORN_TAPERED ? cutoff_A : 1e30;
    const int kind = class_of(j);
    if (spec->cutoff == LEY_BORN_CUT && d >= cutoff_A)
        return 0;
    const double r = d - (double)t->neck[0][kind][i], height = (double)t->neck[1][kind][i];
    const bool has_neck = spec->neck && d < rho + (double)t->sphere[j][0] + gap_A && d < end;
    return sphere_of(rho, (double)t->sphere[j][1], d, end) + (has_neck ? height / (1 + r * r + 0.3 * pow(r, 6)) : 0);
}

/* The same of j's integral over i, whose necks are tables of i, too. */
static double back_of(const trial *t, const born_pairs_spec *spec, int i, int j, double d)
{
    const double rho = (double)t->sphere[j][0], end = spec->cutoff == LEY_BORN_TAPERED ? cutoff_A : 1e30;
    const int kind = class_of(j);
    if (spec->cutoff == LEY_BORN_CUT && d >= cutoff_A)
        return 0;
    const double r = d - (double)t->neck[2][kind][i], height = (double)t->neck[3][kind][i];
    const bool has_neck = spec->neck && d < rho + (double)t->sphere[i][0] + gap_A && d < end;
    return sphere_of(rho, (double)t->sphere[i][1], d, end) + (has_neck ? height / (1 + r * r + 0.3 * pow(r, 6)) : 0);
}

/* The shortest way among those to images. */
static void bring_nearest(const double cell_A[3][3], double way[3])
{
    double dual[3], least = INFINITY, from[3], to[3], whole[3];
    for (int k = 0; k < 3; k++) {
        make_dual(cell_A, k, dual);
        whole[k] = rint(dual[0] * way[0] + dual[1] * way[1] + dual[2] * way[2]);
    }
    memcpy(from, way, sizeof from);
    for (int image = 0; image < 27; image++) {
        const double steps[3] = {whole[0] + image % 3 - 1, whole[1] + image / 3 % 3 - 1, whole[2] + image / 9 - 1};
        double square = 0;
        for (int d = 0; d < 3; d++) {
            to[d] = from[d] - steps[0] * cell_A[0][d] - steps[1] * cell_A[1][d] - steps[2] * cell_A[2][d];
            square += to[d] * to[d];
        }
        if (square < least)
            memcpy(way, to, sizeof to);
        least = fmin(least, square);
    }
}

/* What j adds to the sums of i. */
static void pair_of(const trial *t, const born_pairs_spec *spec, int f, int i, int j, double term[MOST_SUMS])
{
    double way[3];
    for (int k = 0; k < 3; k++)
        way[k] = (double)t->at[f][i][k] - (double)t->at[f][j][k];
    if (spec->periodic)
        bring_nearest(vectors_A[f], way);
    const double d2 = way[0] * way[0] + way[1] * way[1] + way[2] * way[2], d = sqrt(d2), h = 1e-6;
    memset(term, 0, MOST_SUMS * sizeof *term);
    if (spec->pass == LEY_BORN_INTEGRALS && i != j)
        term[0] = integral_of(t, spec, i, j, d);
    if (spec->pass == LEY_BORN_CHAIN && d > 0) {
        const double slope =
            (double)t->state[f][i][2] * (integral_of(t, spec, i, j, d + h) - integral_of(t, spec, i, j, d - h)) +
            (double)t->state[f][j][2] * (back_of(t, spec, i, j, d + h) - back_of(t, spec, i, j, d - h));
        for (int k = 0; k < 3; k++)
            term[k] = -slope / (2 * h) * way[k] / d;
    }
    if (spec->pass != LEY_BORN_ENERGIES || (spec->cutoff != LEY_BORN_CUT_NOT && d >= cutoff_A))
        return;
    const double bb = (double)t->state[f][i][0] * (double)t->state[f][j][0], e = exp(-d2 / (4 * bb)),
                 distance = sqrt(d2 + bb * e), q = (double)t->at[f][j][3],
                 salt = spec->salt ? exp(-kappa * distance) * by_solvent : 0, v = spec->salt ? by_solute - salt : 1;
    const double falls = q * (v / distance - kappa * salt) / (distance * distance);
    term[0] = q * v / distance;
    term[1] = falls * e * (bb + d2 / 4);
    for (int k = 0; k < 3; k++)
        term[2 + k] = falls * (1 - e / 4) * way[k];
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static ley_status make_buffers(trial *t, ley_error *error)
{
    const struct {
        const void *bytes;
        size_t size;
        dev_buffer **buffer;
    } sent[] = {{t->at, sizeof t->at, &t->at_buffer.buffer},       {t->sphere, sizeof t->sphere, &t->spheres.buffer},
                {t->neck, sizeof t->neck, &t->neck_buffer.buffer}, {t->cell, sizeof t->cell, &t->cells.buffer},
                {t->factor, sizeof t->factor, &t->factors.buffer}, {ranges, sizeof ranges, &t->range_buffer.buffer}};
    const struct {
        size_t floats;
        dev_buffer **buffer;
    } made[] = {{PART_FLOATS, &t->part_buffer.buffer},
                {4 * FRAMES * PADDED, &t->states.buffer},
                {4 * FRAMES * PADDED, &t->forces.buffer},
                {FRAMES * LEY_TERM_COUNT * PADDED, &t->energies.buffer},
                {FRAMES * LEY_COLUMN_COUNT * 2 * PADDED, &t->columns.buffer},
                {FRAMES * PADDED, &t->radii.buffer},
                {FRAMES * PADDED, &t->slopes.buffer}};
    ley_status status = LEY_OK;
    for (size_t i = 0; i < sizeof sent / sizeof *sent && status == LEY_OK; i++)
        status = arena_upload(&t->arena, sent[i].bytes, sent[i].size, sent[i].buffer, error);
    for (size_t i = 0; i < sizeof made / sizeof *made && status == LEY_OK; i++) {
        status = arena_buffer(&t->arena, made[i].floats * sizeof(float), DEV_READ_WRITE, made[i].buffer, error);
        if (status == LEY_OK)
            sequence_fill(&t->sequence, *made[i].buffer, 0, DEV_NO_NUMBERS, made[i].floats * sizeof(float));
    }
    if (status == LEY_OK)
        sequence_write(&t->sequence, t->states.buffer, 0, t->state, sizeof t->state);
    return status == LEY_OK ? arena_staging(&t->arena, PART_FLOATS * sizeof(float), &t->back, error) : status;
}

static ley_status judge_value(const char *what, int frame, int i, double found, double right, double absolute,
                              double allowed, ley_error *error)
{
    if (fabs(found - right) <= allowed * absolute)
        return LEY_OK;
    return ley_fail(error, LEY_ERROR_WRONG_RESULT, "%s of particle %d, frame %d is %.9g, not %.9g (of terms of %.9g)",
                    what, i, frame, found, right, absolute);
}

static int parts_of(const born_pairs_spec *spec)
{
    return spec->half ? PADDED / spec->tile : PARTS;
}

/* Those that a part of the sums of i is of: [range[0], range[1]). */
static void find_range(const born_pairs_spec *spec, int i, int part, int range[2])
{
    const int parts = parts_of(spec), first = spec->half ? (i / spec->tile + part) % parts * spec->tile : 0;
    range[0] = spec->half ? first : ranges[part][0];
    range[1] = !spec->half ? ranges[part][1] : first + spec->tile < COUNT ? first + spec->tile : COUNT;
}

static ley_status judge_pairs(const trial *t, const born_pairs_spec *spec, ley_error *error)
{
    static const char *const names[BORN_PASSES] = {"integral", "energy", "chain"};
    const int sums = LEY_BORN_SUMS(spec->pass, spec->forces), parts = parts_of(spec);
    const float *found = t->back->bytes;
    ley_status status = LEY_OK;
    for (int n = 0; n < FRAMES * parts * COUNT && status == LEY_OK; n += JUDGED) {
        const int f = n / (parts * COUNT), part = n / COUNT % parts, i = n % COUNT;
        double right[MOST_SUMS] = {0}, absolute[MOST_SUMS] = {0}, term[MOST_SUMS];
        int range[2];
        find_range(spec, i, part, range);
        for (int j = range[0]; j < range[1]; j++) {
            pair_of(t, spec, f, i, j, term);
            for (int k = 0; k < sums; k++) {
                right[k] += term[k];
                absolute[k] += fabs(term[k]);
            }
        }
        /* Spheres just apart, and tapered ones, are differences that leave 1e-7. */
        const double least = spec->pass == LEY_BORN_INTEGRALS ? 0.05 : spec->pass == LEY_BORN_CHAIN ? 5e-3 : 1e-3;
        for (int k = 0; k < sums && status == LEY_OK; k++)
            status = judge_value(names[spec->pass], f, i, (double)found[((f * parts + part) * sums + k) * PADDED + i],
                                 right[k], absolute[k] + least, spec->pass == LEY_BORN_CHAIN ? 2e-5 : 5e-6, error);
    }
    return status;
}

static ley_status run_pairs(trial *t, const dev_kernel *built, ley_error *error)
{
    const born_pairs_spec *spec = (const born_pairs_spec *)built->spec;
    born_pairs_arguments a = {.kind = built->kind,
                              .gm_at = t->at_buffer,
                              .gm_spheres = t->spheres,
                              .gm_states = t->states,
                              .gm_neck = t->neck_buffer,
                              .gm_cell = t->cells,
                              .gm_ranges = t->range_buffer,
                              .size = {COUNT, PADDED, parts_of(spec), CLASSES},
                              .gm_parts = t->part_buffer};
    size_t groups[3];
    born_groups(built, PADDED, (size_t)parts_of(spec), FRAMES, groups);
    memcpy(a.numbers, t->numbers, sizeof a.numbers);
    sequence_launch(&t->sequence, built, groups, &a, 0);
    sequence_read(&t->sequence, t->part_buffer.buffer, 0, t->back, PART_FLOATS * sizeof(float));
    const ley_status status = sequence_finish(&t->sequence, error);
    return status == LEY_OK ? judge_pairs(t, spec, error) : status;
}

static ley_status test_in_trial(const dev_kernel *built, ley_status (*run)(trial *, const dev_kernel *, ley_error *),
                                ley_error *error)
{
    trial *t = calloc(1, sizeof *t);
    if (t == NULL)
        return ley_fail_memory(error, sizeof *t, "a self-test");
    t->arena.device = t->flight.device = built->device;
    put_all(t);
    sequence_begin(&t->sequence, &t->flight, NULL);
    ley_status status = make_buffers(t, error);
    if (status == LEY_OK)
        status = run(t, built, error);
    sequence_end(&t->sequence);
    arena_clear(&t->arena);
    free(t);
    return status;
}

ley_status born_test_pairs(const dev_kernel *built, void *context, ley_error *error)
{
    (void)context;
    return test_in_trial(built, run_pairs, error);
}

/* ---- Of single particles --------------------------------------------------------------------- */

static double sum_of(const trial *t, int sums, int f, int i, int k, int group)
{
    double sum = 0;
    for (int part = 0; part < PARTS; part++)
        if (group == PARTS || ranges[part][2] == group)
            sum += (double)t->parts[((f * PARTS + part) * sums + k) * PADDED + i];
    return sum;
}

static const double prefactor = -120;

/* {B, dB/dI}. */
static void radius_of(const trial *t, double integral, int i, double made[2])
{
    const float *f = t->factor[0][i], *r = t->factor[1][i];
    const double psi = (double)f[3] * integral, u = psi * ((double)f[0] + psi * ((double)f[1] + psi * (double)f[2])),
                 inverse = (double)r[1] + (double)r[0] * (1 - tanh(u)), most = (double)r[2];
    const double slope = (1 - tanh(u) * tanh(u)) * ((double)f[0] + psi * (2 * (double)f[1] + 3 * psi * (double)f[2]));
    made[0] = !(r[0] > 0) ? 0 : fmin(1 / inverse, most);
    made[1] = !(r[0] > 0) || 1 / inverse >= most ? 0 : slope * (double)f[3] * (double)r[0] / (inverse * inverse);
}

/* What the kernel makes of sums: {B, dB/dI, the state's B and sqrt(log2(e))/(2 B)}; {energy, with
 * groups 0 and 1, slope, and with forces dE/dI, force}; {force, slope}. */
static int right_of(const trial *t, const born_particles_spec *spec, int f, int i, double *right)
{
    const int sums = LEY_BORN_SUMS(spec->pass, spec->forces);
    const double factor = prefactor * (double)t->factor[1][i][3];
    if (spec->pass == LEY_BORN_INTEGRALS) {
        radius_of(t, sum_of(t, sums, f, i, 0, PARTS), i, right);
        right[2] = right[0] > 0 ? right[0] : 1;
        right[3] = 0.5 * sqrt(1 / log(2)) / right[2];
        return 4;
    }
    for (int k = 0; k < 3 && spec->pass == LEY_BORN_CHAIN; k++)
        right[k] = (k + 1) + sum_of(t, sums, f, i, k, PARTS);
    right[3] = (double)t->state[f][i][3];
    if (spec->pass == LEY_BORN_CHAIN)
        return 4;
    right[0] = factor * sum_of(t, sums, f, i, 0, PARTS);
    for (int group = 0; group < 2; group++)
        right[1 + group] = factor * sum_of(t, sums, f, i, 0, group);
    right[3] = 0;
    if (!spec->forces)
        return 4;
    right[3] = -factor * sum_of(t, sums, f, i, 1, PARTS) / (double)t->state[f][i][0];
    right[4] = right[3] * (double)t->state[f][i][2];
    for (int k = 0; k < 3; k++)
        right[5 + k] = (k + 1) + 2 * factor * sum_of(t, sums, f, i, 2 + k, PARTS);
    return 8;
}

/* And where that lies in what came back: energies, columns, radii, slopes, states and forces. */
enum {
    ENERGIES = 0,
    COLUMNS = ENERGIES + FRAMES * LEY_TERM_COUNT * PADDED,
    RADII = COLUMNS + FRAMES * LEY_COLUMN_COUNT * 2 * PADDED,
    SLOPES = RADII + FRAMES * PADDED,
    STATES = SLOPES + FRAMES * PADDED,
    FORCES = STATES + 4 * FRAMES * PADDED,
    BACK = FORCES + 4 * FRAMES * PADDED
};

static size_t place_of(const born_particles_spec *spec, int f, int i, int k)
{
    const int at = f * PADDED + i, column = (f * LEY_COLUMN_COUNT + LEY_COLUMN_BORN) * 2 + k - 1;
    if (spec->pass == LEY_BORN_INTEGRALS)
        return (size_t)(k == 0 ? RADII + at : STATES + 4 * at + (k == 1 ? 2 : k - 2));
    if (spec->pass == LEY_BORN_CHAIN)
        return (size_t)(k < 3 ? FORCES + 4 * at + k : SLOPES + at);
    return (size_t)(k == 0   ? ENERGIES + (f * LEY_TERM_COUNT + LEY_TERM_BORN) * PADDED + i
                    : k < 3  ? COLUMNS + column * PADDED + i
                    : k == 3 ? (spec->forces ? STATES + 4 * at + 3 : SLOPES + at)
                    : k == 4 ? STATES + 4 * at + 2
                             : FORCES + 4 * at + k - 5);
}

static ley_status judge_particles(const trial *t, const born_particles_spec *spec, const float *found, ley_error *error)
{
    static const char *const names[BORN_PASSES] = {"radius", "energy", "force"};
    ley_status status = LEY_OK;
    for (int n = 0; n < FRAMES * COUNT && status == LEY_OK; n++) {
        double right[8];
        const int count = right_of(t, spec, n / COUNT, n % COUNT, right);
        for (int k = 0; k < count && status == LEY_OK; k++)
            status = judge_value(names[spec->pass], n / COUNT, n % COUNT,
                                 (double)found[place_of(spec, n / COUNT, n % COUNT, k)], right[k], fabs(right[k]) + 1,
                                 2e-6, error);
    }
    return status;
}

static ley_status run_particles(trial *t, const dev_kernel *built, ley_error *error)
{
    const born_particles_spec *spec = (const born_particles_spec *)built->spec;
    float force[FRAMES * PADDED][4];
    dev_staging *back;
    const struct {
        dev_buffer *buffer;
        size_t first, end;
    } read[] = {{t->energies.buffer, ENERGIES, COLUMNS}, {t->columns.buffer, COLUMNS, RADII},
                {t->radii.buffer, RADII, SLOPES},        {t->slopes.buffer, SLOPES, STATES},
                {t->states.buffer, STATES, FORCES},      {t->forces.buffer, FORCES, BACK}};
    enum { READS = sizeof read / sizeof *read };
    born_particles_arguments a = {.kind = built->kind,
                                  .gm_parts = t->part_buffer,
                                  .gm_ranges = t->range_buffer,
                                  .gm_factors = t->factors,
                                  .size = {PADDED, PARTS, 2, 0},
                                  .numbers = {prefactor, 0, 0, 0},
                                  .gm_states = t->states,
                                  .gm_energy = t->energies,
                                  .gm_column = t->columns,
                                  .gm_radius = t->radii,
                                  .gm_slope = t->slopes,
                                  .gm_force = t->forces};
    for (int i = 0; i < FRAMES * PADDED; i++)
        for (int k = 0; k < 4; k++)
            force[i][k] = (float)(k + 1);
    sequence_write(&t->sequence, t->forces.buffer, 0, force, sizeof force);
    sequence_write(&t->sequence, t->part_buffer.buffer, 0, t->parts, sizeof t->parts);
    sequence_launch(&t->sequence, built, (const size_t[3]){PADDED / built->group_size[0], FRAMES, 1}, &a, 0);
    float *found = malloc(BACK * sizeof *found);
    ley_status status = found == NULL ? ley_fail_memory(error, BACK * sizeof *found, "a self-test") : LEY_OK;
    for (int i = 0; i < READS && status == LEY_OK; i++) {
        const size_t bytes = (read[i].end - read[i].first) * sizeof(float);
        status = arena_staging(&t->arena, bytes, &back, error);
        if (status != LEY_OK)
            break;
        sequence_read(&t->sequence, read[i].buffer, 0, back, bytes);
        status = sequence_finish(&t->sequence, error);
        if (status == LEY_OK)
            memcpy(found + read[i].first, back->bytes, bytes);
    }
    if (status == LEY_OK)
        status = judge_particles(t, spec, found, error);
    free(found);
    return status;
}

ley_status born_test_particles(const dev_kernel *built, void *context, ley_error *error)
{
    (void)context;
    return test_in_trial(built, run_particles, error);
}
