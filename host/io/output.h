/* Writing files that appear whole or not at all. */
#ifndef LEY_IO_OUTPUT_H
#define LEY_IO_OUTPUT_H

#include "io/packer.h"
#include "io/temporary.h"
#include "leyden_status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file under way. The bytes go to a hidden file next to the target that is renamed when all is
 * well; a target that is no regular file (a pipe, a device, /dev/stdout) gets them at once. */
typedef struct ley_output {
    const char *path; /* as the caller named it */
    char *target;     /* behind symbolic links; NULL when writing straight to it */
    ley_temporary temporary;
    ley_packer *packer;          /* NULL: plain */
    const volatile bool *cancel; /* or NULL */
    int fd;
    int lost; /* why bytes could not be written or read back, an error number: the first reason stays; 0: none */
} ley_output;

/* Whether a file of this name is one that is packed by gzip: it ends in ".gz". */
bool ley_output_is_packed(const char *path);

/* Starts a file; `path` and `cancel` must outlive it, and it stays where it is. On failure there is
 * nothing to end. */
ley_status ley_output_open(ley_output *output, const char *path, bool gzip, const volatile bool *cancel,
                           ley_error *error);

/* The same of a file that is no straight one, whose bytes go to `kept` in place of a hidden file:
 * that stays when the output is abandoned, and may be there already. */
ley_status ley_output_keep(ley_output *output, const char *path, const char *kept, ley_error *error);

/* Errors: LEY_CANCELLED when *cancel has become true, LEY_ERROR_FILE; then the caller abandons the
 * output. Bytes that were lost are not forgotten: all later calls fail, ley_output_commit() too. */
ley_status ley_output_write(ley_output *output, const void *data, size_t size, ley_error *error);

/* Of a gzip file, what a thread of the caller's has packed. Errors: as ley_output_write(). */
ley_status ley_output_write_packed(ley_output *output, const ley_packed *packed, ley_error *error);

/* Bytes at a place of a file that is no straight one, in any order and from any threads, and what
 * is there; the size is set before. Errors: LEY_ERROR_FILE. */
ley_status ley_output_reserve(ley_output *output, int64_t size, ley_error *error);
ley_status ley_output_cut(ley_output *output, int64_t size, ley_error *error);
int64_t ley_output_size(const ley_output *output);
ley_status ley_output_write_at(ley_output *output, const void *data, size_t size, int64_t offset, ley_error *error);
ley_status ley_output_read_at(ley_output *output, void *data, size_t size, int64_t offset, ley_error *error);

/* Whether nothing was lost so far. Errors: LEY_ERROR_FILE. */
ley_status ley_output_check(const ley_output *output, ley_error *error);

/* Puts the finished file under its name. Ends the output, whatever it returns. */
ley_status ley_output_commit(ley_output *output, ley_error *error);

/* Ends the output and leaves nothing behind. */
void ley_output_abandon(ley_output *output);

#endif
