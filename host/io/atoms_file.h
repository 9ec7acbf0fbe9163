/* Files of atoms: written in parts, so that they may be larger than memory, and read straight into
 * place. */
#ifndef LEY_IO_ATOMS_FILE_H
#define LEY_IO_ATOMS_FILE_H

#include "io/output.h"
#include "source/atoms.h"

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

/* ---- The binary form ------------------------------------------------------------------------- */

/* XXH64, seed 0, of whole words of eight bytes. */
typedef struct ley_checksum {
    uint64_t lane[4], words, left[4]; /* left: words that make no stripe of four yet */
} ley_checksum;

void ley_checksum_start(ley_checksum *sum);
void ley_checksum_add(ley_checksum *sum, const void *bytes, size_t words);
void ley_checksum_add_numbers(ley_checksum *sum, const double *numbers, size_t count); /* as a file has them */
uint64_t ley_checksum_end(const ley_checksum *sum);

/* Of what is there already: such a file whose header is right, which begins its sum; so many of its
 * 5 n numbers from the first on, which are added to the sum unless that is NULL; and whether the
 * sum of all of them is what the file says at its end. Errors: those of ley_atoms_read_binary(). */
typedef struct ley_atoms_file {
    const char *path;
    int file;
    size_t atoms;
    uint64_t checksum; /* what the file says */
} ley_atoms_file;

ley_status ley_atoms_file_open(const char *path, ley_atoms_file *file, ley_checksum *sum, ley_error *error);
ley_status ley_atoms_file_read(const ley_atoms_file *file, size_t first, size_t count, double *numbers,
                               ley_checksum *sum, ley_error *error);
ley_status ley_atoms_file_check(const ley_atoms_file *file, const ley_checksum *sum, ley_error *error);
void ley_atoms_file_close(ley_atoms_file *file);

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
