/* The bytes of a file from its beginning to its end, unpacked where it is a gzip file: of a regular
 * file, a pipe or standard input alike. All readers of text and of maps stand upon it. */
#ifndef LEY_IO_STREAM_H
#define LEY_IO_STREAM_H

#include "leyden_status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ley_stream ley_stream;

/* `path` must outlive the stream. Errors: LEY_ERROR_FILE with the system's words, also for a
 * directory. */
ley_status ley_stream_open(const char *path, ley_stream **stream, ley_error *error);
void ley_stream_close(ley_stream *stream);

const char *ley_stream_path(const ley_stream *stream);

/* Whether who reads a map from it takes not-a-numbers among its values; at first nobody does. */
void ley_stream_allow_gaps(ley_stream *stream);
bool ley_stream_allows_gaps(const ley_stream *stream);

/* The next bytes, up to `size` of them: how many there are; 0 behind the last one, -1 where they
 * cannot be read. */
int64_t ley_stream_read(ley_stream *stream, void *to, size_t size);

/* What went wrong when ley_stream_read() returned -1, and where, "file" or "file:line". Returns
 * LEY_ERROR_FILE with the system's words; LEY_ERROR_INPUT for a gzip file that is damaged or cut
 * short; LEY_ERROR_MEMORY. */
ley_status ley_stream_fail(const ley_stream *stream, const char *place, ley_error *error);

/* Bytes that were read are what is read next. Errors: LEY_ERROR_MEMORY. */
ley_status ley_stream_unread(ley_stream *stream, const void *bytes, size_t size, ley_error *error);

/* The next bytes, up to `size` of them, which stay unread: how many there are. What cannot be read
 * is not there. Errors: LEY_ERROR_MEMORY. */
ley_status ley_stream_peek(ley_stream *stream, void *to, size_t size, size_t *got, ley_error *error);

/* How many bytes were read so far. */
int64_t ley_stream_position(const ley_stream *stream);

bool ley_stream_is_packed(const ley_stream *stream);

/* How many bytes there are in all, of a regular file that is not packed; -1: unknown. */
int64_t ley_stream_size(const ley_stream *stream);

/* Whether there may be so many in all: what cannot be known, of pipes, may. */
bool ley_stream_may_hold(const ley_stream *stream, double bytes);

/* How many bytes of a packed file were unpacked so far; -1: it is not packed, or cannot tell. */
int64_t ley_stream_packed_position(const ley_stream *stream);

/* A regular file of exactly so many bytes is read as it is, whatever gzip file it looks like.
 * Nothing may have been read but what was given back. Errors: LEY_ERROR_FILE. */
ley_status ley_stream_expect_plain(ley_stream *stream, int64_t bytes, ley_error *error);

#endif
