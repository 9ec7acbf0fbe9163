/* Finds the five numbers of a record: between blanks, and where they touch. */
#include "io/pqr_record.h"

#include "error.h"

#include <stdio.h>
#include <string.h>

enum { FIELDS_MAX = 12, SPLIT_MAX = 32 };

static const char *const number_names[] = {"x", "y", "z", "charge", "radius"};
_Static_assert(sizeof number_names / sizeof *number_names == PQR_NUMBERS, "a name for each number of an atom");

typedef pqr_field field;

/* ---- What a field looks like ----------------------------------------------------------------- */

/* Several rules ask; each field is parsed once. */
static ley_number number_of(field *f)
{
    if (!f->parsed) {
        f->kind = ley_parse_double(f->at, f->length, &f->value);
        f->parsed = true;
    }
    return f->kind;
}

/* Meant as a number, be it a fine one or not. */
static bool is_number(field *f)
{
    return number_of(f) != LEY_NUMBER_NONE;
}

/* A number written with a decimal point, as coordinates are and residue numbers are not. */
static bool has_point(field *f)
{
    return is_number(f) && memchr(f->at, '.', f->length) != NULL;
}

static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Whether a residue number, with or without an insertion code, ends the field, and, when `whole`,
 * is all of it. */
static bool is_residue_number(const field *f, bool whole)
{
    size_t end = f->length;
    if (end > 1 && is_letter(f->at[end - 1]))
        end--;
    size_t start = end;
    while (start > 0 && ley_is_digit(f->at[start - 1]))
        start--;
    size_t sign = start > 0 && (f->at[start - 1] == '-' || f->at[start - 1] == '+') ? 1 : 0;
    return start < end && memchr(f->at, '.', f->length) == NULL && (!whole || start == sign);
}

static size_t points_in(const field *f)
{
    size_t points = 0;
    for (size_t i = 0; i < f->length; i++)
        points += f->at[i] == '.';
    return points;
}

/* Nothing but digits, points and minuses. */
static bool may_be_cut(const field *f)
{
    for (size_t i = 0; i < f->length; i++)
        if (!ley_is_digit(f->at[i]) && f->at[i] != '.' && f->at[i] != '-')
            return false;
    return points_in(f) > 0;
}

/* ---- White space ----------------------------------------------------------------------------- */

static bool are_numbers(field *fields, size_t n, size_t first)
{
    bool all = first + PQR_NUMBERS <= n;
    for (size_t i = first; all && i < first + PQR_NUMBERS; i++)
        all = is_number(&fields[i]);
    return all;
}

static bool have_points(field *fields, size_t first)
{
    return has_point(&fields[first]) && has_point(&fields[first + 1]) && has_point(&fields[first + 2]);
}

/* By the first rule that fits. */
static size_t find_first_fit(field *fields, size_t n)
{
    /* serial name residue chain number x: a chain that might itself be the residue number takes
     * coordinates with points. */
    if (are_numbers(fields, n, 5) && is_residue_number(&fields[4], true) &&
        (!is_residue_number(&fields[3], false) || have_points(fields, 5)))
        return 5;
    /* serial name residue number x */
    if (are_numbers(fields, n, 4) && is_residue_number(&fields[3], true))
        return 4;
    /* Fields grown together: with fewer of them only the points tell a coordinate from a residue
     * number. */
    for (size_t x = 4; x >= 2; x--)
        if (are_numbers(fields, n, x) && is_residue_number(&fields[x - 1], false) && have_points(fields, x))
            return x;
    return 0;
}

/* Whether what is taken for x may be the residue number or stand in front of it: it has no point,
 * others have, and there is more behind the five numbers. Where a name has a blank in it, the chain
 * has been taken for the number. */
static bool may_begin_later(field *fields, size_t n, size_t x)
{
    if (has_point(&fields[x]) || !is_residue_number(&fields[x], true))
        return false;
    bool has_points = false, has_touching = false;
    for (size_t i = x + 1; i < n; i++) {
        has_points = has_points || (i < x + 4 && has_point(&fields[i]));
        has_touching = has_touching || (may_be_cut(&fields[i]) && !is_number(&fields[i]));
    }
    return has_points && (has_touching || are_numbers(fields, n, x + 1));
}

/* Index of x among the fields behind the record's name; 0 when white space does not tell. */
static size_t find_x(field *fields, size_t n)
{
    const size_t x = find_first_fit(fields, n);
    return x > 0 && may_begin_later(fields, n, x) ? 0 : x;
}

static size_t split(const char *at, const char *end, field fields[FIELDS_MAX])
{
    size_t n = 0;
    while (n < FIELDS_MAX) {
        while (at < end && ley_is_space(*at))
            at++;
        if (at == end)
            break;
        fields[n].at = at;
        fields[n].parsed = false;
        while (at < end && !ley_is_space(*at))
            at++;
        fields[n].length = (size_t)(at - fields[n].at);
        n++;
    }
    return n;
}

/* ---- Numbers that touch ---------------------------------------------------------------------- */

/* Writers of fixed columns leave no blank in front of a number that fills its columns. A minus
 * behind a digit begins a number, wherever it stands. Without one a cut is taken only where the
 * whole record proves it: coordinates with the same decimals, each of which ends where a field of
 * eight columns, wider only by a number that is too long for it, ends; charge and radius with four
 * decimals in the columns of a known writer. What a writer has cut off at its columns, 10000.12 in
 * place of 10000.123, never passes that, as all fields behind it would be too short. */
enum { PDB_START = 30, COORDINATE_WIDTH = 8, PAIR_DECIMALS = 4 };

typedef struct touching {
    field piece[SPLIT_MAX]; /* words, cut at each minus behind a digit */
    size_t n;
    bool was_cut; /* at least one was */
} touching;

static void cut_at_minuses(const field *words, size_t n, touching *t)
{
    *t = (touching){.n = 0};
    for (size_t w = 0; w < n; w++) {
        const char *at = words[w].at, *const end = at + words[w].length;
        const bool is_run = may_be_cut(&words[w]);
        while (at < end && t->n < SPLIT_MAX) {
            const char *stop = is_run ? at + 1 : end;
            while (stop < end && !(*stop == '-' && (ley_is_digit(stop[-1]) || stop[-1] == '.')))
                stop++;
            t->piece[t->n++] = (field){.at = at, .length = (size_t)(stop - at)};
            t->was_cut = t->was_cut || stop < end;
            at = stop;
        }
    }
}

/* The first piece with a point behind a residue number: x; 0: there is none. */
static size_t first_coordinate(touching *t)
{
    for (size_t x = 2; x < t->n; x++)
        if (points_in(&t->piece[x]) > 0 && may_be_cut(&t->piece[x]) && is_residue_number(&t->piece[x - 1], false))
            return x;
    return 0;
}

/* Digits behind the last point. */
static size_t decimals_of(const field *f)
{
    size_t n = 0;
    while (n < f->length && f->at[f->length - 1 - n] != '.')
        n++;
    return n;
}

/* As printf("%.3f") writes a number: a digit in front of the point, no 0 in front of another. */
static bool is_printed(const field *f)
{
    const size_t sign = f->length > 0 && f->at[0] == '-', whole = f->length - sign - decimals_of(f) - 1;
    return points_in(f) == 1 && decimals_of(f) > 0 && f->length > sign + decimals_of(f) + 1 &&
           (whole == 1 || f->at[sign] != '0');
}

/* The numbers of the pieces from x on, as far as ends are known: those of pieces with one point,
 * and the last one of a piece. The others have no length yet, and begin where their piece does.
 * False: fewer than five, or more numbers in the piece of the radius. */
static bool list_numbers(touching *t, size_t x, field numbers[PQR_NUMBERS], bool is_known[PQR_NUMBERS])
{
    size_t n = 0;
    for (size_t i = x; i < t->n && n < PQR_NUMBERS; i++) {
        const bool is_one = n >= 3 && is_number(&t->piece[i]);
        const size_t points = is_one ? 1 : points_in(&t->piece[i]);
        if (points == 0 || n + points > PQR_NUMBERS || !(is_one || may_be_cut(&t->piece[i])))
            return false;
        for (size_t k = 0; k < points; k++, n++) {
            numbers[n] = t->piece[i];
            is_known[n] = k + 1 == points;
        }
    }
    return n == PQR_NUMBERS;
}

/* The decimals that all numbers with known ends from `first` on below `end` have; 0: none, or not
 * the same. */
static size_t common_decimals(const field numbers[PQR_NUMBERS], const bool is_known[PQR_NUMBERS], size_t first,
                              size_t end)
{
    size_t common = 0;
    for (size_t i = first; i < end; i++) {
        const size_t own = decimals_of(&numbers[i]);
        if (is_known[i] && (own == 0 || (common != 0 && own != common)))
            return 0;
        common = is_known[i] ? own : common;
    }
    return common;
}

/* Cuts each piece behind so many decimals of each number but the last. Charge and radius between
 * blanks are as they are. */
static bool cut_by_decimals(field numbers[PQR_NUMBERS], const bool is_known[PQR_NUMBERS], const size_t decimals[2])
{
    const char *begin = NULL; /* of what is left of a piece */
    for (size_t i = 0; i < PQR_NUMBERS; i++) {
        if (i >= 3 && begin == NULL && is_known[i])
            continue;
        const char *const end = numbers[i].at + numbers[i].length, *at = begin != NULL ? begin : numbers[i].at;
        const char *point = memchr(at, '.', (size_t)(end - at));
        const size_t wanted = decimals[i >= 3];
        if (wanted == 0 || point == NULL || (size_t)(end - point) <= wanted)
            return false;
        const char *stop = is_known[i] ? end : point + 1 + wanted;
        numbers[i] = (field){.at = at, .length = (size_t)(stop - at)};
        if (!is_printed(&numbers[i]) || decimals_of(&numbers[i]) != wanted)
            return false;
        begin = is_known[i] ? NULL : stop;
    }
    return true;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static bool are_in_columns(const char *line, const field numbers[PQR_NUMBERS], const bool is_known[PQR_NUMBERS])
{
    size_t end[PQR_NUMBERS];
    for (size_t i = 0; i < PQR_NUMBERS; i++)
        end[i] = (size_t)(numbers[i].at - line) + numbers[i].length;
    if (end[0] < PDB_START + larger(COORDINATE_WIDTH, numbers[0].length))
        return false;
    bool is_within = numbers[0].length <= COORDINATE_WIDTH; /* no coordinate is too long for its columns */
    for (size_t i = 1; i < 3; is_within = is_within && numbers[i].length <= COORDINATE_WIDTH, i++)
        if (end[i] - end[i - 1] != larger(COORDINATE_WIDTH, numbers[i].length))
            return false;
    const size_t width = end[3] - end[2], charge = numbers[3].length, radius = numbers[4].length;
    const size_t decimals = decimals_of(&numbers[3]);
    if (is_known[2] && is_known[3])
        return true;
    if (decimals_of(&numbers[4]) != decimals)
        return false;
    if (!is_known[2] && !(decimals == PAIR_DECIMALS && (charge == 7 || charge == 8) && is_within))
        return false;
    /* Columns of charge and radius: 7 and 6, or 8 and 7, or 8 and 8, and a charge that is too long
     * for 7; of PDB's occupancy and B factor 6 and 6. */
    const bool has_four = (width == 7 && radius == 6) || (width == 8 && (radius == 7 || radius == 8)) ||
                          (width == 8 && charge == 8 && radius == 6);
    return is_known[3] || (decimals == PAIR_DECIMALS && has_four) || (decimals == 2 && width == 6 && radius == 6);
}

/* False: what touches may be cut in more than one way. */
static bool find_touching(const char *line, touching *t, size_t x, field numbers[PQR_NUMBERS])
{
    bool is_known[PQR_NUMBERS];
    if (!list_numbers(t, x, numbers, is_known))
        return false;
    const size_t decimals[2] = {common_decimals(numbers, is_known, 0, 3), common_decimals(numbers, is_known, 3, 5)};
    return cut_by_decimals(numbers, is_known, decimals) && are_in_columns(line, numbers, is_known);
}

static size_t numbers_from(const touching *t, size_t x)
{
    size_t n = 0;
    for (size_t i = x; i < t->n; i++)
        n += may_be_cut(&t->piece[i]) ? points_in(&t->piece[i]) : 0;
    return n;
}

/* ---- Complaints ------------------------------------------------------------------------------ */

ley_status pqr_record_fail(const ley_text *text, size_t i, const field *f, const char *complaint, ley_error *error)
{
    char quote[LEY_TEXT_QUOTE];
    return ley_text_fail(text, error, "%s %s %s", number_names[i], ley_quote(f->at, f->length, quote), complaint);
}

pqr_remedy pqr_record_remedy(const ley_text *text, const char *program)
{
    pqr_remedy remedy;
    if (ley_text_is_packed(text))
        snprintf(remedy.s, sizeof remedy.s, "gzip -dc '%s' | awk '%s' > NEW.pqr", ley_name_to_type(ley_text_path(text)),
                 program);
    else
        snprintf(remedy.s, sizeof remedy.s, "awk '%s' '%s' > NEW.pqr", program, ley_name_to_type(ley_text_path(text)));
    return remedy;
}

int pqr_record_word(const char *line, const char *at)
{
    int words = 0;
    for (const char *c = line; c <= at; c++)
        words += !ley_is_space(*c) && (c == line || ley_is_space(c[-1]));
    return words;
}

/* Five numbers with points behind the residue's name, or behind a chain's letter; 0: not so. */
static size_t x_without_number(field *fields, size_t n)
{
    for (size_t x = 2; x <= 4; x++)
        if (are_numbers(fields, n, x) && have_points(fields, x) && !is_number(&fields[x - 1]) &&
            (x < 4 || fields[3].length == 1))
            return x;
    return 0;
}

static ley_status fail_touching(const ley_text *text, const touching *t, size_t x, ley_error *error)
{
    char quote[LEY_TEXT_QUOTE];
    size_t i = x;
    while (i < t->n && points_in(&t->piece[i]) < 2)
        i++;
    return ley_text_fail(
        text, error,
        "%s: numbers touch here and may be cut in more than one way; with blanks between them they can "
        "be read, as pdb2pqr --whitespace writes them",
        ley_quote(t->piece[i].at, t->piece[i].length, quote));
}

/* Names what is wrong, taking the record for one in the usual order. */
static ley_status fail_record(const ley_text *text, const char *line, field *fields, size_t n, ley_error *error)
{
    char quote[LEY_TEXT_QUOTE];
    const size_t bare = x_without_number(fields, n), first = find_first_fit(fields, n);
    if (first > 0 && first + 1 < n) {
        char other[LEY_TEXT_QUOTE];
        return ley_text_fail(text, error,
                             "x may be %s or %s: names without blanks, and coordinates with decimal points, tell which",
                             ley_quote(fields[first].at, fields[first].length, quote),
                             ley_quote(fields[first + 1].at, fields[first + 1].length, other));
    }
    if (bare > 0) {
        const int word = pqr_record_word(line, fields[bare - 1].at);
        char program[96];
        snprintf(program, sizeof program, "/^(ATOM|HETATM)/ {$%d = $%d \" 1\"} 1", word, word);
        return ley_text_fail(text, error, "no residue number between %s and x: %s puts a 1 there",
                             ley_quote(fields[bare - 1].at, fields[bare - 1].length, quote),
                             pqr_record_remedy(text, program).s);
    }
    bool chain = n > 4 && !is_number(&fields[3]) && !is_residue_number(&fields[3], false) &&
                 !(are_numbers(fields, n, 4) && have_points(fields, 4));
    size_t x = chain ? 5 : 4;
    if (n < x)
        return ley_text_fail(text, error, "truncated record: %zu fields and no coordinates", n);
    for (size_t i = 0; i < PQR_NUMBERS; i++) {
        if (x + i >= n)
            return ley_text_fail(text, error, "truncated record: no %s", number_names[i]);
        if (!is_number(&fields[x + i]))
            return pqr_record_fail(text, i, &fields[x + i], ley_number_complaint(LEY_NUMBER_NONE), error);
    }
    return ley_text_fail(text, error, "%s is no residue number, so that the coordinates cannot be told",
                         ley_quote(fields[x - 1].at, fields[x - 1].length, quote));
}

/* ---- Records --------------------------------------------------------------------------------- */

/* What white space alone does not tell. */
static ley_status find_in_touching(const ley_text *text, const char *line, field *fields, size_t n,
                                   field numbers[PQR_NUMBERS], ley_error *error)
{
    touching t;
    cut_at_minuses(fields, n, &t);
    size_t x = t.was_cut ? find_x(t.piece, t.n) : 0;
    if (x > 0) {
        memcpy(numbers, t.piece + x, PQR_NUMBERS * sizeof *numbers);
        return LEY_OK;
    }
    x = first_coordinate(&t);
    if (x > 0 && find_touching(line, &t, x, numbers))
        return LEY_OK;
    if (x > 0 && numbers_from(&t, x) > t.n - x)
        return fail_touching(text, &t, x, error);
    return fail_record(text, line, fields, n, error);
}

/* The word in front of x is the residue's number, with an insertion code or not; a chain stands in
 * front of that, as a word of its own where x is the sixth word, or grown to it. */
static void find_residue(const field *before, const field *chain, pqr_words *words)
{
    size_t end = before->length, first;
    int64_t number = 0;
    const char code = end > 1 && is_letter(before->at[end - 1]) ? before->at[--end] : '\0';
    for (first = end; first > 0 && ley_is_digit(before->at[first - 1]);)
        first--;
    if (first > 0 && (before->at[first - 1] == '-' || before->at[first - 1] == '+'))
        first--;
    const field grown = {.at = before->at, .length = first};
    if (chain == NULL && first > 0)
        chain = &grown;
    words->has_residue = first < end && (chain == NULL || chain->length == 1) &&
                         ley_parse_int64(before->at + first, end - first, &number) == LEY_NUMBER_FINE &&
                         residue_pack(chain != NULL ? chain->at[0] : '\0', number, code, &words->residue);
}

ley_status pqr_record_read(const ley_text *text, const char *line, size_t length, const char *start, pqr_words *words,
                           field numbers[PQR_NUMBERS], ley_error *error)
{
    field fields[FIELDS_MAX];
    *words = (pqr_words){.name = {.at = ""}};
    const size_t n = split(start, line + length, fields), x = find_x(fields, n);
    if (x > 0) {
        memcpy(numbers, fields + x, PQR_NUMBERS * sizeof *numbers);
    } else {
        const ley_status status = find_in_touching(text, line, fields, n, numbers, error);
        if (status != LEY_OK)
            return status;
    }
    for (size_t i = 0; i < PQR_NUMBERS; i++) {
        const ley_number kind = number_of(&numbers[i]);
        if (kind != LEY_NUMBER_FINE)
            return pqr_record_fail(text, i, &numbers[i], ley_number_complaint(kind), error);
    }
    if (n > 1)
        words->name = fields[1];
    words->is_residue =
        n > 2 && fields[2].length == fields[1].length && memcmp(fields[2].at, fields[1].at, fields[1].length) == 0;
    size_t number = 1; /* the word in front of the one in which x is */
    while (number < n &&
           !(numbers[0].at >= fields[number].at && numbers[0].at < fields[number].at + fields[number].length))
        number++;
    if (number < n)
        find_residue(&fields[number - 1], number == 5 ? &fields[3] : NULL, words);
    return LEY_OK;
}
