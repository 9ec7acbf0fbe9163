/* Particles: what is refused, subsets, tables of mixing rules against their formulas, and files. */
#include "support.h"

#include "io/npz.h"
#include "source/particles.h"

/* ---- A molecule ------------------------------------------------------------------------------ */

enum { PARTICLES = 5, TYPES = 2, EXCLUSIONS = 5, PAIRS_14 = 2, RESIDUES = 3 };

/* A chain of five, with everything that there can be, which tests change. */
typedef struct chain {
    double charges[PARTICLES], a[TYPES * TYPES], b[TYPES * TYPES], pair_charges[PAIRS_14], pair_a[PAIRS_14],
        pair_b[PAIRS_14], masses[PARTICLES], radii[PARTICLES], screens[PARTICLES], factors[PARTICLES][3],
        surface[PARTICLES], lcpo[PARTICLES][4];
    int32_t type[PARTICLES], exclusion[EXCLUSIONS][2], pair_14[PAIRS_14][2], elements[PARTICLES], residue[PARTICLES],
        residue_numbers[RESIDUES];
    const char *residue_names[RESIDUES], *chains[RESIDUES], *names[PARTICLES];
    ley_particles_arrays arrays;
} chain;

static void make_chain(chain *c)
{
    *c = (chain){.charges = {0.1, -0.2, 0.3, -0.4, 0.5},
                 .a = {1000, 500, 500, 200},
                 .b = {30, 20, 20, 10},
                 .pair_charges = {-0.033, 0.083},
                 .pair_a = {250, 100},
                 .pair_b = {10, 5},
                 .masses = {1.008, 12.011, 15.999, 14.007, 0},
                 .radii = {1.3, 1.7, 1.5, 1.55, 0},
                 .screens = {0.85, 0.72, 0.85, 0.79, 0},
                 .factors = {{0.8, 0.4, 0.2}, {0.7, 0.5, 0.2}, {0.9, 0.9, 0.4}, {0.5, 0.3, 0.1}},
                 .surface = {1.2, 1.7, 1.52, 1.55, 0},
                 .lcpo = {{0}, {0.7, -0.2, -0.001, 0.0002}, {0.6, -0.1, -0.001, 0.0001}, {0.4, -0.1, 0, 0.0001}},
                 .type = {0, 1, 1, 0, 0},
                 .exclusion = {{0, 1}, {1, 0 + 2}, {2, 3}, {2, 0}, {3, 1}},
                 .pair_14 = {{0, 3}, {4, 1}},
                 .elements = {1, 6, 8, 7, 0},
                 .residue = {0, 0, 2, 2, 1},
                 .residue_numbers = {7, -1, 8},
                 .residue_names = {"ALA", "", "WAT"},
                 .chains = {"A", NULL, "B"},
                 .names = {"H1", "CA", "O", "N'", "*"}};
    c->arrays = (ley_particles_arrays){.size = sizeof c->arrays,
                                       .particles = PARTICLES,
                                       .types = TYPES,
                                       .exclusions = EXCLUSIONS,
                                       .pairs_14 = PAIRS_14,
                                       .residues = RESIDUES,
                                       .charges = c->charges,
                                       .type = c->type,
                                       .lennard_jones_a = c->a,
                                       .lennard_jones_b = c->b,
                                       .exclusion = (const int32_t(*)[2])c->exclusion,
                                       .pair_14 = (const int32_t(*)[2])c->pair_14,
                                       .pair_14_charges = c->pair_charges,
                                       .pair_14_a = c->pair_a,
                                       .pair_14_b = c->pair_b,
                                       .masses = c->masses,
                                       .elements = c->elements,
                                       .born_radii = c->radii,
                                       .born_screens = c->screens,
                                       .born_factors = (const double(*)[3])c->factors,
                                       .surface_radii = c->surface,
                                       .lcpo_factors = (const double(*)[4])c->lcpo,
                                       .residue = c->residue,
                                       .residue_numbers = c->residue_numbers,
                                       .residue_names = c->residue_names,
                                       .chains = c->chains,
                                       .names = c->names};
}

static ley_particles *make(const ley_particles_arrays *a)
{
    ley_particles *p = NULL;
    ley_error error = {0};
    assert_ok(ley_particles_create(a, &p, &error));
    return p;
}

/* Every array of two, bit by bit; names that are NULL are empty. */
static void assert_same(const ley_particles_arrays *a, const ley_particles_arrays *b)
{
    for (int k = 0; k < PARTICLES_MEMBERS; k++) {
        const particles_member *m = &particles_members[k];
        const void *one = particles_array(a, m), *other = particles_array(b, m);
        assert_int_equal(particles_rows(a, m), particles_rows(b, m));
        const size_t n = (size_t)particles_values(a, m);
        assert_true(n == 0 || (one != NULL) == (other != NULL));
        if (n == 0 || one == NULL)
            continue;
        for (size_t i = 0; m->type == PARTICLES_TEXTS && i < n; i++) {
            const char *text = ((const char *const *)one)[i];
            assert_string_equal(text != NULL ? text : "", ((const char *const *)other)[i]);
        }
        if (m->type != PARTICLES_TEXTS)
            assert_memory_equal(one, other, n * (m->type == PARTICLES_NUMBERS ? sizeof(double) : sizeof(int32_t)));
    }
}

static void test_copies(void **state)
{
    chain c, same;
    make_chain(&c);
    make_chain(&same);
    ley_particles *p = make(&c.arrays);
    memset(&c, 0, offsetof(chain, arrays));
    const ley_particles_arrays got = ley_particles_get(p);
    assert_same(&same.arrays, &got);
    ley_particles_destroy(p);
    ley_particles_destroy(NULL);
}

/* Only what is needed; of one particle there are no pairs. */
static void test_least(void **state)
{
    const double zero = 0;
    const int32_t type = 0;
    const ley_particles_arrays a = {.size = sizeof a,
                                    .particles = 1,
                                    .types = 1,
                                    .charges = &zero,
                                    .type = &type,
                                    .lennard_jones_a = &zero,
                                    .lennard_jones_b = &zero};
    ley_particles *p = make(&a);
    const ley_particles_arrays got = ley_particles_get(p);
    assert_same(&a, &got);
    assert_null(got.names);
    assert_null(got.born_radii);
    ley_particles_destroy(p);
}

/* ---- What is refused ------------------------------------------------------------------------- */

#define REFUSED(change, status, part) \
    do { \
        chain c; \
        ley_particles *p = NULL; \
        ley_error error = {0}; \
        make_chain(&c); \
        change; \
        assert_error(ley_particles_create(&c.arrays, &p, &error), status, part); \
        assert_null(p); \
        ley_error_clear(&error); \
    } while (0)

static void test_numbers(void **state)
{
    REFUSED(c.charges[2] = NAN, LEY_ERROR_INPUT, "charges: particle 3: nan");
    REFUSED(c.charges[4] = -1.1e6, LEY_ERROR_INPUT, "charges: particle 5: -1.1e+06, must be within -1e+06 and");
    REFUSED(c.a[1] = c.a[2] = INFINITY, LEY_ERROR_INPUT, "lennard_jones_a: types 1 and 2: inf");
    REFUSED(c.b[3] = -1e-300, LEY_ERROR_INPUT, "lennard_jones_b: types 2 and 2: -1e-300");
    REFUSED(c.a[1] = 501, LEY_ERROR_INPUT, "lennard_jones_a: types 2 and 1 have 500, but 501 the other way round");
    REFUSED(c.b[2] = 21, LEY_ERROR_INPUT, "lennard_jones_b: types 2 and 1 have 21, but 20 the other way round");
    REFUSED(c.pair_charges[1] = INFINITY, LEY_ERROR_INPUT, "pair_14_charges: 1-4 pair 2: inf");
    REFUSED(c.pair_a[1] = -1, LEY_ERROR_INPUT, "pair_14_a: 1-4 pair 2: -1");
    REFUSED(c.pair_b[0] = NAN, LEY_ERROR_INPUT, "pair_14_b: 1-4 pair 1: nan");
    REFUSED(c.masses[0] = -1, LEY_ERROR_INPUT, "masses: particle 1: -1");
    REFUSED(c.elements[3] = 119, LEY_ERROR_INPUT, "elements: particle 4: 119, must be 0 to 118");
    REFUSED(c.radii[1] = -0.1, LEY_ERROR_INPUT, "born_radii: particle 2: -0.1");
    REFUSED(c.radii[1] = 1001, LEY_ERROR_INPUT, "born_radii: particle 2: 1001, must be within 0 and 1000");
    REFUSED(c.screens[1] = NAN, LEY_ERROR_INPUT, "born_screens: particle 2");
    REFUSED(c.factors[3][2] = INFINITY, LEY_ERROR_INPUT, "born_factors: particle 4: inf");
    REFUSED(c.surface[4] = -1, LEY_ERROR_INPUT, "surface_radii: particle 5: -1");
    REFUSED(c.lcpo[4][3] = NAN, LEY_ERROR_INPUT, "lcpo_factors: particle 5: nan");
}

static void test_indices(void **state)
{
    REFUSED(c.type[1] = 2, LEY_ERROR_INPUT, "type: particle 2: 2, must be 0 to 1, counted from 0");
    REFUSED(c.type[1] = -1, LEY_ERROR_INPUT, "type: particle 2: -1");
    REFUSED(c.exclusion[4][1] = 5, LEY_ERROR_INPUT, "exclusion: exclusion 5: 5, must be 0 to 4, counted from 0");
    REFUSED(c.pair_14[0][0] = -1, LEY_ERROR_INPUT, "pair_14: 1-4 pair 1: -1");
    REFUSED(c.residue[2] = 3, LEY_ERROR_INPUT, "residue: particle 3: 3, must be 0 to 2");
    REFUSED(c.exclusion[1][0] = 2, LEY_ERROR_INPUT, "exclusion 2 is of particle 3 with itself");
    REFUSED((c.exclusion[4][0] = 2, c.exclusion[4][1] = 1), LEY_ERROR_INPUT,
            "exclusion 5 is of particles 2 and 3, as is exclusion 2: leave one of them out");
    REFUSED((c.pair_14[1][0] = 3, c.pair_14[1][1] = 2), LEY_ERROR_INPUT,
            "1-4 pair 2 is of particles 3 and 4, as is exclusion 3");
    REFUSED((c.pair_14[1][0] = 3, c.pair_14[1][1] = 0), LEY_ERROR_INPUT,
            "1-4 pair 2 is of particles 1 and 4, as is 1-4 pair 1");
    REFUSED((c.pair_14[1][0] = 4, c.pair_14[1][1] = 4), LEY_ERROR_INPUT, "1-4 pair 2 is of particle 5 with itself");
}

static void test_counts(void **state)
{
    static char long_name[PARTICLES_MOST_NAME + 2];
    memset(long_name, 'x', PARTICLES_MOST_NAME + 1);
    REFUSED(c.arrays.size = 8, LEY_ERROR_USAGE, "ley_particles_arrays of 8 bytes");
    REFUSED(c.arrays.particles = 1ll << 31, LEY_ERROR_INPUT, "2147483648 particles, must be 1 to 2147483647");
    REFUSED(c.arrays.particles = INT64_MIN, LEY_ERROR_INPUT, "particles, must be 1 to 2147483647");
    REFUSED(c.arrays.exclusion = NULL, LEY_ERROR_USAGE, "particles without their exclusion");
    REFUSED(c.arrays.particles = 0, LEY_ERROR_INPUT, "0 particles, must be 1 to");
    REFUSED(c.arrays.types = 0, LEY_ERROR_INPUT, "0 Lennard-Jones types");
    REFUSED(c.arrays.types = 1 << 20, LEY_ERROR_INPUT, "1048576 Lennard-Jones types, must be 1 to 32768");
    REFUSED(c.arrays.exclusions = -1, LEY_ERROR_INPUT, "-1 exclusions");
    REFUSED(c.arrays.pairs_14 = INT64_MAX, LEY_ERROR_INPUT, "1-4 pairs, must be");
    REFUSED(c.arrays.residues = 0, LEY_ERROR_INPUT, "0 residues, must be 1 to");
    REFUSED(c.arrays.residue = NULL, LEY_ERROR_INPUT, "3 residues, but not which particle is of which one");
    REFUSED(c.arrays.charges = NULL, LEY_ERROR_USAGE, "particles without their charges");
    REFUSED(c.arrays.pair_14_b = NULL, LEY_ERROR_USAGE, "particles without their pair_14_b");
    REFUSED(c.names[1] = long_name, LEY_ERROR_INPUT, "names: particle 2: a name of more than 63 letters");
    REFUSED(c.chains[2] = "\xc3\xa4", LEY_ERROR_INPUT, "chains: residue 3: a name");
    REFUSED(c.residue_names[0] = "A\n", LEY_ERROR_INPUT, "residue_names: residue 1: a name");
}

/* ---- Some of them ---------------------------------------------------------------------------- */

static void test_subset(void **state)
{
    static const int64_t index[] = {4, 3, 1};
    chain c;
    ley_particles *some = NULL;
    ley_error error = {0};
    make_chain(&c);
    ley_particles *p = make(&c.arrays);
    assert_ok(ley_particles_subset(p, index, 3, &some, &error));
    const ley_particles_arrays a = ley_particles_get(some);
    assert_int_equal(a.particles, 3);
    assert_int_equal(a.types, TYPES);
    for (int k = 0; k < 3; k++) {
        const int64_t i = index[k];
        assert_true(a.charges[k] == c.charges[i] && a.type[k] == c.type[i] && a.born_factors[k][1] == c.factors[i][1] &&
                    a.lcpo_factors[k][3] == c.lcpo[i][3]);
        assert_string_equal(a.names[k], c.names[i]);
    }
    assert_memory_equal(a.lennard_jones_a, c.a, sizeof c.a);
    assert_int_equal(a.exclusions, 1); /* of 3 and 1, which are 1 and 2 now */
    assert_true(a.exclusion[0][0] == 1 && a.exclusion[0][1] == 2);
    assert_int_equal(a.pairs_14, 1); /* of 4 and 1 */
    assert_true(a.pair_14[0][0] == 0 && a.pair_14[0][1] == 2 && a.pair_14_a[0] == 100);
    assert_int_equal(a.residues, 3);
    assert_true(a.residue[0] == 1 && a.residue[1] == 2 && a.residue[2] == 0);
    ley_particles_destroy(some);
    assert_ok(ley_particles_subset(p, index, 2, &some, &error));
    const ley_particles_arrays b = ley_particles_get(some);
    assert_true(b.residues == 2 && b.residue[0] == 0 && b.residue[1] == 1 && b.exclusions == 0 && b.pairs_14 == 0);
    assert_string_equal(b.residue_names[1], "WAT");
    assert_int_equal(b.residue_numbers[0], -1);
    ley_particles_destroy(some);
    ley_particles_destroy(p);
}

/* All of them in their order are the whole. */
static void test_whole_subset(void **state)
{
    static const int64_t index[PARTICLES] = {0, 1, 2, 3, 4};
    chain c;
    ley_particles *all = NULL;
    ley_error error = {0};
    make_chain(&c);
    ley_particles *p = make(&c.arrays);
    assert_ok(ley_particles_subset(p, index, PARTICLES, &all, &error));
    const ley_particles_arrays a = ley_particles_get(all);
    assert_same(&c.arrays, &a);
    ley_particles_destroy(all);
    ley_particles_destroy(p);
}

static void test_wrong_subset(void **state)
{
    chain c;
    ley_particles *some = NULL;
    ley_error error = {0};
    make_chain(&c);
    ley_particles *p = make(&c.arrays);
    assert_error(ley_particles_subset(p, (const int64_t[]){0}, 0, &some, &error), LEY_ERROR_USAGE,
                 "a subset of 0 particles of 5");
    assert_error(ley_particles_subset(p, (const int64_t[]){0}, -7, &some, &error), LEY_ERROR_USAGE, "-7 particles");
    assert_error(ley_particles_subset(p, (const int64_t[]){0, 5}, 2, &some, &error), LEY_ERROR_USAGE,
                 "particle 2 is 5 of 5, counted from 0");
    assert_error(ley_particles_subset(p, (const int64_t[]){3, 1, 3}, 3, &some, &error), LEY_ERROR_USAGE,
                 "particle 4 is in the subset twice");
    assert_error(ley_particles_subset(NULL, (const int64_t[]){0}, 1, &some, &error), LEY_ERROR_USAGE, "a null pointer");
    assert_error(ley_particles_subset(p, NULL, 1, &some, &error), LEY_ERROR_USAGE, "a null pointer");
    assert_error(ley_particles_subset(p, (const int64_t[]){0}, 1, NULL, &error), LEY_ERROR_USAGE, "a null pointer");
    assert_error(ley_particles_create(NULL, &some, &error), LEY_ERROR_USAGE, "a null pointer");
    assert_error(ley_particles_create(&c.arrays, NULL, &error), LEY_ERROR_USAGE, "a null pointer");
    assert_null(some);
    assert_int_equal(ley_particles_get(NULL).particles, 0);
    ley_error_clear(&error);
    ley_particles_destroy(p);
}

/* ---- Mixing ---------------------------------------------------------------------------------- */

static void test_mixing(void **state)
{
    static const double sigma[] = {3.2, 0, 1.7, 2.5}, epsilon[] = {0.1, 0.3, 0, 0.02};
    double a[16], b[16];
    ley_error error = {0};
    for (int rule = 0; rule < LEY_MIXING_RULES; rule++) {
        assert_ok(ley_lennard_jones_table(4, sigma, epsilon, (ley_mixing_rule)rule, a, b, &error));
        for (int s = 0; s < 4; s++)
            for (int t = 0; t < 4; t++) {
                const double x = sigma[s], y = sigma[t], six = (pow(x, 6) + pow(y, 6)) / 2;
                const double mixed[LEY_MIXING_RULES] = {(x + y) / 2, sqrt(x * y), pow(six, 1.0 / 6)};
                double e = sqrt(epsilon[s] * epsilon[t]);
                if (rule == LEY_MIXING_WALDMAN_HAGLER)
                    e *= six > 0 ? pow(x, 3) * pow(y, 3) / six : 0;
                const double six_a = 4 * e * pow(mixed[rule], 12), six_b = 4 * e * pow(mixed[rule], 6);
                assert_true(fabs(a[4 * s + t] - six_a) <= 1e-13 * six_a);
                assert_true(fabs(b[4 * s + t] - six_b) <= 1e-13 * six_b);
                assert_true(a[4 * s + t] == a[4 * t + s] && b[4 * s + t] == b[4 * t + s]);
            }
    }
    assert_error(ley_lennard_jones_table(0, sigma, epsilon, LEY_MIXING_GEOMETRIC, a, b, &error), LEY_ERROR_USAGE,
                 "0 types");
    assert_error(ley_lennard_jones_table(4, NULL, epsilon, LEY_MIXING_GEOMETRIC, a, b, &error), LEY_ERROR_USAGE,
                 "a null pointer");
    assert_error(ley_lennard_jones_table(4, sigma, epsilon, LEY_MIXING_RULES, a, b, &error), LEY_ERROR_USAGE,
                 "mixing rule 3 of 3");
    assert_error(ley_lennard_jones_table(2, (const double[]){1, NAN}, epsilon, LEY_MIXING_GEOMETRIC, a, b, &error),
                 LEY_ERROR_INPUT, "type 2: sigma nan A");
    assert_error(ley_lennard_jones_table(2, sigma, (const double[]){-1, 0}, LEY_MIXING_GEOMETRIC, a, b, &error),
                 LEY_ERROR_INPUT, "type 1: sigma 3.2 A and epsilon -1 kcal/mol");
    ley_error_clear(&error);
}

/* ---- Files ----------------------------------------------------------------------------------- */

static char path[256];

static char *write_file(const ley_particles_arrays *a, size_t *size)
{
    ley_particles *p = make(a);
    ley_error error = {0};
    snprintf(path, sizeof path, "%s/p.npz", support_directory());
    assert_ok(ley_particles_write(p, path, NULL, &error));
    ley_particles_destroy(p);
    return support_read_file(path, size);
}

static ley_status read_bytes(const char *bytes, size_t size, ley_error *error)
{
    ley_particles *p = NULL;
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    fclose(f);
    const ley_status status = ley_particles_read(path, &p, error);
    if (status == LEY_OK)
        ley_particles_destroy(p);
    return status;
}

static void assert_round_trip(const ley_particles_arrays *a)
{
    ley_particles *p = NULL;
    ley_error error = {0};
    size_t size, size_again;
    char *bytes = write_file(a, &size);
    assert_ok(ley_particles_read(path, &p, &error));
    const ley_particles_arrays got = ley_particles_get(p);
    assert_same(a, &got);
    assert_ok(ley_particles_write(p, path, NULL, &error));
    char *again = support_read_file(path, &size_again);
    assert_int_equal(size, size_again);
    assert_memory_equal(bytes, again, size);
    free(bytes);
    free(again);
    ley_particles_destroy(p);
}

static void test_round_trip(void **state)
{
    chain c;
    ley_error error = {0};
    make_chain(&c);
    assert_round_trip(&c.arrays);
    c.arrays.residue_numbers = NULL; /* the last residue has a particle, so nothing else need tell of it */
    c.arrays.residue_names = c.arrays.chains = NULL;
    assert_round_trip(&c.arrays);
    c.arrays.residue = NULL;
    c.arrays.residues = c.arrays.exclusions = c.arrays.pairs_14 = 0;
    c.arrays.born_factors = NULL;
    c.arrays.names = NULL;
    assert_round_trip(&c.arrays);
    ley_particles *p = make(&c.arrays);
    assert_error(ley_particles_write(p, "p.pdb", NULL, &error), LEY_ERROR_USAGE, "ends in .npz");
    ley_error_clear(&error);
    ley_particles_destroy(p);
}

/* Cut anywhere, or with any byte changed, a file is refused or means the same. */
static void test_damage(void **state)
{
    chain c;
    size_t size;
    make_chain(&c);
    char *bytes = write_file(&c.arrays, &size);
    const size_t step = support_is_quick() ? 41 : 1;
    for (size_t n = 0; n < size; n += step) {
        ley_error error = {0};
        ley_status status = read_bytes(bytes, n, &error);
        if (status != LEY_ERROR_INPUT || strstr(error.message, path) == NULL)
            fail_msg("cut after %zu bytes: %s", n, error.message);
        bytes[n] ^= 0x41;
        status = read_bytes(bytes, size, &error);
        if (status != LEY_OK && status != LEY_ERROR_INPUT)
            fail_msg("byte %zu: %s", n, error.message);
        bytes[n] ^= 0x41;
        ley_error_clear(&error);
    }
    free(bytes);
}

/* Members as anybody may write them. */
static ley_status read_members(const npz_member *members, size_t count, ley_error *error)
{
    ley_particles *p = NULL;
    snprintf(path, sizeof path, "%s/p.npz", support_directory());
    const ley_status written = npz_write(path, members, count, NULL, error),
                     status = written == LEY_OK ? ley_particles_read(path, &p, error) : written;
    ley_particles_destroy(p);
    return status;
}

static void test_refused_files(void **state)
{
    static const int32_t one = 1, two = 2, pair[2] = {0, 1}, residue[2] = {0, -4};
    static const int64_t type[2] = {0, 0}, wide[2] = {0, 1ll << 40};
    static const double numbers[4] = {1, 2, 2, 4};
    static const uint32_t letters[4] = {'A', 0xe4, 'B', 0};
    npz_member m[] = {{"format", "<i4", 0, {0}, &one},
                      {"charges", "<f8", 1, {2}, numbers},
                      {"type", "<i8", 1, {2}, type},
                      {"lennard_jones_a", "<f8", 2, {1, 1}, numbers},
                      {"lennard_jones_b", "<f8", 2, {1, 1}, numbers},
                      {"exclusion", "<i4", 2, {1, 2}, pair},
                      {"", "<i4", 1, {2}, pair}};
    enum { ALL = sizeof m / sizeof *m };
    const npz_member right = m[1], names = {"names", "<U2", 1, {2}, letters};
    ley_error error = {0};
    assert_ok(read_members(m, ALL, &error));
    assert_error(read_members(m, 3, &error), LEY_ERROR_INPUT,
                 "p.npz: lennard_jones_a: no such array, which particles have (docs/formats.md); "
                 "leyden.Particles.save() writes all");
    m[0].numbers = &two;
    assert_error(read_members(m, ALL, &error), LEY_ERROR_INPUT, "p.npz: format: version 2; only 1 can be read");
    m[0] = (npz_member){"format", "<i4", 1, {2}, pair};
    assert_error(read_members(m, ALL, &error), LEY_ERROR_INPUT, "p.npz: format: 2 numbers, must be one");
    m[0] = (npz_member){"format", "<i4", 0, {0}, &one};
    m[1] = (npz_member){"charges", "<f8", 2, {2, 1}, numbers};
    assert_error(read_members(m, ALL, &error), LEY_ERROR_INPUT, "p.npz: charges: an array of 2 extents, must have 1");
    m[1] = (npz_member){"charges", "<f8", 1, {3}, numbers};
    assert_error(read_members(m, ALL, &error), LEY_ERROR_INPUT, "p.npz: type: 2 where charges are 3");
    m[1] = (npz_member){"charges", "<U1", 1, {2}, letters};
    assert_error(read_members(m, ALL, &error), LEY_ERROR_INPUT,
                 "charges: texts of type 'U1', where numbers are needed");
    m[1] = right;
    m[2].numbers = wide;
    assert_error(read_members(m, ALL, &error), LEY_ERROR_INPUT, "p.npz: type: number 2 is 1099511627776");
    m[2].numbers = numbers;
    assert_error(read_members(m, ALL, &error), LEY_ERROR_INPUT, "type: number 1 is 4607182418800017408");
    m[2].numbers = type;
    m[3].n[1] = 2;
    assert_error(read_members(m, ALL, &error), LEY_ERROR_INPUT, "p.npz: lennard_jones_a: 2 columns, must be 1");
    m[3].n[1] = 1;
    m[6] = names;
    assert_error(read_members(m, ALL, &error), LEY_ERROR_INPUT, "names: text 1 has letters that are not of ASCII");
    m[6] = (npz_member){"names", "<i4", 1, {2}, pair};
    assert_error(read_members(m, ALL, &error), LEY_ERROR_INPUT, "names: values of type 'i4', where texts are needed");
    m[6] = (npz_member){"pair_14", "<i4", 2, {1, 2}, pair};
    assert_error(read_members(m, ALL, &error), LEY_ERROR_INPUT, "p.npz: pair_14_charges: no such array");
    m[6] = (npz_member){"residue", "<i4", 1, {2}, residue};
    assert_error(read_members(m, ALL, &error), LEY_ERROR_INPUT, "p.npz: residue: particle 2: -4, must be 0 to 0");
    assert_error(read_bytes("hello", 5, &error), LEY_ERROR_INPUT,
                 "not an archive of arrays (.npz), by its first bytes");
    assert_error(ley_particles_read("/no/such.npz", &(ley_particles *){NULL}, &error), LEY_ERROR_FILE, "/no/such");
    ley_error_clear(&error);
}

/* Texts of both kinds of NumPy's. */
static void test_texts(void **state)
{
    static const int32_t one = 1, type[2] = {0, 0};
    static const double numbers[2] = {1, 2};
    static const char bytes[6] = {'C', 'A', 0, 'N', 0, 0};
    const npz_member m[] = {{"format", "<i4", 0, {0}, &one},
                            {"charges", "<f8", 1, {2}, numbers},
                            {"type", "<i4", 1, {2}, type},
                            {"lennard_jones_a", "<f8", 2, {1, 1}, numbers},
                            {"lennard_jones_b", "<f8", 2, {1, 1}, numbers},
                            {"names", "|S3", 1, {2}, bytes}};
    ley_particles *p = NULL;
    ley_error error = {0};
    assert_ok(read_members(m, sizeof m / sizeof *m, &error));
    assert_ok(ley_particles_read(path, &p, &error));
    assert_string_equal(ley_particles_get(p).names[0], "CA");
    assert_string_equal(ley_particles_get(p).names[1], "N");
    ley_particles_destroy(p);
}

int main(void)
{
    return RUN_TESTS(test_copies, test_least, test_numbers, test_indices, test_counts, test_subset, test_whole_subset,
                     test_wrong_subset, test_mixing, test_round_trip, test_damage, test_refused_files, test_texts);
}
