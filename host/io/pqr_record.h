/* A record of a PQR file: where its numbers stand. docs/formats.md has the rules. */
#ifndef LEY_IO_PQR_RECORD_H
#define LEY_IO_PQR_RECORD_H

#include "io/text.h"
#include "source/atoms.h"

enum { PQR_NUMBERS = LEY_ATOM_NUMBERS }; /* x, y, z, charge, radius */

typedef struct pqr_field {
    const char *at;
    size_t length;
    bool parsed; /* what follows is known */
    ley_number kind;
    double value;
} pqr_field;

/* What a record says of the atom in words. */
typedef struct pqr_words {
    pqr_field name;   /* of length 0 where there is none */
    bool is_residue;  /* the residue has the same name */
    bool has_residue; /* chain, number and insertion code fit 4 bytes: */
    int32_t residue;  /* residue_pack() */
} pqr_words;

/* The five numbers of the record in `line`, all of them finite, behind whose name (ATOM) `start`
 * is; and its words. Errors: LEY_ERROR_INPUT with
 * "file:line: what", also where numbers touch so that they may be cut in more than one way. */
ley_status pqr_record_read(const ley_text *text, const char *line, size_t length, const char *start, pqr_words *words,
                           pqr_field numbers[PQR_NUMBERS], ley_error *error);

/* The complaint about number i of a record: "radius '-1' is negative". */
ley_status pqr_record_fail(const ley_text *text, size_t i, const pqr_field *number, const char *complaint,
                           ley_error *error);

/* What to type for a file that awk makes right: "awk 'program' 'file' > NEW.pqr", of one that is
 * packed behind gzip. */
typedef struct pqr_remedy {
    char s[640];
} pqr_remedy;

pqr_remedy pqr_record_remedy(const ley_text *text, const char *program);

/* Counted from 1, the word of the line that begins or goes on at `at`, as awk counts them. */
int pqr_record_word(const char *line, const char *at);

#endif
