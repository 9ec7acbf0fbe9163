/* Lists of points in files: what is read, and what is wrong with those that are refused; and tables
 * of potentials there. */
#include "support.h"

#include "io/points.h"
#include "io/significant.h"

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
    expect_points("1 2 3\n", 1, 1, 3);
    expect_points("1.5,-2e1,+.25", 1, 1.5, 0.25);
    expect_points("x,y,z\r\n1 , 2 ,\t3\r\n4,5,6\r\n", 2, 1, 6);
    expect_points("# a list\n\n  # of points\nx y z (A)\n\n1\t2 3 # first\n4 5, 6#\n   7 8 9   ", 3, 1, 9);
    expect_points("\"x\",\"y\",\"z\"\n1e8 -1e8 0.1\n", 1, 1e8, 0.1);
    expect_points("\xef\xbb\xbf"
                  "1 2 3\n4 5 6\n",
                  2, 1, 6);
    expect_points("\xef\xbb\xbfx y z\n4 5 6\n", 1, 4, 6);
    expect_points("x,y,z,phi\n1,2,3,4\n5,6,7,nan\n", 2, 1, 7);
    expect_points("phi \"Z\" 'x' name Y\n1 2 3 four 5\n6 7 8\tnine 10 11\n", 2, 3, 7);
    expect_points("# leyden\n\nq, z, y, x\n0, 1,2 ,3 # 4\n,1,2,3", 2, 3, 1);
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
        {"a b c\n1 2 3 4\n", ":2: more than three numbers"},
        {"x y w\n1 2 3 4\n", ":2: more than three numbers"},
        {"x,y,z,phi\n1,2,3,4\n1,2\n", ":3: no z"},
        {"phi,x,y,z\n1,2,3\n", ":2: no z"},
        {"phi,x,y,z\n1,2,,3\n", ":2: no y"},
        {"phi x y z\n1 2 3 z\n", ":2: z 'z' is not a number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_bad_points(cases[i].text, strlen(cases[i].text), cases[i].what);
    expect_bad_points("1 2 3\n4 \0 6", 11, ":2: a NUL byte: this is not a text file");
    char *text = malloc(70000);
    memset(text, '1', 70000);
    expect_bad_points(text, 70000, ":1: line longer than 65536 bytes");
    memcpy(text, "1 2 3\n", 6);
    expect_bad_points(text, 300, ":2: x '111111111111111111111111111111111111111111...' is not a number");
    free(text);
    assert_int_equal(ley_points_read(file_named("missing"), NULL, NULL, NULL), LEY_ERROR_FILE);
}

/* ---- In pieces ------------------------------------------------------------------------------- */

static uint64_t random_state;

static uint64_t random_bits(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return random_state ^ random_state >> 29;
}

/* A list with lines of many lengths, among them empty ones and comments. */
static char *make_list(size_t lines, const char *header, size_t *length)
{
    char *text = malloc(lines * 80 + 100);
    *length = (size_t)sprintf(text, "%s", header);
    for (size_t i = 0; i < lines; i++)
        switch (random_bits() % 8) {
        case 0:
            *length += (size_t)sprintf(text + *length, "# %zu 1 2 3\n", i);
            break;
        case 1:
            *length += (size_t)sprintf(text + *length, "\r\n");
            break;
        default:
            *length += (size_t)sprintf(text + *length, "%.*g,%d , -%zu%s\n", (int)(random_bits() % 17) + 1,
                                       (double)random_bits() / 1e13, (int)(random_bits() % 1000), i, i % 5 ? "" : "\r");
        }
    return text;
}

static void expect_same_in_pieces(void)
{
    int64_t n = 0, whole_n = 0;
    double *point_A = NULL, *whole_A = NULL;
    ley_error error = {0}, whole_error = {0};
    const ley_status whole = points_read_pieces(path, 1, 1 << 20, &whole_n, &whole_A, &whole_error);
    for (int64_t bytes = 7; bytes < 3000; bytes = 3 * bytes + 1) {
        const ley_status status = points_read_pieces(path, (int)(bytes % 4) + 2, bytes, &n, &point_A, &error);
        assert_int_equal(status, whole);
        if (status == LEY_OK) {
            assert_int_equal(n, whole_n);
            assert_memory_equal(point_A, whole_A, 3 * (size_t)n * sizeof *point_A);
            free(point_A);
        } else {
            assert_string_equal(error.message, whole_error.message);
            ley_error_clear(&error);
        }
    }
    free(whole_A);
    ley_error_clear(&whole_error);
}

static void pieces_are_the_whole(void **state)
{
    static const char *const headers[] = {"", "x y z\n", "# first\n\nx,y,z,phi\n"};
    for (size_t i = 0; i < 30; i++) {
        size_t length;
        random_state = i;
        char *text = make_list(100, headers[i % 3], &length);
        file_named("pieces.txt");
        write_text(text, length);
        expect_same_in_pieces();
        text[length * (i + 1) / 31] = 'x'; /* a fault, in most of them */
        write_text(text, length);
        expect_same_in_pieces();
        free(text);
    }
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

static void write_array(const char *header, const void *values, size_t size)
{
    unsigned char bytes[1024] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)strlen(header)};
    memcpy(bytes + 10, header, strlen(header));
    memcpy(bytes + 10 + strlen(header), values, size);
    file_named("points.npy");
    write_text((const char *)bytes, 10 + strlen(header) + size);
}

#define ARRAY(type, is_fortran, shape) "{'descr': '" type "', 'fortran_order': " is_fortran ", 'shape': " shape "}\n"

static void expect_array(const char *header, const void *values, size_t size)
{
    static const double right_A[] = {1, 2, 3, -4.5, 5, 6};
    int64_t n = 0;
    double *point_A = NULL;
    ley_error error = {0};
    write_array(header, values, size);
    assert_ok(ley_points_read(path, &n, &point_A, &error));
    assert_int_equal(n, 2);
    assert_memory_equal(point_A, right_A, sizeof right_A);
    free(point_A);
}

static void expect_bad_array(const char *header, const void *values, size_t size, const char *what)
{
    int64_t n = 0;
    double *point_A = NULL;
    ley_error error = {0};
    write_array(header, values, size);
    assert_error(ley_points_read(path, &n, &point_A, &error), LEY_ERROR_INPUT, what);
    ley_error_clear(&error);
}

static void arrays_are_read(void **state)
{
    static const double three[] = {1, 2, 3, -4.5, 5, 6}, five[] = {1, 2, 3, NAN, 8, -4.5, 5, 6, 7, 8},
                        by_column[] = {1, -4.5, 2, 5, 3, 6, NAN, 9}, not_finite[] = {1, 2, 3, 4, INFINITY, 6};
    static const float floats[] = {1, 2, 3, -4.5f, 5, 6};
    expect_array(ARRAY("<f8", "False", "(2, 3)"), three, sizeof three);
    expect_array(ARRAY("<f8", "False", "(2, 5), "), five, sizeof five);
    expect_array(ARRAY("<f8", "True", "(2, 4)"), by_column, sizeof by_column);
    expect_array(ARRAY("<f4", "False", "(2, 3)"), floats, sizeof floats);
    expect_bad_array(ARRAY("<f8", "False", "(2, 3)"), three, sizeof three - 1, "cut short");
    expect_bad_array(ARRAY("<f8", "False", "(2, 3)"), five, sizeof five, "too long");
    expect_bad_array(ARRAY("<f8", "False", "(3, 2)"), three, sizeof three,
                     "an array of 3 x 2: of points it has a row each");
    expect_bad_array(ARRAY("<f8", "False", "(0, 3)"), three, 0, "an array of 0 x 3");
    expect_bad_array(ARRAY("<f8", "False", "(4611686018427387904, 9)"), three, sizeof three,
                     "an array of more numbers than there can be");
    expect_bad_array(ARRAY("<f8", "False", "(6,)"), three, sizeof three, "an array of 1 extents, not 2");
    expect_bad_array(ARRAY("<f8", "False", "(1, 2, 3)"), three, sizeof three, "an array of 3 extents, not 2");
    expect_bad_array(ARRAY("<i8", "False", "(2, 3)"), three, sizeof three, "values of type '<i8'");
    expect_bad_array(ARRAY("<f8", "False", "(2, 3)"), not_finite, sizeof not_finite, "y of point 2 is not finite");
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static char *put_number(char *at, double value)
{
    return at + sprintf(at, (double)(float)value == value ? "%.9g" : "%.17g", value);
}

static char *put_coordinate(char *at, double value)
{
    const int length = sprintf(at, "%.15g", value);
    return at + (strtod(at, NULL) == value ? length : sprintf(at, "%.17g", value));
}

/* Of several blocks of rows. */
static void tables_are_written(void **state)
{
    enum { N = 9001 };
    double *point_A = malloc(3 * N * sizeof *point_A);
    ley_error error = {0};
    int64_t n = 0;
    for (size_t i = 0; i < 3 * N; i++)
        point_A[i] = i % 2 ? (double)(int64_t)(random_bits() % 200000 - 100000) / 1000 : (double)random_bits() / 3e12;
    ley_points *points = support_make_points(N, point_A);
    assert_ok(ley_points_add_field(points, &error));
    char *right = malloc(200 * N), *at = right;
    at += sprintf(at, "# one\n# two three\nx,y,z,phi,ex,ey,ez\n");
    for (size_t i = 0; i < N; i++) {
        ley_points_values(points)[i] = i % 3 ? (double)((float)random_bits() / 3e14f) : (double)random_bits() / 3e22;
        for (size_t axis = 0; axis < 3; axis++)
            at = put_coordinate(at, point_A[3 * i + axis]), *at++ = ',';
        at = put_number(at, ley_points_values(points)[i]);
        for (size_t axis = 0; axis < 3; axis++) {
            ley_points_field(points)[3 * i + axis] = (double)(float)(1 / (double)random_bits());
            *at++ = ',';
            at = put_number(at, ley_points_field(points)[3 * i + axis]);
        }
        *at++ = '\n';
    }
    *at = '\0';
    assert_ok(ley_points_write_csv(points, file_named("a.csv"), "one\ntwo\tthree", NULL, &error));
    char *text = support_read_file(path, NULL);
    assert_string_equal(text, right);
    free(text);
    double *again_A;
    assert_ok(ley_points_read(path, &n, &again_A, &error));
    assert_true(n == N && memcmp(again_A, point_A, 3 * N * sizeof *point_A) == 0);
    free(again_A);
    assert_ok(ley_points_write_npy(points, file_named("a.npy"), NULL, &error));
    assert_ok(ley_points_read(path, &n, &again_A, &error));
    assert_true(n == N && memcmp(again_A, point_A, 3 * N * sizeof *point_A) == 0);
    free(again_A);
    ley_points_field(points)[7] = NAN;
    assert_error(ley_points_write_npy(points, path, NULL, &error), LEY_ERROR_INPUT,
                 "a.npy: ey is not a number at point 3");
    ley_points_field(points)[7] = 0;
    ley_points_values(points)[8] = INFINITY;
    ley_error_clear(&error);
    assert_error(ley_points_write_npy(points, path, NULL, &error), LEY_ERROR_INPUT,
                 "a.npy: phi is infinite at point 9");
    ley_error_clear(&error);
    const volatile bool cancel = true;
    ley_points_values(points)[8] = 0;
    assert_int_equal(ley_points_write_csv(points, file_named("b.csv"), NULL, &cancel, &error), LEY_CANCELLED);
    ley_error_clear(&error);
    ley_points_destroy(points);
    free(right);
    free(point_A);
}

/* More columns than a block has room for rows of, under names of their own. */
static void columns_are_written(void **state)
{
    enum { N = 40, COLUMNS = 1500 };
    double point_A[3 * N], *values = malloc(N * COLUMNS * sizeof *values);
    char(*text)[16] = malloc(COLUMNS * sizeof *text), *right = malloc(20 * N * COLUMNS), *at = right;
    const char **names = malloc(COLUMNS * sizeof *names);
    ley_error error = {0};
    at += sprintf(at, "# one\nx,y,z");
    for (int k = 0; k < COLUMNS; k++) {
        sprintf(text[k], "value_%d", k);
        names[k] = text[k];
        at += sprintf(at, ",%s", names[k]);
    }
    for (int i = 0; i < N; i++) {
        at += sprintf(at, "\n%d,0,0.5", i);
        point_A[3 * i] = i, point_A[3 * i + 1] = 0, point_A[3 * i + 2] = 0.5;
        for (int k = 0; k < COLUMNS; k++) {
            values[k * N + i] = k - 0.25 * i;
            at += sprintf(at, ",%g", k - 0.25 * i);
        }
    }
    strcpy(at, "\n");
    ley_points *points = support_make_points(N, point_A);
    assert_ok(ley_points_write_columns(points, COLUMNS, names, values, file_named("c.csv"), "one", NULL, &error));
    char *found = support_read_file(path, NULL);
    assert_string_equal(found, right);
    free(found);
    size_t size;
    assert_ok(ley_points_write_columns(points, COLUMNS, names, values, file_named("c.NPY"), NULL, NULL, &error));
    found = support_read_file(path, &size);
    assert_non_null(strstr(found + 10, "'shape': (40, 1503)"));
    double row[3 + COLUMNS];
    memcpy(row, found + size - sizeof row, sizeof row);
    assert_true(row[0] == N - 1 && row[2] == 0.5 && row[3] == values[N - 1] &&
                row[2 + COLUMNS] == values[COLUMNS * N - 1]);
    free(found);
    values[2 * N + 6] = -INFINITY;
    assert_error(ley_points_write_columns(points, COLUMNS, names, values, file_named("d.csv"), NULL, NULL, &error),
                 LEY_ERROR_INPUT, "d.csv: value_2 is infinite at point 7");
    ley_error_clear(&error);
    ley_points_destroy(points);
    free(values);
    free(text);
    free(right);
    free(names);
}

static void expect_digits(double value)
{
    static const int digits[] = {1, 2, 9, 15, 16, 17};
    char text[SIGNIFICANT_ROOM + 1], right[64];
    for (size_t i = 0; i < sizeof digits / sizeof *digits; i++) {
        memset(text, '?', sizeof text);
        *significant_write(value, digits[i], text) = '\0';
        assert_int_equal(text[SIGNIFICANT_ROOM], '?');
        sprintf(right, "%.*g", digits[i], value);
        assert_string_equal(text, right);
    }
    *significant_write_exact(value, text) = '\0';
    *put_coordinate(right, value) = '\0';
    assert_string_equal(text, right);
    *significant_write_value(value, text) = '\0';
    *put_number(right, value) = '\0';
    assert_string_equal(text, right);
}

/* As the C library writes them: halves between two numbers, powers of ten and their neighbours,
 * bits at random. */
static void digits_are_right(void **state)
{
    static const double some[] = {0,         -0.0,     1,       0.5,      2.5,       0.125,   1e-4,
                                  9.9999e-5, 1e15,     1e16,    1e17,     1e22,      1e23,    5e-324,
                                  1.7e308,   0.1,      1.0 / 3, 1e8,      100.5,     1000.25, 99999.95,
                                  0.000125,  1.25e-10, 3e-20,   123456.5, 2097152.5, 1e-9,    0.3,
                                  9.5,       99.5,     999.5,   9999.5,   999999999, 1e9,     4503599627370496.5};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        expect_digits(some[i]);
        expect_digits(-some[i]);
    }
    for (int k = -330; k <= 308; k++) {
        const double ten = pow(10, k);
        expect_digits(ten);
        expect_digits(nextafter(ten, 0));
        expect_digits(nextafter(ten, INFINITY));
        expect_digits(-5 * ten);
    }
    for (size_t i = 0; i < 100000; i++) {
        double value;
        const uint64_t bits = random_bits();
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value) && i % 8 == 0)
            expect_digits(value);
        expect_digits((double)(int64_t)bits / 1e15);
        expect_digits((double)(bits % 1000000) / 1000);
        expect_digits((double)(float)((double)bits / 1e21));
        expect_digits((double)(bits >> 12) / 1024);
    }
}

int main(void)
{
    return RUN_TESTS(points_are_read, bad_points, pieces_are_the_whole, arrays_are_read, tables_are_written,
                     columns_are_written, digits_are_right);
}
