#include "ions/molecule.h"

#include "error.h"

#include <string.h>
#include <strings.h>

/* ---- Records --------------------------------------------------------------------------------- */

static pqr_field next_word(const char *at, const char *end)
{
    while (at < end && ley_is_space(*at))
        at++;
    const char *stop = at;
    while (stop < end && !ley_is_space(*stop))
        stop++;
    return (pqr_field){.at = at, .length = (size_t)(stop - at)};
}

static bool begins_with(pqr_field word, const char *name)
{
    return word.length >= strlen(name) && strncasecmp(word.at, name, strlen(name)) == 0;
}

/* Behind ATOM or HETATM, a serial number grown to it or not; NULL: another record. */
static const char *behind_atom(pqr_field word)
{
    static const char *const names[] = {"ATOM", "HETATM"};
    for (size_t i = 0; i < 2; i++) {
        const size_t n = strlen(names[i]);
        if (begins_with(word, names[i]) &&
            (word.length == n || ley_is_digit(word.at[n]) || word.at[n] == '-' || word.at[n] == '*'))
            return word.at + n;
    }
    return NULL;
}

/* The words in front of x: serial, name, residue, perhaps a chain, number. */
static void take_words(const char *start, const char *x, molecule_line *line)
{
    enum { MOST = 8 };
    pqr_field words[MOST];
    size_t n = 0;
    for (pqr_field w = next_word(start, x); w.length > 0 && n < MOST; w = next_word(w.at + w.length, x))
        words[n++] = w;
    const pqr_field none = {.at = ""};
    line->serial = n > 0 ? words[0] : none;
    line->name = n > 1 ? words[1] : none;
    line->residue = n > 2 ? words[2] : none;
    line->number = n > 3 ? words[n - 1] : none;
    line->chain = n > 4 ? words[3] : none;
    if (n == 4 && line->number.length > 1 && !ley_is_digit(line->number.at[0]) && line->number.at[0] != '-') {
        line->chain = (pqr_field){.at = line->number.at, .length = 1}; /* grown to the number */
        line->number.at++;
        line->number.length--;
    }
}

static ley_status take_atom(const ley_text *text, const char *start, molecule_line *line, ley_error *error)
{
    pqr_words words;
    pqr_field numbers[PQR_NUMBERS];
    const ley_status status = pqr_record_read(text, line->line, line->length, start, &words, numbers, error);
    if (status != LEY_OK)
        return status;
    for (int axis = 0; axis < 3; axis++)
        line->position_A[axis] = numbers[axis].value;
    take_words(start, numbers[0].at, line);
    return LEY_OK;
}

static ley_status walk(ley_text *text, size_t atoms, molecule_each *each, void *context, ley_error *error)
{
    int64_t count = 0;
    bool is_behind = false;
    for (;;) {
        molecule_line line = {.atom = -1};
        ley_status status = ley_text_line(text, &line.line, &line.length, error);
        if (status != LEY_OK)
            return status;
        if (line.line == NULL)
            break;
        const pqr_field word = next_word(line.line, line.line + line.length);
        const char *start = behind_atom(word);
        is_behind = is_behind || (count > 0 && (begins_with(word, "MODEL") || begins_with(word, "ENDMDL")));
        if (is_behind)
            continue;
        if (start != NULL) {
            status = take_atom(text, start, &line, error);
            line.atom = count++;
        }
        if (status == LEY_OK && (uint64_t)count > atoms)
            status =
                ley_text_fail(text, error, "there are more than the %zu atoms that ions were placed around", atoms);
        if (status == LEY_OK)
            status = each(context, &line, error);
        if (status != LEY_OK)
            return status;
    }
    if ((uint64_t)count != atoms)
        return ley_fail(error, LEY_ERROR_INPUT,
                        "%s: %lld atoms, and ions were placed around %zu: name the file that they are of",
                        ley_text_path(text), (long long)count, atoms);
    return LEY_OK;
}

ley_status molecule_walk(const char *path, size_t atoms, molecule_each *each, void *context, ley_error *error)
{
    ley_text *text;
    ley_status status = ley_text_open(path, &text, error);
    if (status != LEY_OK)
        return status;
    status = walk(text, atoms, each, context, error);
    ley_text_close(text);
    return status;
}
