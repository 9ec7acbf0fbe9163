/* Binary OpenDX maps: the bytes that are written, what is read, and what is refused. */
#include "binary_maps.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "a.dxbin"
#define HEAD \
    "object 1 class gridpositions counts 1 1 2\norigin 0 0 0\ndelta 1 0 0\ndelta 0 1 0\ndelta 0 0 1\n" \
    "object 3 class array type double rank 0 items 2 "

static const ley_grid oblique = {
    .origin_A = {-5.28, 1. / 3, 0}, .step_A = {{0.5, 0, 0}, {-0.25, 0.75, 0}, {0.125, 0.1, 0.625}}, .n = {37, 4, 5}};

static void test_bytes(void **state)
{
    ley_error error = {0};
    static const char footer[] = "\nattribute \"dep\" string \"positions\"\n";
    ley_map *map = maps_make(&oblique);
    const ley_grid *l = ley_map_grid(map);
    size_t size;
    assert_ok(ley_map_write(map, NAME, "one", NULL, NULL, &error));
    char *bytes = support_read_file(NAME, &size);
    char *values = strstr(bytes, "object 3 class array type double rank 0 items 740 binary data follows\n");
    assert_non_null(values);
    assert_non_null(strstr(bytes, "# POTENTIAL (kT/e)\n"));
    values = strchr(values, '\n') + 1;
    for (int64_t i = 0; i < 740; i++) {
        const unsigned char *at = (const unsigned char *)values + 8 * i;
        uint64_t bits = 0;
        double value;
        for (int b = 0; b < 8; b++)
            bits |= (uint64_t)at[b] << 8 * b;
        memcpy(&value, &bits, sizeof value);
        const int64_t z = i % l->n[2], y = i / l->n[2] % l->n[1], x = i / l->n[2] / l->n[1];
        assert_true(value == (double)ley_map_read_values(map)[x + l->n[0] * (y + l->n[1] * z)]);
    }
    assert_memory_equal(values + 8 * 740, footer, sizeof footer - 1);
    free(bytes);
    ley_map *again = maps_read(NAME);
    maps_assert_same_values(map, again);
    assert_memory_equal(l, ley_map_grid(again), sizeof *l);
    assert_string_equal(ley_map_units(again), "kT/e");
    ley_map_destroy(again);
    ley_map_values(map)[38] = INFINITY;
    assert_int_equal(ley_map_write(map, "b.dxbin", NULL, NULL, NULL, &error), LEY_ERROR_INPUT);
    assert_string_equal(error.message, "b.dxbin: the map is infinite at point (1, 1, 0)");
    ley_map_destroy(map);
    assert_int_equal(maps_count_files(), 1);
}

static void write_file(const char *header, const char *values, size_t size)
{
    char bytes[1024];
    memcpy(bytes, header, strlen(header));
    memcpy(bytes + strlen(header), values, size);
    maps_write_bytes(NAME, bytes, strlen(header) + size);
}

static void test_bad_files(void **state)
{
    static const char values[17] = {0, 0, 0, 0, 0, 0, '\xf0', '?', 0, 0, 0, 0, 0, 0, '\xf0', '\xbf', '\n'};
    write_file(HEAD "binary data follows\n", values, sizeof values);
    ley_map *map = maps_read(NAME);
    assert_true(ley_map_read_values(map)[0] == 1 && ley_map_read_values(map)[1] == -1);
    ley_map_destroy(map);
    /* Bytes that end lines elsewhere are bytes of values, behind a line that ends in any way. */
    static const char *const ends[] = {"binary data follows\n", "binary data follows\r\n", "binary data follows\r"};
    static const char returns[17] = "\r1\r\r\n\r\xf0?\r\r\r\n\r\r\xf0?";
    for (int i = 0; i < 3; i++) {
        char head[512];
        double doubles[2];
        memcpy(doubles, returns, sizeof doubles);
        snprintf(head, sizeof head, "%s%s", HEAD, ends[i]);
        write_file(head, returns, 16);
        map = maps_read(NAME);
        assert_true(ley_map_read_values(map)[0] == (float)doubles[0]);
        assert_true(ley_map_read_values(map)[1] == (float)doubles[1]);
        ley_map_destroy(map);
    }
    write_file(HEAD "binary data follows\n", values, 15);
    maps_expect_bad(NAME, ": cut short: 15 bytes of values, but 2 values are to be there");
    write_file("object 1 class gridpositions counts 1 1 2\norigin 0 0 0\ndelta 1 0 0\ndelta 0 1 0\ndelta 0 0 1\n"
               "object 3 class array type float rank 0 items 2 binary data follows\n",
               values, sizeof values);
    maps_expect_bad(NAME, ":6: binary values of another type than double are not supported");
    write_file(HEAD "data follows\n1 -1\n", "", 0); /* text, whatever the name says */
    map = maps_read(NAME);
    assert_true(ley_map_read_values(map)[0] == 1 && ley_map_read_values(map)[1] == -1);
    ley_map_destroy(map);
    write_file(HEAD "binary data follows\n", "\0\0\0\0\0\0\xf0\x7f\0\0\0\0\0\0\xf0\x7f", 16);
    maps_expect_bad(NAME, ": the map is infinite at point (0, 0, 0)");
    write_file("object 1 class gridpositions counts 1 0 2\n", "", 0);
    maps_expect_bad(NAME, ":1: counts: '0' is not positive");
    write_file("", values, 16);
    maps_expect_bad(NAME, ":1: a NUL byte: this is not a text file");
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup(test, maps_begin)
    const struct CMUnitTest tests[] = {TEST(test_bytes), TEST(test_bad_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
