/* MRC maps: the header that is written, what is read in every mode, order of bytes and of axes, and
 * what is refused. */
#include "binary_maps.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define NAME "a.mrc"

enum { HEADER = 1024 };

static const ley_grid box = {.origin_A = {-2.64, -0.99, 0.33}, .step_A = LEY_STEPS(0.33, 0.33, 0.33), .n = {5, 4, 3}};

/* A file as others may have it. */
typedef struct other_file {
    bool is_big;
    unsigned char bytes[8192];
    size_t size;
} other_file;

static void put(other_file *f, size_t offset, uint64_t bits, int bytes)
{
    for (int i = 0; i < bytes; i++)
        f->bytes[offset + (size_t)(f->is_big ? bytes - 1 - i : i)] = (unsigned char)(bits >> 8 * i);
}

/* The word of this number, from 1, as the format counts them. */
static void put_int(other_file *f, int word, int value)
{
    put(f, 4 * (size_t)(word - 1), (uint32_t)value, 4);
}

static void put_float(other_file *f, int word, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put(f, 4 * (size_t)(word - 1), bits, 4);
}

/* 3 columns along z, 4 rows along x, 5 sections along y, in a cell of more steps than that. */
static other_file begin_other(bool is_big, int mode)
{
    other_file f = {.is_big = is_big, .size = HEADER};
    static const int words[][2] = {{1, 3},  {2, 4},   {3, 5},  {5, 7},  {6, -2}, {7, 0}, {8, 10},
                                   {9, 20}, {10, 30}, {17, 3}, {18, 1}, {19, 2}, {23, 1}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        put_int(&f, words[i][0], words[i][1]);
    put_int(&f, 4, mode);
    for (int i = 0; i < 3; i++) {
        put_float(&f, 11 + i, 15);
        put_float(&f, 14 + i, 90);
    }
    memcpy(f.bytes + 208, "MAP ", 4);
    f.bytes[212] = f.bytes[213] = is_big ? 0x11 : 0x44;
    return f;
}

static void write_other(const other_file *f)
{
    maps_write_bytes(NAME, f->bytes, f->size);
}

static int word_at(const char *bytes, int word)
{
    const unsigned char *at = (const unsigned char *)bytes + 4 * (word - 1);
    return (int)((uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24);
}

static double float_at(const char *bytes, int word)
{
    const int bits = word_at(bytes, word);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

/* ---- What is written ------------------------------------------------------------------------- */

static void test_header(void **state)
{
    static const int words[][2] = {{1, 5},  {2, 4},  {3, 3},  {4, 2},  {5, 0},  {6, 0},  {7, 0},      {8, 5}, {9, 4},
                                   {10, 3}, {17, 1}, {18, 2}, {19, 3}, {23, 1}, {24, 0}, {28, 20141}, {56, 4}};
    ley_map *map = maps_make(&box);
    size_t size;
    double sum = 0, squares = 0, least = INFINITY, most = -INFINITY;
    const int64_t n = ley_grid_points(&box);
    char *bytes = maps_write_both_ways(map, NAME, "one\nt\xc3\xa4o\n", &size);
    free(bytes);
    char longer[200];
    memset(longer, 'x', sizeof longer);
    longer[99] = '\0';
    bytes = maps_write_both_ways(map, NAME, longer, &size);
    assert_int_equal(word_at(bytes, 56), 3);
    assert_memory_equal(bytes + 224 + 160, "xxxxxxxxxxxxxxxxxxx ", 20);
    free(bytes);
    bytes = maps_write_both_ways(map, NAME, "one\n\nt\xc3\xa4\to\n", &size);
    assert_int_equal(size, HEADER + n * 4);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (word_at(bytes, words[i][0]) != words[i][1])
            fail_msg("word %d is %d", words[i][0], word_at(bytes, words[i][0]));
    for (int i = 0; i < 3; i++) {
        assert_true(float_at(bytes, 11 + i) == (double)(float)(0.33 * (double)box.n[i]));
        assert_true(float_at(bytes, 14 + i) == 90);
        assert_true(float_at(bytes, 50 + i) == (double)(float)box.origin_A[i]);
    }
    for (int64_t i = 0; i < n; i++) {
        const double value = (double)ley_map_read_values(map)[i];
        least = fmin(least, value);
        most = fmax(most, value);
        sum += value / (double)n;
    }
    for (int64_t i = 0; i < n; i++)
        squares += pow((double)ley_map_read_values(map)[i] - sum, 2) / (double)n;
    assert_true(float_at(bytes, 20) == least && float_at(bytes, 21) == most);
    assert_true(fabs(float_at(bytes, 22) / sum - 1) < 1e-6 && fabs(float_at(bytes, 55) / sqrt(squares) - 1) < 1e-6);
    assert_memory_equal(bytes + 208, "MAP \x44\x44\0\0", 8);
    assert_memory_equal(bytes + 224, "leyden " LEY_VERSION ": POTENTIAL (kT/e)   ", 32);
    assert_memory_equal(bytes + 304, "one  ", 5);
    assert_memory_equal(bytes + 384, "     ", 5);
    assert_memory_equal(bytes + 464, "t?? o ", 6);
    free(bytes);
    ley_map_destroy(map);
}

/* Values to the last bit; decimal grids exactly, others as exactly as float32 tells. */
static void test_round_trips(void **state)
{
    const struct {
        ley_grid grid;
        double tolerance;
    } cases[] = {
        {box, 1e-15},
        {{.origin_A = {-5.5, 12, 0.25}, .step_A = LEY_STEPS(0.5, 0.5, 0.5), .n = {17, 1, 9}}, 0},
        {{.origin_A = {1e-7, -123.456789012345678, 5}, .step_A = LEY_STEPS(1. / 3, 0.3, 1e-3), .n = {3, 7, 2}}, 1e-6},
        {{.origin_A = {-1.5, 2.25, 0.625},
          .step_A = {{0.5, 0, 0}, {-0.25, 0.75, 0}, {0.125, 0.1, 0.625}},
          .n = {17, 5, 9}},
         1e-6},
        {{.step_A = LEY_STEPS(0.1, 0.2, 0.7), .n = {2, 200, 300}}, 1e-15},
        /* Next to whole numbers of steps, by what float32 tells. */
        {{.origin_A = {5000.001, -9999.999, 1000.0002}, .step_A = LEY_STEPS(0.5, 0.25, 0.5), .n = {3, 4, 2}}, 1e-15},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t size;
        ley_map *map = maps_make(&cases[i].grid);
        free(maps_write_both_ways(map, NAME, NULL, &size));
        ley_map *again = maps_read(NAME);
        maps_assert_same_values(map, again);
        maps_assert_same_grids(map, again, cases[i].tolerance);
        assert_string_equal(ley_map_units(again), "kT/e");
        ley_map_destroy(again);
        ley_map_destroy(map);
    }
    assert_int_equal(maps_count_files(), 1);
}

static void test_not_written(void **state)
{
    ley_error error = {0};
    const bool cancelled = true;
    static const ley_grid turned = {.step_A = {{0.1, 0.5, 0}, {0.5, 0, 0}, {0, 0, 1}}, .n = {2, 2, 2}};
    static const char told[] =
        ": an MRC map's first axis must be along +x, its second in the plane of x and y, towards "
        "+y, its third towards +z: the step along axis 1 is (0.1, 0.5, 0) A; "
        "names that end in .dx, .cube, .npy or .raw are those of formats that hold any steps";
    ley_map *map = maps_make(&turned), *stored = NULL;
    assert_int_equal(ley_map_write(map, NAME, NULL, NULL, NULL, &error), LEY_ERROR_INPUT);
    assert_string_equal(error.message + strlen(NAME), told);
    assert_int_equal(ley_map_create_file(&turned, NAME, &stored, &error), LEY_ERROR_INPUT);
    assert_string_equal(error.message + strlen(NAME), told);
    ley_map_destroy(map);
    map = maps_make(&box);
    assert_int_equal(ley_map_write(map, NAME, NULL, NULL, &cancelled, &error), LEY_CANCELLED);
    ley_map_values(map)[7] = NAN;
    assert_int_equal(ley_map_write(map, NAME, NULL, NULL, NULL, &error), LEY_ERROR_INPUT);
    assert_string_equal(error.message, NAME ": the map is not a number at point (2, 1, 0)");
    assert_ok(ley_map_create_raw(&box, NAME, &stored, &error));
    ley_map_destroy(stored);
    ley_map_destroy(map);
    assert_int_equal(maps_count_files(), 0);
}

/* Where a map begins is told once: some readers add ORIGIN and NSTART up. */
static void test_one_place(void **state)
{
    static const char *const names[] = {"a.mrc", "a.ccp4", "a.map", "a.MAP.gz"};
    static const struct {
        double origin_A[3];
        int start[3]; /* of crystallography's files; all 0: by ORIGIN */
    } cases[] = {{{-6, -6, -6}, {-12, -8, -6}},
                 {{-2.5, 3.75, 1}, {-5, 5, 1}},
                 {{0, 0, 0}, {0, 0, 0}},
                 {{0.1, 3.75, 1}, {0, 0, 0}},
                 {{-1234.5, 0, 0}, {-2469, 0, 0}}};
    for (size_t i = 0; i < 4 * sizeof cases / sizeof *cases; i++) {
        const char *name = names[i % 4];
        ley_grid l = {.step_A = LEY_STEPS(0.5, 0.75, 1), .n = {3, 4, 2}};
        memcpy(l.origin_A, cases[i / 4].origin_A, sizeof l.origin_A);
        const int *start = cases[i / 4].start;
        const bool by_start = i % 4 > 0 && (start[0] != 0 || start[1] != 0 || start[2] != 0);
        ley_map *map = maps_make(&l);
        size_t size;
        free(maps_write_both_ways(map, name, NULL, &size));
        gzFile file = gzopen(name, "rb");
        char bytes[HEADER];
        assert_int_equal(gzread(file, bytes, HEADER), HEADER);
        gzclose(file);
        for (int axis = 0; axis < 3; axis++) {
            assert_int_equal(word_at(bytes, 5 + axis), by_start ? start[axis] : 0);
            assert_true(float_at(bytes, 50 + axis) == (by_start ? 0 : (double)(float)l.origin_A[axis]));
        }
        ley_map *again = maps_read(name);
        maps_assert_same_grids(map, again, 0);
        assert_null(ley_map_remark(again));
        ley_map_destroy(again);
        ley_map_destroy(map);
    }
}

/* ---- What is read ---------------------------------------------------------------------------- */

/* In every mode and order of bytes, behind another header, with columns along z. */
static void test_files_of_others(void **state)
{
    static const int modes[] = {0, 1, 2, 6, 12}, bytes[] = {1, 2, 4, 2, 2};
    for (int k = 0; k < 10; k++) {
        const int mode = modes[k / 2], each = bytes[k / 2];
        other_file f = begin_other(k % 2 == 1, mode);
        put_int(&f, 24, 160);
        f.size = HEADER + 160;
        for (int i = 0; i < 60; i++, f.size += (size_t)each) {
            const float value = (float)(i - (mode == 6 ? 0 : 30));
            uint32_t bits;
            memcpy(&bits, &value, sizeof bits);
            /* Half precision: its exponent is 112 less; none of these values is below 1. */
            const uint32_t half = value == 0 ? 0 : (bits >> 16 & 0x8000) | ((bits >> 13 & 0x3ffff) - (112 << 10));
            put(&f, f.size, mode == 2 ? bits : mode == 12 ? half : (uint32_t)(int)value, each);
        }
        write_other(&f);
        ley_map *map = maps_read(NAME);
        const ley_grid *l = ley_map_grid(map);
        assert_true(l->n[0] == 4 && l->n[1] == 5 && l->n[2] == 3);
        assert_true(l->step_A[0][0] == 1.5 && l->step_A[1][1] == 0.75 && l->step_A[2][2] == 0.5);
        assert_true(l->origin_A[0] == -3 && l->origin_A[1] == 0 && l->origin_A[2] == 3.5);
        for (int i = 0; i < 60; i++) {
            const int z = i % 3, x = i / 3 % 4, y = i / 12;
            assert_true(ley_map_read_values(map)[x + 4 * (y + 5 * z)] == (float)(i - (mode == 6 ? 0 : 30)));
        }
        assert_string_equal(ley_map_units(map), "");
        ley_map_destroy(map);
    }
}

/* ORIGIN is where the map begins, where it is anything; a stamp of old programs, no angles, and
 * more bytes than asked for are taken. */
static void test_what_is_taken(void **state)
{
    other_file f = begin_other(true, 0);
    f.size = HEADER + 61;
    put_float(&f, 50, 1.25f);
    put_float(&f, 52, -7.1f);
    f.bytes[212] = f.bytes[213] = 0;
    for (int i = 0; i < 3; i++)
        put_float(&f, 14 + i, 0);
    put_int(&f, 56, 2);
    memcpy(f.bytes + 304, "Electrostatic Potential (V)", 27);
    write_other(&f);
    ley_map *map = maps_read(NAME);
    assert_true(ley_map_grid(map)->origin_A[0] == 1.25 && ley_map_grid(map)->origin_A[1] == 0);
    assert_true(ley_map_grid(map)->origin_A[2] == -7.1 && ley_map_grid(map)->step_A[1][0] == 0);
    assert_string_equal(ley_map_units(map), "V");
    ley_map_destroy(map);
}

/* Either of ORIGIN and NSTART, and both where they are one place, as all of our files were once.
 * Where they are two it is ORIGIN, and the map says so. */
static void test_which_place(void **state)
{
    static const struct {
        int start[3];
        float origin_A[3];
        double expected_A[3];
        const char *says; /* NULL: nothing; "!...": it is refused with this */
    } cases[] = {
        {{-2, 0, 7}, {0, 0, 0}, {-3, 0, 3.5}, NULL},
        {{0, 0, 0}, {1.25f, 0, -7.1f}, {1.25, 0, -7.1}, NULL},
        {{-2, 1, 7}, {-3, 0.75f, 3.5f}, {-3, 0.75, 3.5}, NULL},
        {{-2, 0, 7},
         {1, 2, 3},
         {1, 2, 3},
         "a.mrc: ORIGIN (words 50 to 52) and NSTART (words 5 to 7) tell two places, "
         "(1, 2, 3) and (-3, 0, 3.5) A: ORIGIN was taken"},
        {{-2, 0, 7}, {NAN, 0, 0}, {-3, 0, 3.5}, "a.mrc: ORIGIN (words 50 to 52) is (nan, 0, 0) and was not taken"},
        {{0, 0, 0}, {0, INFINITY, 0}, {0}, "!: ORIGIN (words 50 to 52) is (0, inf, 0) A, which is no place; write"},
        {{0, 0, 0}, {NAN, 0, 0}, {0}, "!: ORIGIN (words 50 to 52) is (nan, 0, 0) A, which is no place; write there"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static const int fastest[3] = {2, 0, 1}; /* the axes of columns, rows and sections */
        other_file f = begin_other(i % 2 == 1, 0);
        f.size = HEADER + 60;
        for (int k = 0; k < 3; k++) {
            put_int(&f, 5 + k, cases[i].start[fastest[k]]);
            put_float(&f, 50 + k, cases[i].origin_A[k]);
        }
        write_other(&f);
        if (cases[i].says != NULL && cases[i].says[0] == '!') {
            ley_map *none = NULL;
            ley_error error = {0};
            assert_int_equal(ley_map_read(NAME, &none, &error), LEY_ERROR_INPUT);
            assert_non_null(strstr(error.message, cases[i].says + 1));
            continue;
        }
        ley_map *map = maps_read(NAME);
        for (int axis = 0; axis < 3; axis++)
            assert_true(ley_map_grid(map)->origin_A[axis] == cases[i].expected_A[axis]);
        if (cases[i].says == NULL)
            assert_null(ley_map_remark(map));
        else
            assert_non_null(strstr(ley_map_remark(map), cases[i].says));
        ley_map_destroy(map);
    }
}

/* What is left out, or wrong, where one meaning is left. */
static void test_one_meaning(void **state)
{
    static const struct {
        bool is_big;
        int words[4][2]; /* that are changed; a number of 0 ends them */
        const char *says;
        const char *refused;
    } cases[] = {
        {false, {{54, 0x1111}}, "the machine stamp (word 54) says big-endian, but the axes (MAPC", NULL},
        {true, {{54, 0x44440000}}, "the machine stamp (word 54) says little-endian, but the axes (MAPC", NULL},
        {false, {{54, 0}}, NULL, NULL},
        {true, {{54, 0}}, NULL, NULL},
        {false, {{53, 0}}, "the word MAP (word 53) is missing", NULL},
        {true, {{53, 0}, {54, 0}}, "the word MAP (word 53) is missing", NULL},
        {false, {{53, 0}, {28, 20140}, {50, 0x3f800000}}, "from before 2000; ORIGIN (words 50 to 52) and NSTART", NULL},
        {false,
         {{53, 0}, {6, 0}, {5, 0}, {50, 0x3f800000}},
         NULL,
         ": ORIGIN (words 50 to 52) is (1, 0, 0) A, if that is what it is: the word MAP (word 53), with which it would "
         "be, is missing; write there"},
        {false,
         {{53, 0}, {17, 0}, {18, 0}, {19, 0}},
         NULL,
         ": no MRC map: neither is the word MAP (word 53) where it should be, nor are axes (MAPC, MAPR, MAPS, words 17 "
         "to 19)"},
        {false, {{17, 0}}, NULL, ": the axes of columns, rows and sections (MAPC, MAPR, MAPS, words 17 to 19) are 0"},
        {false, {{23, 0}}, NULL, NULL},
        {false,
         {{23, 0}, {10, 1}},
         NULL,
         ": 5 pictures and no volume, as ISPG (word 23) is 0 and MZ (word 10) is 1; of"},
        {false, {{23, 401}, {10, 1}}, NULL, ": 5 sections of volumes of 1 each, as ISPG (word 23) is 401; only one"},
        {false, {{23, 401}, {10, 5}}, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ley_map *map = NULL;
        ley_error error = {0};
        other_file f = begin_other(cases[i].is_big, 0);
        f.size = HEADER + 60;
        for (int k = 0; k < 4 && cases[i].words[k][0] != 0; k++)
            put_int(&f, cases[i].words[k][0], cases[i].words[k][1]);
        write_other(&f);
        const ley_status status = ley_map_read(NAME, &map, &error);
        if (cases[i].refused != NULL) {
            assert_int_equal(status, LEY_ERROR_INPUT);
            if (strstr(error.message, cases[i].refused) == NULL)
                fail_msg("%s: not '%s'", error.message, cases[i].refused);
            continue;
        }
        assert_ok(status);
        assert_true(ley_map_grid(map)->n[0] == 4 && ley_map_grid(map)->step_A[0][0] == 1.5);
        if (cases[i].says == NULL ? ley_map_remark(map) != NULL
                                  : ley_map_remark(map) == NULL || strstr(ley_map_remark(map), cases[i].says) == NULL)
            fail_msg("case %zu: '%s', not '%s'", i, ley_map_remark(map), cases[i].says);
        ley_map_destroy(map);
    }
}

/* All axes 0: x is fastest. */
static void test_no_axes(void **state)
{
    other_file f = begin_other(true, 0);
    f.size = HEADER + 60;
    f.bytes[212] = f.bytes[213] = 0;
    for (int word = 17; word <= 19; word++)
        put_int(&f, word, 0);
    write_other(&f);
    ley_map *map = maps_read(NAME);
    const int64_t *n = ley_map_grid(map)->n;
    assert_true(n[0] == 3 && n[1] == 4 && n[2] == 5);
    assert_non_null(strstr(ley_map_remark(map), NAME ": the axes (MAPC, MAPR, MAPS, words 17 to 19) are 0: columns"));
    ley_map_destroy(map);
}

static void test_bad_files(void **state)
{
    static const struct {
        int word, value;
        const char *message;
    } cases[] = {
        {14, 0x7fc00000, ": the cell's angles (CELLB, words 14 to 16) are nan, 90 and 90 degrees"},
        {17, 2,
         ": the axes of columns, rows and sections (MAPC, MAPR, MAPS, words 17 to 19) are 2, 1, 2; they must be 1, 2 "
         "and "
         "3 in some order, 1, 2, 3 where x is fastest"},
        {4, 4, ": values of mode 4 (MODE, word 4); only 0, 1, 2, 6 and 12 can be read"},
        {2, 0, ": 0 rows (NY, word 2)"},
        {3, -1, ": -1 sections (NZ, word 3)"},
        {8, 0,
         ": MX (word 8), in how many steps the cell's edge a of 15 A is divided, is 0: write that number there, 4 "
         "where "
         "the edge is that of the map"},
        {12, 0,
         ": the cell's edge b (CELLA, word 12) is 0 A in 20 steps: write there how long it is, the step's length times "
         "MY"},
        {14, 0x43340000, ": the cell's angles (CELLB, words 14 to 16) are 180, 90 and 90 degrees"},
        {14, 0x3727c5ac, ": grid: its three steps lie in a plane, or two of them on a line"},
        {24, -1, ": an extended header of -1 bytes (NSYMBT, word 24)"},
        {24, 1000000000, ": cut short: 1084 bytes, but headers of 1000001024 and 60 points of 1 bytes are to be there"},
        {1, 2000000000, ": grid: 2000000000 points along z, must be 1 to 1073741824"},
        {1, 1000000000,
         ": cut short: 1084 bytes, but headers of 1024 and 20000000000 points of 1 bytes are to be there"},
        {4, 2, ": cut short: 1084 bytes, but headers of 1024 and 60 points of 4 bytes are to be there"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        other_file f = begin_other(false, 0);
        f.size = HEADER + 60;
        put_int(&f, cases[i].word, cases[i].value);
        write_other(&f);
        maps_expect_bad(NAME, cases[i].message);
    }
    other_file f = begin_other(false, 2);
    f.size = HEADER + 240;
    put_int(&f, HEADER / 4 + 1 + 5, 0x7f800000);
    write_other(&f);
    maps_expect_bad(NAME, ": the map is infinite at point (1, 0, 2)");
    f.size = HEADER - 1;
    write_other(&f);
    maps_expect_bad(NAME, ": cut short: 1023 bytes, but a header takes 1024");
    ley_error error = {0};
    ley_map *map = NULL;
    assert_int_equal(unlink(NAME), 0);
    assert_int_equal(ley_map_read(NAME, &map, &error), LEY_ERROR_FILE);
    assert_string_equal(error.message, NAME ": No such file or directory");
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup(test, maps_begin)
    const struct CMUnitTest tests[] = {TEST(test_header),    TEST(test_round_trips),     TEST(test_not_written),
                                       TEST(test_one_place), TEST(test_which_place),     TEST(test_one_meaning),
                                       TEST(test_no_axes),   TEST(test_files_of_others), TEST(test_what_is_taken),
                                       TEST(test_bad_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
