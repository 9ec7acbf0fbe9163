/* Signs that a file of atoms is a PDB, PDBQT or mmCIF file, not a PQR file: there an occupancy and
 * a B factor stand where a PQR file has charge and radius; and of a PQR file with these two in the
 * other order. docs/formats.md has the signs, and what they must not mistake. */
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
    int64_t docked;        /* atoms with a partial charge and AutoDock's type in PDBQT's columns */
    int64_t docked_line;   /* of the first of these */
    int64_t torsions_line; /* of the first record that only PDBQT files have; 0: none */
    int64_t mmcif_line;    /* of the first item of mmCIF's table of atoms */
    int64_t swapped_line;  /* of a remark that radii stand in front of charges */
} ley_pdb_signs;

/* What a file is in place of a PQR file. */
typedef struct ley_pdb_finding {
    bool is_pdb;
    int64_t line; /* that shows it */
    char reason[LEY_PDB_REASON];
    const char *kind;                  /* "a PDB file, not a PQR file" */
    const char *as_charges, *as_radii; /* what would be taken for these */
    const char *before, *behind;       /* its path between these: how a PQR file comes of it */
} ley_pdb_finding;

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

/* Whether this is such a file; then what, why, and the line that shows it. `path`: its name is a
 * sign, too. */
void ley_pdb_judge(const ley_pdb_signs *signs, const char *path, ley_pdb_finding *finding);

#endif
