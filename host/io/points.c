/* Lists of points, and of atoms that these exclude. docs/formats.md has the rules that are applied
 * here. */
#include "target/points.h"
#include "error.h"
#include "io/npy.h"
#include "io/points.h"
#include "io/text_pieces.h"
#include "leyden.h"
#include "memory.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COORDINATES = 3, MOST_COLUMNS = 64, PIECE_BYTES = 1 << 20 };

static const double farthest_A = 1e8;

typedef struct word {
    const char *at;
    size_t length;
} word;

/* Where a line's coordinates are. */
typedef struct columns {
    size_t at[COORDINATES];
    size_t looked_at; /* so many words of a line */
    bool are_named;   /* by the header: others may be between and behind them */
} columns;

static const columns first_three = {{0, 1, 2}, COORDINATES + 1, false};

typedef struct point_list {
    int64_t n, capacity;
    double *point_A;
} point_list;

static bool enlarge(point_list *list, int64_t points)
{
    double *larger = realloc(list->point_A, (size_t)points * COORDINATES * sizeof *larger);
    if (larger == NULL)
        return false;
    list->point_A = larger;
    list->capacity = points;
    return true;
}

static double bytes_of(int64_t points)
{
    return (double)points * COORDINATES * sizeof(double);
}

static ley_status append(point_list *list, const double point_A[COORDINATES], const ley_text *text, ley_error *error)
{
    if (list->n == INT32_MAX)
        return ley_text_fail(text, error, "more than %d points", INT32_MAX);
    if (list->n == list->capacity) {
        const int64_t more = (int64_t)ley_text_room((size_t)list->capacity);
        const ley_status status = ley_text_check_growth(text, "reading the points", bytes_of(list->capacity),
                                                        bytes_of(more), "fewer points", error);
        if (status != LEY_OK)
            return status;
        if (!enlarge(list, more))
            return ley_fail_memory(error, (size_t)bytes_of(more), "points");
    }
    memcpy(list->point_A + COORDINATES * list->n++, point_A, COORDINATES * sizeof(double));
    return LEY_OK;
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && ley_is_space(*at))
        at++;
    return at;
}

/* The words of a line up to a comment, `most` of them at most. A comma separates, with blanks
 * around it or not, so that two of them enclose an empty word. */
static size_t split(const char *line, size_t length, word *words, size_t most)
{
    const char *comment = memchr(line, '#', length), *end = comment != NULL ? comment : line + length;
    const char *at = skip_blanks(line, end);
    size_t n = 0;
    bool comma = false;
    while (n < most && (at < end || comma)) {
        words[n].at = at;
        while (at < end && *at != ',' && !ley_is_space(*at))
            at++;
        words[n].length = (size_t)(at - words[n].at);
        n++;
        at = skip_blanks(at, end);
        comma = at < end && *at == ',';
        if (comma)
            at = skip_blanks(at + 1, end);
    }
    return n;
}

static bool is_quoted(word w)
{
    return w.length > 1 && (w.at[0] == '"' || w.at[0] == '\'');
}

/* As "1;2;3" does, or a number in quotes. */
static bool begins_as_number(word w)
{
    return memchr("0123456789+-.", w.at[is_quoted(w)], sizeof "0123456789+-." - 1) != NULL;
}

/* Names of columns: none of them is a number, nor begins as one. */
static bool is_header(const word *words, size_t n)
{
    bool all_words = true;
    for (size_t i = 0; i < n; i++) {
        double value;
        all_words = all_words && words[i].length > 0 && !begins_as_number(words[i]) &&
                    ley_parse_double(words[i].at, words[i].length, &value) == LEY_NUMBER_NONE;
    }
    return all_words;
}

/* x, y and z where the header names all three of them, in quotes or not. */
static columns columns_of(const word *words, size_t n)
{
    static const char *const names[COORDINATES] = {"X", "Y", "Z"};
    columns named = {.are_named = true};
    for (size_t axis = 0; axis < COORDINATES; axis++) {
        size_t i = 0;
        for (; i < n; i++) {
            const size_t quotes = is_quoted(words[i]);
            if (words[i].length == 1 + 2 * quotes && ley_word_is(words[i].at + quotes, 1, names[axis]))
                break;
        }
        if (i == n)
            return first_three;
        named.at[axis] = i;
        named.looked_at = i + 1 > named.looked_at ? i + 1 : named.looked_at;
    }
    return named;
}

static ley_status read_point(const ley_text *text, const word *words, size_t n, const columns *where, point_list *list,
                             ley_error *error)
{
    double point_A[COORDINATES];
    for (size_t i = 0; i < COORDINATES; i++) {
        const size_t column = where->at[i];
        if (column >= n || words[column].length == 0)
            return ley_text_fail(text, error, "no %c", 'x' + (int)i);
        char quote[LEY_TEXT_QUOTE];
        const word w = words[column];
        const ley_number kind = ley_parse_double(w.at, w.length, &point_A[i]);
        const char *complaint = kind != LEY_NUMBER_FINE             ? ley_number_complaint(kind)
                                : !(fabs(point_A[i]) <= farthest_A) ? "is not within 1e8 A"
                                                                    : NULL;
        if (complaint != NULL)
            return ley_text_fail(text, error, "%c %s %s", 'x' + (int)i, ley_quote(w.at, w.length, quote), complaint);
    }
    if (n > COORDINATES && !where->are_named)
        return ley_text_fail(text, error, "more than three numbers");
    return append(list, point_A, text, error);
}

/* Passes over the lines that are empty in front of the first other one, and over that where it is a
 * header, which says where the coordinates are. Else that line is a point. */
static ley_status read_start(ley_text *text, columns *where, point_list *list, ley_error *error)
{
    *where = first_three;
    for (size_t n = 0; n == 0;) {
        const char *line;
        size_t length;
        word words[MOST_COLUMNS];
        const ley_status status = ley_text_line(text, &line, &length, error);
        if (status != LEY_OK || line == NULL)
            return status;
        n = split(line, length, words, MOST_COLUMNS);
        if (n > 0 && !is_header(words, n))
            return read_point(text, words, n, where, list, error);
        if (n > 0)
            *where = columns_of(words, n);
    }
    return LEY_OK;
}

/* The lines that begin in front of `end`. */
static ley_status read_lines(ley_text *text, int64_t end, const columns *where, point_list *list, ley_error *error)
{
    while (ley_text_position(text) < end) {
        const char *line;
        size_t length;
        ley_status status = ley_text_line(text, &line, &length, error);
        if (status != LEY_OK || line == NULL)
            return status;
        word words[MOST_COLUMNS];
        const size_t n = split(line, length, words, where->looked_at);
        if (n > 0)
            status = read_point(text, words, n, where, list, error);
        if (status != LEY_OK)
            return status;
    }
    return LEY_OK;
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

typedef struct piece_reader {
    columns where;
    point_list *piece; /* of each worker */
    point_list *list;
} piece_reader;

static bool read_piece(void *context, size_t i, ley_text *text, int64_t end, size_t worker)
{
    const piece_reader *r = context;
    point_list *piece = &r->piece[worker];
    columns where = r->where;
    piece->n = 0;
    return (i > 0 || read_start(text, &where, piece, NULL) == LEY_OK) &&
           read_lines(text, end, &where, piece, NULL) == LEY_OK;
}

static text_piece_put put_piece(void *context, int64_t lines, size_t worker)
{
    (void)lines;
    const piece_reader *r = context;
    const point_list *piece = &r->piece[worker];
    point_list *list = r->list;
    const int64_t n = list->n + piece->n;
    if (n > list->capacity) {
        const int64_t more = (int64_t)ley_text_room((size_t)n);
        if (n > INT32_MAX ||
            memory_check_growth("reading the points", bytes_of(list->capacity), bytes_of(more), "fewer points", NULL) !=
                LEY_OK ||
            !enlarge(list, more))
            return TEXT_PIECE_REFUSED;
    }
    if (piece->n > 0)
        memcpy(list->point_A + COORDINATES * list->n, piece->point_A, (size_t)bytes_of(piece->n));
    list->n = n;
    return TEXT_PIECE_TAKEN;
}

/* Where the coordinates are, by the beginning of the file, which must lie in the first piece. */
static bool find_columns(const char *path, int64_t piece_bytes, columns *where)
{
    ley_text *text;
    point_list none = {0};
    if (ley_text_open_piece(path, 0, &text, NULL) != LEY_OK)
        return false;
    const bool is_found = read_start(text, where, &none, NULL) == LEY_OK && ley_text_position(text) <= piece_bytes;
    free(none.point_A);
    ley_text_close(text);
    return is_found;
}

static bool read_pieces(const char *path, int threads, int64_t piece_bytes, point_list *list)
{
    const size_t workers = (size_t)threads;
    piece_reader r = {.list = list};
    const text_pieces pieces = {.path = path,
                                .size = threads > 1 ? ley_text_plain_size(path) : -1,
                                .piece_bytes = piece_bytes,
                                .workers = workers,
                                .context = &r,
                                .read = read_piece,
                                .put = put_piece};
    if (pieces.size < 2 * piece_bytes || !find_columns(path, piece_bytes, &r.where))
        return false;
    r.piece = calloc(workers, sizeof *r.piece);
    const bool is_read = r.piece != NULL && text_pieces_read(&pieces);
    for (size_t i = 0; r.piece != NULL && i < workers; i++)
        free(r.piece[i].point_A);
    free(r.piece);
    return is_read;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static ley_status read_text(ley_stream *stream, point_list *list, ley_error *error)
{
    ley_text *text;
    columns where;
    ley_status status = ley_text_open_stream(stream, &text, error);
    if (status != LEY_OK)
        return status;
    status = read_start(text, &where, list, error);
    if (status == LEY_OK)
        status = read_lines(text, INT64_MAX, &where, list, error);
    ley_text_close(text);
    return status;
}

static ley_status read_list(ley_stream *stream, int threads, int64_t piece_bytes, point_list *list, ley_error *error)
{
    const char *path = ley_stream_path(stream);
    unsigned char front[8];
    size_t got;
    ley_status status = ley_stream_peek(stream, front, sizeof front, &got, error);
    if (status == LEY_OK && npy_is(front, got))
        return npy_read_points(stream, &list->n, &list->point_A, error);
    if (status == LEY_OK && !read_pieces(path, threads, piece_bytes, list)) {
        list->n = 0;
        status = read_text(stream, list, error);
    }
    return status == LEY_OK && list->n == 0 ? ley_fail(error, LEY_ERROR_INPUT, "%s: no points", path) : status;
}

ley_status points_read_pieces(const char *path, int threads, int64_t piece_bytes, int64_t *n, double **point_A,
                              ley_error *error)
{
    ley_stream *stream;
    ley_status status = ley_stream_open(path, &stream, error);
    if (status != LEY_OK)
        return status;
    point_list list = {0};
    status = read_list(stream, threads, piece_bytes, &list, error);
    ley_stream_close(stream);
    if (status != LEY_OK) {
        free(list.point_A);
        return status;
    }
    *n = list.n;
    *point_A = list.point_A;
    return LEY_OK;
}

ley_status ley_points_read(const char *path, int64_t *n, double **point_A, ley_error *error)
{
    return points_read_pieces(path, parallel_cores(), PIECE_BYTES, n, point_A, error);
}

/* ---- Atoms that points exclude --------------------------------------------------------------- */

typedef struct exclusion_lists {
    int64_t points, n; /* lines so far */
    int64_t atoms;
    int64_t *first;
    int64_t count, capacity;
    int64_t *atom;
} exclusion_lists;

static ley_status append_atom(exclusion_lists *lists, int64_t atom, const ley_text *text, ley_error *error)
{
    if (lists->count == lists->capacity) {
        const int64_t more = (int64_t)ley_text_room((size_t)lists->capacity);
        const size_t bytes = (size_t)more * sizeof *lists->atom;
        const ley_status status =
            ley_text_check_growth(text, "reading the atoms to exclude", (double)lists->capacity * sizeof *lists->atom,
                                  (double)bytes, "fewer atoms in them", error);
        int64_t *larger = status == LEY_OK ? realloc(lists->atom, bytes) : NULL;
        if (larger == NULL)
            return status != LEY_OK ? status : ley_fail_memory(error, bytes, "the lists of atoms to exclude");
        lists->atom = larger;
        lists->capacity = more;
    }
    lists->atom[lists->count++] = atom;
    return LEY_OK;
}

/* One point's: numbers from 1, or a hyphen. */
static ley_status read_exclusions(const ley_text *text, const char *line, size_t length, exclusion_lists *lists,
                                  ley_error *error)
{
    const char *comment = memchr(line, '#', length), *end = comment != NULL ? comment : line + length, *at = line;
    size_t words = 0;
    for (;; words++) {
        while (at < end && (*at == ',' || ley_is_space(*at)))
            at++;
        const char *number_at = at;
        while (at < end && *at != ',' && !ley_is_space(*at))
            at++;
        const size_t n = (size_t)(at - number_at);
        double number;
        char quote[LEY_TEXT_QUOTE];
        if (n == 0)
            break;
        if (lists->n == lists->points)
            return ley_text_fail(text, error, "more lines than points, of which there %s %lld",
                                 lists->points == 1 ? "is" : "are", (long long)lists->points);
        if (n == 1 && *number_at == '-')
            continue;
        if (ley_parse_double(number_at, n, &number) != LEY_NUMBER_FINE || number != floor(number) || number < 1)
            return ley_text_fail(text, error,
                                 "%s is no atom's number: they count from 1; a point that excludes none "
                                 "has a -",
                                 ley_quote(number_at, n, quote));
        if (number > (double)lists->atoms)
            return ley_text_fail(text, error, "there is no atom number %s: the molecule has %lld atom%s",
                                 ley_quote(number_at, n, quote), (long long)lists->atoms, lists->atoms == 1 ? "" : "s");
        const ley_status status = append_atom(lists, (int64_t)number - 1, text, error);
        if (status != LEY_OK)
            return status;
    }
    if (words > 0)
        lists->first[++lists->n] = lists->count;
    return LEY_OK;
}

ley_status ley_points_read_exclusions(ley_points *points, const ley_atoms *atoms, const char *path, ley_error *error)
{
    ley_text *text;
    ley_status status = ley_text_open(path, &text, error);
    if (status != LEY_OK)
        return status;
    const int64_t n = ley_points_count(points);
    exclusion_lists lists = {
        .points = n, .atoms = (int64_t)ley_atoms_count(atoms), .first = calloc((size_t)n + 1, sizeof *lists.first)};
    if (lists.first == NULL)
        status = ley_fail_memory(error, (size_t)n * sizeof *lists.first, "the lists of atoms to exclude");
    const char *line = "";
    while (status == LEY_OK && line != NULL) {
        size_t length;
        status = ley_text_line(text, &line, &length, error);
        if (status == LEY_OK && line != NULL)
            status = read_exclusions(text, line, length, &lists, error);
    }
    if (status == LEY_OK && lists.n < n)
        status = ley_fail(error, LEY_ERROR_INPUT,
                          "%s: %lld line%s for %lld point%s: each point has a line, a - where it excludes no atom",
                          path, (long long)lists.n, lists.n == 1 ? "" : "s", (long long)n, n == 1 ? "" : "s");
    ley_text_close(text);
    if (status == LEY_OK)
        return points_take_excluded(points, lists.first, lists.atom, error);
    free(lists.first);
    free(lists.atom);
    return status;
}
