/* Keywords of the multigrid calculations. */
#include "apbs/elec.h"
#include "error.h"
#include "io/text.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct place {
    ley_apbs_input *input;
    size_t *at;
    ley_apbs_facts *facts;
    const ley_apbs_token *keyword;
    ley_error *error;
} place;

typedef enum follows { INTEGERS, NUMBERS, CENTER, WORD, CHOICE, SPECIAL } follows;

static const struct {
    const char *name;
    follows follows;
    int count;
} keywords[LEY_APBS_KEYWORDS] = {
#define LEY_APBS_ROW(name, follows, count) {#name, follows, count},
    LEY_APBS_KEYWORD_TABLE(LEY_APBS_ROW)
#undef LEY_APBS_ROW
};

static ley_status take(place *p, const ley_apbs_token **token)
{
    return ley_apbs_take(p->input, p->at, "ELEC", p->facts->line, token, p->error);
}

/* "'word' what it is not" behind the keyword's name. */
static ley_status fail_word(place *p, const ley_apbs_token *token, const char *what)
{
    char name[LEY_TEXT_QUOTE], text[LEY_TEXT_QUOTE];
    ley_quote(p->input->text + p->keyword->start, p->keyword->length, name);
    ley_quote(p->input->text + token->start, token->length, text);
    return ley_apbs_fail(p->input, token->line, p->error, "%s: %s %s", name, text, what);
}

/* APBS reads as much of a word as makes up a number, and drops the rest. */
static void warn_rest(place *p, const ley_apbs_token *token, const char *stop)
{
    char text[LEY_TEXT_QUOTE], number[LEY_TEXT_QUOTE];
    const char *word = p->input->text + token->start;
    if (stop < word + token->length)
        ley_apbs_warn(p->input, NULL, token->line, "APBS reads %s as %s", ley_quote(word, token->length, text),
                      ley_quote(word, (size_t)(stop - word), number));
}

/* Both stop at the end of the word: no white space or comment belongs to a number. */
static bool scan_number(const place *p, const ley_apbs_token *token, double *number, const char **stop)
{
    const char *word = p->input->text + token->start;
    char *end;
    *number = strtod_l(word, &end, ley_c_locale());
    *stop = end < word + token->length ? end : word + token->length;
    return end > word;
}

static ley_status take_number(place *p, double *number)
{
    const ley_apbs_token *token;
    const char *stop;
    ley_status status = take(p, &token);
    if (status != LEY_OK)
        return status;
    if (!scan_number(p, token, number, &stop))
        return fail_word(p, token, "is not a number");
    if (!isfinite(*number))
        return fail_word(p, token, "is not finite");
    warn_rest(p, token, stop);
    return LEY_OK;
}

static bool scan_integer(const place *p, const ley_apbs_token *token, int base, double *number, const char **stop)
{
    const char *word = p->input->text + token->start;
    char *end;
    errno = 0;
    long value = strtol(word, &end, base);
    *number = errno != 0 || value < INT_MIN || value > INT_MAX ? (double)NAN : (double)value;
    *stop = end;
    return end > word;
}

static ley_status take_integer(place *p, int base, double *number)
{
    const ley_apbs_token *token;
    const char *stop;
    ley_status status = take(p, &token);
    if (status != LEY_OK)
        return status;
    if (!scan_integer(p, token, base, number, &stop))
        return fail_word(p, token, "is not an integer");
    if (isnan(*number))
        return fail_word(p, token, "is beyond 32 bits");
    warn_rest(p, token, stop);
    return LEY_OK;
}

/* x y z, or `mol` and its number. APBS keeps to the molecule once there was one. */
static ley_status take_center(place *p, bool again, double center[4])
{
    double point_A[3];
    const ley_apbs_token *token;
    const char *stop;
    ley_status status = take(p, &token);
    if (status != LEY_OK)
        return status;
    if (scan_number(p, token, &point_A[0], &stop)) {
        (*p->at)--;
        for (int axis = 0; axis < 3 && status == LEY_OK; axis++)
            status = take_number(p, &point_A[axis]);
        if (status == LEY_OK && (!again || center[3] == -1)) {
            memcpy(center, point_A, sizeof point_A);
            center[3] = -1;
        }
        return status;
    }
    if (!ley_apbs_is(p->input, token, "MOL"))
        return fail_word(p, token, "is neither a number nor `mol`");
    return take_integer(p, 10, &center[3]);
}

/* ---- Choices --------------------------------------------------------------------------------- */

/* A word of the list, or its old number, which APBS takes unseen. */
static ley_status take_choice(place *p, ley_apbs_keyword keyword, double *choice)
{
    static const char *const bcfl[] = {[LEY_APBS_BCFL_ZERO] = "ZERO",
                                       [LEY_APBS_BCFL_SDH] = "SDH",
                                       [LEY_APBS_BCFL_MDH] = "MDH",
                                       "",
                                       "FOCUS",
                                       [LEY_APBS_BCFL_MEM] = "MEM",
                                       [LEY_APBS_BCFL_MAP] = "MAP",
                                       NULL};
    static const char *const srfm[] = {"MOL", "SMOL", "SPL2", "SPL3", "SPL4", NULL};
    static const char *const chgm[] = {"SPL0", "SPL2", "SPL4", NULL};
    static const char *const calc[] = {"NO", "TOTAL", "COMPS", NULL};
    const char *const *list = keyword == LEY_APBS_BCFL   ? bcfl
                              : keyword == LEY_APBS_SRFM ? srfm
                              : keyword == LEY_APBS_CHGM ? chgm
                                                         : calc;
    const ley_apbs_token *token;
    const char *stop;
    ley_status status = take(p, &token);
    if (status != LEY_OK)
        return status;
    int n = 0, found = -1;
    for (; list[n] != NULL; n++)
        if (ley_apbs_is(p->input, token, list[n]))
            found = n;
    if (found < 0 && scan_integer(p, token, 10, choice, &stop)) {
        if (!(*choice >= 0 && *choice < n))
            return fail_word(p, token, "is out of range");
        found = (int)*choice;
    }
    if (found < 0)
        return fail_word(p, token, "is none of its values");
    *choice = found;
    if (keyword == LEY_APBS_BCFL)
        p->facts->bcfl = *p->at - 2;
    if (keyword == LEY_APBS_CALCFORCE) {
        p->facts->forces = found > 0;
        p->facts->forces_line = token->line;
    }
    return LEY_OK;
}

/* ---- Keywords with a grammar of their own ---------------------------------------------------- */

/* The exact word: these names have no capitals in APBS. */
static bool is_exactly(const place *p, const ley_apbs_token *token, const char *name)
{
    return token->length == strlen(name) && memcmp(p->input->text + token->start, name, token->length) == 0;
}

/* `count` pairs of a name and a number, in any order, each once. */
static ley_status take_pairs(place *p, const char *const *names, int count, double *numbers)
{
    unsigned seen = 0;
    for (int i = 0; i < count; i++) {
        const ley_apbs_token *token;
        ley_status status = take(p, &token);
        if (status != LEY_OK)
            return status;
        int k = 0;
        while (k < count && !is_exactly(p, token, names[k]))
            k++;
        if (k == count)
            return fail_word(p, token, "is none of its words");
        if ((seen >> k & 1) != 0)
            return fail_word(p, token, "comes twice, and another one is missing");
        seen |= 1u << k;
        status = take_number(p, &numbers[k]);
        if (status != LEY_OK)
            return status;
    }
    return LEY_OK;
}

/* `ion charge 1 conc 0.1 radius 2`, or the old `ion 1 0.1 2`. */
static ley_status take_ion(place *p)
{
    static const char *const names[] = {"charge", "conc", "radius"};
    double numbers[3], first;
    const char *stop;
    ley_apbs_facts *facts = p->facts;
    if (facts->ion_count == LEY_APBS_IONS_MAX)
        return ley_apbs_fail(p->input, p->keyword->line, p->error, "APBS takes %d species of ions at most",
                             LEY_APBS_IONS_MAX);
    const ley_apbs_token *token;
    ley_status status = take(p, &token);
    if (status != LEY_OK)
        return status;
    (*p->at)--;
    if (scan_number(p, token, &first, &stop)) {
        for (int i = 0; i < 3 && status == LEY_OK; i++)
            status = take_number(p, &numbers[i]);
    } else {
        status = take_pairs(p, names, 3, numbers);
    }
    if (status == LEY_OK)
        facts->ion[facts->ion_count++] =
            (ley_ion){.charge_e = numbers[0], .concentration_M = numbers[1], .radius_A = numbers[2]};
    return status;
}

static ley_status take_smpbe(place *p)
{
    static const char *const names[] = {"vol", "size"};
    double numbers[2];
    return take_pairs(p, names, 2, numbers);
}

static ley_status take_usemap(place *p)
{
    static const char *const names[] = {[LEY_APBS_MAP_DIEL] = "DIEL",
                                        [LEY_APBS_MAP_KAPPA] = "KAPPA",
                                        [LEY_APBS_MAP_POT] = "POT",
                                        [LEY_APBS_MAP_CHARGE] = "CHARGE"};
    _Static_assert(sizeof names / sizeof *names == LEY_APBS_MAP_KINDS, "a word for each kind of map");
    const ley_apbs_token *token;
    double number;
    ley_status status = take(p, &token);
    if (status != LEY_OK)
        return status;
    int kind = 0;
    while (kind < LEY_APBS_MAP_KINDS && !ley_apbs_is(p->input, token, names[kind]))
        kind++;
    if (kind == LEY_APBS_MAP_KINDS)
        return fail_word(p, token, "is no kind of map");
    status = take_integer(p, 10, &number);
    if (status == LEY_OK) {
        p->facts->map[kind] = (int)number;
        p->facts->map_line[kind] = token->line;
    }
    return status;
}

/* The stem of a file that APBS writes. */
static ley_status take_stem(place *p, const char *ending)
{
    char *path;
    ley_status status = ley_apbs_take_path(p->input, p->at, "ELEC", p->facts->line, &path, p->error);
    if (status != LEY_OK)
        return status;
    status = ley_apbs_note_file(p->input, path, ending, true, p->error);
    free(path);
    return status;
}

/* `index`: which of the names the next word is, or NULL. */
static ley_status expect_one_of(place *p, const char *const *names, const char *what, size_t *index)
{
    const ley_apbs_token *token;
    size_t i = 0;
    ley_status status = take(p, &token);
    if (status != LEY_OK)
        return status;
    while (names[i] != NULL && !ley_apbs_is(p->input, token, names[i]))
        i++;
    if (index != NULL)
        *index = i;
    return names[i] != NULL ? LEY_OK : fail_word(p, token, what);
}

/* `write pot dx STEM`, `write 3dmap STEM`. */
static ley_status take_write(place *p)
{
    static const char *const types[] = {"POT",  "ATOMPOT", "CHARGE", "SMOL", "DIELX", "DIELY", "DIELZ", "KAPPA",
                                        "SSPL", "VDW",     "IVDW",   "LAP",  "EDENS", "NDENS", "QDENS", NULL};
    static const char *const formats[] = {"DX", "DXBIN", "UHBD", "AVS", "GZ", "FLAT", NULL};
    static const char *const endings[] = {".dx", ".dxbin", ".grd", ".ucd", ".dx.gz", ".txt"};
    _Static_assert(sizeof formats / sizeof *formats == sizeof endings / sizeof *endings + 1,
                   "an ending for each format");
    const ley_apbs_token *token;
    size_t format;
    ley_status status = take(p, &token);
    if (status != LEY_OK)
        return status;
    if (ley_apbs_is(p->input, token, "3DMAP"))
        return take(p, &token);
    (*p->at)--;
    status = expect_one_of(p, types, "cannot be written", NULL);
    if (status == LEY_OK)
        status = expect_one_of(p, formats, "is no format", &format);
    return status == LEY_OK ? take_stem(p, endings[format]) : status;
}

static ley_status take_writemat(place *p)
{
    static const char *const types[] = {"POISSON", "FULL", NULL};
    ley_status status = expect_one_of(p, types, "is no matrix", NULL);
    return status == LEY_OK ? take_stem(p, ".mat") : status;
}

/* ---- The section ----------------------------------------------------------------------------- */

static ley_status take_special(place *p, ley_apbs_keyword keyword)
{
    switch (keyword) {
    case LEY_APBS_SMPBE:
        return take_smpbe(p);
    case LEY_APBS_ION:
        return take_ion(p);
    case LEY_APBS_USEMAP:
        return take_usemap(p);
    case LEY_APBS_WRITE:
        return take_write(p);
    default:
        return take_writemat(p);
    }
}

static ley_status take_values(place *p, ley_apbs_keyword keyword, bool again)
{
    double *value = p->facts->value[keyword];
    const ley_apbs_token *word;
    ley_status status = LEY_OK;
    switch (keywords[keyword].follows) {
    case INTEGERS:
        for (int i = 0; i < keywords[keyword].count && status == LEY_OK; i++)
            status = take_integer(p, keyword == LEY_APBS_ASYNC ? 0 : 10, &value[i]);
        return status;
    case NUMBERS:
        for (int i = 0; i < keywords[keyword].count && status == LEY_OK; i++)
            status = take_number(p, &value[i]);
        return status;
    case CENTER:
        return take_center(p, again, value);
    case WORD:
        return take(p, &word);
    case CHOICE:
        return take_choice(p, keyword, value);
    default:
        return take_special(p, keyword);
    }
}

ley_status ley_apbs_parse_elec(ley_apbs_input *input, size_t *at, ley_apbs_facts *facts, ley_error *error)
{
    place p = {.input = input, .at = at, .facts = facts, .error = error};
    for (;;) {
        ley_status status = take(&p, &p.keyword);
        if (status != LEY_OK || ley_apbs_is(input, p.keyword, "END"))
            return status;
        int keyword = 0;
        while (keyword < LEY_APBS_KEYWORDS && !ley_apbs_is(input, p.keyword, keywords[keyword].name))
            keyword++;
        char text[LEY_TEXT_QUOTE];
        ley_quote(input->text + p.keyword->start, p.keyword->length, text);
        if (keyword == LEY_APBS_KEYWORDS)
            return ley_apbs_fail(input, p.keyword->line, error, "%s is no keyword of a multigrid calculation", text);
        follows what = keywords[keyword].follows;
        bool again = ley_apbs_has(facts, (ley_apbs_keyword)keyword);
        if (again && what != SPECIAL && keywords[keyword].count > 0)
            ley_apbs_warn(input, NULL, p.keyword->line, "%s again: the %s counts", text,
                          what == CENTER && facts->value[keyword][3] != -1 ? "molecule" : "last one");
        facts->set |= UINT64_C(1) << keyword;
        facts->value_line[keyword] = p.keyword->line;
        status = take_values(&p, (ley_apbs_keyword)keyword, again);
        if (status != LEY_OK)
            return status;
    }
}
