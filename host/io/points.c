/* Lists of points, and of atoms that these exclude. docs/formats.md has the rules that are applied
 * here. */
#include "target/points.h"
#include "error.h"
#include "io/text.h"
#include "leyden.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COORDINATES = 3, WORDS_MAX = COORDINATES + 1 };

static const double farthest_A = 1e8;

typedef struct word {
    const char *at;
    size_t length;
} word;

typedef struct point_list {
    int64_t n, capacity;
    double *point_A;
} point_list;

static ley_status append(point_list *list, const double point_A[COORDINATES], const ley_text *text, ley_error *error)
{
    if (list->n == INT32_MAX)
        return ley_text_fail(text, error, "more than %d points", INT32_MAX);
    if (list->n == list->capacity) {
        const int64_t more = (int64_t)ley_text_room((size_t)list->capacity);
        const size_t bytes = (size_t)more * COORDINATES * sizeof(double),
                     old_bytes = (size_t)list->capacity * COORDINATES * sizeof(double);
        ley_status status =
            ley_text_check_growth(text, "reading the points", (double)old_bytes, (double)bytes, "fewer points", error);
        if (status != LEY_OK)
            return status;
        double *larger = realloc(list->point_A, bytes);
        if (larger == NULL)
            return ley_fail_memory(error, bytes, "points");
        list->point_A = larger;
        list->capacity = more;
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

/* The words of a line up to a comment, as far as there is room. A comma separates, with blanks
 * around it or not, so that two of them enclose an empty word. */
static size_t split(const char *line, size_t length, word words[WORDS_MAX])
{
    const char *comment = memchr(line, '#', length), *end = comment != NULL ? comment : line + length;
    const char *at = skip_blanks(line, end);
    size_t n = 0;
    bool comma = false;
    while (n < WORDS_MAX && (at < end || comma)) {
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

/* As "1;2;3" does, or a number in quotes. */
static bool begins_as_number(word w)
{
    const bool is_quoted = w.length > 1 && (w.at[0] == '"' || w.at[0] == '\'');
    return memchr("0123456789+-.", w.at[is_quoted], sizeof "0123456789+-." - 1) != NULL;
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

static ley_status read_point(const ley_text *text, const word *words, size_t n, point_list *list, ley_error *error)
{
    double point_A[COORDINATES];
    for (size_t i = 0; i < COORDINATES; i++) {
        if (i >= n || words[i].length == 0)
            return ley_text_fail(text, error, "no %c", 'x' + (int)i);
        char quote[LEY_TEXT_QUOTE];
        ley_number kind = ley_parse_double(words[i].at, words[i].length, &point_A[i]);
        const char *complaint = kind != LEY_NUMBER_FINE             ? ley_number_complaint(kind)
                                : !(fabs(point_A[i]) <= farthest_A) ? "is not within 1e8 A"
                                                                    : NULL;
        if (complaint != NULL)
            return ley_text_fail(text, error, "%c %s %s", 'x' + (int)i, ley_quote(words[i].at, words[i].length, quote),
                                 complaint);
    }
    if (n > COORDINATES)
        return ley_text_fail(text, error, "more than three numbers");
    return append(list, point_A, text, error);
}

static ley_status read_lines(ley_text *text, point_list *list, ley_error *error)
{
    for (bool first = true;;) {
        const char *line;
        size_t length;
        ley_status status = ley_text_line(text, &line, &length, error);
        if (status != LEY_OK || line == NULL)
            return status;
        word words[WORDS_MAX];
        size_t n = split(line, length, words);
        if (n > 0 && !(first && is_header(words, n)))
            status = read_point(text, words, n, list, error);
        if (status != LEY_OK)
            return status;
        first = first && n == 0;
    }
}

ley_status ley_points_read(const char *path, int64_t *n, double **point_A, ley_error *error)
{
    ley_text *text;
    ley_status status = ley_text_open(path, &text, error);
    if (status != LEY_OK)
        return status;
    point_list list = {0};
    status = read_lines(text, &list, error);
    if (status == LEY_OK && list.n == 0)
        status = ley_fail(error, LEY_ERROR_INPUT, "%s: no points", path);
    ley_text_close(text);
    if (status != LEY_OK) {
        free(list.point_A);
        return status;
    }
    *n = list.n;
    *point_A = list.point_A;
    return LEY_OK;
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
