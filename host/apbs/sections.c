/* The sections of an APBS input file: READ, ELEC, APOLAR, PRINT, QUIT. */
#include "apbs/sections.h"
#include "apbs/check.h"
#include "apbs/elec.h"
#include "error.h"
#include "io/text.h"

#include <stdlib.h>
#include <string.h>

typedef struct place {
    ley_apbs_input *input;
    size_t at;
    int line;     /* where the section begins */
    bool passing; /* over words that APBS ignores, the first of which has been remarked upon */
    ley_error *error;
} place;

static ley_status take(place *p, const char *section, const ley_apbs_token **token)
{
    return ley_apbs_take(p->input, &p->at, section, p->line, token, p->error);
}

static const char *quote(const place *p, const ley_apbs_token *token, char text[LEY_TEXT_QUOTE])
{
    return ley_quote(p->input->text + token->start, token->length, text);
}

/* Once for a run of words. */
static void warn_ignored(place *p, const ley_apbs_token *token)
{
    char text[LEY_TEXT_QUOTE];
    if (!p->passing)
        ley_apbs_warn(p->input, NULL, token->line, "APBS ignores %s, which is no keyword here", quote(p, token, text));
    p->passing = true;
}

/* Index of the word among the n names (capitals), or -1. */
static int choose(const place *p, const ley_apbs_token *token, const char *const *names, int n)
{
    for (int i = 0; i < n; i++)
        if (ley_apbs_is(p->input, token, names[i]))
            return i;
    return -1;
}

/* ---- READ ------------------------------------------------------------------------------------ */

static ley_status read_molecule(place *p)
{
    static const char *const names[] = {"PQR", "PDB", "XML"}, *const formats[] = {"pqr", "pdb", "xml"};
    const ley_apbs_token *token;
    ley_status status = take(p, "READ", &token);
    if (status != LEY_OK)
        return status;
    int format = choose(p, token, names, 3);
    if (format < 0) {
        warn_ignored(p, token);
        return LEY_OK;
    }
    if (p->input->molecule_count == LEY_APBS_MOLECULES_MAX)
        return ley_apbs_fail(p->input, token->line, p->error, "APBS reads %d molecules at most",
                             LEY_APBS_MOLECULES_MAX);
    ley_apbs_molecule_entry entry = {.line = token->line, .format = formats[format]};
    status = ley_apbs_take_path(p->input, &p->at, "READ", p->line, &entry.path, p->error);
    if (status != LEY_OK)
        return status;
    p->input->molecule[p->input->molecule_count++] = entry;
    return ley_apbs_note_file(p->input, entry.path, "", false, p->error);
}

static ley_status pass_path(place *p, bool quotes)
{
    char *path = NULL;
    ley_status status;
    if (quotes) {
        status = ley_apbs_take_path(p->input, &p->at, "READ", p->line, &path, p->error);
    } else {
        const ley_apbs_token *token;
        status = take(p, "READ", &token);
        if (status == LEY_OK && (path = strndup(p->input->text + token->start, token->length)) == NULL)
            status = ley_fail_memory(p->error, token->length, "a path");
    }
    if (status == LEY_OK)
        status = ley_apbs_note_file(p->input, path, "", false, p->error);
    free(path);
    return status;
}

/* `keyword` FORMAT PATH. */
static ley_status read_other(place *p, int keyword)
{
    enum { PARM = LEY_APBS_MAP_KINDS };
    static const char *const grids[] = {"DX", "GZ", "DXBIN"}, *const parms[] = {"FLAT", "XML"}, *const mesh = "MCSF";
    const ley_apbs_token *token;
    ley_status status = take(p, "READ", &token);
    if (status != LEY_OK)
        return status;
    int format = keyword < LEY_APBS_MAP_KINDS ? choose(p, token, grids, 3)
                 : keyword == PARM            ? choose(p, token, parms, 2)
                                              : choose(p, token, &mesh, 1);
    if (format < 0) {
        warn_ignored(p, token);
        return LEY_OK;
    }
    if (keyword == PARM && p->input->parm_line == 0)
        p->input->parm_line = token->line;
    if (keyword < LEY_APBS_MAP_KINDS)
        p->input->map_count[keyword]++;
    status = pass_path(p, true);
    /* A dielectric map is three files, of which the first one's name may be quoted. */
    for (int i = 0; i < 2 && keyword == LEY_APBS_MAP_DIEL && status == LEY_OK; i++)
        status = pass_path(p, false);
    return status;
}

static ley_status parse_read(place *p)
{
    static const char *const keywords[] = {"DIEL", "KAPPA", "POT", "CHARGE", "PARM", "MESH"};
    for (;;) {
        const ley_apbs_token *token;
        ley_status status = take(p, "READ", &token);
        if (status != LEY_OK)
            return status;
        if (ley_apbs_is(p->input, token, "END"))
            break;
        int keyword = choose(p, token, keywords, 6);
        bool is_molecule = ley_apbs_is(p->input, token, "MOL");
        if (keyword < 0 && !is_molecule) {
            warn_ignored(p, token);
            continue;
        }
        p->passing = false;
        status = is_molecule ? read_molecule(p) : read_other(p, keyword);
        if (status != LEY_OK)
            return status;
    }
    p->input->has_read = true;
    p->input->read_end = p->at - 1;
    return LEY_OK;
}

/* ---- ELEC ------------------------------------------------------------------------------------ */

/* Passes over a calculation that is left alone; only whether it asks for forces matters. */
static ley_status pass_elec(place *p, ley_apbs_facts *facts)
{
    for (bool after_calcforce = false;;) {
        const ley_apbs_token *token;
        ley_status status = take(p, "ELEC", &token);
        if (status != LEY_OK || ley_apbs_is(p->input, token, "END"))
            return status;
        if (after_calcforce && !ley_apbs_is(p->input, token, "NO") && !ley_apbs_is(p->input, token, "0")) {
            facts->forces = true;
            facts->forces_line = token->line;
        }
        after_calcforce = ley_apbs_is(p->input, token, "CALCFORCE");
    }
}

static ley_status parse_elec(place *p)
{
    static const char *const types[] = {"MG-MANUAL", "MG-AUTO", "MG-PARA",    "MG-DUMMY", "FE-MANUAL", "PYGBE",
                                        "TABI",      "BEM",     "BEM-MANUAL", "GEOFLOW",  "PBAM",      "PBSAM"};
    ley_apbs_input *input = p->input;
    if (input->elec_count == LEY_APBS_ELECS_MAX)
        return ley_apbs_fail(input, p->line, p->error, "APBS knows %d ELEC sections at most", LEY_APBS_ELECS_MAX);
    const ley_apbs_token *token, *name = NULL;
    ley_status status = take(p, "ELEC", &token);
    if (status == LEY_OK && ley_apbs_is(input, token, "NAME")) {
        status = take(p, "ELEC", &name);
        if (status == LEY_OK)
            status = take(p, "ELEC", &token);
    }
    if (status != LEY_OK)
        return status;
    char text[LEY_TEXT_QUOTE];
    int type = choose(p, token, types, (int)(sizeof types / sizeof *types));
    if (type < 0)
        return ley_apbs_fail(input, token->line, p->error, "%s is no type of calculation", quote(p, token, text));
    size_t i = input->elec_count++;
    ley_apbs_facts *facts = &input->facts[i];
    *facts = (ley_apbs_facts){.type = type < (int)LEY_APBS_NO_GRID ? (ley_apbs_type)type : LEY_APBS_NO_GRID,
                              .line = p->line};
    input->name[i] = name != NULL ? strndup(input->text + name->start, name->length) : strdup("");
    input->type[i] = strndup(input->text + token->start, token->length);
    if (input->name[i] == NULL || input->type[i] == NULL)
        return ley_fail_memory(p->error, token->length, "a name");
    for (char *c = input->type[i]; *c != '\0'; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
    if (facts->type == LEY_APBS_NO_GRID)
        return pass_elec(p, facts);
    status = ley_apbs_parse_elec(input, &p->at, facts, p->error);
    return status == LEY_OK ? ley_apbs_check_elec(input, facts, p->error) : status;
}

/* ---- APOLAR, PRINT --------------------------------------------------------------------------- */

static ley_status parse_apolar(place *p)
{
    const ley_apbs_token *token;
    ley_status status = take(p, "APOLAR", &token);
    if (status == LEY_OK && !ley_apbs_is(p->input, token, "NAME")) {
        warn_ignored(p, token); /* APBS gives the section up, and ignores the rest word by word */
        return LEY_OK;
    }
    do
        status = status == LEY_OK ? take(p, "APOLAR", &token) : status;
    while (status == LEY_OK && !ley_apbs_is(p->input, token, "END"));
    return status;
}

static ley_status parse_print(place *p)
{
    static const char *const what[] = {"ENERGY", "FORCE", "ELECENERGY", "ELECFORCE", "APOLENERGY", "APOLFORCE"};
    char text[LEY_TEXT_QUOTE];
    const ley_apbs_token *token;
    ley_status status = take(p, "PRINT", &token);
    if (status == LEY_OK && choose(p, token, what, 6) < 0)
        return ley_apbs_fail(p->input, token->line, p->error, "%s is nothing to print", quote(p, token, text));
    for (bool operand = true; status == LEY_OK; operand = !operand) {
        status = take(p, "PRINT", &token);
        if (status != LEY_OK)
            break;
        bool is_end = ley_apbs_is(p->input, token, "END");
        bool is_sign = ley_apbs_is(p->input, token, "+") || ley_apbs_is(p->input, token, "-");
        if (operand ? is_end || is_sign : !is_end && !is_sign)
            return ley_apbs_fail(p->input, token->line, p->error, "%s where PRINT wants %s", quote(p, token, text),
                                 operand ? "a calculation" : "'+', '-' or END");
        if (is_end)
            break;
    }
    return status;
}

/* ---- All ------------------------------------------------------------------------------------- */

static ley_status parse_sections(place *p)
{
    static const char *const names[] = {"READ", "ELEC", "APOLAR", "PRINT"};
    static ley_status (*const parsers[])(place *) = {parse_read, parse_elec, parse_apolar, parse_print};
    const ley_apbs_tokens *tokens = &p->input->tokens;
    while (p->at < tokens->n) {
        const ley_apbs_token *token;
        ley_status status = take(p, "", &token);
        if (status != LEY_OK)
            return status;
        if (ley_apbs_is(p->input, token, "QUIT"))
            break;
        int section = choose(p, token, names, 4);
        if (section < 0) {
            warn_ignored(p, token);
            continue;
        }
        p->passing = false;
        p->line = token->line;
        status = parsers[section](p);
        if (status != LEY_OK)
            return status;
    }
    return LEY_OK;
}

static ley_status check_number(const ley_apbs_input *input, int line, const char *what, double number, size_t count,
                               ley_error *error)
{
    if (number >= 1 && number <= (double)count)
        return LEY_OK;
    return ley_apbs_fail(input, line, error, "%s %.0f, but READ has %zu", what, number, count);
}

/* Molecules and maps are counted over the whole file, wherever its READ sections stand. */
static ley_status check_numbers(const ley_apbs_input *input, const ley_apbs_facts *facts, ley_error *error)
{
    static const ley_apbs_keyword centers[] = {LEY_APBS_GCENT, LEY_APBS_CGCENT, LEY_APBS_FGCENT};
    static const char *const names[] = {"gcent mol", "cgcent mol", "fgcent mol"};
    static const char *const maps[] = {"usemap diel", "usemap kappa", "usemap pot", "usemap charge"};
    if (facts->type == LEY_APBS_NO_GRID)
        return LEY_OK;
    ley_status status = check_number(input, facts->value_line[LEY_APBS_MOL], "mol", facts->value[LEY_APBS_MOL][0],
                                     input->molecule_count, error);
    for (int i = 0; i < 3 && status == LEY_OK; i++) {
        const double *center = facts->value[centers[i]];
        /* -1 is a point */
        if (ley_apbs_has(facts, centers[i]) && center[3] != -1)
            status =
                check_number(input, facts->value_line[centers[i]], names[i], center[3], input->molecule_count, error);
    }
    for (int i = 0; i < LEY_APBS_MAP_KINDS && status == LEY_OK; i++)
        if (facts->map_line[i] != 0)
            status =
                check_number(input, facts->map_line[i], maps[i], facts->map[i], (size_t)input->map_count[i], error);
    if (status == LEY_OK && facts->value[LEY_APBS_BCFL][0] == LEY_APBS_BCFL_MAP &&
        facts->map_line[LEY_APBS_MAP_POT] == 0)
        return ley_apbs_fail(input, facts->value_line[LEY_APBS_BCFL], error, "bcfl map without a `usemap pot`");
    return status;
}

/* What the whole file says to the user's surprise. */
static void warn_maps(ley_apbs_input *input)
{
    bool uses_pot = false, has_maps = false;
    for (int i = 0; i < LEY_APBS_MAP_KINDS; i++)
        has_maps = has_maps || input->map_count[i] > 0;
    for (size_t i = 0; i < input->elec_count; i++) {
        const ley_apbs_facts *facts = &input->facts[i];
        uses_pot = uses_pot || facts->map_line[LEY_APBS_MAP_POT] != 0;
        if (has_maps && facts->forces)
            ley_apbs_warn(input, NULL, facts->forces_line, "APBS calculates no forces in a run that reads maps");
        if (facts->type != LEY_APBS_NO_GRID && facts->value[LEY_APBS_BCFL][0] == LEY_APBS_BCFL_MAP)
            ley_apbs_warn(input, NULL, facts->value_line[LEY_APBS_BCFL], "the boundary is a map already");
    }
    if (input->map_count[LEY_APBS_MAP_POT] > 0 && !uses_pot)
        ley_apbs_warn(input, NULL, input->tokens.token[input->read_end].line,
                      "potential maps are read, and no ELEC section uses them");
}

ley_status ley_apbs_parse(const char *path, char *text, size_t size, ley_apbs_input **input, ley_error *error)
{
    ley_apbs_input *result = calloc(1, sizeof *result);
    if (result == NULL || (result->path = strdup(path)) == NULL) {
        free(result);
        free(text);
        return ley_fail_memory(error, sizeof *result, "an input file");
    }
    result->text = text;
    result->size = size;
    ley_status status = ley_apbs_tokenise(result->path, text, size, &result->tokens, error);
    place p = {.input = result, .error = error};
    if (status == LEY_OK)
        status = parse_sections(&p);
    for (size_t i = 0; i < result->elec_count && status == LEY_OK; i++)
        status = check_numbers(result, &result->facts[i], error);
    if (status == LEY_OK && p.line == 0)
        status = ley_apbs_fail(result, 1, error, "no section: this is no APBS input file");
    if (status == LEY_OK && result->has_read)
        warn_maps(result);
    if (status == LEY_OK)
        *input = result;
    else
        ley_apbs_input_destroy(result);
    return status;
}
