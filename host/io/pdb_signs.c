/* What tells a PDB file from a PQR file. A PQR file must never be taken for one, so that no single
 * sign counts that a PQR file can have by chance: its numbers must look like occupancies and B
 * factors throughout, and another sign must say so. */
#include "io/pdb_signs.h"

#include "io/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
    X_POINT = 34, /* PDB's columns, counted from 0: the points of x, y, z, occupancy and B factor */
    Y_POINT = 42,
    Z_POINT = 50,
    OCCUPANCY_POINT = 57,
    FACTOR_POINT = 63,
    OCCUPANCY = 54, /* where these begin */
    FACTOR = 60,
    COLUMN = 6,  /* their width */
    CHARGE = 70, /* PDBQT's columns of charge and type */
    CHARGE_POINT = 72,
    TYPE = 77,
    ELEMENT = 76,
    DATE = 50, /* of HEADER: dd-MMM-yy */
    MANY = 10  /* atoms: fewer tell nothing by their radii */
};

static const double widest_radius_A = 5;

/* ---- Records --------------------------------------------------------------------------------- */

/* Records of crystals, sequences and structures. HEADER, TITLE, REMARK, CRYST1 and MODEL are not
 * among them: programs that write PQR files write these, too. */
static const char *const pdb_records[] = {
    "ANISOU", "SIGATM", "SIGUIJ", "SEQRES", "SEQADV", "DBREF",  "DBREF1", "DBREF2",
    "MODRES", "HETNAM", "HETSYN", "FORMUL", "HELIX",  "SHEET",  "TURN",   "SSBOND",
    "CISPEP", "ORIGX1", "SCALE1", "MTRIX1", "EXPDTA", "REVDAT", "NUMMDL", "MASTER",
};

/* "HEADER    HYDROLASE                               12-JAN-95   1ABC" */
static bool is_dated_header(const char *line, size_t length)
{
    return length >= DATE + 9 && memcmp(line, "HEADER", 6) == 0 && line[DATE + 2] == '-' && line[DATE + 6] == '-' &&
           ley_is_digit(line[DATE + 1]) && ley_is_digit(line[DATE + 7]) && ley_is_digit(line[DATE + 8]);
}

/* Of the tree of torsions that AutoDock's files have. */
static const char *const torsion_records[] = {"ROOT", "ENDROOT", "BRANCH", "ENDBRANCH", "TORSDOF"};

static bool is_one_of(const char *word, size_t length, const char *const *records, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (length == strlen(records[i]) && memcmp(word, records[i], length) == 0)
            return true;
    return false;
}

/* "REMARK  atom radii in columns 55-62", as ambpqr wrote it: the charges follow behind them. */
static bool says_radii_first(const char *line, size_t length)
{
    static const char words[] = "radii in columns 55";
    const size_t n = sizeof words - 1;
    for (size_t i = 0; i + n <= length; i++)
        if (strncasecmp(line + i, words, n) == 0)
            return true;
    return false;
}

static void note(int64_t *first, bool is_there, int64_t line_number)
{
    if (*first == 0 && is_there)
        *first = line_number;
}

void ley_pdb_see_record(ley_pdb_signs *signs, const char *line, size_t length, int64_t line_number)
{
    static const char item[] = "_atom_site.";
    size_t word = 0;
    while (word < length && !ley_is_space(line[word]))
        word++;
    if (word == 0)
        return;
    const bool is_remark = word == 6 && memcmp(line, "REMARK", 6) == 0;
    note(&signs->swapped_line, is_remark && says_radii_first(line, length), line_number);
    note(&signs->mmcif_line, word >= sizeof item - 1 && memcmp(line, item, sizeof item - 1) == 0, line_number);
    note(&signs->torsions_line,
         is_one_of(line, word, torsion_records, sizeof torsion_records / sizeof *torsion_records), line_number);
    if (signs->record_line > 0 || !(is_dated_header(line, length) ||
                                    is_one_of(line, word, pdb_records, sizeof pdb_records / sizeof *pdb_records)))
        return;
    signs->record_line = line_number;
    memcpy(signs->record, line, word < 6 ? word : 6);
}

/* ---- Atoms ----------------------------------------------------------------------------------- */

static bool has_two_decimals(const ley_pdb_word *word)
{
    return word->length >= 3 && word->at[word->length - 3] == '.' && ley_is_digit(word->at[word->length - 1]) &&
           ley_is_digit(word->at[word->length - 2]);
}

/* A number that ends behind two decimals of its six columns. */
static bool read_column(const char *line, size_t start, double *value)
{
    size_t first = start, end = start + COLUMN;
    while (first < end && line[first] == ' ')
        first++;
    return ley_parse_double(line + first, end - first, value) == LEY_NUMBER_FINE;
}

static bool is_in_columns(const char *line, size_t length, double *occupancy, double *factor)
{
    static const size_t points[] = {X_POINT, Y_POINT, Z_POINT, OCCUPANCY_POINT, FACTOR_POINT};
    if (length < FACTOR + COLUMN || (length > FACTOR + COLUMN && !ley_is_space(line[FACTOR + COLUMN])))
        return false;
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        if (line[points[i]] != '.')
            return false;
    return read_column(line, OCCUPANCY, occupancy) && read_column(line, FACTOR, factor);
}

/* Two columns: a letter behind a blank, or two letters. */
static bool has_element(const char *line, size_t length)
{
    if (length < ELEMENT + 2)
        return false;
    const char first = line[ELEMENT], second = line[ELEMENT + 1];
    const bool ends =
        length == ELEMENT + 2 || !((line[ELEMENT + 2] | 0x20) >= 'a' && (line[ELEMENT + 2] | 0x20) <= 'z');
    return ends && (first == ' ' || (first >= 'A' && first <= 'Z')) && (second | 0x20) >= 'a' &&
           (second | 0x20) <= 'z' && ley_is_space(line[ELEMENT - 1]);
}

/* A partial charge of three decimals in columns 71-76 and an atom's type in 78-79. */
static bool is_docked(const char *line, size_t length)
{
    static const char *const types[] = {"A",  "C",  "N",  "NA", "NS", "OA", "OS", "O",  "S",  "SA", "P",  "F",
                                        "Cl", "CL", "Br", "BR", "I",  "H",  "HD", "HS", "Mg", "MG", "Ca", "CA",
                                        "Mn", "MN", "Fe", "FE", "Zn", "ZN", "W",  "G",  "G0", "CG", "CG0"};
    if (length <= TYPE || line[CHARGE_POINT] != '.' || line[TYPE - 1] != ' ')
        return false;
    size_t end = TYPE, start = CHARGE;
    while (end < length && !ley_is_space(line[end]))
        end++;
    while (start < CHARGE_POINT && line[start] == ' ')
        start++;
    double charge;
    return ley_parse_double(line + start, CHARGE + COLUMN - start, &charge) == LEY_NUMBER_FINE &&
           is_one_of(line + TYPE, end - TYPE, types, sizeof types / sizeof *types);
}

static void see_name(ley_pdb_signs *signs, const ley_pdb_word *name)
{
    size_t i = 0;
    while (i < name->length && ley_is_digit(name->at[i]))
        i++;
    const char first = i < name->length ? name->at[i] : ' ';
    signs->carbon = signs->carbon || first == 'C';
    signs->nitrogen = signs->nitrogen || first == 'N';
    signs->oxygen = signs->oxygen || first == 'O';
}

void ley_pdb_see_atom(ley_pdb_signs *signs, const char *line, size_t length, int64_t line_number,
                      const ley_pdb_word *name, const ley_pdb_word *charge, const ley_pdb_word *radius)
{
    double occupancy = charge->value, factor = radius->value;
    const bool in_columns = is_in_columns(line, length, &occupancy, &factor);
    const bool two_decimals = in_columns || (has_two_decimals(charge) && has_two_decimals(radius));
    if (signs->atoms++ == 0)
        signs->first_line = line_number;
    signs->occupancies += two_decimals && occupancy >= 0 && occupancy <= 1;
    signs->ones += occupancy == 1;
    signs->wide += factor > widest_radius_A;
    signs->in_columns += in_columns;
    if (in_columns && has_element(line, length) && signs->elements++ == 0)
        signs->element_line = line_number;
    if (in_columns && is_docked(line, length) && signs->docked++ == 0)
        signs->docked_line = line_number;
    see_name(signs, name);
}

/* ---- Parts of a file ------------------------------------------------------------------------- */

static void add_line(int64_t *first, int64_t of_part, int64_t lines)
{
    if (*first == 0 && of_part > 0)
        *first = of_part + lines;
}

void ley_pdb_add_signs(ley_pdb_signs *signs, const ley_pdb_signs *part, int64_t lines)
{
    if (signs->record_line == 0 && part->record_line > 0)
        memcpy(signs->record, part->record, sizeof signs->record);
    add_line(&signs->first_line, part->first_line, lines);
    add_line(&signs->element_line, part->element_line, lines);
    add_line(&signs->record_line, part->record_line, lines);
    add_line(&signs->docked_line, part->docked_line, lines);
    add_line(&signs->torsions_line, part->torsions_line, lines);
    add_line(&signs->mmcif_line, part->mmcif_line, lines);
    add_line(&signs->swapped_line, part->swapped_line, lines);
    signs->atoms += part->atoms;
    signs->occupancies += part->occupancies;
    signs->ones += part->ones;
    signs->in_columns += part->in_columns;
    signs->elements += part->elements;
    signs->docked += part->docked;
    signs->wide += part->wide;
    signs->carbon = signs->carbon || part->carbon;
    signs->nitrogen = signs->nitrogen || part->nitrogen;
    signs->oxygen = signs->oxygen || part->oxygen;
}

/* ---- The verdict ----------------------------------------------------------------------------- */

static bool is_named_so(const char *path)
{
    static const char *const endings[] = {".pdb", ".ent", ".pdb1", ".pdb.gz", ".ent.gz", ".pdb1.gz"};
    const size_t length = strlen(path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t n = strlen(endings[i]);
        if (length >= n && strcasecmp(path + length - n, endings[i]) == 0)
            return true;
    }
    return false;
}

/* A PDB file: why, and the line that shows it. */
static bool is_pdb(const ley_pdb_signs *signs, const char *path, char reason[LEY_PDB_REASON], int64_t *line_number)
{
    const int64_t n = signs->atoms;
    const bool like_occupancies = n > 0 && signs->occupancies == n, all_ones = n > 0 && signs->ones == n;
    *line_number = signs->first_line;
    if (is_named_so(path) && (like_occupancies || all_ones)) {
        snprintf(reason, LEY_PDB_REASON, "its name says so, and %s",
                 all_ones ? "every charge would be 1" : "every charge would be 0 to 1 with two decimals");
        return true;
    }
    if (!like_occupancies)
        return false;
    if (signs->record_line > 0) {
        *line_number = signs->record_line;
        snprintf(reason, LEY_PDB_REASON, "it has a record %s", signs->record);
        return true;
    }
    if (signs->in_columns == n && signs->elements > 0) {
        *line_number = signs->element_line;
        snprintf(reason, LEY_PDB_REASON, "an element's symbol stands in columns 77-78");
        return true;
    }
    if (all_ones && signs->carbon && signs->nitrogen && signs->oxygen) {
        snprintf(reason, LEY_PDB_REASON, "carbon, nitrogen and oxygen would all have the charge 1");
        return true;
    }
    if (signs->in_columns == n && n >= MANY && 2 * signs->wide > n) {
        snprintf(reason, LEY_PDB_REASON, "most radii would be larger than %g A", widest_radius_A);
        return true;
    }
    return false;
}

static void find(ley_pdb_finding *finding, int64_t line_number, const char *reason)
{
    finding->is_pdb = true;
    finding->line = line_number;
    snprintf(finding->reason, LEY_PDB_REASON, "%s", reason);
}

void ley_pdb_judge(const ley_pdb_signs *signs, const char *path, ley_pdb_finding *finding)
{
    *finding = (ley_pdb_finding){.kind = "a PDB file, not a PQR file",
                                 .as_charges = "occupancies",
                                 .as_radii = "B factors",
                                 .before = "pdb2pqr --ff AMBER '",
                                 .behind = "' NEW.pqr makes a PQR file of it"};
    const int64_t n = signs->atoms;
    if (signs->mmcif_line > 0) {
        finding->kind = "an mmCIF file, not a PQR file";
        find(finding, signs->mmcif_line, "it has a table of _atom_site");
    } else if ((n > 0 && signs->docked == n) || (signs->torsions_line > 0 && signs->occupancies == n)) {
        finding->kind = "a PDBQT file of AutoDock, not a PQR file";
        finding->before = "python3 -m leyden convert '";
        finding->behind = "' -o NEW.pqr makes a PQR file of it";
        const bool has_torsions = signs->torsions_line > 0;
        find(finding, has_torsions ? signs->torsions_line : signs->docked_line,
             has_torsions ? "it has a tree of torsions" : "charges and AutoDock's types stand in columns 71-79");
    } else if (signs->swapped_line > 0) {
        finding->kind = "a PQR file with radii in front of charges";
        finding->as_charges = "radii";
        finding->as_radii = "charges";
        finding->before =
            "awk '/^REMARK/ {next} /^(ATOM|HETATM)/ {$0 = substr($0, 1, 54) \" \" substr($0, 63, 8) \" \" "
            "substr($0, 55, 8) substr($0, 71)} 1' '";
        finding->behind = "' > NEW.pqr exchanges them";
        find(finding, signs->swapped_line, "a remark says so");
    } else {
        finding->is_pdb = is_pdb(signs, path, finding->reason, &finding->line);
    }
}
