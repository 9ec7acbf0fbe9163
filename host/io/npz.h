/* Archives of NumPy's arrays, .npz, as numpy.savez() writes them: zip files whose members are
 * stored as they are. docs/formats.md has what is read and written. */
#ifndef LEY_IO_NPZ_H
#define LEY_IO_NPZ_H

#include "io/output.h"
#include "leyden.h"

typedef struct npz npz;

/* An array of an archive: numbers in C's order. */
enum { NPZ_MOST_EXTENTS = 4 };
typedef struct npz_array {
    int extents; /* 0: a single number */
    int64_t n[NPZ_MOST_EXTENTS], count;
    char kind; /* 'f' floats, 'i' whole numbers, 'b' true or false */
    int bytes; /* of each number */
    bool is_big_endian, is_fortran;
    const unsigned char *numbers; /* the archive's */
} npz_array;

/* Reads the whole file. Errors: LEY_ERROR_FILE; LEY_ERROR_MEMORY; LEY_ERROR_INPUT with "path: what"
 * for what is no such archive, cut short, compressed, or altered. */
ley_status npz_open(const char *path, npz **archive, ley_error *error);
void npz_close(npz *archive);

/* The array of this name. Errors: LEY_ERROR_INPUT with "path: member: what" where it is not there,
 * `*is_there` false (NULL: it must be), or is no array of numbers. */
ley_status npz_find(const npz *archive, const char *name, npz_array *array, bool *is_there, ley_error *error);

/* Its numbers, in C's order, from malloc. Errors: LEY_ERROR_INPUT where whole ones are wanted and
 * one is none, or does not fit; LEY_ERROR_MEMORY. */
ley_status npz_doubles(const npz *archive, const char *name, const npz_array *array, double **numbers,
                       ley_error *error);
ley_status npz_whole(const npz *archive, const char *name, const npz_array *array, int64_t **numbers, ley_error *error);

/* ---- Writing --------------------------------------------------------------------------------- */

/* A member that is written: type is "<f8", "<i4" or "<i8". */
typedef struct npz_member {
    const char *name, *type;
    int extents;
    int64_t n[NPZ_MOST_EXTENTS];
    const void *numbers;
} npz_member;

/* Writes them in their order. Errors: those of output.h; LEY_ERROR_MEMORY. */
ley_status npz_write(const char *path, const npz_member *members, size_t count, const volatile bool *cancel,
                     ley_error *error);

#endif
