/* OpenDX maps: APBS's layout to the byte, what is read and what is refused, and files that are
 * whole or absent. */
#include "support.h"

#include "io/digits.h"
#include "io/dx.h"
#include "io/output.h"
#include "leyden.h"

#include <dirent.h>
#include <fcntl.h>
#include <float.h>
#include <locale.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static const char golden[] = "tests/data/apbs_born_5x13x17.dx";
static char path[128], gz_path[128];

static char *read_bytes(const char *name, size_t *size)
{
    gzFile file = gzopen(name, "rb"); /* plain files too */
    char *bytes = malloc(1 << 20);
    assert_non_null(file);
    assert_non_null(bytes);
    int n = gzread(file, bytes, (1 << 20) - 1);
    assert_true(n >= 0);
    bytes[n] = '\0';
    *size = (size_t)n;
    assert_int_equal(gzclose(file), Z_OK);
    return bytes;
}

/* Of any size. */
static char *read_all(const char *name, size_t *size)
{
    struct stat known;
    FILE *file = fopen(name, "rb");
    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &known), 0);
    *size = (size_t)known.st_size;
    char *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    bytes[*size] = '\0';
    assert_int_equal(fclose(file), 0);
    return bytes;
}

static void write_text(const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static int files_in_folder(void)
{
    DIR *directory = opendir(support_directory());
    int n = 0;
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(directory);
    return n;
}

static ley_map *read_fine(const char *name)
{
    ley_map *map = NULL;
    ley_error error = {0};
    if (ley_map_read_dx(name, &map, &error) != LEY_OK)
        fail_msg("%s", error.message);
    return map;
}

/* A map of n_x n_y n_z points with different values everywhere. */
static ley_map *make_map(int64_t nx, int64_t ny, int64_t nz)
{
    ley_grid grid = {{-1.5, 2, 1e3 / 3}, LEY_STEPS(0.5, 0.25, 1), {nx, ny, nz}};
    ley_map *map = NULL;
    assert_int_equal(ley_map_create(&grid, &map, NULL), LEY_OK);
    for (int64_t i = 0; i < nx * ny * nz; i++)
        ley_map_values(map)[i] = (float)(i % 2 != 0 ? -i : i) * 0.37f;
    return map;
}

/* ---- Digits ---------------------------------------------------------------------------------- */

static void check_digits(const ley_digits *digits, uint32_t bits)
{
    float value;
    char text[LEY_DIGITS_MAX + 1], expected[32];
    memcpy(&value, &bits, sizeof value);
    if (!isfinite(value))
        return;
    *ley_digits_write(digits, value, text) = '\0';
    snprintf(expected, sizeof expected, "%12.6e", (double)value);
    if (strcmp(text, expected) != 0)
        fail_msg("%08x: %s, not %s", bits, text, expected);
}

static void digits_equal_printf(void **state)
{
    ley_digits digits;
    ley_digits_prepare(&digits);
    static const uint32_t special[] = {0, 0x80000000, 1, 0x80000001, 0x7fffff, 0x800000, 0x7f7fffff, 0xff7fffff};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        check_digits(&digits, special[i]);
    uint64_t seed = 7;
    for (int i = 0; i < 1500000; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        check_digits(&digits, (uint32_t)(seed >> 32));
    }
    for (int k = -45; k <= 38; k++)
        for (int off = -40; off <= 40; off++) {
            char text[16];
            snprintf(text, sizeof text, "1e%d", k);
            float power = strtof(text, NULL);
            uint32_t bits;
            memcpy(&bits, &power, sizeof bits);
            if ((int64_t)bits + off >= 0)
                check_digits(&digits, bits + (uint32_t)off);
        }
    /* Ties: 8 digits ending in 5 below 2^24, and integers and halves that end in 5 beyond the
     * seventh digit. */
    for (uint32_t i = 10000005; i < 1 << 24; i += 10) {
        float tie = (float)i;
        for (int half = 0; half < 6; half++, tie *= 2) {
            uint32_t bits;
            memcpy(&bits, &tie, sizeof bits);
            if (half == 0 || i % 16 == 5)
                check_digits(&digits, bits | (i % 20 == 5 ? 0x80000000 : 0));
        }
    }
    for (uint32_t i = 1; i < 1 << 24; i += 2) { /* 5-ended decimals that binary fractions make */
        float tie = (float)i / 1024;
        uint32_t bits;
        memcpy(&bits, &tie, sizeof bits);
        if (i % 5 == 0)
            check_digits(&digits, bits);
    }
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void apbs_layout(void **state)
{
    static const char first[] = "# Data from APBS 3.4.1\n", ours[] = "# Data from leyden " LEY_VERSION "\n";
    ley_map *map = read_fine(golden);
    assert_string_equal(ley_map_units(map), "kT/e");
    const ley_grid *l = ley_map_grid(map);
    assert_true(l->n[0] == 5 && l->n[1] == 13 && l->n[2] == 17);
    assert_true(l->origin_A[0] == -2.8 && l->step_A[0][0] == 1.4 && l->step_A[1][1] == 0.5 && l->step_A[2][2] == 0.375);
    const float *v = ley_map_read_values(map);
    assert_true(v[0] == 1.403797f);
    assert_true(v[65] == 1.464860f); /* z is fastest in the file, x in memory */
    size_t size, written_size;
    char *bytes = read_bytes(golden, &size);
    for (int gz = 0; gz < 2; gz++) {
        const char *name = gz ? gz_path : path;
        assert_int_equal(ley_map_write_dx(map, name, NULL, NULL, NULL), LEY_OK);
        char *written = read_bytes(name, &written_size);
        assert_memory_equal(written, ours, strlen(ours));
        assert_int_equal(written_size - strlen(ours), size - strlen(first));
        assert_memory_equal(written + strlen(ours), bytes + strlen(first), size - strlen(first));
        free(written);
    }
    FILE *file = fopen(gz_path, "rb");
    assert_int_equal(fgetc(file), 0x1f);
    fclose(file);
    free(bytes);
    ley_map_destroy(map);
}

static void round_trips(void **state)
{
    static const int64_t sizes[][3] = {{1, 1, 1}, {17, 3, 5}, {2, 1, 40}, {33, 16, 15}, {40, 1, 1}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        ley_map *map = make_map(sizes[s][0], sizes[s][1], sizes[s][2]);
        ley_map_set_units(map, "kcal/(mol e)");
        const char *name = s % 2 != 0 ? gz_path : path;
        assert_int_equal(ley_map_write_dx(map, name, "one\ntwo\r\tthree\n", NULL, NULL), LEY_OK);
        ley_map *again = read_fine(name);
        assert_memory_equal(ley_map_grid(again)->n, sizes[s], sizeof sizes[s]);
        assert_string_equal(ley_map_units(again), "kcal/(mol e)");
        for (int64_t i = 0; i < ley_grid_points(ley_map_grid(map)); i++) {
            char text[32];
            snprintf(text, sizeof text, "%.6e", (double)ley_map_read_values(map)[i]);
            assert_true(ley_map_read_values(again)[i] == strtof(text, NULL));
        }
        size_t size;
        char *bytes = read_bytes(name, &size);
        assert_non_null(strstr(bytes, "# POTENTIAL (kcal/(mol e))\n# \n# one\n# two  three\nobject 1 class"));
        free(bytes);
        ley_map_destroy(map);
        ley_map_destroy(again);
    }
}

/* Where a point lies is not rounded: the header's numbers are read back as the same doubles,
 * however many digits that takes. */
/* The values of a map as one core would print them, three to a line. */
static char *print_values(const ley_map *map)
{
    enum { ROOM = 15 }; /* of a number, its blank and perhaps a line end */
    const int64_t *n = ley_map_grid(map)->n, all = n[0] * n[1] * n[2];
    char *text = malloc((size_t)all * ROOM + 2), *at = text;
    assert_non_null(text);
    for (int64_t i = 0; i < all; i++) {
        const int64_t x = i / (n[1] * n[2]), y = i / n[2] % n[1], z = i % n[2];
        at += sprintf(at, "%12.6e ", (double)ley_map_values((ley_map *)map)[(z * n[1] + y) * n[0] + x]);
        if (i % 3 == 2 || i + 1 == all)
            *at++ = '\n';
    }
    *at = '\0';
    return text;
}

/* The same text, in one gzip member, whose bytes are the same on any number of threads. */
static void check_packed(const ley_map *map, int threads, const char *expected)
{
    static uint64_t sum_by_one;
    size_t size, room = strlen(expected) + 4096;
    assert_int_equal(ley_dx_write_map(map, gz_path, NULL, threads, NULL, NULL), LEY_OK);
    char *packed = read_all(gz_path, &size), *text = malloc(room);
    const uint64_t sum = crc32(0, (unsigned char *)packed, (unsigned)size);
    z_stream stream = {.next_in = (unsigned char *)packed,
                       .avail_in = (unsigned)size,
                       .next_out = (unsigned char *)text,
                       .avail_out = (unsigned)room - 1};
    assert_int_equal(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(stream.avail_in, 0);
    text[stream.total_out] = '\0';
    assert_int_equal(inflateEnd(&stream), Z_OK);
    const char *values = strstr(text, "data follows\n");
    assert_non_null(values);
    assert_memory_equal(values + strlen("data follows\n"), expected, strlen(expected));
    sum_by_one = threads == 1 ? sum : sum_by_one;
    assert_int_equal(sum, sum_by_one);
    free(text);
    free(packed);
}

static void any_number_of_threads(void **state)
{
    /* Slabs and blocks: one and several, whole and not, of one plane that nobody turns; lines that
     * cross them. */
    static const int64_t sizes[][3] = {{1, 1, 1},    {5, 13, 17},   {16, 64, 64},  {17, 61, 73},
                                       {45, 67, 79}, {1, 301, 300}, {2, 257, 257}, {33, 3, 1}};
    static const int threads[] = {1, 2, 3, 16, 300};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        ley_map *map = make_map(sizes[i][0], sizes[i][1], sizes[i][2]);
        char *expected = print_values(map);
        const size_t length = strlen(expected);
        for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
            size_t size;
            assert_int_equal(ley_dx_write_map(map, path, NULL, threads[t], NULL, NULL), LEY_OK);
            char *bytes = read_all(path, &size), *values = strstr(bytes, "data follows\n");
            assert_non_null(values);
            values += strlen("data follows\n");
            if (strncmp(values, expected, length) != 0 || strncmp(values + length, "attribute", 9) != 0)
                fail_msg("map %zu on %d threads has other bytes", i, threads[t]);
            free(bytes);
            check_packed(map, threads[t], expected);
        }
        free(expected);
        ley_map_destroy(map);
    }
}

static void places_are_exact(void **state)
{
    static const double origins_A[] = {0,       -0.1, 1e3 / 3,       12000.123456789, -999999.9999999,
                                       3 * 0.1, 1e-7, 987654321.0123};
    static const double spacings_A[] = {0.5, 0.1, 20.0 / 15, 1e-6, 0.123456789012345678};
    for (size_t o = 0; o < sizeof origins_A / sizeof *origins_A; o++)
        for (size_t s = 0; s < sizeof spacings_A / sizeof *spacings_A; s++) {
            const double at_A = origins_A[o], h_A = spacings_A[s];
            const ley_grid grid = {
                {at_A, nextafter(at_A, 1e9), -at_A}, LEY_STEPS(h_A, nextafter(h_A, 1), 2 * h_A), {2, 1, 3}};
            ley_map *map = NULL;
            assert_int_equal(ley_map_create(&grid, &map, NULL), LEY_OK);
            memset(ley_map_values(map), 0, 6 * sizeof(float));
            assert_int_equal(ley_map_write_dx(map, path, NULL, NULL, NULL), LEY_OK);
            ley_map *again = read_fine(path);
            for (int axis = 0; axis < 3; axis++)
                assert_true(ley_map_grid(again)->origin_A[axis] == grid.origin_A[axis] &&
                            ley_map_grid(again)->step_A[axis][axis] == grid.step_A[axis][axis]);
            ley_map_destroy(map);
            ley_map_destroy(again);
        }
}

/* A triclinic cell, axes in another order, a mirror image: their steps are rows of delta, and read
 * back as the same doubles. Values stay with their points. */
static void oblique_meshes(void **state)
{
    static const struct {
        double step_A[3][3];
        const char *deltas;
    } rows[] = {
        {{{0.5, 0, 0}, {-0.25, 0.75, 0}, {0.125, 0.1, 0.625}},
         "delta 5.000000e-01 0.000000e+00 0.000000e+00\ndelta -2.500000e-01 7.500000e-01 0.000000e+00\n"
         "delta 1.250000e-01 1.000000e-01 6.250000e-01\n"},
        {{{0, 0, 1}, {0.5, 0, 0}, {0, 2, 0}},
         "delta 0.000000e+00 0.000000e+00 1.000000e+00\ndelta 5.000000e-01 0.000000e+00 0.000000e+00\n"
         "delta 0.000000e+00 2.000000e+00 0.000000e+00\n"},
        {{{-1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, "delta -1.000000e+00 0.000000e+00 0.000000e+00\n"},
        {{{1.0 / 3, 1e-7 / 3, -2.0 / 3}, {-1.0 / 7, 3 * 0.1, 0}, {1e-300, 1e2 / 3, 5}},
         "delta 3.333333333333333e-01 3.3333333333333334e-08 -6.666666666666666e-01\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ley_grid grid = {.origin_A = {0.1, -2, 1e3 / 3}, .n = {3, 4, 5}};
        memcpy(grid.step_A, rows[i].step_A, sizeof grid.step_A);
        ley_map *map = NULL;
        assert_int_equal(ley_map_create(&grid, &map, NULL), LEY_OK);
        for (int v = 0; v < 60; v++)
            ley_map_values(map)[v] = (float)v;
        assert_int_equal(ley_map_write_dx(map, path, NULL, NULL, NULL), LEY_OK);
        size_t size, size_again;
        char *bytes = read_bytes(path, &size);
        assert_non_null(strstr(bytes, rows[i].deltas));
        assert_non_null(strstr(bytes, "data follows\n0.000000e+00 1.200000e+01 2.400000e+01 \n"));
        ley_map *again = read_fine(path);
        assert_memory_equal(ley_map_grid(again), &grid, sizeof grid);
        assert_memory_equal(ley_map_read_values(again), ley_map_read_values(map), 60 * sizeof(float));
        assert_int_equal(ley_map_write_dx(again, path, NULL, NULL, NULL), LEY_OK);
        char *bytes_again = read_bytes(path, &size_again);
        assert_int_equal(size_again, size);
        assert_memory_equal(bytes_again, bytes, size);
        free(bytes);
        free(bytes_again);
        ley_map_destroy(map);
        ley_map_destroy(again);
    }
}

static void values_that_are_none(void **state)
{
    ley_map *map = make_map(3, 4, 5);
    ley_error error = {0};
    char expected[256];
    unlink(path);
    ley_map_values(map)[2 + 3 * (1 + 4 * 3)] = NAN;
    assert_int_equal(ley_map_write_dx(map, path, NULL, NULL, &error), LEY_ERROR_INPUT);
    snprintf(expected, sizeof expected, "%s: the map is not a number at point (2, 1, 3)", path);
    assert_string_equal(error.message, expected);
    ley_map_values(map)[2 + 3 * (1 + 4 * 3)] = -INFINITY;
    assert_error(ley_map_write_dx(map, path, NULL, NULL, &error), LEY_ERROR_INPUT,
                 "the map is infinite at point (2, 1, 3)");
    assert_int_not_equal(access(path, F_OK), 0);
    ley_map_destroy(map);
}

typedef struct canceller {
    volatile bool cancel;
} canceller;

static void *cancel_soon(void *context)
{
    usleep(5000);
    __atomic_store_n(&((canceller *)context)->cancel, true, __ATOMIC_RELAXED);
    return NULL;
}

static void cancelled_or_failed_leaves_nothing(void **state)
{
    unlink(path);
    unlink(gz_path);
    assert_int_equal(files_in_folder(), 0);
    ley_map *map = make_map(150, 150, 150);
    ley_error error = {0};
    canceller now = {true}, soon = {false};
    assert_int_equal(ley_map_write_dx(map, path, NULL, &now.cancel, &error), LEY_CANCELLED);
    assert_int_equal(files_in_folder(), 0);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, &soon), 0);
    assert_int_equal(ley_map_write_dx(map, gz_path, NULL, &soon.cancel, &error), LEY_CANCELLED);
    pthread_join(thread, NULL);
    assert_int_equal(files_in_folder(), 0);

    /* An old file stays as it was. */
    write_text("old");
    assert_int_equal(ley_map_write_dx(map, path, NULL, &now.cancel, NULL), LEY_CANCELLED);
    size_t size;
    char *bytes = read_bytes(path, &size);
    assert_string_equal(bytes, "old");
    free(bytes);

    /* A full disk: the limit on a file's size makes write() fail in the same place. */
    struct rlimit old, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    limit = old;
    limit.rlim_cur = 100000;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ley_status status = ley_map_write_dx(map, path, NULL, NULL, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(status, LEY_ERROR_FILE);
    assert_non_null(strstr(error.message, ": File too large"));
    assert_int_equal(files_in_folder(), 1);
    ley_map_destroy(map);
}

static void targets(void **state)
{
    ley_map *map = make_map(9, 8, 7);
    ley_error error = {0};
    assert_int_equal(ley_map_write_dx(map, "/dev/null", NULL, NULL, NULL), LEY_OK);
    assert_error_is(ley_map_write_dx(map, "/dev/full", NULL, NULL, &error), LEY_ERROR_FILE,
                    "/dev/full: No space left on device");
    assert_error(ley_map_write_dx(map, support_directory(), NULL, NULL, &error), LEY_ERROR_FILE, ": Is a directory");
    assert_error_is(ley_map_write_dx(map, "/nowhere/at/all.dx", NULL, NULL, &error), LEY_ERROR_FILE,
                    "/nowhere/at/all.dx: No such file or directory");
    assert_int_equal(ley_map_write_dx(map, "", NULL, NULL, &error), LEY_ERROR_FILE);

    unlink(path);
    mode_t mask = umask(027);
    assert_int_equal(ley_map_write_dx(map, path, NULL, NULL, NULL), LEY_OK);
    umask(mask);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);

    /* A symbolic link stays one. */
    char link[160];
    snprintf(link, sizeof link, "%s/link.dx", support_directory());
    assert_int_equal(symlink(path, link), 0);
    ino_t before = status.st_ino;
    assert_int_equal(ley_map_write_dx(map, link, NULL, NULL, NULL), LEY_OK);
    assert_int_equal(lstat(link, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(stat(path, &status), 0);
    assert_true(status.st_ino != before);
    unlink(link);

    /* A pipe gets the bytes as they come. */
    assert_int_equal(mkfifo(link, 0600), 0);
    int fd = open(link, O_RDWR);
    assert_true(fd >= 0);
    ley_map *one = make_map(1, 1, 1);
    assert_int_equal(ley_map_write_dx(one, link, NULL, NULL, NULL), LEY_OK);
    char head[8];
    assert_int_equal(read(fd, head, sizeof head), sizeof head);
    assert_memory_equal(head, "# Data f", sizeof head);
    close(fd);
    assert_int_equal(lstat(link, &status), 0);
    assert_true(S_ISFIFO(status.st_mode));
    unlink(link);
    ley_map_destroy(one);
    ley_map_destroy(map);
}

/* ---- Reading --------------------------------------------------------------------------------- */

#define POSITIONS "object 1 class gridpositions counts "
#define AXES "origin 0 0 0\ndelta 1 0 0\ndelta 0 1 0\ndelta 0 0 1\n"
#define ARRAY "object 3 class array type double rank 0 items "

static void expect_bad(const char *text, const char *what)
{
    char message[512];
    ley_map *map = NULL;
    ley_error error = {0};
    write_text(text);
    assert_int_equal(ley_map_read_dx(path, &map, &error), LEY_ERROR_INPUT);
    snprintf(message, sizeof message, "%s:%s", path, what);
    assert_string_equal(error.message, message);
    assert_null(map);
    assert_int_equal(ley_map_read_dx(path, &map, NULL), LEY_ERROR_INPUT);
}

static void any_layout(void **state)
{
    static const char *const texts[] = {
        POSITIONS "2 1 3\n" AXES ARRAY "6 data follows\n1 2 3 4 5 6",
        "# map\n# the potential, in (V)\n\n" POSITIONS "2 1 3\r\n" AXES
        "object 2 class gridconnections counts 2 1 3\r\n" ARRAY
        "6 data follows\r\n1\r\n2 3\t4 5\r\n6\r\nattribute \"dep\" string \"positions\"\r\nobject \"a b\" class "
        "field\r\n",
        "object \"the positions\" class\ngridpositions\ncounts 2\n1\n3\n" AXES
        "object 3 class array type float rank 1 shape 1 items 6 data follows 1 2 # 9 9\n3 4 .5e1 6.\n#end\nend\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        write_text(texts[i]);
        ley_map *map = read_fine(path);
        static const float expected[] = {1, 4, 2, 5, 3, 6};
        assert_memory_equal(ley_map_read_values(map), expected, sizeof expected);
        assert_string_equal(ley_map_units(map), i == 1 ? "V" : "");
        ley_map_destroy(map);
    }
}

static void bad_headers(void **state)
{
    expect_bad("", "1: the file ends where an OpenDX header should be");
    expect_bad("hello", "1: an OpenDX header: 'hello' does not belong there");
    expect_bad("\x01\x02\xff", "1: an OpenDX header: '?\?\?' does not belong there");
    expect_bad(POSITIONS "2 2\n", "2: the file ends where counts should be");
    expect_bad(POSITIONS "2 0 2\n", "1: counts: '0' is not positive");
    expect_bad(POSITIONS "2 -3 2\n", "1: counts: '-3' is not positive");
    expect_bad(POSITIONS "2 2.5 2\n", "1: counts: '2.5' is not a number");
    expect_bad(POSITIONS "2 99999999999999999999 2\n", "1: counts: '99999999999999999999' is too large");
    expect_bad(POSITIONS "1 1 1\norigin 0 nan 0\n", "2: origin: 'nan' is not finite");
    expect_bad(AXES "delta 0 0 1\n", "5: more than three delta rows");
    expect_bad(AXES ARRAY "1 data follows\n1", "5: values before gridpositions");
    expect_bad(POSITIONS "1 1 1\norigin 0 0 0\n" ARRAY "1 data follows\n1", "3: values before three delta rows");
    expect_bad(POSITIONS "1 1 1\n" ARRAY "1 data follows\n1", "2: values before origin");
    expect_bad(POSITIONS "1 1 1\n" AXES ARRAY "2 data follows\n1 1", "6: 2 items for a grid of 1 points");
    expect_bad(POSITIONS "1 1 1\n" AXES "object 2 class gridconnections counts 1 1 2\n",
               "6: connections and positions have different counts");
    expect_bad(POSITIONS "1 1 1\n" AXES "object 3 class array type double rank 0 items 1 ieee data follows\n1",
               "6: binary values of other kinds than APBS writes are not supported");
    expect_bad(POSITIONS "1 1 1\n" AXES "object 3 class array type double rank 1 shape 3 items 1 data follows\n1",
               "6: array: '3' is no rank or shape of a scalar map");
    expect_bad(POSITIONS "1 1 1\n" AXES ARRAY "1 data file x\n",
               "6: the word follows (values elsewhere are not supported): 'file' is not it");
    expect_bad(POSITIONS "1 1 1\norigin 0 0 0\ndelta 0 0 0\ndelta 0 1 0\ndelta 0 0 1\n" ARRAY "1 data follows\n1",
               "6: grid: spacing 0 A along x, must be 1e-6 to 1e8");
    expect_bad(POSITIONS "1 1 1\norigin 0 0 0\ndelta 1 0 0\ndelta 1 2 0\ndelta 0 2 0\n" ARRAY "1 data follows\n1",
               "6: grid: its three steps lie in a plane, or two of them on a line");
    expect_bad(POSITIONS "1 1 1\norigin 0 0 0\ndelta 1 0.1\ndelta 0 1 0\ndelta 0 0 1\n" ARRAY "1 data follows\n1",
               "4: delta: 'delta' is not a number");
    expect_bad(POSITIONS
               "1000000000 1000000000 1000000000\norigin 0 0 0\ndelta .01 0 0\ndelta 0 .01 0\ndelta 0 0 .01\n" ARRAY
               "1 data follows\n1",
               "6: grid: 1000000000 x 1000000000 x 1000000000 points overflow 64 bits");
}

static void bad_values(void **state)
{
    static const char head[] = POSITIONS "1 1 2\n" AXES ARRAY "2 data follows\n";
    static const char *const cases[][2] = {
        {"1", "7: the file ends after 1 of 2 values"},
        {"1 nan", "7: value 2 of 2: 'nan' is not finite"},
        {"1\n-inf", "8: value 2 of 2: '-inf' is not finite"},
        {"1e39 1", "7: value 1 of 2: '1e39' is too large"},
        {"1 0x1p3", "7: value 2 of 2: '0x1p3' is not a number"},
        {"1 attribute", "7: value 2 of 2: 'attribute' is not a number"},
        {"1 2 3", "7: behind the last value: '3' does not belong there"},
        {"1 2\nattribute \"a\"\nnan", "9: behind the last value: 'nan' does not belong there"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        snprintf(text, sizeof text, "%s%s", head, cases[i][0]);
        expect_bad(text, cases[i][1]);
    }
    /* Too small for a float is zero. */
    char text[1024];
    snprintf(text, sizeof text, "%s-1e-60 1e-45", head);
    write_text(text);
    ley_map *map = read_fine(path);
    assert_true(ley_map_read_values(map)[0] == 0 && ley_map_read_values(map)[1] == 0x1p-149f);
    ley_map_destroy(map);
}

static void huge_claims_take_no_memory(void **state)
{
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    expect_bad(POSITIONS "1000000000 1 1\norigin 0 0 0\ndelta .1 0 0\ndelta 0 1 0\ndelta 0 0 1\n" ARRAY
                         "1000000000 data follows\n1 2 3\n",
               "8: the file ends after 3 of 1000000000 values");
    char *text = malloc(4 << 20);
    memset(text, '7', 4 << 20);
    text[(4 << 20) - 1] = '\0';
    expect_bad(text, "1: word longer than 255 bytes");
    text[0] = '#'; /* a comment may be as long as it likes */
    expect_bad(text, "1: the file ends where an OpenDX header should be");
    free(text);
    getrusage(RUSAGE_SELF, &after);
    assert_true(after.ru_maxrss - before.ru_maxrss < 64 * 1024);
}

static void bad_files(void **state)
{
    ley_map *map = make_map(20, 20, 20);
    ley_map *none = NULL;
    ley_error error = {0};
    assert_int_equal(ley_map_write_dx(map, gz_path, NULL, NULL, NULL), LEY_OK);
    struct stat status;
    assert_int_equal(stat(gz_path, &status), 0);
    for (off_t size = status.st_size - 1; size > 2; size -= 997) {
        assert_int_equal(truncate(gz_path, size), 0);
        assert_error(ley_map_read_dx(gz_path, &none, &error), LEY_ERROR_INPUT, ": the gzip file is cut short");
    }
    FILE *file = fopen(path, "wb");
    assert_true(fwrite("# x\nobject\0", 1, 11, file) == 11);
    fclose(file);
    assert_error(ley_map_read_dx(path, &none, &error), LEY_ERROR_INPUT, ":2: a NUL byte");
    assert_int_equal(ley_map_read_dx(support_directory(), &none, &error), LEY_ERROR_FILE);
    assert_error_is(ley_map_read_dx("/nowhere.dx", &none, &error), LEY_ERROR_FILE,
                    "/nowhere.dx: No such file or directory");
    assert_null(none);
    ley_map_destroy(map);
}

static void other_locales(void **state)
{
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL)
        skip();
    apbs_layout(state);
    ley_digits digits;
    char text[LEY_DIGITS_MAX + 1] = "";
    ley_digits_prepare(&digits);
    ley_digits_write(&digits, 10000005, text); /* a tie, which the C library decides */
    assert_string_equal(text, "1.000000e+07");
    setlocale(LC_ALL, "C");
}

static int set_up(void **state)
{
    snprintf(path, sizeof path, "%s/a.dx", support_directory());
    snprintf(gz_path, sizeof gz_path, "%s/a.dx.gz", support_directory());
    return 0;
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.begin = set_up), digits_equal_printf, apbs_layout, round_trips,
                     any_number_of_threads, places_are_exact, oblique_meshes, values_that_are_none,
                     cancelled_or_failed_leaves_nothing, targets, any_layout, bad_headers, bad_values,
                     huge_claims_take_no_memory, bad_files, other_locales);
}
