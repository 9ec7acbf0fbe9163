/* Files of atoms: written in parts, so that they may be larger than memory, and read straight into
 * place. */
#ifndef LEY_IO_ATOMS_FILE_H
#define LEY_IO_ATOMS_FILE_H

#include "core/atoms.h"
#include "io/output.h"
#include "io/pdb_signs.h"

/* ---- Forms ----------------------------------------------------------------------------------- */

typedef enum ley_atoms_form {
    LEY_ATOMS_FORM_NONE,  /* the name says nothing */
    LEY_ATOMS_FORM_PQR,   /* .pqr, .pqr.gz */
    LEY_ATOMS_FORM_BINARY /* .atoms */
} ley_atoms_form;

/* The form that a file's name asks for. */
ley_atoms_form ley_atoms_form_of(const char *path);

/* The complaint about a name that asks for none. */
ley_status ley_fail_atoms_form(const char *path, ley_error *error);

/* ---- PQR ------------------------------------------------------------------------------------- */

/* What to do with a PDB file that passes for a PQR file. */
typedef enum ley_pdb_policy { LEY_PDB_REFUSED, LEY_PDB_TAKEN } ley_pdb_policy;

/* Whether it is one, the line that shows it, and why. */
typedef struct ley_pdb_finding {
    bool is_pdb;
    int64_t line;
    char reason[LEY_PDB_REASON];
} ley_pdb_finding;

/* As ley_atoms_read_pqr(), which refuses PDB files. */
ley_status ley_pqr_read(const char *path, ley_pdb_policy policy, ley_pdb_finding *finding, ley_atoms **atoms,
                        ley_error *error);

typedef struct ley_pqr_writer {
    ley_output output;
    char *text;
    size_t used;
} ley_pqr_writer;

typedef struct ley_pqr_atom {
    int64_t serial, residue_number;
    const char *name, *residue; /* four columns, three columns */
    const double *position_A;   /* [3] */
    double charge_e, radius_A;
} ley_pqr_atom;

/* Starts a file, gzip when its name ends in ".gz"; `path` and `cancel` must outlive it. On failure
 * there is nothing to end. */
ley_status ley_pqr_open(ley_pqr_writer *writer, const char *path, const volatile bool *cancel, ley_error *error);
ley_status ley_pqr_put(ley_pqr_writer *writer, const ley_pqr_atom *atom, ley_error *error);

/* Ends the file: whole when status is LEY_OK, without a trace otherwise. Returns the status, or
 * what went wrong now. */
ley_status ley_pqr_close(ley_pqr_writer *writer, ley_status status, ley_error *error);

/* ---- The binary form ------------------------------------------------------------------------- */

/* XXH64, seed 0, of whole words of eight bytes. */
typedef struct ley_checksum {
    uint64_t lane[4], words, left[4]; /* left: words that make no stripe of four yet */
} ley_checksum;

void ley_checksum_start(ley_checksum *sum);
void ley_checksum_add(ley_checksum *sum, const void *bytes, size_t words);
uint64_t ley_checksum_end(const ley_checksum *sum);

typedef struct ley_atoms_writer {
    ley_output output;
    ley_checksum sum;
} ley_atoms_writer;

/* Starts a file of n atoms. What is put into it must be their 5 n numbers in all, in the order of
 * ley_atoms_numbers(). The rest is as for PQR. */
ley_status ley_atoms_writer_open(ley_atoms_writer *writer, const char *path, size_t n, const volatile bool *cancel,
                                 ley_error *error);
ley_status ley_atoms_writer_put(ley_atoms_writer *writer, const double *numbers, size_t count, ley_error *error);
ley_status ley_atoms_writer_close(ley_atoms_writer *writer, ley_status status, ley_error *error);

#endif
