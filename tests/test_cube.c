/* Gaussian's cube files: the text that is written, its units, what is read, and what is refused. */
#include "binary_maps.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "a.cube"

static const ley_grid oblique = {
    .origin_A = {-5.28, 1. / 3, 0}, .step_A = {{0.5, 0, 0}, {-0.25, 0.75, 0}, {0.125, 0.1, 0.625}}, .n = {37, 4, 5}};

static void write_map(const ley_map *map, const char *comment, const char *facts)
{
    ley_error error = {0};
    assert_ok(ley_map_write(map, NAME, comment, facts, NULL, &error));
}

static ley_map *make_small(const char *units)
{
    const double origin_A[3] = {0.529177210903, 0, -1.058354421806}, spacing_A[3] = {0.529177210903, 1, 0.25};
    const ley_grid grid = ley_grid_orthogonal(origin_A, spacing_A, (const int64_t[3]){2, 1, 7});
    ley_map *map = NULL;
    ley_error error = {0};
    assert_ok(ley_map_create(&grid, &map, &error));
    for (int64_t i = 0; i < 14; i++) /* x fastest */
        ley_map_values(map)[i] = (float)(i % 2 == 0 ? i / 2 : -0.5 - (double)(i / 2));
    ley_map_set_units(map, units);
    return map;
}

/* z is fastest, six values to a line, and each row along z begins one. */
static void test_text(void **state)
{
    static const double position_A[2][3] = {{0, 0, 0}, {0.529177210903, -0.529177210903, 5.29177210903}};
    static const double charge_e[2] = {-0.834, 1}, radius_A[2] = {1, 1};
    ley_map *map = make_small("hartree/e");
    ley_atoms *atoms = NULL;
    ley_error error = {0};
    size_t size;
    write_map(map, NULL, NULL);
    char *text = support_read_file(NAME, &size);
    static const char expected[] = ": POTENTIAL (hartree/e)\n"
                                   "OUTER LOOP: X, MIDDLE LOOP: Y, INNER LOOP: Z\n"
                                   "    1 1 0 -2\n"
                                   "    2 1 0 0\n"
                                   "    1 0 1.8897261246257702 0\n"
                                   "    7 0 0 0.47243153115644254\n"
                                   "    0    0.000000    1.000000    0.000000   -2.000000\n"
                                   "0.000000e+00 1.000000e+00 2.000000e+00 3.000000e+00 4.000000e+00 5.000000e+00 \n"
                                   "6.000000e+00 \n"
                                   "-5.000000e-01 -1.500000e+00 -2.500000e+00 -3.500000e+00 -4.500000e+00 "
                                   "-5.500000e+00 \n"
                                   "-6.500000e+00 \n";
    assert_string_equal(strstr(text, ": POTENTIAL"), expected);
    free(text);
    assert_ok(ley_atoms_create(2, &position_A[0][0], charge_e, radius_A, &atoms, &error));
    ley_map_set_atoms(map, atoms);
    write_map(map, "method: dcs\x01 \xc3\xa4\nmolecule: a", NULL);
    text = support_read_file(NAME, &size);
    assert_non_null(strstr(text, "\nmolecule: a; method: dcs  ??\n    2 1 0 -2\n"));
    assert_non_null(strstr(text, "    0   -0.834000    0.000000    0.000000    0.000000\n"
                                 "    0    1.000000    1.000000   -1.000000   10.000000\n"
                                 "0.000000e+00 "));
    free(text);
    ley_map *again = maps_read(NAME);
    maps_assert_same_values(map, again);
    maps_assert_same_grids(map, again, 0);
    ley_map_destroy(again);
    ley_atoms_destroy(atoms);
    ley_map_destroy(map);
}

/* A hartree in each unit, as CODATA 2018 has it; kT at the temperature that the facts tell. */
static void test_units(void **state)
{
    static const struct {
        const char *units, *facts;
        double per_hartree; /* 0: they stay as they are */
    } cases[] = {
        {"V", NULL, 27.211386245988},
        {"kcal/mol/e", NULL, 627.5094740631},
        {"kJ/mol/e", NULL, 2625.4996394799},
        {"kT/e", NULL, 4.3597447222071e-18 / (1.380649e-23 * 298.15)},
        {"kT/e", "{\"method\": \"dcs\", \"temperature_K\": 310.5}", 4.3597447222071e-18 / (1.380649e-23 * 310.5)},
        {"hartree/e", NULL, 1},
        {"kcal/mol", NULL, 0},
        {"kT/e/A", "{}", 0},
        {"", NULL, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ley_map *map = make_small(cases[i].units);
        size_t size;
        const double factor = cases[i].per_hartree > 0 ? cases[i].per_hartree : 1;
        ley_map_values(map)[0] = (float)factor; /* the file's first one: 1 hartree/e */
        write_map(map, NULL, cases[i].facts);
        char *text = support_read_file(NAME, &size), *first = strstr(text, "-2.000000\n");
        assert_non_null(first);
        const double value = strtod(first + strlen("-2.000000\n"), NULL);
        if (fabs(value - (cases[i].per_hartree > 0 ? 1 : (double)(float)factor)) > 1e-6)
            fail_msg("%s: %.9g, not 1", cases[i].units, value);
        assert_true((strstr(text, "POTENTIAL (hartree/e)") != NULL) == (cases[i].per_hartree > 0));
        assert_true((strstr(text, " kT/e at 310.5 K\n") != NULL) == (i == 4));
        free(text);
        ley_map *again = maps_read(NAME);
        assert_string_equal(ley_map_units(again), cases[i].units);
        for (int v = 0; v < 14; v++) {
            const double a = (double)ley_map_values(map)[v], b = (double)ley_map_values(again)[v];
            if (fabs(a - b) > 7e-7 * fabs(a))
                fail_msg("%s: %.9g read back as %.9g", cases[i].units, a, b);
        }
        ley_map_destroy(again);
        ley_map_destroy(map);
    }
    ley_map *map = make_small("kT/e");
    ley_error error = {0};
    assert_int_equal(ley_map_write(map, "b.cube", NULL, "{\"temperature_K\": 0}", NULL, &error), LEY_ERROR_USAGE);
    assert_string_equal(error.message, "facts:1: temperature_K: 0 is not positive");
    assert_int_equal(ley_map_write(map, "b.cube", NULL, "[]", NULL, &error), LEY_ERROR_USAGE);
    ley_map_values(map)[3] = FLT_MAX / 2;
    assert_int_equal(ley_map_write(map, "b.cube", NULL, "{\"temperature_K\": 1e6}", NULL, &error), LEY_ERROR_INPUT);
    assert_string_equal(error.message, "b.cube: 1.70141e+38 kT/e is too large for a float in hartree/e");
    ley_map_values(map)[3] = NAN;
    assert_int_equal(ley_map_write(map, "b.cub", NULL, NULL, NULL, &error), LEY_ERROR_INPUT);
    assert_string_equal(error.message, "b.cub: the map is not a number at point (1, 0, 1)");
    ley_map_destroy(map);
    assert_int_equal(maps_count_files(), 1);
}

/* Values of 60 orders of magnitude on an oblique grid, and more of them than are made at once:
 * rows begin lines there, too. */
static void test_round_trip(void **state)
{
    ley_grid large = oblique;
    large.n[0] = 3, large.n[1] = 211, large.n[2] = 131;
    const ley_grid *const meshes[] = {&oblique, &large};
    for (int i = 0; i < 2; i++) {
        size_t size, rows = 0;
        ley_map *map = maps_make(meshes[i]);
        write_map(map, "one", NULL);
        ley_map *again = maps_read(NAME);
        maps_assert_same_grids(map, again, 1e-15);
        for (int64_t v = 0; v < ley_grid_points(meshes[i]); v++) {
            const double a = (double)ley_map_values(map)[v], b = (double)ley_map_values(again)[v];
            if (!(fabs(a - b) <= 7e-7 * fabs(a)))
                fail_msg("value %lld: %.9g read back as %.9g", (long long)v, a, b);
        }
        ley_map_destroy(again);
        char *text = support_read_file(NAME, &size);
        for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
            rows++;
        assert_int_equal(rows, 7 + meshes[i]->n[0] * meshes[i]->n[1] * ((meshes[i]->n[2] - 1) / 6 + 1));
        free(text);
        ley_map_destroy(map);
    }
}

/* Seven digits of a hartree/e make the largest of floats larger, which they must not be refused
 * for. */
static void test_largest(void **state)
{
    ley_map *map = make_small("kT/e");
    ley_map_values(map)[0] = FLT_MAX;
    ley_map_values(map)[13] = -FLT_MAX;
    write_map(map, NULL, NULL);
    ley_map *again = maps_read(NAME);
    assert_true(ley_map_values(again)[0] == FLT_MAX && ley_map_values(again)[13] == -FLT_MAX);
    ley_map_destroy(again);
    ley_map_destroy(map);
}

static void write_text(const char *text)
{
    maps_write_bytes(NAME, text, strlen(text));
}

#define AXES "1 1 0 0\n1 0 2 0\n2 0 0.5 4\n"
#define HEAD "title\ntitle\n"

/* What others write: lengths in Angstrom, orbitals, numbers of values, lines of any length. */
static void test_others(void **state)
{
    static const double a0 = 0.529177210903;
    static const struct {
        const char *text, *units;
        double unit_A, second;
    } cases[] = {
        {HEAD "0 1 2 3\n" AXES "1 -2", "", a0, -2},
        {"Electrostatic potential (hartree/e)\r\n\r\n1 1 2 3 1\r\n1 1 0 0\r\n1 0 2 0\r\n2 0 0.5 4\r\n"
         "8 8.0 0 0 0\r\n  1.0E+00\r\n -2.0E+00\r\n\r\n",
         "hartree/e", a0, -2},
        {HEAD "1 1 2 3\n-1 1 0 0\n-1 0 2 0\n-2 0 0.5 4\n1 1 0 0 0\n1\n-2\n", "", 1, -2},
        {HEAD "-1 1 2 3\n" AXES "1 1 0 0 0\n1\n7\n1 -2\n", "", a0, -2},
        {HEAD "-1 1 2 3\n-1 1 0 0\n-1 0 2 0\n-2 0 0.5 4\n1 1 0 0 0\n1 7\n1 -2\n", "", 1, -2},
        {"potential (hartree/e)\n1 hartree/e = 27.5 V of mine\n0 1 2 3\n" AXES "1 -2", "V", a0, -55},
        {"potential (hartree/e)\n1 hartree/e = 27.5\n0 1 2 3\n" AXES "1 -2", "hartree/e", a0, -2},
        {"potential (hartree/e)\n1 hartree/e = -2 V\n0 1 2 3\n" AXES "1 -2", "hartree/e", a0, -2},
        /* Exponents of three digits, by C and by Fortran. */
        {HEAD "0 1 2 3\n" AXES "-1.23450E-102-2.00000E+000\n", "", a0, -2},
        {HEAD "0 1 2 3\n" AXES " 1.23450E-102 1.23450-101\n", "", a0, 0},
        {HEAD "0 1 2 3\n" AXES " 1.23450-102 -.02000+002\n", "", a0, -2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_text(cases[i].text);
        ley_map *map = maps_read(NAME);
        const ley_grid *l = ley_map_grid(map);
        for (int axis = 0; axis < 3; axis++)
            assert_true(fabs(l->origin_A[axis] - (axis + 1) * cases[i].unit_A) < 1e-15);
        assert_true(l->n[0] == 1 && l->n[1] == 1 && l->n[2] == 2);
        assert_true(fabs(l->step_A[2][2] - 4 * cases[i].unit_A) < 1e-15);
        assert_true(fabs(l->step_A[2][1] - 0.5 * cases[i].unit_A) < 1e-15);
        assert_true((double)ley_map_values(map)[1] == cases[i].second);
        assert_string_equal(ley_map_units(map), cases[i].units);
        ley_map_destroy(map);
    }
}

/* Of several values at each point the one that is asked for, by its number or its orbital's. */
static void test_several_values(void **state)
{
    static const char orbitals[] = HEAD "-1 0 0 0\n" AXES "1 1 0 0 0\n3 21\n 7 1\n1 2 3\n4 5\n6\n",
                      fields[] = HEAD "0 0 0 0 3\n" AXES "1 2 3\n4 5 6\n",
                      cut[] = HEAD "0 0 0 0 3\n" AXES "1 2 3\n4 5\n", longer[] = HEAD "0 0 0 0 2\n" AXES "1 2 3 4 5\n";
    static const struct {
        const char *text, *value;
        float first, second; /* or 0, and: */
        const char *message;
    } cases[] = {
        {orbitals, NULL, 0, 0,
         ":9: 3 values at each point, orbital_21 orbital_7 orbital_1: which one is to be read, say by the option "
         "'value' "},
        {HEAD "-1 0 0 0\n" AXES "1 1 0 0 0\n10 1 2 3 4 5 6 7 8 9 10\n", NULL, 0, 0,
         ", orbital_1 orbital_2 orbital_3 "
         "orbital_4 orbital_5 orbital_6 orbital_7 orbital_8 ...: which one"},
        {fields, NULL, 0, 0, ":3: 3 values at each point: which one is to be read, "},
        {orbitals, "1", 1, 4, NULL},
        {orbitals, "3", 3, 6, NULL},
        {orbitals, "orbital_7", 2, 5, NULL},
        {orbitals, "orbital_21", 1, 4, NULL},
        {orbitals, "4", 0, 0, ":9: there is no value '4', but 3 at each point, orbital_21 orbital_7 orbital_1"},
        {orbitals, "0", 0, 0, "there is no value '0'"},
        {orbitals, "orbital_2", 0, 0, "there is no value 'orbital_2'"},
        {fields, "2", 2, 5, NULL},
        {fields, "3", 3, 6, NULL},
        {fields, "orbital_2", 0, 0, ":3: there is no value 'orbital_2', but 3 at each point"},
        {cut, "1", 0, 0, "the file ends within the values of the last point"},
        {cut, "3", 0, 0, "the file ends after 1 of 2 values"},
        {longer, "1", 0, 0, "behind the last value: '5' does not belong there"},
        {HEAD "0 0 0 0\n" AXES "1 2\n", "1", 1, 2, NULL},
        {HEAD "0 0 0 0\n" AXES "1 2\n", "2", 0, 0, "there is no value '2', but 1 at each point"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ley_map *map = NULL;
        ley_error error = {0};
        write_text(cases[i].text);
        const ley_status status = ley_map_read_value(NAME, cases[i].value, &map, &error);
        if (cases[i].message != NULL) {
            assert_error(status, LEY_ERROR_INPUT, cases[i].message);
            ley_error_clear(&error);
            continue;
        }
        assert_ok(status);
        assert_true(ley_map_values(map)[0] == cases[i].first && ley_map_values(map)[1] == cases[i].second);
        ley_map_destroy(map);
    }
}

static void test_bad_files(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", ":1: the file ends where a title should be"},
        {"title\n", ":2: the file ends where a title should be"},
        {HEAD, ":3: the file ends where atoms and origin should be"},
        {HEAD "1 0 0\n", ":3: atoms and origin: 3 numbers, where 4 should be"},
        {HEAD "1 0 0 zero\n", ":3: atoms and origin: 'zero' is not a number"},
        {HEAD "1.5 0 0 0\n", ":3: atoms: 1.5 is not a whole number, or too large"},
        {HEAD "-1 0 0 0 3\n", ":3: 3 values at each point of orbitals: such files cannot be read"},
        {HEAD "1 0 0 0 0\n", ":3: 0 values at each point"},
        {HEAD "1 0 0 0\n2 1 0 0\n1 0 1 0\n", ":6: the file ends where points and step along axis 3 should be"},
        {HEAD "1 0 0 0\n0 1 0 0\n", ":4: points and step along axis 1: no points"},
        {HEAD "1 0 0 0\n1e10 1 0 0\n", ":4: points and step along axis 1: 1e+10 is not a whole number, or too large"},
        {HEAD "1 0 0 0\n1 1 0 0\n-1 0 1 0\n", ":5: counts of both signs: are lengths in bohr or in Angstrom?"},
        {HEAD "0 0 0 0\n1 1 0 0\n1 2 0 0\n1 0 0 1\n",
         ":6: grid: its three steps lie in a plane, or two of them on a line"},
        {HEAD "2 0 0 0\n" AXES "1 1 0 0 0\n", ":8: the file ends where an atom should be"},
        {HEAD "2 0 0 0\n" AXES "1 1 0 0 0\n1 1 0 0\n1 2\n", ":8: an atom: 4 numbers, where 5 should be"},
        {HEAD "-1 0 0 0\n" AXES "1 1 0 0 0\n0\n1 2 3 4\n", ":8: values of 0 orbitals"},
        {HEAD "-1 0 0 0\n" AXES "1 1 0 0 0\n1", ":8: the file ends where orbitals should be"},
        {HEAD "0 0 0 0\n" AXES "1\n", ":8: the file ends after 1 of 2 values"},
        {HEAD "0 0 0 0\n" AXES "1\n\nnan\n", ":9: value 2 of 2: 'nan' is not finite"},
        {HEAD "0 0 0 0\n" AXES "1 1e39\n", ":7: value 2 of 2: '1e39' is too large"},
        {"potential (hartree/e)\n1 hartree/e = 100 V\n0 0 0 0\n" AXES "1 1e37\n",
         ":7: value 2 of 2: '1e37' is too large"},
        {HEAD "0 0 0 0\n" AXES "1 1.2345+101\n", ":7: value 2 of 2: '1.2345E+101' is too large"},
        {HEAD "0 0 0 0\n" AXES "1 2.5-10\n", ":7: value 2 of 2: '2.5-10' is not a number"},
        {HEAD "0 0 0 0\n" AXES "1E--1 2\n", ":7: value 1 of 2: '1E-' is not a number"},
        {HEAD "0 0 0 0\n" AXES "1E-101-2E-101-3E-101\n", ":7: behind the last value: '-3E-101' does not belong there"},
        {HEAD "0 0 0 0\n" AXES "1 2\n3\n", ":8: behind the last value: '3' does not belong there"},
        {HEAD "0 0 0 0\n2000000000 1 0 0\n2000000000 0 1 0\n2000000000 0 0 1\n1\n", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_text(cases[i].text);
        if (cases[i].message != NULL) {
            maps_expect_bad(NAME, cases[i].message);
            continue;
        }
        ley_map *map = NULL;
        ley_error error = {0};
        assert_int_equal(ley_map_read(NAME, &map, &error), LEY_ERROR_INPUT);
        assert_null(map);
        ley_error_clear(&error);
    }
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup(test, maps_begin)
    const struct CMUnitTest tests[] = {TEST(test_text),     TEST(test_units),  TEST(test_round_trip),
                                       TEST(test_largest),  TEST(test_others), TEST(test_several_values),
                                       TEST(test_bad_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
