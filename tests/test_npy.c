/* NumPy's arrays as maps: the bytes that are written, every type and order that is read, and what
 * is refused. */
#include "binary_maps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "a.npy"
#define JSON_OF(n) \
    "{\"format\": \"leyden npy map\", \"version\": 1, \"n\": " n \
    ", \"origin_A\": [0, 0, 0],\n\"step_A\": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], \"units\": \"V\"}"

static void test_bytes(void **state)
{
    static const ley_grid grid = {.origin_A = {-5.28, 1. / 3, 0},
                                  .step_A = {{0.1, 0, 0.05}, {-0.25, 0.5, 0}, {1. / 3, 0.1, 0.75}},
                                  .n = {3, 4, 5}};
    static const char text[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (5, 4, 3), }";
    ley_map *map = maps_make(&grid);
    size_t size;
    char *bytes = maps_write_both_ways(map, NAME, "one", &size), *header = support_read_file(NAME ".json", NULL);
    assert_int_equal(size, 128 + 60 * sizeof(float));
    assert_memory_equal(bytes, "\x93NUMPY\x01\0\x76\0", 10);
    assert_memory_equal(bytes + 10, text, sizeof text - 1);
    assert_true(bytes[127] == '\n' && bytes[126] == ' ');
    assert_non_null(strstr(header, "\"format\": \"leyden npy map\""));
    assert_null(strstr(header, "float32"));
    ley_map *again = maps_read(NAME);
    maps_assert_same_values(map, again);
    assert_memory_equal(ley_map_grid(map), ley_map_grid(again), sizeof grid);
    assert_string_equal(ley_map_units(again), "kT/e");
    free(bytes);
    free(header);
    ley_map_destroy(again);
    ley_map_destroy(map);
    assert_int_equal(maps_count_files(), 2);
}

static void write_array(int version, const char *text, const void *values, size_t size)
{
    unsigned char bytes[512] = {0x93, 'N', 'U', 'M', 'P', 'Y', (unsigned char)version, 0, (unsigned char)strlen(text)};
    const size_t begin = version == 1 ? 10 : 12;
    memcpy(bytes + begin, text, strlen(text));
    memcpy(bytes + begin + strlen(text), values, size);
    maps_write_bytes(NAME, bytes, begin + strlen(text) + size);
}

static void write_json(const char *text)
{
    maps_write_bytes(NAME ".json", text, strlen(text));
}

static void store_big(double value, int bytes, unsigned char *to)
{
    const float single = (float)value;
    uint64_t bits = 0;
    uint32_t few;
    memcpy(&bits, &value, sizeof bits);
    memcpy(&few, &single, sizeof few);
    bits = bytes == 8 ? bits : few;
    for (int i = 0; i < bytes; i++)
        to[i] = (unsigned char)(bits >> 8 * (bytes - 1 - i));
}

static void test_types_and_orders(void **state)
{
    write_json(JSON_OF("[2, 1, 3]"));
    for (int k = 0; k < 24; k++) {
        const bool is_big = k % 2 == 1, is_double = k / 2 % 2 == 1, is_fortran = k / 4 % 2 == 1;
        const int version = k / 8 + 1, bytes = is_double ? 8 : 4;
        unsigned char values[6 * 8];
        char text[128];
        for (int i = 0; i < 6; i++) {
            unsigned char *at = values + i * bytes;
            store_big(i + 0.5, bytes, at);
            for (int b = 0; b < bytes / 2 && !is_big; b++) {
                const unsigned char byte = at[b];
                at[b] = at[bytes - 1 - b];
                at[bytes - 1 - b] = byte;
            }
        }
        snprintf(text, sizeof text, "{'shape':(3, 1,2,), \"descr\":'%c%s', 'fortran_order':%s}\n", is_big ? '>' : '<',
                 is_double ? "f8" : "f4", is_fortran ? "True" : "False");
        write_array(version, text, values, (size_t)(6 * bytes));
        ley_map *map = maps_read(NAME);
        for (int i = 0; i < 6; i++) {
            const int x = is_fortran ? i / 3 : i % 2, z = is_fortran ? i % 3 : i / 2;
            assert_true((double)ley_map_read_values(map)[x + 2 * z] == i + 0.5);
        }
        assert_string_equal(ley_map_units(map), "V");
        ley_map_destroy(map);
    }
}

#define HEAD ": the array's header: "

static void test_bad_files(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", HEAD "'' where '{' should be"},
        {"{}", HEAD "no 'descr'"},
        {"{'descr': '<f4', }", HEAD "no 'fortran_order'"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (1, 2, 2)}",
         ": values of type '<i4'; only '<f4', '>f4', '<f8' and '>f8' can be read"},
        {"{'descr': [('a', '<f4')]}", HEAD "'[('a', '<f4')]}' where a type should be"},
        {"{'descr': '<f4', 'descr': '<f4'}",
         HEAD "' '<f4'}' where 'descr', 'fortran_order' or 'shape', each of them once, should be"},
        {"{'descr': '<V16'}", ": values of type '<V16' cannot be read"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2)}", ": an array of 2 extents, not 3"},
        {"{'shape': (1, 2, 3, 4, 5)}", HEAD "'5)}' where an extent, one of four at most, should be"},
        {"{'shape': (1, -2, 3)}", HEAD "'-2, 3)}' where an extent, one of four at most, should be"},
        {"{'shape': (1 2)}", HEAD "'2)}' where ',' or ')' should be"},
        {"{'fortran_order': 1}", HEAD "'1}' where True or False should be"},
        {"{'shape': (1, 2, 3) 'descr'", HEAD "''descr'' where ',' or '}' should be"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 3)}",
         ": an array of 3 x 2 x 1 values along x, y and z, but a.npy.json says 1 x 2 x 2"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2, 1)}",
         ": cut short: 12 bytes of values, but 4 of 4 bytes are to be there"},
    };
    write_json(JSON_OF("[1, 2, 2]"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_array(1, cases[i].text, "123456789012", 12);
        maps_expect_bad(NAME, cases[i].message);
    }
    write_array(4, "{}", "", 0);
    maps_expect_bad(NAME, ": version 4 of the format; only 1 to 3 can be read");
    maps_write_bytes(NAME, "\x93NUMPX\x01\0\0\0\0\0", 12);
    maps_expect_bad(NAME, ": not a NumPy array, by its first bytes");
    maps_write_bytes(NAME, "\x93NUMPY\x01\0\xff\xff\0\0", 12);
    maps_expect_bad(NAME, ": a header of 65535 bytes in a file of 12");
    maps_write_bytes(NAME, "\x93", 1);
    maps_expect_bad(NAME, ": not a NumPy array: 1 bytes");
    ley_error error = {0};
    ley_map *map = NULL;
    write_json("{\"format\": \"leyden raw map\"}");
    assert_int_equal(ley_map_read(NAME, &map, &error), LEY_ERROR_INPUT);
    assert_string_equal(error.message, NAME ".json:1: format: 'leyden raw map'; only 'leyden npy map' can be read");
    assert_int_equal(unlink(NAME ".json"), 0);
    assert_int_equal(ley_map_read(NAME, &map, &error), LEY_ERROR_FILE);
    assert_string_equal(error.message, NAME ".json: No such file or directory");
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup(test, maps_begin)
    const struct CMUnitTest tests[] = {TEST(test_bytes), TEST(test_types_and_orders), TEST(test_bad_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
