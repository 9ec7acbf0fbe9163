#include "source/particles.h"

#include "error.h"
#include "memory.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TYPES = 1 << 15, MOST_ELEMENT = 118 };

#define OFFSET(member) offsetof(ley_particles_arrays, member)
#define NUMBERS(name, rows, columns, is_optional, least, most) \
    { \
#name, OFFSET(name), OFFSET(rows), columns, PARTICLES_NUMBERS, is_optional, least, most, 0 \
    }
#define INDICES(name, rows, columns, is_optional, below) \
    { \
#name, OFFSET(name), OFFSET(rows), columns, PARTICLES_WHOLE, is_optional, 0, 0, OFFSET(below) \
    }
#define TEXTS(name, rows) \
    { \
#name, OFFSET(name), OFFSET(rows), 0, PARTICLES_TEXTS, true, 0, 0, 0 \
    }

const particles_member particles_members[PARTICLES_MEMBERS] = {
    NUMBERS(charges, particles, 0, false, -1e6, 1e6),
    INDICES(type, particles, 0, false, types),
    NUMBERS(lennard_jones_a, types, PARTICLES_SQUARE, false, 0, 1e30),
    NUMBERS(lennard_jones_b, types, PARTICLES_SQUARE, false, 0, 1e30),
    INDICES(exclusion, exclusions, 2, false, particles),
    INDICES(pair_14, pairs_14, 2, false, particles),
    NUMBERS(pair_14_charges, pairs_14, 0, false, -1e12, 1e12),
    NUMBERS(pair_14_a, pairs_14, 0, false, 0, 1e30),
    NUMBERS(pair_14_b, pairs_14, 0, false, 0, 1e30),
    NUMBERS(masses, particles, 0, true, 0, 1e9),
    {"elements", OFFSET(elements), OFFSET(particles), 0, PARTICLES_WHOLE, true, 0, MOST_ELEMENT, 0},
    NUMBERS(born_radii, particles, 0, true, 0, 1e3),
    NUMBERS(born_screens, particles, 0, true, -1e3, 1e3),
    NUMBERS(born_factors, particles, 3, true, -1e3, 1e3),
    NUMBERS(surface_radii, particles, 0, true, 0, 1e3),
    NUMBERS(lcpo_factors, particles, 4, true, -1e3, 1e3),
    INDICES(residue, particles, 0, true, residues),
    {"residue_numbers", OFFSET(residue_numbers), OFFSET(residues), 0, PARTICLES_WHOLE, true, INT32_MIN, INT32_MAX, 0},
    TEXTS(residue_names, residues),
    TEXTS(chains, residues),
    TEXTS(names, particles),
};

/* ---- Members --------------------------------------------------------------------------------- */

const void *particles_array(const ley_particles_arrays *a, const particles_member *m)
{
    const void *array;
    memcpy(&array, (const char *)a + m->at, sizeof array);
    return array;
}

void particles_set_array(ley_particles_arrays *a, const particles_member *m, const void *array)
{
    memcpy((char *)a + m->at, &array, sizeof array);
}

static int64_t count_at(const ley_particles_arrays *a, size_t offset)
{
    int64_t count;
    memcpy(&count, (const char *)a + offset, sizeof count);
    return count;
}

int64_t particles_rows(const ley_particles_arrays *a, const particles_member *m)
{
    return count_at(a, m->of);
}

static int64_t columns_of(const ley_particles_arrays *a, const particles_member *m)
{
    return m->columns == PARTICLES_SQUARE ? particles_rows(a, m) : m->columns == 0 ? 1 : m->columns;
}

int64_t particles_values(const ley_particles_arrays *a, const particles_member *m)
{
    return particles_rows(a, m) * columns_of(a, m);
}

static size_t bytes_each(const particles_member *m)
{
    return m->type == PARTICLES_NUMBERS ? sizeof(double)
           : m->type == PARTICLES_WHOLE ? sizeof(int32_t)
                                        : sizeof(char *);
}

/* What a row is of, for messages: "particle 5", "types 3 and 7". */
typedef struct row_text {
    char s[64];
} row_text;

static row_text row_of(const particles_member *m, int64_t i, int64_t columns)
{
    row_text text;
    if (m->columns == PARTICLES_SQUARE)
        snprintf(text.s, sizeof text.s, "types %lld and %lld", (long long)(i / columns) + 1,
                 (long long)(i % columns) + 1);
    else
        snprintf(text.s, sizeof text.s, "%s %lld",
                 m->of == OFFSET(particles)    ? "particle"
                 : m->of == OFFSET(residues)   ? "residue"
                 : m->of == OFFSET(exclusions) ? "exclusion"
                                               : "1-4 pair",
                 (long long)(i / columns) + 1);
    return text;
}

/* ---- Checks ---------------------------------------------------------------------------------- */

static ley_status check_counts(const ley_particles_arrays *a, ley_error *error)
{
    const struct {
        const char *what;
        int64_t count, least, most;
    } counts[] = {{"particles", a->particles, 1, INT32_MAX},
                  {"Lennard-Jones types", a->types, 1, MOST_TYPES},
                  {"exclusions", a->exclusions, 0, INT32_MAX},
                  {"1-4 pairs", a->pairs_14, 0, INT32_MAX},
                  {"residues", a->residues, a->residue != NULL, INT32_MAX}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i].count < counts[i].least || counts[i].count > counts[i].most)
            return ley_fail(error, LEY_ERROR_INPUT, "particles: %lld %s, must be %lld to %lld",
                            (long long)counts[i].count, counts[i].what, (long long)counts[i].least,
                            (long long)counts[i].most);
    if (a->residues > 0 && a->residue == NULL)
        return ley_fail(error, LEY_ERROR_INPUT, "particles: %lld residues, but not which particle is of which one",
                        (long long)a->residues);
    for (const particles_member *m = particles_members; m < particles_members + PARTICLES_MEMBERS; m++)
        if (!m->is_optional && particles_rows(a, m) > 0 && particles_array(a, m) == NULL)
            return ley_fail(error, LEY_ERROR_USAGE, "particles without their %s", m->name);
    return LEY_OK;
}

static ley_status check_numbers(const ley_particles_arrays *a, const particles_member *m, ley_error *error)
{
    const double *number = particles_array(a, m);
    const int64_t n = particles_values(a, m), columns = columns_of(a, m);
    for (int64_t i = 0; i < n; i++)
        if (!(number[i] >= m->least && number[i] <= m->most))
            return ley_fail(error, LEY_ERROR_INPUT, "%s: %s: %g, must be within %g and %g", m->name,
                            row_of(m, i, columns).s, number[i], m->least, m->most);
    return LEY_OK;
}

static ley_status check_whole(const ley_particles_arrays *a, const particles_member *m, ley_error *error)
{
    const int32_t *number = particles_array(a, m);
    const int64_t n = particles_values(a, m), columns = columns_of(a, m), below = m->below ? count_at(a, m->below) : 0;
    const double least = m->least, most = m->below ? (double)below - 1 : m->most;
    for (int64_t i = 0; i < n; i++)
        if (number[i] < least || number[i] > most)
            return ley_fail(error, LEY_ERROR_INPUT, "%s: %s: %d, must be %.0f to %.0f%s", m->name,
                            row_of(m, i, columns).s, number[i], least, most, m->below ? ", counted from 0" : "");
    return LEY_OK;
}

static ley_status check_texts(const ley_particles_arrays *a, const particles_member *m, ley_error *error)
{
    const char *const *text = particles_array(a, m);
    for (int64_t i = 0; i < particles_rows(a, m); i++) {
        const char *name = text[i] != NULL ? text[i] : "";
        size_t length = 0;
        while (length <= PARTICLES_MOST_NAME && name[length] >= ' ' && name[length] <= '~')
            length++;
        if (length > PARTICLES_MOST_NAME || name[length] != '\0')
            return ley_fail(error, LEY_ERROR_INPUT,
                            "%s: %s: a name of more than %d letters, or of others than ASCII has", m->name,
                            row_of(m, i, 1).s, PARTICLES_MOST_NAME);
    }
    return LEY_OK;
}

static ley_status check_symmetric(const double *table, int64_t types, const char *name, ley_error *error)
{
    for (int64_t s = 0; s < types; s++)
        for (int64_t t = 0; t < s; t++)
            if (table[s * types + t] != table[t * types + s])
                return ley_fail(error, LEY_ERROR_INPUT,
                                "%s: types %lld and %lld have %g, but %g the other way round: the table must be "
                                "symmetric",
                                name, (long long)s + 1, (long long)t + 1, table[s * types + t], table[t * types + s]);
    return LEY_OK;
}

/* Exclusions and 1-4 pairs, one after the other. */
static const int32_t *pair_at(const ley_particles_arrays *a, int64_t i)
{
    return i < a->exclusions ? a->exclusion[i] : a->pair_14[i - a->exclusions];
}

static row_text pair_text(const ley_particles_arrays *a, int64_t i)
{
    row_text text;
    const bool is_exclusion = i < a->exclusions;
    snprintf(text.s, sizeof text.s, "%s %lld", is_exclusion ? "exclusion" : "1-4 pair",
             (long long)(is_exclusion ? i : i - a->exclusions) + 1);
    return text;
}

static int64_t low_of(const ley_particles_arrays *a, int64_t i)
{
    const int32_t *pair = pair_at(a, i);
    return pair[0] < pair[1] ? pair[0] : pair[1];
}

/* Pairs in groups of the same lower particle: order [pairs], of which those of a particle i end
 * before end[i]. */
static void group_pairs(const ley_particles_arrays *a, int64_t pairs, int64_t *end, int64_t *order)
{
    for (int64_t i = 0; i < pairs; i++)
        if (low_of(a, i) + 1 < a->particles)
            end[low_of(a, i) + 1]++;
    for (int64_t i = 1; i < a->particles; i++)
        end[i] += end[i - 1];
    for (int64_t i = 0; i < pairs; i++)
        order[end[low_of(a, i)]++] = i;
}

/* No pair twice: `seen` has of each particle the last pair, counted from 1, whose higher one it
 * is. */
static ley_status check_grouped(const ley_particles_arrays *a, int64_t pairs, const int64_t *order, int64_t *seen,
                                ley_error *error)
{
    for (int64_t k = 0; k < pairs; k++) {
        const int64_t i = order[k], low = low_of(a, i), high = (int64_t)pair_at(a, i)[0] + pair_at(a, i)[1] - low,
                      other = seen[high] - 1;
        if (low == high)
            return ley_fail(error, LEY_ERROR_INPUT, "%s is of particle %lld with itself: leave it out",
                            pair_text(a, i).s, (long long)low + 1);
        if (other >= 0 && low_of(a, other) == low)
            return ley_fail(error, LEY_ERROR_INPUT, "%s is of particles %lld and %lld, as is %s: leave one of them out",
                            pair_text(a, i).s, (long long)low + 1, (long long)high + 1, pair_text(a, other).s);
        seen[high] = i + 1;
    }
    return LEY_OK;
}

static ley_status check_pairs(const ley_particles_arrays *a, ley_error *error)
{
    const int64_t pairs = a->exclusions + a->pairs_14;
    const size_t bytes = ((size_t)pairs + 2 * (size_t)a->particles) * sizeof(int64_t);
    if (pairs == 0)
        return LEY_OK;
    ley_status status = memory_check_one("the exclusions", (double)bytes, "fewer particles", error);
    if (status != LEY_OK)
        return status;
    int64_t *end = calloc(1, bytes);
    if (end == NULL)
        return ley_fail_memory(error, bytes, "the exclusions");
    int64_t *const seen = end + a->particles, *const order = seen + a->particles;
    group_pairs(a, pairs, end, order);
    status = check_grouped(a, pairs, order, seen, error);
    free(end);
    return status;
}

static ley_status check(const ley_particles_arrays *a, ley_error *error)
{
    ley_status status = check_counts(a, error);
    for (const particles_member *m = particles_members; status == LEY_OK && m < particles_members + PARTICLES_MEMBERS;
         m++) {
        if (particles_array(a, m) == NULL)
            continue;
        status = m->type == PARTICLES_NUMBERS ? check_numbers(a, m, error)
                 : m->type == PARTICLES_WHOLE ? check_whole(a, m, error)
                                              : check_texts(a, m, error);
    }
    if (status == LEY_OK)
        status = check_symmetric(a->lennard_jones_a, a->types, "lennard_jones_a", error);
    if (status == LEY_OK)
        status = check_symmetric(a->lennard_jones_b, a->types, "lennard_jones_b", error);
    return status == LEY_OK ? check_pairs(a, error) : status;
}

/* ---- Copies ---------------------------------------------------------------------------------- */

static size_t text_bytes(const ley_particles_arrays *a)
{
    size_t bytes = 0;
    for (const particles_member *m = particles_members; m < particles_members + PARTICLES_MEMBERS; m++) {
        const char *const *text = m->type == PARTICLES_TEXTS ? particles_array(a, m) : NULL;
        for (int64_t i = 0; text != NULL && i < particles_rows(a, m); i++)
            bytes += (text[i] != NULL ? strlen(text[i]) : 0) + 1;
    }
    return bytes;
}

/* Names go to *room, which moves on. */
static void copy_texts(const char *const *from, int64_t n, char **to, char **room)
{
    for (int64_t i = 0; i < n; i++) {
        const char *text = from[i] != NULL ? from[i] : "";
        to[i] = *room;
        *room += strlen(strcpy(*room, text)) + 1;
    }
}

static ley_status copy(const ley_particles_arrays *a, ley_particles *p, ley_error *error)
{
    double bytes = (double)text_bytes(a);
    for (const particles_member *m = particles_members; m < particles_members + PARTICLES_MEMBERS; m++)
        if (particles_array(a, m) != NULL)
            bytes += (double)particles_values(a, m) * (double)bytes_each(m);
    ley_status status = memory_check_one("the particles", bytes, "fewer particles", error);
    if (status != LEY_OK)
        return status;
    char *room = p->texts = malloc(text_bytes(a) + 1);
    if (room == NULL)
        return ley_fail_memory(error, (size_t)bytes, "the particles");
    for (const particles_member *m = particles_members; m < particles_members + PARTICLES_MEMBERS; m++) {
        const void *from = particles_array(a, m);
        const size_t n = (size_t)particles_values(a, m);
        void *made = from != NULL && n > 0 ? malloc(n * bytes_each(m)) : NULL;
        if (from == NULL || n == 0)
            continue;
        if (made == NULL)
            return ley_fail_memory(error, (size_t)bytes, "the particles");
        particles_set_array(&p->arrays, m, made);
        if (m->type == PARTICLES_TEXTS)
            copy_texts(from, (int64_t)n, made, &room);
        else
            memcpy(made, from, n * bytes_each(m));
    }
    return LEY_OK;
}

ley_status ley_particles_create(const ley_particles_arrays *a, ley_particles **particles, ley_error *error)
{
    if (a == NULL || particles == NULL)
        return ley_fail(error, LEY_ERROR_USAGE, "ley_particles_create(): a null pointer");
    if (a->size != sizeof *a)
        return ley_fail(error, LEY_ERROR_USAGE, "ley_particles_arrays of %zu bytes, not %zu", a->size, sizeof *a);
    ley_status status = check(a, error);
    if (status != LEY_OK)
        return status;
    ley_particles *p = calloc(1, sizeof *p);
    if (p == NULL)
        return ley_fail_memory(error, sizeof *p, "the particles");
    p->arrays = (ley_particles_arrays){.size = sizeof p->arrays,
                                       .particles = a->particles,
                                       .types = a->types,
                                       .exclusions = a->exclusions,
                                       .pairs_14 = a->pairs_14,
                                       .residues = a->residues};
    status = copy(a, p, error);
    if (status == LEY_OK)
        *particles = p;
    else
        ley_particles_destroy(p);
    return status;
}

void ley_particles_destroy(ley_particles *p)
{
    if (p == NULL)
        return;
    for (const particles_member *m = particles_members; m < particles_members + PARTICLES_MEMBERS; m++)
        memory_free(particles_array(&p->arrays, m));
    free(p->texts);
    free(p);
}

ley_particles_arrays ley_particles_get(const ley_particles *p)
{
    return p != NULL ? p->arrays : (ley_particles_arrays){.size = sizeof p->arrays};
}

/* ---- Some of them ---------------------------------------------------------------------------- */

/* Rows of the whole that a subset has, by which count they are of. */
typedef struct chosen_rows {
    int64_t *row[4];
    int64_t count[4];
} chosen_rows;
static const size_t chosen_of[4] = {OFFSET(particles), OFFSET(exclusions), OFFSET(pairs_14), OFFSET(residues)};

/* New numbers of particles, counted from 1; 0: not in the subset. */
static ley_status number_particles(const int64_t *index, int64_t count, int64_t particles, int32_t *number,
                                   ley_error *error)
{
    if (count < 1 || count > particles)
        return ley_fail(error, LEY_ERROR_USAGE, "a subset of %lld particles of %lld", (long long)count,
                        (long long)particles);
    for (int64_t k = 0; k < count; k++) {
        if (index[k] < 0 || index[k] >= particles)
            return ley_fail(error, LEY_ERROR_USAGE, "a subset's particle %lld is %lld of %lld, counted from 0",
                            (long long)k + 1, (long long)index[k], (long long)particles);
        if (number[index[k]] != 0)
            return ley_fail(error, LEY_ERROR_USAGE, "particle %lld is in the subset twice", (long long)index[k] + 1);
        number[index[k]] = (int32_t)k + 1;
    }
    return LEY_OK;
}

static int64_t choose_pairs(const int32_t (*pair)[2], int64_t pairs, const int32_t *number, int64_t *row)
{
    int64_t count = 0;
    for (int64_t i = 0; i < pairs; i++)
        if (number[pair[i][0]] != 0 && number[pair[i][1]] != 0)
            row[count++] = i;
    return count;
}

/* Residues that have a particle, in their order; `number` has their new ones, counted from 1. */
static int64_t choose_residues(const ley_particles_arrays *a, const int64_t *index, int64_t particles, int32_t *number,
                               int64_t *row)
{
    int64_t count = 0;
    if (a->residue == NULL)
        return 0;
    for (int64_t k = 0; k < particles; k++)
        number[a->residue[index[k]]] = 1;
    for (int64_t r = 0; r < a->residues; r++)
        if (number[r] != 0) {
            row[count] = r;
            number[r] = (int32_t)++count;
        }
    return count;
}

/* A member's chosen rows, from malloc; indices of particles and residues are the new ones. */
static void *gather(const ley_particles_arrays *a, const particles_member *m, const int64_t *row, int64_t rows,
                    const int32_t *number, const int32_t *residue_number)
{
    const int64_t columns = columns_of(a, m);
    const size_t each = (size_t)columns * bytes_each(m);
    const char *from = particles_array(a, m);
    char *made = malloc((size_t)rows * each + 1);
    for (int64_t k = 0; made != NULL && k < rows; k++)
        memcpy(made + (size_t)k * each, from + (size_t)row[k] * each, each);
    const int32_t *renumber = m->below == OFFSET(particles)  ? number
                              : m->below == OFFSET(residues) ? residue_number
                                                             : NULL;
    int32_t *whole = (int32_t *)(void *)made;
    for (int64_t i = 0; made != NULL && renumber != NULL && i < rows * columns; i++)
        whole[i] = renumber[whole[i]] - 1;
    return made;
}

static ley_status make_subset(const ley_particles_arrays *a, const chosen_rows *chosen, const int32_t *number,
                              const int32_t *residue_number, ley_particles **subset, ley_error *error)
{
    ley_particles_arrays some = *a;
    ley_status status = LEY_OK;
    void *made[PARTICLES_MEMBERS] = {NULL};
    some.particles = chosen->count[0];
    some.exclusions = chosen->count[1];
    some.pairs_14 = chosen->count[2];
    some.residues = chosen->count[3];
    for (int k = 0; k < PARTICLES_MEMBERS && status == LEY_OK; k++) {
        const particles_member *m = &particles_members[k];
        for (int of = 0; of < 4 && particles_array(a, m) != NULL; of++) {
            if (m->of != chosen_of[of])
                continue;
            made[k] = gather(a, m, chosen->row[of], chosen->count[of], number, residue_number);
            if (made[k] == NULL)
                status = ley_fail_memory(error, (size_t)chosen->count[of] * bytes_each(m), "a subset of particles");
            particles_set_array(&some, m, made[k]);
        }
    }
    if (status == LEY_OK)
        status = ley_particles_create(&some, subset, error);
    for (int k = 0; k < PARTICLES_MEMBERS; k++)
        free(made[k]);
    return status;
}

ley_status ley_particles_subset(const ley_particles *p, const int64_t *index, int64_t count, ley_particles **subset,
                                ley_error *error)
{
    if (p == NULL || index == NULL || subset == NULL)
        return ley_fail(error, LEY_ERROR_USAGE, "ley_particles_subset(): a null pointer");
    const ley_particles_arrays *a = &p->arrays;
    const size_t numbers = (size_t)a->particles + (size_t)a->residues,
                 rows = (size_t)count + (size_t)a->exclusions + (size_t)a->pairs_14 + (size_t)a->residues;
    int32_t *number = calloc(numbers, sizeof *number);
    ley_status status = number != NULL ? number_particles(index, count, a->particles, number, error)
                                       : ley_fail_memory(error, numbers * sizeof *number, "a subset of particles");
    int64_t *row = status == LEY_OK ? malloc(rows * sizeof *row) : NULL;
    if (status == LEY_OK && row == NULL)
        status = ley_fail_memory(error, rows * sizeof *row, "a subset of particles");
    if (status == LEY_OK) {
        chosen_rows chosen = {
            .row = {row, row + count, row + count + a->exclusions, row + count + a->exclusions + a->pairs_14},
            .count = {count}};
        memcpy(row, index, (size_t)count * sizeof *row);
        chosen.count[1] = choose_pairs(a->exclusion, a->exclusions, number, chosen.row[1]);
        chosen.count[2] = choose_pairs(a->pair_14, a->pairs_14, number, chosen.row[2]);
        chosen.count[3] = choose_residues(a, index, count, number + a->particles, chosen.row[3]);
        status = make_subset(a, &chosen, number, number + a->particles, subset, error);
    }
    free(row);
    free(number);
    return status;
}

/* ---- Mixing ---------------------------------------------------------------------------------- */

/* sigma^6 and epsilon of a pair. */
static void mix(double sigma, double other_sigma, double epsilon, double other_epsilon, ley_mixing_rule rule,
                double *sigma6, double *mixed)
{
    const double six = pow(sigma, 6), other_six = pow(other_sigma, 6);
    *mixed = sqrt(epsilon * other_epsilon);
    switch (rule) {
    case LEY_MIXING_GEOMETRIC:
        *sigma6 = sqrt(six * other_six);
        return;
    case LEY_MIXING_WALDMAN_HAGLER:
        *sigma6 = 0.5 * (six + other_six);
        *mixed *= *sigma6 > 0 ? sqrt(six * other_six) / *sigma6 : 0;
        return;
    default:
        *sigma6 = pow(0.5 * (sigma + other_sigma), 6);
    }
}

ley_status ley_lennard_jones_table(int64_t types, const double *sigma_A, const double *epsilon, ley_mixing_rule rule,
                                   double *a, double *b, ley_error *error)
{
    if (types < 1 || types > MOST_TYPES || (unsigned)rule >= LEY_MIXING_RULES)
        return ley_fail(error, LEY_ERROR_USAGE, "a table of %lld types, which must be 1 to %d, by mixing rule %d of %d",
                        (long long)types, MOST_TYPES, (int)rule, LEY_MIXING_RULES);
    if (sigma_A == NULL || epsilon == NULL || a == NULL || b == NULL)
        return ley_fail(error, LEY_ERROR_USAGE, "ley_lennard_jones_table(): a null pointer");
    for (int64_t s = 0; s < types; s++)
        if (!(sigma_A[s] >= 0 && sigma_A[s] <= 1e3 && epsilon[s] >= 0 && epsilon[s] <= 1e6))
            return ley_fail(error, LEY_ERROR_INPUT,
                            "type %lld: sigma %g A and epsilon %g kcal/mol, must be within 0 and 1e3, and 0 and 1e6",
                            (long long)s + 1, sigma_A[s], epsilon[s]);
    for (int64_t s = 0; s < types; s++)
        for (int64_t t = 0; t <= s; t++) {
            double sigma6, mixed;
            mix(sigma_A[s], sigma_A[t], epsilon[s], epsilon[t], rule, &sigma6, &mixed);
            b[s * types + t] = b[t * types + s] = 4 * mixed * sigma6;
            a[s * types + t] = a[t * types + s] = 4 * mixed * sigma6 * sigma6;
        }
    return LEY_OK;
}
