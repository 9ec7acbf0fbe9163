/* leyden slice: pictures, and what is refused. */
#include "cli_support.h"

#include <stdlib.h>
#include <string.h>

static void write_test_map(void)
{
    cli("map ion.pqr -o out/a.dx --dims 30,20,10");
    cli_expect(0, NULL, NULL);
}

static unsigned big_endian(const unsigned char *bytes)
{
    return (unsigned)bytes[0] << 24 | (unsigned)bytes[1] << 16 | (unsigned)bytes[2] << 8 | bytes[3];
}

static void test_slice(void **state)
{
    (void)state;
    write_test_map();
    for (const char *const *plane = (const char *const[]){"x", "y", "z", NULL}; *plane != NULL; plane++) {
        size_t size;
        cli("slice out/a.dx -o out/a.png --plane %s --index 3 --size 400 --contours --title slice", *plane);
        cli_expect(0, "written: out/a.png", NULL);
        unsigned char *png = (unsigned char *)cli_read("out/a.png", &size);
        assert_true(size > 1000);
        assert_memory_equal(png, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16);
        assert_int_equal(big_endian(png + 16), 400);
        free(png);
    }
    cli("slice out/a.dx -o out/b.png --at 4 --range -1,2 --json -");
    cli_expect(0, "\"units\": \"kT/e\"", NULL);
}

static void test_slice_refuses(void **state)
{
    (void)state;
    write_test_map();
    size_t size;
    char *map = cli_read("out/a.dx", &size);
    cli_write("cut.dx", map, size / 2);
    cli_write("whole.dx", map, size);
    char *delta = strstr(map, "\ndelta 0.000000e+00 ");
    assert_non_null(delta);
    memcpy(delta, "\ndelta 1.000000e-01 ", strlen("\ndelta 1.000000e-01 "));
    cli_write("skewed.dx", map, size);
    free(map);
    cli_empty(NULL);
    static const cli_failing cases[] = {
        {"slice skewed.dx -o out/a.png", 2,
         "skewed.dx: the lattice's axes must be along x, y and z, in this order: the step from point to point along "
         "axis 2 is (0.1, "},
        {"slice whole.dx -o out/a.jpg", 1, "--output: 'out/a.jpg' must end in .png"},
        {"slice whole.dx -o out/a.png --plane w", 1, "--plane"},
        {"slice whole.dx -o out/a.png --index 10", 1, "--index: 10 is out of range: the map has planes 0 to 9 along z"},
        {"slice whole.dx -o out/a.png --plane x --index 30", 1, "planes 0 to 29 along x"},
        {"slice whole.dx -o out/a.png --at 1e6", 1, "--at: 1000000 is out of range"},
        {"slice whole.dx -o out/a.png --at 1 --index 1", 1, "--at and --index exclude each other"},
        {"slice whole.dx -o out/a.png --range 0,1 --limit 1", 1, "--range and --limit exclude each other"},
        {"slice whole.dx -o out/a.png --range 1,1", 1, "--range: 1 is not below 1"},
        {"slice whole.dx -o out/a.png --size 1", 1, "--size: 1 is out of range"},
        {"slice cut.dx -o out/a.png", 2, "cut.dx:"},
        {"slice ion.pqr -o out/a.png", 2, "ion.pqr:1:"},
        {"slice nosuch.dx -o out/a.png", 2, "nosuch.dx: No such file"},
    };
    CLI_CHECK_FAILURES(cases);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, cli_empty)
    const struct CMUnitTest tests[] = {
        TEST(test_slice),
        TEST(test_slice_refuses),
    };
    return cmocka_run_group_tests(tests, cli_prepare, NULL);
}
