/* Lists of points in files: what is read, and what is wrong with those that are refused. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static char path[256];

static const char *file_named(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", support_directory(), name);
    return path;
}

static void write_text(const char *text, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void expect_points(const char *text, int64_t expected, double first_x, double last_z)
{
    ley_error error = {0};
    int64_t n = 0;
    double *point_A = NULL;
    file_named("points.txt");
    write_text(text, strlen(text));
    assert_ok(ley_points_read(path, &n, &point_A, &error));
    assert_int_equal(n, expected);
    assert_true(point_A[0] == first_x && point_A[3 * n - 1] == last_z);
    free(point_A);
}

static void points_are_read(void **state)
{
    (void)state;
    expect_points("1 2 3\n", 1, 1, 3);
    expect_points("1.5,-2e1,+.25", 1, 1.5, 0.25);
    expect_points("x,y,z\r\n1 , 2 ,\t3\r\n4,5,6\r\n", 2, 1, 6);
    expect_points("# a list\n\n  # of points\nx y z (A)\n\n1\t2 3 # first\n4 5, 6#\n   7 8 9   ", 3, 1, 9);
    expect_points("\"x\",\"y\",\"z\"\n1e8 -1e8 0.1\n", 1, 1e8, 0.1);
    expect_points("\xef\xbb\xbf"
                  "1 2 3\n4 5 6\n",
                  2, 1, 6);
    expect_points("\xef\xbb\xbfx y z\n4 5 6\n", 1, 4, 6);
    char *text = malloc(40 * 10000);
    size_t length = 0;
    for (int i = 0; i < 10000; i++)
        length += (size_t)sprintf(text + length, "%d.125 2 -%d.25\n", i, i);
    expect_points(text, 10000, 0.125, -9999.25);
    gzFile file = gzopen(file_named("points.gz"), "wb");
    assert_int_equal(gzwrite(file, text, (unsigned)length), length);
    assert_int_equal(gzclose(file), Z_OK);
    free(text);
    ley_error error = {0};
    int64_t n = 0;
    double *point_A = NULL;
    assert_ok(ley_points_read(path, &n, &point_A, &error));
    assert_int_equal(n, 10000);
    free(point_A);
}

static void expect_bad_points(const char *text, size_t size, const char *what)
{
    ley_error error = {0};
    int64_t n = -7;
    double *point_A = NULL;
    char message[512];
    file_named("points.txt");
    write_text(text, size);
    assert_int_equal(ley_points_read(path, &n, &point_A, &error), LEY_ERROR_INPUT);
    assert_true(n == -7 && point_A == NULL);
    snprintf(message, sizeof message, "%s%s", path, what);
    assert_string_equal(error.message, message);
    assert_int_equal(ley_points_read(path, &n, &point_A, NULL), LEY_ERROR_INPUT);
}

static void bad_points(void **state)
{
    (void)state;
    static const struct {
        const char *text, *what;
    } cases[] = {
        {"", ": no points"},
        {"# 1 2 3\nx y z\n", ": no points"},
        {"1 2\n", ":1: no z"},
        {"1 2 3\n\n4\n", ":3: no y"},
        {"1 2 3 4\n", ":1: more than three numbers"},
        {"1,2,3,\n", ":1: more than three numbers"},
        {"1,,2,3\n", ":1: no y"},
        {",1,2\n", ":1: no x"},
        {",", ":1: no x"},
        {"1 2 three\n", ":1: z 'three' is not a number"},
        {"x y z\nx y z\n", ":2: x 'x' is not a number"},
        {"1 2 3\nx y z\n", ":2: x 'x' is not a number"},
        {"\xef\xbb\xbf", ": no points"},
        {"1 2 3\n\xef\xbb\xbf"
         "4 5 6\n",
         ":2: x '???4' is not a number"},
        {"\"1\",\"2\",\"3\"\n1 2 3\n", ":1: x '\"1\"' is not a number"},
        {"1;2;3\n1 2 3\n", ":1: x '1;2;3' is not a number"},
        {"-1;2;3", ":1: x '-1;2;3' is not a number"},
        {".5; .5; .5\n1 2 3\n", ":1: x '.5;' is not a number"},
        {"0x1 0x2 0x3\n1 2 3\n", ":1: x '0x1' is not a number"},
        {"x;y;z\n1;2;3\n", ":2: x '1;2;3' is not a number"},
        {"nan 2 3\n", ":1: x 'nan' is not finite"},
        {"1 -inf 3\n", ":1: y '-inf' is not finite"},
        {"1 2 1e999\n", ":1: z '1e999' is too large"},
        {"1 2 1.0000001e8\n", ":1: z '1.0000001e8' is not within 1e8 A"},
        {"0x1 2 3\n", ":1: x '0x1' is not a number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_bad_points(cases[i].text, strlen(cases[i].text), cases[i].what);
    expect_bad_points("1 2 3\n4 \0 6", 11, ":2: a NUL byte: this is no text file");
    char *text = malloc(70000);
    memset(text, '1', 70000);
    expect_bad_points(text, 70000, ":1: line longer than 65536 bytes");
    memcpy(text, "1 2 3\n", 6);
    expect_bad_points(text, 300, ":2: x '111111111111111111111111111111111111111111...' is not a number");
    free(text);
    assert_int_equal(ley_points_read(file_named("missing"), NULL, NULL, NULL), LEY_ERROR_FILE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(points_are_read), cmocka_unit_test(bad_points)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
