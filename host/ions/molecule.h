/* A molecule's file, record by record. */
#ifndef LEY_IONS_MOLECULE_H
#define LEY_IONS_MOLECULE_H

#include "io/pqr_record.h"

/* A line of the file; of an atom what is needed to write it, or to tell what it belongs to. */
typedef struct molecule_line {
    const char *line;
    size_t length;
    int64_t atom;                                   /* its number from 0; -1: another record */
    pqr_field serial, name, residue, chain, number; /* as they stand there; of length 0: not there */
    double position_A[3];
} molecule_line;

typedef ley_status molecule_each(void *context, const molecule_line *line, ley_error *error);

/* Calls each() for all lines, as far as atoms are read from them; what comes behind a first model
 * has atom -1, and is not to be looked at (`length` 0). `atoms`: how many there must be. Errors:
 * LEY_ERROR_INPUT where there are others, of files that are no text, and those of each(). */
ley_status molecule_walk(const char *path, size_t atoms, molecule_each *each, void *context, ley_error *error);

#endif
