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
    COLUMN = 6, /* their width */
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

void ley_pdb_see_record(ley_pdb_signs *signs, const char *line, size_t length, int64_t line_number)
{
    size_t word = 0;
    while (word < length && !ley_is_space(line[word]))
        word++;
    bool known = signs->record_line == 0 && is_dated_header(line, length);
    for (size_t i = 0; i < sizeof pdb_records / sizeof *pdb_records && signs->record_line == 0 && !known; i++)
        known = word == strlen(pdb_records[i]) && memcmp(line, pdb_records[i], word) == 0;
    if (!known)
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
    see_name(signs, name);
}

/* ---- Parts of a file ------------------------------------------------------------------------- */

void ley_pdb_add_signs(ley_pdb_signs *signs, const ley_pdb_signs *part, int64_t lines)
{
    if (signs->atoms == 0 && part->atoms > 0)
        signs->first_line = part->first_line + lines;
    if (signs->elements == 0 && part->elements > 0)
        signs->element_line = part->element_line + lines;
    if (signs->record_line == 0 && part->record_line > 0) {
        signs->record_line = part->record_line + lines;
        memcpy(signs->record, part->record, sizeof signs->record);
    }
    signs->atoms += part->atoms;
    signs->occupancies += part->occupancies;
    signs->ones += part->ones;
    signs->in_columns += part->in_columns;
    signs->elements += part->elements;
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

bool ley_pdb_is_one(const ley_pdb_signs *signs, const char *path, char reason[LEY_PDB_REASON], int64_t *line_number)
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
