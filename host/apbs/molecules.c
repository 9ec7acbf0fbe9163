/* The molecules of an APBS input file, and what APBS makes of them. */
#include "apbs/molecules.h"
#include "error.h"
#include "io/atoms_file.h"
#include "io/pqr.h"
#include "io/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS_MAX = 16, NUMBERS = 5 };

typedef struct field {
    const char *at;
    size_t length;
} field;

/* An atom's record as APBS reads it. */
typedef struct record {
    field residue_number; /* what APBS takes for it */
    double number[NUMBERS];
} record;

/* ---- APBS's reading -------------------------------------------------------------------------- */

/* Words of a line up to a comment. */
static size_t split(const char *line, field fields[FIELDS_MAX])
{
    size_t n = 0;
    while (n < FIELDS_MAX) {
        while (*line == ' ' || *line == '\t' || *line == '\r')
            line++;
        if (*line == '\0' || ley_apbs_is_comment(*line))
            break;
        fields[n].at = line;
        while (*line != '\0' && *line != ' ' && *line != '\t' && *line != '\r' && !ley_apbs_is_comment(*line))
            line++;
        fields[n].length = (size_t)(line - fields[n].at);
        n++;
    }
    return n;
}

/* Whether the field begins with an integer behind its first `skip` characters. */
static bool starts_integer(const field *f, size_t skip)
{
    const char *c = f->at + skip, *end = f->at + f->length;
    if (c < end && (*c == '+' || *c == '-'))
        c++;
    return c < end && ley_is_digit(*c);
}

static bool read_number(const field *f, double *number)
{
    char *end;
    *number = strtod_l(f->at, &end, ley_c_locale());
    return end > f->at;
}

/* ATOM serial name residue [chain] number [something] x y z charge radius; false when APBS gives up
 * here. */
static bool read_record(const field *fields, size_t n, record *result)
{
    size_t i = 4;
    if (i >= n)
        return false;
    if (!starts_integer(&fields[i], 0)) {
        /* A chain: one letter, or one letter in front of the number. */
        if (fields[i].length == 1 ? ++i >= n || !starts_integer(&fields[i], 0) : !starts_integer(&fields[i], 1))
            return false;
    }
    result->residue_number = fields[i++];
    if (i < n && !read_number(&fields[i], &result->number[0]))
        i++; /* an insertion code */
    if (i + NUMBERS > n)
        return false;
    for (size_t k = 0; k < NUMBERS; k++)
        if (!read_number(&fields[i + k], &result->number[k]))
            return false;
    return true;
}

/* ---- Comparison ------------------------------------------------------------------------------ */

static bool is_same(const ley_atoms *atoms, size_t i, const record *r)
{
    return memcmp(ley_atoms_positions_A(atoms) + 3 * i, r->number, 3 * sizeof(double)) == 0 &&
           ley_atoms_charges_e(atoms)[i] == r->number[3] && ley_atoms_radii_A(atoms)[i] == r->number[4];
}

static void warn_other(ley_apbs_input *input, const char *path, int line, const ley_atoms *atoms, size_t i,
                       const record *r)
{
    char quote[LEY_TEXT_QUOTE], reason[LEY_TEXT_QUOTE + 96] = "";
    if (ley_atoms_positions_A(atoms)[3 * i] == r->number[1])
        snprintf(reason, sizeof reason, ": it takes the chain identifier %s for the residue number",
                 ley_quote(r->residue_number.at, r->residue_number.length, quote));
    ley_apbs_warn(input, path, line, "APBS reads this atom at (%g, %g, %g) A with charge %g e and radius %g A%s",
                  r->number[0], r->number[1], r->number[2], r->number[3], r->number[4], reason);
}

/* A record's name that a serial number has grown to. */
static bool is_grown(const field *f)
{
    return (f->length > 4 && ley_word_is(f->at, 4, "ATOM") && starts_integer(f, 4)) ||
           (f->length > 6 && ley_word_is(f->at, 6, "HETATM") && starts_integer(f, 6));
}

/* Remarks on the first atom that APBS reads otherwise. */
static ley_status compare(ley_apbs_input *input, const ley_apbs_molecule_entry *molecule, ley_error *error)
{
    ley_text *text;
    ley_status status = ley_text_open(molecule->path, &text, error);
    if (status != LEY_OK)
        return status;
    const char *path = molecule->path;
    size_t i = 0, n = ley_atoms_count(molecule->atoms);
    for (;;) {
        const char *line;
        size_t length;
        status = ley_text_line(text, &line, &length, error);
        if (status != LEY_OK || line == NULL)
            break;
        field fields[FIELDS_MAX];
        size_t count = split(line, fields);
        int number = (int)ley_text_line_number(text);
        if (count > 0 && is_grown(&fields[0])) {
            ley_apbs_warn(input, path, number, "APBS passes over this atom: a number has grown to the record's name");
            break;
        }
        if (count == 0 || (!ley_word_is(fields[0].at, fields[0].length, "ATOM") &&
                           !ley_word_is(fields[0].at, fields[0].length, "HETATM")))
            continue;
        record r;
        if (!read_record(fields, count, &r)) {
            ley_apbs_warn(input, path, number, "APBS cannot read this atom");
            break;
        }
        if (i == n) {
            ley_apbs_warn(input, path, number, "APBS also reads the atoms of the other models, from here on");
            break;
        }
        if (!is_same(molecule->atoms, i, &r)) {
            warn_other(input, path, number, molecule->atoms, i, &r);
            break;
        }
        i++;
    }
    ley_text_close(text);
    return status;
}

static bool is_gzip(const char *path)
{
    unsigned char magic[2] = {0, 0};
    FILE *file = fopen(path, "rbe");
    size_t n = file != NULL ? fread(magic, 1, sizeof magic, file) : 0;
    if (file != NULL)
        fclose(file);
    return n == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
}

ley_status ley_apbs_read_molecules(ley_apbs_input *input, ley_error *error)
{
    for (size_t i = 0; i < input->molecule_count; i++) {
        ley_apbs_molecule_entry *molecule = &input->molecule[i];
        if (strcmp(molecule->format, "pqr") != 0)
            continue;
        if (is_gzip(molecule->path))
            return ley_apbs_fail(input, molecule->line, error, "%s: APBS reads no gzip file", molecule->path);
        ley_pdb_finding finding;
        ley_status status = ley_pqr_read(molecule->path, LEY_PDB_TAKEN, &finding, &molecule->atoms, error);
        if (status == LEY_OK && finding.is_pdb)
            ley_apbs_warn(input, molecule->path, (int)finding.line,
                          "this is %s: %s. APBS takes its %s for charges and its %s for radii; %s%s%s", finding.kind,
                          finding.reason, finding.as_charges, finding.as_radii, finding.before,
                          ley_name_to_type(molecule->path), finding.behind);
        if (status == LEY_OK)
            status = compare(input, molecule, error);
        if (status != LEY_OK) {
            ley_error_prefix(error, "%s:%d", input->path, molecule->line);
            return status;
        }
    }
    return LEY_OK;
}
