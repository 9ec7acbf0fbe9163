/* PQR files: read, and written atom by atom. */
#ifndef LEY_IO_PQR_H
#define LEY_IO_PQR_H

#include "io/output.h"
#include "io/pdb_signs.h"
#include "source/atoms.h"

/* What to do with a PDB file, or another one of ley_pdb_judge(), that passes for a PQR file. */
typedef enum ley_pdb_policy { LEY_PDB_REFUSED, LEY_PDB_TAKEN } ley_pdb_policy;

/* As ley_atoms_read_pqr(), which refuses PDB files. */
ley_status ley_pqr_read(const char *path, ley_pdb_policy policy, ley_pdb_finding *finding, ley_atoms **atoms,
                        ley_error *error);

/* The same on so many threads, by pieces of so many bytes: atoms and errors are those of one. */
ley_status ley_pqr_read_pieces(const char *path, ley_pdb_policy policy, int threads, int64_t piece_bytes,
                               ley_pdb_finding *finding, ley_atoms **atoms, ley_error *error);

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

#endif
