/* One rule for line ends and byte order marks, in every reader of text: LF, CR LF and a CR alone
 * end a line, UTF-8's mark is passed over, UTF-16 is refused with what makes UTF-8 of it. */
#include "io/text.h"
#include "leyden.h"
#include "support.h"

#include <zlib.h>

enum { TEXT_BYTES = 4096 };

static char path[256];

static void name_file(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", support_directory(), name);
}

static void write_file(const char *bytes, size_t size, bool is_packed)
{
    gzFile file = gzopen(path, is_packed ? "wb" : "wbT");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, bytes, (unsigned)size), size);
    assert_int_equal(gzclose(file), Z_OK);
}

/* ---- Readers --------------------------------------------------------------------------------- */

/* Reads the file at `path`; a word for what it found in it, or NULL. */
typedef const char *reader(ley_error *error);

static char found[128];

static const char *read_atoms(ley_error *error)
{
    ley_atoms *atoms = NULL;
    if (ley_atoms_read(path, &atoms, error) != LEY_OK)
        return NULL;
    snprintf(found, sizeof found, "%zu %g", ley_atoms_count(atoms), ley_atoms_total_charge_e(atoms));
    ley_atoms_destroy(atoms);
    return found;
}

static const char *read_points(ley_error *error)
{
    int64_t n = 0;
    double *point_A = NULL;
    if (ley_points_read(path, &n, &point_A, error) != LEY_OK)
        return NULL;
    snprintf(found, sizeof found, "%d %g", (int)n, point_A[3 * n - 1]);
    free(point_A);
    return found;
}

static const char *read_map(ley_error *error)
{
    ley_map *map = NULL;
    if (ley_map_read(path, &map, error) != LEY_OK)
        return NULL;
    snprintf(found, sizeof found, "%d %g %s", (int)ley_grid_points(ley_map_grid(map)), (double)ley_map_values(map)[7],
             ley_map_units(map));
    ley_map_destroy(map);
    return found;
}

static const char *read_input(ley_error *error)
{
    ley_apbs_input *input = NULL;
    if (ley_apbs_input_read(path, &input, error) != LEY_OK)
        return NULL;
    ley_apbs_input_destroy(input);
    return "read";
}

static const char *read_whole(ley_error *error)
{
    char *text;
    size_t size;
    if (ley_file_read_text(path, TEXT_BYTES, &text, &size, error) != LEY_OK)
        return NULL;
    assert_int_equal(strlen(text), size);
    snprintf(found, sizeof found, "%s", text);
    free(text);
    for (char *at = found; (at = strchr(at, '\r')) != NULL;)
        memmove(at, at + 1, strlen(at)); /* of CR LF: it stays, as no line ends there alone */
    return found;
}

static const struct {
    const char *name, *text, *expected, *wrong; /* wrong: what is put behind its last line, which is refused by line */
    int wrong_line;
    bool may_be_packed;
    reader *read;
} readers[] = {
    {"a.pqr", "REMARK x\nATOM 1 N MET A 1 27.340 24.430 2.614 0.25 1.8240\nATOM 2 O MET A 1 27.3 24.4 3.6 -0.5 1.6\n",
     "2 -0.25", "ATOM x\n", 4, true, read_atoms},
    {"a.txt", "x y z\n# c\n1 2 3\n4 5 6\n", "2 6", "1 2 x\n", 5, true, read_points},
    {"a.dx",
     "# POTENTIAL (V)\nobject 1 class gridpositions counts 2 2 2\norigin 0 0 0\ndelta 1 0 0\ndelta 0 1 0\ndelta 0 0 1\n"
     "object 3 class array type double rank 0 items 8 data follows\n1 2 3 4\n5 6 7 8\n",
     "8 8 V", "9\n", 10, true, read_map},
    {"a.cube", "title\nsecond\n0 0 0 0\n2 1 0 0\n2 0 1 0\n2 0 0 1\n1 2 3 4\n5 6 7 8\n", "8 8 ", "9\n", 9, false,
     read_map},
    {"a.in", "read\nmol pqr a.pqr # c\nend\nelec\nmg-manual\ndime 5 5 5\nend\nquit\n", NULL, NULL, 0, false,
     read_input},
    {"a.json", "{\n}\n", "{\n}\n", NULL, 0, true, read_whole},
};

/* ---- Line ends ------------------------------------------------------------------------------- */

/* The text with other line ends, and a mark in front of it; its size. */
static size_t with_ends(const char *text, const char *end, const char *front, char to[TEXT_BYTES])
{
    size_t n = strlen(front);
    memcpy(to, front, n);
    for (; *text != '\0'; text++) {
        const size_t length = *text == '\n' ? strlen(end) : 1;
        memcpy(to + n, *text == '\n' ? end : text, length);
        n += length;
    }
    to[n] = '\0';
    return n;
}

static const char *const ends[] = {"\n", "\r\n", "\r"}, *const fronts[] = {"", "\xef\xbb\xbf"};

static void every_reader_takes_every_line_end_and_mark(void **state)
{
    for (size_t r = 0; r < sizeof readers / sizeof *readers; r++) {
        for (int i = 0; i < 12; i++) {
            char text[TEXT_BYTES];
            ley_error error = {0};
            const bool is_packed = i >= 6;
            if (is_packed && !readers[r].may_be_packed)
                continue;
            const size_t size = with_ends(readers[r].text, ends[i % 3], fronts[i / 3 % 2], text);
            name_file(readers[r].name);
            write_file(text, size, is_packed);
            const char *what = readers[r].read(&error);
            if (readers[r].expected == NULL) { /* not all of an input, which the line of a complaint shows */
                assert_null(what);
                if (strstr(error.message, "a.in:4: this ELEC section has no ") == NULL)
                    fail_msg("%s", error.message);
            } else if (what == NULL || strcmp(what, readers[r].expected) != 0) {
                fail_msg("%s, %d: \"%s\", not \"%s\": %s", readers[r].name, i, what, readers[r].expected,
                         error.message);
            }
            ley_error_clear(&error);
        }
    }
}

static void lines_are_counted_whatever_ends_them(void **state)
{
    for (size_t r = 0; r < sizeof readers / sizeof *readers; r++) {
        for (int i = 0; i < 6 && readers[r].wrong != NULL; i++) {
            char whole[TEXT_BYTES], text[TEXT_BYTES], place[sizeof path + 16];
            ley_error error = {0};
            snprintf(whole, sizeof whole, "%s%s", readers[r].text, readers[r].wrong);
            const size_t size = with_ends(whole, ends[i % 3], fronts[i / 3], text);
            name_file(readers[r].name);
            write_file(text, size, false);
            assert_null(readers[r].read(&error));
            snprintf(place, sizeof place, "%s:%d: ", path, readers[r].wrong_line);
            if (strncmp(error.message, place, strlen(place)) != 0)
                fail_msg("%s, %d: %s", readers[r].name, i, error.message);
            ley_error_clear(&error);
        }
    }
}

/* CRs at every place in front of and behind the end of a buffer of 256 KiB, plain and packed. */
static void line_ends_where_buffers_end(void **state)
{
    enum { BUFFER = 256 * 1024, LENGTH = 64, LINES = 2 * BUFFER / LENGTH };
    char *text = malloc(LINES * LENGTH + 16);
    assert_non_null(text);
    for (int shift = 0; shift < 4; shift++) {
        for (int kind = 0; kind < 6; kind++) {
            size_t n = 0;
            for (int i = 0; i < LINES; i++) {
                const size_t length = LENGTH + (i == 0 ? (size_t)shift : 0), end = strlen(ends[kind % 3]);
                memset(text + n, 'a' + i % 26, length);
                memcpy(text + n + length - end, ends[kind % 3], end);
                n += length;
            }
            name_file("a.txt");
            write_file(text, n, kind >= 3);
            ley_text *opened;
            assert_int_equal(ley_text_open(path, &opened, NULL), LEY_OK);
            const char *line;
            size_t length;
            for (int i = 0; i < LINES; i++) {
                const size_t expected = LENGTH + (i == 0 ? (size_t)shift : 0) - strlen(ends[kind % 3]);
                assert_int_equal(ley_text_line(opened, &line, &length, NULL), LEY_OK);
                assert_non_null(line);
                if (length != expected || line[0] != 'a' + i % 26 || line[length - 1] != line[0])
                    fail_msg("line %d of kind %d, shift %d: %zu bytes, not %zu", i + 1, kind, shift, length, expected);
                assert_int_equal(ley_text_line_number(opened), i + 1);
            }
            assert_int_equal(ley_text_line(opened, &line, &length, NULL), LEY_OK);
            assert_null(line);
            ley_text_close(opened);
        }
    }
    free(text);
}

/* ---- UTF-16 ---------------------------------------------------------------------------------- */

static size_t widen(const char *text, bool is_big, bool has_mark, char to[2 * TEXT_BYTES])
{
    size_t n = 0;
    if (has_mark) {
        to[n++] = (char)(is_big ? 0xfe : 0xff);
        to[n++] = (char)(is_big ? 0xff : 0xfe);
    }
    for (; *text != '\0'; text++, n += 2) {
        to[n + is_big] = *text;
        to[n + !is_big] = '\0';
    }
    return n;
}

static void every_reader_names_utf_16_and_what_to_type(void **state)
{
    static const char *const names[] = {"UTF-16", "UTF-16", "UTF-16LE", "UTF-16BE"};
    for (size_t r = 0; r < sizeof readers / sizeof *readers; r++) {
        for (int i = 0; i < 8; i++) {
            char text[2 * TEXT_BYTES], message[1024];
            ley_error error = {0};
            const bool is_packed = i >= 4;
            if (is_packed && !readers[r].may_be_packed)
                continue;
            const size_t size = widen(readers[r].text, i % 2 == 1, i % 4 < 2, text);
            name_file(readers[r].name);
            write_file(text, size, is_packed);
            assert_null(readers[r].read(&error));
            assert_int_equal(error.status, LEY_ERROR_INPUT);
            snprintf(message, sizeof message,
                     is_packed
                         ? "%s:1: this text is %s: a file that can be read comes of gzip -dc '%s' | iconv -f %s -t "
                           "UTF-8 > NEW"
                         : "%s:1: this text is %s: a file that can be read comes of iconv -f %s -t UTF-8 '%s' > NEW",
                     path, names[i % 4], is_packed ? path : names[i % 4], is_packed ? names[i % 4] : path);
            assert_string_equal(error.message, message);
            ley_error_clear(&error);
        }
    }
}

int main(void)
{
    return RUN_TESTS(every_reader_takes_every_line_end_and_mark, lines_are_counted_whatever_ends_them,
                     line_ends_where_buffers_end, every_reader_names_utf_16_and_what_to_type);
}
