/* Maps are found by what is in their files, packed or not, whatever they are named and wherever
 * they come from. */
#include "binary_maps.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

enum { NAME_BYTES = 64 };

static const ley_grid box = {.origin_A = {-6, 1.5, 3}, .step_A = LEY_STEPS(0.5, 0.75, 1), .n = {7, 5, 3}};

static void assert_is(const ley_map *map, const char *path)
{
    ley_map *read = maps_read(path);
    const float *a = ley_map_read_values(map), *b = ley_map_read_values(read);
    maps_assert_same_grids(map, read, 0);
    for (int64_t i = 0; i < ley_grid_points(&box); i++)
        if (!(a[i] - b[i] <= 1e-6f && b[i] - a[i] <= 1e-6f))
            fail_msg("%s: value %lld is %g, not %g", path, (long long)i, (double)b[i], (double)a[i]);
    assert_null(ley_map_remark(read));
    ley_map_destroy(read);
}

static ley_map *make_map(void)
{
    ley_map *map = maps_make(&box);
    for (int64_t i = 0; i < ley_grid_points(&box); i++)
        ley_map_values(map)[i] = (float)(i % 17 - 8) / 8;
    return map;
}

static void move(const char *from, const char *to)
{
    char from_header[2 * NAME_BYTES], to_header[2 * NAME_BYTES];
    snprintf(from_header, sizeof from_header, "%s.json", from);
    snprintf(to_header, sizeof to_header, "%s.json", to);
    assert_int_equal(rename(from, to), 0);
    unlink(to_header);
    rename(from_header, to_header); /* where there is one */
}

/* Every format, plain and packed, under names that say nothing, or something else. */
static void test_names(void **state)
{
    static const char *const others[] = {"other",      "other.txt", "other.dx", "other.mrc.gz",
                                         "other.cube", "other.npy", "other.st"};
    ley_map *map = make_map();
    const ley_map_format *format;
    for (size_t i = 0; (format = ley_map_format_at(i)) != NULL; i++)
        for (int packed = 0; packed < 2; packed++) {
            char name[NAME_BYTES];
            ley_error error = {0};
            snprintf(name, sizeof name, "map%s%s", format->endings[0], packed ? ".gz" : "");
            for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
                const bool is_raw = strcmp(format->endings[0], ".raw") == 0;
                if (is_raw && strcmp(others[k], "other.npy") == 0)
                    continue; /* numbers, and a name that says that they begin with an array's header */
                assert_ok(ley_map_write(map, name, NULL, NULL, NULL, &error));
                assert_is(map, name);
                move(name, others[k]);
                assert_is(map, others[k]);
                assert_non_null(ley_map_format_found(others[k]));
            }
        }
    ley_map_destroy(map);
}

/* Through a pipe, where there is nothing to go back to. */
static void test_pipes(void **state)
{
    ley_map *map = make_map();
    const ley_map_format *format;
    for (size_t i = 0; (format = ley_map_format_at(i)) != NULL; i++)
        for (int packed = 0; packed < 2 && format->beside == NULL; packed++) {
            char name[NAME_BYTES], path[NAME_BYTES];
            ley_error error = {0};
            size_t size;
            int ends[2], status;
            snprintf(name, sizeof name, "map%s%s", format->endings[0], packed ? ".gz" : "");
            assert_ok(ley_map_write(map, name, NULL, NULL, NULL, &error));
            char *bytes = support_read_file(name, &size);
            assert_int_equal(pipe(ends), 0);
            const pid_t writer = fork();
            if (writer == 0)
                _exit(write(ends[1], bytes, size) == (ssize_t)size ? 0 : 1);
            close(ends[1]);
            snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
            assert_is(map, path);
            close(ends[0]);
            assert_int_equal(waitpid(writer, &status, 0), writer);
            assert_int_equal(status, 0);
            free(bytes);
        }
    ley_map_destroy(map);
}

static void pack(const char *from, const char *to)
{
    size_t size;
    char *bytes = support_read_file(from, &size);
    gzFile file = gzopen(to, "wb");
    assert_int_equal(gzwrite(file, bytes, (unsigned)size), (int)size);
    assert_int_equal(gzclose(file), Z_OK);
    free(bytes);
}

/* Who packs a map with a header beside it, or unpacks one, leaves the header as it was named. */
static void test_headers_beside(void **state)
{
    ley_map *map = make_map();
    ley_error error = {0};
    static const char *const names[] = {"map.raw", "map.npy"};
    for (int i = 0; i < 2; i++) {
        char packed[NAME_BYTES], header[NAME_BYTES];
        snprintf(packed, sizeof packed, "%s.gz", names[i]);
        assert_ok(ley_map_write(map, names[i], NULL, NULL, NULL, &error));
        pack(names[i], packed);
        assert_is(map, packed);
        snprintf(header, sizeof header, "%s.json", names[i]);
        assert_int_equal(unlink(header), 0);
        assert_int_equal(unlink(packed), 0);
        assert_ok(ley_map_write(map, packed, NULL, NULL, NULL, &error));
        assert_is(map, names[i]);
    }
    /* A raw map whose values look like a gzip file's beginning is as long as its header asks for.
     * */
    memcpy(ley_map_values(map), "\x1f\x8b\x08\x00", sizeof(float));
    assert_ok(ley_map_write(map, "like.raw", NULL, NULL, NULL, &error));
    ley_map *again = maps_read("like.raw");
    maps_assert_same_values(map, again);
    ley_map_destroy(again);
    ley_map_destroy(map);
}

static void expect(const char *path, ley_status status, const char *message)
{
    ley_error error = {0};
    ley_map *map = NULL;
    assert_int_equal(ley_map_read(path, &map, &error), status);
    if (strstr(error.message, message) == NULL)
        fail_msg("%s: not '%s'", error.message, message);
    assert_null(map);
}

static void write_packed(const char *path, const void *bytes, size_t size)
{
    gzFile file = gzopen(path, "wb");
    assert_int_equal(gzwrite(file, bytes, (unsigned)size), (int)size);
    assert_int_equal(gzclose(file), Z_OK);
}

/* Packed files that are cut short, too long, or claim more than they can hold. */
static void test_bad_files(void **state)
{
    ley_map *map = make_map();
    ley_error error = {0};
    static const char *const endings[] = {".mrc", ".npy", ".raw", ".dxbin"};
    for (int i = 0; i < 4; i++) {
        char name[NAME_BYTES], packed[NAME_BYTES];
        size_t size;
        snprintf(name, sizeof name, "map%s", endings[i]);
        snprintf(packed, sizeof packed, "map%s.gz", endings[i]);
        assert_ok(ley_map_write(map, name, NULL, NULL, NULL, &error));
        char *bytes = support_read_file(name, &size);
        const size_t cut = i == 3 ? 500 : 8; /* a binary OpenDX file ends with text */
        write_packed(packed, bytes, size - cut);
        expect(packed, LEY_ERROR_INPUT, ": cut short: it ends after ");
        char *longer = calloc(size + 1, 1);
        memcpy(longer, bytes, size);
        write_packed(packed, longer, size + 1);
        if (i == 1 || i == 2)
            expect(packed, LEY_ERROR_INPUT, ": too long: it goes on behind its ");
        free(longer);
        write_packed(packed, bytes, size);
        free(bytes);
        bytes = support_read_file(packed, &size);
        maps_write_bytes(packed, bytes, size - 9);
        expect(packed, LEY_ERROR_INPUT, ": the gzip file is cut short");
        bytes[size - 8] ^= 1; /* of the checksum */
        maps_write_bytes(packed, bytes, size);
        expect(packed, LEY_ERROR_INPUT, ": the gzip file is damaged: ");
        free(bytes);
    }
    assert_ok(ley_map_write(map, "large.mrc", NULL, NULL, NULL, &error));
    size_t size;
    char *bytes = support_read_file("large.mrc", &size);
    for (int i = 0; i < 3; i++)
        memcpy(bytes + 4 * i, "\0\4\0", 4); /* 1024 points along each axis */
    write_packed("large.mrc.gz", bytes, size);
    expect("large.mrc.gz", LEY_ERROR_INPUT, ": cut short: packed, less than ");
    free(bytes);
    maps_write_bytes("no.thing", "\0\1\2\3", 4);
    expect("no.thing", LEY_ERROR_INPUT,
           "no.thing: no map that can be read, by its first bytes: neither OpenDX, MRC, an array of NumPy's nor a cube "
           "file, and the header of a raw map, no.thing.json, is not there");
    assert_null(ley_map_format_found("no.thing"));
    assert_null(ley_map_format_found("none"));
    assert_non_null(ley_map_format_found("none.mrc.gz"));
    maps_write_bytes("text", "ATOM 1\n", 7);
    expect("text", LEY_ERROR_INPUT,
           "text:1: this is a molecule, not a map: leyden map 'text' -o NEW.dx computes one of it");
    ley_map_destroy(map);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup(test, maps_begin)
    const struct CMUnitTest tests[] = {TEST(test_names), TEST(test_pipes), TEST(test_headers_beside),
                                       TEST(test_bad_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
