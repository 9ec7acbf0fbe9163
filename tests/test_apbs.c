/* APBS input files: words, sections, what is refused and remarked upon, rewriting. Where APBS
 * itself is installed, its own output is what the refusals are held against; test_apbs_grids.c has
 * grids. */
#include "apbs_run.h"

#include "apbs/grid.h"
#include "apbs/input.h"
#include "apbs/rewrite.h"
#include "apbs/sections.h"
#include "apbs/speed.h"
#include "support.h"

#include <unistd.h>

/* ---- Words ----------------------------------------------------------------------------------- */

static void words(void **state)
{
    static const struct {
        const char *text, *words; /* joined by '|', each with its line */
    } rows[] = {
        {"", ""},
        {"\n\n", ""},
        {"# only a comment", ""},
        {"a", "a1"},
        {"a\n", "a1"},
        {"read\n mol pqr a.pqr # first\nend", "read1|mol2|pqr2|a.pqr2|end3"},
        {"dime=33,33;33\r\n\tend", "dime1|331|331|331|end2"},
        {"33#y\n33%x\n33", "331|332|333"},
        {"a\vb\fc", "a\vb\fc1"},
        {"\xef\xbb\xbfread", "\xef\xbb\xbfread1"},
        {"a\rb # c\rd\ne", "a1|b1|e2"},
        {"\"a b\"", "\"a1|b\"1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ley_apbs_tokens tokens;
        ley_error error = {0};
        char joined[256] = "";
        assert_ok(ley_apbs_tokenise("x", rows[i].text, strlen(rows[i].text), &tokens, &error));
        for (size_t k = 0; k < tokens.n; k++)
            snprintf(joined + strlen(joined), sizeof joined - strlen(joined), "%s%.*s%d", k > 0 ? "|" : "",
                     (int)tokens.token[k].length, rows[i].text + tokens.token[k].start, tokens.token[k].line);
        assert_string_equal(joined, rows[i].words);
        assert_int_equal(tokens.lost, tokens.n);
        ley_apbs_tokens_free(&tokens);
    }
}

/* `front` bytes of words, `gap` blanks, then a whole input file. */
static char *with_gap(size_t front, size_t gap, size_t *size)
{
    const char *rest = READ "elec mg-dummy " GRID PHYSICS "end\nquit\n";
    char *text = calloc(1, front + gap + strlen(rest) + 1);
    assert_non_null(text);
    for (size_t i = 0; i < front; i++)
        text[i] = i % 4 == 3 ? ' ' : 'a';
    memset(text + front, ' ', gap);
    strcpy(text + front + gap, rest);
    *size = strlen(text);
    return text;
}

/* The largest gap that APBS's buffer bears, against APBS itself. */
static void buffer(void **state)
{
    static const struct {
        size_t front, gap; /* the first gap too many */
    } rows[] = {{0, 8188}, {100, 8088}, {4000, 4188}, {4096, 4092}, {4100, 8187}, {5000, 7287}, {8000, 4287}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t more = 0; more < 2; more++) {
            size_t size;
            char *text = with_gap(rows[i].front, rows[i].gap - 1 + more, &size);
            ley_apbs_input *input = NULL;
            ley_error error = {0};
            apbs_run_write_file("in.in", text, size);
            ley_status status = ley_apbs_input_read("in.in", &input, &error);
            assert_int_equal(status, more > 0 ? LEY_ERROR_INPUT : LEY_OK);
            if (more > 0)
                assert_non_null(strstr(error.message, "in.in:1: APBS loses what follows"));
            ley_apbs_input_destroy(input);
            if (apbs_run_is_there()) {
                char *output = apbs_run("in.in");
                if ((strstr(output, "CALCULATION #1") != NULL) != (more == 0))
                    fail_msg("APBS disagrees: %zu bytes, gap %zu", rows[i].front, rows[i].gap - 1 + more);
                free(output);
            }
            free(text);
        }
    if (!apbs_run_is_there())
        skip();
}

/* ---- Sections -------------------------------------------------------------------------------- */

static void sections(void **state)
{
    apbs_run_write_text("two words.pqr", "ATOM 1 C A 1 10 20 30 1 2\n");
    ley_apbs_input *input = apbs_run_read_text(
        "# a comment\nREAD\n  mol pqr one.pqr\n  Mol PQR \"two  words.pqr\"\n  kappa dx \"k 1.dx\"\n  diel gz x.gz "
        "y.gz z.gz\n"
        "  charge dxbin c.dxbin\nEnd\n"
        "ELEC NAME first MG-Manual dime 66 100 65 grid 0.5 .25 1e0\n gcent 1,2,3 mol 2 npbe bcfl SDH pdie 2 sdie 80 "
        "chgm spl2\n srfm smol srad 1.4 sdens 10 temp 298.15 ion charge 1 conc 0.1 radius 2 ion -1 .1 1.8\n"
        "usemap diel 1 usemap kappa 1 usemap charge 1 write pot dx \"mdh focus.dx\" writemat full x calcenergy total "
        "calcforce no\n"
        "end\n"
        "elec mg-auto dime 33 33 33 cglen 80 60 40 fglen 20 10 10 cgcent mol 1 fgcent mol 1 mol 1 lrpbe bcfl 2 pdie 1 "
        "sdie 1\n"
        "chgm 0 srfm 0 srad 0 temp 300 gamma 0.1 useaqua nlev 4 etol 1e-6 end\n"
        "elec fe-manual bcfl mdh etol 0.1 calcforce no end\n"
        "elec mg-para pdime 2 1 1 ofrac 0.1 async 1 dime 33 33 33 cglen 80 80 80 fglen 20 20 20 cgcent mol 1 fgcent "
        "mol 1\n"
        "smpbe vol 1 size 2 bcfl zero mol 1 pdie 1 sdie 2 chgm spl4 srfm spl4 swin 1 temp 300 calcforce 0 end\n"
        "apolar name a mol 1 calcforce total end\nprint elecEnergy first - 2 + 3 end quit\nread mol pqr nowhere.pqr");
    assert_int_equal(ley_apbs_molecule_count(input), 2);
    assert_string_equal(ley_apbs_molecule_path(input, 1), "two words.pqr");
    assert_int_equal(ley_atoms_count(ley_apbs_molecule(input, 0)), 3);
    assert_int_equal(ley_apbs_elec_count(input), 4);
    const ley_apbs_elec *e = ley_apbs_elec_get(input, 0);
    assert_int_equal(e->number, 1);
    assert_int_equal(e->line, 9);
    assert_string_equal(e->name, "first");
    assert_string_equal(e->type, "mg-manual");
    assert_int_equal(e->boundary, LEY_BOUNDARY_SDH);
    assert_int_equal(e->molecule, 1);
    assert_int_equal(e->levels, 1);
    assert_true(e->grid.n[0] == 65 && e->grid.n[1] == 97 && e->grid.n[2] == 65);
    assert_true(e->grid.step_A[0][0] == 0.5 && e->grid.step_A[1][1] == 0.25 && e->grid.step_A[2][2] == 1);
    assert_true(e->grid.origin_A[0] == 1 - 16 && e->grid.origin_A[1] == 2 - 12 && e->grid.origin_A[2] == 3 - 32);
    assert_true(e->solvent.dielectric == 80 && e->solvent.solute_dielectric == 2 && e->solvent.temperature_K == 298.15);
    assert_int_equal(e->solvent.ion_count, 2);
    assert_true(e->solvent.ions[0].charge_e == 1 && e->solvent.ions[0].concentration_M == 0.1);
    assert_true(e->solvent.ions[1].charge_e == -1 && e->solvent.ions[1].radius_A == 1.8);
    e = ley_apbs_elec_get(input, 1);
    assert_int_equal(e->boundary, LEY_BOUNDARY_MDH);
    assert_string_equal(e->name, "");
    assert_int_equal(e->levels, 3); /* 60 to 10 is more than a quarter */
    assert_true(e->grid.step_A[0][0] == 2.5 && e->grid.origin_A[0] == 0.5 * (1.159 + 0.149) - 40);
    e = ley_apbs_elec_get(input, 2);
    assert_int_equal(e->boundary, LEY_BOUNDARY_OTHER);
    assert_int_equal(e->levels, 0);
    assert_string_equal(e->type, "fe-manual");
    e = ley_apbs_elec_get(input, 3);
    assert_int_equal(e->boundary, LEY_BOUNDARY_ZERO);
    assert_int_equal(e->levels, 3);
    ley_apbs_input_destroy(input);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

typedef struct refusal {
    const char *text;
    int line;
    const char *message;
    bool by_apbs; /* APBS calculates nothing with it, either */
} refusal;

#define MANUAL(more) READ "elec mg-manual\n" GRID PHYSICS more "\nend\n"
#define BUT(grid, physics) READ "elec mg-manual\n" grid "\n" physics "\nend\n"
#define AUTO(grid) READ "elec mg-auto\n" grid "\n" PHYSICS "end\n"
#define FINE_AUTO "dime 33 33 33 cglen 20 20 20 cgcent mol 1 fgcent mol 1 "

static const refusal refusals[] = {
    {"", 1, "no section: this is no APBS input file", true},
    {"some text\n", 1, "no section: this is no APBS input file", true},
    {"read\n mol pqr one.pqr\n", 2, "the file ends in the READ section of line 1: no END", true},
    {"read\n mol pqr", 2, "the file ends in the READ section of line 1", true},
    {READ "elec mg-manual\n" GRID PHYSICS, 4, "the file ends in the ELEC section of line 2: no END", true},
    {READ "elec", 2, "the file ends in the ELEC section", true},
    {READ "elec name", 2, "the file ends in the ELEC section", true},
    {READ "elec mg-manual\n dime 33 33", 3, "the file ends in the ELEC section", true},
    {READ "elec mg-fancy\nend\n", 2, "'mg-fancy' is no type of calculation", true},
    {READ "elec name\nx pbam-auto\nend\n", 3, "'pbam-auto' is no type of calculation", true},
    {READ "apolar name x\nmol 1\n", 3, "the file ends in the APOLAR section of line 2", false},
    {MANUAL("") "print\nenergies 1 end\n", 8, "'energies' is nothing to print", true},
    {MANUAL("") "print elecEnergy\nend\n", 8, "'end' where PRINT wants a calculation", true},
    {MANUAL("") "print elecEnergy 1\n1 end\n", 8, "'1' where PRINT wants '+', '-' or END", true},
    {MANUAL("") "print elecEnergy 1 +", 7, "the file ends in the PRINT section", true},
    {MANUAL("foo 3"), 5, "'foo' is no keyword of a multigrid calculation", true},
    {MANUAL("\n\nwrite pot dx"), 8, "the file ends in the ELEC section of line 2", true},
    {MANUAL("dime 33 33 x"), 5, "'dime': 'x' is not an integer", true},
    {MANUAL("dime 33 33\ntemp 300"), 6, "'dime': 'temp' is not an integer", true},
    {MANUAL("dime 33 33 99999999999"), 5, "'dime': '99999999999' is beyond 32 bits", false},
    {MANUAL("sdie\nwater"), 6, "'sdie': 'water' is not a number", true},
    {MANUAL("sdie nan"), 5, "'sdie': 'nan' is not finite", false},
    {MANUAL("gcent here"), 5, "'gcent': 'here' is neither a number nor `mol`", true},
    {MANUAL("gcent mol one"), 5, "'gcent': 'one' is not an integer", true},
    {MANUAL("gcent 1 2 mol"), 5, "'gcent': 'mol' is not a number", true},
    {MANUAL("bcfl best"), 5, "'bcfl': 'best' is none of its values", true},
    {MANUAL("bcfl 7"), 5, "'bcfl': '7' is out of range", false},
    {MANUAL("srfm soft"), 5, "'srfm': 'soft' is none of its values", true},
    {MANUAL("chgm spl3"), 5, "'chgm': 'spl3' is none of its values", true},
    {MANUAL("calcforce maybe"), 5, "'calcforce': 'maybe' is none of its values", true},
    {MANUAL("ion charge 1 conc 0.1 size 2"), 5, "'ion': 'size' is none of its words", true},
    {MANUAL("ion Charge 1 conc 0.1 radius 2"), 5, "'ion': 'Charge' is none of its words", true},
    {MANUAL("ion charge 1 conc 0.1 conc 2"), 5, "'ion': 'conc' comes twice", true},
    {MANUAL("ion 1 0.1 big"), 5, "'ion': 'big' is not a number", true},
    {MANUAL("ion 1 0.1 2"), 5, "the ions' charges do not cancel (0.1 mol/l): APBS stops", false},
    {MANUAL("ion 1 -0.1 2 ion -1 -0.1 2"), 5, "ion: a concentration of -0.1 mol/l", false},
    {MANUAL("ion 1 0 2 ion 1 0 2 ion 1 0 2 ion 1 0 2 ion 1 0 2 ion 1 0 2 ion 1 0 2 ion 1 0 2 ion 1 0 2\nion 1 0 2"), 6,
     "APBS takes 9 species of ions at most", false},
    {MANUAL("smpbe vol 1 length 2"), 5, "'smpbe': 'length' is none of its words", true},
    {MANUAL("usemap field 1"), 5, "'usemap': 'field' is no kind of map", true},
    {MANUAL("usemap kappa one"), 5, "'usemap': 'one' is not an integer", true},
    {MANUAL("usemap kappa 1"), 5, "usemap kappa 1, but READ has 0", false},
    {MANUAL("bcfl map"), 5, "bcfl map without a `usemap pot`", false},
    {MANUAL("write field dx x"), 5, "'write': 'field' cannot be written", true},
    {MANUAL("write pot png x"), 5, "'write': 'png' is no format", true},
    {MANUAL("writemat sparse x"), 5, "'writemat': 'sparse' is no matrix", true},
    {MANUAL("mol 2"), 5, "mol 2, but READ has 1", false},
    {MANUAL("mol 0"), 5, "mol 0, but READ has 1", false},
    {MANUAL("mol -1"), 5, "mol -1, but READ has 1", false},
    {MANUAL("gcent mol 2"), 5, "gcent mol 2, but READ has 1", false},
    {MANUAL("glen 20 0 20"), 5, "glen: 0 is not positive", false},
    {MANUAL("temp 0"), 5, "temp: 0 is not positive", false},
    {MANUAL("dime 0 33 33"), 5, "dime: 0 is not positive", true},
    {MANUAL("dime 33 -33 33"), 5, "dime: -33 is not positive", false},
    {MANUAL("dime 1 33 33"), 5, "dime: 1 points are no grid", false},
    {MANUAL("dime 34 33 33"), 5, "dime: 34 points along x", true},
    {MANUAL("dime 33 33 35"), 5, "dime: 35 points along z", true},
    {MANUAL("glen 1e-9 20 20"), 2, "grid: spacing", false},
    {MANUAL("grid 1 1 1"), 2, "both `grid` and `glen`", true},
    {BUT("dime 33 33 33 gcent mol 1", PHYSICS), 2, "neither `grid` nor `glen`", true},
    {BUT("glen 20 20 20 gcent mol 1", PHYSICS), 2, "no `dime`", true},
    {BUT("dime 33 33 33 glen 20 20 20", PHYSICS), 2, "no `gcent`", true},
    {BUT(GRID, "lpbe bcfl mdh pdie 2 sdie 78.5 chgm spl0 srfm spl2 swin 0.3 temp 300"), 2, "no `mol`", true},
    {BUT(GRID, "mol 1 bcfl mdh pdie 2 sdie 78.5 chgm spl0 srfm spl2 swin 0.3 temp 300"), 2, "no equation", true},
    {BUT(GRID, "mol 1 lpbe pdie 2 sdie 78.5 chgm spl0 srfm spl2 swin 0.3 temp 300"), 2, "no `bcfl`", true},
    {BUT(GRID, "mol 1 lpbe bcfl mdh sdie 78.5 chgm spl0 srfm spl2 swin 0.3 temp 300"), 2, "no `pdie`", true},
    {BUT(GRID, "mol 1 lpbe bcfl mdh pdie 2 chgm spl0 srfm spl2 swin 0.3 temp 300"), 2, "no `sdie`", true},
    {BUT(GRID, "mol 1 lpbe bcfl mdh pdie 2 sdie 78.5 srfm spl2 swin 0.3 temp 300"), 2, "no `chgm`", true},
    {BUT(GRID, "mol 1 lpbe bcfl mdh pdie 2 sdie 78.5 chgm spl0 swin 0.3 sdens 10 srad 1 temp 300"), 2, "no `srfm`",
     true},
    {BUT(GRID, "mol 1 lpbe bcfl mdh pdie 2 sdie 78.5 chgm spl0 srfm spl2 temp 300"), 2, "no `swin`", true},
    {BUT(GRID, "mol 1 lpbe bcfl mdh pdie 2 sdie 78.5 chgm spl0 srfm mol sdens 10 temp 300"), 2, "no `srad`", true},
    {BUT(GRID, "mol 1 lpbe bcfl mdh pdie 2 sdie 78.5 chgm spl0 srfm smol srad 1 temp 300"), 2, "no `sdens`", true},
    {BUT(GRID, "mol 1 lpbe bcfl mdh pdie 2 sdie 78.5 chgm spl0 srfm spl2 swin 0.3"), 2, "no `temp`", true},
    {AUTO("dime 33 33 33 fglen 20 20 20 cgcent mol 1 fgcent mol 1"), 2, "no `cglen`", true},
    {AUTO("dime 33 33 33 cglen 20 20 20 cgcent mol 1 fgcent mol 1"), 2, "no `fglen`", true},
    {AUTO("dime 33 33 33 cglen 20 20 20 fglen 10 10 10 fgcent mol 1"), 2, "no `cgcent`", true},
    {AUTO("dime 33 33 33 cglen 20 20 20 fglen 10 10 10 cgcent mol 1"), 2, "no `fgcent`", true},
    {AUTO(FINE_AUTO "fglen 21 20 20"), 3, "the fine grid sticks out of the coarse one along x by 0.5 A: APBS stops",
     true},
    {AUTO("dime 33 33 33 cglen 20 20 20 fglen 10 10 10 cgcent mol 1 fgcent 8 0 0"), 3,
     "sticks out of the coarse one along x", true},
    {AUTO(FINE_AUTO "fglen 10 10 0"), 3, "fglen: 0 is not positive", false},
    {READ "elec mg-para\n" FINE_AUTO "fglen 10 10 10 ofrac 0.1\n" PHYSICS "end\n", 2, "no `pdime`", true},
    {READ "elec mg-para\n" FINE_AUTO "fglen 10 10 10 pdime 1 1 1\n" PHYSICS "end\n", 2, "no `ofrac`", true},
    {READ "elec mg-dummy nlev 0\n" GRID PHYSICS "end\n", 2, "nlev: 0 is not positive", true},
    {"read mol pqr \"\" end elec mg-manual\n" GRID PHYSICS "end\n", 1, "quotation marks without a path", false},
    {"read\nmol pqr nowhere.pqr end\nelec mg-manual\n" GRID PHYSICS "end\n", 2,
     "nowhere.pqr: No such file or directory", true},
    {"read\nmol pqr bad.pqr end\nelec mg-manual\n" GRID PHYSICS "end\n", 2, "bad.pqr:2: ", true},
    {"read\nmol pqr one.pqr.gz end\nelec mg-manual\n" GRID PHYSICS "end\n", 2, "one.pqr.gz: APBS reads no gzip file",
     true},
};

static void refused(void **state)
{
    apbs_run_write_text("bad.pqr", "REMARK\nATOM 1 N ASY 1 0.331 0.935 x -0.470 1.850\n");
    assert_int_equal(system("gzip -c one.pqr > one.pqr.gz"), 0);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const refusal *r = &refusals[i];
        ley_apbs_input *input = NULL;
        ley_error error = {0};
        char place[32];
        apbs_run_write_text("in.in", r->text);
        ley_status status = ley_apbs_input_read("in.in", &input, &error);
        snprintf(place, sizeof place, "in.in:%d: ", r->line);
        if ((status != LEY_ERROR_INPUT && status != LEY_ERROR_FILE) || input != NULL || error.status != status ||
            strncmp(error.message, place, strlen(place)) != 0 || strstr(error.message, r->message) == NULL)
            fail_msg("%s\nnot \"%s%s\": %s", r->text, place, r->message, error.message);
        assert_int_equal(ley_apbs_input_read("in.in", &input, NULL), status);
        ley_error_clear(&error);
    }
}

/* What the table says of APBS is true. */
static void refused_by_apbs(void **state)
{
    if (!apbs_run_is_there())
        skip();
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        if (!refusals[i].by_apbs)
            continue;
        apbs_run_write_text("in.in", refusals[i].text);
        char *output = apbs_run("in.in");
        if (strstr(output, "CALCULATION #1") != NULL)
            fail_msg("APBS calculates:\n%s", refusals[i].text);
        free(output);
    }
}

static void refused_files(void **state)
{
    ley_apbs_input *input = NULL;
    ley_error error = {0};
    assert_error_is(ley_apbs_input_read("nowhere.in", &input, &error), LEY_ERROR_FILE,
                    "nowhere.in: No such file or directory");
    assert_error_is(ley_apbs_input_read(".", &input, &error), LEY_ERROR_FILE, ".: Is a directory");
    apbs_run_write_file("in.in", "read\nmol\0pqr", 12);
    assert_error_is(ley_apbs_input_read("in.in", &input, &error), LEY_ERROR_INPUT,
                    "in.in:2: a NUL byte: this is not a text file");
    FILE *file = fopen("in.in", "wb");
    for (int i = 0; i < 1 << 18; i++)
        fputs("#####\n", file);
    fclose(file);
    assert_error_is(ley_apbs_input_read("in.in", &input, &error), LEY_ERROR_INPUT,
                    "in.in:1: longer than 1048576 bytes, which is more than such a file has");
    char long_path[2000];
    memset(long_path, 'a', sizeof long_path - 1);
    long_path[sizeof long_path - 1] = '\0';
    file = fopen("in.in", "wb");
    fprintf(file, "read\nmol pqr %s end", long_path);
    fclose(file);
    assert_error_is(ley_apbs_input_read("in.in", &input, &error), LEY_ERROR_INPUT,
                    "in.in:2: a path of more than 1023 bytes");
    file = fopen("in.in", "wb");
    fputs("read\n", file);
    for (int i = 0; i < 21; i++)
        fputs("mol pqr one.pqr\n", file);
    fclose(file);
    assert_error_is(ley_apbs_input_read("in.in", &input, &error), LEY_ERROR_INPUT,
                    "in.in:22: APBS reads 20 molecules at most");
    file = fopen("in.in", "wb");
    fputs(READ, file);
    for (int i = 0; i < 21; i++)
        fputs("elec fe-manual end\n", file);
    fclose(file);
    assert_error_is(ley_apbs_input_read("in.in", &input, &error), LEY_ERROR_INPUT,
                    "in.in:22: APBS knows 20 ELEC sections at most");
    assert_null(input);
    ley_error_clear(&error);
}

/* ---- Remarks --------------------------------------------------------------------------------- */

/* The files are fine, and each makes exactly this remark. */
static void remarks(void **state)
{
    static const struct {
        const char *pqr, *read, *elec, *remark;
    } rows[] = {
        {NULL, "", "", NULL},
        {NULL, "", "dime 66 100 65",
         "in.in:4: 'dime' again: the last one counts\n"
         "in.in:4: APBS makes dime 66 100 65 into 65 97 65\n"},
        {NULL, "", "gcent 1 2 3", "in.in:4: 'gcent' again: the molecule counts\n"},
        {NULL, "", "sdens 10A", "in.in:4: APBS reads '10A' as '10'\n"},
        {NULL, "", "async 2.5", "in.in:4: APBS reads '2.5' as '2'\n"},
        {NULL, "molecule pqr one.pqr", "", "in.in:1: APBS ignores 'molecule', which is no keyword here\n"},
        {NULL, "mol mol2 a.mol2", "", "in.in:1: APBS ignores 'mol2', which is no keyword here\n"},
        {NULL, "pot dx p.dx", "", "in.in:1: potential maps are read, and no ELEC section uses them\n"},
        {NULL, "pot dx p.dx", "\nusemap pot 1 bcfl map",
         "in.in:5: 'bcfl' again: the last one counts\n"
         "in.in:5: the boundary is a map already\n"},
        {NULL, "parm flat p.dat", "",
         "in.in:1: with `parm` APBS replaces the charges and radii of its molecules: the boundary of the ELEC section "
         "of line 2 is "
         "left to APBS\n"},
        {NULL, "kappa dx k.dx", "\n\ncalcforce comps", "in.in:6: APBS calculates no forces in a run that reads maps\n"},
        {"ATOM 1 N ASY A 5 0.5 0.9 -1.8 -0.4 1.8\nATOM 2 N ASY A5 0.5 0.9 -1.8 -0.4 1.8 N\n"
         "HETATM 2 N ASY A 5 0.5 0.9 -1.8 -0.4 1.8\natom 2 N ASY 5B 0.5 0.9 -1.8 -0.4 1.8 # x\nTER\n",
         "", "", NULL},
        {"ATOM 1 N ASY 5 0.5 0.9 -1.8 -0.4 1.8\nATOM 1 N ASY 1 5 0.5 0.9 -1.8 -0.4 1.8\n", "", "",
         "a.pqr:2: APBS reads this atom at (5, 0.5, 0.9) A with charge -1.8 e and radius -0.4 A: it takes the chain "
         "identifier '1' "
         "for the residue number\n"},
        {"ATOM 1 N ASY AB 5 0.5 0.9 -1.8 -0.4 1.8\n", "", "", "a.pqr:1: APBS cannot read this atom\n"},
        {"ATOM 1 N ASY 5 0.5 0.9 -1.8 -0.4 1.8\nHETATM12345 N ASY 6 0.5 0.9 -1.8 -0.4 1.8\n", "", "",
         "a.pqr:2: APBS passes over this atom: a number has grown to the record's name\n"},
        {"MODEL 1\nATOM 1 N ASY 5 0.5 0.9 -1.8 -0.4 1.8\nENDMDL\nMODEL 2\nATOM 1 N ASY 5 0.5 0.9 -1.8 -0.4 "
         "1.8\nENDMDL\n",
         "", "", "a.pqr:5: APBS also reads the atoms of the other models, from here on\n"},
        {"ATOM      1  N   GLY A1000    -999.999-999.999-999.999 -0.5 1.5\n", "", "",
         "a.pqr:1: APBS cannot read this atom\n"},
        {"ATOM      1  N   GLY A   1      -9.999  -9.999  -9.999  1.00  5.89           N  \n", "", "",
         "a.pqr:1: this is a PDB file, not a PQR file: an element's symbol stands in columns 77-78. APBS takes its "
         "occupancies "
         "for charges and its B factors for radii; pdb2pqr --ff AMBER 'a.pqr' NEW.pqr makes a PQR file of it\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[1024], all[2048] = "";
        apbs_run_write_text("a.pqr", rows[i].pqr != NULL ? rows[i].pqr : apbs_run_one_pqr);
        snprintf(text, sizeof text, "read mol pqr a.pqr %s end\nelec mg-manual\n%s%s%s\nend\n", rows[i].read,
                 strstr(rows[i].elec, "dime") == NULL ? GRID : "dime 33 33 33 glen 20 20 20 gcent mol 1\n", PHYSICS,
                 "");
        /* The extra words stand on the line behind the physics' first. */
        char *end = strstr(text, PHYSICS) + strlen(PHYSICS) - 1;
        snprintf(end, sizeof text - (size_t)(end - text), " %s\nend\n", rows[i].elec);
        ley_apbs_input *input = apbs_run_read_text(text);
        for (size_t k = 0; k < ley_apbs_warning_count(input); k++)
            snprintf(all + strlen(all), sizeof all - strlen(all), "%s\n", ley_apbs_warning(input, k));
        assert_string_equal(all, rows[i].remark != NULL ? rows[i].remark : "");
        ley_apbs_input_destroy(input);
    }
}

static void remarks_on_runs(void **state)
{
    ley_apbs_input *pdb =
        apbs_run_read_text("read mol pdb one.pqr\nparm flat p.dat end elec mg-manual\n" GRID PHYSICS "end\n");
    assert_int_equal(ley_apbs_warning_count(pdb), 1);
    assert_string_equal(
        ley_apbs_warning(pdb, 0),
        "in.in:4: mol 1 is a pdb file (one.pqr): the boundary is left to APBS, as leyden computes those of PQR "
        "files only");
    assert_int_equal(ley_apbs_elec_get(pdb, 0)->boundary, LEY_BOUNDARY_OTHER);
    ley_apbs_input_destroy(pdb);
    static const char para[] =
        READ "elec mg-para pdime 2 2 1 ofrac 0.1 dime 33 33 33 cglen 40 40 40 fglen 20 20 20 cgcent mol 1 "
             "fgcent mol 1 " PHYSICS "end\n";
    ley_apbs_input *input = apbs_run_read_text(para);
    assert_int_equal(ley_apbs_warning_count(input), 1);
    assert_string_equal(ley_apbs_warning(input, 0),
                        "in.in:2: APBS leaves this section out unless it runs as 4 MPI processes or with `async`");
    ley_apbs_input_destroy(input);
    input = apbs_run_read_text(READ "elec mg-manual dime 33 33 33 grid 1 1 1 gcent mol 1\n" PHYSICS
                                    "ion 1 0.1 2 ion -1 0.1 2\nion 0 0.3 1\nend\n");
    assert_int_equal(ley_apbs_warning_count(input), 1);
    assert_non_null(strstr(ley_apbs_warning(input, 0), ": ion 3 has a charge of 0 and no part in the screening"));
    ley_apbs_input_destroy(input);
    FILE *file = fopen("in.in", "wb");
    fputs(READ, file);
    for (int i = 0; i < 11; i++)
        fprintf(file,
                "elec mg-auto dime 33 33 33 cglen 40 40 40 fglen 20 20 20 cgcent mol 1 fgcent mol 1 " PHYSICS "end\n");
    fclose(file);
    input = apbs_run_read_fine("in.in");
    assert_int_equal(ley_apbs_warning_count(input), 1);
    assert_string_equal(ley_apbs_warning(input, 0),
                        "in.in:22: APBS has room for 20 calculations: it leaves this section out");
    ley_apbs_input_destroy(input);
}

/* ---- Rewriting ------------------------------------------------------------------------------- */

static void rewritten(void **state)
{
#define TAIL " pdie 2 sdie 78.5 chgm spl0 srfm spl2 swin 0.3 temp 300 lpbe mol 1 " GRID "end"
    static const struct {
        const char *text, *maps[2], *expected;
    } rows[] = {
        {"read\n    mol pqr one.pqr # the ion\nend\n\nelec mg-manual\n    bcfl mdh   # best\n" TAIL "\n",
         {"b.dx"},
         "read\n    mol pqr one.pqr # the ion\n    pot dx b.dx\nend\n\nelec mg-manual\n    usemap pot 1\n    bcfl map  "
         " # best\n" TAIL "\n"},
        {"READ\r\n\tMOL PQR one.pqr\r\nEND\r\nELEC mg-manual\r\n\tBCFL SDH\r\n" TAIL,
         {"b.dx"},
         "READ\r\n\tMOL PQR one.pqr\r\n\tpot dx b.dx\r\nEND\r\nELEC mg-manual\r\n\tusemap pot 1\r\n\tBCFL "
         "map\r\n" TAIL},
        {"read mol pqr one.pqr end elec mg-manual bcfl 2" TAIL,
         {"b.dx"},
         "read mol pqr one.pqr pot dx b.dx end elec mg-manual bcfl map usemap pot 1" TAIL},
        {"read mol pqr one.pqr\nend elec mg-manual bcfl\n mdh#x\n" TAIL " quit read end",
         {"a b.dx"},
         "read mol pqr one.pqr\n    pot dx \"a b.dx\"\nend elec mg-manual bcfl\n map usemap pot 1#x\n" TAIL
         " quit read end"},
        /* The last READ, behind the maps that are there; the section that keeps its boundary. */
        {"read mol pqr one.pqr pot dx old.dx end\nelec mg-manual\nbcfl mdh" TAIL
         "\nelec mg-auto\nbcfl mdh cglen 40 40 40 fglen 20 20 20 "
         "cgcent mol 1 fgcent mol 1" TAIL "\nread\nend\nquit\n",
         {NULL, "c.dx"},
         "read mol pqr one.pqr pot dx old.dx end\nelec mg-manual\nbcfl mdh" TAIL
         "\nelec mg-auto\nusemap pot 2\nbcfl map cglen 40 40 40 "
         "fglen 20 20 20 cgcent mol 1 fgcent mol 1" TAIL "\nread\n    pot dx c.dx\nend\nquit\n"},
        {"read\n  mol pqr one.pqr\n  end\nelec mg-dummy\nbcfl zero bcfl mdh" TAIL "\nelec mg-manual\n\t bcfl mdh" TAIL
         "\n",
         {"a.dx", "c.dx"},
         "read\n  mol pqr one.pqr\n  pot dx a.dx\n  pot dx c.dx\n  end\nelec mg-dummy\nbcfl zero bcfl map usemap pot "
         "1" TAIL "\nelec mg-manual\n\t usemap pot 2\n\t bcfl map" TAIL "\n"},
        {"read mol pqr one.pqr end elec mg-manual bcfl mdh" TAIL,
         {NULL},
         "read mol pqr one.pqr end elec mg-manual bcfl mdh" TAIL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ley_error error = {0};
        ley_apbs_input *input = apbs_run_read_text(rows[i].text);
        assert_ok(ley_apbs_input_write(input, rows[i].maps, "out.in", &error));
        char *text = apbs_run_read_file("out.in");
        assert_string_equal(text, rows[i].expected);
        free(text);
        ley_apbs_input_destroy(input);
        input = apbs_run_read_fine("out.in");
        for (size_t k = 0; k < ley_apbs_elec_count(input); k++)
            if (rows[i].maps[k] != NULL)
                assert_int_equal(ley_apbs_elec_get(input, k)->boundary, LEY_BOUNDARY_OTHER);
        ley_apbs_input_destroy(input);
    }
}

static void not_rewritten(void **state)
{
    static const struct {
        const char *text, *map, *message;
        ley_status status;
    } rows[] = {
        {MANUAL("calcforce total"), "a.dx", "in.in:5: calcforce: a potential map disables forces in all ELEC sections",
         LEY_ERROR_INPUT},
        {MANUAL("") "elec fe-manual\ncalcforce 2 end", "a.dx", "in.in:8: calcforce: a potential map", LEY_ERROR_INPUT},
        {READ "read pot dx p.dx end elec mg-manual\n" GRID PHYSICS "usemap pot 1\nend", "a.dx",
         "in.in:5: this ELEC section uses a potential map of its own", LEY_ERROR_INPUT},
        {MANUAL("bcfl focus"), "a.dx", "in.in:2: the boundary of this ELEC section cannot come from a map",
         LEY_ERROR_INPUT},
        {READ "elec fe-manual end", "a.dx", "in.in:2: the boundary of this ELEC section cannot", LEY_ERROR_INPUT},
        {MANUAL(""), "a=b.dx", "a=b.dx: APBS cannot read a path with byte 2", LEY_ERROR_USAGE},
        {MANUAL(""), "a#b.dx", "a#b.dx: APBS cannot read a path with byte 2", LEY_ERROR_USAGE},
        {MANUAL(""), "a  b.dx", "a  b.dx: APBS cannot read a path with byte 3", LEY_ERROR_USAGE},
        {MANUAL(""), " b.dx", " b.dx: APBS cannot read a path with byte 1", LEY_ERROR_USAGE},
        {MANUAL(""), "b.dx ", "b.dx : APBS cannot read a path with byte 5", LEY_ERROR_USAGE},
        {MANUAL(""), "\"b.dx", "\"b.dx: APBS cannot read a path with byte 1", LEY_ERROR_USAGE},
        {MANUAL(""), "", "a path of 0 bytes: APBS takes 1 to 1023", LEY_ERROR_USAGE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *maps[LEY_APBS_ELECS_MAX] = {rows[i].map};
        ley_error error = {0};
        ley_apbs_input *input = apbs_run_read_text(rows[i].text);
        unlink("out.in");
        ley_status status = ley_apbs_input_write(input, maps, "out.in", &error);
        if (status != rows[i].status || strncmp(error.message, rows[i].message, strlen(rows[i].message)) != 0)
            fail_msg("not \"%s\": %s", rows[i].message, error.message);
        assert_int_equal(access("out.in", F_OK), -1);
        ley_error_clear(&error);
        ley_apbs_input_destroy(input);
    }
    /* A run that reads maps has no forces anyhow. */
    const bool use[1] = {true}, none[1] = {false};
    ley_error error = {0};
    ley_apbs_input *input =
        apbs_run_read_text(READ "read kappa dx k.dx end elec mg-manual\n" GRID PHYSICS "calcforce total\nend");
    assert_ok(ley_apbs_input_check_maps(input, use, &error));
    ley_apbs_input_destroy(input);
    input = apbs_run_read_text(MANUAL("calcforce total"));
    assert_ok(ley_apbs_input_check_maps(input, none, &error));
    assert_int_equal(ley_apbs_input_check_maps(input, use, NULL), LEY_ERROR_INPUT);
    ley_apbs_input_destroy(input);
    /* A word that the map's line pushes over the edge of APBS's buffer. */
    char wide[9000] = "read mol pqr one.pqr end";
    size_t length = strlen(wide);
    memset(wide + length, ' ', 8100 - length);
    strcpy(wide + 8100, "elec mg-manual\n" GRID PHYSICS "end\n");
    input = apbs_run_read_text(wide);
    const char *map =
        "a-name-that-is-longer-than-the-room-that-is-left-in-the-buffer-and-so-the-next-word-is-lost-to-the-reader.dx";
    assert_error(ley_apbs_input_write(input, &map, "out.in", &error), LEY_ERROR_INPUT,
                 "with the maps' lines APBS's buffer of 8192 bytes would lose the word");
    map = "b.dx";
    ley_error_clear(&error);
    assert_ok(ley_apbs_input_write(input, &map, "out.in", &error));
    ley_apbs_input_destroy(input);
}

/* ---- Costs ----------------------------------------------------------------------------------- */

static void costs(void **state)
{
    ley_apbs_input *input =
        apbs_run_read_text(MANUAL("") "elec mg-manual\n" GRID PHYSICS "ion 1 0.1 2 ion -1 0.1 2\nend\n"
                                      "elec mg-manual\n" GRID PHYSICS "bcfl sdh\nend\n");
    double pairs = 3.0 * 6 * 33 * 33;
    costs_plant(&apbs_costs, NULL, (double[]){3.5e-9, 9.2e-9, 2e-8});
    const double *times = apbs_times;
    assert_true(fabs(ley_apbs_boundary_s(input, 0, 1) / (3.5e-9 * times[COST_PAIR_NO_SALT] * pairs) - 1) < 1e-12);
    assert_true(fabs(ley_apbs_boundary_s(input, 1, 2) / (9.2e-9 * times[COST_PAIR_SALT] * pairs / 2) - 1) < 1e-12);
    assert_true(ley_apbs_boundary_s(input, 2, 1) == 0);
    ley_apbs_input_destroy(input);
    assert_true(fabs(ley_apbs_read_s(1000000) / (2e-8 * times[COST_SCANNED_NUMBER] * 1e6) - 1) < 1e-12);
    assert_true(ley_apbs_read_s(0) == 0);
    costs_plant(&apbs_costs, NULL, NULL);
    assert_true(ley_apbs_read_s(1000000) > 0); /* measured, or in the cache */
    double s[COSTS_MOST];
    assert_true(costs_known(&apbs_costs, NULL, s));
    assert_true(s[COST_PAIR_SALT] > s[COST_PAIR_NO_SALT]);
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.begin = apbs_run_begin), words, buffer, sections, refused, refused_by_apbs,
                     refused_files, remarks, remarks_on_runs, rewritten, not_rewritten, costs);
}
