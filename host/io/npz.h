/* Archives of NumPy's arrays, .npz, as numpy.savez() writes them: zip files whose members are
 * stored as they are. docs/formats.md has what is read and written. */
#ifndef LEY_IO_NPZ_H
#define LEY_IO_NPZ_H

#include "io/npy.h"
#include "io/output.h"
#include "leyden.h"

typedef struct npz npz;

/* What an archive is of, for messages. */
typedef struct npz_content {
    const char *has; /* "a wavefunction has" */
    const char *of;  /* the files of which python3 -m leyden convert makes one: "Molden, FCHK and other files" */
    const char *by;  /* what writes all: "leyden.Wavefunction.save()" */
} npz_content;

/* Reads the whole file. Errors: LEY_ERROR_FILE; LEY_ERROR_MEMORY; LEY_ERROR_INPUT with "path: what"
 * for what is no such archive, cut short, compressed, or altered. */
ley_status npz_open(const char *path, const npz_content *content, npz **archive, ley_error *error);
void npz_close(npz *archive);

/* The array of this name, whose values are the archive's. Errors: LEY_ERROR_INPUT with "path:
 * member: what" where it is not there, `*is_there` false (NULL: it must be), or is no array of
 * numbers or texts. */
ley_status npz_find(const npz *archive, const char *name, npy_array *array, bool *is_there, ley_error *error);

/* Its numbers, in C's order, from malloc. Errors: LEY_ERROR_INPUT where whole ones are wanted and
 * one is none, or does not fit; LEY_ERROR_MEMORY. */
ley_status npz_doubles(const npz *archive, const char *name, const npy_array *array, double **numbers,
                       ley_error *error);
ley_status npz_whole(const npz *archive, const char *name, const npy_array *array, int64_t **numbers, ley_error *error);

/* Its texts, in C's order, from malloc: pointers, and behind them what they point to. Errors:
 * LEY_ERROR_INPUT where it has numbers, or texts have other letters than those of ASCII;
 * LEY_ERROR_MEMORY. */
ley_status npz_texts(const npz *archive, const char *name, const npy_array *array, char ***texts, ley_error *error);

/* ---- Writing --------------------------------------------------------------------------------- */

/* A member that is written: type is "<f8", "<i4", "<i8", or what npz_pack() has made. */
typedef struct npz_member {
    const char *name;
    char type[24];
    int extents;
    int64_t n[NPY_MOST_EXTENTS];
    const void *numbers;
} npz_member;

/* Writes them in their order. Errors: those of output.h; LEY_ERROR_MEMORY. */
ley_status npz_write(const char *path, const npz_member *members, size_t count, const volatile bool *cancel,
                     ley_error *error);

/* A member of texts of ASCII, one extent, which are copied to what the caller frees, `numbers`; a
 * NULL is an empty one. Errors: LEY_ERROR_MEMORY. */
ley_status npz_pack(const char *name, const char *const *texts, int64_t count, npz_member *member, ley_error *error);

#endif
