/* gzip by all cores: text goes in piece by piece, a gzip file of one member comes out. */
#ifndef LEY_IO_PACKER_H
#define LEY_IO_PACKER_H

#include "leyden_status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Takes the packed bytes, in order; may be called by any thread, one at a time. */
typedef ley_status (*ley_packer_sink)(void *to, const void *bytes, size_t size, ley_error *error);

typedef struct ley_packer ley_packer;

/* On up to so many threads; the bytes are the same on any number of them. Takes some 1 MiB for
 * each. */
ley_status ley_packer_create(int threads, ley_packer_sink sink, void *to, ley_packer **packer, ley_error *error);
void ley_packer_destroy(ley_packer *packer);

/* Errors: those of the sink, LEY_ERROR_MEMORY; then the packer is destroyed. */
ley_status ley_packer_add(ley_packer *packer, const void *text, size_t size, ley_error *error);

/* What a caller with threads of its own packs on them: a block of the text, apart from all that
 * stands in front of it. */
typedef struct ley_packed {
    struct z_stream_s *stream;
    unsigned char *bytes;
    size_t room, size, text_size;
    uint32_t checksum; /* of the text */
    bool is_whole;     /* else memory failed */
} ley_packed;

/* Room for blocks of up to so many bytes of text. Errors: LEY_ERROR_MEMORY; ended all the same. */
ley_status ley_packed_begin(ley_packed *packed, size_t most, ley_error *error);
void ley_packed_make(ley_packed *packed, const void *text, size_t size);
void ley_packed_end(ley_packed *packed);

/* What one has made, behind all that has been added. Errors: as ley_packer_add(). */
ley_status ley_packer_add_packed(ley_packer *packer, const ley_packed *packed, ley_error *error);

/* Ends the gzip file. */
ley_status ley_packer_end(ley_packer *packer, ley_error *error);

#endif
