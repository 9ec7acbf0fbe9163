/* Raw maps: the bytes and the header, what is read and what is refused, and two files that appear
 * together or not at all. */
#include "binary_maps.h"
#include "io/json_text.h"

#include <endian.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "a.raw"

static void assert_same_maps(const ley_map *a, const ley_map *b)
{
    assert_memory_equal(ley_map_grid(a), ley_map_grid(b), sizeof(ley_grid));
    assert_string_equal(ley_map_units(a), ley_map_units(b));
    assert_memory_equal(ley_map_read_values(a), ley_map_read_values(b),
                        (size_t)ley_grid_points(ley_map_grid(a)) * sizeof(float));
}

/* ---- What is written ------------------------------------------------------------------------- */

static void test_the_bytes(void **state)
{
    ley_error error = {0};
    const ley_grid grid = {.origin_A = {-5.28, 1. / 3, 0}, .step_A = LEY_STEPS(0.1, 0.5, 0.75), .n = {2, 1, 2}};
    static const unsigned char expected[] = {0, 0, 128, 63, 0, 0, 0, 192, 0, 0, 0, 63, 1, 0, 0, 0};
    ley_map *map = NULL;
    assert_ok(ley_map_create(&grid, &map, &error));
    memcpy(ley_map_values(map), (const float[]){1, -2, 0.5f, 0x1p-149f}, 4 * sizeof(float));
    ley_map_set_units(map, "kT/e");
    assert_ok(ley_map_write(map, NAME, "method: \"x\"\n\tA\xff\xc3\x85\\\n", "{\"a\": [1, null]}", NULL, &error));
    size_t size;
    char *bytes = support_read_file(NAME, &size), *header = support_read_file(NAME ".json", NULL);
    assert_int_equal(size, sizeof expected);
    assert_memory_equal(bytes, expected, size);
    assert_string_equal(header, "{\n"
                                "  \"format\": \"leyden raw map\",\n"
                                "  \"version\": 1,\n"
                                "  \"creator\": \"leyden " LEY_VERSION "\",\n"
                                "  \"values\": \"float32\",\n"
                                "  \"byte_order\": \"little\",\n"
                                "  \"order\": \"x fastest, then y, then z\",\n"
                                "  \"n\": [2, 1, 2],\n"
                                "  \"origin_A\": [-5.28, 0.3333333333333333, 0],\n"
                                "  \"step_A\": [[0.1, 0, 0], [0, 0.5, 0], [0, 0, 0.75]],\n"
                                "  \"units\": \"kT/e\",\n"
                                "  \"comment\": [\n"
                                "    \"method: \\\"x\\\"\",\n"
                                "    \" A?\xc3\x85\\\\\"\n"
                                "  ],\n"
                                "  \"facts\": {\"a\": [1, null]}\n"
                                "}\n");
    free(bytes);
    free(header);
    assert_int_equal(maps_count_files(), 2);
    ley_map *again = maps_read(NAME);
    assert_same_maps(map, again);
    ley_map_destroy(again);
    ley_map_destroy(map);
}

static void test_round_trips(void **state)
{
    ley_error error = {0};
    const ley_grid meshes[] = {
        {.origin_A = {1e-7, -123.456789012345678, 5}, .step_A = LEY_STEPS(1. / 3, 0.1 + 0.2, 1e-6), .n = {1, 1, 1}},
        {.step_A = {{0.5, 0, 0}, {-0.25, 0.75, 0}, {0.125, 0.1, 0.625}}, .n = {17, 5, 9}},
        {.origin_A = {-1e9, 1e9, 0}, .step_A = LEY_STEPS(1e8, 1, 1), .n = {2, 700, 500}},
    };
    for (size_t i = 0; i < sizeof meshes / sizeof *meshes; i++) {
        ley_map *map = maps_make(&meshes[i]);
        if (i == 1)
            ley_map_set_units(map, "");
        assert_ok(ley_map_write_raw(map, NAME, NULL, NULL, NULL, &error));
        ley_map *again = maps_read(NAME);
        assert_same_maps(map, again);
        /* And by way of OpenDX, whose digits are fewer. */
        assert_ok(ley_map_write(again, "b.dx", NULL, NULL, NULL, &error));
        ley_map *third = maps_read("b.dx");
        assert_true(i != 1 || support_difference(third, map) < 1e-6);
        ley_map_destroy(third);
        ley_map_destroy(again);
        ley_map_destroy(map);
    }
}

static void test_names_and_facts(void **state)
{
    ley_error error = {0};
    const ley_grid grid = {.step_A = LEY_STEPS(1, 1, 1), .n = {2, 2, 2}};
    ley_map *map = maps_make(&grid);
    static const char *const refused[] = {"a.raws", ".raw", "a.raw.zip", ".gz", "raw", "./.raw"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        assert_int_equal(ley_map_write(map, refused[i], NULL, NULL, NULL, &error), LEY_ERROR_USAGE);
        assert_non_null(
            strstr(error.message,
                   ": must end in .dx, .raw, .mrc, .ccp4, .map, .npy, .dxbin, .cube or .cub, with or without .gz"));
    }
    static const char *const no_facts[][2] = {{"", "facts:1: facts: the file ends where an object should be"},
                                              {"[1]", "facts:1: facts: '[' where an object should be"},
                                              {"{\n\"a\": 01}", "facts:2: a value: '01' where one should be"},
                                              {"{} 1", "facts:1: behind the last value: '1' where nothing should be"}};
    for (size_t i = 0; i < sizeof no_facts / sizeof *no_facts; i++) {
        assert_int_equal(ley_map_write_raw(map, NAME, NULL, no_facts[i][0], NULL, &error), LEY_ERROR_USAGE);
        assert_int_equal(error.status, LEY_ERROR_USAGE);
        if (strstr(error.message, no_facts[i][1]) == NULL)
            fail_msg("%s", error.message);
    }
    assert_int_equal(maps_count_files(), 0);
    assert_ok(ley_map_write(map, "A.RAW", NULL, NULL, NULL, &error));
    assert_int_equal(access("A.RAW.json", F_OK), 0);
    ley_map_destroy(map);
}

/* What is no number is never written; what was there before stays. */
static void test_whole_or_nothing(void **state)
{
    ley_error error = {0};
    const ley_grid grid = {.step_A = LEY_STEPS(1, 1, 1), .n = {3, 2, 2}};
    const bool cancelled = true;
    ley_map *map = maps_make(&grid);
    maps_write_bytes(NAME, "old", 3);
    ley_map_values(map)[4] = NAN;
    assert_int_equal(ley_map_write_raw(map, NAME, NULL, NULL, NULL, &error), LEY_ERROR_INPUT);
    assert_string_equal(error.message, NAME ": the map is not a number at point (1, 1, 0)");
    ley_map_values(map)[4] = 1;
    assert_int_equal(ley_map_write_raw(map, NAME, NULL, NULL, &cancelled, &error), LEY_CANCELLED);
    assert_int_equal(mkdir(NAME ".json", 0700), 0);
    assert_int_equal(ley_map_write_raw(map, NAME, NULL, NULL, NULL, &error), LEY_ERROR_FILE);
    assert_string_equal(error.message, NAME ".json: Is a directory");
    assert_int_equal(maps_count_files(), 2);
    size_t size;
    char *old = support_read_file(NAME, &size);
    assert_int_equal(size, 3);
    free(old);
    ley_map_destroy(map);
}

/* ---- What is read ---------------------------------------------------------------------------- */

#define FORMAT "{\"format\": \"leyden raw map\", \"version\": 1,\n"
#define TYPE "\"values\": \"float32\", \"byte_order\": \"little\",\n"
#define PLACE "\"n\": [1, 1, 1], \"origin_A\": [0, 0, 0],\n\"step_A\": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]"

static void expect_bad(const char *header, const char *what)
{
    char message[512];
    ley_map *map = NULL;
    ley_error error = {0};
    maps_write_bytes(NAME ".json", header, strlen(header));
    assert_int_equal(ley_map_read(NAME, &map, &error), LEY_ERROR_INPUT);
    snprintf(message, sizeof message, "%s%s", NAME ".json", what);
    assert_string_equal(error.message, message);
    assert_null(map);
    assert_int_equal(ley_map_read(NAME, &map, NULL), LEY_ERROR_INPUT);
}

/* In the file's order of bytes, whatever this machine's is. */
static void write_values(const char *name, const float *values, size_t bytes)
{
    uint32_t words[8];
    assert_true(bytes <= sizeof words);
    memcpy(words, values, bytes);
    for (size_t i = 0; i < bytes / sizeof *words; i++)
        words[i] = htole32(words[i]);
    maps_write_bytes(name, words, bytes);
}

static void test_any_header(void **state)
{
    static const char *const headers[] = {
        FORMAT TYPE PLACE "}",
        "\r\n\t{" PLACE ",\"more\":{\"a\":[{},[],true,false,null,-0.5E+3,\"\\ud83d\\ude00\\\"\"],\"a\":2},"
        "\"units\":\"k\\u0054/e\","
        "\"format\":\"leyden raw map\"," TYPE "\"version\":1}\n\n",
    };
    const float one = 1.5f;
    write_values(NAME, &one, sizeof one);
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        maps_write_bytes(NAME ".json", headers[i], strlen(headers[i]));
        ley_map *map = maps_read(NAME);
        assert_true(ley_map_read_values(map)[0] == one);
        assert_string_equal(ley_map_units(map), i == 1 ? "kT/e" : "");
        ley_map_destroy(map);
    }
}

static void test_bad_headers(void **state)
{
    maps_write_bytes(NAME, "1234", 4);
    expect_bad("", ":1: a map's header: the file ends where an object should be");
    expect_bad("\n\nhello", ":3: a map's header: 'hello' where an object should be");
    expect_bad("\x01\xff", ":1: a map's header: '?\?' where an object should be");
    expect_bad("{", ":1: a member's name: the file ends where a string should be");
    expect_bad("{}", ": no 'format'");
    expect_bad("{\"format\": \"other\"", ":1: format: 'other'; only 'leyden raw map' can be read");
    expect_bad("{\"format\": 1", ":1: format: '1' where a string should be");
    expect_bad("{\"format\": \"leyden raw map\", \"version\": 2}",
               ":1: version: 2 of the format; only version 1 can be read");
    expect_bad(FORMAT "\"values\": \"float64\"}", ":2: values: 'float64'; only 'float32' can be read");
    expect_bad(FORMAT "\"byte_order\": \"big\"}", ":2: byte_order: 'big'; only 'little' can be read");
    expect_bad(FORMAT "\"version\": 1}", ":2: version: a second one");
    expect_bad(FORMAT TYPE "\"n\": [1, 1]}", ":3: n: fewer than three numbers");
    expect_bad(FORMAT TYPE "\"n\": [1, 1, 1, 1]}", ":3: n: more than three numbers");
    expect_bad(FORMAT TYPE "\"n\": [1, 1.5, 1]}", ":3: n[1]: '1.5' is not a whole number");
    expect_bad(FORMAT TYPE "\"n\": [1, 1e3, 1]}", ":3: n[1]: '1e3' is not a whole number");
    expect_bad(FORMAT TYPE "\"n\": [1, 99999999999999999999, 1]}", ":3: n[1]: '99999999999999999999' is too large");
    expect_bad(FORMAT TYPE "\"n\": [1, 1,\n0]}", ":4: n[2]: 0 is not positive");
    expect_bad(FORMAT TYPE "\"n\": 3}", ":3: n: '3' where an array should be");
    expect_bad(FORMAT TYPE "\"n\": [1 1]}", ":3: an array: '1' where ',' or ']' should be");
    expect_bad(FORMAT TYPE "\"origin_A\": [0, nan, 0]}", ":3: origin_A[1]: 'nan' where a number should be");
    expect_bad(FORMAT TYPE "\"origin_A\": [0, 1e999, 0]}", ":3: origin_A[1]: '1e999' is too large");
    expect_bad(FORMAT TYPE "\"origin_A\": [0, +1, 0]}", ":3: origin_A[1]: '+1' where a number should be");
    expect_bad(FORMAT TYPE "\"origin_A\": [0, 1., 0]}", ":3: origin_A[1]: '1.' where a number should be");
    expect_bad(FORMAT TYPE "\"step_A\": [[1, 0, 0], [0, 1, 0]]}", ":3: step_A: fewer than three vectors");
    expect_bad(FORMAT TYPE "\"step_A\": [[1, 0, 0], [0, \"1\", 0]]}",
               ":3: step_A[1][1]: '\"1\"' where a number should be");
    expect_bad(FORMAT TYPE PLACE ", \"units\": \"0123456789012345678901234567890123456789\"}",
               ":4: units: longer than 31 bytes");
    expect_bad(FORMAT TYPE PLACE ", \"units\": \"\xc3\"}", ":4: units: a string that is no UTF-8");
    expect_bad(FORMAT TYPE PLACE ", \"units\": \"\\q\"}", ":4: units: an unknown escape within a string");
    expect_bad(FORMAT TYPE PLACE ", \"units\": \"a\nb\"}", ":4: units: a control character within a string");
    expect_bad(FORMAT TYPE PLACE ", \"units\": \"a", ":4: units: the file ends within a string");
    expect_bad(FORMAT TYPE PLACE ", \"x\": tru}", ":4: a value: 'tru' where one should be");
    expect_bad(FORMAT TYPE PLACE "} {}", ":4: behind the last value: '{' where nothing should be");
    expect_bad(FORMAT TYPE "\"n\": [1, 1, 1]}", ": no 'origin_A'");
    expect_bad(FORMAT TYPE "\"n\": [1, 1, 1], \"origin_A\": [0, 0, 0], \"step_A\": [[1,0,0],[0,0,0],[0,0,1]]}",
               ": grid: spacing 0 A along y, must be 1e-6 to 1e8");
    char deep[256] = "{\"x\": ";
    memset(deep + 6, '[', 100);
    expect_bad(deep, ":1: values within values, more than 64 deep");
}

static void expect_bad_values(size_t bytes, ley_status status, const char *message)
{
    static const char header[] =
        FORMAT TYPE "\"n\": [3, 2, 1], \"origin_A\": [0, 0, 0], \"step_A\": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}";
    const float values[7] = {1, 2, 3, 4, -INFINITY, 6};
    ley_error error = {0};
    ley_map *map = NULL;
    maps_write_bytes(NAME ".json", header, strlen(header));
    write_values(NAME, values, bytes);
    assert_int_equal(ley_map_read_raw(NAME, &map, &error), status);
    assert_string_equal(error.message, message);
    assert_null(map);
}

static void test_bad_values(void **state)
{
    ley_error error = {0};
    ley_map *map = NULL;
    expect_bad_values(24, LEY_ERROR_INPUT, NAME ": the map is infinite at point (1, 1, 0)");
    expect_bad_values(23, LEY_ERROR_INPUT,
                      NAME ": cut short: 23 bytes, but the 6 points that " NAME ".json says take 24");
    expect_bad_values(28, LEY_ERROR_INPUT,
                      NAME ": too long: 28 bytes, but the 6 points that " NAME ".json says take 24");
    assert_int_equal(unlink(NAME), 0);
    assert_int_equal(ley_map_read(NAME, &map, &error), LEY_ERROR_FILE);
    assert_string_equal(error.message, NAME ": No such file or directory");
    assert_int_equal(mkfifo(NAME, 0600), 0); /* which nobody writes to */
    assert_int_equal(ley_map_read(NAME, &map, &error), LEY_ERROR_FILE);
    assert_string_equal(error.message, NAME ": a map with a header beside it must be a regular file");
    assert_int_equal(unlink(NAME), 0);
    maps_write_bytes(NAME, "1234", 4);
    assert_int_equal(unlink(NAME ".json"), 0);
    assert_int_equal(ley_map_read(NAME, &map, &error), LEY_ERROR_FILE);
    assert_string_equal(error.message, NAME ".json: No such file or directory");
}

/* A header that claims much takes no memory, nor one that is long. */
static void test_claims(void **state)
{
    ley_error error = {0};
    ley_map *map = NULL;
    static const char large[] = FORMAT TYPE "\"n\": [1000000000, 1000, 1000], \"origin_A\": [0, 0, 0],"
                                            "\"step_A\": [[0.1, 0, 0], [0, 1, 0], [0, 0, 1]]}";
    maps_write_bytes(NAME ".json", large, strlen(large));
    maps_write_bytes(NAME, "1234", 4);
    assert_int_equal(ley_map_read(NAME, &map, &error), LEY_ERROR_INPUT);
    assert_non_null(strstr(error.message, NAME ": cut short: 4 bytes, but the 1000000000000000 points"));
    const size_t size = (1 << 20) + 1;
    char *blanks = malloc(size);
    memset(blanks, ' ', size);
    maps_write_bytes(NAME ".json", blanks, size);
    free(blanks);
    assert_int_equal(ley_map_read(NAME, &map, &error), LEY_ERROR_INPUT);
    assert_string_equal(error.message, NAME ".json: larger than 1048576 bytes: no map's header");
}

static void test_other_locales(void **state)
{
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL)
        skip();
    test_the_bytes(state);
    setlocale(LC_ALL, "C");
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup(test, maps_begin)
    const struct CMUnitTest tests[] = {
        TEST(test_the_bytes),        TEST(test_round_trips), TEST(test_names_and_facts),
        TEST(test_whole_or_nothing), TEST(test_any_header),  TEST(test_bad_headers),
        TEST(test_bad_values),       TEST(test_claims),      TEST(test_other_locales),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
