/* Wavefunctions: functions of shells against their formulas from textbooks, overlaps against sums
 * over fine grids, names of orbitals, files, what is refused, and what the host alone does. */
#include "support.h"

#include "law/wavefunction.h"
#include "some_wavefunction.h"
#include "source/basis.h"
#include "source/wavefunction.h"

#include <unistd.h>

/* ---- One shell ------------------------------------------------------------------------------- */

static const double at_bohr[3] = {0.3, -0.2, 0.5}, exponent = 0.7;

/* A shell of one primitive, each function of which is an orbital of its own. */
static ley_wavefunction *make_shell(int l, bool is_pure)
{
    const int n = basis_shell_functions(l, is_pure);
    const int32_t atom = 0, momentum = l, pure = is_pure;
    const int64_t first[] = {0, 1};
    const double charge = 1, one = 1;
    double *orbitals = calloc((size_t)(n * n), sizeof *orbitals), *occupations = calloc((size_t)n, sizeof *occupations);
    ley_wavefunction *w = NULL;
    ley_error error = {0};
    for (int i = 0; i < n; i++)
        orbitals[i * n + i] = 1;
    const ley_wavefunction_arrays a = {.size = sizeof a,
                                       .nuclei = 1,
                                       .shells = 1,
                                       .primitives = 1,
                                       .orbitals = n,
                                       .charges = &charge,
                                       .positions_bohr = at_bohr,
                                       .shell_atom = &atom,
                                       .shell_l = &momentum,
                                       .shell_pure = &pure,
                                       .shell_first_primitive = first,
                                       .exponents = &exponent,
                                       .coefficients = &one,
                                       .orbital_coefficients = orbitals,
                                       .occupations = occupations};
    assert_ok(ley_wavefunction_create(&a, &w, &error));
    free(orbitals);
    free(occupations);
    return w;
}

static double value_of(const ley_wavefunction *w, int64_t orbital, int derivative, const double place[3])
{
    const wavefunction_quantity q = {.wavefunction = w, .orbital = orbital, .derivative = derivative};
    return wavefunction_value(&q, place).value;
}

static double factorial(int n)
{
    return n < 2 ? 1 : n * factorial(n - 1);
}

/* The norm of x^i y^j z^k exp(-a r^2), as it stands in docs/orbitals.md. */
static double cartesian_norm(int i, int j, int k)
{
    return pow(2 * exponent / M_PI, 0.75) *
           sqrt(pow(8 * exponent, i + j + k) * factorial(i) * factorial(j) * factorial(k) /
                (factorial(2 * i) * factorial(2 * j) * factorial(2 * k)));
}

static void test_cartesian(void **state)
{
    const double place[3] = {1.1, 0.4, -0.3}, x = 0.8, y = 0.6, z = -0.8;
    for (int l = 0; l <= LEY_MOST_MOMENTUM; l++) {
        ley_wavefunction *w = make_shell(l, false);
        int f = 0;
        for (int i = l; i >= 0; i--)
            for (int j = l - i; j >= 0; j--, f++) {
                const int k = l - i - j;
                const double right = cartesian_norm(i, j, k) * pow(x, i) * pow(y, j) * pow(z, k) *
                                     exp(-exponent * (x * x + y * y + z * z));
                assert_true(fabs(value_of(w, f, 0, place) / right - 1) < 1e-13);
            }
        ley_wavefunction_destroy(w);
    }
}

/* Real solid harmonics in the order m = 0, +1, -1, ..., to l = 3 as tables have them. */
static void solid_harmonics(int l, double x, double y, double z, double to[7])
{
    const double r2 = x * x + y * y + z * z;
    const double tables[4][7] = {
        {1},
        {z, x, y},
        {(3 * z * z - r2) / 2, sqrt(3) * x * z, sqrt(3) * y * z, sqrt(3) / 2 * (x * x - y * y), sqrt(3) * x * y},
        {z * (5 * z * z - 3 * r2) / 2, sqrt(6) / 4 * x * (5 * z * z - r2), sqrt(6) / 4 * y * (5 * z * z - r2),
         sqrt(15) / 2 * z * (x * x - y * y), sqrt(15) * x * y * z, sqrt(10) / 4 * x * (x * x - 3 * y * y),
         sqrt(10) / 4 * y * (3 * x * x - y * y)}};
    memcpy(to, tables[l], sizeof tables[l]);
}

static void test_pure(void **state)
{
    const double place[3] = {1.1, 0.4, -0.3}, x = 0.8, y = 0.6, z = -0.8;
    for (int l = 0; l <= 3; l++) {
        ley_wavefunction *w = make_shell(l, true);
        double right[7];
        solid_harmonics(l, x, y, z, right);
        for (int f = 0; f < 2 * l + 1; f++) {
            const double norm = cartesian_norm(l, 0, 0) * exp(-exponent * (x * x + y * y + z * z));
            assert_true(fabs(value_of(w, f, 0, place) / (norm * right[f]) - 1) < 1e-13);
        }
        ley_wavefunction_destroy(w);
    }
}

/* Turned about z by an angle, those of +m and -m are as cos(m phi) and sin(m phi); and each is its
 * polynomial. */
static void test_all_orders(void **state)
{
    for (int l = 1; l <= LEY_MOST_MOMENTUM; l++) {
        ley_wavefunction *w = make_shell(l, true);
        for (int f = 0; f < 2 * l + 1; f++) {
            const int m = f % 2 == 1 ? (f + 1) / 2 : f / 2;
            const double rho = 0.9, z = 0.55, phi = 0.37;
            const double upright[3] = {at_bohr[0] + rho, at_bohr[1], at_bohr[2] + z},
                         turned[3] = {at_bohr[0] + rho * cos(phi), at_bohr[1] + rho * sin(phi), at_bohr[2] + z};
            const int64_t cosine = m == 0 ? 0 : 2 * m - 1;
            const double right = value_of(w, cosine, 0, upright) * (m == 0 || f % 2 == 1 ? cos(m * phi) : sin(m * phi));
            double factors[BASIS_MOST_MONOMIALS], sum = 0;
            basis_polynomial(l, true, f, factors);
            for (int i = l; i >= 0; i--)
                for (int j = l - i; j >= 0; j--)
                    sum += factors[basis_monomial(l, i, j)] * pow(rho * cos(phi), i) * pow(rho * sin(phi), j) *
                           pow(z, l - i - j);
            assert_true(fabs(value_of(w, f, 0, turned) - right) < 1e-13);
            assert_true(fabs(value_of(w, f, 0, turned) -
                             sum * basis_radial_norm(exponent, l) * exp(-exponent * (rho * rho + z * z))) < 1e-13);
            assert_true(cosine == 0 || value_of(w, cosine, 0, upright) != 0);
        }
        ley_wavefunction_destroy(w);
    }
}

/* Against differences of values. */
static void test_derivatives(void **state)
{
    const double h = 1e-3, place[3] = {1.1, 0.4, -0.3};
    for (int kind = 0; kind <= 1; kind++)
        for (int l = 0; l <= LEY_MOST_MOMENTUM; l++) {
            ley_wavefunction *w = make_shell(l, kind == 1);
            for (int f = 0; f < basis_shell_functions(l, kind == 1); f++) {
                double laplacian = 0;
                for (int axis = 0; axis < 3; axis++) {
                    double v[5];
                    for (int k = -2; k <= 2; k++) {
                        double beside[3] = {place[0], place[1], place[2]};
                        beside[axis] += k * h;
                        v[k + 2] = value_of(w, f, 0, beside);
                    }
                    const double slope = (v[0] - 8 * v[1] + 8 * v[3] - v[4]) / (12 * h);
                    assert_true(fabs(value_of(w, f, 1 + axis, place) - slope) < 1e-8);
                    laplacian += (-v[0] + 16 * v[1] - 30 * v[2] + 16 * v[3] - v[4]) / (12 * h * h);
                }
                assert_true(fabs(value_of(w, f, 4, place) - laplacian) < 1e-6);
            }
            ley_wavefunction_destroy(w);
        }
}

/* Of an s function with two electrons, rho = 2 N^2 exp(-2 a r^2): |grad rho| is 4 a r rho. */
static void test_reduced_gradient(void **state)
{
    ley_wavefunction *w = make_shell(0, false);
    const double weight = 2;
    for (double r = 0; r < 6; r += 0.4) {
        const double place[3] = {at_bohr[0] + 0.6 * r, at_bohr[1], at_bohr[2] - 0.8 * r},
                     rho = 2 * pow(cartesian_norm(0, 0, 0) * exp(-exponent * r * r), 2),
                     right = 4 * exponent * r * rho / (2 * cbrt(3 * M_PI * M_PI) * pow(rho, 4.0 / 3));
        const wavefunction_quantity q = {
            .wavefunction = w, .weights = &weight, .promise = 1e-5, .derivative = WAVEFUNCTION_REDUCED};
        const reference_value found = wavefunction_value(&q, place);
        assert_true(fabs(found.value - fmin(right, 100)) < 1e-12 * right + 1e-15);
        assert_true(found.absolute >= found.value && isfinite(found.absolute));
    }
    const wavefunction_quantity q = {.wavefunction = w, .weights = &weight, .derivative = WAVEFUNCTION_REDUCED};
    assert_true(wavefunction_value(&q, (const double[]){60, 0, 0}).value == 100);
    ley_wavefunction_destroy(w);
}

/* ---- Overlaps -------------------------------------------------------------------------------- */

/* Of one shell: each function has norm 1, and pure ones are orthogonal. */
static void test_norms(void **state)
{
    ley_error error = {0};
    for (int kind = 0; kind <= 1; kind++)
        for (int l = 0; l <= LEY_MOST_MOMENTUM; l++) {
            ley_wavefunction *w = make_shell(l, kind == 1);
            const int n = basis_shell_functions(l, kind == 1);
            double norms[BASIS_MOST_FUNCTIONS], overlaps[BASIS_MOST_FUNCTIONS * BASIS_MOST_FUNCTIONS];
            assert_ok(ley_wavefunction_norms(w, norms, &error));
            assert_ok(ley_wavefunction_overlaps(w, overlaps, &error));
            assert_ok(ley_wavefunction_check_norms(w, 1e-12, &error));
            for (int i = 0; i < n; i++) {
                assert_true(fabs(norms[i] - 1) < 1e-13);
                for (int j = 0; j < n && kind == 1; j++)
                    assert_true(fabs(overlaps[i * n + j] - (i == j)) < 1e-13);
            }
            ley_wavefunction_destroy(w);
        }
}

/* Of shells with several primitives at several nuclei, against sums over a fine grid. */
static void test_overlaps(void **state)
{
    enum { EDGE = 60, ORBITALS = 4 };
    const double h = 0.25, low = -6;
    ley_wavefunction *w = NULL;
    ley_error error = {0};
    double norms[ORBITALS], sums[ORBITALS] = {0};
    assert_ok(some_wavefunction(2, support_is_quick() ? 3 : LEY_MOST_MOMENTUM, ORBITALS, 7, &w, &error));
    assert_ok(ley_wavefunction_norms(w, norms, &error));
    for (int i = 0; i < EDGE * EDGE * EDGE; i++) {
        const double place[3] = {low + h * (i % EDGE), low + h * (i / EDGE % EDGE), low + h * (i / EDGE / EDGE)};
        for (int o = 0; o < (support_is_quick() ? 2 : ORBITALS); o++)
            sums[o] += h * h * h * pow(value_of(w, o, 0, place), 2);
    }
    for (int o = 0; o < (support_is_quick() ? 2 : ORBITALS); o++)
        if (!(fabs(sums[o] / norms[o] - 1) < 1e-3))
            fail_msg("orbital %d: a norm of %g, over the grid %g", o, norms[o], sums[o]);
    assert_error(ley_wavefunction_check_norms(w, 1e-4, &error), LEY_ERROR_INPUT, "has a norm of");
    ley_wavefunction_destroy(w);
    ley_error_clear(&error);
}

/* ---- Names ----------------------------------------------------------------------------------- */

static void assert_found(const ley_wavefunction *w, const char *names, size_t count, const int64_t *right)
{
    int64_t *list = NULL;
    size_t found = 0;
    ley_error error = {0};
    assert_ok(ley_wavefunction_find(w, names, &list, &found, &error));
    assert_int_equal(found, count);
    assert_memory_equal(list, right, count * sizeof *right);
    free(list);
}

static void test_names(void **state)
{
    static const char *const wrong[] = {"",    "homo,", "0",   "9",  "lumo+9",  "homo-99", "homo lumo",
                                        "3-2", "h",     "1..", "-1", "homo--1", "gamma:1", "99999999999999999999"};
    ley_wavefunction *w = NULL;
    int64_t *list = NULL;
    size_t count;
    ley_error error = {0};
    assert_ok(some_wavefunction(2, 1, 8, 1, &w, &error)); /* 4 of two electrons, one of a single one */
    assert_found(w, "homo", 1, (const int64_t[]){4});
    assert_found(w, "lumo", 1, (const int64_t[]){5});
    assert_found(w, "homo-1,lumo+1", 2, (const int64_t[]){3, 6});
    assert_found(w, "2-4,8", 4, (const int64_t[]){1, 2, 3, 7});
    assert_found(w, "homo-2..lumo", 4, (const int64_t[]){2, 3, 4, 5});
    assert_found(w, "homo-lumo", 2, (const int64_t[]){4, 5});
    assert_found(w, "alpha:homo,beta:3", 2, (const int64_t[]){4, 2});
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        if (ley_wavefunction_find(w, wrong[i], &list, &count, &error) != LEY_ERROR_USAGE)
            fail_msg("'%s' is a name", wrong[i]);
        assert_non_null(strstr(error.message, "homo-1"));
        ley_error_clear(&error);
    }
    assert_true(fabs(ley_wavefunction_electrons(w, 0) - 9) < 1e-12);
    assert_true(fabs(ley_wavefunction_electrons(w, 1) - 5) < 1e-12);
    assert_true(fabs(ley_wavefunction_electrons(w, -1) - 4) < 1e-12);
    ley_wavefunction_destroy(w);
}

/* By energy, and spin by spin. */
static void test_order_of_energy(void **state)
{
    ley_wavefunction *w = NULL, *turned = NULL;
    ley_error error = {0};
    assert_ok(some_wavefunction(2, 1, 4, 1, &w, &error));
    ley_wavefunction_arrays a = ley_wavefunction_get(w);
    const double energies[] = {2, -1, 1, -2}, occupations[] = {0, 1, 0, 1};
    const int32_t spins[] = {1, 1, -1, -1};
    a.energies = energies;
    a.occupations = occupations;
    a.spins = spins;
    assert_ok(ley_wavefunction_create(&a, &turned, &error));
    assert_found(turned, "homo,lumo,homo-1", 3, (const int64_t[]){1, 2, 3});
    assert_found(turned, "alpha:homo,alpha:lumo,beta:homo,beta:lumo,beta:1", 5, (const int64_t[]){1, 0, 3, 2, 2});
    ley_wavefunction_destroy(turned);
    ley_wavefunction_destroy(w);
}

/* ---- Bad input ------------------------------------------------------------------------------- */

static void test_refusals(void **state)
{
    ley_wavefunction *w = NULL, *none = NULL;
    ley_error error = {0};
    assert_ok(some_wavefunction(2, 1, 3, 1, &w, &error));
    const ley_wavefunction_arrays right = ley_wavefunction_get(w);
    double bad[64] = {0};
    int32_t wrong[16] = {0};
    int64_t first[16] = {0};
#define REFUSED(member, change, says) \
    do { \
        ley_wavefunction_arrays a = right; \
        change; \
        a.member = (const void *)(member##_of); \
        assert_error(ley_wavefunction_create(&a, &none, &error), LEY_ERROR_INPUT, says); \
        ley_error_clear(&error); \
    } while (0)
    const double *exponents_of = bad, *orbital_coefficients_of = bad, *positions_bohr_of = bad, *occupations_of = bad,
                 *coefficients_of = bad;
    const int32_t *shell_l_of = wrong, *shell_atom_of = wrong, *shell_pure_of = wrong, *spins_of = wrong;
    const int64_t *shell_first_primitive_of = first;
    for (int i = 0; i < 64; i++)
        bad[i] = 1;
    REFUSED(exponents, bad[1] = 0, "exponents: number 2 is 0");
    REFUSED(exponents, bad[1] = -1, "exponents: number 2 is -1");
    REFUSED(exponents, bad[1] = INFINITY, "exponents: number 2 is inf");
    REFUSED(orbital_coefficients, bad[1] = NAN, "orbitals: number 2 is ");
    REFUSED(positions_bohr, bad[1] = NAN, "positions_bohr: number 2 is ");
    REFUSED(coefficients, bad[1] = NAN, "coefficients: number 2 is ");
    REFUSED(occupations, bad[1] = 3, "occupations: number 2 is 3");
    REFUSED(shell_l, wrong[1] = LEY_MOST_MOMENTUM + 1, "shell 2: an angular momentum of 7; 0 to 6 can be computed");
    REFUSED(shell_l, wrong[1] = -1, "shell 2: an angular momentum of -1");
    REFUSED(shell_atom, wrong[1] = 2, "shell 2 is at atom 2 of 2, counted from 0");
    REFUSED(shell_pure, wrong[1] = 2, "shell 2: pure is 2");
    REFUSED(spins, wrong[1] = 2, "orbital 2: a spin of 2");
    memcpy(first, right.shell_first_primitive, (size_t)(right.shells + 1) * sizeof *first);
    REFUSED(shell_first_primitive, first[1] = 0, "shell 1 has no primitives");
    REFUSED(shell_first_primitive, first[1] = 99, "shell 1: primitives 0 to before 99");
    first[1] = right.shell_first_primitive[1];
    REFUSED(shell_first_primitive, first[right.shells] = 1, "the shells' primitives are 0 to before 1");
    ley_wavefunction_arrays a = right;
    a.nuclei = 0;
    assert_error(ley_wavefunction_create(&a, &none, &error), LEY_ERROR_INPUT, "0 nuclei");
    a = right;
    a.size--;
    assert_error(ley_wavefunction_create(&a, &none, &error), LEY_ERROR_USAGE, "ley_wavefunction_arrays of ");
    a = right;
    a.exponents = NULL;
    assert_error(ley_wavefunction_create(&a, &none, &error), LEY_ERROR_USAGE, "without one of its arrays");
    ley_error_clear(&error);
    ley_wavefunction_destroy(w);
}

/* ---- Files ----------------------------------------------------------------------------------- */

static char path[256];

static char *write_file(size_t *size)
{
    ley_wavefunction *w = NULL;
    ley_error error = {0};
    snprintf(path, sizeof path, "%s/w.npz", support_directory());
    assert_ok(some_wavefunction(3, 2, 5, 3, &w, &error));
    assert_ok(ley_wavefunction_write(w, path, NULL, &error));
    ley_wavefunction_destroy(w);
    return support_read_file(path, size);
}

static ley_status read_bytes(const char *bytes, size_t size, ley_error *error)
{
    ley_wavefunction *w = NULL;
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    fclose(f);
    const ley_status status = ley_wavefunction_read(path, &w, error);
    if (status == LEY_OK)
        ley_wavefunction_destroy(w);
    return status;
}

static void test_round_trip(void **state)
{
    ley_wavefunction *w = NULL, *again = NULL;
    ley_error error = {0};
    size_t size, size_again;
    char *bytes = write_file(&size);
    assert_ok(some_wavefunction(3, 2, 5, 3, &w, &error));
    assert_ok(ley_wavefunction_read(path, &again, &error));
    const ley_wavefunction_arrays a = ley_wavefunction_get(w), b = ley_wavefunction_get(again);
    assert_int_equal(a.shells, b.shells);
    assert_memory_equal(a.orbital_coefficients, b.orbital_coefficients,
                        (size_t)(a.orbitals * ley_wavefunction_functions(w)) * sizeof(double));
    assert_memory_equal(a.exponents, b.exponents, (size_t)a.primitives * sizeof(double));
    assert_memory_equal(a.shell_pure, b.shell_pure, (size_t)a.shells * sizeof(int32_t));
    assert_ok(ley_wavefunction_write(again, path, NULL, &error));
    char *second = support_read_file(path, &size_again);
    assert_int_equal(size, size_again);
    assert_memory_equal(bytes, second, size);
    assert_error(ley_wavefunction_write(w, "w.cube", NULL, &error), LEY_ERROR_USAGE, "ends in .npz");
    ley_error_clear(&error);
    free(bytes);
    free(second);
    ley_wavefunction_destroy(w);
    ley_wavefunction_destroy(again);
}

/* Cut anywhere, or with any byte changed, a file is refused or means the same. */
static void test_damage(void **state)
{
    size_t size;
    char *bytes = write_file(&size);
    const size_t step = support_is_quick() ? 131 : 7;
    for (size_t n = 0; n < size; n += step) {
        ley_error error = {0};
        const ley_status status = read_bytes(bytes, n, &error);
        if (status != LEY_ERROR_INPUT || strstr(error.message, path) == NULL)
            fail_msg("cut after %zu bytes: %s", n, error.message);
        ley_error_clear(&error);
    }
    for (size_t n = 0; n < size; n += step) {
        ley_error error = {0};
        bytes[n] ^= 0x41;
        const ley_status status = read_bytes(bytes, size, &error);
        if (status != LEY_OK && status != LEY_ERROR_INPUT)
            fail_msg("byte %zu: %s", n, error.message);
        bytes[n] ^= 0x41;
        ley_error_clear(&error);
    }
    free(bytes);
}

static char *find(char *bytes, size_t size, const char *what, size_t length)
{
    char *found = memmem(bytes, size, what, length);
    assert_non_null(found);
    return found;
}

static void test_refused_files(void **state)
{
    size_t size;
    ley_error error = {0};
    char *bytes = write_file(&size), *central = find(bytes, size, "PK\1\2", 4);
    central[10] = 8; /* deflated */
    assert_error(read_bytes(bytes, size, &error), LEY_ERROR_INPUT, "format: compressed; python3 -c");
    central[10] = 0;
    central[8] = 1;
    assert_error(read_bytes(bytes, size, &error), LEY_ERROR_INPUT, "format: encrypted");
    central[8] = 0;
    char *value = find(bytes, size, "'<f8'", 5);
    value[300] ^= 1; /* a number */
    assert_error(read_bytes(bytes, size, &error), LEY_ERROR_INPUT, "altered: its checksum does not fit");
    value[300] ^= 1;
    char *name = find(central, size - (size_t)(central - bytes), "exponents.npy", 13);
    name[0] = 'E';
    assert_error(
        read_bytes(bytes, size, &error), LEY_ERROR_INPUT,
        "exponents: no such array, which a wavefunction has (docs/formats.md); leyden.Wavefunction.save() writes all");
    name[0] = 'e';
    assert_error(read_bytes("hello", 5, &error), LEY_ERROR_INPUT, "not an archive of arrays");
    assert_ok(read_bytes(bytes, size, &error));
    assert_error(ley_wavefunction_read("/no/such.npz", &(ley_wavefunction *){NULL}, &error), LEY_ERROR_FILE,
                 "/no/such");
    ley_error_clear(&error);
    free(bytes);
}

/* The host's second way agrees with the judge, of orbitals and of densities, as near as doubles may
 * be. */
static void test_again(void **state)
{
    ley_wavefunction *w = NULL;
    ley_error error = {0};
    double worst = 0;
    assert_ok(some_wavefunction(3, LEY_MOST_MOMENTUM, 4, 8, &w, &error));
    for (int k = 0; k < 2 * (WAVEFUNCTION_REDUCED + 1); k++)
        for (int i = 0; i < 4; i++) {
            const double place_A[3] = {0.4 + i, 0.3 * i * i, -0.3 * i};
            const wavefunction_quantity q = {.wavefunction = w,
                                             .orbital = 2,
                                             .weights = k % 2 == 1 ? w->arrays.occupations : NULL,
                                             .promise = 1e-9,
                                             .derivative = k / 2};
            const reference_terms terms = {.law = &law_wavefunction, .constant = 1, .quantity = &q};
            if (q.derivative == WAVEFUNCTION_REDUCED && q.weights == NULL)
                continue;
            const reference_value right = law_wavefunction.value(&terms, place_A);
            const double off = fabs((double)law_wavefunction.again(&terms, place_A) - right.value) / right.absolute;
            worst = off > worst ? off : worst;
        }
    if (!(worst < 1e-13))
        fail_msg("off by %.2g", worst);
    ley_wavefunction_destroy(w);
}

/* What the host has made, of coefficients that are others before the verification. */
static void shrink(void *context, const ley_progress *progress)
{
    const ley_wavefunction *w = context;
    for (int64_t f = 0; f < w->functions && progress->points_done < progress->points_total; f++)
        ((double *)(uintptr_t)w->arrays.orbital_coefficients)[f] *= 0.99;
}

static void test_wrong_on_host(void **state)
{
    static const int64_t list[] = {0};
    const ley_grid grid = {.origin_A = {-2, -2, -1}, .step_A = LEY_STEPS(0.2, 0.2, 0.5), .n = {20, 20, 5}};
    for (int is_wrong = 0; is_wrong <= 1; is_wrong++) {
        ley_wavefunction *w = NULL;
        ley_error error = {0};
        ley_job *job = NULL;
        ley_run_options options = support_default_run_options();
        ley_map *map = support_make_map(&grid);
        const ley_wavefunction_request request = {.orbitals = list, .orbital_count = 1, .maps = &map};
        assert_ok(some_wavefunction(2, 2, 1, 6, &w, &error));
        options.by_host = true;
        ley_wavefunction_plan *plan = NULL;
        assert_error(ley_wavefunction_plan_create(NULL, w, &request, NULL, &options, &plan, &error),
                     LEY_ERROR_NO_DEVICE, "plans of wavefunctions are for devices");
        ley_error_clear(&error);
        options.progress = is_wrong ? shrink : NULL;
        options.progress_context = w;
        assert_ok(ley_job_create_wavefunction(NULL, w, &request, NULL, &options, &job, &error));
        const ley_status status = ley_job_run(job, &error);
        assert_string_equal(ley_job_report(job)->host, "sums of contracted Gaussians");
        if (is_wrong)
            assert_error(status, LEY_ERROR_WRONG_RESULT, "the host: verification failed");
        else
            assert_true(status == LEY_OK && ley_job_report(job)->accuracy.compared > 0);
        ley_error_clear(&error);
        ley_job_destroy(job);
        ley_map_destroy(map);
        ley_wavefunction_destroy(w);
    }
}

int main(void)
{
    return RUN_TESTS(test_cartesian, test_pure, test_all_orders, test_derivatives, test_reduced_gradient, test_norms,
                     test_overlaps, test_names, test_order_of_energy, test_refusals, test_round_trip, test_damage,
                     test_refused_files, test_again, test_wrong_on_host);
}
