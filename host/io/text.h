/* Reading text files, plain or gzip, in bounded memory and whatever they contain. */
#ifndef LEY_IO_TEXT_H
#define LEY_IO_TEXT_H

#include "core/number.h"
#include "io/stream.h"
#include "leyden_status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LEY_TEXT_LINE_MAX = 64 * 1024 }; /* bytes of a line without its end */

/* ---- Files ----------------------------------------------------------------------------------- */

typedef struct ley_text ley_text;

/* Errors: LEY_ERROR_FILE with the system's words, also for a directory. `path` must outlive the
 * reader. */
ley_status ley_text_open(const char *path, ley_text **text, ley_error *error);

/* The text that comes next in a stream, which stays its owner's and must outlive the reader. */
ley_status ley_text_open_stream(ley_stream *stream, ley_text **text, ley_error *error);
void ley_text_close(ley_text *text);

/* Plain text of a regular file ends where it ended when the file was opened, or later; what ends
 * earlier has become shorter meanwhile, and is refused. This tells of so many bytes that were there
 * before it was opened. */
void ley_text_expect(ley_text *text, int64_t bytes);

/* The size of a regular file that is plain text or what else is no gzip file; else -1. */
int64_t ley_text_plain_size(const char *path);

/* The file's name, and whether it is unpacked while it is read. */
const char *ley_text_path(const ley_text *text);
bool ley_text_is_packed(const ley_text *text);

/* Such a file from a byte on, as ley_text_open(): from 0 on at its first line, else at the first
 * one that begins there or behind it. That line has the number 1. */
ley_status ley_text_open_piece(const char *path, int64_t first, ley_text **text, ley_error *error);

/* Of a piece, the byte of the file at which the next line begins. */
int64_t ley_text_position(const ley_text *text);

/* One rule for all text: a line ends at LF, CR LF or a CR alone, of which an LF is made; the byte
 * order mark of UTF-8 is passed over, and UTF-16 and UTF-32 are refused with what makes UTF-8 of
 * them. The readers here do so by themselves; this does it for a text in memory, whose size may
 * become smaller. Errors: LEY_ERROR_INPUT. */
ley_status ley_text_clean(const char *path, char *text, size_t *size, ley_error *error);

/* The next line without its end, NUL-terminated and valid until
 * the next call; NULL behind the last one. Errors: a line that is too long, a NUL byte, gzip damage
 * (LEY_ERROR_INPUT), LEY_ERROR_FILE. */
ley_status ley_text_line(ley_text *text, const char **line, size_t *length, ley_error *error);

/* The next word between white space, across lines, not terminated; NULL at the end. Lines may have
 * been read in front of it. A '#' in front
 * is a word of its own, so that comments may be of any length. Errors: as for lines, a word that is
 * too long. */
ley_status ley_text_word(ley_text *text, const char **word, size_t *length, ley_error *error);

/* Passes over the rest of the current line, its end excepted, and keeps its first bytes: at most
 * `size` - 1 and a NUL. With size 0 nothing is kept. Errors: as for lines, but any length will
 * do. */
ley_status ley_text_rest(ley_text *text, char *rest, size_t size, ley_error *error);

/* Number, from 1, of the line handed out last or of the word read last. */
int64_t ley_text_line_number(const ley_text *text);

/* Of a text that nothing was read of: binary data may follow it, which ley_text_unread() gives
 * back. Errors: LEY_ERROR_MEMORY. */
ley_status ley_text_keep_bytes(ley_text *text, ley_error *error);

/* What was not handed out becomes what the stream has next, for another reader of it: the bytes as
 * they are in the file. Errors: LEY_ERROR_MEMORY. */
ley_status ley_text_unread(ley_text *text, ley_error *error);

/* Whether the file, as long as it is, may hold so many bytes of text: what cannot be known, of
 * pipes, may. */
bool ley_text_may_hold(const ley_text *text, double bytes);

/* Room for a list that has filled this room: twice as much, and from a million items on a quarter
 * more. */
size_t ley_text_room(size_t items);

/* "file:line: what"; returns LEY_ERROR_INPUT. */
ley_status ley_text_fail(const ley_text *text, ley_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* LEY_ERROR_MEMORY when a list of what was read may not grow from so many bytes to more; the
 * message says where, and how much a compressed file has unpacked to by then. `what`, `advice`: as
 * memory_check_growth() takes them. */
ley_status ley_text_check_growth(const ley_text *text, const char *what, double from_bytes, double to_bytes,
                                 const char *advice, ley_error *error);

#endif
