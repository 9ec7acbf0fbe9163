/* Signs that a file of atoms is a PDB file, not a PQR file: there an occupancy and a B factor stand
 * where a PQR file has charge and radius. docs/formats.md has the signs, and what they must not
 * mistake. */
#ifndef LEY_IO_PDB_SIGNS_H
#define LEY_IO_PDB_SIGNS_H

#include "leyden.h"

enum { LEY_PDB_REASON = 160 };

/* What has been seen so far; starts with zeros. */
typedef struct ley_pdb_signs {
    int64_t atoms;
    int64_t first_line;            /* of an atom's record */
    int64_t occupancies;           /* first numbers that may be one: 0 to 1, with two decimals, as the second one has */
    int64_t ones;                  /* first numbers that are 1 */
    int64_t in_columns, elements;  /* both numbers in PDB's columns; an element's symbol there as well */
    int64_t element_line;          /* of the first of these */
    int64_t wide;                  /* second numbers above 5 A */
    bool carbon, nitrogen, oxygen; /* names that begin so */
    int64_t record_line;           /* of the first record that only PDB files have; 0: none */
    char record[8];
} ley_pdb_signs;

/* A word of a line: charge, radius, the atom's name. */
typedef struct ley_pdb_word {
    const char *at;
    size_t length;
    double value; /* of a number */
} ley_pdb_word;

/* A record that holds no atom; `length`: of its line. */
void ley_pdb_see_record(ley_pdb_signs *signs, const char *line, size_t length, int64_t line_number);

/* An atom's record and what is read in it. */
void ley_pdb_see_atom(ley_pdb_signs *signs, const char *line, size_t length, int64_t line_number,
                      const ley_pdb_word *name, const ley_pdb_word *charge, const ley_pdb_word *radius);

/* Adds what was seen in the next part of the file, in front of which there are so many lines. */
void ley_pdb_add_signs(ley_pdb_signs *signs, const ley_pdb_signs *part, int64_t lines);

/* Whether this is a PDB file; then why, in words, and the line that shows it. `path`: its name is a
 * sign, too. */
bool ley_pdb_is_one(const ley_pdb_signs *signs, const char *path, char reason[LEY_PDB_REASON], int64_t *line_number);

#endif
